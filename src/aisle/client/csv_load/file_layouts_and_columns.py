"""Columns of the files: the fields of the interface's create bodies, read from the contract's models.

A cell holds a value, several of them with bars between, or JSON where the interface has objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple, Required, get_args, get_origin, get_type_hints

from aisle.client.csv_load import cells_of_columns as kinds
from aisle.client.csv_load.cells_of_columns import (
    Column,
    Parser,
    parse_boolean,
    parse_fields,
    parse_list,
    parse_number,
    parse_numbers,
    parse_objects,
    parse_part_quantity,
    parse_pin,
    parse_pool,
    parse_pool_text,
    parse_role,
    parse_text,
)
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
from aisle.contract.request_encoding import QueryValue


class LoadTarget(NamedTuple):
    """Target of a file's records: an operation of the interface or our own path, its array, rows of a batch.

    With `has_store`, its path names the store.
    """

    operation: str
    array: str
    batch_rows: int = 500
    has_store: bool = False
    query: Mapping[str, QueryValue] = MappingProxyType({})


class ServiceList(NamedTuple):
    """List in which the service shows what a file creates: the operation, and the field with the last of its keys."""

    operation: str
    field: str
    in_path: bool = False
    """True if its path names the store."""


class FileLayout(NamedTuple):
    """File that a load reads: its columns, what its rows are, and where they go.

    Rows with the same `key` become one record. If they are its lines, `line_fields` maps columns to fields of a line,
    `line_key` is the column that identifies one, and `lines_field` is the record's array of lines. If each row is a
    record, `unique` identifies it: another row with the same values repeats it, and one with other values contradicts
    it. `noun` is what a record is; `listed` is None for files that create none.
    """

    file: str
    noun: str
    target: LoadTarget
    columns: Mapping[str, Column]
    key: tuple[str, ...] = ()
    line_fields: Mapping[str, str] = MappingProxyType({})
    lines_field: str = ""
    line_key: str = "line_number"
    unique: tuple[str, ...] = ()
    listed: ServiceList | None = None

    @property
    def key_columns(self) -> tuple[str, ...]:
        """Columns that identify a record of one or several rows; the last of them names it."""
        return self.key or self.unique


def _parser_for(annotation: Any) -> Parser:
    """Return the parser for a field of this type."""
    found = set(_value_kinds(annotation))
    for kind, parse in _PARSERS.items():
        if kind in found:
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
        return kinds.MONEY
    if parse is parse_number and name in _WHOLE_FIELDS:
        return kinds.WHOLE
    if parse is not parse_text:
        return _KINDS[parse]
    if name == "barcodes_array":
        return kinds.BARCODES
    if name == "container_barcode":
        return kinds.CONTAINER
    if name.endswith("barcode"):
        return kinds.BARCODE
    if name.endswith("number") or name in _CODE_FIELDS:
        return kinds.CODE
    if name.endswith("_code") or name in _DOTTED_CODE_FIELDS:
        return kinds.DOTTED_CODE
    return kinds.DATE if "date" in name else kinds.TEXT


_KINDS: dict[Parser, str] = {
    parse_list: kinds.LIST,
    parse_numbers: kinds.NUMBERS,
    parse_objects: kinds.JSON,
    parse_boolean: kinds.FLAG,
    parse_number: kinds.NUMBER,
    parse_pool: kinds.POOL,
    parse_role: kinds.ROLE,
    parse_pin: kinds.CODE,
    parse_pool_text: kinds.POOL,
    parse_part_quantity: kinds.NUMBER,
}
_CODE_FIELDS = frozenset(
    {
        *("store_gln", "supplier_id", "referral_product_id", "sales_order_id", "reference", "area_id"),
        *("badge", "user", "postal_code", "customer_zipcode", "delivery_zipcode", "customer_phone"),
    }
)
_WHOLE_FIELDS = frozenset(
    {
        *("min", "max", "no_of_containers", "expiration_min_range", "shelf_label_quantity", "location_order"),
        *("sort_order", "line_number"),
    }
)
"""Figures that the interface has as whole numbers."""
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
    parse = parse_part_quantity if name == "set_item_quantity" else parse
    return Column(name, parse, required, _cell_kind(name, parse))


def _column_of_field(name: str, annotation: Any, required: bool) -> Column:
    """Return the column of a field of a body; of a list of objects, with their fields."""
    column = _create_column(name, _parser_for(annotation), required)
    if column.kind != kinds.JSON:
        return column
    (item,) = get_args(annotation)
    hints = get_type_hints(item, include_extras=True)
    needed = {one for one, hint in hints.items() if get_origin(hint) is Required}
    unique, *more = _NEEDED_IN_OBJECTS.get(name, ("",))
    fields = _body_columns(item, {*needed, *more})
    return column._replace(parse=partial(parse_fields, fields=fields, unique=unique), fields=fields)


_NEEDED_IN_OBJECTS: Mapping[str, tuple[str, ...]] = {
    "free_fields": ("key", "key"),
    "opening_hours": ("key", "key", "value"),
    "set_product": ("set_product_number", "set_product_number", "set_item_quantity"),
    "units": ("unit_barcode",),
}
"""Field that two objects of a column never share, and those without which an object says nothing."""


def _columns(*columns: Column) -> dict[str, Column]:
    return {column.name: column for column in columns}


def _body_columns(body: type, required: Iterable[str], *more: Column) -> dict[str, Column]:
    """Return a column for each field of a body."""
    needed = set(required)
    fields = get_type_hints(body).items()
    return _columns(*(_column_of_field(name, kind, name in needed) for name, kind in fields), *more)


def _layout_with_lines(layout: FileLayout, line: type, required: Iterable[str], *key: str) -> FileLayout:
    """Return a layout with fields of a line in each row too. A name that both have is the head's."""
    head = {name: column for name, column in layout.columns.items() if name != layout.lines_field}
    of_line = _body_columns(line, required)
    names = {f"{layout.lines_field}.{field}" if field in head else field: field for field in of_line}
    lines = {name: of_line[field]._replace(name=name) for name, field in names.items()}
    return layout._replace(columns=head | lines, key=key, line_fields=names)


EXTENSION_PREFIX = "/aisle/v1/"
LOCATIONS_PATH = f"{EXTENSION_PREFIX}locations"
"""Path of locations; the interface has no operation for them, and none for people."""
PEOPLE_PATH = f"{EXTENSION_PREFIX}stores/{{store_number}}/people"
MAX_PEOPLE = 10
"""Number of people of a request: the service hashes each PIN, and 40 take a busy machine longer than a request may."""
_STORE_COLUMN = _create_column("store_number", parse_text, True)
_PRODUCT_COLUMN = _create_column("product_number", parse_text, True)
_PRODUCT_KEY = ("product_number",)
_STORE_PRODUCT_KEY = ("store_number", "product_number")
_LINE_COLUMNS = ("line_number", "product_number", "quantity")

STORES = FileLayout(
    "stores.csv",
    "store",
    LoadTarget("create-stores", "stores", 200),
    _body_columns(StoreCreate, ("store_number", "store_name", "is_warehouse")),
    unique=("store_number",),
    listed=ServiceList("list-stores", "storeNo"),
)
PRODUCTS = FileLayout(
    "products.csv",
    "product",
    LoadTarget("create-or-update-products", "products"),
    _body_columns(ProductWrite, _PRODUCT_KEY),
    unique=_PRODUCT_KEY,
    listed=ServiceList("list-products", "product_number"),
)
ATTRIBUTES = FileLayout(
    "attributes.csv",
    "the attributes of product",
    LoadTarget("update-product-attributes", "products"),
    _body_columns(ProductAttributes, _PRODUCT_KEY),
    unique=_PRODUCT_KEY,
)
_FREE_FIELDS = FileLayout(
    "free_fields.csv",
    "the free fields of product",
    LoadTarget("create-product-free-fields", "products"),
    _columns(_PRODUCT_COLUMN),
    lines_field="free_fields",
    line_key="key",
)
FREE_FIELDS = _layout_with_lines(_FREE_FIELDS, ProductFreeFieldCreate, ("sort_order", "key"), *_PRODUCT_KEY)
PRICES = FileLayout(
    "prices.csv",
    "the price of product",
    LoadTarget("create-prices", "products"),
    _body_columns(ProductPrice, ("product_number", "price")),
    unique=_STORE_PRODUCT_KEY,
)
DISCOUNT_PRICES = FileLayout(
    "discount_prices.csv",
    "the discount price of product",
    LoadTarget("create-discount-prices", "products"),
    _body_columns(ProductDiscountPrice, ("product_number", "discount_price")),
    unique=_STORE_PRODUCT_KEY,
)
LOCATIONS = FileLayout(
    "locations.csv",
    "location",
    LoadTarget(LOCATIONS_PATH, "locations"),
    _columns(
        _STORE_COLUMN,
        _create_column("location_code", parse_text, True),
        _create_column("location_order", parse_number),
        _create_column("default_stock_pool", parse_pool_text),
        _create_column("tags", parse_list),
    ),
    unique=("store_number", "location_code"),
    listed=ServiceList("list-locations", "location_code", in_path=True),
)
PEOPLE = FileLayout(
    "people.csv",
    "badge",
    LoadTarget(PEOPLE_PATH, "people", MAX_PEOPLE, has_store=True),
    _columns(
        _STORE_COLUMN,
        *(_create_column(name, parse_text, True) for name in ("badge", "user", "name")),
        _create_column("role", parse_role),
        _create_column("pin", parse_pin),
    ),
    unique=("store_number", "badge"),
    listed=ServiceList("", "badge"),
)
STORE_PRODUCTS = FileLayout(
    "store_products.csv",
    "product",
    LoadTarget("create-store-products", "store_products", has_store=True),
    _body_columns(StoreProductCreate, _PRODUCT_KEY, _STORE_COLUMN),
    unique=_STORE_PRODUCT_KEY,
)
STOCK = FileLayout(
    "stock.csv",
    "the count of product",
    LoadTarget("create-store-product-logs", "storeproductlog", has_store=True, query={"is_counted_quantity": True}),
    _columns(
        _STORE_COLUMN,
        _PRODUCT_COLUMN,
        _create_column("location_code", parse_text),
        _create_column("stock_pool", parse_pool),
        _create_column("quantity", parse_number, True),
    ),
    ("store_number", "product_number", "location_code"),
)
_ORDERS = FileLayout(
    "orders.csv",
    "order",
    LoadTarget("create-customer-orders-one-store", "orders", 1000, has_store=True),
    _body_columns(CustomerOrderCreate, ("order_number",), _STORE_COLUMN),
    lines_field="order_lines",
    listed=ServiceList("list-customer-orders", "order_number", in_path=True),
)
ORDERS = _layout_with_lines(_ORDERS, CustomerOrderLineCreate, _LINE_COLUMNS, "store_number", "order_number")
_DELIVERIES = FileLayout(
    "deliveries.csv",
    "delivery",
    LoadTarget("create-store-deliveries", "orders", 1000, has_store=True),
    _body_columns(StoreDeliveryCreate, ("order_number", "no_of_containers"), _STORE_COLUMN),
    lines_field="order_lines",
    listed=ServiceList("list-deliveries", "order_number"),
)
DELIVERIES = _layout_with_lines(_DELIVERIES, StoreDeliveryLineCreate, _LINE_COLUMNS, "store_number", "order_number")
_OF_PRODUCTS = (PRODUCTS, ATTRIBUTES, FREE_FIELDS, PRICES, DISCOUNT_PRICES)
LAYOUTS = (STORES, *_OF_PRODUCTS, LOCATIONS, PEOPLE, STORE_PRODUCTS, STOCK, ORDERS, DELIVERIES)
"""Layouts in the order in which they are loaded: each file may refer to those before it."""


def price_of(text: object) -> Decimal | None:
    """Return a price as a number; None if it is none."""
    try:
        number = Decimal(str(text))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None
