"""Lists with optional filters: a catalogue's head, those of its conditions that are asked for, its tail."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from aisle.service.storage.base import Row, Tx


class Query(NamedTuple):
    """A statement and its parameters."""

    sql: str
    args: tuple[object, ...]

    async def all(self, tx: Tx) -> list[Row]:
        """Every row."""
        return await tx.all(self.sql, *self.args)

    async def total(self, tx: Tx) -> int:
        """The one number of a counting statement."""
        row = await tx.one(self.sql, *self.args)
        return int(row[0] or 0) if row else 0


def filtered(head: str, conditions: Mapping[str, str], asked: Mapping[str, object], tail: str = "") -> Query:
    """`head WHERE … tail` with the conditions named in `asked`; a tuple fills several `$?` of one condition.

    Conditions that hold one value several times get it for each.
    """
    args: list[object] = []
    parts: list[str] = []
    for name, value in asked.items():
        pieces = conditions[name].split("$?")
        values = value if isinstance(value, tuple) else (value,) * (len(pieces) - 1)
        text = pieces[0]
        for piece, one in zip(pieces[1:], values, strict=True):
            args.append(one)
            text += "$" + str(len(args)) + piece
        parts.append(text)
    where = " WHERE " + " AND ".join(parts) if parts else ""
    return Query(head + where + " " + tail, tuple(args))


def paged(query: Query, size: int, offset: int) -> Query:
    """The same, from `offset`, at most `size` rows.

    The size is said in the text, and no offset where there is none: a planner that does not know them would plan each
    page anew, or for a tenth of the table.
    """
    text = query.sql + " LIMIT " + str(int(size))
    if not offset:
        return Query(text, query.args)
    return Query(text + " OFFSET $" + str(len(query.args) + 1), (*query.args, offset))


def counted(query: Query, most: int) -> Query:
    """How many rows it has, of the first `most`."""
    return around(paged(query, most, 0), "SELECT count(*) FROM page")


def around(page: Query, rest: str) -> Query:
    """`rest`, which reads the page's rows under the name `page`."""
    return Query("WITH page AS (" + page.sql + ") " + rest, page.args)


def contains(text: str) -> str:
    """A LIKE pattern (with ESCAPE '\\') for texts that hold this one, which has no pattern characters of its own."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return "%" + escaped + "%"
