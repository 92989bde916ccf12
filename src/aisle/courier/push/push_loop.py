"""Push of the outbox: sends what may be sent, several at once, each lane in order, nothing twice.

An operation is durably `sending` before its first byte leaves. What the result means for it: `decide_after_send`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from aisle.client import Client
from aisle.client.responses_and_errors import (
    ClientError,
    InvalidResponse,
    RateLimited,
    ServerError,
    StatusError,
    Unauthorized,
)
from aisle.courier.link_state import ServiceLink, bounded_pause, reason_of
from aisle.courier.pauses_and_wake_event import ORDER_READS, RandomSource, Sleep, WakeEvent, backoff_s
from aisle.courier.push.decide_after_send import (
    KEY_MARGIN_S,
    KEYS_TRUST_S,
    MAX_PLAIN_TRIES,
    MAX_TRIES,
    PushCallbacks,
    RequestResult,
    SendDecider,
)
from aisle.courier.push.decide_arrival_from_lookup import OMITTED_LINE
from aisle.courier.push.immediate_requests import TokenStore
from aisle.courier.push.outgoing_request import (
    PushSettings,
    is_extension,
    request_body,
    request_headers,
    send_extension,
)
from aisle.courier.push.pre_push_checks import StaleOperation
from aisle.courier.service_features_and_lists import Features
from aisle.errors import ContractError, SettingsError, StorageError
from aisle.outbox.merge_and_rebase import EXCESS
from aisle.outbox.operation_queue import OperationQueue, is_splittable
from aisle.outbox.operation_record import SENDING, UPDATE_ORDER, IllegalTransition, Operation
from aisle.outbox.operations_in_doubt import KEY_GONE
from aisle.stored_messages import StoredMessage, read_message, store_message

if TYPE_CHECKING:
    from aisle.outbox.operation_record import Evidence


MAX_IN_FLIGHT = 4
"""Number of requests in flight, equal to the connections that the client keeps for writes."""
_MAX_IMMEDIATE_RETRIES = 3
"""Number of tries up to which an interrupted operation is sent again at once."""
MAX_CONFIRMED_KEYS = 4
"""Number of recently confirmed keys that each write names; as many may be in flight at once."""


@dataclass(eq=False)
class PushLoop:
    """Sender of the outbox."""

    outbox: OperationQueue
    client: Client
    link: ServiceLink
    callbacks: PushCallbacks
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
        self._decider = SendDecider(
            self.outbox,
            self.link,
            self.callbacks,
            self.token_store,
            self.clock,
            self.random_source,
            self.settling_s or (lambda: self.push_settings.settling_s),
        )
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
        for op in self.outbox.left_sending():
            if op.op_id in self._running:
                continue
            if op.has_key:
                self.outbox.retry_later(
                    op.op_id, store_message("stored_reason.courier_ended"), self._restart_retry_at(op)
                )
            else:
                self._decider.mark_in_doubt(op, store_message("stored_reason.courier_ended"))

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
            await self.wait_until_finished()  # an error of one must lose neither outcome nor error of the others
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
        """Start as many sends as `MAX_IN_FLIGHT` allows. Raise StorageError and IllegalTransition of a send."""
        self._collect_finished()
        self._pause_s = self.link.pause_s
        if self.is_stopping or self._pause_s or not self.link.can_write or len(self._running) >= MAX_IN_FLIGHT:
            return
        self._checked_at = self.clock()
        features = self.link.features
        if features and features.idempotency and self.outbox.requeue_under_keys(self._keys_kept_since(features)):
            self.callbacks.on_requeued()
        free_slots = MAX_IN_FLIGHT - len(self._running)
        for op in self.outbox.sendable(free_slots, self.token_store.usable_principals, exclude=self._running):
            task = asyncio.create_task(self._push_alone(op), name=f"push {op.op_id}")
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

    async def _push_alone(self, op: Operation) -> None:
        """Push one operation. An error that nothing foresaw is logged, and stops no other operation."""
        try:
            await self._push(op)
        except (StorageError, IllegalTransition):  # another courier may write the outbox, too
            raise
        except Exception as error:
            reason = store_message("stored_reason.unreadable", detail=type(error).__name__)
            if self.outbox.get(op.op_id).state == SENDING:
                self._decider.record_unknown(op, reason)
            else:
                self._postpone(op, reason)
            self.callbacks.on_fault(op, error)

    async def _push(self, op: Operation) -> None:
        features = self.link.features
        if features is None or self._waits_for_keys(op, features) or self._decider.needs_person(op, features):
            return
        if not features.idempotency and is_splittable(op) and self.outbox.split_operation(op.op_id):
            return  # its parts replace it
        ready = await self._prepare(op, features)
        if ready is None:
            return
        content, token = ready
        result = await self._send(op, features, content, token)
        await self._decider.decide(op, features, result, token)

    async def _prepare(self, op: Operation, features: Features) -> tuple[bytes, str | None] | None:
        """Store the operation as `sending`, and return its bytes and token; None if it is not sent now."""
        try:
            remaining = await self.callbacks.adapt_undo(op)
            if remaining is None:
                return None
            op = remaining
            evidence = await self.callbacks.evidence_before(op)
            fit = self.callbacks.adapt(op, features)
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
                self._decider.mark_refused(op, error.reason, error.evidence)
            else:
                self._decider.mark_refused(op, reason_of(error))
        return None

    async def _handle_read_error(self, op: Operation, error: Exception) -> None:
        """Handle the error of a read before a send: the service is down, or only this read fails."""
        if isinstance(error, RateLimited):
            if not await self.callbacks.is_link_failure(
                error, ORDER_READS if op.operation == UPDATE_ORDER else op.operation
            ):
                self._postpone_rate_limited(op, error)
            return
        if isinstance(error, StatusError) and not isinstance(error, Unauthorized):
            await self.callbacks.check_service()
        else:
            self.link.record_error(error)
        if self.link.can_write:
            self._postpone(op, reason_of(error), MAX_TRIES if isinstance(error, ServerError) else MAX_PLAIN_TRIES)

    def _postpone_rate_limited(self, op: Operation, error: RateLimited) -> None:
        """Postpone after a rate limit of a read before the send, however often."""
        tries = self._rate_limited[op.op_id] = self._rate_limited.get(op.op_id, 0) + 1
        wait = max(backoff_s(tries, self.random_source()), bounded_pause(error.retry_after or 0.0))
        self.outbox.postpone(op.op_id, reason_of(error), self.clock() + wait)

    def _keys_kept_since(self, features: Features) -> float:
        """Return the time since when the service certainly keeps keys."""
        return self.clock() - features.key_lifetime_s + KEY_MARGIN_S

    def _waits_for_keys(self, op: Operation, features: Features) -> bool:
        """Postpone an operation if the service stopped announcing keys a moment ago. Return whether it waits."""
        if features.idempotency or self.clock() - self.link.keys_announced_at > KEYS_TRUST_S:
            return False
        self.outbox.postpone(
            op.op_id,
            KEY_GONE,
            self.clock() + backoff_s(op.attempts + 1, self.random_source()),
        )
        return True

    def _postpone(self, op: Operation, reason: StoredMessage, max_tries: int = MAX_PLAIN_TRIES) -> None:
        """Postpone after an invalid response of a read before the send; after `max_tries` ask a person."""
        tries = self._postponed[op.op_id] = self._postponed.get(op.op_id, 0) + 1
        if tries < max_tries:
            self.outbox.postpone(op.op_id, reason, self.clock() + backoff_s(tries, self.random_source()))
            return
        del self._postponed[op.op_id]
        self._decider.ask_person(
            op, store_message("stored_reason.earlier_value_unknown", count=tries, why=read_message(reason))
        )

    async def _send(self, op: Operation, features: Features, content: bytes, token: str | None) -> RequestResult:
        confirmed_keys = self.outbox.newest_keys(self._keys_kept_since(features), MAX_CONFIRMED_KEYS)
        headers = request_headers(op, features, self.link.skew_s, [key for key in confirmed_keys if key != op.op_id])
        try:
            if is_extension(op):
                return await send_extension(self.client, op, headers, content, token)
            return await self.client.request(
                op.operation, path=op.path, query=op.query, headers=headers, body=content, token=token
            )
        except (ClientError, ContractError, SettingsError) as error:
            return error
