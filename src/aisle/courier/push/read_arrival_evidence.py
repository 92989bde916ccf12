"""Reads that show whether an operation arrived: log entries by reference, orders by number, stock.

Behaviour that the interface leaves open is observed and remembered (see aisle.outbox.observed_behaviour).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from aisle.client import Client
from aisle.client.client import pages_by_count
from aisle.client.paging import Row
from aisle.client.responses_and_errors import InvalidResponse
from aisle.contract.request_encoding import QueryValue
from aisle.courier.push.decide_arrival_from_lookup import (
    BY_LOG,
    BY_NUMBER,
    BY_ORDER,
    BY_PRODUCT,
    MAX_VALUE,
    LookupResult,
    carries_reference,
    created_order,
    lookup_method,
    order_state,
    sent_order,
)
from aisle.courier.push.outgoing_request import EntryReference, entries_of, entry_references
from aisle.outbox.observed_behaviour import (
    BY_SOURCE_SUFFIX,
    CONTAINS,
    EXACT,
    IGNORED,
    LISTS_INACTIVE_ORDERS,
    LOG_FOUND_BY_REFERENCE,
    LOG_NEEDS_HISTORIC,
    MOVEMENT_FOUND_BY_REFERENCE,
    NO,
    REFERENCE_FILTER,
    YES,
    ObservedBehaviour,
)
from aisle.outbox.operation_record import CREATE_LOGS, CREATE_MOVEMENT, Operation
from aisle.row_values import to_decimal
from aisle.store_product_settings import parse_entry_values

if TYPE_CHECKING:
    from aisle.outbox.operation_record import ServiceState

Query = dict[str, QueryValue]

MAX_LOG_PAGES = 40
"""Number of pages that an unfiltered log may have; a longer one cannot be searched."""
_PAGE_SIZE = 500
_MAX_FOUND_CHARACTERS = 8 << 20
"""Characters of the log entries of one operation above which they are no answer."""
_POOLS = range(1, 11)


@dataclass(eq=False)
class Lookup:
    """Reads of evidence, without decisions. Every read may raise ClientError."""

    client: Client
    store: str
    observations: ObservedBehaviour

    async def look_up(self, op: Operation) -> LookupResult:
        """Return what the service shows of an operation."""
        method = lookup_method(op)
        if method == BY_LOG:
            return LookupResult(
                log=await self.find_log_entries(op), is_proven=self.observations.get(readback_observation(op)) == YES
            )
        if method == BY_ORDER:
            return LookupResult(orders=await self.find_orders(str(sent_order(op)["order_number"])))
        if method == BY_NUMBER and created_order(op):
            return LookupResult(orders=await self.find_orders(str(created_order(op)["order_number"])), is_proven=True)
        if method == BY_PRODUCT:
            return LookupResult(products=await self.read_settings(op))
        return LookupResult()

    # Log

    async def find_log_entries(self, op: Operation) -> list[Row]:
        """Return the log entries with the operation's reference, with and without historic ones."""
        reference = entry_references(op)[0]
        historic_values = (False, True) if self.observations.get(LOG_NEEDS_HISTORIC) != YES else (True, False)
        for historic in historic_values:
            found = await self._read_log_entries(
                reference, historic=historic, from_id=int(op.evidence.get("floor") or 0)
            )
            if found:
                self.observations.record(LOG_NEEDS_HISTORIC, YES if historic else NO)
                self.observations.record(readback_observation(op), YES)
                return found
        return []

    async def _read_log_entries(self, entry_reference: EntryReference, *, historic: bool, from_id: int) -> list[Row]:
        query: Query = {"store_number": self.store, "page_size": _PAGE_SIZE}
        if historic:
            query["is_historic"] = True
        filtered = bool(entry_reference.reference) and self.observations.get(REFERENCE_FILTER) != IGNORED
        if filtered:
            query["reference"] = entry_reference.reference
        elif from_id:
            query["from_id"] = from_id
        found: list[Row] = []
        read = characters = 0
        async with aclosing(pages_by_count(self.client, "list-store-product-logs", query=query)) as pages:
            async for rows, _ in pages:
                found += (more := [row for row in rows if carries_reference(row, entry_reference)])
                characters += sum(len(str(row)) for row in more)
                if characters > _MAX_FOUND_CHARACTERS:
                    raise InvalidResponse("The log has too many entries of one operation.")
                if filtered and entry_reference.is_ours and _ignores_filter(rows, entry_reference.reference):
                    self.observations.record(REFERENCE_FILTER, IGNORED)
                    return await self._read_log_entries(entry_reference, historic=historic, from_id=from_id)
                read += 1
                if read >= MAX_LOG_PAGES:
                    raise InvalidResponse(
                        f"The log is longer than {MAX_LOG_PAGES * _PAGE_SIZE} entries, and cannot be filtered."
                    )
        return found

    async def observe_filter(self, op: Operation) -> None:
        """Search for a part of a reference that is in the log, to observe how the service filters."""
        reference = entry_references(op)[0]
        if not reference.is_ours or self.observations.get(REFERENCE_FILTER):
            return
        query: Query = {"store_number": self.store, "page_size": 20, "reference": reference.reference[:-1]}
        if self.observations.get(LOG_NEEDS_HISTORIC) == YES:
            query["is_historic"] = True
        rows, _ = await self.client.first_page("list-store-product-logs", query=query)
        if _ignores_filter(rows, reference.reference[:-1]):
            self.observations.record(REFERENCE_FILTER, IGNORED)
        else:
            self.observations.record(REFERENCE_FILTER, CONTAINS if rows else EXACT)

    # Orders

    async def find_orders(self, number: str) -> list[Row]:
        """Return the order with its lines, open or not; an empty list if the service does not know it."""
        rows = await self._request_order(number, {})
        return rows or await self._request_order(number, {"is_active": False})

    async def _request_order(self, number: str, extra: Query) -> list[Row]:
        query: Query = {"order_number": number, "show_lines": True, **extra}
        path = {"store_number": self.store}
        rows, _ = await self.client.first_page("list-customer-orders", path=path, query=query)
        mine = [row for row in rows if str(row.get("order_number")) == number]
        if extra and mine:
            self.observations.record(LISTS_INACTIVE_ORDERS, NO if mine[0].get("is_active") else YES)
        return mine

    # Evidence for a person

    async def read_before(self, op: Operation) -> ServiceState:
        """Return the state before the operation is sent, for the decision and for a person."""
        method = lookup_method(op._replace(sent_body=None))
        if method == BY_ORDER:
            orders = await self.find_orders(str(sent_order(op)["order_number"]))
            return {"order": order_state(orders[0])} if orders else {}
        if method == BY_PRODUCT:
            return {"product": await self.read_settings(op)}
        return await self.read_stock(op)

    async def read_settings(self, op: Operation) -> dict[str, dict[str, str]]:
        """Return the store's settings of an operation's products, without those that its stock list lacks."""
        found = {}
        for number in dict.fromkeys(str(item.get("product_number")) for item in op.body):
            query: Query = {"store_number": self.store, "product_number": number}
            rows, _ = await self.client.first_page("list-store-products-stock", query=query)
            mine = next((row for row in rows if str(row.get("product_number")) == number), None)
            if mine is not None:
                found[number] = {name: value[:MAX_VALUE] for name, value in parse_entry_values(mine).items()}
        return found

    async def read_stock(self, op: Operation) -> ServiceState:
        """Return the stock of an operation's products at its locations; used if nothing else can show it."""
        if op.operation not in (CREATE_LOGS, CREATE_MOVEMENT):
            return {}
        found: dict[str, dict[str, str]] = {}
        for product, codes in named_locations(op).items():
            query: Query = {"store_number": self.store, "product_number": product, "include_locations": True}
            rows, _ = await self.client.first_page("list-store-products-stock", query=query)
            for row in rows:
                if str(row.get("product_number")) == product:
                    found[product] = _quantities_by_location(row, codes)
        return {"stock": found} if found else {}


def readback_observation(op: Operation) -> str:
    """Return the name of the observation that must be `YES` before absence in the log means anything.

    Finding references does not prove that sources are found: entries with a person's reference are found by source.
    """
    sent = entry_references(op)
    ours = sent[0].is_ours if sent else not any(entry.get("reference") for entry in entries_of(op))
    return (LOG_FOUND_BY_REFERENCE if op.operation == CREATE_LOGS else MOVEMENT_FOUND_BY_REFERENCE) + (
        "" if ours else BY_SOURCE_SUFFIX
    )


def named_locations(op: Operation) -> dict[str, tuple[str, ...]]:
    """Return the products of an operation with the locations it names for each."""
    found: dict[str, dict[str, None]] = {}
    for entry in entries_of(op):
        codes = found.setdefault(str(entry.get("product_number") or ""), {})
        for end in (entry, entry.get("from_location"), entry.get("to_location")):
            if isinstance(end, Mapping) and end.get("location_code"):
                codes[str(end["location_code"])] = None
    return {product: tuple(codes) for product, codes in found.items() if product}


def _quantities_by_location(row: Row, codes: tuple[str, ...]) -> dict[str, str]:
    """Return quantities by location code; the empty code is the whole store."""
    found = {"": str(row["most_likely_quantity"])[:MAX_VALUE]} if row.get("most_likely_quantity") is not None else {}
    entries = row.get("store_locations")
    for entry in entries if isinstance(entries, list) else ():
        code = str(entry.get("store_location_code") or "") if isinstance(entry, Mapping) else ""
        if code in codes:
            found[code] = _total_quantity(entry)
    return {**dict.fromkeys(codes, "0"), **found} if isinstance(entries, list) else found


def _total_quantity(entry: Row) -> str:
    if entry.get("quantity") is not None:
        return str(entry["quantity"])[:MAX_VALUE]
    return str(sum((to_decimal(entry.get(f"stock_pool_{pool}")) for pool in _POOLS), Decimal(0)))


def _ignores_filter(rows: list[Row], reference: str) -> bool:
    return any(reference not in str(row.get("reference") or "") for row in rows)
