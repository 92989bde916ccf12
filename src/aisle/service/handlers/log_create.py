"""Entries of the log by counts, changes and receipts, and their reviews (interface: Create store product logs)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

from aisle.contract.request_bodies.extension_bodies import ExtendedLogEntry, ReviewWrite
from aisle.contract.request_encoding import pool_fields
from aisle.operation_body_types import UNDO_PREFIX
from aisle.service.db.statements import logs_and_changes as sql
from aisle.service.db.statements import stores_and_products as product_sql
from aisle.service.domain.counts_and_adjustments import (
    AdjustmentKind,
    CountDifference,
    Undo,
    adjust_free,
    adjust_held,
    close_recounts,
    count_free,
    count_held,
    find_fulfilled_recounts,
    take_back_undone_count,
    time_of_undone_entry,
)
from aisle.service.domain.ledger import Ledger, StockKey
from aisle.service.domain.log_and_audit_writer import LogEntry, LogWriter
from aisle.service.domain.order_line import OrderLine, incomplete_line_refusal, load_open_line
from aisle.service.domain.orders import save_changed_line, save_changed_orders
from aisle.service.domain.picking_and_moves import parse_pool
from aisle.service.domain.quantities_times_and_json import (
    parse_json_object,
    parse_quantity,
    parse_row_id,
    parse_thousandths,
    parse_timestamp,
    parse_whole_number,
    select_members,
    to_json_number,
)
from aisle.service.domain.read_products_and_locations import NO_LOCATION, Location, Product, StoreCatalogue
from aisle.service.domain.receipts import (
    LINE_RECEIPTS,
    Delivery,
    DeliveryLine,
    DeliveryReceipts,
    ExcessMove,
    LineReceipt,
    LineShare,
    free_places,
    quantities_placed,
    undo_of_receipts,
)
from aisle.service.domain.states import REVIEWED, TRANSITIONS, check_transition
from aisle.service.errors import SUCCESS, Refusal, to_json_bytes, unprocessable
from aisle.service.handlers import store_product_settings
from aisle.service.http.parameters_and_headers import LOG_READ, clamp_occurred_on
from aisle.service.operation_context import Context, OperationCall, ParamValues, split_wire_id

_POOL_FIELDS = pool_fields("stock_pool_")
# Time of an entry; the last of these that it has.
_TIME_FIELDS: Final = ("modification_datetime", "scanned_datetime")
_STORED_FIELDS = ("loss_comment", "loss_image", "loss_order_number", "modification_datetime", "order_after_date")


async def create_store_product_logs(ctx: Context, call: OperationCall) -> bytes:
    """Count, change or receive goods: all entries or none. `data` of the answer has the entries' ids, in order."""
    bodies: list[ExtendedLogEntry] = call.body.get("storeproductlog", [])
    ctx.app_user = call.query.get("appUserName", ctx.app_user)
    ledger = Ledger(StoreCatalogue(ctx, ctx.current_store))
    await ledger.catalogue.load(
        (body.get("product_number", "") for body in bodies), (body.get("location_code", "") for body in bodies)
    )
    counted = [is_count(call.query, body) for body in bodies]
    numbers = [body.get("product_number", "") for body in bodies]
    await ledger.catalogue.range_products(numbers)
    await ledger.load_balances(number for number, is_counted in zip(numbers, counted, strict=True) if is_counted)
    await ledger.load_free_stock(number for number, is_counted in zip(numbers, counted, strict=True) if not is_counted)
    logs, receiving = LogWriter(ledger), DeliveryReceipts(ledger)
    for index, body in enumerate(bodies):
        await _write_entry(ledger, logs, receiving, call.query, body, f"storeproductlog[{index}]")
        await logs.close_entry()
    await receiving.save_all()
    await save_changed_orders(ledger)
    await ledger.defer_writes()
    fulfilled = await find_fulfilled_recounts(ctx, ctx.current_store, logs.free_counts)
    for one in fulfilled:
        logs.add_fields(one.entry_index, one.log_fields(ctx.current_store))
    ids = await logs.save_all()
    await _refuse_if_log_went_on(ctx, numbers)
    await close_recounts(ctx, ctx.current_store, fulfilled, ids)
    return to_json_bytes({"success": True, "data": ids})


async def _refuse_if_log_went_on(ctx: Context, product_numbers: Iterable[str]) -> None:
    """Raise Refusal (412) if the log has entries of these products that the sender has not read.

    The operation has taken its own numbers by then, so other writes to the store's log are stored or wait.
    """
    if ctx.headers.log_read is None:
        return
    seq, ordinal = split_wire_id(ctx.headers.log_read)
    last = seq - (ctx.current_store.ordinal > ordinal)
    rows = await ctx.tx.all(sql.LOG_PRODUCTS_SINCE, ctx.store_number, sorted(set(product_numbers)), last)
    if rows:
        raise Refusal(412, f"The log has newer entries of {', '.join(row[0] for row in rows)}.", LOG_READ.name)


class EntryInput(NamedTuple):
    """Entry of a request with its validated references."""

    body: ExtendedLogEntry
    product: Product
    location: Location | None
    line: OrderLine | None
    field: str
    occurred_on: str


async def _write_entry(
    ledger: Ledger, logs: LogWriter, receipts: DeliveryReceipts, query: ParamValues, body: ExtendedLogEntry, field: str
) -> None:
    if not body.get("product_number"):
        raise unprocessable("An entry needs a product.", f"{field}.product_number")
    catalogue, ctx = ledger.catalogue, ledger.ctx
    product = await catalogue.get_product(body["product_number"], f"{field}.product_number")
    code = body.get("location_code", "")
    location = await catalogue.get_location(code, f"{field}.location_code") if code else None
    line = await _find_line(ledger, body, product, field)
    ledger.occurred_on = ctx.occurred_on
    for name in _TIME_FIELDS:
        if body.get(name):
            ledger.occurred_on = clamp_occurred_on(
                parse_timestamp(body[name], f"{field}.{name}", ctx.time_zone()),
                ctx.now_seconds,
                ctx.headers.clock_skew,
                is_replay=ctx.replay is not None,
            )
    entry = EntryInput(body, product, location, line, field, ledger.occurred_on)
    await _postpone_ordering(ledger, product, body, field)
    if is_count(query, body):
        await _write_count(ledger, logs, entry)
    elif query.get("is_from_receipt", False):
        await _write_receipt(ledger, logs, receipts, entry)
    else:
        await _write_change(ledger, logs, entry)


async def _postpone_ordering(ledger: Ledger, product: Product, body: ExtendedLogEntry, field: str) -> None:
    """Move the product's next ordering to `order_after_date`, unless it is later already."""
    if not body.get("order_after_date"):
        return
    ctx, store = ledger.ctx, ledger.catalogue.store
    after = parse_timestamp(body["order_after_date"], f"{field}.order_after_date", ctx.time_zone())
    [row] = await ctx.tx.all(product_sql.STORE_PRODUCT_DATA, store.number, [product.number])
    if after > parse_json_object(row[2]).get("next_ordering_date", ""):
        body_of_change = {"product_number": product.number, "next_ordering_date": after}
        await store_product_settings.change_store_products(ctx, store, [(0, body_of_change)], field)


def is_count(query: ParamValues, body: ExtendedLogEntry) -> bool:
    """Return True if an entry is a count.

    It is one if the query says so, or if it has a `counted_quantity` and no `quantity`.
    """
    if "is_counted_quantity" in query:
        return bool(query["is_counted_quantity"])
    return "counted_quantity" in body and "quantity" not in body


async def _find_line(ledger: Ledger, body: ExtendedLogEntry, product: Product, field: str) -> OrderLine | None:
    order = body.get("customer_order_number", "")
    if not order and "customer_order_line_number" not in body:
        return None
    if not order or "customer_order_line_number" not in body:
        raise incomplete_line_refusal(field, has_order=bool(order))
    number = parse_whole_number(body["customer_order_line_number"], f"{field}.customer_order_line_number")
    where = f"{field}.customer_order_line_number"
    return await load_open_line(ledger.ctx, ledger.store, order, number, product.number, where)


def _quantities_by_pool(
    entry: EntryInput, field_without_pool: Literal["counted_quantity", "quantity"]
) -> dict[int, int]:
    """Return the quantities by pool: those of `stock_pool_n`, otherwise the single one in its pool."""
    whole = not entry.product.allow_decimal
    fields: Mapping[str, Any] = entry.body
    named = {
        pool: parse_quantity(fields[name], f"{entry.field}.{name}", whole=whole)
        for pool, name in enumerate(_POOL_FIELDS, 1)
        if name in fields
    }
    if named:
        return named
    if field_without_pool not in entry.body:
        raise unprocessable("An entry needs a quantity.", f"{entry.field}.{field_without_pool}")
    quantity = parse_quantity(entry.body[field_without_pool], f"{entry.field}.{field_without_pool}", whole=whole)
    if "pool_location" in entry.body:
        return {parse_pool(entry.body["pool_location"], f"{entry.field}.pool_location"): quantity}
    return {entry.location.pool if entry.location else 1: quantity}


async def _write_count(ledger: Ledger, logs: LogWriter, entry: EntryInput) -> None:
    counted = _quantities_by_pool(entry, "counted_quantity" if "counted_quantity" in entry.body else "quantity")
    if any(quantity < 0 for quantity in counted.values()):
        raise unprocessable("Less than nothing cannot be counted.", entry.field)
    if not entry.product.is_stock:
        found = [CountDifference(pool, 0, 0) for pool in counted]
    elif entry.line:
        found = await count_held(ledger, entry.line, entry.location, counted)
        await save_changed_line(ledger, entry.line)
    else:
        found = await count_free(ledger, entry.product, entry.location, counted)
    expected = sum(one.expected for one in found)
    difference = sum(one.difference for one in found)
    extra: dict[str, object] = {
        "counted_quantity": to_json_number(sum(counted.values())),
        "expected_quantity": to_json_number(expected),
        **{_POOL_FIELDS[pool - 1]: to_json_number(quantity) for pool, quantity in counted.items()},
    }
    pools = {str(one.pool): [to_json_number(one.expected), to_json_number(one.difference)] for one in found}
    data = {"expected_and_difference": pools, **select_members(entry.body, ("expected_quantity",))}
    pool = found[0].pool if len(found) == 1 else None
    if not entry.line:
        logs.record_count(entry.product, entry.location)
    _add_entry(logs, entry, "count", difference, pool, flagged=ledger.pop_negative_flag(), extra=extra, data=data)


async def _write_change(ledger: Ledger, logs: LogWriter, entry: EntryInput) -> None:
    changes = _quantities_by_pool(entry, "quantity")
    undone_on = await time_of_undone_entry(ledger, entry.product.number, entry.body.get("reference") or "")
    ledger.occurred_on = min(undone_on or entry.occurred_on, entry.occurred_on)
    kind: AdjustmentKind = "undo" if undone_on else "change"
    for pool, quantity in changes.items() if entry.product.is_stock else ():
        if entry.line:
            await adjust_held(ledger, kind, entry.line, entry.location, pool, quantity, entry.field)
        else:
            await adjust_free(ledger, kind, entry.product.number, entry.location, pool, quantity)
    if entry.line:
        await save_changed_line(ledger, entry.line)
    else:
        await take_back_undone_count(ledger, _undo_of(ledger, entry, changes))
    is_undo = str(entry.body.get("reference") or "").startswith(UNDO_PREFIX)
    if sum(changes.values()) < 0 and not is_undo:
        _record_person(ledger, entry, product_sql.STORE_PRODUCT_LOSS_BY_SET)
    _log_change(logs, entry, "change", changes, flagged=ledger.pop_negative_flag())


def _undo_of(ledger: Ledger, entry: EntryInput, changes: Mapping[int, int]) -> Undo:
    """Return an entry as the undo of another one; its `reference` says whether it is one."""
    location = entry.location.code if entry.location else NO_LOCATION
    user = entry.body.get("app_user_name") or ledger.ctx.app_user or ""
    return Undo(entry.product.number, location, user, entry.body.get("reference") or "", changes)


async def _write_receipt(ledger: Ledger, logs: LogWriter, receipts: DeliveryReceipts, entry: EntryInput) -> None:
    """Receive goods against the delivery that `reference` names, if it is one."""
    received: defaultdict[int, int] = defaultdict(int)
    excess = 0
    lines: list[DeliveryLine] = []
    delivery = await receipts.find_delivery(entry.body.get("reference", ""))
    number = entry.product.number
    has_lines = delivery is not None and (bool(entry.line) or delivery.is_split_or_for_order(number))
    earlier = await receipts.line_receipts(delivery.number, number) if delivery and has_lines else []
    first = len(earlier)
    for pool, quantity in _quantities_by_pool(entry, "quantity").items():
        for part in _line_shares(delivery, entry, quantity, pool, earlier):
            to = _pool_of_line(entry, part.line, pool)
            lines += [part.line] if part.line else []
            line = entry.line or (await receipts.find_order_line(part.line, entry.product) if part.line else None)
            received[to] += part.quantity
            excess += part.quantity if part.line and part.line.customer_order and not line else part.excess
            if not entry.product.is_stock:
                continue
            if delivery and part.line and (entry.line or part.line.customer_order):
                booked = await _book_for_order_line(
                    ledger, receipts, entry, part.line, line, part.quantity, to, earlier
                )
                earlier.append(booked)
                excess += booked.quantity - booked.held
                continue
            if part.line and has_lines:
                location = entry.location.code if entry.location else NO_LOCATION
                earlier.append(LineReceipt(part.line.line_number, "", 0, location, to, part.quantity, 0, 0))
            if line:
                excess += await adjust_held(ledger, "receipt", line, entry.location, to, part.quantity, entry.field)
                await save_changed_line(ledger, line)
            else:
                await adjust_free(ledger, "receipt", number, entry.location, to, part.quantity)
        if delivery and quantity < 0:
            for move in delivery.move_excess(number):
                excess += await _book_excess_move(ledger, receipts, entry, move, earlier)
    _record_person(ledger, entry, product_sql.STORE_PRODUCT_RECEIPT_BY_SET)
    delivery_fields = receipts.log_fields(delivery, lines)
    _log_change(
        logs,
        entry,
        "receipt",
        received,
        flagged=ledger.pop_negative_flag() or excess > 0,
        delivery_fields=delivery_fields,
        data={LINE_RECEIPTS: earlier[first:]} if earlier[first:] else {},
    )


def _pool_of_line(entry: EntryInput, line: DeliveryLine | None, pool: int) -> int:
    """Return the pool that goods of a line go to: its own one, unless the entry names one."""
    has_pool = "pool_location" in entry.body or any(name in entry.body for name in _POOL_FIELDS)
    return line.target_pool if line and line.target_pool and not has_pool else pool


async def _book_excess_move(
    ledger: Ledger, receipts: DeliveryReceipts, entry: EntryInput, move: ExcessMove, earlier: list[LineReceipt]
) -> int:
    """Book the excess of one line for another one; its order line, if any, then holds those goods where they lie.

    Return the quantity that it cannot hold.
    """
    source, target, left = move.source, move.target, move.quantity
    unheld = left if target.customer_order else 0
    for (code, pool), free in free_places(earlier, source.line_number).items():
        part = min(left, free)
        left -= part
        if not part:
            break
        earlier.append(LineReceipt(*source.key, code, pool, -part, 0, 0))
        moved = LineReceipt(*target.key, code, pool, part, 0, 0)
        earlier.append(await _hold_free_goods(ledger, receipts, entry, target, moved))
        unheld -= earlier[-1].held
    return unheld


async def _hold_free_goods(
    ledger: Ledger, receipts: DeliveryReceipts, entry: EntryInput, target: DeliveryLine, booked: LineReceipt
) -> LineReceipt:
    """Hold free goods for the order line of a delivery line, as many as still lie there; return what is held."""
    line, product = await receipts.find_order_line(target, entry.product), entry.product.number
    free = await ledger.free_stock(product)
    part = min(booked.quantity, free.get(StockKey(booked.location, booked.pool), 0))
    if line is None or part <= 0:
        return booked
    location, picked = await ledger.catalogue.find_location(booked.location), line.picked_quantity
    await adjust_free(ledger, "receipt", product, location, booked.pool, -part)
    rest = await adjust_held(ledger, "receipt", line, location, booked.pool, part, entry.field)
    await save_changed_line(ledger, line)
    return booked._replace(held=part - rest, picked=line.picked_quantity - picked)


async def _book_for_order_line(
    ledger: Ledger,
    receipts: DeliveryReceipts,
    entry: EntryInput,
    delivery_line: DeliveryLine,
    line: OrderLine | None,
    quantity: int,
    pool: int,
    earlier: list[LineReceipt],
) -> LineReceipt:
    """Book goods of a delivery line for an order line, or what is undone of earlier ones.

    Raise Refusal (409) if the order line no longer holds what is undone.
    """
    key = entry.line.key if entry.line else (delivery_line.customer_order, delivery_line.customer_line)
    location = entry.location.code if entry.location else NO_LOCATION
    booked = LineReceipt(delivery_line.line_number, *key, location, pool, quantity, 0, 0)
    wanted, picked_change = quantity, None
    if quantity < 0:
        booked = undo_of_receipts(earlier, booked)
        wanted, picked_change = booked.held, booked.picked
        if booked.held and not line:
            line = await receipts.load_order_line(delivery_line, entry.product)
    free = quantity
    if line and wanted:
        picked = line.picked_quantity
        left = await adjust_held(ledger, "receipt", line, entry.location, pool, wanted, entry.field, picked_change)
        await save_changed_line(ledger, line)
        booked = booked._replace(held=wanted - left, picked=line.picked_quantity - picked)
        free = quantity - wanted
    await adjust_free(ledger, "receipt", entry.product.number, entry.location, pool, free)
    return booked


def _line_shares(
    delivery: Delivery | None, entry: EntryInput, quantity: int, pool: int, earlier: list[LineReceipt]
) -> list[LineShare]:
    """Assign a quantity to lines of the delivery; to none if there is no delivery."""
    if delivery is None:
        return [LineShare(None, quantity)]
    named = entry.body.get("line_number")
    number = None if named is None else parse_whole_number(named, f"{entry.field}.line_number")
    order, product = entry.line.key if entry.line else None, entry.product.number
    location = entry.location.code if entry.location else NO_LOCATION
    pools = {line.line_number: _pool_of_line(entry, line, pool) for line in delivery.lines_of(product)}
    placed = quantities_placed(earlier, location, pools) if quantity < 0 else {}
    return delivery.receive(product, quantity, line_number=number, order=order, field=entry.field, placed=placed)


def _record_person(ledger: Ledger, entry: EntryInput, statement: str) -> None:
    user = entry.body.get("app_user_name") or ledger.ctx.app_user or ledger.ctx.principal.name
    ledger.update_product(statement, entry.product.number, user)


def _log_change(
    logs: LogWriter,
    entry: EntryInput,
    kind: AdjustmentKind,
    changes: Mapping[int, int],
    *,
    flagged: bool,
    delivery_fields: Mapping[str, object] = MappingProxyType({}),
    data: Mapping[str, object] = MappingProxyType({}),
) -> None:
    extra = dict(delivery_fields) | {
        _POOL_FIELDS[pool - 1]: to_json_number(quantity) for pool, quantity in changes.items()
    }
    if "expected_quantity" in entry.body:
        extra["expected_quantity"] = to_json_number(
            parse_thousandths(entry.body["expected_quantity"], f"{entry.field}.expected_quantity")
        )
    pool_alone = next(iter(changes)) if len(changes) == 1 else None
    _add_entry(logs, entry, kind, sum(changes.values()), pool_alone, flagged=flagged, extra=extra, data=data)


def _add_entry(
    logs: LogWriter,
    entry: EntryInput,
    source: str,
    quantity: int,
    pool: int | None,
    *,
    flagged: bool,
    extra: dict[str, object],
    data: Mapping[str, object] = MappingProxyType({}),
) -> None:
    body = entry.body
    reason = body.get("reason_code")
    kept = select_members(body, _STORED_FIELDS)
    logs.add(
        LogEntry(
            entry.product,
            body.get("source") or source,
            quantity,
            entry.location,
            pool,
            entry.line,
            reference=body.get("reference") or body.get("loss_order_number"),
            reason=body.get("loss_comment"),
            reason_code=None if reason is None else parse_whole_number(reason, f"{entry.field}.reason_code"),
            app_user=body.get("app_user_name"),
            needs_review=flagged,
            extra=extra,
            data=kept | dict(data),
        ),
        entry.occurred_on,
    )


NUMBER_REUSED = "This number was given anew after a restore of the service; look at the list again."


async def review_logs(ctx: Context, call: OperationCall) -> bytes:
    """Mark entries as reviewed, or as to be reviewed again.

    Refuse with 422 if the store has no such entry, or its number was given again after the request was made. Refuse
    with 409 if there is nothing to review.
    """
    wanted = [_parse_review(ctx, review, f"reviews[{index}]") for index, review in enumerate(call.body["reviews"])]
    rows = await ctx.tx.all(sql.LOG_REVIEW_STATES, ctx.store_number, [seq for seq, _ in wanted])
    known: dict[int, int] = {row[0]: row[1] for row in rows}
    reused = {row[0] for row in rows if ctx.is_number_reused(row[2])}
    for index, (seq, status) in enumerate(wanted):
        field = f"reviews[{index}]"
        if seq not in known:
            raise unprocessable("There is no such entry.", f"{field}.id")
        if seq in reused:
            raise unprocessable(NUMBER_REUSED, f"{field}.id")
        check_transition("review", "The review", str(known[seq]), str(status), f"{field}.review_status")
        await ctx.tx.run(sql.LOG_REVIEW_STATE_SET, ctx.store_number, seq, status, ctx.now)
        known[seq] = status
        ctx.mark_changed(ctx.store_number, "log", str(ctx.current_store.wire_id(seq)))
    return SUCCESS


def _parse_review(ctx: Context, review: ReviewWrite, field: str) -> tuple[int, int]:
    seq, ordinal = split_wire_id(parse_row_id(review["id"], f"{field}.id"))
    status = parse_whole_number(review.get("review_status", REVIEWED), f"{field}.review_status")
    if str(status) not in TRANSITIONS["review"]:
        raise unprocessable(f"There is no state {status} of a review.", f"{field}.review_status")
    return (seq if ordinal == ctx.current_store.ordinal else 0), status
