"""Job that lists deliveries and receipts, with the page of one delivery."""

from __future__ import annotations

from operator import attrgetter
from typing import NamedTuple

from aisle.browser_addresses_and_packets import PageAddress
from aisle.jobs.job import Args, Close, Context, Effect, Event, Query, Refresh, Rows, Start, Turn
from aisle.jobs.list_cursor_and_search import ListOptions, open_record
from aisle.jobs.list_page_base_class import Column, ListFilter, ListPage
from aisle.jobs.pages_and_page_job import Action, DetailPage, Page, PageJob, refuse
from aisle.jobs.receive.receive_state_and_differences import (
    DeliveryLine,
    ListedDelivery,
    parse_delivery_line,
    parse_delivery_row,
)
from aisle.jobs.receive.view import (
    DELIVERY_COLUMNS,
    code_text,
    delivery_progress,
    line_progress,
    lines_progress,
    progress_text,
)
from aisle.jobs.row_types.deliveries import DeliveryRow, ReceiptsRow
from aisle.jobs.row_types.exceptions_clearance_and_today import ExcessReceiptsRow
from aisle.jobs.store_time import due_on_day_message, to_local_text
from aisle.jobs.supervisor.exception_decisions import (
    EXCESS_QUERY,
    acceptance_effects,
    acceptance_verdict,
    undone_acceptance_verdict,
)
from aisle.jobs.typed_numbers_dates_and_letters import name_of
from aisle.jobs.view import Block, Line, Msg, Row, msg, raw
from aisle.scan.grammar_and_meaning_types import DELIVERY, PRODUCT, Match, UnknownCode

TO_RECEIVE, LATE, RECEIVED, ALL, RECEIPTS = "open", "late", "received", "all", "receipts"
"""Subsets of the list. Receipts are also listed by type if there are several types."""

TITLES = {
    TO_RECEIVE: msg("deliveries.title_open"),
    LATE: msg("deliveries.title_late"),
    RECEIVED: msg("deliveries.title_received"),
    ALL: msg("deliveries.title_all"),
    RECEIPTS: msg("deliveries.title_receipts"),
}

STATE_NAMES = {"open": "deliveries.expected", "partial": "deliveries.partial", "received": "deliveries.received"}
"""Names of the states of a delivery."""

KIND_NAMES = {"1": msg("deliveries.kind_purchase"), "2": msg("deliveries.kind_transfer")}
"""Names of the types of deliveries and receipts in the interface. Any other type is a number."""


MAX_EXCESS = 200
"""Most lines of a delivery whose excess is accepted at once."""


class DeliveriesState(NamedTuple):
    """State of the list and of the page of one delivery."""

    subset: str = TO_RECEIVE
    receipt_kind: str = ""
    """Type of receipts to show; empty for all."""
    receipt_kinds: tuple[str, ...] = ()
    """Types of receipts in the store's data."""
    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    options: ListOptions = ListOptions()
    rows: tuple[ListedDelivery, ...] = ()
    total: int = 0
    delivery_number: str = ""
    """Delivery whose page is open; empty for the list."""
    delivery: DeliveryRow | None = None
    is_alone: bool = False
    """True if the page of one delivery was opened directly. Back then leaves the job."""
    is_late: bool = False
    """True if the day of this delivery is over and goods are still to come."""
    excess: tuple[ExcessReceiptsRow, ...] = ()
    """Lines of this delivery with excess that nobody has accepted."""
    accepted: tuple[ExcessReceiptsRow, ...] = ()
    """Those accepted last; it can be undone."""
    page: int = 0


Result = Turn[DeliveriesState]


def list_title(state: DeliveriesState) -> Msg:
    """Return the title of the list."""
    return _title(state.subset, state.receipt_kind)


def _title(subset: str, receipt_kind: str) -> Msg:
    return msg("deliveries.title_kind", kind=kind_name(receipt_kind)) if receipt_kind else TITLES[subset]


def kind_name(kind: str) -> Msg:
    """Return the name of a delivery type."""
    return KIND_NAMES.get(kind) or msg("deliveries.kind", kind=kind)


class DeliveryList(ListPage[DeliveriesState, ListedDelivery]):
    """List of deliveries or receipts."""

    name = "deliveries"
    prompt_text = msg("deliveries.prompt")
    follows_typing = True
    has_two_line_rows = True
    no_rows_text = msg("list.empty")
    key = attrgetter("number")

    def title(self, state: DeliveriesState) -> Msg:
        return list_title(state)

    def all_columns(self, state: DeliveriesState) -> tuple[Column[ListedDelivery], ...]:
        *columns, when = DELIVERY_COLUMNS
        return (*columns, when._replace(title=msg("head.received_on"), sort="at") if state.subset == RECEIPTS else when)

    def row(self, state: DeliveriesState, row: ListedDelivery, cells: tuple[Msg, ...]) -> Row:
        return Row(row.number, cells, delivery_progress(row))

    def filters(self, state: DeliveriesState) -> tuple[ListFilter, ...]:
        """Return the subsets: to receive, late, received, all, receipts, and receipts by type if there are several."""
        kinds = state.receipt_kinds if len(state.receipt_kinds) > 1 else ()
        subsets = [*((subset, "") for subset in TITLES), *((RECEIPTS, kind) for kind in kinds)]
        return tuple(
            ListFilter(_title(subset, kind), {"subset": subset, "receipt_kind": kind}) for subset, kind in subsets
        )

    def query(self, state: DeliveriesState, context: Context) -> Query:
        args = self.window_arguments(state, context)
        if state.subset == RECEIPTS:
            return Query("receipts", "receipts", {**args, "kind": state.receipt_kind}, is_live=True)
        shown = "" if state.subset == ALL else state.subset
        return Query("deliveries", "deliveries", {**args, "state": shown, "now": context.now}, is_live=True)

    def parse_rows(self, answer: Rows, context: Context) -> tuple[ListedDelivery, ...]:
        if answer.id == "receipts":
            return tuple(_parse_receipt(row) for row in answer.rows)
        return tuple(parse_delivery_row(row, context) for row in answer.rows)

    def actions(self, state: DeliveriesState) -> tuple[Action[DeliveriesState], ...]:
        return (Action(msg("deliveries.next_subset"), self.choose_next_filter, "v"),)

    def handle_other_input(self, state: DeliveriesState, event: Event, context: Context) -> Result:
        match event:
            case UnknownCode(code):
                unknown = refuse(state, msg("receive.no_delivery", code=code))
                return unknown._replace(effects=(Refresh("delivery", code),))
        return super().handle_other_input(state, event, context)

    def open_row(self, state: DeliveriesState, row: ListedDelivery, context: Context) -> Result:
        return _open_delivery(state, row.number)


def _parse_receipt(row: ReceiptsRow) -> ListedDelivery:
    return ListedDelivery(
        row["order_number"],
        row["supplier_name"],
        msg("moment", at=row["at"]),
        row["shipped_quantity"],
        row["received_quantity"],
        row["status"],
        row["lines"],
        row["complete_lines"],
        row["is_mixed"],
    )


class DeliveryPage(DetailPage[DeliveriesState]):
    """Page of one delivery: supplier, dates, progress and lines."""

    name = "deliveries.page"

    def title(self, state: DeliveriesState) -> Msg:
        return msg("receive.choice_open", delivery=state.delivery_number)

    def prompt(self, state: DeliveriesState) -> Msg:
        return msg("pick.prompt_choice" if state.delivery else "deliveries.prompt")

    def lines(self, state: DeliveriesState) -> tuple[Line, ...]:
        if not state.delivery:
            return (Line("note", msg("stores.loading")),)
        late = (Line("note", msg("deliveries.how_late_ends")),) if state.is_late else ()
        excess = (Line("note", msg("excess.note", count=len(state.excess))),) if state.excess else ()
        return (*_head_lines(state.delivery), *late, *excess)

    def blocks(self, state: DeliveriesState) -> tuple[Block, ...]:
        return _blocks(state.delivery) if state.delivery else ()

    def actions(self, state: DeliveriesState) -> tuple[Action[DeliveriesState], ...]:
        if not state.delivery:
            return ()
        return (
            *((Action(msg("deliveries.receive"), _start_receiving),) if state.delivery["state"] != "received" else ()),
            *((Action(msg("excess.accept"), _accept_excess, "e"),) if state.excess else ()),
            *((Action(msg("hint.undo"), _undo_accepted, "u"),) if state.accepted else ()),
        )

    def go_back(self, state: DeliveriesState, context: Context) -> Result:
        if state.is_alone:
            return Turn(state, (Close(),))
        closed = state._replace(delivery_number="", delivery=None)
        return Turn(closed, (LIST.query(closed, context),))


def _query_delivery(number: str) -> tuple[Query, Query]:
    """Return journalled queries, because the row from which the delivery was chosen is not journalled."""
    args = {"order_number": number}
    return Query("delivery", "delivery", args), Query("excess", EXCESS_QUERY, {**args, "first": 0, "size": MAX_EXCESS})


def _open_delivery(state: DeliveriesState, number: str) -> Result:
    state = state._replace(delivery_number=number, delivery=None, page=0, typed="", excess=(), accepted=())
    return Turn(state, (*_query_delivery(number), Refresh("delivery", number)))


def _accept_excess(state: DeliveriesState, context: Context) -> Result:
    effects, verdict = acceptance_effects(state.excess, context.store), acceptance_verdict(state.excess)
    return Turn(state._replace(excess=(), accepted=state.excess), effects, verdict)


def _undo_accepted(state: DeliveriesState, context: Context) -> Result:
    effects = acceptance_effects(state.accepted, context.store, is_undone=True)
    return Turn(state._replace(excess=state.accepted, accepted=()), effects, undone_acceptance_verdict(state.accepted))


def _start_receiving(state: DeliveriesState, context: Context) -> Result:
    number = state.delivery_number
    return Turn(state, (Start("receive", {"deliveries": [number], "code": number}),))


def _is_late(row: DeliveryRow, context: Context) -> bool:
    due = due_on_day_message(str(row["datetime_expected"] or ""), context.now)
    return row["state"] != "received" and due.id == "moment.late"


def _head_lines(delivery: DeliveryRow) -> tuple[Line, ...]:
    lines, received = [parse_delivery_line(line) for line in delivery["lines"]], delivery["received_quantity"]
    is_unknown = received is None
    is_mixed = any(line.allows_decimals for line in lines)
    if is_mixed or any(line.is_announced_unknown for line in lines):
        done = sum(not line.is_open for line in lines)
        progress = lines_progress(None if is_unknown else done, len(lines))
    else:
        progress = progress_text(received, delivery["quantity"])
    about = "deliveries.received_unknown" if is_unknown else STATE_NAMES.get(delivery["state"], "deliveries.expected")
    named = (Line("product", raw(delivery["supplier_name"])),) if delivery["supplier_name"] else ()
    return (*named, Line("note", msg(about, progress=progress)))


def _blocks(delivery: DeliveryRow) -> tuple[Block, ...]:
    lines = tuple(_line_row(parse_delivery_line(line)) for line in delivery["lines"])
    expected, kind, containers = delivery["datetime_expected"], delivery["order_type"], delivery["no_of_containers"]
    about = (
        (msg("head.expected_on"), msg("moment", at=to_local_text(expected)) if expected else None),
        (msg("head.type"), kind_name(kind) if kind else None),
        (msg("head.containers"), None if containers is None else raw(str(containers))),
        (msg("orders.head_reference"), raw(delivery["external_reference_number"])),
        (msg("head.from_store"), raw("" if delivery["store_origin"] is None else str(delivery["store_origin"]))),
        (msg("head.tracing"), raw(delivery["tracing_url"])),
    )
    return (
        Block(msg("deliveries.lines"), lines or ((msg("receive.no_lines"),),)),
        Block(msg("deliveries.about"), tuple((label, value) for label, value in about if value not in (None, raw("")))),
    )


def _line_row(line: DeliveryLine) -> tuple[Msg, ...]:
    cells = [raw(line.label), line_progress(line)]
    cells += [code_text(line.container)] if line.container else []
    cells += [msg("deliveries.for_order", order=line.order)] if line.order else []
    return tuple(cells)


LIST, PAGE = DeliveryList(), DeliveryPage()


class DeliveriesJob(PageJob[DeliveriesState]):
    """Job that shows the list of deliveries and one of them."""

    name = "deliveries"
    lists = ("deliveries", "receipts")
    state_type = DeliveriesState
    steps: tuple[str, ...] = ("deliveries", "deliveries.page")
    topics = ("delivery", "outbox", "log")
    preferred_kinds = (DELIVERY, PRODUCT)

    def page(self, state: DeliveriesState) -> Page[DeliveriesState]:
        return PAGE if state.delivery_number else LIST

    def address(self, state: DeliveriesState) -> PageAddress:
        if state.delivery_number or state.subset in (TO_RECEIVE, RECEIPTS):
            return PageAddress("deliveries", state.delivery_number)
        return PageAddress("deliveries", filter=(("subset", state.subset),))

    def handle_opened(self, state: DeliveriesState, args: Args, context: Context) -> Result:
        if args.get("order_number"):
            alone = state._replace(is_alone=bool(args.get("is_alone")))
            return _open_delivery(alone, str(args["order_number"]))
        subset = str(args.get("subset") or TO_RECEIVE)
        state = state._replace(subset=subset if subset in TITLES else TO_RECEIVE)
        return Turn(state, (*self.queries(state, context), Refresh("deliveries")))

    def queries(self, state: DeliveriesState, context: Context) -> tuple[Effect, ...]:
        one = _query_delivery(state.delivery_number) if state.delivery_number else ()
        return (Query("receipt_kinds", "receipt_kinds", {}, is_live=True), LIST.query(state, context), *one)

    def handle_rows(self, state: DeliveriesState, answer: Rows, context: Context) -> Result:
        rows = answer.rows
        match answer.id:
            case "receipt_kinds":
                return Turn(state._replace(receipt_kinds=tuple(row["kind"] for row in rows)))
            case "deliveries" | "receipts":
                return LIST.handle_rows(state, answer, context)
            case "delivery" if rows:
                late = _is_late(rows[0], context)
                return Turn(state._replace(delivery_number=rows[0]["order_number"], delivery=rows[0], is_late=late))
            case "delivery":
                return refuse(state, msg("count.unknown", code=state.delivery_number))
            case "excess":
                return Turn(state._replace(excess=rows))
            case "deliveries_expecting" if rows:
                return _open_delivery(state, rows[0]["order_number"])
        return refuse(state, msg("deliveries.no_delivery_expects"))

    def handle_scan(self, state: DeliveriesState, matches: tuple[Match, ...], context: Context) -> Result:
        """Open a scanned delivery, or the first delivery that expects the scanned product. On the page of a delivery,
        look the product up."""
        first = matches[0]
        if first.kind == DELIVERY:
            return _open_delivery(state, first.key)
        if first.kind != PRODUCT:
            return refuse(state, msg("page.not_this", what=name_of(first)))
        if state.delivery_number and (start := open_record(first.kind, first.key, first.label or first.key)):
            return Turn(state, (start,))
        query = Query("deliveries_expecting", "deliveries_expecting", {"product_number": first.key, "size": 1})
        return Turn(state, (query,))
