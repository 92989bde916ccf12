"""The change cursor of our own service: which orders, products, places and stores changed since the last look."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aisle.client.errors import AnswerError, status_error
from aisle.contract.wire import QueryValue, encode_segment
from aisle.courier.pull.single import Pull
from aisle.courier.topics import CATALOGUE, PRODUCT, RECOUNT, Topic
from aisle.tuples import NamedTuple

CURSOR = "changes"
LIMIT = 500
BULK = 200
"""More changes of one topic than this are read as a list, not one by one."""


class News(NamedTuple):
    """What changed. `cursor` is to be kept once all of it is in the cache, or is sure to get there."""

    single: tuple[Topic, ...]
    bulk: tuple[str, ...]
    """Topics of which too much changed to be named."""
    cursor: int
    restored: bool = False
    """The service is an earlier copy of itself: what it was told since is not in it."""


class _Page(NamedTuple):
    cursor: int
    changes: list[dict[str, Any]]
    more: bool
    restored: bool


class ChangeFeed:
    """Follows the cursor. What was looked at and not kept is looked at again after a restart."""

    def __init__(self, pull: Pull) -> None:
        self._pull = pull
        kept = pull.cache.cursor(CURSOR)
        self._since: int | None = kept if isinstance(kept, int) else None

    @property
    def primed(self) -> bool:
        """Whether there is a position from which changes can be told."""
        return self._since is not None

    async def prime(self) -> bool:
        """Goes to the end of the feed: a full sync that begins after this misses nothing."""
        self._since = (await self._page(None)).cursor
        self._pull.cache.set_cursor(CURSOR, self._since)
        return True

    async def look(self) -> News:
        """What changed since the last look whose news was taken."""
        return await self._look(self._since or 0)

    def took(self, news: News) -> None:
        """All that it asks for is under way: the next look begins behind it."""
        self._since = news.cursor

    def keep(self, news: News) -> None:
        """A restart begins behind this news."""
        if self._pull.cache.cursor(CURSOR) != news.cursor:
            self._pull.cache.set_cursor(CURSOR, news.cursor)

    async def _look(self, since: int) -> News:
        found: dict[str, dict[str, None]] = {}
        more = True
        restored = False
        while more:
            page = await self._page(since)
            since, more, restored = page.cursor, page.more, restored or page.restored
            for change in page.changes:
                for topic in _topics_of(change):
                    keys = found.setdefault(topic, {})
                    if len(keys) <= BULK:
                        keys["" if topic == RECOUNT else str(change.get("key"))] = None
        single = [Topic(topic, key) for topic, keys in found.items() if len(keys) <= BULK for key in keys]
        return News(tuple(single), tuple(topic for topic, keys in found.items() if len(keys) > BULK), since, restored)

    async def _page(self, since: int | None) -> _Page:
        """What changed since the cursor before; None asks for the last cursor alone."""
        path = f"/aisle/v1/stores/{encode_segment(self._pull.store)}/changes"
        query: dict[str, QueryValue] = {} if since is None else {"since": since, "limit": LIMIT}
        answer = await self._pull.client.extension("GET", path, query=query)
        if not answer.is_success:
            raise status_error("list-changes", answer)
        try:
            body = answer.json()
            page = _Page(
                int(body["cursor"]),
                [dict(change) for change in body["changes"]],
                bool(body["more"]),
                bool(body.get("restored")),
            )
        except (ValueError, TypeError, KeyError) as error:
            raise AnswerError(f"The answer to list-changes cannot be read: {error!r}.") from error
        if page.more and page.cursor <= (since or 0):
            raise AnswerError("The changes do not end: the cursor stands still.")
        return page


def _topics_of(change: Mapping[str, Any]) -> tuple[str, ...]:
    """What is to be read of it: of a product its stock, and its catalogue entry unless only the store's has changed."""
    topic = str(change.get("topic"))
    return (PRODUCT, CATALOGUE) if topic == PRODUCT and change.get("chain") is not False else (topic,)
