"""Samples of the hand-over."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from aisle.jobs.hand_over.hand_over_state_and_writes import (
    CONFIRM,
    GOODS,
    LOCATION,
    ORDER_STEP,
    QUANTITY,
    Checked,
    HandOverState,
    HeldHere,
    LineGoods,
    PutBack,
)
from aisle.jobs.hand_over.job import HandOverJob
from aisle.jobs.supervisor.order_rows import BoardOrder
from aisle.jobs.view import GOOD, INFO, WRONG, Frame, LinkState, Verdict, msg

NAMES = ("Beekeeper's Honey Heather 250 g", "Skimmed milk 1 l", "Gouda, mature, in one piece")
CUSTOMERS = ("Petra Oakes", "Kit Gray", "René Knox-Featherstonehaugh")
LIVE = LinkState("live", 4.0)


def _rows(text: str) -> tuple[BoardOrder, ...]:
    states = (("picked", ("PU-04",)), ("picked", ("PU-01", "FZ-01")), ("partial", ()))
    return tuple(
        BoardOrder(
            text or f"41{at:02}",
            text or CUSTOMERS[at],
            msg("moment", at=f"2026-11-{19 + at}"),
            status,
            put_down_at=tuple(text or place for place in places),
        )
        for at, (status, places) in enumerate(states)
    )


def _goods(text: str) -> tuple[LineGoods, ...]:
    held = (HeldHere(text or "PU-04", Decimal(2)),)
    honey, milk, cheese = (text or name for name in NAMES)
    return (
        LineGoods(1, "4000", honey, Decimal(2), Decimal(2), held=held, stock_location=text or "A-02-2"),
        LineGoods(2, "4001", milk, Decimal(6), Decimal(5), is_closed=True, held=held),
        LineGoods(3, "4002", cheese, Decimal("0.8"), Decimal("0.755"), is_closed=True, unit="kg"),
    )


def _order(text: str, step: str = ORDER_STEP, **fields: Any) -> HandOverState:
    number, customer = text or "4113", text or CUSTOMERS[0]
    state = HandOverState(step=step, order=number, customer=customer, status="picked", goods=_goods(text))
    return state._replace(**fields)


def _frame(state: HandOverState, verdict: Verdict | None = None, link: LinkState = LIVE, typed: str = "") -> Frame:
    return Frame(HandOverJob().view(state), link, verdict, typed, "0042", "Anna", 2)


def _list(text: str) -> Frame:
    return _frame(HandOverState(rows=_rows(text)[:2], total=2))


def _found(text: str) -> Frame:
    return _frame(HandOverState(rows=_rows(text), total=3, typed="oak"), typed="oak")


def _done(text: str) -> Frame:
    goods = msg("goods.pieces", count=Decimal(8))
    verdict = Verdict(GOOD, msg("hand_over.done", order=text or "4113", goods=goods))
    return _frame(HandOverState(rows=_rows(text)[1:2], total=1), verdict, LinkState("offline", 900.0, 3))


def _none(text: str) -> Frame:
    verdict = Verdict(WRONG, msg("hand_over.no_phones"))
    return _frame(HandOverState(knows_phones=False), verdict)


def _shown(text: str) -> Frame:
    return _frame(_order(text))


def _checking(text: str) -> Frame:
    checked = (Checked(1, Decimal(2)), Checked(2, Decimal(1)))
    verdict = Verdict(GOOD, msg("hand_over.checked", label=text or NAMES[1], left=Decimal(4)))
    return _frame(_order(text, checks_goods=True, checked=checked), verdict)


def _elsewhere(text: str) -> Frame:
    state = _order(text, goods=tuple(each._replace(held=()) for each in _goods(text)))
    return _frame(state, Verdict(WRONG, msg("hand_over.scan_order", order=text or "4113")))


def _put_back(text: str) -> Frame:
    step = PutBack(text or "4113", 1, "4000", text or NAMES[0], Decimal(2), was_closed=True, from_hand=Decimal(1))
    place = msg("goods.at", place=text or "A-02-2")
    said = msg("hand_over.put_back", quantity=Decimal(1), label=text or NAMES[0], place=place)
    return _frame(_order(text, put_back=(step,)), Verdict(GOOD, said))


def _not_picked(text: str) -> Frame:
    goods = tuple(each._replace(picked=Decimal(0), held=(), is_closed=False) for each in _goods(text))
    return _frame(_order(text, status="open", goods=goods))


def _question(step: str, **fields: Any) -> Callable[[str], Frame]:
    return lambda text: _frame(_order(text, step, line=1, quantity=Decimal(1), **fields))


def _missing(text: str) -> Frame:
    goods = tuple(each._replace(is_closed=False) for each in _goods(text))
    return _frame(_order(text, CONFIRM, status="partial", goods=goods))


def _dropped(text: str) -> Frame:
    return _frame(HandOverState(), Verdict(INFO, msg("hand_over.left", order=text or "4113")))


HAND_OVER_SAMPLES = (
    ("hand_over", "ready", _list),
    ("hand_over", "found", _found),
    ("hand_over", "done", _done),
    ("hand_over", "phones", _none),
    ("hand_over", "none", _dropped),
    ("hand_over.order", "ready", _shown),
    ("hand_over.order", "checking", _checking),
    ("hand_over.order", "elsewhere", _elsewhere),
    ("hand_over.order", "put_back", _put_back),
    ("hand_over.order", "open", _not_picked),
    ("hand_over.goods", "asked", _question(GOODS)),
    ("hand_over.quantity", "asked", _question(QUANTITY)),
    ("hand_over.location", "asked", _question(LOCATION)),
    ("hand_over.confirm", "missing", _missing),
    ("hand_over.confirm", "unchecked", _question(CONFIRM, checks_goods=True)),
)
