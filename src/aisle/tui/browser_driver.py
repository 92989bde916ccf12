"""Driver for a browser as terminal: packets over pipes to the web server.

Besides data it handles messages about size, pages, inputs, end and user token; all others are ignored.
"""

from __future__ import annotations

import base64
import json
import os
import sys
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final, TextIO

from textual.app import App

from aisle.browser_addresses_and_packets import PRELUDE, InvalidPacket, PacketDecoder, encode_packet, parse_size
from aisle.scan.inputs_and_line_grouping import ADDRESS_KEY, Key
from aisle.tui.driver import AisleDriver
from aisle.tui.terminal_output import MAX_UNWRITTEN, TerminalWriter

_PIECE_BYTES: Final = 48 << 10
"""Bytes of a file in one message; a multiple of three, so that the pieces' Base64 has no padding but at the end."""


class _PacketWriter(TerminalWriter):
    """Writer of packets; text queued while the server is slow is written in one packet."""

    def __init__(self, file: TextIO, on_dropped: Callable[[], None]) -> None:
        super().__init__(file, on_dropped)
        self._file = file  # keeps the file open

        self._messages: deque[bytes] = deque()
        self._waiting_bytes = 0

    @property
    def has_room(self) -> bool:
        """True if the messages that wait take little memory."""
        return self._waiting_bytes <= MAX_UNWRITTEN

    def run(self) -> None:
        """Write the prelude line, then packets."""
        self._put(PRELUDE)
        super().run()

    def tell(self, message: Mapping[str, object]) -> None:
        """Queue a message for the web server."""
        packet = encode_packet(b"M", json.dumps(message).encode())
        with self._lock:
            self._waiting_bytes += len(packet)
        self._messages.append(packet)
        self.write("", always=True)

    def _send(self, data: bytes) -> None:
        while self._messages:
            packet = self._messages.popleft()
            self._put(packet)
            with self._lock:
                self._waiting_bytes -= len(packet)
        if data:
            self._put(encode_packet(b"D", data))


class BrowserDriver(AisleDriver):
    """AisleDriver on two pipes."""

    reports_pages = True

    def __init__(
        self, app: App[Any], *, debug: bool = False, mouse: bool = False, size: tuple[int, int] | None = None
    ) -> None:
        """Store the arguments of Textual."""
        self._browser_size = size or (80, 24)
        super().__init__(app, debug=debug, mouse=False, size=self._browser_size)
        self._packets = PacketDecoder()
        self._messages: _PacketWriter | None = None
        self._reported_page: tuple[str, str] | None = None
        self._is_resize_planned = False
        self._marks: deque[tuple[int, int]] = deque()
        """Numbers of the page's inputs, each with the number of the input that its line ends."""

    def _open_writer(self) -> TerminalWriter:
        """Keep standard output for packets, and send anything else printed from now on to standard error."""
        own = os.fdopen(os.dup(1), "w", encoding="utf-8")
        with suppress(OSError):
            os.dup2(2, 1)
        sys.stdout = sys.stderr
        self._messages = _PacketWriter(own, self._repaint_dropped)
        return self._messages

    def report_page(self, address: str, title: str) -> None:
        """Tell the web server which page is on the screen, once. While too much waits, the next call does."""
        if self._messages is not None and self._messages.has_room and self._reported_page != (address, title):
            self._reported_page = address, title
            self._messages.tell({"type": "page", "address": address, "title": title})

    def offer_file(self, name: str, content: bytes) -> bool:
        """Send a file to the browser in pieces, unless too much waits for it."""
        if self._messages is None or not self._messages.has_room:
            return False
        for start in range(0, max(1, len(content)), _PIECE_BYTES):
            piece, is_last = content[start : start + _PIECE_BYTES], start + _PIECE_BYTES >= len(content)
            text = base64.b64encode(piece).decode()
            self._messages.tell({"type": "file", "name": name, "content": text, "is_last": is_last})
        return True

    def _on_resize(self) -> None:
        """Ignore the size of this process's terminal; the browser's counts."""

    def _handle_read(self, data: bytes, now: float) -> None:
        try:
            packets = self._packets.feed(data)
        except InvalidPacket:
            self._call_on_loop(self._leave)
            return
        for kind, content in packets:
            if self._is_input_over:
                return
            if kind == b"D":
                super()._handle_read(content, now)
            else:
                self._handle_message(content, now)

    def _handle_message(self, content: bytes, now: float) -> None:
        """Handle a message of the web server: another page or size, a number, an address, the end, or a token."""
        try:
            message = json.loads(content)
        except ValueError:
            return
        match message:
            case {"type": "quit" | "exit"}:
                self._call_on_loop(self._leave)
            case {"type": "mark", "number": int(number)}:
                self._marks.append((number, self._queued_count + bool(self._decoder.open_text)))
                self._plan_release()
            case {"type": "resize"}:
                if size := parse_size(message):
                    self._plan_resize(size)
            case {"type": "attach"}:
                self._call_on_loop(self._set_up_terminal)
                self._plan_resize(parse_size(message) or self._browser_size)
            case {"type": "open", "address": str(address)}:
                self._reported_page = None  # the browser has another address until it is told of the page
                self._queue_inputs([Key(f"{ADDRESS_KEY}{address}")], now)
                self._wait_for_room()
            case {"type": "pass", "token": str(token), "until": int(until)}:
                self._call_on_loop(partial(self._receiver.confirm_pin, token, until))

    def release(self) -> None:
        """Pass on what is queued, and tell the web server which input of the page was taken last."""
        super().release()
        taken = 0
        while self._marks and self._marks[0][1] <= self._taken_count:
            taken, _ = self._marks.popleft()
        if taken and self._messages is not None:
            self._messages.tell({"type": "taken", "number": taken})

    def _screen_size(self) -> tuple[int, int]:
        return self._browser_size

    def _plan_resize(self, size: tuple[int, int]) -> None:
        """Have the event loop take this size; of many at once only the last one counts."""
        self._browser_size = size
        if not self._is_resize_planned:
            self._is_resize_planned = True
            self._call_on_loop(self._resize)

    def _resize(self) -> None:
        self._is_resize_planned = False
        self._receiver.change_size(*self._browser_size)
