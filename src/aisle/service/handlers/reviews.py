"""Reviews of log entries, and all that a store's creator said of it (README: Extensions)."""

from __future__ import annotations

from typing import Any

from aisle.service.amounts import row_id, whole_number
from aisle.service.answers import DONE, against_rule
from aisle.service.context import Call, Context, split_id
from aisle.service.sql import logs as sql
from aisle.service.sql import stores as store_sql
from aisle.service.states import MOVES, REVIEWED, check_move

GIVEN_ANEW = "This number was given anew after a restore of the service; look at the list again."


async def review_logs(ctx: Context, call: Call) -> bytes:
    """Say of entries that they were looked at, or have to be again.

    Raises Refusal: 422 for an entry that the store has not, or that came after this was said, 409 where there is
    nothing to review.
    """
    wanted = [_wanted(ctx, review, f"reviews[{index}]") for index, review in enumerate(call.body["reviews"])]
    rows = await ctx.tx.all(sql.LOG_STATES, ctx.here.number, [seq for seq, _ in wanted])
    known: dict[int, int] = {row[0]: row[1] for row in rows}
    anew = {row[0] for row in rows if ctx.is_given_anew(row[2])}
    for index, (seq, status) in enumerate(wanted):
        field = f"reviews[{index}]"
        if seq not in known:
            raise against_rule("There is no such entry.", f"{field}.id")
        if seq in anew:
            raise against_rule(GIVEN_ANEW, f"{field}.id")
        check_move("review", "The review", str(known[seq]), str(status), f"{field}.review_status")
        await ctx.tx.run(sql.LOG_REVIEWED, ctx.here.number, seq, status, ctx.now)
        known[seq] = status
    return DONE


def _wanted(ctx: Context, review: dict[str, Any], field: str) -> tuple[int, int]:
    seq, ordinal = split_id(row_id(review["id"], f"{field}.id"))
    status = whole_number(review.get("review_status", REVIEWED), f"{field}.review_status")
    if str(status) not in MOVES["review"]:
        raise against_rule(f"There is no state {status} of a review.", f"{field}.review_status")
    return (seq if ordinal == ctx.here.ordinal else 0), status


async def retrieve_store(ctx: Context, call: Call) -> bytes:
    """The store under the names that its creation has."""
    row = await ctx.tx.one(store_sql.STORE_SAID, ctx.here.number)
    assert row is not None
    said: str = row[0]
    return said.encode()
