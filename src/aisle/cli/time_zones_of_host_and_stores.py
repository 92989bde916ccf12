"""Time zones of the host and of stores in the settings, for the embedded service and the courier."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from aisle.errors import SettingsError
from aisle.service.domain.quantities_times_and_json import TimeZones
from aisle.settings.load_settings import load_settings
from aisle.settings.process_time_zone import LOCALTIME, host_variable, parse_zone, set_process_zone
from aisle.settings.settings_files_and_folders import LoadedSettings, file_stamps

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
    if not loaded.stores:
        return StoreZones(own, own, {})

    zones = {
        store: load_settings({**loaded.command_line_values, "store": store}, strict=False).settings.time_zone
        for store in loaded.stores
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


_DEFAULT_RULE = ",M3.2.0,M11.1.0"
"""Daylight saving rule of the C library for a zone rule without one."""


def host_zone() -> ZoneInfo:
    """Return the zone of the host, even if this process uses another one: the original `TZ`, else /etc/localtime, else
    UTC.
    """
    variable = host_variable()
    if variable is None:
        return _read_zone_file(LOCALTIME) or ZoneInfo("UTC")
    name = variable.removeprefix(":")
    if name.startswith("/"):
        return _read_zone_file(name) or ZoneInfo("UTC")
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        return _parse_zone_rule(name) or _parse_zone_rule(name + _DEFAULT_RULE) or ZoneInfo("UTC")


class FileZone(ZoneInfo):
    """Zone that is read from a file or a rule, and can be sent to another process. Its key is the path or the rule."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle_zone, (self.key,)


def _unpickle_zone(key: str) -> ZoneInfo:
    """Read a zone in another process; UTC where its file is gone."""
    return (_read_zone_file(key) if key.startswith("/") else _parse_zone_rule(key)) or ZoneInfo("UTC")


def _read_zone_file(path: str) -> ZoneInfo | None:
    """Return the zone in a file (RFC 9636); None if there is none."""
    try:
        with open(path, "rb") as stream:
            return FileZone.from_file(stream, key=path)
    except (ValueError, OSError):
        return None


def _parse_zone_rule(rule: str) -> ZoneInfo | None:
    """Return the zone of a POSIX rule such as `CET-1CEST,M3.5.0,M10.5.0/3`, parsed as the footer of an empty
    zone file.
    """
    head = b"TZif2" + bytes(15)
    empty = head + (0).to_bytes(4, "big") * 4 + (1).to_bytes(4, "big") * 2 + bytes(6) + bytes(1)
    try:
        return FileZone.from_file(BytesIO(empty * 2 + b"\n" + rule.encode() + b"\n"), key=rule)
    except (ValueError, OSError):
        return None
