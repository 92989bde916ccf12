"""Tokens: list, create, revoke; and signing in with a PIN, which returns a token of the person (README: People)."""

from __future__ import annotations

import hashlib
import math
from datetime import datetime
from typing import Final, Literal, TypedDict

from aisle.contract.request_bodies.extension_bodies import SignInRequest, TokenRequest
from aisle.errors import UsageError
from aisle.service.auth import pin_hashes_and_locks
from aisle.service.auth.authorization import authorize_store
from aisle.service.auth.tokens import (
    ALL_STORES,
    TokenGrant,
    TokenPerson,
    add_named_token,
    add_token,
    find_valid_token,
    load_tokens,
    mark_revoked,
    token_audit_fields,
)
from aisle.service.db.database_interface import Row
from aisle.service.db.statements import people_and_tokens as people_sql
from aisle.service.db.statements import people_and_tokens as tokens_sql
from aisle.service.domain import audit
from aisle.service.domain.timestamps import format_timestamp
from aisle.service.errors import SUCCESS, Refusal, not_found, to_json_bytes, unprocessable
from aisle.service.handlers.people import Person
from aisle.service.operation_context import CHAIN, Context, OperationCall, ReadRunner, Store

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
    grant = TokenGrant(body["name"], body["role"], None if stores == [ALL_STORES] else stores, expires)
    try:
        made = await add_named_token(ctx.tx, grant, ctx.now)
    except UsageError as problem:
        raise unprocessable(str(problem)) from problem
    await audit.record_changes(ctx, CHAIN, [audit.AuditChange("token", made.token_id, {}, grant.audit_fields)])
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


TOKEN_SECONDS = 3600.0
"""Seconds that a person's token is valid."""

_CLOCK_TOLERANCE_S: Final = 60.0
"""Seconds by which the clocks of several hosts of one database may differ."""


class _HashedSignIn(TypedDict):
    """Sign-in whose PIN was hashed with the parameters of the stored one."""

    store_number: str
    by: Literal["badge", "user"]
    who: str
    tried: str


async def hash_pin_of_sign_in(run_read: ReadRunner, call: OperationCall) -> OperationCall:
    """Hash the PIN with the parameters of the stored one; without one, take the same time."""
    body: SignInRequest = call.body
    by: Literal["badge", "user"] = "badge" if body.get("badge") else "user"
    if bool(body.get("badge")) == bool(body.get("user")):
        raise unprocessable("A person signs in by badge or by user name.", "badge")

    async def work(ctx: Context) -> Person | None:
        store = await authorize_store(ctx.tx, ctx.principal, body["store_number"])
        return await _find_person(ctx, store, by, body[by])

    person = await run_read(work)
    stored = (person.pin if person else None) or pin_hashes_and_locks.DUMMY_HASH
    pin = body["pin"] if pin_hashes_and_locks.is_valid_pin(body["pin"]) else ""
    pin_hash = await pin_hashes_and_locks.rehash_later(pin, stored)
    hashed: _HashedSignIn = {"store_number": body["store_number"], "by": by, "who": body[by], "tried": pin_hash}
    return call._replace(body=hashed)


async def sign_in(ctx: Context, call: OperationCall) -> bytes:
    """Return a token of the person, for this store and one hour, if the PIN is right.

    Refuse with 403 and one message for every reason; with 429 while the person is locked after too many wrong PINs on
    this channel. Unknown people are treated alike.
    """
    body: _HashedSignIn = call.body
    store = await authorize_store(ctx.tx, ctx.principal, body["store_number"])
    person = await _find_person(ctx, store, body["by"], body["who"])
    failure_key = person.badge if person else "?" + hashlib.sha256(body["who"].encode()).hexdigest()
    failure_key = pin_hashes_and_locks.failure_key(
        failure_key, is_web=call.header.get("Aisle-Door", "").lower() == pin_hashes_and_locks.WEB_CHANNEL
    )
    row = await ctx.tx.one(people_sql.SIGN_IN_FAILURES, store.number, failure_key)
    if row and ctx.now < row[1]:
        raise await _refuse_locked(ctx, store, failure_key, row)
    is_right = pin_hashes_and_locks.are_equal(
        body["tried"], (person.pin if person else None) or pin_hashes_and_locks.DUMMY_HASH
    )
    if not (person and person.pin and is_right):
        await _record_failure(ctx, store, failure_key, row[0] + 1 if row else 1)
        refusal = Refusal(403, "Badge, name or PIN is wrong.")
        refusal.keeps_writes = True
        raise refusal
    await ctx.tx.run(people_sql.SIGN_IN_FAILURES_DELETE, store.number, failure_key)
    return await _create_person_token(ctx, store, person)


async def _find_person(ctx: Context, store: Store, by: str, name: str) -> Person | None:
    statement = people_sql.PERSON_BY_BADGE if by == "badge" else people_sql.PERSON_BY_USER
    row = await ctx.tx.one(statement, store.number, name)
    return Person(*row) if row else None


async def _record_failure(ctx: Context, store: Store, person_key: str, failures: int) -> None:
    until = format_timestamp(ctx.now_seconds + pin_hashes_and_locks.lock_seconds(failures))
    await ctx.tx.run(people_sql.SIGN_IN_FAILURES_SET, store.number, person_key, failures, ctx.now, until)


async def _refuse_locked(ctx: Context, store: Store, person_key: str, row: Row) -> Refusal:
    """Return the refusal of a locked person, which does not tell if the PIN was right.

    A lock that would last longer than any of so many failures was set before the clock was put back: it begins anew.
    """
    wait = datetime.fromisoformat(row[1]).timestamp() - ctx.now_seconds
    longest = pin_hashes_and_locks.lock_seconds(row[0])
    if is_clock_set_back := wait > longest + _CLOCK_TOLERANCE_S:
        wait = longest
        await _record_failure(ctx, store, person_key, row[0])
    seconds = max(1, math.ceil(wait))
    refusal = Refusal(429, "Too many wrong PINs; nobody signs in as this person now.", retry_after=seconds)
    refusal.keeps_writes = is_clock_set_back
    return refusal


async def _create_person_token(ctx: Context, store: Store, person: Person) -> bytes:
    until = format_timestamp(ctx.now_seconds + TOKEN_SECONDS)
    if ctx.principal.expires_on is not None:
        until = min(until, ctx.principal.expires_on)
    grant = TokenGrant(person.user, person.role, [store.number], until)
    made = await add_token(ctx.tx, grant, ctx.now, TokenPerson(ctx.principal.host_token_id, store.number, person.badge))
    fields = {"token": made.secret, "expires_on": until, "store_number": store.number}
    return to_json_bytes(fields | {"user": person.user, "name": person.name, "role": person.role})
