"""Recovery of a session whose outbox was deleted or replaced while it was in use.

Loaded when either has happened.
"""

from __future__ import annotations

from aisle.cache.reader import CacheReader
from aisle.errors import StorageError
from aisle.host.deleted_file_recovery import Recovery
from aisle.jobs.view import INFO, WRONG, Msg, Verdict, msg
from aisle.outbox.commit_journal import Journal
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.session.shown_verdict_and_bells import error_message
from aisle.session.sign_in_and_out import SignInFlow
from aisle.session.store_connection import StoreAccess, StoreConnection
from aisle.stored_messages import read_message


def recovery_verdict(store: StoreConnection, sign_in: SignInFlow) -> Verdict:
    """Recover the files and return the verdict on it, an alarm while that cannot be done."""
    try:
        recovery = recover_files(store, sign_in)
    except StorageError as error:
        return Verdict(WRONG, msg("session.cannot_save", why=error_message(error)))
    text = read_message(recovery.message)
    return Verdict(INFO, text) if recovery.is_complete else Verdict(WRONG, msg("session.files_replaced", why=text))


def recovery_message(store: StoreConnection, sign_in: SignInFlow) -> Msg:
    """Recover the files after a failed commit; return what became of them, and what has to be done."""
    try:
        return msg("session.storage_retry", what=read_message(recover_files(store, sign_in).message))
    except StorageError as error:
        return error_message(error)


def recover_files(store: StoreConnection, sign_in: SignInFlow) -> Recovery:
    """Go on with the files that are there now: at the same step if they hold everything, else as a new session.

    Raise StorageError while that cannot be done.
    """
    access, recovery = _reopen_store(store.access)
    if recovery.is_complete:
        store.continue_session(access)
    else:
        access.journal.sessions.end_session(store.session_id)  # an older copy of the file may know it
        store.begin_session(access)
        sign_in.start()
    return recovery


def _reopen_store(access: StoreAccess) -> tuple[StoreAccess, Recovery]:
    """Open the files that are there now. Raise StorageError without closing the old ones."""
    folder = access.socket.store_folder
    recovery = access.journal.recover_file()
    outbox = open_outbox(folder.folder)
    access.reader.close()
    access.journal.close()
    new_access = StoreAccess(CacheReader(folder, outbox), Journal(outbox), OperationQueue(outbox), access.socket)
    return new_access, recovery
