"""A scanner at a session: its bytes are cut into reads, with the silences between them, as the driver hands them on."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from aisle.jobs.view import Frame
from aisle.scan.decoder import Decoder
from aisle.scan.inputs_and_line_grouping import SAME_SCAN_S, DecodedInput, EscapeInput, LineGrouper
from aisle.session.session import Session

PAUSE_S = 0.3
"""Longer than anything waits for a further line."""


class Scanner:
    """Sends bytes to a session, on a clock of its own."""

    def __init__(self, session: Session, now: float = 100.0) -> None:
        self.session = session
        self.now = now
        self._decoder = Decoder()
        self._lines = LineGrouper()
        self._frame = session.frames.build()

    def send(self, data: bytes | str, pace_s: float = 0.0, cuts: Iterable[int] = ()) -> Frame:
        """One scan: in one read, cut at these places, or byte by byte so far apart; then nothing for a while."""
        self.write(data, pace_s, cuts)
        return self.rest()

    def write(self, data: bytes | str, pace_s: float = 0.0, cuts: Iterable[int] = ()) -> Frame:
        """The same without the silence behind it."""
        data = data.encode() if isinstance(data, str) else data
        edges = range(len(data) + 1) if pace_s and not cuts else (0, *sorted({*cuts}), len(data))
        for first, last in pairwise(edges):
            self._read(data[first:last], pace_s)
        return self._frame

    def rest(self, seconds: float = PAUSE_S) -> Frame:
        """Nothing is sent for so long."""
        until = self.now + seconds
        while (wait := self._lines.seconds_left(self.now)) is not None and self.now + wait <= until:
            self.now += wait
            self._take(self._lines.tick(self.now))
        if self._decoder.is_waiting and seconds >= SAME_SCAN_S:
            self._take(self._lines.group(self._decoder.tick(self.now), self.now))
        self.now = until
        return self._frame

    def _read(self, data: bytes, after: float) -> None:
        self.rest(after)
        if data:
            self._take(self._lines.group(self._decoder.feed(data, self.now), self.now))

    def _take(self, items: list[DecodedInput]) -> None:
        taken = [item for item in items if not isinstance(item, EscapeInput)]
        if taken:
            self._frame = self.session.take(taken, self.now)
