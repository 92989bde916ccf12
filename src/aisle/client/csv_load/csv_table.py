"""Reading of one CSV file as a stream of rows: the header is checked first, each row is parsed or gets a reason."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from aisle.barcode_keys import split_codes
from aisle.barcode_numbers import wrong_check_digit
from aisle.client.csv_load import cell_cleaning
from aisle.client.csv_load.columns import LOCATIONS, NOT_UTF8, PRODUCTS, Column, FileLayout
from aisle.client.csv_load.csv_dialect import (
    NAMES,
    SEPARATORS,
    csv_reader,
    detect_dialect,
    open_csv,
    split_first_row,
    unwrapped,
    utf8_text,
)
from aisle.client.csv_load.csv_header import LONE_SURROGATE, check_header, normalize_header
from aisle.client.csv_load.currency_and_thousands import CURRENCY_NAMES, currency_of
from aisle.client.csv_load.date_cells import MONTH_NAMES
from aisle.client.csv_load.footer_rows import incomplete_total_reason, subtotal_reason, total_reason
from aisle.client.csv_load.number_and_date_notation import Notation
from aisle.client.csv_load.number_cells import split_unit, with_cents
from aisle.client.csv_load.report import FileNotes
from aisle.client.csv_load.stray_quotation_marks import (
    POSSIBLE_ROWS,
    TableForm,
    cells_of_line,
    inner_reason,
    opening_reason,
)

Values = dict[str, Any]
"""Values of rows of a file by field, as they are sent."""
RecordKey = tuple[str, ...]

_BLANK_CHARACTERS = f" \t\r\n\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u2007\u202f{chr(26)}"
"""Characters of a row without content: blanks, and Ctrl-Z, with which old programs end a file."""


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
        """Units of the products whose quantities have a unit, by product (`read_product_units`)."""
        self.mistaken_keys: dict[str, Mapping[str, str]] = {}
        """Keys that rows name by mistake, by column, with those that are meant (`find_mistaken_keys`)."""
        self._quantity_indexes = tuple(names.index(name) if name in names else -1 for name in _QUANTITY_COLUMNS)
        self._line_indexes = [names.index(name) if name in names else -1 for name in _LINE_COLUMNS]
        named = ("location_code",) if layout is LOCATIONS else ("product_number", "location_code", "stock_pool")
        self._total_indexes = [at for at, name in enumerate(names) if name in named]
        self._subtotal_indexes = [at for at, name in enumerate(names) if name in _SUBTOTAL_COLUMNS]
        self._row_before: list[str] = []
        self._lines_with_separators: set[int] = set()
        """Rows with a cell of several lines, of which one may be a row; each is warned of once."""
        self._number_indexes = {at for at, column in self._named_columns if column.kind in _DECIMAL_KINDS}
        self._list_indexes = {at for at, column in self._named_columns if column.kind == cell_cleaning.NUMBERS}
        self._money_indexes = {at for at, column in self._named_columns if column.kind == cell_cleaning.MONEY}
        self._currencies: dict[str, tuple[int, str]] = {}
        """First row and cell of each currency."""
        self._split_row = 0
        self._is_wrapped = False
        """True if the header is wholly in quotation marks, as rows then are."""
        self._has_long_rows = False
        """True if most rows have more cells than the header."""
        self._known_names = frozenset(layout.columns)
        self._other_header = 0
        self._notation = Notation(dotted_codes, is_local=self._dialect.separator in (";", "\t"))
        self._date_orders: dict[str, str] = {} if date_orders is None else date_orders
        self._phone_lengths: dict[str, set[int]] = {
            column.name: set() for _, column in self._named_columns if column.name in _PHONES
        }
        """Digits of the numbers in a column that begin with a zero."""
        self._is_scanned = False
        self._last_row_without_end: int | None = None
        self._has_lines = bool(layout.lines_field)
        self._is_of_products = layout is PRODUCTS
        self.is_unique = bool(layout.unique)
        self.creates_records = layout.creates_records
        self.key_columns = layout.key_columns

    def _is_needed(self, index: int) -> bool:
        column = self._columns[index]
        return column is not None and column.required

    def rows(self, bad: Mapping[int, str] = {}) -> Iterator[TableRow]:
        """Yield every row that is not empty, in order. `position` is the number of bytes read so far.

        `bad` has reasons for rows that are bad already, by line.
        """
        self._scan_notation()
        self._other_header = widest = 0
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
                self._row_before = self._row_before if row.reason else found
                yield row
                if self._last_row_without_end == line or (self.position == self.size and self._is_cut_off(line)):
                    self.notes.add_warning(
                        "the last row has no line end; look whether it is whole", repr(found[-1]), line
                    )

    def _mistaken_key_reason(self, found: list[str]) -> str:
        """Return why a row is refused that names a product or store in a writing that nobody has; else empty."""
        for index, column in self._named_columns if self.mistaken_keys else ():
            keys = self.mistaken_keys.get(column.name, {})
            cell = self._cleaned(column, index, found[index]) if keys and index < len(found) else ""
            if cell and cell in keys:
                return f"There is no {column.name.partition('_')[0]} {cell}; {keys[cell]}?"
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
                key = last if self._has_lines and is_broken else key
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

    def record_keys(self) -> Iterator[tuple[int, RecordKey, int]]:
        """Yield line, record key and a hash of the cells of each row.

        Rows without a key cell are skipped; reading the row reports that.
        """
        self._scan_notation()
        for line, found, error in self._read_rows():
            key = () if error else self._clean_key(found, self._key_column_indexes)
            if key and all(key[at] for at in self._required_key_indexes):
                yield line, key, hash(tuple(self._with_meant_keys(found)))

    def _with_meant_keys(self, found: list[str]) -> list[str]:
        """Return the cells of a row, with the key that is meant in place of one that is a mistake."""
        if not self.mistaken_keys:
            return found
        named = [self._column_at(index) for index in range(len(found))]
        return [
            self._clean_cell(index, cell) if column and column.name in self.mistaken_keys else cell
            for index, (column, cell) in enumerate(zip(named, found, strict=True))
        ]

    def has_column(self, name: str) -> bool:
        """Return True if the file has this column."""
        return any(column.name == name for _, column in self._named_columns)

    def columns_of_kind(self, kind: str) -> list[str]:
        """Return the names of the file's columns of a kind."""
        return [column.name for _, column in self._named_columns if column.kind == kind]

    def column_cells(self, name: str) -> Iterator[tuple[int, str]]:
        """Yield line and cleaned cell of one column, for non-empty cells."""
        if self.has_column(name):
            for line, (cell,) in self.select_cells((name,)):
                if cell:
                    yield line, cell

    def select_cells(self, names: Iterable[str], *, with_broken: bool = False) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Yield line and some cleaned cells of each row; empty texts for missing cells.

        Several codes of one cell are joined by commas. `with_broken` adds the rows that are no valid CSV.
        """
        places = {column.name: index for index, column in self._named_columns}
        wanted = [places.get(name, -1) for name in names]
        self._scan_notation()
        for line, found, error in self._read_rows():
            if with_broken or not error:
                yield line, tuple([self._clean_joined(at, found) if 0 <= at < len(found) else "" for at in wanted])

    def _clean_joined(self, index: int, found: list[str]) -> str:
        column, (cell, _) = self._columns[index], self._split_unit(index, found)
        if column is None or not cell:
            return cell
        try:
            cleaned = cell_cleaning.CLEANERS[column.kind](cell, self._notation_of(index))
        except ValueError:
            return self._meant(column, cell)
        value = self._meant(column, cleaned.value)
        return ",".join((value, *cleaned.further_codes)) if cleaned.further_codes else value

    def _meant(self, column: Column, key: str) -> str:
        """Return the key that is meant by one that a row names by mistake; others unchanged."""
        return self.mistaken_keys.get(column.name, {}).get(key, key) if self.mistaken_keys else key

    def products_with_units(self) -> set[str]:
        """Return the products whose quantity has a unit behind it."""
        product, quantity = self._quantity_indexes
        found: set[str] = set()
        for _, cells, error in self._read_rows() if min(product, quantity) >= 0 else ():
            if error or len(cells) <= max(product, quantity) or cells[quantity].isdecimal():
                continue
            if split_unit(_unwrap_cell(cells[quantity]))[1]:
                found.add(self._clean_cell(product, cells[product]))
        return found

    def _split_unit(self, index: int, found: list[str]) -> tuple[str, str]:
        """Return a cell and, if it is a quantity in the product's own unit, that unit, which the cell lacks then."""
        cell = found[index]
        if not self.units or index != self._quantity_indexes[1] or cell.isdecimal():
            return cell, ""
        number, unit = split_unit(_unwrap_cell(cell))
        return (number, unit) if unit and _unit_key(unit) == _unit_key(self._unit_of(found)) else (cell, "")

    def _unit_of(self, found: list[str]) -> str:
        """Return the unit of the product of a row, as far as it was needed and is known."""
        index = self._quantity_indexes[0]
        return self.units.get(self._clean_cell(index, found[index]), "") if 0 <= index < len(found) else ""

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
        numbers = [
            index for index, column in self._named_columns if column.kind in (*_DECIMAL_KINDS, cell_cleaning.NUMBERS)
        ]
        dates = [index for index, column in self._named_columns if column.kind == cell_cleaning.DATE]
        codes = [index for index, column in self._named_columns if column.kind == cell_cleaning.DOTTED_CODE]
        rows = long_rows = 0
        for line, found, error in self._read_rows():
            if not error:
                rows, long_rows = rows + 1, long_rows + (len(found) > len(self._columns))
                self._observe_row(line, found, numbers, dates)
                if not self._split_row and any(found[len(self._columns) :]) and self._split_number(found):
                    self._split_row = line
                for index in codes:
                    if index < len(found) and "." in found[index]:
                        self._notation.observe_code(_unwrap_cell(found[index]))
        self._has_long_rows = long_rows * 2 > rows
        if len(self._currencies) > 1:
            seen = ", ".join(
                f"{cell_cleaning.trim_blanks(cell)} in row {line}" for line, cell in self._currencies.values()
            )
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
            cell, _ = self._split_unit(index, found) if index < len(found) else ("", "")
            if "," in cell or "." in cell:
                if index in self._list_indexes and cell_cleaning.is_one_or_two(_unwrap_cell(cell)):
                    continue
                amount = with_cents(cell) if index in self._money_indexes else cell
                shown = _unwrap_cell(cell) if amount != cell else ""
                for part in cell_cleaning.split_numbers(amount):
                    self._notation.observe_number(line, _unwrap_cell(part), index, shown)
            elif cell.isdecimal():
                self._notation.observe_number(line, cell, index)
        for index, column in self._named_columns if self._phone_lengths else ():
            cell = found[index] if index < len(found) else ""
            if column.name in self._phone_lengths and cell.strip()[:1] == "0":
                self._phone_lengths[column.name].add(sum(map(str.isdecimal, cell)))
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
                    yield line, first, _csv_error_reason(error, line, len(text))
                    yield from self._rows_of_other_records(line, first, text[1:])
                    continue
                self.position = raw.tell()
                if len(text) > 1 and (inside := self._rows_in_cell(line, text, found, before)):
                    row += len(text) - 1
                    yield from inside
                    continue
                if found and any(cell.strip(_BLANK_CHARACTERS) for cell in found):
                    found = before = unwrapped(found, self._dialect.separator) if self._is_wrapped else found
                    is_broken = self._is_wrapped and len(found) == 1 and self._dialect.separator in found[0]
                    yield line, found, _BROKEN_INSIDE if is_broken else ""
        self.position = self.size

    def _rows_of_other_records(
        self, line: int, first: list[str], text: list[str]
    ) -> Iterator[tuple[int, list[str], str]]:
        """Yield the lines of a broken row that belong to other records, which are not loaded without them."""
        for at, inner in enumerate(text if self._has_lines else (), 1):
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

    def _clean_key(self, found: list[str], indexes: Iterable[int]) -> RecordKey:
        try:
            return tuple([self._clean_cell(index, found[index]) for index in indexes])
        except IndexError:
            return ()

    def _clean_cell(self, index: int, cell: str) -> str:
        """Return a cleaned cell; unchanged if it cannot be read."""
        column = self._columns[index]
        return self._meant(column, self._cleaned(column, index, cell)) if column and cell else cell

    def _cleaned(self, column: Column, index: int, cell: str) -> str:
        try:
            return cell_cleaning.CLEANERS[column.kind](cell, self._notation_of(index)).value
        except ValueError:
            return cell

    def _parse_row(self, line: int, found: list[str], key: RecordKey) -> TableRow:
        if reason := self._stray_row_reason(line, found) or self._cell_count_reason(found) or self._split_reason(found):
            return TableRow(line, {}, reason, key)
        values: Values = {}
        changes: list[str] = []
        warnings: list[tuple[str, str]] = []
        faults: list[str] = []
        for index, column in self._named_columns:
            cell, unit = self._split_unit(index, found) if index < len(found) else ("", "")
            if not cell:
                continue
            if not cell.isascii() and (fault := self._encoding_fault(cell)):
                faults.append(f"{column.name} {fault}")
                continue
            try:
                if "(" in cell and cell_cleaning.trim_blanks(cell).casefold() in cell_cleaning.CLEAR_WORDS:
                    values[column.name] = column.empty_value(cell_cleaning.trim_blanks(cell))
                    continue
                cleaned = cell_cleaning.CLEANERS[column.kind](cell, self._notation_of(index))
                if cleaned.value:
                    values[column.name] = column.parse(cleaned.value)
            except ValueError as error:
                faults.append(f"{column.name} {error}{self._unit_advice(index, found)}")
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
                return TableRow(line, values, self._empty_reason(name, values, changes), key)
        for change in changes:
            self.notes.add_change(change, line)
        for what, value in warnings:
            self.notes.add_warning(what, value, line)
        if len(found) < len(self._columns):
            self.notes.add_change("fewer cells than the header; the last ones were read as empty", line)
        self._warn_of_values(line, values)
        return TableRow(line, values, "", key)

    def _unit_advice(self, index: int, found: list[str]) -> str:
        """Return in which unit a quantity is to be written, if it has another unit; otherwise empty."""
        if not self.units or index != self._quantity_indexes[1] or not split_unit(_unwrap_cell(found[index]))[1]:
            return ""
        own = self._unit_of(found)
        return f", in {own!r}, the product's base_unit_name" if own else " (the product has no base_unit_name)"

    def _stray_row_reason(self, line: int, found: list[str]) -> str:
        """Return why a row does not belong to the table: a repeated header, a total, another separator. Empty if it
        does.
        """
        index, cell = next(((at, cell) for at, cell in enumerate(found) if cell.strip()), (0, ""))
        column = self._column_at(index)
        if column and cell:
            if cell.lstrip(_BLANK_CHARACTERS + "\ufeff")[:2].casefold() == column.name[:2] and self._is_header(found):
                return "repeats the header; delete it"
            if self._other_header or self._is_other_header(found, cell):
                self._other_header = self._other_header or line
                return self._other_header_reason(line)
            if not (cell[0].isdigit() or self._is_of_products):
                needed = (at for at, one in self._named_columns if one.required)
                is_whole = any(found[index + 1 :]) and all(at < len(found) and found[at] for at in needed)
                if reason := total_reason(cell_cleaning.trim_blanks(cell), is_complete=is_whole):
                    return reason
        return self._total_inside(found) or self._separator_reason(found)

    def _total_inside(self, found: list[str]) -> str:
        """Return why a row is a total, by the last of its product and location; empty if it is none."""
        cells = [(at, cell_cleaning.trim_blanks(found[at])) for at in self._total_indexes if at < len(found)]
        index, cell = next(((at, one) for at, one in reversed(cells) if one), (0, ""))
        is_word = index and cell[0].isalpha() and not cell[-1].isdigit()
        if is_word and (reason := total_reason(cell, is_complete=True)):
            return reason
        for index in self._subtotal_indexes:
            cell = found[index] if index < len(found) else ""
            above = self._row_before[index] if index < len(self._row_before) else ""
            if above and len(cell) > len(above) and (reason := subtotal_reason(cell, above)):
                return reason
        return ""

    def _empty_reason(self, name: str, values: Values, changes: Iterable[str]) -> str:
        """Return why a row without a required cell is refused; a total often has figures and nothing else."""
        if total := next(filter(None, map(incomplete_total_reason, self._words(values))), ""):
            return total
        reason = f"{name} is empty, but every row needs it"
        start, end = f"{name}: ", " read as an empty cell"
        if (sign := next((one for one in changes if one.startswith(start)), "")).endswith(end):
            sign = sign.removeprefix(start).removesuffix(end)
            reason = f"{name} is {sign!r}, which is no figure, but every row needs it; write 0, if that is meant"
            if name != "quantity":
                reason = f"{name} is {sign!r}, which is read as an empty cell, but every row needs it"
        if values and not any(key in values for key in self.key_columns):
            return f"{reason}; delete the row if it is a total, or write what it is of"
        return reason

    def _words(self, values: Values) -> Iterator[str]:
        kinds = (cell_cleaning.TEXT, cell_cleaning.CODE, cell_cleaning.DOTTED_CODE)
        return (str(values[one.name]) for _, one in self._named_columns if one.kind in kinds and one.name in values)

    def _is_header(self, found: list[str]) -> bool:
        """Return True if all cells of a row are the names of their columns."""
        named_cells = [(cell, self._column_at(index)) for index, cell in enumerate(found) if cell.strip()]
        return all(column is not None and normalize_header(cell) == column.name for cell, column in named_cells)

    def _is_other_header(self, found: list[str], first: str) -> bool:
        """Return True if a row is a header with other columns, as of a second file put behind the first."""
        if normalize_header(first) not in self._known_names:
            return False
        names = [normalize_header(cell) for cell in found if cell.strip()]
        return len(names) > 1 and self._known_names.issuperset(names)

    def _other_header_reason(self, line: int) -> str:
        if line == self._other_header:
            return "is a header with other columns, as of a second file; save what follows as a file of its own"
        return f"follows the header with other columns in row {self._other_header}; save that part as a file of its own"

    def _separator_reason(self, found: list[str]) -> str:
        """Return why a row seems to have another separator than the header; empty if it does not."""
        if len(found) >= max(2, len(self._columns)) and len(self._columns) > 1:
            return ""
        own = self._dialect.separator
        if len(found) == 1 < len(self._columns) <= len(split_first_row(found[0], own)):
            return "has all its cells in one pair of quotation marks; save it without them"
        for mark, its_name in SEPARATORS.items():
            if mark not in found[0] or (mark != ";" and len(self._columns) == 1):
                continue
            if len(split_first_row(own.join(found), mark)) >= max(2, len(self._columns)):
                header = (
                    f"the columns of the header by {NAMES[own]}"
                    if len(self._columns) > 1
                    else "the header has one column"
                )
                return f"has its cells separated by {its_name}, and {header}; write all rows in one way"
        return ""

    def _cell_count_reason(self, found: list[str]) -> str:
        """Return why a row has a wrong number of cells; empty if nothing is lost by it."""
        unnamed = [cell for index, cell in enumerate(found) if cell.strip() and not self._column_at(index)]
        short = any(column.required for _, column in self._named_columns[-1:] if len(found) < len(self._columns))
        missing = {column.name for index, column in self._named_columns if index >= len(found)}
        if short or not missing.isdisjoint(self._required) or (unnamed and len(found) > len(self._columns)):
            many = f"has {_format_field_count(len(found))}, the header has {len(self._columns)}"
            if both := self._split_number(found) if len(found) > len(self._columns) else "":
                return f"{many}; is {both} one number with a decimal comma? Save the file with semicolons between cells"
            return many
        return f"has {unnamed[0]!r} in a column without a name; name the column or empty it" if unnamed else ""

    def _split_number(self, found: list[str]) -> str:
        """Return two cells that can be one number with a decimal comma (`1,10`); empty if there are none."""
        if self._dialect.separator != ",":
            return ""
        pairs = ((found[at], found[at + 1]) for at in sorted(self._number_indexes) if at + 1 < len(found))
        return next(
            (f"{first},{second}" for first, second in pairs if _WHOLE.match(first) and _CENTS.match(second)), ""
        )

    def _split_reason(self, found: list[str]) -> str:
        """Return why two numbers of a row are not read: a comma between them can be one of thousands or decimals.

        That of thousands makes the row longer than others, or leaves `000` in a cell; that of decimals makes another
        row longer.
        """
        if both := self._split_thousands(found):
            whole, zeros = both.split(",")
            return (
                f"has {both!r}, which can be the number {whole}{zeros} or two cells, {whole} and {zeros}; write"
                f" {whole}{zeros}, or leave {zeros} out"
            )
        if not self._split_row or self._notation.has_decimal_points or not (both := self._split_number(found)):
            return ""
        return (
            f"has {both!r}, which can be two cells or one number with a decimal comma, as row {self._split_row} has it;"
            " save the file with semicolons between cells"
        )

    def _split_thousands(self, found: list[str]) -> str:
        """Return two cells that are hardly meant as two, and can be one number (`1,000`); empty if there are none."""
        if self._dialect.separator != ",":
            return ""
        is_longer = len(found) > len(self._columns) and not self._has_long_rows
        for at in sorted(self._number_indexes):
            first, second = found[at : at + 2] if at + 1 < len(found) else ("", "")
            column = self._column_at(at + 1)
            is_checked = column is not None and column.name.endswith("location_code")
            is_one = is_longer or (second == "000" and not is_checked)
            if is_one and _BEFORE_THOUSANDS.fullmatch(first) and _THREE_DIGITS.fullmatch(second):
                return f"{first},{second}"
        return ""

    def _encoding_fault(self, cell: str) -> str:
        """Return why a cell cannot be read in the encoding of its file; empty if it can."""
        if text := utf8_text(cell, self._dialect.encoding):
            return f"{text!r} is in UTF-8, unlike the rest of the file; write it anew"
        if not LONE_SURROGATE.search(cell):
            return ""
        is_old = not self._dialect.encoding.startswith("utf")
        return "has letters of another encoding than the file; write it anew" if is_old else NOT_UTF8

    def _column_at(self, index: int) -> Column | None:
        return self._columns[index] if index < len(self._columns) else None

    def _warn_of_values(self, line: int, values: Values) -> None:
        """Add warnings on values of a row that is loaded all the same."""
        for _, column in self._named_columns:
            value = values.get(column.name)
            if column.name in _COUNTRIES and isinstance(value, list):
                for part in value:
                    if not _COUNTRY.fullmatch(part):
                        self.notes.add_warning(f"{column.name} names what is no code of a country", repr(part), line)
            if not isinstance(value, str):
                continue
            if column.name in _SIZES and _DATE_LIKE.fullmatch(value):
                self.notes.add_warning(
                    f"{column.name} looks like a date that a spreadsheet has made of a size", value, line
                )
            elif column.name in _CODE_TEXTS and _DATE_LIKE.fullmatch(value):
                self.notes.add_warning(
                    f"{column.name} looks like a date that a spreadsheet has made of a code", value, line
                )
            elif column.kind == cell_cleaning.TEXT:
                if column.name in _WHOLE_TEXTS and _WITH_DECIMAL.fullmatch(value):
                    what = f"{column.name} has .0 behind it, which a program may have added"
                    self.notes.add_warning(what, value, line)
                if not value.isascii() and _WRONG_ENCODING.search(value):
                    what = f"{column.name} has letters that were saved in a wrong encoding"
                    self.notes.add_warning(what, repr(value), line)
                if _SHORTENED.fullmatch(value) and not column.name.endswith("name"):
                    what = f"{column.name} looks like a number that a spreadsheet has shortened"
                    self.notes.add_warning(what, value, line)
                if len(value) < 12 and value.casefold().strip("()[]<>") in cell_cleaning.NO_VALUE_WORDS:
                    self.notes.add_warning(f"{column.name} is a word for nothing", repr(value), line)
            elif column.kind in (cell_cleaning.BARCODE, cell_cleaning.CONTAINER, cell_cleaning.BARCODES):
                self._warn_of_codes(line, column, value)
            elif column.name in self._phone_lengths and self._has_lost_zero(column.name, value):
                self.notes.add_warning(f"{column.name} may have lost a zero, with which others begin", value, line)
            elif column.kind in (cell_cleaning.CODE, cell_cleaning.DOTTED_CODE) and _DATE_LIKE.fullmatch(value):
                self.notes.add_warning(
                    f"{column.name} looks like a date that a spreadsheet has made of a code", value, line
                )

    def _has_lost_zero(self, name: str, value: str) -> bool:
        """Return True if a telephone number is as long as others of its column would be without their zero."""
        digits = cell_cleaning.join_digits(value)
        return digits.isdecimal() and digits[0] != "0" and len(digits) + 1 in self._phone_lengths[name]

    def _warn_of_codes(self, line: int, column: Column, value: str) -> None:
        for code in split_codes(value) if column.kind == cell_cleaning.BARCODES else (value,):
            if right := wrong_check_digit(code):
                self.notes.add_warning(f"{column.name} has a wrong check digit", f"{code} should end in {right}", line)


_BROKEN_INSIDE = "is wholly in quotation marks, and no row of CSV inside them; look for one that is not closed"
_PHONES = ("phone_number", "customer_phone")
_DECIMAL_KINDS = (cell_cleaning.NUMBER, cell_cleaning.MONEY)
_WHOLE = re.compile(r"\s*[+-]?\d+\Z", re.ASCII)
_CENTS = re.compile(r"\d{1,3}\s*\Z", re.ASCII)
_BEFORE_THOUSANDS = re.compile(r"[1-9]\d{0,2}", re.ASCII)
_THREE_DIGITS = re.compile(r"\d{3}", re.ASCII)
_SUBTOTAL_COLUMNS = ("store_number", "product_number", "location_code", "order_number", "badge")
_LINE_COLUMNS = ("line_number", "product_number")
_QUANTITY_COLUMNS = ("product_number", "quantity")


def _unit_key(unit: str) -> str:
    """Return a unit in the form in which units are compared."""
    return cell_cleaning.fold_code(unit).rstrip(".")


_SHORTENED = re.compile(r"\d+(?:[.,]\d+)?E\+?\d+", re.ASCII | re.IGNORECASE)
"""Number in E notation."""
_COUNTRIES = ("countries_allowed", "countries_not_allowed")
_COUNTRY = re.compile(r"[A-Za-z]{2,3}")
_SIZES = frozenset({"size", "volume"})
_CODE_TEXTS = frozenset({"margin_category", "general_ledger", "cost_center"})
"""Texts that are short codes, most of them."""
_WHOLE_TEXTS = _CODE_TEXTS | {"promotion_week"}
"""Texts that may be whole numbers."""
_WITH_DECIMAL = re.compile(r"\d+[.,]0", re.ASCII)
_WRONG_ENCODING = re.compile(
    "\ufffd|\u00c3[\u0080-\u00bf\u0152-\u0178\u02c6-\u02dc\u2013-\u203a\u20ac]|\u00e2\u201a\u00ac"
)
"""UTF-8 that was read as Windows-1252 and saved so, or letters that were lost."""
_DATE_LIKE = re.compile(
    r"\d{1,2}([-/.])\d{1,2}\1(?:19|20)\d\d"
    r"|\d{1,2}[-.] ?(jan|feb|mar|mrt|mär|apr|avr|may|mei|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez|déc)\w*[-.]?(\d{2,4})?"
    rf"|\d{{1,2}}[-./ ]{{1,2}}(?:{'|'.join(MONTH_NAMES)})\.?(?:[-./ ]{{1,2}}(?:\d{{4}}|\d{{2}}))?"
    rf"|(?:{'|'.join(MONTH_NAMES)})\.?[-./ ]{{1,2}}(?:(?:19|20)\d\d|\d\d)"
    r"|\d{1,2}([-/.])\d{1,2}\4[23]\d"
    r"|(?:19|20)\d\d-\d\d-\d\d(?: 00:00:00)?",
    re.IGNORECASE,
)


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


def _csv_error_reason(error: csv.Error, line: int, lines: int) -> str:
    """Return why a row is no valid CSV."""
    if "unexpected end" in str(error):
        rows_of_text = "the line after it is" if lines == 2 else f"the {lines - 1} lines after it are"
        after = f", or {rows_of_text} taken for its text" if lines > 1 else ""
        return (
            f"is no CSV: a quotation mark in it is not closed up to the end of the file, which is cut off{after};"
            " correct the row, and load the file whole"
        )
    rows = f"with rows {line + 1} to {line + lines - 1} as its text, which are not loaded either, " if lines > 2 else ""
    rows = f"with row {line + 1} as its text, which is not loaded either, " if lines == 2 else rows
    return f"{rows}is no CSV ({error}); look for a quotation mark that is not closed or not doubled"


def _unwrap_cell(cell: str) -> str:
    found = re.fullmatch(r'\s*=?\s*"?(.*?)"?\s*', cell, re.DOTALL)
    return cell_cleaning.trim_blanks(found[1]) if found else cell


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


def _format_field_count(count: int) -> str:
    return "1 field" if count == 1 else f"{count} fields"
