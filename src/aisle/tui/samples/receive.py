"""Samples of receiving deliveries, for the registry of screens."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from aisle.jobs.receive.deliveries import DeliveriesJob
from aisle.jobs.receive.deliveries_state import Deliveries, Sheet
from aisle.jobs.receive.deliveries_view import title_of
from aisle.jobs.receive.job import ReceiveJob
from aisle.jobs.receive.receiving import Did, Item, Line, Listed, Receiving, Way
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Frame, Link, Verdict, msg
from aisle.scan.meaning import PRODUCT, Meaning

GOODS = (
    (1, "4001", "Cola Zero 33 cl can, tray of 24", 48, 24, "00387123450000000018"),
    (2, "4002", "Orange lemonade 1.5 l", 12, 12, "00387123450000000018"),
    (3, "4107", "Crisps, natural, 250 g", 20, 0, "00387123450000000025"),
    (4, "5231", "Crème fraîche 200 g", 6, 0, "00387123450000000025"),
    (5, "5240", "Gouda, mature, in one piece", 4, 5, ""),
)
"""Line, product, name, announced, received, container."""

LISTED = (
    ("PO-2026-1187", "Hansen Beverages", "2026-11-20T07:30:00", 240, 36, "partial"),
    ("PO-2026-1190", "Dairy of the North", "2026-11-20T09:00:00", 66, 0, "open"),
    ("TR-0900-4471", "Warehouse West", "2026-11-21T06:00:00", 512, 0, "open"),
    ("PO-2026-1201", "Öztürk & Sons", "2026-11-23T08:00:00", 18, 0, "open"),
)


def _lines(text: str) -> tuple[Line, ...]:
    return tuple(
        Line(number, product, text or label, Decimal(of), Decimal(came), text or container)
        for number, product, label, of, came, container in GOODS
    )


def _listed(text: str) -> tuple[Listed, ...]:
    return tuple(
        Listed(text or number, text or supplier, msg("moment", at=due), Decimal(of), Decimal(came), state)
        for number, supplier, due, of, came, state in LISTED
    )


def _state(text: str, quantity: int = 0) -> Receiving:
    item = Item("4107", text or GOODS[2][2], Decimal(quantity), home=text or "A-04-01") if quantity else None
    return Receiving(
        "goods",
        number=text or "PO-2026-1187",
        supplier=text or "Hansen Beverages",
        lines=_lines(text),
        place=text or "DOCK",
        item=item,
        history=(Did(text or GOODS[2][2]),) if quantity else (),
    )


def _frame(state: Receiving, verdict: Verdict | None, link: Link, serial: int = 0, typed: str = "") -> Frame:
    return Frame(ReceiveJob().view(state), link, verdict, typed, "0042", "Anna", serial)


def _delivery(text: str) -> Frame:
    return _frame(Receiving(rows=_listed(text), total=31, cursor=1), None, Link("live", 4.0))


def _none(text: str) -> Frame:
    return _frame(Receiving(), None, Link("offline", 4000.0, 2))


def _loading(text: str) -> Frame:
    return _frame(Receiving(), None, Link("syncing", -1.0, 0, 0, 1200, 61000))


def _unknown_delivery(text: str) -> Frame:
    verdict = Verdict(WRONG, msg("receive.no_delivery", code=text or "PO-2026-9999"))
    return _frame(Receiving(rows=_listed(text), total=4), verdict, Link("live", 4.0), 3)


def _which(text: str) -> Frame:
    ways = tuple(Way("open", text or number) for number, *_ in LISTED[:3])
    return _frame(Receiving(ways=ways), Verdict(ASK, msg("receive.which", label=text or GOODS[0][2])), Link("live"), 2)


def _opened(text: str) -> Frame:
    args = {"supplier": text or "Hansen Beverages", "delivery": text or "PO-2026-1187"}
    return _frame(_state(text), Verdict(GOOD, msg("receive.opened", count=3, **args)), Link("live", 8.0), 1)


def _taken(text: str) -> Frame:
    args = {"quantity": Decimal(8), "of": Decimal(20)}
    verdict = Verdict(GOOD, msg("receive.taken", label=text or GOODS[2][2], **args))
    return _frame(_state(text, 8), verdict, Link("live", 12.0, 1), 4)


def _again(text: str) -> Frame:
    state = _state(text)
    item = Item("4001", text or GOODS[0][2], Decimal(6), home=text or "A-03-12")
    state = state._replace(item=item, container=text or GOODS[0][5], history=(Did("x"),))
    return _frame(state, None, Link("offline", 700.0, 5), 9)


def _put(text: str) -> Frame:
    place, label = text or "A-04-01", text or GOODS[2][2]
    verdict = Verdict(GOOD, msg("receive.put", place=place, quantity=Decimal(20), label=label))
    return _frame(_state(text), verdict, Link("live", 1.0, 1), 5)


def _more(text: str) -> Frame:
    label = text or GOODS[2][2]
    ways = (Way("fit", "4107", Decimal(20)), Way("over", "4107", Decimal(24)), Way("aside", "4107", label=label))
    verdict = Verdict(ASK, msg("receive.more", label=label, quantity=Decimal(24), missing=Decimal(20)))
    pending = Meaning(PRODUCT, "4107", label, Decimal(24))
    return _frame(_state(text, 8)._replace(ways=ways, pending=pending), verdict, Link("live", 2.0), 6)


def _other(text: str) -> Frame:
    label, other = text or "Oat drink 1 l", text or "TR-0900-4471"
    ways = (Way("extra", "6001", Decimal(1), label), Way("switch", other), Way("aside", "6001", label=label))
    verdict = Verdict(ASK, msg("receive.of_another", label=label, delivery=other))
    return _frame(_state(text, 8)._replace(ways=ways), verdict, Link("live", 2.0), 7)


def _unknown(text: str) -> Frame:
    code = text or "8712345678906"
    ways = (Way("find", code), Way("aside", label=code))
    verdict = Verdict(WRONG, msg("receive.unknown", code=code))
    return _frame(_state(text, 8)._replace(ways=ways), verdict, Link("live", 2.0), 8)


def _all_lines(text: str) -> Frame:
    return _frame(_state(text)._replace(phase="lines"), None, Link("live", 2.0))


def _check(text: str) -> Frame:
    verdict = Verdict(ASK, msg("receive.differ", short=3, over=1))
    return _frame(_state(text, 8)._replace(phase="check", size=6), verdict, Link("live", 2.0), 12)


def _leave(text: str) -> Frame:
    verdict = Verdict(ASK, msg("receive.leave", quantity=Decimal(8)))
    return _frame(_state(text, 8)._replace(phase="leave"), verdict, Link("refused", 9000.0, 2), 14)


def _done(text: str) -> Frame:
    state = _state(text)
    lines = tuple(line._replace(received=line.of) for line in state.lines)
    verdict = Verdict(INFO, msg("receive.go_on", delivery=state.number))
    return _frame(state._replace(lines=lines), verdict, Link("live", 2.0), 15)


RECEIVE: tuple[tuple[str, str, Callable[[str], Frame]], ...] = (
    ("receive.delivery", "list", _delivery),
    ("receive.delivery", "none", _none),
    ("receive.delivery", "loading", _loading),
    ("receive.delivery", "unknown", _unknown_delivery),
    ("receive.delivery", "which", _which),
    ("receive.goods", "opened", _opened),
    ("receive.goods", "taken", _taken),
    ("receive.goods", "again", _again),
    ("receive.goods", "put", _put),
    ("receive.goods", "more", _more),
    ("receive.goods", "other", _other),
    ("receive.goods", "unknown", _unknown),
    ("receive.goods", "done", _done),
    ("receive.lines", "all", _all_lines),
    ("receive.check", "differs", _check),
    ("receive.leave", "in_hand", _leave),
)
"""Screen, state, and how it is built."""


# The list of deliveries


def _deliveries_frame(state: Deliveries, verdict: Verdict | None, link: Link, serial: int = 0) -> Frame:
    return Frame(DeliveriesJob().view(state), link, verdict, "", "0042", "Anna", serial)


def _deliveries(text: str) -> Frame:
    return _deliveries_frame(Deliveries(rows=_listed(text), total=31, cursor=1), None, Link("live", 4.0))


def _receipts(text: str) -> Frame:
    state = Deliveries("receipts", "1", ("1", "2"), rows=_listed(text)[:2], total=2)
    return _deliveries_frame(state, Verdict(INFO, title_of(state)), Link("live", 4.0), 2)


def _nothing(text: str) -> Frame:
    return _deliveries_frame(Deliveries("received", search=text or "hans"), None, Link("offline", 900.0))


def _sheet(text: str) -> Frame:
    sheet = Sheet(
        text or "PO-2026-1187",
        text or "Hansen Beverages",
        "partial",
        "2026-11-20T07:30:00",
        "1",
        text or "EXT-88213",
        "2",
        text,
        text or "https://track.example/PO-2026-1187",
        Decimal(90),
        Decimal(41),
        (*_lines(text), Line(6, "6001", text or "Oat drink 1 l", Decimal(6), order=text or "100042")),
    )
    return _deliveries_frame(Deliveries(number=sheet.number, sheet=sheet), None, Link("live", 4.0), 3)


def _awaited(text: str) -> Frame:
    state = Deliveries(number=text or "PO-2026-9999")
    verdict = Verdict(WRONG, msg("deliveries.gone", delivery=state.number))
    return _deliveries_frame(state, verdict, Link("live", 4.0), 4)


DELIVERIES: tuple[tuple[str, str, Callable[[str], Frame]], ...] = (
    ("deliveries", "open", _deliveries),
    ("deliveries", "receipts", _receipts),
    ("deliveries", "nothing", _nothing),
    ("deliveries.page", "lines", _sheet),
    ("deliveries.page", "awaited", _awaited),
)
"""The same of the list of deliveries."""
