"""Recounts: counts that a supervisor orders, of a log entry that looks wrong or of a place; a count closes them."""

from __future__ import annotations

import json
from typing import Any

from aisle.service.amounts import row_id
from aisle.service.answers import against_rule, dumps, malformed
from aisle.service.context import Call, Context, Store, split_id
from aisle.service.encode import without_none
from aisle.service.handlers.reviews import GIVEN_ANEW
from aisle.service.sql import logs as log_sql
from aisle.service.sql import recounts as sql
from aisle.service.sql.compose import filtered, paged
from aisle.service.states import COUNTED, MOVES, ORDERED, check_move
from aisle.service.stock.book import NO_PLACE, Book
from aisle.service.storage import Row

MOST = 1000
_ALL = "all"


async def write_recounts(ctx: Context, call: Call) -> bytes:
    """Order counts, or withdraw them; the answer's `data` are their ids, in order.

    What is ordered already is not ordered twice. Raises Refusal: 422 for what is not there, 409 for one that has ended.
    """
    open_ = {(row[0], row[1]): int(row[2]) for row in await ctx.tx.all(sql.RECOUNTS_OPEN, ctx.here.number)}
    book = Book(ctx, ctx.here)
    ids = []
    for index, raw in enumerate(call.body["recounts"]):
        said, field = without_none(raw), f"recounts[{index}]"
        if "id" in said:
            seq = await _withdraw(ctx, said, field)
            open_ = {spot: one for spot, one in open_.items() if one != seq}
        else:
            product, place, log_seq = await _wanted(book, said, field)
            seq = open_.get((product, place)) or await _order(ctx, product, place, log_seq, said.get("note", ""))
            open_[(product, place)] = seq
        ids.append(ctx.here.wire_id(seq))
    return dumps({"success": True, "data": ids})


async def _wanted(book: Book, said: dict[str, Any], field: str) -> tuple[str, str, int | None]:
    """The product, the place ('' for the store) and the entry that is doubted. Raises Refusal (422)."""
    if ("log_id" in said) == ("product_number" in said):
        raise against_rule("A count is of an entry (log_id) or of a product.", field)
    if "log_id" in said:
        seq, ordinal = split_id(row_id(said["log_id"], f"{field}.log_id"))
        row = await book.ctx.tx.one(log_sql.LOG_ITEM, book.store.number, seq) if ordinal == book.store.ordinal else None
        if row is None:
            raise against_rule("There is no such entry.", f"{field}.log_id")
        item = json.loads(row[0])
        if book.ctx.is_given_anew(item["created_on"]):
            raise against_rule(GIVEN_ANEW, f"{field}.log_id")
        return item["product_number"], item.get("location_code", NO_PLACE), seq
    product = await book.product(said["product_number"], f"{field}.product_number")
    code = said.get("location_code", NO_PLACE)
    if code:
        await book.place(code, f"{field}.location_code")
    return product.number, code, None


async def _order(ctx: Context, product: str, place: str, log_seq: int | None, note: str) -> int:
    seq = await ctx.take(ctx.here.number, "recount")
    by = ctx.app_user or ctx.principal.name
    since = ctx.occurred_on if ctx.replay else ctx.now  # else a count that was made for it would come before it
    row = (seq, product, place, log_seq, note, ORDERED, by, since)
    await ctx.tx.run(sql.RECOUNT_ADD, ctx.here.number, *row)
    ctx.changed(ctx.here.number, "recount", str(ctx.here.wire_id(seq)))
    return seq


async def _withdraw(ctx: Context, said: dict[str, Any], field: str) -> int:
    if said.keys() != {"id", "state"}:
        raise against_rule("Of one that was ordered only the state is said.", field)
    seq, ordinal = split_id(row_id(said["id"], f"{field}.id"))
    row = await ctx.tx.one(sql.RECOUNT_STATES, ctx.here.number, [seq if ordinal == ctx.here.ordinal else 0])
    if row is None:
        raise against_rule("There is no such recount.", f"{field}.id")
    if ctx.is_given_anew(row[2]):
        raise against_rule(GIVEN_ANEW, f"{field}.id")
    if said["state"] not in MOVES["recount"]:
        raise against_rule(f"There is no state {said['state']} of a recount.", f"{field}.state")
    check_move("recount", "The recount", row[1], said["state"], f"{field}.state")
    if row[1] == said["state"]:
        return seq
    if said["state"] == COUNTED:
        raise against_rule("It is counted when somebody counts there.", f"{field}.state")
    by = ctx.app_user or ctx.principal.name
    await ctx.tx.run(sql.RECOUNT_END, ctx.here.number, seq, said["state"], by, ctx.now, None)
    ctx.changed(ctx.here.number, "recount", str(ctx.here.wire_id(seq)))
    return seq


async def list_recounts(ctx: Context, call: Call) -> bytes:
    """Recounts in the order in which they were ordered; the open ones where no `state` (or `all`) is asked for."""
    state, limit = call.query.get("state", ORDERED), call.query.get("limit", MOST)
    if state != _ALL and state not in MOVES["recount"]:
        raise malformed(f"state is {', '.join(MOVES['recount'])} or {_ALL}.", "state")
    if not 1 <= limit <= MOST:
        raise malformed(f"limit is 1 to {MOST}.", "limit")
    asked: dict[str, object] = {"store": ctx.here.number}
    if state != _ALL:
        asked["state"] = state
    if "after" in call.query:
        asked["after"] = split_id(call.query["after"])[0]
    found = filtered(sql.RECOUNT_LIST, sql.RECOUNT_FILTERS, asked, sql.RECOUNT_ORDER)
    rows = await paged(found, limit + 1, 0).all(ctx.tx)
    return dumps({"recounts": [_recount(ctx.here, row) for row in rows[:limit]], "more": len(rows) > limit})


def _recount(store: Store, row: Row) -> dict[str, object]:
    seq, product, name, place, log_seq, note, state, ordered_by, ordered_on, ended_by, ended_on, count_seq = row
    said = {
        "id": store.wire_id(seq),
        "product_number": product,
        "product_description": name,
        "location_code": place or None,
        "log_id": None if log_seq is None else store.wire_id(log_seq),
        "note": note or None,
        "state": state,
        "ordered_by": ordered_by,
        "ordered_on": ordered_on,
        "ended_by": ended_by or None,
        "ended_on": ended_on,
        "count_log_id": None if count_seq is None else store.wire_id(count_seq),
    }
    return without_none(said)
