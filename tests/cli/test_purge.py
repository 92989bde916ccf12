"""`aisle purge`: a moment is said, and nothing that is young goes."""

from __future__ import annotations

import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from aisle.cli import purge
from aisle.host.store_and_database_folders import StoreFolder
from aisle.outbox.operation_queue import open_outbox
from aisle.outbox.retention_and_archive import Retention, open_archive
from aisle.settings.process_time_zone import set_process_zone
from aisle.settings.setting_definitions import DEMO_STORE, EMBEDDED
from tests.cli.test_command_line import api, run

pytestmark = pytest.mark.usefixtures("aisle_home")


def test_what_is_old_goes(capsys: pytest.CaptureFixture[str]) -> None:
    nowhere = ("--database", "sqlite:////nowhere/none.db")
    assert run(capsys, "purge", "--before", "400d", *nowhere)[0] == 2
    api(capsys, "list-stores")
    nothing = "Rows that are gone: 0 of the ledger, 0 of the log, 0 of the changes, 0 of the orders, "
    nothing += "0 of the deliveries, 0 of the answers, 0 of the audit, 0 of the outbox, 0 of the archive.\n"
    for said in ((), ("--before", "400d")):
        assert run(capsys, "purge", *said)[::2] == (0, nothing)
    assert run(capsys, "purge", "--before", "70d", "--only", "changes")[0] == 0
    for before in ("3d", "70d", "yesterday", "-5d", "2999-01-01"):
        assert run(capsys, "purge", f"--before={before}")[0] == 2


@pytest.mark.parametrize(("zone", "hours"), [("Pacific/Kiritimati", 14), ("America/Los_Angeles", -8), ("UTC", 0)])
def test_a_day_is_one_of_the_store(
    capsys: pytest.CaptureFixture[str], aisle_home: Path, monkeypatch: pytest.MonkeyPatch, zone: str, hours: int
) -> None:
    limits: list[float] = []

    def purge_outbox(folder: Path, now: float, kept: Retention) -> int:
        limits.append(now - kept.operation_days * 86400)
        return 0

    monkeypatch.setattr(purge, "_outbox", purge_outbox)
    (aisle_home / "settings.toml").write_text(f'time_zone = "{zone}"\n', encoding="utf-8")
    try:
        assert run(capsys, "purge", "--before", "2025-01-01", "--only", "outbox")[0] == 0
    finally:
        set_process_zone("")
    midnight = datetime(2025, 1, 1, tzinfo=UTC) - timedelta(hours=hours)
    assert limits == [pytest.approx(midnight.timestamp(), abs=1)]


def test_each_part_is_kept_as_it_is_set(capsys: pytest.CaptureFixture[str], aisle_home: Path) -> None:
    api(capsys, "list-stores")
    settings = aisle_home / "settings.toml"
    settings.write_text("keep_log_days = 0\nkeep_ledger_days = 200\n", encoding="utf-8")
    err = run(capsys, "purge", "--only", "log", "--only", "ledger")[2]
    assert err == "Rows that are gone: 0 of the ledger.\n"
    settings.write_text("keep_log_days = 100\n", encoding="utf-8")
    status, _, err = run(capsys, "purge")
    assert status == 2
    assert "keep_log_days is too near: nothing of the log that is younger than 121 days" in err


def test_answers_stay_for_as_long_as_hosts_are_told(capsys: pytest.CaptureFixture[str], aisle_home: Path) -> None:
    api(capsys, "list-stores")
    assert run(capsys, "purge", "--before", "31d", "--only", "answers")[0] == 0
    settings = aisle_home / "settings.toml"
    settings.write_text("keep_answers_days = 90\n", encoding="utf-8")
    assert run(capsys, "purge", "--only", "answers")[0] == 0
    status, _, err = run(capsys, "purge", "--before", "31d", "--only", "answers")
    assert status == 2
    assert "nothing of the answers that is younger than 90 days" in err
    settings.write_text("keep_answers_days = 9\n", encoding="utf-8")
    assert "keep_answers_days is too near" in run(capsys, "purge", "--only", "answers")[2]


def test_outbox_and_archive_of_a_host_go_where_no_service_is(
    capsys: pytest.CaptureFixture[str], aisle_home: Path
) -> None:
    assert run(capsys, "purge", "--only", "log")[0] == 2
    folder = StoreFolder(aisle_home, EMBEDDED, DEMO_STORE).folder
    with closing(open_archive(folder)) as archive:
        for at in (1.0, time.time() - 86400.0 * 500):
            archive.execute("INSERT INTO event VALUES (?, 1, '', ?, '', '', '', '', '', '', '', '')", (str(at), at))
    assert "1 of the archive" in run(capsys, "purge")[2]
    assert "1 of the archive" in run(capsys, "purge", "--before", "400d")[2]
    with closing(open_outbox(folder)) as outbox:
        old, now = time.time() - 86400.0 * 40, time.time()
        for n, at in enumerate((old, now), 1):
            outbox.execute("INSERT INTO event VALUES (?, 's', '', ?, '', '', '', '', '', '', '', '')", (n, at))
    assert "1 of the outbox, 0 of the archive" in run(capsys, "purge")[2]
    with closing(open_archive(folder)) as archive:
        assert archive.execute("SELECT at FROM event").fetchall() == [(old,)]


def test_outbox_and_journal_of_a_host_are_kept_as_they_are_set(
    capsys: pytest.CaptureFixture[str], aisle_home: Path
) -> None:
    folder = StoreFolder(aisle_home, EMBEDDED, DEMO_STORE).folder
    with closing(open_outbox(folder)) as outbox:
        for n, days in enumerate((40, 0), 1):
            at = time.time() - 86400.0 * days
            outbox.execute("INSERT INTO event VALUES (?, 's', '', ?, '', '', '', '', '', '', '', '')", (n, at))
    settings = aisle_home / "settings.toml"
    for days in (100, 0):
        settings.write_text(f"keep_journal_days = {days}\n", encoding="utf-8")
        assert "0 of the outbox" in run(capsys, "purge")[2]
    settings.write_text("keep_operations_days = 0\n", encoding="utf-8")
    assert "1 of the outbox" in run(capsys, "purge")[2]
    settings.write_text("keep_operations_days = 9\n", encoding="utf-8")
    assert "keep_operations_days is too near" in run(capsys, "purge")[2]
