"""Columns of a list that a person chooses at a desk: named, in their order, and remembered with the sort order."""

from __future__ import annotations

from contextlib import closing

import pytest

from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.column_choice import read_choices
from aisle.jobs.job import Rows
from aisle.jobs.view import Frame, ListView
from aisle.scan.inputs_and_line_grouping import SORT_KEY, TAB_KEY
from aisle.session.session import Session, open_session
from aisle.settings.setting_definitions import Settings
from tests.session.test_order_board import home, says  # noqa: F401
from tests.session.test_tab_bar_with_counts import desk, press  # noqa: F401

pytestmark = pytest.mark.usefixtures("home")

USUAL = ["head.product", "head.number", "head.brand", "stores.head_what"]


def heads(frame: Frame) -> list[str]:
    assert isinstance(frame.view, ListView)
    return [head.id for head in frame.view.column_heads]


@pytest.fixture
def products(desk: Session) -> Session:  # noqa: F811
    assert heads(press(desk, f"{TAB_KEY}products")) == USUAL
    return desk


def positions(frame: Frame) -> list[str]:
    assert isinstance(frame.view, ListView)
    return [str(dict(row.cells[1].args).get("value", "-")) for row in frame.view.rows]


def test_a_number_hides_a_column_and_shows_it_as_the_last_one(products: Session) -> None:
    assert positions(says(products, "C")) == ["1", "2", "3", "4"]
    assert positions(says(products, "2")) == ["1", "-", "2", "3"]
    assert positions(says(products, "2")) == ["1", "4", "2", "3"]
    assert positions(says(products, "3")) == ["1", "3", "-", "2"]
    assert heads(says(products, "b")) == ["head.product", "stores.head_what", "head.number"]
    says(products, "C", "a")
    assert heads(says(products, "b")) == USUAL


def test_one_column_stays(products: Session) -> None:
    assert positions(says(products, "C", "1", "2", "3", "4")) == ["-", "-", "-", "1"]


def test_a_person_finds_columns_and_sort_order_again(home: StoreFolder, products: Session) -> None:  # noqa: F811
    says(products, "C", "2", "b")
    press(products, f"{SORT_KEY}product_name")
    press(products, f"{SORT_KEY}product_name")
    products.close()
    own = ["head.product", "head.brand", "stores.head_what"]
    for user, shown, is_descending in (("U1", own, True), ("U2", USUAL, False)):
        with closing(open_session(home, Settings(terminal=f"desk-{user}", user=user))) as session:
            session.start()
            session.resize(120, 40)
            frame = press(session, f"{TAB_KEY}products")
            assert heads(frame) == shown
            assert isinstance(frame.view, ListView)
            assert frame.view.sorting is not None
            assert frame.view.sorting.is_descending == is_descending


def test_the_order_board_has_columns_to_choose_too(desk: Session) -> None:  # noqa: F811
    before = heads(press(desk, f"{TAB_KEY}orders"))
    says(desk, "C", "2")
    assert heads(says(desk, "b")) == [head for head in before if head != "head.pickup"]


def test_a_stored_choice_keeps_columns_whose_title_has_another_id_now() -> None:
    stored = '{"columns": ["head.why", "head.product", "orders.head_reason"], "sort": "at", "is_descending": true}'
    found = read_choices(Rows("", ({"text": stored},), 1))
    assert found == {"columns": ("head.reason", "head.product"), "sort": "at", "is_descending": True}


def test_a_handheld_shows_the_usual_columns(products: Session) -> None:
    says(products, "C", "2", "b")
    assert heads(products.resize(80, 24)) == USUAL
