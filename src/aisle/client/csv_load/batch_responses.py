"""Responses of the service to a batch: what it did, refusals in words of the file, and how records differ.

At the end of a load, the service is asked for its keys: a restore meanwhile has lost some, and other loads have theirs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import tzinfo
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from aisle.client.client import Client
from aisle.client.csv_load.file_layouts_and_columns import DELIVERIES, ORDERS
from aisle.client.csv_load.records import Record
from aisle.client.csv_load.report import REASON_LENGTH, BadRow, FileNotes, Meanwhile
from aisle.client.csv_load.service_reads import moment_of, read_zone, store_numbers
from aisle.client.responses_and_errors import (
    ClientError,
    Forbidden,
    InvalidResponse,
    NotFound,
    Response,
    status_error,
    to_int64,
)
from aisle.contract.request_encoding import encode_segment
from aisle.terminal_text import ELLIPSIS


def record_counts(response: Response) -> dict[str, int]:
    """Return how many records were new, changed and the same before; none if the service does not say."""
    found = _RECORD_COUNTS.findall(response.headers.get("aisle-records", ""))
    return {name: int(count) for name, count in found}


async def note_changes(response: Response, notes: FileNotes, client: Client) -> None:
    """Note the fields of which the service says that a batch changes them; none if it does not say.

    Fields that the service derives from others are left out.
    """
    with suppress(ValueError, TypeError, AttributeError):
        for name, (count, *first) in json.loads(response.headers.get("aisle-changes", "{}")).items():
            if name in _DERIVED_FIELDS:
                continue
            if not first:
                notes.add_field_change(name, count, "")
                continue
            store, key, *values = first
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


_LISTED_NAMES = {
    "order_comment": "comment",
    "order_type": "order_type_code",
    "ordering_datetime": "next_ordering_datetime",
}
"""Fields that a list shows under another name."""
_PICKED = ("is_picked", "picked_quantity")
_OF_WORK = (*_PICKED, "is_active", "is_rejected", "status_id", "full_fillment_status")
"""Fields that work on an order changes; they are named only if nothing else differs."""
_WITHOUT_DEFAULT = (
    *("customer_city", "customer_country", "customer_email", "customer_name", "customer_number", "customer_phone"),
    *("customer_street", "customer_zipcode", "delivery_city", "delivery_country", "delivery_street"),
    *("delivery_zipcode", "file_name", "order_comment", "reference", "sales_order_id", "order_type_description"),
    *("supplier_code", "supplier_name", "tracing_url", "reason_code", "store_origin", "datetime_expected"),
)
_WITHOUT_DEFAULT_OF_LINE = (
    *("delivery_date", "ordering_datetime", "reference", "preferred_location_code", "container_barcode"),
    *("customer_order_number", "customer_order_line_number", "purchase_price", "secondary_order_number", "pickup_date"),
    *("secondary_order_line_number", "target_stock_pool", "price", "picking_stock_pool_array"),
    "is_picked_from_warehouse",
)
"""Fields that the service has only if they were sent; otherwise they are missing, 0 or an empty list."""


class Difference(NamedTuple):
    """Difference in words; `values` are that of the service and that of the file, if both have the field."""

    what: str
    values: tuple[str, str] | None = None
    is_of_work: bool = False
    """True of a field that work on an order changes."""

    def text(self, width: int) -> str:
        """Return the difference as text, each value in at most so many characters."""
        if self.values is None:
            return self.what
        there, mine = self.values
        if max(len(there), len(mine)) > width:
            same = next((at for at, (one, other) in enumerate(zip(there, mine, strict=False)) if one != other), 0)
            begin = max(0, same - width // 2)
            there, mine = (_shorten(value, begin, width) for value in self.values)
        return f"{self.what} {there} there and {mine} in the file"


def _shorten(value: str, begin: int, width: int) -> str:
    before = ELLIPSIS if begin else ""
    rest = value[begin:]
    is_whole = len(before) + len(rest) <= width
    return before + (rest if is_whole else rest[: width - len(before) - 1] + ELLIPSIS)


_WIDTHS = (REASON_LENGTH, 80, 40, 24, 12)
"""Characters of a value, from which the first is taken with which the list is short enough."""


def with_differences(reason: str, differences: Sequence[Difference]) -> str:
    """Return a reason with what differs, so short that the report cuts nothing: first values, then the list."""
    begin = f"{reason} What differs: "
    room = REASON_LENGTH - len(begin) - 1
    for width in _WIDTHS:
        listed = "; ".join(one.text(width) for one in differences)
        if len(listed) <= room:
            return f"{begin}{listed}."
    for count in range(len(differences) - 1, 0, -1):
        listed = "; ".join(one.text(_WIDTHS[-1]) for one in differences[:count])
        listed += f"; and {len(differences) - count} more"
        if len(listed) <= room:
            break
    return f"{begin}{listed}."


def describe_differences(
    mine: Mapping[str, Any], its: Mapping[str, Any], noun: str, zone: tzinfo | None = None
) -> list[Difference]:
    """Return what the record of the service has otherwise than that of the file: every field with both values.

    Only fields that the file names are compared, and those of work only if no others differ. `noun` is what the record
    is, an order or a delivery; `zone` is that of times without one. If nothing listed differs, fields are named that
    the service does not list.
    """
    if found := listed_differences(mine, its, noun, zone):
        return found
    lines, known = _numbered_lines(mine), _numbered_lines(its)
    names = [*_unlisted(mine, its), *(name for at in lines for name in _unlisted(lines[at], known[at]))]
    unlisted = ", ".join(dict.fromkeys(names))
    return [Difference(f"perhaps {unlisted}, which the service does not list")] if unlisted else []


def listed_differences(
    mine: Mapping[str, Any], its: Mapping[str, Any], noun: str, zone: tzinfo | None = None
) -> list[Difference]:
    """Return what differs of what the service lists."""
    mine = _without_overruled_work(mine)
    lines, known = _numbered_lines(mine), _numbered_lines(its)
    for is_of_work in (False, True):
        found = [*_differences(mine, its, "{} is", zone, of_work=is_of_work)]
        for number in lines:
            if number in known:
                words = f"line {number} has {{}}"
                found += _differences(lines[number], known[number], words, zone, of_work=is_of_work)
        found += [Difference(f"the {noun} has no line {number} there") for number in lines if number not in known]
        found += [Difference(f"line {number} there is not in the file") for number in known if number not in lines]
        if found:
            return found
    return []


def _without_overruled_work(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return an order without what its other fields overrule: flags that its quantities set, and work if rejected."""
    lines, of_order = _lines_of(body), body.get("is_picked")
    if body.get("is_rejected"):
        return _without(body, "is_picked") | {"order_lines": [_without(one, *_PICKED) for one in lines]}
    is_picked = all(_is_picked_whole(one) or one.get("is_picked", of_order) for one in lines)
    kept = [one if one.get("is_picked") or not _is_picked_whole(one) else _without(one, "is_picked") for one in lines]
    return (dict(body) if is_picked is of_order else _without(body, "is_picked")) | {"order_lines": kept}


def _is_picked_whole(line: Mapping[str, Any]) -> bool:
    return bool(line.get("picked_quantity", 0) >= line.get("quantity", 0))


def _without(body: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name not in names}


def _numbered_lines(body: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {_number(line): line for line in _lines_of(body)}


def _differences(
    mine: Mapping[str, Any], its: Mapping[str, Any], words: str, zone: tzinfo | None, *, of_work: bool
) -> Iterator[Difference]:
    """Yield the fields that differ: of work, or the others."""
    for name, value in mine.items():
        other = _listed_value(its, name)
        if name in _NOT_COMPARED or (name in _OF_WORK) != of_work or (other is None and name not in _SENT_ONLY):
            continue
        if not _is_same(value, other, zone):
            yield Difference(words.format(name), (value_text(other, zone), value_text(value, zone)), of_work)


def _unlisted(mine: Mapping[str, Any], its: Mapping[str, Any]) -> Iterator[str]:
    """Yield the fields with a value that cannot be compared, because the service does not list them."""
    for name, value in mine.items():
        is_comparable = name in _NOT_COMPARED or name in _SENT_ONLY or value in (None, "", [])
        if not is_comparable and _listed_value(its, name) is None:
            yield name


def _listed_value(its: Mapping[str, Any], name: str) -> Any:
    listed = {**its, **(its.get("aisle") or {})}
    return listed.get(name, listed.get(_LISTED_NAMES.get(name, name)))


_SENT_ONLY = frozenset((*_WITHOUT_DEFAULT, *_WITHOUT_DEFAULT_OF_LINE))
_NOT_COMPARED = ("order_lines", "lines", "order_number", "store_number", "line_number")


def _lines_of(body: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the lines of an order or delivery, as it is sent or listed."""
    return [line for line in body.get("order_lines") or body.get("lines") or () if isinstance(line, Mapping)]


def _number(line: Mapping[str, Any]) -> str:
    number = line.get("line_number")
    return f"{number:f}" if isinstance(number, Decimal) else str(number)


def value_text(value: object, zone: tzinfo | None = None) -> str:
    """Return a value for a person; a time as the clocks of its store show it."""
    if value in (None, "", []):
        return "empty"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "|".join(map(str, value))
    if isinstance(value, str) and value.endswith("Z") and (moment := moment_of(value, zone)):
        return f"{moment.astimezone(zone):%Y-%m-%d %H:%M}"
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def _is_same(value: object, other: object, zone: tzinfo | None) -> bool:
    if value is False and other is None:
        return True
    if isinstance(value, list | bool) or isinstance(other, bool):
        return value_text(value) == value_text(other)
    if str(value) == str(other if other is not None else ""):
        return True
    try:
        is_code = isinstance(value, str) and isinstance(other, str)  # zeros before a code are part of it
        return Decimal(str(value)) == Decimal(str(other)) and not is_code
    except InvalidOperation:
        first = moment_of(value, zone)
        return first is not None and first == moment_of(other, zone)
