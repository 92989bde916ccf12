"""Reconciliation of operations in doubt at a service without keys: looks them up, and asks a person otherwise.

Lookups follow 2, 10 and 30 seconds after the doubt, and at its settling time. An operation that is found is confirmed.
Absence counts only in a lookup that began after the settling time; then the operation, or its missing part, is sent
again under the same reference. An operation that cannot be looked up was sent once at most; a person is shown the state
before and after.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, NamedTuple

from aisle.client.paging import Row
from aisle.client.responses_and_errors import ClientError, RateLimited, TransportError, Unauthorized
from aisle.courier.link_state import REQUEST_ERRORS, ServiceLink
from aisle.courier.notify import Topic, topics_of_operation
from aisle.courier.pauses_and_wake_event import LOOKUPS, ListBackoffs, Sleep, WakeEvent
from aisle.courier.push.decide_arrival_from_lookup import (
    ABSENT,
    BY_LOG,
    BY_NOTHING,
    BY_ORDER,
    BY_PRODUCT,
    CHANGED,
    EMPTY_RESPONSE,
    FOUND,
    MATCHES,
    OMITTED_LINE,
    PARTLY_FOUND,
    UNREADABLE,
    Decision,
    LookupResult,
    decide,
    is_empty_response_final,
    is_not_applied,
    lookup_method,
    order_state,
    sent_order,
)
from aisle.courier.push.outgoing_request import PushSettings, entry_references
from aisle.courier.push.read_arrival_evidence import Lookup, readback_observation
from aisle.errors import ContractError
from aisle.outbox.observed_behaviour import KEEPS_OMITTED_LINES, NO, SETTLING_S, YES, ObservedBehaviour
from aisle.outbox.operation_queue import OperationQueue
from aisle.outbox.operation_record import (
    CREATE_LOGS,
    CREATE_MOVEMENT,
    IN_DOUBT,
    UPDATE_ORDER,
    IllegalTransition,
    Operation,
)
from aisle.outbox.operations_in_doubt import FOUND_BY_LOOKUP
from aisle.stored_messages import StoredMessage, store_message

if TYPE_CHECKING:
    from aisle.operation_body_types import OrderUpdate
    from aisle.outbox.operation_record import Evidence, ServiceState

LOOKUP_DELAYS_S = (2.0, 10.0, 30.0)
"""Seconds after the doubt at which lookups before the settling time take place."""
LATE_LOOKUP_S = 60.0
"""Seconds between two lookups after it."""
_MAX_FAILED_LOOKUPS = 5
"""Number of failed lookups after it before a person is asked."""
PERSON_LOOKUP_S, PERSON_LOOKUP_LIMIT_S = 900.0, 86400.0
"""Seconds between two lookups after a person was asked, and seconds after which they end."""
_MAX_SETTLING_S = 3600.0
_MAX_NOT_APPLIED = 3
"""Number of confirmations without effect after which a person is asked."""


class ReconcilerCallbacks(NamedTuple):
    """Callbacks of the reconciler."""

    on_confirmed: Callable[[Operation], None]
    on_needs_person: Callable[[Operation, StoredMessage], None]
    on_not_applied: Callable[[Operation, StoredMessage], None]
    """Callback if a confirmed operation was not carried out."""
    on_sendable: Callable[[], None]
    """Callback if something can be sent, now or again."""
    request_reads: Callable[[Iterable[Topic]], None]
    add_notice: Callable[[str], None]
    """Callback with notices for operators about the service."""


class _Trial(NamedTuple):
    """First successful operation of its kind, looked up to learn whether the service can be read back."""

    op: Operation
    began: float
    tries: int = 0


@dataclass(eq=False)
class Reconciler:
    """Reconciliation of operations in doubt."""

    lookup: Lookup
    outbox: OperationQueue
    observations: ObservedBehaviour
    link: ServiceLink
    callbacks: ReconcilerCallbacks
    _: KW_ONLY
    push_settings: PushSettings
    last_log_id: Callable[[], int]
    """Function that returns the last log id that is known here."""
    list_backoffs: ListBackoffs
    clock: Callable[[], float]
    sleep: Sleep

    def __post_init__(self) -> None:
        self.wake_event = WakeEvent(self.sleep)
        self._trials: dict[str, _Trial] = {}
        """Running trials, by the name of the observation."""
        self._omitted: tuple[str, float] = ("", 0.0)
        """Update that last omitted a line as a trial, and the time."""
        self._tried_trials: set[str] = set()
        self._confirmed_ids: set[str] = set()

    @property
    def settling_s(self) -> float:
        """Seconds after a doubt within which a late request may still arrive."""
        observed = self.observations.get(SETTLING_S)
        return max(self.push_settings.settling_s, float(observed) if observed else 0.0)

    async def run(self) -> None:
        """Look up what is due, in a loop."""
        while True:
            await self.run_once()
            await self.wake_event.wait(self._next_wait_s())

    async def run_once(self) -> None:
        """Look up everything that is due, once."""
        self._confirm_resolved()
        for op in self.outbox.due_lookups():
            if not self._can_look_up:
                return
            await self._look_up(op)
        for name, trial in list(self._trials.items()):
            if self._can_look_up and self.clock() >= trial.began + self._lookup_delay(trial.tries):
                await self._run_trial(name, trial)

    @property
    def _pause_s(self) -> float:
        """Seconds of the present pause, for all requests or for lookups only."""
        return max(self.link.pause_s, self.list_backoffs.paused_until(LOOKUPS) - self.clock(), 0.0)

    @property
    def _can_look_up(self) -> bool:
        return self.link.is_up and not self._pause_s

    def _next_wait_s(self) -> float | None:
        pause_s = self._pause_s  # read once: a pause that ends between two reads would give an endless wait
        if pause_s or not self.link.is_up:
            return pause_s or None
        moments = [trial.began + self._lookup_delay(trial.tries) for trial in self._trials.values()]
        due = self.outbox.next_lookup_at()
        moments += [] if due is None else [due]
        return max(0.0, min(moments) - self.clock()) if moments else None

    def _confirm_resolved(self) -> None:
        """Pass on operations that a person confirmed: they have to be read back too."""
        confirmed = self.outbox.confirmed_by_person()
        for op in confirmed:
            if op.op_id not in self._confirmed_ids:
                self.callbacks.on_confirmed(op)
        self._confirmed_ids = {op.op_id for op in confirmed}

    # Before and after a send

    async def evidence_before(self, op: Operation, orders: Sequence[Row] | None = None) -> Evidence:
        """Return what has to be known before the first byte is sent; `orders` is the order if it was just read.

        Raise ClientError if the link failed.
        """
        if orders is not None and op.operation == UPDATE_ORDER:
            return {"before": {"order": order_state(orders[0])} if orders else {}}
        if op.operation in (CREATE_LOGS, CREATE_MOVEMENT):
            # A log id kept by an earlier try stays: that try may be above it, and below today's id.
            evidence: Evidence = {"floor": floor} if (floor := op.evidence.get("floor") or self.last_log_id()) else {}
            if self.observations.get(readback_observation(op)) == YES:
                return evidence
        else:
            evidence = {}
        try:
            return {**evidence, "before": await self.lookup.read_before(op)}
        except (TransportError, Unauthorized, RateLimited):
            raise
        except (ClientError, ContractError):
            return evidence  # nothing can be read: less evidence, but no reason not to send

    async def settings_before(self, op: Operation) -> Evidence:
        """Return the store's settings of a product, at any service. Raise ClientError."""
        return {"before": await self.lookup.read_before(op)}

    def record_success(self, op: Operation) -> None:
        """Begin a trial if this is the first confirmation of its kind."""
        if self.outbox.is_keyed(op.op_id):
            return
        sent = self.outbox.get(op.op_id)
        if op.operation == UPDATE_ORDER and not self.observations.get(KEEPS_OMITTED_LINES) and _omitted_lines(sent):
            self._trials.setdefault(KEEPS_OMITTED_LINES, _Trial(sent, self.clock()))
            self.wake_event.set()
        if op.operation not in (CREATE_LOGS, CREATE_MOVEMENT) or not entry_references(sent):
            return
        name = readback_observation(op)
        if self.observations.get(name) != YES and name not in self._tried_trials:
            self._tried_trials.add(name)
            self._trials[name] = _Trial(sent, self.clock())
            self.wake_event.set()

    def may_omit_line(self, op: Operation) -> bool:
        """Return whether this update may omit an untouched line as a trial.

        Trials run one at a time, so that at most one line has to be restored.
        """
        last, at = self._omitted
        now = self.clock()
        if last not in ("", op.op_id) and abs(now - at) < LATE_LOOKUP_S:
            return False
        self._omitted = op.op_id, now
        return True

    def needs_lookup(self, op: Operation) -> bool:
        """Return whether an operation confirmed by an empty response has to be looked up, and wake the loop."""
        sent = self.outbox.get(op.op_id)
        if is_empty_response_final(sent, self.observations.get(readback_observation(sent)) == YES):
            return False
        self.wake_event.set()
        return True

    def check_read_back(self, number: str, orders: Sequence[Row], op_ids: Collection[str] | None = None) -> None:
        """Compare the last confirmed update of an order with what was read since. `op_ids` limits the operations.

        An update without effect is in doubt: it is looked up, resent after the settling time, and finally a person is
        asked.
        """
        op = self.outbox.last_unverified(f"order/{number}")
        if op is None or op.operation != UPDATE_ORDER or (op_ids is not None and op.op_id not in op_ids):
            return
        if orders and OMITTED_LINE in op.evidence:
            self._record_omitted_lines(op, orders[0])
        if not orders or not is_not_applied(op, orders[0]):
            return
        times = op.evidence.get("reads_without_effect", 0) + 1
        evidence = {**op.evidence, "after": {"order": order_state(orders[0])}, "reads_without_effect": times}
        reason = store_message("stored_reason.confirmed_not_shown")
        if self.outbox.mark_absent(
            op.op_id, reason, evidence, settling_s=self.settling_s, lookup_after_s=LOOKUP_DELAYS_S[0]
        ):
            self.callbacks.on_not_applied(op, reason)

    def _lookup_delay(self, tries: int) -> float:
        return (*LOOKUP_DELAYS_S, self.settling_s)[tries]

    async def _run_trial(self, name: str, trial: _Trial) -> None:
        try:
            if name == KEEPS_OMITTED_LINES:
                found = await self.lookup.find_orders(str(sent_order(trial.op)["order_number"]))
            else:
                found = await self.lookup.find_log_entries(trial.op)
            self.list_backoffs.clear(LOOKUPS)
            if found:
                del self._trials[name]
                await self._record_trial(name, trial.op, found)
                return
        except REQUEST_ERRORS as error:
            self._handle_error(error)
            if not self._can_look_up:
                return
        if trial.tries < len(LOOKUP_DELAYS_S):
            self._trials[name] = trial._replace(tries=trial.tries + 1)
            return
        del self._trials[name]
        if name != KEEPS_OMITTED_LINES:
            self.observations.record(name, NO)

    async def _record_trial(self, name: str, op: Operation, found: list[Row]) -> None:
        """Record what the first success of its kind shows."""
        if name != KEEPS_OMITTED_LINES:
            await self.lookup.observe_filter(op)
            return
        self._record_omitted_lines(op, found[0])

    def _record_omitted_lines(self, op: Operation, order: Row) -> None:
        """Record whether the service kept the lines that an update left out. Restore the trial line if it is gone."""
        unnamed = _omitted_lines(op)
        if self.observations.get(KEEPS_OMITTED_LINES) == NO or not unnamed:
            return
        gone = unnamed - order_state(order)["lines"].keys()
        self.observations.record(KEEPS_OMITTED_LINES, NO if gone else YES)
        if not gone:
            return
        self.callbacks.add_notice(
            f"The service forgets lines that an update does not name: {', '.join(sorted(gone))} of order "
            f"{order.get('order_number')}. From now on every update names all of them."
        )
        omitted = op.evidence.get(OMITTED_LINE)
        if omitted and str(omitted["line_number"]) in gone:
            self.outbox.resend_line(op, omitted)
            self.callbacks.on_sendable()

    # Single operations

    async def _look_up(self, op: Operation) -> None:
        began = self.clock()
        lookup_result = LookupResult()
        after: ServiceState = {}
        try:
            lookup_result = await self.lookup.look_up(op)
            self.list_backoffs.clear(LOOKUPS)
        except REQUEST_ERRORS as error:
            self._handle_error(error)
        try:  # even if nothing else can be read: a person is shown it
            after = await self._evidence_after(op, lookup_result) if self._can_look_up else {}
        except REQUEST_ERRORS as error:
            self._handle_error(error)
        decision = decide(op, lookup_result)
        evidence: Evidence = {
            **op.evidence,
            "lookups": op.evidence.get("lookups", 0) + 1,
            "looked_at": began,
            "verdict": decision.arrival,
            **({"after": after} if after else {}),
        }
        with suppress(IllegalTransition):  # a person resolved it during the lookup
            self._apply_decision(op, decision, evidence, began, has_failed=lookup_result == LookupResult())

    def _handle_error(self, error: Exception) -> None:
        if isinstance(error, RateLimited) and self.list_backoffs.record_rate_limit(
            LOOKUPS, error.retry_after, self.clock()
        ):
            return
        if not isinstance(error, ClientError) or isinstance(error, TransportError | Unauthorized | RateLimited):
            self.link.record_error(error)

    async def _evidence_after(self, op: Operation, lookup_result: LookupResult) -> ServiceState:
        if lookup_result.orders and lookup_method(op) == BY_ORDER:
            return {"order": order_state(lookup_result.orders[0])}
        if lookup_result.products is not None:
            return {"product": lookup_result.products}
        if decide(op, lookup_result).arrival == FOUND:
            return {}
        return await self.lookup.read_stock(op)

    def _apply_decision(
        self, op: Operation, decision: Decision, evidence: Evidence, began: float, *, has_failed: bool
    ) -> None:
        has_settled, failed_lookups = began >= (op.absence_final_at or 0), evidence.get("failed_lookups", 0)
        if decision.arrival == FOUND or (decision.arrival == MATCHES and has_settled):
            self._confirm_found(op, evidence, began)
        elif op.state != IN_DOUBT:
            old = began - (op.in_doubt_at or 0) >= PERSON_LOOKUP_LIMIT_S
            self.outbox.record_lookup(op.op_id, evidence, 0 if old else began + PERSON_LOOKUP_S)
        elif not has_settled:
            self.outbox.record_lookup(op.op_id, evidence, self._next_lookup_at(op, began))
        elif decision.arrival in (ABSENT, PARTLY_FOUND) and _may_resend(op):
            reason, as_sent = (
                store_message("stored_reason.absent" if decision.arrival == ABSENT else "stored_reason.partly"),
                None,
            )
            if decision.arrival == PARTLY_FOUND and op.operation == UPDATE_ORDER:
                # Rebased again, a picker's addition would count twice on lines that have arrived.
                as_sent = {**op.body, "orders": _own_changes(op)}
            self.outbox.requeue(op.op_id, reason, evidence, decision.missing, as_sent)
            self.callbacks.request_reads(topics_of_operation(op))
            self.callbacks.on_sendable()
        elif has_failed and lookup_method(op) != BY_NOTHING and failed_lookups < _MAX_FAILED_LOOKUPS:
            evidence["failed_lookups"] = failed_lookups + 1
            self.outbox.record_lookup(op.op_id, evidence, began + LATE_LOOKUP_S)
        else:
            self._ask_person(op, decision, evidence)

    def _confirm_found(self, op: Operation, evidence: Evidence, began: float) -> None:
        if op.evidence.get("verdict") in (ABSENT, PARTLY_FOUND) and op.in_doubt_at is not None:
            # twice the time from the doubt to the middle of the last two lookups
            late = began - op.in_doubt_at + float(op.evidence["looked_at"]) - op.in_doubt_at
            if late > self.settling_s:
                self.observations.record(SETTLING_S, f"{min(late, _MAX_SETTLING_S):.0f}")
        self.outbox.confirm(op.op_id, FOUND_BY_LOOKUP, evidence)
        self.callbacks.on_confirmed(op)
        self.callbacks.on_sendable()  # its lanes are free

    def _ask_person(self, op: Operation, decision: Decision, evidence: Evidence) -> None:
        method = lookup_method(op)
        if op.evidence.get(EMPTY_RESPONSE) and decision.arrival in (ABSENT, PARTLY_FOUND):
            reason = store_message("stored_reason.empty_answer")
        elif op.evidence.get("reads_without_effect") and decision.arrival in (ABSENT, PARTLY_FOUND):
            count = op.evidence["reads_without_effect"]
            reason = store_message("stored_reason.confirmed_not_shown_repeatedly", count=count)
        elif decision.arrival == CHANGED:
            reason = store_message(
                "stored_reason.product_changed" if method == BY_PRODUCT else "stored_reason.order_changed"
            )
        elif method == BY_LOG and decision.arrival == UNREADABLE:
            reason = store_message("stored_reason.not_in_log")
        else:
            reason = store_message("stored_reason.cannot_be_looked_up")
        self.outbox.ask_person(
            op.op_id, reason, evidence=evidence, lookup_after_s=0 if method == BY_NOTHING else PERSON_LOOKUP_S
        )
        self.callbacks.on_needs_person(op, reason)

    def _next_lookup_at(self, op: Operation, began: float) -> float:
        doubted, settles = op.in_doubt_at or began, op.absence_final_at or began
        return min((doubted + s for s in LOOKUP_DELAYS_S if doubted + s > began), default=settles)


def _may_resend(op: Operation) -> bool:
    """Return whether an absent operation may be resent automatically.

    It may not after an empty response, or after several confirmations without effect.
    """
    return not op.evidence.get(EMPTY_RESPONSE) and op.evidence.get("reads_without_effect", 0) < _MAX_NOT_APPLIED


def _own_changes(op: Operation) -> OrderUpdate:
    """Return the order of an update as sent, without the lines that were only repeated unchanged."""
    order = sent_order(op).copy()
    if "order_lines" in op.body["orders"]:
        own = {line["line_number"] for line in op.body["orders"]["order_lines"]}
        order["order_lines"] = [line for line in order["order_lines"] if line["line_number"] in own]
    else:
        order.pop("order_lines", None)
    return order


def _omitted_lines(op: Operation) -> set[str]:
    """Return the lines that were on the order before, and that the update did not name."""
    named = {str(line.get("line_number")) for line in sent_order(op).get("order_lines") or ()}
    before: ServiceState = op.evidence.get("before") or {}
    order = before.get("order")
    return set(order["lines"] if order else ()) - named
