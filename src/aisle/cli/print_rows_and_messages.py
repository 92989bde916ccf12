"""Output for operators: rows as a table or lines of JSON, and stored messages as English text."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from aisle.jobs.names_in_messages import list_name as list_message
from aisle.outbox.operation_record import DUPLICATE_KEY
from aisle.stored_messages import DETAIL_ARGUMENT, read_message
from aisle.terminal_text import clean, fit, width
from aisle.tui.message_text import MessageWriter

if TYPE_CHECKING:
    from aisle.courier.pull.full_sync_stages_and_progress import SyncProgress


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


def reason_text(text: str) -> str:
    """Return a stored message as a sentence, with its technical detail; text of the service is unchanged."""
    message = read_message(text)
    detail = str(dict(message.args).get(DETAIL_ARGUMENT) or "")
    sentence = MessageWriter().write(message)
    return f"{sentence} ({MessageWriter().clean_text(detail)})" if detail else sentence


def unread_lists(progress: SyncProgress) -> Iterator[tuple[str, str]]:
    """Return the lists that could not be read completely, with the reasons."""
    for name in progress.missing:
        yield list_name(name), reason_text(progress.reason_of(name))


def unusable_rows(progress: SyncProgress) -> Iterator[tuple[str, int, str]]:
    """Return the lists with unusable rows, their number, and an invalid field of one of them."""
    for left in progress.left_out:
        if left.reason != DUPLICATE_KEY:
            yield list_name(left.list_name), left.rows, left.reason


def repeated_rows(progress: SyncProgress) -> Iterator[tuple[str, int]]:
    """Return the lists with duplicate rows, and their number."""
    for left in progress.left_out:
        if left.reason == DUPLICATE_KEY:
            yield list_name(left.list_name), left.rows


def list_name(name: str) -> str:
    """Return the display name of a list."""
    return MessageWriter().write(list_message(name))
