"""Operation as a record: one row of the outbox, its author and unique id, its states, and the reasons in it.

An id has 128 random bits in 26 characters that every field of the interface can carry.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from aisle.jobs.job import Json, Write
from aisle.jobs.view import Msg
from aisle.named_tuple_json import from_text
from aisle.stored_messages import StoredMessage, is_stored_message, read_message, store_message, store_text

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
    evidence: Evidence
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
    omitted_line: LineUpdate
    """Line that an update left out, to see whether the service keeps such lines."""
    left: list[LineExcess]
    """Excess found before it was sent."""
    status: int
    """HTTP status of the answer that refused it."""
    unreversed: Json
    """Body of a refused operation without what was undone; None if nothing is left of it."""


QUEUED = "queued"
"""Stored on this host; not sent, or may be sent again."""
SENDING = "sending"
"""Its bytes may have left. After a crash it is found in this state."""
CONFIRMED = "done"
"""The service confirmed it."""
REFUSED = "rejected"
"""The service refused it and changed nothing. A person has to see it."""
IN_DOUBT = "in_doubt"
"""It was sent, and its arrival is unknown."""
NEEDS_PERSON = "needs_person"
"""Reconciliation cannot decide; a person does, with the evidence."""
CLOSED = "closed"
"""Resolved by a person, or replaced by a merged operation."""

STATES = (QUEUED, SENDING, CONFIRMED, REFUSED, IN_DOUBT, NEEDS_PERSON, CLOSED)

SEND = "send"
MERGE = "merge"
SPLIT = "split"
CONFIRM = "confirm"
REFUSE = "reject"
LOSE_ANSWER = "doubt"
RETRY = "retry"
ASK_PERSON = "ask"
CLOSE = "close"
REPLAY_AFTER_RESTORE = "replay"
FIND_ABSENT = "deny"
LOSE_BY_RESTORE = "lose"

TRANSITIONS: dict[tuple[str, str], str] = {
    (QUEUED, SEND): SENDING,
    (QUEUED, MERGE): CLOSED,  # a newer operation carries its content
    (QUEUED, SPLIT): CLOSED,  # each of its items becomes an operation
    (QUEUED, REFUSE): REFUSED,  # it cannot even be encoded
    (QUEUED, ASK_PERSON): NEEDS_PERSON,  # tried for too long
    (QUEUED, CLOSE): CLOSED,  # it waits for a PIN that nobody will enter
    (SENDING, CONFIRM): CONFIRMED,
    (SENDING, REFUSE): REFUSED,
    (SENDING, RETRY): QUEUED,  # it certainly did not leave, or the service knows its key
    (SENDING, LOSE_ANSWER): IN_DOUBT,
    (IN_DOUBT, CONFIRM): CONFIRMED,  # read back and found
    (IN_DOUBT, RETRY): QUEUED,  # absent after the settling time, or the service knows its key
    (IN_DOUBT, ASK_PERSON): NEEDS_PERSON,
    (IN_DOUBT, CLOSE): CLOSED,  # a person on the floor knows better
    (NEEDS_PERSON, CONFIRM): CONFIRMED,  # found late
    (NEEDS_PERSON, RETRY): QUEUED,  # a person had it sent again, or the service announces keys again
    (NEEDS_PERSON, CLOSE): CLOSED,
    (REFUSED, CLOSE): CLOSED,
    (CONFIRMED, FIND_ABSENT): IN_DOUBT,  # read back and not found
    (CONFIRMED, LOSE_BY_RESTORE): IN_DOUBT,  # restored service that keeps no keys: it is looked up
    (CONFIRMED, REPLAY_AFTER_RESTORE): QUEUED,  # restored service: its key tells if it still has the operation
}

UNFINISHED = (QUEUED, SENDING, IN_DOUBT, NEEDS_PERSON)
"""States that block their lanes: no younger operation in one of them may be sent."""


class IllegalTransition(Exception):
    """An event that is not allowed in a state: a defect of the program."""


def next_state(state: str, event: str) -> str:
    """Return the state after an event. Raise IllegalTransition if the table has none."""
    try:
        return TRANSITIONS[state, event]
    except KeyError:
        raise IllegalTransition(f"{event} cannot happen to an operation that is {state}") from None


NO_TOKEN = "stored_reason.no_token"
"""Message: the service was not asked, because the token file cannot be read; the detail says what is wrong with it."""

NO_STORE = "stored_reason.no_store"
"""Message: the service knows no store of this number for this host; the detail names the one that may be meant."""

DUPLICATE_KEY = "repeated"
"""Reason for skipped rows: later rows have the same key, and the last one counts. No field has this name."""


class UnusableRows(NamedTuple):
    """Rows of a list of the service that could not be used, as the cache records it."""

    list_name: str
    rows: int
    reason: str
    """`DUPLICATE_KEY`, the invalid field of one of them, or another reason."""


_NOTE_MESSAGES = {
    "counted": "unconfirmed.resolution_counted",
    "corrected": "unconfirmed.resolution_corrected",
    "nothing": "unconfirmed.resolution_nothing",
    "put_back": "pick.choice_put_back",
    "other_order": "unconfirmed.choice_other_order",
}
"""Messages of the stored choices of a person who resolved an operation."""


def reason_of_note(text: str) -> StoredMessage:
    """Return the reason of a resolution: the message of the choice, ours, or the person's own words."""
    if is_stored_message(text):
        ours = read_message(text)
        return store_message(ours.id, **dict(ours.args))
    return store_message(_NOTE_MESSAGES[text]) if text in _NOTE_MESSAGES else store_text(text)


def reason_of_operation(op: Operation) -> str:
    """Return the reason for which an operation is not confirmed, or the note of its resolution; empty if confirmed."""
    if op.state == CLOSED:
        return reason_of_note(op.last_error)
    return "" if op.state == CONFIRMED else op.last_error


def setting_changed_reason(field: str, product: str, current: str, expected: str) -> StoredMessage:
    """Return the message that another person has changed a product's setting.

    Values are those of `parse_entry_values`.
    """
    from aisle.jobs.supervisor.service_fields_and_values import field_label, format_value

    args: dict[str, str | Msg] = {
        "field": field_label(field),
        "now": format_value(field, current),
        "seen": format_value(field, expected),
    }
    return store_message("stored_reason.setting_changed", product=product, **args)


def superseded_reason(line: int) -> StoredMessage:
    """Return the message on a line that was changed later, so that its closing was not repeated after a restore."""
    return store_message("stored_reason.changed_later", line=line)
