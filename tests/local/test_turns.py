"""Whoever knows what waits reads again only what was written since, and all of it where he cannot tell."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import apsw
import pytest

from aisle.local.db import fetch, transaction
from aisle.local.host.home import Home
from aisle.local.outbox.outbox import Outbox, open_outbox
from aisle.local.reads import overlay as overlays
from aisle.local.reads.entries import Said
from aisle.local.reads.overlay import Overlay
from aisle.local.told import NOTHING
from tests.local.kit import ANNA, intents, update


def pick(outbox: Outbox, *orders: str) -> list[str]:
    """Something is picked for each of these orders; the ids of the operations."""
    with transaction(outbox._db):
        return list(outbox.enqueue(intents(*(update(number, {1: 1}) for number in orders)), ANNA))


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the operations that an overlay has read."""
    found: list[int] = []

    def note(*row: object) -> Said:
        found.append(int(str(row[0])))
        return Said(*row)  # type: ignore[arg-type]

    monkeypatch.setattr(overlays, "Said", note)
    return found


def test_of_much_that_waits_what_was_written_is_read_alone(outbox_db: apsw.Connection, read: list[int]) -> None:
    outbox, overlay = Outbox(outbox_db), Overlay(outbox_db)
    ids = pick(outbox, *(str(4000 + each) for each in range(50)))
    assert len(overlay.orders()) == len(read) == len(ids)
    read.clear()
    pick(outbox, "4100")
    outbox.begin_sending(ids[7], b"{}")
    assert overlay.orders()["4007"][0].state == "sending"
    assert sorted(overlay.orders()) == sorted([*(str(4000 + each) for each in range(50)), "4100"])
    assert len(read) == 2
    outbox.confirm(ids[7])
    outbox.read_back(ids[7])
    outbox.reject(ids[8], NOTHING)
    assert {"4007", "4008"}.isdisjoint(overlay.orders())


def test_who_was_away_for_too_long_reads_all_of_it(outbox_db: apsw.Connection) -> None:
    outbox, overlay = Outbox(outbox_db), Overlay(outbox_db)
    (gone, _) = pick(outbox, "4101", "4102")
    assert set(overlay.orders()) == {"4101", "4102"}
    outbox.reject(gone, NOTHING)
    pick(outbox, "4103")
    outbox_db.execute("DELETE FROM turn WHERE turn < (SELECT max(turn) FROM turn)")
    assert set(overlay.orders()) == {"4102", "4103"}


def test_what_is_undone_gives_its_turn_to_another(outbox_db: apsw.Connection) -> None:
    outbox, overlay = Outbox(outbox_db), Overlay(outbox_db)
    pick(outbox, "4101")
    assert set(overlay.orders()) == {"4101"}
    with suppress(ZeroDivisionError), transaction(outbox_db):
        outbox.enqueue(intents(update("4102", {1: 1})), ANNA)
        assert set(overlay.orders()) == {"4101", "4102"}
        raise ZeroDivisionError
    assert set(overlay.orders()) == {"4101"}
    pick(outbox, "4103")
    assert set(overlay.orders()) == {"4101", "4103"}


def test_turns_do_not_pile_up(outbox_db: apsw.Connection, home: Home) -> None:
    (op_id,) = pick(Outbox(outbox_db), "4101")
    other = open_outbox(home.folder)
    with transaction(other):
        for _ in range(13_000):
            other.execute("UPDATE operation SET evidence = '' WHERE op_id = ?", (op_id,))
    (kept,) = other.execute("SELECT count(*) FROM turn").fetchone() or (0,)
    other.close()
    assert 10_000 <= kept < 11_001


def test_what_moves_on_in_the_middle_of_a_look_is_there_still(
    outbox_db: apsw.Connection, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = open_outbox(home.folder)
    outbox, overlay = Outbox(other), Overlay(outbox_db)
    (op_id,) = pick(outbox, "4101")
    assert set(overlay.orders()) == {"4101"}
    pick(outbox, "4102")
    asked: list[str] = []

    def fetched(connection: apsw.Connection, sql: str, *values: object) -> list[tuple[Any, ...]]:
        asked.append(sql)
        rows = fetch(connection, sql, *values)
        if len(asked) == 2:
            outbox.begin_sending(op_id, b"{}")
        return rows

    monkeypatch.setattr(overlays, "fetch", fetched)
    assert set(overlay.orders()) == {"4101", "4102"}
    assert len(asked) > 2
    assert overlay.orders()["4101"][0].state == "sending"
    other.close()
