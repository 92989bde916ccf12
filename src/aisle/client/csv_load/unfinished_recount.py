"""Rows that a recount has sent, kept in a file until a recount of the folder ends: the next one sends none twice.

A row is known by its store, product, location, pool and figure, so that other changes of the files do not matter. The
file has the rows of each batch with its key; which batches were carried out is asked of the service.
"""

from __future__ import annotations

import hashlib
import json
import os
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import NamedTuple

from aisle.client.client import Client
from aisle.client.csv_load.batch_responses import AT_ONCE, unknown_keys
from aisle.client.csv_load.checked_rows import CsvTable
from aisle.client.csv_load.records import Record
from aisle.client.csv_load.report import LoadError, unread_error
from aisle.client.responses_and_errors import ClientError, ServerError, TransportError
from aisle.row_values import to_decimal

_FIELDS = ("store_number", "product_number", "location_code", "stock_pool", "quantity")


class _Batch(NamedTuple):
    """Digests of the rows of a batch; without a key, of rows that were changed since they were sent.

    `position` is the id of the last log entry before the batch, if that is known.
    """

    rows: Sequence[int]
    store: str = ""
    key: str = ""
    position: int | None = None


class UnfinishedRecount:
    """Rows that a recount of a folder has sent, and those that the service has carried out before."""

    def __init__(self, file: Path) -> None:
        """Open the file, which is created unless the last recount was cut off. Raise LoadError if it cannot be."""
        self._file = file
        self.is_resumed = file.exists()
        self._digests = array("Q")
        """Digests of the rows of the file by line."""
        self._counted: dict[int, int | None] = {}
        """Digests of the rows that are counted, with the id of the last log entry before them, if that is known."""
        self._first: dict[str, int] = {}
        self._append()

    def end(self) -> None:
        """Delete the file: the recount has ended."""
        self._file.unlink(missing_ok=True)

    async def start(self, table: CsvTable, client: Client) -> None:
        """Read the rows of a file, and which of them are counted. Raise LoadError if the service does not respond."""
        self._read_digests(table)
        if not self.is_resumed:
            return
        await self._read_counted(client)
        if changed := sorted(self._counted.keys() - set(self._digests)):
            rows = "1 row was" if len(changed) == 1 else f"{len(changed)} rows were"
            table.notes.add_file_warning(
                f"{rows} counted before the recount was cut off, and changed in the file since, or taken out of it;"
                " what the file has now is counted"
            )
            self._append(_Batch(changed))
            self._forget(changed)

    async def _read_counted(self, client: Client) -> None:
        batches = list(self._entries())
        known: set[str] = set()
        for store in {batch.store for batch in batches}:
            known |= await _carried_out(client, store, [one.key for one in batches if one.key and one.store == store])
        for batch in batches:
            if batch.key in known:
                self._counted.update(dict.fromkeys(batch.rows, batch.position))
                if batch.position is not None:
                    self._first.setdefault(batch.store, batch.position)
            elif not batch.key:
                self._forget(batch.rows)

    def _forget(self, rows: Iterable[int]) -> None:
        for digest in rows:
            self._counted.pop(digest, None)

    def first_position(self, store: str) -> int | None:
        """Return the id of the last log entry before the recount began in a store; None if it is unknown."""
        return self._first.get(store)

    def counted_fields(self, count: Record) -> dict[str, int | None]:
        """Return the fields of a count whose rows are counted, with the id of the last log entry before them."""
        digests = {name: self._digests[line] for name, line in count.field_rows.items()}
        return {name: self._counted[digest] for name, digest in digests.items() if digest in self._counted}

    def add_sent(self, batch: Sequence[Record], key: str, position: int | None) -> None:
        """Store the rows of a batch before it is sent. Raise LoadError if that fails."""
        rows = [self._digests[line] for count in batch for line in count.field_rows.values()]
        self._append(_Batch(rows, batch[0].store, key, position))

    def _read_digests(self, table: CsvTable) -> None:
        placed = {hash((store, product)) for _, (store, product, code) in table.select_cells(_FIELDS[:3]) if code}
        for line, cells in table.select_cells(_FIELDS):
            self._digests.extend([0] * (line + 1 - len(self._digests)))
            self._digests[line] = _digest(cells, is_beside=not cells[2] and hash(cells[:2]) in placed)

    def _entries(self) -> Iterator[_Batch]:
        """Yield the batches in the file. A line that was cut off in writing is of a batch that was not sent."""
        with open(self._file, encoding="utf-8") as stream:
            for line in stream:
                with suppress(ValueError, TypeError):
                    yield _Batch(*json.loads(line))

    def _append(self, *batches: _Batch) -> None:
        """Write batches at the end of the file, each with the line break first: its last line may be cut off."""
        try:
            with open(self._file, "a", encoding="utf-8", opener=_open_private) as stream:
                stream.writelines(f"\n{json.dumps(batch)}" for batch in batches)
        except OSError as error:
            raise LoadError(f"What is counted cannot be kept in {self._file}: {error}. Make room there.") from error


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)


def _digest(cells: Sequence[str], *, is_beside: bool) -> int:
    """Return a digest of a row. Beside rows at locations, one without a location counts other goods."""
    quantity = to_decimal(cells[-1]).normalize()
    text = json.dumps([*cells[:-1], f"{quantity:f}", is_beside])
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=8).digest())


async def _carried_out(client: Client, store: str, keys: Sequence[str]) -> set[str]:
    """Return the keys under which the service has carried out batches; none if it cannot be asked."""
    found = set(keys)
    try:
        for first in range(0, len(keys), AT_ONCE):
            unknown, _ = await unknown_keys(client, store, keys[first : first + AT_ONCE])
            found.difference_update(unknown)
    except ClientError as error:
        is_passing = isinstance(error, ServerError) and error.status != HTTPStatus.NOT_IMPLEMENTED
        if is_passing or isinstance(error, TransportError):
            raise unread_error("What the recount had counted", error) from error
        return set()
    return found
