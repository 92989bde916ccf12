"""Audit: lists of the changes of a store and of the chain, oldest first (README: Audit)."""

from __future__ import annotations

from aisle.service.db.statements import logs as sql
from aisle.service.domain.json_fragments import parse_json_object
from aisle.service.domain.timestamps import parse_timestamp
from aisle.service.errors import bad_request, to_json_bytes
from aisle.service.operation_context import CHAIN, Context, OperationCall

MAX_ENTRIES = 1000


async def list_audit(ctx: Context, call: OperationCall) -> bytes:
    """List the changes of the store, oldest first."""
    return await _list_entries(ctx, call, ctx.current_store.number)


async def list_chain_audit(ctx: Context, call: OperationCall) -> bytes:
    """List the changes of the catalogue, the stores and the tokens, oldest first."""
    return await _list_entries(ctx, call, CHAIN)


async def _list_entries(ctx: Context, call: OperationCall, scope: str) -> bytes:
    after, limit = call.query.get("after", 0), call.query.get("limit", 500)
    if not 1 <= limit <= MAX_ENTRIES:
        raise bad_request(f"limit is 1 to {MAX_ENTRIES}.", "limit")
    modified_date = call.query.get("last_modified_date", "")
    since = parse_timestamp(modified_date, "last_modified_date", ctx.time_zone()) if modified_date else ""
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
            "before": parse_json_object(before),
            "after": parse_json_object(now),
        }
        for number, at, token_id, name, user, subject, key, before, now in rows[:limit]
    ]
    return to_json_bytes({"audit": listed, "more": len(rows) > limit})
