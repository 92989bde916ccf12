"""Push of the outbox: sends what may be sent, several at once, each lane in order, nothing twice.

An operation is durably `sending` before its first byte leaves. `client.outcome_of` judges the result. With keys, a
doubt is resolved by sending the same bytes under the same key. Without keys, the `reconciler` or a person decides.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, NamedTuple

from aisle.client import Client, Outcome, Response, outcome_of
from aisle.client.client import parse_retry_after
from aisle.client.errors import ClientError, InvalidResponse, RateLimited, ServerError, StatusError, Unauthorized
from aisle.courier.backoff_and_list_pauses import ORDER_READS, RandomSource, backoff_s
from aisle.courier.link_state import REQUEST_ERRORS, LinkState, bounded_pause
from aisle.courier.outcome_messages import reason_of
from aisle.courier.push.adapt_update_to_service import AdaptedOperation
from aisle.courier.push.checks_before_send import StaleOperation
from aisle.courier.push.decide_arrival_from_lookup import EMPTY_RESPONSE, OMITTED_LINE
from aisle.courier.push.outgoing_request import (
    PushSettings,
    is_extension,
    request_body,
    request_headers,
    send_extension,
)
from aisle.courier.push.user_tokens_in_memory import TokenStore
from aisle.courier.service_features import FEATURES_HEADER, Features
from aisle.courier.wake_event import Sleep, WakeEvent
from aisle.errors import ContractError, SettingsError
from aisle.outbox.excess import EXCESS, parse_excess
from aisle.outbox.operation_queue import OperationQueue
from aisle.outbox.operation_record import UPDATE_ORDER, Operation
from aisle.outbox.operation_states import IllegalTransition
from aisle.outbox.operations_in_doubt import FOUND_BY_LOOKUP, KEY_GONE
from aisle.outbox.prepare_operation_to_send import is_splittable
from aisle.outbox.stored_reasons import NO_MESSAGE, StoredMessage, is_stored_message, read_message, store_message

if TYPE_CHECKING:
    from aisle.outbox.operation_record import Evidence


MAX_IN_FLIGHT = 4
"""Number of requests in flight, equal to the connections that the client keeps for writes."""
MAX_TRIES = 50
"""Number of tries after which a person has to look at the operation."""
MAX_TRYING_S, _MIN_TRIES = 86400.0, 10
"""Seconds of trying after which a person is asked, with a minimum of tries: the service may have been away."""
MAX_PLAIN_TRIES = 8
"""Number of tries after a plain-text refusal of a service without features: a proxy may have sent it."""
_MAX_IMMEDIATE_RETRIES = 3
"""Number of tries up to which an interrupted operation is sent again at once."""
FIRST_LOOKUP_S = 2.0
"""Seconds after which an operation in doubt is first looked up."""
KEY_MARGIN_S = 86400.0
"""Seconds before the end of a key's lifetime at which it is no longer relied on."""
KEYS_TRUST_S = 120.0
"""Seconds after the last announcement of keys in which a response without it may be a proxy's."""
LOST_CONFIRMED_STATUS = 425
"""Status of a service that lacks what it confirmed before."""
MAX_CONFIRMED_KEYS = 4
"""Number of recently confirmed keys that each write names; as many may be in flight at once."""
_RESTORE_GRACE_S = {409: 900.0, 404: 5400.0, 422: 5400.0}
"""Seconds after a restore in which a refusal is retried.

Other hosts may have to resend first (409), or orders and products have to be loaded again (404, 422).
"""
RESTORE_RETRY_S = 10.0
"""Seconds between two such tries."""
_MAX_STORED_BYTES = 2000
"""Bytes of a response that are stored whole; of a longer one only the fields that are read later."""
_STORED_FIELDS = ("left", "carried", "superseded", "data")
_PLAIN_REFUSAL = "stored_reason.intermediary_refused"


async def _return_operation(op: Operation) -> Operation:
    return op


class PushEvents(NamedTuple):
    """Callbacks of the push loop: checks before a send, outcome of the send, checks of the link."""

    evidence_before: Callable[[Operation], Awaitable[Evidence | None]]
    """Read of the evidence to store before a send; None for nothing. On a ClientError it is not sent now."""
    adapt: Callable[[Operation, Features], AdaptedOperation]
    """Adaptation of an operation to this service; the operation itself if nothing has to change."""
    needs_lookup: Callable[[Operation], bool]
    """Check that returns True if an operation confirmed by an empty response has to be looked up."""
    on_confirmed: Callable[[Operation], None]
    on_refused: Callable[[Operation, StoredMessage], None]
    on_in_doubt: Callable[[Operation, StoredMessage], None]
    check_service: Callable[[], Awaitable[bool]]
    is_link_failure: Callable[[Exception, str], Awaitable[bool]]
    """Check that returns True if the error of a read of that list affects all other reads."""
    is_carried_out: Callable[[Operation], Awaitable[bool]]
    """Question to a service that lists unknown keys: True if a write was carried out under the operation's key.

    Raise ClientError or SettingsError.
    """
    on_restore: Callable[[], None] = lambda: None
    """Callback if the service lacks what it confirmed before."""
    on_requeued: Callable[[], None] = lambda: None
    """Callback if operations that waited for a person are sent again."""
    on_replay_delayed: Callable[[Operation, StoredMessage], None] = lambda op, reason: None
    """Callback with the reason for which the service does not take a replayed operation yet."""
    adapt_undo: Callable[[Operation], Awaitable[Operation | None]] = _return_operation
    """Adaptation of an undo to what was booked; None if nothing is left of it. On a ClientError it is not sent now."""


@dataclass(eq=False)
class PushLoop:
    """Sender of the outbox."""

    outbox: OperationQueue
    client: Client
    link: LinkState
    events: PushEvents
    token_store: TokenStore
    _: KW_ONLY
    clock: Callable[[], float]
    sleep: Sleep
    random_source: RandomSource
    push_settings: PushSettings = PushSettings()  # noqa: RUF009 - a tuple
    settling_s: Callable[[], float] | None = None
    """Function that returns the observed settling time; by default that of the settings."""

    def __post_init__(self) -> None:
        self.is_stopping = False
        """True if nothing new may be sent."""
        self.wake_event = WakeEvent(self.sleep)
        self._settling_s = self.settling_s or (lambda: self.push_settings.settling_s)
        self._checked_at = 0.0
        """Time of the last check of what may be sent, in seconds since 1970."""
        self._pause_s = 0.0
        """Pause of the link at that check; kept because a second look may find it ended."""
        self._running: dict[str, asyncio.Task[None]] = {}
        self._postponed: dict[str, int] = {}
        """Number of consecutive failures of the reads before an operation."""
        self._rate_limited: dict[str, int] = {}
        """Number of consecutive rate limits of those reads."""

    @property
    def in_flight(self) -> tuple[str, ...]:
        """Ids of the operations in flight."""
        return tuple(self._running)

    def recover_sending(self) -> None:
        """Recover operations left in `sending`: those with a key are resent under it, all others are in doubt."""
        for op in self.outbox.interrupted():
            if op.op_id in self._running:
                continue
            if op.has_key:
                self.outbox.retry_later(
                    op.op_id, store_message("stored_reason.courier_ended"), self._restart_retry_at(op)
                )
            else:
                self._mark_in_doubt(op, store_message("stored_reason.courier_ended"))

    def _restart_retry_at(self, op: Operation) -> float:
        """Return when to resend: at once, or after a backoff if couriers end repeatedly."""
        return (
            0 if op.attempts < _MAX_IMMEDIATE_RETRIES else self.clock() + backoff_s(op.attempts, self.random_source())
        )

    async def run(self) -> None:
        """Push in a loop; cancel what is in flight when cancelled. Raise StorageError."""
        self.recover_sending()
        try:
            while True:
                self.send_ready()
                await self.wake_event.wait(self._next_wait_s())
        except asyncio.CancelledError:
            await self._cancel_running()
            raise
        except Exception:
            await self.wait_until_finished()  # an error of one must not lose the outcomes of the others
            self._running.clear()
            raise

    async def push_all(self) -> None:
        """Push until nothing more may be sent; what waits for its time or for the link stays."""
        try:
            self.send_ready()
            while self._running:
                await self.wake_event.wait(None)
                self.send_ready()
        finally:
            await self._cancel_running()

    async def wait_until_finished(self) -> None:
        """Wait until nothing is in flight; start nothing."""
        await asyncio.gather(*self._running.values(), return_exceptions=True)

    def send_ready(self) -> None:
        """Start as many sends as `MAX_IN_FLIGHT` allows. Raise the exception of a send that failed unexpectedly."""
        self._collect_finished()
        self._pause_s = self.link.pause_s
        if self.is_stopping or self._pause_s or not self.link.can_write or len(self._running) >= MAX_IN_FLIGHT:
            return
        self._checked_at = self.clock()
        if self.link.has_keys and self.outbox.requeue_under_keys():
            self.events.on_requeued()
        free_slots = MAX_IN_FLIGHT - len(self._running)
        for op in self.outbox.sendable(free_slots, self.token_store.usable_principals, exclude=self._running):
            task = asyncio.create_task(self._push(op), name=f"deliver {op.op_id}")
            self._running[op.op_id] = task
            task.add_done_callback(lambda _: self.wake_event.set())

    def _collect_finished(self) -> None:
        for op_id, task in list(self._running.items()):
            if task.done():
                del self._running[op_id]
                task.result()

    async def _cancel_running(self) -> None:
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._running.clear()

    def _next_wait_s(self) -> float | None:
        """Return the seconds until an operation becomes due; None if only a wake-up can change anything."""
        if self._pause_s:
            return self._pause_s
        due = (
            self.outbox.next_due_at(self._checked_at)
            if self.link.can_write and len(self._running) < MAX_IN_FLIGHT
            else None
        )
        return None if due is None else due - self.clock()

    async def _push(self, op: Operation) -> None:
        features = self.link.features
        if features is None or self._waits_for_keys(op, features) or self._needs_person(op, features):
            return
        if not features.idempotency and is_splittable(op) and self.outbox.split_operation(op.op_id):
            return  # its parts replace it
        ready = await self._prepare(op, features)
        if ready is None:
            return
        content, token = ready
        outcome = await self._send(op, features, content, token)
        if token is not None and isinstance(outcome, Response) and outcome.status == 401:
            self.token_store.remove(op.principal, token)  # this is about the user token only, and nothing was done
            self.outbox.retry_later(op.op_id, reason_of(outcome), 0, was_not_sent=True)
            return
        if isinstance(outcome, Response) and outcome.status == LOST_CONFIRMED_STATUS and features.known_keys:
            self.outbox.retry_later(
                op.op_id, store_message("stored_reason.restored"), self.clock() + FIRST_LOOKUP_S, was_not_sent=True
            )
            self.events.on_restore()
            return
        if isinstance(outcome, Response) and outcome.status == 403:
            if await self.events.check_service():
                self._record_outcome(op, features, outcome)
            else:
                self._handle_lost_access(op, outcome)
            return
        if features.known_keys and outcome_of(outcome) is Outcome.REFUSED and is_about_key(outcome):
            await self._resolve_known_key(op, reason_of(outcome))
            return
        self._record_outcome(op, features, outcome)
        if is_from_intermediary(outcome, features):
            await self.events.check_service()

    async def _prepare(self, op: Operation, features: Features) -> tuple[bytes, str | None] | None:
        """Store the operation as `sending`, and return its bytes and token; None if it is not sent now."""
        try:
            remaining = await self.events.adapt_undo(op)
            if remaining is None:
                return None
            op = remaining
            evidence = await self.events.evidence_before(op)
            fit = self.events.adapt(op, features)
            is_new_body = fit.op is not op and not features.idempotency
            sent_body = None if is_new_body else op.sent_body
            excess = (
                fit.excess_lines if sent_body is None else op.evidence.get(EXCESS, ())
            )  # of the bytes that are sent
            more: Evidence = {EXCESS: list(excess)} if excess else {}
            if sent_body is None and fit.omitted_line is not None:
                more[OMITTED_LINE] = fit.omitted_line
            if not self.token_store.can_send(op.principal):
                return None  # the token expired during the reads
            token = self.token_store.token_of(op.principal)
            content = self.outbox.begin_sending(
                op.op_id,
                sent_body or request_body(fit.op, features, self.push_settings.reference),
                has_key=features.idempotency,
                evidence={**(evidence or {}), **more} if more else evidence,
                replace_sent_body=is_new_body,
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
        """Handle the error of a read before a send: the service is down, or only this read fails."""
        if isinstance(error, RateLimited):
            if not await self.events.is_link_failure(
                error, ORDER_READS if op.operation == UPDATE_ORDER else op.operation
            ):
                self._postpone_rate_limited(op, error)
            return
        if isinstance(error, StatusError) and not isinstance(error, Unauthorized):
            await self.events.check_service()
        else:
            self.link.record_error(error)
        if self.link.can_write:
            self._postpone(op, reason_of(error), MAX_TRIES if isinstance(error, ServerError) else MAX_PLAIN_TRIES)

    def _postpone_rate_limited(self, op: Operation, error: RateLimited) -> None:
        """Postpone after a rate limit of a read before the send, however often."""
        tries = self._rate_limited[op.op_id] = self._rate_limited.get(op.op_id, 0) + 1
        wait = max(backoff_s(tries, self.random_source()), bounded_pause(error.retry_after or 0.0))
        self.outbox.postpone(op.op_id, reason_of(error), self.clock() + wait)

    def _waits_for_keys(self, op: Operation, features: Features) -> bool:
        """Postpone a resend with a key if the service stopped announcing keys a moment ago. Return True if it waits."""
        sent = op.has_key and op.first_sent_at is not None
        if not sent or features.idempotency or self.clock() - self.link.announced_at > KEYS_TRUST_S:
            return False
        self.outbox.postpone(
            op.op_id,
            KEY_GONE,
            self.clock() + backoff_s(op.attempts + 1, self.random_source()),
        )
        return True

    def _needs_person(self, op: Operation, features: Features) -> bool:
        """Ask a person if resending is no longer safe, and return True. A key is relied on only within its lifetime."""
        if op.first_sent_at is None:
            return False
        tried_s = self.clock() - op.first_sent_at
        if op.attempts >= MAX_TRIES or (tried_s >= MAX_TRYING_S and op.attempts >= _MIN_TRIES):
            reason = store_message("stored_reason.attempts", count=op.attempts, why=read_message(op.last_error))
        elif op.has_key and not features.idempotency:
            reason = KEY_GONE
        elif op.has_key and tried_s >= features.key_lifetime_s - KEY_MARGIN_S:
            reason = store_message("stored_reason.key_old")
        elif (
            not features.idempotency
            and op.attempts >= MAX_PLAIN_TRIES
            and is_stored_message(op.last_error, _PLAIN_REFUSAL)
        ):
            reason = store_message(
                "stored_reason.refused_repeatedly", count=op.attempts, why=read_message(op.last_error)
            )
        else:
            return False
        self._ask_person(op, reason)
        return True

    def _postpone(self, op: Operation, reason: StoredMessage, max_tries: int = MAX_PLAIN_TRIES) -> None:
        """Postpone after an invalid response of a read before the send; after `max_tries` ask a person."""
        tries = self._postponed[op.op_id] = self._postponed.get(op.op_id, 0) + 1
        if tries < max_tries:
            self.outbox.postpone(op.op_id, reason, self.clock() + backoff_s(tries, self.random_source()))
            return
        del self._postponed[op.op_id]
        self._ask_person(
            op, store_message("stored_reason.earlier_value_unknown", count=tries, why=read_message(reason))
        )

    def _ask_person(self, op: Operation, reason: StoredMessage) -> None:
        """Hand the operation to a person."""
        with suppress(IllegalTransition):  # resolved, or replaced by a later one, during the reads
            self.outbox.ask_person(op.op_id, reason, settling_s=self._settling_s())
            self.events.on_in_doubt(op, reason)

    async def _send(self, op: Operation, features: Features, content: bytes, token: str | None) -> RequestResult:
        confirmed_keys = self.outbox.newest_keys(
            self.clock() - features.key_lifetime_s + KEY_MARGIN_S, MAX_CONFIRMED_KEYS
        )
        headers = request_headers(op, features, self.link.skew_s, [key for key in confirmed_keys if key != op.op_id])
        try:
            if is_extension(op):
                return await send_extension(self.client, op, headers, content, token)
            return await self.client.request(
                op.operation, path=op.path, query=op.query, headers=headers, body=content, token=token
            )
        except (ClientError, ContractError, SettingsError) as error:
            return error

    async def _resolve_known_key(self, op: Operation, reason: StoredMessage) -> None:
        """Resolve an operation whose key the service knows from an earlier try with other headers.

        The service says if that try was carried out. If it was not, it was refused. What a replay was confirmed with
        before is known; the answer to any other try is not, so it is looked up.
        """
        try:
            is_carried_out = await self.events.is_carried_out(op)
        except REQUEST_ERRORS as error:
            self.outbox.retry_later(op.op_id, reason, self.clock() + backoff_s(op.attempts + 1, self.random_source()))
            self.link.record_error(error)
            return
        if not is_carried_out:
            self._mark_refused(op, store_message("stored_reason.refused_earlier"))
        elif op.replayed_at is not None:
            self.outbox.confirm(op.op_id)
            self.events.on_confirmed(op)
        else:
            self._mark_in_doubt(op, reason)

    def _handle_lost_access(self, op: Operation, response: Response) -> None:
        """Retry later after the token lost access to the store: that does not refuse the operation."""
        self.link.record_refusal(reason_of(response))
        self.outbox.retry_later(
            op.op_id, reason_of(response), self.clock() + backoff_s(op.attempts + 1, self.random_source())
        )

    def _record_outcome(self, op: Operation, features: Features, result: RequestResult) -> None:
        """Store the outcome. Nothing is awaited between the response and this."""
        if isinstance(result, SettingsError):
            self.link.record_refusal(reason_of(result))
            self.outbox.retry_later(op.op_id, reason_of(result), 0)
            return
        outcome = outcome_of(result)
        if outcome in (Outcome.ACCEPTED, Outcome.REFUSED) and lacks_service_mark(result, features):
            outcome = Outcome.UNKNOWN
        reason = NO_MESSAGE if outcome is Outcome.ACCEPTED else reason_of(result)
        if isinstance(result, Response) and is_from_intermediary(result, features):
            reason = store_message(_PLAIN_REFUSAL, status=result.status, why=read_message(reason))
        match Outcome.RETRY_LATER if outcome is Outcome.REFUSED and is_from_intermediary(result, features) else outcome:
            case Outcome.ACCEPTED if is_empty_success(result, features) and self.events.needs_lookup(op):
                evidence = {**self.outbox.get(op.op_id).evidence, EMPTY_RESPONSE: True}
                self.outbox.mark_in_doubt(
                    op.op_id,
                    store_message("stored_reason.not_stated"),
                    settling_s=self._settling_s(),
                    evidence=evidence,
                )
            case Outcome.ACCEPTED:
                assert isinstance(result, Response)
                self.outbox.confirm(
                    op.op_id,
                    _stored_response(result),
                    excess=parse_excess(result.content) if features.pick_base else (),
                )
                self.events.on_confirmed(op)
            case Outcome.REFUSED if self._may_succeed_later(op, result):
                self.outbox.retry_later(op.op_id, reason, self.clock() + RESTORE_RETRY_S, was_not_sent=True)
                if op.last_error != reason:
                    self.events.on_replay_delayed(op, reason)
            case Outcome.REFUSED if is_about_key(result):
                self._mark_in_doubt(op, reason)
            case Outcome.REFUSED:
                status: Evidence = {"status": result.status} if isinstance(result, Response) else {}
                self._mark_refused(op, reason, {**self.outbox.get(op.op_id).evidence, **status})
            case Outcome.NOT_SENT:
                self.outbox.retry_later(op.op_id, reason, 0, was_not_sent=True)
                self._report_to_link(result)
            case Outcome.RETRY_LATER:
                self.outbox.retry_later(op.op_id, reason, self.clock() + self._retry_wait_s(op, result))
                self._report_to_link(result)
            case Outcome.UNKNOWN:
                self._handle_unknown(op, features, result, reason)

    def _may_succeed_later(self, op: Operation, result: RequestResult) -> bool:
        """Return True if a replayed operation may be accepted later, after other hosts resend or data is loaded.

        One that only a lookup confirmed may have been refused all the time: its refusal counts at once.
        """
        if op.replayed_at is None or op.answer == FOUND_BY_LOOKUP or not isinstance(result, Response):
            return False
        grace_s = KEYS_TRUST_S if is_about_key(result) else _RESTORE_GRACE_S.get(result.status, 0.0)
        return 0 <= self.clock() - op.replayed_at < grace_s

    def _handle_unknown(self, op: Operation, features: Features, result: RequestResult, reason: StoredMessage) -> None:
        if features.idempotency:
            self.outbox.retry_later(op.op_id, reason, self.clock() + backoff_s(op.attempts + 1, self.random_source()))
        else:
            self._mark_in_doubt(op, reason)
        self._report_to_link(result)

    def _mark_refused(self, op: Operation, reason: StoredMessage, evidence: Evidence | None = None) -> None:
        with suppress(IllegalTransition):  # as in _ask_person
            self.outbox.refuse(op.op_id, reason, evidence)
            self.events.on_refused(op, reason)

    def _mark_in_doubt(self, op: Operation, reason: StoredMessage) -> None:
        self.outbox.mark_in_doubt(op.op_id, reason, settling_s=self._settling_s(), lookup_after_s=FIRST_LOOKUP_S)
        self.events.on_in_doubt(op, reason)

    def _retry_wait_s(self, op: Operation, result: RequestResult) -> float:
        """Return the seconds to wait: as the service asks, otherwise the usual backoff."""
        retry_after_s = None
        if isinstance(result, Response):
            retry_after_s = parse_retry_after(result.headers.get("retry-after"), self.clock())
        if isinstance(result, Response) and result.status == 429:
            self.link.pause(retry_after_s)
        if retry_after_s is None:
            return backoff_s(op.attempts + 1, self.random_source())
        return bounded_pause(retry_after_s)

    def _report_to_link(self, result: RequestResult) -> None:
        """Pass an error to the link; responses have reached it already."""
        if isinstance(result, ClientError) and not isinstance(result, StatusError):
            self.link.record_error(result)


def _stored_response(response: Response) -> str:
    """Return the response text to store: whole, or only the fields that are read later, as valid JSON."""
    if len(response.content) <= _MAX_STORED_BYTES:
        return response.content.decode("utf-8", "replace")
    body = response.json()
    return json.dumps({name: body[name] for name in _STORED_FIELDS if name in body})


RequestResult = Response | ClientError | ContractError | SettingsError

_RETRYABLE_STATUSES = (401, 407, 408, 425, 429)
"""Statuses of refusals that are not final, and that a proxy may send as well."""


def is_from_intermediary(result: RequestResult, features: Features) -> bool:
    """Return True if a refusal came from a proxy: not JSON, or without the header that our own service always sends."""
    if not isinstance(result, Response) or result.status < 400 or result.status in _RETRYABLE_STATUSES:
        return False
    if result.status >= 500 and outcome_of(result.status) is not Outcome.REFUSED:
        return False
    return not result.is_json_object or (features != Features() and FEATURES_HEADER not in result.headers)


def lacks_service_mark(result: RequestResult, features: Features) -> bool:
    """Return True if a 2xx lacks the header or body of a service with idempotency keys. The same key is then sent
    again.
    """
    if not features.idempotency or not isinstance(result, Response) or not result.is_success:
        return False
    return FEATURES_HEADER not in result.headers or not (result.status == 204 or result.json())


def is_empty_success(result: RequestResult, features: Features) -> bool:
    """Return True if a 2xx of a service without keys has no content: status 204, or an object of nulls only."""
    if features.idempotency or not isinstance(result, Response):
        return False
    return result.status == 204 or all(value is None for value in result.json().values())


def is_about_key(result: RequestResult) -> bool:
    """Return True if a refusal is about the request's key: the service knows it from an earlier try.

    It may have carried that one out, although this one differs from it, for instance in headers of other features.
    """
    if not isinstance(result, Response) or result.status not in (409, 422):
        return False
    try:
        return bool(result.json()["errors"][0]["field"] == "Idempotency-Key")
    except (ValueError, LookupError, TypeError, RecursionError):
        return False
