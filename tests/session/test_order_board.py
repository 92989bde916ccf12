"""The supervisor's pages in a session without any link: what is done shows at once, is durable, and is undone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from aisle.cache.schema import ABSENT_ORDERS
from aisle.cache.writer import MAX_ABSENT_ORDERS, CacheWriter, open_cache
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import Start
from aisle.jobs.view import ASK, DetailView, Frame, ListView, Verdict, msg
from aisle.outbox.local_notes import notes_of_topic
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.scan.inputs_and_line_grouping import Key, Line
from aisle.session.session import Session, open_session
from aisle.settings.setting_definitions import Settings
from tests.cache import service_rows
from tests.copied_databases import copied_home


def filled(cache: CacheWriter) -> None:
    """Three orders and two people; no courier, no service."""
    cache.write_people([service_rows.person("U1", "Anna Kovac"), service_rows.person("U2", "Ben Okafor")])
    cache.write_products([service_rows.product("P1", "Oat drink"), service_rows.product("P2", "Bread")])
    lines = (service_rows.line(1, "P1", 3), service_rows.line(2, "P2", 3, 1))
    cache.write_orders([service_rows.order(f"410{n}", *lines) for n in (1, 2, 3)], lines_known=True, read_began=1.0)
    counted = {"id": 900, "product_number": "P1", "store_number": "0001", "counted_quantity": 2, "expected_quantity": 9}
    known = {"created_on": "2026-03-02T08:00:00Z", "app_user_name": "U2", "review_status": "1", "location_code": "A-1"}
    cache.write_logs([{**counted, **known}], "2026-01-01")
    cache.set_cursor("logs_span", {"since": "2026-01-01"})


@pytest.fixture
def home(aisle_home: Path) -> StoreFolder:
    """A home with that store in its cache."""
    return copied_home(aisle_home, filled)


@pytest.fixture
def session(home: StoreFolder) -> Iterator[Session]:
    session = open_session(home, Settings(terminal="desk", user="U1"))
    try:
        session.start()
        session.resize(80, 24)
        yield session
    finally:
        session.close()


def says(session: Session, *texts: str) -> Frame:
    for text in texts:
        frame = session.take([Line(text, "cr", 1.0, 1.0, 0.1, "")], 0.0)
    return frame


def opened(session: Session, page: str) -> Frame:
    """From home, by its number among the others."""
    frame = says(session, "7")
    choices = [choice.id for choice in frame.view.choices]
    return says(session, str(choices.index(page) + 1))


def orders(home: StoreFolder) -> list[dict[str, Any]]:
    """What waits in the outbox of each order, merged writes as one."""
    found = [op for op in OperationQueue(open_outbox(home.folder)).recent() if not op.superseded_by]
    return [{"by": op.app_user, **op.body["orders"]} for op in reversed(found)]


def notes(frame: Frame) -> list[str]:
    assert isinstance(frame.view, DetailView)
    return [line.text.id for line in frame.view.lines]


def states(frame: Frame) -> list[str]:
    assert isinstance(frame.view, ListView)
    return [row.cells[2].id for row in frame.view.rows]


def test_without_a_link_a_rejection_shows_at_once_and_is_taken_back(home: StoreFolder, session: Session) -> None:
    opened(session, "home.orders")
    frame = says(session, "4101", "3", "22 of it were damp", "1")
    assert frame.verdict is not None
    assert frame.verdict.text.id == "order_actions.done_reject"
    assert notes(frame) == ["order.title", "order.progress", "order.rejected_why", "unconfirmed.note_queued"]
    (said,) = orders(home)
    assert (said["is_rejected"], said["rejection_reason_code_description"]) == (True, "22 of it were damp")
    assert states(says(session, "b")) == ["orders.status_in_progress"] * 2, "it is not active any more"
    frame = says(session, "4101", "8")
    assert frame.view.name == "order_actions.confirm"
    frame = says(session, "1")
    assert "order.rejected_why" not in notes(frame)
    assert [said["is_rejected"] for said in orders(home)] == [False], "nothing was sent: one operation says it all"


def test_claims_for_somebody_go_in_his_name_and_are_undone_for_many(home: StoreFolder, session: Session) -> None:
    opened(session, "home.orders")
    says(session, "m", "1", "2", "d", "2")
    frame = says(session, "ben")
    assert frame.view.name == "order_actions.confirm"
    says(session, "1")
    assert [(said["by"], said["is_claimed"]) for said in orders(home)] == [("U2", True), ("U2", True)]
    says(session, "u")
    assert [said["is_claimed"] for said in orders(home)][2:] == [False, False]
    frame = says(session, "b")
    assert isinstance(frame.view, ListView)
    assert not any("Ben" in str(row.cells) for row in frame.view.rows)


def test_assignee_is_notified_and_sees_order_first(home: StoreFolder, session: Session) -> None:
    def marks(frame: Frame) -> list[str]:
        assert isinstance(frame.view, ListView)
        return [row.key for row in frame.view.rows if row.cells[1].id == "home.assigned_by"]

    with closing(open_session(home, Settings(terminal="dock", user="U2"))) as dock:
        assert marks(dock.start()) == []
        opened(session, "home.orders")
        says(session, "m", "2", "3", "d", "2", "ben", "1")
        frame = dock.poll()
        assert frame is not None
        assert frame.verdict == Verdict(ASK, msg("home.assigned_many", count=2, who="Anna Kovac"))
        assert marks(frame) == ["4102", "4103"]
        says(session, "u")
        frame = dock.poll()
        assert frame is not None
        assert marks(frame) == []


def test_the_screen_stays_under_the_cursor_while_the_courier_writes(home: StoreFolder, session: Session) -> None:
    opened(session, "home.orders")
    for _ in range(2):
        frame = session.take([Key("down")], 0.0)
    assert isinstance(frame.view, ListView)
    assert frame.view.rows[frame.view.cursor].key == "4102"
    early = [service_rows.order(f"30{n:02}", pickup_date="2026-01-01") for n in range(30)]
    CacheWriter(open_cache(home.folder, writer=True), "0001").write_orders(early, lines_known=True, read_began=2.0)
    polled = session.poll()
    assert polled is not None
    view = polled.view
    assert isinstance(view, ListView)
    at = view.cursor - view.first
    assert (view.rows[at].key, at, view.total) == ("4102", 1, 33)
    assert (view.title.id, dict(view.title.args)["count"]) == ("orders.title_new_above", 30)
    assert session.take([Key("home")], 0.0).view.title.id == "orders.title"


def test_difference_is_approved_locally_without_service_review(home: StoreFolder, session: Session) -> None:
    frame = opened(session, "home.exceptions")
    assert isinstance(frame.view, ListView)
    assert {row.key: dict(row.cells[1].args)["value"] for row in frame.view.rows}["differences"] == 1
    frame = says(session, "2", "1", "1")
    assert frame.verdict is not None
    assert frame.verdict.text.id == "exceptions.approved_on_host"
    assert isinstance(frame.view, ListView)
    assert frame.view.total == 0
    assert list(notes_of_topic(open_outbox(home.folder), "review")) == ["900"]
    assert orders(home) == []
    frame = says(session, "u")
    assert isinstance(frame.view, ListView)
    assert ([row.key for row in frame.view.rows], notes_of_topic(open_outbox(home.folder), "review")) == (["900"], {})


def test_views_of_ones_own_are_there_the_next_time(home: StoreFolder, session: Session) -> None:
    opened(session, "home.orders")
    says(session, "f", "1", "6", "b", "v", "k", "Rejected ones", "b")
    opened(session, "home.orders")
    frame = says(session, "v")
    view = frame.view
    assert isinstance(view, ListView)
    for _ in range(4):
        if any("Rejected ones" in str(row.cells) for row in view.rows):
            return
        view = says(session, "n").view
        assert isinstance(view, ListView)
    raise AssertionError("the view is not there")


@pytest.mark.parametrize("on_board", [False, True])
def test_a_claim_for_somebody_that_another_one_outdid_meanwhile_is_told(
    home: StoreFolder, session: Session, on_board: bool
) -> None:
    opened(session, "home.orders")
    if on_board:
        frame = says(session, "m", "1", "d", "2", "ben")
        assert frame.view.name == "orders"
    else:
        frame = says(session, "4101", "2", "ben")
    assert frame.verdict is not None
    assert frame.verdict.text.id == "order_actions.done_claim"
    later = {"is_claimed": True, "claimed_by": "U1", "claimed_name": "Anna Kovac", "claimed_on": "2099-01-01T08:00:00Z"}
    lines = (service_rows.line(1, "P1", 3), service_rows.line(2, "P2", 3, 1))
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    cache.write_orders([service_rows.order("4101", *lines, **later)], lines_known=True, read_began=2.0)
    polled = session.poll()
    assert polled is not None
    assert polled.verdict is not None
    assert (polled.verdict.text.id, dict(polled.verdict.text.args)["who"]) == (
        "pick.claimed_now",
        "Anna Kovac",
    )


def test_page_reports_missing_order_after_service_answer(home: StoreFolder, session: Session) -> None:
    def notes(frame: Frame | None) -> list[str]:
        assert frame is not None
        assert isinstance(frame.view, DetailView)
        return [line.text.id for line in frame.view.lines]

    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    cache.delete_absent_orders(["2468"], read_began=session.context.clock() - 60)
    session.event_runner.open(Start("order", {"order_number": "2468"}))
    assert "order.unknown" in notes(session.poll()), "what it said a minute ago may be otherwise now"
    assert cache.delete_absent_orders(["2468"], read_began=session.context.clock()) == (), (
        "who works on it hears of it once"
    )
    assert "order.absent" in notes(session.poll())
    assert "absent/2468" in session.stack.top.topics
    cache.write_orders([service_rows.order("2468", service_rows.line(1, "P1", 3))], lines_known=True, read_began=2.0)
    assert "order.absent" not in notes(session.poll())
    cache.delete_absent_orders([str(number) for number in range(5000, 5150)], read_began=session.context.clock())
    assert len(cache.cursor(ABSENT_ORDERS) or ()) == MAX_ABSENT_ORDERS
