"""Websockets whose other end may be gone without a word: such a one is ended, whatever still waits for it."""

from __future__ import annotations

from typing import Any, Final

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

HEARTBEAT_S: Final = 15.0
"""How often a browser is asked whether it is there, and how long it may say nothing then."""
GOODBYE_S: Final = 3.0
"""How long it may take to answer that a websocket is closed."""


_BAD_REQUEST: Final = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class LimitedWebSocket(WebSocketsSansIOProtocol):
    """Websocket that ends also where nobody reads what waits."""

    _heard_at = 0.0

    def data_received(self, data: bytes) -> None:
        """Note that somebody is there. What comes first is a whole head: where it opens no websocket it is refused, for
        uvicorn would wait for ever."""
        self._heard_at = self.loop.time()
        super().data_received(data)
        if not (self.handshake_initiated or self.transport.is_closing()):
            self.transport.write(_BAD_REQUEST)
            self.transport.close()

    def keepalive_timeout(self) -> None:
        """End it, for a question was not answered; who says something meanwhile is asked once more."""
        if self._heard_at > self.ping_sent_at:
            self.pong_timer = self.loop.call_later(HEARTBEAT_S, self.keepalive_timeout)
            self.ping_sent_at = self.loop.time()
        else:
            self.transport.abort()

    async def send(self, message: Any) -> None:
        """See ASGI. Behind a close nothing is waited for but its answer; a refusal is no mistake of the application."""
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and not message.get("more_body", False):
            self.handshake_complete = True
        if message["type"] == "websocket.close" and self.close_timer is not None:
            self.close_timer.cancel()
            self.close_timer = self.loop.call_later(GOODBYE_S, self.transport.abort)
