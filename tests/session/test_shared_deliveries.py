"""Two sessions of one host in one delivery: each is told of the other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.store_and_database_folders import StoreFolder
from aisle.session.session import Session, open_session
from aisle.settings.setting_definitions import Settings
from aisle.tui.message_text import MessageWriter
from tests.cache.test_delivery_queries import delivery, line
from tests.session.test_session import BARCODES, home, say, told

__all__ = ["home"]


@contextmanager
def two_sessions(home: StoreFolder) -> Iterator[tuple[Session, Session]]:
    with ExitStack() as stack:
        sessions = [open_session(home, Settings(terminal=f"dock-{user}", user=user)) for user in ("U1", "U2")]
        for session in sessions:
            stack.callback(session.close)
            session.start()
        yield sessions[0], sessions[1]


@pytest.fixture
def shared(home: StoreFolder) -> Iterator[tuple[Session, Session]]:
    """A delivery of eight pieces, and the sessions of two people."""
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    cache.write_deliveries([delivery("D-7", line(1, "P1", 8), line(2, "P2", 12))], 0.0)
    with two_sessions(home) as sessions:
        yield sessions


def test_second_receiver_is_told_of_the_first(shared: tuple[Session, Session]) -> None:
    first, second = shared
    assert told(say(first, "D-7")) == ("good", "receive.opened")
    frame = say(second, "D-7")
    assert frame.verdict
    assert MessageWriter().write(frame.verdict.text).startswith("Anna Kovac is receiving this delivery too")
    say(first, "b")
    say(second, "b")
    assert told(say(second, "D-7")) == ("good", "receive.opened")


def test_receiver_is_told_of_receipts_on_the_same_host(shared: tuple[Session, Session]) -> None:
    first, second = shared
    for session in shared:
        say(session, "D-7")
        say(session, BARCODES[0])
        say(session, "8")
    say(first, "A-1")
    assert told(second.poll() or second.frames.build()) == ("wrong", "receive.surplus_in_hand")
    assert told(say(second, "A-2")) == ("ask", "receive.received_meanwhile")
