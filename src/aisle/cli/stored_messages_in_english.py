"""Stored messages and list names as English text for operators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from aisle.jobs.list_problem_messages import list_name as list_message
from aisle.outbox.stored_reasons import DUPLICATE_KEY
from aisle.stored_messages import DETAIL_ARGUMENT, read_message
from aisle.tui.message_text import MessageWriter

if TYPE_CHECKING:
    from aisle.courier.pull.sync_progress import SyncProgress


def reason_text(text: str) -> str:
    """Return a stored message as a sentence, with its technical detail; text of the service is unchanged."""
    message = read_message(text)
    detail = str(dict(message.args).get(DETAIL_ARGUMENT) or "")
    sentence = MessageWriter().write(message)
    return f"{sentence} ({MessageWriter().clean_text(detail)})" if detail else sentence


def unread_lists(progress: SyncProgress) -> Iterator[tuple[str, str]]:
    """Return the lists that could not be read completely, with the reasons."""
    for name in progress.missing:
        yield list_name(name), reason_text(progress.reason_of(name))


def unusable_rows(progress: SyncProgress) -> Iterator[tuple[str, int, str]]:
    """Return the lists with unusable rows, their number, and an invalid field of one of them."""
    for left in progress.left_out:
        if left.reason != DUPLICATE_KEY:
            yield list_name(left.list_name), left.rows, left.reason


def repeated_rows(progress: SyncProgress) -> Iterator[tuple[str, int]]:
    """Return the lists with duplicate rows, and their number."""
    for left in progress.left_out:
        if left.reason == DUPLICATE_KEY:
            yield list_name(left.list_name), left.rows


def list_name(name: str) -> str:
    """Return the display name of a list."""
    return MessageWriter().write(list_message(name))
