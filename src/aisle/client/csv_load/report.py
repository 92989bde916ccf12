"""Progress, report and errors of a load, and their text for a person."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from aisle.client.csv_load.file_layouts_and_columns import LAYOUTS
from aisle.errors import AisleError
from aisle.terminal_text import MAX_LENGTH, REPLACEMENT, clean, end_sentence

BECOMES = "and becomes"
"""Words of warnings that say what a row does."""
TAKES_AWAY = "and takes away"
"""Words of warnings that say what a row removes."""
BELOW_ZERO = "is below 0"
"""Words of warnings that a service may also refuse the row for."""
FROM_PRICE_BEFORE = "times the one before, or as much below it"
"""Words of warnings on a price that is not taken if the row is refused."""
FROM_PRICE = "times the price, or as much below it"
"""Words of warnings on another price, or the price of a line, beside that of the product."""
STAYS = ", and stay there"
"""Words of warnings that are all listed, however many there are."""
REASON_LENGTH = 4 * MAX_LENGTH
"""Greatest number of characters of a bad row's reason, which may name many values."""


class ListLimits(NamedTuple):
    """Numbers of rows of one kind that are listed singly, of row ranges, and of stores that a report names.

    Of further rows of the kind, the ranges are named.
    """

    rows: int
    ranges: int
    stores: int


SHORT = ListLimits(20, 30, 10)
"""Limits of the report on the screen."""
WHOLE = ListLimits(sys.maxsize, sys.maxsize, sys.maxsize)
"""Limits of the report in a file, which names each row."""


class LoadError(AisleError):
    """Failure of a load that cannot start or continue; names the file or response, the reason and the remedy."""


def unread_error(what: str, error: Exception) -> LoadError:
    """Return the failure of a load that needs what the service does not answer."""
    return LoadError(f"{what} cannot be read: {error} Load again later: it goes on, and doubles nothing.")


class BadRow(NamedTuple):
    """Row that was not loaded. `line` is its first line in the file; the header is line 1.

    `kind` is what rows refused for the same reason have in common; by default it is derived from the reason.
    """

    file: str
    line: int
    reason: str
    kind: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {_shown(self.reason, REASON_LENGTH)}"


_ESCAPED_BLANKS = re.compile(r"(?<!\\)\\(?:xa0|u2007|u202f)")
"""Blanks of a number or code that `repr` writes as escapes."""
_ESCAPED_SURROGATE = re.compile(r"(?<!\\)\\ud[89a-f][0-9a-f]{2}")
"""Byte of another encoding, as `repr` writes it."""


def _shown(text: str, limit: int = MAX_LENGTH) -> str:
    """Return text for a person, cleaned, with blanks in quoted cells as a spreadsheet shows them."""
    return clean(_ESCAPED_SURROGATE.sub(REPLACEMENT, _ESCAPED_BLANKS.sub(" ", text)), limit)


def _reason_kind(row: BadRow) -> str:
    """Return the reason without quoted values and row numbers."""
    return row.kind or _ROW_SPECIFIC_TEXT.sub(_ELLIPSIS, row.reason)


_ROW_SPECIFIC_TEXT = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"|(?<=row )\d+|\b\d[\d.,-]*(?=\W|$)")
_ELLIPSIS = "…"


def format_bad_rows(bad: Iterable[BadRow], limits: ListLimits = SHORT) -> Iterator[str]:
    """Yield the bad rows as lines: of each file and kind the first ones singly, of further ones the row numbers."""
    shown: dict[tuple[str, str], int] = {}
    rest: dict[tuple[str, str], list[int]] = {}
    for row in bad:
        key = row.file, _reason_kind(row)
        shown[key] = shown.get(key, 0) + 1
        if shown[key] <= limits.rows:
            yield str(row)
        else:
            rest.setdefault(key, []).append(row.line)
    for (file, kind), lines in rest.items():
        if len(lines) == 1:
            yield f"{file}: {_shown(kind)} (in row {lines[0]} too)"
        else:
            yield f"{file}: {_shown(kind)} (in {format_rows(lines).replace(' (', ' too: ').removesuffix(')')})"


WORKED_ON = "worked on"
"""State of an order of which only work changed what the file names."""
_NOTHING_TWICE = "nothing is doubled, no stock is counted twice"
_COUNTED_ANEW = "with --recount, each row of stock.csv is counted anew"
_AFTER_INTERRUPTION = f"The last load of these files was cut off; this one goes on: {_NOTHING_TWICE}."
_RECOUNT_GOES_ON = (
    "The last recount of these files was cut off; this one goes on: what it had counted is not counted again, and what"
    " others counted since is named (to count all rows anew, load with --recount once more after its end)."
)
_RECOUNT_UNFINISHED = (
    "The last recount of this stock.csv was cut off, and a load without --recount does not finish it: the rows that it"
    " had not reached were not counted again. To finish it, load again with --recount."
)
_BAD_ROWS = f"Correct the rows named above and load again: {_NOTHING_TWICE}."
_BAD_OF_RECOUNT = (
    "Correct the rows named above, and load again. With --recount, load all rows of their products alone: it counts"
    " each row anew, also those that are right, and goods that were moved elsewhere since would be there twice."
)


class LoadProgress(NamedTuple):
    """Progress of a load in one file: rows handled, bytes read, and bytes in total."""

    file: str
    rows: int
    bytes_done: int
    bytes_total: int


class NotLoaded(NamedTuple):
    """Refused rows of a file, the last loaded row, after which none is loaded, and names of records not loaded."""

    lines: Collection[int] = ()
    last_line: int = sys.maxsize
    names: Collection[str] = ()

    def has(self, line: int) -> bool:
        """Return True if a row is not loaded."""
        return line in self.lines or line > self.last_line


_ALL_LOADED = NotLoaded()


class Finding(NamedTuple):
    """Finding on a row that is loaded all the same, with the value that shows it.

    It is only true if the row `loaded` (0 for none) and the record `beside` are loaded, and rows `refused` are not.
    """

    kind: str
    line: int
    value: str
    beside: str = ""
    loaded: int = 0
    refused: Collection[int] = ()

    def is_true(self, missing: NotLoaded) -> bool:
        """Return True if the finding is true at the end of a load, and says more than a refusal of its row."""
        is_of_refused = self.line in missing.lines and (
            BECOMES in self.kind
            or TAKES_AWAY in self.kind
            or self.kind.endswith((BELOW_ZERO, FROM_PRICE_BEFORE, FROM_PRICE))
        )
        is_beside = bool(self.beside) and self.beside in missing.names
        return not (is_of_refused or is_beside or missing.has(self.loaded)) and all(map(missing.has, self.refused))


class FileNotes:
    """Assumptions about a file, changes of its cells, and findings on loaded rows."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._assumptions: list[str] = []
        self._changes: dict[str, list[int]] = {}
        self._findings: dict[str, list[Finding]] = {}
        self._file_warnings: list[str] = []
        self._remarks: dict[str, None] = {}
        self._field_changes: dict[str, tuple[int, str]] = {}

    def add_assumption(self, text: str) -> None:
        """Add an assumption about the whole file."""
        self._assumptions.append(text)

    def add_remark(self, text: str) -> None:
        """Add what is true of the whole file, once."""
        self._remarks[text] = None

    def add_field_change(self, field: str, count: int, first: str) -> None:
        """Add the number of records whose field the load changed, with the values of the first, if they are known."""
        before, kept = self._field_changes.get(field, (0, first))
        self._field_changes[field] = before + count, kept or first

    def add_change(self, text: str, line: int) -> None:
        """Add a change in a row."""
        self._changes.setdefault(text, []).append(line)

    def add_warning(
        self, text: str, value: str, line: int, *, beside: str = "", loaded: int = 0, refused: Collection[int] = ()
    ) -> None:
        """Add a finding on a row; on what it depends is said in `Finding`."""
        self._findings.setdefault(text, []).append(Finding(text, line, value, beside, loaded, refused))

    def remove_warning(self, text: str, line: int) -> None:
        """Remove the findings of one kind on a row, which is not loaded after all."""
        self._findings[text] = [one for one in self._findings.get(text, ()) if one.line != line]

    def add_file_warning(self, text: str) -> None:
        """Add a warning on the whole file."""
        self._file_warnings.append(text)

    def lines(self, missing: NotLoaded = _ALL_LOADED, limits: ListLimits = SHORT) -> Iterator[str]:
        """Yield the notes as lines: on the file, on fields that were changed, on changes of cells, then on rows."""
        if self._assumptions:
            yield f"{self.file}: read with {', '.join(map(_shown, self._assumptions))}."
        for what in self._remarks:
            yield f"{self.file}: {end_sentence(_shown(what))}"
        for what in self._file_warnings:
            yield f"{self.file}: warning: {end_sentence(_shown(what))}"
        for name, (count, first) in self._field_changes.items():
            records = "1 record" if count == 1 else f"{count} records, in the first"
            if first:
                yield f"{self.file}: {_shown(f'{name} changed in {records}: {first}')}."
        if others := [f"{name} ({count})" for name, (count, first) in self._field_changes.items() if not first]:
            yield f"{self.file}: changed too, in so many records: {', '.join(map(clean, others))}."
        for what, lines in self._changes.items():
            yield f"{self.file}: changed in {format_rows(lines, limits)}: {clean(what)}."
        for what, found in self._findings.items():
            ordered = sorted((one.line, one.value) for one in found if one.is_true(missing))
            shown = len(ordered) if what.endswith(STAYS) else limits.rows
            for line, value in ordered[:shown]:
                yield f"{self.file}:{line}: warning: {clean(what)}: {_shown(value)}."
            if rest := [line for line, _ in ordered[shown:]]:
                yield f"{self.file}: warning: {clean(what)} in {format_rows(rest)} too."


def first_of(texts: Sequence[str], most: int) -> str:
    """Return texts in a row: the first ones, and how many more there are."""
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return f"{', '.join(texts[:most])}{more}"


def format_rows(lines: Iterable[int], limits: ListLimits = SHORT) -> str:
    """Return rows as text: `row 3`, `4 rows (3, 7-9)`."""
    ordered = sorted(set(lines))
    spans: list[list[int]] = []
    for line in ordered:
        if spans and line == spans[-1][1] + 1:
            spans[-1][1] = line
        else:
            spans.append([line, line])
    if len(ordered) == 1:
        return f"row {ordered[0]}"
    listed = ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in spans[: limits.ranges])
    more = " and more" if len(spans) > limits.ranges else ""
    return f"{len(ordered)} rows ({listed}{more})"


class FileReport(NamedTuple):
    """Result of one file: its rows, those that were loaded, and the records made of them.

    Rows and records differ if several rows make one order or count. `already_loaded_rows` were loaded before
    at the same place, and not counted again. `notes` are lines on assumptions, changes and warnings, `whole_notes`
    those that name each row.
    """

    file: str
    rows: int
    loaded_rows: int
    records: int
    already_loaded_rows: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    whole_notes: tuple[str, ...] = ()
    stores: tuple[str, ...] = ()
    """Stores of the loaded rows."""
    rows_left: int = 0
    """Rows that were left out, and are not what the service has."""
    unchanged_rows: int = 0
    """Rows whose stock was loaded before with the same figure."""
    states: Mapping[str, int] = {}
    """Records that were new, changed, the same, and worked on in the service before; empty if it does not say."""

    held_rows: tuple[int, ...] = ()
    """Rows of which a field waits for a refused row of another file."""
    replaced_rows: tuple[int, ...] = ()
    """Rows of which another file of the load has a field with another value, or in a refused row."""
    unknown_lines: tuple[int, ...] = ()
    """Rows that were sent without an answer, so that nobody knows whether they were loaded."""
    is_read: bool = True
    """False if the load ended before all rows of the file were read."""
    loaded_lines: tuple[int, ...] = ()
    """Rows that were loaded, if the load ended before all rows of the file were read."""

    @property
    def is_left(self) -> bool:
        """True if the service had all records of the loaded rows before, and they are left as they were."""
        return bool(self.records) and self.states.get("same", 0) + self.states.get(WORKED_ON, 0) == self.records


class Meanwhile(NamedTuple):
    """Events at the service during a load that no response shows."""

    lost: tuple[str, ...] = ()
    """Files of which the service lost accepted rows again, because it was restored from an earlier copy."""
    has_other_loads: bool = False
    """True if another load wrote to the chain or to a store of this one."""
    unasked: str = ""
    """Reason for which that could not be checked."""
    hidden: tuple[str, ...] = ()
    """Files of whose rows nothing is known, because the service shows their store no more."""
    hidden_stores: tuple[str, ...] = ()

    @property
    def is_undone(self) -> bool:
        """True if something that was loaded may be gone or replaced."""
        return bool(self.lost) or bool(self.hidden) or self.has_other_loads

    def joined(self, other: Meanwhile) -> Meanwhile:
        """Return the events of this and another part of the service."""
        return Meanwhile(
            tuple(dict.fromkeys(self.lost + other.lost)),
            self.has_other_loads or other.has_other_loads,
            self.unasked or other.unasked,
            tuple(dict.fromkeys(self.hidden + other.hidden)),
            self.hidden_stores + other.hidden_stores,
        )

    def lines(self, again: str) -> list[str]:
        """Return what happened, and what to do, as lines of the report. `again` is what another load does."""
        lines = []
        if self.lost:
            lines.append(
                "The service was put back from an earlier copy while this load ran: what it had taken of"
                f" {', '.join(map(clean, self.lost))} is gone again, or some of it. Load again: {again}."
            )
        if self.hidden:
            word = "stores" if len(self.hidden_stores) != 1 else "store"
            stores = f"{word} {clean(first_of(self.hidden_stores, SHORT.stores))}".rstrip()
            lines.append(
                f"The service no longer shows {stores} to this token, so whether it still has what it took of"
                f" {', '.join(map(clean, self.hidden))} is unknown: it may have been put back from an earlier copy"
                f" while this load ran. If the token may still use the store, load again: {again}."
            )
        if self.has_other_loads:
            lines.append(
                "Another load wrote into this service while this one ran, so prices, names and other fields may be of"
                f" either. Load again when no other load runs: {again}."
            )
        if self.unasked:
            lines.append(
                f"Whether the service still has what it took could not be asked: {end_sentence(clean(self.unasked))}"
            )
        return lines


class LoadReport(NamedTuple):
    """Result of a load: a report for each file, the bad rows, and files that no load reads.

    `stopped` is True if a strict load ended at its first bad row; nothing after that row was sent. `resumed` is True if
    the last load of these files was interrupted.
    """

    files: tuple[FileReport, ...]
    bad: tuple[BadRow, ...]
    unknown_files: tuple[str, ...] = ()
    stopped: bool = False
    resumed: bool = False
    service_name: str = ""
    """Name of the service, for a person."""
    meanwhile: Meanwhile = Meanwhile()
    is_recount: bool = False
    has_unfinished_recount: bool = False
    """True if the last recount of the stock was cut off, and this load is none."""

    @property
    def is_complete(self) -> bool:
        """True if no row was refused, and all that was loaded is still there."""
        return not self.bad and not self.meanwhile.is_undone

    @property
    def is_all_loaded(self) -> bool:
        """True if every row of every CSV file was loaded, now or before with the same figure, and is still there."""
        is_read = not any(map(_is_missed, self.unknown_files))
        return self.is_complete and is_read and not any(file.rows_left for file in self.files)

    def lines(self, limits: ListLimits = SHORT) -> list[str]:
        """Return the report as lines: files with their notes, bad rows, then what to do."""
        lines = [self._service_line(limits)] if self.service_name else []
        lines += [_RECOUNT_GOES_ON if self.is_recount else _AFTER_INTERRUPTION] if self.resumed else []
        lines += [_RECOUNT_UNFINISHED] if self.has_unfinished_recount else []
        for file in self.files:
            notes = file.whole_notes if limits is WHOLE else file.notes
            lines += [_file_line(file, limits), *_already_loaded_lines(file, limits), *notes]
        lines += [not_read_reason(name) for name in self.unknown_files]
        lines += format_bad_rows(self.bad, limits)
        if self.stopped:
            lines.append("Stopped at the first bad row, as asked. What comes before it may have been loaded.")
        if self.bad:
            lines.append(_BAD_OF_RECOUNT if self.is_recount else _BAD_ROWS)
        return lines + self.meanwhile.lines(_COUNTED_ANEW if self.is_recount else _NOTHING_TWICE)

    def _service_line(self, limits: ListLimits) -> str:
        stores = sorted({store for file in self.files for store in file.stores})
        word = "store" if len(stores) == 1 else "stores"
        of = f", {word} {first_of([*map(clean, stores)], limits.stores)}" if stores else ""
        begin = "Loaded" if any(file.loaded_rows and not file.is_left for file in self.files) else "Nothing was loaded"
        if begin != "Loaded" and any(file.unknown_lines for file in self.files):
            begin = "It is unknown whether anything was loaded"
        return f"{begin} into {clean(self.service_name)}{of}."


def _file_line(file: FileReport, limits: ListLimits) -> str:
    """Return what was loaded of a file, which rows if not all were read, and of which rows fields are held back."""
    parts = [_counts_line(file).removesuffix(".")]
    if file.loaded_lines:
        parts.append(f"the load ended before the file did, with {format_rows(file.loaded_lines, limits)}")
    was = "was" if len(file.unknown_lines) == 1 else "were"
    unknown = f"whether {format_rows(file.unknown_lines, limits)} {was} loaded is unknown, because no answer came"
    parts += [f"{unknown}; the next load tells, and doubles nothing"] if file.unknown_lines else []
    parts += [f"fields of {format_rows(file.held_rows, limits)} are held back"] if file.held_rows else []
    return f"{'; '.join(parts)}."


def _counts_line(file: FileReport) -> str:
    if not file.rows:
        if file.is_read:
            return f"{file.file}: it holds no row below the header."
        return (
            f"{file.file}: no row is known to be loaded." if file.unknown_lines else f"{file.file}: no row was loaded."
        )
    many = "1 record" if file.records == 1 else f"{file.records} records"
    records = "" if file.records == file.loaded_rows or file.is_left else f" as {many}"
    same_values = "and left as they were" if file.held_rows or file.replaced_rows else "with the same values"
    if file.is_left and not file.states.get(WORKED_ON):
        rows = "1 row," if file.rows == 1 else f"{file.rows} rows, all"
        rows = rows if file.rows == file.loaded_rows else f"0 of {file.rows} rows loaded, {file.loaded_rows}"
        return f"{file.file}: {rows} there before {same_values}."
    if not file.unchanged_rows:
        loaded, states = file.loaded_rows, {name: count for name, count in file.states.items() if count}
        if sum(states.values()) != file.records or not states:
            return f"{file.file}: {loaded} of {file.rows} rows loaded{records}."
        same, worked = states.pop("same", 0), states.pop(WORKED_ON, 0)
        loaded = 0 if file.is_left else loaded if records else loaded - same - worked
        before = f", {same} there before {same_values}" if same else ""
        before += f", {worked} there before and {WORKED_ON} since" if worked else ""
        changes = ", ".join(f"{count} {name}" for name, count in states.items())
        changes = f" ({changes})" if changes else ""
        return f"{file.file}: {loaded} of {file.rows} rows loaded{records}{changes}{before}."
    if file.unchanged_rows == file.rows:
        rows = "1 row," if file.rows == 1 else f"{file.rows} rows, all"
        return f"{file.file}: {rows} loaded before with the same figure."
    before = f"{file.unchanged_rows} loaded before with the same figure"
    return f"{file.file}: {file.loaded_rows} of {file.rows} rows loaded{records}, {before}."


def _already_loaded_lines(file: FileReport, limits: ListLimits) -> Iterator[str]:
    if file.already_loaded_rows:
        rows = format_rows(file.already_loaded_rows, limits)
        yield (
            f"{file.file}: the stock of {rows} was loaded before and is left as it is. To count a product again,"
            " put all its rows in a stock.csv in a folder of its own, and load that folder with --recount."
        )


def not_read_reason(name: str) -> str:
    """Return why a file of the directory is not read, and what to do."""
    if name.startswith(_BESIDE_OTHERS):
        keeper = "Macintosh keeps it beside another file" if name[1] == "_" else _KEPT_WHILE_OPEN
        return f"{clean(name)}: not read, because a {keeper}."
    if name.endswith("/"):
        return f"{clean(name)}: not read, because it is a folder; load it by itself, if that is meant."
    if not _CSV_NAME.fullmatch(name.casefold()):
        return f"{clean(name)}: not read, because it is no CSV file; save it as CSV."
    near = [layout.file for layout in LAYOUTS if _like(layout.file).search(name.casefold())]
    advice = f"; rename it to {max(near, key=len)}, if it is that" if near else ""
    return f"{clean(name)}: not read, because no file of a load has this name{advice}."


def _like(file: str) -> re.Pattern[str]:
    """Return a pattern for names that can be meant for a file: its words in the plural, or before words of a copy."""
    words = file.removesuffix(".csv").replace("_", r"[\W_]*")
    one = words.removesuffix("s")
    return re.compile(rf"{words}(?![^\W\d_])|{one}s?(?:[\W\d_]|{_COPY_WORDS})*\Z")


_COPY_WORDS = "csv|export|list|lijst|liste|data|daten|copy|kopie|copie|new|nieuw|neu|old|oud|alt|final"
_BESIDE_OTHERS = ("~$", ".~", "._")
"""Beginnings of names of files that spreadsheets and Macintosh keep beside those that they are of."""
_CSV_NAME = re.compile(r"[^./]*\.?|.*\.csv[^a-z~#]*", re.DOTALL)
"""Name of a CSV file: without an extension, or with no letters behind it (`stock.csv;1`)."""
_KEPT_WHILE_OPEN = "spreadsheet keeps it while it has the file open"


def _is_missed(name: str) -> bool:
    """Return True if a CSV file of the directory is one that a person may take for loaded."""
    return bool(_CSV_NAME.fullmatch(name.casefold())) and not name.startswith(_BESIDE_OTHERS)
