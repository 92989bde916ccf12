"""Rows of a list are marked, so that something is done to all of them at once."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from aisle.jobs.base import Turn
from aisle.jobs.view import INFO, Msg, Verdict, msg


class Marking(Protocol):
    """A list whose rows can be marked."""

    @property
    def marking(self) -> bool:
        """Numbers mark instead of opening."""

    @property
    def marked(self) -> tuple[str, ...]:
        """The keys of the rows that are marked, in the order in which they were."""

    def _replace(self, *args: Any, **fields: Any) -> Any:
        """As every NamedTuple has it."""


M = TypeVar("M", bound=Marking)


def begun(state: M) -> Turn[M]:
    """From here on numbers mark, or open again."""
    told = msg("orders.marked_so_far", count=len(state.marked)) if state.marking else msg("orders.marking")
    return Turn(state._replace(marking=not state.marking), (), Verdict(INFO, told))


def toggled(marked: tuple[str, ...], key: str) -> tuple[str, ...]:
    """With this row, or without it where it was marked."""
    return tuple(each for each in marked if each != key) if key in marked else (*marked, key)


def all_of(state: M, keys: tuple[str, ...], told: Msg) -> Turn[M]:
    """All of these, or none where all of them were marked already."""
    if set(keys) <= set(state.marked):
        return Turn(state._replace(marked=()), (), Verdict(INFO, msg("orders.none_marked")))
    return Turn(state._replace(marked=keys), (), Verdict(INFO, told))


def ended(state: M) -> Turn[M]:
    """Nothing is marked any more."""
    return Turn(state._replace(marking=False, marked=()), (), Verdict(INFO, msg("orders.none_marked")))
