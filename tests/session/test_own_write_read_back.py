"""A write of one's own that is read back before it is confirmed is not told as somebody else's change."""

from __future__ import annotations

from contextlib import closing

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.database import transaction
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import GOOD, Frame
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.operation_record import Intent
from aisle.session.session import Session
from tests.cache import service_rows
from tests.session.test_batch import CODES, at, home, say, told
from tests.writes import ANNA, movement

__all__ = ["home"]


def read_back(home: StoreFolder, session: Session, picked: float, at_: float, **line: object) -> Frame | None:
    """The courier reads the order, of whose first line so much is picked by then; the session looks."""
    with closing(open_cache(home.folder, writer=True)) as connection:
        lines = [
            service_rows.line(1, "P1", 3, picked, preferred_location_code="A-1", store_walking_order=1, **line),
            service_rows.line(2, "P2", 1, preferred_location_code="A-2", store_walking_order=2),
        ]
        CacheWriter(connection, "0001").write_orders(
            [service_rows.order("4101", *lines)], lines_known=True, read_began=at_
        )
    return session.poll()


def changed(frame: Frame | None) -> bool:
    """Whether the screen says that somebody else changed the order."""
    return frame is not None and told(frame)[1] in ("pick.changed", "pick.changed_question_dropped")


@pytest.mark.parametrize("halfway", [1.0, 2.0])
def test_a_write_of_ones_own_that_is_read_back_halfway_is_no_news(home: StoreFolder, halfway: float) -> None:
    """Two pieces are picked in two writes. One or both have arrived, and no answer has."""
    with at(home) as session, closing(open_outbox(home.folder)) as db:
        say(session, "4101", CODES["P1"])
        say(session, CODES["P1"])
        outbox = OperationQueue(db)
        for op in outbox.unfinished():
            outbox.begin_sending(op.op_id, b"[]")
        assert not changed(read_back(home, session, halfway, 2.0))
        assert not changed(read_back(home, session, 0.0, 3.0)), "an older answer that comes late"
        for op in outbox.unfinished():
            outbox.begin_sending(op.op_id, b"[]")
            outbox.confirm(op.op_id)
        assert not changed(read_back(home, session, 2.0, 4e9)), "it is put right"
        assert changed(read_back(home, session, 3.0, 4e9 + 1)), "now it is somebody else"


def test_own_put_down_read_back_early_is_not_notified(home: StoreFolder) -> None:
    """Of what is in hand one piece was put down: on its way it counts beside what was read back of it."""
    with at(home) as session, closing(open_outbox(home.folder)) as db:
        say(session, "4101", CODES["P1"])
        say(session, CODES["P1"])
        outbox = OperationQueue(db)
        for op in outbox.unfinished():
            outbox.begin_sending(op.op_id, b"[]")
            outbox.confirm(op.op_id)
        with transaction(db):
            (put_down,) = outbox.enqueue([Intent(movement("4101", "P1", 1))], ANNA)
        read_back(home, session, 2.0, 3e9)
        assert told(say(session, CODES["P1"])) == (GOOD, "pick.picked")
        outbox.begin_sending(put_down, b"[]")
        assert not changed(read_back(home, session, 2.0, 3e9 + 1, moved_quantity=1))
        for op in outbox.unfinished():
            outbox.begin_sending(op.op_id, b"[]")
            outbox.confirm(op.op_id)
        assert not changed(read_back(home, session, 3.0, 4e9, moved_quantity=1)), "it is put right"
        assert changed(read_back(home, session, 3.0, 4e9 + 1, moved_quantity=2)), "now it is somebody else"
