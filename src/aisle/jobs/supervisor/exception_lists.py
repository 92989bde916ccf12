"""Lists of exceptions, one of each kind, and what a supervisor does in them."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter, itemgetter
from typing import Any

from aisle.jobs import list_cursor_and_search, list_page_base_class
from aisle.jobs.job import (
    Args,
    Close,
    Context,
    Effect,
    Event,
    Query,
    Rows,
    Start,
    Turn,
    UndoLast,
    reply,
)
from aisle.jobs.list_page_base_class import Column, ListFilter, ListPage
from aisle.jobs.names_in_messages import measured
from aisle.jobs.pages_and_page_job import Action
from aisle.jobs.receive.view import code_text
from aisle.jobs.row_types.exceptions_clearance_and_today import (
    DifferencesRow,
    ExcessReceiptsRow,
    NegativeStockRow,
    RecountsRow,
)
from aisle.jobs.row_types.log import LogRow
from aisle.jobs.supervisor.exception_decisions import (
    EXCEPTION_KINDS,
    EXCESS_QUERY,
    KIND_NAMES,
    NOT_REVIEWED,
    Actions,
    ExceptionsState,
    Result,
    acceptance_effects,
    acceptance_verdict,
    approval_effects,
    is_unknown,
    recount_note,
    start_count,
    undone_acceptance_verdict,
    value_message,
    with_count_changes,
    write_at_store,
)
from aisle.jobs.supervisor.log_list import change_message, entry_label, why_message
from aisle.jobs.supervisor.order_rows import STUCK_COLUMNS, UNCOLLECTED_COLUMNS, BoardOrder, parse_order_row
from aisle.jobs.typed_numbers_dates_and_letters import name_of
from aisle.jobs.view import (
    ASK,
    GOOD,
    INFO,
    WRONG,
    Msg,
    Row,
    Verdict,
    known_number,
    msg,
    raw,
    signed_message,
)
from aisle.scan.grammar_and_meaning_types import (
    LOCATION,
    PRODUCT,
    CursorKey,
    Match,
    Text,
    UnknownCode,
)

MAX_APPROVALS = 200
"""Most differences that are approved at once."""


def summary_queries(context: Context) -> tuple[Effect, ...]:
    """Return the queries for the numbers of all kinds and the features of the service."""
    policy = context.policy
    limits = {"now": context.now, "minutes": policy.stuck_minutes, "pickup_days": policy.pickup_days}
    return (Query("summary", "exceptions", limits, is_live=True), Query("features", "features", {}, is_live=True))


def open_kind(state: ExceptionsState, kind: str, context: Context) -> Result:
    """Open the list of a kind, or the job that has it."""
    if kind == "unconfirmed":
        return Turn(state, (Start("unconfirmed", {}),))
    if kind == "late":
        return Turn(state, (Start("orders", {"filter": {"state": "to_pick", "due": "late"}}),))
    state = state._replace(kind=kind, rows=(), total=dict(state.counts).get(kind, 0), first=0, cursor=-1)
    return Turn(state, (LISTS[kind].query(state, context),))


class ExceptionList(ListPage[ExceptionsState, Any]):
    """List of the exceptions of one kind."""

    key: Callable[[Any], str] = itemgetter("key")

    def title(self, state: ExceptionsState) -> Msg:
        return msg(KIND_NAMES[state.kind])

    def prompt(self, state: ExceptionsState) -> Msg:
        is_none = self._is_known(state) and not state.total
        return msg("unconfirmed.prompt_none") if is_none else self.rows_prompt(state)

    def rows_prompt(self, state: ExceptionsState) -> Msg:
        """Return the prompt of a list that has rows."""
        return self.prompt_text

    def empty_text(self, state: ExceptionsState) -> Msg:
        return msg("list.empty" if self._is_known(state) else "stores.loading")

    def _is_known(self, state: ExceptionsState) -> bool:
        return state.is_loaded and not is_unknown(state, state.kind)

    def filters(self, state: ExceptionsState) -> tuple[ListFilter, ...]:
        return tuple(ListFilter(msg(KIND_NAMES[kind]), {"kind": kind}) for kind in EXCEPTION_KINDS)

    def choose_filter(self, state: ExceptionsState, chosen: ListFilter, context: Context) -> Result:
        return open_kind(state._replace(marked=(), is_marking=False), chosen.fields["kind"], context)

    def count_queries(self, state: ExceptionsState, context: Context) -> tuple[Query, ...]:
        """Return no query: the summary has the figures."""
        return ()

    def go_back(self, state: ExceptionsState, context: Context) -> Result:
        if state.opened_directly:
            return Turn(state, (Close(),))
        at, size = EXCEPTION_KINDS.index(state.kind), list_cursor_and_search.page_size(context)
        state = state._replace(kind="", rows=(), total=0, first=at // size * size, size=size, cursor=at)
        return Turn(state, summary_queries(context))


_STUCK_SORTS = {
    "number": "order_number",
    "pickup": "pickup_date",
    "customer": "customer_name",
    "state": "status",
    "claim": "claimed_name",
    "age": "seen_at",
    "idle": "idle_since",
}
"""Field of the rows for each sort order of the board."""


class StuckOrderList(ExceptionList):
    """List of stuck orders, as on the order board."""

    name = "exceptions.stuck"
    query_name = "stuck"
    prompt_text = msg("unconfirmed.choose")
    columns = tuple(column._replace(sort=_STUCK_SORTS.get(column.sort, "")) for column in STUCK_COLUMNS)
    has_progress_bars = True
    key = attrgetter("number")

    def row(self, state: ExceptionsState, row: BoardOrder, cells: tuple[Msg, ...]) -> Row:
        return Row(row.number, cells, row.progress)

    def arguments(self, state: ExceptionsState, context: Context) -> Args:
        return {"now": context.now, "minutes": context.policy.stuck_minutes}

    def parse_rows(self, answer: Rows, context: Context) -> tuple[BoardOrder, ...]:
        return tuple(parse_order_row(row, context) for row in answer.rows)

    def open_row(self, state: ExceptionsState, row: BoardOrder, context: Context) -> Result:
        return open_order(state, row.number)


class UncollectedOrderList(StuckOrderList):
    """List of picked orders that wait too long for their customers."""

    name = "exceptions.uncollected"
    query_name = "uncollected"
    columns = tuple(column._replace(sort=_STUCK_SORTS.get(column.sort, "")) for column in UNCOLLECTED_COLUMNS)

    def arguments(self, state: ExceptionsState, context: Context) -> Args:
        return {"now": context.now, "pickup_days": context.policy.pickup_days}


_NEGATIVE_STOCK_TEXTS = {
    "below": "exceptions.negative",
    "more": "exceptions.picked_more_than_stock",
    "missing": "exceptions.picked_goods_missing",
    "overdrawn": "exceptions.held_more_than_stock",
}


def _negative_stock_text(row: NegativeStockRow) -> Msg:
    if row["is_corrected"]:
        return msg("exceptions.negative_corrected", quantity=row["quantity"])
    return msg(_NEGATIVE_STOCK_TEXTS[row["kind"]], quantity=row["quantity"], of=row["other_quantity"])


def _location_text(row: NegativeStockRow | RecountsRow) -> Msg:
    return raw(row["location_code"]) if row["location_code"] else msg("exceptions.whole_store")


UNDO_LAST = Action[ExceptionsState](msg("hint.undo"), lambda state, _: Turn(state, (UndoLast(),)), "u")
"""Undo of the last step, most often a count that was opened from a list and has closed."""


class NegativeStockList(ExceptionList):
    """List of impossible stock."""

    name = "exceptions.negative_stock"
    query_name = "negative_stock"
    prompt_text = msg("unconfirmed.choose")
    columns = (
        Column(msg("head.product"), lambda row: raw(row["label"]), sort="label"),
        Column(msg("exceptions.head_what"), _negative_stock_text, sort="quantity"),
        Column(
            msg("exceptions.head_where"),
            lambda row: msg("move.to_order", order=row["order_number"]) if row["order_number"] else _location_text(row),
        ),
    )

    def actions(self, state: ExceptionsState) -> Actions:
        return (UNDO_LAST,)

    def open_row(self, state: ExceptionsState, row: NegativeStockRow, context: Context) -> Result:
        return open_order(state, row["order_number"]) if row["order_number"] else Turn(state, (start_count(row),))


class RecountList(ExceptionList):
    """List of ordered recounts."""

    name = "exceptions.recounts"
    query_name = "recounts"
    prompt_text = msg("unconfirmed.choose")
    columns = (
        Column(msg("head.product"), lambda row: raw(row["label"]), sort="label"),
        Column(msg("head.location"), _location_text, sort="location_code"),
        Column(msg("unconfirmed.head_user"), lambda row: raw(row["user_name"]), sort="user_name"),
        Column(msg("head.time"), lambda row: msg("moment", at=row["at"]), sort="at"),
    )

    def actions(self, state: ExceptionsState) -> Actions:
        withdraw = Action(msg("exceptions.withdraw"), _withdraw_recount, "w", is_hinted=bool(state.rows))
        return (withdraw, UNDO_LAST)

    def open_row(self, state: ExceptionsState, row: RecountsRow, context: Context) -> Result:
        return Turn(state, (start_count(row),))


def _received_text(row: ExcessReceiptsRow) -> Msg:
    """Return what was received of what was announced, also if nothing was."""
    announced = known_number(row["quantity"])
    unit = row["unit"] if row["allow_decimal"] else ""
    return msg("progress.of", done=row["received"], total=measured(announced, unit))


class ExcessReceiptList(ExceptionList):
    """List of the lines of deliveries of which more was received than announced."""

    name = "exceptions.excess_receipts"
    query_name = EXCESS_QUERY
    prompt_text = msg("exceptions.prompt_excess_receipts")
    columns = (
        Column(msg("head.product"), lambda row: raw(row["description"]), sort="description"),
        Column(msg("head.received"), _received_text, sort="received"),
        Column(msg("head.delivery"), lambda row: code_text(row["order_number"]), sort="order_number"),
        Column(msg("head.supplier"), lambda row: raw(row["supplier_name"]), sort="supplier_name"),
    )

    def actions(self, state: ExceptionsState) -> Actions:
        return (
            Action(msg("excess.accept"), _accept_excess, "e", is_hinted=bool(state.rows)),
            *((Action(msg("hint.undo"), _undo_accepted, "u"),) if state.accepted else ()),
        )

    def open_row(self, state: ExceptionsState, row: ExcessReceiptsRow, context: Context) -> Result:
        return Turn(state, (Start("deliveries", {"order_number": row["order_number"], "is_alone": True}),))


class EntryToReviewList(ExceptionList):
    """List of the log entries to review."""

    name = "exceptions.entries_to_review"
    query_name = "entries_to_review"
    prompt_text = msg("unconfirmed.choose")
    columns = (
        Column(msg("head.product"), lambda row: raw(entry_label(row)), sort="description"),
        Column(msg("head.change"), change_message, sort="difference"),
        Column(msg("head.reason"), lambda row: why_message(row, ()), sort="work"),
        Column(msg("head.time"), lambda row: msg("moment", at=row["at"]), sort="at"),
        Column(
            msg("unconfirmed.head_user"), lambda row: raw(row["user_name"] or row["app_user_name"]), sort="user_name"
        ),
        Column(msg("head.location"), lambda row: raw(row["location_code"]), sort="location_code"),
    )

    def open_row(self, state: ExceptionsState, row: LogRow, context: Context) -> Result:
        return Turn(state, (Start("log", {"key": row["key"]}),))


class DifferenceList(ExceptionList):
    """List of counts that differ from the expected quantity, those of the highest value first."""

    name = "exceptions.differences"
    query_name = "differences"
    columns = (
        Column(msg("head.product"), lambda row: raw(row["label"]), sort="label"),
        Column(msg("head.difference"), lambda row: signed_message(row["difference"]), sort="difference"),
        Column(msg("head.value"), value_message, sort="value"),
        Column(msg("head.location"), lambda row: raw(row["location_code"]), sort="location_code"),
        Column(msg("head.counted"), lambda row: msg("number", value=row["counted"]), sort="counted"),
        Column(msg("unconfirmed.head_user"), lambda row: raw(row["user_name"]), sort="user_name"),
        Column(msg("head.time"), lambda row: msg("moment", at=row["at"]), sort="at"),
    )

    def title(self, state: ExceptionsState) -> Msg:
        is_marked = state.is_marking or state.marked
        return msg("orders.title_marked", count=len(state.marked)) if is_marked else super().title(state)

    def rows_prompt(self, state: ExceptionsState) -> Msg:
        return msg("exceptions.prompt_marking" if state.is_marking else "exceptions.prompt_differences")

    def row(self, state: ExceptionsState, row: DifferencesRow, cells: tuple[Msg, ...]) -> Row:
        return Row(row["key"], cells, is_marked=row["key"] in state.marked)

    def handle_other_input(self, state: ExceptionsState, event: Event, context: Context) -> Result:
        if isinstance(event, CursorKey) and list_page_base_class.is_mark_key(state, event):
            marked = list_page_base_class.mark_with_key(
                state, event.key, self.page_size(context), self.key, MAX_APPROVALS
            )
            return Turn(marked, (self.query(marked, context),) if marked.first != state.first else ())
        if isinstance(event, Text | UnknownCode) and state.is_marking and list_page_base_class.is_row_numbers(event[0]):
            return list_page_base_class.mark_numbers(state, event[0], self.key, MAX_APPROVALS)
        return super().handle_other_input(state, event, context)

    def actions(self, state: ExceptionsState) -> Actions:
        mark, has_rows = msg("orders.mark_end" if state.is_marking else "orders.mark"), bool(state.rows)
        return (
            Action(mark, lambda state, _: list_page_base_class.toggle_marking(state), "m", has_rows),
            Action(msg("orders.mark_all"), _query_all, "a", has_rows),
            Action(msg("exceptions.approve"), lambda state, _: _ask_decision(state, "approve"), "e", has_rows),
            Action(msg("exceptions.recount"), lambda state, _: _ask_decision(state, "recount"), "r", has_rows),
            *((Action(msg("hint.undo"), _undo_approval, "u"),) if state.approved else ()),
        )

    def open_row(self, state: ExceptionsState, row: DifferencesRow, context: Context) -> Result:
        if state.is_marking:
            return Turn(state._replace(marked=list_page_base_class.toggle_mark(state.marked, row["key"])))
        return Turn(state._replace(question=row["key"]))

    def go_back(self, state: ExceptionsState, context: Context) -> Result:
        if state.marked or state.is_marking:
            return list_page_base_class.clear_marks(state)
        return super().go_back(state, context)


def _query_all(state: ExceptionsState, context: Context) -> Result:
    return Turn(state, (list_cursor_and_search.query_window("all", "differences", {}, 0, MAX_APPROVALS),))


def query_scanned(state: ExceptionsState, matches: tuple[Match, ...]) -> Result:
    """Query all differences, of which those of the scanned product or location are marked."""
    query = list_cursor_and_search.query_window("scanned", "differences", {}, 0, MAX_APPROVALS)
    return Turn(state._replace(scanned=matches), (query,))


def mark_scanned(state: ExceptionsState, rows: tuple[DifferencesRow, ...], matches: tuple[Match, ...]) -> Result:
    """Mark the differences of a scanned product or location; remove these marks if all of them are marked already."""
    names = {(each.kind, each.key) for each in matches}
    keys = tuple(
        row["key"] for row in rows if {(PRODUCT, row["product_number"]), (LOCATION, row["location_code"])} & names
    )
    if not keys:
        return reply(state, WRONG, "orders.no_row", row=name_of(matches[0]))
    is_marked = set(keys) <= set(state.marked)
    others = tuple(key for key in state.marked if key not in keys)
    marked = others if is_marked else tuple(dict.fromkeys((*state.marked, *keys)))[:MAX_APPROVALS]
    return reply(state._replace(marked=marked), INFO, "orders.rows_marked", count=len(marked))


def _ask_decision(state: ExceptionsState, decision: str) -> Result:
    """Ask whether this is done with all marked differences, else with the one in focus."""
    if state.marked:
        return Turn(state._replace(question=decision))
    is_desk = state.options.is_desk
    row = list_cursor_and_search.row_in_focus(state) if is_desk else list_cursor_and_search.row_at_cursor(state)
    if row:
        return Turn(state._replace(question=decision, opened=(row,)))
    return reply(state, ASK, "exceptions.mark_first")


def open_order(state: ExceptionsState, number: str) -> Result:
    """Open the page of an order."""
    return Turn(state, (Start("order", {"order_number": number}),))


def _withdraw_recount(state: ExceptionsState, context: Context) -> Result:
    """Withdraw the recount under the cursor, or the only one. While it is being sent it has no number yet."""
    row: RecountsRow | None = list_cursor_and_search.row_at_cursor(state) or (
        state.rows[0] if len(state.rows) == 1 else None
    )
    if row is None:
        return reply(state, INFO, "exceptions.choose_row")
    if row["kind"] == "queued":
        return reply(state, INFO, "exceptions.recount_not_sent", label=row["label"])
    is_at_service = row["kind"] == "at_service"
    effects: list[Effect] = [recount_note(row, "", mirrors_write=is_at_service)]
    if is_at_service:
        body = {"recounts": [{"id": int(row["key"]), "state": "withdrawn"}]}
        effects.append(write_at_store("write-recounts", (f"recount/{row['key']}",), context.store, body))
    rest = tuple(each for each in state.rows if each["key"] != row["key"])
    state = with_count_changes(state, {"recounts": -1})
    return reply(
        state._replace(rows=rest, total=state.total - 1, cursor=-1),
        GOOD,
        "exceptions.withdrawn",
        *tuple(effects),
        label=row["label"],
    )


def _accept_excess(state: ExceptionsState, context: Context) -> Result:
    """Accept the line in focus at a desk; on a handheld the one under the cursor, or the only one."""
    is_sure = state.options.is_desk or len(state.rows) == 1
    row = list_cursor_and_search.row_in_focus(state) if is_sure else list_cursor_and_search.row_at_cursor(state)
    if row is None:
        return reply(state, INFO, "exceptions.choose_row")
    rest = tuple(each for each in state.rows if each["key"] != row["key"])
    cursor = min(state.cursor, state.total - 2)
    state = with_count_changes(state, {EXCESS_QUERY: -1})
    state = state._replace(rows=rest, total=state.total - 1, cursor=cursor, accepted=(row,))
    return Turn(state, acceptance_effects((row,), context.store), acceptance_verdict((row,)))


def _undo_accepted(state: ExceptionsState, context: Context) -> Result:
    effects = acceptance_effects(state.accepted, context.store, is_undone=True)
    undone = state._replace(accepted=())
    return Turn(
        undone, (*effects, LISTS[EXCESS_QUERY].query(undone, context)), undone_acceptance_verdict(state.accepted)
    )


def _undo_approval(state: ExceptionsState, context: Context) -> Result:
    verdict = Verdict(GOOD, msg("exceptions.approval_undone", count=len(state.approved)))
    effects = approval_effects(state, state.approved, context.store, "", NOT_REVIEWED)
    return Turn(state._replace(approved=()), (*effects, DIFFERENCES.query(state, context)), verdict)


DIFFERENCES = DifferenceList()
_OTHER_LISTS = (
    NegativeStockList(),
    StuckOrderList(),
    RecountList(),
    ExcessReceiptList(),
    EntryToReviewList(),
    UncollectedOrderList(),
)
LISTS: dict[str, ExceptionList] = {page.query_name: page for page in (DIFFERENCES, *_OTHER_LISTS)}
