"""The doctor in a session: it gets inputs as they came, and nothing else is touched by them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from aisle.cache.writer import CacheWriter
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import GOOD, INFO, DetailView, Frame
from aisle.outbox.commit_journal import Journal
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.scan.inputs_and_line_grouping import DecodedInput, Key, Line, OpenLine
from aisle.session.session import Session, open_session
from aisle.session.terminal_screen_and_keys import terminal_properties
from aisle.settings.setting_definitions import Settings
from tests.cache import service_rows
from tests.copied_databases import copied_home

EAN = "4006381333931"


def filled(cache: CacheWriter) -> None:
    """A home with one product at one place, and one order."""
    cache.write_people([service_rows.person("U1", "Anna Kovac")])
    cache.write_products([service_rows.product("P1", "Oat drink", EAN)])
    cache.write_locations([service_rows.location("A-1", 1)])
    cache.write_orders([service_rows.order("4101", service_rows.line(1, "P1", 2))], lines_known=True, read_began=1.0)


@pytest.fixture
def home(aisle_home: Path) -> StoreFolder:
    """A home with that store in its cache."""
    return copied_home(aisle_home, filled)


@pytest.fixture
def session(home: StoreFolder) -> Iterator[Session]:
    """The doctor's page, opened from home by its entry in the menu."""
    session = open_session(home, Settings(terminal="dock", user="U1"))
    try:
        view = session.start().view
        session.resize(80, 24)
        for id_ in ("home.more", "home.scanner_test"):  # as far as the menu is one of several pages
            if id_ in (ids := [choice.id for choice in view.choices]):
                view = hear(session, line(str(ids.index(id_) + 1), "cr")).view
        assert view.name == "scanner_test"
        yield session
    finally:
        session.close()


def hear(session: Session, *items: DecodedInput) -> Frame:
    return session.take(list(items), 0.0)


def line(text: str, end: str = "tab", gap: float = 0.003, dropped: str = "") -> Line:
    return Line(text, end, 1.0, 1.0 + gap, gap, dropped)


def facts(frame: Frame) -> dict[str, str]:
    """The facts on the page by the id of their label; what is a message by its own id."""
    assert isinstance(frame.view, DetailView)
    rows = (row for block in frame.view.blocks for row in block.rows if len(row) == 2)
    return {label.id: str(value.args[0][1]) if value.id == "raw" else value.id for label, value in rows}


def test_an_input_is_shown_as_it_came_and_does_nothing(home: StoreFolder, session: Session) -> None:
    before = len(Journal(open_outbox(home.folder)).jobs.open_jobs("0001", "U1", "nobody"))
    order, unknown = "order.title", "scanner_test.means_unknown"
    wanted = {EAN: "count.choice_product", "A-1": "locations.title_location", "4101": order, "nothing": unknown}
    for text, means in wanted.items():
        frame = hear(session, line(text))
        assert frame.view.name == "scanner_test"
        assert isinstance(frame.view, DetailView)
        assert [said.text.id for said in frame.view.lines][1] == means
        assert frame.verdict is not None
        assert (frame.verdict.kind, frame.verdict.text.id) == (GOOD, "scanner_test.good")
        assert facts(frame)["scanner_test.end"] == "TAB"
    assert not OperationQueue(open_outbox(home.folder)).unfinished()
    assert len(Journal(open_outbox(home.folder)).jobs.open_jobs("0001", "U1", "nobody")) == before
    assert [event.raw for event in Journal(open_outbox(home.folder)).last_events(4)] == [EAN, "A-1", "4101", "nothing"]


@pytest.mark.parametrize("text", ["12*", f"?{EAN}", "AISLE:1", "AISLE:QUIT", "q", "7", "o"])
def test_what_would_lead_away_elsewhere_is_only_looked_at(session: Session, text: str) -> None:
    frame = hear(session, line(text))
    assert frame.view.name == "scanner_test"
    assert isinstance(frame.view, DetailView)
    assert frame.view.lines[0].text.args == (("text", text),)
    assert not session.is_ending
    assert facts(hear(session, line(EAN)))["scanner_test.end"] == "TAB"


@pytest.mark.parametrize("leave", [line("b"), line("0"), line("AISLE:BACK"), Key("back")])
def test_it_is_left_like_any_page(session: Session, leave: DecodedInput) -> None:
    hear(session, line(EAN))
    frame = hear(session, leave)
    assert (frame.view.name, frame.verdict) == ("home", None)


@pytest.mark.parametrize("key", ["f2", "f3", "f4", "f5", "up", "pagedown", "enter", "other"])
def test_keys_are_told_by_name(session: Session, key: str) -> None:
    frame = hear(session, Key(key))
    assert frame.view.name == "scanner_test"
    assert frame.verdict is not None
    assert (frame.verdict.kind, frame.verdict.text.id) == (INFO, "scanner_test.key")
    assert frame.verdict.text.args == (("name", key),)


def test_an_open_line_is_seen_and_said(session: Session) -> None:
    frame = hear(session, OpenLine(EAN))
    assert (frame.typed, frame.view.prompt.id) == (EAN, "scanner_test.prompt_open")


def test_it_knows_the_terminal_and_its_new_size(session: Session) -> None:
    frame = session.resize(40, 20)
    assert isinstance(frame.view, DetailView)
    cells = next(row[1] for block in frame.view.blocks for row in block.rows if row[0].id == "scanner_test.screen")
    assert dict(cells.args) == {"columns": 40, "rows": 20}


def test_what_the_environment_says_of_a_terminal() -> None:
    told = terminal_properties(20, 16, {"TERM": "vt220", "LANG": "C"})
    assert told == {"columns": 20, "rows": 16, "term": "vt220", "encoding": "ASCII", "colours": told["colours"]}
    assert told["colours"] in (0, 8)
    assert terminal_properties(20, 16, {"LANG": "nl_NL.UTF-8"})["encoding"] == "UTF-8"
