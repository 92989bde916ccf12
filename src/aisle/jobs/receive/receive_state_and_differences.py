"""State of receiving a delivery, its differences, the split of goods over its lines, and the operations it sends.

Interface: Delivery order; Create store product logs with `is_from_receipt` and the delivery as `reference`. Quantities
are Decimals in base units.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from aisle.jobs import log_writes_and_refusals
from aisle.jobs.job import PARTLY_RECEIVED, Context, LocalNote, Turn, Write
from aisle.jobs.store_time import due_on_day_message, past_due_message
from aisle.jobs.sums_of_goods_and_progress import LineQuantity, received_after, sum_by_key
from aisle.jobs.view import Msg
from aisle.row_values import to_decimal, to_decimal_or_none
from aisle.scan.grammar_and_meaning_types import Match

if TYPE_CHECKING:
    from aisle.jobs.row_types.deliveries import DeliveriesRow, DeliveryLineRow, DeliveryRow
    from aisle.operation_body_types import LogEntry

MAX_UNDO = 100

ZERO = Decimal(0)


class DeliveryLine(NamedTuple):
    """Line of a delivery; its number is 0 for goods not announced that the service has not numbered yet."""

    number: int
    product: str
    label: str
    announced: Decimal
    """Announced quantity; 0 if `is_announced_unknown`."""
    received: Decimal = ZERO
    container: str = ""
    order: str = ""
    """Customer order that it is for."""
    pool: int = 0
    """Stock pool that it is meant for; 0 if not given."""
    allows_decimals: bool = False
    unit: str = ""
    is_announced_unknown: bool = False
    """True if the delivery does not give a quantity."""
    is_earlier_receipt_unknown: bool = False
    """True if the quantity received earlier is unknown."""
    may_lack: Decimal = ZERO
    """Part of a measured quantity that may be missing from a complete line."""

    @property
    def is_unknown(self) -> bool:
        """True if the received quantity is unknown and nothing was booked on this host."""
        return self.is_earlier_receipt_unknown and self.received <= 0

    @property
    def missing(self) -> Decimal:
        """Quantity still to come, as far as known."""
        return max(ZERO, self.announced - self.received)

    @property
    def is_open(self) -> bool:
        """True if something is still to come; without an announced quantity, if nothing has come."""
        return self.received <= 0 if self.is_announced_unknown else self.missing > self.may_lack

    @property
    def remaining(self) -> Decimal | None:
        """Quantity still to come; None if unknown."""
        return None if self.is_announced_unknown or self.is_unknown else self.missing


class GoodsInHand(NamedTuple):
    """Product in hand, with the quantity counted but not booked."""

    product: str
    label: str
    quantity: Decimal = ZERO
    allows_decimals: bool = False
    unit: str = ""
    suggested_location: str = ""
    """First location of the product in walking order; empty if unknown."""
    usual_locations: tuple[str, ...] = ()
    """All locations of the product; none if unknown."""


class ReceiptEntry(NamedTuple):
    """Quantity booked on a line."""

    product: str
    line: int
    quantity: Decimal
    location: str = ""
    pool: int = 0


class OrderNeed(NamedTuple):
    """Quantity that a customer order needs of a product when its lines here had received a quantity."""

    order: str
    product: str
    needed: Decimal
    received: Decimal


class UndoStep(NamedTuple):
    """Step that can be undone: a scan, goods that were booked, or goods that were set aside."""

    label: str
    before: GoodsInHand | None = None
    """Goods in hand before the step."""
    entries: tuple[ReceiptEntry, ...] = ()
    at: str = ""
    """Time of booking, which is that of the log entries; for goods in hand again, that of the undo."""
    choices: tuple[ReceiveChoice, ...] = ()
    """Choices of the question that was answered with "set aside"; empty for another step."""
    pending_scan: Match | None = None
    """Scan that the question was about."""
    pending_goods: GoodsInHand | None = None
    """Data of its product if it is not announced."""


class ReceiveChoice(NamedTuple):
    """One numbered choice; the meaning of key and quantity depends on its kind."""

    kind: str
    key: str = ""
    quantity: Decimal = ZERO
    label: str = ""


class Consent(NamedTuple):
    """Consent to receive a product that is not announced, or more of it than is announced."""

    product: str
    received: Decimal
    """Quantity received in all when it was given, with what was booked here since."""


class ListedDelivery(NamedTuple):
    """Delivery in the list."""

    number: str
    supplier: str
    expected: Msg
    announced: Decimal | None
    received: Decimal | None
    """Quantities of the delivery; None if unknown."""
    state: str
    line_count: int = 0
    complete_lines: int = 0
    """Number of lines received entirely."""
    is_mixed: bool = False
    """True if quantities cannot be added: pieces and measured goods, or lines without a quantity."""


class ReceiveState(NamedTuple):
    """State of the receive job."""

    phase: str = "delivery"
    """`delivery` (the list), `goods`, `lines`, `check` or `leave`."""
    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    rows: tuple[ListedDelivery, ...] = ()
    total: int = 0
    page_size: int = 12
    """Number of rows that a list has on the screen."""
    closes_after_delivery: bool = False
    """True if the job was opened for one delivery and closes with it."""
    delivery_number: str = ""
    supplier: str = ""
    lines: tuple[DeliveryLine, ...] = ()
    order_needs: tuple[OrderNeed, ...] = ()
    """Needs of the customer orders of these lines, as far as they are known."""
    container: str = ""
    """Container that is being unpacked."""
    receiving_location: str = ""
    """Location for goods that are not put away elsewhere."""
    default_location: str = ""
    """Receiving location of the settings, as known last."""
    unknown_location: str = ""
    """That location if the store does not have it, until that is said; else empty."""
    in_hand: GoodsInHand | None = None
    booked_before: GoodsInHand | None = None
    """Goods booked by an input that was about something else, until that is said."""
    pending_scan: Match | None = None
    """Scan of a product that is being looked up."""
    pending_goods: GoodsInHand | None = None
    """Data of that product if it is not announced, once they are read; nothing of it is in hand."""
    looked_up_number: Decimal = ZERO
    """Digits that are being looked up: a quantity or a record's number."""
    requested_delivery: str = ""
    """Delivery that is not cached and was requested from the service."""
    choices: tuple[ReceiveChoice, ...] = ()
    is_drop_warned: bool = False
    """True if Back was pressed while goods were in question; the next one drops them."""
    consents: tuple[Consent, ...] = ()
    """Consents to products without an announcement or above it."""
    history: tuple[UndoStep, ...] = ()
    other_receivers: tuple[str, ...] = ()
    """Names of others who have the delivery open on this host."""
    opened_at: str = ""
    """Time when the job was opened; earlier refusals are not reported."""
    reported_refusals: tuple[str, ...] = ()

    @property
    def announced_total(self) -> Decimal:
        """Announced total in pieces; a measured line counts as one. Every line counts as one if any has no quantity. 0
        if a received quantity is unknown: there is no progress then."""
        if any(line.is_unknown for line in self.lines):
            return ZERO
        counts_lines = _count_as_ones(self.lines)
        announced = (line for line in self.lines if _has_announcement(line))
        return sum((Decimal(1) if counts_lines or line.allows_decimals else line.announced for line in announced), ZERO)

    @property
    def done_total(self) -> Decimal:
        """Received part of that total, with the goods in hand."""
        announced_lines = [line for line in lines_with_hand(self) if _has_announcement(line)]
        counts_lines = _count_as_ones(announced_lines)
        quantities = (
            Decimal(int(not line.is_open)) if counts_lines or line.allows_decimals else line.announced - line.missing
            for line in announced_lines
        )
        return sum(quantities, ZERO)


def _has_announcement(line: DeliveryLine) -> bool:
    return line.is_announced_unknown or line.announced > 0


def _count_as_ones(lines: Iterable[DeliveryLine]) -> bool:
    """Return True if lines are counted, because quantities cannot be added."""
    return any(line.is_announced_unknown for line in lines)


Result = Turn[ReceiveState]


def partly_received_note(state: ReceiveState, user: str) -> LocalNote:
    """Return the note that marks a partly received delivery on the home page, or clears the mark."""
    has_received = any(line.received for line in state.lines)
    is_complete = not any(line.missing > line.may_lack for line in state.lines)
    return LocalNote(PARTLY_RECEIVED, state.delivery_number, user if has_received and not is_complete else "")


# Cached data


def parse_delivery_row(row: DeliveriesRow, context: Context) -> ListedDelivery:
    """Parse a row of the query `deliveries`."""
    expected, state = str(row.get("datetime_expected") or ""), str(row.get("state") or "")
    return ListedDelivery(
        str(row["order_number"]),
        str(row.get("supplier_name") or ""),
        past_due_message(expected, context.now) if state == "received" else due_on_day_message(expected, context.now),
        to_decimal(row.get("quantity")),
        to_decimal_or_none(row.get("received_quantity")),
        state,
        int(to_decimal(row.get("total_lines"))),
        int(to_decimal(row.get("complete_lines"))),
        bool(row.get("is_mixed")),
    )


def parse_delivery_line(row: DeliveryLineRow) -> DeliveryLine:
    """Parse a line of the query `delivery`."""
    product = str(row.get("product_number") or "")
    return DeliveryLine(
        int(row["line_number"]),
        product,
        str(row.get("description") or product),
        to_decimal(row.get("quantity")),
        to_decimal(row.get("received")),
        str(row.get("container_barcode") or ""),
        str(row.get("customer_order_number") or ""),
        int(to_decimal(row.get("target_stock_pool"))),
        bool(row.get("allow_decimal")),
        str(row.get("unit") or ""),
        row.get("quantity") is None,
        bool(row.get("is_quantity_unknown")),
        row.get("may_lack", ZERO),
    )


def with_delivery_row(state: ReceiveState, row: DeliveryRow) -> ReceiveState:
    """Take over the lines of a row of the query `delivery`, and what the orders of these lines need."""
    lines = (parse_delivery_line(line) for line in row["lines"])
    state = state._replace(lines=tuple(line for line in lines if not _is_undone(line)))
    needs = tuple(
        OrderNeed(
            need["order_number"],
            need["product_number"],
            need["needed"],
            _received_for_order(state, need["order_number"], need["product_number"]),
        )
        for need in row.get("order_needs") or ()
    )
    return state._replace(order_needs=needs)


def _is_undone(line: DeliveryLine) -> bool:
    """Return True if nothing is announced on a line and nothing received: its receipt was undone."""
    return not (line.announced or line.received or line.is_announced_unknown or line.is_unknown)


def _received_for_order(state: ReceiveState, order: str, product: str) -> Decimal:
    return sum((line.received for line in state.lines if (line.order, line.product) == (order, product)), ZERO)


def parse_other_receivers(row: DeliveryRow, context: Context) -> tuple[str, ...]:
    """Return the names of others who have a delivery open on this host."""
    others = (each["name"] for each in row.get("at_work") or () if each["user"] != context.user)
    return tuple(dict.fromkeys(others))


def lines_with_product(state: ReceiveState, product: str) -> list[DeliveryLine]:
    """Return the lines of a product: first those of the open container, then by number, last those not announced."""
    lines = [line for line in state.lines if line.product == product]
    container = state.container.casefold()
    return sorted(lines, key=lambda line: (line.container.casefold() != container, not line.number, line.number))


def is_announced(state: ReceiveState, product: str) -> bool:
    """Return True if the delivery has a line of the product, announced or booked."""
    return any(line.product == product for line in state.lines)


def is_announced_unknown(state: ReceiveState, product: str) -> bool:
    """Return True if the delivery has the product without an announced quantity."""
    return any(line.product == product and line.is_announced_unknown for line in state.lines)


def is_received_unknown(state: ReceiveState, product: str) -> bool:
    """Return True if the quantity received earlier is unknown."""
    return any(line.product == product and line.is_unknown for line in state.lines)


def missing_quantity(state: ReceiveState, product: str) -> Decimal:
    """Return the quantity still to come of a product, not counting goods in hand; its lines are taken together."""
    lines = [line for line in state.lines if line.product == product and not line.is_announced_unknown]
    return max(ZERO, sum((line.announced - line.received for line in lines), ZERO))


def announced_and_received(state: ReceiveState, product: str) -> tuple[Decimal, Decimal]:
    """Return (announced, received) of a product; announced is 0 if any of its lines has no quantity."""
    lines = [line for line in state.lines if line.product == product]
    if is_announced_unknown(state, product):
        return ZERO, sum((line.received for line in lines), ZERO)
    return sum((line.announced for line in lines), ZERO), sum((line.received for line in lines), ZERO)


def lines_with_hand(state: ReceiveState) -> tuple[DeliveryLine, ...]:
    """Return the lines as they will be when the goods in hand are booked."""
    item = state.in_hand
    if item is None or item.quantity <= 0:
        return state.lines
    return add_received(state, split_over_lines(state, item, ""), item.label).lines


def excess_quantity(state: ReceiveState) -> Decimal:
    """Return how many pieces came beyond what was announced of their product, with the goods in hand; 0 where lines are
    counted."""
    if _count_as_ones(state.lines):
        return ZERO
    lines = (line for line in lines_with_hand(state) if line.announced > 0 and not line.allows_decimals)
    excess = sum_by_key((line.product, line.received - line.announced) for line in lines)
    return sum((max(ZERO, each) for each in excess.values()), ZERO)


def consent_to(state: ReceiveState, product: str) -> Consent | None:
    """Return the consent to more of a product than is announced, or to a product that is not announced."""
    return next((each for each in state.consents if each.product == product), None)


def is_excess_accepted(state: ReceiveState, product: str) -> bool:
    """Return True if the consent to a product holds: others have received none of what is announced since."""
    consent, (announced, received) = consent_to(state, product), announced_and_received(state, product)
    return consent is not None and (not announced or received <= consent.received)


class Difference(NamedTuple):
    """Announced and received quantities of one product."""

    product: str
    label: str
    announced: Decimal
    received: Decimal
    is_announced_unknown: bool = False
    """True if the announced quantity is unknown; it then differs if nothing was received."""
    is_received_unknown: bool = False
    """True if the quantity received earlier is unknown."""
    is_open: bool = False
    """True if one of its lines lacks more than it may."""

    @property
    def differs(self) -> bool:
        """True if the received quantity differs from the announced one."""
        return self.is_short or self.is_over

    @property
    def is_short(self) -> bool:
        """True if a line lacks goods."""
        return self.received <= 0 if self.is_announced_unknown else self.is_open

    @property
    def is_over(self) -> bool:
        """True if more was received than announced."""
        return not self.is_announced_unknown and self.received > self.announced


def differences(state: ReceiveState) -> tuple[Difference, ...]:
    """Return the products that differ, goods in hand included: first surplus and goods not announced."""
    by_product: dict[str, Difference] = {}
    open_products = {line.product for line in lines_with_hand(state) if line.is_open}
    for line in state.lines:
        entry = by_product.get(line.product) or Difference(line.product, line.label, ZERO, ZERO)
        by_product[line.product] = entry._replace(
            announced=entry.announced + line.announced,
            received=entry.received + line.received,
            is_announced_unknown=entry.is_announced_unknown or line.is_announced_unknown,
            is_received_unknown=entry.is_received_unknown or line.is_unknown,
            is_open=line.product in open_products,
        )
    item = state.in_hand
    if item:
        entry = by_product.get(item.product) or Difference(item.product, item.label, ZERO, ZERO)
        by_product[item.product] = entry._replace(received=entry.received + item.quantity)
    differing = [each for each in by_product.values() if each.differs]
    return tuple(
        sorted(differing, key=lambda each: (not each.is_over, -abs(each.announced - each.received), each.label))
    )


# Changes


def add_undo_step(state: ReceiveState, step: UndoStep) -> ReceiveState:
    """Add a step that can be undone."""
    return state._replace(history=(*state.history, step)[-MAX_UNDO:])


def with_consent(state: ReceiveState, product: str) -> ReceiveState:
    """Add the consent to a product, given for what is received of it by now."""
    _, received = announced_and_received(state, product)
    return state._replace(consents=(*without_consent(state, product).consents, Consent(product, received)))


def without_consent(state: ReceiveState, product: str) -> ReceiveState:
    """Remove the consent to a product."""
    return state._replace(consents=tuple(each for each in state.consents if each.product != product))


def split_over_lines(state: ReceiveState, goods: GoodsInHand, location: str) -> tuple[ReceiptEntry, ...]:
    """Split goods in hand over their lines: each gets what it lacks, the last one also the rest."""
    left = goods.quantity
    lines = [line for line in lines_with_product(state, goods.product) if line.number] or lines_with_product(
        state, goods.product
    )
    entries: list[ReceiptEntry] = []
    for line in lines:
        part = min(left, line.missing)
        if part > 0:
            entries.append(ReceiptEntry(goods.product, line.number, part, location, line.pool))
            left -= part
    if left > 0:
        last = lines[-1] if lines else DeliveryLine(0, goods.product, goods.label, ZERO)
        if entries and entries[-1].line == last.number:
            left += entries.pop().quantity
        entries.append(ReceiptEntry(goods.product, last.number, left, location, last.pool))
    return tuple(entries)


def needed_by_order(state: ReceiveState, order: str, product: str) -> Decimal | None:
    """Return what a customer order still needs of a product, after what was received here; None if unknown."""
    need = next((each for each in state.order_needs if (each.order, each.product) == (order, product)), None)
    return need and max(ZERO, need.needed - _received_for_order(state, order, product) + need.received)


def quantities_for_orders(state: ReceiveState, goods: GoodsInHand) -> dict[str, Decimal]:
    """Return which customer orders the goods in hand will fill, and with how much; the rest is for no order."""
    lines = {line.number: line for line in lines_with_product(state, goods.product)}
    found: dict[str, Decimal] = {}
    for entry in split_over_lines(state, goods, ""):
        line = lines.get(entry.line)
        if line and line.order:
            quantity = entry.quantity if line.is_announced_unknown else min(entry.quantity, line.missing)
            needed = needed_by_order(state, line.order, goods.product)
            quantity += found.get(line.order, ZERO)
            found[line.order] = quantity if needed is None else min(quantity, needed)
    return {order: quantity for order, quantity in found.items() if quantity}


def add_received(state: ReceiveState, entries: Iterable[ReceiptEntry], label: str, sign: int = 1) -> ReceiveState:
    """Add these entries to the lines and to the consents, or with sign -1 subtract them."""
    lines, consents = list(state.lines), state.consents
    for entry in entries:
        consents = tuple(
            each._replace(received=each.received + sign * entry.quantity) if each.product == entry.product else each
            for each in consents
        )
        if all(line.product != entry.product for line in lines):
            lines.append(DeliveryLine(0, entry.product, label, ZERO))
        own = [i for i, line in enumerate(lines) if line.product == entry.product]
        # The line has a number now, or was not announced, if none is found.
        named = next((at for at, i in enumerate(own) if lines[i].number == entry.line), 0)
        quantities = [_quantity_of(lines[i]) for i in own]
        for i, received in zip(own, received_after(quantities, sign * entry.quantity, named), strict=True):
            lines[i] = lines[i]._replace(received=max(ZERO, received))
    kept = (line for line in lines if line.number or line.received)
    return state._replace(lines=tuple(kept), consents=consents)


def _quantity_of(line: DeliveryLine) -> LineQuantity:
    announced = None if line.is_announced_unknown else line.announced
    return LineQuantity(announced, line.received, bool(line.order))


def receipt_write(state: ReceiveState, entries: Iterable[ReceiptEntry], context: Context, sign: int = 1) -> Write:
    """Return the operation that books these entries, or with sign -1 reverses them."""
    rows = [_receipt_row(state.delivery_number, entry, context, sign) for entry in entries]
    products = {str(row["product_number"]) for row in rows}
    lanes = (f"delivery/{state.delivery_number}", *sorted(f"product/{product}" for product in products))
    query = {"appUserName": context.user, "is_counted_quantity": False, "is_from_receipt": True}
    path = {"store_number": context.store}
    body = {"storeproductlog": rows}
    return Write("create-store-product-logs", lanes, path, query, body, told=state.reported_refusals)


def _receipt_row(delivery: str, entry: ReceiptEntry, context: Context, sign: int) -> LogEntry:
    row: LogEntry = {
        "product_number": entry.product,
        "quantity": sign * entry.quantity,
        "reference": delivery,
        "scanned_datetime": context.now,
        "app_user_name": context.user,
        "source": log_writes_and_refusals.LOG_SOURCE,
    }
    if entry.line:
        row["line_number"] = entry.line
    if entry.location:
        row["location_code"] = entry.location
    if entry.pool:
        row["pool_location"] = entry.pool
    return row
