"""What has happened to an order, and what becomes of what was said of it: the store's log, and this host's outbox.

What the outbox keeps follows from the journal: who, when, at which terminal, and the words of the service.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

import apsw

from aisle.jobs.base import Json
from aisle.jobs.store_time import utc
from aisle.local.cache.schema_log import WORK
from aisle.local.db import fetch
from aisle.local.outbox.doubts import WORDS
from aisle.local.outbox.operation import MOVEMENT, REJECT_LINES, UPDATE, Operation, as_operation
from aisle.local.reads.overlay import Row, decimal
from aisle.local.reads.rows import Result, loaded, window
from aisle.local.session.people import people_of
from aisle.local.told import outside, why_of_row

SIZE = 40

_LOGGED = f"""
SELECT l.at, l.app_user_name, l.product_number, l.raw, p.name, {WORK.format(row="l")} FROM log l
LEFT JOIN product p ON p.product_number = l.product_number
WHERE l.raw ->> 'customer_order_number' = ? AND instr(l.raw, '"customer_order_number"')
AND ifnull(l.raw ->> 'source', '') <> 'in_hand' ORDER BY l.at DESC LIMIT ?
"""  # noqa: S608 - conditions of our own

_SAID = """
SELECT * FROM operation WHERE operation = 'update-customer-order' AND body ->> '$.orders.order_number' = ?
AND superseded_by = '' ORDER BY n DESC LIMIT ?
"""

_UNDER_WAY = """
SELECT o.* FROM op_lane l JOIN operation o ON o.n = l.n WHERE l.lane = ? AND o.live = 1
ORDER BY CASE o.state WHEN 'rejected' THEN 0 WHEN 'needs_person' THEN 1 WHEN 'in_doubt' THEN 2 ELSE 3 END, o.n DESC
"""


def history(cache: apsw.Connection, outbox: apsw.Connection, args: Mapping[str, Json]) -> Result:
    """What happened to an order (`order_number`), youngest first: `at`, `who`, `what`, `label`, `quantity`,
    `place`, `why`, `word` (what became of it, where this host has said it)."""
    number = str(args["order_number"])
    first, size = window(args, SIZE)
    most = first + size
    rows = list(_noted(outbox, cache, number, most))
    said = {(row["what"], row["label"], row["at"][:19]) for row in rows}
    rows += [row for row in _logged(cache, number, most) if (row["what"], row["label"], row["at"][:19]) not in said]
    names = people_of(cache)
    for row in rows:
        row["who"] = names.get(row["who"], row["who"])
    rows.sort(key=lambda row: str(row["at"]), reverse=True)
    return rows[first:most], len(rows)


def _logged(cache: apsw.Connection, number: str, most: int) -> Iterator[Row]:
    for at, user, product, raw, name, work in fetch(cache, _LOGGED, number, most):
        entry = loaded(raw)
        yield {
            "at": str(at),
            "who": str(user),
            "what": str(work or "log"),
            "label": str(name or product),
            "quantity": abs(decimal(entry.get("quantity"))),
            "place": str(entry.get("location_code") or ""),
            "why": outside(str(entry.get("reason_code_description") or "")),
            "word": "",
        }


def _noted(outbox: apsw.Connection, cache: apsw.Connection, number: str, most: int) -> Iterator[Row]:
    for found in fetch(outbox, _SAID, number, most):
        op = as_operation(found)
        head = {"at": utc(op.occurred_at), "who": op.app_user, "word": WORDS[op.state]}
        head["why"] = why_of_row(op)
        for said in _sayings(op, cache):
            yield {**said, **head, "why": said["why"] or head["why"]}


def _sayings(op: Operation, cache: apsw.Connection) -> Iterator[Row]:
    """The things that one update says."""
    order = op.body["orders"]
    reason = outside(str(order.get("rejection_reason_code_description") or ""))
    for name, yes, no in (
        ("is_rejected", "rejected", "taken_back"),
        ("is_claimed", "claimed", "released"),
        ("is_active", "reopened", "finished"),
    ):
        if name in order:
            what = yes if order[name] else no
            why = reason if what == "rejected" else ""
            yield {"what": what, "label": "", "quantity": Decimal(0), "place": "", "why": why}
    for line in order.get("order_lines") or ():
        name = _name(cache, str(line.get("product_number") or ""))
        reason = outside(str(line.get("rejection_reason_code_description") or ""))
        more = decimal(line.get("picked_quantity")) - decimal(line.get("base_picked_quantity"))
        what = "pick" if more > 0 else "unpick" if more < 0 else "short" if line.get("is_picked") else "opened"
        place = "" if what == "opened" else str(line.get("preferred_location_code") or "")
        yield {"what": what, "label": name, "quantity": abs(more), "place": place, "why": reason}


def _name(cache: apsw.Connection, product: str) -> str:
    found = fetch(cache, "SELECT name FROM product WHERE product_number = ?", product)
    return str(found[0][0]) if found and found[0][0] else product


def outcomes(outbox: apsw.Connection, args: Mapping[str, Json]) -> Result:
    """What becomes of what was said of these `orders`: `order_number`, `word` and `why` each, the worst of it first to
    be told; `confirmed` where nothing is under way. With `since` (ISO 8601 UTC) only of updates from then on."""
    rows: list[Row] = []
    since = args.get("since")
    for number in args["orders"]:
        under_way = [as_operation(row) for row in fetch(outbox, _UNDER_WAY, f"order/{number}")]
        if since:
            under_way = [
                op
                for op in under_way
                if op.operation in (UPDATE, REJECT_LINES) and utc(op.occurred_at) >= utc(str(since))
            ]
        worst = next((op for op in under_way if op.operation != MOVEMENT or op.state != "done"), None)
        word = WORDS[worst.state] if worst else "confirmed"
        rows.append({"order_number": number, "word": word, "why": _why(worst)})
    return rows, len(rows)


def _why(op: Operation | None) -> Any:
    return op.last_error if op and op.state in ("rejected", "needs_person", "in_doubt") else ""
