"""A terminal at the far end of a slow link: what is typed arrives late, and what is written arrives late and slowly."""

from __future__ import annotations

import time
from typing import Any

from tests.terminal.harness import Chunk, Terminal

WAY_S = 0.075
"""One way; there and back it is 150 ms."""
BYTES_S = 8000
"""64 kbit/s, in either direction."""
PACKET = 90
"""Bytes that TCP/IP and ssh lay around each packet."""


def way_s(size: int) -> float:
    """How long so many bytes in one packet take over a link where nothing else is on its way."""
    return WAY_S + (size + PACKET) / BYTES_S


class FarTerminal(Terminal):
    """Bytes keep their order and are on the link one after the other; each read of the program's output is a packet.

    A read bears the moment at which its last byte is at the far end, and is not seen before.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._there: list[tuple[float, bytes]] = []
        self._back: list[Chunk] = []
        self._free_there = self._free_back = 0.0
        super().__init__(*arguments, **options)

    def write(self, data: bytes) -> float:
        """Sends it on its way; answers with the time just before."""
        at = time.perf_counter()
        self._free_there = max(at, self._free_there) + (len(data) + PACKET) / BYTES_S
        self._there.append((self._free_there + WAY_S, data))
        return at

    def pump(self, timeout: float = 0.0) -> bool:
        """See Terminal; True if something has arrived here."""
        until, before = time.perf_counter() + timeout, len(self.chunks)
        while True:
            self._arrive()
            now = time.perf_counter()
            if len(self.chunks) > before or now >= until or self.exit_code is not None:
                return len(self.chunks) > before
            due = [*(at for at, _ in self._there[:1]), *(chunk.at for chunk in self._back[:1]), until]
            super().pump(max(0.0, min(due) - now))

    def wait_quiet(self, ms: float, timeout: float = 30.0) -> None:
        """Nothing is on its way either, there and back."""
        super().wait_quiet(ms + 2000 * WAY_S, timeout)

    def _arrive(self) -> None:
        while self._there and self._there[0][0] <= time.perf_counter():
            super().write(self._there.pop(0)[1])
        while self._back and self._back[0].at <= time.perf_counter():
            chunk = self._back.pop(0)
            self.chunks.append(chunk)
            self._raw += chunk.data

    def _drain(self) -> None:
        seen, size = len(self.chunks), len(self._raw)
        super()._drain()
        read = self.chunks[seen:]
        del self.chunks[seen:], self._raw[size:]
        for chunk in read:
            self._free_back = max(chunk.at, self._free_back) + (len(chunk.data) + PACKET) / BYTES_S
            self._back.append(Chunk(self._free_back + WAY_S, chunk.data))
