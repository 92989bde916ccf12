"""Sending of a load: batches, retries and refused rows."""

from __future__ import annotations

import asyncio
import hashlib
import re
import secrets
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import suppress
from http import HTTPStatus
from itertools import chain
from pathlib import Path

from aisle.client.client import Client, parse_retry_after
from aisle.client.csv_load.batch_responses import (
    ADVICE,
    EXISTS_DIFFERENTLY,
    LINE_INDEX,
    POOL_FIELD,
    Confirmed,
    Difference,
    ask_meanwhile,
    describe_differences,
    is_replayed,
    note_changes,
    record_counts,
    refused_row,
    was_carried_out,
    with_column_names,
    with_differences,
)
from aisle.client.csv_load.checked_rows import CsvTable
from aisle.client.csv_load.clean_cells_and_keys import bare_codes, nearest, suggestion
from aisle.client.csv_load.conflicting_rows import warn_of_refused_users
from aisle.client.csv_load.conflicts_with_service import (
    ChangedOrders,
    compare_with_service,
    warn_of_missing_supervisors,
)
from aisle.client.csv_load.counts_sent_once import CountsToSend, LoadId, kept_load_id
from aisle.client.csv_load.existing_stock_and_loaded_counts import LoadedStock
from aisle.client.csv_load.fields_replaced_by_other_file import ReplacedFields
from aisle.client.csv_load.file_layouts_and_columns import (
    DISCOUNT_PRICES,
    EXTENSION_PREFIX,
    ORDERS,
    PEOPLE,
    PEOPLE_PATH,
    PRICES,
    PRODUCTS,
    STOCK,
    STORE_PRODUCTS,
)
from aisle.client.csv_load.price_conflicts_with_store import CHAIN_PRICES, warn_of_own_prices
from aisle.client.csv_load.records import (
    NO_FINDINGS,
    BadRows,
    Record,
    ServiceFindings,
    open_tables,
    read_records,
    unknown_files,
)
from aisle.client.csv_load.report import (
    SHORT,
    WHOLE,
    WORKED_ON,
    BadRow,
    FileReport,
    LoadError,
    LoadProgress,
    LoadReport,
    Meanwhile,
    NotLoaded,
)
from aisle.client.csv_load.service_reads import location_codes, read_units, read_zone
from aisle.client.csv_load.work_during_load import LOG_READ
from aisle.client.csv_load.wrong_keys import find_mistaken_keys, find_unknown_keys
from aisle.client.responses_and_errors import (
    ClientError,
    NotSent,
    Outcome,
    Response,
    ServerError,
    TransportError,
    message_of,
    outcome_of,
)
from aisle.contract.request_encoding import QueryValue, encode_json, encode_segment
from aisle.errors import ContractError
from aisle.terminal_text import clean, end_sentence

MAX_TRIES = 6
FIRST_WAIT = 0.5
LONGEST_WAIT = 30.0
MAX_PENDING_ROWS = 20_000
"""Number of rows that may wait for their store's batch to fill, in files that alternate between stores."""


class _StrictStop(Exception):
    """Stop of a strict load at its bad row; not an error."""


async def load(
    directory: Path,
    client: Client,
    *,
    strict: bool = False,
    recount: bool = False,
    service_name: str = "",
    id_file: Path | None = None,
    progress: Callable[[LoadProgress], None] | None = None,
    on_cut_off: Callable[[LoadReport], None] | None = None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> LoadReport:
    """Load everything that the interface can create from the CSV files of a directory; each file is optional.

    Stock rows are loaded as counts; with `recount` also those that were loaded before. A strict load stops at the first
    bad row; otherwise the good rows of every file are loaded, and the report lists the bad ones. `service_name` is the
    service's name for a person. `id_file` holds the id of this load until its end; a load of the same files that
    finds it there counts no stock twice. `progress` is called after each batch; `on_cut_off` receives the report of a
    load that fails.

    Raise LoadError if a file cannot be used at all or another load of the directory is running (before anything is
    sent), or if the service does not respond or
    refuses the token.

    interface: the creating operations. Locations and people have none, and go to `/aisle/v1/`.
    """
    runs: list[FileLoad] = []
    bad: list[BadRow] = []
    stopped = False
    found = open_tables(directory)
    with kept_load_id(id_file, found, recount=recount) as name:
        await find_mistaken_keys(found, client)
        before = (
            None if recount else LoadedStock(client, next((table for table in found if table.layout is STOCK), None))
        )
        confirmed, replaced = Confirmed(client), ReplacedFields(found, await find_unknown_keys(found, client))
        by_name = {table.name: table for table in found}
        staffed = by_name.get(PEOPLE.file) or by_name.get(ORDERS.file)

        def report(meanwhile: Meanwhile) -> LoadReport:
            unknown = unknown_files(directory)
            of_load = stopped, name.is_resumed, service_name, meanwhile, recount, name.has_unfinished_recount
            return LoadReport(tuple(run.report() for run in runs), tuple(bad), unknown, *of_load)

        for table in found:
            run = FileLoad(
                table, client, name, before, confirmed, replaced, strict, progress or _ignore_progress, sleep
            )
            is_whole = False
            try:
                await run.send_all()
                if table.name in CHAIN_PRICES:
                    others = [one for one in found if one is not table and one.layout in (PRICES, STORE_PRODUCTS)]
                    held = replaced.rows_holding(table.name, CHAIN_PRICES[table.name])
                    await warn_of_own_prices(table, others, client, {*held, *(row.line for row in run.bad)})
                if table.layout is PEOPLE:
                    warn_of_refused_users(table, {row.line for row in run.bad})
                if table is staffed:
                    await warn_of_missing_supervisors(table, client)
                is_whole = True
            except _StrictStop:
                stopped = is_whole = True
            finally:
                runs.append(run)
                bad += sorted(run.bad, key=lambda row: row.line)
                if not is_whole and on_cut_off:
                    on_cut_off(report(Meanwhile()))
            replaced.refuse(table.name, [row.line for row in run.bad])
            if stopped:
                break
        return report(await ask_meanwhile(confirmed))


def _ignore_progress(_: LoadProgress) -> None:
    """Ignore progress."""


_LOG_WENT_ON = "the log went on"
"""Refusal of counts whose products have entries that were not read."""
_UNKNOWN_PRODUCT = re.compile(r"There is no product (.+?)\.(?=\s|\Z)")


class FileLoad:
    """Load of one file."""

    def __init__(
        self,
        table: CsvTable,
        client: Client,
        load_id: LoadId,
        loaded_stock: LoadedStock | None,
        confirmed: Confirmed,
        replaced: ReplacedFields,
        strict: bool,
        progress: Callable[[LoadProgress], None],
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self.bad: list[BadRow] = []
        self._table = table
        self._target = table.layout.target
        self._client = client
        self._loaded_stock = loaded_stock
        self._confirmed = confirmed
        self._replaced = replaced
        self._strict = strict
        self._progress = progress
        self._sleep = sleep
        self._closed_stores: dict[str, str] = {}
        self._refused_field = ""
        self._refused_line = 0
        """Index of the line of the record that the last refusal is about."""
        self._is_mixed = False
        self._findings = NO_FINDINGS
        self._is_stock = table.layout is STOCK
        self._counts = CountsToSend(
            table, client, loaded_stock, load_id.recount, lambda row: self._add_bad_rows(0, row)
        )
        self._changed_orders = ChangedOrders(client, table.notes)
        self._run_key = secrets.token_hex(8)
        self._load_id = load_id.id
        # A count is done once for each load; everything else once for each run.
        self._batch_key = load_id.id if self._is_stock else self._run_key
        self._rows = self._loaded_rows = self._loaded_records = 0
        self._is_read = False
        self._last_line = 0
        """Last row that was loaded; a load that ends early leaves those after it."""
        self._loaded_lines: list[range] = []
        self._unknown_lines: tuple[int, ...] = ()
        self._states: Counter[str] = Counter()
        """Records that were new, changed and the same in the service before."""
        self._refused_names: set[str] = set()
        """Orders and deliveries of the file that are not loaded."""
        self._stores: dict[str, None] = {}
        self._unknown_places: dict[str, list[tuple[int, str]]] = {}
        """Refused rows, by their index, with a location that their store does not have."""

    def report(self) -> FileReport:
        loaded = self._loaded_rows, self._loaded_records
        refused = {row.line for row in self.bad}
        missing = NotLoaded(refused, self._last_line, self._refused_names)
        notes, whole_notes = (tuple(self._table.notes.lines(missing, limits)) for limits in (SHORT, WHOLE))
        return FileReport(
            self._table.name,
            self._rows + self._counts.rows,
            *loaded,
            tuple(self._counts.already_loaded),
            notes,
            whole_notes,
            tuple(self._stores),
            self._counts.rows_left,
            self._counts.unchanged_rows,
            {} if self._is_stock else self._states,
            tuple(sorted(self._replaced.held_rows.get(self._table.name, set()) - refused)),
            tuple(sorted(self._replaced.replaced_rows.get(self._table.name, set()) - refused)),
            self._unknown_lines,
            self._is_read,
            () if self._is_read else tuple(chain.from_iterable(self._loaded_lines)),
        )

    async def send_all(self) -> None:
        await read_units(self._table, self._client)
        found = await compare_with_service(self._table, self._client, self._replaced)
        self._findings = found._replace(replaced=self._replaced)
        if self._table.layout is PRODUCTS and found.prices is not None:
            await self._keep_created(found)
        if self._is_stock:
            await self._counts.start()
        for one in self._batches():
            if isinstance(one, BadRows):
                self._refused_names |= {one.name} if one.name else set()
                self._add_bad_rows(one.rows, *one.bad_rows)
            else:
                if batch := await self._select_counts(one) if self._is_stock else one:
                    await self._read_orders(batch)
                    await self._send(batch)
                self._report_progress()
        self._is_read = True
        self._findings = NO_FINDINGS  # They can be large.
        self._counts.note_all()
        await self._suggest_products()
        await self._suggest_locations()
        self._report_progress()

    async def _keep_created(self, found: ServiceFindings) -> None:
        """Record the products that are created; none if the service lists no product, as it may have some."""
        if self._loaded_stock and (found.known_keys or await self._has_products()):
            keys = (key for _, key, _ in self._table.record_keys() if key not in found.known_keys)
            self._loaded_stock.add_created(key[-1] for key in keys)

    async def _has_products(self) -> bool:
        try:
            return bool((await self._client.first_page("list-products"))[0])
        except ClientError:
            return False

    async def _suggest_products(self) -> None:
        """Add to refusals for an unknown product the service's product that differs by zeros, signs or case only."""
        named = {at: found[1] for at, row in enumerate(self.bad) if (found := _UNKNOWN_PRODUCT.search(row.reason))}
        if not named:
            return
        near: dict[str, set[str]] = {form: set() for number in named.values() for form in bare_codes(number)}
        try:
            async for product in self._client.rows("list-products"):
                number = str(product.get("product_number") or "")
                for form in bare_codes(number):
                    if form in near:
                        near[form].add(number)
        except ClientError:
            return  # it is only a hint
        for at, unknown in named.items():
            self._suggest(at, unknown, set().union(*(near[form] for form in bare_codes(unknown))))

    async def _suggest_locations(self) -> None:
        """Add to refusals for an unknown location the store's location that differs by case, signs or zeros only."""
        with suppress(ClientError):  # it is only a hint
            for store, rows in self._unknown_places.items():
                places = await location_codes(self._client, store)
                for at, code in rows:
                    self._suggest(at, code, places)

    def _suggest(self, at: int, unknown: str, known: Collection[str]) -> None:
        """Add to a refused row, by its index, the known key that can be meant for its unknown one, if there is one."""
        if other := nearest(unknown, known):
            self.bad[at] = self.bad[at]._replace(reason=f"{self.bad[at].reason} {suggestion(unknown, other)}")

    async def _differences(self, record: Record) -> list[Difference] | None:
        """Return what the record of that number in the service has otherwise; None if it cannot be read.

        Only what the file names is compared: an empty cell keeps the value.
        """
        store, number = _record_store(record), str(record.body.get("order_number") or "")
        query: dict[str, QueryValue] = {"order_number": number}
        is_order = self._table.layout is ORDERS
        query |= {"show_lines": True, "is_active": False} if is_order else {"store_number": store}
        operation, path = ("list-customer-orders", {"store_number": store}) if is_order else ("list-deliveries", {})
        try:
            listed = self._client.rows(operation, path=path, query=query)
            found = [row async for row in listed if row.get("order_number") == number]
        except ContractError:
            return None  # it is refused without a hint
        noun, zone = "order" if is_order else "delivery", await read_zone(self._client, store)
        return describe_differences(record.body, found[0], noun, zone) if found else None

    def _batches(self) -> Iterator[list[Record] | BadRows]:
        """Yield batches of records of the same store, and the rows that make no record."""
        pending: dict[str, list[Record]] = {}
        filled: dict[str, int] = {}
        for found in read_records(self._table, self._findings):
            if isinstance(found, BadRows):
                yield found
                continue
            store = found.store
            if filled.get(store, 0) + found.rows > self._target.batch_rows and store in pending:
                del filled[store]
                yield pending.pop(store)
            pending.setdefault(store, []).append(found)
            filled[store] = filled.get(store, 0) + found.rows
            if sum(filled.values()) > MAX_PENDING_ROWS:
                fullest = max(filled, key=lambda name: filled[name])
                del filled[fullest]
                yield pending.pop(fullest)
        yield from pending.values()

    async def _send(self, batch: Sequence[Record]) -> None:
        """Send a batch. Halve a refused one, first half first, until the refused records are found."""
        for record in batch:
            if reason := self._closed_stores.get(_record_store(record)):
                self._add_bad_rows(record.rows, refused_row(self._table.name, record, reason))
        batch = [record for record in batch if _record_store(record) not in self._closed_stores]
        if batch and self._is_stock:
            batch = await self._counts.without_changed(batch)
        if not batch:
            return
        reason = await self._refusal_reason(batch)
        is_there = len(batch) == 1 and self._table.name in ADVICE and EXISTS_DIFFERENTLY.search(reason)
        differences = await self._differences(batch[0]) if is_there else None
        if not reason or differences == []:
            self._states["same"] += differences == []
            self._add_loaded(batch if self._is_stock else self._without_changed_orders(batch))
            if self._is_stock:
                self._counts.done(batch)
        elif _record_store(batch[0]) in self._closed_stores or reason == _LOG_WENT_ON:
            await self._send(batch)
        elif len(batch) == 1:
            code = str(batch[0].body.get("location_code") or "")
            if batch[0].store and code and f"There is no location {code}." in reason:
                self._unknown_places.setdefault(batch[0].store, []).append((len(self.bad), code))
            bad = refused_row(self._table.name, batch[0], reason, self._refused_field, self._refused_line)
            if differences:
                bad = bad._replace(reason=with_differences(bad.reason, differences))
            self._refused_names.add(str(batch[0].body.get("order_number") or ""))
            self._add_bad_rows(batch[0].rows, bad)
        else:
            middle = len(batch) // 2
            await self._send(batch[:middle])
            await self._send(batch[middle:])

    async def _select_counts(self, batch: Sequence[Record]) -> list[Record]:
        """Return the counts that are sent, and add those that a recount had counted before it was cut off."""
        new, counted = await self._counts.take_counted(batch)
        self._add_loaded(counted)
        return await self._counts.select(new) if new else []

    def _add_loaded(self, batch: Sequence[Record]) -> None:
        self._rows += sum(record.rows for record in batch)
        self._loaded_rows += sum(record.rows for record in batch)
        self._loaded_records += len(batch)
        self._last_line = max((self._last_line, *(record.line for record in batch)))
        self._keep_lines(batch)
        self._stores |= dict.fromkeys(store for record in batch if (store := _named_or_created_store(record)))

    def _keep_lines(self, batch: Sequence[Record]) -> None:
        """Store the rows of loaded records, those that follow each other as one range."""
        kept = self._loaded_lines
        for line in sorted(line for record in batch for line in _record_lines(record)):
            if kept and kept[-1].stop == line:
                kept[-1] = range(kept[-1].start, line + 1)
            else:
                kept.append(range(line, line + 1))

    async def _read_orders(self, batch: Sequence[Record]) -> None:
        """Read the orders of a batch that the service has. Raise LoadError if it does not respond."""
        problem = ""
        for attempt in range(MAX_TRIES if self._table.layout is ORDERS else 0):
            if attempt:
                await self._sleep(min(LONGEST_WAIT, FIRST_WAIT * 2.0**attempt))
            try:
                await self._changed_orders.read(batch)
            except (TransportError, ServerError) as error:
                problem = str(error)
            else:
                return
        if problem:
            raise self._stopped(batch, problem)

    def _without_changed_orders(self, batch: Sequence[Record]) -> list[Record]:
        """Return the records without orders that were changed after their creation, whose rows become bad.

        Those that only work changed are counted, but not as the same.
        """
        found: list[Record] = []
        for record in batch:
            differences = self._changed_orders.differences(record) if self._table.layout is ORDERS else []
            self._states["same"] -= bool(differences)
            if not differences or all(one.is_of_work for one in differences):
                found.append(record)
            if not differences:
                continue
            if differences[0].is_of_work:
                self._states[WORKED_ON] += 1
                self._changed_orders.warn_of_work(record, differences)
            else:
                number = record.body["order_number"]
                changed = f"order {number} was changed after it was loaded; if that is right, write it into the file."
                reason = with_differences(f"{changed}{ADVICE[self._table.name]}", differences)
                self._add_bad_rows(record.rows, BadRow(self._table.name, record.line, reason))
        return found

    async def _refusal_reason(self, batch: Sequence[Record]) -> str:
        """Return why the service refuses the batch; empty if it accepted it, now or in an earlier load."""
        try:
            response = await self._request(batch)
            if is_replayed(response) and outcome_of(response) is Outcome.REFUSED:
                position = self._counts.position(batch[0].store) if self._is_stock else None
                response = await self._request(batch, f"{self._run_key}{'' if position is None else position}")
        except ContractError as error:
            return str(error)
        if outcome_of(response) is Outcome.ACCEPTED or was_carried_out(response):
            self._states.update(record_counts(response))
            await note_changes(response, self._table.notes, self._client)
            if self._is_stock:
                await self._counts.accepted(batch, response)
            return ""
        if self._is_stock and response.status == HTTPStatus.PRECONDITION_FAILED and not is_replayed(response):
            return _LOG_WENT_ON
        raw = clean(message_of(response))
        self._refused_field = next(iter(POOL_FIELD.findall(raw)), "")
        self._refused_line = next((int(at) for at in LINE_INDEX.findall(raw)), 0)
        message = end_sentence(
            with_column_names(raw, self._target.array, self._table.layout.lines_field) or f"status {response.status}"
        )
        if not self._is_store_refusal(response.status, message, batch):
            self._raise_unrecoverable(response.status, message)
        return message

    def _is_store_refusal(self, status: int, message: str, batch: Sequence[Record]) -> bool:
        """Return True if a 403 or 404 is about a store that records name, or the chain, and not about the whole file.

        A store that all records of the batch name is closed: its other rows are refused without a request.
        """
        stores = {_record_store(record) for record in batch}
        if status == HTTPStatus.FORBIDDEN and not any(stores):
            self._is_mixed = self._is_mixed or self._names_stores()
        if status not in (403, 404) or not (any(stores) or self._is_mixed):
            return False
        is_named = any(re.search(rf"(?<!\w){re.escape(store)}(?!\w)", message) for store in stores if store)
        if status == 404:
            is_of_store = is_named
        else:
            self._is_mixed = self._is_mixed or len(stores) > 1
            is_of_store = is_named or self._is_mixed or bool(batch[0].store)
        if is_of_store and len(stores) == 1 and (status == 403 or self._target.operation.startswith(EXTENSION_PREFIX)):
            self._closed_stores[stores.pop()] = message
        return is_of_store

    def _names_stores(self) -> bool:
        """Return True if rows of a file of the chain name stores, which a token without the chain may change."""
        is_of_both = self._table.layout in (PRICES, DISCOUNT_PRICES)
        return is_of_both and any(store for _, (store,) in self._table.select_cells(("store_number",)))

    def _raise_unrecoverable(self, status: int, message: str) -> None:
        """Raise LoadError for a refusal that no change of a row can fix."""
        file = self._table.name
        if status == 401:
            raise LoadError(f"The service does not accept the token: {message} Give a valid one and load again.")
        if self._target.operation.startswith(EXTENSION_PREFIX) and status in (404, 405, 501):
            what = self._target.array
            raise LoadError(
                f"The service cannot create {what}: {message} Remove {file}, or load into aisle's own service."
            )
        if status == 403:
            raise LoadError(f"The token may not load {file}: {message} Use one that may, and load again.")

    async def _request(self, batch: Sequence[Record], key_suffix: str = "") -> Response:
        """Send a batch until the service accepts or refuses it, always under the same key."""
        body = encode_json({self._target.array: [record.body for record in batch]})
        problem, wait, is_sent = "", 0.0, False
        for attempt in range(MAX_TRIES):
            if attempt:
                await self._sleep(wait)
            wait = min(LONGEST_WAIT, FIRST_WAIT * 2.0**attempt)
            try:
                response = await self._post(batch, body, key_suffix)
            except TransportError as error:
                problem = str(error)
                is_sent = is_sent or not isinstance(error, NotSent)
            else:
                is_sent = is_sent or response.status >= HTTPStatus.INTERNAL_SERVER_ERROR
                if response.status == 401 or outcome_of(response) in (Outcome.ACCEPTED, Outcome.REFUSED):
                    return response
                problem = f"The service answered {response.status}: {clean(message_of(response))}"
                wait = max(wait, min(LONGEST_WAIT, parse_retry_after(response.headers.get("retry-after"), 0.0) or 0.0))
        self._unknown_lines = tuple(sorted(chain.from_iterable(map(_record_lines, batch)))) if is_sent else ()
        raise self._stopped(batch, problem)

    def _stopped(self, batch: Sequence[Record], problem: str) -> LoadError:
        where = f"{self._table.name}:{batch[0].line}"
        return LoadError(f"{problem} Stopped at {where}. Load again later: it goes on, and doubles nothing.")

    async def _post(self, batch: Sequence[Record], body: bytes, key_suffix: str) -> Response:
        target, store = self._target, batch[0].store
        parts = (target.operation.encode(), store.encode(), self._batch_key.encode(), key_suffix.encode(), body)
        key = f"load-{self._load_id}-{hashlib.sha256(bytes(1).join(parts)).hexdigest()[:40]}"
        headers = {"Idempotency-Key": key}
        if self._is_stock:
            self._counts.sending(batch, key)
            if (position := self._counts.position(store)) is not None:
                headers[LOG_READ] = str(position)
        if target.operation.startswith(EXTENSION_PREFIX):
            path = target.operation.replace("{store_number}", encode_segment(store) if store else "")
            response = await self._client.request_extension("POST", path, headers=headers, body=body)
        else:
            at = {"store_number": store} if store else {}
            query = target.query
            response = await self._client.request(target.operation, path=at, query=query, headers=headers, body=body)
        if (
            outcome_of(response) is Outcome.ACCEPTED and target.operation != PEOPLE_PATH
        ):  # the service keeps no key of PINs
            self._confirmed.keep(self._table.name, _scope_of(batch), key, response)
        return response

    def _add_bad_rows(self, rows: int, *bad: BadRow) -> None:
        self._rows += rows
        self.bad.extend(bad[:1] if self._strict else bad)
        if self._strict and bad:
            raise _StrictStop

    def _report_progress(self) -> None:
        self._progress(
            LoadProgress(self._table.name, self._rows + self._counts.rows, self._table.position, self._table.size)
        )


def _record_lines(record: Record) -> set[int]:
    return {record.line, *record.line_rows, *record.field_rows.values()}


def _record_store(record: Record) -> str:
    """Return the store of a record: that of its path, otherwise of its body."""
    return record.store or ("" if "store_name" in record.body else str(record.body.get("store_number") or ""))


def _scope_of(batch: Sequence[Record]) -> str:
    """Return the store for which the key of a batch is kept: of its path, or the first in its rows; '' for none."""
    return batch[0].store or min(filter(None, map(_named_or_created_store, batch)), default="")


def _named_or_created_store(record: Record) -> str:
    """Return the store that a record is for, or that it creates."""
    return record.store or str(record.body.get("store_number") or "")
