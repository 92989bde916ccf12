"""Values as they are stored: quantities in thousandths, times as UTC text, rows composed of JSON fragments.

Dates and times of requests are read in the store's time zone. A date is a day of the store, a time without a zone is
local.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime, timedelta, tzinfo
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from json.encoder import encode_basestring
from math import floor
from typing import Any, NamedTuple, TypeVar
from zoneinfo import ZoneInfo

from aisle.row_values import is_date, is_utc_midnight
from aisle.service.errors import bad_request, to_json_bytes, unprocessable

THOUSANDTHS_PER_UNIT = 1000
_NUMBER_LIMIT = 10**12
NUMBER_LIMIT = Decimal(_NUMBER_LIMIT)
INT64_LIMIT = (1 << 63) - 1
"""Limit of an integer and its negative in both databases."""
QUANTITY_LIMIT = 10**9
"""Limit of the quantity in one location or on one line. Sums of any number of them fit both databases."""
INT32_LIMIT = (1 << 31) - 1
INT32_FIELDS = frozenset(
    {
        "category_order",
        "edit_min_max_percentage",
        "expiration_min_range",
        "max",
        "min",
        "shelf_label_layout",
        "shelf_label_quantity",
    }
)
"""Numbers of bodies that the interface returns as int32."""


def parse_thousandths(value: int | float | Decimal, field: str, *, whole: bool = False) -> int:
    """Parse a number of the wire into thousandths. `whole` refuses fractions (products without `allow_decimal`).

    Raise Refusal (422) for more than three decimal places, refused fractions, and numbers above 10^12.
    """
    if isinstance(value, int):
        if -_NUMBER_LIMIT <= value <= _NUMBER_LIMIT:
            return int(value) * THOUSANDTHS_PER_UNIT
        exact = Decimal(value)
    else:
        try:
            exact = Decimal(repr(value)) if isinstance(value, float) else value
        except InvalidOperation:
            raise unprocessable(f"{value} is not a number.", field) from None
    if not exact.is_finite() or exact > NUMBER_LIMIT or exact < -NUMBER_LIMIT:
        raise unprocessable(f"{value} is too large.", field)
    # Checked before the calculation, which would round an exponent of minus a million away.
    exponent = exact.as_tuple().exponent
    scaled = exact * THOUSANDTHS_PER_UNIT if isinstance(exponent, int) and exponent > -12 else Decimal("0.1")
    if scaled != scaled.to_integral_value():
        raise unprocessable(f"{value} has more than three decimal places; round it.", field)
    if whole and scaled % THOUSANDTHS_PER_UNIT:
        raise unprocessable(f"{value} is not a whole number.", field)
    return int(scaled)


def parse_whole_number(value: int | float | Decimal, field: str) -> int:
    """Parse an integer of the wire. Raise Refusal (422) for a fraction."""
    return parse_thousandths(value, field, whole=True) // THOUSANDTHS_PER_UNIT


def parse_quantity(value: int | float | Decimal, field: str, *, whole: bool = False) -> int:
    """Parse a quantity of goods into thousandths. Raise Refusal (422) like `parse_thousandths`, or above the limit."""
    amount = parse_thousandths(value, field, whole=whole)
    if abs(amount) > QUANTITY_LIMIT * THOUSANDTHS_PER_UNIT:
        raise unprocessable(f"{value} is too large: {QUANTITY_LIMIT:,} is the most that there can be.", field)
    return amount


def parse_row_id(value: int | float | Decimal, field: str) -> int:
    """Parse the id of a row, of any size. Raise Refusal (422) for a fraction."""
    return value if isinstance(value, int) else parse_whole_number(value, field)


def parse_int32(value: int | float | Decimal, field: str) -> int:
    """Parse a number that the interface returns as int32. Raise Refusal (422) if it is out of range."""
    found = parse_whole_number(value, field)
    if abs(found) > INT32_LIMIT:
        raise unprocessable(f"{value} is too large.", field)
    return found


def format_quantity(amount: int) -> str:
    """Format thousandths as a JSON number: `12`, `0.5`, `-1.25`."""
    if amount % THOUSANDTHS_PER_UNIT == 0:
        return str(amount // THOUSANDTHS_PER_UNIT)
    sign = "-" if amount < 0 else ""
    whole, rest = divmod(abs(amount), THOUSANDTHS_PER_UNIT)
    return f"{sign}{whole}.{rest:03d}".rstrip("0")


def to_json_number(amount: int) -> int | float:
    """Return thousandths as the shortest number for `json.dumps`."""
    return amount // THOUSANDTHS_PER_UNIT if amount % THOUSANDTHS_PER_UNIT == 0 else amount / THOUSANDTHS_PER_UNIT


_WIDTH = len("2026-05-04T10:20:30.123")

Clock = Callable[[], float]
"""Clock that returns seconds since 1970, such as `time.time`."""

TimeZone = tzinfo | None
"""Time zone of a store; None is the zone of this process."""


@lru_cache(maxsize=64)
def format_timestamp(seconds: float) -> str:
    """Format seconds since 1970 as `2026-05-04T10:20:30.123Z`.

    Microseconds are rounded as datetime does, then cut to milliseconds. The result is cached, since a request formats
    its own time several times.
    """
    whole = floor(seconds)
    micro = round((seconds - whole) * 1e6)
    if micro == 1_000_000:
        whole, micro = whole + 1, 0
    return f"{_format_whole_second(whole)}.{micro // 1000:03d}Z"


@lru_cache(maxsize=16)
def _format_whole_second(seconds: int) -> str:
    """Format a whole second without zone. It is cached, since requests format few different seconds."""
    return datetime.fromtimestamp(seconds, UTC).isoformat()[: len("2026-05-04T10:20:30")]


def parse_timestamp(text: str, field: str, zone: TimeZone = None) -> str:
    """Parse an ISO 8601 date or time into a timestamp; a date is the start of its day. Raise Refusal (400).

    Without a zone it is in the store's. A result outside the calendar becomes its first or last moment.
    """
    return _format_datetime_utc(_parse_datetime(text, field), zone)


def parse_start_of_day(text: str, field: str, zone: TimeZone = None) -> str:
    """Parse a date or time of a field that names a day. Midnight UTC is the start of that day in the store, too."""
    parsed = _parse_datetime(text, field)
    return _format_datetime_utc(parsed.replace(tzinfo=None) if is_utc_midnight(parsed) else parsed, zone)


def parse_timestamp_or_day(text: str, field: str, zone: TimeZone = None) -> str:
    """Parse a date or time into a timestamp, but keep a date as `yyyy-MM-dd`, which is late when the day is over.

    Midnight UTC is that date, since some senders have only date-times.
    """
    parsed = _parse_datetime(text, field)
    return parsed.date().isoformat() if is_date(text) or is_utc_midnight(parsed) else _format_datetime_utc(parsed, zone)


def parse_day(text: str, field: str, zone: TimeZone = None) -> str:
    """Parse a date or time into `yyyy-MM-dd` in the store's zone. Raise Refusal (400) if it is invalid."""
    return _format_day(_parse_datetime(text, field), zone)


def day_of_stored_time(text: str, zone: TimeZone = None) -> str:
    """Return the day in the store of a stored date or time."""
    try:
        return _format_day(datetime.fromisoformat(text.strip()), zone)
    except ValueError:  # Stored before it was validated.
        return text[:10]


def parse_end_of_day(text: str, field: str, zone: TimeZone = None) -> str:
    """Return the end of the day of a date or time in the store. Raise Refusal (400) if it is invalid."""
    try:
        following = date.fromisoformat(parse_day(text, field, zone)) + timedelta(days=1)
    except OverflowError:
        return _format_datetime(datetime.max)
    return _format_datetime_utc(datetime(following.year, following.month, following.day), zone)


def day_after_days(seconds: float, days: float, zone: TimeZone = None) -> str:
    """Return the store's date this many days after a moment, as `yyyy-MM-dd`, limited to the calendar."""
    try:
        return (datetime.fromtimestamp(seconds, UTC).astimezone(zone).date() + timedelta(days=days)).isoformat()
    except OverflowError:
        return "9999-12-31" if days > 0 else "0001-01-01"


def _parse_datetime(text: str, field: str) -> datetime:
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        raise bad_request(f"{text!r} is not an ISO 8601 date or time.", field) from None


def _format_datetime_utc(when: datetime, zone: TimeZone) -> str:
    try:
        return _format_datetime((when if when.tzinfo or zone is None else when.replace(tzinfo=zone)).astimezone(UTC))
    except (OverflowError, ValueError, OSError):  # The host's zone raises any of these outside its years.
        return _format_datetime(datetime.min if when.year == 1 else datetime.max)


def _format_day(when: datetime, zone: TimeZone) -> str:
    """Format the day in the zone. Midnight UTC is the day that begins there, as for `parse_timestamp_or_day`."""
    try:
        return (when if when.tzinfo is None or is_utc_midnight(when) else when.astimezone(zone)).date().isoformat()
    except (OverflowError, ValueError, OSError):
        return when.date().isoformat()


def subtract_seconds(timestamp: str, seconds: float) -> str:
    """Return the timestamp this many seconds earlier, limited to the calendar."""
    try:
        return _format_datetime(datetime.fromisoformat(timestamp) - timedelta(seconds=seconds))
    except OverflowError:
        return _format_datetime(datetime.min if seconds > 0 else datetime.max)


def _format_datetime(when: datetime) -> str:
    return when.isoformat(timespec="milliseconds")[:_WIDTH] + "Z"  # Cuts the zone off.


class TimeZones(NamedTuple):
    """Time zones by which each store's dates and times without a zone are read."""

    default: TimeZone = None
    stores: Mapping[str, TimeZone] = {}

    def zone_of(self, store_number: str | None = None) -> TimeZone:
        """Return the time zone of a store, or the default."""
        return self.stores.get(store_number, self.default) if store_number else self.default


HOST_TIME_ZONE = TimeZones()
"""Time zone of this process for all stores."""


def zone_header(zone: TimeZone) -> dict[str, str]:
    """Return the header of an answer that names the zone, if it has a name."""
    return {"Aisle-Time-Zone": zone.key} if type(zone) is ZoneInfo and zone.key else {}


_T = TypeVar("_T")

quoted = encode_basestring
"""Function that returns a text as JSON."""


def to_json(value: Any) -> str:
    """Return a value as compact JSON text, as it is stored."""
    return to_json_bytes(value).decode()


def object_members(object_json: str) -> str:
    """Return the members of a stored object without its braces."""
    return object_json[1:-1]


def join_members(parts: Iterable[str]) -> str:
    """Return an object of these groups of members, without the empty ones."""
    return "{" + ",".join(part for part in parts if part) + "}"


def text_member(name: str, value: str | None) -> str:
    """Return a text member; empty for None."""
    return "" if value is None else f'"{name}":{quoted(value)}'


def json_boolean(value: object) -> str:
    """Return a JSON boolean."""
    return "true" if value else "false"


def pool_members(prefix: str, pools: Mapping[int, int]) -> str:
    """Return one member per pool, named by the prefix and the pool's number."""
    return ",".join(f'"{prefix}{pool}":{format_quantity(pools[pool])}' for pool in sorted(pools))


def shipment_members(shipment: str | None, line: int | None) -> tuple[str, str]:
    """Return the members for the shipment of an order line, under the names of the stock lists."""
    return (
        text_member("customer_order_shipment_number", shipment),
        "" if line is None else f'"customer_order_shipment_line_number":{line}',
    )


def drop_none(value: Mapping[str, _T | None]) -> dict[str, _T]:
    """Return the members without those that are None."""
    return {name: item for name, item in value.items() if item is not None}


def rename_members(value: Mapping[str, object], names: Mapping[str, str]) -> dict[str, object]:
    """Return the members that have another name elsewhere, under that name."""
    return {other: value[name] for name, other in names.items() if name in value}


def select_members(value: Mapping[str, object], names: Iterable[str]) -> dict[str, object]:
    """Return the members with these names."""
    return {name: value[name] for name in names if name in value}


def parse_json_object(object_json: str) -> Any:
    """Parse a stored object; the caller knows its type.

    A number with a fraction becomes a Decimal, so that it equals that of a request.
    """
    return json.loads(object_json, parse_float=Decimal)


def body_fingerprint(body: Mapping[str, Any]) -> str:
    """Return a hash of a new order or delivery, which is equal for one store and for several."""
    content = {name: value for name, value in sorted(body.items()) if name != "store_number"}
    content["order_lines"] = [dict(sorted(line.items())) for line in body.get("order_lines", [])]
    return hashlib.sha256(to_json(dict(sorted(content.items()))).encode()).hexdigest()
