"""Decision whether an operation in doubt arrived, from what was read at the service. Pure functions.

Finding it proves that it arrived. Not finding it proves nothing, because a late request may still arrive. So `ABSENT`
counts only after the settling time (see `reconciler`), and only at a service where such an operation was found this way
before.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from aisle.courier.push.outgoing_request import EntryReference, entries_of, entry_number, entry_references
from aisle.operation_body_types import COUNT_FIELDS
from aisle.outbox.operation_record import CREATE_LOGS, CREATE_MOVEMENT, UPDATE_ORDER, UPDATE_STORE_PRODUCTS, Operation
from aisle.row_values import to_decimal
from aisle.store_product_settings import parse_update_values

if TYPE_CHECKING:
    from aisle.operation_body_types import OrderUpdate
    from aisle.outbox.operation_record import OrderState

BY_LOG, BY_ORDER, BY_NUMBER, BY_PRODUCT, BY_NOTHING = "log", "order", "number", "product", "none"
"""Ways to look up an operation: in the store's log by its reference; by the state of its order; by the number of the
order it creates; by its products in the stock list; or not at all.
"""

LOOKUP_METHODS: Mapping[str, str] = {
    CREATE_LOGS: BY_LOG,
    CREATE_MOVEMENT: BY_LOG,
    UPDATE_ORDER: BY_ORDER,
    UPDATE_STORE_PRODUCTS: BY_PRODUCT,
    "create-customer-orders-one-store": BY_NUMBER,
    "create-customer-orders-several-stores": BY_NUMBER,
}
"""Way to look up each operation; all others cannot be read back."""

LOOKED_UP_WHEN_EMPTY = frozenset(name for name, method in LOOKUP_METHODS.items() if method in (BY_LOG, BY_NUMBER))
"""Operations that are looked up after an empty response (`{}` or no body, which the interface allows).

For all others an empty response counts as confirmation. An order update is read after its confirmation anyway, and put
in doubt if it is not there (`Reconciler.check_read_back`). The rest are settings that cannot be read back, so a person
would have to be asked. The same holds for operations that never appeared in this service's log: sending them again
would be a guess. A count that equals the expected figure changes nothing, and many logs have no entry of it.
"""
EMPTY_RESPONSE: Final = "empty_answer"
"""Key in an operation's evidence: it was confirmed by an empty 2xx.

If it is not found it is never resent automatically, because the service has accepted it.
"""

OMITTED_LINE: Final = "omitted_line"
"""Key in an update's evidence: the line it left out, to see whether the service keeps such lines."""

FOUND, ABSENT, PARTLY_FOUND, UNREADABLE, CHANGED = "found", "absent", "partly", "unreadable", "changed"
"""Results: all of it is there; none of it (yet); a part of it; nothing can be read; another person wrote there."""
MATCHES = "matches"
"""Result: all values are as sent, and may have been so before. It need not be resent, and may still arrive."""

Row = Mapping[str, object]


class LookupResult(NamedTuple):
    """Rows read for a lookup. None: they could not be read, or were not requested."""

    log: Sequence[Row] | None = None
    """Entries of the store's log that may belong to the operation."""
    orders: Sequence[Row] | None = None
    """The order with its lines, open or not; empty if there is none."""
    products: dict[str, dict[str, str]] | None = None
    """Values of each product in the stock list, by `aisle.store_product_settings.parse_entry_values`."""
    is_proven: bool = False
    """True if this service has been seen to return such operations this way."""


class Decision(NamedTuple):
    """Result of the decision."""

    arrival: str
    missing: tuple[int, ...] = ()
    """Positions of the missing entries of a partly found operation."""


def lookup_method(op: Operation) -> str:
    """Return how an operation is looked up. A log entry or movement that was sent without a reference cannot be."""
    method = LOOKUP_METHODS.get(op.operation, BY_NOTHING)
    return BY_NOTHING if method == BY_LOG and not entry_references(op) else method


def is_empty_response_final(op: Operation, is_proven: bool) -> bool:
    """Return whether an empty response is believed. `is_proven`: such operations were found at this service before.

    The operation's `sent_body` has to be what was sent.
    """
    if op.operation not in LOOKED_UP_WHEN_EMPTY or lookup_method(op) == BY_NOTHING:
        return True
    if lookup_method(op) == BY_LOG and not is_proven:
        return True
    return bool(op.query.get("is_counted_quantity")) and all(map(_counts_expected, entries_of(op)))


def _counts_expected(entry: Row) -> bool:
    counted = [entry[name] for name in COUNT_FIELDS if entry.get(name) is not None]
    expected = entry.get("expected_quantity")
    return bool(counted) and expected is not None and sum(map(to_decimal, counted)) == to_decimal(expected)


def decide(op: Operation, lookup_result: LookupResult) -> Decision:
    """Return what the rows prove about the operation; pure."""
    method = lookup_method(op)
    if method == BY_LOG and lookup_result.log is not None:
        return _decide_by_log(entry_references(op), lookup_result, is_movement=op.operation == CREATE_MOVEMENT)
    if method == BY_ORDER and lookup_result.orders is not None:
        return _decide_by_order(op, lookup_result.orders)
    if method == BY_NUMBER and lookup_result.orders is not None:
        return _decide_by_number(op, lookup_result)
    if method == BY_PRODUCT and lookup_result.products is not None:
        return _decide_by_products(op, lookup_result.products)
    return Decision(UNREADABLE)


# Log


def carries_reference(row: Row, entry_reference: EntryReference) -> bool:
    """Return whether an entry of the log has the operation's reference. The service's filter is not relied on."""
    if entry_reference.is_ours:
        return str(row.get("reference") or "") == entry_reference.reference
    return str(row.get("source") or "").rpartition("/")[0] == entry_reference.source.rpartition("/")[0]


def _decide_by_log(references: Sequence[EntryReference], lookup_result: LookupResult, *, is_movement: bool) -> Decision:
    rows = [row for row in lookup_result.log or () if carries_reference(row, references[0])]
    positions: dict[bool, list[int]] = {leg: list(range(len(references))) for leg in (False, True)}
    for row in rows:
        free = positions[is_movement and _is_outgoing(row)]
        position = _matching_entry(row, references, free, is_movement=is_movement)
        if position is not None:
            free.remove(position)
    left = [at for at in positions[False] if at in positions[is_movement]]
    if not left:
        return Decision(FOUND)
    if len(left) < len(references):
        return Decision(PARTLY_FOUND, tuple(left))
    return Decision(ABSENT if lookup_result.is_proven else UNREADABLE)


def _matching_entry(
    row: Row, references: Sequence[EntryReference], remaining: Sequence[int], *, is_movement: bool
) -> int | None:
    """Return which remaining entry a row belongs to: by its number, otherwise by product and quantity.

    A leg of a movement with another quantity belongs to none.
    """
    number, product = entry_number(str(row.get("source") or "")), str(row.get("product_number") or "")
    if number:
        return next((at for at in remaining if references[at].number == number), None)
    same = [at for at in remaining if references[at].product == product]
    exact = [at for at in same if references[at].quantity in _quantities(row)]
    if exact or not is_movement:
        return next(iter(exact or same), None)
    is_only = sum(each.product == product for each in references) == 1
    return same[0] if same and is_only and not _quantities(row) else None


def _is_outgoing(row: Row) -> bool:
    """Return whether goods leave by this leg. A quantity without a sign adds goods."""
    return _is_number(row.get("quantity")) and Decimal(str(row["quantity"])) < 0


def _quantities(row: Row) -> list[Decimal]:
    return [abs(Decimal(str(row[name]))) for name in ("counted_quantity", "quantity") if _is_number(row.get(name))]


def _is_number(value: Any) -> bool:
    try:
        return value is not None and not isinstance(value, bool) and Decimal(str(value)).is_finite()
    except ArithmeticError:
        return False


# Orders


def _decide_by_order(op: Operation, orders: Sequence[Row]) -> Decision:
    """Compare the order with what was sent and with its state before. Quantities are absolute."""
    sent = sent_order(op)
    if not orders:
        return Decision(CHANGED)
    base = op.evidence.get("before", {}).get("order")
    return _decide_by_fields(list(_compare_fields(sent, orders[0], base)), base is not None)


def _decide_by_fields(fields: Sequence[tuple[Any, Any, Any]], has_base: bool) -> Decision:
    """Decide by fields (current, sent, before); `has_base` is False if the state before is unknown."""
    if not fields:
        return Decision(UNREADABLE)  # none of its fields can be read
    changes = [field for field in fields if field[1] != field[2]]  # a value that did not change proves nothing
    if all(now == ours for now, ours, _ in changes or fields):
        return Decision(FOUND if changes and has_base else MATCHES)
    fields = changes or fields
    if not has_base or any(now not in (ours, before) for now, ours, before in fields):
        return Decision(CHANGED)
    ours_there = any(now == ours != before for now, ours, before in fields)
    return Decision(PARTLY_FOUND if ours_there else ABSENT)


def _decide_by_products(op: Operation, current: Mapping[str, Mapping[str, str]]) -> Decision:
    """Decide by a store's settings of its products. A field that the service never showed proves nothing."""
    base = (op.evidence.get("before") or {}).get("product") or {}
    fields, has_base = [], True
    for item in op.body:
        number = str(item.get("product_number"))
        now, before = current.get(number, {}), base.get(number, {})
        has_base = has_base and number in base
        fields += [
            (now.get(name, ""), ours, before.get(name, ""))
            for name, ours in parse_update_values(item).items()
            if name in now or name in before
        ]
    return _decide_by_fields(fields, has_base)


def is_not_applied(op: Operation, order: Row) -> bool:
    """Return whether an order, read after an update was confirmed, shows that the update was not carried out.

    Either a quantity that it changed is as before, or none of its changes is there. Claims and closed shortages are
    ignored, because a service may not support them. Any other value is another person's work.
    """
    base = op.evidence.get("before", {}).get("order")
    if base is None:
        return False
    sent = sent_order(op)
    picked = {"order_lines": [{k: v for k, v in line.items() if k != "is_picked"} for line in _sent_lines(sent)]}
    if any(now == before != ours for now, ours, before in _compare_fields(picked, order, base)):
        return True
    all_sent = {**sent, **picked}
    kept = {name: value for name, value in all_sent.items() if name not in ("is_claimed", "is_picked")}
    changes = [field for field in _compare_fields(kept, order, base) if field[1] != field[2]]
    return bool(changes) and all(now == before for now, _, before in changes)


def _sent_lines(order: Row) -> list[Row]:
    return _rows(order.get("order_lines"))


def _rows(value: object) -> list[Row]:
    """Return the objects of a list; none of another value."""
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list | tuple) else []


def sent_order(op: Operation) -> OrderUpdate:
    """Return the order of the update as it was sent."""
    body = op.body if op.sent_body is None else json.loads(op.sent_body, parse_float=Decimal)
    order: OrderUpdate = body["orders"]
    return order


def order_state(order: Row) -> OrderState:
    """Return what updates can change: the fields of the order's head, and of each line by its number."""
    head = {name: _comparable_value(order[name]) for name in ORDER_FIELDS if order.get(name) is not None}
    lines = {
        str(line.get("line_number")): {
            name: _comparable_value(line[name]) for name in LINE_FIELDS if line.get(name) is not None
        }
        for line in _rows(order.get("lines"))
    }
    return {"head": head, "lines": lines}


MAX_VALUE = 200
"""Characters of a value that are kept as evidence of an operation."""
_NO_NUMBER = Decimal("NaN")
ORDER_FIELDS = ("is_active", "is_claimed", "is_picked", "is_rejected")
LINE_FIELDS = ("picked_quantity", "is_picked")
"""Fields of a line that are compared."""
_DEFAULTS: Row = {"is_claimed": False, "is_picked": False, "is_rejected": False, "picked_quantity": "0"}
"""Default values of fields that a service leaves out. `is_active` has none: the service must state it."""


def _compare_fields(sent: Row, order: Row, base: OrderState | None) -> list[tuple[Any, Any, Any]]:
    """Return (current, sent, before) for each field that was sent."""
    current = order_state(order)
    before: OrderState = base or {"head": {}, "lines": {}}
    found = [
        (_field_value(name, current["head"]), _comparable_value(sent[name]), _field_value(name, before["head"]))
        for name in ORDER_FIELDS
        if name in sent
    ]
    for line in _sent_lines(sent):
        number = str(line.get("line_number"))
        now, old = current["lines"].get(number), before["lines"].get(number)
        found += [
            (_field_value(name, now), _comparable_value(line[name]), _field_value(name, old))
            for name in LINE_FIELDS
            if name in line
        ]
    return found


def _field_value(name: str, fields: Row | None) -> Any:
    """Return a field or its default; None for a line that does not exist."""
    return None if fields is None else fields.get(name, _DEFAULTS.get(name))


def _comparable_value(value: Any) -> Any:
    """Return numbers as one text, however they are written; other values as they are, without what follows
    `MAX_VALUE` characters.
    """
    if isinstance(value, bool):
        return value
    text = str(value)[:MAX_VALUE]
    number = to_decimal(text, _NO_NUMBER)
    if number.is_finite():
        return f"{number.normalize():f}"
    return value if len(text) < MAX_VALUE else text


def _decide_by_number(op: Operation, lookup_result: LookupResult) -> Decision:
    """Decide whether the created order is there: with the lines that were sent, with others, or not at all."""
    rows = lookup_result.orders or ()
    if not rows:
        return Decision(ABSENT if lookup_result.is_proven else UNREADABLE)
    return Decision(FOUND if _comparable_lines(created_order(op)) == _comparable_lines(rows[0]) else CHANGED)


def created_order(op: Operation) -> Row:
    """Return the one order that a creation contains; an empty dict if it contains several."""
    for value in op.body.values() if isinstance(op.body, Mapping) else ():
        if isinstance(value, list | tuple) and len(value) == 1 and isinstance(value[0], Mapping):
            return value[0]
        if isinstance(value, Mapping) and "order_number" in value:
            return value
    return {}


def _comparable_lines(row: Row) -> list[tuple[str, Any]]:
    for name in ("lines", "order_lines"):
        if isinstance(row.get(name), list | tuple):
            return sorted(
                (str(line.get("product_number")), str(_comparable_value(line.get("quantity"))))
                for line in _rows(row[name])
            )
    return []
