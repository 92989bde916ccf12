"""The fields of the contract's bodies, and those of a body that is sent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args, get_type_hints

from typing_extensions import is_typeddict

from aisle.contract.operations import OPERATIONS
from aisle.contract.request_bodies import body_type


def object_type_of(annotation: Any) -> Any:
    """The type of the objects inside a field's type, if there is one."""
    if is_typeddict(annotation):
        return annotation
    found = (object_type_of(argument) for argument in get_args(annotation))
    return next((kind for kind in found if kind), None)


def leaves(body: Any, where: str = "") -> Iterator[str]:
    """Every field that holds a value, by its path."""
    for name, kind in get_type_hints(body).items():
        inner = object_type_of(kind)
        if inner:
            yield from leaves(inner, f"{where}{name}.")
        else:
            yield where + name


def documented(name: str) -> set[str]:
    """The fields of an operation's body, without the arrays that they stand in."""
    found = set(leaves(body_type(OPERATIONS[name])))
    return {leaf.removeprefix("orders.").removeprefix("products.").removeprefix("stores.") for leaf in found}


def given(body: Any, where: str = "") -> set[str]:
    """The same paths of a body that is sent."""
    if isinstance(body, list) and body and isinstance(body[0], dict):
        return given(body[0], where)
    if isinstance(body, dict):
        return {path for name, value in body.items() for path in given(value, f"{where}{name}.")}
    return {where.rstrip(".")}
