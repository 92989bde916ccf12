"""`aisle assignments`: lists goods that clearances want moved and that are still held at their location.

It changes nothing.
"""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

import click

from aisle.cli.options import SettingValues, json_option, setting_options, settings_from_options
from aisle.cli.print_rows_and_messages import print_json_rows, print_table
from aisle.cli.service_client import extension_rows, service_client
from aisle.settings.settings_files_and_folders import LoadedSettings

if TYPE_CHECKING:
    from aisle.client.paging import Row

_COLUMNS = (
    ("location_code", "LOCATION"),
    ("product_number", "PRODUCT"),
    ("quantity", "QUANTITY"),
    ("stock_pool", "POOL"),
    ("customer_order_number", "ORDER"),
    ("customer_order_line_number", "LINE"),
    ("location_tag", "TAG"),
    ("created_on", "SINCE"),
    ("product_description", "NAME"),
)


@click.command()
@json_option
@setting_options
def assignments(as_json: bool, setting_values: SettingValues) -> int:
    """List goods to move off locations that are cleared, still at their old location, in walking order."""
    found = asyncio.run(_fetch(settings_from_options(setting_values)))
    if found is None:
        print("aisle: assignments cannot be listed here; this service does not tell them.", file=sys.stderr)
        return 1
    if as_json:
        print_json_rows(found)
    else:
        rows = [[str(row.get(name, "")) for name, _ in _COLUMNS] for row in found]
        print_table([title for _, title in _COLUMNS], rows, none="Nothing to move.")
    return 0


async def _fetch(loaded: LoadedSettings) -> list[Row] | None:
    async with service_client(loaded) as client:
        return await extension_rows(client, loaded, "assignments")
