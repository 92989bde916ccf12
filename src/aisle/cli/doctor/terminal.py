"""The terminal that this runs in, and what the scanner's test found last."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from aisle.cli.doctor.report import Finding, note, ok, wrong
from aisle.jobs.view import msg
from aisle.local.session.hearing import colours
from aisle.settings import Loaded, terminal_name
from aisle.text import speaks_utf8

SMALLEST = ((20, 16), (40, 8))
"""Columns and rows of the smallest screens that have room for a step."""

TAIL = 1 << 18
"""Bytes at the end of a trace that are looked through."""

_UNKNOWN = {"end": "a suffix", "one": "one", "other": "another", "ms": "some", "name": "pressed"}
"""What stands for the arguments of a sentence, which the trace does not keep."""


def terminal(loaded: Loaded) -> Iterable[Finding]:
    """Name, kind, size, colours and encoding."""
    name = terminal_name(loaded.settings)
    kind = os.environ.get("TERM", "")
    encoding = "UTF-8" if speaks_utf8() else "ASCII"
    facts: dict[str, Any] = {"terminal": name, "term": kind, "encoding": encoding, "colours": colours(os.environ)}
    told = f"{name}: TERM {kind or 'not set'}, {facts['colours'] or 'no'} colours, {encoding}"
    if not sys.stdout.isatty():
        yield ok("terminal", f"{told}; this is printed to no screen", **facts)
        return
    size = os.get_terminal_size(sys.stdout.fileno())
    facts |= {"columns": size.columns, "rows": size.lines}
    told += f", {size.columns}x{size.lines}"
    if not any(size.columns >= columns and size.lines >= rows for columns, rows in SMALLEST):
        yield wrong("terminal", told, "That is too small: 20x16 or 40x8 at least.", "Choose a smaller font.", **facts)
    elif not kind:
        yield note(
            "terminal", told, "Programs cannot know what it can do.", "Set TERM, to vt220 for instance.", **facts
        )
    else:
        yield ok("terminal", told, **facts)


def scanner(loaded: Loaded) -> Iterable[Finding]:
    """The last sentence of the scanner's test in the trace, where one is written."""
    trace = loaded.settings.trace
    if not trace:
        yield ok("scanner", "test it in the app: home, more, test the scanner")
        return
    path = Path(trace)
    if not path.exists():
        yield note("scanner", f"there is no trace {path} yet")
        return
    last = _last(path)
    if last is None:
        yield ok("scanner", f"nothing was tested lately ({path})")
    else:
        from aisle.tui.catalogue import Voice

        sentence = Voice().say(msg(last, **_UNKNOWN))
        good = last in ("doctor.fine", "doctor.fine_aim", "doctor.key")
        yield (ok if good else note)("scanner", sentence, finding=last)


def _last(path: Path) -> str | None:
    """The verdict of the last input that the scanner's test looked at."""
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - TAIL))
        lines = stream.read().decode("utf-8", "replace").splitlines()
    for line in reversed(lines):
        try:
            seen = json.loads(line)
        except ValueError:
            continue  # the first line of the tail, or one that is being written
        if isinstance(seen, dict) and seen.get("job") == "doctor" and str(seen.get("verdict")).startswith("doctor."):
            return str(seen["verdict"])
    return None
