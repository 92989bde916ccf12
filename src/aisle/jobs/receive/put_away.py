"""The goods of a delivery: what is in hand, how much of it, where it goes, and back again."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs import message, quantities
from aisle.jobs.job import Context, Effect, Query, Refresh, Turn
from aisle.jobs.quantities import DROP_QUANTITY, to_decimal
from aisle.jobs.receive.receive_state import (
    ZERO,
    DeliveryLine,
    GoodsInHand,
    ReceiveChoice,
    ReceiveState,
    Result,
    UndoStep,
    add_undo_step,
    announced_and_received,
    is_announced,
    is_announced_unknown,
    missing_quantity,
    receipt_write,
    reply,
    split_over_lines,
)
from aisle.jobs.receive.receive_state import add_received as lines_after
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, msg, raw, undo_verdict
from aisle.scan.meaning import PRODUCT, Match

LOG_OPERATION = "create-store-product-logs"

GOODS_QUESTIONS = ("fit", "over", "extra")
"""Ways out of a question about goods that somebody has in his hands: until it is answered, nothing else is taken."""

MAX_OTHER_DELIVERIES = 2
"""Other deliveries that are offered for a product that this one does not announce."""


# What


def scan_product(state: ReceiveState, match: Match, context: Context) -> Result:
    """A scan of a product: one more of it, or the first one. What nobody announced is looked for elsewhere."""
    item = state.in_hand
    if item and item.product == match.key:
        return set_quantity(state, item, item.quantity + match.quantity, context, match.quantity)
    if is_announced(state, match.key):
        return set_quantity(state, _announced_goods(state, match.key), match.quantity, context)
    state = state._replace(pending_scan=match)
    if match.key in state.accepted_extra:
        return Turn(state, (_query_product(match.key),))
    return Turn(state, (query_expecting(match),))


def query_expecting(match: Match) -> Query:
    """The question which deliveries expect a product."""
    return Query("expecting", "expecting", {"product_number": match.key})


def _query_product(product_number: str) -> Query:
    return Query("goods", "product", {"product_number": product_number})


def _announced_goods(state: ReceiveState, product_number: str) -> GoodsInHand:
    """A product of the delivery, none of it in hand yet."""
    line = next(line for line in state.lines if line.product == product_number)
    return GoodsInHand(line.product, line.label, ZERO, line.allows_decimals, line.unit)


def ask_not_announced(state: ReceiveState, rows: tuple[Mapping[str, Any], ...]) -> Result:
    """Nobody announced it here: it came all the same, it belongs to another delivery, or it is set aside."""
    meaning = state.pending_scan
    if meaning is None:
        return Turn(state)
    label = meaning.label or meaning.key
    others = [row for row in rows if str(row["order_number"]) != state.delivery_number][:MAX_OTHER_DELIVERIES]
    switch = tuple(ReceiveChoice("switch", str(row["order_number"]), to_decimal(row.get("missing"))) for row in others)
    ways = (
        ReceiveChoice("extra", meaning.key, meaning.quantity, label),
        *switch,
        ReceiveChoice("aside", meaning.key, label=label),
    )
    id_ = "receive.of_another" if switch else "receive.not_announced"
    more = {"delivery": switch[0].key} if switch else {}
    return reply(state._replace(choices=ways), ASK, id_, label=label, **more)


def handle_product(state: ReceiveState, row: Mapping[str, Any] | None, context: Context) -> Result:
    """What nobody announced, and is taken all the same."""
    meaning = state.pending_scan
    if meaning is None:
        return Turn(state)
    row = row or {}
    label = str(row.get("product_name") or row.get("product_description") or meaning.label or meaning.key)
    fresh = GoodsInHand(meaning.key, label, ZERO, bool(row.get("allow_decimal")), str(row.get("unit") or ""))
    return set_quantity(state._replace(pending_scan=None), fresh, meaning.quantity, context)


def choose_line(state: ReceiveState, line: DeliveryLine, context: Context) -> Result:
    """A product of the list: its quantity is typed, where nothing can be scanned."""
    if state.in_hand and state.in_hand.product == line.product:
        return reply(state._replace(phase="goods"), INFO, "receive.how_many", label=line.label)
    before = book_goods(state._replace(phase="goods"), state.receiving_location, context)
    item = _announced_goods(state, line.product)
    state = before.state._replace(in_hand=item)
    return reply(state, INFO, "receive.how_many", *before.effects, query_suggested_location(item), label=line.label)


# What is asked about them


def is_goods_question_open(state: ReceiveState) -> bool:
    """Whether goods were counted that nobody has said yet what becomes of."""
    return state.pending_scan is not None and any(way.kind in GOODS_QUESTIONS for way in state.choices)


def repeat_question(state: ReceiveState, match: Match | None, context: Context) -> Result:
    """A scan while goods are asked about: one more of them, or nothing before they are settled."""
    asked = state.pending_scan
    if asked and match and (match.kind, match.key) == (PRODUCT, asked.key):
        more = asked._replace(quantity=asked.quantity + match.quantity)
        if is_announced(state, asked.key):
            return ask_again(state._replace(pending_scan=more), context)
        return Turn(state._replace(pending_scan=more), (query_expecting(more),))
    label, quantity = (asked.label or asked.key, asked.quantity) if asked else ("", ZERO)
    return reply(state, WRONG, "receive.answer_first", label=label, quantity=quantity)


def drop_goods(state: ReceiveState) -> Result:
    """Back, where goods are asked about that stand nowhere else: once more drops them."""
    asked = state.pending_scan
    if asked is None:
        return Turn(state)
    label, quantity = asked.label or asked.key, asked.quantity
    if not state.is_drop_warned and not is_plausibility_asked(state):
        return reply(state._replace(is_drop_warned=True), ASK, "receive.drop", label=label, quantity=quantity)
    state = state._replace(choices=(), pending_scan=None, is_drop_warned=False)
    if state.in_hand and state.in_hand.product == asked.key and state.in_hand.quantity:
        return reply(state, INFO, "receive.dropped_more", label=label, quantity=state.in_hand.quantity)
    return reply(state, INFO, "receive.dropped", label=label, quantity=quantity)


def is_number_asked(state: ReceiveState) -> bool:
    """Whether it is asked what digits are: so many stand nowhere but in the question."""
    return any(way.kind == "amount" for way in state.choices)


def repeat_number_question(state: ReceiveState, label: str) -> Result:
    """Something else while that is asked: nothing before it is settled."""
    return reply(state, WRONG, "count.answer_first", what=label)


# How much


def open_quantity_goods(state: ReceiveState) -> GoodsInHand | None:
    """The product whose quantity is open: the one in hand, or the one that is asked about."""
    if state.phase not in ("goods", "leave") or not state.delivery_number:
        return None
    if state.choices and state.pending_scan:
        asked = state.pending_scan
        return _goods_in_question(state, asked) or GoodsInHand(asked.key, asked.label or asked.key)
    return state.in_hand


def _goods_in_question(state: ReceiveState, match: Match) -> GoodsInHand | None:
    if state.in_hand and state.in_hand.product == match.key:
        return state.in_hand
    return _announced_goods(state, match.key) if is_announced(state, match.key) else None


def enter_quantity(state: ReceiveState, value: Decimal, context: Context) -> Result:
    """So many are in hand."""
    item, asked = open_quantity_goods(state), state.pending_scan
    if item is None:
        return reply(state, WRONG, "receive.scan_first")
    if value and state.choices and asked and not (is_announced(state, asked.key) or asked.key in state.accepted_extra):
        more = asked._replace(quantity=value, is_explicit=True)
        return Turn(state._replace(pending_scan=more), (query_expecting(more),))
    if not value and state.choices and not _quantity_in_hand(state, item.product):
        return set_aside(state._replace(choices=()), item.product, item.label, context)
    return set_quantity(state._replace(choices=(), pending_scan=None), item, value, context)


def ask_again(state: ReceiveState, context: Context) -> Result:
    """What becomes of the goods that are asked about, once it is settled that digits were no quantity of them."""
    asked = state.pending_scan
    assert asked is not None
    item = _goods_in_question(state, asked)
    return set_quantity(state, item, asked.quantity, context) if item else Turn(state, (query_expecting(asked),))


def set_aside(state: ReceiveState, product_number: str, label: str, context: Context) -> Result:
    """What was asked about is not taken; what was in hand of it before is there still."""
    asked = state.pending_scan.quantity if state.pending_scan and state.pending_scan.key == product_number else ZERO
    state = state._replace(pending_scan=None)
    quantity = _quantity_in_hand(state, product_number)
    more = asked - quantity
    if quantities.is_implausible(
        asked, max(*announced_and_received(state, product_number), quantity), context.policy.large_quantity
    ):
        asked = more = ZERO  # so many never came
    if quantity and more > 0:
        rest = msg("receive.still_in_hand", quantity=quantity)
        return reply(state, GOOD, "receive.aside_all", label=label, more=more, rest=rest)
    if quantity:
        return reply(state, INFO, "receive.dropped_more", label=label, quantity=quantity)
    if asked:
        return reply(state, GOOD, "receive.aside_all", label=label, more=asked, rest=raw(""))
    return reply(state, GOOD, "receive.set_aside", label=label)


def set_quantity(
    state: ReceiveState, goods: GoodsInHand, quantity: Decimal, context: Context, added: Decimal | None = None
) -> Result:
    """So many of this are to be in hand, so many `more` by a scan; more than was announced is asked about first."""
    if quantity % 1 and not goods.allows_decimals:
        return reply(state, WRONG, "receive.whole", label=goods.label, quantity=quantity)
    missing = missing_quantity(state, goods.product)
    if goods.product in state.accepted_extra or is_announced_unknown(state, goods.product):
        return _ask_if_plausible(state, goods, quantity, context, added) or _take_goods(state, goods, quantity, context)
    if quantity > missing:
        return _ask_exceeding(state, goods, quantity, missing)
    return _take_goods(state, goods, quantity, context)


def _ask_if_plausible(
    state: ReceiveState, goods: GoodsInHand, quantity: Decimal, context: Context, added: Decimal | None
) -> Result | None:
    """The question whether so many came of what may be more than was announced; None where that can be believed."""
    of, received = announced_and_received(state, goods.product)
    said, limit = max(received, _quantity_in_hand(state, goods.product)), context.policy.large_quantity
    if not quantities.is_implausible(quantity, of, limit, said, added):
        return None
    state = _with_question(state, goods, quantity)
    state = state._replace(choices=(*state.choices, ReceiveChoice(DROP_QUANTITY)))
    return reply(state, ASK, "count.so_many", value=quantity, label=goods.label)


def is_plausibility_asked(state: ReceiveState) -> bool:
    """Whether it is asked if so many are meant."""
    return any(way.kind == DROP_QUANTITY for way in state.choices)


def _with_question(state: ReceiveState, goods: GoodsInHand, quantity: Decimal, *before: ReceiveChoice) -> ReceiveState:
    """It is asked whether so many are to be in hand: all of them, none, or what these ways say."""
    ways = (
        *before,
        ReceiveChoice("over", goods.product, quantity),
        ReceiveChoice("aside", goods.product, label=goods.label),
    )
    pending = Match(PRODUCT, goods.product, goods.label, quantity, code=goods.product)
    return state._replace(choices=ways, pending_scan=pending, phase="goods")


def _quantity_in_hand(state: ReceiveState, product_number: str) -> Decimal:
    return state.in_hand.quantity if state.in_hand and state.in_hand.product == product_number else ZERO


def _ask_exceeding(state: ReceiveState, goods: GoodsInHand, quantity: Decimal, missing: Decimal) -> Result:
    """More than is still to come: what was announced alone, all of it, or none."""
    of, received = announced_and_received(state, goods.product)
    in_hand = _quantity_in_hand(state, goods.product)
    fit = (ReceiveChoice("fit", goods.product, missing),) if missing > 0 and missing != in_hand else ()
    state = _with_question(state, goods, quantity, *fit)
    if missing <= 0:
        return reply(state, ASK, "receive.all_came", label=goods.label, received=received, of=of)
    return reply(state, ASK, "receive.more", label=goods.label, quantity=quantity, missing=missing)


def apply_choice(state: ReceiveState, choice: ReceiveChoice, context: Context) -> Result:
    """A way that says how many, or that it came though nobody announced it."""
    meaning = state.pending_scan
    if choice.kind == "extra":
        extra = (*state.accepted_extra, choice.key)
        return Turn(state._replace(accepted_extra=extra), (_query_product(choice.key),)) if meaning else Turn(state)
    item = _goods_in_question(state, meaning) if meaning else state.in_hand
    state = state._replace(pending_scan=None)
    if item is None:
        return Turn(state)
    if choice.kind == "over" and item.product not in state.accepted_extra:
        state = state._replace(accepted_extra=(*state.accepted_extra, item.product))
    return _take_goods(state, item, choice.quantity, context)


def _take_goods(state: ReceiveState, goods: GoodsInHand, quantity: Decimal, context: Context) -> Result:
    """It is in hand; what was in hand before is booked where all goods go that nobody brings anywhere else."""
    effects: tuple[Effect, ...] = ()
    if state.in_hand and state.in_hand.product != goods.product:
        before = book_goods(state, state.receiving_location, context)
        state, effects = before.state, before.effects
    if not (state.in_hand and state.in_hand.suggested_location):
        effects = (*effects, query_suggested_location(goods))
    state = add_undo_step(state, UndoStep(goods.label, goods))
    state = state._replace(in_hand=goods._replace(quantity=quantity), phase="goods")
    if not quantity:
        return reply(state, INFO, "receive.none", *effects, label=goods.label)
    of, received = announced_and_received(state, goods.product)
    id_ = (
        "receive.taken_alone"
        if is_announced_unknown(state, goods.product)
        else "receive.taken"
        if of
        else "receive.taken_extra"
    )
    return reply(state, GOOD, id_, *effects, label=goods.label, quantity=quantity + received, of=of)


def query_suggested_location(goods: GoodsInHand) -> Query:
    """The question where the product lies already."""
    return Query("homes", "homes", {"product_numbers": [goods.product]}, is_live=True)


def with_suggested_location(state: ReceiveState, rows: tuple[Mapping[str, Any], ...]) -> ReceiveState:
    """Where the product in hand lies already, the first on the way."""
    item = state.in_hand
    if item is None:
        return state
    mine = [str(row["location_code"]) for row in rows if str(row["product_number"]) == item.product]
    return state._replace(in_hand=item._replace(suggested_location=mine[0])) if mine else state


# Where it goes


def book_goods(state: ReceiveState, location: str, context: Context) -> Result:
    """What is in hand is received, at this place; nothing happens with empty hands."""
    item = state.in_hand
    if item is None or item.quantity <= 0:
        return Turn(_empty_hand(state))
    entries = split_over_lines(state, item, location)
    state = lines_after(_empty_hand(state), entries, item.label)
    state = add_undo_step(state, UndoStep(item.label, item, entries, context.now))
    return Turn(state, (receipt_write(state, entries, context),))


def _empty_hand(state: ReceiveState) -> ReceiveState:
    """Nothing in hand; the scans that brought it there are steps of what is booked now."""
    history = state.history
    while history and not history[-1].entries:
        history = history[:-1]
    return state._replace(in_hand=None, history=history)


def put_away(state: ReceiveState, location: str, context: Context) -> Result:
    """The goods in hand go there; with empty hands it is where all goods go from now on."""
    item = state.in_hand
    if item is None or not item.quantity:
        return reply(state._replace(receiving_location=location), GOOD, "receive.place_set", place=location)
    after = book_goods(state, location, context)
    left = any(line.is_open for line in after.state.lines)
    id_ = "receive.put" if left else "receive.put_last"
    args: dict[str, Any] = {"place": location, "quantity": item.quantity, "label": item.label}
    return reply(after.state, GOOD, id_, *after.effects, Refresh("location", location), **args)


# Back


def undo_step(state: ReceiveState, context: Context) -> Result:
    """The last step: a scan is taken out of the hand again; what was booked is taken back by its opposite, and is in
    hand again: where it goes is open, and the step before it is how many came."""
    if not state.history:
        return reply(state, WRONG, "receive.nothing_to_undo")
    did, state = state.history[-1], state._replace(history=state.history[:-1])
    if not did.entries:
        item = state.in_hand
        before = did.before if did.before and did.before.quantity else None
        quantity = before.quantity if before else ZERO
        state = state._replace(in_hand=before)
        was = item.quantity if item else ZERO
        return Turn(state, (), undo_verdict(msg("receive.undone_scan", label=did.label, was=was, now=quantity)))
    quantity = sum((entry.quantity for entry in did.entries), ZERO)
    state = lines_after(state, did.entries, did.label, sign=-1)
    if did.before:
        came = UndoStep(did.label, did.before._replace(quantity=ZERO))
        state = add_undo_step(state._replace(in_hand=did.before), came)
    back = receipt_write(state, did.entries, context, sign=-1)
    where = message.at_location(did.entries[0].location)
    return Turn(state, (back,), undo_verdict(msg("receive.undone", label=did.label, quantity=quantity, where=where)))
