"""Dates in the cache follow the time zone of the store: late orders, deliveries, hours of a day."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from aisle.cache.log_queries import week_starts
from aisle.cache.reader import CacheReader
from aisle.cache.writer import CacheWriter
from aisle.jobs import store_time
from tests.cache import service_rows

ZONES = ["America/Los_Angeles", "Europe/Amsterdam", "Pacific/Auckland", "Pacific/Kiritimati", "UTC"]
DAYS = [date(2026, *day) for day in ((11, 27), (3, 8), (11, 1), (3, 29), (10, 25), (9, 27))]
InZone = Callable[[str], None]


def utc(day: date, hour: int, minute: int, zone: str) -> str:
    """A time of the store as services and sessions write it."""
    local = datetime(day.year, day.month, day.day, hour, minute, tzinfo=ZoneInfo(zone))
    return local.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("day", DAYS, ids=str)
@pytest.mark.parametrize("of_line", [False, True], ids=["order", "line"])
def test_orders_are_late_by_the_clock_of_the_store(
    zone: str, day: date, of_line: bool, in_zone: InZone, reads: CacheReader, cache: CacheWriter
) -> None:
    in_zone(zone)
    text, yesterday = day.isoformat(), (day - timedelta(days=1)).isoformat()
    said = {
        "1": text,
        "2": f"{text}T18:00:00",
        "3": utc(day, 18, 0, zone),
        "4": yesterday,
        "5": utc(day, 0, 0, zone),
        "6": f"{yesterday} 23:59",
    }
    orders = []
    for number, when in said.items():
        line = service_rows.line(1, "P1", 3) | ({"pickup_date": when} if of_line else {})
        orders.append(service_rows.order(number, line, **({"pickup_date": ""} if of_line else {"pickup_date": when})))
    cache.write_orders(orders, lines_known=True, read_began=1000.0)

    def late(hour: int, minute: int) -> set[str]:
        rows, _ = reads.query("order_board", {"late": True, "now": utc(day, hour, minute, zone), "size": 50})
        return {str(row["order_number"]) for row in rows}

    assert late(0, 30) == late(17, 59) == {"4", "6"}
    assert late(18, 1) == late(23, 59) == {"2", "3", "4", "6"}
    tomorrow = day + timedelta(days=1)
    rows, _ = reads.query("order_board", {"late": True, "now": utc(tomorrow, 0, 30, zone), "size": 50})
    assert {str(row["order_number"]) for row in rows} == set(said)


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("midnight", ["2026-11-27T00:00Z", "2026-11-27T00:00:00.000Z", "2026-11-27 00:00:00+00:00"])
def test_a_day_that_a_service_says_by_a_midnight_of_utc_is_that_day(
    zone: str, midnight: str, in_zone: InZone, reads: CacheReader, cache: CacheWriter
) -> None:
    in_zone(zone)
    line = {"line_number": 1, "product_number": "P1", "quantity": 1}
    said = {"D1": "2026-11-26T23:30:00", "D2": midnight, "D3": "2026-11-27T00:30:00"}
    rows = [{"order_number": name, "datetime_expected": when, "order_lines": [line]} for name, when in said.items()]
    cache.write_deliveries(rows[::-1], 1000.0)
    rows, _ = reads.query("deliveries", {"size": 20})
    assert [str(row["order_number"]) for row in rows] == sorted(said)
    cache.write_orders([service_rows.order("1", pickup_date=midnight)], lines_known=True, read_began=1000.0)
    for hour, late in ((0, 0), (23, 0), (24, 1)):
        now = utc(date(2026, 11, 27) + timedelta(days=hour // 24), hour % 24, 30, zone)
        assert reads.query("order_board", {"late": True, "now": now, "size": 50})[1] == late


@pytest.mark.parametrize("zone", ZONES)
def test_deliveries_stand_in_the_order_in_which_the_store_expects_them(
    zone: str, in_zone: InZone, reads: CacheReader, cache: CacheWriter
) -> None:
    in_zone(zone)
    day, line = date(2026, 11, 27), {"line_number": 1, "product_number": "P1", "quantity": 1}
    said = {
        "D1": "2026-11-26T23:00:00",
        "D2": "2026-11-27",
        "D3": utc(day, 8, 0, zone),
        "D4": "2026-11-27T09:00",
        "D5": utc(day, 18, 0, zone),
        "D6": "2026-11-28",
    }
    deliveries = [
        {"order_number": name, "datetime_expected": when, "order_lines": [line]} for name, when in said.items()
    ]
    cache.write_deliveries(deliveries[::-1], 1000.0)
    rows, _ = reads.query("deliveries", {"size": 20})
    assert [str(row["order_number"]) for row in rows] == sorted(said)


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("day", DAYS, ids=str)
def test_days_and_weeks_begin_at_midnight_also_where_the_clocks_change(zone: str, day: date, in_zone: InZone) -> None:
    in_zone(zone)
    for hour in (0, 6, 23):
        assert store_time.start_of_today(utc(day, hour, 30, zone)) == datetime(
            day.year, day.month, day.day, tzinfo=ZoneInfo(zone)
        )
    begins = [one.astimezone(ZoneInfo(zone)) for one in week_starts(utc(day, 12, 0, zone))]
    assert {(one.isoweekday(), one.hour, one.minute) for one in begins} == {(1, 0, 0)}
    assert {(later.date() - earlier.date()).days for earlier, later in pairwise(begins)} == {7}
