"""Options shared by the app and all commands, and the settings they result in."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from typing import Any

from aisle import __version__
from aisle.errors import SettingsError
from aisle.settings import LANGUAGES, THEMES, LoadedSettings, load_settings
from aisle.text import clean

_SETTING_OPTIONS = {
    "--store": ("store", "store number that this terminal works in"),
    "--user": ("user", "app user who is signed in"),
    "--base-url": ("base_url", "address of the Store Operations Service (default: the store that aisle brings along)"),
    "--token-file": ("token_file", "file with the bearer token, mode 0600"),
    "--ca-file": ("ca_file", "certificates to trust instead of the system's"),
}


class CommandParser(argparse.ArgumentParser):
    """ArgumentParser with the error format of aisle and exit status 2."""

    def error(self, message: str) -> Any:
        """Exit with the error and a pointer to the help."""
        self.exit(2, f"aisle: {clean(message)}\nTry '{self.prog} --help'.\n")


EPILOG = """\
commands, each with --help:
  a store to work in   load, people, token, sheet
  the service          serve, backup, restore, purge
  this host            sync, courier, doctor, completion
  what was done        outbox, journal, assignments, audit
  beyond the terminal  web, api

examples:
  aisle                                      the demo store that aisle brings along; sign in as anna
  aisle --store 0042 --base-url https://store.example --token-file token
  aisle doctor --settings                    what is in force on this terminal, and why
  aisle api list-store-products-stock --query page_size=5
  aisle completion bash >> ~/.bashrc         completes commands, options and operations

In the app: h and Enter is help on any page, . and Enter lists all commands.
"""


def add_setting_options(parser: argparse._ActionsContainer) -> None:
    """Add the settings that every command line accepts."""
    for flag, (dest, text) in _SETTING_OPTIONS.items():
        parser.add_argument(flag, dest=dest, metavar=dest.split("_")[-1].upper(), help=text)


def add_parent_options(actions: Iterable[argparse.ArgumentParser], parser: argparse.ArgumentParser) -> None:
    """Add the options of a command to each of its actions as well; a value after the action overrides one before it.

    An option is left out if it is a prefix of an action's own option, because it is the short form of that.
    """
    for action in actions:
        own = [name for each in action._actions for name in each.option_strings]
        for each in parser._actions:
            if each.option_strings and each.nargs != 0:
                [flag] = each.option_strings
                if not any(name.startswith(flag) for name in own):
                    text, default = each.help, argparse.SUPPRESS
                    action.add_argument(flag, dest=each.dest, metavar=each.metavar, help=text, default=default)


def create_app_parser() -> CommandParser:
    """Return the parser of the app."""
    parser = CommandParser(
        prog="aisle",
        description="The store in the hand: scan anything, anywhere; nothing is ever lost.",
        usage="aisle [option ...]\n       aisle COMMAND [option ...]",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_app_options(parser)
    return parser


def add_app_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the app, in groups."""
    where = parser.add_argument_group("where it works")
    add_setting_options(where)
    where.add_argument("--terminal", help="name under which this terminal is remembered")
    where.add_argument("--home", metavar="DIR", help="folder of settings and data, in place of AISLE_HOME")
    how = parser.add_argument_group("how it works and looks")
    how.add_argument("--language", choices=LANGUAGES, help="what people read; else that of the environment")
    how.add_argument("--verified", action="store_true", default=None, help="picking asks for a scan of each place")
    how.add_argument("--rich", action="store_true", default=None, help="the wide desktop look")
    how.add_argument("--theme", choices=THEMES, help="colours of its own instead of those of the terminal")
    how.add_argument("--trace", metavar="FILE", help="write one JSON line per input to FILE")
    how.add_argument(
        "--in-process", action="store_true", default=None, help="run the courier inside the session (odd hosts)"
    )
    how.add_argument(
        "--kiosk",
        action="store_true",
        default=None,
        help="for people who may do nothing else here: nothing goes to files, no variable is heard but the terminal's",
    )
    parser.add_argument("--version", action="version", version=f"aisle {__version__}")


def settings_from_arguments(
    arguments: argparse.Namespace, *, strict: bool = True, print_problems: bool = True, is_write: bool = False
) -> LoadedSettings:
    """Return the settings in force for this command line.

    If `strict` is False, invalid values in files are ignored. If `print_problems` is True, print errors of files whose
    last valid version is in force. Raise SettingsError if a file has an error and the command writes (`is_write`): the
    file may have named another service.
    """
    from aisle.settings import Settings

    loaded = load_settings(
        {key: value for key, value in vars(arguments).items() if key in Settings._fields}, strict=strict
    )
    if is_write and loaded.problems:
        raise SettingsError(loaded.problems[0])
    if loaded.settings.time_zone:
        from aisle.settings.time_zone import set_process_zone

        set_process_zone(loaded.settings.time_zone)
    for problem in loaded.problems if print_problems else ():
        print(f"aisle: {clean(problem)} Until then what it said before is in force.", file=sys.stderr)
    return loaded
