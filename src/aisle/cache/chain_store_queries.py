"""Queries on the stores of the chain, and on work waiting in other stores of this host."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Final, cast

import apsw

from aisle.cache.people_and_claim_queries import load_person_rights
from aisle.cache.pools_and_locations_of_rows import pool_quantities, used_pools
from aisle.cache.queries import (
    QueryContext,
    QueryResult,
    WindowRows,
    declare_query,
    topic_of,
    whole_topics,
    window_bounds,
)
from aisle.cache.schema import AREA_SQL, IS_WAREHOUSE_SQL
from aisle.cache.stored_row_values import Row, iso_time, parse_row
from aisle.errors import StorageError
from aisle.host.database import connect, fetch, fetch_one
from aisle.host.store_and_database_folders import StoreFolder
from aisle.host.switched_terminals_and_visited_stores import TerminalStore, load_terminal_store, visited_stores
from aisle.jobs.job import Args, Json
from aisle.jobs.list_cursor_and_search import MAX_COUNTED
from aisle.named_tuple_json import to_text
from aisle.outbox.operation_queue import OperationQueue
from aisle.search_text import normalise_text

if TYPE_CHECKING:
    from aisle.jobs.row_types.people_stores_and_features import StorePageRow, StoreRow, StoresRow

KEPT_S: Final = 3.0
"""Seconds for which the counts of another store are kept."""


def unfinished_work(store_folder: StoreFolder, user: str = "") -> tuple[int, Sequence[str]]:
    """Return the number of unsent operations of a store, and this person's open jobs there; (0, ()) if unreadable."""
    with suppress(StorageError, apsw.Error):
        if store_folder.outbox.exists():
            with closing(connect(store_folder.outbox, read_only=True)) as outbox:
                return OperationQueue(outbox).pending_counts()[0], open_job_names(
                    outbox, store_folder.store, user
                ) if user else ()
    return 0, ()


def open_job_names(outbox: apsw.Connection, store: str, user: str) -> list[str]:
    """Return the jobs that a person has left open in a store, oldest first."""
    sql = "SELECT name FROM job WHERE store = ? AND user = ? AND closed IS NULL ORDER BY opened_seq, opened"
    return [str(name) for (name,) in fetch(outbox, sql, store, user)]


class WaitingCounts:
    """Cached numbers of waiting operations by store."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._counts: dict[StoreFolder, tuple[float, int]] = {}

    def count_waiting(self, store_folder: StoreFolder) -> int:
        """Return the number of unsent operations of a store, at most `KEPT_S` old."""
        now = self._clock()
        at, count = self._counts.get(store_folder, (float("-inf"), 0))
        if now - at >= KEPT_S:
            count = unfinished_work(store_folder)[0]
            self._counts[store_folder] = now, count
        return count


WAITING_COUNTS: Final = WaitingCounts()
"""Counts of this process."""


def count_waiting_in_other_stores(store_folder: StoreFolder, counts: WaitingCounts = WAITING_COUNTS) -> int:
    """Return the number of unsent operations of other stores that terminals of this host were switched to or from."""
    return sum(
        counts.count_waiting(home)
        for home in visited_stores(store_folder.root, store_folder.base_url)
        if home.store != store_folder.store
    )


MAX_WORDS = 4
"""Greatest number of words of a search; further ones are ignored."""

_NUMBERS_WHERE = "SELECT store_number FROM store WHERE {}"
_NUMBERS_BY_FILTER = {
    "all": "SELECT store_number FROM store INDEXED BY store_words WHERE 1",
    "warehouse": _NUMBERS_WHERE.format(IS_WAREHOUSE_SQL),
    "near": _NUMBERS_WHERE.format(
        f"store_number <> :here AND store_number IN ({_NUMBERS_WHERE.format(f'{AREA_SQL} = :area')}"
        f" UNION {_NUMBERS_WHERE.format(IS_WAREHOUSE_SQL)})"
    ),
    "anywhere": "SELECT store_number FROM store INDEXED BY store_words WHERE store_number <> :here",
    "visited": _NUMBERS_WHERE.format("store_number IN (SELECT value FROM json_each(:visited))"),
}
"""Queries for the numbers of the stores of a filter; each has an index. If the own store has no area, all are near."""

_STORES_BY_NUMBER = (
    "SELECT store_number, raw FROM store WHERE store_number IN (SELECT value FROM json_each(?)) ORDER BY 1"
)
_STORES_PAGE = "SELECT store_number, raw FROM store ORDER BY store_number LIMIT ? OFFSET ?"


@declare_query("stores", "search show first size", whole_topics("store"))
def list_stores(context: QueryContext, args: Args) -> WindowRows[StoresRow]:
    """Return a window on the stores, by number: `show` (all, near, warehouse, visited), words to `search`.

    Near are those that the service counts as surrounding: the same area, and warehouses. Visited are those that
    terminals of this host were switched to or from; they are listed even if the list of stores lacks them. A search has
    at most `MAX_COUNTED` hits.
    """
    cache, store_folder = context.cache, context.store_folder
    words = [
        f" {word}" if len(word) < 3 else word
        for word in normalise_text(str(args.get("search") or "")).split()[:MAX_WORDS]
    ]
    first, size = window_bounds(args)
    area, visited = (
        _area_of_store(cache, store_folder.store),
        {each.store: each for each in visited_stores(store_folder.root, store_folder.base_url)},
    )
    show = str(args.get("show") or "all")
    values = {"here": store_folder.store, "area": area, "visited": to_text(list(visited))}
    more = False
    if show == "all" and not words:
        rows = fetch(cache, _STORES_PAGE, size, first)
        total = int(fetch(cache, "SELECT count(*) FROM store")[0][0])
    else:
        numbers = _matching_numbers(cache, "anywhere" if show == "near" and not area else show, words, values)
        more = bool(words) and len(numbers) > MAX_COUNTED
        numbers = numbers[:MAX_COUNTED] if words else numbers
        rows = fetch(cache, _STORES_BY_NUMBER, to_text(numbers[first : first + size]))
        total = len(numbers)
    found = [_store_row(str(number), parse_row(str(raw)), store_folder, area, visited) for number, raw in rows]
    if show in ("all", "visited"):
        listed = "SELECT store_number FROM store WHERE store_number IN (SELECT value FROM json_each(?))"
        listed_numbers = {str(number) for (number,) in fetch(cache, listed, values["visited"])} if visited else set()
        unlisted = [
            number
            for number in visited
            if number not in listed_numbers and all(word.strip() in number for word in words)
        ]
        skip = max(0, first - total)
        free_rows = max(0, size - len(found))
        found += [_store_row(number, {}, store_folder, area, visited) for number in unlisted[skip : skip + free_rows]]
        total += len(unlisted)
    return WindowRows(found, total, more)


def _matching_numbers(cache: apsw.Connection, show: str, words: list[str], values: Mapping[str, Json]) -> list[str]:
    """Return the numbers of the stores of a filter with these words; with words at most `MAX_COUNTED` + 1."""
    has_words = "".join(f" AND instr(text, :w{at})" for at in range(len(words)))
    limit = MAX_COUNTED + 1 if words else -1
    sql = f"{_NUMBERS_BY_FILTER.get(show, _NUMBERS_BY_FILTER['all'])}{has_words} ORDER BY store_number LIMIT :most"
    all_values = {**values, "most": limit, **{f"w{at}": word for at, word in enumerate(words)}}
    return [str(number) for (number,) in cache.execute(sql, all_values).fetchall()]


def _area_of_store(cache: apsw.Connection, store: str) -> str:
    row = fetch_one(cache, "SELECT raw ->> 'areaId' FROM store WHERE store_number = ?", store)
    return str(row[0] or "") if row else ""


def _store_row(
    number: str, raw: Row, store_folder: StoreFolder, area: str, visited: Mapping[str, StoreFolder]
) -> StoresRow:
    warehouse = raw.get("isWarhouse") in (True, 1, "true")
    near = warehouse or not area or str(raw.get("areaId") or "") == area
    waits = WAITING_COUNTS.count_waiting(visited[number]) if number in visited and number != store_folder.store else 0
    return {
        "store_number": number,
        "store_name": str(raw.get("storeName") or ""),
        "is_warehouse": warehouse,
        "area": str(raw.get("areaDescription") or raw.get("areaId") or ""),
        "country": str(raw.get("countryCode") or ""),
        "is_current": number == store_folder.store,
        "near": near and number != store_folder.store,
        "waiting": waits,
    }


_FIELD_NAMES = {
    "storeNo": "store_number",
    "storeName": "store_name",
    "areaId": "area_id",
    "areaDescription": "area_description",
    "countryCode": "country_code",
    "isWarhouse": "is_warehouse",
    "inventLocation": "invent_location",
    "legalEntity": "legal_entity",
    "lastOrderLineExportedOn": "last_order_line_exported_on",
}
"""Names of a store's fields in its creation, by those of the list."""


@declare_query("store_page", "store_number user terminal", topic_of("store", "store_number"))
def load_store_page(context: QueryContext, args: Args) -> QueryResult[StorePageRow]:
    """Return one store (`store_number`), with what its switch by `user` at `terminal` needs to know."""
    cache, outbox, store_folder = context.cache, context.outbox, context.store_folder
    number = str(args["store_number"])
    row = fetch_one(cache, "SELECT raw FROM store WHERE store_number = ?", number)
    more = fetch_one(cache, "SELECT raw, refused, read_began FROM store_details WHERE store_number = ?", number)
    visited = {each.store: each for each in visited_stores(store_folder.root, store_folder.base_url)}
    if row is None and more is None and number not in visited:
        return [], 0
    listed, details = parse_row(row[0]) if row else {}, parse_row(more[0]) if more and more[0] else {}
    named = {_FIELD_NAMES.get(name, name): value for name, value in listed.items()}
    user, note = str(args.get("user") or ""), _terminal_store_note(store_folder, str(args.get("terminal") or ""))
    other_store = visited.get(number)
    waits, jobs = unfinished_work(other_store, user) if other_store and number != store_folder.store else (0, ())
    own_fields = {
        "store_number": number,
        "pools": pool_quantities(listed, "storeStockPool") | pool_quantities(details, "store_stock_pool_"),
        "details": "yes" if details else "refused" if more else "unasked",
        "read_at": iso_time(more[2]) if more else "",
        "is_current": number == store_folder.store,
        "may_switch": _may_switch(cache, number, user, note),
        "back": bool(note and number == note.configured_store),
        "waiting": OperationQueue(outbox).pending_counts()[0],
        "jobs": open_job_names(outbox, store_folder.store, user),
        "there_known": store_folder._replace(store=number).cache.exists(),
        "there_waiting": waits,
        "there_jobs": list(jobs),
    }
    return [cast("StorePageRow", {**named, **details, **own_fields})], 1


def _terminal_store_note(store_folder: StoreFolder, terminal: str) -> TerminalStore | None:
    """Return the note on the switch that brought this terminal here; None if it is at its configured store."""
    note = load_terminal_store(store_folder.root, terminal)
    return note if note and note.store == store_folder.store else None


def _may_switch(cache: apsw.Connection, number: str, user: str, note: TerminalStore | None) -> bool:
    """Return True if this person may switch this terminal to that store.

    Supervisors may, and everybody to the configured store; so may the person who switched it here.
    """
    if note and (number == note.configured_store or user == note.user):
        return True
    return load_person_rights(cache, user).may_supervise


@declare_query("store", "store_number", topic_of("store", "store_number"))
def query_store(context: QueryContext, args: Args) -> QueryResult[StoreRow]:
    """Return name and pools of a store; without `store_number` of this one."""
    number = str(args.get("store_number") or context.store_folder.store)
    row = fetch_one(context.cache, "SELECT raw FROM store WHERE store_number = ?", number)
    configured = context.pools if number == context.store_folder.store else {}
    if row is None and not configured:
        return [], 0
    raw = parse_row(row[0]) if row else {}
    store: StoreRow = {
        "store_number": number,
        "store_name": raw.get("storeName"),
        "is_warehouse": bool(raw.get("isWarhouse")),
        "pools": used_pools(pool_quantities(raw, "storeStockPool"), configured),
    }
    return [store], 1
