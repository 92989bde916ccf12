"""What rows keep for people, in the words of the command line: English, as all that operators read."""

from __future__ import annotations

from aisle.jobs.told import DETAIL, words


def in_words(text: str) -> str:
    """A kept message as a sentence, with what an operator wants to know besides; somebody else's words as they are."""
    from aisle.tui.catalogue import Voice

    message = words(text)
    detail = str(dict(message.args).get(DETAIL) or "")
    said = Voice().say(message)
    return f"{said} ({Voice().raw(detail)})" if detail else said
