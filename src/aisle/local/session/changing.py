"""A terminal that goes on in another store: what it needs there, and what is told on arrival.

Each store has files of its own on this host, so nothing of the one that is left can get into the other.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from aisle.errors import StorageError
from aisle.jobs.view import GOOD, WRONG, Verdict, msg
from aisle.local.host.home import Home
from aisle.local.session.terms import Rooms, Terms
from aisle.local.session.watch import Watch
from aisle.local.session.whereabouts import Whereabouts, remember, visit
from aisle.tuples import NamedTuple


class Elsewhere(NamedTuple):
    """Another store, opened."""

    rooms: Rooms
    terms: Terms
    watch: Watch | None
    call_courier: Callable[[], None]
    settled: str
    """The store that this terminal works in when nobody changes it."""


OpenStore = Callable[[str], Elsewhere]
"""Opens a store by its number. Raises AisleError."""


def arrived(left: Home, there: Elsewhere, user: str, waiting: int, told: Verdict | None) -> Verdict:
    """Notes where this terminal works now, and says so: with `told`, what became of the jobs that wait there, and how
    many operations still go to the store that was left."""
    home = there.rooms.bell.home
    with suppress(OSError):  # the way back is known from the settings too
        visit(left)
        visit(home)
        remember(home.root, there.terms.terminal, Whereabouts(there.settled, home.store, user))
    text = msg("session.moved", store=home.store)
    if told and told.text.id != "sign_in.done":
        text = msg("session.moved_told", store=home.store, told=told.text)
    if waiting:
        text = msg("session.moved_waiting", told=text, count=waiting, left=left.store)
    return Verdict(WRONG if told and told.kind == WRONG else GOOD, text)


def leave(rooms: Rooms) -> None:
    """Lets go of the files and the doorbell of a store."""
    for end in (rooms.bell.close, rooms.reads.close, rooms.journal.let_go):
        with suppress(StorageError, OSError):  # all of it is durable
            end()
