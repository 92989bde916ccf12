"""Counting in a session on real files: what is kept, what is sent, and where somebody stands after an end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from aisle.barcode_numbers import check_digit
from aisle.cache.writer import CacheWriter
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Frame, msg
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.operation_record import Operation
from aisle.scan.inputs_and_line_grouping import Line
from aisle.session.session import Session, open_session
from aisle.settings.setting_definitions import Settings
from tests.cache import service_rows
from tests.copied_databases import copy_cache

CODES = ("4006381333931", "5901234123457", "9780201379624", "4012345678901", "2812345000007")
WEIGHED = "281234501234" + check_digit("281234501234")
CASE = "14006381333938"


def fill(cache: CacheWriter) -> None:
    """A home with a place of five products in its cache."""
    unit = {"units": [{"unit_barcode": CASE, "unit_quantity": 12}]}
    cheese = {"allow_decimal": True, "base_unit_name": "kg"}
    cache.write_products(
        [
            service_rows.product(
                f"P{n}", f"Product {n}", code, price=2, **(unit if n == 1 else cheese if n == 5 else {})
            )
            for n, code in enumerate(CODES, 1)
        ]
    )
    cache.write_stock([service_rows.stock(f"P{n}", 10 * n, places={"A-1": 10 * n}) for n in range(1, 6)])
    cache.write_locations([service_rows.location("A-1", 1, default_stock_pool="1"), service_rows.location("A-2", 2)])
    cache.write_stores([{"storeName": "One", "storeNo": "0001", "storeStockPool1": "Shop", "storeStockPool3": "Web"}])


@pytest.fixture
def home(aisle_home: Path) -> StoreFolder:
    """A home with a place of five products in its cache."""
    home = StoreFolder(aisle_home, "embedded", "0001")
    copy_cache(home.folder, "0001", fill)
    return home


@contextmanager
def at(home: StoreFolder, **settings: Any) -> Iterator[Session]:
    """A session of terminal `dock`, signed in."""
    session = open_session(home, Settings(terminal="dock", user="U1", **settings))
    try:
        session.start()
        yield session
    finally:
        session.close()


def say(session: Session, *texts: str) -> Frame:
    """Lines in one drained queue."""
    return session.take([Line(text, "cr", 0.0, 0.0, 0.0) for text in texts], 0.0)


def told(frame: Frame) -> tuple[str, str]:
    """Kind and message id of the verdict."""
    return (frame.verdict.kind, frame.verdict.text.id) if frame.verdict else ("", "")


def open_count(session: Session) -> Frame:
    """From home, by its number in the menu."""
    choices = [choice.id for choice in session.frames.build().view.choices]
    return say(session, str(choices.index("home.count") + 1))


def sent(home: StoreFolder) -> list[Operation]:
    """The operations that wait."""
    return OperationQueue(open_outbox(home.folder)).unfinished()


def test_cases_stars_weights_and_fractions_are_counted_as_what_they_are(home: StoreFolder) -> None:
    with at(home, recount_value=Decimal(0), restricted_codes=("28IIIIIWWWWWC",)) as session:
        open_count(session)
        say(session, "A-1", CASE, f"3*{CODES[0]}")
        say(session, f"12*{CODES[1]}", "]C10109780201379624307", WEIGHED)
        weight = session.stack.top.state.current_line.counted
        assert told(say(session, "2,5")) == (GOOD, "count.counted_of")
        assert told(say(session, CODES[3], "2.5")) == (WRONG, "input.whole_number_only")
        assert weight == Decimal("1.234")
        items = {item.product: item.counted for item in session.stack.top.state.lines}
    assert items == {"P1": 15, "P2": 12, "P3": 7, "P4": 1, "P5": Decimal("2.5")}


@pytest.mark.parametrize("lines", [1, 20, 70])
def test_counts_in_hand_are_there_after_an_end_in_mid_work(home: StoreFolder, lines: int) -> None:
    with at(home) as session:
        open_count(session)
        before = say(session, "A-1", *[CODES[0]] * lines)
    with at(home) as session:
        frame = session.frames.build()
        assert (frame.view, told(frame)) == (before.view, (INFO, "session.resumed"))
        assert told(say(session, CODES[0])) == (GOOD, "count.counted_of")
        assert session.stack.top.state.current_line.counted == lines + 1
        assert not sent(home)


def test_a_loss_in_the_middle_of_a_count_comes_back_to_it(home: StoreFolder) -> None:
    with at(home) as session:
        open_count(session)
        say(session, "A-1", CODES[1])
        assert say(session, "l").view.name == "adjust.quantity"
    with at(home) as session:
        assert session.frames.build().view.name == "adjust.quantity"
        assert told(say(session, "2")) == (ASK, "adjust.which_reason")
        frame = say(session, "1")
        assert (frame.view.name, told(frame)) == ("count.product", (GOOD, "adjust.lost"))
    (operation,) = sent(home)
    entry = operation.body["storeproductlog"][0]
    assert (entry["location_code"], entry["stock_pool_1"], entry["reason_code"]) == ("A-1", -2, 1)
    assert operation.query == {"appUserName": "U1", "is_counted_quantity": False}


def test_the_log_shows_what_was_counted_a_moment_ago(home: StoreFolder) -> None:
    with at(home) as session:
        open_count(session)
        say(session, "A-1", CODES[0], "9", "d")
        say(session, "a")
        assert told(say(session, "y"))[1] == "count.sent_differing"
        frame = say(session, "2")
        assert frame.view.name == "my_entries"
        (row,) = frame.view.rows  # type: ignore[union-attr]
        assert [cell.id for cell in row.cells][1] == "operation_state.queued"
        frame = say(session, "1")
        assert frame.view.name == "my_entries.entry"
    with at(home) as session:
        assert session.frames.build().view.name == "my_entries.entry"


def test_a_page_leads_to_the_count_and_the_move_of_what_it_shows_and_back(home: StoreFolder) -> None:
    with at(home) as session:
        page = say(session, CODES[0]).view
        assert page.name == "look_up.product"
        assert say(session, "c").view.name == "count.stop"
        assert told(say(session, "10", "d"))[1] == "count.sent"
        assert session.frames.build().view.name == "look_up.product"
        assert say(session, "t").view.name == "move.take"
        frame = say(session, "b")
        assert (frame.view.name, told(frame)) == ("move.leave", (ASK, "move.leave"))
        assert say(session, "x").view.name == "look_up.product"
        page = say(session, "b", "A-1").view
        assert page.name == "locations.location"
        assert say(session, "c").view.name == "count.product"
    with at(home) as session:
        assert session.frames.build().view.name == "count.product"
        assert say(session, "b").view == page
        assert say(session, "t").view.name == "move.take"
        assert told(say(session, CODES[0], "A-2"))[1] == "move.moved"
        assert say(session, "b", "b").view.name == "locations.location"
    assert [each.operation for each in sent(home)] == ["create-store-product-logs", "create-movement"]


@pytest.mark.parametrize(("counted", "booked"), [(9, 7), (10, 8)])
def test_a_loss_in_the_middle_of_a_count_is_named_before_that_is_sent(
    home: StoreFolder, counted: int, booked: int
) -> None:
    """A count without a difference is reviewed, too."""
    amounts = {"counted": Decimal(counted), "quantity": Decimal(2), "booked": Decimal(booked)}
    since = repr(msg("count.less_since", **amounts))
    with at(home) as session:
        open_count(session)
        say(session, CODES[0], str(counted), "l", "2")
        frame = say(session, "1")
        assert (frame.view.name, since in repr(frame.view)) == ("count.stop", True)
        frame = say(session, "d")
        assert (frame.view.name, since in repr(frame.view)) == ("count.summary", True)
        assert told(say(session, "y"))[0] == GOOD
    quantities = [operation.body["storeproductlog"][0]["stock_pool_1"] for operation in sent(home)]
    assert quantities == [-2, counted]
