"""Samples of what is shown when something is short."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from aisle.jobs.pick.short import ShortJob
from aisle.jobs.pick.short_state import Need, Shortage
from aisle.jobs.pick.short_ways import Spot, Way, reasons, ways_of
from aisle.jobs.sheet import Around, Coming, Near, Pool, Sheet
from aisle.jobs.view import ASK, INFO, WRONG, Frame, Link, Verdict, msg
from aisle.settings import SHORT_REASONS

LABEL = "Cola Zero 33 cl can, tray of 24"


def _frame(state: Shortage, verdict: Verdict, link: Link, serial: int = 0) -> Frame:
    return Frame(ShortJob().view(state), link, verdict, "", "0042", "Anna", serial)


def _state(text: str, places: int, orders: int = 1) -> Shortage:
    needs = tuple(
        Need(text or f"1000{42 + n}", 1, (text or f"Tote {n + 1}") if orders > 1 else "", Decimal(4 - n))
        for n in range(orders)
    )
    codes = ("A-03-14", "A-05-02", "BR-02", "BR-07", "C-01-03", "D-11-10", "R-01-01", "R-01-02", "R-02-01", "R-02-02")
    spots = tuple(
        Spot(text + str(n) if text else codes[n % len(codes)] + "B" * (n // len(codes)), 1 + n % 2, Decimal(12 - n))
        for n in range(places)
    )
    stores = (Near(text or "Millbrook Station", Decimal(12)), Near(text or "Fernhill", Decimal(3)))
    warehouse = (Near(text or "Millbrook Depot", Decimal(480), True),)
    state = Shortage(
        needs=needs,
        product="4001",
        label=text or LABEL,
        place=text or "A-03-12",
        pool=1,
        of=Decimal(6),
        rest=Decimal(4),
        spots=spots,
        reasons=reasons(SHORT_REASONS),
        known=True,
        sheet=Sheet(
            name=text or LABEL,
            age=Decimal(180),
            delivery="2026-11-21T07:00:00",
            ordering="2026-11-20T15:00:00",
            pools=(Pool(1, text or "Shop floor", Decimal(18)), Pool(2, "", Decimal(6))),
        ),
        around=Around((*stores, *warehouse), Decimal(7300)),
        coming=(Coming(text or "7005", Decimal(6), msg("moment", at="2026-11-26T08:00:00")),),
    )
    return _numbered(state)


def _numbered(state: Shortage) -> Shortage:
    return state._replace(ways=ways_of(state.spots, state.reasons, may_reject=True))


def _opened(text: str) -> Verdict:
    return Verdict(INFO, msg("short.opened", rest=Decimal(4), label=text or LABEL))


def _usual(text: str) -> Frame:
    return _frame(_state(text, 3), _opened(text), Link("live", 12.0, 1), 14)


def _many(text: str) -> Frame:
    return _frame(_state(text, 12, 2), _opened(text), Link("offline", 300.0, 2), 15)


def _bare(text: str) -> Frame:
    """No places, no orders around, nothing known, and a service that keeps no reasons."""
    state = Shortage(
        needs=(Need(text or "100042", 1, "", Decimal(1)),),
        product="4001",
        label=text or LABEL,
        of=Decimal(1),
        rest=Decimal(1),
        reasons=tuple(reason for reason in reasons(SHORT_REASONS) if not reason.empty),
        around=Around(refused=True),
        kept=False,
    )
    return _frame(_numbered(state), _opened(text), Link("none"), 1)


def _scanned(text: str) -> Frame:
    place = text or "D-01-01"
    told = msg("short.none_there", place=place, label=text or LABEL)
    state = _state(text, 2)._replace(asked=Way("place", place))
    return _frame(state, Verdict(ASK, told), Link("live", 3.0), 16)


def _which(text: str) -> Frame:
    state = _state(text, 1, 3)._replace(phase="which")
    return _frame(state, Verdict(INFO, msg("short.which")), Link("live", 3.0), 17)


def _why(text: str) -> Frame:
    state = _state(text, 1)._replace(phase="why", order=text or "100042")
    told = msg("short.answer_first", what=text or "A-03-14")
    return _frame(state, Verdict(WRONG, told), Link("live", 3.0), 18)


def _sure(text: str) -> Frame:
    state = _state(text, 1)._replace(phase="why", order=text or "100042")
    state = state._replace(asked=Way("reject", state.reasons[0].code))
    told = msg("short.sure", order=state.order, words=text or state.reasons[0].words)
    return _frame(state, Verdict(ASK, told), Link("live", 3.0), 19)


SHORT: tuple[tuple[str, str, Callable[[str], Frame]], ...] = (
    ("short.ways", "usual", _usual),
    ("short.ways", "many", _many),
    ("short.ways", "bare", _bare),
    ("short.ways", "scanned", _scanned),
    ("short.which", "orders", _which),
    ("short.why", "reasons", _why),
    ("short.why", "sure", _sure),
)
"""(screen, state, what builds it) of each sample."""
