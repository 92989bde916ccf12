"""Callers heard by uvicorn's quick parser, which by itself would keep heads of any length.

It would also take a body for another protocol's where one was offered, and answer what it does not understand before
what it did.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any, cast

from httptools import HttpParserUpgrade, HttpRequestParser
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from aisle.service.callers import Caller

if TYPE_CHECKING:
    import asyncio

    class _Both(HttpToolsProtocol):
        is_answered: bool

else:

    class _Both(Caller, HttpToolsProtocol):
        pass


_LONGEST = 64 << 10
"""Bytes of a head, where nobody says; the plain parser has the same."""
_COPIED = 64 << 10
"""Of an answer so many are put behind its head; to copy more takes longer than to send the head by itself."""


class QuickCaller(_Both):
    """A connection whose heads, and whatever else of a request is no body, are bounded."""

    _is_between = True
    """Whether the next byte begins a request."""
    _in_head = True
    """Whether what comes is of a head, or the first one is awaited."""
    _length = 0
    """Of what its head, or what is behind its body, has said so far."""
    _pending = 0
    """What came since a head began, or, behind it, since the parser understood something: it keeps it until it does."""
    _begun = 0
    """Requests that began in the bytes that came last."""
    _misheard = ""
    """What is said of bytes that were no request, once all before them are answered; then nothing more is heard."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.parser = _Parser(self)
        # What comes behind a last request is left lying, not taken for a fault of it.
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)

    def data_received(self, data: bytes) -> None:
        """More bytes; who goes on without end is told so, and left."""
        if self._misheard:
            return
        begins, self._begun = self._is_between, 0
        self._pending += len(data)
        super().data_received(data)
        if begins and self._in_head and self._begun == 1:
            self._pending = len(data)  # all of it is of this head
        longest = self.config.h11_max_incomplete_event_size or _LONGEST
        if max(self._length, self._pending) <= longest or self._misheard or self.transport.is_closing():
            return
        if self._in_head:
            self.send_400_response("Invalid HTTP request received.")
        else:
            self.transport.abort()

    def send_400_response(self, msg: str) -> None:
        """What is no request is answered in its turn: whose request is carried out hears of that first."""
        if self.is_answered and self.cycle.more_body:
            # It is this one's body. One that waits for its turn has none now.
            if not self.pipeline:
                super().send_400_response(msg)
                return
            self.pipeline.popleft()
        elif not self.is_answered:
            super().send_400_response(msg)
            return
        self._misheard = msg
        self.flow.pause_reading()

    def on_response_complete(self) -> None:
        """An answer is out."""
        is_last = not self.pipeline
        super().on_response_complete()
        if is_last and self._misheard and not self.transport.is_closing():
            super().send_400_response(self._misheard)

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self._in_head, self._is_between, self._length, self._pending = True, False, 0, 0
        self._begun += 1

    def on_url(self, url: bytes) -> None:
        """Some of its address."""
        self._say(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header. What comes behind a body in parts is none, and nobody asks for it."""
        self._say(len(name) + len(value))
        if self._in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """All of the head is there; how much it may say is the door's matter then."""
        if self.parser.should_upgrade() and not self.is_tunnel:
            return  # it is read once more
        self._in_head, self._length, self._pending = False, 0, 0
        super().on_headers_complete()
        _Whole.of(self.cycle)
        if self.is_tunnel:
            self.cycle.keep_alive = False

    def on_body(self, body: bytes) -> None:
        """Some of its body, whose length is its reader's matter."""
        self._pending = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """All of it is there."""
        if self._in_head:
            return
        super().on_message_complete()
        self._is_between = True

    @property
    def is_tunnel(self) -> bool:
        """Whether all that comes behind this head would be for somebody else; there is nobody."""
        return self.parser.get_method() == b"CONNECT"

    def head_without_offer(self) -> bytes:
        """The head that was read last, without the offer of another protocol."""
        line = b"%s %s HTTP/%s\r\n" % (self.parser.get_method(), self.url, self.parser.get_http_version().encode())
        said = [b"%s: %s\r\n" % header for header in self.headers if header[0] != b"upgrade"]
        return line + b"".join(said) + b"\r\n"

    def _say(self, length: int) -> None:
        self._length += length
        if not self._in_head:
            self._pending = 0


class _Whole:
    """Where an answer is written: its head waits for what comes behind it, so that most answers are sent at once."""

    __slots__ = ("_cycle", "_head", "_on_response", "_transport")

    @classmethod
    def of(cls, cycle: RequestResponseCycle) -> None:
        """This one's answer is written so."""
        cycle.transport = cast("asyncio.Transport", cls(cycle))

    def __init__(self, cycle: RequestResponseCycle) -> None:
        self._cycle, self._transport, self._on_response = cycle, cycle.transport, cycle.on_response
        self._head: bytes | None = None
        """What waits; nothing does any more when it was sent. None as long as there was no head."""
        cycle.on_response = self._ends

    def write(self, data: bytes) -> None:
        """See asyncio.Transport."""
        if self._head is None and self._cycle.response_started:
            self._head = data
            return
        if self._head:
            head, self._head = self._head, b""
            if len(data) <= _COPIED:
                data = b"".join((head, data))
            else:
                self._transport.write(head)
        self._transport.write(data)

    def close(self) -> None:
        """See asyncio.Transport."""
        self._flush()
        self._transport.close()

    def is_closing(self) -> bool:
        """See asyncio.Transport."""
        return self._transport.is_closing()

    def _flush(self) -> None:
        if self._head:
            self.write(b"")

    def _ends(self) -> None:
        """All of the answer was written; to some there is no more than a head."""
        self._flush()
        self._cycle.transport = self._transport
        self._on_response()


class _Parser(HttpRequestParser):
    """Reads a head that offers another protocol once more, without its offer: we speak none, and its body is one."""

    def __init__(self, caller: QuickCaller) -> None:
        super().__init__(caller)
        self._caller = caller

    def feed_data(self, data: bytes | bytearray | memoryview[int] | array[int]) -> None:
        """See HttpRequestParser."""
        while True:
            try:
                super().feed_data(data)
                return
            except HttpParserUpgrade as offer:
                if self._caller.is_tunnel:
                    return
                data = self._caller.head_without_offer() + bytes(data[offer.args[0] :])
