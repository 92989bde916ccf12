"""Files of the store in use, what watches and writes them, and the courier: what changed, and the state of the link."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import apsw

from aisle.cache.reader import CacheReader
from aisle.errors import StorageError
from aisle.host.hung_courier import CourierMonitor
from aisle.host.leader_lock import absolute_path
from aisle.host.notify_sockets import LINK, OUTBOX, REFUSAL, REQUEST, SYNC, WAITING, SessionSocket, matching_topics
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import Changed
from aisle.jobs.view import LinkState
from aisle.outbox.commit_journal import Journal
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.operation_record import NO_STORE, NO_TOKEN
from aisle.session.job_stack import JobStack
from aisle.session.profile import ProfileInForce
from aisle.session.unit_of_work import UnitOfWork
from aisle.stored_messages import stored_detail


class _Snapshot(NamedTuple):
    access: StoreAccess
    session_id: str
    start_courier: Callable[[], None]
    notifications: CourierConnection
    unit_of_work: UnitOfWork


@dataclass(eq=False)
class StoreConnection:
    """Store that the session works in now. Other parts keep no file of a store, but ask here."""

    access: StoreAccess
    _profile: ProfileInForce
    _stack: JobStack
    _start_courier: Callable[[], None]
    _clock: Callable[[], float]
    _make_id: Callable[[], str]

    def __post_init__(self) -> None:
        self.begin_session(self.access, self._start_courier)

    def begin_session(self, access: StoreAccess, start_courier: Callable[[], None] | None = None) -> None:
        """Use these files as a new session of the journal; its id is in `session_id`."""
        self.session_id, self._start_courier = self._make_id(), start_courier or self._start_courier
        self._use(access)
        self.unit_of_work = UnitOfWork(access.journal, self._stack, self.session_id)

    def continue_session(self, access: StoreAccess) -> None:
        """Go on with files that replace the old ones and hold all that they held."""
        self._use(access)
        self.unit_of_work.replace_journal(access.journal)
        self.notifications.resume()

    def _use(self, access: StoreAccess) -> None:
        self._set_access(access)
        self.notifications = CourierConnection(
            access.reader, access.journal, access.socket, self.session_id, self._start_courier, self._clock
        )
        self.notifications.token_file = absolute_path(self._profile.current.token_file)
        self.apply_settings_to_queries()

    def _set_access(self, access: StoreAccess) -> None:
        self.access = access
        self.reader: CacheReader = access.reader
        self.journal: Journal = access.journal
        self.operations: OperationQueue = access.operations
        self.socket: SessionSocket = access.socket
        self.folder: StoreFolder = access.socket.store_folder

    def apply_settings_to_queries(self) -> None:
        """Name the stock pools as the settings do, and let weighed lines lack what they allow."""
        context, profile = self.access.reader.context, self._profile.current
        context.pools, context.weight_tolerance = profile.pools, profile.policy.weight_tolerance

    def end_session(self) -> None:
        """Note in the journal that the session has ended. Raise StorageError."""
        self.journal.sessions.end_session(self.session_id)

    def snapshot(self) -> _Snapshot:
        """Return the state to go back to with `restore`."""
        return _Snapshot(self.access, self.session_id, self._start_courier, self.notifications, self.unit_of_work)

    def restore(self, snapshot: _Snapshot) -> None:
        """Go back to a snapshot."""
        self._set_access(snapshot.access)
        _, self.session_id, self._start_courier, self.notifications, self.unit_of_work = snapshot


class StoreAccess(NamedTuple):
    """Files of a store on this host, and the socket that its courier notifies."""

    reader: CacheReader
    journal: Journal
    operations: OperationQueue
    socket: SessionSocket


def open_store(store_folder: StoreFolder) -> StoreAccess:
    """Open the files of a store on this host, and a socket there. Raise StorageError."""
    outbox = open_outbox(store_folder.folder)
    return StoreAccess(
        CacheReader(store_folder, outbox), Journal(outbox), OperationQueue(outbox), SessionSocket(store_folder)
    )


def close_store(access: StoreAccess) -> None:
    """Close the files and the socket of a store."""
    for close in (access.socket.close, access.reader.close, access.journal.close):
        with suppress(StorageError, OSError):  # everything is durable
            close()


SESSION_HEARTBEAT_S = 60.0
"""Seconds between two heartbeats in the journal."""

COURIER_START_S = 10.0
"""Seconds in which a courier starts."""

RETRY_START_S = 2.0
"""Seconds after which another courier is started if the last one has ended."""

REPLACE_COURIER_S = 60.0
"""Seconds after which another courier is started beside one of another version or token."""

MAX_CHANGES_FOR_PAGE = 4
"""Changes at once beyond which a job is told only their topics."""

STALE_S = 90.0
"""Seconds without an answer of the service after which the link counts as offline."""


_FULL_CHECK_TOPICS = frozenset((LINK, OUTBOX, REFUSAL, REQUEST))
"""Topics that only a full check can look at."""

LASTING_STATES = ("refused", "stuck", "renewed")
"""States of the link that need a message because they do not pass soon."""

REPEAT_S = 60.0
"""Seconds after which a message is repeated: a scan may have hidden it."""


RESTORE_REPORTED_S = 600.0
"""Seconds after a restore of the service within which a new session reports it."""

FULL_CHECK_S = 5.0
"""Seconds after which everything is checked even without a notification."""


@dataclass(eq=False)
class CourierConnection:
    """Subscription of one session to changes. Not for use from several threads."""

    _reader: CacheReader
    _journal: Journal
    _socket: SessionSocket
    _session_id: str
    _start_courier: Callable[[], None]
    _clock: Callable[[], float]

    def __post_init__(self) -> None:
        self.token_file = ""
        """Absolute path of the token file of a courier that this session starts."""
        self._courier_monitor = CourierMonitor(self._socket.store_folder, self._clock)
        self._courier_started_at = float("-inf")
        self._was_courier_seen = False
        """Whether the courier that was started was seen."""
        self._heartbeat_at = 0.0
        self._is_courier_there = False
        """Whether a courier was listening at the last check."""
        self._cache_position = 0
        self._outbox_version = 0
        """Version of the outbox at the last acknowledged check."""
        self._next_position: tuple[int, int] | None = None
        """Cache position and outbox version of the last full check, for `acknowledge`."""
        self._checked_at = float("-inf")
        """Moment of the last full check."""
        self._subscription: frozenset[str] | None = None
        """Topics that the courier has; None if it may not have them."""
        self._awaits_sending = False
        """Whether the subscription covers operations that wait."""
        self._restore_number = 0
        """Last restore of the service that was reported."""
        self._link_state: tuple[str, ...] = ()
        """State of the link that pages have."""
        self._reported_state = ("", 0.0)
        """Which of `LASTING_STATES` was reported last, and when."""

    def start(self) -> None:
        """Start from what the files hold now."""
        self._is_courier_there = self._socket.is_courier_listening()
        self._cache_position = self._reader.changes(0)[0]
        self._outbox_version = self._reader.data_version()[1]
        self._link_state = self._link_for_pages()
        self._restore_number = self._journal.last_restore_number(before=self._clock() - RESTORE_REPORTED_S)

    def resume(self) -> None:
        """Start on files that replaced others: everything in them counts as changed."""
        self.start()
        self._cache_position = self._outbox_version = 0

    def _link_for_pages(self) -> tuple[str, ...]:
        """Return what of the link changes pages."""
        link = self.link()
        return (link.state, *link.unread_lists)

    def heartbeat(self) -> None:
        """Write a heartbeat when it is due.

        Raise StorageError if a newer version has taken over the files: then this one has to end.
        """
        self._journal.check_not_newer()
        now = self._clock()
        if abs(now - self._heartbeat_at) >= SESSION_HEARTBEAT_S:
            self._heartbeat_at = now
            with suppress(StorageError):
                self._journal.sessions.record_heartbeat(self._session_id)

    def keep_courier(self) -> None:
        """Start a courier if none is there, or if the one there is of an older version or has a refused token.

        A courier that hangs is ended; its standby takes over.
        """
        self._is_courier_there = self._socket.is_courier_listening()
        if self._is_courier_there:
            self._was_courier_seen = True
            self._courier_monitor.check()
            if not (self._courier_monitor.is_older_version or self._has_another_token()):
                return
            delay = REPLACE_COURIER_S
        else:
            self._courier_monitor.reset()
            delay = RETRY_START_S if self._was_courier_seen else COURIER_START_S
        if abs(self._clock() - self._courier_started_at) >= delay:
            self._courier_started_at, self._was_courier_seen = self._clock(), False
            with suppress(StorageError, OSError):  # no process can be started: tried again later
                self._start_courier()

    def _has_another_token(self) -> bool:
        """Return whether the leading courier was refused with another token than this session's."""
        if self.token_file in ("", self._courier_monitor.token_file):
            return False
        try:
            return self._reader.link(self._clock()).state == "refused"
        except (apsw.Error, StorageError):
            return False

    # What is on the screen

    def subscribe(self, topics: frozenset[str]) -> None:
        """Tell the courier what the page shows if that has changed."""
        if topics != self._subscription:
            self._subscription = topics if self._socket.subscribe(topics) else None

    def subscribe_waiting(self) -> None:
        """Subscribe to operations that wait, once until they are sent."""
        if self._subscription is not None and not self._awaits_sending:
            self._awaits_sending = self._socket.subscribe((*self._subscription, WAITING))

    def is_full_check_due(self) -> bool:
        """Return whether a full check is due."""
        return not 0 <= self._clock() - self._checked_at < FULL_CHECK_S

    def changes_of_topics(self, notified: Collection[str], subscription: frozenset[str]) -> list[Changed] | None:
        """Return the changes of these topics on the page; None if only a full check can tell. Raise StorageError.

        Other topics make the session subscribe again, for the courier may be another one.
        """
        if not _FULL_CHECK_TOPICS.isdisjoint(notified):
            return None
        self._reader.data_version()  # or nothing can be read
        found, _ = matching_topics(notified, subscription | {WAITING})
        if not found:
            self._subscription = None
        if WAITING in found:
            self._awaits_sending = False
        topics = [topic for topic in found if topic not in (WAITING, SYNC)]
        if len(topics) > MAX_CHANGES_FOR_PAGE:
            topics = sorted({topic.partition("/")[0] for topic in topics})
        self._next_position = None
        return [Changed(name, key) for name, _, key in (topic.partition("/") for topic in topics)]

    def all_changes(self) -> list[Changed]:
        """Return all changes since the last acknowledged check."""
        self._checked_at = self._clock()
        position, changes = self._reader.changes(self._cache_position)
        if len(changes) > MAX_CHANGES_FOR_PAGE:
            changes = list(dict.fromkeys((topic, "") for topic, _ in changes))
        has_expired = self._expire_requests()
        outbox_version = self._reader.data_version()[1]
        if outbox_version != self._outbox_version or has_expired:
            changes = [*changes, ("outbox", "")]
        state = self._link_for_pages()
        if state != self._link_state:
            changes, self._link_state = [*changes, ("link", "")], state
        self._next_position = position, outbox_version
        return [Changed(*change) for change in changes]

    def _expire_requests(self) -> bool:
        """Expire overdue requests; return whether there were any. Others report a file that cannot be written."""
        try:
            return self._journal.expire_requests()
        except (apsw.Error, StorageError):
            return False

    def acknowledge(self) -> None:
        """Report the changes of the last full check no more."""
        if self._next_position is not None:
            self._cache_position, self._outbox_version = self._next_position

    def link_message(self) -> str:
        """Return a message on the link that is due, or an empty text.

        It is one of `LASTING_STATES`, `open` when the token is accepted again, or `going` when the courier works again.
        """
        state, now = self.link().state, self._clock()
        before, at = self._reported_state
        if state in LASTING_STATES and (state != before or abs(now - at) >= REPEAT_S):
            self._reported_state = state, now
            return state
        if state in ("live", "partial", "syncing") and before:
            self._reported_state = "", 0.0
            return "open" if before == "refused" else "going"
        return ""

    def resent_after_restore(self) -> int | None:
        """Return how many operations are sent again after an unreported restore of the service; None without one."""
        found = self._journal.restores_after(self._restore_number)
        return sum(one.resent + one.looked_up for one in found) if found else None

    def acknowledge_restore(self) -> None:
        """Report the last restore no more."""
        self._restore_number = self._journal.last_restore_number()

    def token_error(self) -> str:
        """Return what is wrong with the token file if that is why the service refuses; else empty."""
        return stored_detail(self._reader.why_refused(), NO_TOKEN)

    def suggested_store(self) -> str:
        """Return the store that the settings may mean if there is none of their number; else empty."""
        return stored_detail(self._reader.why_refused(), NO_STORE)

    def refused_token_file(self) -> str:
        """Return the refused token file of the leading courier; empty if it is this session's."""
        return "" if self._courier_monitor.token_file == self.token_file else self._courier_monitor.token_file

    def link(self) -> LinkState:
        """Return the state of the link, given that the courier may be gone or stuck."""
        link = self._reader.link(self._clock())
        if self._reader.is_outdated:
            return link._replace(state="renewed")
        if self._is_courier_there and self._courier_monitor.is_hung:
            return link._replace(state="stuck", heartbeat_age_s=self._courier_monitor.heartbeat_age)
        if link.state in ("live", "partial", "syncing") and not self._is_courier_there:
            return link._replace(state="none")
        if link.state in ("live", "partial") and link.age_s > STALE_S:
            return link._replace(state="offline")
        return link
