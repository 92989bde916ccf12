"""Opening databases: engine, folder, permissions, durability, migrations, damage."""

import os
import stat
import threading
from pathlib import Path
from typing import Any

import apsw
import pytest

from aisle.errors import StorageError
from aisle.host import database, file_locks, store_and_database_folders
from aisle.host.database import (
    checkpoint,
    connect,
    empty_database,
    fetch,
    fetch_one,
    migrate,
    schema_version,
    transaction,
)
from aisle.host.file_locks import is_locked
from aisle.host.store_and_database_folders import StoreFolder, check_disk, file_system_type

ROOT = "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
MOUNTS = (
    ROOT
    + "30 27 0:25 / /dev/shm rw - tmpfs tmpfs rw\n"
    + "31 27 0:40 / /srv/shared\\040files rw - nfs4 server:/x rw\n"
    + "32 27 0:41 / /home/u/remote rw,nosuid shared:1 - fuse.sshfs u@h: rw\n"
    + "33 27 0:42 / /home/u/c rw - fuseblk /dev/sdb1 rw\n"
    + "34 27 0:43 / /over rw - tmpfs tmpfs rw\n"
    + "35 27 0:44 / /over rw - ext4 /dev/vdb rw\n"
)


def pragma(connection: apsw.Connection, name: str) -> object:
    row = fetch_one(connection, f"PRAGMA {name}")
    return row[0] if row else None


def test_the_engine_that_is_linked_can_share_a_wal_file() -> None:
    database.check_sqlite_version(apsw.sqlite_lib_version())
    assert tuple(int(part) for part in apsw.sqlite_lib_version().split(".")) >= (3, 51, 3)


@pytest.mark.parametrize("old", ["3.40.1", "3.51.2", "3.7.0"])
def test_an_engine_that_can_lose_rows_is_refused(old: str) -> None:
    with pytest.raises(StorageError, match=rf"SQLite {old}.*3\.51\.3.*install"):
        database.check_sqlite_version(old)


def test_files_and_folders_belong_to_this_account_alone(tmp_path: Path) -> None:
    old = os.umask(0o022)
    try:
        path = tmp_path / "a" / "b" / "x.db"
        connection = connect(path)
        connection.execute("CREATE TABLE t (x)")
    finally:
        os.umask(old)
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    assert modes == {"x.db": 0o600, "x.db-wal": 0o600, "x.db-shm": 0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == stat.S_IMODE(path.parent.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize(("precious", "synchronous"), [(True, 2), (False, 1)])
def test_a_connection_is_prepared(aisle_home: Path, precious: bool, synchronous: int) -> None:
    connection = connect(aisle_home / "x.db", guarded=precious)
    assert pragma(connection, "journal_mode") == "wal"
    assert pragma(connection, "synchronous") == synchronous
    assert pragma(connection, "foreign_keys") == 1
    assert pragma(connection, "trusted_schema") == 0
    assert pragma(connection, "mmap_size") == 0
    assert pragma(connection, "wal_autocheckpoint") == 0


def test_a_reader_cannot_write(tmp_path: Path) -> None:
    connect(tmp_path / "x.db").execute("CREATE TABLE t (x)")
    reader = connect(tmp_path / "x.db", read_only=True)
    with pytest.raises(StorageError, match=r"x\.db cannot be used"), transaction(reader):
        reader.execute("INSERT INTO t VALUES (1)")


def test_only_checkpoint_truncates_wal(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    first, second = connect(path), connect(path)
    first.execute("CREATE TABLE t (x)")
    with transaction(first):
        first.executemany("INSERT INTO t VALUES (?)", [("x" * 500,) for _ in range(10_000)])
    log = path.with_name("x.db-wal")
    first.close()
    assert log.stat().st_size > 5_000_000
    assert checkpoint(second) >= (1000, 1000)
    assert checkpoint(second, truncate=True) == (0, 0)
    assert log.stat().st_size == 0
    assert fetch(second, "SELECT count(*) FROM t") == [(10_000,)]


def test_a_log_that_is_written_and_read_all_the_time_is_begun_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each commit falls between two reads of others, so the log is never free when somebody could begin it anew."""
    path = tmp_path / "x.db"
    writer, courier, readers = connect(path), connect(path), (connect(path), connect(path))
    writer.execute("CREATE TABLE t (n INTEGER PRIMARY KEY, x)")

    def busy(rounds: int) -> int:
        """How long the log is after so many commits, with a reader in it at each."""
        for number in range(rounds):
            reading = readers[number % 2].cursor().execute("SELECT n FROM t ORDER BY n")
            reading.fetchone()
            with transaction(writer):
                writer.execute("INSERT OR REPLACE INTO t VALUES (?, ?)", (number % 50, "x" * 3000))
            held.append(reading)
            if len(held) > 1:
                held.pop(0).close()
        return courier.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)[0]

    held: list[apsw.Cursor] = []
    before = busy(100)
    assert checkpoint(courier)[0] >= 100, "a short one is left"
    assert busy(100) > before
    monkeypatch.setattr(database, "LONG_WAL_PAGES", 100)
    monkeypatch.setattr(database, "WAL_RESTART_S", 0.02)
    checkpoint(courier)
    assert busy(100) > before, "a reader was in it: nobody waited for long"
    leaving = threading.Timer(0.1, lambda: held.pop().close())
    monkeypatch.setattr(database, "WAL_RESTART_S", 5.0)
    leaving.start()
    checkpoint(courier)
    leaving.join()
    assert busy(1) < 20


def test_many_may_be_first(tmp_path: Path) -> None:
    failures: list[BaseException] = []
    start = threading.Barrier(8)

    def first() -> None:
        try:
            start.wait()
            connection = connect(tmp_path / "new" / "x.db", read_only=False)
            migrate(connection, ("CREATE TABLE t (x)",))
            with transaction(connection):
                connection.execute("INSERT INTO t VALUES (1)")
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=first) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert fetch(connect(tmp_path / "new" / "x.db"), "SELECT count(*) FROM t") == [(8,)]
    assert {file.name for file in (tmp_path / "new").iterdir()} == {"x.db", "x.db-wal", "x.db-shm"}


def test_a_transaction_that_fails_leaves_nothing(tmp_path: Path) -> None:
    connection = connect(tmp_path / "x.db")
    connection.execute("CREATE TABLE t (x NOT NULL)")
    with pytest.raises(apsw.ConstraintError), transaction(connection):
        connection.execute("INSERT INTO t VALUES (1)").execute("INSERT INTO t VALUES (NULL)")
    assert fetch(connection, "SELECT * FROM t") == []
    assert not connection.in_transaction


def test_a_writer_waits_for_another_one(tmp_path: Path) -> None:
    first, second = connect(tmp_path / "x.db"), connect(tmp_path / "x.db")
    first.execute("CREATE TABLE t (x)")
    asked = threading.Event()

    def insert() -> None:
        asked.set()
        with transaction(second):
            second.execute("INSERT INTO t VALUES (2)")

    waiting = threading.Thread(target=insert)
    with transaction(first):
        waiting.start()
        asked.wait()
        first.execute("INSERT INTO t VALUES (1)")
    waiting.join()
    assert fetch(first, "SELECT x FROM t") == [(1,), (2,)]


def test_a_writer_does_not_wait_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY_TIMEOUT_S", 0.02)
    first, second = connect(tmp_path / "x.db"), connect(tmp_path / "x.db")
    with transaction(first), pytest.raises(StorageError, match="kept it locked"), transaction(second):
        pytest.fail("two writers at once")


def test_a_full_disk_is_told(tmp_path: Path) -> None:
    connection = connect(tmp_path / "x.db")
    connection.execute("CREATE TABLE t (x)")
    connection.execute("PRAGMA max_page_count=4").fetchall()
    with pytest.raises(StorageError, match="disk is full: free some space"), transaction(connection):
        connection.execute("INSERT INTO t VALUES (zeroblob(100000))")
    assert not connection.in_transaction


def test_migrations_run_once_and_in_order(tmp_path: Path) -> None:
    steps = ("CREATE TABLE t (x); INSERT INTO t VALUES (1)", "ALTER TABLE t ADD COLUMN y; UPDATE t SET y = x + 1")
    path = tmp_path / "x.db"
    migrate(connect(path), steps[:1])
    again = connect(path)
    migrate(again, steps)
    migrate(again, steps)
    assert schema_version(again) == 2
    assert fetch(again, "SELECT x, y FROM t") == [(1, 2)]


def test_a_newer_database_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "outbox.db"
    migrate(connect(path), ("CREATE TABLE t (x)", "CREATE TABLE u (x)"))
    with pytest.raises(StorageError, match=r"outbox\.db is of version 2; this aisle knows 1"):
        migrate(connect(path), ("CREATE TABLE t (x)",))


def test_a_reset_is_seen_by_those_who_have_it_open(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    reader = connect(path)
    writer = connect(path)
    migrate(writer, ("CREATE TABLE t (x)",))
    assert schema_version(reader) == 1
    empty_database(path)
    assert schema_version(reader) == 0
    migrate(writer, ("CREATE TABLE u (x)", "INSERT INTO u VALUES (7)"))
    assert fetch(reader, "SELECT x FROM u") == [(7,)]


def test_a_damaged_file_is_told_and_can_be_reset(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    path.write_bytes(b"this is no database" * 500)
    with pytest.raises(StorageError, match=r"damaged.*x\.db cannot be used"):
        connect(path)
    empty_database(path)
    connection = connect(path)
    migrate(connection, ("CREATE TABLE t (x)",))
    assert pragma(connection, "integrity_check") == "ok"
    assert pragma(connection, "journal_mode") == "wal"


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/home/u", "ext4"),
        ("/dev/shm/x", "tmpfs"),
        ("/srv/shared files/x", "nfs4"),
        ("/home/u/remote", "fuse.sshfs"),
        ("/over/it", "ext4"),
        ("/overit", "ext4"),
    ],
)
def test_the_file_system_of_a_folder(folder: str, kind: str) -> None:
    assert file_system_type(Path(folder), MOUNTS) == kind


@pytest.mark.parametrize("folder", ["/srv/shared files", "/home/u/remote"])
def test_network_file_systems_are_refused(folder: str) -> None:
    with pytest.raises(StorageError, match=r"network or user-space.*AISLE_HOME"):
        check_disk(Path(folder) / "cache.db", guarded=False, mounts=MOUNTS, environ={})


def test_memory_is_refused_for_what_is_precious() -> None:
    path = Path("/dev/shm/aisle/outbox.db")
    with pytest.raises(StorageError, match=r"lies in memory.*AISLE_HOME"):
        check_disk(path, guarded=True, mounts=MOUNTS, environ={})
    check_disk(path, guarded=True, mounts=MOUNTS, environ={"AISLE_ALLOW_VOLATILE": "1"})
    check_disk(path, guarded=False, mounts=MOUNTS, environ={})


def test_a_local_disk_is_fine() -> None:
    check_disk(Path("/home/u/c/outbox.db"), guarded=True, mounts=MOUNTS, environ={})
    check_disk(Path("/var/lib/aisle/outbox.db"), guarded=True, mounts=MOUNTS, environ={})
    check_disk(Path("/var/lib/aisle/outbox.db"), guarded=True, mounts="", environ={})


def test_a_home_for_each_service_and_store(tmp_path: Path) -> None:
    homes = [StoreFolder(tmp_path, url, store) for url in ("https://a", "https://b") for store in ("1", "2", "Å")]
    assert len({home.folder for home in homes}) == 6
    assert StoreFolder(tmp_path, "https://a/", "1").folder == homes[0].folder
    assert all(len(home.name) == 16 for home in homes)
    assert {home.embedded_token.parent for home in homes} == {tmp_path}


@pytest.mark.parametrize(
    ("listed", "device", "locked"),
    [
        ("fe:01:77", (254, 1), True),
        ("fe:01:78", (254, 1), False),
        ("fe:02:77", (254, 1), False),
        ("00:2a:77", (254, 1), True),
        ("fe:02:77", (0, 42), True),
    ],
    ids=["same", "other file", "other disk", "listed by no device", "on no device"],
)
def test_a_lock_is_one_of_the_file_on_its_disk(
    listed: str, device: tuple[int, int], locked: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same number on another disk is another file; where a file system has no device, the number decides."""
    list_ = tmp_path / "locks"
    list_.write_text(f"1: POSIX  ADVISORY  WRITE 27812 {listed} 120 120\n")
    monkeypatch.setattr(file_locks, "LOCKS_FILE", list_)
    monkeypatch.setattr(file_locks, "file_id", lambda _: (os.makedev(*device), 77))
    assert is_locked(tmp_path) == locked


def test_files_of_another_account_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has begun as root leaves folders behind that nobody else may look into."""

    def shut(path: Path, **_: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(database, "check_disk", shut)
    with pytest.raises(StorageError, match="Check that its folder can be written by this account") as raised:
        connect(tmp_path / "a.db")
    assert raised.value.kind == "shut"


def test_a_folder_that_nobody_may_look_into_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    look = os.stat

    def shut(path: Any, *args: Any, **options: Any) -> object:
        if "below" in str(path):
            raise PermissionError(13, "Permission denied", str(path))
        return look(path, *args, **options)

    monkeypatch.setattr(os, "stat", shut)
    assert store_and_database_folders.nearest_existing(tmp_path / "below" / "home") == tmp_path


@pytest.mark.parametrize("precious", [True, False])
def test_a_file_in_the_place_of_a_folder_is_told(tmp_path: Path, precious: bool) -> None:
    (tmp_path / "home").write_bytes(b"")
    with pytest.raises(StorageError):
        connect(tmp_path / "home" / "a.db", guarded=precious)
