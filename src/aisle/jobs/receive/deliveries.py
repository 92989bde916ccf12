"""All deliveries to the store: what is expected, what came, the receipts by their type; one with all its lines.

Interface: Delivery order, Receipt order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aisle.jobs import window
from aisle.jobs.amounts import number, said
from aisle.jobs.base import Changed, Close, Closed, Context, Event, Opened, Query, Resumed, Rows, Start, Turn, Wish
from aisle.jobs.numbers import what_is
from aisle.jobs.receive import deliveries_view
from aisle.jobs.receive.deliveries_state import ALL, OPEN, RECEIPTS, RECEIVED, Deliveries, Sheet
from aisle.jobs.receive.receiving import Listed, line_of, listed_of
from aisle.jobs.view import INFO, WRONG, Verdict, View, msg
from aisle.jobs.window import leafed, room
from aisle.scan.meaning import (
    DELIVERY,
    PRODUCT,
    Back,
    Choice,
    Command,
    Meaning,
    Move,
    Open,
    Text,
    Thing,
    Unknown,
)

Result = Turn[Deliveries]


class DeliveriesJob:
    """The list of deliveries, and one of them."""

    name = "deliveries"
    steps: tuple[str, ...] = ("deliveries", "deliveries.page")
    version = 1
    journalled = True

    def begin(self) -> Deliveries:
        """What is to be received."""
        return Deliveries()

    def open(self, state: Deliveries) -> Open:
        """Rows are numbered; `v` shows other deliveries, `n` and `p` turn the page."""
        if state.number:
            return Open(choices=len(deliveries_view.ways(state)), letters=window.LETTERS)
        return Open(choices=window.numbered_rows(state), letters=f"v{window.letters(state, tall=True)}", finds=True)

    def prefers(self, state: Deliveries) -> tuple[str, ...]:
        """Deliveries are what it is for."""
        return (DELIVERY, PRODUCT)

    def at(self, state: Deliveries) -> str:
        """The list, or one."""
        return "deliveries.page" if state.number else "deliveries"

    def view(self, state: Deliveries) -> View:
        """The list or the page."""
        return deliveries_view.page(state) if state.number else deliveries_view.listed(state)

    def step(self, state: Deliveries, event: Event, context: Context) -> Result:
        """A scan opens, words filter, numbers choose."""
        match event:
            case Opened():
                return Turn(state, (*_refresh(state, context), Wish("deliveries")))
            case Rows(id_, rows, _):
                return _rows(state, event, id_, rows, context)
            case Resumed() | Closed() | Changed("delivery" | "outbox"):
                return Turn(state, _refresh(state, context))
            case Thing(meanings):
                return _thing(state, meanings)
            case Back():
                return _back(state, context)
        return _paged(state, event) if state.number else _listed(state, event, context)


def _refresh(state: Deliveries, context: Context) -> tuple[Query, ...]:
    one = (Query("one", "delivery", {"order_number": state.number}),) if state.number else ()
    return (Query("kinds", "receipt_kinds", {}, live=True), _query(state, context), *one)


def _query(state: Deliveries, context: Context) -> Query:
    args: dict[str, Any] = {"search": state.typed or state.search, "first": state.first, "size": room(context)}
    if state.show == RECEIPTS:
        return Query("receipts", "receipts", {**args, "kind": state.kind}, live=True)
    return Query("list", "deliveries", {**args, "state": "" if state.show == ALL else state.show}, live=True)


def _rows(state: Deliveries, answer: Rows, id_: str, rows: tuple[Mapping[str, Any], ...], context: Context) -> Result:
    match id_:
        case "kinds":
            return Turn(state._replace(kinds=tuple(str(row["kind"]) for row in rows)))
        case "list" | "receipts":
            read = _receipt if id_ == "receipts" else listed_of
            return window.answered(state, answer, tuple(read(row, context) for row in rows), context, _query)
        case "one" if rows:  # the row that was chosen is no part of the journal, its page is
            return Turn(state._replace(number=str(rows[0]["order_number"]), sheet=_sheet(rows[0])))
        case "one":
            return Turn(state, (), Verdict(WRONG, msg("deliveries.gone", delivery=state.number)))
        case "product" if rows:
            return _show(state, str(rows[0]["order_number"]))
        case "product":
            return Turn(state, (), Verdict(WRONG, msg("deliveries.no_product")))
    return Turn(state)


def _receipt(row: Mapping[str, Any], context: Context) -> Listed:
    return Listed(
        str(row["order_number"]),
        str(row.get("supplier_name") or ""),
        msg("moment", at=str(row.get("at") or "")),
        row.get("shipped_quantity"),
        row.get("received_quantity"),
        str(row.get("status") or ""),
    )


def _sheet(row: Mapping[str, Any]) -> Sheet:
    origin, containers = row.get("store_origin"), row.get("no_of_containers")
    return Sheet(
        str(row["order_number"]),
        str(row.get("supplier_name") or ""),
        str(row.get("state") or ""),
        str(row.get("datetime_expected") or ""),
        str(row.get("order_type") or ""),
        str(row.get("external_reference_number") or ""),
        "" if containers is None else str(containers),
        "" if origin is None else str(origin),
        str(row.get("tracing_url") or ""),
        number(row.get("quantity")),
        said(row.get("received_quantity")),
        tuple(line_of(line) for line in row.get("lines") or ()),
    )


def _show(state: Deliveries, order_number: str) -> Result:
    """Puts up the page of a delivery."""
    state = state._replace(number=order_number, sheet=None, page=0, typed="")
    return Turn(state, (Query("one", "delivery", {"order_number": order_number}), Wish("delivery", order_number)))


def _thing(state: Deliveries, meanings: tuple[Meaning, ...]) -> Result:
    """A delivery opens; a product leads to the first delivery that expects it."""
    first = meanings[0]
    if first.kind == DELIVERY:
        return _show(state, first.key)
    if first.kind == PRODUCT:
        return Turn(state, (Query("product", "expecting", {"product_number": first.key, "size": 1}),))
    return Turn(state, (), Verdict(WRONG, msg("deliveries.not_this", what=what_is(first))))


def _paged(state: Deliveries, event: Event) -> Result:
    match event:
        case Choice(choice) if choice <= len(deliveries_view.ways(state)):
            return Turn(state, (Start("receive", {"deliveries": [state.number], "code": state.number}),))
        case Command("n" | "p" as key) | Move(key):
            return Turn(state._replace(page=leafed(state.page, key)))
        case Unknown(code) | Text(code):
            return Turn(state, (), Verdict(WRONG, msg("deliveries.unknown", code=code)))
    return Turn(state)


def _listed(state: Deliveries, event: Event, context: Context) -> Result:
    match event:
        case Text(text):
            found = Deliveries(state.show, state.kind, state.kinds, search=text)
            return Turn(found, (_query(found, context),))
        case Unknown(code):
            told = Verdict(WRONG, msg("receive.no_delivery", code=code))
            return Turn(state, (Wish("delivery", code),), told)
        case Command("v"):
            state = next_shown(state)
            return Turn(state, (_query(state, context),), Verdict(INFO, deliveries_view.title_of(state)))
    return window.said(state, event, context, _query, _chosen, "v")


def _chosen(state: Deliveries, row: Listed, context: Context) -> Result:
    return _show(state, row.number)


def next_shown(state: Deliveries) -> Deliveries:
    """What the list shows next: to be received, received, all, then receipts, type by type where there are several."""
    types = state.kinds if len(state.kinds) > 1 else ()
    shows = [(OPEN, ""), (RECEIVED, ""), (ALL, ""), (RECEIPTS, ""), *((RECEIPTS, kind) for kind in types)]
    here = shows.index((state.show, state.kind)) if (state.show, state.kind) in shows else -1
    show, kind = shows[(here + 1) % len(shows)]
    return Deliveries(show, kind, state.kinds, state.search)


def _back(state: Deliveries, context: Context) -> Result:
    if state.number:
        shut = state._replace(number="", sheet=None)
        return Turn(shut, (_query(shut, context),))
    if state.search or state.typed:
        fresh = Deliveries(state.show, state.kind, state.kinds)
        return Turn(fresh, (_query(fresh, context),))
    return Turn(state, (Close(),))
