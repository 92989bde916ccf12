"""What both sides say of an operation: what stood at the service before, what we said, and what stands there now."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

import apsw

from aisle.jobs.codec import from_text
from aisle.local.db import fetch, fetch_one
from aisle.local.outbox.operation import LOGS, MOVEMENT, SETTINGS, UPDATE, Operation
from aisle.local.outbox.rebase import BASE, PICKED
from aisle.local.reads.overlay import Row, decimal

HEAD = ("is_active", "is_claimed", "is_picked", "is_rejected")
"""What an update says of a whole order."""

_YES, _NO = "yes", "no"

CONFLICT = 409
"""Status of an answer that says that the goods are not there."""


def items(op: Operation) -> list[Mapping[str, Any]]:
    """The parts of an operation: entries of a log, items of a movement, lines of an order."""
    if op.operation == UPDATE:
        return list(op.body["orders"].get("order_lines") or ())
    body = op.body.get("storeproductlog") if op.operation == LOGS else op.body
    return list(body or ()) if op.operation in (LOGS, MOVEMENT, SETTINGS) else []


def is_count(op: Operation) -> bool:
    """Whether it says what lies somewhere, rather than what came or went."""
    if op.operation != LOGS:
        return False
    return any("counted_quantity" in each or op.query.get("is_counted_quantity") for each in items(op))


def sides(op: Operation, cache: apsw.Connection) -> Iterator[Row]:
    """By place, by line, or by field of an order. What was not looked at for this operation is as the cache has it."""
    before, after = op.evidence.get("before") or {}, op.evidence.get("after") or {}
    if op.operation == UPDATE:
        left = from_text(Any, op.answer) if op.state == "rejected" and op.answer else {}
        now = after.get("order") or _order_now(op, cache)
        yield from _order_sides(op, before.get("order") or {}, _left_over(left) if left else now)
        return
    if op.operation == SETTINGS:
        yield from _settings_sides(op, before.get("product") or {}, after.get("product"), cache)
        return
    yield from _stock_sides(op, before.get("stock") or {}, after.get("stock") or _stock_now(op, cache))


def _stock_sides(op: Operation, stock: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Row]:
    changes, counts = expected(op), _counted(op)
    for product in dict.fromkeys((*stock, *now)):
        for place in dict.fromkeys((*stock.get(product, {}), *now.get(product, {}))):
            change, count = changes.get((product, place)), counts.get((product, place))
            ours = f"{change:+f}" if change is not None else None if count is None else f"={count.normalize():f}"
            if place or len({*stock.get(product, {}), *now.get(product, {})}) == 1:
                yield {
                    "of": product,
                    "place": place,
                    "before": _shown(stock.get(product, {}).get(place)),
                    "ours": ours,
                    "after": _shown(now.get(product, {}).get(place)),
                }


def _order_sides(op: Operation, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Row]:
    said = op.body["orders"]
    for name in HEAD:
        if name in said:
            was, now = (side.get("head", {}).get(name) for side in (before, after))
            yield {"of": name, "place": "", "before": _flag(was), "ours": _flag(said[name]), "after": _flag(now)}
    for line in items(op):
        number = str(line.get("line_number"))
        was, now = before.get("lines", {}).get(number, {}), after.get("lines", {}).get(number, {})
        yield {
            "of": str(line.get("product_number") or ""),
            "place": "",
            "before": _shown(was.get(PICKED, line.get(BASE))),
            "ours": _shown(line.get(PICKED)),
            "after": _shown(now.get(PICKED)),
        }


def _settings_sides(
    op: Operation, before: Mapping[str, Any], after: Mapping[str, Any] | None, cache: apsw.Connection
) -> Iterator[Row]:
    """By field of each product; what nobody says is None."""
    from aisle.local.outbox.settings_of import SEEN, said_of, values_of

    for item in items(op):
        number = str(item.get("product_number") or "")
        row = fetch_one(
            cache, "SELECT s.raw FROM product p JOIN stock s ON s.id = p.id WHERE p.product_number = ?", number
        )
        here = values_of(json.loads(row[0], parse_float=Decimal)) if row else {}
        was, now = before.get(number) or item.get(SEEN) or {}, here if after is None else after.get(number, {})
        for name, ours in said_of(item).items():
            yield {"of": name, "place": "", "before": was.get(name), "ours": ours, "after": now.get(name)}


def _left_over(line: Mapping[str, Any]) -> Mapping[str, Any]:
    """Where a line stood when something found no room on it (see `remainder`)."""
    return {"lines": {str(line.get("line_number")): line}}


def _order_now(op: Operation, cache: apsw.Connection) -> Mapping[str, Any]:
    number = str(op.body["orders"].get("order_number") or "")
    row = fetch_one(cache, "SELECT raw FROM orders WHERE order_number = ?", number)
    if row is None:
        return {}
    lines = fetch(cache, "SELECT line_number, raw FROM line WHERE order_number = ?", number)
    return {
        "head": json.loads(row[0]),
        "lines": {str(line): json.loads(raw, parse_float=Decimal) for line, raw in lines},
    }


def _stock_now(op: Operation, cache: apsw.Connection) -> Mapping[str, Any]:
    """The stock of what it is about at the places that it names, as far as the cache knows."""
    found: dict[str, dict[str, Any]] = {}
    for product, place in dict.fromkeys((*expected(op), *_counted(op))):
        sql = "SELECT s.raw FROM product p JOIN stock s ON s.id = p.id WHERE p.product_number = ?"
        row = fetch_one(cache, sql, product)
        entries = json.loads(row[0], parse_float=Decimal).get("store_locations") if row else None
        if place and isinstance(entries, list):
            here = (_sum(entry) for entry in entries if str(entry.get("store_location_code") or "") == place)
            found.setdefault(product, {})[place] = sum(here, Decimal(0))
    return found


def _sum(entry: Mapping[str, Any]) -> Decimal:
    if entry.get("quantity") is not None:
        return decimal(entry["quantity"])
    return sum((decimal(entry.get(f"stock_pool_{pool}")) for pool in range(1, 11)), Decimal(0))


def _counted(op: Operation) -> dict[tuple[str, str], Decimal]:
    """What lies of a product at a place, by what a count says; pools together."""
    found: dict[tuple[str, str], Decimal] = {}
    for each in items(op) if is_count(op) else ():
        at = str(each.get("product_number") or ""), str(each.get("location_code") or "")
        names = ("counted_quantity", *(f"stock_pool_{pool}" for pool in range(1, 11)))
        found[at] = found.get(at, Decimal(0)) + sum((decimal(each.get(name)) for name in names), Decimal(0))
    return found


def expected(op: Operation) -> dict[tuple[str, str], Decimal]:
    """By how much an operation changes the stock of a product at a place; counts say no such thing."""
    found: dict[tuple[str, str], Decimal] = {}

    def add(product: str, place: str, change: Decimal) -> None:
        if place:
            found[product, place] = found.get((product, place), Decimal(0)) + change

    for each in items(op):
        product, quantity = str(each.get("product_number") or ""), decimal(each.get("quantity"))
        if op.operation == MOVEMENT:
            add(product, str((each.get("from_location") or {}).get("location_code") or ""), -quantity)
            add(product, str((each.get("to_location") or {}).get("location_code") or ""), quantity)
        elif op.operation == LOGS and each.get("quantity") is not None and not is_count(op):
            add(product, str(each.get("location_code") or ""), quantity)
    return found


def looks_like(op: Operation) -> str:
    """What the stock before and after looks like: `there`, `not_there`, `mixed`; empty where nothing can be said."""
    before = (op.evidence.get("before") or {}).get("stock") or {}
    after = (op.evidence.get("after") or {}).get("stock") or {}
    seen = []
    for (product, place), change in expected(op).items():
        was, now = before.get(product, {}).get(place), after.get(product, {}).get(place)
        if was is None or now is None:
            return ""
        moved = decimal(now) - decimal(was)
        seen.append("there" if moved == change else "not_there" if moved == 0 else "mixed")
    if not seen:
        return ""
    return seen[0] if len(set(seen)) == 1 else "mixed"


def books_lack(op: Operation, cache: apsw.Connection) -> bool:
    """Whether a movement may have been refused because the books have too little of free goods where it began: by the
    answer's status, or by what is known of that place. Goods of an order never go beyond."""
    if op.operation != MOVEMENT:
        return False
    if any((item.get("from_location") or {}).get("customer_order_number") for item in op.body):
        return False
    if op.evidence.get("status") == CONFLICT:
        return True
    stock = (op.evidence.get("after") or {}).get("stock") or _stock_now(op, cache)
    leaving = [(at, -change) for at, change in expected(op).items() if change < 0]
    found = [(stock.get(product, {}).get(place), wanted) for (product, place), wanted in leaving]
    return not found or any(have is None or decimal(have) < wanted for have, wanted in found)


def _flag(value: Any) -> str | None:
    return None if value is None else _YES if value else _NO


def _shown(value: Any) -> str | None:
    return None if value is None else f"{decimal(value).normalize():f}"
