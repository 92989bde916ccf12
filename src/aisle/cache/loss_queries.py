"""Queries of losses: by reason, over the last weeks."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise
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

_LOSSES_BY_WEEK = """
SELECT w.key, l.reason, r.description, sum(l.quantity) FROM json_each(?) w
CROSS JOIN loss l INDEXED BY loss_at ON l.is_undone = 0 AND l.at >= w.value ->> 0 AND l.at < w.value ->> 1
LEFT JOIN loss_reason r ON r.reason = l.reason GROUP BY 1, 2
"""
AFTER_ALL = "~"
"""Text after all moments."""


@declare_query("losses", "now", whole_topics("log"))
def losses_by_week(context: QueryContext, args: Args) -> QueryResult[LossesRow]:
    """Return the losses by reason in each of the last weeks up to that of `now`, greatest first.

    Undone losses do not count; weeks begin on Monday.
    """
    starts = [to_utc_text(each.isoformat()) for each in week_starts(str(args["now"]))]
    weeks = to_text(list(pairwise([*starts, AFTER_ALL])))
    found: dict[str, LossesRow] = {}
    for week, code, words, quantity in fetch(context.cache, _LOSSES_BY_WEEK, weeks):
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
