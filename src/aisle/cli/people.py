"""`aisle people`: lists and changes the people of a store, their roles and PINs."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from getpass import getpass
from typing import Any

from aisle.cli.options import settings_from_arguments
from aisle.cli.service_client import extension_path, extension_rows, service_client
from aisle.client.errors import status_error
from aisle.errors import UsageError
from aisle.settings import LoadedSettings
from aisle.text import clean

Person = dict[str, Any]


def run(arguments: argparse.Namespace) -> int:
    """List people, or set or remove one; return 0 if done, 1 if the service has no people."""
    loaded = settings_from_arguments(arguments, is_write=arguments.action != "list")
    return asyncio.run(
        {"list": _print_people, "set": _set_person, "remove": _remove_person}[arguments.action](loaded, arguments)
    )


async def _print_people(loaded: LoadedSettings, arguments: argparse.Namespace) -> int:
    people = await _fetch_people(loaded)
    for person in people or ():
        if arguments.json:
            print(json.dumps(person, ensure_ascii=False))
        else:
            words = (person["badge"], person["user"], person["role"], "PIN" if person.get("has_pin") else "-")
            print("\t".join(clean(str(word)) for word in (*words, person["name"])))
    return _exit_status(people)


async def _set_person(loaded: LoadedSettings, arguments: argparse.Namespace) -> int:
    people = await _fetch_people(loaded)
    if people is None:
        return _exit_status(people)
    before = next((person for person in people if person["badge"] == arguments.badge), {})
    given = {"user": arguments.user_name, "name": arguments.name, "role": arguments.role}
    person = {name: text or before.get(name) for name, text in given.items()}
    person["role"] = person["role"] or "staff"
    if not (person["user"] and person["name"]):
        raise UsageError(f"Nobody has the badge {arguments.badge} yet: say --user-name and --name.")
    if arguments.pin:
        person["pin"] = _read_pin(person["user"])
    elif arguments.no_pin:
        person["pin"] = ""
    return await _write_person(loaded, {"badge": arguments.badge, **person})


async def _remove_person(loaded: LoadedSettings, arguments: argparse.Namespace) -> int:
    people = await _fetch_people(loaded)
    if people is None:
        return _exit_status(people)
    person = next((person for person in people if person["badge"] == arguments.badge), None)
    if person is None:
        raise UsageError(f"Nobody has the badge {arguments.badge}.")
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
        return await extension_rows(client, loaded, "people")


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
