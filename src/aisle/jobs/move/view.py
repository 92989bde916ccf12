"""Views of the move job, one for each step."""

from __future__ import annotations

from decimal import Decimal

from aisle.jobs import typed_numbers_dates_and_letters
from aisle.jobs.move import goods_in_hand, take_goods
from aisle.jobs.move.move_state_and_rows import UNKNOWN_QUANTITY, ZERO, Goods, MoveChoice, MoveState, StockLine
from aisle.jobs.names_in_messages import Pool, Pools, amount_of, measured, pool_message, unit_of
from aisle.jobs.typed_numbers_dates_and_letters import assign_letters, letter_prompt, quantity_prompt
from aisle.jobs.view import KeyHint, LabelledValue, Line, Msg, Step, UpcomingStop, msg, number_message, raw
from aisle.scan.grammar_and_meaning_types import Match

MAX_UPCOMING = 12

MAX_CHOICES_BESIDE_GOODS = 3
"""Maximum number of choices shown together with the goods; more need their space."""

ALL_POOLS = tuple(Pool(number) for number in range(1, 11))
"""Pools of a store that has no names for them."""

ANSWER_KINDS = {"leave": ("drop", "back"), "where": ("in_hand",)}

COMMAND_LETTERS = "acdknuw"
"""Command letters of the pages on which goods are taken or put down; none of them answers a question."""

LETTER_TEXTS = {
    "a": "hint.all_here",
    "b": "hint.back",
    "c": "hint.cart",
    "d": "hint.put_away",
    "k": "label.pool",
    "n": "hint.next_page",
    "u": "hint.undo",
    "w": "hint.whole_location",
}

CHOICE_TEXTS = {
    "from": "move.choice_from",
    "nowhere": "move.no_location",
    "fit": "goods.only",
    "over": "goods.all_anyway",
    "count": "move.choice_count",
    "held": "move.choice_held",
    "drop": "move.put_back",
    "put_down_there": "move.choice_take_there",
    "put": "move.choice_put",
    "put_all": "move.choice_put_all",
    "forget": "move.choice_drop_product",
    "fit_order": "goods.only",
    "undo_rest": "move.choice_undo_rest",
    "amount": "count.choice_quantity",
    "not_so_many": "order_actions.no",
    "is_product": "count.choice_product",
    "is_location": "locations.title_location",
    "is_order": "order.title",
    "is_reference": "order.title",
}


def step_name(state: MoveState) -> str:
    """Return the name of the current step."""
    return f"move.{state.phase}"


def view(state: MoveState) -> Step:
    """Return the view of the current step."""
    part = _shown_goods(state)
    done = sum((each.quantity for each in state.in_hand), ZERO)
    return Step(
        name=step_name(state),
        title=_title(state),
        prompt=_prompt(state, part),
        lines=_lines(state, part),
        labelled_values=_labelled_values(state, part) if part else (),
        upcoming=_upcoming(state),
        choices=choices(state),
        choice_letters=choice_letters(state),
        key_hints=_hints(state, part, done),
        upcoming_title=_upcoming_title(state),
        is_upcoming_at_hand=True,
    )


def _shown_goods(state: MoveState) -> Goods | None:
    if state.phase in ("pool", "leave", "where"):
        return None
    asked = take_goods.open_quantity_goods(state) if take_goods.is_number_asked(state) else None
    return asked or state.current_goods


def _upcoming_title(state: MoveState) -> Msg:
    if not state.in_hand:
        return msg("move.here")
    if not state.is_on_cart:
        return msg("move.in_hand")
    return msg("move.left_on_cart" if state.phase == "put" else "move.on_cart")


def pool_choices(state: MoveState) -> Pools:
    """Return the pools that can be chosen."""
    return state.pools or ALL_POOLS


def choice_letters(state: MoveState) -> str:
    """Return the letters of the choices while goods are taken or in hand; empty where they are numbered."""
    if state.phase in ("leave", "where"):
        return assign_letters(ANSWER_KINDS[state.phase])
    if state.phase in ("from", "pool"):
        return ""
    return assign_letters((choice.kind for choice in state.choices), COMMAND_LETTERS)


def choices(state: MoveState) -> tuple[Msg, ...]:
    """Return the texts of the open choices."""
    match state.phase:
        case "pool":
            return tuple(pool_message((pool,), pool.number) for pool in pool_choices(state))
        case "leave":
            return (msg("move.put_back"), msg("move.go_on"))
        case "where":
            return (msg("move.keep_in_hand"),)
    return tuple(_choice_text(state, choice) for choice in state.choices)


def _choice_text(state: MoveState, choice: MoveChoice) -> Msg:
    if choice.kind == "is_product" and choice.label:
        return raw(choice.label)
    if choice.kind in ("is_delivery", "is_person"):
        return typed_numbers_dates_and_letters.other_choice_text(Match(choice.kind[3:], choice.key, choice.key))
    if choice.kind == "over":
        part = take_goods.goods_of_choice(state, choice)
        return msg(CHOICE_TEXTS[choice.kind], quantity=choice.amount, label=part.label if part else choice.key)
    if choice.kind == "from" and choice.quantity == UNKNOWN_QUANTITY:
        return msg("move.choice_from_unknown", place=choice.key)
    if choice.kind == "undo_rest" and state.undo_rest:
        return msg(CHOICE_TEXTS[choice.kind], quantity=goods_in_hand.name_goods(state.undo_rest.goods))
    names = {"place": choice.key, "label": choice.key, "order": choice.key}
    return msg(CHOICE_TEXTS[choice.kind], line=choice.line, quantity=choice.amount, **names)


def _title(state: MoveState) -> Msg:
    count = len(state.in_hand)
    if state.is_on_cart:
        return msg("move.title_cart", count=count) if count else msg("move.title_cart_empty")
    if state.phase == "pool":
        return msg("move.title_pool")
    return msg("move.title_hand", count=count) if count > 1 else msg("home.move")


def _lines(state: MoveState, current_goods: Goods | None) -> tuple[Line, ...]:
    match state.phase:
        case "from" if state.task:
            task = state.task
            goods = Goods(task.product, task.label, task.quantity, allows_decimals=task.allows_decimals, unit=task.unit)
            location, product = raw(task.location), raw(task.label)
            return (
                Line("location", location),
                Line("product", product),
                Line("quantity", _measured_text(goods, task.quantity)),
            )
        case "from":
            note = "move.note_which" if state.pending_scan else "move.note_from"
            return (Line("note", msg(note)),)
        case "pool":
            chosen = msg("move.note_to_pool", pool=pool_message(state.pools, state.from_pool))
            return (Line("note", msg("move.note_from_pool") if state.choosing_pool == "from" else chosen),)
        case "leave":
            return (Line("note", msg("move.leave", count=len(state.in_hand))),)
        case "where":
            return (Line("location", raw(state.target_order)), Line("note", msg("move.note_where")))
        case "put" if current_goods:
            return _put_lines(state, current_goods)
    return _take_lines(state, current_goods)


def _put_lines(state: MoveState, goods: Goods) -> tuple[Line, ...]:
    destination = msg("move.to", place=goods.suggested_location) if goods.suggested_location else msg("move.anywhere")
    quantity = state.portion or goods.quantity
    text = _measured_text(goods, quantity)
    if 0 < state.portion < goods.quantity:
        text = msg("move.portion_of", quantity=state.portion, of=amount_of(goods, goods.quantity))
    lines = Line("location", destination), Line("product", raw(goods.label)), Line("quantity", text)
    return (*lines, *_pool_lines(state, goods))


def _pool_lines(state: MoveState, goods: Goods | None) -> tuple[Line, ...]:
    """Return the note of the pools of the goods on the screen, else of those that are taken next."""
    source, target = (goods.pool or state.from_pool, goods.to_pool) if goods else (state.from_pool, state.to_pool)
    if not (source and target):
        return ()
    names = {"source": pool_message(state.pools, source), "target": pool_message(state.pools, target)}
    return (Line("note", msg("move.note_pools", **names)),)


def _take_lines(state: MoveState, goods: Goods | None) -> tuple[Line, ...]:
    lines = [Line("location", _source_text(state, goods))]
    if len(state.choices) > MAX_CHOICES_BESIDE_GOODS:
        return tuple(lines)
    if goods:
        lines.append(Line("product", raw(goods.label)))
        lines.append(Line("quantity", _quantity_text(state, goods)))
    elif state.in_hand:
        lines.append(Line("note", msg("move.note_hand", count=goods_in_hand.count_products(state))))
    elif state.location and state.is_source_known and not state.order:
        here = state.product_count if state.has_unread_stock else sum(_has_stock(each) for each in state.source_stock)
        empty = msg("locations.locations_unknown" if state.are_locations_unknown else "move.note_empty")
        lines.append(Line("note", msg("move.note_products_here", count=here) if here else empty))
    elif state.order and not _upcoming(state):
        lines.append(Line("note", msg("move.note_empty")))
    return (*lines, *_pool_lines(state, goods))


def _source_text(state: MoveState, goods: Goods | None) -> Msg:
    """Return where the next scan is taken: its product is booked there, and asked about if it does not lie there."""
    if goods and _is_from_elsewhere(state, goods):
        goods = None
    if goods and goods.order and not goods.stays_held:
        return msg("move.from_location", place=msg("record_name.order", what=goods.order))
    location = goods.location if goods else state.location
    if location:
        return msg("move.from_location", place=location)
    if state.order:
        return msg("move.from_location", place=msg("record_name.order", what=state.order))
    return msg("move.no_location") if state.is_started else msg("move.where_first")


def _is_from_elsewhere(state: MoveState, goods: Goods) -> bool:
    """Return True if the goods on the screen were taken somewhere else than the next scan is."""
    has_source = state.is_started and not state.order and not state.task
    return has_source and goods.location.casefold() != state.location.casefold()


def _quantity_text(state: MoveState, goods: Goods) -> Msg:
    if _is_from_elsewhere(state, goods) and goods.location:
        return msg("move.quantity_from", what=_measured_text(goods, goods.quantity), place=goods.location)
    if goods.available < 0 or _is_from_elsewhere(state, goods):
        return _measured_text(goods, goods.quantity)
    return msg("move.quantity_of", quantity=goods.quantity, books=measured(goods.available, unit_of(goods)))


def _measured_text(goods: Goods, quantity: Decimal) -> Msg:
    return msg("move.measure", quantity=quantity, unit=unit_of(goods)) if unit_of(goods) else number_message(quantity)


def _prompt(state: MoveState, goods: Goods | None) -> Msg:
    if state.phase == "where":
        return msg("move.prompt_where")
    if choices(state):
        waits = take_goods.is_number_asked(state) or (
            goods_in_hand.is_goods_question_open(state) and state.phase != "put"
        )
        if state.phase in ("from", "pool"):
            return msg("unconfirmed.choose" if state.phase == "pool" else "pick.prompt_choice")
        if take_goods.open_quantity_goods(state):
            return quantity_prompt(choice_letters(state), scans=not waits)
        return letter_prompt(choice_letters(state), scans=not waits and state.phase != "leave")
    match state.phase:
        case "from":
            return msg("pick.prompt_location", place=state.task.location) if state.task else msg("move.prompt_from")
        case "put":
            return (
                msg("move.prompt_put", place=goods.suggested_location)
                if goods and goods.suggested_location
                else msg("move.prompt_put_any")
            )
        case "load":
            return msg("move.prompt_load") if state.is_started else msg("move.prompt_from")
    if not state.in_hand:
        return msg("move.prompt_product")
    return msg("move.prompt_target") if state.uses_locations else msg("move.prompt_target_plain")


def _labelled_values(state: MoveState, goods: Goods) -> tuple[LabelledValue, ...]:
    values = [LabelledValue(msg("label.product_number"), raw(goods.product))]
    if goods.largest_stock_at and state.phase != "put":
        values.append(
            LabelledValue(
                msg("label.also_at"),
                msg("move.also_at", place=goods.largest_stock_at, quantity=amount_of(goods, goods.largest_stock)),
            )
        )
    if state.phase == "put" and goods.location:
        values.append(LabelledValue(msg("label.taken_from"), raw(goods.location)))
    if goods.stays_held:
        values.append(LabelledValue(msg("label.held"), raw(goods.order)))
    if goods.pool:
        values.append(LabelledValue(msg("label.pool"), pool_message(state.pools, goods.pool)))
    return tuple(values)


def _upcoming(state: MoveState) -> tuple[UpcomingStop, ...]:
    """Return the stock here, or the other goods in hand. While a cart is unloaded they have their suggested location,
    otherwise the one they came from."""
    if state.phase not in ("take", "load", "put"):
        return ()
    if not state.in_hand:
        stock_lines = state.order_lines if state.order else state.source_stock
        if state.is_source_known or state.order:
            stock_lines = tuple(each for each in stock_lines if _has_stock(each))
        return tuple(UpcomingStop("", each.label, _total_there(each), unit_of(each)) for each in stock_lines)[
            :MAX_UPCOMING
        ]
    count = len(state.in_hand)
    first = state.current_index + 1 if state.current_goods else 0
    parts = [state.in_hand[(first + index) % count] for index in range(count - (1 if state.current_goods else 0))]
    is_unloading = state.phase == "put"
    return tuple(
        UpcomingStop(
            part.suggested_location if is_unloading else _other_location(state, part),
            part.label,
            part.quantity,
            unit_of(part),
        )
        for part in parts
    )[:MAX_UPCOMING]


def _other_location(state: MoveState, goods: Goods) -> str:
    return goods.location if state.order or _is_from_elsewhere(state, goods) else ""


def _total_there(stock_line: StockLine) -> Decimal | None:
    """Return the quantity at the location, held goods included; None if unknown."""
    if stock_line.free == UNKNOWN_QUANTITY:
        return None
    return max(ZERO, stock_line.free) + sum((held.quantity for held in stock_line.held), ZERO)


def _has_stock(stock_line: StockLine) -> bool:
    return _total_there(stock_line) != 0


def _hints(state: MoveState, goods: Goods | None, done: Decimal) -> tuple[KeyHint, ...]:
    """Return hints for the letters that are useful now, the likeliest first."""
    phase = state.phase
    if state.task:
        return tuple(KeyHint(letter, msg(LETTER_TEXTS[letter])) for letter in ("ub" if state.history else "b"))
    letters = {
        "from": "ckub",
        "take": "wckub" if not done else "dawubck" if state.uses_locations else "dkub",
        "load": "dawnubk" if done else "wkub",
        "put": "ncub",
    }.get(phase, "b")
    names = {**LETTER_TEXTS, "d": "hint.put_away" if phase == "load" else "hint.done"}
    return tuple(KeyHint(letter, msg(names[letter])) for letter in letters if _is_useful(state, goods, letter))


def _is_useful(state: MoveState, goods: Goods | None, letter: str) -> bool:
    match letter:
        case "a":
            return goods is not None and goods.available >= 0
        case "w":
            return bool((state.is_source_known and state.location) or state.order)
        case "n":
            return len(state.in_hand) > 1
        case "c":
            return state.uses_locations
        case "d":
            return state.phase == "load" or bool(state.to_pool) or not state.uses_locations
        case "u":
            return bool(state.history)
        case "k":
            return len(state.pools) != 1
    return True
