"""Time zone of a store: a setting, else the zone of the host.

All displayed times and all day boundaries are those of the store, so each process uses the zone of its store.
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
LOCALTIME = "/etc/localtime"
"""Zone file of the host."""
_host_variable: list[str | None] = []
"""Time zone variable of the host, stored once this process uses another zone."""


def parse_zone(name: str) -> ZoneInfo | None:
    """Return the zone of this name (IANA), such as Europe/Amsterdam; None for the host's. Raise SettingsError if
    unknown.
    """
    if not name:
        return None
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        raise SettingsError(f"time_zone is {name!r}; it takes the name of a zone such as Europe/Amsterdam.") from None


def set_process_zone(name: str) -> None:
    """Set the zone of this process; without a name that of the host. Raise SettingsError if it cannot be used."""
    if not name and not _host_variable:
        return
    zone = parse_zone(name)
    if not _host_variable:
        _host_variable.append(os.environ.get(_VARIABLE))
    before = os.environ.get(_VARIABLE)
    _set_variable(name or _host_variable[0])
    if zone is not None and not _is_process_zone(zone):
        _set_variable(before)
        raise SettingsError(f"time_zone is {name!r}, and this host has no data of time zones; install tzdata.")


def _is_process_zone(zone: ZoneInfo) -> bool:
    """Return True if the C library has the offsets of this zone, in winter and in summer."""
    year = datetime.now(tz=zone).year
    moments = [datetime(year, month, 1, tzinfo=zone) for month in (1, 7)]
    return all(moment.utcoffset() == moment.astimezone().utcoffset() for moment in moments)


def host_variable() -> str | None:
    """Return the variable `TZ` of the host, even if this process uses another zone."""
    return _host_variable[0] if _host_variable else os.environ.get(_VARIABLE)


def host_environ() -> dict[str, str]:
    """Return the environment with the host's zone, for processes that choose their own."""
    environ: Mapping[str, str] = os.environ
    if not _host_variable:
        return dict(environ)
    others = {name: text for name, text in environ.items() if name != _VARIABLE}
    return others if _host_variable[0] is None else {**others, _VARIABLE: _host_variable[0]}


def _set_variable(text: str | None) -> None:
    if text is None:
        os.environ.pop(_VARIABLE, None)
    else:
        os.environ[_VARIABLE] = text
    time.tzset()
