"""Decides after a send what becomes of the operation: confirmed, refused, sent again, in doubt, or a person's.

`client.outcome_of` judges the result. `outbox.record_outcomes` records the decision. With keys, a doubt is resolved
by sending the same bytes under the same key. Without keys, the `reconciler` or a person decides.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from aisle.cache.log_entries_and_undo import numbers_of_entries
from aisle.client import Outcome, Response, outcome_of
from aisle.client.client import parse_retry_after
from aisle.client.responses_and_errors import NOT_IMPLEMENTED, ClientError, StatusError
from aisle.contract.request_encoding import encode_json
from aisle.courier.link_state import REQUEST_ERRORS, ServiceLink, bounded_pause, reason_of
from aisle.courier.pauses_and_wake_event import RandomSource, backoff_s
from aisle.courier.push.decide_arrival_from_lookup import EMPTY_RESPONSE
from aisle.courier.push.immediate_requests import TokenStore
from aisle.courier.push.pre_push_checks import AdaptedOperation
from aisle.courier.service_features_and_lists import FEATURES_HEADER, Features
from aisle.errors import ContractError, SettingsError
from aisle.outbox.merge_and_rebase import CARRIED, EXCESS, lines_of_answer, parse_excess
from aisle.outbox.operation_queue import OperationQueue
from aisle.outbox.operation_record import IllegalTransition, Operation
from aisle.outbox.operations_in_doubt import FOUND_BY_LOOKUP, KEY_GONE, KEY_OLD
from aisle.outbox.replay_after_restore import SUPERSEDED
from aisle.stored_messages import NO_MESSAGE, StoredMessage, is_stored_message, read_message, store_message

if TYPE_CHECKING:
    from aisle.outbox.operation_record import Evidence

MAX_TRIES = 50
"""Number of tries after which a person has to look at the operation."""
MAX_TRYING_S, _MIN_TRIES = 86400.0, 10
"""Seconds of trying after which a person is asked, with a minimum of tries: the service may have been away."""
MAX_PLAIN_TRIES = 8
"""Number of tries after a plain-text refusal of a service without features: a proxy may have sent it."""
FIRST_LOOKUP_S = 2.0
"""Seconds after which an operation in doubt is first looked up."""
KEY_MARGIN_S = 86400.0
"""Seconds before the end of a key's lifetime at which it is no longer relied on."""
KEYS_TRUST_S = 120.0
"""Seconds after the last announcement of keys in which a response without it may be a proxy's."""
LOST_CONFIRMED_STATUS = 425
"""Status of a service that lacks what it confirmed before."""
_RESTORE_GRACE_S = {409: 900.0, 404: 5400.0, 422: 5400.0}
"""Seconds after a restore in which a refusal is retried.

Other hosts may have to resend first (409), or orders and products have to be loaded again (404, 422).
"""
RESTORE_RETRY_S = 10.0
"""Seconds between two such tries."""
_MAX_STORED_CHARACTERS = 64 << 10
"""Characters of the fields of one response that are stored: every session reads them."""
_LISTS_OF_LINES = (EXCESS, CARRIED, SUPERSEDED)
"""Fields of an answer to an update that are read later."""
_PLAIN_REFUSAL = "stored_reason.intermediary_refused"


def _stored_response(response: Response) -> str:
    """Return the fields of a response that are read later, as JSON without values beyond the limits."""
    fields: dict[str, Sequence[object]] = {name: lines_of_answer(response.content, name) for name in _LISTS_OF_LINES}
    fields["data"] = numbers_of_entries(response.content)
    stored: dict[str, object] = {}
    for name, values in fields.items():
        if values and len(encode_json({**stored, name: values})) <= _MAX_STORED_CHARACTERS:
            stored[name] = values
    return encode_json(stored).decode()


RequestResult = Response | ClientError | ContractError | SettingsError


_RETRYABLE_STATUSES = (401, 407, 408, 425, 429)
"""Statuses of refusals that are not final, and that a proxy may send as well."""


def is_from_intermediary(result: RequestResult, features: Features) -> bool:
    """Return whether a refusal came from a proxy: not JSON, or without the header that our own service always sends."""
    if not isinstance(result, Response) or result.status < 400 or result.status in _RETRYABLE_STATUSES:
        return False
    if result.status >= 500 and result.status not in NOT_IMPLEMENTED:
        return False
    return not result.is_json_object or (features != Features() and FEATURES_HEADER not in result.headers)


def lacks_service_mark(result: RequestResult, features: Features) -> bool:
    """Return whether a 2xx lacks the header or body of a service with idempotency keys. The same key is then sent
    again.
    """
    if not features.idempotency or not isinstance(result, Response) or not result.is_success:
        return False
    return FEATURES_HEADER not in result.headers or not (result.status == 204 or result.json())


def is_empty_success(result: RequestResult, features: Features) -> bool:
    """Return whether a 2xx of a service without keys has no content: status 204, or an object of nulls only."""
    if features.idempotency or not isinstance(result, Response):
        return False
    return result.status == 204 or all(value is None for value in result.json().values())


def is_about_key(result: RequestResult) -> bool:
    """Return whether a refusal is about the request's key: the service knows it from an earlier try.

    It may have carried that one out, although this one differs from it, for instance in headers of other features.
    """
    if not isinstance(result, Response) or result.status not in (409, 422):
        return False
    try:
        return bool(result.json()["errors"][0]["field"] == "Idempotency-Key")
    except (ValueError, LookupError, TypeError, RecursionError):
        return False


class PushCallbacks(NamedTuple):
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
    on_restore: Callable[[], None]
    """Callback if the service lacks what it confirmed before."""
    on_requeued: Callable[[], None]
    """Callback if operations that waited for a person are sent again."""
    on_replay_delayed: Callable[[Operation, StoredMessage], None]
    """Callback with the reason for which the service does not take a replayed operation yet."""
    on_fault: Callable[[Operation, Exception], None]
    """Callback with an error that nothing foresaw, of an operation or the answer to it."""
    adapt_undo: Callable[[Operation], Awaitable[Operation | None]]
    """Adaptation of an undo to what was booked; None if nothing is left of it. On a ClientError it is not sent now."""


@dataclass(eq=False)
class SendDecider:
    """Decisions on operations of the push loop."""

    outbox: OperationQueue
    link: ServiceLink
    callbacks: PushCallbacks
    token_store: TokenStore
    clock: Callable[[], float]
    random_source: RandomSource
    settling_s: Callable[[], float]

    async def decide(self, op: Operation, features: Features, result: RequestResult, token: str | None) -> None:
        """Record what the result of a send means for the operation."""
        if token is not None and (
            isinstance(result, SettingsError) or (isinstance(result, Response) and result.status == 401)
        ):
            self.token_store.remove(op.principal, token)  # this is about the user token only, and nothing was done
            self.outbox.retry_later(op.op_id, reason_of(result), 0, was_not_sent=True)
            return
        if isinstance(result, Response) and result.status == LOST_CONFIRMED_STATUS and features.known_keys:
            self.outbox.retry_later(
                op.op_id, store_message("stored_reason.restored"), self.clock() + FIRST_LOOKUP_S, was_not_sent=True
            )
            self.callbacks.on_restore()
            return
        if isinstance(result, Response) and result.status == 403:
            if await self.callbacks.check_service():
                self._record_outcome(op, features, result)
            else:
                self.link.record_refusal(reason_of(result))
                self._retry(op, reason_of(result))  # access was lost: that does not refuse the operation
            return
        if features.known_keys and outcome_of(result) is Outcome.REFUSED and is_about_key(result):
            await self._resolve_known_key(op, reason_of(result))
            return
        self._record_outcome(op, features, result)
        if is_from_intermediary(result, features):
            await self.callbacks.check_service()

    def needs_person(self, op: Operation, features: Features) -> bool:
        """Ask a person if resending is no longer safe, and return True. A key is relied on only within its lifetime."""
        if op.first_sent_at is None:
            return False
        tried_s = self.clock() - op.first_sent_at
        if op.attempts >= MAX_TRIES or (tried_s >= MAX_TRYING_S and op.attempts >= _MIN_TRIES):
            reason = store_message("stored_reason.attempts", count=op.attempts, why=read_message(op.last_error))
        elif op.has_key and not features.idempotency:
            reason = KEY_GONE
        elif op.has_key and tried_s >= features.key_lifetime_s - KEY_MARGIN_S:
            reason = KEY_OLD
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
        self.ask_person(op, reason)
        return True

    def ask_person(self, op: Operation, reason: StoredMessage) -> None:
        """Hand the operation to a person."""
        with suppress(IllegalTransition):  # resolved, or replaced by a later one, during the reads
            self.outbox.ask_person(op.op_id, reason, settling_s=self.settling_s())
            self.callbacks.on_in_doubt(op, reason)

    async def _resolve_known_key(self, op: Operation, reason: StoredMessage) -> None:
        """Resolve an operation whose key the service knows from an earlier try with other headers.

        The service says if that try was carried out. If it was not, it was refused. What a replay was confirmed with
        before is known; the answer to any other try is not, so it is looked up.
        """
        try:
            is_carried_out = await self.callbacks.is_carried_out(op)
        except REQUEST_ERRORS as error:
            self._retry(op, reason)
            self.link.record_error(error)
            return
        if not is_carried_out:
            self.mark_refused(op, store_message("stored_reason.refused_earlier"))
        elif op.replayed_at is not None:
            self.outbox.confirm(op.op_id)
            self.callbacks.on_confirmed(op)
        else:
            self.mark_in_doubt(op, reason)

    def _retry(self, op: Operation, reason: StoredMessage) -> None:
        """Retry after the usual backoff."""
        self.outbox.retry_later(op.op_id, reason, self.clock() + backoff_s(op.attempts + 1, self.random_source()))

    def _record_outcome(self, op: Operation, features: Features, result: RequestResult) -> None:
        """Store the outcome. Nothing is awaited between the response and this."""
        if isinstance(result, SettingsError):
            self.link.record_refusal(reason_of(result))
            self.outbox.retry_later(op.op_id, reason_of(result), 0, was_not_sent=True)
            return
        outcome = outcome_of(result)
        if outcome in (Outcome.ACCEPTED, Outcome.REFUSED) and lacks_service_mark(result, features):
            outcome = Outcome.UNKNOWN
        reason = NO_MESSAGE if outcome is Outcome.ACCEPTED else reason_of(result)
        if isinstance(result, Response) and is_from_intermediary(result, features):
            reason = store_message(_PLAIN_REFUSAL, status=result.status, why=read_message(reason))
        match Outcome.RETRY_LATER if outcome is Outcome.REFUSED and is_from_intermediary(result, features) else outcome:
            case Outcome.ACCEPTED if is_empty_success(result, features) and self.callbacks.needs_lookup(op):
                evidence = {**self.outbox.get(op.op_id).evidence, EMPTY_RESPONSE: True}
                self.outbox.mark_in_doubt(
                    op.op_id,
                    store_message("stored_reason.not_stated"),
                    settling_s=self.settling_s(),
                    evidence=evidence,
                )
            case Outcome.ACCEPTED:
                assert isinstance(result, Response)
                self.outbox.confirm(
                    op.op_id,
                    _stored_response(result),
                    excess=parse_excess(result.content) if features.pick_base else (),
                )
                self.callbacks.on_confirmed(op)
            case Outcome.REFUSED if self._may_succeed_later(op, result):
                self.outbox.retry_later(op.op_id, reason, self.clock() + RESTORE_RETRY_S, was_not_sent=True)
                if op.last_error != reason:
                    self.callbacks.on_replay_delayed(op, reason)
            case Outcome.REFUSED if is_about_key(result):
                self.mark_in_doubt(op, reason)
            case Outcome.REFUSED:
                status: Evidence = {"status": result.status} if isinstance(result, Response) else {}
                self.mark_refused(op, reason, {**self.outbox.get(op.op_id).evidence, **status})
            case Outcome.NOT_SENT:
                self.outbox.retry_later(op.op_id, reason, 0, was_not_sent=True)
                self._report_to_link(result)
            case Outcome.RETRY_LATER:
                self.outbox.retry_later(op.op_id, reason, self.clock() + self._retry_wait_s(op, result))
                self._report_to_link(result)
            case Outcome.UNKNOWN:
                self.record_unknown(op, reason)
                self._report_to_link(result)

    def _may_succeed_later(self, op: Operation, result: RequestResult) -> bool:
        """Return whether a replayed operation may be accepted later, after other hosts resend or data is loaded.

        One that only a lookup confirmed may have been refused all the time: its refusal counts at once.
        """
        if op.replayed_at is None or op.answer == FOUND_BY_LOOKUP or not isinstance(result, Response):
            return False
        grace_s = KEYS_TRUST_S if is_about_key(result) else _RESTORE_GRACE_S.get(result.status, 0.0)
        return 0 <= self.clock() - op.replayed_at < grace_s

    def record_unknown(self, op: Operation, reason: StoredMessage) -> None:
        """Record that nobody knows what became of an operation that was sent: under its key it is sent again."""
        if self.outbox.get(op.op_id).has_key:
            self._retry(op, reason)
        else:
            self.mark_in_doubt(op, reason)

    def mark_refused(self, op: Operation, reason: StoredMessage, evidence: Evidence | None = None) -> None:
        """Record that the service refused the operation, or that it cannot be sent."""
        with suppress(IllegalTransition):  # as in ask_person
            self.outbox.refuse(op.op_id, reason, evidence)
            self.callbacks.on_refused(op, reason)

    def mark_in_doubt(self, op: Operation, reason: StoredMessage) -> None:
        """Record that nobody knows whether the operation arrived."""
        self.outbox.mark_in_doubt(op.op_id, reason, settling_s=self.settling_s(), lookup_after_s=FIRST_LOOKUP_S)
        self.callbacks.on_in_doubt(op, reason)

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
