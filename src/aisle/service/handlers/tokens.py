"""Tokens made, listed and revoked through the service itself (README: Roles)."""

from __future__ import annotations

from aisle.errors import UsageError
from aisle.service import audit
from aisle.service.answers import DONE, against_rule, dumps, missing
from aisle.service.context import CHAIN, Call, Context
from aisle.service.encode import without_none
from aisle.service.sql import core
from aisle.service.times import moment
from aisle.service.tokens import ALL_STORES, add_named_token, all_tokens, audited, end_token, in_force

_DAY = 86400.0
MOST_DAYS = 36_500


async def list_tokens(ctx: Context, call: Call) -> bytes:
    """Every token that was made by hand, without its secret."""
    return dumps({"tokens": [token._asdict() for token in await all_tokens(ctx.tx, core.ACCESSES_BY_HAND)]})


async def create_token(ctx: Context, call: Call) -> bytes:
    """Make a token; its secret is in this answer and nowhere else. Raises Refusal (422)."""
    said = without_none(call.body)
    stores, days = said["stores"], said.get("days")
    if days is not None and not (days == int(days) and 1 <= days <= MOST_DAYS):
        raise against_rule(f"A token lasts 1 to {MOST_DAYS} days.", "days")
    if ALL_STORES in stores and len(stores) > 1:
        raise against_rule(f"{ALL_STORES} is all stores, and stands alone.", "stores")
    expires = None if days is None else moment(ctx.seconds + int(days) * _DAY)
    try:
        made = await add_named_token(
            ctx.tx,
            name=said["name"],
            role=said["role"],
            store_numbers=None if stores == [ALL_STORES] else stores,
            now=ctx.now,
            expires_on=expires,
        )
    except UsageError as problem:
        raise against_rule(str(problem)) from problem
    after = {"name": said["name"], "role": said["role"], "stores": stores, "expires_on": expires}
    await audit.note(ctx, CHAIN, [audit.Change("token", made.token_id, {}, after)])
    return dumps({"token_id": made.token_id, "token": made.secret, "expires_on": expires})


async def revoke_token(ctx: Context, call: Call) -> bytes:
    """End a token by its name or id, and those that people got through it. Raises Refusal (404)."""
    found = await in_force(ctx.tx, call.body["name"], ctx.now)
    if found is None:
        raise missing("No token in force has this name or id.")
    await end_token(ctx.tx, found.token_id, ctx.now)
    await audit.note(ctx, CHAIN, [audit.Change("token", found.token_id, audited(found), {})])
    return DONE
