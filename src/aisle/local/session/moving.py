"""How a session goes on in another store: durable there before anybody leaves here; where it is not, it goes back.

A part of aisle.local.session.session, which loads it when a store is changed.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from aisle.errors import AisleError, StorageError
from aisle.jobs.base import Remark, SignOut
from aisle.jobs.view import WRONG, Verdict, msg
from aisle.local.host.troubles import why_of
from aisle.local.outbox.remarks import LANGUAGE
from aisle.local.session.asking import NOTHING
from aisle.local.session.changing import Elsewhere, arrived, leave
from aisle.local.session.keeper import Keeper
from aisle.local.session.stack import Level
from aisle.local.session.tuning import carried
from aisle.settings.time_zone import enter
from aisle.tuples import NamedTuple

if TYPE_CHECKING:
    from aisle.local.session.desk import Desk


class _Stand(NamedTuple):
    """All that a session works with and stands at, to go back to."""

    holds: dict[str, Any]
    levels: tuple[Level, ...]


def work_in(desk: Desk, store: str) -> None:
    """Goes on in another store, as the same person. What was done here is durable first, and stays here: jobs that
    are open wait for whoever comes back, and this store's courier sends what is not sent."""
    if not desk._commit():
        return
    try:
        waiting = desk._rooms.outbox.counts()[0]
        there = desk.open_store(store) if desk.open_store else None
    except AisleError as error:
        desk._tell(Verdict(WRONG, msg("session.not_moved", store=store, why=why_of(error))))
        return
    if there is None:
        desk._tell(Verdict(WRONG, msg("session.one_store")))
        return
    here, left, who = _stand(desk), desk._rooms, desk._who
    try:
        _arrive(desk, there)
    except StorageError as error:
        _go_back(desk, here)
        desk._tell(Verdict(WRONG, msg("session.not_moved", store=store, why=why_of(error))))
        return
    arrival = _stand(desk)
    _sit(desk, here)
    desk._keeper.stay(SignOut())
    if not desk._commit():
        here = _stand(desk)
        _sit(desk, arrival)
        _go_back(desk, here)
        return
    desk._lookout.keep_courier()
    with suppress(StorageError):
        left.journal.end_session(desk._id)
    _sit(desk, arrival)
    desk._tell(arrived(left.bell.home, there, who.user, waiting, desk._verdict))
    leave(left)


def _arrive(desk: Desk, there: Elsewhere) -> None:
    """Begins there, durably; nothing of this is told to the store that is left. Raises StorageError."""
    who = desk._who
    desk._id, desk._call_courier, desk._watch = desk._name(), there.call_courier, there.watch
    desk._terms, desk._own = carried(desk._terms, desk._own, there.terms)
    enter(desk._terms.time_zone)
    desk._furnish(there.rooms)
    desk._keeper = Keeper(there.rooms.journal, desk._stack, desk._id)
    desk._asking, desk._verdict = NOTHING, None
    desk._keeper.stay(who)
    if LANGUAGE in desk._own:
        desk._keeper.remark(Remark(LANGUAGE, who.user, desk._terms.language))
    desk._start(who)
    desk._keep()


def _go_back(desk: Desk, here: _Stand) -> None:
    """Leaves a store that could not be changed to, signed out there as far as that can be said."""
    with suppress(StorageError):
        desk._keeper.stay(SignOut())
        desk._keep()
    with suppress(StorageError):
        desk._rooms.journal.end_session(desk._id)
    there = desk._rooms
    _sit(desk, here)
    leave(there)


def _stand(desk: Desk) -> _Stand:
    return _Stand(dict(vars(desk)), tuple(desk._stack.levels))


def _sit(desk: Desk, stand: _Stand) -> None:
    """Works there, as it was."""
    vars(desk).update(stand.holds)
    enter(desk._terms.time_zone)
    desk._stack.levels[:] = stand.levels
