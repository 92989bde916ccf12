"""Execution of an operation: authorization, one transaction, one answer, stored under the key of the request.

A read is authorized and answered in one transaction. A write is authorized before its body is read, and again in its
own transaction.

With an `Idempotency-Key` the key, all effects and the answer are committed together. A repetition finds either nothing
or the answer, also after a crash. Keys belong to a store and not to a token, so that a replaced token does not make a
request new. Without a store they belong to the token.
"""

from __future__ import annotations

import asyncio
import logging
import math
import re
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from starlette.background import BackgroundTask
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from aisle.caller_addresses import address_key
from aisle.contract.request_bodies.extension_bodies import request_body_adapter
from aisle.server.caller_turns import KNOW_CLIENT, Caller
from aisle.service.app_options_and_limits import ServiceOptions
from aisle.service.auth.authorization import (
    StoreScopedTransaction,
    TokenRefused,
    authorize,
    authorize_store,
    store_refusal,
)
from aisle.service.auth.tokens_and_pins import WEB_CHANNEL, hash_secret
from aisle.service.db.database_interface import (
    CALLER,
    Busy,
    ConstraintViolated,
    Database,
    DatabaseFailed,
    KnownCallers,
    ResultTooLong,
    TooManyWaiting,
    Transaction,
    ValueTooLong,
)
from aisle.service.db.statements import logs_and_changes as writes_sql
from aisle.service.db.statements import people_and_tokens as tokens_sql
from aisle.service.domain.quantities_times_and_json import format_timestamp, zone_header
from aisle.service.errors import JSON_TYPE, PROBLEM_TYPE, Refusal, bad_request, conflict, forbidden
from aisle.service.handlers.changes_lost_writes_and_audit import token_key, unknown_keys
from aisle.service.handlers.registry import (
    OperationResult,
    ParsedRequest,
    ServedOperation,
    key_store,
    locked_stores,
    named_stores,
)
from aisle.service.http import parameters_and_headers, request_body
from aisle.service.http.access_and_service_logs import REQUEST_RECORD, RequestNotes
from aisle.service.http.rate_limit_and_turns_of_large_bodies import SMALL, HeldBytes, RateLimiter, Turn, Turns
from aisle.service.operation_context import CHAIN, Context, OperationCall, Principal
from aisle.service.retention import delete_expired

log = logging.getLogger("aisle.service")

# Minimum seconds between two updates of a token's last use, so that not every read causes a write; and between two
# deletions of expired rows by one process.
_HOUSEKEEPING_INTERVAL_S = 300.0

# Delay in seconds of the refusal for too many waiting reads, which slows down callers that repeat at once.
_TOO_MANY_WAIT_S = 1.0

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Exchange:
    """Request for an operation with its headers, its parsed parts and its record in the access log."""

    operation: ServedOperation
    request: Request
    headers: Mapping[str, str]
    parsed: ParsedRequest
    notes: RequestNotes


class OperationEndpoint:
    """Endpoint that runs operations over a database."""

    def __init__(self, database: Database, options: ServiceOptions) -> None:
        self.database = database
        self.clock = options.clock
        self.lenient = options.lenient
        """True if unknown query parameters are ignored."""
        limits = options.rate_limits
        self._keys_days = options.keys_days
        self._time_zones = options.time_zones
        self._token_limiter = RateLimiter(limits.token)
        self._address_limiter = RateLimiter(limits.unauthenticated)
        self._bytes = RateLimiter(limits.token_bytes if limits.token else 0)
        self._sign_in_limiter = RateLimiter(limits.sign_in)
        self._callers = KnownCallers()
        self._turns = Turns()
        self._unread = HeldBytes("Answers")
        self._noted_tokens: set[str] = set()
        """Tokens whose use is being recorded."""
        self._deleted_at = -math.inf

    async def handle(self, operation: ServedOperation, request: Request) -> Response:
        """Return the response to a request, for every outcome."""
        notes: RequestNotes = request.scope.setdefault(REQUEST_RECORD, {})
        notes["operation"] = operation.name
        try:
            headers = _headers(request)
            parsed_request = self._parse(operation, request, headers)
            exchange = _Exchange(operation, request, headers, parsed_request, notes)
            # Its task may have begun in that of another caller.
            CALLER.set(self._callers.find(hash_secret(parsed_request.secret), _address_of(request)))
            if operation.operation.write:
                principal, answer = await self._write(exchange)
            else:
                principal, answer = await self._read(exchange)
            answered = result_response(answer)
            if not operation.operation.write:
                answered = self._held_until_sent(request, principal, answered)
        except Refusal as refusal:
            if isinstance(refusal, TokenRefused):
                self._callers.remove(hash_secret(parsed_request.secret))
                _note_refused_token(refusal, request, notes)
            return refusal_response(self._limit_unauthenticated(request, refusal))
        except TooManyWaiting as problem:
            await asyncio.sleep(_TOO_MANY_WAIT_S)
            return refusal_response(Refusal(429, str(problem), retry_after=1))
        except (Busy, DatabaseFailed, ResultTooLong, ValueTooLong) as problem:
            status = {ResultTooLong: 413, ValueTooLong: 422}.get(type(problem), 503)
            return refusal_response(Refusal(status, str(problem), "page_size" if status == 413 else None))
        except ClientDisconnect:
            # Its request was incomplete or waited for its turn, so nothing was started.
            return refusal_response(bad_request("The client ended the request before it was started."))
        except asyncio.CancelledError:
            raise
        except Exception:
            log.exception("%s failed; request %s", operation.name, notes.get("request", ""))
            return refusal_response(Refusal(500, "The service failed; it may or may not have been done."))
        if answer.is_replayed:
            notes["replayed"] = True
        answered.background = self._housekeeping(principal, parsed_request.received_at)
        return answered

    def _held_until_sent(self, request: Request, principal: Principal, response: Response) -> Response:
        """Count a long answer until its client has read it. Raise Refusal if too many bytes are unread."""
        if len(response.body) <= SMALL:
            return response
        held = principal.host_token_id, _address_of(request), len(response.body)
        self._unread.add(*held)
        return _CountedResponse(response, partial(self._unread.remove, *held))

    def _parse(self, operation: ServedOperation, request: Request, headers: Mapping[str, str]) -> ParsedRequest:
        parsed = ParsedRequest(parameters_and_headers.bearer_token(headers), self.clock())
        try:
            call = OperationCall(
                parameters_and_headers.path_values(request),
                parameters_and_headers.query_values(
                    request.scope["query_string"], operation.params, lenient=self.lenient
                ),
                header=parameters_and_headers.header_values(headers, operation.params),
            )
            if not operation.operation.write:
                return parsed._replace(call=call)
            return parsed._replace(call=call, headers=parameters_and_headers.write_headers(headers, parsed.received_at))
        except Refusal as problem:
            return parsed._replace(refusal=problem)

    def _limit_unauthenticated(self, request: Request, refusal: Refusal) -> Refusal:
        """Count a refusal without a valid token by address, so that tokens cannot be guessed."""
        if refusal.status != 401:
            return refusal
        try:
            self._address_limiter.count_request(_address_of(request))
        except Refusal as too_often:
            return too_often
        return refusal

    async def _read(self, exchange: _Exchange) -> tuple[Principal, OperationResult]:
        async def work(tx: Transaction) -> tuple[Principal, OperationResult]:
            ctx = await self._authorize(tx, exchange, is_first=True)
            body = await exchange.operation.handler.run(ctx, exchange.parsed.call)
            exchange.notes["user"] = ctx.app_user
            return ctx.principal, OperationResult(200, body, headers=ctx.response_headers)

        return await self.database.read(work)

    async def _write(self, exchange: _Exchange) -> tuple[Principal, OperationResult]:
        async with self._turns.turn(_address_of(exchange.request)) as turn:
            return await self._write_in_turn(exchange, turn)

    async def _write_in_turn(self, exchange: _Exchange, turn: Turn) -> tuple[Principal, OperationResult]:
        operation, request, asked = exchange.operation, exchange.request, exchange.parsed
        raw, body = await self._read_authorized_body(exchange, turn)
        fingerprint = parameters_and_headers.fingerprint(request, raw, exchange.headers)
        call = await self._run_before_transaction(exchange, asked.call._replace(body=body))
        full_request = asked._replace(call=call, fingerprint=fingerprint)

        async def work(tx: Transaction) -> tuple[Principal, OperationResult | Refusal]:
            ctx = await self._authorize(tx, exchange)
            exchange.notes["user"] = ctx.app_user
            try:
                return ctx.principal, await run_once(ctx, operation, full_request)
            except Refusal as refusal:
                if not refusal.keeps_writes:
                    raise
                return ctx.principal, refusal

        principal, answer = await self.database.write(work, stores=locked_stores(operation.name, call))
        if isinstance(answer, Refusal):
            raise answer
        return principal, answer

    async def _read_authorized_body(self, exchange: _Exchange, turn: Turn) -> tuple[bytes, Any]:
        """Return the body of a write, raw and parsed. It is read only if the caller may run the operation."""
        operation, call = exchange.operation, exchange.parsed.call
        ctx = await self.database.read(partial(self._authorize, exchange=exchange, is_first=True))
        token_id = ctx.principal.host_token_id
        CALLER.set(_caller_of(ctx.principal))
        self._bytes.check(token_id)
        took, begin = partial(self._bytes.charge, token_id), partial(turn.begin, token_id)
        raw = await request_body.read_body(exchange.request.receive, exchange.headers, took, begin)
        if await turn.wait_to_run() and await exchange.request.is_disconnected():
            raise ClientDisconnect
        # An empty body must not delete everything that a lost one would have named.
        needed = call.query.get("flush", False)
        return raw, await request_body.parsed_body(raw, request_body_adapter(operation.operation), needed=needed)

    def _count_request(self, operation: ServedOperation, principal: Principal, call: OperationCall) -> None:
        """Raise Refusal (429) if a token sends too many requests."""
        self._token_limiter.count_request(principal.token_id)
        if operation.handler.limits_attempts:
            # Guesses through the web must not use up the attempts of the terminals in the store.
            is_web = call.header.get("Aisle-Door", "").lower() == WEB_CHANNEL
            token_id = principal.host_token_id
            self._sign_in_limiter.count_request(f"{token_id} {WEB_CHANNEL}" if is_web else token_id)

    async def _run_before_transaction(self, exchange: _Exchange, call: OperationCall) -> OperationCall:
        """Run the handler's step before the transaction."""
        if exchange.operation.handler.before_transaction is None:
            return call

        async def reading(work: Callable[[Context], Awaitable[T]]) -> T:
            async def read(tx: Transaction) -> T:
                return await work(await self._authorize(tx, exchange))

            return await self.database.read(read)

        return await exchange.operation.handler.before_transaction(reading, call)

    async def _authorize(self, tx: Transaction, exchange: _Exchange, *, is_first: bool = False) -> Context:
        """Authorize the request. Raise Refusal: 401, 429, 403, then what is wrong with the request.

        The operation has the time of its transaction: the request may have waited for its body or its turn. If
        `is_first`, the first call for a request counts it and notes the token.
        """
        operation, parsed_request, notes = exchange.operation, exchange.parsed, exchange.notes
        now_seconds = self.clock()
        now = format_timestamp(now_seconds)
        handler, store_number = operation.handler, parsed_request.call.path.get("store_number")
        arrival = await authorize(
            tx,
            parsed_request.secret,
            now,
            roles=handler.roles,
            needs_all_stores=handler.needs_all_stores,
            store_number=store_number,
        )
        principal, store = arrival.principal, arrival.store
        if is_first and "token" not in notes:
            notes |= {"token": principal.token_id, "role": principal.role}
            self._callers.add(hash_secret(parsed_request.secret), _caller_of(principal))
            if know_client := exchange.request.scope.get(KNOW_CLIENT):
                know_client()
            self._count_request(operation, principal, parsed_request.call)
        if not arrival.is_allowed:
            raise forbidden()
        if parsed_request.refusal:
            raise parsed_request.refusal
        if store_number is not None and store is None:
            refusal = await store_refusal(tx, principal, store_number)
            refusal.headers = zone_header(self._time_zones.zone_of(store_number)) if principal.all_stores else {}
            raise refusal
        if store and is_first:
            notes["store"] = store.number
        return Context(
            StoreScopedTransaction(tx, principal, arrival.authorized_stores),
            principal,
            now,
            now_seconds,
            parsed_request.headers.idempotency_key or _generate_key(parsed_request.received_at),
            parsed_request.headers.occurred_on or now,
            parsed_request.headers.app_user,
            store,
            parsed_request.headers,
            self._time_zones,
        )

    def _housekeeping(self, principal: Principal, now: float) -> BackgroundTask | None:
        """Return a task for after the answer: record the token's use, and now and then delete expired rows.

        The operation is committed by then, so errors of the task must not reach the caller.
        """
        token_id, interval = principal.token_id, _HOUSEKEEPING_INTERVAL_S
        is_recent = (principal.last_used_on or "") >= format_timestamp(now - interval)
        if is_recent:
            return None

        async def note(tx: Transaction) -> None:
            await tx.run(tokens_sql.TOKEN_USED_SET, token_id, format_timestamp(now))

        async def noted() -> None:
            if token_id in self._noted_tokens:
                return
            self._noted_tokens.add(token_id)
            try:
                await self.database.write(note, stores=())
                if not 0 <= now - self._deleted_at < interval:
                    self._deleted_at = now
                    await delete_expired(self.database, now, self._keys_days)
            except Exception as problem:
                log.warning("The use of a token is noted another time: %s", type(problem).__name__)
            finally:
                self._noted_tokens.discard(token_id)

        return BackgroundTask(noted)


def _generate_key(now: float) -> str:
    """Return a key for a write without one.

    It begins with the time, so that simultaneous writes share pages of the database and store fewer of them.
    """
    return f"{int(now * 1_000_000):014x}{secrets.token_hex(9)}"


class _CountedResponse(Response):
    """Response with a callback for its end, whether it was sent or failed."""

    def __init__(self, response: Response, sent: Callable[[], None]) -> None:
        super().__init__()
        self.status_code, self.body, self.raw_headers = response.status_code, response.body, response.raw_headers
        self._sent = sent

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        background, self.background = self.background, None
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._sent()
        if background is not None:
            await background()


def _note_refused_token(refusal: TokenRefused, request: Request, notes: RequestNotes) -> None:
    """Note the name of a refused token. One that is unknown has none, so the log says where it comes from."""
    if refusal.name:
        notes["refused_token"] = refusal.name
    elif refusal.is_unknown:
        log.warning("unknown token refused from %s", _address_of(request))


def _caller_of(principal: Principal) -> Caller:
    """Return the caller of a token, from whatever address."""
    return Caller(principal.host_token_id, principal.token_id)


def _address_of(request: Request) -> str:
    """Return the key of the client's address."""
    return address_key(request.client.host) if request.client else ""


def _headers(request: Request) -> dict[str, str]:
    """Return the headers by lower-case name; of several with one name, the first. Called once per request."""
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in reversed(request.scope["headers"])}


def refusal_response(refusal: Refusal) -> Response:
    """Return the HTTP response of a refusal."""
    headers = {} if refusal.retry_after is None else {"Retry-After": str(refusal.retry_after)}
    return result_response(OperationResult(refusal.status, refusal.body(), headers={**refusal.headers, **headers}))


def result_response(result: OperationResult) -> Response:
    """Return the HTTP response of a result."""
    headers = dict(result.headers)
    if result.is_replayed:
        headers["Idempotency-Replayed"] = "true"
    if result.status == 503:
        headers["Retry-After"] = "1"
    if result.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return Response(result.body, result.status, headers, JSON_TYPE if result.status == 200 else PROBLEM_TYPE)


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
