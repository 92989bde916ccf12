"""The time zones of the stores, as the settings say: for the service in this process, and for a courier that stays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from aisle.errors import SettingsError
from aisle.settings import Loaded, load, stamp_of
from aisle.settings.time_zone import enter, host_zone, zone_of
from aisle.tuples import NamedTuple

if TYPE_CHECKING:
    from aisle.service.zones import Zones

NO_STORE = "-"
"""What stands for the store of a process that works for all of them: no section of a store is meant for it."""


class Named(NamedTuple):
    """The zones of the stores by their names; an empty name is the host's zone."""

    own: str
    """That of the store of these settings."""
    default: str
    """That of the stores of which nothing is said."""
    stores: Mapping[str, str]


def named(loaded: Loaded) -> Named:
    """What the settings say of the zones now. Raises SettingsError."""
    own = loaded.settings.time_zone
    if not any(path.exists() for path in loaded.files):
        return Named(own, own, {})
    from aisle.settings.files import read

    stores = sorted({store for path in loaded.files for store in read(path).stores})
    said = {store: load({**loaded.given, "store": store}, strict=False).settings.time_zone for store in stores}
    return Named(own, load({**loaded.given, "store": NO_STORE}, strict=False).settings.time_zone, said)


def zones_of(loaded: Loaded) -> Zones:
    """The zones by which the service reads times of each store.

    This process may work in the zone of its own store: where nothing is said, it is the host's all the same.
    """
    from aisle.service.zones import Zones

    said = named(loaded)
    host = host_zone()
    return Zones(zone_of(said.default) or host, {store: zone_of(name) or host for store, name in said.stores.items()})


class ZoneWatch:
    """Whether the settings name other zones than those by which this process works; then it works by the new ones.

    Not for use from several threads. A look costs a stat of each file.
    """

    def __init__(self, loaded: Loaded) -> None:
        self._given = loaded.given
        self._files = loaded.files
        self._stamp = loaded.stamp
        self._named = named(loaded)

    def is_another(self) -> bool:
        """Looks; settings that have an error change nothing."""
        stamp = stamp_of(self._files)
        if stamp == self._stamp:
            return False
        self._stamp = stamp
        try:
            loaded = load(self._given, strict=False)
            said = self._named if loaded.wrong else named(loaded)
            if said != self._named:
                enter(said.own)
        except SettingsError:
            return False
        before, self._named = self._named, said
        return said != before
