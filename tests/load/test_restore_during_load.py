"""A service that is put back from an earlier copy while a load runs: the load says so; loaded again, all is there."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from aisle.client import Client
from aisle.client.csv_load import LoadProgress, LoadReport, load
from aisle.client.csv_load.report import Meanwhile
from aisle.client.transport import asgi_transport
from aisle.service.auth.tokens import create_token
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
        assert after in report.meanwhile.lost
        assert not report.is_complete
        gone = f"put back from an earlier copy while this load ran: what it had taken of {report.meanwhile.lost[0]}"
        assert gone in "\n".join(report.lines())
        again = await loaded(folder, service, token)
        assert (again.is_complete, *again.meanwhile[::2]) == (True, (), "")
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
