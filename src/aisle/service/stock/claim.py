"""Who works on an order: the interface has `is_claimed`; whose claim it is, is ours (README: Extensions)."""

from __future__ import annotations

from aisle.service.context import Context
from aisle.service.sql import core
from aisle.service.stock.order import Order

FIELDS = ("claimed_by", "claimed_name", "claimed_on", "claimed_terminal")


async def claim(ctx: Context, order: Order, claimed: bool) -> None:
    """Claim the order for whoever asks, or end its claim.

    The claim that was made last stands: what others claimed or let go before it, and is heard of after it, changes
    nothing. The same claim again keeps its moment.
    """
    standing, by = order.item, ctx.app_user or ctx.principal.name
    terminal = ctx.terminal or ""
    if order.is_claimed and "claimed_by" in standing:
        same = (standing["claimed_by"], standing.get("claimed_terminal", "")) == (by, terminal)
        if (claimed and same) or (not same and ctx.occurred_on < standing["claimed_on"]):
            return
    end_claim(order)
    if not claimed:
        return
    row = await ctx.tx.one(core.PERSON_NAME, ctx.here.number, by)
    said = {"claimed_by": by, "claimed_name": row[0] if row else "", "claimed_on": ctx.occurred_on}
    order.item |= {name: value for name, value in (said | {"claimed_terminal": terminal}).items() if value}
    order.is_claimed = True


def end_claim(order: Order) -> None:
    """Nobody has it."""
    order.is_claimed = False
    order.item = {name: value for name, value in order.item.items() if name not in FIELDS}
