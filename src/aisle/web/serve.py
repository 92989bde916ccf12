"""The web application on a socket, until somebody ends it."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Final

from aisle.server.connections import ConnectionLimits, repeats_filtered
from aisle.server.http_server import HttpServer, server_config
from aisle.server.websockets import HEARTBEAT_S, LimitedWebSocket
from aisle.web.app import WebApp

GRACE_S: Final = 5
LONGEST_HEAD: Final = 32 << 10
MESSAGE_BYTES: Final = 1 << 20
"""Bytes of a message of the browser at most: a large paste."""


def http_server(
    web: WebApp,
    limits: ConnectionLimits,
    ready: Callable[[str], None],
    certificate: Path | None = None,
    private_key: Path | None = None,
) -> HttpServer:
    """The server of an application; every session has ended when it has."""
    config = server_config(
        web.app,
        limits,
        longest_head=LONGEST_HEAD,
        certificate=certificate,
        private_key=private_key,
        finish_seconds=GRACE_S,
        lifespan="on",
        ws=LimitedWebSocket,
        ws_max_size=MESSAGE_BYTES,
        ws_ping_interval=HEARTBEAT_S,
        ws_ping_timeout=HEARTBEAT_S,
    )
    return HttpServer(config, ready, before_end=web.end_screens)


def serve(
    web: WebApp,
    sock: socket.socket,
    limits: ConnectionLimits,
    ready: Callable[[str], None],
    follow: Callable[[Callable[[], None]], object],
    certificate: Path | None = None,
    private_key: Path | None = None,
) -> None:
    """Serve until SIGINT, SIGTERM or what `follow` waits for. A certificate is taken anew on SIGHUP, which ends it
    where there is none."""
    with repeats_filtered():
        server = http_server(web, limits, ready, certificate, private_key)
        follow(server.leave)
        server.run([sock])
