"""The taking half of the move job: where from, what, and how much of it."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs import numbers
from aisle.jobs.amounts import number
from aisle.jobs.base import Effect, Query, Turn, Wish
from aisle.jobs.move import carrying, shelf
from aisle.jobs.move.moving import UNKNOWN, ZERO, Did, Hold, Lying, Moving, Part, Way, holdings, nowhere_of
from aisle.jobs.move.told import told
from aisle.jobs.numbers import NOT_SO_MANY
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Msg, Verdict, msg, raw
from aisle.scan.meaning import PRODUCT, Meaning

Result = Turn[Moving]

WAYS = 7
"""Numbered places at most; any other place can be scanned."""


# Where from


def from_place(state: Moving, place: str) -> Result:
    """Goods are taken here from now on."""
    phase = "load" if state.phase == "load" else "take"
    state = state._replace(phase=phase, started=True, place=place, order="", lines=(), shelf=(), known=False, at=-1)
    return Turn(state._replace(partly=False), (shelf.asked("place", place), Wish("location", place)))


def from_nowhere(state: Moving) -> Result:
    """Goods that the books have at no place."""
    phase = "load" if state.phase == "load" else "take"
    meaning = state.pending
    fresh = state._replace(phase=phase, started=True, place="", order="", lines=(), shelf=(), known=False, pending=None)
    fresh = fresh._replace(partly=False)
    return product(fresh, meaning) if meaning else Turn(fresh)


def at_place(state: Moving, row: Mapping[str, Any] | None) -> Result:
    """What lies at the place; a product that was scanned first is taken there now."""
    meaning, state = state.pending, shelf.refreshed(state._replace(pending=None), row)
    if meaning is not None:
        return product(state, meaning)
    if state.unnamed and not state.lying:
        return told(state, GOOD, "place.unnamed_at", place=state.place)
    return told(state, GOOD, "move.at_place", place=state.place, count=state.lying)


def found_here(state: Moving, row: Mapping[str, Any] | None) -> Result:
    """A product that was asked for by name lies here, or does not."""
    meaning = state.pending
    if meaning is None:
        return Turn(state)
    state = shelf.with_found(state, row)
    if not any(each.product == meaning.key for each in state.shelf):
        return Turn(state, (_goods(meaning),))
    return product(state._replace(pending=None), meaning)


def _goods(meaning: Meaning) -> Query:
    """Asks where a product lies that nobody here has in sight."""
    return Query("goods", "product", {"product_number": meaning.key})


def from_order(state: Moving, row: Mapping[str, Any] | None) -> Result:
    """Goods are taken from the lines of this order, at the place that was scanned or wherever they are."""
    if row is None or not row.get("is_active", True) or row.get("is_rejected"):
        return told(state, WRONG, "move.no_order", order=str((row or {}).get("order_number") or ""))
    order = str(row["order_number"])
    if not row.get("lines_known", True):
        return told(state, WRONG, "move.lines_awaited", Wish("order", order), order=order)
    lines = holdings(row, state.place if state.started else "")
    if not any(lying.held for lying in lines):
        state, lines = state._replace(place=""), holdings(row, "")
    if not any(lying.held for lying in lines):
        return told(state, WRONG, "move.order_has_nothing", order=order)
    phase = "load" if state.phase == "load" else "take"
    state = state._replace(phase=phase, started=True, order=order, lines=lines, at=-1)
    effects = (Wish("order", order),)
    return told(state, GOOD, "move.from_order", *effects, order=order, count=sum(bool(each.held) for each in lines))


# What


def product(state: Moving, meaning: Meaning) -> Result:
    """A scan of a product: one more of it, or the first one."""
    if state.order:
        return _of_order(state, meaning)
    lying = next((each for each in state.shelf if each.product == meaning.key), None)
    if state.started and lying is not None:
        return _take(state, lying, meaning)
    unread = state.started and state.partly and state.place
    asked = shelf.asked_for(state, meaning.key) if unread else _goods(meaning)
    return Turn(state._replace(pending=meaning), (asked,))


def looked_up(state: Moving, row: Mapping[str, Any] | None) -> Result:
    """A product that nobody here has in sight: where it lies, and whether it can be taken here."""
    meaning = state.pending
    if meaning is None:
        return Turn(state)
    lying = nowhere_of(row) if row else Lying(meaning.key, meaning.label or meaning.key)
    if row and row.get("is_stock") is False:
        return told(state._replace(pending=None), WRONG, "move.no_stock", label=lying.label)
    places = _places_of(row)
    if state.started and not state.place:
        state = state._replace(pending=None, shelf=(*state.shelf, lying))
        return _take(state, lying, meaning)
    if state.started:
        return _not_here(state._replace(pending=None), lying, meaning, places)
    return _which_place(state, lying, meaning, places)


def _places_of(row: Mapping[str, Any] | None) -> list[tuple[str, Decimal]]:
    """Where it lies, and how much there; `UNKNOWN` where nobody says it."""
    places = (row or {}).get("places") or ()
    found = [(str(each["location_code"]), number(each.get("quantity"), UNKNOWN)) for each in places]
    return [(place, quantity) for place, quantity in found if quantity > 0 or quantity == UNKNOWN]


def _which_place(state: Moving, lying: Lying, meaning: Meaning, places: list[tuple[str, Decimal]]) -> Result:
    """The product was scanned first: the only place that has it, or a question."""
    if not state.places or (not places and lying.free > 0):
        return from_nowhere(state)
    if len(places) == 1 and lying.free <= 0:
        return from_place(state, places[0][0])
    ways = [Way("from", place, quantity) for place, quantity in places[:WAYS]]
    if not places or lying.free != ZERO:
        ways.append(Way("nowhere", "", max(ZERO, lying.free)))
    id_ = "move.where_from" if places else "move.nowhere_known"
    state = state._replace(ways=tuple(ways))
    if meaning.quantity != 1:
        return _so_many_from(state, lying.label, meaning.quantity)
    return told(state, ASK, id_, label=lying.label)


def _so_many_from(state: Moving, label: str, quantity: Decimal) -> Result:
    return told(state, ASK, "move.so_many_from", quantity=quantity, label=label)


def is_place_asked(state: Moving) -> bool:
    """Whether it is asked where the product comes from that was scanned first."""
    return state.pending is not None and not state.started and bool(state.ways)


def more_from(state: Moving, meaning: Meaning) -> Result:
    """A further product before it is known where the first one comes from: so many more of it, or nothing."""
    asked = state.pending
    assert asked is not None
    if meaning.key != asked.key:
        return told(state, WRONG, "move.answer_first", what=meaning.label or meaning.key)
    quantity = asked.quantity + meaning.quantity
    explicit = asked.explicit or meaning.explicit
    state = state._replace(pending=asked._replace(quantity=quantity, explicit=explicit))
    return _so_many_from(state, asked.label or meaning.label or meaning.key, quantity)


def _not_here(state: Moving, lying: Lying, meaning: Meaning, places: list[tuple[str, Decimal]]) -> Result:
    """The books have nothing of it here: take it all the same, count, or go where it lies."""
    here = Lying(lying.product, lying.label, ZERO, (), (), lying.decimal, lying.unit)
    if not state.known:
        here = here._replace(free=UNKNOWN)
    state = state._replace(shelf=(*state.shelf, here))
    in_hand = carrying.find(state.hand, carrying.part_of(here, state.place, state.from_pool)) >= 0
    if in_hand or not state.known:
        return _take(state, here, meaning)
    others = [Way("from", place, quantity) for place, quantity in places if place.casefold() != state.place.casefold()]
    ways = (Way("over", lying.product, meaning.quantity), Way("count", state.place), *others[:2])
    text = msg("move.not_here", label=lying.label, place=state.place)
    state = state._replace(ways=ways, pending=meaning)
    return Turn(state, (), Verdict(ASK, text))


def _take(state: Moving, lying: Lying, meaning: Meaning) -> Result:
    if lying.held and lying.free <= 0 and not state.from_pool:
        if len(lying.held) == 1:
            return _add(state, carrying.held_part(lying, lying.held[0], state.place)._replace(keep=True), meaning)
        ways = tuple(Way("held", hold.order, meaning.quantity, hold.line) for hold in lying.held[:WAYS])
        state = state._replace(ways=ways, pending=meaning)
        return told(state, ASK, "move.whose", label=lying.label, count=len(lying.held))
    part = carrying.part_of(lying, state.place, state.from_pool)
    if part.books == 0 and state.place and carrying.find(state.hand, part) < 0:
        ways = (Way("over", lying.product, meaning.quantity), Way("count", state.place))
        return told(
            state._replace(ways=ways, pending=meaning), ASK, "move.none_left", label=lying.label, place=state.place
        )
    return _add(state, part, meaning)


def _of_order(state: Moving, meaning: Meaning) -> Result:
    lying = next((each for each in state.lines if each.product == meaning.key), None)
    if lying is None or not lying.held:
        label = meaning.label or meaning.key
        return told(state, WRONG, "move.not_of_order", label=label, code=meaning.code or meaning.key, order=state.order)
    parts = [carrying.held_part(lying, hold, hold.place) for hold in lying.held]
    for part in parts:
        index = carrying.find(state.hand, part)
        if index < 0 or state.hand[index].quantity < part.books:
            return _add(state, part, meaning)
    return _add(state, parts[-1], meaning)


# How much


def _add(state: Moving, part: Part, meaning: Meaning) -> Result:
    index = carrying.find(state.hand, part)
    before = state.hand[index].quantity if index >= 0 else ZERO
    return want(state, part, before + meaning.quantity, more=meaning.quantity)


def want(state: Moving, part: Part, quantity: Decimal, *, sure: bool = False, more: Decimal | None = None) -> Result:
    """So many of these goods are to be in hand, so many `more` by a scan; more than the books have, or anybody would
    believe who has not said that he is `sure`, is asked about first."""
    if quantity % 1 and not part.decimal:
        return told(state, WRONG, "move.whole", label=part.label, quantity=quantity)
    index = carrying.find(state.hand, part)
    over, said = (state.hand[index].over, state.hand[index].quantity) if index >= 0 else (False, ZERO)
    if 0 <= part.books < quantity and not over:
        return too_many(state, part, quantity)
    if not sure and numbers.is_beyond(quantity, max(ZERO, part.books), state.limit, said, more):
        ways = (Way("amount", part.product, quantity, part.line), Way(NOT_SO_MANY))
        asked = Meaning(PRODUCT, part.product, part.label, quantity, True, part.product)
        asking = state._replace(ways=ways, pending=asked)
        return told(asking, ASK, "count.so_many", value=quantity, label=part.label)
    return took(state, part, quantity)


def too_many(state: Moving, part: Part, quantity: Decimal) -> Result:
    """Refused, with what the books say, a count, and, unless an order holds the goods, the explicit second step."""
    ways = [Way("fit", part.product, part.books, part.line)] if part.books > 0 else []
    if part.place:
        ways.append(Way("count", part.place))
    if not part.order:
        ways.append(Way("over", part.product, quantity))
    id_ = "move.over_held" if part.order else "move.over"
    index = carrying.find(state.hand, part)
    if index >= 0 and part.books <= 0:
        ways.append(Way("forget", part.product))
    asked = Meaning(PRODUCT, part.product, part.label, quantity, code=part.product) if ways else None
    state = state._replace(ways=tuple(ways), pending=asked, at=index if index >= 0 else state.at)
    args: dict[str, str | Decimal] = {"label": part.label, "quantity": quantity, "books": part.books}
    if part.order:
        args["order"] = part.order
    return told(state, ASK if ways else WRONG, id_, **args)


def took(state: Moving, part: Part, quantity: Decimal) -> Result:
    """The goods are in hand; where more of them lies is looked up once."""
    state = carrying.taken(state._replace(pending=None), part, quantity)
    mine = state.part
    if mine is None or carrying.key(mine) != carrying.key(part):
        return told(state, GOOD, "move.taken_none", label=part.label)
    effects: tuple[Effect, ...] = () if mine.home else (homes(state),)
    return told(state, GOOD, "move.taken", *effects, label=part.label, quantity=quantity, source=_source(mine))


def homes(state: Moving) -> Query:
    """Where more of the goods in hand lies."""
    return Query("homes", "homes", {"product_numbers": sorted({part.product for part in state.hand})})


def _source(part: Part) -> Msg:
    if part.place:
        return raw(part.place)
    return raw(part.order) if part.order else msg("move.no_place_short")


def chosen(state: Moving, way: Way) -> Result:
    """A way that says how much, or whose."""
    part = meant(state, way)
    if part is None:
        return Turn(state._replace(pending=None))
    meaning, state = state.pending, state._replace(pending=None)
    if way.kind == "held":
        return _add(state, part, meaning) if meaning else Turn(state)
    if way.kind == "over":
        part = part._replace(over=True)
        index = carrying.find(state.hand, part)
        if index >= 0:
            hand = (*state.hand[:index], state.hand[index]._replace(over=True), *state.hand[index + 1 :])
            state = state._replace(hand=hand)
    return took(state, part, way.quantity)


def of_how_many(state: Moving) -> Part | None:
    """The goods of which a number says how many: those on the screen, or those that it is asked of."""
    if state.phase not in ("take", "load", "put"):
        return None
    if state.pending and state.ways:
        return _in_question(state) if is_whose_asked(state) else _asked_about(state)
    way = state.ways[0] if state.ways else None
    return meant(state, way) if way and way.kind == "amount" else state.part


def unanswered(state: Moving, meaning: Meaning) -> Result:
    """A scan while goods are asked about: so many more of them, or nothing before they are settled."""
    asked, part = state.pending, _asked_about(state)
    if asked and (meaning.kind, meaning.key) != (PRODUCT, asked.key):
        return unsettled(state, asked)
    if asked is None or part is None:
        return told(state, WRONG, "move.answer_first", what=meaning.label or meaning.key)
    quantity = asked.quantity + meaning.quantity
    if part.books or state.ways[0].kind != "over" or (quantity % 1 and not part.decimal):
        return want(state, part, quantity)
    ways = tuple(way._replace(quantity=quantity) if way.kind == "over" else way for way in state.ways)
    state = state._replace(ways=ways, pending=asked._replace(quantity=quantity))
    return told(state, ASK, "move.over", label=part.label, quantity=quantity, books=part.books)


def unsettled(state: Moving, asked: Meaning) -> Result:
    """A letter, or another scan, while goods are asked about, which stand nowhere but in the question: it says how
    many of what are asked about."""
    return told(state, WRONG, "move.say_first", label=asked.label or asked.key, quantity=asked.quantity)


def _asked_about(state: Moving) -> Part | None:
    """The goods that are asked about; None while it is asked whose they are."""
    way = next((way for way in state.ways if way.kind in (*shelf.ABOUT_GOODS, "amount")), None)
    return None if way is None or way.kind == "held" else meant(state, way)


def is_whose_asked(state: Moving) -> bool:
    """Whether it is asked for which order goods are held that were scanned."""
    return any(way.kind == "held" for way in state.ways)


def _in_question(state: Moving) -> Part | None:
    """The goods of which it is asked whose they are."""
    asked = state.pending
    lying = next((each for each in state.shelf if asked and each.product == asked.key), None)
    return carrying.part_of(lying, state.place, state.from_pool) if lying else None


def so_many_of(state: Moving, value: Decimal) -> Result:
    """So many are meant, whoever they are held for; that is still asked."""
    asked = state.pending
    assert asked is not None
    ways = tuple(way._replace(quantity=value) for way in state.ways)
    state = state._replace(ways=ways, pending=asked._replace(quantity=value, explicit=True))
    label = asked.label or asked.key
    return told(state, ASK, "move.whose_so_many", label=label, quantity=value, count=len(ways))


def ask_again(state: Moving, asked: Meaning) -> Result:
    """What of goods that are asked about is taken, once it is settled that digits were no quantity of them."""
    part = _asked_about(state)
    state = state._replace(ways=(), pending=None)
    return want(state, part, asked.quantity) if part else Turn(state)


def is_number_asked(state: Moving) -> bool:
    """Whether it is asked what digits are: so many stand nowhere but in the question, and nothing goes on before."""
    return any(way.kind == "amount" for way in state.ways)


def is_large_asked(state: Moving) -> bool:
    """Whether it is asked if so many are meant, and nothing else that they may be."""
    return any(way.kind == NOT_SO_MANY for way in state.ways)


def more_asked(state: Moving, meaning: Meaning) -> Result | None:
    """A label of so many more of what is asked about is asked about with it; None for anything else."""
    part, asked = of_how_many(state), state.pending
    is_same = asked is not None and (meaning.kind, meaning.key) == (PRODUCT, asked.key)
    if part is None or not is_same or not is_large_asked(state):
        return None
    if not numbers.is_beyond(meaning.quantity, max(ZERO, part.books), state.limit):
        return None
    return want(state, part, state.ways[0].quantity + meaning.quantity)


def not_so_many(state: Moving) -> Result:
    """So many are not meant: what is in hand is what it was before."""
    asked, quantity = state.pending, state.ways[0].quantity
    label = asked.label or asked.key if asked else state.ways[0].key
    return told(state._replace(ways=(), pending=None), INFO, "count.not_so_many", label=label, value=quantity)


def number_first(state: Moving) -> Result:
    """A letter while that is asked: the question once more."""
    asked, quantity = state.pending, state.ways[0].quantity
    if is_large_asked(state) and asked:
        return told(state, WRONG, "count.so_many", value=quantity, label=asked.label)
    return told(state, WRONG, "move.number_of", quantity=quantity)


def forgotten(state: Moving) -> Result:
    """The goods on the screen are not moved after all; the others are."""
    part = state.part
    if part is None:
        return Turn(state)
    state = carrying.taken(state._replace(portion=ZERO, pending=None), part, ZERO)
    if state.phase == "put" and not state.hand:
        state = state._replace(phase="load")
    return told(state, INFO, "move.taken_none", label=part.label)


def meant(state: Moving, way: Way) -> Part | None:
    """The goods that a way is about: those on the screen, or some that lie here."""
    if way.kind == "held":
        lying = next((each for each in state.shelf if any(_is(hold, way) for hold in each.held)), None)
        hold = next((hold for hold in lying.held if _is(hold, way)), None) if lying else None
        if state.pending and (lying is None or lying.product != state.pending.key):
            return None
        return carrying.held_part(lying, hold, state.place)._replace(keep=True) if lying and hold else None
    mine = state.part
    if mine and mine.product == way.key and (not way.line or mine.line == way.line):
        return mine
    lying = next((each for each in (*state.lines, *state.shelf) if each.product == way.key), None)
    if lying is None:
        return None
    if way.line:
        hold = next((hold for hold in lying.held if hold.line == way.line), None)
        place = hold.place or ("" if state.order else state.place) if hold else ""
        return carrying.held_part(lying, hold, place)._replace(keep=not state.order) if hold else None
    return carrying.part_of(lying, state.place, state.from_pool)


def _is(hold: Hold, way: Way) -> bool:
    return (hold.order, hold.line) == (way.key, way.line)


def all_of_it(state: Moving) -> Result:
    """All that lies here of the product on the screen."""
    part = state.part
    if part is None:
        return told(state, WRONG, "move.scan_first")
    if part.books < 0:
        return told(state, WRONG, "move.books_unknown", label=part.label)
    if part.books < part.quantity:
        return too_many(state, part, part.quantity)
    return took(state, part, part.books)


def everything(state: Moving) -> Result:
    """All that lies here, or all that the order has; what is held for orders stays held for them."""
    if state.partly and not state.order:
        return Turn(state, (shelf.asked_for_all(state),))
    parts = [*_of_lines(state)] if state.order else [*_of_shelf(state)]
    fresh = tuple(part for part in parts if part.quantity > 0)
    if not fresh:
        id_ = "move.nothing_here" if state.place or state.order else "move.scan_place_first"
        return told(state, WRONG, id_, place=state.order or state.place)
    hand = state.hand
    for part in fresh:
        hand = carrying.put_in(hand, part)
    at = carrying.find(hand, fresh[-1]) if len(fresh) == 1 else -1
    state = carrying.remember(state._replace(hand=hand, at=at), Did(fresh))
    quantity = sum((part.quantity for part in fresh), ZERO)
    return told(state, GOOD, "move.everything", homes(state), count=len(fresh), quantity=quantity)


def _more(state: Moving, part: Part) -> Part:
    """What is not yet in hand of all that can be taken."""
    index = carrying.find(state.hand, part)
    return part._replace(quantity=part.books - (state.hand[index].quantity if index >= 0 else ZERO))


def _of_shelf(state: Moving) -> list[Part]:
    parts = []
    for lying in state.shelf if state.known else ():
        parts.append(_more(state, carrying.part_of(lying, state.place, state.from_pool)))
        if not state.from_pool:
            held = (carrying.held_part(lying, hold, state.place)._replace(keep=True) for hold in lying.held)
            parts += [_more(state, part) for part in held]
    return parts


def _of_lines(state: Moving) -> list[Part]:
    return [_more(state, carrying.held_part(lying, hold, hold.place)) for lying in state.lines for hold in lying.held]
