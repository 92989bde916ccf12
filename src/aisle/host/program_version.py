"""Which program this is, as couriers tell each other who goes and who stays."""

from __future__ import annotations

import re

from aisle import __version__
from aisle.cache.schema import SCHEMA_VERSION
from aisle.outbox.outbox_file import OUTBOX_MIGRATIONS

PROGRAM_VERSION = f"{__version__}+{len(OUTBOX_MIGRATIONS)}.{SCHEMA_VERSION}"
"""The version, and the forms of the outbox and of the cache: between two releases these may change alone."""


def is_newer(version: str, other: str) -> bool:
    """Whether one version follows another: by its numbers, `0.10.0` after `0.9.1`; of one version, by the forms of its
    files, `0.9.1+5.4` after `0.9.1+5.3`."""
    return _version_numbers(version) > _version_numbers(other)


def _version_numbers(version: str) -> tuple[tuple[int, ...], ...]:
    release, _, build = version.partition("+")
    forms = build if re.fullmatch(r"[\d.]+", build) else ""
    return tuple(tuple(int(part) for part in re.findall(r"\d+", each)) for each in (release, forms))
