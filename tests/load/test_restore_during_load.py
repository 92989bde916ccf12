"""A service that is put back from an earlier copy while a load runs: the load says so; loaded again, all is there."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from aisle.client import Client
from aisle.client.csv_load import LoadProgress, LoadReport, load
from aisle.client.csv_load.report import Meanwhile
from aisle.client.responses_and_errors import Response
from aisle.client.transport import asgi_transport
from aisle.service.auth.tokens_and_pins import create_token
from aisle.service.open_service_and_admin_token import Service, open_service
from aisle.service.operation_context import Role
from tests.load.test_full_load import FILES, counted, loaded, write
from tests.service.database_restore import copy_of, put_back


class Restoring:
    """Puts the service back, once, as soon as the load has come so far."""

    def __init__(self, database: Path, after: str, at_end: bool) -> None:
        self._database = database
        self._copy = copy_of(database)
        self._after, self._at_end = after, at_end
        self.is_done = False

    def __call__(self, progress: LoadProgress) -> None:
        is_whole = progress.bytes_done >= progress.bytes_total
        if not self.is_done and progress.file == self._after and is_whole == self._at_end:
            self.is_done = True
            put_back(self._database, self._copy)


async def watched(folder: Path, service: Service, token: str, restoring: Restoring) -> LoadReport:
    async with Client("http://localhost", token, transport=asgi_transport(service.app)) as client:
        return await load(folder, client, progress=restoring)


@pytest.mark.parametrize(
    ("after", "has_stores"),
    [
        ("stores.csv", False),
        ("products.csv", True),
        ("locations.csv", False),
        ("stock.csv", True),
        ("orders.csv", True),
    ],
)
async def test_a_restore_in_the_middle_of_a_load_is_told(tmp_path: Path, after: str, has_stores: bool) -> None:
    """Nothing of it is there any more, or the half, with the stores or without."""
    folder, database = tmp_path / "files", tmp_path / "service.db"
    folder.mkdir()
    write(folder)
    with closing(open_service(database)) as service:
        token = service.ensure_admin_token(tmp_path / "token")
        if has_stores:
            few = tmp_path / "few"
            few.mkdir()
            for name in ("stores.csv", "products.csv"):
                (few / name).write_text("\n".join(FILES[name]).replace("Product", "Earlier") + "\n")
            assert (await loaded(few, service, token)).is_complete
        restoring = Restoring(database, after, at_end=True)
        report = await watched(folder, service, token, restoring)
        assert restoring.is_done
        assert after in (report.meanwhile.lost if has_stores else report.meanwhile.hidden)
        assert not report.is_complete
        lost = "put back from an earlier copy while this load ran: what it had taken of"
        expected = f"{lost} {report.meanwhile.lost[0]}" if has_stores else "The service no longer shows store"
        assert expected in "\n".join(report.lines())
        again = await loaded(folder, service, token)
        assert (again.is_complete, again.meanwhile._replace(has_other_loads=False)) == (True, Meanwhile())
        found = counted(service)
        assert (found["customer_order"], found["delivery"], found["delivery_line"], found["person"]) == (61, 61, 181, 2)
        assert sum(row[-1] for row in found["stock"] if row[0] == "1") == 1000 * sum(range(3, 43))


async def test_a_restore_that_took_nothing_of_the_load_is_none_of_its_business(tmp_path: Path) -> None:
    folder, database = tmp_path / "files", tmp_path / "service.db"
    folder.mkdir()
    write(folder)
    with closing(open_service(database)) as service:
        token = service.ensure_admin_token(tmp_path / "token")
        copy = copy_of(database)
        assert (await loaded(folder, service, token)).is_complete
        put_back(database, copy)
        report = await loaded(folder, service, token)
        assert (report.is_complete, report.meanwhile.lost) == (True, ())


class Refusing(Client):
    """Client whose service, or something before it, refuses to say which keys it knows."""

    def __init__(self, service: Service, token: str, status: int) -> None:
        super().__init__("http://localhost", token, transport=asgi_transport(service.app))
        self._status = status

    async def request_extension(self, method: str, path: str, **other: Any) -> Response:
        if path.endswith("/keys"):
            return Response(self._status, {}, b'{"success": false, "message": "Not from here."}')
        return await super().request_extension(method, path, **other)


@pytest.mark.parametrize("status", [403, 404])
async def test_a_refused_question_for_the_keys_is_not_taken_for_a_restore(status: int, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    write(folder)
    with closing(open_service(tmp_path / "service.db")) as service:
        async with Refusing(service, service.ensure_admin_token(tmp_path / "token"), status) as client:
            report = await load(folder, client)
    assert (report.is_complete, report.meanwhile.lost, report.meanwhile.hidden) == (True, (), ())
    assert report.lines()[-1] == (
        "Whether the service still has what it took could not be asked: The service answered list-unknown-keys with"
        f" status {status}: Not from here."
    )


async def test_a_store_taken_from_the_token_during_the_load_is_not_taken_for_a_restore(tmp_path: Path) -> None:
    first, folder, database = tmp_path / "first", tmp_path / "files", tmp_path / "service.db"
    for at, names in ((first, BEFORE), (folder, ("stock.csv",))):
        at.mkdir()
        for name in names:
            (at / name).write_text("\n".join(FILES[name]) + "\n")
    with closing(open_service(database)) as service:
        assert (await loaded(first, service, service.ensure_admin_token(tmp_path / "token"))).is_complete
        token = create_token(
            service.database, name="x", role="staff", store_numbers=["1", "2"], now="2026-01-01T00:00:00Z"
        ).secret

        def take_away(progress: LoadProgress) -> None:
            if progress.rows == len(FILES["stock.csv"]) - 1:
                with closing(sqlite3.connect(database)) as opened, opened:
                    opened.execute("DELETE FROM token_store WHERE store_number = '2'")

        async with Client("http://localhost", token, transport=asgi_transport(service.app)) as client:
            report = await load(folder, client, progress=take_away)
    assert (report.is_complete, report.meanwhile) == (
        False,
        Meanwhile(hidden=("stock.csv",), hidden_stores=("2",)),
    )
    assert report.lines()[-1].startswith(
        "The service no longer shows store 2 to this token, so whether it still has what it took of stock.csv is"
        " unknown: "
    )


BEFORE = ("stores.csv", "products.csv", "locations.csv")


@pytest.mark.parametrize("is_restored", [False, True])
@pytest.mark.parametrize(
    ("role", "stores", "names"),
    [
        ("staff", ["1"], ("stock.csv",)),
        ("supervisor", ["1", "2"], ("stock.csv",)),
        ("integration", ["1"], ("locations.csv", "stock.csv", "orders.csv", "deliveries.csv")),
        ("integration", None, ("stock.csv", "orders.csv")),
        ("admin", ["1", "2"], ("people.csv", "store_products.csv", "stock.csv")),
    ],
)
async def test_a_load_under_any_token_tells_of_a_restore_only_if_there_was_one(
    role: Role, stores: list[str] | None, names: tuple[str, ...], is_restored: bool, tmp_path: Path
) -> None:
    first, folder, database = tmp_path / "first", tmp_path / "files", tmp_path / "service.db"
    first.mkdir()
    folder.mkdir()
    for name in BEFORE:
        (first / name).write_text("\n".join(FILES[name]) + "\n")
    for name in names:
        rows = [row for row in FILES[name] if stores != ["1"] or not row.startswith("2,")]
        (folder / name).write_text("\n".join(rows) + "\n")
    with closing(open_service(database)) as service:
        assert (await loaded(first, service, service.ensure_admin_token(tmp_path / "token"))).is_complete
        now = "2026-01-01T00:00:00Z"
        token = create_token(service.database, name="x", role=role, store_numbers=stores, now=now).secret
        if is_restored:
            report = await watched(folder, service, token, Restoring(database, "stock.csv", at_end=True))
            assert "stock.csv" in report.meanwhile.lost
        for _ in range(2):
            report = await loaded(folder, service, token)
            assert (report.is_complete, report.meanwhile) == (True, Meanwhile()), report.lines()
