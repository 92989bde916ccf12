"""Queries on operations that the service has not confirmed: lists, counts, figures, and what a person can decide.

What the overlay needs: `pending_operations`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import apsw

from aisle.cache.people_and_claim_queries import add_picker_names, person_name
from aisle.cache.pools_and_locations_of_rows import entry_quantity
from aisle.cache.queries import QueryContext, QueryResult, declare_query, whole_topics, window_bounds
from aisle.cache.stock_overlay import expected_changes, is_count, products_of_operation, stock_items, stock_outcome
from aisle.cache.stored_row_values import Row, product_names
from aisle.host.database import fetch, fetch_one
from aisle.host.notify_sockets import OUTBOX, REFUSAL, REQUEST
from aisle.jobs.job import ARRIVED, CLOSED_BY_HAND, DIFFERENCE, OVERAGE, RESEND, Args
from aisle.named_tuple_json import from_text, to_text
from aisle.outbox import requests_and_token_holders
from aisle.outbox.merge_and_rebase import BASE, PICKED
from aisle.outbox.operation_record import (
    CLOSED,
    CONFIRMED,
    CREATE_LOGS,
    CREATE_MOVEMENT,
    IN_DOUBT,
    NEEDS_PERSON,
    QUEUED,
    REFUSED,
    SENDING,
    UPDATE_ORDER,
    UPDATE_STORE_PRODUCTS,
    Operation,
    operation_from_row,
    user_of_principal,
)
from aisle.outbox.operation_table import is_last_in_lanes
from aisle.outbox.operations_in_doubt import replacement_write
from aisle.outbox.outcomes_and_reversals import as_left
from aisle.outbox.requests_and_token_holders import user_awaited_by
from aisle.row_values import to_decimal
from aisle.store_product_settings import BASE_VALUES, parse_entry_values, parse_update_values
from aisle.stored_messages import LATER_COUNT, is_stored_message

if TYPE_CHECKING:
    from aisle.jobs.row_types.operations_and_session_answers import (
        ComparedFigureRow,
        NeedingPersonRow,
        OperationItemRow,
        RefusedOperationsRow,
        RequestStateRow,
        UnconfirmedRow,
    )
    from aisle.outbox.operation_record import OrderState


OUTCOME_QUEUED, OUTCOME_SENT, OUTCOME_CONFIRMED, OUTCOME_REFUSED, OUTCOME_UNCLEAR = (
    "queued",
    "sending",
    "confirmed",
    "refused",
    "in_doubt",
)
OUTCOME_RESOLVED = "resolved"
"""Words for the state of an operation."""

OUTCOME_BY_STATE: Mapping[str, str] = {
    QUEUED: OUTCOME_QUEUED,
    SENDING: OUTCOME_SENT,
    CONFIRMED: OUTCOME_CONFIRMED,
    REFUSED: OUTCOME_REFUSED,
    IN_DOUBT: OUTCOME_UNCLEAR,
    NEEDS_PERSON: OUTCOME_UNCLEAR,
    CLOSED: OUTCOME_RESOLVED,
}

_BY_URGENCY = """
ORDER BY CASE state WHEN 'needs_person' THEN 0 WHEN 'rejected' THEN 0 WHEN 'in_doubt' THEN 1 ELSE 2 END, n
"""
_IN_STATES = "live = 1 AND state IN (SELECT value FROM json_each(?))"
_LIVE_PAGE = f"""
SELECT * FROM operation WHERE n IN (
  SELECT n FROM operation INDEXED BY operation_live WHERE {_IN_STATES} {_BY_URGENCY} LIMIT ? OFFSET ?
) {_BY_URGENCY}
"""  # noqa: S608 - an order of our own
"""Page of live operations. The subquery reads only the index for rows outside the window, because many may wait."""

_COUNT_LIVE = f"SELECT count(*) FROM operation INDEXED BY operation_live WHERE {_IN_STATES}"  # noqa: S608

_EARLIER_IN_DOUBT = """
SELECT o.op_id FROM operation_lane mine JOIN operation_lane older ON older.lane = mine.lane AND older.n < mine.n
JOIN operation o ON o.n = older.n
WHERE mine.n = ? AND o.state IN ('in_doubt', 'needs_person') ORDER BY o.n LIMIT 1
"""

RETURNED, GIVEN_TO_OTHER_ORDER = "put_back", "other_order"
"""Resolutions for goods that an order did not get; each closes the operation and says so."""


@declare_query("unconfirmed", "op_id outcome first size", whole_topics(OUTBOX))
def unconfirmed_operations(context: QueryContext, args: Args) -> QueryResult[UnconfirmedRow]:
    """Return a window on the unconfirmed operations, those that need a person first, or the one with `op_id`.

    `outcome` leaves those with this word for their state.
    """
    outbox, cache = context.outbox, context.cache
    if args.get("op_id"):
        found = fetch(outbox, "SELECT * FROM operation WHERE live = 1 AND op_id = ?", str(args["op_id"]))
        return [unconfirmed_row(operation_from_row(row), cache, outbox) for row in found], len(found)
    first, size = window_bounds(args)
    wanted = str(args.get("outcome") or "")
    states = to_text([state for state, outcome in OUTCOME_BY_STATE.items() if wanted in ("", outcome)])
    found = fetch(outbox, _LIVE_PAGE, states, size, first)
    total = fetch_one(outbox, _COUNT_LIVE, states)
    rows = [unconfirmed_row(operation_from_row(row), cache, outbox) for row in found]
    return rows, int(total[0]) if total else 0


def count_needing_person(outbox: apsw.Connection) -> int:
    """Return the number of operations that need a person."""
    sql = "SELECT count(*) FROM operation WHERE live = 1 AND state IN ('needs_person', 'rejected', 'in_doubt')"
    return int(fetch(outbox, sql)[0][0])


def unconfirmed_row(op: Operation, cache: apsw.Connection, outbox: apsw.Connection) -> UnconfirmedRow:
    """Return one operation as a page shows it, without what was undone of it."""
    op = as_left(op)
    numbers = [str(each.get("product_number") or "") for each in items_of_operation(op)]
    names = product_names(cache, numbers)
    pin = user_awaited_by(outbox, op, time.time())
    return {
        "op_id": op.op_id,
        "outcome": OUTCOME_BY_STATE[op.state],
        "asked": op.state in (NEEDS_PERSON, REFUSED),
        "operation": op.operation,
        "kind": _operation_kind(op),
        "user": op.app_user,
        "principal": person_name(cache, user_of_principal(op.principal)),
        "pin": person_name(cache, pin),
        "terminal": op.terminal,
        "at": op.occurred_at,
        "why": op.last_error,
        "tries": op.attempts,
        "absence_final_at": op.absence_final_at,
        "verdict": str(op.evidence.get("verdict") or ""),
        "items": [_item_row(each, names) for each in items_of_operation(op)],
        "sides": list(compare_figures(op, cache)) if op.state in (IN_DOUBT, NEEDS_PERSON, REFUSED) else [],
        "evidence": stock_outcome(op),
        "ways": [CLOSED_BY_HAND]
        if pin
        else resolutions(op, is_last=is_last_in_lanes(outbox, op.n), lacks_stock=lacks_stock(op, cache)),
        "waits_for": _blocking_operation(op, outbox),
        "order": next((lane.partition("/")[2] for lane in op.lanes if lane.startswith("order/")), ""),
        "location": _location_code(op),
        "product": next(filter(None, numbers), ""),
    }


def resolutions(op: Operation, *, is_last: bool, lacks_stock: bool = True) -> list[str]:
    """Return the possible resolutions by a person; none while reconciliation can still decide.

    `is_last`: no operation waits behind it, so that a replacement keeps its turn. `lacks_stock`: too little stock may
    be the reason.
    """
    if op.state == NEEDS_PERSON:
        return [ARRIVED, RESEND, *_replacement_resolutions(op, is_last, lacks_stock), CLOSED_BY_HAND]
    if op.state == REFUSED:
        return [
            *_replacement_resolutions(op, is_last, lacks_stock),
            *([RETURNED, GIVEN_TO_OTHER_ORDER] if _has_picked_goods(op) else []),
            CLOSED_BY_HAND,
        ]
    return [ARRIVED, CLOSED_BY_HAND] if op.state == IN_DOUBT else []


def _replacement_resolutions(op: Operation, is_last: bool, lacks_stock: bool) -> list[str]:
    hows = (OVERAGE, DIFFERENCE) if lacks_stock else (DIFFERENCE,)
    found = [how for how in hows if replacement_write(op, how, "") is not None]
    return found if is_last else [how for how in found if how != DIFFERENCE]


def _has_picked_goods(op: Operation) -> bool:
    """Return True if goods were picked for an order that does not get them now."""
    lines = items_of_operation(op) if op.operation == UPDATE_ORDER else []
    return any(to_decimal(line.get(PICKED)) > to_decimal(line.get(BASE)) for line in lines)


def _blocking_operation(op: Operation, outbox: apsw.Connection) -> str:
    found = fetch_one(outbox, _EARLIER_IN_DOUBT, op.n) if op.state == QUEUED else None
    return str(found[0]) if found else ""


def _operation_kind(op: Operation) -> str:
    if op.operation == CREATE_LOGS:
        return "count" if is_count(op) else "change"
    return {CREATE_MOVEMENT: "move", UPDATE_ORDER: "pick", UPDATE_STORE_PRODUCTS: "setting"}.get(op.operation, "other")


def _item_row(each: Row, names: Mapping[str, str]) -> OperationItemRow:
    product = str(each.get("product_number") or "")
    named = ("picked_quantity", "counted_quantity", "quantity", *(f"stock_pool_{pool}" for pool in range(1, 11)))
    quantity = next((each[name] for name in named if each.get(name) is not None), None)
    source, target = each.get("from_location") or {}, each.get("to_location") or {}
    return {
        "product_number": product,
        "label": names.get(product, product),
        "quantity": None if quantity is None else to_decimal(quantity),
        "line": each.get("line_number"),
        "from": _end_name(source) or str(each.get("location_code") or ""),
        "to": _end_name(target),
    }


def _end_name(end: Row) -> str:
    return str(end.get("location_code") or end.get("customer_order_number") or "")


def _location_code(op: Operation) -> str:
    """Return the location whose stock is in question: where goods were counted, lost or taken from."""
    for each in items_of_operation(op):
        for end in (each, each.get("from_location") or {}, each.get("to_location") or {}):
            if end.get("location_code"):
                return str(end["location_code"])
    return ""


_REFUSED_OPERATIONS = """
SELECT * FROM operation WHERE live = 1 AND state = 'rejected' AND operation = ?
AND (occurred_at >= ? OR op_id IN (SELECT value FROM json_each(?))) ORDER BY n
"""


_CLOSED_LOGS = """
SELECT * FROM operation INDEXED BY operation_logs
WHERE operation = 'create-store-product-logs' AND created_at >= ? AND state = 'closed' AND app_user = ? ORDER BY n
"""


@declare_query("refused_operations", "operation since ops", whole_topics(REFUSAL))
def refused_operations(context: QueryContext, args: Args) -> QueryResult[RefusedOperationsRow]:
    """Return the refused operations (`operation`) since then, or `ops`, that nobody has resolved, oldest first.

    `left` is set for excess that no order line could take (see aisle.outbox.merge_and_rebase).
    """
    query_args = str(args["operation"]), str(args["since"]), to_text(args.get("ops") or [])
    found = [operation_from_row(row) for row in fetch(context.outbox, _REFUSED_OPERATIONS, *query_args)]
    rows = [_refused_row(each) for each in found]
    add_picker_names(context.cache, rows)
    return rows, len(rows)


def _refused_row(op: Operation) -> RefusedOperationsRow:
    return {
        "op_id": op.op_id,
        "user": op.app_user,
        "why": op.last_error,
        "label": ", ".join(dict.fromkeys(products_of_operation(op))),
        "body": op.body,
        "left": from_text(Any, op.answer) if op.answer else {},
    }


@declare_query("undos_after_counts", "user since", whole_topics(REFUSAL))
def undos_after_counts(context: QueryContext, args: Args) -> QueryResult[RefusedOperationsRow]:
    """Return the undos of a person (made at `since` or later) that came after a later count.

    They changed nothing and are closed.
    """
    since = datetime.fromisoformat(str(args["since"])).timestamp()
    rows = fetch(context.outbox, _CLOSED_LOGS, since, str(args["user"]))
    found = [op for op in map(operation_from_row, rows) if is_stored_message(op.last_error, LATER_COUNT)]
    return [_refused_row(each) for each in found], len(found)


@declare_query("needing_person", "", whole_topics(REFUSAL))
def operations_needing_person(context: QueryContext, _: Args) -> QueryResult[NeedingPersonRow]:
    """Return the number of operations that need a person, as a total without rows."""
    return [], count_needing_person(context.outbox)


@declare_query("request_state", "request_id", whole_topics(REQUEST))
def request_state(context: QueryContext, args: Args) -> QueryResult[RequestStateRow]:
    """Return the state and the answer of a request, as the courier stored them."""
    return requests_and_token_holders.read_answer(context.outbox, str(args["request_id"]))


# Figures of an operation: what the service had before it, what it asks for, and what the service has now


CONFLICT_STATUS = 409
"""HTTP status of an answer that the goods are not there."""


ORDER_FLAGS = ("is_active", "is_claimed", "is_picked", "is_rejected")
"""Flags that an update may set on a whole order."""


_FLAG_YES, _FLAG_NO = "yes", "no"


def items_of_operation(op: Operation) -> list[Row]:
    """Return the parts of an operation: entries of a log, items of a movement, lines of an order."""
    return list(op.body["orders"].get("order_lines") or () if op.operation == UPDATE_ORDER else stock_items(op))


def compare_figures(op: Operation, cache: apsw.Connection) -> Iterator[ComparedFigureRow]:
    """Yield the figures of both sides by location, by order line, or by field of an order.

    If the service was not asked for this operation, its figures come from the cache.
    """
    before, after = op.evidence.get("before") or {}, op.evidence.get("after") or {}
    if op.operation == UPDATE_ORDER:
        excess = from_text(Any, op.answer) if op.state == "rejected" and op.answer else {}
        now = after.get("order") or _cached_order(op, cache)
        yield from _compare_order(op, before.get("order") or {}, _excess_as_order(excess) if excess else now)
        return
    if op.operation == UPDATE_STORE_PRODUCTS:
        yield from _compare_settings(op, before.get("product") or {}, after.get("product"), cache)
        return
    yield from _compare_stock(op, before.get("stock") or {}, after.get("stock") or _cached_stock(op, cache))


def _compare_stock(op: Operation, stock: Row, now: Row) -> Iterator[ComparedFigureRow]:
    changes, counts = expected_changes(op), _counted_quantities(op)
    for product in dict.fromkeys((*stock, *now)):
        for location in dict.fromkeys((*stock.get(product, {}), *now.get(product, {}))):
            change, count = changes.get((product, location)), counts.get((product, location))
            ours = f"{change:+f}" if change is not None else None if count is None else f"={count.normalize():f}"
            if location or len({*stock.get(product, {}), *now.get(product, {})}) == 1:
                yield {
                    "subject": product,
                    "location": location,
                    "before": _format_number(stock.get(product, {}).get(location)),
                    "ours": ours,
                    "after": _format_number(now.get(product, {}).get(location)),
                }


def _compare_order(op: Operation, before: Row | OrderState, after: Row | OrderState) -> Iterator[ComparedFigureRow]:
    update = op.body["orders"]
    for name in ORDER_FLAGS:
        if name in update:
            before_value, after_value = (side.get("head", {}).get(name) for side in (before, after))
            yield {
                "subject": name,
                "location": "",
                "before": _format_flag(before_value),
                "ours": _format_flag(update[name]),
                "after": _format_flag(after_value),
            }
    for line in items_of_operation(op):
        number = str(line.get("line_number"))
        before_value, after_value = before.get("lines", {}).get(number, {}), after.get("lines", {}).get(number, {})
        yield {
            "subject": str(line.get("product_number") or ""),
            "location": "",
            "before": _format_number(before_value.get(PICKED, line.get(BASE))),
            "ours": _format_number(line.get(PICKED)),
            "after": _format_number(after_value.get(PICKED)),
        }


def _compare_settings(
    op: Operation, before: Row, after: Row | None, cache: apsw.Connection
) -> Iterator[ComparedFigureRow]:
    """Yield the figures by field of each product; None if unknown."""
    for item in items_of_operation(op):
        number = str(item.get("product_number") or "")
        row = fetch_one(
            cache, "SELECT s.raw FROM product p JOIN stock s ON s.id = p.id WHERE p.product_number = ?", number
        )
        cached = parse_entry_values(json.loads(row[0], parse_float=Decimal)) if row else {}
        before_values, now = (
            before.get(number) or item.get(BASE_VALUES) or {},
            cached if after is None else after.get(number, {}),
        )
        for name, ours in parse_update_values(item).items():
            yield {
                "subject": name,
                "location": "",
                "before": before_values.get(name),
                "ours": ours,
                "after": now.get(name),
            }


def _excess_as_order(line: Row) -> Row:
    """Return a line as it was when it could not take the excess, in the form of an order.

    See aisle.outbox.merge_and_rebase.
    """
    return {"lines": {str(line.get("line_number")): line}}


def _cached_order(op: Operation, cache: apsw.Connection) -> Row:
    number = str(op.body["orders"].get("order_number") or "")
    row = fetch_one(cache, "SELECT raw FROM orders WHERE order_number = ?", number)
    if row is None:
        return {}
    lines = fetch(cache, "SELECT line_number, raw FROM line WHERE order_number = ?", number)
    return {
        "head": json.loads(row[0]),
        "lines": {str(line): json.loads(raw, parse_float=Decimal) for line, raw in lines},
    }


def _cached_stock(op: Operation, cache: apsw.Connection) -> Row:
    """Return the cached stock of the operation's products at the locations that it names."""
    found: dict[str, dict[str, Decimal]] = {}
    for product, location in dict.fromkeys((*expected_changes(op), *_counted_quantities(op))):
        sql = "SELECT s.raw FROM product p JOIN stock s ON s.id = p.id WHERE p.product_number = ?"
        row = fetch_one(cache, sql, product)
        entries = json.loads(row[0], parse_float=Decimal).get("store_locations") if row else None
        if location and isinstance(entries, list):
            here = (entry for entry in entries if str(entry.get("store_location_code") or "") == location)
            quantities = (entry_quantity(entry, "stock_pool_") or Decimal(0) for entry in here)
            found.setdefault(product, {})[location] = sum(quantities, Decimal(0))
    return found


def _counted_quantities(op: Operation) -> dict[tuple[str, str], Decimal]:
    """Return the counted quantity by product and location; pools are added up."""
    found: dict[tuple[str, str], Decimal] = {}
    for each in items_of_operation(op) if is_count(op) else ():
        at = str(each.get("product_number") or ""), str(each.get("location_code") or "")
        names = ("counted_quantity", *(f"stock_pool_{pool}" for pool in range(1, 11)))
        found[at] = found.get(at, Decimal(0)) + sum((to_decimal(each.get(name)) for name in names), Decimal(0))
    return found


def lacks_stock(op: Operation, cache: apsw.Connection) -> bool:
    """Return True if a movement may have been refused for too little free stock at its source.

    The answer's status or the known stock there decide. Goods of an order can never be too few.
    """
    if op.operation != CREATE_MOVEMENT:
        return False
    if any((item.get("from_location") or {}).get("customer_order_number") for item in op.body):
        return False
    if op.evidence.get("status") == CONFLICT_STATUS:
        return True
    stock = (op.evidence.get("after") or {}).get("stock") or _cached_stock(op, cache)
    leaving = [(at, -change) for at, change in expected_changes(op).items() if change < 0]
    found = [(stock.get(product, {}).get(location), quantity) for (product, location), quantity in leaving]
    return not found or any(available is None or to_decimal(available) < quantity for available, quantity in found)


def _format_flag(value: Any) -> str | None:
    return None if value is None else _FLAG_YES if value else _FLAG_NO


def _format_number(value: Any) -> str | None:
    return None if value is None else f"{to_decimal(value).normalize():f}"
