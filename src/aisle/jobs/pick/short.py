"""Short: something of a stop is missing. One page says where else it lies, what the stores around have and when more
comes, and asks why: one digit takes the rest elsewhere or closes the line, another rejects the order.

It opens on top of a picking job and answers it (`Closed`): it writes nothing itself, for the line, its place and its
undo are that job's. What it asks the books is part of the journal, so that a number means the same after a resume; what
only informs is not.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
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
from aisle.jobs.pick import short_view
from aisle.jobs.pick.short_state import Need, Shortage
from aisle.jobs.pick.short_ways import Reason, Way, fitting, kept_reasons, kept_spots, reasons, ways_of
from aisle.jobs.sheet import around, coming, sheet
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Detail, Verdict, msg
from aisle.jobs.window import leafed
from aisle.scan.meaning import (
    LOCATION,
    ORDER,
    PERSON,
    PRODUCT,
    REFERENCE,
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

FEATURE = "line-reasons"
"""The word by which a service announces that it keeps the reason of a line."""

Result = Turn[Shortage]


class ShortJob:
    """From "there is not enough" to what becomes of it."""

    name = "short"
    steps: tuple[str, ...] = ("short.ways", "short.which", "short.why")
    version = 3
    journalled = True

    def begin(self) -> Shortage:
        """Nothing is missing yet."""
        return Shortage(reasons=reasons(()))

    def open(self, state: Shortage) -> Open:
        """The numbers of the page; letters turn it."""
        stand_for = (state.asked,) if state.sure else (*state.own, *((state.asked,) if state.asked else ()))
        return Open(choices=state.numbered, letters="np", by_hand=state.phase == "why", stand_for=stand_for)

    def prefers(self, state: Shortage) -> tuple[str, ...]:
        """A place to take it from, or the product that was found after all."""
        return (LOCATION, PRODUCT, ORDER, REFERENCE)

    def uses(self, state: Shortage, product: str) -> bool:
        """What is missing: it was found after all."""
        return product == state.product

    def at(self, state: Shortage) -> str:
        """One of `steps`."""
        return f"short.{state.phase}"

    def view(self, state: Shortage) -> Detail:
        """All of it on one page."""
        return short_view.view(state)

    def step(self, state: Shortage, event: Event, context: Context) -> Result:
        """A number or a place decides; the product itself leads back to the pick."""
        turn = self._step(state, event, context)
        return turn._replace(state=_more(turn.state))

    def _step(self, state: Shortage, event: Event, context: Context) -> Result:
        match event:
            case Opened(args):
                return _opened(args, context)
            case Rows(id_, rows, _):
                return Turn(_answered(state, id_, rows, context))
            case Changed("product" | "surrounding" | "order" | "delivery" | "outbox") | Closed():
                return Turn(state, _queries(state))
            case Resumed():
                return Turn(state, (*_queries(state), *_wishes(state)))
            case Thing(meanings):
                return _thing(state, event, meanings)
            case Choice(choice) if choice <= state.numbered:
                return _chosen(state, choice)
            case Command("n" | "p" as letter):
                return Turn(state._replace(page=state.page + (1 if letter == "n" else -1)))
            case Move(key):
                return Turn(state._replace(page=leafed(state.page, key)))
            case Unknown(code) | Text(code):
                return _told(state._replace(asked=None), WRONG, "short.unknown", code=code)
            case Back():
                return _back(state)
        return Turn(state)


def _told(state: Shortage, kind: str, id_: str, *effects: Effect, **args: str | int | Decimal) -> Result:
    return Turn(state, effects, Verdict(kind, msg(id_, **args)))


def _opened(args: Mapping[str, Any], context: Context) -> Result:
    """All that is known is on the page at once; what the service knows better comes when it comes."""
    needs = tuple(
        Need(
            str(one.get("order_number") or ""),
            int(number(one.get("line_number"))),
            str(one.get("tote") or ""),
            number(one.get("rest")),
        )
        for one in args.get("orders") or ()
    )
    product, place = str(args.get("product_number") or ""), str(args.get("place") or "")
    state = Shortage(
        needs=needs,
        product=product,
        label=str(args.get("label") or product),
        place=place,
        pool=int(number(args.get("pool"))),
        pools=tuple(int(number(pool)) for pool in args.get("pools") or ()),
        of=number(args.get("of")),
        rest=number(args.get("rest")),
        unit=str(args.get("unit") or "") if args.get("decimal") else "",
        reasons=fitting(reasons(context.policy.short_reasons), place),
    )
    state = state._replace(ways=_ways_of(state))
    verdict = Verdict(INFO, msg("short.opened", rest=state.rest, label=state.label))
    return Turn(state, (*_queries(state), *_wishes(state)), verdict)


def _queries(state: Shortage) -> tuple[Query, ...]:
    args = {"product_number": state.product}
    return (
        Query("spots", "elsewhere", {**args, "place": state.place, "pools": list(state.pools)}),
        Query("reasons", "short_reasons", {}),
        Query("sheet", "product", args, live=True),
        Query("around", "surrounding", args, live=True),
        Query("coming", "coming", args, live=True),
        Query("features", "features", {}, live=True),
    )


def _wishes(state: Shortage) -> tuple[Wish, ...]:
    return (Wish("product", state.product), Wish("surrounding", state.product))


# What is known


def _answered(state: Shortage, id_: str, rows: tuple[Mapping[str, Any], ...], context: Context) -> Shortage:
    match id_:
        case "spots":
            state = state._replace(spots=kept_spots(state.spots, rows))
            return state if state.known else state._replace(known=True, ways=_ways_of(state))
        case "reasons":
            found = fitting(reasons(context.policy.short_reasons, rows), state.place)
            return state._replace(reasons=kept_reasons(state.reasons, found))
        case "sheet":
            return state._replace(sheet=sheet(rows[0], context.now) if rows else None)
        case "around":
            return state._replace(around=around(rows, context.now))
        case "coming":
            return state._replace(coming=coming(rows, context.now))
        case "features":
            return state._replace(kept=not rows or FEATURE in rows[0]["features"])
    return state


def _ways_of(state: Shortage) -> tuple[Way, ...]:
    return ways_of(state.spots, state.reasons, may_reject=bool(state.orders))


def _more(state: Shortage) -> Shortage:
    """Ways that were not heard of before, behind those that have a number already; what a scan led to keeps its own
    while it is offered."""
    if state.asked:
        return state
    return state._replace(ways=(*state.ways, *(way for way in _ways_of(state) if way not in state.ways)))


# What is said


def _chosen(state: Shortage, choice: int) -> Result:
    way, state = state.asked, state._replace(asked=None)
    if way and (way.kind == "reject" or choice > len(state.own)):
        if way.kind == "product":
            return Turn(state, (Start("lookup", {"product_number": way.key}),))
        if way.kind == "reject":
            return _rejected(state, next(reason for reason in state.reasons if reason.code == way.key))
        return _elsewhere(state, way.key, _pool_at(state, way.key))
    if state.phase == "which":
        return _why(state._replace(order=state.orders[choice - 1]))
    if state.phase == "why":
        return _sure(state, state.reasons[choice - 1])
    way = state.ways[choice - 1]
    if way.kind == "place":
        return _at_place(state, way.key)
    if way.kind == "reason":
        return _closed(state, next(reason for reason in state.reasons if reason.code == way.key))
    if len(state.orders) > 1:
        return _told(state._replace(phase="which", page=0), INFO, "short.which")
    return _why(state._replace(order=state.orders[0]))


def _why(state: Shortage) -> Result:
    return _told(state._replace(phase="why", page=0), INFO, "short.why", order=state.order)


def _sure(state: Shortage, reason: Reason) -> Result:
    """Two digits that were meant for something else reject no order."""
    asked = state._replace(asked=Way("reject", reason.code), page=0)
    return _told(asked, ASK, "short.sure", order=state.order, words=reason.words)


def _thing(state: Shortage, thing: Thing, meanings: tuple[Meaning, ...]) -> Result:
    """The product itself was found after all; a place is as good as its number."""
    state = state._replace(asked=None)
    if any(meaning.kind == PRODUCT and meaning.key == state.product for meaning in meanings):
        return Turn(state, (Close(said=thing),))
    place = next((meaning for meaning in meanings if meaning.kind == LOCATION), None)
    first = meanings[0]
    if place and state.phase == "ways":
        return _at_place(state, place.key)
    if place:
        return _told(state, WRONG, "short.answer_first", what=place.key)
    label = first.label or first.key
    if first.kind == PRODUCT:
        asked = state._replace(asked=Way("product", first.key))
        return _told(asked, ASK, "short.other_product", what=label, label=state.label)
    if first.kind == PERSON:
        return _told(state, WRONG, "short.person", name=label)
    return _told(state, WRONG, "short.answer_first", what=first.key)


def _at_place(state: Shortage, place: str) -> Result:
    """Where it lies by the books it is taken at once; elsewhere somebody has to see it there."""
    if place.casefold() == state.place.casefold():
        return _told(state, WRONG, "short.here", place=place, label=state.label)
    spot = next((spot for spot in state.spots if spot.place.casefold() == place.casefold()), None)
    if spot and spot.quantity > 0:
        return _elsewhere(state, spot.place, spot.pool)
    asked = state._replace(asked=Way("place", place))
    return _told(asked, ASK, "short.none_there", place=place, label=state.label)


def _pool_at(state: Shortage, place: str) -> int:
    return next((spot.pool for spot in state.spots if spot.place == place), 0) or state.pool


# What comes of it


def _elsewhere(state: Shortage, place: str, pool: int) -> Result:
    answer = {"kind": "elsewhere", "place": place, "pool": pool, "label": state.label}
    return _told(state, GOOD, "short.elsewhere", Close(answer=answer), place=place, label=state.label)


def _closed(state: Shortage, reason: Reason) -> Result:
    answer = {"kind": "short", **_said(state, reason), "empty": reason.empty}
    id_ = "short.closed" if state.kept else "short.closed_here"
    return _told(state, GOOD, id_, Close(answer=answer), rest=state.rest, words=reason.words)


def _rejected(state: Shortage, reason: Reason) -> Result:
    answer = {"kind": "reject", **_said(state, reason), "order_number": state.order}
    return _told(state, GOOD, "short.rejected", Close(answer=answer), order=state.order, words=reason.words)


def _said(state: Shortage, reason: Reason) -> dict[str, Any]:
    return {"code": reason.code, "words": reason.words, "kept": state.kept}


def _back(state: Shortage) -> Result:
    """One question back; from the first, to the pick, where nothing has happened."""
    if state.asked:
        return _told(state._replace(asked=None), INFO, "session.dropped")
    if state.phase == "why" and len(state.orders) > 1:
        return _told(state._replace(phase="which", order="", page=0), INFO, "short.which")
    if state.phase != "ways":
        return _told(state._replace(phase="ways", order="", page=0), INFO, "session.dropped")
    return _told(state, INFO, "short.left", Close())
