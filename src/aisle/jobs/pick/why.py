"""Why something cannot be taken for these orders, and what may be done instead, by numbers."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs import numbers, store_time
from aisle.jobs.amounts import number
from aisle.jobs.base import Effect, Query, Turn
from aisle.jobs.pick import hands, picking, pools, taken_at
from aisle.jobs.pick.picking import Asked, Picking, Way
from aisle.jobs.pick.walk import allows
from aisle.jobs.view import ASK, WRONG, Msg, Verdict, msg
from aisle.scan.meaning import Meaning

Result = Turn[Picking]

STRANGER, THERE, SPOT, NAMED = "stranger", "lying", "spot", "named"
"""Named reads that a why-not asks, and the ids of their queries."""

NEEDED = 2
"""Other orders that are offered for a product."""


def wrong(state: Picking, id_: str, *ways: Way, **args: str | int | Decimal) -> Result:
    """Not accepted; where there are ways on, they are asked about."""
    return Turn(state._replace(ways=ways), (), Verdict(ASK if ways else WRONG, msg(id_, **args)))


def over_set(state: Picking, value: Decimal, *ways: Way) -> Result:
    """More of the stop than was ordered; `ways` are what else was meant."""
    take = state.take
    if take is None:
        return Turn(state)
    _, of, _ = picking.total(picking.stop_of(state))
    rest, stop = Way("take_rest", take.product), picking.stop_at(state, state.at)
    elsewhere = any(index not in stop and state.takes[index].open for index in picking.lines_of(state, take.product))
    if elsewhere and take.place:
        here: dict[str, str | Decimal] = {"label": take.label, "rest": of, "place": take.place}
        return wrong(state, "pick.over_here", rest, *ways, quantity=value, **here)
    return wrong(state, "pick.over_set", rest, *ways, label=take.label, quantity=value, of=of)


def number_of(state: Picking, value: Decimal, code: str) -> Result | None:
    """Asks what digits are the number of; None where they can only be a quantity.

    More than was ordered stands as too many until the answer comes: so a journal of before it was asked is replayed to
    the same.
    """
    query = numbers.asked(value, code)
    if query is None:
        return None
    asked = Asked(NAMED, f"{value:f}", code=str(query.args["code"]))
    state = over_set(state, value).state if value > picking.ordered(state) else state
    return Turn(state._replace(asked=asked), (query,))


def no_number(state: Picking) -> str:
    """What is asked for instead of a quantity."""
    if state.step == "pick.done":
        return "pick.no_quantity_done" if hands.in_hand(state) else "pick.no_quantity_over"
    return "pick.no_quantity_place" if state.step == "pick.place" else "pick.no_quantity"


def ask(state: Picking, kind: str, meaning: Meaning, **args: Any) -> Result:
    """What the store's data says of a thing decides what is answered."""
    asked = Asked(kind, meaning.key, meaning.label or meaning.key, meaning.code or meaning.key)
    effects: tuple[Effect, ...] = (Query(kind, kind, args),)
    return Turn(state._replace(asked=asked, ways=()), effects)


def foreign(state: Picking, meaning: Meaning) -> Result:
    """A product that is on none of these orders."""
    orders = [tote.order for tote in state.totes]
    products = list(dict.fromkeys(take.product for take in state.takes if take.open))
    return ask(state, STRANGER, meaning, product_number=meaning.key, orders=orders, products=products)


def told_foreign(state: Picking, row: Mapping[str, Any], now: str) -> Result:
    """What it is, and why it is not wanted here."""
    asked = state.asked
    state = state._replace(asked=Asked())
    look_up = Way("look_up", asked.key)
    wholes, parts = _linked(row, "wholes"), _linked(row, "parts")
    if wholes:
        return _no(state, msg("pick.part_of", label=asked.label, whole=wholes[0].label), *wholes, look_up)
    if parts:
        return _no(state, msg("pick.is_set", label=asked.label, part=parts[0].label), *parts, look_up)
    if row.get("is_template"):
        return _no(state, msg("pick.template", label=asked.label), look_up)
    ended = _ended(row, now)
    if ended or row.get("is_active") is False:
        return _no(state, *_deprecated(asked, row, ended), look_up)
    needing = [str(each["order_number"]) for each in row.get("orders") or ()][:NEEDED]
    if needing:
        ways = [way for order in needing for way in other_ways(state, order)]
        return _no(state, msg("pick.for_other", label=asked.label, other=needing[0]), *ways, look_up)
    many = state.many or len(state.totes) != 1
    here = {} if many else {"order": state.order}
    return _no(
        state,
        msg("pick.not_in_round" if many else "pick.not_here", label=asked.label, code=asked.code, **here),
        look_up,
    )


def _no(state: Picking, told: Msg, *ways: Way) -> Result:
    return Turn(state._replace(ways=ways[:9]), (), Verdict(WRONG, told))


def _linked(row: Mapping[str, Any], name: str) -> list[Way]:
    """Products of the orders that it is a part of, or that are parts of it: it may be taken as one of them."""
    return [Way("this_one", str(each["product_number"]), str(each["label"])) for each in row.get(name) or ()]


def _ended(row: Mapping[str, Any], now: str) -> str:
    """The day since which it is not sold any more, ISO 8601; empty while it is."""
    said, today = str(row.get("deprecation_date") or ""), store_time.day_of(now)
    day = store_time.day_meant(said) or store_time.day_of(said)
    return "" if day is None or today is None or day > today else day.isoformat()


def _deprecated(asked: Asked, row: Mapping[str, Any], ended: str) -> tuple[Msg, *tuple[Way, ...]]:
    referral = str(row.get("referral") or "")
    label = str(row.get("referral_label") or referral)
    if referral:
        return msg("pick.replaced", label=asked.label, referral=label), Way("look_up", referral, label)
    if ended:
        return (msg("pick.ended", label=asked.label, at=ended),)
    return (msg("pick.not_sold", label=asked.label),)


def other_ways(state: Picking, order: str) -> list[Way]:
    """What can be done with an order that is not in the round: leave for one alone, or take it in."""
    ways = [] if state.many else [Way("leave_for", order)]
    return [*ways, Way("join", order)] if picking.next_letter(state) else ways


def elsewhere(state: Picking, meaning: Meaning) -> Result:
    """A place where the stop is not; what of it lies there says whether it may be taken there."""
    take = state.take
    assert take is not None
    product = taken_at.product_asked(state)
    turn = ask(state, THERE, meaning, product_number=product or take.product, location_code=meaning.key)
    return turn._replace(state=turn.state._replace(ways=state.ways)) if product else turn


def told_elsewhere(state: Picking, row: Mapping[str, Any]) -> Result:
    """Take it here? Not from a pool that is not for this order."""
    take, place = state.take, state.asked.key
    if take is None:
        return Turn(state._replace(asked=Asked()))
    pool, wrong_pool = pool_there(state, row)
    state = state._replace(asked=Asked())
    if wrong_pool:
        return Turn(state._replace(ways=(Way("look_up", take.product),)), (), Verdict(ASK, wrong_pool))
    way = Way(taken_at.HERE, place, pool=pool)
    return wrong(state, "pick.wrong_place", way, scanned=place, wanted=take.place, label=take.label)


def pool_there(state: Picking, row: Mapping[str, Any]) -> tuple[int, Msg | None]:
    """The pool that goods of a place which was asked about come from, or why none of them is for this order."""
    product = taken_at.product_asked(state)
    take = next((each for each in state.takes if each.product == product and each.open), state.take)
    assert take is not None
    lying = row.get("pools") or {}
    stocked = sorted(int(pool) for pool, quantity in lying.items() if number(quantity) > 0)
    if not allows(take.pools, lying):
        args = {"pool": pools.names(state, stocked), "allowed": pools.names(state, take.pools)}
        return 0, msg("pick.wrong_pool", place=state.asked.key, label=take.label, **args)
    return next((pool for pool in (take.pool, *take.pools) if pool in stocked), take.pool), None
