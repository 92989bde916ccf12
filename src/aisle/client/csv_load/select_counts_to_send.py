"""Counts of a load before they are sent: those that were loaded before, or are in doubt, are left out or refused.

`existing_stock_and_loaded_counts` decides which they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal

from aisle.client.client import Client
from aisle.client.csv_load.batch_responses import is_replayed
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
from aisle.client.csv_load.records import Record
from aisle.client.csv_load.report import BadRow
from aisle.client.csv_load.stock_elsewhere_of_counted_products import GoodsInHand, UnnamedStock, in_pools, pools_counted
from aisle.client.csv_load.totals_and_unplaced_stock import EMPTY_PLACE
from aisle.client.csv_load.work_during_load import WorkDuringLoad, describe_entry, is_conditional, products_of
from aisle.client.paging import Row
from aisle.client.response_and_json_limits import Response

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
        self, table: CsvTable, client: Client, loaded: LoadedStock | None, refuse: Callable[[BadRow], None]
    ) -> None:
        """Store the collaborators. Without `loaded`, all counts are sent; `refuse` takes the rows that are refused."""
        self._table = table
        self._loaded = loaded
        self._refuse = refuse
        self._tracked = TrackedStock(client, table)
        self._spots = loaded.spots if loaded else SpotsOfFile(table)
        self._elsewhere = UnnamedStock(table, self._spots)
        self._in_hand = GoodsInHand(client)
        self._work = WorkDuringLoad(client)
        self.rows = 0
        """Rows that are not sent."""
        self._counted_since: dict[int, Row] = {}
        """Last counts of others, by the first row of a count that was sent before the load was cut off."""
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

    async def accepted(self, batch: Sequence[Record], response: Response) -> None:
        """Take in the entries of a batch. Add warnings on what others did meanwhile, unless the service refuses it."""
        self._work.keep(response)
        if self._loaded is None and is_replayed(response):
            await self._keep_counted_since(batch, response)
        if is_conditional(response):
            return
        for product, row in products_of(await self._read_work(batch[0].store), batch).items():
            for count in batch:
                for line in count.field_rows.values() if count.body["product_number"] == product else ():
                    self._table.notes.add_warning(_PERHAPS_LOST, describe_entry(row), line)

    async def _keep_counted_since(self, batch: Sequence[Record], response: Response) -> None:
        """Keep which counts of a batch, which was sent before the load was cut off, others have replaced since."""
        entries = await self._work.counted_since(batch[0].store, response)
        for count in batch:
            for line in count.field_rows.values():
                self._table.notes.remove_warning(_COUNTED_AGAIN, line)
            product, code = (count.body.get(name) or "" for name in ("product_number", "location_code"))
            for row in entries:
                if row.get("product_number") == product and (row.get("location_code") or "") in ("", code):
                    self._counted_since[count.line] = row

    def without_counted_since(self, batch: Sequence[Record]) -> list[Record]:
        """Return the counts that others have not replaced since. Add warnings for the rows of the others."""
        for count in batch:
            if row := self._counted_since.get(count.line):
                self.rows += len(count.field_rows)
                self.rows_left += len(count.field_rows)
                for line in sorted(count.field_rows.values()):
                    self._table.notes.add_warning(_COUNTED_SINCE, describe_entry(row), line)
        return [count for count in batch if count.line not in self._counted_since]

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
