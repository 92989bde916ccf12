"""Recovery from a restore of the service: it finds out which operations are lost, with or without keys.

`outbox/replay_after_restore` queues them again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass

from aisle.client.responses_and_errors import ClientError
from aisle.contract.request_encoding import encode_segment
from aisle.courier.link_state import OperatorNotices, ServiceLink
from aisle.courier.pauses_and_wake_event import Sleep, WakeEvent
from aisle.courier.pull.single_reads import SingleReads
from aisle.courier.push.decide_after_send import KEY_MARGIN_S
from aisle.courier.push.decide_arrival_from_lookup import FOUND, decide
from aisle.courier.push.read_arrival_evidence import Lookup, readback_observation
from aisle.courier.service_features_and_lists import Features, read_extension
from aisle.errors import ContractError
from aisle.outbox.observed_behaviour import YES, ObservedBehaviour
from aisle.outbox.operation_queue import OperationQueue
from aisle.outbox.operation_record import CREATE_LOGS, CREATE_MOVEMENT, Operation
from aisle.outbox.replay_after_restore import DETECTED, LOOKUP_DAYS

MAX_RECENT_KEYS = 20
"""Number of most recently confirmed keys that each request for changes names."""
KEYS_PER_REQUEST = 200
"""Number of keys in one request."""
CHECK_RETRY_S = 60.0
"""Seconds before all keys are checked again after a failure."""
CHECKED_CURSOR = "keys_asked"
"""Cursor that is set once all keys were checked since the cache was created."""


@dataclass(eq=False)
class KeyedRestoreRecovery:
    """Recovery at a service that can list the keys it does not know."""

    single_reads: SingleReads
    outbox: OperationQueue
    link: ServiceLink
    operator_notices: OperatorNotices
    _: KW_ONLY
    on_unconfirmed: Callable[[str], None]
    """Callback for each operation that is no longer confirmed."""
    clock: Callable[[], float]

    def __post_init__(self) -> None:
        self._checked_at = float("-inf")
        """Time of the last check of all keys, in seconds since 1970."""

    @property
    def _features(self) -> Features:
        return self.link.features or Features()

    @property
    def _keys_since(self) -> float:
        """Start of the time whose keys the service has to know, in seconds since 1970.

        Our service keeps keys for 30 days. Less `KEY_MARGIN_S`, one day, that makes 29 days."""
        return self.clock() - self._features.key_lifetime_s + KEY_MARGIN_S

    def recent_keys(self) -> Sequence[str]:
        """Return the keys confirmed last; none if the service cannot be asked for them."""
        return self.outbox.newest_keys(self._keys_since, MAX_RECENT_KEYS) if self._features.known_keys else ()

    async def check_once(self) -> bool:
        """Check all keys once for a new cache, and resend lost operations. Return whether some were lost.

        A new cache does not know how far the service had come. Raise ClientError; the check is repeated then.
        """
        now = self.clock()
        if (
            not self._features.known_keys
            or self.single_reads.cache.cursor(CHECKED_CURSOR)
            or abs(now - self._checked_at) < CHECK_RETRY_S
        ):
            return False
        self._checked_at = now
        lost = await self._lost_keys()
        if lost:
            self._resend(lost)
        self.single_reads.cache.set_cursor(CHECKED_CURSOR, True)
        return bool(lost)

    async def resend_lost(self) -> None:
        """Resend the operations that the service lost. Raise ClientError before anything is changed."""
        if self._features.known_keys:
            self._resend(await self._lost_keys())
        else:  # our own service of an older version, which cannot list keys
            self._note_resent(self.outbox.replay_since(self._keys_since, self._keys_since, DETECTED).resent)

    def _resend(self, lost: Sequence[str]) -> None:
        for op_id in lost:
            self.on_unconfirmed(op_id)
        self._note_resent(self.outbox.replay(lost, DETECTED))

    def _note_resent(self, count: int) -> None:
        self.operator_notices.add(
            "The service was put back from an earlier copy." + (f" Operations sent again: {count}." if count else "")
        )

    async def _lost_keys(self) -> list[str]:
        """Return the keys of confirmed operations that the service does not know."""
        lost: list[str] = []
        for keys in self.outbox.kept_keys(self._keys_since, KEYS_PER_REQUEST):
            unknown = await self._unknown_keys(keys)
            lost += [key for key in keys if key in unknown]
        return lost

    async def is_carried_out(self, op: Operation) -> bool:
        """Return whether the service has carried out a write under the operation's key. Raise ClientError."""
        return op.op_id not in await self._unknown_keys([op.op_id])

    async def _unknown_keys(self, keys: Sequence[str]) -> set[str]:
        path = f"/aisle/v1/stores/{encode_segment(self.single_reads.store)}/keys"
        return await read_extension(
            self.single_reads.client,
            "list-unknown-keys",
            path,
            lambda body: {str(key) for key in body["unknown"]},
            {"keys": ",".join(keys)},
        )


CHECK_INTERVAL_S = 900.0
"""Seconds between two checks."""
RECHECK_S = 60.0
"""Seconds after which a missing operation is looked up a second time before the result counts."""
MAX_CHECKED_OPERATIONS = 30
"""Number of operations that are looked up, newest first."""


@dataclass(eq=False)
class UnkeyedRestoreRecovery:
    """Recovery at a service without keys: looks up the operations confirmed last.

    `add_notice` receives what an operator should know; `on_lost` is called when there is something to look up or send.
    """

    lookup: Lookup
    outbox: OperationQueue
    observations: ObservedBehaviour
    link: ServiceLink
    _: KW_ONLY
    add_notice: Callable[[str], None]
    on_lost: Callable[[], None]
    clock: Callable[[], float]
    sleep: Sleep

    def __post_init__(self) -> None:
        self.wake_event = WakeEvent(self.sleep)
        self._missing_op_id = ""
        """Operation that was missing at the last check."""
        self._last_found_op_id = ""
        """Newest operation of the last check that found all."""

    async def run(self) -> None:
        """Run the check in a loop."""
        while True:
            await self.wake_event.wait(RECHECK_S if self._missing_op_id else CHECK_INTERVAL_S)
            await self.run_once()

    async def run_once(self) -> None:
        """Run one check, if any operation can be checked."""
        features = self.link.features or Features(idempotency=True)
        if features.idempotency or not self.link.is_up or self.link.pause_s:
            return
        work = self._findable_operations()
        try:
            missing = await self._missing_operations(work)
            if not missing:
                self._missing_op_id, self._last_found_op_id = "", work[0].op_id if work else ""
            elif self._missing_op_id != missing[0].op_id:
                self._missing_op_id = missing[0].op_id  # it is looked up again after RECHECK_S
            else:
                await self._mark_lost_in_doubt(missing)
        except (ClientError, ContractError):
            return  # a failed read proves nothing

    async def _missing_operations(self, work: list[Operation]) -> list[Operation]:
        """Return the newest missing operation of those confirmed since the last check, and all older ones.

        Newer operations may be present because they were done after a restore.
        """
        for at, op in enumerate(work):
            if not await self._is_found(op):
                return work[at:]
            if op.op_id == self._last_found_op_id:
                break
        return []

    def _findable_operations(self) -> list[Operation]:
        """Return the operations confirmed last that this service shows in its log, newest first."""
        ops = self.outbox.confirmed_without_key(
            (CREATE_LOGS, CREATE_MOVEMENT), self.clock() - LOOKUP_DAYS * 86400, MAX_CHECKED_OPERATIONS
        )
        return [op for op in ops if self.observations.get(readback_observation(op)) == YES]

    async def _is_found(self, op: Operation) -> bool:
        return decide(op, await self.lookup.look_up(op)).arrival == FOUND

    async def _mark_lost_in_doubt(self, work: list[Operation]) -> None:
        """Find the newest operation that is present, and put in doubt what was confirmed since that one was sent."""
        self._missing_op_id = ""
        for op in work[1:]:
            if await self._is_found(op):
                # An operation confirmed before it may have been done after it, but not before it was sent.
                count = self.outbox.look_up_without_key(op.first_sent_at or op.confirmed_at or 0.0, DETECTED)
                self.add_notice(f"The service was put back from an earlier copy: {count} operations are looked for.")
                self.on_lost()
                return
        self.add_notice(
            f"The service shows none of the last {len(work)} operations that it confirmed. If it was put back from an"
            " earlier copy, say: aisle outbox replay"
        )
