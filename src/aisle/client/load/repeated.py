"""Rows of one file that name the same thing: repetitions, contradictions, and names that differ by blanks or case."""

from __future__ import annotations

from collections.abc import Callable, Collection

from aisle.client.load.cells import folded
from aisle.client.load.table import Key, Table
from aisle.code_forms import index_keys, lookup_keys, split_codes


def conflicts(table: Table, known: Collection[Key] = ()) -> tuple[dict[int, str], dict[int, int]]:
    """Why rows are not loaded, by their lines; and the rows that only repeat an earlier one, with its line.

    `known` are keys that the service has as they are: two of them may be alike.

    Two quick passes. Hashes of names are remembered, and the names alone that occur more than once.
    """
    fold = _fold_all if table.is_creating else _fold
    suspect = _repeated(table, fold) if table.unique else _written_in_two_ways(table, fold)
    groups: dict[int, list[tuple[int, Key, int]]] = {}
    for line, key, said in table.names() if suspect else ():
        if (name := fold(key)) in suspect:
            groups.setdefault(name, []).append((line, key, said))
    bad: dict[int, str] = {}
    repeats: dict[int, int] = {}
    for group in groups.values():
        _judge(group, table.unique, known, bad, repeats)
    return bad, repeats


def _repeated(table: Table, fold: Callable[[Key], int]) -> set[int]:
    """Names that occur more than once."""
    seen: set[int] = set()
    found: set[int] = set()
    for _, key, _ in table.names():
        name = fold(key)
        (found if name in seen else seen).add(name)
    return found


def _written_in_two_ways(table: Table, fold: Callable[[Key], int]) -> set[int]:
    """Names that are written in two ways, where rows make up a record together."""
    seen: dict[int, int] = {}
    return {
        name
        for name, said in ((fold(key), hash(key)) for _, key, _ in table.names())
        if seen.setdefault(name, said) != said
    }


def _fold(key: Key) -> int:
    return hash(tuple([folded(part) for part in key]))


def _fold_all(key: Key) -> int:
    """Of a file that creates what its keys name: the zeros before the name do not tell two of them apart."""
    return hash(alike(key))


def alike(key: Key) -> Key:
    """A key as it is compared with those of the service: its name without blanks, case and the zeros before it."""
    *before, name = key
    name = folded(name)
    return (*map(folded, before), name.lstrip("0") or name[-1:])


def differs(new: str, known: str, where: str = "") -> str:
    """Why a new name is refused beside a known one, with the likely cause. `where` says where that one stands."""
    mine, its = folded(new), folded(known)
    if mine == its:
        return f"{new!r} and {known!r}{where or ' of the service'} differ by blanks or case alone; use one of them"
    if len(its) > len(mine):
        return f"{new!r}: {known} is there{where}; has {new} lost its zeros? Write {known}, in a column of text"
    if where:
        return f"{new!r}: {known} is there{where}; has {known} lost its zeros? Write {new} there, in a column of text"
    return f"{new!r}: {known} is there, with fewer zeros before it; write {known}, if it is the same"


Group = list[tuple[int, Key, int]]


def _judge(group: Group, is_unique: bool, known: Collection[Key], bad: dict[int, str], repeats: dict[int, int]) -> None:
    keys = {key: line for line, key, _ in reversed(group)}
    if len(keys) > 1 and not all(key in known for key in keys):
        for line, key, _ in group:
            if key not in known:
                other, at = next((one, place) for one, place in keys.items() if one != key)
                bad[line] = _differ(key, other, at)
    elif is_unique:
        for key in keys:
            _judge_same([row for row in group if row[1] == key], bad, repeats)


def _differ(key: Key, other: Key, at: int) -> str:
    if _fold(key) == _fold(other):
        return f"{_words(key)} and {_words(other)} in row {at} differ by blanks or case alone; use one of them"
    return differs(key[-1], other[-1], f" in row {at}")


def _judge_same(group: Group, bad: dict[int, str], repeats: dict[int, int]) -> None:
    first_line, key, first_said = group[0]
    if all(said == first_said for _, _, said in group):
        repeats |= {line: first_line for line, _, _ in group[1:]}
        return
    for line, _, _ in group:
        at = next(place for place, _, _ in group if place != line)
        bad[line] = f"{_words(key)} is also in row {at}, with other values; keep one of the rows"


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
                for key in map(hash, {key for code in codes_in(name, cell) for key in keys_of(code)}):
                    if key in seen:
                        self._shared.add(key)
                    seen.add(key)

    def other(self, code: str, product: str, line: int) -> tuple[int, str] | None:
        """The earlier row, and its product, that has this code too."""
        shared = [key for key in keys_of(code) if hash(key) in self._shared]
        firsts = [self._first.setdefault(key, (line, product)) for key in shared]
        return next((first for first in firsts if first[1] != product), None)


FURTHER = "barcodes_array"
COLUMNS = ("barcode", "purchase_unit_barcode", FURTHER)
"""Where barcodes of a product stand."""


def codes_in(column: str, cell: str) -> list[str]:
    """The codes of a cell of that column, taken apart as the service does it."""
    parts = split_codes(cell) if column == FURTHER else [cell]
    return list(dict.fromkeys(code for code in parts if code))


def keys_of(code: str) -> tuple[str, ...]:
    """Where one of them is stored, or finds what is stored there."""
    return tuple(dict.fromkeys((*index_keys(code), *lookup_keys(code))))
