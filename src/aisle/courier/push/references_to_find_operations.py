"""References in the entries of a write, by which it is found in the log of a service without keys.

`reference` holds the operation's id if no person entered one, and `source` the number of the entry: `aisle/2`. If
somebody did, or references must not be changed, `source` holds both: `aisle/<id>/2`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from aisle.client.paging import Row
from aisle.outbox.operation_record import CREATE_LOGS, CREATE_MOVEMENT, Operation

REFERENCE, SOURCE, OFF = "reference", "source", "off"
"""Field for the reference; `off` changes nothing, and then no operation can be found again."""


_LOG_ARRAY = "storeproductlog"


_PREFIX = "aisle"


class EntryReference(NamedTuple):
    """Reference of one entry as it was sent."""

    number: int
    """Number of the entry in the original operation, from 1."""
    reference: str
    source: str
    product: str
    quantity: Decimal | None
    """Counted or changed quantity; None if the entry names pools."""
    is_ours: bool
    """True if its reference is the operation's id; otherwise only `source` identifies it."""


def with_entry_references(op: Operation, where: str) -> Any:
    """Return the body with the operation's reference in each entry."""
    if where == OFF or op.operation not in (CREATE_LOGS, CREATE_MOVEMENT):
        return op.body
    entries = entries_of(op)
    numbers = op.parts or range(1, len(entries) + 1)
    named = [_with_reference(entry, op.op_id, n, where) for entry, n in zip(entries, numbers, strict=True)]
    return {**op.body, _LOG_ARRAY: named} if op.operation == CREATE_LOGS else named


def with_missing_references(op: Operation, where: str) -> Any:
    """Return the body for a service with keys: entries without a reference get the operation's id.

    So the log shows together what was done together. An entry of a receipt names its delivery instead.
    """
    if where != REFERENCE or op.operation not in (CREATE_LOGS, CREATE_MOVEMENT) or op.query.get("is_from_receipt"):
        return op.body
    named = [entry if entry.get("reference") else {**entry, "reference": op.op_id} for entry in entries_of(op)]
    return {**op.body, _LOG_ARRAY: named} if op.operation == CREATE_LOGS else named


def entries_of(op: Operation) -> Sequence[Row]:
    """Return the entries of a log or movement body."""
    found = op.body.get(_LOG_ARRAY) if op.operation == CREATE_LOGS else op.body
    return found or ()


def _with_reference(entry: Row, op_id: str, number: int, where: str) -> Row:
    if where == REFERENCE and not entry.get("reference"):
        return {**entry, "reference": op_id, "source": f"{_PREFIX}/{number}"}
    return {**entry, "source": f"{_PREFIX}/{op_id}/{number}"}


def entry_references(op: Operation) -> tuple[EntryReference, ...]:
    """Return the references of the entries as sent; empty if they were sent without."""
    if op.operation not in (CREATE_LOGS, CREATE_MOVEMENT) or op.sent_body is None:
        return ()
    body = json.loads(op.sent_body, parse_float=Decimal)
    entries = (body.get(_LOG_ARRAY) if op.operation == CREATE_LOGS else body) or ()
    found = [_parse_reference(entry, op.op_id) for entry in entries]
    return tuple(mark for mark in found if mark is not None) if all(found) else ()


def _parse_reference(entry: Row, op_id: str) -> EntryReference | None:
    reference, source = str(entry.get("reference") or ""), str(entry.get("source") or "")
    ours = reference == op_id
    if not ours and not source.startswith(f"{_PREFIX}/{op_id}/"):
        return None
    quantity = entry.get("counted_quantity", entry.get("quantity"))
    return EntryReference(
        number=entry_number(source),
        reference=reference,
        source=source,
        product=str(entry.get("product_number") or ""),
        quantity=None if quantity is None else Decimal(str(quantity)),
        is_ours=ours,
    )


def entry_number(source: str) -> int:
    """Return the entry number in a source; 0 if it is not ours."""
    first, _, rest = source.partition("/")
    number = rest.rpartition("/")[2]
    return int(number) if first == _PREFIX and number.isascii() and number.isdigit() else 0
