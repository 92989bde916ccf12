"""Files of a store on this host, opened and closed, and the socket that its courier notifies.

The store in use, which may change: `store_connection`.
"""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

from aisle.cache.reader import CacheReader
from aisle.errors import StorageError
from aisle.host.notify_sockets import SessionSocket
from aisle.host.store_folder import StoreFolder
from aisle.outbox.commit_journal import Journal
from aisle.outbox.operation_queue import OperationQueue, open_outbox


class StoreAccess(NamedTuple):
    """Files of a store on this host, and the socket that its courier notifies."""

    reader: CacheReader
    journal: Journal
    operations: OperationQueue
    socket: SessionSocket


def open_store(store_folder: StoreFolder) -> StoreAccess:
    """Open the files of a store on this host, and a socket there. Raises StorageError."""
    outbox = open_outbox(store_folder.folder)
    return StoreAccess(
        CacheReader(store_folder, outbox), Journal(outbox), OperationQueue(outbox), SessionSocket(store_folder)
    )


def close_store(access: StoreAccess) -> None:
    """Close the files and the socket of a store."""
    for close in (access.socket.close, access.reader.close, access.journal.close):
        with suppress(StorageError, OSError):  # everything is durable
            close()
