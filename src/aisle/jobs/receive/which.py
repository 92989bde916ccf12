"""Which delivery is received: the list, the number or container that was scanned, the product that it expects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aisle.jobs import window
from aisle.jobs.amounts import number
from aisle.jobs.base import Context, Effect, Event, Query, Start, Turn, Wish
from aisle.jobs.receive import take as receive_take
from aisle.jobs.receive import view as receive_view
from aisle.jobs.receive.receiving import Receiving, Result, Way, line_of, told
from aisle.jobs.view import ASK, GOOD, INFO, WRONG
from aisle.scan.meaning import Command, Echo, Meaning, Move

WAYS = 7
"""Numbered deliveries at most; any other can be scanned."""


def query(state: Receiving, id_: str = "deliveries") -> Query:
    """The window of the list; under the id `found` it was ended with Enter, and is part of the journal."""
    size = receive_view.listed(state)
    args = {"search": state.typed or state.search, "state": "open", "first": state.first, "size": size}
    return Query(id_, "deliveries", args, live=id_ != "found")


def open_(state: Receiving, number_: str, code: str, context: Context) -> Result:
    """The delivery of this number; what is in hand is booked on the one before. `code` may be its container's."""
    booked = receive_take.booked(state, state.place, context)
    fresh = Receiving(
        size=state.size, once=state.once, place=state.place, since=state.since, told=state.told, pending=state.pending
    )
    asked = fresh._replace(sought=number_, container=code)
    return Turn(asked, (*booked.effects, Query("open", "delivery", {"order_number": number_})))


def opens(state: Receiving, rows: tuple[Mapping[str, Any], ...], context: Context) -> Result:
    """It is open, with the product that led to it, or in its container; one that has all come is asked about first."""
    meaning = state.pending
    if not rows:
        return unknown(state._replace(container="", pending=None), state.sought, query(state))
    number_ = str(rows[0]["order_number"])  # the row that was chosen is no part of the journal
    lines = tuple(line_of(row) for row in rows[0]["lines"])
    inside = state.container if state.container.casefold() in {line.container.casefold() for line in lines} else ""
    supplier = str(rows[0].get("supplier_name") or "")
    state = state._replace(phase="goods", number=number_, sought="", supplier=supplier, lines=lines, container=inside)
    if meaning is not None:
        return receive_take.product(state._replace(pending=None), meaning, context)
    if lines and rows[0].get("state") == "received":
        ways = (Way("go_on"), Way("other"))
        return told(state._replace(ways=ways), ASK, "receive.received_before", delivery=number_)
    missing = len({line.product for line in lines if line.is_open})
    if inside:
        return _container(state, inside)
    return told(state, GOOD, "receive.opened", delivery=number_, supplier=supplier or number_, count=missing)


def unknown(state: Receiving, code: str, *effects: Effect) -> Result:
    """It may have been announced just now: the service is asked for it."""
    state = state._replace(sought=code)
    return told(state, WRONG, "receive.no_delivery", *effects, Wish("delivery", code), code=code)


def expected(state: Receiving, rows: tuple[Mapping[str, Any], ...], context: Context) -> Result:
    """A product was scanned first: the only delivery that expects it, or a question."""
    meaning = state.pending
    if meaning is None:
        return Turn(state)
    if len(rows) == 1:
        return open_(state, str(rows[0]["order_number"]), "", context)
    label = meaning.label or meaning.key
    if not rows:
        return told(state._replace(pending=None), WRONG, "receive.nobody_expects", label=label)
    return told(state._replace(ways=_deliveries(rows)), ASK, "receive.which", label=label)


def _deliveries(rows: tuple[Mapping[str, Any], ...]) -> tuple[Way, ...]:
    return tuple(
        Way("open", str(row["order_number"]), number(row.get("missing")), str(row.get("supplier_name") or ""))
        for row in rows[:WAYS]
    )


def found(state: Receiving, rows: tuple[Mapping[str, Any], ...], total: int, context: Context) -> Result:
    """What words find: one delivery opens, several are listed, none leaves the list as it was."""
    if total == 1:
        return open_(state, str(rows[0]["order_number"]), "", context)
    if not total:
        code, state = state.search, state._replace(search="")
        return told(state, WRONG, "receive.unknown", query(state), code=code)
    return told(state, ASK, "receive.found", query(state), text=state.search, count=total)


def listed(state: Receiving, event: Event, context: Context) -> Result:
    """The list: words find, the cursor marks, letters leaf."""
    match event:
        case Echo(text):
            typed = window.typing(state, text)
            if typed is None:
                return Turn(state)
            state = typed
        case Command("a"):
            return Turn(state, (Start("deliveries", {}),))
        case Move("enter"):
            row = window.at_cursor(state)
            return open_(state, row.number, "", context) if row else Turn(state)
        case Command("n" | "p" as key) | Move(key):
            state = window.turned(state, key, min(receive_view.listed(state), context.sight))
        case _:
            return Turn(state)
    return Turn(state, (query(state),))


def scanned(state: Receiving, meanings: list[Meaning], context: Context) -> Result:
    """A delivery's number, or a container of one or several."""
    code = meanings[0].code or meanings[0].key
    keys = list(dict.fromkeys(each.key for each in meanings))
    if state.number in keys:
        inside = {line.container.casefold() for line in state.lines}
        if code.casefold() in inside:
            return _container(state, code)
        return told(state, INFO, "receive.this_one", delivery=state.number)
    if state.number:
        switch = Way("switch", keys[0], label=code)
        return told(
            state._replace(ways=(switch, Way("stay"))),
            ASK,
            "receive.other_delivery",
            delivery=keys[0],
            mine=state.number,
        )
    if len(keys) == 1:
        return open_(state, keys[0], code, context)
    ways = tuple(Way("open", key, label=code) for key in keys[:WAYS])
    return told(state._replace(ways=ways), ASK, "receive.which_of", code=code)


def _container(state: Receiving, code: str) -> Result:
    mine = [line for line in state.lines if line.container.casefold() == code.casefold()]
    state = state._replace(container=mine[0].container)
    missing = len({line.product for line in mine if line.is_open})
    return told(state, GOOD, "receive.container", code=state.container, count=missing)
