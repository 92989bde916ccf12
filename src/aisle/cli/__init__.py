"""Command line: `aisle` opens the app, `aisle COMMAND` runs one command. Only this package composes courier, client and
service.

Exit status: 0 done, 1 failed, 2 wrong usage. Errors go to stderr, with their reason and advice. A command imports what
it needs when it runs, so that the app starts without it. It holds no rules of jobs, cache or service. Start in
`commands.py` (all commands, and the module of each) and `open_app.py`.
"""

from __future__ import annotations

import codecs
import gc
import json
import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from typing import TYPE_CHECKING

from aisle.errors import AisleError, SettingsError, StorageError, UsageError
from aisle.terminal_text import clean

if TYPE_CHECKING:
    from aisle.cli.options import SettingValues

COMPLETE_VARIABLE = "_AISLE_COMPLETE"
"""Variable by which a shell asks for completions."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return the exit status."""
    _repair_streams()
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        if not arguments and COMPLETE_VARIABLE not in os.environ:  # nothing to parse, so the app starts without click
            return start_app({})
        from aisle.cli.commands import aisle_command, run_command

        return run_command(aisle_command, arguments)
    except (UsageError, SettingsError) as error:
        return print_error(error, 2)
    except AisleError as error:
        return print_error(error, 1)
    except KeyboardInterrupt:
        return 1
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except UnicodeEncodeError as error:  # a surrogate, which cannot be encoded
        context = error.object[max(0, error.start - 20) : error.end + 20]
        return print_error(
            UsageError(f"{context!r} holds a part of a character that cannot be used. Write it in UTF-8."), 2
        )
    except OSError as error:
        if error.filename is None:
            raise
        advice = "Look what it is, and whose: it has to be this account's."
        return print_error(StorageError(f"{error.filename} cannot be used: {error.strerror}. {advice}"), 1)


def start_app(setting_values: SettingValues, home: str | None = None) -> int:
    """Import and run the app; `home` is the folder of settings and data."""
    gc.disable()  # starting creates almost no garbage
    try:
        from aisle.cli import open_app

        return open_app.run(setting_values, home)
    finally:
        gc.enable()


def print_error(error: Exception, status: int) -> int:
    """Print an error on stderr without control characters, and return the exit status."""
    print(f"aisle: {clean(str(error))}", file=sys.stderr)
    return status


def _repair_streams() -> None:
    """Open closed standard streams on /dev/null, and make stdout escape characters it cannot encode."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - until the end
    out = sys.stdout
    if isinstance(out, TextIOWrapper) and out.errors in ("strict", "surrogateescape"):
        codecs.register_error("aisle", _escape_unencodable)
        out.reconfigure(errors="aisle")


def _escape_unencodable(error: UnicodeError) -> tuple[str, int]:
    """Return characters that cannot be encoded as JSON escapes, which are equivalent in JSON output."""
    assert isinstance(error, UnicodeEncodeError)
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end
