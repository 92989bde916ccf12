"""The time zone of a store: a setting, that of the host where nothing is said.

All times that people read, and all days that begin and end, are those of the store: a process works in the zone of its
store.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from aisle.errors import SettingsError

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

_VARIABLE = "TZ"
_host: list[str | None] = []
"""The zone of the host as this process found it, once it works in another one."""


def zone_of(name: str) -> ZoneInfo | None:
    """A zone by its name (IANA), such as Europe/Amsterdam; None for the host's. Raises SettingsError for none."""
    if not name:
        return None
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        raise SettingsError(f"time_zone is {name!r}; it takes the name of a zone such as Europe/Amsterdam.") from None


def enter(name: str) -> None:
    """Works in this zone from now on; with no name in that of the host. Raises SettingsError where it cannot."""
    if not name and not _host:
        return
    zone = zone_of(name)
    if not _host:
        _host.append(os.environ.get(_VARIABLE))
    _set(name or _host[0])
    now = datetime.now(tz=zone)
    if zone is not None and now.utcoffset() != datetime.fromtimestamp(now.timestamp()).astimezone().utcoffset():
        _set(_host[0])
        raise SettingsError(f"time_zone is {name!r}, and this host has no data of time zones; install tzdata.")


def host_environ() -> dict[str, str]:
    """The environment of this process with the zone of the host, for processes that choose their own."""
    environ: Mapping[str, str] = os.environ
    if not _host:
        return dict(environ)
    others = {name: text for name, text in environ.items() if name != _VARIABLE}
    return others if _host[0] is None else {**others, _VARIABLE: _host[0]}


def _set(text: str | None) -> None:
    if text is None:
        os.environ.pop(_VARIABLE, None)
    else:
        os.environ[_VARIABLE] = text
    time.tzset()
