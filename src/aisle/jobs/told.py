"""What is kept in a row for people: a message of the catalogue by its id with its arguments, never a sentence.

Whoever shows the row says it in the language of his screen. A service's own words, and what programs before this one
wrote, are plain text there and stay as they are.
"""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import NewType

from aisle.jobs.codec import from_text, to_text
from aisle.jobs.view import Msg

Told = NewType("Told", str)
"""Text of a column, and of an answer, that people read: made by `told` or `outside`, and by nobody else."""

NOTHING = Told("")
KINDS = ("told.", "doubts.how_", "doubts.way_")
"""How the ids of messages begin that are kept."""

DETAIL = "detail"
"""An argument that no sentence has: what an operator wants to know besides, as it came."""

_MARK = '{"@":"Msg"'
_PLAIN = "raw"


def told(id_: str, **args: str | int | Decimal | Msg) -> Told:
    """A message of ours as it is kept. What is kept itself and is an argument goes in by `words`."""
    return Told(to_text(Msg(id_, tuple(args.items()))))


def outside(text: str) -> Told:
    """Somebody else's words: the service's own, or what a person typed. They are kept as they are, also where they
    look like a message of ours."""
    return Told(to_text(Msg(_PLAIN, (("text", text),)))) if text.startswith(_MARK) else Told(text)


@lru_cache(maxsize=256)
def words(text: str) -> Msg:
    """What a kept text says, to be shown; what is no message of ours is itself."""
    return _read(text) or Msg(_PLAIN, (("text", text),))


def is_ours(text: str, id_: str = "") -> bool:
    """Whether a kept text is a message of ours, and that one where it is named."""
    found = _read(text)
    return found is not None and (found.id == id_ if id_ else found.id != _PLAIN)


def detail_of(text: str, id_: str) -> str:
    """What goes along with a kept text, where it is this message; else empty."""
    found = _read(text)
    return str(dict(found.args).get(DETAIL) or "") if found is not None and found.id == id_ else ""


def _read(text: str) -> Msg | None:
    if not text.startswith(_MARK):
        return None
    try:
        found = from_text(Msg, text)
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return found if _is_whole(found) and (found.id == _PLAIN or found.id.startswith(KINDS)) else None


def _is_whole(found: object) -> bool:
    """Whether it is a message with arguments that can be drawn."""
    if not isinstance(found, Msg) or not isinstance(found.id, str) or not isinstance(found.args, tuple):
        return False
    pairs = [arg for arg in found.args if isinstance(arg, tuple) and len(arg) == 2 and isinstance(arg[0], str)]
    known = (value for _, value in pairs)
    return len(pairs) == len(found.args) and all(isinstance(v, str | int | Decimal) or _is_whole(v) for v in known)
