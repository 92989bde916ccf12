"""What a session reads: exact look-ups of codes, and named windows on the store's data with the outbox laid over them.

Rows are plain mappings with the interface's field names; fractions are Decimal. Everything here works without
locations, without a catalogue, and without a cache at all (then nothing is known).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any

import apsw

from aisle.errors import StorageError
from aisle.jobs.base import Json
from aisle.jobs.codec import to_text
from aisle.jobs.view import Link
from aisle.late import Late
from aisle.local.cache.file import empty_cache, open_cache
from aisle.local.cache.schema import MANY, TOPICS, VERSION
from aisle.local.db import fetch, fetch_one, version
from aisle.local.host.disk import FileId, file_id
from aisle.local.host.home import Home
from aisle.local.reads.laid import Known as Laid
from aisle.local.reads.named import NAMED, Ground
from aisle.local.reads.orders import Shift
from aisle.local.reads.overlay import Overlay
from aisle.local.reads.overlay_goods import Goods
from aisle.local.reads.rows import Found, Result
from aisle.local.reads.standing import Standings
from aisle.local.reads.unread import lacking, unread
from aisle.local.reads.walk import Walk, Walks
from aisle.scan.meaning import PRODUCT, Candidate

if TYPE_CHECKING:
    from aisle.local.cache import prices as cache_prices
    from aisle.local.reads import desk as reads_desk
else:
    cache_prices = Late("aisle.local.cache.prices")
    reads_desk = Late("aisle.local.reads.desk")

_GONE = (apsw.SQLError, apsw.CorruptError, apsw.NotADBError, apsw.CantOpenError, apsw.SchemaChangeError)
"""What a reader meets when the courier makes the cache anew under its feet."""

_FIND = """
SELECT e.value, c.kind, c.key, c.factor, p.name, p.allow_decimal, o.label, m.name, p.unit
FROM json_each(?) e JOIN code c ON c.code = e.value
LEFT JOIN product p ON c.kind = 'product' AND p.product_number = c.key
LEFT JOIN orders o ON c.kind IN ('order', 'reference') AND o.order_number = c.key
LEFT JOIN person m ON c.kind = 'person' AND m.user = c.key
ORDER BY e.key, c.kind, c.key
"""

EVERYTHING = tuple((topic, "") for topic in TOPICS)


class Reads:
    """The cache of a home folder and the outbox on top of it, read only. Not for use from several threads."""

    def __init__(self, home: Home, outbox: apsw.Connection) -> None:
        self._home = home
        self.pools: Mapping[int, str] = {}
        """Stock pools in use, by the settings; empty for those that the store names."""
        self._outbox = outbox
        self._overlay = Overlay(outbox)
        self._goods = Goods(self._overlay)
        self._named = NAMED
        self._shifted: tuple[tuple[int, ...], Shift] | None = None
        self._standings = Standings()
        self._laid: Laid = {}
        self._walks = Walks()
        self._linked: tuple[int, Link, float | None] | None = None
        """The link and the moment of the last answer, as of this version of the cache."""
        self._there = True
        """False while an empty cache in memory stands for the one that nobody has made yet."""
        self.is_outdated = False
        """Whether that one was made by a newer program: nothing of the store is known to this one any more."""
        self._file: FileId = None
        self._openings = 0
        """How often a cache was opened."""
        self._cache = self._opened()

    def _opened(self) -> apsw.Connection:
        """The cache, or an empty one where there is none that this program can read."""
        try:
            found = open_cache(self._home.folder, writer=False)
        except StorageError as error:
            found = self._cache if not self._there else empty_cache()
            self._there, self.is_outdated = False, error.trouble == "newer"
        else:
            self._there, self.is_outdated = True, False
            self._file = file_id(self._home.cache)
        self._openings += 1
        self._shifted = self._linked = None
        self._standings, self._walks = Standings(), Walks()
        return found

    def _open_again(self) -> None:
        self._cache.close()
        self._there = True
        self._cache = self._opened()

    def close(self) -> None:
        """Lets go of the cache; the outbox is the caller's."""
        self._cache.close()

    def _safely(self, read: Callable[[], Any]) -> Any:
        """Runs a read; when the cache is being made anew, once more on what is there then."""
        if not self._there:
            self._cache = self._opened()
        try:
            return read()
        except _GONE:
            self._open_again()
            return read()

    # Codes

    def find(self, keys: Iterable[str]) -> list[Candidate]:
        """All that is stored under any of these keys (`aisle.code_forms.lookup_keys`), in the order of the keys."""
        wanted = list(keys)
        found: list[Candidate] = self._safely(lambda: self._found(wanted))
        return found

    def _found(self, keys: Iterable[str]) -> list[Candidate]:
        wanted = to_text(list(dict.fromkeys(keys)))
        return [_candidate(*row) for row in fetch(self._cache, _FIND, wanted)]

    def priced(self, candidates: list[Candidate]) -> list[Candidate]:
        """The same, with the price of each product for which one is in force without doubt."""
        numbers = [candidate.key for candidate in candidates if candidate.kind == PRODUCT]
        prices: dict[str, Decimal] = self._safely(lambda: cache_prices.prices_of(self._cache, numbers))
        return [candidate._replace(price=prices.get(candidate.key)) for candidate in candidates]

    # Windows

    def query(self, name: str, args: Mapping[str, Json]) -> Result:
        """(rows, how many there are in all) of a named read: see aisle.local.reads.named and aisle.local.reads.desk."""
        rows, total, _ = self.found(name, args)
        return rows, total

    def found(self, name: str, args: Mapping[str, Json]) -> Found:
        """The same, and whether there may be more than are counted."""
        read = self._named.get(name)
        if read is not None:
            result: Result | Found = self._safely(lambda: read(self._ground(), args))
        else:
            result = self._safely(lambda: self._desk.read(name, self._cache, args))
        return Found(*result)

    def _ground(self) -> Ground:
        return Ground(
            home=self._home,
            cache=self._cache,
            outbox=self._outbox,
            overlay=self._overlay,
            goods=self._goods,
            pools=self.pools,
            laid=self._laid,
            find=self._found,
            walk=self._walk,
            shift=self._shift,
            gone=self._gone,
        )

    @cached_property
    def _desk(self) -> reads_desk.Desk:
        return reads_desk.Desk(self._outbox, self._overlay)

    def _gone(self, orders: Iterable[str]) -> set[str]:
        """Those of these orders that were rejected or finished here."""
        standings = self._standings.of(self._cache, self._overlay.orders(), orders)
        return {number for number, standing in standings.items() if standing.is_gone}

    def _shift(self) -> Shift:
        """Reckoned again only when cache or outbox have changed: a list is asked for at every key of a search."""
        stamp = (*self._overlay.stamp(), self._version())
        if self._shifted is None or self._shifted[0] != stamp:
            self._shifted = stamp, self._standings.shift(self._cache, self._overlay.orders(), stamp[-1])
        return self._shifted[1]

    def _walk(self) -> Walk:
        return self._walks.of(self._cache, self._version())

    def _version(self) -> int:
        return int(fetch(self._cache, "PRAGMA data_version")[0][0])

    # What is new

    def data_version(self) -> tuple[int, int]:
        """Changes when another process has written to the cache or the outbox; costs microseconds."""
        return self._safely(self._version), self._overlay.data_version()

    def cache_version(self) -> tuple[int, int]:
        """Changes when another process has written to the cache, or another cache was opened; costs microseconds."""
        version: int = self._safely(self._version)
        return self._openings, version

    def changes(self, since: int) -> tuple[int, list[tuple[str, str]]]:
        """(position, what changed after position `since`): (topic, key) each, once; an empty key is the whole topic.

        Topics: those of aisle.local.cache.schema. Since 0, or from where nobody remembers, everything changed.
        """
        result: tuple[int, list[tuple[str, str]]] = self._safely(lambda: self._changes(since))
        return result

    def _changes(self, since: int) -> tuple[int, list[tuple[str, str]]]:
        there = file_id(self._home.cache)
        if version(self._cache) != VERSION or there not in (None, self._file):  # another has been put in its place
            self._open_again()
        first, last = fetch(self._cache, "SELECT ifnull(min(seq), 0), ifnull(max(seq), 0) FROM change")[0]
        if since == last:
            return since, []
        if since <= 0 or since > last or since < first - 1:
            return last, list(EVERYTHING)
        rows = fetch(self._cache, "SELECT DISTINCT topic, key FROM change WHERE seq > ?", since)
        if len(rows) > MANY:
            rows = list(dict.fromkeys((topic, "") for topic, _ in rows))
        return last, [(str(topic), str(key)) for topic, key in rows]

    def is_complete(self) -> bool:
        """Whether all of the store has been read at least once; False while the first sync is on its way."""
        sql = "SELECT 1 FROM sync WHERE topic = 'full' AND json_extract(cursor, '$.completed') > 0"
        return self._safely(lambda: fetch_one(self._cache, sql)) is not None

    def link(self, now: float) -> Link:
        """The state of the link; `now` in seconds since 1970. What waits and what is doubtful, the outbox counts.

        Read again only when the cache has changed: every frame has it.
        """

        def read() -> tuple[int, Link, float | None]:
            version = self._version()
            if self._linked is not None and self._linked[0] == version:
                return self._linked
            state, last_ok, done, total, why = fetch(
                self._cache, "SELECT state, last_ok, done, total, server FROM link"
            )[0]
            without = tuple(str(why).split(", ")) if state == "partial" else ()
            lists, left_out = lacking(self._cache)
            link = Link(str(state), -1.0, 0, 0, int(done), int(total), without, unread(self._cache))
            return version, link._replace(lacking=lists, left_out=left_out), last_ok

        self._linked = self._safely(read)
        _, link, last_ok = self._linked
        return link if last_ok is None else link._replace(age=max(0.0, now - last_ok))

    def why_refused(self) -> str:
        """Why the link is refused, as it is kept; empty where it is not."""
        rows = self._safely(lambda: fetch(self._cache, "SELECT server FROM link WHERE state = 'refused'"))
        return str(rows[0][0] or "") if rows else ""


def _candidate(
    code: str,
    kind: str,
    key: str,
    factor: str,
    name: str | None,
    decimals: int | None,
    order: str | None,
    who: str | None,
    unit: str | None,
) -> Candidate:
    return Candidate(code, kind, key, name or order or who or key, Decimal(factor), bool(decimals), unit=unit or "")
