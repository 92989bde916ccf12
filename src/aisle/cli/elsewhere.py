"""A terminal in another store than that of its settings: where it works, how it gets there, and what it left behind."""

from __future__ import annotations

from asyncio import get_running_loop
from collections.abc import Callable
from contextlib import suppress
from threading import Thread

from aisle.errors import AisleError
from aisle.local.host.home import Home
from aisle.local.session.changing import Elsewhere, OpenStore
from aisle.local.session.left import waiting
from aisle.local.session.opening import open_rooms
from aisle.local.session.watch import Watch, terms_of
from aisle.local.session.whereabouts import visited, whereabouts
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


def call_for_left(settled: Loaded, here: str, courier: CourierOf) -> Thread:
    """What was not sent when a terminal left a store is sent by that store's courier; after a host was started again
    nobody else would call it. The loop of the screen, which this is called on, waits for none of those files."""
    loop = get_running_loop()

    def look() -> None:
        for home in visited(settled.root, base_url(settled.settings)):
            if home.store != here and waiting(home)[0]:
                with suppress(RuntimeError):  # the program has ended meanwhile
                    loop.call_soon_threadsafe(call, home.store)

    def call(store: str) -> None:
        with suppress(AisleError, OSError):
            courier(in_store(settled, store))()

    looking = Thread(target=look, name="aisle-left", daemon=True)
    looking.start()
    return looking


def _is_named(settled: Loaded) -> bool:
    return settled.sources.get("store") == COMMAND_LINE
