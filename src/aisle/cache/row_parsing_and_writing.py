"""Rows of the service: parsing of their fields, figures computed from one row, and writing alike for all lists.

Stored rows are parsed by `stored_row_values`.

The fields of a parsed row are the columns of its table; the first one is its key, `raw` the row as stored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from decimal import Decimal
from functools import cache
from reprlib import repr as short_repr
from typing import Any, NamedTuple, Protocol, TypeVar

import apsw

from aisle.host.database import fetch
from aisle.row_values import to_decimal
from aisle.search_text import index_text
from aisle.terminal_text import ELLIPSIS

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
    """Return whether a row is too long with its locations and images, or too long or too much without them."""
    rest = _encode_json({name: value for name, value in raw.items() if name not in _IMAGE_FIELDS | _LISTS})
    return len(text) > _MAX_WHOLE_ROW or len(rest) > _MAX_ROW or rest.count("[") + rest.count("{") > _MAX_VALUES


MAX_DEPTH = 20
"""Levels of lists and objects in a stored row."""


_MAX_TEXT, _MAX_COMMENT, _MAX_IMAGE, _MAX_ROW, _MAX_WHOLE_ROW = 1_000, 10_000, 256 << 10, 64 << 10, 1 << 20
"""Greatest number of stored characters in a text, a comment, an image, a row without and a row with locations and
images.
"""


_MAX_VALUES = 2_000
"""Greatest number of lists and objects in a row without its locations: they take many times their text in memory."""


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


CHUNK_ROWS = 1000
"""Rows that are looked up in one query."""


_MAX_REASON = 200
"""Characters of the reason for which a row was left out."""


T = TypeVar("T")


class ParsedRow(Protocol):
    """Parsed row: a NamedTuple whose fields are the columns of its table; the first one is its key."""

    @property
    def raw(self) -> str: ...
    @property
    def _fields(self) -> tuple[str, ...]: ...
    def __getitem__(self, at: int, /) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...


R = TypeVar("R", bound=ParsedRow)


class SkippedRow(NamedTuple):
    """A row that was left out."""

    row: Any
    reason: str
    field: str = ""
    """Invalid field, if the error concerns one."""


class WriteResult(NamedTuple):
    """Result of writing rows."""

    keys: tuple[str, ...]
    """Keys of all valid rows."""
    changed: tuple[str, ...]
    """Keys of the rows that differ from the cached ones."""
    skipped: tuple[SkippedRow, ...]


def parse_rows(rows: Iterable[Any], parse: Callable[[Any], T]) -> tuple[list[T], tuple[SkippedRow, ...]]:
    """Return the valid rows, and the invalid ones with the reason."""
    good: list[T] = []
    bad: list[SkippedRow] = []
    for row in rows:
        try:
            good.append(_parse_row(row, parse))
        except (ValueError, OverflowError, RecursionError) as error:
            bad.append(SkippedRow(row, str(error)[:_MAX_REASON], error.field if isinstance(error, InvalidRow) else ""))
    return good, tuple(bad)


def _parse_row(row: Any, parse: Callable[[Any], T]) -> T:
    try:
        return parse(row)
    except (UnicodeEncodeError, OverlongRow):  # A row may be both.
        return parse(truncate_texts(replace_surrogates(row)))


def split_chunks(rows: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield the rows in chunks of `CHUNK_ROWS`."""
    for first in range(0, len(rows), CHUNK_ROWS):
        yield rows[first : first + CHUNK_ROWS]


def encode_keys(rows: Iterable[str]) -> str:
    """Return keys as one parameter for json_each."""
    return json.dumps(list(rows))


@cache
def _upsert_sql(table: str, columns: tuple[str, ...]) -> str:
    marks, changes = ", ".join("?" * len(columns)), ", ".join(f"{name} = excluded.{name}" for name in columns[1:])
    return (
        f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608 - names of our own
        f" ON CONFLICT ({columns[0]}) DO UPDATE SET {changes}"
    )


def upsert(connection: apsw.Connection, table: str, columns: tuple[str, ...], rows: Iterable[Sequence[Any]]) -> None:
    """Insert rows with these columns, or update those whose key, the first column, is stored."""
    connection.executemany(_upsert_sql(table, columns), rows)


def changed_rows(connection: apsw.Connection, table: str, rows: Iterable[R]) -> list[R]:
    """Return those of the rows that are not stored, or stored with another text; of two with one key the last."""
    by_key = {row[0]: row for row in rows}
    if not by_key:
        return []
    key = next(iter(by_key.values()))._fields[0]
    sql = f"SELECT t.{key}, t.raw FROM json_each(?) e JOIN {table} t ON t.{key} = e.value"  # noqa: S608 - names of our own
    stored = dict(fetch(connection, sql, encode_keys(by_key)))
    return [row for name, row in by_key.items() if stored.get(name) != row.raw]


def write_changed(connection: apsw.Connection, table: str, rows: Iterable[R]) -> tuple[str, ...]:
    """Write rows that are new or changed. Return their keys."""
    fresh = changed_rows(connection, table, rows)
    if fresh:
        upsert(connection, table, fresh[0]._fields, [tuple(row) for row in fresh])
    return tuple(str(row[0]) for row in fresh)


def replace_all(connection: apsw.Connection, table: str, key: str, rows: Iterable[R]) -> tuple[str, ...]:
    """Replace all rows of a table. Return the keys that were added, changed or removed."""
    by_key = {str(row[0]): row for row in rows}
    stored = dict(fetch(connection, f"SELECT {key}, raw FROM {table}"))  # noqa: S608 - names of our own
    gone = [(name,) for name in stored if name not in by_key]
    connection.executemany(f"DELETE FROM {table} WHERE {key} = ?", gone)  # noqa: S608 - names of our own
    return (*write_changed(connection, table, by_key.values()), *(str(name) for (name,) in gone))


def unseen_sql(topic: str, key: str) -> str:
    """Return the condition for rows that a complete pass has not seen; the parameter is its number."""
    return f"NOT EXISTS (SELECT 1 FROM seen_key s WHERE s.topic = '{topic}' AND s.generation = ? AND s.key = {key})"  # noqa: S608


STATUS_REVIEWED = "2"
"""Value of `review_status` for an approved entry, in the numbers of our own service. interface: review_status."""


def difference_of_count(entry: RawRow, user: str) -> Decimal | None:
    """Return counted minus expected quantity; None if nobody has to review it."""
    if entry.get("counted_quantity") is None or str(entry.get("review_status")) == STATUS_REVIEWED:
        return None
    counted, expected = to_decimal(entry["counted_quantity"]), entry.get("expected_quantity")
    difference = to_decimal(entry.get("quantity")) if expected is None else counted - to_decimal(expected)
    if not difference or (not user and expected is not None and not to_decimal(expected)):
        return None  # stock from loading the store is no count
    return difference


_PRICE_FIELDS = ("store_products_price", "price")

ENTRY_PRICE_SQL = f"coalesce({', '.join(f'nullif(CAST(l.raw ->> {each!r} AS REAL), 0)' for each in _PRICE_FIELDS)})"
"""Price stated by the log entry `l` (see `entry_price`)."""


def entry_price(entry: RawRow) -> Any:
    """Return the price stated by a log entry: the store's own, else the chain's; None if it has none, or 0."""
    return next((entry[each] for each in _PRICE_FIELDS if to_decimal(entry.get(each))), None)


def negative_stock(entry: RawRow) -> list[tuple[str, Decimal]]:
    """Return the locations with a negative quantity; an empty code is the stock outside of locations."""
    locations = entry.get("store_locations")
    quantities = [
        (str(location.get("store_location_code") or ""), to_decimal(location.get("quantity")))
        for location in (locations if isinstance(locations, list) else ())
        if isinstance(location, dict)
    ]
    at_places = sum((quantity for _, quantity in quantities), Decimal(0))
    total = to_decimal(entry.get("most_likely_quantity"))
    if total < at_places or (total < 0 and not quantities):
        quantities.insert(0, ("", total - at_places))
    return [(location, quantity) for location, quantity in quantities if quantity < 0]
