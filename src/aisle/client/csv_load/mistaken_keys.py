"""Misspelt keys of products and stores: rows name a record in another form than other rows do.

A spreadsheet removes the zeros of `0226` in one file of a load, and another file names `0226`. The row with `226` is
refused. What depends on it is the same as if it named `0226` and were refused for another reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from aisle.client.client import Client
from aisle.client.csv_load.columns import PRODUCTS, STORES
from aisle.client.csv_load.csv_table import CsvTable
from aisle.client.csv_load.fields_replaced_by_other_file import names_of_shared
from aisle.client.csv_load.near_keys import bare_codes, comparable_key
from aisle.client.csv_load.report import LoadError
from aisle.client.csv_load.service_reads import MAX_SINGLE_READS
from aisle.client.errors import ClientError, ServerError, TransportError
from aisle.contract.request_encoding import QueryValue


class _Kind(NamedTuple):
    """Kind of key: its column, the file that creates it, and the service's list with the field that has it."""

    column: str
    file: str
    operation: str
    field: str


_KINDS = (
    _Kind("product_number", PRODUCTS.file, "list-products", "product_number"),
    _Kind("store_number", STORES.file, "list-stores", "storeNo"),
)


async def find_mistaken_keys(tables: Sequence[CsvTable], client: Client) -> None:
    """Give each table the products and stores that its rows name by mistake, with those that are meant.

    Only keys in two near writings are looked up. Raise LoadError if the service does not respond.
    """
    for kind in _KINDS:
        written = _near_writings(tables, kind)
        held = await _held_of(client, kind, written) if written else set()
        known = held | _created(tables, kind, held)
        by_form = {form: key for key in sorted(known, reverse=True) for form in bare_codes(key)}
        mistaken = {
            key: meant
            for key in written - known
            if (meant := next((by_form[form] for form in bare_codes(key) if form in by_form), ""))
        }
        for table in tables:
            if mistaken and table.name != kind.file:
                table.mistaken_keys[kind.column] = mistaken


async def find_unknown_keys(tables: Sequence[CsvTable], client: Client) -> dict[str, set[str]]:
    """Return the products and stores that files of one matter name, and that neither the service nor a file has.

    Only files that give a field of another file too are read. Raise LoadError if the service does not respond.
    """
    names = names_of_shared(tables)
    shared = [table for table in tables if table.name in names]
    found: dict[str, set[str]] = {}
    for kind in _KINDS if shared else ():
        created = {hash(key) for key in _keys([table for table in tables if table.name == kind.file], kind)}
        named = {key for key in _keys(shared, kind, with_broken=True) if hash(key) not in created}
        found[kind.column] = named - await _held_of(client, kind, named) if named else set()
    return found


async def keys_not_held(table: CsvTable, client: Client) -> dict[str, set[str]]:
    """Return the products and stores of a file that the service does not have; none if it does not list them.

    Raise LoadError if the service does not respond.
    """
    found: dict[str, set[str]] = {}
    for kind in _KINDS:
        named = set(_keys([table], kind))
        found[kind.column] = named - await _held_of(client, kind, named)
    return found


async def _held_of(client: Client, kind: _Kind, keys: set[str]) -> set[str]:
    """Return the keys that the service has; all if it does not list them. Raise LoadError if it does not respond."""
    try:
        return await _held(client, kind, keys)
    except (TransportError, ServerError) as error:
        raise LoadError(
            f"Whether the service has what the files name cannot be read: {error} Load again later: it goes on, and"
            " doubles nothing."
        ) from error
    except ClientError:
        return keys


def _near_writings(tables: Sequence[CsvTable], kind: _Kind) -> set[str]:
    """Return the keys of all files that are near to another one; of the others only hashes are kept."""
    first: dict[int, int] = {}
    shared: set[int] = set()
    seen: set[int] = set()
    for key in _keys(tables, kind):
        if hash(key) in seen:
            continue
        seen.add(hash(key))
        shared.update(form for form in map(hash, bare_codes(key)) if first.setdefault(form, hash(key)) != hash(key))
    return (
        {key for key in _keys(tables, kind) if not shared.isdisjoint(map(hash, bare_codes(key)))} if shared else set()
    )


def _keys(tables: Sequence[CsvTable], kind: _Kind, *, with_broken: bool = False) -> Iterator[str]:
    last = ""
    for table in tables:
        for _, (key,) in table.select_cells((kind.column,), with_broken=with_broken):
            if key and key != last:
                yield key
            last = key


async def _held(client: Client, kind: _Kind, keys: set[str]) -> set[str]:
    """Return the keys of the service that are these, or near to them."""
    is_single = kind.file == PRODUCTS.file and len(keys) <= MAX_SINGLE_READS
    queries: list[dict[str, QueryValue]] = [{kind.field: key} for key in sorted(keys)] if is_single else [{}]
    found: set[str] = set()
    for query in queries:
        async for row in client.rows(kind.operation, query=query):
            if (key := str(row.get(kind.field) or "")) in keys:
                found.add(key)
    return found


def _created(tables: Sequence[CsvTable], kind: _Kind, held: set[str]) -> set[str]:
    """Return the keys that a file of the load creates, without those refused because the service has a like one."""
    like = {comparable_key((key,)) for key in held}
    own = [table for table in tables if table.name == kind.file]
    return {key for key in _keys(own, kind) if comparable_key((key,)) not in like}
