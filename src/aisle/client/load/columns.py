"""The columns of the files: the fields of the interface's create bodies, read from the contract's models.

A cell holds a value, several of them with bars between, or, where the interface has objects, JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from aisle.client.load import cells
from aisle.client.load.notation import Notation
from aisle.contract.models.customer_orders import CustomerOrderCreate, CustomerOrderLineCreate
from aisle.contract.models.deliveries import StoreDeliveryCreate, StoreDeliveryLineCreate
from aisle.contract.models.product_writes import (
    ProductAttributes,
    ProductDiscountPrice,
    ProductFreeFieldCreate,
    ProductPrice,
    ProductWrite,
)
from aisle.contract.models.store_products import StoreProductCreate
from aisle.contract.models.stores import StoreCreate
from aisle.tuples import NamedTuple

_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?", re.ASCII)
_FLAGS = {"true": True, "1": True, "false": False, "0": False}

Parser = Callable[[str], Any]


class Column(NamedTuple):
    """A column that a file may have. `parse` raises ValueError with the reason; an empty cell is never parsed.

    `kind` says how its cells are cleaned before that (`cells.CLEANERS`).
    """

    name: str
    parse: Parser
    required: bool = False
    kind: str = cells.TEXT

    def nothing(self, cell: str) -> Any:
        """The value that takes away the one that is there. Raises ValueError where the interface has none."""
        if self.required:
            raise ValueError(f"is {cell}, but every row needs it")
        if self.kind in (cells.LIST, cells.NUMBERS, cells.JSON):
            return []
        if self.kind in (cells.NUMBER, cells.POOL, cells.FLAG):
            raise ValueError(f"is {cell}, but the interface cannot take this value away; write another one")
        return ""


class Layout(NamedTuple):
    """A file that a load reads: its columns.

    Rows with the same `key` become one record. Where they are the lines of it, `lines` says which column is which field
    of a line, and `array` what the record calls its lines. Where each row is a record, `unique` names it: another row
    that says the same of it repeats it, and one that says something else contradicts it.
    """

    file: str
    columns: Mapping[str, Column]
    key: tuple[str, ...] = ()
    lines: Mapping[str, str] = MappingProxyType({})
    array: str = ""
    unique: tuple[str, ...] = ()

    @property
    def named_by(self) -> tuple[str, ...]:
        """The columns that name a record, of one row or of several."""
        return self.key or self.unique

    @property
    def is_creating(self) -> bool:
        """Whether a row may make something that was not there, under the last of the columns that name it."""
        return self.file in _CREATING


_CREATING = frozenset({"stores.csv", "products.csv", "locations.csv", "people.csv", "orders.csv", "deliveries.csv"})


def text(cell: str) -> str:
    """Any text. Bytes that were no UTF-8 arrive as lone surrogates and are refused here."""
    if not cell.isascii() and any("\ud800" <= letter <= "\udfff" for letter in cell):
        raise ValueError("is not UTF-8; save the file in that encoding")
    return cell


def number(cell: str) -> int | Decimal:
    """An integer or an exact decimal, written with a point."""
    if _NUMBER.fullmatch(cell) is None:
        raise ValueError(f"{cell!r} is no number; write digits and, where needed, a point")
    return Decimal(cell) if "." in cell else int(cell)


def boolean(cell: str) -> bool:
    """true, false, 1 or 0, and yes and no in the languages that the files come in."""
    try:
        return _FLAGS[cell.lower()]
    except KeyError:
        raise ValueError(f"{cell!r} is neither true nor false; write true, false, 1 or 0") from None


def array(cell: str) -> list[str]:
    """Several texts with bars between them: `a|b`."""
    return [text(part) for part in cell.split("|") if part]


def numbers(cell: str) -> list[int | Decimal]:
    """Several numbers with bars between them: `1|2.5`."""
    return [number(part) for part in cell.split("|") if part]


def objects(cell: str) -> list[dict[str, Any]]:
    """JSON: an array of objects."""
    try:
        found = json.loads(text(cell), parse_float=Decimal)
    except (ValueError, RecursionError) as problem:
        raise ValueError(f"is no JSON ({problem}); write an array of objects") from None
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise ValueError("is no array of objects in JSON")
    return found


def free_fields(cell: str) -> list[dict[str, Any]]:
    """JSON: an array of objects, each with another key."""
    found = objects(cell)
    keys = [one.get("key") for one in found]
    for at, key in enumerate(keys):
        if key in keys[:at]:
            raise ValueError(f"has the key {key!r} twice; keep one of them")
    return found


def units(cell: str) -> list[dict[str, Any]]:
    """JSON: an array of objects, whose barcodes nothing has shortened or taken for a number."""
    found = objects(cell)
    for unit in found:
        if isinstance(code := unit.get("unit_barcode"), str) and code:
            cells.CLEANERS[cells.BARCODE](code, Notation())
    return found


def pool(cell: str) -> int:
    """A stock pool, 1 to 10."""
    if cell.isascii() and cell.isdigit() and 1 <= int(cell) <= 10:
        return int(cell)
    raise ValueError(f"{cell!r} is no stock pool; write 1 to 10")


def role(cell: str) -> str:
    """What a person is: staff or supervisor, in any case."""
    if cell.casefold() in _ROLES:
        return cell.casefold()
    raise ValueError(f"{cell!r} is no role; write {' or '.join(_ROLES)}")


_ROLES = ("staff", "supervisor")


def pin(cell: str) -> str:
    """A PIN, which no message repeats."""
    if cell.isascii() and cell.isdigit() and 4 <= len(cell) <= 12:
        return cell
    raise ValueError("this is no PIN; write 4 to 12 digits, as text where it begins with a zero")


def _pool_text(cell: str) -> str:
    return str(pool(cell))


def _parser_of(annotation: Any) -> Parser:
    """What reads a field of this type from a cell."""
    kinds = set(_kinds(annotation))
    for kind, parse in _PARSERS.items():
        if kind in kinds:
            return parse
    return text


_PARSERS: dict[Any, Parser] = {"texts": array, "numbers": numbers, "objects": objects, bool: boolean, Decimal: number}


def _kind_of(name: str, parse: Parser) -> str:
    """How the cells of a column are cleaned: by what they hold, and texts by the name of the field."""
    if parse is not text:
        return _KINDS[parse]
    if name == "barcodes_array":
        return cells.BARCODES
    if name == "container_barcode":
        return cells.CONTAINER
    if name.endswith("barcode"):
        return cells.BARCODE
    if name.endswith("number") or name in _NUMBERED:
        return cells.CODE
    if name.endswith("_code") or name in _NAMED:
        return cells.DOTTED
    return cells.DATE if "date" in name else cells.TEXT


_KINDS: dict[Parser, str] = {
    array: cells.LIST,
    numbers: cells.NUMBERS,
    objects: cells.JSON,
    boolean: cells.FLAG,
    number: cells.NUMBER,
    pool: cells.POOL,
    role: cells.CODE,
    pin: cells.CODE,
    _pool_text: cells.POOL,
}
_NUMBERED = frozenset(
    {
        *("store_gln", "supplier_id", "referral_product_id", "sales_order_id", "reference", "area_id"),
        *("badge", "user", "postal_code", "customer_zipcode", "delivery_zipcode", "customer_phone"),
    }
)
_NAMED = frozenset({"key"})


def _kinds(annotation: Any) -> Iterable[Any]:
    if get_origin(annotation) is list:
        (item,) = get_args(annotation)
        inner = set(_kinds(item))
        yield "texts" if item is str else "numbers" if Decimal in inner else "objects"
        return
    parts = get_args(annotation)
    if not parts:
        yield annotation
    for part in parts:
        yield from _kinds(part)


def _column(name: str, parse: Parser, required: bool = False) -> Column:
    kind = _kind_of(name, parse)
    return Column(name, _OF_OBJECTS.get(name, parse) if parse is objects else parse, required, kind)


_OF_OBJECTS: dict[str, Parser] = {"free_fields": free_fields, "units": units}


def _columns(model: type[BaseModel], required: Iterable[str], *more: Column) -> dict[str, Column]:
    needed = set(required)
    columns = {
        name: _column(name, _parser_of(field.annotation), name in needed) for name, field in model.model_fields.items()
    }
    return columns | {column.name: column for column in more}


def _with_lines(
    file: str, array: str, head: dict[str, Column], line: type[BaseModel], required: Iterable[str], *key: str
) -> Layout:
    """Fields of the head and fields of its lines in one row; where both have a name, it is the head's."""
    columns = {name: column for name, column in head.items() if name != array}
    of_line = _columns(line, required)
    names = {f"{array}.{field}" if field in columns else field: field for field in of_line}
    lines = {name: of_line[field]._replace(name=name) for name, field in names.items()}
    return Layout(file, columns | lines, key, names, array)


_STORE = _column("store_number", text, True)
_PRODUCT = ("product_number",)
_OF_STORE = ("store_number", "product_number")

STORES = Layout(
    "stores.csv", _columns(StoreCreate, ("store_number", "store_name", "is_warehouse")), unique=("store_number",)
)
PRODUCTS = Layout("products.csv", _columns(ProductWrite, ("product_number",)), unique=_PRODUCT)
ATTRIBUTES = Layout("attributes.csv", _columns(ProductAttributes, ("product_number",)), unique=_PRODUCT)
FREE_FIELDS = _with_lines(
    "free_fields.csv",
    "free_fields",
    {"product_number": _column("product_number", text, True)},
    ProductFreeFieldCreate,
    ("sort_order", "key"),
    "product_number",
)
PRICES = Layout("prices.csv", _columns(ProductPrice, ("product_number", "price")), unique=_OF_STORE)
DISCOUNT_PRICES = Layout(
    "discount_prices.csv", _columns(ProductDiscountPrice, ("product_number", "discount_price")), unique=_OF_STORE
)
LOCATIONS = Layout(
    "locations.csv",
    {
        column.name: column
        for column in (
            _STORE,
            _column("location_code", text, True),
            _column("location_order", number),
            _column("default_stock_pool", _pool_text),
            _column("tags", array),
        )
    },
    unique=("store_number", "location_code"),
)
PEOPLE = Layout(
    "people.csv",
    {
        column.name: column
        for column in (
            _STORE,
            _column("badge", text, True),
            _column("user", text, True),
            _column("name", text, True),
            _column("role", role),
            _column("pin", pin),
        )
    },
    unique=("store_number", "badge"),
)
STORE_PRODUCTS = Layout(
    "store_products.csv", _columns(StoreProductCreate, ("product_number",), _STORE), unique=_OF_STORE
)
STOCK = Layout(
    "stock.csv",
    {
        column.name: column
        for column in (
            _STORE,
            _column("product_number", text, True),
            _column("location_code", text),
            _column("stock_pool", pool),
            _column("quantity", number, True),
        )
    },
    ("store_number", "product_number", "location_code"),
)
ORDERS = _with_lines(
    "orders.csv",
    "order_lines",
    _columns(CustomerOrderCreate, ("order_number",), _STORE),
    CustomerOrderLineCreate,
    ("line_number", "product_number", "quantity"),
    "store_number",
    "order_number",
)
DELIVERIES = _with_lines(
    "deliveries.csv",
    "order_lines",
    _columns(StoreDeliveryCreate, ("order_number", "no_of_containers"), _STORE),
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
"""In the order in which they are loaded: each file may name what stands in those before it."""
