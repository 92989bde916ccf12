"""Records of a load: an entry of a create body each, with the rows of the file it came from."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import tzinfo
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from aisle.client.csv_load.bad_headers_and_rows import footer_reason
from aisle.client.csv_load.checked_rows import CsvTable, RecordKey, TableRow, Values, group_by_key
from aisle.client.csv_load.clean_cells_and_keys import fold_key, has_thousands, trim_blanks
from aisle.client.csv_load.conflicting_rows import find_conflicts
from aisle.client.csv_load.fields_replaced_by_other_file import NO_REPLACED_FIELDS, ReplacedFields
from aisle.client.csv_load.file_layouts_and_columns import (
    DELIVERIES,
    DISCOUNT_PRICES,
    FREE_FIELDS,
    LAYOUTS,
    ORDERS,
    PEOPLE,
    PRICES,
    PRODUCTS,
    STOCK,
    STORE_PRODUCTS,
    STORES,
    FileLayout,
)
from aisle.client.csv_load.implausible_values import (
    ImplausibleValues,
    note_started_promotion,
    warn_of_containers,
    warn_of_picked,
    warn_of_state,
)
from aisle.client.csv_load.report import BECOMES, BadRow, LoadError, not_read_reason
from aisle.client.csv_load.rows_left_out import (
    DamagedCount,
    DamagedLines,
    PlacedRows,
    Placeless,
    Reading,
    damaged_counts,
    plain_number,
)
from aisle.client.csv_load.shared_codes import (
    CODE_COLUMNS,
    NUMBER_COLUMN,
    CodeOwner,
    SharedCodes,
    codes_in_cell,
    keys_in_column,
    warn_of_unit,
)
from aisle.client.csv_load.value_warnings import GROUPED
from aisle.client.paging import Row

STORE_FLAGS = ("is_active", "is_active_data_exchange")
"""Flags that every store needs; those of a new store are true."""


class Record(NamedTuple):
    """Entry of a create body.

    `store` is the store in the path, or empty; `description` names the entry for a person; `line` is its first row in
    the file, `rows` the number of its rows, `field_rows` the row of each field of a count, and `line_rows` that of each
    line. `is_beside` marks a count without a location of goods at no location, in addition to those at locations.
    """

    store: str
    description: str
    body: Values
    line: int
    rows: int
    field_rows: Mapping[str, int] = {}
    is_beside: bool = False
    line_rows: Sequence[int] = ()


class BadRows(NamedTuple):
    """Rows that make no record, with their reasons; `rows` also counts the rows left out because of them.

    `name` is that of a record that is left out with them.
    """

    bad_rows: tuple[BadRow, ...]
    rows: int
    name: str = ""


class ServiceFindings(NamedTuple):
    """Result of the comparison with the service: reasons of refused rows by line, and keys that exist unchanged.

    `code_owners` maps keys of barcodes that the file gives to other products to the products that have them; `places`
    has the locations of stores, as far as they are needed; `roles` has those of people, by store and badge;
    `left_out` has the keys of records of which other rows name a store that is missing.
    """

    refused_rows: Mapping[int, str] = {}
    known_keys: Collection[RecordKey] = ()
    code_owners: Mapping[str, Sequence[CodeOwner]] = {}
    held_codes: Collection[int] = ()
    """Hashes of products of the file, each with a code that the service has on it."""
    own_codes: Mapping[str, Row] = {}
    """Codes that products of the service have, of which a row of the file gives some in another column."""
    places: Mapping[str, Collection[str]] = {}
    roles: Mapping[RecordKey, str] = {}
    left_out: Collection[RecordKey] = ()
    prices: Collection[tuple[str, str]] | None = None
    """Products of the service with a price that a row can take away, and its column; None if they are unknown."""
    store_flags: Mapping[str, Row] = {}
    """Flags of stores that have rows without them, by number."""
    zones: Mapping[str, tzinfo | None] = {}
    """Time zones of stores, as far as they are known and needed."""
    unknown: Mapping[str, Collection[str]] = {}
    """Products and stores of stock, by column, that the service does not have, as far as they are needed."""
    replaced: ReplacedFields = NO_REPLACED_FIELDS
    """Fields that another file of the load gives too."""

    def other_owners(self, column: str, code: str, product: str) -> Collection[CodeOwner]:
        """Return the other products of the service that have this code of a column. Two numbers are never the same."""
        keys = keys_in_column(column, code) if self.code_owners else ()
        owners = (owner for key in keys for owner in self.code_owners.get(key, ()))
        return dict.fromkeys(one for one in owners if one.product != product and (column, one.column) != _TWO_NUMBERS)


_TWO_NUMBERS = (NUMBER_COLUMN, NUMBER_COLUMN)
NO_FINDINGS = ServiceFindings()
_OTHER_TABLES = (
    *(".xlsx", ".xls", ".xlsm", ".xlsb", ".ods", ".fods", ".numbers", ".txt", ".tsv", ".tab", ".json", ".xml", ".html"),
    *(".htm", ".zip", ".gz", ".slk", ".bak"),
)
"""Extensions of tables that were not saved as CSV."""


def open_tables(directory: Path) -> list[CsvTable]:
    """Return the files of a load that exist, in loading order; all headers are checked before anything is sent.

    Raise LoadError if the directory is none, has no such file, or a header is wrong.
    """
    if not directory.is_dir():
        raise LoadError(f"{directory} is no directory; name the one that holds the CSV files.")
    present = _find_files(directory)
    dotted: set[str] = set()
    orders: dict[str, str] = {}
    found = [
        CsvTable(present[layout.file], layout, dotted_codes=dotted, date_orders=orders)
        for layout in LAYOUTS
        if layout.file in present
    ]
    if not found:
        names = ", ".join(layout.file for layout in LAYOUTS)
        others = " ".join(map(not_read_reason, unknown_files(directory)))
        raise LoadError(
            f"{directory} holds nothing to load; put at least one of these there: {names}. {others}".rstrip()
        )
    return found


def _find_files(directory: Path) -> dict[str, Path]:
    """Return the files of a load, by name in lower case. Raise LoadError for two of one name, or no file."""
    known = {layout.file for layout in LAYOUTS}
    found: dict[str, Path] = {}
    for path in sorted(directory.iterdir()):
        name = path.name.casefold()
        if name in known and not path.is_dir():
            if not path.is_file():
                raise LoadError(f"{path.name} is no file, or a link to a file that is gone; put the file itself there.")
            if name in found:
                raise LoadError(f"{directory} holds {found[name].name} and {path.name}; remove one of them.")
            found[name] = path
    return found


def unknown_files(directory: Path) -> tuple[str, ...]:
    """Return tables of the directory that no load reads, because a name may be misspelt, and folders that hold some."""
    known = {layout.file for layout in LAYOUTS}
    stems = {name.removesuffix(".csv") for name in known}
    found = []
    for path in directory.iterdir():
        name = path.name.casefold()
        if path.is_dir():
            if name in known or known & {inner.name.casefold() for inner in path.iterdir()}:
                found.append(f"{path.name}/")
        elif name not in known and (".csv" in name or _is_other_table(name, stems)):
            found.append(path.name)
    return tuple(sorted(found))


def _is_other_table(name: str, stems: Collection[str]) -> bool:
    """Return True if a file has the name of a load's file, with another extension or none."""
    stem, _, extension = name.rstrip(". ").partition(".")
    return trim_blanks(stem) in stems and (not extension or name.rstrip(". ").endswith(_OTHER_TABLES))


def read_records(table: CsvTable, findings: ServiceFindings = NO_FINDINGS) -> Iterator[Record | BadRows]:
    """Yield the records of a file in order, and the rows that make none."""
    read = _read_lines if table.layout.lines_field else _read_counts if table.layout is STOCK else _read_rows
    yield from read(table, findings)


_RowCheck = Callable[[TableRow], str | None]
"""Check of a row that is good so far: returns why it is refused, or adds warnings and returns nothing."""


def _row_checks(table: CsvTable, findings: ServiceFindings) -> Sequence[_RowCheck]:
    """Return the checks of the rows of a file, in their order."""
    thousands = partial(_warn_of_thousands, table, findings)
    if table.layout is PRODUCTS:
        shared = partial(_warn_of_shared_codes, table, SharedCodes(table), findings)
        return (
            shared,
            partial(warn_of_unit, table, findings.own_codes),
            partial(_check_name, table, findings),
            thousands,
        )
    own: Mapping[str, _RowCheck] = {
        PRICES.file: partial(_note_old_price, table),
        DISCOUNT_PRICES.file: partial(note_started_promotion, table),
        STORE_PRODUCTS.file: partial(note_started_promotion, table),
        PEOPLE.file: partial(_keep_role, table, findings),
    }
    of_new = (thousands,) if table.layout.listed else ()
    return (own[table.name], *of_new) if table.name in own else of_new


def _checked_rows(table: CsvTable, findings: ServiceFindings) -> Iterator[TableRow]:
    """Yield the rows of a file, with a reason for those that contradict another row or fail a check."""
    bad, repeats = find_conflicts(table, findings.known_keys)
    bad |= findings.refused_rows
    checks, odd = _row_checks(table, findings), ImplausibleValues(table, findings.zones, findings.prices)
    for row in table.rows(bad):
        if row.line in repeats and not row.reason:
            table.notes.add_warning("the same as an earlier row", f"row {repeats[row.line]}", row.line)
        for check in checks:
            row = row if row.reason else row._replace(reason=check(row) or "")
        yield odd.check(row)


def _warn_of_thousands(table: CsvTable, findings: ServiceFindings, row: TableRow) -> None:
    """Add a warning for a new product, order or delivery whose number is written like one of thousands."""
    column = table.key_columns[-1]
    number = str(row.values.get(column, "")) if column.endswith("number") else ""
    if (
        has_thousands(number)
        and tuple(row.values.get(name, "") for name in table.key_columns) not in findings.known_keys
    ):
        table.notes.add_warning(f"{column} {GROUPED}", number, row.line)


def _note_old_price(table: CsvTable, row: TableRow) -> None:
    if "old_price" not in row.values:
        table.notes.add_remark("an old_price that it does not name becomes the price before, where the price changes")


def _keep_role(table: CsvTable, findings: ServiceFindings, row: TableRow) -> None:
    """Add the present role to a row without one. Warn of a changed one."""
    role = findings.roles.get((row.values["store_number"], row.values["badge"]), "")
    if role and (new := row.values.setdefault("role", role)) != role:
        what = f"role is {new}, where the person was {role} before, {BECOMES} the role of the person"
        table.notes.add_warning(what, f"{row.values['user']}, badge {row.values['badge']}", row.line)


def _check_name(table: CsvTable, findings: ServiceFindings, row: TableRow) -> str:
    """Return why a product's row is refused that is a footer; add a warning if a new product has no name."""
    number = row.values["product_number"]
    if (number,) in findings.known_keys:
        return ""
    name = row.values.get("product_name", "")
    if name.isdecimal() and number.isalpha():
        what = f"product_number {number!r} and product_name {name!r} seem to be mixed up"
        return f"{what}; name the columns the other way round"
    reason = footer_reason(row.values, "product_number")
    if not reason and table.has_column("product_name") and "product_name" not in row.values:
        table.notes.add_warning("product_name is empty, and a new product is called by its number", number, row.line)
    return reason


def _warn_of_shared_codes(table: CsvTable, shared: SharedCodes, findings: ServiceFindings, row: TableRow) -> None:
    product = row.values[NUMBER_COLUMN]
    for name in CODE_COLUMNS:
        for code in codes_in_cell(name, row.values.get(name, "")):
            line, its = shared.earlier_product(name, code, product, row.line) or (0, "")
            if its:
                value = f"{code} of {product} is also of {its} (row {line})"
                table.notes.add_warning(f"{name} is on two products", value, row.line, loaded=line)
            for owner in findings.other_owners(name, code, product):
                value = f"{code} of {product} is also of {owner.product}, which the service has"
                others = {line, owner.replaced_in} - {0}
                table.notes.add_warning(f"{name} is on two products", value, row.line, refused=others)
                if owner.replaced_in and not its and not owner.is_kept:
                    value = f"{code} of {owner.product} (row {owner.replaced_in})"
                    what, value = (
                        (_TAKEN_AWAY, value)
                        if name == NUMBER_COLUMN
                        else (_MOVED.format(name), f"{value} becomes that of {product}")
                    )
                    table.notes.add_warning(what, value, row.line, loaded=owner.replaced_in)


_TAKEN_AWAY = f"{NUMBER_COLUMN} is also a code of another product in the service, whose row takes it away"
_MOVED = f"{{}} is another product's in the service, {BECOMES} this one's, so that a scan of it means this one"


def _read_rows(table: CsvTable, found: ServiceFindings) -> Iterator[Record | BadRows]:
    """Yield a record for each row."""
    layout = table.layout
    defaults: Values = dict.fromkeys(STORE_FLAGS, True) if layout is STORES else {}
    for row in _checked_rows(table, found):
        if row.reason:
            yield BadRows((BadRow(table.name, row.line, row.reason),), 1)
            continue
        body = defaults | found.store_flags.get(row.values.get("store_number", ""), {}) | row.values
        key = tuple(row.values.get(one, "") for one in table.key_columns)
        is_new = found.prices is not None and key not in found.known_keys
        body = found.replaced.apply(table, row, body, is_new=is_new)
        if found.replaced.is_held_whole(table, row, body) and not is_new:
            yield BadRows((), 1)
        else:
            store = body.pop("store_number") if layout.target.has_store else ""
            yield Record(store, f"{layout.noun} {key[-1]}", body, row.line, 1)


def _read_counts(table: CsvTable, findings: ServiceFindings) -> Iterator[Record | BadRows]:
    """Yield counts: rows of the same product and location become one, with a field for each pool.

    For a product with rows with and without a location, the latter come first.
    """
    placeless = Placeless(table)
    damaged = damaged_counts(table, findings.unknown)
    held: dict[RecordKey, list[list[TableRow]]] = {}
    for rows in group_by_key(_checked_rows(table, findings), table.scattered_keys()):
        checked = _check_counts(rows)
        of_product, last = rows[0].key[:2], placeless.last(*rows[0].key[:2]) if rows[0].key else 0
        if last:
            held.setdefault(of_product, []).append(checked)
        else:
            beside = _of_product(damaged, of_product)
            yield from _counts_at(table, placeless, checked, PlacedRows((), (), beside) if beside else None)
        if last and rows[-1].line >= last:
            yield from _counts_of_product(table, placeless, held.pop(of_product), findings, damaged)
    for groups in held.values():
        yield from _counts_of_product(table, placeless, groups, findings, damaged)


def _of_product(damaged: Iterable[DamagedCount], of_product: RecordKey) -> list[DamagedCount]:
    """Return the rows that may be of a product in a store; none for a row without a key."""
    return [one for one in damaged if one.may_be_of(*of_product)] if of_product else []


def _counts_of_product(
    table: CsvTable,
    placeless: Placeless,
    groups: list[list[TableRow]],
    findings: ServiceFindings,
    damaged: Iterable[DamagedCount],
) -> list[Record | BadRows]:
    """Return the counts of a product that has rows with and without a location, the latter first."""
    of_product = groups[0][0].key[:2]
    places = findings.places.get(of_product[0], ())
    placed = PlacedRows((row for rows in groups for row in rows), places, _of_product(damaged, of_product))
    found = [one for rows in groups for one in _counts_at(table, placeless, rows, placed)]
    return sorted(found, key=lambda one: isinstance(one, Record) and "location_code" in one.body)


def _check_counts(rows: list[TableRow]) -> list[TableRow]:
    """Return the rows of one product and location, with a reason for those that contradict another row."""
    pools: dict[int | None, list[int]] = {}
    for row in rows:
        if not row.reason:
            pools.setdefault(row.values.get("stock_pool"), []).append(row.line)
    return [row if row.reason else row._replace(reason=_count_reason(row, pools)) for row in rows]


def _counts_at(
    table: CsvTable, placeless: Placeless, rows: list[TableRow], placed: PlacedRows | None
) -> Iterator[Record | BadRows]:
    """Yield the count of rows of one product and location; two if they are of different kinds."""
    merged: dict[bool, Values] = {}
    at: dict[bool, dict[str, int]] = {}
    for row in rows:
        reading = placed.read(row) if placed and not row.reason else None
        if reason := row.reason or (reading.reason if reading else ""):
            yield BadRows((BadRow(table.name, row.line, reason),), 1)
            continue
        if reading:
            _warn_of_reading(table, row, reading)
        else:
            placeless.warn_of_empty(row)
        if reading and reading.is_total:
            yield BadRows((), 1)
            continue
        pool, is_beside = row.values.get("stock_pool"), reading is not None
        name = f"stock_pool_{pool}" if pool else "counted_quantity"
        merged.setdefault(is_beside, {})[name] = row.values["quantity"]
        at.setdefault(is_beside, {})[name] = row.line
    for is_beside, lines in at.items():
        first = next(row for row in rows if row.line in lines.values())
        store, product = first.values["store_number"], first.values["product_number"]
        where = {name: value for name, value in first.values.items() if name in ("product_number", "location_code")}
        what = f"the count of product {product}"
        yield Record(store, what, where | merged[is_beside], first.line, len(lines), lines, is_beside)


def _warn_of_reading(table: CsvTable, row: TableRow, reading: Reading) -> None:
    """Add a warning for a row without a location that is the total of rows with one, or of goods beside them."""
    if reading.is_total:
        what = "a row without a place is read as the total of the product's rows with places, and left out"
    else:
        what = "a row without a place, beside rows with places, is read as the goods that lie at no place"
    value = f"{plain_number(row.values['quantity'])} of {row.values['product_number']}; its rows with places have"
    in_pool = f" in pool {pool}" if (pool := row.values.get("stock_pool")) else ""
    table.notes.add_warning(what, f"{value} {plain_number(reading.at_places)}{in_pool}", row.line)


def _count_reason(row: TableRow, pools: Mapping[int | None, list[int]]) -> str:
    """Return why a row contradicts others of its product and location; empty if it does not.

    Of two rows that contradict each other neither is counted, because a corrected file would not count again.
    """
    quantity, pool = row.values["quantity"], row.values.get("stock_pool")
    if quantity < 0:
        return f"quantity {quantity} is below 0, and nobody can count that; write what is there"
    if others := [line for line in pools[pool] if line != row.line]:
        pool_name = f"stock pool {pool}" if pool else "no stock pool"
        return (
            f"counts {pool_name} of the same product and place a second time, as row {others[0]} does; keep one of"
            " them if they are the same goods, else write one row with their sum"
        )
    if len(pools) > 1 and pool is None:
        named = next(lines[0] for one, lines in pools.items() if one)
        return f"has no stock pool, and row {named} of the same product and place has one; name the pool in both"
    if None in pools and pool is not None:
        return f"names a stock pool, and row {pools[None][0]} of the same product and place has none; name it in both"
    return ""


def _read_lines(table: CsvTable, found: ServiceFindings) -> Iterator[Record | BadRows]:
    """Yield a record for all rows with one key, whole or not at all."""
    layout, damaged, above = table.layout, DamagedLines(table), None
    for rows in group_by_key(_checked_rows(table, found), table.scattered_keys()):
        record: Values = {}
        seen: dict[Any, int] = {}
        bad = []
        for row in rows:
            reason = row.reason or _add_line(layout, record, row)
            reason = reason or _repeated_line_reason(record[layout.lines_field][-1], layout.line_key, seen, row)
            if reason:
                bad.append(BadRow(table.name, row.line, reason))
        if not bad and layout is FREE_FIELDS:
            _warn_of_shared_places(table, rows)
        key, name = rows[0].key, rows[0].key[-1] if rows[0].key else ""
        if bad:
            reasons = _add_left_out_reason(layout.noun, bad, rows)
            yield BadRows(tuple(damaged.add_records(row, key) for row in reasons), len(rows), name)
        elif key in found.left_out or key in damaged.left_out:
            yield BadRows((), len(rows), name)
        else:
            if layout is DELIVERIES and key not in found.known_keys:
                warn_of_containers(table, rows, record)
            if layout in (ORDERS, DELIVERIES) and key not in found.known_keys:
                _warn_of_missing_lines(table, name, rows, above)
            if layout is ORDERS and key not in found.known_keys:
                warn_of_state(table, rows[0].line, record)
                warn_of_picked(table, rows, record)
            store, lines = rows[0].values.get("store_number", ""), [row.line for row in rows]
            yield Record(store, f"{layout.noun} {name}", record, rows[0].line, len(rows), line_rows=lines)
        above = rows[-1]


def _warn_of_missing_lines(table: CsvTable, name: str, rows: list[TableRow], above: TableRow | None) -> None:
    """Add a warning for an order or delivery that may lack lines: they do not begin with 1 or 10, or have gaps.

    `above` is the row above its first one, of another record, which may have the line before.
    """
    numbers = sorted(row.values["line_number"] for row in rows)
    count = len(numbers)
    usual = (list(range(step, step * count + step, step)) for step in _LINE_STEPS)
    if numbers not in (list(range(count)), *usual):
        shown = ", ".join(map(str, numbers[:_MAX_SHOWN_LINES])) + (", …" if count > _MAX_SHOWN_LINES else "")
        what = "the line numbers do not begin with 1, or have gaps; lines that are not here cannot be added by a load"
        number = above.values.get("line_number") if above and above.key[:-1] == rows[0].key[:-1] else None
        if above and number and rows[0].values["line_number"] - number in _LINE_STEPS:
            shown += f", and {above.key[-1]} above it has {number}"
        table.notes.add_warning(what, f"{name} has {shown}", rows[0].line)


_LINE_STEPS = (1, 10, 100, 1000, 10_000)
"""Steps in which programs number the lines of an order."""
_MAX_SHOWN_LINES = 10


def _warn_of_shared_places(table: CsvTable, rows: list[TableRow]) -> None:
    """Add warnings for free fields of a product with one place in the order."""
    seen: dict[str, int] = {}
    for row in rows:
        place = str(row.values["sort_order"])
        earlier = seen.setdefault(place, row.line)
        if earlier != row.line:
            what = "sort_order of the same product stands in an earlier row too"
            table.notes.add_warning(what, f"{place} in row {earlier}", row.line)


def _add_line(layout: FileLayout, record: Values, row: TableRow) -> str:
    """Add a row to its record. Return the reason if it contradicts the record's earlier rows."""
    line: Values = {}
    for name, value in row.values.items():
        if name == "store_number":
            continue
        if name in layout.line_fields:
            line[layout.line_fields[name]] = value
        elif record.setdefault(name, value) != value:
            whose = f"{layout.noun} {row.key[-1]}" if row.key else layout.noun
            said, before = (f"{one:f}" if isinstance(one, Decimal) else repr(one) for one in (value, record[name]))
            of_line = f"{layout.lines_field}.{name}"
            other = f", or name the column {of_line} if each line has its own" * (of_line in layout.line_fields)
            return f"{name} is {said}, but {before} in an earlier row of {whose}; write one of them in both{other}"
    record.setdefault(layout.lines_field, []).append(line)
    return ""


def _repeated_line_reason(line: Values, name: str, seen: dict[Any, int], row: TableRow) -> str:
    value = line[name]
    earlier = seen.setdefault(fold_key(value) if isinstance(value, str) else value, row.line)
    if earlier == row.line:
        return ""
    if name == "line_number":
        return f"line_number {value} stands in row {earlier} too; number the lines apart"
    return f"{name} {value!r} of the same product stands in row {earlier} too; keep one of the rows"


def _add_left_out_reason(description: str, bad: list[BadRow], rows: list[TableRow]) -> Iterator[BadRow]:
    name = rows[0].key[-1] if rows[0].key else ""
    for row in bad:
        if len(rows) > 1 and name and not row.reason.endswith("delete it"):
            verb, them = ("are", "them") if description.endswith("s of product") else ("is", "it")
            kept = f"{description} {name} {verb} left out whole, so that nobody takes {them} for complete"
            yield row._replace(reason=f"{row.reason}; {kept}")
        else:
            yield row
