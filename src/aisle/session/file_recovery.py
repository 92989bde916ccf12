"""A session whose outbox was deleted or replaced under it goes on with what is at its place then.

A part of aisle.session.session, which loads it when that has happened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aisle.cache.reader import CacheReader
from aisle.errors import StorageError
from aisle.host.file_recovery import Recovery
from aisle.jobs.message import read_message
from aisle.jobs.view import INFO, WRONG, Frame, Msg, Verdict, msg
from aisle.outbox.journal import Journal
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.session.frame import build_frame
from aisle.session.profile import StoreAccess
from aisle.session.storage_alarm import error_message
from aisle.session.unit_of_work import UnitOfWork

if TYPE_CHECKING:
    from aisle.session.session_base import SessionBase


def recover_and_show(session: SessionBase) -> Frame:
    """Nothing is noted at a place where nobody reads it: says so, as long as it is so."""
    try:
        rescued = recover(session)
        back = Verdict(INFO, read_message(rescued.message))
        session._show_verdict(
            back
            if rescued.is_complete
            else Verdict(WRONG, msg("session.other_file", why=read_message(rescued.message)))
        )
    except StorageError as error:
        session._show_verdict(Verdict(WRONG, msg("session.no_file", why=error_message(error))))
    return build_frame(session)


def recovery_message(session: SessionBase) -> Msg:
    """What became of the files, and what has to be done."""
    try:
        return msg("session.storage_retry", what=read_message(recover(session).message))
    except StorageError as further:
        return error_message(further)


def recover(session: SessionBase) -> Recovery:
    """Goes on with the files that are there now: on the same step, where they have what was noted; else as a
    session that begins. Raises StorageError while that cannot be done."""
    rooms, rescued = reopen_store(session._store)
    if rescued.is_complete:
        session._use_store(rooms)
        session._unit_of_work.replace_journal(rooms.journal)
        session._notifications.resume()
        return rescued
    rooms.journal.end_session(session._session_id)  # an older copy of the file may know it
    session._session_id = session._make_id()
    session._use_store(rooms)
    session._unit_of_work = UnitOfWork(rooms.journal, session._stack, session._session_id)
    session._start()
    return rescued


def reopen_store(store_access: StoreAccess) -> tuple[StoreAccess, Recovery]:
    """The same rooms on new files, and what became of what the old ones held. Raises StorageError: then they are as
    they were, and it is to be tried again."""
    home = store_access.socket.store_folder
    rescued = store_access.journal.recover_file()
    outbox = open_outbox(home.folder)
    store_access.reader.close()
    store_access.journal.close()
    return StoreAccess(CacheReader(home, outbox), Journal(outbox), OperationQueue(outbox), store_access.socket), rescued
