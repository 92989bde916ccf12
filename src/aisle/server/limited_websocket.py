"""Websockets with limits: one client delays no other, fills no memory, and is noticed when it disappears."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

PING_INTERVAL_S: Final = 15.0
"""Seconds between two pings of a browser, and seconds that it has for the answer."""
GOODBYE_S: Final = 3.0
"""Seconds for the answer to a close of the websocket."""
_READ_BYTES: Final = 16 << 10
"""Bytes of a read. All frames in it are handled at once, and a frame may have six bytes."""
_MAX_FRAGMENTS: Final = 1024
"""Maximum number of frames of a message: one without bytes does not count for its greatest size."""
_MESSAGE_TOO_BIG: Final = 1009
_MAX_AFTER_CLOSE: Final = 16 << 10
"""Bytes that a client may send after the close was sent: its parser keeps those of an incomplete message."""

_BAD_REQUEST: Final = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class LimitedWebSocket(WebSocketsSansIOProtocol, asyncio.BufferedProtocol):
    """Websocket that ends even if nobody reads what waits. It reads small parts."""

    on_lost: Callable[[], None] | None = None
    """Function that is called once at the end of the connection."""
    _heard_at = 0.0
    _after_close = 0
    """Bytes that were received since the close was sent."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._room = memoryview(bytearray(_READ_BYTES))

    def get_buffer(self, sizehint: int) -> memoryview:
        """See asyncio.BufferedProtocol."""
        return self._room

    def buffer_updated(self, nbytes: int) -> None:
        """See asyncio.BufferedProtocol."""
        self.data_received(bytes(self._room[:nbytes]))

    def connection_lost(self, exc: Exception | None) -> None:
        """Drop the incomplete message at once, as the garbage collector takes long, and report the end."""
        super().connection_lost(exc)
        self.frames, self._room = [], memoryview(b"")
        self.conn.reader.discard()
        if self.on_lost is not None:
            self.on_lost()

    def handle_ping(self) -> None:
        """Answer a ping, unless the client does not read: answers would take memory without limit."""
        answer = b"".join(self.conn.data_to_send())
        if self.writable.is_set():
            self.transport.write(answer)

    def handle_cont(self, event: Any) -> None:
        """Add a frame to its message; a message of too many ends the connection."""
        if self.close_sent:
            return
        if len(self.frames) < _MAX_FRAGMENTS:
            super().handle_cont(event)
        else:
            self.conn.fail(_MESSAGE_TOO_BIG)
            self.handle_parser_exception()

    def data_received(self, data: bytes) -> None:
        """Record that the client is alive.

        The first data is a whole head. If it opens no websocket it is refused here, since uvicorn would wait for ever.
        """
        self._heard_at = self.loop.time()
        if self.close_sent:
            self._after_close += len(data)
            if self._after_close > _MAX_AFTER_CLOSE:
                self.transport.abort()
                return
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
        """Send an ASGI message. A refused upgrade is no application error.

        A close waits for no client that does not read, and after it only its answer is waited for.
        """
        if message["type"] == "websocket.close" and not self.writable.is_set():
            self.transport.abort()
            return
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and not message.get("more_body", False):
            self.handshake_complete = True
        if message["type"] == "websocket.close" and self.close_timer is not None:
            self.close_timer.cancel()
            self.close_timer = self.loop.call_later(GOODBYE_S, self.transport.abort)
