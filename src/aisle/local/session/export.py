"""Rows of a named read as a CSV file that somebody has named. It is the one thing that a session writes for people."""

from __future__ import annotations

import csv
import errno
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from aisle.jobs.base import Export, Query, Rows, whole
from aisle.text import clean

MOST = 100_000
"""Rows of a file at most; a spreadsheet takes hardly more."""

PAGE = 1000
"""Rows that are in the memory at once."""

_FORMULAS = "=+\\-@＝＋－＠﹦﹢﹣﹫⁺⁻⁼₊₋₌−"
"""What a spreadsheet takes for the beginning of a formula, or makes of such a sign: wide, small, raised ones too."""
_BEGUN = re.compile(f"""((?:^|[;|])[\\s"'‘’“”]*)(?=[{_FORMULAS}])""")
"""Where a spreadsheet may see a cell begin, blanks and quotes passed over: one that expects semicolons does at each."""

WHY: Mapping[int, str] = {
    errno.EEXIST: "logs.why_there",
    errno.EISDIR: "logs.why_there",
    errno.ELOOP: "logs.why_there",
    errno.ENOENT: "logs.why_folder",
    errno.ENOTDIR: "logs.why_folder",
    errno.EACCES: "logs.why_denied",
    errno.EPERM: "logs.why_denied",
    errno.EROFS: "logs.why_denied",
    errno.ENOSPC: "logs.why_full",
    errno.EDQUOT: "logs.why_full",
    errno.ENAMETOOLONG: "logs.why_name",
}
"""What an error of the system is called, as a message's id."""

Read = Callable[[str, Mapping[str, Any]], tuple[Sequence[Mapping[str, Any]], int]]


def named(asked: Query, *, allowed: bool) -> Rows:
    """The whole path of the `file` that somebody names, and `why` it cannot be written, as far as can be told."""
    file = str(asked.args["file"])
    if not allowed:
        return _said(asked, file, 0, "logs.why_here")
    try:
        path = _path(file)
        there = _is_there(path)
    except (OSError, ValueError, RuntimeError) as error:  # the last where "~name" names nobody
        return _said(asked, file, 0, _why(error))
    if there:
        return _said(asked, str(path), 0, "logs.why_there")
    return _said(asked, str(path), 0, "" if os.access(path.parent, os.W_OK | os.X_OK) else "logs.why_denied")


def _is_there(path: Path) -> bool:
    """Whether there is anything of this name, were it a link to nowhere; raises OSError where nothing can be."""
    path.parent.stat()
    try:
        path.lstat()
    except FileNotFoundError:
        return False
    return True


def exported(read: Read, asked: Export, *, allowed: bool) -> Rows:
    """Writes the file and says its path and how many rows are in it, or `why` there is none.

    A file that is there is never written over; one that could not be finished is taken away. All rows or none.
    """
    if not allowed:
        return _said(asked, asked.file, 0, "logs.why_here")
    first, total = read(asked.name, {**asked.args, "first": 0, "size": PAGE})
    if total > MOST:
        return _said(asked, asked.file, total, "logs.why_many")
    try:
        path = _path(asked.file)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except (OSError, ValueError, RuntimeError) as error:
        return _said(asked, asked.file, 0, _why(error))
    count = 0
    try:
        with open(handle, "w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(asked.columns)
            for page in _pages(read, asked, first):
                writer.writerows([cell(row.get(column)) for column in asked.columns] for row in page)
                count += len(page)
    except BaseException as error:
        path.unlink(missing_ok=True)
        if not isinstance(error, OSError):
            raise
        return _said(asked, str(path), 0, _why(error))
    return _said(asked, str(path), count, "")


def _pages(read: Read, asked: Export, page: Sequence[Mapping[str, Any]]) -> Iterator[Sequence[Mapping[str, Any]]]:
    """Page by page, each after the last row of the one before: what is new meanwhile moves nothing."""
    yield page
    while len(page) == PAGE:
        past = {"key": page[-1]["key"], "at": page[-1]["at"]}
        page, _ = read(asked.name, {**asked.args, "first": 0, "size": PAGE, "past": past})
        yield page


def _path(file: str) -> Path:
    path = Path(file).expanduser()
    return (path if path.suffix else path.with_suffix(".csv")).absolute()


def _why(error: Exception) -> str:
    """What went wrong, as a message's id; what is no error of the system comes of the name."""
    return WHY.get(error.errno or 0, "logs.why_disk") if isinstance(error, OSError) else "logs.why_name"


def _said(asked: Export | Query, file: str, count: int, why: str) -> Rows:
    return Rows(asked.id, ({"file": file, "count": count, "why": why},), 1)


def cell(value: Any) -> str:
    """A value as text: no control characters, and nothing that a spreadsheet would carry out."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | Decimal):
        return whole(Decimal(value))
    text = clean(str(value))
    return _BEGUN.sub(r"\1'", text)
