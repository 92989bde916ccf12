"""Names that nobody else will ever give: 128 random bits in 26 characters that any field of the interface can carry."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from aisle.jobs.job import Json, Write
from aisle.jobs.supervisor.store_product_fields import BASE_VALUES, FIELDS, parse_entry_values, parse_update_values
from aisle.json_codec import from_text

RandomBytes = Callable[[int], bytes]
"""So many random bytes, as os.urandom gives them."""

ID_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"


def new_id(random: RandomBytes = os.urandom) -> str:
    """A new identifier: 26 characters A-Z and 2-7 (base32 without padding)."""
    value = int.from_bytes(random(16), "big") << 2
    return "".join(ID_ALPHABET[value >> shift & 31] for shift in range(125, -1, -5))


WRITE_RECOUNTS = "write-recounts"
"""Counts that are ordered, or settled, at our own service."""

REJECT_LINES = "reject-lines"
"""Lines of an order that nobody picks any more, at a service of ours that takes that (`line-rejection`)."""

BODY_VERSION = 1
"""Version of the bodies that this program writes."""


UPDATE_ORDER, CREATE_LOGS, CREATE_MOVEMENT = "update-customer-order", "create-store-product-logs", "create-movement"
UPDATE_STORE_PRODUCTS = "update-store-products"
"""The operations whose effects are known here, by their names in the table of operations."""


class Operation(NamedTuple):
    """One row of the outbox. Times are seconds since 1970; `occurred_at` is ISO 8601 UTC."""

    n: int
    """Order of creation on this host."""
    op_id: str
    store: str
    principal: str
    """Whose token it is sent with, never the token: `store`, or `person/<app user>`."""
    app_user: str
    operation: str
    """Name in the table of operations (aisle.contract.wire)."""
    lanes: tuple[str, ...]
    merge_key: str
    path: Mapping[str, str]
    query: Mapping[str, Json]
    body: Json
    """What is to be said; decimals are Decimal."""
    frozen: bytes | None
    """The bytes that were sent; None while it has never been sending."""
    fingerprint: str
    """SHA-256 of these bytes."""
    state: str
    live: int
    """1 while somebody still waits for it: unfinished, rejected and not seen, or done and not read back."""
    attempts: int
    not_before: float
    first_sent_at: float | None
    last_error: str
    created_at: float
    occurred_at: str
    depends_on: str
    superseded_by: str
    job_id: str
    event_seq: int
    answer: str
    confirmed_at: float | None
    read_back_at: float | None
    closed_by: str
    schema_version: int
    keyed: int
    """1 when it was last sent under its key, which the service said it keeps: then the same again is no risk."""
    doubted_at: float | None
    """When it was last seen that nobody knows whether it arrived."""
    settles_at: float | None
    """From then on it is believed that what is not there will not come any more."""
    parts: tuple[int, ...]
    """Which entries of what was first sent its body still holds, counted from 1; empty for all of them."""
    evidence: Mapping[str, Json]
    """What was read at the service about it: `before` it was sent, `after`, and what the last look said (`verdict`)."""
    terminal: str
    """Name of the terminal where it was written."""
    replayed_at: float | None = None
    """When it was begun anew, after it had been confirmed: the service was put back from an earlier copy."""
    keyed_since: float | None = None
    """When it was first sent under its key: the service keeps that for so long from then on."""
    was_in: tuple[tuple[float, float], ...] = ()
    """Between which moments what was read has it though it was begun anew: confirmed, and then begun anew."""


STORE_PRINCIPAL = "store"
"""The principal of what staff do: the token of this host."""
_PERSON_PREFIX = "person/"


def principal_of(user: str) -> str:
    """The principal of what a person does with a token of his own."""
    return _PERSON_PREFIX + user


def user_of_principal(principal: str) -> str:
    """The app user whose token that is; empty for the store's."""
    return principal.removeprefix(_PERSON_PREFIX) if principal.startswith(_PERSON_PREFIX) else ""


class Author(NamedTuple):
    """In whose name something is written."""

    store: str
    app_user: str
    principal: str = STORE_PRINCIPAL
    terminal: str = ""
    supervisor_principal: str = ""
    """The principal of what only supervisors do; empty for the same as of all else."""


def author_of(write: Write, author: Author) -> Author:
    """In whose name a write is: his who is signed in, or his whom it names, who is at no terminal then.

    What only a supervisor does goes with the token of who is signed in, whomever it names.
    """
    if write.needs_supervisor and author.supervisor_principal:
        author = author._replace(principal=author.supervisor_principal)
    if write.user in ("", author.app_user):
        return author
    return author._replace(app_user=write.user, terminal="")


class Intent(NamedTuple):
    """A write and where it comes from."""

    write: Write
    job_id: str = ""
    event_seq: int = 0
    occurred_at: str = ""
    depends_on: str = ""
    """op_id of an operation that has to be done first, where lanes do not say so."""


def sha256_hex(content: bytes) -> str:
    """SHA-256 of the bytes of a request, in hexadecimal."""
    from hashlib import sha256

    return sha256(content).hexdigest()


def operation_from_row(row: Sequence[Any]) -> Operation:
    """The operation in a row of the table; the columns are the fields, in their order."""
    values = list(row[: len(Operation._fields)])  # a newer program adds columns of its own behind them
    for at, read in _COLUMN_PARSERS:
        values[at] = read(values[at])
    return Operation._make(values)


def _parse_column(text: Any) -> Any:
    """What a column says; most hold nothing, or next to nothing."""
    if text == "{}":
        return {}
    return [] if text == "[]" else from_text(Any, str(text))


@lru_cache(maxsize=512)
def _parse_common_column(text: Any) -> Any:
    """The same: what many operations of a store say alike is read once. Nobody changes it."""
    return _parse_column(text)


def _parse_intervals(text: Any) -> tuple[tuple[float, float], ...]:
    """Pairs of moments."""
    return tuple((float(first), float(last)) for first, last in json.loads(text)) if text else ()


def parse_entry_numbers(text: Any) -> tuple[int, ...]:
    """What the table says of the entries that a body still holds."""
    return tuple(from_text(Any, str(text))) if text else ()


_COLUMN_PARSERS: tuple[tuple[int, Callable[[Any], Any]], ...] = tuple(
    (Operation._fields.index(name), read)
    for name, read in (
        ("lanes", lambda text: tuple(_parse_common_column(text))),
        ("path", _parse_common_column),
        ("query", _parse_column),
        ("body", _parse_column),
        ("parts", parse_entry_numbers),
        ("evidence", lambda text: _parse_column(text) if text else {}),
        ("was_in", _parse_intervals),
    )
)
"""Columns that are more than their text."""


def write_of_operation(operation: Operation) -> Write:
    """The write that an operation carries."""
    return Write(
        operation.operation, operation.lanes, operation.path, operation.query, operation.body, operation.merge_key
    )


EXPECTED = BASE_VALUES
"""In an item: what its fields stood at for the person who changed them."""

__all__ = ["EXPECTED", "apply_settings", "parse_entry_values", "parse_update_values", "without_expected"]


def without_expected(items: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The items as they are sent."""
    return [{name: item[name] for name in item if name != EXPECTED} for item in items]


def apply_settings(stock: dict[str, Any], item: Mapping[str, Any]) -> None:
    """A stock entry, changed in place to what an item says."""
    for field in FIELDS:
        if field.name in item:
            value = item[field.name]
            stock[field.entry_name] = ",".join(value) if isinstance(value, list | tuple) else value
