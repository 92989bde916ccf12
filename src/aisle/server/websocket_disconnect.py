"""Websockets that are closed when the other end disappears without closing, whatever still waits for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

PING_INTERVAL_S: Final = 15.0
"""Seconds between two pings of a browser, and seconds that it has for the answer."""
GOODBYE_S: Final = 3.0
"""Seconds for the answer to a close of the websocket."""


_BAD_REQUEST: Final = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class LimitedWebSocket(WebSocketsSansIOProtocol):
    """Websocket that ends even if nobody reads what waits."""

    on_lost: Callable[[], None] | None = None
    """Function that is called once at the end of the connection."""
    _heard_at = 0.0

    def connection_lost(self, exc: Exception | None) -> None:
        """Report the end of the connection."""
        super().connection_lost(exc)
        if self.on_lost is not None:
            self.on_lost()

    def handle_ping(self) -> None:
        """Answer a ping, unless the client does not read: answers would take memory without limit."""
        answer = b"".join(self.conn.data_to_send())
        if self.writable.is_set():
            self.transport.write(answer)

    def data_received(self, data: bytes) -> None:
        """Record that the client is alive.

        The first data is a whole head. If it opens no websocket it is refused here, since uvicorn would wait for ever.
        """
        self._heard_at = self.loop.time()
        super().data_received(data)
        if not (self.handshake_initiated or self.transport.is_closing()):
            self.transport.write(_BAD_REQUEST)
            self.transport.close()

    def keepalive_timeout(self) -> None:
        """Abort the connection if the client was silent since the ping; otherwise ping once more."""
        if self._heard_at > self.ping_sent_at:
            self.pong_timer = self.loop.call_later(PING_INTERVAL_S, self.keepalive_timeout)
            self.ping_sent_at = self.loop.time()
        else:
            self.transport.abort()

    async def send(self, message: Any) -> None:
        """Send an ASGI message. After a close, wait only for its answer. A refused upgrade is no application error."""
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and not message.get("more_body", False):
            self.handshake_complete = True
        if message["type"] == "websocket.close" and self.close_timer is not None:
            self.close_timer.cancel()
            self.close_timer = self.loop.call_later(GOODBYE_S, self.transport.abort)
