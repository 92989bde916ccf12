"""Orders and deliveries whose lines name several stores, as where one store number of a file is wrong."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from aisle.client.client import Client
from aisle.client.errors import ClientError, ServerError, TransportError
from aisle.client.load.columns import DELIVERIES, ORDERS, price_of
from aisle.client.load.conflicting_rows import comparable_key, difference_reason
from aisle.client.load.csv_table import CsvTable, RecordKey
from aisle.client.load.report import format_rows

_NOUNS = {ORDERS.file: "order", DELIVERIES.file: "delivery"}
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
    found = _divided_numbers(table) if table.name in _NOUNS else {}
    if not found:
        return DividedRecords()
    stores: dict[RecordKey, str] = {}
    try:
        async for row in client.rows("list-stores"):
            if store := str(row.get("storeNo") or ""):
                stores[comparable_key((store,))] = store
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
            refused |= dict(_reasons(_NOUNS[table.name], number, parts, stores))
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
        f"the lines of one number go to several stores, and are loaded as one {_NOUNS[table.name]} in each; look"
        " whether a store_number is wrong"
    )
    table.notes.add_warning(what, f"{number} ({value})", max(min(lines.values()) for lines in parts.values()))
