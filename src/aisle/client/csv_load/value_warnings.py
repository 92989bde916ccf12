"""Warnings about loaded values that look wrong: codes turned into dates, lost zeros, check digits."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from aisle.barcode_keys import split_codes
from aisle.barcode_numbers import wrong_check_digit
from aisle.client.csv_load import cell_cleaning
from aisle.client.csv_load.columns import Column
from aisle.client.csv_load.date_cells import MONTH_NAMES
from aisle.client.csv_load.report import FileNotes

_PHONES = ("phone_number", "customer_phone")
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


class ValueWarnings:
    """Warnings of the values of a file. All rows are observed before the first is checked."""

    def __init__(self, columns: Sequence[Column | None], notes: FileNotes) -> None:
        self._named_columns = [(index, column) for index, column in enumerate(columns) if column]
        self._notes = notes
        self._phone_lengths: dict[str, set[int]] = {
            column.name: set() for _, column in self._named_columns if column.name in _PHONES
        }
        """Digits of the numbers in a column that begin with a zero."""

    def observe_row(self, found: Sequence[str]) -> None:
        """Learn from a row how long the telephone numbers are."""
        for index, column in self._named_columns if self._phone_lengths else ():
            cell = found[index] if index < len(found) else ""
            if column.name in self._phone_lengths and cell.strip()[:1] == "0":
                self._phone_lengths[column.name].add(sum(map(str.isdecimal, cell)))

    def check_row(self, line: int, values: Mapping[str, Any]) -> None:
        """Add warnings on values of a row that is loaded all the same."""
        for _, column in self._named_columns:
            value = values.get(column.name)
            if column.name in _COUNTRIES and isinstance(value, list):
                for part in value:
                    if not _COUNTRY.fullmatch(part):
                        self._notes.add_warning(f"{column.name} names what is no code of a country", repr(part), line)
            if not isinstance(value, str):
                continue
            if column.name in _SIZES and _DATE_LIKE.fullmatch(value):
                self._notes.add_warning(
                    f"{column.name} looks like a date that a spreadsheet has made of a size", value, line
                )
            elif column.name in _CODE_TEXTS and _DATE_LIKE.fullmatch(value):
                self._notes.add_warning(
                    f"{column.name} looks like a date that a spreadsheet has made of a code", value, line
                )
            elif column.kind == cell_cleaning.TEXT:
                if column.name in _WHOLE_TEXTS and _WITH_DECIMAL.fullmatch(value):
                    what = f"{column.name} has .0 behind it, which a program may have added"
                    self._notes.add_warning(what, value, line)
                if not value.isascii() and _WRONG_ENCODING.search(value):
                    what = f"{column.name} has letters that were saved in a wrong encoding"
                    self._notes.add_warning(what, repr(value), line)
                if _SHORTENED.fullmatch(value) and not column.name.endswith("name"):
                    what = f"{column.name} looks like a number that a spreadsheet has shortened"
                    self._notes.add_warning(what, value, line)
                if len(value) < 12 and value.casefold().strip("()[]<>") in cell_cleaning.NO_VALUE_WORDS:
                    self._notes.add_warning(f"{column.name} is a word for nothing", repr(value), line)
            elif column.kind in (cell_cleaning.BARCODE, cell_cleaning.CONTAINER, cell_cleaning.BARCODES):
                self._warn_of_codes(line, column, value)
            elif column.name in self._phone_lengths and self._has_lost_zero(column.name, value):
                self._notes.add_warning(f"{column.name} may have lost a zero, with which others begin", value, line)
            elif column.kind in (cell_cleaning.CODE, cell_cleaning.DOTTED_CODE) and _DATE_LIKE.fullmatch(value):
                self._notes.add_warning(
                    f"{column.name} looks like a date that a spreadsheet has made of a code", value, line
                )

    def _has_lost_zero(self, name: str, value: str) -> bool:
        """Return True if a telephone number is as long as others of its column would be without their zero."""
        digits = cell_cleaning.join_digits(value)
        return digits.isdecimal() and digits[0] != "0" and len(digits) + 1 in self._phone_lengths[name]

    def _warn_of_codes(self, line: int, column: Column, value: str) -> None:
        for code in split_codes(value) if column.kind == cell_cleaning.BARCODES else (value,):
            if right := wrong_check_digit(code):
                self._notes.add_warning(f"{column.name} has a wrong check digit", f"{code} should end in {right}", line)
