"""What a store says of its products: min and max, prices, forecast, attention codes (interface: Store products)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

from aisle.service import audit
from aisle.service.amounts import ONE, int32, number, thousandths
from aisle.service.answers import DONE, against_rule
from aisle.service.context import Call, Context, Store
from aisle.service.encode import compact, loaded, without_none
from aisle.service.handlers.products import known_products
from aisle.service.sql import products as sql
from aisle.service.stock.latest import SETTING, keep_said, key_of, said_later, superseded
from aisle.service.times import moment_of_day, parsed
from aisle.service.values import PRICES

Body = dict[str, Any]

# Fields of the request that a stock entry shows under the same name.
_SAME = (
    "demand_until_delivery",
    "order_level",
    "default_salesorder_type",
    "discount_price",
    "is_promotion",
    "promotion_week",
)
_TIMES = {
    "expiry_date_time": "last_expiry_datetime",
    "validate_expiry_date_time": "validate_expiry_datetime",
    "next_delivery_date": "next_delivery_datetime",
    "next_ordering_date": "next_ordering_datetime",
}
_DAYS = ("expiry_date_time", "validate_expiry_date_time")
"""Times that name a day."""
_WHOLE = ("min", "max")
_SERIES = ("average", "forecast", "history")


async def create_store_products(ctx: Context, call: Call) -> bytes:
    """Range products in the store; what it ranges already is updated."""
    items = enumerate(call.body.get("store_products") or [])
    await change(ctx, ctx.here, items, "store_products", levels=True)
    return DONE


async def update_store_products(ctx: Context, call: Call) -> bytes:
    """Change the named fields of products at the store; one that was not ranged is ranged by it."""
    levels = ctx.principal.role == "integration"
    if not levels:
        await _keep_latest(ctx, call.body)
    await change(ctx, ctx.here, enumerate(call.body), "", levels=levels)
    return DONE


async def _keep_latest(ctx: Context, bodies: Iterable[Body]) -> None:
    """Keep when each field was said. Raises Refusal (412) where it is said again after a restore, and another host has
    said something later; what an integrator brings is brought again as a whole, and is no later word."""
    said = {
        key_of(body["product_number"], name): (f"[{index}].{name}", f"{name} of product {body['product_number']}")
        for index, body in enumerate(map(without_none, bodies))
        for name in body
        if name != "product_number"
    }
    for key, said_on in (await said_later(ctx, SETTING, list(said))).items():
        field, what = said[key]
        raise superseded(ctx, what, said_on, field)
    keep_said(ctx, SETTING, said)


def _named(old: Body, said: Body) -> Body:
    return old | said


async def change(
    ctx: Context,
    store: Store,
    bodies: Iterable[tuple[int, Body]],
    field: str,
    *,
    levels: bool = False,
    merged: Callable[[Body, Body], Body] = _named,
) -> None:
    """Store the named fields of products, with their places in the request; one that was not ranged is ranged by it.

    `levels`: min and max are those that local changes start from, and nothing binds them.
    """
    items = [(f"{field}[{index}]", without_none(body)) for index, body in bodies]
    numbers = sorted({item["product_number"] for _, item in items})
    rows = await ctx.tx.all(sql.STORE_PRODUCT_OLD, store.number, numbers)
    old = {row[0]: (row[1], loaded(row[2])) for row in rows}
    catalogue = await known_products(ctx, numbers)
    written: dict[str, Body] = {}
    for place, item in items:
        product = catalogue.get(item["product_number"])
        if product is None:
            raise against_rule(f"There is no product {item['product_number']}.", f"{place}.product_number")
        if item["product_number"] not in old:
            _check_allowed(store, product, f"{place}.product_number")
        before = written.get(item["product_number"]) or old.get(item["product_number"], (0, {}))[1]
        data = _checked(ctx, store, item, place)
        data |= _levels(data) if levels else _local(before, data, product, place)
        written[item["product_number"]] = merged(before, data)
        _check_order(written[item["product_number"]], place)
        _check_series(item, written[item["product_number"]], place)
    await _store(ctx, store, old, written)


def _prices(data: Body) -> Body:
    """What the audit says of a product that a store has not had."""
    return {name: data[name] for name in sorted(PRICES) if name in data}


async def _store(ctx: Context, store: Store, old: dict[str, tuple[int, Body]], written: dict[str, Body]) -> None:
    new = [one for one in written if one not in old]
    changes = [
        audit.Change("store product", one, old[one][1] if one in old else {}, written[one] if one in old else own)
        for one, own in ((one, _prices(data)) for one, data in written.items())
    ]
    await audit.note(ctx, store.number, changes)
    seq = await ctx.take(store.number, "store_product", len(new)) if new else 0
    ids = {one: seq + n for n, one in enumerate(new)}
    await ctx.tx.many(
        sql.STORE_PRODUCT_SET,
        [_row(ctx, store, ids.get(one) or old[one][0], data) for one, data in written.items()],
    )
    for one in written:
        ctx.changed(store.number, "product", one)


def _checked(ctx: Context, store: Store, item: Body, field: str) -> Body:
    """The fields to store. Raises Refusal: 422 where a whole number is needed, 400 a time that is none.

    An empty time takes the stored one away.
    """
    data = dict(item)
    for name in _WHOLE:
        if name in data:
            data[name] = int32(data[name], f"{field}.{name}")
            data["last_minmax_updatedby"] = ctx.app_user or ctx.principal.name
    for name in _TIMES:
        if name in data:
            read = moment_of_day if name in _DAYS else parsed
            data[name] = read(data[name], f"{field}.{name}", ctx.zone(store)) if data[name].strip() else ""
    if "expiry_date_time" in data:
        data["last_expiry_updatedby"] = ctx.app_user or ctx.principal.name
    return data


def _check_order(merged: Body, field: str) -> None:
    if merged.get("min", 0) > merged.get("max", merged.get("min", 0)):
        raise against_rule("min is above max.", f"{field}.min")


def _check_series(said: Body, merged: Body, field: str) -> None:
    """Raises Refusal (422) for a series whose values have not each a key of its own, where it has keys."""
    for name in _SERIES:
        array, keys = f"{name}_array", f"{name}_keys"
        if not (array in said or keys in said) or array not in merged or not merged.get(keys):
            continue
        counts = len(merged[keys]), len(merged[array])
        if counts[0] != counts[1]:
            message = f"{keys} has {counts[0]} and {array} has {counts[1]}: each value has a key of its own."
            raise against_rule(message, f"{field}.{keys if keys in said else array}")
        if len(set(merged[keys])) < counts[0]:
            raise against_rule("A key is there twice: each value has a key of its own.", f"{field}.{keys}")


def _check_allowed(store: Store, product: Body, field: str) -> None:
    """Raises Refusal (422) for a product that this store may not range; an empty list of allowed stores means all."""
    allowed, forbidden = product.get("stores_allowed"), product.get("stores_not_allowed") or ()
    if (allowed and store.number not in allowed) or store.number in forbidden:
        raise against_rule(f"Product {product['product_number']} is not for store {store.number}.", field)


def _levels(data: Body) -> Body:
    """What local changes start from, from now on."""
    return {f"original_{name}": data[name] for name in _WHOLE if name in data}


def _local(before: Body, data: Body, product: Body, field: str) -> Body:
    """The levels before this local change; the first ones are free. Raises Refusal (422) for what it may not change."""
    if product.get("is_edit_replenishment") is False and _differs(before, data, "is_replenishment"):
        message = "Replenishment of this product is not changed in a store."
        raise against_rule(message, f"{field}.is_replenishment")
    original: Body = {}
    for name in _WHOLE:
        if name in data:
            base = f"original_{name}"
            original[base] = before[base] if base in before else data[name]
            if _differs(before, data, name):
                _check_room(name, data[name], original[base], product, f"{field}.{name}")
    return original


def _differs(before: Body, data: Body, name: str) -> bool:
    return name in data and name in before and data[name] != before[name]


def _check_room(name: str, value: int, start: int, product: Body, field: str) -> None:
    """Raises Refusal (422) when a level moves further from its start than the product allows; 0 % allows all."""
    if product.get("is_edit_min_max") is False:
        raise against_rule("min and max of this product are not changed in a store.", field)
    percentage = thousandths(product.get("edit_min_max_percentage", 0), "edit_min_max_percentage")
    room = -(-abs(start) * percentage // (100 * ONE))
    if percentage and abs(value - start) > room:
        share = f"by at most {number(percentage)} % it may be {start - room} to {start + room}"
        raise against_rule(f"{name} was {start}; {share}.", field)


def _row(ctx: Context, store: Store, seq: int, data: Body) -> tuple[object, ...]:
    """A row of `store_product`, in the order of `STORE_PRODUCT_SET`."""
    return (
        store.number,
        data["product_number"],
        seq,
        store.ordinal,
        int(data["is_stock"]) if "is_stock" in data else None,
        int(data.get("is_replenishment", False)),
        compact(data["price"]) if "price" in data else "",
        ",".join(data.get("attention_codes", ())),
        compact(_shown(data)),
        compact(data),
        ctx.now,
    )


def _shown(data: Body) -> Body:
    """What a stock entry shows of the store's own settings."""
    item = {name: data[name] for name in _SAME if name in data}
    item |= {shown: data[name] for name, shown in _TIMES.items() if data.get(name)}
    for name in ("min", "max", "original_min", "original_max", "last_minmax_updatedby", "last_expiry_updatedby"):
        if name in data:
            item[name] = data[name]
    for name in _SERIES:
        if f"{name}_array" in data:
            item[f"{name}_array"] = _series(data[f"{name}_array"], data.get(f"{name}_keys"))
    if data.get("forecast_array"):
        item["forecast"] = data["forecast_array"][0]
    if "order_level" in data:
        parts = (data["order_level"], data.get("demand_until_delivery", 0))
        item["adjusted_order_level"] = sum(Decimal(str(part)) for part in parts)
    if data.get("next_delivery_date"):
        item["delivery_datetimes"] = [data["next_delivery_date"]]
    if data.get("next_ordering_date"):
        item["ordering_datetimes"] = [data["next_ordering_date"]]
    return item


def _series(values: list[Any], keys: list[str] | None) -> str:
    """A series as the text that the stock entry has for it: a JSON array, or an object where there are keys."""
    return compact(dict(zip(keys, values, strict=False)) if keys else values)
