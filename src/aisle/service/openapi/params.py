"""Parameters as the OpenAPI page shows them: what each means, what it takes, and a value that the demo store knows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from aisle.contract.operation import Param
from aisle.service.amounts import LARGEST
from aisle.service.limits import LONGEST_CODE
from aisle.service.request import (
    AHEAD_PATTERN,
    FOLLOWS_PATTERN,
    KEY_PATTERN,
    LARGEST_PAGE,
    REPLAY_PATTERN,
    VERSIONS_PATTERN,
)
from aisle.tuples import NamedTuple

Schema = dict[str, Any]

TIME: Schema = {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "string", "format": "date"}]}
"""A moment, or the beginning of a day (UTC)."""

_TEXT: Schema = {"type": "string"}
_FLAG: Schema = {"type": "boolean"}
_WHOLE: Schema = {"type": "integer", "minimum": -LARGEST, "maximum": LARGEST}
_SIZE: Schema = {"type": "integer", "minimum": 1, "maximum": LARGEST}
_SAID_TIME: Schema = {"anyOf": [*TIME["anyOf"], {"type": "string", "maxLength": 0}]}
_SIZE_TEXT: Schema = {"type": "string", "pattern": "^([1-9][0-9]{0,9})?$"}
_SEGMENT: Schema = {"type": "string", "minLength": 1, "maxLength": LONGEST_CODE, "not": {"enum": [".", ".."]}}
_TYPES: dict[str, Schema] = {"string": _TEXT, "number": _WHOLE, "boolean": _FLAG}


class Note(NamedTuple):
    """What is said of a parameter beyond its name and type."""

    text: str
    example: Any = None
    schema: Schema | None = None


_PAGE = Note("The page, counted from 1.", 1, {**_SIZE, "maximum": LARGEST_PAGE})
_FROM = Note("Ids from here upwards; who goes on from the last id plus one misses nothing.", 1)
_TO = Note("Ids up to here.", 9_000_000_000_000)
_SHIPMENT = Note("The shipment that brought goods for a customer order.", "SH-1")
_USER = Note("Who does it, where the body does not say.", "U1")

NOTES: dict[str, Note] = {
    "store_number": Note("The number of the store.", "0001"),
    "product_number": Note("The number of the product.", "110001"),
    "location_code": Note("The code of the place. One segment: a slash in it travels as %2F.", "A-01-1"),
    "page_start": _PAGE,
    "page_number": _PAGE,
    "page_size": Note("Rows of a page; more than 1,000 are answered as 1,000.", 100, _SIZE),
    "scroll_id": Note("The page behind the one that told this; good for the same filters only."),
    "from_id": _FROM,
    "to_id": _TO,
    "fulfillment_status": Note(
        "open, partial, picked, rejected or finished; any other word finds orders with a line of that status.", "open"
    ),
    "include_locations": Note("Also tells the places.", True),
    "is_active": Note("Orders: false also tells finished ones. Products: whether they are sold.", True),
    "is_picked": Note("Only what is picked, or what is not.", False),
    "order_number": Note("The one order with this number.", "4101"),
    "pickup_offset": Note("Orders that are due up to today plus so many days, and those without a date.", 7),
    "reference": Note("What carries this reference.", "W58000"),
    "search_text": Note(
        "All its words, anywhere in names, numbers and barcodes; case, accents and punctuation do not matter.", "müsli"
    ),
    "show_lines": Note("Also tells the lines.", True),
    "flush": Note("Before it, takes away what the stores that are named have. Needs an admin's token.", False),
    "location_code_tag": Note("Places with this tag are cleared.", "shelf", {"type": "string", "minLength": 1}),
    "article_no": Note("The number of the product.", "110001"),
    "article_number": Note("The number of the product.", "110001"),
    "barcode": Note(
        "A barcode of the product, in any of its forms: with zeros before it, as UPC-E, with an add-on.",
        "9520001100017",
    ),
    "category_code": Note("The category of the product.", "110"),
    "parent_category_code": Note("The category above the product's.", "100"),
    "exclude_customer_order_stock": Note("Leaves out what is reserved for customer orders.", True),
    "ignore_customerorder_stock": Note("Leaves out what is held for customer orders.", True),
    "include_zero_lines": Note("Also tells places and pools where there is none.", True),
    "last_modified_date": Note("Changed at this moment or later.", "2026-01-31", _SAID_TIME),
    "to_modified_date": Note("Changed on this day or before.", "2099-12-31", _SAID_TIME),
    "last_stock_modified_datetime": Note("Stock changed at this moment or later.", "2026-01-31T08:00:00Z", _SAID_TIME),
    "delivery_date": Note("The day on which it is expected.", "2026-01-31", _SAID_TIME),
    "group_code": Note("A line's group of products.", "110"),
    "status": Note("open, partial or received.", "open"),
    "supplier_code": Note("The supplier's code.", "S1"),
    "supplier_name": Note("Part of the supplier's name.", "mill"),
    "is_submitted": Note("Whether all of it was received.", False),
    "container_override": Note("Replaces a delivery of the same number of which nothing was received.", True),
    "receipt_type": Note("The order type of the delivery: 1 where nobody said another.", 1),
    "accept_language": Note("The language of product names.", "nl"),
    "Accept-Language": Note("The language of product names.", "nl"),
    "app_username": Note("Who asks; it stands in the access log.", "U1"),
    "advance_search": Note("Looks through all that the catalogue says of a product.", True),
    "customer_order_number": Note("Goods that are held for this order.", "4101"),
    "customer_order_shipment_number": _SHIPMENT,
    "is_historic": Note("Also tells entries of months that ended more than 90 days ago.", True),
    "is_reviewed": Note("Only entries that were reviewed.", True),
    "reason_code": Note("Entries with this reason.", 1),
    "review_status": Note("0 nothing to review, 1 to review, 2 reviewed.", 1),
    "appUserName": _USER,
    "AppUserName": _USER,
    "is_counted_quantity": Note("The quantities are counted values.", True),
    "is_from_receipt": Note("The entries come from a receipt.", False),
    "is_warehouse": Note("Only warehouses, or only shops.", False),
    "secondary_key": Note("The store's GLN.", "8712345000017"),
    "since": Note(
        "The cursor of the last answer; without it the answer is the newest cursor alone.", 0, {**_WHOLE, "minimum": 0}
    ),
    "mark": Note("What the last answer said beside its cursor.", ""),
    "known": Note("Up to 50 keys that were confirmed last, with commas between them.", ""),
    "keys": Note("Up to 200 keys, with commas between them.", ""),
    "state": Note(
        "Only those of this state, or all.",
        "open",
        {"type": "string", "enum": ["open", "counted", "withdrawn", "all", ""]},
    ),
    "id": Note("The id of the entry, as its list tells it.", 1),
    "after": Note("Behind the one with this id.", 0),
    "limit": Note("At most so many.", 500, {"type": "integer", "minimum": 1, "maximum": 1000}),
}

_EXTENSION = "Extension of this service; need not be sent."
HEADERS: tuple[Schema, ...] = (
    {
        "name": "Idempotency-Key",
        "in": "header",
        "description": f"{_EXTENSION} The same request under the same key is carried out once"
        " (for as many days as `Aisle-Features` says).",
        "schema": {"type": "string", "pattern": f"^{KEY_PATTERN}$"},
    },
    {
        "name": "Aisle-Occurred-At",
        "in": "header",
        "description": f"{_EXTENSION} When it happened; held between a week ago and now.",
        "schema": TIME,
    },
    {
        "name": "Aisle-Clock-Ahead",
        "in": "header",
        "description": f"{_EXTENSION} Seconds that the clock is ahead of the service's by which that, and the moments"
        " of log entries, are said.",
        "schema": {"type": "string", "pattern": rf"^{AHEAD_PATTERN}$"},
        "example": "-20.5",
    },
    {
        "name": "Aisle-Follows",
        "in": "header",
        "description": f"{_EXTENSION} Keys that were confirmed before; 425 where the service has lost one of them.",
        "schema": {"type": "string", "pattern": rf"^{FOLLOWS_PATTERN}$"},
    },
    {
        "name": "Aisle-Replay",
        "in": "header",
        "description": f"{_EXTENSION} It was confirmed before the service was put back from an earlier copy: `all`, or"
        " what of its picks found no room then, by line.",
        "schema": {"type": "string", "pattern": rf"^({REPLAY_PATTERN})$"},
        "example": "all",
    },
    {
        "name": "Aisle-App-User",
        "in": "header",
        "description": f"{_EXTENSION} Who did it, where the interface has no field for it.",
        "schema": {"type": "string"},
    },
)
"""What every write takes beside the document's parameters."""

IF_MATCH: Schema = {
    "name": "If-Match",
    "in": "header",
    "description": f"{_EXTENSION} The version that the order has to be at (its ETag), else 412.",
    "schema": {"type": "string", "pattern": rf"^{VERSIONS_PATTERN}$"},
    "example": '"1"',
}
TERMINAL: Schema = {
    "name": "Aisle-Terminal",
    "in": "header",
    "description": f"{_EXTENSION} At which terminal an order is claimed.",
    "schema": {"type": "string"},
}


def shown(params: Iterable[Param], assumed: str = "") -> list[Schema]:
    """The parameters of an operation; `assumed` is what is said of those that the document does not show."""
    return [_shown(param, assumed) for param in params]


def _shown(param: Param, assumed: str) -> Schema:
    note = NOTES.get(param.name, Note(""))
    schema = dict(_SEGMENT if param.where == "path" else note.schema or _TYPES[param.type])
    if param.type == "string" and param.name in ("page_size", "page_start"):
        schema = dict(_SIZE_TEXT)
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
