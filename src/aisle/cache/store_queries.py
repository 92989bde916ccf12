"""What waits in a store of this host that a terminal has left: only read, so that nobody waits for its files."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from typing import Any, Final

import apsw

from aisle.cache.order_overlay import Row
from aisle.cache.people_queries import load_person_rights
from aisle.cache.row_values import QueryResult, WindowRows, iso_time, parse_row, pool_quantities, window_bounds
from aisle.cache.schema import AREA_SQL, IS_WAREHOUSE_SQL
from aisle.errors import StorageError
from aisle.host.database import connect, fetch, fetch_one
from aisle.host.store_folder import StoreFolder, TerminalStore, load_terminal_store, visited_stores
from aisle.jobs.job import Json
from aisle.jobs.pages import MAX_COUNTED
from aisle.jobs.view import MissingList, UnusableRows
from aisle.json_codec import to_text
from aisle.outbox.operation_queue import OperationQueue
from aisle.outbox.outcome_reasons import DUPLICATE_KEY
from aisle.search_text import normalise_text

KEPT_S: Final = 3.0
"""So long what was seen of a store counts in a list of many."""


def unfinished_work(store_folder: StoreFolder, user: str = "") -> tuple[int, Sequence[str]]:
    """What is not sent of a store, and the jobs that wait there for this person; nothing where that cannot be read."""
    with suppress(StorageError, apsw.Error):
        if store_folder.outbox.exists():
            with closing(connect(store_folder.outbox, read_only=True)) as outbox:
                return OperationQueue(outbox).pending_counts()[0], open_job_names(
                    outbox, store_folder.store, user
                ) if user else ()
    return 0, ()


def open_job_names(outbox: apsw.Connection, store: str, user: str) -> list[str]:
    """The jobs that a person has left open in a store, oldest first."""
    sql = "SELECT name FROM job WHERE store = ? AND user = ? AND closed IS NULL ORDER BY opened_seq, opened"
    return [str(name) for (name,) in fetch(outbox, sql, store, user)]


class WaitingCounts:
    """How much waits in each of many stores, looked for once in a while."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._counts: dict[StoreFolder, tuple[float, int]] = {}

    def count_waiting(self, store_folder: StoreFolder) -> int:
        """What is not sent of a store."""
        now = self._clock()
        at, count = self._counts.get(store_folder, (float("-inf"), 0))
        if now - at >= KEPT_S:
            count = unfinished_work(store_folder)[0]
            self._counts[store_folder] = now, count
        return count


WAITING_COUNTS: Final = WaitingCounts()
"""Of all that this process shows."""


def count_waiting_in_other_stores(store_folder: StoreFolder, counts: WaitingCounts = WAITING_COUNTS) -> int:
    """What is not sent of other stores that terminals of this host were changed to or from."""
    return sum(
        counts.count_waiting(home)
        for home in visited_stores(store_folder.root, store_folder.base_url)
        if home.store != store_folder.store
    )


LISTS_SHOWN = ("headers", "lines", "locations", "deliveries", "products")
"""Lists of the first sync that pages show, in its order."""

_TABLE_BY_LIST = {
    "headers": "orders",
    "lines": "line",
    "locations": "location",
    "deliveries": "delivery",
    "products": "product",
}

_SYNC_STATE = """
SELECT (SELECT cursor ->> '$.completed' FROM sync WHERE topic = 'full'),
  (SELECT cursor FROM sync WHERE topic = 'full' AND cursor ->> '$.full'),
  EXISTS (SELECT 1 FROM sync WHERE topic = 'logs_span')
"""
"""The cursor only once all is being read: before that it has what somebody wished for."""
_UNREAD_LISTS = """
SELECT value FROM json_each(?1, '$.todo') UNION ALL SELECT value FROM json_each(?1, '$.missing')
UNION ALL SELECT ?1 ->> '$.at.stage'
"""


_MISSING_AND_SKIPPED = (
    "SELECT cursor -> '$.missing', cursor -> '$.reasons', cursor -> '$.left_out' FROM sync WHERE topic = 'full'"
)


def missing_lists(cache: apsw.Connection) -> tuple[tuple[MissingList, ...], tuple[UnusableRows, ...]]:
    """The lists that could not be read when they were last asked for, and rows that could not be used."""
    rows = fetch(cache, _MISSING_AND_SKIPPED)
    missing, reasons, left_out = (json.loads(each or "[]") for each in (rows[0] if rows else ("", "", "")))
    why = {str(name): str(told) for name, told in reasons}
    lists = tuple(MissingList(str(name), why.get(str(name), "")) for name in missing)
    return lists, tuple(
        UnusableRows(str(name), int(rows), str(why), why == DUPLICATE_KEY) for name, rows, why in left_out
    )


def unread_lists(cache: apsw.Connection) -> tuple[str, ...]:
    """Those of `SHOWN_LISTS`, and `logs` for the store's log; empty once all was read. A list that the service would
    never let be read is among them, whatever else was read."""
    completed, cursor, logs = fetch(cache, _SYNC_STATE)[0]
    log = () if logs else ("logs",)
    if completed:
        return (*(name for name in _missing_names(cache) if name in LISTS_SHOWN and not _has_rows(cache, name)), *log)
    left = LISTS_SHOWN if cursor is None else tuple(str(name) for (name,) in fetch(cache, _UNREAD_LISTS, cursor))
    return (*(name for name in LISTS_SHOWN if name in left), *log)


def _missing_names(cache: apsw.Connection) -> tuple[str, ...]:
    return tuple(lack.name for lack in missing_lists(cache)[0])


def _has_rows(cache: apsw.Connection, name: str) -> bool:
    """Whether something of a list has come at some time."""
    return bool(fetch(cache, f"SELECT 1 FROM {_TABLE_BY_LIST[name]} LIMIT 1"))  # noqa: S608 - names of our own tables


DEFAULT_SIZE = 20
"""Rows of a window when nobody says how many."""

MAX_WORDS = 4
"""Words of a search that count."""

MAX_HITS = MAX_COUNTED
"""Stores with some words that are counted; whoever gets as many types another letter."""

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
"""The numbers of the stores that are shown; each has an index. Where the own store has no area, all are near."""

_STORES_BY_NUMBER = (
    "SELECT store_number, raw FROM store WHERE store_number IN (SELECT value FROM json_each(?)) ORDER BY 1"
)
_STORES_PAGE = "SELECT store_number, raw FROM store ORDER BY store_number LIMIT ? OFFSET ?"


def list_stores(cache: apsw.Connection, store_folder: StoreFolder, args: Mapping[str, Json]) -> WindowRows:
    """A window on the stores, by number: `show` (all, near, warehouse, visited), words to `search`, a hundred at most.

    Near are those that the service counts as around: of the same area, and warehouses. Visited are those that terminals
    of this host were changed to or from; they are known here although the list may not have come yet.
    """
    words = [
        f" {word}" if len(word) < 3 else word
        for word in normalise_text(str(args.get("search") or "")).split()[:MAX_WORDS]
    ]
    first, size = window_bounds(args, DEFAULT_SIZE)
    area, been = (
        _area_of_store(cache, store_folder.store),
        {each.store: each for each in visited_stores(store_folder.root, store_folder.base_url)},
    )
    show = str(args.get("show") or "all")
    said: dict[str, Any] = {"here": store_folder.store, "area": area, "visited": to_text(list(been))}
    more = False
    if show == "all" and not words:
        rows = fetch(cache, _STORES_PAGE, size, first)
        total = int(fetch(cache, "SELECT count(*) FROM store")[0][0])
    else:
        numbers = _matching_numbers(cache, "anywhere" if show == "near" and not area else show, words, said)
        more = bool(words) and len(numbers) > MAX_HITS
        numbers = numbers[:MAX_HITS] if words else numbers
        rows = fetch(cache, _STORES_BY_NUMBER, to_text(numbers[first : first + size]))
        total = len(numbers)
    found = [_store_row(str(number), parse_row(str(raw)), store_folder, area, been) for number, raw in rows]
    if show in ("all", "visited"):
        listed = "SELECT store_number FROM store WHERE store_number IN (SELECT value FROM json_each(?))"
        known = {str(number) for (number,) in fetch(cache, listed, said["visited"])} if been else set()
        unlisted = [number for number in been if number not in known and all(word.strip() in number for word in words)]
        begin = max(0, first - total)
        room = max(0, size - len(found))
        found += [_store_row(number, {}, store_folder, area, been) for number in unlisted[begin : begin + room]]
        total += len(unlisted)
    return WindowRows(found, total, more)


def _matching_numbers(cache: apsw.Connection, show: str, words: list[str], values: Mapping[str, Any]) -> list[str]:
    """The numbers of the stores that are shown and have these words; with words no more than one above `MOST`."""
    having = "".join(f" AND instr(text, :w{at})" for at in range(len(words)))
    most = MAX_HITS + 1 if words else -1
    sql = f"{_NUMBERS_BY_FILTER.get(show, _NUMBERS_BY_FILTER['all'])}{having} ORDER BY store_number LIMIT :most"
    asked = {**values, "most": most, **{f"w{at}": word for at, word in enumerate(words)}}
    return [str(number) for (number,) in cache.execute(sql, asked).fetchall()]


def _area_of_store(cache: apsw.Connection, store: str) -> str:
    row = fetch_one(cache, "SELECT raw ->> 'areaId' FROM store WHERE store_number = ?", store)
    return str(row[0] or "") if row else ""


def _store_row(
    number: str, raw: Mapping[str, Any], store_folder: StoreFolder, area: str, visited: Mapping[str, StoreFolder]
) -> Row:
    warehouse = raw.get("isWarhouse") in (True, 1, "true")
    near = warehouse or not area or str(raw.get("areaId") or "") == area
    waits = WAITING_COUNTS.count_waiting(visited[number]) if number in visited and number != store_folder.store else 0
    return {
        "store_number": number,
        "store_name": str(raw.get("storeName") or ""),
        "is_warehouse": warehouse,
        "area": str(raw.get("areaDescription") or raw.get("areaId") or ""),
        "country": str(raw.get("countryCode") or ""),
        "here": number == store_folder.store,
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
"""What the list calls the fields of a store, and what its creation does."""


def load_store_page(
    cache: apsw.Connection, outbox: apsw.Connection, store_folder: StoreFolder, args: Mapping[str, Json]
) -> QueryResult:
    """One store (`store_number`) under the names of its creation, `pools` by number.

    `told`: yes; `unasked` (more may come), `refused`. And what a change to it means for `user` at `terminal`: `may`,
    `waiting` and `jobs` of the store that would be left, `there_waiting` and `there_jobs` of that one; `there_known`:
    whether data of that one are here.
    """
    number = str(args["store_number"])
    row = fetch_one(cache, "SELECT raw FROM store WHERE store_number = ?", number)
    more = fetch_one(cache, "SELECT raw, refused, began FROM store_said WHERE store_number = ?", number)
    been = {each.store: each for each in visited_stores(store_folder.root, store_folder.base_url)}
    if row is None and more is None and number not in been:
        return [], 0
    listed, said = parse_row(row[0]) if row else {}, parse_row(more[0]) if more and more[0] else {}
    named = {_FIELD_NAMES.get(name, name): value for name, value in listed.items()}
    user, note = str(args.get("user") or ""), _terminal_store_note(store_folder, str(args.get("terminal") or ""))
    there = been.get(number)
    waits, jobs = unfinished_work(there, user) if there and number != store_folder.store else (0, ())
    store: Row = {
        **named,
        **said,
        "store_number": number,
        "pools": pool_quantities(listed, "storeStockPool") | pool_quantities(said, "store_stock_pool_"),
        "told": "yes" if said else "refused" if more else "unasked",
        "read_at": iso_time(more[2]) if more else "",
        "here": number == store_folder.store,
        "may": _may_switch(cache, number, user, note),
        "back": bool(note and number == note.configured_store),
        "waiting": OperationQueue(outbox).pending_counts()[0],
        "jobs": open_job_names(outbox, store_folder.store, user),
        "there_known": store_folder._replace(store=number).cache.exists(),
        "there_waiting": waits,
        "there_jobs": list(jobs),
    }
    return [store], 1


def _terminal_store_note(store_folder: StoreFolder, terminal: str) -> TerminalStore | None:
    """Who brought this terminal here, and where it belongs; None where it is at home."""
    note = load_terminal_store(store_folder.root, terminal)
    return note if note and note.store == store_folder.store else None


def _may_switch(cache: apsw.Connection, number: str, user: str, note: TerminalStore | None) -> bool:
    """Whether this person may change this terminal to that store: a supervisor, and whoever brings it back to where it
    belongs or brought it here."""
    if note and (number == note.configured_store or user == note.user):
        return True
    return load_person_rights(cache, user).may_supervise
