"""Stock of products in a store, as a list and single, and in surrounding stores (interface: Store products)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from aisle.contract.request_bodies.extension_bodies import ExtendedStore
from aisle.service.auth.authorization import authorize_store, authorize_stores
from aisle.service.db.database_interface import Row
from aisle.service.db.list_query_builder import Query, filter_query, merge_queries, page_query, search_filter, with_page
from aisle.service.db.statements import stock as sql
from aisle.service.db.statements import stores_and_products as stores_sql
from aisle.service.domain.ordering_schedule import SCHEDULE_FIELDS, UpcomingDates, upcoming_dates_of_store
from aisle.service.domain.quantities_times_and_json import (
    TimeZone,
    format_quantity,
    join_members,
    json_boolean,
    object_members,
    parse_json_object,
    parse_timestamp,
    pool_members,
    quoted,
    select_members,
    text_member,
    to_json,
)
from aisle.service.errors import not_found
from aisle.service.handlers.create_and_list_products import DELETED_COUNTER, lookup_code_keys
from aisle.service.handlers.list_page import (
    MultiStoreList,
    Page,
    count_and_read,
    list_envelope,
    page_key_query,
    parse_scroll_page,
)
from aisle.service.operation_context import Context, OperationCall, ParamValues, Store, split_wire_id, wire_id

_EQUALITY_FILTERS = ("article_no", "product_number", "category_code", "parent_category_code")
# Maximum number of changed products in a filter; for more, the catalogue is searched.
_MAX_NAMED_PRODUCTS = 50
# First column of a balance in a row of the page, after those of the entry.
_BALANCE_COLUMN = 17
_NO_RESERVATIONS: Mapping[int, int] = {}
_PROMOTION_WEEK = '"promotion_week":'


async def list_store_products_stock(ctx: Context, call: OperationCall) -> bytes:
    """List a page of stock entries by id, of one store or of all stores of the token."""
    query, page = call.query, parse_scroll_page(call, (int, int))
    store = await authorize_store(ctx.tx, ctx.principal, query["store_number"]) if "store_number" in query else None
    filters = await _parse_filters(ctx, query, store)
    with_locations = query.get("include_locations", False)
    reads = partial(_read_store, store=store) if store else _read_chain
    total, found = await reads(ctx, page, filters, sql.STOCK_PAGE_WITH_LOCATIONS if with_locations else sql.STOCK_PAGE)
    free_only = query.get("exclude_customer_order_stock", False)
    reserved = await _load_reserved(ctx, (group[0] for group in found)) if free_only else {}
    plans = await _load_plans(ctx, {group[0][0] for group in found})
    groups, more = page.split_rows(found)
    entries = _entries_json(groups, with_locations=with_locations, free_only=free_only, reserved=reserved, plans=plans)
    last = (groups[-1][0][2], groups[-1][0][1]) if groups else None
    return list_envelope(ctx, call, entries, page, total, has_more=more, sort_column="id", last_key=last)


async def _read_store(
    ctx: Context, page: Page, filters: dict[str, object], page_statement: str, *, store: Store
) -> tuple[int | None, list[list[Row]]]:
    """Return the number of a store's entries, and those of a page, each as the rows of its balances."""
    behind, offset = page.add_to_filters(filters), page.offset
    if list(behind) == ["store"] and not await ctx.last_number(store.number, DELETED_COUNTER):
        # Numbers have no gaps if no product was deleted, so the page is found without skipping rows.
        behind, offset = filters | {"beyond": offset, "until": offset + page.limit}, 0
    keys = _key_query(sql.STOCK_KEYS, sql.STOCK_SORT_STORE, behind)
    rows = await with_page(page_query(keys, page.limit, offset), page_statement).all(ctx.tx)
    return await _count_store(ctx, filters, store), _group_by_entry(rows)


async def _count_store(ctx: Context, filters: Mapping[str, object], store: Store) -> int:
    """Return the number of entries in a store's list. Its counters have it if only ids are filtered."""
    if filters.keys() <= {"store", "beyond", "until"}:
        given, deleted = await ctx.tx.one(sql.STOCK_NUMBERS_OF_STORE, store.number) or (0, 0)
        if len(filters) == 1 or not deleted:
            until, beyond = filters.get("until", given or 0), filters.get("beyond", 0)
            assert isinstance(until, int)
            assert isinstance(beyond, int)
            return int(max(0, min(until, given or 0) - max(0, beyond) - (deleted or 0)))
    return await _count_query(filters).fetch_count(ctx.tx)


async def _read_chain(
    ctx: Context, page: Page, filters: dict[str, object], page_statement: str
) -> tuple[int | None, list[list[Row]]]:
    """Return the number of entries in the token's stores, and those of a page."""
    every = partial(_key_query, sql.STOCK_KEYS, "")

    async def read() -> list[list[Row]]:
        keys = await page_key_query(ctx, page, filters, MultiStoreList("store_product", every, _chain_key_query))
        if keys is None:
            return []
        rows = await with_page(keys, page_statement).all(ctx.tx)
        await authorize_stores(ctx.tx, ctx.principal, (row[0] for row in rows))
        return _group_by_entry(rows)

    return await count_and_read(ctx.tx, every(filters), page, read)


def _key_query(select: str, order_by: str, filters: Mapping[str, object]) -> Query:
    """Return the query for keys of entries in list order."""
    if sql.STOCK_CATALOGUE_FILTERS.isdisjoint(filters):
        return filter_query(select, sql.STOCK_FILTERS, filters, order_by)
    return filter_query(sql.STOCK_KEYS_CATALOGUE, sql.STOCK_FILTERS, {**filters, "catalogue": ()}, order_by)


def _chain_key_query(filters: Mapping[str, object], stores: Sequence[str]) -> Query:
    """Return the query for keys over the chain, limited to these stores, if any."""
    if stores:
        return merge_queries(sql.STOCK_CHAIN_KEYS, sql.STOCK_FILTERS, filters, {"store": stores}, sql.STOCK_SORT_CHAIN)
    return _key_query(sql.STOCK_CHAIN_KEYS, sql.STOCK_SORT_CHAIN, filters)


def _count_query(filters: Mapping[str, object]) -> Query:
    if sql.STOCK_CATALOGUE_FILTERS.isdisjoint(filters):
        return filter_query(sql.STOCK_COUNT, sql.STOCK_FILTERS, filters)
    return filter_query(sql.STOCK_COUNT_CATALOGUE, sql.STOCK_FILTERS, {**filters, "catalogue": ()})


async def _parse_filters(ctx: Context, query: ParamValues, store: Store | None) -> dict[str, object]:
    filters: dict[str, object] = select_members(query, _EQUALITY_FILTERS)
    if store:
        filters["store"] = store.number
    elif not ctx.principal.all_stores:
        filters["token"] = ctx.principal.token_id
    if "from_id" in query:
        seq, ordinal = split_wire_id(query["from_id"])
        # For one store use its own numbers, which its index has.
        filters |= {"beyond": seq + (store.ordinal < ordinal) - 1} if store else {"from_id": (seq, ordinal)}
    if "to_id" in query:
        seq, ordinal = split_wire_id(query["to_id"])
        filters |= {"until": seq - (store.ordinal > ordinal)} if store else {"to_id": (seq, ordinal)}
    if "barcode" in query:
        filters["barcode"] = (await lookup_code_keys(ctx.tx, query["barcode"]),)
    filters |= search_filter("search", query.get("search_text", ""))
    if "last_modified_date" in query:
        since = parse_timestamp(query["last_modified_date"], "last_modified_date", ctx.time_zone(store))
        products = await ctx.tx.all(stores_sql.PRODUCTS_MODIFIED_SINCE, since, _MAX_NAMED_PRODUCTS + 1)
        few = len(products) <= _MAX_NAMED_PRODUCTS
        changed = [row[0] for row in products]
        if few and store:
            filters["modified_here"] = (store.number, since, store.number, changed)
        else:
            filters |= {"modified_of_few": (since, changed)} if few else {"modified": since}
    if "last_stock_modified_datetime" in query:
        filters["stock_modified"] = parse_timestamp(
            query["last_stock_modified_datetime"], "last_stock_modified_datetime", ctx.time_zone(store)
        )
    return filters


async def _load_reserved(ctx: Context, rows: Iterable[Row]) -> dict[tuple[str, str], dict[int, int]]:
    """Return the quantities that open lines still need, by store and product, then pool."""
    wanted: defaultdict[str, set[str]] = defaultdict(set)
    for row in rows:
        wanted[row[0]].add(row[3])
    found: defaultdict[tuple[str, str], dict[int, int]] = defaultdict(dict)
    for store, numbers in wanted.items():
        for product, pool, quantity in await ctx.tx.all(sql.RESERVED_QUANTITIES, store, sorted(numbers)):
            found[(store, product)][pool] = quantity
    return found


class OrderingPlan(NamedTuple):
    """Ordering schema of a store, the current time, and its results by category."""

    store: ExtendedStore
    now: float
    zone: TimeZone
    by_category: dict[str, UpcomingDates]

    def missing_fields(self, product_fields: Container[str], category: str) -> dict[str, object]:
        """Return the ordering and delivery times that the product does not have itself."""
        if category not in self.by_category:
            self.by_category[category] = upcoming_dates_of_store(self.store, category, self.now, self.zone)
        found = self.by_category[category]
        return {name: value for name, value in found.items() if name not in product_fields}


async def _load_plans(ctx: Context, stores: Iterable[str]) -> dict[str, OrderingPlan]:
    """Return the plans of the stores that have one."""
    plans = {}
    for number_, _, data in await ctx.tx.all(stores_sql.STORE_ORDINALS, sorted(stores)):
        store_data: ExtendedStore = parse_json_object(data)
        if any(store_data.get(name) for name in SCHEDULE_FIELDS):
            plans[number_] = OrderingPlan(store_data, ctx.now_seconds, ctx.time_zone(number_), {})
    return plans


def _group_by_entry(rows: Iterable[Row]) -> list[list[Row]]:
    """Group rows of balances by entry, in the order of ids."""
    groups: dict[tuple[int, int], list[Row]] = {}
    for row in rows:
        groups.setdefault((row[2], row[1]), []).append(row)
    return [groups[key] for key in sorted(groups)]


def _entries_json(
    groups: Iterable[Sequence[Row]],
    *,
    with_locations: bool,
    free_only: bool,
    reserved: dict[tuple[str, str], dict[int, int]],
    plans: Mapping[str, OrderingPlan],
) -> list[str]:
    """Return stock entries as JSON, each from its rows."""
    entries = []
    for group in groups:
        first = group[0]
        plan = plans.get(first[0]) if plans else None
        text = _entry_json(
            first, *_entry_quantities(group, free_only, reserved), _plan_members(plan, first) if plan else ""
        )
        if with_locations:
            balances = [row[_BALANCE_COLUMN:] for row in group if row[_BALANCE_COLUMN] is not None]
            text += f',"store_locations":[{",".join(stock_locations_json(balances, free_only))}]'
        entries.append(text + "}")
    return entries


def _entry_quantities(
    rows: Sequence[Row], free_only: bool, reserved: Mapping[tuple[str, str], Mapping[int, int]]
) -> tuple[str, str]:
    """Return the quantity of an entry, and the members of its pools."""
    first = rows[0]
    if len(rows) == 1 and not free_only and first[_BALANCE_COLUMN] is not None:
        # Most entries have one balance.
        whole = format_quantity(first[_BALANCE_COLUMN + 1])
        return whole, f',"most_likely_pool_{first[_BALANCE_COLUMN]}":{whole}'
    pools = sum_by_pool(rows, _BALANCE_COLUMN, free_only, reserved.get((first[0], first[3]), _NO_RESERVATIONS))
    return format_quantity(sum(pools.values())), "," + pool_members("most_likely_pool_", pools) if pools else ""


def _plan_members(plan: OrderingPlan, row: Row) -> str:
    """Return the members with ordering and delivery times."""
    category = parse_json_object(row[11]).get("category_code", "")
    beside = object_members(to_json(plan.missing_fields(parse_json_object(row[12]), category)))
    return f",{beside}" if beside else ""


def _entry_json(row: Row, quantity: str, pools: str, plan_members: str) -> str:
    """Return an entry without its locations and closing brace. It is fast, since a page has hundreds."""
    store, ordinal, seq, product, own_stock, is_stock, replenished, price, own_price, common, own = row[:11]
    entry, item, moved, counted, loss_by, receipt_by = row[11:17]
    text = (
        f'{{"id":{wire_id(seq, ordinal)},"store_number":{quoted(store)},"product_number":{quoted(product)},"is_stock":'
        f"{'true' if (is_stock if own_stock is None else own_stock) else 'false'},"
        f'"is_replenishment":{"true" if replenished else "false"},"most_likely_quantity":{quantity}'
    )
    if own_price or price:
        text += f',"price":{own_price or price}'
    if common or own:
        text += _attention_members(common, own)
    text += pools
    if _PROMOTION_WEEK in item and _PROMOTION_WEEK in entry:
        # The store's value replaces the catalogue's.
        entry = to_json({name: value for name, value in parse_json_object(entry).items() if name != "promotion_week"})
    if entry != "{}":
        text += f",{entry[1:-1]}"
    if item != "{}":
        text += f",{item[1:-1]}"
    text += plan_members
    if moved is not None:
        text += f',"most_likely_datetime":{quoted(moved)}'
    if counted is not None:
        text += f',"last_counted_datetime":{quoted(counted)}'
    if loss_by is not None:
        text += f',"last_loss_updatedby":{quoted(loss_by)}'
    if receipt_by is not None:
        text += f',"last_receipt_updatedby":{quoted(receipt_by)}'
    return text


def _attention_members(product_codes: str, store_codes: str) -> str:
    """Return the members with attention codes of the product and of the store."""
    store_member = f',"storeproduct_attention_codes":{quoted(store_codes)}' if store_codes else ""
    return f'{store_member},"attention_codes":{quoted(",".join(code for code in (product_codes, store_codes) if code))}'


def sum_by_pool(rows: Iterable[Row], pool_column: int, free_only: bool, reserved: Mapping[int, int]) -> dict[int, int]:
    """Sum quantities by pool, from rows with pool, quantity and order number at `pool_column`.

    With `free_only` held goods are left out. `reserved` quantities are subtracted.
    """
    pools: dict[int, int] = {}
    for row in rows:
        pool = row[pool_column]
        if pool is not None and not (free_only and row[pool_column + 2]):
            pools[pool] = pools.get(pool, 0) + row[pool_column + 1]
    for pool, quantity in reserved.items():
        pools[pool] = pools.get(pool, 0) - quantity
    return pools


def stock_locations_json(balances: Iterable[Row], free_only: bool, zero_lines: bool = False) -> list[str]:
    """Return stock by location in walking order, from rows of pool, quantity, order, code and location columns."""
    pools_by_location: dict[str, dict[int, int]] = {}
    locations: dict[str, Row] = {}
    for pool, quantity, order, code, *location in balances:
        if not code or (free_only and order):
            continue
        locations[code] = tuple(location)
        pools = pools_by_location.setdefault(code, {})
        pools[pool] = pools.get(pool, 0) + quantity
    walk = sorted(pools_by_location, key=lambda code: (locations[code][2], locations[code][3], code))
    return [
        join_members(
            (
                f'"store_location_code":{quoted(code)},"quantity":{format_quantity(sum(pools_by_location[code].values()))}',
                text_member("default_stock_pool", None if locations[code][0] is None else str(locations[code][0])),
                text_member("carrier_code", locations[code][4] or None),
                pool_members("stock_pool_", pools_by_location[code]),
                f'"tags":{locations[code][1]}',
            )
        )
        for code in walk
        if zero_lines or any(pools_by_location[code].values())
    ]


async def retrieve_store_product_stock(ctx: Context, call: OperationCall) -> bytes:
    """Return the stock of one product; no item if the store does not range it. Raise Refusal (404) if it is unknown."""
    store, product, query = ctx.store_number, call.path["product_number"], call.query
    rows = await ctx.tx.all(sql.STOCK_OF_PRODUCT, store, product)
    if not rows:
        if await ctx.tx.one(stores_sql.PRODUCT_ITEM, product) is None:
            raise not_found(f"There is no product {product}.")
        return b'{"products":[]}'
    free_only = query.get("exclude_customer_order_stock", False)
    balances = [row[2:] for row in rows if row[2] is not None]
    reserved = {}
    if free_only:
        reserved = {pool: wanted for _, pool, wanted in await ctx.tx.all(sql.RESERVED_QUANTITIES, store, [product])}
    pools = sum_by_pool(rows, 2, free_only, reserved)
    settings = _store_settings(parse_json_object(rows[0][0]), parse_json_object(rows[0][1]))
    plan = (await _load_plans(ctx, {store})).get(store)
    if plan:
        settings |= plan.missing_fields(settings, parse_json_object(rows[0][1]).get("category_code", ""))
    parts = [
        f'"product_number":{quoted(product)},"store_number":{quoted(store)},'
        f'"most_likely_stock":{format_quantity(sum(pools.values()))}',
        pool_members("stock_pool_", pools),
        object_members(to_json(settings)),
    ]
    if query.get("include_locations"):
        lines = stock_locations_json(balances, free_only, query.get("include_zero_lines", False))
        parts.append(f'"store_locations":[{",".join(lines)}]')
    return f'{{"products":[{join_members(parts)}]}}'.encode()


def _store_settings(own: Mapping[str, object], product: Mapping[str, object]) -> dict[str, object]:
    found = select_members(own, ("min", "max")) | select_members(
        product, ("edit_min_max_percentage", "is_edit_min_max")
    )
    for field, name in (("next_delivery_date", "delivery"), ("next_ordering_date", "ordering")):
        if own.get(field):
            found[f"next_{name}_datetime"] = own[field]
            found[f"{name}_datetimes"] = [own[field]]
    return found


async def retrieve_store_product_surrounding(ctx: Context, call: OperationCall) -> bytes:
    """Return one sum for each store of the same area and each warehouse, including stores beyond the token's."""
    product = call.path["product_number"]
    rows = await ctx.tx.all(stores_sql.SURROUNDING_STOCK, ctx.store_number, product)
    if not rows and await ctx.tx.one(stores_sql.PRODUCT_ITEM, product) is None:
        raise not_found(f"There is no product {product}.")
    stores: dict[str, tuple[Row, dict[int, int]]] = {}
    for row in rows:
        _, pools = stores.setdefault(row[0], (row, {}))
        if row[5] is not None:
            pools[row[5]] = row[6]
    return f"[{','.join(_surrounding_json(row, pools) for row, pools in stores.values())}]".encode()


def _surrounding_json(row: Row, pools: dict[int, int]) -> str:
    number_, name, is_warehouse, area, item, *_ = row
    return join_members(
        (
            f'"store_number":{quoted(number_)},"store_name":{quoted(name)},"is_warehouse":{json_boolean(is_warehouse)},'
            f'"most_likely_quantity":{format_quantity(sum(pools.values()))}',
            pool_members("most_likely_pool_", pools),
            text_member("area_id", area or None),
            text_member("area_description", parse_json_object(item).get("areaDescription")),
        )
    )
