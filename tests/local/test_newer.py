"""A newer program changes the files of a host where a session is at work: nothing is lost, and it is told to go."""

from __future__ import annotations

from contextlib import closing

import apsw
import pytest

from aisle.errors import StorageError
from aisle.jobs.view import GOOD
from aisle.local.host.home import Home
from aisle.local.outbox.outbox import Outbox, open_outbox
from aisle.local.outbox.schema import OUTBOX
from tests.local.test_session_walk import CODES, at, home, say, sent, told

__all__ = ["home"]


def test_a_session_keeps_what_is_scanned_and_leaves_with_a_sentence(home: Home) -> None:
    with at(home) as session:
        say(session, "4102", CODES["P1"])
        with closing(apsw.Connection(str(home.outbox))) as newer:
            for table in ("operation", "job", "session", "event"):
                newer.execute(f"ALTER TABLE {table} ADD COLUMN further TEXT NOT NULL DEFAULT ''").fetchall()
        assert told(say(session, CODES["P1"])) == (GOOD, "pick.taken")
        session.poll()
        assert sent(home)["4102", 1] == 2
        with closing(apsw.Connection(str(home.outbox))) as newer:
            newer.execute(f"PRAGMA user_version={len(OUTBOX) + 1}").fetchall()
        assert told(say(session, CODES["P1"])) == (GOOD, "pick.taken")
        with pytest.raises(StorageError, match="newer aisle"):
            session.poll()
    with closing(apsw.Connection(str(home.outbox))) as newer:
        newer.execute(f"PRAGMA user_version={len(OUTBOX)}").fetchall()
    (last, *_) = Outbox(open_outbox(home.folder)).recent(1)
    assert last.body["orders"]["order_lines"][0]["picked_quantity"] == 3
    with at(home) as session:
        assert session._frame().view.name == "pick.product"
