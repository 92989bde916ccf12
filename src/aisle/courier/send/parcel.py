"""An operation of the outbox as a request: its exact bytes, its headers, and what has to be read again after it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from aisle.contract.wire import encode_body, operation
from aisle.courier.features import Features
from aisle.courier.send.beyond import RECOUNTS, body_beyond, is_beyond
from aisle.courier.send.marks import REFERENCE, marked, referenced
from aisle.local.outbox.operation import LOGS, MOVEMENT, SETTINGS, UPDATE, Operation
from aisle.local.outbox.rebase import BASE
from aisle.local.outbox.settings_of import without_base
from aisle.text import clean

ORDER, PRODUCT, LOCATION, STORE = "order", "product", "location", "store"
CATALOGUE = "catalogue"
"""What the chain says of a product; `PRODUCT` is what the store has of it."""

SURROUNDING = "surrounding"
"""What the stores around have of a product; its key is the product's number."""

DELIVERY = "delivery"
"""A delivery to the store with its lines, and what was received of it."""

LOG = "log"
"""The store's log of the last days; it has no keys."""

RECOUNT = "recount"
"""The counts that are ordered at our own service; they are read as one list, without keys."""

ASSIGNMENT = "assignment"
"""What clearances want moved; read as one list, without keys."""

_READ = (f"{ORDER}/", f"{PRODUCT}/", f"{DELIVERY}/")
"""Lanes that name what can be read by itself."""

_PICK_PLACE = ("preferred_location_code", "stock_pool")
_REASON = ("rejection_reason_code", "rejection_reason_code_description")


class Topic(NamedTuple):
    """One thing that can be read by itself."""

    topic: str
    key: str


def body_of(op: Operation, features: Features, reference: str = REFERENCE) -> bytes:
    """The bytes to be sent, without what the service would misunderstand. Raises ContractError.

    The operation's name goes where `reference` says (see aisle.courier.send.marks).
    """
    if is_beyond(op):
        return body_beyond(op, features)
    body = referenced(op, reference) if features.idempotency else marked(op, reference)
    if op.operation == UPDATE:
        kept = (features.pick_place, *_PICK_PLACE), (features.pick_base, BASE), (features.line_reasons, *_REASON)
        unknown = [name for known, *names in kept if not known for name in names]
        body = {**body, "orders": _without(body["orders"], unknown)}
    if op.operation == SETTINGS:
        body = without_base(body)
    if op.operation == LOGS and not features.receipt_line:
        body = {name: _unlined(entries) for name, entries in body.items()}
    return encode_body(operation(op.operation), body)


def _without(order: Mapping[str, Any], unknown: Collection[str]) -> Mapping[str, Any]:
    """An update without these fields of its lines.

    To a service that does not announce it, the place of an update line would change what the order prefers; of a reason
    it knows nothing.
    """
    if not unknown or "order_lines" not in order:
        return order
    lines = [{key: line[key] for key in line if key not in unknown} for line in order["order_lines"]]
    return {**order, "order_lines": lines}


def _unlined(entries: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Entries of the log without the lines of their delivery."""
    return [{name: entry[name] for name in entry if name != "line_number"} for entry in entries]


def headers_of(op: Operation, features: Features) -> dict[str, str]:
    """What goes beside the body, as far as the service announces that it reads it."""
    headers = {}
    if features.idempotency:
        headers["Idempotency-Key"] = f'"{op.op_id}"'
    if features.occurred_at and op.occurred_at:
        headers["Aisle-Occurred-At"] = op.occurred_at
    if features.app_user and op.app_user:
        headers["Aisle-App-User"] = clean(op.app_user)
    if features.claims and op.terminal:
        headers["Aisle-Terminal"] = clean(op.terminal)
    return headers


def touched(op: Operation) -> tuple[Topic, ...]:
    """What the operation may have changed, in a lasting order: named by its lanes, and by the numbers in its body."""
    found = {Topic(*lane.split("/", 1)) for lane in op.lanes if lane.startswith(_READ)}
    found.update(_named(op.body))
    if op.operation == RECOUNTS:
        found.add(Topic(RECOUNT, ""))
    if op.operation == MOVEMENT and any(
        "customer_order_number" in (item.get("from_location") or ()) for item in op.body
    ):
        found.add(Topic(ASSIGNMENT, ""))
    return tuple(sorted(found))


def _named(value: Any) -> Iterator[Topic]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key == "product_number" and item:
                yield Topic(PRODUCT, str(item))
            elif key in ("order_number", "customer_order_number") and item:
                yield Topic(ORDER, str(item))
            else:
                yield from _named(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _named(item)
