"""The operation as a record: one row of the outbox, its author and unique id.

An id has 128 random bits in 26 characters that every field of the interface can carry.
"""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from aisle.jobs.job import Json, Write
from aisle.named_tuple_json import from_text

if TYPE_CHECKING:
    from aisle.operation_body_types import LineExcess, LineUpdate

RandomBytes = Callable[[int], bytes]
"""Function that returns this many random bytes, like os.urandom."""

ID_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"


def new_id(random: RandomBytes = os.urandom) -> str:
    """Return a new identifier: 26 characters A-Z and 2-7 (base32 without padding)."""
    value = int.from_bytes(random(16), "big") << 2
    return "".join(ID_ALPHABET[value >> shift & 31] for shift in range(125, -1, -5))


WRITE_RECOUNTS = "write-recounts"
"""Operation that orders or closes recounts at our own service."""

REVIEW_LOGS = "review-logs"
"""Operation that marks log entries as reviewed, or as to be reviewed again, at our own service."""

REJECT_LINES = "reject-lines"
"""Operation that rejects lines of an order, at a service of ours that announces `line-rejection`."""

BODY_VERSION = 1
"""Version of the bodies that this program writes."""


UPDATE_ORDER, CREATE_LOGS, CREATE_MOVEMENT = "update-customer-order", "create-store-product-logs", "create-movement"
UPDATE_STORE_PRODUCTS = "update-store-products"
"""Operations whose effects are known here, by their names in the table of operations."""


class Operation(NamedTuple):
    """One row of the outbox. Times are seconds since 1970; `occurred_at` is ISO 8601 UTC."""

    n: int
    """Order of creation on this host."""
    op_id: str
    store: str
    principal: str
    """Owner of the token it is sent with, never the token: `store` or `person/<app user>`."""
    app_user: str
    operation: str
    """Name in the table of operations (aisle.contract.request_encoding)."""
    lanes: tuple[str, ...]
    merge_key: str
    path: Mapping[str, str]
    query: Mapping[str, Json]
    body: Json
    """Content of the request; decimals are Decimal."""
    sent_body: bytes | None
    """Bytes that were sent; None if it was never sent."""
    fingerprint: str
    """SHA-256 of these bytes."""
    state: str
    live: int
    """1 while it is unfinished, refused and unresolved, or confirmed and not read back."""
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
    has_key: int
    """1 if it was last sent under a key that the service keeps, so that sending it again is safe."""
    in_doubt_at: float | None
    """Time at which it was last found in doubt."""
    absence_final_at: float | None
    """Time from which absence at the service is believed to be final."""
    parts: tuple[int, ...]
    """Entries of the first sent body that are still in the body, counted from 1; empty for all."""
    evidence: "Evidence"
    """Reads at the service about it: `before` it was sent, `after`, and the result of the last look-up (`verdict`)."""
    terminal: str
    """Name of the terminal where it was written."""
    replayed_at: float | None = None
    """Time at which it was replayed after a restore of the service; it had been confirmed before."""
    keyed_since: float | None = None
    """Time at which it was first sent under its key; the service keeps the key for a period from then on."""
    read_intervals: tuple[tuple[float, float], ...] = ()
    """Intervals (confirmed, replayed) in which reads included it."""


STORE_PRINCIPAL = "store"
"""Principal of the staff's operations: the token of this host."""
_PERSON_PREFIX = "person/"


def principal_of(user: str) -> str:
    """Return the principal of a person with a token of their own."""
    return _PERSON_PREFIX + user


def user_of_principal(principal: str) -> str:
    """Return the app user of a principal; empty for the store."""
    return principal.removeprefix(_PERSON_PREFIX) if principal.startswith(_PERSON_PREFIX) else ""


class Author(NamedTuple):
    """Person and principal in whose name an operation is written."""

    store: str
    app_user: str
    principal: str = STORE_PRINCIPAL
    terminal: str = ""
    supervisor_principal: str = ""
    """Principal for operations that only supervisors may do; empty if it is the same."""


def author_of(write: Write, author: Author) -> Author:
    """Return the author of a write: the signed-in person, or the user that it names, who is then at no terminal.

    An operation for supervisors uses the token of the signed-in person, whatever user it names.
    """
    if write.needs_supervisor and author.supervisor_principal:
        author = author._replace(principal=author.supervisor_principal)
    if write.user in ("", author.app_user):
        return author
    return author._replace(app_user=write.user, terminal="")


class Intent(NamedTuple):
    """A write and its origin."""

    write: Write
    job_id: str = ""
    event_seq: int = 0
    occurred_at: str = ""
    depends_on: str = ""
    """op_id of an operation that has to be done first; if it is refused, so is this one."""


def sha256_hex(content: bytes) -> str:
    """Return the SHA-256 of a request's bytes in hexadecimal."""
    return sha256(content).hexdigest()


def operation_from_row(row: Sequence[Any]) -> Operation:
    """Return the operation in a row of the table; the columns are the fields in their order."""
    values = list(row[: len(Operation._fields)])  # a newer program appends columns of its own
    for at, read in _COLUMN_PARSERS:
        values[at] = read(values[at])
    return Operation._make(values)


def _parse_column(text: Any) -> Any:
    """Parse a column; most are empty."""
    if text == "{}":
        return {}
    return [] if text == "[]" else from_text(Any, str(text))


@lru_cache(maxsize=512)
def _parse_common_column(text: Any) -> Any:
    """Parse a column with a cache, because many operations share the text. Nobody may change the result."""
    return _parse_column(text)


def _parse_intervals(text: Any) -> tuple[tuple[float, float], ...]:
    """Parse pairs of times."""
    return tuple((float(first), float(last)) for first, last in json.loads(text)) if text else ()


def parse_entry_numbers(text: Any) -> tuple[int, ...]:
    """Parse the numbers of the entries that a body still holds."""
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
        ("read_intervals", _parse_intervals),
    )
)
"""Columns that have to be parsed."""


def write_of_operation(operation: Operation) -> Write:
    """Return the write that an operation carries."""
    return Write(
        operation.operation, operation.lanes, operation.path, operation.query, operation.body, operation.merge_key
    )


def author_of_operation(op: Operation) -> Author:
    """Return in whose name an operation was written."""
    return Author(op.store, op.app_user, op.principal, op.terminal)


def intent_of_operation(op: Operation, write: Write) -> Intent:
    """Return the intent of a write with the origin of an operation."""
    return Intent(write, op.job_id, op.event_seq, op.occurred_at)


class OrderState(TypedDict):
    """Fields of an order and of its lines that updates can change; numbers as text."""

    head: dict[str, Json]
    lines: dict[str, dict[str, Json]]
    """By line number."""


class ServiceState(TypedDict, total=False):
    """State of what an operation changes; only what was read."""

    order: OrderState
    stock: dict[str, dict[str, str]]
    """Quantities by product and location; the empty location is the whole store."""
    product: dict[str, dict[str, str]]
    """Settings by product."""


class Evidence(TypedDict, total=False):
    """Evidence of one operation."""

    before: ServiceState
    after: ServiceState
    floor: int
    """Number of the youngest log entry before it was sent."""
    lookups: int
    """Number of look-ups."""
    looked_at: float
    """Time of the last look-up, in seconds since 1970."""
    verdict: str
    """Result of the last look-up (aisle.courier.push.decide_arrival_from_lookup)."""
    failed_lookups: int
    """Number of look-ups that could read nothing."""
    reads_without_effect: int
    """Number of reads that showed a confirmed operation without effect."""
    empty_answer: bool
    """True after an empty answer, which confirms nothing."""
    omitted_line: "LineUpdate"
    """Line that an update left out, to see whether the service keeps such lines."""
    left: "list[LineExcess]"
    """Excess found before it was sent."""
    status: int
    """HTTP status of the answer that refused it."""
    unreversed: Json
    """Body of a refused operation without what was undone; None if nothing is left of it."""
