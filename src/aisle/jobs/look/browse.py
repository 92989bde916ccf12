"""Browse the places: a list in the order of feet, one place with everything on it, and on to the next and the previous.

Opens from home, and on top of any job as a detour. What it shows are windows on the store's data; only which place is
looked at is part of the journal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aisle.jobs import at_work, window
from aisle.jobs.amounts import number, said
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
from aisle.jobs.look import browse_view
from aisle.jobs.look.browse_state import Browse, Held, Listed, Lying, Place, Way
from aisle.jobs.view import ASK, INFO, WRONG, Detail, ListWindow, Verdict, known, msg
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

AISLE = 120
"""Places that the map of an aisle shows at most."""

MOST = 100
"""Products of a place that its page has, by name: where a whole stockroom is one place, nobody reads them all."""

Result = Turn[Browse]


class BrowseJob:
    """From place to place, on the screen."""

    name = "browse"
    steps: tuple[str, ...] = ("browse.list", "browse.place")
    version = 3
    journalled = True

    def begin(self) -> Browse:
        """All places."""
        return Browse()

    def open(self, state: Browse) -> Open:
        """Rows are numbered; letters lead to the neighbours and turn the page."""
        letters = window.letters(state) if state.listing else "npr" + at_work.LETTERS
        return Open(choices=state.numbered + int(state.asked is not None), letters=letters, finds=state.listing)

    def prefers(self, state: Browse) -> tuple[str, ...]:
        """Places are what it is for."""
        return (LOCATION, PRODUCT, ORDER, REFERENCE, PERSON)

    def uses(self, state: Browse, product: str) -> bool:
        """What lies on the place that is looked at."""
        return state.place is not None and any(each.product == product for each in state.place.lying)

    def at(self, state: Browse) -> str:
        """One of `steps`."""
        return "browse.list" if state.listing else "browse.place"

    def view(self, state: Browse) -> ListWindow | Detail:
        """The list or the page."""
        return browse_view.listed(state) if state.listing else browse_view.page(state)

    def step(self, state: Browse, event: Event, context: Context) -> Result:
        """A scan jumps, words search, numbers choose, n and p go on and back."""
        match event:
            case Opened(args):
                return _opened(state, args, context)
            case Rows():
                return _answered(state, event, context)
            case Changed() | Closed():
                return Turn(state, _refresh(state, context))
            case Resumed():
                wishes = (Wish("location", state.code),) if state.code else ()
                return Turn(state, (*_refresh(state, context), *wishes))
            case Thing(meanings):
                return _thing(state, meanings[0])
            case Text(text) | Unknown(text):
                return _seek(state, text, context)
            case Echo(text):
                return _typed(state, text, context)
            case Choice(choice) if not state.listing or (state.asked and choice > state.numbered):
                return _choose(state, choice)
            case Command("c" | "t" as letter) if not state.listing:
                return Turn(state, (at_work.start(letter, place=state.code),))
            case Command(letter) if not state.listing:
                return _command(state, letter)
            case Move(key) if not state.listing:
                return Turn(state._replace(page=leafed(state.page, key)))
            case Back():
                return _back(state, context)
        return window.said(state, event, context, _list, _open)


_NAMES = Query("store", "store", {}, live=True)
"""What the store calls its pools."""


def _opened(state: Browse, args: Mapping[str, Any], context: Context) -> Result:
    """With a place its page, with words what they find, with nothing all places."""
    if args.get("location_code"):
        shown = _show(state, str(args["location_code"]))
        return shown._replace(effects=(_NAMES, *shown.effects))
    state = state._replace(over_list=True)
    if args.get("search"):
        sought = _seek(state, str(args["search"]), context)
        return sought._replace(effects=(_NAMES, *sought.effects))
    return Turn(state, _refresh(state, context))


def _show(state: Browse, code: str) -> Result:
    """Puts up the page of a place."""
    if code != state.code:
        state = state._replace(place=None)
    state = state._replace(code=code, typed="", page=0, asked=None)
    return Turn(state, (*_queries(code), Wish("location", code)))


def _queries(code: str) -> tuple[Query, ...]:
    return (
        Query("place", "place", {"location_code": code, "size": MOST}, live=True),
        Query("aisle", "places", {"beside": code, "size": AISLE}, live=True),
    )


def _list(state: Browse, context: Context) -> Query:
    return window.search("places", "places", {"search": state.typed or state.search}, state.first, room(context))


def _seek(state: Browse, text: str, context: Context) -> Result:
    found = window.search("found", "places", {"search": text}, 0, room(context))
    return Turn(state._replace(sought=text, typed="", asked=None), (found,))


def _refresh(state: Browse, context: Context) -> tuple[Effect, ...]:
    return (_NAMES, _list(state, context)) if state.listing else (_NAMES, *_queries(state.code))


# Answers


def _answered(state: Browse, answer: Rows, context: Context) -> Result:
    match answer:
        case Rows("places", rows, _):
            return window.answered(state, answer, tuple(_listed(row) for row in rows), context, _list)
        case Rows("found", rows, total):
            return _found(state, tuple(_listed(row) for row in rows), total, context)
        case Rows("chosen", rows, _) if rows:
            return _show(state, str(rows[0]["location_code"]))
        case Rows("place", rows, _):
            return Turn(state._replace(place=_place(rows[0]) if rows else None))
        case Rows("here", rows, _):
            return _is_here(state, tuple(_lying(one) for row in rows for one in row["products"]))
        case Rows("offered", rows, _):
            return _offered(state, rows)
        case Rows("aisle", rows, _):
            return Turn(state._replace(aisle=tuple(_listed(row) for row in rows)))
        case Rows("store", rows, _) if rows:
            names = rows[0].get("pools") or {}
            return Turn(state._replace(names=tuple((str(pool), str(name)) for pool, name in names.items())))
    return Turn(state)


def _listed(row: Mapping[str, Any]) -> Listed:
    tags = ", ".join(str(tag) for tag in row.get("tags") or ())
    return Listed(str(row["location_code"]), int(row["products"]), said(row["quantity"]), tags)


def _place(row: Mapping[str, Any]) -> Place:
    return Place(
        code=str(row["location_code"]),
        pool=int(number(row.get("default_stock_pool"))),
        tags=tuple(str(tag) for tag in row.get("tags") or ()),
        lying=tuple(_lying(one) for one in row["products"]),
        total=int(row["total"]),
        unnamed=bool(row.get("unnamed")),
        before=str(row.get("before") or ""),
        after=str(row.get("after") or ""),
    )


def _lying(row: Mapping[str, Any]) -> Lying:
    held = tuple(
        Held(str(one["order_number"]), int(one["line_number"]), number(one["quantity"])) for one in row["held"]
    )
    pools = tuple((str(pool), number(quantity)) for pool, quantity in row["pools"].items())
    label = str(row["description"] or row["product_number"])
    unit = str(row["unit"] or "") if row["allow_decimal"] else ""
    return Lying(str(row["product_number"]), label, said(row["quantity"]), unit, pools, held)


def _found(state: Browse, rows: tuple[Listed, ...], total: int, context: Context) -> Result:
    """The answer to words that were ended with Enter: one place opens at once, several are listed."""
    text, state = state.sought, state._replace(sought="")
    if not total:
        effects = _refresh(state, context) if state.listing else ()
        return Turn(state, effects, Verdict(WRONG, msg("browse.not_found", text=text)))
    if total == 1:
        return _show(state, rows[0].code)
    listed = state._replace(code="", search=text, rows=rows, total=total, first=0, cursor=-1, over_list=True)
    return Turn(listed, (), Verdict(INFO, msg("browse.found", text=text, count=total)))


# What is said


def _thing(state: Browse, meaning: Meaning) -> Result:
    state = state._replace(typed="", asked=None)
    label = meaning.label or meaning.key
    if meaning.kind == LOCATION:
        return _show(state, meaning.key)._replace(verdict=Verdict(INFO, msg("browse.shown", place=meaning.key)))
    if meaning.kind == PRODUCT:
        return _product(state, meaning.key, label)
    if meaning.kind in (ORDER, REFERENCE):
        way = Way("order", meaning.key)
        asked = Turn(state._replace(asked=way), (), Verdict(ASK, msg("lookup.is_order", order=meaning.key, who=label)))
        return asked._replace(effects=(Query("offered", "order", {"order_number": meaning.key}),))
    return Turn(state, (), Verdict(INFO, msg("browse.is_person", name=label)))


def _offered(state: Browse, rows: tuple[Mapping[str, Any], ...]) -> Result:
    """An order that nobody picks any more is not offered."""
    row = rows[0] if rows else {}
    gone = row.get("is_rejected") or row.get("is_active") is False
    if not gone or state.asked is None:
        return Turn(state)
    id_ = "walk.rejected" if row.get("is_rejected") else "walk.finished"
    told = Verdict(WRONG, msg(id_, order=state.asked.key))
    return Turn(state._replace(asked=None), (), told)


def _product(state: Browse, product: str, label: str) -> Result:
    """Whether it lies on the place on the screen; more of it is one digit away."""
    if state.listing:
        return Turn(state, (Start("lookup", {"product_number": product, "label": label}),))
    state = state._replace(asked=Way("product", product, label))
    return Turn(state, (Query("here", "place", {"location_code": state.code, "product_number": product}),))


def _is_here(state: Browse, lying: tuple[Lying, ...]) -> Result:
    """How much of what was scanned lies on the place on the screen, whether its page has it or not."""
    if state.asked is None:
        return Turn(state)
    label = state.asked.label or state.asked.key
    if not lying:
        return Turn(state, (), Verdict(ASK, msg("browse.not_here", label=label, place=state.code)))
    told = msg("browse.here", label=label, place=state.code, quantity=known(lying[0].quantity))
    return Turn(state, (), Verdict(ASK, told))


def _typed(state: Browse, text: str, context: Context) -> Result:
    listed = window.typing(state, text, "r", state.numbered + int(state.asked is not None))
    return Turn(state) if listed is None else Turn(listed, (_list(listed, context),))


def _choose(state: Browse, choice: int) -> Result:
    way, state = state.asked, state._replace(asked=None)
    if way and choice > state.numbered:
        if way.kind == "order":
            return Turn(state, (window.handed(way.key),))
        return Turn(state, (Start("lookup", {"product_number": way.key}),))
    if state.place is None or choice > state.numbered:
        return Turn(state)
    lying = state.place.lying[choice - 1]
    return Turn(state, (Start("lookup", {"product_number": lying.product, "label": lying.label}),))


def _open(state: Browse, row: Listed, context: Context) -> Result:
    return Turn(state, (_chosen(row.code),))


def _chosen(code: str) -> Query:
    """What was chosen from a window is asked for again by name, so that the journal knows what it was."""
    return Query("chosen", "place", {"location_code": code, "size": 0})


def _command(state: Browse, letter: str) -> Result:
    """On to the next place in the order of feet, back to the previous one, or to the next page of this one."""
    state = state._replace(asked=None)
    if letter == "r":
        return Turn(state._replace(page=state.page + 1))
    if state.place is None:
        return Turn(state)
    code = state.place.after if letter == "n" else state.place.before
    if not code:
        return Turn(state, (), Verdict(INFO, msg("browse.last" if letter == "n" else "browse.first")))
    return Turn(state, (_chosen(code),))


def _back(state: Browse, context: Context) -> Result:
    """From the page to the list, where it was found in one; else to where browsing began."""
    if state.asked:
        return Turn(state._replace(asked=None), (), Verdict(INFO, msg("session.dropped")))
    if state.code and state.over_list:
        listed = state._replace(code="", page=0)
        return Turn(listed, _refresh(listed, context))
    return Turn(state, (Close(),))
