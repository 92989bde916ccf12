"""The stores of the chain: the list, one of them with all that is known, and the change of this terminal to it.

Interface: Stores. Only pages to look at, so nothing of it is journalled; whoever comes back stands on home.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aisle.jobs import window
from aisle.jobs.base import (
    Changed,
    Close,
    Closed,
    Context,
    Effect,
    Event,
    Opened,
    Query,
    Resumed,
    Rows,
    Turn,
    Wish,
    WorkIn,
)
from aisle.jobs.chain import stores_view
from aisle.jobs.chain.store_sheet import Listed, listed_of, sheet_of
from aisle.jobs.chain.stores_state import Stores
from aisle.jobs.numbers import what_is
from aisle.jobs.view import INFO, WRONG, Verdict, View, msg
from aisle.jobs.window import leafed, room
from aisle.scan.meaning import Back, Choice, Command, Move, Open, Text, Thing, Unknown

SHOWS = ("all", "near", "warehouse", "visited")
"""What the list shows, one after the other."""

Result = Turn[Stores]


class StoresJob:
    """The stores of the chain."""

    name = "stores"
    steps: tuple[str, ...] = ("stores", "stores.page", "stores.change")
    version = 1
    journalled = False

    def begin(self) -> Stores:
        """All of them."""
        return Stores()

    def open(self, state: Stores) -> Open:
        """Rows are numbered, and so is what can be done; `v` shows other stores."""
        if state.asking:
            return Open(choices=len(stores_view.answers(state)), by_hand=True)
        if state.number:
            return Open(choices=len(stores_view.ways(state)), letters=window.LETTERS)
        return Open(choices=window.numbered_rows(state), letters=f"v{window.letters(state)}", finds=True)

    def prefers(self, state: Stores) -> tuple[str, ...]:
        """Nothing that is scanned is a store."""
        return ()

    def at(self, state: Stores) -> str:
        """One of `steps`."""
        return "stores.change" if state.asking else "stores.page" if state.number else "stores"

    def view(self, state: Stores) -> View:
        """The list, the page or the question."""
        if state.asking:
            return stores_view.change(state)
        return stores_view.page(state) if state.number else stores_view.listed(state)

    def step(self, state: Stores, event: Event, context: Context) -> Result:
        """Words find, numbers choose."""
        match event:
            case Opened(args):
                state = state._replace(changes=bool(args.get("change")))
                return Turn(state, _refresh(state, context))
            case Rows(id_, rows, _):
                return _rows(state, event, id_, rows, context)
            case Resumed() | Closed() | Changed("store" | "outbox" | "person"):
                return Turn(state, _refresh(state, context))
            case Thing(meanings):
                return Turn(state, (), Verdict(WRONG, msg("stores.not_this", what=what_is(meanings[0]))))
            case Back():
                return _back(state, context)
        if state.asking:
            return _answered(state, event)
        return _paged(state, event, context) if state.number else _listed(state, event, context)


def _refresh(state: Stores, context: Context) -> tuple[Effect, ...]:
    return (_query(state, context), *([_one(state.number, context)] if state.number else []))


def _query(state: Stores, context: Context) -> Query:
    args = {
        "search": state.typed or state.search,
        "show": state.show,
        "first": state.first,
        "size": room(context),
    }
    return Query("list", "stores", args, live=True)


def _one(number: str, context: Context) -> Query:
    args = {"store_number": number, "user": context.user, "terminal": context.terminal}
    return Query("one", "store_page", args, live=True)


def _rows(state: Stores, answer: Rows, id_: str, rows: tuple[Mapping[str, Any], ...], context: Context) -> Result:
    if id_ == "list":
        came = window.answered(
            state._replace(partly=answer.partly), answer, tuple(listed_of(row) for row in rows), context, _query
        )
        if came.effects or not state.opening:
            return came
        hit, fresh = _hit(came.state), came.state._replace(opening=False)
        return _show(fresh, hit, context) if hit else Turn(fresh)
    if id_ == "one" and rows:
        return Turn(state._replace(sheet=sheet_of(rows[0])))
    if id_ == "one":
        shut = state._replace(number="", sheet=None, asking=False)
        return Turn(shut, (_query(shut, context),), Verdict(WRONG, msg("stores.gone", store=state.number)))
    return Turn(state)


def _hit(state: Stores) -> Listed | None:
    """The only store that was found, or the one of which all of the number was typed."""
    named = [row for row in state.rows if row.number == state.search.strip()]
    return state.rows[0] if state.total == 1 and state.rows and not state.partly else named[0] if named else None


def _show(state: Stores, row: Listed, context: Context) -> Result:
    """The page of a store, or at once what a change to it means."""
    state = state._replace(number=row.number, sheet=None, page=0, typed="", asking=state.changes)
    return Turn(state, (_one(row.number, context), Wish("store", row.number)))


def _paged(state: Stores, event: Event, context: Context) -> Result:
    match event:
        case Choice(choice) if choice <= len(stores_view.ways(state)):
            return Turn(state._replace(asking=True), (_one(state.number, context),))
        case Command("n" | "p" as key) | Move(key):
            return Turn(state._replace(page=leafed(state.page, key)))
        case Unknown(text) | Text(text):
            found = Stores(state.show, text, changes=state.changes, opening=True)
            return Turn(found, (_query(found, context),))
    return Turn(state)


def _answered(state: Stores, event: Event) -> Result:
    match event:
        case Choice(1) if stores_view.can_change(state):
            is_back = bool(state.sheet and state.sheet.back)
            return Turn(state, (WorkIn(state.number, supervises=not is_back),))
        case Choice():
            return _stayed(state)
        case Unknown(text) | Text(text):
            return Turn(state, (), Verdict(WRONG, msg("stores.choose", text=text)))
    return Turn(state)


def _stayed(state: Stores) -> Result:
    if state.changes:
        return Turn(state, (Close(Verdict(INFO, msg("session.dropped"))),))
    return Turn(state._replace(asking=False), (), Verdict(INFO, msg("session.dropped")))


def _listed(state: Stores, event: Event, context: Context) -> Result:
    match event:
        case Text(text) | Unknown(text):
            found = Stores(state.show, text, changes=state.changes, opening=True)
            return Turn(found, (_query(found, context),))
        case Command("v"):
            show = SHOWS[(SHOWS.index(state.show) + 1) % len(SHOWS)]
            state = Stores(show, state.search, changes=state.changes)
            return Turn(state, (_query(state, context),), Verdict(INFO, stores_view.title_of(state)))
    return window.said(state, event, context, _query, _show, "v")


def _back(state: Stores, context: Context) -> Result:
    if state.asking and not state.changes:
        return Turn(state._replace(asking=False))
    if state.number:
        shut = state._replace(number="", sheet=None, asking=False)
        return Turn(shut, (_query(shut, context),))
    if state.search or state.typed:
        fresh = Stores(state.show, changes=state.changes)
        return Turn(fresh, (_query(fresh, context),))
    return Turn(state, (Close(),))
