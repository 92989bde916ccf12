"""Changes of an order: lines picked, claimed, rejected, finished (interface: Update customer order)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import starmap
from typing import Literal

from aisle.contract.request_bodies import ExactNumber
from aisle.contract.request_bodies.extension_bodies import (
    ExtendedLineUpdate,
    ExtendedOrderUpdate,
    ExtendedOrderUpdateRequest,
    LineRejection,
    LineRejectionsRequest,
)
from aisle.service.auth.authorization import require_role
from aisle.service.db.statements import logs_and_changes as logs_sql
from aisle.service.db.statements import orders_and_deliveries as sql
from aisle.service.db.statements import people_and_tokens as people_sql
from aisle.service.domain.latest_writes import (
    LINE,
    find_lines_changed_later,
    record_write_times,
    superseded_refusal,
    write_key,
)
from aisle.service.domain.ledger import Ledger
from aisle.service.domain.log_and_audit_writer import LogWriter
from aisle.service.domain.order_line import REASON_FIELDS, LineJson, OrderLine, check_ordered_quantity
from aisle.service.domain.orders import (
    REJECTION_SOURCE,
    Order,
    audited_fields,
    changed_line_fields,
    end_claim,
    hand_over_order,
    log_reason,
    record_order_changes,
    record_shortage_reason,
    release_lines,
    release_order,
    set_claim,
)
from aisle.service.domain.picking_and_moves import RebasedUpdate, parse_pool, rebase_update, set_picked_quantity
from aisle.service.domain.quantities_times_and_json import (
    format_quantity,
    parse_json_object,
    parse_quantity,
    parse_thousandths,
    parse_whole_number,
    select_members,
    to_json_number,
)
from aisle.service.domain.read_products_and_locations import Location, StoreCatalogue
from aisle.service.errors import SUCCESS, Refusal, conflict, not_found, to_json_bytes, unprocessable
from aisle.service.operation_context import Context, OperationCall

LinePair = tuple[OrderLine, ExtendedLineUpdate]
"""Line of an order with its new values."""


async def update_customer_order(ctx: Context, call: OperationCall) -> bytes:
    """Change the named fields and lines of one order; everything else stays unchanged."""
    request: ExtendedOrderUpdateRequest = call.body
    if "orders" not in request:
        return SUCCESS
    body = _drop_implied_picked(request["orders"])
    order = await Order.load(ctx, ctx.store_number, body["order_number"])
    if order is None:
        raise not_found(f"There is no order {body['order_number']}.")
    check_version(ctx, order)
    if body.get("is_rejected", order.is_rejected) != order.is_rejected:
        require_role(ctx, "supervisor", "integration", "admin")
    line_bodies = body.get("order_lines", [])
    lines = [_get_line(order, raw, f"orders.order_lines[{index}]") for index, raw in enumerate(line_bodies)]
    pairs = list(zip(lines, line_bodies, strict=True))
    if ctx.replay and lines:
        body = _reopen_for_replay(order, body)
    elif _asks_for_unapplied(body, line_bodies) and (order.is_rejected or not order.is_active):
        return _result(await _take_carried_picks(ctx, pairs))
    if not order.is_active:
        _check_finished_unchanged(order, body, pairs)
        await _check_finisher(ctx, order, body)
        return SUCCESS
    ledger = Ledger(StoreCatalogue(ctx, ctx.current_store))
    logs, before = LogWriter(ledger), audited_fields(order, lines)
    rows = await _apply_changes(ledger, logs, order, body, pairs)
    await record_order_changes(ctx, order, before, lines)
    for line in order.lines:
        await line.save(ctx, ledger.store, deferred=True)
    await order.save(ctx, ledger.store, deferred=True)
    await ledger.defer_writes()
    await logs.save_all()
    return _result(rows)


def _result(rows: list[LineJson]) -> bytes:
    """Return the picked quantities that did not fit or wait for other hosts, and closings that were not repeated."""
    if not rows:
        return SUCCESS
    unapplied = [row for row in rows if "left" in row]
    message = {"message": " ".join(map(_describe_unapplied, unapplied)), "left": unapplied} if unapplied else {}
    carried = [row for row in rows if "carried" in row]
    superseded_lines = [row for row in rows if "changed_on" in row]
    return to_json_bytes(
        {"success": True}
        | message
        | ({"carried": carried} if carried else {})
        | ({"superseded": superseded_lines} if superseded_lines else {})
    )


def _reopen_for_replay(order: Order, body: ExtendedOrderUpdate) -> ExtendedOrderUpdate:
    """Open a finished or rejected order to repeat picks that a restore lost.

    Return the body that ends it again afterwards, so that the goods leave the store or go back like the others of the
    order.
    """
    if not order.is_active:
        order.is_active = True
        body = {**body, "is_active": False}
    if order.is_rejected:
        order.is_rejected = False
        body = {**body, "is_rejected": True}
    return body


def _asks_for_unapplied(body: ExtendedOrderUpdate, line_bodies: Sequence[ExtendedLineUpdate]) -> bool:
    """Return True if an update only asks for quantities that do not fit: its picker changed nothing."""
    is_unchanged = all(raw.keys() <= _INQUIRY_FIELDS and _is_unchanged_pick(raw) for raw in line_bodies)
    return bool(line_bodies) and is_unchanged and body.keys() == {"order_number", "order_lines"}


_INQUIRY_FIELDS = {"line_number", "product_number", "picked_quantity", "base_picked_quantity"}


def _is_unchanged_pick(raw: ExtendedLineUpdate) -> bool:
    return "base_picked_quantity" in raw and raw.get("picked_quantity") == raw["base_picked_quantity"]


async def _take_carried_picks(ctx: Context, pairs: Iterable[LinePair]) -> list[LineJson]:
    """Return and reset the quantities that wait with lines of an order that has ended."""
    rows: list[LineJson] = []
    for line, _ in pairs:
        key = (ctx.store_number, *line.key)
        row = await ctx.tx.one(sql.CARRIED_PICK, *key)
        if row and row[0]:
            await ctx.tx.run(sql.CARRIED_PICK_SET, *key, 0)
            rows.append({**line.as_json(), "left": to_json_number(int(row[0]))})
    return rows


def check_version(ctx: Context, order: Order) -> None:
    """Raise Refusal (412) if the request is for another version of the order."""
    if ctx.headers.if_match is not None and str(order.version) not in ctx.headers.if_match:
        raise Refusal(412, f"Order {order.number} has changed.", "If-Match", order=order.as_json())


def _describe_unapplied(row: LineJson) -> str:
    """Describe a quantity that did not fit."""
    by = f" ({row['picked_username']})" if row.get("picked_username") else ""
    state = f"Line {row['line_number']} is at {row['picked_quantity']} of {row['quantity']}{by}"
    if row["left"] > 0:
        return f"{state}; {row['left']} too many in your hand: put back."
    return f"{state}, {row['moved_quantity']} at a place; {-row['left']} of it were not put back."


def _drop_implied_picked(body: ExtendedOrderUpdate) -> ExtendedOrderUpdate:
    """Drop `is_picked` of an order from an update with lines, since the state follows from all lines.

    The sender knows an earlier state of the other lines, which others may have changed.
    """
    body = {**body}
    if body.get("order_lines"):
        body.pop("is_picked", None)
    return body


def _get_line(order: Order, raw: ExtendedLineUpdate, field: str) -> OrderLine:
    line = order.find_line(parse_whole_number(raw["line_number"], f"{field}.line_number"))
    if line is None:
        raise unprocessable(f"Order {order.number} has no line {raw['line_number']}.", f"{field}.line_number")
    if line.product_number != raw["product_number"]:
        raise unprocessable(f"Line {line.line_number} is for product {line.product_number}.", f"{field}.product_number")
    return line


def _check_finished_unchanged(order: Order, body: ExtendedOrderUpdate, pairs: Iterable[LinePair]) -> None:
    """Raise Refusal (409) if the update changes a finished order. A repetition of its state is accepted."""
    state = {"is_active": False, "is_picked": order.is_picked, "is_rejected": order.is_rejected}
    stored = {**dict.fromkeys(REASON_FIELDS, ""), **order.item, **state}
    if _differs(select_members(body, (*state, *REASON_FIELDS)), stored) or any(starmap(_is_line_changed, pairs)):
        raise conflict(f"Order {order.number} is finished.", "orders.order_number")


def _is_line_changed(line: OrderLine, raw: ExtendedLineUpdate) -> bool:
    """Return True if an update changes a line. Location and pool of a picked quantity are the origin of its goods."""
    picked = _quantity_or_default(raw, "picked_quantity", line.picked_quantity)
    if "base_picked_quantity" in raw:
        picked += line.picked_quantity - _quantity_or_default(raw, "base_picked_quantity", picked)
    quantity = _quantity_or_default(raw, "quantity", line.quantity)
    if (picked, quantity) != (line.picked_quantity, line.quantity):
        return True
    plan = {"preferred_location_code": line.preferred_location_code, "stock_pool": line.stock_pool}
    state = {"is_picked": line.is_picked, "is_picked_from_warehouse": line.from_warehouse}
    names = (*state, *(() if "picked_quantity" in raw else plan), *(REASON_FIELDS if line.is_short else ()))
    sent = select_members(raw, names) | changed_line_fields(raw, "orders.order_lines")
    return _differs(sent, {**dict.fromkeys(REASON_FIELDS, ""), **line.item, **plan, **state})


def _differs(sent: Mapping[str, object], stored: Mapping[str, object]) -> bool:
    return any(stored.get(name) != value for name, value in sent.items())


async def _check_finisher(ctx: Context, order: Order, body: ExtendedOrderUpdate) -> None:
    """Raise Refusal (409) if an app user finishes an order that another one has finished: one of them gave no goods."""
    if body.get("is_active") is not False or not ctx.app_user or ctx.replay:
        return
    entries = await ctx.tx.all(logs_sql.AUDIT_LIST, ctx.store_number, 0, "", "order", order.number, _MAX_AUDIT)
    ends = [user for *_, user, _, _, _, after in entries if parse_json_object(after).get("is_active") is False]
    if ends and ends[-1] and ends[-1] != ctx.app_user:
        row = await ctx.tx.one(people_sql.PERSON_NAME, ctx.store_number, ends[-1])
        name = str(row[0]) if row else ends[-1]
        message = f"{name} has handed over order {order.number} already."
        raise conflict(message, "orders.is_active", handed_over={"order_number": order.number, "by": name})


_MAX_AUDIT = 10_000
"""Most changes of an order that are searched for the one that finished it."""


async def _apply_changes(
    ledger: Ledger, logs: LogWriter, order: Order, body: ExtendedOrderUpdate, pairs: list[LinePair]
) -> list[LineJson]:
    """Apply the changes. Return the picked quantities that did not fit, or wait with their lines."""
    ctx = ledger.ctx
    rejected = body.get("is_rejected", order.is_rejected)
    if order.is_rejected and not rejected:
        order.is_rejected = False
        order.item = {name: value for name, value in order.item.items() if name not in REASON_FIELDS}
    if order.is_rejected and (pairs or body.get("is_picked")):
        raise conflict(f"Order {order.number} is rejected.", "orders.order_number")
    unapplied: list[LineJson] = []
    locations = [raw.get("preferred_location_code", "") for _, raw in pairs]
    await _load_for_lines(
        ledger, order, [line for line, _ in pairs] or (order.lines if body.get("is_picked") else []), locations
    )
    for index, (line, raw) in enumerate(pairs):
        unapplied += await _update_line(ledger, logs, line, raw, f"orders.order_lines[{index}]")
    await _pick_whole_order(ledger, logs, order, body)
    if "is_claimed" in body:
        await set_claim(ctx, order, body["is_claimed"])
    order.item |= select_members(body, REASON_FIELDS)
    if rejected and not order.is_rejected:
        await release_order(ledger, order)
        order.is_rejected = True
    if not body.get("is_active", True):
        await hand_over_order(logs, order)
    if order.is_rejected or not order.is_active:
        end_claim(order)
    return unapplied


async def _load_for_lines(ledger: Ledger, order: Order, lines: Sequence[OrderLine], locations: Sequence[str]) -> None:
    """Read the data of several lines at once."""
    if len(lines) > 1:
        numbers = [line.product_number for line in lines]
        await ledger.catalogue.load(numbers, locations)
        await ledger.load_free_stock(numbers)
        await ledger.held_for_order(order.number, order.lines)
        await ledger.origins.load_order(order.number, order.lines)
        picked = [line.product_number for line in lines if not line.from_warehouse]
        await ledger.catalogue.range_products(picked, with_stock_only=True)


async def _pick_whole_order(ledger: Ledger, logs: LogWriter, order: Order, body: ExtendedOrderUpdate) -> None:
    """Close all open lines if the order is set to picked without lines."""
    if body.get("is_picked") is None:
        return
    if not order.lines:
        order.is_picked = body["is_picked"]
    elif body["is_picked"]:
        for line in order.lines:
            if not line.is_picked:
                await set_picked_quantity(ledger, logs, line, {"is_picked": True}, "orders.is_picked")
    elif all(line.is_picked for line in order.lines):
        raise conflict("Every line is picked; open a line again instead.", "orders.is_picked")


async def _update_line(
    ledger: Ledger, logs: LogWriter, line: OrderLine, raw: ExtendedLineUpdate, field: str
) -> list[LineJson]:
    """Change one line. Return the picked quantity that did not fit, with the picker, or that waits."""
    product = await ledger.catalogue.get_product(line.product_number, f"{field}.product_number")
    line.from_warehouse = raw.get("is_picked_from_warehouse", line.from_warehouse)
    pool = parse_pool(raw["stock_pool"], f"{field}.stock_pool") if "stock_pool" in raw else None
    location = await _named_location(ledger, raw, field)
    whole, is_rebased = not product.allow_decimal, "base_picked_quantity" in raw
    if "quantity" in raw:
        picked = None if is_rebased else raw.get("picked_quantity")
        _set_quantity(line, raw["quantity"], picked, field, whole=whole)
    raw, unapplied = await _rebase_line(ledger, line, raw, field, whole=whole) if is_rebased else RebasedUpdate(raw, 0)
    _check_rejected_unchanged(line, raw, field)
    closing, later = (
        raw.get("is_picked"),
        (await find_lines_changed_later(ledger.ctx, [line])).get(line.line_number, ""),
    )
    if later:  # A repeated pick does not open it.
        raw = {**raw, "is_picked": line.is_picked}
        raw.pop("rejection_reason_code", None)
        raw.pop("rejection_reason_code_description", None)
    previous_picker, was_closed = line.picked_by, line.is_picked
    return_to = location if is_rebased else None  # otherwise it is the plan
    is_raised = await set_picked_quantity(ledger, logs, line, raw, field, location, pool, return_to)
    if _changes_closing(raw) and (line.is_short or (was_closed and not line.is_picked)):
        record_write_times(ledger.ctx, LINE, [write_key(*line.key)])
    if not is_raised and not is_rebased:
        # No goods were picked, so these fields are the plan and not the origin of goods.
        line.stock_pool = pool or line.stock_pool
        line.preferred_location_code = raw.get("preferred_location_code", line.preferred_location_code)
    line.item |= changed_line_fields(raw, field)
    await record_shortage_reason(logs, line, raw, location)
    rows: list[LineJson] = []
    if later and closing and not line.is_picked:
        rows.append({**line.as_json(), "changed_on": later})
    if not unapplied:
        return rows
    if ledger.ctx.replay is not None:
        return [*rows, {"line_number": line.line_number, "carried": to_json_number(unapplied)}]
    found: LineJson = {**line.as_json(), "left": to_json_number(unapplied)}
    return [{**found, "picked_username": previous_picker} if previous_picker else found]


def _changes_closing(raw: ExtendedLineUpdate) -> bool:
    """Return True if an update closes or opens the line, or has a reason, beyond the picked quantity."""
    return "is_picked" in raw or any(name in raw for name in REASON_FIELDS)


async def _rebase_line(
    ledger: Ledger, line: OrderLine, raw: ExtendedLineUpdate, field: str, *, whole: bool
) -> RebasedUpdate:
    """Apply a picker's change to the current line.

    After a restore hosts repeat their picks in any order. A quantity may fit only after another host has repeated its
    part; until then it waits with the line. A later update without a change asks for the rest.
    """
    replay, key = ledger.ctx.replay, (ledger.store, *line.key)
    if replay is None and not _is_unchanged_pick(raw):
        return rebase_update(line, raw, field, whole=whole)
    row = await ledger.ctx.tx.one(sql.CARRIED_PICK, *key)
    carried = int(row[0]) if row else 0
    known = replay.unapplied.get(line.line_number, 0) if replay else 0
    found = rebase_update(line, raw, field, whole=whole, additional=carried - known)
    waiting = found.unapplied if replay else 0
    if waiting != carried:
        await ledger.ctx.tx.run(sql.CARRIED_PICK_SET, *key, waiting)
    return found


def _check_rejected_unchanged(line: OrderLine, raw: ExtendedLineUpdate, field: str) -> None:
    """Raise Refusal (409) if the update changes a rejected line. A repetition of its state is accepted."""
    if line.is_rejected and (_quantity_or_default(raw, "picked_quantity", 0) or not raw.get("is_picked", True)):
        raise _rejected_line_refusal(line, field)


def _rejected_line_refusal(line: OrderLine, field: str) -> Refusal:
    return conflict(f"Line {line.line_number} is rejected.", field, line=line.as_json())


def _set_quantity(
    line: OrderLine, ordered: ExactNumber, sent_picked: ExactNumber | None, field: str, *, whole: bool
) -> None:
    quantity = parse_quantity(ordered, f"{field}.quantity", whole=whole)
    picked = line.picked_quantity if sent_picked is None else parse_thousandths(sent_picked, f"{field}.picked_quantity")
    check_ordered_quantity(quantity, f"{field}.quantity")
    if quantity < picked:
        raise conflict(
            f"{format_quantity(picked)} are picked already; put some back first.",
            f"{field}.quantity",
            line=line.as_json(),
        )
    if quantity != line.quantity:
        if line.is_rejected:
            raise _rejected_line_refusal(line, f"{field}.quantity")
        line.quantity = quantity
        line.is_picked = line.is_fully_picked


def _quantity_or_default(
    raw: ExtendedLineUpdate, name: Literal["picked_quantity", "base_picked_quantity", "quantity"], default: int
) -> int:
    return parse_thousandths(raw[name], name) if name in raw else default


async def _named_location(ledger: Ledger, raw: ExtendedLineUpdate, field: str) -> Location | None:
    """Return the location of a line update. A store without locations stores the text as a preference only."""
    code = raw.get("preferred_location_code", "")
    if not code or not await ledger.catalogue.has_locations():
        return None
    return await ledger.catalogue.get_location(code, f"{field}.preferred_location_code")


async def reject_lines(ctx: Context, call: OperationCall) -> bytes:
    """Reject lines of one order, with a reason each, or reopen them. The order's state follows from its lines.

    Refuse with 404 if there is no such order, 409 if it is closed, 412 for another version. Refuse with 422 for an
    unknown line or a missing reason. After a restore, also refuse with 412 to repeat what a later request changed.
    """
    request: LineRejectionsRequest = call.body
    number = request["order_number"]
    order = await Order.load(ctx, ctx.store_number, number)
    if order is None:
        raise not_found(f"There is no order {number}.")
    check_version(ctx, order)
    if not order.is_active or order.is_rejected:
        raise conflict(f"Order {number} is {order.fulfilment}.", "order_number")
    ledger = Ledger(StoreCatalogue(ctx, ctx.current_store))
    logs, before = LogWriter(ledger), audited_fields(order, order.lines)
    later = await find_lines_changed_later(
        ctx, [line for body in request["lines"] if (line := order.find_line(int(body["line_number"])))]
    )
    named: dict[int, OrderLine] = {}
    freed: dict[int, OrderLine] = {}
    for index, line_body in enumerate(request["lines"]):
        field = f"lines[{index}]"
        line = order.find_line(parse_whole_number(line_body["line_number"], f"{field}.line_number"))
        if line is None:
            raise unprocessable(f"Order {number} has no line {line_body['line_number']}.", f"{field}.line_number")
        if line.line_number in later:
            if line_body.get("is_rejected", True) != line.is_rejected:
                raise superseded_refusal(
                    ctx, f"Line {line.line_number} of order {number}", later[line.line_number], field
                )
            continue
        named[line.line_number] = line
        if line_body.get("is_rejected", True):
            if await _reject_line(logs, line, line_body, field):
                freed[line.line_number] = line
        elif line.is_rejected:
            line.is_rejected = line.is_picked = False
    if freed:  # All at once: held goods of an order are read together.
        await release_lines(ledger, order, freed.values())
    record_write_times(ctx, LINE, [write_key(*line.key) for line in named.values()])
    await record_order_changes(ctx, order, before, order.lines)
    for line in named.values():
        await line.save(ctx, ledger.store)
    await order.save(ctx, ledger.store)
    await ledger.defer_writes()
    await logs.save_all()
    return SUCCESS


async def _reject_line(logs: LogWriter, line: OrderLine, body: LineRejection, field: str) -> bool:
    """Mark a line as rejected and log the reason. Return True if this changed it. The caller releases its goods."""
    reason = {name: body[name] for name in REASON_FIELDS if body.get(name)}
    if not reason:
        raise unprocessable("A line is rejected for a reason.", f"{field}.{REASON_FIELDS[0]}")
    if line.is_rejected and reason == select_members(line.item, REASON_FIELDS):
        return False
    line.is_rejected = line.is_picked = True
    line.item = {name: value for name, value in line.item.items() if name not in REASON_FIELDS} | reason
    await log_reason(logs, line, REJECTION_SOURCE, reason)
    return True
