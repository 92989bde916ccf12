"""Samples of the list of unconfirmed operations."""

from __future__ import annotations

from decimal import Decimal

from aisle.jobs.job import ARRIVED, CLOSED_BY_HAND, DIFFERENCE, OVERAGE, RESEND
from aisle.jobs.stored_message import StoredMessage, store_message
from aisle.jobs.supervisor.store_product_view import field_label, format_value
from aisle.jobs.supervisor.unconfirmed import UnconfirmedJob
from aisle.jobs.supervisor.unconfirmed_view import (
    OTHER_ORDER,
    PUT_BACK,
    Comparison,
    Item,
    UnconfirmedOperation,
    UnconfirmedState,
)
from aisle.jobs.view import ASK, GOOD, Frame, LinkState, Verdict, msg

LINK = LinkState("live", 5.0, waiting=3, needs_person=2)


def _move_operation(text: str, word: str, asked: bool = False) -> UnconfirmedOperation:
    return UnconfirmedOperation(
        op_id="QX5R2M7K3VJT6ZB4WPA2HNYCDE",
        state=word,
        needs_person=asked,
        kind="move",
        operation="create-movement",
        user=text or "Anna",
        at="2026-11-20T09:41:00Z",
        finding="unreadable",
        evidence="there",
        items=(
            Item(text or "4001", text or "Cola Zero 33 cl can, tray of 24", Decimal(3), 0, text or "A-03-12", "C-01"),
        ),
        comparisons=(
            Comparison("4001", text or "A-03-12", "12", "-3", "9"),
            Comparison("4001", "C-01", "4", "+3", "7"),
        ),
        choices=(ARRIVED, RESEND, CLOSED_BY_HAND) if asked else (),
        location=text or "A-03-12",
        product=text or "4001",
    )


def _refused_pick(text: str) -> UnconfirmedOperation:
    return UnconfirmedOperation(
        op_id="B7T5R2M7K3VJT6ZB4WPA2HNYCD",
        state="refused",
        needs_person=True,
        kind="pick",
        operation="update-customer-order",
        user=text or "Ben",
        at="2026-11-20T09:12:00Z",
        why=text or "Order 10023 is finished",
        items=(
            Item(text or "4107", text or "Crisps, natural, 250 g", Decimal(2), 1),
            Item(text or "5230", text or "Whole milk 1 l", Decimal(12), 2),
        ),
        comparisons=(Comparison(text or "4107", "", "0", "2", "0"), Comparison(text or "5230", "", "0", "12", "0")),
        choices=(PUT_BACK, OTHER_ORDER, CLOSED_BY_HAND),
        order=text or "10023",
        product=text or "4107",
    )


def _operation_rows(text: str) -> tuple[UnconfirmedOperation, ...]:
    count = Item("7714", text or "Wholemeal bread", Decimal(6), 0, "D-11-10")
    loss = Item("5231", text or "Crème fraîche 200 g", Decimal(-1), 0, "C-01-03")
    at, who = "2026-11-20T09:44:00Z", text or "Anna"
    return (
        _move_operation(text, "in_doubt", True),
        _refused_pick(text),
        UnconfirmedOperation("C", "queued", kind="count", user=who, at=at, items=(count,), location="D-11-10"),
        UnconfirmedOperation("D", "sending", kind="change", user=who, at=at, items=(loss,), location="C-01-03"),
        UnconfirmedOperation("E", "confirmed", kind="pick", user=who, at=at, order=text or "10024"),
    )


def _frame(state: UnconfirmedState, verdict: Verdict | None = None) -> Frame:
    return Frame(UnconfirmedJob().view(state), LINK, verdict, "", "0042", "Anna")


def all_states(text: str) -> Frame:
    """Show an operation in each of the five states."""
    rows = _operation_rows(text)
    return _frame(UnconfirmedState(rows=rows, total=len(rows)))


def resolved(text: str) -> Frame:
    """Show the empty list after the last operation was resolved."""
    state = UnconfirmedState()
    return Frame(
        UnconfirmedJob().view(state),
        LinkState("live", 5.0),
        Verdict(GOOD, msg("unconfirmed.resolved_arrived")),
        "",
        "0042",
        text,
    )


def unclear(text: str) -> Frame:
    """Show a movement in doubt."""
    return _frame(UnconfirmedState(entry=_move_operation(text, "in_doubt", True)))


def being_looked_for(text: str) -> Frame:
    """Show a movement that is still being looked up."""
    return _frame(
        UnconfirmedState(
            entry=_move_operation(text, "in_doubt")._replace(choices=(ARRIVED, CLOSED_BY_HAND), evidence="")
        )
    )


def refused(text: str) -> Frame:
    """Show refused picks."""
    return _frame(UnconfirmedState(entry=_refused_pick(text)))


def changed(text: str) -> Frame:
    """Show picks of an order that somebody else changed meanwhile."""
    sides = (Comparison(text or "4107", "", "0", "2", "1"), Comparison("5230", "", "0", "12", "12"))
    state = _refused_pick(text)._replace(
        state="in_doubt", finding="changed", comparisons=sides, choices=(ARRIVED, RESEND, CLOSED_BY_HAND)
    )
    return _frame(UnconfirmedState(entry=state))


def claimed(text: str) -> Frame:
    """Show a claim in doubt whose state before could not be read."""
    sides = (Comparison("is_claimed", "", None, "yes", "no"),)
    state = _refused_pick(text)._replace(
        state="in_doubt", finding="unreadable", items=(), comparisons=sides, choices=(ARRIVED, CLOSED_BY_HAND)
    )
    return _frame(UnconfirmedState(entry=state))


def short(text: str) -> Frame:
    """Show a movement of more goods than the expected stock."""
    state = _move_operation(text, "refused", True)._replace(
        why=text or "A-03-12 has 2 of 4001, 3 are asked for", evidence="", choices=(OVERAGE, CLOSED_BY_HAND)
    )
    return _frame(UnconfirmedState(entry=state))


def counted(text: str) -> Frame:
    """Show a count in doubt, with goods that arrived since."""
    state = _move_operation(text, "in_doubt", True)._replace(
        kind="count",
        evidence="",
        comparisons=(Comparison("4001", text or "A-03-12", "10", "=12", "14"),),
        choices=(ARRIVED, RESEND, DIFFERENCE, CLOSED_BY_HAND),
    )
    return _frame(UnconfirmedState(entry=state))


def _minimum_changed() -> StoredMessage:
    return store_message(
        "stored_reason.setting_changed",
        field=field_label("min"),
        product="4001",
        now=format_value("min", "10"),
        seen=format_value("min", "12"),
    )


def surplus(text: str) -> Frame:
    """Show excess of a pick, because another picker was faster."""
    args: dict[str, int | Decimal] = {"line": 1, "picked": Decimal(3), "of": Decimal(3), "left": Decimal(2)}
    return _frame(
        UnconfirmedState(
            entry=_refused_pick(text)._replace(why=store_message("stored_reason.surplus_by", who=text or "Ben", **args))
        )
    )


def store_product_changed(text: str) -> Frame:
    """Show a setting that somebody else has changed since it was read."""
    sides = (Comparison("min", "", "12", "8", "10"), Comparison("attention_codes", "", "", text or "COLD,GLASS", ""))
    state = _move_operation(text, "refused", True)._replace(
        kind="setting", operation="update-store-products", location="", evidence="", comparisons=sides,
        choices=(CLOSED_BY_HAND,),
        why=text or _minimum_changed(),
    )  # fmt: skip
    return _frame(UnconfirmedState(entry=state))


def blocked(text: str) -> Frame:
    """Show an operation that waits for one in doubt."""
    return _frame(UnconfirmedState(entry=_operation_rows(text)[2]._replace(blocked_by="QX5R2M7K3VJT6ZB4WPA2HNYCDE")))


def noted(text: str) -> Frame:
    """Show a queued operation."""
    return _frame(UnconfirmedState(entry=_operation_rows(text)[2]))


def resend(text: str) -> Frame:
    """Show the question about sending again."""
    state = UnconfirmedState(entry=_move_operation(text, "in_doubt", True), question=RESEND)
    return _frame(state, Verdict(ASK, msg("unconfirmed.ask_resend")))


def close_by_hand(text: str) -> Frame:
    """Show the question about how it was resolved."""
    state = UnconfirmedState(entry=_move_operation(text, "in_doubt", True), question=CLOSED_BY_HAND)
    return _frame(state, Verdict(ASK, msg("unconfirmed.ask_close_by_hand")))


UNCONFIRMED_SAMPLES = (
    ("unconfirmed", "words", all_states),
    ("unconfirmed", "settled", resolved),
    ("unconfirmed.entry", "unclear", unclear),
    ("unconfirmed.entry", "looked_for", being_looked_for),
    ("unconfirmed.entry", "refused", refused),
    ("unconfirmed.entry", "left_over", surplus),
    ("unconfirmed.entry", "changed", changed),
    ("unconfirmed.entry", "claimed", claimed),
    ("unconfirmed.entry", "short", short),
    ("unconfirmed.entry", "counted", counted),
    ("unconfirmed.entry", "setting", store_product_changed),
    ("unconfirmed.entry", "behind", blocked),
    ("unconfirmed.entry", "noted", noted),
    ("unconfirmed.resend", "asked", resend),
    ("unconfirmed.close_by_hand", "asked", close_by_hand),
)
"""Screen, state and builder of each sample."""
