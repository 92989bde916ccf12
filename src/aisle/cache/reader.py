"""The cache as a session reads it: look-ups of codes, named queries with operations overlaid, and unread lists.

The link (`CacheReader.link`) has the age of the data.

Rows are mappings with the interface's field names; fractions are Decimal. Everything works without locations, without a
catalogue, and without a cache file (then nothing is known).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import apsw

from aisle.cache.code_queries import find_candidates
from aisle.cache.queries import (
    QueryContext,
    QueryResult,
    SortedList,
    WindowRows,
    declare_query,
    empty_cache,
    find_query,
    open_for_reading,
    whole_topics,
)
from aisle.cache.schema import CHANGE_TOPICS, MAX_KEYED_CHANGES, SCHEMA_VERSION
from aisle.cache.stored_row_values import prices_of
from aisle.errors import StorageError
from aisle.host.database import fetch, fetch_one, schema_version
from aisle.host.file_locks import FileId, file_id
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import Args, Json
from aisle.jobs.view import LinkState, MissingList, UnusableRows
from aisle.outbox.operation_record import DUPLICATE_KEY
from aisle.scan.grammar_and_meaning_types import PRODUCT, Candidate

if TYPE_CHECKING:
    from aisle.jobs.row_types.people_stores_and_features import UnreadListsRow


_CACHE_REPLACED = (apsw.SQLError, apsw.CorruptError, apsw.NotADBError, apsw.CantOpenError, apsw.SchemaChangeError)
"""Errors of a reader while the courier replaces the cache."""

ALL_TOPICS = tuple((topic, "") for topic in CHANGE_TOPICS)


class CacheReader:
    """Read-only view of a home folder's cache with the outbox overlaid. Not for use from several threads."""

    def __init__(self, store_folder: StoreFolder, outbox: apsw.Connection) -> None:
        self._store_folder = store_folder
        self.context = QueryContext(store_folder, outbox)
        """Connections and caches of the queries."""
        self._link: tuple[int, LinkState, float | None] | None = None
        """Link state and time of the last answer, for this version of the cache."""
        self._has_file = True
        """False while an empty cache in memory replaces a file that cannot be read or does not exist."""
        self.is_outdated = False
        """True if a newer program made the cache; this one then knows nothing of the store."""
        self._file: FileId = None
        self._open_count = 0
        """Number of times a cache was opened."""
        self._cache = self._open()

    def _open(self) -> apsw.Connection:
        """Open the cache, or an empty one if there is none that this program can read."""
        try:
            found = open_for_reading(self._store_folder.folder)
        except StorageError as error:
            self.is_outdated = error.kind == "newer"
            if not self._has_file:
                return self._cache
            found, self._has_file = empty_cache(), False
        else:
            self._has_file, self.is_outdated = True, False
            self._file = file_id(self._store_folder.cache)
        self._open_count += 1
        self._link = None
        self.context.use_cache(found)
        return found

    def _reopen(self) -> None:
        self._cache.close()
        self._has_file = True
        self._cache = self._open()

    def close(self) -> None:
        """Close the cache; the outbox belongs to the caller."""
        self._cache.close()

    def _read_safely(self, read: Callable[[], Any]) -> Any:
        """Run a read; if the courier replaced the cache meanwhile, reopen it and read once more."""
        if not self._has_file:
            self._cache = self._open()
        try:
            return read()
        except _CACHE_REPLACED:
            self._reopen()
            return read()

    # Codes

    def find(self, keys: Iterable[str]) -> list[Candidate]:
        """Return everything stored under these keys (`barcode_lookup_keys.lookup_keys`), in the order of the keys."""
        key_list = list(keys)
        found: list[Candidate] = self._read_safely(lambda: find_candidates(self._cache, key_list))
        return found

    def with_prices(self, candidates: list[Candidate]) -> list[Candidate]:
        """Return the candidates with the prices of products; None for a product with an unknown price."""
        numbers = [candidate.key for candidate in candidates if candidate.kind == PRODUCT]
        prices: dict[str, Decimal] = self._read_safely(lambda: prices_of(self._cache, numbers))
        return [candidate._replace(price=prices.get(candidate.key)) for candidate in candidates]

    # Windows

    def query(self, name: str, args: Args) -> QueryResult[Json]:
        """Return rows and total number of a named query (see aisle.cache.queries)."""
        rows, total, _ = self.query_window(name, args)
        return rows, total

    def query_window(self, name: str, args: Args) -> WindowRows[Json]:
        """Return rows and total of a named query, and True if there may be more."""
        query = find_query(name)

        def read(args: Args) -> WindowRows[Json]:
            result: QueryResult[Json] = self._read_safely(lambda: query.read(self.context, args))
            return WindowRows(*result)

        if not args.get("order_by") or args["order_by"] in query.sorts:
            return read(args)
        stamp = name, self.cache_version(), self.context.overlay.revision()
        return self.context.keep(SortedList).window(read, args, stamp)

    @contextmanager
    def one_moment(self) -> Iterator[None]:
        """Hold the cache as it stands, so that all reads inside are of one moment, unless the cache is replaced."""
        with suppress(apsw.ConnectionClosedError), self._cache:
            yield

    def _version(self) -> int:
        return self.context.cache_version

    # Changes

    def data_version(self) -> tuple[int, int]:
        """Return a value that changes when another process has written to cache or outbox; takes microseconds."""
        return self._read_safely(self._version), self.context.overlay.data_version()

    def cache_version(self) -> tuple[int, int]:
        """Return a value that changes when another process has written to the cache or another cache was opened.

        It takes microseconds.
        """
        version: int = self._read_safely(self._version)
        return self._open_count, version

    def changes(self, since: int) -> tuple[int, list[tuple[str, str]]]:
        """Return the current position and the distinct changes (topic, key) after `since`; an empty key is the whole
        topic.

        Topics are `schema.CHANGE_TOPICS`. For 0, and for a position that the feed no longer has, everything counts as
        changed.
        """
        result: tuple[int, list[tuple[str, str]]] = self._read_safely(lambda: self._changes(since))
        return result

    def _changes(self, since: int) -> tuple[int, list[tuple[str, str]]]:
        current_file = file_id(self._store_folder.cache)
        if schema_version(self._cache) != SCHEMA_VERSION or current_file not in (
            None,
            self._file,
        ):  # another file was put in its place
            self._reopen()
        first, last = fetch(self._cache, "SELECT ifnull(min(seq), 0), ifnull(max(seq), 0) FROM change")[0]
        if since == last:
            return since, []
        if since <= 0 or since > last or since < first - 1:
            return last, list(ALL_TOPICS)
        rows = fetch(self._cache, "SELECT DISTINCT topic, key FROM change WHERE seq > ?", since)
        if len(rows) > MAX_KEYED_CHANGES:
            rows = list(dict.fromkeys((topic, "") for topic, _ in rows))
        return last, [(str(topic), str(key)) for topic, key in rows]

    def is_complete(self) -> bool:
        """Return True if the whole store was read at least once; False during the first sync."""
        sql = "SELECT 1 FROM sync WHERE topic = 'full' AND json_extract(cursor, '$.completed') > 0"
        return self._read_safely(lambda: fetch_one(self._cache, sql)) is not None

    def link(self, now: float) -> LinkState:
        """Return the state of the link; `now` in seconds since 1970.

        The outbox counts waiting operations and those in doubt. The state is read again only if the cache changed,
        because every frame shows it.
        """

        def read() -> tuple[int, LinkState, float | None]:
            version = self._version()
            if self._link is not None and self._link[0] == version:
                return self._link
            state, last_ok, done, total, server = fetch(
                self._cache, "SELECT state, last_ok, done, total, server FROM link"
            )[0]
            missing = tuple(str(server).split(", ")) if state == "partial" else ()
            lists, left_out = missing_lists(self._cache)
            link = LinkState(str(state), -1.0, 0, 0, int(done), int(total), missing, unread_lists(self._cache))
            return version, link._replace(unreadable_lists=lists, unusable_rows=left_out), last_ok

        self._link = self._read_safely(read)
        _, link, last_ok = self._link
        return link if last_ok is None else link._replace(age_s=max(0.0, now - last_ok))

    def why_refused(self) -> str:
        """Return the reason for which the link is refused, as stored; empty if it is not refused."""
        rows = self._read_safely(lambda: fetch(self._cache, "SELECT server FROM link WHERE state = 'refused'"))
        return str(rows[0][0] or "") if rows else ""


LISTS_SHOWN = ("headers", "lines", "locations", "deliveries", "recounts", "products", "stock")
"""Lists of the first sync that pages show, in the order of the sync."""

LOG_LIST = "logs"
"""Name of the store's log among the lists that were never read."""

_TABLE_BY_LIST = {
    "headers": "orders",
    "lines": "line",
    "locations": "location",
    "deliveries": "delivery",
    "recounts": "recount",
    "products": "product",
    "stock": "stock",
}

_SYNC_STATE = """
SELECT (SELECT cursor ->> '$.completed' FROM sync WHERE topic = 'full'),
  (SELECT cursor FROM sync WHERE topic = 'full' AND cursor ->> '$.full'),
  EXISTS (SELECT 1 FROM sync WHERE topic = 'logs_span')
"""
"""The cursor counts only after a full sync has begun; before, it has requested lists only."""

_UNREAD_LISTS = """
SELECT value FROM json_each(?1, '$.todo') UNION ALL SELECT value FROM json_each(?1, '$.missing')
UNION ALL SELECT ?1 ->> '$.at.stage'
"""

_MISSING_AND_SKIPPED = (
    "SELECT cursor -> '$.missing', cursor -> '$.reasons', cursor -> '$.left_out' FROM sync WHERE topic = 'full'"
)


def missing_lists(cache: apsw.Connection) -> tuple[tuple[MissingList, ...], tuple[UnusableRows, ...]]:
    """Return the lists that could not be read last time, and the rows that could not be used."""
    found = fetch(cache, _MISSING_AND_SKIPPED)
    missing, reasons, left_out = (json.loads(each or "[]") for each in (found[0] if found else ("", "", "")))
    reason_by_list = {str(name): str(reason) for name, reason in reasons}
    lists = tuple(MissingList(str(name), reason_by_list.get(str(name), "")) for name in missing)
    return lists, tuple(
        UnusableRows(str(name), int(count), str(reason), reason == DUPLICATE_KEY) for name, count, reason in left_out
    )


def unread_lists(cache: apsw.Connection) -> tuple[str, ...]:
    """Return the lists of `LISTS_SHOWN` that were never read to the end, and `logs` for the store's log.

    It is empty after a full sync, except for lists that the service has never allowed to be read.
    """
    completed, cursor, logs = fetch(cache, _SYNC_STATE)[0]
    log = () if logs else (LOG_LIST,)
    if completed:
        missing = [each.name for each in missing_lists(cache)[0] if each.name in LISTS_SHOWN]
        first_row = "SELECT 1 FROM {} LIMIT 1"
        return (*(name for name in missing if not fetch(cache, first_row.format(_TABLE_BY_LIST[name]))), *log)
    unread = LISTS_SHOWN if cursor is None else tuple(str(name) for (name,) in fetch(cache, _UNREAD_LISTS, cursor))
    return (*(name for name in LISTS_SHOWN if name in unread), *log)


@declare_query("unread_lists", "", whole_topics())
def query_unread_lists(context: QueryContext, _: Args) -> QueryResult[UnreadListsRow]:
    """Return the lists that were never read to the end."""
    found = unread_lists(context.cache)
    return [{"list": name} for name in found], len(found)
