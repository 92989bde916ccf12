"""One CSV file as a stream of rows: the header checked at once, each row parsed or told why not, memory flat."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from aisle.client.load.columns import Column, Layout
from aisle.client.load.report import LoadError
from aisle.tuples import NamedTuple

Values = dict[str, Any]
Key = tuple[str, ...]


class Row(NamedTuple):
    """A row as read: the cells that were not empty, by column; `reason` says why it is bad, if it is.

    `key` are the raw cells that say which record the row belongs to; empty when the row is too short to tell.
    """

    line: int
    values: Values
    reason: str
    key: Key


class Table:
    """A file of a load with its checked header. Raises LoadError when the file cannot be used at all."""

    def __init__(self, path: Path, layout: Layout, key: Sequence[str] = ()) -> None:
        self.path = path
        self.name = layout.file
        self.size = path.stat().st_size
        self.position = 0
        self._columns = _checked_header(path, layout)
        names = [column.name for column in self._columns]
        self._key = [names.index(name) for name in key if name in names]
        self._required = [column.name for column in self._columns if column.required]

    def rows(self) -> Iterator[Row]:
        """Every row, in order; blank lines are passed over. `position` is how many bytes have been read so far."""
        for line, cells, error in self._cells():
            yield Row(line, {}, error, ()) if error else self._row(line, cells)

    def scattered(self) -> dict[Key, int]:
        """The keys whose rows do not all stand together, with the line of their last row: one quick pass.

        Only hashes of the other keys are remembered. Two keys that share one are taken for scattered, which costs
        nothing but memory.
        """
        seen: set[int] = set()
        found: dict[Key, int] = {}
        last: Key = ()
        for line, cells, error in self._cells():
            key = () if error else self._key_of(cells)
            if key and key != last:
                if hash(key) in seen:
                    found[key] = line
                seen.add(hash(key))
                last = key
            elif key in found:
                found[key] = line
        return found

    def _cells(self) -> Iterator[tuple[int, list[str], str]]:
        with open(self.path, "rb") as raw, _as_text(raw) as stream:
            reader = csv.reader(stream, strict=True)
            next(reader)
            while True:
                line = reader.line_num + 1
                try:
                    cells = next(reader)
                except StopIteration:
                    break
                except csv.Error as error:
                    yield line, [], f"is no CSV ({error}); look for a quotation mark that is not closed or not doubled"
                    continue
                self.position = raw.tell()
                if cells:
                    yield line, cells, ""
        self.position = self.size

    def _key_of(self, cells: list[str]) -> Key:
        try:
            return tuple([cells[index] for index in self._key])
        except IndexError:
            return ()

    def _row(self, line: int, cells: list[str]) -> Row:
        key = self._key_of(cells)
        if len(cells) != len(self._columns):
            return Row(line, {}, f"has {_fields(len(cells))}, the header has {len(self._columns)}", key)
        values: Values = {}
        for column, cell in zip(self._columns, cells, strict=True):
            if not cell:
                continue
            try:
                values[column.name] = column.parse(cell)
            except ValueError as error:
                return Row(line, values, f"{column.name} {error}", key)
        for name in self._required:
            if name not in values:
                return Row(line, values, f"{name} is empty, but every row needs it", key)
        return Row(line, values, "", key)


def grouped(rows: Iterator[Row], scattered: dict[Key, int]) -> Iterator[list[Row]]:
    """Rows with the same key together. Those of scattered keys wait for the last one; the others pass through."""
    current: list[Row] = []
    held: dict[Key, list[Row]] = {}
    for row in rows:
        if row.key in scattered:
            held.setdefault(row.key, []).append(row)
            if row.line >= scattered[row.key]:
                yield held.pop(row.key)
            continue
        if current and (row.key != current[0].key or not row.key):
            yield current
            current = []
        current.append(row)
    if current:
        yield current
    yield from held.values()


def _as_text(raw: io.BufferedReader) -> io.TextIOWrapper:
    return io.TextIOWrapper(raw, encoding="utf-8-sig", errors="surrogateescape", newline="")


def _checked_header(path: Path, layout: Layout) -> list[Column]:
    names = _header(path)
    columns = [_column(path.name, name, layout) for name in names]
    for name in names:
        if names.count(name) > 1:
            raise LoadError(f"{path.name} has the column {name} twice; remove one of them.")
    for column in layout.columns.values():
        if column.required and column.name not in names:
            raise LoadError(f"{path.name} has no column {column.name}, which every row needs; add it.")
    return columns


def _header(path: Path) -> list[str]:
    try:
        with open(path, "rb") as raw, _as_text(raw) as stream:
            names = next(csv.reader(stream, strict=True), [])
    except (OSError, csv.Error) as error:
        raise LoadError(f"{path.name} cannot be read: {error}.") from error
    if any("\0" in name or "\udc80" <= name[:1] <= "\udcff" for name in names):
        raise LoadError(f"{path.name} is not UTF-8 text; save it in that encoding.")
    if len(names) == 1 and any(mark in names[0] for mark in ";\t|"):
        raise LoadError(f"{path.name} has only one column, {names[0]!r}; separate the columns by commas.")
    if not any(names):
        raise LoadError(f"{path.name} has no header row; its first line must name the columns.")
    return [name.strip() for name in names]


def _column(file: str, name: str, layout: Layout) -> Column:
    if name in layout.columns:
        return layout.columns[name]
    near = get_close_matches(name, list(layout.columns), n=1, cutoff=0)
    raise LoadError(f"{file} has an unknown column {name!r}; the nearest known one is {near[0]}.")


def _fields(count: int) -> str:
    return "1 field" if count == 1 else f"{count} fields"
