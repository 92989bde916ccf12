"""Marking of rows of a list: one, those passed by the cursor, or all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from aisle.jobs.job import Turn, reply
from aisle.jobs.list_window import move_cursor, row_at_cursor, row_in_focus
from aisle.jobs.view import INFO, Msg, Verdict, msg


class MarkableList(Protocol):
    """State of a list whose rows can be marked."""

    @property
    def is_marking(self) -> bool:
        """True if numbers mark rows instead of opening them."""

    @property
    def marked(self) -> tuple[str, ...]:
        """Keys of the marked rows, in the order of marking."""

    def _replace(self, *args: Any, **fields: Any) -> Any:
        """Return a changed copy, as every NamedTuple does."""


M = TypeVar("M", bound=MarkableList)


def toggle_marking(state: M) -> Turn[M]:
    """Switch numbers between marking and opening rows."""
    text = msg("orders.marking_ended", count=len(state.marked)) if state.is_marking else msg("orders.marking")
    return Turn(state._replace(is_marking=not state.is_marking), (), Verdict(INFO, text))


def toggle_mark(marked: tuple[str, ...], key: str) -> tuple[str, ...]:
    """Return the marks with this key added, or removed if it was marked."""
    return tuple(each for each in marked if each != key) if key in marked else (*marked, key)


def mark_with_key(state: Any, key: str, size: int, key_of: Callable[[Any], str], most: int) -> Any:
    """Return the list after a key that marks: the row in focus, or that and the next one up or down (Shift and arrow).
    A next row that is not in the window yet is marked by the next key."""
    row = row_in_focus(state)
    if row is None:
        return state
    state = state._replace(cursor=state.cursor if row_at_cursor(state) else state.first)
    if key == "mark":
        return state._replace(marked=toggle_mark(state.marked, key_of(row))[:most])
    moved = move_cursor(state, key.removeprefix("shift+"), size)
    names = (key_of(row), *(key_of(each) for each in (row_at_cursor(moved),) if each is not None))
    return moved._replace(marked=tuple(dict.fromkeys((*state.marked, *names)))[:most])


MARK_KEYS = ("mark", "shift+up", "shift+down")
"""Keys of a desk that mark rows."""


def mark_all(state: M, keys: tuple[str, ...], message: Msg) -> Turn[M]:
    """Mark all of these rows; remove all marks if all of them are marked already."""
    if set(keys) <= set(state.marked):
        return reply(state._replace(marked=()), INFO, "orders.none_marked")
    return Turn(state._replace(marked=keys), (), Verdict(INFO, message))


def clear_marks(state: M) -> Turn[M]:
    """Remove all marks and stop marking."""
    return reply(state._replace(is_marking=False, marked=()), INFO, "orders.none_marked")
