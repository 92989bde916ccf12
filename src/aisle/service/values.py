"""What the values of a body may be, whatever they are for; what a field of its own may be is its handler's to say."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from aisle.service.amounts import LARGEST, LIMIT
from aisle.service.answers import Refusal, against_rule, malformed

_DEEPEST = 32
_PLACES = 3
_FIELDS, _LENGTH = 200, 50_000
"""More no object of any body has, and no list."""
PRICES = frozenset({"price", "old_price", "purchase_price", "special_price", "promotion_price", "discount_price"})
"""What bodies call a price, whichever of them has it; none is below zero."""
COUNTS = frozenset({"edit_min_max_percentage", "no_of_containers", "purchase_unit_quantity", "unit_quantity"})
"""What is reckoned with as so many of something; none is below zero either."""
IDS = frozenset({"id", "log_id"})
"""What bodies call the id of a row as lists tell it; it grows with what is written, and beyond other numbers."""
FIGURES = frozenset({"average_array", "demand_until_delivery", "forecast_array", "history_array", "order_level"})
"""What somebody has computed, and nothing here counts by it: such figures have the places that they come to."""
LONGEST_TEXT = 1_000
"""Characters of a text, wherever nothing else is said of its field."""
LONGEST_COMMENT = 10_000
"""Characters of what people write at length."""
LONGEST_IMAGE = 256 << 10
"""Characters of an image that is sent as text."""
LONGEST = dict.fromkeys(
    ("comment", "order_comment", "loss_comment", "product_details", "barcodes_array"), LONGEST_COMMENT
) | dict.fromkeys(("loss_image", "image_url"), LONGEST_IMAGE)
"""Characters of the fields that have a limit of their own."""
_FROM_ZERO = dict.fromkeys(PRICES, "A price is not below zero.") | dict.fromkeys(COUNTS, "There is no less than none.")
_APART = IDS | FIGURES


def checked(value: Any) -> int:
    """How many objects stand in the arrays of a body. Raises Refusal for what cannot be stored, and for too deep a
    nesting."""
    try:
        return _check(value, 0)
    except Refusal as problem:
        problem.field = (problem.field or "").removeprefix(".") or "body"
        raise


def too_deep() -> Refusal:
    """400: nobody means so much of it."""
    return malformed(f"The body is nested deeper than {_DEEPEST}. Look for brackets that are not closed.")


def _too_long() -> Refusal:
    return Refusal(413, f"At most {_LENGTH} items are taken in one request.")


def _check(value: Any, depth: int, longest: int = LONGEST_TEXT) -> int:
    """The same below `depth` others. Its refusals name the place from here on."""
    if isinstance(value, str):
        _check_text(value, longest)
    elif isinstance(value, int | Decimal):
        _check_number(value)
    elif isinstance(value, list | dict):
        if depth >= _DEEPEST:
            raise too_deep()
        return _check_parts(value, depth + 1, longest)
    return 0


def _check_parts(value: list[Any] | dict[str, Any], depth: int, longest: int) -> int:
    count, of_list = 0, isinstance(value, list)
    if len(value) > (_LENGTH if of_list else _FIELDS):
        raise _too_long() if of_list else malformed(f"No object has more than {_FIELDS} fields here.")
    for name, item in enumerate(value) if isinstance(value, list) else value.items():
        if isinstance(name, str):
            _check_text(name, LONGEST_TEXT)
            longest = LONGEST.get(name, LONGEST_TEXT)
        try:
            if name not in _APART or not _is_apart(name, item):
                count += _check(item, depth, longest)
            if name in _FROM_ZERO and isinstance(item, int | Decimal) and item < 0:
                raise against_rule(_FROM_ZERO[name])
        except Refusal as problem:
            problem.field = (f"[{name}]" if of_list else f".{name}") + (problem.field or "")
            raise
        count += of_list and isinstance(item, dict)
    return count


def _is_apart(name: int | str, value: Any) -> bool:
    """Whether this is an id, or figures, with nothing wrong in it; all else is looked at as other values are."""
    if name in IDS:
        return isinstance(value, int) and -LARGEST <= value <= LARGEST
    several = value if isinstance(value, list) else [value]
    return len(several) <= _LENGTH and all(isinstance(one, int | Decimal) and -LIMIT <= one <= LIMIT for one in several)


def _check_number(value: int | Decimal) -> None:
    # Compared, not computed with: an exponent of a million is text, not yet a number.
    if value > LIMIT or value < -LIMIT:
        raise against_rule("This number is too large.")
    if isinstance(value, Decimal) and _places(value) > _PLACES:
        raise against_rule(f"Numbers have at most {_PLACES} decimal places.")


def _places(value: Decimal) -> int:
    """How many decimal places a number really has: 1.50000 has one."""
    _, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int) or not any(digits):
        return 0
    zeros = next(n for n, digit in enumerate(reversed(digits)) if digit)
    return -exponent - zeros


def _check_text(text: str, longest: int) -> None:
    if len(text) > longest:
        raise against_rule(f"This has {len(text):,} characters; at most {longest:,} are taken here.")
    if "\0" in text:
        raise against_rule("A NUL character cannot be stored.")
    if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
        raise malformed("This is not valid Unicode.")
