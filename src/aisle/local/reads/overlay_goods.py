"""What pending operations do to the stock of a product: movements, counts, losses, finds, and what is picked.

Stock entries are changed before anybody reads them, so that every page shows the same. What is held for orders stays
part of a place's quantity, as the service has it; what is picked is in somebody's hand: it leaves the place where it
was taken, and is still the store's. interface: Create movement, Create store product logs, Update customer order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from aisle.late import Late
from aisle.local.outbox.operation import LOGS, MOVEMENT, SETTINGS, UPDATE, Operation
from aisle.local.outbox.rebase import has_base, share
from aisle.local.outbox.sides import looks_like
from aisle.local.outbox.state import DONE, IN_DOUBT, NEEDS_PERSON
from aisle.local.reads.entries import PLACE, PRODUCT, Index
from aisle.local.reads.overlay import Overlay, Row, decimal, is_in
from aisle.tuples import NamedTuple

if TYPE_CHECKING:
    from aisle.local.outbox import settings_of
else:
    settings_of = Late("aisle.local.outbox.settings_of")

Pending = Mapping[str, Sequence[Operation]]
"""The pending operations of each product, oldest first."""

POOLS = range(1, 11)


class Goods:
    """The pending operations by the product whose stock they change, and by the place where they change it."""

    def __init__(self, overlay: Overlay) -> None:
        self._overlay = overlay

    def pending(self) -> Index:
        """Of each product, oldest first."""
        return self._overlay.by(PRODUCT, products_of)

    def coming(self, code: str) -> list[str]:
        """The products of which something is brought to this place or away from it, or counted there."""
        operations = self._overlay.by(PLACE, places_of).get(code, ())
        items = (item for operation in operations for item in _items(operation))
        return list(dict.fromkeys(str(item["product_number"]) for item in items if code in _place_of(item)))


def products_of(operation: Operation) -> Iterator[str]:
    """The products whose stock an operation changes."""
    for item in (*_items(operation), *_picks(operation)):
        if item.get("product_number"):
            yield str(item["product_number"])


def places_of(operation: Operation) -> Iterator[str]:
    """The places that an operation brings something to or from, or counts it at."""
    for item in _items(operation):
        yield from _place_of(item)


def _place_of(item: Mapping[str, Any]) -> Iterator[str]:
    for end in (item, item.get("to_location"), item.get("from_location")):
        if end and end.get("location_code") and item.get("product_number"):
            yield str(end["location_code"])


def lay_stock(stock: Row, product: str, operations: Iterable[Operation], began: float | None) -> Row:
    """A stock entry, changed in place to what it will be when these operations are done.

    `began` is when the read began that brought it: what was confirmed before then is in it already.
    """
    nowhere: dict[tuple[str, Any], Decimal] = {}
    for operation in operations:
        if is_in(operation, began) or _is_seen(operation, began):
            continue
        for item in _items(operation):
            if str(item.get("product_number")) != product:
                continue
            if operation.operation == MOVEMENT:
                _move(stock, item)
            elif operation.operation == SETTINGS:
                settings_of.laid(stock, item)
            else:
                _log(stock, item, bool(operation.query.get("is_counted_quantity", "counted_quantity" in item)))
        for line in _picks(operation):
            if str(line.get("product_number")) == product:
                key = (str(operation.body["orders"].get("order_number")), line.get("line_number"))
                nowhere[key] = _pick(stock, line, nowhere.get(key, Decimal(0)))
    return stock


def _is_seen(operation: Operation, began: float | None) -> bool:
    """Whether it is in the stock for all that can be seen, though nobody said that it arrived: it stood there, at every
    place, when it was looked for, and this was read after that."""
    if operation.state not in (IN_DOUBT, NEEDS_PERSON, DONE) or not operation.evidence or began is None:
        return False
    looked_at = operation.evidence.get("looked_at")
    return looked_at is not None and float(looked_at) < began and looks_like(operation) == "there"


def lay_held(
    held: list[Row], code: str, product: str, operations: Iterable[Operation], began: Mapping[str, float | None]
) -> list[Row]:
    """What is held at a place of a product, when these operations are done: rows with order, line and quantity.

    `began` says of each order when the read of its lines began.
    """
    found = {(row["order_number"], row["line_number"]): dict(row) for row in held}
    for operation in operations:
        for item in _items(operation) if operation.operation == MOVEMENT else ():
            if str(item.get("product_number")) != product:
                continue
            for side, sign in (("from_location", -1), ("to_location", 1)):
                end = item.get(side) or {}
                if end.get("location_code") != code or not end.get("customer_order_number"):
                    continue
                order, line = str(end["customer_order_number"]), int(end.get("customer_order_line_number") or 0)
                if is_in(operation, began.get(order)):
                    continue
                empty = {"order_number": order, "line_number": line, "quantity": Decimal(0)}
                row = found.setdefault((order, line), empty)
                row["quantity"] = decimal(row["quantity"]) + sign * decimal(item.get("quantity"))
    return [row for row in found.values() if row["quantity"] > 0]


def _items(operation: Operation) -> Sequence[Mapping[str, Any]]:
    if operation.operation in (MOVEMENT, SETTINGS):
        return operation.body or ()
    return operation.body.get("storeproductlog") or () if operation.operation == LOGS else ()


def _picks(operation: Operation) -> Sequence[Mapping[str, Any]]:
    """The lines that somebody took goods for, or put them back: only what says what he found says how much it was."""
    if operation.operation != UPDATE:
        return ()
    lines = operation.body["orders"].get("order_lines") or ()
    return [line for line in lines if has_base(line) and share(line)]


# Picks


def _pick(stock: Row, line: Mapping[str, Any], nowhere: Decimal) -> Decimal:
    """What was taken for a line leaves its place as far as the books have it there; what is put back returns.

    Gives what of the line came from nowhere so far, which returns to nowhere first.
    """
    code, taken = str(line.get("preferred_location_code") or ""), share(line)
    entry = next((each for each in stock.get("store_locations") or () if each.get("store_location_code") == code), None)
    if not code or entry is None:
        return nowhere
    pool, pooled = int(decimal(line.get("stock_pool"))), any(entry.get(f"stock_pool_{each}") for each in POOLS)
    if taken < 0:
        back = max(Decimal(0), -taken - nowhere)
        own = pool or int(decimal(entry.get("default_stock_pool"))) or 1
        _add(entry, "stock_pool_", own if pooled or entry.get(f"stock_pool_{own}") is not None else 0, back)
        return max(Decimal(0), nowhere + taken)
    left = taken
    for each, piece in _leaving(entry, pool, taken):
        part = min(piece, max(Decimal(0), decimal(entry.get(f"stock_pool_{each}" if pooled else "quantity"))))
        _add(entry, "stock_pool_", each if pooled else 0, -part)
        left -= part
    return nowhere + left


# Movements


class _Said(NamedTuple):
    """Whether a stock entry says how much its pools have: what nobody said cannot be reckoned on."""

    whole: bool
    """Of all there is."""
    places: bool
    """Of what lies at places."""


def _said(stock: Row) -> _Said:
    places = (entry for entry in stock.get("store_locations") or () if isinstance(entry, Mapping))
    return _Said(_has_pools(stock, "most_likely_pool_"), any(_has_pools(entry, "stock_pool_") for entry in places))


def _has_pools(row: Mapping[str, Any], prefix: str) -> bool:
    return any(row.get(f"{prefix}{pool}") is not None for pool in POOLS)


def _move(stock: Row, item: Mapping[str, Any]) -> None:
    source, target = item.get("from_location") or {}, item.get("to_location") or {}
    quantity, pool = decimal(item.get("quantity")), int(source.get("stock_pool") or 0)
    said = _said(stock)
    entry = _entry(stock, str(source.get("location_code") or ""))
    pieces = _leaving(entry, pool, quantity) if entry is not None else [(pool, quantity)]
    wanted = int(target.get("stock_pool") or 0)
    to = _entry(stock, str(target.get("location_code") or ""))
    for each, piece in pieces:
        if entry is not None:
            _add(entry, "stock_pool_", each if said.places else 0, -piece)
        if to is not None:
            _add(to, "stock_pool_", (wanted or each) if said.places else 0, piece)
        if said.whole and wanted and each and wanted != each:
            _add(stock, "most_likely_pool_", each, -piece)
            _add(stock, "most_likely_pool_", wanted, piece)


def _leaving(entry: Row, pool: int, quantity: Decimal) -> list[tuple[int, Decimal]]:
    """From which pools goods leave a place: the named one, or its own and then upwards; the rest from the first."""
    first = int(decimal(entry.get("default_stock_pool"))) or 1
    there = {each: decimal(entry.get(f"stock_pool_{each}")) for each in POOLS}
    if pool or not any(there.values()):
        return [(pool, quantity)]
    pieces: dict[int, Decimal] = {}
    for each in sorted(there, key=lambda number: (number != first, number)):
        piece = min(quantity, there[each])
        if piece > 0:
            pieces[each] = piece
            quantity -= piece
    if quantity > 0:
        pieces[first] = pieces.get(first, Decimal(0)) + quantity
    return list(pieces.items())


# Counts and changes


def _log(stock: Row, item: Mapping[str, Any], counted: bool) -> None:
    """What was counted replaces what the books have; a loss or find is added to it. Lines of orders are left alone."""
    if item.get("customer_order_number"):
        return
    code = str(item.get("location_code") or "")
    said = _said(stock)
    entry = _entry(stock, code)
    bare = item.get("counted_quantity") if counted else None
    bare = item.get("quantity") if bare is None else bare
    named = {pool: decimal(item[f"stock_pool_{pool}"]) for pool in POOLS if item.get(f"stock_pool_{pool}") is not None}
    own = int(decimal(item.get("pool_location"))) or int(decimal((entry or {}).get("default_stock_pool"))) or 1
    found = named or ({} if bare is None else {own: decimal(bare)})
    if not found or (code and entry is None and counted):  # nobody said what lay there before
        return
    row, total = (stock, "most_likely_quantity") if entry is None else (entry, "quantity")
    if counted and not _has_pools(row, "most_likely_pool_" if entry is None else "stock_pool_"):
        if row.get(total) is None:
            row[total] = sum(found.values(), Decimal(0))
            return
        if not said.places:
            pool = next(iter(found)) if len(found) == 1 else 0
            _change(stock, entry, pool, sum(found.values(), Decimal(0)) - decimal(row[total]), said)
            return
    for pool, quantity in found.items():
        change = quantity - _there(row, pool, entry is None) if counted else quantity
        _change(stock, entry, pool, change, said)


def _change(stock: Row, entry: Row | None, pool: int, change: Decimal, said: _Said) -> None:
    """So much more, wherever the service says how much there is."""
    if entry is not None:
        _add(entry, "stock_pool_", pool if said.places else 0, change)
    if said.whole:
        _add(stock, "most_likely_pool_", pool, change)
    if stock.get("most_likely_quantity") is not None:
        stock["most_likely_quantity"] = decimal(stock["most_likely_quantity"]) + change


def _there(row: Row, pool: int, whole: bool) -> Decimal:
    """What a pool has by the books; where nobody keeps pools, all that there is."""
    prefix, total = ("most_likely_pool_", "most_likely_quantity") if whole else ("stock_pool_", "quantity")
    if any(row.get(f"{prefix}{each}") is not None for each in POOLS):
        return decimal(row.get(f"{prefix}{pool}"))
    return decimal(row.get(total))


def _entry(stock: Row, code: str) -> Row | None:
    """The entry of a place in a stock entry, made where there is none; None for no place, and where the service does
    not say what lies at places."""
    entries = stock.get("store_locations")
    if not code or not isinstance(entries, list):
        return None
    for entry in entries:
        if entry.get("store_location_code") == code:
            found: Row = entry
            return found
    made: Row = {"store_location_code": code, "quantity": Decimal(0)}
    entries.append(made)
    return made


def _add(row: Row, prefix: str, pool: int, change: Decimal) -> None:
    """So much more; nobody knows how much there is then where nobody has said how much there was."""
    is_place = prefix == "stock_pool_"
    if is_place and row.get("quantity") is None and not _has_pools(row, prefix):
        return
    if pool:
        row[f"{prefix}{pool}"] = decimal(row.get(f"{prefix}{pool}")) + change
    if is_place and row.get("quantity") is not None:
        row["quantity"] = decimal(row["quantity"]) + change
