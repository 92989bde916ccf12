"""What rows keep for people, in the words of the command line: English, as all that operators read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from aisle.jobs.message import DETAIL_ARGUMENT, read_message
from aisle.outbox.outcome_reasons import DUPLICATE_KEY

if TYPE_CHECKING:
    from aisle.courier.pull.sync_progress import SyncProgress


def reason_text(text: str) -> str:
    """A kept message as a sentence, with what an operator wants to know besides; somebody else's words as they are."""
    from aisle.tui.message_text import MessageWriter

    message = read_message(text)
    detail = str(dict(message.args).get(DETAIL_ARGUMENT) or "")
    said = MessageWriter().write(message)
    return f"{said} ({MessageWriter().clean_text(detail)})" if detail else said


def unread_lists(progress: SyncProgress) -> Iterator[tuple[str, str]]:
    """The lists that could not be read, or not wholly, and why."""
    for name in progress.missing:
        yield list_name(name), reason_text(progress.reason_of(name))


def unusable_rows(progress: SyncProgress) -> Iterator[tuple[str, int, str]]:
    """The lists of which rows could not be used, how many, and the field of one of them that makes no sense."""
    for left in progress.left_out:
        if left.reason != DUPLICATE_KEY:
            yield list_name(left.list_name), left.rows, left.reason


def repeated_rows(progress: SyncProgress) -> Iterator[tuple[str, int]]:
    """The lists of which rows are there twice, and how many."""
    for left in progress.left_out:
        if left.reason == DUPLICATE_KEY:
            yield list_name(left.list_name), left.rows


def list_name(name: str) -> str:
    """What a list is called."""
    from aisle.jobs.message import list_name
    from aisle.tui.message_text import MessageWriter

    return MessageWriter().write(list_name(name))
