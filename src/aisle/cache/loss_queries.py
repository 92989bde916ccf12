"""Queries of losses: by reason, over the last weeks."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from aisle.cache.list_window import QueryResult
from aisle.cache.query_context import QueryContext
from aisle.cache.query_registry import declare_query, whole_topics
from aisle.cache.stored_row_values import round_sum
from aisle.host.database import fetch
from aisle.jobs import store_time
from aisle.jobs.job import Args
from aisle.jobs.store_time import to_utc_text
from aisle.named_tuple_json import to_text

if TYPE_CHECKING:
    from aisle.jobs.row_types.log import LossesRow


LOSS_WEEKS = 8
"""Weeks of losses, the current one included."""

_LOSSES_BY_DAY = """
SELECT s.at, s.reason, r.description, s.quantity FROM loss_sum s LEFT JOIN loss_reason r ON r.reason = s.reason
WHERE s.span = 'day' AND s.at >= ?
"""

_LOSSES_BY_QUARTER = """
SELECT s.at, s.reason, r.description, s.quantity FROM json_each(?) e
JOIN loss_sum s ON s.span = 'quarter' AND s.at >= e.value AND s.at < e.value || '~'
LEFT JOIN loss_reason r ON r.reason = s.reason
"""

_DAY_LENGTH, _MINUTE_LENGTH = len("2026-01-01"), len("2026-01-01T08:15")


@declare_query("losses", "now", whole_topics("log"))
def losses_by_week(context: QueryContext, args: Args) -> QueryResult[LossesRow]:
    """Return the losses by reason in each of the last weeks up to that of `now`, greatest first.

    Undone losses do not count; weeks begin on
    Monday. Whole days come from stored sums; days on which a local week begins from sums of quarter hours.
    """
    cache = context.cache
    starts = [to_utc_text(each.isoformat()) for each in week_starts(str(args["now"]))]
    split_days = {begin[:_DAY_LENGTH] for begin in starts if begin[_DAY_LENGTH:_MINUTE_LENGTH] != "T00:00"}
    sums = [row for row in fetch(cache, _LOSSES_BY_DAY, starts[0][:_DAY_LENGTH]) if row[0] not in split_days]
    sums += fetch(cache, _LOSSES_BY_QUARTER, to_text(sorted(split_days)))
    found: dict[str, LossesRow] = {}
    for at, code, words, quantity in sums:
        week = sum(at >= begin[: len(at)] for begin in starts) - 1
        if week >= 0:
            empty: LossesRow = {
                "reason_code": str(code),
                "description": str(words or ""),
                "weeks": [Decimal(0)] * LOSS_WEEKS,
                "total": Decimal(0),
            }
            reason = found.setdefault(code, empty)
            reason["weeks"][week] += round_sum(quantity)
            reason["total"] += round_sum(quantity)
    ranked = sorted(found.values(), key=lambda row: (-row["total"], row["reason_code"]))
    return ranked, len(ranked)


def week_starts(now: str) -> list[datetime]:
    """Return the beginnings of the last weeks in the store's zone, oldest first."""
    today = store_time.start_of_today(now).date()
    monday = today - timedelta(days=today.weekday())
    return [store_time.start_of_day(monday - timedelta(weeks=LOSS_WEEKS - 1 - at)) for at in range(LOSS_WEEKS)]
