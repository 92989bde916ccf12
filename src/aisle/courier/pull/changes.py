"""The change cursor of our own service: which orders, products, places and stores changed since the last look."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from aisle.client.errors import AnswerError, status_error
from aisle.contract.wire import QueryValue, encode_segment
from aisle.courier.pull.single import Pull
from aisle.courier.topics import CATALOGUE, PRODUCT, RECOUNT, Topic
from aisle.tuples import NamedTuple

CURSOR, MARK = "changes", "changes_mark"
SEEN = "changes_seen"
"""How far news were heard, and their mark: rows of them may be in the cache, though not all of them."""
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
    mark: str = ""
    """Which writes made the last changes before the cursor: others may come to the same one after a restore."""
    forgotten: bool = False
    """The service has forgotten changes that were not heard: all lists are to be read anew."""


class _Page(NamedTuple):
    cursor: int
    changes: list[dict[str, Any]]
    more: bool
    restored: bool
    mark: str
    forgotten: bool


class ChangeFeed:
    """Follows the cursor. What was looked at and not kept is looked at again after a restart."""

    def __init__(self, pull: Pull, known: Callable[[], Sequence[str]] = tuple) -> None:
        """`known` are the keys that the service has to know, where it can be asked."""
        self._pull = pull
        self._known = known
        kept = pull.cache.cursor(CURSOR)
        self._since: int | None = kept if isinstance(kept, int) else None
        self._mark = str(pull.cache.cursor(MARK) or "")
        seen = pull.cache.cursor(SEEN)
        self._seen = seen if self.primed and isinstance(seen, list) and seen != [self._since, self._mark] else None

    @property
    def primed(self) -> bool:
        """Whether there is a position from which changes can be told."""
        return self._since is not None

    async def prime(self) -> bool:
        """Goes to the end of the feed: a full sync that begins after this misses nothing."""
        page = await self._page(None, "", ())
        self._since, self._mark, self._seen = page.cursor, page.mark, None
        self._keep(page.cursor, page.mark)
        return True

    async def look(self) -> News:
        """What changed since the last look whose news was taken."""
        if self._seen is not None:  # what a courier before this one has heard may be lost, though not what it kept
            page = await self._page(int(self._seen[0]), str(self._seen[1]), self._known())
            if page.restored:
                return News((), (), page.cursor, True, page.mark)
            self._seen = None
        return await self._look(self._since or 0, self._mark)

    def took(self, news: News) -> None:
        """All that it asks for is under way: the next look begins behind it."""
        if (self._since, self._mark) != (news.cursor, news.mark):
            self._pull.cache.set_cursor(SEEN, [news.cursor, news.mark])
        self._since, self._mark, self._seen = news.cursor, news.mark, None

    def keep(self, news: News) -> None:
        """A restart begins behind this news."""
        if (self._pull.cache.cursor(CURSOR), self._pull.cache.cursor(MARK)) != (news.cursor, news.mark):
            self._keep(news.cursor, news.mark)

    def _keep(self, cursor: int, mark: str) -> None:
        with self._pull.cache.batch():
            self._pull.cache.set_cursor(CURSOR, cursor)
            self._pull.cache.set_cursor(MARK, mark)

    async def _look(self, since: int, mark: str) -> News:
        found: dict[str, dict[str, None]] = {}
        more = True
        restored = forgotten = False
        known = self._known()
        while more:
            page = await self._page(since, mark, known)
            since, mark, more, restored = page.cursor, page.mark, page.more, restored or page.restored
            forgotten = forgotten or page.forgotten
            for change in page.changes:
                for topic in _topics_of(change):
                    keys = found.setdefault(topic, {})
                    if len(keys) <= BULK:
                        keys["" if topic == RECOUNT else str(change.get("key"))] = None
        single = [Topic(topic, key) for topic, keys in found.items() if len(keys) <= BULK for key in keys]
        bulk = tuple(topic for topic, keys in found.items() if len(keys) > BULK)
        return News(tuple(single), bulk, since, restored, mark, forgotten)

    async def _page(self, since: int | None, mark: str, known: Sequence[str]) -> _Page:
        """What changed since the cursor before; None asks for the last cursor alone."""
        path = f"/aisle/v1/stores/{encode_segment(self._pull.store)}/changes"
        query: dict[str, QueryValue] = {} if since is None else {"since": since, "limit": LIMIT}
        query |= {"mark": mark} if mark else {}
        query |= {"known": ",".join(known)} if known else {}
        answer = await self._pull.client.extension("GET", path, query=query)
        if not answer.is_success:
            raise status_error("list-changes", answer)
        try:
            body = answer.json()
            page = _Page(
                int(body["cursor"]),
                [dict(change) for change in body["changes"]],
                bool(body["more"]),
                bool(body.get("restored") or body.get("unknown")),
                str(body.get("mark") or ""),
                bool(body.get("forgotten")),
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
