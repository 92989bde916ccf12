"""`aisle load DIR`: loads a store or a chain from CSV files through the service's interface; help on columns."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import click

from aisle.cli.options import FOLDER, SettingValues, setting_options, settings_from_options
from aisle.cli.service_client import service_client, store_folder_of
from aisle.client.csv_load import LoadError, LoadProgress, LoadReport, load
from aisle.client.csv_load import cells_of_columns as kinds
from aisle.client.csv_load.cells_of_columns import Column
from aisle.client.csv_load.file_layouts_and_columns import LAYOUTS, STORES, FileLayout
from aisle.client.csv_load.report import WHOLE
from aisle.contract.request_encoding import encode_json
from aisle.errors import UsageError
from aisle.host.store_and_database_folders import short_hash
from aisle.settings.setting_definitions import EMBEDDED, service_url
from aisle.settings.settings_files_and_folders import LoadedSettings
from aisle.terminal_text import clean

LOADS_FOLDER = "loads"
"""Subfolder of the data folder with the names of unfinished loads."""
REPORT_SUFFIX = ".report.txt"
"""End of the name of a whole report."""

PROGRESS_INTERVAL_S = 0.2
"""Seconds between progress updates on a terminal; other output gets one line for each file."""


@click.command("load")
@click.argument("folder", metavar="[DIR]", type=FOLDER, required=False)
@click.option(
    "--columns",
    metavar="[FILE]",
    is_flag=False,
    flag_value="",
    help="Print the columns of FILE, or of all files, and end.",
)
@click.option("--strict", is_flag=True, help="Stop at the first bad row.")
@click.option("--recount", is_flag=True, help="Count stock again that was loaded or counted before.")
@setting_options
def load_files(
    folder: str | None, columns: str | None, strict: bool, recount: bool, setting_values: SettingValues
) -> int:
    """Load a store or a chain from the CSV files of a folder, as a spreadsheet saves them.

    DIR has any of stores, products, attributes, free_fields, prices, discount_prices, locations, people,
    store_products, stock, orders, deliveries (.csv). An empty cell keeps the value that is there; (empty) removes it.
    If the report shortens a list of rows, its last line names a file that has each of them.
    The exit status is 0 if every row of every CSV file is loaded, or was before and is the same, else 1.
    """
    if columns is not None:
        for line in describe_columns(columns):
            print(line)
        return 0
    if folder is None:
        raise UsageError("Name the folder that holds the CSV files; 'aisle load --columns' prints what they hold.")
    directory = Path(folder)
    if not directory.is_dir():
        raise UsageError(f"{directory} is not a folder. Name the one that holds products.csv, orders.csv and so on.")
    loaded = settings_from_options(setting_values, is_write=True)
    id_file = _id_file(loaded, directory)
    work = _load(
        directory,
        loaded,
        strict=strict,
        recount=recount,
        brings_stores=any(path.name.casefold() == STORES.file for path in directory.iterdir()),
        id_file=id_file,
    )
    report = asyncio.run(work)
    if not report.lines():
        print(
            f"{directory} holds none of {', '.join(layout.file for layout in LAYOUTS)}.",
            file=sys.stderr,
        )
        return 1
    _print_report(report, id_file)
    return 0 if report.is_all_loaded else 1


def _id_file(loaded: LoadedSettings, directory: Path) -> Path:
    """Return the file that keeps the name of an unfinished load from this folder into this service."""
    key = f"{service_url(loaded.settings)}\n{directory.resolve()}"
    return loaded.data_folder / LOADS_FOLDER / f"{short_hash(key.encode('utf-8', 'surrogateescape'))}.json"


def _service_name(loaded: LoadedSettings) -> str:
    """Return the name of the service for messages: its address, or the database of the embedded one."""
    url = service_url(loaded.settings)
    if url != EMBEDDED:
        return f"the service at {url}"
    return f"the service built into aisle (database {store_folder_of(loaded).service_db})"


async def _load(
    directory: Path, loaded: LoadedSettings, *, strict: bool, recount: bool, brings_stores: bool, id_file: Path
) -> LoadReport:
    """Load the files into the service.

    A load with its own stores creates an embedded service without the demo store; any other load adds to the existing
    store, which in a new service is the demo store.
    """
    async with service_client(loaded, demo=not brings_stores) as client:
        try:
            return await load(
                directory,
                client,
                strict=strict,
                recount=recount,
                service_name=_service_name(loaded),
                id_file=id_file,
                progress=_progress_printer(),
                on_cut_off=partial(_print_cut_off, id_file=id_file),
            )
        finally:
            if sys.stderr.isatty():
                print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _print_cut_off(report: LoadReport, id_file: Path) -> None:
    """Print what was loaded before the load ended early."""
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    print("The load ended early. Until then:")
    _print_report(report, id_file)


def _print_report(report: LoadReport, id_file: Path) -> None:
    """Print the report. If it does not list all rows, write one that does into a file beside the name of the load."""
    lines, whole = report.lines(), report.lines(WHOLE)
    for line in lines:
        print(line)
    if whole == lines:
        return
    file = id_file.with_suffix(REPORT_SUFFIX)
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
        with os.fdopen(os.open(file, flags, 0o600), "w", encoding="utf-8") as stream:
            stream.writelines(f"{line}\n" for line in whole)
    except OSError as error:
        print(f"Lists above are shortened; the whole report cannot be kept in {file}: {error}.")
    else:
        print(f"Lists above are shortened; {file} has each row, until the next load of this folder.")


def _progress_printer() -> Callable[[LoadProgress], None]:
    """Return a function that prints progress on stderr: one changing line on a terminal, else a line for each file."""
    printed_at, current_file = 0.0, ""

    def tell(progress: LoadProgress) -> None:
        nonlocal printed_at, current_file
        part = f"{progress.bytes_done * 100 // max(1, progress.bytes_total)} %"
        line = f"{clean(progress.file)}: {progress.rows} rows, {part}"
        now = time.monotonic()
        if sys.stderr.isatty():
            if now - printed_at >= PROGRESS_INTERVAL_S:
                printed_at = now
                print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)
        elif progress.file != current_file:
            current_file = progress.file
            print(f"{clean(progress.file)} …", file=sys.stderr, flush=True)

    return tell


_KIND_TEXTS = {
    kinds.TEXT: ("text", "Melk 1 l"),
    kinds.CODE: ("code", "0226"),
    kinds.DOTTED_CODE: ("code", "A-1"),
    kinds.BARCODE: ("barcode", "9520001100109"),
    kinds.CONTAINER: ("number of a container", "095200010000000010"),
    kinds.BARCODES: ("barcodes, commas between", "9520001100109,9520001100055"),
    kinds.NUMBER: ("number", "1.10"),
    kinds.WHOLE: ("whole number", "1"),
    kinds.MONEY: ("number", "1.10"),
    kinds.NUMBERS: ("numbers, bars between", "1|2.5"),
    kinds.POOL: ("stock pool", "1"),
    kinds.ROLE: ("code", "staff"),
    kinds.FLAG: ("true or false", "true"),
    kinds.DATE: ("date", "2026-11-28"),
    kinds.LIST: ("texts, bars between", "shelf|front"),
    kinds.JSON: ("JSON", ""),
}
_EXAMPLES = {
    "store_number": "0042",
    "store_name": "Kerkstraat",
    "user": "anna",
    "name": "Anna",
    "badge": "0012345",
    "role": "staff",
    "order_number": "004711",
    "line_number": "1",
    "quantity": "12",
    "no_of_containers": "2",
    "location_order": "10",
    "customer_name": "Anna Vos",
    "key": "bio",
    "value": "yes",
    "sort_order": "1",
    "unit_barcode": "19520001100106",
    "unit_name": "doos",
    "unit_quantity": "6",
    "set_product_number": "0227",
    "set_item_quantity": "2",
    "opening_hours.key": "monday",
    "opening_hours.value": "8-18",
    "day": "1",
    "delivery_offset": "2",
    "ordering_offset": "1",
    "printer_type": "1",
    "time": "10:30",
    "printer_ip": "192.0.2.7",
    "week_numbers": "1-26,40",
    "country_code": "NL",
    "countries_allowed": "NL|BE",
    "countries_not_allowed": "DE",
    "edit_min_max_percentage": "20",
    "min": "2",
    "max": "12",
    "purchase_unit_quantity": "6",
}


def describe_columns(file: str = "") -> Iterator[str]:
    """Yield the columns of one file, or of all of them, as lines. Raise LoadError for an unknown file."""
    wanted = file.casefold().removesuffix(".csv")
    found = [layout for layout in LAYOUTS if not wanted or layout.file == f"{wanted}.csv"]
    if not found:
        names = ", ".join(layout.file for layout in LAYOUTS)
        raise LoadError(f"No load reads a file {file}; name one of these: {names}.")
    for at, layout in enumerate(found):
        if at:
            yield ""
        yield from _describe_layout(layout)


def _describe_layout(layout: FileLayout) -> Iterator[str]:
    yield layout.file
    columns = sorted(layout.columns.values(), key=lambda column: not column.required)
    width = max(len(column.name) for column in columns)
    kind_width = max(len(_KIND_TEXTS[column.kind][0]) for column in columns)
    for column in columns:
        kind, _ = _KIND_TEXTS[column.kind]
        needed = "required" if column.required else ""
        yield f"  {column.name:{width}}  {needed:8}  {kind:{kind_width}}  {example_cell(column)}"


def example_cell(column: Column) -> str:
    """Return a cell that the column accepts."""
    if column.fields:
        return (
            f"[{encode_json({name: _example_value(column, field) for name, field in column.fields.items()}).decode()}]"
        )
    return _EXAMPLES.get(column.name.rpartition(".")[2], _KIND_TEXTS[column.kind][1])


def _example_value(column: Column, field: Column) -> object:
    """Return a value that a field of the objects of a column can have."""
    return field.parse(_EXAMPLES.get(f"{column.name}.{field.name}") or example_cell(field))
