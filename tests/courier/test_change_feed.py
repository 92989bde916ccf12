"""The change feed of our own service, and where a new courier resumes it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, cast

from aisle.client import Response
from aisle.courier.pull.change_feed import ChangeFeed
from aisle.courier.pull.single_reads import SingleReads


class Service:
    """A service that answers with these pages in turn, and the cache of a host."""

    def __init__(self, *pages: dict[str, Any]) -> None:
        self.pages = [*pages]
        self.asked: list[dict[str, Any]] = []
        self.kept: dict[str, Any] = {}
        self.store = "0001"
        self.client = self
        self.cache = SimpleNamespace(
            cursor=self.kept.get, set_cursor=self.kept.__setitem__, transaction=self.transaction
        )

    @contextmanager
    def transaction(self) -> Iterator[None]:
        yield

    async def request_extension(self, method: str, path: str, query: dict[str, Any]) -> Response:
        self.asked.append(query)
        told = {"changes": [], "more": False, "restored": False, **self.pages.pop(0)}
        return Response(200, {}, json.dumps(told).encode())

    def feed(self) -> ChangeFeed:
        """That of a courier which begins now."""
        return ChangeFeed(cast(SingleReads, self))


async def test_a_restore_to_between_what_was_kept_and_what_was_heard_is_noticed() -> None:
    order = {"topic": "order", "key": "O1"}
    service = Service({"cursor": 4, "mark": "a"}, {"cursor": 7, "mark": "b", "changes": [order]})
    feed = service.feed()
    await feed.skip_to_end()
    feed.advance(await feed.read())  # its rows come to the cache, and the courier ends
    service.pages = [{"cursor": 5, "mark": "c", "restored": True}]
    news = await service.feed().read()
    assert (service.asked[-1]["since"], service.asked[-1]["mark"]) == (7, "b")
    assert (news.is_restored, news.cursor, news.mark) == (True, 5, "c")


async def test_unsaved_changes_are_read_again() -> None:
    order = {"topic": "order", "key": "O1"}
    service = Service({"cursor": 4, "mark": "a"}, {"cursor": 7, "mark": "b", "changes": [order]})
    feed = service.feed()
    await feed.skip_to_end()
    feed.advance(await feed.read())
    service.pages = [{"cursor": 7, "mark": "b"}, {"cursor": 7, "mark": "b", "changes": [order]}]
    begun = service.feed()
    news = await begun.read()
    assert [(topic.name, topic.key) for topic in news.single_topics] == [("order", "O1")]
    assert not news.is_restored
    begun.advance(news)
    begun.save(news)
    service.pages = [{"cursor": 7, "mark": "b"}]
    await service.feed().read()
    assert len(service.asked) == 5, "where all was kept it is asked once"
