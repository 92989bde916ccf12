"""Order during an operation: its flags, derived state, audit, and the release or hand-over of goods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from aisle.contract.request_bodies.extension_bodies import ExtendedLineUpdate
from aisle.contract.request_bodies.orders import CustomerOrderCreate, CustomerOrderLineCreate
from aisle.service.db.schema_and_search_index import search_key
from aisle.service.db.statements import orders_and_deliveries as sql
from aisle.service.db.statements import people_and_tokens as people_sql
from aisle.service.db.statements import stock as stock_sql
from aisle.service.domain import log_and_audit_writer
from aisle.service.domain.ledger import Ledger, StockKey
from aisle.service.domain.log_and_audit_writer import FINISH_SOURCE, LogWriter
from aisle.service.domain.order_line import REASON_FIELDS, OrderLine
from aisle.service.domain.quantities_times_and_json import (
    TimeZone,
    day_of_stored_time,
    drop_none,
    parse_json_object,
    parse_timestamp,
    rename_members,
    select_members,
    to_json,
    to_json_number,
)
from aisle.service.domain.read_products_and_locations import NO_LOCATION, Location, Product
from aisle.service.domain.states import CLOSED_STATES, STATUS_IDS, check_transition, order_fulfilment
from aisle.service.operation_context import Context

UNDOCUMENTED_ORDER_FIELDS = (
    "customer_city",
    "customer_country",
    "customer_email",
    "customer_number",
    "customer_phone",
    "customer_street",
    "customer_zipcode",
    "delivery_city",
    "delivery_country",
    "delivery_street",
    "delivery_zipcode",
    "file_name",
)

_AS_BEFORE = "="
"""Value that keeps the stored time of the end of an order."""


class NewOrder(CustomerOrderCreate, total=False):
    """Order to create, with the fields that only one of the two operations has."""

    store_number: str
    stores_allowed: list[str]


@dataclass(slots=True)
class Order:
    """Row of `customer_order` with its lines."""

    number: str
    is_active: bool
    is_claimed: bool
    is_picked: bool
    is_rejected: bool
    status_id: int
    fulfilment: str
    item: dict[str, object]
    version: int
    lines: list[OrderLine]
    _lines_by_number: dict[int, OrderLine] = field(init=False)

    def __post_init__(self) -> None:
        self._lines_by_number = {line.line_number: line for line in self.lines}

    @classmethod
    async def load(cls, ctx: Context, store_number: str, number: str) -> Order | None:
        """Load an order; None if the store has no order with this number."""
        row = await ctx.tx.one(sql.ORDER_GET, store_number, number)
        if row is None:
            return None
        lines = [
            OrderLine.from_row(number, line) for line in await ctx.tx.all(sql.LINES_OF_ORDER, store_number, number)
        ]
        active, claimed, picked, rejected = (bool(flag) for flag in row[1:5])
        return cls(number, active, claimed, picked, rejected, row[5], row[6], parse_json_object(row[8]), row[9], lines)

    def find_line(self, line_number: int) -> OrderLine | None:
        """Return the line with this number, or None."""
        return self._lines_by_number.get(line_number)

    def as_json(self) -> dict[str, object]:
        """Return the order for a refusal, under the names of the interface."""
        return {
            "order_number": self.number,
            "version": self.version,
            "is_active": self.is_active,
            "is_picked": self.is_picked,
            "is_rejected": self.is_rejected,
            "lines": [line.as_json() for line in self.lines],
        }

    def derive_state(self) -> None:
        """Derive `is_picked` and the state from the lines. Raise Refusal (409) for a forbidden change of state."""
        if self.lines:
            self.is_picked = all(line.is_picked for line in self.lines)
        state = order_fulfilment(
            is_active=self.is_active,
            is_rejected=self.is_rejected,
            is_picked=self.is_picked,
            any_picked=any(line.picked_quantity for line in self.lines),
        )
        check_transition("order", f"Order {self.number}", self.fulfilment, state)
        if state != self.fulfilment:
            self.status_id = STATUS_IDS[state]
            self.fulfilment = state

    async def save(self, ctx: Context, store_number: str, *, deferred: bool = False) -> None:
        """Derive the state, store the order without its lines, and mark it as changed.

        If `deferred`, it is stored at the end of the operation.
        """
        was = self.fulfilment
        was_open = was not in CLOSED_STATES
        self.derive_state()
        is_open = self.fulfilment not in CLOSED_STATES
        if is_open != was_open:
            await ctx.tx.run(sql.LINES_OPEN_SET, store_number, self.number, int(is_open))
        pickup = earliest_pickup_date(self.lines, ctx.time_zone(store_number))
        self.item = {name: value for name, value in self.item.items() if name != "pickup_date"}
        if pickup:
            self.item["pickup_date"] = pickup
        row = (
            store_number,
            self.number,
            int(self.is_active),
            int(self.is_claimed),
            int(self.is_picked),
            int(self.is_rejected),
            self.status_id,
            self.fulfilment,
            to_json(self.item),
            pickup,
            sum(line.quantity for line in self.lines),
            sum(line.delivered_quantity for line in self.lines),
            "" if is_open else _AS_BEFORE if was == self.fulfilment else ctx.now,
        )
        if deferred:
            ctx.defer(sql.ORDER_SET, [row])
        else:
            await ctx.tx.run(sql.ORDER_SET, *row)
        ctx.mark_changed(store_number, "order", self.number)


def earliest_pickup_date(lines: list[OrderLine], zone: TimeZone) -> str:
    """Return the earliest pickup date of the lines, as a day of the store; '' if there is none."""
    dates = [str(line.item["pickup_date"]) for line in lines if line.item.get("pickup_date")]
    return min((day_of_stored_time(text, zone) for text in dates), default="")


async def save_changed_line(ledger: Ledger, line: OrderLine) -> None:
    """Store a line after its goods changed. Its order is stored at the end (`save_changed_orders`)."""
    line.moved_quantity = sum(quantity for key, quantity in (await ledger.held_for_line(line)).items() if key.location)
    await line.save(ledger.ctx, ledger.store)
    ledger.orders_to_save[line.order_number] = None


async def save_changed_orders(ledger: Ledger) -> None:
    """Store each order with changed lines once."""
    for number in ledger.orders_to_save:
        order = await Order.load(ledger.ctx, ledger.store, number)
        assert order is not None
        await order.save(ledger.ctx, ledger.store)
    ledger.orders_to_save.clear()


async def hand_over_order(logs: LogWriter, order: Order) -> None:
    """Hand over the order: held goods leave the store and are logged. Quantities stay as history."""
    ledger = logs.ledger
    lines = {line.line_number: line for line in order.lines}
    held = await ledger.held_for_order(order.number, order.lines)
    await ledger.catalogue.load((line.product_number for line in order.lines), (key.location for _, key, _ in held))
    for product, key, quantity in held:
        await ledger.post("finish", product, key, -quantity)
        lines[key.line].delivered_quantity += quantity
        await logs.add_for_line(lines[key.line], FINISH_SOURCE, -quantity, key.location, key.pool)
    for line in order.lines:
        product_row = await ledger.catalogue.get_product(line.product_number, "product_number")
        if not product_row.is_stock:
            line.delivered_quantity = line.picked_quantity
    await ledger.origins.delete_order(order.number)
    order.is_active = False


async def release_order(ledger: Ledger, order: Order) -> None:
    """Release the goods of an order. Goods at a location become free there.

    The picker's goods become free at no location and are listed to be put back.
    """
    await release_lines(ledger, order, order.lines)
    for line in order.lines:
        line.is_picked = line.is_rejected


async def release_lines(ledger: Ledger, order: Order, lines: Iterable[OrderLine]) -> None:
    """Release the goods of some lines of an order. The caller stores the lines."""
    named = {line.line_number: line for line in lines}
    held = [one for one in await ledger.held_for_order(order.number, order.lines) if one[1].line in named]
    await ledger.load_free_stock(product for product, _, _ in held)
    for product, key, quantity in held:
        await ledger.transfer("release", product, key, StockKey(key.location, key.pool), quantity)
    await _add_put_backs(ledger, order.number, named)
    await ledger.origins.delete_lines(order.number, named)
    for line in named.values():
        line.picked_quantity = line.moved_quantity = 0


async def release_all_orders(ledger: Ledger) -> None:
    """Release the goods of all active orders of the store, before these are deleted."""
    held = await ledger.held_for_active_orders()
    await ledger.load_free_stock(product for product, _, _ in held)
    for product, key, quantity in held:
        await ledger.transfer("release", product, key, StockKey(key.location, key.pool), quantity)
    products = {(key.order, key.line): product for product, key, _ in held}
    rows = await ledger.ctx.tx.all(stock_sql.ORIGINS_IN_HAND, ledger.store)
    await _save_put_backs(
        ledger, [(products[row[0], row[1]], *row[2:], *row[:2]) for row in rows if (row[0], row[1]) in products]
    )
    await ledger.ctx.tx.run(stock_sql.ORIGINS_DELETE, ledger.store)


async def _add_put_backs(ledger: Ledger, order: str, lines: dict[int, OrderLine]) -> None:
    await ledger.write_pending()
    rows = await ledger.ctx.tx.all(stock_sql.ORIGINS_OF_ORDER_IN_HAND, ledger.store, order)
    await _save_put_backs(
        ledger, [(lines[row[0]].product_number, *row[1:], order, row[0]) for row in rows if row[0] in lines]
    )


async def _save_put_backs(ledger: Ledger, goods: Sequence[tuple[str, str, int, int, str, int]]) -> None:
    """List goods to be put back: product, location, pool, quantity, order and line. Some have no location to go to."""
    listed = [row for row in goods if row[1] != NO_LOCATION]
    if not listed:
        return
    seq = await ledger.ctx.next_numbers(ledger.store, "put_back", len(listed))
    rows = [(ledger.store, seq + n, *row, ledger.ctx.now) for n, row in enumerate(listed)]
    await ledger.ctx.tx.run_many(stock_sql.PUT_BACK_ADD, rows)


_CLAIM_FIELDS = ("claimed_by", "claimed_name", "claimed_on", "claimed_terminal")


async def set_claim(ctx: Context, order: Order, is_claimed: bool) -> None:
    """Claim the order for the caller, or end its claim.

    The latest claim counts: an earlier claim or release of somebody else that arrives later changes nothing. A repeated
    claim keeps its time.
    """
    item, user = order.item, ctx.app_user or ctx.principal.name
    terminal = ctx.headers.terminal or ""
    if order.is_claimed and "claimed_by" in item:
        same = (item["claimed_by"], item.get("claimed_terminal", "")) == (user, terminal)
        if (is_claimed and same) or (not same and ctx.occurred_on < str(item["claimed_on"])):
            return
    end_claim(order)
    if not is_claimed:
        return
    row = await ctx.tx.one(people_sql.PERSON_NAME, ctx.store_number, user)
    fields = {"claimed_by": user, "claimed_name": row[0] if row else "", "claimed_on": ctx.occurred_on}
    order.item |= {name: value for name, value in (fields | {"claimed_terminal": terminal}).items() if value}
    order.is_claimed = True


def end_claim(order: Order) -> None:
    """Remove the claim of an order."""
    order.is_claimed = False
    order.item = {name: value for name, value in order.item.items() if name not in _CLAIM_FIELDS}


SHORTAGE_SOURCE = "short"
REJECTION_SOURCE = "rejected"

_MAX_CODE_DIGITS = 9
"""Maximum number of digits of a code that is also a numeric reason in the log."""


async def record_shortage_reason(
    logs: LogWriter, line: OrderLine, body: ExtendedLineUpdate, location: Location | None
) -> None:
    """Store the reason of a short line and log it once. A reason of an open or full line is ignored."""
    reason: dict[str, str] = {name: body[name] for name in REASON_FIELDS if name in body}
    if not reason or not line.is_short or reason == {name: line.item.get(name) for name in reason}:
        return
    line.item |= reason
    await log_reason(logs, line, SHORTAGE_SOURCE, reason, location)


async def log_reason(
    logs: LogWriter, line: OrderLine, source: str, reason: Mapping[str, str], location: Location | None = None
) -> None:
    """Add a log entry with the reason why a line has less than was ordered."""
    code = str(reason.get(REASON_FIELDS[0], ""))
    is_number = code.isascii() and code.isdecimal() and len(code) <= _MAX_CODE_DIGITS
    await logs.add_for_line(
        line,
        source,
        0,
        location.code if location else NO_LOCATION,
        reason_code=int(code) if is_number else None,
        reason=reason.get(REASON_FIELDS[1]) or (None if is_number else code),
    )


# Fields of a line that lists show: name in requests → name in lists.
_LINE_FIELDS = {
    "barcode": "barcode",
    "delivery_date": "delivery_date",
    "description": "description",
    "full_fillment_status": "full_fillment_status",
    "ordering_datetime": "next_ordering_datetime",
    "pickup_date": "pickup_date",
    "price": "price",
    "reference": "reference",
}
_LINE_TIME_FIELDS: Final = ("delivery_date", "ordering_datetime", "pickup_date")
_ORDER_FIELDS = {
    "order_comment": "comment",
    "customer_name": "customer_name",
    "description": "description",
    "order_number": "order_number",
    "order_type": "order_type_code",
    "order_type_code": "order_type_code",
    "order_type_description": "order_type_description",
    "reference": "reference",
    "sales_order_id": "sales_order_id",
}
# Fields that the interface accepts for an order and never returns.
_UNDOCUMENTED_FIELDS = ("order_type", *UNDOCUMENTED_ORDER_FIELDS)
_NOT_SEARCHED = frozenset({"order_lines", "is_active", "is_picked", "is_rejected", "status_id", "store_number"})


def new_line_fields(body: CustomerOrderLineCreate, product: Product, field: str) -> dict[str, object]:
    """Return the item fields of a new line, with defaults from the catalogue."""
    return {
        "product_number": product.number,
        "barcode": product.barcode,
        "description": product.name,
        "price": 0,
        "explicit_order": False,
        "is_template": False,
        "picking_stock_pool_array": [str(pool) for pool in body.get("picking_stock_pool_array", ())],
    } | changed_line_fields(body, field)


def changed_line_fields(body: CustomerOrderLineCreate | ExtendedLineUpdate, field: str) -> dict[str, object]:
    """Return the item fields in a request. Raise Refusal (400) for an invalid date or time."""
    for name in _LINE_TIME_FIELDS:
        if body.get(name):
            parse_timestamp(body[name], f"{field}.{name}")
    return rename_members(body, _LINE_FIELDS)


def order_fields(body: NewOrder, store_number: str, pickup: str) -> dict[str, object]:
    """Return the fields of an order for lists."""
    item = rename_members(body, _ORDER_FIELDS)
    allowed = body.get("stores_allowed")
    undocumented = select_members(body, _UNDOCUMENTED_FIELDS)
    if undocumented.get("order_type") == item.get("order_type_code"):
        undocumented.pop("order_type", None)
    return drop_none(
        item
        | {
            "store_number": store_number,
            "stores_allowed": None if allowed is None else ",".join(allowed),
            "pickup_date": pickup or None,
            "aisle": undocumented or None,
        }
    )


def order_search_key(body: NewOrder) -> str:
    """Return the search text: all fields of the order and its customer."""
    parts = [value for name, value in body.items() if name not in _NOT_SEARCHED]
    return search_key(" ".join(part) if isinstance(part, list) else part for part in parts)


_CLAIM = "claimed_by"
_PICKER_ROLES = frozenset({"staff"})


def audited_fields(order: Order, lines: Iterable[OrderLine]) -> dict[str, object]:
    """Return the audited fields of an order and of some of its lines."""
    settings: dict[str, object] = {"is_active": order.is_active, "is_rejected": order.is_rejected}
    settings |= {name: order.item[name] for name in (*REASON_FIELDS, _CLAIM) if name in order.item}
    for line in lines:
        settings |= {f"line {line.line_number} {name}": value for name, value in _audited_line_fields(line).items()}
    return settings


def _audited_line_fields(line: OrderLine) -> dict[str, object]:
    settings: dict[str, object] = {"quantity": to_json_number(line.quantity), "is_rejected": line.is_rejected}
    settings |= {name: value for name, value in line.item.items() if line.is_rejected or name not in REASON_FIELDS}
    return settings | {
        "is_picked_from_warehouse": line.from_warehouse,
        "preferred_location_code": line.preferred_location_code,
        "stock_pool": line.stock_pool,
    }


async def record_order_changes(
    ctx: Context, order: Order, before: dict[str, object], lines: Iterable[OrderLine]
) -> None:
    """Record the changes since `before`. Staff who claim a free order or end their own claim are not recorded."""
    after = audited_fields(order, lines)
    is_own_claim = {before.get(_CLAIM, ""), after.get(_CLAIM, "")} <= {"", ctx.app_user or ctx.principal.name}
    if ctx.principal.role in _PICKER_ROLES and is_own_claim:
        before, after = (
            {name: settings[name] for name in settings if name not in _CLAIM_FIELDS} for settings in (before, after)
        )
    await log_and_audit_writer.record_changes(
        ctx, ctx.store_number, [log_and_audit_writer.AuditChange("order", order.number, before, after)]
    )
