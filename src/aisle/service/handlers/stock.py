"""Stock of store products, listed and single, and of the stores around (interface: Store products)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from aisle.service.amounts import number
from aisle.service.answers import missing
from aisle.service.barcodes import asked_keys
from aisle.service.context import Call, Context, Store, split_id, wire_id
from aisle.service.encode import (
    compact,
    flag,
    fragment,
    joined,
    loaded,
    member,
    pool_members,
    quoted,
)
from aisle.service.few import Listed, page_keys
from aisle.service.handlers.products import GONE
from aisle.service.ordering import PLANNED, of_store
from aisle.service.pages import Page, envelope, over_stores, scrolled_page
from aisle.service.sql import products as product_sql
from aisle.service.sql import stock as sql
from aisle.service.sql import stores as store_sql
from aisle.service.sql.compose import Query, around, filtered, merged, paged, searched
from aisle.service.storage import Row
from aisle.service.times import parsed
from aisle.service.tokens import enter, enter_all
from aisle.tuples import NamedTuple

_EQUAL = ("article_no", "product_number", "category_code", "parent_category_code")
# So many that were changed are named to the database; of more the catalogue is looked through.
_FEW_PRODUCTS = 50
# Where the columns of a balance begin in a row of the page, after those of the entry.
_BALANCE = 17
_NOTHING: Mapping[int, int] = {}
_WEEK = '"promotion_week":'


async def list_store_products_stock(ctx: Context, call: Call) -> bytes:
    """A page of stock entries by id: of one store, or of all that the token covers."""
    query, page = call.query, scrolled_page(call, (int, int))
    store = await enter(ctx.tx, ctx.principal, query["store_number"]) if "store_number" in query else None
    asked = await _asked(ctx, query, store)
    places = query.get("include_locations", False)
    reads = partial(_of_store, store=store) if store else _of_chain
    total, found = await reads(ctx, page, asked, sql.STOCK_PAGE_PLACES if places else sql.STOCK_PAGE)
    free_only = query.get("exclude_customer_order_stock", False)
    reserved = await _reserved(ctx, (group[0] for group in found)) if free_only else {}
    plans = await _plans(ctx, {group[0][0] for group in found})
    groups, more = page.cut(found)
    entries = _entries(groups, places=places, free_only=free_only, reserved=reserved, plans=plans)
    last = (groups[-1][0][2], groups[-1][0][1]) if groups else None
    return envelope(ctx, call, entries, page, total, more=more, sort="id", last=last)


async def _of_store(
    ctx: Context, page: Page, asked: dict[str, object], rest: str, *, store: Store
) -> tuple[int | None, list[list[Row]]]:
    """How many entries a store has, and those of a page, each as the rows of its balances."""
    behind, offset = page.behind(asked), page.offset
    if list(behind) == ["store"] and not await ctx.last(store.number, GONE):
        # Numbers have no gaps where no product was deleted: the page is known without walking over those before it.
        behind, offset = asked | {"beyond": offset, "until": offset + page.limit}, 0
    keys = _keys(sql.STOCK_KEYS, sql.STOCK_ORDER_STORE, behind)
    rows = await around(paged(keys, page.limit, offset), rest).all(ctx.tx)
    return await _total(ctx, asked, store), _grouped(rows)


async def _total(ctx: Context, asked: Mapping[str, Any], store: Store) -> int:
    """How many entries a store's list has: its counters know it where nothing but ids is asked."""
    if asked.keys() <= {"store", "beyond", "until"}:
        given, gone = await ctx.tx.one(sql.STOCK_NUMBERS, store.number) or (0, 0)
        last = min(asked.get("until", given or 0), given or 0)
        if len(asked) == 1 or not gone:
            return int(max(0, last - max(0, asked.get("beyond", 0)) - (gone or 0)))
    return await _counted(asked).total(ctx.tx)


async def _of_chain(
    ctx: Context, page: Page, asked: dict[str, object], rest: str
) -> tuple[int | None, list[list[Row]]]:
    """The same of all stores of the token."""
    every = partial(_keys, sql.STOCK_KEYS, "")

    async def read() -> list[list[Row]]:
        keys = await page_keys(ctx, page, asked, Listed("store_product", every, _chain_keys))
        if keys is None:
            return []
        rows = await around(keys, rest).all(ctx.tx)
        await enter_all(ctx.tx, ctx.principal, (row[0] for row in rows))
        return _grouped(rows)

    return await over_stores(ctx.tx, every(asked), page, read)


def _keys(head: str, order: str, asked: Mapping[str, object]) -> Query:
    """Where entries are, in the order of a list."""
    if sql.STOCK_CATALOGUE_FILTERS.isdisjoint(asked):
        return filtered(head, sql.STOCK_FILTERS, asked, order)
    return filtered(sql.STOCK_KEYS_CATALOGUE, sql.STOCK_FILTERS, {**asked, "catalogue": ()}, order)


def _chain_keys(asked: Mapping[str, object], stores: Sequence[str]) -> Query:
    """The same over the chain; of these stores, if any are named."""
    if stores:
        return merged(sql.STOCK_CHAIN_KEYS, sql.STOCK_FILTERS, asked, {"store": stores}, sql.STOCK_ORDER_CHAIN)
    return _keys(sql.STOCK_CHAIN_KEYS, sql.STOCK_ORDER_CHAIN, asked)


def _counted(asked: Mapping[str, object]) -> Query:
    if sql.STOCK_CATALOGUE_FILTERS.isdisjoint(asked):
        return filtered(sql.STOCK_COUNT, sql.STOCK_FILTERS, asked)
    return filtered(sql.STOCK_COUNT_CATALOGUE, sql.STOCK_FILTERS, {**asked, "catalogue": ()})


async def _asked(ctx: Context, query: dict[str, Any], store: Store | None) -> dict[str, object]:
    asked: dict[str, object] = {name: query[name] for name in _EQUAL if name in query}
    if store:
        asked["store"] = store.number
    elif not ctx.principal.all_stores:
        asked["token"] = ctx.principal.token_id
    if "from_id" in query:
        seq, ordinal = split_id(query["from_id"])
        # Of one store by its own numbers, which its index has.
        asked |= {"beyond": seq + (store.ordinal < ordinal) - 1} if store else {"from_id": (seq, ordinal)}
    if "to_id" in query:
        seq, ordinal = split_id(query["to_id"])
        asked |= {"until": seq - (store.ordinal > ordinal)} if store else {"to_id": (seq, ordinal)}
    if "barcode" in query:
        asked["barcode"] = (await asked_keys(ctx.tx, query["barcode"]),)
    if "search_text" in query:
        asked |= searched("search", query["search_text"])
    if "last_modified_date" in query:
        since = parsed(query["last_modified_date"], "last_modified_date")
        products = await ctx.tx.all(product_sql.PRODUCTS_SINCE, since, _FEW_PRODUCTS + 1)
        few = len(products) <= _FEW_PRODUCTS
        changed = [row[0] for row in products]
        if few and store:
            asked["modified_here"] = (store.number, since, store.number, changed)
        else:
            asked |= {"modified_of_few": (since, changed)} if few else {"modified": since}
    if "last_stock_modified_datetime" in query:
        field = "last_stock_modified_datetime"
        asked["stock_modified"] = parsed(query[field], field)
    return asked


async def _reserved(ctx: Context, rows: Iterable[Row]) -> dict[tuple[str, str], dict[int, int]]:
    """What open lines still want, by store and product, and pool."""
    wanted: defaultdict[str, set[str]] = defaultdict(set)
    for row in rows:
        wanted[row[0]].add(row[3])
    found: defaultdict[tuple[str, str], dict[int, int]] = defaultdict(dict)
    for store, numbers in wanted.items():
        for product, pool, quantity in await ctx.tx.all(sql.RESERVED, store, sorted(numbers)):
            found[(store, product)][pool] = quantity
    return found


class _Plan(NamedTuple):
    """What a store says of its ordering, now, and what came of it for each category."""

    store: dict[str, Any]
    now: float
    known: dict[str, dict[str, Any]]

    def beside(self, own: Mapping[str, Any], category: str) -> dict[str, Any]:
        """When is ordered and delivered, as far as the product does not say so itself."""
        if category not in self.known:
            self.known[category] = of_store(self.store, category, self.now)
        found = self.known[category]
        return {name: value for name, value in found.items() if name not in own}


async def _plans(ctx: Context, stores: Iterable[str]) -> dict[str, _Plan]:
    """The plans of those stores that have one."""
    plans = {}
    for number_, _, data in await ctx.tx.all(store_sql.STORE_ORDINALS, sorted(stores)):
        said = loaded(data)
        if any(said.get(name) for name in PLANNED):
            plans[number_] = _Plan(said, ctx.seconds, {})
    return plans


def _grouped(rows: Iterable[Row]) -> list[list[Row]]:
    """Rows of one balance each, by entry, in the order of their ids."""
    groups: dict[tuple[int, int], list[Row]] = {}
    for row in rows:
        groups.setdefault((row[2], row[1]), []).append(row)
    return [groups[key] for key in sorted(groups)]


def _entries(
    groups: Iterable[Sequence[Row]],
    *,
    places: bool,
    free_only: bool,
    reserved: dict[tuple[str, str], dict[int, int]],
    plans: Mapping[str, _Plan],
) -> list[str]:
    """Stock entries, from the rows of each."""
    entries = []
    for group in groups:
        first = group[0]
        plan = plans.get(first[0]) if plans else None
        text = _entry(first, *_amounts(group, free_only, reserved), _planned(plan, first) if plan else "")
        if places:
            balances = [row[_BALANCE:] for row in group if row[_BALANCE] is not None]
            text += f',"store_locations":[{",".join(stock_locations(balances, free_only))}]'
        entries.append(text + "}")
    return entries


def _amounts(
    group: Sequence[Row], free_only: bool, reserved: Mapping[tuple[str, str], Mapping[int, int]]
) -> tuple[str, str]:
    """How much there is of an entry, in all and as the members of its pools."""
    first = group[0]
    if len(group) == 1 and not free_only and first[_BALANCE] is not None:
        # As most entries are: all of it lies in one place.
        whole = number(first[_BALANCE + 1])
        return whole, f',"most_likely_pool_{first[_BALANCE]}":{whole}'
    pools = pool_sums(group, _BALANCE, free_only, reserved.get((first[0], first[3]), _NOTHING))
    return number(sum(pools.values())), "," + pool_members("most_likely_pool_", pools) if pools else ""


def _planned(plan: _Plan, row: Row) -> str:
    """When is ordered and delivered, as members."""
    category = loaded(row[11]).get("category_code", "")
    beside = fragment(compact(plan.beside(loaded(row[12]), category)))
    return f",{beside}" if beside else ""


def _entry(row: Row, whole: str, pools: str, planned: str) -> str:
    """An entry without its places and its last brace. There are hundreds in an answer, so it is done in one go."""
    store, ordinal, seq, product, own_stock, is_stock, replenished, price, own_price, common, own = row[:11]
    entry, item, moved, counted, loss_by, receipt_by = row[11:17]
    text = (
        f'{{"id":{wire_id(seq, ordinal)},"store_number":{quoted(store)},"product_number":{quoted(product)},"is_stock":'
        f"{'true' if (is_stock if own_stock is None else own_stock) else 'false'},"
        f'"is_replenishment":{"true" if replenished else "false"},"most_likely_quantity":{whole}'
    )
    if own_price or price:
        text += f',"price":{own_price or price}'
    if common or own:
        text += _attention(common, own)
    text += pools
    if _WEEK in item and _WEEK in entry:
        # The store has its own; a field is told once.
        entry = compact({name: value for name, value in loaded(entry).items() if name != "promotion_week"})
    if entry != "{}":
        text += f",{entry[1:-1]}"
    if item != "{}":
        text += f",{item[1:-1]}"
    text += planned
    if moved is not None:
        text += f',"most_likely_datetime":{quoted(moved)}'
    if counted is not None:
        text += f',"last_counted_datetime":{quoted(counted)}'
    if loss_by is not None:
        text += f',"last_loss_updatedby":{quoted(loss_by)}'
    if receipt_by is not None:
        text += f',"last_receipt_updatedby":{quoted(receipt_by)}'
    return text


def _attention(common: str, own: str) -> str:
    """What is to be minded of a product, and what of it in this store."""
    mine = f',"storeproduct_attention_codes":{quoted(own)}' if own else ""
    return f'{mine},"attention_codes":{quoted(",".join(code for code in (common, own) if code))}'


def pool_sums(rows: Iterable[Row], at: int, free_only: bool, reserved: Mapping[int, int]) -> dict[int, int]:
    """Σ by pool of rows with pool (None: no balance), quantity, order number from this column on; without held and
    reserved goods if asked."""
    pools: dict[int, int] = {}
    for row in rows:
        pool = row[at]
        if pool is not None and not (free_only and row[at + 2]):
            pools[pool] = pools.get(pool, 0) + row[at + 1]
    for pool, quantity in reserved.items():
        pools[pool] = pools.get(pool, 0) - quantity
    return pools


def stock_locations(balances: Iterable[Row], free_only: bool, zero_lines: bool = False) -> list[str]:
    """Stock location entries in walking order, from rows that go on with place, its default pool, tags and order."""
    spots: dict[str, dict[int, int]] = {}
    about: dict[str, Row] = {}
    for pool, quantity, order, code, *place in balances:
        if not code or (free_only and order):
            continue
        about[code] = tuple(place)
        pools = spots.setdefault(code, {})
        pools[pool] = pools.get(pool, 0) + quantity
    walk = sorted(spots, key=lambda code: (about[code][2], about[code][3], code))
    return [
        joined(
            (
                f'"store_location_code":{quoted(code)},"quantity":{number(sum(spots[code].values()))}',
                member("default_stock_pool", None if about[code][0] is None else str(about[code][0])),
                member("carrier_code", about[code][4] or None),
                pool_members("stock_pool_", spots[code]),
                f'"tags":{about[code][1]}',
            )
        )
        for code in walk
        if zero_lines or any(spots[code].values())
    ]


async def retrieve_store_product_stock(ctx: Context, call: Call) -> bytes:
    """The stock of one product; no item when the store does not range it. Raises Refusal (404): unknown product."""
    store, product, query = ctx.here.number, call.path["product_number"], call.query
    rows = await ctx.tx.all(sql.SINGLE_STOCK, store, product)
    if not rows:
        if await ctx.tx.one(product_sql.PRODUCT_ITEM, product) is None:
            raise missing(f"There is no product {product}.")
        return b'{"products":[]}'
    free_only = query.get("exclude_customer_order_stock", False)
    balances = [row[2:] for row in rows if row[2] is not None]
    reserved = {}
    if free_only:
        reserved = {pool: wanted for _, pool, wanted in await ctx.tx.all(sql.RESERVED, store, [product])}
    pools = pool_sums(rows, 2, free_only, reserved)
    settings = _settings(loaded(rows[0][0]), loaded(rows[0][1]))
    plan = (await _plans(ctx, {store})).get(store)
    if plan:
        settings |= plan.beside(settings, loaded(rows[0][1]).get("category_code", ""))
    parts = [
        f'"product_number":{quoted(product)},"store_number":{quoted(store)},'
        f'"most_likely_stock":{number(sum(pools.values()))}',
        pool_members("stock_pool_", pools),
        fragment(compact(settings)),
    ]
    if query.get("include_locations"):
        lines = stock_locations(balances, free_only, query.get("include_zero_lines", False))
        parts.append(f'"store_locations":[{",".join(lines)}]')
    return f'{{"products":[{joined(parts)}]}}'.encode()


def _settings(own: dict[str, Any], product: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {name: own[name] for name in ("min", "max") if name in own}
    found |= {name: product[name] for name in ("edit_min_max_percentage", "is_edit_min_max") if name in product}
    for field, name in (("next_delivery_date", "delivery"), ("next_ordering_date", "ordering")):
        if own.get(field):
            found[f"next_{name}_datetime"] = own[field]
            found[f"{name}_datetimes"] = [own[field]]
    return found


async def retrieve_store_product_surrounding(ctx: Context, call: Call) -> bytes:
    """One sum for each store of the same area and each warehouse, also where the token may not work."""
    product = call.path["product_number"]
    rows = await ctx.tx.all(store_sql.SURROUNDING, ctx.here.number, product)
    if not rows and await ctx.tx.one(product_sql.PRODUCT_ITEM, product) is None:
        raise missing(f"There is no product {product}.")
    stores: dict[str, tuple[Row, dict[int, int]]] = {}
    for row in rows:
        _, pools = stores.setdefault(row[0], (row, {}))
        if row[5] is not None:
            pools[row[5]] = row[6]
    return f"[{','.join(_around(row, pools) for row, pools in stores.values())}]".encode()


def _around(row: Row, pools: dict[int, int]) -> str:
    number_, name, is_warehouse, area, item, *_ = row
    return joined(
        (
            f'"store_number":{quoted(number_)},"store_name":{quoted(name)},"is_warehouse":{flag(is_warehouse)},'
            f'"most_likely_quantity":{number(sum(pools.values()))}',
            pool_members("most_likely_pool_", pools),
            member("area_id", area or None),
            member("area_description", loaded(item).get("areaDescription")),
        )
    )
