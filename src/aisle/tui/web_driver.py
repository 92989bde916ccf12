"""The same driver where the terminal is a browser: its bytes come and go in packets, over pipes to the web server.

Whatever else a message asks for than another size or the end, or says than that a PIN was right, is for nobody.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from functools import partial
from typing import Any, TextIO

from textual import events
from textual.app import App
from textual.geometry import Size

from aisle.terminal_packets import PRELUDE, InvalidPacket, PacketDecoder, encode_packet, parse_size
from aisle.tui.driver import AisleDriver, TerminalWriter


class _PacketWriter(TerminalWriter):
    """Writes packets; what is queued while the server is slow goes out in one."""

    def __init__(self, file: TextIO) -> None:
        super().__init__(file)
        self._file = file  # for as long as anything may be written

    def run(self) -> None:
        """The line that says so comes first."""
        self._put(PRELUDE)
        super().run()

    def _send(self, data: bytes) -> None:
        if data:
            self._put(encode_packet(b"D", data))


class WebDriver(AisleDriver):
    """AisleDriver at the end of two pipes."""

    def __init__(
        self, app: App[Any], *, debug: bool = False, mouse: bool = False, size: tuple[int, int] | None = None
    ) -> None:
        """As Textual calls it."""
        super().__init__(app, debug=debug, mouse=False, size=size or (80, 24))
        self._packets = PacketDecoder()

    def _open_writer(self) -> TerminalWriter:
        """Standard output is the server's alone: what anything else prints from now on goes where errors go."""
        own = os.fdopen(os.dup(1), "w", encoding="utf-8")
        with suppress(OSError):
            os.dup2(2, 1)
        sys.stdout = sys.stderr
        return _PacketWriter(own)

    def _on_resize(self) -> None:
        """The size of the terminal that this process may have is not that of the browser."""

    def _handle_read(self, data: bytes, now: float) -> None:
        try:
            packets = self._packets.feed(data)
        except InvalidPacket:
            self._call_on_loop(self._leave)
            return
        for kind, content in packets:
            if kind == b"D":
                super()._handle_read(content, now)
            else:
                self._handle_message(content)

    def _handle_message(self, content: bytes) -> None:
        """The browser has another size, or is gone; or whoever sits there has said his PIN."""
        try:
            said = json.loads(content)
        except ValueError:
            return
        match said:
            case {"type": "quit" | "exit"}:
                self._call_on_loop(self._leave)
            case {"type": "resize"}:
                if size := parse_size(said):
                    self._call_on_loop(lambda: self._resize_to(size))
            case {"type": "pass", "token": str(token), "until": int(until)}:
                self._call_on_loop(partial(self._receiver.confirm_pin, token, until))

    def _resize_to(self, size: tuple[int, int]) -> None:
        self._size = size
        self._app.post_message(events.Resize(Size(*size), Size(*size)))
