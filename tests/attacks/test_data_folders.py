"""A home that others may change: it is refused with a sentence, no link in it is followed, and nothing is written."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest

from aisle.cli import main
from aisle.cli.open_other_and_left_stores import current_store_settings
from aisle.errors import SettingsError, StorageError
from aisle.host.leader_lock import Leader, LeaderLock
from aisle.host.notify_sockets import socket_folder
from aisle.host.store_and_database_folders import StoreFolder
from aisle.host.switched_terminals_and_visited_stores import (
    TERMINALS_FOLDER,
    VISITED_FOLDER,
    TerminalStore,
    load_terminal_store,
    mark_visited,
    save_terminal_store,
    visited_stores,
)
from aisle.outbox.operation_queue import open_outbox
from aisle.settings.load_settings import load_settings
from tests.writes import STORE

OTHER = 65_534
"""An account that nobody works as."""
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")


@pytest.fixture
def home(aisle_home: Path) -> StoreFolder:
    """A home in which there has been work."""
    made = StoreFolder(aisle_home, "embedded", STORE)
    open_outbox(made.folder).close()
    LeaderLock(made.lock).try_acquire(Leader(1, "", 0.0))
    made.courier_log.touch(0o600)
    (aisle_home / "settings.toml").write_text('language = "de"\n', encoding="utf-8")
    return made


def written(path: Path) -> None:
    path.chmod(path.stat().st_mode | 0o020)


def linked(path: Path) -> None:
    other = path.parents[1] / f"elsewhere-{uuid4()}"
    path.rename(other)
    path.symlink_to(other)


def given(path: Path) -> None:
    os.chown(path, OTHER, -1)


def piped(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


SPOILT = pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (written, "others may write it"),
        (linked, "it is a link"),
        pytest.param(given, "it belongs to another account", marks=needs_root),
    ],
)


@SPOILT
@pytest.mark.parametrize("part", ["folder", "lock", "courier_log"])
def test_folders_writable_by_others_are_not_used(
    home: StoreFolder, part: str, spoil: Callable[[Path], None], why: str
) -> None:
    path: Path = getattr(home, part)
    spoil(path)
    before = path.lstat().st_mtime_ns
    for use in (
        lambda: open_outbox(home.folder),
        lambda: LeaderLock(home.lock).try_acquire(Leader(2, "", 0.0)),
    ):
        with pytest.raises(StorageError, match=why) as refused:
            use()
        assert str(path) in str(refused.value)
    assert path.lstat().st_mtime_ns == before


@SPOILT
def test_nor_a_folder_of_sockets(
    home: StoreFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spoil: Callable[[Path], None], why: str
) -> None:
    monkeypatch.setattr("aisle.host.notify_sockets.MAX_SOCKET_PATH", 1_000)
    spoil(socket_folder(home))
    with pytest.raises(StorageError, match=why):
        socket_folder(home)


@SPOILT
def test_a_name_below_the_temporary_folder_that_another_account_took_is_left_to_it(
    home: StoreFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spoil: Callable[[Path], None], why: str
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("aisle.host.notify_sockets.MAX_SOCKET_PATH", 10)
    before = socket_folder(home)
    assert before == socket_folder(home)
    assert before.parent == tmp_path
    spoil(before)
    after = socket_folder(home)
    assert after not in (before, home.sockets)
    assert after == socket_folder(home)
    assert after.stat().st_mode & 0o777 == 0o700
    (home.folder / "run-folder").write_text("../../elsewhere", encoding="ascii")
    assert socket_folder(home).parent == tmp_path


@SPOILT
def test_nor_the_whole_of_it(home: StoreFolder, spoil: Callable[[Path], None], why: str) -> None:
    spoil(home.root)
    with pytest.raises(SettingsError, match=why):
        load_settings({})


@pytest.mark.parametrize(
    "command",
    [
        ["serve", "--port=0"],
        ["courier"],
        ["token", "list"],
        ["backup", "copy.db"],
        ["restore", "copy.db"],
        ["purge", "--only=outbox", "--before=400d"],
        ["outbox"],
    ],
    ids=lambda command: str(command[0]),
)
def test_no_command_uses_it(
    home: StoreFolder, command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def used(*_: object, **__: object) -> int:
        raise AssertionError

    for name in ("serve.run_server", "courier.run_with_standby", "token.open_service", "backup.back_up"):
        monkeypatch.setattr(f"aisle.cli.{name}", used)
    monkeypatch.setattr("aisle.cli.backup.restore", used)
    home.service_db.touch(0o600)
    written(home.root)
    assert main(command) == 2
    assert "others may write it" in capsys.readouterr().err


@SPOILT
@pytest.mark.parametrize("folder", [TERMINALS_FOLDER, VISITED_FOLDER])
@pytest.mark.parametrize("is_folder", [True, False])
def test_nor_notes_of_terminals_and_visited_stores(
    home: StoreFolder, folder: str, is_folder: bool, spoil: Callable[[Path], None], why: str
) -> None:
    save_terminal_store(home.root, "dock", TerminalStore(STORE, "0002", "U1"))
    mark_visited(home)
    assert load_terminal_store(home.root, "dock")
    assert visited_stores(home.root, home.base_url)
    path = home.root / folder
    spoil(path if is_folder else next(path.iterdir()))
    of_terminals = folder == TERMINALS_FOLDER
    assert (load_terminal_store(home.root, "dock") is None) == of_terminals
    assert bool(visited_stores(home.root, home.base_url)) == of_terminals
    if is_folder:
        for use in (
            lambda: current_store_settings(load_settings({})),
            lambda: mark_visited(home),
            lambda: save_terminal_store(home.root, "dock", TerminalStore(STORE, "0003", "U1")),
        ):
            with pytest.raises(StorageError, match=why):
                use()


def test_no_link_in_the_place_of_a_note_is_written_through(home: StoreFolder, tmp_path: Path) -> None:
    save_terminal_store(home.root, "dock", TerminalStore(STORE, "0002", "U1"))
    [note] = (home.root / TERMINALS_FOLDER).iterdir()
    precious = tmp_path / "precious"
    precious.write_text("precious", encoding="utf-8")
    note.unlink()
    note.symlink_to(precious)
    save_terminal_store(home.root, "dock", TerminalStore(STORE, "0003", "U1"))
    assert precious.read_text(encoding="utf-8") == "precious"
    found = load_terminal_store(home.root, "dock")
    assert found is not None
    assert found.store == "0003"


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (written, "others may write it"),
        (linked, "it is a link"),
        pytest.param(given, "it belongs to another account", marks=needs_root),
        (piped, "it is no file"),
    ],
)
def test_nor_settings(home: StoreFolder, spoil: Callable[[Path], None], why: str) -> None:
    assert load_settings({}).settings.language == "de"
    settings = home.root / "settings.toml"
    spoil(settings)
    with pytest.raises(SettingsError, match=why) as refused:
        load_settings({})
    assert str(settings) in str(refused.value)


@pytest.mark.parametrize(
    ("spoil", "why"),
    [(linked, "it is a link"), pytest.param(given, "it belongs to another account", marks=needs_root)],
)
def test_doctor_names_home_that_all_other_commands_refuse(
    home: StoreFolder, spoil: Callable[[Path], None], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    spoil(home.root)
    assert main(["doctor"]) == 1
    assert why in " ".join(capsys.readouterr().out.split())


def test_a_person_is_told_in_a_sentence(home: StoreFolder, capsys: pytest.CaptureFixture[str]) -> None:
    home.root.chmod(0o777)
    assert main(["outbox"]) == 2
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert f"chmod go-w {home.root}" in said


def test_a_link_in_the_place_of_the_log_is_not_written_to(home: StoreFolder, tmp_path: Path) -> None:
    from aisle.host.courier_log import append_line

    precious = tmp_path / "precious"
    precious.write_text("precious", encoding="utf-8")
    home.courier_log.unlink()
    home.courier_log.symlink_to(precious)
    with pytest.raises(OSError, match="symbolic links"):
        append_line(home.courier_log, "a line\n")
    assert precious.read_text(encoding="utf-8") == "precious"


def test_a_private_file_is_replaced_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from aisle.file_ownership import write_private

    path, precious = tmp_path / "kept", tmp_path / "precious"
    write_private(path, "first")
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(UnicodeEncodeError):
        write_private(path, "x" * 100_000 + "\ud800")
    assert [one.name for one in tmp_path.iterdir()] == ["kept"]
    precious.write_text("precious", encoding="utf-8")
    monkeypatch.setattr(os, "urandom", lambda count: bytes(count))
    path.with_name(f".kept.{os.getpid()}.00000000").symlink_to(precious)
    with pytest.raises(FileExistsError):
        write_private(path, "second")
    assert (path.read_text(encoding="utf-8"), precious.read_text(encoding="utf-8")) == ("first", "precious")
