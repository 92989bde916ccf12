"""The app behind a browser: started by `aisle web` for each screen, it speaks with it through its two pipes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import Namespace

    from aisle.cli.app import Browser

TERM = "xterm-256color"
"""What the terminal in the page is like."""


def command(options: Sequence[str]) -> list[str]:
    """The command line of such a process."""
    return [sys.executable, *(["-I"] if sys.flags.isolated else []), "-m", "aisle.cli.browser", *options]


def main() -> int:
    """Runs one session; the exit status."""
    from aisle.cli import fail
    from aisle.errors import AisleError, UsageError

    try:
        return _run(sys.argv[1:])
    except UsageError as error:
        return fail(error, 2)
    except AisleError as error:
        return fail(error, 1)


def _run(arguments: Sequence[str]) -> int:
    from aisle.cli import app
    from aisle.cli.options import app_parser, settings_of

    parser = app_parser()
    parser.add_argument("--called", required=True)
    parser.add_argument("--columns", type=int, required=True)
    parser.add_argument("--rows", type=int, required=True)
    parsed = parser.parse_args(arguments)
    parsed.kiosk = True  # nobody at a browser names a file of this host
    os.environ["TERM"] = TERM
    return app.open_app(settings_of(parsed, tell=False), _browser(parsed))


def _browser(parsed: Namespace) -> Browser:
    from aisle.cli.app import Browser
    from aisle.jobs.base import SignIn

    return Browser(SignIn(parsed.user, parsed.called), (parsed.columns, parsed.rows))


if __name__ == "__main__":
    sys.exit(main())
