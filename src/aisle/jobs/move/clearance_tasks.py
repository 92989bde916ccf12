"""Clearance tasks: the list of goods that a clearance wants moved, and the move job opened for one of them."""

from __future__ import annotations

from decimal import Decimal
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from aisle.jobs import log_writes_and_refusals
from aisle.jobs.job import (
    Args,
    Close,
    Closed,
    Context,
    Effect,
    Event,
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
from aisle.jobs.move import goods_in_hand
from aisle.jobs.move.move_state_and_rows import ClearanceTask, MoveState, UndoStep
from aisle.jobs.names_in_messages import amount_of
from aisle.jobs.pages_and_page_job import Action, Page, PageJob, refuse
from aisle.jobs.typed_numbers_dates_and_letters import distinct_labels
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Msg, Verdict, msg, raw
from aisle.row_values import to_decimal
from aisle.scan.grammar_and_meaning_types import LOCATION, PRODUCT, Command, CursorKey, Match

if TYPE_CHECKING:
    from aisle.jobs.row_types.exceptions_clearance_and_today import AssignmentLeftRow, AssignmentsRow


class TaskRow(NamedTuple):
    """One row: the task and who works on it."""

    task: ClearanceTask
    since: str = ""
    tag: str = ""
    worker: str = ""
    worker_name: str = ""


class ClearanceTasksState(NamedTuple):
    """Window of the list; of one tag if it was opened for one."""

    tag: str = ""
    lists_tasks: bool = True
    is_loaded: bool = True
    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    options: ListOptions = ListOptions()
    rows: tuple[TaskRow, ...] = ()
    total: int = 0
    confirmed_task: str = ""
    """Task of another user that was selected once; selecting it again opens it."""
    opened_at: str = ""
    reported_refusals: tuple[str, ...] = ()
    """Refusals since then that were reported."""


def parse_task_row(row: AssignmentsRow) -> TaskRow:
    """Parse a row of the query `assignments`."""
    task = ClearanceTask(
        id=str(row["id"]),
        product=str(row["product_number"]),
        label=str(row.get("label") or row["product_number"]),
        location=str(row["location_code"]),
        order=str(row["order_number"]),
        line=int(to_decimal(row.get("line_number"))),
        quantity=to_decimal(row.get("quantity")),
        allows_decimals=bool(row.get("allow_decimal")),
        unit=str(row.get("unit") or ""),
    )
    worker = str(row.get("taken_user") or ""), str(row.get("taken_by") or "")
    return TaskRow(task, str(row.get("since") or ""), str(row.get("tag") or ""), *worker)


def quantity_with_unit(quantity: Decimal, unit: str) -> Msg:
    """Return a quantity in pieces, or with its unit."""
    return msg("beside", one=quantity, other=unit) if unit else msg("number", value=quantity)


def _quantity_text(row: TaskRow) -> Msg:
    return quantity_with_unit(row.task.quantity, row.task.unit if row.task.allows_decimals else "")


Result = Turn[ClearanceTasksState]


class TaskList(ListPage[ClearanceTasksState, TaskRow]):
    """List of tasks, with locations in walking order."""

    name = "clearance_tasks"
    prompt_text = msg("clearance_tasks.prompt")
    columns = (
        Column(msg("head.location"), lambda row: raw(row.task.location)),
        Column(msg("head.product"), lambda row: raw(row.task.label)),
        Column(msg("clearance_tasks.head_quantity"), _quantity_text),
        Column(msg("head.order"), lambda row: raw(row.task.order)),
        Column(msg("unconfirmed.head_user"), lambda row: raw(row.worker_name)),
    )
    key = attrgetter("task.id")

    def title(self, state: ClearanceTasksState) -> Msg:
        return msg("clearance_tasks.title_of", tag=state.tag) if state.tag else msg("home.clearance_tasks")

    def empty_text(self, state: ClearanceTasksState) -> Msg:
        if not state.is_loaded:
            return msg("stores.loading")
        return msg("list.empty" if state.lists_tasks else "clearance_tasks.unlisted")

    def actions(self, state: ClearanceTasksState) -> tuple[Action[ClearanceTasksState], ...]:
        """Return the undo of the last step, most often a move that was opened from the list and has closed."""
        return (Action(msg("hint.undo"), lambda state, _: Turn(state, (UndoLast(),)), "u", is_hinted=False),)

    def query(self, state: ClearanceTasksState, context: Context) -> Query:
        args = {"tag": state.tag, **self.window_arguments(state, context)}
        return Query("clearance_tasks", "assignments", args, is_live=True)

    def parse_rows(self, answer: Rows, context: Context) -> tuple[TaskRow, ...]:
        return tuple(parse_task_row(row) for row in answer.rows)

    def handle_other_input(self, state: ClearanceTasksState, event: Event, context: Context) -> Result:
        if isinstance(event, Command | CursorKey) and event != CursorKey("enter"):
            state = state._replace(confirmed_task="")
        return super().handle_other_input(state, event, context)

    def handle_text(self, state: ClearanceTasksState, text: str, context: Context) -> Result:
        return refuse(state, msg("count.unknown", code=text))

    def open_row(self, state: ClearanceTasksState, row: TaskRow, context: Context) -> Result:
        """Open the move of a task; confirm first if another user works on it."""
        is_taken = row.worker_name and row.worker != context.user
        if is_taken and state.confirmed_task != row.task.id:
            verdict = Verdict(ASK, msg("clearance_tasks.taken_by_other", who=row.worker_name, label=row.task.label))
            return Turn(state._replace(confirmed_task=row.task.id), (), verdict)
        verdict = Verdict(INFO, msg("clearance_tasks.started", place=row.task.location))
        return Turn(state._replace(confirmed_task=""), (Start("move", {"task": task_args(row.task)}),), verdict)


LIST = TaskList()


class ClearanceTasksJob(PageJob[ClearanceTasksState]):
    """Job for the list of clearance tasks."""

    name = "clearance_tasks"
    lists = ("assignments", "stock")
    state_type = ClearanceTasksState
    steps: tuple[str, ...] = ("clearance_tasks",)
    journalled = False
    topics = ("assignment", "outbox", "order")
    preferred_kinds = (LOCATION, PRODUCT)

    def page(self, state: ClearanceTasksState) -> Page[ClearanceTasksState]:
        return LIST

    def uses_product(self, state: ClearanceTasksState, product: str) -> bool:
        return any(row.task.product == product for row in state.rows)

    def handle_opened(self, state: ClearanceTasksState, args: Args, context: Context) -> Result:
        state = state._replace(tag=str(args.get("tag") or ""), opened_at=context.now)
        return Turn(state, (*self.queries(state, context), Refresh("assignments")))

    def queries(self, state: ClearanceTasksState, context: Context) -> tuple[Effect, ...]:
        permission = Query("clearance_permission", "clearance_permission", {"user": context.user}, is_live=True)
        return (permission, LIST.query(state, context))

    def query_again(self, state: ClearanceTasksState, context: Context) -> Result:
        return self._query_tasks_and_refusals(state, context, is_moved=False)

    def handle_closed(self, state: ClearanceTasksState, event: Closed, context: Context) -> Result:
        return self._query_tasks_and_refusals(state, context, is_moved=event.job == "move")

    def _query_tasks_and_refusals(self, state: ClearanceTasksState, context: Context, *, is_moved: bool) -> Result:
        refused = log_writes_and_refusals.query_refused_moves(state.opened_at, is_reported=is_moved)
        return Turn(state._replace(confirmed_task=""), (*self.queries(state, context), refused))

    def handle_rows(self, state: ClearanceTasksState, answer: Rows, context: Context) -> Result:
        match answer:
            case Rows("clearance_permission", (row, *_)):
                return Turn(state._replace(lists_tasks=row["listed"], is_loaded=row["is_known"]))
            case Rows("clearance_tasks"):
                return LIST.handle_rows(state, answer, context)
            case Rows("refused" | "refused_before"):
                reported, verdict = log_writes_and_refusals.report_refused_moves(
                    state.reported_refusals, answer, context.user
                )
                return Turn(state._replace(reported_refusals=reported), (), verdict)
        return Turn(state)

    def handle_scan(self, state: ClearanceTasksState, matches: tuple[Match, ...], context: Context) -> Result:
        """Open the first task at the scanned location or with the scanned product."""
        for match in matches:
            for row in state.rows:
                if (match.kind, match.key) in ((LOCATION, row.task.location), (PRODUCT, row.task.product)):
                    return LIST.open_row(state, row, context)
        return refuse(state, msg("clearance_tasks.not_here", what=matches[0].label or matches[0].key))


def task_args(task: ClearanceTask) -> Args:
    """Return the arguments that open the move job for a task."""
    return {**task._asdict()}


MoveResult = Turn[MoveState]


def parse_task(args: Args) -> ClearanceTask:
    """Return the task that the move job was opened for."""
    return ClearanceTask(**{**args, "quantity": to_decimal(args["quantity"]), "line": int(args["line"])})


def query_task(state: MoveState) -> tuple[Query, ...]:
    """Return the query for what is left of the task; none without a task."""
    return (Query("task", "assignment_left", {"id": state.task.id}),) if state.task else ()


def follow_task(state: MoveState, rows: tuple[AssignmentLeftRow, ...]) -> MoveResult:
    """Take what is left of the task, and report it if others have changed that; without rows it is unknown."""
    task = state.task
    if task is None or not rows or rows[0]["quantity"] == task.quantity:
        return Turn(state)
    task = task._replace(quantity=rows[0]["quantity"])
    state = state._replace(task=task, order_lines=(task.stock_line,) if state.order_lines else ())
    quantity, taken = amount_of(task, task.quantity), sum((part.quantity for part in state.in_hand), Decimal(0))
    if taken > task.quantity:
        return reply(state, INFO, "move.not_so_many", label=task.label, quantity=amount_of(task, taken), there=quantity)
    if taken:
        return Turn(state)
    if not task.quantity:
        return reply(state, INFO, "clearance_tasks.not_here", what=task.label)
    return reply(state, INFO, "move.task_here", label=task.label, quantity=quantity, place=task.location)


def scan_for_task(state: MoveState, match: Match) -> MoveResult:
    """Handle a scan with no goods in hand: first the location, then the product. A scan without an explicit quantity
    takes all that the task asks for."""
    task = state.task
    assert task is not None
    scanned = match.label or match.key
    if not task.quantity:
        return reply(state, WRONG, "clearance_tasks.not_here", what=task.label)
    if match.kind == LOCATION:
        if match.key.casefold() != task.location.casefold():
            return reply(state, WRONG, "move.task_location", what=scanned, place=task.location)
        lines = (task.stock_line,)
        state = state._replace(
            phase="take",
            is_started=True,
            location=task.location,
            order=task.order,
            order_lines=lines,
            is_source_known=True,
        )
        return reply(
            state,
            GOOD,
            "move.task_here",
            label=task.label,
            quantity=amount_of(task, task.quantity),
            place=task.location,
        )
    if match.kind != PRODUCT or match.key != task.product:
        return reply(state, WRONG, "move.task_product", **distinct_labels(task.label, task.product, match))
    if not state.is_started:
        return reply(state, WRONG, "move.task_first", place=task.location)
    quantity = match.quantity if match.is_explicit else task.quantity
    if quantity > task.quantity:
        amounts = {"quantity": amount_of(task, quantity), "there": amount_of(task, task.quantity)}
        return reply(state, WRONG, "move.not_so_many", label=task.label, **amounts)
    goods = goods_in_hand.held_goods(task.stock_line, task.stock_line.held[0], task.location)._replace(
        quantity=quantity
    )
    hand = goods_in_hand.add_to_hand(state.in_hand, goods)
    state = goods_in_hand.add_undo_step(state._replace(in_hand=hand, current_index=0), UndoStep((goods,)))
    return reply(state, GOOD, "move.task_taken", label=task.label, quantity=amount_of(task, quantity))


def close_when_done(turn: MoveResult) -> MoveResult:
    """Close the job once it has written the movement of its task."""
    if turn.state.task and not turn.state.in_hand and any(isinstance(effect, Write) for effect in turn.effects):
        return turn._replace(effects=(*turn.effects, Close(turn.verdict)))
    return turn
