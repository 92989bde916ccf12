"""Recounts: a supervisor orders counts of a log entry or a location; a count closes them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

from aisle.contract.request_bodies.extension_bodies import RecountWrite
from aisle.service.db.database_interface import Row
from aisle.service.db.list_query_builder import filter_query, page_query
from aisle.service.db.statements import logs_and_changes as log_sql
from aisle.service.db.statements import stock as recounts_sql
from aisle.service.domain.quantities_times_and_json import drop_none, parse_row_id
from aisle.service.domain.read_products_and_locations import NO_LOCATION, StoreCatalogue
from aisle.service.domain.states import RECOUNT_COUNTED, RECOUNT_OPEN, TRANSITIONS, check_transition
from aisle.service.errors import bad_request, to_json_bytes, unprocessable
from aisle.service.handlers.list_page import extension_page
from aisle.service.handlers.log_create import NUMBER_REUSED
from aisle.service.operation_context import Context, OperationCall, Store, split_wire_id

_ALL_STATES = "all"


async def write_recounts(ctx: Context, call: OperationCall) -> bytes:
    """Order recounts, or withdraw them. `data` of the answer has their ids, in order.

    An open recount is not ordered twice. Refuse with 422 if the entry, product or location does not exist, with 409 if
    the recount has ended.
    """
    recounts: list[RecountWrite] = call.body["recounts"]
    writes = await _RecountWrites.load(ctx, recounts)
    for index, recount_body in enumerate(recounts):
        field = f"recounts[{index}]"
        if "id" in recount_body:
            writes.withdraw(recount_body, field)
        else:
            writes.order(*await writes.parse_target(recount_body, field), recount_body.get("note", ""))
    await writes.save()
    return to_json_bytes({"success": True, "data": [ctx.current_store.wire_id(seq) for seq in writes.numbers]})


async def _load_rows(ctx: Context, statement: str, wire_ids: Iterable[int]) -> dict[int, tuple[str, str]]:
    """Return two columns of the store's rows with these ids, by number."""
    numbers = sorted({seq for seq, ordinal in map(split_wire_id, wire_ids) if ordinal == ctx.current_store.ordinal})
    rows = await ctx.tx.all(statement, ctx.store_number, numbers) if numbers else ()
    return {int(row[0]): (str(row[1]), str(row[2])) for row in rows}


@dataclass
class _RecountWrites:
    """Recounts that one request orders and withdraws. Rows are read and written together."""

    ctx: Context
    catalogue: StoreCatalogue
    open: dict[tuple[str, str], int]
    """Numbers of the open recounts by product and location."""
    entries: dict[int, tuple[str, str]]
    """Named log entries by number: item, and time of creation."""
    states: dict[int, tuple[str, str]]
    """Named recounts by number: state, and time of the order."""
    next_number: int
    numbers: list[int] = field(default_factory=list)
    """Number of each row of the request."""
    new_rows: list[tuple[object, ...]] = field(default_factory=list)
    ended_rows: list[tuple[object, ...]] = field(default_factory=list)

    @classmethod
    async def load(cls, ctx: Context, recounts: Sequence[RecountWrite]) -> _RecountWrites:
        """Read what the rows of the request name, and reserve a number for each that may be new."""
        store = ctx.store_number
        entry_ids = [
            parse_row_id(body["log_id"], f"recounts[{n}].log_id") for n, body in enumerate(recounts) if "log_id" in body
        ]
        ids = [parse_row_id(body["id"], f"recounts[{n}].id") for n, body in enumerate(recounts) if "id" in body]
        catalogue = StoreCatalogue(ctx, ctx.current_store)
        await catalogue.load(
            (body["product_number"] for body in recounts if "product_number" in body),
            (body.get("location_code", NO_LOCATION) for body in recounts),
        )
        open_ = {(row[0], row[1]): int(row[2]) for row in await ctx.tx.all(recounts_sql.RECOUNTS_OPEN, store)}
        entries = await _load_rows(ctx, log_sql.LOG_ITEMS, entry_ids)
        states = await _load_rows(ctx, recounts_sql.RECOUNT_STATES, ids)
        new = len(recounts) - len(ids)
        return cls(ctx, catalogue, open_, entries, states, await ctx.next_numbers(store, "recount", new) if new else 0)

    async def parse_target(self, body: RecountWrite, field: str) -> tuple[str, str, int | None]:
        """Return the product, the location ('' for the store) and the log entry of a recount.

        Raise Refusal (422) if invalid.
        """
        if ("log_id" in body) == ("product_number" in body):
            raise unprocessable("A count is of an entry (log_id) or of a product.", field)
        if "log_id" in body:
            seq, ordinal = split_wire_id(parse_row_id(body["log_id"], f"{field}.log_id"))
            if ordinal != self.ctx.current_store.ordinal or seq not in self.entries:
                raise unprocessable("There is no such entry.", f"{field}.log_id")
            text, created_on = self.entries[seq]
            if self.ctx.is_number_reused(created_on):
                raise unprocessable(NUMBER_REUSED, f"{field}.log_id")
            item = json.loads(text)
            return item["product_number"], item.get("location_code", NO_LOCATION), seq
        product = await self.catalogue.get_product(body["product_number"], f"{field}.product_number")
        code = body.get("location_code", NO_LOCATION)
        if code:
            await self.catalogue.get_location(code, f"{field}.location_code")
        return product.number, code, None

    def order(self, product: str, location: str, log_seq: int | None, note: str) -> None:
        """Order a recount, unless one is open."""
        ctx = self.ctx
        seq = self.open.get((product, location))
        if seq is None:
            seq = self.open[(product, location)] = self.next_number
            self.next_number += 1
            user = ctx.app_user or ctx.principal.name
            # After a restore, the original time: counts made for the recount would otherwise precede it.
            since = ctx.occurred_on if ctx.replay else ctx.now
            row = (seq, product, location, log_seq, note, RECOUNT_OPEN, user, since)
            self.new_rows.append((ctx.store_number, *row))
            self._mark_changed(seq)
        self.numbers.append(seq)

    def withdraw(self, body: RecountWrite, field: str) -> None:
        """Withdraw an ordered recount. Raise Refusal: 422 if invalid, 409 if it has ended."""
        if body.keys() != {"id", "state"}:
            raise unprocessable("Of one that was ordered only the state is said.", field)
        seq, ordinal = split_wire_id(parse_row_id(body["id"], f"{field}.id"))
        if ordinal != self.ctx.current_store.ordinal or seq not in self.states:
            raise unprocessable("There is no such recount.", f"{field}.id")
        before, ordered_on = self.states[seq]
        if self.ctx.is_number_reused(ordered_on):
            raise unprocessable(NUMBER_REUSED, f"{field}.id")
        state = body["state"]
        if state not in TRANSITIONS["recount"]:
            raise unprocessable(f"There is no state {state} of a recount.", f"{field}.state")
        check_transition("recount", "The recount", before, state, f"{field}.state")
        if before != state and state == RECOUNT_COUNTED:
            raise unprocessable("It is counted when somebody counts there.", f"{field}.state")
        if before != state:
            self.states[seq] = (state, ordered_on)
            user = self.ctx.app_user or self.ctx.principal.name
            self.ended_rows.append((self.ctx.store_number, seq, state, user, self.ctx.now, None))
            self._mark_changed(seq)
        self.open = {key: one for key, one in self.open.items() if one != seq}
        self.numbers.append(seq)

    def _mark_changed(self, seq: int) -> None:
        store = self.ctx.current_store
        self.ctx.mark_changed(store.number, "recount", str(store.wire_id(seq)))

    async def save(self) -> None:
        """Write the ended recounts, then the new ones: only one is open for a product and location."""
        await self.ctx.tx.run_many(recounts_sql.RECOUNT_END, self.ended_rows)
        await self.ctx.tx.run_many(recounts_sql.RECOUNT_ADD, self.new_rows)


async def list_recounts(ctx: Context, call: OperationCall) -> bytes:
    """List recounts in the order of their creation: the open ones by default, all of them with `state=all`."""
    state = call.query.get("state", RECOUNT_OPEN)
    if state != _ALL_STATES and state not in TRANSITIONS["recount"]:
        raise bad_request(f"state is {', '.join(TRANSITIONS['recount'])} or {_ALL_STATES}.", "state")
    filters: dict[str, object] = {"store": ctx.store_number}
    if state != _ALL_STATES:
        filters["state"] = state
    if "after" in call.query:
        filters["after"] = split_wire_id(call.query["after"])[0]
    found = filter_query(recounts_sql.RECOUNT_LIST, recounts_sql.RECOUNT_FILTERS, filters, recounts_sql.RECOUNT_SORT)

    async def read(count: int) -> list[Row]:
        return await page_query(found, count, 0).all(ctx.tx)

    return await extension_page("recounts", call.query, read, partial(_recount_json, ctx.current_store))


def _recount_json(store: Store, row: Row) -> dict[str, object]:
    seq, product, name, location, log_seq, note, state, ordered_by, ordered_on, ended_by, ended_on, count_seq = row
    fields = {
        "id": store.wire_id(seq),
        "product_number": product,
        "product_description": name,
        "location_code": location or None,
        "log_id": None if log_seq is None else store.wire_id(log_seq),
        "note": note or None,
        "state": state,
        "ordered_by": ordered_by,
        "ordered_on": ordered_on,
        "ended_by": ended_by or None,
        "ended_on": ended_on,
        "count_log_id": None if count_seq is None else store.wire_id(count_seq),
    }
    return drop_none(fields)
