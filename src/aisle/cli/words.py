"""What rows keep for people, in the words of the command line: English, as all that operators read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from aisle.jobs.told import DETAIL, words
from aisle.local.told import REPEATED

if TYPE_CHECKING:
    from aisle.courier.pull.progress import Progress


def in_words(text: str) -> str:
    """A kept message as a sentence, with what an operator wants to know besides; somebody else's words as they are."""
    from aisle.tui.catalogue import Voice

    message = words(text)
    detail = str(dict(message.args).get(DETAIL) or "")
    said = Voice().say(message)
    return f"{said} ({Voice().raw(detail)})" if detail else said


def unread_lists(progress: Progress) -> Iterator[tuple[str, str]]:
    """The lists that could not be read, or not wholly, and why."""
    for name in progress.missing:
        yield called(name), in_words(progress.why(name))


def unusable_rows(progress: Progress) -> Iterator[tuple[str, int, str]]:
    """The lists of which rows could not be used, how many, and the field of one of them that makes no sense."""
    for left in progress.left_out:
        if left.why != REPEATED:
            yield called(left.name), left.rows, left.why


def repeated_rows(progress: Progress) -> Iterator[tuple[str, int]]:
    """The lists of which rows are there twice, and how many."""
    for left in progress.left_out:
        if left.why == REPEATED:
            yield called(left.name), left.rows


def called(name: str) -> str:
    """What a list is called."""
    from aisle.jobs.lists import named
    from aisle.tui.catalogue import Voice

    return Voice().say(named(name))
