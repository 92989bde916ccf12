"""Parts of products: attributes, prices, discount prices, free fields; and their deletion (interface: Products).

The document shows no bodies of these; ours are in `aisle.contract.models.product_writes` (README: Stores and products).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

from aisle.service import audit
from aisle.service.answers import DONE, against_rule, conflict, dumps, forbidden
from aisle.service.context import CHAIN, Call, Context
from aisle.service.encode import without_none
from aisle.service.handlers import store_products
from aisle.service.handlers.products import GONE, Body, check_sorting, count, keep, known_products
from aisle.service.sql import products as sql
from aisle.service.tokens import enter

Merged = Callable[[Body, Body], Body]
"""What becomes of a product from what was stored and what is said."""

_OF_CHAIN = ("price_compare_unit", "price_compare_multiplier")


async def update_product_attributes(ctx: Context, call: Call) -> bytes:
    """Change the named attributes of products."""
    bodies = _bodies(call)
    await _merge(ctx, enumerate(bodies), lambda old, said: old | said)
    count = len({body["product_number"] for body in bodies})
    return dumps({"data": True, "code": 200, "message": f"Products: {count}.", "status": "success"})


async def create_prices(ctx: Context, call: Call) -> bytes:
    """Set prices in the catalogue, or in the store that a price names; what was the price becomes the old one."""
    await _priced(ctx, call, _with_price, _with_price)
    return DONE


async def create_discount_prices(ctx: Context, call: Call) -> bytes:
    """Set promotion prices in the catalogue, or discount prices in the store that a price names."""
    await _priced(ctx, call, _with_promotion, _with_discount)
    return DONE


async def create_product_free_fields(ctx: Context, call: Call) -> bytes:
    """Set free fields by their keys, in the order of `sort_order`; the others stay."""
    bodies = _bodies(call)
    for index, body in enumerate(bodies):
        check_sorting(body, f"products[{index}]")
    await _merge(ctx, enumerate(bodies), _with_free_fields)
    return DONE


async def delete_products(ctx: Context, call: Call) -> bytes:
    """Delete products from the catalogue and every store; what is not there needs no deleting.

    Raises Refusal (409) while one has stock, is wanted by an order that is not finished, or is on its way to a store.
    """
    known = await known_products(ctx, call.body["product_numbers"])
    numbers = sorted(known)
    for statement, why in (
        (sql.PRODUCTS_STOCKED, "have stock"),
        (sql.PRODUCTS_ORDERED, "are wanted by open orders"),
        (sql.PRODUCTS_COMING, "are on their way to a store"),
    ):
        rows = await ctx.tx.all(statement, numbers)
        if rows:
            raise conflict(f"These products {why}: {', '.join(row[0] for row in rows[:20])}.", "product_numbers")
    await _forget_in_stores(ctx, numbers)
    await ctx.tx.run(sql.CODES_DROP, numbers)
    await ctx.tx.run(sql.PRODUCTS_DELETE, numbers, ctx.now)
    await audit.note(ctx, CHAIN, [audit.Change("product", number, known[number], {}) for number in numbers])
    count(ctx, -len(numbers))
    for number in numbers:
        ctx.changed(CHAIN, "product", number)
    return dumps({"success": True, "message": f"Products deleted: {len(numbers)}."})


async def _forget_in_stores(ctx: Context, numbers: list[str]) -> None:
    ranged: defaultdict[str, list[str]] = defaultdict(list)
    for store_number, number in await ctx.tx.all(sql.STORES_RANGING, numbers):
        ranged[store_number].append(number)
    for store_number, gone in ranged.items():
        await ctx.tx.run(sql.BALANCES_FORGET, store_number, gone)
        await ctx.tx.run(sql.STORE_PRODUCTS_DROP, store_number, gone)
        await ctx.take(store_number, GONE, len(gone))


def _bodies(call: Call) -> list[Body]:
    return [without_none(body) for body in call.body.get("products") or []]


async def _merge(ctx: Context, bodies: Iterable[tuple[int, Body]], merged: Merged) -> None:
    """Store the catalogue's products. Raises Refusal (422) for one that it has not."""
    said = list(bodies)
    known = await known_products(ctx, (body["product_number"] for _, body in said))
    written: dict[str, Body] = {}
    for index, body in said:
        number = body["product_number"]
        old = written.get(number) or known.get(number)
        if old is None:
            raise against_rule(f"There is no product {number}.", f"products[{index}].product_number")
        written[number] = merged(old, body)
    await keep(ctx, known, written)


async def _priced(ctx: Context, call: Call, in_chain: Merged, in_store: Merged) -> None:
    """Prices without a store go to the catalogue, the others to their stores."""
    chain: list[tuple[int, Body]] = []
    stores: defaultdict[str, list[tuple[int, Body]]] = defaultdict(list)
    for index, body in enumerate(_bodies(call)):
        if "store_number" in body:
            _check_own(body, f"products[{index}]")
        store_number = body.pop("store_number", None)
        (chain if store_number is None else stores[store_number]).append((index, body))
    if chain and not ctx.principal.all_stores:
        raise forbidden()
    if chain:
        await _merge(ctx, chain, in_chain)
    for store_number in sorted(stores):
        store = await enter(ctx.tx, ctx.principal, store_number)
        await store_products.change(ctx, store, stores[store_number], "products", merged=in_store)


def _check_own(body: Body, field: str) -> None:
    """Raises Refusal (422) for what no store has of its own."""
    for name in _OF_CHAIN:
        if name in body:
            raise against_rule("No store has one of its own.", f"{field}.{name}")


def _with_price(old: Body, said: Body) -> Body:
    before = {"old_price": old["price"]} if old.get("price", said["price"]) != said["price"] else {}
    return old | before | said


def _with_promotion(old: Body, said: Body) -> Body:
    rest = {name: value for name, value in said.items() if name != "discount_price"}
    return old | {"is_promotion": True, "promotion_price": said["discount_price"]} | rest


def _with_discount(old: Body, said: Body) -> Body:
    return old | {"is_promotion": True} | said


def _with_free_fields(old: Body, said: Body) -> Body:
    fields = {field.get("key"): field for field in old.get("free_fields", ())}
    fields |= {field.get("key"): without_none(field) for field in said["free_fields"]}
    return old | {"free_fields": sorted(fields.values(), key=lambda field: field["sort_order"])}
