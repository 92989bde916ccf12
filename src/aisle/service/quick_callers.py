"""Callers heard by uvicorn's quick parser, which by itself would keep heads of any length."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from aisle.service.callers import Caller

if TYPE_CHECKING:
    _Both = HttpToolsProtocol
else:

    class _Both(Caller, HttpToolsProtocol):
        pass


_LONGEST = 64 << 10
"""Bytes of a head, where nobody says; the plain parser has the same."""
_UPGRADE = re.compile(rb"\r\nupgrade[ \t]*:[^\r\n]*", re.IGNORECASE)


class QuickCaller(_Both):
    """A connection whose heads, and whatever else of a request is no body, are bounded."""

    _is_between = True
    """Whether the next byte begins a request."""
    _in_head = True
    _length = 0
    """Of what this request has said so far beside its body."""
    _pending = 0
    """What came since a head began, or, behind it, since the parser understood something: it keeps it until it does."""
    _begun = 0
    """Requests that began in the bytes that came last."""

    def data_received(self, data: bytes) -> None:
        """More bytes; who goes on without end is told so, and left."""
        begins, self._begun = self._is_between, 0
        self._pending += len(data)
        super().data_received(_without_upgrade(data) if begins else data)
        if begins and self._in_head and self._begun == 1:
            self._pending = len(data)  # all of it is of this head
        longest = self.config.h11_max_incomplete_event_size or _LONGEST
        if max(self._length, self._pending) <= longest or self.transport.is_closing():
            return
        if self._in_head:
            self.send_400_response("Invalid HTTP request received.")
        else:
            self.transport.abort()

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
        """All of the head is there."""
        self._in_head, self._pending = False, 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Some of its body, whose length is its reader's matter."""
        self._pending = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """All of it is there."""
        super().on_message_complete()
        self._is_between = True

    def _say(self, length: int) -> None:
        self._length += length
        if not self._in_head:
            self._pending = 0


def _without_upgrade(data: bytes) -> bytes:
    """A head that does not offer another protocol: we speak none, and the parser would take the body for one."""
    head, end, rest = data.partition(b"\r\n\r\n")
    return _UPGRADE.sub(b"", head) + end + rest if b"pgrade" in head else data
