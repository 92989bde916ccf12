"""Answers of the interface as JSON Schema, read from the shapes of `answers.json`.

A shape is a text (a type, perhaps with its format, or another shape's name; then perhaps `; ` and a description), an
array of one shape, or an object. In an object `name?` is a field that may be missing or null, `name1..10` stands for
ten fields, `*` for fields of any name, `+` names a shape whose fields it has too, and `#` describes it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

Schema = dict[str, Any]
_SCHEMAS = "#/components/schemas/"


@cache
def answer_schemas() -> dict[str, Schema]:
    """Return the schema of each answer, and of its parts, by name."""
    return {name: shape_schema(shape) for name, shape in _shapes().items()}


@cache
def _shapes() -> dict[str, Any]:
    shapes: dict[str, Any] = json.loads(Path(__file__).with_name("answers.json").read_text("utf-8"))
    return shapes


def shape_schema(shape: Any) -> Schema:
    """Return the schema of a shape."""
    if isinstance(shape, str):
        kind, _, text = shape.partition("; ")
        kind, _, form = kind.partition(" ")
        if kind[:1].isupper():
            return {"$ref": _SCHEMAS + kind}
        return {"type": kind} | ({"format": form} if form else {}) | ({"description": text} if text else {})
    if isinstance(shape, list):
        return {"type": "array", "items": shape_schema(shape[0])}
    return _object_schema(shape) if isinstance(shape, dict) else {"const": shape}


def _object_schema(shape: Mapping[str, Any]) -> Schema:
    fields: dict[str, tuple[str, Any]] = {name.rstrip("?"): (name, part) for name, part in _fields(shape)}
    required = [field for field, (name, _) in fields.items() if field == name]
    properties = {
        field: shape_schema(part) if field == name else {"anyOf": [shape_schema(part), {"type": "null"}]}
        for field, (name, part) in fields.items()
    }
    return (
        {"type": "object"}
        | ({"description": shape["#"]} if "#" in shape else {})
        | ({"additionalProperties": shape_schema(shape["*"])} if "*" in shape else {})
        | ({"required": required} if required else {})
        | ({"properties": properties} if properties else {})
    )


def _fields(shape: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the fields, with those of the shape that it extends."""
    if "+" in shape:
        yield from _fields(_shapes()[shape["+"]])
    for name, part in shape.items():
        stem, numbers, end = name.partition("1..10")
        if numbers:
            yield from ((f"{stem}{number}{end}", part) for number in range(1, 11))
        elif name not in ("#", "+", "*"):
            yield name, part
