"""The job `walk`: gathers the orders of a round, each with its tote, and says how many stops that saves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs.amounts import number
from aisle.jobs.base import Changed, Close, Closed, Context, Effect, Event, Opened, Query, Resumed, Rows, Start, Turn
from aisle.jobs.claim import claim_of
from aisle.jobs.numbers import NUMBER_OF, is_number_of, what_is
from aisle.jobs.pick import gather_view
from aisle.jobs.pick.gather_state import Chosen, Gathering, Way
from aisle.jobs.pick.given import given_to
from aisle.jobs.pick.orders import QUERY, look
from aisle.jobs.pick.picking import LETTERS, MOST
from aisle.jobs.pick.walk import takes
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

SPARE = 20
"""So many more open orders are looked through than are wanted: somebody else may work on some of them."""

HOW_MANY = 2
"""Digits up to which an unknown number says how many orders are to be taken."""

ALL_THE_SAME = "all_the_same"
"""The way by which an order comes in that somebody else picks."""

Result = Turn[Gathering]


class WalkJob:
    """Scan order after order, or say how many; then go."""

    name = "walk"
    steps: tuple[str, ...] = ("walk",)
    version = 7
    journalled = True

    def begin(self) -> Gathering:
        """No order yet."""
        return Gathering()

    def open(self, state: Gathering) -> Open:
        """A number says how many orders, also where something is asked: letters answer that. Totes are taken out by
        number."""
        letters, keys = ("gtu" if state.chosen else "") + "np", gather_view.keys(state)
        labels = f"{LETTERS}0" if state.chosen else ""
        return Open(choices=state.numbered, letters=letters, labels=labels, search=bool(keys), keys=keys)

    def prefers(self, state: Gathering) -> tuple[str, ...]:
        """Orders: nothing else is gathered."""
        return (ORDER, REFERENCE, PRODUCT, LOCATION)

    def at(self, state: Gathering) -> str:
        """There is one page."""
        return self.name

    def view(self, state: Gathering) -> Detail:
        """The totes, and what they make together."""
        return gather_view.view(state)

    def step(self, state: Gathering, event: Event, context: Context) -> Result:
        """A scan adds, a number adds the next ones, a letter starts."""
        match event:
            case Opened() | Resumed() | Closed() | Changed() | Rows():
                return _told(state, event, context)
            case Back():
                return _back(state)
            case Choice(choice) if choice <= state.numbered:
                return _out(state, state.chosen[choice - 1].order) if state.taking_out else _way(state, choice)
            case Thing(meanings):
                return _thing(state, meanings)
            case Unknown(code):
                return _code(state, code)
            case Text(text):
                return _words(state, text)
            case Move(key):
                return Turn(state._replace(page=leafed(state.page, key)))
            case Command("n" | "p" as letter):
                return Turn(state._replace(page=state.page + (1 if letter == "n" else -1)))
            case Command("g"):
                return _go(state)
            case Command("t"):
                return _say(state._replace(taking_out=True, ways=()), ASK, "walk.which_out")
            case Command("u") if state.chosen:
                return _out(state, state.chosen[-1].order)
        return Turn(state)


def letter_of(state: Gathering, order: str) -> str:
    """The letter of an order's tote; they are given anew where one is taken out."""
    return next((LETTERS[index] for index, each in enumerate(state.chosen) if each.order == order), "")


def _say(state: Gathering, kind: str, id_: str, *effects: Effect, **args: str | int | Decimal) -> Result:
    return Turn(state, effects, Verdict(kind, msg(id_, **args)))


# What comes from elsewhere


def _told(state: Gathering, event: Event, context: Context) -> Result:
    match event:
        case Opened():
            return Turn(state, (given_to(context),))
        case Changed("outbox"):
            return Turn(state, (given_to(context),))
        case Rows("given", rows, _):
            return _given(state, rows)
        case Rows("orders", rows, _):
            return _next_ones(state, rows, context)
        case Rows(id_, rows, _):
            return _arrived(state, id_.removeprefix(QUERY), rows[0] if rows else {}, context)
        case Changed("order", key) if key in ("", *(each.order for each in state.chosen)):
            return Turn(state, look((each.order for each in state.chosen if key in ("", each.order)), wish=False))
        case Resumed() | Closed():
            return Turn(state, (*look(each.order for each in state.chosen), given_to(context)))
    return Turn(state)


def _arrived(state: Gathering, order: str, row: Mapping[str, Any], context: Context) -> Result:
    """An order as it stands now: its tote is said the first time; one that cannot be picked leaves."""
    at = next((index for index, each in enumerate(state.chosen) if each.order == order), -1)
    if at < 0:
        return Turn(state)
    was = state.chosen[at]
    why = _refusal(row)
    if why:
        left = _without(state, order)
        return _say(left, WRONG, why, order=order)
    owner = _owner(row, context)
    if owner is not None and not was.sure:
        asked = _without(state, order)
        asked = asked._replace(ways=(*asked.ways, Way(ALL_THE_SAME, order)))
        if owner:
            return _say(asked, ASK, "walk.claimed", order=order, who=owner)
        return _say(asked, ASK, "walk.claimed_plain", order=order)
    now = _chosen(was, row)
    state = state._replace(chosen=(*state.chosen[:at], now, *state.chosen[at + 1 :]))
    if not now.known or was.known:
        return Turn(state)
    stops, single = state.stops
    args = {"tote": LETTERS[at], "order": order}
    return _say(state, GOOD, "walk.added", lines=now.lines, pickup=now.pickup, saved=single - stops, **args)


def _given(state: Gathering, rows: Iterable[Mapping[str, Any]]) -> Result:
    """Orders of other people's walks that were given to this one come in by themselves, and are told of."""
    fresh = [row for row in rows if str(row["order_number"]) not in state.told]
    orders = [str(row["order_number"]) for row in fresh]
    state = state._replace(told=(*state.told, *orders))
    mine = [order for order in orders if not letter_of(state, order)][: MOST - len(state.chosen)]
    if not mine:
        return Turn(state)
    added = state._replace(chosen=(*state.chosen, *(Chosen(order) for order in mine)))
    told = msg("walk.given", order=mine[0], count=len(mine), who=str(fresh[0]["by"]))
    return Turn(added, look(mine), Verdict(ASK, told))


def _refusal(row: Mapping[str, Any]) -> str:
    if not row:
        return "walk.no_order"
    if row.get("is_rejected"):
        return "walk.rejected"
    if not row.get("is_active", True):
        return "walk.finished"
    lines = takes(row.get("lines") or ())
    if row.get("lines_known", True) and not any(take.open for take in lines):
        return "walk.picked" if lines else "walk.empty"
    return ""


def _owner(row: Mapping[str, Any], context: Context) -> str | None:
    """Who else picks it; empty where nobody says, None where nobody does."""
    claim = claim_of(row, context)
    return claim.who if claim else None


def _chosen(was: Chosen, row: Mapping[str, Any]) -> Chosen:
    open_ = [take for take in takes(row.get("lines") or ()) if take.open]
    return was._replace(
        who=str(row.get("customer_name") or row.get("reference") or ""),
        pickup=str(row.get("pickup_date") or ""),
        lines=len(open_) if open_ else int(number(row.get("total_lines"))),
        pieces=sum((Decimal(1) if take.decimal else take.rest for take in open_), Decimal(0)),
        stops=tuple(dict.fromkeys(take.stop for take in open_)),
        known=bool(row.get("lines_known", True)),
    )


def _next_ones(state: Gathering, rows: Iterable[Mapping[str, Any]], context: Context) -> Result:
    """The next open orders that nobody else works on, in the order of their pickup."""
    mine = {each.order for each in state.chosen}
    free = [str(row["order_number"]) for row in rows if _owner(row, context) is None]
    found = [order for order in free if order not in mine][: min(state.wanted, MOST - len(mine))]
    state = state._replace(wanted=0)
    if not found:
        return _say(state, WRONG, "walk.none_left")
    added = state._replace(chosen=(*state.chosen, *(Chosen(order) for order in found)))
    return Turn(added, look(found), Verdict(GOOD, msg("walk.taken", count=len(found))))


# What somebody says


def _thing(state: Gathering, meanings: tuple[Meaning, ...]) -> Result:
    """An order comes in; all else is told what it is."""
    first = next((each for each in meanings if each.kind in (ORDER, REFERENCE)), meanings[0])
    code, label = first.code or first.key, first.label or first.key
    if first.kind in (ORDER, REFERENCE):
        return _add(state, first.key)
    if _is_count(code):
        if is_number_of(first.kind, Decimal(code)):
            return _asked_number(state, code, first)
        if _is_asked(state):
            return _asked_many(state, code)
        return _take_next(state, int(code))
    if first.kind == PRODUCT:
        asked = state._replace(ways=(Way("look_up", first.key),), taking_out=False)
        return _say(asked, WRONG, "walk.product", label=label)
    if first.kind not in (PERSON, LOCATION):
        return Turn(state, (), Verdict(WRONG, msg("walk.not_this", what=what_is(first))))
    return _say(state, WRONG, "walk.person" if first.kind == PERSON else "walk.place", what=label)


def _add(state: Gathering, order: str, *, sure: bool = False) -> Result:
    state = state._replace(ways=(), taking_out=False)
    letter = letter_of(state, order)
    if letter:
        return _say(state._replace(ways=(Way("out", order),)), ASK, "walk.already", tote=letter, order=order)
    if len(state.chosen) >= MOST:
        return _say(state, WRONG, "walk.full", count=MOST)
    added = state._replace(chosen=(*state.chosen, Chosen(order, sure=sure)))
    told = msg("walk.coming", tote=letter_of(added, order), order=order)
    return Turn(added, look((order,)), Verdict(GOOD, told))


def _is_count(code: str) -> bool:
    return code.isdecimal() and code.isascii() and len(code) <= HOW_MANY and int(code) > 0


def _code(state: Gathering, code: str) -> Result:
    """A small number says how many; a code behind an order is that of its tote. A number is asked about, and what looks
    like an order."""
    if _is_count(code):
        return _asked_many(state, code) if _is_asked(state) else _take_next(state, int(code))
    if not state.chosen or (len(code) <= HOW_MANY and code not in tuple(LETTERS)):
        return _say(state, WRONG, "walk.unknown", code=code)
    if code in tuple(LETTERS[:MOST]):
        return _lettered(state, code)
    if any(each.code.casefold() == code.casefold() for each in state.chosen):
        return _named(state, code)
    if code.isdecimal() or any(_shape(each.order) == _shape(code) for each in state.chosen):
        asked = state._replace(ways=(Way("is_tote", code),), taking_out=False)
        return _say(asked, ASK, "walk.like_an_order", code=code)
    return _named(state, code)


def _is_asked(state: Gathering) -> bool:
    """Whether something else is asked than how many are meant."""
    return any(way.kind != "many" for way in state.ways)


def _asked_many(state: Gathering, code: str) -> Result:
    """So many orders beside an open question only where somebody says so; that stays asked, by the same letters."""
    others = tuple(way for way in state.ways if way.kind not in ("many", *NUMBER_OF))
    asked = state._replace(ways=(*others, Way("many", code)))
    return _say(asked, ASK, "walk.many", count=int(code))


def _asked_number(state: Gathering, code: str, meaning: Meaning) -> Result:
    """A small number that is one of the store: so many orders only where somebody says so."""
    ways = (Way("many", code), Way(f"is_{meaning.kind}", meaning.label or meaning.key))
    asked = state._replace(ways=ways, taking_out=False)
    return Turn(asked, (), Verdict(ASK, msg("count.number_of_other", value=int(code), what=what_is(meaning))))


def _lettered(state: Gathering, letter: str) -> Result:
    """A letter that the round gives to its totes stands on no other of them: the screen would name one of two. What
    stands on its own tote is not kept, for letters are given anew."""
    order = next((each.order for each in state.chosen if letter_of(state, each.order) == letter), "")
    if not order:
        return _say(state, WRONG, "walk.unknown", code=letter)
    if order != state.chosen[-1].order:
        return _say(state, WRONG, "walk.tote_twice", code=letter)
    return _say(state._replace(ways=(), taking_out=False), GOOD, "walk.tote", tote=letter, code=letter, order=order)


def _shape(code: str) -> str:
    """What a code looks like: digits and letters each by one sign."""
    return "".join("0" if char.isdecimal() else "a" if char.isalpha() else char for char in code)


def _named(state: Gathering, code: str) -> Result:
    """The tote of the last order has this on it."""
    *others, last = state.chosen
    if any(each.code.casefold() == code.casefold() for each in others):
        return _say(state, WRONG, "walk.tote_twice", code=code)
    state = state._replace(chosen=(*others, last._replace(code=code)), ways=(), taking_out=False)
    return _say(state, GOOD, "walk.tote", tote=letter_of(state, last.order), code=code, order=last.order)


def _words(state: Gathering, text: str) -> Result:
    """Words find something; what has a digit, or capitals alone as labels have, may stand on a tote."""
    if " " in text or not (text.isupper() or any(char.isdigit() for char in text)):
        return _say(state, WRONG, "walk.unknown", code=text)
    return _code(state, text)


def _take_next(state: Gathering, count: int) -> Result:
    state = state._replace(ways=(), taking_out=False)
    room = MOST - len(state.chosen)
    if not room:
        return _say(state, WRONG, "walk.full", count=MOST)
    wanted = min(count, room)
    query = Query("orders", "orders", {"first": 0, "size": wanted + len(state.chosen) + SPARE})
    return Turn(state._replace(wanted=wanted), (query,))


def _way(state: Gathering, choice: int) -> Result:
    way = state.ways[choice - 1]
    others = tuple(each for each in state.ways if each is not way)
    state = state._replace(ways=())
    if way.kind == "many":
        turn = _take_next(state, int(way.key))
        return turn._replace(
            state=turn.state._replace(ways=tuple(each for each in others if each.kind not in NUMBER_OF))
        )
    if way.kind in NUMBER_OF:
        return _say(state, INFO, "session.dropped")
    if way.kind == "look_up":
        return Turn(state, (Start("lookup", {"product_number": way.key}),))
    if way.kind == "leave":
        return _left(state)
    if way.kind == "is_tote":
        return _named(state, way.key) if state.chosen else Turn(state)
    if way.kind == "out":
        return _out(state, way.key)
    added = _add(state, way.key, sure=True)
    return added._replace(state=added.state._replace(ways=others))


def _without(state: Gathering, order: str) -> Gathering:
    """The round without an order; what was asked about others stays open."""
    kept = tuple(each for each in state.chosen if each.order != order)
    asked = tuple(way for way in state.ways if way.kind == ALL_THE_SAME and way.key != order)
    return state._replace(chosen=kept, ways=asked, taking_out=False)


def _out(state: Gathering, order: str) -> Result:
    """The order leaves; the totes after it get the letters anew."""
    return _say(_without(state, order), GOOD, "walk.out", tote=letter_of(state, order), order=order)


def _go(state: Gathering) -> Result:
    """Off, with the totes as they stand."""
    args = {
        "orders": [each.order for each in state.chosen],
        "totes": {each.order: each.code for each in state.chosen if each.code},
        "sure": [each.order for each in state.chosen if each.sure],
    }
    return Turn(state, (Close(start=Start("pick", args)),))


def _back(state: Gathering) -> Result:
    """Out of a question, then out of the job: with several orders only when it is meant."""
    if state.ways or state.taking_out:
        return _say(state._replace(ways=(), taking_out=False), INFO, "session.dropped")
    if len(state.chosen) > 1:
        return _say(state._replace(ways=(Way("leave"),)), ASK, "walk.leave", count=len(state.chosen))
    return _left(state)


def _left(state: Gathering) -> Result:
    return Turn(state, (Close(Verdict(INFO, msg("walk.left"))),))
