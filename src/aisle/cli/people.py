"""`aisle people`: lists and changes the people of a store, their roles and PINs."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from getpass import getpass
from typing import Any

import click

from aisle.cli.options import SettingValues, json_option, setting_options, settings_from_options
from aisle.cli.print_rows_and_messages import print_json_rows
from aisle.cli.service_client import extension_path, extension_rows, service_client
from aisle.client.responses_and_errors import status_error
from aisle.errors import UsageError
from aisle.settings.settings_files_and_folders import LoadedSettings
from aisle.terminal_text import clean

Person = dict[str, Any]
_FIELDS = ("badge", "user", "role", "name")


@click.group(no_args_is_help=False)
@setting_options
def people(setting_values: SettingValues) -> None:
    """List and change the people of the store, their roles and PINs."""


@people.command("list")
@json_option
@setting_options
def list_people(as_json: bool, setting_values: SettingValues) -> int:
    """List badge, user name, role, whether there is a PIN, and name."""
    found = asyncio.run(_fetch_people(settings_from_options(setting_values)))
    if as_json:
        print_json_rows(found or ())
        return _exit_status(found)
    for person in found or ():
        words = (person["badge"], person["user"], person["role"], "PIN" if person.get("has_pin") else "-")
        print("\t".join(clean(str(word)) for word in (*words, person["name"])))
    return _exit_status(found)


@people.command("set")
@click.argument("badge")
@click.option("--user-name", help="User name, which is stored with the person's work.")
@click.option("--name", help="Name of the person.")
@click.option(
    "--role", type=click.Choice(("staff", "supervisor")), help="Role of the person.", show_default="staff if new"
)
@click.option("--pin", is_flag=True, help="Ask for a PIN; a script writes it as a line to standard input.")
@click.option("--no-pin", is_flag=True, help="Remove the PIN.")
@setting_options
def set_person(badge: str, pin: bool, no_pin: bool, setting_values: SettingValues, **fields: str | None) -> int:
    """Add a person, or change what the options name.

    BADGE is the code on the badge.
    """
    if pin and no_pin:
        raise click.UsageError("--pin and --no-pin exclude each other.")
    loaded = settings_from_options(setting_values, is_write=True)
    return asyncio.run(_set_person(loaded, badge, fields, asks_pin=pin, removes_pin=no_pin))


@people.command("remove")
@click.argument("badge")
@setting_options
def remove_person(badge: str, setting_values: SettingValues) -> int:
    """Remove a person who does not work here any more.

    BADGE is the code on the badge.
    """
    return asyncio.run(_remove_person(settings_from_options(setting_values, is_write=True), badge))


async def _set_person(
    loaded: LoadedSettings, badge: str, fields: Mapping[str, str | None], *, asks_pin: bool, removes_pin: bool
) -> int:
    people = await _fetch_people(loaded)
    if people is None:
        return _exit_status(people)
    before = next((person for person in people if person["badge"] == badge), {})
    given = {"user": fields["user_name"], "name": fields["name"], "role": fields["role"]}
    person = {name: text or before.get(name) for name, text in given.items()}
    person["role"] = person["role"] or "staff"
    if not (person["user"] and person["name"]):
        raise UsageError(f"Nobody has the badge {badge} yet: say --user-name and --name.")
    if asks_pin:
        person["pin"] = _read_pin(person["user"])
    elif removes_pin:
        person["pin"] = ""
    return await _write_person(loaded, {"badge": badge, **person})


async def _remove_person(loaded: LoadedSettings, badge: str) -> int:
    people = await _fetch_people(loaded)
    if people is None:
        return _exit_status(people)
    person = next((person for person in people if person["badge"] == badge), None)
    if person is None:
        raise UsageError(f"Nobody has the badge {badge}.")
    identity = {name: person[name] for name in ("badge", "user", "name")}
    return await _write_person(loaded, {**identity, "is_active": False})


def _read_pin(user: str) -> str:
    """Return a PIN typed twice without echo; without a terminal, the first line of standard input."""
    if not sys.stdin.isatty():
        pin = sys.stdin.readline().strip()
    else:
        pin = getpass(f"PIN of {clean(user)}: ")
        if getpass("Again: ") != pin:
            raise UsageError("These are two PINs; nothing was changed.")
    if not pin:
        raise UsageError("There was no PIN; nothing was changed. Say --no-pin to take one away.")
    return pin


async def _fetch_people(loaded: LoadedSettings) -> list[Person] | None:
    """Return the people of the store; None if the service has none."""
    async with service_client(loaded) as client:
        rows = await extension_rows(client, loaded, "people")
    return None if rows is None else [dict.fromkeys(_FIELDS, "") | row for row in rows]


async def _write_person(loaded: LoadedSettings, person: Person) -> int:
    async with service_client(loaded) as client:
        answer = await client.request_extension("POST", extension_path(loaded, "people"), body={"people": [person]})
    if not answer.is_success:
        raise status_error("write-people", answer, None)
    return 0


def _exit_status(people: list[Person] | None) -> int:
    if people is not None:
        return 0
    print("aisle: people cannot be kept here; this service has none.", file=sys.stderr)
    return 1
