"""The way of a request through the service: who asks, what for, in one transaction, answered once (README: Answers).

A read is authenticated and answered in one transaction. A write is authenticated before its body is taken, unless that
was done a moment ago, and always in the transaction that carries it out. With an `Idempotency-Key` the key, all effects
and the answer are stored together, so a repeat finds either nothing or the answer, also after a crash. Keys belong to a
store and not to a token: who sends again after the token was replaced sends the same request. Where no store is named
they belong to the token.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import partial
from typing import Any, TypeVar

from starlette.background import BackgroundTask
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from aisle.service import request as wire
from aisle.service.access import NOTES
from aisle.service.ahead import questions
from aisle.service.answers import JSON, PROBLEM, Refusal, forbidden, malformed
from aisle.service.asked import Answer, Asked, Operation
from aisle.service.context import Call, Context, Principal
from aisle.service.doorstep import Doorstep, Errand, Guest
from aisle.service.limits import KEYS_KEPT_DAYS, Buckets, Rates
from aisle.service.once import once
from aisle.service.reach import reach
from aisle.service.scope import ScopedTx
from aisle.service.sql import core
from aisle.service.storage import Busy, Lost, Statement, Storage, Tx, Unfit
from aisle.service.times import Clock, moment
from aisle.service.tokens import arrive, entrance, hashed, not_entered
from aisle.service.turns import Turn, Turns
from aisle.service.zones import HOST, Zones

log = logging.getLogger("aisle.service")

# So long a host may be away and still be told whether the database was put back from an earlier copy meanwhile.
HISTORY_DAYS = 60
# A token's last use is noted at most so often, so that reading does not come to writing each time.
_USE_NOTED_EVERY = 600.0
# Tokens of people that ended, and wrong PINs, are remembered for so long.
_ENDED_KEPT_S = 86400.0

T = TypeVar("T")


class Gate:
    """Carries operations out over a storage."""

    def __init__(
        self,
        storage: Storage,
        clock: Clock,
        rates: Rates,
        zones: Zones = HOST,
        *,
        lenient: bool = False,
        keys_days: int = KEYS_KEPT_DAYS,
    ) -> None:
        self.storage = storage
        self._keys_days = keys_days
        self.lenient = lenient
        """Whether parameters that an operation does not have are ignored."""
        self.clock = clock
        self._tokens = Buckets(rates.token)
        self._strangers = Buckets(rates.stranger)
        self._bytes = Buckets(rates.token_bytes if rates.token else 0)
        self._sign_ins = Buckets(rates.sign_in)
        self._turns = Turns()
        self._doorstep = Doorstep()
        self._zones = zones

    async def answer(self, operation: Operation, request: Request) -> Response:
        """The response to a request, whatever happens."""
        notes: dict[str, Any] = request.scope.setdefault(NOTES, {})
        notes["operation"] = operation.name
        try:
            heads = _heads(request)
            asked = self._asked(operation, request, heads)
            if operation.write:
                principal, answer = await self._write(operation, request, heads, asked, notes)
            else:
                principal, answer = await self._read(operation, asked, notes)
        except Refusal as refusal:
            return refused(self._stranger(request, refusal))
        except (Busy, Lost) as problem:
            return response(Answer(503, Refusal(503, str(problem)).body()))
        except Unfit as problem:
            return refused(Refusal(422, str(problem)))
        except ClientDisconnect:
            # Nobody hears this; it was not all there, so nothing was begun, and nothing failed here.
            return response(Answer(400, malformed("The request ended before its body did.").body()))
        except asyncio.CancelledError:
            raise
        except Exception:
            log.exception("%s failed; request %s", operation.name, notes.get("request", ""))
            return response(Answer(500, Refusal(500, "The service failed; it may or may not have been done.").body()))
        if answer.replayed:
            notes["replayed"] = True
        answered = response(answer)
        answered.background = self._notes(principal, asked.now)
        return answered

    def _asked(self, operation: Operation, request: Request, heads: Mapping[str, str]) -> Asked:
        now = self.clock()
        secret = wire.secret_of(heads)
        try:
            call = Call(
                wire.path_values(request),
                wire.query_values(request.scope["query_string"], operation.params, lenient=self.lenient),
                header=wire.header_values(heads, operation.params),
            )
            if not operation.write:
                return Asked(secret, call, None, now)
            return Asked(
                secret,
                call,
                None,
                now,
                key=wire.idempotency_key(heads),
                occurred_on=wire.occurred_on(heads, now),
                app_user=wire.app_user(heads),
                terminal=wire.terminal(heads),
                if_match=wire.versions(heads),
                ahead=wire.clock_ahead(heads),
                follows=wire.follows(heads),
                replay=wire.replay(heads),
            )
        except Refusal as problem:
            return Asked(secret, Call({}, {}), problem, now)

    def _stranger(self, request: Request, refusal: Refusal) -> Refusal:
        """Who has no good token may guess only so often, wherever he comes from."""
        if refusal.status != 401:
            return refusal
        try:
            self._strangers.take(request.client.host if request.client else "")
        except Refusal as too_often:
            return too_often
        return refusal

    async def _read(self, operation: Operation, asked: Asked, notes: dict[str, Any]) -> tuple[Principal, Answer]:
        async def work(tx: Tx) -> tuple[Principal, Answer]:
            ctx = await self._enter(tx, operation, asked, notes)
            body = await operation.handler.run(ctx, asked.call)
            notes["user"] = ctx.app_user
            return ctx.principal, Answer(200, body, headers=ctx.headers)

        return await self.storage.read(work)

    async def _write(
        self, operation: Operation, request: Request, heads: Mapping[str, str], asked: Asked, notes: dict[str, Any]
    ) -> tuple[Principal, Answer]:
        async with self._turns.turn() as turn:
            return await self._write_in_turn(operation, request, heads, asked, notes, turn)

    async def _write_in_turn(
        self,
        operation: Operation,
        request: Request,
        heads: Mapping[str, str],
        asked: Asked,
        notes: dict[str, Any],
        turn: Turn,
    ) -> tuple[Principal, Answer]:
        errand = Errand(hashed(asked.secret), operation.name, asked.call.path.get("store_number"))
        raw, body = await self._taken(operation, request, heads, asked, errand, notes, turn)
        what = (request.method, request.scope["path"], request.scope["query_string"], raw)
        print_ = wire.fingerprint(*what, heads) if asked.key else ""
        call = await self._prepared(operation, asked, asked.call._replace(body=body))
        whole = asked._replace(call=call, fingerprint=print_)

        async def work(tx: Tx) -> tuple[Principal, Answer | Refusal]:
            await tx.ahead(_questions(operation, errand, whole))
            ctx = await self._enter(tx, operation, whole)
            notes["user"] = ctx.app_user
            try:
                return ctx.principal, await once(
                    ctx, operation, whole, lambda kept: wire.same_print(kept, print_, *what)
                )
            except Refusal as refusal:
                if not refusal.counted:
                    raise
                return ctx.principal, refusal

        try:
            principal, answer = await self.storage.write(work, stores=reach(operation.name, whole.call))
        except Refusal as refusal:
            if refusal.status in (401, 403):
                self._doorstep.turn_away(errand)
            raise
        if isinstance(answer, Refusal):
            raise answer
        return principal, answer

    async def _taken(
        self,
        operation: Operation,
        request: Request,
        heads: Mapping[str, str],
        asked: Asked,
        errand: Errand,
        notes: dict[str, Any],
        turn: Turn,
    ) -> tuple[bytes, Any]:
        """The body of a write, as it came and as plain values, taken from those alone who may ask for it."""

        async def knock(tx: Tx) -> Context:
            return await self._enter(tx, operation, asked, notes)

        async def knock_again(tx: Tx) -> Context:
            return await self._enter(tx, operation, asked)

        assert operation.adapter is not None
        guest = None if asked.problem else self._doorstep.known(errand)
        try:
            if guest is None:
                ctx = await self.storage.read(knock)
                who = ctx.principal
                known = Guest(who.token_id, who.role, ctx.store.number if ctx.store else None)
                self._doorstep.let_in(errand, known)
            else:
                known = guest
                notes |= guest.notes()
                self._count(operation, guest.token_id)
            self._bytes.check(known.token_id)
            handler, took = operation.handler, partial(self._bytes.charge, known.token_id)
            begin = partial(turn.begin, known.token_id)
            raw = await wire.read_body(request.receive, heads, handler.limit_of(known.role), took, begin)
            await turn.carry_out()
            # What was lost on its way must not take away what it would have named.
            needed = asked.call.query.get("flush", False)
            most = handler.most_items(known.role)
            return raw, await wire.parsed_body(raw, operation.adapter, most, needed=needed)
        except Refusal:
            if guest is not None:
                # What is wrong with a request is told to nobody who may not ask any more, nor is another body taken.
                self._doorstep.turn_away(errand)
                await self.storage.read(knock_again)
            raise

    def _count(self, operation: Operation, token_id: str) -> None:
        """Raises Refusal (429) for a token that asks too often."""
        self._tokens.take(token_id)
        if operation.handler.guessed:
            self._sign_ins.take(token_id)

    async def _prepared(self, operation: Operation, asked: Asked, call: Call) -> Call:
        """The request as its handler wants it."""
        if operation.handler.prepare is None:
            return call

        async def reading(work: Callable[[Context], Awaitable[T]]) -> T:
            async def read(tx: Tx) -> T:
                return await work(await self._enter(tx, operation, asked))

            return await self.storage.read(read)

        return await operation.handler.prepare(reading, call)

    async def _enter(self, tx: Tx, operation: Operation, asked: Asked, notes: dict[str, Any] | None = None) -> Context:
        """Who asks, and whether they may. Raises Refusal: 401, 429, 403, then whatever is wrong with the request.

        The first time for a request with `notes`: it is counted, and noted.
        """
        now = moment(asked.now)
        handler, store_number = operation.handler, asked.call.path.get("store_number")
        arrival = await arrive(
            tx, asked.secret, now, roles=handler.roles, chain=handler.chain, store_number=store_number
        )
        principal, store = arrival.principal, arrival.store
        if notes is not None and "token" not in notes:
            notes |= {"token": principal.token_id, "role": principal.role}
            self._count(operation, principal.token_id)
        if not arrival.may:
            raise forbidden()
        if asked.problem:
            raise asked.problem
        if store_number is not None and store is None:
            raise await not_entered(tx, principal, store_number)
        if store and notes is not None:
            notes["store"] = store.number
        op_id = asked.key or _own_key(asked.now)
        return Context(
            ScopedTx(tx, principal, arrival.entered),
            principal,
            now,
            asked.now,
            op_id,
            asked.occurred_on or now,
            asked.app_user,
            store,
            asked.terminal,
            asked.if_match,
            asked.ahead,
            self._zones,
            asked.replay,
        )

    def _notes(self, principal: Principal, now: float) -> BackgroundTask | None:
        """Now and then, what is tidied once the answer is out: when the token was used, and keys to be forgotten.

        What was asked for is done by then, so nothing that happens here may reach who asked.
        """
        if principal.last_used_on is not None and principal.last_used_on >= moment(now - _USE_NOTED_EVERY):
            return None

        async def note(tx: Tx) -> None:
            await tx.run(core.ACCESS_USED, principal.token_id, moment(now))
            await tx.run(core.ANSWERS_FORGET, moment(now - self._keys_days * 86400))
            yesterday = moment(now - _ENDED_KEPT_S)
            await tx.run(core.HISTORY_FORGET, moment(now - HISTORY_DAYS * 86400))
            await tx.run(core.SAID_FORGET, moment(now - HISTORY_DAYS * 86400))
            await tx.run(core.FAILURES_FORGET, yesterday, moment(now))
            await tx.run(core.ACCESS_STORES_FORGET, yesterday)
            await tx.run(core.ACCESSES_FORGET, yesterday)

        async def noted() -> None:
            try:
                await self.storage.write(note, stores=())
            except Exception as problem:
                log.warning("The use of a token is noted another time: %s", type(problem).__name__)

        return BackgroundTask(noted)


def _own_key(now: float) -> str:
    """Names a write that was sent without a key. It begins with the time, so that what is written in one moment stands
    on the same pages of the database, and is stored with fewer of them."""
    return f"{int(now * 1_000_000):014x}{secrets.token_hex(9)}"


def _heads(request: Request) -> dict[str, str]:
    """The request's headers by their names, in small letters; of several of one name the first. Read once for all."""
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in reversed(request.scope["headers"])}


def _questions(operation: Operation, errand: Errand, asked: Asked) -> Iterator[Statement]:
    """What will be asked, before anybody knows whether it may be: who has no right hears none of the answers."""
    handler, store_number, now = operation.handler, errand.store_number, moment(asked.now)
    if store_number is not None:
        yield entrance(errand.token_hash, handler.roles, chain=handler.chain, store_number=store_number)
        if asked.key is not None:
            yield core.ANSWER_OF_KEY, (store_number, asked.key)
            if asked.follows:
                yield core.KEYS_KNOWN, (store_number, list(asked.follows))
        yield from questions(operation.name, store_number, asked.call, asked.occurred_on, now)


def refused(refusal: Refusal) -> Response:
    """The HTTP form of a refusal."""
    headers = {} if refusal.retry_after is None else {"Retry-After": str(refusal.retry_after)}
    return response(Answer(refusal.status, refusal.body(), headers=headers))


def response(answer: Answer) -> Response:
    """The HTTP form of an answer."""
    headers = dict(answer.headers)
    if answer.replayed:
        headers["Idempotency-Replayed"] = "true"
    if answer.status == 503:
        headers["Retry-After"] = "1"
    if answer.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return Response(answer.body, answer.status, headers, JSON if answer.status == 200 else PROBLEM)
