"""Reading of one CSV file as a stream of rows: the header is checked first, each row is parsed or gets a reason."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from aisle.client.csv_load.bad_headers_and_rows import (
    BLANK_CHARACTERS,
    BROKEN_INSIDE,
    DECIMAL_KINDS,
    POSSIBLE_ROWS,
    BadRowReasons,
    TableForm,
    cells_of_line,
    check_header,
    csv_error_reason,
    half_quoted_reason,
    inner_reason,
    normalize_header,
    opening_reason,
)
from aisle.client.csv_load.cells_of_columns import (
    CLEANERS,
    DATE,
    DOTTED_CODE,
    LIST,
    MONEY,
    NUMBERS,
    POOL,
    WHOLE,
    Column,
    is_one_or_two,
    split_numbers,
)
from aisle.client.csv_load.clean_cells_and_keys import CLEAR_WORDS, fold_code, suggestion, trim_blanks
from aisle.client.csv_load.csv_dialect import csv_reader, detect_dialect, open_csv, split_first_row, unwrapped
from aisle.client.csv_load.file_layouts_and_columns import FileLayout
from aisle.client.csv_load.local_number_and_date_notation import Notation
from aisle.client.csv_load.number_cells import CURRENCY_NAMES, currency_of, split_unit, with_cents
from aisle.client.csv_load.report import FileNotes
from aisle.client.csv_load.value_warnings import ValueWarnings

Values = dict[str, Any]
"""Values of rows of a file by field, as they are sent."""
RecordKey = tuple[str, ...]
_LINE_COLUMNS = ("line_number", "product_number")
_QUANTITY_COLUMNS = ("product_number", "quantity")
_TAIL_BYTES = 4096
_BLANK_LINE_BYTES = b' \t,;"\0\x1a|-'
"""Bytes of a line without any cell."""


class TableRow(NamedTuple):
    """Row as read: the non-empty cells by column; `reason` is why the row is bad, or empty.

    `key` are the cells that identify the row's record; empty if the row is too short.
    """

    line: int
    values: Values
    reason: str
    key: RecordKey


class CsvTable:
    """File of a load with its checked header. Raise LoadError if the file cannot be used at all.

    `notes` collects assumptions and changes; it is complete when all rows were read.
    """

    def __init__(
        self,
        path: Path,
        layout: FileLayout,
        notes: FileNotes | None = None,
        *,
        dotted_codes: set[str] | None = None,
        date_orders: dict[str, str] | None = None,
    ) -> None:
        """Read the header. The files of a load share `dotted_codes`, their codes with a point inside, and
        `date_orders`, the first date that shows each order of day and month.
        """
        self.path = path
        self.name = layout.file
        self.size = path.stat().st_size
        self.position = 0
        self.notes = FileNotes(layout.file) if notes is None else notes
        self._dialect = detect_dialect(path, lambda name: normalize_header(name) in layout.columns)
        self._columns = check_header(path, layout, self._dialect)
        names = [column.name if column else "" for column in self._columns]
        self._key_indexes = [names.index(name) for name in layout.key if name in names]
        self._key_column_indexes = [names.index(name) for name in layout.key_columns if name in names]
        self._form = TableForm(self._columns, self._key_column_indexes, self._dialect.separator)
        self._required_key_indexes = [at for at, name in enumerate(self._key_column_indexes) if self._is_needed(name)]
        self._required = [column.name for column in self._columns if column and column.required]
        self._named_columns = [(index, column) for index, column in enumerate(self._columns) if column]
        self.units: dict[str, str] = {}
        """Units of the products whose quantities have a unit, by product."""
        self.mistaken_keys: dict[str, Mapping[str, str]] = {}
        """Keys that rows name by mistake, by column, with those that are meant (`find_mistaken_keys`)."""
        self.pool_names: dict[str, Mapping[str, int]] = {}
        """Stock pools of stores, by store and folded name, if rows name a pool by its name (`warn_of_pools`)."""
        self._quantity_indexes = tuple(names.index(name) if name in names else -1 for name in _QUANTITY_COLUMNS)
        self._line_indexes = [names.index(name) if name in names else -1 for name in _LINE_COLUMNS]
        self._lines_with_separators: set[int] = set()
        """Rows with a cell of several lines, of which one may be a row; each is warned of once."""
        self._list_indexes = {at for at, column in self._named_columns if column.kind == NUMBERS}
        self._money_indexes = {at for at, column in self._named_columns if column.kind == MONEY}
        self._currencies: dict[str, tuple[int, str]] = {}
        """First row and cell of each currency."""
        self._is_wrapped = False
        """True if the header is wholly in quotation marks, as rows then are."""
        self._notation = Notation(
            dotted_codes,
            is_local=self._dialect.separator in (";", "\t"),
            whole=(at for at, column in self._named_columns if column.kind == WHOLE),
        )
        self._date_orders: dict[str, str] = {} if date_orders is None else date_orders
        self._bad_rows = BadRowReasons(layout, self._columns, self._dialect, self._notation)
        self._value_warnings = ValueWarnings(self._columns, self.notes)
        self._is_scanned = False
        self._last_row_without_end: int | None = None
        self.layout = layout
        self.is_unique = bool(layout.unique)
        self.key_columns = layout.key_columns

    def _is_needed(self, index: int) -> bool:
        column = self._columns[index]
        return column is not None and column.required

    def rows(self, bad: Mapping[int, str] = {}) -> Iterator[TableRow]:
        """Yield every row that is not empty, in order. `position` is the number of bytes read so far.

        `bad` has reasons for rows that are bad already, by line.
        """
        self._scan_notation()
        self._bad_rows.restart()
        widest = 0
        for line, key, found, error in self._rows_with_keys():
            if len(found) < (widest or len(self._columns)) and line not in bad and not error and self._is_cut_off(line):
                error = (
                    "is the last row, has no line end, and fewer cells than the rows before it: the file seems to be"
                    " cut off; save it again, and load it whole"
                )
            widest = max(widest, len(found))
            error = error or self._mistaken_key_reason(found)
            if error or line in bad:
                yield TableRow(line, {}, error or bad[line], key)
            else:
                row = self._parse_row(line, found, key)
                if not row.reason:
                    self._bad_rows.pass_row(found)
                yield row
                if self._last_row_without_end == line or (self.position == self.size and self._is_cut_off(line)):
                    self.notes.add_warning(
                        "the last row has no line end; look whether it is whole", repr(found[-1]), line
                    )

    def _mistaken_key_reason(self, found: list[str]) -> str:
        """Return why a row is refused that names a product or store in a writing that nobody has; else empty."""
        for index, column in self._named_columns if self.mistaken_keys else ():
            keys = self.mistaken_keys.get(column.name, {})
            cell = found[index] if keys and index < len(found) else ""
            with suppress(ValueError):
                cell = cell and CLEANERS[column.kind](cell, self._notation_of(index)).value
            if cell and cell in keys:
                return f"There is no {column.name.partition('_')[0]} {cell}; {suggestion(cell, keys[cell])}"
        return ""

    def _rows_with_keys(self) -> Iterator[tuple[int, RecordKey, list[str], str]]:
        """Yield every row with its key.

        A broken row whose key cannot be read gets that of the row before it, and so does a line with an empty key.
        Otherwise its record would count as complete without it.
        """
        last: RecordKey = ()
        for line, found, error in self._read_rows():
            key = self._row_key(found)
            if not all(key) or not key:
                is_broken = bool(error) or len(found) < len(self._columns) or self._continues(last, key, found)
                key = last if self.layout.lines_field and is_broken else key
            last = key
            yield line, key, found, error

    def _continues(self, last: RecordKey, key: RecordKey, found: list[str]) -> bool:
        """Return True if a row without the name of its record has a line, as below merged cells, and no total."""
        is_same = bool(key) and not key[-1] and key[:-1] in (last[:-1], ("",) * len(key[:-1]))
        return is_same and min(self._line_indexes) >= 0 and all(found[at].strip() for at in self._line_indexes)

    def _is_cut_off(self, line: int) -> bool:
        """Return True if the row is the last one of a file without a final line end."""
        position = self.position
        if self._last_row_without_end is None:
            with open(self.path, "rb") as raw:
                raw.seek(max(0, self.size - _TAIL_BYTES))
                is_ended = not re.split(rb"[\r\n]", raw.read())[-1].strip(_BLANK_LINE_BYTES)
            self._last_row_without_end = 0 if is_ended else max((at for at, _, _ in self._read_rows()), default=0)
        self.position = position
        return self._last_row_without_end == line

    def record_keys(self) -> Iterator[tuple[int, RecordKey, list[str]]]:
        """Yield line, record key and cells of each row.

        Rows without a key cell are skipped; reading the row reports that.
        """
        self._scan_notation()
        for line, found, error in self._read_rows():
            key = () if error else self._clean_key(found, self._key_column_indexes)
            if key and all(key[at] for at in self._required_key_indexes):
                yield line, key, found

    def values_of(self, found: list[str]) -> tuple[Any, ...]:
        """Return the values of a row's cells in their order; two rows with the same ones say the same."""
        return tuple([self._value_of(index, found) for index in range(max(len(found), len(self._columns)))])

    def _value_of(self, index: int, found: list[str]) -> Any:
        """Return the value of a cell: a number, numbers or a flag, otherwise a text."""
        cell, column = self._clean_cell(index, found), self._column_at(index)
        if column is None or not cell:
            return cell
        try:
            value = column.parse(cell)
        except ValueError:
            return cell
        if column.kind == NUMBERS:
            return tuple(value)
        return value if isinstance(value, (int, Decimal)) else str(value)

    def has_column(self, name: str) -> bool:
        """Return True if the file has this column."""
        return any(column.name == name for _, column in self._named_columns)

    def columns_of_kind(self, kind: str) -> list[str]:
        """Return the names of the file's columns of a kind."""
        return [column.name for _, column in self._named_columns if column.kind == kind]

    def select_cells(
        self, names: Iterable[str], *, with_broken: bool = False, only_readable: bool = False
    ) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Yield line and some cleaned cells of each row; empty texts for missing cells.

        Several codes of one cell are joined by commas. `with_broken` adds the rows that are no valid CSV. A cell that
        cannot be read is yielded as it is, or is empty with `only_readable`.
        """
        places = {column.name: index for index, column in self._named_columns}
        wanted = [places.get(name, -1) for name in names]
        self._scan_notation()
        for line, found, error in self._read_rows():
            if with_broken or not error:
                yield line, tuple([self._clean_cell(at, found, only_readable=only_readable) for at in wanted])

    def _clean_cell(self, index: int, found: list[str], *, only_readable: bool = False) -> str:
        """Return a cleaned cell with its codes joined by commas, or the key that is meant for a mistaken one."""
        column, (cell, _) = self._column_at(index), self._split_unit(index, found)
        if column is None or not cell:
            return "" if only_readable else cell
        if only_readable and trim_blanks(cell).casefold() in CLEAR_WORDS:
            return ""
        try:
            if only_readable and not cell.isascii() and self._bad_rows.encoding_fault(cell):
                return ""
            cleaned = CLEANERS[column.kind](cell, self._notation_of(index))
        except ValueError:
            return "" if only_readable else self._right_key(column, cell)
        value = self._right_key(column, cleaned.value)
        return ",".join((value, *cleaned.further_codes)) if cleaned.further_codes else value

    def _right_key(self, column: Column, key: str) -> str:
        """Return the right key for one that a row names by mistake; others unchanged."""
        return self.mistaken_keys.get(column.name, {}).get(key, key) if self.mistaken_keys else key

    def products_with_units(self) -> set[str]:
        """Return the products whose quantity has a unit behind it."""
        product, quantity = self._quantity_indexes
        found: set[str] = set()
        for _, cells, error in self._read_rows() if min(product, quantity) >= 0 else ():
            if error or len(cells) <= max(product, quantity) or cells[quantity].isdecimal():
                continue
            if split_unit(_unwrap_cell(cells[quantity]))[1]:
                found.add(self._clean_cell(product, cells))
        return found

    def _split_unit(self, index: int, found: list[str]) -> tuple[str, str]:
        """Return a cell and, if it is a quantity in the product's own unit, that unit, which the cell lacks then."""
        cell = found[index] if 0 <= index < len(found) else ""
        if not self.units or index != self._quantity_indexes[1] or cell.isdecimal():
            return cell, ""
        number, unit = split_unit(_unwrap_cell(cell))
        return (number, unit) if unit and _unit_key(unit) == _unit_key(self._unit_of(found)) else (cell, "")

    def _unit_of(self, found: list[str]) -> str:
        """Return the unit of the product of a row, as far as it was needed and is known."""
        return self.units.get(self._clean_cell(self._quantity_indexes[0], found), "")

    def scattered_keys(self) -> dict[RecordKey, int]:
        """Return the keys whose rows are not adjacent, with the line of their last row; one pass.

        Only hashes of the other keys are kept. A collision makes a key count as scattered, which only costs memory.
        """
        self._scan_notation()
        seen: set[int] = set()
        found: dict[RecordKey, int] = {}
        last: RecordKey = ()
        for line, key, _, _ in self._rows_with_keys():
            if key and key != last:
                if hash(key) in seen:
                    found[key] = line
                seen.add(hash(key))
                last = key
            elif key in found:
                found[key] = line
        return found

    def _scan_notation(self) -> None:
        """Read all numbers and dates once, to learn how the file writes them; add the assumptions to the notes."""
        if self._is_scanned:
            return
        self._is_scanned = True
        numbers = [index for index, column in self._named_columns if column.kind in (*DECIMAL_KINDS, NUMBERS)]
        dates = [index for index, column in self._named_columns if column.kind == DATE]
        codes = [index for index, column in self._named_columns if column.kind in (DOTTED_CODE, LIST)]
        for line, found, error in self._read_rows():
            if not error:
                self._bad_rows.observe_row(line, found)
                self._value_warnings.observe_row(found)
                self._observe_row(line, found, numbers, dates)
                for index in codes:
                    if index < len(found) and "." in found[index]:
                        for part in _unwrap_cell(found[index]).split("|"):
                            self._notation.observe_code(part)
        if len(self._currencies) > 1:
            seen = ", ".join(f"{trim_blanks(cell)} in row {line}" for line, cell in self._currencies.values())
            self.notes.add_file_warning(f"its prices have several currencies, and are taken as they are: {seen}")
        self._notation.settle_years()
        self._compare_date_orders()
        wrapped = ("no quotation marks around whole rows",) if self._is_wrapped else ()
        for assumption in (*self._dialect.assumptions, *wrapped, *self._notation.describe_assumptions()):
            self.notes.add_assumption(assumption)

    def _compare_date_orders(self) -> None:
        """Add a warning if an earlier file of the load has dates in another order of day and month."""
        orders = self._notation.date_orders()
        for order, shown in orders.items():
            other, its = next(((one, at) for one, at in self._date_orders.items() if one not in orders), ("", ""))
            if other:
                self.notes.add_file_warning(
                    f"its dates have the {order} ({shown}), and {its} has the {other}; look whether both are right"
                )
        for order, shown in orders.items():
            self._date_orders.setdefault(order, f"{shown} of {self.name}")

    def _notation_of(self, index: int) -> Notation:
        return self._notation.of_column(index)

    def _observe_row(self, line: int, found: list[str], numbers: Iterable[int], dates: Iterable[int]) -> None:
        for index in numbers:
            cell, _ = self._split_unit(index, found)
            if "," in cell or "." in cell:
                if index in self._list_indexes and is_one_or_two(_unwrap_cell(cell)):
                    continue
                amount = with_cents(cell) if index in self._money_indexes else cell
                shown = _unwrap_cell(cell) if amount != cell else ""
                for part in split_numbers(amount):
                    self._notation.observe_number(line, _unwrap_cell(part), index, shown)
            elif cell.isdecimal():
                self._notation.observe_number(line, cell, index)
        for index in self._money_indexes:
            cell = found[index] if index < len(found) else ""
            if bare := _unwrap_cell(cell) if cell else "":
                self._notation.observe_amount(line, bare, index)
            if cell and not (cell[0].isdigit() and cell[-1].isdigit()) and (sign := currency_of(_unwrap_cell(cell))):
                self._currencies.setdefault(CURRENCY_NAMES[sign], (line, cell))
        for index in dates:
            if index < len(found) and found[index]:
                self._notation.observe_date(line, _unwrap_cell(found[index]), index)

    def _read_rows(self) -> Iterator[tuple[int, list[str], str]]:
        """Yield the number, cells and reason of each row that is not empty.

        Rows are numbered as a spreadsheet shows them: a cell with line ends inside makes no further rows.
        """
        with open_csv(self.path, self._dialect) as (raw, stream):
            text: list[str] = []
            reader: Any = csv_reader(_remember_lines(stream, text), self._dialect)
            self._is_wrapped = len(next(reader)) < len(self._columns)
            row = self._dialect.skipped_lines + 1
            before: list[str] = []
            while True:
                line = row = reader.line_num + 1 + self._dialect.skipped_lines if self._dialect.is_boxed else row + 1
                text.clear()
                try:
                    found = next(reader)
                except StopIteration:
                    break
                except csv.Error as error:
                    self.position = raw.tell()
                    row += len(text) - 1  # its lines are rows as soon as its quotation mark is closed
                    first = split_first_row("".join(text), self._dialect.separator)
                    yield line, first, csv_error_reason(error, line, len(text))
                    yield from self._rows_of_other_records(line, first, text[1:])
                    continue
                self.position = raw.tell()
                if len(text) > 1 and (inside := self._rows_in_cell(line, text, found, before)):
                    row += len(text) - 1
                    yield from inside
                    continue
                if found and any(cell.strip(BLANK_CHARACTERS) for cell in found):
                    found = before = unwrapped(found, self._dialect.separator) if self._is_wrapped else found
                    is_broken = self._is_wrapped and len(found) == 1 and self._dialect.separator in found[0]
                    yield line, found, BROKEN_INSIDE if is_broken else ""
        self.position = self.size

    def _rows_of_other_records(
        self, line: int, first: list[str], text: list[str]
    ) -> Iterator[tuple[int, list[str], str]]:
        """Yield the lines of a broken row that belong to other records, which are not loaded without them."""
        for at, inner in enumerate(text if self.layout.lines_field else (), 1):
            cells = cells_of_line(inner, self._dialect.separator)
            if (key := self._row_key(cells)) and key != self._row_key(first):
                yield line + at, cells, inner_reason(line)

    def _rows_in_cell(
        self, line: int, text: list[str], found: list[str], before: list[str]
    ) -> list[tuple[int, list[str], str]]:
        """Return the rows that a stray quotation mark makes text of a cell, each with its reason; none usually.

        Add a warning if it is doubtful whether they are rows.
        """
        inside = None if self._dialect.is_boxed else self._form.rows_in_cell(text, before)
        if inside and inside.is_sure:
            reason = opening_reason(line, len(text), found, self._columns)
            return [(line + at, row, inner_reason(line) if at else reason) for at, row in enumerate(inside.rows)]
        if inside and line not in self._lines_with_separators:
            self._lines_with_separators.add(line)
            self.notes.add_warning(POSSIBLE_ROWS, repr(text[0].strip()), line)
        return []

    def _row_key(self, found: list[str]) -> RecordKey:
        return self._clean_key(found, self._key_indexes)

    def _clean_key(self, found: list[str], indexes: Sequence[int]) -> RecordKey:
        return () if max(indexes, default=0) >= len(found) else tuple([self._clean_cell(at, found) for at in indexes])

    def _parse_row(self, line: int, found: list[str], key: RecordKey) -> TableRow:
        if reason := self._half_quoted_reason(found) or self._bad_rows.row_reason(line, found):
            return TableRow(line, {}, reason, key)
        values: Values = {}
        changes: list[str] = []
        warnings: list[tuple[str, str]] = []
        faults: list[str] = []
        for index, column in self._named_columns:
            cell, unit = self._split_unit(index, found)
            if not cell:
                continue
            if not cell.isascii() and (fault := self._bad_rows.encoding_fault(cell)):
                faults.append(f"{column.name} {fault}")
                continue
            try:
                if "(" in cell and trim_blanks(cell).casefold() in CLEAR_WORDS:
                    values[column.name] = self._empty_value(column, trim_blanks(cell))
                    continue
                cleaned = CLEANERS[column.kind](cell, self._notation_of(index))
                if cleaned.value:
                    values[column.name] = column.parse(cleaned.value)
            except ValueError as error:
                fault = self._named_pool_fault(column, cell, found) or f"{error}{self._unit_advice(index, found)}"
                faults.append(f"{column.name} {fault}")
                continue
            if unit:
                changes.append(f"{column.name}: the unit {unit} taken off, which is the product's own")
            if cleaned.changes:
                changes.append(f"{column.name}: {cleaned.changes}")
            if cleaned.warning:
                warnings.append((f"{column.name} {cleaned.warning}", repr(cleaned.value)))
            if cleaned.further_codes:
                warnings += _add_further_codes(values, column.name, cleaned.further_codes)
        if faults:
            return TableRow(line, values, "; also ".join(faults), key)
        for name in self._required:
            if name not in values:
                return TableRow(line, values, self._bad_rows.empty_reason(name, values, changes), key)
        for change in changes:
            self.notes.add_change(change, line)
        for what, value in warnings:
            self.notes.add_warning(what, value, line)
        if len(found) < len(self._columns):
            self.notes.add_change("fewer cells than the header; the last ones were read as empty", line)
        self._value_warnings.check_row(line, values)
        return TableRow(line, values, "", key)

    def _half_quoted_reason(self, found: list[str]) -> str:
        """Return why a row is refused of which a quotation mark makes several cells one; else empty."""
        column = self._form.cell_of_several(found) if 1 < len(found) < len(self._columns) else None
        return half_quoted_reason(column.name, found[self._columns.index(column)]) if column else ""

    def _empty_value(self, column: Column, cell: str) -> Any:
        """Return the value of a cell that empties a field. Raise ValueError if the field names the record."""
        if column.name in self.key_columns and not column.required:
            nothing = "a price of the chain" if column.name == "store_number" else "goods at no location"
            raise ValueError(f"is {cell}, which takes a value away; leave the cell empty for {nothing}")
        return column.empty_value(cell)

    def _named_pool_fault(self, column: Column, cell: str, found: list[str]) -> str:
        """Return why a stock pool that is named by its name is refused; empty if it is not."""
        name, (store, *_) = trim_blanks(cell), self._clean_key(found, self._key_column_indexes) or ("",)
        pool = self.pool_names.get(store, {}).get(fold_code(name)) if column.kind == POOL else None
        return f"{name} is pool {pool} of the store; write {pool}" if pool else ""

    def _unit_advice(self, index: int, found: list[str]) -> str:
        """Return in which unit a quantity is to be written, if it has another unit; otherwise empty."""
        if not self.units or index != self._quantity_indexes[1] or not split_unit(_unwrap_cell(found[index]))[1]:
            return ""
        own = self._unit_of(found)
        return f", in {own!r}, the product's base_unit_name" if own else " (the product has no base_unit_name)"

    def _column_at(self, index: int) -> Column | None:
        return self._columns[index] if 0 <= index < len(self._columns) else None


def _unit_key(unit: str) -> str:
    """Return a unit in the form in which units are compared."""
    return fold_code(unit).rstrip(".")


def _add_further_codes(values: Values, name: str, codes: tuple[str, ...]) -> list[tuple[str, str]]:
    """Add the further codes of a barcode cell to the product's barcodes; return warnings for other columns."""
    if name != "barcode":
        return [(f"{name} takes one code, and the others of the cell are left out", ", ".join(codes))]
    present = [code for code in str(values.get("barcodes_array", "")).split(",") if code]
    values["barcodes_array"] = ",".join(dict.fromkeys([*present, *codes]))
    return []


def _remember_lines(lines: Iterable[str], text: list[str]) -> Iterator[str]:
    """Yield the lines of a file; those of the present row stay in `text`."""
    for line in lines:
        text.append(line)
        yield line


def _unwrap_cell(cell: str) -> str:
    found = re.fullmatch(r'\s*=?\s*"?(.*?)"?\s*', cell, re.DOTALL)
    return trim_blanks(found[1]) if found else cell


def group_by_key(rows: Iterator[TableRow], scattered: dict[RecordKey, int]) -> Iterator[list[TableRow]]:
    """Yield rows with the same key together. Those of scattered keys are held until the last one."""
    current: list[TableRow] = []
    held: dict[RecordKey, list[TableRow]] = {}
    for row in rows:
        if row.key in scattered:
            if current:
                yield current
                current = []
            held.setdefault(row.key, []).append(row)
            if row.line >= scattered[row.key]:
                yield held.pop(row.key)
            continue
        if current and (row.key != current[0].key or not row.key):
            yield current
            current = []
        current.append(row)
    if current:
        yield current
    yield from held.values()
