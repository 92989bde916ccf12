"""Dates of what is still to come that are long past, or before the day on which it was ordered."""

from datetime import date, timedelta
from pathlib import Path

import pytest

from tests.load.test_spreadsheets import Found, Write, write

__all__ = ["write"]

FILES = {
    "pickup_date": (
        "orders.csv",
        "store_number,order_number,line_number,product_number,quantity,pickup_date",
        "1,O,1,P,1",
    ),
    "datetime_expected": (
        "deliveries.csv",
        "store_number,order_number,no_of_containers,line_number,product_number,quantity,datetime_expected",
        "1,D,1,1,P,1",
    ),
}


@pytest.mark.parametrize("column", FILES)
@pytest.mark.parametrize(("days", "is_past"), [(400, True), (31, True), (30, False), (1, False), (-9, False)])
def test_a_date_long_past_is_warned_of(column: str, days: int, is_past: bool, write: Write, tmp_path: Path) -> None:
    file, header, cells = FILES[column]
    day = (date.today() - timedelta(days=days)).isoformat()
    write(file, header, f"{cells},{day}")
    said = [note for note in Found(tmp_path).notes if "month ago" in note]
    assert said == [f"{file}:2: warning: {column} is more than a month ago: {day}."] * is_past


@pytest.mark.parametrize(("days", "is_before"), [(-1, True), (-40, True), (0, False), (2, False)])
def test_a_delivery_expected_before_it_was_made_is_warned_of(
    days: int, is_before: bool, write: Write, tmp_path: Path
) -> None:
    file, header, cells = FILES["datetime_expected"]
    created = date.today()
    day = created + timedelta(days=days)
    write(file, f"{header},datetime_created", f"{cells},{day},{created}")
    said = [note for note in Found(tmp_path).notes if "is before" in note]
    what = f"datetime_expected is before datetime_created: {day} and {created}"
    assert said == [f"{file}:2: warning: {what}."] * is_before
