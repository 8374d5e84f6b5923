"""A Ray cluster: connecting to it."""

from __future__ import annotations

import logging
import socket
from typing import Any

from tabletop.errors import TabletopError
from tabletop.extras import needed

LOCAL = "local"
"""The address of a cluster that is started on this machine for one command alone, and ends with it."""

_SECONDS_TO_ANSWER = 10.0


def connect(address: str = LOCAL) -> Any:
    """Join a cluster, or start one: the module `ray`.

    Arguments:
        address: LOCAL; `auto` for the cluster that runs on this machine; `HOST:PORT` of a cluster's head, or
            `ray://HOST:PORT` from a machine that is not part of it.

    Raises TabletopError where Ray is missing, or no cluster answers.
    """
    ray = needed("ray", "--ray", "ray")
    host, _, port = address.rpartition(":")
    if port.isdecimal():  # Ray itself would try for minutes
        try:
            socket.create_connection((host.removeprefix("ray://"), int(port)), _SECONDS_TO_ANSWER).close()
        except (OSError, OverflowError) as error:
            raise TabletopError(f"--ray {address}: no cluster there ({error})") from None
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address == LOCAL:  # Ray would rather join one that somebody has left running
        options |= {"include_dashboard": False}
    try:
        ray.init(address, ignore_reinit_error=True, **options)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        raise TabletopError(f"--ray {address}: no cluster there ({error})") from None
    return ray
