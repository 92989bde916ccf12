"""The change feed of our own service, and what a courier that begins anew knows of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, cast

from aisle.client import Answer
from aisle.courier.pull.changes import ChangeFeed
from aisle.courier.pull.single import Pull


class Service:
    """A service that answers with these pages in turn, and the cache of a host."""

    def __init__(self, *pages: dict[str, Any]) -> None:
        self.pages = [*pages]
        self.asked: list[dict[str, Any]] = []
        self.kept: dict[str, Any] = {}
        self.store = "0001"
        self.client = self
        self.cache = SimpleNamespace(cursor=self.kept.get, set_cursor=self.kept.__setitem__, batch=self.batch)

    @contextmanager
    def batch(self) -> Iterator[None]:
        yield

    async def extension(self, method: str, path: str, query: dict[str, Any]) -> Answer:
        self.asked.append(query)
        told = {"changes": [], "more": False, "restored": False, **self.pages.pop(0)}
        return Answer(200, {}, json.dumps(told).encode())

    def feed(self) -> ChangeFeed:
        """That of a courier which begins now."""
        return ChangeFeed(cast(Pull, self))


async def test_a_restore_to_between_what_was_kept_and_what_was_heard_is_noticed() -> None:
    order = {"topic": "order", "key": "O1"}
    service = Service({"cursor": 4, "mark": "a"}, {"cursor": 7, "mark": "b", "changes": [order]})
    feed = service.feed()
    await feed.prime()
    feed.took(await feed.look())  # its rows come to the cache, and the courier ends
    service.pages = [{"cursor": 5, "mark": "c", "restored": True}]
    news = await service.feed().look()
    assert (service.asked[-1]["since"], service.asked[-1]["mark"]) == (7, "b")
    assert (news.restored, news.cursor, news.mark) == (True, 5, "c")


async def test_what_was_heard_and_not_kept_is_heard_again() -> None:
    order = {"topic": "order", "key": "O1"}
    service = Service({"cursor": 4, "mark": "a"}, {"cursor": 7, "mark": "b", "changes": [order]})
    feed = service.feed()
    await feed.prime()
    feed.took(await feed.look())
    service.pages = [{"cursor": 7, "mark": "b"}, {"cursor": 7, "mark": "b", "changes": [order]}]
    begun = service.feed()
    news = await begun.look()
    assert [(topic.topic, topic.key) for topic in news.single] == [("order", "O1")]
    assert not news.restored
    begun.took(news)
    begun.keep(news)
    service.pages = [{"cursor": 7, "mark": "b"}]
    await service.feed().look()
    assert len(service.asked) == 5, "where all was kept it is asked once"
