"""Ray: a cluster of machines, or a private one on this machine alone."""

from __future__ import annotations

import logging
from typing import Any

from tabletop.errors import ConfigError
from tabletop.extras import needed

LOCAL = "local"
"""The address of a private cluster on this machine, which ends with this process."""


def connect(address: str) -> Any:
    """Ray, connected to a cluster: "local", "auto" for the one that runs on this machine, or HOST:PORT.

    "local" always starts a cluster of this process's own, whatever earlier ones have left. Raises TabletopError without
    Ray, ConfigError where no cluster answers.
    """
    ray = needed("ray", "a cluster", "ray")
    try:
        ray.init(address=address, include_dashboard=False, logging_level=logging.ERROR, log_to_driver=False)
    except (ConnectionError, RuntimeError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(f"--ray {address}: no cluster could be reached there ({reason})") from None
    return ray
