"""What a session has to bear: trouble that passes, several people at one name, questions whose job has gone."""

from __future__ import annotations

import time
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import apsw
import pytest

from aisle.cache.queries import WindowRows
from aisle.cache.reader import CacheReader
from aisle.cache.writer import LinkRow
from aisle.client import Response
from aisle.client.responses_and_errors import status_error
from aisle.courier.link_state import reason_of
from aisle.courier.pull import full_sync_stages_and_progress
from aisle.errors import SettingsError, StorageError
from aisle.host.database import fetch_one
from aisle.host.hung_courier import write_heartbeat
from aisle.host.notify_sockets import CourierSocket
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import Args, Start
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Frame, Msg, Step, msg
from aisle.outbox.commit_journal import Journal
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.requests_and_token_holders import take_read_requests
from aisle.scan.inputs_and_line_grouping import Key, OpenLine
from aisle.session.session import Session, open_session
from aisle.session.shown_verdict_and_bells import STANDS_S
from aisle.session.store_connection import REPEAT_S, SESSION_HEARTBEAT_S, STALE_S
from aisle.session.terminal_screen_and_keys import list_height
from aisle.settings.setting_definitions import Settings
from tests.cache import service_rows
from tests.session.test_session import BARCODES, _writer, at, home, say, sent, told

__all__ = ["home"]


def locked(home: StoreFolder, session: Session) -> apsw.Connection:
    """Somebody holds this host's outbox, and the session has no patience; ROLLBACK gives it back."""
    session.store.journal._db.set_busy_timeout(1)
    other = open_outbox(home.folder)
    other.execute("BEGIN IMMEDIATE")
    return other


def opened(session: Session, job: str, *scans: str) -> Frame:
    """What is on the screen with this job on top, after these scans."""
    session.event_runner.open(Start(job, {}))
    return say(session, *scans)


# Who is signed in


def test_nobody_is_signed_in_as_somebody_who_works_there_already(home: StoreFolder) -> None:
    with at(home) as first:
        say(first, "BADGE-U1", "4101", BARCODES[0])
        with at(home) as second:
            assert second.frames.build().view.name == "sign_in"
            assert say(second, "BADGE-U2").user == "Anna Berg"
    with at(home) as later:
        assert later.frames.build().view.name == "sign_in", "two people had a terminal of this name"
        assert say(later, "BADGE-U1").view.name == "pick.product"
    with at(home) as again:
        assert again.frames.build().user == "Anna Kovac"


def test_home_below_resumed_work_asks_for_its_rows_when_it_is_shown(
    home: StoreFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    query = CacheReader.query_window

    def query_window(reader: CacheReader, name: str, args: Args) -> WindowRows[Any]:
        asked.append(name)
        return query(reader, name, args)

    monkeypatch.setattr(CacheReader, "query_window", query_window)
    with at(home) as first:
        say(first, "BADGE-U1")
        assert "orders" in asked
        say(first, "4101", BARCODES[0])
    asked.clear()
    with at(home) as resumed:
        assert resumed.frames.build().view.name == "pick.product"
        assert asked.count("order_to_pick") == 1
        assert not {"orders", "partly_received"} & {*asked}
        assert say(resumed, "b").view.name == "home"
        assert "orders" in asked


def test_a_session_that_was_killed_holds_no_terminal(home: StoreFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    with at(home) as session:
        say(session, "BADGE-U1", "4101", BARCODES[0])
        before = session.frames.build().view
        monkeypatch.setattr("aisle.outbox.sessions_and_open_jobs.is_running", lambda _pid, _birth: False)
        with at(home) as resumed:
            assert (resumed.frames.build().view, resumed.frames.build().user) == (before, "Anna Kovac")


@pytest.mark.parametrize(
    ("asked", "user"),
    [("joan", ""), ("berg", ""), ("joanna", "U3"), ("JOANNA ", "U3"), ("joanna berg", "U3"), ("u3", "U3")],
)
def test_only_a_whole_name_or_a_first_name_signs_in_at_once(home: StoreFolder, asked: str, user: str) -> None:
    with _writer(home) as cache:
        cache.write_people([service_rows.person("U3", "Joanna Berg")])
        cache._db.execute("DELETE FROM person WHERE user = 'U2'")
    with at(home) as session:
        frame = say(session, asked)
        if not user:
            assert told(frame) == (ASK, "sign_in.confirm_name")
            assert len(frame.view.choices) == 1
            frame = say(session, "1")
        assert (frame.view.name, frame.user) == ("home", "Joanna Berg")


# Trouble that passes


def test_a_poll_bears_a_locked_outbox_and_a_host_without_processes(
    home: StoreFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_process() -> None:
        raise OSError(11, "Resource temporarily unavailable")

    session = open_session(home, Settings(terminal="dock", user="U1"), no_process)
    session.start()
    now = [session.context.clock() + 2 * SESSION_HEARTBEAT_S]
    session.context.clock = lambda: now[0]
    other = locked(home, session)
    frame = session.poll()
    assert frame is not None
    assert frame.view.name == "home"
    session.keep_courier()
    now[0] += SESSION_HEARTBEAT_S
    other.execute("ROLLBACK")
    session.poll()
    (running,) = session.store.journal.sessions.running_sessions()
    assert running.last_seen > running.started
    session.close()


def word(session: Session) -> Msg:
    """What came by itself, before what an input was answered with."""
    verdict = session.frames.build().verdict
    assert verdict is not None
    more = dict(verdict.text.args)["what"]
    assert isinstance(more, Msg)
    return more


def test_a_token_that_is_refused_is_asked_for_while_work_goes_on(home: StoreFolder) -> None:
    with at(home, user="U1", token_file="/etc/aisle/dock.token") as session, closing(CourierSocket(home)):
        now = [session.context.clock()]
        session.context.clock = lambda: now[0]

        def told_at(state: str, later: float) -> tuple[str, str]:
            now[0] += later
            write_heartbeat(home.lock)
            with _writer(home) as cache:
                cache.set_link(LinkRow(state=state, last_ok=now[0]))
            frame = session.poll()
            assert frame is not None
            return told(frame)

        home.lock.touch()
        say(session, "4101")
        assert told_at("refused", 1) == (GOOD, "pick.opened"), "what a scan was just answered with is not hidden"
        assert told_at("refused", STANDS_S) == (WRONG, "pick.join")
        assert session.bells == 3
        assert word(session) == msg("session.access_refused", store="0001", file="dock.token")
        assert told(say(session, BARCODES[0])) == (GOOD, "pick.picked")
        assert told_at("refused", STANDS_S) == (GOOD, "pick.picked"), "it was told just now"
        assert told_at("refused", REPEAT_S) == (WRONG, "pick.join")
        assert told_at("live", 1) == (INFO, "pick.join")
        assert word(session) == msg("session.access_restored"), "one word takes the place of another"
        say(session, BARCODES[0])
        assert told_at("refused", 1)[0] == WRONG, "the scan's"
        assert told_at("live", 1)[0] == WRONG
        say(session, "h", "b")
        assert told_at("live", 1) == ("", ""), "what is over before it could be told is not told"
        assert told_at("refused", 1) == (WRONG, "session.access_refused"), "alone where nothing is answered"
        assert told_at("live", 1) == (INFO, "session.access_restored")
        say(session, BARCODES[0])
        assert told_at("live", 1)[1] != "session.access_restored"


def test_a_store_that_is_none_is_said_with_the_one_that_may_be_meant(home: StoreFolder) -> None:
    with at(home, user="U1", token_file="/etc/aisle/dock.token") as session, closing(CourierSocket(home)):
        write_heartbeat(home.lock)
        answer = Response(403, {}, b'{"message": "There is no store 1; 0001?", "nearest": ["0001"]}')
        with _writer(home) as cache:
            cache.set_link(LinkRow(state="refused", server=reason_of(status_error("list-customer-orders", answer))))
        frame = session.poll()
        assert frame is not None
        assert frame.verdict is not None
        assert frame.verdict.text == msg("session.no_store", store="0001", nearest="0001")


def test_a_token_file_that_cannot_be_read_is_not_said_of_the_service(home: StoreFolder) -> None:
    with at(home, user="U1", token_file="/etc/aisle/dock.token") as session, closing(CourierSocket(home)):
        write_heartbeat(home.lock)
        wrong = SettingsError("The token file /etc/aisle/dock.token is empty.")
        with _writer(home) as cache:
            cache.set_link(LinkRow(state="refused", server=reason_of(wrong)))
        frame = session.poll()
        assert frame is not None
        assert frame.verdict is not None
        assert frame.verdict.text == msg(
            "session.no_token", why=str(wrong), short="The token file dock.token is empty."
        )
        with _writer(home) as cache:
            cache.set_link(LinkRow(state="refused", server="Unknown token"))
        session.context.clock = lambda: time.time() + REPEAT_S + 1
        frame = session.poll()
        assert frame is not None
        assert told(frame) == (WRONG, "session.access_refused")


def test_a_change_that_cannot_be_kept_is_told_again(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        say(session, "4101")
        line = service_rows.line(1, "P1", 1, picked=1)
        other = locked(home, session)
        with _writer(home) as cache:
            cache.write_orders([service_rows.order("4101", line)], lines_known=True, read_began=2.0)
        frame = session.poll()
        assert frame is not None
        assert (frame.view.name, told(frame)[1], session.bells) == ("pick.product", "pick.opened", 0)
        other.execute("ROLLBACK")
        frame = session.poll()
        assert frame is not None
        assert (frame.view.name, told(frame)) == ("pick.done", (INFO, "pick.changed"))


def test_saying_goodbye_hides_nothing(home: StoreFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    session = open_session(home, Settings(terminal="dock"))
    session.start()

    def fails(_session: str) -> None:
        raise StorageError("the disk is full")

    monkeypatch.setattr(session.store.journal.sessions, "end_session", fails)
    session.close()
    assert not list(home.sockets.glob("s-*.sock"))


def test_what_cannot_be_signed_out_takes_the_rest_of_the_queue_along(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        other = locked(home, session)
        frame = say(session, "4101", BARCODES[0], "b", "b", "o", "BADGE-U2", "4101", BARCODES[0])
        assert told(frame) == (WRONG, "session.inputs_not_saved")
        assert frame.verdict is not None
        assert dict(frame.verdict.text.args)["count"] == frame.scan_serial == 8
        assert (frame.view.name, frame.user) == ("home", "U1")
        other.execute("ROLLBACK")
        assert not OperationQueue(open_outbox(home.folder)).unfinished()
        assert told(say(session, "4101")) == (GOOD, "pick.opened")


def test_rows_that_nobody_can_read_are_not_resumed(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        say(session, "4101", BARCODES[0])
    database = open_outbox(home.folder)
    database.execute("UPDATE event SET event = replace(event, '\"v\":\"', '\"v\":\"x') WHERE kind = 'Rows'")
    assert database.changes()
    database.close()
    with at(home, user="U1") as session:
        assert (session.frames.build().view.name, told(session.frames.build())) == (
            "home",
            (WRONG, "session.not_resumed"),
        )
        assert told(say(session, "4101")) == (GOOD, "pick.opened")


def test_fields_of_any_name_are_resumed(home: StoreFolder) -> None:
    odd = service_rows.order("4103", service_rows.line(1, "P1", 2), **{"@": "n", "v": "x"})
    odd["lines"][0]["extra"] = {"@": "n", "v": "x"}
    with _writer(home) as cache:
        cache.write_orders([odd], lines_known=True, read_began=1.0)
    with at(home, user="U1") as session:
        before = say(session, "4103", BARCODES[0]).view
    with at(home, user="U1") as session:
        assert (session.frames.build().view, told(session.frames.build())) == (before, (INFO, "session.resumed"))


def test_a_job_of_another_version_is_not_resumed_and_says_so(
    home: StoreFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    with at(home, user="U1") as session:
        say(session, "4101", BARCODES[0])
    monkeypatch.setattr("aisle.jobs.pick.job.PickJob.version", 99)
    with at(home, user="U1") as session:
        assert told(session.frames.build()) == (WRONG, "session.other_version")
        assert told(say(session, "4101")) == (GOOD, "pick.opened")


def test_whatever_a_job_makes_of_its_journal_the_program_starts(
    home: StoreFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    with at(home, user="U1") as session:
        say(session, "4101", BARCODES[0])

    def breaks(*_: object) -> None:
        raise RuntimeError("a program that is not as it was")

    monkeypatch.setattr("aisle.jobs.pick.job.PickJob.view", breaks)
    with at(home, user="U1") as session:
        assert told(session.frames.build()) == (WRONG, "session.not_resumed")


# Sizes


@pytest.mark.parametrize("job", ["", "look_up", "locations", "pick", "look"])
def test_another_size_keeps_and_wishes_nothing(home: StoreFolder, job: str) -> None:
    with at(home, user="U1") as session:
        if job in ("look_up", "locations"):
            opened(session, job)
        elif job:
            say(session, *{"pick": ("4101",), "look": ("4101", f"?{BARCODES[1]}")}[job])
        database = open_outbox(home.folder)
        take_read_requests(database)
        before = fetch_one(database, "PRAGMA data_version")
        for rows in (8, 16, 24, 50):
            session.resize(40, rows)
        assert fetch_one(database, "PRAGMA data_version") == before
        assert take_read_requests(database) == []


def test_another_size_brings_a_list_its_rows(home: StoreFolder) -> None:
    with _writer(home) as cache:
        cache.write_orders(
            [service_rows.order(f"5{n:03}", service_rows.line(1, "P1", 1)) for n in range(60)],
            lines_known=True,
            read_began=1.0,
        )
    with at(home, user="U1") as session:
        shown = [len(session.resize(40, rows).view.rows) for rows in (8, 50)]  # type: ignore[union-attr]
        assert shown == [list_height(8), list_height(50) + 1], "under its short menu there is room for one more"
        assert shown[0] < 10 < shown[1]


# What the session keeps in mind


def test_twelve_times_and_then_the_scan(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        frame = say(session, "4101", "12*")
        assert (told(frame), frame.typed) == ((INFO, "session.times"), "12*")
        assert session.take([OpenLine("59")], 0.0).typed == "12*59"
        frame = say(session, BARCODES[1])
        assert (told(frame), frame.typed) == ((GOOD, "pick.picked"), "")
        assert told(say(session, BARCODES[0])) == (GOOD, "pick.picked")
        assert sent(home) == {2: Decimal(12), 1: Decimal(1)}
    with at(home, user="U1") as session:
        raws = [event.raw for event in Journal(open_outbox(home.folder)).last_events(50) if event.raw]
        assert raws == ["4101", "12*", BARCODES[1], BARCODES[0]]
        say(session, "3*", f"2*{BARCODES[2]}", BARCODES[2])
    assert sent(home)[3] == 3, "a number of its own is the younger one"


@pytest.mark.parametrize("other", ["n", "u", "7", "milk", "0*", "99999", "AISLE:9", "9520001100222€", "-5*", ""])
def test_the_multiplier_waits_until_it_is_used_or_taken_back(home: StoreFolder, other: str) -> None:
    with at(home, user="U1") as session:
        say(session, "4101", "12*")
        frame = say(session, other)
        assert frame.typed == "12*"
        assert told(frame)[1] in ("session.times_kept", "session.times")
        assert say(session, other).typed == "12*"
        assert say(session, BARCODES[1]).typed == ""
        say(session, BARCODES[0])
    assert sent(home) == {2: Decimal(12), 1: Decimal(1)}


@pytest.mark.parametrize("drop", ["b", "?A-2"])
def test_the_multiplier_is_taken_back_or_goes_with_its_page(home: StoreFolder, drop: str) -> None:
    with at(home, user="U1") as session:
        say(session, "4101", "12*")
        frame = say(session, drop)
        assert frame.typed == ""
        assert told(frame)[1] in (
            "session.dropped",
            "session.times_dropped",
            "shortage.join",
            "input.no_multiplier",
        )
        if drop.startswith("?"):
            session.take([Key("back")], 0.0)
        say(session, BARCODES[1])
    assert sent(home) == {2: Decimal(1)}


def test_back_drops_the_multiplier_and_nothing_else(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        say(session, "4101", "12*")
        frame = session.take([Key("back")], 0.0)
        assert (told(frame), frame.typed, frame.view.name) == ((INFO, "session.dropped"), "", "pick.product")


@pytest.mark.parametrize("said", [BARCODES[0], "c", "A-01", "milk", "99999", "h", "."])
def test_unused_multiplier_on_detail_page_is_reported(home: StoreFolder, said: str) -> None:
    with at(home, user="U1") as session:
        say(session, "2", f"?{BARCODES[1]}", "12*")
        frame = say(session, said)
        gone = [(id_, "") for id_ in ("session.times_dropped", "shortage.join")]
        assert (told(frame)[1], frame.typed) in [*gone, ("session.times_kept", "12*")]


def test_a_multiplier_is_for_the_job_below_a_page_to_read(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        say(session, "4101", f"?{BARCODES[0]}", "12*")
        assert told(say(session, BARCODES[1])) == (GOOD, "pick.picked")
        assert sent(home) == {2: Decimal(12)}


def test_nobody_multiplies_a_badge(home: StoreFolder) -> None:
    with at(home) as session:
        assert told(say(session, "12*")) == (WRONG, "input.no_multiplier")
        assert say(session, "BADGE-U1").view.name == "home"


def test_what_was_asked_goes_with_the_job_it_was_asked_for(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        said = "12*"
        assert told(say(session, "4102", said))[1] == "session.times"
        plain = say(session, "b").view
        say(session, said)
        session.stack.jobs.pop()
        frame = session.take([OpenLine("4")], 0.0)
        assert (frame.view.name, frame.typed) == ("home", "4")
        assert frame.view.prompt != plain.prompt
        assert len(frame.view.choices) > 2


# What is not here yet


@pytest.fixture
def young(home: StoreFolder) -> StoreFolder:
    """The first sync is on its way."""
    with _writer(home) as cache:
        full_sync_stages_and_progress.save_progress(
            cache, full_sync_stages_and_progress.SyncProgress(full=True, done=5, total=100)
        )
    return home


@pytest.mark.parametrize("way", [(), ("2",), ("7", "3"), ("7", "5"), ("7", "9", "1"), ("7", "9", "2")])
def test_a_badge_that_nobody_can_know_yet_is_no_search(young: StoreFolder, way: tuple[str, ...]) -> None:
    with at(young, user="U1") as session:
        before = say(session, *way).view if way else session.frames.build().view
        frame = say(session, "BADGE-Z9")
        assert told(frame) == (WRONG, "session.unknown_yet")
        assert frame.view == before, "what is listed stays, under the same words"


@pytest.mark.parametrize("asked", ["12345678", "nothing"])
@pytest.mark.parametrize("job", ["home", "pick", "look_up", "locations"])
def test_nothing_is_called_unknown_before_all_is_here(young: StoreFolder, job: str, asked: str) -> None:
    with at(young, user="U1") as session:
        if job == "pick":
            say(session, "4101")
        elif job != "home":
            opened(session, job)
        frame = say(session, asked)
        assert told(frame) == (WRONG, "session.unknown_yet")
        assert frame.verdict is not None
        assert dict(frame.verdict.text.args) == {"text": asked}
        assert Journal(open_outbox(young.folder)).last_events(1)[0].verdict in ("session.unknown_yet", "")
        with _writer(young) as cache:
            full_sync_stages_and_progress.save_progress(
                cache, full_sync_stages_and_progress.SyncProgress(completed=1.0)
            )
        assert told(say(session, asked))[1] == "count.unknown"


def test_people_are_not_here_yet(young: StoreFolder) -> None:
    with at(young) as session:
        frame = say(session, "Zoe")
        assert told(frame) == (ASK, "sign_in.unknown_yet")
        assert say(session, "1").user == "Zoe"


@pytest.mark.parametrize(("asked", "badge"), [("BADGE-U3", "BADGE-U3"), ("badge-u3", "BADGE-U3"), ("000300", "300")])
def test_a_badge_that_came_before_the_people_is_taken_when_they_come(aisle_home: Path, asked: str, badge: str) -> None:
    home = StoreFolder(aisle_home, "embedded", "0001")
    with at(home) as session:
        assert told(say(session, asked)) == (ASK, "sign_in.unknown_yet")
        with _writer(home) as cache:
            cache.write_people(
                [{**service_rows.person("U3", "Joanna Berg"), "badge": badge}, service_rows.person("U30", "Amy Hill")]
            )
        frame = session.poll(notified=True)
        assert frame is not None
        assert told(frame) == (GOOD, "sign_in.done")
        assert (frame.view.name, frame.user) == ("home", "Joanna Berg")


@pytest.mark.parametrize("after", [("4101",), ("4101", "9520001300103", "4101"), ("BADGE-U3", "4101")])
def test_a_badge_waits_for_the_people_whatever_is_scanned_behind_it(aisle_home: Path, after: tuple[str, ...]) -> None:
    home = StoreFolder(aisle_home, "embedded", "0001")
    with at(home) as session:
        for said in ("BADGE-U3", *after):
            is_code = len(said) == 13
            asked = (ASK, "sign_in.pin_later" if said == "4101" else "sign_in.unknown_yet")
            assert told(say(session, said)) == ((WRONG, "sign_in.not_a_name") if is_code else asked)
        with _writer(home) as cache:
            cache.write_people([{**service_rows.person("U3", "Joanna Berg"), "badge": "BADGE-U3"}])
        frame = session.poll(notified=True)
        assert frame is not None
        assert (frame.view.name, frame.user) == ("home", "Joanna Berg")


@pytest.mark.parametrize("said", ["joanna", "Joanna Berg", "U3", "BADGE-U3"])
def test_name_waits_for_people_list_and_later_scan_is_reported(aisle_home: Path, said: str) -> None:
    home = StoreFolder(aisle_home, "embedded", "0001")
    with at(home) as session:
        say(session, said)
        asked = say(session, "4101")
        assert told(asked) == (ASK, "sign_in.pin_later")
        assert "4101" not in str(asked), "it may be a PIN"
        with _writer(home) as cache:
            cache.write_people(
                [{**service_rows.person("U3", "Joanna Berg"), "badge": "BADGE-U3"}, service_rows.person("U4", "Jo Ann")]
            )
        frame = session.poll(notified=True)
        assert frame is not None
        assert (frame.view.name, frame.user) == ("home", "Joanna Berg")
        assert told(frame) == (GOOD, "sign_in.done_pin_later")
        assert frame.verdict
        assert dict(frame.verdict.text.args) == {"name": "Joanna Berg"}


@pytest.mark.parametrize("after", [(), ("2468",)])
def test_a_part_of_a_name_waits_for_the_people_and_signs_nobody_in_unasked(
    aisle_home: Path, after: tuple[str, ...]
) -> None:
    home = StoreFolder(aisle_home, "embedded", "0001")
    with at(home) as session:
        say(session, "joan", *after)
        session.take([OpenLine("24")], 1.0)
        with _writer(home) as cache:
            cache.write_people([service_rows.person("U3", "Joanna Berg"), service_rows.person("U4", "Jo Ann")])
        frame = session.poll(notified=True)
        assert frame is not None
        assert (frame.view.name, told(frame)) == ("sign_in", (ASK, "shortage.join"))
        assert isinstance(frame.view, Step)
        assert [[*dict(choice.args).values()] for choice in frame.view.choices] == [["Joanna Berg"]]


def test_of_two_people_who_came_too_early_the_later_one_signs_in(aisle_home: Path) -> None:
    home = StoreFolder(aisle_home, "embedded", "0001")
    with at(home) as session:
        for said in ("BADGE-U4", "BADGE-U3", "4101"):
            say(session, said)
        with _writer(home) as cache:
            people = (("U3", "Joanna Berg"), ("U4", "Jo Ann"))
            cache.write_people([{**service_rows.person(user, name), "badge": f"BADGE-{user}"} for user, name in people])
        frame = session.poll(notified=True)
        assert frame is not None
        assert frame.user == "Joanna Berg"


def test_when_the_people_have_come_nobody_is_waited_for(aisle_home: Path) -> None:
    home = StoreFolder(aisle_home, "embedded", "0001")
    with at(home) as session:
        assert told(say(session, "4101")) == (ASK, "sign_in.unknown_yet")
        with _writer(home) as cache:
            cache.write_people([service_rows.person("U3", "Joanna Berg")])
            full_sync_stages_and_progress.save_progress(
                cache, full_sync_stages_and_progress.SyncProgress(completed=1.0)
            )
        frame = session.poll(notified=True)
        assert frame is not None
        assert told(frame) == (ASK, "sign_in.unknown")


# The link


def test_live_is_said_only_of_a_link_that_somebody_keeps_up(home: StoreFolder) -> None:
    with _writer(home) as cache:
        cache.set_link(LinkRow(state="live", last_ok=1000.0))
    session = open_session(home, Settings(terminal="dock", user="U1"))
    now = [1001.0]
    session.context.clock = lambda: now[0]

    def state() -> str:
        frame = session.poll()
        assert frame is not None
        return frame.link.state

    assert session.start().link.state == "none"
    courier = CourierSocket(home)
    assert state() == "live"
    now[0] = 1000.0 + STALE_S + 1
    assert state() == "offline"
    with _writer(home) as cache:
        cache.set_link(LinkRow(last_ok=now[0]))
    assert state() == "live"
    courier.close()
    assert state() == "none"
    with _writer(home) as cache:
        cache.set_link(LinkRow(state="offline"))
    assert state() == "offline"
    session.close()


@pytest.mark.parametrize("scans", [(f"999*{BARCODES[2]}",), (BARCODES[2],)], ids=["other choices", "a quantity"])
def test_letter_keeps_meaning_of_screen_it_was_seen_on(home: StoreFolder, scans: tuple[str]) -> None:
    with at(home, user="U1") as session:
        question = say(session, "4101", BARCODES[1], "99")
        assert [choice.id for choice in step(question).choices] == ["pick.choice_pick_rest"]
        frame = say(session, *scans, "r")
        assert frame.verdict is not None
        why = "input.choices_changed" if "*" in scans[0] else "input.no_command"
        assert why in repr(frame.verdict.text), "it came before its picker has seen what the scan led to"
        assert {line["line_number"]: line["picked_quantity"] for line in lines(home)}[2] == 1
        picked = {line["line_number"]: line["picked_quantity"] for line in lines(home)}[3]
        assert picked == (0 if "*" in scans[0] else 1)
        if "*" in scans[0]:
            assert told(say(session, "r"))[0] in (GOOD, INFO), "now it was on the screen"


def step(frame: Frame) -> Step:
    assert isinstance(frame.view, Step)
    return frame.view


def lines(home: StoreFolder) -> list[dict[str, Any]]:
    """The lines of the order as a session sees them."""
    (found,) = CacheReader(home, open_outbox(home.folder)).query("order", {"order_number": "4101"})[0]
    return list(found["lines"])


def test_what_is_picked_and_not_sent_yet_is_in_hand_and_at_no_place(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        say(session, "4101", BARCODES[1], BARCODES[1])
        reads = session.store.reader
        (row,), _ = reads.query("product", {"product_number": "P2"})
        assert (sum(place["quantity"] for place in row["locations"]), row["in_hand"]) == (18, 2)
        say(session, "u")
        (row,), _ = reads.query("product", {"product_number": "P2"})
        assert (sum(place["quantity"] for place in row["locations"]), row["in_hand"]) == (19, 1)
        say(session, "b")
        opened(session, "count", BARCODES[1])
        while session.stack.top.job.name == "count" and session.stack.top.state.phase == "count":
            if session.stack.top.state.current_line and session.stack.top.state.current_line.counted is None:
                say(session, "19")
            say(session, "d")
        assert session.frames.build().view.name == "count.start", "nobody is asked for what is in the tote"


@pytest.mark.parametrize("asked", ["1", "2", "3", " 1 ", "0001", "42"])
def test_a_stray_number_offers_nobody(home: StoreFolder, asked: str) -> None:
    with _writer(home) as cache:
        cache.write_people([service_rows.person("0001423", "Joanna Berg")])
    with at(home) as session:
        frame = say(session, asked)
        assert told(frame) == (WRONG, "sign_in.not_a_name")
        assert not getattr(frame.view, "choices", ())
        assert frame.user == ""


def test_a_number_that_is_all_of_an_id_signs_in(home: StoreFolder) -> None:
    with _writer(home) as cache:
        cache.write_people([service_rows.person("0001423", "Joanna Berg")])
    with at(home) as session:
        assert say(session, "0001423").user == "Joanna Berg"
