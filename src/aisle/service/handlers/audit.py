"""The audit of a store or of the chain, listed (README: Audit)."""

from __future__ import annotations

from aisle.service.answers import dumps, malformed
from aisle.service.context import CHAIN, Call, Context
from aisle.service.encode import loaded
from aisle.service.sql import audit as sql
from aisle.service.times import parsed

MOST = 1000


async def list_audit(ctx: Context, call: Call) -> bytes:
    """What was changed in the store, oldest first."""
    return await _listed(ctx, call, ctx.here.number)


async def list_chain_audit(ctx: Context, call: Call) -> bytes:
    """What was changed in the catalogue, the stores and the tokens, oldest first."""
    return await _listed(ctx, call, CHAIN)


async def _listed(ctx: Context, call: Call, scope: str) -> bytes:
    after, limit = call.query.get("after", 0), call.query.get("limit", 500)
    if not 1 <= limit <= MOST:
        raise malformed(f"limit is 1 to {MOST}.", "limit")
    said = call.query.get("last_modified_date", "")
    since = parsed(said, "last_modified_date", ctx.zone()) if said else ""
    rows = await ctx.tx.all(sql.AUDIT_LIST, scope, after, since, call.query.get("subject", ""), limit + 1)
    listed = [
        {
            "number": number,
            "at": at,
            "token": token_id,
            "token_name": name,
            "app_user_name": user,
            "subject": subject,
            "key": key,
            "before": loaded(before),
            "after": loaded(now),
        }
        for number, at, token_id, name, user, subject, key, before, now in rows[:limit]
    ]
    return dumps({"audit": listed, "more": len(rows) > limit})
