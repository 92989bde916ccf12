"""Samples of clearances, of the moves that they require, and of carrying those out."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from aisle.jobs.move.clearance_tasks import ClearanceTasksJob, ClearanceTasksState, TaskRow, scan_for_task
from aisle.jobs.move.job import MoveJob
from aisle.jobs.move.move_state_and_rows import ClearanceTask, MoveState
from aisle.jobs.supervisor.request_clearance_by_location_tag import (
    Category,
    ClearanceJob,
    ClearanceRequestJob,
    ClearanceRequestState,
    ClearanceState,
    Tag,
)
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Frame, LinkState, Verdict, View, msg
from aisle.scan.grammar_and_meaning_types import LOCATION, Match

LIVE_LINK, OFFLINE_LINK = LinkState("live", 4.0), LinkState("offline", 900.0, 3)

GOODS = (
    ("BR-01", "Cola Zero 33 cl can, tray of 24", "100042", "6"),
    ("BR-01", "Crème fraîche 200 g", "100042", "2"),
    ("BR-04", "Gouda, mature, in one piece", "100117", "0.75"),
    ("PU-02", "Orange lemonade 1.5 l", "100203", "12"),
)


def _frame(view: View, verdict: Verdict | None, link: LinkState = LIVE_LINK, serial: int = 0, typed: str = "") -> Frame:
    return Frame(view, link, verdict, typed, "0042", "Fred", serial)


def _task(text: str, at: int = 0) -> ClearanceTask:
    place, label, order, quantity = GOODS[at]
    decimals = "." in quantity
    return ClearanceTask(
        str(at),
        f"40{at}1",
        text or label,
        text or place,
        text or order,
        2,
        Decimal(quantity),
        decimals,
        "kg" * decimals,
    )


def _task_rows(text: str) -> tuple[TaskRow, ...]:
    rows = [TaskRow(_task(text, at), "2026-11-20T10:00:00Z", text or "backroom") for at in range(len(GOODS))]
    rows[1] = rows[1]._replace(worker="U2", worker_name=text or "Ben Okafor")
    return tuple(rows)


def _tags(text: str) -> Frame:
    names = ("backroom", "cold", "frozen", "pickup", "produce", "receiving", "returns", "shelf")
    rows = tuple(Tag(text or name, 3 + at * 7 % 20) for at, name in enumerate(names))
    state = ClearanceState(role="supervisor", is_loaded=True, tags=rows, rows=rows, cursor=1)
    return _frame(ClearanceJob().view(state), None)


def _denied(text: str) -> Frame:
    verdict = Verdict(WRONG, msg("clearance.role_denied"))
    return _frame(ClearanceJob().view(ClearanceState(role="staff", is_loaded=True)), verdict, serial=2)


def _not_loaded(text: str) -> Frame:
    return _frame(ClearanceJob().view(ClearanceState()), None, OFFLINE_LINK)


def _categories(text: str) -> Frame:
    found = (("110", 12, "48"), ("120", 3, "3"), ("310", 1, "0.75"), ("", 2, "2"))
    rows = tuple(Category(text or key, lines, Decimal(quantity)) for key, lines, quantity in found)
    chosen = (rows[0].key,)
    state = ClearanceState(
        role="supervisor", is_loaded=True, tag=text or "backroom", categories=rows, rows=rows, chosen=chosen
    )
    verdict = Verdict(INFO, msg("clearance.some", tag=state.tag, count=1))
    return _frame(ClearanceJob().view(state), verdict, serial=3)


def _nothing_held(text: str) -> Frame:
    state = ClearanceState(role="supervisor", is_loaded=True, tag=text or "shelf")
    return _frame(ClearanceJob().view(state), None)


def _request(text: str, verdict: Verdict | None, link: LinkState = LIVE_LINK, typed: str = "", **fields: Any) -> Frame:
    base = ClearanceRequestState(
        tag=text or "backroom", categories=(text or "110",), line_count=12, requested_at="2026-11-20T10:00:00Z"
    )
    return _frame(ClearanceRequestJob().view(base._replace(**fields)), verdict, link, 4, typed)


def _confirm(text: str) -> Frame:
    return _request(text, Verdict(WRONG, msg("input.scan_not_accepted")))


def _confirm_by_token(text: str) -> Frame:
    return _request(text, None, service_knows_people=False, categories=(), line_count=0)


def _wait(text: str) -> Frame:
    return _request(text, Verdict(INFO, msg("pin.asked")), LinkState("offline", 70.0, 1), phase="wait")


def _done(text: str) -> Frame:
    fields: dict[str, Any] = {"phase": "done", "outcome": "done", "new_task_count": 4, "lists_tasks": True}
    fields |= {"tasks": _task_rows(text), "total": 4}
    return _request(text, Verdict(GOOD, msg("clearance_request.new_tasks", tag=text or "backroom", count=4)), **fields)


def _refused(text: str) -> Frame:
    why = text or "This token may not do that."
    return _request(
        text, Verdict(WRONG, msg("store_product.refused", why=why)), phase="done", outcome="refused", why=why
    )


def _expired(text: str) -> Frame:
    return _request(
        text,
        Verdict(WRONG, msg("clearance_request.expired")),
        OFFLINE_LINK,
        phase="done",
        outcome="expired",
        lists_tasks=True,
    )


def _unknown(text: str) -> Frame:
    return _request(
        text,
        Verdict(ASK, msg("clearance_request.unknown")),
        OFFLINE_LINK,
        phase="done",
        outcome="unknown",
        lists_tasks=True,
    )


def _unlisted(text: str) -> Frame:
    return _request(
        text, Verdict(GOOD, msg("clearance_request.done")), phase="done", outcome="done", service_knows_people=False
    )


def _task_list(text: str) -> Frame:
    rows = _task_rows(text)
    return _frame(ClearanceTasksJob().view(ClearanceTasksState(rows=rows, total=40, cursor=0)), None)


def _task_of_other(text: str) -> Frame:
    rows = _task_rows(text)
    verdict = Verdict(ASK, msg("clearance_tasks.taken_by_other", who=rows[1].worker_name, label=rows[1].task.label))
    state = ClearanceTasksState(tag=text or "backroom", rows=rows, total=4, confirmed_task="1")
    return _frame(ClearanceTasksJob().view(state), verdict, OFFLINE_LINK, 6)


def _empty_task_list(text: str) -> Frame:
    return _frame(ClearanceTasksJob().view(ClearanceTasksState()), None)


def _tasks_not_listed(text: str) -> Frame:
    return _frame(ClearanceTasksJob().view(ClearanceTasksState(lists_tasks=False)), None)


def _move_from(text: str) -> Frame:
    state = MoveState(task=_task(text))
    return _frame(MoveJob().view(state), Verdict(INFO, msg("clearance_tasks.started", place=text or "BR-01")), serial=7)


def _move_take(text: str) -> Frame:
    turn = scan_for_task(MoveState(task=_task(text)), Match(LOCATION, text or "BR-01"))
    return _frame(MoveJob().view(turn.state), turn.verdict, OFFLINE_LINK, 8)


CLEARANCE_SAMPLES: tuple[tuple[str, str, Callable[[str], Frame]], ...] = (
    ("clearance", "tags", _tags),
    ("clearance", "denied", _denied),
    ("clearance", "unheard", _not_loaded),
    ("clearance.categories", "held", _categories),
    ("clearance.categories", "nothing", _nothing_held),
    ("clearance_request.confirm", "scanned", _confirm),
    ("clearance_request.confirm", "token", _confirm_by_token),
    ("clearance_request.wait", "offline", _wait),
    ("clearance_request.done", "created", _done),
    ("clearance_request.done", "refused", _refused),
    ("clearance_request.done", "expired", _expired),
    ("clearance_request.done", "unknown", _unknown),
    ("clearance_request.done", "unlisted", _unlisted),
    ("clearance_tasks", "list", _task_list),
    ("clearance_tasks", "taken", _task_of_other),
    ("clearance_tasks", "none", _empty_task_list),
    ("clearance_tasks", "unlisted", _tasks_not_listed),
    ("move.from", "task", _move_from),
    ("move.take", "task", _move_take),
)
"""Screen, state and builder of each sample."""
