"""TLS handshakes with a time limit and a maximum number; beyond it the oldest is cancelled.

asyncio alone counts a connection only when its handshake is complete.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable

from aisle.server.connections import ConnectionLimits

_SHARE = 4
"""Divisor of all connections for the maximum number of simultaneous handshakes."""


class Handshakes:
    """Handshakes of one server."""

    def __init__(
        self, connection: Callable[[], asyncio.Protocol], context: ssl.SSLContext, limits: ConnectionLimits
    ) -> None:
        self.connection = connection
        self.context = context
        self.seconds = limits.head_seconds
        self._most = max(1, limits.connections // _SHARE)
        self._running: dict[_Handshake, asyncio.Task[None]] = {}

    def begin(self) -> _Handshake:
        """Return the protocol of a new connection."""
        return _Handshake(self)

    def add(self, one: _Handshake, transport: asyncio.Transport) -> None:
        """Run one more handshake. Cancel the oldest if there are too many."""
        self._running[one] = asyncio.get_running_loop().create_task(one.shake_hands(transport))
        self._running[one].add_done_callback(lambda _: self._running.pop(one, None))
        if len(self._running) > self._most:
            oldest = next(iter(self._running))
            self._running.pop(oldest).cancel()


class _Handshake(asyncio.Protocol):
    """Protocol during a handshake. It buffers data until the connection's own protocol is set."""

    def __init__(self, handshakes: Handshakes) -> None:
        self._all = handshakes
        self._heard: list[bytes] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See asyncio.Protocol."""
        assert isinstance(transport, asyncio.Transport)
        transport.pause_reading()
        self._all.add(self, transport)

    def data_received(self, data: bytes) -> None:
        """See asyncio.Protocol."""
        self._heard.append(data)

    async def shake_hands(self, plain: asyncio.Transport) -> None:
        """Perform the handshake, then pass the connection on. Abort the connection if the handshake fails."""
        loop = asyncio.get_running_loop()
        try:
            transport = await loop.start_tls(
                plain, self, self._all.context, server_side=True, ssl_handshake_timeout=self._all.seconds
            )
        except BaseException as problem:
            plain.abort()
            if isinstance(problem, OSError | asyncio.CancelledError):
                return
            raise
        if transport is None or transport.is_closing():
            return
        connection = self._all.connection()
        transport.set_protocol(connection)
        connection.connection_made(transport)
        for data in self._heard:
            connection.data_received(data)
