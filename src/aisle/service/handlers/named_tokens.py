"""Tokens of a store: list, create, revoke (README: Roles)."""

from __future__ import annotations

from aisle.contract.request_bodies.extension_bodies import TokenRequest
from aisle.errors import UsageError
from aisle.service.auth.tokens import (
    ALL_STORES,
    add_named_token,
    find_valid_token,
    load_tokens,
    mark_revoked,
    token_audit_fields,
)
from aisle.service.db.statements import tokens as tokens_sql
from aisle.service.domain import audit
from aisle.service.domain.timestamps import format_timestamp
from aisle.service.errors import SUCCESS, not_found, to_json_bytes, unprocessable
from aisle.service.operation_call import OperationCall
from aisle.service.operation_context import CHAIN, Context

_DAY = 86400.0

MAX_TOKEN_DAYS = 36_500


async def list_tokens(ctx: Context, call: OperationCall) -> bytes:
    """List all tokens except those of people who signed in. Secrets are not returned."""
    return to_json_bytes(
        {"tokens": [token._asdict() for token in await load_tokens(ctx.tx, tokens_sql.TOKENS_WITHOUT_PARENT)]}
    )


async def create_token(ctx: Context, call: OperationCall) -> bytes:
    """Create a token. Its secret is returned only here.

    Refuse with 422 if a name, role, store or duration is invalid.
    """
    body: TokenRequest = call.body
    stores, days = body["stores"], body.get("days")
    if days is not None and not (days == int(days) and 1 <= days <= MAX_TOKEN_DAYS):
        raise unprocessable(f"A token lasts 1 to {MAX_TOKEN_DAYS} days.", "days")
    if ALL_STORES in stores and len(stores) > 1:
        raise unprocessable(f"{ALL_STORES} is all stores, and stands alone.", "stores")
    expires = None if days is None else format_timestamp(ctx.now_seconds + int(days) * _DAY)
    try:
        made = await add_named_token(
            ctx.tx,
            name=body["name"],
            role=body["role"],
            store_numbers=None if stores == [ALL_STORES] else stores,
            now=ctx.now,
            expires_on=expires,
        )
    except UsageError as problem:
        raise unprocessable(str(problem)) from problem
    after = {"name": body["name"], "role": body["role"], "stores": stores, "expires_on": expires}
    await audit.record_changes(ctx, CHAIN, [audit.AuditChange("token", made.token_id, {}, after)])
    return to_json_bytes({"token_id": made.token_id, "token": made.secret, "expires_on": expires})


async def revoke_token(ctx: Context, call: OperationCall) -> bytes:
    """Revoke a token by its name or id, and the tokens of people who signed in through it.

    Refuse with 404 if it is unknown.
    """
    found = await find_valid_token(ctx.tx, call.body["name"], ctx.now)
    if found is None:
        raise not_found("No token in force has this name or id.")
    await mark_revoked(ctx.tx, found.token_id, ctx.now)
    await audit.record_changes(ctx, CHAIN, [audit.AuditChange("token", found.token_id, token_audit_fields(found), {})])
    return SUCCESS
