"""What an operation of the interface is: plain tuples, cheap to import in every process."""

from __future__ import annotations

from typing import Literal

from aisle.tuples import NamedTuple

Where = Literal["path", "query", "header"]
WireType = Literal["string", "number", "boolean"]
Paging = Literal["envelope", "reduced", "products"]


class Param(NamedTuple):
    """One parameter, named exactly as the document spells it."""

    name: str
    where: Where
    type: WireType = "string"
    required: bool = False
    max_length: int | None = None
    assumed: bool = False


class Operation(NamedTuple):
    """One operation of the interface.

    `body` and `result` name models of `aisle.contract.models`; `body_array` and `result_array` say that the JSON is a
    bare array of them. `assumed` names what the document does not show and we chose: "params", "body".
    """

    name: str
    area: str
    method: str
    path: str
    params: tuple[Param, ...]
    body: str | None
    body_array: bool
    result: str
    result_array: bool
    paging: Paging | None
    write: bool
    success_required: bool
    assumed: tuple[str, ...]

    def of(self, where: Where) -> tuple[Param, ...]:
        """The parameters that travel in `where`, in the document's order."""
        return tuple(param for param in self.params if param.where == where)
