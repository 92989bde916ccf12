"""Opens what a session works with: this host's databases, its doorbell, its trace."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from aisle.jobs.base import SignIn
from aisle.local.host.home import Home
from aisle.local.host.signals import Bell
from aisle.local.outbox.journal import Journal
from aisle.local.outbox.outbox import Outbox, open_outbox
from aisle.local.reads.reads import Reads
from aisle.local.session.session import Session
from aisle.local.session.terms import Rooms
from aisle.local.session.watch import Watch, terms_of
from aisle.settings import Loaded, Settings


def open_rooms(home: Home) -> Rooms:
    """The files of a store on this host, and a doorbell there. Raises StorageError."""
    outbox = open_outbox(home.folder)
    return Rooms(Reads(home, outbox), Journal(outbox), Outbox(outbox), Bell(home))


def open_session(
    home: Home,
    settings: Settings,
    call_courier: Callable[[], None] | None = None,
    loaded: Loaded | None = None,
    person: SignIn | None = None,
) -> Session:
    """The session of this terminal; `call_courier` starts one. Raises StorageError or SettingsError.

    With `loaded`, where the settings come from, it goes along with changes of their files. With `person` it is that
    person's alone.
    """
    terms = terms_of(settings, loaded.sources if loaded else None)
    trace = None
    if settings.trace:
        from aisle.local.session.trace import Trace  # hardly ever, and no start pays for it

        trace = Trace(Path(settings.trace), time.monotonic())
    rooms = open_rooms(home)
    watch = Watch(loaded) if loaded else None
    kind: Callable[..., Session] = Session
    if person:
        from aisle.local.session.bound import BoundSession

        kind = partial(BoundSession, person)
    if call_courier is None:
        return kind(rooms, terms, trace=trace, watch=watch)
    return kind(rooms, terms, trace=trace, watch=watch, call_courier=call_courier)
