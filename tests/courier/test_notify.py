"""Notifications reach subscribers of a topic at once, and not too often."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, closing
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aisle.cache.schema import MAX_KEYED_CHANGES
from aisle.courier.notify import (
    LIST_INTERVAL_S,
    NAMED_INTERVAL_S,
    SESSION_GAP_S,
    Notifier,
    ShownTopics,
    Subscriptions,
    location_topics,
    notification_topics,
)
from aisle.host.notify_sockets import CourierSocket, SessionSocket, matching_topics, socket_folder
from aisle.host.store_and_database_folders import StoreFolder
from tests.courier.simulated_time import Time
from tests.run_length import tries


@pytest.fixture
def socket(home: StoreFolder) -> Iterator[CourierSocket]:
    """The socket of the courier."""
    with closing(CourierSocket(home)) as made:
        yield made


@asynccontextmanager
async def ringing(socket: CourierSocket, time: Time) -> AsyncIterator[Notifier]:
    """Run a notifier."""
    ringer = Notifier(socket, time.clock, time.sleep)
    work = asyncio.create_task(ringer.run())
    try:
        yield ringer
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)


async def test_subscribers_are_notified_at_once_and_nobody_else(home: StoreFolder, socket: CourierSocket) -> None:
    time = Time()
    with ExitStack() as stack:
        bells = {
            page: stack.enter_context(closing(SessionSocket(home)))
            for page in ("order/O1", "order/O2", "order", "product/P1", "", "*")
        }
        for page, bell in bells.items():
            bell.subscribe((page,) if page else ())
        unknown = stack.enter_context(closing(SessionSocket(home)))
        socket.drain()
        async with ringing(socket, time) as ringer:
            ringer.notify(["order/O1", "outbox"])
            await time.pass_(SESSION_GAP_S * 5)
            assert {page: bell.drain() for page, bell in bells.items()} == {
                "order/O1": {"order/O1"},
                "order/O2": set(),
                "order": {"order/O1"},
                "product/P1": set(),
                "": set(),
                "*": {"order/O1", "outbox"},
            }
            assert unknown.drain() == {"order/O1", "outbox"}
            await time.pass_(LIST_INTERVAL_S)
            ringer.notify(["link"])
            await time.pass_(SESSION_GAP_S * 8)
            assert all(bell.drain() == {"link"} for bell in (*bells.values(), unknown))


async def test_waiting_session_is_notified_before_many_others(home: StoreFolder, socket: CourierSocket) -> None:
    time = Time()
    with ExitStack() as stack:
        bells = [stack.enter_context(closing(SessionSocket(home))) for _ in range(20)]
        for bell in bells:
            bell.subscribe(("order/O1",))
        socket.drain()
        bells[7].wake_courier()
        socket.drain()
        async with ringing(socket, time) as ringer:
            ringer.notify(["order/O1", "waiting"])
            heard = [bool(bell.drain()) for bell in bells]
            assert heard[7]
            assert sum(heard) == 2, "and the first of the others"
            while not all(heard):
                before = sum(heard)
                await time.pass_(SESSION_GAP_S)
                heard = [known or bool(bell.drain()) for known, bell in zip(heard, bells, strict=True)]
                assert before <= sum(heard) <= before + 1
            assert time.now - Time().now <= SESSION_GAP_S * 25


async def test_changes_in_quick_succession_are_notified_together(home: StoreFolder, socket: CourierSocket) -> None:
    time = Time()
    with closing(SessionSocket(home)) as page, closing(SessionSocket(home)) as listed:
        page.subscribe(("order/O1",))
        listed.subscribe(("order",))
        socket.drain()
        async with ringing(socket, time) as ringer:
            rings = {"page": 0, "listed": 0}
            heard = {"page": set[str](), "listed": set[str]()}
            for number in range(100):
                ringer.notify([f"order/O{number % 4}"])
                await time.pass_(SESSION_GAP_S * 2)
                for name, bell in (("page", page), ("listed", listed)):
                    found = bell.drain()
                    rings[name] += bool(found)
                    heard[name] |= found
                await time.pass_(0.02 - SESSION_GAP_S * 2)
            await time.pass_(LIST_INTERVAL_S)
            assert page.drain() | heard["page"] == {"order/O1"}
            assert listed.drain() | heard["listed"] == {f"order/O{number}" for number in range(4)}
            assert 2 <= rings["listed"] <= 2.0 / LIST_INTERVAL_S + 1
            assert 2 <= rings["page"] <= 2.0 / NAMED_INTERVAL_S + 1


async def test_held_back_notification_is_sent_in_time(home: StoreFolder, socket: CourierSocket) -> None:
    time = Time()
    with closing(SessionSocket(home)) as bell:
        bell.subscribe(("order/O1", "product"))
        socket.drain()
        async with ringing(socket, time) as ringer:
            ringer.notify(["order/O1"])
            assert bell.drain() == {"order/O1"}
            ringer.notify(["product/P1"])
            assert bell.drain() == set()
            ringer.notify(["order/O1"])
            await time.pass_(NAMED_INTERVAL_S * 1.1)
            assert bell.drain() == {"order/O1", "product/P1"}, "what is in a hurry takes the rest along"
            ringer.notify(["product/P2"])
            await time.until(lambda: "product/P2" in bell.drain(), LIST_INTERVAL_S * 1.1)
            await time.pass_(10)
            assert bell.drain() == set()


async def test_a_clock_that_is_set_back_keeps_nobody_waiting(home: StoreFolder, socket: CourierSocket) -> None:
    time = Time()
    with closing(SessionSocket(home)) as bell:
        bell.subscribe(("order",))
        socket.drain()
        ringer = Notifier(socket, time.clock, time.sleep)
        ringer.notify(["order/O1"])
        ringer.notify(["order/O2"])
        assert bell.drain() == {"order/O1"}
        time.now -= 3600
        ringer.notify(["order/O3"])
        assert bell.drain() == {"order/O2", "order/O3"}


async def test_empty_outbox_is_notified_to_sessions_that_show_waiting(home: StoreFolder, socket: CourierSocket) -> None:
    time = Time()
    with closing(SessionSocket(home)) as wrote, closing(SessionSocket(home)) as idle:
        for bell in (wrote, idle):
            bell.subscribe(("order/O1",))
        wrote.wake_courier()
        assert socket.drain() == {"work"}
        async with ringing(socket, time) as ringer:
            ringer.notify(["waiting", "outbox"])
            assert (wrote.drain(), idle.drain()) == ({"waiting"}, set())
            await time.pass_(LIST_INTERVAL_S)
            ringer.notify(["waiting"])
            assert wrote.drain() == set(), "it was told"


async def test_who_is_gone_is_forgotten(home: StoreFolder, socket: CourierSocket) -> None:
    time = Time()
    async with ringing(socket, time) as ringer:
        with closing(SessionSocket(home)) as bell:
            bell.subscribe(("order",))
            socket.drain()
            ringer.notify(["order/O1"])
            ringer.notify(["order/O2"])
        ringer.notify(["order/O3"])
        await time.pass_(2 * LIST_INTERVAL_S)
        with closing(SessionSocket(home)) as other:  # may well have the same name
            ringer.notify(["product/P1"])
            assert other.drain() == {"product/P1"}, "nobody knows yet what it shows"


def test_many_changes_are_told_as_one_topic() -> None:
    keys = [f"P{number}" for number in range(MAX_KEYED_CHANGES + 1)]
    assert notification_topics("product", keys[:2]) == ["product/P0", "product/P1"]
    assert notification_topics("product", keys) == ["product"]


def test_the_places_of_changed_products_are_told() -> None:
    rows: list[dict[str, Any]] = [
        {"product_number": "P1", "store_locations": [{"store_location_code": "A-1"}, {"store_location_code": None}]},
        {"product_number": "P2", "store_locations": [{"store_location_code": "A-2"}]},
        {"product_number": "P3", "store_locations": "none"},
        {"product_number": "P4"},
    ]
    assert location_topics(rows, ["P1", "P3", "P4"]) == ["location/A-1"]


# Subscriptions of sessions equal asking each session, after any change


WORDS = ("order", "product", "link", "sync", "*", "o", "")
KEYS = ("1", "12", "a/b", "")
TOPICS = st.one_of(st.sampled_from(WORDS), st.builds("{}/{}".format, st.sampled_from(WORDS), st.sampled_from(KEYS)))
PAGES = st.one_of(st.none(), st.frozensets(TOPICS, max_size=5))
NAMES = st.sampled_from("abcd")


def asked_of_each(pages: dict[str, ShownTopics], topics: list[str]) -> dict[str, tuple[list[str], bool]]:
    found = {name: matching_topics(topics, page) for name, page in pages.items()}
    return {name: said for name, said in found.items() if said[0]}


@settings(max_examples=tries(200, 5000), deadline=None)
@given(
    steps=st.lists(st.tuples(NAMES, st.one_of(st.just("gone"), PAGES)), max_size=12),
    topics=st.lists(TOPICS, max_size=5, unique=True),
)
def test_a_topic_finds_those_whom_it_concerns(steps: list[tuple[str, Any]], topics: list[str]) -> None:
    audience, pages = Subscriptions(), dict[str, ShownTopics]()
    for name, page in steps:
        if page == "gone":
            audience.unsubscribe(name)
            pages.pop(name, None)
        else:
            audience.subscribe(name, page)
            pages[name] = page
        assert audience.matching_sessions(topics) == asked_of_each(pages, topics)
        assert {each for each in "abcd" if each in audience} == pages.keys()


def test_nothing_is_left_of_who_is_gone() -> None:
    audience = Subscriptions()
    audience.subscribe("a", frozenset({"order/1", "order/2", "product"}))
    audience.subscribe("a", None)
    audience.unsubscribe("a")
    assert not audience._sessions_by_topic


def settled(home: StoreFolder) -> None:
    """As if nobody had come or gone for a while."""
    os.utime(socket_folder(home), (1e9, 1e9))


def test_subscriptions_follow_sessions_and_pages(home: StoreFolder) -> None:
    time, topics = Time(), ["order/1", "order", "product/1", "outbox"]
    with closing(CourierSocket(home)) as socket, ExitStack() as stack:
        ringer = Notifier(socket, time.clock, time.sleep)

        def is_followed() -> bool:
            socket.drain()
            ringer.notify([])
            return ringer._subscriptions.matching_sessions(topics) == asked_of_each(socket.subscriptions(), topics)

        bells = [stack.enter_context(closing(SessionSocket(home))) for _ in range(3)]
        assert is_followed()
        settled(home)
        assert is_followed()
        bells[0].subscribe(("order/1",))
        bells[1].subscribe(("order",))
        assert is_followed()
        assert len(ringer._subscriptions.matching_sessions(["product/2"])) == 1, "of whom nobody knows what it shows"
        late = stack.enter_context(closing(SessionSocket(home)))
        assert is_followed()
        assert len(ringer._subscriptions.matching_sessions(["product/2"])) == 2
        settled(home)
        assert is_followed()
        late.subscribe(("product/2", "order/1"))
        bells[0].subscribe(())
        assert is_followed()
        bells[1].close()
        assert is_followed()
        assert len(socket.subscriptions()) == 3


def test_unchanged_folder_is_not_listed_again(home: StoreFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    listed: list[object] = []
    real = os.listdir

    def listdir(folder: Any) -> list[str]:
        listed.append(folder)
        return real(folder)

    monkeypatch.setattr(os, "listdir", listdir)
    with closing(CourierSocket(home)) as socket, closing(SessionSocket(home)):
        settled(home)
        assert [len(socket.subscriptions()) for _ in range(5)] == [1] * 5
        assert len(listed) == 1
        with closing(SessionSocket(home)):
            moment = socket_folder(home).stat().st_mtime_ns
            assert len(socket.subscriptions()) == 2
            with closing(SessionSocket(home)):
                os.utime(socket_folder(home), ns=(moment, moment))  # as coarse as the time of some file systems
                assert len(socket.subscriptions()) == 3
            os.utime(socket_folder(home), ns=(moment, moment))
            assert len(socket.subscriptions()) == 2
        assert len(socket.subscriptions()) == 1
