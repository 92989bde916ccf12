"""Recounts that a count fulfils: found and closed, and opened again if the count is undone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from aisle.service.db.statements import assigned_moves_and_recounts as recounts_sql
from aisle.service.domain.log_writer import FreeCount
from aisle.service.domain.states import RECOUNT_COUNTED
from aisle.service.operation_context import Context, Store, split_wire_id


class FulfilledRecount(NamedTuple):
    """Recount that a count fulfils: index of the entry, its number, and the pools of the remaining recounts."""

    entry_index: int
    seq: int
    remaining: tuple[int, ...]

    def log_fields(self, store: Store) -> dict[str, object]:
        """Return the log fields of the count."""
        pools = Counter(f"stock_pool_{pool}" for pool in self.remaining)
        return {
            "counting_assignment_id": store.wire_id(self.seq),
            "counting_lines_remaining": len(self.remaining),
            "counting_lines_remaining_stockpool": dict(sorted(pools.items())),
        }


async def find_fulfilled_recounts(ctx: Context, store: Store, counts: Iterable[FreeCount]) -> list[FulfilledRecount]:
    """Return the open recounts that these counts fulfil. A count made before the recount was ordered is ignored.

    A recount is of the location's default pool, otherwise of pool 1, like a count without a pool.
    """
    counted = list(counts)
    if not counted:
        return []
    rows = await ctx.tx.all(recounts_sql.RECOUNTS_OPEN, store.number)
    wanted = {(row[0], row[1]): (row[2], row[3], row[4] or 1) for row in rows}
    found = []
    for one in counted:
        seq, ordered_on, _ = wanted.get((one.product, one.location), (0, "", 1))
        if seq and one.occurred_on >= ordered_on:
            del wanted[(one.product, one.location)]
            found.append(FulfilledRecount(one.entry_index, seq, tuple(pool for _, _, pool in wanted.values())))
    return found


async def close_recounts(ctx: Context, store: Store, fulfilled: Iterable[FulfilledRecount], ids: list[int]) -> None:
    """Close the fulfilled recounts; `ids` are the wire ids of the log entries."""
    user = ctx.app_user or ctx.principal.name
    for one in fulfilled:
        entry, _ = split_wire_id(ids[one.entry_index])
        await ctx.tx.run(recounts_sql.RECOUNT_END, store.number, one.seq, RECOUNT_COUNTED, user, ctx.now, entry)
        ctx.mark_changed(store.number, "recount", str(store.wire_id(one.seq)))


async def reopen_recount(ctx: Context, store: Store, count_seq: int, count: Mapping[str, object]) -> None:
    """Open the recount that an undone count had fulfilled, unless another one was ordered since.

    `count`: log entry of the count, `count_seq` its number.
    """
    wire_id = count.get("counting_assignment_id")
    if isinstance(wire_id, int):
        await ctx.tx.run(recounts_sql.RECOUNT_REOPEN, store.number, split_wire_id(wire_id)[0], count_seq)
        ctx.mark_changed(store.number, "recount", str(wire_id))
