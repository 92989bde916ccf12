"""A load: the files of a directory sent through the service's own interface, in batches that can be sent again.

What the files say is what the service has afterwards: everything is sent, whatever an earlier load has sent, for others
may have changed it since. Stock alone is not counted a second time, since goods have moved, unless that is asked for.
Every batch goes under an `Idempotency-Key` of this run, so that one whose answer was lost is not carried out twice; a
count goes under the name of the load, which a load that was cut off keeps when it goes on. A batch that is refused is
halved until the rows are found that the service does not take; the others are loaded.

A service may keep a refusal under its key too. What was refused before the load was cut off may be right now: a refusal
that comes out of that memory is asked for again under a key of its own. It changed nothing then.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import secrets
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from decimal import Decimal
from pathlib import Path

from aisle.client.answer import Answer
from aisle.client.core import Core
from aisle.client.errors import ClientError, TransportError, message_of
from aisle.client.fate import Fate, classify
from aisle.client.load.columns import (
    ATTRIBUTES,
    DELIVERIES,
    DISCOUNT_PRICES,
    FREE_FIELDS,
    LOCATIONS,
    ORDERS,
    PEOPLE,
    PRICES,
    PRODUCTS,
    STOCK,
    STORE_PRODUCTS,
    STORES,
)
from aisle.client.load.confirmed import Confirmed, lost_meanwhile
from aisle.client.load.elsewhere import Elsewhere
from aisle.client.load.kept_stock import Kept, KeptStock
from aisle.client.load.known import compare
from aisle.client.load.loaded_stock import LoadedStock, marked
from aisle.client.load.read import NOTHING_FOUND, Left, Record, records, tables, unknown_files
from aisle.client.load.repeated import alike
from aisle.client.load.report import BadRow, FileReport, LoadError, LoadReport, Progress
from aisle.client.load.resume import begin, end
from aisle.client.load.table import Key, Table
from aisle.client.retry import read_retry_after
from aisle.contract.wire import QueryValue, encode_json, encode_segment
from aisle.errors import ContractError
from aisle.text import clean, ended
from aisle.tuples import NamedTuple

TRIES = 6
FIRST_WAIT = 0.5
LONGEST_WAIT = 30.0
PENDING_ROWS = 20_000
"""Rows that may wait for their store's batch to fill, in files that go from store to store."""

EXTENSIONS = "/aisle/v1/"
LOCATIONS_PATH = f"{EXTENSIONS}locations"
PEOPLE_PATH = f"{EXTENSIONS}stores/{{store_number}}/people"


class Target(NamedTuple):
    """Where the records of a file go: an operation of the interface (or our own path), its array, rows in one batch."""

    operation: str
    array: str
    rows: int
    query: Mapping[str, QueryValue] = {}


TARGETS = {
    STORES.file: Target("create-stores", "stores", 200),
    PRODUCTS.file: Target("create-or-update-products", "products", 500),
    LOCATIONS.file: Target(LOCATIONS_PATH, "locations", 500),
    STOCK.file: Target("create-store-product-logs", "storeproductlog", 500, {"is_counted_quantity": True}),
    ORDERS.file: Target("create-customer-orders-one-store", "orders", 1000),
    ATTRIBUTES.file: Target("update-product-attributes", "products", 500),
    FREE_FIELDS.file: Target("create-product-free-fields", "products", 500),
    PRICES.file: Target("create-prices", "products", 500),
    DISCOUNT_PRICES.file: Target("create-discount-prices", "products", 500),
    PEOPLE.file: Target(PEOPLE_PATH, "people", 100),
    STORE_PRODUCTS.file: Target("create-store-products", "store_products", 500),
    DELIVERIES.file: Target("create-store-deliveries", "orders", 1000),
}


class _Stop(Exception):
    """No error: a strict load has found its bad row."""


async def load(
    directory: Path,
    client: Core,
    *,
    strict: bool = False,
    recount: bool = False,
    where: str = "",
    kept: Path | None = None,
    progress: Callable[[Progress], None] | None = None,
    cut_off: Callable[[LoadReport], None] | None = None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> LoadReport:
    """Loads all that the interface can create from the CSV files of a directory, each of them optional.

    Stock rows are loaded as counts; with `recount` also those that were loaded before. A strict load stops at the first
    bad row; otherwise the good rows of every file are loaded, and the report names the bad ones. `where` says in words
    which service it is. `kept` is a file that holds the name of this load until its end: a load of the same files that
    finds it there goes on. `progress` is told after each batch; `cut_off` is given the report so far of a load that
    ends early.

    Raises LoadError when a file cannot be used at all (before anything is sent), or when the service does not answer,
    or takes nothing from this token.

    interface: the creating operations; locations and people, which it has none for, go to `/aisle/v1/`.
    """
    files: list[FileReport] = []
    bad: list[BadRow] = []
    stopped = False
    found = tables(directory)
    name = begin(kept, found, recount=recount)
    before = (
        None if recount else LoadedStock(client, next((table for table in found if table.name == STOCK.file), None))
    )
    confirmed = Confirmed(client)
    for table in found:
        run = _File(table, client, name.id, before, confirmed, strict, progress or _nothing, sleep)
        is_whole = False
        try:
            await run.send_all()
            is_whole = True
        except _Stop:
            stopped = is_whole = True
        finally:
            files.append(run.report())
            bad += sorted(run.bad, key=lambda row: row.line)
            if not is_whole and cut_off:
                unknown = unknown_files(directory)
                cut_off(LoadReport(tuple(files), tuple(bad), unknown, False, name.is_resumed, where))
        if stopped:
            break
    lost, unasked = await lost_meanwhile(confirmed)
    end(kept)
    of_load = stopped, name.is_resumed, where, lost, unasked
    return LoadReport(tuple(files), tuple(bad), unknown_files(directory), *of_load)


def _nothing(_: Progress) -> None:
    """Nobody asked to be told."""


_PAGE = 1000
_NO_PRODUCT = re.compile(r"There is no product (\S+)\.")


class _File:
    """One file on its way to the service."""

    def __init__(
        self,
        table: Table,
        client: Core,
        load_id: str,
        before: LoadedStock | None,
        confirmed: Confirmed,
        strict: bool,
        progress: Callable[[Progress], None],
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self.bad: list[BadRow] = []
        self._table = table
        self._target = TARGETS[table.name]
        self._client = client
        self._confirmed = confirmed
        self._strict = strict
        self._progress = progress
        self._sleep = sleep
        self._closed_stores: dict[str, str] = {}
        self._refused_field = ""
        self._is_mixed = False
        self._found = NOTHING_FOUND
        self._is_stock = table.name == STOCK.file
        self._before = before if self._is_stock else None
        self._kept = KeptStock(client, table)
        self._elsewhere = Elsewhere(table)
        self._run_key = secrets.token_hex(8)
        # What a count is to be done once for is the load; all else is done by each of its runs.
        self._key = load_id if self._is_stock else self._run_key
        self._rows = self._loaded_rows = self._loaded_records = 0
        self._left: list[int] = []
        self._stores: dict[str, None] = {}

    def report(self) -> FileReport:
        loaded = self._loaded_rows, self._loaded_records
        notes = tuple(self._table.notes.lines())
        return FileReport(self._table.name, self._rows, *loaded, tuple(self._left), notes, tuple(self._stores))

    async def send_all(self) -> None:
        self._found = await compare(self._table, self._client)
        for found in self._batches():
            if isinstance(found, Left):
                self._refuse(found.rows, *found.bad)
            else:
                if batch := await self._new_ones(found):
                    await self._send(batch)
                self._tell()
        self._elsewhere.note_all()
        await self._name_products()
        self._tell()

    async def _name_products(self) -> None:
        """Adds to refusals for an unknown product which one of the service differs from it by zeros, blanks or case."""
        asked: dict[Key, list[int]] = {}
        for at, row in enumerate(self.bad):
            if found := _NO_PRODUCT.search(row.reason):
                asked.setdefault(alike((found[1],)), []).append(at)
        if not asked:
            return
        try:
            async with aclosing(self._client.pages("list-products", query={"page_size": _PAGE})) as pages:
                async for rows, _ in pages:
                    for number in (str(row.get("product_number") or "") for row in rows):
                        for at in asked.get(alike((number,)), ()) if number else ():
                            self.bad[at] = self.bad[at]._replace(reason=f"{self.bad[at].reason} {number}?")
        except ClientError:
            return  # it is a hint

    async def _new_ones(self, batch: list[Record]) -> list[Record]:
        """The records to send: of stock, those that were not loaded before."""
        if not self._is_stock:
            return batch
        found: list[Record] = []
        for count in batch:
            new, left = (count, ()) if self._before is None else await self._before.split(count, self._table.notes)
            kept = await self._kept.of(count.store, count.body["product_number"])
            if not kept.is_kept:
                new, left = None, ()
                self._note_unkept(count)
            elif new and "location_code" not in new.body:
                self._note_other_pools(new, kept.pools)
            if new and self._before is not None:
                new = self._elsewhere.unchanged(new, kept)
            if new:
                self._elsewhere.expect(new, kept)
                new = _at_no_place(new, kept) if new.is_beside else new
            self._left += left
            self._rows += len(count.at) - (len(new.at) if new else 0)
            found += [marked(new)] if new else []
        return found

    def _note_unkept(self, count: Record) -> None:
        for name, line in count.at.items():
            value = f"{count.body[name]} of {count.body['product_number']}"
            what = "the product keeps no stock in this store (is_stock is false), so the row is not loaded"
            self._table.notes.warn(what, value, line)

    def _note_other_pools(self, count: Record, pools: Mapping[str, Decimal]) -> None:
        """Notes what a count without a place leaves in other pools; one that names none counts the first."""
        others = {name: quantity for name, quantity in pools.items() if name not in count.at}
        if "counted_quantity" in count.at:
            others.pop("stock_pool_1", None)
        for name, quantity in others.items():
            what = "a row without a place counts the pool that it names, or pool 1, and what is in others stays"
            pool = name.removeprefix("stock_pool_")
            self._table.notes.warn(what, f"{quantity:f} of {count.body['product_number']} in pool {pool}", count.line)

    def _batches(self) -> Iterator[list[Record] | Left]:
        """Records of the same store together, as many as make a batch, and the rows that make no record."""
        pending: dict[str, list[Record]] = {}
        filled: dict[str, int] = {}
        for found in records(self._table, self._found):
            if isinstance(found, Left):
                yield found
                continue
            store = found.store
            if filled.get(store, 0) + found.rows > self._target.rows and store in pending:
                del filled[store]
                yield pending.pop(store)
            pending.setdefault(store, []).append(found)
            filled[store] = filled.get(store, 0) + found.rows
            if sum(filled.values()) > PENDING_ROWS:
                fullest = max(filled, key=lambda name: filled[name])
                del filled[fullest]
                yield pending.pop(fullest)
        yield from pending.values()

    async def _send(self, batch: Sequence[Record]) -> None:
        """Sends a batch; halves it when it is refused, first half first, until the records are found that are."""
        for record in batch:
            if reason := self._closed_stores.get(_store_of(record)):
                self._refuse(record.rows, _refused(self._table.name, record, reason))
        batch = [record for record in batch if _store_of(record) not in self._closed_stores]
        if not batch:
            return
        reason = await self._refusal(batch)
        if not reason:
            self._rows += sum(record.rows for record in batch)
            self._loaded_rows += sum(record.rows for record in batch)
            self._loaded_records += len(batch)
            if self._is_stock:
                for record in batch:
                    self._elsewhere.done(record)
            self._stores |= dict.fromkeys(store for record in batch if (store := _named_store(record)))
        elif _store_of(batch[0]) in self._closed_stores:
            await self._send(batch)
        elif len(batch) == 1:
            self._refuse(batch[0].rows, _refused(self._table.name, batch[0], reason, self._refused_field))
        else:
            middle = len(batch) // 2
            await self._send(batch[:middle])
            await self._send(batch[middle:])

    async def _refusal(self, batch: Sequence[Record]) -> str:
        """Why the service does not take the batch; empty when it did, now or in an earlier load."""
        try:
            answer = await self._answer(batch)
            if _is_replayed(answer) and classify(answer) is Fate.REFUSED:
                answer = await self._answer(batch, self._run_key)
        except ContractError as error:
            return str(error)
        if classify(answer) is Fate.ACCEPTED or _was_carried_out(answer):
            return ""
        raw = clean(message_of(answer))
        self._refused_field = next(iter(_POOL_FIELD.findall(raw)), "")
        said = ended(_in_columns(raw, self._target.array) or f"status {answer.status}")
        if not self._is_of_a_store(answer.status, said, batch):
            self._raise_hopeless(answer.status, said)
        return said

    def _is_of_a_store(self, status: int, said: str, batch: Sequence[Record]) -> bool:
        """Whether a 403 or 404 concerns a store that records name, and not the whole file.

        A store that all records of the batch name is closed: its other rows are refused unasked.
        """
        stores = {_store_of(record) for record in batch}
        if status not in (403, 404) or not any(stores):
            return False
        is_named = any(re.search(rf"(?<!\w){re.escape(store)}(?!\w)", said) for store in stores if store)
        if status == 404:
            is_of_store = is_named
        else:
            self._is_mixed = self._is_mixed or len(stores) > 1
            is_of_store = is_named or self._is_mixed or bool(batch[0].store)
        if is_of_store and len(stores) == 1 and (status == 403 or self._target.operation.startswith(EXTENSIONS)):
            self._closed_stores[stores.pop()] = said
        return is_of_store

    def _raise_hopeless(self, status: int, said: str) -> None:
        """Raises LoadError for a refusal that no row can mend."""
        file = self._table.name
        if status == 401:
            raise LoadError(f"The service does not accept the token: {said} Give a valid one and load again.")
        if self._target.operation.startswith(EXTENSIONS) and status in (404, 405, 501):
            what = self._target.array
            raise LoadError(
                f"The service cannot create {what}: {said} Remove {file}, or load into aisle's own service."
            )
        if status == 403:
            raise LoadError(f"The token may not load {file}: {said} Use one that may, and load again.")

    async def _answer(self, batch: Sequence[Record], more: str = "") -> Answer:
        """The service's yes or no, asked for again under the same key while it has none."""
        body = encode_json({self._target.array: [record.body for record in batch]})
        problem, wait = "", 0.0
        for attempt in range(TRIES):
            if attempt:
                await self._sleep(wait)
            wait = min(LONGEST_WAIT, FIRST_WAIT * 2.0**attempt)
            try:
                answer = await self._post(batch, body, more)
            except TransportError as error:
                problem = str(error)
            else:
                if answer.status == 401 or classify(answer) in (Fate.ACCEPTED, Fate.REFUSED):
                    return answer
                problem = f"The service answered {answer.status}: {clean(message_of(answer))}"
                wait = max(wait, min(LONGEST_WAIT, read_retry_after(answer.headers.get("retry-after"), 0.0) or 0.0))
        where = f"{self._table.name}:{batch[0].line}"
        raise LoadError(f"{problem} Stopped at {where}. Load again later: it goes on, and doubles nothing.")

    async def _post(self, batch: Sequence[Record], body: bytes, more: str) -> Answer:
        target, store = self._target, batch[0].store
        parts = (target.operation.encode(), store.encode(), self._key.encode(), more.encode(), body)
        key = f"load-{hashlib.sha256(bytes(1).join(parts)).hexdigest()[:48]}"
        headers = {"Idempotency-Key": key}
        if target.operation.startswith(EXTENSIONS):
            path = target.operation.replace("{store_number}", encode_segment(store) if store else "")
            answer = await self._client.extension("POST", path, headers=headers, body=body)
        else:
            at = {"store_number": store} if store else {}
            query = target.query
            answer = await self._client.request(target.operation, path=at, query=query, headers=headers, body=body)
        if classify(answer) is Fate.ACCEPTED and target.operation != PEOPLE_PATH:  # the service keeps no key of PINs
            self._confirmed.keep(self._table.name, _scope_of(batch), key, answer)
        return answer

    def _refuse(self, rows: int, *bad: BadRow) -> None:
        self._rows += rows
        self.bad.extend(bad[:1] if self._strict else bad)
        if self._strict and bad:
            raise _Stop

    def _tell(self) -> None:
        self._progress(Progress(self._table.name, self._rows, self._table.position, self._table.size))


def _at_no_place(count: Record, kept: Kept) -> Record:
    """A count of what lies at no place as the service takes it: with what lies at places before the load."""
    pools = {name: "stock_pool_1" if name == "counted_quantity" else name for name in count.at}
    whole = {name: count.body[name] + kept.at_places(pool) for name, pool in pools.items()}
    return count._replace(body=count.body | whole)


def _is_replayed(answer: Answer) -> bool:
    return answer.headers.get("idempotency-replayed") == "true"


def _was_carried_out(answer: Answer) -> bool:
    """Whether the service knows the key, but no longer what it answered: the batch was loaded long ago."""
    if answer.status != 409:
        return False
    try:
        return bool(answer.json()["errors"][0]["field"] == "Idempotency-Key")
    except (ValueError, LookupError, TypeError, RecursionError):
        return False


def _store_of(record: Record) -> str:
    """The store that a record is for: that of its path, or of its body where the path has none."""
    return record.store or ("" if "store_name" in record.body else str(record.body.get("store_number") or ""))


def _scope_of(batch: Sequence[Record]) -> str:
    """The store that the key of a batch is kept for: that of its path, or the first that rows name; '' for none."""
    return batch[0].store or min(filter(None, map(_named_store, batch)), default="")


def _named_store(record: Record) -> str:
    """The store that a record is for, or that it makes."""
    return record.store or str(record.body.get("store_number") or "")


def _refused(file: str, record: Record, reason: str, field: str = "") -> BadRow:
    rows = f" with its {record.rows} rows" if record.rows > 1 else ""
    said = f"{reason}{_ADVICE.get(file, '')}" if _EXISTS.search(reason) else reason
    line = record.at.get(field, record.line)
    return BadRow(file, line, f"the service refused {record.what}{rows}: {said}", _kind(record, said))


def _in_columns(said: str, array: str) -> str:
    """What the service says of a field of a body, with the name that its column has in the file."""
    said = re.sub(rf"\b{re.escape(array)}\[\d+\]\.", "", said)
    said = re.sub(r"\b\w+\[(\d+)\]\.(\w+)", lambda found: f"{found[2]} of line {int(found[1]) + 1}", said)
    said = re.sub(rf"^{re.escape(array)}\[\d+\]: ", "", said)
    return _POOL_FIELD.sub("quantity", said)


def _kind(record: Record, reason: str) -> str:
    """What many rows are refused for: the reason without what this record alone has."""
    said = (value for name, value in record.body.items() if name != "store_number")
    own = {str(value) for value in said if isinstance(value, str | int | Decimal)}
    for value in sorted(own - {""}, key=len, reverse=True):
        reason = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", "…", reason)
    return f"the service refused it: {reason}"


_POOL_FIELD = re.compile(r"\b(?:stock_pool_\d+|counted_quantity)\b(?=:)")
_EXISTS = re.compile(r"exists with another content", re.IGNORECASE)
_ADVICE = {
    ORDERS.file: " A load changes no order: change it where it was made, or give the row another order_number.",
    DELIVERIES.file: " A load changes no delivery: change it where it was announced, or give the row another"
    " order_number.",
}
"""What a person can do where a record is there with other values."""
