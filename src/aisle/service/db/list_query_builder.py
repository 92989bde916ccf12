"""Queries of lists with optional filters: the start of a statement, the requested conditions, the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

from aisle.search_text import search_variants
from aisle.service.db.database_interface import Row, Statement, Transaction

# Conditions for which one plan is good with any values.
_STABLE_FILTERS = frozenset(
    {"after", "beyond", "from_id", "is_active", "known", "month", "months", "place", "receipt_type", "since", "stocked"}
)
_STABLE_FILTERS |= {"store", "to_id", "token", "until"}


def upsert_statement(table: str, key: str, changed: str, *, kept: str = "") -> str:
    """Return the statement that inserts a row, or sets the changed columns of the row with this key.

    Columns are separated by commas; the values are those of `key`, `kept` and `changed`, in this order.
    """
    columns = ", ".join(filter(None, (key, kept, changed)))
    values = ", ".join("$" + str(number) for number in range(1, columns.count(",") + 2))
    insert = "INSERT INTO " + table + " (" + columns + ") VALUES (" + values + ")"  # noqa: S608 - constants
    updates = ", ".join(column + " = excluded." + column for column in changed.split(", "))
    return insert + " ON CONFLICT (" + key + ") DO UPDATE SET " + updates


MAX_SEARCH_WORDS = 24
"""Maximum number of words of a search; further ones are ignored."""


class SearchPatterns(NamedTuple):
    """Patterns of a text search.

    A text matches if it matches all patterns of one alternative; the longest pattern is first.
    """

    alternatives: tuple[tuple[str, ...], ...]


class Query(NamedTuple):
    """Query and its parameters."""

    sql: str
    args: tuple[object, ...]
    has_stable_plan: bool = True
    """True if one plan is good for any values."""
    branches: tuple[str, ...] = ()
    """Parts of a merged list, which must be paged. The statement is then only their order."""

    @property
    def statement(self) -> Statement:
        """Query as a `Statement`."""
        return self.sql, self.args

    async def all(self, tx: Transaction) -> list[Row]:
        """Return all rows."""
        return await tx.all(self.sql, *self.args)

    async def fetch_count(self, tx: Transaction) -> int:
        """Return the single number of a counting query."""
        row = await tx.one(self.sql, *self.args)
        return int(row[0] or 0) if row else 0


def filter_query(
    select: str, conditions: Mapping[str, str], filters: Mapping[str, object], order_by: str = ""
) -> Query:
    """Build `select WHERE … order_by` with the conditions named in `filters`.

    A tuple fills the `$?` of one condition in order; any other value fills each of them. A condition on texts is
    repeated for each search word.
    """
    args: list[object] = []
    parts: list[str] = []
    for name, value in filters.items():
        if isinstance(value, SearchPatterns):
            alternatives = (
                " AND ".join(_fill_condition(conditions[name], one, args) for one in patterns)
                for patterns in value.alternatives
            )
            parts.append("(" + " OR ".join("(" + patterns + ")" for patterns in alternatives) + ")")
        else:
            parts.append(_fill_condition(conditions[name], value, args))
    where = " WHERE " + " AND ".join(parts) if parts else ""
    return Query(select + where + " " + order_by, tuple(args), filters.keys() <= _STABLE_FILTERS)


def _fill_condition(condition: str, value: object, args: list[object]) -> str:
    """Return the condition with numbered parameters, and append their values to `args`."""
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
    """Build a list in which conditions accept several values each: one branch per combination, merged in `order_by`.

    An index has each branch in this order. Branches are read only as far as a page needs, so one plan is good for any
    values.
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
    """Return the query limited to `size` rows from `offset`.

    The first page of a plain list has its size in the text, so that PostgreSQL plans it once. Other queries are planned
    for their values each time, since the plan does not know the limit.
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
    """Return a query that counts the rows, up to `maximum`."""
    return with_page(page_query(query, maximum, 0), "SELECT count(*) FROM page")


def with_page(page: Query, statement: str) -> Query:
    """Return `statement` over the rows of the page, which it reads under the name `page`."""
    return page._replace(sql="WITH page AS (" + page.sql + ") " + statement)


def search_filter(name: str, text: str) -> dict[str, object]:
    """Return the filter for texts with all these words, anywhere and in any order.

    A text of punctuation only has no words; it is searched as it is, by the condition `name_typed`.
    """
    variants = (
        sorted(dict.fromkeys(variant.split()[:MAX_SEARCH_WORDS]), key=len, reverse=True)
        for variant in search_variants(text)
    )
    patterns = tuple(tuple(map(like_pattern, variant)) for variant in variants)
    if patterns:
        return {name: SearchPatterns(patterns)}
    return {name + "_typed": like_pattern(text.strip())} if text.strip() else {}


def like_pattern(text: str) -> str:
    """Return a LIKE pattern (with ESCAPE '\\') for texts that contain this one literally."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return "%" + escaped + "%"
