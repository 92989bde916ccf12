"""The time zones of the stores, as the settings say: for the service in this process, and for a courier that stays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from aisle.errors import SettingsError
from aisle.settings import LoadedSettings, file_stamps, load_settings
from aisle.settings.time_zone import host_zone, parse_zone, set_process_zone

if TYPE_CHECKING:
    from aisle.service.domain.timestamps import TimeZones

NO_STORE = "-"
"""What stands for the store of a process that works for all of them: no section of a store is meant for it."""


class StoreZones(NamedTuple):
    """The zones of the stores by their names; an empty name is the host's zone."""

    own_zone: str
    """That of the store of these settings."""
    default: str
    """That of the stores of which nothing is said."""
    stores: Mapping[str, str]


def zones_in_settings(loaded: LoadedSettings) -> StoreZones:
    """What the settings say of the zones now. Raises SettingsError."""
    own = loaded.settings.time_zone
    if not any(path.exists() for path in loaded.files):
        return StoreZones(own, own, {})
    from aisle.settings.files import read_settings_file

    stores = sorted({store for path in loaded.files for store in read_settings_file(path).stores})
    said = {
        store: load_settings({**loaded.command_line_values, "store": store}, strict=False).settings.time_zone
        for store in stores
    }
    return StoreZones(
        own, load_settings({**loaded.command_line_values, "store": NO_STORE}, strict=False).settings.time_zone, said
    )


def service_zones(loaded: LoadedSettings) -> TimeZones:
    """The zones by which the service reads times of each store.

    This process may work in the zone of its own store: where nothing is said, it is the host's all the same.
    """
    from aisle.service.domain.timestamps import TimeZones

    said = zones_in_settings(loaded)
    host = host_zone()
    return TimeZones(
        parse_zone(said.default) or host, {store: parse_zone(name) or host for store, name in said.stores.items()}
    )


class ZoneWatch:
    """Whether the settings name other zones than those by which this process works; then it works by the new ones.

    Not for use from several threads. A look costs a stat of each file.
    """

    def __init__(self, loaded: LoadedSettings) -> None:
        self._command_line_values = loaded.command_line_values
        self._files = loaded.files
        self._stamp = loaded.stamps
        self._zones = zones_in_settings(loaded)

    def has_changed(self) -> bool:
        """Looks; settings that have an error change nothing."""
        stamp = file_stamps(self._files)
        if stamp == self._stamp:
            return False
        self._stamp = stamp
        try:
            loaded = load_settings(self._command_line_values, strict=False)
            said = self._zones if loaded.problems else zones_in_settings(loaded)
            if said != self._zones:
                set_process_zone(said.own_zone)
        except SettingsError:
            return False
        before, self._zones = self._zones, said
        return said != before
