"""Dates in the cache follow the time zone of the store: late orders, deliveries, hours of a day."""

from collections.abc import Callable
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import apsw
import pytest

from aisle.cache.log_queries import week_starts
from aisle.cache.reader import CacheReader
from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.store_and_database_folders import StoreFolder
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


# After a change of the time zone, cached days are computed again


ZONES_ZONE = ["America/Los_Angeles", "Asia/Tokyo", "Europe/Amsterdam", "Pacific/Kiritimati", "UTC"]
SAID = [
    "2026-11-27",
    "2026-11-26",
    "2026-11-27T18:00:00",
    "2026-11-27 08:15",
    "2026-11-27T17:00:00Z",
    "2026-11-26T23:30:00.000Z",
    "2026-11-27T03:00:00+01:00",
    "2026-11-27T20:00:00-08:00",
    "2026-11-27T08:00:00Z",
    "soon",
    "",
]


def written(home: StoreFolder, *, of_line: bool) -> None:
    """The same rows of the service, read by a courier that begins now."""
    orders, deliveries, logs = [], [], []
    for number, when in enumerate(SAID):
        line = service_rows.line(1, "P1", 3) | ({"pickup_date": when} if of_line else {})
        orders.append(service_rows.order(f"O{number}", line, pickup_date="" if of_line else when))
        item = {"line_number": 1, "product_number": "P1", "quantity": 1}
        deliveries.append({"order_number": f"D{number}", "datetime_expected": when, "order_lines": [item]})
        logs.append({"id": f"L{number}", "product_number": "P1", "quantity": -1, "moved_on": when, "reason_code": 7})
    with closing(open_cache(home.folder, writer=True)) as connection:
        cache = CacheWriter(connection, home.store)
        cache.write_orders(orders, lines_known=True, read_began=1000.0)
        cache.write_deliveries(deliveries, 1000.0)
        cache.write_logs(logs, "")


def kept(home: StoreFolder) -> list[list[tuple[object, ...]]]:
    """All that a cache keeps of them."""
    tables = {
        "orders": "order_number, pickup",
        "delivery": "order_number, due",
        "log": "key, at",
        "log_hour": "hour, kind, n",
        "log_tally": "hour, n",
        "loss": "key, at",
    }
    with closing(apsw.Connection(str(home.cache))) as connection:
        return [
            connection.execute(f"SELECT {columns} FROM {table} ORDER BY 1, 2").fetchall()
            for table, columns in tables.items()
        ]


@pytest.mark.parametrize("of_line", [False, True], ids=["order", "line"])
@pytest.mark.parametrize(("before", "after"), [*pairwise(ZONES_ZONE), *pairwise(ZONES_ZONE[::-1])])
def test_a_cache_says_in_another_zone_what_one_says_that_was_made_there(
    before: str, after: str, of_line: bool, home: StoreFolder, in_zone: InZone
) -> None:
    in_zone(before)
    written(home, of_line=of_line)
    in_zone(after)
    written(home, of_line=of_line)
    changed = kept(home)
    home.cache.unlink()
    written(home, of_line=of_line)
    assert changed == kept(home)


def test_who_looks_at_the_cache_hears_that_days_are_others(
    home: StoreFolder, in_zone: InZone, reads: CacheReader
) -> None:
    in_zone("UTC")
    written(home, of_line=False)
    position = reads.changes(0)[0]
    in_zone("Asia/Tokyo")
    open_cache(home.folder, writer=True).close()
    assert {topic for topic, _ in reads.changes(position)[1]} == {"order", "delivery", "log"}
    position = reads.changes(0)[0]
    open_cache(home.folder, writer=True).close()
    assert reads.changes(position)[1] == []


def test_an_order_is_late_by_the_new_zone(home: StoreFolder, in_zone: InZone, reads: CacheReader) -> None:
    in_zone("UTC")
    written(home, of_line=False)

    def late() -> set[str]:
        rows, _ = reads.query("order_board", {"late": True, "now": "2026-11-27T16:30:00Z", "size": 50})
        return {str(row["order_number"]) for row in rows}

    assert late() == {"O1", "O3", "O5", "O6", "O8"}
    in_zone("Asia/Tokyo")
    open_cache(home.folder, writer=True).close()
    assert late() == {"O0", "O1", "O2", "O3", "O5", "O6", "O8"}
