"""Clearances of customer orders: goods held for them are assigned to be moved to the shop floor.

A movement from the order line to free stock carries an assignment out (`movements_and_put_backs`).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from functools import partial

from aisle.service.auth.authorization import authorize_store
from aisle.service.db.database_interface import Row
from aisle.service.db.statements import assigned_moves_and_recounts as assignments_sql
from aisle.service.db.statements import people_and_tokens as tokens_sql
from aisle.service.db.statements import stock as stock_sql
from aisle.service.domain.quantities import to_json_number
from aisle.service.errors import SUCCESS, bad_request, to_json_bytes
from aisle.service.handlers.list_page import after_seq, extension_page
from aisle.service.operation_context import Context, OperationCall, Store


async def create_customer_order_clearance(ctx: Context, call: OperationCall) -> bytes:
    """Assign the goods held at locations with this tag, in every store of the token, of these categories or all.

    Existing assignments are updated, so that a repeated request assigns nothing twice. If there is nothing to move, the
    answer says why.
    """
    tag = call.query.get("location_code_tag", "")
    if not tag:
        raise bad_request("A tag is needed.", "location_code_tag")
    categories = frozenset(call.body.get("category_codes") or ())
    numbers = [row[0] for row in await ctx.tx.all(tokens_sql.STORE_NUMBERS_OF_TOKEN, ctx.principal.token_id)]
    count = 0
    for number in numbers:
        count += await _assign_in_store(ctx, await authorize_store(ctx.tx, ctx.principal, number), tag, categories)
    return (
        SUCCESS
        if count
        else to_json_bytes({"success": True, "message": await _explain_nothing(ctx, numbers, tag, categories)})
    )


async def _explain_nothing(ctx: Context, numbers: Iterable[str], tag: str, categories: Collection[str]) -> str:
    """Return the reason why nothing is assigned, in particular if no location has the tag."""
    for number in numbers:
        if any(tag in json.loads(row[0]) for row in await ctx.tx.all(stock_sql.LOCATION_TAGS, number)):
            what = "Nothing of these categories" if categories else "Nothing"
            return f"{what} is held for customer orders at places with the tag {tag!r}."
    return f"No place has the tag {tag!r}; nothing is to be moved."


async def _assign_in_store(ctx: Context, store: Store, tag: str, categories: frozenset[str]) -> int:
    """Assign the held goods of a store. Return their number, including those assigned before."""
    rows = await ctx.tx.all(stock_sql.HELD_AT_LOCATIONS, store.number)
    held = [row for row in rows if tag in json.loads(row[6]) and (not categories or row[7] in categories)]
    known = {tuple(row) for row in await ctx.tx.all(assignments_sql.ASSIGNMENTS_OPEN, store.number)}
    fresh = [row for row in held if tuple(row[:5]) not in known]
    if repeated := [(store.number, *row[:6]) for row in held if tuple(row[:5]) in known]:
        await ctx.tx.run_many(assignments_sql.ASSIGNMENT_QUANTITY_SET, repeated)
    if fresh:
        seq = await ctx.next_numbers(store.number, "assignment", len(fresh))
        made = [(store.number, seq + n, *row[:6], tag, ctx.now) for n, row in enumerate(fresh)]
        await ctx.tx.run_many(assignments_sql.ASSIGNMENT_ADD, made)
    return len(held)


async def list_assignments(ctx: Context, call: OperationCall) -> bytes:
    """List the assigned goods that are still held at their location, each page in walking order."""
    read = partial(ctx.tx.all, assignments_sql.ASSIGNMENTS, ctx.store_number, after_seq(call))
    to_json = partial(_assignment_json, ctx.current_store)
    return await extension_page("assignments", call.query, read, to_json, _walking_order)


def _walking_order(row: Row) -> tuple[bool, int, str, str, int]:
    """Return the sort key of an assignment. A location that was removed comes last."""
    return row[10] is None, row[10] or 0, row[11] or "", row[3], row[0]


def _assignment_json(store: Store, row: Row) -> dict[str, object]:
    seq, product, name, location, pool, order, line, quantity, tag, created = row[:10]
    return {
        "id": store.wire_id(seq),
        "product_number": product,
        "product_description": name,
        "location_code": location,
        "stock_pool": pool,
        "customer_order_number": order,
        "customer_order_line_number": line,
        "quantity": to_json_number(quantity),
        "location_tag": tag,
        "created_on": created,
    }
