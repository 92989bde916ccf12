"""Implausible values that a person should look at: dates, prices, quantities, containers and settings of a row.

Figures and locations that are the number of a day (46366 is 10-12-2026 to a spreadsheet) or of their product, too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta, tzinfo
from decimal import Decimal
from typing import NamedTuple

from aisle.barcode_numbers import wrong_check_digit
from aisle.client.csv_load.barcode_cells import split_container
from aisle.client.csv_load.cells_of_columns import DATE, MONEY, NUMBER, WHOLE
from aisle.client.csv_load.checked_rows import CsvTable, RecordKey, TableRow, Values
from aisle.client.csv_load.clean_cells_and_keys import join_digits
from aisle.client.csv_load.date_cells import SERIAL_START, is_recent_day
from aisle.client.csv_load.file_layouts_and_columns import (
    ATTRIBUTES,
    DELIVERIES,
    LOCATIONS,
    ORDERS,
    PRICES,
    PRODUCTS,
    STOCK,
    STORE_PRODUCTS,
    price_of,
)
from aisle.client.csv_load.price_conflicts_with_store import PRICE_JUMP, is_far
from aisle.client.csv_load.report import BECOMES, BELOW_ZERO, FROM_PRICE, TAKES_AWAY
from aisle.client.csv_load.service_reads import clock_reason
from aisle.client.paging import Row

_SSCC_DIGITS = 18
"""Digits of a container number (GS1 SSCC)."""
CONTAINER_COLUMN = "container_barcode"
_TIME_START = 10
"""Index at which the time begins in a date."""
_SALE_PRICES = {
    "price": "the price",
    "discount_price": "the discount price",
    "promotion_price": "the promotion price",
    "special_price": "the special price",
}
"""Columns of prices at which goods are sold, with words for them."""
_PRICE_FILES = (PRODUCTS.file, PRICES.file, STORE_PRODUCTS.file)
_MOST_PLAUSIBLE = {ORDERS.file: 10_000, DELIVERIES.file: 100_000, STOCK.file: 1_000_000}
"""Quantities above which a row is warned of; a code among the quantities is larger than these."""
_FIRST_YEAR = 2000
_YEARS_AHEAD = 5
_MONTH_DAYS = 30
_NEXT_DATES = (
    *("next_delivery_date", "next_ordering_date", "store_next_delivery_datetime", "store_next_ordering_datetime"),
)
_EXPIRY = "expiry_date_time"
"""Date of goods, which may have no end."""
_COMING_DATES = ("datetime_expected", "pickup_date")
"""Dates of what is still to come, unless the record is one of the past."""
_IN_ORDER = (
    ("datetime_created", "datetime_expected"),
    ("ordering_datetime", "pickup_date"),
    ("ordering_datetime", "delivery_date"),
    ("validate_expiry_date_time", _EXPIRY),
)
"""Pairs of dates, of which the second is not before the first."""
_MEANT_DATES = frozenset({*_NEXT_DATES, *_COMING_DATES})
"""Dates of something that happens, which have no value that stands for no end."""


class _Flag(NamedTuple):
    """Flag of an order with the value that puts it in a state."""

    name: str
    value: bool | None
    state: str


_FLAGS_OF_STATUS = {4: _Flag("is_rejected", True, "rejected"), 5: _Flag("is_active", False, "finished")}
"""Flags that make an order what a status says."""
_OPEN, *_PICKED = (1, 2, 3)
"""Statuses of an order: nothing of it is picked; a part or all of it is."""
_NO_END = ("2099-12-31", "9999-12-31")
"""Dates that programs write for no end."""


def container_key(code: str) -> str:
    """Return what all forms of one container number have in common."""
    bare = split_container(code)[0] or join_digits(code.strip())
    return bare.lstrip("0") if bare.isdecimal() else bare.casefold()


class ContainerComparison:
    """Containers of deliveries.csv that are on another delivery of the service."""

    def __init__(self, table: CsvTable) -> None:
        self._table = table
        self._lines: dict[int, list[tuple[int, str, str]]] | None = None
        """Rows, orders and codes, by hashes of containers; read with the first delivery of the service."""
        self._warned: set[tuple[int, str]] = set()

    def see(self, key: RecordKey, row: Row) -> None:
        """Compare the containers of a delivery, and add warnings."""
        if self._lines is None:
            self._lines = self._scan()
        for line in (row.get("order_lines") or []) if self._lines else ():
            code = container_key(str(line.get(CONTAINER_COLUMN) or "")) if isinstance(line, dict) else ""
            for at, mine, its in self._lines.get(hash(code), ()) if code else ():
                value = f"{its} of {mine} is also of {key[-1]}"
                if mine != key[-1] and (at, value) not in self._warned:
                    self._warned.add((at, value))
                    what = f"{CONTAINER_COLUMN} is on a delivery that the service has"
                    self._table.notes.add_warning(what, value, at)

    def _scan(self) -> dict[int, list[tuple[int, str, str]]]:
        found: dict[int, list[tuple[int, str, str]]] = {}
        has_codes = self._table.layout is DELIVERIES and self._table.has_column(CONTAINER_COLUMN)
        for line, (order, code) in self._table.select_cells(("order_number", CONTAINER_COLUMN)) if has_codes else ():
            if code:
                found.setdefault(hash(container_key(code)), []).append((line, order, code))
        return found


class ImplausibleValues:
    """Check of the values of a file's rows, in their order."""

    def __init__(
        self, table: CsvTable, zones: Mapping[str, tzinfo | None], prices: Collection[tuple[str, str]] | None
    ) -> None:
        """Store the collaborators. `zones` has the time zones of stores, as far as they are known.

        `prices` has the products with a price that 0 takes away, and its column; None if that is unknown.
        """
        self._prices = prices
        self._table = table
        self._zones = zones
        self._dates_columns = table.columns_of_kind(DATE)
        today = date.today()
        self._last_year = today.year + _YEARS_AHEAD
        self._today, self._month_ago = today.isoformat(), (today - timedelta(days=_MONTH_DAYS)).isoformat()
        self._containers: dict[str, tuple[str, int]] = {}
        self._warned_containers: set[tuple[str, str]] = set()

    def check(self, row: TableRow) -> TableRow:
        """Return the row, with a reason if it cannot be used. Add warnings for implausible values."""
        if row.reason:
            return row
        number = row.values.get("line_number", 1)
        if self._table.layout in (ORDERS, DELIVERIES) and number < 0:
            return row._replace(reason=f"line_number {number} is no number of a line; write 0 or more")
        for name in self._dates_columns:
            if reason := self._clock_reason(row, name):
                return row._replace(reason=reason)
        for what, value in self._warnings(row):
            self._table.notes.add_warning(what, value, row.line)
        if self._table.layout is DELIVERIES and row.values.get(CONTAINER_COLUMN):
            self._warn_of_shared_container(row)
        return row

    def _clock_reason(self, row: TableRow, name: str) -> str:
        """Return why a time is refused, which clocks skip. Add a warning for one that they show twice."""
        value = str(row.values.get(name, ""))
        problem, is_skipped = clock_reason(value, self._zones.get(row.values.get("store_number", "")))
        if problem and not is_skipped:
            self._table.notes.add_warning(f"{name} {problem}", value, row.line)
        return f"{name} {value!r} {problem}" if is_skipped else ""

    def _warnings(self, row: TableRow) -> Iterator[tuple[str, str]]:
        yield from _price_warnings(row)
        yield from _odd_settings(self._table.name, row)
        yield from self._dates(row)
        number = row.values.get("product_number")
        for name, meaning in _SALE_PRICES.items() if number else ():
            if row.values.get(name) != 0 or (name == "price" and self._table.name not in _PRICE_FILES):
                continue
            if name == "price":
                where = " in this store" if row.values.get("store_number") else ""
                yield f"{name} is 0, {BECOMES} {meaning} of the product{where}", str(number)
            elif self._prices is None:
                yield f"{name} is 0, {TAKES_AWAY} {meaning}, if there is one", str(number)
            elif (number, name) in self._prices:
                yield f"{name} is 0, {TAKES_AWAY} {meaning}", str(number)
        most = _MOST_PLAUSIBLE.get(self._table.name)
        if most is not None and row.values.get("quantity", 0) > most:
            yield f"quantity is over {most}", f"{row.values['quantity']} of {number}"
        day = str(row.values.get("pickup_date", ""))
        if day[_TIME_START:].strip("T 0:.Z+"):
            yield "pickup_date is a day, and the order does not show its time", day
        if self._table.layout is DELIVERIES:
            yield from self._delivery_warnings(row)

    def _dates(self, row: TableRow) -> Iterator[tuple[str, str]]:
        """Yield warnings for implausible dates."""
        for name, value in row.values.items():
            day = value[:_TIME_START] if "date" in name and isinstance(value, str) else ""
            if day[:4].isdecimal() and (day not in _NO_END or name in _MEANT_DATES):
                if int(day[:4]) < _FIRST_YEAR:
                    yield f"{name} is before the year {_FIRST_YEAR}", value
                elif int(day[:4]) > self._last_year:
                    yield f"{name} is more than {_YEARS_AHEAD} years away", value
                elif name in (*_NEXT_DATES, _EXPIRY) and day < self._today:
                    yield f"{name} is past", value
                elif name in _COMING_DATES and day < self._month_ago and not row.values.get("is_picked"):
                    yield f"{name} is more than a month ago", value
        for first, then in _IN_ORDER:
            created, expected = (str(row.values.get(name) or "")[:_TIME_START] for name in (first, then))
            if created and expected and expected < created:
                yield f"{then} is before {first}", f"{expected} and {created}"

    def _delivery_warnings(self, row: TableRow) -> Iterator[tuple[str, str]]:
        for name in ("quantity", "no_of_containers"):
            if row.values.get(name) == 0:
                yield f"{name} is 0, and nothing of it can come", str(row.values.get("order_number"))
        code = str(row.values.get(CONTAINER_COLUMN, ""))
        key = container_key(code)
        if len(code) > _SSCC_DIGITS and key.isdecimal() and (right := wrong_check_digit(key.zfill(_SSCC_DIGITS))):
            yield f"{CONTAINER_COLUMN} has a wrong check digit", f"{code} should end in {right}"
        elif len(code) > _SSCC_DIGITS and code.isdecimal():
            yield f"{CONTAINER_COLUMN} has {len(code)} digits, and a container number has {_SSCC_DIGITS}", code

    def _warn_of_shared_container(self, row: TableRow) -> None:
        """Add a warning for a container of two deliveries, once for each of them."""
        code, order = str(row.values[CONTAINER_COLUMN]), str(row.values.get("order_number"))
        first, line = self._containers.setdefault(container_key(code), (order, row.line))
        if first != order and (order, container_key(code)) not in self._warned_containers:
            self._warned_containers.add((order, container_key(code)))
            value = f"{code} of {order} is also of {first} (row {line})"
            self._table.notes.add_warning(f"{CONTAINER_COLUMN} is on two deliveries", value, row.line, beside=first)


def _odd_settings(file: str, row: TableRow) -> Iterator[tuple[str, str]]:
    """Yield warnings for figures below 0, units of nothing, and two pools of one name."""
    values, number = row.values, str(row.values.get("product_number", ""))
    for name, value in values.items() if file in _FILES_OF_SETTINGS else ():
        if isinstance(value, int | Decimal) and value < 0 and not name.endswith("order"):
            yield f"{name} {BELOW_ZERO}", f"{value} of {number}"
    of_units = [one.get("unit_quantity") for one in values.get("units", ())]
    if 0 in (values.get("purchase_unit_quantity"), *of_units):
        name = "unit_quantity in units" if 0 in of_units else "purchase_unit_quantity"
        yield f"{name} is 0, so that a scan of the unit finds no product", number
    for name in values:
        allowed = name.replace("_not_", "_")
        if name.endswith("_not_allowed") and (both := {*values[name]} & {*values.get(allowed, ())}):
            yield f"{name} has what {allowed} has too", f"{', '.join(sorted(both))} of {number}"
    if values.get("is_set") is False and values.get("set_product"):
        yield "is_set is false, and set_product has parts", number
    if values.get("reset_store_stock") is True:
        yield "reset_store_stock is true, which changes no stock here; load the stock, or count it", number
    pools = [value for name, value in values.items() if name.startswith("store_stock_pool_") and isinstance(value, str)]
    for at, name in enumerate(pools):
        if name.strip() and name.casefold() in map(str.casefold, pools[:at]):
            yield "two stock pools have the same name", name


_FILES_OF_SETTINGS = (PRODUCTS.file, ATTRIBUTES.file, STORE_PRODUCTS.file)


def _price_warnings(row: TableRow) -> Iterator[tuple[str, str]]:
    for name in ("discount_price", "promotion_price", "special_price"):
        lower, price = row.values.get(name), row.values.get("price")
        if lower is not None and price is not None and lower > price:
            yield f"{name} is above the price", f"{lower} and {price}"
    for name in ("discount_price", "promotion_price", "special_price", "old_price"):
        other, price = row.values.get(name), row.values.get("price")
        if other and price and is_far(other, price):
            yield f"{name} is more than {PRICE_JUMP} {FROM_PRICE}", f"{other} and {price}"
    old, price = row.values.get("old_price"), row.values.get("price")
    if old and price is not None and old <= price:
        yield "old_price is not above the price, so that it shows no reduction", f"{old} and {price}"
    if row.values.get("is_promotion") is True and row.values.get("discount_price") == 0:
        yield (
            "is_promotion is true, and discount_price is 0, so the promotion has no price",
            str(row.values.get("product_number")),
        )
    bought, price = row.values.get("purchase_price"), row.values.get("price")
    if bought and price and bought > price:
        yield "purchase_price is above the price; is a price cut at its decimal comma?", f"{bought} and {price}"


def note_started_promotion(table: CsvTable, row: TableRow) -> None:
    """Start a promotion, or end it, by a discount that does not say whether there is one, and add a remark on that."""
    discount = row.values.get("discount_price")
    if discount is not None and "is_promotion" not in row.values:
        row.values["is_promotion"] = bool(discount)
        if discount:
            table.notes.add_remark("a discount_price without is_promotion starts the promotion")


def warn_of_state(table: CsvTable, line: int, order: Values) -> None:
    """Add a warning for a new order that is not in the state of its status_id, or that nobody picks."""
    status = order.get("status_id", _OPEN)
    name, flag, state = _FLAGS_OF_STATUS.get(status, _Flag("", None, ""))
    is_picked = order.get("is_picked") or any(
        one.get("is_picked") or one.get("picked_quantity") for one in order["order_lines"]
    )
    what = ""
    if name and order.get(name) is not flag:
        what = f"status_id alone leaves the order open, as {name} says; write {name} {str(flag).lower()} for {state}"
    elif status in _PICKED and not is_picked:
        what = "status_id alone leaves the order open, and nothing of it picked; write picked_quantity in its lines"
    elif not name and status not in (_OPEN, *_PICKED):
        what = f"status_id is none of {_OPEN} to {max(_FLAGS_OF_STATUS)}, and leaves the order open"
    elif closed := next((one for one in _FLAGS_OF_STATUS.values() if order.get(one.name) is one.value), None):
        what = f"the order comes {closed.state} ({closed.name} is {str(closed.value).lower()}), so that nobody picks it"
    if what:
        number = order["order_number"]
        value = f"{number}, status_id {status}" if "status_id" in order else number
        table.notes.add_warning(what, value, line, beside=number)


def warn_of_picked(table: CsvTable, rows: Iterable[TableRow], order: Values) -> None:
    """Add a warning for each line of a new order that comes picked: its goods are taken off the shelf.

    They lie there again if the order is rejected.
    """
    for row, line in zip(rows, order["order_lines"], strict=True):
        quantity, is_picked = line["quantity"], line.get("is_picked", order.get("is_picked"))
        picked, what = line.get("picked_quantity", quantity if is_picked else 0), ""
        if picked and order.get("is_rejected"):
            what = "what is picked of the line is not kept, because the order comes rejected"
        elif picked:
            what = (
                "the line comes picked, and its goods are taken off the shelf; if they were gone when it was counted,"
                " count again with --recount"
            )
        if is_picked and picked < quantity:
            less = "a picked_quantity of 0, so that nobody picks its goods" if not picked else _PICKED_SHORT
            value = f"{quantity} of {line['product_number']}" if not picked else f"{picked} of {quantity}"
            table.notes.add_warning(f"the line comes picked with {less}", value, row.line, beside=row.key[-1])
        if what:
            table.notes.add_warning(what, f"{picked} of {line['product_number']}", row.line, beside=row.key[-1])


_PICKED_SHORT = "less than its quantity, so that nobody picks the rest"


def warn_of_containers(table: CsvTable, rows: Sequence[TableRow], delivery: Values) -> None:
    """Add a warning for a delivery that has another number of containers than its lines name."""
    codes = [container_key(str(line.get(CONTAINER_COLUMN) or "")) for line in delivery["order_lines"]]
    count, named = delivery["no_of_containers"], len({*codes} - {""})
    if named > count or (named < count and all(codes)):
        what = "no_of_containers is not the number of containers that the lines name"
        name = str(delivery["order_number"])
        table.notes.add_warning(what, f"{count} and {named}, of {name}", rows[0].line, beside=name)


_SHORTEST_NUMBER = {MONEY: 3, NUMBER: 4, WHOLE: 4}
"""Digits from which a figure is hardly the number of its product by chance, by the kind of its column."""
_LEAST_LARGE = 10_000
"""Figure from which days are none among other figures."""
_NEVER_LARGE = frozenset({"min", "max", "no_of_containers"})
"""Figures that are no number of a day even where the file has no other figure."""
_DAY_DIGITS = 5
_DAY_AS_CODE = "location_code is what a spreadsheet makes of a date; if the code was like one (10-12), write it as text"


def warn_of_numbers_of_days_and_products(table: CsvTable) -> None:
    """Add warnings for figures and locations that are the number of a day, and figures that are that of a product."""
    shortest = {name: digits for kind, digits in _SHORTEST_NUMBER.items() for name in table.columns_of_kind(kind)}
    figures = {name: digits for name, digits in shortest.items() if not name.endswith("line_number")}
    if table.layout is ORDERS:
        figures.pop("quantity", None)  # such a quantity is warned of as too large
    if figures:
        _warn_of_figures(table, figures)
    if table.layout is LOCATIONS:
        _warn_of_locations(table)


def _warn_of_figures(table: CsvTable, shortest: Mapping[str, int]) -> None:
    """Add warnings for figures; `shortest` has the least digits of a number of a product, by column."""
    is_of_products = "product_number" in table.layout.columns
    owner = "product_number" if is_of_products else table.key_columns[-1]
    days: dict[str, list[tuple[int, str, str]]] = {name: [] for name in shortest}
    small = dict.fromkeys(shortest, 0)
    """Figures below the number of a day, less those that are as large."""
    for line, (of, *cells) in table.select_cells((owner, *shortest)):
        for name, cell in zip(shortest, cells, strict=True):
            if is_of_products and len(cell) >= shortest[name] and cell.lstrip("0") == of.lstrip("0"):
                table.notes.add_warning(f"{name} is the number of the product", cell, line)
            elif is_recent_day(cell):
                days[name].append((line, cell, of))
            elif figure := price_of(cell):
                small[name] += 1 if figure < _LEAST_LARGE else -1
    for name, found in days.items():
        for line, cell, of in found if small[name] >= (0 if name in _NEVER_LARGE else len(found)) else ():
            what = f"{name} may be a day, of which a spreadsheet makes a number"
            table.notes.add_warning(what, f"{cell} of {of}, {_day_of(cell)}", line)


def _warn_of_locations(table: CsvTable) -> None:
    """Add warnings for locations that are the number of a day, unless most are of five digits."""
    rows = [(line, code) for line, (code,) in table.select_cells(("location_code",)) if code]
    numbers = [(line, code) for line, code in rows if code.isdecimal() and len(code) == _DAY_DIGITS]
    for line, code in numbers if len(numbers) * 2 <= len(rows) else ():
        if is_recent_day(code):
            table.notes.add_warning(_DAY_AS_CODE, f"{code}, {_day_of(code)}", line)


def _day_of(cell: str) -> str:
    return f"the number of {SERIAL_START + timedelta(days=int(cell)):%d-%m-%Y}"
