"""The contract's table and models say what the document says, in both directions: nothing missing, nothing added."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import Any, NamedTuple

import pytest
from pydantic import TypeAdapter
from typing_extensions import is_typeddict

from aisle.contract import request_bodies
from aisle.contract.answer_schemas import answer_schemas
from aisle.contract.operations import OPERATIONS, Operation
from tests.contract.document import ANSWERS, ASSUMED_MODELS, BODIES, PAGES
from tests.contract.document import OPERATIONS as DOCUMENT


class Field(NamedTuple):
    type: str
    format: str
    required: bool


class Row(NamedTuple):
    """What the document says about one operation, and what the table says, in the same words."""

    area: str
    method: str
    path: str
    params: frozenset[tuple[str, str, str, bool, int | None]] | None
    body: str
    answer: str


# --- the document ----------------------------------------------------------------------------------------------------


def blocks(text: str) -> list[list[str]]:
    return [block.splitlines() for block in text.replace("\\\n", "").strip().split("\n\n")]


def pool_names(name: str) -> list[str]:
    stem, _, last = name.partition("1..")
    return [f"{stem}{pool}" for pool in range(1, int(last) + 1)] if last else [name]


def read_fields(lines: list[str]) -> dict[str, Field]:
    fields = {}
    for line in lines:
        names, _, kind = line[2:].partition(": ")
        type_, _, format_ = kind.partition(" ") if kind.startswith(("number ", "string ")) else (kind, "", "")
        for name in names.split():
            fields.update({each: Field(type_, format_, line[0] == "!") for each in pool_names(name)})
    return fields


def read_resources() -> dict[str, dict[str, Field]]:
    found = {block[0]: read_fields(block[1:]) for text in (ANSWERS, BODIES) for block in blocks(text)}
    for line in PAGES.strip().splitlines():
        head, *changes = line.split(" | ")
        name, envelope, row = head.split()
        page = dict(found[envelope], list=Field(f"array of {row}", "", True))
        for change in changes:
            page.update({name: page[name]._replace(required=change[0] == "!") for name in change[2:].split()})
        found[name] = page
    return found


def read_param(where: str, type_: str, spec: str) -> tuple[str, str, str, bool, int | None]:
    name, _, limit = spec.partition("<=")
    return name.rstrip("!"), where, type_, name.endswith("!"), int(limit) if limit else None


def read_operation(block: list[str]) -> tuple[str, Row]:
    name, area, target = block[0].split(" | ")
    method, path = target.split(" ")
    params: set[tuple[str, str, str, bool, int | None]] | None = {
        (part.strip("{}"), "path", "string", True, None) for part in path.split("/") if part.startswith("{")
    }
    body = answer = "none"
    for line in block[1:]:
        word, _, rest = line.partition(" ")
        if word == "body":
            body = rest
        elif word == "answer":
            answer = rest
        elif rest == "not shown" or params is None:
            params = None
        else:
            type_, _, specs = rest.partition(": ")
            params |= {read_param(word, type_, spec) for spec in specs.split()}
    return name, Row(area, method, path, None if params is None else frozenset(params), body, answer)


RESOURCES = read_resources()
ROWS = dict(read_operation(block) for block in blocks(DOCUMENT))


# --- the code --------------------------------------------------------------------------------------------------------


def describe(op: Operation) -> Row:
    shown_body = ("array of " if op.body_array else "") + op.body if op.body else "none"
    return Row(
        op.area,
        op.method,
        op.path,
        None
        if "params" in op.assumed
        else frozenset((param.name, param.where, param.type, param.required, param.max_length) for param in op.params),
        "not shown" if "body" in op.assumed else shown_body,
        f"{op.paging or 'result'} {'array of ' if op.result_array else ''}{op.result}",
    )


def all_models() -> dict[str, Any]:
    """Every body of an area, and every shape of an answer; mixins are no resources."""
    found: dict[str, Any] = dict(answer_schemas())
    for info in (info for info in iter_modules(request_bodies.__path__) if info.name != "extension_bodies"):
        module = import_module(f"{request_bodies.__name__}.{info.name}")
        for name, item in vars(module).items():
            if is_typeddict(item) and item.__module__ == module.__name__ and not name.startswith("_"):
                found[name] = item
    return {
        name: item
        for name, item in found.items()
        if name not in ("RequestBody", "StockPoolsRequest", "PoolNamesRequest")
    }


def describe_type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if schema.get("type") == "array":
        return f"array of {describe_type(schema['items'])}"
    if schema.get("type") == "object":
        values = schema.get("additionalProperties", True)
        return "map of " + ("unknown" if values is True else describe_type(values))
    return str(schema["type"])


def describe_model(model: Any) -> dict[str, Field]:
    schema = model if isinstance(model, dict) else TypeAdapter(model).json_schema()
    fields = {}
    for name, field in schema.get("properties", {}).items():
        choices = [choice for choice in field.get("anyOf", [field]) if choice.get("type") != "null"]
        assert len(choices) == 1, f"{name} has more than one type"
        form = choices[0].get("format", field.get("format", ""))
        fields[name] = Field(describe_type(choices[0]), form, name in schema.get("required", []))
    return fields


def differences(document: dict[str, Field], code: dict[str, Field]) -> list[str]:
    """Names of fields that the two do not share, or describe differently. The code may add a format to a number."""
    found = list(document.keys() ^ code.keys())
    for name in document.keys() & code.keys():
        theirs, ours = document[name], code[name]
        same_format = theirs.format == ours.format or (not theirs.format and theirs.type == "number")
        if (theirs.type, theirs.required) != (ours.type, ours.required) or not same_format:
            found.append(name)
    return sorted(found)


MODELS = all_models()


# --- they are the same -----------------------------------------------------------------------------------------------


def test_operation_table_lists_29_operations_in_document_order() -> None:
    assert len(ROWS) == 29
    assert list(OPERATIONS) == list(ROWS)


@pytest.mark.parametrize("name", ROWS)
def test_an_operation_is_as_documented(name: str) -> None:
    op = OPERATIONS[name]
    assert describe(op) == ROWS[name]
    assert op.write == (op.method != "GET")
    assert op.success_required == (op.result == "ConfirmedResult")


def test_every_model_is_documented_or_named_as_assumed() -> None:
    assert set(MODELS) == set(RESOURCES) | set(ASSUMED_MODELS.split())
    assert not set(RESOURCES) & set(ASSUMED_MODELS.split())


@pytest.mark.parametrize("name", RESOURCES)
def test_a_model_is_as_documented(name: str) -> None:
    assert differences(RESOURCES[name], describe_model(MODELS[name])) == []


@pytest.mark.parametrize("op", OPERATIONS.values(), ids=list(OPERATIONS))
def test_an_operation_names_models_that_exist(op: Operation) -> None:
    assert op.result in answer_schemas()
    if op.body is not None:
        assert request_bodies.body_type(op) is MODELS[op.body]
        assert (op.body in ASSUMED_MODELS.split()) == ("body" in op.assumed)


def test_requests_refuse_what_they_do_not_know() -> None:
    for name in {block[0] for block in blocks(BODIES)} | set(ASSUMED_MODELS.split()) - {"Product", "AttributeResult"}:
        if not isinstance(MODELS[name], dict):
            assert TypeAdapter(MODELS[name]).json_schema()["additionalProperties"] is False, name


# --- and a change of either side would show --------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row.params])
def test_a_change_of_any_parameter_would_show(name: str) -> None:
    op = OPERATIONS[name]
    for index, param in enumerate(op.params):
        rest = op.params[:index] + op.params[index + 1 :]
        for changed in (
            rest,
            (*rest, param._replace(name=param.name.upper())),
            (*rest, param._replace(required=not param.required)),
            (*rest, param._replace(type="number" if param.type != "number" else "string")),
            (*rest, param._replace(max_length=7)),
            (*rest, param._replace(where="header" if param.where != "header" else "query")),
        ):
            assert describe(op._replace(params=changed)) != ROWS[name]


@pytest.mark.parametrize("name", RESOURCES)
def test_a_change_of_any_field_would_show(name: str) -> None:
    code = describe_model(MODELS[name])
    for field, told in code.items():
        rest = {other: told for other, told in code.items() if other != field}
        for changed in (
            rest,
            {**rest, field.upper(): told},
            {**rest, field: told._replace(required=not told.required)},
            {**rest, field: told._replace(type=f"array of {told.type}")},
        ):
            assert field in differences(RESOURCES[name], changed)
