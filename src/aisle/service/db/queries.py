"""Lists with optional filters: a catalogue's head, those of its conditions that are asked for, its tail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

from aisle.search_text import search_variants
from aisle.service.db.database import Row, Statement, Transaction

# Conditions that a planner has one good plan for, whatever they are asked with.
_STABLE_FILTERS = frozenset(
    {"after", "beyond", "from_id", "is_active", "known", "month", "months", "place", "receipt_type", "since", "stocked"}
)
_STABLE_FILTERS |= {"store", "to_id", "token", "until"}


MAX_SEARCH_WORDS = 24
"""Words of a search that are heard."""


class SearchPatterns(NamedTuple):
    """A search of texts: patterns of which one that fits has all, or all of the next list; the longest first."""

    alternatives: tuple[tuple[str, ...], ...]


class Query(NamedTuple):
    """A statement and its parameters."""

    sql: str
    args: tuple[object, ...]
    has_stable_plan: bool = True
    """Whether one plan is good for it, whatever it is asked with."""
    branches: tuple[str, ...] = ()
    """Of a merged list, which has to be paged: its parts. Then the statement is their order alone."""

    @property
    def statement(self) -> Statement:
        """The same by itself."""
        return self.sql, self.args

    async def all(self, tx: Transaction) -> list[Row]:
        """Every row."""
        return await tx.all(self.sql, *self.args)

    async def fetch_count(self, tx: Transaction) -> int:
        """The one number of a counting statement."""
        row = await tx.one(self.sql, *self.args)
        return int(row[0] or 0) if row else 0


def filter_query(
    select: str, conditions: Mapping[str, str], filters: Mapping[str, object], order_by: str = ""
) -> Query:
    """`head WHERE … tail` with the conditions named in `asked`; a tuple fills several `$?` of one condition.

    Conditions that hold one value several times get it for each; one of texts stands there for each word of a search.
    """
    args: list[object] = []
    parts: list[str] = []
    for name, value in filters.items():
        if isinstance(value, SearchPatterns):
            ways = (
                " AND ".join(_fill_condition(conditions[name], one, args) for one in way) for way in value.alternatives
            )
            parts.append("(" + " OR ".join("(" + way + ")" for way in ways) + ")")
        else:
            parts.append(_fill_condition(conditions[name], value, args))
    where = " WHERE " + " AND ".join(parts) if parts else ""
    return Query(select + where + " " + order_by, tuple(args), filters.keys() <= _STABLE_FILTERS)


def _fill_condition(condition: str, value: object, args: list[object]) -> str:
    """The condition with numbers for its `$?`, whose values come to `args`."""
    text, *pieces = condition.split("$?")
    values = value if isinstance(value, tuple) else (value,) * len(pieces)
    for piece, one in zip(pieces, values, strict=True):
        args.append(one)
        text += "$" + str(len(args)) + piece
    return text


def merge_queries(
    select: str,
    conditions: Mapping[str, str],
    filters: Mapping[str, object],
    alternatives: Mapping[str, Sequence[object]],
    order_by: str,
) -> Query:
    """A list where conditions hold of one of several values each: an arm for each, all in the order of `tail`.

    An index has each arm in this order. They are read side by side, and no further than a page goes; so one plan is
    good for whatever is asked.
    """
    first = filter_query(select, conditions, filters)
    args = [*first.args]
    choices = []
    for name, values in alternatives.items():
        numbers = range(len(args) + 1, len(args) + 1 + len(values))
        choices.append([conditions[name].replace("$?", "$" + str(n)) for n in numbers])
        args += values
    start = first.sql + ("AND " if filters else "WHERE ")
    arms = tuple(start + " AND ".join(chosen) + " " + order_by for chosen in product(*choices))
    return Query(order_by, tuple(args), has_stable_plan=True, branches=arms)


def page_query(query: Query, size: int, offset: int) -> Query:
    """The same, from `offset`, at most `size` rows.

    The first page of a plain list says its size in the text: then PostgreSQL plans it once for all. What else there is
    it plans for the values each time, since it is not told how little is wanted.
    """
    count = len(query.args)
    if query.has_stable_plan and not offset:
        limit = " LIMIT " + str(int(size))
        return query._replace(sql=_limit_branches(query, limit) + limit, branches=())
    text = (
        _limit_branches(query, " LIMIT $" + str(count + 3)) + " LIMIT $" + str(count + 1) + " OFFSET $" + str(count + 2)
    )
    args = (*query.args, size, offset, size + offset) if query.branches else (*query.args, size, offset)
    return query._replace(sql=text, args=args, branches=())


def _limit_branches(query: Query, limit: str) -> str:
    if not query.branches:
        return query.sql
    arms = ["".join(("SELECT * FROM (", arm, limit, ") arm")) for arm in query.branches]
    return "".join(("SELECT * FROM (", " UNION ALL ".join(arms), ") merged ", query.sql))


def count_query(query: Query, maximum: int) -> Query:
    """How many rows it has, of the first `most`."""
    return with_page(page_query(query, maximum, 0), "SELECT count(*) FROM page")


def with_page(page: Query, statement: str) -> Query:
    """`rest`, which reads the page's rows under the name `page`."""
    return page._replace(sql="WITH page AS (" + page.sql + ") " + statement)


def search_filter(name: str, text: str) -> dict[str, object]:
    """What is asked by the condition `name` for texts with all these words, anywhere and in any order. Signs alone are
    no words: they are looked for as they are, by the condition `name_typed`."""
    ways = (
        sorted(dict.fromkeys(way.split()[:MAX_SEARCH_WORDS]), key=len, reverse=True) for way in search_variants(text)
    )
    patterns = tuple(tuple(map(like_pattern, way)) for way in ways)
    if patterns:
        return {name: SearchPatterns(patterns)}
    return {name + "_typed": like_pattern(text.strip())} if text.strip() else {}


def like_pattern(text: str) -> str:
    """A LIKE pattern (with ESCAPE '\\') for texts that hold this one, which has no pattern characters of its own."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return "%" + escaped + "%"
