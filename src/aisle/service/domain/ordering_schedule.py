"""Next ordering and delivery times of a store, from its ordering schema (README: Stores and products)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, time, timedelta
from typing import NamedTuple, TypedDict

from aisle.contract.request_bodies.extension_bodies import ExtendedStore
from aisle.contract.request_bodies.stores import OrderingSchema
from aisle.service.domain.quantities_times_and_json import TimeZone, format_timestamp

DAYS_AHEAD = 14
SCHEDULE_FIELDS = ("ordering_schema", "store_next_ordering_datetime", "store_next_delivery_datetime")
_SUNDAY = 7
_MAX_OFFSET_DAYS = 60
_MAX_WEEK = 53


class UpcomingDates(TypedDict, total=False):
    """Next ordering and delivery times, under the names of a stock entry; the lists have all of the next two weeks."""

    next_ordering_datetime: str
    ordering_datetimes: list[str]
    next_delivery_datetime: str
    delivery_datetimes: list[str]


def upcoming_dates(schema: Iterable[OrderingSchema], category: str, now: float, zone: TimeZone = None) -> UpcomingDates:
    """Return the times of the next two weeks in the form of a stock entry; {} if the schema has none.

    Rows for the product's category replace those for all categories. A row with an invalid day or time is ignored.
    """
    rows = list(schema)
    own = [row for row in rows if row.get("category_code") and row["category_code"] == category]
    found = [
        pair for row in own or rows if own or not row.get("category_code") for pair in _dates_of_row(row, now, zone)
    ]
    ordering = [format_timestamp(one) for one in sorted({order for order, _ in found if order > now})]
    delivery = [format_timestamp(one) for one in sorted({brought for _, brought in found if brought > now})]
    shown: UpcomingDates = {}
    if ordering:
        shown |= {"next_ordering_datetime": ordering[0], "ordering_datetimes": ordering}
    if delivery:
        shown |= {"next_delivery_datetime": delivery[0], "delivery_datetimes": delivery}
    return shown


def upcoming_dates_of_store(store: ExtendedStore, category: str, now: float, zone: TimeZone = None) -> UpcomingDates:
    """Return the times for stored fields of a store. Without a schema, use the next times that the store names."""
    named: UpcomingDates = {}
    if text := store.get("store_next_ordering_datetime"):
        named |= {"next_ordering_datetime": text, "ordering_datetimes": [text]}
    if text := store.get("store_next_delivery_datetime"):
        named |= {"next_delivery_datetime": text, "delivery_datetimes": [text]}
    return named | upcoming_dates(store.get("ordering_schema", ()), category, now, zone)


def schedule_row_problems(row: OrderingSchema) -> list[str]:
    """Return what is wrong with a row of an ordering schema, with the value of each field that is."""
    found = []
    if row["day"] not in range(_SUNDAY + 1):
        found.append(f"day is {row['day']}: write 1 (Monday) to {_SUNDAY}, or 0 for Sunday")
    if _parse_time(row["time"]) is None:
        hour_and_minute = re.fullmatch(r"(\d{1,2})[:.h](\d\d)", row["time"].strip(), re.ASCII)
        time_meant = "{:0>2}:{}".format(*hour_and_minute.groups()) if hour_and_minute else ""
        found.append(f"time is {row['time']!r}: write {time_meant if _parse_time(time_meant) else '00:00 to 23:59'}")
    offsets = {"ordering_offset": row.get("ordering_offset") or 0, "delivery_offset": row["delivery_offset"]}
    for name, offset in offsets.items():
        if not 0 <= offset <= _MAX_OFFSET_DAYS:
            found.append(f"{name} is {offset}: write 0 to {_MAX_OFFSET_DAYS} days")
    try:
        _parse_weeks(row.get("week_numbers") or "")
    except ValueError:
        found.append(f"week_numbers is {row.get('week_numbers')!r}: write weeks from 1 to {_MAX_WEEK}, as 1,3,10-12")
    return found


class _ScheduleRow(NamedTuple):
    day: int
    time_of_day: time
    ordering_offset: float
    delivery_offset: float
    weeks: frozenset[int]


def _parse_row(row: OrderingSchema) -> _ScheduleRow | None:
    time_of_day = _parse_time(row["time"])
    if time_of_day is None or schedule_row_problems(row):
        return None
    weeks = _parse_weeks(row.get("week_numbers") or "")
    before, after = float(row.get("ordering_offset") or 0), float(row["delivery_offset"])
    return _ScheduleRow(int(row["day"]) % _SUNDAY, time_of_day, before, after, weeks)


def _parse_time(text: str) -> time | None:
    try:
        return time.fromisoformat(text)
    except ValueError:
        return None


def _dates_of_row(row: OrderingSchema, now: float, zone: TimeZone) -> Iterable[tuple[float, float]]:
    """Yield pairs of ordering and delivery time, starting early enough for deliveries that arrive now."""
    parsed = _parse_row(row)
    if parsed is None:  # Stored before rows were checked.
        return
    day, time_of_day, before, after, weeks = parsed
    today = datetime.fromtimestamp(now, UTC).astimezone(time_of_day.tzinfo or zone).date()
    for offset in range(-int(after) - 1, DAYS_AHEAD + int(before) + 1):
        one = today + timedelta(days=offset)
        if one.isoweekday() % _SUNDAY == day and (not weeks or one.isocalendar().week in weeks):
            base = datetime.combine(one, time_of_day if time_of_day.tzinfo else time_of_day.replace(tzinfo=zone))
            yield (base - timedelta(days=before)).timestamp(), (base + timedelta(days=after)).timestamp()


def _parse_weeks(text: str) -> frozenset[int]:
    """Parse `1,3,10-12` into numbers; an empty set is every week. Raise ValueError for invalid weeks."""
    weeks: set[int] = set()
    for part in filter(None, (part.strip() for part in text.replace(";", ",").split(","))):
        first, _, last = part.partition("-")
        numbers = range(int(first), int(last or first) + 1)
        if not (numbers and numbers[0] >= 1 and numbers[-1] <= _MAX_WEEK):
            raise ValueError(f"{part} are no weeks of a year")
        weeks |= set(numbers)
    return frozenset(weeks)
