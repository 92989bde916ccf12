"""What the jobs of a session ask: mostly of the store's data, some of it of the terminal that they are at."""

from __future__ import annotations

from aisle.jobs.base import Export, Query, Rows
from aisle.local.reads.reads import Reads
from aisle.local.session.hearing import surroundings
from aisle.local.session.house import Words, words
from aisle.local.session.terms import Size, Terms


def answer(query: Query | Export, reads: Reads, terms: Terms, size: Size, say: Words | None) -> Rows:
    """The rows that were asked for. `say` is what messages say, where somebody knows it."""
    if isinstance(query, Export):
        from aisle.local.session.export import exported  # not every day, and no start pays for it

        return exported(reads.query, query, allowed=terms.exports)
    if query.name == "file":
        from aisle.local.session.export import named

        return named(query, allowed=terms.exports)
    if query.name == "terminal":
        return Rows(query.id, (surroundings(*size),), 1)
    if query.name == "words":
        return words(query, terms.language, say)
    rows, total, partly = reads.found(query.name, query.args)
    return Rows(query.id, tuple(rows), total, partly)
