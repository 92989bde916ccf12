"""The one door to a database. Rules are written once, as coroutines over `Tx`, and run on any engine.

On SQLite a coroutine never really waits: the storage's thread, or for a short read the event loop's, drives it to its
end inside one transaction. An engine with a network between runs the same coroutine on the event loop.
"""

from aisle.service.storage.base import (
    Busy,
    Duplicate,
    Lost,
    Row,
    Statement,
    Storage,
    Tx,
    Unfit,
    Unreachable,
    Work,
    tables_of,
)
from aisle.service.storage.engine import named_database, open_storage
from aisle.service.storage.sqlite import SQLITE_FLOOR, SqliteStorage

__all__ = [
    "SQLITE_FLOOR",
    "Busy",
    "Duplicate",
    "Lost",
    "Row",
    "SqliteStorage",
    "Statement",
    "Storage",
    "Tx",
    "Unfit",
    "Unreachable",
    "Work",
    "named_database",
    "open_storage",
    "tables_of",
]
