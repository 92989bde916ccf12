"""Orders of a file that the service has with the content of their creation, and that were changed since.

The service compares an order with what created it. What it holds now is read before a batch, and compared here.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo

from aisle.client.client import Client
from aisle.client.load.describe_differences import Difference, listed_differences
from aisle.client.load.records import Record
from aisle.client.load.report import FileNotes
from aisle.client.load.service_reads import fetch_orders
from aisle.client.load.store_time_zones import read_zone
from aisle.client.paging import Row

_VALUE_WIDTH = 40
"""Characters of a value in a warning."""


class ChangedOrders:
    """Orders of one batch, as the service holds them before the batch is sent."""

    def __init__(self, client: Client, notes: FileNotes) -> None:
        self._client = client
        self._notes = notes
        self._held: dict[str, Row] = {}
        self._zone: tzinfo | None = None

    async def read(self, batch: Sequence[Record]) -> None:
        """Read the orders of a batch, all of one store. Raise ClientError if the service does not respond."""
        store = batch[0].store
        self._held = await fetch_orders(self._client, store, [_number_of(record) for record in batch])
        self._zone = await read_zone(self._client, store) if self._held else None

    def differences(self, record: Record) -> list[Difference]:
        """Return what the service holds otherwise; nothing of an order that it did not have."""
        held = self._held.get(_number_of(record))
        return listed_differences(record.body, held, "order", self._zone) if held else []

    def warn_of_work(self, record: Record, differences: Sequence[Difference]) -> None:
        """Add a warning for an order of which work changed what the file names."""
        what = "work on the order changed what the file names, and the load leaves it as it is"
        shown = "; ".join(one.text(_VALUE_WIDTH) for one in differences)
        self._notes.add_warning(what, f"{_number_of(record)}: {shown}", record.line)


def _number_of(record: Record) -> str:
    return str(record.body.get("order_number") or "")
