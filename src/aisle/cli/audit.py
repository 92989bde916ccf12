"""`aisle audit`: lists changes of prices, settings, orders, people, PINs and tokens."""

from __future__ import annotations

import asyncio
import csv
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from aisle.cache.write_csv_file import format_cell
from aisle.cli.options import SettingValues, json_option, setting_options, settings_from_options
from aisle.cli.service_client import extension_path, service_client
from aisle.client.errors import InvalidResponse, status_error
from aisle.safe_text import clean
from aisle.settings.settings_files_and_folders import LoadedSettings

if TYPE_CHECKING:
    from aisle.client.paging import Row

_COLUMNS = ("number", "at", "token_name", "app_user_name", "subject", "key", "field", "before", "after")
_PAGE_SIZE = 1000
_SUBJECTS = ("product", "store product", "store", "location", "order", "person", "token")


@click.command()
@click.option("--chain", is_flag=True, help="List changes of catalogue, stores and tokens in place of the store's.")
@click.option("--since", metavar="TIME", help="First day or moment, for instance 2026-11-26T18:00.")
@click.option("--subject", type=click.Choice(_SUBJECTS), help="List only changes of these.")
@click.option("--csv", "as_csv", is_flag=True, help="Print a table for a spreadsheet, with a header.")
@json_option
@setting_options
def audit(
    chain: bool, since: str | None, subject: str | None, as_csv: bool, as_json: bool, setting_values: SettingValues
) -> int:
    """List changes of prices, settings, orders, locations, people, PINs and tokens.

    Each line has the time, the person, and the value before and after.
    """
    if as_csv and as_json:
        raise click.UsageError("--csv and --json exclude each other.")
    loaded = settings_from_options(setting_values)
    path = "/aisle/v1/audit" if chain else extension_path(loaded, "audit")
    found = asyncio.run(_fetch(loaded, path, {"last_modified_date": since, "subject": subject}))
    if found is None:
        print("aisle: changes cannot be listed here; this service keeps no audit.", file=sys.stderr)
        return 1
    if as_json:
        for entry in found:
            print(json.dumps(entry, ensure_ascii=False))
        return 0
    with _odd_is_invalid():
        lines = [line for entry in found for line in _entry_lines(entry)]
    if as_csv:
        table = csv.writer(sys.stdout, lineterminator="\n")
        table.writerow(_COLUMNS)
        table.writerows([format_cell(value) for value in line] for line in lines)
        return 0
    for line in lines:
        print("\t".join(clean(str(value)) for value in line))
    return 0


async def _fetch(loaded: LoadedSettings, path: str, filters: Mapping[str, str | None]) -> list[Row] | None:
    """Return all entries, read page by page; None if the service has no audit log. Raise ClientError."""
    query = {name: value for name, value in filters.items() if value}
    entries: list[Row] = []
    after = 0
    async with service_client(loaded) as client:
        while True:
            answer = await client.request_extension("GET", path, query={**query, "limit": _PAGE_SIZE, "after": after})
            if answer.status == 404:
                return None
            if not answer.is_success:
                raise status_error("list-audit", answer, None)
            with _odd_is_invalid():
                page = answer.json()
                entries += map(dict, page["audit"])
                last = int(page["audit"][-1]["number"]) if page["audit"] else after
                if not page["more"] or last <= after:
                    return entries
            after = last


@contextmanager
def _odd_is_invalid() -> Iterator[None]:
    try:
        yield
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError) as error:
        raise InvalidResponse("The answer to list-audit holds no audit.") from error


def _entry_lines(entry: Row) -> Iterator[tuple[Any, ...]]:
    before, after = entry["before"], entry["after"]
    head = tuple(entry[name] for name in _COLUMNS[:6])
    for field in {**before, **after}:
        yield (*head, field, _format_value(before, field), _format_value(after, field))


def _format_value(values: Row, field: str) -> str:
    """Return a value as text; empty if there was none."""
    value = values.get(field, "")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
