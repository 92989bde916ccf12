"""`aisle load DIR`: a shop or a chain from CSV files, through the service's own interface."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Callable
from pathlib import Path

from aisle.cli.options import settings_from_arguments
from aisle.cli.service_client import service_client, store_folder_of
from aisle.client.load import LoadProgress, LoadReport, load
from aisle.client.load.column_help import describe_columns
from aisle.client.load.columns import LAYOUTS, STORES
from aisle.errors import UsageError
from aisle.host.store_folder import short_hash
from aisle.settings import EMBEDDED, LoadedSettings, service_url
from aisle.text import clean

LOADS_FOLDER = "loads"
"""The folder of this host's data that keeps the names of loads which have not come to their end."""

PROGRESS_INTERVAL_S = 0.2
"""Seconds between two lines of progress on a terminal; elsewhere one a file is enough."""


def run(arguments: argparse.Namespace) -> int:
    """Loads what is there; 0 when every row was loaded, 1 when one was not. With `--columns` it prints those alone."""
    if arguments.columns is not None:
        for line in describe_columns(arguments.columns):
            print(line)
        return 0
    if arguments.directory is None:
        raise UsageError("Name the folder that holds the CSV files; 'aisle load --columns' prints what they hold.")
    directory = Path(arguments.directory)
    if not directory.is_dir():
        raise UsageError(f"{directory} is no folder. Name the one that holds products.csv, orders.csv and so on.")
    loaded = settings_from_arguments(arguments, is_write=True)
    work = _load(
        directory,
        loaded,
        strict=arguments.strict,
        recount=arguments.recount,
        brings_stores=any(path.name.casefold() == STORES.file for path in directory.iterdir()),
        name_file=_name_file(loaded, directory),
    )
    report = asyncio.run(work)
    lines = report.lines()
    for line in lines:
        print(line)
    if not lines:
        print(
            f"{directory} holds none of {', '.join(layout.file for layout in LAYOUTS)}.",
            file=sys.stderr,
        )
        return 1
    return 0 if report.is_complete else 1


def _name_file(loaded: LoadedSettings, directory: Path) -> Path:
    """The file that keeps the name of a load from this folder into this service until its end."""
    what = f"{service_url(loaded.settings)}\n{directory.resolve()}"
    return loaded.data_folder / LOADS_FOLDER / f"{short_hash(what.encode('utf-8', 'surrogateescape'))}.json"


def _service_name(loaded: LoadedSettings) -> str:
    """The service in the settings, in words: its address, or the database of the one that aisle brings along."""
    url = service_url(loaded.settings)
    if url != EMBEDDED:
        return f"the service at {url}"
    return f"the service that aisle brings along (database {store_folder_of(loaded).service_db})"


async def _load(
    directory: Path, loaded: LoadedSettings, *, strict: bool, recount: bool, brings_stores: bool, name_file: Path
) -> LoadReport:
    """What brings its own stores goes into an embedded service of its own, all else into the store that is there: in a
    new one that is the demo store."""
    async with service_client(loaded, demo=not brings_stores) as client:
        try:
            return await load(
                directory,
                client,
                strict=strict,
                recount=recount,
                service_name=_service_name(loaded),
                name_file=name_file,
                progress=_progress_printer(),
                on_cut_off=_print_cut_off,
            )
        finally:
            if sys.stderr.isatty():
                print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _print_cut_off(report: LoadReport) -> None:
    """Prints what became of the files before the load ended early."""
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    print("The load ended early. Until then:")
    for line in report.lines():
        print(line)


def _progress_printer() -> Callable[[LoadProgress], None]:
    """Progress on stderr: one line that changes on a terminal, a line for each file elsewhere."""
    last, seen = 0.0, ""

    def tell(progress: LoadProgress) -> None:
        nonlocal last, seen
        part = f"{progress.bytes_done * 100 // max(1, progress.bytes_total)} %"
        line = f"{clean(progress.file)}: {progress.rows} rows, {part}"
        now = time.monotonic()
        if sys.stderr.isatty():
            if now - last >= PROGRESS_INTERVAL_S:
                last = now
                print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)
        elif progress.file != seen:
            seen = progress.file
            print(f"{clean(progress.file)} …", file=sys.stderr, flush=True)

    return tell
