"""Events of an order: from the store's log, from the service's list of changes, and from this host's operations."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import apsw

from aisle.cache.log_schema import WORK_SQL
from aisle.cache.people_and_claim_queries import names_by_user
from aisle.cache.queries import QueryContext, QueryResult, declare_query, whole_topics, window_bounds
from aisle.cache.stored_row_values import Row, iso_time, parse_row, product_names
from aisle.cache.unconfirmed_operation_queries import OUTCOME_BY_STATE
from aisle.host.database import fetch, fetch_one
from aisle.host.notify_sockets import OUTBOX
from aisle.jobs.job import Args
from aisle.jobs.store_time import to_utc_text
from aisle.named_tuple_json import to_text
from aisle.outbox.operation_record import (
    CREATE_MOVEMENT,
    REJECT_LINES,
    UPDATE_ORDER,
    Operation,
    operation_from_row,
    reason_of_operation,
)
from aisle.row_values import to_decimal
from aisle.stored_messages import store_text

if TYPE_CHECKING:
    from aisle.jobs.row_types.orders import OrderHistoryRow, OrderOutcomesRow

_LAST_LOG_ENTRY = """
SELECT e.value, max(l.at) FROM json_each(?) e JOIN log l INDEXED BY log_order
ON l.raw ->> 'customer_order_number' = e.value AND instr(l.raw, '"customer_order_number"') GROUP BY 1
"""

_LAST_LOCAL_EVENT = """
SELECT h.order_number, max((SELECT v.at FROM event v WHERE v.job_id = h.job_id ORDER BY v.seq DESC LIMIT 1))
FROM json_each(?) e JOIN order_in_work h ON h.order_number = e.value GROUP BY 1
"""

_LAST_UPDATE = """
SELECT e.value, max(o.occurred_at) FROM json_each(?) e JOIN operation o INDEXED BY operation_order
ON o.operation = 'update-customer-order' AND o.body ->> '$.orders.order_number' = e.value GROUP BY 1
"""


def last_events(cache: apsw.Connection, outbox: apsw.Connection, numbers: Sequence[str]) -> dict[str, str]:
    """Return the time of the last event of each order, ISO 8601 UTC; orders without a known event are left out."""
    number_list = to_text(list(numbers))
    last_event_by_order = {number: str(at) for number, at in fetch(cache, _LAST_LOG_ENTRY, number_list)}
    for number, at in fetch(outbox, _LAST_LOCAL_EVENT, number_list):
        if at:
            last_event_by_order[number] = max(last_event_by_order.get(number, ""), iso_time(at))
    for number, occurred_at in fetch(outbox, _LAST_UPDATE, number_list):
        last_event_by_order[number] = max(last_event_by_order.get(number, ""), to_utc_text(str(occurred_at)))
    return {number: at for number, at in last_event_by_order.items() if at}


_LOG_OF_ORDER = f"""
SELECT l.at, l.app_user_name, l.product_number, l.raw, p.name, {WORK_SQL.format(row="l")} FROM log l
LEFT JOIN product p ON p.product_number = l.product_number
WHERE l.raw ->> 'customer_order_number' = ? AND instr(l.raw, '"customer_order_number"')
AND ifnull(l.raw ->> 'source', '') <> 'in_hand' ORDER BY l.at DESC LIMIT ?
"""  # noqa: S608 - conditions of our own

_UPDATES_OF_ORDER = """
SELECT * FROM operation WHERE operation = 'update-customer-order' AND body ->> '$.orders.order_number' = ?
AND superseded_by = '' ORDER BY n DESC LIMIT ?
"""

_LIVE_OPERATIONS = """
SELECT o.* FROM operation_lane l JOIN operation o ON o.n = l.n WHERE l.lane = ? AND o.live = 1
ORDER BY CASE o.state WHEN 'rejected' THEN 0 WHEN 'needs_person' THEN 1 WHEN 'in_doubt' THEN 2 ELSE 3 END, o.n DESC
"""


@declare_query("order_history", "order_number first size")
def order_history(context: QueryContext, args: Args) -> QueryResult[OrderHistoryRow]:
    """Return the history of an order (`order_number`), youngest first."""
    cache, outbox, number = context.cache, context.outbox, str(args["order_number"])
    first, size = window_bounds(args, 40)
    limit = first + size
    audited = list(_audit_rows(cache, number))
    rows = [*audited, *_without_audited(_local_rows(outbox, cache, number, limit), audited)]
    local_keys = {(row["event"], row["label"], row["at"][:19]) for row in rows}
    rows += [
        row for row in _log_rows(cache, number, limit) if (row["event"], row["label"], row["at"][:19]) not in local_keys
    ]
    names = names_by_user(cache)
    for row in rows:
        row["user"] = names.get(row["user"], row["user"])
        if row["event"] == "assigned":
            row["label"] = names.get(row["label"], row["label"])
    rows.sort(key=lambda row: str(row["at"]), reverse=True)
    return rows[first:limit], len(rows)


def _log_rows(cache: apsw.Connection, number: str, limit: int) -> Iterator[OrderHistoryRow]:
    for at, user, product, raw, name, work in fetch(cache, _LOG_OF_ORDER, number, limit):
        entry = parse_row(raw)
        yield {
            "at": str(at),
            "user": str(user),
            "event": str(work or "log"),
            "label": str(name or product),
            "quantity": abs(to_decimal(entry.get("quantity"))),
            "location": str(entry.get("location_code") or ""),
            "why": store_text(str(entry.get("reason_code_description") or "")),
            "outcome": "",
        }


# Changes that the service lists

_LINE_FIELD = re.compile(r"line (\d+) (\w+)")
_AUDIT_OF_ORDER = "SELECT raw FROM order_audit WHERE order_number = ?"
_LINES_OF_ORDER = """
SELECT l.line_number, ifnull(p.name, l.product_number) FROM line l
LEFT JOIN product p ON p.product_number = l.product_number WHERE l.order_number = ?
"""


def _audit_rows(cache: apsw.Connection, number: str) -> Iterator[OrderHistoryRow]:
    """Yield the decisions on an order: rejection, claim, hand-over, and changes of its lines."""
    found = fetch_one(cache, _AUDIT_OF_ORDER, number)
    entries = json.loads(str(found[0])) if found else []
    labels = {int(line): str(name) for line, name in fetch(cache, _LINES_OF_ORDER, number)} if entries else {}
    for entry in entries:
        after = entry.get("after") or {}
        head = to_utc_text(str(entry.get("at") or "")), str(entry.get("app_user_name") or entry.get("token_name") or "")
        for name in dict.fromkeys((*(entry.get("before") or ()), *after)):
            yield from _audited_change(*head, str(name), after.get(name), after, labels)


def _audited_change(
    at: str, user: str, name: str, value: Any, after: Row, labels: dict[int, str]
) -> Iterator[OrderHistoryRow]:
    """Yield the event that a changed field stands for, if any."""
    line = _LINE_FIELD.fullmatch(name)
    label = labels.get(int(line[1]), "") if line else ""
    prefix, field = (f"line {line[1]} ", line[2]) if line else ("", name)
    event, quantity, why = "", Decimal(0), ""
    if field == "is_rejected" and line:
        event = "short" if value else "opened"
    elif field == "is_rejected":
        event = "rejected" if value else "taken_back"
    elif field == "is_active":
        event = "reopened" if value else "finished"
    elif field == "claimed_by":
        event = "released" if not value else "claimed" if value == user else "assigned"
        label = str(value) if event == "assigned" else ""
    elif field == "quantity":
        event, quantity = "quantity", to_decimal(value)
    elif field == "pickup_date":
        event, why = "due", str(value or "")
    if field == "is_rejected" and value:
        reason = f"{prefix}rejection_reason_code"
        text = after.get(f"{reason}_description") or after.get(reason) or ""
        why = store_text(str(text))
    if event:
        yield {
            "at": at, "user": user, "event": event, "label": label, "quantity": quantity, "location": "", "why": why,
            "outcome": "",
        }  # fmt: skip


def _without_audited(rows: Iterable[OrderHistoryRow], audited: Iterable[OrderHistoryRow]) -> Iterator[OrderHistoryRow]:
    """Yield this host's rows, but not those that the service lists too: of the same kind and not before them."""
    known = sorted((_decision(row), row["at"]) for row in audited)
    for row in sorted(rows, key=lambda row: row["at"]):
        same = next((each for each in known if each[0] == _decision(row) and each[1] >= row["at"]), None)
        if same and row["outcome"] == "confirmed":
            known.remove(same)
        else:
            yield row


def _decision(row: OrderHistoryRow) -> tuple[str, str]:
    """Return the kind of a decision and whom it concerns: who has the order, else who decided."""
    if row["event"] == "assigned":
        return "claimed", row["label"]
    return row["event"], row["user"]


def _local_rows(outbox: apsw.Connection, cache: apsw.Connection, number: str, limit: int) -> Iterator[OrderHistoryRow]:
    for found in fetch(outbox, _UPDATES_OF_ORDER, number, limit):
        op = operation_from_row(found)
        yield from _parts_of_update(op, cache)


def _parts_of_update(op: Operation, cache: apsw.Connection) -> Iterator[OrderHistoryRow]:
    """Yield the parts of one update."""
    order = op.body["orders"]
    at, word, failure = to_utc_text(op.occurred_at), OUTCOME_BY_STATE[op.state], reason_of_operation(op)

    def part(what: str, label: str, quantity: Decimal, location: str, why: str) -> OrderHistoryRow:
        return {
            "at": at,
            "user": op.app_user,
            "event": what,
            "label": label,
            "quantity": quantity,
            "location": location,
            "why": why or failure,
            "outcome": word,
        }

    reason = store_text(str(order.get("rejection_reason_code_description") or ""))
    for name, yes, no in (
        ("is_rejected", "rejected", "taken_back"),
        ("is_claimed", "claimed", "released"),
        ("is_active", "reopened", "finished"),
    ):
        if name in order:
            what = yes if order[name] else no
            why = reason if what == "rejected" else ""
            yield part(what, "", Decimal(0), "", why)
    for line in order.get("order_lines") or ():
        product = str(line.get("product_number") or "")
        name = product_names(cache, [product]).get(product, product)
        reason = store_text(str(line.get("rejection_reason_code_description") or ""))
        more = to_decimal(line.get("picked_quantity")) - to_decimal(line.get("base_picked_quantity"))
        what = "pick" if more > 0 else "unpick" if more < 0 else "short" if line.get("is_picked") else "opened"
        location = "" if what == "opened" else str(line.get("preferred_location_code") or "")
        yield part(what, name, abs(more), location, reason)


@declare_query("order_outcomes", "orders since", whole_topics(OUTBOX))
def order_outcomes(context: QueryContext, args: Args) -> QueryResult[OrderOutcomesRow]:
    """Return the worst state of the pending operations of each of these `orders`.

    `confirmed` if nothing is pending. With `since` (ISO 8601 UTC) only updates from then on count.
    """
    rows: list[OrderOutcomesRow] = []
    since = args.get("since")
    for number in args["orders"]:
        pending = [operation_from_row(row) for row in fetch(context.outbox, _LIVE_OPERATIONS, f"order/{number}")]
        if since:
            pending = [
                op
                for op in pending
                if op.operation in (UPDATE_ORDER, REJECT_LINES)
                and to_utc_text(op.occurred_at) >= to_utc_text(str(since))
            ]
        worst = next((op for op in pending if op.operation != CREATE_MOVEMENT or op.state != "done"), None)
        word = OUTCOME_BY_STATE[worst.state] if worst else "confirmed"
        rows.append(
            {
                "order_number": number,
                "outcome": word,
                "why": worst.last_error if worst and worst.state in ("rejected", "needs_person", "in_doubt") else "",
            }
        )
    return rows, len(rows)
