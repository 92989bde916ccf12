"""Change cursor of our own service: the orders, products, stores, log reviews and so on that changed since a read.

It only names them: `single_reads` reads the rows, `cache_update` writes them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

from aisle.client.paging import Row
from aisle.client.responses_and_errors import InvalidResponse, to_int64
from aisle.contract.request_encoding import QueryValue, encode_segment
from aisle.courier import notify
from aisle.courier.notify import Topic
from aisle.courier.pull.single_reads import SingleReads
from aisle.courier.service_features_and_lists import read_extension
from aisle.errors import ContractError

CHANGES_CURSOR, MARK_CURSOR = "changes", "changes_mark"
SEEN_CURSOR = "changes_seen"
"""Cursor and mark of the last read changes: some of their rows may be in the cache, but not all."""
PAGE_SIZE = 500
MAX_PAGES = 200
"""Pages of one read; the next read continues there."""
MAX_SINGLE_READS = 200
"""Number of changes of one topic above which its list is read instead of single keys."""
_MAX_PAGE_CHANGES = 10 * PAGE_SIZE
"""Changes of a page above which it is no answer to the request."""
_MAX_TEXT = 1_000
"""Characters of a mark and of a key. A longer one fits in no address."""


class Changes(NamedTuple):
    """Changes since the last read. `cursor` is saved once all of them are in the cache."""

    single_topics: tuple[Topic, ...]
    bulk_topics: tuple[str, ...]
    """Topics with too many changes to name each."""
    cursor: int
    is_restored: bool = False
    """True if the service was restored from an earlier copy and lacks later writes."""
    mark: str = ""
    """Mark of the writes behind the last changes: after a restore other writes may get the same cursor."""
    forgotten: bool = False
    """True if the service no longer has changes that were not read; all lists have to be read again."""


class _Page(NamedTuple):
    cursor: int
    changes: list[Row]
    has_more: bool
    is_restored: bool
    mark: str
    forgotten: bool


class ChangeFeed:
    """Reader of the change feed. Changes that were read and not saved are read again after a restart."""

    def __init__(self, single_reads: SingleReads, known_keys: Callable[[], Sequence[str]] = tuple) -> None:
        """Store the collaborators. `known_keys` returns keys that the service has to know, if it can be asked."""
        self._single_reads = single_reads
        self._known_keys = known_keys
        kept = single_reads.cache.cursor(CHANGES_CURSOR)
        self._since: int | None = kept if isinstance(kept, int) else None
        self._mark = str(single_reads.cache.cursor(MARK_CURSOR) or "")
        seen = single_reads.cache.cursor(SEEN_CURSOR)
        self._seen_position = (
            seen if self.has_position and isinstance(seen, list) and seen != [self._since, self._mark] else None
        )

    @property
    def has_position(self) -> bool:
        """True if there is a position from which changes can be read."""
        return self._since is not None

    async def skip_to_end(self) -> bool:
        """Move to the end of the feed, and return True. A full sync that begins after this misses no change."""
        page = await self._read_page(None, "", ())
        self._since, self._mark, self._seen_position = page.cursor, page.mark, None
        self._save(page.cursor, page.mark)
        return True

    async def read(self) -> Changes:
        """Return the changes since the last position that was advanced to."""
        if (
            self._seen_position is not None
        ):  # changes read by an earlier courier may be lost in a restore, though not those it saved
            page = await self._read_page(int(self._seen_position[0]), str(self._seen_position[1]), self._known_keys())
            if page.is_restored:
                return Changes((), (), page.cursor, True, page.mark)
            self._seen_position = None
        return await self._read_since(self._since or 0, self._mark)

    def advance(self, changes: Changes) -> None:
        """Move the position behind these changes: everything they name has been queued."""
        if (self._since, self._mark) != (changes.cursor, changes.mark):
            self._single_reads.cache.set_cursor(SEEN_CURSOR, [changes.cursor, changes.mark])
        self._since, self._mark, self._seen_position = changes.cursor, changes.mark, None

    def save(self, changes: Changes) -> None:
        """Save the position, so that a restart begins behind these changes."""
        if (self._single_reads.cache.cursor(CHANGES_CURSOR), self._single_reads.cache.cursor(MARK_CURSOR)) != (
            changes.cursor,
            changes.mark,
        ):
            self._save(changes.cursor, changes.mark)

    def _save(self, cursor: int, mark: str) -> None:
        with self._single_reads.cache.transaction():
            self._single_reads.cache.set_cursor(CHANGES_CURSOR, cursor)
            self._single_reads.cache.set_cursor(MARK_CURSOR, mark)

    async def _read_since(self, since: int, mark: str) -> Changes:
        found: dict[str, dict[str, None]] = {}
        more = True
        restored = forgotten = False
        known_keys = self._known_keys()
        page_count = 0
        while more and page_count < MAX_PAGES:
            page_count += 1
            page = await self._read_page(since, mark, known_keys)
            since, mark, more, restored = page.cursor, page.mark, page.has_more, restored or page.is_restored
            forgotten = forgotten or page.forgotten
            for change in page.changes:
                for topic, key in _topics_of_change(change):
                    keys = found.setdefault(topic, {})
                    if _can_be_single(keys):
                        keys[key] = None
        single = [Topic(topic, key) for topic, keys in found.items() if _can_be_single(keys) for key in keys]
        bulk = tuple(topic for topic, keys in found.items() if not _can_be_single(keys))
        return Changes(tuple(single), bulk, since, restored, mark, forgotten)

    async def _read_page(self, since: int | None, mark: str, known: Sequence[str]) -> _Page:
        """Request one page of changes after the cursor `since`; None requests the last cursor only."""
        path = f"/aisle/v1/stores/{encode_segment(self._single_reads.store)}/changes"
        query: dict[str, QueryValue] = {} if since is None else {"since": since, "limit": PAGE_SIZE}
        query |= {"mark": mark} if mark else {}
        query |= {"known": ",".join(known)} if known else {}
        page = await read_extension(self._single_reads.client, "list-changes", path, _parse_page, query)
        if page.has_more and not page.changes:
            raise InvalidResponse("The changes do not end: a page without changes is not the last.")
        if page.has_more and page.cursor <= (since or 0):
            raise InvalidResponse("The changes do not end: the cursor stands still.")
        return page


def _parse_page(body: Any) -> _Page:
    changes = body["changes"]
    if len(changes) > _MAX_PAGE_CHANGES:
        raise ValueError(f"it names {len(changes):,} changes")
    return _Page(
        _parse_cursor(body["cursor"]),
        [change for change in map(dict, changes) if _can_be_requested(str(change.get("key")))],
        bool(body["more"]),
        bool(body.get("restored") or body.get("unknown")),
        _parse_mark(body.get("mark")),
        bool(body.get("forgotten")),
    )


def _can_be_requested(key: str) -> bool:
    """Return True unless a request cannot name this key, which would stop all later reads."""
    try:
        return len(key) <= _MAX_TEXT and bool(encode_segment(key or "-"))
    except ContractError:
        return False


def _parse_cursor(value: Any) -> int:
    number = to_int64(value)
    if number is None:
        raise ValueError(f"{str(value)[:40]} is no cursor")
    return number


def _parse_mark(value: Any) -> str:
    text = str(value or "")
    if len(text) > _MAX_TEXT:
        raise ValueError(f"{text[:40]}… is no mark")
    return text


def _topics_of_change(change: Row) -> tuple[Topic, ...]:
    """Return the topics to read: stock of a product, and its catalogue entry unless only store data changed."""
    name, key = str(change.get("topic")), str(change.get("key"))
    if name == notify.LOG:
        return (Topic(notify.LOG, f"{notify.ENTRY_PREFIX}{key}"),) if key.isascii() and key.isdecimal() else ()
    if name == notify.PRODUCT and change.get("chain") is not False:
        return Topic(notify.PRODUCT, key), Topic(notify.CATALOGUE, key)
    return (Topic(name, "" if name == notify.RECOUNT else key),) if name in notify.ANNOUNCED else ()


def _can_be_single(keys: Collection[str]) -> bool:
    """Return whether the keys of a topic are read one by one."""
    return len(keys) <= MAX_SINGLE_READS
