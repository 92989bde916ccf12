"""Export of a query's rows as a CSV file, and how files for people are written."""

from __future__ import annotations

import csv
import errno
import io
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from aisle.jobs.job import Args, Export, Json, Query, Rows, format_number
from aisle.terminal_text import clean

MAX_ROWS = 100_000
"""Greatest number of rows in a file; spreadsheets take hardly more."""

PAGE_ROWS = 1000
"""Rows in memory at once."""

_FORMULA_SIGNS = "=+\\-@＝＋－＠﹦﹢﹣﹫⁺⁻⁼₊₋₌−"
"""Signs that start a formula in a spreadsheet, with the wide, small and raised forms that a spreadsheet converts."""
_CELL_START = re.compile(f"""((?:^|[;|])[\\s"'‘’“”]*)(?=[{_FORMULA_SIGNS}])""")
"""Positions at which a spreadsheet may start a cell, after blanks and quotes. Some split at semicolons or bars."""

MESSAGE_BY_ERRNO: Mapping[int, str] = {
    errno.EEXIST: "log.file_exists",
    errno.EISDIR: "log.file_exists",
    errno.ELOOP: "log.file_exists",
    errno.ENOENT: "log.why_folder",
    errno.ENOTDIR: "log.why_folder",
    errno.EACCES: "log.why_denied",
    errno.EPERM: "log.why_denied",
    errno.EROFS: "log.why_denied",
    errno.ENOSPC: "log.why_full",
    errno.EDQUOT: "log.why_full",
    errno.ENAMETOOLONG: "log.why_name",
}
"""Message ids of system errors."""

RunQuery = Callable[[str, Args], tuple[Sequence[Json], int]]


def check_export_file(query: Query, *, allowed: bool) -> Rows:
    """Return the absolute path of the `file` that a person names, and `why` it cannot be written, as far as known."""
    file = str(query.args["file"])
    if not allowed:
        return file_answer(query.id, file, 0, "log.files_forbidden")
    try:
        path = _csv_path(file)
        exists = _exists(path)
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: "~name" is no user
        return file_answer(query.id, file, 0, _error_message(error))
    if exists:
        return file_answer(query.id, str(path), 0, "log.file_exists")
    return file_answer(query.id, str(path), 0, "" if os.access(path.parent, os.W_OK | os.X_OK) else "log.why_denied")


def _exists(path: Path) -> bool:
    """Return True if the name exists, even as a dangling link. Raise OSError if its folder cannot be read."""
    path.parent.stat()
    try:
        path.lstat()
    except FileNotFoundError:
        return False
    return True


def write_csv(run_query: RunQuery, export: Export, *, allowed: bool) -> Rows:
    """Write the file. Return its path and the number of rows in it, or `why` there is none.

    An existing file is never overwritten. A file that could not be finished is deleted: all rows or none.
    """
    if not allowed:
        return file_answer(export.id, export.file, 0, "log.files_forbidden")
    first, total = run_query(export.name, {**export.args, "first": 0, "size": PAGE_ROWS})
    if total > MAX_ROWS:
        return file_answer(export.id, export.file, total, "log.too_many_rows")
    return write_file(export.id, export.file, _csv_lines(run_query, export, first), total)


def _csv_lines(run_query: RunQuery, export: Export, first: Sequence[Json]) -> Iterator[str]:
    yield csv_line(export.columns)
    for page in _read_pages(run_query, export, first):
        yield from (csv_line(row.get(column) for column in export.columns) for row in page)


def write_file(request_id: str, file: str, lines: Iterable[str], total: int) -> Rows:
    """Write a new file with these lines of `total` rows. Return its path, or `why` there is none.

    An existing file is never overwritten. A file that could not be finished is deleted: all rows or none.
    """
    try:
        path = _csv_path(file)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except (OSError, ValueError, RuntimeError) as error:
        return file_answer(request_id, file, 0, _error_message(error))
    try:
        with open(handle, "w", encoding="utf-8", newline="") as stream:
            stream.writelines(lines)
    except BaseException as error:
        path.unlink(missing_ok=True)
        if not isinstance(error, OSError):
            raise
        return file_answer(request_id, str(path), 0, _error_message(error))
    return file_answer(request_id, str(path), total, "")


def csv_line(values: Iterable[Any]) -> str:
    """Return a line of a CSV file with these values."""
    line = io.StringIO()
    csv.writer(line).writerow([format_cell(value) for value in values])
    return line.getvalue()


def _read_pages(run_query: RunQuery, export: Export, page: Sequence[Json]) -> Iterator[Sequence[Json]]:
    """Yield the pages, each from the last row of the one before, so that new rows shift nothing."""
    yield page
    while len(page) == PAGE_ROWS:
        after = {"key": page[-1]["key"], "at": page[-1]["at"]}
        page, _ = run_query(export.name, {**export.args, "first": 0, "size": PAGE_ROWS, "past": after})
        yield page


def _csv_path(file: str) -> Path:
    path = Path(file).expanduser()
    return (path if path.suffix else path.with_suffix(".csv")).absolute()


def _error_message(error: Exception) -> str:
    """Return the message id of an error. An error that is not of the system comes from the file's name."""
    return MESSAGE_BY_ERRNO.get(error.errno or 0, "log.why_disk") if isinstance(error, OSError) else "log.why_name"


def file_answer(request_id: str, file: str, count: int, error: str) -> Rows:
    """Return what became of a file, for the job that asked for it."""
    return Rows(request_id, ({"file": file, "count": count, "why": error},), 1)


def format_cell(value: Any) -> str:
    """Format a value as text without control characters and without anything that a spreadsheet would execute."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | Decimal):
        return format_number(Decimal(value))
    text = clean(str(value))
    return _CELL_START.sub(r"\1'", text)
