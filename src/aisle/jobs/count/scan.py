"""What a scan or a quantity does to a count: more of a product, the next place, another product."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs import numbers
from aisle.jobs.base import Context, Query, Turn
from aisle.jobs.count import asking, counting
from aisle.jobs.count import view as count_view
from aisle.jobs.count.counting import Counting, Item, Next
from aisle.jobs.numbers import NOT_SO_MANY, what_is
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Verdict, msg
from aisle.scan.meaning import LOCATION, ORDER, PRODUCT, Command, Meaning, Thing

Result = Turn[Counting]

ANSWERING = ("missing", "recount", "summary", "pool", "leave")
"""Phases in which a question is open."""

KINDS = {"place": LOCATION, "product": PRODUCT}
"""What is counted, by the kind of the way on."""


# Scans


def thing(state: Counting, meanings: tuple[Meaning, ...], context: Context) -> Result:
    """What is counted next, or one more of what is here."""
    meaning = next((each for each in meanings if each.kind in (PRODUCT, LOCATION)), None)
    if meaning is None:
        return asking.told(state, WRONG, "count.not_this", what=what_is(meanings[0]))
    if state.phase == "start":
        turn = asking.begin(state, next_of(meaning))
        return turn if meaning.kind == LOCATION else turn._replace(state=turn.state._replace(pending=meaning))
    if state.phase in ("pool", "leave") or (state.phase in ANSWERING and meaning.kind == LOCATION):
        return asking.told(state, WRONG, "count.answer_first", what=meaning.label or meaning.key)
    if state.phase == "recount":
        return _count_again(state, meaning, context)
    state = asking.back_to_work(state._replace(ways=()))
    if state.only and meaning.key != state.only:
        return asking.told(state, WRONG, "count.this_first", label=state.label, what=meaning.label or meaning.key)
    if state.mode == "product":
        return _tour_thing(state, meaning, context)
    return _place(state, meaning, context) if meaning.kind == LOCATION else product(state, meaning, context)


def is_asked(state: Counting) -> bool:
    """Whether it is asked if so many are meant, or what digits are the number of: they stand nowhere but in the
    question."""
    return count_view.waits(state)


def unanswered(state: Counting, event: Thing | Command, context: Context) -> Result:
    """A scan or a letter while it is asked if so many are meant: nothing before that is settled. `u` takes back what
    was asked about; a label of so many more of the same is asked about with it."""
    value, item = Decimal(state.ways[0].key), count_view.of_how_many(state)
    assert item is not None
    if isinstance(event, Thing):
        first = event.meanings[0]
        more = first.quantity if (first.kind, first.key) == (PRODUCT, item.product) else Decimal(0)
        if is_large(state) and numbers.is_beyond(more, item.expected, context.policy.large_quantity):
            return _ask(state, item, value + more)
        return asking.told(state, WRONG, "count.answer_first", what=first.label or first.key)
    if event.letter == "u":
        return taken_back(state)
    if not is_large(state):
        return Turn(state, (), Verdict(WRONG, numbers.question(_meant(state.ways[1]), value)))
    return asking.told(state, WRONG, "count.so_many", value=value, label=item.label)


def is_large(state: Counting) -> bool:
    """Whether it is asked if so many are meant, and nothing else that they may be."""
    return is_asked(state) and any(way.kind == NOT_SO_MANY for way in state.ways)


def taken_back(state: Counting) -> Result:
    """So many are not meant; what was counted before is."""
    item = count_view.of_how_many(state)
    if not is_large(state) or item is None:
        return asking.told(state._replace(ways=()), INFO, "count.dropped")
    value = Decimal(state.ways[0].key)
    return asking.told(state._replace(ways=()), INFO, "count.not_so_many", value=value, label=item.label)


def next_of(meaning: Meaning) -> Next:
    """A place, or a product over its places, to be counted."""
    return Next("place" if meaning.kind == LOCATION else "product", meaning.key, meaning.label or meaning.key)


def _other(meaning: Meaning) -> Next:
    """What digits mean where they are no quantity."""
    if meaning.kind in counting.NO_USE:
        return Next(meaning.kind, meaning.key, meaning.key if meaning.kind == ORDER else meaning.label or meaning.key)
    return next_of(meaning)


def _meant(way: Next) -> Meaning:
    """The same as what it is in the store's data."""
    return Meaning(KINDS.get(way.kind, way.kind), way.key, way.label, code=way.key)


def _place(state: Counting, meaning: Meaning, context: Context) -> Result:
    if meaning.key.casefold() == state.place.casefold():
        return asking.told(state, INFO, "count.this_place", place=state.place)
    if not state.counted:
        seen = state if not any(item.missing for item in state.items) else asking.put_off(state)  # an empty one is done
        return asking.begin(seen._replace(sent=None), next_of(meaning))
    return asking.done(state._replace(then=next_of(meaning)), context)


def product(state: Counting, meaning: Meaning, context: Context) -> Result:
    """More of a product at the place that is open."""
    index = counting.find(state, meaning.key)
    if index >= 0:
        return _add(state, index, meaning, context)
    unread = state.partly and all(item.product != meaning.key for item in state.items)
    query = counting.at_place("here", state.place, meaning.key) if unread else _scanned(meaning)
    return Turn(state._replace(pending=meaning), (query,))


def _scanned(meaning: Meaning) -> Query:
    """Asks what there is to know of a product of which the books have nothing here."""
    return Query("scanned", "product", {"product_number": meaning.key})


def found_here(state: Counting, row: Mapping[str, Any] | None, context: Context) -> Result:
    """A product of a place of which not all was read, as the books have it there."""
    meaning = state.pending
    if meaning is None:
        return Turn(state)
    state = state._replace(items=(*state.items, *(counting.place_items(row) if row else ())))
    index = counting.find(state, meaning.key)
    if index < 0:
        return Turn(state, (_scanned(meaning),))
    return _add(state._replace(pending=None), index, meaning, context)


def looked_up(state: Counting, row: Mapping[str, Any] | None, context: Context) -> Result:
    """A product of which the books had nothing here."""
    meaning = state.pending
    state = state._replace(pending=None)
    if meaning is None:
        return Turn(state)
    known = counting.product_items(row) if row else ()
    if not state.place and any(item.place for item in known):
        text = Verdict(ASK, msg("count.has_places", label=meaning.label or meaning.key))
        return Turn(state._replace(ways=(next_of(meaning),)), (), text)
    if not state.place:
        mine = {counting.key(item) for item in state.items}
        state = state._replace(items=(*state.items, *(item for item in known if counting.key(item) not in mine)))
    index = counting.find(state, meaning.key)
    if index < 0:
        new = counting.new_item(state, meaning.key, meaning.label or meaning.key)
        if known:
            new = new._replace(decimal=known[0].decimal, unit=known[0].unit, price=known[0].price)
        index = len(state.items)
        state = state._replace(items=(*state.items, new))
    return _add(state, index, meaning, context)


def _add(state: Counting, index: int, meaning: Meaning, context: Context) -> Result:
    item = state.items[index]
    if meaning.quantity % 1 and not item.decimal:
        return asking.told(state, WRONG, "count.whole", label=item.label, quantity=meaning.quantity)
    counted = (item.counted or Decimal(0)) + meaning.quantity
    asked = _doubted(state._replace(at=index), item, counted, context, scanned=meaning.quantity)
    return asked or _put(state, index, counted, context)


def _put(state: Counting, index: int, counted: Decimal, context: Context) -> Result:
    state = counting.put(state, index, counted, context.now)
    item = state.items[index]
    told = "count.counted" if state.blind or not item.expected else "count.counted_of"
    return asking.told(state, GOOD, told, label=item.label, counted=counted, expected=item.expected)


def _count_again(state: Counting, meaning: Meaning, context: Context) -> Result:
    """Units of the product that is counted a second time; another product ends that."""
    item = state.items[state.question]
    if meaning.key != item.product:
        return asking.told(state, WRONG, "count.second_first", label=item.label, what=meaning.label or meaning.key)
    if meaning.quantity % 1 and not item.decimal:
        return asking.told(state, WRONG, "count.whole", label=item.label, quantity=meaning.quantity)
    second = (state.second or Decimal(0)) + meaning.quantity
    if asked := _doubted(state, item, second, context, scanned=meaning.quantity):
        return asked
    return asking.told(state._replace(second=second), GOOD, "count.counted", label=item.label, counted=second)


def _tour_thing(state: Counting, meaning: Meaning, context: Context) -> Result:
    if meaning.kind == PRODUCT and meaning.key == state.product:
        return _add(state, state.at, meaning, context)
    if meaning.kind == PRODUCT:
        text = msg("count.other_product", label=meaning.label or meaning.key, mine=state.label)
        return Turn(state._replace(ways=(next_of(meaning),)), (), Verdict(ASK, text))
    code = meaning.key.casefold()
    for index, item in enumerate(state.items):
        if item.place.casefold() == code:
            return asking.told(asking.stop(state, index), GOOD, "count.at_stop", place=item.place, label=item.label)
    pool = state.pool or state.items[0].pool
    new = state.items[0]._replace(place=meaning.key, pool=pool, expected=Decimal(0), held=Decimal(0))
    new = new._replace(counted=None, at="", again=False, checked=False, left=False)
    state = asking.stop(state._replace(items=(*state.items, new)), len(state.items))
    return asking.told(state, INFO, "count.new_stop", place=meaning.key, label=state.label)


# Quantities


def quantity(state: Counting, value: Decimal, code: str, context: Context) -> Result:
    """How many, unless the digits are the number of something."""
    if count_view.of_how_many(state) is None:
        return Turn(state)
    query = numbers.asked(value, code)
    return Turn(state._replace(typed=value), (query,)) if query else _believed(state, value, context)


def named(state: Counting, rows: tuple[Mapping[str, Any], ...], context: Context) -> Result:
    """Digits that nothing has for a number are a quantity, if anybody would believe it; else it is asked."""
    value, state = state.typed, state._replace(typed=None)
    if value is None:
        return Turn(state)
    found = numbers.meant(rows, value, (LOCATION, PRODUCT))
    if found is None:
        return _believed(state, value, context)
    if numbers.is_likely(rows, value):
        return unanswered(state, Thing((found,)), context) if is_asked(state) else thing(state, (found,), context)
    state = state._replace(ways=(Next("quantity", f"{value:f}"), _other(found)))
    return Turn(state, (), Verdict(ASK, numbers.question(found, value)))


def _believed(state: Counting, value: Decimal, context: Context) -> Result:
    """So many, unless that is far more than there was: a code of a thing that is gone is no count by one Enter."""
    item = count_view.of_how_many(state)
    if item is None:
        return Turn(state)
    return _doubted(state, item, value, context) or _so_many(state, value, context)


def _doubted(
    state: Counting, item: Item, value: Decimal, context: Context, scanned: Decimal = Decimal(0)
) -> Result | None:
    """The question whether there are so many, typed or `scanned` so many more; None where somebody would believe it."""
    said, limit = max(item.counted or Decimal(0), state.second or Decimal(0)), context.policy.large_quantity
    if scanned == 1:
        is_far = numbers.is_scanned_beyond(value, max(item.expected, said), limit)
    else:
        is_far = numbers.is_beyond(value, item.expected, limit, said, scanned or None)
    return _ask(state, item, value) if is_far else None


def _ask(state: Counting, item: Item, value: Decimal) -> Result:
    state = state._replace(ways=(Next("quantity", f"{value:f}"), Next(NOT_SO_MANY, "")))
    return asking.told(state, ASK, "count.so_many", value=value, label=item.label)


def chosen(state: Counting, number: int, context: Context) -> Result:
    """One of the numbered ways on: what digits mean, or what is counted when this is sent."""
    way, is_number = state.ways[number - 1], state.ways[0].kind == "quantity"
    if way.kind == NOT_SO_MANY:
        return taken_back(state)
    state = state._replace(ways=())
    if way.kind == "quantity":
        return _so_many(state, Decimal(way.key), context)
    if way.kind in counting.NO_USE:  # which is not counted; the number was meant for another page
        return asking.told(state, INFO, "count.dropped")
    if is_number:
        return thing(state, (_meant(way),), context)
    return asking.done(state._replace(then=way), context)


def _so_many(state: Counting, value: Decimal, context: Context) -> Result:
    state = state._replace(ways=())
    if state.phase == "recount":
        return asking.checked(state, value, context)
    if state.phase == "missing":
        return asking.found_after_all(state, value, context)
    turn = _put(state, state.at, value, context)
    if state.only:
        return _all_said(turn.state, context)
    if state.mode != "product":
        return turn
    on = next_stop(turn.state)
    if on != state.at and not turn.state.items[on].place:
        return turn  # nobody walks on to no place: one more number is for this one, and `n` leads there
    if on == state.at:
        return turn._replace(verdict=Verdict(GOOD, msg("count.all_stops", label=state.label, counted=value)))
    return turn._replace(state=asking.stop(turn.state, on))


def _all_said(state: Counting, context: Context) -> Result:
    """The one product of a place is counted; that none is there was seen before, and is not counted again."""
    item = state.items[state.at]
    return asking.done(counting.replaced(state, state.at, item._replace(checked=not item.counted)), context)


def next_stop(state: Counting) -> int:
    """Index of the next stop that is not counted, round the end; the same when there is none."""
    count = len(state.items)
    order = [(state.at + step) % count for step in range(1, count)]
    return next((index for index in order if state.items[index].counted is None), state.at)
