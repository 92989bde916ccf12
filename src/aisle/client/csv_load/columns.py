"""Columns of the files: the fields of the interface's create bodies, read from the contract's models.

A cell holds a value, several of them with bars between, or JSON where the interface has objects.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal, InvalidOperation
from types import MappingProxyType
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

from aisle.client.csv_load import cell_cleaning
from aisle.client.csv_load.number_and_date_notation import Notation
from aisle.client.csv_load.number_cells import no_number_reason
from aisle.client.paging import Row
from aisle.contract.request_bodies.deliveries import StoreDeliveryCreate, StoreDeliveryLineCreate
from aisle.contract.request_bodies.orders import CustomerOrderCreate, CustomerOrderLineCreate
from aisle.contract.request_bodies.products import (
    ProductAttributes,
    ProductDiscountPrice,
    ProductFreeFieldCreate,
    ProductPrice,
    ProductWrite,
)
from aisle.contract.request_bodies.store_products_logs_movements import StoreProductCreate
from aisle.contract.request_bodies.stores import StoreCreate

_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?", re.ASCII)
_FLAGS = {"true": True, "1": True, "false": False, "0": False}
Parser = Callable[[str], Any]
REMOVABLE_PRICES = frozenset({"old_price", "discount_price", "promotion_price", "special_price"})
"""Prices that 0 takes away."""


class Column(NamedTuple):
    """Column that a file may have. `parse` raises ValueError with the reason; it is not called for an empty cell.

    `kind` determines how its cells are cleaned before that (`cell_cleaning.CLEANERS`).
    """

    name: str
    parse: Parser
    required: bool = False
    kind: str = cell_cleaning.TEXT

    def empty_value(self, cell: str) -> Any:
        """Return the value that deletes the present one. Raise ValueError if the interface has none."""
        if self.name in REMOVABLE_PRICES:
            return 0
        if self.required:
            raise ValueError(f"is {cell}, but every row needs it")
        if self.kind in (cell_cleaning.LIST, cell_cleaning.NUMBERS, cell_cleaning.JSON):
            return []
        if self.kind in (cell_cleaning.NUMBER, cell_cleaning.MONEY, cell_cleaning.POOL, cell_cleaning.FLAG):
            raise ValueError(f"is {cell}, and a figure or flag cannot be emptied; write the value that it is to have")
        return ""


class FileLayout(NamedTuple):
    """Columns of a file that a load reads.

    Rows with the same `key` become one record. If they are its lines, `line_fields` maps columns to fields of a line,
    and `lines_field` is the record's array of lines. If each row is a record, `unique` identifies it: another row with
    the same values repeats it, and one with other values contradicts it.
    """

    file: str
    columns: Mapping[str, Column]
    key: tuple[str, ...] = ()
    line_fields: Mapping[str, str] = MappingProxyType({})
    lines_field: str = ""
    unique: tuple[str, ...] = ()

    @property
    def key_columns(self) -> tuple[str, ...]:
        """Columns that identify a record of one or several rows."""
        return self.key or self.unique

    @property
    def creates_records(self) -> bool:
        """True if a row may create a record, named by the last of the key columns."""
        return self.file in _CREATING_FILES


_CREATING_FILES = frozenset(
    {"stores.csv", "products.csv", "locations.csv", "people.csv", "orders.csv", "deliveries.csv"}
)
NOT_UTF8 = "is not UTF-8; save the file in that encoding"


def parse_text(cell: str) -> str:
    """Parse a text. Bytes that were no UTF-8 arrive as lone surrogates and are refused here."""
    if not cell.isascii() and any("\ud800" <= letter <= "\udfff" for letter in cell):
        raise ValueError(NOT_UTF8)
    return cell


def parse_number(cell: str) -> int | Decimal:
    """Parse an integer or an exact decimal, written with a point."""
    if _NUMBER.fullmatch(cell) is None:
        raise ValueError(no_number_reason(cell, Notation()))
    return Decimal(cell) if "." in cell else int(cell)


def parse_boolean(cell: str) -> bool:
    """Parse true, false, 1 or 0; cleaning has replaced local words for yes and no."""
    try:
        return _FLAGS[cell.lower()]
    except KeyError:
        raise ValueError(f"{cell!r} is neither true nor false; write true, false, 1 or 0") from None


def parse_list(cell: str) -> list[str]:
    """Parse several texts with bars between them: `a|b`."""
    return [parse_text(part) for part in cell.split("|") if part]


def parse_numbers(cell: str) -> list[int | Decimal]:
    """Parse several numbers with bars between them: `1|2.5`."""
    return [parse_number(part) for part in cell.split("|") if part]


def parse_objects(cell: str) -> list[Row]:
    """Parse a JSON array of objects."""
    try:
        found = json.loads(parse_text(cell), parse_float=Decimal)
    except (ValueError, RecursionError) as problem:
        raise ValueError(f"is no JSON ({problem}); write an array of objects") from None
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise ValueError("is no array of objects in JSON")
    return found


def parse_free_fields(cell: str) -> list[Row]:
    """Parse a JSON array of objects with keys that differ by more than blanks and case."""
    found = parse_objects(cell)
    seen: set[str] = set()
    for one in found:
        key = one.get("key")
        if (name := cell_cleaning.fold_code(str(key))) in seen:
            raise ValueError(f"has the key {key!r} twice; keep one of them")
        seen.add(name)
    return found


def parse_units(cell: str) -> list[Row]:
    """Parse a JSON array of objects. Raise ValueError for a barcode that was shortened or read as a number."""
    found = parse_objects(cell)
    for unit in found:
        code = unit.get("unit_barcode")
        clean = cell_cleaning.CLEANERS[cell_cleaning.BARCODE]
        if isinstance(code, str) and code and clean(code, Notation()).further_codes:
            raise ValueError(f"has several codes in one unit_barcode ({code}); write one code")
    return found


def parse_pool(cell: str) -> int:
    """Parse a stock pool, 1 to 10."""
    if cell.isascii() and cell.isdigit() and 1 <= int(cell) <= 10:
        return int(cell)
    raise ValueError(f"{cell!r} is no stock pool; write 1 to 10")


def parse_role(cell: str) -> str:
    """Parse a role: staff or supervisor, in any case."""
    if cell.casefold() in _ROLES:
        return cell.casefold()
    raise ValueError(f"{cell!r} is no role; write {' or '.join(_ROLES)}")


_ROLES = ("staff", "supervisor")


def parse_pin(cell: str) -> str:
    """Parse a PIN. No message repeats it."""
    if cell.isascii() and cell.isdigit() and 4 <= len(cell) <= 12:
        return cell
    what = f"has {len(cell)} digits" if cell.isascii() and cell.isdigit() else "has other signs than digits"
    raise ValueError(f"{what}; write 4 to 12 digits, as text where it begins with a zero")


def _parse_pool_text(cell: str) -> str:
    return str(parse_pool(cell))


def _parser_for(annotation: Any) -> Parser:
    """Return the parser for a field of this type."""
    kinds = set(_value_kinds(annotation))
    for kind, parse in _PARSERS.items():
        if kind in kinds:
            return parse
    return parse_text


_PARSERS: dict[Any, Parser] = {
    "texts": parse_list,
    "numbers": parse_numbers,
    "objects": parse_objects,
    bool: parse_boolean,
    Decimal: parse_number,
}


def _cell_kind(name: str, parse: Parser) -> str:
    """Return the kind of a column: by its parser, and for texts by the name of the field."""
    if parse is parse_number and name.endswith("price"):
        return cell_cleaning.MONEY
    if parse is not parse_text:
        return _KINDS[parse]
    if name == "barcodes_array":
        return cell_cleaning.BARCODES
    if name == "container_barcode":
        return cell_cleaning.CONTAINER
    if name.endswith("barcode"):
        return cell_cleaning.BARCODE
    if name.endswith("number") or name in _CODE_FIELDS:
        return cell_cleaning.CODE
    if name.endswith("_code") or name in _DOTTED_CODE_FIELDS:
        return cell_cleaning.DOTTED_CODE
    return cell_cleaning.DATE if "date" in name else cell_cleaning.TEXT


_KINDS: dict[Parser, str] = {
    parse_list: cell_cleaning.LIST,
    parse_numbers: cell_cleaning.NUMBERS,
    parse_objects: cell_cleaning.JSON,
    parse_boolean: cell_cleaning.FLAG,
    parse_number: cell_cleaning.NUMBER,
    parse_pool: cell_cleaning.POOL,
    parse_role: cell_cleaning.CODE,
    parse_pin: cell_cleaning.CODE,
    _parse_pool_text: cell_cleaning.POOL,
}
_CODE_FIELDS = frozenset(
    {
        *("store_gln", "supplier_id", "referral_product_id", "sales_order_id", "reference", "area_id"),
        *("badge", "user", "postal_code", "customer_zipcode", "delivery_zipcode", "customer_phone"),
    }
)
_DOTTED_CODE_FIELDS = frozenset({"key"})


def _value_kinds(annotation: Any) -> Iterable[Any]:
    if get_origin(annotation) is list:
        (item,) = get_args(annotation)
        inner = set(_value_kinds(item))
        yield "texts" if item is str else "numbers" if Decimal in inner else "objects"
        return
    parts = get_args(annotation)
    if not parts:
        yield annotation
    for part in parts:
        yield from _value_kinds(part)


def _create_column(name: str, parse: Parser, required: bool = False) -> Column:
    parse = parse_pool if parse is parse_number and name.endswith("stock_pool") else parse
    kind = _cell_kind(name, parse)
    return Column(name, _OBJECT_PARSERS.get(name, parse) if parse is parse_objects else parse, required, kind)


_OBJECT_PARSERS: dict[str, Parser] = {"free_fields": parse_free_fields, "units": parse_units}


def _body_columns(body: type, required: Iterable[str], *more: Column) -> dict[str, Column]:
    """Return a column for each field of a body."""
    needed = set(required)
    columns = {
        name: _create_column(name, _parser_for(kind), name in needed) for name, kind in get_type_hints(body).items()
    }
    return columns | {column.name: column for column in more}


def _layout_with_lines(
    file: str, array: str, head: dict[str, Column], line: type, required: Iterable[str], *key: str
) -> FileLayout:
    """Create a layout with fields of the head and of a line in each row. A name that both have is the head's."""
    columns = {name: column for name, column in head.items() if name != array}
    of_line = _body_columns(line, required)
    names = {f"{array}.{field}" if field in columns else field: field for field in of_line}
    lines = {name: of_line[field]._replace(name=name) for name, field in names.items()}
    return FileLayout(file, columns | lines, key, names, array)


_STORE_COLUMN = _create_column("store_number", parse_text, True)
_PRODUCT_KEY = ("product_number",)
_STORE_PRODUCT_KEY = ("store_number", "product_number")
STORES = FileLayout(
    "stores.csv", _body_columns(StoreCreate, ("store_number", "store_name", "is_warehouse")), unique=("store_number",)
)
PRODUCTS = FileLayout("products.csv", _body_columns(ProductWrite, ("product_number",)), unique=_PRODUCT_KEY)
ATTRIBUTES = FileLayout("attributes.csv", _body_columns(ProductAttributes, ("product_number",)), unique=_PRODUCT_KEY)
FREE_FIELDS = _layout_with_lines(
    "free_fields.csv",
    "free_fields",
    {"product_number": _create_column("product_number", parse_text, True)},
    ProductFreeFieldCreate,
    ("sort_order", "key"),
    "product_number",
)
PRICES = FileLayout("prices.csv", _body_columns(ProductPrice, ("product_number", "price")), unique=_STORE_PRODUCT_KEY)
DISCOUNT_PRICES = FileLayout(
    "discount_prices.csv",
    _body_columns(ProductDiscountPrice, ("product_number", "discount_price")),
    unique=_STORE_PRODUCT_KEY,
)
LOCATIONS = FileLayout(
    "locations.csv",
    {
        column.name: column
        for column in (
            _STORE_COLUMN,
            _create_column("location_code", parse_text, True),
            _create_column("location_order", parse_number),
            _create_column("default_stock_pool", _parse_pool_text),
            _create_column("tags", parse_list),
        )
    },
    unique=("store_number", "location_code"),
)
PEOPLE = FileLayout(
    "people.csv",
    {
        column.name: column
        for column in (
            _STORE_COLUMN,
            _create_column("badge", parse_text, True),
            _create_column("user", parse_text, True),
            _create_column("name", parse_text, True),
            _create_column("role", parse_role),
            _create_column("pin", parse_pin),
        )
    },
    unique=("store_number", "badge"),
)
STORE_PRODUCTS = FileLayout(
    "store_products.csv",
    _body_columns(StoreProductCreate, ("product_number",), _STORE_COLUMN),
    unique=_STORE_PRODUCT_KEY,
)
STOCK = FileLayout(
    "stock.csv",
    {
        column.name: column
        for column in (
            _STORE_COLUMN,
            _create_column("product_number", parse_text, True),
            _create_column("location_code", parse_text),
            _create_column("stock_pool", parse_pool),
            _create_column("quantity", parse_number, True),
        )
    },
    ("store_number", "product_number", "location_code"),
)
ORDERS = _layout_with_lines(
    "orders.csv",
    "order_lines",
    _body_columns(CustomerOrderCreate, ("order_number",), _STORE_COLUMN),
    CustomerOrderLineCreate,
    ("line_number", "product_number", "quantity"),
    "store_number",
    "order_number",
)
DELIVERIES = _layout_with_lines(
    "deliveries.csv",
    "order_lines",
    _body_columns(StoreDeliveryCreate, ("order_number", "no_of_containers"), _STORE_COLUMN),
    StoreDeliveryLineCreate,
    ("line_number", "product_number", "quantity"),
    "store_number",
    "order_number",
)
LAYOUTS = (
    STORES,
    PRODUCTS,
    ATTRIBUTES,
    FREE_FIELDS,
    PRICES,
    DISCOUNT_PRICES,
    LOCATIONS,
    PEOPLE,
    STORE_PRODUCTS,
    STOCK,
    ORDERS,
    DELIVERIES,
)
"""Layouts in the order in which they are loaded: each file may refer to those before it."""


def price_of(text: object) -> Decimal | None:
    """Return a price as a number; None if it is none."""
    try:
        return Decimal(str(text))
    except InvalidOperation:
        return None
