"""Scans at the hand-over in a session: labels of weighed goods, labels that are read on and on, and short labels."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from aisle.cache.writer import CacheWriter
from aisle.courier.pull import full_sync_stages_and_progress
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import Start
from aisle.jobs.view import ASK, GOOD, INFO, WRONG
from aisle.session.session import Session
from tests.cache import service_rows
from tests.copied_databases import copied_home
from tests.session.scanner import Scanner
from tests.session.test_session import at, say, told

CHEESE, TEA = "9520001100505", "4006381333931"


def filled(cache: CacheWriter) -> None:
    """A picked order of 1.5 kg cheese and two packs of tea at PU-1; locations and orders with short codes."""
    cache.write_people([service_rows.person("U1", "Anna Kovac")])
    cheese = service_rows.product("P1", "Cheese", CHEESE, allow_decimal=True, base_unit_name="kg")
    known = service_rows.product("P2", "Tea", TEA), service_rows.product("400007", "Honey")
    cache.write_products([cheese, *known])
    cache.write_stock([service_rows.stock(number, 60, places={"A-1": 60}) for number in ("P1", "P2")])
    cache.write_locations([service_rows.location(code, n) for n, code in enumerate(("A-1", "PU-1", "1", "2"), 1)])
    lines = (
        service_rows.line(row, product, quantity, picked_quantity=quantity, is_picked=True)
        | {"allow_decimal": product == "P1", "unit": "kg"}
        for row, (product, quantity) in enumerate((("P1", 1.5), ("P2", 2)), 1)
    )
    cache.write_orders([service_rows.order("4105", *lines, is_picked=True)], lines_known=True, read_began=1.0)
    full_sync_stages_and_progress.save_progress(cache, full_sync_stages_and_progress.SyncProgress(completed=1.0))


@pytest.fixture
def session(aisle_home: Path) -> Iterator[Session]:
    """A session at the order that is handed over."""
    home: StoreFolder = copied_home(aisle_home, filled)
    with at(home, user="U1") as session:
        session.start_batch()
        session.event_runner.open(Start("hand_over", {"order_number": "4105"}))
        session.event_runner.commit()
        yield session


def checked(session: Session) -> list[tuple[int, Decimal]]:
    """What was scanned, by line."""
    return [tuple(each) for each in session.stack.top.state.checked]


def test_a_label_without_its_weight_is_asked_about(session: Session) -> None:
    assert told(say(session, CHEESE)) == (ASK, "session.type_in")
    assert told(say(session, "700 g")) == (GOOD, "hand_over.checked")
    assert told(say(session, f"01{CHEESE.zfill(14)}3103000800")) == (GOOD, "hand_over.checked")
    assert checked(session) == [(1, Decimal("0.7")), (1, Decimal("0.8"))]


@pytest.mark.parametrize("label", ["1", "2"])
def test_a_short_label_chooses_nothing(session: Session, label: str) -> None:
    frame = Scanner(session).send(f"{label}\r", 0.004)
    assert frame.verdict
    assert (frame.verdict.kind, session.stack.top.job.step_name(session.stack.top.state)) == (WRONG, "hand_over.order")


def test_goods_to_put_back_are_chosen_by_a_label_without_weight(session: Session) -> None:
    say(session, "2", CHEESE)
    assert session.stack.top.job.step_name(session.stack.top.state) == "hand_over.quantity"


@pytest.mark.parametrize("pace", [0.0, 0.003, 0.03])
@pytest.mark.parametrize("number", ["400007", "4105", "1", "2"])
def test_a_number_of_the_store_is_no_quantity_that_goes_back(session: Session, number: str, pace: float) -> None:
    say(session, "2", TEA)
    frame = Scanner(session).send(f"{number}\r", pace)
    assert frame.view.name == "hand_over.quantity"
    assert session.stack.top.state.quantity == 0
    if pace < 0.03:
        assert told(frame) == (WRONG, "count.answer_first")
    elif len(number) > 1:
        assert told(frame) == (ASK, "input.record_or_value")


@pytest.mark.parametrize("number", ["1", "2"])
def test_a_typed_number_is_the_quantity_that_goes_back(session: Session, number: str) -> None:
    say(session, "2", TEA)
    frame = Scanner(session).send(f"{number}\r", 0.3)
    assert frame.view.name == "hand_over.location"
    assert session.stack.top.state.quantity == int(number)


def test_a_read_that_goes_on_leaves_home_alone(session: Session) -> None:
    say(session, "1")
    assert session.stack.top.job.name == "home"
    assert told(say(session, "4105")) == (INFO, "pick.handed_over_now")
    assert session.stack.top.job.name == "home"
