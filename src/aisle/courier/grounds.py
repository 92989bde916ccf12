"""What a courier stands on while it works: its two files, which somebody may delete, and their form, which a newer
program may change."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import apsw

from aisle.errors import StorageError
from aisle.local.db import is_gone, version
from aisle.local.host.disk import file_id

FILES_GONE = "its files are gone"
"""Ends a term that goes on at once, with new ones."""
NEWER_PROGRAM = "a newer program has changed its files"
"""Ends a term for good: that program's courier follows."""


class Ground:
    """One database as it was when the work began."""

    def __init__(self, connection: apsw.Connection, path: Path) -> None:
        self._db = connection
        self._path = path
        self._file = file_id(path)
        self._version = version(connection)

    @property
    def lost(self) -> str:
        """Why nobody can work with it any more; empty while one can."""
        if file_id(self._path) != self._file or is_gone(self._db):
            return FILES_GONE
        with suppress(StorageError, apsw.Error):  # trouble that passes
            if version(self._db) > self._version:
                return NEWER_PROGRAM
        return ""


def lost(grounds: Sequence[Ground]) -> str:
    """Why the work cannot go on as it is; empty while it can."""
    return next((why for ground in grounds if (why := ground.lost)), "")
