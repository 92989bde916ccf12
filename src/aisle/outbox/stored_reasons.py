"""Reasons for people in stored form that several packages give. The format: `aisle.stored_messages`."""

from __future__ import annotations

from typing import NamedTuple

from aisle.jobs.view import Msg
from aisle.outbox.operation_record import Operation
from aisle.outbox.operation_states import CLOSED, CONFIRMED
from aisle.stored_messages import StoredMessage, is_stored_message, read_message, store_message, store_text

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
    from aisle.jobs.supervisor.parse_and_format_store_product_values import field_label, format_value

    args: dict[str, str | Msg] = {
        "field": field_label(field),
        "now": format_value(field, current),
        "seen": format_value(field, expected),
    }
    return store_message("stored_reason.setting_changed", product=product, **args)


def superseded_reason(line: int) -> StoredMessage:
    """Return the message on a line that was changed later, so that its closing was not repeated after a restore."""
    return store_message("stored_reason.changed_later", line=line)
