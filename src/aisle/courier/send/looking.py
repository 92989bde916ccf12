"""Looks at the service for what the judge needs: entries of the log by their reference, orders by their number, stock.

What the interface leaves open is learnt on the way and remembered: see aisle.local.outbox.probes.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import aclosing
from decimal import Decimal
from typing import Any

from aisle.client import Client
from aisle.client.errors import AnswerError
from aisle.contract.wire import QueryValue
from aisle.courier.counting import counted
from aisle.courier.send.judging import (
    BY_LOG,
    BY_NUMBER,
    BY_ORDER,
    BY_PRODUCT,
    Seen,
    is_of,
    made,
    sent_order,
    state_of,
    way_of,
)
from aisle.courier.send.marks import Mark, entries_of, marks
from aisle.local.outbox.operation import LOGS, MOVEMENT, Operation
from aisle.local.outbox.probes import (
    BY_SOURCE,
    CONTAINS,
    EXACT,
    HISTORY,
    IGNORED,
    INACTIVE_LIST,
    LOG_READBACK,
    MOVEMENT_READBACK,
    NO,
    REFERENCE_FILTER,
    YES,
    Probes,
)
from aisle.local.outbox.settings_of import values_of
from aisle.local.reads.overlay import decimal

Row = dict[str, Any]
Query = dict[str, QueryValue]

PAGES = 40
"""Pages of a log that is read without a filter; one that is longer cannot be searched."""
_PAGE = 500
_POOLS = range(1, 11)


class Looker:
    """Reads, and judges nothing. Every read may raise ClientError."""

    def __init__(self, client: Client, store: str, probes: Probes) -> None:
        self._client = client
        self._store = store
        self._probes = probes

    async def seen(self, op: Operation) -> Seen:
        """What there is to be seen of an operation."""
        way = way_of(op)
        if way == BY_LOG:
            return Seen(log=await self.log(op), proven=self._probes.get(readback_of(op)) == YES)
        if way == BY_ORDER:
            return Seen(orders=await self.orders(str(sent_order(op)["order_number"])))
        if way == BY_NUMBER and made(op):
            return Seen(orders=await self.orders(str(made(op)["order_number"])), proven=True)
        if way == BY_PRODUCT:
            return Seen(products=await self.settings(op))
        return Seen()

    # The log

    async def log(self, op: Operation) -> list[Row]:
        """The entries that carry the operation's name, with and without what the service calls history."""
        mark = marks(op)[0]
        ways = (False, True) if self._probes.get(HISTORY) != YES else (True, False)
        for historic in ways:
            found = await self._entries(mark, historic=historic, floor=int(op.evidence.get("floor") or 0))
            if found:
                self._probes.learn(HISTORY, YES if historic else NO)
                self._probes.learn(readback_of(op), YES)
                return found
        return []

    async def _entries(self, mark: Mark, *, historic: bool, floor: int) -> list[Row]:
        query: Query = {"store_number": self._store, "page_size": _PAGE}
        if historic:
            query["is_historic"] = True
        filtered = bool(mark.reference) and self._probes.get(REFERENCE_FILTER) != IGNORED
        if filtered:
            query["reference"] = mark.reference
        elif floor:
            query["from_id"] = floor
        found: list[Row] = []
        read = 0
        async with aclosing(counted(self._client, "list-store-product-logs", query=query)) as pages:
            async for rows, _ in pages:
                found += [row for row in rows if is_of(row, mark)]
                if filtered and mark.ours and _ignores(rows, mark.reference):
                    self._probes.learn(REFERENCE_FILTER, IGNORED)
                    return await self._entries(mark, historic=historic, floor=floor)
                read += 1
                if read >= PAGES:
                    raise AnswerError(f"The log is longer than {PAGES * _PAGE} entries, and cannot be filtered.")
        return found

    async def learn_filter(self, op: Operation) -> None:
        """Asks for a part of a reference that is known to be there, to see how the service filters."""
        mark = marks(op)[0]
        if not mark.ours or self._probes.get(REFERENCE_FILTER):
            return
        query: Query = {"store_number": self._store, "page_size": 20, "reference": mark.reference[:-1]}
        if self._probes.get(HISTORY) == YES:
            query["is_historic"] = True
        async with aclosing(self._client.pages("list-store-product-logs", query=query)) as pages:
            rows, _ = await anext(pages)
        if _ignores(rows, mark.reference[:-1]):
            self._probes.learn(REFERENCE_FILTER, IGNORED)
        else:
            self._probes.learn(REFERENCE_FILTER, CONTAINS if rows else EXACT)

    # Orders

    async def orders(self, number: str) -> list[Row]:
        """The order with its lines, whether it is open or not; nothing where the service knows none."""
        rows = await self._order(number, {})
        return rows or await self._order(number, {"is_active": False})

    async def _order(self, number: str, further: Query) -> list[Row]:
        query: Query = {"order_number": number, "show_lines": True, **further}
        path = {"store_number": self._store}
        async with aclosing(self._client.pages("list-customer-orders", path=path, query=query)) as pages:
            rows, _ = await anext(pages)
        mine = [row for row in rows if str(row.get("order_number")) == number]
        if further and mine:
            self._probes.learn(INACTIVE_LIST, NO if mine[0].get("is_active") else YES)
        return mine

    # What a person is shown

    async def before(self, op: Operation) -> dict[str, Any]:
        """What stands there before it is sent, for the judge and for a person."""
        way = way_of(op._replace(frozen=None))
        if way == BY_ORDER:
            orders = await self.orders(str(sent_order(op)["order_number"]))
            return {"order": state_of(orders[0])} if orders else {}
        if way == BY_PRODUCT:
            return {"product": await self.settings(op)}
        return await self.stock(op)

    async def settings(self, op: Operation) -> dict[str, dict[str, str]]:
        """What the store says of the products of an operation; of those that its stock list does not have, nothing."""
        found = {}
        for number in dict.fromkeys(str(item.get("product_number")) for item in op.body):
            query: Query = {"store_number": self._store, "product_number": number}
            async with aclosing(self._client.pages("list-store-products-stock", query=query)) as pages:
                rows, _ = await anext(pages)
            mine = next((row for row in rows if str(row.get("product_number")) == number), None)
            if mine is not None:
                found[number] = values_of(mine)
        return found

    async def stock(self, op: Operation) -> dict[str, Any]:
        """The stock of what an operation moves, at the places that it names; only where nothing else can tell."""
        if op.operation not in (LOGS, MOVEMENT):
            return {}
        found: dict[str, dict[str, str]] = {}
        for product, places in named_places(op).items():
            query: Query = {"store_number": self._store, "product_number": product, "include_locations": True}
            async with aclosing(self._client.pages("list-store-products-stock", query=query)) as pages:
                rows, _ = await anext(pages)
            for row in rows:
                if str(row.get("product_number")) == product:
                    found[product] = _at(row, places)
        return {"stock": found} if found else {}


def readback_of(op: Operation) -> str:
    """The name of what has to be known of a service before absence in its log means anything.

    That references are kept says nothing of sources: an entry that somebody gave a reference is found by these alone.
    """
    sent = marks(op)
    ours = sent[0].ours if sent else not any(entry.get("reference") for entry in entries_of(op))
    return (LOG_READBACK if op.operation == LOGS else MOVEMENT_READBACK) + ("" if ours else BY_SOURCE)


def named_places(op: Operation) -> dict[str, tuple[str, ...]]:
    """The products of an operation, and the places that it names of each."""
    found: dict[str, dict[str, None]] = {}
    for entry in entries_of(op):
        places = found.setdefault(str(entry.get("product_number") or ""), {})
        for end in (entry, entry.get("from_location"), entry.get("to_location")):
            if isinstance(end, Mapping) and end.get("location_code"):
                places[str(end["location_code"])] = None
    return {product: tuple(places) for product, places in found.items() if product}


def _at(row: Row, places: tuple[str, ...]) -> dict[str, str]:
    """Quantities by place; the empty place is the whole store."""
    found = {"": str(row["most_likely_quantity"])} if row.get("most_likely_quantity") is not None else {}
    entries = row.get("store_locations")
    for entry in entries if isinstance(entries, list) else ():
        code = str(entry.get("store_location_code") or "") if isinstance(entry, Mapping) else ""
        if code in places:
            found[code] = _sum(entry)
    return {**dict.fromkeys(places, "0"), **found} if isinstance(entries, list) else found


def _sum(entry: Mapping[str, Any]) -> str:
    if entry.get("quantity") is not None:
        return str(entry["quantity"])
    return str(sum((decimal(entry.get(f"stock_pool_{pool}")) for pool in _POOLS), Decimal(0)))


def _ignores(rows: list[Row], reference: str) -> bool:
    return any(reference not in str(row.get("reference") or "") for row in rows)
