"""What can be done to an order in every state that it may be in; too late is said, and each deed has its opposite."""

from decimal import Decimal
from typing import Any

import pytest

from aisle.jobs.job import LocalNote, Write
from aisle.jobs.supervisor.order_action_writes import (
    CLAIM,
    CLOSE_LINE,
    HAND_OVER,
    LINE_ACTIONS,
    ORDER_ACTIONS,
    PRIORITY,
    REJECT,
    RELEASE,
    REMOVE_PRIORITY,
    REOPEN,
    REOPEN_LINE,
    SPLIT,
    OrderAction,
    decide,
)


def row(**fields: Any) -> Any:
    lines = [
        {"line_number": 1, "product_number": "P1", "quantity": 3, "picked_quantity": 3, "is_picked": True},
        {"line_number": 2, "product_number": "P2", "quantity": 4, "picked_quantity": 1, "is_picked": False},
        {"line_number": 3, "product_number": "P3", "quantity": 2, "picked_quantity": 0, "is_picked": True},
    ]
    usual = {"is_active": True, "is_claimed": False, "is_picked": False, "is_rejected": False, "lines": lines}
    return {"order_number": "O1", "picked_quantity": Decimal(4), **usual, **fields}


def said(deed: OrderAction, now: Any = None) -> dict[str, Any]:
    done = decide("O1", row() if now is None else now, deed, "0001")
    assert done.why is None
    (write,) = (each for each in done.writes if isinstance(each, Write))
    assert (write.operation, write.lanes, write.path) == (
        "update-customer-order", ("order/O1",), {"store_number": "0001"},
    )  # fmt: skip
    body: dict[str, Any] = write.body["orders"]
    return body


FINISHED, REJECTED = row(is_active=False), row(is_rejected=True)


@pytest.mark.parametrize("kind", [*ORDER_ACTIONS, *LINE_ACTIONS])
def test_a_finished_order_is_too_late_for_everything(kind: str) -> None:
    done = decide("O1", FINISHED, OrderAction(kind, "U1", line=2), "0001")
    assert (done.writes, done.why and done.why.id) == ((), "pick.handed_over_now")
    assert decide("O1", None, OrderAction(kind), "0001").why is not None


@pytest.mark.parametrize("kind", [CLAIM, RELEASE, REJECT, HAND_OVER, PRIORITY, SPLIT, *LINE_ACTIONS])
def test_of_a_rejected_order_only_the_rejection_is_taken_back(kind: str) -> None:
    assert not decide("O1", REJECTED, OrderAction(kind, "U1", line=2), "0001").writes
    assert said(OrderAction(REOPEN), REJECTED) == {"order_number": "O1", "is_rejected": False}


def test_reject_says_why_and_is_taken_back() -> None:
    body = said(OrderAction(REJECT, reason_code="31", reason="Customer cancelled"))
    assert body == {
        "order_number": "O1",
        "is_rejected": True,
        "rejection_reason_code": "31",
        "rejection_reason_code_description": "Customer cancelled",
    }
    assert decide("O1", row(), OrderAction(REJECT), "0001").undo == OrderAction(REOPEN)
    why = {"rejection_reason_code": "31", "rejection_reason_code_description": "Customer cancelled"}
    before = decide("O1", row(is_rejected=True, **why), OrderAction(REOPEN), "0001").undo
    assert before == OrderAction(REJECT, reason_code="31", reason="Customer cancelled")


def test_a_claim_is_in_the_name_of_whom_it_is_for_and_this_host_remembers() -> None:
    done = decide("O1", row(), OrderAction(CLAIM, "U2", "Ben"), "0001")
    write, remark, given = done.writes
    assert isinstance(write, Write)
    assert write.user == "U2"
    assert remark == LocalNote("claim", "O1", "U2", needs_supervisor=True, mirrors_write=True)
    assert given == LocalNote("assigned", "O1", "U2", needs_supervisor=True, mirrors_write=True)
    assert decide("O1", row(), OrderAction(CLAIM, "U2"), "0001", user="U2").writes[-1] == given._replace(text="")
    assert decide("O1", row(is_claimed=True), OrderAction(RELEASE), "0001").writes[-2] == given._replace(text="")
    assert done.undo == OrderAction(RELEASE)
    taken = row(is_claimed=True, claimed_by="U3", claimed_name="Carla")
    assert decide("O1", taken, OrderAction(CLAIM, "U2"), "0001").undo == OrderAction(CLAIM, "U3", "Carla")
    assert decide("O1", taken, OrderAction(RELEASE), "0001").undo == OrderAction(CLAIM, "U3", "Carla")
    assert not decide("O1", taken, OrderAction(CLAIM, "U3"), "0001").writes
    assert not decide("O1", row(), OrderAction(RELEASE), "0001").writes


def test_handing_over_needs_goods_and_leads_nowhere_back() -> None:
    assert said(OrderAction(HAND_OVER)) == {"order_number": "O1", "is_active": False}
    assert decide("O1", row(), OrderAction(HAND_OVER), "0001").undo is None
    done = decide("O1", row(picked_quantity=Decimal(0)), OrderAction(HAND_OVER), "0001")
    assert done.why is not None
    assert done.why.id == "order_actions.nothing_picked"


def test_a_line_is_closed_with_what_is_picked_of_it() -> None:
    (line,) = said(OrderAction(CLOSE_LINE, reason_code="24", reason="Not enough", line=2))["order_lines"]
    assert line == {
        "line_number": 2, "product_number": "P2", "base_picked_quantity": 1, "picked_quantity": 1, "is_picked": True,
        "rejection_reason_code": "24", "rejection_reason_code_description": "Not enough",
    }  # fmt: skip
    (line,) = said(OrderAction(REOPEN_LINE, line=3))["order_lines"]
    assert (line["picked_quantity"], line["is_picked"]) == (0, False)
    assert decide("O1", row(), OrderAction(CLOSE_LINE, line=2), "0001").undo == OrderAction(REOPEN_LINE, line=2)


@pytest.mark.parametrize(
    ("kind", "line", "why"),
    [
        (CLOSE_LINE, 1, "order_actions.line_full"),
        (REOPEN_LINE, 1, "order_actions.line_full"),
        (CLOSE_LINE, 3, "order_actions.line_closed"),
        (REOPEN_LINE, 2, "order_actions.line_open"),
        (CLOSE_LINE, 9, "order_actions.no_line"),
    ],
)
def test_a_line_that_it_cannot_be_done_to(kind: str, line: int, why: str) -> None:
    done = decide("O1", row(), OrderAction(kind, line=line), "0001")
    assert (done.writes, done.why and done.why.id) == ((), why)


def test_an_order_goes_first_until_it_does_not() -> None:
    done = decide("O1", row(), OrderAction(PRIORITY), "0001")
    assert (done.writes, done.undo) == (
        (LocalNote("priority", "O1", "1", needs_supervisor=True),),
        OrderAction(REMOVE_PRIORITY),
    )
    done = decide("O1", row(is_priority=True), OrderAction(REMOVE_PRIORITY), "0001")
    assert (done.writes, done.undo) == (
        (LocalNote("priority", "O1", "", needs_supervisor=True),),
        OrderAction(PRIORITY),
    )
    why = [
        decide("O1", now, OrderAction(kind), "0001").why
        for now, kind in ((row(is_priority=True), PRIORITY), (row(), REMOVE_PRIORITY))
    ]
    assert [each and each.id for each in why] == ["order_actions.done_priority", "pick.no_priority"]


def test_an_order_of_a_walk_becomes_somebody_elses_and_comes_back() -> None:
    walked = row(picker="U1", picker_name="Anna", is_claimed=True, claimed_by="U1")
    done = decide("O1", walked, OrderAction(SPLIT, "U2", "Ben"), "0001")
    write, *kept = done.writes
    assert isinstance(write, Write)
    assert (write.user, write.body["orders"]["is_claimed"]) == ("U2", True)
    assert kept == [
        LocalNote(topic, "O1", "U2", needs_supervisor=True, mirrors_write=True) for topic in ("claim", "assigned")
    ]
    assert done.undo == OrderAction(SPLIT, "U1", "Anna")
    back = decide("O1", row(assigned_to="U2", assigned_name="Ben"), OrderAction(SPLIT, "U1", "Anna"), "0001")
    assert back.undo == OrderAction(SPLIT, "U2", "Ben")


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({}, "order_actions.not_in_batch"),
        ({"picker": "U2"}, "order_actions.already_claimed"),
        ({"is_picked": True}, "pick.left_done"),
    ],
)
def test_what_no_walk_has_is_not_split(fields: dict[str, Any], why: str) -> None:
    done = decide("O1", row(**fields), OrderAction(SPLIT, "U2", "Ben"), "0001")
    assert (done.writes, done.why and done.why.id) == ((), why)


WHY = {"rejection_reason_code": "21", "rejection_reason_code_description": "Damaged"}
UNTOUCHED = row(lines=[{"line_number": 1, "product_number": "P1", "quantity": 3, "picked_quantity": 0}])


def line_said(deed: OrderAction, now: Any, *, rejects: bool = True) -> tuple[str, Any]:
    (write,) = decide("O1", now, deed, "0001", can_reject_lines=rejects).writes
    assert isinstance(write, Write)
    assert (write.lanes, write.path) == (("order/O1",), {"store_number": "0001"})
    return write.operation, write.body


def test_unpicked_line_is_rejected_explicitly_where_supported() -> None:
    why = OrderAction(CLOSE_LINE, reason_code="21", reason="Damaged", line=1)
    rejected = {"order_number": "O1", "lines": [{"line_number": 1, "is_rejected": True, **WHY}]}
    assert line_said(why, UNTOUCHED) == ("reject-lines", rejected)
    assert line_said(why, UNTOUCHED, rejects=False)[0] == "update-customer-order", "closed short, and why"
    assert line_said(why._replace(line=2), row())[0] == "update-customer-order", "what is picked stays picked"
    assert line_said(OrderAction(CLOSE_LINE, line=1), UNTOUCHED)[0] == "update-customer-order", (
        "a rejection has a reason"
    )


def test_a_rejected_line_is_taken_up_again_as_it_was_rejected() -> None:
    (line,) = UNTOUCHED["lines"]
    now = row(lines=[{**line, "is_picked": True, "is_rejected": True, **WHY}])
    taken_up = {"order_number": "O1", "lines": [{"line_number": 1, "is_rejected": False}]}
    assert line_said(OrderAction(REOPEN_LINE, line=1), now) == ("reject-lines", taken_up)
    undo = decide("O1", now, OrderAction(REOPEN_LINE, line=1), "0001", can_reject_lines=True).undo
    assert undo == OrderAction(CLOSE_LINE, reason_code="21", reason="Damaged", line=1)
    short = row(lines=[{**line, "is_picked": True}])
    assert line_said(OrderAction(REOPEN_LINE, line=1), short)[0] == "update-customer-order", "it was closed short"
