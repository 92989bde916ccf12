"""A terminal in another store than that of its settings: where it works, how it gets there, and what it left behind."""

from __future__ import annotations

from asyncio import get_running_loop
from collections.abc import Callable
from contextlib import suppress
from threading import Thread

from aisle.cache.store_queries import unfinished_work
from aisle.errors import AisleError
from aisle.host.store_folder import StoreFolder, load_terminal_store, visited_stores
from aisle.session.profile import OpenedStore, OpenStore, SettingsWatch, profile_from_settings
from aisle.session.session import open_store
from aisle.settings import LoadedSettings, load_settings, service_url, terminal_name

COMMAND_LINE = "the command line"

CourierStarter = Callable[[LoadedSettings], Callable[[], None]]
"""What brings a courier up for these settings."""


def current_store_settings(configured: LoadedSettings) -> LoadedSettings:
    """The settings of the store that this terminal was changed to; a store that the command line names wins."""
    settings = configured.settings
    note = load_terminal_store(configured.data_folder, terminal_name(settings), settings.store)
    if note is None or _is_store_given(configured):
        return configured
    try:
        return settings_for_store(configured, note.store)
    except AisleError:
        return configured


def settings_for_store(configured: LoadedSettings, store: str) -> LoadedSettings:
    """The same settings for another store, with what the files say of that one. Raises SettingsError."""
    return load_settings({**configured.command_line_values, "store": store})


def store_opener(configured: LoadedSettings, courier_starter: CourierStarter) -> OpenStore:
    """Opens any store that this terminal is changed to."""

    def open_other_store(store: str) -> OpenedStore:
        loaded = settings_for_store(configured, store)
        terms = profile_from_settings(loaded.settings, loaded.sources)
        rooms = open_store(StoreFolder(loaded.data_folder, service_url(loaded.settings), store))
        home = "" if _is_store_given(configured) else configured.settings.store
        return OpenedStore(rooms, terms, SettingsWatch(loaded), courier_starter(loaded), home)

    return open_other_store


def start_couriers_of_left_stores(
    configured: LoadedSettings, current_store: str, courier_starter: CourierStarter
) -> Thread:
    """What was not sent when a terminal left a store is sent by that store's courier; after a host was started again
    nobody else would call it. The loop of the screen, which this is called on, waits for none of those files."""
    loop = get_running_loop()

    def look() -> None:
        for home in visited_stores(configured.data_folder, service_url(configured.settings)):
            if home.store != current_store and unfinished_work(home)[0]:
                with suppress(RuntimeError):  # the program has ended meanwhile
                    loop.call_soon_threadsafe(call, home.store)

    def call(store: str) -> None:
        with suppress(AisleError, OSError):
            courier_starter(settings_for_store(configured, store))()

    looking = Thread(target=look, name="aisle-left", daemon=True)
    looking.start()
    return looking


def _is_store_given(configured: LoadedSettings) -> bool:
    return configured.sources.get("store") == COMMAND_LINE
