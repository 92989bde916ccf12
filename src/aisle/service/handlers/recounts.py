"""Recounts: a supervisor orders counts of a log entry or a location; a count closes them."""

from __future__ import annotations

import json

from aisle.contract.models.extension_bodies import RecountWrite
from aisle.service.db.database import Row
from aisle.service.db.queries import filter_query, page_query
from aisle.service.db.statements import logs as log_sql
from aisle.service.db.statements import stock as sql
from aisle.service.domain.json_fragments import drop_none
from aisle.service.domain.quantities import parse_row_id
from aisle.service.domain.read_products_and_locations import NO_LOCATION, StoreCatalogue
from aisle.service.domain.states import RECOUNT_COUNTED, RECOUNT_OPEN, TRANSITIONS, check_transition
from aisle.service.errors import bad_request, to_json_bytes, unprocessable
from aisle.service.handlers.logs import NUMBER_REUSED
from aisle.service.operation_context import Context, OperationCall, Store, split_wire_id

MAX_RECOUNTS = 1000
_ALL_STATES = "all"


async def write_recounts(ctx: Context, call: OperationCall) -> bytes:
    """Order recounts, or withdraw them. `data` of the answer has their ids, in order.

    An open recount is not ordered twice. Refuse with 422 if the entry, product or location does not exist, with 409 if
    the recount has ended.
    """
    open_ = {(row[0], row[1]): int(row[2]) for row in await ctx.tx.all(sql.RECOUNTS_OPEN, ctx.current_store.number)}
    catalogue = StoreCatalogue(ctx, ctx.current_store)
    ids = []
    recounts: list[RecountWrite] = call.body["recounts"]
    for index, recount_body in enumerate(recounts):
        field = f"recounts[{index}]"
        if "id" in recount_body:
            seq = await _withdraw(ctx, recount_body, field)
            open_ = {key: one for key, one in open_.items() if one != seq}
        else:
            product, location, log_seq = await _parse_target(catalogue, recount_body, field)
            seq = open_.get((product, location)) or await _order_recount(
                ctx, product, location, log_seq, recount_body.get("note", "")
            )
            open_[(product, location)] = seq
        ids.append(ctx.current_store.wire_id(seq))
    return to_json_bytes({"success": True, "data": ids})


async def _parse_target(catalogue: StoreCatalogue, body: RecountWrite, field: str) -> tuple[str, str, int | None]:
    """Return the product, the location ('' for the store) and the log entry of a recount.

    Raise Refusal (422) if invalid.
    """
    if ("log_id" in body) == ("product_number" in body):
        raise unprocessable("A count is of an entry (log_id) or of a product.", field)
    if "log_id" in body:
        seq, ordinal = split_wire_id(parse_row_id(body["log_id"], f"{field}.log_id"))
        row = (
            await catalogue.ctx.tx.one(log_sql.LOG_ITEM, catalogue.store.number, seq)
            if ordinal == catalogue.store.ordinal
            else None
        )
        if row is None:
            raise unprocessable("There is no such entry.", f"{field}.log_id")
        item = json.loads(row[0])
        if catalogue.ctx.is_number_reused(item["created_on"]):
            raise unprocessable(NUMBER_REUSED, f"{field}.log_id")
        return item["product_number"], item.get("location_code", NO_LOCATION), seq
    product = await catalogue.get_product(body["product_number"], f"{field}.product_number")
    code = body.get("location_code", NO_LOCATION)
    if code:
        await catalogue.get_location(code, f"{field}.location_code")
    return product.number, code, None


async def _order_recount(ctx: Context, product: str, location: str, log_seq: int | None, note: str) -> int:
    seq = await ctx.next_numbers(ctx.current_store.number, "recount")
    user = ctx.app_user or ctx.principal.name
    # After a restore, the original time: counts made for the recount would otherwise precede it.
    since = ctx.occurred_on if ctx.replay else ctx.now
    row = (seq, product, location, log_seq, note, RECOUNT_OPEN, user, since)
    await ctx.tx.run(sql.RECOUNT_ADD, ctx.current_store.number, *row)
    ctx.mark_changed(ctx.current_store.number, "recount", str(ctx.current_store.wire_id(seq)))
    return seq


async def _withdraw(ctx: Context, body: RecountWrite, field: str) -> int:
    if body.keys() != {"id", "state"}:
        raise unprocessable("Of one that was ordered only the state is said.", field)
    seq, ordinal = split_wire_id(parse_row_id(body["id"], f"{field}.id"))
    row = await ctx.tx.one(
        sql.RECOUNT_STATES, ctx.current_store.number, [seq if ordinal == ctx.current_store.ordinal else 0]
    )
    if row is None:
        raise unprocessable("There is no such recount.", f"{field}.id")
    if ctx.is_number_reused(row[2]):
        raise unprocessable(NUMBER_REUSED, f"{field}.id")
    if body["state"] not in TRANSITIONS["recount"]:
        raise unprocessable(f"There is no state {body['state']} of a recount.", f"{field}.state")
    check_transition("recount", "The recount", row[1], body["state"], f"{field}.state")
    if row[1] == body["state"]:
        return seq
    if body["state"] == RECOUNT_COUNTED:
        raise unprocessable("It is counted when somebody counts there.", f"{field}.state")
    user = ctx.app_user or ctx.principal.name
    await ctx.tx.run(sql.RECOUNT_END, ctx.current_store.number, seq, body["state"], user, ctx.now, None)
    ctx.mark_changed(ctx.current_store.number, "recount", str(ctx.current_store.wire_id(seq)))
    return seq


async def list_recounts(ctx: Context, call: OperationCall) -> bytes:
    """List recounts in the order of their creation: the open ones by default, all of them with `state=all`."""
    state, limit = call.query.get("state", RECOUNT_OPEN), call.query.get("limit", MAX_RECOUNTS)
    if state != _ALL_STATES and state not in TRANSITIONS["recount"]:
        raise bad_request(f"state is {', '.join(TRANSITIONS['recount'])} or {_ALL_STATES}.", "state")
    if not 1 <= limit <= MAX_RECOUNTS:
        raise bad_request(f"limit is 1 to {MAX_RECOUNTS}.", "limit")
    filters: dict[str, object] = {"store": ctx.current_store.number}
    if state != _ALL_STATES:
        filters["state"] = state
    if "after" in call.query:
        filters["after"] = split_wire_id(call.query["after"])[0]
    found = filter_query(sql.RECOUNT_LIST, sql.RECOUNT_FILTERS, filters, sql.RECOUNT_SORT)
    rows = await page_query(found, limit + 1, 0).all(ctx.tx)
    return to_json_bytes(
        {"recounts": [_recount_json(ctx.current_store, row) for row in rows[:limit]], "more": len(rows) > limit}
    )


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
