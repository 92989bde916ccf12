"""An undo that changed nothing, because somebody counted the goods before it arrived."""

from __future__ import annotations

import re
import time
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import pytest

import aisle
from aisle.host.database import transaction
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import Write
from aisle.jobs.view import WRONG, msg, undo_verdict
from aisle.operation_body_types import LogEntry
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.operation_record import Author, Intent
from aisle.outbox.replay_after_restore import DETECTED, record_restore
from aisle.stored_messages import LATER_COUNT, read_message, store_message
from tests.session.test_asked_quantity import shown
from tests.session.test_session import at, home, told

__all__ = ["home"]


def undo_too_late(home: StoreFolder, user: str) -> None:
    """The service has a later count, so that the undo of this person changes nothing."""
    entry: LogEntry = {"product_number": "P1", "location_code": "A-1", "quantity": Decimal(6), "reference": "undo-7"}
    write = Write(
        "create-store-product-logs", ("product/P1",), {"store_number": "0001"}, {}, {"storeproductlog": [entry]}
    )
    db = open_outbox(home.folder)
    queue = OperationQueue(db)
    with transaction(db):
        (op_id,) = queue.enqueue([Intent(write)], Author("0001", user))
    queue.keep_entries(op_id, [], [entry], store_message(LATER_COUNT, counted=Decimal(9)))
    db.close()


@pytest.mark.parametrize(("user", "is_told"), [("U1", True), ("U2", False)])
def test_the_person_is_told_once_and_nothing_is_left_to_do(home: StoreFolder, user: str, is_told: bool) -> None:
    with at(home, user="U1") as session:
        session.poll()
        undo_too_late(home, user)
        frame = session.poll()
        assert frame is not None
        assert (told(frame) == (WRONG, "session.undo_after_count")) == is_told
        assert ("9" in shown(frame, 80, 24) and "Nothing was undone" in shown(frame, 80, 24)) == is_told
        assert "@" not in shown(frame, 80, 24)
        assert not session.store.reader.query("needing_person", {})[1]
        session.verdicts.current = None
        again = session.poll()
        assert again is None or not again.verdict


def test_the_answer_that_told_of_the_undo_is_corrected_at_once(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        session.poll()
        session.verdicts.answer(undo_verdict(msg("session.dropped")))
        undo_too_late(home, "U1")
        frame = session.poll()
        assert frame is not None
        assert "Nothing was undone" in shown(frame, 80, 24)
        assert frame.verdict
        assert frame.verdict.kind == WRONG


def test_it_does_not_hide_the_report_of_a_restore(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        session.poll()
        with closing(open_outbox(home.folder)) as db, transaction(db):
            record_restore(db, time.time(), DETECTED, 3)
        undo_too_late(home, "U1")
        for later_s, text_id in ((0, "session.restored"), (5, "session.restored"), (11, "session.undo_after_count")):
            session.context.clock = lambda later_s=later_s: time.time() + later_s  # type: ignore[misc]
            frame = session.poll()
            assert frame is not None
            assert told(frame)[1] == text_id


def test_every_message_that_is_stored_can_be_read() -> None:
    sources = [path.read_text() for path in Path(aisle.__file__).parent.rglob("*.py")]
    ids = {id_ for text in sources for id_ in re.findall(r'store_message\(\s*"([a-z_.]+)"', text)} | {LATER_COUNT}
    assert len(ids) > 10
    assert [id_ for id_ in ids if read_message(store_message(id_)).id != id_] == []
