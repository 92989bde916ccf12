"""Settings of products in a store: min and max, prices, forecast, attention codes (interface: Store products)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal

from aisle.service.auth.authorization import require_role
from aisle.service.db.statements import stores_and_products as sql
from aisle.service.domain import log_and_audit_writer
from aisle.service.domain.given_expiry_dates import GIVEN, IS_NEAREST, LABEL_FIELDS, UNDONE, merge_given_dates
from aisle.service.domain.latest_writes import (
    SETTING,
    find_later_writes,
    record_write_times,
    superseded_refusal,
    write_key,
)
from aisle.service.domain.quantities_times_and_json import (
    THOUSANDTHS_PER_UNIT,
    format_quantity,
    parse_int32,
    parse_json_object,
    parse_start_of_day,
    parse_thousandths,
    parse_timestamp,
    select_members,
    to_json,
)
from aisle.service.errors import SUCCESS, forbidden, unprocessable
from aisle.service.handlers.create_and_list_products import Body, load_products
from aisle.service.http.request_body import PRICE_FIELDS
from aisle.service.operation_context import Context, OperationCall, Store

MergeStoreProduct = Callable[[Body, Body, Body], Body]
"""Merge of a store's stored fields with those of a request; the last one is the product of the catalogue."""

# Fields with the same name in the request and in the stock entry.
_UNCHANGED_FIELDS = (
    "demand_until_delivery",
    "order_level",
    "default_salesorder_type",
    "discount_price",
    "is_promotion",
    "promotion_week",
)
_OWN_PRICES = ("price", "old_price", "special_price", "purchase_price", "promotion")
"""The store's own values, which a stock entry has in `aisle`."""
_TIME_FIELDS = {
    "expiry_date_time": "last_expiry_datetime",
    "validate_expiry_date_time": "validate_expiry_datetime",
    "next_delivery_date": "next_delivery_datetime",
    "next_ordering_date": "next_ordering_datetime",
}
_DAY_FIELDS = ("expiry_date_time", "validate_expiry_date_time")
"""Times that mean a day."""
_GIVEN_DAY_FIELDS = (*LABEL_FIELDS, UNDONE)
"""Days that a check gives or undoes; others may stand."""
_EXPIRY_CHECK = {"product_number", *_DAY_FIELDS, *_GIVEN_DAY_FIELDS, IS_NEAREST}
"""Fields of an expiry check, which staff may write too."""
_LEVEL_FIELDS = ("min", "max")
_SERIES = ("average", "forecast", "history")


async def create_store_products(ctx: Context, call: OperationCall) -> bytes:
    """Add products to the range of the store. Those in it are updated."""
    items = enumerate(call.body.get("store_products", []))
    await change_store_products(ctx, ctx.current_store, items, "store_products", sets_original_levels=True)
    return SUCCESS


async def update_store_products(ctx: Context, call: OperationCall) -> bytes:
    """Change the named fields of products in the store. A product outside its range is added.

    Raise Refusal (403) if a staff token changes more than expiry dates, or a product outside the range.
    """
    if any(body.keys() - _EXPIRY_CHECK for body in call.body):
        require_role(ctx, "supervisor", "integration", "admin")
    is_integration = ctx.principal.role == "integration"
    if not is_integration:
        await _keep_latest(ctx, call.body)
    await change_store_products(
        ctx,
        ctx.current_store,
        enumerate(call.body),
        "",
        sets_original_levels=is_integration,
        may_add=ctx.principal.role != "staff",
    )
    return SUCCESS


async def _keep_latest(ctx: Context, bodies: Iterable[Body]) -> None:
    """Record the time of each field. Raise Refusal (412) if a repetition after a restore is older than another change.

    Integrators repeat their data as a whole, so theirs does not count as a later change.
    """
    fields_by_key = {
        write_key(body["product_number"], name): (f"[{index}].{name}", f"{name} of product {body['product_number']}")
        for index, body in enumerate(bodies)
        for name in body
        if name not in ("product_number", *_GIVEN_DAY_FIELDS, IS_NEAREST)
    }
    for key, written_on in (await find_later_writes(ctx, SETTING, list(fields_by_key))).items():
        field, what = fields_by_key[key]
        raise superseded_refusal(ctx, what, written_on, field)
    record_write_times(ctx, SETTING, fields_by_key)


def _merge_fields(old: Body, body: Body, product: Body) -> Body:
    """Merge a store's fields. With its first own price it keeps the catalogue's old price of that time."""
    is_first = "price" in body and "price" not in old and "old_price" in product
    return ({"old_price": product["old_price"]} if is_first else {}) | old | body


async def change_store_products(
    ctx: Context,
    store: Store,
    bodies: Iterable[tuple[int, Body]],
    field: str,
    *,
    sets_original_levels: bool = False,
    may_add: bool = True,
    merge: MergeStoreProduct = _merge_fields,
) -> None:
    """Store the named fields of products. A product outside the store's range is added.

    `bodies` have their index in the request. With `sets_original_levels`, min and max become the base of local changes
    and are not limited.
    """
    items = [(f"{field}[{index}]", body) for index, body in bodies]
    numbers = sorted({item["product_number"] for _, item in items})
    rows = await ctx.tx.all(sql.STORE_PRODUCT_DATA, store.number, numbers)
    old = {row[0]: (row[1], parse_json_object(row[2])) for row in rows}
    catalogue = await load_products(ctx, numbers)
    written: dict[str, Body] = {}
    for item_field, item in items:
        product = catalogue.get(item["product_number"])
        if product is None:
            raise unprocessable(f"There is no product {item['product_number']}.", f"{item_field}.product_number")
        if item["product_number"] not in old:
            if not may_add:
                raise forbidden(f"Product {item['product_number']} is not in the range, and staff may not add it.")
            _check_allowed(store, product, f"{item_field}.product_number")
        before = written.get(item["product_number"]) or old.get(item["product_number"], (0, {}))[1]
        data = merge_given_dates(before, _parse_fields(ctx, store, item, item_field), ctx.now)
        data |= (
            _original_levels(data) if sets_original_levels else _check_local_change(before, data, product, item_field)
        )
        written[item["product_number"]] = merge(before, data, product)
        _check_min_max(written[item["product_number"]], item_field)
        _check_series(item, written[item["product_number"]], item_field)
    await _save(ctx, store, old, written)


async def _save(ctx: Context, store: Store, old: dict[str, tuple[int, Body]], changed: dict[str, Body]) -> None:
    new = [one for one in changed if one not in old]
    changes = [
        log_and_audit_writer.AuditChange("store product", one, _shown(old[one][1]), _shown(changed[one]))
        if one in old
        else log_and_audit_writer.AuditChange("store product", one, {}, own)
        for one, own in ((one, select_members(data, sorted(PRICE_FIELDS))) for one, data in changed.items())
    ]
    await log_and_audit_writer.record_changes(ctx, store.number, changes)
    same = sum(one in old and old[one][1] == data for one, data in changed.items())
    ctx.count_records(new=len(new), changed=len(changed) - len(new) - same, same=same)
    seq = await ctx.next_numbers(store.number, "store_product", len(new)) if new else 0
    ids = {one: seq + n for n, one in enumerate(new)}
    await ctx.tx.run_many(
        sql.STORE_PRODUCT_SET,
        [_store_product_row(ctx, store, ids.get(one) or old[one][0], data) for one, data in changed.items()],
    )
    for one in changed:
        ctx.mark_changed(store.number, "product", one)


def _shown(data: Body) -> Body:
    """Return the fields without those that only the service reads."""
    return {name: value for name, value in data.items() if name != GIVEN}


def _parse_fields(ctx: Context, store: Store, body: Body, field: str) -> Body:
    """Return the fields to store. An empty time removes the stored one.

    Raise Refusal: 422 for a fraction where an integer is required, 400 for an invalid time.
    """
    data = dict(body)
    for name in _LEVEL_FIELDS:
        if name in data:
            data[name] = parse_int32(data[name], f"{field}.{name}")
            data["last_minmax_updatedby"] = ctx.app_user or ctx.principal.name
    for name in _TIME_FIELDS:
        if name in data:
            read = parse_start_of_day if name in _DAY_FIELDS else parse_timestamp
            data[name] = read(data[name], f"{field}.{name}", ctx.time_zone(store)) if data[name].strip() else ""
    if sum(name in data for name in LABEL_FIELDS) == 1:
        raise unprocessable(f"A label needs {' and '.join(LABEL_FIELDS)}.", field)
    for name in _GIVEN_DAY_FIELDS:
        if name in data:
            data[name] = parse_start_of_day(data[name], f"{field}.{name}", ctx.time_zone(store))
    if "expiry_date_time" in data:
        data["last_expiry_updatedby"] = ctx.app_user or ctx.principal.name
    return data


def _check_min_max(merged: Body, field: str) -> None:
    if merged.get("min", 0) > merged.get("max", merged.get("min", 0)):
        raise unprocessable("min is above max.", f"{field}.min")


def _check_series(body: Body, merged: Body, field: str) -> None:
    """Raise Refusal (422) if a series has keys but not a unique one per value."""
    for name in _SERIES:
        array, keys = f"{name}_array", f"{name}_keys"
        if not (array in body or keys in body) or array not in merged or not merged.get(keys):
            continue
        counts = len(merged[keys]), len(merged[array])
        if counts[0] != counts[1]:
            message = f"{keys} has {counts[0]} and {array} has {counts[1]}: each value has a key of its own."
            raise unprocessable(message, f"{field}.{keys if keys in body else array}")
        if len(set(merged[keys])) < counts[0]:
            raise unprocessable("A key is there twice: each value has a key of its own.", f"{field}.{keys}")


def _check_allowed(store: Store, product: Body, field: str) -> None:
    """Raise Refusal (422) if this store may not range the product. An empty list of allowed stores means all."""
    allowed, forbidden = product.get("stores_allowed"), product.get("stores_not_allowed") or ()
    if (allowed and store.number not in allowed) or store.number in forbidden:
        raise unprocessable(f"Product {product['product_number']} is not for store {store.number}.", field)


def _original_levels(data: Body) -> Body:
    """Return the new base of local changes."""
    return {f"original_{name}": data[name] for name in _LEVEL_FIELDS if name in data}


def _check_local_change(before: Body, data: Body, product: Body, field: str) -> Body:
    """Return the base of this local change; first values are not limited. Raise Refusal (422) if it is not allowed."""
    if product.get("is_edit_replenishment") is False and _differs(before, data, "is_replenishment"):
        message = "Replenishment of this product is not changed in a store."
        raise unprocessable(message, f"{field}.is_replenishment")
    original: Body = {}
    for name in _LEVEL_FIELDS:
        if name in data:
            base = f"original_{name}"
            original[base] = before[base] if base in before else data[name]
            if _differs(before, data, name):
                _check_local_limit(name, data[name], original[base], product, f"{field}.{name}")
    return original


def _differs(before: Body, data: Body, name: str) -> bool:
    return name in data and name in before and data[name] != before[name]


def _check_local_limit(name: str, value: int, original: int, product: Body, field: str) -> None:
    """Raise Refusal (422) if a level differs from its base by more than the product allows; 0 % is no limit."""
    if product.get("is_edit_min_max") is False:
        raise unprocessable("min and max of this product are not changed in a store.", field)
    percentage = parse_thousandths(product.get("edit_min_max_percentage", 0), "edit_min_max_percentage")
    limit = -(-abs(original) * percentage // (100 * THOUSANDTHS_PER_UNIT))
    if percentage and abs(value - original) > limit:
        share = f"by at most {format_quantity(percentage)} % it may be {original - limit} to {original + limit}"
        raise unprocessable(f"{name} was {original}; {share}.", field)


def _store_product_row(ctx: Context, store: Store, seq: int, data: Body) -> tuple[object, ...]:
    """Return a row of `store_product` in the order of `STORE_PRODUCT_SET`."""
    return (
        store.number,
        data["product_number"],
        seq,
        store.ordinal,
        int(data["is_stock"]) if "is_stock" in data else None,
        int(data.get("is_replenishment", False)),
        to_json(data["price"]) if "price" in data else "",
        ",".join(data.get("attention_codes", ())),
        to_json(_stock_entry_fields(data)),
        to_json(data),
        ctx.now,
    )


def _stock_entry_fields(data: Body) -> Body:
    """Return the fields of the store's settings for a stock entry."""
    item = select_members(data, _UNCHANGED_FIELDS)
    item |= {shown: data[name] for name, shown in _TIME_FIELDS.items() if data.get(name)}
    for name in ("min", "max", "original_min", "original_max", "last_minmax_updatedby", "last_expiry_updatedby"):
        if name in data:
            item[name] = data[name]
    for name in _SERIES:
        if f"{name}_array" in data:
            item[f"{name}_array"] = _series_json(data[f"{name}_array"], data.get(f"{name}_keys"))
    if data.get("forecast_array"):
        item["forecast"] = data["forecast_array"][0]
    if "order_level" in data:
        parts = (data["order_level"], data.get("demand_until_delivery", 0))
        item["adjusted_order_level"] = sum(Decimal(str(part)) for part in parts)
    if data.get("next_delivery_date"):
        item["delivery_datetimes"] = [data["next_delivery_date"]]
    if data.get("next_ordering_date"):
        item["ordering_datetimes"] = [data["next_ordering_date"]]
    own = select_members(data, _OWN_PRICES)
    return item | ({"aisle": own} if own else {})


def _series_json(values: list[object], keys: list[str] | None) -> str:
    """Return a series as JSON text for the stock entry: an array, or an object if there are keys."""
    return to_json(dict(zip(keys, values, strict=False)) if keys else values)
