"""Idempotent writes: the key, all effects and the answer are committed together (README: Idempotency-Key)."""

from __future__ import annotations

import re

from aisle.service.auth.authorization import authorize_store
from aisle.service.db.database_interface import ConstraintViolated
from aisle.service.db.statements import changes_and_writes as writes_sql
from aisle.service.errors import Refusal, conflict, forbidden
from aisle.service.handlers.changes_lost_writes_and_audit import token_key, unknown_keys
from aisle.service.handlers.registry import OperationResult, ParsedRequest, ServedOperation, key_store, named_stores
from aisle.service.operation_context import CHAIN, Context, OperationCall

_LEG_KEY = re.compile(r"\bleg[._]")
"""Name of the ledger's key in the message of a violated constraint."""
_NO_STORE = {"Cache-Control": "no-store"}


async def run_once(ctx: Context, operation: ServedOperation, request: ParsedRequest) -> OperationResult:
    """Run a write, or return the stored answer of a repetition."""
    if operation.handler.has_secrets:
        body = await _run_handler(ctx, operation, request)
        return OperationResult(200, body, headers=_NO_STORE | ctx.response_headers)
    if request.headers.idempotency_key is None:
        return OperationResult(200, await _run_handler(ctx, operation, request), headers=ctx.response_headers)
    store_number = await _key_scope(ctx, request.call)
    key = request.headers.idempotency_key
    scope = (store_number, key if store_number != CHAIN else token_key(ctx, key, ctx.principal.person_store))
    kept = await ctx.tx.one(writes_sql.RESPONSE_OF_KEY, *scope)
    if kept is not None:
        if kept[0] != request.fingerprint:
            raise Refusal(422, "This key was used for another request.", "Idempotency-Key")
        await _authorize_named_stores(ctx, request.call)
        if kept[1] < 400 or not (request.headers.replay and ctx.store):
            return OperationResult(kept[1], bytes(kept[2]), is_replayed=True)
        # A late copy of this write was refused, although it was carried out before the restore.
        await ctx.tx.run(writes_sql.REFUSAL_DELETE, *scope)
    await _check_confirmed_keys(ctx, request, scope[0])
    try:
        async with ctx.tx.savepoint():
            body = await _run_handler(ctx, operation, request, scope)
            return OperationResult(200, body, headers=ctx.response_headers)
    except Refusal as refusal:
        if (
            not refusal.is_deterministic or request.headers.replay
        ):  # A repeated write may only wait for those of others.
            raise
        answer = OperationResult(refusal.status, refusal.body())
    await ctx.tx.run(writes_sql.RESPONSE_ADD, *_stored_response(scope, request, answer, ctx.now))
    return answer


async def _check_confirmed_keys(ctx: Context, request: ParsedRequest, store_number: str) -> None:
    """Raise Refusal (425) if the database lacks a write that was confirmed to the sender.

    The database is then an earlier copy, and the sender must repeat the missing writes before those that follow from
    them.
    """
    if request.headers.confirmed_keys and await unknown_keys(ctx, store_number, request.headers.confirmed_keys):
        raise Refusal(
            425, "The service was restored from an earlier copy; what it lost has to come first.", retry_after=1
        )


def _stored_response(
    scope: tuple[str, str], request: ParsedRequest, result: OperationResult, now: str
) -> tuple[object, ...]:
    return (*scope, request.fingerprint, result.status, result.body, now)


async def _run_handler(
    ctx: Context, operation: ServedOperation, request: ParsedRequest, scope: tuple[str, str] | None = None
) -> bytes:
    """Run the handler and return its body. With a scope the answer is stored under its key with the last writes."""
    try:
        body = await operation.handler.run(ctx, request.call)
        if scope is not None:
            ctx.defer(writes_sql.RESPONSE_ADD, [_stored_response(scope, request, OperationResult(200, body), ctx.now)])
        await ctx.write_deferred()
    except ConstraintViolated as problem:
        if request.headers.idempotency_key is None or not _LEG_KEY.search(str(problem).partition("\n")[0]):
            raise
        # The stored answer is purged, but the ledger knows the key, so that the write still happens once.
        raise conflict("This was carried out before; its answer is no longer kept.", "Idempotency-Key") from problem
    return body


async def _key_scope(ctx: Context, call: OperationCall) -> str:
    """Return the store of a key: that of the path, otherwise the first in the body, otherwise the chain.

    Raise Refusal (403) if the token does not cover it.
    """
    if ctx.store:
        return ctx.store.number
    number = key_store(call)
    if number != CHAIN and not ctx.principal.all_stores:
        await authorize_store(ctx.tx, ctx.principal, number)
    return number


async def _authorize_named_stores(ctx: Context, call: OperationCall) -> None:
    """Raise Refusal (403) unless the token still covers the stores of a stored answer."""
    if ctx.store:
        return
    for number in sorted({number or "" for number in named_stores(call)}):
        if number:
            await authorize_store(ctx.tx, ctx.principal, number)
        elif not ctx.principal.all_stores:
            raise forbidden()
