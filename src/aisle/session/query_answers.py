"""For jobs that listen: inputs as they came, and the terminal that they came from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from aisle.cache.reader import CacheReader
from aisle.jobs.job import Export, Query, RawInput, Rows
from aisle.jobs.view import TRUE_COLOUR
from aisle.scan.inputs import Line
from aisle.scan.meaning import Meaning
from aisle.session.job_stack import MessageText, answer_words
from aisle.session.profile import Profile, ScreenSize
from aisle.text import supports_utf8


def raw_input(line: Line, meaning: Meaning) -> RawInput:
    """A line with all that the decoder knows of it, and what it would mean."""
    pace = round(line.median_pause * 1000)
    return RawInput(line.text, line.terminator, round(line.longest_pause * 1000), line.dropped, meaning, pace_ms=pace)


def terminal_properties(columns: int, rows: int, environ: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The answer to the query `terminal`: size in cells, TERM, the encoding that is drawn with, and colours."""
    env = os.environ if environ is None else environ
    encoding = "UTF-8" if supports_utf8(env) else "ASCII"
    term = env.get("TERM", "")
    return {"columns": columns, "rows": rows, "term": term, "encoding": encoding, "colours": colour_count(env)}


def colour_count(environ: Mapping[str, str]) -> int:
    """How many colours this kind of terminal has; 0 for none, and where nobody knows it."""
    import curses

    if environ.get("COLORTERM", "") in ("truecolor", "24bit"):
        return TRUE_COLOUR
    try:
        curses.setupterm(environ.get("TERM") or "unknown", 1)
        return max(0, curses.tigetnum("colors"))
    except curses.error:
        return 0


def answer_query(
    query: Query | Export,
    reader: CacheReader,
    profile: Profile,
    screen_size: ScreenSize,
    message_text: MessageText | None,
) -> Rows:
    """The rows that were asked for. `say` is what messages say, where somebody knows it."""
    if isinstance(query, Export):
        from aisle.cache.csv_export import write_csv  # not every day, and no start pays for it

        return write_csv(reader.query, query, allowed=profile.may_export)
    if query.name == "file":
        from aisle.cache.csv_export import check_export_file

        return check_export_file(query, allowed=profile.may_export)
    if query.name == "terminal":
        return Rows(query.id, (terminal_properties(*screen_size),), 1)
    if query.name == "message_texts":
        return answer_words(query, profile.language, message_text)
    rows, total, partly = reader.query_window(query.name, query.args)
    return Rows(query.id, tuple(rows), total, partly)
