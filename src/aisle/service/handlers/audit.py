"""Audit: lists of the changes of a store and of the chain, oldest first (README: Audit)."""

from __future__ import annotations

from functools import partial

from aisle.service.db.database import Row
from aisle.service.db.statements import logs as sql
from aisle.service.domain.json_fragments import parse_json_object
from aisle.service.domain.timestamps import parse_timestamp
from aisle.service.handlers.list_page import extension_page
from aisle.service.operation_call import OperationCall
from aisle.service.operation_context import CHAIN, Context


async def list_audit(ctx: Context, call: OperationCall) -> bytes:
    """List the changes of the store, oldest first."""
    return await _list_entries(ctx, call, ctx.current_store.number)


async def list_chain_audit(ctx: Context, call: OperationCall) -> bytes:
    """List the changes of the catalogue, the stores and the tokens, oldest first."""
    return await _list_entries(ctx, call, CHAIN)


async def _list_entries(ctx: Context, call: OperationCall, scope: str) -> bytes:
    modified_date = call.query.get("last_modified_date", "")
    since = parse_timestamp(modified_date, "last_modified_date", ctx.time_zone()) if modified_date else ""
    first = call.query.get("after", 0), since, call.query.get("subject", ""), call.query.get("key", "")
    return await extension_page("audit", call.query, partial(ctx.tx.all, sql.AUDIT_LIST, scope, *first), _entry_json)


def _entry_json(row: Row) -> dict[str, object]:
    number, at, token_id, name, user, subject, key, before, after = row
    return {
        "number": number,
        "at": at,
        "token": token_id,
        "token_name": name,
        "app_user_name": user,
        "subject": subject,
        "key": key,
        "before": parse_json_object(before),
        "after": parse_json_object(after),
    }
