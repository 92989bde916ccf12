"""Job that hands orders over to their customers, and the list of those that wait. Interface: Update customer order."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import TYPE_CHECKING

from aisle.jobs.hand_over.hand_over_state_and_writes import (
    LIST,
    ORDER_STEP,
    HandOverState,
    Result,
    goods_of_line,
    parse_goods,
)
from aisle.jobs.hand_over.order_pages import (
    ORDER_PAGES,
    ask_undo,
    check_product,
    drop_put_back,
    is_unchecked,
    open_order,
    put_back_at,
    put_back_product,
    query_order,
    scan_at_question,
    scan_location,
    scan_order,
)
from aisle.jobs.job import Args, Context, Effect, Event, Query, Refresh, Rows, Turn, reply
from aisle.jobs.list_page_base_class import Column, SearchPage
from aisle.jobs.log_writes_and_refusals import (
    new_refusals,
    query_refused_hand_overs,
    refusal_verdict,
    report_refused_hand_overs,
    with_reported,
)
from aisle.jobs.pages_and_page_job import Action, Page, PageJob, refuse
from aisle.jobs.supervisor.order_rows import STATUS_NAMES, BoardOrder, parse_order_row
from aisle.jobs.typed_numbers_dates_and_letters import not_an_order
from aisle.jobs.view import INFO, WRONG, Msg, Verdict, msg, raw
from aisle.scan.grammar_and_meaning_types import LOCATION, ORDER, PRODUCT, REFERENCE, Match

if TYPE_CHECKING:
    from aisle.jobs.row_types.operations_and_session_answers import RefusedOperationsRow
    from aisle.jobs.row_types.orders import OrderRow


MIN_PHONE_DIGITS = 7
"""Digits from which a search may be a phone number."""


class ReadyList(SearchPage[HandOverState, BoardOrder]):
    """List of the picked orders by their pick-up date."""

    name = "hand_over"
    query_name = "order_board"
    title_text = msg("order_actions.hand_over")
    prompt_text = msg("hand_over.prompt_list")
    columns = (
        Column(msg("head.order"), lambda order: raw(order.number)),
        Column(msg("head.location"), lambda order: _where(order)),
        Column(msg("head.customer"), lambda order: raw(order.customer)),
        Column(msg("head.pickup"), lambda order: order.due),
    )
    no_match_id = "home.no_match"
    no_rows_text = msg("list.empty")
    key = attrgetter("number")

    def arguments(self, state: HandOverState, context: Context) -> Args:
        searched = ("open", "partial") if state.typed or state.search else ()
        return {"status": ["picked", *searched], "now": context.now}

    def parse_rows(self, answer: Rows, context: Context) -> tuple[BoardOrder, ...]:
        return tuple(parse_order_row(row, context) for row in answer.rows)

    def actions(self, state: HandOverState) -> tuple[Action[HandOverState], ...]:
        return (Action(msg("hint.undo"), ask_undo, "u", is_hinted=bool(state.put_back)),)

    def open_row(self, state: HandOverState, row: BoardOrder, context: Context) -> Result:
        return open_order(state, row.number, context)

    def handle_rows(self, state: HandOverState, answer: Rows, context: Context) -> Result:
        """Show the rows. A search without a hit says so, and what this service cannot know."""
        turn = super().handle_rows(state, answer, context)
        if not state.open_single_hit or answer.total:
            return turn
        digits = "".join(filter(str.isdecimal, state.search))
        is_phone = len(digits) >= MIN_PHONE_DIGITS and not any(map(str.isalpha, state.search))
        hides_phones = is_phone and not state.knows_phones
        text = msg("hand_over.no_phones") if hides_phones else msg("hand_over.nobody", text=state.search)
        restarted = self.restart(turn.state._replace(search="", open_single_hit=False), context)
        return restarted._replace(verdict=Verdict(WRONG, text))


def _where(order: BoardOrder) -> Msg:
    """Return where the goods lie; the state of an order that is not picked."""
    if order.put_down_at:
        return raw(", ".join(order.put_down_at))
    return msg(STATUS_NAMES[order.status]) if order.status != "picked" else raw("")


READY_LIST = ReadyList()


PAGES: Mapping[str, Page[HandOverState]] = {LIST: READY_LIST, **ORDER_PAGES}

_KINDS = {LIST: (ORDER, REFERENCE), "location": (LOCATION,), "goods": (PRODUCT,)}
"""Kinds of scans that a step can use, if not all."""


class HandOverJob(PageJob[HandOverState]):
    """Job that finds an order, shows where its goods lie, and hands it over."""

    name = "hand_over"
    lists = ("headers", "lines", "changes")
    version = 2
    state_type = HandOverState
    steps: tuple[str, ...] = tuple(page.name for page in PAGES.values())
    topics = ("order", "outbox", "refusal")
    requery_after_write = True

    def page(self, state: HandOverState) -> Page[HandOverState]:
        return PAGES[state.step]

    def prefers(self, state: HandOverState) -> tuple[str, ...]:
        return _KINDS.get(state.step, (PRODUCT, ORDER, REFERENCE, LOCATION))

    def can_undo(self, state: HandOverState) -> bool:
        return bool(state.put_back)

    def uses_product(self, state: HandOverState, product: str) -> bool:
        return any(goods.product == product for goods in state.goods)

    def quantity_product(self, state: HandOverState) -> tuple[str, str]:
        goods = goods_of_line(state, state.line)
        return (goods.product, goods.label) if goods else ("", "")

    def handle(self, state: HandOverState, event: Event, context: Context) -> Result:
        if state.step == ORDER_STEP:
            state = state._replace(checks_goods=bool(state.checked) or context.policy.check_hand_over)
        return super().handle(state, event, context)

    def handle_opened(self, state: HandOverState, args: Args, context: Context) -> Result:
        state = state._replace(since=context.now, is_alone="order_number" in args)
        features = Query("features", "features", {}, is_live=True)
        if not state.is_alone:
            return Turn(state, (*self.queries(state, context), features, Refresh("orders")))
        turn = open_order(state, str(args["order_number"]), context)
        return turn._replace(state=turn.state._replace(is_alone=True), effects=(*turn.effects, features))

    def queries(self, state: HandOverState, context: Context) -> tuple[Effect, ...]:
        return (
            READY_LIST.query(state, context),
            *((query_order(state.order),) if state.order else ()),
            query_refused_hand_overs(state.since)._replace(is_live=False),  # it ends what can be undone
        )

    def handle_rows(self, state: HandOverState, answer: Rows, context: Context) -> Result:
        match answer:
            case Rows("order_board"):
                return READY_LIST.handle_rows(state, answer, context)
            case Rows("order", rows):
                return _report_end(state, _with_order(state, rows[0] if rows else None))
            case Rows("features", rows):
                return Turn(state._replace(knows_phones=bool(rows and rows[0]["features"])))
            case Rows("refused_hand_overs", rows):
                return _report_refused(state, rows, context)
        return Turn(state)

    def handle_scan(self, state: HandOverState, matches: tuple[Match, ...], context: Context) -> Result:
        turn = self._handle_scan(state, matches, context)
        return turn._replace(state=_with_label_read(turn.state, matches, context))

    def _handle_scan(self, state: HandOverState, matches: tuple[Match, ...], context: Context) -> Result:
        kinds = self.prefers(state)
        first = next((each for kind in kinds for each in matches if each.kind == kind), None)
        match state.step:
            case "" if any(state.last_read.is_repeated(each.key, context.now) for each in matches):
                return reply(state, INFO, "pick.handed_over_now", order=state.last_order)
            case "":
                return open_order(state, first.key, context) if first else refuse(state, not_an_order(matches[0]))
            case "order" if first and first.kind == PRODUCT:
                return check_product(state, first)
            case "order" if first and first.kind == LOCATION:
                return scan_location(state, first.key, context)
            case "order" if first:
                return scan_order(state, first.key, context)
            case "goods" if first:
                return put_back_product(state, first, context)
            case "location" if first:
                return put_back_at(state, first.key, context)
            case "confirm" if first and is_unchecked(state, first):
                return check_product(state, first)
        return scan_at_question(state, matches[0])


def _with_label_read(state: HandOverState, matches: tuple[Match, ...], context: Context) -> HandOverState:
    """Return the state after a scan. A repeated read of the label, on any page, begins the guard time again."""
    is_read = any(each.key in state.last_read.keys for each in matches)
    return state._replace(last_read=state.last_read._replace(at=context.now)) if is_read else state


def _with_order(state: HandOverState, row: OrderRow | None) -> HandOverState:
    """Return the state with the open order as it is now. A question about goods that are gone is dropped."""
    if row is None or row["order_number"] != state.order:
        return state
    fresh = state._replace(customer=str(row.get("customer_name") or ""), status=_status_of(row), goods=parse_goods(row))
    if fresh.line and goods_of_line(fresh, fresh.line) is None:
        return drop_put_back(fresh)
    return fresh if fresh.status in ("partial", "picked") else fresh._replace(step=ORDER_STEP)


def _report_refused(state: HandOverState, rows: tuple[RefusedOperationsRow, ...], context: Context) -> Result:
    """Report refused hand-overs, and lines of which goods were put back; this can then not be undone."""
    reported, verdict = report_refused_hand_overs(state.reported_refusals, rows, context.user)
    lines = {(step.order, step.line) for step in state.put_back}
    found = [row for row in new_refusals(reported, rows, context.user) if not lines.isdisjoint(_lines_of(row))]
    if found:
        refused = {line for row in found for line in _lines_of(row)}
        kept = tuple(step for step in state.put_back if (step.order, step.line) not in refused)
        state, verdict = state._replace(put_back=kept), refusal_verdict(found[-1])
    return Turn(state._replace(reported_refusals=with_reported(reported, found)), (), verdict)


def _lines_of(row: RefusedOperationsRow) -> list[tuple[str, int]]:
    order = row["body"]["orders"]
    return [(order["order_number"], line["line_number"]) for line in order.get("order_lines") or ()]


def _status_of(row: OrderRow) -> str:
    if not row["is_active"]:
        return "finished"
    if row["is_rejected"]:
        return "rejected"
    if row["is_picked"]:
        return "picked"
    return "partial" if row["picked_quantity"] > 0 else "open"


def _report_end(before: HandOverState, state: HandOverState) -> Result:
    """Report that somebody else has handed the open order over."""
    is_ended = before.status in ("partial", "picked") and state.status == "finished"
    return refuse(state, msg("pick.handed_over_now", order=state.order)) if is_ended else Turn(state)
