"""Log of a store's products: pages of entries, and one entry (interface: List store product logs)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from aisle.service.auth.authorization import authorize_store
from aisle.service.db.database_interface import Row
from aisle.service.db.list_query_builder import Query, filter_query, merge_queries, page_query, with_page
from aisle.service.db.statements import logs_and_changes as sql
from aisle.service.domain.quantities_times_and_json import (
    format_timestamp,
    join_members,
    object_members,
    parse_day,
    parse_end_of_day,
    parse_timestamp,
    quoted,
)
from aisle.service.domain.states import NOTHING_TO_REVIEW, REVIEWED
from aisle.service.errors import not_found
from aisle.service.handlers.list_page import (
    MultiStoreList,
    Page,
    count_and_read,
    list_envelope,
    page_key_query,
    parse_scroll_page,
)
from aisle.service.operation_context import Context, OperationCall, ParamValues, Store, split_wire_id, wire_id

# Entries of months that ended longer ago than this are listed only with `is_historic=true`.
HISTORIC_DAYS = 90


async def list_store_product_logs(ctx: Context, call: OperationCall) -> bytes:
    """List a page of log entries by id, of one store or of all stores of the token."""
    query, page = call.query, parse_scroll_page(call, (int, int))
    store = await authorize_store(ctx.tx, ctx.principal, query["store_number"]) if "store_number" in query else None
    zone = ctx.time_zone(store)
    filters: dict[str, object] = {
        name: query[name] for name in ("article_number", "review_status", "reason_code", "reference") if name in query
    }
    if filters.get("review_status") == NOTHING_TO_REVIEW:
        filters["nothing_to_review"] = filters.pop("review_status")
    if query.get("is_reviewed"):
        filters["reviewed"] = REVIEWED
    if "last_modified_date" in query:
        filters["modified_from"] = parse_timestamp(
            parse_day(query["last_modified_date"], "last_modified_date", zone), "last_modified_date", zone
        )
    if "to_modified_date" in query:
        filters["modified_before"] = parse_end_of_day(query["to_modified_date"], "to_modified_date", zone)
    total, found = await (
        _read_store(ctx, page, query, filters, store) if store else _read_chain(ctx, page, query, filters)
    )
    rows, more = page.split_rows(found)
    entries = (_entry_json(row) for row in rows)
    last = rows[-1][:2] if rows else None
    return list_envelope(ctx, call, entries, page, total, has_more=more, sort_column="id", last_key=last)


def _entry_json(row: Row, extra_member: str = "") -> str:
    seq, ordinal, review, updated, item = row
    head = f'"id":{wire_id(seq, ordinal)},"review_status":"{review}","updated_on":{quoted(updated)}'
    return join_members((head, object_members(item), extra_member))


async def retrieve_log_entry(ctx: Context, call: OperationCall) -> bytes:
    """Return one log entry of the store as in the list, with fields that the list lacks, such as pictures of losses.

    Refuse with 404 if the store has no such entry.
    """
    seq, ordinal = split_wire_id(call.query["id"])
    row = await ctx.tx.one(sql.LOG_ENTRY, ctx.store_number, seq)
    if row is None or row[1] != ordinal:
        raise not_found(f"Store {ctx.store_number} has no entry {call.query['id']}.")
    return _entry_json(row[:5], f'"aisle":{row[5]}').encode()


async def _read_chain(
    ctx: Context, page: Page, query: ParamValues, filters: dict[str, object]
) -> tuple[int | None, list[Row]]:
    """Return the number of entries in the token's stores, and those of a page."""
    if not ctx.principal.all_stores:
        filters["token"] = ctx.principal.token_id
    filters |= {name: split_wire_id(query[name]) for name in ("from_id", "to_id") if name in query}
    months: list[str] = []
    if not query.get("is_historic"):
        if filters.keys() <= sql.LOG_MONTH_FILTERS:
            months = _recent_months(ctx)
        else:
            filters["since"] = _recent_months(ctx)[0]
    listed = MultiStoreList("log", partial(_unordered_query, months), partial(_key_query, months))

    async def read() -> list[Row]:
        keys = await page_key_query(ctx, page, filters, listed)
        return sorted(await with_page(keys, sql.LOG_PAGE).all(ctx.tx), key=lambda row: row[:2]) if keys else []

    # A count over a few stores is quicker without the order of the chain.
    every = _unordered_query if "token" in filters else _key_query
    return await count_and_read(ctx.tx, every(months, filters), page, read)


def _key_query(months: Sequence[str], filters: Mapping[str, object], stores: Sequence[str] = ()) -> Query:
    """Return the query for keys of the chain's entries in list order, limited to these months and stores, if any."""
    one_of = {name: values for name, values in (("store", stores), ("month", months)) if values}
    if one_of:
        return merge_queries(sql.LOG_KEYS, sql.LOG_FILTERS, filters, one_of, sql.LOG_SORT_CHAIN)
    return filter_query(sql.LOG_KEYS, sql.LOG_FILTERS, filters, sql.LOG_SORT_CHAIN)


def _unordered_query(months: Sequence[str], filters: Mapping[str, object]) -> Query:
    named = {"months": list(months)} if months else {}
    return filter_query(sql.LOG_KEYS, sql.LOG_FILTERS, {**filters, **named})


async def _read_store(
    ctx: Context, page: Page, query: ParamValues, filters: dict[str, object], store: Store
) -> tuple[int, list[Row]]:
    """Return the number of entries of one store, and those of a page.

    Its numbers have no gaps, so no count is needed without filters.
    """
    first, last = await _number_range(ctx, query, store)
    offset, count = page.offset, partial(filter_query, sql.LOG_COUNT, sql.LOG_FILTERS)
    if filters:
        total = await count(filters | {"store": store.number, "beyond": first - 1, "until": last}).fetch_count(ctx.tx)
    else:
        total, offset = max(0, last - first + 1), 0
        first += page.offset
        last = min(last, max(first, int(page.after_key[0]) + 1 if page.after_key else 0) + page.limit - 1)
    behind = page.add_to_filters(filters | {"store": store.number, "beyond": first - 1, "until": last})
    found = filter_query(sql.LOG_LIST, sql.LOG_FILTERS, behind, sql.LOG_SORT_STORE)
    return total, await page_query(found, page.limit, offset).all(ctx.tx)


async def _number_range(ctx: Context, query: ParamValues, store: Store) -> tuple[int, int]:
    """Return the first and last number of the store's entries, by age and by the requested ids.

    They limit the store's own numbers, so that no entries of other stores are read.
    """
    last = await ctx.last_number(store.number, "log")
    if query.get("is_historic"):  # Older entries were purged.
        row = await ctx.tx.one(sql.LOG_FIRST, store.number)
    else:
        row = await ctx.tx.one(sql.LOG_FIRST_SINCE, store.number, _recent_months(ctx)[0])
    first = row[0] if row else last + 1
    if "from_id" in query:
        seq, ordinal = split_wire_id(query["from_id"])
        first = max(first, seq + (store.ordinal < ordinal))
    if "to_id" in query:
        seq, ordinal = split_wire_id(query["to_id"])
        last = min(last, seq - (store.ordinal > ordinal))
    return first, last


def _recent_months(ctx: Context) -> list[str]:
    """Return the months that are not historic, and the next one, since the clock of another host may be ahead."""
    first, now = (format_timestamp(ctx.now_seconds - days * 86400) for days in (HISTORIC_DAYS, 0))
    begin, end = (int(when[:4]) * 12 + int(when[5:7]) - 1 for when in (first, now))
    return [f"{month // 12:04d}-{month % 12 + 1:02d}" for month in range(begin, end + 2)]
