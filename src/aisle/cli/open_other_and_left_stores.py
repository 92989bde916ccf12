"""Opening of another store for a running app: its settings and files, and couriers of stores left with work."""

from __future__ import annotations

from asyncio import get_running_loop
from collections.abc import Callable
from contextlib import suppress
from threading import Thread

from aisle.cache.chain_store_queries import unfinished_work
from aisle.errors import AisleError
from aisle.host.store_and_database_folders import StoreFolder
from aisle.host.switched_terminals_and_visited_stores import check_note_folders, load_terminal_store, visited_stores
from aisle.session.profile import SettingsWatch, profile_from_settings
from aisle.session.store_connection import open_store
from aisle.session.switch_store import OpenedStore, OpenStore
from aisle.settings.load_settings import load_settings
from aisle.settings.setting_definitions import service_url
from aisle.settings.settings_files_and_folders import LoadedSettings
from aisle.settings.terminal_name import terminal_name

COMMAND_LINE = "the command line"

CourierStarter = Callable[[LoadedSettings], Callable[[], None]]
"""Function that returns the courier starter for these settings."""


def current_store_settings(configured: LoadedSettings) -> LoadedSettings:
    """Return the settings of the store that this terminal was switched to, unless the command line names a store.

    Raise StorageError if other accounts may change the notes of these stores.
    """
    check_note_folders(configured.data_folder)
    settings = configured.settings
    note = load_terminal_store(configured.data_folder, terminal_name(settings), settings.store)
    if note is None or _is_store_given(configured):
        return configured
    try:
        return settings_for_store(configured, note.store)
    except AisleError:
        return configured


def settings_for_store(configured: LoadedSettings, store: str) -> LoadedSettings:
    """Return the settings for another store, including its sections in the files. Raise SettingsError."""
    return load_settings({**configured.command_line_values, "store": store})


def store_opener(configured: LoadedSettings, courier_starter: CourierStarter) -> OpenStore:
    """Return a function that opens the store that this terminal switches to."""

    def open_other_store(store: str) -> OpenedStore:
        loaded = settings_for_store(configured, store)
        profile = profile_from_settings(loaded.settings, loaded.sources)
        opened = open_store(StoreFolder(loaded.data_folder, service_url(loaded.settings), store))
        home = "" if _is_store_given(configured) else configured.settings.store
        return OpenedStore(opened, profile, SettingsWatch(loaded), courier_starter(loaded), home)

    return open_other_store


def start_couriers_of_left_stores(
    configured: LoadedSettings, current_store: str, courier_starter: CourierStarter
) -> Thread:
    """Start couriers of stores that this terminal left with unsent operations.

    After a restart of the host nothing else would start them. The files are read on a thread, so that the screen's loop
    does not wait.
    """
    loop = get_running_loop()

    def look() -> None:
        for home in visited_stores(configured.data_folder, service_url(configured.settings)):
            if home.store != current_store and unfinished_work(home)[0]:
                with suppress(RuntimeError):  # the program has ended
                    loop.call_soon_threadsafe(call, home.store)

    def call(store: str) -> None:
        with suppress(AisleError, OSError):
            courier_starter(settings_for_store(configured, store))()

    thread = Thread(target=look, name="aisle-left", daemon=True)
    thread.start()
    return thread


def _is_store_given(configured: LoadedSettings) -> bool:
    return configured.sources.get("store") == COMMAND_LINE
