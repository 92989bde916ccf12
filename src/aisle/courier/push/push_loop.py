"""Delivers the outbox: what may go goes, some at once, each lane in its order, nothing twice.

An operation is `sending`, durably, before its first byte leaves. What happens then is judged by `client.fate`: a doubt
is settled by sending the same bytes under the same key, where the service keeps keys, and by nobody else than a person
where it does not.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from aisle.client import Client, Outcome, Response, outcome_of
from aisle.client.base import parse_retry_after
from aisle.client.errors import ClientError, InvalidResponse, RateLimited, ServerError, StatusError, Unauthorized
from aisle.courier.link_state import MAX_PAUSE_S, LinkState
from aisle.courier.push.decide_arrival import EMPTY_RESPONSE, OMITTED_LINE
from aisle.courier.push.pre_push_checks import AdaptedOperation, StaleOperation, excess_of_response
from aisle.courier.push.request import PushSettings, is_extension, request_body, request_headers, send_extension
from aisle.courier.push.user_tokens import TokenStore
from aisle.courier.response_outcome import (
    RequestResult,
    is_empty_success,
    is_from_intermediary,
    lacks_service_mark,
    reason_of,
)
from aisle.courier.schedule import ORDER_READS, RandomSource, Sleep, WakeEvent, backoff_s
from aisle.courier.service_features import Features
from aisle.errors import ContractError, SettingsError
from aisle.outbox.operation_queue import OperationQueue, is_splittable
from aisle.outbox.operation_record import UPDATE_ORDER, Operation
from aisle.outbox.operation_state import IllegalTransition
from aisle.outbox.outcome_reasons import NO_MESSAGE, StoredMessage, is_stored_message, read_message, store_message
from aisle.outbox.rebase_excess import EXCESS

MAX_IN_FLIGHT = 4
"""Requests in flight: as many as the client keeps connections for writes."""
MAX_TRIES = 50
"""So often an operation is sent that no answer settles; then a person has to see what is the matter."""
MAX_TRYING_S, _MIN_TRIES = 86400.0, 10
"""A day of trying is enough too, if it was tried so often in it: a service may have been away for most of it."""
MAX_PLAIN_TRIES = 8
"""So often what a service without features refuses in plain text is tried: it may have been somebody on the way."""
_MAX_IMMEDIATE_RETRIES = 3
"""So often an operation is sent until one that a courier's end cut short is not taken up at once any more."""
FIRST_LOOKUP_S = 2.0
"""A doubt is looked into after so many seconds."""
KEY_MARGIN_S = 86400.0
"""So long before the service may forget a key, nobody relies on it any more."""
KEYS_TRUST_S = 120.0
"""So long after a service has announced its keys, an answer that does not may be somebody's on the way."""
LOST_CONFIRMED_STATUS = 425
"""The status of a service that lacks what it confirmed before."""
MAX_CONFIRMED_KEYS = 4
"""So many of the keys that were confirmed last are named with each write: as many may be in flight at once."""
_RESTORE_GRACE_S = {409: 900.0, 404: 5400.0, 422: 5400.0}
"""So long after a restore what the service refuses may wait: for what other hosts have to say again (409), and for
orders and products that have to be loaded again (404, 422)."""
RESTORE_RETRY_S = 10.0
"""How often it is tried then."""
_MAX_STORED_BYTES = 2000
"""Bytes; of a longer answer only that is kept which is read later."""
_STORED_FIELDS = ("left", "carried", "data")
_PLAIN_REFUSAL = "told.plain"


class PushEvents(NamedTuple):
    """Who has a word before an operation goes, who wants to hear what became of it, and who tries the door."""

    evidence_before: Callable[[Operation], Awaitable[Mapping[str, Any] | None]]
    """What was read before it goes, to be kept with it; None for nothing. May raise ClientError: then it is not sent
    now."""
    adapt: Callable[[Operation, Features], AdaptedOperation]
    """The operation as this service has to be told it; the operation itself where nothing has to be fitted."""
    needs_lookup: Callable[[Operation], bool]
    """It was confirmed in no words: whether it is looked for before that is believed."""
    on_confirmed: Callable[[Operation], None]
    on_refused: Callable[[Operation, StoredMessage], None]
    on_in_doubt: Callable[[Operation, StoredMessage], None]
    check_service: Callable[[], Awaitable[bool]]
    is_link_failure: Callable[[Exception, str], Awaitable[bool]]
    """Whether what ended a read of that list keeps all else from being read, too."""
    on_restore: Callable[[], None] = lambda: None
    """The service lacks what it confirmed before."""


class PushLoop:
    """The sending half of the courier."""

    def __init__(
        self,
        outbox: OperationQueue,
        client: Client,
        link: LinkState,
        events: PushEvents,
        token_store: TokenStore,
        *,
        clock: Callable[[], float],
        sleep: Sleep,
        random_source: RandomSource,
        push_settings: PushSettings = PushSettings(),  # noqa: B008 - a tuple
        settling_s: Callable[[], float] | None = None,
    ) -> None:
        """`settle_s`: after how many seconds absence is believed, where that was learnt; else as `care` says."""
        self.is_stopping = False
        """Nothing new is sent."""
        self.wake_event = WakeEvent(sleep)
        self._outbox = outbox
        self._client = client
        self._link = link
        self._events = events
        self._token_store = token_store
        self._clock = clock
        self._random_source = random_source
        self._push_settings = push_settings
        self._settling_s = settling_s or (lambda: push_settings.settling_s)
        self._checked_at = 0.0
        """When it was last looked what may go."""
        self._pause_s = 0.0
        """The patience of which it was not looked then: asked for twice, it may end in between."""
        self._running: dict[str, asyncio.Task[None]] = {}
        self._postponed: dict[str, int] = {}
        """How often on end what had to be read before an operation could not be."""
        self._rate_limited: dict[str, int] = {}
        """How often on end patience was asked there."""

    @property
    def in_flight(self) -> tuple[str, ...]:
        """The operations whose requests are under way."""
        return tuple(self._running)

    def recover_sending(self) -> None:
        """Takes up what was left in `sending`: what went under a key goes again under it, all else is in doubt."""
        for op in self._outbox.interrupted():
            if op.op_id in self._running:
                continue
            if op.keyed:
                self._outbox.retry_later(op.op_id, store_message("told.courier_ended"), self._restart_retry_at(op))
            else:
                self._mark_in_doubt(op, store_message("told.courier_ended"))

    def _restart_retry_at(self, op: Operation) -> float:
        """At once; later and later where couriers end again and again, or all tries would be used up in a moment."""
        return (
            0 if op.attempts < _MAX_IMMEDIATE_RETRIES else self._clock() + backoff_s(op.attempts, self._random_source())
        )

    async def run(self) -> None:
        """Delivers for ever; cancelled, it lets go of what is in flight. Raises StorageError."""
        self.recover_sending()
        try:
            while True:
                self.send_ready()
                await self.wake_event.wait(self._next_wait_s())
        except asyncio.CancelledError:
            await self._cancel_running()
            raise
        except Exception:
            await self.wait_until_finished()  # what is wrong with one is no reason to lose sight of the others
            self._running.clear()
            raise

    async def push_all(self) -> None:
        """Delivers until nothing may go any more; what waits for its time or for the link stays."""
        try:
            self.send_ready()
            while self._running:
                await self.wake_event.wait(None)
                self.send_ready()
        finally:
            await self._cancel_running()

    async def wait_until_finished(self) -> None:
        """Returns when nothing is in flight any more; starts nothing."""
        await asyncio.gather(*self._running.values(), return_exceptions=True)

    def send_ready(self) -> None:
        """Puts in flight what may go, as far as there is room. Raises what ended a flight that should not have."""
        self._collect_finished()
        self._pause_s = self._link.pause_s
        if self.is_stopping or self._pause_s or not self._link.can_write or len(self._running) >= MAX_IN_FLIGHT:
            return
        self._checked_at = self._clock()
        room = MAX_IN_FLIGHT - len(self._running)
        for op in self._outbox.sendable(room, self._token_store.usable_principals, exclude=self._running):
            flight = asyncio.create_task(self._push(op), name=f"deliver {op.op_id}")
            self._running[op.op_id] = flight
            flight.add_done_callback(lambda _: self.wake_event.set())

    def _collect_finished(self) -> None:
        for op_id, flight in list(self._running.items()):
            if flight.done():
                del self._running[op_id]
                flight.result()

    async def _cancel_running(self) -> None:
        flights = list(self._running.values())
        for flight in flights:
            flight.cancel()
        await asyncio.gather(*flights, return_exceptions=True)
        self._running.clear()

    def _next_wait_s(self) -> float | None:
        """Seconds until something may go that waits for its time; None when only a ring can change anything."""
        if self._pause_s:
            return self._pause_s
        due = (
            self._outbox.next_due_at(self._checked_at)
            if self._link.can_write and len(self._running) < MAX_IN_FLIGHT
            else None
        )
        return None if due is None else due - self._clock()

    async def _push(self, op: Operation) -> None:
        features = self._link.features
        if features is None or self._waits_for_keys(op, features) or self._needs_person(op, features):
            return
        if not features.idempotency and is_splittable(op) and self._outbox.split_operation(op.op_id):
            return  # its items go in its place
        ready = await self._prepare(op, features)
        if ready is None:
            return
        content, token = ready
        outcome = await self._send(op, features, content, token)
        if token is not None and isinstance(outcome, Response) and outcome.status == 401:
            self._token_store.remove(op.principal, token)  # it says nothing of the store's, and nothing was done
            self._outbox.retry_later(op.op_id, reason_of(outcome), 0, was_not_sent=True)
            return
        if isinstance(outcome, Response) and outcome.status == LOST_CONFIRMED_STATUS and features.known_keys:
            self._outbox.retry_later(
                op.op_id, store_message("told.restored"), self._clock() + FIRST_LOOKUP_S, was_not_sent=True
            )
            self._events.on_restore()
            return
        if isinstance(outcome, Response) and outcome.status == 403:
            if await self._events.check_service():
                self._record_outcome(op, features, outcome)
            else:
                self._handle_lost_access(op, outcome)
            return
        self._record_outcome(op, features, outcome)
        if is_from_intermediary(outcome, features):
            await self._events.check_service()

    async def _prepare(self, op: Operation, features: Features) -> tuple[bytes, str | None] | None:
        """Its bytes, durably on their way from now on, and the token they go with; None where it is not sent now."""
        try:
            evidence = await self._events.evidence_before(op)
            fit = self._events.adapt(op, features)
            afresh = fit.op is not op and not features.idempotency
            frozen = None if afresh else op.frozen
            left = fit.excess_lines if frozen is None else op.evidence.get(EXCESS, ())  # of the bytes that are sent
            more = {EXCESS: left} if left else {}
            if frozen is None and fit.omitted_line is not None:
                more[OMITTED_LINE] = fit.omitted_line
            if not self._token_store.can_send(op.principal):
                return None  # what was read for it took longer than the token lasts
            token = self._token_store.token_of(op.principal)
            content = self._outbox.begin_sending(
                op.op_id,
                frozen or request_body(fit.op, features, self._push_settings.reference),
                has_key=features.idempotency,
                evidence={**(evidence or {}), **more} if more else evidence,
                replace_frozen=afresh,
            )
            self._postponed.pop(op.op_id, None)
            self._rate_limited.pop(op.op_id, None)
            return None if content is None else (content, token)
        except InvalidResponse as error:
            self._postpone(op, reason_of(error))
        except (ClientError, SettingsError) as error:
            await self._handle_read_error(op, error)
        except ContractError as error:
            if isinstance(error, StaleOperation):
                self._mark_refused(op, error.reason, error.evidence)
            else:
                self._mark_refused(op, reason_of(error))
        return None

    async def _handle_read_error(self, op: Operation, error: Exception) -> None:
        """What has to be read before it goes could not be: for want of the service, or it alone while all else can."""
        if isinstance(error, RateLimited):
            if not await self._events.is_link_failure(
                error, ORDER_READS if op.operation == UPDATE_ORDER else op.operation
            ):
                self._postpone_rate_limited(op, error)
            return
        if isinstance(error, StatusError) and not isinstance(error, Unauthorized):
            await self._events.check_service()
        else:
            self._link.record_error(error)
        if self._link.can_write:
            self._postpone(op, reason_of(error), MAX_TRIES if isinstance(error, ServerError) else MAX_PLAIN_TRIES)

    def _postpone_rate_limited(self, op: Operation, error: RateLimited) -> None:
        """The service asks for patience at what has to be read before it goes: that is given, however often."""
        tries = self._rate_limited[op.op_id] = self._rate_limited.get(op.op_id, 0) + 1
        wait = max(backoff_s(tries, self._random_source()), min(error.retry_after or 0.0, MAX_PAUSE_S))
        self._outbox.postpone(op.op_id, reason_of(error), self._clock() + wait)

    def _waits_for_keys(self, op: Operation, features: Features) -> bool:
        """What may have arrived under a key is not taken to a person for one answer of a service without keys."""
        sent = op.keyed and op.first_sent_at is not None
        if not sent or features.idempotency or self._clock() - self._link.announced_at > KEYS_TRUST_S:
            return False
        self._outbox.postpone(
            op.op_id, store_message("told.key_gone"), self._clock() + backoff_s(op.attempts + 1, self._random_source())
        )
        return True

    def _needs_person(self, op: Operation, features: Features) -> bool:
        """What may have arrived is sent again by a machine only as long as the service is sure to keep its key."""
        if op.first_sent_at is None:
            return False
        tried_s = self._clock() - op.first_sent_at
        if op.attempts >= MAX_TRIES or (tried_s >= MAX_TRYING_S and op.attempts >= _MIN_TRIES):
            why = store_message("told.tried", count=op.attempts, why=read_message(op.last_error))
        elif op.keyed and not features.idempotency:
            why = store_message("told.key_gone")
        elif op.keyed and tried_s >= features.key_lifetime_s - KEY_MARGIN_S:
            why = store_message("told.key_old")
        elif (
            not features.idempotency
            and op.attempts >= MAX_PLAIN_TRIES
            and is_stored_message(op.last_error, _PLAIN_REFUSAL)
        ):
            why = store_message("told.refused_often", count=op.attempts, why=read_message(op.last_error))
        else:
            return False
        self._ask_person(op, why)
        return True

    def _postpone(self, op: Operation, reason: StoredMessage, max_tries: int = MAX_PLAIN_TRIES) -> None:
        """What has to be read before it goes makes no sense: later, and in the end it is for a person."""
        tries = self._postponed[op.op_id] = self._postponed.get(op.op_id, 0) + 1
        if tries < max_tries:
            self._outbox.postpone(op.op_id, reason, self._clock() + backoff_s(tries, self._random_source()))
            return
        del self._postponed[op.op_id]
        self._ask_person(op, store_message("told.unread_before", count=tries, why=read_message(reason)))

    def _ask_person(self, op: Operation, reason: StoredMessage) -> None:
        """From now on it is for a person."""
        with suppress(IllegalTransition):  # somebody has settled it, or said more in its place, while it was read for
            self._outbox.ask_person(op.op_id, reason, settling_s=self._settling_s())
            self._events.on_in_doubt(op, reason)

    async def _send(self, op: Operation, features: Features, content: bytes, token: str | None) -> RequestResult:
        follows = self._outbox.newest_keys(self._clock() - features.key_lifetime_s + KEY_MARGIN_S, MAX_CONFIRMED_KEYS)
        headers = request_headers(op, features, self._link.skew_s, [key for key in follows if key != op.op_id])
        try:
            if is_extension(op):
                return await send_extension(self._client, op, headers, content, token)
            return await self._client.request(
                op.operation, path=op.path, query=op.query, headers=headers, body=content, token=token
            )
        except (ClientError, ContractError, SettingsError) as error:
            return error

    def _handle_lost_access(self, op: Operation, response: Response) -> None:
        """The token lost the store: that is no judgement of the operation, and a day's work must not be lost to it."""
        self._link.record_refusal(reason_of(response))
        self._outbox.retry_later(
            op.op_id, reason_of(response), self._clock() + backoff_s(op.attempts + 1, self._random_source())
        )

    def _record_outcome(self, op: Operation, features: Features, result: RequestResult) -> None:
        """Writes down what became of it; nothing is awaited between the answer and this."""
        if isinstance(result, SettingsError):
            self._link.record_refusal(reason_of(result))
            self._outbox.retry_later(op.op_id, reason_of(result), 0)
            return
        fate = outcome_of(result)
        if fate in (Outcome.ACCEPTED, Outcome.REFUSED) and lacks_service_mark(result, features):
            fate = Outcome.UNKNOWN
        why = NO_MESSAGE if fate is Outcome.ACCEPTED else reason_of(result)
        if isinstance(result, Response) and is_from_intermediary(result, features):
            why = store_message(_PLAIN_REFUSAL, status=result.status, why=read_message(why))
        match Outcome.RETRY_LATER if fate is Outcome.REFUSED and is_from_intermediary(result, features) else fate:
            case Outcome.ACCEPTED if is_empty_success(result, features) and self._events.needs_lookup(op):
                evidence = {**self._outbox.get(op.op_id).evidence, EMPTY_RESPONSE: True}
                self._outbox.mark_in_doubt(
                    op.op_id, store_message("told.unsaid"), settling_s=self._settling_s(), evidence=evidence
                )
            case Outcome.ACCEPTED:
                assert isinstance(result, Response)
                self._outbox.confirm(
                    op.op_id, _stored_response(result), excess=excess_of_response(result) if features.pick_base else ()
                )
                self._events.on_confirmed(op)
            case Outcome.REFUSED if self._may_succeed_later(op, result):
                self._outbox.retry_later(op.op_id, why, self._clock() + RESTORE_RETRY_S, was_not_sent=True)
            case Outcome.REFUSED:
                status = {"status": result.status} if isinstance(result, Response) else {}
                self._mark_refused(op, why, {**self._outbox.get(op.op_id).evidence, **status})
            case Outcome.NOT_SENT:
                self._outbox.retry_later(op.op_id, why, 0, was_not_sent=True)
                self._report_to_link(result)
            case Outcome.RETRY_LATER:
                self._outbox.retry_later(op.op_id, why, self._clock() + self._retry_wait_s(op, result))
                self._report_to_link(result)
            case Outcome.UNKNOWN:
                self._handle_unknown(op, features, result, why)

    def _may_succeed_later(self, op: Operation, result: RequestResult) -> bool:
        """Whether what was confirmed before a restore may only wait for what others have to say or to load first."""
        if op.replayed_at is None or not isinstance(result, Response):
            return False
        return 0 <= self._clock() - op.replayed_at < _RESTORE_GRACE_S.get(result.status, 0.0)

    def _handle_unknown(self, op: Operation, features: Features, result: RequestResult, reason: StoredMessage) -> None:
        if features.idempotency:
            self._outbox.retry_later(
                op.op_id, reason, self._clock() + backoff_s(op.attempts + 1, self._random_source())
            )
        else:
            self._mark_in_doubt(op, reason)
        self._report_to_link(result)

    def _mark_refused(self, op: Operation, reason: StoredMessage, evidence: Mapping[str, Any] | None = None) -> None:
        with suppress(IllegalTransition):  # the same
            self._outbox.refuse(op.op_id, reason, evidence)
            self._events.on_refused(op, reason)

    def _mark_in_doubt(self, op: Operation, reason: StoredMessage) -> None:
        self._outbox.mark_in_doubt(op.op_id, reason, settling_s=self._settling_s(), lookup_after_s=FIRST_LOOKUP_S)
        self._events.on_in_doubt(op, reason)

    def _retry_wait_s(self, op: Operation, result: RequestResult) -> float:
        """Seconds: what the service asks for, else as after any failure."""
        asked = None
        if isinstance(result, Response):
            asked = parse_retry_after(result.headers.get("retry-after"), self._clock())
        if isinstance(result, Response) and result.status == 429:
            self._link.pause(asked)
        return backoff_s(op.attempts + 1, self._random_source()) if asked is None else min(asked, MAX_PAUSE_S)

    def _report_to_link(self, result: RequestResult) -> None:
        """Tells the link of an error; answers it has heard itself."""
        if isinstance(result, ClientError) and not isinstance(result, StatusError):
            self._link.record_error(result)


def _stored_response(response: Response) -> str:
    """The answer's text as the outbox keeps it, whole or what is read of it later: a text that is cut says nothing."""
    if len(response.content) <= _MAX_STORED_BYTES:
        return response.content.decode("utf-8", "replace")
    said = response.json()
    return json.dumps({name: said[name] for name in _STORED_FIELDS if name in said})
