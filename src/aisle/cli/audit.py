"""`aisle audit`: lists changes of prices, settings, orders, people, PINs and tokens."""

from __future__ import annotations

import argparse
import asyncio
import csv
import json
import sys
from collections.abc import Iterator
from typing import Any

from aisle.cache.csv_export import format_cell
from aisle.cli.options import settings_from_arguments
from aisle.cli.service_client import extension_path, service_client
from aisle.client.errors import InvalidResponse, status_error
from aisle.settings import LoadedSettings
from aisle.text import clean

_COLUMNS = ("number", "at", "token_name", "app_user_name", "subject", "key", "field", "before", "after")
_PAGE_SIZE = 1000


def run(arguments: argparse.Namespace) -> int:
    """Print one line for each changed field; return 1 if the service has no audit log."""
    found = asyncio.run(_fetch(settings_from_arguments(arguments), arguments))
    if found is None:
        print("aisle: changes cannot be listed here; this service keeps no audit.", file=sys.stderr)
        return 1
    if arguments.json:
        for entry in found:
            print(json.dumps(entry, ensure_ascii=False))
        return 0
    lines = [line for entry in found for line in _entry_lines(entry)]
    if arguments.csv:
        table = csv.writer(sys.stdout, lineterminator="\n")
        table.writerow(_COLUMNS)
        table.writerows([format_cell(value) for value in line] for line in lines)
        return 0
    for line in lines:
        print("\t".join(clean(str(value)) for value in line))
    return 0


async def _fetch(loaded: LoadedSettings, arguments: argparse.Namespace) -> list[dict[str, Any]] | None:
    """Return all entries, read page by page. Raise ClientError."""
    path = "/aisle/v1/audit" if arguments.chain else extension_path(loaded, "audit")
    query: dict[str, Any] = {"limit": _PAGE_SIZE, "after": 0}
    filters = {"last_modified_date": arguments.since, "subject": arguments.subject}
    query |= {name: value for name, value in filters.items() if value}
    entries: list[dict[str, Any]] = []
    async with service_client(loaded) as client:
        while True:
            answer = await client.request_extension("GET", path, query=query)
            if answer.status == 404:
                return None
            if not answer.is_success:
                raise status_error("list-audit", answer, None)
            try:
                page = answer.json()
                rows, more = page["audit"], page["more"]
                after = rows[-1]["number"] if rows else query["after"]
            except (ValueError, TypeError, KeyError) as error:
                raise InvalidResponse("The answer to list-audit holds no audit.") from error
            entries += rows
            if not more or after <= query["after"]:
                return entries
            query["after"] = after


def _entry_lines(entry: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    before, after = entry["before"], entry["after"]
    head = tuple(entry[name] for name in _COLUMNS[:6])
    for field in {**before, **after}:
        yield (*head, field, _format_value(before, field), _format_value(after, field))


def _format_value(values: dict[str, Any], field: str) -> str:
    """Return a value as text; empty if there was none."""
    value = values.get(field, "")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
