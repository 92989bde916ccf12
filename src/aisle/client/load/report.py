"""What a load says about itself: progress while it runs, a report at its end, an error when it cannot go on."""

from __future__ import annotations

from aisle.errors import AisleError
from aisle.text import clean
from aisle.tuples import NamedTuple


class LoadError(AisleError):
    """The load cannot start or cannot go on; says which file or answer, why, and what to do."""


class BadRow(NamedTuple):
    """A row that was not loaded. `line` is where it begins in the file, the header being line 1."""

    file: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {clean(self.reason)}"


class Progress(NamedTuple):
    """How far the load has come in one file: rows dealt with, and bytes read of all its bytes."""

    file: str
    rows: int
    bytes_done: int
    bytes_total: int


class FileReport(NamedTuple):
    """What became of one file: its rows, those of them that were loaded, and how many records these made.

    Rows and records differ where several rows make one order or one count. `earlier_rows` of the loaded ones had been
    loaded before, so that this time nothing was changed by them.
    """

    file: str
    rows: int
    loaded_rows: int
    records: int
    earlier_rows: int = 0


class LoadReport(NamedTuple):
    """The result of a load: a report for each file that was there, the bad rows, and CSV files with unknown names.

    `stopped` says that a strict load ended at its first bad row; nothing after that row was sent.
    """

    files: tuple[FileReport, ...]
    bad: tuple[BadRow, ...]
    unknown_files: tuple[str, ...] = ()
    stopped: bool = False

    @property
    def ok(self) -> bool:
        """Whether every row of every file was loaded."""
        return not self.bad

    def lines(self) -> list[str]:
        """The report as plain lines for a person: the files, then the bad rows, then what to do."""
        lines = [_file_line(file) for file in self.files]
        lines += [f"{clean(name)}: not read, because no file of a load has this name." for name in self.unknown_files]
        lines += [str(row) for row in self.bad]
        if self.stopped:
            lines.append("Stopped at the first bad row, as asked. What comes before it may have been loaded.")
        if self.bad:
            lines.append("Correct the rows named above and load again: what is loaded already is not loaded twice.")
        return lines


def _file_line(file: FileReport) -> str:
    records = "" if file.records == file.loaded_rows else f" as {file.records} records"
    earlier = f"; {file.earlier_rows} of them by an earlier load, unchanged" if file.earlier_rows else ""
    return f"{file.file}: {file.loaded_rows} of {file.rows} rows loaded{records}{earlier}."
