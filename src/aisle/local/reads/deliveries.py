"""Deliveries as a session sees them: what was announced, and what came of it, with this host's receipts laid over.

A receipt adds to what a line has received; it is laid over until the delivery was read after its confirmation. What the
delivery itself does not say of its lines, its receipt does. interface: Delivery order, Receipt order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

import apsw

from aisle.jobs.base import Json
from aisle.jobs.codec import to_text
from aisle.local.cache import came
from aisle.local.cache.came import RECEIVED, has_come
from aisle.local.cache.deliveries import LATE
from aisle.local.cache.schema import MISSING
from aisle.local.db import fetch
from aisle.local.fold import natural
from aisle.local.outbox.operation import LOGS, Operation
from aisle.local.reads.entries import REFERENCE
from aisle.local.reads.ordered import Key, merged
from aisle.local.reads.overlay import Overlay, Row, decimal, is_in
from aisle.local.reads.rows import Result, loaded, window
from aisle.tuples import NamedTuple
from aisle.words import fold

SIZE = 20
"""Rows of a window when nobody says how many."""

_THESE = """
SELECT d.order_number, d.expected, d.began, d.raw FROM json_each(?) e
JOIN delivery d ON d.order_number = e.value ORDER BY e.key
"""

_LINES = """
SELECT l.order_number, l.line_number, l.product_number, l.quantity, l.received, l.raw, p.name, p.unit, p.allow_decimal
FROM json_each(?) e JOIN delivery_line l ON l.order_number = e.value
LEFT JOIN product p ON p.product_number = l.product_number
ORDER BY l.order_number, l.line_number
"""

_SUMS = """
SELECT l.order_number, count(*), sum(l.quantity), sum(min(l.received, l.quantity)),
sum(CASE WHEN l.quantity IS NULL THEN l.received > 0 ELSE l.received >= l.quantity END),
sum(l.received IS NULL), max(coalesce(p.allow_decimal, 0)), sum(l.quantity IS NULL), max(l.received) > 0
FROM json_each(?) e JOIN delivery_line l ON l.order_number = e.value
LEFT JOIN product p ON p.product_number = l.product_number GROUP BY l.order_number
"""

_WITH = f"""
SELECT DISTINCT l.order_number FROM delivery_line l INDEXED BY delivery_line_missing
JOIN delivery d ON d.order_number = l.order_number WHERE l.product_number = ?1 AND ({MISSING}) AND d.came = 0
UNION SELECT l.order_number FROM json_each(?2) e JOIN delivery_line l ON l.order_number = e.value
WHERE l.product_number = ?1
"""  # noqa: S608 - conditions of our own
"""Deliveries that may expect a product: by what was read, and those of which something is on its way."""

_NAMES = """
SELECT p.product_number, p.name, p.unit, p.allow_decimal FROM json_each(?) e
JOIN product p ON p.product_number = e.value
"""


class Listed(NamedTuple):
    """A list of deliveries, as an index has it."""

    along: str
    """The index."""
    where: str
    columns: tuple[str, ...]
    """What it is sorted by; the last names the delivery."""
    came: int | None = None
    """Whether all has come of what is in it; None for either."""
    is_backward: bool = False
    """It is read from the end of the index."""


_LISTS = {
    "": Listed("delivery_list", "came BETWEEN 0 AND 1", ("came", "due", "sort", "order_number")),
    "open": Listed("delivery_list", "came = 0", ("due", "sort", "order_number"), 0),
    RECEIVED: Listed("delivery_came", "came = 1", ("expected", "sort", "order_number"), 1, is_backward=True),
}


class Head(NamedTuple):
    """A delivery in a list."""

    number: str
    expected: str
    began: float
    raw: str


class Sums(NamedTuple):
    """What its lines come to."""

    lines: int
    quantity: Decimal
    received: Decimal
    """Of what was announced: what came beyond it fills no other line's gap."""
    full: bool
    complete: int = 0
    """Of its lines: all of them has come."""
    mixed: bool = False
    """Measured goods beside others, or a line that says no quantity: there is no sum that says anything."""
    begun: bool = True
    """Something came, announced or not."""
    untold: bool = False
    """Of a line nobody says how much came."""

    @property
    def state(self) -> str:
        """`open`, `partial` or `received`."""
        if not self.begun:
            return "open"
        return RECEIVED if self.full else "partial"


def deliveries(cache: apsw.Connection, overlay: Overlay, args: Mapping[str, Json]) -> Result:
    """A window on the deliveries: those to be received (`state` open), what has all come (`received`), or all.

    Those that are expected first come first; what was received, youngest first. `search` looks through numbers,
    containers and suppliers.
    """
    pending, wanted = overlay.by(REFERENCE, receipts_of), str(args.get("state") or "")
    listed = _LISTS.get(wanted, _LISTS["open" if wanted else ""])
    words = fold(str(args.get("search") or "")).split()
    touched = {head.number: of for head, of in _summed_of(cache, list(pending), pending)}
    extra = sorted(_extra(cache, listed, words, touched))
    source = f"FROM delivery INDEXED BY {listed.along}"
    where = " AND ".join([listed.where, *(["order_number NOT IN (SELECT value FROM json_each(?))"] if touched else [])])
    where += " AND instr(text, ?)" * len(words)
    said = [*([to_text(list(touched))] if touched else []), *words]

    def read(from_end: bool, count: int, skip: int) -> list[Key]:
        way = "DESC" if from_end else "ASC"
        by = ", ".join(f"{column} {way}" for column in listed.columns)
        sql = f"SELECT {', '.join(listed.columns)} {source} WHERE {where} ORDER BY {by} LIMIT ? OFFSET ?"
        return fetch(cache, sql, *said, count, skip)

    if words or touched:
        settled = int(fetch(cache, f"SELECT count(*) {source} WHERE {where}", *said)[0][0])
    else:
        settled = int(fetch(cache, f"SELECT ifnull(sum(n), 0) FROM delivery_tally WHERE {listed.where}")[0][0])  # noqa: S608
    total = settled + len(extra)
    first, size = window(args, SIZE)
    if listed.is_backward:  # the same window of the list from its other end
        size = min(size, max(0, total - first))
        keys = merged(read, settled, extra, total - first - size, size)[::-1]
    else:
        keys = merged(read, settled, extra, first, size)
    shown = _summed_of(cache, [str(key[-1]) for key in keys], pending)
    return [_row(head, touched.get(head.number, of)) for head, of in shown], total


def _extra(cache: apsw.Connection, listed: Listed, words: Sequence[str], touched: Mapping[str, Sums]) -> Iterator[Key]:
    """Where those stand in the list of which something is on its way, as far as they belong there."""
    sql = "SELECT d.expected, d.due, d.sort, d.order_number, d.text FROM json_each(?) e"
    sql += " JOIN delivery d ON d.order_number = e.value"
    for expected, due, sort, number, text in fetch(cache, sql, to_text(list(touched))) if touched else ():
        came = int(touched[number].state == RECEIVED)
        known = {"came": came, "expected": expected, "due": due, "sort": sort, "order_number": number}
        if listed.came in (None, came) and all(word in text for word in words):
            yield tuple(known[column] for column in listed.columns)


def delivery(cache: apsw.Connection, overlay: Overlay, number: str) -> Result:
    """One delivery with its `lines`, those that nobody announced at the end (`line_number` 0 until it has one)."""
    rows = fetch(cache, _THESE, to_text([number]))
    if not rows:
        return [], 0
    head = Head(*rows[0])
    lines = _lines_of(cache, [head], overlay.by(REFERENCE, receipts_of))[number]
    return [{**_row(head, _summed(lines, head)), "lines": lines}], 1


def expecting(cache: apsw.Connection, overlay: Overlay, args: Mapping[str, Json]) -> Result:
    """The deliveries that still expect a product, each with how much of it (`missing`), the earliest first."""
    product = str(args["product_number"])
    pending = overlay.by(REFERENCE, receipts_of)
    numbers = [str(name) for (name,) in fetch(cache, _WITH, product, to_text(list(pending)))]
    heads = [Head(*row) for row in fetch(cache, _THESE, to_text(numbers))]
    lines = _lines_of(cache, heads, pending)
    rows: list[Row] = []
    for head in sorted(heads, key=lambda each: (each.expected or LATE, natural(each.number))):
        mine = [line for line in lines[head.number] if line["product_number"] == product]
        missing = missing_of(mine)
        if missing is None or missing > 0:
            rows.append({**_row(head, _summed(lines[head.number], head)), "missing": missing})
    first, size = window(args, SIZE)
    return rows[first : first + size], len(rows)


def missing_of(lines: Iterable[Row]) -> Decimal | None:
    """How much of these lines is still to come; None where one of which nothing came does not say it, or nobody says
    how much of it came."""
    found = Decimal(0)
    for line in lines:
        if is_untold(line):
            return None
        if line["quantity"] is not None:
            found += max(Decimal(0), line["quantity"] - line["received"])
        elif line["received"] <= 0:
            return None
    return found


def is_untold(line: Row) -> bool:
    """Whether nobody says how much of a line came, and nothing of it is on its way from here."""
    return bool(line.get("untold")) and line["received"] <= 0


def _row(head: Head, of: Sums) -> Row:
    raw = loaded(head.raw)
    return {
        "order_number": head.number,
        "supplier_name": str(raw.get("supplier_name") or raw.get("supplier_code") or ""),
        "datetime_expected": head.expected,
        "external_reference_number": str(raw.get("external_reference_number") or ""),
        "order_type": str(raw.get("order_type") or ""),
        "no_of_containers": raw.get("no_of_containers"),
        "store_origin": raw.get("store_origin"),
        "tracing_url": str(raw.get("tracing_url") or ""),
        "state": of.state,
        "total_lines": of.lines,
        "complete_lines": of.complete,
        "is_mixed": of.mixed,
        "quantity": of.quantity,
        "received_quantity": None if of.untold else of.received,
    }


def _summed_of(
    cache: apsw.Connection, numbers: Sequence[str], pending: Mapping[str, Sequence[Operation]]
) -> list[tuple[Head, Sums]]:
    """These deliveries, in their order, with what their lines come to; those that are not here are left out."""
    asked = to_text(list(numbers))
    heads = [Head(*row) for row in (fetch(cache, _THESE, asked) if numbers else ())]
    sums = _sums(cache, asked) if heads else {}
    rest = [head for head in heads if head.number in pending or head.number not in sums]
    lines = _lines_of(cache, rest, pending) if rest else {}
    sums |= {head.number: _summed(lines[head.number], head) for head in rest}
    return [(head, sums[head.number]) for head in heads]


def _sums(cache: apsw.Connection, numbers: str) -> dict[str, Sums]:
    """Of those of these deliveries whose lines say by themselves what was received."""
    return {
        str(number): Sums(
            int(lines),
            decimal(quantity),
            decimal(received),
            full == lines,
            int(full),
            bool(unsaid) or (lines > 1 and bool(measured)),
            bool(begun),
        )
        for number, lines, quantity, received, full, silent, measured, unsaid, begun in fetch(cache, _SUMS, numbers)
        if not silent
    }


def _summed(lines: Sequence[Row], head: Head) -> Sums:
    if not lines and loaded(head.raw).get("status") == RECEIVED:
        return Sums(0, Decimal(0), Decimal(1), full=True)
    complete = sum(has_come(line["received"], line["quantity"]) for line in lines)
    said = [line for line in lines if line["quantity"] is not None]
    return Sums(
        len(lines),
        sum((line["quantity"] for line in said), Decimal(0)),
        sum((min(line["received"], line["quantity"]) for line in said), Decimal(0)),
        complete == len(lines),
        complete,
        len(said) < len(lines) or (len(lines) > 1 and any(line["allow_decimal"] for line in lines)),
        any(line["received"] > 0 for line in lines),
        any(map(is_untold, lines)),
    )


# Lines


def _lines_of(
    cache: apsw.Connection, heads: Sequence[Head], pending: Mapping[str, Sequence[Operation]]
) -> dict[str, list[Row]]:
    """The lines of these deliveries, with what is on its way laid over."""
    numbers = to_text([head.number for head in heads])
    found: dict[str, list[Row]] = {head.number: [] for head in heads}
    said: dict[str, list[came.Line]] = {}
    for number, line, product, quantity, received, text, *about in fetch(cache, _LINES, numbers):
        raw = loaded(text)
        found[number].append(_line(cache, line, product, quantity, received, raw, about))
        product, barcode = found[number][-1]["product_number"], str(raw.get("barcode") or "")
        said.setdefault(number, []).append(came.Line(line, product, barcode, quantity, received))
    for number, lines in said.items():
        say_receipt(cache, number, found[number], lines)
    for head in heads:
        lay_receipts(found[head.number], head.number, pending.get(head.number, ()), head.began)
        _name_new(cache, found[head.number])
    return found


def _line(
    cache: apsw.Connection, line: int, product: str, quantity: Any, received: Any, raw: Row, about: Sequence[Any]
) -> Row:
    name, unit, decimals = about
    if not product:
        product = _product_of(cache, str(raw.get("barcode") or ""))
    return {
        "line_number": int(line),
        "product_number": product,
        "description": str(name or raw.get("description") or product or raw.get("barcode") or ""),
        "quantity": None if quantity is None else decimal(quantity),
        "received": decimal(received),
        "container_barcode": str(raw.get("container_barcode") or ""),
        "customer_order_number": str(raw.get("customer_order_number") or ""),
        "target_stock_pool": int(decimal(raw.get("target_stock_pool"))),
        "unit": str(unit or raw.get("base_unit") or ""),
        "allow_decimal": bool(decimals),
    }


def _product_of(cache: apsw.Connection, barcode: str) -> str:
    """The product of a line that names its barcode alone."""
    rows = fetch(cache, "SELECT key FROM code WHERE code = ? AND kind = 'product'", barcode) if barcode else []
    return str(rows[0][0]) if len(rows) == 1 else ""


def say_receipt(cache: apsw.Connection, number: str, rows: Iterable[Row], lines: Sequence[came.Line]) -> None:
    """Sets in these rows what came of lines that do not say it themselves (`lines` as the delivery says them), as the
    receipt of the delivery has it; `untold` where nobody says it."""
    if all(line.received is not None for line in lines):
        return
    found = fetch(cache, "SELECT raw FROM receipt WHERE order_number = ?", number)
    receipt = loaded(str(found[0][0])).get("receipt_lines") if found else None
    for row, received in zip(rows, came.received(lines, receipt), strict=True):
        row["received"], row["untold"] = decimal(received), received is None


def _name_new(cache: apsw.Connection, lines: list[Row]) -> None:
    """What nobody announced has its name from the catalogue."""
    new = {line["product_number"]: line for line in lines if not line["line_number"]}
    for product, name, unit, decimals in fetch(cache, _NAMES, to_text(list(new))) if new else ():
        new[product].update(description=name or product, unit=str(unit or ""), allow_decimal=bool(decimals))


# What is on its way


def receipts_of(operation: Operation) -> Iterator[str]:
    """The deliveries of which an operation says what came in."""
    if operation.operation == LOGS and operation.query.get("is_from_receipt"):
        yield from (str(entry["reference"]) for entry in entries_of(operation) if entry.get("reference"))


def entries_of(operation: Operation) -> Sequence[Mapping[str, Any]]:
    """The entries of a log."""
    return operation.body.get("storeproductlog") or ()


def lay_receipts(lines: list[Row], number: str, operations: Iterable[Operation], began: float | None) -> None:
    """Changes the lines of a delivery, in place, to what they will have received when these operations are done."""
    for operation in operations:
        if is_in(operation, began):
            continue
        for entry in entries_of(operation):
            if str(entry.get("reference") or "") == number:
                _receive(lines, str(entry.get("product_number")), decimal(entry.get("quantity")), entry)


def _receive(lines: list[Row], product: str, quantity: Decimal, entry: Mapping[str, Any]) -> None:
    """As the service counts it: the named line, else those of the product in order; back from the last first."""
    mine = [line for line in lines if line["product_number"] == product]
    named = [line for line in mine if line["line_number"] == entry.get("line_number")]
    mine = named or mine
    if not mine:
        mine = [new_line(product)]
        lines.append(mine[0])
    for line in mine if quantity > 0 else reversed(mine):
        part = min(quantity, _room(line, quantity)) if quantity > 0 else max(quantity, -line["received"])
        line["received"] += part
        quantity -= part
    mine[-1]["received"] += quantity


def _room(line: Row, quantity: Decimal) -> Decimal:
    """How much of this more a line takes: all of it where it does not say how much was announced."""
    return quantity if line["quantity"] is None else max(Decimal(0), line["quantity"] - line["received"])


def new_line(product: str) -> Row:
    """A line for what nobody announced."""
    return {
        "line_number": 0,
        "product_number": product,
        "description": product,
        "quantity": Decimal(0),
        "received": Decimal(0),
        "container_barcode": "",
        "customer_order_number": "",
        "target_stock_pool": 0,
        "unit": "",
        "allow_decimal": False,
    }
