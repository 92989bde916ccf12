"""Parsing of cleaned cells: texts, numbers, lists and objects, as the fields of the interface want them.

A local number or date is read before: `local_number_and_date_notation`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from aisle.client.csv_load.clean_cells import fold_code
from aisle.client.csv_load.clean_cells_by_column_kind import BARCODE, CLEANERS
from aisle.client.csv_load.local_number_and_date_notation import Notation
from aisle.client.csv_load.number_cells import no_number_reason
from aisle.client.paging import Row

Parser = Callable[[str], Any]


_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?", re.ASCII)

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
    """Parse a JSON array of objects. Raise ValueError if an object has a name twice."""
    try:
        found = json.loads(parse_text(cell), parse_float=Decimal, object_pairs_hook=_object_of_pairs)
    except _RepeatedNameError:
        raise
    except (ValueError, RecursionError) as problem:
        raise ValueError(f"is no JSON ({problem}); write an array of objects") from None
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise ValueError("is no array of objects in JSON")
    return found


class _RepeatedNameError(ValueError):
    """A JSON object has two values of one name."""


def _object_of_pairs(pairs: list[tuple[str, Any]]) -> Row:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        name = next(name for name in names if names.count(name) > 1)
        raise _RepeatedNameError(f"has {name} twice in one object; keep one of them, or write two objects")
    return found


def parse_free_fields(cell: str) -> list[Row]:
    """Parse a JSON array of objects with keys that differ by more than blanks and case."""
    found = parse_objects(cell)
    seen: set[str] = set()
    for one in found:
        key = one.get("key")
        if (name := fold_code(str(key))) in seen:
            raise ValueError(f"has the key {key!r} twice; keep one of them")
        seen.add(name)
    return found


def parse_units(cell: str) -> list[Row]:
    """Parse a JSON array of objects. Raise ValueError for a barcode that stands twice, or not as a scanner sends it."""
    found = parse_objects(cell)
    seen: set[str] = set()
    for unit in found:
        code = unit.get("unit_barcode")
        if not isinstance(code, str) or not code:
            continue
        _check_unit_barcode(code)
        if (name := fold_code(code)) in seen:
            raise ValueError(f"has the unit_barcode {code} twice; each unit needs a code of its own")
        seen.add(name)
    return found


def _check_unit_barcode(code: str) -> None:
    """Raise ValueError for several codes in one, and for what a spreadsheet added to a code."""
    cleaned = CLEANERS[BARCODE](code, Notation())
    if cleaned.further_codes:
        raise ValueError(f"has several codes in one unit_barcode ({code}); write one code")
    if cleaned.value != code:
        raise ValueError(f"has the unit_barcode {code}, which no scanner sends; write {cleaned.value}")


def parse_pool(cell: str) -> int:
    """Parse a stock pool, 1 to 10."""
    if cell.isascii() and cell.isdigit() and 1 <= int(cell) <= 10:
        return int(cell)
    raise ValueError(f"{cell!r} is no stock pool; write 1 to 10")


def parse_role(cell: str) -> str:
    """Parse a role: staff or supervisor, in any case."""
    if cell.casefold() in _ROLES:
        return cell.casefold()
    raise ValueError(f"{cell!r} is no role; write {' or '.join(_ROLES)}")


_ROLES = ("staff", "supervisor")


def parse_pin(cell: str) -> str:
    """Parse a PIN. No message repeats it."""
    if cell.isascii() and cell.isdigit() and 4 <= len(cell) <= 12:
        return cell
    what = f"has {len(cell)} digits" if cell.isascii() and cell.isdigit() else "has other signs than digits"
    raise ValueError(f"{what}; write 4 to 12 digits, as text where it begins with a zero")


def parse_pool_text(cell: str) -> str:
    return str(parse_pool(cell))
