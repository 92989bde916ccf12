"""Serial numbers (GS1 AI 21) scanned in a job: two labels with the same one are the same piece."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import NamedTuple

from aisle.jobs.job import Event
from aisle.jobs.view import GOOD, INFO, WRONG, Verdict
from aisle.scan.grammar_and_meaning_types import PRODUCT, Back, Choice, Command, Match, Quantity, Scan

QuantityOf = Callable[[str], Decimal]
"""Quantity of a product that a job has taken."""


class Serial(NamedTuple):
    """Serial number of a piece; numbers of other GTINs are others."""

    code: str
    number: str
    product: str


class TakenPiece(NamedTuple):
    """Piece that a job took, with the quantities of its product before and after it."""

    serial: Serial
    before: Decimal = Decimal(0)
    after: Decimal = Decimal(1)


class ScannedSerials(NamedTuple):
    """Serial numbers of the pieces that a job took, in order."""

    taken: tuple[TakenPiece, ...] = ()
    asked: tuple[Serial, ...] = ()
    """Serial numbers of the scans that the job asks about."""
    is_undoing: bool = False
    """True from an undo to the next input that does not answer a question about it."""

    def has(self, scan: Scan) -> bool:
        """Return whether the job took the piece of this scan before, or asks about it."""
        serial = serial_of(scan)
        return serial is not None and serial in (*(piece.serial for piece in self.taken), *self.asked)

    def with_earlier(self, scans: Iterable[Scan]) -> ScannedSerials:
        """Add the pieces of these scans."""
        return self._replace(taken=(*self.taken, *map(TakenPiece, filter(None, map(serial_of, scans)))))

    def after_event(
        self, event: Event, verdict: Verdict | None, before: QuantityOf, after: QuantityOf
    ) -> ScannedSerials:
        """Return the serial numbers after an event of the job, which took or gave back these quantities."""
        serials = self._noted(event, verdict)
        if serials.is_undoing:
            serials = serials._replace(taken=_without_undone(serials.taken, before, after))
        if not serials.asked or verdict is None or verdict.kind != GOOD:
            return serials
        return serials._replace(taken=(*serials.taken, *_pieces(serials.asked, before, after)), asked=())

    def _noted(self, event: Event, verdict: Verdict | None) -> ScannedSerials:
        """Note whether an input undoes, and the serial number that the job asks about until its first good verdict."""
        if not isinstance(event, Scan | Quantity | Choice | Command | Back):
            return self
        is_undo = isinstance(event, Command) and event.letter == "u"
        is_undoing = is_undo or (self.is_undoing and isinstance(event, Choice))
        kind = verdict.kind if verdict else ""
        if not isinstance(event, Scan):
            return self._replace(is_undoing=is_undoing, asked=() if kind == INFO else self.asked)
        serial = serial_of(event) if event.matches[0].kind == PRODUCT and kind != WRONG else None
        return self._replace(is_undoing=False, asked=(*self.asked, serial) if serial else self.asked)


NO_SERIALS = ScannedSerials()


def _pieces(asked: tuple[Serial, ...], before: QuantityOf, after: QuantityOf) -> Iterable[TakenPiece]:
    """Return the pieces that a job took with a good verdict: those of products of which it has more now."""
    for index, serial in enumerate(asked):
        first, share = before(serial.product), (after(serial.product) - before(serial.product)) / len(asked)
        if share > 0:
            yield TakenPiece(serial, first + index * share, first + (index + 1) * share)


def _without_undone(taken: tuple[TakenPiece, ...], before: QuantityOf, after: QuantityOf) -> tuple[TakenPiece, ...]:
    """Return the pieces without those that an undo gave back: the last ones, above the quantity that is left."""
    products = {piece.serial.product for piece in taken}
    gone = {product: before(product) - after(product) for product in products}
    kept: list[TakenPiece] = []
    for piece in reversed(taken):
        product = piece.serial.product
        if gone[product] > 0 and piece.after > after(product):
            gone[product] -= piece.after - piece.before
        else:
            kept.append(piece)
    return tuple(reversed(kept))


def serial_of(scan: Scan) -> Serial | None:
    """Return the serial number on the scanned label; None if it has none."""
    match: Match = scan.matches[0]
    return Serial(match.code, match.serial, match.key) if match.serial and not scan.is_look_up else None


def as_repeated(scan: Scan) -> Scan:
    """Return a scan as one whose piece was taken before."""
    return scan.with_first(is_repeated=True)


def as_multiplied(scan: Scan) -> Scan:
    """Return a scan as one piece that a multiplier counts several times."""
    return scan.with_first(is_multiplied_serial=True)
