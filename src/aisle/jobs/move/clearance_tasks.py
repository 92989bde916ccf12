"""Clearance tasks: the list of goods that a clearance wants moved, and the move job opened for one of them."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from aisle.jobs import pages, refusals
from aisle.jobs.job import (
    Args,
    Changed,
    Close,
    Closed,
    Context,
    Effect,
    Event,
    Job,
    Opened,
    Query,
    Refresh,
    Resumed,
    Rows,
    Start,
    Turn,
    Write,
)
from aisle.jobs.move import goods_in_hand
from aisle.jobs.move.move_state import ClearanceTask, MoveState, UndoStep, reply
from aisle.jobs.pages import page_size
from aisle.jobs.quantities import distinct_labels, to_decimal
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, ListView, Msg, Row, Verdict, msg, raw
from aisle.scan.meaning import LOCATION, PRODUCT, Accepts, Back, Command, CursorKey, Match, Scan, Text, UnknownCode

if TYPE_CHECKING:
    from aisle.jobs.row_types.supervisor import AssignmentsRow


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
    """True if the service lists clearance tasks."""
    is_loaded: bool = True
    """True once the list was read."""
    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    rows: tuple[TaskRow, ...] = ()
    total: int = 0
    confirmed_task: str = ""
    """Task of another user that was selected once; selecting it again opens it."""
    opened_at: str = ""
    """Time when the list was opened."""
    reported_refusals: tuple[str, ...] = ()
    """Refusals since then that were reported."""


def parse_task_row(row: AssignmentsRow) -> TaskRow:
    """Parse a row of the read `assignments`."""
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


def list_view(state: ClearanceTasksState) -> ListView:
    """Return the list, with locations in walking order."""
    return pages.list_view(
        state,
        "clearance_tasks",
        msg("clearance_tasks.title_of", tag=state.tag) if state.tag else msg("clearance_tasks.title"),
        msg("clearance_tasks.prompt"),
        (
            msg("head.location"),
            msg("head.product"),
            msg("clearance_tasks.head_quantity"),
            msg("head.order"),
            msg("clearance_tasks.head_worker"),
        ),
        tuple(Row(each.task.id, _task_cells(each)) for each in state.rows),
        empty=_empty_text(state),
    )


def _task_cells(row: TaskRow) -> tuple[Msg, ...]:
    task = row.task
    return (
        raw(task.location),
        raw(task.label),
        quantity_with_unit(task.quantity, task.unit if task.allows_decimals else ""),
        raw(task.order),
        raw(row.worker_name),
    )


def quantity_with_unit(quantity: Decimal, unit: str) -> Msg:
    """Return a quantity in pieces, or with its unit."""
    return msg("clearance_tasks.measure", quantity=quantity, unit=unit) if unit else msg("number", value=quantity)


def _empty_text(state: ClearanceTasksState) -> Msg:
    if not state.is_loaded:
        return msg("clearance_tasks.not_loaded")
    return msg("clearance_tasks.empty") if state.lists_tasks else msg("clearance_tasks.unlisted")


Result = Turn[ClearanceTasksState]


class ClearanceTasksJob(Job[ClearanceTasksState]):
    """Job for the list of clearance tasks."""

    name = "clearance_tasks"
    steps: tuple[str, ...] = ("clearance_tasks",)
    version = 1
    journalled = False

    def begin(self) -> ClearanceTasksState:
        """Return the state with all tasks."""
        return ClearanceTasksState()

    def accepts(self, state: ClearanceTasksState) -> Accepts:
        """Return the accepted inputs: row numbers and page letters; typing filters nothing."""
        return Accepts(choices=pages.numbered_rows(state), command_letters=pages.page_letters(state))

    def prefers(self, state: ClearanceTasksState) -> tuple[str, ...]:
        """Return locations and products: a scan of either selects a task."""
        return (LOCATION, PRODUCT)

    def uses_product(self, state: ClearanceTasksState, product: str) -> bool:
        """Return True if a task is about the product."""
        return any(row.task.product == product for row in state.rows)

    def step_name(self, state: ClearanceTasksState) -> str:
        """Return the only step."""
        return self.name

    def handle(self, state: ClearanceTasksState, event: Event, context: Context) -> Result:
        """Handle an event: a number, or a scan of a location or product, opens the move of a task."""
        match event:
            case Opened(args):
                state = state._replace(tag=str(args.get("tag") or ""), opened_at=context.now)
                return Turn(state, (*_refresh(state, context), Refresh("assignments")))
            case Rows("clearance_permission", (row, *_), _):
                return Turn(state._replace(lists_tasks=bool(row["listed"]), is_loaded=bool(row["is_known"])))
            case Rows("clearance_tasks", rows, _):
                return pages.handle_rows(state, event, tuple(parse_task_row(row) for row in rows), context, _query)
            case Rows("refused" | "refused_before"):
                reported, verdict = refusals.report_refused_moves(state.reported_refusals, event, context.user)
                return Turn(state._replace(reported_refusals=reported), (), verdict)
            case Resumed() | Closed() | Changed("assignment" | "outbox" | "order"):
                moved = isinstance(event, Closed) and event.job == "move"
                effects = (*_refresh(state, context), refusals.query_refused_moves(state.opened_at, is_reported=moved))
                return Turn(state._replace(confirmed_task=""), effects)
            case Back():
                return Turn(state, (Close(),))
            case Scan(matches):
                return _handle_scan(state, matches, context)
            case Text(text) | UnknownCode(text):
                return Turn(state, (), Verdict(WRONG, msg("clearance_tasks.unknown", text=text)))
            case Command() | CursorKey() if event != CursorKey("enter"):
                state = state._replace(confirmed_task="")
        return pages.handle_list_input(state, event, context, _query, _start_task)

    def view(self, state: ClearanceTasksState) -> ListView:
        """Return the list, with locations in walking order."""
        return list_view(state)


def _refresh(state: ClearanceTasksState, context: Context) -> tuple[Effect, ...]:
    return (
        Query("clearance_permission", "clearance_permission", {"user": context.user}, is_live=True),
        _query(state, context),
    )


def _query(state: ClearanceTasksState, context: Context) -> Query:
    return Query(
        "clearance_tasks",
        "assignments",
        {"tag": state.tag, "first": state.first, "size": page_size(context)},
        is_live=True,
    )


def _handle_scan(state: ClearanceTasksState, matches: tuple[Match, ...], context: Context) -> Result:
    for match in matches:
        for each in state.rows:
            if (match.kind, match.key) in ((LOCATION, each.task.location), (PRODUCT, each.task.product)):
                return _start_task(state, each, context)
    return Turn(state, (), Verdict(WRONG, msg("clearance_tasks.not_here", what=matches[0].label or matches[0].key)))


def _start_task(state: ClearanceTasksState, row: TaskRow, context: Context) -> Result:
    """Open the move of a task; confirm first if another user works on it."""
    is_taken = row.worker_name and row.worker != context.user
    if is_taken and state.confirmed_task != row.task.id:
        verdict = Verdict(ASK, msg("clearance_tasks.taken_by_other", who=row.worker_name, label=row.task.label))
        return Turn(state._replace(confirmed_task=row.task.id), (), verdict)
    verdict = Verdict(INFO, msg("clearance_tasks.started", place=row.task.location))
    return Turn(state._replace(confirmed_task=""), (Start("move", {"task": task_args(row.task)}),), verdict)


def task_args(task: ClearanceTask) -> Args:
    """Return the arguments that open the move job for a task."""
    return {**task._asdict()}


MoveResult = Turn[MoveState]


def parse_task(args: Args) -> ClearanceTask:
    """Return the task that the move job was opened for."""
    return ClearanceTask(**{**args, "quantity": to_decimal(args["quantity"]), "line": int(args["line"])})


def scan_for_task(state: MoveState, match: Match) -> MoveResult:
    """Handle a scan with no goods in hand: first the location, then the product.

    A scan without an explicit quantity takes all that the task asks for.
    """
    task = state.task
    assert task is not None
    scanned = match.label or match.key
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
        return reply(state, GOOD, "move.task_here", label=task.label, quantity=task.quantity, place=task.location)
    if match.kind != PRODUCT or match.key != task.product:
        return reply(state, WRONG, "move.task_product", **distinct_labels(task.label, task.product, match))
    if not state.is_started:
        return reply(state, WRONG, "move.task_first", place=task.location)
    quantity = match.quantity if match.is_explicit else task.quantity
    if quantity > task.quantity:
        return reply(state, WRONG, "move.not_so_many", label=task.label, quantity=quantity, there=task.quantity)
    goods = goods_in_hand.held_goods(task.stock_line, task.stock_line.held[0], task.location)._replace(
        quantity=quantity
    )
    hand = goods_in_hand.add_to_hand(state.in_hand, goods)
    state = goods_in_hand.add_undo_step(state._replace(in_hand=hand, current_index=0), UndoStep((goods,)))
    return reply(state, GOOD, "move.task_taken", label=task.label, quantity=quantity)


def close_when_done(turn: MoveResult) -> MoveResult:
    """Close the job once it has written the movement of its task."""
    if turn.state.task and not turn.state.in_hand and any(isinstance(effect, Write) for effect in turn.effects):
        return turn._replace(effects=(*turn.effects, Close(turn.verdict)))
    return turn
