"""Conflicts of rows of a file: repetitions, contradictions, keys that differ by blanks, case or zeros only."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from aisle.client.load.cell_cleaning import fold_code
from aisle.client.load.csv_table import CsvTable, RecordKey


def find_conflicts(table: CsvTable, known_keys: Collection[RecordKey] = ()) -> tuple[dict[int, str], dict[int, int]]:
    """Return reasons of contradicting rows by line, and rows that only repeat an earlier one, with its line.

    `known_keys` exist in the service unchanged, so two of them may be alike. Two passes; hashes of all keys are kept,
    and the keys themselves only if they occur more than once.
    """
    fold = _comparable_key_hash if table.creates_records else _key_hash
    suspect = _repeated_keys(table, fold) if table.is_unique else _differently_written_keys(table, fold)
    groups: dict[int, list[tuple[int, RecordKey, int]]] = {}
    for line, key, row_hash in table.record_keys() if suspect else ():
        if (name := fold(key)) in suspect:
            groups.setdefault(name, []).append((line, key, row_hash))
    bad: dict[int, str] = {}
    repeats: dict[int, int] = {}
    for group in groups.values():
        _check_group(group, table.is_unique, known_keys, bad, repeats)
    return bad, repeats


def _repeated_keys(table: CsvTable, fold: Callable[[RecordKey], int]) -> set[int]:
    """Return hashes of keys that occur more than once."""
    seen: set[int] = set()
    found: set[int] = set()
    for _, key, _ in table.record_keys():
        name = fold(key)
        (found if name in seen else seen).add(name)
    return found


def _differently_written_keys(table: CsvTable, fold: Callable[[RecordKey], int]) -> set[int]:
    """Return hashes of keys that are written in two ways; for files whose records have several rows."""
    seen: dict[int, int] = {}
    return {
        name
        for name, key_hash in ((fold(key), hash(key)) for _, key, _ in table.record_keys())
        if seen.setdefault(name, key_hash) != key_hash
    }


def _key_hash(key: RecordKey) -> int:
    return hash(tuple([fold_code(part) for part in key]))


def _comparable_key_hash(key: RecordKey) -> int:
    """Return the hash of a key of a file that creates records: leading zeros of the name make no difference."""
    return hash(comparable_key(key))


def comparable_key(key: RecordKey) -> RecordKey:
    """Return a key in the form in which it is compared: its name without blanks, case, leading zeros and thousands'
    signs.
    """
    *before, name = key
    name = fold_code(name)
    bare = name.lstrip("0") or name[-1:]
    return (*map(fold_code, before), bare.replace(".", "") if "." in bare and has_thousands(bare) else bare)


def has_thousands(code: str) -> bool:
    """Return True if a code of digits has points or blanks between its thousands."""
    return _GROUPED_DIGITS.fullmatch(code) is not None


_GROUPED_DIGITS = re.compile(r"[1-9]\d{0,2}(?:([. ])\d{3})(?:\1\d{3})*", re.ASCII)


def key_without_zeros(key: RecordKey) -> RecordKey:
    """Return a key without the zeros before its groups of digits (`A01-02` as `A1-2`); those behind a point stay."""
    *before, name = key
    return (*map(fold_code, before), _ZEROS_BEFORE_DIGITS.sub("", fold_code(name)))


def bare_code(code: str) -> str:
    """Return the letters and digits of a code, without case and zeros before digits."""
    return re.sub(r"[\W_]+", "", key_without_zeros((code,))[0])


_ZEROS_BEFORE_DIGITS = re.compile(r"(?<![\d.,])0+(?=\d)", re.ASCII)


def difference_reason(new: str, known: str, where: str = "") -> str:
    """Return why a new name is refused beside a known one, with the likely cause. `where` locates the known one."""
    mine, its = fold_code(new), fold_code(known)
    if mine == its:
        return f"{new!r} and {known!r}{where or ' of the service'} differ by blanks or case alone; use one of them"
    if "." in mine + its and comparable_key((mine,)) == comparable_key((its,)):
        return (
            f"{new!r} and {known!r}{where or ' of the service'} differ by signs of thousands alone, which a spreadsheet"
            " may have put there; write one of them, in a column of text"
        )
    if len(its) > len(mine):
        return f"{new!r}: {known} is there{where}; has {new} lost its zeros? Write {known}, in a column of text"
    if where:
        return f"{new!r}: {known} is there{where}; has {known} lost its zeros? Write {new} there, in a column of text"
    return f"{new!r}: {known} is there, with fewer zeros before it; write {known}, if it is the same"


KeyGroup = list[tuple[int, RecordKey, int]]


def _check_group(
    group: KeyGroup, is_unique: bool, known_keys: Collection[RecordKey], bad: dict[int, str], repeats: dict[int, int]
) -> None:
    keys = {key: line for line, key, _ in reversed(group)}
    if len(keys) > 1 and not all(key in known_keys for key in keys):
        for line, key, _ in group:
            if key not in known_keys:
                other, at = next((one, place) for one, place in keys.items() if one != key)
                bad[line] = _key_difference_reason(key, other, at)
    elif is_unique:
        for key in keys:
            _check_same_key([row for row in group if row[1] == key], bad, repeats)


def _key_difference_reason(key: RecordKey, other: RecordKey, at: int) -> str:
    if _key_hash(key) == _key_hash(other):
        return (
            f"{_format_key(key)} and {_format_key(other)} in row {at} differ by blanks or case alone; use one of them"
        )
    return difference_reason(key[-1], other[-1], f" in row {at}")


def _check_same_key(group: KeyGroup, bad: dict[int, str], repeats: dict[int, int]) -> None:
    first_line, key, first_hash = group[0]
    if all(row_hash == first_hash for _, _, row_hash in group):
        repeats |= {line: first_line for line, _, _ in group[1:]}
        return
    for line, _, _ in group:
        at = next(place for place, _, _ in group if place != line)
        bad[line] = f"{_format_key(key)} is also in row {at}, with other values; keep one of the rows"


def _format_key(key: RecordKey) -> str:
    return " / ".join(repr(part) for part in key if part)
