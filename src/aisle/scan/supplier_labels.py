"""Labels of suppliers (ISO/IEC 15434): fields with data identifiers (format 06) or text identifiers (format 12)."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final, NamedTuple

from aisle.scan.grammar_and_meaning_types import Measure
from aisle.scan.gs1 import split_fields

_LABEL: Final = re.compile(r"\[\)>\W{0,4}(06|12)(.*)", re.ASCII | re.DOTALL)
_FIELDS: Final = {
    "06": re.compile(r"(\d{0,3}[A-Z]) *(.*)", re.ASCII),
    "12": re.compile(r"([A-Z]{3}) +(.*)", re.ASCII),
}
"""Identifier and value of a field, by format."""
_PRODUCT_IDENTIFIERS: Final = ("8P", "3P", "P", "1P", "20P", "30P", "PNO", "PNR")
"""Identifiers of products, surest first: GTIN; number at customer and supplier, whole and first level; part number."""
_QUANTITY_IDENTIFIERS: Final = ("Q", "7Q", "QTY")
_QUANTITY: Final = re.compile(r"(\d{1,9}(?:\.\d{1,3})?) *([A-Za-z]{0,3})", re.ASCII)


class SupplierLabel(NamedTuple):
    """What a supplier's label says of its goods; empty if it is damaged."""

    product_numbers: tuple[str, ...] = ()
    """Numbers of the product at customer and supplier, and its GTIN."""
    quantity: Measure | None = None
    """Quantity in a unit that supplier and customer agreed on; None for one, and without a quantity."""


def parse_supplier_label(text: str) -> SupplierLabel | None:
    """Return the content of a supplier's label; None for other text."""
    label = _LABEL.fullmatch(text)
    if label is None:
        return None
    found = [_FIELDS[label[1]].fullmatch(field) for field in split_fields(label[2])]
    fields = [(field[1], field[2].strip()) for field in found if field]
    quantities = {_parse_quantity(value) for identifier, value in fields if identifier in _QUANTITY_IDENTIFIERS}
    if len(fields) < len(found) or len(quantities) > 1 or None in quantities:
        return SupplierLabel()
    numbers = [value for wanted in _PRODUCT_IDENTIFIERS for identifier, value in fields if identifier == wanted]
    quantity = next(iter(quantities), None)
    is_one = quantity is not None and quantity.amount == 1
    return SupplierLabel(tuple(dict.fromkeys(filter(None, numbers))), None if is_one else quantity)


def _parse_quantity(value: str) -> Measure | None:
    """Return a quantity with the unit that is printed behind it; None if it cannot be read."""
    found = _QUANTITY.fullmatch(value)
    return Measure(Decimal(found[1]), found[2]) if found else None
