"""A shortage in a session on real files: opened from a pick, decided by one digit, what is sent and what is kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from aisle.cache.writer import CacheWriter, LinkRow, open_cache
from aisle.host.store_folder import StoreFolder
from aisle.jobs.view import ASK, GOOD, INFO, DetailView, Frame, ListView, Msg, Step
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.operation_record import Operation
from aisle.scan.inputs import Line
from aisle.session.session import Session, open_session
from aisle.settings import Settings
from tests.cache import service_rows

CODES = ("4006381333931", "5901234123457", "9780201379624")


@pytest.fixture
def home(aisle_home: Path) -> StoreFolder:
    """A store with three places and two orders."""
    home = StoreFolder(aisle_home, "embedded", "0001")
    with closing(open_cache(home.folder, writer=True)) as connection:
        cache = CacheWriter(connection, "0001")
        cache.write_products([service_rows.product(f"P{n}", f"Product {n}", code) for n, code in enumerate(CODES, 1)])
        cache.write_stock([service_rows.stock(f"P{n}", 30, places={"A-1": 20, "B-1": 4, "C-1": 6}) for n in (1, 2, 3)])
        cache.write_locations([service_rows.location(code, n) for n, code in enumerate(("A-1", "B-1", "C-1"), 1)])
        lines = [service_rows.line(n, f"P{n}", 5, preferred_location_code="A-1") for n in (1, 2)]
        cache.write_orders(
            [service_rows.order("4101", *lines), service_rows.order("4102", service_rows.line(1, "P3", 1))],
            lines_known=True,
            read_began=1.0,
        )
        cache.set_link(LinkRow(state="live", last_ok=1.0, features="line-reasons"))
    return home


@contextmanager
def at(home: StoreFolder) -> Iterator[Session]:
    """A session of terminal `dock`, on the first stop of an order."""
    session = open_session(home, Settings(terminal="dock", user="U1"))
    try:
        frame = session.start()
        if frame.view.name == "home":
            say(session, "4101")
        yield session
    finally:
        session.close()


def say(session: Session, *texts: str) -> Frame:
    """Lines, each in a queue of its own."""
    frame = None
    for text in texts:
        frame = session.take([Line(text, "cr", 0.0, 0.0, 0.0)], 0.0)
    assert frame is not None
    return frame


def told(frame: Frame) -> tuple[str, str]:
    """Kind and message id of the verdict."""
    return (frame.verdict.kind, frame.verdict.text.id) if frame.verdict else ("", "")


def ways(frame: Frame) -> list[str]:
    """What the numbered rows say."""
    assert isinstance(frame.view, DetailView)
    return [str(dict(row[0].args).get("place") or dict(row[0].args).get("text")) for row in frame.view.blocks[0].rows]


def lines(home: StoreFolder) -> list[dict[str, Any]]:
    """The lines of all updates that were enqueued and not merged into later ones."""
    with closing(open_outbox(home.folder)) as connection:
        found: list[Operation] = OperationQueue(connection).recent()[::-1]
    return [line for each in found if not each.superseded_by for line in each.body["orders"].get("order_lines", ())]


def test_two_entries_take_the_rest_from_another_place(home: StoreFolder) -> None:
    with at(home) as session:
        say(session, CODES[0])
        frame = say(session, "s")
        assert told(frame) == (INFO, "shortage.opened")
        assert ways(frame)[:3] == ["B-1", "C-1", "Place is empty"]
        frame = say(session, "2")
        assert (frame.view.name, told(frame)[0]) == ("pick.product", GOOD)
        frame = say(session, f"4*{CODES[0]}")
        assert told(frame) == (ASK, "pick.which_location")  # the screen shows another stop
        assert isinstance(frame.view, Step)
        say(
            session,
            frame.view.choice_letters[[dict(choice.args)["place"] for choice in frame.view.choices].index("C-1")],
        )
    found = {line["line_number"]: line for line in lines(home)}
    assert (found[1]["picked_quantity"], found[1]["preferred_location_code"]) == (5, "C-1")


def test_two_entries_close_the_line_with_its_reason(home: StoreFolder) -> None:
    with at(home) as session:
        say(session, CODES[0])
        frame = say(session, "s", "5")
        assert (frame.view.name, told(frame)[0]) == ("pick.product", GOOD)
    found = {line["line_number"]: line for line in lines(home)}
    assert (found[1]["picked_quantity"], found[1]["is_picked"]) == (1, True)
    why = (found[1]["rejection_reason_code"], found[1]["rejection_reason_code_description"])
    assert why == ("22", "Damaged")


def test_an_empty_place_is_offered_to_be_counted(home: StoreFolder) -> None:
    with at(home) as session:
        frame = say(session, "s", "3")
        assert [choice.id for choice in frame.view.choices] == ["pick.choice_count"]
        assert say(session, "c").view.name.startswith("count.")


def test_other_product_is_offered_after_existing_choice_numbers(home: StoreFolder) -> None:
    with at(home) as session:
        own = ways(say(session, "s"))
        frame = say(session, CODES[2])
        assert (ways(frame), told(frame)[1]) == (own, "shortage.other_product")
        say(session, ".")
        assert isinstance(listed := say(session, "look up").view, ListView)
        assert [row.key for row in listed.rows if row.cells[0].id == "shortage.choice_product"] == [str(len(own) + 1)]
        assert say(session, "b", str(len(own) + 1)).view.name == "look_up.product"
        say(session, "b", CODES[2], "5")
    found = {line["line_number"]: line for line in lines(home)}
    assert found[1]["rejection_reason_code_description"] == "Damaged"


def test_the_product_that_was_found_after_all_is_taken(home: StoreFolder) -> None:
    with at(home) as session:
        frame = say(session, "s", CODES[0])
        assert (frame.view.name, told(frame)) == ("pick.product", (GOOD, "pick.picked"))


def test_back_changes_nothing_and_a_look_comes_back_to_the_page(home: StoreFolder) -> None:
    with at(home) as session:
        page = say(session, "s")
        assert say(session, f"?{CODES[2]}").view.name == "look_up.product"
        assert say(session, "b").view == page.view
        assert told(say(session, "b")) == (INFO, "shortage.dropped")
    assert lines(home) == []


def test_the_page_is_there_again_after_an_end_with_the_same_numbers(home: StoreFolder) -> None:
    with at(home) as session:
        page = say(session, "s")
        scanned = say(session, "A-1", "C-1x")
        assert scanned.view.name == "shortage.choices"
    with closing(open_cache(home.folder, writer=True)) as connection:
        CacheWriter(connection, "0001").write_stock([service_rows.stock("P1", 3, places={"C-1": 3})])
    with at(home) as session:
        frame = session.resize(80, 24)
        assert frame.view.name == "shortage.choices"
        assert ways(frame)[:7] == ways(page)[:7]
        frame = say(session, "1")
        assert told(frame) == (ASK, "shortage.no_stock_there")
        assert say(session, str(len(ways(frame)) + 1)).view.name == "pick.product"


def test_the_page_follows_what_the_service_says_meanwhile(home: StoreFolder) -> None:
    with at(home) as session:
        say(session, "s")
        with closing(open_cache(home.folder, writer=True)) as connection:
            cache = CacheWriter(connection, "0001")
            around = [{"store_number": "0002", "store_name": "There", "most_likely_quantity": 7, "is_warehouse": False}]
            cache.write_surrounding("P1", around, 5.0)
        frame = session.poll()
        assert frame is not None
        assert "There" in names(frame)


def names(frame: Frame) -> list[str]:
    """Every raw text of the blocks."""
    assert isinstance(frame.view, DetailView)
    cells = [cell for block in frame.view.blocks for row in block.rows for cell in row]
    return [str(value) for cell in cells for _, value in cell.args if not isinstance(value, Msg)]
