"""The clearance itself: confirmed by hand, asked once, and what came of it.

It listens (`Heard`): what confirms has to be typed, and a scan must not. What is asked is answered or expires; it is
never sent late and never again. Where nobody saw the end of it, that is said, and how to find out.
Interface: Create customer order clearance.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aisle.jobs.amounts import number
from aisle.jobs.base import (
    Ask,
    Asked,
    Changed,
    Close,
    Closed,
    Context,
    Event,
    Heard,
    Opened,
    Query,
    Resumed,
    Rows,
    Start,
    Turn,
    hides,
)
from aisle.jobs.desk import clearance_view
from aisle.jobs.desk.clearance_state import Clear, asked_for
from aisle.jobs.desk.tasks_state import listed_of
from aisle.jobs.pin import is_typed
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Verdict, View, msg
from aisle.jobs.window import leafed
from aisle.scan.meaning import Back, Choice, Command, Open

WAIT_S = 30.0
"""So long it may wait for the service; after that it is not done."""
SHOWN = 50
"""Goods to be moved that the last page lists."""

Result = Turn[Clear]


class ClearJob:
    """Type the tag, wait, read; the PIN is asked for in between, by the page that asks for it everywhere."""

    name = "clear"
    steps: tuple[str, ...] = ("clear.sure", "clear.wait", "clear.done")
    version = 3
    journalled = True
    listens = True

    def begin(self) -> Clear:
        """Nothing confirmed."""
        return Clear()

    def open(self, state: Clear) -> Open:
        """Words while something has to be typed; numbers and pages at the end."""
        if state.phase == "sure":
            return Open(text=True)
        return Open(choices=len(clearance_view.choices(state)), letters="np")

    def prefers(self, state: Clear) -> tuple[str, ...]:
        """Nothing is scanned here."""
        return ()

    def hides(self, state: Clear) -> bool:
        """A PIN that is typed again while the page waits is nobody else's business."""
        return state.people and state.phase == "wait"

    def conceals(self, state: Clear, text: str) -> bool:
        """What has digits and is not asked for may be a PIN that comes too early or too late; a choice is one digit."""
        if state.phase == "sure" and asked_for(state.tag).startswith(text.strip()):
            return False
        return sum(char.isdigit() for char in text) > (state.phase == "done")

    def at(self, state: Clear) -> str:
        """One of `steps`."""
        return f"clear.{state.phase}"

    def view(self, state: Clear) -> View:
        """The page of this phase."""
        return clearance_view.page(state)

    def step(self, state: Clear, event: Event, context: Context) -> Result:
        """See the functions below for each phase."""
        match event:
            case Opened(args):
                return _opened(args)
            case Asked(ask_id):
                state = state._replace(phase="wait", ask_id=ask_id, begun=False, at=context.now, how="", why="")
                shows = Query("asked", "ask", {"ask_id": ask_id}, live=True)  # its answer is one to be rung for
                return Turn(state, (shows,), Verdict(INFO, msg("clear.asked")))
            case Rows(id_, rows, total):
                return _rows(state, id_, rows, total)
            case Changed("outbox" | "ask" | "assignment") | Resumed() | Closed():
                return Turn(state, _queries(state))
            case Back():
                return _back(state)
            case Heard() if event.key:
                return Turn(state._replace(page=leafed(state.page, event.key)))
            case Heard():
                return _heard(state, event)
        return Turn(state)


def _opened(args: Mapping[str, Any]) -> Result:
    state = Clear(
        tag=str(args.get("tag") or ""),
        categories=tuple(str(each) for each in args.get("categories") or ()),
        lines=int(number(args.get("lines"))),
        people=bool(args.get("people", True)),
    )
    return Turn(state)


def _queries(state: Clear) -> tuple[Query, ...]:
    if state.phase == "wait":
        return (Query("ask", "ask", {"ask_id": state.ask_id}),)
    if state.phase != "done":
        return ()
    return (
        Query("clearing", "clearing", {"user": ""}, live=True),
        Query("tasks", "assignments", {"tag": state.tag, "size": SHOWN}, live=True),
    )


def _heard(state: Clear, heard: Heard) -> Result:
    if state.phase == "sure":
        return _sure(state, heard)
    match heard.said:
        case Command("n" | "p" as letter):
            return Turn(state._replace(page=leafed(state.page, letter)))
        case Choice(choice):
            return _chosen(state, choice)
    return Turn(state, (), Verdict(WRONG, msg("clear.wait_for_it" if state.phase == "wait" else "clear.nothing_else")))


def _sure(state: Clear, heard: Heard) -> Result:
    text, wanted = heard.text.strip(), asked_for(state.tag)
    if text != wanted:
        may_be_pin = not text or hides(ClearJob(), state, text)
        told = msg("clear.not_that", tag=wanted) if may_be_pin else msg("clear.not_the_tag", text=text, tag=wanted)
        return Turn(state, (), Verdict(WRONG, told))
    if not is_typed(heard):
        return Turn(state, (), Verdict(WRONG, msg("clear.not_scanned", tag=wanted)))
    body = {"tag": state.tag, "categories": list(state.categories)}
    return Turn(state, (Ask("clearance", body, WAIT_S, supervises=True),))


def _rows(state: Clear, id_: str, rows: tuple[Mapping[str, Any], ...], total: int) -> Result:
    match id_:
        case "ask" if state.phase == "wait":
            return _stands(state, rows[0] if rows else {"state": "unknown", "answer": {}})
        case "clearing" if rows:
            return Turn(state._replace(listed=bool(rows[0]["listed"])))
        case "tasks":
            return Turn(state._replace(tasks=tuple(listed_of(row) for row in rows), total=total))
    return Turn(state)


def _stands(state: Clear, row: Mapping[str, Any]) -> Result:
    """How it stands: under way, or over."""
    answer: Mapping[str, Any] = row.get("answer") or {}
    match row["state"]:
        case "asked":
            return Turn(state)
        case "begun":
            return Turn(state._replace(begun=True))
        case "expired":
            return _over(state, "expired", "", None)
        case "answered" if answer.get("how") == "pin":
            told = Verdict(ASK, msg("clear.pin_gone"))
            return Turn(state._replace(phase="sure", ask_id=""), (), told)
        case "answered":
            return _over(state, str(answer.get("how")), str(answer.get("why") or ""), answer.get("fresh"))
    return _over(state, "unknown", str(answer.get("why") or ""), None)


def _over(state: Clear, how: str, why: str, fresh: Any) -> Result:
    state = state._replace(phase="done", how=how, why=why, fresh=-1 if fresh is None else int(fresh), page=0)
    kind = GOOD if how == "done" else ASK if how == "unknown" else WRONG
    return Turn(state, _queries(state), Verdict(kind, clearance_view.outcome(state)))


def _chosen(state: Clear, choice: int) -> Result:
    """The goods to be moved, or all of it once more from the typed word on: where nothing was done, or nobody knows."""
    if choice == 1:
        return Turn(state, (Close(start=Start("tasks", {"tag": state.tag})),))
    if choice == 2 and state.how != "done":
        return Turn(state._replace(phase="sure", ask_id="", how="", why="", fresh=-1, tasks=(), total=0))
    return Turn(state)


def _back(state: Clear) -> Result:
    """What is under way cannot be taken back by leaving."""
    told = Verdict(INFO, msg("clear.goes_on", tag=state.tag)) if state.phase == "wait" else None
    return Turn(state, (Close(told),))
