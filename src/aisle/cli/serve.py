"""`aisle serve`: run the service for other hosts."""

from __future__ import annotations

import logging
import signal
import sys
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import click

from aisle.cli.options import FILE, ListenOptions, database_option, listen_options
from aisle.cli.time_zones_of_host_and_stores import service_zones
from aisle.errors import AisleError, SettingsError, UsageError
from aisle.host.store_and_database_folders import StoreFolder
from aisle.service.app_options_and_limits import RateLimits, keys_kept
from aisle.service.db import parse_database_url
from aisle.service.domain.quantities_times_and_json import TimeZones
from aisle.service.http.access_and_service_logs import format_line, log_as_json
from aisle.service.http.run_server import ServerOptions
from aisle.service.http.run_server import run_server as run_server
from aisle.settings.load_settings import load_settings
from aisle.settings.parse_settings_file import save_last_valid
from aisle.settings.process_time_zone import parse_zone
from aisle.settings.setting_definitions import EMBEDDED
from aisle.settings.settings_files_and_folders import LoadedSettings, trusted_data_folder
from aisle.terminal_text import clean

log = logging.getLogger("aisle.service")


class FiniteRange(click.FloatRange):
    """Range of numbers without infinity and NaN."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number. Raise BadParameter."""
        number = float(super().convert(value, param, ctx))
        if not isfinite(number):
            self.fail(f"{value} is not finite.", param, ctx)
        return number


class ServeOptions(NamedTuple):
    """Options of `aisle serve`."""

    listen: ListenOptions
    database: str | None
    workers: int
    rate: float
    rate_bytes: float
    access_log: str | None
    time_zone: str | None
    json_logs: bool
    drain_seconds: float
    lenient: bool
    demo: bool
    empty: bool


@click.command()
@database_option
@click.option("--workers", type=click.IntRange(1, 64), default=1, metavar="N", help="Number of processes that answer.")
@listen_options(port=8480)
@click.option(
    "--rate",
    type=FiniteRange(0),
    default=300.0,
    metavar="N",
    help="Requests a second for each token, 0 for any number.",
)
@click.option(
    "--rate-bytes",
    type=FiniteRange(0),
    default=float(8 << 20),
    show_default="8 MiB",
    metavar="BYTES",
    help="Bytes of bodies a second for each token, 0 for any number; --rate 0 allows any number, too.",
)
@click.option(
    "--access-log",
    type=FILE,
    metavar="FILE",
    help="File to write each request to, as a line of JSON, without secrets; - for standard error.",
)
@click.option(
    "--time-zone",
    metavar="ZONE",
    help="Zone of dates and times that name none.",
    show_default="that in the settings, else the host's",
)
@click.option("--json-logs", is_flag=True, help="Write the service's own log as lines of JSON.")
@click.option(
    "--drain-seconds",
    type=FiniteRange(0, 600),
    default=0.0,
    metavar="S",
    help="Seconds to go on answering after SIGTERM, while /ready says that the service is leaving. A balancer needs"
    " twice the time between two of its checks.",
)
@click.option("--lenient", is_flag=True, help="Ignore unknown query parameters, which are otherwise refused.")
@click.option(
    "--demo",
    is_flag=True,
    help="Add the demo store to a database without stores; this is the default without --database.",
)
@click.option("--empty", is_flag=True, help="Add no demo store; this is the default with --database.")
def serve(**values: Any) -> int:
    """Run the Store Operations Service for other hosts."""
    options = ServeOptions(**values)
    if options.demo and options.empty:
        raise click.UsageError("--demo and --empty exclude each other.")
    if not options.json_logs:
        return _serve(options)
    with log_as_json():
        try:
            return _serve(options)
        except AisleError as problem:
            log.critical("%s", clean(str(problem)))
            return 2 if isinstance(problem, UsageError | SettingsError) else 1


def _serve(options: ServeOptions) -> int:
    """Serve until stopped; only the embedded store's file gets a demo store by default."""
    if options.listen.certificate:  # A reload that comes before the server can take it must not end the service.
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    store_folder, listen, loaded = _embedded_folder(), options.listen, _load_settings()
    is_embedded = options.database is None
    database = options.database or f"sqlite:///{store_folder.service_db}"
    server_options = ServerOptions(
        database,
        listen.host,
        listen.port,
        certificate=listen.certificate,
        private_key=listen.private_key,
        rate_limits=RateLimits(options.rate, token_bytes=options.rate_bytes),
        access_file=Path(options.access_log) if options.access_log else None,
        json_logs=options.json_logs,
        time_zones=TimeZones(parse_zone(options.time_zone)) if options.time_zone else service_zones(loaded),
        lenient=options.lenient,
        keys_days=keys_kept(loaded.settings.keep_answers_days),
        proxies=listen.proxies,
        drain_seconds=options.drain_seconds,
        per_address=listen.connections_per_address,
    )
    run_server(
        server_options,
        demo=options.demo or (is_embedded and not options.empty),
        token_file=store_folder.embedded_token if is_embedded else None,
        allow_plain_http=listen.allow_plain_http,
        workers=options.workers,
        ready=_print_url_as_json if options.json_logs else partial(_print_url, parse_database_url(database)),
    )
    return 0


def _load_settings() -> LoadedSettings:
    """Return the settings and store them as the last valid ones; log errors of files whose last valid version is in
    force. Raise SettingsError if a file with errors has none: times would be read in wrong zones.
    """
    loaded = load_settings({})
    save_last_valid(loaded)
    for problem in loaded.problems:
        log.warning("%s Until then what it said before is in force.", clean(problem))
    return loaded


def _print_url(database: Path | str, url: str) -> None:
    """Print the address, and the full path of a database file, so that a wrong relative path is noticed."""
    where = f"\nfrom {clean(str(database.resolve()))}" if isinstance(database, Path) else ""
    print(f"aisle serves at {url}{where}", file=sys.stderr, flush=True)


def _print_url_as_json(url: str) -> None:
    print(format_line(f"aisle serves at {url}"), file=sys.stderr, flush=True)


def _embedded_folder() -> StoreFolder:
    return StoreFolder(trusted_data_folder(), EMBEDDED, "")
