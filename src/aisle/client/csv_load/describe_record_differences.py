"""Description, in plain words, of what differs between a record of a file and the same one in the service."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import tzinfo
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from aisle.client.csv_load.report import REASON_LENGTH
from aisle.client.csv_load.store_time_zones import moment_of
from aisle.text_cells import ELLIPSIS

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
