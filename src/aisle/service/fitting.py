"""Whether a body fits its model. A large one is looked at piece by piece, and only until something is wrong with it.

What checks a model collects all that is wrong: of a million mistakes it would make a gigabyte, and nobody else would be
answered until they are told. Nobody wants to hear more than the first of so many.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

_Place = tuple[int | str, ...]


def misfits(adapter: TypeAdapter[Any], value: Any, *, large: bool = False) -> list[ErrorDetails]:
    """What is wrong with a body; of a `large` one, with the first of its objects that does not fit."""
    for piece, shifts in _pieces(value, ()) if large else ((value, {}),):
        try:
            adapter.validate_python(piece)
        except ValidationError as problem:
            found = problem.errors(include_url=False, include_context=False)
            return [{**error, "loc": _shifted(error["loc"], shifts)} for error in found]
    return []


def _pieces(value: Any, place: _Place) -> Iterator[tuple[Any, dict[_Place, int]]]:
    """A value as often as it has objects in its lists, each time with one of them alone; and the numbers that these
    really have in their lists, by the places of the lists."""
    if isinstance(value, list):
        if not any(isinstance(one, dict) for one in value):
            yield value, {}
            return
        for number, one in enumerate(value):
            for piece, shifts in _pieces(one, (*place, 0)):
                yield [piece], {place: number, **shifts}
        return
    lists = [name for name, part in value.items() if isinstance(part, list)] if isinstance(value, dict) else []
    several = [name for name in lists if any(isinstance(one, dict) for one in value[name])]
    if not several:
        yield value, {}
        return
    yield {**value, **{name: [] for name in several}}, {}
    bare = {**value, **{name: [] for name in lists}}
    for name in several:
        for piece, shifts in _pieces(value[name], (*place, name)):
            yield {**bare, name: piece}, shifts


def _shifted(loc: _Place, shifts: dict[_Place, int]) -> _Place:
    """The place that something has in the whole body."""
    return tuple(shifts.get(loc[:n], part) if part == 0 else part for n, part in enumerate(loc))
