"""The list of what is not settled in a session: what a person says is kept in one commit with the input."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.database import transaction
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import RESEND, Resolve
from aisle.jobs.view import DetailView, Frame, ListView
from aisle.outbox.commit_journal import Journal
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.operation_record import Author, Intent
from aisle.scan.inputs_and_line_grouping import Line
from aisle.session.session import Session, open_session
from aisle.settings.setting_definitions import Settings
from aisle.stored_messages import store_text
from tests.cache import service_rows
from tests.writes import movement, update


@pytest.fixture
def home(aisle_home: Path) -> StoreFolder:
    """A home with something refused, something unclear, and something that waits."""
    home = StoreFolder(aisle_home, "embedded", "0001")
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    cache.write_people([service_rows.person("U1", "Anna Kovac")])
    cache.write_products([service_rows.product("P1", "Oat drink", "4006381333931")])
    cache.write_orders([service_rows.order("4101", service_rows.line(1, "P1", 2))], lines_known=True, read_began=1.0)
    db = open_outbox(home.folder)
    outbox = OperationQueue(db)
    with transaction(db):
        ids = outbox.enqueue(
            [Intent(movement("4101", "P1")), Intent(update("4102", {1: 1})), Intent(update("4103", {1: 1}))],
            Author("0001", "U1"),
        )
    for op_id in ids[:2]:
        assert outbox.begin_sending(op_id, b"[]", evidence={"before": {"stock": {"P1": {"A-1": "3"}}}})
    outbox.mark_in_doubt(ids[0], store_text("no answer"), settling_s=120)
    outbox.ask_person(ids[0], store_text("nobody knows"), evidence={"verdict": "unreadable"})
    outbox.refuse(ids[1], store_text("finished"))
    return home


@pytest.fixture
def session(home: StoreFolder) -> Iterator[Session]:
    session = open_session(home, Settings(terminal="dock", user="U1"))
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


def states(home: StoreFolder) -> list[str]:
    return [op.state for op in OperationQueue(open_outbox(home.folder)).recent()][::-1]


def test_home_says_that_there_is_something_and_its_letter_leads_there(session: Session) -> None:
    frame = session.poll()
    assert frame is not None
    assert "d" in [hint.letter for hint in frame.view.key_hints]
    view = says(session, "d").view
    assert isinstance(view, ListView)
    assert [row.cells[0].id for row in view.rows] == [
        "operation_state.in_doubt",
        "operation_state.refused",
        "operation_state.queued",
    ]


def test_what_a_person_says_is_in_the_outbox_and_in_the_journal_at_once(home: StoreFolder, session: Session) -> None:
    view = says(session, "d", "1").view
    assert isinstance(view, DetailView)
    assert states(home)[0] == "needs_person"
    frame = says(session, "1")
    assert states(home) == ["done", "rejected", "queued"]
    assert frame.verdict is not None
    assert frame.verdict.text.id == "unconfirmed.resolved_arrived"
    op = OperationQueue(open_outbox(home.folder)).recent()[-1]
    assert op.closed_by == "U1"
    assert Journal(open_outbox(home.folder)).last_events(1)[0].verdict == "unconfirmed.resolved_arrived"


def test_what_is_settled_by_hand_keeps_who_and_how(home: StoreFolder, session: Session) -> None:
    says(session, "d", "2", "3", "Ben has carried it back")
    op = OperationQueue(open_outbox(home.folder)).recent()[1]
    assert (op.state, op.closed_by, op.last_error) == ("closed", "U1", "Ben has carried it back")


def test_sent_again_waits_until_it_has_settled(home: StoreFolder, session: Session) -> None:
    says(session, "d", "1", "2", "1")
    op = OperationQueue(open_outbox(home.folder)).recent()[-1]
    assert (op.state, op.attempts, op.closed_by) == ("queued", 0, "U1")
    assert op.absence_final_at is not None
    assert op.not_before == op.absence_final_at


def test_whoever_comes_too_late_changes_nothing(home: StoreFolder, session: Session) -> None:
    says(session, "d", "1")
    other = OperationQueue(open_outbox(home.folder))
    first = other.recent()[-1]
    other.confirm(first.op_id, "found")
    db = open_outbox(home.folder)
    with transaction(db):
        assert not OperationQueue(db).resolve(Resolve(first.op_id, RESEND), "U2")
    says(session, "2", "1")
    assert states(home) == ["done", "rejected", "queued"]
    assert other.get(first.op_id).closed_by == ""
