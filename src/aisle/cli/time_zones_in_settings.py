"""Time zones of stores in the settings, for the embedded service and for the courier."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from aisle.errors import SettingsError
from aisle.service.domain.timestamps import TimeZones
from aisle.settings import LoadedSettings, file_stamps, load_settings
from aisle.settings.host_zone import host_zone
from aisle.settings.parse_settings_file import read_settings_file
from aisle.settings.process_time_zone import parse_zone, set_process_zone

NO_STORE = "-"
"""Store number for processes that serve all stores; no store section matches it."""


class StoreZones(NamedTuple):
    """Zone names of the stores; an empty name is the host's zone."""

    own_zone: str
    """Zone of the store of these settings."""
    default: str
    """Zone of stores without an own one."""
    stores: Mapping[str, str]


def zones_in_settings(loaded: LoadedSettings) -> StoreZones:
    """Return the zones in the settings. Raise SettingsError."""
    own = loaded.settings.time_zone
    if not any(path.exists() for path in loaded.files):
        return StoreZones(own, own, {})

    stores = sorted({store for path in loaded.files for store in read_settings_file(path).stores})
    zones = {
        store: load_settings({**loaded.command_line_values, "store": store}, strict=False).settings.time_zone
        for store in stores
    }
    return StoreZones(
        own, load_settings({**loaded.command_line_values, "store": NO_STORE}, strict=False).settings.time_zone, zones
    )


def service_zones(loaded: LoadedSettings) -> TimeZones:
    """Return the zones in which the service reads times of each store.

    Without a setting that is the host's zone, even if this process uses the zone of its store.
    """
    zones = zones_in_settings(loaded)
    host = host_zone()
    return TimeZones(
        parse_zone(zones.default) or host, {store: parse_zone(name) or host for store, name in zones.stores.items()}
    )


class ZoneWatch:
    """Watch for changed time zones in the settings, which it applies to this process. Not thread-safe; a check costs
    one stat a file.
    """

    def __init__(self, loaded: LoadedSettings) -> None:
        self._command_line_values = loaded.command_line_values
        self._files = loaded.files
        self._stamp = loaded.stamps
        self._zones = zones_in_settings(loaded)

    def has_changed(self) -> bool:
        """Return True if the zones have changed since the last check; settings with errors change nothing."""
        stamps = file_stamps(self._files)
        if stamps == self._stamp:
            return False
        self._stamp = stamps
        try:
            loaded = load_settings(self._command_line_values, strict=False)
            zones = self._zones if loaded.problems else zones_in_settings(loaded)
            if zones != self._zones:
                set_process_zone(zones.own_zone)
        except SettingsError:
            return False
        before, self._zones = self._zones, zones
        return zones != before
