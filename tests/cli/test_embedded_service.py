"""The service built into aisle, opened beside whoever waits for it: another process may hold its file."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path
from threading import Event
from typing import Any, NoReturn

import apsw
import pytest

from aisle.cli.service_client import service_client, store_folder_of
from aisle.cli.web import PeopleClient
from aisle.service.db import sqlite_database
from aisle.service.db.database_interface import database_failure
from aisle.service.db.sqlite_writer import SqliteWriter
from aisle.service.open_service_and_admin_token import Service, open_service
from aisle.settings.load_settings import load_settings
from aisle.web.app import SignInError
from aisle.web.sign_ins import Person


@pytest.fixture
def held(aisle_home: Path) -> apsw.Connection:
    """A process that is at work in the service's file."""
    other = apsw.Connection(str(store_folder_of(load_settings({})).service_db))
    other.execute("PRAGMA journal_mode = WAL").fetchall()
    other.execute("BEGIN IMMEDIATE")
    return other


async def test_while_another_holds_the_file_the_loop_goes_on(
    held: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_database, "_OPEN_TIMEOUT_MS", 20_000)

    async def let_go() -> None:
        held.execute("ROLLBACK")
        held.close()

    going_on = asyncio.create_task(let_go())
    async with service_client(load_settings({})) as client:
        assert (await client.call("list-locations", store_number="0001"))["list"]
    await going_on


async def test_cancelled_open_leaves_nothing_open(held: apsw.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, closed, open_, close = Event(), Event(), open_service, Service.close

    def begins(path: Path, *args: Any, **options: Any) -> Service:
        begun.set()
        return open_(path, *args, **options)

    def ends(service: Service) -> None:
        close(service)
        closed.set()

    monkeypatch.setattr("aisle.cli.embedded_service.open_service", begins)
    monkeypatch.setattr(Service, "close", ends)

    async def wait() -> None:
        async with service_client(load_settings({})):
            raise AssertionError("nobody can have opened it")

    with closing(held):
        waiting = asyncio.create_task(wait())
        assert await asyncio.to_thread(begun.wait, 60)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        held.execute("ROLLBACK")
    assert await asyncio.to_thread(closed.wait, 60)


async def test_a_full_disk_is_logged_once_though_each_sign_in_opens_the_service(
    aisle_home: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    people = PeopleClient(load_settings({}))
    assert isinstance(await people.check_pin("fred", "2468"), Person)

    async def fails(writer: SqliteWriter, work: object) -> NoReturn:
        raise database_failure(apsw.FullError("of /srv/aisle"))

    monkeypatch.setattr(SqliteWriter, "submit_async", fails)
    for _ in range(3):
        answer = await people.check_pin("fred", "2468")
        assert answer == SignInError("pin.refused", detail="The disk of the database is full; free some space on it.")
    assert [each.getMessage() for each in caplog.records] == ["database lost: FullError of writes"]
