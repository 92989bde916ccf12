"""`aisle audit`: lists changes of prices, settings, orders, people, PINs and tokens."""

from __future__ import annotations

import asyncio
import csv
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from aisle.cache.write_csv_file import format_cell
from aisle.cli.options import SettingValues, json_option, setting_options, settings_from_options
from aisle.cli.print_rows_and_messages import print_json_rows
from aisle.cli.service_client import extension_path, service_client
from aisle.client.responses_and_errors import InvalidResponse, status_error
from aisle.settings.settings_files_and_folders import LoadedSettings
from aisle.terminal_text import clean

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
    print_page = print_json_rows if as_json else _print_csv if as_csv else _print_lines
    return asyncio.run(_print_pages(loaded, path, {"last_modified_date": since, "subject": subject}, print_page))


def _print_csv(page: Sequence[Row]) -> None:
    rows = ([format_cell(value) for value in line] for line in _lines_of(page))
    csv.writer(sys.stdout, lineterminator="\n").writerows(rows)


def _print_lines(page: Sequence[Row]) -> None:
    for line in _lines_of(page):
        print("\t".join(clean(str(value)) for value in line))


async def _print_pages(
    loaded: LoadedSettings, path: str, filters: Mapping[str, str | None], print_page: Callable[[Sequence[Row]], None]
) -> int:
    """Print all entries page by page, and return the exit status. Raise ClientError."""
    query = {name: value for name, value in filters.items() if value}
    after, has_more = 0, True
    async with service_client(loaded) as client:
        while has_more:
            answer = await client.request_extension("GET", path, query={**query, "limit": _PAGE_SIZE, "after": after})
            if answer.status == 404:
                print("aisle: changes cannot be listed here; this service keeps no audit.", file=sys.stderr)
                return 1
            if not answer.is_success:
                raise status_error("list-audit", answer, None)
            with _odd_is_invalid():
                page = answer.json()
                entries = [dict(entry) for entry in page["audit"]]
                last = int(entries[-1]["number"]) if entries else after
                has_more, is_first, after = page["more"] and last > after, not after, last
            if is_first and print_page is _print_csv:
                print(",".join(_COLUMNS))
            print_page(entries)
    return 0


@contextmanager
def _odd_is_invalid() -> Iterator[None]:
    try:
        yield
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError) as error:
        raise InvalidResponse("The answer to list-audit holds no audit.") from error


def _lines_of(page: Sequence[Row]) -> list[tuple[Any, ...]]:
    with _odd_is_invalid():
        return [line for entry in page for line in _entry_lines(entry)]


def _entry_lines(entry: Row) -> Iterator[tuple[Any, ...]]:
    before, after = entry["before"], entry["after"]
    head = tuple(entry[name] for name in _COLUMNS[:6])
    for field in {**before, **after}:
        yield (*head, field, _format_value(before, field), _format_value(after, field))


def _format_value(values: Row, field: str) -> str:
    """Return a value as text; empty if there was none."""
    value = values.get(field, "")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
