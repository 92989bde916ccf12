"""Warnings about loaded values that look wrong: codes turned into dates, lost zeros, check digits."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from aisle.barcode_numbers import split_codes, wrong_check_digit
from aisle.client.csv_load.cells_of_columns import (
    BARCODE,
    BARCODES,
    CLEANERS,
    CODE,
    CODE_TEXTS,
    CONTAINER,
    DOTTED_CODE,
    LIST,
    TEXT,
    Column,
)
from aisle.client.csv_load.clean_cells_and_keys import (
    HIDDEN_IN_TEXT,
    NO_VALUE_WORDS,
    fold_code,
    has_thousands,
    join_digits,
)
from aisle.client.csv_load.date_cells import MONTH_NAMES
from aisle.client.csv_load.local_number_and_date_notation import Notation
from aisle.client.csv_load.report import FileNotes

_PHONES = ("phone_number", "customer_phone")
_SHORTENED = re.compile(r"\d+(?:[.,]\d+)?E\+?\d+", re.ASCII | re.IGNORECASE)
"""Number in E notation."""
_COUNTRIES = ("countries_allowed", "countries_not_allowed", "country_code")
_LONG_COUNTRY_CODE = re.compile(r"(?!AA|Q[M-Z]|X(?!KX)|ZZ)[A-Z]{3}", re.IGNORECASE)
"""Code of a country of three letters; none of those that ISO 3166 leaves to its users."""
_COUNTRY_WORDS = """
AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC
CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH EL ER ES ET EU FI FJ FK FM FO FR GA
GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE
KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU
MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA
SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UK
UM US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW
"""
_COUNTRY_CODES = frozenset(_COUNTRY_WORDS.split())
"""Codes of countries of two letters in ISO 3166, with EL, EU, UK and XK, which are used beside them."""
_OF_ONE_STORE = ("store_gln", "store_name")
"""Columns that two stores hardly have alike."""
_NAMED_BY = {
    **{"supplier_code": "supplier_name", "supplier_id": "supplier_name", "brand_code": "brand_description"},
    **{"color_code": "color", "size_code": "size", "area_id": "area_description"},
    **{"store_type_code": "store_type_description", "order_type_code": "order_type_description"},
}
"""Columns of codes, with the column of their name."""
_SIZES = frozenset({"size", "volume"})
_WEEK = "promotion_week"
_WHOLE_TEXTS = CODE_TEXTS | {_WEEK}
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


_FORMATTED_CODE = re.compile(
    r"-?\d+,\d+|-?[\d.,]+\s?%|\(\d+(?:[.,]\d+)?\)|\d{1,2}:\d\d(?::\d\d)?"
    "|true|wahr|waar|vrai|false|falsch|onwaar|faux",
    re.ASCII | re.IGNORECASE,
)
"""Number with decimals, share, number in brackets, time and word for true or false."""


_CUT_DIGITS = re.compile(r"[1-9]\d{14}0+", re.ASCII)
"""Number of which a spreadsheet has kept the 15 digits that it can hold."""
_CUT_CONTAINER = re.compile(r"[1-9]\d{14}0{2,}", re.ASCII)
_CUT = "has only zeros after its 15th digit, as where a spreadsheet has cut it"
_POSTAL_CODES = frozenset({"postal_code", "customer_zipcode", "delivery_zipcode"})
_GROUPED_POSTAL_CODE = re.compile(r"\d{1,3}\.\d{3}", re.ASCII)
_OTHER_CODES = _POSTAL_CODES | {*_PHONES, "product_number", "store_number", "order_number", "pin"}
"""Codes that may have signs as of thousands, or of which another warning says it."""


class _Check(NamedTuple):
    """Check of the values of some columns; `what` is said of a value that is odd, after the name of its column."""

    what: str
    is_of: Callable[[Column], bool]
    is_odd: Callable[[str], object]
    is_quoted: bool = False


def _is_text(column: Column) -> bool:
    return column.kind == TEXT


def _has_codes(column: Column) -> bool:
    """Return True if cells are cleaned as codes, alone or in a list; keys of figures are dates, most of them."""
    return column.kind in (CODE, DOTTED_CODE) or (column.kind == LIST and not column.name.endswith("_keys"))


def _is_word_for_nothing(value: str) -> bool:
    return len(value) < _LONGEST_WORD and value.casefold().strip("()[]<>") in NO_VALUE_WORDS


def _is_of_no_label(letter: str) -> bool:
    return not letter.isascii() and (letter.isdigit() or "\uff01" <= letter <= "\uff5e")


_LONGEST_WORD = 12
GROUPED = "has signs as of thousands, which a spreadsheet may have put into it"
_DATE_MADE = "looks like a date that a spreadsheet has made of a"
_CHECKS = (
    _Check(f"{_DATE_MADE} size", lambda column: column.name in _SIZES, _DATE_LIKE.fullmatch),
    _Check(
        f"{_DATE_MADE} code",
        lambda column: _has_codes(column) or column.is_code or column.name == _WEEK,
        _DATE_LIKE.fullmatch,
    ),
    _Check(
        "looks like a number, time or word that a spreadsheet has made of a code",
        _has_codes,
        _FORMATTED_CODE.fullmatch,
    ),
    _Check(
        "has .0 behind it, which a program may have added",
        lambda column: column.name in _WHOLE_TEXTS,
        _WITH_DECIMAL.fullmatch,
    ),
    _Check(_CUT, lambda column: _has_codes(column) or column.kind == BARCODE, _CUT_DIGITS.fullmatch),
    _Check(_CUT, lambda column: column.kind == CONTAINER, _CUT_CONTAINER.fullmatch),
    _Check(GROUPED, lambda column: column.kind == CODE and column.name not in _OTHER_CODES, has_thousands),
    _Check(
        "has a point that a spreadsheet may have put into it",
        lambda column: column.name in _POSTAL_CODES,
        _GROUPED_POSTAL_CODE.fullmatch,
    ),
    _Check(
        "has digits of another script, raised ones or full-width letters, which no label has",
        _has_codes,
        lambda value: not value.isascii() and any(_is_of_no_label(one) for one in value),
        True,
    ),
    _Check("has letters that were saved in a wrong encoding", _is_text, _WRONG_ENCODING.search, True),
    _Check("has signs that no screen shows, which are kept", _is_text, HIDDEN_IN_TEXT.search, True),
    _Check(
        "looks like a number that a spreadsheet has shortened",
        lambda column: _is_text(column) and not column.name.endswith("name"),
        _SHORTENED.fullmatch,
    ),
    _Check("is a word for nothing", _is_text, _is_word_for_nothing, True),
)
_BARCODES = (BARCODE, CONTAINER, BARCODES)


class ValueWarnings:
    """Warnings of the values of a file. All rows are observed before the first is checked."""

    def __init__(self, columns: Sequence[Column | None], notes: FileNotes, of: str = "") -> None:
        """Store the columns. They are fields of the objects of a column if `of` says of which."""
        self._columns = [column for column in columns if column]
        self._notes = notes
        self._of = of
        self._objects = {
            one.name: ValueWarnings(list(one.fields.values()), notes, f" in {one.name}")
            for one in self._columns
            if one.fields
        }
        self._checks = [(column.name, one) for column in self._columns for one in _CHECKS if one.is_of(column)]
        self._phone_indexes = [at for at, column in enumerate(columns) if column and column.name in _PHONES]
        self._pin_index = next((at for at, column in enumerate(columns) if column and column.name == "pin"), -1)
        self._stores: dict[tuple[str, str], tuple[int, str]] = {}
        """First row and store of values that two stores hardly have alike."""
        self._names: dict[tuple[str, str], tuple[str, int]] = {}
        """Names of codes, by column and code, with the row."""
        self._tags: dict[str, str] = {}
        """Tags as they were written first."""
        self._pins: Counter[int] = Counter()
        """Number of PINs by their digits."""
        self._phone_lengths: dict[str, set[int]] = {one.name: set() for one in self._columns if one.name in _PHONES}
        """Digits of the numbers in a column that begin with a zero."""

    def observe_row(self, found: Sequence[str]) -> None:
        """Learn from a row how long the telephone numbers and PINs are."""
        if 0 <= self._pin_index < len(found) and (pin := found[self._pin_index].strip()).isdecimal():
            self._pins[len(pin)] += 1
        for index, lengths in zip(self._phone_indexes, self._phone_lengths.values(), strict=True):
            cell = found[index] if index < len(found) else ""
            if cell.strip()[:1] == "0":
                lengths.add(sum(map(str.isdecimal, cell)))

    def check_row(self, line: int, values: Mapping[str, Any]) -> None:
        """Add warnings on values of a row that is loaded all the same."""
        for name, check in self._checks:
            for value in filter(check.is_odd, _texts(values.get(name))):
                self._notes.add_warning(
                    f"{name}{self._of} {check.what}", repr(value) if check.is_quoted else value, line
                )
        for name in self._phone_lengths:
            if name in values and self._has_lost_zero(name, values[name]):
                self._notes.add_warning(f"{name} may have lost a zero, with which others begin", values[name], line)
        if self._has_short_pin(str(values.get("pin", ""))):
            what = "pin has one digit less than most others; if a spreadsheet has taken its zero off, write it as text"
            self._notes.add_warning(what, f"the PIN of {values.get('user')}", line)
        for column in self._columns:
            self._check_column(line, column, values.get(column.name) or "", values)
        for name, inner in self._objects.items():
            for one in values.get(name, ()):
                inner.check_row(line, one)

    def _check_column(self, line: int, column: Column, value: Any, values: Mapping[str, Any]) -> None:
        if column.kind in _BARCODES or column.name == "store_gln":
            self._check_digits(line, column, value)
        if column.name in _OF_ONE_STORE and value:
            store = values.get("store_number", "")
            at, its = self._stores.setdefault((column.name, fold_code(value)), (line, store))
            if its != store:
                self._notes.add_warning(f"{column.name} is that of another store too", f"{value}, row {at}", line)
        if column.name in _COUNTRIES:
            for part in [value] if isinstance(value, str) else value:
                if part and part.upper() not in _COUNTRY_CODES and not _LONG_COUNTRY_CODE.fullmatch(part):
                    what = f"{column.name} names what is no code of a country"
                    self._notes.add_warning(what, repr(part), line)
        elif column.name == "tags":
            for tag in value:
                earlier = self._tags.setdefault(fold_code(tag), tag)
                if earlier != tag:
                    what = "tags has one that an earlier row writes in another way, and they are two"
                    self._notes.add_warning(what, f"{earlier} then, {tag} now", line)
        elif column.name in _NAMED_BY:
            self._check_name(line, column.name, value, values)
        is_text = bool(self._of) and isinstance(value, str) and value
        if is_text and (warning := CLEANERS[column.kind](value, Notation()).warning):
            self._notes.add_warning(f"{column.name}{self._of} {warning}", repr(value), line)

    def _check_name(self, line: int, column: str, code: str, values: Mapping[str, Any]) -> None:
        """Add a warning if a code has another name than in an earlier row."""
        name = values.get(_NAMED_BY[column])
        if not code or not name:
            return
        earlier, at = self._names.setdefault((column, code), (name, line))
        if fold_code(earlier) != fold_code(name):
            what = f"{column} has another {_NAMED_BY[column]} in an earlier row"
            self._notes.add_warning(what, f"{code} is {name} here, {earlier} in row {at}", line)

    def _has_lost_zero(self, name: str, value: str) -> bool:
        """Return True if a telephone number is as long as others of its column would be without their zero."""
        digits = join_digits(value)
        return digits.isdecimal() and digits[0] != "0" and len(digits) + 1 in self._phone_lengths[name]

    def _has_short_pin(self, pin: str) -> bool:
        """Return True if more PINs have one digit more than a PIN than have fewer digits than those."""
        shorter = sum(count for length, count in self._pins.items() if length <= len(pin))
        return bool(pin) and pin[0] != "0" and self._pins[len(pin) + 1] > shorter

    def _check_digits(self, line: int, column: Column, value: str) -> None:
        for code in split_codes(value) if column.kind == BARCODES else (value,):
            if right := wrong_check_digit(code):
                what = f"{column.name}{self._of} has a wrong check digit"
                self._notes.add_warning(what, f"{code} should end in {right}", line)


def _texts(value: object) -> Sequence[str]:
    """Return a text, or the texts of a list."""
    found = value if isinstance(value, list) else (value,)
    return [one for one in found if isinstance(one, str)]
