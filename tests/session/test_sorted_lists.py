"""Lists of a desk sorted by their headings, in both directions, by mouse and keys, with chips that count."""

from __future__ import annotations

import pytest

from aisle.cache import queries
from aisle.cache.queries import SortedList, WindowRows
from aisle.cache.writer import CacheWriter, open_cache
from aisle.courier.pull.full_sync_stages_and_progress import PROGRESS_CURSOR
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import Args
from aisle.jobs.view import Frame, ListView, Sorting
from aisle.scan.inputs_and_line_grouping import CHIP_KEY, SORT_KEY, TAB_KEY
from aisle.session.session import Session
from tests.cache import service_rows
from tests.session.test_order_board import home, says  # noqa: F401
from tests.session.test_tab_bar_with_counts import desk, press  # noqa: F401

pytestmark = pytest.mark.usefixtures("home")


def listed(frame: Frame) -> ListView:
    assert isinstance(frame.view, ListView)
    return frame.view


def keys(frame: Frame) -> list[str]:
    return [row.key for row in listed(frame).rows]


@pytest.mark.parametrize("by_index", [True, False])
def test_a_heading_sorts_and_sorts_the_other_way(
    home: StoreFolder,  # noqa: F811
    desk: Session,  # noqa: F811
    by_index: bool,
) -> None:
    brands = [("P1", "Oat drink", "Acme"), ("P2", "Bread", "Best")]
    products = [service_rows.product(number, name, brand_description=brand) for number, name, brand in brands]
    CacheWriter(open_cache(home.folder, writer=True), "0001").write_products(products)
    press(desk, f"{TAB_KEY}products")
    sort = "product_name" if by_index else "brand_description"
    frame = press(desk, f"{SORT_KEY}{sort}")
    assert listed(frame).sorting == Sorting(sort, False)
    up = keys(frame)
    assert up == (["P2", "P1"] if by_index else ["P1", "P2"])
    frame = press(desk, f"{SORT_KEY}{sort}")
    assert listed(frame).sorting == Sorting(sort, True)
    assert keys(frame) == up[::-1]


def test_keys_choose_the_next_column_and_the_other_direction(desk: Session) -> None:  # noqa: F811
    press(desk, f"{TAB_KEY}log")
    sorts = [name for name in listed(says(desk, "s")).sorts if name]
    assert listed(desk.frames.build()).sorting == Sorting(sorts[0], False)
    assert listed(says(desk, "s")).sorting == Sorting(sorts[1], False)
    assert listed(says(desk, "S")).sorting == Sorting(sorts[1], True)
    press(desk, f"{TAB_KEY}orders")
    assert listed(says(desk, "S")).sorting == Sorting("pickup", True)


def test_a_long_list_is_sorted_by_indexed_columns_only(
    home: StoreFolder,  # noqa: F811
    desk: Session,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("aisle.jobs.list_page_base_class.MAX_SORTED", 1)
    monkeypatch.setattr(queries, "MAX_SORTED", 1)
    press(desk, f"{TAB_KEY}products")
    frame = press(desk, f"{SORT_KEY}brand_description")
    assert frame.verdict is not None
    assert frame.verdict.text.id == "list.too_many_to_sort"
    assert keys(press(desk, f"{SORT_KEY}product_name")) == ["P2", "P1"]
    CacheWriter(open_cache(home.folder, writer=True), "0001").write_products([service_rows.product("P3", "Apple")])
    desk.poll()
    assert keys(press(desk, f"{SORT_KEY}product_name"))[-1] == "P3"


def test_a_sorted_list_that_grew_too_long_keeps_its_own_order_and_says_so(
    desk: Session,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own_order = keys(press(desk, f"{TAB_KEY}products"))
    for _ in range(2):
        frame = press(desk, f"{SORT_KEY}brand_description")
    assert listed(frame).sorting == Sorting("brand_description", True)
    monkeypatch.setattr("aisle.jobs.list_page_base_class.MAX_SORTED", 1)
    monkeypatch.setattr(queries, "MAX_SORTED", 1)
    frame = press(desk, f"{TAB_KEY}products")
    assert keys(frame) == own_order == ["P1", "P2"]
    assert listed(frame).sorting == Sorting("", False)


PLACES = ("A-10", "", "A-2", "b-1", None)
ROWS: list[dict[str, str | None]] = [{"place": place} for place in PLACES]


@pytest.mark.parametrize(
    ("descending", "places"),
    [(False, ["A-2", "A-10", "b-1", "", None]), (True, ["b-1", "A-10", "A-2", "", None])],
)
def test_empty_cells_come_last_and_numbers_in_texts_count(descending: bool, places: list[str | None]) -> None:
    def read(args: Args) -> WindowRows[dict[str, str | None]]:
        return WindowRows(ROWS[args["first"] : args["first"] + args["size"]], len(ROWS))

    args = {"order_by": "place", "descending": descending, "first": 0, "size": 9}
    listed = SortedList()
    assert [row["place"] for row in listed.window(read, args, 1).rows] == places
    assert [row["place"] for row in listed.window(read, {**args, "first": 1, "size": 2}, 1).rows] == places[1:3]


def test_a_sorted_list_is_read_again_only_when_something_changes() -> None:
    asked: list[int] = []

    def read(args: Args) -> WindowRows[dict[str, int]]:
        asked.append(args["size"])
        return WindowRows([{"n": n} for n in range(30)][: args["size"]], 30)

    listed, args = SortedList(), {"order_by": "n", "descending": True, "size": 2}
    for first, stamp, reads in ((0, 1, 2), (8, 1, 2), (8, 2, 4)):
        assert [row["n"] for row in listed.window(read, {**args, "first": first}, stamp).rows] == [
            29 - first,
            28 - first,
        ]
        assert len(asked) == reads
    listed.window(read, {**args, "first": 0}, 2).rows[0]["n"] = -1
    assert listed.window(read, {**args, "first": 0}, 2).rows[0]["n"] == 29


@pytest.mark.parametrize(("tab", "count"), [("deliveries", 5), ("log", 6), ("products", 5)])
def test_chips_count_their_rows_and_choose(desk: Session, tab: str, count: int) -> None:  # noqa: F811
    chips = listed(press(desk, f"{TAB_KEY}{tab}")).chips
    assert len(chips) == count
    assert all(chip.total is not None for chip in chips)
    for at, chip in enumerate(chips):
        view = listed(press(desk, f"{CHIP_KEY}{at}"))
        assert [each.is_active for each in view.chips] == [other == at for other in range(count)]
        assert view.total == chip.total


def test_chips_of_exceptions_lead_from_one_kind_to_another(
    desk: Session,  # noqa: F811
    home: StoreFolder,  # noqa: F811
) -> None:
    CacheWriter(open_cache(home.folder, writer=True), "0001").set_cursor(PROGRESS_CURSOR, {"completed": 1.0})
    press(desk, f"{TAB_KEY}exceptions")
    chips = listed(says(desk, "2")).chips
    assert [chip.total for chip in chips] == [0, 1, 0, 3, 3, 0, 0, 0, 0]
    assert press(desk, f"{CHIP_KEY}3").view.name == "exceptions.stuck"
    assert listed(press(desk, f"{SORT_KEY}order_number")).sorting == Sorting("order_number", False)
    assert keys(press(desk, f"{SORT_KEY}order_number"))[0] == "4103"
