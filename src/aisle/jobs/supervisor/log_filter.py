"""Filter of the store's log: the parameters of the interface's list, and the person.

Interface: List store product logs (article_number, from_id, to_id, is_historic, is_reviewed, last_modified_date,
to_modified_date, reason_code, reference, review_status).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from aisle.jobs.adjust_state import Reason
from aisle.jobs.job import Json

PERIOD_DAYS: Mapping[str, int] = {"today": 0, "week": 7, "month": 28, "weeks": 56, "year": 365}
"""Days that each period goes back. More than a week must first be requested from the service."""

REVIEW_STATUSES = ("1", "2", "0")
"""To review, reviewed, nothing to review. Interface: review_status."""

SOURCES = (
    "count",
    "change",
    "receipt",
    "movement",
    "pick",
    "unpick",
    "in_hand",
    "finish",
    "short",
    "rejected",
    "late",
    "aisle",
)
"""Sources of entries as aisle's own service names them. Others are typed."""

FILTER_FIELDS = ("period", "reason", "review", "product", "user", "reference", "source", "ids", "location")
"""Fields of a filter, in the order of their numbers."""

TYPED_FIELDS = ("product", "user", "reference", "source", "ids", "location")
"""Fields whose value is typed or scanned. The others are chosen."""

CACHED_PERIOD = "week"
"""Period that is always cached."""


class LogFilter(NamedTuple):
    """Filter with a value for each field; empty for any."""

    period: str = CACHED_PERIOD
    reason: str = ""
    review: str = ""
    product: str = ""
    user: str = ""
    reference: str = ""
    source: str = ""
    ids: str = ""
    """Range of entry numbers: `4000-4200`, `4000-` or `-4200`."""
    location: str = ""
    """Code of a location, or the prefix of several codes."""

    def value(self, field: str) -> str:
        """Return the value of a field."""
        return str(self._asdict()[field])

    @property
    def active_count(self) -> int:
        """Number of fields that are set, except period and location."""
        return sum(bool(self.value(name)) for name in FILTER_FIELDS if name not in ("period", "location"))


def filter_values(field: str, reasons: Sequence[Reason], user: str = "") -> tuple[str, ...]:
    """Return the values of a filter field to choose from, in the order of their numbers; empty means any."""
    known: dict[str, tuple[str, ...]] = {
        "period": tuple(PERIOD_DAYS),
        "reason": ("", *(str(reason.code) for reason in reasons)),
        "review": ("", *REVIEW_STATUSES),
        "source": ("", *SOURCES),
        "user": ("", user),
    }
    return known.get(field, ("",))


def parse_id_range(ids: str) -> tuple[str, str] | None:
    """Parse (from_id, to_id) from typed numbers; None if they are invalid."""
    low, dash, high = (part.strip() for part in ids.partition("-"))
    low, high = low, (high if dash else low)
    fits = all(not part or part.isdecimal() for part in (low, high)) and (low or high)
    return (low, high) if fits else None


def first_day(filter_: LogFilter, now: str) -> str:
    """Return the first day of the filter's period, in the time zone of this host, ISO 8601."""
    return (datetime.fromisoformat(now).astimezone() - timedelta(days=PERIOD_DAYS[filter_.period])).date().isoformat()


def start_of_period(filter_: LogFilter, now: str) -> str:
    """Return the start of that day as a time."""
    day = datetime.fromisoformat(now).astimezone() - timedelta(days=PERIOD_DAYS[filter_.period])
    return day.replace(hour=0, minute=0, second=0, microsecond=0).isoformat()


def query_arguments(filter_: LogFilter, now: str) -> dict[str, Json]:
    """Return the filter as arguments of the query `log`."""
    low, high = parse_id_range(filter_.ids) or ("", "")
    return {
        "since": start_of_period(filter_, now),
        "product_number": filter_.product,
        "app_user_name": filter_.user,
        "reason_code": filter_.reason,
        "review_status": filter_.review,
        "reference": filter_.reference,
        "source": filter_.source,
        "from_id": low,
        "to_id": high,
        "location_code": filter_.location,
    }
