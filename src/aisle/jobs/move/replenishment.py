"""Replenishment: the list of moves from the backroom to the shop floor, and the move job opened for them.

The move job suggests one product after another, in the walking order of the backroom. They are taken on the cart; each
is then suggested to be put at its location on the shop floor. Which locations are which: `cache/replenishment_queries`.
"""

from __future__ import annotations

from operator import itemgetter
from typing import NamedTuple

from aisle.jobs import log_writes_and_refusals
from aisle.jobs.job import (
    Args,
    Close,
    Closed,
    Context,
    Effect,
    Event,
    Policy,
    Query,
    Refresh,
    Rows,
    Start,
    Turn,
    UndoLast,
    Write,
    reply,
)
from aisle.jobs.list_cursor_and_search import ListOptions
from aisle.jobs.list_page_base_class import Column, ListPage
from aisle.jobs.move import goods_in_hand, put_goods, query_stock_here, take_goods
from aisle.jobs.move.clearance_tasks import quantity_with_unit
from aisle.jobs.move.move_state_and_rows import (
    MoveState,
    PoolQuantity,
    Replenishment,
    StockLine,
    SuggestedMove,
    at_source,
)
from aisle.jobs.names_in_messages import amount_of
from aisle.jobs.pages_and_page_job import Action, Page, PageJob, refuse
from aisle.jobs.row_types.products import ReplenishmentRow
from aisle.jobs.view import ASK, INFO, Msg, Verdict, msg, raw
from aisle.jobs.walk_order_sort_keys import NO_WALK_ORDER
from aisle.row_values import to_decimal
from aisle.scan.grammar_and_meaning_types import LOCATION, PRODUCT, Command, CursorKey, Match

MAX_MOVES = 30
"""Most moves that the move job reads at once; it reads the next ones when these are done."""


class ReplenishmentState(NamedTuple):
    """Window of the list."""

    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    options: ListOptions = ListOptions()
    rows: tuple[ReplenishmentRow, ...] = ()
    total: int = 0
    backroom: int = 0
    """Pool of the backroom."""
    confirmed_product: str = ""
    """Product on the cart of another user that was selected once; selecting it again opens it."""
    scanned: tuple[Match, ...] = ()
    """Scan whose move is queried."""
    opened_at: str = ""
    reported_refusals: tuple[str, ...] = ()
    """Refusals since then that were reported."""


Result = Turn[ReplenishmentState]


def pool_arguments(policy: Policy) -> Args:
    """Return the arguments of the queries that say which locations are the shop floor and which the backroom."""
    return {"shop_floor": policy.shop_floor_pool, "backroom": policy.backroom_pool}


def _quantity_text(row: ReplenishmentRow) -> Msg:
    return quantity_with_unit(row["quantity"], row["unit"] if row["allow_decimal"] else "")


class MoveList(ListPage[ReplenishmentState, ReplenishmentRow]):
    """List of moves in the walking order of the backroom."""

    name = "replenishment"
    query_name = "replenishment"
    has_two_line_rows = True
    title_text = msg("home.replenishment")
    prompt_text = msg("clearance_tasks.prompt")
    columns = (
        Column(msg("head.location"), lambda row: raw(row["location_code"])),
        Column(msg("head.product"), lambda row: raw(row["product_name"])),
        Column(msg("clearance_tasks.head_quantity"), _quantity_text),
        Column(msg("unconfirmed.head_user"), lambda row: raw(row["worker_name"]), is_optional=True),
        Column(msg("replenishment.head_on_floor"), lambda row: msg("number", value=row["on_floor"])),
        Column(msg("store_product.of_order_level"), lambda row: msg("number", value=row["order_level"])),
    )
    key = itemgetter("product_number")

    def empty_text(self, state: ReplenishmentState) -> Msg:
        return msg("replenishment.none", pool=state.backroom)

    def usual_columns(self, state: ReplenishmentState) -> tuple[Column[ReplenishmentRow], ...]:
        """Return the columns to show; a handheld leaves the figures of the shop floor to the names."""
        return self.columns if state.options.is_desk else self.columns[:-2]

    def arguments(self, state: ReplenishmentState, context: Context) -> Args:
        return pool_arguments(context.policy)

    def actions(self, state: ReplenishmentState) -> tuple[Action[ReplenishmentState], ...]:
        """Return the undo of the last step, most often a move that was opened from the list and has closed."""
        return (Action(msg("hint.undo"), lambda state, _: Turn(state, (UndoLast(),)), "u", is_hinted=False),)

    def handle_other_input(self, state: ReplenishmentState, event: Event, context: Context) -> Result:
        if isinstance(event, Command | CursorKey) and event != CursorKey("enter"):
            state = state._replace(confirmed_product="")
        return super().handle_other_input(state, event, context)

    def handle_text(self, state: ReplenishmentState, text: str, context: Context) -> Result:
        return refuse(state, msg("count.unknown", code=text))

    def open_row(self, state: ReplenishmentState, row: ReplenishmentRow, context: Context) -> Result:
        """Open the move of a product and of those after it; confirm first if another user has it on the cart."""
        number, label = row["product_number"], row["product_name"]
        is_taken = row["worker_name"] and row["worker"] != context.user
        if is_taken and state.confirmed_product != number:
            verdict = Verdict(ASK, msg("clearance_tasks.taken_by_other", who=row["worker_name"], label=label))
            return Turn(state._replace(confirmed_product=number), (), verdict)
        verdict = Verdict(INFO, msg("clearance_tasks.started", place=row["location_code"]))
        start = Start("move", {"replenish": number, "label": label})
        return Turn(state._replace(confirmed_product=""), (start,), verdict)


LIST = MoveList()


class ReplenishmentJob(PageJob[ReplenishmentState]):
    """Job for the list of moves that replenish the shop floor."""

    name = "replenishment"
    lists = ("stock", "stock_changes", "locations", "products")
    state_type = ReplenishmentState
    steps: tuple[str, ...] = ("replenishment",)
    journalled = False
    topics = ("product", "location", "outbox")
    preferred_kinds = (LOCATION, PRODUCT)

    def page(self, state: ReplenishmentState) -> Page[ReplenishmentState]:
        return LIST

    def uses_product(self, state: ReplenishmentState, product: str) -> bool:
        return any(row["product_number"] == product for row in state.rows)

    def handle_opened(self, state: ReplenishmentState, args: Args, context: Context) -> Result:
        state = state._replace(opened_at=context.now, backroom=int(context.policy.backroom_pool))
        return Turn(state, (LIST.query(state, context), Refresh("locations")))

    def queries(self, state: ReplenishmentState, context: Context) -> tuple[Effect, ...]:
        return (LIST.query(state, context),)

    def query_again(self, state: ReplenishmentState, context: Context) -> Result:
        return self._query_moves_and_refusals(state, context, is_moved=False)

    def handle_closed(self, state: ReplenishmentState, event: Closed, context: Context) -> Result:
        return self._query_moves_and_refusals(state, context, is_moved=event.job == "move")

    def _query_moves_and_refusals(self, state: ReplenishmentState, context: Context, *, is_moved: bool) -> Result:
        refused = log_writes_and_refusals.query_refused_moves(state.opened_at, is_reported=is_moved)
        return Turn(state._replace(confirmed_product=""), (LIST.query(state, context), refused))

    def handle_rows(self, state: ReplenishmentState, answer: Rows, context: Context) -> Result:
        if answer.id == "replenishment":
            return LIST.handle_rows(state, answer, context)
        if answer.id == "scanned":
            return _open_scanned(state, answer.rows, context)
        known = state.reported_refusals
        reported, verdict = log_writes_and_refusals.report_refused_moves(known, answer, context.user)
        return Turn(state._replace(reported_refusals=reported), (), verdict)

    def handle_scan(self, state: ReplenishmentState, matches: tuple[Match, ...], context: Context) -> Result:
        """Query the first move from the scanned location, or of the scanned product: it may be out of the window."""
        keys = {match.kind: match.key for match in reversed(matches)}
        scanned = {"product_number": keys.get(PRODUCT, ""), "location_code": keys.get(LOCATION, "")}
        args = {**pool_arguments(context.policy), **scanned, "size": 1}
        found = Query("scanned", "replenishment_moves", args, is_live=True)
        return Turn(state._replace(scanned=matches), (found,))


def _open_scanned(state: ReplenishmentState, rows: tuple[ReplenishmentRow, ...], context: Context) -> Result:
    """Open the move that was found for a scan; refuse the scan if there is none."""
    matches, state = state.scanned, state._replace(scanned=())
    for row in rows if matches else ():
        found = {(LOCATION, row["location_code"]), (PRODUCT, row["product_number"])}
        if any((match.kind, match.key) in found for match in matches):
            return LIST.open_row(state, row, context)
    what = matches[0].label or matches[0].key if matches else ""
    return refuse(state, msg("clearance_tasks.not_here", what=what)) if what else Turn(state)


# The move job


MoveResult = Turn[MoveState]


def open_moves(state: MoveState, args: Args, context: Context) -> MoveState:
    """Return the state of the move job with an empty cart, for a product and perhaps those after it."""
    pools = int(context.policy.shop_floor_pool), int(context.policy.backroom_pool)
    product, label = str(args["replenish"]), str(args.get("label") or args["replenish"])
    wanted = Replenishment(product, label, *pools, is_single=bool(args.get("is_single")))
    return state._replace(phase="load", replenishment=wanted)


def query_moves(state: MoveState) -> tuple[Query, ...]:
    """Return the query for the suggested moves; none if the job was opened for something else."""
    wanted = state.replenishment
    if wanted is None:
        return ()
    pools = {"shop_floor": wanted.shop_floor, "backroom": wanted.backroom}
    args = {**pools, "product_number": wanted.product, "is_single": wanted.is_single, "size": MAX_MOVES}
    return (Query("replenishment", "replenishment_moves", args),)


def follow_moves(state: MoveState, rows: tuple[ReplenishmentRow, ...], context: Context) -> MoveResult:
    """Suggest these moves from now on. Close the job if there was none from the start."""
    wanted = state.replenishment
    if wanted is None:
        return Turn(state)
    moves = tuple(_parse_move(row, context) for row in rows)
    state = state._replace(replenishment=wanted._replace(moves=moves, is_read=True))
    if moves or wanted.is_read:
        return Turn(state)
    verdict = Verdict(INFO, msg("clearance_tasks.not_here", what=wanted.label))
    return Turn(state, (Close(verdict),), verdict)


def _parse_move(row: ReplenishmentRow, context: Context) -> SuggestedMove:
    pools = tuple(PoolQuantity(int(pool), to_decimal(quantity)) for pool, quantity in row["pools"].items())
    return SuggestedMove(
        StockLine(
            row["product_number"],
            row["product_name"],
            to_decimal(row["available"]),
            pools,
            allows_decimals=row["allow_decimal"],
            unit=row["unit"],
        ),
        row["location_code"],
        to_decimal(row["quantity"]),
        row["to_location"],
        to_decimal(row["to_order"], NO_WALK_ORDER),
        is_taken=bool(row["worker_name"]) and row["worker"] != context.user,
    )


def open_suggestions(state: MoveState) -> tuple[SuggestedMove, ...]:
    """Return the suggested moves whose goods are not on the cart, passed by or put down, nor on another user's cart."""
    wanted = state.replenishment
    if wanted is None:
        return ()
    done = {part.product for part in state.in_hand} | set(wanted.passed)
    done |= {item.product for step in state.history for item in step.items}
    return tuple(
        move
        for move in wanted.moves
        if move.stock.product not in done and (not move.is_taken or move.stock.product == wanted.product)
    )


def shown_suggestion(state: MoveState) -> SuggestedMove | None:
    """Return the suggested move on the screen: the next one, as long as no goods are."""
    is_free = state.phase == "load" and not state.pending_scan and state.current_goods is None
    return next(iter(open_suggestions(state)), None) if is_free else None


def take_suggested(state: MoveState, match: Match) -> MoveResult | None:
    """Take the suggested quantity of a scanned product, unless the code has one. Return None for other products, and if
    another location than the suggested one was scanned."""
    wanted = state.replenishment
    move = next((each for each in open_suggestions(state) if each.stock.product == match.key), None)
    if wanted is None or move is None or state.phase != "load" or wanted.scanned_location not in ("", move.location):
        return None
    state = at_source(state, move.location)._replace(
        source_stock=(move.stock,),
        to_pool=wanted.shop_floor if move.stock.pools else 0,
        replenishment=wanted._replace(scanned_location=""),
    )
    goods = goods_in_hand.free_goods(move.stock, move.location, 0)._replace(to_pool=state.to_pool)
    quantity = match.quantity if match.is_explicit else move.quantity
    turn = take_goods.set_quantity(state, goods, quantity, is_confirmed=not match.is_explicit)
    here = query_stock_here.query_location("again", move.location), Refresh("location", move.location)
    return turn._replace(effects=(*turn.effects, *here))


def with_destinations(state: MoveState) -> MoveState:
    """Return the state with goods on the cart that are for the shop floor marked, each with its suggested location."""
    wanted = state.replenishment
    moves = {move.stock.product: move for move in wanted.moves} if wanted else {}
    in_hand = tuple(
        part._replace(
            replenishes=True,
            suggested_location=moves[part.product].to_location,
            suggested_order=moves[part.product].to_order,
        )
        if part.product in moves and not part.replenishes and not part.order
        else part
        for part in state.in_hand
    )
    return state._replace(in_hand=in_hand)


def pass_by(state: MoveState, move: SuggestedMove) -> MoveResult:
    """Leave a suggested product where it is, and show the next."""
    assert state.replenishment is not None
    passed = (*state.replenishment.passed, move.stock.product)
    return _show_next(state._replace(replenishment=state.replenishment._replace(passed=passed)))


def _show_next(state: MoveState) -> MoveResult:
    """Show the next suggested move; after the last one, start to unload."""
    state = state._replace(current_index=-1)
    move = shown_suggestion(state)
    if move:
        amount = amount_of(move.stock, move.quantity)
        return reply(state, INFO, "move.task_here", label=move.stock.label, quantity=amount, place=move.location)
    return put_goods.start_unloading(state)


def press_enter(state: MoveState, context: Context) -> MoveResult:
    """Accept the suggestion: the quantity taken, or the location on the shop floor. Goods are taken by a scan only."""
    part = state.current_goods
    if state.choices or part is None:
        is_loaded = state.phase == "load" and not state.choices and bool(state.in_hand) and not open_suggestions(state)
        return put_goods.start_unloading(state) if is_loaded else Turn(state)
    if state.phase == "load":
        return _show_next(state)
    if state.phase == "put" and part.replenishes and part.suggested_location:
        return put_goods.put_at_location(state, part.suggested_location, context)
    return Turn(state)


def close_when_done(turn: MoveResult) -> MoveResult:
    """Close the job once it has put down the last suggested goods."""
    state = turn.state
    is_done = state.replenishment is not None and not state.in_hand and not open_suggestions(state)
    if is_done and any(isinstance(effect, Write) for effect in turn.effects):
        return turn._replace(effects=(*turn.effects, Close(turn.verdict)))
    return turn
