"""A kind of named tuple is what `typing` would have made of it."""

from __future__ import annotations

import copy
import inspect
import json
import pickle
import threading
import typing
from typing import Any, Generic, TypeVar, get_type_hints

import pytest

from aisle.tuples import NamedTuple

S = TypeVar("S")


class Point(NamedTuple):
    """Where something is."""

    x: int
    y: int = 2
    tags: tuple[str, ...] = ()

    @property
    def sum(self) -> int:
        """Both together."""
        return self.x + self.y

    @classmethod
    def at(cls, x: int) -> Point:
        """Somewhere on the way."""
        return cls(x)


class Model(typing.NamedTuple):
    """Where something is."""

    x: int
    y: int = 2
    tags: tuple[str, ...] = ()


class Nothing(NamedTuple):
    """No fields at all."""


class Box(NamedTuple, Generic[S]):
    """Holds anything."""

    held: S
    label: str = ""


class Named(Point):
    """A kind of point that was never made before its first one."""

    __slots__ = ()


def test_it_is_made_like_any_other() -> None:
    ours: Any = Point
    theirs: Any = Model
    for values, named in (((1,), {}), ((1, 5), {}), ((1,), {"tags": ("a",)}), ((), {"x": 3, "y": 4})):
        made, model = ours(*values, **named), theirs(*values, **named)
        assert made == model == tuple(model)
        assert repr(made) == repr(model).replace("Model", "Point")
        assert made._asdict() == model._asdict()
        assert hash(made) == hash(model)
        assert (made.x, made.y, made.tags) == (model.x, model.y, model.tags)
    assert Point.at(4).sum == 6
    assert Nothing() == ()


def test_what_is_known_of_a_kind() -> None:
    assert get_type_hints(Point) == get_type_hints(Model) == {"x": int, "y": int, "tags": tuple[str, ...]}
    for name in ("_fields", "_field_defaults", "__match_args__", "__doc__", "__module__", "__slots__"):
        assert getattr(Point, name) == getattr(Model, name)
    assert isinstance(Point(1), tuple)
    assert not hasattr(Point(1), "__dict__")
    Point(1)
    assert list(inspect.signature(Point).parameters) == ["x", "y", "tags"]


def test_changes_and_copies() -> None:
    point = Point(1, tags=("a",))
    assert point._replace(y=7) == Point(1, 7, ("a",))
    assert type(point._replace(y=7)) is Point
    assert point.__replace__(y=7) == point._replace(y=7), "so does `copy.replace`, where Python has it"  # type: ignore[attr-defined]
    assert point.__new__(Point, 1, tags=("a",)) == point
    assert Point._make([1, 2, ()]) == Point(1)
    assert pickle.loads(pickle.dumps(point)) == point
    assert type(copy.deepcopy(point)) is Point
    assert json.dumps(point) == '[1, 2, ["a"]]'
    match point:
        case Point(x, y, tags):
            assert (x, y, tags) == (1, 2, ("a",))
        case _:  # pragma: no cover
            pytest.fail("a point is a point")


def test_a_kind_of_a_kind_and_one_of_any_type() -> None:
    assert type(Named(1)) is Named
    assert Named(x=1, y=3).sum == 4
    assert repr(Named(1)) == "Named(x=1, y=2, tags=())"
    assert type(Point(1)) is Point
    box: Box[int] = Box(3)
    assert box == (3, "")
    assert Box[str].__origin__ is Box  # type: ignore[attr-defined]


def test_a_default_is_never_that_of_another_field() -> None:
    """A type checker sees it, too; without one the last field would get it in silence."""
    for base in (typing.NamedTuple, NamedTuple):
        with pytest.raises(TypeError):

            class _Wrong(base):  # type: ignore[misc, valid-type]
                x: int = 1
                y: int


def test_the_first_ones_of_a_kind_may_be_made_at_once() -> None:
    for _ in range(20):

        class Fresh(NamedTuple):
            x: int
            y: int = 2

        barrier, made = threading.Barrier(4), list[Any]()

        def make(kind: Any = Fresh, barrier: Any = barrier, made: Any = made) -> None:
            barrier.wait()
            made += [kind(1), kind(x=3)]

        threads = [threading.Thread(target=make) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(made) == [(1, 2)] * 4 + [(3, 2)] * 4


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (lambda kind: kind(), TypeError),
        (lambda kind: kind(1, 2, (), 4), TypeError),
        (lambda kind: kind(1, z=2), TypeError),
        (lambda kind: kind(1, x=2), TypeError),
        (lambda kind: kind._make([1]), TypeError),
        (lambda kind: kind(1)._replace(z=2), (TypeError, ValueError)),
        (lambda kind: setattr(kind(1), "x", 2), AttributeError),
        (lambda kind: setattr(kind(1), "z", 2), AttributeError),
    ],
)
def test_what_is_wrong_is_said_alike(wrong: Any, error: type[Exception] | tuple[type[Exception], ...]) -> None:
    said = []
    for kind in (Model, Point):
        with pytest.raises(error) as caught:
            wrong(kind)
        said.append((caught.type, str(caught.value).replace("Model", "Point")))
    assert said[0] == said[1]
