"""Packs of measured goods in a pick: what is typed for a pack is added, and a pack goes into one tote."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from aisle.cache.writer import CacheWriter
from aisle.courier.pull import full_sync_stages_and_progress
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import Start
from aisle.session.session import Session
from tests.cache import service_rows
from tests.copied_databases import copied_home
from tests.session.test_asked_quantity import prompt, shown
from tests.session.test_session import at, say, told

UNITS = {"kg": "9520001100505", "lb": "9520001100512", "m": "9520001100574", "l": "9520001100048"}
TEA = "4006381333931"


def filled(cache: CacheWriter) -> None:
    """Orders of goods by each unit at one location: 1.5 in the first order, 0.5 and 0.7 in the next two."""
    cache.write_people([service_rows.person("U1", "Anna Kovac")])
    cache.write_products(
        [
            *(
                service_rows.product(f"W-{unit}", f"Loose {unit}", code, allow_decimal=True, base_unit_name=unit)
                for unit, code in UNITS.items()
            ),
            service_rows.product("P4", "Tea", TEA),
        ]
    )
    numbers = [*(f"W-{unit}" for unit in UNITS), "P4"]
    cache.write_stock([service_rows.stock(number, 60, places={"A-1": 60}) for number in numbers])
    cache.write_locations([service_rows.location("A-1", 1), service_rows.location("A-2", 2)])
    orders = [
        service_rows.order(
            order,
            *(
                service_rows.line(row, number, quantity, preferred_location_code="A-1")
                for row, number in enumerate(numbers, 1)
            ),
        )
        for order, quantity in (("4101", 1.5), ("4102", 0.5), ("4103", 0.7))
    ]
    cache.write_orders(orders, lines_known=True, read_began=1.0)
    full_sync_stages_and_progress.save_progress(cache, full_sync_stages_and_progress.SyncProgress(completed=1.0))


@pytest.fixture
def home(aisle_home: Path) -> StoreFolder:
    """A home with that store in its cache."""
    return copied_home(aisle_home, filled)


@pytest.fixture
def session(home: StoreFolder) -> Iterator[Session]:
    """A session of one picker."""
    with at(home, user="U1") as session:
        yield session


def batch(session: Session) -> None:
    """Begin a batch of the two small orders."""
    session.start_batch()
    session.event_runner.open(Start("pick", {"orders": ["4102", "4103"]}))
    session.event_runner.commit()


def picked(session: Session, product: str = "W-kg") -> list[Decimal]:
    """Quantities picked of a product, by order."""
    lines = [line for line in session.stack.top.state.lines if line.product == product]
    return [line.picked for line in sorted(lines, key=lambda line: line.order)]


@pytest.mark.parametrize("unit", UNITS)
def test_second_pack_without_weight_is_added(session: Session, unit: str) -> None:
    say(session, "4101")
    say(session, UNITS[unit])
    say(session, "1")
    assert picked(session, f"W-{unit}") == [Decimal(1)]
    frame = say(session, UNITS[unit])
    assert "0.5" in shown(frame, 80, 24)
    assert f"Loose {unit}" in prompt(frame, 80, 24)
    say(session, "0,5")
    assert picked(session, f"W-{unit}") == [Decimal("1.5")]


@pytest.mark.parametrize("meanwhile", ["4006381333930", "96385081", "A-1", "i"])
def test_pack_stays_asked_until_it_is_answered(session: Session, meanwhile: str) -> None:
    say(session, "4101")
    say(session, UNITS["kg"])
    say(session, "1")
    say(session, UNITS["kg"])
    assert "Loose kg" in prompt(say(session, meanwhile), 80, 24)
    say(session, "0.25")
    if picked(session) == [Decimal(1)]:
        say(session, "0.25")
    assert picked(session) == [Decimal("1.25")]


def test_pack_of_more_than_is_needed_is_refused_and_typed_again(session: Session) -> None:
    say(session, "4101")
    for each in (UNITS["kg"], "1", UNITS["kg"]):
        say(session, each)
    assert told(say(session, "0.75"))[1] == "pick.more_than_ordered"
    assert picked(session) == [Decimal(1)]
    say(session, "0.4")
    assert picked(session) == [Decimal("1.4")]


def test_number_after_a_refused_weight_is_that_of_the_pack(session: Session) -> None:
    say(session, "4101")
    for each in (UNITS["kg"], "1", f"010{UNITS['kg']}3103000750"):
        say(session, each)
    say(session, "0.5")
    assert picked(session) == [Decimal("1.5")]


@pytest.mark.parametrize("drop", ["b", "u", "0"])
def test_dropped_pack_leaves_what_is_picked(session: Session, drop: str) -> None:
    say(session, "4101")
    for each in (UNITS["kg"], "1", UNITS["kg"], drop):
        frame = say(session, each)
    assert told(frame)[1] == "session.dropped"
    assert picked(session) == [Decimal(1)]
    assert "Loose kg" not in prompt(frame, 80, 24)
    say(session, "1.2")
    assert picked(session) == [Decimal("1.2")], "a total again"


def test_packs_are_added_in_a_batch(session: Session) -> None:
    batch(session)
    say(session, UNITS["kg"])
    say(session, "0.3")
    say(session, UNITS["kg"])
    say(session, "0.2")
    assert picked(session) == [Decimal("0.5"), Decimal(0)]
    say(session, UNITS["kg"])
    say(session, "0.4")
    say(session, UNITS["kg"])
    say(session, "0.3")
    assert picked(session) == [Decimal("0.5"), Decimal("0.7")]


@pytest.mark.parametrize("is_typed", [True, False])
def test_one_pack_is_not_divided_between_totes(session: Session, is_typed: bool) -> None:
    batch(session)
    if is_typed:
        say(session, UNITS["kg"])
        frame = say(session, "0.6")
    else:
        frame = say(session, f"010{UNITS['kg']}3103000600")
    assert told(frame)[1] == "pick.more_than_needed_here"
    assert picked(session) == [Decimal(0), Decimal(0)]
    say(session, "r")
    assert picked(session) == [Decimal("0.5"), Decimal(0)], "only the rest, in that tote"
    say(session, f"010{UNITS['kg']}3103000600")
    assert picked(session) == [Decimal("0.5"), Decimal("0.6")]
