"""What the store's log can be filtered by: all that the interface's list offers, and who did it.

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
"""So many days back each period goes; more than a week has to be asked for at the service first."""

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
"""Where entries come from, as our own service says it; others are typed."""

FILTER_FIELDS = ("period", "reason", "review", "product", "user", "reference", "source", "ids", "location")
"""The parts of a filter, in the order of their numbers."""

TYPED_FIELDS = ("product", "user", "reference", "source", "ids", "location")
"""Parts whose value is typed or scanned; the others are chosen."""

CACHED_PERIOD = "week"
"""The period that is always here."""


class LogFilter(NamedTuple):
    """A word for each part; empty for any."""

    period: str = CACHED_PERIOD
    reason: str = ""
    review: str = ""
    product: str = ""
    user: str = ""
    reference: str = ""
    source: str = ""
    ids: str = ""
    """`4000-4200`, `4000-` or `-4200`: numbers of entries."""
    location: str = ""
    """A place's code, or what several begin with."""

    @property
    def active_count(self) -> int:
        """How many parts beside the period and the place say something."""
        return sum(bool(getattr(self, name)) for name in FILTER_FIELDS if name not in ("period", "location"))


def filter_values(field: str, reasons: Sequence[Reason], user: str = "") -> tuple[str, ...]:
    """The values that a part of the filter can be chosen from, in the order of their numbers; empty is any."""
    known: dict[str, tuple[str, ...]] = {
        "period": tuple(PERIOD_DAYS),
        "reason": ("", *(str(reason.code) for reason in reasons)),
        "review": ("", *REVIEW_STATUSES),
        "source": ("", *SOURCES),
        "user": ("", user),
    }
    return known.get(field, ("",))


def parse_id_range(ids: str) -> tuple[str, str] | None:
    """(from_id, to_id) of numbers that were typed; None where they make no sense."""
    low, dash, high = (part.strip() for part in ids.partition("-"))
    low, high = low, (high if dash else low)
    fits = all(not part or part.isdecimal() for part in (low, high)) and (low or high)
    return (low, high) if fits else None


def first_day(filter_: LogFilter, now: str) -> str:
    """The day from which on entries are wanted, in the time of this host, ISO 8601."""
    return (datetime.fromisoformat(now).astimezone() - timedelta(days=PERIOD_DAYS[filter_.period])).date().isoformat()


def start_of_period(filter_: LogFilter, now: str) -> str:
    """The beginning of that day as a moment."""
    day = datetime.fromisoformat(now).astimezone() - timedelta(days=PERIOD_DAYS[filter_.period])
    return day.replace(hour=0, minute=0, second=0, microsecond=0).isoformat()


def query_arguments(filter_: LogFilter, now: str) -> dict[str, Json]:
    """The filter as arguments of the read `logs`."""
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
