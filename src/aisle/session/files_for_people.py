"""Files for people: exported lists and tables on paper, written on the host or offered as a download."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from aisle.cache.reader import CacheReader
from aisle.cache.write_csv_file import MAX_ROWS, PAGE_ROWS, csv_line, file_answer, write_file
from aisle.jobs.job import ExportList, PrintTable, Rows
from aisle.jobs.store_time import to_local_text
from aisle.jobs.view import Msg
from aisle.session.profile import Profile
from aisle.session.terminal_screen_and_keys import Terminal
from aisle.terminal_text import clean, fit, width, wrap

_FORBIDDEN: Final = "log.files_forbidden"
_NUMBER_IDS: Final = ("number", "money")
_TIME_IDS: Final = ("moment", "moment.late", "log.at_time")
"""Ids of the messages that are numbers and times; a file has them in the form that spreadsheets read."""

_UNUSUAL: Final = re.compile(r"[^A-Za-z0-9._-]")
"""Characters that a name of a file has not."""

PAPER_CELLS: Final = 80
"""Characters of a line on paper."""

GAP: Final = 2
"""Blanks between columns."""

MIN_LAST_CELLS, MAX_LAST_LINES = 24, 3
"""Least width of the last column, and most lines of it."""

Text = Callable[[Msg], str]


def export_list(export: ExportList, reader: CacheReader, profile: Profile, terminal: Terminal, at: float) -> Rows:
    """Write all rows of a list. Return the path and the number of rows, or `why` there is no file."""
    with reader.one_moment():
        _, total = reader.query(export.query.name, {**export.query.args, "first": 0, "size": 0})
        if total > MAX_ROWS:
            return file_answer(export.id, export.name, total, "log.too_many_rows")
        lines = _csv_lines(export, reader, text_writer(profile, terminal))
        return deliver(export.id, f"{export.name}-{_stamp(at)}.csv", lines, total, profile, terminal)


def print_table(table: PrintTable, profile: Profile, terminal: Terminal, at: float) -> Rows:
    """Write a table on paper. Return the path and the number of rows, or `why` there is no file."""
    text = text_writer(profile, terminal)
    notes = [f"{text(note)}\n" for note in table.notes]
    cells = [[clean(text(cell)) for cell in row] for row in (table.heads, *table.rows)]
    widths = [max(map(width, column)) for column in zip(*cells, strict=True)]
    space = max(MIN_LAST_CELLS, PAPER_CELLS - sum(widths[:-1]) - GAP * (len(widths) - 1))
    head, *rows = ("".join(_paper_lines(row, widths[:-1], space)) for row in cells)
    rule = f"{'-' * PAPER_CELLS}\n"
    name = f"{table.name}-{_stamp(at)}.txt"
    answer = deliver(table.id, name, [*notes, "\n", head, rule, *rows], len(table.rows), profile, terminal)
    return answer._replace(rows=tuple({**row, "done": table.done} for row in answer.rows))


def _paper_lines(row: Sequence[str], widths: Sequence[int], space: int) -> Iterator[str]:
    """Yield the lines of a row. The further lines of the last column stand below its first one."""
    left = [fit(cell, cells, pad=True) + " " * GAP for cell, cells in zip(row, widths, strict=False)]
    for line in wrap(row[-1], space, MAX_LAST_LINES) or [""]:
        yield f"{''.join(left)}{line}".rstrip() + "\n"
        left = [" " * width(cell) for cell in left]


def deliver(request_id: str, name: str, lines: Iterable[str], count: int, profile: Profile, terminal: Terminal) -> Rows:
    """Offer a file as a download if the terminal can, else write it to the account's home folder."""
    name = _UNUSUAL.sub("_", name)
    if terminal.offer_file:
        is_taken = terminal.offer_file(name, "".join(lines).encode())
        return file_answer(request_id, name, count, "" if is_taken else "log.why_unread")
    if not profile.may_export:
        return file_answer(request_id, name, 0, _FORBIDDEN)
    return write_file(request_id, f"~/{name}", lines, count)


def text_writer(profile: Profile, terminal: Terminal) -> Text:
    """Return the function that writes messages in the language of the screen, in full length."""
    write = terminal.full_text
    return lambda message: write(message, profile.language) if write else message.id


def _stamp(at: float) -> str:
    return datetime.fromtimestamp(at).astimezone().strftime("%Y%m%d-%H%M%S")


def _csv_lines(export: ExportList, reader: CacheReader, text: Text) -> Iterator[str]:
    yield csv_line(text(head) for head in export.heads)
    first, rows = 0, None
    while rows is None or len(rows) == PAGE_ROWS:
        args = {**export.query.args, "first": first, "size": PAGE_ROWS}
        rows, _ = reader.query(export.query.name, args)
        first += len(rows)
        for cells in export.cells(tuple(rows)):
            yield csv_line(cell_value(cell, text) for cell in cells)


def cell_value(cell: Msg, text: Text) -> Any:
    """Return a cell as a spreadsheet reads it: numbers without units, times as ISO 8601, else the text."""
    values = dict(cell.args)
    value = values.get("value")
    if cell.id in _NUMBER_IDS and isinstance(value, int | Decimal):
        return value
    if cell.id == "count.signed" and not isinstance(value, str):
        number = cell_value(value, text) if isinstance(value, Msg) else value
        return -number if isinstance(number, int | Decimal) and values["sign"] == "-" else number
    if cell.id in _TIME_IDS:
        return to_local_text(str(values["at"]))
    return text(cell)
