"""Whole products of the catalogue: created or replaced, and listed (interface: Products; bodies are assumed).

Single fields and deletion: `product_attributes_prices_and_deletion`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from aisle.barcode_numbers import guessed_keys, index_keys, lookup_keys, split_codes
from aisle.service.auth.authorization import authorize_store
from aisle.service.db.database_interface import Transaction
from aisle.service.db.list_query_builder import Query, filter_query, page_query, search_filter
from aisle.service.db.schema_and_search_index import search_key
from aisle.service.db.statements import logs_and_changes as changes_sql
from aisle.service.db.statements import stores_and_products as sql
from aisle.service.db.statements.stock import STOCK_COUNT_OF_STORE
from aisle.service.domain import log_and_audit_writer
from aisle.service.domain.quantities_times_and_json import (
    INT32_FIELDS,
    parse_int32,
    parse_json_object,
    parse_timestamp,
    rename_members,
    select_members,
    to_json,
)
from aisle.service.errors import SUCCESS, bad_request, to_json_bytes, unprocessable
from aisle.service.handlers.list_page import joined_rows, parse_page
from aisle.service.http.parameters_and_headers import check_code
from aisle.service.http.request_body import PRICE_FIELDS
from aisle.service.operation_context import CHAIN, Context, OperationCall

Body = dict[str, Any]
"""Fields of a product, sent or stored: of each request those that it names."""


def _new_product(number: str) -> Body:
    """Return a product with the defaults of required fields (interface: Product)."""
    return {
        "product_number": number,
        "product_name": number,
        "barcode": "",
        "carrier_item_quantity": 1,
        "edit_min_max_percentage": 0,
        "price_compare_multiplier": 1,
        "shelf_label_quantity": 1,
        "is_active": True,
        "is_stock": True,
        "allow_decimal": False,
    }


# Fields of the product in a stock entry: stored name → name in the entry.
_STOCK_ENTRY_FIELDS = {
    "barcode": "barcode",
    "category_code": "category_code",
    "category_name": "category_name",
    "category_order": "category_order",
    "product_name": "product_description",
    "promotion_week": "promotion_week",
    "purchase_unit_name": "purchase_unit_name",
    "purchase_unit_quantity": "purchase_unit_quantity",
    "referral_product_id": "referral_product",
    "smallest_quantity": "smallest_item_quantity",
    "smallest_product_number": "smallest_product_number",
}
# Fields that a store may set: stored name → name in the product list.
_STORE_VALUE_FIELDS = {
    "price": "price",
    "old_price": "old_price",
    "purchase_price": "purchase_price",
    "special_price": "special_price",
    "discount_price": "promotion_price",
    "is_promotion": "is_promotion",
    "promotion": "promotion",
    "promotion_week": "promotion_week",
}
_AT_ONCE = 100
PRODUCT_COUNTER = "product"
"""Counter of the catalogue's products."""
DELETED_COUNTER = "store_product_gone"
"""Counter of a store's entries that ended with the deletion of their product."""
_DATE_PATTERN = re.compile(r"\d{4}(-?)\d{2}\1\d{2}(?!\d)", re.ASCII)


async def load_products(ctx: Context, numbers: Iterable[str]) -> dict[str, Body]:
    """Return the existing products with these numbers."""
    return {row[0]: parse_json_object(row[1]) for row in await ctx.tx.all(sql.PRODUCTS_BY_NUMBER, sorted(set(numbers)))}


async def create_or_update_products(ctx: Context, call: OperationCall) -> bytes:
    """Create products, or change the named fields of existing ones."""
    bodies: list[Body] = call.body.get("products", [])
    for index, body in enumerate(bodies):
        check_code(body["product_number"], "the number of a product", f"products[{index}].product_number")
        check_name(body, f"products[{index}]")
        _check_date(body, f"products[{index}].deprecation_date")
        _check_int32_fields(body, f"products[{index}]")
        check_sort_orders(body, f"products[{index}]")
    for start in range(0, len(bodies), _AT_ONCE):
        await _write(ctx, bodies[start : start + _AT_ONCE])
    return SUCCESS


async def _write(ctx: Context, bodies: list[Body]) -> None:
    """Write a part of the products, since the rows of all of them would take much memory."""
    known = await load_products(ctx, {body["product_number"] for body in bodies})
    written: dict[str, Body] = {}
    for body in bodies:
        number = body["product_number"]
        fields = body.copy()
        fields.pop("is_store_product", None)  # each store decides by its own entry
        written[number] = (written.get(number) or known.get(number) or _new_product(number)) | fields
    await save_products(ctx, known, written)


def check_name(body: Body, field: str) -> None:
    """Raise Refusal (422) if the product's name is empty."""
    if not body.get("product_name", "-").strip():
        raise unprocessable("A product has a name.", f"{field}.product_name")


def _check_date(body: Body, field: str) -> None:
    """Raise Refusal (400) if the end of sale is not a date. An empty one removes it."""
    text = body.get("deprecation_date", "").strip()
    if text and not _DATE_PATTERN.match(text):
        raise bad_request(f"{text!r} is no date: yyyyMMdd, or an ISO 8601 date or time.", field)
    if text:
        parse_timestamp(text, field)


def _check_int32_fields(body: Body, field: str) -> None:
    """Raise Refusal (422) if a number that is returned as int32 is out of range."""
    for name in sorted(INT32_FIELDS & body.keys()):
        parse_int32(body[name], f"{field}.{name}")


def check_sort_orders(body: Body, field: str) -> None:
    """Raise Refusal (422) if the order of a free field is no int32."""
    for index, one in enumerate(body.get("free_fields", ())):
        parse_int32(one["sort_order"], f"{field}.free_fields[{index}].sort_order")


async def save_products(ctx: Context, stored: dict[str, Body], new: dict[str, Body]) -> None:
    """Store the changed products with their codes, audit them, and mark them as changed."""
    changed = {number: item for number, item in new.items() if to_json(item) != to_json(stored.get(number))}
    await log_and_audit_writer.record_changes(
        ctx,
        CHAIN,
        [
            log_and_audit_writer.AuditChange(
                "product", number, stored.get(number, {}), item if number in stored else _first(item)
            )
            for number, item in changed.items()
        ],
    )
    await ctx.tx.run_many(sql.PRODUCT_SET, [_product_row(item, ctx.now) for item in changed.values()])
    await ctx.tx.run(sql.CODES_DELETE, list(changed))
    await ctx.tx.run_many(
        sql.CODE_ADD, [(code, number) for number, item in changed.items() for code in code_keys_of_product(item)]
    )
    new_count = len(changed.keys() - stored.keys())
    ctx.count_records(new=new_count, changed=len(changed) - new_count, same=len(new) - len(changed))
    change_product_count(ctx, new_count)
    for number in changed:
        ctx.mark_changed(CHAIN, "product", number)


def _first(item: Body) -> dict[str, object]:
    """Return the audited fields of a new product: name, barcode and prices."""
    audited = select_members(item, ("product_name", "barcode", *sorted(PRICE_FIELDS)))
    return {name: value for name, value in audited.items() if value}


def change_product_count(ctx: Context, difference: int) -> None:
    """Add to the number of products in the catalogue."""
    if difference:
        ctx.defer(changes_sql.COUNTER_ADD, [(CHAIN, PRODUCT_COUNTER, difference)])


def code_keys_of_product(product: Body) -> list[str]:
    """Return the keys of all barcodes of a product: its own, further ones, and those of its units."""
    codes = [product.get("barcode", ""), product.get("purchase_unit_barcode", "")]
    codes += split_codes(product.get("barcodes_array", ""))
    codes += [unit.get("unit_barcode", "") for unit in product.get("units", [])]
    return list(dict.fromkeys(key for code in codes for key in index_keys(code)))


async def lookup_code_keys(tx: Transaction, code: str) -> list[str]:
    """Return the keys to look up for a code: the certain ones.

    Return the guessed ones instead if no product has a certain key and exactly one product has a guessed key.
    """
    certain, guessed = list(lookup_keys(code)), list(guessed_keys(code))
    if not guessed or await tx.all(sql.PRODUCTS_OF_CODES, certain):
        return certain
    return guessed if len(await tx.all(sql.PRODUCTS_OF_CODES, guessed)) == 1 else certain


async def find_products_by_codes(tx: Transaction, codes: Iterable[str]) -> dict[str, list[str]]:
    """Return the numbers of the products with each of these codes, by the keys of `lookup_code_keys`."""
    keys = {code: (tuple(lookup_keys(code)), tuple(guessed_keys(code))) for code in codes if code.strip()}
    wanted = sorted({key for certain, guessed in keys.values() for key in (*certain, *guessed)})
    numbers = defaultdict[str, set[str]](set)
    for key, number in await tx.all(sql.CODES_WITH_PRODUCTS, wanted) if wanted else ():
        numbers[key].add(number)

    def products_of(names: Iterable[str]) -> list[str]:
        return sorted({number for name in names for number in numbers.get(name, ())})

    found = {code: (products_of(certain), products_of(guessed)) for code, (certain, guessed) in keys.items()}
    return {
        code: guessed if not certain and len(guessed) == 1 else certain for code, (certain, guessed) in found.items()
    }


async def list_products(ctx: Context, call: OperationCall) -> bytes:
    """List a page of the catalogue by number; with `store_number`, of that store's range."""
    query = call.query
    page = parse_page(query, "page_number" if "page_number" in query else "page_start")
    filters: dict[str, object] = {"known": ()}
    filters |= select_members(query, ("product_number", "category_code"))
    if "is_active" in query:
        filters["is_active"] = int(query["is_active"])
    if "barcode" in query:
        filters["barcode"] = (await lookup_code_keys(ctx.tx, query["barcode"]),)
    filters |= search_filter("search", query.get("search_text", ""))
    if "last_modified_date" in query:
        filters["modified"] = parse_timestamp(
            query["last_modified_date"], "last_modified_date", ctx.time_zone(query.get("store_number"))
        )
    if "store_number" in query:
        filters["store"] = (await authorize_store(ctx.tx, ctx.principal, query["store_number"])).number
    total = await _count_listed(ctx, filters)
    found = filter_query(sql.PRODUCT_LIST, sql.PRODUCT_FILTERS, filters, sql.PRODUCT_SORT)
    rows = [row[0] for row in await page_query(found, page.size, page.offset).all(ctx.tx)]
    if "store_number" in query:
        rows = await _with_store_values(ctx, query["store_number"], rows)
    head = {"page_number": page.number, "page_size": page.size, "total_record_count": total}
    return joined_rows(to_json_bytes(head)[:-1] + b',"records":[', rows, page, b"]}")


async def _count_listed(ctx: Context, filters: dict[str, object]) -> int:
    """Return the number of products. Counters have it for the whole catalogue and a store's whole range."""
    if list(filters) == ["known"]:
        return await ctx.last_number(CHAIN, PRODUCT_COUNTER)
    if list(filters) == ["known", "store"]:
        return await Query(STOCK_COUNT_OF_STORE, (filters["store"],)).fetch_count(ctx.tx)
    return await filter_query(sql.PRODUCT_COUNT, sql.PRODUCT_FILTERS, filters).fetch_count(ctx.tx)


async def _with_store_values(ctx: Context, store_number: str, rows: list[str]) -> list[str]:
    """Return the products with the store's own prices and `is_store_product`."""
    items = [parse_json_object(row) for row in rows]
    numbers = [item["product_number"] for item in items]
    own = {row[0]: parse_json_object(row[2]) for row in await ctx.tx.all(sql.STORE_PRODUCT_DATA, store_number, numbers)}
    found = []
    for item in items:
        store_values = own[item["product_number"]]
        prices = rename_members(store_values, _STORE_VALUE_FIELDS)
        for name in ("old_price", "special_price") if "price" in store_values else ():
            item.pop(name, None)  # that of the catalogue belongs to its price
        found.append(to_json(item | prices | {"is_store_product": True}))
    return found


def searchable_values(value: Any) -> Iterator[object]:
    """Yield all values of a product at any depth, except booleans and nulls."""
    if isinstance(value, (dict, list)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from searchable_values(part)
    elif value is not None and not isinstance(value, bool):
        yield value


def _product_row(item: Body, now: str) -> tuple[object, ...]:
    """Return a row of `product` in the order of `PRODUCT_SET`."""
    group: str = item.get("group_code") or item.get("category_code", "")
    return (
        item["product_number"],
        item["product_name"],
        item["barcode"],
        item.get("category_code", ""),
        item.get("parent_category_code", ""),
        int(item["is_active"]),
        int(item["is_stock"]),
        int(item["allow_decimal"]),
        to_json(item["price"]) if "price" in item else "",
        item.get("attention_code", ""),
        search_key(
            (
                item["product_name"],
                item["barcode"],
                *split_codes(item.get("barcodes_array", "")),
                *code_keys_of_product(item),
            )
        ),
        to_json(rename_members(item, _STOCK_ENTRY_FIELDS) | ({"group_code": group} if group else {})),
        to_json(item),
        now,
        group,
        search_key(searchable_values(item)),
    )


_MAX_LANGUAGES = 10
_NAME_FIELD_PREFIX = "product_name."


def parse_accept_language(text: str) -> list[str]:
    """Return the languages of `accept_language`, best first: `nl-BE, en;q=0.5` becomes nl-be, nl, en."""
    weighed: list[tuple[float, str]] = []
    for part in text.split(",")[:_MAX_LANGUAGES]:
        name, _, options = part.partition(";")
        weight = options.strip().lower().removeprefix("q=")
        try:
            weighed.append((-float(weight or 1), name.strip().lower()))
        except ValueError:
            continue
    found: list[str] = []
    for _, name in sorted(weighed, key=lambda one: one[0]):
        found += [name, name.partition("-")[0]]
    return [name for name in dict.fromkeys(found) if name and name != "*"]


async def translated_names(ctx: Context, accept_language: str | None, numbers: Iterable[str]) -> dict[str, str]:
    """Return the names of those products that have one in an accepted language."""
    languages = parse_accept_language(accept_language or "")
    if not languages:
        return {}
    found: dict[str, str] = {}
    for number, item in (await load_products(ctx, numbers)).items():
        fields = {(field.get("key") or "").lower(): field.get("value") for field in item.get("free_fields") or ()}
        name = next(
            (fields[_NAME_FIELD_PREFIX + one] for one in languages if fields.get(_NAME_FIELD_PREFIX + one)), None
        )
        if name:
            found[number] = name
    return found
