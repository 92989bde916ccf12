"""What keeps the catalogue fit for a PostgreSQL that is split by store, read from its statements by a parser.

Every row of a store's table is found by its store: each such table in a statement is bound to a given store, or joined
on the store to one that is. What goes over all stores is named here.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from types import ModuleType

import pytest
import sqlglot
from sqlglot import exp

import aisle.service.db.statements
from aisle.service.db.schema_and_search_index import MIGRATIONS

MODULES = [
    importlib.import_module(f"aisle.service.db.statements.{found.name}")
    for found in pkgutil.iter_modules(aisle.service.db.statements.__path__)
]
# The same rows for every store, and kept whole beside each part of the others.
REFERENCE = {"store", "product", "product_code", "token", "token_store"}
# Over every store on purpose: what may be forgotten, what keeps a product, sums, and the stock of other stores.
OVER_ALL = {
    "OLD_RESPONSES_DELETE",
    "OLD_RESPONSES_STEP",
    "OLD_SIGN_IN_FAILURES",
    "OLD_WRITE_HISTORY_DELETE",
    "OLD_WRITE_HISTORY_STEP",
    "PRODUCTS_IN_OPEN_DELIVERIES",
    "PRODUCTS_IN_OPEN_ORDERS",
    "OLD_LATEST_WRITES_DELETE",
    "OLD_LATEST_WRITES_STEP",
    "PRODUCTS_WITH_STOCK",
    "STORES_RANGING",
    "SURROUNDING_STOCK",
}
_SCOPES = (exp.Select, exp.Update, exp.Delete)
_VOLATILE = re.compile(r"\b(random|gen_random_uuid|clock_timestamp|nextval|now)\s*\(", re.IGNORECASE)
_STATEMENT = re.compile(r"\s*(WITH|SELECT|INSERT|UPDATE|DELETE)\b")
_HEAD = re.compile(r"_(LIST|KEYS|KEYS_CATALOGUE|COUNT|COUNT_CATALOGUE)$|^GOODS_AT_LOCATION$")


def tenant_tables() -> set[str]:
    """Tables whose rows are each of one store."""
    made = {text.split()[2] for migration in MIGRATIONS for text in migration if text.startswith("CREATE TABLE")}
    return made - REFERENCE


TENANT = tenant_tables()


def _filters(module: ModuleType, head: str) -> dict[str, str]:
    """The conditions that a list's head can be asked with."""
    start = "RECEIPT" if head.startswith("RECEIPT") else head.rsplit("_", 1)[0]
    for name in (f"{start}_FILTERS", f"{start.split('_', maxsplit=1)[0]}_FILTERS", f"{head}_FILTERS"):
        if isinstance(found := getattr(module, name, None), dict):
            return found
    return {}


def statements() -> Iterator[tuple[str, str]]:
    """Every statement as it is sent; heads of lists with all of their conditions at once."""
    for module in MODULES:
        for name, value in vars(module).items():
            for text in value if isinstance(value, tuple) else (value,):
                if isinstance(text, str) and _STATEMENT.match(text) and name.isupper():
                    yield name, _whole(module, name, text)


def _whole(module: ModuleType, name: str, text: str) -> str:
    if "FROM page" in text:
        text = "WITH page AS (SELECT * FROM pages) " + text
    conditions = _filters(module, name) if _HEAD.search(name) or name == "GOODS_AT_LOCATION_COUNT" else {}
    if conditions:
        text += " WHERE " + " AND ".join(conditions.values()).replace("$?", ":p0")
    if name == "GOODS_AT_LOCATION_COUNT":
        text += ") counted"
    return re.sub(r"\$(\d+)", r":p\1", text)


STATEMENTS = list(statements())


def _tables(scope: exp.Expr) -> dict[str, str]:
    """The tables of a statement or of one of its parts, by the name they have in it."""
    if isinstance(scope, exp.Select):
        source = scope.args.get("from_") or scope.args.get("from")
        found = [source.this] if source else []
        found += [join.this for join in scope.args.get("joins") or ()]
    else:
        found = [scope.this]
    return {table.alias_or_name: table.name for table in found if isinstance(table, exp.Table)}


class Bound:
    """Which tables of a statement are of the same store, and which of those are of a given one."""

    def __init__(self, tree: exp.Expr) -> None:
        self._same: dict[tuple[int, str], tuple[int, str]] = {}
        self.tables = [
            ((id(scope), alias), name) for scope in tree.find_all(*_SCOPES) for alias, name in _tables(scope).items()
        ]
        for equal in tree.find_all(exp.EQ):
            one, other = self._end(equal.this), self._end(equal.expression)
            if one and other:
                self._same[self.root(one)] = self.root(other)
        for within in tree.find_all(exp.In):
            # The stores of a token: those it may see, each by itself.
            if (one := self._end(within.this)) and isinstance(within.args.get("query"), exp.Subquery):
                self._same[self.root(one)] = self.root((0, "given"))

    def root(self, end: tuple[int, str]) -> tuple[int, str]:
        """One for all that are of the same store."""
        while end in self._same and self._same[end] != end:
            end = self._same[end]
        return end

    def _end(self, side: exp.Expr) -> tuple[int, str] | None:
        if isinstance(side, (exp.Placeholder, exp.Any)):
            return (0, "given")
        if not isinstance(side, exp.Column) or side.name != "store_number":
            return None
        scope = side.find_ancestor(*_SCOPES)
        while scope is not None:
            tables = _tables(scope)
            if side.table in tables or (not side.table and len(tables) == 1):
                alias = side.table or next(iter(tables))
                return (0, "given") if tables[alias] == "page" else (id(scope), alias)
            scope = scope.find_ancestor(*_SCOPES)
        return None


def unbound(name: str, text: str) -> list[str]:
    """The stores' tables in a statement whose store is not told."""
    tree = sqlglot.parse_one(text, dialect="postgres")
    if isinstance(tree, exp.Insert):
        columns = [column.name for column in tree.this.expressions]
        first = next(iter(tree.expression.expressions[0].expressions))
        good = columns[0] == "store_number" and isinstance(first, exp.Placeholder)
        return [] if good or tree.this.this.name in REFERENCE else [tree.this.this.name]
    bound = Bound(tree)
    mine = [(end, table) for end, table in bound.tables if table in TENANT]
    if name in OVER_ALL:
        return [] if len({bound.root(end) for end, _ in mine}) <= 1 else [table for _, table in mine]
    given = bound.root((0, "given"))
    return [table for end, table in mine if bound.root(end) != given]


def apart(text: str) -> list[str]:
    """The stores' tables in a statement that a split server would have to join from elsewhere.

    What may be missing is joined to one of those before it, where there is one, and not to a page of keys or to a table
    that is whole everywhere; and what is asked of each row is asked of a store's row.
    """
    tree = sqlglot.parse_one(text, dialect="postgres")
    found = []
    for scope in tree.find_all(exp.Select):
        tables = _tables(scope)
        split = {alias for alias, table in tables.items() if table in TENANT}
        joins = scope.args.get("joins") or []
        for place, join in enumerate(joins):
            alias = join.this.alias_or_name
            before = split - {later.this.alias_or_name for later in joins[place:]}
            if join.side != "LEFT" or alias not in split or not before:
                continue
            ends = [{equal.this, equal.expression} for equal in join.find_all(exp.EQ)]
            whole = [{one.table for one in end if isinstance(one, exp.Column)} for end in ends if _of_stores(end)]
            found += [] if any(both <= split for both in whole) else [tables[alias]]
        outer = scope.find_ancestor(exp.Select)
        if split and outer is not None and not set(_tables(outer).values()) & TENANT:
            found += [column.sql() for column in scope.find_all(exp.Column) if column.table in _tables(outer)]
    return found


def _of_stores(end: set[exp.Expr]) -> bool:
    return {one.name for one in end if isinstance(one, exp.Column)} == {"store_number"}


def test_the_whole_catalogue_is_read() -> None:
    assert len(STATEMENTS) > 120
    assert {name for name, _ in STATEMENTS} >= OVER_ALL
    assert len(MODULES) >= 5


@pytest.mark.parametrize(("name", "text"), STATEMENTS, ids=[name for name, _ in STATEMENTS])
def test_a_statement_keeps_to_its_store(name: str, text: str) -> None:
    assert unbound(name, text) == []
    assert apart(text) == []
    tree = sqlglot.parse_one(text, dialect="postgres")
    assert not tree.find(exp.Merge)
    assert not any(part.args.get("recursive") for part in tree.find_all(exp.With))
    if isinstance(tree, exp.Insert):
        assert not tree.expression.find(exp.Select), "a row to be inserted is made of values"
    if isinstance(tree, (exp.Insert, exp.Update)):
        set_ = tree.expressions if isinstance(tree, exp.Update) else []
        set_ = [*set_, *(one for part in tree.find_all(exp.OnConflict) for one in part.expressions)]
        targets = {one.this.name for one in set_ if isinstance(one, exp.EQ)}
        assert "store_number" not in targets, "a row never goes to another store"
        assert not _VOLATILE.search(text)
    assert not (text.upper().rstrip().endswith("FOR UPDATE")), "stores are locked as a whole"


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1 FROM balance WHERE product_number = :p1",
        "SELECT 1 FROM balance b JOIN location l ON l.location_code = b.location_code WHERE b.store_number = :p1",
        "SELECT 1 FROM customer_order o WHERE o.store_number = :p1"
        " AND EXISTS (SELECT 1 FROM order_line ol WHERE ol.order_number = o.order_number)",
        "UPDATE line_origin SET quantity = :p1 WHERE order_number = :p2",
        "DELETE FROM balance WHERE quantity = 0",
        "INSERT INTO balance (product_number, store_number) VALUES (:p1, :p2)",
    ],
)
def test_what_forgets_its_store_is_found(text: str) -> None:
    assert unbound("X", text)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1 FROM page JOIN balance b ON b.store_number = page.store_number"
        " LEFT JOIN location l ON l.store_number = page.store_number AND l.location_code = b.location_code",
        "SELECT 1 FROM store s JOIN balance b ON b.store_number = s.store_number"
        " LEFT JOIN location l ON l.store_number = s.store_number WHERE s.store_number = :p1",
        "SELECT 1 FROM store s WHERE s.store_number = :p1"
        " AND EXISTS (SELECT 1 FROM balance b WHERE b.store_number = s.store_number)",
    ],
)
def test_checker_finds_joins_across_shards(text: str) -> None:
    assert unbound("X", text) == []
    assert apart(text)


def test_every_table_of_a_store_has_it_first_in_every_key() -> None:
    texts = [text for migration in MIGRATIONS for text in migration]
    for text in (one for one in texts if one.startswith("CREATE TABLE")):
        if text.split()[2] in TENANT:
            keys = re.findall(r"(?:PRIMARY KEY|UNIQUE|FOREIGN KEY) \((\w+)(?:[^)]*)\) ?(?:REFERENCES (\w+))?", text)
            assert keys[0][0] == "store_number", text
            assert all(first == "store_number" or refers in REFERENCE for first, refers in keys), text
    for text in (one for one in texts if one.startswith("CREATE UNIQUE INDEX")):
        assert re.search(r"\(store_number\b", text), text


def test_the_columns_that_a_statement_sets_are_found() -> None:
    tree = sqlglot.parse_one("INSERT INTO t (a) VALUES (:p1) ON CONFLICT (a) DO UPDATE SET store_number = :p1")
    [conflict] = tree.find_all(exp.OnConflict)
    assert [one.this.name for one in conflict.expressions] == ["store_number"]
    assert [one.this.name for one in sqlglot.parse_one("UPDATE t SET store_number = :p1").expressions] == [
        "store_number"
    ]
