"""Clearance: goods held for customer orders at places with a tag become goods to be moved; this page says which.

Only a supervisor may, and only while the service answers; what is chosen here is confirmed and asked by the job
`clear`. Interface: Create customer order clearance.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aisle.code_forms import checks
from aisle.jobs import window
from aisle.jobs.amounts import number
from aisle.jobs.base import Changed, Close, Closed, Context, Event, Opened, Query, Resumed, Rows, Start, Turn
from aisle.jobs.desk import clearance_view
from aisle.jobs.desk.clearance_state import Category, Clearance, Tag
from aisle.jobs.view import INFO, WRONG, ListWindow, Verdict, msg
from aisle.jobs.window import room
from aisle.scan.meaning import Back, Choice, Command, Echo, Move, Open, Text, Thing, Unknown

Result = Turn[Clearance]


class ClearanceJob:
    """First the tag, then the categories."""

    name = "clearance"
    steps: tuple[str, ...] = ("clearance", "clearance.categories")
    version = 1
    journalled = False

    def begin(self) -> Clearance:
        """No tag yet."""
        return Clearance()

    def open(self, state: Clearance) -> Open:
        """Rows are numbered; words are a tag or a category."""
        letters = window.letters(state) + ("d" if state.tag else "")
        return Open(choices=window.numbered_rows(state), letters=letters, search=True)

    def prefers(self, state: Clearance) -> tuple[str, ...]:
        """Nothing that can be scanned is meant here."""
        return ()

    def at(self, state: Clearance) -> str:
        """One of `steps`."""
        return "clearance.categories" if state.tag else "clearance"

    def view(self, state: Clearance) -> ListWindow:
        """The list that is chosen from."""
        return clearance_view.view(state)

    def step(self, state: Clearance, event: Event, context: Context) -> Result:
        """Numbers choose, words name what is not listed."""
        state = state._replace(size=room(context))
        match event:
            case Opened() | Resumed() | Closed() | Changed("location" | "person" | "order" | "outbox" | "store"):
                return Turn(_windowed(state), _queries(state, context))
            case Rows(id_, rows, _):
                return Turn(_windowed(_read(state, id_, rows)))
            case Back():
                back = state._replace(tag="", categories=(), chosen=(), first=0, cursor=-1)
                return Turn(_windowed(back)) if state.tag else Turn(state, (Close(),))
            case Choice() | Move("enter"):
                return _choose(state, window.picked(state, event))
            case Command("n" | "p" as key) | Move(key):
                return Turn(_windowed(window.turned(state, key, state.size)))
            case Command("d") if state.tag:
                return _go_on(state)
            case Text(text) | Unknown(text):
                return _named(state, text.strip())
            case Thing((meaning, *_)):
                return Turn(state, (), Verdict(WRONG, msg("clearance.not_this", what=meaning.label or meaning.key)))
            case Echo():
                return Turn(state)
        return Turn(state)


def _queries(state: Clearance, context: Context) -> tuple[Query, ...]:
    who = Query("clearing", "clearing", {"user": context.user}, live=True)
    tagged = (Query("tagged", "tagged", {"tag": state.tag}, live=True),) if state.tag else ()
    return (who, Query("tags", "tags", {}, live=True), *tagged)


def _read(state: Clearance, id_: str, rows: tuple[Mapping[str, Any], ...]) -> Clearance:
    match id_:
        case "clearing" if rows:
            row = rows[0]
            heard, people = bool(row["heard"]), bool(row["people"])
            return state._replace(heard=heard, people=people, role=str(row["role"]), known=heard)
        case "tags":
            return state._replace(tags=tuple(Tag(str(row["tag"]), int(number(row["places"]))) for row in rows))
        case "tagged":
            found = tuple(
                Category(str(row["category_code"]), int(number(row["lines"])), number(row["quantity"])) for row in rows
            )
            named = {each.key for each in found}
            typed = tuple(each for each in state.categories if each.typed and each.key not in named)
            return state._replace(categories=(*found, *typed))
    return state


def _windowed(state: Clearance) -> Clearance:
    """The rows of the page that is shown; one behind the end of a list that has become shorter begins anew."""
    first = state.first if state.first < state.total else 0
    return state._replace(first=first, rows=state.everything[first : first + max(1, state.size)])


def _denied(state: Clearance) -> Verdict | None:
    if not state.known:
        return Verdict(WRONG, msg("clearance.unheard"))
    return None if state.may else Verdict(WRONG, msg("clearance.denied"))


def _choose(state: Clearance, row: Tag | Category | None) -> Result:
    if row is None:
        return Turn(state)
    return _tagged(state, row.key) if isinstance(row, Tag) else _toggled(state, row.key)


def _named(state: Clearance, text: str) -> Result:
    """What is not in the list may be known to the service all the same; but a category only where none is known here,
    and a code of goods is neither, nor the number of a row that is not there."""
    if not text:
        return Turn(state)
    if window.is_row_number(text) and all(each.key != text for each in state.everything):
        return Turn(state, (), Verdict(WRONG, msg("input.no_choice", text=text)))
    if checks(text) and all(each.key != text for each in state.everything):
        return Turn(state, (), Verdict(WRONG, msg("clearance.not_this", what=text)))
    if not state.tag:
        known = next((tag.key for tag in state.tags if tag.key.casefold() == text.casefold()), text)
        return _tagged(state, known)
    listed = any(not each.typed for each in state.categories)
    if all(each.key.casefold() != text.casefold() for each in state.categories):
        if listed:
            return Turn(state, (), Verdict(WRONG, msg("clearance.no_such", what=text, tag=state.tag)))
        state = _windowed(state._replace(categories=(*state.categories, Category(text, typed=True))))
    return _toggled(state, next(each.key for each in state.categories if each.key.casefold() == text.casefold()))


def _tagged(state: Clearance, tag: str) -> Result:
    denied = _denied(state)
    if denied:
        return Turn(state, (), denied)
    state = _windowed(state._replace(tag=tag, categories=(), chosen=(), first=0, cursor=-1))
    return Turn(state, (Query("tagged", "tagged", {"tag": tag}, live=True),), Verdict(INFO, _scope(state)))


def _toggled(state: Clearance, key: str) -> Result:
    there = key in state.chosen
    chosen = tuple(each for each in state.chosen if each != key) if there else (*state.chosen, key)
    state = state._replace(chosen=chosen)
    return Turn(state, (), Verdict(INFO, _scope(state)))


def _scope(state: Clearance) -> Any:
    if state.chosen:
        return msg("clearance.some", tag=state.tag, count=len(state.chosen))
    return msg("clearance.all", tag=state.tag)


def _go_on(state: Clearance) -> Result:
    if denied := _denied(state):
        return Turn(state, (), denied)
    meant = [each for each in state.categories if not state.chosen or each.key in state.chosen]
    args = {
        "tag": state.tag,
        "categories": list(state.chosen),
        "lines": sum(each.lines for each in meant),
        "people": state.people,
    }
    return Turn(state, (Start("clear", args),))
