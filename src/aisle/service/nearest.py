"""Names of a request that the interface does not know, and the nearest name that it knows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from pydantic import TypeAdapter

from aisle.contract.operation import Param
from aisle.service.answers import Refusal, malformed

_LONGEST = 80
_SHORTEST = 3
_MOST_TOLD = 50
_SCHEMAS = 64
"""Models whose schemas are remembered; there are fewer bodies than that."""
_FIELD = "There is no such field here."
_PARAMETER = "There is no such parameter here."
_ELSEWHERE = {"header": "It is a header of this operation.", "path": "It stands in the path of this operation."}


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most like this one: in any case and with any separators, with few letters changed, or one
    that begins with it."""
    bare, said = {_bare(one): one for one in known}, _bare(name[:_LONGEST])
    close = get_close_matches(said, bare, n=1, cutoff=0.6)
    close = close or sorted((one for one in bare if len(said) >= _SHORTEST and one.startswith(said)), key=len)
    return bare[close[0]] if close else None


def _bare(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def unknown_parameters(names: Iterable[str], params: Sequence[Param]) -> Refusal:
    """The refusal (400) of a query with parameters that the operation does not have."""
    told = dict.fromkeys(names)
    errors = [{"field": name[:_LONGEST], "message": _of_parameter(name, params)} for name in list(told)[:_MOST_TOLD]]
    refusal = malformed(errors[0]["message"], errors[0]["field"])
    refusal.extra["errors"] = errors
    return refusal


def _of_parameter(name: str, params: Sequence[Param]) -> str:
    known = [param.name for param in params if param.where == "query"]
    close = nearest(name, known)
    if close and _bare(close) == _bare(name):
        return f"{_PARAMETER} The nearest is {close}."
    for param in params:
        if param.where in _ELSEWHERE and _bare(param.name) == _bare(name):
            return f"{_PARAMETER} {_ELSEWHERE[param.where]}"
    if close:
        return f"{_PARAMETER} The nearest is {close}."
    return f"{_PARAMETER} Known are {', '.join(known)}." if known else f"{_PARAMETER} This operation takes none."


def of_field(adapter: TypeAdapter[Any], loc: Sequence[int | str]) -> str:
    """What is said of an unknown field of a body at this place."""
    close = nearest(str(loc[-1]), _fields(adapter, loc[:-1])) if loc else None
    return f"{_FIELD} The nearest is {close}." if close else f"{_FIELD} Look at its spelling, or leave it out."


def _fields(adapter: TypeAdapter[Any], loc: Sequence[int | str]) -> list[str]:
    """The fields that the object at this place may have."""
    schema = _schema(adapter)
    found: list[Mapping[str, Any]] = [schema]
    for part in loc:
        here = (one for each in found for one in _resolved(each, schema))
        found = [
            each["items"] if isinstance(part, int) else each["properties"][part] for each in here if _has(each, part)
        ]
    return [name for each in found for one in _resolved(each, schema) for name in one.get("properties", ())]


def _has(schema: Mapping[str, Any], part: int | str) -> bool:
    return "items" in schema if isinstance(part, int) else part in schema.get("properties", ())


def _resolved(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """A schema without references, and each of its choices."""
    if "$ref" in schema:
        yield from _resolved(root["$defs"][str(schema["$ref"]).rpartition("/")[2]], root)
    elif "anyOf" in schema:
        for choice in schema["anyOf"]:
            yield from _resolved(choice, root)
    else:
        yield schema


@lru_cache(maxsize=_SCHEMAS)
def _schema(adapter: TypeAdapter[Any]) -> Mapping[str, Any]:
    return adapter.json_schema()
