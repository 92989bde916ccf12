"""A terminal in another store than that of its settings: where it works, how it gets there, and what it left behind."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing, suppress

from aisle.errors import AisleError
from aisle.local.changing import Elsewhere, OpenStore
from aisle.local.home import Home
from aisle.local.opening import open_rooms
from aisle.local.outbox import Outbox, open_outbox
from aisle.local.watch import Watch, terms_of
from aisle.local.whereabouts import visited, whereabouts
from aisle.settings import Loaded, base_url, load, terminal_name

COMMAND_LINE = "the command line"

CourierOf = Callable[[Loaded], Callable[[], None]]
"""What brings a courier up for these settings."""


def where_it_works(settled: Loaded) -> Loaded:
    """The settings of the store that this terminal was changed to; a store that the command line names wins."""
    settings = settled.settings
    note = whereabouts(settled.root, terminal_name(settings), settings.store)
    if note is None or _is_named(settled):
        return settled
    try:
        return in_store(settled, note.store)
    except AisleError:
        return settled


def in_store(settled: Loaded, store: str) -> Loaded:
    """The same settings for another store, with what the files say of that one. Raises SettingsError."""
    return load({**settled.given, "store": store})


def opener(settled: Loaded, courier: CourierOf) -> OpenStore:
    """Opens any store that this terminal is changed to."""

    def open_store(store: str) -> Elsewhere:
        loaded = in_store(settled, store)
        terms = terms_of(loaded.settings, loaded.sources)
        rooms = open_rooms(Home(loaded.root, base_url(loaded.settings), store))
        home = "" if _is_named(settled) else settled.settings.store
        return Elsewhere(rooms, terms, Watch(loaded), courier(loaded), home)

    return open_store


def call_for_left(settled: Loaded, here: str, courier: CourierOf) -> None:
    """What was not sent when a terminal left a store is sent by that store's courier; after a host was started again
    nobody else would call it."""
    for home in visited(settled.root, base_url(settled.settings)):
        with suppress(AisleError, OSError):
            if home.store != here and waits(home):
                courier(in_store(settled, home.store))()


def waits(home: Home) -> bool:
    """Whether something that was done in a store is not settled yet."""
    if not home.outbox.exists():
        return False
    with closing(open_outbox(home.folder)) as outbox:
        return bool(Outbox(outbox).counts()[0])


def _is_named(settled: Loaded) -> bool:
    return settled.sources.get("store") == COMMAND_LINE
