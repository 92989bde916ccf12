"""The files of a load as records: what one entry of a create body says, and which rows of the file it came from."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from aisle.client.load.columns import (
    ATTRIBUTES,
    DELIVERIES,
    DISCOUNT_PRICES,
    FREE_FIELDS,
    LAYOUTS,
    LOCATIONS,
    ORDERS,
    PEOPLE,
    PRICES,
    PRODUCTS,
    STOCK,
    STORE_PRODUCTS,
    STORES,
    Layout,
)
from aisle.client.load.footers import footer_reason
from aisle.client.load.odd import OddFigures
from aisle.client.load.placeless import Placeless
from aisle.client.load.repeated import COLUMNS, SharedCodes, codes_in, conflicts, keys_of
from aisle.client.load.report import BadRow, LoadError, not_read
from aisle.client.load.table import Key, Row, Table, Values, grouped
from aisle.tuples import NamedTuple


class Record(NamedTuple):
    """One entry of a create body.

    `store` is the store of the path, empty where the operation names none; `what` says to a person what it is;
    `line` is its first row in the file, `rows` how many rows it has; `at` are the rows of the fields of a count.
    `is_beside` says of a count without a place that it is of what lies at no place, beside what lies at places.
    """

    store: str
    what: str
    body: dict[str, Any]
    line: int
    rows: int
    at: Mapping[str, int] = {}
    is_beside: bool = False


class Left(NamedTuple):
    """Rows that make no record, each with its reason; `rows` counts those that are left out because of them too."""

    bad: tuple[BadRow, ...]
    rows: int


class Found(NamedTuple):
    """What the service has beside a file: why rows are refused, by their lines, and the keys that it has as they are.

    `codes` are keys of codes of its products that the file gives to other ones, with the product and the column.
    """

    refused: Mapping[int, str] = {}
    known: Collection[Key] = ()
    codes: Mapping[str, tuple[str, str]] = {}

    def owner(self, code: str, product: str) -> str:
        """The other product of the service that has this code; empty where there is none."""
        owners = (self.codes[key][0] for key in (keys_of(code) if self.codes else ()) if key in self.codes)
        return next((owner for owner in owners if owner != product), "")


NOTHING_FOUND = Found()
Reader = Callable[[Table, Found], Iterator[Record | Left]]

_OTHER_TABLES = (".xlsx", ".xls", ".xlsm", ".ods", ".numbers", ".txt", ".tsv")
"""What a table is saved as by somebody who did not save it as CSV."""


def tables(directory: Path) -> list[Table]:
    """The files of a load that are there, in the order to load them, every header checked before anything is sent.

    Raises LoadError when the directory is none, holds no such file, or a header is wrong.
    """
    if not directory.is_dir():
        raise LoadError(f"{directory} is no directory; name the one that holds the CSV files.")
    present = _present(directory)
    dotted: set[str] = set()
    found = [Table(present[layout.file], layout, dotted=dotted) for layout in LAYOUTS if layout.file in present]
    if not found:
        names = ", ".join(layout.file for layout in LAYOUTS)
        others = " ".join(map(not_read, unknown_files(directory)))
        raise LoadError(
            f"{directory} holds nothing to load; put at least one of these there: {names}. {others}".rstrip()
        )
    return found


def _present(directory: Path) -> dict[str, Path]:
    """The files of a load that are there, by their names in small letters. Raises LoadError for two of one name."""
    known = {layout.file for layout in LAYOUTS}
    found: dict[str, Path] = {}
    for path in sorted(directory.iterdir()):
        name = path.name.casefold()
        if name in known and path.is_file():
            if name in found:
                raise LoadError(f"{directory} holds {found[name].name} and {path.name}; remove one of them.")
            found[name] = path
    return found


def unknown_files(directory: Path) -> tuple[str, ...]:
    """Tables of the directory that no load reads; a misspelt name would otherwise go unnoticed."""
    known = {layout.file for layout in LAYOUTS}
    stems = {name.removesuffix(".csv") for name in known}
    found = []
    for path in directory.iterdir():
        name = path.name.casefold()
        is_other = name.endswith(_OTHER_TABLES) and name.partition(".")[0] in stems
        if name not in known and (name.endswith(".csv") or is_other):
            found.append(path.name)
    return tuple(sorted(found))


def records(table: Table, found: Found = NOTHING_FOUND) -> Iterator[Record | Left]:
    """The records of a file in its order, and the rows that make none; `found` is what the service has beside it."""
    yield from _READERS[table.name](table, found)


def _checked(table: Table, found: Found) -> Iterator[Row]:
    """The rows of a file; those that contradict another one, or name the same in another way, have a reason."""
    bad, repeats = conflicts(table, found.known)
    bad |= found.refused
    odd = OddFigures(table)
    shared = SharedCodes(table) if table.name == PRODUCTS.file else None
    for row in table.rows(bad):
        if row.line in repeats:
            table.notes.warn("the same as an earlier row", f"row {repeats[row.line]}", row.line)
        if shared and not row.reason:
            _warn_of_shared(table, shared, found, row)
            _warn_of_unit(table, row)
            row = _named(table, found, row)
        yield odd.judged(row)


def _named(table: Table, found: Found, row: Row) -> Row:
    """A row of a product, with the reason where it is a footer; one without a name is noted where it is new."""
    number = row.values["product_number"]
    if (number,) in found.known:
        return row
    if reason := footer_reason(row.values, "product_number"):
        return row._replace(reason=reason)
    if table.has_column("product_name") and "product_name" not in row.values:
        table.notes.warn("product_name is empty, and a new product is called by its number", number, row.line)
    return row


def _warn_of_shared(table: Table, shared: SharedCodes, found: Found, row: Row) -> None:
    product = row.values["product_number"]
    for name in COLUMNS:
        for code in codes_in(name, row.values.get(name, "")):
            if other := shared.other(code, product, row.line):
                line, its = other
                value = f"{code} of {product} is also of {its} (row {line})"
                table.notes.warn(f"{name} is on two products", value, row.line)
            elif its := found.owner(code, product):
                value = f"{code} of {product} is also of {its}, which the service has"
                table.notes.warn(f"{name} is on two products", value, row.line)


def _warn_of_unit(table: Table, row: Row) -> None:
    """Notes a code that stands for one piece and for a whole unit: a scan of it counts one."""
    pieces = {
        key for name in COLUMNS[::2] for code in codes_in(name, row.values.get(name, "")) for key in keys_of(code)
    }
    code = row.values.get("purchase_unit_barcode", "")
    if code and not pieces.isdisjoint(keys_of(code)) and row.values.get("purchase_unit_quantity") != 1:
        value = f"{code}: a scan of the unit counts one piece"
        table.notes.warn("purchase_unit_barcode is also the code of one piece", value, row.line)


def _one_by_one(what: str, name: str, defaults: Values | None = None, *, path: bool = False) -> Reader:
    """Each row is a record; with `path` its store is the path's and not said again."""

    def read(table: Table, found: Found) -> Iterator[Record | Left]:
        for row in _checked(table, found):
            if row.reason:
                yield Left((BadRow(table.name, row.line, row.reason),), 1)
            else:
                body = (defaults or {}) | row.values
                store = body.pop("store_number") if path else ""
                yield Record(store, f"{what} {row.values[name]}", body, row.line, 1)

    return read


def _counts(table: Table, found: Found) -> Iterator[Record | Left]:
    """Rows of the same product and place become one count, which names each of their pools.

    Of a product with rows with a place and without one, the latter come first.
    """
    placeless = Placeless(table)
    held: dict[Key, list[Record]] = {}
    for rows in grouped(_checked(table, found), table.scattered()):
        of_product, last = rows[0].key[:2], placeless.last(*rows[0].key[:2]) if rows[0].key else 0
        for one in _counts_at(table, placeless, rows):
            if isinstance(one, Left) or not last:
                yield one
            else:
                held.setdefault(of_product, []).append(one)
        if last and rows[-1].line >= last:
            yield from _with_placeless_first(held.pop(of_product, []))
    for counts in held.values():
        yield from _with_placeless_first(counts)


def _with_placeless_first(counts: list[Record]) -> list[Record]:
    return sorted(counts, key=lambda count: "location_code" in count.body)


def _counts_at(table: Table, placeless: Placeless, rows: list[Row]) -> Iterator[Record | Left]:
    """The counts of rows of one product and place: one, or two where pools differ in what they mean."""
    pools: dict[int | None, list[int]] = {}
    for row in rows:
        if not row.reason:
            pools.setdefault(row.values.get("stock_pool"), []).append(row.line)
    merged: dict[bool, dict[str, Any]] = {}
    at: dict[bool, dict[str, int]] = {}
    for row in rows:
        if reason := row.reason or _miscounted(row, pools):
            yield Left((BadRow(table.name, row.line, reason),), 1)
            continue
        at_places = placeless.at_places(row)
        if at_places is not None and _is_total(table, row, at_places):
            yield Left((), 1)
            continue
        pool, is_beside = row.values.get("stock_pool"), at_places is not None
        name = f"stock_pool_{pool}" if pool else "counted_quantity"
        merged.setdefault(is_beside, {})[name] = row.values["quantity"]
        at.setdefault(is_beside, {})[name] = row.line
    for is_beside, lines in at.items():
        first = next(row for row in rows if row.line in lines.values())
        store, product = first.values["store_number"], first.values["product_number"]
        where = {name: value for name, value in first.values.items() if name in ("product_number", "location_code")}
        what = f"the count of product {product}"
        yield Record(store, what, where | merged[is_beside], first.line, len(lines), lines, is_beside)


def _is_total(table: Table, row: Row, at_places: Decimal) -> bool:
    """Whether a row without a place is the total of what the file has at places; how it is read is noted."""
    quantity, product = row.values["quantity"], row.values["product_number"]
    if quantity in (0, at_places):
        what = "a row without a place is read as the total of the product's rows with places, and left out"
        table.notes.warn(what, f"{quantity} of {product}; its places hold {at_places:f}", row.line)
        return True
    what = "a row without a place, beside rows with places, is read as the goods that lie at no place"
    table.notes.warn(what, f"{quantity} of {product}; its places hold {at_places:f}", row.line)
    return False


def _miscounted(row: Row, pools: Mapping[int | None, list[int]]) -> str:
    """Why a row cannot be counted beside the others of its product and place, which are given by their pools.

    Neither of two that contradict is counted: what is counted once is not counted again when the file was corrected.
    """
    quantity, pool = row.values["quantity"], row.values.get("stock_pool")
    if quantity < 0:
        return f"quantity {quantity} is below nothing, and nobody can count that; write what is there"
    if others := [line for line in pools[pool] if line != row.line]:
        pool_name = f"stock pool {pool}" if pool else "no stock pool"
        return (
            f"counts {pool_name} of the same product and place a second time, as row {others[0]} does; write one row"
            " with their sum"
        )
    if len(pools) > 1 and pool is None:
        named = next(lines[0] for one, lines in pools.items() if one)
        return f"has no stock pool, and row {named} of the same product and place has one; name the pool in both"
    if None in pools and pool is not None:
        return f"names a stock pool, and row {pools[None][0]} of the same product and place has none; name it in both"
    return ""


def _by_lines(what: str, layout: Layout, once: str = "line_number") -> Reader:
    """Rows with the same key become one record with its lines, whole or not at all; `once` tells its lines apart."""

    def read(table: Table, found: Found) -> Iterator[Record | Left]:
        for rows in grouped(_checked(table, found), table.scattered()):
            record: dict[str, Any] = {}
            seen: dict[Any, int] = {}
            bad = []
            for row in rows:
                reason = row.reason or _line_into(layout, record, row)
                reason = reason or _once(record[layout.array][-1], once, seen, row)
                if reason:
                    bad.append(BadRow(table.name, row.line, reason))
            if bad:
                yield Left(tuple(_with_whole_left_out(what, bad, rows)), len(rows))
            else:
                store = rows[0].values.get("store_number", "")
                yield Record(store, f"{what} {record[layout.key[-1]]}", record, rows[0].line, len(rows))

    return read


def _line_into(layout: Layout, record: dict[str, Any], row: Row) -> str:
    """Adds a row to its record; answers with the reason when the two do not go together."""
    line: dict[str, Any] = {}
    for name, value in row.values.items():
        if name == "store_number":
            continue
        if name in layout.lines:
            line[layout.lines[name]] = value
        elif record.setdefault(name, value) != value:
            return f"{name} is {value!r}, but {record[name]!r} in an earlier row of the same one; make them the same"
    record.setdefault(layout.array, []).append(line)
    return ""


def _once(line: dict[str, Any], name: str, seen: dict[Any, int], row: Row) -> str:
    earlier = seen.setdefault(line[name], row.line)
    if earlier == row.line:
        return ""
    if name == "line_number":
        return f"line_number {line[name]} stands in row {earlier} too; number the lines apart"
    return f"{name} {line[name]!r} of the same product stands in row {earlier} too; keep one of the rows"


def _with_whole_left_out(what: str, bad: list[BadRow], rows: list[Row]) -> Iterator[BadRow]:
    others = len(rows) - len(bad)
    name = rows[0].key[-1] if rows[0].key else ""
    for row in bad:
        if others and name:
            verb, them = ("are", "them") if what.endswith("s of product") else ("is", "it")
            kept = f"{what} {name} {verb} left out whole, so that nobody takes {them} for complete"
            yield row._replace(reason=f"{row.reason}; {kept}")
        else:
            yield row


_READERS: dict[str, Reader] = {
    STORES.file: _one_by_one("store", "store_number", {"is_active": True, "is_active_data_exchange": True}),
    PRODUCTS.file: _one_by_one("product", "product_number"),
    ATTRIBUTES.file: _one_by_one("the attributes of product", "product_number"),
    FREE_FIELDS.file: _by_lines("the free fields of product", FREE_FIELDS, once="key"),
    PRICES.file: _one_by_one("the price of product", "product_number"),
    DISCOUNT_PRICES.file: _one_by_one("the discount price of product", "product_number"),
    LOCATIONS.file: _one_by_one("location", "location_code"),
    PEOPLE.file: _one_by_one("badge", "badge", path=True),
    STORE_PRODUCTS.file: _one_by_one("product", "product_number", path=True),
    STOCK.file: _counts,
    ORDERS.file: _by_lines("order", ORDERS),
    DELIVERIES.file: _by_lines("delivery", DELIVERIES),
}
