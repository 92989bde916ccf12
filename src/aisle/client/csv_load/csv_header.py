"""Header of a CSV file: the names of its columns, checked against those of the file's kind."""

from __future__ import annotations

import csv
import re
from difflib import get_close_matches
from pathlib import Path

from aisle.client.csv_load.clean_cells import BLANKS, trim_blanks
from aisle.client.csv_load.columns import Column
from aisle.client.csv_load.csv_dialect import SEPARATORS, CsvDialect, csv_reader, open_csv, unwrapped
from aisle.client.csv_load.file_layouts_and_columns import LAYOUTS, FileLayout
from aisle.client.csv_load.report import LoadError

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
