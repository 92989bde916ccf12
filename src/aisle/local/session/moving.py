"""How a session goes on in another store: durable there before anybody leaves here; where it is not, it goes back.

A part of aisle.local.session.session, which loads it when a store is changed.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from aisle.errors import AisleError, StorageError
from aisle.jobs.base import SignOut
from aisle.jobs.view import WRONG, Verdict, msg
from aisle.local.host.troubles import why_of
from aisle.local.session.asking import NOTHING
from aisle.local.session.changing import Elsewhere, arrived, leave
from aisle.local.session.keeper import Keeper
from aisle.local.session.stack import Level

if TYPE_CHECKING:
    from aisle.local.session.session import Session


class _Desk(NamedTuple):
    """All that a session works with and stands at, to go back to."""

    holds: dict[str, Any]
    levels: tuple[Level, ...]


def work_in(session: Session, store: str) -> None:
    """Goes on in another store, as the same person. What was done here is durable first, and stays here: jobs that
    are open wait for whoever comes back, and this store's courier sends what is not sent."""
    if not session._commit():
        return
    try:
        waiting = session._rooms.outbox.counts()[0]
        there = session.open_store(store) if session.open_store else None
    except AisleError as error:
        session._tell(Verdict(WRONG, msg("session.not_moved", store=store, why=why_of(error))))
        return
    if there is None:
        session._tell(Verdict(WRONG, msg("session.one_store")))
        return
    here, left, who = _desk(session), session._rooms, session._who
    try:
        _arrive(session, there)
    except StorageError as error:
        _go_back(session, here)
        session._tell(Verdict(WRONG, msg("session.not_moved", store=store, why=why_of(error))))
        return
    arrival = _desk(session)
    _sit(session, here)
    session._keeper.stay(SignOut())
    if not session._commit():
        here = _desk(session)
        _sit(session, arrival)
        _go_back(session, here)
        return
    session._lookout.keep_courier()
    with suppress(StorageError):
        left.journal.end_session(session._id)
    _sit(session, arrival)
    session._tell(arrived(left.bell.home, there, who.user, waiting, session._verdict))
    leave(left)


def _arrive(session: Session, there: Elsewhere) -> None:
    """Begins there, durably; nothing of this is told to the store that is left. Raises StorageError."""
    who = session._who
    session._id, session._call_courier, session._watch = session._name(), there.call_courier, there.watch
    session._terms = there.terms._replace(terminal=session._terms.terminal)
    session._furnish(there.rooms)
    session._keeper = Keeper(there.rooms.journal, session._stack, session._id)
    session._asking, session._verdict = NOTHING, None
    session._keeper.stay(who)
    session._start(who)
    session._keep()


def _go_back(session: Session, here: _Desk) -> None:
    """Leaves a store that could not be changed to, signed out there as far as that can be said."""
    with suppress(StorageError):
        session._keeper.stay(SignOut())
        session._keep()
    with suppress(StorageError):
        session._rooms.journal.end_session(session._id)
    there = session._rooms
    _sit(session, here)
    leave(there)


def _desk(session: Session) -> _Desk:
    return _Desk(dict(vars(session)), tuple(session._stack.levels))


def _sit(session: Session, desk: _Desk) -> None:
    """Works there, as it was."""
    vars(session).update(desk.holds)
    session._stack.levels[:] = desk.levels
