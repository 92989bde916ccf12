"""Lines that several people pick: an update is fitted to what the service says, and what found no room is found out.

Our own service does this itself (`pick-base`) and says what was left. For one that takes quantities as they are, the
courier reads the order just before it writes; what somebody else writes in that moment is not seen.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import apsw

from aisle.client import Answer
from aisle.courier.features import Features
from aisle.errors import ContractError
from aisle.local.db import fetch
from aisle.local.outbox.operation import UPDATE, Operation
from aisle.local.outbox.rebase import BASE, PICKED, Now, has_base, is_picked, rebased
from aisle.local.outbox.remainder import left_in
from aisle.local.outbox.settings_of import SEEN, said_of
from aisle.local.reads.overlay import decimal, is_full
from aisle.local.told import Told, changed, told
from aisle.tuples import NamedTuple

Row = Mapping[str, Any]


class Fitted(NamedTuple):
    """An operation as it is to be sent, and the lines on which some of it finds no room."""

    op: Operation
    left: tuple[Row, ...] = ()
    spared: Row | None = None
    """A line that nobody has touched, and that is left out to see whether it stays; as it can be said again."""


def is_fitted(op: Operation, features: Features) -> bool:
    """Whether the operation has to be fitted here, because the service does not do it."""
    lines = op.body["orders"].get("order_lines") or () if op.operation == UPDATE else ()
    return not features.pick_base and any(map(has_base, lines))


class Objection(ContractError):
    """An update that must not be sent any more: somebody else is done with the order. `evidence` is what was read."""

    def __init__(self, why: Told, evidence: Mapping[str, Any]) -> None:
        super().__init__(why)
        self.why = why
        self.evidence = evidence


def object_to(op: Operation, evidence: Mapping[str, Any], lines: Sequence[Row]) -> None:
    """Raises Objection where a service that checks nothing would open an order again, or change another line.

    `evidence`: what was read before it goes; `lines`: those of the order at the same time.
    """
    said = op.body["orders"] if op.operation == UPDATE else {}
    if not said.get("order_lines") or said.get("is_active") is False:
        return
    now = evidence.get("before") or {}
    number, head, seen = said["order_number"], (now.get("order") or {}).get("head") or {}, {"after": now}
    if head.get("is_rejected"):
        raise Objection(told("told.order_rejected", order=number), seen)
    if head.get("is_active") is False:
        raise Objection(told("told.order_finished", order=number), seen)
    there = {line["line_number"]: str(line.get("product_number") or "") for line in lines}
    for line in said["order_lines"]:
        product, ours = there.get(line["line_number"], ""), str(line.get("product_number") or "")
        if product and ours and product != ours:
            at = {"line": line["line_number"], "order": number}
            raise Objection(told("told.line_changed", now=product, ours=ours, **at), seen)


def object_to_settings(op: Operation, there: Mapping[str, Mapping[str, str]]) -> None:
    """Raises Objection where somebody else has changed what a store says of a product since it was seen here.

    `there`: what the stock list says just before it goes.
    """
    for item in op.body:
        number, base, ours = str(item.get("product_number")), item.get(SEEN) or {}, said_of(item)
        now = there.get(number, {})
        for name, seen in base.items():
            if name in now and now[name] not in (seen, ours.get(name)):
                why = changed(name, number, now[name], seen)
                raise Objection(why, {"before": {"product": {number: base}}, "after": {"product": there}})


def lines_of(cache: apsw.Connection, op: Operation) -> list[Row]:
    """The lines of the operation's order as the service said them last."""
    number = str(op.body["orders"]["order_number"])
    rows = fetch(cache, "SELECT line_number, raw FROM line WHERE order_number = ? ORDER BY line_number", number)
    return [{**json.loads(raw, parse_float=Decimal), "line_number": line} for line, raw in rows]


def fitted(op: Operation, lines: Sequence[Row]) -> Fitted:
    """The update with absolute quantities on top of what the lines stand at; pure."""
    order = op.body["orders"]
    there = {line["line_number"]: dict(line) for line in lines}
    said, left = [], []
    for change in order["order_lines"]:
        line = there.get(change["line_number"])
        news = {name: value for name, value in change.items() if name != BASE}
        if line is not None and has_base(change):
            of, moved = decimal(line.get("quantity")), decimal(line.get("moved_quantity"))
            now = rebased(change, decimal(line.get(PICKED)), of, moved)
            news |= {PICKED: now.picked, "is_picked": is_picked(change, now, of)}
            left += [_left(line, change, now)] if now.left else []
        if line is not None:
            line |= news
        said.append(news)
    whole = {**order, "order_lines": said}
    done = all(map(is_full, there.values()))
    if there and (done or "is_picked" in order):
        whole["is_picked"] = done
    return Fitted(op._replace(body={**op.body, "orders": whole}), tuple(left))


def with_all_lines(op: Operation, lines: Sequence[Row], spared: Row | None = None) -> Operation:
    """The update with the order's other lines as they stand, for a service that forgets what is not named; pure.

    One of them may be `spared`, to see whether it stays.
    """
    order = op.body["orders"]
    said = order.get("order_lines") or ()
    known = {change["line_number"] for change in said} | ({spared["line_number"]} if spared else set())
    others = [_as_it_stands(line) for line in lines if line["line_number"] not in known]
    return op._replace(body={**op.body, "orders": {**order, "order_lines": [*said, *others]}}) if others else op


def _as_it_stands(line: Row) -> Row:
    return {
        "line_number": line["line_number"],
        "product_number": str(line.get("product_number") or ""),
        PICKED: decimal(line.get(PICKED)),
    }


def spare_line(op: Operation, lines: Sequence[Row]) -> Row | None:
    """A line that may be left out to see whether the service forgets it: nobody has touched it, and others are named.

    It is what would be said to have it back. None where there is no such line.
    """
    named = {change["line_number"] for change in op.body["orders"].get("order_lines") or ()}
    for line in reversed(lines):
        is_touched = line.get("is_picked") or decimal(line.get(PICKED)) or decimal(line.get("moved_quantity"))
        if line["line_number"] not in named and len(lines) > 1 and line.get("quantity") and not is_touched:
            return {**_as_it_stands(line), "quantity": decimal(line["quantity"])}
    return None


def _left(line: Row, change: Row, now: Now) -> Row:
    by = {"picked_username": str(line["picked_username"])} if line.get("picked_username") else {}
    return {
        "line_number": change["line_number"],
        "product_number": str(change.get("product_number") or ""),
        "quantity": decimal(line.get("quantity")),
        PICKED: now.picked,
        "moved_quantity": decimal(line.get("moved_quantity")),
        "left": now.left,
        **by,
    }


def left_of(answer: Answer) -> tuple[Row, ...]:
    """What our own service says found no room; nothing where it says nothing that can be understood."""
    return left_in(answer.content)
