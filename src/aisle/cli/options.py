"""The options that the app and every command share, and the settings they make."""

from __future__ import annotations

import argparse
from typing import Any

from aisle import __version__
from aisle.settings import LANGUAGES, THEMES, Loaded, load

_SETTINGS = {
    "--store": ("store", "store number that this terminal works in"),
    "--user": ("user", "app user who is signed in"),
    "--base-url": ("base_url", "address of the Store Operations Service (default: the store that aisle brings along)"),
    "--token-file": ("token_file", "file with the bearer token, mode 0600"),
    "--ca-file": ("ca_file", "certificates to trust instead of the system's"),
}


class Parser(argparse.ArgumentParser):
    """An ArgumentParser whose errors look like all others and give exit status 2."""

    def error(self, message: str) -> Any:
        """Leaves with what is wrong and where to read on."""
        self.exit(2, f"aisle: {message}\nTry '{self.prog} --help'.\n")


def add_settings(parser: argparse.ArgumentParser) -> None:
    """The settings that can be given on any command line."""
    for flag, (dest, text) in _SETTINGS.items():
        parser.add_argument(flag, dest=dest, metavar=dest.split("_")[-1].upper(), help=text)


def app_parser() -> Parser:
    """The command line of the app."""
    parser = Parser(
        prog="aisle",
        description="The store in the hand: scan anything, anywhere; nothing is ever lost.",
        epilog="Commands: serve, token, backup, restore, load, api, assignments, people, sync, courier, outbox,"
        " journal, doctor, sheet, web. More: aisle COMMAND --help",
    )
    add_settings(parser)
    parser.add_argument("--terminal", help="name under which this terminal is remembered")
    parser.add_argument("--language", choices=LANGUAGES, help="what people read; else that of the environment")
    parser.add_argument("--verified", action="store_true", default=None, help="picking asks for a scan of each place")
    parser.add_argument("--rich", action="store_true", default=None, help="the wide desktop look")
    parser.add_argument("--theme", choices=THEMES, help="colours of its own instead of those of the terminal")
    parser.add_argument("--trace", metavar="FILE", help="write one JSON line per input to FILE")
    parser.add_argument(
        "--in-process", action="store_true", default=None, help="run the courier inside the session (odd hosts)"
    )
    parser.add_argument("--home", metavar="DIR", help="folder of settings and data, in place of AISLE_HOME")
    parser.add_argument(
        "--kiosk",
        action="store_true",
        default=None,
        help="for people who may do nothing else here: nothing goes to files, no variable is heard but the terminal's",
    )
    parser.add_argument("--version", action="version", version=f"aisle {__version__}")
    return parser


def settings_of(arguments: argparse.Namespace, *, strict: bool = True) -> Loaded:
    """The settings in force for this command line; not strict, what is wrong in a file is left out."""
    from aisle.settings import Settings

    return load({key: value for key, value in vars(arguments).items() if key in Settings._fields}, strict=strict)
