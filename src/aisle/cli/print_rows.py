"""Rows on standard output, as a table or as lines of JSON, without characters that control a terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence

from aisle.safe_text import clean
from aisle.text_cells import fit, width

_PIECE = 64 << 10
"""Characters that are escaped and written at once."""
_MAX_CELLS = 48
"""Widest column of a table."""


def print_table(heads: Sequence[str], rows: Iterable[Sequence[str]], none: str = "Nothing.") -> None:
    """Print a table with columns as wide as their widest cell, or `none` if it has no rows."""
    cells = [tuple(clean(cell) for cell in row) for row in rows]
    if not cells:
        print(none)
        return
    widths = [min(_MAX_CELLS, max(width(row[index]) for row in (heads, *cells))) for index in range(len(heads))]
    for row in (heads, *cells):
        print("  ".join(fit(cell, size, pad=True) for cell, size in zip(row, widths, strict=True)).rstrip())


def print_json_rows(rows: Iterable[object]) -> None:
    """Print each row as a line of JSON."""
    for row in rows:
        write_json(json.dumps(row, ensure_ascii=sys.stdout.isatty()))


def write_json(text: str) -> None:
    """Write JSON and a line break, in pieces: a character that is escaped takes many times as much memory."""
    for start in range(0, len(text), _PIECE):
        sys.stdout.write(escape_control_characters(text[start : start + _PIECE]))
    sys.stdout.write("\n")


def escape_control_characters(text: str) -> str:
    """Return the JSON text with non-printable characters escaped, so that it cannot control a terminal."""
    lines = text.split("\n")
    return text if all(map(str.isprintable, lines)) else "\n".join(map(_escape_line, lines))


def _escape_line(line: str) -> str:
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in line).replace("\x7f", "\\u007f")
