"""Files of the store in use, and what watches and writes them. Replaced whole when the store or its files change."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from aisle.cache.reader import CacheReader
from aisle.errors import StorageError
from aisle.host.leader_lock import absolute_path
from aisle.host.notify_sockets import SessionSocket
from aisle.host.store_and_database_folders import StoreFolder
from aisle.outbox.commit_journal import Journal
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.session.courier_connection import CourierConnection
from aisle.session.job_stack import JobStack
from aisle.session.profile_in_force import ProfileInForce
from aisle.session.unit_of_work import UnitOfWork


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
