"""Source of a move: the location or order that goods are taken from, the products, and their quantities."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from aisle.jobs import typed_numbers_dates_and_letters
from aisle.jobs.job import Effect, Query, Refresh, Turn, reply
from aisle.jobs.move import goods_in_hand, query_stock_here
from aisle.jobs.move.move_state_and_rows import (
    UNKNOWN_QUANTITY,
    ZERO,
    Goods,
    HeldGoods,
    MoveChoice,
    MoveState,
    Result,
    StockLine,
    UndoStep,
    at_source,
    is_open_order,
    parse_held_goods,
    parse_unlocated_stock,
)
from aisle.jobs.names_in_messages import amount_of, measured, pool_message, unit_of
from aisle.jobs.typed_numbers_dates_and_letters import name_of
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Msg, Verdict, msg, raw
from aisle.row_values import to_decimal
from aisle.scan.grammar_and_meaning_types import PRODUCT, Match

if TYPE_CHECKING:
    from aisle.jobs.row_types.locations import LocationRow
    from aisle.jobs.row_types.orders import OrderRow
    from aisle.jobs.row_types.products import ProductRow


MAX_LOCATION_CHOICES = 7
"""Maximum number of numbered locations; any other location can be scanned."""


# Source


def take_from_location(state: MoveState, location: str) -> Result:
    """Take goods from this location from now on."""
    state = at_source(state, location)._replace(phase=_taking_phase(state), current_index=-1)
    return Turn(state, (query_stock_here.query_location("location", location), Refresh("location", location)))


def _taking_phase(state: MoveState) -> str:
    return "load" if state.phase == "load" else "take"


def take_unlocated(state: MoveState) -> Result:
    """Take goods that are in stock at no location."""
    match, state = state.pending_scan, at_source(state)._replace(phase=_taking_phase(state), pending_scan=None)
    return scan_product(state, match) if match else Turn(state)


def open_location(state: MoveState, row: LocationRow | None) -> Result:
    """Open a location with its stock; a product that was scanned first is taken now."""
    match, state = state.pending_scan, query_stock_here.refresh_stock(state._replace(pending_scan=None), row)
    if match is not None:
        return scan_product(state, match)
    if state.are_locations_unknown and not state.product_count:
        return reply(state, GOOD, "locations.locations_unknown_at", place=state.location)
    return reply(state, GOOD, "count.at_location", place=state.location, count=state.product_count)


def handle_product_here(state: MoveState, row: LocationRow | None) -> Result:
    """Handle the queried stock of a product at the current location."""
    match = state.pending_scan
    if match is None:
        return Turn(state)
    state = query_stock_here.with_product_here(state, row)
    if not any(each.product == match.key for each in state.source_stock):
        return Turn(state, (_query_product(match),))
    return scan_product(state._replace(pending_scan=None), match)


def _query_product(match: Match) -> Query:
    return Query("goods", "product", {"product_number": match.key})


def refuse_order(state: MoveState, row: OrderRow | None) -> Result | None:
    """Return the refusal of an order that is closed or not loaded yet; None if goods can be moved from it or to it."""
    order = str(row["order_number"]) if row else ""
    if row is None or not is_open_order(row):
        return reply(state, WRONG, "pick.no_order", order=order)
    if not row.get("lines_known", True):
        return reply(state, WRONG, "pick.waiting", Refresh("order", order), order=order)
    return None


def take_from_order(state: MoveState, row: OrderRow | None) -> Result:
    """Take goods from the lines of this order, at the scanned location or anywhere. A product that was scanned first is
    taken now; if the order does not hold it, its source is still asked for."""
    asked = state
    if refused := refuse_order(state, row):
        return refused
    assert row is not None
    order = str(row["order_number"])
    lines = parse_held_goods(row, state.location if state.is_started else "")
    if not any(line.held for line in lines):
        state, lines = state._replace(location=""), parse_held_goods(row, "")
    if not any(line.held for line in lines):
        return reply(asked, WRONG, "move.order_has_nothing", order=order)
    state = state._replace(
        phase=_taking_phase(state), is_started=True, order=order, order_lines=lines, current_index=-1
    )
    refresh = Refresh("order", order)
    if is_place_asked(asked) and asked.pending_scan:
        taken = scan_product(state._replace(choices=(), pending_scan=None), asked.pending_scan)
        is_refused = taken.verdict is not None and taken.verdict.kind == WRONG
        return taken._replace(state=asked if is_refused else taken.state, effects=(*taken.effects, refresh))
    held = sum(bool(each.held) for each in lines)
    return reply(state, GOOD, "move.from_order", refresh, order=order, count=held)


# Product


def scan_product(state: MoveState, match: Match) -> Result:
    """Take one more of a scanned product, or query its stock first."""
    if state.order:
        return _take_of_order(state, match)
    stock_line = next((each for each in state.source_stock if each.product == match.key), None)
    if state.is_started and stock_line is not None:
        return _take_product(state, stock_line, match)
    is_unread = state.is_started and state.has_unread_stock and state.location
    query = query_stock_here.query_product_here(state, match.key) if is_unread else _query_product(match)
    return Turn(state._replace(pending_scan=match), (query,))


def handle_product(state: MoveState, row: ProductRow | None) -> Result:
    """Handle the data of a product without known stock here: take it, or ask where it comes from."""
    match = state.pending_scan
    if match is None:
        return Turn(state)
    stock_line = parse_unlocated_stock(row) if row else StockLine(match.key, match.label or match.key)
    if row and row.get("is_stock") is False:
        return reply(state._replace(pending_scan=None), WRONG, "move.no_stock", label=stock_line.label)
    locations = _parse_locations(row)
    if state.is_started and not state.location:
        state = state._replace(pending_scan=None, source_stock=(*state.source_stock, stock_line))
        return _take_product(state, stock_line, match)
    if state.is_started:
        return _ask_not_here(state._replace(pending_scan=None), stock_line, match, locations)
    return _choose_location(state, stock_line, match, locations)


def _parse_locations(row: ProductRow | None) -> list[tuple[str, Decimal]]:
    """Return the locations with stock and their quantities; `UNKNOWN_QUANTITY` if a quantity is unknown."""
    rows = row.get("locations") or () if row else ()
    found = [(str(each["location_code"]), to_decimal(each.get("quantity"), UNKNOWN_QUANTITY)) for each in rows]
    return [(location, quantity) for location, quantity in found if quantity > 0 or quantity == UNKNOWN_QUANTITY]


def _choose_location(
    state: MoveState, stock_line: StockLine, match: Match, locations: list[tuple[str, Decimal]]
) -> Result:
    if not state.uses_locations or (not locations and stock_line.free > 0):
        return take_unlocated(state)
    if len(locations) == 1 and stock_line.free <= 0:
        return take_from_location(state, locations[0][0])
    unit = unit_of(stock_line)
    choices = [MoveChoice("from", *there, unit=unit) for there in locations[:MAX_LOCATION_CHOICES]]
    if not locations or stock_line.free != ZERO:
        choices.append(MoveChoice("nowhere", "", max(ZERO, stock_line.free), unit=unit))
    id_ = "move.where_from" if locations else "move.no_known_location"
    state = state._replace(choices=tuple(choices))
    if match.quantity != 1:
        return _so_many_from(state, stock_line.label, match.quantity)
    return reply(state, ASK, id_, label=stock_line.label)


def _so_many_from(state: MoveState, label: str, quantity: Decimal) -> Result:
    amount = measured(quantity, state.choices[0].unit)
    return reply(state, ASK, "move.where_from_quantity", quantity=amount, label=label)


def is_place_asked(state: MoveState) -> bool:
    """Return True if the source of the product that was scanned first is asked for."""
    return state.pending_scan is not None and not state.is_started and bool(state.choices)


def more_from(state: MoveState, meaning: Match) -> Result:
    """Add a further scan of the product while its source is asked for; reject anything else."""
    pending = state.pending_scan
    assert pending is not None
    if (meaning.kind, meaning.key) != (PRODUCT, pending.key):
        return reply(state, WRONG, "count.answer_first", what=name_of(meaning))
    quantity = pending.quantity + meaning.quantity
    explicit = pending.is_explicit or meaning.is_explicit
    state = state._replace(pending_scan=pending._replace(quantity=quantity, is_explicit=explicit))
    return _so_many_from(state, pending.label or meaning.label or meaning.key, quantity)


def _ask_not_here(
    state: MoveState, stock_line: StockLine, match: Match, locations: list[tuple[str, Decimal]]
) -> Result:
    """Ask about a product without stock here: take it anyway, count, or take it from another location."""
    here = StockLine(stock_line.product, stock_line.label, ZERO, (), (), stock_line.allows_decimals, stock_line.unit)
    if not state.is_source_known:
        here = here._replace(free=UNKNOWN_QUANTITY)
    state = state._replace(source_stock=(*state.source_stock, here))
    in_hand = goods_in_hand.find_goods(state.in_hand, _free_goods(state, here)) >= 0
    if in_hand or not state.is_source_known:
        return _take_product(state, here, match)
    others = [
        MoveChoice("from", location, quantity, unit=unit_of(stock_line))
        for location, quantity in locations
        if location.casefold() != state.location.casefold()
    ]
    state = _without_same_product(state, stock_line.product)
    choices = (_anyway(stock_line, match), MoveChoice("count", state.location), *others[:2])
    text = msg("move.not_here", label=stock_line.label, place=state.location)
    state = state._replace(choices=choices, pending_scan=match)
    return Turn(state, (), Verdict(ASK, text))


def _free_goods(state: MoveState, stock_line: StockLine) -> Goods:
    """Return an entry of quantity 0 for goods here that are held for no order, in the chosen pools."""
    goods = goods_in_hand.free_goods(stock_line, state.location, state.from_pool)
    return goods._replace(to_pool=state.to_pool)


def _held_goods(state: MoveState, stock_line: StockLine, held: HeldGoods, location: str) -> Goods:
    """Return an entry of quantity 0 for goods that an order line holds, for the chosen pool."""
    return goods_in_hand.held_goods(stock_line, held, location)._replace(to_pool=state.to_pool)


def _anyway(stock_line: StockLine, match: Match) -> MoveChoice:
    return MoveChoice("over", stock_line.product, match.quantity, unit=unit_of(stock_line))


def _without_same_product(state: MoveState, product: str) -> MoveState:
    """Return the state without the product as the current goods: it came from another location or pool than that in
    question, so that a number is not for it."""
    current = state.current_goods
    return state._replace(current_index=-1) if current and current.product == product else state


def _take_product(state: MoveState, stock_line: StockLine, match: Match) -> Result:
    if stock_line.held and stock_line.free <= 0 and not state.from_pool:
        if len(stock_line.held) == 1:
            return _add_scanned(
                state,
                _held_goods(state, stock_line, stock_line.held[0], state.location)._replace(stays_held=True),
                match,
            )
        choices = tuple(
            MoveChoice("held", held.order, match.quantity, held.line, unit=unit_of(stock_line))
            for held in stock_line.held[:MAX_LOCATION_CHOICES]
        )
        state = state._replace(choices=choices, pending_scan=match)
        return reply(state, ASK, "move.which_order", label=stock_line.label, count=len(stock_line.held))
    goods = _free_goods(state, stock_line)
    if (
        goods_in_hand.stock_left(state, goods) == 0
        and state.location
        and goods_in_hand.find_goods(state.in_hand, goods) < 0
    ):
        choices = (_anyway(stock_line, match), MoveChoice("count", state.location))
        state = _without_same_product(state, stock_line.product)
        state = state._replace(choices=choices, pending_scan=match)
        if state.from_pool:
            return _reply_of_pool(
                state, goods.pool, "move.none_left_in_pool", label=stock_line.label, place=state.location
            )
        return reply(state, ASK, "move.none_left", label=stock_line.label, place=state.location)
    return _add_scanned(state, goods, match)


def _reply_of_pool(state: MoveState, pool: int, id_: str, **args: str | Decimal | Msg) -> Result:
    """Ask about goods that may lie in other pools: the pool is named."""
    return reply(state, ASK, id_, pool=pool_message(state.pools, pool), **args)


def _take_of_order(state: MoveState, match: Match) -> Result:
    stock_line = next((each for each in state.order_lines if each.product == match.key), None)
    if stock_line is None or not stock_line.held:
        label = match.label or match.key
        return reply(state, WRONG, "move.not_of_order", label=label, code=match.code or match.key, order=state.order)
    parts = [_held_goods(state, stock_line, hold, hold.location) for hold in stock_line.held]
    for part in parts:
        index = goods_in_hand.find_goods(state.in_hand, part)
        if index < 0 or state.in_hand[index].quantity < part.available:
            return _add_scanned(state, part, match)
    return _add_scanned(state, parts[-1], match)


# Quantity


def _add_scanned(state: MoveState, goods: Goods, match: Match) -> Result:
    index = goods_in_hand.find_goods(state.in_hand, goods)
    before = state.in_hand[index].quantity if index >= 0 else ZERO
    return set_quantity(state, goods, before + match.quantity, added=match.quantity)


def set_quantity(
    state: MoveState, goods: Goods, quantity: Decimal, *, is_confirmed: bool = False, added: Decimal | None = None
) -> Result:
    """Set the quantity of these goods in hand; `added` is the quantity of a scan. Ask first if it exceeds the stock, or
    if it is implausibly large and not confirmed."""
    if quantity % 1 and not goods.allows_decimals:
        return reply(state, WRONG, "input.whole_number_only", text=quantity)
    index = goods_in_hand.find_goods(state.in_hand, goods)
    over, before = (state.in_hand[index].allow_overage, state.in_hand[index].quantity) if index >= 0 else (False, ZERO)
    if index < 0:
        state = _without_same_product(state, goods.product)
    left = goods_in_hand.stock_left(state, goods)
    if 0 <= left < quantity and not over:
        return ask_exceeding(state, goods._replace(available=left), quantity)
    if not is_confirmed and typed_numbers_dates_and_letters.is_implausible(
        quantity, max(ZERO, goods.available), state.large_quantity, before, added
    ):
        choices = (
            MoveChoice("amount", goods.product, quantity, goods.line, unit=unit_of(goods)),
            MoveChoice(typed_numbers_dates_and_letters.DROP_QUANTITY),
        )
        match = Match(PRODUCT, goods.product, goods.label, quantity, True, goods.product)
        state_asked = state._replace(choices=choices, pending_scan=match)
        return reply(state_asked, ASK, "count.confirm_quantity", value=amount_of(goods, quantity), label=goods.label)
    return take_goods(state, goods, quantity)


def ask_exceeding(state: MoveState, goods: Goods, quantity: Decimal) -> Result:
    """Reject a quantity above the stock, and offer the stock quantity, a count, and to move more anyway. Goods held by
    an order cannot exceed their stock."""
    unit = unit_of(goods)
    fit = MoveChoice("fit", goods.product, goods.available, goods.line, unit=unit)
    choices = [fit] if goods.available > 0 else []
    if goods.location:
        choices.append(MoveChoice("count", goods.location))
    if not goods.order:
        choices.append(MoveChoice("over", goods.product, quantity, unit=unit))
    id_ = "move.exceeds_held" if goods.order else "move.exceeds_expected"
    index = goods_in_hand.find_goods(state.in_hand, goods)
    if index >= 0 and goods.available <= 0:
        choices.append(MoveChoice("forget", goods.product))
    match = Match(PRODUCT, goods.product, goods.label, quantity, code=goods.product) if choices else None
    state = state._replace(
        choices=tuple(choices), pending_scan=match, current_index=index if index >= 0 else state.current_index
    )
    args: dict[str, str | Decimal | Msg] = {"label": goods.label, "quantity": amount_of(goods, quantity)}
    args["books"] = amount_of(goods, goods.available)
    if goods.order:
        args["order"] = goods.order
    elif choices and goods.pool:
        return _reply_of_pool(state, goods.pool, "move.exceeds_expected_in_pool", **args)
    return reply(state, ASK if choices else WRONG, id_, **args)


def keep_other_locations(asked: MoveState, turn: Result) -> Result:
    """Keep the other locations that a question offered, in its order, if it is asked again with another quantity."""
    state, elsewhere = turn.state, [choice for choice in asked.choices if choice.kind == "from"]
    scan, before = state.pending_scan, asked.pending_scan
    over = next((choice for choice in state.choices if choice.kind == "over"), None)
    if not (elsewhere and over and scan and before and scan.key == before.key):
        return turn
    kept = (over, *(choice for choice in state.choices if choice.kind == "count"), *elsewhere)
    return turn._replace(state=state._replace(choices=kept))


def take_goods(state: MoveState, goods: Goods, quantity: Decimal) -> Result:
    """Take the goods into hand; query once where more of them is."""
    state = goods_in_hand.set_in_hand(state._replace(pending_scan=None), goods, quantity)
    current = state.current_goods
    if current is None or goods_in_hand.goods_key(current) != goods_in_hand.goods_key(goods):
        return reply(state, GOOD, "move.none_taken", label=goods.label)
    effects: tuple[Effect, ...] = () if current.suggested_location else (query_suggested_locations(state),)
    return reply(
        state,
        GOOD,
        "move.taken",
        *effects,
        label=goods.label,
        quantity=amount_of(goods, quantity),
        source=_source_text(current),
    )


def query_suggested_locations(state: MoveState) -> Query:
    """Return the query for the locations with more stock of the goods in hand."""
    return Query(
        "locations_of_products",
        "locations_of_products",
        {"product_numbers": sorted({part.product for part in state.in_hand})},
    )


def _source_text(goods: Goods) -> Msg:
    if goods.location:
        return raw(goods.location)
    return raw(goods.order) if goods.order else msg("move.no_location_short")


def apply_choice(state: MoveState, choice: MoveChoice) -> Result:
    """Apply a choice about the quantity or the owner of goods."""
    part = goods_of_choice(state, choice)
    if part is None:
        return Turn(state._replace(pending_scan=None))
    match, state = state.pending_scan, state._replace(pending_scan=None)
    if choice.kind == "held":
        return _add_scanned(state, part, match) if match else Turn(state)
    if choice.kind == "over":
        part = part._replace(allow_overage=True)
        index = goods_in_hand.find_goods(state.in_hand, part)
        if index >= 0:
            in_hand = (
                *state.in_hand[:index],
                state.in_hand[index]._replace(allow_overage=True),
                *state.in_hand[index + 1 :],
            )
            state = state._replace(in_hand=in_hand)
    return take_goods(state, part, choice.quantity)


def open_quantity_goods(state: MoveState) -> Goods | None:
    """Return the goods whose quantity a number sets: those on the screen, or those in question."""
    if state.phase not in ("take", "load", "put"):
        return None
    if state.pending_scan and state.choices:
        return _held_goods_in_question(state) if is_order_asked(state) else _goods_in_question(state)
    choice = state.choices[0] if state.choices else None
    return goods_of_choice(state, choice) if choice and choice.kind == "amount" else state.current_goods


def repeat_question(state: MoveState, match: Match) -> Result:
    """Handle a scan while goods are in question: add to their quantity, or reject another product."""
    pending, part = state.pending_scan, _goods_in_question(state)
    if pending and (match.kind, match.key) != (PRODUCT, pending.key):
        return ask_answer_first(state, pending)
    if pending is None or part is None:
        return reply(state, WRONG, "count.answer_first", what=name_of(match))
    quantity = pending.quantity + match.quantity
    if part.available or state.choices[0].kind != "over" or (quantity % 1 and not part.allows_decimals):
        return set_quantity(state, part, quantity)
    choices = tuple(choice._replace(quantity=quantity) if choice.kind == "over" else choice for choice in state.choices)
    state = state._replace(choices=choices, pending_scan=pending._replace(quantity=quantity))
    args: dict[str, str | Decimal | Msg] = {"label": part.label, "quantity": amount_of(part, quantity)}
    args["books"] = amount_of(part, part.available)
    if part.pool:
        return _reply_of_pool(state, part.pool, "move.exceeds_expected_in_pool", **args)
    return reply(state, ASK, "move.exceeds_expected", **args)


def ask_answer_first(state: MoveState, match: Match) -> Result:
    """Reject an input while goods are in question, because their quantity is not stored yet."""
    amount = measured(match.quantity, state.choices[0].unit)
    return reply(state, WRONG, "move.answer_first_quantity", label=match.label or match.key, quantity=amount)


def _goods_in_question(state: MoveState) -> Goods | None:
    choice = next(
        (choice for choice in state.choices if choice.kind in (*goods_in_hand.GOODS_QUESTIONS, "amount")), None
    )
    return None if choice is None or choice.kind == "held" else goods_of_choice(state, choice)


def is_order_asked(state: MoveState) -> bool:
    """Return True if the order that holds the scanned goods is asked for."""
    return any(choice.kind == "held" for choice in state.choices)


def _held_goods_in_question(state: MoveState) -> Goods | None:
    pending = state.pending_scan
    stock_line = next((each for each in state.source_stock if pending and each.product == pending.key), None)
    return _free_goods(state, stock_line) if stock_line else None


def set_asked_quantity(state: MoveState, value: Decimal) -> Result:
    """Set the quantity of goods whose owner is still asked for."""
    pending = state.pending_scan
    assert pending is not None
    choices = tuple(choice._replace(quantity=value) for choice in state.choices)
    state = state._replace(choices=choices, pending_scan=pending._replace(quantity=value, is_explicit=True))
    label = pending.label or pending.key
    return reply(state, ASK, "move.which_order_quantity", label=label, quantity=choices[0].amount, count=len(choices))


def ask_again(state: MoveState, match: Match) -> Result:
    """Take the goods in question, once it is clear that digits were no quantity of them."""
    part, asked = _goods_in_question(state), without_number_question(state)
    state = state._replace(choices=(), covered_choices=(), pending_scan=None)
    return keep_other_locations(asked, set_quantity(state, part, match.quantity)) if part else Turn(state)


def without_number_question(state: MoveState) -> MoveState:
    """Return the state with the question of the goods that one about a number covers; without one, the state itself."""
    return state._replace(choices=state.covered_choices) if is_number_asked(state) else state


def is_number_asked(state: MoveState) -> bool:
    """Return True if a quantity is in question that is stored nowhere else."""
    return any(choice.kind == "amount" for choice in state.choices)


def is_plausibility_asked(state: MoveState) -> bool:
    """Return True if the plausibility of a large quantity is in question."""
    return any(choice.kind == typed_numbers_dates_and_letters.DROP_QUANTITY for choice in state.choices)


def add_to_question(state: MoveState, match: Match) -> Result | None:
    """Add a scan with a large quantity to the quantity in question; return None for any other scan."""
    part, pending = open_quantity_goods(state), state.pending_scan
    is_same = pending is not None and (match.kind, match.key) == (PRODUCT, pending.key)
    if part is None or not is_same or not is_plausibility_asked(state):
        return None
    if not typed_numbers_dates_and_letters.is_implausible(
        match.quantity, max(ZERO, part.available), state.large_quantity
    ):
        return None
    return set_quantity(state, part, state.choices[0].quantity + match.quantity)


def drop_quantity(state: MoveState) -> Result:
    """Drop the quantity in question; the earlier one in hand stays."""
    pending, quantity = state.pending_scan, state.choices[0].amount
    label = pending.label or pending.key if pending else state.choices[0].key
    return reply(state._replace(choices=(), pending_scan=None), INFO, "receive.dropped", label=label, quantity=quantity)


def is_number_of_product(state: MoveState, match: Match) -> bool:
    """Return True if it is asked whether digits are the number of this product."""
    return match.kind == PRODUCT and any((each.kind, each.key) == ("is_product", match.key) for each in state.choices)


def repeat_number_question(state: MoveState) -> Result:
    """Repeat the question about a quantity after a letter."""
    pending, quantity = state.pending_scan, state.choices[0].amount
    if is_plausibility_asked(state) and pending:
        return reply(state, WRONG, "count.confirm_quantity", value=quantity, label=pending.label)
    return reply(state, WRONG, "move.number_of", quantity=quantity)


def drop_current_goods(state: MoveState) -> Result:
    """Drop the goods on the screen; the others stay in hand."""
    part = state.current_goods
    if part is None:
        return Turn(state)
    state = goods_in_hand.set_in_hand(state._replace(portion=ZERO, pending_scan=None), part, ZERO)
    if state.phase == "put" and not state.in_hand:
        state = state._replace(phase="load")
    return reply(state, INFO, "move.none_taken", label=part.label)


def goods_of_choice(state: MoveState, choice: MoveChoice) -> Goods | None:
    """Return the goods that a choice is about: those on the screen, or stock here."""
    if choice.kind == "held":
        stock_line = next(
            (each for each in state.source_stock if any(_is_held_by(held, choice) for held in each.held)), None
        )
        held = next((held for held in stock_line.held if _is_held_by(held, choice)), None) if stock_line else None
        if state.pending_scan and (stock_line is None or stock_line.product != state.pending_scan.key):
            return None
        return (
            _held_goods(state, stock_line, held, state.location)._replace(stays_held=True)
            if stock_line and held
            else None
        )
    current = state.current_goods
    if current and current.product == choice.key and (not choice.line or current.line == choice.line):
        return current
    stock_line = next((each for each in (*state.order_lines, *state.source_stock) if each.product == choice.key), None)
    if stock_line is None:
        return None
    if choice.line:
        held = next((held for held in stock_line.held if held.line == choice.line), None)
        location = held.location or ("" if state.order else state.location) if held else ""
        return _held_goods(state, stock_line, held, location)._replace(stays_held=not state.order) if held else None
    return _free_goods(state, stock_line)


def _is_held_by(held: HeldGoods, choice: MoveChoice) -> bool:
    return (held.order, held.line) == (choice.key, choice.line)


def take_all_of_product(state: MoveState) -> Result:
    """Take all stock of the product on the screen."""
    part = state.current_goods
    if part is None:
        return reply(state, WRONG, "receive.scan_first")
    if part.available < 0:
        return reply(state, WRONG, "move.stock_unknown", label=part.label)
    left = goods_in_hand.stock_left(state, part)
    if left < part.quantity:
        return ask_exceeding(state, part._replace(available=left), part.quantity)
    return take_goods(state, part, left)


def take_everything(state: MoveState) -> Result:
    """Take all stock here, or all goods of the order; held goods stay held for their orders."""
    if state.has_unread_stock and not state.order:
        return Turn(state, (query_stock_here.query_all_here(state),))
    parts = [*_goods_of_order(state)] if state.order else [*_goods_at_location(state)]
    untaken = tuple(part for part in parts if part.quantity > 0)
    if not untaken:
        id_ = "move.nothing_here" if state.location or state.order else "move.scan_location_first"
        return reply(state, WRONG, id_, place=state.order or state.location)
    in_hand = state.in_hand
    for part in untaken:
        in_hand = goods_in_hand.add_to_hand(in_hand, part)
    index = goods_in_hand.find_goods(in_hand, untaken[-1]) if len(untaken) == 1 else -1
    state = goods_in_hand.add_undo_step(state._replace(in_hand=in_hand, current_index=index), UndoStep(untaken))
    query = query_suggested_locations(state)
    return reply(state, GOOD, "move.whole_location", query, count=goods_in_hand.count_products(state))


def _remaining(state: MoveState, goods: Goods) -> Goods:
    index = goods_in_hand.find_goods(state.in_hand, goods)
    return goods._replace(
        quantity=goods_in_hand.stock_left(state, goods) - (state.in_hand[index].quantity if index >= 0 else ZERO)
    )


def _goods_at_location(state: MoveState) -> list[Goods]:
    parts = []
    for stock_line in state.source_stock if state.is_source_known else ():
        parts.append(_remaining(state, _free_goods(state, stock_line)))
        if not state.from_pool:
            held = (
                _held_goods(state, stock_line, held_goods, state.location)._replace(stays_held=True)
                for held_goods in stock_line.held
            )
            parts += [_remaining(state, part) for part in held]
    return parts


def _goods_of_order(state: MoveState) -> list[Goods]:
    return [
        _remaining(state, _held_goods(state, stock_line, held, held.location))
        for stock_line in state.order_lines
        for held in stock_line.held
    ]
