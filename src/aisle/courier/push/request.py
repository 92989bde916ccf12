"""The name of an operation in what is sent to a service that keeps no keys, so that it can be found there again.

`reference` carries the operation's id where no person typed one, and `source` says which entry it is: `aisle/2`. Where
somebody did, or where references are not to be touched, `source` carries both: `aisle/<id>/2`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from aisle.cache.order_overlay import to_decimal
from aisle.client import Client, Response
from aisle.contract.wire import encode_body, encode_json, encode_segment, get_operation
from aisle.courier.service_features import Features
from aisle.errors import ContractError
from aisle.outbox.archive import DEFAULT_RETENTION, Retention
from aisle.outbox.operation_record import (
    CREATE_LOGS,
    CREATE_MOVEMENT,
    REJECT_LINES,
    UPDATE_ORDER,
    UPDATE_STORE_PRODUCTS,
    WRITE_RECOUNTS,
    Operation,
    without_expected,
)
from aisle.outbox.rebase import BASE
from aisle.outbox.rebase_excess import parse_excess
from aisle.text import clean

REFERENCE, SOURCE, OFF = "reference", "source", "off"
"""Where the name goes; `off` leaves all as it is, and then nothing can be found again."""

_LOG_ARRAY = "storeproductlog"
_PREFIX = "aisle"


class EntryReference(NamedTuple):
    """One entry as it was sent."""

    number: int
    """Of the entry in what was first meant, from 1."""
    reference: str
    source: str
    product: str
    quantity: Decimal | None
    """What was counted, or by how much it changed; None where the entry names pools."""
    is_ours: bool
    """Its reference is the operation's id; otherwise its source alone tells."""


def with_entry_references(op: Operation, where: str) -> Any:
    """The body with the operation's name in each entry."""
    if where == OFF or op.operation not in (CREATE_LOGS, CREATE_MOVEMENT):
        return op.body
    entries = entries_of(op)
    numbers = op.parts or range(1, len(entries) + 1)
    named = [_with_reference(entry, op.op_id, n, where) for entry, n in zip(entries, numbers, strict=True)]
    return {**op.body, _LOG_ARRAY: named} if op.operation == CREATE_LOGS else named


def with_missing_references(op: Operation, where: str) -> Any:
    """The body for a service that keeps keys: entries that nobody gave a reference get the operation's id, so that what
    was done together stands together in the log. That of a receipt names its delivery."""
    if where != REFERENCE or op.operation not in (CREATE_LOGS, CREATE_MOVEMENT) or op.query.get("is_from_receipt"):
        return op.body
    named = [entry if entry.get("reference") else {**entry, "reference": op.op_id} for entry in entries_of(op)]
    return {**op.body, _LOG_ARRAY: named} if op.operation == CREATE_LOGS else named


def entries_of(op: Operation) -> Sequence[Mapping[str, Any]]:
    """The entries of a body that has some."""
    found = op.body.get(_LOG_ARRAY) if op.operation == CREATE_LOGS else op.body
    return found or ()


def _with_reference(entry: Mapping[str, Any], op_id: str, number: int, where: str) -> dict[str, Any]:
    if where == REFERENCE and not entry.get("reference"):
        return {**entry, "reference": op_id, "source": f"{_PREFIX}/{number}"}
    return {**entry, "source": f"{_PREFIX}/{op_id}/{number}"}


def entry_references(op: Operation) -> tuple[EntryReference, ...]:
    """The entries of what was really sent; empty where it was sent without a name."""
    if op.operation not in (CREATE_LOGS, CREATE_MOVEMENT) or op.frozen is None:
        return ()
    body = json.loads(op.frozen, parse_float=Decimal)
    entries = (body.get(_LOG_ARRAY) if op.operation == CREATE_LOGS else body) or ()
    found = [_parse_reference(entry, op.op_id) for entry in entries]
    return tuple(mark for mark in found if mark is not None) if all(found) else ()


def _parse_reference(entry: Mapping[str, Any], op_id: str) -> EntryReference | None:
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
    """Which entry a source names; 0 for none of ours."""
    first, _, rest = source.partition("/")
    number = rest.rpartition("/")[2]
    return int(number) if first == _PREFIX and number.isascii() and number.isdigit() else 0


class PushSettings(NamedTuple):
    """The courier's part of the settings."""

    settling_s: float = 120.0
    """Seconds in which a request that nobody answered may still arrive: longer than any hop on the way keeps one."""
    reference: str = REFERENCE
    """Where an operation's name goes on a service that keeps no keys: see aisle.courier.push.request."""
    kept: Retention = DEFAULT_RETENTION
    """For how long outbox, journal and archive keep what is over."""


class _ExtensionRoute(NamedTuple):
    path: str
    """Below the store's."""
    feature: str
    """A field of Features."""


_EXTENSION_ROUTES = {
    "review-logs": _ExtensionRoute("reviews", "reviews"),
    WRITE_RECOUNTS: _ExtensionRoute("recounts", "recounts"),
    REJECT_LINES: _ExtensionRoute("line-rejections", "line_rejection"),
}


def is_extension(op: Operation) -> bool:
    """Whether the interface has no such operation."""
    return op.operation in _EXTENSION_ROUTES


def extension_body(op: Operation, features: Features) -> bytes:
    """The bytes to be sent. Raises ContractError where the service does not say that it takes them."""
    if not getattr(features, _EXTENSION_ROUTES[op.operation].feature):
        raise ContractError(
            f"The service takes no {_EXTENSION_ROUTES[op.operation].path}; what was said stays on this host."
        )
    return encode_json(op.body)


async def send_extension(
    client: Client, op: Operation, headers: dict[str, str], content: bytes, token: str | None = None
) -> Response:
    """Sends it once, with this token or the store's. Raises ClientError."""
    store = encode_segment(op.path["store_number"])
    path = f"/aisle/v1/stores/{store}/{_EXTENSION_ROUTES[op.operation].path}"
    return await client.request_extension("POST", path, headers=headers, body=content, token=token)


_PICK_LOCATION_FIELDS = ("preferred_location_code", "stock_pool")
_REASON_FIELDS = ("rejection_reason_code", "rejection_reason_code_description")


def request_body(op: Operation, features: Features, reference: str = REFERENCE) -> bytes:
    """The bytes to be sent, without what the service would misunderstand. Raises ContractError.

    The operation's name goes where `reference` says (see aisle.courier.push.request).
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
        body = without_expected(body)
    if op.operation == CREATE_LOGS and not features.receipt_line:
        body = {name: _without_line_numbers(entries) for name, entries in body.items()}
    return encode_body(get_operation(op.operation), body)


def _without_fields(order: Mapping[str, Any], unknown: Collection[str]) -> Mapping[str, Any]:
    """An update without these fields of its lines.

    To a service that does not announce it, the place of an update line would change what the order prefers; of a reason
    it knows nothing.
    """
    if not unknown or "order_lines" not in order:
        return order
    lines = [{key: line[key] for key in line if key not in unknown} for line in order["order_lines"]]
    return {**order, "order_lines": lines}


def _without_line_numbers(entries: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Entries of the log without the lines of their delivery."""
    return [{name: entry[name] for name in entry if name != "line_number"} for entry in entries]


def request_headers(
    op: Operation, features: Features, skew_s: float = 0.0, confirmed_keys: Sequence[str] = ()
) -> dict[str, str]:
    """What goes beside the body, as far as the service announces that it reads it; `ahead_s` seconds is this host's
    clock ahead of the service's; `follows` are keys that it confirmed before."""
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
    """What of it found no room when it was confirmed, by line: that stays out."""
    for row in parse_excess(op.answer):
        yield f"{int(row['line_number'])}:{to_decimal(row['left']):f}"
