"""Figures that are hardly meant: they are warned of, or refused where nobody can use them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from aisle.client.load.cells import joined_digits
from aisle.client.load.columns import DELIVERIES, ORDERS, PRICES
from aisle.client.load.table import Row, Table
from aisle.code_forms import wrong_check_digit

_SSCC = 18
"""Digits of the number of a container (GS1)."""
_IDENTIFIER = re.compile(r"\(00\)\s*|00(?=\d{18}$)", re.ASCII)
"""What stands before the number of a container in its code (GS1)."""
CONTAINER = "container_barcode"
_TIME = 10
"""Where the time of a date begins, behind its day."""
_MOST_ORDERED = 10_000
_FIRST_YEAR = 2000
_YEARS_AHEAD = 5
_NO_END = ("2099-12-31", "9999-12-31")
"""Days that programs write for no end."""


def container_key(code: str) -> str:
    """What all forms of the number of one container have in common."""
    bare = _IDENTIFIER.sub("", code.strip(), count=1) if code.strip()[:1] in "(0" else code.strip()
    digits = joined_digits(bare)
    return digits.lstrip("0") if digits.isdecimal() else bare.casefold()


class OddFigures:
    """Looks at the rows of one file in their order."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._last_year = date.today().year + _YEARS_AHEAD
        self._containers: dict[str, tuple[str, int]] = {}

    def judged(self, row: Row) -> Row:
        """The row, with the reason where nobody can use it; what is odd of it is noted."""
        if row.reason:
            return row
        number = row.values.get("line_number", 1)
        if self._table.name in (ORDERS.file, DELIVERIES.file) and number < 0:
            return row._replace(reason=f"line_number {number} is no number of a line; write 1 or more")
        for what, value in self._odd(row):
            self._table.notes.warn(what, value, row.line)
        return row

    def _odd(self, row: Row) -> Iterator[tuple[str, str]]:
        yield from _dear(row)
        yield from self._dates(row)
        number = row.values.get("product_number")
        if self._table.name == PRICES.file and row.values.get("price") == 0:
            yield "price is 0, and becomes the price of the product", str(number)
        if self._table.name == ORDERS.file and row.values.get("quantity", 0) > _MOST_ORDERED:
            yield f"quantity is over {_MOST_ORDERED}", f"{row.values['quantity']} of {number}"
        day = str(row.values.get("pickup_date", ""))
        if day[_TIME:].strip("T 0:.Z+"):
            yield "pickup_date is a day, and the service does not keep its time", day
        if self._table.name == DELIVERIES.file:
            yield from self._of_delivery(row)

    def _dates(self, row: Row) -> Iterator[tuple[str, str]]:
        """Dates that are hardly meant."""
        for name, value in row.values.items():
            day = value[:_TIME] if "date" in name and isinstance(value, str) else ""
            if day[:4].isdecimal() and day not in _NO_END:
                if int(day[:4]) < _FIRST_YEAR:
                    yield f"{name} is before the year {_FIRST_YEAR}", value
                elif int(day[:4]) > self._last_year:
                    yield f"{name} is more than {_YEARS_AHEAD} years away", value

    def _of_delivery(self, row: Row) -> Iterator[tuple[str, str]]:
        for name in ("quantity", "no_of_containers"):
            if row.values.get(name) == 0:
                yield f"{name} is 0, and nothing of it can come", str(row.values.get("order_number"))
        if code := row.values.get(CONTAINER):
            yield from self._of_container(row, code)

    def _of_container(self, row: Row, code: str) -> Iterator[tuple[str, str]]:
        key = container_key(code)
        if len(code) > _SSCC and key.isdecimal() and (right := wrong_check_digit(key.zfill(_SSCC))):
            yield f"{CONTAINER} has a wrong check digit", f"{code} should end in {right}"
        order = str(row.values.get("order_number"))
        first, line = self._containers.setdefault(key, (order, row.line))
        if first != order:
            yield f"{CONTAINER} is on two deliveries", f"{code} of {order} is also of {first} (row {line})"


def _dear(row: Row) -> Iterator[tuple[str, str]]:
    for name in ("discount_price", "promotion_price", "special_price"):
        lower, price = row.values.get(name), row.values.get("price")
        if lower is not None and price is not None and lower > price:
            yield f"{name} is above the price", f"{lower} and {price}"
