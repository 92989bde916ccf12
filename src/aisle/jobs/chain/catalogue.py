"""The chain's catalogue: found by words, by category, supplier and what few products are; one with all that it has.

Interface: Products. Only pages to look at, so nothing of it is journalled.
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
    Start,
    Turn,
    Wish,
)
from aisle.jobs.chain import catalogue_view
from aisle.jobs.chain.catalogue_sheet import Facet, Hit, facet_of, hit_of, page_of
from aisle.jobs.chain.catalogue_state import Catalogue
from aisle.jobs.numbers import what_is
from aisle.jobs.view import INFO, WRONG, Verdict, View, msg
from aisle.jobs.window import leafed, room
from aisle.scan.meaning import PRODUCT, Back, Choice, Command, Meaning, Move, Open, Text, Thing, Unknown

SHOWS = ("all", "promotion", "set", "by_hand", "ended")
"""What the list shows, one after the other."""

KINDS = {"c": "category", "s": "supplier"}
"""The letters of what products are gathered by."""

Result = Turn[Catalogue]


class CatalogueJob:
    """The products of the chain."""

    name = "products"
    steps: tuple[str, ...] = ("products", "products.filter", "products.page")
    version = 1
    journalled = False

    def begin(self) -> Catalogue:
        """All of them."""
        return Catalogue()

    def open(self, state: Catalogue) -> Open:
        """Rows and ways are numbered; letters filter."""
        if state.number:
            return Open(choices=len(catalogue_view.ways(state)), letters=window.LETTERS)
        letters = f"{_filters(state)}{window.letters(state)}"
        return Open(choices=window.numbered_rows(state), letters=letters, finds=True)

    def prefers(self, state: Catalogue) -> tuple[str, ...]:
        """Products are what it is for."""
        return (PRODUCT,)

    def at(self, state: Catalogue) -> str:
        """One of `steps`."""
        return "products.page" if state.number else "products.filter" if state.kind else "products"

    def view(self, state: Catalogue) -> View:
        """The list, what it can be filtered by, or the page."""
        if state.number:
            return catalogue_view.page(state)
        return catalogue_view.facets(state) if state.kind else catalogue_view.listed(state)

    def step(self, state: Catalogue, event: Event, context: Context) -> Result:
        """A scan opens, words find, numbers choose."""
        match event:
            case Opened(args):
                number = str(args.get("product_number") or "")
                return _show(state, number) if number else Turn(state, (_query(state, context),))
            case Rows(id_, rows, _):
                return _rows(state, event, id_, rows, context)
            case Resumed() | Closed() | Changed("product" | "outbox"):
                return Turn(state, _refresh(state, context))
            case Thing(meanings):
                return _thing(state, meanings[0])
            case Back():
                return _back(state, context)
        if state.number:
            return _paged(state, event, context)
        return _listed(state, event, context)


def _filters(state: Catalogue) -> str:
    """The letters that filter."""
    return "" if state.kind or state.among else "vcs"


def _refresh(state: Catalogue, context: Context) -> tuple[Effect, ...]:
    return (_one(state.number),) if state.number else (_query(state, context),)


def _query(state: Catalogue, context: Context) -> Query:
    args: dict[str, Any] = {"search": state.typed or state.search, "first": state.first, "size": room(context)}
    if state.kind:
        return Query("facets", "facets", {**args, "kind": state.kind}, live=True)
    filter_: dict[str, Any] = {"show": state.show, "category": state.category, "supplier": state.supplier}
    if state.among:
        filter_, args["search"] = {"among": list(state.among)}, state.typed
    return Query("list", "catalogue", {**args, **filter_}, live=True)


def _one(number: str) -> Query:
    return Query("one", "catalogue_page", {"product_number": number}, live=True)


def _rows(state: Catalogue, answer: Rows, id_: str, rows: tuple[Mapping[str, Any], ...], context: Context) -> Result:
    if id_ == ("facets" if state.kind else "list"):
        read = facet_of if state.kind else hit_of
        came = window.answered(
            state._replace(partly=answer.partly), answer, tuple(read(row) for row in rows), context, _query
        )
        if came.effects or not state.opening:
            return came
        fresh = came.state._replace(opening=False)
        return (
            _chosen(fresh, fresh.rows[0], context)
            if answer.total == 1 and fresh.rows and not fresh.partly
            else Turn(fresh)
        )
    if id_ == "one" and rows:
        return Turn(state._replace(sheet=page_of(rows[0], context.now)))
    if id_ == "one":
        return Turn(state._replace(sheet=None))
    return Turn(state)


def _show(state: Catalogue, number: str) -> Result:
    """The page of a product; what the cache has of it is there at once, the rest follows."""
    trail = (*state.trail, state.number) if state.number and state.number != number else state.trail
    state = state._replace(number=number, trail=trail, sheet=None, page=0, typed="")
    return Turn(state, (_one(number), Wish("product", number)))


def _thing(state: Catalogue, meaning: Meaning) -> Result:
    label = meaning.label or meaning.key
    if meaning.kind != PRODUCT:
        return Turn(state, (), Verdict(WRONG, msg("products.not_this", what=what_is(meaning))))
    return _show(state, meaning.key)._replace(verdict=Verdict(INFO, msg("lookup.shown", label=label)))


def _paged(state: Catalogue, event: Event, context: Context) -> Result:
    match event:
        case Choice(choice):
            ways = catalogue_view.ways(state)
            if choice > len(ways):
                return Turn(state)
            way = ways[choice - 1]
            if way.job:
                args = {"product_number": state.number, "label": state.sheet.name if state.sheet else ""}
                return Turn(state, (Start(way.job, args),))
            kin = state.bare(among=catalogue_view.kin_of(state), trail=(*state.trail, state.number))
            return Turn(kin, (_query(kin, context),))
        case Command("n" | "p" as key) | Move(key):
            return Turn(state._replace(page=leafed(state.page, key)))
        case Text(text) | Unknown(text):
            found = state.bare(search=text, opening=True)
            return Turn(found, (_query(found, context),))
    return Turn(state)


def _listed(state: Catalogue, event: Event, context: Context) -> Result:
    match event:
        case Text(text) | Unknown(text):
            found = state.bare(search=text, opening=True, kind=state.kind)
            return Turn(found, (_query(found, context),))
        case Command("v") if _filters(state):
            state = state.bare(show=SHOWS[(SHOWS.index(state.show) + 1) % len(SHOWS)])
            return Turn(state, (_query(state, context),), Verdict(INFO, catalogue_view.title_of(state)))
        case Command("c" | "s" as letter) if _filters(state):
            return _gathered(state, KINDS[letter], context)
    return window.said(state, event, context, _query, _chosen, _filters(state))


def _gathered(state: Catalogue, kind: str, context: Context) -> Result:
    """What products can be gathered by; where they are, that is let go instead."""
    if getattr(state, kind):
        state = state.bare(**{kind: "", f"{kind}_name": ""})
        return Turn(state, (_query(state, context),), Verdict(INFO, catalogue_view.title_of(state)))
    state = state.bare(kind=kind, search="")
    return Turn(state, (_query(state, context),))


def _chosen(state: Catalogue, row: Hit | Facet, context: Context) -> Result:
    if isinstance(row, Hit):
        return _show(state, row.number)
    state = state.bare(search="", **{state.kind: row.code, f"{state.kind}_name": row.name})
    return Turn(state, (_query(state, context),), Verdict(INFO, catalogue_view.title_of(state)))


def _back(state: Catalogue, context: Context) -> Result:
    """From the page to the one below it, to the list, to all of it, to where it was opened."""
    if state.trail:
        below = state.bare(number=state.trail[-1], trail=state.trail[:-1])
        return Turn(below, (_one(below.number),))
    if state.number:
        shut = state._replace(number="", sheet=None)
        return Turn(shut, (_query(shut, context),))
    if state.kind or state.typed or state.search:
        shut = state.bare(search="")
        return Turn(shut, (_query(shut, context),))
    if state != Catalogue(rows=state.rows, total=state.total, first=state.first, cursor=state.cursor):
        return Turn(Catalogue(), (_query(Catalogue(), context),))
    return Turn(state, (Close(),))
