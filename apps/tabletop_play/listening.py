"""Servers on this machine: where they listen, and how they run."""

from __future__ import annotations

import socket
from typing import Any

import uvicorn

from tabletop_engine.errors import ConfigError

SECONDS_TO_END = 3
"""How long a server that ends waits for what is still being answered."""


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 is any free one. Raises ConfigError if it can't."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=256)
    except OSError as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"{host}, port {port}: can't listen there ({reason}); --port 0 takes a free one") from None


def server_of(app: Any, most_connections: int, **more: Any) -> uvicorn.Server:
    """A server of an application. It logs no requests. `more` are further settings of `uvicorn.Config`."""
    config = uvicorn.Config(
        app,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=most_connections,
        timeout_graceful_shutdown=SECONDS_TO_END,
        lifespan="on",
        **more,
    )
    return uvicorn.Server(config)
