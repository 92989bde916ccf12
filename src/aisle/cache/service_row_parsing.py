"""Parsing of the service's rows: fields, limits of their texts, and the rows as the cache stores them.

Stored rows are parsed by `parse_stored_row`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sized
from decimal import Decimal
from reprlib import repr as short_repr
from typing import Any

from aisle.search_text import index_text
from aisle.text_cells import ELLIPSIS

RawRow = Mapping[str, Any]


_NUMBER_TYPES = (int, float, Decimal)


_NUMERIC_TYPES = (*_NUMBER_TYPES, str)


_MAX_EXACT_INTEGER = 1 << 53


_MAX_NUMBER_TEXT = 60
"""Characters of the longest text that is read as a number."""


class InvalidRow(ValueError):
    """A row that cannot be used, with the reason and the field."""

    def __init__(self, reason: str, field: str = "") -> None:
        super().__init__(reason)
        self.field = field


class OverlongRow(InvalidRow):
    """A row with a text beyond the limits; `truncate_texts` shortens it."""


def require_object(raw: object) -> RawRow:
    """Return the row if it is an object. Raise InvalidRow otherwise."""
    if isinstance(raw, dict):
        return raw
    raise InvalidRow(f"a row has to be an object, not {type(raw).__name__}")


MAX_ENTRIES = 1_000
"""Greatest number of an order's lines, and of the locations in a row. Real orders have some hundred lines."""


def check_entries(entries: Sized, name: str) -> None:
    """Raise InvalidRow if a list in a row has more than `MAX_ENTRIES`."""
    if len(entries) > MAX_ENTRIES:
        raise InvalidRow(f"{name} has {len(entries):,} entries, more than {MAX_ENTRIES:,}", name)


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
        raise InvalidRow(f"{name} is no name: {short_repr(value)}", name)
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
        if isinstance(value, str) and len(value) > _MAX_NUMBER_TEXT:
            raise ValueError
        found = float(value)
        if found - found != 0:
            raise ValueError
    except (ValueError, OverflowError):
        raise InvalidRow(f"{name} is no number: {short_repr(value)}", name) from None
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


_encode_json = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), check_circular=False, default=_encode_decimal
).encode


def dump_row(raw: RawRow) -> str:
    """Return the row as stored text, with unknown fields.

    Raise UnicodeEncodeError for a lone surrogate, OverlongRow for a text or a field beyond the limits, and InvalidRow
    for a row that is nested too deeply: sessions read it from a deeper stack.
    """
    text = _encode_json(raw)
    if not text.isascii():
        text.encode()
    if text.count("[") + text.count("{") > MAX_DEPTH and _is_deeper(raw, MAX_DEPTH):
        raise InvalidRow(f"it is nested deeper than {MAX_DEPTH} levels")
    if len(text) > _CHECK_FROM_LENGTH and (_is_overlong(raw, text) or truncate_texts(raw) != raw):
        raise OverlongRow("it is too long")
    return text


def _is_deeper(value: object, levels: int) -> bool:
    """Return whether lists and objects are nested in more than so many levels."""
    if not isinstance(value, dict | list):
        return False
    inner: Iterable[object] = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_is_deeper(each, levels - 1) for each in inner)


def _is_overlong(raw: RawRow, text: str) -> bool:
    """Return whether a row is too long, with its locations and images or without."""
    if len(text) <= _MAX_ROW:
        return False
    rest = {name: value for name, value in raw.items() if name not in _IMAGE_FIELDS | _LISTS}
    return len(text) > _MAX_WHOLE_ROW or len(_encode_json(rest)) > _MAX_ROW


MAX_DEPTH = 20
"""Levels of lists and objects in a stored row."""


_MAX_TEXT, _MAX_COMMENT, _MAX_IMAGE, _MAX_ROW, _MAX_WHOLE_ROW = 1_000, 10_000, 256 << 10, 64 << 10, 1 << 20
"""Greatest number of stored characters in a text, a comment, an image, a row without and a row with locations and
images.
"""


_MAX_FIELD = 10_000
"""Greatest number of stored characters of a list or an object in a row, except `_LISTS`."""


_LISTS = frozenset({"store_locations", "lines", "order_lines"})
"""Lists whose entries are checked one by one."""


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
    """Return the row with overlong texts cut, and overlong images, lists and objects removed.

    Raise InvalidRow for an overlong key field: half a number is another number.
    """
    if isinstance(raw, dict):
        return {
            str(field)[:_MAX_TEXT]: truncate_texts(value, field)
            for field, value in raw.items()
            if not isinstance(value, dict | list) or field in _LISTS or len(_encode_json(value)) <= _MAX_FIELD
        }
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


def index_texts(*parts: str) -> str:
    """Return the search text of these parts in normalised form.

    A space precedes each word, so that ` mi` matches beginnings of words.
    """
    return " " + index_text(" ".join(parts))
