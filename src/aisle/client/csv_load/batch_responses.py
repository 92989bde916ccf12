"""Responses of the service to a batch: what it did, and refusals in the words of the file.

At the end of a load, the service is asked for its keys: a restore meanwhile has lost some, and other loads have theirs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal

from aisle.client.client import Client
from aisle.client.csv_load.describe_record_differences import value_text
from aisle.client.csv_load.file_layouts_and_columns import DELIVERIES, ORDERS
from aisle.client.csv_load.records import Record
from aisle.client.csv_load.report import BadRow, FileNotes, Meanwhile
from aisle.client.csv_load.service_reads import store_numbers
from aisle.client.csv_load.store_time_zones import read_zone
from aisle.client.errors import ClientError, Forbidden, InvalidResponse, NotFound, status_error
from aisle.client.response_and_json_limits import Response, to_int64
from aisle.contract.request_encoding import encode_segment


def record_counts(response: Response) -> dict[str, int]:
    """Return how many records were new, changed and the same before; none if the service does not say."""
    found = _RECORD_COUNTS.findall(response.headers.get("aisle-records", ""))
    return {name: int(count) for name, count in found}


async def note_changes(response: Response, notes: FileNotes, client: Client) -> None:
    """Note the fields of which the service says that a batch changes them; none if it does not say.

    Fields that the service derives from others are left out.
    """
    with suppress(ValueError, TypeError, AttributeError):
        for name, (count, store, key, *values) in json.loads(response.headers.get("aisle-changes", "{}")).items():
            if name in _DERIVED_FIELDS:
                continue
            zone = await read_zone(client, store) if any(value.endswith("Z") for value in values) else None
            before, after = (value_text(value, zone) for value in values)
            of = key if store == _CHAIN else f"{key} in store {store}"
            notes.add_field_change(name, count, f"{before} before, {after} now, of {of}")


_CHAIN = "*"
_DERIVED_FIELDS = frozenset({"original_min", "original_max", "last_minmax_updatedby", "last_expiry_updatedby"})
_RECORD_COUNTS = re.compile(r"\b(new|changed|same)=(\d+)", re.ASCII)


def is_replayed(response: Response) -> bool:
    """Return True if the service repeats an earlier response to the same key."""
    return response.headers.get("idempotency-replayed") == "true"


def was_carried_out(response: Response) -> bool:
    """Return True if the service knows the key but no longer its response: the batch was loaded long ago."""
    if response.status != 409:
        return False
    try:
        return bool(response.json()["errors"][0]["field"] == "Idempotency-Key")
    except (ValueError, LookupError, TypeError, RecursionError):
        return False


def refused_row(file: str, record: Record, reason: str, field: str = "", line_index: int = 0) -> BadRow:
    """Return the row of a record that the service refuses; `field` or the index of a line say which of its rows."""
    rows = f" with its {record.rows} rows" if record.rows > 1 else ""
    explained = reason
    if EXISTS_DIFFERENTLY.search(reason) and file in ADVICE:
        explained = f"{reason.partition('; change it')[0].rstrip('.').removeprefix('order_number: ')}.{ADVICE[file]}"
    of_line = record.line_rows[line_index] if line_index < len(record.line_rows) else record.line
    line = record.field_rows.get(field, of_line)
    return BadRow(
        file, line, f"the service refused {record.description}{rows}: {explained}", _refusal_kind(record, explained)
    )


def with_column_names(message: str, array: str, lines_field: str = "") -> str:
    """Return the service's message with the columns' names in place of the body's fields.

    `lines_field` is the array whose entries are rows of the file, which the report names.
    """
    for name in filter(None, (array, lines_field)):
        message = re.sub(rf"\b{re.escape(name)}\[\d+\]\.(?=\w)", "", message)
    message = re.sub(r"\b(\w+)\[(\d+)\]\.(\w+)", _describe_place, message)
    message = re.sub(rf"^{re.escape(array)}\[\d+\]: ", "", message)
    message = _NO_WHOLE_NUMBER.sub(r"\g<0> (where parts of one are sold, set allow_decimal of the product)", message)
    return POOL_FIELD.sub("quantity", message)


def _describe_place(found: re.Match[str]) -> str:
    """Return the place of a field of an object in a cell."""
    return f"{found[3]} of object {int(found[2]) + 1} in {found[1]}"


def _refusal_kind(record: Record, reason: str) -> str:
    """Return what rows refused for the same reason have in common: the reason without this record's own values."""
    objects = [one for value in record.body.values() if isinstance(value, list) for one in value]
    parts = [one for one in objects if isinstance(one, dict)]
    values = (value for part in (record.body, *parts) for name, value in part.items() if name != "store_number")
    own = {str(value) for value in values if isinstance(value, str | int | Decimal)}
    for value in sorted(own - {""}, key=len, reverse=True):
        reason = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", "…", reason)
    return f"the service refused it: {reason}"


_NO_WHOLE_NUMBER = re.compile(r"\b(?:quantity|stock_pool_\d+|counted_quantity): [\d.]+ is not a whole number(?=\.)")
POOL_FIELD = re.compile(r"\b(?:stock_pool_\d+|counted_quantity)\b(?=:)")
LINE_INDEX = re.compile(r"\b\w+\[\d+\]\.(?:order_lines|free_fields)\[(\d+)\]")
"""Index of a line of a record, in the field that a refusal names."""
EXISTS_DIFFERENTLY = re.compile(r"exists with another content", re.IGNORECASE)
ADVICE = {
    ORDERS.file: " A load changes no order that is there: have a supervisor reject it in aisle, and load the right one"
    " under another order_number; what is only to be added can be an order of its own.",
    DELIVERIES.file: " A load changes no delivery that is there: load what comes beside it as a delivery of its own,"
    " under another order_number; what does not come is not received.",
}
"""Advice for a person if a record exists with other values."""
AT_ONCE = 200
"""Number of keys in one request."""
_FEATURES, _KNOWS_KEYS = "aisle-features", "known-keys"


class Confirmed:
    """Keys under which batches were carried out, by the store for which they are kept."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._keys: dict[str, dict[str, str]] = {}
        """Keys of each store ('' for the chain), with the file that each is for."""

    def keep(self, file: str, store: str, key: str, answer: Response) -> None:
        """Keep the key of a batch that was carried out, if the service can be asked for it."""
        if _KNOWS_KEYS in answer.headers.get(_FEATURES, ""):
            self._keys.setdefault(store, {})[key] = file

    async def ask(self) -> Meanwhile:
        """Return the files of which the service no longer knows all keys or shows no store, and if other loads wrote.

        Raise ClientError.
        """
        found = Meanwhile()
        for store, kept in self._keys.items():
            at = store or await self._any_store()
            if at or len(self._keys) > 1:  # a chain without stores cannot be asked
                found = found.joined(await self._ask_store(at, kept))
        return found

    async def _ask_store(self, store: str, kept: dict[str, str]) -> Meanwhile:
        """Return the same for the keys of one store; '' if the service shows no store any more."""
        if not store:
            return Meanwhile(hidden=tuple(kept.values()))
        keys, found = list(kept), Meanwhile()
        try:
            for first in range(0, len(keys), AT_ONCE):
                unknown, other_loads = await unknown_keys(self._client, store, keys[first : first + AT_ONCE])
                found = found.joined(Meanwhile(tuple(kept[key] for key in unknown), other_loads > 0))
        except (Forbidden, NotFound) as error:
            if store in await store_numbers(self._client):
                return found._replace(unasked=str(error))
            return found._replace(hidden=tuple(kept.values()), hidden_stores=(store,))
        return found

    async def _any_store(self) -> str:
        """Return a store by which keys of the chain can be asked for; empty if there is none."""
        rows, _ = await self._client.first_page("list-stores", query={"page_size": 1})
        return str(rows[0].get("storeNo") or "") if rows else ""


async def unknown_keys(client: Client, store: str, keys: Sequence[str]) -> tuple[list[str], int]:
    """Return those of the keys that the service does not know, and the number of loads that wrote since theirs."""
    path = f"/aisle/v1/stores/{encode_segment(store)}/keys"
    response = await client.request_extension("GET", path, query={"keys": ",".join(keys)})
    if not response.is_success:
        raise status_error("list-unknown-keys", response)
    try:
        answer = response.json()
        unknown = {str(key) for key in answer["unknown"]}
        other_loads = to_int64(answer.get("other_loads")) or 0
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InvalidResponse("The answer to list-unknown-keys holds no keys.") from error
    return [key for key in keys if key in unknown], other_loads


async def ask_meanwhile(confirmed: Confirmed) -> Meanwhile:
    """Return what happened at the service during the load, or why that could not be asked."""
    try:
        return await confirmed.ask()
    except ClientError as error:
        return Meanwhile(unasked=str(error))
