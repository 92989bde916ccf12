"""Rows of one file that name the same thing: repetitions, contradictions, and names that differ by blanks or case."""

from __future__ import annotations

import re

from aisle.client.load.cells import folded
from aisle.client.load.table import Key, Table
from aisle.code_forms import index_keys, lookup_keys


def conflicts(table: Table) -> tuple[dict[int, str], dict[int, int]]:
    """Why rows are not loaded, by their lines; and the rows that only repeat an earlier one, with its line.

    Two quick passes. Hashes of names are remembered, and the names alone that occur more than once.
    """
    suspect = _suspect(table)
    groups: dict[int, list[tuple[int, Key, int]]] = {}
    for line, key, said in table.names() if suspect else ():
        if (name := _fold(key)) in suspect:
            groups.setdefault(name, []).append((line, key, said))
    bad: dict[int, str] = {}
    repeats: dict[int, int] = {}
    for group in groups.values():
        _judge(group, table.unique, bad, repeats)
    return bad, repeats


def _suspect(table: Table) -> set[int]:
    """Names that occur more than once; where rows make up a record together, those that are written in two ways."""
    return _repeated(table) if table.unique else _written_in_two_ways(table)


def _repeated(table: Table) -> set[int]:
    seen: set[int] = set()
    found: set[int] = set()
    for _, key, _ in table.names():
        name = _fold(key)
        (found if name in seen else seen).add(name)
    return found


def _written_in_two_ways(table: Table) -> set[int]:
    seen: dict[int, int] = {}
    return {
        name
        for name, said in ((_fold(key), hash(key)) for _, key, _ in table.names())
        if seen.setdefault(name, said) != said
    }


def _fold(key: Key) -> int:
    return hash(tuple([folded(part) for part in key]))


def _judge(group: list[tuple[int, Key, int]], is_unique: bool, bad: dict[int, str], repeats: dict[int, int]) -> None:
    first_line, first_key, first_said = group[0]
    keys = {key: line for line, key, _ in reversed(group)}
    if len(keys) > 1:
        for line, key, _ in group:
            other, at = next((one, place) for one, place in keys.items() if one != key)
            bad[line] = f"{_words(key)} and {_words(other)} in row {at} differ by blanks or case alone; use one of them"
    elif is_unique and all(said == first_said for _, _, said in group):
        repeats |= {line: first_line for line, _, _ in group[1:]}
    elif is_unique:
        for line, _, _ in group:
            at = next(place for place, _, _ in group if place != line)
            bad[line] = f"{_words(first_key)} is also in row {at}, with other values; keep one of the rows"


def _words(key: Key) -> str:
    return " / ".join(repr(part) for part in key if part)


class SharedCodes:
    """Barcodes of several products of a file, by what a scan of each finds; asked for in the order of its rows."""

    def __init__(self, table: Table) -> None:
        seen: set[int] = set()
        self._shared: set[int] = set()
        self._first: dict[str, tuple[int, str]] = {}
        for name in COLUMNS:
            for _, cell in table.column(name):
                for key in map(hash, {key for code in codes_in(name, cell) for key in _keys(code)}):
                    if key in seen:
                        self._shared.add(key)
                    seen.add(key)

    def other(self, code: str, product: str, line: int) -> tuple[int, str] | None:
        """The earlier row, and its product, that has this code too."""
        shared = [key for key in _keys(code) if hash(key) in self._shared]
        firsts = [self._first.setdefault(key, (line, product)) for key in shared]
        return next((first for first in firsts if first[1] != product), None)


_FURTHER = "barcodes_array"
_BETWEEN = re.compile(r"[\s,;|]+")
COLUMNS = ("barcode", "purchase_unit_barcode", _FURTHER)
"""Where barcodes of a product stand."""


def codes_in(column: str, cell: str) -> list[str]:
    """The codes of a cell of that column, taken apart as the service does it."""
    parts = _BETWEEN.split(cell) if column == _FURTHER else [cell]
    return list(dict.fromkeys(code for code in parts if code))


def _keys(code: str) -> tuple[str, ...]:
    """Where one of them is stored, or finds what is stored there."""
    return tuple(dict.fromkeys((*index_keys(code), *lookup_keys(code))))
