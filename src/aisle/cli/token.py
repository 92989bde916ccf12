"""`aisle token`: make, list and end tokens of the service."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import click

from aisle.cli.options import database_option
from aisle.errors import UsageError
from aisle.host.store_and_database_folders import StoreFolder
from aisle.service.auth.tokens_and_pins import (
    ALL_STORES,
    ROLES,
    TokenInfo,
    create_token,
    list_tokens,
    revoke_token,
)
from aisle.service.db import parse_database_url
from aisle.service.db.database_interface import Database
from aisle.service.domain.quantities_times_and_json import format_timestamp
from aisle.service.open_service_and_admin_token import open_service
from aisle.service.operation_context import Role
from aisle.settings.setting_definitions import EMBEDDED
from aisle.settings.settings_files_and_folders import trusted_data_folder
from aisle.terminal_text import clean

DAY = 86400
_MAX_DAYS = 36_500


class _StoreNumbers(click.types.StringParamType):
    """Text of the option `--stores`, which has no default: it says what a token may reach."""

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None) -> str:
        """Return what to do if it is missing."""
        return "Name the stores of the token, as in --stores 0042,0043, or give all of them with --stores '*'"


@click.group(no_args_is_help=False)
@database_option
def token(database: str | None) -> None:
    """Make, list and end tokens of the service, which say who may call it."""


@token.command("add")
@click.argument("name")
@click.option("--role", type=click.Choice(ROLES), default="staff", help="Role of the caller.")
@click.option("--stores", type=_StoreNumbers(), required=True, help="Store numbers, separated by commas; * for all.")
@click.option(
    "--days",
    type=click.IntRange(1, _MAX_DAYS),
    metavar="N",
    help="Days until the token expires.",
    show_default="it never expires",
)
@database_option
def add_token(name: str, role: Role, stores: str, days: int | None, database: str | None) -> int:
    """Make a token and print it once.

    NAME says what the token is for, for instance handhelds-0042.
    """
    now = time.time()
    with _open_database(database) as service:
        created = create_token(
            service,
            name=name,
            role=role,
            store_numbers=None
            if stores == ALL_STORES
            else [each.strip() for each in stores.split(",") if each.strip()],
            now=format_timestamp(now),
            expires_on=None if days is None else format_timestamp(now + days * DAY),
        )
    print(f"{created.token_id} is made. It is shown this once, keep it in a file of mode 0600:", file=sys.stderr)
    print(created.secret)
    return 0


@token.command("list")
@database_option
def print_tokens(database: str | None) -> int:
    """List all tokens, without their secrets."""
    with _open_database(database) as service:
        _print_tokens(list_tokens(service))
    return 0


@token.command("revoke")
@click.argument("name")
@database_option
def end_token(name: str, database: str | None) -> int:
    """End a token at once.

    NAME is its name or id.
    """
    with _open_database(database) as service:
        token_id = _find_token(name, list_tokens(service))
        revoke_token(service, token_id, now=format_timestamp(time.time()))
    print(f"{token_id} is ended.", file=sys.stderr)
    return 0


@contextmanager
def _open_database(url: str | None) -> Iterator[Database]:
    """Open the service's database. Raise UsageError if there is none yet."""
    database = parse_database_url(url) if url else StoreFolder(trusted_data_folder(), EMBEDDED, "").service_db
    if isinstance(database, Path) and not database.exists():
        raise UsageError(f"There is no service database at {database} yet. 'aisle serve' makes it.")
    with closing(open_service(database)) as service:
        yield service.database


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
