"""Goods of a delivery: quantity in hand, questions about it, booking at a location, and undo."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from aisle.jobs import typed_numbers_dates_and_letters
from aisle.jobs.job import Context, Effect, Query, Turn, reply
from aisle.jobs.receive.receive_state_and_differences import (
    ZERO,
    DeliveryLine,
    GoodsInHand,
    ReceiveChoice,
    ReceiveState,
    Result,
    UndoStep,
    add_received,
    add_undo_step,
    announced_and_received,
    consent_to,
    is_announced,
    is_announced_unknown,
    is_excess_accepted,
    missing_quantity,
    receipt_write,
    split_over_lines,
    with_consent,
)
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Msg, Verdict, msg, raw
from aisle.row_values import to_decimal
from aisle.scan.grammar_and_meaning_types import PRODUCT, Match

if TYPE_CHECKING:
    from aisle.jobs.row_types.deliveries import DeliveriesExpectingRow
    from aisle.jobs.row_types.locations import LocationsOfProductsRow
    from aisle.jobs.row_types.products import ProductRow

LOG_OPERATION = "create-store-product-logs"

GOODS_QUESTIONS = ("fit", "over", "extra")
"""Kinds of choices about goods that somebody has taken; nothing else is taken before the answer."""

MAX_OTHER_DELIVERIES = 2
"""Maximum number of other deliveries offered for a product that this one does not announce."""


# Product


def scan_product(state: ReceiveState, match: Match, context: Context) -> Result:
    """Take one more of a scanned product; for one not announced, query the deliveries that expect it."""
    item = state.in_hand
    if item and item.product == match.key:
        return set_quantity(state, item, item.quantity + match.quantity, context, match.quantity)
    if is_announced(state, match.key):
        return set_quantity(state, _announced_goods(state, match.key), match.quantity, context)
    state = state._replace(pending_scan=match)
    if consent_to(state, match.key):
        return Turn(state, (_query_product(match.key),))
    return Turn(state, (Query("pending_goods", "product", {"product_number": match.key}), query_expecting(match)))


def query_expecting(match: Match) -> Query:
    """Return the query for the deliveries that expect a product."""
    return Query("deliveries_expecting", "deliveries_expecting", {"product_number": match.key})


def _query_product(product_number: str) -> Query:
    return Query("goods", "product", {"product_number": product_number})


def _announced_goods(state: ReceiveState, product_number: str) -> GoodsInHand:
    line = next(line for line in state.lines if line.product == product_number)
    return GoodsInHand(line.product, line.label, ZERO, line.allows_decimals, line.unit)


def ask_not_announced(state: ReceiveState, rows: tuple[DeliveriesExpectingRow, ...]) -> Result:
    """Ask about a product not announced here: take it anyway, open another delivery, or set it aside."""
    match = state.pending_scan
    if match is None:
        return Turn(state)
    label = match.label or match.key
    others = [row for row in rows if str(row["order_number"]) != state.delivery_number][:MAX_OTHER_DELIVERIES]
    switch = tuple(ReceiveChoice("switch", str(row["order_number"]), to_decimal(row.get("missing"))) for row in others)
    choices = (
        ReceiveChoice("extra", match.key, match.quantity, label),
        *switch,
        ReceiveChoice("aside", match.key, label=label),
    )
    id_ = "receive.other_delivery_expects" if switch else "receive.not_announced"
    args = {"delivery": switch[0].key} if switch else {}
    return reply(state._replace(choices=choices), ASK, id_, label=label, **args)


def with_pending_goods(state: ReceiveState, row: ProductRow | None) -> ReceiveState:
    """Keep the data of a scanned product that is not announced, for the question about it."""
    match = state.pending_scan
    return state if match is None else state._replace(pending_goods=_goods_of_product(match, row))


def _goods_of_product(match: Match, row: ProductRow | None) -> GoodsInHand:
    goods = GoodsInHand(match.key, match.label or match.key, ZERO)
    if row is None:
        return goods
    label = str(row.get("product_name") or row.get("product_description") or goods.label)
    return GoodsInHand(match.key, label, ZERO, bool(row.get("allow_decimal")), str(row.get("unit") or ""))


def handle_product(state: ReceiveState, row: ProductRow | None, context: Context) -> Result:
    """Take a product that was not announced, with its data."""
    match = state.pending_scan
    if match is None:
        return Turn(state)
    goods = _goods_of_product(match, row)
    return set_quantity(state._replace(pending_scan=None), goods, match.quantity, context)


def choose_line(state: ReceiveState, line: DeliveryLine, context: Context) -> Result:
    """Select a product of the list; its quantity is typed if it cannot be scanned."""
    if state.in_hand and state.in_hand.product == line.product:
        return reply(state._replace(phase="goods"), INFO, "goods.how_many", label=line.label)
    if asked := ask_before_booking(state):
        return asked
    before = book_goods(state._replace(phase="goods"), state.receiving_location, context)
    item = _announced_goods(state, line.product)
    state = before.state._replace(in_hand=item)
    return reply(state, INFO, "goods.how_many", *before.effects, query_suggested_location(item), label=line.label)


# Questions


def is_goods_question_open(state: ReceiveState) -> bool:
    """Return True if the quantity of scanned goods is not settled."""
    return state.pending_scan is not None and any(choice.kind in GOODS_QUESTIONS for choice in state.choices)


def repeat_question(state: ReceiveState, match: Match | None, context: Context) -> Result:
    """Handle a scan while goods are in question: add to their quantity, or reject another product."""
    pending = state.pending_scan
    if pending and match and (match.kind, match.key) == (PRODUCT, pending.key):
        more = pending._replace(quantity=pending.quantity + match.quantity)
        if is_announced(state, pending.key):
            return ask_again(state._replace(pending_scan=more), context)
        return Turn(state._replace(pending_scan=more), (query_expecting(more),))
    label, quantity = (pending.label or pending.key, pending.quantity) if pending else ("", ZERO)
    return reply(state, WRONG, "receive.answer_first", label=label, quantity=quantity)


def drop_goods(state: ReceiveState) -> Result:
    """Drop the goods in question; warn first, because their quantity is stored nowhere else."""
    pending = state.pending_scan
    if pending is None:
        return Turn(state)
    label, quantity = pending.label or pending.key, pending.quantity
    if not state.is_drop_warned and not is_plausibility_asked(state):
        return reply(state._replace(is_drop_warned=True), ASK, "receive.drop", label=label, quantity=quantity)
    state = state._replace(choices=(), pending_scan=None, is_drop_warned=False)
    if state.in_hand and state.in_hand.product == pending.key and state.in_hand.quantity:
        return reply(state, INFO, "receive.dropped_more", label=label, quantity=state.in_hand.quantity)
    return reply(state, INFO, "receive.dropped", label=label, quantity=quantity)


def is_number_asked(state: ReceiveState) -> bool:
    """Return True if the meaning of digits is asked for."""
    return any(choice.kind == "amount" for choice in state.choices)


def repeat_number_question(state: ReceiveState, what: Msg) -> Result:
    """Reject another input while the meaning of digits is asked for."""
    return reply(state, WRONG, "count.answer_first", what=what)


# Quantity


def open_quantity_goods(state: ReceiveState) -> GoodsInHand | None:
    """Return the product whose quantity a number sets: the one in hand, or the one in question."""
    if state.phase not in ("goods", "leave") or not state.delivery_number:
        return None
    if state.choices and state.pending_scan:
        pending, known = state.pending_scan, state.pending_goods
        goods = known if known and known.product == pending.key else _goods_of_product(pending, None)
        return _goods_in_question(state, pending) or goods
    return state.in_hand


def _goods_in_question(state: ReceiveState, match: Match) -> GoodsInHand | None:
    if state.in_hand and state.in_hand.product == match.key:
        return state.in_hand
    return _announced_goods(state, match.key) if is_announced(state, match.key) else None


def enter_quantity(state: ReceiveState, value: Decimal, context: Context) -> Result:
    """Set the quantity in hand."""
    item, pending = open_quantity_goods(state), state.pending_scan
    if item is None:
        return reply(state, WRONG, "receive.scan_first")
    if value and state.choices and pending and not (is_announced(state, pending.key) or consent_to(state, pending.key)):
        match = pending._replace(quantity=value, is_explicit=True)
        return Turn(state._replace(pending_scan=match), (query_expecting(match),))
    if not value and state.choices and not quantity_in_hand(state, item.product):
        return set_aside(state, item.product, item.label, context)
    return set_quantity(state._replace(choices=(), pending_scan=None), item, value, context)


def ask_again(state: ReceiveState, context: Context) -> Result:
    """Ask about the goods again, once it is clear that digits were no quantity of them."""
    pending = state.pending_scan
    assert pending is not None
    item = _goods_in_question(state, pending)
    return set_quantity(state, item, pending.quantity, context) if item else Turn(state, (query_expecting(pending),))


def set_aside(state: ReceiveState, product_number: str, label: str, context: Context) -> Result:
    """Set aside the goods in question; goods in hand before stay. An undo asks the question again."""
    asked = UndoStep(label, choices=state.choices, pending_scan=state.pending_scan, pending_goods=state.pending_goods)
    asked_quantity = (
        state.pending_scan.quantity if state.pending_scan and state.pending_scan.key == product_number else ZERO
    )
    state = add_undo_step(state._replace(choices=(), pending_scan=None), asked)
    quantity = quantity_in_hand(state, product_number)
    surplus = asked_quantity - quantity
    if typed_numbers_dates_and_letters.is_implausible(
        asked_quantity, max(*announced_and_received(state, product_number), quantity), context.policy.large_quantity
    ):
        asked_quantity = surplus = ZERO  # implausible: these goods do not exist
    if quantity and surplus > 0:
        rest = msg("receive.still_in_hand", quantity=quantity)
        return reply(state, GOOD, "receive.set_aside_quantity", label=label, more=surplus, rest=rest)
    if quantity:
        return reply(state, INFO, "receive.dropped_more", label=label, quantity=quantity)
    if asked_quantity:
        return reply(state, GOOD, "receive.set_aside_quantity", label=label, more=asked_quantity, rest=raw(""))
    return reply(state, GOOD, "receive.set_aside", label=label)


def set_quantity(
    state: ReceiveState, goods: GoodsInHand, quantity: Decimal, context: Context, added: Decimal | None = None
) -> Result:
    """Set the quantity in hand; `added` is the quantity of a scan. Ask first if it exceeds the announced quantity."""
    if quantity % 1 and not goods.allows_decimals:
        return reply(state, WRONG, "input.whole_number_only", text=quantity)
    missing = missing_quantity(state, goods.product)
    if is_excess_accepted(state, goods.product) or is_announced_unknown(state, goods.product):
        return _ask_if_plausible(state, goods, quantity, context, added) or _take_goods(state, goods, quantity, context)
    if quantity > missing:
        return _ask_exceeding(state, goods, quantity, missing)
    return _take_goods(state, goods, quantity, context)


def _ask_if_plausible(
    state: ReceiveState, goods: GoodsInHand, quantity: Decimal, context: Context, added: Decimal | None
) -> Result | None:
    """Return the question about an implausible quantity without a known announcement; None if it is plausible."""
    announced, received = announced_and_received(state, goods.product)
    before, limit = max(received, quantity_in_hand(state, goods.product)), context.policy.large_quantity
    if not typed_numbers_dates_and_letters.is_implausible(quantity, announced, limit, before, added):
        return None
    state = _with_question(state, goods, quantity)
    state = state._replace(choices=(*state.choices, ReceiveChoice(typed_numbers_dates_and_letters.DROP_QUANTITY)))
    return reply(state, ASK, "count.confirm_quantity", value=quantity, label=goods.label)


def is_plausibility_asked(state: ReceiveState) -> bool:
    """Return True if the plausibility of a large quantity is in question."""
    return any(choice.kind == typed_numbers_dates_and_letters.DROP_QUANTITY for choice in state.choices)


def _with_question(state: ReceiveState, goods: GoodsInHand, quantity: Decimal, *before: ReceiveChoice) -> ReceiveState:
    """Return the state that asks to take all of the quantity, none of it, or one of the given choices."""
    choices = (
        *before,
        ReceiveChoice("over", goods.product, quantity),
        ReceiveChoice("aside", goods.product, label=goods.label),
    )
    pending = Match(PRODUCT, goods.product, goods.label, quantity, code=goods.product)
    return state._replace(choices=choices, pending_scan=pending, phase="goods")


def quantity_in_hand(state: ReceiveState, product_number: str) -> Decimal:
    """Return the quantity of a product in hand."""
    return state.in_hand.quantity if state.in_hand and state.in_hand.product == product_number else ZERO


def _ask_exceeding(state: ReceiveState, goods: GoodsInHand, quantity: Decimal, missing: Decimal) -> Result:
    announced, received = announced_and_received(state, goods.product)
    in_hand = quantity_in_hand(state, goods.product)
    fit = (ReceiveChoice("fit", goods.product, missing),) if missing > 0 and missing != in_hand else ()
    state = _with_question(state, goods, quantity, *fit)
    if missing <= 0:
        return reply(state, ASK, "receive.all_received", label=goods.label, received=received, of=announced)
    return reply(state, ASK, "receive.more_than_announced", label=goods.label, quantity=quantity, missing=missing)


def ask_received_meanwhile(state: ReceiveState) -> Result | None:
    """Return the question about goods in hand that others have made an excess since; None if all of them fit."""
    item = state.in_hand
    if item is None or is_excess_accepted(state, item.product) or is_announced_unknown(state, item.product):
        return None
    missing = missing_quantity(state, item.product)
    if item.quantity <= missing or not is_announced(state, item.product):
        return None
    fitting = state._replace(in_hand=item._replace(quantity=max(ZERO, missing)))
    asked = _ask_exceeding(fitting, item, item.quantity, missing)
    announced, received = announced_and_received(state, item.product)
    text = msg("receive.received_meanwhile", received=received, of=announced, label=item.label, more=item.quantity)
    return asked._replace(verdict=Verdict(ASK, text))


def ask_exceeding_again(before: ReceiveState, state: ReceiveState, context: Context) -> Result | None:
    """Return the question about more than is announced with what is still to come now; None if that has not changed.

    Goods that are no longer too many are taken.
    """
    pending = state.pending_scan
    if pending is None or is_plausibility_asked(state) or not any(each.kind == "over" for each in state.choices):
        return None
    missing = missing_quantity(state, pending.key)
    goods = _goods_in_question(state, pending)
    if goods is None or missing == missing_quantity(before, pending.key):
        return None
    if pending.quantity > missing:
        return _ask_exceeding(state, goods, pending.quantity, missing)
    return _take_goods(state._replace(choices=(), pending_scan=None), goods, pending.quantity, context)


def ask_before_booking(state: ReceiveState) -> Result | None:
    """Return the question that keeps an input about something else from booking the goods in hand; None to book."""
    asked = ask_received_meanwhile(state)
    return asked and asked._replace(verdict=asked.verdict and asked.verdict._replace(kind=WRONG))


def report_surplus(before: ReceiveState, state: ReceiveState) -> Verdict | None:
    """Return what newly read quantities make an excess: the goods in hand, or goods that were booked here."""
    own = {entry.product for step in state.history for entry in step.entries}
    products = ([state.in_hand.product] if state.in_hand and state.in_hand.quantity else []) + sorted(own)
    for product in products:
        was, now = _surplus(before, product), _surplus(state, product)
        if now > max(ZERO, was) and not is_excess_accepted(state, product):
            announced, received = announced_and_received(state, product)
            label = next(line.label for line in state.lines if line.product == product)
            in_hand = quantity_in_hand(state, product)
            id_ = "receive.surplus_in_hand" if in_hand else "receive.surplus"
            return Verdict(WRONG, msg(id_, label=label, received=received, of=announced, more=in_hand))
    return None


def _surplus(state: ReceiveState, product: str) -> Decimal:
    """Return how much of a product has come beyond what was announced, with what is in hand."""
    announced, received = announced_and_received(state, product)
    return received + quantity_in_hand(state, product) - announced if announced else ZERO


def apply_choice(state: ReceiveState, choice: ReceiveChoice, context: Context) -> Result:
    """Apply a choice about the quantity, or to take goods that were not announced."""
    match = state.pending_scan
    if choice.kind == "extra":
        return Turn(with_consent(state, choice.key), (_query_product(choice.key),)) if match else Turn(state)
    item = _goods_in_question(state, match) if match else state.in_hand
    state = state._replace(pending_scan=None)
    if item is None:
        return Turn(state)
    if choice.kind == "over":
        state = with_consent(state, item.product)
    return _take_goods(state, item, choice.quantity, context)


def _take_goods(state: ReceiveState, goods: GoodsInHand, quantity: Decimal, context: Context) -> Result:
    """Take goods into hand; goods of another product are booked at the receiving location first."""
    effects: tuple[Effect, ...] = ()
    if state.in_hand and state.in_hand.product != goods.product:
        before = book_goods(state, state.receiving_location, context)
        state, effects = before.state, before.effects
    if not (state.in_hand and state.in_hand.suggested_location):
        effects = (*effects, query_suggested_location(goods))
    state = add_undo_step(state, UndoStep(goods.label, goods))
    state = state._replace(in_hand=goods._replace(quantity=quantity), phase="goods")
    if not quantity:
        return reply(state, INFO, "move.none_taken", *effects, label=goods.label)
    announced, received = announced_and_received(state, goods.product)
    if received and not is_announced_unknown(state, goods.product):
        id_ = "receive.taken_more" if announced else "receive.taken_extra_more"
        total = quantity + received
        return reply(state, GOOD, id_, *effects, label=goods.label, quantity=quantity, all=total, of=announced)
    id_ = (
        "receive.taken_alone"
        if is_announced_unknown(state, goods.product)
        else "pick.picked"
        if announced
        else "receive.taken_extra"
    )
    return reply(state, GOOD, id_, *effects, label=goods.label, quantity=quantity, done=quantity, of=announced)


def query_suggested_location(goods: GoodsInHand) -> Query:
    """Return the query for the locations of the product."""
    return Query("locations_of_products", "locations_of_products", {"product_numbers": [goods.product]}, is_live=True)


def with_suggested_location(state: ReceiveState, rows: tuple[LocationsOfProductsRow, ...]) -> ReceiveState:
    """Set the suggested location of the product in hand: its first location in walking order."""
    item = state.in_hand
    if item is None:
        return state
    locations = tuple(str(row["location_code"]) for row in rows if str(row["product_number"]) == item.product)
    if not locations:
        return state
    return state._replace(in_hand=item._replace(suggested_location=locations[0], usual_locations=locations))


# Location


def book_goods(state: ReceiveState, location: str, context: Context) -> Result:
    """Book the goods in hand at this location; return no operation if nothing is in hand."""
    item = state.in_hand
    if item is None or item.quantity <= 0:
        return Turn(_empty_hand(state))
    entries = split_over_lines(state, item, location)
    state = add_received(_empty_hand(state), entries, item.label)
    state = add_undo_step(state, UndoStep(item.label, item, entries, context.now))
    return Turn(state, (receipt_write(state, entries, context),))


def without_refused_undo(state: ReceiveState, undone: dict[str, Decimal]) -> Result:
    """Remove goods whose undo was refused from those in hand, since they are still booked; others stay in hand.

    `undone` has the quantity by time of the undo.
    """
    item, step = state.in_hand, next((each for each in state.history if not each.entries and each.at in undone), None)
    if item is None or step is None:
        return Turn(state)
    quantity, pending = undone[step.at], state.pending_scan
    state = _empty_hand(state)
    if item.quantity > quantity:
        state = add_undo_step(state, UndoStep(item.label, item._replace(quantity=ZERO)))
        state = state._replace(in_hand=item._replace(quantity=item.quantity - quantity))
    if pending is None or pending.key != item.product or not state.choices:
        return Turn(state)
    more = pending.quantity - quantity
    if more <= 0:
        return Turn(state._replace(choices=(), pending_scan=None))
    goods = state.in_hand or item._replace(quantity=ZERO)
    return _ask_exceeding(state, goods, more, missing_quantity(state, item.product))


def _empty_hand(state: ReceiveState) -> ReceiveState:
    """Empty the hand, and remove the scans of these goods from the history."""
    booked = max((number for number, step in enumerate(state.history, 1) if step.entries), default=0)
    set_aside_since = (step for step in state.history[booked:] if step.choices)
    return state._replace(in_hand=None, history=(*state.history[:booked], *set_aside_since))
