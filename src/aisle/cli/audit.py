"""`aisle audit`: who changed prices, settings, orders, people, PINs and tokens, from what to what."""

from __future__ import annotations

import argparse
import asyncio
import csv
import json
import sys
from collections.abc import Iterator
from typing import Any

from aisle.cli.compose import service_client, store_path
from aisle.cli.options import settings_of
from aisle.client.errors import AnswerError, status_error
from aisle.local.session.export import cell
from aisle.settings import Loaded
from aisle.text import clean

_COLUMNS = ("number", "at", "token_name", "app_user_name", "subject", "key", "field", "before", "after")
_PAGE = 1000


def run(arguments: argparse.Namespace) -> int:
    """Prints one line for each field that was changed; 1 where the service keeps no audit."""
    found = asyncio.run(_fetch(settings_of(arguments), arguments))
    if found is None:
        print("aisle: changes cannot be listed here; this service keeps no audit.", file=sys.stderr)
        return 1
    if arguments.json:
        for entry in found:
            print(json.dumps(entry, ensure_ascii=False))
        return 0
    lines = [line for entry in found for line in _lines(entry)]
    if arguments.csv:
        table = csv.writer(sys.stdout, lineterminator="\n")
        table.writerow(_COLUMNS)
        table.writerows([cell(value) for value in line] for line in lines)
        return 0
    for line in lines:
        print("\t".join(clean(str(value)) for value in line))
    return 0


async def _fetch(loaded: Loaded, arguments: argparse.Namespace) -> list[dict[str, Any]] | None:
    """All entries, page by page. Raises ClientError."""
    path = "/aisle/v1/audit" if arguments.chain else store_path(loaded, "audit")
    asked: dict[str, Any] = {"limit": _PAGE, "after": 0}
    named = {"last_modified_date": arguments.since, "subject": arguments.subject}
    asked |= {name: value for name, value in named.items() if value}
    found: list[dict[str, Any]] = []
    async with service_client(loaded) as client:
        while True:
            answer = await client.extension("GET", path, query=asked)
            if answer.status == 404:
                return None
            if not answer.is_success:
                raise status_error("list-audit", answer, None)
            try:
                page = answer.json()
                rows, more = page["audit"], page["more"]
                after = rows[-1]["number"] if rows else asked["after"]
            except (ValueError, TypeError, KeyError) as error:
                raise AnswerError("The answer to list-audit holds no audit.") from error
            found += rows
            if not more or after <= asked["after"]:
                return found
            asked["after"] = after


def _lines(entry: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    before, after = entry["before"], entry["after"]
    head = tuple(entry[name] for name in _COLUMNS[:6])
    for field in {**before, **after}:
        yield (*head, field, _text(before, field), _text(after, field))


def _text(said: dict[str, Any], field: str) -> str:
    """A value as it was; empty where there was none."""
    value = said.get(field, "")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
