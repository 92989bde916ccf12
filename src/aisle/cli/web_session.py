"""Session process behind a browser: started by `aisle web` for each screen, connected by two pipes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from aisle.cli import print_error
from aisle.cli.commands import run_command
from aisle.cli.options import SettingValues, app_options, settings_from_options
from aisle.errors import AisleError, UsageError

TERM = "xterm-256color"
"""TERM of the terminal in the page."""


def session_command(options: Sequence[str]) -> list[str]:
    """Return the command line of a session process."""
    return [sys.executable, *(["-I"] if sys.flags.isolated else []), "-m", "aisle.cli.web_session", *options]


def main() -> int:
    """Run one session and return the exit status."""
    try:
        return run_command(run_session, sys.argv[1:])
    except UsageError as error:
        return print_error(error, 2)
    except AisleError as error:
        return print_error(error, 1)


@click.command()
@app_options
@click.option("--called", required=True)
@click.option("--columns", type=int, required=True)
@click.option("--rows", type=int, required=True)
@click.option("--address", default="")
def run_session(setting_values: SettingValues, called: str, columns: int, rows: int, address: str) -> int:
    """Run the app on a screen of this size, for the user of the options, who has the name `called`.

    Its first page is that of `address`.
    """
    from aisle.cli import open_app

    # a browser user must not name files of this host
    loaded = settings_from_options({**setting_values, "kiosk": True}, print_problems=False)
    os.environ["TERM"] = TERM
    return open_app.open_app(loaded, open_app.BrowserView(called, (columns, rows), address))


if __name__ == "__main__":
    sys.exit(main())
