"""The order board: all orders of the store, filtered and sorted; one is opened, or something is done to many at once.

It is live and does not jump: the order under the cursor, else the first in sight, stays where it is on the screen.
"""

from __future__ import annotations

import json
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
    Remark,
    Resumed,
    Rows,
    Start,
    Turn,
    Wish,
)
from aisle.jobs.desk import marking, orders_view, outdone
from aisle.jobs.desk.orders_filter import BUILT_IN, FIELDS, Filter, args_of, changed, filter_of, options, view_key
from aisle.jobs.desk.orders_rows import Board, Listed, View, listed
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Verdict, msg
from aisle.jobs.view import View as Page
from aisle.jobs.window import room
from aisle.scan.meaning import (
    LOCATION,
    ORDER,
    PRODUCT,
    REFERENCE,
    Back,
    Choice,
    Command,
    Echo,
    Move,
    Open,
    Text,
    Thing,
    Unknown,
)

LETTERS = "fvmad"
"""Filter, views, mark, all in sight, do."""

VIEWS = 9
"""Views of one's own that are offered with the built-in ones."""

MOST = 200
"""Orders that something is done to at once."""

Result = Turn[Board]


class OrdersJob:
    """The list, and what it is filtered by."""

    name = "orders"
    steps: tuple[str, ...] = ("orders", "orders.filter", "orders.field", "orders.views", "orders.name")
    version = 1
    journalled = False

    def begin(self) -> Board:
        """Nothing read yet."""
        return Board()

    def open(self, state: Board) -> Open:
        """Rows are numbered; letters filter, mark and do; words search."""
        if state.page == "name":
            return Open(search=True)
        if state.page:
            letters = "nkx" if state.page == "views" else "n"
            return Open(choices=_choices(state), letters=letters, search=state.field == "reference")
        letters = LETTERS + window.letters(state)
        return Open(choices=window.numbered_rows(state), letters=letters, search=True, finds=True)

    def prefers(self, state: Board) -> tuple[str, ...]:
        """Orders: that is what the board is for."""
        return (ORDER, REFERENCE, PRODUCT, LOCATION)

    def at(self, state: Board) -> str:
        """One of `steps`."""
        return f"orders.{state.page}" if state.page else "orders"

    def view(self, state: Board) -> Page:
        """The page."""
        return orders_view.view(state)

    def step(self, state: Board, event: Event, context: Context) -> Result:
        """Answers and news first, then what a person says on this page."""
        match event:
            case Opened(args):
                return _opened(state, args, context)
            case Rows("given"):
                left, told = outdone.news(state.given, event)
                return Turn(state._replace(given=left), (), told)
            case Rows():
                return _answered(state, event, context)
            case Changed("order" | "outbox" | "log" | "person"):
                return Turn(state, (_ask(state, context, stays=True), *outdone.look(state.given)))
            case Closed("act", answer):
                return _acted(state, answer, context)
            case Closed() | Resumed():
                ask = _ask(state, context, stays=True, fills=state.size != room(context, bars=True))
                return Turn(state._replace(size=room(context, bars=True)), (ask, _views(context)))
            case Back():
                return _back(state, context)
        if state.page:
            return _setting(state, event, context)
        return _said(state, event, context)


def _opened(state: Board, args: Mapping[str, Any], context: Context) -> Result:
    state = state._replace(filter=filter_of(args["filter"])) if args.get("filter") else state
    state = state._replace(size=room(context, bars=True))
    return Turn(state, (_ask(state, context), _views(context), Wish("orders"), Wish("logs")))


def _views(context: Context) -> Query:
    return Query("views", "views", {"user": context.user}, live=True)


def _ask(state: Board, context: Context, *, stays: bool = False, fills: bool = False) -> Query:
    """The window: `stays` where the order that one looks at has to stay where it is; `fills` all of another size."""
    args: dict[str, Any] = {**args_of(state.filter), "search": state.typed or state.search, "now": context.now}
    at = state.cursor - state.first if state.first <= state.cursor < state.first + len(state.rows) else 0
    if stays and state.rows:
        args |= {"anchor": state.rows[at].number, "row": at, "fills": fills}
    elif state.rows:
        args["near"] = {"order_number": state.rows[0].number, "position": state.rows[0].position}
    return Query("board", "board", {**args, "first": state.first, "size": room(context, bars=True)}, live=True)


def _anew(state: Board, context: Context) -> Result:
    """Another list: it begins at its beginning."""
    state = state._replace(first=0, cursor=-1, rows=())
    return Turn(state, (_ask(state, context),))


# Answers


def _answered(state: Board, answer: Rows, context: Context) -> Result:
    match answer:
        case Rows("board", rows, total):
            return _came(state, answer, tuple(listed(row, context) for row in rows), total, context)
        case Rows("views", rows, _):
            views = tuple(View(str(row["name"]), filter_of(row["filter"])) for row in rows)
            return Turn(state._replace(views=views[:VIEWS]))
        case Rows("all", rows, total):
            numbers = tuple(str(row["order_number"]) for row in rows)
            return _marked(state, numbers, total)
    return Turn(state)


def _came(state: Board, answer: Rows, rows: tuple[Listed, ...], total: int, context: Context) -> Result:
    """The window has moved with what one looks at; the cursor stays on its order."""
    before = window.at_cursor(state)
    first = rows[0].position if rows else state.first
    fresh = window.arrived(state._replace(first=first), rows, total)
    at = next((index for index, row in enumerate(rows) if before and row.number == before.number), -1)
    if at >= 0 and state.cursor >= 0 and not state.moving:
        fresh = fresh._replace(cursor=first + at)
    fresh = fresh._replace(moving=False, loaded=True)
    return Turn(fresh, (_ask(fresh, context),) if window.is_behind(state, answer) else ())


def _acted(state: Board, answer: Mapping[str, Any] | None, context: Context) -> Result:
    """What was done is done: nothing is marked any more."""
    done = bool(answer)
    state = state._replace(marked=(), marking=False) if done else state
    state = state._replace(given=outdone.kept(state.given, answer))
    return Turn(state, (_ask(state, context, stays=True),))


# What is said on the list


def _said(state: Board, event: Event, context: Context) -> Result:
    match event:
        case Choice() | Move("enter"):
            row = window.picked(state, event)
            return _row(state, row) if row else Turn(state)
        case Move(key):
            return _moved(state, key, context)
        case Command("n" | "p" as letter):
            paged = window.paged(state, letter, room(context, bars=True))
            return Turn(paged, (_ask(paged, context),)) if state.total else Turn(state)
        case Command(letter):
            return _command(state, letter, context)
        case Echo(text):
            typed = window.typing(state, "" if _is_row(state, text) else text, LETTERS)
            return Turn(state) if typed is None else _anew(typed, context)
        case Text(text):
            return _anew(state._replace(search=text, typed=""), context)
        case Thing(meanings):
            return _thing(state, meanings, context)
        case Unknown(code):
            return _unknown(state, code, context)
    return Turn(state)


def _moved(state: Board, key: str, context: Context) -> Result:
    if not state.total:
        return Turn(state)
    moved = window.moved(state, key, room(context, bars=True))
    inside = moved.first == state.first
    return Turn(moved if inside else moved._replace(moving=True), () if inside else (_ask(moved, context),))


def _row(state: Board, row: Listed) -> Result:
    """A row is opened, or marked where that is what numbers do now."""
    if not state.marking:
        return Turn(state._replace(typed=""), (_open(row.number),))
    return Turn(_toggled(state, row.number))


def _open(number: str) -> Start:
    return Start("order", {"order_number": number})


def _toggled(state: Board, number: str) -> Board:
    full = number not in state.marked and len(state.marked) >= MOST
    return state if full else state._replace(marked=marking.toggled(state.marked, number))


def _command(state: Board, letter: str, context: Context) -> Result:
    match letter:
        case "f":
            return _page(state, "filter", context)
        case "v":
            return _page(state, "views", context)
        case "m":
            return marking.begun(state)
        case "a":
            query = {**args_of(state.filter), "search": state.search, "now": context.now, "size": MOST}
            return Turn(state, (Query("all", "board", query, live=True),))
        case "d":
            return _act(state)
    return Turn(state)


def _marked(state: Board, numbers: tuple[str, ...], total: int) -> Result:
    """All of the list, or none where all were marked already."""
    told = msg("orders.all_marked", count=len(numbers))
    if total > len(numbers):
        told = msg("orders.many_marked", count=len(numbers), total=total)
    return marking.all_of(state, numbers, told)


def _act(state: Board) -> Result:
    """Something is done to all that are marked, else to the one under the cursor."""
    row = window.at_cursor(state)
    orders = state.marked or ((row.number,) if row else ())
    if not orders:
        return Turn(state._replace(marking=True), (), Verdict(ASK, msg("orders.mark_first")))
    return Turn(state, (Start("act", {"orders": list(orders)}),))


def _thing(state: Board, meanings: tuple[Any, ...], context: Context) -> Result:
    """An order opens, or is marked; several of one reference are listed; a product or place is looked up."""
    numbers = tuple(dict.fromkeys(each.key for each in meanings if each.kind in (ORDER, REFERENCE)))
    if len(numbers) > 1:
        code = meanings[0].code or meanings[0].key
        return _anew(state._replace(filter=state.filter._replace(reference=code), search="", typed=""), context)
    if numbers and state.marking:
        marked = _toggled(state, numbers[0])
        told = msg("orders.marked" if numbers[0] in marked.marked else "orders.unmarked", order=numbers[0])
        return _shown(marked, numbers[0], context)._replace(verdict=Verdict(GOOD, told))
    if numbers:
        return Turn(state, (_open(numbers[0]),))
    first = meanings[0]
    if look := window.looked_up(first.kind, first.key, first.label):
        return Turn(state, (look,))
    return Turn(state, (), Verdict(WRONG, msg("orders.person", name=first.label or first.key)))


def _shown(state: Board, order: str, context: Context) -> Result:
    """An order that was marked is in sight, where the filter has it; what is looked for else gives way."""
    if any(row.number == order for row in state.rows):
        return Turn(state)
    state = state._replace(search="", typed="", cursor=-1)
    ask = _ask(state, context)
    return Turn(state, (ask._replace(args={**ask.args, "anchor": order, "row": 0, "fills": True}),))


def _is_row(state: Board, text: str) -> bool:
    """Whether somebody means the number of a row by this, on the page or not; words and longer numbers are a search."""
    return bool(state.rows) and text.isdigit() and len(text) <= len(str(window.NUMBERED))


def _unknown(state: Board, code: str, context: Context) -> Result:
    """A number that this host does not know may be that of an order which was finished long ago; a letter is none."""
    if _is_row(state, code):
        return Turn(state, (), Verdict(WRONG, msg("orders.no_row", row=code)))
    return (
        Turn(state._replace(typed=""), (_open(code),))
        if not state.total and (len(code) > 1 or code.isdigit())
        else _anew(state._replace(search=code, typed=""), context)
    )


# Filter and views


def _choices(state: Board) -> int:
    """How many of the choices are in sight."""
    return max(0, min(state.size, len(orders_view.choices(state)) - state.top))


def _page(state: Board, page: str, context: Context, field: str = "") -> Result:
    return Turn(state._replace(page=page, field=field, top=0, size=room(context, bars=True)))


def _setting(state: Board, event: Event, context: Context) -> Result:
    match event:
        case Choice(choice) if choice <= _choices(state):
            return _set(state, choice + state.top, context)
        case Command("n") if state.page != "name":
            on = state.top + state.size
            return Turn(
                state._replace(top=on if on < len(orders_view.choices(state)) else 0, size=room(context, bars=True))
            )
        case Thing(meanings) if state.field == "reference":
            return _setting(state, Unknown(meanings[0].code or meanings[0].key), context)
        case Text(text) | Unknown(text) if state.field == "reference":
            picked = state.filter._replace(reference=text.strip())
            return _anew(_page(state._replace(filter=picked), "filter", context).state, context)
        case Command("k") if state.page == "views":
            return _page(state, "name", context)
        case Command("x") if state.page == "views":
            return _forget(state, context)
        case Text(text) | Unknown(text) if state.page == "name":
            return _kept(state, text.strip(), context)
    return window.unheard(state, event)


def _set(state: Board, number: int, context: Context) -> Result:
    """The choice of that number on the page that is open."""
    if state.page == "views":
        return _view(state, number, context)
    if state.page == "field":
        picked = changed(state.filter, state.field, options(state.field)[number - 1])
        return _anew(_page(state._replace(filter=picked), "filter", context).state, context)
    if number <= len(FIELDS):
        return _page(state, "field", context, FIELDS[number - 1])
    return _anew(state._replace(page="", filter=Filter(), search=""), context)


def _view(state: Board, choice: int, context: Context) -> Result:
    built = tuple(kept for _, kept in BUILT_IN)
    views = (*built, *(view.filter for view in state.views))
    if choice > len(views):
        return Turn(state)
    name = state.views[choice - 1 - len(built)].name if choice > len(built) else ""
    return _anew(state._replace(page="", filter=views[choice - 1], search="", named=name), context)


def _kept(state: Board, name: str, context: Context) -> Result:
    """The filter as it is, under a name."""
    kept = Remark("view", view_key(context.user, name), json.dumps(state.filter._asdict()))
    others = tuple(view for view in state.views if view.name != name)
    if len(others) >= VIEWS:
        return Turn(state._replace(page="views"), (), Verdict(WRONG, msg("orders.views_full", count=VIEWS)))
    state = state._replace(page="", views=(*others, View(name, state.filter)), named=name)
    return Turn(state, (kept,), Verdict(GOOD, msg("orders.view_kept", name=name)))


def _forget(state: Board, context: Context) -> Result:
    """The view of one's own that was chosen last goes."""
    if not any(view.name == state.named for view in state.views):
        return Turn(state, (), Verdict(INFO, msg("orders.view_which")))
    gone = Remark("view", view_key(context.user, state.named), "")
    told = Verdict(GOOD, msg("orders.view_gone", name=state.named))
    views = tuple(view for view in state.views if view.name != state.named)
    return Turn(state._replace(views=views, named=""), (gone,), told)


def _back(state: Board, context: Context) -> Result:
    """Out of the question, then of marking, then of the search, then out."""
    if state.page:
        return _page(state, {"field": "filter", "name": "views"}.get(state.page, ""), context)
    if state.marking or state.marked:
        return marking.ended(state)
    if state.search or state.typed:
        return _anew(state._replace(search="", typed=""), context)
    effects: tuple[Effect, ...] = (Close(),)
    return Turn(state, effects)
