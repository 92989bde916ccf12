"""Parameters in the OpenAPI document: description, schema, and an example that exists in the demo store."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from pydantic.json_schema import JsonSchemaValue as Schema

from aisle.contract.operations import Param
from aisle.service.domain.quantities import INT64_LIMIT
from aisle.service.http.request_parsing import (
    CLOCK_SKEW_PATTERN,
    CONFIRMED_KEYS_PATTERN,
    KEY_PATTERN,
    MAX_PAGE_NUMBER,
    REPLAY_PATTERN,
    VERSIONS_PATTERN,
)
from aisle.service.rate_limits import MAX_CODE_LENGTH

TIME_SCHEMA: Schema = {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "string", "format": "date"}]}
"""Schema of a time, or of a date, which means the start of the day."""

_TEXT_SCHEMA: Schema = {"type": "string"}
_BOOLEAN_SCHEMA: Schema = {"type": "boolean"}
_INTEGER_SCHEMA: Schema = {"type": "integer", "minimum": -INT64_LIMIT, "maximum": INT64_LIMIT}
_PAGE_SIZE_SCHEMA: Schema = {"type": "integer", "minimum": 1, "maximum": INT64_LIMIT}
_OPTIONAL_TIME_SCHEMA: Schema = {"anyOf": [*TIME_SCHEMA["anyOf"], {"type": "string", "maxLength": 0}]}
_PAGE_SIZE_TEXT_SCHEMA: Schema = {"type": "string", "pattern": "^([1-9][0-9]{0,9})?$"}
_PATH_SEGMENT_SCHEMA: Schema = {
    "type": "string",
    "minLength": 1,
    "maxLength": MAX_CODE_LENGTH,
    "not": {"enum": [".", ".."]},
}
_SCHEMA_OF_TYPE: dict[str, Schema] = {
    "string": _TEXT_SCHEMA,
    "number": _INTEGER_SCHEMA,
    "boolean": _BOOLEAN_SCHEMA,
}


class ParameterText(NamedTuple):
    """Description of a parameter, beside its name and type."""

    text: str
    example: Any = None
    schema: Schema | None = None


_PAGE = ParameterText("The page, counted from 1.", 1, {**_PAGE_SIZE_SCHEMA, "maximum": MAX_PAGE_NUMBER})
_FROM = ParameterText("Ids from here upwards; who goes on from the last id plus one misses nothing.", 1)
_TO = ParameterText("Ids up to here.", 9_000_000_000_000)
_SHIPMENT = ParameterText("The shipment that brought goods for a customer order.", "SH-1")
_USER = ParameterText("Who does it, where the body does not say.", "U1")

PARAMETER_TEXTS: dict[str, ParameterText] = {
    "store_number": ParameterText("The number of the store.", "0001"),
    "product_number": ParameterText("The number of the product.", "110001"),
    "location_code": ParameterText("The code of the place. One segment: a slash in it travels as %2F.", "A-01-1"),
    "page_start": _PAGE,
    "page_number": _PAGE,
    "page_size": ParameterText("Rows of a page; more than 1,000 are answered as 1,000.", 100, _PAGE_SIZE_SCHEMA),
    "scroll_id": ParameterText("The page behind the one that told this; good for the same filters only."),
    "from_id": _FROM,
    "to_id": _TO,
    "fulfillment_status": ParameterText(
        "open, partial, picked, rejected or finished; any other word finds orders with a line of that status.", "open"
    ),
    "include_locations": ParameterText("Also tells the places.", True),
    "is_active": ParameterText("Orders: false also tells finished ones. Products: whether they are sold.", True),
    "is_picked": ParameterText("Only what is picked, or what is not.", False),
    "order_number": ParameterText("The one order with this number.", "4101"),
    "pickup_offset": ParameterText("Orders that are due up to today plus so many days, and those without a date.", 7),
    "reference": ParameterText("What carries this reference.", "W58000"),
    "search_text": ParameterText(
        "All its words, anywhere in names, numbers and barcodes; case, accents and punctuation do not matter.", "müsli"
    ),
    "show_lines": ParameterText("Also tells the lines.", True),
    "flush": ParameterText("Before it, takes away what the stores that are named have. Needs an admin's token.", False),
    "location_code_tag": ParameterText(
        "Places with this tag are cleared.", "shelf", {"type": "string", "minLength": 1}
    ),
    "article_no": ParameterText("The number of the product.", "110001"),
    "article_number": ParameterText("The number of the product.", "110001"),
    "barcode": ParameterText(
        "A barcode of the product, in any of its forms: with zeros before it, as UPC-E, with an add-on.",
        "9520001100017",
    ),
    "category_code": ParameterText("The category of the product.", "110"),
    "parent_category_code": ParameterText("The category above the product's.", "100"),
    "exclude_customer_order_stock": ParameterText("Leaves out what is reserved for customer orders.", True),
    "ignore_customerorder_stock": ParameterText("Leaves out what is held for customer orders.", True),
    "include_zero_lines": ParameterText("Also tells places and pools where there is none.", True),
    "last_modified_date": ParameterText("Changed at this moment or later.", "2026-01-31", _OPTIONAL_TIME_SCHEMA),
    "to_modified_date": ParameterText("Changed on this day or before.", "2099-12-31", _OPTIONAL_TIME_SCHEMA),
    "last_stock_modified_datetime": ParameterText(
        "Stock changed at this moment or later.", "2026-01-31T08:00:00Z", _OPTIONAL_TIME_SCHEMA
    ),
    "delivery_date": ParameterText("The day on which it is expected.", "2026-01-31", _OPTIONAL_TIME_SCHEMA),
    "group_code": ParameterText("A line's group of products.", "110"),
    "status": ParameterText("open, partial or received.", "open"),
    "supplier_code": ParameterText("The supplier's code.", "S1"),
    "supplier_name": ParameterText("Part of the supplier's name.", "mill"),
    "is_submitted": ParameterText("Whether all of it was received.", False),
    "container_override": ParameterText("Replaces a delivery of the same number of which nothing was received.", True),
    "receipt_type": ParameterText("The order type of the delivery: 1 where nobody said another.", 1),
    "accept_language": ParameterText("The language of product names.", "nl"),
    "Accept-Language": ParameterText("The language of product names.", "nl"),
    "app_username": ParameterText("Who asks; it stands in the access log.", "U1"),
    "advance_search": ParameterText("Looks through all that the catalogue says of a product.", True),
    "customer_order_number": ParameterText("Goods that are held for this order.", "4101"),
    "customer_order_shipment_number": _SHIPMENT,
    "is_historic": ParameterText("Also tells entries of months that ended more than 90 days ago.", True),
    "is_reviewed": ParameterText("Only entries that were reviewed.", True),
    "reason_code": ParameterText("Entries with this reason.", 1),
    "review_status": ParameterText("0 nothing to review, 1 to review, 2 reviewed.", 1),
    "appUserName": _USER,
    "AppUserName": _USER,
    "is_counted_quantity": ParameterText("The quantities are counted values.", True),
    "is_from_receipt": ParameterText("The entries come from a receipt.", False),
    "is_warehouse": ParameterText("Only warehouses, or only shops.", False),
    "secondary_key": ParameterText("The store's GLN.", "8712345000017"),
    "since": ParameterText(
        "The cursor of the last answer; without it the answer is the newest cursor alone.",
        0,
        {**_INTEGER_SCHEMA, "minimum": 0},
    ),
    "mark": ParameterText("What the last answer said beside its cursor.", ""),
    "known": ParameterText("Up to 50 keys that were confirmed last, with commas between them.", ""),
    "keys": ParameterText("Up to 200 keys, with commas between them.", ""),
    "state": ParameterText(
        "Only those of this state, or all.",
        "open",
        {"type": "string", "enum": ["open", "counted", "withdrawn", "all", ""]},
    ),
    "id": ParameterText("The id of the entry, as its list tells it.", 1),
    "after": ParameterText("Behind the one with this id.", 0),
    "limit": ParameterText("At most so many.", 500, {"type": "integer", "minimum": 1, "maximum": 1000}),
}

_EXTENSION_TEXT = "Extension of this service; need not be sent."
WRITE_HEADERS: tuple[Schema, ...] = (
    {
        "name": "Idempotency-Key",
        "in": "header",
        "description": f"{_EXTENSION_TEXT} The same request under the same key is carried out once"
        " (for as many days as `Aisle-Features` says).",
        "schema": {"type": "string", "pattern": f"^{KEY_PATTERN}$"},
    },
    {
        "name": "Aisle-Occurred-At",
        "in": "header",
        "description": f"{_EXTENSION_TEXT} When it happened; held between a week ago and now.",
        "schema": TIME_SCHEMA,
    },
    {
        "name": "Aisle-Clock-Ahead",
        "in": "header",
        "description": f"{_EXTENSION_TEXT} Seconds that the clock is ahead of the service's by which that, and the"
        " moments of log entries, are said.",
        "schema": {"type": "string", "pattern": rf"^{CLOCK_SKEW_PATTERN}$"},
        "example": "-20.5",
    },
    {
        "name": "Aisle-Follows",
        "in": "header",
        "description": f"{_EXTENSION_TEXT} Keys that were confirmed before; 425 where the service has lost one of"
        " them.",
        "schema": {"type": "string", "pattern": rf"^{CONFIRMED_KEYS_PATTERN}$"},
    },
    {
        "name": "Aisle-Replay",
        "in": "header",
        "description": f"{_EXTENSION_TEXT} It was confirmed before the service was put back from an earlier"
        " copy: `all`, or what of its picks found no room then, by line.",
        "schema": {"type": "string", "pattern": rf"^({REPLAY_PATTERN})$"},
        "example": "all",
    },
    {
        "name": "Aisle-App-User",
        "in": "header",
        "description": f"{_EXTENSION_TEXT} Who did it, where the interface has no field for it.",
        "schema": {"type": "string"},
    },
)
"""Headers of every write, beside the document's parameters."""

IF_MATCH_HEADER: Schema = {
    "name": "If-Match",
    "in": "header",
    "description": f"{_EXTENSION_TEXT} The version that the order has to be at (its ETag), else 412.",
    "schema": {"type": "string", "pattern": rf"^{VERSIONS_PATTERN}$"},
    "example": '"1"',
}
TERMINAL_HEADER: Schema = {
    "name": "Aisle-Terminal",
    "in": "header",
    "description": f"{_EXTENSION_TEXT} At which terminal an order is claimed.",
    "schema": {"type": "string"},
}


def parameter_objects(params: Iterable[Param], assumed: str = "") -> list[Schema]:
    """Return the parameters of an operation. `assumed` is the note on those that the document does not have."""
    return [_parameter_object(param, assumed) for param in params]


def _parameter_object(param: Param, assumed: str) -> Schema:
    note = PARAMETER_TEXTS.get(param.name, ParameterText(""))
    schema = dict(_PATH_SEGMENT_SCHEMA if param.where == "path" else note.schema or _SCHEMA_OF_TYPE[param.type])
    if param.type == "string" and param.name in ("page_size", "page_start"):
        schema = dict(_PAGE_SIZE_TEXT_SCHEMA)
    if param.max_length:
        schema["maxLength"] = param.max_length
    text = f"{note.text} {assumed}".strip() if param.assumed else note.text
    entry: Schema = {
        "name": param.name,
        "in": param.where,
        "required": param.required,
        "description": text,
        "schema": schema,
    }
    if note.example is not None:
        entry["example"] = str(note.example) if schema.get("type") == "string" else note.example
    if param.assumed:
        entry["x-assumed"] = True
    return entry
