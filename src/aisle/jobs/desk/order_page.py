"""One order to a supervisor: customer, lines, who picked them, where they lie, what happened; and what can be done.

An order that this host does not know is asked for at the service: it may have been finished long ago.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aisle.jobs.amounts import number
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
    Start,
    Turn,
    Wish,
)
from aisle.jobs.desk import order_page_view, outdone
from aisle.jobs.desk.deeds import CLOSE_LINE, OPEN_LINE
from aisle.jobs.desk.order_customer import customer_of
from aisle.jobs.desk.order_page_state import PICK, Happened, Line, Page
from aisle.jobs.desk.orders_rows import listed
from aisle.jobs.view import INFO, WRONG, Detail, Verdict, msg
from aisle.jobs.window import LETTERS, leafed, looked_up, unheard
from aisle.scan.meaning import LOCATION, ORDER, PRODUCT, REFERENCE, Back, Choice, Command, Meaning, Move, Open, Thing

HISTORY = 60
"""Events that the page shows."""

Result = Turn[Page]


class OrderPageJob:
    """From an order's number to all that is known of it."""

    name = "order"
    steps: tuple[str, ...] = ("order", "order.lines")
    version = 1
    journalled = False

    def begin(self) -> Page:
        """No order yet."""
        return Page()

    def open(self, state: Page) -> Open:
        """Ways on are numbered; a letter makes the lines so."""
        if state.choosing:
            return Open(choices=len(state.lines), letters=LETTERS)
        lines = "l" if state.lines and state.order and state.order.status not in ("rejected", "finished") else ""
        return Open(choices=len(state.ways), letters=LETTERS + lines + ("u" if state.undo else ""))

    def prefers(self, state: Page) -> tuple[str, ...]:
        """Another order, or a product of this one."""
        return (ORDER, REFERENCE, PRODUCT, LOCATION)

    def at(self, state: Page) -> str:
        """One of `steps`."""
        return "order.lines" if state.choosing else "order"

    def view(self, state: Page) -> Detail:
        """The page."""
        return order_page_view.view(state)

    def step(self, state: Page, event: Event, context: Context) -> Result:
        """What is new is read; numbers do, letters turn the page."""
        match event:
            case Opened(args):
                return _show(str(args["order_number"]), context)
            case Rows("given"):
                left, told = outdone.news(state.given, event)
                return Turn(state._replace(given=left), (), told)
            case Rows():
                return _answered(state, event, context)
            case Changed() | Resumed():
                return Turn(state, (*_look(state), *outdone.look(state.given)))
            case Closed("act", answer):
                undo = tuple((answer or {}).get("undo") or ()) or state.undo
                state = state._replace(given=outdone.kept(state.given, answer))
                choosing, page = (False, 0) if answer else (state.choosing, state.page)
                return Turn(state._replace(undo=undo, choosing=choosing, page=page), _look(state))
            case Closed():
                return Turn(state, _look(state))
            case Back() if state.choosing:
                return Turn(state._replace(choosing=False, page=0))
            case Back():
                return Turn(state, (Close(),))
        return _said(state, event, context)


def _show(order: str, context: Context) -> Result:
    page = Page(order, since=context.now)
    return Turn(page, (*_look(page), Wish("order", order), Wish("logs")))


def _look(page: Page) -> tuple[Effect, ...]:
    order, args = page.number, {"order_number": page.number}
    return (
        Query("state", "orders_by_number", {"orders": [order]}, live=True),
        Query("order", "order", args, live=True),
        Query("past", "history", {**args, "size": HISTORY}, live=True),
        Query("outcome", "outcomes", {"orders": [order]}, live=True),
        Query("absent", "absent", {**args, "since": page.since}, live=True),
    )


def _answered(state: Page, answer: Rows, context: Context) -> Result:
    match answer:
        case Rows("state", rows, _):
            return Turn(state._replace(order=listed(rows[0], context) if rows else None))
        case Rows("absent", rows, _):
            return Turn(state._replace(absent=bool(rows)))
        case Rows("order", rows, _):
            return Turn(_with_order(state, rows[0]) if rows else state._replace(lines=(), customer=()))
        case Rows("past", rows, _):
            return Turn(state._replace(past=tuple(_happened(row) for row in rows)))
        case Rows("outcome", rows, _) if rows:
            return Turn(state._replace(word=str(rows[0]["word"]), why=str(rows[0]["why"])))
    return Turn(state)


def _with_order(state: Page, row: Mapping[str, Any]) -> Page:
    lines = tuple(_line(line) for line in row.get("lines") or ())
    choosing = state.choosing and bool(lines)
    return state._replace(
        customer=customer_of(row), lines=lines, lines_known=bool(row.get("lines_known")), choosing=choosing
    )


def _line(row: Mapping[str, Any]) -> Line:
    return Line(
        number=int(row["line_number"]),
        product=str(row.get("product_number") or ""),
        label=str(row.get("description") or row.get("product_number") or ""),
        of=number(row.get("quantity")),
        picked=number(row.get("picked_quantity")),
        moved=number(row.get("moved_quantity")),
        closed=bool(row.get("is_picked")),
        by=str(row.get("picked_name") or row.get("picked_username") or ""),
        places=tuple(str(place["location_code"]) for place in row.get("places") or ()),
        kept=tuple((str(place["location_code"]), number(place["quantity"])) for place in row.get("kept") or ()),
        why=str(row.get("rejection_reason_code_description") or ""),
    )


def _happened(row: Mapping[str, Any]) -> Happened:
    return Happened(
        at=str(row["at"]),
        who=str(row["who"]),
        what=str(row["what"]),
        label=str(row["label"]),
        quantity=number(row["quantity"]),
        place=str(row.get("place") or ""),
        why=str(row["why"]),
        word=str(row["word"]),
    )


def _said(state: Page, event: Event, context: Context) -> Result:
    match event:
        case Choice(choice) if state.choosing and choice <= len(state.lines):
            return _of_line(state, state.lines[choice - 1])
        case Choice(choice) if not state.choosing and choice <= len(state.ways):
            return _way(state, state.ways[choice - 1])
        case Command("l") if state.lines:
            return Turn(state._replace(choosing=True, page=0))
        case Command("u") if state.undo:
            return Turn(state._replace(undo=()), (Start("act", {"undo": list(state.undo)}),))
        case Command("n" | "p" as key) | Move(key):
            return Turn(state._replace(page=leafed(state.page, key)))
        case Thing(meanings):
            return _thing(state, meanings[0], context)
    return unheard(state, event)


def _way(state: Page, way: str) -> Result:
    if way == PICK:
        return Turn(state, (Start("pick", {"order_number": state.number, "looks": True}),))
    return Turn(state, (Start("act", {"orders": [state.number], "kind": way}),))


def _of_line(state: Page, line: Line) -> Result:
    """A full line is looked up; any other is closed with what is picked of it, or opened again."""
    if line.full:
        return Turn(state, (Start("lookup", {"product_number": line.product, "label": line.label}),))
    kind = OPEN_LINE if line.closed else CLOSE_LINE
    args = {"orders": [state.number], "kind": kind, "line": line.number, "label": line.label}
    return Turn(state, (Start("act", args),))


def _thing(state: Page, meaning: Meaning, context: Context) -> Result:
    kind, key, label = meaning.kind, meaning.key, meaning.label or meaning.key
    if kind in (ORDER, REFERENCE):
        if key != state.number:
            return _show(key, context)
        return Turn(state, (), Verdict(INFO, msg("order.this_one", order=key)))
    if look := looked_up(kind, key, label):
        return Turn(state, (look,))
    return Turn(state, (), Verdict(WRONG, msg("orders.person", name=label)))
