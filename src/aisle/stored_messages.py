"""Format in which messages are stored, and how they are read."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import NewType

from aisle.jobs.view import Msg
from aisle.named_tuple_json import from_text, to_text

StoredMessage = NewType("StoredMessage", str)
"""Text of a database column or an answer that people read. Only `store_message` and `store_text` make it."""

NO_MESSAGE = StoredMessage("")
LATER_COUNT = "my_entries.later_count"
"""Message: somebody counted the goods since, so that an undo changed nothing."""

STORABLE_PREFIXES = ("stored_reason.", "unconfirmed.resolution_", "unconfirmed.choice_", LATER_COUNT)
"""Prefixes of the ids of messages that may be stored."""

MAX_TEXT = 1_000
"""Most characters of a foreign text in a message: every session reads all messages."""

DETAIL_ARGUMENT = "detail"
"""Argument that no sentence shows: raw details for an operator."""

_MESSAGE_MARK = '{"@":"Msg"'
_RAW_ID = "raw"


def store_message(id_: str, **args: str | int | Decimal | Msg) -> StoredMessage:
    """Return a message in its stored form. A stored text among the arguments must pass `read_message` first."""
    storable = {name: _storable(value) if isinstance(value, str) else value for name, value in args.items()}
    return StoredMessage(to_text(Msg(id_, tuple(storable.items()))))


def _storable(text: str) -> str:
    """Return the start of a text, with `?` for each half of a character, which no database accepts."""
    start = text[:MAX_TEXT]
    return start if start.isascii() else start.encode("utf-8", "replace").decode()


def store_text(text: str) -> StoredMessage:
    """Return foreign text (of the service or of a person) in its stored form, also if it looks like a message of
    ours."""
    storable = _storable(text)
    return store_message(_RAW_ID, text=storable) if text.startswith(_MESSAGE_MARK) else StoredMessage(storable)


@lru_cache(maxsize=256)
def read_message(text: str) -> Msg:
    """Return the message of a stored text; other text is returned as raw text."""
    return _parse_message(text) or Msg(_RAW_ID, (("text", text),))


def is_stored_message(text: str, id_: str = "") -> bool:
    """Return True if a stored text is a message of ours, with this id if one is given."""
    found = _parse_message(text)
    return found is not None and (found.id == id_ if id_ else found.id != _RAW_ID)


def stored_detail(text: str, id_: str) -> str:
    """Return the detail stored with this message; empty if the text is another message."""
    found = _parse_message(text)
    return str(dict(found.args).get(DETAIL_ARGUMENT) or "") if found is not None and found.id == id_ else ""


def _parse_message(text: str) -> Msg | None:
    if not text.startswith(_MESSAGE_MARK):
        return None
    try:
        found = from_text(Msg, text)
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return (
        found if _is_valid_message(found) and (found.id == _RAW_ID or found.id.startswith(STORABLE_PREFIXES)) else None
    )


def _is_valid_message(found: object) -> bool:
    if not isinstance(found, Msg) or not isinstance(found.id, str) or not isinstance(found.args, tuple):
        return False
    pairs = [arg for arg in found.args if isinstance(arg, tuple) and len(arg) == 2 and isinstance(arg[0], str)]
    known = (value for _, value in pairs)
    return len(pairs) == len(found.args) and all(
        isinstance(v, str | int | Decimal) or _is_valid_message(v) for v in known
    )
