"""What was said last stands, where hosts say again what a restore has lost, in any order (README: After a restore)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from aisle.service.context import Context
from aisle.service.db.statements import access
from aisle.service.db.statements import stock as sql
from aisle.service.domain.order_line import OrderLine
from aisle.service.errors import Refusal

SETTING, LINE = "setting", "line"
"""A field that a store says of a product; whether an order line is closed or rejected, and why."""


def key_of(first: str, second: object) -> str:
    """Names a field of a product, or a line of an order."""
    return f"{second} {first}"


def keep_said(ctx: Context, subject: str, keys: Iterable[str]) -> None:
    """Keep when this was said last: what was said before and comes later is let be."""
    ctx.defer(access.SAID_SET, [(ctx.current_store.number, subject, key, ctx.occurred_on) for key in sorted(set(keys))])


async def said_later(ctx: Context, subject: str, keys: Sequence[str]) -> dict[str, str]:
    """Of a write that is said again: which of these somebody has said something else of later, and when."""
    if not ctx.replay or not keys:
        return {}
    rows = await ctx.tx.all(access.SAID_LATER, ctx.current_store.number, subject, sorted(set(keys)), ctx.occurred_on)
    return {row[0]: row[1] for row in rows}


async def closed_later(ctx: Context, lines: Sequence[OrderLine]) -> dict[int, str]:
    """The lines of one order that were closed, rejected, opened or picked later than this was said, and when."""
    found = await said_later(ctx, LINE, [key_of(*line.key) for line in lines])
    later = {line.line_number: found[key] for line in lines if (key := key_of(*line.key)) in found}
    for line in lines if ctx.replay else ():
        row = await ctx.tx.one(
            sql.PICKED_LATER,
            ctx.current_store.number,
            line.product_number,
            ctx.occurred_on,
            line.order_number,
            line.line_number,
        )
        if row and row[0]:
            later[line.line_number] = max(str(row[0]), later.get(line.line_number, ""))
    return later


def superseded(ctx: Context, what: str, said_on: str, field: str) -> Refusal:
    """What was said later stands."""
    when = datetime.fromisoformat(said_on).astimezone(ctx.time_zone())
    message = f"{what} was changed later ({when:%Y-%m-%d %H:%M}): that stands, and this is not done again."
    return Refusal(412, message, field)
