"""When a store orders and is delivered, from its schema; START is Thursday, 28 May 2026, 20:26 UTC."""

from __future__ import annotations

from typing import Any

import pytest

from aisle.service.domain.ordering_schedule import upcoming_dates
from tests.service.world import START, World, store_body

STORE = store_body("S1", "First")


def row(day: Any = 5, time: Any = "10:00", offset: Any = 1, **more: Any) -> dict[str, Any]:
    """A row of a schema; Friday at ten, there on Saturday."""
    return {"day": day, "time": time, "delivery_offset": offset, **more}


def days(rows: list[Any], category: str = "") -> tuple[list[str], list[str]]:
    """The days on which is ordered, and delivered."""
    found: Any = upcoming_dates(rows, category, START)
    ordering, delivery = (
        [one[5:10] for one in found.get(f"{name}_datetimes", [])] for name in ("ordering", "delivery")
    )
    return ordering, delivery


@pytest.mark.parametrize(
    ("rows", "ordering", "delivery"),
    [
        ([], [], []),
        ([row()], ["05-29", "06-05"], ["05-30", "06-06"]),
        ([row(4, "20:00")], ["06-04", "06-11"], ["05-29", "06-05", "06-12"]),
        ([row(4, "21:00")], ["05-28", "06-04", "06-11"], ["05-29", "06-05", "06-12"]),
        ([row(4, "22:00+02:00")], ["06-04", "06-11"], ["05-29", "06-05", "06-12"]),
        ([row(4, "16:00-05:00")], ["05-28", "06-04", "06-11"], ["05-29", "06-05", "06-12"]),
        ([row(7), row(0)], ["05-31", "06-07"], ["06-01", "06-08"]),
        ([row(1, ordering_offset=2)], ["05-30", "06-06"], ["06-02", "06-09"]),
        ([row(5, week_numbers="23")], ["06-05"], ["06-06"]),
        ([row(5, week_numbers="1; 22-23")], ["05-29", "06-05"], ["05-30", "06-06"]),
        pytest.param([row(5, week_numbers="x")], [], [], marks=pytest.mark.drawn),
        ([row(5, week_numbers="99")], [], []),
        ([row(5, week_numbers="20-60")], [], []),
        ([row("x")], [], []),
        ([row(time="soon")], [], []),
        ([row(offset=1e9)], [], []),
    ],
)
def test_the_next_two_weeks(rows: list[dict[str, Any]], ordering: list[str], delivery: list[str]) -> None:
    assert days(rows) == (ordering, delivery)


def test_rows_for_a_category_stand_instead_of_those_for_all() -> None:
    rows = [row(5), row(1, category_code="hot"), row(2, category_code="cold")]
    assert days(rows, "hot")[0] == ["06-01", "06-08"]
    assert days(rows, "food")[0] == ["05-29", "06-05"]


async def test_stock_entries_tell_them_where_the_product_does_not(world: World) -> None:
    named = {"store_next_ordering_datetime": "2026-06-20T08:00:00Z"}
    await world.post("/stores", {"stores": [STORE | named]})
    items = [{"product_number": "P1"}, {"product_number": "P2", "next_ordering_date": "2026-06-30"}]
    await world.post("/stores/S1/storeproducts", {"store_products": items})
    for more, first, delivered in (
        ({}, "2026-06-20T08:00:00.000Z", None),
        ({"ordering_schema": [row()]}, "2026-05-29T10:00:00.000Z", "2026-05-30T10:00:00.000Z"),
    ):
        await world.post("/stores", {"stores": [STORE | more]})
        one, other = await world.rows("/storeproducts/stock", store_number="S1")
        assert one["next_ordering_datetime"] == one["ordering_datetimes"][0] == first
        assert one.get("next_delivery_datetime") == delivered
        assert other["ordering_datetimes"] == ["2026-06-30T00:00:00.000Z"]
        for number, seen in (("P1", one), ("P2", other)):
            [single] = (await world.get(f"/stores/S1/products/{number}/stock"))["products"]
            assert single["ordering_datetimes"] == seen["ordering_datetimes"]
            assert single.get("delivery_datetimes") == seen.get("delivery_datetimes")


@pytest.mark.parametrize(
    ("more", "status"),
    [
        ({"ordering_schema": [row(), row(time="soon")]}, 422),
        ({"ordering_schema": [row(8)]}, 422),
        ({"ordering_schema": [row(1.5)]}, 422),
        ({"ordering_schema": [row(week_numbers="54")]}, 422),
        ({"ordering_schema": [row(offset=-1)]}, 422),
        ({"store_next_delivery_datetime": "soon"}, 400),
        ({"store_next_ordering_datetime": ""}, 200),
    ],
)
async def test_a_schema_that_says_no_moment_is_refused(world: World, more: dict[str, Any], status: int) -> None:
    await world.post("/stores", {"stores": [STORE | more]}, status)


@pytest.mark.parametrize(
    ("row_with", "problem"),
    [
        ({"time": "9:05"}, "time is '9:05': write 09:05"),
        ({"time": "9.05"}, "time is '9.05': write 09:05"),
        ({"time": "9h05"}, "time is '9h05': write 09:05"),
        ({"time": "25:05"}, "time is '25:05': write 00:00 to 23:59"),
        ({"time": ""}, "time is '': write 00:00 to 23:59"),
        ({"day": 8}, "day is 8: write 1 (Monday) to 7, or 0 for Sunday"),
        ({"ordering_offset": 61}, "ordering_offset is 61: write 0 to 60 days"),
        ({"delivery_offset": -1}, "delivery_offset is -1: write 0 to 60 days"),
        ({"week_numbers": "27;60"}, "week_numbers is '27;60': write weeks from 1 to 53, as 1,3,10-12"),
        ({"day": 8, "time": "9:05"}, "day is 8: write 1 (Monday) to 7, or 0 for Sunday; time is '9:05': write 09:05"),
    ],
)
async def test_a_refused_schema_names_each_value_that_is_wrong(
    world: World, row_with: dict[str, Any], problem: str
) -> None:
    answer = await world.send("POST", "/stores", {"stores": [STORE | {"ordering_schema": [row() | row_with]}]})
    assert answer.status_code == 422
    assert answer.json()["message"] == f"stores[0].ordering_schema[0]: {problem}."
