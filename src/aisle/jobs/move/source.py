"""The taking half of the move job: where from, what, and how much of it."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs import quantities
from aisle.jobs.job import Effect, Query, Refresh, Turn
from aisle.jobs.move import goods_in_hand
from aisle.jobs.move.move_state import (
    UNKNOWN_QUANTITY,
    ZERO,
    Goods,
    HeldGoods,
    MoveChoice,
    MoveState,
    StockLine,
    UndoStep,
    parse_held_goods,
    parse_unlocated_stock,
    reply,
)
from aisle.jobs.quantities import DROP_QUANTITY, to_decimal
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Msg, Verdict, msg, raw
from aisle.scan.meaning import PRODUCT, Match

Result = Turn[MoveState]

MAX_LOCATION_CHOICES = 7
"""Numbered places at most; any other place can be scanned."""


# Where from


def take_from_location(state: MoveState, location: str) -> Result:
    """Goods are taken here from now on."""
    phase = "load" if state.phase == "load" else "take"
    state = state._replace(
        phase=phase,
        is_started=True,
        location=location,
        order="",
        order_lines=(),
        source_stock=(),
        is_source_known=False,
        current_index=-1,
    )
    return Turn(
        state._replace(has_unread_stock=False),
        (goods_in_hand.query_location("place", location), Refresh("location", location)),
    )


def take_unlocated(state: MoveState) -> Result:
    """Goods that the books have at no place."""
    phase = "load" if state.phase == "load" else "take"
    meaning = state.pending_scan
    fresh = state._replace(
        phase=phase,
        is_started=True,
        location="",
        order="",
        order_lines=(),
        source_stock=(),
        is_source_known=False,
        pending_scan=None,
    )
    fresh = fresh._replace(has_unread_stock=False)
    return scan_product(fresh, meaning) if meaning else Turn(fresh)


def open_location(state: MoveState, row: Mapping[str, Any] | None) -> Result:
    """What lies at the place; a product that was scanned first is taken there now."""
    meaning, state = state.pending_scan, goods_in_hand.refresh_stock(state._replace(pending_scan=None), row)
    if meaning is not None:
        return scan_product(state, meaning)
    if state.are_locations_unknown and not state.product_count:
        return reply(state, GOOD, "place.unnamed_at", place=state.location)
    return reply(state, GOOD, "move.at_place", place=state.location, count=state.product_count)


def handle_product_here(state: MoveState, row: Mapping[str, Any] | None) -> Result:
    """A product that was asked for by name lies here, or does not."""
    meaning = state.pending_scan
    if meaning is None:
        return Turn(state)
    state = goods_in_hand.with_product_here(state, row)
    if not any(each.product == meaning.key for each in state.source_stock):
        return Turn(state, (_query_product(meaning),))
    return scan_product(state._replace(pending_scan=None), meaning)


def _query_product(match: Match) -> Query:
    """Asks where a product lies that nobody here has in sight."""
    return Query("goods", "product", {"product_number": match.key})


def take_from_order(state: MoveState, row: Mapping[str, Any] | None) -> Result:
    """Goods are taken from the lines of this order, at the place that was scanned or wherever they are."""
    if row is None or not row.get("is_active", True) or row.get("is_rejected"):
        return reply(state, WRONG, "move.no_order", order=str((row or {}).get("order_number") or ""))
    order = str(row["order_number"])
    if not row.get("lines_known", True):
        return reply(state, WRONG, "move.lines_awaited", Refresh("order", order), order=order)
    lines = parse_held_goods(row, state.location if state.is_started else "")
    if not any(lying.held for lying in lines):
        state, lines = state._replace(location=""), parse_held_goods(row, "")
    if not any(lying.held for lying in lines):
        return reply(state, WRONG, "move.order_has_nothing", order=order)
    phase = "load" if state.phase == "load" else "take"
    state = state._replace(phase=phase, is_started=True, order=order, order_lines=lines, current_index=-1)
    effects = (Refresh("order", order),)
    return reply(state, GOOD, "move.from_order", *effects, order=order, count=sum(bool(each.held) for each in lines))


# What


def scan_product(state: MoveState, match: Match) -> Result:
    """A scan of a product: one more of it, or the first one."""
    if state.order:
        return _take_of_order(state, match)
    lying = next((each for each in state.source_stock if each.product == match.key), None)
    if state.is_started and lying is not None:
        return _take_product(state, lying, match)
    unread = state.is_started and state.has_unread_stock and state.location
    asked = goods_in_hand.query_product_here(state, match.key) if unread else _query_product(match)
    return Turn(state._replace(pending_scan=match), (asked,))


def handle_product(state: MoveState, row: Mapping[str, Any] | None) -> Result:
    """A product that nobody here has in sight: where it lies, and whether it can be taken here."""
    meaning = state.pending_scan
    if meaning is None:
        return Turn(state)
    lying = parse_unlocated_stock(row) if row else StockLine(meaning.key, meaning.label or meaning.key)
    if row and row.get("is_stock") is False:
        return reply(state._replace(pending_scan=None), WRONG, "move.no_stock", label=lying.label)
    places = _parse_locations(row)
    if state.is_started and not state.location:
        state = state._replace(pending_scan=None, source_stock=(*state.source_stock, lying))
        return _take_product(state, lying, meaning)
    if state.is_started:
        return _ask_not_here(state._replace(pending_scan=None), lying, meaning, places)
    return _choose_location(state, lying, meaning, places)


def _parse_locations(row: Mapping[str, Any] | None) -> list[tuple[str, Decimal]]:
    """Where it lies, and how much there; `UNKNOWN` where nobody says it."""
    places = (row or {}).get("places") or ()
    found = [(str(each["location_code"]), to_decimal(each.get("quantity"), UNKNOWN_QUANTITY)) for each in places]
    return [(place, quantity) for place, quantity in found if quantity > 0 or quantity == UNKNOWN_QUANTITY]


def _choose_location(
    state: MoveState, stock_line: StockLine, match: Match, locations: list[tuple[str, Decimal]]
) -> Result:
    """The product was scanned first: the only place that has it, or a question."""
    if not state.uses_locations or (not locations and stock_line.free > 0):
        return take_unlocated(state)
    if len(locations) == 1 and stock_line.free <= 0:
        return take_from_location(state, locations[0][0])
    ways = [MoveChoice("from", place, quantity) for place, quantity in locations[:MAX_LOCATION_CHOICES]]
    if not locations or stock_line.free != ZERO:
        ways.append(MoveChoice("nowhere", "", max(ZERO, stock_line.free)))
    id_ = "move.where_from" if locations else "move.nowhere_known"
    state = state._replace(choices=tuple(ways))
    if match.quantity != 1:
        return _so_many_from(state, stock_line.label, match.quantity)
    return reply(state, ASK, id_, label=stock_line.label)


def _so_many_from(state: MoveState, label: str, quantity: Decimal) -> Result:
    return reply(state, ASK, "move.so_many_from", quantity=quantity, label=label)


def is_place_asked(state: MoveState) -> bool:
    """Whether it is asked where the product comes from that was scanned first."""
    return state.pending_scan is not None and not state.is_started and bool(state.choices)


def more_from(state: MoveState, meaning: Match) -> Result:
    """A further product before it is known where the first one comes from: so many more of it, or nothing."""
    asked = state.pending_scan
    assert asked is not None
    if meaning.key != asked.key:
        return reply(state, WRONG, "move.answer_first", what=meaning.label or meaning.key)
    quantity = asked.quantity + meaning.quantity
    explicit = asked.is_explicit or meaning.is_explicit
    state = state._replace(pending_scan=asked._replace(quantity=quantity, is_explicit=explicit))
    return _so_many_from(state, asked.label or meaning.label or meaning.key, quantity)


def _ask_not_here(
    state: MoveState, stock_line: StockLine, match: Match, locations: list[tuple[str, Decimal]]
) -> Result:
    """The books have nothing of it here: take it all the same, count, or go where it lies."""
    here = StockLine(stock_line.product, stock_line.label, ZERO, (), (), stock_line.allows_decimals, stock_line.unit)
    if not state.is_source_known:
        here = here._replace(free=UNKNOWN_QUANTITY)
    state = state._replace(source_stock=(*state.source_stock, here))
    in_hand = (
        goods_in_hand.find_goods(state.in_hand, goods_in_hand.free_goods(here, state.location, state.from_pool)) >= 0
    )
    if in_hand or not state.is_source_known:
        return _take_product(state, here, match)
    others = [
        MoveChoice("from", place, quantity)
        for place, quantity in locations
        if place.casefold() != state.location.casefold()
    ]
    ways = (MoveChoice("over", stock_line.product, match.quantity), MoveChoice("count", state.location), *others[:2])
    text = msg("move.not_here", label=stock_line.label, place=state.location)
    state = state._replace(choices=ways, pending_scan=match)
    return Turn(state, (), Verdict(ASK, text))


def _take_product(state: MoveState, stock_line: StockLine, match: Match) -> Result:
    if stock_line.held and stock_line.free <= 0 and not state.from_pool:
        if len(stock_line.held) == 1:
            return _add_scanned(
                state,
                goods_in_hand.held_goods(stock_line, stock_line.held[0], state.location)._replace(stays_held=True),
                match,
            )
        ways = tuple(
            MoveChoice("held", hold.order, match.quantity, hold.line) for hold in stock_line.held[:MAX_LOCATION_CHOICES]
        )
        state = state._replace(choices=ways, pending_scan=match)
        return reply(state, ASK, "move.whose", label=stock_line.label, count=len(stock_line.held))
    part = goods_in_hand.free_goods(stock_line, state.location, state.from_pool)
    if part.available == 0 and state.location and goods_in_hand.find_goods(state.in_hand, part) < 0:
        ways = (MoveChoice("over", stock_line.product, match.quantity), MoveChoice("count", state.location))
        return reply(
            state._replace(choices=ways, pending_scan=match),
            ASK,
            "move.none_left",
            label=stock_line.label,
            place=state.location,
        )
    return _add_scanned(state, part, match)


def _take_of_order(state: MoveState, match: Match) -> Result:
    lying = next((each for each in state.order_lines if each.product == match.key), None)
    if lying is None or not lying.held:
        label = match.label or match.key
        return reply(state, WRONG, "move.not_of_order", label=label, code=match.code or match.key, order=state.order)
    parts = [goods_in_hand.held_goods(lying, hold, hold.location) for hold in lying.held]
    for part in parts:
        index = goods_in_hand.find_goods(state.in_hand, part)
        if index < 0 or state.in_hand[index].quantity < part.available:
            return _add_scanned(state, part, match)
    return _add_scanned(state, parts[-1], match)


# How much


def _add_scanned(state: MoveState, goods: Goods, match: Match) -> Result:
    index = goods_in_hand.find_goods(state.in_hand, goods)
    before = state.in_hand[index].quantity if index >= 0 else ZERO
    return set_quantity(state, goods, before + match.quantity, added=match.quantity)


def set_quantity(
    state: MoveState, goods: Goods, quantity: Decimal, *, is_confirmed: bool = False, added: Decimal | None = None
) -> Result:
    """So many of these goods are to be in hand, so many `more` by a scan; more than the books have, or anybody would
    believe who has not said that he is `sure`, is asked about first."""
    if quantity % 1 and not goods.allows_decimals:
        return reply(state, WRONG, "move.whole", label=goods.label, quantity=quantity)
    index = goods_in_hand.find_goods(state.in_hand, goods)
    over, said = (state.in_hand[index].allow_overage, state.in_hand[index].quantity) if index >= 0 else (False, ZERO)
    if 0 <= goods.available < quantity and not over:
        return ask_exceeding(state, goods, quantity)
    if not is_confirmed and quantities.is_implausible(
        quantity, max(ZERO, goods.available), state.large_quantity, said, added
    ):
        ways = (MoveChoice("amount", goods.product, quantity, goods.line), MoveChoice(DROP_QUANTITY))
        asked = Match(PRODUCT, goods.product, goods.label, quantity, True, goods.product)
        asking = state._replace(choices=ways, pending_scan=asked)
        return reply(asking, ASK, "count.so_many", value=quantity, label=goods.label)
    return take_goods(state, goods, quantity)


def ask_exceeding(state: MoveState, goods: Goods, quantity: Decimal) -> Result:
    """Refused, with what the books say, a count, and, unless an order holds the goods, the explicit second step."""
    ways = [MoveChoice("fit", goods.product, goods.available, goods.line)] if goods.available > 0 else []
    if goods.location:
        ways.append(MoveChoice("count", goods.location))
    if not goods.order:
        ways.append(MoveChoice("over", goods.product, quantity))
    id_ = "move.over_held" if goods.order else "move.over"
    index = goods_in_hand.find_goods(state.in_hand, goods)
    if index >= 0 and goods.available <= 0:
        ways.append(MoveChoice("forget", goods.product))
    asked = Match(PRODUCT, goods.product, goods.label, quantity, code=goods.product) if ways else None
    state = state._replace(
        choices=tuple(ways), pending_scan=asked, current_index=index if index >= 0 else state.current_index
    )
    args: dict[str, str | Decimal] = {"label": goods.label, "quantity": quantity, "books": goods.available}
    if goods.order:
        args["order"] = goods.order
    return reply(state, ASK if ways else WRONG, id_, **args)


def take_goods(state: MoveState, goods: Goods, quantity: Decimal) -> Result:
    """The goods are in hand; where more of them lies is looked up once."""
    state = goods_in_hand.set_in_hand(state._replace(pending_scan=None), goods, quantity)
    mine = state.current_goods
    if mine is None or goods_in_hand.goods_key(mine) != goods_in_hand.goods_key(goods):
        return reply(state, GOOD, "move.taken_none", label=goods.label)
    effects: tuple[Effect, ...] = () if mine.suggested_location else (query_suggested_locations(state),)
    return reply(state, GOOD, "move.taken", *effects, label=goods.label, quantity=quantity, source=_source_text(mine))


def query_suggested_locations(state: MoveState) -> Query:
    """Where more of the goods in hand lies."""
    return Query("homes", "homes", {"product_numbers": sorted({part.product for part in state.in_hand})})


def _source_text(goods: Goods) -> Msg:
    if goods.location:
        return raw(goods.location)
    return raw(goods.order) if goods.order else msg("move.no_place_short")


def apply_choice(state: MoveState, choice: MoveChoice) -> Result:
    """A way that says how much, or whose."""
    part = goods_of_choice(state, choice)
    if part is None:
        return Turn(state._replace(pending_scan=None))
    meaning, state = state.pending_scan, state._replace(pending_scan=None)
    if choice.kind == "held":
        return _add_scanned(state, part, meaning) if meaning else Turn(state)
    if choice.kind == "over":
        part = part._replace(allow_overage=True)
        index = goods_in_hand.find_goods(state.in_hand, part)
        if index >= 0:
            hand = (
                *state.in_hand[:index],
                state.in_hand[index]._replace(allow_overage=True),
                *state.in_hand[index + 1 :],
            )
            state = state._replace(in_hand=hand)
    return take_goods(state, part, choice.quantity)


def open_quantity_goods(state: MoveState) -> Goods | None:
    """The goods of which a number says how many: those on the screen, or those that it is asked of."""
    if state.phase not in ("take", "load", "put"):
        return None
    if state.pending_scan and state.choices:
        return _held_goods_in_question(state) if is_order_asked(state) else _goods_in_question(state)
    way = state.choices[0] if state.choices else None
    return goods_of_choice(state, way) if way and way.kind == "amount" else state.current_goods


def repeat_question(state: MoveState, match: Match) -> Result:
    """A scan while goods are asked about: so many more of them, or nothing before they are settled."""
    asked, part = state.pending_scan, _goods_in_question(state)
    if asked and (match.kind, match.key) != (PRODUCT, asked.key):
        return ask_answer_first(state, asked)
    if asked is None or part is None:
        return reply(state, WRONG, "move.answer_first", what=match.label or match.key)
    quantity = asked.quantity + match.quantity
    if part.available or state.choices[0].kind != "over" or (quantity % 1 and not part.allows_decimals):
        return set_quantity(state, part, quantity)
    ways = tuple(way._replace(quantity=quantity) if way.kind == "over" else way for way in state.choices)
    state = state._replace(choices=ways, pending_scan=asked._replace(quantity=quantity))
    return reply(state, ASK, "move.over", label=part.label, quantity=quantity, books=part.available)


def ask_answer_first(state: MoveState, match: Match) -> Result:
    """A letter, or another scan, while goods are asked about, which stand nowhere but in the question: it says how
    many of what are asked about."""
    return reply(state, WRONG, "move.say_first", label=match.label or match.key, quantity=match.quantity)


def _goods_in_question(state: MoveState) -> Goods | None:
    """The goods that are asked about; None while it is asked whose they are."""
    way = next((way for way in state.choices if way.kind in (*goods_in_hand.GOODS_QUESTIONS, "amount")), None)
    return None if way is None or way.kind == "held" else goods_of_choice(state, way)


def is_order_asked(state: MoveState) -> bool:
    """Whether it is asked for which order goods are held that were scanned."""
    return any(way.kind == "held" for way in state.choices)


def _held_goods_in_question(state: MoveState) -> Goods | None:
    """The goods of which it is asked whose they are."""
    asked = state.pending_scan
    lying = next((each for each in state.source_stock if asked and each.product == asked.key), None)
    return goods_in_hand.free_goods(lying, state.location, state.from_pool) if lying else None


def set_asked_quantity(state: MoveState, value: Decimal) -> Result:
    """So many are meant, whoever they are held for; that is still asked."""
    asked = state.pending_scan
    assert asked is not None
    ways = tuple(way._replace(quantity=value) for way in state.choices)
    state = state._replace(choices=ways, pending_scan=asked._replace(quantity=value, is_explicit=True))
    label = asked.label or asked.key
    return reply(state, ASK, "move.whose_so_many", label=label, quantity=value, count=len(ways))


def ask_again(state: MoveState, match: Match) -> Result:
    """What of goods that are asked about is taken, once it is settled that digits were no quantity of them."""
    part = _goods_in_question(state)
    state = state._replace(choices=(), pending_scan=None)
    return set_quantity(state, part, match.quantity) if part else Turn(state)


def is_number_asked(state: MoveState) -> bool:
    """Whether it is asked what digits are: so many stand nowhere but in the question, and nothing goes on before."""
    return any(way.kind == "amount" for way in state.choices)


def is_plausibility_asked(state: MoveState) -> bool:
    """Whether it is asked if so many are meant, and nothing else that they may be."""
    return any(way.kind == DROP_QUANTITY for way in state.choices)


def add_to_question(state: MoveState, match: Match) -> Result | None:
    """A label of so many more of what is asked about is asked about with it; None for anything else."""
    part, asked = open_quantity_goods(state), state.pending_scan
    is_same = asked is not None and (match.kind, match.key) == (PRODUCT, asked.key)
    if part is None or not is_same or not is_plausibility_asked(state):
        return None
    if not quantities.is_implausible(match.quantity, max(ZERO, part.available), state.large_quantity):
        return None
    return set_quantity(state, part, state.choices[0].quantity + match.quantity)


def drop_quantity(state: MoveState) -> Result:
    """So many are not meant: what is in hand is what it was before."""
    asked, quantity = state.pending_scan, state.choices[0].quantity
    label = asked.label or asked.key if asked else state.choices[0].key
    return reply(state._replace(choices=(), pending_scan=None), INFO, "count.not_so_many", label=label, value=quantity)


def repeat_number_question(state: MoveState) -> Result:
    """A letter while that is asked: the question once more."""
    asked, quantity = state.pending_scan, state.choices[0].quantity
    if is_plausibility_asked(state) and asked:
        return reply(state, WRONG, "count.so_many", value=quantity, label=asked.label)
    return reply(state, WRONG, "move.number_of", quantity=quantity)


def drop_current_goods(state: MoveState) -> Result:
    """The goods on the screen are not moved after all; the others are."""
    part = state.current_goods
    if part is None:
        return Turn(state)
    state = goods_in_hand.set_in_hand(state._replace(portion=ZERO, pending_scan=None), part, ZERO)
    if state.phase == "put" and not state.in_hand:
        state = state._replace(phase="load")
    return reply(state, INFO, "move.taken_none", label=part.label)


def goods_of_choice(state: MoveState, choice: MoveChoice) -> Goods | None:
    """The goods that a way is about: those on the screen, or some that lie here."""
    if choice.kind == "held":
        lying = next(
            (each for each in state.source_stock if any(_is_held_by(hold, choice) for hold in each.held)), None
        )
        hold = next((hold for hold in lying.held if _is_held_by(hold, choice)), None) if lying else None
        if state.pending_scan and (lying is None or lying.product != state.pending_scan.key):
            return None
        return (
            goods_in_hand.held_goods(lying, hold, state.location)._replace(stays_held=True) if lying and hold else None
        )
    mine = state.current_goods
    if mine and mine.product == choice.key and (not choice.line or mine.line == choice.line):
        return mine
    lying = next((each for each in (*state.order_lines, *state.source_stock) if each.product == choice.key), None)
    if lying is None:
        return None
    if choice.line:
        hold = next((hold for hold in lying.held if hold.line == choice.line), None)
        place = hold.location or ("" if state.order else state.location) if hold else ""
        return goods_in_hand.held_goods(lying, hold, place)._replace(stays_held=not state.order) if hold else None
    return goods_in_hand.free_goods(lying, state.location, state.from_pool)


def _is_held_by(held: HeldGoods, choice: MoveChoice) -> bool:
    return (held.order, held.line) == (choice.key, choice.line)


def take_all_of_product(state: MoveState) -> Result:
    """All that lies here of the product on the screen."""
    part = state.current_goods
    if part is None:
        return reply(state, WRONG, "move.scan_first")
    if part.available < 0:
        return reply(state, WRONG, "move.books_unknown", label=part.label)
    if part.available < part.quantity:
        return ask_exceeding(state, part, part.quantity)
    return take_goods(state, part, part.available)


def take_everything(state: MoveState) -> Result:
    """All that lies here, or all that the order has; what is held for orders stays held for them."""
    if state.has_unread_stock and not state.order:
        return Turn(state, (goods_in_hand.query_all_here(state),))
    parts = [*_goods_of_order(state)] if state.order else [*_goods_at_location(state)]
    fresh = tuple(part for part in parts if part.quantity > 0)
    if not fresh:
        id_ = "move.nothing_here" if state.location or state.order else "move.scan_place_first"
        return reply(state, WRONG, id_, place=state.order or state.location)
    hand = state.in_hand
    for part in fresh:
        hand = goods_in_hand.add_to_hand(hand, part)
    at = goods_in_hand.find_goods(hand, fresh[-1]) if len(fresh) == 1 else -1
    state = goods_in_hand.add_undo_step(state._replace(in_hand=hand, current_index=at), UndoStep(fresh))
    quantity = sum((part.quantity for part in fresh), ZERO)
    return reply(state, GOOD, "move.everything", query_suggested_locations(state), count=len(fresh), quantity=quantity)


def _remaining(state: MoveState, goods: Goods) -> Goods:
    """What is not yet in hand of all that can be taken."""
    index = goods_in_hand.find_goods(state.in_hand, goods)
    return goods._replace(quantity=goods.available - (state.in_hand[index].quantity if index >= 0 else ZERO))


def _goods_at_location(state: MoveState) -> list[Goods]:
    parts = []
    for lying in state.source_stock if state.is_source_known else ():
        parts.append(_remaining(state, goods_in_hand.free_goods(lying, state.location, state.from_pool)))
        if not state.from_pool:
            held = (
                goods_in_hand.held_goods(lying, hold, state.location)._replace(stays_held=True) for hold in lying.held
            )
            parts += [_remaining(state, part) for part in held]
    return parts


def _goods_of_order(state: MoveState) -> list[Goods]:
    return [
        _remaining(state, goods_in_hand.held_goods(lying, hold, hold.location))
        for lying in state.order_lines
        for hold in lying.held
    ]
