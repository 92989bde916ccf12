"""Conflicts of rows of a file: repetitions, contradictions, keys that differ by blanks, case or zeros only.

A number whose lines name several stores is a conflict too, as where one store number of the file is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from decimal import Decimal
from typing import NamedTuple

from aisle.client.client import Client
from aisle.client.csv_load.checked_rows import CsvTable, RecordKey
from aisle.client.csv_load.clean_cells_and_keys import comparable_key, difference_reason, fold_difference, fold_key
from aisle.client.csv_load.file_layouts_and_columns import DELIVERIES, ORDERS, PEOPLE, price_of
from aisle.client.csv_load.report import format_rows
from aisle.client.csv_load.service_reads import store_numbers
from aisle.client.responses_and_errors import ClientError, ServerError, TransportError


def find_conflicts(table: CsvTable, known_keys: Collection[RecordKey] = ()) -> tuple[dict[int, str], dict[int, int]]:
    """Return reasons of contradicting rows by line, and rows that only repeat an earlier one, with its line.

    `known_keys` exist in the service unchanged, so two of them may be alike. Two passes; hashes of all keys are kept,
    and the keys themselves only if they occur more than once.
    """
    fold = _comparable_key_hash if table.layout.listed else _key_hash
    suspect = _repeated_keys(table, fold) if table.is_unique else _differently_written_keys(table, fold)
    groups: dict[int, list[tuple[int, RecordKey, int]]] = {}
    for line, key, cells in table.record_keys() if suspect else ():
        if (name := fold(key)) in suspect:
            groups.setdefault(name, []).append((line, key, hash(table.values_of(cells))))
    bad: dict[int, str] = {}
    repeats: dict[int, int] = {}
    for group in groups.values():
        _check_group(group, table.is_unique, known_keys, bad, repeats)
    if table.layout is PEOPLE:
        bad = dict(_users_with_two_badges(table)) | bad
    if table.layout in (ORDERS, DELIVERIES):
        bad = dict(_filled_numbers(table, known_keys)) | bad
    return bad, repeats


def _users_with_two_badges(table: CsvTable) -> Iterator[tuple[int, str]]:
    """Yield the rows of users who have several badges in one store: to load one of them would bind the user to it."""
    badges: dict[tuple[str, str], dict[str, int]] = {}
    rows = list(table.select_cells(("store_number", "user", "badge")))
    for line, (store, user, badge) in rows:
        badges.setdefault((store, fold_key(user)), {}).setdefault(badge, line)
    for line, (store, user, badge) in rows:
        others = badges[store, fold_key(user)]
        at = next((place for other, place in others.items() if other != badge), 0)
        if user and at:
            yield line, f"user {user!r} is also in row {at}, with another badge; keep one of the rows"


def warn_of_refused_users(table: CsvTable, refused: Collection[int]) -> None:
    """Add a warning for each row of a user of whom another row is refused, with its PIN, role and badge."""
    users: dict[str, int] = {}
    rows = list(table.select_cells(("user",), with_broken=True)) if refused else []
    for line, (user,) in rows:
        if user and line in refused:
            users.setdefault(fold_key(user), line)
    for line, (user,) in rows:
        if line not in refused and (at := users.get(fold_key(user))):
            what = "another row of the user is refused, and its PIN, role and badge are not loaded"
            table.notes.add_warning(what, f"{user}, row {at}", line)


_LINE_STEPS = (1, 10, 100, 1000)
_LAST_DIGITS = re.compile(r"(.*?)([0-9]+)", re.ASCII | re.DOTALL)


class _Line(NamedTuple):
    """Row of an order or delivery; `number` is its line number."""

    line: int
    store: str
    name: str
    number: Decimal

    def step_from(self, above: _Line | None) -> int:
        """Return by how much the name is counted on from the row above, if the line number is too; otherwise 0."""
        mine, its = _LAST_DIGITS.fullmatch(self.name), above and _LAST_DIGITS.fullmatch(above.name)
        is_next = above and self.store == above.store and self.number - above.number in _LINE_STEPS
        return int(mine[2]) - int(its[2]) if is_next and mine and its and mine[1] == its[1] else 0


def _filled_numbers(table: CsvTable, known_keys: Collection[RecordKey]) -> Iterator[tuple[int, str]]:
    """Yield the rows whose order_number rises with the line number, as a spreadsheet fills a column.

    They are one order or delivery, which would be loaded as one of a line for each row.
    """
    noun, found = table.layout.noun, list(_filled_pairs(table))
    suspect = {(row.store, row.name): row.number for _, row in found} if found else {}
    for other in _lines(table) if found else ():
        if other and other.number < suspect.get((other.store, other.name), other.number):
            del suspect[other.store, other.name]
    for before, row in found:
        key = (row.store, row.name)
        for one in (before, row) if key in suspect and key not in known_keys else ():
            yield (
                one.line,
                f"order_number {one.name!r} of line {one.number:f} is one of numbers that go on with the line number"
                f" ({before.name}, {row.name}), as where a spreadsheet fills a column; write the number of one {noun}"
                " into all of its rows, and number the lines of others from 1",
            )


def _filled_pairs(table: CsvTable) -> Iterator[tuple[_Line, _Line]]:
    """Yield the rows with a number that is counted on by 1, or like the one before it, each with the row above."""
    above, last, last_step = None, None, 0
    for row in _lines(table):
        step = row.step_from(above) if row else 0
        pair = (above, row) if row and above and step else None
        if last and step == last_step:
            yield last
        if pair and (step == 1 or step == last_step):
            yield pair
        above, last, last_step = row, pair, step


def _lines(table: CsvTable) -> Iterator[_Line | None]:
    """Yield the rows of orders or deliveries; None for one whose numbers cannot be read."""
    for line, (store, name, number) in table.select_cells(_COLUMNS, only_readable=True):
        value = price_of(number)
        yield _Line(line, store, name, value) if name and value is not None and value.is_finite() else None


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
    return hash(tuple([fold_key(part) for part in key]))


def _comparable_key_hash(key: RecordKey) -> int:
    """Return the hash of a key of a file that creates records: leading zeros of the name make no difference."""
    return hash(comparable_key(key))


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
        differ = fold_difference("/".join(key), "/".join(other))
        return f"{_format_key(key)} and {_format_key(other)} in row {at} {differ}; use one of them"
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


_COLUMNS = ("store_number", "order_number", "line_number")
_Parts = dict[str, dict[str, int]]
"""Rows of a number's lines, by store and line number."""


class DividedRecords(NamedTuple):
    """Reasons of rows of a wrong store, by line, and the keys of the records that are left out because of them."""

    refused_rows: Mapping[int, str] = {}
    left_out: Collection[RecordKey] = ()


async def find_divided_records(table: CsvTable, client: Client, known_keys: Collection[RecordKey]) -> DividedRecords:
    """Find the numbers whose lines go to several stores, no line number twice.

    If a store is missing, all rows of the number are left out. If all exist, each store gets a record of its own; add a
    warning unless the service has them. Raise ClientError if the service does not respond.
    """
    found = _divided_numbers(table) if table.layout in (ORDERS, DELIVERIES) else {}
    if not found:
        return DividedRecords()
    stores: dict[RecordKey, str] = {}
    try:
        stores = {comparable_key((store,)): store for store in await store_numbers(client)}
    except (TransportError, ServerError):
        raise
    except ClientError as error:
        table.notes.add_file_warning(f"whether the stores that it names are there could not be read: {error}")
        return DividedRecords()
    known = set(stores.values())
    refused: dict[int, str] = {}
    left_out: set[RecordKey] = set()
    for number, parts in found.items():
        keys = {(store, number) for store in parts}
        if known.issuperset(parts):
            if not keys.issubset(known_keys):
                _warn_of_division(table, number, parts)
        elif not known.isdisjoint(parts):
            left_out |= keys
            refused |= dict(_reasons(table.layout.noun, number, parts, stores))
    return DividedRecords(refused, left_out)


def _divided_numbers(table: CsvTable) -> dict[str, _Parts]:
    """Return the numbers with lines in several stores, no line number twice. Of other numbers, hashes are kept."""
    first_stores: dict[int, int] = {}
    suspect: set[int] = set()
    for _, (store, number, _) in table.select_cells(_COLUMNS):
        if number and first_stores.setdefault(hash(number), hash(store)) != hash(store):
            suspect.add(hash(number))
    found: dict[str, _Parts] = {}
    repeated: set[str] = set()
    for line, (store, number, line_number) in table.select_cells(_COLUMNS) if suspect else ():
        if number and hash(number) in suspect:
            parts = found.setdefault(number, {})
            name = f"{price_of(line_number)}"
            if any(name in lines for lines in parts.values()):
                repeated.add(number)
            parts.setdefault(store, {})[name] = line
    return {number: parts for number, parts in found.items() if len(parts) > 1 and number not in repeated}


def _reasons(noun: str, number: str, parts: _Parts, stores: Mapping[RecordKey, str]) -> Iterator[tuple[int, str]]:
    """Yield the rows of missing stores with the reason, which names the other rows."""
    known = set(stores.values())
    others = ", ".join(f"store {store} ({format_rows(parts[store].values())})" for store in parts if store in known)
    kept = f"{noun} {number}, whose other rows name {others}, is left out whole, so that nobody takes it for complete"
    for store, lines in parts.items():
        if store in known:
            continue
        near = stores.get(comparable_key((store,))) if store else None
        problem = f"there is no store {store}" if store else "store_number is empty, and every row needs it"
        for line in lines.values():
            yield line, f"{f'store {difference_reason(store, near)}' if near else problem}; {kept}"


def _warn_of_division(table: CsvTable, number: str, parts: _Parts) -> None:
    value = "; ".join(f"store {store}: {format_rows(lines.values())}" for store, lines in parts.items())
    what = (
        f"the lines of one number go to several stores, and are loaded as one {table.layout.noun} in each; look"
        " whether a store_number is wrong"
    )
    table.notes.add_warning(what, f"{number} ({value})", max(min(lines.values()) for lines in parts.values()))
