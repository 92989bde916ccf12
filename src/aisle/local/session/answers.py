"""What the jobs of a session ask: mostly of the store's data, some of it of the terminal that they are at.

A part of aisle.local.session.session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aisle.jobs.base import Export, Query, Rows
from aisle.local.session.hearing import surroundings
from aisle.local.session.house import words

if TYPE_CHECKING:
    from aisle.local.session.session import Session


def answer(session: Session, query: Query | Export) -> Rows:
    """The rows that were asked for."""
    if isinstance(query, Export):
        from aisle.local.session.export import exported  # not every day, and no start pays for it

        return exported(session._rooms.reads.query, query, allowed=session._terms.exports)
    if query.name == "file":
        from aisle.local.session.export import named

        return named(query, allowed=session._terms.exports)
    if query.name == "terminal":
        return Rows(query.id, (surroundings(*session._size),), 1)
    if query.name == "words":
        return words(query, session._terms.language, session.say)
    rows, total, partly = session._rooms.reads.found(query.name, query.args)
    return Rows(query.id, tuple(rows), total, partly)
