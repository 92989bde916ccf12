"""A newer program changes the files of a host where a session is at work: nothing is lost, and it is told to go."""

from __future__ import annotations

from contextlib import closing

import apsw
import pytest

from aisle.cache.schema import SCHEMA_VERSION
from aisle.errors import StorageError
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import GOOD, WRONG, msg
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.outbox_schema import OUTBOX_MIGRATIONS
from tests.session.polling import rested
from tests.session.test_batch import CODES, at, home, say, sent, told

__all__ = ["home"]


def test_a_session_keeps_what_is_scanned_and_leaves_with_a_sentence(home: StoreFolder) -> None:
    with at(home) as session:
        say(session, "4102", CODES["P1"])
        with closing(apsw.Connection(str(home.outbox))) as newer:
            for table in ("operation", "job", "session", "event"):
                newer.execute(f"ALTER TABLE {table} ADD COLUMN further TEXT NOT NULL DEFAULT ''").fetchall()
        assert told(say(session, CODES["P1"])) == (GOOD, "pick.picked")
        session.poll()
        assert sent(home)["4102", 1] == 2
        with closing(apsw.Connection(str(home.outbox))) as newer:
            newer.execute(f"PRAGMA user_version={len(OUTBOX_MIGRATIONS) + 1}").fetchall()
        assert told(say(session, CODES["P1"])) == (GOOD, "pick.picked")
        with pytest.raises(StorageError, match="newer aisle"):
            session.poll()
    with closing(apsw.Connection(str(home.outbox))) as newer:
        newer.execute(f"PRAGMA user_version={len(OUTBOX_MIGRATIONS)}").fetchall()
    (last, *_) = OperationQueue(open_outbox(home.folder)).recent(1)
    assert last.body["orders"]["order_lines"][0]["picked_quantity"] == 3
    with at(home) as session:
        assert session.frames.build().view.name == "pick.product"


def test_session_with_newer_cache_asks_for_restart_and_keeps_state(home: StoreFolder) -> None:
    with at(home) as session:
        say(session, "4102", CODES["P1"])
        with closing(apsw.Connection(str(home.cache))) as newer:
            newer.execute(f"PRAGMA user_version={SCHEMA_VERSION + 1}").fetchall()
        assert told(session.poll() or session.frames.build()) == (GOOD, "pick.picked")
        frame = rested(session)
        assert frame.link.state == "renewed"
        assert told(frame) == (WRONG, "pick.join")
        assert frame.verdict is not None
        assert dict(frame.verdict.text.args)["what"] == msg("session.program_outdated")
        assert frame.view.name == "pick.product"
        assert sent(home)["4102", 1] == 1
        with closing(apsw.Connection(str(home.cache))) as newer:
            assert newer.execute("PRAGMA user_version").fetchall() == [(SCHEMA_VERSION + 1,)]
            newer.execute(f"PRAGMA user_version={SCHEMA_VERSION}").fetchall()
        session.poll()
        assert session.frames.build().link.state != "renewed"
        assert told(say(session, CODES["P1"])) == (GOOD, "pick.picked")
    assert sent(home)["4102", 1] == 2
