"""Time zone of a store: a setting, else the zone of the host.

All displayed times and all day boundaries are those of the store, so each process uses the zone of its store.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from aisle.errors import SettingsError

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

_VARIABLE = "TZ"
_LOCALTIME = "/etc/localtime"
_DEFAULT_RULE = ",M3.2.0,M11.1.0"
"""Daylight saving rule of the C library for a zone rule without one."""
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
    now = datetime.now(tz=zone)
    if zone is not None and now.utcoffset() != datetime.fromtimestamp(now.timestamp()).astimezone().utcoffset():
        _set_variable(before)
        raise SettingsError(f"time_zone is {name!r}, and this host has no data of time zones; install tzdata.")


def host_zone() -> ZoneInfo:
    """Return the zone of the host, even if this process uses another one: the original `TZ`, else /etc/localtime, else
    UTC.
    """
    from zoneinfo import ZoneInfo

    variable = _host_variable[0] if _host_variable else os.environ.get(_VARIABLE)
    if variable is None:
        return _read_zone_file(_LOCALTIME) or ZoneInfo("UTC")
    name = variable.removeprefix(":")
    if name.startswith("/"):
        return _read_zone_file(name) or ZoneInfo("UTC")
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        return _parse_zone_rule(name) or _parse_zone_rule(name + _DEFAULT_RULE) or ZoneInfo("UTC")


@cache
def _file_zone_class() -> type[ZoneInfo]:
    """Return the class of zones that are read from a file or a rule, and can be sent to another process."""
    from zoneinfo import ZoneInfo

    class FileZone(ZoneInfo):
        """A zone whose key is the path of its file, or its rule."""

        def __reduce__(self) -> tuple[Any, ...]:
            return _unpickle_zone, (self.key,)

    return FileZone


def _unpickle_zone(key: str) -> ZoneInfo | None:
    """Read a zone of `_file_zone` in another process; UTC where its file is gone."""
    from zoneinfo import ZoneInfo

    return (_read_zone_file(key) if key.startswith("/") else _parse_zone_rule(key)) or ZoneInfo("UTC")


def _read_zone_file(path: str) -> ZoneInfo | None:
    """Return the zone in a file (RFC 9636); None if there is none."""
    try:
        with open(path, "rb") as stream:
            return _file_zone_class().from_file(stream, key=path)
    except (ValueError, OSError):
        return None


def _parse_zone_rule(rule: str) -> ZoneInfo | None:
    """Return the zone of a POSIX rule such as `CET-1CEST,M3.5.0,M10.5.0/3`, parsed as the footer of an empty
    zone file.
    """
    from io import BytesIO

    head = b"TZif2" + bytes(15)
    empty = head + (0).to_bytes(4, "big") * 4 + (1).to_bytes(4, "big") * 2 + bytes(6) + bytes(1)
    try:
        return _file_zone_class().from_file(BytesIO(empty * 2 + b"\n" + rule.encode() + b"\n"), key=rule)
    except (ValueError, OSError):
        return None


def zone_identity() -> str:
    """Return a text that identifies the zone of this process: its name, or a hash of the host's zone file."""
    variable = os.environ.get(_VARIABLE)
    if variable is not None:
        return variable
    from hashlib import sha256

    try:
        with open(_LOCALTIME, "rb") as stream:
            return f"{_LOCALTIME} {sha256(stream.read()).hexdigest()}"
    except OSError:
        return _LOCALTIME


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
