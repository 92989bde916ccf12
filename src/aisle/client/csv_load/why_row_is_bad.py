"""Bad rows of a CSV file, which are not loaded: each has a reason that says what to correct; totals and footers too."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from aisle.client.csv_load.clean_cells import trim_blanks
from aisle.client.csv_load.clean_cells_by_column_kind import CODE, DOTTED_CODE, MONEY, NUMBER, TEXT, WHOLE
from aisle.client.csv_load.columns import Column
from aisle.client.csv_load.csv_dialect import NAMES, SEPARATORS, CsvDialect, split_first_row, utf8_text
from aisle.client.csv_load.csv_header import LONE_SURROGATE, normalize_header
from aisle.client.csv_load.file_layouts_and_columns import LOCATIONS, PRODUCTS, FileLayout
from aisle.client.csv_load.local_number_and_date_notation import Notation
from aisle.client.csv_load.parse_cleaned_cells import NOT_UTF8

_WORDS = """
totaal subtotaal aantal bron einde stand afgedrukt pagina som regels artikelen
total subtotal sum count source end printed page rows items
gesamt summe zwischensumme anzahl quelle ende gedruckt seite zeilen artikel
totaux somme nombre fin imprimé lignes articles
"""
_WORD = "|".join(_WORDS.split())
_FOOTER_WORD_ALONE = re.compile(rf"(?:eind|grand |sous-)?(?:{_WORD})[:.]?", re.IGNORECASE)
_FOOTER_TEXT = re.compile(
    rf"[(\[*=-]*\s*(?:{_WORD})\b.*|[(\[].*|.*:\s.*|.*:|(?://|--|#(?!\d)).*", re.IGNORECASE | re.DOTALL
)
"""Words below a table, and comments."""
_COUNT_LINE = re.compile(rf"\d+ (?:{_WORD}|producten|products|produkte|produits)\b.*", re.IGNORECASE)
_TOTAL_WORDS = (
    r"(?:grand |sous-?|sub-? ?|zwischen|end|eind|gesamt)?(?:totaal|total|totaux|gesamt|summe|ergebnis|sum|somme)"
)
_TOTAL_CELL = re.compile(rf"[\W\u03a3]*{_TOTAL_WORDS}(?:\s+g[eé]n[eé]ral|\s*\([^)]*\))?\W*\d*", re.IGNORECASE)
_COUNT_WORD = re.compile(
    r"(?:anzahl|aantal|count|nombre|average|mean|durchschnitt|mittelwert|gemiddelde|moyenne)\b.*",
    re.IGNORECASE | re.DOTALL,
)
_TEXT_AND_TOTAL = re.compile(rf"(.+?)[\s:-]+{_TOTAL_WORDS}\W*", re.IGNORECASE | re.DOTALL)
_TOTAL_AND_NAME = re.compile(rf"{_TOTAL_WORDS}[\s:-]+(.+?)", re.IGNORECASE | re.DOTALL)
_TOTAL_AND_TEXT = re.compile(rf"[\W\u03a3]*{_TOTAL_WORDS}\b.*", re.IGNORECASE | re.DOTALL)


def total_reason(first: str, *, is_complete: bool) -> str:
    """Return why a row counts as a total, by its first cell. `is_complete`: the row has all required cells."""
    if _TOTAL_CELL.fullmatch(first) or (not is_complete and _TOTAL_AND_TEXT.fullmatch(first)):
        return _total_text(first)
    return ""


def incomplete_total_reason(cell: str) -> str:
    """Return why a row that lacks required cells counts as a total, by one of its texts; empty if it does not."""
    is_total = _TOTAL_AND_TEXT.fullmatch(cell) or _TEXT_AND_TOTAL.fullmatch(cell) or _COUNT_WORD.fullmatch(cell)
    return _total_text(cell) if is_total else ""


def subtotal_reason(cell: str, above: str) -> str:
    """Return why a row is a total of the rows above it (`P Total`, `Totaal P` below `P`); empty if it is none."""
    inner = _TEXT_AND_TOTAL.fullmatch(cell.strip()) or _TOTAL_AND_NAME.fullmatch(cell.strip())
    return _total_text(cell.strip()) if inner and inner[1].casefold() == above.strip().casefold() else ""


def _total_text(cell: str) -> str:
    return f"looks like a total ({cell!r}), and is no row of the table; delete it"


def footer_reason(values: Mapping[str, object], key: str) -> str:
    """Return why a row counts as a footer; empty if it is none.

    A word for a total has no name beside it; other words below a table have nothing beside them at all.
    """
    name = str(values.get(key, ""))
    is_named = not _TOTAL_CELL.fullmatch(str(values.get("product_name", "total")))
    is_total = not is_named and (_FOOTER_WORD_ALONE.fullmatch(name) or _TOTAL_CELL.fullmatch(name))
    is_text = len(values) == 1 and (_FOOTER_TEXT.fullmatch(name) or _COUNT_LINE.fullmatch(name))
    if not (is_total or is_text):
        return ""
    return f"{key} {name!r} looks like a line below the table; delete the row, or give it a product_name"


BLANK_CHARACTERS = f" \0\t\r\n\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u2007\u202f{chr(26)}"
"""Characters of a row without content: blanks, and Ctrl-Z or NUL, with which programs end or fill up a file."""
BROKEN_INSIDE = "is wholly in quotation marks, and no row of CSV inside them; look for one that is not closed"
_WHOLE = re.compile(r"\s*[+-]?\d+\Z", re.ASCII)
_CENTS = re.compile(r"\d{1,3}\s*\Z", re.ASCII)
_BEFORE_THOUSANDS = re.compile(r"[1-9]\d{0,2}", re.ASCII)
_THREE_DIGITS = re.compile(r"\d{3}", re.ASCII)
_SUBTOTAL_COLUMNS = ("store_number", "product_number", "location_code", "order_number", "badge")
DECIMAL_KINDS = (NUMBER, MONEY, WHOLE)


class BadRowReasons:
    """Reasons for which rows of a file are not loaded. All rows are observed before the first is judged."""

    def __init__(
        self, layout: FileLayout, columns: Sequence[Column | None], dialect: CsvDialect, notation: Notation
    ) -> None:
        self._columns = columns
        self._dialect = dialect
        self._notation = notation
        self._key_columns = layout.key_columns
        self._is_of_products = layout is PRODUCTS
        self._known_names = frozenset(layout.columns)
        self._named_columns = [(index, column) for index, column in enumerate(columns) if column]
        self._required = {column.name for _, column in self._named_columns if column.required}
        self._number_indexes = {at for at, column in self._named_columns if column.kind in DECIMAL_KINDS}
        named = ("location_code",) if layout is LOCATIONS else ("product_number", "location_code", "stock_pool")
        self._total_indexes = [at for at, column in self._named_columns if column.name in named]
        self._subtotal_indexes = [at for at, column in self._named_columns if column.name in _SUBTOTAL_COLUMNS]
        self._row_before: Sequence[str] = ()
        self._other_header = 0
        """Row with a header of other columns; the rows below it are of another file."""
        self._split_row = 0
        """First row that is too long because of a decimal comma."""
        self._rows = self._long_rows = 0

    def observe_row(self, line: int, found: Sequence[str]) -> None:
        """Learn from a row whether rows are longer than the header, and why."""
        self._rows += 1
        self._long_rows += len(found) > len(self._columns)
        if not self._split_row and any(found[len(self._columns) :]) and self._split_number(found):
            self._split_row = line

    def restart(self) -> None:
        """Begin again at the first row."""
        self._other_header = 0

    def pass_row(self, found: Sequence[str]) -> None:
        """Keep a good row, with which the next one is compared."""
        self._row_before = found

    def row_reason(self, line: int, found: Sequence[str]) -> str:
        """Return why a row is bad as a whole; empty if only its cells can be."""
        return self._stray_row_reason(line, found) or self._cell_count_reason(found) or self._split_reason(found)

    def empty_reason(self, name: str, values: Mapping[str, Any], changes: Iterable[str]) -> str:
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
        if values and not any(key in values for key in self._key_columns):
            return f"{reason}; delete the row if it is a total, or write what it is of"
        return reason

    def encoding_fault(self, cell: str) -> str:
        """Return why a cell cannot be read in the encoding of its file; empty if it can."""
        if text := utf8_text(cell, self._dialect.encoding):
            return f"{text!r} is in UTF-8, unlike the rest of the file; write it anew"
        if not LONE_SURROGATE.search(cell):
            return ""
        is_old = not self._dialect.encoding.startswith("utf")
        return "has letters of another encoding than the file; write it anew" if is_old else NOT_UTF8

    def _stray_row_reason(self, line: int, found: Sequence[str]) -> str:
        """Return why a row does not belong to the table: a repeated header, a total, another separator. Empty if it
        does.
        """
        index, cell = next(((at, cell) for at, cell in enumerate(found) if cell.strip()), (0, ""))
        column = self._column_at(index)
        if column and cell:
            if cell.lstrip(BLANK_CHARACTERS + "\ufeff")[:2].casefold() == column.name[:2] and self._is_header(found):
                return "repeats the header; delete it"
            if self._other_header or self._is_other_header(found, cell):
                self._other_header = self._other_header or line
                return self._other_header_reason(line)
            if not (cell[0].isdigit() or self._is_of_products):
                needed = (at for at, one in self._named_columns if one.required)
                is_whole = any(found[index + 1 :]) and all(at < len(found) and found[at] for at in needed)
                may_be_total = not is_whole or column.name in self._key_columns
                if may_be_total and (reason := total_reason(trim_blanks(cell), is_complete=is_whole)):
                    return reason
        return self._total_inside(found) or self._separator_reason(found)

    def _total_inside(self, found: Sequence[str]) -> str:
        """Return why a row is a total, by the last of its product and location; empty if it is none."""
        cells = [(at, trim_blanks(found[at])) for at in self._total_indexes if at < len(found)]
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

    def _words(self, values: Mapping[str, Any]) -> Iterator[str]:
        kinds = (TEXT, CODE, DOTTED_CODE)
        return (str(values[one.name]) for _, one in self._named_columns if one.kind in kinds and one.name in values)

    def _is_header(self, found: Sequence[str]) -> bool:
        """Return True if all cells of a row are the names of their columns."""
        named_cells = [(cell, self._column_at(index)) for index, cell in enumerate(found) if cell.strip()]
        return all(column is not None and normalize_header(cell) == column.name for cell, column in named_cells)

    def _is_other_header(self, found: Sequence[str], first: str) -> bool:
        """Return True if a row is a header with other columns, as of a second file put behind the first."""
        if normalize_header(first) not in self._known_names:
            return False
        names = [normalize_header(cell) for cell in found if cell.strip()]
        return len(names) > 1 and self._known_names.issuperset(names)

    def _other_header_reason(self, line: int) -> str:
        if line == self._other_header:
            return "is a header with other columns, as of a second file; save what follows as a file of its own"
        return f"follows the header with other columns in row {self._other_header}; save that part as a file of its own"

    def _separator_reason(self, found: Sequence[str]) -> str:
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

    def _cell_count_reason(self, found: Sequence[str]) -> str:
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

    def _split_number(self, found: Sequence[str]) -> str:
        """Return two cells that can be one number with a decimal comma (`1,10`); empty if there are none."""
        if self._dialect.separator != ",":
            return ""
        pairs = ((found[at], found[at + 1]) for at in sorted(self._number_indexes) if at + 1 < len(found))
        return next(
            (f"{first},{second}" for first, second in pairs if _WHOLE.match(first) and _CENTS.match(second)), ""
        )

    def _split_reason(self, found: Sequence[str]) -> str:
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

    def _split_thousands(self, found: Sequence[str]) -> str:
        """Return two cells that are hardly meant as two, and can be one number (`1,000`); empty if there are none."""
        if self._dialect.separator != ",":
            return ""
        is_longer = len(found) > len(self._columns) and self._long_rows * 2 <= self._rows
        for at in sorted(self._number_indexes):
            first, second = found[at : at + 2] if at + 1 < len(found) else ("", "")
            column = self._column_at(at + 1)
            is_checked = column is not None and column.name.endswith("location_code")
            is_one = is_longer or (second == "000" and not is_checked)
            if is_one and _BEFORE_THOUSANDS.fullmatch(first) and _THREE_DIGITS.fullmatch(second):
                return f"{first},{second}"
        return ""

    def _column_at(self, index: int) -> Column | None:
        return self._columns[index] if index < len(self._columns) else None


def csv_error_reason(error: csv.Error, line: int, lines: int) -> str:
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


def _format_field_count(count: int) -> str:
    return "1 field" if count == 1 else f"{count} fields"
