"""Samples of the list of what is not settled."""

from __future__ import annotations

from decimal import Decimal

from aisle.jobs.base import AGAIN, ARRIVED, BY_HAND, DIFFERENCE, OVERAGE
from aisle.jobs.chain.store_product_view import label, shown
from aisle.jobs.desk.doubts import DoubtsJob
from aisle.jobs.desk.doubts_state import OTHER_ORDER, PUT_BACK, Doubt, Doubts, Item, Side
from aisle.jobs.told import Told, told
from aisle.jobs.view import ASK, GOOD, Frame, Link, Verdict, msg

LINK = Link("live", 5.0, waiting=3, doubtful=2)


def _moved(text: str, word: str, asked: bool = False) -> Doubt:
    return Doubt(
        op_id="QX5R2M7K3VJT6ZB4WPA2HNYCDE",
        word=word,
        asked=asked,
        kind="move",
        operation="create-movement",
        who=text or "Anna",
        at="2026-11-20T09:41:00Z",
        verdict="unreadable",
        looks="there",
        items=(
            Item(text or "4001", text or "Cola Zero 33 cl can, tray of 24", Decimal(3), 0, text or "A-03-12", "C-01"),
        ),
        sides=(Side("4001", text or "A-03-12", "12", "-3", "9"), Side("4001", "C-01", "4", "+3", "7")),
        ways=(ARRIVED, AGAIN, BY_HAND) if asked else (),
        place=text or "A-03-12",
        product=text or "4001",
    )


def _refused(text: str) -> Doubt:
    return Doubt(
        op_id="B7T5R2M7K3VJT6ZB4WPA2HNYCD",
        word="refused",
        asked=True,
        kind="pick",
        operation="update-customer-order",
        who=text or "Ben",
        at="2026-11-20T09:12:00Z",
        why=text or "Order 10023 is finished",
        items=(
            Item(text or "4107", text or "Crisps, natural, 250 g", Decimal(2), 1),
            Item(text or "5230", text or "Whole milk 1 l", Decimal(12), 2),
        ),
        sides=(Side(text or "4107", "", "0", "2", "0"), Side(text or "5230", "", "0", "12", "0")),
        ways=(PUT_BACK, OTHER_ORDER, BY_HAND),
        order=text or "10023",
        product=text or "4107",
    )


def _rows(text: str) -> tuple[Doubt, ...]:
    count = Item("7714", text or "Wholemeal bread", Decimal(6), 0, "D-11-10")
    loss = Item("5231", text or "Crème fraîche 200 g", Decimal(-1), 0, "C-01-03")
    at, who = "2026-11-20T09:44:00Z", text or "Anna"
    return (
        _moved(text, "unclear", True),
        _refused(text),
        Doubt("C", "noted", kind="count", who=who, at=at, items=(count,), place="D-11-10"),
        Doubt("D", "sent", kind="change", who=who, at=at, items=(loss,), place="C-01-03"),
        Doubt("E", "confirmed", kind="pick", who=who, at=at, order=text or "10024"),
    )


def _frame(state: Doubts, verdict: Verdict | None = None) -> Frame:
    return Frame(DoubtsJob().view(state), LINK, verdict, "", "0042", "Anna")


def words(text: str) -> Frame:
    """One of each: the five words."""
    rows = _rows(text)
    return _frame(Doubts(rows=rows, total=len(rows)))


def settled(text: str) -> Frame:
    """The last one was settled."""
    state = Doubts()
    return Frame(
        DoubtsJob().view(state), Link("live", 5.0), Verdict(GOOD, msg("doubts.said_arrived")), "", "0042", text
    )


def unclear(text: str) -> Frame:
    """Nobody knows whether goods were moved."""
    return _frame(Doubts(entry=_moved(text, "unclear", True)))


def looked_for(text: str) -> Frame:
    """The machine is still looking."""
    return _frame(Doubts(entry=_moved(text, "unclear")._replace(ways=(ARRIVED, BY_HAND), looks="")))


def refused(text: str) -> Frame:
    """The service said no to picks."""
    return _frame(Doubts(entry=_refused(text)))


def changed(text: str) -> Frame:
    """Somebody else wrote to the order meanwhile."""
    sides = (Side(text or "4107", "", "0", "2", "1"), Side("5230", "", "0", "12", "12"))
    state = _refused(text)._replace(word="unclear", verdict="changed", sides=sides, ways=(ARRIVED, AGAIN, BY_HAND))
    return _frame(Doubts(entry=state))


def claimed(text: str) -> Frame:
    """Nobody knows whether an order is said to be worked on; what stood there before could not be read."""
    sides = (Side("is_claimed", "", None, "yes", "no"),)
    state = _refused(text)._replace(
        word="unclear", verdict="unreadable", items=(), sides=sides, ways=(ARRIVED, BY_HAND)
    )
    return _frame(Doubts(entry=state))


def short(text: str) -> Frame:
    """The books have less than was carried away."""
    state = _moved(text, "refused", True)._replace(
        why=text or "A-03-12 has 2 of 4001, 3 are asked for", looks="", ways=(OVERAGE, BY_HAND)
    )
    return _frame(Doubts(entry=state))


def counted(text: str) -> Frame:
    """Nobody knows whether a count arrived, and goods have come since."""
    state = _moved(text, "unclear", True)._replace(
        kind="count",
        looks="",
        sides=(Side("4001", text or "A-03-12", "10", "=12", "14"),),
        ways=(ARRIVED, AGAIN, DIFFERENCE, BY_HAND),
    )
    return _frame(Doubts(entry=state))


def _min_changed() -> Told:
    return told(
        "told.setting_changed", field=label("min"), product="4001", now=shown("min", "10"), seen=shown("min", "12")
    )


def left_over(text: str) -> Frame:
    """What somebody picked found no room, because another one was faster."""
    args: dict[str, int | Decimal] = {"line": 1, "picked": Decimal(3), "of": Decimal(3), "left": Decimal(2)}
    return _frame(Doubts(entry=_refused(text)._replace(why=told("told.too_many_by", who=text or "Ben", **args))))


def setting(text: str) -> Frame:
    """Somebody else has changed the minimum since it was seen."""
    sides = (Side("min", "", "12", "8", "10"), Side("attention_codes", "", "", text or "COLD,GLASS", ""))
    state = _moved(text, "refused", True)._replace(
        kind="setting", operation="update-store-products", place="", looks="", sides=sides, ways=(BY_HAND,),
        why=text or _min_changed(),
    )  # fmt: skip
    return _frame(Doubts(entry=state))


def behind(text: str) -> Frame:
    """It waits for something that is unclear."""
    return _frame(Doubts(entry=_rows(text)[2]._replace(waits_for="QX5R2M7K3VJT6ZB4WPA2HNYCDE")))


def noted(text: str) -> Frame:
    """It only waits."""
    return _frame(Doubts(entry=_rows(text)[2]))


def again(text: str) -> Frame:
    """Whether it shall be sent again."""
    state = Doubts(entry=_moved(text, "unclear", True), asking=AGAIN)
    return _frame(state, Verdict(ASK, msg("doubts.ask_again")))


def by_hand(text: str) -> Frame:
    """How it was settled."""
    state = Doubts(entry=_moved(text, "unclear", True), asking=BY_HAND)
    return _frame(state, Verdict(ASK, msg("doubts.ask_by_hand")))


DOUBTS = (
    ("doubts", "words", words),
    ("doubts", "settled", settled),
    ("doubts.entry", "unclear", unclear),
    ("doubts.entry", "looked_for", looked_for),
    ("doubts.entry", "refused", refused),
    ("doubts.entry", "left_over", left_over),
    ("doubts.entry", "changed", changed),
    ("doubts.entry", "claimed", claimed),
    ("doubts.entry", "short", short),
    ("doubts.entry", "counted", counted),
    ("doubts.entry", "setting", setting),
    ("doubts.entry", "behind", behind),
    ("doubts.entry", "noted", noted),
    ("doubts.again", "asked", again),
    ("doubts.by_hand", "asked", by_hand),
)
"""Screen, state and what builds it."""
