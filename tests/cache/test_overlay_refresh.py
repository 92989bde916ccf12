"""The overlay reads only operations written since the last read, or all when it cannot tell."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import apsw
import pytest

from aisle.cache import order_overlay as overlays
from aisle.cache.order_overlay import Overlay
from aisle.cache.overlay_index import OperationStatus
from aisle.host.database import fetch, transaction
from aisle.host.store_folder import StoreFolder
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.reason_messages import NO_MESSAGE
from tests.writes import ANNA, intents, update


def pick(outbox: OperationQueue, *orders: str) -> list[str]:
    """Something is picked for each of these orders; the ids of the operations."""
    with transaction(outbox._db):
        return list(outbox.enqueue(intents(*(update(number, {1: 1}) for number in orders)), ANNA))


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the operations that an overlay has read."""
    found: list[int] = []

    def note(*row: object) -> OperationStatus:
        found.append(int(str(row[0])))
        return OperationStatus(*row)  # type: ignore[arg-type]

    monkeypatch.setattr(overlays, "OperationStatus", note)
    return found


def test_of_much_that_waits_what_was_written_is_read_alone(outbox_db: apsw.Connection, read: list[int]) -> None:
    outbox, overlay = OperationQueue(outbox_db), Overlay(outbox_db)
    ids = pick(outbox, *(str(4000 + each) for each in range(50)))
    assert len(overlay.by_order()) == len(read) == len(ids)
    read.clear()
    pick(outbox, "4100")
    outbox.begin_sending(ids[7], b"{}")
    assert overlay.by_order()["4007"][0].state == "sending"
    assert sorted(overlay.by_order()) == sorted([*(str(4000 + each) for each in range(50)), "4100"])
    assert len(read) == 2
    outbox.confirm(ids[7])
    outbox.mark_read_back(ids[7])
    outbox.refuse(ids[8], NO_MESSAGE)
    assert {"4007", "4008"}.isdisjoint(overlay.by_order())


def test_who_was_away_for_too_long_reads_all_of_it(outbox_db: apsw.Connection) -> None:
    outbox, overlay = OperationQueue(outbox_db), Overlay(outbox_db)
    (gone, _) = pick(outbox, "4101", "4102")
    assert set(overlay.by_order()) == {"4101", "4102"}
    outbox.refuse(gone, NO_MESSAGE)
    pick(outbox, "4103")
    outbox_db.execute("DELETE FROM operation_change WHERE seq < (SELECT max(seq) FROM operation_change)")
    assert set(overlay.by_order()) == {"4102", "4103"}


def test_what_is_undone_gives_its_turn_to_another(outbox_db: apsw.Connection) -> None:
    outbox, overlay = OperationQueue(outbox_db), Overlay(outbox_db)
    pick(outbox, "4101")
    assert set(overlay.by_order()) == {"4101"}
    with suppress(ZeroDivisionError), transaction(outbox_db):
        outbox.enqueue(intents(update("4102", {1: 1})), ANNA)
        assert set(overlay.by_order()) == {"4101", "4102"}
        raise ZeroDivisionError
    assert set(overlay.by_order()) == {"4101"}
    pick(outbox, "4103")
    assert set(overlay.by_order()) == {"4101", "4103"}


def test_turns_do_not_pile_up(outbox_db: apsw.Connection, home: StoreFolder) -> None:
    (op_id,) = pick(OperationQueue(outbox_db), "4101")
    other = open_outbox(home.folder)
    with transaction(other):
        for _ in range(13_000):
            other.execute("UPDATE operation SET evidence = '' WHERE op_id = ?", (op_id,))
    (kept,) = other.execute("SELECT count(*) FROM operation_change").fetchone() or (0,)
    other.close()
    assert 10_000 <= kept < 11_001


def test_what_moves_on_in_the_middle_of_a_look_is_there_still(
    outbox_db: apsw.Connection, home: StoreFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = open_outbox(home.folder)
    outbox, overlay = OperationQueue(other), Overlay(outbox_db)
    (op_id,) = pick(outbox, "4101")
    assert set(overlay.by_order()) == {"4101"}
    pick(outbox, "4102")
    asked: list[str] = []

    def fetched(connection: apsw.Connection, sql: str, *values: object) -> list[tuple[Any, ...]]:
        asked.append(sql)
        rows = fetch(connection, sql, *values)
        if len(asked) == 2:
            outbox.begin_sending(op_id, b"{}")
        return rows

    monkeypatch.setattr(overlays, "fetch", fetched)
    assert set(overlay.by_order()) == {"4101", "4102"}
    assert len(asked) > 2
    assert overlay.by_order()["4101"][0].state == "sending"
    other.close()
