"""`aisle api OPERATION`: sends one operation of the interface and prints its response."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from io import StringIO
from typing import NamedTuple

import click
from click.shell_completion import CompletionItem

from aisle.cli.options import FILE, SettingValues, setting_options, settings_from_options
from aisle.cli.print_rows_and_messages import print_json_rows, write_json
from aisle.cli.service_client import service_client
from aisle.client import Response
from aisle.client.responses_and_errors import Outcome, outcome_of, status_error
from aisle.contract.operations import OPERATIONS, Operation
from aisle.contract.request_encoding import build_path, encode_headers, encode_query, get_operation
from aisle.errors import ContractError, UsageError
from aisle.outbox.operation_record import new_id
from aisle.settings.settings_files_and_folders import LoadedSettings
from aisle.terminal_text import clean

LIST = "list"
"""Word in place of an operation that prints all operations."""
DANGEROUS_OPERATIONS = frozenset({"delete-products", "create-customer-order-clearance"})
"""Operations that need a confirmation; so does any operation with flush=true."""
_BODY_OPTIONAL = frozenset({"create-customer-order-clearance"})
"""Operations that are defined by their parameters; a body only restricts them."""
_PAGED_BY_ID = frozenset({"list-store-products-stock", "list-store-product-logs"})


class ApiCall(NamedTuple):
    """Parameters of one call, by where they are sent."""

    path: dict[str, str]
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes | None


def _complete_operation(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the operations that begin so."""
    return [CompletionItem(name) for name in (LIST, *OPERATIONS) if name.startswith(incomplete)]


@click.command()
@click.argument("operation", shell_complete=_complete_operation)
@click.option(
    "--query",
    multiple=True,
    metavar="NAME=VALUE",
    help="Parameter by its wire name, wherever it is sent (path, query or header); repeatable.",
)
@click.option("--body", type=FILE, metavar="FILE", help="JSON file with the body, - for standard input.")
@click.option("--all", "all_pages", is_flag=True, help="Print all pages of a list, one JSON object a line.")
@click.option(
    "--raw", is_flag=True, help="Write the bytes of the answer unchanged, into a file or pipe, with control characters."
)
@click.option("--key", metavar="KEY", help="Idempotency-Key of a write.", show_default="a new one")
@click.option("--yes", is_flag=True, help="Ask for no confirmation (of flush and delete).")
@setting_options
def api(
    operation: str,
    query: Sequence[str],
    body: str | None,
    all_pages: bool,
    raw: bool,
    key: str | None,
    yes: bool,
    setting_values: SettingValues,
) -> int:
    """Run one operation of the interface and print its answer as JSON.

    OPERATION is the heading of the operation in kebab case; 'list' prints all. The exit status is 0 if the service
    accepts the operation, else 1.
    """
    if operation == LIST:
        for op in OPERATIONS.values():
            print(f"{op.name:42} {op.method:6} {op.path}")
        return 0
    loaded = settings_from_options(setting_values, is_write=True)
    try:
        op = get_operation(operation)
        if all_pages and op.paging is None:
            raise UsageError(f"{op.name} is no list; leave --all out.")
        call = _parse_call(op, query, body, loaded)
    except ContractError as error:
        raise UsageError(str(error)) from error
    if raw and (all_pages or sys.stdout.isatty()):
        raise UsageError("--raw is the answer to one call, into a file or a pipe: a terminal would obey what is in it.")
    if all_pages:
        return asyncio.run(_print_all_rows(op, call, loaded))
    if not yes and not _confirm(op, call):
        print("aisle: nothing was sent.", file=sys.stderr)
        return 1
    return asyncio.run(_send_call(op, call, loaded, key, raw=raw))


def _parse_call(op: Operation, query: Sequence[str], body: str | None, loaded: LoadedSettings) -> ApiCall:
    values = dict(_parse_pair(text) for text in query)
    locations = {param.name: param.where for param in op.params}
    if locations.get("store_number") == "path" or (
        loaded.command_line_values.get("store") and "store_number" in locations
    ):
        values.setdefault("store_number", loaded.settings.store)
    call = ApiCall({}, {}, {}, _read_body(op, body))
    for name, value in values.items():
        where = locations.get(name, "query")  # the encoder rejects an unknown name and suggests the most similar one
        {"path": call.path, "query": call.query, "header": call.headers}[where][name] = value
    for param in op.params:
        if param.required and param.name not in values:
            raise UsageError(f"{op.name} needs {param.name}: --query {param.name}=…")
    build_path(op, call.path)
    encode_query(op, call.query)
    encode_headers(op, call.headers)
    return call


def _parse_pair(text: str) -> tuple[str, str]:
    name, found, value = text.partition("=")
    if not found or not name:
        raise UsageError(f"--query {text!r} has to look like name=value.")
    return name, value


def _read_body(op: Operation, source: str | None) -> bytes | None:
    if source is None:
        if op.name in _BODY_OPTIONAL:
            return b"{}"
        if op.body is not None and op.write and op.method != "DELETE":
            raise UsageError(f"{op.name} needs a body: --body FILE, or --body - for standard input.")
        return None
    if op.body is None:
        raise UsageError(f"{op.name} has no body; leave --body out.")
    try:
        if source == "-":
            content = sys.stdin.buffer.read()
        else:
            with open(source, "rb") as stream:
                content = stream.read()
        json.loads(content)
    except OSError as error:
        raise UsageError(f"The body {source} cannot be read: {error.strerror}.") from error
    except RecursionError:
        raise UsageError(f"The body {source} is nested too deeply. Look for brackets that are not closed.") from None
    except ValueError as error:
        raise UsageError(f"The body {source} is not JSON that can be sent: {error}.") from error
    return content


def _confirm(op: Operation, call: ApiCall) -> bool:
    flush = call.query.get("flush", "").casefold() == "true"
    if not flush and op.name not in DANGEROUS_OPERATIONS:
        return True
    if not sys.stdin.isatty():
        raise UsageError(f"{op.name} can delete or change a great deal. Say --yes to run it from a script.")
    warning = "deletes what the stores in the request have before inserting" if flush else "cannot be taken back"
    print(f"{op.name} {warning}. Type the operation's name to go on: ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip() == op.name


async def _print_all_rows(op: Operation, call: ApiCall, loaded: LoadedSettings) -> int:
    """Print every row of a list as one JSON object per line, page by page."""
    # Only these lists have row ids with the name that from_id expects; page_start requests pages.
    by_id = op.name in _PAGED_BY_ID and "page_start" not in call.query
    # The list of stores has no parameter for the store of the command line.
    store = loaded.settings.store if op.name == "list-stores" and loaded.command_line_values.get("store") else ""
    is_empty = True
    async with service_client(loaded) as client:
        pages = client.pages(
            op.name,
            path=call.path,
            query=call.query,
            headers=call.headers,
            by="id" if by_id else "page",
            scroll=op.paging == "envelope",
        )
        async for rows, _ in pages:
            rows = [row for row in rows if not store or row.get("storeNo") == store]
            for row in rows:
                print_json_rows([row])
            sys.stdout.flush()
            is_empty = is_empty and not rows
    if is_empty:
        shown = call._replace(query=call.query | {"store_number": store}) if store else call
        print(f"aisle: {op.name} has no rows{_describe_filters(shown)}.", file=sys.stderr)
    return 0


def _describe_filters(call: ApiCall) -> str:
    """Return what restricts a list, as ` with name value`; empty if nothing does."""
    filters = {name: value for name, value in (call.path | call.query).items() if not name.startswith("page_")}
    return f" with {', '.join(f'{clean(name)} {clean(value)}' for name, value in filters.items())}" if filters else ""


async def _send_call(op: Operation, call: ApiCall, loaded: LoadedSettings, key: str | None, *, raw: bool) -> int:
    headers = dict(call.headers)
    if op.write:
        headers["Idempotency-Key"] = f'"{key or new_id()}"'
    async with service_client(loaded) as client:
        answer = await client.request(op.name, path=call.path, query=call.query, headers=headers, body=call.body)
    if raw:
        sys.stdout.buffer.write(answer.content)
        sys.stdout.flush()
    else:
        _print_json(answer)
    if _is_array(answer) if op.result_array else outcome_of(answer) is Outcome.ACCEPTED:
        return 0
    print(f"aisle: {status_error(op.name, answer, None)}", file=sys.stderr)
    return 1


def _is_array(response: Response) -> bool:
    """Return True if the response is a bare array, as some reads return it."""
    try:
        return response.is_success and isinstance(response.json(), list)
    except (ValueError, RecursionError):
        return False


_MOST_INDENTED = 16 << 20
"""Maximum number of characters of indented JSON. Deep lists take many times as much as they had."""


def _to_json(value: object) -> str:
    """Return JSON, indented unless that takes too much memory.

    Raise ValueError for a number beyond a float.
    """
    text, size, ascii_only = StringIO(), 0, sys.stdout.isatty()
    for part in json.JSONEncoder(ensure_ascii=ascii_only, indent=2, allow_nan=False).iterencode(value):
        size += len(part)
        if size > _MOST_INDENTED:
            return json.dumps(value, ensure_ascii=ascii_only, allow_nan=False)
        text.write(part)
    return text.getvalue()


def _print_json(answer: Response) -> None:
    """Print a response as indented JSON; the first characters of one that is none, or too long."""
    try:
        text = _to_json(answer.json())
    except (ValueError, RecursionError):
        text = "\n".join(clean(line) for line in answer.content.decode(errors="replace").split("\n"))
    write_json(text)
