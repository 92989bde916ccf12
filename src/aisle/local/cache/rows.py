"""Rows of the service's answers as rows of the cache; pure. One that makes no sense raises `Malformed` with the reason.

Interface: Product, Store product stock entry, Location, Store.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from aisle.code_forms import index_keys, split_codes
from aisle.jobs.amounts import number as amount
from aisle.local.cache.dumping import encoder
from aisle.text import MARK
from aisle.tuples import NamedTuple
from aisle.words import kept

Raw = Mapping[str, Any]

_NUMBERS = (int, float, Decimal)
_READABLE = (*_NUMBERS, str)
_EXACT = 1 << 53

_FURTHER = frozenset({"barcodes_array", "units", "purchase_unit_barcode"})
"""Fields of a product that may hold more codes."""

MARKS = {"is_promotion": (1, True), "is_set": (2, True), "is_active": (4, False), "is_order_manually": (8, True)}
"""What few products are and people look for: the flag, its mark, and which of its values is marked."""


class Malformed(ValueError):
    """A row that cannot be used; says why, and by which field."""

    def __init__(self, why: str, field: str = "") -> None:
        super().__init__(why)
        self.field = field


class Overlong(Malformed):
    """A row with a text that is longer than any that is kept; `clamped` makes one of it that is not."""


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
    """Sum of `MARKS`."""
    text: str
    codes: dict[str, str]
    """Every key that leads to it, with the base units that it stands for."""
    raw: str


class Spot(NamedTuple):
    """A place where a product lies."""

    location_code: str
    quantity: float | None
    """None where the service does not say it."""
    lies: bool
    """Whether there is any of it, in all or in one of its pools; where nobody says how much, there is."""


class StockRow(NamedTuple):
    """The stock of a product in the store."""

    product_number: str
    name: str
    quantity: int | float
    barcode: str
    raw: str
    places: tuple[Spot, ...] | None
    """Each place in `raw` once; None when the answer says nothing about places."""


class LocationRow(NamedTuple):
    """A place of the store."""

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


def mapping(raw: object) -> Raw:
    """The row itself, if it is an object."""
    if isinstance(raw, dict):
        return raw
    raise Malformed(f"a row has to be an object, not {type(raw).__name__}")


def word(raw: Raw, name: str) -> str:
    """A text field; numbers are taken as text, whatever else or missing is empty."""
    value = raw.get(name, "")
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, _NUMBERS) and value is not True and value is not False else ""


def key(raw: Raw, name: str) -> str:
    """A field that names the row: must be there, as text or a whole number."""
    value = raw.get(name)
    if value is not None and not _names(value):
        raise Malformed(f"{name} is no name: {str(value)[:40]!r}", name)
    text = str(int(value)) if isinstance(value, float) else word(raw, name)
    if not text or text.isspace():
        raise Malformed(f"{name} is missing", name)
    return text


def _names(value: object) -> bool:
    """Whether a value can name a row: a number that is not whole may have lost digits on its way."""
    if isinstance(value, float):
        return value.is_integer() and abs(value) <= _EXACT
    return isinstance(value, str | int) and not isinstance(value, bool)


def number(raw: Raw, name: str) -> int | float | None:
    """A number field as SQLite keeps it; None when it is missing. Numbers written as text are taken."""
    value = raw.get(name)
    if value is None or value == "":
        return None
    try:
        if value is True or value is False or not isinstance(value, _READABLE):
            raise ValueError
        found = float(value)
        if found - found != 0:
            raise ValueError
    except (ValueError, OverflowError):
        raise Malformed(f"{name} is no number: {value!r}", name) from None
    return int(found) if found.is_integer() and abs(found) <= _EXACT else found


def figure(raw: Raw, name: str) -> int | float:
    """A number that the interface promises: a row that does not say it is not read as if it said none."""
    found = number(raw, name)
    if found is None:
        raise Malformed(f"{name} is missing", name)
    return found


def flag(raw: Raw, name: str, default: bool = False) -> bool:
    """A boolean field; some services write 0, 1 or text."""
    value = raw.get(name)
    if isinstance(value, str):
        return value.strip().casefold() in ("true", "1", "yes")
    return default if value is None else bool(value)


def _plain(value: object) -> object:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    raise Malformed(f"{type(value).__name__} is no JSON")


_encode = encoder(_plain)


def dumped(raw: Raw) -> str:
    """The row as it is kept, unknown fields and all. Raises UnicodeEncodeError for a lone surrogate."""
    text = _encode(raw)
    if not text.isascii():
        text.encode()
    if len(text) > _LOOKED_AT and (len(text) > _LONGEST_ROW or clamped(raw) != raw):
        raise Overlong("it is too long")
    return text


_LONGEST_TEXT, _LONGEST_COMMENT, _LONGEST_IMAGE, _LONGEST_ROW = 1_000, 10_000, 256 << 10, 1 << 20
"""Characters of what a service may say in one text, comment, image and row that are kept."""
_LOOKED_AT = _LONGEST_COMMENT
"""Characters of a row; a shorter one is kept as it is."""
_LONGEST = dict.fromkeys(
    ("comment", "order_comment", "loss_comment", "product_details", "barcodes_array"), _LONGEST_COMMENT
)
_IMAGES = frozenset({"image_url", "loss_image"})
_KEYS = frozenset({"product_number", "order_number", "location_code", "store_number", "storeNo", "user", "badge", "id"})


def clamped(raw: Any, name: str = "") -> Any:
    """The row with each text cut that is too long, and without images that are. What names a thing is not cut: half a
    number is another number. Raises Malformed."""
    if isinstance(raw, dict):
        return {str(field)[:_LONGEST_TEXT]: clamped(value, field) for field, value in raw.items()}
    if isinstance(raw, list):
        return [clamped(value, name) for value in raw]
    if not isinstance(raw, str) or len(raw) <= _LONGEST_TEXT:
        return raw
    if name in _KEYS:
        raise Malformed(f"{name} has {len(raw)} characters", name)
    if name in _IMAGES:
        return raw if len(raw) <= _LONGEST_IMAGE else ""
    longest = _LONGEST.get(name, _LONGEST_TEXT)
    return raw if len(raw) <= longest else raw[: longest - 1] + MARK


def without_surrogates(raw: object) -> object:
    """The row with U+FFFD for every half character, which no database takes."""
    return json.loads(re.sub(r"[\ud800-\udfff]", "\ufffd", _encode(raw)))


def forms(code: str) -> tuple[str, ...]:
    """`index_keys` of a code, with a short way for most of them."""
    return (code,) if code.isdecimal() and code.isascii() and code[0] != "0" else index_keys(code)


def product(given: object) -> ProductRow:
    """interface: Product (catalogue item)."""
    raw = mapping(given)
    text = dumped(raw)
    product_number = key(raw, "product_number")
    name, brand = word(raw, "product_name"), word(raw, "brand_description")
    barcode = word(raw, "barcode")
    return ProductRow(
        product_number,
        name,
        brand,
        barcode,
        word(raw, "base_unit_name"),
        int(flag(raw, "allow_decimal")),
        word(raw, "category_code"),
        word(raw, "supplier_id"),
        word(raw, "variant_family"),
        sum(mark for name, (mark, sign) in MARKS.items() if name in raw and flag(raw, name) is sign),
        product_text(name, brand, product_number, barcode),
        _product_codes(raw, product_number, barcode),
        text,
    )


def search_text(*parts: str) -> str:
    """What is searched through, however its words are typed: each with a space before it, so that ` mi` finds
    beginnings."""
    return " " + kept(" ".join(parts))


def product_text(*parts: str) -> str:
    """The same of a product; behind it spaces, so that each letter begins a piece of three for the index."""
    return f"{search_text(*parts)}  "


def _product_codes(raw: Raw, product_number: str, barcode: str) -> dict[str, str]:
    """Every code of a product and the base units that it stands for; the first mention of a code wins."""
    codes: dict[str, str] = {}
    _mention(codes, product_number, "1")
    _mention(codes, barcode, "1")
    if not raw.keys().isdisjoint(_FURTHER):
        for code, factor in _further_codes(raw):
            _mention(codes, code, factor)
    return codes


def _mention(codes: dict[str, str], code: str, factor: str) -> None:
    for form in forms(code) if factor else ():
        if form.isprintable():
            codes.setdefault(form, factor)


def _further_codes(raw: Raw) -> Iterator[tuple[str, str]]:
    further = raw.get("barcodes_array")
    if further:
        for code in further if isinstance(further, list) else split_codes(str(further)):
            yield str(code), "1"
    units = raw.get("units")
    for unit in units if isinstance(units, list) else ():
        if isinstance(unit, dict):
            yield word(unit, "unit_barcode"), _factor(unit, "unit_quantity")
    if raw.get("purchase_unit_barcode"):
        yield word(raw, "purchase_unit_barcode"), _factor(raw, "purchase_unit_quantity")


def _factor(raw: Raw, name: str) -> str:
    """Base units of a code; empty where they make no sense, because a code of unknown size would count wrongly."""
    try:
        quantity = number(raw, name)
    except Malformed:
        return ""
    if quantity is None:
        return "1"
    return str(quantity) if quantity > 0 else ""


def effective_codes(codes: Mapping[str, str], *further: str) -> dict[str, str]:
    """The codes of a product: those of the catalogue, then its number and what the stock list adds to them."""
    known = dict(codes)
    for code in further:
        for form in forms(code) if code and code not in known else ():
            known.setdefault(form, "1")
    return known


def codes_text(codes: Mapping[str, str]) -> str:
    """Codes as they are kept: lines of `code TAB factor`."""
    return "\n".join([f"{code}\t{factor}" for code, factor in codes.items()])


def codes_of(text: str) -> dict[str, str]:
    """What `codes_text` made a text of."""
    return dict(line.split("\t") for line in text.split("\n")) if text else {}


def stock(given: object, store: str) -> StockRow:
    """interface: Store product stock entry. Entries of another store are refused."""
    raw = mapping(given)
    product_number = key(raw, "product_number")
    if word(raw, "store_number") not in ("", store):
        raise Malformed(f"it belongs to store {word(raw, 'store_number')}", "store_number")
    places = raw.get("store_locations")
    if places is not None and not isinstance(places, list):
        raise Malformed("store_locations is no list", "store_locations")
    return StockRow(
        product_number,
        word(raw, "product_description"),
        figure(raw, "most_likely_quantity"),
        word(raw, "barcode"),
        dumped(raw),
        None if places is None else spots(places),
    )


_POOLS = tuple(f"stock_pool_{number}" for number in range(1, 11))


def spots(places: Iterable[object]) -> tuple[Spot, ...]:
    """The places of a stock entry, those without a code too. One that is said several times (in several carriers) has
    the sums of these. interface: Stock location entry."""
    entries = [mapping(place) for place in places]
    codes = [word(entry, "store_location_code") for entry in entries]
    if len(set(codes)) == len(codes):
        return tuple(_spot(code, (entry,)) for code, entry in zip(codes, entries, strict=True))
    same: dict[str, list[Raw]] = {}
    for code, entry in zip(codes, entries, strict=True):
        same.setdefault(code, []).append(entry)
    return tuple(_spot(code, found) for code, found in same.items())


def _spot(code: str, entries: Sequence[Raw]) -> Spot:
    if any(is_unsaid(entry) for entry in entries):
        return Spot(code, None, True)
    quantity = round(sum(_whole(entry) for entry in entries), _DIGITS)
    return Spot(code, quantity, bool(quantity) or any(_sum(entries, pool) for pool in _POOLS))


def is_unsaid(entry: Raw) -> bool:
    """Whether the entry of a place does not say how much lies there, neither in all nor by pool."""
    return entry.get("quantity") is None and all(entry.get(pool) is None for pool in _POOLS)


def _whole(entry: Raw) -> float:
    """How much lies there in all; of an entry that says its pools alone their sum."""
    if entry.get("quantity") is not None:
        return _amount(entry["quantity"])
    return sum(_amount(entry.get(pool)) for pool in _POOLS)


def _sum(entries: Sequence[Raw], name: str) -> float:
    if len(entries) == 1:
        return _amount(entries[0].get(name))
    return round(sum(_amount(entry.get(name)) for entry in entries), _DIGITS)


_DIGITS = 6
"""Behind the point; what adding fractions leaves behind these says nothing."""
_SURE = 1e12
"""Below it a number is what it is."""


def _amount(value: Any) -> float:
    """A number as reads have it: 0 for what is none, or beyond all reckoning."""
    if not value:
        return 0.0
    return value if type(value) in (int, float) and -_SURE < value < _SURE else float(amount(value))


def with_places(row: StockRow, before: str) -> StockRow:
    """An entry that says nothing about places, with those of an earlier one."""
    places = json.loads(before).get("store_locations") or []
    raw = {**json.loads(row.raw), "store_locations": places}
    return row._replace(raw=dumped(raw), places=spots(places))


def location(given: object) -> LocationRow:
    """interface: Location. Its stock is left out: the stock list says that."""
    raw = mapping(given)
    text = dumped({name: raw[name] for name in raw if name != "stock"})
    return LocationRow(key(raw, "location_code"), number(raw, "location_order"), text)


def person(given: object) -> PersonRow:
    """A person: `user`, `name`, `badge`, `role`."""
    raw = mapping(given)
    text = dumped(raw)
    user, name, badge = key(raw, "user"), word(raw, "name"), word(raw, "badge")
    return PersonRow(user, name, badge, search_text(name, user, badge), text)


def store(given: object) -> StoreRow:
    """interface: Store (list item)."""
    raw = mapping(given)
    text = dumped(raw)
    number_ = key(raw, "storeNo")
    about = (word(raw, name) for name in ("storeName", "areaDescription", "areaId", "countryCode"))
    return StoreRow(number_, search_text(number_, *about), text)


def surrounding(given: object) -> str:
    """interface: Surrounding stock entry, as it is kept; it has to name a store and a quantity."""
    raw = mapping(given)
    if not word(raw, "store_number") and not word(raw, "store_name"):
        raise Malformed("it names no store", "store_number")
    figure(raw, "most_likely_quantity")
    return dumped(raw)
