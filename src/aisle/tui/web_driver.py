"""The same driver where the terminal is a browser: its bytes come and go in packets, over pipes to the web server.

A packet is a letter, four bytes with the length of what follows (big endian), and that: `D` is data as a terminal would
send or get it, `M` a message in JSON, as textual-serve has them. Whatever else a message asks for is for nobody.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from typing import Any, Final, TextIO

from textual import events
from textual.app import App
from textual.geometry import Size

from aisle.tui.driver import AisleDriver, Outlet

PRELUDE: Final = b"__GANGLION__\n"
"""By this line textual-serve knows that packets follow."""

LARGEST: Final = 1 << 24
"""Bytes of a packet: a longer one is none, and whoever says so is not the server."""
WIDEST: Final = 500
HIGHEST: Final = 200
"""Columns and rows of a screen at most; somebody may have a large window, nobody a larger one."""

_HEAD: Final = 5


class NoPacket(Exception):
    """What came is no packet: nothing that follows can be understood."""


def packet(kind: bytes, data: bytes) -> bytes:
    """One packet of this letter."""
    return b"%s%s%s" % (kind, len(data).to_bytes(4, "big"), data)


class Packets:
    """Takes a stream apart, wherever its reads were cut."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, data: bytes) -> list[tuple[bytes, bytes]]:
        """Letter and content of every packet that is whole now, in their order. Raises NoPacket."""
        self._rest += data
        found: list[tuple[bytes, bytes]] = []
        while len(self._rest) >= _HEAD:
            kind, size = bytes(self._rest[:1]), int.from_bytes(self._rest[1:_HEAD], "big")
            if kind not in (b"D", b"M") or size > LARGEST:
                raise NoPacket
            if len(self._rest) < _HEAD + size:
                break
            found.append((kind, bytes(self._rest[_HEAD : _HEAD + size])))
            del self._rest[: _HEAD + size]
        return found


def asked_size(said: object) -> tuple[int, int] | None:
    """Columns and rows that somebody asks for, within what a screen can be; None for what is no size."""
    match said:
        case {"width": int(width), "height": int(height)} if width > 0 and height > 0:
            return min(width, WIDEST), min(height, HIGHEST)
    return None


class _Wrapped(Outlet):
    """Writes packets; what is queued while the server is slow goes out in one."""

    def __init__(self, file: TextIO) -> None:
        super().__init__(file)
        self._open = file  # for as long as anything may be written

    def run(self) -> None:
        """The line that says so comes first."""
        self._put(PRELUDE)
        super().run()

    def _send(self, data: bytes) -> None:
        if data:
            self._put(packet(b"D", data))


class WebDriver(AisleDriver):
    """AisleDriver at the end of two pipes."""

    def __init__(
        self, app: App[Any], *, debug: bool = False, mouse: bool = False, size: tuple[int, int] | None = None
    ) -> None:
        """As Textual calls it."""
        super().__init__(app, debug=debug, mouse=False, size=size or (80, 24))
        self._packets = Packets()

    def _open_outlet(self) -> Outlet:
        """Standard output is the server's alone: what anything else prints from now on goes where errors go."""
        own = os.fdopen(os.dup(1), "w", encoding="utf-8")
        with suppress(OSError):
            os.dup2(2, 1)
        sys.stdout = sys.stderr
        return _Wrapped(own)

    def _resized(self) -> None:
        """The size of the terminal that this process may have is not that of the browser."""

    def _heard(self, data: bytes, now: float) -> None:
        try:
            packets = self._packets.feed(data)
        except NoPacket:
            self._on_loop(self._leave)
            return
        for kind, content in packets:
            if kind == b"D":
                super()._heard(content, now)
            else:
                self._told(content)

    def _told(self, content: bytes) -> None:
        """The browser has another size, or is gone."""
        try:
            said = json.loads(content)
        except ValueError:
            return
        match said:
            case {"type": "quit" | "exit"}:
                self._on_loop(self._leave)
            case {"type": "resize"}:
                if size := asked_size(said):
                    self._on_loop(lambda: self._resize_to(size))

    def _resize_to(self, size: tuple[int, int]) -> None:
        self._size = size
        self._app.post_message(events.Resize(Size(*size), Size(*size)))
