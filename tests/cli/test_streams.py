"""What a shell, a timer or an old locale makes of the streams and the files of a command: told, and no traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from aisle.cli import main, open_app
from aisle.host.store_and_database_folders import StoreFolder
from tests.service.world import prepare


@pytest.fixture
def home(aisle_home: Path) -> Path:
    """A home with the demo store at its embedded service, which is not made again by each command."""
    prepare(aisle_home / "service.db", demo=True)
    return aisle_home


def shell(line: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """One line of a shell in which `$A` is aisle."""
    env = {**os.environ, "A": f"{sys.executable} -m aisle", **environ}
    return subprocess.run(["sh", "-c", line], capture_output=True, text=True, env=env, check=False)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("line", "status", "says"),
    [
        ("$A <&-", 2, "The app needs a terminal"),
        ("$A >&-", 2, "The app needs a terminal"),
        ("$A people set B --user-name b --name B --pin <&-", 2, "There was no PIN"),
        ("$A api list-stores >&-", 0, ""),
        ("$A people list <&- >&-", 0, ""),
    ],
)
def test_a_stream_that_is_closed_is_one_of_nothing(home: Path, line: str, status: int, says: str) -> None:
    done = shell(line)
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    assert says in done.stderr


def test_without_errors_to_be_told_a_command_does_its_work_all_the_same(home: Path) -> None:
    assert shell("$A sync 2>&-").returncode == 0


def test_unencodable_characters_are_escaped(home: Path) -> None:
    done = shell('$A people set B --user-name zoe --name "Zoë 😀" && $A people list --json', PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.isascii()
    assert "Zoë 😀" in [json.loads(line)["name"] for line in done.stdout.splitlines()]


def test_file_of_another_account_is_named(
    aisle_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def shut(*_arguments: object) -> int:
        raise PermissionError(13, "Permission denied", "/var/lib/aisle/f9f0/outbox.db")

    monkeypatch.setattr(open_app, "run", shut)
    assert main([]) == 1
    assert capsys.readouterr().err == (
        "aisle: /var/lib/aisle/f9f0/outbox.db cannot be used: Permission denied."
        " Look what it is, and whose: it has to be this account's.\n"
    )


@pytest.mark.parametrize("error", [RecursionError("4711"), ValueError("4711"), OSError(5, "4711")])
def test_a_fault_that_ends_the_app_is_one_line_and_one_in_the_log(
    aisle_home: Path, error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_arguments: object) -> int:
        raise error

    monkeypatch.setattr(open_app, "_run_session", fail)
    for stream in ("stdin", "stdout"):
        monkeypatch.setattr(f"sys.{stream}.isatty", lambda: True)
    store_folder = StoreFolder(aisle_home, "embedded", "0001")
    store_folder.folder.mkdir()
    assert main([]) == 1
    said, logged = capsys.readouterr().err, store_folder.courier_log.read_text()
    assert said.startswith(f"aisle: A fault in aisle has ended it ({type(error).__name__}). ")
    assert str(store_folder.courier_log) in said
    assert (said.count("\n"), logged.count("\n")) == (1, 1)
    assert f"{type(error).__name__} in test_streams.py" in logged
    assert "4711" not in said + logged
