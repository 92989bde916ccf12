"""The fields of the contract's bodies, and where the values of a body that was sent are found again."""

from __future__ import annotations

import json
import types
from collections.abc import Iterator
from typing import Any, get_args

from pydantic import BaseModel

from aisle.contract.models import body_model
from aisle.contract.wire import OPERATIONS
from aisle.service.db import Transaction
from tests.service.world import World


def model_of(annotation: Any) -> type[BaseModel] | None:
    """The model inside a field's type, if there is one."""
    if isinstance(annotation, type) and not isinstance(annotation, types.GenericAlias):
        return annotation if issubclass(annotation, BaseModel) else None
    found = (model_of(argument) for argument in get_args(annotation))
    return next((model for model in found if model), None)


def leaves(model: type[BaseModel], where: str = "") -> Iterator[str]:
    """Every field that holds a value, by its path."""
    model.model_rebuild()
    for name, field in model.model_fields.items():
        inner = model_of(field.annotation)
        if inner:
            yield from leaves(inner, f"{where}{name}.")
        else:
            yield where + name


def documented(name: str) -> set[str]:
    """The fields of an operation's body, without the arrays that they stand in."""
    found = set(leaves(body_model(OPERATIONS[name])))
    return {leaf.removeprefix("orders.").removeprefix("products.").removeprefix("stores.") for leaf in found}


def given(body: Any, where: str = "") -> set[str]:
    """The same paths of a body that is sent."""
    if isinstance(body, list) and body and isinstance(body[0], dict):
        return given(body[0], where)
    if isinstance(body, dict):
        return {path for name, value in body.items() for path in given(value, f"{where}{name}.")}
    return {where.rstrip(".")}


def in_it(part: dict[str, Any], whole: dict[str, Any]) -> None:
    """Every member of a part is in the whole, and the same."""
    assert {name: whole.get(name) for name in part} == part


async def data_of(world: World, statement: str, *args: object) -> dict[str, Any]:
    """The text of a column of the database, which no list shows."""

    async def work(tx: Transaction) -> str:
        row = await tx.one(statement, *args)
        assert row is not None
        return str(row[0])

    found: dict[str, Any] = json.loads(world.service.database.read_now(work))
    return found
