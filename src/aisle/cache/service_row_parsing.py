"""Parsing of the service's rows: fields, limits of their texts, and the rows as the cache stores them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from json import JSONEncoder, encoder
from typing import Any, NamedTuple

from aisle.barcode_keys import index_keys, split_codes
from aisle.jobs.quantities_and_plausibility import to_decimal
from aisle.search_text import index_text
from aisle.text_cells import ELLIPSIS


def json_encoder(default: Callable[[object], object]) -> Callable[[object], str]:
    """Return a function that writes a value as compact JSON text; `default` converts values that JSON does not know.

    The standard library builds a new inner encoder for each value, which takes a third of a row's time. Here it is
    built once, and without a check for cycles: rows come from JSON and have none.
    """
    make = getattr(encoder, "c_make_encoder", None)
    if make is None:  # another Python implementation
        return JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=default).encode
    parts = make(None, default, encoder.encode_basestring, None, ":", ",", False, False, True)

    def encode(value: object) -> str:
        return "".join(parts(value, 0))

    return encode


RawRow = Mapping[str, Any]

_NUMBER_TYPES = (int, float, Decimal)
_NUMERIC_TYPES = (*_NUMBER_TYPES, str)
_MAX_EXACT_INTEGER = 1 << 53

_FURTHER_CODE_FIELDS = frozenset({"barcodes_array", "units", "purchase_unit_barcode"})
"""Fields of a product that may hold further codes."""

FLAG_BITS = {"is_promotion": (1, True), "is_set": (2, True), "is_active": (4, False), "is_order_manually": (8, True)}
"""Rare flags that people filter by: the flag with its bit and the value that sets the bit."""


class InvalidRow(ValueError):
    """A row that cannot be used, with the reason and the field."""

    def __init__(self, reason: str, field: str = "") -> None:
        super().__init__(reason)
        self.field = field


class OverlongRow(InvalidRow):
    """A row with a text beyond the limits; `truncate_texts` shortens it."""


class ProductRow(NamedTuple):
    """A product of the catalogue."""

    product_number: str
    name: str
    brand: str
    barcode: str
    unit: str
    allow_decimal: int
    category: str
    supplier: str
    family: str
    marks: int
    """Sum of the bits of `FLAG_BITS`."""
    text: str
    codes: dict[str, str]
    """Every code of the product, each with its quantity in base units."""
    raw: str


class LocationStock(NamedTuple):
    """A location with stock of a product."""

    location_code: str
    quantity: float | None
    """Quantity at the location; None if the service does not state it."""
    has_stock: bool
    """True if there is any stock, in total or in a pool, or if the quantity is unknown."""


class StockRow(NamedTuple):
    """Stock of a product in the store."""

    product_number: str
    name: str
    quantity: int | float
    barcode: str
    raw: str
    locations: tuple[LocationStock, ...] | None
    """Each location in `raw` once; None if the answer has no locations."""


class LocationRow(NamedTuple):
    """A location of the store."""

    location_code: str
    location_order: int | float | None
    raw: str


class PersonRow(NamedTuple):
    """A person who works in the store."""

    user: str
    name: str
    badge: str
    text: str
    raw: str


class StoreRow(NamedTuple):
    """A store of the chain."""

    store_number: str
    text: str
    raw: str


def require_object(raw: object) -> RawRow:
    """Return the row if it is an object. Raise InvalidRow otherwise."""
    if isinstance(raw, dict):
        return raw
    raise InvalidRow(f"a row has to be an object, not {type(raw).__name__}")


def text_field(raw: RawRow, name: str) -> str:
    """Return a text field. A number becomes text; any other or a missing value becomes empty."""
    value = raw.get(name, "")
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, _NUMBER_TYPES) and value is not True and value is not False else ""


def key_field(raw: RawRow, name: str) -> str:
    """Return a field that identifies the row. Raise InvalidRow unless it is text or a whole number."""
    value = raw.get(name)
    if value is not None and not _is_key(value):
        raise InvalidRow(f"{name} is no name: {str(value)[:40]!r}", name)
    text = str(int(value)) if isinstance(value, float) else text_field(raw, name)
    if not text or text.isspace():
        raise InvalidRow(f"{name} is missing", name)
    return text


def _is_key(value: object) -> bool:
    """Return True if a value can identify a row. A number that is not whole may have lost digits."""
    if isinstance(value, float):
        return value.is_integer() and abs(value) <= _MAX_EXACT_INTEGER
    return isinstance(value, str | int) and not isinstance(value, bool)


def number_field(raw: RawRow, name: str) -> int | float | None:
    """Return a number field as SQLite stores it; None if missing. Numbers in text are accepted.

    Raise InvalidRow for any other value.
    """
    value = raw.get(name)
    if value is None or value == "":
        return None
    try:
        if value is True or value is False or not isinstance(value, _NUMERIC_TYPES):
            raise ValueError
        found = float(value)
        if found - found != 0:
            raise ValueError
    except (ValueError, OverflowError):
        raise InvalidRow(f"{name} is no number: {value!r}", name) from None
    return int(found) if found.is_integer() and abs(found) <= _MAX_EXACT_INTEGER else found


def required_number(raw: RawRow, name: str) -> int | float:
    """Return a number that the interface guarantees.

    Raise InvalidRow if it is missing: a missing number is not zero.
    """
    found = number_field(raw, name)
    if found is None:
        raise InvalidRow(f"{name} is missing", name)
    return found


def flag_field(raw: RawRow, name: str, default: bool = False) -> bool:
    """Return a boolean field; some services write 0, 1 or text."""
    value = raw.get(name)
    if isinstance(value, str):
        return value.strip().casefold() in ("true", "1", "yes")
    return default if value is None else bool(value)


def _encode_decimal(value: object) -> object:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    raise InvalidRow(f"{type(value).__name__} is no JSON")


_encode_json = json_encoder(_encode_decimal)


def dump_row(raw: RawRow) -> str:
    """Return the row as stored text, with unknown fields.

    Raise UnicodeEncodeError for a lone surrogate and OverlongRow for a text beyond the limits.
    """
    text = _encode_json(raw)
    if not text.isascii():
        text.encode()
    if len(text) > _CHECK_FROM_LENGTH and (len(text) > _MAX_ROW or truncate_texts(raw) != raw):
        raise OverlongRow("it is too long")
    return text


_MAX_TEXT, _MAX_COMMENT, _MAX_IMAGE, _MAX_ROW = 1_000, 10_000, 256 << 10, 1 << 20
"""Greatest number of stored characters in a text, a comment, an image and a row."""
_CHECK_FROM_LENGTH = _MAX_COMMENT
"""Characters of a row from which its texts are checked; a shorter row cannot exceed a limit that matters."""
_MAX_BY_FIELD = dict.fromkeys(
    ("comment", "order_comment", "loss_comment", "product_details", "barcodes_array"), _MAX_COMMENT
)
_IMAGE_FIELDS = frozenset({"image_url", "loss_image"})
_KEY_FIELDS = frozenset(
    {"product_number", "order_number", "location_code", "store_number", "storeNo", "user", "badge", "id"}
)


def truncate_texts(raw: Any, name: str = "") -> Any:
    """Return the row with overlong texts cut and overlong images removed.

    Raise InvalidRow for an overlong key field: half a number is another number.
    """
    if isinstance(raw, dict):
        return {str(field)[:_MAX_TEXT]: truncate_texts(value, field) for field, value in raw.items()}
    if isinstance(raw, list):
        return [truncate_texts(value, name) for value in raw]
    if not isinstance(raw, str) or len(raw) <= _MAX_TEXT:
        return raw
    if name in _KEY_FIELDS:
        raise InvalidRow(f"{name} has {len(raw)} characters", name)
    if name in _IMAGE_FIELDS:
        return raw if len(raw) <= _MAX_IMAGE else ""
    longest = _MAX_BY_FIELD.get(name, _MAX_TEXT)
    return raw if len(raw) <= longest else raw[: longest - 1] + ELLIPSIS


def replace_surrogates(raw: object) -> object:
    """Return the row with U+FFFD for each lone surrogate, which no database accepts."""
    return json.loads(re.sub(r"[\ud800-\udfff]", "\ufffd", _encode_json(raw)))


def index_keys_of(code: str) -> tuple[str, ...]:
    """Return the index keys of a code (see `index_keys`), with a shortcut for most codes."""
    return (code,) if code.isdecimal() and code.isascii() and code[0] != "0" else index_keys(code)


def parse_product(service_row: object) -> ProductRow:
    """Parse a product of the catalogue. Raise InvalidRow if it is malformed. interface: Product (catalogue item)."""
    raw = require_object(service_row)
    text = dump_row(raw)
    product_number = key_field(raw, "product_number")
    name, brand = text_field(raw, "product_name"), text_field(raw, "brand_description")
    barcode = text_field(raw, "barcode")
    return ProductRow(
        product_number,
        name,
        brand,
        barcode,
        text_field(raw, "base_unit_name"),
        int(flag_field(raw, "allow_decimal")),
        text_field(raw, "category_code"),
        text_field(raw, "supplier_id"),
        text_field(raw, "variant_family"),
        sum(mark for name, (mark, sign) in FLAG_BITS.items() if name in raw and flag_field(raw, name) is sign),
        product_index_text(name, brand, product_number, barcode),
        _parse_codes(raw, product_number, barcode),
        text,
    )


def index_texts(*parts: str) -> str:
    """Return the search text of these parts in normalised form.

    A space precedes each word, so that ` mi` matches beginnings of words.
    """
    return " " + index_text(" ".join(parts))


def product_index_text(*parts: str) -> str:
    """Return the search text of a product. Trailing spaces let each letter begin a trigram of the index."""
    return f"{index_texts(*parts)}  "


def _parse_codes(raw: RawRow, product_number: str, barcode: str) -> dict[str, str]:
    """Return every code of a product with its quantity in base units; the first mention of a code wins."""
    codes: dict[str, str] = {}
    _add_code(codes, product_number, "1")
    _add_code(codes, barcode, "1")
    if not raw.keys().isdisjoint(_FURTHER_CODE_FIELDS):
        for code, factor in _parse_further_codes(raw):
            _add_code(codes, code, factor)
    return codes


def _add_code(codes: dict[str, str], code: str, factor: str) -> None:
    for form in index_keys_of(code) if factor else ():
        if form.isprintable():
            codes.setdefault(form, factor)


def _parse_further_codes(raw: RawRow) -> Iterator[tuple[str, str]]:
    further = raw.get("barcodes_array")
    if further:
        for code in further if isinstance(further, list) else split_codes(str(further)):
            yield str(code), "1"
    units = raw.get("units")
    for unit in units if isinstance(units, list) else ():
        if isinstance(unit, dict):
            yield text_field(unit, "unit_barcode"), _parse_factor(unit, "unit_quantity")
    if raw.get("purchase_unit_barcode"):
        yield text_field(raw, "purchase_unit_barcode"), _parse_factor(raw, "purchase_unit_quantity")


def _parse_factor(raw: RawRow, name: str) -> str:
    """Return the base units of a code; empty if invalid, because a code with a wrong factor would miscount."""
    try:
        quantity = number_field(raw, name)
    except InvalidRow:
        return ""
    if quantity is None:
        return "1"
    return str(quantity) if quantity > 0 else ""


def all_codes(codes: Mapping[str, str], *further: str) -> dict[str, str]:
    """Return the codes of a product: those of the catalogue, then its number and the codes of the stock list."""
    merged = dict(codes)
    for code in further:
        for form in index_keys_of(code) if code and code not in merged else ():
            merged.setdefault(form, "1")
    return merged


def encode_codes(codes: Mapping[str, str]) -> str:
    """Return the codes as stored: lines of `code TAB factor`."""
    return "\n".join([f"{code}\t{factor}" for code, factor in codes.items()])


def decode_codes(text: str) -> dict[str, str]:
    """Return the codes from the text of `encode_codes`."""
    return dict(line.split("\t") for line in text.split("\n")) if text else {}


def parse_stock(service_row: object, store: str) -> StockRow:
    """Parse a stock entry. Raise InvalidRow for one of another store. interface: Store product stock entry."""
    raw = require_object(service_row)
    product_number = key_field(raw, "product_number")
    if text_field(raw, "store_number") not in ("", store):
        raise InvalidRow(f"it belongs to store {text_field(raw, 'store_number')}", "store_number")
    locations = raw.get("store_locations")
    if locations is not None and not isinstance(locations, list):
        raise InvalidRow("store_locations is no list", "store_locations")
    return StockRow(
        product_number,
        text_field(raw, "product_description"),
        required_number(raw, "most_likely_quantity"),
        text_field(raw, "barcode"),
        dump_row(raw),
        None if locations is None else parse_location_stock(locations),
    )


_POOL_FIELDS = tuple(f"stock_pool_{number}" for number in range(1, 11))


def parse_location_stock(locations: Iterable[object]) -> tuple[LocationStock, ...]:
    """Return the locations of a stock entry, including those without a code.

    Entries of the same location (several carriers) are added up. interface: Stock location entry.
    """
    entries = [require_object(location) for location in locations]
    codes = [text_field(entry, "store_location_code") for entry in entries]
    if len(set(codes)) == len(codes):
        return tuple(_sum_location(code, (entry,)) for code, entry in zip(codes, entries, strict=True))
    same: dict[str, list[RawRow]] = {}
    for code, entry in zip(codes, entries, strict=True):
        same.setdefault(code, []).append(entry)
    return tuple(_sum_location(code, found) for code, found in same.items())


def _sum_location(code: str, entries: Sequence[RawRow]) -> LocationStock:
    if any(has_no_quantity(entry) for entry in entries):
        return LocationStock(code, None, True)
    quantity = round(sum(_total_quantity(entry) for entry in entries), _SUM_DECIMALS)
    return LocationStock(code, quantity, bool(quantity) or any(_sum_field(entries, pool) for pool in _POOL_FIELDS))


def has_no_quantity(entry: RawRow) -> bool:
    """Return True if the entry of a location states no quantity, neither in total nor by pool."""
    return entry.get("quantity") is None and all(entry.get(pool) is None for pool in _POOL_FIELDS)


def _total_quantity(entry: RawRow) -> float:
    """Return the total quantity of an entry; the sum of its pools if it states only these."""
    if entry.get("quantity") is not None:
        return _to_float(entry["quantity"])
    return sum(_to_float(entry.get(pool)) for pool in _POOL_FIELDS)


def _sum_field(entries: Sequence[RawRow], name: str) -> float:
    if len(entries) == 1:
        return _to_float(entries[0].get(name))
    return round(sum(_to_float(entry.get(name)) for entry in entries), _SUM_DECIMALS)


_SUM_DECIMALS = 6
"""Decimal places of a sum; digits beyond are rounding errors of added fractions."""
_MAX_PLAIN_NUMBER = 1e12
"""Limit below which a number is taken as it is, without `amount`."""


def _to_float(value: Any) -> float:
    """Return a number as queries see it: 0 for a value that is no number or too large."""
    if not value:
        return 0.0
    return (
        value
        if type(value) in (int, float) and -_MAX_PLAIN_NUMBER < value < _MAX_PLAIN_NUMBER
        else float(to_decimal(value))
    )


def keep_known_locations(row: StockRow, known_row: str) -> StockRow:
    """Return a stock entry that has no locations with those of the earlier row."""
    locations = json.loads(known_row).get("store_locations") or []
    raw = {**json.loads(row.raw), "store_locations": locations}
    return row._replace(raw=dump_row(raw), locations=parse_location_stock(locations))


def parse_location(service_row: object) -> LocationRow:
    """Parse a location. Its stock is left out, because the stock list has it. interface: Location."""
    raw = require_object(service_row)
    text = dump_row({name: raw[name] for name in raw if name != "stock"})
    return LocationRow(key_field(raw, "location_code"), number_field(raw, "location_order"), text)


def parse_person(service_row: object) -> PersonRow:
    """Parse a person: `user`, `name`, `badge`, `role`."""
    raw = require_object(service_row)
    text = dump_row(raw)
    user, name, badge = key_field(raw, "user"), text_field(raw, "name"), text_field(raw, "badge")
    return PersonRow(user, name, badge, index_texts(name, user, badge), text)


def parse_store(service_row: object) -> StoreRow:
    """Parse a store. interface: Store (list item)."""
    raw = require_object(service_row)
    text = dump_row(raw)
    number_ = key_field(raw, "storeNo")
    about = (text_field(raw, name) for name in ("storeName", "areaDescription", "areaId", "countryCode"))
    return StoreRow(number_, index_texts(number_, *about), text)


def parse_surrounding(service_row: object) -> str:
    """Return a surrounding stock entry as stored text. Raise InvalidRow unless it names a store and a quantity.

    interface: Surrounding stock entry.
    """
    raw = require_object(service_row)
    if not text_field(raw, "store_number") and not text_field(raw, "store_name"):
        raise InvalidRow("it names no store", "store_number")
    required_number(raw, "most_likely_quantity")
    return dump_row(raw)
