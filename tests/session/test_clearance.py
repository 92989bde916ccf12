"""A clearance in a session: no PIN on the screen or in a file, and a terminal that died finds what became of it."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from aisle.cache.writer import CacheWriter, LinkRow
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.shell.pin import MIN_TYPED_PACE_MS
from aisle.jobs.view import Frame
from aisle.outbox import requests_and_token_holders
from aisle.outbox.operation_queue import open_outbox
from aisle.scan.inputs_and_line_grouping import Line, OpenLine
from aisle.session.session import Session, open_session
from aisle.settings.setting_definitions import Settings
from tests.cache import service_rows
from tests.copied_databases import copy_cache

TAG, SECRET = "backroom", "753190862413"


def fill(cache: CacheWriter) -> None:
    """A store whose service was heard of, with a tag and a supervisor."""
    cache.write_people([{**service_rows.person("U6", "Fred", role="supervisor"), "has_pin": True}])
    cache.write_locations([{**service_rows.location("BR-01", 1), "tags": [TAG]}])
    cache.set_link(LinkRow(state="live", last_ok=1.0, features="people, sign-in, assignments"))


@pytest.fixture
def home(aisle_home: Path) -> StoreFolder:
    """A store whose service was heard of, with a tag and a supervisor."""
    home = StoreFolder(aisle_home, "embedded", "0001")
    copy_cache(home.folder, "0001", fill)
    return home


def begun(home: StoreFolder, trace: str = "") -> Session:
    session = open_session(home, Settings(terminal="dock", user="U6", trace=trace))
    session.start()
    return session


def type_(session: Session, text: str) -> Frame:
    """As a person types it."""
    return session.take([Line(text, "cr", 0.0, 1.0, 0.5, median_pause=2 * MIN_TYPED_PACE_MS / 1000)], 1.0)


def at_the_pin(session: Session) -> Frame:
    for text in ("7", "9"):
        type_(session, text)
    choices = [choice.id for choice in session.resize(80, 24).view.choices]
    type_(session, str(choices.index("clearance.title") + 1))
    for text in ("1", "d", TAG):
        frame = type_(session, text)
    return frame


def test_a_pin_is_on_no_screen_and_in_no_file(home: StoreFolder, tmp_path: Path) -> None:
    session = begun(home, str(tmp_path / "trace.jsonl"))
    assert at_the_pin(session).view.name == "pin"
    assert session.take([OpenLine(SECRET)], 1.0).typed == "*" * len(SECRET)
    frame = type_(session, SECRET)
    assert frame.view.name == "pin.wait"
    session.on_painted([1], 2.0)
    session.close()
    written = b"".join(
        path.read_bytes() for path in [*home.folder.iterdir(), tmp_path / "trace.jsonl"] if path.is_file()
    )
    assert SECRET.encode() not in written
    lines = [json.loads(line) for line in (tmp_path / "trace.jsonl").read_text(encoding="utf-8").splitlines()]
    assert (lines[-1]["raw"], lines[-1]["step"]) == ("", "pin.wait")


def test_who_comes_back_to_the_terminal_reads_what_became_of_it(home: StoreFolder) -> None:
    session = begun(home)
    at_the_pin(session)
    type_(session, SECRET)
    proven(home, session)
    outbox = open_outbox(home.folder)
    ((name, now),) = outbox.execute("SELECT request_id, requested_at FROM request WHERE kind = 'clearance'").fetchall()
    assert requests_and_token_holders.start_request(outbox, str(name), float(str(now)))
    session.close()
    assert requests_and_token_holders.mark_interrupted(outbox, float(str(now)) + 1) == 1
    again = begun(home)
    frame = again.resize(80, 24)
    assert frame.view.name == "clearance_request.done"
    assert frame.verdict is not None
    again.close()
    outbox.close()


def written(home: StoreFolder, *others: Path) -> bytes:
    """All that is in the files of this store."""
    return b"".join(path.read_bytes() for path in [*home.folder.iterdir(), *others] if path.is_file())


def answer(home: StoreFolder, how: str, **more: object) -> None:
    """A courier answers what is asked."""
    outbox = open_outbox(home.folder)
    ((name, now),) = outbox.execute("SELECT request_id, requested_at FROM request WHERE state = 'requested'").fetchall()
    assert requests_and_token_holders.start_request(outbox, str(name), float(str(now)))
    requests_and_token_holders.finish_request(
        outbox, str(name), requests_and_token_holders.ANSWERED, {"how": how, "why": "No.", **more}, float(str(now))
    )
    outbox.close()


def proven(home: StoreFolder, session: Session) -> Frame:
    """The PIN was right: the clearance is under way."""
    outbox = open_outbox(home.folder)
    requests_and_token_holders.record_token(outbox, "U6", time.time() + 900)
    outbox.close()
    answer(home, "done", until=time.time() + 900)
    frame = session.poll()
    assert frame is not None
    assert frame.view.name == "clearance_request.wait"
    return frame


def test_a_pin_typed_again_while_it_waits_is_nowhere_either(home: StoreFolder, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    session = begun(home, str(trace))
    at_the_pin(session)
    assert type_(session, "2468").view.name == "pin.wait"
    assert session.take([OpenLine(SECRET)], 1.0).typed == "*" * len(SECRET)
    assert type_(session, SECRET).view.name == "pin.wait"
    type_(session, "h")
    type_(session, SECRET)
    session.on_painted([1], 2.0)
    session.close()
    assert SECRET.encode() not in written(home, trace)


def test_a_pin_is_not_told_when_the_answer_comes_while_it_is_typed(home: StoreFolder, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    session = begun(home, str(trace))
    at_the_pin(session)
    type_(session, "2468")
    session.take([OpenLine(SECRET[:6])], 1.0)
    answer(home, "pin")
    frame = session.poll()
    assert frame is not None
    assert (frame.view.name, frame.typed) == ("pin", "")
    assert SECRET[:6] not in str(frame)
    assert "*" * 6 in str(frame.verdict)
    assert session.take([OpenLine(SECRET)], 1.0).typed == "", "the rest of the line is no PIN"
    assert type_(session, SECRET).view.name == "pin"
    frame = type_(session, SECRET)
    assert frame.view.name == "pin.wait", "but the next line is one"
    session.on_painted([1], 2.0)
    session.close()
    assert SECRET[6:].encode() not in written(home, trace)


def test_a_pin_before_it_is_asked_for_and_after_it_is_over_is_nowhere(home: StoreFolder, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    session = begun(home, str(trace))
    at_the_pin(session)
    type_(session, "2468")
    proven(home, session)
    answer(home, "refused")
    frame = session.poll()
    for page in ("clearance_request.done", "clearance_request.confirm"):
        assert frame is not None
        assert frame.view.name == page
        assert session.take([OpenLine(SECRET)], 1.0).typed == "*" * len(SECRET)
        assert SECRET not in str(type_(session, SECRET))
        frame = type_(session, "2")
    session.on_painted([1], 2.0)
    session.close()
    assert SECRET.encode() not in written(home, trace)
