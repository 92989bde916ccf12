"""Key bindings of the settings for a device: the command of each key.

`session/terminal_screen_and_keys` has the defaults.

    [keys]
    z = "undo"                  # a letter or a sign, with Enter; u still works
    f8 = "commands"             # F1 to F12, left and right
    a = "n"                     # a command without a name is written as its letter

A letter that is a command can be bound to another one only if its own command has another key in the same table, so
that every command can be reached.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from aisle.errors import SettingsError

COMMAND_LETTERS = {
    "back": "b",
    "next": "n",
    "previous": "p",
    "undo": "u",
    "done": "d",
    "short": "s",
    "help": "h",
    "commands": ".",
    "sign_out": "o",
    "quit": "q",
}
"""Commands with a name; others are called by their letter."""

BINDABLE_LETTERS = "abcdefghiklmnopqrstuvwx."
"""Letters that are commands on some page."""

_TYPABLE_KEY = re.compile(r"[a-z.,/#+-]")
_KEY = re.compile(r"[a-z.,/#+-]|f([1-9]|1[0-2])|left|right")


def validate_keys(value: Any, where: str) -> tuple[str, ...]:
    """Return the bindings as texts `key = command`, from a table or from such texts. Raise SettingsError with
    the key.
    """
    if isinstance(value, Mapping):
        pairs = list(value.items())
    elif isinstance(value, list | tuple) and all(isinstance(each, str) for each in value):
        pairs = [tuple(part.strip() for part in each.partition("=")[::2]) for each in value]
    else:
        raise SettingsError(f'keys in {where} is {value!r}; it is a table: [keys], with lines such as z = "undo".')
    found: dict[str, str] = {}
    for key, command in pairs:
        name = str(key).lower()
        if name in found:
            raise SettingsError(f"keys in {where} has the key {key!r} twice; keep one of them.")
        found[name] = _validate_command(str(key), command, where)
        if not _KEY.fullmatch(name):
            raise SettingsError(
                f"keys in {where} has the unknown key {key!r}; "
                "known: a to z, the signs . , / # + -, f1 to f12, left, right."
            )
    _check_reachable(found, where)
    return tuple(f"{key} = {command}" for key, command in found.items())


def _validate_command(key: str, command: Any, where: str) -> str:
    if isinstance(command, str) and (command in COMMAND_LETTERS or (len(command) == 1 and command in BINDABLE_LETTERS)):
        return command
    near = get_close_matches(str(command), COMMAND_LETTERS, n=1)
    known = (
        f"did you mean {near[0]!r}?" if near else f"known: {', '.join(COMMAND_LETTERS)}, or the letter of a command."
    )
    raise SettingsError(f"keys in {where} gives {key!r} the unknown command {command!r}; {known}")


def _check_reachable(found: Mapping[str, str], where: str) -> None:
    """Raise SettingsError if a command cannot be reached by any key."""
    given = {_command_letter(command) for command in found.values()}
    for key, command in found.items():
        if key in BINDABLE_LETTERS and key != _command_letter(command) and key not in given:
            raise SettingsError(
                f"keys in {where} gives {key!r} to {command!r}, and {key!r} is the letter of another command; "
                f"give that a key too, for instance: j = {key!r}."
            )


def _command_letter(command: str) -> str:
    return COMMAND_LETTERS.get(command, command)


def _parse_bindings(texts: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(key, _command_letter(command)) for key, command in (text.split(" = ") for text in texts)]


def letters_by_key(texts: tuple[str, ...]) -> dict[str, str]:
    """Return the letter of the command by key."""
    return dict(_parse_bindings(texts))


def keys_by_letter(texts: tuple[str, ...]) -> dict[str, str]:
    """Return the typable key by letter, for letters that are bound to another key."""
    names: dict[str, str] = {}
    for key, letter in _parse_bindings(texts):
        if _TYPABLE_KEY.fullmatch(key):
            names.setdefault(letter, key)
    return names
