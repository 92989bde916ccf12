"""A database copied and put back while it is in use: a copy is one moment, a restore is whole or not at all."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from aisle.cli import main
from aisle.errors import StorageError
from aisle.service.db.schema_and_search_index import MIGRATIONS
from aisle.service.db.sqlite_backup_and_restore import back_up, inspect_backup, restore
from aisle.service.open_service_and_admin_token import open_service
from tests.service.world import World, assert_books, prepare


def references(file: Path) -> set[str]:
    """Of which log entries a database knows."""
    with closing(apsw.Connection(str(file))) as connection:
        return {str(row[0]) for row in connection.execute("SELECT reference FROM stock_log")}


class Writer:
    """Writes entries one after another until it is stopped; `said` are those that were answered."""

    def __init__(self, world: World, first: int) -> None:
        self.said: list[str] = []
        self._world = world
        self._first = first
        self._told: asyncio.Queue[str] = asyncio.Queue()
        self._stopped = False
        self._task = asyncio.create_task(self._write())

    async def _write(self) -> None:
        while not self._stopped:
            reference = f"R{self._first + len(self.said)}"
            await self._world.log(product_number="P1", quantity=1, location_code="A1", reference=reference)
            self.said.append(reference)
            self._told.put_nowait(reference)

    async def more(self, many: int) -> None:
        """Wait for so many more."""
        while not self._told.empty():
            self._told.get_nowait()
        for _ in range(many):
            await asyncio.wait_for(self._told.get(), 60)

    async def stop(self) -> None:
        """Let it end."""
        self._stopped = True
        await self._task


def left_over(folder: Path, word: str) -> list[str]:
    """Names of files that should not be there."""
    return [file.name for file in folder.iterdir() if word in file.name]


async def test_a_copy_is_one_moment_while_writers_work(tmp_path: Path) -> None:
    world = World(tmp_path)
    await world.fill()
    writer = Writer(world, 0)
    for number in range(3):
        await writer.more(5)
        before = set(writer.said)
        file = tmp_path / f"copy{number}.db"
        copied = await asyncio.to_thread(back_up, tmp_path / "service.db", file)
        after = set(writer.said)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert copied.stores == 4
        assert before <= references(file) <= after | {f"R{len(after)}"}
        with closing(open_service(file)) as service:
            assert_books(service)
    await writer.stop()
    assert not left_over(tmp_path, "part")
    await world.close()


async def test_a_copy_is_put_back_under_a_service_at_work(tmp_path: Path) -> None:
    world = World(tmp_path)
    await world.fill()
    await world.log(product_number="P1", quantity=5, location_code="A1", reference="KEPT")
    database, file = tmp_path / "service.db", tmp_path / "copy.db"
    back_up(database, file)
    await world.log(product_number="P1", quantity=7, location_code="A1", reference="LATER")
    with pytest.raises(StorageError, match=r"does not know \(1 times change in S1\)"):
        restore(file, database)
    assert len(await world.rows("/products/stock/storeproductlogs", store_number="S1")) == 2
    writer = Writer(world, 100)
    await writer.more(3)
    done = await asyncio.to_thread(restore, file, database, allow_loss=True)
    await writer.more(3)
    await writer.stop()
    said = writer.said
    left = references(database)
    assert "KEPT" in left
    assert "LATER" not in left
    assert said[-1] in left, "who works goes on"
    assert done.previous
    assert {"KEPT", "LATER", *said[:3]} <= references(done.previous), "and what went is kept"
    await world.close()


def test_restore_creates_missing_database(tmp_path: Path) -> None:
    prepare(tmp_path / "old.db", demo=True)
    with closing(open_service(tmp_path / "old.db")):
        back_up(tmp_path / "old.db", tmp_path / "copy.db")
    os.chmod(tmp_path / "copy.db", 0o400)
    done = restore(tmp_path / "copy.db", tmp_path / "new" / "service.db")
    assert done.previous is None
    assert stat.S_IMODE((tmp_path / "new" / "service.db").stat().st_mode) == 0o600
    assert inspect_backup(tmp_path / "new" / "service.db").stores == done.backup.stores == 5
    # The same again changes nothing, and needs no leave to.
    restore(tmp_path / "copy.db", tmp_path / "new" / "service.db")


def _text(file: Path) -> None:
    file.write_text("no database at all, only a text that is long enough to be one " * 100)


def _rubbish(file: Path) -> None:
    file.write_bytes(b"\xa5" * 700)


def _rubbish_behind_a_head(file: Path) -> None:
    file.write_bytes(b"SQLite format 3\0" + b"\xa5" * 700)


def _foreign(file: Path) -> None:
    with closing(apsw.Connection(str(file))) as connection:
        connection.execute("CREATE TABLE other (x)")


def _instead(file: Path) -> None:
    file.unlink()
    _foreign(file)


def _statement(statement: str) -> Callable[[Path], None]:
    def change(file: Path) -> None:
        with closing(apsw.Connection(str(file))) as connection:
            connection.execute(statement)

    return change


def _torn(file: Path) -> None:
    content = bytearray(file.read_bytes())
    middle = len(content) // 8192 * 4096
    content[middle : middle + 20_000] = b"\xa5" * 20_000
    file.write_bytes(content)


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (_text, "copy.db is no database, so nothing was restored. Name a file"),
        (_rubbish, "copy.db is no database, so nothing was restored. Name a file"),
        (_rubbish_behind_a_head, "copy.db cannot be copied to .*: it is damaged, or no database"),
        (_instead, "copy.db is no database of the service. Name a file"),
        (_torn, "damaged|cannot be"),
        (_statement("UPDATE balance SET quantity = quantity + 1"), "not the sum of its ledger"),
        (_statement(f"PRAGMA user_version = {len(MIGRATIONS) + 1}"), "use the newer one"),
        (Path.unlink, "There is no file"),
    ],
)
def test_restore_refuses_damaged_copy(tmp_path: Path, spoil: Callable[[Path], None], says: str) -> None:
    database, file = tmp_path / "service.db", tmp_path / "copy.db"
    prepare(database, demo=True)
    with closing(open_service(database)):
        back_up(database, file)
        before = references(database)
        spoil(file)
        with pytest.raises(StorageError, match=says):
            restore(file, database, allow_loss=True)
        assert references(database) == before
        assert inspect_backup(database).stores == 5
    assert not left_over(tmp_path, "restore")
    assert not left_over(tmp_path, "before")


def test_another_database_is_neither_copied_over_nor_put_back(tmp_path: Path) -> None:
    _foreign(tmp_path / "other.db")
    with pytest.raises(StorageError, match="no database of the service"):
        back_up(tmp_path / "other.db", tmp_path / "copy.db")
    prepare(tmp_path / "service.db", demo=True)
    with closing(open_service(tmp_path / "service.db")):
        back_up(tmp_path / "service.db", tmp_path / "copy.db")
    with pytest.raises(StorageError, match="no database of the service"):
        restore(tmp_path / "copy.db", tmp_path / "other.db", allow_loss=True)
    with pytest.raises(StorageError, match="There is no database"):
        back_up(tmp_path / "none.db", tmp_path / "copy2.db")
    assert not (tmp_path / "copy2.db").exists()


def test_the_commands(aisle_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database, file = tmp_path / "service.db", tmp_path / "copy.db"
    prepare(database, demo=True)
    open_service(database).close()
    url = f"sqlite:///{database}"
    assert main(["backup", str(file), "--database", url]) == 0
    assert "5 stores" in capsys.readouterr().err
    assert main(["backup", str(file), "--database", url]) == 1
    assert "is there already" in capsys.readouterr().err
    assert main(["backup", str(file), "--database", url, "--replace"]) == 0
    assert main(["restore", str(file), "--database", url]) == 0
    assert "What was there before is in" in capsys.readouterr().err
    assert main(["backup", str(file), "--database", "postgresql://host/name"]) == 2
    assert "pg_dump" in capsys.readouterr().err
    assert main(["restore", str(file)]) == 0, "into the embedded store, where nothing was"
