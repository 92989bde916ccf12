"""`aisle doctor`: finds what is broken, says why and what to do, and neither changes nor gives away anything."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

import pytest

from aisle.cache.writer import CacheWriter, LinkRow, open_cache
from aisle.cli import main
from aisle.cli.doctor import host_settings_and_terminal, store_files_and_courier
from aisle.cli.doctor.report import NOTE, OK, WRONG
from aisle.cli.doctor.service import ServiceCheck, _service_findings, check_clock, check_write_safety
from aisle.client import Response
from aisle.courier.pull import full_sync_stages_and_progress
from aisle.courier.service_features_and_lists import Features, parse_features
from aisle.errors import StorageError
from aisle.host import file_locks, store_and_database_folders
from aisle.host.database import transaction
from aisle.host.deleted_file_recovery import recover_file
from aisle.host.leader_lock import Leader, LeaderLock
from aisle.host.store_and_database_folders import StoreFolder
from aisle.operation_body_types import LineExcess
from aisle.outbox.merge_and_rebase import excess_reason_of
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.operation_record import principal_of
from aisle.outbox.outbox_schema import OUTBOX_MIGRATIONS
from aisle.outbox.retention_and_archive import open_archive
from aisle.scan.inputs_and_line_grouping import Line
from aisle.session.session import open_session
from aisle.settings.load_settings import load_settings
from aisle.settings.parse_settings_file import save_last_valid
from aisle.settings.setting_definitions import EMBEDDED, Settings
from aisle.settings.settings_files_and_folders import LoadedSettings
from aisle.stored_messages import store_text
from tests.cache import service_rows
from tests.host.child_process import Child, running
from tests.service.test_certificate_renewal import made
from tests.service.world import prepare
from tests.writes import ANNA, intents, update

SECRET = "t0p-secret-token"


@pytest.fixture
def home(aisle_home: Path) -> StoreFolder:
    """The home of the demo store, empty."""
    return StoreFolder(aisle_home, EMBEDDED, "0001")


class Doctor(NamedTuple):
    """What one run said."""

    status: int
    text: str
    findings: list[Mapping[str, Any]]
    verdict: str

    def of(self, name: str) -> list[tuple[str, str]]:
        """Verdict and all words about one thing."""
        return [
            (finding["verdict"], " ".join(filter(None, (finding["what"], finding["why"], finding["todo"]))))
            for finding in self.findings
            if finding["name"] == name
        ]


def doctor(capsys: pytest.CaptureFixture[str], *arguments: str) -> Doctor:
    """A run for programs, and the same for eyes."""
    status = main(("doctor", *arguments))
    text = capsys.readouterr().out
    assert main(("doctor", "--json", *arguments)) == status
    said = json.loads(capsys.readouterr().out)
    # Between the two a commit may have become slow, which is worth knowing once more.
    (eyes,) = re.findall(r"\n\n(.+)\Z", text.rstrip())
    assert re.sub(r" \S+ things? (is|are) .*", "", eyes) == re.sub(r" \S+ things? (is|are) .*", "", said["verdict"])
    return Doctor(status, text, said["findings"], said["verdict"])


def filled(home: StoreFolder) -> CacheWriter:
    """A small store, read whole a moment ago."""
    cache = CacheWriter(open_cache(home.folder, writer=True), home.store)
    cache.write_products([service_rows.product("P1", "Tea", "4006381333931")])
    cache.write_stock([service_rows.stock("P1", 20)])
    full_sync_stages_and_progress.save_progress(cache, full_sync_stages_and_progress.SyncProgress(completed=1.0))
    cache.set_link(LinkRow(state="live", last_ok=time.time()))
    return cache


def test_doctor_creates_nothing(
    home: StoreFolder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    on_disk(home, monkeypatch, "ext4")
    found = doctor(capsys)
    assert found.status == 0
    assert found.verdict.startswith("All is well.")
    assert {finding["verdict"] for finding in found.findings} == {OK, NOTE}
    assert found.of("home")[0][1].endswith("The first start makes it.")
    assert list(home.root.iterdir()) == []


def test_a_store_at_work_is_well(home: StoreFolder, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("sync",)) == 0
    capsys.readouterr()
    session = open_session(home, Settings(terminal="dock"))
    try:
        session.start()
        session.take([Line("BADGE-U1", "cr", 0.0, 0.0, 0.0)], 0.0)
        open_archive(home.folder).close()
        found = doctor(capsys)
    finally:
        session.close()
    assert (found.status, [finding for finding in found.findings if finding["verdict"] == WRONG]) == (0, [])
    assert [verdict for verdict, _ in found.of("service") + found.of("writes") + found.of("clock")] == [OK] * 3
    assert "exactly once" in found.of("writes")[0][1]
    files, store = (words for _, words in found.of("sizes"))
    assert re.fullmatch(r"cache \S+ [kM]B, outbox \S+ [kM]B, archive \S+ [kM]B", files)
    assert re.fullmatch(r"the embedded store \S+ [kM]B; (\w+ [\d,]+ rows(, )?)+", store)
    assert found.of("cache")[0][1].endswith("complete")
    assert found.of("sessions")[0][1].startswith("dock: U1, began ")
    assert found.of("outbox")[0][1].startswith("nothing waits")


def test_a_database_that_is_named_is_looked_at_and_left_as_it_is(
    home: StoreFolder, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "other" / "service.db"
    url = f"sqlite:///{path}"
    found = doctor(capsys, "--database", url)
    assert (found.status, found.of("sizes")[-1][0]) == (1, WRONG)
    assert not path.parent.exists()
    prepare(path, demo=True)
    before = path.read_bytes()
    found = doctor(capsys, "--database", url)
    assert found.status == 0
    assert re.fullmatch(rf"the database {path} \S+ [kM]B; (\w+ [\d,]+ rows(, )?)+", found.of("sizes")[-1][1])
    assert path.read_bytes() == before
    found = doctor(capsys, "--database", "postgresql://me:secret@/none?host=/nowhere")
    [(_, words)] = [each for each in found.of("sizes") if each[0] == WRONG]
    assert "secret" not in words
    assert "cannot be checked" in words
    assert main(("doctor", "--database", "mysql://x/y")) == 2


def test_why_something_was_refused_is_said_in_words(home: StoreFolder, capsys: pytest.CaptureFixture[str]) -> None:
    line = LineExcess(line_number=1, picked_quantity=3, quantity=5, left=-2, moved_quantity=3, picked_username="Ben")
    refused = excess_reason_of(line)
    with closing(open_outbox(home.folder)) as db:
        outbox = OperationQueue(db)
        with transaction(db):
            ids = outbox.enqueue(intents(update("O1", {1: 1}), update("O2", {1: 1})), ANNA)
        for op_id, why in zip(ids, (refused, store_text("No such line")), strict=True):
            outbox.begin_sending(op_id, b"{}")
            outbox.refuse(op_id, why)
    text = " ".join(" ".join(row) for row in doctor(capsys).of("outbox"))
    assert "No such line" in text
    assert "Ben" in text
    assert '"@"' not in text


def test_a_read_only_file_system_is_named_as_what_it_is(
    home: StoreFolder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = os.statvfs(home.root)
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result((*found[:8], os.ST_RDONLY, *found[9:])))
    [(verdict, text)] = doctor(capsys).of("home")
    assert verdict == WRONG
    assert "mounted read-only" in text
    assert "Mount it for writing" in text
    assert "account" not in text
    for door in (lambda: open_session(home, Settings(terminal="dock")), lambda: open_outbox(home.folder)):
        with pytest.raises(StorageError, match=r"mounted read-only\. Mount it for writing"):
            door()


def test_all_that_is_wrong_in_settings_is_named(home: StoreFolder, capsys: pytest.CaptureFixture[str]) -> None:
    (home.root / "settings.toml").write_text(
        'blnd = true\nverified = true\nrestricted_codes = ["28"]\n[device."x"]\nfoo = 1\n'
    )
    found = doctor(capsys)
    assert found.status == 1
    wrongs = [text for verdict, text in found.of("settings") if verdict == WRONG]
    assert len(wrongs) == 3
    assert all(str(home.root / "settings.toml") in text for text in wrongs)
    assert "Something is wrong with: settings." in found.verdict


def test_a_wrong_variable_is_named_and_the_rest_is_looked_at(
    home: StoreFolder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AISLE_RICH", "maybe")
    found = doctor(capsys)
    assert found.status == 1
    assert "AISLE_RICH is 'maybe'" in found.of("settings")[0][1]
    assert found.of("disk")


def test_settings_in_force_instead_of_a_broken_file_are_reported(
    home: StoreFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    file = home.root / "settings.toml"
    file.write_text('store = "0042"\n')
    save_last_valid(load_settings({}))
    file.write_text('store = "0042"\nverified = \n')
    found = doctor(capsys)
    (said,) = found.of("settings")
    assert (found.status, said[0]) == (1, WRONG)
    assert "(at line 2, column 12). Mend the file or move it away. What the file said before is in force." in said[1]
    assert main(("outbox",)) == 1
    problem, why = capsys.readouterr().err.splitlines()
    assert problem.startswith(f"aisle: {file} cannot be read: ")
    assert problem.endswith("Until then what it said before is in force.")
    assert "Nobody has worked in store 0042" in why
    open_outbox(StoreFolder(home.root, EMBEDDED, "0042").folder).close()
    assert main(("outbox",)) == 0
    assert capsys.readouterr().err.count("is in force") == 1
    for command in (["api", "list-stores"], ["load", str(home.root)], ["people", "remove", "BADGE-U1"]):
        assert main(command) == 2
        problem = capsys.readouterr().err
        assert "Mend the file" in problem
        assert "is in force" not in problem


def test_settings_in_force_come_with_their_source(
    home: StoreFolder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = home.root / "settings.toml"
    file.write_text(f'token_header = "Bearer {SECRET}{{token}}"\n[device."till-*"]\nverified = true\n')
    monkeypatch.setenv("AISLE_BLIND", "yes")
    arguments = ("doctor", "--settings", "--terminal", "till-2", "--base-url", f"https://u:{SECRET}@shop.example")
    assert main(arguments) == 0
    text = capsys.readouterr().out
    rows = {line.split("  ")[0]: [cell.strip() for cell in line.split("  ") if cell] for line in text.splitlines()[1:]}
    assert rows["verified"] == ["verified", "true", f'{file} [device."till-*"]']
    assert rows["blind"] == ["blind", "true", "AISLE_BLIND"]
    assert rows["terminal"] == ["terminal", "till-2", "the command line"]
    assert rows["rich"] == ["rich", "false", "default"]
    assert main((*arguments, "--json")) == 0
    said = json.loads(capsys.readouterr().out)["settings"]
    assert said["verified"] == {"value": True, "from": f'{file} [device."till-*"]'}
    assert set(said) == set(Settings._fields)
    assert SECRET not in text + json.dumps(said)
    file.write_text("blnd = true")
    assert main(("doctor", "--settings")) == 1
    assert "did you mean 'blind'" in capsys.readouterr().out


# Broken files


def garbage(home: StoreFolder) -> None:
    home.outbox.write_bytes(b"no database " * 1000)
    home.cache.write_bytes(b"no database " * 1000)


def folders(home: StoreFolder) -> None:
    home.outbox.mkdir()
    home.cache.mkdir()


def torn(home: StoreFolder) -> None:
    """Pages in the middle are not what they were."""
    with closing(open_outbox(home.folder)) as outbox:
        with transaction(outbox):
            values = [("S", "", 0.0, "", "x" * 500, "", "", "", "", "", "")] * 500
            outbox.executemany("INSERT INTO event VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
        outbox.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    with home.outbox.open("r+b") as file:
        file.seek(file.seek(0, os.SEEK_END) // 2)
        file.write(b"\xff" * 40_000)


def newer(home: StoreFolder) -> None:
    with closing(open_outbox(home.folder)) as outbox, closing(open_cache(home.folder, writer=True)) as cache:
        outbox.execute("PRAGMA user_version = 99").fetchall()
        cache.execute("PRAGMA user_version = 99").fetchall()


@pytest.mark.parametrize(
    ("broken", "names", "says"),
    [
        (garbage, {"cache", "link", "outbox", "journal", "sessions"}, "damaged"),
        (folders, {"cache", "link", "outbox", "journal", "sessions"}, "cannot be"),
        (torn, {"journal"}, "Keep a copy of"),
        (newer, {"cache", "link", "outbox", "journal", "sessions"}, "A newer aisle has been used on this host"),
    ],
)
def test_unreadable_part_is_a_line_with_reason_and_advice(
    home: StoreFolder, capsys: pytest.CaptureFixture[str], broken: Any, names: set[str], says: str
) -> None:
    home.folder.mkdir(mode=0o700)
    broken(home)
    found = doctor(capsys)
    assert found.status == 1
    wrongs = {finding["name"] for finding in found.findings if finding["verdict"] == WRONG}
    assert wrongs == names
    assert says in found.text
    assert {"python", "disk", "terminal"} <= {finding["name"] for finding in found.findings}


def test_kept_copy_of_a_replaced_outbox_is_reported(home: StoreFolder, capsys: pytest.CaptureFixture[str]) -> None:
    filled(home)
    held = open_outbox(home.folder)
    with transaction(held):
        OperationQueue(held).enqueue(intents(update("O1", {1: 1})), ANNA)
    home.outbox.unlink()
    open_outbox(home.folder).close()
    kept = recover_file(held).copy_path
    assert kept is not None
    found = doctor(capsys)
    assert found.status == 1
    assert any(verdict == WRONG and kept.name in words for verdict, words in found.of("outbox"))


def test_an_outbox_of_an_older_program_is_left_as_it_is(
    home: StoreFolder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aisle.cli.doctor.store_files_and_courier.OUTBOX_MIGRATIONS", (*OUTBOX_MIGRATIONS, ""))
    open_outbox(home.folder).close()
    found = doctor(capsys)
    assert found.of("outbox") == [(NOTE, "nothing waits; schema 1 of 2 The next start brings it up to date.")]
    assert found.status == 0


def test_a_home_that_cannot_be(
    home: StoreFolder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (home.root / "file").write_text("")
    monkeypatch.setenv("AISLE_HOME", str(home.root / "file" / "below"))
    found = doctor(capsys)
    assert found.status == 1
    assert found.of("home")[0][0] == WRONG
    assert "is not a folder" in found.of("home")[0][1]


def on_disk(home: StoreFolder, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """The home lies on a disk of this kind, wherever the tests do."""
    mounts = home.root.parent / "mountinfo"
    mounts.write_text(f"1 0 0:1 / {home.root.resolve()} rw - {kind} x rw\n")
    monkeypatch.setattr(store_and_database_folders, "MOUNTS_FILE", mounts)


@pytest.mark.parametrize(("kind", "says"), [("nfs4", "network"), ("tmpfs", "lies in memory (tmpfs)")])
def test_a_disk_that_will_not_do_is_named_with_the_reason(
    home: StoreFolder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, kind: str, says: str
) -> None:
    on_disk(home, monkeypatch, kind)
    monkeypatch.delenv("AISLE_ALLOW_VOLATILE")
    found = doctor(capsys)
    assert found.status == 1
    verdict, text = found.of("home")[0]
    assert verdict == WRONG
    assert says in text
    assert "Set AISLE_HOME to a folder on a" in text


@pytest.mark.parametrize(
    ("free", "verdict", "words"),
    [
        (0, WRONG, "Nothing can be saved."),
        (5e5, WRONG, "Nothing can be saved."),
        (5e6, WRONG, "Soon nothing can be saved."),
        (5e8, NOTE, "That is little."),
        (5e10, OK, ""),
    ],
)
def test_room_on_the_disk(
    home: StoreFolder, monkeypatch: pytest.MonkeyPatch, free: float, verdict: str, words: str
) -> None:
    monkeypatch.setattr("aisle.cli.doctor.host_settings_and_terminal.shutil.disk_usage", lambda path: Usage(free))
    monkeypatch.setattr("aisle.host.store_and_database_folders.os.statvfs", lambda path: Blocks(int(free // 512)))
    (finding,) = host_settings_and_terminal.check_disk(LoadedSettings(Settings(), home.root))
    assert (finding.verdict, words in str(finding)) == (verdict, True)


class Blocks(NamedTuple):
    """What the standard library answers on blocks."""

    f_bavail: int
    f_frsize: int = 512
    f_blocks: int = 1 << 30
    f_flag: int = 0


class Usage(NamedTuple):
    """What the standard library answers."""

    free: float


def test_others_must_not_change_the_home(home: StoreFolder, capsys: pytest.CaptureFixture[str]) -> None:
    home.root.chmod(0o777)
    found = doctor(capsys)
    assert (WRONG, f"{home.root} can be changed by others Run: chmod 700 {home.root}") in found.of("home")


def test_a_check_that_fails_itself_stops_no_other(
    home: StoreFolder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(path: object) -> None:
        raise RuntimeError("no such thing")

    monkeypatch.setattr("aisle.cli.doctor.host_settings_and_terminal.shutil.disk_usage", fails)
    found = doctor(capsys)
    assert found.of("disk") == [(WRONG, "cannot be checked RuntimeError: no such thing")]
    assert found.of("terminal")


# Token and service


def test_a_service_that_is_not_there_and_a_token_that_others_read(
    home: StoreFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    token = home.root / "t"
    token.write_text(SECRET)
    token.chmod(0o644)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
        found = doctor(capsys, "--base-url", url, "--token-file", str(token))
        token.chmod(0o600)
        second = doctor(capsys, "--base-url", url, "--token-file", str(token))
    assert found.status == second.status == 1
    assert "chmod 600" in found.of("token")[0][1]
    assert second.of("token")[0][0] == OK
    assert second.of("service")[0][0] == WRONG
    assert "Work goes on here and is sent later." in second.of("service")[0][1]
    assert SECRET not in found.text + second.text


def answer(status: int = 200, body: object = None, **headers: str) -> ServiceCheck:
    return ServiceCheck(Response(status, headers, json.dumps({} if body is None else body).encode()), 1000.0, 1000.2)


def test_a_certificate_that_nobody_trusts_is_named_as_the_cause(
    home: StoreFolder, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    made(tmp_path, "nobody")
    (tmp_path / "token").touch(0o600)
    (tmp_path / "token").write_text(SECRET)
    with serving_tls(tmp_path) as url:
        found = doctor(capsys, "--base-url", url, "--token-file", str(tmp_path / "token"))
    [(verdict, words)] = found.of("service")
    assert verdict == WRONG
    assert words.endswith("Renew the service's certificate, or write a new ca_file.")
    assert "base_url" not in words


@pytest.mark.parametrize(("days", "verdict"), [(10, NOTE), (90, OK)])
def test_the_end_of_the_certificate_that_this_host_sees_is_told(
    home: StoreFolder, capsys: pytest.CaptureFixture[str], tmp_path: Path, days: int, verdict: str
) -> None:
    made(tmp_path, "balancer", days)
    (tmp_path / "token").touch(0o600)
    (tmp_path / "token").write_text(SECRET)
    with serving_tls(tmp_path, b'{"list": []}') as url:
        trusted = ("--token-file", str(tmp_path / "token"), "--ca-file", str(tmp_path / "cert.pem"))
        found = doctor(capsys, "--base-url", url, *trusted)
    [(said, words)] = found.of("tls")
    assert said == verdict
    assert f"good for {days} days" in words
    assert ("Renew it" in words) == (verdict == NOTE)


@contextmanager
def serving_tls(folder: Path, body: bytes = b"") -> Iterator[str]:
    """The address of a server that shakes hands with the certificate in the folder, and answers with this body."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    answer = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body)

    def shake_hands() -> None:
        with suppress(OSError):
            while True:
                plain, _ = listener.accept()
                with suppress(OSError), context.wrap_socket(plain, server_side=True) as caller:
                    if body and caller.recv(1 << 16):
                        caller.sendall(answer + body)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        serving = Thread(target=shake_hands)
        serving.start()
        yield f"https://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)
        serving.join()


def test_a_service_machine_needs_no_store(
    home: StoreFolder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def refuse(loaded: LoadedSettings) -> ServiceCheck:
        return answer(403, {"message": "There is no store 0001."})

    prepare(tmp_path / "service.db", demo=True)
    monkeypatch.setattr("aisle.cli.doctor.service._request_service", refuse)
    given = ("--base-url", "http://127.0.0.1:1", "--database", f"sqlite:///{tmp_path}/service.db")
    assert doctor(capsys, *given).of("service")[0][0] == NOTE
    assert doctor(capsys, *given, "--store", "0001").of("service")[0][0] == WRONG
    assert doctor(capsys, *given[:2]).of("service")[0][0] == WRONG


@pytest.mark.parametrize(
    ("status", "body", "verdict", "says"),
    [
        (200, {}, OK, "answers in 200 ms"),
        (401, {}, WRONG, "refuses the token"),
        (403, {}, WRONG, "refuses this token for store 0001"),
        (404, {}, WRONG, "answers 404"),
        (200, [], WRONG, "no answer of a Store Operations Service"),
        (503, {}, WRONG, "answers 503"),
    ],
)
def test_what_an_answer_means(status: int, body: object, verdict: str, says: str) -> None:
    found = next(iter(_service_findings("https://shop.example", "0001", answer(status, body))))
    assert found.verdict == verdict
    assert says in f"{found.what} {found.why}"


def test_checked_is_never_called_exactly_once() -> None:
    sure = check_write_safety(parse_features("idempotency=30d, changes"))
    assert (sure.verdict, sure.facts["level"]) == (OK, "exactly once")
    for features in (None, Features(), parse_features("changes, occurred-at")):
        found = check_write_safety(features)
        assert (found.verdict, found.facts["level"]) == (NOTE, "checked")
        assert "exactly once" not in found.what + found.why


def test_clocks_that_differ_are_told() -> None:
    here = datetime.fromtimestamp(1000.1, UTC)

    def at(seconds: float) -> ServiceCheck:
        return answer(200, {"server_time": (here + timedelta(seconds=seconds)).isoformat()})

    assert [check_clock(at(seconds)).verdict for seconds in (0, 4, -4, 6, -3600)] == [OK, OK, OK, NOTE, NOTE]
    assert check_clock(at(-3600)).facts["offset_s"] == -3600
    assert "behind" in check_clock(at(-3600)).what
    header = answer(200, {}, date="Thu, 01 Jan 1970 00:16:40 GMT")
    assert check_clock(header).verdict == OK
    assert check_clock(answer(200, {"server_time": "today"})).what == "the service does not say what time it is"


# Courier, outbox, terminal


def test_a_courier_at_work_is_told_from_one_that_hangs_or_died(
    home: StoreFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    now = time.time()
    cache = filled(home)
    election = LeaderLock(home.lock)
    assert election.try_acquire(Leader(os.getpid(), "1.2.3", now - 600))
    with cache.transaction():
        cache.set_cursor("beat", now)
    verdict, text = doctor(capsys).of("courier")[0]
    assert verdict == OK
    assert f"process {os.getpid()} of aisle 1.2.3, began 10 min ago" in text
    with cache.transaction():
        cache.set_cursor("beat", now - 300)
    found = doctor(capsys)
    assert found.status == 1
    assert found.of("courier")[0][0] == WRONG
    assert "Its last sign of life was 5 min ago" in found.text
    election.release()
    assert doctor(capsys).of("courier")[0][0] == NOTE


def test_a_courier_that_is_stopped_or_silent_is_no_live_link(
    home: StoreFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    filled(home).set_link(LinkRow(state="live", server=""))

    def in_office(tell: Callable[[str], None]) -> None:
        election = LeaderLock(home.lock)
        election.try_acquire(Leader(os.getpid(), "1.2.3", time.time()))
        tell("in office")
        signal.pause()
        election.release()

    child = Child(in_office)
    with running(child):
        child.hear(1)
        assert doctor(capsys).of("courier")[0][0] == OK
        os.utime(home.lock, (time.time() - 300, time.time() - 300))
        silent = doctor(capsys)
        os.utime(home.lock)
        os.kill(child.pid, signal.SIGSTOP)
        os.waitpid(child.pid, os.WUNTRACED)
        stopped = doctor(capsys)
    for found, why in (
        (silent, "It does not answer. Its last sign of life was 5 min ago"),
        (stopped, "It is stopped"),
    ):
        verdict, text = found.of("courier")[0]
        assert (found.status, verdict) == (1, WRONG)
        assert why in text
        assert f"kill -KILL {child.pid}" in text
        assert f"kill -CONT {child.pid}" in text or found is silent
        verdict, text = found.of("link")[0]
        assert verdict == NOTE
        assert "The courier does not answer, so the present state is unknown." in text


def test_without_a_list_of_locks_the_holder_is_looked_for(home: StoreFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_locks, "LOCKS_FILE", home.root / "none")
    assert store_files_and_courier.is_lock_held(home.lock, os.getpid())
    assert not store_files_and_courier.is_lock_held(home.lock, 2**22 + 1)


def test_a_lock_of_another_file_with_the_same_number_is_not_the_couriers(
    home: StoreFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    locks = home.root / "locks"
    monkeypatch.setattr(file_locks, "file_id", lambda path: (os.makedev(8, 7), 4711))
    monkeypatch.setattr(file_locks, "LOCKS_FILE", locks)
    for device, is_held in (("08:07", True), ("08:08", False)):
        locks.write_text(f"1: FLOCK ADVISORY WRITE 99 {device}:4711 0 EOF\n", encoding="ascii")
        assert store_files_and_courier.is_lock_held(home.lock, os.getpid()) is is_held


def test_what_waits_for_a_pin_is_named(home: StoreFolder, capsys: pytest.CaptureFixture[str]) -> None:
    filled(home)
    box = OperationQueue(open_outbox(home.folder))
    with transaction(box._db):
        box.enqueue(
            intents(update("1", {1: 1})._replace(needs_supervisor=True)),
            ANNA._replace(supervisor_principal=principal_of("U1")),
        )
    found = doctor(capsys)
    assert (NOTE, "1 queued for the PIN of U1 Enter it in the app: type . and choose PIN.") in found.of("outbox")


@pytest.mark.parametrize(("age_s", "is_named"), [(30, False), (90, True)])
def test_writes_that_the_service_cannot_take_are_named_after_a_minute(
    home: StoreFolder, capsys: pytest.CaptureFixture[str], age_s: float, is_named: bool
) -> None:
    filled(home)
    box = OperationQueue(open_outbox(home.folder), clock=lambda: time.time() - age_s)
    with transaction(box._db):
        first, _ = box.enqueue(intents(*(update(order, {1: 1}, merge=False) for order in ("1", "2"))), ANNA)
    box.begin_sending(first, b"{}")
    box.retry_later(first, store_text("The database failed."), time.time() + 60)
    verdict, words = doctor(capsys).of("outbox")[0]
    assert words.startswith("2 queued; ")
    assert (verdict, "The database failed. Nothing is lost." in words) == ((NOTE, True) if is_named else (OK, False))


def test_waiting_and_unresolved_operations_are_reported(home: StoreFolder, capsys: pytest.CaptureFixture[str]) -> None:
    filled(home)
    box = OperationQueue(open_outbox(home.folder), clock=lambda: time.time() - 7200)
    with transaction(box._db):
        waits, refused, unclear = box.enqueue(
            intents(*(update(order, {1: 1}, merge=False, customer_name="Ms Okafor") for order in ("1", "2", "3"))), ANNA
        )
    found = doctor(capsys)
    assert found.status == 0
    assert found.of("outbox")[0] == (
        NOTE,
        f"3 queued; schema {len(OUTBOX_MIGRATIONS)}; the oldest was saved 2 h ago"
        " Nothing is lost. Look at link and service above.",
    )
    for op_id in (refused, unclear):
        box.begin_sending(op_id, b"{}")
    box.refuse(refused, store_text("the order is finished"))
    box.mark_in_doubt(unclear, store_text("the line broke"))
    found = doctor(capsys)
    assert found.status == 1
    assert found.of("outbox")[0][1].startswith("1 in doubt, 1 queued, 1 rejected; ")
    assert (NOTE, f"rejected: update-customer-order {refused} the order is finished") in found.of("outbox")
    assert (NOTE, f"in doubt: update-customer-order {unclear} the line broke") in found.of("outbox")
    assert "Okafor" not in found.text
    assert waits not in found.text


@pytest.mark.parametrize(
    ("sync", "verdict", "says"),
    [
        (LinkRow(state="offline", server="no route"), NOTE, "no route"),
        (LinkRow(state="refused", server="token expired"), WRONG, "Put a token for store 0001 into"),
        (LinkRow(state="live", server=""), OK, "live; last answer of the service"),
    ],
)
def test_link_state_is_reported(
    home: StoreFolder, capsys: pytest.CaptureFixture[str], sync: LinkRow, verdict: str, says: str
) -> None:
    filled(home).set_link(sync)
    found = doctor(capsys).of("link")[0]
    assert found[0] == verdict
    assert says in found[1]


def test_a_cache_that_is_not_whole_or_old_is_told(home: StoreFolder, capsys: pytest.CaptureFixture[str]) -> None:
    cache = filled(home)
    assert doctor(capsys).of("cache")[0][1].startswith("1 products, 1 stock, 0 locations, 0 orders; confirmed ")
    cache.set_link(LinkRow(last_ok=time.time() - 90_000))
    assert "25 h ago" in doctor(capsys).of("cache")[0][1]
    with cache.transaction():
        full_sync_stages_and_progress.save_progress(
            cache, full_sync_stages_and_progress.SyncProgress(completed=1.0, missing=("stock",))
        )
    assert "Not all of stock could be read." in doctor(capsys).of("cache")[0][1]
    with cache.transaction():
        full_sync_stages_and_progress.save_progress(cache, full_sync_stages_and_progress.SyncProgress())
    assert "is not fully loaded yet" in doctor(capsys).of("cache")[0][1]


def test_receiving_place_that_the_store_lacks_is_told(
    home: StoreFolder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = filled(home)
    assert not [text for _, text in doctor(capsys).of("settings") if "is no location" in text]
    monkeypatch.setenv("AISLE_RECEIVING_PLACE", "DOCK")
    told = [text for _, text in doctor(capsys).of("settings") if "is no location" in text]
    assert told[0].startswith("receiving_place DOCK is no location of the store")
    cache.write_locations([service_rows.location("DOCK", 1)])
    assert not [text for _, text in doctor(capsys).of("settings") if "is no location" in text]


def test_last_scanner_test_is_reported(home: StoreFolder, capsys: pytest.CaptureFixture[str]) -> None:
    trace = home.root / "trace"
    loaded = LoadedSettings(Settings(trace=str(trace)), home.root)
    assert next(iter(host_settings_and_terminal.check_scanner(loaded))).verdict == NOTE
    lines = [
        {"job": "scanner_test", "verdict": "scanner_test.good"},
        {"job": "scanner_test", "verdict": "input.no_gs"},
        {"job": "pick", "verdict": "pick.picked"},
    ]
    trace.write_text("half a line\n" + "\n".join(json.dumps(line) for line in lines) + "\n{")
    (found,) = host_settings_and_terminal.check_scanner(loaded)
    assert (found.verdict, found.facts["finding"]) == (NOTE, "input.no_gs")
    assert "FNC1" in found.what
    trace.write_text(json.dumps(lines[0]))
    (found,) = host_settings_and_terminal.check_scanner(loaded)
    assert found.verdict == OK


def test_the_terminal_is_described(home: StoreFolder, capsys: pytest.CaptureFixture[str]) -> None:
    verdict, text = doctor(capsys, "--terminal", "dock 3").of("terminal")[0]
    assert (verdict, text.split(":")[0]) == (OK, "dock 3")


@pytest.mark.parametrize(
    ("environ", "known"),
    [
        ({"TERM": "vt220"}, (0,)),
        ({"TERM": "linux"}, (0, 8)),
        ({"TERM": "no such"}, (0,)),
        ({"TERM": "linux", "COLORTERM": "truecolor"}, (1 << 24,)),
    ],
)
def test_the_colours_of_a_terminal(environ: dict[str, str], known: tuple[int, ...]) -> None:
    """Curses looks a terminal up once in a process; a machine may know none of them."""
    asked = [
        sys.executable,
        "-c",
        "import sys, ast\nfrom aisle.session.terminal_screen_and_keys import colour_count\n"
        "print(colour_count(ast.literal_eval(sys.argv[1])))",
    ]
    found = subprocess.run([*asked, repr(environ)], capture_output=True, text=True, check=True, timeout=60)
    assert int(found.stdout) in known


def test_text_from_outside_is_harmless(home: StoreFolder, capsys: pytest.CaptureFixture[str]) -> None:
    filled(home).set_link(LinkRow(state="offline", server="\x1b[2Jgone\u202e"))
    text = doctor(capsys).text
    assert "gone" in text
    assert all(line.isprintable() for line in text.splitlines())


def test_a_home_that_this_account_may_not_look_into_is_told(
    home: StoreFolder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    look = os.stat

    def shut(path: Any, *args: Any, **options: Any) -> object:
        if str(home.folder) in str(path):
            raise PermissionError(13, "Permission denied", str(path))
        return look(path, *args, **options)

    monkeypatch.setattr(os, "stat", shut)
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert ("wrong", f"{home.root} cannot be written It is not this account's. Set AISLE_HOME.") in doctor(capsys).of(
        "home"
    )
