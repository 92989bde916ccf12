"""Samples of clearances, of the goods that they want moved, and of moving them, for the registry of screens."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from aisle.jobs.desk.clearance import ClearanceJob
from aisle.jobs.desk.clearance_state import Category, Clear, Clearance, Tag
from aisle.jobs.desk.clearance_sure import ClearJob
from aisle.jobs.desk.tasks import TasksJob
from aisle.jobs.desk.tasks_state import Listed, Tasks
from aisle.jobs.move.job import MoveJob
from aisle.jobs.move.moving import Moving, Task
from aisle.jobs.move.task import begun
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Frame, Link, Verdict, View, msg
from aisle.scan.meaning import LOCATION, Meaning

LIVE, OFFLINE = Link("live", 4.0), Link("offline", 900.0, 3)

GOODS = (
    ("BR-01", "Cola Zero 33 cl can, tray of 24", "100042", "6"),
    ("BR-01", "Crème fraîche 200 g", "100042", "2"),
    ("BR-04", "Gouda, mature, in one piece", "100117", "0.75"),
    ("PU-02", "Orange lemonade 1.5 l", "100203", "12"),
)


def _frame(view: View, verdict: Verdict | None, link: Link = LIVE, serial: int = 0, typed: str = "") -> Frame:
    return Frame(view, link, verdict, typed, "0042", "Fred", serial)


def _task(text: str, at: int = 0) -> Task:
    place, label, order, quantity = GOODS[at]
    decimals = "." in quantity
    return Task(
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


def _listed(text: str) -> tuple[Listed, ...]:
    rows = [Listed(_task(text, at), "2026-11-20T10:00:00Z", text or "backroom") for at in range(len(GOODS))]
    rows[1] = rows[1]._replace(taken_user="U2", taken_by=text or "Ben Okafor")
    return tuple(rows)


def _tags(text: str) -> Frame:
    names = ("backroom", "cold", "frozen", "pickup", "produce", "receiving", "returns", "shelf")
    rows = tuple(Tag(text or name, 3 + at * 7 % 20) for at, name in enumerate(names))
    state = Clearance(role="supervisor", known=True, tags=rows, rows=rows, cursor=1)
    return _frame(ClearanceJob().view(state), None)


def _denied(text: str) -> Frame:
    verdict = Verdict(WRONG, msg("clearance.denied"))
    return _frame(ClearanceJob().view(Clearance(role="staff", known=True)), verdict, serial=2)


def _unheard(text: str) -> Frame:
    return _frame(ClearanceJob().view(Clearance(heard=False)), None, OFFLINE)


def _categories(text: str) -> Frame:
    found = (("110", 12, "48"), ("120", 3, "3"), ("310", 1, "0.75"), ("", 2, "2"))
    rows = tuple(Category(text or key, lines, Decimal(quantity)) for key, lines, quantity in found)
    chosen = (rows[0].key,)
    state = Clearance(role="supervisor", known=True, tag=text or "backroom", categories=rows, rows=rows, chosen=chosen)
    verdict = Verdict(INFO, msg("clearance.some", tag=state.tag, count=1))
    return _frame(ClearanceJob().view(state), verdict, serial=3)


def _nothing_held(text: str) -> Frame:
    state = Clearance(role="supervisor", known=True, tag=text or "shelf")
    return _frame(ClearanceJob().view(state), None)


def _clear(text: str, verdict: Verdict | None, link: Link = LIVE, typed: str = "", **fields: Any) -> Frame:
    base = Clear(tag=text or "backroom", categories=(text or "110",), lines=12, at="2026-11-20T10:00:00Z")
    return _frame(ClearJob().view(base._replace(**fields)), verdict, link, 4, typed)


def _sure(text: str) -> Frame:
    return _clear(text, Verdict(WRONG, msg("clear.not_scanned", tag=text or "backroom")))


def _sure_there(text: str) -> Frame:
    return _clear(text, None, people=False, categories=(), lines=0)


def _wait(text: str) -> Frame:
    return _clear(text, Verdict(INFO, msg("clear.asked")), Link("offline", 70.0, 1), phase="wait")


def _done(text: str) -> Frame:
    fields: dict[str, Any] = {"phase": "done", "how": "done", "fresh": 4, "listed": True}
    fields |= {"tasks": _listed(text), "total": 4}
    return _clear(text, Verdict(GOOD, msg("clear.fresh", tag=text or "backroom", count=4)), **fields)


def _refused(text: str) -> Frame:
    why = text or "This token may not do that."
    return _clear(text, Verdict(WRONG, msg("clear.refused", why=why)), phase="done", how="refused", why=why)


def _expired(text: str) -> Frame:
    return _clear(text, Verdict(WRONG, msg("clear.expired")), OFFLINE, phase="done", how="expired", listed=True)


def _unknown(text: str) -> Frame:
    return _clear(text, Verdict(ASK, msg("clear.unknown")), OFFLINE, phase="done", how="unknown", listed=True)


def _unlisted(text: str) -> Frame:
    return _clear(text, Verdict(GOOD, msg("clear.done")), phase="done", how="done", people=False)


def _tasks(text: str) -> Frame:
    rows = _listed(text)
    return _frame(TasksJob().view(Tasks(rows=rows, total=40, cursor=0)), None)


def _taken(text: str) -> Frame:
    rows = _listed(text)
    verdict = Verdict(ASK, msg("tasks.taken", who=rows[1].taken_by, label=rows[1].task.label))
    state = Tasks(tag=text or "backroom", rows=rows, total=4, sure="1")
    return _frame(TasksJob().view(state), verdict, OFFLINE, 6)


def _no_tasks(text: str) -> Frame:
    return _frame(TasksJob().view(Tasks()), None)


def _cannot(text: str) -> Frame:
    return _frame(TasksJob().view(Tasks(listed=False)), None)


def _move_from(text: str) -> Frame:
    state = Moving(task=_task(text))
    return _frame(MoveJob().view(state), Verdict(INFO, msg("tasks.begun", place=text or "BR-01")), serial=7)


def _move_take(text: str) -> Frame:
    turn = begun(Moving(task=_task(text)), Meaning(LOCATION, text or "BR-01"))
    return _frame(MoveJob().view(turn.state), turn.verdict, OFFLINE, 8)


CLEARANCE: tuple[tuple[str, str, Callable[[str], Frame]], ...] = (
    ("clearance", "tags", _tags),
    ("clearance", "denied", _denied),
    ("clearance", "unheard", _unheard),
    ("clearance.categories", "held", _categories),
    ("clearance.categories", "nothing", _nothing_held),
    ("clear.sure", "scanned", _sure),
    ("clear.sure", "token", _sure_there),
    ("clear.wait", "offline", _wait),
    ("clear.done", "created", _done),
    ("clear.done", "refused", _refused),
    ("clear.done", "expired", _expired),
    ("clear.done", "unknown", _unknown),
    ("clear.done", "unlisted", _unlisted),
    ("tasks", "list", _tasks),
    ("tasks", "taken", _taken),
    ("tasks", "none", _no_tasks),
    ("tasks", "unlisted", _cannot),
    ("move.from", "task", _move_from),
    ("move.take", "task", _move_take),
)
"""Screen, state, and how it is built."""
