"""Version of this program, by which couriers decide which one leads."""

from __future__ import annotations

import re

from aisle import __version__
from aisle.cache.schema import SCHEMA_VERSION
from aisle.outbox.outbox_schema import OUTBOX_MIGRATIONS

PROGRAM_VERSION = f"{__version__}+{len(OUTBOX_MIGRATIONS)}.{SCHEMA_VERSION}"
"""Version with the schema versions of outbox and cache, which may change between two releases."""


def is_newer(version: str, other: str) -> bool:
    """Return True if a version is newer.

    Numbers are compared first (`0.10.0` after `0.9.1`), then schemas (`+5.4` after `+5.3`).
    """
    return _version_numbers(version) > _version_numbers(other)


def _version_numbers(version: str) -> tuple[tuple[int, ...], ...]:
    release, _, build = version.partition("+")
    schemas = build if re.fullmatch(r"[\d.]+", build) else ""
    return tuple(tuple(int(part) for part in re.findall(r"\d+", each)) for each in (release, schemas))
