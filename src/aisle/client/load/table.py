"""One CSV file as a stream of rows: the header checked at once, each row parsed or told why not, memory flat."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from aisle.client.load import cells
from aisle.client.load.columns import LOCATIONS, PRODUCTS, Column, Layout
from aisle.client.load.dialect import NAMES, SEPARATORS, Dialect, cells_of, dialect_of, opened, reader_of
from aisle.client.load.footers import total_reason
from aisle.client.load.notation import Notation
from aisle.client.load.report import LoadError, Notes
from aisle.code_forms import split_codes, wrong_check_digit
from aisle.tuples import NamedTuple

Values = dict[str, Any]
Key = tuple[str, ...]

_SIGNS = re.compile(rf"[{cells.BLANKS}_-]+")
_EMPTY = f" \t\r\n\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u2007\u202f{chr(26)}"
"""What a row without anything may hold: blanks, and the mark at which old programs end a file (Ctrl-Z)."""


_TAIL = 4096
_NOTHING = b' \t,;"\0\x1a|-'
"""What a line without any cell holds."""


class Row(NamedTuple):
    """A row as read: the cells that were not empty, by column; `reason` says why it is bad, if it is.

    `key` are the cells that say which record the row belongs to; empty when the row is too short to tell.
    """

    line: int
    values: Values
    reason: str
    key: Key


class Table:
    """A file of a load with its checked header. Raises LoadError when the file cannot be used at all.

    `notes` says what was assumed and changed of its cells; it is complete when all rows were read.
    """

    def __init__(
        self, path: Path, layout: Layout, notes: Notes | None = None, *, dotted: set[str] | None = None
    ) -> None:
        """`dotted` is shared by the files of a load: their codes that have a point inside."""
        self.path = path
        self.name = layout.file
        self.size = path.stat().st_size
        self.position = 0
        self.notes = Notes(layout.file) if notes is None else notes
        self._dialect = dialect_of(path, lambda name: named(name) in layout.columns)
        self._columns = _checked_header(path, layout, self._dialect)
        names = [column.name if column else "" for column in self._columns]
        self._key = [names.index(name) for name in layout.key if name in names]
        self._named_by = [names.index(name) for name in layout.named_by if name in names]
        self._needed = [at for at, name in enumerate(self._named_by) if self._is_needed(name)]
        self._required = [column.name for column in self._columns if column and column.required]
        self._cleaned = [(index, column) for index, column in enumerate(self._columns) if column]
        self._made_at = names.index("location_code") if layout is LOCATIONS else -1
        self._notation = Notation(dotted)
        self._is_surveyed = False
        self._last: int | None = None
        self._has_lines = bool(layout.array)
        self._is_of_products = layout is PRODUCTS
        self.unique = bool(layout.unique)
        self.is_creating = layout.is_creating
        self.key_names = layout.named_by

    def _is_needed(self, index: int) -> bool:
        column = self._columns[index]
        return column is not None and column.required

    def rows(self, bad: Mapping[int, str] = {}) -> Iterator[Row]:
        """Every row, in order; empty ones are passed over. `position` is how many bytes have been read so far.

        `bad` says of rows, by their lines, that they are bad already, and why.
        """
        self._survey()
        widest = 0
        for line, key, found, error in self._keyed():
            if len(found) < (widest or len(self._columns)) and line not in bad and not error and self._is_cut(line):
                error = (
                    "is the last row, has no line end, and fewer cells than the rows before it: the file seems to be"
                    " cut off; save it again, and load it whole"
                )
            widest = max(widest, len(found))
            if error or line in bad:
                yield Row(line, {}, error or bad[line], key)
            else:
                yield self._row(line, found, key)
                if self._last == line or (self.position == self.size and self._is_cut(line)):
                    self.notes.warn("the last row has no line end; look whether it is whole", repr(found[-1]), line)

    def _keyed(self) -> Iterator[tuple[int, Key, list[str], str]]:
        """Every row with its key. A broken row whose key cannot be read goes with the row before it, so that no record
        of several rows is taken for complete without it."""
        last: Key = ()
        for line, found, error in self._cells():
            key = self._key_of(found)
            if not all(key) or not key:
                key = last if self._has_lines and (error or len(found) < len(self._columns)) else key
            last = key
            yield line, key, found, error

    def _is_cut(self, line: int) -> bool:
        """Whether a row is the last one of a file that does not end with a line end."""
        position = self.position
        if self._last is None:
            with open(self.path, "rb") as raw:
                raw.seek(max(0, self.size - _TAIL))
                is_ended = not re.split(rb"[\r\n]", raw.read())[-1].strip(_NOTHING)
            self._last = 0 if is_ended else max((at for at, _, _ in self._cells()), default=0)
        self.position = position
        return self._last == line

    def names(self) -> Iterator[tuple[int, Key, int]]:
        """The line of each row, the cells that name its record, and a hash of what it says.

        Rows that lack such a cell are passed over: that is told with the row.
        """
        self._survey()
        for line, found, error in self._cells():
            key = () if error else self._clean_key(found, self._named_by)
            if key and all(key[at] for at in self._needed):
                yield line, key, hash(tuple(found))

    def has_column(self, name: str) -> bool:
        """Whether the file has this column."""
        return any(column.name == name for _, column in self._cleaned)

    def column(self, name: str) -> Iterator[tuple[int, str]]:
        """The line of each row with the cell of one column as it was meant; none where the file has no such column."""
        if self.has_column(name):
            for line, (cell,) in self.picked((name,)):
                if cell:
                    yield line, cell

    def picked(self, names: Iterable[str]) -> Iterator[tuple[int, tuple[str, ...]]]:
        """The line of each row with some of its cells as they were meant; empty where there is none.

        Codes that stood in one cell are joined by commas.
        """
        places = {column.name: index for index, column in self._cleaned}
        wanted = [places.get(name, -1) for name in names]
        self._survey()
        for line, found, error in self._cells():
            if not error:
                yield line, tuple([self._joined(at, found[at]) if 0 <= at < len(found) else "" for at in wanted])

    def _joined(self, index: int, cell: str) -> str:
        column = self._columns[index]
        if column is None or not cell:
            return cell
        try:
            cleaned = cells.CLEANERS[column.kind](cell, self._notation)
        except ValueError:
            return cell
        return ",".join((cleaned.cell, *cleaned.more)) if cleaned.more else cleaned.cell

    def scattered(self) -> dict[Key, int]:
        """The keys whose rows do not all stand together, with the line of their last row: one quick pass.

        Only hashes of the other keys are remembered. Two keys that share one are taken for scattered, which costs
        nothing but memory.
        """
        self._survey()
        seen: set[int] = set()
        found: dict[Key, int] = {}
        last: Key = ()
        for line, key, _, _ in self._keyed():
            if key and key != last:
                if hash(key) in seen:
                    found[key] = line
                seen.add(hash(key))
                last = key
            elif key in found:
                found[key] = line
        return found

    def _survey(self) -> None:
        """Looks at all numbers and dates once, for how the file writes them; says what was assumed of it."""
        if self._is_surveyed:
            return
        self._is_surveyed = True
        numbers = [index for index, column in self._cleaned if column.kind in (cells.NUMBER, cells.NUMBERS)]
        dates = [index for index, column in self._cleaned if column.kind == cells.DATE]
        codes = [index for index, column in self._cleaned if column.kind == cells.DOTTED]
        for line, found, error in self._cells():
            if not error:
                self._see(line, found, numbers, dates)
                for index in codes:
                    if index < len(found) and "." in found[index]:
                        self._notation.see_code(_unwrapped(found[index]))
        for said in (*self._dialect.assumed, *self._notation.assumed()):
            self.notes.assume(said)

    def _see(self, line: int, found: list[str], numbers: Iterable[int], dates: Iterable[int]) -> None:
        for index in numbers:
            cell = found[index] if index < len(found) else ""
            if "," in cell or "." in cell:
                for part in cells.split_numbers(cell):
                    self._notation.see_number(line, _unwrapped(part))
        for index in dates:
            if index < len(found) and found[index]:
                self._notation.see_date(line, _unwrapped(found[index]))

    def _cells(self) -> Iterator[tuple[int, list[str], str]]:
        with opened(self.path, self._dialect) as (raw, stream):
            text: list[str] = []
            reader: Any = reader_of(_remembered(stream, text), self._dialect)
            next(reader)
            while True:
                line = reader.line_num + 1 + self._dialect.skipped
                text.clear()
                try:
                    found = next(reader)
                except StopIteration:
                    break
                except csv.Error as error:
                    self.position = raw.tell()
                    yield line, cells_of("".join(text), self._dialect.separator), _broken(error, len(text))
                    continue
                self.position = raw.tell()
                if found and any(cell.strip(_EMPTY) for cell in found):
                    yield line, found, ""
        self.position = self.size

    def _key_of(self, found: list[str]) -> Key:
        return self._clean_key(found, self._key)

    def _clean_key(self, found: list[str], places: Iterable[int]) -> Key:
        try:
            return tuple([self._clean(index, found[index]) for index in places])
        except IndexError:
            return ()

    def _clean(self, index: int, cell: str) -> str:
        """A cell as it was meant; one that nobody can read stays as it is."""
        column = self._columns[index]
        if column is None or not cell:
            return cell
        try:
            return cells.CLEANERS[column.kind](cell, self._notation).cell
        except ValueError:
            return cell

    def _row(self, line: int, found: list[str], key: Key) -> Row:
        if reason := self._stray(found) or self._misfit(found):
            return Row(line, {}, reason, key)
        values: Values = {}
        undone: list[str] = []
        doubts: list[tuple[str, str]] = []
        for index, column in self._cleaned:
            cell = found[index] if index < len(found) else ""
            if not cell:
                continue
            try:
                if "(" in cell and cells.trimmed(cell).casefold() in cells.TAKEN_AWAY:
                    values[column.name] = column.nothing(cells.trimmed(cell))
                    continue
                cleaned = cells.CLEANERS[column.kind](cell, self._notation)
                if cleaned.cell:
                    values[column.name] = column.parse(cleaned.cell)
            except ValueError as error:
                return Row(line, values, f"{column.name} {error}", key)
            if cleaned.undone:
                undone.append(f"{column.name}: {cleaned.undone}")
            if cleaned.doubt:
                doubts.append((f"{column.name} {cleaned.doubt}", repr(cleaned.cell)))
            if cleaned.more:
                doubts += _add_further(values, column.name, cleaned.more)
        for name in self._required:
            if name not in values:
                return Row(line, values, f"{name} is empty, but every row needs it", key)
        for said in undone:
            self.notes.change(said, line)
        for what, value in doubts:
            self.notes.warn(what, value, line)
        if len(found) < len(self._columns):
            self.notes.change("fewer cells than the header; the last ones were read as empty", line)
        self._warn(line, values)
        return Row(line, values, "", key)

    def _stray(self, found: list[str]) -> str:
        """Why a row is none of the table: it repeats the header, is a total, or has another separator."""
        index, cell = next(((at, cell) for at, cell in enumerate(found) if cell.strip()), (0, ""))
        column = self._column_at(index)
        if column and cell:
            if cell.lstrip()[:2].casefold() == column.name[:2] and self._is_header(found):
                return "repeats the header; delete it"
            if not (cell[0].isdigit() or self._is_of_products):
                needed = (at for at, one in self._cleaned if one.required)
                is_whole = any(found[index + 1 :]) and all(at < len(found) and found[at] for at in needed)
                if reason := total_reason(cells.trimmed(cell), is_whole=is_whole):
                    return reason
        return self._total_inside(found) or self._otherwise_separated(found)

    def _total_inside(self, found: list[str]) -> str:
        """Why a row is taken for a total by the place that it makes, behind the number of its store."""
        cell = cells.trimmed(found[self._made_at]) if 0 <= self._made_at < len(found) else ""
        is_word = cell[:1].isalpha() and not cell[-1:].isdigit()
        return total_reason(cell, is_whole=True) if is_word else ""

    def _is_header(self, found: list[str]) -> bool:
        """Whether all cells of a row are the names of their columns."""
        said = [(cell, self._column_at(index)) for index, cell in enumerate(found) if cell.strip()]
        return all(column is not None and named(cell) == column.name for cell, column in said)

    def _otherwise_separated(self, found: list[str]) -> str:
        """Why a row seems to have another sign between its cells than the header has; empty where it does not."""
        if len(found) >= max(2, len(self._columns)) and len(self._columns) > 1:
            return ""
        own = self._dialect.separator
        for mark, its_name in SEPARATORS.items():
            if mark not in found[0] or (mark != ";" and len(self._columns) == 1):
                continue
            if len(cells_of(own.join(found), mark)) >= max(2, len(self._columns)):
                if mark == own:
                    return "has all its cells in one pair of quotation marks; save it without them"
                header = (
                    f"the columns of the header by {NAMES[own]}"
                    if len(self._columns) > 1
                    else "the header has one column"
                )
                return f"has its cells separated by {its_name}, and {header}; write all rows in one way"
        return ""

    def _misfit(self, found: list[str]) -> str:
        """Why a row has another number of cells than the header; empty where that takes nothing from it."""
        beyond = [cell for index, cell in enumerate(found) if cell.strip() and not self._column_at(index)]
        short = any(column.required for _, column in self._cleaned[-1:] if len(found) < len(self._columns))
        missing = {column.name for index, column in self._cleaned if index >= len(found)}
        if short or not missing.isdisjoint(self._required) or (beyond and len(found) > len(self._columns)):
            return f"has {_fields(len(found))}, the header has {len(self._columns)}"
        return f"has {beyond[0]!r} in a column without a name; name the column or empty it" if beyond else ""

    def _column_at(self, index: int) -> Column | None:
        return self._columns[index] if index < len(self._columns) else None

    def _warn(self, line: int, values: Values) -> None:
        """Notes what may be wrong in a row that is loaded all the same."""
        for _, column in self._cleaned:
            value = values.get(column.name)
            if not isinstance(value, str):
                continue
            if column.name in _SIZES and _DATE_LIKE.fullmatch(value):
                self.notes.warn(f"{column.name} looks like a date that a spreadsheet has made of a size", value, line)
            elif column.kind == cells.TEXT:
                if len(value) < 12 and value.casefold() in cells.NOTHING:
                    self.notes.warn(f"{column.name} is a word for nothing", repr(value), line)
            elif column.kind in (cells.BARCODE, cells.CONTAINER, cells.BARCODES):
                self._warn_of_codes(line, column, value)
            elif column.kind in (cells.CODE, cells.DOTTED) and _DATE_LIKE.fullmatch(value):
                self.notes.warn(f"{column.name} looks like a date that a spreadsheet has made of a code", value, line)

    def _warn_of_codes(self, line: int, column: Column, value: str) -> None:
        for code in split_codes(value) if column.kind == cells.BARCODES else (value,):
            if right := wrong_check_digit(code):
                self.notes.warn(f"{column.name} has a wrong check digit", f"{code} should end in {right}", line)


_SIZES = frozenset({"size", "volume"})
_DATE_LIKE = re.compile(
    r"\d{1,2}([-/])\d{1,2}\1(?:19|20)\d\d"
    r"|\d{1,2}[-.] ?(jan|feb|mar|mrt|mär|apr|avr|may|mei|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez|déc)\w*[-.]?(\d{2,4})?"
    r"|(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)-\d{2}|(?:19|20)\d\d-\d\d-\d\d(?: 00:00:00)?",
    re.IGNORECASE,
)


def _add_further(values: Values, name: str, codes: tuple[str, ...]) -> list[tuple[str, str]]:
    """Codes that stood in one cell with the barcode are further ones of the product; elsewhere they are warned of."""
    if name != "barcode":
        return [(f"{name} takes one code, and the others of the cell are left out", ", ".join(codes))]
    known = [code for code in str(values.get("barcodes_array", "")).split(",") if code]
    values["barcodes_array"] = ",".join(dict.fromkeys([*known, *codes]))
    return []


def _remembered(lines: Iterable[str], text: list[str]) -> Iterator[str]:
    """The lines of a file; those of the row that is read stay in `text`."""
    for line in lines:
        text.append(line)
        yield line


def _broken(error: csv.Error, lines: int) -> str:
    """Why a row is no CSV."""
    if "unexpected end" in str(error):
        rows_of_text = "the line after it is" if lines == 2 else f"the {lines - 1} lines after it are"
        after = f", or {rows_of_text} taken for its text" if lines > 1 else ""
        return (
            f"is no CSV: a quotation mark in it is not closed up to the end of the file, which is cut off{after};"
            " correct the row, and load the file whole"
        )
    return f"is no CSV ({error}); look for a quotation mark that is not closed or not doubled"


def _unwrapped(cell: str) -> str:
    found = re.fullmatch(r'\s*=?\s*"?(.*?)"?\s*', cell, re.DOTALL)
    return cells.trimmed(found[1]) if found else cell


def grouped(rows: Iterator[Row], scattered: dict[Key, int]) -> Iterator[list[Row]]:
    """Rows with the same key together. Those of scattered keys wait for the last one; the others pass through."""
    current: list[Row] = []
    held: dict[Key, list[Row]] = {}
    for row in rows:
        if row.key in scattered:
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


def named(header: str) -> str:
    """The name of a column as the interface writes it: in small letters, with _ between its words."""
    return _SIGNS.sub("_", cells.trimmed(header).casefold()).strip("_")


def _checked_header(path: Path, layout: Layout, dialect: Dialect) -> list[Column | None]:
    """The columns of a file; None for those without a name, which hold nothing.

    Raises LoadError that names every column that is unknown, twice there or missing.
    """
    names = _header(path, dialect)
    unknown = [_unknown(name, layout) for name in names if name and name not in layout.columns]
    twice = [f"has the column {name} twice; remove one of them" for name in _repeated(names)]
    needed = [column.name for column in layout.columns.values() if column.required and column.name not in names]
    missing = [f"has no column {name}, which every row needs; add it" for name in needed]
    if wrong := [*unknown, *twice, *missing]:
        told = f". It {'. It '.join(wrong[1:])}" if len(wrong) > 1 else ""
        more = f" 'aisle load --columns {layout.file}' lists all columns." if unknown or missing else ""
        raise LoadError(f"{path.name} {wrong[0]}{told}.{more}")
    return [layout.columns[name] if name else None for name in names]


def _repeated(names: list[str]) -> list[str]:
    return list(dict.fromkeys(name for name in names if name and names.count(name) > 1))


def _header(path: Path, dialect: Dialect) -> list[str]:
    try:
        with opened(path, dialect) as (_, stream):
            names = next(reader_of(stream, dialect), [])
    except (OSError, csv.Error) as error:
        raise LoadError(f"{path.name} cannot be read: {error}.") from error
    if len(names) == 1 and (marks := [mark for mark in SEPARATORS if mark in names[0]]):
        raise LoadError(_one_cell(path.name, names[0], marks[0], dialect))
    if any("\0" in name or "\udc80" <= name[:1] <= "\udcff" for name in names):
        raise LoadError(f"{path.name} is not UTF-8 text; save it in that encoding.")
    if len(names) == 1 and any(mark in names[0] for mark in "|:"):
        raise LoadError(f"{path.name} has only one column, {names[0]!r}; separate the columns by commas.")
    if not any(map(named, names)):
        raise LoadError(f"{path.name} has no header row; its first line must name the columns.")
    return [named(name) for name in names]


def _one_cell(file: str, header: str, mark: str, dialect: Dialect) -> str:
    """Why a header is a single cell that holds several names."""
    if dialect.skipped:
        said = f"begins with a line sep={dialect.separator}, but its columns are separated by {SEPARATORS[mark]}"
        return f"{file} {said}; delete that line or correct it."
    return f"{file} has its whole header in quotation marks, as one column {header!r}; save it without them."


def _unknown(name: str, layout: Layout) -> str:
    joined = {known.replace("_", ""): known for known in layout.columns}
    meant = (one for one in _MEANT.get(name.replace("_", ""), ()) if one in layout.columns)
    near = joined.get(name.replace("_", "")) or next(meant, "")
    near = near or next(iter(get_close_matches(name, list(layout.columns), n=1, cutoff=_LIKE)), "")
    return f"has an unknown column {name!r}" + (f"; the nearest known one is {near}" if near else "")


_LIKE = 0.6
"""From where on two names are alike."""
_WORDS_FOR_COLUMNS = """
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
_MEANT = {
    word: columns.split()
    for columns, _, words in (line.partition(": ") for line in _WORDS_FOR_COLUMNS.strip().splitlines())
    for word in words.split()
}
"""What people call a column in German, Dutch, French and English."""


def _fields(count: int) -> str:
    return "1 field" if count == 1 else f"{count} fields"
