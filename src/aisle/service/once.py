"""A write, carried out once: its key, all its effects and the answer are stored together (README: Idempotency-Key)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aisle.service.answers import Refusal, conflict, forbidden
from aisle.service.asked import Answer, Asked, Operation
from aisle.service.context import CHAIN, Call, Context
from aisle.service.reach import named_stores
from aisle.service.sql import core
from aisle.service.storage import Duplicate
from aisle.service.tokens import enter

_SECRET = {"Cache-Control": "no-store"}


async def once(ctx: Context, operation: Operation, asked: Asked, same: Callable[[str], bool]) -> Answer:
    """Carry a write out, or answer a repeat with what was answered the first time."""
    if operation.handler.secret:
        return Answer(200, await _carried_out(ctx, operation, asked), headers=_SECRET)
    if asked.key is None:
        return Answer(200, await _carried_out(ctx, operation, asked))
    store_number = await _scope(ctx, asked.call)
    scope = (store_number, asked.key if store_number != CHAIN else _of_token(ctx, asked.key))
    kept = await ctx.tx.one(core.ANSWER_OF_KEY, *scope)
    if kept is not None:
        if not same(kept[0]):
            raise Refusal(422, "This key was used for another request.", "Idempotency-Key")
        await _check_rows(ctx, asked.call)
        if kept[1] < 400 or not (asked.replay and ctx.store):
            return Answer(kept[1], bytes(kept[2]), replayed=True)
        await ctx.tx.run(core.REFUSAL_DROP, *scope)  # a late copy of it was refused here: it was carried out once
    await _check_followed(ctx, asked, scope[0])
    try:
        async with ctx.tx.savepoint():
            return Answer(200, await _carried_out(ctx, operation, asked, scope))
    except Refusal as refusal:
        if not refusal.deterministic or asked.replay:  # what was carried out once may only wait for what others bring
            raise
        answer = Answer(refusal.status, refusal.body())
    await ctx.tx.run(core.ANSWER_KEEP, *_kept(scope, asked, answer, ctx.now))
    return answer


async def _check_followed(ctx: Context, asked: Asked, store_number: str) -> None:
    """Raises Refusal (425) where the database lacks what was confirmed to the sender before: it is an earlier copy, and
    the sender has to say again what is missing before anything that follows from it."""
    if asked.follows and await unknown_keys(ctx, store_number, asked.follows):
        raise Refusal(
            425, "The service was put back from an earlier copy; what it lost has to come first.", retry_after=1
        )


async def unknown_keys(ctx: Context, store_number: str, keys: Sequence[str]) -> list[str]:
    """Those of the keys under which nothing was ever carried out here, for this store or for the chain."""
    left = await _unknown_in(ctx, store_number, list(keys))
    if not left:
        return left
    kept = {_of_token(ctx, key): key for key in left}
    return [kept[name] for name in await _unknown_in(ctx, CHAIN, list(kept))]


def _of_token(ctx: Context, key: str) -> str:
    """What a key is kept under that belongs to no store: the token's own, with which go the stores that it is for."""
    return f"{key}@{ctx.principal.parent_id or ctx.principal.token_id}"


async def _unknown_in(ctx: Context, scope: str, keys: list[str]) -> list[str]:
    known = {row[0] for row in await ctx.tx.all(core.KEYS_KNOWN, scope, keys)}
    return [key for key in keys if key not in known]


def _kept(scope: tuple[str, str], asked: Asked, answer: Answer, now: str) -> tuple[object, ...]:
    return (*scope, asked.fingerprint, answer.status, answer.body, now)


async def _carried_out(ctx: Context, operation: Operation, asked: Asked, scope: tuple[str, str] | None = None) -> bytes:
    """The answer's body; with a scope it is kept for its key, written with the last of what was done."""
    try:
        body = await operation.handler.run(ctx, asked.call)
        if scope is not None:
            ctx.later(core.ANSWER_KEEP, [_kept(scope, asked, Answer(200, body), ctx.now)])
        await ctx.finish()
    except Duplicate as problem:
        if asked.key is None:
            raise
        # The stored answer is forgotten some day, the ledger is not: it happens once, even so.
        raise conflict("This was carried out before; its answer is no longer kept.", "Idempotency-Key") from problem
    return body


async def _scope(ctx: Context, call: Call) -> str:
    """Under which store a key is kept: the path's, else the first of those named in the body, else the chain, where it
    is the token's own.

    Raises Refusal (403) where it is none of the token's.
    """
    if ctx.store:
        return ctx.store.number
    number = min((number for number in named_stores(call) if number), default=CHAIN)
    if number != CHAIN and not ctx.principal.all_stores:
        await enter(ctx.tx, ctx.principal, number)
    return number


async def _check_rows(ctx: Context, call: Call) -> None:
    """Who hears a stored answer has to have a right to it today. Raises Refusal (403)."""
    if ctx.store:
        return
    for number in sorted({number or "" for number in named_stores(call)}):
        if number:
            await enter(ctx.tx, ctx.principal, number)
        elif not ctx.principal.all_stores:
            raise forbidden()
