"""Look up: one scan or a few typed letters bring a product, its places here, and what the stores around have.

It opens from home, and on top of any job as a detour: back leads to the step that was left. What it shows are windows
on the store's data; only which product is looked at is part of the journal, so that a resume stands on the same page.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aisle.jobs import at_work, window
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
    whole,
)
from aisle.jobs.look import lookup_view
from aisle.jobs.look.lookup_state import Hit, Lookup
from aisle.jobs.sheet import Around, around, coming, holders, sheet
from aisle.jobs.view import ASK, INFO, WRONG, Detail, ListWindow, Verdict, msg
from aisle.jobs.window import leafed, room
from aisle.scan.meaning import (
    LOCATION,
    ORDER,
    PERSON,
    PRODUCT,
    REFERENCE,
    Back,
    Choice,
    Command,
    Echo,
    Meaning,
    Move,
    Open,
    Text,
    Thing,
    Unknown,
)

HOLDERS = 40
"""Orders that the page shows."""

Result = Turn[Lookup]


class LookupJob:
    """From a scan, a word or nothing to all that is known of a product."""

    name = "lookup"
    steps: tuple[str, ...] = ("lookup.list", "lookup.product")
    version = 3
    journalled = True

    def begin(self) -> Lookup:
        """Nothing looked for."""
        return Lookup()

    def open(self, state: Lookup) -> Open:
        """Rows of the list or ways on; letters that turn the page."""
        if not state.listing:
            return Open(choices=len(state.ways), letters=f"{window.LETTERS}{at_work.LETTERS}e")
        return Open(choices=state.numbered + len(state.ways), letters=window.letters(state), finds=True)

    def prefers(self, state: Lookup) -> tuple[str, ...]:
        """Products are what it is for."""
        return (PRODUCT, LOCATION, ORDER, REFERENCE, PERSON)

    def at(self, state: Lookup) -> str:
        """One of `steps`."""
        return "lookup.list" if state.listing else "lookup.product"

    def view(self, state: Lookup) -> ListWindow | Detail:
        """The list or the page."""
        return lookup_view.listed(state) if state.listing else lookup_view.page(state)

    def wants(self, state: Lookup) -> bool:
        """While nothing was looked for."""
        return not (state.number or state.search or state.asked)

    def step(self, state: Lookup, event: Event, context: Context) -> Result:
        """A scan opens its page, words search, numbers choose."""
        match event:
            case Opened(args):
                return _opened(state, args, context)
            case Rows():
                return _answered(state, event, context)
            case Changed() | Closed() if state.listing and state.asked and not state.typed:
                return Turn(state)  # its number stands behind those of the rows
            case Changed() | Closed():
                return Turn(state.holding(), _refresh(state, context))
            case Resumed():
                if state.asked and state.sheet is None:
                    state = state._replace(kept=None)
                return Turn(state, (*_refresh(state, context), *_wishes(state.number)))
            case Thing(meanings):
                return _thing(state, meanings[0])
            case Text(text) | Unknown(text):
                return _seek(state, text, context)
            case Echo(text):
                return _typed(state, text, context)
            case Choice(choice) if choice > state.numbered:
                return _choose(state, choice - state.numbered)
            case Command("c" | "t" as letter) if not state.listing:
                return Turn(state, (at_work.start(letter, product=state.number, label=state.label),))
            case Command("e") if not state.listing:
                label = state.sheet.name if state.sheet else state.label
                return Turn(state, (Start("store_product", {"product_number": state.number, "label": label}),))
            case Command(key) | Move(key) if not state.listing:
                return Turn(state._replace(page=leafed(state.page, key)))
            case Back():
                return _back(state, context)
        return window.said(state, event, context, _list, _open)


def _opened(state: Lookup, args: Mapping[str, Any], context: Context) -> Result:
    """With a product its page, with words what they find, with nothing an empty list."""
    if args.get("product_number"):
        return _show(state, str(args["product_number"]), str(args.get("label") or ""))
    if args.get("search"):
        return _seek(state, str(args["search"]), context)
    return Turn(Lookup())


def _seek(state: Lookup, text: str, context: Context) -> Result:
    found = window.search("found", "search", {"search": text}, 0, room(context))
    return Turn(state._replace(sought=text, typed="", asked=""), (found,))


def _show(state: Lookup, product: str, label: str = "") -> Result:
    """Puts up the page of a product; what the cache has of it is there at once, the rest follows."""
    if product != state.number:
        state = state._replace(sheet=None, around=Around(), holders=(), coming=())
    state = state._replace(number=product, label=label, typed="", page=0, asked="")
    return Turn(state, (*_queries(product), *_wishes(product)))


def _queries(product: str) -> tuple[Query, ...]:
    args = {"product_number": product}
    return (
        Query("sheet", "product", args, live=True),
        Query("around", "surrounding", args, live=True),
        Query("holders", "holders", {**args, "size": HOLDERS}, live=True),
        Query("coming", "coming", args, live=True),
    )


def _wishes(product: str) -> tuple[Wish, ...]:
    return (Wish("product", product), Wish("surrounding", product)) if product else ()


def _list(state: Lookup, context: Context) -> Query:
    return window.search("hits", "search", {"search": state.typed or state.search}, state.first, room(context))


def _refresh(state: Lookup, context: Context) -> tuple[Effect, ...]:
    if not state.listing:
        return _queries(state.number)
    return (_list(state, context),) if state.typed or state.search else ()


# Answers


def _answered(state: Lookup, answer: Rows, context: Context) -> Result:
    match answer:
        case Rows("hits", rows, _):
            fresh = state._replace(partly=answer.partly)
            return window.answered(fresh, answer, tuple(_hit(row) for row in rows), context, _list)
        case Rows("found", rows, _):
            return _found(state, answer, tuple(_hit(row) for row in rows), context)
        case Rows("chosen", rows, _) if rows:
            return _show(state, str(rows[0]["product_number"]), str(rows[0].get("product_name") or ""))
        case Rows("sheet", rows, _):
            return Turn(state._replace(sheet=sheet(rows[0], context.now) if rows else None))
        case Rows("around", rows, _):
            return Turn(state._replace(around=around(rows, context.now)))
        case Rows("holders", rows, _):
            return Turn(state._replace(holders=holders(rows)))
        case Rows("coming", rows, _):
            return Turn(state._replace(coming=coming(rows, context.now)))
    return Turn(state)


def _hit(row: Mapping[str, Any]) -> Hit:
    stock = row.get("most_likely_quantity")
    return Hit(
        str(row["product_number"]),
        str(row.get("product_name") or ""),
        str(row.get("brand_description") or ""),
        "" if stock is None else whole(number(stock)),
        str(row.get("unit") or ""),
    )


def _found(state: Lookup, answer: Rows, rows: tuple[Hit, ...], context: Context) -> Result:
    """The answer to words that were ended with Enter: one product opens at once, where it is known to be the only one;
    several are listed."""
    text, total, partly = state.sought, answer.total, answer.partly
    state = state._replace(sought="")
    if not total:
        effects = _refresh(state, context) if state.listing else ()
        return Turn(state, effects, Verdict(WRONG, window.not_found("lookup.not_found", text, partly)))
    if total == 1 and not partly:
        return _show(state, rows[0].number, rows[0].name)
    listed = state._replace(number="", search=text, rows=rows, total=total, partly=partly, first=0, cursor=-1)
    found = "lookup.found_more" if partly else "lookup.found"
    return Turn(listed, (), Verdict(INFO, msg(found, text=text, count=total)))


# What is said


def _thing(state: Lookup, meaning: Meaning) -> Result:
    state = state._replace(typed="", asked="")
    label = meaning.label or meaning.key
    if meaning.kind == PRODUCT:
        return _show(state, meaning.key, label)._replace(verdict=Verdict(INFO, msg("lookup.shown", label=label)))
    if meaning.kind == LOCATION:
        return Turn(state, (Start("browse", {"location_code": meaning.key}),))
    if meaning.kind in (ORDER, REFERENCE):
        told = msg("lookup.is_order", order=meaning.key, who=label)
        return Turn(state.offering(meaning.key), (), Verdict(ASK, told))
    return Turn(state, (), Verdict(INFO, msg("lookup.is_person", name=label)))


def _typed(state: Lookup, text: str, context: Context) -> Result:
    """Find as you type; while the page of a product is open, its ways on are the numbers."""
    listed = window.typing(state, text, numbered=state.numbered + len(state.ways))
    if listed is None:
        return Turn(state)
    if not listed.typed and (state.number or not state.search):
        return Turn(listed._replace(rows=(), total=0))
    return Turn(listed, (_list(listed, context),))


def _choose(state: Lookup, choice: int) -> Result:
    if choice > len(state.ways):
        return Turn(state)
    way = state.ways[choice - 1]
    return Turn(state, (window.handed(way.key) if way.kind == "order" else _chosen(way.key),))


def _open(state: Lookup, row: Hit, context: Context) -> Result:
    return Turn(state, (_chosen(row.number),))


def _chosen(product: str) -> Query:
    """What was chosen from a window is asked for again by name, so that the journal knows what it was."""
    return Query("chosen", "product", {"product_number": product})


def _back(state: Lookup, context: Context) -> Result:
    """From the page to the list that it was found in, else to where the look began."""
    if state.asked:
        state = state._replace(asked="")
        return Turn(state, _refresh(state, context), Verdict(INFO, msg("session.dropped")))
    if state.number and state.search:
        listed = state._replace(number="", page=0, cursor=-1)
        return Turn(listed, _refresh(listed, context))
    return Turn(state, (Close(),))
