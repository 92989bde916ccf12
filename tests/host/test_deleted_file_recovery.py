"""outbox.db is deleted or replaced in use: nothing is written to a lost file, and nothing is lost."""

from __future__ import annotations

import os
import shutil
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest

from aisle.errors import StorageError
from aisle.host import deleted_file_recovery
from aisle.host.database import FileReplaced, fetch, transaction
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import GOOD, INFO, WRONG, Frame, msg
from aisle.outbox.commit_journal import Journal
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.session.session import Session
from aisle.stored_messages import store_text
from tests.cache import service_rows
from tests.session.test_session import BARCODES, _writer, at, home, say, sent, told
from tests.writes import ANNA, intents, update

__all__ = ["home"]


def deleted(home: StoreFolder, *parts: str) -> None:
    """Somebody tidies up."""
    for part in parts or ("", "-wal", "-shm"):
        home.outbox.with_name(f"outbox.db{part}").unlink(missing_ok=bool(part))


def polled(session: Session) -> Frame:
    frame = session.poll()
    assert frame is not None
    return frame


def noted(home: StoreFolder) -> list[str]:
    """The inputs in the journal that is at its place."""
    with closing(open_outbox(home.folder)) as db:
        return [event.raw for event in Journal(db).last_events(100) if event.raw]


PARTS = {
    "all": ("", "-wal", "-shm"),
    "but its log": ("",),
    "no memory": ("", "-shm"),
    "its log alone": ("-wal",),
    "the log's memory alone": ("-shm",),
    "log and memory": ("-wal", "-shm"),
}


@pytest.mark.parametrize("parts", PARTS.values(), ids=PARTS)
def test_deleted_file_is_restored_by_process_that_has_it_open(home: StoreFolder, parts: tuple[str, ...]) -> None:
    with at(home, user="U1") as session:
        say(session, "4101", BARCODES[0])
        deleted(home, *parts)
        frame = polled(session)
        assert told(frame) == (INFO, "stored_reason.file_put_back")
        assert frame.view.name == "pick.product", "on the same step"
        assert told(say(session, BARCODES[1])) == (GOOD, "pick.picked")
    assert noted(home) == ["4101", *BARCODES[:2]]
    assert sent(home) == {1: 1, 2: 1}
    with closing(open_outbox(home.folder)) as db:
        assert fetch(db, "PRAGMA integrity_check") == [("ok",)]
        assert not Journal(db).sessions.running_sessions(), "the session has said goodbye in the file that is there"
    assert home.outbox.stat().st_mode & 0o777 == 0o600


def test_a_scan_that_comes_first_is_not_taken_and_said_to_be_done_again(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        say(session, "4101")
        deleted(home)
        frame = say(session, BARCODES[0], BARCODES[1])
        assert told(frame) == (WRONG, "session.inputs_not_saved")
        assert frame.verdict is not None
        assert dict(frame.verdict.text.args) == {
            "count": 2,
            "why": msg("session.storage_retry", what=msg("stored_reason.file_put_back")),
        }
        assert (frame.view.name, session.bells) == ("pick.product", 3)
        assert noted(home) == ["4101"], "it does not pretend"
        assert told(say(session, BARCODES[0], BARCODES[1])) == (GOOD, "pick.picked")
    assert sent(home) == {1: 1, 2: 1}


def test_all_sessions_go_on_with_one_file(home: StoreFolder) -> None:
    with at(home, user="U1") as one, at(home) as other:
        say(other, "BADGE-U2", "4102", BARCODES[1])
        say(one, "4101", BARCODES[0])
        deleted(home)
        assert told(polled(other)) == (INFO, "stored_reason.file_put_back")
        assert told(say(one, BARCODES[1])) == (WRONG, "session.not_saved")
        say(one, BARCODES[1])
        say(other, BARCODES[1])
    assert noted(home) == ["BADGE-U2", "4102", BARCODES[1], "4101", BARCODES[0], BARCODES[1], BARCODES[1]]
    assert not deleted_file_recovery.list_copies(home.folder)


def test_changes_before_recovery_are_seen_at_next_poll(home: StoreFolder) -> None:
    with at(home, user="U1") as one, at(home, user="U2") as other:
        say(one, "4101")
        shown = polled(other).view
        with _writer(home) as cache:
            cache.write_orders(
                [service_rows.order("4101", service_rows.line(1, "P1", 6, picked=1))], lines_known=True, read_began=2.0
            )
        deleted(home)
        for session in (one, other):
            assert told(polled(session)) == (INFO, "stored_reason.file_put_back")
        assert told(polled(one))[1] == "pick.changed"
        assert polled(other).view != shown


def test_it_can_be_deleted_twice(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        say(session, "4101")
        for code in BARCODES[:2]:
            deleted(home)
            assert told(polled(session)) == (INFO, "stored_reason.file_put_back")
            assert told(say(session, code)) == (GOOD, "pick.picked")
    assert noted(home) == ["4101", *BARCODES[:2]]


def test_operations_of_replaced_file_are_kept_beside_it(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        say(session, "4101", BARCODES[0])
        deleted(home)
        open_outbox(home.folder).close()
        frame = polled(session)
        assert (told(frame), frame.view.name) == ((WRONG, "session.files_replaced"), "home")
        (kept,) = deleted_file_recovery.list_copies(home.folder)
        assert kept.name in str(dict(frame.verdict.text.args)["why"]) if frame.verdict else False
        assert told(say(session, "4102")) == (GOOD, "pick.opened")
    assert noted(home) == ["4102"]
    assert kept.stat().st_mode & 0o777 == 0o600
    os.replace(kept, home.outbox)
    deleted(home, "-wal", "-shm")
    assert noted(home) == ["4101", BARCODES[0]], "it can be put in place by hand"


@pytest.mark.parametrize("is_opened", [False, True], ids=["", "and another session began"])
def test_a_process_that_dies_before_it_marks_the_file_has_restored_it(
    is_opened: bool, home: StoreFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(folder: Path) -> None:
        raise OSError("killed")

    with at(home, user="U1") as session:
        say(session, "4101", BARCODES[0])
        deleted(home)
        with monkeypatch.context() as patch:
            patch.setattr(deleted_file_recovery, "_sync_folder", die)
            with pytest.raises(StorageError, match="killed"):
                session.store.access.journal.recover_file()
        if is_opened:
            open_outbox(home.folder).close()
        assert told(polled(session)) == (INFO, "stored_reason.file_put_back")
        assert told(say(session, BARCODES[1])) == (GOOD, "pick.picked")
    assert noted(home) == ["4101", *BARCODES[:2]]
    assert not deleted_file_recovery.list_copies(home.folder)


def test_an_older_copy_put_in_its_place_is_worked_with_from_there(home: StoreFolder, tmp_path: Path) -> None:
    with at(home, user="U1") as session:
        say(session, "4101", BARCODES[0])
        with closing(open_outbox(home.folder)) as db:
            (tmp_path / "copy.db").write_bytes(db.serialize("main"))
        say(session, BARCODES[1])
        deleted(home)
        shutil.copy(tmp_path / "copy.db", home.outbox)
        frame = polled(session)
        assert told(frame) == (WRONG, "session.files_replaced")
        assert frame.view.name == "pick.product", "as far as that copy knows"
        say(session, BARCODES[2])
    assert noted(home) == ["4101", BARCODES[0], BARCODES[2]]


def test_no_input_is_taken_until_recovery(home: StoreFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with at(home, user="U1") as session:
        say(session, "4101")
        deleted(home)
        with monkeypatch.context() as patch:
            patch.setattr(deleted_file_recovery, "_write_durably", no_room)
            assert told(polled(session)) == (WRONG, "session.cannot_save")
            assert told(say(session, BARCODES[0])) == (WRONG, "session.not_saved")
            assert not home.outbox.exists()
        assert told(polled(session)) == (INFO, "stored_reason.file_put_back")
        assert told(say(session, BARCODES[0])) == (GOOD, "pick.picked")
    assert noted(home) == ["4101", BARCODES[0]]


def test_a_home_that_is_gone_as_a_whole_is_made_again(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        say(session, "4101", BARCODES[0])
        shutil.rmtree(home.folder)
        assert told(polled(session))[1] == "stored_reason.file_put_back"
    assert noted(home) == ["4101", BARCODES[0]]


def test_a_log_in_the_place_of_the_one_that_is_open_is_noticed(home: StoreFolder) -> None:
    log = home.outbox.with_name("outbox.db-wal")
    with at(home, user="U1") as session, at(home) as other:
        say(session, "4101", BARCODES[0])
        (log.parent / "older").write_bytes(log.read_bytes()[:4096])
        os.replace(log.parent / "older", log)
        assert told(say(session, BARCODES[1])) == (WRONG, "session.not_saved")
        assert told(say(session, BARCODES[1])) == (GOOD, "pick.picked")
        assert told(polled(other))[1] == "stored_reason.file_put_back"
    assert noted(home) == ["4101", *BARCODES[:2]]
    assert sent(home) == {1: 1, 2: 1}


def test_new_session_waits_until_missing_wal_is_restored(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        say(session, "4101", BARCODES[0])
        deleted(home, "-wal")
        newcomer: list[list[str]] = []
        thread = Thread(target=lambda: newcomer.append(noted(home)))
        thread.start()
        thread.join(0.1)
        assert thread.is_alive(), "beside a log that others have it would begin another one"
        assert told(polled(session))[1] == "stored_reason.file_put_back"
        thread.join()
    assert newcomer == [["4101", BARCODES[0]]]


def test_who_waits_for_nobody_is_told_so(home: StoreFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    with at(home, user="U1") as session:
        say(session, "4101")
        monkeypatch.setattr("aisle.host.database.RECOVERY_TIMEOUT_S", 0.0)
        deleted(home, "-wal")
        with pytest.raises(StorageError, match="none of them has put it back"):
            open_outbox(home.folder)
        assert told(polled(session))[1] == "stored_reason.file_put_back"
    assert noted(home) == ["4101"]


def test_replaced_file_is_not_written(home: StoreFolder) -> None:
    first, second = open_outbox(home.folder), open_outbox(home.folder)
    with transaction(first):
        (op_id,) = OperationQueue(first).enqueue(intents(update("4101", {1: 1})), ANNA)
    deleted(home)
    with pytest.raises(FileReplaced), transaction(first):
        OperationQueue(first).enqueue(intents(update("4102", {1: 1})), ANNA)
    assert deleted_file_recovery.recover_file(first).is_complete
    assert deleted_file_recovery.recover_file(second).is_complete, "it has been done"
    with pytest.raises(FileReplaced):
        OperationQueue(second).refuse(op_id, store_text("no"))
    deleted(home)
    with pytest.raises(StorageError, match="deleted again"):
        deleted_file_recovery.recover_file(second)
