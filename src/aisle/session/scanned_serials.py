"""Serial numbers (GS1 AI 21) scanned in a job: two labels with the same one are the same piece."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from aisle.jobs.job import Event
from aisle.jobs.view import GOOD, WRONG, Verdict
from aisle.scan.meaning import PRODUCT, Choice, Command, Match, Quantity, Scan


class Serial(NamedTuple):
    """Serial number of a piece; numbers of other GTINs are others."""

    code: str
    number: str


class ScannedSerials(NamedTuple):
    """Serial numbers of the pieces that a job took."""

    taken: frozenset[Serial] = frozenset()
    asked: Serial | None = None
    """Serial number of the last scan while the job has not taken it."""
    last: Serial | None = None
    """Serial number that the last input took, which an undo gives back."""

    def has(self, scan: Scan) -> bool:
        """Return whether the job took the piece of this scan before."""
        return serial_of(scan) in self.taken

    def with_earlier(self, scans: Iterable[Scan]) -> ScannedSerials:
        """Add the pieces of these scans."""
        return self._replace(taken=self.taken.union(filter(None, map(serial_of, scans))))

    def after(self, event: Event, verdict: Verdict | None) -> ScannedSerials:
        """Return the serial numbers after an event of the job; a piece is taken with the first good verdict."""
        is_input = isinstance(event, Scan | Quantity | Choice | Command)
        if not is_input and (self.asked is None or verdict is None):
            return self
        is_good = verdict is not None and verdict.kind == GOOD
        if isinstance(event, Command):
            is_undo = event.letter == "u" and is_good and self.last is not None
            return ScannedSerials(self.taken - {self.last} if is_undo and self.last else self.taken)
        asked = self.asked
        if isinstance(event, Scan) and event.matches[0].kind == PRODUCT:
            asked = serial_of(event)
        if asked is None or (verdict is not None and verdict.kind == WRONG):
            return ScannedSerials(self.taken)
        return ScannedSerials(self.taken | {asked}, last=asked) if is_good else self._replace(asked=asked, last=None)


NO_SERIALS = ScannedSerials()


def serial_of(scan: Scan) -> Serial | None:
    """Return the serial number on the scanned label; None if it has none."""
    match: Match = scan.matches[0]
    return Serial(match.code, match.serial) if match.serial and not scan.is_look_up else None


def as_repeated(scan: Scan) -> Scan:
    """Return a scan as one whose piece was taken before."""
    first, *others = scan.matches
    return scan._replace(matches=(first._replace(is_repeated=True), *others))
