"""Counts that were ordered, and are there now (README: `recounts`)."""

from __future__ import annotations

from collections.abc import Iterable

from aisle.service.context import Context, Store, split_id
from aisle.service.sql import recounts as sql
from aisle.service.states import COUNTED
from aisle.tuples import NamedTuple


class Counted(NamedTuple):
    """A free count: of which entry of the operation, what, where ('' for the whole store) and when."""

    nth: int
    product: str
    place: str
    occurred_on: str


async def close_recounts(ctx: Context, store: Store, counts: Iterable[Counted], ids: list[int]) -> None:
    """Close what these counts were ordered for; one that was counted before it was ordered stays open."""
    counted = list(counts)
    if not counted:
        return
    wanted = {(row[0], row[1]): (row[2], row[3]) for row in await ctx.tx.all(sql.RECOUNTS_OPEN, store.number)}
    by = ctx.app_user or ctx.principal.name
    for one in counted:
        seq, ordered_on = wanted.get((one.product, one.place), (0, ""))
        if not seq or one.occurred_on < ordered_on:
            continue
        del wanted[(one.product, one.place)]
        entry, _ = split_id(ids[one.nth])
        await ctx.tx.run(sql.RECOUNT_END, store.number, seq, COUNTED, by, ctx.now, entry)
        ctx.changed(store.number, "recount", str(store.wire_id(seq)))
