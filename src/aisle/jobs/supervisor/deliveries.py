"""Job that lists deliveries and receipts, with the page of one delivery."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from aisle.jobs import pages
from aisle.jobs.job import (
    Changed,
    Close,
    Closed,
    Context,
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
)
from aisle.jobs.pages import page_size, turn_page
from aisle.jobs.quantities import name_of, to_decimal, to_decimal_or_none
from aisle.jobs.receive.receive_state import DeliveryLine, ListedDelivery, parse_delivery_line, parse_delivery_row
from aisle.jobs.receive.view import (
    DELIVERY_HEADS,
    code_text,
    delivery_row,
    line_progress,
    lines_progress,
    progress_text,
)
from aisle.jobs.view import (
    BACK,
    INFO,
    PAGE_HINTS,
    WRONG,
    Block,
    DetailView,
    KeyHint,
    Line,
    ListView,
    Msg,
    Verdict,
    View,
    msg,
    raw,
)
from aisle.scan.meaning import (
    DELIVERY,
    PRODUCT,
    Accepts,
    Back,
    Choice,
    Command,
    CursorKey,
    Match,
    Scan,
    Text,
    UnknownCode,
)

if TYPE_CHECKING:
    from aisle.jobs.row_types.deliveries import DeliveryRow, ReceiptsRow

TO_RECEIVE, RECEIVED, ALL, RECEIPTS = "open", "received", "all", "receipts"
"""Subsets of the list. Receipts are also listed by type if there are several types."""


class DeliveryDetails(NamedTuple):
    """Delivery as its page shows it."""

    number: str
    supplier: str = ""
    state: str = ""
    expected: str = ""
    kind: str = ""
    reference: str = ""
    containers: str = ""
    origin: str = ""
    tracing_url: str = ""
    announced: Decimal = Decimal(0)
    received: Decimal | None = Decimal(0)
    """None if unknown."""
    lines: tuple[DeliveryLine, ...] = ()


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
    rows: tuple[ListedDelivery, ...] = ()
    total: int = 0
    delivery_number: str = ""
    """Delivery whose page is open; empty for the list."""
    delivery: DeliveryDetails | None = None
    page: int = 0


STATE_NAMES = {"open": "deliveries.expected", "partial": "deliveries.partial", "received": "deliveries.received"}
"""Names of the states of a delivery."""

TITLES = {
    "open": "deliveries.title_open",
    "received": "deliveries.title_received",
    "all": "deliveries.title_all",
    "receipts": "deliveries.title_receipts",
}

KIND_NAMES = {"1": "deliveries.kind_purchase", "2": "deliveries.kind_transfer"}
"""Names of the types of deliveries and receipts in the interface. Any other type is a number."""


def list_title(state: DeliveriesState) -> Msg:
    """Return the title of the list."""
    return (
        msg("deliveries.title_kind", kind=kind_name(state.receipt_kind))
        if state.receipt_kind
        else msg(TITLES[state.subset])
    )


def kind_name(kind: str) -> Msg:
    """Return the name of a delivery type."""
    return msg(KIND_NAMES[kind]) if kind in KIND_NAMES else msg("deliveries.kind", kind=kind)


def list_view(state: DeliveriesState) -> ListView:
    """Return the numbered list of deliveries or receipts."""
    text = state.typed or state.search
    when = msg("head.received_on") if state.subset == "receipts" else DELIVERY_HEADS[-1]
    return pages.list_view(
        state,
        "deliveries",
        list_title(state),
        msg("deliveries.prompt"),
        (*DELIVERY_HEADS[:-1], when),
        tuple(delivery_row(each) for each in state.rows),
        KeyHint("v", msg("deliveries.next_subset")),
        empty=msg("deliveries.no_match", text=text) if text else msg("deliveries.empty"),
        has_two_line_rows=True,
    )


def delivery_choices(state: DeliveriesState) -> tuple[Msg, ...]:
    """Return the choices of the delivery page."""
    return (msg("deliveries.receive"),) if state.delivery else ()


def page_view(state: DeliveriesState) -> DetailView:
    """Return the page of one delivery: supplier, dates, progress and lines."""
    delivery = state.delivery
    return DetailView(
        name="deliveries.page",
        title=msg("receive.title_of", delivery=state.delivery_number),
        prompt=msg("receive.prompt_choice") if delivery else msg("deliveries.prompt"),
        lines=_head_lines(delivery) if delivery else (Line("note", msg("deliveries.loading")),),
        blocks=_blocks(delivery) if delivery else (),
        page=state.page,
        choices=delivery_choices(state),
        key_hints=(*PAGE_HINTS, BACK),
    )


def _head_lines(delivery: DeliveryDetails) -> tuple[Line, ...]:
    mixed = len(delivery.lines) > 1 and any(line.allows_decimals for line in delivery.lines)
    mixed = mixed or any(line.is_announced_unknown for line in delivery.lines)
    done = sum(not line.is_open for line in delivery.lines)
    unknown = delivery.received is None
    progress = (
        lines_progress(None if unknown else done, len(delivery.lines))
        if mixed
        else progress_text(delivery.received, delivery.announced)
    )
    named = (Line("product", raw(delivery.supplier)),) if delivery.supplier else ()
    about = "deliveries.received_unknown" if unknown else STATE_NAMES.get(delivery.state, "deliveries.expected")
    return (*named, Line("note", msg(about, progress=progress)))


def _blocks(delivery: DeliveryDetails) -> tuple[Block, ...]:
    about = (
        (msg("head.expected_on"), msg("moment", at=delivery.expected), delivery.expected),
        (msg("head.type"), kind_name(delivery.kind), delivery.kind),
        (msg("head.containers"), raw(delivery.containers), delivery.containers),
        (msg("head.reference"), raw(delivery.reference), delivery.reference),
        (msg("head.from_store"), raw(delivery.origin), delivery.origin),
        (msg("head.tracing"), raw(delivery.tracing_url), delivery.tracing_url),
    )
    rows = tuple((label, value) for label, value, text in about if text)
    lines = tuple(_line_row(line) for line in delivery.lines)
    found = (
        Block(msg("deliveries.lines"), lines or ((msg("receive.no_lines"),),)),
        Block(msg("deliveries.about"), rows),
    )
    return tuple(block for block in found if block.rows)


def _line_row(line: DeliveryLine) -> tuple[Msg, ...]:
    cells = [raw(line.label), line_progress(line)]
    cells += [code_text(line.container)] if line.container else []
    cells += [msg("deliveries.for_order", order=line.order)] if line.order else []
    return tuple(cells)


Result = Turn[DeliveriesState]


class DeliveriesJob(Job[DeliveriesState]):
    """Job that shows the list of deliveries and one of them."""

    name = "deliveries"
    steps: tuple[str, ...] = ("deliveries", "deliveries.page")
    version = 1
    journalled = True

    def begin(self) -> DeliveriesState:
        """Return the state with the deliveries to receive."""
        return DeliveriesState()

    def accepts(self, state: DeliveriesState) -> Accepts:
        """Accept row numbers; `v` shows the next subset, `n` and `p` turn the page."""
        if state.delivery_number:
            return Accepts(choices=len(delivery_choices(state)), command_letters=pages.PAGE_LETTERS)
        return Accepts(
            choices=pages.numbered_rows(state),
            command_letters=f"v{pages.page_letters(state, has_two_line_rows=True)}",
            follows_typing=True,
        )

    def prefers(self, state: DeliveriesState) -> tuple[str, ...]:
        """Prefer deliveries."""
        return (DELIVERY, PRODUCT)

    def step_name(self, state: DeliveriesState) -> str:
        """Return the name of the list or of the page."""
        return "deliveries.page" if state.delivery_number else "deliveries"

    def view(self, state: DeliveriesState) -> View:
        """Return the list or the page."""
        return page_view(state) if state.delivery_number else list_view(state)

    def handle(self, state: DeliveriesState, event: Event, context: Context) -> Result:
        """Return the next state. A scan opens a delivery, words filter, numbers choose."""
        match event:
            case Opened():
                return Turn(state, (*_refresh(state, context), Refresh("deliveries")))
            case Rows(id_, rows, _):
                return _handle_rows(state, event, id_, rows, context)
            case Resumed() | Closed() | Changed("delivery" | "outbox"):
                return Turn(state, _refresh(state, context))
            case Scan(meanings):
                return _handle_scan(state, meanings)
            case Back():
                return _go_back(state, context)
        return _handle_page_input(state, event) if state.delivery_number else _handle_list_input(state, event, context)


def _refresh(state: DeliveriesState, context: Context) -> tuple[Query, ...]:
    one = (Query("one", "delivery", {"order_number": state.delivery_number}),) if state.delivery_number else ()
    return (Query("kinds", "receipt_kinds", {}, is_live=True), _query(state, context), *one)


def _query(state: DeliveriesState, context: Context) -> Query:
    args: dict[str, Json] = {"search": state.typed or state.search, "first": state.first, "size": page_size(context)}
    if state.subset == RECEIPTS:
        return Query("receipts", "receipts", {**args, "kind": state.receipt_kind}, is_live=True)
    return Query("list", "deliveries", {**args, "state": "" if state.subset == ALL else state.subset}, is_live=True)


def _handle_rows(state: DeliveriesState, answer: Rows, id_: str, rows: tuple[Json, ...], context: Context) -> Result:
    match id_:
        case "kinds":
            return Turn(state._replace(receipt_kinds=tuple(str(row["kind"]) for row in rows)))
        case "list" | "receipts":
            read = _parse_receipt if id_ == "receipts" else parse_delivery_row
            return pages.handle_rows(state, answer, tuple(read(row, context) for row in rows), context, _query)
        case "one" if rows:  # the chosen row is not journalled, this answer is
            return Turn(state._replace(delivery_number=str(rows[0]["order_number"]), delivery=_parse_delivery(rows[0])))
        case "one":
            return Turn(state, (), Verdict(WRONG, msg("deliveries.not_here", delivery=state.delivery_number)))
        case "product" if rows:
            return _open_delivery(state, str(rows[0]["order_number"]))
        case "product":
            return Turn(state, (), Verdict(WRONG, msg("deliveries.no_delivery_expects")))
    return Turn(state)


def _parse_receipt(row: ReceiptsRow, context: Context) -> ListedDelivery:
    return ListedDelivery(
        str(row["order_number"]),
        str(row.get("supplier_name") or ""),
        msg("moment", at=str(row.get("at") or "")),
        row.get("shipped_quantity"),
        row.get("received_quantity"),
        str(row.get("status") or ""),
    )


def _parse_delivery(row: DeliveryRow) -> DeliveryDetails:
    origin, containers = row.get("store_origin"), row.get("no_of_containers")
    return DeliveryDetails(
        str(row["order_number"]),
        str(row.get("supplier_name") or ""),
        str(row.get("state") or ""),
        str(row.get("datetime_expected") or ""),
        str(row.get("order_type") or ""),
        str(row.get("external_reference_number") or ""),
        "" if containers is None else str(containers),
        "" if origin is None else str(origin),
        str(row.get("tracing_url") or ""),
        to_decimal(row.get("quantity")),
        to_decimal_or_none(row.get("received_quantity")),
        tuple(parse_delivery_line(line) for line in row.get("lines") or ()),
    )


def _open_delivery(state: DeliveriesState, order_number: str) -> Result:
    """Open the page of a delivery."""
    state = state._replace(delivery_number=order_number, delivery=None, page=0, typed="")
    return Turn(state, (Query("one", "delivery", {"order_number": order_number}), Refresh("delivery", order_number)))


def _handle_scan(state: DeliveriesState, matches: tuple[Match, ...]) -> Result:
    """Open a scanned delivery, or the first delivery that expects the scanned product."""
    first = matches[0]
    if first.kind == DELIVERY:
        return _open_delivery(state, first.key)
    if first.kind == PRODUCT:
        return Turn(state, (Query("product", "deliveries_expecting", {"product_number": first.key, "size": 1}),))
    return Turn(state, (), Verdict(WRONG, msg("deliveries.not_this", what=name_of(first))))


def _handle_page_input(state: DeliveriesState, event: Event) -> Result:
    match event:
        case Choice(choice) if choice <= len(delivery_choices(state)):
            return Turn(
                state, (Start("receive", {"deliveries": [state.delivery_number], "code": state.delivery_number}),)
            )
        case Command("n" | "p" as key) | CursorKey(key):
            return Turn(state._replace(page=turn_page(state.page, key)))
        case UnknownCode(code) | Text(code):
            return Turn(state, (), Verdict(WRONG, msg("deliveries.unknown", code=code)))
    return Turn(state)


def _handle_list_input(state: DeliveriesState, event: Event, context: Context) -> Result:
    match event:
        case Text(text):
            found = DeliveriesState(state.subset, state.receipt_kind, state.receipt_kinds, search=text)
            return Turn(found, (_query(found, context),))
        case UnknownCode(code):
            verdict = Verdict(WRONG, msg("receive.no_delivery", code=code))
            return Turn(state, (Refresh("delivery", code),), verdict)
        case Command("v"):
            state = next_subset(state)
            return Turn(state, (_query(state, context),), Verdict(INFO, list_title(state)))
    return pages.handle_list_input(state, event, context, _query, _open_row, "v")


def _open_row(state: DeliveriesState, row: ListedDelivery, context: Context) -> Result:
    return _open_delivery(state, row.number)


def next_subset(state: DeliveriesState) -> DeliveriesState:
    """Return the state of the next subset: to receive, received, all, receipts, then receipts by type if there are
    several."""
    types = state.receipt_kinds if len(state.receipt_kinds) > 1 else ()
    shows = [(TO_RECEIVE, ""), (RECEIVED, ""), (ALL, ""), (RECEIPTS, ""), *((RECEIPTS, kind) for kind in types)]
    here = shows.index((state.subset, state.receipt_kind)) if (state.subset, state.receipt_kind) in shows else -1
    show, kind = shows[(here + 1) % len(shows)]
    return DeliveriesState(show, kind, state.receipt_kinds, state.search)


def _go_back(state: DeliveriesState, context: Context) -> Result:
    if state.delivery_number:
        closed = state._replace(delivery_number="", delivery=None)
        return Turn(closed, (_query(closed, context),))
    if state.search or state.typed:
        fresh = DeliveriesState(state.subset, state.receipt_kind, state.receipt_kinds)
        return Turn(fresh, (_query(fresh, context),))
    return Turn(state, (Close(),))
