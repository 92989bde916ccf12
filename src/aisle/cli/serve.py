"""`aisle serve` and `aisle token`: the service for other hosts, and who may call it."""

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

from aisle.cli.zones import zones_of
from aisle.errors import AisleError, SettingsError, UsageError
from aisle.local.host.home import Home
from aisle.service.factory import open_service
from aisle.service.limits import keys_kept
from aisle.service.logs import json_logs, line
from aisle.service.serve import serve as run_server
from aisle.service.storage import named_database
from aisle.service.times import moment
from aisle.service.tokens import ALL_STORES, TokenInfo, create_token, list_tokens, revoke_token
from aisle.service.zones import Zones
from aisle.settings import EMBEDDED, data_root, load
from aisle.settings.time_zone import zone_of
from aisle.text import clean

log = logging.getLogger("aisle.service")

DAY = 86400
_MOST_DAYS = 36_500
_LONGEST_DRAIN = 600


def serve(arguments: argparse.Namespace) -> int:
    """Serves until it is told to stop; with `--json-logs` the error that it ends with is such a line, too."""
    if not arguments.json_logs:
        return _serve(arguments)
    with json_logs():
        try:
            return _serve(arguments)
        except AisleError as problem:
            log.critical("%s", clean(str(problem)))
            return 2 if isinstance(problem, UsageError | SettingsError) else 1


def _serve(arguments: argparse.Namespace) -> int:
    """A demo store comes of itself into the embedded store's file alone."""
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
    if not 0 <= arguments.drain_seconds <= _LONGEST_DRAIN:
        raise UsageError(f"--drain-seconds {arguments.drain_seconds} is no time; it takes 0 to {_LONGEST_DRAIN}.")
    home = _home()
    own = arguments.database is None
    database = arguments.database or f"sqlite:///{home.service_db}"
    run_server(
        database,
        arguments.host,
        arguments.port,
        demo=own if arguments.demo is None else arguments.demo,
        token_file=home.token if own else None,
        allow_plain_http=arguments.allow_plain_http,
        certificate=arguments.certificate,
        private_key=arguments.private_key,
        rate=arguments.rate,
        rate_bytes=arguments.rate_bytes,
        access_file=Path(arguments.access_log) if arguments.access_log else None,
        workers=arguments.workers,
        json_logs=arguments.json_logs,
        zones=_zones(arguments.time_zone),
        lenient=arguments.lenient,
        keys_days=keys_kept(load({}, strict=False).settings.keep_answers_days),
        proxies=_proxies(arguments.proxy),
        drain_seconds=arguments.drain_seconds,
        per_address=arguments.connections_per_address,
        ready=_told_in_json if arguments.json_logs else partial(_told, named_database(database)),
    )
    return 0


def _proxies(named: Sequence[str]) -> list[str]:
    """The proxies that are believed. Raises UsageError."""
    try:
        return [str(ip_network(each, strict=False)) for each in named]
    except ValueError as problem:
        raise UsageError(f"--proxy: {problem}; it takes an address, or a network like 10.0.0.0/24.") from problem


def _zones(name: str | None) -> Zones:
    """The time zones of the stores: what the command line says goes for all, else what the settings say."""
    if name:
        return Zones(zone_of(name))
    return zones_of(load({}, strict=False))


def _told(database: Path | str, url: str) -> None:
    """A file is named in full: one that was meant from the root may lie here."""
    where = f"\nfrom {clean(str(database.resolve()))}" if isinstance(database, Path) else ""
    print(f"aisle serves at {url}{where}", file=sys.stderr, flush=True)


def _told_in_json(url: str) -> None:
    print(line(f"aisle serves at {url}"), file=sys.stderr, flush=True)


def token(arguments: argparse.Namespace) -> int:
    """Adds, lists or ends a token."""
    days = arguments.days if arguments.action == "add" else None
    if days is not None and not 1 <= days <= _MOST_DAYS:
        raise UsageError(f"--days {days} is no time; it takes 1 to {_MOST_DAYS}. Without it the token does not expire.")
    database = named_database(arguments.database) if arguments.database else _home().service_db
    if isinstance(database, Path) and not database.exists():
        raise UsageError(f"There is no service database at {database} yet. 'aisle serve' makes it.")
    service = open_service(database)
    now = time.time()
    try:
        if arguments.action == "add":
            stores = None if arguments.stores == ALL_STORES else [each for each in arguments.stores.split(",") if each]
            expires = None if days is None else moment(now + days * DAY)
            made = create_token(
                service.storage,
                name=arguments.name,
                role=arguments.role,
                store_numbers=stores,
                now=moment(now),
                expires_on=expires,
            )
            print(f"{made.token_id} is made. It is shown this once, keep it in a file of mode 0600:", file=sys.stderr)
            print(made.secret)
            return 0
        known = list_tokens(service.storage)
        if arguments.action == "list":
            _print(known)
            return 0
        token_id = _in_force(arguments.name, known)
        revoke_token(service.storage, token_id, now=moment(now))
        print(f"{token_id} is ended.", file=sys.stderr)
        return 0
    finally:
        service.close()


def _in_force(name: str, known: list[TokenInfo]) -> str:
    """The id of the one token of this name or id. Raises UsageError when there is none, or more than one."""
    found = [each for each in known if name in (each.token_id, each.name) and each.revoked_on is None]
    if len(found) != 1:
        what = "No token in force" if not found else "More than one token"
        raise UsageError(f"{what} is called {name!r}. 'aisle token list' shows their ids.")
    return found[0].token_id


def _print(known: list[TokenInfo]) -> None:
    for each in known:
        state = "revoked" if each.revoked_on else f"until {each.expires_on}" if each.expires_on else "in force"
        used = each.last_used_on or "never used"
        stores = ",".join(clean(store) for store in each.stores)
        print(f"{each.token_id}  {clean(each.name)}  {each.role}  {stores}  {state}  {used}")


def _home() -> Home:
    return Home(data_root(os.environ), EMBEDDED, "")
