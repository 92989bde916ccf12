"""`aisle serve` and `aisle token`: run the service for other hosts, and manage its tokens."""

from __future__ import annotations

import argparse
import logging
import os
import sys
import time
from collections.abc import Sequence
from functools import partial
from ipaddress import ip_network
from pathlib import Path

from aisle.cli.time_zones import service_zones
from aisle.errors import AisleError, SettingsError, UsageError
from aisle.host.store_folder import StoreFolder
from aisle.service.auth.tokens import ALL_STORES, TokenInfo, create_token, list_tokens, revoke_token
from aisle.service.db import parse_database_url
from aisle.service.domain.timestamps import TimeZones, format_timestamp
from aisle.service.factory import open_service
from aisle.service.http.json_logging import format_line, log_as_json
from aisle.service.http.server import run_server as run_server
from aisle.service.limits import keys_kept
from aisle.settings import EMBEDDED, find_data_folder, load_settings
from aisle.settings.time_zone import parse_zone
from aisle.text import clean

log = logging.getLogger("aisle.service")

DAY = 86400
_MAX_DAYS = 36_500
_MAX_DRAIN_S = 600


def serve(arguments: argparse.Namespace) -> int:
    """Serve until stopped; with `--json-logs` a final error is logged as JSON too."""
    if not arguments.json_logs:
        return _serve(arguments)
    with log_as_json():
        try:
            return _serve(arguments)
        except AisleError as problem:
            log.critical("%s", clean(str(problem)))
            return 2 if isinstance(problem, UsageError | SettingsError) else 1


def _serve(arguments: argparse.Namespace) -> int:
    """Check the arguments and serve; only the embedded store's file gets a demo store by default."""
    if not 0 <= arguments.port <= 65535:
        raise UsageError(f"--port {arguments.port} is no port; it takes 0 to 65535.")
    if (arguments.certificate is None) != (arguments.private_key is None):
        raise UsageError("--certificate and --private-key belong together.")
    if not 0 <= arguments.rate < float("inf"):
        raise UsageError(f"--rate {arguments.rate} is no rate; it takes requests a second, or 0 for any number.")
    if not 0 <= arguments.rate_bytes < float("inf"):
        raise UsageError(
            f"--rate-bytes {arguments.rate_bytes} is no rate; it takes bytes a second, or 0 for any number."
        )
    if not 1 <= arguments.workers <= 64:
        raise UsageError(f"--workers {arguments.workers} is too few or too many; it takes 1 to 64.")
    if not 0 <= arguments.drain_seconds <= _MAX_DRAIN_S:
        raise UsageError(f"--drain-seconds {arguments.drain_seconds} is no time; it takes 0 to {_MAX_DRAIN_S}.")
    store_folder = _embedded_folder()
    is_embedded = arguments.database is None
    database = arguments.database or f"sqlite:///{store_folder.service_db}"
    run_server(
        database,
        arguments.host,
        arguments.port,
        demo=is_embedded if arguments.demo is None else arguments.demo,
        token_file=store_folder.embedded_token if is_embedded else None,
        allow_plain_http=arguments.allow_plain_http,
        certificate=arguments.certificate,
        private_key=arguments.private_key,
        rate=arguments.rate,
        rate_bytes=arguments.rate_bytes,
        access_file=Path(arguments.access_log) if arguments.access_log else None,
        workers=arguments.workers,
        json_logs=arguments.json_logs,
        time_zones=_store_zones(arguments.time_zone),
        lenient=arguments.lenient,
        keys_days=keys_kept(load_settings({}, strict=False).settings.keep_answers_days),
        proxies=_parse_proxies(arguments.proxy),
        drain_seconds=arguments.drain_seconds,
        per_address=arguments.connections_per_address,
        ready=_print_url_as_json if arguments.json_logs else partial(_print_url, parse_database_url(database)),
    )
    return 0


def _parse_proxies(named: Sequence[str]) -> list[str]:
    """Return the trusted proxies. Raise UsageError."""
    try:
        return [str(ip_network(each, strict=False)) for each in named]
    except ValueError as problem:
        raise UsageError(f"--proxy: {problem}; it takes an address, or a network like 10.0.0.0/24.") from problem


def _store_zones(name: str | None) -> TimeZones:
    """Return the time zones of the stores: that of the command line for all, else those of the settings."""
    if name:
        return TimeZones(parse_zone(name))
    return service_zones(load_settings({}, strict=False))


def _print_url(database: Path | str, url: str) -> None:
    """Print the address, and the full path of a database file, so that a wrong relative path is noticed."""
    where = f"\nfrom {clean(str(database.resolve()))}" if isinstance(database, Path) else ""
    print(f"aisle serves at {url}{where}", file=sys.stderr, flush=True)


def _print_url_as_json(url: str) -> None:
    print(format_line(f"aisle serves at {url}"), file=sys.stderr, flush=True)


def token(arguments: argparse.Namespace) -> int:
    """Add, list or revoke a token."""
    days = arguments.days if arguments.action == "add" else None
    if days is not None and not 1 <= days <= _MAX_DAYS:
        raise UsageError(f"--days {days} is no time; it takes 1 to {_MAX_DAYS}. Without it the token does not expire.")
    database = parse_database_url(arguments.database) if arguments.database else _embedded_folder().service_db
    if isinstance(database, Path) and not database.exists():
        raise UsageError(f"There is no service database at {database} yet. 'aisle serve' makes it.")
    service = open_service(database)
    now = time.time()
    try:
        if arguments.action == "add":
            stores = None if arguments.stores == ALL_STORES else [each for each in arguments.stores.split(",") if each]
            expires = None if days is None else format_timestamp(now + days * DAY)
            created = create_token(
                service.database,
                name=arguments.name,
                role=arguments.role,
                store_numbers=stores,
                now=format_timestamp(now),
                expires_on=expires,
            )
            print(
                f"{created.token_id} is made. It is shown this once, keep it in a file of mode 0600:", file=sys.stderr
            )
            print(created.secret)
            return 0
        known = list_tokens(service.database)
        if arguments.action == "list":
            _print_tokens(known)
            return 0
        token_id = _find_token(arguments.name, known)
        revoke_token(service.database, token_id, now=format_timestamp(now))
        print(f"{token_id} is ended.", file=sys.stderr)
        return 0
    finally:
        service.close()


def _find_token(name: str, known: list[TokenInfo]) -> str:
    """Return the id of the only token with this name or id. Raise UsageError if there is none, or more than one."""
    found = [each for each in known if name in (each.token_id, each.name) and each.revoked_on is None]
    if len(found) != 1:
        what = "No token in force" if not found else "More than one token"
        raise UsageError(f"{what} is called {name!r}. 'aisle token list' shows their ids.")
    return found[0].token_id


def _print_tokens(known: list[TokenInfo]) -> None:
    for each in known:
        state = "revoked" if each.revoked_on else f"until {each.expires_on}" if each.expires_on else "in force"
        used = each.last_used_on or "never used"
        stores = ",".join(clean(store) for store in each.stores)
        print(f"{each.token_id}  {clean(each.name)}  {each.role}  {stores}  {state}  {used}")


def _embedded_folder() -> StoreFolder:
    return StoreFolder(find_data_folder(os.environ), EMBEDDED, "")
