"""`aisle people`: people and their PINs, from a shell."""

from __future__ import annotations

import io
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from aisle.cli import main, people
from aisle.client import Client, Response
from aisle.host.store_and_database_folders import StoreFolder
from aisle.service.db.database_interface import Transaction
from aisle.service.open_service_and_admin_token import open_service
from aisle.settings.setting_definitions import DEMO_STORE, EMBEDDED
from aisle.settings.settings_files_and_folders import find_data_folder
from tests.service.world import prepare


@pytest.fixture(autouse=True)
def home(aisle_home: Path) -> None:
    """Every test has a demo store of its own."""
    prepare(aisle_home / "service.db", demo=True)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit status, stdout and stderr of one command line."""
    status = main(("people", *arguments))
    out, err = capsys.readouterr()
    return status, out, err


def listed(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, object]]:
    status, out, err = run(capsys, "list", "--json")
    assert (status, err) == (0, "")
    return {row["badge"]: row for row in map(json.loads, out.splitlines())}


def stored_pin(badge: str) -> str | None:
    async def work(tx: Transaction) -> str | None:
        row = await tx.one("SELECT pin_hash FROM person WHERE store_number = $1 AND badge = $2", DEMO_STORE, badge)
        assert row is not None
        return None if row[0] is None else str(row[0])

    service = open_service(StoreFolder(find_data_folder(os.environ), EMBEDDED, DEMO_STORE).service_db)
    try:
        return service.database.read_now(work)
    finally:
        service.close()


def test_somebody_comes_changes_and_goes(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    before = listed(capsys)
    monkeypatch.setattr("sys.stdin", io.StringIO("2468\n"))
    made = run(capsys, "set", "NEW-1", "--user-name", "zoe", "--name", "Zoë", "--role", "supervisor", "--pin")
    assert made == (0, "", "")
    after = listed(capsys)
    assert after.keys() - before.keys() == {"NEW-1"}
    assert after["NEW-1"] == {"badge": "NEW-1", "user": "zoe", "name": "Zoë", "role": "supervisor", "has_pin": True}
    kept = stored_pin("NEW-1")
    assert kept
    assert "2468" not in kept
    assert run(capsys, "set", "NEW-1", "--name", "Zoé") == (0, "", "")
    assert listed(capsys)["NEW-1"] == after["NEW-1"] | {"name": "Zoé"}, "what is not named stays"
    assert stored_pin("NEW-1") == kept
    assert run(capsys, "set", "NEW-1", "--no-pin") == (0, "", "")
    assert stored_pin("NEW-1") is None
    status, out, _ = run(capsys, "list")
    assert status == 0
    assert "NEW-1\tzoe\tsupervisor\t-\tZoé" in out.splitlines()
    assert run(capsys, "remove", "NEW-1") == (0, "", "")
    assert listed(capsys) == before


def test_what_cannot_be_is_said(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    before = listed(capsys)
    status, _, err = run(capsys, "set", "NEW-2")
    assert status == 2
    assert "--user-name" in err
    status, _, err = run(capsys, "remove", "NEW-2")
    assert (status, "NEW-2" in err) == (2, True)
    monkeypatch.setattr("sys.stdin", io.StringIO("12\n"))
    status, _, err = run(capsys, "set", "NEW-2", "--user-name", "z", "--name", "Z", "--pin")
    assert (status, "PIN" in err) == (1, True)
    taken = next(iter(before.values()))["user"]
    status, _, err = run(capsys, "set", "NEW-2", "--user-name", str(taken), "--name", "Z")
    assert (status, "another badge" in err) == (1, True)
    assert listed(capsys) == before


@pytest.mark.parametrize("typed", [["1234", "1235"], ["1234", "1234"]])
def test_a_pin_is_typed_twice_where_nobody_sees_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, typed: list[str]
) -> None:
    class Keyboard(io.StringIO):
        def isatty(self) -> bool:
            return True

    answers = list(typed)
    monkeypatch.setattr("sys.stdin", Keyboard())
    monkeypatch.setattr(people, "getpass", lambda prompt: answers.pop(0))
    status, out, err = run(capsys, "set", "NEW-3", "--user-name", "z3", "--name", "Z", "--pin")
    same = typed[0] == typed[1]
    assert (status, out) == ((0 if same else 2), "")
    assert ("two PINs" in err) is not same
    assert ("NEW-3" in listed(capsys)) is same


def test_no_pin_is_no_way_to_take_one_away(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    kept = stored_pin("BADGE-U6")
    assert kept
    for said in ("", "\n"):
        monkeypatch.setattr("sys.stdin", io.StringIO(said))
        status, _, err = run(capsys, "set", "BADGE-U6", "--pin")
        assert (status, stored_pin("BADGE-U6")) == (2, kept)
        assert "nothing was changed" in err


def test_a_service_without_people_is_said_to_be_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stub(Client):
        async def request_extension(self, method: str, path: str, **_: object) -> Response:
            assert (method, path) == ("GET", f"/aisle/v1/stores/{DEMO_STORE}/people")
            return Response(404, {}, b"<html>")

    @asynccontextmanager
    async def client(loaded: object) -> AsyncIterator[Stub]:
        yield Stub("http://127.0.0.1:1")

    monkeypatch.setattr(people, "service_client", client)
    for command in (("list",), ("set", "B"), ("remove", "B")):
        status, out, err = run(capsys, *command)
        assert (status, out) == (1, "")
        assert "cannot be kept here" in err
