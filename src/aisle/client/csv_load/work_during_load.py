"""Work in a store while a load counts there: entries that others add to the store's log, read with `from_id`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aisle.client.client import Client
from aisle.client.csv_load.records import Record
from aisle.client.csv_load.report import unread_error
from aisle.client.paging import Row
from aisle.client.responses_and_errors import ClientError, Response, TooManyRows, TransportError, to_int64
from aisle.contract.request_encoding import QueryValue
from aisle.row_values import to_decimal

LOG_READ = "Aisle-Log-Read"
"""Header of a count: id of the last log entry that its sender has read."""
LOAD_REFERENCE = "aisle load"
"""Reference of counts from a file; finds them in the log again."""
_FEATURE = "log-read"
_LIST = "list-store-product-logs"
_MAX_ROWS, _MAX_TEXT = 100_000, 200
"""Entries that others make during a load, and characters of a text in one, that are kept."""
_FIELDS = (
    "id", "product_number", "location_code", "reference", "app_user_name", "counted_quantity", "quantity",
)  # fmt: skip
"""Fields of an entry that are used."""


class WorkDuringLoad:
    """Position up to which the log of each store is read, and the entries behind it that are not of this load.

    Stores whose log has no ids or no total are not watched.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._positions: dict[str, int | None] = {}
        self._own_ids: set[int] = set()
        self._seen: dict[tuple[str, str], Row] = {}
        """Last entry of others since the load began in a store, by store and product."""
        self._since: dict[str, list[Row]] = {}
        """Entries of others since a recount that was cut off began, by store."""

    def position(self, store: str) -> int | None:
        """Return the id of the last entry that was read; None if the store is not watched."""
        return self._positions.get(store)

    def last_entry(self, store: str, product: str) -> Row | None:
        """Return the last entry of others for a product since the load began."""
        return self._seen.get((store, product))

    async def read(self, store: str) -> list[Row]:
        """Return the entries of others since the last read; none at the first. Raise LoadError without a response."""
        try:
            if store not in self._positions:
                self._positions[store] = await self._last_id(store)
                return []
            return await self._read_new(store)
        except TransportError as error:
            raise unread_error("What others count and move meanwhile", error) from error
        except ClientError:
            return []  # the service gives no log to read, or refuses the counts with a reason

    def keep(self, response: Response) -> None:
        """Record the entries that the service has made of a batch of this load."""
        self._own_ids.update(_ids_of(response))

    async def begin(self, store: str, first: int | None) -> None:
        """Read what others did in a store since a recount that was cut off began behind an entry; None if unknown."""
        if first is None or store in self._positions:
            return
        try:
            rows = await self._read_from(store, first + 1)
        except TransportError as error:
            raise unread_error("What others counted since", error) from error
        except ClientError:
            return  # the log is read again, with the same result
        self._positions[store] = max((int(row["id"]) for row in rows), default=first)
        self._since[store] = [row for row in rows if row.get("reference") != LOAD_REFERENCE]
        for row in self._since[store]:
            self._seen[store, str(row.get("product_number") or "")] = row

    def counted_since(self, count: Record, position: int | None) -> Row | None:
        """Return the last count of others behind an entry, of the product at the same location or of all of it."""
        code = count.body.get("location_code") or ""
        found = None
        for row in self._since.get(count.store, ()) if position is not None else ():
            is_there = (row.get("location_code") or "") in ("", code)
            if row.get("counted_quantity") is not None and is_there and int(row["id"]) > (position or 0):
                found = row if row.get("product_number") == count.body["product_number"] else found
        return found

    async def _read_from(self, store: str, first: int) -> list[Row]:
        query: dict[str, QueryValue] = {"store_number": store, "is_historic": True, "from_id": first, "page_size": 1000}
        found: list[Row] = []
        async for rows, _ in self._client.pages(_LIST, query=query, by="id"):
            found += map(_short_row, rows)
            if len(found) > _MAX_ROWS:
                raise TooManyRows(f"The entries of {_LIST} do not end: there are more than {_MAX_ROWS:,}.")
        return found

    async def _read_new(self, store: str) -> list[Row]:
        position = self._positions[store]
        if position is None:
            return []
        found = []
        for row in await self._read_from(store, position + 1):
            number = int(row["id"])
            self._positions[store] = number
            if number not in self._own_ids:
                found.append(row)
                self._seen[store, str(row.get("product_number") or "")] = row
            self._own_ids.discard(number)
        return found

    async def _last_id(self, store: str) -> int | None:
        query: dict[str, QueryValue] = {"store_number": store, "is_historic": True, "page_size": 1}
        rows, envelope = await self._client.first_page(_LIST, query=query)
        total = to_int64(envelope.get("total_count"))
        if not rows and not total:
            return 0
        if total and total > 1:
            rows, _ = await self._client.first_page(_LIST, query={**query, "page_start": total})
        return to_int64(rows[-1].get("id")) if rows and total else None


def _short_row(row: Row) -> Row:
    """Return the fields of an entry that are used."""
    fields = {name: row[name] for name in _FIELDS if name in row}
    return {name: value[:_MAX_TEXT] if isinstance(value, str) else value for name, value in fields.items()}


def _ids_of(response: Response) -> list[int]:
    """Return the ids of the entries that the service has made of a batch."""
    try:
        ids = response.json().get("data")
    except (ValueError, AttributeError, RecursionError):
        return []
    return [number for one in ids if (number := to_int64(one)) is not None] if isinstance(ids, Sequence) else []


def is_conditional(response: Response) -> bool:
    """Return True if the service refuses a count whose sender has not read the log."""
    return _FEATURE in response.headers.get("aisle-features", "")


def products_of(entries: Sequence[Row], batch: Sequence[Record]) -> Mapping[str, Row]:
    """Return the last of these entries for each product of a batch."""
    named = {str(count.body.get("product_number")) for count in batch}
    return {product: row for row in entries if (product := str(row.get("product_number") or "")) in named}


def describe_entry(row: Row) -> str:
    """Return an entry of the log as text: what was done, where, and by whom."""
    counted, quantity = row.get("counted_quantity"), to_decimal(row.get("quantity"))
    done = f"{quantity.normalize():+f}" if counted is None else f"counted {to_decimal(counted).normalize():f}"
    where = f" at {row['location_code']}" if row.get("location_code") else ""
    who = row.get("app_user_name") or row.get("reference")
    return f"{row.get('product_number')}: {done}{where}{f' by {who}' if who else ''}"
