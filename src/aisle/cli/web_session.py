"""Session process behind a browser: started by `aisle web` for each screen, connected by two pipes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import Namespace

    from aisle.cli.app import BrowserView

TERM = "xterm-256color"
"""TERM of the terminal in the page."""


def session_command(options: Sequence[str]) -> list[str]:
    """Return the command line of a session process."""
    return [sys.executable, *(["-I"] if sys.flags.isolated else []), "-m", "aisle.cli.web_session", *options]


def main() -> int:
    """Run one session and return the exit status."""
    from aisle.cli import print_error
    from aisle.errors import AisleError, UsageError

    try:
        return _run(sys.argv[1:])
    except UsageError as error:
        return print_error(error, 2)
    except AisleError as error:
        return print_error(error, 1)


def _run(arguments: Sequence[str]) -> int:
    from aisle.cli import app
    from aisle.cli.options import create_app_parser, settings_from_arguments

    parser = create_app_parser()
    parser.add_argument("--called", required=True)
    parser.add_argument("--columns", type=int, required=True)
    parser.add_argument("--rows", type=int, required=True)
    parsed = parser.parse_args(arguments)
    parsed.kiosk = True  # a browser user must not name files of this host
    os.environ["TERM"] = TERM
    return app.open_app(settings_from_arguments(parsed, print_problems=False), _browser_view(parsed))


def _browser_view(parsed: Namespace) -> BrowserView:
    from aisle.cli.app import BrowserView
    from aisle.jobs.job import SignIn

    return BrowserView(SignIn(parsed.user, parsed.called), (parsed.columns, parsed.rows))


if __name__ == "__main__":
    sys.exit(main())
