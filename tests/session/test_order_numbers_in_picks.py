"""A pick where a scan may mean an order too: one with the number of a product, and one inside a longer code."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from aisle.cache.writer import CacheWriter
from aisle.jobs.view import ASK, GOOD
from aisle.session.session import Session
from tests.cache import service_rows
from tests.copied_databases import copied_home
from tests.session.test_code_forms import EAN, Scanner, at, filled, said, told

SHORT = "4500"
"""Number of a product and of an order."""


def with_equal_numbers(cache: CacheWriter) -> None:
    """Add orders that have the barcode of a product and the number of another one."""
    filled(cache)
    cache.write_products([service_rows.product(SHORT, "Rice", "")])
    cache.write_stock([service_rows.stock(SHORT, 60, places={"A-1": 60})])
    lines = [service_rows.line(1, "P1", 9), service_rows.line(2, SHORT, 9)]
    orders = [service_rows.order(number, *lines) for number in (EAN, SHORT, "4102", "4103")]
    cache.write_orders(orders, lines_known=True, read_began=1.0)


@pytest.fixture
def session(aisle_home: Path) -> Iterator[Session]:
    with at(copied_home(aisle_home, with_equal_numbers)) as session:
        yield session


def test_goods_of_a_pick_are_not_asked_about_because_an_order_has_their_ean(session: Session) -> None:
    scan = Scanner(session, 6)
    assert told(scan(EAN))[0] == ASK, "at home it may be either"
    scan("b", "4102")
    assert said(scan(EAN)) == "1 of 9 · Honey"
    assert said(scan(EAN)) == "2 of 9 · Honey"


@pytest.mark.parametrize("code", ["Order 4103", "https://shop.example/o/4103", "]C14004103"])
def test_order_inside_a_longer_code_opens_at_home_and_is_asked_about_in_a_pick(session: Session, code: str) -> None:
    scan = Scanner(session, 6)
    scan("4102")
    assert told(scan(code)) == (ASK, "pick.other_order")
    scan("b", "b")
    assert told(scan(code))[0] == GOOD
    assert session.stack.top.job.name == "pick"
