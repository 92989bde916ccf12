"""What a look at the service proves about an operation of which nobody knows whether it arrived: a table, and a judge.

To find it proves that it arrived. Not to find it proves nothing by itself: what is late still comes. So `absent` counts
only once an operation has settled (see `checking`), and only at a service where something was found this way before.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from aisle.courier.push.request import EntryReference, entries_of, entry_number, entry_references
from aisle.outbox.operation_record import (
    CREATE_LOGS,
    CREATE_MOVEMENT,
    UPDATE_ORDER,
    UPDATE_STORE_PRODUCTS,
    Operation,
    parse_update_values,
)

BY_LOG, BY_ORDER, BY_NUMBER, BY_PRODUCT, BY_NOTHING = "log", "order", "number", "product", "none"
"""Ways to look for an operation: in the store's log by its reference; in the state of its order; by the number of the
order that it makes; in what the stock list says of its products; or not at all."""

LOOKUP_METHODS: Mapping[str, str] = {
    CREATE_LOGS: BY_LOG,
    CREATE_MOVEMENT: BY_LOG,
    UPDATE_ORDER: BY_ORDER,
    UPDATE_STORE_PRODUCTS: BY_PRODUCT,
    "create-customer-orders-one-store": BY_NUMBER,
    "create-customer-orders-several-stores": BY_NUMBER,
}
"""How each operation is looked for; all others cannot be read back."""

LOOKED_UP_WHEN_EMPTY: Mapping[str, str] = {
    CREATE_LOGS: "looked for, as what nobody answered is: what was meant to be booked may not be",
    CREATE_MOVEMENT: "looked for, as what nobody answered is: what was meant to be booked may not be",
    "create-customer-orders-one-store": "looked for: the order is there by its number, or it is not",
    "create-customer-orders-several-stores": "looked for: the order is there by its number, or it is not",
}
"""Of what an answer without a word is not believed (`{}`, or nothing at all, which the document allows), and why.

All others are taken at their word. An update of an order is read after its confirmation, whatever that said, and what
is not there is denied (`Checker.read_back`); the rest says how something is to be, cannot be read back, and would only
be asked about. So is what was never seen to show in this service's log: it was sent once, and a second time would be a
guess. A count that found what was expected changes nothing, and many logs have no entry of it.
"""
EMPTY_RESPONSE = "unsaid"
"""In the evidence of an operation: it was answered by a 2xx in no words. Not found it is never sent again by a machine,
for somebody has said yes to it."""

OMITTED_LINE = "spared"
"""In the evidence of an update: the line that it left out to see whether that stays."""

FOUND, ABSENT, PARTLY_FOUND, UNREADABLE, CHANGED = "found", "absent", "partly", "unreadable", "changed"
"""It is there; it is not there (yet); some of it is there; the service does not say; somebody else wrote there."""
MATCHES = "stands"
"""All stands as it was to be, and may have stood so before: it need not be sent again, and may still arrive."""

Row = Mapping[str, Any]

_COUNT_FIELDS = ("counted_quantity", *(f"stock_pool_{pool}" for pool in range(1, 11)))


class LookupResult(NamedTuple):
    """What was read. None: it could not be read, or nobody tried."""

    log: Sequence[Row] | None = None
    """Entries of the store's log that may be the operation's."""
    orders: Sequence[Row] | None = None
    """The order with its lines, open or not; empty where there is none."""
    products: Mapping[str, Mapping[str, str]] | None = None
    """What the stock list says of each product that it has, by `aisle.outbox.operation_record.parse_entry_values`."""
    is_proven: bool = False
    """The service has shown before that what is there is found this way."""


PositionFinder = Callable[[Row, Sequence[EntryReference], Sequence[int]], int | None]
"""Which of the entries that are still looked for a row of the log is."""


class Decision(NamedTuple):
    """What that proves."""

    arrival: str
    missing: tuple[int, ...] = ()
    """Where it is partly there: the positions of the entries that are not."""


def lookup_method(op: Operation) -> str:
    """How an operation is looked for; one that was sent without a name is not."""
    way = LOOKUP_METHODS.get(op.operation, BY_NOTHING)
    return BY_NOTHING if way == BY_LOG and not entry_references(op) else way


def is_empty_response_final(op: Operation, is_proven: bool) -> bool:
    """Whether an answer in no words ends it; `proven`: such operations were found at this service before.

    Its bytes are those that were sent.
    """
    if op.operation not in LOOKED_UP_WHEN_EMPTY or lookup_method(op) == BY_NOTHING:
        return True
    if lookup_method(op) == BY_LOG and not is_proven:
        return True
    return bool(op.query.get("is_counted_quantity")) and all(map(_counts_expected, entries_of(op)))


def _counts_expected(entry: Row) -> bool:
    counted = [entry[name] for name in _COUNT_FIELDS if entry.get(name) is not None]
    expected = entry.get("expected_quantity")
    return bool(counted) and expected is not None and sum(map(_to_decimal, counted)) == _to_decimal(expected)


def _to_decimal(value: Any) -> Decimal:
    return Decimal(str(value))


def decide(op: Operation, lookup_result: LookupResult) -> Decision:
    """What was read says this about the operation; pure."""
    way = lookup_method(op)
    if way == BY_LOG and lookup_result.log is not None:
        return _decide_by_log(
            entry_references(op),
            lookup_result,
            _matching_movement if op.operation == CREATE_MOVEMENT else _matching_entry,
        )
    if way == BY_ORDER and lookup_result.orders is not None:
        return _decide_by_order(op, lookup_result.orders)
    if way == BY_NUMBER and lookup_result.orders is not None:
        return _decide_by_number(op, lookup_result)
    if way == BY_PRODUCT and lookup_result.products is not None:
        return _decide_by_products(op, lookup_result.products)
    return Decision(UNREADABLE)


# The log


def carries_reference(row: Row, entry_reference: EntryReference) -> bool:
    """Whether an entry of the log carries the name of the operation; filters of services are not relied on."""
    if entry_reference.is_ours:
        return str(row.get("reference") or "") == entry_reference.reference
    return str(row.get("source") or "").rpartition("/")[0] == entry_reference.source.rpartition("/")[0]


def _decide_by_log(
    references: Sequence[EntryReference], lookup_result: LookupResult, find_position: PositionFinder
) -> Decision:
    rows = [row for row in lookup_result.log or () if carries_reference(row, references[0])]
    places: dict[bool, list[int]] = {leg: list(range(len(references))) for leg in (False, True)}
    for row in rows:
        free = places[_is_outgoing(row)] if find_position is _matching_movement else places[False]
        position = find_position(row, references, free)
        if position is not None:
            free.remove(position)
    left = [at for at in places[False] if at in places[find_position is _matching_movement]]
    if not left:
        return Decision(FOUND)
    if len(left) < len(references):
        return Decision(PARTLY_FOUND, tuple(left))
    return Decision(ABSENT if lookup_result.is_proven else UNREADABLE)


def _matching_entry(row: Row, references: Sequence[EntryReference], remaining: Sequence[int]) -> int | None:
    """Which of the entries that are still looked for this one is: by its number, else by what it says."""
    number = entry_number(str(row.get("source") or ""))
    if number:
        return next((at for at in remaining if references[at].number == number), None)
    same = [at for at in remaining if references[at].product == str(row.get("product_number") or "")]
    exact = [at for at in same if references[at].quantity in _quantities(row)]
    return next(iter(exact or same), None)


def _matching_movement(row: Row, references: Sequence[EntryReference], remaining: Sequence[int]) -> int | None:
    """The same for one leg of a movement: one that is about another quantity is no leg of it."""
    number, product = entry_number(str(row.get("source") or "")), str(row.get("product_number") or "")
    if number:
        return next((at for at in remaining if references[at].number == number), None)
    quantities = _quantities(row)
    if quantities:
        return next(
            (at for at in remaining if references[at].product == product and references[at].quantity in quantities),
            None,
        )
    same = [at for at, mark in enumerate(references) if mark.product == product]
    return same[0] if len(same) == 1 and same[0] in remaining else None


def _is_outgoing(row: Row) -> bool:
    """Whether goods leave by this leg; what says nothing of a sign brings them."""
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
    """Quantities are absolute: what stands there is compared with what we said, and with what stood there before."""
    said = sent_order(op)
    if not orders:
        return Decision(CHANGED)
    base = op.evidence.get("before", {}).get("order")
    return _decide_by_fields(list(_compare_fields(said, orders[0], base)), base is not None)


def _decide_by_fields(fields: Sequence[tuple[Any, Any, Any]], has_base: bool) -> Decision:
    """What stands there, held against what we said and what stood there before, where that is `known`."""
    if not fields:
        return Decision(UNREADABLE)  # it says nothing that is shown
    news = [field for field in fields if field[1] != field[2]]  # what was only said again is everybody's
    if all(now == ours for now, ours, _ in news or fields):
        return Decision(FOUND if news and has_base else MATCHES)
    fields = news or fields
    if not has_base or any(now not in (ours, before) for now, ours, before in fields):
        return Decision(CHANGED)
    ours_there = any(now == ours != before for now, ours, before in fields)
    return Decision(PARTLY_FOUND if ours_there else ABSENT)


def _decide_by_products(op: Operation, current: Mapping[str, Mapping[str, str]]) -> Decision:
    """What a store says of its products; a field that the service has never shown proves nothing."""
    base = (op.evidence.get("before") or {}).get("product") or {}
    fields, known = [], True
    for item in op.body:
        number = str(item.get("product_number"))
        now, before = current.get(number, {}), base.get(number, {})
        known = known and number in base
        fields += [
            (now.get(name, ""), ours, before.get(name, ""))
            for name, ours in parse_update_values(item).items()
            if name in now or name in before
        ]
    return _decide_by_fields(fields, known)


def is_not_applied(op: Operation, order: Row) -> bool:
    """Whether an order that was read after the service confirmed an update shows that it was not carried out.

    A quantity that it changed stands as it stood before, or nothing that it changed is there. Claims and what is
    closed short are left alone: a service may know of neither. What stands otherwise is somebody else's work.
    """
    base = op.evidence.get("before", {}).get("order")
    if base is None:
        return False
    sent = sent_order(op)
    picked = {"order_lines": [{k: v for k, v in line.items() if k != "is_picked"} for line in _sent_lines(sent)]}
    if any(now == before != ours for now, ours, before in _compare_fields(picked, order, base)):
        return True
    said = {**sent, **picked}
    kept = {name: value for name, value in said.items() if name not in ("is_claimed", "is_picked")}
    news = [field for field in _compare_fields(kept, order, base) if field[1] != field[2]]
    return bool(news) and all(now == before for now, _, before in news)


def _sent_lines(order: Row) -> Sequence[Row]:
    return order.get("order_lines") or ()


def sent_order(op: Operation) -> Mapping[str, Any]:
    """The order of the update as it was sent."""
    body = op.body if op.frozen is None else json.loads(op.frozen, parse_float=Decimal)
    order: Mapping[str, Any] = body["orders"]
    return order


def order_state(order: Row) -> dict[str, Any]:
    """What of an order updates change: the fields of its head, and of each line by its number."""
    head = {name: _comparable_value(order[name]) for name in ORDER_FIELDS if order.get(name) is not None}
    rows = order.get("lines")
    lines = {
        str(line.get("line_number")): {
            name: _comparable_value(line[name]) for name in LINE_FIELDS if line.get(name) is not None
        }
        for line in (rows if isinstance(rows, list | tuple) else ())
        if isinstance(line, Mapping)
    }
    return {"head": head, "lines": lines}


ORDER_FIELDS = ("is_active", "is_claimed", "is_picked", "is_rejected")
LINE_FIELDS = ("picked_quantity", "is_picked")
"""What is compared."""
_DEFAULTS: Row = {"is_claimed": False, "is_picked": False, "is_rejected": False, "picked_quantity": "0"}
"""What a field is that a service leaves out. Whether an order is open has to be said."""


def _compare_fields(sent: Row, order: Row, base: Row | None) -> list[tuple[Any, Any, Any]]:
    """(what stands there, what we said, what stood there before) of each field that we said."""
    there = order_state(order)
    before = base or {"head": {}, "lines": {}}
    found = [
        (_field_value(name, there["head"]), _comparable_value(sent[name]), _field_value(name, before["head"]))
        for name in ORDER_FIELDS
        if name in sent
    ]
    for line in _sent_lines(sent):
        number = str(line.get("line_number"))
        now, old = there["lines"].get(number), before["lines"].get(number)
        found += [
            (_field_value(name, now), _comparable_value(line[name]), _field_value(name, old))
            for name in LINE_FIELDS
            if name in line
        ]
    return found


def _field_value(name: str, fields: Row | None) -> Any:
    """A field; what is left out is what it is by itself. None for a line that is not there."""
    return None if fields is None else fields.get(name, _DEFAULTS.get(name))


def _comparable_value(value: Any) -> Any:
    """Numbers as one text each, however they are written; booleans and the rest as they are."""
    if isinstance(value, bool) or not _is_number(value):
        return value
    number = Decimal(str(value)).normalize()
    return f"{number:f}"


def _decide_by_number(op: Operation, lookup_result: LookupResult) -> Decision:
    """The order that it makes: there with our lines, there with others, or not there."""
    rows = lookup_result.orders or ()
    if not rows:
        return Decision(ABSENT if lookup_result.is_proven else UNREADABLE)
    return Decision(FOUND if _comparable_lines(created_order(op)) == _comparable_lines(rows[0]) else CHANGED)


def created_order(op: Operation) -> Row:
    """The one order that a creation carries; nothing where it carries several."""
    for value in op.body.values() if isinstance(op.body, Mapping) else ():
        if isinstance(value, list | tuple) and len(value) == 1 and isinstance(value[0], Mapping):
            return value[0]
        if isinstance(value, Mapping) and "order_number" in value:
            return value
    return {}


def _comparable_lines(row: Row) -> list[tuple[str, Any]]:
    for name in ("lines", "order_lines"):
        if isinstance(row.get(name), list | tuple):
            lines = [line for line in row[name] if isinstance(line, Mapping)]
            return sorted(
                (str(line.get("product_number")), str(_comparable_value(line.get("quantity")))) for line in lines
            )
    return []
