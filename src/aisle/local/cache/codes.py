"""The codes that lead to rows of the cache, whatever these are of: written and taken out many at a time."""

from __future__ import annotations

from collections.abc import Iterable

import apsw

Code = tuple[str, str, str]
"""A code, the kind of what it leads to, and the key of that."""


def add_codes(connection: apsw.Connection, codes: Iterable[Code]) -> None:
    """These lead to one each of what they name."""
    connection.executemany("INSERT OR REPLACE INTO code (code, kind, key, factor) VALUES (?, ?, ?, '1')", sorted(codes))


def drop_codes(connection: apsw.Connection, codes: Iterable[Code]) -> None:
    """These lead there no more."""
    connection.executemany("DELETE FROM code WHERE code = ? AND kind = ? AND key = ?", codes)
