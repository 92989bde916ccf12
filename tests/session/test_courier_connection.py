"""What a session makes of its doorbell: rung for what it shows it looks at that alone, and at everything in time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from aisle.cache.writer import LinkRow
from aisle.host.database import transaction
from aisle.host.leader_lock import Leader, LeaderLock
from aisle.host.notify_sockets import CourierSocket, matching_topics
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import FileEffect, Query, Rows
from aisle.jobs.view import GOOD, Frame, ListView
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.replay_after_restore import DETECTED, record_restore
from aisle.scan.grammar_and_meaning_types import PRODUCT, Match, Scan
from aisle.session.session import Session, open_session
from aisle.session.store_connection import FULL_CHECK_S
from aisle.settings.setting_definitions import Settings
from aisle.tui.message_text import MessageWriter
from tests.cache import service_rows
from tests.clock import Clock
from tests.session.test_session import BARCODES, ORDER, _writer, home, say, told
from tests.writes import ANNA, intents, update

__all__ = ["home"]


@contextmanager
def at(home: StoreFolder, terminal: str = "dock", user: str = "U1") -> Iterator[tuple[Session, Clock]]:
    """A session that has just looked at everything, and its clock."""
    session, clock = open_session(home, Settings(terminal=terminal, user=user)), Clock(1_800_000_000.0)
    session.context.clock = clock
    with closing(session):
        session.start()
        session.poll()
        yield session, clock


@pytest.fixture
def socket(home: StoreFolder) -> Iterator[CourierSocket]:
    """The courier's doorbell, with a courier in office."""
    election = LeaderLock(home.lock)
    assert election.try_acquire(Leader(1, "1", 0.0))
    with closing(CourierSocket(home)) as made:
        yield made
    election.release()


def ring(socket: CourierSocket, *topics: str) -> int:
    """As the courier does; at how many sessions."""
    socket.drain()
    concerned = {name: matching_topics(topics, shown)[0] for name, shown in socket.subscriptions().items()}
    return sum(socket.notify(name, found) for name, found in concerned.items() if found)


def picked(home: StoreFolder, order: str, quantity: float = 1.0, began: float = 2.0) -> None:
    """The service says that the first line of an order stands at so many now."""
    line = service_rows.line(1, "P1", 6, picked=quantity)
    with _writer(home) as cache:
        cache.write_orders([service_rows.order(order, line)], lines_known=True, read_began=began)


def rung(session: Session) -> Frame | None:
    """What the app does when the doorbell is readable."""
    return session.poll(notified=True)


def statements(session: Session) -> list[str]:
    """What is asked of the databases from now on."""
    asked: list[str] = []

    def note(statement: str, _took: int) -> None:
        asked.append(statement)

    for connection in (session.store.reader._cache, session.store.reader.context.outbox):
        connection.set_profile(note)
    return asked


def test_a_session_says_what_it_shows_page_by_page(home: StoreFolder, socket: CourierSocket) -> None:
    def shown() -> set[str]:
        socket.drain()
        (page,) = socket.subscriptions().values()
        assert page is not None
        return set(page)

    with at(home) as (session, _):
        assert shown() == {"delivery", "log", "order", "recount", "refusal"}
        say(session, "4101")
        assert shown() == {"order/4101", "refusal", "store"}
        say(session, BARCODES[0])
        assert shown() == {"order/4101", "refusal", "store"}, "said before anything comes of what was written"
        say(session, f"?{BARCODES[1]}")
        assert "product/P2" in shown()
        say(session, "b")
        assert shown() == {"order/4101", "refusal", "store"}


def test_who_is_concerned_hears_and_who_is_not_does_not(home: StoreFolder, socket: CourierSocket) -> None:
    with at(home) as (anna, _), at(home, "t2", "U2") as (ben, _):
        say(anna, "4101")
        say(ben, "4102")
        picked(home, "4101")
        assert ring(socket, "order/4101") == 1
        frame = rung(anna)
        assert frame is not None
        assert told(frame)[1] == "pick.changed"
        asked = statements(ben)
        assert rung(ben) is None
        assert asked == [], "nobody rang"


def test_notification_for_hidden_topic_changes_nothing(home: StoreFolder, socket: CourierSocket) -> None:
    with at(home) as (session, _):
        say(session, "4101")
        socket.drain()
        socket._subscriptions.clear()  # another courier
        picked(home, "4102")
        assert ring(socket, "order/4102") == 1, "what it does not know it rings for"
        assert rung(session) is None
        assert ring(socket, "order/4102") == 0
        assert ring(socket, "order/4101") == 1


def test_a_ring_after_which_nothing_differs_draws_nothing(home: StoreFolder, socket: CourierSocket) -> None:
    with at(home) as (session, clock):
        say(session, "4101")
        clock.pass_(2)
        assert ring(socket, "order/4101") == 1
        assert rung(session) is None
        ring(socket, "sync")
        assert rung(session) is None
        with _writer(home) as cache:
            cache.set_link(LinkRow(state="syncing", done=20, total=100))
        ring(socket, "sync")
        frame = rung(session)
        assert frame is not None
        assert (frame.link.done, frame.link.total) == (20, 100)


def test_nothing_that_was_not_rung_for_is_older_than_five_seconds(home: StoreFolder, socket: CourierSocket) -> None:
    with at(home) as (session, clock):
        say(session, "4101")
        session.poll()
        picked(home, "4101")
        clock.pass_(FULL_CHECK_S - 0.1)
        assert ring(socket, "sync") == 1
        frame = rung(session)
        assert frame is None or told(frame)[1] != "pick.changed"
        clock.pass_(0.1)
        ring(socket, "sync")
        frame = rung(session)
        assert frame is not None
        assert told(frame)[1] == "pick.changed"
        picked(home, "4101", 3.0, began=3.0)
        frame = session.poll()
        assert frame is not None
        assert told(frame)[1] == "pick.changed", "who looks without a ring looks at everything"


def test_what_was_not_told_on_one_page_is_there_on_the_next(home: StoreFolder, socket: CourierSocket) -> None:
    with at(home) as (session, _):
        say(session, "4101")
        picked(home, "4102", 6.0)
        for name in socket.subscriptions():
            socket.notify(name, ["order/4102"])
        assert rung(session) is None
        say(session, "b")
        assert told(say(session, "4102"))[1] == "pick.left_done"


@pytest.mark.parametrize("topic", ["link", "outbox", "refusal", "ask"])
def test_what_no_page_can_tell_is_looked_for_everywhere(home: StoreFolder, socket: CourierSocket, topic: str) -> None:
    with at(home) as (session, _):
        say(session, "4101")
        picked(home, "4101")
        for name in socket.subscriptions():
            socket.notify(name, [topic])
        frame = rung(session)
        assert frame is not None
        assert told(frame)[1] == "pick.changed"


def test_the_link_is_right_on_a_page_that_shows_nothing(home: StoreFolder, socket: CourierSocket) -> None:
    with at(home) as (session, clock):
        with _writer(home) as cache:
            cache.set_link(LinkRow(state="live", last_ok=clock.now))
        assert ring(socket, "link") == 1
        frame = rung(session)
        assert frame is not None
        assert frame.link.state == "live"
        with _writer(home) as cache:
            cache.set_link(LinkRow(state="offline"))
        assert ring(socket, "link") == 1
        frame = rung(session)
        assert frame is not None
        assert frame.link.state == "offline"


def test_empty_outbox_is_notified_to_writer_and_watchers(home: StoreFolder, socket: CourierSocket) -> None:
    with at(home) as (anna, _), at(home, "t2", "U2") as (ben, clock):
        say(anna, "4101")
        frame = say(anna, BARCODES[0])
        assert told(frame) == (GOOD, "pick.picked")
        assert frame.link.waiting
        clock.pass_(FULL_CHECK_S)
        seen = ben.poll()
        assert seen is not None
        assert seen.link.waiting == frame.link.waiting
        socket.drain()
        with closing(open_outbox(home.folder)) as connection:
            outbox = OperationQueue(connection)
            while outbox.pending_counts()[0]:
                for op in outbox.sendable():
                    outbox.begin_sending(op.op_id, b"{}")
                    outbox.confirm(op.op_id)
        waiting = socket.take_waiting_sessions()
        assert len(waiting) == 2
        for name in waiting:
            socket.notify(name, ["waiting"])
        for session in (anna, ben):
            shown = rung(session)
            assert shown is not None
            assert shown.link.waiting == 0


def test_a_scan_is_answered_without_a_look_at_anybody_elses_news(home: StoreFolder, socket: CourierSocket) -> None:
    with at(home) as (session, _):
        say(session, "4101")
        for _ in range(5):
            for name in socket.subscriptions():
                socket.notify(name, ["order/4102", "product/P9"])
        assert told(say(session, BARCODES[0])) == (GOOD, "pick.picked")
        assert ORDER["order_number"] == "4101"
        assert rung(session) is None


def test_several_changes_that_lead_to_the_same_questions_ask_them_once(
    home: StoreFolder, socket: CourierSocket
) -> None:
    with at(home) as (session, _):
        asked: list[tuple[str, str]] = []
        answer = session.stack.answer_query

        def note(query: Query | FileEffect) -> Rows:
            asked.append((query.id, query.name) if isinstance(query, Query) else ("", ""))
            return answer(query)

        session.stack.answer_query = note
        for order in ("4101", "4102"):
            picked(home, order)
        with closing(open_outbox(home.folder)) as connection, transaction(connection):
            OperationQueue(connection).enqueue(intents(update("4102", {1: 2})), ANNA)
        frame = session.poll()
        assert frame is not None
        assert isinstance(frame.view, ListView)
        assert {"orders", "needing_person", "refused_operations"} <= {name for _, name in asked}
        assert len(asked) == len(set(asked)), "the orders twice, the outbox once: all of it is asked for once"
        assert [dict(row.cells[3].args)["done"] for row in frame.view.rows] == [1, 2]


def noted(home: StoreFolder, at: float, count: int) -> None:
    """The courier has found out that the service was put back from an earlier copy."""
    with closing(open_outbox(home.folder)) as connection, transaction(connection):
        record_restore(connection, at, DETECTED, count)


def test_a_scan_that_is_only_tried_changes_no_subscription(home: StoreFolder, socket: CourierSocket) -> None:
    with at(home) as (session, _):
        say(session, f"?{BARCODES[0]}")
        topics = session.page.topics
        assert "product/P1" in topics
        session.event_runner.is_refused(Scan((Match(PRODUCT, "P2", code=BARCODES[1]),), is_look_up=True))
        assert session.page.topics == topics


def test_a_restore_of_the_service_is_said_once_on_every_screen(home: StoreFolder, socket: CourierSocket) -> None:
    with at(home) as (session, clock), at(home, "desk", "U2") as (other, _):
        noted(home, clock.now, 3)
        clock.pass_(FULL_CHECK_S)
        for one in (session, other):
            frame = one.poll()
            assert frame is not None
            assert told(frame) == ("info", "session.restored")
            assert dict(frame.verdict.text.args) == {"count": 3}  # type: ignore[union-attr]
        say(session, "b")
        clock.pass_(60)
        again = session.poll()
        assert again is None or told(again)[1] != "session.restored", "once"


def test_of_a_restore_that_lost_nothing_of_this_host_no_number_is_said(
    home: StoreFolder, socket: CourierSocket
) -> None:
    with at(home) as (session, clock):
        noted(home, clock.now, 0)
        clock.pass_(FULL_CHECK_S)
        frame = session.poll()
        assert frame is not None
        assert told(frame) == ("info", "session.restored_whole")
        assert frame.verdict is not None
        assert not re.search(r"\d", MessageWriter().write(frame.verdict.text))


def test_restore_is_announced_to_recent_arrivals_only(home: StoreFolder, socket: CourierSocket) -> None:
    now = 1_800_000_000.0
    noted(home, now - 86400, 5)
    with at(home) as (session, clock):
        clock.pass_(FULL_CHECK_S)
        frame = session.poll()
        assert frame is None or told(frame)[1] != "session.restored"
    noted(home, now - 30, 7)
    with at(home, "late", "U2") as (session, clock):
        clock.pass_(FULL_CHECK_S)
        frame = session.poll()
        assert frame is not None
        assert told(frame) == ("info", "session.restored")
