"""Changes of single fields of products (attributes, prices, discounts, free fields), and deletion.

Interface: Products. Whole products: `create_and_list_products`.

The document has no bodies for them; see `aisle.contract.request_bodies.products` (README: Stores and products).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

from aisle.service.auth.authorization import authorize_store
from aisle.service.db.statements import stores_and_products as sql
from aisle.service.domain import log_and_audit_writer
from aisle.service.domain.quantities_times_and_json import select_members, subtract_seconds
from aisle.service.errors import SUCCESS, conflict, forbidden, to_json_bytes, unprocessable
from aisle.service.handlers import store_product_settings
from aisle.service.handlers.create_and_list_products import (
    DELETED_COUNTER,
    Body,
    change_product_count,
    check_sort_orders,
    load_products,
    save_products,
)
from aisle.service.operation_context import CHAIN, Context, OperationCall

MergeProduct = Callable[[Body, Body], Body]
"""Merge of a stored product with the fields of a request."""

_PRICES = ("price", "old_price")
_CHAIN_ONLY_FIELDS = ("price_compare_unit", "price_compare_multiplier")


async def update_product_attributes(ctx: Context, call: OperationCall) -> bytes:
    """Change the named attributes of products."""
    bodies = _product_bodies(call)
    await _merge_products(ctx, enumerate(bodies), lambda old, said: old | said)
    count = len({body["product_number"] for body in bodies})
    return to_json_bytes({"data": True, "code": 200, "message": f"Products: {count}.", "status": "success"})


async def create_prices(ctx: Context, call: OperationCall) -> bytes:
    """Set prices in the catalogue, or in the store that a price names. The previous price becomes the old price."""
    await _write_prices(ctx, call, _with_price, _with_store_price)
    return SUCCESS


async def create_discount_prices(ctx: Context, call: OperationCall) -> bytes:
    """Set promotion prices in the catalogue, or discount prices in the store that a price names."""
    await _write_prices(ctx, call, _with_promotion, lambda old, said, _: _with_discount(old, said))
    return SUCCESS


async def create_product_free_fields(ctx: Context, call: OperationCall) -> bytes:
    """Set free fields by their keys, in the order of `sort_order`. Other free fields stay."""
    bodies = _product_bodies(call)
    for index, body in enumerate(bodies):
        check_sort_orders(body, f"products[{index}]")
    await _merge_products(ctx, enumerate(bodies), _with_free_fields)
    return SUCCESS


_EXPECTED_DAYS = 90


async def delete_products(ctx: Context, call: OperationCall) -> bytes:
    """Delete products from the catalogue and all stores. Unknown products are ignored.

    Raise Refusal (409) if one has stock, is on an unfinished order, or is expected in a delivery. What did not come
    within 90 days is not expected any more.
    """
    known = await load_products(ctx, call.body["product_numbers"])
    numbers = sorted(known)
    expected_since = subtract_seconds(ctx.now, _EXPECTED_DAYS * 86400)
    for reason, statement, *args in (
        ("have stock", sql.PRODUCTS_WITH_STOCK),
        ("are wanted by open orders", sql.PRODUCTS_IN_OPEN_ORDERS),
        ("are on their way to a store", sql.PRODUCTS_IN_OPEN_DELIVERIES, expected_since),
    ):
        rows = await ctx.tx.all(statement, numbers, *args)
        if rows:
            raise conflict(f"These products {reason}: {', '.join(row[0] for row in rows[:20])}.", "product_numbers")
    await _delete_in_stores(ctx, numbers)
    await ctx.tx.run(sql.CODES_DELETE, numbers)
    await ctx.tx.run(sql.PRODUCTS_DELETE, numbers, ctx.now)
    await log_and_audit_writer.record_changes(
        ctx, CHAIN, [log_and_audit_writer.AuditChange("product", number, known[number], {}) for number in numbers]
    )
    change_product_count(ctx, -len(numbers))
    for number in numbers:
        ctx.mark_changed(CHAIN, "product", number)
    return to_json_bytes({"success": True, "message": f"Products deleted: {len(numbers)}."})


async def _delete_in_stores(ctx: Context, numbers: list[str]) -> None:
    ranged: defaultdict[str, list[str]] = defaultdict(list)
    for store_number, number in await ctx.tx.all(sql.STORES_RANGING, numbers):
        ranged[store_number].append(number)
    for store_number, deleted in ranged.items():
        await ctx.tx.run(sql.EMPTY_BALANCES_DELETE, store_number, deleted)
        await ctx.tx.run(sql.STORE_PRODUCTS_DELETE, store_number, deleted)
        await ctx.next_numbers(store_number, DELETED_COUNTER, len(deleted))


def _product_bodies(call: OperationCall) -> list[Body]:
    bodies: list[Body] = call.body.get("products", [])
    return bodies


async def _merge_products(ctx: Context, bodies: Iterable[tuple[int, Body]], merge: MergeProduct) -> None:
    """Merge and store products of the catalogue. Raise Refusal (422) for an unknown product."""
    indexed_bodies = list(bodies)
    known = await load_products(ctx, (body["product_number"] for _, body in indexed_bodies))
    written: dict[str, Body] = {}
    for index, body in indexed_bodies:
        number = body["product_number"]
        old = written.get(number) or known.get(number)
        if old is None:
            raise unprocessable(f"There is no product {number}.", f"products[{index}].product_number")
        written[number] = merge(old, body)
    await save_products(ctx, known, written)


async def _write_prices(
    ctx: Context,
    call: OperationCall,
    merge_in_chain: MergeProduct,
    merge_in_store: store_product_settings.MergeStoreProduct,
) -> None:
    """Write prices without a store to the catalogue, others to their stores."""
    chain: list[tuple[int, Body]] = []
    stores: defaultdict[str, list[tuple[int, Body]]] = defaultdict(list)
    for index, body in enumerate(_product_bodies(call)):
        fields = {name: value for name, value in body.items() if name != "store_number"}
        (stores[body["store_number"]] if "store_number" in body else chain).append((index, fields))
    if chain and not ctx.principal.all_stores:
        raise forbidden()
    if chain:
        await _merge_products(ctx, chain, merge_in_chain)
    for store_number in sorted(stores):
        store = await authorize_store(ctx.tx, ctx.principal, store_number)
        for index, body in stores[store_number]:
            _check_store_price(body, f"products[{index}]")
        await store_product_settings.change_store_products(
            ctx, store, stores[store_number], "products", merge=merge_in_store
        )


def _check_store_price(body: Body, field: str) -> None:
    """Raise Refusal (422) for fields that a store cannot have."""
    for name in _CHAIN_ONLY_FIELDS:
        if name in body:
            raise unprocessable(
                f"All stores have the same; leave {name} out where a store is named.", f"{field}.{name}"
            )


def _with_price(old: Body, body: Body) -> Body:
    """Merge a price; the one before becomes the old price, unless the request names another, or 0 for none."""
    before = {"old_price": old["price"]} if old.get("price", body["price"]) != body["price"] else {}
    merged = old | before | body
    return merged if body.get("old_price") != 0 else _without(merged, "old_price")


def _with_store_price(old: Body, body: Body, product: Body) -> Body:
    """Merge a store's own price. Before the first one, the store has the catalogue's price and old price."""
    shown = old if "price" in old else old | select_members(product, _PRICES)
    return _with_price(shown, body)


def _with_promotion(old: Body, body: Body) -> Body:
    """Merge a promotion price; 0 takes it away and ends the promotion."""
    promotion = {"is_promotion": bool(body["discount_price"]), "promotion_price": body["discount_price"]}
    merged = old | promotion | _without(body, "discount_price")
    return merged if body["discount_price"] else _without(merged, "promotion_price")


def _with_discount(old: Body, body: Body) -> Body:
    """Merge a store's discount price; 0 takes it away and ends the promotion."""
    merged = old | {"is_promotion": bool(body["discount_price"])} | body
    return merged if body["discount_price"] else _without(merged, "discount_price")


def _without(body: Body, name: str) -> Body:
    return {key: value for key, value in body.items() if key != name}


def _with_free_fields(old: Body, body: Body) -> Body:
    """Merge free fields by key; a member that a field does not name stays."""
    fields = {field.get("key"): field for field in old.get("free_fields", ())}
    for field in body["free_fields"]:
        key = field.get("key")
        fields[key] = fields.get(key, {}) | field
    return old | {"free_fields": sorted(fields.values(), key=lambda field: field["sort_order"])}
