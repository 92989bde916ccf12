"""What a look at the service proves about an operation of which nobody knows whether it arrived: a table, and a judge.

To find it proves that it arrived. Not to find it proves nothing by itself: what is late still comes. So `absent` counts
only once an operation has settled (see `checking`), and only at a service where something was found this way before.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from aisle.courier.send.marks import Mark, entries_of, marks, number_of
from aisle.local.outbox.operation import LOGS, MOVEMENT, SETTINGS, UPDATE, Operation
from aisle.local.outbox.settings_of import said_of
from aisle.tuples import NamedTuple

BY_LOG, BY_ORDER, BY_NUMBER, BY_PRODUCT, NOT_AT_ALL = "log", "order", "number", "product", "none"
"""Ways to look for an operation: in the store's log by its reference; in the state of its order; by the number of the
order that it makes; in what the stock list says of its products; or not at all."""

WAYS: Mapping[str, str] = {
    LOGS: BY_LOG,
    MOVEMENT: BY_LOG,
    UPDATE: BY_ORDER,
    SETTINGS: BY_PRODUCT,
    "create-customer-orders-one-store": BY_NUMBER,
    "create-customer-orders-several-stores": BY_NUMBER,
}
"""How each operation is looked for; all others cannot be read back."""

WORDLESS: Mapping[str, str] = {
    LOGS: "looked for, as what nobody answered is: what was meant to be booked may not be",
    MOVEMENT: "looked for, as what nobody answered is: what was meant to be booked may not be",
    "create-customer-orders-one-store": "looked for: the order is there by its number, or it is not",
    "create-customer-orders-several-stores": "looked for: the order is there by its number, or it is not",
}
"""Of what an answer without a word is not believed (`{}`, or nothing at all, which the document allows), and why.

All others are taken at their word. An update of an order is read after its confirmation, whatever that said, and what
is not there is denied (`Checker.read_back`); the rest says how something is to be, cannot be read back, and would only
be asked about. So is what was never seen to show in this service's log: it was sent once, and a second time would be a
guess. A count that found what was expected changes nothing, and many logs have no entry of it.
"""
UNSAID = "unsaid"
"""In the evidence of an operation: it was answered by a 2xx in no words. Not found it is never sent again by a machine,
for somebody has said yes to it."""

SPARED = "spared"
"""In the evidence of an update: the line that it left out to see whether that stays."""

FOUND, ABSENT, PARTLY, UNREADABLE, CHANGED = "found", "absent", "partly", "unreadable", "changed"
"""It is there; it is not there (yet); some of it is there; the service does not say; somebody else wrote there."""
STANDS = "stands"
"""All stands as it was to be, and may have stood so before: it need not be sent again, and may still arrive."""

Row = Mapping[str, Any]

_COUNTED = ("counted_quantity", *(f"stock_pool_{pool}" for pool in range(1, 11)))


class Seen(NamedTuple):
    """What was read. None: it could not be read, or nobody tried."""

    log: Sequence[Row] | None = None
    """Entries of the store's log that may be the operation's."""
    orders: Sequence[Row] | None = None
    """The order with its lines, open or not; empty where there is none."""
    products: Mapping[str, Mapping[str, str]] | None = None
    """What the stock list says of each product that it has, by `aisle.local.outbox.settings_of.values_of`."""
    proven: bool = False
    """The service has shown before that what is there is found this way."""


Position = Callable[[Row, Sequence[Mark], Sequence[int]], int | None]
"""Which of the entries that are still looked for a row of the log is."""


class Judgement(NamedTuple):
    """What that proves."""

    verdict: str
    missing: tuple[int, ...] = ()
    """Where it is partly there: the positions of the entries that are not."""


def way_of(op: Operation) -> str:
    """How an operation is looked for; one that was sent without a name is not."""
    way = WAYS.get(op.operation, NOT_AT_ALL)
    return NOT_AT_ALL if way == BY_LOG and not marks(op) else way


def is_believed_wordless(op: Operation, proven: bool) -> bool:
    """Whether an answer in no words ends it; `proven`: such operations were found at this service before.

    Its bytes are those that were sent.
    """
    if op.operation not in WORDLESS or way_of(op) == NOT_AT_ALL:
        return True
    if way_of(op) == BY_LOG and not proven:
        return True
    return bool(op.query.get("is_counted_quantity")) and all(map(_as_expected, entries_of(op)))


def _as_expected(entry: Row) -> bool:
    counted = [entry[name] for name in _COUNTED if entry.get(name) is not None]
    expected = entry.get("expected_quantity")
    return bool(counted) and expected is not None and sum(map(_number, counted)) == _number(expected)


def _number(value: Any) -> Decimal:
    return Decimal(str(value))


def judge(op: Operation, seen: Seen) -> Judgement:
    """What was read says this about the operation; pure."""
    way = way_of(op)
    if way == BY_LOG and seen.log is not None:
        return _in_log(marks(op), seen, _moved if op.operation == MOVEMENT else _position)
    if way == BY_ORDER and seen.orders is not None:
        return _in_order(op, seen.orders)
    if way == BY_NUMBER and seen.orders is not None:
        return _by_number(op, seen)
    if way == BY_PRODUCT and seen.products is not None:
        return _of_products(op, seen.products)
    return Judgement(UNREADABLE)


# The log


def is_of(row: Row, mark: Mark) -> bool:
    """Whether an entry of the log carries the name of the operation; filters of services are not relied on."""
    if mark.ours:
        return str(row.get("reference") or "") == mark.reference
    return str(row.get("source") or "").rpartition("/")[0] == mark.source.rpartition("/")[0]


def _in_log(wanted: Sequence[Mark], seen: Seen, position_of: Position) -> Judgement:
    rows = [row for row in seen.log or () if is_of(row, wanted[0])]
    places: dict[bool, list[int]] = {leg: list(range(len(wanted))) for leg in (False, True)}
    for row in rows:
        free = places[_is_leaving(row)] if position_of is _moved else places[False]
        position = position_of(row, wanted, free)
        if position is not None:
            free.remove(position)
    left = [at for at in places[False] if at in places[position_of is _moved]]
    if not left:
        return Judgement(FOUND)
    if len(left) < len(wanted):
        return Judgement(PARTLY, tuple(left))
    return Judgement(ABSENT if seen.proven else UNREADABLE)


def _position(row: Row, wanted: Sequence[Mark], left: Sequence[int]) -> int | None:
    """Which of the entries that are still looked for this one is: by its number, else by what it says."""
    number = number_of(str(row.get("source") or ""))
    if number:
        return next((at for at in left if wanted[at].number == number), None)
    same = [at for at in left if wanted[at].product == str(row.get("product_number") or "")]
    exact = [at for at in same if wanted[at].quantity in _quantities(row)]
    return next(iter(exact or same), None)


def _moved(row: Row, wanted: Sequence[Mark], left: Sequence[int]) -> int | None:
    """The same for one leg of a movement: one that is about another quantity is no leg of it."""
    number, product = number_of(str(row.get("source") or "")), str(row.get("product_number") or "")
    if number:
        return next((at for at in left if wanted[at].number == number), None)
    quantities = _quantities(row)
    if quantities:
        return next((at for at in left if wanted[at].product == product and wanted[at].quantity in quantities), None)
    same = [at for at, mark in enumerate(wanted) if mark.product == product]
    return same[0] if len(same) == 1 and same[0] in left else None


def _is_leaving(row: Row) -> bool:
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


def _in_order(op: Operation, orders: Sequence[Row]) -> Judgement:
    """Quantities are absolute: what stands there is compared with what we said, and with what stood there before."""
    said = sent_order(op)
    if not orders:
        return Judgement(CHANGED)
    base = op.evidence.get("before", {}).get("order")
    return _held(list(_compared(said, orders[0], base)), base is not None)


def _held(fields: Sequence[tuple[Any, Any, Any]], known: bool) -> Judgement:
    """What stands there, held against what we said and what stood there before, where that is `known`."""
    if not fields:
        return Judgement(UNREADABLE)  # it says nothing that is shown
    news = [field for field in fields if field[1] != field[2]]  # what was only said again is everybody's
    if all(now == ours for now, ours, _ in news or fields):
        return Judgement(FOUND if news and known else STANDS)
    fields = news or fields
    if not known or any(now not in (ours, before) for now, ours, before in fields):
        return Judgement(CHANGED)
    ours_there = any(now == ours != before for now, ours, before in fields)
    return Judgement(PARTLY if ours_there else ABSENT)


def _of_products(op: Operation, there: Mapping[str, Mapping[str, str]]) -> Judgement:
    """What a store says of its products; a field that the service has never shown proves nothing."""
    base = (op.evidence.get("before") or {}).get("product") or {}
    fields, known = [], True
    for item in op.body:
        number = str(item.get("product_number"))
        now, before = there.get(number, {}), base.get(number, {})
        known = known and number in base
        fields += [
            (now.get(name, ""), ours, before.get(name, ""))
            for name, ours in said_of(item).items()
            if name in now or name in before
        ]
    return _held(fields, known)


def is_denied(op: Operation, order: Row) -> bool:
    """Whether an order that was read after the service confirmed an update shows that it was not carried out.

    A quantity that it changed stands as it stood before, or nothing that it changed is there. Claims and what is
    closed short are left alone: a service may know of neither. What stands otherwise is somebody else's work.
    """
    base = op.evidence.get("before", {}).get("order")
    if base is None:
        return False
    sent = sent_order(op)
    picked = {"order_lines": [{k: v for k, v in line.items() if k != "is_picked"} for line in _sent_lines(sent)]}
    if any(now == before != ours for now, ours, before in _compared(picked, order, base)):
        return True
    said = {**sent, **picked}
    kept = {name: value for name, value in said.items() if name not in ("is_claimed", "is_picked")}
    news = [field for field in _compared(kept, order, base) if field[1] != field[2]]
    return bool(news) and all(now == before for now, _, before in news)


def _sent_lines(said: Row) -> Sequence[Row]:
    return said.get("order_lines") or ()


def sent_order(op: Operation) -> Mapping[str, Any]:
    """The order of the update as it was sent."""
    body = op.body if op.frozen is None else json.loads(op.frozen, parse_float=Decimal)
    order: Mapping[str, Any] = body["orders"]
    return order


def state_of(order: Row) -> dict[str, Any]:
    """What of an order updates change: the fields of its head, and of each line by its number."""
    head = {name: _plain(order[name]) for name in HEAD if order.get(name) is not None}
    rows = order.get("lines")
    lines = {
        str(line.get("line_number")): {name: _plain(line[name]) for name in LINE if line.get(name) is not None}
        for line in (rows if isinstance(rows, list | tuple) else ())
        if isinstance(line, Mapping)
    }
    return {"head": head, "lines": lines}


HEAD = ("is_active", "is_claimed", "is_picked", "is_rejected")
LINE = ("picked_quantity", "is_picked")
"""What is compared."""
_BY_ITSELF: Row = {"is_claimed": False, "is_picked": False, "is_rejected": False, "picked_quantity": "0"}
"""What a field is that a service leaves out. Whether an order is open has to be said."""


def _compared(said: Row, order: Row, base: Row | None) -> list[tuple[Any, Any, Any]]:
    """(what stands there, what we said, what stood there before) of each field that we said."""
    there = state_of(order)
    before = base or {"head": {}, "lines": {}}
    found = [
        (_shown(name, there["head"]), _plain(said[name]), _shown(name, before["head"])) for name in HEAD if name in said
    ]
    for line in _sent_lines(said):
        number = str(line.get("line_number"))
        now, old = there["lines"].get(number), before["lines"].get(number)
        found += [(_shown(name, now), _plain(line[name]), _shown(name, old)) for name in LINE if name in line]
    return found


def _shown(name: str, fields: Row | None) -> Any:
    """A field; what is left out is what it is by itself. None for a line that is not there."""
    return None if fields is None else fields.get(name, _BY_ITSELF.get(name))


def _plain(value: Any) -> Any:
    """Numbers as one text each, however they are written; booleans and the rest as they are."""
    if isinstance(value, bool) or not _is_number(value):
        return value
    number = Decimal(str(value)).normalize()
    return f"{number:f}"


def _by_number(op: Operation, seen: Seen) -> Judgement:
    """The order that it makes: there with our lines, there with others, or not there."""
    rows = seen.orders or ()
    if not rows:
        return Judgement(ABSENT if seen.proven else UNREADABLE)
    return Judgement(FOUND if _lines(made(op)) == _lines(rows[0]) else CHANGED)


def made(op: Operation) -> Row:
    """The one order that a creation carries; nothing where it carries several."""
    for value in op.body.values() if isinstance(op.body, Mapping) else ():
        if isinstance(value, list | tuple) and len(value) == 1 and isinstance(value[0], Mapping):
            return value[0]
        if isinstance(value, Mapping) and "order_number" in value:
            return value
    return {}


def _lines(row: Row) -> list[tuple[str, Any]]:
    for name in ("lines", "order_lines"):
        if isinstance(row.get(name), list | tuple):
            lines = [line for line in row[name] if isinstance(line, Mapping)]
            return sorted((str(line.get("product_number")), str(_plain(line.get("quantity")))) for line in lines)
    return []
