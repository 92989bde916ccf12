"""The state of receiving a delivery, its arithmetic, and the operations it sends.

Interface: Delivery order; Create store product logs with `is_from_receipt`, whose `reference` names the delivery.
Quantities are Decimals in base units.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs.amounts import number, said
from aisle.jobs.base import HALFWAY, Context, Effect, Remark, Turn, Write
from aisle.jobs.count import counting
from aisle.jobs.sheet import due, settled
from aisle.jobs.view import Msg, Verdict, msg
from aisle.scan.meaning import Meaning
from aisle.tuples import NamedTuple

HISTORY = 100
"""So many steps can be undone, last first."""

ZERO = Decimal(0)


class Line(NamedTuple):
    """A line of a delivery; number 0 for what nobody announced and the service has not numbered yet."""

    number: int
    product: str
    label: str
    of: Decimal
    """What was announced; 0 where it is `unsaid`."""
    received: Decimal = ZERO
    container: str = ""
    order: str = ""
    """The order of a customer that it is for."""
    pool: int = 0
    """The stock pool that it is meant for; 0 where nobody says."""
    decimal: bool = False
    unit: str = ""
    unsaid: bool = False
    """The delivery does not say how much of it was announced."""
    untold: bool = False
    """Nobody says how much of it came before."""

    @property
    def is_unknown(self) -> bool:
        """Nobody says how much of it came, and nothing was booked from here."""
        return self.untold and self.received <= 0

    @property
    def missing(self) -> Decimal:
        """What is still to come, as far as anybody says it."""
        return max(ZERO, self.of - self.received)

    @property
    def is_open(self) -> bool:
        """Something of it is still to come: where nobody says how much, until anything has."""
        return self.received <= 0 if self.unsaid else self.missing > 0

    @property
    def to_come(self) -> Decimal | None:
        """What is still to come; None where nobody says it."""
        return None if self.unsaid or self.is_unknown else self.missing


class Item(NamedTuple):
    """The product in hand, and how much of it has been counted and not booked yet."""

    product: str
    label: str
    quantity: Decimal = ZERO
    decimal: bool = False
    unit: str = ""
    home: str = ""
    """Where it lies, the first on the way; empty where nobody knows."""


class Entry(NamedTuple):
    """What was booked on a line."""

    product: str
    line: int
    quantity: Decimal
    place: str = ""
    pool: int = 0


class Did(NamedTuple):
    """A step that undo takes back: a scan that brought the item to something else, or goods that were booked."""

    label: str
    before: Item | None = None
    """What was in hand before it."""
    entries: tuple[Entry, ...] = ()
    at: str = ""
    """When they were booked: the moment of their entries in the log."""


class Way(NamedTuple):
    """One numbered way on; what key and quantity mean depends on its kind."""

    kind: str
    key: str = ""
    quantity: Decimal = ZERO
    label: str = ""


class Listed(NamedTuple):
    """A delivery in the list."""

    number: str
    supplier: str
    expected: Msg
    of: Decimal | None
    received: Decimal | None
    """Both None where nobody says it."""
    state: str
    lines: int = 0
    complete: int = 0
    """Of its lines: all of them has come."""
    mixed: bool = False
    """Pieces and measured goods in one, or lines without a quantity: there is no sum."""


class Receiving(NamedTuple):
    """A delivery being received."""

    phase: str = "delivery"
    """`delivery` (the list), `goods`, `lines`, `check` or `leave`."""
    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    rows: tuple[Listed, ...] = ()
    total: int = 0
    size: int = 12
    """Rows that a list on the screen has room for."""
    once: bool = False
    """Opened for one delivery: closes with it."""
    number: str = ""
    """The delivery that is open."""
    supplier: str = ""
    lines: tuple[Line, ...] = ()
    container: str = ""
    """The container that is being unpacked."""
    place: str = ""
    """Where goods go that nobody brings anywhere else: the receiving place."""
    standard: str = ""
    """The receiving place of the settings, as it was known last."""
    item: Item | None = None
    pending: Meaning | None = None
    """A scan of a product that has still to be looked up."""
    asked: Decimal = ZERO
    """Digits that are looked up: a quantity, or the number of something."""
    sought: str = ""
    """A delivery that is not here, and is asked for at the service."""
    ways: tuple[Way, ...] = ()
    dropping: bool = False
    """Back was said while goods were asked about: once more drops them."""
    extra: tuple[str, ...] = ()
    """Products of which somebody said that more came, or that they came without being announced."""
    history: tuple[Did, ...] = ()
    since: str = ""
    """When the job was opened; what was refused before then is no news."""
    told: tuple[str, ...] = ()
    """Refusals that were told."""

    @property
    def announced(self) -> Decimal:
        """What the delivery should bring, in pieces: what is measured counts as one, whatever its unit, and every line
        does where one of them says no quantity. 0 where nobody says what came of it: then there is no progress."""
        if any(line.is_unknown for line in self.lines):
            return ZERO
        ones = _are_ones(self.lines)
        announced = (line for line in self.lines if _is_announced(line))
        return sum((Decimal(1) if ones or line.decimal else line.of for line in announced), ZERO)

    @property
    def done(self) -> Decimal:
        """What of it is here, the item in hand included."""
        here = [line for line in with_hand(self) if _is_announced(line)]
        ones = _are_ones(here)
        full = (Decimal(int(not line.is_open)) if ones or line.decimal else line.of - line.missing for line in here)
        return sum(full, ZERO)


def _is_announced(line: Line) -> bool:
    return line.unsaid or line.of > 0


def _are_ones(lines: Iterable[Line]) -> bool:
    """Whether lines are counted, since quantities have no sum."""
    return any(line.unsaid for line in lines)


Result = Turn[Receiving]


def halfway(state: Receiving, user: str) -> Remark:
    """Home marks a delivery that is left with a part of it received; one that is complete has no mark."""
    some, all_ = any(line.received for line in state.lines), not any(line.missing for line in state.lines)
    return Remark(HALFWAY, state.number, user if some and not all_ else "")


def told(state: Receiving, kind: str, id_: str, *effects: Effect, **args: str | int | Decimal | Msg) -> Result:
    """A turn that says something."""
    return Turn(state, effects, Verdict(kind, msg(id_, **args)))


# What the store's data says


def listed_of(row: Mapping[str, Any], context: Context) -> Listed:
    """A row of the read `deliveries`."""
    expected, state = str(row.get("datetime_expected") or ""), str(row.get("state") or "")
    return Listed(
        str(row["order_number"]),
        str(row.get("supplier_name") or ""),
        settled(expected, context.now) if state == "received" else due(expected, context.now),
        number(row.get("quantity")),
        said(row.get("received_quantity")),
        state,
        int(number(row.get("total_lines"))),
        int(number(row.get("complete_lines"))),
        bool(row.get("is_mixed")),
    )


def line_of(row: Mapping[str, Any]) -> Line:
    """A line of the read `delivery`."""
    product = str(row.get("product_number") or "")
    return Line(
        int(row["line_number"]),
        product,
        str(row.get("description") or product),
        number(row.get("quantity")),
        number(row.get("received")),
        str(row.get("container_barcode") or ""),
        str(row.get("customer_order_number") or ""),
        int(number(row.get("target_stock_pool"))),
        bool(row.get("allow_decimal")),
        str(row.get("unit") or ""),
        row.get("quantity") is None,
        bool(row.get("untold")),
    )


def lines_of(state: Receiving, product: str) -> list[Line]:
    """The lines of a product: those of the open container first, then in order; what nobody announced last."""
    mine = [line for line in state.lines if line.product == product]
    inside = state.container.casefold()
    return sorted(mine, key=lambda line: (line.container.casefold() != inside, not line.number, line.number))


def is_announced(state: Receiving, product: str) -> bool:
    """Whether the delivery names it, or goods of it were booked on it before."""
    return any(line.product == product for line in state.lines)


def is_unsaid(state: Receiving, product: str) -> bool:
    """Whether the delivery names it, and does not say how much of it should come."""
    return any(line.product == product and line.unsaid for line in state.lines)


def is_unknown(state: Receiving, product: str) -> bool:
    """Whether nobody says how much of it came before."""
    return any(line.product == product and line.is_unknown for line in state.lines)


def missing_of(state: Receiving, product: str) -> Decimal:
    """What is still to come of a product, without what is in hand."""
    return sum((line.missing for line in state.lines if line.product == product), ZERO)


def announced_of(state: Receiving, product: str) -> tuple[Decimal, Decimal]:
    """(announced, received) of a product; 0 was announced where it is not said of all its lines."""
    mine = [line for line in state.lines if line.product == product]
    if is_unsaid(state, product):
        return ZERO, sum((line.received for line in mine), ZERO)
    return sum((line.of for line in mine), ZERO), sum((line.received for line in mine), ZERO)


def with_hand(state: Receiving) -> tuple[Line, ...]:
    """The lines as they will be when the item in hand is booked."""
    item = state.item
    if item is None or item.quantity <= 0:
        return state.lines
    return booked(state, allotted(state, item, ""), item.label).lines


class Difference(NamedTuple):
    """A product of which something else came than was announced."""

    product: str
    label: str
    of: Decimal
    came: Decimal
    unsaid: bool = False
    """Nobody says how much was announced: it differs where nothing came."""
    unknown: bool = False
    """Nobody says how much of it came before: what is in hand is not all of it."""

    @property
    def differs(self) -> bool:
        """Something else came than was announced."""
        return self.is_short or self.is_over

    @property
    def is_short(self) -> bool:
        """Less came than was announced."""
        return self.came <= 0 if self.unsaid else self.came < self.of

    @property
    def is_over(self) -> bool:
        """More came than was announced."""
        return not self.unsaid and self.came > self.of


def differences(state: Receiving) -> tuple[Difference, ...]:
    """What did not come as announced, the item in hand included; what nobody announced and what is too much first."""
    found: dict[str, Difference] = {}
    for line in state.lines:
        known = found.get(line.product) or Difference(line.product, line.label, ZERO, ZERO)
        found[line.product] = known._replace(
            of=known.of + line.of,
            came=known.came + line.received,
            unsaid=known.unsaid or line.unsaid,
            unknown=known.unknown or line.is_unknown,
        )
    item = state.item
    if item:
        known = found.get(item.product) or Difference(item.product, item.label, ZERO, ZERO)
        found[item.product] = known._replace(came=known.came + item.quantity)
    differing = [each for each in found.values() if each.differs]
    return tuple(sorted(differing, key=lambda each: (each.is_short, -abs(each.of - each.came), each.label)))


# What changes


def remember(state: Receiving, did: Did) -> Receiving:
    """Undo takes this back first."""
    return state._replace(history=(*state.history, did)[-HISTORY:])


def allotted(state: Receiving, item: Item, place: str) -> tuple[Entry, ...]:
    """The lines that the goods in hand belong to: what each still misses, and all the rest on the last of them."""
    left = item.quantity
    lines = [line for line in lines_of(state, item.product) if line.number] or lines_of(state, item.product)
    found: list[Entry] = []
    for line in lines:
        part = min(left, line.missing)
        if part > 0:
            found.append(Entry(item.product, line.number, part, place, line.pool))
            left -= part
    if left > 0:
        last = lines[-1] if lines else Line(0, item.product, item.label, ZERO)
        if found and found[-1].line == last.number:
            left += found.pop().quantity
        found.append(Entry(item.product, last.number, left, place, last.pool))
    return tuple(found)


def booked(state: Receiving, entries: Iterable[Entry], label: str, sign: int = 1) -> Receiving:
    """The lines after these entries; with sign -1 after they were taken back."""
    lines = list(state.lines)
    for entry in entries:
        at = next((i for i, line in enumerate(lines) if (line.product, line.number) == (entry.product, entry.line)), -1)
        if at < 0:  # it has a number by now, or nobody announced it
            at = next((i for i, line in enumerate(lines) if line.product == entry.product), -1)
        if at < 0:
            lines.append(Line(0, entry.product, label, ZERO))
        received = lines[at].received + sign * entry.quantity
        lines[at] = lines[at]._replace(received=max(ZERO, received))
    kept = (line for line in lines if line.number or line.received)
    return state._replace(lines=tuple(kept))


def write(state: Receiving, entries: Iterable[Entry], context: Context, sign: int = 1) -> Write:
    """The operation that books these entries; with sign -1 the one that takes them back."""
    rows = [_row(state.number, entry, context, sign) for entry in entries]
    products = {str(row["product_number"]) for row in rows}
    lanes = (f"delivery/{state.number}", *sorted(f"product/{product}" for product in products))
    query = {"appUserName": context.user, "is_counted_quantity": False, "is_from_receipt": True}
    path = {"store_number": context.store}
    return Write("create-store-product-logs", lanes, path, query, {"storeproductlog": rows})


def _row(delivery: str, entry: Entry, context: Context, sign: int) -> dict[str, Any]:
    return {
        "product_number": entry.product,
        "quantity": sign * entry.quantity,
        "reference": delivery,
        **({"line_number": entry.line} if entry.line else {}),
        **({"location_code": entry.place} if entry.place else {}),
        **({"pool_location": entry.pool} if entry.pool else {}),
        "scanned_datetime": context.now,
        "app_user_name": context.user,
        "source": counting.SOURCE,
    }
