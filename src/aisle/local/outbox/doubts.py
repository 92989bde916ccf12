"""What of the outbox is not over, for people: what was meant, by whom, what both sides say, and what can be done."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import apsw

from aisle.jobs.base import AGAIN, ARRIVED, BY_HAND, DIFFERENCE, OVERAGE, Json
from aisle.jobs.codec import to_text
from aisle.local.db import fetch, fetch_one
from aisle.local.outbox.instead import instead
from aisle.local.outbox.operation import LOGS, MOVEMENT, SETTINGS, UPDATE, Operation, as_operation, person_of
from aisle.local.outbox.passes import awaited
from aisle.local.outbox.rebase import BASE, PICKED
from aisle.local.outbox.rows import is_last
from aisle.local.outbox.sides import books_lack, is_count, items, looks_like, sides
from aisle.local.outbox.state import CLOSED, DONE, IN_DOUBT, NEEDS_PERSON, QUEUED, REJECTED, SENDING
from aisle.local.reads.overlay import Row, decimal
from aisle.local.reads.rows import Result, window
from aisle.local.session.people import name_of

PAGE = 20

NOTED, SENT, CONFIRMED, REFUSED, UNCLEAR = "noted", "sent", "confirmed", "refused", "unclear"
SETTLED = "settled"
"""The words for what can have become of a piece of work."""

WORDS: Mapping[str, str] = {
    QUEUED: NOTED,
    SENDING: SENT,
    DONE: CONFIRMED,
    REJECTED: REFUSED,
    IN_DOUBT: UNCLEAR,
    NEEDS_PERSON: UNCLEAR,
    CLOSED: SETTLED,
}

_RANKED = """
ORDER BY CASE state WHEN 'needs_person' THEN 0 WHEN 'rejected' THEN 0 WHEN 'in_doubt' THEN 1 ELSE 2 END, n
"""
_LIST = f"""
SELECT * FROM operation WHERE n IN (
  SELECT n FROM operation INDEXED BY operation_live WHERE live = 1 {_RANKED} LIMIT ? OFFSET ?
) {_RANKED}
"""  # noqa: S608 - an order of our own
"""Much may be waiting: of what is in no window the index alone is read."""

_OLDER = """
SELECT o.op_id FROM op_lane mine JOIN op_lane older ON older.lane = mine.lane AND older.n < mine.n
JOIN operation o ON o.n = older.n
WHERE mine.n = ? AND o.state IN ('in_doubt', 'needs_person') ORDER BY o.n LIMIT 1
"""

PUT_BACK, OTHER_ORDER = "put_back", "other_order"
"""What has become of goods that an order did not get: each closes the operation, and says so."""


def doubts(outbox: apsw.Connection, cache: apsw.Connection, args: Mapping[str, Json]) -> Result:
    """The unsettled operations, those that need a person first; `op_id` asks for one of them."""
    if args.get("op_id"):
        found = fetch(outbox, "SELECT * FROM operation WHERE live = 1 AND op_id = ?", str(args["op_id"]))
        return [entry(as_operation(row), cache, outbox) for row in found], len(found)
    first, size = window(args, PAGE)
    rows = [entry(as_operation(row), cache, outbox) for row in fetch(outbox, _LIST, size, first)]
    total = fetch_one(outbox, "SELECT count(*) FROM operation WHERE live = 1")
    return rows, int(total[0]) if total else 0


def trouble(outbox: apsw.Connection) -> Result:
    """How many operations need a person, as a total without rows."""
    sql = "SELECT count(*) FROM operation WHERE live = 1 AND state IN ('needs_person', 'rejected', 'in_doubt')"
    row = fetch_one(outbox, sql)
    return [], int(row[0]) if row else 0


def entry(op: Operation, cache: apsw.Connection, outbox: apsw.Connection) -> Row:
    """One operation as a page shows it; `waits_for` is the doubtful one that has to be settled before it can go,
    `principal` whose token it goes with (empty: the store's), and `pin` whose PIN it waits for."""
    names = _names(cache, op)
    pin = awaited(outbox, op, time.time())
    return {
        "op_id": op.op_id,
        "word": WORDS[op.state],
        "asked": op.state in (NEEDS_PERSON, REJECTED),
        "operation": op.operation,
        "kind": _kind(op),
        "who": op.app_user,
        "principal": name_of(cache, person_of(op.principal)),
        "pin": name_of(cache, pin),
        "terminal": op.terminal,
        "at": op.occurred_at,
        "why": op.last_error,
        "tries": op.attempts,
        "settles_at": op.settles_at,
        "verdict": str(op.evidence.get("verdict") or ""),
        "items": [_item(each, names) for each in items(op)],
        "sides": list(sides(op, cache)) if op.state in (IN_DOUBT, NEEDS_PERSON, REJECTED) else [],
        "looks": looks_like(op),
        "ways": [BY_HAND] if pin else ways(op, last=is_last(outbox, op.n), lacking=books_lack(op, cache)),
        "waits_for": _waits_for(op, outbox),
        "order": _order(op),
        "place": _place(op),
        "product": _product(op),
    }


def ways(op: Operation, *, last: bool, lacking: bool = True) -> list[str]:
    """What a person can say of it; nothing while the machine can still find out. `last`: nothing waits behind it,
    so that what is sent in its place comes in its turn. `lacking`: that the books had too little may be why."""
    if op.state == NEEDS_PERSON:
        return [ARRIVED, AGAIN, *_instead(op, last, lacking), BY_HAND]
    if op.state == REJECTED:
        return [*_instead(op, last, lacking), *([PUT_BACK, OTHER_ORDER] if _in_hand(op) else []), BY_HAND]
    return [ARRIVED, BY_HAND] if op.state == IN_DOUBT else []


def _instead(op: Operation, last: bool, lacking: bool) -> list[str]:
    hows = (OVERAGE, DIFFERENCE) if lacking else (DIFFERENCE,)
    found = [how for how in hows if instead(op, how, "") is not None]
    return found if last else [how for how in found if how != DIFFERENCE]


def _in_hand(op: Operation) -> bool:
    """Whether goods were taken for an order that does not get them now."""
    lines = items(op) if op.operation == UPDATE else []
    return any(decimal(line.get(PICKED)) > decimal(line.get(BASE)) for line in lines)


def _waits_for(op: Operation, outbox: apsw.Connection) -> str:
    found = fetch_one(outbox, _OLDER, op.n) if op.state == QUEUED else None
    return str(found[0]) if found else ""


def _kind(op: Operation) -> str:
    if op.operation == LOGS:
        return "count" if is_count(op) else "change"
    return {MOVEMENT: "move", UPDATE: "pick", SETTINGS: "setting"}.get(op.operation, "other")


def _item(each: Mapping[str, Any], names: Mapping[str, str]) -> Row:
    product = str(each.get("product_number") or "")
    named = ("picked_quantity", "counted_quantity", "quantity", *(f"stock_pool_{pool}" for pool in range(1, 11)))
    quantity = next((each[name] for name in named if each.get(name) is not None), None)
    source, target = each.get("from_location") or {}, each.get("to_location") or {}
    return {
        "product_number": product,
        "label": names.get(product) or product,
        "quantity": None if quantity is None else decimal(quantity),
        "line": each.get("line_number"),
        "from": _end(source) or str(each.get("location_code") or ""),
        "to": _end(target),
    }


def _end(end: Mapping[str, Any]) -> str:
    return str(end.get("location_code") or end.get("customer_order_number") or "")


def _names(cache: apsw.Connection, op: Operation) -> dict[str, str]:
    wanted = to_text(list({str(each.get("product_number") or "") for each in items(op)}))
    sql = "SELECT product_number, name FROM product WHERE product_number IN (SELECT value FROM json_each(?))"
    return {str(number): str(name) for number, name in fetch(cache, sql, wanted)}


def _order(op: Operation) -> str:
    return next((lane.partition("/")[2] for lane in op.lanes if lane.startswith("order/")), "")


def _product(op: Operation) -> str:
    return next((str(each["product_number"]) for each in items(op) if each.get("product_number")), "")


def _place(op: Operation) -> str:
    """The place whose stock is in question: where goods were counted, lost or taken from."""
    for each in items(op):
        for end in (each, each.get("from_location") or {}, each.get("to_location") or {}):
            if end.get("location_code"):
                return str(end["location_code"])
    return ""
