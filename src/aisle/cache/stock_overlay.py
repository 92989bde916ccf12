"""What pending operations do to the stock of a product: movements, counts, losses, finds, and what is picked.

Stock entries are changed before anybody reads them, so that every page shows the same. What is held for orders stays
part of a place's quantity, as the service has it; what is picked is in somebody's hand: it leaves the place where it
was taken, and is still the store's. interface: Create movement, Create store product logs, Update customer order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from aisle.cache.operation_queries import stock_outcome
from aisle.cache.order_overlay import Overlay, Row, is_included, to_decimal
from aisle.cache.overlay_index import LOCATION_FIELD, PRODUCT_FIELD, OverlayIndex
from aisle.late import LazyModule
from aisle.outbox.operation_record import CREATE_LOGS, CREATE_MOVEMENT, UPDATE_ORDER, UPDATE_STORE_PRODUCTS, Operation
from aisle.outbox.operation_state import CONFIRMED, IN_DOUBT, NEEDS_PERSON
from aisle.outbox.rebase import has_base, picked_change

if TYPE_CHECKING:
    from aisle.outbox import operation_record
else:
    operation_record = LazyModule("aisle.outbox.operation_record")

PendingByProduct = Mapping[str, Sequence[Operation]]
"""The pending operations of each product, oldest first."""

POOL_NUMBERS = range(1, 11)


class StockOverlay:
    """The pending operations by the product whose stock they change, and by the place where they change it."""

    def __init__(self, overlay: Overlay) -> None:
        self._overlay = overlay

    def by_product(self) -> OverlayIndex:
        """Of each product, oldest first."""
        return self._overlay.index_by(PRODUCT_FIELD, products_of_operation)

    def products_touched_at(self, code: str) -> list[str]:
        """The products of which something is brought to this place or away from it, or counted there."""
        operations = self._overlay.index_by(LOCATION_FIELD, locations_of_operation).get(code, ())
        items = (item for operation in operations for item in _items_of_operation(operation))
        return list(dict.fromkeys(str(item["product_number"]) for item in items if code in _locations_of_item(item)))


def products_of_operation(operation: Operation) -> Iterator[str]:
    """The products whose stock an operation changes."""
    for item in (*_items_of_operation(operation), *_picked_lines(operation)):
        if item.get("product_number"):
            yield str(item["product_number"])


def locations_of_operation(operation: Operation) -> Iterator[str]:
    """The places that an operation brings something to or from, or counts it at."""
    for item in _items_of_operation(operation):
        yield from _locations_of_item(item)


def _locations_of_item(item: Mapping[str, Any]) -> Iterator[str]:
    for end in (item, item.get("to_location"), item.get("from_location")):
        if end and end.get("location_code") and item.get("product_number"):
            yield str(end["location_code"])


def apply_to_stock(stock: Row, product: str, operations: Iterable[Operation], read_began: float | None) -> Row:
    """A stock entry, changed in place to what it will be when these operations are done.

    `began` is when the read began that brought it: what was confirmed before then is in it already.
    """
    nowhere: dict[tuple[str, Any], Decimal] = {}
    for operation in operations:
        if is_included(operation, read_began) or _is_visible_in_stock(operation, read_began):
            continue
        for item in _items_of_operation(operation):
            if str(item.get("product_number")) != product:
                continue
            if operation.operation == CREATE_MOVEMENT:
                _apply_movement(stock, item)
            elif operation.operation == UPDATE_STORE_PRODUCTS:
                operation_record.apply_settings(stock, item)
            else:
                _apply_log_entry(
                    stock, item, bool(operation.query.get("is_counted_quantity", "counted_quantity" in item))
                )
        for line in _picked_lines(operation):
            if str(line.get("product_number")) == product:
                key = (str(operation.body["orders"].get("order_number")), line.get("line_number"))
                nowhere[key] = _apply_pick(stock, line, nowhere.get(key, Decimal(0)))
    return stock


def _is_visible_in_stock(operation: Operation, read_began: float | None) -> bool:
    """Whether it is in the stock for all that can be seen, though nobody said that it arrived: it stood there, at every
    place, when it was looked for, and this was read after that."""
    if operation.state not in (IN_DOUBT, NEEDS_PERSON, CONFIRMED) or not operation.evidence or read_began is None:
        return False
    looked_at = operation.evidence.get("looked_at")
    return looked_at is not None and float(looked_at) < read_began and stock_outcome(operation) == "there"


def apply_to_held(
    held: list[Row], code: str, product: str, operations: Iterable[Operation], lines_began: Mapping[str, float | None]
) -> list[Row]:
    """What is held at a place of a product, when these operations are done: rows with order, line and quantity.

    `began` says of each order when the read of its lines began.
    """
    found = {(row["order_number"], row["line_number"]): dict(row) for row in held}
    for operation in operations:
        for item in _items_of_operation(operation) if operation.operation == CREATE_MOVEMENT else ():
            if str(item.get("product_number")) != product:
                continue
            for side, sign in (("from_location", -1), ("to_location", 1)):
                end = item.get(side) or {}
                if end.get("location_code") != code or not end.get("customer_order_number"):
                    continue
                order, line = str(end["customer_order_number"]), int(end.get("customer_order_line_number") or 0)
                if is_included(operation, lines_began.get(order)):
                    continue
                empty = {"order_number": order, "line_number": line, "quantity": Decimal(0)}
                row = found.setdefault((order, line), empty)
                row["quantity"] = to_decimal(row["quantity"]) + sign * to_decimal(item.get("quantity"))
    return [row for row in found.values() if row["quantity"] > 0]


def _items_of_operation(operation: Operation) -> Sequence[Mapping[str, Any]]:
    if operation.operation in (CREATE_MOVEMENT, UPDATE_STORE_PRODUCTS):
        return operation.body or ()
    return operation.body.get("storeproductlog") or () if operation.operation == CREATE_LOGS else ()


def _picked_lines(operation: Operation) -> Sequence[Mapping[str, Any]]:
    """The lines that somebody took goods for, or put them back: only what says what he found says how much it was."""
    if operation.operation != UPDATE_ORDER:
        return ()
    lines = operation.body["orders"].get("order_lines") or ()
    return [line for line in lines if has_base(line) and picked_change(line)]


# Picks


def _apply_pick(stock: Row, line: Mapping[str, Any], without_source: Decimal) -> Decimal:
    """What was taken for a line leaves its place as far as the books have it there; what is put back returns.

    Gives what of the line came from nowhere so far, which returns to nowhere first.
    """
    code, taken = str(line.get("preferred_location_code") or ""), picked_change(line)
    entry = next((each for each in stock.get("store_locations") or () if each.get("store_location_code") == code), None)
    if not code or entry is None:
        return without_source
    pool, pooled = (
        int(to_decimal(line.get("stock_pool"))),
        any(entry.get(f"stock_pool_{each}") for each in POOL_NUMBERS),
    )
    if taken < 0:
        back = max(Decimal(0), -taken - without_source)
        own = pool or int(to_decimal(entry.get("default_stock_pool"))) or 1
        _add_quantity(entry, "stock_pool_", own if pooled or entry.get(f"stock_pool_{own}") is not None else 0, back)
        return max(Decimal(0), without_source + taken)
    left = taken
    for each, piece in _split_over_pools(entry, pool, taken):
        part = min(piece, max(Decimal(0), to_decimal(entry.get(f"stock_pool_{each}" if pooled else "quantity"))))
        _add_quantity(entry, "stock_pool_", each if pooled else 0, -part)
        left -= part
    return without_source + left


# Movements


class _PoolsKnown(NamedTuple):
    """Whether a stock entry says how much its pools have: what nobody said cannot be reckoned on."""

    in_total: bool
    """Of all there is."""
    at_locations: bool
    """Of what lies at places."""


def _known_pools(stock: Row) -> _PoolsKnown:
    places = (entry for entry in stock.get("store_locations") or () if isinstance(entry, Mapping))
    return _PoolsKnown(
        _has_pools(stock, "most_likely_pool_"), any(_has_pools(entry, "stock_pool_") for entry in places)
    )


def _has_pools(row: Mapping[str, Any], prefix: str) -> bool:
    return any(row.get(f"{prefix}{pool}") is not None for pool in POOL_NUMBERS)


def _apply_movement(stock: Row, item: Mapping[str, Any]) -> None:
    source, target = item.get("from_location") or {}, item.get("to_location") or {}
    quantity, pool = to_decimal(item.get("quantity")), int(source.get("stock_pool") or 0)
    said = _known_pools(stock)
    entry = _find_or_add_entry(stock, str(source.get("location_code") or ""))
    pieces = _split_over_pools(entry, pool, quantity) if entry is not None else [(pool, quantity)]
    wanted = int(target.get("stock_pool") or 0)
    to = _find_or_add_entry(stock, str(target.get("location_code") or ""))
    for each, piece in pieces:
        if entry is not None:
            _add_quantity(entry, "stock_pool_", each if said.at_locations else 0, -piece)
        if to is not None:
            _add_quantity(to, "stock_pool_", (wanted or each) if said.at_locations else 0, piece)
        if said.in_total and wanted and each and wanted != each:
            _add_quantity(stock, "most_likely_pool_", each, -piece)
            _add_quantity(stock, "most_likely_pool_", wanted, piece)


def _split_over_pools(entry: Row, pool: int, quantity: Decimal) -> list[tuple[int, Decimal]]:
    """From which pools goods leave a place: the named one, or its own and then upwards; the rest from the first."""
    first = int(to_decimal(entry.get("default_stock_pool"))) or 1
    there = {each: to_decimal(entry.get(f"stock_pool_{each}")) for each in POOL_NUMBERS}
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


def _apply_log_entry(stock: Row, item: Mapping[str, Any], is_count: bool) -> None:
    """What was counted replaces what the books have; a loss or find is added to it. Lines of orders are left alone."""
    if item.get("customer_order_number"):
        return
    code = str(item.get("location_code") or "")
    said = _known_pools(stock)
    entry = _find_or_add_entry(stock, code)
    bare = item.get("counted_quantity") if is_count else None
    bare = item.get("quantity") if bare is None else bare
    named = {
        pool: to_decimal(item[f"stock_pool_{pool}"])
        for pool in POOL_NUMBERS
        if item.get(f"stock_pool_{pool}") is not None
    }
    own = int(to_decimal(item.get("pool_location"))) or int(to_decimal((entry or {}).get("default_stock_pool"))) or 1
    found = named or ({} if bare is None else {own: to_decimal(bare)})
    if not found or (code and entry is None and is_count):  # nobody said what lay there before
        return
    row, total = (stock, "most_likely_quantity") if entry is None else (entry, "quantity")
    if is_count and not _has_pools(row, "most_likely_pool_" if entry is None else "stock_pool_"):
        if row.get(total) is None:
            row[total] = sum(found.values(), Decimal(0))
            return
        if not said.at_locations:
            pool = next(iter(found)) if len(found) == 1 else 0
            _add_everywhere(stock, entry, pool, sum(found.values(), Decimal(0)) - to_decimal(row[total]), said)
            return
    for pool, quantity in found.items():
        change = quantity - _quantity_in_pool(row, pool, entry is None) if is_count else quantity
        _add_everywhere(stock, entry, pool, change, said)


def _add_everywhere(stock: Row, entry: Row | None, pool: int, change: Decimal, known: _PoolsKnown) -> None:
    """So much more, wherever the service says how much there is."""
    if entry is not None:
        _add_quantity(entry, "stock_pool_", pool if known.at_locations else 0, change)
    if known.in_total:
        _add_quantity(stock, "most_likely_pool_", pool, change)
    if stock.get("most_likely_quantity") is not None:
        stock["most_likely_quantity"] = to_decimal(stock["most_likely_quantity"]) + change


def _quantity_in_pool(row: Row, pool: int, is_total: bool) -> Decimal:
    """What a pool has by the books; where nobody keeps pools, all that there is."""
    prefix, total = ("most_likely_pool_", "most_likely_quantity") if is_total else ("stock_pool_", "quantity")
    if any(row.get(f"{prefix}{each}") is not None for each in POOL_NUMBERS):
        return to_decimal(row.get(f"{prefix}{pool}"))
    return to_decimal(row.get(total))


def _find_or_add_entry(stock: Row, code: str) -> Row | None:
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


def _add_quantity(row: Row, prefix: str, pool: int, change: Decimal) -> None:
    """So much more; nobody knows how much there is then where nobody has said how much there was."""
    is_place = prefix == "stock_pool_"
    if is_place and row.get("quantity") is None and not _has_pools(row, prefix):
        return
    if pool:
        row[f"{prefix}{pool}"] = to_decimal(row.get(f"{prefix}{pool}")) + change
    if is_place and row.get("quantity") is not None:
        row["quantity"] = to_decimal(row["quantity"]) + change
