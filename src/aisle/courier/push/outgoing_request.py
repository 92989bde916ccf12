"""Body and headers of a request, and the references in it by which a write is found in the service's log.

`reference` holds the operation's id if no person entered one, and `source` the number of the entry: `aisle/2`. If
somebody did, or references must not be changed, `source` holds both: `aisle/<id>/2`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from aisle.client import Client, Response
from aisle.client.paging import Row
from aisle.contract.request_encoding import encode_body, encode_json, encode_segment, get_operation
from aisle.courier.service_features_and_lists import Features
from aisle.errors import ContractError
from aisle.outbox.merge_and_rebase import BASE, parse_excess
from aisle.outbox.operation_record import (
    CREATE_LOGS,
    CREATE_MOVEMENT,
    REJECT_LINES,
    REVIEW_LOGS,
    UPDATE_ORDER,
    UPDATE_STORE_PRODUCTS,
    WRITE_RECOUNTS,
    Operation,
)
from aisle.outbox.retention_and_archive import DEFAULT_RETENTION, Retention
from aisle.row_values import to_decimal
from aisle.store_product_settings import settings_to_send
from aisle.terminal_text import clean

if TYPE_CHECKING:
    from aisle.operation_body_types import LineUpdate, OrderUpdate


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


class PushSettings(NamedTuple):
    """Settings of the push."""

    settling_s: float = 120.0
    """Seconds within which an unanswered request may still arrive; longer than any proxy keeps one."""
    reference: str = REFERENCE
    """Field for an operation's reference at a service without keys (`outgoing_request`)."""
    kept: Retention = DEFAULT_RETENTION
    """Retention of ended operations in outbox, journal and archive."""


class _ExtensionRoute(NamedTuple):
    path: str
    """Path below the store's."""
    feature: str
    """Name of a field of Features."""


_EXTENSION_ROUTES = {
    REVIEW_LOGS: _ExtensionRoute("reviews", "reviews"),
    WRITE_RECOUNTS: _ExtensionRoute("recounts", "recounts"),
    REJECT_LINES: _ExtensionRoute("line-rejections", "line_rejection"),
}


def is_extension(op: Operation) -> bool:
    """Return whether the operation is an extension, not in the interface."""
    return op.operation in _EXTENSION_ROUTES


def extension_body(op: Operation, features: Features) -> bytes:
    """Return the bytes to send. Raise ContractError if the service does not announce the extension."""
    if not getattr(features, _EXTENSION_ROUTES[op.operation].feature):
        raise ContractError(
            f"The service takes no {_EXTENSION_ROUTES[op.operation].path}; what was said stays on this host."
        )
    return encode_json(op.body)


async def send_extension(
    client: Client, op: Operation, headers: dict[str, str], content: bytes, token: str | None = None
) -> Response:
    """Send the operation once, with this token or the store's. Raise ClientError."""
    store = encode_segment(op.path["store_number"])
    path = f"/aisle/v1/stores/{store}/{_EXTENSION_ROUTES[op.operation].path}"
    return await client.request_extension("POST", path, headers=headers, body=content, token=token)


_PICK_LOCATION_FIELDS = ("preferred_location_code", "stock_pool")
_REASON_FIELDS = ("rejection_reason_code", "rejection_reason_code_description")


def request_body(op: Operation, features: Features, reference: str = REFERENCE) -> bytes:
    """Return the bytes to send, without fields that the service would misunderstand. Raise ContractError.

    `reference` names the field for the operation's reference.
    """
    if is_extension(op):
        return extension_body(op, features)
    body = with_missing_references(op, reference) if features.idempotency else with_entry_references(op, reference)
    if op.operation == UPDATE_ORDER:
        kept = (
            (features.pick_location, *_PICK_LOCATION_FIELDS),
            (features.pick_base, BASE),
            (features.line_reasons, *_REASON_FIELDS),
        )
        unknown = [name for known, *names in kept if not known for name in names]
        body = {**body, "orders": _without_fields(body["orders"], unknown)}
    if op.operation == UPDATE_STORE_PRODUCTS:
        body = settings_to_send(body, keeps_dates=features.expiry_dates)
    if op.operation == CREATE_LOGS and not features.receipt_line:
        body = {name: _without(entries, "line_number") for name, entries in body.items()}
    if op.operation == CREATE_MOVEMENT:
        body = body if features.taken_time else _without(body, "taken_datetime")
        body = body if features.undone_time else _without(body, "undone_datetime")
    return encode_body(get_operation(op.operation), body)


def _without_fields(order: OrderUpdate, unknown: Collection[str]) -> OrderUpdate:
    """Return an update without these fields of its lines.

    At a service that does not announce them, the location would change the order's preference; reasons are unknown to
    it.
    """
    if not unknown or "order_lines" not in order:
        return order
    lines = [
        cast("LineUpdate", {key: value for key, value in line.items() if key not in unknown})
        for line in order["order_lines"]
    ]
    return {**order, "order_lines": lines}


def _without(entries: Iterable[Row], field: str) -> list[Row]:
    """Return entries without a field that the service does not announce."""
    return [{name: entry[name] for name in entry if name != field} for entry in entries]


def request_headers(
    op: Operation, features: Features, skew_s: float = 0.0, confirmed_keys: Sequence[str] = ()
) -> dict[str, str]:
    """Return the headers that the service announces it reads.

    `skew_s` is how many seconds this host's clock is ahead of the service's; `confirmed_keys` were confirmed before.
    """
    headers = {}
    if features.idempotency:
        headers["Idempotency-Key"] = f'"{op.op_id}"'
    if features.occurred_at and op.occurred_at:
        headers["Aisle-Occurred-At"] = op.occurred_at
    if features.clock_skew and skew_s:
        headers["Aisle-Clock-Ahead"] = f"{skew_s:.1f}"
    if features.app_user and op.app_user:
        headers["Aisle-App-User"] = clean(op.app_user)
    if features.claims and op.terminal:
        headers["Aisle-Terminal"] = clean(op.terminal)
    if features.known_keys and confirmed_keys:
        headers["Aisle-Follows"] = ",".join(confirmed_keys)
    if features.known_keys and op.replayed_at is not None:
        headers["Aisle-Replay"] = ",".join(_excess_by_line(op)) or "all"
    return headers


def _excess_by_line(op: Operation) -> Iterator[str]:
    """Yield the excess of each line as it was confirmed; a replay must not apply it."""
    for row in parse_excess(op.answer):
        yield f"{row['line_number']}:{to_decimal(row['left']):f}"
