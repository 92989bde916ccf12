"""Parsing of cleaned cells: texts, numbers, lists and objects, as the fields of the interface want them.

A local number or date is read before: `local_number_and_date_notation`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from aisle.client.csv_load.local_number_and_date_notation import Notation
from aisle.client.csv_load.number_cells import no_number_reason
from aisle.client.paging import Row

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
