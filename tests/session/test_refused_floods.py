"""Floods of refused inputs, as of a paste into a kiosk: few are stored, and what is done afterwards is kept."""

from __future__ import annotations

from contextlib import closing

from aisle.host.store_and_database_folders import StoreFolder
from aisle.outbox.operation_queue import open_outbox
from aisle.session.unit_of_work import MAX_REFUSED_BYTES
from tests.run_length import tries
from tests.session.test_session import BARCODES, at, home, say, sent, told

__all__ = ["home"]

FLOOD = tries(2_500, 5_000)


def stored(home: StoreFolder) -> tuple[int, int]:
    """Number and bytes of the stored events without a job."""
    with closing(open_outbox(home.folder)) as db:
        sql = "SELECT count(*), sum(length(raw) + length(event) + length(facts)) FROM event WHERE job_id = ''"
        ((rows, size),) = db.execute(sql)
        return int(rows), int(size)


def test_flood_of_refused_inputs_stores_few(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        now = [1_800_000_000.0]
        session.context.clock = lambda: now[0]
        for number in range(20):
            frame = say(session, *[f"nothing {number} {n}" for n in range(20)])
        every, _ = stored(home)
        assert every >= 20
        for number in range(FLOOD // 100):
            frame = say(session, *["\x04\x05\x06"] * 100)
            assert told(frame)[0] == "wrong", number
        rows, size = stored(home)
        assert 100 < rows - every < FLOOD / 2
        assert size < 2 * MAX_REFUSED_BYTES
        say(session, "4101", BARCODES[0])
        assert sent(home)
        now[0] += 60
        say(session, "b", "b", "\x04\x05\x06")
        assert stored(home)[0] > rows
