"""Time zone of the host, read from its zone file or its rule."""

from __future__ import annotations

from io import BytesIO
from typing import Any
from zoneinfo import ZoneInfo

from aisle.settings.process_time_zone import LOCALTIME, host_variable

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
