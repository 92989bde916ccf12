"""What this host keeps in its rows for people, for those who do not know the jobs (see `aisle.jobs.message`)."""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple

from aisle.jobs.message import (
    DETAIL_ARGUMENT,
    NO_MESSAGE,
    StoredMessage,
    is_stored_message,
    read_message,
    store_message,
    store_text,
    stored_detail,
)
from aisle.jobs.view import Msg
from aisle.outbox.operation_record import Operation
from aisle.outbox.operation_state import CLOSED, CONFIRMED

__all__ = [
    "DETAIL_ARGUMENT",
    "DUPLICATE_KEY",
    "NO_MESSAGE",
    "NO_STORE",
    "NO_TOKEN",
    "StoredMessage",
    "UnusableRows",
    "excess_reason",
    "is_stored_message",
    "read_message",
    "reason_of_note",
    "reason_of_operation",
    "setting_changed_reason",
    "store_message",
    "store_text",
    "stored_detail",
]

NO_TOKEN = "told.no_token"
"""The service was not even asked: the token for it cannot be read. What is wrong with its file is the detail."""

NO_STORE = "told.no_store"
"""The service knows no store of this number for this host. The one that may be meant is the detail."""

DUPLICATE_KEY = "repeated"
"""Why rows are left out: later rows have the same key, and the last of them counts. No field is called so."""


class UnusableRows(NamedTuple):
    """Rows of a list of the service that are not kept, as the cache says it."""

    list_name: str
    rows: int
    reason: str
    """`REPEATED`, the field of one of them that makes no sense, or why else."""


_NOTE_MESSAGES = {
    "counted": "doubts.how_counted",
    "corrected": "doubts.how_corrected",
    "nothing": "doubts.how_nothing",
    "put_back": "doubts.way_put_back",
    "other_order": "doubts.way_other_order",
}
"""What a person chose when he settled something by hand, as it is kept."""


def reason_of_note(text: str) -> StoredMessage:
    """What a person said when he settled something: what he chose, or his own words."""
    return store_message(_NOTE_MESSAGES[text]) if text in _NOTE_MESSAGES else store_text(text)


def reason_of_operation(op: Operation) -> str:
    """Why an operation is not done, or what was said when somebody settled it; empty where it is done."""
    if op.state == CLOSED:
        return reason_of_note(op.last_error)
    return "" if op.state == CONFIRMED else op.last_error


def setting_changed_reason(field: str, product: str, current: str, expected: str) -> StoredMessage:
    """That somebody else has changed what the store says of a product; values as `settings_of` has them."""
    from aisle.jobs.supervisor.store_product_view import field_label, format_value

    args: dict[str, str | Msg] = {
        "field": field_label(field),
        "now": format_value(field, current),
        "seen": format_value(field, expected),
    }
    return store_message("told.setting_changed", product=product, **args)


def excess_reason(
    line: int, picked: Decimal, ordered: Decimal, excess: Decimal, moved: Decimal, user: str
) -> StoredMessage:
    """What of a pick found no room on its line: too many in somebody's hand, or (below 0) not put back from a place."""
    if excess > 0:
        args: dict[str, int | Decimal] = {"line": line, "picked": picked, "of": ordered, "left": excess}
        return store_message("told.too_many_by", who=user, **args) if user else store_message("told.too_many", **args)
    args = {"line": line, "picked": picked, "of": ordered, "moved": moved, "left": -excess}
    return store_message("told.not_back_by", who=user, **args) if user else store_message("told.not_back", **args)
