"""Which program this is, as couriers tell each other who goes and who stays."""

from __future__ import annotations

from aisle import __version__
from aisle.local.cache.schema import VERSION
from aisle.local.outbox.schema import OUTBOX

PROGRAM = f"{__version__}+{len(OUTBOX)}.{VERSION}"
"""The version, and the forms of the outbox and of the cache: between two releases these may change alone."""
