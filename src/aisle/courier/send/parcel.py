"""An operation of the outbox as a request: its exact bytes and its headers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from aisle.contract.wire import encode_body, operation
from aisle.courier.features import Features
from aisle.courier.send.beyond import body_beyond, is_beyond
from aisle.courier.send.marks import REFERENCE, marked, referenced
from aisle.local.outbox.operation import LOGS, SETTINGS, UPDATE, Operation
from aisle.local.outbox.rebase import BASE
from aisle.local.outbox.remainder import left_in
from aisle.local.outbox.settings_of import without_base
from aisle.local.reads.overlay import decimal
from aisle.text import clean

_PICK_PLACE = ("preferred_location_code", "stock_pool")
_REASON = ("rejection_reason_code", "rejection_reason_code_description")


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


def headers_of(op: Operation, features: Features, ahead_s: float = 0.0, follows: Sequence[str] = ()) -> dict[str, str]:
    """What goes beside the body, as far as the service announces that it reads it; `ahead_s` seconds is this host's
    clock ahead of the service's; `follows` are keys that it confirmed before."""
    headers = {}
    if features.idempotency:
        headers["Idempotency-Key"] = f'"{op.op_id}"'
    if features.occurred_at and op.occurred_at:
        headers["Aisle-Occurred-At"] = op.occurred_at
    if features.clock_ahead and ahead_s:
        headers["Aisle-Clock-Ahead"] = f"{ahead_s:.1f}"
    if features.app_user and op.app_user:
        headers["Aisle-App-User"] = clean(op.app_user)
    if features.claims and op.terminal:
        headers["Aisle-Terminal"] = clean(op.terminal)
    if features.known_keys and follows:
        headers["Aisle-Follows"] = ",".join(follows)
    if features.known_keys and op.replayed_at is not None:
        headers["Aisle-Replay"] = ",".join(_left_then(op)) or "all"
    return headers


def _left_then(op: Operation) -> Iterator[str]:
    """What of it found no room when it was confirmed, by line: that stays out."""
    for row in left_in(op.answer):
        yield f"{int(row['line_number'])}:{decimal(row['left']):f}"
