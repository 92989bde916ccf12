"""Counts of a load, each sent once: the id of a load, and counts that were loaded before or are in doubt.

It does not keep how far the load came: `existing_stock_and_loaded_counts` finds loaded counts in the service's log, and
`unfinished_recount` those of a recount; everything else is sent again, and the service answers `same`. A load locks the
file with its id, so that two loads of one folder do not run at the same time.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import IO, NamedTuple

from aisle.client.client import Client
from aisle.client.csv_load.checked_rows import CsvTable
from aisle.client.csv_load.existing_stock_and_loaded_counts import (
    LoadedStock,
    ProductStock,
    SplitCount,
    SpotsOfFile,
    TrackedStock,
    with_load_reference,
    without_fields,
)
from aisle.client.csv_load.file_layouts_and_columns import STOCK
from aisle.client.csv_load.records import Record
from aisle.client.csv_load.report import BadRow, LoadError
from aisle.client.csv_load.rows_left_out import EMPTY_PLACE
from aisle.client.csv_load.stock_elsewhere_of_counted_products import GoodsInHand, UnnamedStock, in_pools, pools_counted
from aisle.client.csv_load.unfinished_recount import UnfinishedRecount
from aisle.client.csv_load.work_during_load import WorkDuringLoad, describe_entry, is_conditional, products_of
from aisle.client.paging import Row
from aisle.client.responses_and_errors import Response

_COUNTED_AGAIN = (
    "others counted, moved or booked goods of the product since the load began, and the row counts it again (look there"
    " whether it is right)"
)
_PERHAPS_LOST = (
    "others counted, moved or booked goods of the product at the moment at which the row was counted, which may have"
    " replaced it (count it)"
)


_COUNTED_SINCE = (
    "the row was counted before the load was cut off, and others counted there since, which is left as it is (to count"
    " it again, load all rows of the product alone with --recount)"
)


class CountsToSend:
    """Selection of the counts of a file that are sent, with the numbers of rows that are not."""

    def __init__(
        self,
        table: CsvTable,
        client: Client,
        loaded: LoadedStock | None,
        recount: UnfinishedRecount | None,
        refuse: Callable[[BadRow], None],
    ) -> None:
        """Store the collaborators. Without `loaded`, all counts are sent that `recount` has not sent before.

        `refuse` takes the rows that are refused.
        """
        self._table = table
        self._client = client
        self._loaded = loaded
        self._recount = recount
        self._refuse = refuse
        self._tracked = TrackedStock(client, table)
        self._spots = loaded.spots if loaded else SpotsOfFile(table)
        self._elsewhere = UnnamedStock(table, self._spots)
        self._in_hand = GoodsInHand(client)
        self._work = WorkDuringLoad(client)
        self.rows = 0
        """Rows that are not sent."""
        self.already_loaded: list[int] = []
        self.unchanged_rows = self.rows_left = 0

    def position(self, store: str) -> int | None:
        """Return the id of the last log entry of a store that was read, if its log is watched."""
        return self._work.position(store)

    async def without_changed(self, batch: Sequence[Record]) -> list[Record]:
        """Return the counts of products that others left alone since they were selected. Refuse the rows of others."""
        changed = products_of(await self._read_work(batch[0].store), batch)
        for count in batch:
            if row := changed.get(count.body["product_number"]):
                self._refuse_changed(count, row)
        return [count for count in batch if count.body["product_number"] not in changed]

    def _refuse_changed(self, count: Record, row: Row) -> None:
        self.rows += len(count.field_rows)
        advice = "the row is left; load again"
        if self._loaded is None:
            advice = (
                "the row is left; count the goods on the floor, or give each place where they lie a row, and load all"
                " rows of the product alone with --recount"
            )
        for line in sorted(count.field_rows.values()):
            reason = f"others counted, moved or booked goods of the product while the load ran ({describe_entry(row)})"
            kind = "others counted, moved or booked goods of the product while the load ran; the row is left"
            self._refuse(BadRow(self._table.name, line, f"{reason}; {advice}", kind))

    def sending(self, batch: Sequence[Record], key: str) -> None:
        """Store the rows of a batch of a recount before it is sent under a key."""
        if self._recount:
            self._recount.add_sent(batch, key, self._work.position(batch[0].store))

    async def accepted(self, batch: Sequence[Record], response: Response) -> None:
        """Take in the entries of a batch. Add warnings on what others did meanwhile, unless the service refuses it."""
        self._work.keep(response)
        if is_conditional(response):
            return
        for product, row in products_of(await self._read_work(batch[0].store), batch).items():
            for count in batch:
                for line in count.field_rows.values() if count.body["product_number"] == product else ():
                    self._table.notes.add_warning(_PERHAPS_LOST, describe_entry(row), line)

    async def start(self) -> None:
        """Read what a recount that was cut off has counted."""
        if self._recount:
            await self._recount.start(self._table, self._client)

    async def take_counted(self, batch: Sequence[Record]) -> tuple[list[Record], list[Record]]:
        """Return the counts without the rows that a recount had counted before it was cut off, then those rows.

        Rows that others counted since are in neither, and warned of.
        """
        if self._recount is None:
            return list(batch), []
        await self._work.begin(batch[0].store, self._recount.first_position(batch[0].store))
        new, counted = [], []
        for count in batch:
            fields = self._recount.counted_fields(count)
            if rest := without_fields(count, fields):
                new.append(rest)
            if done := without_fields(count, count.field_rows.keys() - fields.keys()):
                self._spots.see(done)
                if not self._is_counted_since(done, fields):
                    counted.append(done)
        return new, counted

    def _is_counted_since(self, count: Record, positions: Mapping[str, int | None]) -> bool:
        """Return True if others have counted where a count was sent before. Add warnings for its rows."""
        row = self._work.counted_since(count, min((at for at in positions.values() if at is not None), default=None))
        for line in sorted(count.field_rows.values()) if row else ():
            self.rows += 1
            self.rows_left += 1
            self._table.notes.add_warning(_COUNTED_SINCE, describe_entry(row or {}), line)
        return row is not None

    async def _read_work(self, store: str) -> list[Row]:
        """Return what others have added to the log of a store. Their products are looked at again."""
        found = await self._work.read(store)
        for row in found:
            self._tracked.forget(store, str(row.get("product_number") or ""))
            if self._loaded is not None:
                self._loaded.add_entry(store, row)
        if found:
            self._in_hand.forget(store)
        return found

    def done(self, batch: Sequence[Record]) -> None:
        """Record that the service has accepted a batch of counts."""
        for record in batch:
            self._elsewhere.done(record)

    def note_all(self) -> None:
        """Add warnings on goods elsewhere, once all counts are sent."""
        self._elsewhere.note_all()

    async def select(self, batch: Sequence[Record]) -> list[Record]:
        """Return the counts that were not loaded before, as they are sent. Add warnings and bad rows for the others."""
        await self._read_work(batch[0].store)
        found = [await self._select(count) for count in batch]
        return [count for count in found if count]

    async def _select(self, count: Record) -> Record | None:
        self._spots.see(count)
        kept = await self._tracked.get(count.store, count.body["product_number"])
        new, left, other, worked = (
            SplitCount(count) if self._loaded is None else await self._loaded.split_new(count, kept, self._table.notes)
        )
        if not kept.is_tracked:
            new, left = None, ()
            self._warn_of_untracked(count)
        in_hand = await self._in_hand.get(count.store, count.body["product_number"], kept) if new else {}
        if new and self._loaded is not None:
            new = self._elsewhere.unchanged(new, kept, in_hand, worked)
        pools = self._pools_of(new, kept) if new else {}
        below = self._elsewhere.below_places(new, kept, in_hand) if new and pools is not None else {}
        refused = len(below) + (pools is None)
        for name, reason in below.items():
            self._refuse(BadRow(self._table.name, count.field_rows[name], reason))
        new = without_fields(new, below) if new and pools is not None else None
        counted = {name: "" if name == "counted_quantity" else name for name in new.field_rows} if new else {}
        if new:
            self._elsewhere.expect(new, kept, in_hand)
            self._note_counted_again(new)
            if "location_code" not in new.body:
                self._warn_of_other_pools(new, kept.pools)
            new = in_pools(new, pools or {}, kept)
        for name, line in count.field_rows.items():
            is_total = "location_code" not in count.body and not count.is_beside
            if new is None or name not in counted or (is_total and kept.at_places(counted[name])):
                self._table.notes.remove_warning(EMPTY_PLACE, line)
        self.already_loaded += left
        self.unchanged_rows += max(0, len(left) - other)
        self.rows_left += other + len(count.field_rows) - len(left) - (len(new.field_rows) if new else 0) - refused
        self.rows += len(count.field_rows) - (len(new.field_rows) if new else 0)
        return with_load_reference(new) if new else None

    def _note_counted_again(self, count: Record) -> None:
        row = self._work.last_entry(count.store, count.body["product_number"]) if self._loaded is None else None
        for line in sorted(count.field_rows.values()) if row else ():
            self._table.notes.add_warning(_COUNTED_AGAIN, describe_entry(row or {}), line)

    def _pools_of(self, count: Record, kept: ProductStock) -> dict[str, Decimal] | None:
        """Return the quantities by pool of a count that names none, so that all pools together have it.

        They are empty if another count, or one of goods that are not there yet. Return None if the row is refused:
        goods of several pools are there, and how the new quantity is divided is unknown.
        """
        held = pools_counted(count, kept)
        if not held:
            return {}
        [(name, line)] = count.field_rows.items()
        quantity = Decimal(str(count.body[name]))
        if len(held) == 1 or not quantity:
            return dict.fromkeys(held, quantity)
        if quantity == sum(held.values()) and all(has >= 0 for has in held.values()):
            return held
        pools = ", ".join(f"{has:f} in pool {pool.removeprefix('stock_pool_')}" for pool, has in sorted(held.items()))
        reason = f"names no stock_pool, and of the product are there {pools}; write a row for each pool"
        self._refuse(BadRow(self._table.name, line, reason))
        return None

    def _warn_of_untracked(self, count: Record) -> None:
        for name, line in count.field_rows.items():
            value = f"{count.body[name]} of {count.body['product_number']}"
            what = "the product keeps no stock in this store (is_stock is false), so the row is not loaded"
            self._table.notes.add_warning(what, value, line)

    def _warn_of_other_pools(self, count: Record, pools: Mapping[str, Decimal]) -> None:
        """Add warnings on stock in other pools, which a count of a pool without a location leaves."""
        others = {name: quantity for name, quantity in pools.items() if name not in count.field_rows}
        for name, quantity in others.items() if "counted_quantity" not in count.field_rows else ():
            what = "a row without a place counts the pool that it names, and what is in others stays"
            pool = name.removeprefix("stock_pool_")
            self._table.notes.add_warning(
                what, f"{quantity:f} of {count.body['product_number']} in pool {pool}", count.line
            )


class LoadId(NamedTuple):
    """Id of a load; `is_resumed` is True if an earlier load with this id, or a recount like this one, was interrupted.

    `has_unfinished_recount` is True if a recount of the folder was interrupted, and this load is none.
    """

    id: str
    is_resumed: bool = False
    recount: UnfinishedRecount | None = None
    has_unfinished_recount: bool = False


@contextmanager
def kept_load_id(id_file: Path | None, tables: Sequence[CsvTable], *, recount: bool) -> Iterator[LoadId]:
    """Yield the id for a load of these files: that of an interrupted one if nothing has changed since.

    It is deleted at the end, unless the load fails, and so are the rows of a recount. Raise LoadError if it cannot be
    stored, or if another load of the folder is running.
    """
    if id_file is None:
        yield LoadId(secrets.token_hex(8))
        return
    with _locked(id_file) as stream:
        name = _start(stream, id_file, tables, recount=recount)
        yield name
        if name.recount:
            name.recount.end()
        id_file.unlink(missing_ok=True)


@contextmanager
def _locked(id_file: Path) -> Iterator[IO[str]]:
    """Yield the open file, locked."""
    while True:
        with os.fdopen(_open(id_file), "r+", encoding="utf-8", errors="replace") as stream:
            if _lock(stream, id_file):
                yield stream
                return


def _open(id_file: Path) -> int:
    try:
        id_file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(id_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise _not_kept(id_file, error) from error


def _lock(stream: IO[str], id_file: Path) -> bool:
    """Lock the file. Return False if a load that has ended meanwhile has deleted it."""
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(stream.fileno()), id_file.stat())
    except BlockingIOError as error:
        raise LoadError("Another load of this folder is running. Wait for its end, then load again.") from error
    except FileNotFoundError:
        return False
    except OSError as error:
        raise _not_kept(id_file, error) from error


def _start(stream: IO[str], id_file: Path, tables: Sequence[CsvTable], *, recount: bool) -> LoadId:
    load_content = {"files": {table.name: _file_digest(table.path) for table in tables}, "recount": recount}
    last = _read(stream)
    name = LoadId(secrets.token_hex(8))
    if last.get("id") and {part: last.get(part) for part in load_content} == load_content:
        name = LoadId(str(last["id"]), is_resumed=True)
    else:
        _write(stream, id_file, {"id": name.id, **load_content})
    recount_file = id_file.with_suffix(_RECOUNT_SUFFIX)
    if not any(table.layout is STOCK for table in tables):
        return name
    if not recount:
        return name._replace(has_unfinished_recount=recount_file.exists())
    found = UnfinishedRecount(recount_file)
    return name._replace(recount=found, is_resumed=found.is_resumed)


_RECOUNT_SUFFIX = ".recount"


def _write(stream: IO[str], id_file: Path, content: Mapping[str, object]) -> None:
    try:
        stream.seek(0)
        stream.truncate()
        stream.write(json.dumps(content))
        stream.flush()
    except OSError as error:
        raise _not_kept(id_file, error) from error


def _file_digest(path: Path) -> str:
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _read(stream: IO[str]) -> dict[str, object]:
    try:
        stream.seek(0)
        found = json.loads(stream.read())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _not_kept(id_file: Path, error: OSError) -> LoadError:
    return LoadError(f"The id of this load cannot be kept in {id_file.parent}: {error}. Make room there.")
