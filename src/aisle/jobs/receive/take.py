"""The goods of a delivery: what is in hand, how much of it, where it goes, and back again."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs import goods, numbers
from aisle.jobs.amounts import number
from aisle.jobs.base import Context, Effect, Query, Turn, Wish
from aisle.jobs.numbers import NOT_SO_MANY
from aisle.jobs.receive.receiving import (
    ZERO,
    Did,
    Item,
    Line,
    Receiving,
    Result,
    Way,
    allotted,
    announced_of,
    is_announced,
    is_unsaid,
    missing_of,
    remember,
    told,
    write,
)
from aisle.jobs.receive.receiving import booked as lines_after
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, msg, raw, undone
from aisle.scan.meaning import PRODUCT, Meaning

OPERATION = "create-store-product-logs"

ABOUT_GOODS = ("fit", "over", "extra")
"""Ways out of a question about goods that somebody has in his hands: until it is answered, nothing else is taken."""

OTHERS = 2
"""Other deliveries that are offered for a product that this one does not announce."""


# What


def product(state: Receiving, meaning: Meaning, context: Context) -> Result:
    """A scan of a product: one more of it, or the first one. What nobody announced is looked for elsewhere."""
    item = state.item
    if item and item.product == meaning.key:
        return want(state, item, item.quantity + meaning.quantity, context, meaning.quantity)
    if is_announced(state, meaning.key):
        return want(state, _item_of(state, meaning.key), meaning.quantity, context)
    state = state._replace(pending=meaning)
    if meaning.key in state.extra:
        return Turn(state, (_details(meaning.key),))
    return Turn(state, (expecting(meaning),))


def expecting(meaning: Meaning) -> Query:
    """The question which deliveries expect a product."""
    return Query("expecting", "expecting", {"product_number": meaning.key})


def _details(product_number: str) -> Query:
    return Query("goods", "product", {"product_number": product_number})


def _item_of(state: Receiving, product_number: str) -> Item:
    """A product of the delivery, none of it in hand yet."""
    line = next(line for line in state.lines if line.product == product_number)
    return Item(line.product, line.label, ZERO, line.decimal, line.unit)


def not_announced(state: Receiving, rows: tuple[Mapping[str, Any], ...]) -> Result:
    """Nobody announced it here: it came all the same, it belongs to another delivery, or it is set aside."""
    meaning = state.pending
    if meaning is None:
        return Turn(state)
    label = meaning.label or meaning.key
    others = [row for row in rows if str(row["order_number"]) != state.number][:OTHERS]
    switch = tuple(Way("switch", str(row["order_number"]), number(row.get("missing"))) for row in others)
    ways = (Way("extra", meaning.key, meaning.quantity, label), *switch, Way("aside", meaning.key, label=label))
    id_ = "receive.of_another" if switch else "receive.not_announced"
    more = {"delivery": switch[0].key} if switch else {}
    return told(state._replace(ways=ways), ASK, id_, label=label, **more)


def looked_up(state: Receiving, row: Mapping[str, Any] | None, context: Context) -> Result:
    """What nobody announced, and is taken all the same."""
    meaning = state.pending
    if meaning is None:
        return Turn(state)
    row = row or {}
    label = str(row.get("product_name") or row.get("product_description") or meaning.label or meaning.key)
    fresh = Item(meaning.key, label, ZERO, bool(row.get("allow_decimal")), str(row.get("unit") or ""))
    return want(state._replace(pending=None), fresh, meaning.quantity, context)


def chosen_line(state: Receiving, line: Line, context: Context) -> Result:
    """A product of the list: its quantity is typed, where nothing can be scanned."""
    if state.item and state.item.product == line.product:
        return told(state._replace(phase="goods"), INFO, "receive.how_many", label=line.label)
    before = booked(state._replace(phase="goods"), state.place, context)
    item = _item_of(state, line.product)
    state = before.state._replace(item=item)
    return told(state, INFO, "receive.how_many", *before.effects, home_of(item), label=line.label)


# What is asked about them


def is_asked(state: Receiving) -> bool:
    """Whether goods were counted that nobody has said yet what becomes of."""
    return state.pending is not None and any(way.kind in ABOUT_GOODS for way in state.ways)


def unanswered(state: Receiving, meaning: Meaning | None, context: Context) -> Result:
    """A scan while goods are asked about: one more of them, or nothing before they are settled."""
    asked = state.pending
    if asked and meaning and (meaning.kind, meaning.key) == (PRODUCT, asked.key):
        more = asked._replace(quantity=asked.quantity + meaning.quantity)
        if is_announced(state, asked.key):
            return ask_again(state._replace(pending=more), context)
        return Turn(state._replace(pending=more), (expecting(more),))
    label, quantity = (asked.label or asked.key, asked.quantity) if asked else ("", ZERO)
    return told(state, WRONG, "receive.answer_first", label=label, quantity=quantity)


def dropped(state: Receiving) -> Result:
    """Back, where goods are asked about that stand nowhere else: once more drops them."""
    asked = state.pending
    if asked is None:
        return Turn(state)
    label, quantity = asked.label or asked.key, asked.quantity
    if not state.dropping and not is_large_asked(state):
        return told(state._replace(dropping=True), ASK, "receive.drop", label=label, quantity=quantity)
    state = state._replace(ways=(), pending=None, dropping=False)
    if state.item and state.item.product == asked.key and state.item.quantity:
        return told(state, INFO, "receive.dropped_more", label=label, quantity=state.item.quantity)
    return told(state, INFO, "receive.dropped", label=label, quantity=quantity)


def is_number_asked(state: Receiving) -> bool:
    """Whether it is asked what digits are: so many stand nowhere but in the question."""
    return any(way.kind == "amount" for way in state.ways)


def number_first(state: Receiving, what: str) -> Result:
    """Something else while that is asked: nothing before it is settled."""
    return told(state, WRONG, "count.answer_first", what=what)


# How much


def of_how_many(state: Receiving) -> Item | None:
    """The product whose quantity is open: the one in hand, or the one that is asked about."""
    if state.phase not in ("goods", "leave") or not state.number:
        return None
    if state.ways and state.pending:
        asked = state.pending
        return _asked_about(state, asked) or Item(asked.key, asked.label or asked.key)
    return state.item


def _asked_about(state: Receiving, meaning: Meaning) -> Item | None:
    if state.item and state.item.product == meaning.key:
        return state.item
    return _item_of(state, meaning.key) if is_announced(state, meaning.key) else None


def set_to(state: Receiving, value: Decimal, context: Context) -> Result:
    """So many are in hand."""
    item, asked = of_how_many(state), state.pending
    if item is None:
        return told(state, WRONG, "receive.scan_first")
    if value and state.ways and asked and not (is_announced(state, asked.key) or asked.key in state.extra):
        more = asked._replace(quantity=value, explicit=True)
        return Turn(state._replace(pending=more), (expecting(more),))
    if not value and state.ways and not _in_hand(state, item.product):
        return set_aside(state._replace(ways=()), item.product, item.label, context)
    return want(state._replace(ways=(), pending=None), item, value, context)


def ask_again(state: Receiving, context: Context) -> Result:
    """What becomes of the goods that are asked about, once it is settled that digits were no quantity of them."""
    asked = state.pending
    assert asked is not None
    item = _asked_about(state, asked)
    return want(state, item, asked.quantity, context) if item else Turn(state, (expecting(asked),))


def set_aside(state: Receiving, product_number: str, label: str, context: Context) -> Result:
    """What was asked about is not taken; what was in hand of it before is there still."""
    asked = state.pending.quantity if state.pending and state.pending.key == product_number else ZERO
    state = state._replace(pending=None)
    quantity = _in_hand(state, product_number)
    more = asked - quantity
    if numbers.is_beyond(asked, max(*announced_of(state, product_number), quantity), context.policy.large_quantity):
        asked = more = ZERO  # so many never came
    if quantity and more > 0:
        rest = msg("receive.still_in_hand", quantity=quantity)
        return told(state, GOOD, "receive.aside_all", label=label, more=more, rest=rest)
    if quantity:
        return told(state, INFO, "receive.dropped_more", label=label, quantity=quantity)
    if asked:
        return told(state, GOOD, "receive.aside_all", label=label, more=asked, rest=raw(""))
    return told(state, GOOD, "receive.set_aside", label=label)


def want(state: Receiving, item: Item, quantity: Decimal, context: Context, more: Decimal | None = None) -> Result:
    """So many of this are to be in hand, so many `more` by a scan; more than was announced is asked about first."""
    if quantity % 1 and not item.decimal:
        return told(state, WRONG, "receive.whole", label=item.label, quantity=quantity)
    missing = missing_of(state, item.product)
    if item.product in state.extra or is_unsaid(state, item.product):
        return _doubted(state, item, quantity, context, more) or _take(state, item, quantity, context)
    if quantity > missing:
        return _too_many(state, item, quantity, missing)
    return _take(state, item, quantity, context)


def _doubted(state: Receiving, item: Item, quantity: Decimal, context: Context, more: Decimal | None) -> Result | None:
    """The question whether so many came of what may be more than was announced; None where that can be believed."""
    of, received = announced_of(state, item.product)
    said, limit = max(received, _in_hand(state, item.product)), context.policy.large_quantity
    if not numbers.is_beyond(quantity, of, limit, said, more):
        return None
    state = _asking(state, item, quantity)
    state = state._replace(ways=(*state.ways, Way(NOT_SO_MANY)))
    return told(state, ASK, "count.so_many", value=quantity, label=item.label)


def is_large_asked(state: Receiving) -> bool:
    """Whether it is asked if so many are meant."""
    return any(way.kind == NOT_SO_MANY for way in state.ways)


def _asking(state: Receiving, item: Item, quantity: Decimal, *before: Way) -> Receiving:
    """It is asked whether so many are to be in hand: all of them, none, or what these ways say."""
    ways = (*before, Way("over", item.product, quantity), Way("aside", item.product, label=item.label))
    pending = Meaning(PRODUCT, item.product, item.label, quantity, code=item.product)
    return state._replace(ways=ways, pending=pending, phase="goods")


def _in_hand(state: Receiving, product_number: str) -> Decimal:
    return state.item.quantity if state.item and state.item.product == product_number else ZERO


def _too_many(state: Receiving, item: Item, quantity: Decimal, missing: Decimal) -> Result:
    """More than is still to come: what was announced alone, all of it, or none."""
    of, received = announced_of(state, item.product)
    in_hand = _in_hand(state, item.product)
    fit = (Way("fit", item.product, missing),) if missing > 0 and missing != in_hand else ()
    state = _asking(state, item, quantity, *fit)
    if missing <= 0:
        return told(state, ASK, "receive.all_came", label=item.label, received=received, of=of)
    return told(state, ASK, "receive.more", label=item.label, quantity=quantity, missing=missing)


def chosen(state: Receiving, way: Way, context: Context) -> Result:
    """A way that says how many, or that it came though nobody announced it."""
    meaning = state.pending
    if way.kind == "extra":
        extra = (*state.extra, way.key)
        return Turn(state._replace(extra=extra), (_details(way.key),)) if meaning else Turn(state)
    item = _asked_about(state, meaning) if meaning else state.item
    state = state._replace(pending=None)
    if item is None:
        return Turn(state)
    if way.kind == "over" and item.product not in state.extra:
        state = state._replace(extra=(*state.extra, item.product))
    return _take(state, item, way.quantity, context)


def _take(state: Receiving, item: Item, quantity: Decimal, context: Context) -> Result:
    """It is in hand; what was in hand before is booked where all goods go that nobody brings anywhere else."""
    effects: tuple[Effect, ...] = ()
    if state.item and state.item.product != item.product:
        before = booked(state, state.place, context)
        state, effects = before.state, before.effects
    if not (state.item and state.item.home):
        effects = (*effects, home_of(item))
    state = remember(state, Did(item.label, item))
    state = state._replace(item=item._replace(quantity=quantity), phase="goods")
    if not quantity:
        return told(state, INFO, "receive.none", *effects, label=item.label)
    of, received = announced_of(state, item.product)
    id_ = "receive.taken_alone" if is_unsaid(state, item.product) else "receive.taken" if of else "receive.taken_extra"
    return told(state, GOOD, id_, *effects, label=item.label, quantity=quantity + received, of=of)


def home_of(item: Item) -> Query:
    """The question where the product lies already."""
    return Query("homes", "homes", {"product_numbers": [item.product]}, live=True)


def with_home(state: Receiving, rows: tuple[Mapping[str, Any], ...]) -> Receiving:
    """Where the product in hand lies already, the first on the way."""
    item = state.item
    if item is None:
        return state
    mine = [str(row["location_code"]) for row in rows if str(row["product_number"]) == item.product]
    return state._replace(item=item._replace(home=mine[0])) if mine else state


# Where it goes


def booked(state: Receiving, place: str, context: Context) -> Result:
    """What is in hand is received, at this place; nothing happens with empty hands."""
    item = state.item
    if item is None or item.quantity <= 0:
        return Turn(_unhanded(state))
    entries = allotted(state, item, place)
    state = lines_after(_unhanded(state), entries, item.label)
    state = remember(state, Did(item.label, item, entries, context.now))
    return Turn(state, (write(state, entries, context),))


def _unhanded(state: Receiving) -> Receiving:
    """Nothing in hand; the scans that brought it there are steps of what is booked now."""
    history = state.history
    while history and not history[-1].entries:
        history = history[:-1]
    return state._replace(item=None, history=history)


def to_place(state: Receiving, place: str, context: Context) -> Result:
    """The goods in hand go there; with empty hands it is where all goods go from now on."""
    item = state.item
    if item is None or not item.quantity:
        return told(state._replace(place=place), GOOD, "receive.place_set", place=place)
    after = booked(state, place, context)
    left = any(line.is_open for line in after.state.lines)
    id_ = "receive.put" if left else "receive.put_last"
    args: dict[str, Any] = {"place": place, "quantity": item.quantity, "label": item.label}
    return told(after.state, GOOD, id_, *after.effects, Wish("location", place), **args)


# Back


def undo(state: Receiving, context: Context) -> Result:
    """The last step: a scan is taken out of the hand again; what was booked is taken back by its opposite, and is in
    hand again: where it goes is open, and the step before it is how many came."""
    if not state.history:
        return told(state, WRONG, "receive.nothing_to_undo")
    did, state = state.history[-1], state._replace(history=state.history[:-1])
    if not did.entries:
        item = state.item
        before = did.before if did.before and did.before.quantity else None
        quantity = before.quantity if before else ZERO
        state = state._replace(item=before)
        was = item.quantity if item else ZERO
        return Turn(state, (), undone(msg("receive.undone_scan", label=did.label, was=was, now=quantity)))
    quantity = sum((entry.quantity for entry in did.entries), ZERO)
    state = lines_after(state, did.entries, did.label, sign=-1)
    if did.before:
        came = Did(did.label, did.before._replace(quantity=ZERO))
        state = remember(state._replace(item=did.before), came)
    back = write(state, did.entries, context, sign=-1)
    where = goods.at(did.entries[0].place)
    return Turn(state, (back,), undone(msg("receive.undone", label=did.label, quantity=quantity, where=where)))
