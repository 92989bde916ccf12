"""Bad headers and rows of a CSV file: each has a reason that says what to correct, also a stray quotation mark.

Programs other than spreadsheets do not double a quotation mark in a text. A cell with line ends is such a text if one
of its lines reads as a row of the table; an address or a comment does not.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from aisle.client.csv_load.cells_of_columns import (
    CODE,
    DATE,
    DOTTED_CODE,
    FLAG,
    MONEY,
    NOT_UTF8,
    NUMBER,
    POOL,
    TEXT,
    WHOLE,
    Column,
)
from aisle.client.csv_load.clean_cells_and_keys import BLANKS, trim_blanks
from aisle.client.csv_load.csv_dialect import (
    NAMES,
    SEPARATORS,
    CsvDialect,
    csv_reader,
    open_csv,
    split_first_row,
    unwrapped,
    utf8_text,
)
from aisle.client.csv_load.file_layouts_and_columns import LAYOUTS, LOCATIONS, PRODUCTS, FileLayout
from aisle.client.csv_load.local_number_and_date_notation import LOCAL_FLAGS, Notation
from aisle.client.csv_load.report import LoadError

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


_NAME_SEPARATORS = re.compile(rf"[{BLANKS}_-]+")
LONE_SURROGATE = re.compile("[\ud800-\udfff]")
"""Byte that is no letter of the file's encoding."""
_MIN_SIMILARITY = 0.6
"""Similarity from which a name is suggested."""
_SYNONYM_LINES = """
product_number: artikelnummer artnr artikel artikelnr artikelcode materialnummer material
product_number: sku item itemnumber itemno productno article articlenumber
product_name: bezeichnung artikelbezeichnung omschrijving description name naam designation libelle libellé
barcode container_barcode: ean ean13 gtin upc strichcode streepjescode codebarre codebarres eancode
price: preis prijs prix verkaufspreis vk uvp verkoopprijs
quantity: menge bestand anzahl aantal voorraad quantite quantité qty stock
store_number: filiale filialnummer markt winkel winkelnummer magasin store storeno shop
location_code: lagerplatz platz ort fach locatie emplacement location bin place
stock_pool: pool bestandsart voorraadsoort
order_number: auftrag auftragsnummer bestellnummer bestelnummer ordernr commande lieferschein order
line_number: position pos zeile regel ligne line
store_name: filialname winkelnaam
badge: ausweis personalnummer
"""
_COLUMN_SYNONYMS = {
    word: columns.split()
    for columns, _, words in (line.partition(": ") for line in _SYNONYM_LINES.strip().splitlines())
    for word in words.split()
}
"""Names of columns in German, Dutch, French and English."""


def normalize_header(header: str) -> str:
    """Return the name of a column as the interface writes it: lower case, with _ between words."""
    return _NAME_SEPARATORS.sub("_", trim_blanks(header).casefold()).strip("_")


def check_header(path: Path, layout: FileLayout, dialect: CsvDialect) -> list[Column | None]:
    """Return the columns of a file; None for empty columns without a name.

    Raise LoadError that names every unknown, repeated or missing column.
    """
    names = _read_header(path, dialect)
    unknown = [_unknown_column_reason(name, layout) for name in names if name and name not in layout.columns]
    repeated = [f"has the column {name} twice; remove one of them" for name in _repeated_names(names)]
    needed = [column.name for column in layout.columns.values() if column.required and column.name not in names]
    missing = [f"has no column {name}, which every row needs; add it" for name in needed]
    if wrong := [*unknown, *repeated, *missing]:
        others = f". It {'. It '.join(wrong[1:])}" if len(wrong) > 1 else ""
        more = f" 'aisle load --columns {layout.file}' lists all columns." if unknown or missing else ""
        raise LoadError(f"{path.name} {wrong[0]}{others}.{more}")
    return [layout.columns[name] if name else None for name in names]


def _repeated_names(names: list[str]) -> list[str]:
    return list(dict.fromkeys(name for name in names if name and names.count(name) > 1))


def _read_header(path: Path, dialect: CsvDialect) -> list[str]:
    try:
        with open_csv(path, dialect) as (_, stream):
            names = unwrapped(next(csv_reader(stream, dialect), []), dialect.separator)
    except (OSError, csv.Error) as error:
        raise LoadError(f"{path.name} cannot be read: {error}.") from error
    if len(names) == 1 and (marks := [mark for mark in SEPARATORS if mark in names[0]]):
        raise LoadError(_single_cell_reason(path.name, names[0], marks[0], dialect))
    if any("\0" in name or LONE_SURROGATE.search(name) for name in names):
        raise LoadError(f"{path.name} is not UTF-8 text; save it in that encoding.")
    if len(names) == 1 and any(mark in names[0] for mark in "|:"):
        raise LoadError(f"{path.name} has only one column, {names[0]!r}; separate the columns by commas.")
    if not any(map(normalize_header, names)):
        raise LoadError(f"{path.name} has no header row; its first line must name the columns.")
    return [normalize_header(name) for name in names]


def _single_cell_reason(file: str, header: str, mark: str, dialect: CsvDialect) -> str:
    """Return why a header is a single cell with several names in it."""
    if dialect.skipped_lines:
        problem = f"begins with a line sep={dialect.separator}, but its columns are separated by {SEPARATORS[mark]}"
        return f"{file} {problem}; delete that line or correct it."
    return f"{file} has its whole header in quotation marks, as one column {header!r}; save it without them."


_MAX_FILES = 2
"""Number of files up to which those of a column are named."""


def _unknown_column_reason(name: str, layout: FileLayout) -> str:
    joined = {known.replace("_", ""): known for known in layout.columns}
    meant = (one for one in _COLUMN_SYNONYMS.get(name.replace("_", ""), ()) if one in layout.columns)
    bare = re.split(r"[^\w]", name)[0].strip("_")
    near = joined.get(name.replace("_", "")) or joined.get(bare.replace("_", "")) or next(meant, "")
    files = [one.file for one in LAYOUTS if name in one.columns]
    if not near and 0 < len(files) <= _MAX_FILES:
        return f"has an unknown column {name!r}, which belongs into {' or '.join(files)}"
    near = near or next(iter(get_close_matches(name, list(layout.columns), n=1, cutoff=_MIN_SIMILARITY)), "")
    return f"has an unknown column {name!r}" + (f"; the nearest known one is {near}" if near else "")


_FIGURES = (NUMBER, MONEY, WHOLE, POOL)
_FIGURE = re.compile(r"[^\w]*(?:[^\W\d_]{1,3}[\s.]*)?\d[\d.,'\u2019\s+-]*[^\w]*(?:[^\W\d_]{1,3}\W*)?")
"""Number with a currency or unit of up to three letters beside it."""
_FLAGS = frozenset({"true", "false", "0", "1", *LOCAL_FLAGS})


class RowsInCell(NamedTuple):
    """Lines of a row that may be rows of their own, as cells; `is_sure` is False if their cells do not fit."""

    rows: list[list[str]]
    is_sure: bool


class TableForm(NamedTuple):
    """Columns of a table, the places of those that name a record, and its separator."""

    columns: Sequence[Column | None]
    key_indexes: Sequence[int]
    separator: str

    def rows_in_cell(self, lines: Sequence[str], before: Sequence[str]) -> RowsInCell | None:
        """Return the lines of a row as rows, if one of them has as many cells as the header, or as the row before.

        Return None if none has.
        """
        rows = [cells_of_line(line, self.separator) for line in lines]
        width = min(len(self.columns), len(before) or len(self.columns))
        width = max(width, min(2, len(self.columns)))
        whole = [row for row in rows[1:] if len(row) >= width and any(map(str.strip, row))]
        if self.separator in ",;" and not any(cell[:1] == " " for cell in rows[0]):
            whole = [row for row in whole if not all(cell[:1] == " " for cell in row[1:]) or len(row) == 1]
        if not whole or (len(self.columns) == 1 and not _has_digit(rows[0][0])):
            return None
        return RowsInCell(rows, any(self._fits(row, rows[0]) for row in whole))

    def cell_of_several(self, row: Sequence[str]) -> Column | None:
        """Return the column of a cell that holds the cells that a short row lacks; None if there is none."""
        missing = len(self.columns) - len(row)
        for at, cell in enumerate(row) if missing > 0 else ():
            parts = [*row[:at], *cell.split(self.separator), *row[at + 1 :]]
            if len(parts) == len(self.columns) and self._fits(parts, row):
                return self.columns[at]
        return None

    def _fits(self, row: Sequence[str], first: Sequence[str]) -> bool:
        """Return True if the cells of a row can be those of the columns, and its keys look as in the first row."""
        if self.separator in ",;" and any(cell[:1] == " " for cell in row) > any(cell[:1] == " " for cell in first):
            return False
        cells = [*row, *[""] * len(self.columns)]
        named = zip(cells, self.columns, strict=False)
        return all(_is_cell_of(column, cell) for cell, column in named if column) and all(
            _is_like(cells[at], first[at] if at < len(first) else "") for at in self.key_indexes
        )


def cells_of_line(line: str, separator: str) -> list[str]:
    """Return the cells of a line that is read as a row, without quotation marks."""
    text = line.strip("\r\n")
    cells = next(csv.reader([text], delimiter=separator), []) if text.count('"') > 1 else text.split(separator)
    return [cell.replace('"', "") for cell in cells]


def _is_cell_of(column: Column, cell: str) -> bool:
    bare = trim_blanks(cell)
    if not bare:
        return not column.required
    if column.kind in _FIGURES:
        return _FIGURE.fullmatch(bare) is not None
    if column.kind == FLAG:
        return bare.casefold() in _FLAGS
    return column.kind != DATE or any(map(str.isdecimal, bare))


def _is_like(key: str, other: str) -> bool:
    """Return True if a key has digits where another has some, and no blanks where that has none."""
    bare, its = trim_blanks(key), trim_blanks(other)
    return (_has_digit(bare) or not _has_digit(its) or not bare) and (" " in its or " " not in bare)


def _has_digit(text: str) -> bool:
    return any(map(str.isdecimal, text))


def opening_reason(line: int, rows: int, cells: Iterable[str], columns: Sequence[Column | None]) -> str:
    """Return why the row is refused whose quotation mark makes the rows after it text of its cell."""
    at = next((at for at, cell in enumerate(cells) if "\n" in cell or "\r" in cell), 0)
    column = columns[at] if at < len(columns) else None
    where = column.name if column else "a cell"
    taken = f"row {line + 1} is" if rows == 2 else f"rows {line + 1} to {line + rows - 1} are"
    return (
        f"has a quotation mark in {where} that ends in row {line + rows - 1} only, so {taken} text of that cell; take"
        " the mark out or double it, or write the cell on one line, if it is one"
    )


def half_quoted_reason(name: str, cell: str) -> str:
    """Return why a row is refused of which a quotation mark makes several cells one."""
    return (
        f"has several cells in one pair of quotation marks, so that {name} is {cell!r}, and others are missing; put"
        " each cell into marks of its own, or take the marks out"
    )


def inner_reason(line: int) -> str:
    """Return why a row is refused that stands in a cell of another."""
    return f"is text of a cell of row {line}, because of a quotation mark there; correct row {line}"


POSSIBLE_ROWS = "a cell has line ends, and a line of it as many separators as a row; look for a stray quotation mark"
"""Warning on a cell whose lines are hardly rows."""
