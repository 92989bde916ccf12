"""Samples of the list of unconfirmed operations."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from aisle.jobs.job import ARRIVED, CLOSED_BY_HAND, DIFFERENCE, OVERAGE, RESEND
from aisle.jobs.row_types.operations_and_session_answers import ComparedFigureRow, OperationItemRow, UnconfirmedRow
from aisle.jobs.supervisor.service_fields_and_values import field_label, format_value
from aisle.jobs.supervisor.unconfirmed import (
    OTHER_ORDER,
    PUT_BACK,
    UnconfirmedJob,
    UnconfirmedState,
)
from aisle.jobs.view import ASK, GOOD, Frame, LinkState, Verdict, msg
from aisle.stored_messages import StoredMessage, store_message


def _item(
    product: str, label: str, quantity: Decimal, line: int = 0, source: str = "", target: str = ""
) -> OperationItemRow:
    return {
        "product_number": product,
        "label": label,
        "quantity": quantity,
        "line": line,
        "from": source,
        "to": target,
    }


def _comparison(
    subject: str, location: str, before: str | None, ours: str | None, after: str | None
) -> ComparedFigureRow:
    return {"subject": subject, "location": location, "before": before, "ours": ours, "after": after}


def _operation(op_id: str, outcome: str, **fields: Any) -> UnconfirmedRow:
    row: Any = {"op_id": op_id, "outcome": outcome, "asked": False, "items": [], "sides": [], "ways": []}
    row |= dict.fromkeys(("operation", "kind", "user", "principal", "pin", "terminal", "at", "why", "verdict"), "")
    row |= dict.fromkeys(("evidence", "waits_for", "order", "location", "product"), "")
    return row | {"tries": 0, "absence_final_at": None} | fields  # type: ignore[no-any-return]


def _with(row: UnconfirmedRow, **fields: Any) -> UnconfirmedRow:
    changed: Any = {**row, **fields}
    return changed  # type: ignore[no-any-return]


LINK = LinkState("live", 5.0, waiting=3, needs_person=2)


def _move_operation(text: str, word: str, asked: bool = False) -> UnconfirmedRow:
    return _operation(
        op_id="QX5R2M7K3VJT6ZB4WPA2HNYCDE",
        outcome=word,
        asked=asked,
        kind="move",
        operation="create-movement",
        user=text or "Anna",
        at="2026-11-20T09:41:00Z",
        verdict="unreadable",
        evidence="there",
        items=(
            _item(text or "4001", text or "Cola Zero 33 cl can, tray of 24", Decimal(3), 0, text or "A-03-12", "C-01"),
        ),
        sides=(
            _comparison("4001", text or "A-03-12", "12", "-3", "9"),
            _comparison("4001", "C-01", "4", "+3", "7"),
        ),
        ways=(ARRIVED, RESEND, CLOSED_BY_HAND) if asked else (),
        location=text or "A-03-12",
        product=text or "4001",
    )


def _refused_pick(text: str) -> UnconfirmedRow:
    return _operation(
        op_id="B7T5R2M7K3VJT6ZB4WPA2HNYCD",
        outcome="refused",
        asked=True,
        kind="pick",
        operation="update-customer-order",
        user=text or "Ben",
        at="2026-11-20T09:12:00Z",
        why=text or "Order 10023 is finished",
        items=(
            _item(text or "4107", text or "Crisps, natural, 250 g", Decimal(2), 1),
            _item(text or "5230", text or "Whole milk 1 l", Decimal(12), 2),
        ),
        sides=(_comparison(text or "4107", "", "0", "2", "0"), _comparison(text or "5230", "", "0", "12", "0")),
        ways=(PUT_BACK, OTHER_ORDER, CLOSED_BY_HAND),
        order=text or "10023",
        product=text or "4107",
    )


def _operation_rows(text: str) -> tuple[UnconfirmedRow, ...]:
    count = _item("7714", text or "Wholemeal bread", Decimal(6), 0, "D-11-10")
    loss = _item("5231", text or "Crème fraîche 200 g", Decimal(-1), 0, "C-01-03")
    at, who = "2026-11-20T09:44:00Z", text or "Anna"
    return (
        _move_operation(text, "in_doubt", True),
        _refused_pick(text),
        _operation("C", "queued", kind="count", user=who, at=at, items=(count,), location="D-11-10"),
        _operation("D", "sending", kind="change", user=who, at=at, items=(loss,), location="C-01-03"),
        _operation("E", "confirmed", kind="pick", user=who, at=at, order=text or "10024"),
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
        UnconfirmedState(entry=_with(_move_operation(text, "in_doubt"), ways=(ARRIVED, CLOSED_BY_HAND), evidence=""))
    )


def refused(text: str) -> Frame:
    """Show refused picks."""
    return _frame(UnconfirmedState(entry=_refused_pick(text)))


def changed(text: str) -> Frame:
    """Show picks of an order that somebody else changed meanwhile."""
    sides = (_comparison(text or "4107", "", "0", "2", "1"), _comparison("5230", "", "0", "12", "12"))
    state = _with(
        _refused_pick(text), outcome="in_doubt", verdict="changed", sides=sides, ways=(ARRIVED, RESEND, CLOSED_BY_HAND)
    )
    return _frame(UnconfirmedState(entry=state))


def claimed(text: str) -> Frame:
    """Show a claim in doubt whose state before could not be read."""
    sides = (_comparison("is_claimed", "", None, "yes", "no"),)
    state = _with(
        _refused_pick(text),
        outcome="in_doubt",
        verdict="unreadable",
        items=(),
        sides=sides,
        ways=(ARRIVED, CLOSED_BY_HAND),
    )
    return _frame(UnconfirmedState(entry=state))


def short(text: str) -> Frame:
    """Show a movement of more goods than the expected stock."""
    state = _with(
        _move_operation(text, "refused", True),
        why=text or "A-03-12 has 2 of 4001, 3 are asked for",
        evidence="",
        ways=(OVERAGE, CLOSED_BY_HAND),
    )
    return _frame(UnconfirmedState(entry=state))


def counted(text: str) -> Frame:
    """Show a count in doubt, with goods that arrived since."""
    state = _with(
        _move_operation(text, "in_doubt", True),
        kind="count",
        evidence="",
        sides=(_comparison("4001", text or "A-03-12", "10", "=12", "14"),),
        ways=(ARRIVED, RESEND, DIFFERENCE, CLOSED_BY_HAND),
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
            entry=_with(_refused_pick(text), why=store_message("stored_reason.surplus_by", who=text or "Ben", **args))
        )
    )


def store_product_changed(text: str) -> Frame:
    """Show a setting that somebody else has changed since it was read."""
    sides = (_comparison("min", "", "12", "8", "10"), _comparison("attention_codes", "", "", text or "COLD,GLASS", ""))
    state = _with(_move_operation(text, "refused", True),
        kind="setting", operation="update-store-products", location="", evidence="", sides=sides,
        ways=(CLOSED_BY_HAND,),
        why=text or _minimum_changed(),
    )  # fmt: skip
    return _frame(UnconfirmedState(entry=state))


def blocked(text: str) -> Frame:
    """Show an operation that waits for one in doubt."""
    return _frame(UnconfirmedState(entry=_with(_operation_rows(text)[2], waits_for="QX5R2M7K3VJT6ZB4WPA2HNYCDE")))


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
