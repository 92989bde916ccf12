"""The move job: dispatches inputs and cached data; suggests locations and reports refused movements."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from aisle.jobs import log_writes_and_refusals, typed_numbers_dates_and_letters
from aisle.jobs.job import (
    Args,
    Changed,
    Close,
    Closed,
    Context,
    Effect,
    Event,
    Job,
    Json,
    Opened,
    Query,
    Refresh,
    Resumed,
    Rows,
    Start,
    Turn,
    reply,
)
from aisle.jobs.move import (
    clearance_tasks,
    goods_in_hand,
    movement_write_and_undo,
    put_goods,
    query_stock_here,
    take_goods,
    view,
)
from aisle.jobs.move.move_state_and_rows import (
    ASSIGNMENT_PREFIX,
    ZERO,
    Goods,
    MoveChoice,
    MoveState,
    Result,
    UndoStep,
    at_source,
)
from aisle.jobs.names_in_messages import POOLS_QUERY, Pool, amount_of, parse_pools, unit_of
from aisle.jobs.typed_numbers_dates_and_letters import name_of
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Step, Verdict, msg
from aisle.jobs.walk_order_sort_keys import NO_WALK_ORDER
from aisle.row_values import to_decimal
from aisle.scan.grammar_and_meaning_types import (
    LOCATION,
    ORDER,
    PRODUCT,
    REFERENCE,
    Accepts,
    Back,
    Choice,
    Command,
    Match,
    Quantity,
    Scan,
    Text,
    UnknownCode,
)

if TYPE_CHECKING:
    from aisle.jobs.row_types.locations import LocationsOfProductsRow, RecordsByNumberRow
    from aisle.jobs.row_types.operations_and_session_answers import RefusedOperationsRow


def with_locations_known(state: MoveState, has_locations: bool) -> MoveState:
    """Set if the store has locations; without them, products can be scanned at once."""
    if has_locations or state.phase not in ("from", "take") or state.location:
        return state._replace(uses_locations=has_locations or bool(state.location))
    return state._replace(uses_locations=False, is_started=True, phase="take")


def with_suggested_locations(state: MoveState, rows: tuple[LocationsOfProductsRow, ...]) -> MoveState:
    """Set the suggested locations of the goods in hand, apart from the location they come from. The destination is the
    first of `rows`, which are in walking order: it is on the way, and bulk storage at the end is not refilled. The
    source of more stock is the location with the most, so that one walk is enough; among equals the nearest."""
    in_hand = []
    for part in state.in_hand:
        others = [
            row
            for row in rows
            if row["product_number"] == part.product and row["location_code"].casefold() != part.location.casefold()
        ]
        first = others[0] if others else None
        most = max(others, key=lambda row: to_decimal(row.get("quantity")), default=None)
        quantity = to_decimal(most.get("quantity") if most else None)
        part = part._replace(
            suggested_location=first["location_code"] if first else "",
            suggested_order=to_decimal(first.get("location_order") if first else None, NO_WALK_ORDER),
        )
        in_hand.append(
            part._replace(
                largest_stock_at=most["location_code"] if most and quantity > 0 else "", largest_stock=quantity
            )
        )
    return state._replace(in_hand=tuple(in_hand))


def refresh(state: MoveState) -> Result:
    """Query refused movements and the goods at the source again."""
    refusals = {"operation": "create-movement", "since": state.opened_at}
    effects: list[Effect] = [
        Query("refused_operations", "refused_operations", refusals),
        *clearance_tasks.query_task(state),
    ]
    if counted := query_stock_here.query_counts(state):
        effects.append(counted)  # its answer queries the stock
    elif state.location and not state.task:
        effects.append(query_stock_here.query_location_again(state))
    elif state.source_stock and not state.pending_scan:
        state = state._replace(source_stock=())
    if state.order and not state.task:
        effects.append(Query("source_again", "order", {"order_number": state.order}))
    return Turn(state, tuple(effects))


def report_refused(state: MoveState, rows: tuple[RefusedOperationsRow, ...], context: Context) -> Result:
    """Report this person's refused movements; they and the takes of their goods can no longer be undone. An open
    question stays, because a number typed for it would otherwise set a quantity. Only one about an undo is dropped."""
    new_rows = log_writes_and_refusals.new_refusals(state.reported_refusals, rows, context.user)
    if not new_rows:
        return Turn(state)
    bodies = [row["body"] for row in new_rows]
    history: tuple[UndoStep, ...] = ()
    for step in state.history:
        history = _without_takes_for(step, history) if _is_refused(step, bodies, context) else (*history, step)
    reported = log_writes_and_refusals.with_reported(state.reported_refusals, new_rows)
    choices = () if state.is_undoing else state.choices
    state = state._replace(reported_refusals=reported, history=history, is_undoing=False, choices=choices)
    return Turn(state, (), log_writes_and_refusals.refusal_verdict(new_rows[-1]))


def _without_takes_for(move: UndoStep, history: tuple[UndoStep, ...]) -> tuple[UndoStep, ...]:
    """Return the steps without those that took the goods of this move, which are in hand no longer."""
    moved = {goods_in_hand.goods_key(part) for part in move.goods}
    return tuple(step for step in history if step.items or moved.isdisjoint(map(goods_in_hand.goods_key, step.goods)))


def _is_refused(step: UndoStep, bodies: list[Json], context: Context) -> bool:
    items = movement_write_and_undo.movement_write(step.items, context.store, context.user).body
    return any(body and all(item in items for item in body) for body in bodies)


MAX_LIKELY_MOVE = Decimal(999)
"""Quantity above which digits that match a record, and exceed the stock, are taken for its number."""

PHASE_LETTERS = {
    "from": "cku",
    "take": "acdkuw",
    "load": "adknuw",
    "put": "cnu",
    "where": "u",
    "pool": "u",
    "leave": "",
}


class MoveJob(Job[MoveState]):
    """Job that moves goods between locations, between pools, and from and to order lines."""

    name = "move"
    lists = ("stock", "stock_changes", "locations", "products")
    version = 3
    state_type = MoveState
    steps: tuple[str, ...] = (
        "move.from",
        "move.take",
        "move.load",
        "move.put",
        "move.where",
        "move.pool",
        "move.leave",
    )

    def accepts(self, state: MoveState) -> Accepts:
        part, shown = take_goods.open_quantity_goods(state), view.choices(state)
        choices, values = len(shown), shown if state.choices else ()
        keys = view.choice_letters(state)
        letters = "u" if state.task else PHASE_LETTERS[state.phase]
        decimals = bool(part and part.allows_decimals)
        typed_only = state.phase == "leave" or take_goods.is_number_asked(state)
        is_open = part is not None
        return Accepts(
            is_open,
            decimals,
            choices,
            command_letters=letters,
            typed_only=typed_only,
            choice_values=values,
            choice_letters=keys,
            is_number_asked=take_goods.is_number_asked(state),
        )

    def prefers(self, state: MoveState) -> tuple[str, ...]:
        if state.phase in ("from", "where") or (state.phase == "take" and state.in_hand):
            return (LOCATION, PRODUCT, ORDER, REFERENCE)
        return (PRODUCT, LOCATION, ORDER, REFERENCE)

    def quantity_product(self, state: MoveState) -> tuple[str, str]:
        part = take_goods.open_quantity_goods(state)
        return (part.product, part.label) if part else ("", "")

    def quantity_taken(self, state: MoveState, product: str) -> Decimal:
        moved = (item.quantity for step in state.history for item in step.items if item.product == product)
        return sum((part.quantity for part in state.in_hand if part.product == product), sum(moved, ZERO))

    def product_of_choice(self, state: MoveState, number: int) -> Match | None:
        chosen = state.choices[number - 1] if number <= len(state.choices) and not state.pending_scan else None
        return Match(PRODUCT, chosen.key, code=chosen.key) if chosen and chosen.kind == "is_product" else None

    def uses_product(self, state: MoveState, product: str) -> bool:
        if state.task:
            return product == state.task.product
        stock_lines = () if state.phase == "put" else state.order_lines if state.order else state.source_stock
        return product in {*(part.product for part in state.in_hand), *(each.product for each in stock_lines)}

    def step_name(self, state: MoveState) -> str:
        return view.step_name(state)

    def view(self, state: MoveState) -> Step:
        return view.view(state)

    def can_undo(self, state: MoveState) -> bool:
        """Return True if the last step was a move; goods only taken are no longer in hand after the job has closed."""
        return bool(state.history) and bool(state.history[-1].items)

    def orders_in_work(self, state: MoveState) -> tuple[str, ...]:
        """Return the key of the task, so that others see who works on it."""
        return (f"{ASSIGNMENT_PREFIX}{state.task.id}",) if state.task else ()

    def handle(self, state: MoveState, event: Event, context: Context) -> Result:
        state = state._replace(large_quantity=context.policy.large_quantity)
        turn = clearance_tasks.close_when_done(self._handle(state, event, context))
        in_hand = tuple(goods_in_hand.note_takes(part, context.now) for part in turn.state.in_hand)
        turn = turn._replace(state=turn.state._replace(in_hand=in_hand))
        return query_stock_here.report_goods_put_back(state, turn)

    def _handle(self, state: MoveState, event: Event, context: Context) -> Result:
        match event:
            case Opened(args):
                return _handle_opened(args, context)
            case Rows(id_, rows, total):
                return _handle_rows(state, id_, rows, total, context)
            case Changed("location", _) if not state.uses_locations:
                return Turn(state, (Query("locations", "locations", {"size": 1}),))
            case Closed("count", answer) if answer:
                return refresh(query_stock_here.count_goods_in_hand(state, str(answer["what"]), context))
            case Changed("product" | "location") if state.in_hand:
                turn = refresh(state)
                return turn._replace(effects=(*turn.effects, Refresh("logs")))  # who counted, if it was a count
            case Resumed() | Closed() | Changed("product" | "location" | "outbox" | "order" | "log" | "assignment"):
                return refresh(state)
            case Back():
                return _go_back(state)
            case Choice(choice):
                return _handle_choice(state, choice, context)
            case Scan(matches) if state.named_product:
                return _scan_with_named_piece(state, matches, context)
            case Scan(matches):
                return _handle_scan(state, matches, context)
            case Quantity(value, code):
                return _enter_quantity(state._replace(named_product=""), value, code)
            case Command(letter):
                return _handle_command(state._replace(named_product=""), letter, context)
            case UnknownCode(code) if typed_numbers_dates_and_letters.is_too_short_for_code(code) and state.phase in (
                "from",
                "take",
                "load",
                "put",
            ):
                return reply(state, WRONG, "pick.no_quantity", code=code)
            case UnknownCode(code) | Text(code):
                return reply(state, WRONG, "count.unknown", code=code)
        return Turn(state)


# Opening, and cached data


def _handle_opened(args: Args, context: Context) -> Result:
    state = MoveState(opened_at=context.now, large_quantity=context.policy.large_quantity)
    queries: tuple[Effect, ...] = (POOLS_QUERY, Query("locations", "locations", {"size": 1}))
    if args.get("task"):
        state = state._replace(task=clearance_tasks.parse_task(args["task"]))
        return Turn(state, (*queries, *clearance_tasks.query_task(state)))
    if args.get("location_code"):
        turn = take_goods.take_from_location(state, str(args["location_code"]))
    elif args.get("product_number"):
        product = str(args["product_number"])
        state = state._replace(named_product=product)
        turn = take_goods.scan_product(state, Match(PRODUCT, product, str(args.get("label") or product), code=product))
    else:
        return Turn(state, queries)
    return turn._replace(effects=(*turn.effects, *queries))


def _handle_rows(state: MoveState, id_: str, rows: tuple[Json, ...], total: int, context: Context) -> Result:
    row = rows[0] if rows else None
    match id_:
        case "store":
            return Turn(state._replace(pools=parse_pools(rows)))
        case "locations":
            return Turn(with_locations_known(state, total > 0))
        case "location":
            return take_goods.open_location(state, row)
        case "here":
            return take_goods.handle_product_here(state, row)
        case query_stock_here.QUERY_ALL:
            return take_goods.take_everything(
                query_stock_here.refresh_stock(state, row)._replace(has_unread_stock=False)
            )
        case "again":
            return Turn(query_stock_here.refresh_stock(state, row) if row else state)
        case query_stock_here.COUNTS_QUERY:
            state = query_stock_here.with_counts(state, rows)
            is_here = bool(state.location and not state.task)
            return Turn(state, (query_stock_here.query_location_again(state),) if is_here else ())
        case "task":
            return clearance_tasks.follow_task(state, rows)
        case "goods":
            return take_goods.handle_product(state, row)
        case "source":
            return take_goods.take_from_order(state, row)
        case "source_again":
            return Turn(query_stock_here.refresh_goods_of_order(state, row))
        case "locations_of_products":
            return Turn(with_suggested_locations(state, rows))
        case "target":
            return put_goods.give_to_order(state, row, context)
        case movement_write_and_undo.COUNTED_QUERY:
            return movement_write_and_undo.undo_unless_counted(state, rows, context)
        case "undo_order":
            return movement_write_and_undo.undo_if_unchanged(state, row, context)
        case _ if id_.startswith(movement_write_and_undo.UNDO_PREFIX):
            return movement_write_and_undo.undo_if_unchanged(
                state, row, context, id_.removeprefix(movement_write_and_undo.UNDO_PREFIX)
            )
        case "refused_operations":
            return report_refused(state, rows, context)
        case "records_by_number":
            return _handle_records_by_number(state, rows, context)
    return Turn(state)


# Inputs


def _scan_with_named_piece(state: MoveState, matches: tuple[Match, ...], context: Context) -> Result:
    """Handle a scan while one piece is in hand that was not scanned: the first scan of its product is this piece."""
    named = state.named_product
    is_in_hand = any(part.product == named for part in state.in_hand) or bool(state.pending_scan)
    if not any((each.kind, each.key) == (PRODUCT, named) for each in matches) or not is_in_hand:
        return _handle_scan(state, matches, context)
    more = tuple(each._replace(quantity=each.quantity - 1) if each.key == named else each for each in matches)
    turn = _handle_scan(state._replace(named_product=""), more, context)
    is_refused = turn.verdict is not None and turn.verdict.kind == WRONG
    return turn._replace(state=turn.state._replace(named_product=named)) if is_refused else turn


def _handle_scan(state: MoveState, matches: tuple[Match, ...], context: Context) -> Result:
    match = next((each for each in matches if each.kind in (PRODUCT, LOCATION, ORDER, REFERENCE)), None)
    if match is None:
        return reply(state, WRONG, "page.not_this", what=name_of(matches[0]))
    if goods_in_hand.is_goods_question_open(state) and (state.phase != "put" or match.kind != PRODUCT):
        return take_goods.repeat_question(state, match)
    if more := take_goods.add_to_question(state, match):
        return more
    if take_goods.is_number_of_product(state, match) and not state.pending_scan:
        state = state._replace(choices=())  # it says what the number was
    if (
        take_goods.is_number_asked(state)
        or state.phase in ("pool", "leave")
        or (state.phase == "where" and match.kind != LOCATION)
    ):
        return reply(state, WRONG, "count.answer_first", what=name_of(match))
    if match.kind != LOCATION and take_goods.is_place_asked(state):
        is_source = match.kind in (ORDER, REFERENCE)
        return Turn(state, (_query_source(match),)) if is_source else take_goods.more_from(state, match)
    if match.kind != LOCATION and movement_write_and_undo.is_asked_after_undo(state):
        return reply(state, WRONG, "count.answer_first", what=name_of(match))
    is_pending = state.pending_scan is not None and not state.is_started
    portion = state.portion if state.phase in ("put", "where") else ZERO
    state = state._replace(choices=(), is_undoing=False, portion=portion)
    if state.task and not state.in_hand:
        return clearance_tasks.scan_for_task(state, match)
    if match.kind == PRODUCT:
        state = state._replace(pending_scan=None, is_undone=False)
        return put_goods.choose_on_cart(state, match) if state.phase == "put" else take_goods.scan_product(state, match)
    if match.kind == LOCATION:
        state = state._replace(uses_locations=True)
        if state.is_undone and state.phase == "take" and state.in_hand:
            return movement_write_and_undo.ask_after_undo(state, match.key)
        if state.phase == "where" or state.phase == "put" or (state.phase == "take" and state.in_hand):
            return put_goods.put_at_location(state, match.key, context)
        return take_goods.take_from_location(state if is_pending else state._replace(pending_scan=None), match.key)
    if state.phase == "put" or (state.phase == "take" and state.in_hand):
        return Turn(state, (Query("target", "order", {"order_number": match.key}),))
    return Turn(state, (_query_source(match),))


def _query_source(match: Match) -> Query:
    return Query("source", "order", {"order_number": match.key})


def _enter_quantity(state: MoveState, value: Decimal, code: str) -> Result:
    """Set the quantity, unless the digits are a record's number."""
    part = take_goods.open_quantity_goods(state)
    if part is None:
        return Turn(state)
    query = typed_numbers_dates_and_letters.query_by_number(value, code)
    return Turn(state._replace(looked_up_number=value), (query,)) if query else _set_quantity(state, part, value)


def _handle_records_by_number(state: MoveState, rows: tuple[RecordsByNumberRow, ...], context: Context) -> Result:
    """Handle the records that have these digits as their number. Without a record they are a quantity; far above all
    stock they are the number. Otherwise ask which one is meant."""
    value = state.looked_up_number
    part = take_goods.open_quantity_goods(state)
    state = state._replace(looked_up_number=ZERO)
    if not value or part is None:
        return Turn(state)
    rows = tuple(row for row in rows if row["kind"] != PRODUCT or _is_goods_of_use(state, row["key"], rows))
    matches = typed_numbers_dates_and_letters.matches_of_number(rows, value, MoveJob().prefers(state))
    if not matches:
        return _set_quantity(state, part, value)
    found = matches[0]
    keeps_scan = state.choices and state.pending_scan
    if take_goods.is_order_asked(state):
        return reply(state, WRONG, "count.answer_first", what=name_of(found))
    most = part.quantity if state.phase == "put" else max(part.available, ZERO)
    is_guess = any(row.get("is_guess") for row in rows) or typed_numbers_dates_and_letters.are_several_guesses(rows)
    is_guess = is_guess or typed_numbers_dates_and_letters.are_goods_and_location(rows)
    if typed_numbers_dates_and_letters.is_likely_number(rows, value) or (
        value > max(most, MAX_LIKELY_MOVE) and not is_guess
    ):
        return _handle_scan(state, (found,), context)
    records = [MoveChoice(f"is_{each.kind}", each.key, label=each.label) for each in matches]
    choices = (MoveChoice("amount", part.product, value, part.line, unit=unit_of(part)), *records)
    pending = state.pending_scan if keeps_scan else None
    if not take_goods.is_number_asked(state):
        state = state._replace(covered_choices=state.choices if keeps_scan else ())
    return reply(
        state._replace(choices=choices, pending_scan=pending), ASK, "move.number_of", quantity=amount_of(part, value)
    )


def _is_goods_of_use(state: MoveState, product: str, rows: tuple[RecordsByNumberRow, ...]) -> bool:
    """Return True if the number of these goods is of use: a location with this number is meant instead of goods that
    are not on the cart."""
    is_on_cart = any(part.product == product for part in state.in_hand)
    return state.phase != "put" or is_on_cart or all(row["kind"] != LOCATION for row in rows)


def _set_quantity(state: MoveState, goods: Goods, value: Decimal, *, is_confirmed: bool = False) -> Result:
    """Set the quantity of the goods; `is_confirmed` skips the question about a large quantity."""
    if take_goods.is_order_asked(state):
        return take_goods.set_asked_quantity(state, value)
    asked = take_goods.without_number_question(state)
    state = state._replace(choices=(), covered_choices=(), pending_scan=None, is_undoing=False)
    if state.phase != "put":
        turn = take_goods.set_quantity(state, goods, value, is_confirmed=is_confirmed)
        return movement_write_and_undo.keep_question_after_undo(asked, take_goods.keep_other_locations(asked, turn))
    if value > goods.quantity:
        return reply(
            state,
            WRONG,
            "move.not_so_many",
            label=goods.label,
            quantity=amount_of(goods, value),
            there=amount_of(goods, goods.quantity),
        )
    portion = value or goods.quantity
    return reply(
        state._replace(portion=portion), INFO, "move.portion", label=goods.label, quantity=amount_of(goods, portion)
    )


def _handle_command(state: MoveState, letter: str, context: Context) -> Result:
    if letter == "u" and (state.choices or state.phase in ("where", "pool")):
        return _go_back(state)  # the question is the last input
    if take_goods.is_number_asked(state):
        return take_goods.repeat_number_question(state)
    if state.choices and state.pending_scan:
        return take_goods.ask_answer_first(state, state.pending_scan)
    state = state._replace(choices=(), is_undoing=False, pending_scan=None)
    match letter:
        case "c" | "w" if not state.uses_locations and (letter == "c" or not state.order):
            return reply(state, WRONG, "move.no_locations")
        case "a" if state.phase in ("take", "load"):
            return take_goods.take_all_of_product(state)
        case "w" if state.phase in ("take", "load"):
            return take_goods.take_everything(state)
        case "c" if state.phase in ("from", "take"):
            return _load_cart(state, "move.load_cart")
        case "c" if state.phase == "put":
            return _load_cart(state, "move.load_more")
        case "d" if state.phase == "load":
            return put_goods.start_unloading(state)
        case "d" if state.phase == "take":
            return put_goods.put_without_location(state, context)
        case "n" if state.phase in ("load", "put"):
            return _next_on_cart(state)
        case "k" if state.phase in ("from", "take", "load"):
            state_asked = state._replace(phase="pool", return_phase=state.phase, choosing_pool="from")
            return reply(state_asked, ASK, "move.note_from_pool")
        case "u" if state.phase == "put" and state.portion:
            return movement_write_and_undo.take_back_portion(state)
        case "u" if state.phase == "put" and movement_write_and_undo.is_selection_last(state):
            return movement_write_and_undo.drop_selection(state)
        case "u" if state.phase in ("from", "take", "load", "put"):
            return movement_write_and_undo.undo_step(state, context)
    return Turn(state)


def _load_cart(state: MoveState, id_: str) -> Result:
    return reply(state._replace(phase="load", portion=ZERO, pending_scan=None), INFO, id_)


def _next_on_cart(state: MoveState) -> Result:
    if not state.in_hand:
        return reply(state, WRONG, "move.nothing_on_cart")
    index = (state.current_index + 1) % len(state.in_hand)
    part = state.in_hand[index]
    return reply(
        movement_write_and_undo.select_goods(state, index),
        INFO,
        "move.current_goods",
        label=part.label,
        quantity=part.quantity,
    )


def _handle_choice(state: MoveState, choice: int, context: Context) -> Result:
    if choice > len(view.choices(state)):
        return Turn(state)
    if state.phase == "pool":
        return _choose_pool(state, view.pool_choices(state)[choice - 1])
    if state.phase == "leave":
        return _leave(state, choice)
    if state.phase == "where":
        return put_goods.put_at_location(state, "", context)
    return _follow_choice(state, state.choices[choice - 1], context)


def _choose_pool(state: MoveState, pool: Pool) -> Result:
    """Choose first the source pool, then the target pool."""
    if state.choosing_pool == "from":
        return reply(state._replace(choosing_pool="to", from_pool=pool.number), ASK, "move.which_to_pool")
    if pool.number == state.from_pool:
        return reply(state, WRONG, "move.same_pool", pool=pool.number)
    state = goods_in_hand.change_pools(state, state.from_pool, pool.number)
    state = state._replace(phase=state.return_phase, return_phase="", choosing_pool="")
    return reply(state, GOOD, "move.pools_set", source=state.from_pool, target=pool.number)


def _follow_choice(state: MoveState, choice: MoveChoice, context: Context) -> Result:
    if choice.kind in typed_numbers_dates_and_letters.RECORD_CHOICES and state.pending_scan:
        return _ask_before_record(state, state.pending_scan, choice)
    before, state = state, state._replace(choices=())
    match choice.kind:
        case typed_numbers_dates_and_letters.DROP_QUANTITY:
            return take_goods.drop_quantity(before)
        case "amount" if part := take_goods.goods_of_choice(state, choice):
            return _set_quantity(state, part, choice.quantity, is_confirmed=True)
        case "is_delivery" | "is_person":  # of no use here; the number was meant for another page
            return reply(state, INFO, "session.dropped")
        case "is_product" | "is_location" | "is_order" | "is_reference":
            return _handle_scan(state, (Match(choice.kind[3:], choice.key, choice.key, code=choice.key),), context)
        case "put" | "put_all":
            return put_goods.put_at_location(state._replace(is_undone=False), choice.key, context)
        case "put_down_there":
            dropped = _drop_goods(state)
            if state.task:
                return dropped._replace(effects=(Close(dropped.verdict),))
            return take_goods.take_from_location(dropped.state, choice.key)
        case "from":
            return take_goods.take_from_location(state, choice.key)
        case "nowhere":
            return take_goods.take_unlocated(state)
        case "fit" | "over" | "held" | "free":
            return take_goods.apply_choice(state, choice)
        case "count":
            return Turn(state._replace(pending_scan=None), (Start("count", {"location_code": choice.key}),))
        case "fit_order":
            return put_goods.limit_to_order(state, choice)
        case "undo_rest":
            return movement_write_and_undo.undo_rest(state, context)
        case "forget":
            return take_goods.drop_current_goods(state)
        case "drop":
            return _drop_goods(state)
    return Turn(state)


def _ask_before_record(state: MoveState, scan: Match, choice: MoveChoice) -> Result:
    """Ask about the goods again. The record that digits were meant for is refused as a scan of it is."""
    turn = take_goods.ask_again(state, scan)
    if not turn.state.choices:
        return turn
    what = name_of(Match(choice.kind.removeprefix("is_"), choice.key, choice.label, code=choice.key))
    return turn._replace(verdict=Verdict(WRONG, msg("count.answer_first", what=what)))


def _drop_goods(state: MoveState) -> Result:
    """Drop all goods in hand; they are put back where they were taken."""
    state = state._replace(in_hand=(), current_index=-1, portion=ZERO, history=(), choices=(), is_undone=False)
    return reply(state, INFO, "move.dropped")


def _go_back(state: MoveState) -> Result:
    if take_goods.is_plausibility_asked(state):
        return take_goods.drop_quantity(state)
    if state.pending_scan and take_goods.is_number_asked(state):
        return take_goods.ask_again(state, state.pending_scan)
    if state.choices or state.is_undoing:
        return reply(state._replace(choices=(), is_undoing=False, pending_scan=None), INFO, "session.dropped")
    if state.phase == "pool":
        state = goods_in_hand.change_pools(state, 0, 0)
        state = state._replace(phase=state.return_phase, return_phase="", choosing_pool="")
        return reply(state, INFO, "move.any_pool")
    if state.phase == "leave":
        return _leave(state, 1)
    if state.phase == "where":
        portion = state.portion if state.return_phase == "put" else ZERO
        dropped = state._replace(phase=state.return_phase, return_phase="", target_order="", needs=(), portion=portion)
        return reply(dropped, INFO, "session.dropped")
    if state.phase == "put":
        return _load_cart(state, "move.load_more")
    if state.in_hand:
        return reply(
            state._replace(phase="leave", return_phase=state.phase), ASK, "move.leave", count=len(state.in_hand)
        )
    if state.phase == "load":
        return reply(state._replace(phase="take" if state.is_started else "from"), INFO, "move.cart_set_aside")
    if state.is_started and (state.uses_locations or state.order):
        fresh = at_source(state)._replace(phase="from", is_started=False)
        return reply(with_locations_known(fresh, state.uses_locations), INFO, "move.prompt_from")
    return Turn(state, (Close(),))


def _leave(state: MoveState, choice: int) -> Result:
    if choice == 2:
        return reply(state._replace(phase=state.return_phase, return_phase=""), INFO, "session.dropped")
    verdict = Verdict(INFO, msg("move.left", count=len(state.in_hand)))
    return Turn(state._replace(in_hand=(), current_index=-1), (Close(verdict),))
