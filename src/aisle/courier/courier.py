"""Courier of one store on one host: pulls the store into cache.db, pushes outbox.db, notifies the sessions.

It is a plain async class. A process of its own runs it (`aisle.courier.leader_process`); tests and `--in-process` run
it inside theirs.
"""

from __future__ import annotations

import asyncio
import random as chance
import time
import traceback
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, closing
from typing import NamedTuple, Self

from aisle.cache.writer import CacheWriter, LinkRow, open_cache
from aisle.client import Client, Response
from aisle.courier.clock_skew_and_clock_jump import apply_clock_jump
from aisle.courier.link_state import SYNCING, DiskLog, LinkLog, LinkStatus, Notice, OperatorNotices, ServiceLink
from aisle.courier.maintenance import Maintenance, release_memory
from aisle.courier.notify import Notifier, topics_of_operation
from aisle.courier.pauses_and_wake_event import ListBackoffs, RandomSource, Sleep
from aisle.courier.pull.cache_update import CacheUpdate, ReadSequence
from aisle.courier.pull.continuous_sync import ContinuousSync
from aisle.courier.pull.full_sync import FullSync
from aisle.courier.pull.full_sync_stages_and_progress import SyncProgress
from aisle.courier.pull.read_timetable import PullIntervals
from aisle.courier.pull.single_reads import SingleReads
from aisle.courier.push.decide_after_send import PushCallbacks
from aisle.courier.push.immediate_requests import ImmediateRequests, TokenStore
from aisle.courier.push.outgoing_request import PushSettings
from aisle.courier.push.pre_push_checks import PrePushChecks, UndoAsBooked
from aisle.courier.push.push_loop import PushLoop
from aisle.courier.push.read_arrival_evidence import Lookup
from aisle.courier.push.reconciler import Reconciler, ReconcilerCallbacks
from aisle.courier.resend_after_restore import KeyedRestoreRecovery, UnkeyedRestoreRecovery
from aisle.courier.service_features_and_lists import Features, parse_features
from aisle.errors import StorageError
from aisle.host.database import is_replaced
from aisle.host.deleted_file_recovery import WatchedDatabase, recover_file
from aisle.host.notify_sockets import (
    LINK,
    OUTBOX,
    REFUSAL,
    REQUEST,
    SECRET_PREFIX,
    SYNC,
    WAITING,
    CourierSocket,
    user_of_token_name,
)
from aisle.host.store_and_database_folders import StoreFolder, has_room
from aisle.outbox.observed_behaviour import ObservedBehaviour
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.operation_record import CONFIRMED, Operation
from aisle.outbox.requests_and_token_holders import take_read_requests
from aisle.stored_messages import StoredMessage

_RESTART_PAUSE_S = 5.0
"""Seconds before a loop that failed is started again."""


ClientFactory = Callable[[Callable[[Response], None]], AbstractAsyncContextManager[Client]]
"""Factory of the client. The client passes every response to the given function."""


class Runtime(NamedTuple):
    """Clock, sleep and random source; tests replace them."""

    clock: Callable[[], float] = time.time
    sleep: Sleep = asyncio.sleep
    random: RandomSource = chance.random


class Courier:
    """Courier of one store. Open it with `async with`; then call `run`, or `sync_once` or `push_once` for a single
    turn.
    """

    def __init__(
        self,
        store_folder: StoreFolder,
        create_client: ClientFactory,
        *,
        runtime: Runtime = Runtime(),  # noqa: B008 - a tuple
        intervals: PullIntervals = PullIntervals(),  # noqa: B008 - a tuple
        push_settings: PushSettings = PushSettings(),  # noqa: B008 - a tuple
        socket: CourierSocket | None = None,
        on_notice: Callable[[Notice], None] | None = None,
    ) -> None:
        """Store the collaborators. `socket` reaches the sessions, and is for the leader; `on_notice` receives each
        notice.
        """
        self.store_folder = store_folder
        self.operator_notices = OperatorNotices(runtime.clock, on_notice)
        self._link_log = LinkLog(self.operator_notices, runtime.clock)
        self._disk_log = DiskLog(self.operator_notices, runtime.clock, lambda: has_room(store_folder.folder))
        self._create_client = create_client
        self._runtime = runtime
        self._intervals = intervals
        self._push_settings = push_settings
        self._socket = socket
        self._notifier = Notifier(socket, runtime.clock, runtime.sleep)
        self._notified_link: tuple[str, ...] = ()
        """State, reason and features of the link that sessions were notified of last."""
        self._notified_for_person = 0
        """Number of operations for a person that sessions were notified of last."""
        self._exit_stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        """Open databases and client. Raise StorageError or SettingsError."""
        async with AsyncExitStack() as stack:
            await self._open(stack)
            self._exit_stack = stack.pop_all()
        return self

    async def __aexit__(self, *exc: object) -> None:
        try:
            self._recover_outbox()
            self.cache.set_link(LinkRow(state="none"))
        finally:
            await self._exit_stack.aclose()

    def _recover_outbox(self) -> None:
        """Put the outbox file back if it was deleted: the next process that opens it would start with an empty one."""
        if is_replaced(self._outbox_db) and self.store_folder.folder.exists():
            try:
                self.operator_notices.add("", recover_file(self._outbox_db).message)
            except StorageError as error:
                self._log_error(error)

    async def _open(self, stack: AsyncExitStack) -> None:
        runtime = self._runtime
        self._cache_db = stack.enter_context(closing(open_cache(self.store_folder.folder, writer=True)))
        self._outbox_db = stack.enter_context(closing(open_outbox(self.store_folder.folder)))
        self.watched_databases = (
            WatchedDatabase(self._cache_db, self.store_folder.cache),
            WatchedDatabase(self._outbox_db, self.store_folder.outbox),
        )
        self.cache = CacheWriter(self._cache_db, self.store_folder.store)
        jump_s = apply_clock_jump(self.cache, self._cache_db, self._outbox_db, runtime.clock)
        if jump_s:
            self.operator_notices.add(f"The clock of this host was set by {jump_s:+.0f} s.")
        self.outbox = OperationQueue(self._outbox_db, clock=runtime.clock)
        self.list_backoffs = ListBackoffs()
        self.link = ServiceLink(self._save_link, self._on_link_up, clock=runtime.clock, random_source=runtime.random)
        self.maintenance = Maintenance(
            self.store_folder,
            self._cache_db,
            self._outbox_db,
            self.link,
            self._wake_loops,
            runtime.clock,
            runtime.sleep,
            self._push_settings.kept,
            self._disk_log.check,
        )
        client = await stack.enter_async_context(self._create_client(self.link.record_response))
        self._create_pull(client)
        self._create_lookup(client)
        self._create_push(client)
        self.push_loop.recover_sending()
        for op in self.outbox.pending_operations(
            CONFIRMED
        ):  # confirmed under an earlier courier, and not read back yet
            self.continuous_sync.add_confirmed(op)

    def _create_pull(self, client: Client) -> None:
        """Create the parts that read the store and keep the cache up to date."""
        runtime = self._runtime
        cache_update = CacheUpdate(
            self.cache,
            read_sequence=ReadSequence(),
            operator_notices=self.operator_notices,
            notify=self.notify,
            pending_keys=self.outbox.records_changed_since,
            clock=runtime.clock,
        )
        self.single_reads = SingleReads(
            client,
            cache_update,
            self.store_folder.store,
            operator_notices=self.operator_notices,
            notify=self.notify,
            now=runtime.clock,
        )
        self.full_sync = FullSync(
            self.single_reads, self.link, self.operator_notices, sleep=runtime.sleep, list_backoffs=self.list_backoffs
        )
        self.full_sync.on_complete = lambda: release_memory(self._cache_db, self._outbox_db)
        self.restore_recovery = KeyedRestoreRecovery(
            self.single_reads,
            self.outbox,
            self.link,
            self.operator_notices,
            on_unconfirmed=lambda op_id: self.continuous_sync.read_queue.read_backs.discard(op_id),
            clock=runtime.clock,
        )
        self.continuous_sync = ContinuousSync(
            self.single_reads,
            self.full_sync,
            self.link,
            self.operator_notices,
            retire=lambda op_ids: self.outbox.mark_read_back(*op_ids),
            read_requests=lambda: take_read_requests(self._outbox_db),
            on_restore=self._on_restore,
            find_lost=self._has_lost_operations,
            known_keys=self.restore_recovery.recent_keys,
            on_order_read=lambda number, rows, op_ids: self.reconciler.check_read_back(number, rows, op_ids),
            sleep=runtime.sleep,
            intervals=self._intervals,
            list_backoffs=self.list_backoffs,
        )

    def _create_lookup(self, client: Client) -> None:
        """Create the parts that look up operations in doubt."""
        runtime = self._runtime
        self.observations = ObservedBehaviour(self._outbox_db, clock=runtime.clock)
        lookup = Lookup(client, self.store_folder.store, self.observations)
        self.reconciler = Reconciler(
            lookup,
            self.outbox,
            self.observations,
            self.link,
            ReconcilerCallbacks(
                self._on_found,
                self._on_needs_person,
                self._on_not_applied,
                self._wake_loops,
                self.continuous_sync.request_read,
                self.operator_notices.add,
            ),
            push_settings=self._push_settings,
            last_log_id=lambda: int(self.cache.cursor("logs") or 0),
            list_backoffs=self.list_backoffs,
            clock=runtime.clock,
            sleep=runtime.sleep,
        )

        self.unkeyed_restore_recovery = UnkeyedRestoreRecovery(
            lookup,
            self.outbox,
            self.observations,
            self.link,
            add_notice=self.operator_notices.add,
            on_lost=self._reread_everything,
            clock=runtime.clock,
            sleep=runtime.sleep,
        )

    def _create_push(self, client: Client) -> None:
        """Create the parts that push the outbox and send immediate requests."""
        runtime = self._runtime
        pre_push_checks = PrePushChecks(
            self.single_reads, self.reconciler, self.observations, self.link, self.operator_notices, self._cache_db
        )
        undo_as_booked = UndoAsBooked(
            self.single_reads.read_log,
            self.outbox,
            self._cache_db,
            self._outbox_db,
            self._on_refused,
            self._notify_state_change,
        )
        events = PushCallbacks(
            pre_push_checks.evidence_before,
            pre_push_checks.adapt,
            self.reconciler.needs_lookup,
            self._on_confirmed,
            self._on_refused,
            self._on_in_doubt,
            self.continuous_sync.check_service,
            self.continuous_sync.is_link_failure,
            self.restore_recovery.is_carried_out,
            self.continuous_sync.check_changes_soon,
            self._notify_state_change,
            self._on_replay_delayed,
            self._on_fault,
            undo_as_booked.adapt,
        )
        self.token_store = TokenStore(self._outbox_db, self._on_token_change, clock=runtime.clock)
        self.push_loop = PushLoop(
            self.outbox,
            client,
            self.link,
            events,
            self.token_store,
            clock=runtime.clock,
            sleep=runtime.sleep,
            random_source=runtime.random,
            push_settings=self._push_settings,
            settling_s=lambda: self.reconciler.settling_s,
        )
        self.immediate_requests = ImmediateRequests(
            self._outbox_db,
            client,
            self.link,
            cached_assignments=self.cache.assignment_ids,
            read_assignments=self.single_reads.assignment_reader.read,
            token_store=self.token_store,
            notify=lambda: self.notify([REQUEST]),
            clock=runtime.clock,
            sleep=runtime.sleep,
        )

    def _cached_features(self) -> Features:
        """Return the features that the service announced to the last courier."""
        return parse_features(self.cache.cursor("features") or "")

    # Interface for the process that runs it

    async def run(self) -> None:
        """Run all loops until cancelled."""
        loops: tuple[Callable[[], Awaitable[None]], ...] = (
            self.push_loop.run,
            self.continuous_sync.run,
            self.full_sync.run,
            self.reconciler.run,
            self.immediate_requests.run,
            self.unkeyed_restore_recovery.run,
            self._notifier.run,
            self.maintenance.run_archive,
            self.maintenance.run_heartbeat,
        )
        async with asyncio.TaskGroup() as group:
            for loop in loops:
                group.create_task(run_forever(loop, self._log_error, self._runtime.sleep))

    async def sync_once(self, *, full: bool = False, progress: Callable[[SyncProgress], None] | None = None) -> None:
        """Bring the cache up to date once, and push what can be pushed.

        `full` reads everything again; `progress` receives the progress of the sync. Raise ClientError or SettingsError
        if the service cannot be reached; what was read until then is kept.
        """
        self.full_sync.on_progress = progress
        await self.single_reads.service_check.run()
        await self.continuous_sync.run_once()
        if full:
            self.full_sync.request_full()
        else:
            self.continuous_sync.request_missing()
        await self.push_loop.push_all()
        await self.reconciler.run_once()
        await self.full_sync.run_to_end()
        await self.continuous_sync.run_once()

    async def push_once(self) -> None:
        """Push what can be sent now, and read it back."""
        if not self.link.is_up:
            await self.continuous_sync.check_service()
        await self.push_loop.push_all()
        await self.reconciler.run_once()
        await self.continuous_sync.run_once()

    def wake(self) -> None:
        """Handle what a session has written or requested."""
        if self._socket is not None:
            self.receive_messages(self._socket.drain())
        self._wake_loops()

    def receive_messages(self, messages: Iterable[str]) -> None:
        """Take the secrets out of the messages of sessions; no file holds them."""
        for message in messages:
            name, _, secret = message.removeprefix(SECRET_PREFIX).partition(" ")
            if not (message.startswith(SECRET_PREFIX) and secret):
                continue
            if user := user_of_token_name(name):
                self.token_store.add_from_message(user, secret)
            else:
                self.immediate_requests.receive_secret(name, secret)

    def _wake_loops(self) -> None:
        self.push_loop.wake_event.set()
        self.continuous_sync.wake_event.set()
        self.reconciler.wake_event.set()
        self.immediate_requests.wake_event.set()

    async def finish_requests(self, within_s: float) -> None:
        """Send nothing new, and wait up to `within_s` seconds for requests in flight."""
        self.push_loop.is_stopping = self.immediate_requests.is_stopping = True
        finishing = asyncio.gather(self.push_loop.wait_until_finished(), self.immediate_requests.wait_until_finished())
        time_is_up = asyncio.ensure_future(self._runtime.sleep(within_s))
        await asyncio.wait((finishing, time_is_up), return_when=asyncio.FIRST_COMPLETED)
        finishing.cancel()
        time_is_up.cancel()

    @property
    def is_idle(self) -> bool:
        """True if nothing is left to send or to read back, and no session waits for a response."""
        waiting = self.outbox.next_due_at() is not None or self.outbox.next_lookup_at() is not None
        sendable = self.outbox.sendable(1, self.token_store.usable_principals)
        return not (waiting or sendable or self.push_loop.in_flight or self.immediate_requests.is_busy)

    def notify(self, topics: Iterable[str]) -> None:
        """Notify the sessions that show these topics; during a full sync, all sessions of its progress."""
        self._notifier.notify([*topics, SYNC] if self.link.state == SYNCING else topics)

    # Callbacks of the parts

    def _save_link(self, status: LinkStatus) -> None:
        self._link_log.record(status, self.link.cause)
        features = self.link.features
        try:
            with self.cache.transaction():
                self.cache.set_link(LinkRow(state=status.state, last_ok=status.last_ok or None, server=status.reason))
                self.cache.set_cursor("beat", status.heartbeat)
                if features is not None and features != self._cached_features():
                    self.cache.set_cursor("features", features.header_value)
                    self.cache.set_link(LinkRow(features=features.header_value))
        except StorageError as error:
            self._log_error(error)  # the caller cannot do anything about it
        notified = (status.state, status.reason, features.header_value if features else "")
        if notified != self._notified_link:  # otherwise only the heartbeat changed
            self._notified_link = notified
            self.notify([LINK])

    def _log_error(self, error: Exception) -> None:
        """Log an error; a full disk once, while it lasts."""
        if not self._disk_log.record(error):
            self.operator_notices.add(_text_of_error(error))

    def _on_token_change(self) -> None:
        """Wake the loops and notify sessions after a user token was added or removed.

        Operations that waited for it can go; a session asks its user if it is gone.
        """
        self._wake_loops()
        self.notify([OUTBOX, REQUEST])

    def _on_link_up(self) -> None:
        self._wake_loops()
        self.full_sync.wake_event.set()

    async def _on_restore(self) -> None:
        """Resend what the service lost in a restore from an earlier copy, and read everything again."""
        await self.restore_recovery.resend_lost()
        self._reread_everything()

    async def _has_lost_operations(self) -> bool:
        """Return whether the service has lost operations. Needed where the cache cannot show it."""
        is_lost = await self.restore_recovery.check_once()
        if is_lost:
            self._reread_everything()
        return is_lost

    def _reread_everything(self) -> None:
        self.cache.delete_log()
        for log in ("logs", "logs_losses"):
            self.cache.set_cursor(log, None)
        self.full_sync.request_full()
        self._wake_loops()
        self._notify_state_change(LINK)

    def _on_not_applied(self, op: Operation, reason: StoredMessage) -> None:
        self.continuous_sync.read_queue.read_backs.discard(op.op_id)
        self._add_notice("{}:", op, reason)
        self._notify_state_change(REFUSAL)
        self.reconciler.wake_event.set()

    def _on_confirmed(self, op: Operation) -> None:
        self._on_found(op)
        self.reconciler.record_success(op)

    def _on_found(self, op: Operation) -> None:
        self.continuous_sync.add_confirmed(op)
        self._notify_state_change()

    def _on_needs_person(self, op: Operation, reason: StoredMessage) -> None:
        self._add_notice("A person has to resolve {}:", op, reason)
        self._notify_state_change(REFUSAL)

    def _on_refused(self, op: Operation, reason: StoredMessage) -> None:
        self._add_notice("The service refused {}:", op, reason)
        self._notify_state_change(REFUSAL)
        self.continuous_sync.request_read(topics_of_operation(op))

    def _on_replay_delayed(self, op: Operation, reason: StoredMessage) -> None:
        self._add_notice("The service does not take {} again yet:", op, reason)

    def _on_fault(self, op: Operation, error: Exception) -> None:
        where = traceback.extract_tb(error.__traceback__)[-1].name
        self.operator_notices.add(f"A fault in aisle at {op.operation} {op.op_id}: {type(error).__name__} in {where}")

    def _on_in_doubt(self, op: Operation, reason: StoredMessage) -> None:
        self._add_notice("Nobody knows whether {} arrived:", op, reason)
        self._notify_state_change(REFUSAL)
        self.continuous_sync.request_read(topics_of_operation(op))
        self.reconciler.wake_event.set()

    def _add_notice(self, text: str, op: Operation, reason: StoredMessage) -> None:
        self.operator_notices.add(text.format(f"{op.operation} {op.op_id} ({' '.join(op.lanes)})"), reason)

    def _notify_state_change(self, *topics: str) -> None:
        """Notify sessions that an operation changed state.

        Sessions also learn that none waits any more, or that the number of operations for a person changed.
        """
        waiting, for_person = self.outbox.pending_counts()
        changed = {OUTBOX, *topics}
        if not waiting:
            changed.add(WAITING)
        if for_person != self._notified_for_person:
            self._notified_for_person = for_person
            changed.add(REFUSAL)
        self.notify(changed)


def _text_of_error(error: Exception) -> str:
    """Return the text of an error of the storage, the place of any other."""
    if isinstance(error, StorageError):
        return str(error)
    where = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {where.name} ({where.filename}:{where.lineno}): {error}"


async def run_forever(
    loop: Callable[[], Awaitable[None]], log_error: Callable[[Exception], None], sleep: Sleep
) -> None:
    """Run `loop` again and again, and log its exceptions: a failure in one part must not stop the others."""
    while True:
        try:
            await loop()
        except Exception as error:
            log_error(error)
        await sleep(_RESTART_PAUSE_S)
