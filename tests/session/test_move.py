"""Moving goods in a session on real files: what is kept and sent, what the screen knows, where an end leaves it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from decimal import Decimal
from pathlib import Path

import pytest

from aisle.cache.writer import CacheWriter
from aisle.host.database import transaction
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import ASK, GOOD, WRONG, Frame, Step
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.operation_record import SEND, Operation
from aisle.scan.inputs_and_line_grouping import Line
from aisle.session.session import Session, open_session
from aisle.settings.setting_definitions import Settings
from tests.cache import service_rows
from tests.copied_databases import copied_home

CODES = ("4006381333931", "5901234123457", "9780201379624")
CASE = "14006381333938"


def filled(cache: CacheWriter) -> None:
    """A home with two shelves and an order in its cache."""
    units = {"units": [{"unit_barcode": CASE, "unit_quantity": 12}]}
    cache.write_products(
        [
            service_rows.product(f"P{n}", f"Product {n}", code, **(units if n == 1 else {}))
            for n, code in enumerate(CODES, 1)
        ]
    )
    cache.write_stock([service_rows.stock(f"P{n}", 10 * n + 5, places={"A-1": 10 * n, "B-1": 5}) for n in (1, 2, 3)])
    cache.write_locations(
        [service_rows.location("A-1", 1), service_rows.location("A-2", 2), service_rows.location("B-1", 3)]
    )
    cache.write_stores([{"storeName": "One", "storeNo": "0001", "storeStockPool1": "Shop", "storeStockPool3": "Web"}])
    cache.write_orders([service_rows.order("4101", service_rows.line(1, "P1", 4))], lines_known=True, read_began=1.0)


@pytest.fixture
def home(aisle_home: Path) -> StoreFolder:
    """A home with that store in its cache."""
    return copied_home(aisle_home, filled)


@contextmanager
def at(home: StoreFolder) -> Iterator[Session]:
    """A session of terminal `dock`, signed in, with the move job open."""
    session = open_session(home, Settings(terminal="dock", user="U1"))
    try:
        frame = session.start()
        if frame.view.name == "home":
            menu = [choice.id for choice in frame.view.choices]
            say(session, str(menu.index("home.move") + 1))
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


def operations(home: StoreFolder) -> list[Operation]:
    """All that was enqueued."""
    with closing(open_outbox(home.folder)) as connection:
        return OperationQueue(connection).recent()[::-1]


def quantity(frame: Frame) -> dict[str, Decimal]:
    """What lies here, or what else is in hand, as the screen says."""
    assert isinstance(frame.view, Step)
    return {stop.label: stop.quantity for stop in frame.view.upcoming if stop.quantity is not None}


@pytest.mark.parametrize("place", ["A-2", "B-1"], ids=["none there before", "less there before"])
@pytest.mark.parametrize("times", [1, 3])
def test_what_one_read_moved_and_took_back_is_taken_back(home: StoreFolder, place: str, times: int) -> None:
    """The books hear of all of it at once, at the end of that read: in the middle of it they have nothing there."""
    with at(home) as session:
        words = [*["A-1", CODES[1], "6", place] * times, "u"]
        frame = session.take([Line(word, "cr", 0.0, 0.0, 0.0) for word in words], 0.0)
        assert told(frame) == (GOOD, "move.undone")
    *moved, back = operations(home)
    assert len(moved) == times
    (item,) = back.body
    assert (item["quantity"], item["from_location"]["location_code"], item["to_location"]) == (
        6,
        place,
        {"location_code": "A-1"},
    )


def test_question_about_goods_counts_scans_survives_restart_and_comes_first(home: StoreFolder) -> None:
    with at(home) as session:
        say(session, "A-1", f"11*{CODES[0]}")
        assert told(say(session, CODES[0])) == (ASK, "move.exceeds_expected")
        assert told(say(session, CASE)) == (ASK, "move.exceeds_expected")
    with at(home) as session:
        assert told(say(session, "B-1")) == (WRONG, "move.answer_first_quantity")
        assert told(say(session, "y")) == (GOOD, "move.taken")
        say(session, "B-1")
    (operation,) = operations(home)
    assert [(item["quantity"], item["to_location"]["location_code"]) for item in operation.body] == [(24, "B-1")]


@pytest.mark.parametrize(
    "where", ["?A-1", f"?{CODES[1]}", "."], ids=["at a place", "at a product", "among the commands"]
)
def test_later_refused_movement_is_reported_on_any_page(home: StoreFolder, where: str) -> None:
    with at(home) as session:
        say(session, "A-1", CODES[0], "B-1", "b", "b")
        page = say(session, where).view.name
        assert page not in ("home", "move.from")
        (operation,) = operations(home)
        with closing(open_outbox(home.folder)) as connection, transaction(connection):
            courier = OperationQueue(connection)
            courier._apply_event(operation.op_id, SEND, sent_body=b"[]", sent=1)
            courier._apply_event(operation.op_id, "reject", why="Only 0 can be moved from there.")
        frame = session.poll()
        assert frame is not None
        assert (frame.view.name, told(frame)) == (page, (WRONG, "receive.refused"))
        for key in ("b", "b"):
            assert told(say(session, key)) != (WRONG, "receive.refused"), "once"


def test_a_refused_movement_is_told_and_lies_over_nothing(home: StoreFolder) -> None:
    with at(home) as session:
        say(session, "A-1", CODES[0], "4", "B-1")
        (operation,) = operations(home)
        with closing(open_outbox(home.folder)) as connection, transaction(connection):
            courier = OperationQueue(connection)
            courier._apply_event(operation.op_id, SEND, sent_body=b"[]", sent=1)
            courier._apply_event(operation.op_id, "reject", why="Only 3 of P1 can be moved from there.")
        frame = session.poll()
        assert frame is not None
        assert told(frame) == (WRONG, "receive.refused")
        assert frame.link.needs_person == 1
        assert quantity(frame)["Product 1"] == 10
        assert told(say(session, "u")) == (WRONG, "pick.nothing_to_undo")
        assert quantity(say(session, "B-1"))["Product 1"] == 5


def test_goods_go_to_an_order_and_its_line_stands_higher_at_once(home: StoreFolder) -> None:
    with at(home) as session:
        say(session, "A-1", CODES[0], "3", "4101")
        assert told(say(session, "B-1")) == (GOOD, "move.moved")
    with at(home) as session:
        rows, _ = session.store.reader.query("order", {"order_number": "4101"})
        assert (rows[0]["lines"][0]["picked_quantity"], rows[0]["lines"][0]["moved_quantity"]) == (3, 3)
    (operation,) = operations(home)
    assert operation.lanes == ("order/4101", "product/P1")
