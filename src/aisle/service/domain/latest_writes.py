"""Times of the latest writes, by which repeated older ones are refused (README: After a restore)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from aisle.service.db.statements import logs_and_changes as writes_sql
from aisle.service.db.statements import stock as stock_sql
from aisle.service.domain.order_line import OrderLine
from aisle.service.errors import Refusal
from aisle.service.operation_context import Context

SETTING, LINE = "setting", "line"
"""Subjects: a store's setting of a product; the state of an order line (closed or rejected) and its reason."""


def write_key(name: str, part: object) -> str:
    """Return the key of a product and one of its fields, or of an order and one of its lines."""
    return f"{part} {name}"


def record_write_times(ctx: Context, subject: str, keys: Iterable[str]) -> None:
    """Record the time of this write, so that an earlier one that is repeated later is ignored."""
    ctx.defer(
        writes_sql.LATEST_WRITE_SET, [(ctx.store_number, subject, key, ctx.occurred_on) for key in sorted(set(keys))]
    )


async def find_later_writes(ctx: Context, subject: str, keys: Sequence[str]) -> dict[str, str]:
    """Return the keys that were changed after this repeated write, with the times. Empty for other writes."""
    if not ctx.replay or not keys:
        return {}
    rows = await ctx.tx.all(writes_sql.LATER_WRITES, ctx.store_number, subject, sorted(set(keys)), ctx.occurred_on)
    return {row[0]: row[1] for row in rows}


async def find_lines_changed_later(ctx: Context, lines: Sequence[OrderLine]) -> dict[int, str]:
    """Return the lines of an order that were closed, rejected, opened or picked after this write, with the times."""
    found = await find_later_writes(ctx, LINE, [write_key(*line.key) for line in lines])
    later = {line.line_number: found[key] for line in lines if (key := write_key(*line.key)) in found}
    for line in lines if ctx.replay else ():
        row = await ctx.tx.one(
            stock_sql.PICKED_LATER,
            ctx.store_number,
            line.product_number,
            ctx.occurred_on,
            line.order_number,
            line.line_number,
        )
        if row and row[0]:
            later[line.line_number] = max(str(row[0]), later.get(line.line_number, ""))
    return later


def superseded_refusal(ctx: Context, what: str, written_on: str, field: str) -> Refusal:
    """Return the refusal of a repeated write that a later one replaced."""
    changed_on = datetime.fromisoformat(written_on).astimezone(ctx.time_zone())
    message = f"{what} was changed later ({changed_on:%Y-%m-%d %H:%M}): that stands, and this is not done again."
    return Refusal(412, message, field)
