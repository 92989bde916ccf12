"""`aisle outbox`: what is not resolved, one of them with what both sides say, and what a person says of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from aisle.cache.writer import CacheWriter, LinkRow, open_cache
from aisle.cli import main
from aisle.courier.link_state import reason_of
from aisle.errors import SettingsError
from aisle.host.database import transaction
from aisle.host.store_and_database_folders import StoreFolder
from aisle.outbox.observed_behaviour import MOVEMENT_FOUND_BY_REFERENCE, NO, ObservedBehaviour
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.operation_record import Author, Intent, principal_of
from aisle.settings.setting_definitions import DEMO_STORE, EMBEDDED
from aisle.stored_messages import store_text
from tests.courier.writes import movement, update


@pytest.fixture
def ids(aisle_home: Path) -> tuple[str, ...]:
    """One that nobody knows about, with evidence, and one that waits."""
    with closing(open_outbox(StoreFolder(aisle_home, EMBEDDED, DEMO_STORE).folder)) as db:
        outbox = OperationQueue(db)
        with transaction(db):
            writes = (movement("P1", 2, "A-1", "B-1"), update("O1", {1: 1}))
            ids = outbox.enqueue([Intent(write) for write in writes], Author(DEMO_STORE, "U1"))
        before = {"before": {"stock": {"P1": {"A-1": "12", "B-1": "4"}}}}
        outbox.begin_sending(ids[0], b"[]", evidence=before)
        outbox.mark_in_doubt(ids[0], store_text("no answer"), settling_s=120)
        after = {"after": {"stock": {"P1": {"A-1": "10", "B-1": "6"}}}, "verdict": "unreadable"}
        outbox.ask_person(ids[0], store_text("nobody knows"), evidence={**before, **after})
        ObservedBehaviour(db).record(MOVEMENT_FOUND_BY_REFERENCE, NO)
    return ids


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    try:
        status = main(["outbox", *arguments])
    except SystemExit as leave:
        status = int(str(leave.code or 0))
    return status, *capsys.readouterr()


def state(home: Path, op_id: str) -> str:
    with closing(open_outbox(StoreFolder(home, EMBEDDED, DEMO_STORE).folder)) as db:
        return OperationQueue(db).get(op_id).state


def test_the_list_speaks_in_the_five_words(ids: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys)
    assert status == 0
    assert [line.split()[2] for line in out.splitlines()[1:]] == ["in_doubt", "queued"]
    assert "1 waiting, 1 for a person to resolve." in err
    assert "movement_readback no" in err


def test_a_token_file_that_cannot_be_read_is_named_and_no_refusal_told(
    ids: tuple[str, ...], aisle_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = SettingsError("The token file /etc/aisle/other.token is empty.")
    with closing(open_cache(StoreFolder(aisle_home, EMBEDDED, DEMO_STORE).folder, writer=True)) as cache:
        CacheWriter(cache, DEMO_STORE).set_link(LinkRow(state="refused", server=reason_of(wrong)))
    _, _, err = run(capsys)
    assert f"Nothing is sent: {wrong}\n" in err
    assert "lets nobody" not in err
    assert main(["doctor"]) in (0, 1)
    told = " ".join(capsys.readouterr().out.split())
    assert str(wrong) in told
    assert "refused;" not in told


def test_operation_waiting_for_pin_names_person_and_way(
    aisle_home: Path, ids: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    home = StoreFolder(aisle_home, EMBEDDED, DEMO_STORE)
    CacheWriter(open_cache(home.folder, writer=True), DEMO_STORE).write_people([{"user": "U6", "name": "Fred Harper"}])
    with closing(open_outbox(home.folder)) as db, transaction(db):
        reject = update("O2", {}, is_rejected=True)._replace(needs_supervisor=True)
        own = Author(DEMO_STORE, "U6", supervisor_principal=principal_of("U6"))
        (op_id,) = OperationQueue(db).enqueue([Intent(reject)], own)
    _, out, err = run(capsys)
    rows = [line.split() for line in out.splitlines()]
    assert [row[row.index("order/O2") + 1] for row in rows if "order/O2" in row] == ["U6"]
    assert [row[row.index("order/O1") + 1] for row in rows if "order/O1" in row] == ["store"]
    assert out.count("waits for the PIN of Fred Harper") == 1
    assert "1 of them for the PIN of Fred Harper, given in the app: . and then PIN." in err
    _, out, _ = run(capsys, "show", op_id)
    assert "principal: Fred Harper" in out
    assert "waits for the PIN of Fred Harper" in out
    assert run(capsys, "resolve", op_id, "by-hand")[0] == 0
    assert state(aisle_home, op_id) == "closed"
    assert run(capsys, "resolve", ids[1], "by-hand")[0] == 2, "it goes by itself"


def test_operation_is_shown_with_both_sides(ids: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "show", ids[0][:8])
    assert status == 0
    rows = [line.split() for line in out.splitlines()]
    assert ["P1", "A-1", "12", "-2", "10"] in rows
    assert ["P1", "B-1", "4", "+2", "6"] in rows
    assert "The stock looks as if it arrived." in out
    assert "arrived, again, by-hand" in out


@pytest.mark.parametrize(("how", "becomes"), [("arrived", "done"), ("again", "queued"), ("by-hand", "closed")])
def test_one_is_resolved(
    aisle_home: Path, ids: tuple[str, ...], capsys: pytest.CaptureFixture[str], how: str, becomes: str
) -> None:
    status, out, _ = run(capsys, "resolve", ids[0], how, "--by", "Ben", "--note", "looked")
    assert status == 0
    assert becomes in out
    assert state(aisle_home, ids[0]) == becomes
    with closing(open_outbox(StoreFolder(aisle_home, EMBEDDED, DEMO_STORE).folder)) as db:
        op = OperationQueue(db).get(ids[0])
    assert (op.closed_by, op.last_error) == ("Ben", "looked")


@pytest.mark.parametrize("id_", ["", "NOBODY"])
def test_what_nobody_can_resolve_is_said(
    aisle_home: Path, ids: tuple[str, ...], capsys: pytest.CaptureFixture[str], id_: str
) -> None:
    status, _, err = run(capsys, "resolve", id_ or ids[1], "arrived")
    assert status == 2
    assert "aisle outbox" in err
    assert state(aisle_home, ids[1]) == "queued"


def confirmed(home: Path, key: str, at: float, *, has_key: bool = True) -> str:
    """An operation that the service confirmed at that moment."""
    with closing(open_outbox(StoreFolder(home, EMBEDDED, DEMO_STORE).folder)) as db:
        outbox = OperationQueue(db, clock=lambda: at)
        with transaction(db):
            (op_id,) = outbox.enqueue([Intent(movement(key, 1, "A-1", "B-1"))], Author(DEMO_STORE, "U1"))
        outbox.begin_sending(op_id, b"[]", has_key=has_key)
        outbox.confirm(op_id, '{"success":true}')
        outbox.mark_read_back(op_id)
    return op_id


SINCE = [
    ([], "queued", "queued"),
    (["--since", "2h"], "done", "queued"),
    (["--since", "120m"], "done", "queued"),
    (["--since", "1d"], "done", "queued"),
    (["--since", "4d"], "queued", "queued"),
    (["--since", "1m"], "done", "done"),
]


@pytest.mark.parametrize(("since", "of_days_ago", "of_an_hour_ago"), SINCE)
def test_confirmed_operations_are_replayed_after_restore(
    aisle_home: Path, capsys: pytest.CaptureFixture[str], since: list[str], of_days_ago: str, of_an_hour_ago: str
) -> None:
    now = time.time()
    old = confirmed(aisle_home, "P0", now - 40 * 86400)
    before, last = (confirmed(aisle_home, *each) for each in (("P1", now - 3 * 86400), ("P2", now - 3600)))
    status, out, err = run(capsys, "replay", *since)
    assert (status, [state(aisle_home, op_id) for op_id in (before, last)]) == (0, [of_days_ago, of_an_hour_ago])
    count = [of_days_ago, of_an_hour_ago].count("queued")
    assert out.startswith("1 operation is sent again" if count == 1 else f"{count} operations are sent again")
    assert state(aisle_home, old) == "done", "the service may have forgotten its key"
    assert ("1 are from before" in err) == (not since)


@pytest.mark.parametrize(
    ("since", "minutes", "told"),
    [
        ("18:00", 0, "2026-11-26T18:00+09:00"),
        ("", -18 * 60, "2026-11-26T00:00+09:00"),
        ("18:00+01:00", 8 * 60, "2026-11-27T02:00+09:00"),
        ("09:00Z", 0, "2026-11-26T18:00+09:00"),
    ],
)
def test_a_moment_of_a_replay_is_by_the_time_of_the_store(
    aisle_home: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    in_zone: Callable[[str], None],
    since: str,
    minutes: int,
    told: str,
) -> None:
    in_zone("America/New_York")
    nine_utc = 1795683600.0  # 2026-11-26 09:00 UTC, at the store 18:00
    monkeypatch.setattr(time, "time", lambda: nine_utc + 86400)
    (aisle_home / "settings.toml").write_text('time_zone = "Asia/Tokyo"\n')
    around = [confirmed(aisle_home, f"P{n}", nine_utc + minutes * 60 + 60 * n) for n in (-1, 1)]
    status, out, err = run(capsys, "replay", f"--since=2026-11-26{since and 'T'}{since}")
    assert (status, [state(aisle_home, op_id) for op_id in around]) == (0, ["done", "queued"])
    assert out.startswith("1 operation is sent")
    assert f"Since {told}, by the time of store {DEMO_STORE} (Asia/Tokyo)." in err


def test_a_replay_says_that_the_store_lives_by_the_time_of_its_host(
    aisle_home: Path, capsys: pytest.CaptureFixture[str], in_zone: Callable[[str], None]
) -> None:
    in_zone("America/New_York")
    confirmed(aisle_home, "P1", time.time() - 3600)
    _, _, err = run(capsys, "replay", "--since=2026-01-05T18:00")
    assert f"Since 2026-01-05T18:00-05:00, by the time of store {DEMO_STORE} (the zone of this host)." in err


def test_replay_looks_up_unkeyed_operations_first(aisle_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    op_id = confirmed(aisle_home, "P1", time.time() - 3600, has_key=False)
    status, out, _ = run(capsys, "replay")
    assert (status, state(aisle_home, op_id)) == (0, "in_doubt")
    assert "1 had none, and are looked for first" in out


@pytest.mark.parametrize(
    ("since", "of_days_ago"), [([], "done"), (["--since", "20d"], "in_doubt"), (["--since", "2d"], "done")]
)
def test_old_work_without_a_key_is_looked_for_only_when_that_is_said(
    aisle_home: Path, capsys: pytest.CaptureFixture[str], since: list[str], of_days_ago: str
) -> None:
    old = confirmed(aisle_home, "P1", time.time() - 10 * 86400, has_key=False)
    new = confirmed(aisle_home, "P2", time.time() - 86400, has_key=False)
    status, _, _ = run(capsys, "replay", *since)
    assert (status, state(aisle_home, old), state(aisle_home, new)) == (0, of_days_ago, "in_doubt")


@pytest.mark.parametrize("wrong", ["yesterday", "", "3w", "d", "-1d", "2026-13-01", "9999-01-01", "tomorrow"])
def test_a_moment_that_is_none_is_refused(aisle_home: Path, capsys: pytest.CaptureFixture[str], wrong: str) -> None:
    op_id = confirmed(aisle_home, "P1", time.time() - 3600)
    status, _, err = run(capsys, "replay", f"--since={wrong}")
    assert (status, state(aisle_home, op_id)) == (2, "done")
    assert wrong in err
