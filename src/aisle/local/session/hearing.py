"""For jobs that listen: inputs as they came, and the terminal that they came from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from aisle.jobs.base import Heard
from aisle.jobs.view import TRUE_COLOUR
from aisle.scan.inputs import Line
from aisle.scan.meaning import Said
from aisle.text import speaks_utf8


def heard(line: Line, said: Said) -> Heard:
    """A line with all that the decoder knows of it, and what it would mean."""
    pace = round(line.pace * 1000)
    return Heard(line.text, line.end, round(line.gap * 1000), line.dropped, said, pace_ms=pace)


def surroundings(columns: int, rows: int, environ: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The answer to the query `terminal`: size in cells, TERM, the encoding that is drawn with, and colours."""
    env = os.environ if environ is None else environ
    encoding = "UTF-8" if speaks_utf8(env) else "ASCII"
    term = env.get("TERM", "")
    return {"columns": columns, "rows": rows, "term": term, "encoding": encoding, "colours": colours(env)}


def colours(environ: Mapping[str, str]) -> int:
    """How many colours this kind of terminal has; 0 for none, and where nobody knows it."""
    import curses

    if environ.get("COLORTERM", "") in ("truecolor", "24bit"):
        return TRUE_COLOUR
    try:
        curses.setupterm(environ.get("TERM") or "unknown", 1)
        return max(0, curses.tigetnum("colors"))
    except curses.error:
        return 0
