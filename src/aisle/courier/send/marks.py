"""The name of an operation in what is sent to a service that keeps no keys, so that it can be found there again.

`reference` carries the operation's id where no person typed one, and `source` says which entry it is: `aisle/2`. Where
somebody did, or where references are not to be touched, `source` carries both: `aisle/<id>/2`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from aisle.local.outbox.operation import LOGS, MOVEMENT, Operation
from aisle.tuples import NamedTuple

REFERENCE, SOURCE, OFF = "reference", "source", "off"
"""Where the name goes; `off` leaves all as it is, and then nothing can be found again."""

_ENTRIES = "storeproductlog"
_PREFIX = "aisle"


class Mark(NamedTuple):
    """One entry as it was sent."""

    number: int
    """Of the entry in what was first meant, from 1."""
    reference: str
    source: str
    product: str
    quantity: Decimal | None
    """What was counted, or by how much it changed; None where the entry names pools."""
    ours: bool
    """Its reference is the operation's id; otherwise its source alone tells."""


def marked(op: Operation, where: str) -> Any:
    """The body with the operation's name in each entry."""
    if where == OFF or op.operation not in (LOGS, MOVEMENT):
        return op.body
    entries = entries_of(op)
    numbers = op.parts or range(1, len(entries) + 1)
    named = [_named(entry, op.op_id, n, where) for entry, n in zip(entries, numbers, strict=True)]
    return {**op.body, _ENTRIES: named} if op.operation == LOGS else named


def referenced(op: Operation, where: str) -> Any:
    """The body for a service that keeps keys: entries that nobody gave a reference get the operation's id, so that what
    was done together stands together in the log. That of a receipt names its delivery."""
    if where != REFERENCE or op.operation not in (LOGS, MOVEMENT) or op.query.get("is_from_receipt"):
        return op.body
    named = [entry if entry.get("reference") else {**entry, "reference": op.op_id} for entry in entries_of(op)]
    return {**op.body, _ENTRIES: named} if op.operation == LOGS else named


def entries_of(op: Operation) -> Sequence[Mapping[str, Any]]:
    """The entries of a body that has some."""
    found = op.body.get(_ENTRIES) if op.operation == LOGS else op.body
    return found or ()


def _named(entry: Mapping[str, Any], op_id: str, number: int, where: str) -> dict[str, Any]:
    if where == REFERENCE and not entry.get("reference"):
        return {**entry, "reference": op_id, "source": f"{_PREFIX}/{number}"}
    return {**entry, "source": f"{_PREFIX}/{op_id}/{number}"}


def marks(op: Operation) -> tuple[Mark, ...]:
    """The entries of what was really sent; empty where it was sent without a name."""
    if op.operation not in (LOGS, MOVEMENT) or op.frozen is None:
        return ()
    body = json.loads(op.frozen, parse_float=Decimal)
    entries = (body.get(_ENTRIES) if op.operation == LOGS else body) or ()
    found = [_mark(entry, op.op_id) for entry in entries]
    return tuple(mark for mark in found if mark is not None) if all(found) else ()


def _mark(entry: Mapping[str, Any], op_id: str) -> Mark | None:
    reference, source = str(entry.get("reference") or ""), str(entry.get("source") or "")
    ours = reference == op_id
    if not ours and not source.startswith(f"{_PREFIX}/{op_id}/"):
        return None
    quantity = entry.get("counted_quantity", entry.get("quantity"))
    return Mark(
        number=number_of(source),
        reference=reference,
        source=source,
        product=str(entry.get("product_number") or ""),
        quantity=None if quantity is None else Decimal(str(quantity)),
        ours=ours,
    )


def number_of(source: str) -> int:
    """Which entry a source names; 0 for none of ours."""
    first, _, rest = source.partition("/")
    number = rest.rpartition("/")[2]
    return int(number) if first == _PREFIX and number.isascii() and number.isdigit() else 0
