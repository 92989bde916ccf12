"""The state of receiving a delivery, its arithmetic, and the operations it sends.

Interface: Delivery order; Create store product logs with `is_from_receipt`, whose `reference` names the delivery.
Quantities are Decimals in base units.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from aisle.jobs.count import count_state
from aisle.jobs.job import PARTLY_RECEIVED, Context, Effect, LocalNote, Turn, Write
from aisle.jobs.product_page import due_message, past_due_message
from aisle.jobs.quantities import to_decimal, to_decimal_or_none
from aisle.jobs.view import Msg, Verdict, msg
from aisle.scan.meaning import Match

MAX_UNDO = 100
"""So many steps can be undone, last first."""

ZERO = Decimal(0)


class DeliveryLine(NamedTuple):
    """A line of a delivery; number 0 for what nobody announced and the service has not numbered yet."""

    number: int
    product: str
    label: str
    announced: Decimal
    """What was announced; 0 where it is `unsaid`."""
    received: Decimal = ZERO
    container: str = ""
    order: str = ""
    """The order of a customer that it is for."""
    pool: int = 0
    """The stock pool that it is meant for; 0 where nobody says."""
    allows_decimals: bool = False
    unit: str = ""
    is_announced_unknown: bool = False
    """The delivery does not say how much of it was announced."""
    is_earlier_receipt_unknown: bool = False
    """Nobody says how much of it came before."""

    @property
    def is_unknown(self) -> bool:
        """Nobody says how much of it came, and nothing was booked from here."""
        return self.is_earlier_receipt_unknown and self.received <= 0

    @property
    def missing(self) -> Decimal:
        """What is still to come, as far as anybody says it."""
        return max(ZERO, self.announced - self.received)

    @property
    def is_open(self) -> bool:
        """Something of it is still to come: where nobody says how much, until anything has."""
        return self.received <= 0 if self.is_announced_unknown else self.missing > 0

    @property
    def remaining(self) -> Decimal | None:
        """What is still to come; None where nobody says it."""
        return None if self.is_announced_unknown or self.is_unknown else self.missing


class GoodsInHand(NamedTuple):
    """The product in hand, and how much of it has been counted and not booked yet."""

    product: str
    label: str
    quantity: Decimal = ZERO
    allows_decimals: bool = False
    unit: str = ""
    suggested_location: str = ""
    """Where it lies, the first on the way; empty where nobody knows."""


class ReceiptEntry(NamedTuple):
    """What was booked on a line."""

    product: str
    line: int
    quantity: Decimal
    location: str = ""
    pool: int = 0


class UndoStep(NamedTuple):
    """A step that undo takes back: a scan that brought the item to something else, or goods that were booked."""

    label: str
    before: GoodsInHand | None = None
    """What was in hand before it."""
    entries: tuple[ReceiptEntry, ...] = ()
    at: str = ""
    """When they were booked: the moment of their entries in the log."""


class ReceiveChoice(NamedTuple):
    """One numbered way on; what key and quantity mean depends on its kind."""

    kind: str
    key: str = ""
    quantity: Decimal = ZERO
    label: str = ""


class DeliveryRow(NamedTuple):
    """A delivery in the list."""

    number: str
    supplier: str
    expected: Msg
    announced: Decimal | None
    received: Decimal | None
    """Both None where nobody says it."""
    state: str
    line_count: int = 0
    complete_lines: int = 0
    """Of its lines: all of them has come."""
    is_mixed: bool = False
    """Pieces and measured goods in one, or lines without a quantity: there is no sum."""


class ReceiveState(NamedTuple):
    """A delivery being received."""

    phase: str = "delivery"
    """`delivery` (the list), `goods`, `lines`, `check` or `leave`."""
    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    rows: tuple[DeliveryRow, ...] = ()
    total: int = 0
    page_size: int = 12
    """Rows that a list on the screen has room for."""
    closes_after_delivery: bool = False
    """Opened for one delivery: closes with it."""
    delivery_number: str = ""
    """The delivery that is open."""
    supplier: str = ""
    lines: tuple[DeliveryLine, ...] = ()
    container: str = ""
    """The container that is being unpacked."""
    receiving_location: str = ""
    """Where goods go that nobody brings anywhere else: the receiving place."""
    default_location: str = ""
    """The receiving place of the settings, as it was known last."""
    in_hand: GoodsInHand | None = None
    pending_scan: Match | None = None
    """A scan of a product that has still to be looked up."""
    looked_up_number: Decimal = ZERO
    """Digits that are looked up: a quantity, or the number of something."""
    requested_delivery: str = ""
    """A delivery that is not here, and is asked for at the service."""
    choices: tuple[ReceiveChoice, ...] = ()
    is_drop_warned: bool = False
    """Back was said while goods were asked about: once more drops them."""
    accepted_extra: tuple[str, ...] = ()
    """Products of which somebody said that more came, or that they came without being announced."""
    history: tuple[UndoStep, ...] = ()
    opened_at: str = ""
    """When the job was opened; what was refused before then is no news."""
    reported_refusals: tuple[str, ...] = ()
    """Refusals that were told."""

    @property
    def announced_total(self) -> Decimal:
        """What the delivery should bring, in pieces: what is measured counts as one, whatever its unit, and every line
        does where one of them says no quantity. 0 where nobody says what came of it: then there is no progress."""
        if any(line.is_unknown for line in self.lines):
            return ZERO
        ones = _count_as_ones(self.lines)
        announced = (line for line in self.lines if _has_announcement(line))
        return sum((Decimal(1) if ones or line.allows_decimals else line.announced for line in announced), ZERO)

    @property
    def done_total(self) -> Decimal:
        """What of it is here, the item in hand included."""
        here = [line for line in lines_with_hand(self) if _has_announcement(line)]
        ones = _count_as_ones(here)
        full = (
            Decimal(int(not line.is_open)) if ones or line.allows_decimals else line.announced - line.missing
            for line in here
        )
        return sum(full, ZERO)


def _has_announcement(line: DeliveryLine) -> bool:
    return line.is_announced_unknown or line.announced > 0


def _count_as_ones(lines: Iterable[DeliveryLine]) -> bool:
    """Whether lines are counted, since quantities have no sum."""
    return any(line.is_announced_unknown for line in lines)


Result = Turn[ReceiveState]


def partly_received_note(state: ReceiveState, user: str) -> LocalNote:
    """Home marks a delivery that is left with a part of it received; one that is complete has no mark."""
    some, all_ = any(line.received for line in state.lines), not any(line.missing for line in state.lines)
    return LocalNote(PARTLY_RECEIVED, state.delivery_number, user if some and not all_ else "")


def reply(state: ReceiveState, kind: str, id_: str, *effects: Effect, **args: str | int | Decimal | Msg) -> Result:
    """A turn that says something."""
    return Turn(state, effects, Verdict(kind, msg(id_, **args)))


# What the store's data says


def parse_delivery_row(row: Mapping[str, Any], context: Context) -> DeliveryRow:
    """A row of the read `deliveries`."""
    expected, state = str(row.get("datetime_expected") or ""), str(row.get("state") or "")
    return DeliveryRow(
        str(row["order_number"]),
        str(row.get("supplier_name") or ""),
        past_due_message(expected, context.now) if state == "received" else due_message(expected, context.now),
        to_decimal(row.get("quantity")),
        to_decimal_or_none(row.get("received_quantity")),
        state,
        int(to_decimal(row.get("total_lines"))),
        int(to_decimal(row.get("complete_lines"))),
        bool(row.get("is_mixed")),
    )


def parse_delivery_line(row: Mapping[str, Any]) -> DeliveryLine:
    """A line of the read `delivery`."""
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
        bool(row.get("untold")),
    )


def lines_with_product(state: ReceiveState, product: str) -> list[DeliveryLine]:
    """The lines of a product: those of the open container first, then in order; what nobody announced last."""
    mine = [line for line in state.lines if line.product == product]
    inside = state.container.casefold()
    return sorted(mine, key=lambda line: (line.container.casefold() != inside, not line.number, line.number))


def is_announced(state: ReceiveState, product: str) -> bool:
    """Whether the delivery names it, or goods of it were booked on it before."""
    return any(line.product == product for line in state.lines)


def is_announced_unknown(state: ReceiveState, product: str) -> bool:
    """Whether the delivery names it, and does not say how much of it should come."""
    return any(line.product == product and line.is_announced_unknown for line in state.lines)


def is_received_unknown(state: ReceiveState, product: str) -> bool:
    """Whether nobody says how much of it came before."""
    return any(line.product == product and line.is_unknown for line in state.lines)


def missing_quantity(state: ReceiveState, product: str) -> Decimal:
    """What is still to come of a product, without what is in hand."""
    return sum((line.missing for line in state.lines if line.product == product), ZERO)


def announced_and_received(state: ReceiveState, product: str) -> tuple[Decimal, Decimal]:
    """(announced, received) of a product; 0 was announced where it is not said of all its lines."""
    mine = [line for line in state.lines if line.product == product]
    if is_announced_unknown(state, product):
        return ZERO, sum((line.received for line in mine), ZERO)
    return sum((line.announced for line in mine), ZERO), sum((line.received for line in mine), ZERO)


def lines_with_hand(state: ReceiveState) -> tuple[DeliveryLine, ...]:
    """The lines as they will be when the item in hand is booked."""
    item = state.in_hand
    if item is None or item.quantity <= 0:
        return state.lines
    return add_received(state, split_over_lines(state, item, ""), item.label).lines


class Difference(NamedTuple):
    """A product of which something else came than was announced."""

    product: str
    label: str
    announced: Decimal
    received: Decimal
    is_announced_unknown: bool = False
    """Nobody says how much was announced: it differs where nothing came."""
    is_received_unknown: bool = False
    """Nobody says how much of it came before: what is in hand is not all of it."""

    @property
    def differs(self) -> bool:
        """Something else came than was announced."""
        return self.is_short or self.is_over

    @property
    def is_short(self) -> bool:
        """Less came than was announced."""
        return self.received <= 0 if self.is_announced_unknown else self.received < self.announced

    @property
    def is_over(self) -> bool:
        """More came than was announced."""
        return not self.is_announced_unknown and self.received > self.announced


def differences(state: ReceiveState) -> tuple[Difference, ...]:
    """What did not come as announced, the item in hand included; what nobody announced and what is too much first."""
    found: dict[str, Difference] = {}
    for line in state.lines:
        known = found.get(line.product) or Difference(line.product, line.label, ZERO, ZERO)
        found[line.product] = known._replace(
            announced=known.announced + line.announced,
            received=known.received + line.received,
            is_announced_unknown=known.is_announced_unknown or line.is_announced_unknown,
            is_received_unknown=known.is_received_unknown or line.is_unknown,
        )
    item = state.in_hand
    if item:
        known = found.get(item.product) or Difference(item.product, item.label, ZERO, ZERO)
        found[item.product] = known._replace(received=known.received + item.quantity)
    differing = [each for each in found.values() if each.differs]
    return tuple(sorted(differing, key=lambda each: (each.is_short, -abs(each.announced - each.received), each.label)))


# What changes


def add_undo_step(state: ReceiveState, step: UndoStep) -> ReceiveState:
    """Undo takes this back first."""
    return state._replace(history=(*state.history, step)[-MAX_UNDO:])


def split_over_lines(state: ReceiveState, goods: GoodsInHand, location: str) -> tuple[ReceiptEntry, ...]:
    """The lines that the goods in hand belong to: what each still misses, and all the rest on the last of them."""
    left = goods.quantity
    lines = [line for line in lines_with_product(state, goods.product) if line.number] or lines_with_product(
        state, goods.product
    )
    found: list[ReceiptEntry] = []
    for line in lines:
        part = min(left, line.missing)
        if part > 0:
            found.append(ReceiptEntry(goods.product, line.number, part, location, line.pool))
            left -= part
    if left > 0:
        last = lines[-1] if lines else DeliveryLine(0, goods.product, goods.label, ZERO)
        if found and found[-1].line == last.number:
            left += found.pop().quantity
        found.append(ReceiptEntry(goods.product, last.number, left, location, last.pool))
    return tuple(found)


def add_received(state: ReceiveState, entries: Iterable[ReceiptEntry], label: str, sign: int = 1) -> ReceiveState:
    """The lines after these entries; with sign -1 after they were taken back."""
    lines = list(state.lines)
    for entry in entries:
        at = next((i for i, line in enumerate(lines) if (line.product, line.number) == (entry.product, entry.line)), -1)
        if at < 0:  # it has a number by now, or nobody announced it
            at = next((i for i, line in enumerate(lines) if line.product == entry.product), -1)
        if at < 0:
            lines.append(DeliveryLine(0, entry.product, label, ZERO))
        received = lines[at].received + sign * entry.quantity
        lines[at] = lines[at]._replace(received=max(ZERO, received))
    kept = (line for line in lines if line.number or line.received)
    return state._replace(lines=tuple(kept))


def receipt_write(state: ReceiveState, entries: Iterable[ReceiptEntry], context: Context, sign: int = 1) -> Write:
    """The operation that books these entries; with sign -1 the one that takes them back."""
    rows = [_receipt_row(state.delivery_number, entry, context, sign) for entry in entries]
    products = {str(row["product_number"]) for row in rows}
    lanes = (f"delivery/{state.delivery_number}", *sorted(f"product/{product}" for product in products))
    query = {"appUserName": context.user, "is_counted_quantity": False, "is_from_receipt": True}
    path = {"store_number": context.store}
    return Write("create-store-product-logs", lanes, path, query, {"storeproductlog": rows})


def _receipt_row(delivery: str, entry: ReceiptEntry, context: Context, sign: int) -> dict[str, Any]:
    return {
        "product_number": entry.product,
        "quantity": sign * entry.quantity,
        "reference": delivery,
        **({"line_number": entry.line} if entry.line else {}),
        **({"location_code": entry.location} if entry.location else {}),
        **({"pool_location": entry.pool} if entry.pool else {}),
        "scanned_datetime": context.now,
        "app_user_name": context.user,
        "source": count_state.LOG_SOURCE,
    }
