"""Subscriptions of sessions equal asking each session, after any change."""

from __future__ import annotations

import os
from contextlib import ExitStack, closing
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aisle.courier.notify import Notifier, ShownTopics, Subscriptions
from aisle.host.notify_sockets import CourierSocket, SessionSocket, matching_topics, socket_folder
from aisle.host.store_folder import StoreFolder
from tests.courier.simulated_time import Time
from tests.run_length import tries

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
