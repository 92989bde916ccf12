"""Application of pending operations to the stock of a product: movements, counts, losses, finds and picks.

Stock entries are changed before any page reads them, so that all pages agree. Goods held for orders stay part of a
location's quantity, as at the service. Picked goods leave their location, but not the stock of the store. interface:
Create movement, Create store product logs, Update customer order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from aisle import store_product_settings
from aisle.cache.pending_operations import LOCATION_FIELD, PRODUCT_FIELD, Overlay, OverlayIndex, is_included
from aisle.cache.stored_row_values import Row
from aisle.jobs.store_time import to_utc_text
from aisle.outbox.merge_and_rebase import has_base, picked_change
from aisle.outbox.operation_record import (
    CONFIRMED,
    CREATE_LOGS,
    CREATE_MOVEMENT,
    IN_DOUBT,
    NEEDS_PERSON,
    UPDATE_ORDER,
    UPDATE_STORE_PRODUCTS,
    Operation,
)
from aisle.row_values import to_decimal

if TYPE_CHECKING:
    from aisle.jobs.row_types.locations import HeldGoodsRow
    from aisle.operation_body_types import LineUpdate

POOL_NUMBERS = range(1, 11)


def pending_by_product(overlay: Overlay) -> OverlayIndex:
    """Return the index of pending operations by product, oldest first."""
    return overlay.index_by(PRODUCT_FIELD, products_of_operation)


def products_touched_at(overlay: Overlay, code: str) -> list[str]:
    """Return the products that pending operations move to or from this location, or count there."""
    operations = overlay.index_by(LOCATION_FIELD, locations_of_operation).get(code, ())
    items = (item for operation in operations for item in stock_items(operation))
    return list(dict.fromkeys(str(item["product_number"]) for item in items if code in _locations_of_item(item)))


def products_of_operation(operation: Operation) -> Iterator[str]:
    """Yield the products whose stock an operation changes."""
    for item in (*stock_items(operation), *_picked_lines(operation)):
        if item.get("product_number"):
            yield str(item["product_number"])


def locations_of_operation(operation: Operation) -> Iterator[str]:
    """Yield the locations that an operation moves goods to or from, or counts."""
    for item in stock_items(operation):
        yield from _locations_of_item(item)


def _locations_of_item(item: Row) -> Iterator[str]:
    for end in (item, item.get("to_location"), item.get("from_location")):
        if end and end.get("location_code") and item.get("product_number"):
            yield str(end["location_code"])


def apply_to_stock(stock: Row, product: str, operations: Iterable[Operation], read_began: float | None) -> Row:
    """Apply operations to a stock entry, in place, and return it.

    `read_began`: time at which its read began; operations confirmed before then are included already.
    """
    without_source: dict[tuple[Any, ...], Decimal] = {}
    counted: dict[tuple[str, int], str] = {}
    for operation in operations:
        counted |= _counts_of(operation, product)
        if is_included(operation, read_began) or _is_visible_in_stock(operation, read_began):
            continue
        for item in stock_items(operation):
            if str(item.get("product_number")) != product:
                continue
            if operation.operation == CREATE_MOVEMENT:
                _apply_movement(stock, item, has_left=_is_counted_since(item, counted))
            elif operation.operation == UPDATE_STORE_PRODUCTS:
                store_product_settings.apply_settings(stock, item)
            else:
                _apply_log_entry(
                    stock, item, bool(operation.query.get("is_counted_quantity", "counted_quantity" in item))
                )
        for line in _picked_lines(operation):
            if str(line.get("product_number")) == product:
                order, code = operation.body["orders"].get("order_number"), line.get("preferred_location_code")
                key = order, line.get("line_number"), code
                without_source[key] = _apply_pick(stock, line, without_source.get(key, Decimal(0)))
    return stock


def _is_visible_in_stock(operation: Operation, read_began: float | None) -> bool:
    """Return True if the stock shows the effect of an operation whose arrival nobody has confirmed.

    The look-up found the effect at every location, and the entry was read after that look-up.
    """
    if operation.state not in (IN_DOUBT, NEEDS_PERSON, CONFIRMED) or not operation.evidence or read_began is None:
        return False
    looked_at = operation.evidence.get("looked_at")
    return looked_at is not None and float(looked_at) < read_began and stock_outcome(operation) == "there"


def apply_to_held(
    held: Iterable[HeldGoodsRow],
    code: str,
    product: str,
    operations: Iterable[Operation],
    lines_read_began: Mapping[str, float | None],
) -> list[HeldGoodsRow]:
    """Return the goods held at a location of a product after these operations.

    `lines_read_began`: time by order at which the read of its lines began.
    """
    found = {(row["order_number"], row["line_number"]): row.copy() for row in held}
    for operation in operations:
        for item in stock_items(operation) if operation.operation == CREATE_MOVEMENT else ():
            if str(item.get("product_number")) != product:
                continue
            for side, sign in (("from_location", -1), ("to_location", 1)):
                end = item.get(side) or {}
                if end.get("location_code") != code or not end.get("customer_order_number"):
                    continue
                order, line = str(end["customer_order_number"]), int(end.get("customer_order_line_number") or 0)
                if is_included(operation, lines_read_began.get(order)):
                    continue
                empty: HeldGoodsRow = {"order_number": order, "line_number": line, "quantity": Decimal(0)}
                row = found.setdefault((order, line), empty)
                row["quantity"] = to_decimal(row["quantity"]) + sign * to_decimal(item.get("quantity"))
    return [row for row in found.values() if row["quantity"] > 0]


def stock_items(op: Operation) -> Sequence[Row]:
    """Return the parts of an operation that change stock: entries of a log, items of a movement or a setting."""
    if op.operation in (CREATE_MOVEMENT, UPDATE_STORE_PRODUCTS):
        return op.body or ()
    return op.body.get("storeproductlog") or () if op.operation == CREATE_LOGS else ()


def is_count(op: Operation) -> bool:
    """Return True if the operation states how much is there, rather than a change."""
    if op.operation != CREATE_LOGS:
        return False
    return any("counted_quantity" in each or op.query.get("is_counted_quantity") for each in stock_items(op))


def expected_changes(op: Operation) -> dict[tuple[str, str], Decimal]:
    """Return the change of stock by product and location; counts state none."""
    found: dict[tuple[str, str], Decimal] = {}

    def add(product: str, location: str, change: Decimal) -> None:
        if location:
            found[product, location] = found.get((product, location), Decimal(0)) + change

    for each in stock_items(op):
        product, quantity = str(each.get("product_number") or ""), to_decimal(each.get("quantity"))
        if op.operation == CREATE_MOVEMENT:
            add(product, str((each.get("from_location") or {}).get("location_code") or ""), -quantity)
            add(product, str((each.get("to_location") or {}).get("location_code") or ""), quantity)
        elif op.operation == CREATE_LOGS and each.get("quantity") is not None and not is_count(op):
            add(product, str(each.get("location_code") or ""), quantity)
    return found


def stock_outcome(op: Operation) -> str:
    """Return what the stock before and after indicates: `there`, `not_there`, `mixed`; empty if unknown."""
    before = (op.evidence.get("before") or {}).get("stock") or {}
    after = (op.evidence.get("after") or {}).get("stock") or {}
    outcomes = []
    for (product, location), change in expected_changes(op).items():
        stock_before, stock_after = before.get(product, {}).get(location), after.get(product, {}).get(location)
        if stock_before is None or stock_after is None:
            return ""
        moved = to_decimal(stock_after) - to_decimal(stock_before)
        outcomes.append("there" if moved == change else "not_there" if moved == 0 else "mixed")
    if not outcomes:
        return ""
    return outcomes[0] if len(set(outcomes)) == 1 else "mixed"


def _picked_lines(operation: Operation) -> Sequence[LineUpdate]:
    """Return the lines with goods picked or put back. Only lines with a base quantity tell how much that is."""
    if operation.operation != UPDATE_ORDER:
        return ()
    lines = operation.body["orders"].get("order_lines") or ()
    return [line for line in lines if has_base(line) and picked_change(line)]


# Picks


def _apply_pick(stock: Row, line: LineUpdate, without_source: Decimal) -> Decimal:
    """Apply a pick to its location, as far as that has stock; goods put back return there.

    Return the quantity of the line picked there beyond the location's stock; goods put back reduce it first.
    """
    code, picked = str(line.get("preferred_location_code") or ""), picked_change(line)
    entry = next((each for each in stock.get("store_locations") or () if each.get("store_location_code") == code), None)
    if not code or entry is None:
        return without_source
    pool, has_pools = (
        int(to_decimal(line.get("stock_pool"))),
        any(entry.get(f"stock_pool_{each}") for each in POOL_NUMBERS),
    )
    if picked < 0:
        returned = max(Decimal(0), -picked - without_source)
        target_pool = pool or int(to_decimal(entry.get("default_stock_pool"))) or 1
        _add_quantity(
            entry,
            "stock_pool_",
            target_pool if has_pools or entry.get(f"stock_pool_{target_pool}") is not None else 0,
            returned,
        )
        return max(Decimal(0), without_source + picked)
    remaining = picked
    for each, piece in _split_over_pools(entry, pool, picked):
        part = min(piece, max(Decimal(0), to_decimal(entry.get(f"stock_pool_{each}" if has_pools else "quantity"))))
        _add_quantity(entry, "stock_pool_", each if has_pools else 0, -part)
        remaining -= part
    return without_source + remaining


# Movements


class _PoolsKnown(NamedTuple):
    """True for each part of a stock entry that states quantities by pool; unknown pools cannot be changed."""

    in_total: bool
    """For the whole store."""
    at_locations: bool
    """For locations."""


def _known_pools(stock: Row) -> _PoolsKnown:
    entries = (entry for entry in stock.get("store_locations") or () if isinstance(entry, dict))
    return _PoolsKnown(
        _has_pools(stock, "most_likely_pool_"), any(_has_pools(entry, "stock_pool_") for entry in entries)
    )


def _has_pools(row: Row, prefix: str) -> bool:
    return any(row.get(f"{prefix}{pool}") is not None for pool in POOL_NUMBERS)


def _counts_of(operation: Operation, product: str) -> dict[tuple[str, int], str]:
    """Return when an operation counts a product, by location and pool, which is 0 if no pool is named."""
    counts = [item for item in stock_items(operation) if str(item.get("product_number")) == product]
    return {
        (str(item.get("location_code") or ""), pool): to_utc_text(str(item.get("scanned_datetime") or ""))
        for item in (counts if is_count(operation) else ())
        for pool in [each for each in POOL_NUMBERS if item.get(f"stock_pool_{each}") is not None] or [0]
    }


def _is_counted_since(item: Row, counted: Mapping[tuple[str, int], str]) -> bool:
    """Return True if the source of moved goods was counted after they had left it: the count lacks them."""
    source, taken_at = item.get("from_location") or {}, to_utc_text(str(item.get("taken_datetime") or ""))
    code, pool = str(source.get("location_code") or ""), int(source.get("stock_pool") or 0)
    return bool(taken_at) and taken_at < max(counted.get((code, pool), ""), counted.get((code, 0), ""))


def _apply_movement(stock: Row, item: Row, *, has_left: bool = False) -> None:
    """Move goods in place. Of goods whose source lacks them already (`has_left`), only the arrival is new."""
    source, target = item.get("from_location") or {}, item.get("to_location") or {}
    quantity, pool = to_decimal(item.get("quantity")), int(source.get("stock_pool") or 0)
    pools_known = _known_pools(stock)
    entry = _find_or_add_entry(stock, str(source.get("location_code") or ""))
    pieces = _split_over_pools(entry, pool, quantity) if entry is not None else [(pool, quantity)]
    target_pool = int(target.get("stock_pool") or 0)
    if has_left:
        pieces = [(pool or int(to_decimal((entry or {}).get("default_stock_pool"))) or 1, quantity)]
        _change_quantity(stock, entry, pieces[0][0], quantity, pools_known)
    target_entry = _find_or_add_entry(stock, str(target.get("location_code") or ""))
    for each, piece in pieces:
        if entry is not None:
            _add_quantity(entry, "stock_pool_", each if pools_known.at_locations else 0, -piece)
        if target_entry is not None:
            _add_quantity(target_entry, "stock_pool_", (target_pool or each) if pools_known.at_locations else 0, piece)
        if pools_known.in_total and target_pool and each and target_pool != each:
            _add_quantity(stock, "most_likely_pool_", each, -piece)
            _add_quantity(stock, "most_likely_pool_", target_pool, piece)


def _split_over_pools(entry: Row, pool: int, quantity: Decimal) -> list[tuple[int, Decimal]]:
    """Return the pools from which goods leave a location: the named one, else its own and then by number.

    The rest, if any, leaves the first pool.
    """
    first = int(to_decimal(entry.get("default_stock_pool"))) or 1
    available = {each: to_decimal(entry.get(f"stock_pool_{each}")) for each in POOL_NUMBERS}
    if pool or not any(available.values()):
        return [(pool, quantity)]
    pieces: dict[int, Decimal] = {}
    for each in sorted(available, key=lambda number: (number != first, number)):
        piece = min(quantity, available[each])
        if piece > 0:
            pieces[each] = piece
            quantity -= piece
    if quantity > 0:
        pieces[first] = pieces.get(first, Decimal(0)) + quantity
    return list(pieces.items())


# Counts and changes


def _apply_log_entry(stock: Row, item: Row, is_count: bool) -> None:
    """Apply a count, loss or find in place: a count replaces the stock, others are added.

    Entries of order lines change nothing.
    """
    if item.get("customer_order_number"):
        return
    code = str(item.get("location_code") or "")
    pools_known = _known_pools(stock)
    entry = _find_or_add_entry(stock, code)
    plain_quantity = item.get("counted_quantity") if is_count else None
    plain_quantity = item.get("quantity") if plain_quantity is None else plain_quantity
    by_pool = {
        pool: to_decimal(item[f"stock_pool_{pool}"])
        for pool in POOL_NUMBERS
        if item.get(f"stock_pool_{pool}") is not None
    }
    default_pool = (
        int(to_decimal(item.get("pool_location"))) or int(to_decimal((entry or {}).get("default_stock_pool"))) or 1
    )
    found = by_pool or ({} if plain_quantity is None else {default_pool: to_decimal(plain_quantity)})
    if not found or (code and entry is None and is_count):  # the earlier quantity is unknown
        return
    row, total = (stock, "most_likely_quantity") if entry is None else (entry, "quantity")
    if is_count and not _has_pools(row, "most_likely_pool_" if entry is None else "stock_pool_"):
        if row.get(total) is None:
            row[total] = sum(found.values(), Decimal(0))
            return
        if entry is None or not pools_known.at_locations:
            pool = next(iter(found)) if len(found) == 1 else 0
            _change_quantity(stock, entry, pool, sum(found.values(), Decimal(0)) - to_decimal(row[total]), pools_known)
            return
        row[f"stock_pool_{next(iter(found))}"] = row[total]  # so that all pools together replace it
    for pool, quantity in found.items():
        change = quantity - _quantity_in_pool(row, pool, entry is None) if is_count else quantity
        _change_quantity(stock, entry, pool, change, pools_known)


def _change_quantity(stock: Row, entry: Row | None, pool: int, change: Decimal, known: _PoolsKnown) -> None:
    """Change the quantity in total and at the location, as far as the entry states it."""
    if entry is not None:
        _add_quantity(entry, "stock_pool_", pool if known.at_locations else 0, change)
    if known.in_total:
        _add_quantity(stock, "most_likely_pool_", pool, change)
    if stock.get("most_likely_quantity") is not None:
        stock["most_likely_quantity"] = to_decimal(stock["most_likely_quantity"]) + change


def _quantity_in_pool(row: Row, pool: int, is_total: bool) -> Decimal:
    """Return the stock of a pool; the total if the row has no pools."""
    prefix, total = ("most_likely_pool_", "most_likely_quantity") if is_total else ("stock_pool_", "quantity")
    if any(row.get(f"{prefix}{each}") is not None for each in POOL_NUMBERS):
        return to_decimal(row.get(f"{prefix}{pool}"))
    return to_decimal(row.get(total))


def _find_or_add_entry(stock: Row, code: str) -> Row | None:
    """Return the entry of a location in a stock entry, added if missing; None without a code or without locations."""
    entries = stock.get("store_locations")
    if not code or not isinstance(entries, list):
        return None
    for entry in entries:
        if entry.get("store_location_code") == code:
            found: Row = entry
            return found
    new_entry: Row = {"store_location_code": code, "quantity": Decimal(0)}
    entries.append(new_entry)
    return new_entry


def _add_quantity(row: Row, prefix: str, pool: int, change: Decimal) -> None:
    """Change the quantity of a row; an unknown quantity of a location stays unknown."""
    is_place = prefix == "stock_pool_"
    if is_place and row.get("quantity") is None and not _has_pools(row, prefix):
        return
    if pool:
        row[f"{prefix}{pool}"] = to_decimal(row.get(f"{prefix}{pool}")) + change
    if is_place and row.get("quantity") is not None:
        row["quantity"] = to_decimal(row["quantity"]) + change
