"""A supervisor's PIN in a session: asked before the first thing that is a supervisor's, and for a while not again."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from aisle.cache.writer import CacheWriter, LinkRow, open_cache
from aisle.host.database import fetch, transaction
from aisle.host.notify_sockets import SECRET_PREFIX, CourierSocket, user_token_name
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import CLOSED_BY_HAND, Resolve, SignIn
from aisle.jobs.shell.pin import MIN_TYPED_PACE_MS
from aisle.jobs.view import ASK, GOOD, WRONG, Frame, ListView, Msg, Verdict, msg
from aisle.outbox import requests_and_token_holders
from aisle.outbox.local_notes import notes_of_topic
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.operation_record import Author, Intent, principal_of
from aisle.scan.inputs_and_line_grouping import Line, OpenLine
from aisle.session.session import Session, SingleUserSession, open_session
from aisle.settings.setting_definitions import Settings
from tests.cache import service_rows
from tests.session.polling import rested
from tests.writes import update

PIN = "753190862413"
FEATURES = "idempotency=30d, people, sign-in"


class Desk:
    """A terminal of Fred, a courier's doorbell, and the courier's hands at the files."""

    def __init__(self, home: StoreFolder, trace: str = "", user: str = "U6") -> None:
        self.home = home
        self.cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
        self.outbox: apsw.Connection = open_outbox(home.folder)
        self.session: Session = open_session(home, Settings(terminal="desk", user=user, trace=trace))
        self.session.start()
        self.session.resize(80, 24)

    def says(self, *texts: str) -> Frame:
        """As a person types it."""
        for text in texts:
            frame = self.session.take([Line(text, "cr", 0.0, 1.0, 0.5, median_pause=2 * MIN_TYPED_PACE_MS / 1000)], 1.0)
        return frame

    def opened(self, page: str) -> Frame:
        """From home, by its number among the others."""
        choices = [choice.id for choice in self.says("7").view.choices]
        if page not in choices:
            choices = [choice.id for choice in self.says(str(len(choices))).view.choices]
        return self.says(str(choices.index(page) + 1))

    def rejects(self, order: str) -> Frame:
        """From home to the yes and back to home; what stood on the screen after the yes."""
        self.opened("home.orders")
        return self.says(order, "3", "damp all over", "1")

    def link(self, state: str) -> None:
        """The link as the courier keeps it."""
        self.cache.set_link(LinkRow(state=state, last_ok=time.time(), features=FEATURES))

    def answers(self, how: str, until: float = 0.0) -> Frame:
        """A courier answers; the frame that follows."""
        ((name,),) = fetch(self.outbox, "SELECT request_id FROM request WHERE state = 'requested'")
        assert requests_and_token_holders.start_request(self.outbox, str(name), time.time())
        if how == "done":
            requests_and_token_holders.record_token(self.outbox, "U6", until)
        requests_and_token_holders.finish_request(
            self.outbox,
            str(name),
            requests_and_token_holders.ANSWERED,
            {"how": how, "why": "Wrong.", "until": until},
            time.time(),
        )
        return self.polled()

    def polled(self) -> Frame:
        frame = self.session.poll()
        assert frame is not None
        return frame

    def rows(self) -> list[tuple[Any, ...]]:
        return fetch(self.outbox, "SELECT principal, app_user, body ->> '$.orders.order_number' FROM operation")

    def close(self) -> None:
        self.session.close()
        self.outbox.close()


@pytest.fixture
def home(aisle_home: Path) -> Iterator[StoreFolder]:
    """Three orders, a supervisor with a PIN, and the link to a service that knows it."""
    home = StoreFolder(aisle_home, "embedded", "0001")
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    cache.write_people(
        [
            {**service_rows.person("U6", "Fred Harper", "supervisor"), "has_pin": True},
            service_rows.person("U1", "Anna Berg", "staff"),
        ]
    )
    cache.write_products([service_rows.product("P1", "Oat drink")])
    cache.write_orders([service_rows.order(f"410{n}", service_rows.line(1, "P1", 3)) for n in (1, 2, 3)], True, 1.0)
    cache.set_link(LinkRow(state="live", last_ok=time.time(), features=FEATURES))
    with closing(CourierSocket(home)):
        yield home


@pytest.fixture
def desk(home: StoreFolder, tmp_path: Path) -> Iterator[Desk]:
    with closing(Desk(home, str(tmp_path / "trace.jsonl"))) as desk:
        yield desk


def written(desk: Desk, trace: Path) -> bytes:
    """All that is in the files of this store, and in the trace."""
    return b"".join(path.read_bytes() for path in [*desk.home.folder.iterdir(), trace] if path.is_file())


def test_it_is_asked_once_before_anything_is_noted_and_then_not_again(desk: Desk, tmp_path: Path) -> None:
    frame = desk.rejects("4101")
    assert (frame.view.name, desk.rows()) == ("pin", [])
    assert desk.session.take([OpenLine(PIN)], 1.0).typed == "*" * len(PIN)
    assert desk.says(PIN).view.name == "pin.wait"
    frame = desk.answers("pin")
    assert frame.verdict is not None
    assert (frame.view.name, frame.verdict.text.id, desk.rows()) == ("pin", "pin.wrong", [])
    desk.says(PIN)
    frame = desk.answers("done", time.time() + 900)
    assert frame.verdict is not None
    assert (frame.view.name, frame.verdict.text.id) == ("order", "order_actions.done_reject")
    assert desk.rows() == [("person/U6", "U6", "4101")]
    told = desk.says(PIN).verdict
    assert told is not None
    assert told.text.id == "pin.already_given", "who did not see the page go types it once more"
    assert desk.says("b", "b").view.name == "home"
    assert desk.rejects("4102").view.name == "order", "asked no more"
    assert desk.rows()[1:] == [("person/U6", "U6", "4102")]
    desk.close()
    assert PIN.encode() not in written(desk, tmp_path / "trace.jsonl")


@pytest.mark.parametrize("code", ["110022", "4199", "96385074"])
def test_a_scan_after_the_pin_is_told_as_a_scan_and_taken_when_it_comes_again(desk: Desk, code: str) -> None:
    desk.rejects("4101")
    desk.says(PIN)
    desk.answers("done", time.time() + 900)
    said = [desk.session.take([Line(code, "cr", 0.0, 0.004, 0.004)], 1.0).verdict for _ in range(2)]
    assert said[0] == Verdict(WRONG, msg("pin.not_taken", count=1))
    assert said[1] is not None
    assert not said[1].text.id.startswith("pin.")


def test_a_scan_while_the_service_is_asked_is_told_as_not_taken(desk: Desk) -> None:
    desk.rejects("4101")
    desk.says(PIN)
    desk.session.take([Line("4102", "cr", 0.0, 0.0, 0.0)], 1.0)
    verdict = desk.answers("done", time.time() + 900).verdict
    assert verdict is not None
    assert (verdict.text.id, verdict.detail) == ("order_actions.done_reject", msg("pin.not_taken", count=1))


def test_pin_notice_does_not_hide_scan_verdict(desk: Desk) -> None:
    desk.link("offline")
    desk.rejects("4101")
    desk.says("b", "b", "b")
    desk.says("4102")
    desk.link("live")
    asked = desk.says("87654321").verdict
    assert asked is not None
    assert asked.kind in (ASK, WRONG)
    assert rested(desk.session).verdict == asked, "what is wrong or asked stays on the screen, and alone"
    desk.session.bells = 0
    taken = desk.says("P1").verdict
    assert taken is not None
    assert taken.kind == GOOD
    assert desk.polled().verdict == taken
    assert desk.session.bells == 0
    both = rested(desk.session).verdict
    assert both is not None
    assert (both.kind, desk.session.bells) == (ASK, 3)
    assert dict(both.text.args) == {"what": msg("pin.waits", count=1), "more": taken.text}
    again = desk.says("P1").verdict
    assert rested(desk.session).verdict == again, "it was told just now"


@pytest.mark.parametrize("link", ["live", "offline"])
def test_a_remark_alone_is_asked_for_too_and_leaving_does_nothing(desk: Desk, link: str) -> None:
    desk.link(link)
    desk.opened("home.orders")
    frame = desk.says("4101", "4")
    assert frame.view.name == "pin"
    frame = desk.says("b")
    assert frame.verdict is not None
    assert (frame.view.name, frame.verdict.text.id) == (
        "order_actions.action" if frame.view.name == "order_actions.action" else "order",
        "session.dropped",
    )
    assert (desk.rows(), notes_of_topic(desk.outbox, "priority")) == ([], {})


@pytest.mark.parametrize("end", ["until", "courier", "sign-out"])
def test_it_is_asked_again_when_the_token_or_the_sign_in_has_ended(desk: Desk, end: str) -> None:
    desk.opened("home.pin")
    desk.says(PIN)
    frame = desk.answers("done", time.time() + (0.0 if end == "until" else 900))
    assert frame.view.name == "home"
    if end == "courier":
        requests_and_token_holders.delete_all_tokens(desk.outbox)
    elif end == "sign-out":
        desk.says("o")
        desk.says("U6")
    assert desk.rejects("4101").view.name == "pin"
    assert desk.says(PIN).view.name == "pin.wait", "though one was right a moment ago"


def _is_kept_nowhere(desk: Desk, folder: Path) -> None:
    """Whoever reads that something waits for his PIN types it there and then."""
    told = desk.says(PIN).verdict
    assert told is not None
    assert told.text.id == "pin.not_asked_here"
    assert PIN.encode() not in written(desk, folder / "trace.jsonl")


def test_a_pin_that_looks_like_a_scan_in_pieces_is_kept_nowhere(desk: Desk, tmp_path: Path) -> None:
    """It comes in one read right after a key, while help lies over the page that asks for it."""
    desk.rejects("4101")
    assert desk.says("h").view.name == "help"
    frame = desk.session.take([Line(PIN, "cr", 0.0, 1.0, 0.0, possible_prefix="[B")], 1.0)
    assert frame.verdict is not None
    assert frame.verdict.text.id == "input.incomplete_scan"
    desk.session.on_painted((), 1.0)
    assert PIN.encode() not in written(desk, tmp_path / "trace.jsonl")


@pytest.mark.parametrize("page", ["clearance.title", "home.today", "home.exceptions"])
def test_pin_typed_on_other_supervisor_page_is_stored_nowhere(desk: Desk, tmp_path: Path, page: str) -> None:
    desk.opened(page)
    _is_kept_nowhere(desk, tmp_path)


@pytest.mark.parametrize("typed", [PIN, "2468"])
@pytest.mark.parametrize("before", ["", "fr", "1"])
def test_typed_before_anybody_has_signed_in_it_is_kept_nowhere(
    home: StoreFolder, tmp_path: Path, typed: str, before: str
) -> None:
    trace = tmp_path / "trace.jsonl"
    with closing(Desk(home, str(trace))) as desk:
        desk.session.close()
        desk.session = open_session(home, Settings(terminal="desk", trace=str(trace)))
        desk.session.start()
        desk.session.resize(80, 24)
        frame = desk.says(*[before] * bool(before), typed)
        desk.session.on_painted((), 1.0)
        if before == "fr":
            assert desk.session.context.user.user == ""
        assert frame.verdict is not None
        assert frame.verdict.text.id == "pin.sign_in_first"
        assert typed.encode() not in written(desk, trace)


@pytest.mark.parametrize("text", ["fred 2468", f"Fred Harper {PIN}", "fred2468", "FRED, 2468", "fr 2468"])
@pytest.mark.parametrize("is_typed", [True, False])
def test_pin_behind_a_name_is_shown_and_kept_nowhere(
    home: StoreFolder, tmp_path: Path, text: str, is_typed: bool
) -> None:
    trace = tmp_path / "trace.jsonl"
    with closing(Desk(home, str(trace))) as desk:
        desk.cache.write_people([service_rows.person("U6", "Fred Harper"), service_rows.person("U8", "Till 4711")])
        desk.session.close()
        desk.session = open_session(home, Settings(terminal="desk", trace=str(trace)))
        desk.session.start()
        frame = desk.says(text) if is_typed else desk.session.take([Line(text, "cr", 0.0, 1.0, 0.0)], 1.0)
        desk.session.on_painted((), 1.0)
        assert frame.verdict is not None
        assert frame.verdict.text.id == "pin.name_alone"
        assert (PIN if PIN in text else "2468").encode() not in written(desk, trace)
        desk.says("Till 4711")
        assert desk.session.context.user.user == "U8"


def test_a_number_that_is_somebody_s_name_signs_in(home: StoreFolder, tmp_path: Path) -> None:
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    cache.write_people([service_rows.person("100234", "Gil")])
    with closing(Desk(home)) as desk:
        desk.session.close()
        desk.session = open_session(home, Settings(terminal="desk"))
        desk.session.start()
        desk.session.resize(80, 24)
        desk.says("100234")
        assert desk.session.context.user.user == "100234"


@pytest.mark.parametrize("link", ["live", "offline"])
def test_a_remark_alone_waits_for_no_pin_where_none_is_answered_for(desk: Desk, link: str) -> None:
    """Nothing of it is sent, so nothing could wait: it is done with the PIN or not at all."""
    desk.link(link)
    desk.opened("home.orders")
    desk.says("4101", "4", PIN)
    frame = desk.answers("not_sent")
    assert (frame.view.name, [choice.id for choice in frame.view.choices]) == ("pin.late", ["pin.again"])
    desk.says("2")
    assert notes_of_topic(desk.outbox, "priority") == {}
    desk.says("1", PIN)
    assert desk.answers("done", time.time() + 900).view.name == "order"
    assert list(notes_of_topic(desk.outbox, "priority")) == ["4101"]


@pytest.mark.parametrize(("letter", "noted"), [("e", "review-logs"), ("r", "write-recounts")])
def test_write_waits_in_outbox_without_host_only_fields(desk: Desk, letter: str, noted: str) -> None:
    """Two differences; the second has no number at the service: it would be settled at once, without a PIN."""
    desk.cache.set_link(LinkRow(state="offline", last_ok=time.time(), features=f"{FEATURES}, reviews, recounts"))
    entry = {"product_number": "P1", "store_number": "0001", "created_on": "2026-11-20T09:00:00Z", "quantity": -4}
    entry |= {"counted_quantity": 3, "expected_quantity": 7, "app_user_name": "U1", "review_status": "1"}
    desk.cache.write_logs([{**entry, "id": 1}, entry], "2020-01-01")

    def done() -> tuple[list[Any], int]:
        return fetch(desk.outbox, "SELECT operation FROM operation"), len(notes_of_topic(desk.outbox, "review"))

    desk.opened("home.exceptions")
    assert desk.says("2", "a", letter, "1").view.name == "pin"
    assert done() == ([], 0)
    desk.says(PIN)
    assert [choice.id for choice in desk.answers("not_sent").view.choices] == ["pin.again"], "it cannot be noted"
    desk.says("b")
    assert done() == ([], 0)
    desk.says("b", "b", "b")
    listed = desk.says("2").view
    assert isinstance(listed, ListView)
    frame = desk.says(str([row.key for row in listed.rows].index("1") + 1), {"e": "1", "r": "2"}[letter])
    assert frame.verdict is not None
    assert (frame.verdict.text.id, done()) == ("pin.saved", ([(noted,)], 1))


def test_offline_action_waits_and_owner_hears_when_link_returns(desk: Desk, tmp_path: Path) -> None:
    desk.link("offline")
    frame = desk.rejects("4101")
    assert frame.verdict is not None
    assert (frame.view.name, frame.verdict.text.id) == ("order", "pin.saved")
    said = dict(frame.verdict.text.args)["said"]
    assert isinstance(said, Msg)
    assert said.id == "order_actions.done_reject"
    assert desk.rows() == [("person/U6", "U6", "4101")]
    _is_kept_nowhere(desk, tmp_path)
    desk.says("b", "b")
    _is_kept_nowhere(desk, tmp_path)
    told = desk.polled().verdict
    assert told is None or told.text.id != "pin.waits", "nobody could judge it now"
    desk.link("live")
    desk.says("h", "b")
    frame = desk.polled()
    assert frame.verdict is not None
    assert frame.verdict.text == msg("pin.waits", count=1)
    frame = desk.opened("home.pin")
    assert ("count", 1) in [arg for line in frame.view.lines for arg in line.text.args]  # type: ignore[union-attr]
    desk.says(PIN)
    frame = desk.answers("done", time.time() + 900)
    assert frame.verdict is not None
    assert frame.verdict.text.id == "pin.done"
    assert requests_and_token_holders.operations_waiting_for_tokens(desk.outbox, time.time()) == ()


def test_what_waits_is_told_with_whose_pin_and_can_be_given_up(desk: Desk) -> None:
    desk.link("offline")
    desk.rejects("4101")
    ((row,), _) = desk.session.store.reader.query("unconfirmed", {})
    assert (row["principal"], row["pin"], row["ways"]) == ("Fred Harper", "Fred Harper", [CLOSED_BY_HAND])
    desk.says("b", "b")
    listed = desk.opened("home.unconfirmed").view
    assert isinstance(listed, ListView)
    assert listed.rows[0].cells[2].id == "unconfirmed.user_waits_for_pin", "the list says what it waits for"
    outbox = OperationQueue(desk.outbox)
    (op,) = outbox.live_operations()
    with transaction(desk.outbox):
        (staff,) = outbox.enqueue([Intent(update("4102", {1: 1}))], Author("0001", "U1"))
        assert not outbox.resolve(Resolve(staff, CLOSED_BY_HAND), "U6"), "it goes by itself"
        desk.outbox.execute("INSERT INTO user_token VALUES (?, ?)", (principal_of("U6"), time.time() + 900))
        assert not outbox.resolve(Resolve(op.op_id, CLOSED_BY_HAND), "U6"), "it can be sent"
        desk.outbox.execute("DELETE FROM user_token")
        assert outbox.resolve(Resolve(op.op_id, CLOSED_BY_HAND), "U6")
    assert outbox.get(op.op_id).state == "closed"
    assert [each.op_id for each in outbox.sendable()] == [staff]


def test_what_gets_no_answer_can_be_noted_and_loses_nothing(desk: Desk) -> None:
    desk.rejects("4101")
    desk.says(PIN)
    frame = desk.answers("not_sent")
    assert (frame.view.name, [choice.id for choice in frame.view.choices]) == (
        "pin.late",
        ["pin.again", "pin.save_without_pin"],
    )
    assert desk.says("1").view.name == "pin"
    desk.says(PIN)
    desk.answers("not_sent")
    frame = desk.says("2")
    assert frame.verdict is not None
    assert (frame.view.name, frame.verdict.text.id) == ("order", "pin.saved")
    assert desk.rows() == [("person/U6", "U6", "4101")]


@pytest.mark.parametrize(
    ("features", "person"),
    [
        ("idempotency=30d, people", {"has_pin": True, "role": "supervisor"}),
        ("", {"has_pin": True, "role": "supervisor"}),
        (FEATURES, {"has_pin": False, "role": "supervisor"}),
    ],
)
def test_where_nobody_gives_a_token_for_a_pin_all_goes_as_ever(
    desk: Desk, features: str, person: dict[str, Any]
) -> None:
    desk.cache.write_people([{**service_rows.person("U6", "Fred Harper"), **person}])
    desk.cache.set_link(LinkRow(state="live", last_ok=time.time(), features=features))
    assert desk.rejects("4101").view.name == "order"
    assert desk.rows() == [("store", "U6", "4101")]
    desk.says("b", "b")
    frame = desk.opened("home.pin")
    assert frame.verdict is not None
    assert (frame.view.name, frame.verdict.text.id) == ("home", "pin.not_needed")


def test_the_pin_said_at_the_door_for_browsers_is_not_asked_for_again(home: StoreFolder) -> None:
    with closing(CourierSocket(home)) as courier, closing(open_outbox(home.folder)) as outbox:
        session = open_session(home, Settings(terminal="web"), person=SignIn("U6", "Fred Harper"))
        assert isinstance(session, SingleUserSession)
        session.start()
        session.resize(80, 24)
        until = time.time() + 900
        session.confirm_pin("freds", until)
        assert courier.drain() == {f"{SECRET_PREFIX}{user_token_name('U6')} {until} freds"}
        choices = [choice.id for choice in session.take([Line("7", "cr", 1.0, 1.0, 0.1)], 1.0).view.choices]
        for text in (str(choices.index("home.orders") + 1), "4101", "3", "damp all over", "1"):
            frame = session.take([Line(text, "cr", 1.0, 1.0, 0.1)], 1.0)
        assert (frame.view.name, frame.verdict.text.id if frame.verdict else "") == (
            "order",
            "order_actions.done_reject",
        )
        assert fetch(outbox, "SELECT principal FROM operation") == [("person/U6",)]
        courier.drain()
        session.poll()
        assert any("freds" in word for word in courier.drain()), "until the courier has it"
        requests_and_token_holders.record_token(outbox, "U6", until)
        session.poll()
        session.poll()
        assert not any("freds" in word for word in courier.drain())
        session.close()


@pytest.mark.parametrize("is_there", [True, False])
def test_after_a_restart_of_the_web_server_only_the_couriers_token_counts(home: StoreFolder, *, is_there: bool) -> None:
    until = time.time() + 900
    with closing(CourierSocket(home)) as courier, closing(open_outbox(home.folder)) as outbox:
        if is_there:
            requests_and_token_holders.record_token(outbox, "U6", until)
        session = open_session(home, Settings(terminal="web"), person=SignIn("U6", "Fred Harper"))
        session.start()
        session.resize(80, 24)
        session.confirm_pin("", until)
        assert not any(word.startswith(SECRET_PREFIX) for word in courier.drain())
        choices = [choice.id for choice in session.take([Line("7", "cr", 1.0, 1.0, 0.1)], 1.0).view.choices]
        for text in (str(choices.index("home.orders") + 1), "4101", "3", "damp all over", "1"):
            frame = session.take([Line(text, "cr", 1.0, 1.0, 0.1)], 1.0)
        assert frame.view.name == ("order" if is_there else "pin")
        session.close()


def test_a_scan_is_no_try(desk: Desk) -> None:
    desk.rejects("4101")
    frame = desk.session.take([Line("4006381333931", "cr", 0.0, 0.01, 0.5, median_pause=0.001)], 1.0)
    assert frame.verdict is not None
    assert frame.verdict.text.id == "pin.scan_not_accepted"
    assert fetch(desk.outbox, "SELECT 1 FROM request") == []


@pytest.mark.parametrize("user", ["U1", "nobody known"])
@pytest.mark.parametrize("state", ["live", "offline"])
@pytest.mark.every_case
def test_only_a_supervisor_may_do_what_is_a_supervisors(home: StoreFolder, user: str, state: str) -> None:
    with closing(Desk(home, user=user)) as desk:
        desk.link(state)
        frame = desk.rejects("4101")
        assert frame.verdict
        assert (frame.verdict.kind, frame.verdict.text.id) == (WRONG, "clearance.role_denied")
        assert not desk.rows()
