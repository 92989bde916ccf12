"""Cells of the columns of a file: cleaned by the kind of their column, and parsed as the fields of the interface.

A local number or date is read before: `local_number_and_date_notation`.

A cleaner returns the intended cell and what it changed, as text for the report. It raises ValueError with the reason if
the intended value cannot be known.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from aisle.client.csv_load.barcode_cells import clean_barcode, clean_barcodes
from aisle.client.csv_load.clean_cells_and_keys import (
    CLEAR_WORDS,
    DASHES,
    FORMULA,
    INVISIBLE,
    MAX_QUOTE_PAIRS,
    NO_VALUE_WORDS,
    QUOTED_FORMULA,
    CleanedCell,
    clean_value,
    fold_code,
    join_changes,
    refuse_error,
    refuse_grouped_code,
    restore_digits,
    trim_blanks,
    unquote,
)
from aisle.client.csv_load.date_cells import has_time, is_serial_day
from aisle.client.csv_load.local_number_and_date_notation import LOCAL_FLAGS, Notation
from aisle.client.csv_load.number_cells import (
    cents_alone,
    currency_of,
    no_number_reason,
    number_changes,
    with_cents,
    without_tail,
)
from aisle.client.paging import Row

TEXT, CODE, DOTTED_CODE, BARCODE, BARCODES = "text", "code", "dotted code", "barcode", "barcodes"
CONTAINER = "container code"
NUMBER, NUMBERS, POOL, FLAG, DATE, LIST, JSON = "number", "numbers", "pool", "flag", "date", "list", "json"
ROLE = "role"
MONEY, WHOLE = "amount of money", "whole number"
_NO_TEXT = frozenset({"null", "(null)", "\\n", "n/a", "n.a.", "undefined"})
"""Those of them that are no name and no word of a text."""
_UNUSUAL_BLANK = re.compile(r"[^\S ]")
CellCleaner = Callable[[str, Notation], CleanedCell]


def _clean_text(cell: str, _: Notation) -> CleanedCell:
    """Clean a text: it stays unchanged, blanks included; a word or dash for no value becomes empty."""
    if (bare := trim_blanks(cell)).casefold() in _NO_TEXT or (bare and not bare.strip(DASHES)):
        return CleanedCell("", f"{bare} read as an empty cell")
    if cell[0] not in "=#+-@ \t\u00a0\ufeffeEfF":
        return CleanedCell(cell)
    bare = refuse_error(cell)
    if not bare:
        return CleanedCell("")
    if quoted := QUOTED_FORMULA.fullmatch(bare):
        return CleanedCell(quoted[1].replace('""', '"'), '="…" taken off')
    if FORMULA.match(bare):
        raise ValueError(f"{bare!r} is a formula; write its value")
    return CleanedCell(cell)


def _clean_code(cell: str, notation: Notation, *, dotted: bool = False) -> CleanedCell:
    """Clean a code: blanks inside it stay, no-break spaces become blanks.

    `dotted` is True if codes of the column may contain a point.
    """
    if cell.isascii() and cell.isalnum() and cell.casefold() not in NO_VALUE_WORDS:
        return CleanedCell(cell)
    bare, changes, *_rest = clean_value(cell)
    if bare and not bare.strip(DASHES):
        return CleanedCell("", f"{bare} read as an empty cell")
    dotted = dotted and notation.has_dotted_codes
    refuse_grouped_code(bare, dotted=dotted)
    bare, changes = restore_digits(bare, changes, dotted=dotted)
    plain = _UNUSUAL_BLANK.sub(" ", INVISIBLE.sub("", bare))
    return CleanedCell(plain, join_changes(changes, _describe_blanks(bare)) if plain != bare else changes)


def _describe_blanks(bare: str) -> str:
    odd = "tabs or line ends" if re.search(r"[\t\r\n\x0b\x0c]", bare) else "no-break spaces"
    return f"{odd} inside it made blanks"


_SHORTENED_BY = 8
"""Number of signs by which a number is shorter without the tail of a fraction, at least."""
_PLAIN = re.compile(r"[+-]?\d+(?:\.\d+)?", re.ASCII)


def _clean_number(cell: str, notation: Notation, *, is_money: bool = False) -> CleanedCell:
    """Clean a number; a currency may stand beside an amount of money alone."""
    if cell.isascii() and cell.isdecimal() and (cell[0] != "0" or len(cell) == 1):
        return CleanedCell(cell)
    bare, changes, *_rest = clean_value(cell)
    if not bare:
        return CleanedCell("", changes)
    if currency_of(bare) and not is_money:
        raise ValueError(no_number_reason(bare, notation))
    if is_money and (cents := cents_alone(bare)):
        raise ValueError(f"{bare!r} can be {cents} or -{cents}: a dash can stand for no whole; write one of them")
    amount = with_cents(bare) if is_money else bare
    whole = notation.normalize_number(amount, bare)
    value = without_tail(whole)
    if value == amount and not _PLAIN.fullmatch(value):
        raise ValueError(no_number_reason(bare, notation, is_money=is_money))
    dash = "a dash read as no cents" if amount != bare else ""
    tail = "the tail of a computer's fraction rounded off" if len(value) + _SHORTENED_BY < len(amount) else ""
    return CleanedCell(value, ", ".join(filter(None, (changes, dash, tail, *number_changes(amount, whole)))))


def _clean_numbers(cell: str, notation: Notation) -> CleanedCell:
    bare, changes, *_rest = clean_value(cell)
    _refuse_one_or_two(bare)
    parts = [trim_blanks(part) for part in _NUMBER_SEPARATORS.split(bare)]
    changes = (
        join_changes(changes, "other signs between its parts made bars")
        if len(parts) > bare.count("|") + 1
        else changes
    )
    found = [_clean_number(part, notation) for part in parts]
    _refuse_gap(bare, [one.value for one in found], "write 0 there, if that is meant")
    said = dict.fromkeys(filter(None, (changes, *(one.changes for one in found))))
    return CleanedCell("|".join(one.value for one in found if one.value), ", ".join(said))


def _refuse_one_or_two(bare: str, *, is_code: bool = False) -> None:
    """Raise ValueError for two numbers with a comma between them, which can be one; a code begins with zeros."""
    if is_one_or_two(bare) and not (is_code and re.match("0[0-9]", bare)):
        first, second = bare.split(",")
        raise ValueError(f"{bare!r} can be one number or two; write {first}|{second} for two, {bare}| for one")


def _refuse_gap(bare: str, parts: list[str], advice: str) -> None:
    """Raise ValueError for an empty part before another, which would move to its place."""
    filled = [at for at, part in enumerate(parts) if part]
    if filled and len(filled) <= filled[-1]:
        raise ValueError(f"{bare!r} has an empty part, and what follows would move to its place; {advice}")


def split_numbers(cell: str) -> list[str]:
    """Return the numbers of a cell. A comma alone may be a decimal comma, and separates nothing."""
    return [trim_blanks(part) for part in _NUMBER_SEPARATORS.split(cell) if trim_blanks(part)]


def is_one_or_two(cell: str) -> bool:
    """Return True if the only sign in a cell of numbers is a comma, which can stand for decimals or between two."""
    return _ONE_OR_TWO.fullmatch(cell) is not None


_ONE_OR_TWO = re.compile(r"[+-]?\d+,\d+", re.ASCII)
_SLASH = re.compile(r"(?<!#n)(?<!#div)(?<!#deel)/", re.IGNORECASE)
"""Slash between two parts, and not inside an error of a spreadsheet (`#N/A`)."""
_NUMBER_SEPARATORS = re.compile(rf"\r\n|[|;\r\n]|{_SLASH.pattern}|,\s+", re.IGNORECASE)


def _clean_pool(cell: str, _: Notation) -> CleanedCell:
    bare, changes, *_rest = clean_value(cell)
    return CleanedCell(*restore_digits(bare, changes))


def _clean_flag(cell: str, _: Notation) -> CleanedCell:
    bare, changes, *_rest = clean_value(cell)
    if flag := LOCAL_FLAGS.get(bare.casefold()):
        return CleanedCell(flag, join_changes(changes, f"{bare} read as {flag}"))
    return CleanedCell(*restore_digits(bare, changes))


def _clean_date(cell: str, notation: Notation) -> CleanedCell:
    bare, changes, *_rest = clean_value(cell)
    if not bare:
        return CleanedCell("", changes)
    date_text = notation.normalize_date(bare)
    if is_serial_day(bare):
        return CleanedCell(
            date_text, changes, warning="was the number of a day in a spreadsheet, and is read as this day"
        )
    if date_text == bare:
        return CleanedCell(bare, changes)
    change = "a week read as its first day, the Monday" if _WEEK.fullmatch(bare) else "local date read as yyyy-mm-dd"
    change = "pm left out, because its hour is after noon already" if _HOUR_AND_PM.search(bare) else change
    if len(date_text) == len("yyyy-mm-dd") and has_time(bare):
        if notation.has_times:
            return CleanedCell(date_text, changes, warning=_MIDNIGHT_AMONG_TIMES)
        midnight = "midnight left out, so that the day alone is meant"
        change = midnight if bare.startswith(date_text) else join_changes(change, midnight)
    return CleanedCell(date_text, join_changes(changes, change))


_MIDNIGHT_AMONG_TIMES = "is midnight, where other rows have another time, and is read as the day alone"
_HOUR_AND_PM = re.compile(r"[\sT](?:1[3-9]|2[0-3])(?:[:.]\d\d){0,2}\s*p\.?\s?m\.?\Z", re.ASCII | re.IGNORECASE)
"""Time of 24 hours with a word for the second half of the day behind it."""
_WEEK = re.compile(r"\d{4}-?W\d\d", re.ASCII)
"""Week in ISO 8601."""


def _clean_list(cell: str, notation: Notation) -> CleanedCell:
    """Clean a list of codes: split at bars, or at the first other separator that occurs."""
    bare, changes, *_rest = clean_value(cell)
    bare, changes = restore_digits(bare, changes, dotted=True)
    _refuse_one_or_two(bare, is_code=True)
    if _JSON_LIST.fullmatch(bare):
        parts = [trim_blanks(part) for part in bare[1:-1].split(",")]
        changes = join_changes(changes, "a list in JSON")
    else:
        mark = next((mark for mark in _LIST_SEPARATORS if mark in bare), "")
        mark = mark or (" " if _NUMBERS_WITH_BLANKS.fullmatch(bare) else "")
        parts = _SLASH.split(bare) if mark == "/" else bare.split(mark) if mark else [bare]
        if len(parts) > 1 and mark != "|":
            changes = join_changes(changes, f"{_LIST_SEPARATORS.get(mark, 'blanks')} between its parts made bars")
    stripped = [_clean_part(part) for part in parts]
    if stripped != parts and "\n" not in bare:
        changes = join_changes(changes, "blanks or quotes around parts taken off")
    found = [_clean_code_of_list(part, notation) if part else CleanedCell("") for part in stripped]
    codes = [one.value for one in found]
    if "\n" not in bare and "\r" not in bare:
        is_enclosed = not codes[0] and not codes[-1]  # |a|b|
        _refuse_gap(bare, codes[is_enclosed:], "write what is missing, or take the empty part out")
    _refuse_double(codes)
    said = dict.fromkeys(filter(None, (changes, *(one.changes for one in found))))
    return CleanedCell("|".join(filter(None, codes)), ", ".join(said))


def _clean_code_of_list(part: str, notation: Notation) -> CleanedCell:
    """Clean a code of a list; a word that deletes a value is an empty part there."""
    if part.casefold() in CLEAR_WORDS:
        return CleanedCell("", f"{part} read as an empty cell")
    return _clean_code(part, notation, dotted=True)


def _refuse_double(codes: Iterable[str]) -> None:
    """Raise ValueError for a code that a list has twice, in whatever writing."""
    seen: set[str] = set()
    for code in filter(None, codes):
        if (key := fold_code(code)) in seen:
            raise ValueError(f"has {code!r} twice; keep one of them")
        seen.add(key)


def _clean_part(part: str) -> str:
    bare = trim_blanks(part)
    for _ in range(MAX_QUOTE_PAIRS):
        found = unquote(bare)
        bare = trim_blanks(found[0]) if found else bare
    return bare


_LIST_SEPARATORS = {"|": "bars", "\n": "line ends", "\r": "line ends", ";": "semicolons", ",": "commas", "/": "slashes"}
_NUMBERS_WITH_BLANKS = re.compile(r"\d+(?: +\d+)+", re.ASCII)
_JSON_LIST = re.compile(r'\[(?:\s*"[^"]*"\s*,?)+\]')


def _clean_json(cell: str, _: Notation) -> CleanedCell:
    return CleanedCell(refuse_error(cell))


_ROLES = {
    "staff": ("medewerker", "mitarbeiter", "mitarbeiterin", "employé", "employée"),
    "supervisor": ("leidinggevende", "leitung", "responsable"),
}
"""Roles in Dutch, German and French, as the screens name them."""
_LOCAL_ROLES = {word: role for role, words in _ROLES.items() for word in words}


def _clean_role(cell: str, notation: Notation) -> CleanedCell:
    """Clean a role; a word of another language becomes that of the interface."""
    cleaned = _clean_code(cell, notation)
    if role := _LOCAL_ROLES.get(cleaned.value.casefold()):
        return CleanedCell(role, f"{cleaned.value} read as {role}")
    return cleaned


CLEANERS: dict[str, CellCleaner] = {
    TEXT: _clean_text,
    CODE: _clean_code,
    DOTTED_CODE: partial(_clean_code, dotted=True),
    BARCODE: clean_barcode,
    CONTAINER: partial(clean_barcode, is_long=True),
    BARCODES: clean_barcodes,
    NUMBER: _clean_number,
    WHOLE: _clean_number,
    MONEY: partial(_clean_number, is_money=True),
    NUMBERS: _clean_numbers,
    POOL: _clean_pool,
    ROLE: _clean_role,
    FLAG: _clean_flag,
    DATE: _clean_date,
    LIST: _clean_list,
    JSON: _clean_json,
}
"""Cleaner of each kind of column; never called for an empty cell."""


Parser = Callable[[str], Any]


_NUMBER = re.compile(r"[+-]?\d{1,100}(\.\d+)?", re.ASCII)

_FLAGS = {"true": True, "1": True, "false": False, "0": False}

NOT_UTF8 = "is not UTF-8; save the file in that encoding"


def parse_text(cell: str) -> str:
    """Parse a text. Bytes that were no UTF-8 arrive as lone surrogates and are refused here."""
    if not cell.isascii() and any("\ud800" <= letter <= "\udfff" for letter in cell):
        raise ValueError(NOT_UTF8)
    return cell


def parse_number(cell: str) -> int | Decimal:
    """Parse an integer or an exact decimal, written with a point."""
    if _NUMBER.fullmatch(cell) is None:
        raise ValueError(no_number_reason(cell, Notation()))
    return Decimal(cell) if "." in cell else int(cell)


def parse_boolean(cell: str) -> bool:
    """Parse true, false, 1 or 0; cleaning has replaced local words for yes and no."""
    try:
        return _FLAGS[cell.lower()]
    except KeyError:
        raise ValueError(f"{cell!r} is neither true nor false; write true, false, 1 or 0") from None


def parse_list(cell: str) -> list[str]:
    """Parse several texts with bars between them: `a|b`."""
    return [parse_text(part) for part in cell.split("|") if part]


def parse_numbers(cell: str) -> list[int | Decimal]:
    """Parse several numbers with bars between them: `1|2.5`."""
    return [parse_number(part) for part in cell.split("|") if part]


def parse_objects(cell: str) -> list[Row]:
    """Parse a JSON array of objects. Raise ValueError if an object has a name twice, or a number is not in digits."""
    number: dict[str, Any] = dict.fromkeys(("parse_int", "parse_float", "parse_constant"), parse_number)
    try:
        found = json.loads(parse_text(cell), object_pairs_hook=_object_of_pairs, **number)
    except (json.JSONDecodeError, RecursionError) as problem:
        why = "its quotes are those of print; write straight ones" if _QUOTE_OF_PRINT.search(cell) else str(problem)
        raise ValueError(f"is no JSON ({why}); write an array of objects") from None
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise ValueError("is no array of objects in JSON")
    return found


_QUOTE_OF_PRINT = re.compile("[{:,]\\s*[\u2018-\u201f\u00ab\u00bb\uff02]")
"""Quotation mark of print at the beginning of a name or value."""


def _object_of_pairs(pairs: list[tuple[str, Any]]) -> Row:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        name = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"has {name} twice in one object; keep one of them, or write two objects")
    return found


def parse_part_quantity(cell: str) -> str:
    """Parse the quantity of a part of a set, which the interface has as a text."""
    if parse_number(cell) <= 0:
        raise ValueError(f"is {cell}, and a set has more than none of a part; write how many")
    return cell


def parse_pool(cell: str) -> int:
    """Parse a stock pool, 1 to 10."""
    if cell.isascii() and cell.isdigit() and 1 <= int(cell) <= 10:
        return int(cell)
    raise ValueError(f"{cell!r} is no stock pool; write 1 to 10")


def parse_role(cell: str) -> str:
    """Parse a role: staff or supervisor, in any case."""
    if cell.casefold() in _LOADED_ROLES:
        return cell.casefold()
    raise ValueError(f"{cell!r} is no role; write {' or '.join(_ROLES)}")


_LOADED_ROLES = ("staff", "supervisor")


def parse_pin(cell: str) -> str:
    """Parse a PIN. No message repeats it."""
    if cell.isascii() and cell.isdigit() and 4 <= len(cell) <= 12:
        return cell
    what = f"has {len(cell)} digits" if cell.isascii() and cell.isdigit() else "has other signs than digits"
    raise ValueError(f"{what}; write 4 to 12 digits, as text where it begins with a zero")


def parse_pool_text(cell: str) -> str:
    return str(parse_pool(cell))


REMOVABLE_PRICES = frozenset({"old_price", "discount_price", "promotion_price", "special_price"})
"""Prices that 0 takes away."""

CODE_TEXTS = frozenset({"margin_category", "general_ledger", "cost_center"})
"""Texts that are short codes, most of them."""


class Column(NamedTuple):
    """Column that a file may have. `parse` raises ValueError with the reason; it is not called for an empty cell.

    `kind` determines how its cells are cleaned before that (`clean_cells_by_column_kind.CLEANERS`).
    """

    name: str
    parse: Parser
    required: bool = False
    kind: str = TEXT
    fields: Mapping[str, Column] = MappingProxyType({})
    """Fields of the objects of a JSON column, by name."""

    @property
    def is_code(self) -> bool:
        """True if each cell is the code or number of something."""
        return self.kind in (CODE, DOTTED_CODE) or self.name in CODE_TEXTS

    def empty_value(self, cell: str) -> Any:
        """Return the value that deletes the present one. Raise ValueError if the interface has none."""
        if self.name in REMOVABLE_PRICES:
            return 0
        if self.required:
            raise ValueError(f"is {cell}, but every row needs it")
        if self.kind in (LIST, NUMBERS, JSON):
            return []
        if self.kind in (NUMBER, WHOLE, MONEY, POOL, FLAG):
            raise ValueError(f"is {cell}, and a figure or flag cannot be emptied; write the value that it is to have")
        return ""


def parse_fields(cell: str, fields: Mapping[str, Column], unique: str = "") -> list[Row]:
    """Parse a JSON array of objects, each text of which is written as the column of its name would store it.

    Raise ValueError for other or missing fields, and if two objects have one value of the field `unique`.
    """
    found = parse_objects(cell)
    seen: set[str] = set()
    for at, one in enumerate(found, 1):
        for name in (*one, *(field.name for field in fields.values() if field.required)):
            _check_field(fields, name, one.get(name), at)
        if (value := one.get(unique)) and (key := fold_code(value)) in seen:
            raise ValueError(f"has the {unique} {value!r} twice; keep one of them")
        seen |= {key} if value else set()
    return found


def _check_field(fields: Mapping[str, Column], name: str, value: Any, at: int) -> None:
    """Raise ValueError if an object, by its number, can have no such field, or not with this value."""
    field = fields.get(name)
    if field is None or (field.required and value in (None, "")):
        problem = f"has an unknown field {name}" if field is None else f"lacks {name}"
        known = ", ".join(f"{one} (needed)" if fields[one].required else one for one in fields)
        raise ValueError(f"{problem} in object {at}; the fields of an object are {known}")
    try:
        _check_value(field, value)
    except ValueError as error:
        raise ValueError(f"in object {at}: {name} {error}") from None


def _check_value(field: Column, value: Any) -> None:
    kind, wanted = _JSON_TYPES.get(field.parse, (str, 'a text, in quotes: "…"'))
    if value is None or value == "":
        return
    if not isinstance(value, kind) or isinstance(value, bool) is not (kind is bool):
        raise ValueError(f"is {json.dumps(value, default=float)}; write {wanted}")
    if isinstance(value, str):
        cleaned = CLEANERS[field.kind](parse_text(value), Notation())
        if cleaned.further_codes:
            raise ValueError(f"has several codes ({value}); write one code")
        if cleaned.value != value:
            raise ValueError(f"is {value!r}; {f'write {cleaned.value}' if cleaned.value else 'leave it out'}")
        field.parse(value)


_JSON_TYPES: dict[Parser, tuple[Any, str]] = {
    parse_number: ((int, Decimal), "a number, without quotes"),
    parse_boolean: (bool, "true or false, without quotes"),
}
"""Types of the values of objects, by the parser of a column of their name, with words for them; others are texts."""
