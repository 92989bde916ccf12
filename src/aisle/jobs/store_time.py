"""Dates and times in the zone of the store, in which this process runs. A time without a zone is in that zone.

A date is a day of the store, from midnight to midnight, also if it has 23 or 25 hours. Some fields name a day although
their text has a time: the pickup of an order, the day a delivery is expected, an expiry, the end of a sale. Services
that send only date-times write such a day as midnight of the store or of UTC; `named_day` accepts both. A midnight of
UTC in any other field is an ordinary time.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from decimal import Decimal

from aisle.jobs.job import Json
from aisle.jobs.view import Msg, msg
from aisle.row_values import is_date, is_utc_midnight

_DATE_LENGTH = len("2026-11-27")


def parse_time(text: str) -> datetime | None:
    """Parse a date or time (ISO 8601) into the zone of the store; None if it is invalid. The year 1, by which some
    services mean no time, is invalid: no zone can be applied to its first day."""
    try:
        moment = datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError, OSError):
        return None
    return moment if moment.year > 1 else None


def to_utc_text(text: str) -> str:
    """Return a time in UTC, so that times can be compared as text; empty if it is invalid or out of range."""
    moment = parse_time(text)
    try:
        utc = None if moment is None else moment.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        utc = None
    return "" if utc is None else utc.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def is_whole_day(text: str) -> bool:
    """Return True if the text names a day: a date, or the midnight at which a day of the store begins."""
    moment = parse_time(text)
    return moment is not None and (is_date(text) or moment == start_of_day(moment.date()))


def day_or_time(text: str) -> str:
    """Return the day of a text that names a whole day; other text is unchanged."""
    day = day_in_store(text) if is_whole_day(text) else None
    return text if day is None else day.isoformat()


def named_day(text: str) -> date | None:
    """Return the day that a day field names, as a date or as a midnight (see above); None for any other time."""
    if is_whole_day(text):
        return day_in_store(text)
    return datetime.fromisoformat(text).date() if _is_midnight_of_utc(text) else None


def day_in_store(text: str) -> date | None:
    """Return the day of a date or time in the zone of the store; None if it is invalid."""
    moment = parse_time(text)
    return None if moment is None else date.fromisoformat(text) if is_date(text) else moment.date()


def day_of_field(text: str) -> date | None:
    """Return the day of a day field: the one that it names, or that of its time in the store; None if it is invalid."""
    return named_day(text) or day_in_store(text)


def start_of_day(day: date) -> datetime:
    """Return the time at which a day of the store begins."""
    return datetime.combine(day, time()).astimezone()


def today(now: str) -> date:
    """Return the current day of the store; that of the text if its time is out of range."""
    return day_in_store(now) or date.fromisoformat(now[:10])


def start_of_today(now: str) -> datetime:
    """Return the time at which the current day began."""
    return start_of_day(datetime.fromisoformat(now).astimezone().date())


def to_local_text(text: str) -> str:
    """Return a day field in a form that sorts as text: its day, or a local time without zone. Other text is returned
    unchanged."""
    if len(text) <= _DATE_LENGTH:
        return text
    moment = parse_time(text)
    if moment is None:
        return text
    if day := named_day(text):
        return day.isoformat()
    return moment.replace(tzinfo=None).isoformat(timespec="seconds")


def _is_midnight_of_utc(text: str) -> bool:
    try:
        return is_utc_midnight(datetime.fromisoformat(text))
    except ValueError:
        return False


UNKNOWN_AGE = Decimal(-1)


def due_message(at: str, now: str, *, is_moment: bool = False) -> Msg:
    """Return a due date in store time, marked if it is past. A day is past when it is over. `is_moment`: the field
    holds a time, not a day."""
    moment, present = parse_time(at), parse_time(now)
    if moment is None or present is None:
        return msg("moment", at=at)
    day = None if is_moment and not is_whole_day(at) else named_day(at)
    is_late = moment < present if day is None else day < present.date()
    shown = at if day is None else day.isoformat()
    return msg("moment.late" if is_late else "moment", at=shown)


def due_on_day_message(at: str, now: str) -> Msg:
    """Return the due date of something that may come at any hour of its day: it is late once that day is over."""
    day, today = day_of_field(at), day_in_store(now)
    is_late = day is not None and today is not None and day < today
    return due_message(at, now)._replace(id="moment.late" if is_late else "moment")


def past_due_message(at: str, now: str) -> Msg:
    """Return the due date of something done. It is never marked as late."""
    return due_message(at, now)._replace(id="moment")


def is_over(day: date | None, now: str) -> bool:
    """Return True if something ends on this day and the day has begun."""
    today = day_in_store(now)
    return day is not None and today is not None and day <= today


def store_day(at: str) -> str:
    """Return the day of a time in the zone of the store; for an invalid time its first ten characters."""
    day = day_in_store(at)
    return at[:10] if day is None else day.isoformat()


def time_message(at: str, today: str) -> Msg:
    """Return a past time as a message: only the time if it is `today` (ISO 8601)."""
    return msg("log.at_time" if store_day(at) == today else "moment", at=at)


def seconds_since(moment: Json, now: str) -> Decimal:
    """Return the seconds between two times (ISO 8601), at least 0; UNKNOWN_AGE if one of them is invalid."""
    then, present = parse_time(str(moment)), parse_time(now)
    if then is None or present is None:
        return UNKNOWN_AGE
    return Decimal(max(0, int((present - then).total_seconds())))
