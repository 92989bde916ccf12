"""Notifications reach subscribers of a topic at once, and not too often."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, closing
from typing import Any

import pytest

from aisle.cache.schema import MAX_KEYED_CHANGES
from aisle.courier.notify import (
    LIST_INTERVAL_S,
    NAMED_INTERVAL_S,
    SESSION_GAP_S,
    Notifier,
    location_topics,
    notification_topics,
)
from aisle.host.notify_sockets import CourierSocket, SessionSocket
from aisle.host.store_folder import StoreFolder
from tests.courier.simulated_time import Time


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
