"""A terminal that goes on in another store: what it needs there, and what is told on arrival.

Each store has files of its own on this host, so nothing of the one that is left can get into the other.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from aisle.errors import AisleError, StorageError
from aisle.host.store_folder import StoreFolder, TerminalStore, mark_visited, save_terminal_store
from aisle.jobs.job import LocalNote, SignOut
from aisle.jobs.view import GOOD, WRONG, Verdict, msg
from aisle.outbox.local_notes import LANGUAGE
from aisle.session.job_stack import StackedJob
from aisle.session.pending_question import NO_QUESTION
from aisle.session.profile import OpenedStore, StoreAccess, move_preferences
from aisle.session.storage_alarm import error_message
from aisle.session.unit_of_work import UnitOfWork
from aisle.settings.time_zone import set_process_zone

if TYPE_CHECKING:
    from aisle.session.session_base import SessionBase


def report_arrival(
    previous_store: StoreFolder, opened: OpenedStore, user: str, waiting: int, verdict: Verdict | None
) -> Verdict:
    """Notes where this terminal works now, and says so: with `told`, what became of the jobs that wait there, and how
    many operations still go to the store that was left."""
    home = opened.store_access.socket.store_folder
    with suppress(OSError):  # the way back is known from the settings too
        mark_visited(previous_store)
        mark_visited(home)
        save_terminal_store(
            home.root, opened.profile.terminal, TerminalStore(opened.configured_store, home.store, user)
        )
    text = msg("session.moved", store=home.store)
    if verdict and verdict.text.id != "sign_in.done":
        text = msg("session.moved_told", store=home.store, told=verdict.text)
    if waiting:
        text = msg("session.moved_waiting", told=text, count=waiting, left=previous_store.store)
    return Verdict(WRONG if verdict and verdict.kind == WRONG else GOOD, text)


def close_store(store_access: StoreAccess) -> None:
    """Lets go of the files and the doorbell of a store."""
    for end in (store_access.socket.close, store_access.reader.close, store_access.journal.close):
        with suppress(StorageError, OSError):  # all of it is durable
            end()


class _SessionState(NamedTuple):
    """All that a session works with and stands at, to go back to."""

    attributes: dict[str, Any]
    jobs: tuple[StackedJob, ...]


def switch_store(session: SessionBase, store: str) -> None:
    """Goes on in another store, as the same person. What was done here is durable first, and stays here: jobs that
    are open wait for whoever comes back, and this store's courier sends what is not sent."""
    if not session._commit():
        return
    try:
        waiting = session._store.operations.pending_counts()[0]
        there = session.open_store(store) if session.open_store else None
    except AisleError as error:
        session._show_verdict(Verdict(WRONG, msg("session.not_moved", store=store, why=error_message(error))))
        return
    if there is None:
        session._show_verdict(Verdict(WRONG, msg("session.one_store")))
        return
    here, left, who = _save_state(session), session._store, session._user
    try:
        _sign_in_there(session, there)
    except StorageError as error:
        _return_to(session, here)
        session._show_verdict(Verdict(WRONG, msg("session.not_moved", store=store, why=error_message(error))))
        return
    arrival = _save_state(session)
    _restore_state(session, here)
    session._unit_of_work.set_sign_in(SignOut())
    if not session._commit():
        here = _save_state(session)
        _restore_state(session, arrival)
        _return_to(session, here)
        return
    session._notifications.keep_courier()
    with suppress(StorageError):
        left.journal.end_session(session._session_id)
    _restore_state(session, arrival)
    session._show_verdict(report_arrival(left.socket.store_folder, there, who.user, waiting, session._verdict))
    close_store(left)


def _sign_in_there(session: SessionBase, opened: OpenedStore) -> None:
    """Begins there, durably; nothing of this is told to the store that is left. Raises StorageError."""
    who = session._user
    session._session_id, session._start_courier, session._settings_watch = (
        session._make_id(),
        opened.start_courier,
        opened.settings_watch,
    )
    session._profile, session._overridden = move_preferences(session._profile, session._overridden, opened.profile)
    set_process_zone(session._profile.time_zone)
    session._use_store(opened.store_access)
    session._unit_of_work = UnitOfWork(opened.store_access.journal, session._stack, session._session_id)
    session._question, session._verdict = NO_QUESTION, None
    session._unit_of_work.set_sign_in(who)
    if LANGUAGE in session._overridden:
        session._unit_of_work.add_local_note(LocalNote(LANGUAGE, who.user, session._profile.language))
    session._start(who)
    session._commit_or_raise()


def _return_to(session: SessionBase, state: _SessionState) -> None:
    """Leaves a store that could not be changed to, signed out there as far as that can be said."""
    with suppress(StorageError):
        session._unit_of_work.set_sign_in(SignOut())
        session._commit_or_raise()
    with suppress(StorageError):
        session._store.journal.end_session(session._session_id)
    there = session._store
    _restore_state(session, state)
    close_store(there)


def _save_state(session: SessionBase) -> _SessionState:
    return _SessionState(dict(vars(session)), tuple(session._stack.jobs))


def _restore_state(session: SessionBase, state: _SessionState) -> None:
    """Works there, as it was."""
    vars(session).update(state.attributes)
    set_process_zone(session._profile.time_zone)
    session._stack.jobs[:] = state.jobs
