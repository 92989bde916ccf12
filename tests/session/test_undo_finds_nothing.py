"""`u` after others changed what it would undo: one answer and one row in the journal, in every job."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from aisle.cache.writer import open_cache
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs import JOBS
from aisle.jobs.job import Start
from aisle.jobs.view import INFO, WRONG
from aisle.outbox.operation_queue import open_outbox
from aisle.session.session import Session
from aisle.stored_messages import store_text
from tests.cache import service_rows
from tests.session.job_steps import announced, arrive, cache, put_down
from tests.session.test_session import BARCODES, at, home, say, told

__all__ = ["home"]

P1, P2, _ = BARCODES

WORK: dict[str, tuple[str, ...]] = {
    "pick": ("4101", P1),
    "pick, all": ("4102", f"2*{P2}"),
    "put down": ("4102", f"2*{P2}", "A-3", "1"),
    "shortage": ("4101", "s", "1"),
    "line rejected": ("4101", "s", "3", "1"),
    "batch": ("batch", "4101", "4102", "g", P1),
    "batch, shortage": ("batch", "4101", "4102", "g", "s", "1"),
    "move": ("move", "A-1", f"4*{P1}", "A-2"),
    "adjust": ("count", "1", P1, "d", "1"),
    "count": ("count", "A-1", P1, "19", "d", "y"),
    "receive": ("receive", "7001", f"3*{P1}", "A-1"),
    "expiry": ("expiry", P1, "1.1.2030", "y"),
    "goods put back": ("hand_over", "4105", "2", "1", "2", "1"),
    "hand-over": ("hand_over", "4105", "1"),
}
"""What the person did last. The name of a job in front opens it."""


def orders(**fields: Any) -> Callable[[StoreFolder, Session], None]:
    """All is sent; then others change all orders."""

    def write(home: StoreFolder, session: Session) -> None:
        arrive(home, session)
        lines = {
            "4101": [service_rows.line(1, "P1", 1, 1), service_rows.line(2, "P2", 12), service_rows.line(3, "P3", 200)],
            "4102": [service_rows.line(1, "P2", 2, 2, moved_quantity=2)],
            "4105": [service_rows.line(1, "P1", 2, 2, moved_quantity=2), service_rows.line(2, "P2", 1, 1)],
        }
        rows = [service_rows.order(number, *known, **fields) for number, known in lines.items()]
        cache(home).write_orders(rows, lines_known=True, read_began=time.time() + 1000)

    return write


def empty(home: StoreFolder, session: Session) -> None:
    """All is sent; then no order has a line any more."""
    arrive(home, session)
    rows = [service_rows.order(number) for number in ("4101", "4102", "4105")]
    cache(home).write_orders(rows, lines_known=True, read_began=time.time() + 1000)


def deleted(home: StoreFolder, session: Session) -> None:
    """All is sent; then the store has neither orders nor deliveries, products nor locations any more."""
    arrive(home, session)
    with closing(open_cache(home.folder, writer=True)) as db:
        db.execute("PRAGMA foreign_keys = off")
        for (table,) in list(db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")):
            columns = {column for _, column, *_ in db.execute(f"PRAGMA table_info('{table}')")}
            if columns & {"order_number", "delivery_number", "product_number", "location_code"}:
                db.execute(f'DELETE FROM "{table}"')


def refused(home: StoreFolder, session: Session) -> None:
    """The service refuses all that was sent."""
    for operation in session.store.operations.unfinished():
        session.store.operations.begin_sending(operation.op_id, b"{}")
        session.store.operations.refuse(operation.op_id, store_text("no"))


def without(table: str) -> Callable[[StoreFolder, Session], None]:
    """The journal has lost its rows of one kind."""

    def delete(home: StoreFolder, session: Session) -> None:
        with closing(open_outbox(home.folder)) as db:
            db.execute("PRAGMA foreign_keys = off")
            db.execute(f"DELETE FROM {table}")

    return delete


MEANWHILE: dict[str, Callable[[StoreFolder, Session], None]] = {
    "handed over": orders(is_active=False),
    "rejected": orders(is_rejected=True),
    "claimed": orders(is_claimed=True),
    "empty": empty,
    "deleted": deleted,
    "refused": refused,
    "job gone": without("job"),
    "events gone": without("event"),
    "operations gone": without("operation"),
}


def work(home: StoreFolder, session: Session, done: str) -> None:
    """Do it, and go home."""
    inputs = WORK[done]
    if inputs[0] in JOBS:
        session.start_batch()
        session.event_runner.open(Start(inputs[0], {}))
        session.event_runner.commit()
        inputs = inputs[1:]
    for text in inputs:
        say(session, text)
    assert session.store.operations.unfinished()
    for _ in range(4):
        for text in ("b", "y"):
            if session.frames.build().view.name != "home":
                say(session, text)


def rows_of_journal(home: StoreFolder) -> int:
    """The number of events in the journal."""
    with closing(open_outbox(home.folder)) as db:
        return int(next(iter(db.execute("SELECT count(*) FROM event")))[0])


@pytest.mark.parametrize("is_restarted", [False, True])
@pytest.mark.parametrize("happened", MEANWHILE)
@pytest.mark.parametrize("done", WORK)
def test_undo_answers_once_whatever_others_did(home: StoreFolder, done: str, happened: str, is_restarted: bool) -> None:
    announced(home)
    put_down(home)
    with at(home, user="U1") as session:
        work(home, session, done)
        assert session.frames.build().view.name == "home"
        MEANWHILE[happened](home, session)
        if not is_restarted:
            undo_twice(home, session)
    if is_restarted:
        with at(home, user="U1") as session:
            undo_twice(home, session)


def undo_twice(home: StoreFolder, session: Session) -> None:
    """Undo twice. What cannot be undone leaves the page as it is, and writes its own row only."""
    session.poll()
    for _ in range(2):
        before, page, jobs = rows_of_journal(home), session.frames.build().view.name, session.stack.snapshot()
        frame = say(session, "u")
        assert frame.verdict is not None
        if frame.view.name == page == "home":
            assert told(frame) in (
                (WRONG, "home.nothing_left_to_undo"),
                (WRONG, "home.not_undone"),
                (INFO, "pick.nothing_to_undo"),
            )
            assert (rows_of_journal(home) - before, len(session.stack.jobs)) == (1, len(jobs))
        assert rows_of_journal(home) - before <= 6


@pytest.mark.parametrize("happened", ["handed over", "rejected", "empty"])
@pytest.mark.parametrize("done", ["put down", "shortage", "line rejected", "batch, shortage"])
def test_an_order_that_is_gone_leaves_nothing_to_undo(home: StoreFolder, done: str, happened: str) -> None:
    with at(home, user="U1") as session:
        work(home, session, done)
        MEANWHILE[happened](home, session)
        session.poll()
        sent = len(session.store.operations.recent())
        for _ in range(3):
            frame = say(session, "u")
            assert (frame.view.name, told(frame)) == ("home", (WRONG, "home.nothing_left_to_undo"))
        assert len(session.store.operations.recent()) == sent
        with closing(open_outbox(home.folder)) as db:
            assert not list(db.execute("SELECT 1 FROM job WHERE closed IS NULL AND name = 'pick'"))
