"""Rows of operations of this host, and of what a session itself answers."""

from decimal import Decimal
from typing import NotRequired, TypedDict

from aisle.jobs.job import Json
from aisle.jobs.row_types.raw_service_rows import Number
from aisle.operation_body_types import LineExcess, RequestAnswer


class RefusedOperationsRow(TypedDict):
    """Refused operation that nobody has resolved."""

    op_id: str
    user: str
    why: str
    label: str
    """Its products."""
    body: Json
    """As sent; its form depends on the operation (aisle.operation_body_types)."""
    left: LineExcess
    """Line that could not take picked goods; empty for any other refusal."""


OperationItemRow = TypedDict(
    "OperationItemRow",
    {"product_number": str, "label": str, "quantity": Decimal | None, "line": Number | None, "from": str, "to": str},
)
"""Part of an operation: log entry, movement item or order line."""


class ComparedFigureRow(TypedDict):
    """Figure of both sides; None if unknown."""

    subject: str
    """Product, or name of a field."""
    location: str
    before: str | None
    ours: str | None
    after: str | None


class UnconfirmedRow(TypedDict):
    """Operation that the service has not confirmed."""

    op_id: str
    outcome: str
    asked: bool
    """True if a person must decide."""
    operation: str
    kind: str
    """`count`, `change`, `move`, `pick`, `setting` or `other`."""
    user: str
    principal: str
    """Name of the person whose token it is sent with; empty for the store's token."""
    pin: str
    """Name of the person whose PIN it waits for."""
    terminal: str
    at: str
    """ISO 8601."""
    why: str
    tries: int
    absence_final_at: float | None
    """Seconds since 1970."""
    verdict: str
    items: list[OperationItemRow]
    sides: list[ComparedFigureRow]
    evidence: str
    """`there`, `not_there`, `mixed`; empty if unknown."""
    ways: list[str]
    """Possible resolutions."""
    waits_for: str
    """Operation in doubt that blocks it."""
    order: str
    location: str
    product: str


class NeedingPersonRow(TypedDict):
    """Never returned; only the total counts."""


class OpenWorkRow(TypedDict):
    """Order with goods in the user's hand."""

    order_number: str
    count: Decimal
    """Pieces."""


class RequestStateRow(TypedDict):
    """State of a request."""

    state: str
    answer: RequestAnswer


class FileRow(TypedDict):
    """Export to a file."""

    file: str
    count: int
    """Rows written."""
    why: str
    """Id of the message why it is not or cannot be written; empty on success."""
    done: NotRequired[int]
    """Rows that are done; only of a table on paper."""


class TerminalRow(TypedDict):
    """Terminal of this session."""

    columns: int
    rows: int
    term: str
    encoding: str
    colours: int
