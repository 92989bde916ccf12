"""Lines of a count: parsed from rows of stock, found by scan or words, counted, and restored by an undo."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from aisle.jobs.count.changes_since_count import apply_changes, change_between
from aisle.jobs.count.count_state import MAX_PRODUCTS, MAX_UNDO, CountLine, CountState, ExpectedStock, UndoStep
from aisle.jobs.job import Query
from aisle.jobs.names_in_messages import pool_name
from aisle.jobs.view import Msg, msg, raw
from aisle.row_values import to_decimal
from aisle.search_text import normalise_text

if TYPE_CHECKING:
    from aisle.jobs.row_types.locations import LocationHeader, LocationRow
    from aisle.jobs.row_types.orders import LocationStockRow
    from aisle.jobs.row_types.products import ProductRow


def query_location(id_: str, location: str, only_product: str = "") -> Query:
    """Return the query for the stock at a location, or for one product there."""
    return Query(
        id_,
        "location",
        {"location_code": location, **({"product_number": only_product} if only_product else {"size": MAX_PRODUCTS})},
    )


def parse_location_lines(row: LocationRow) -> tuple[CountLine, ...]:
    """Return the lines of a location (row of the query `location`), by name."""
    code, default = str(row.get("location_code") or ""), parse_default_pool(row)
    return tuple(item for product in row.get("products") or () for item in _parse_lines(product, code, default))


def with_location(state: CountState, row: LocationRow) -> CountState:
    """Return the state with the stock read for the open location."""
    items = parse_location_lines(row)
    read = len({item.product for item in items})
    total = int(to_decimal(row.get("total"), Decimal(read)))
    has_unread = total > read and not state.only_product
    is_expected_unknown = bool(row.get("is_stock_unknown"))
    product_count = total if has_unread else read
    are_locations_unknown = bool(row.get("unnamed"))
    state = state._replace(
        lines=items, default_pool=parse_default_pool(row), has_unread_lines=has_unread, product_count=product_count
    )
    return state._replace(is_expected_unknown=is_expected_unknown, are_locations_unknown=are_locations_unknown)


def _parse_lines(product: Mapping[str, Any], location: str, default_pool: int) -> list[CountLine]:
    held = sum((to_decimal(each.get("quantity")) for each in product.get("held") or ()), Decimal(0))
    base = CountLine(
        location=location,
        product=str(product["product_number"]),
        label=str(product.get("description") or product["product_number"]),
        allows_decimals=bool(product.get("allow_decimal")),
        unit=str(product.get("unit") or ""),
        price=to_decimal(product.get("price")),
        held=held,
    )
    pools = _quantities_by_pool(product.get("pools"))
    if not pools:
        quantity = product.get("quantity")
        return [base._replace(pool=default_pool, expected=to_decimal(quantity), is_expected_unknown=quantity is None)]
    main = default_pool if default_pool in pools else min(pools)
    return [
        base._replace(pool=pool, expected=pools[pool], held=held if pool == main else Decimal(0))
        for pool in sorted(pools)
    ]


def _quantities_by_pool(pools: Any) -> dict[int, Decimal]:
    if isinstance(pools, Mapping):
        return {int(pool): to_decimal(quantity) for pool, quantity in pools.items() if to_decimal(quantity)}
    return {int(row["pool"]): to_decimal(row.get("quantity")) for row in pools or () if to_decimal(row.get("quantity"))}


def parse_default_pool(row: LocationHeader | LocationStockRow) -> int:
    """Return the default pool of a location; 0 if unknown."""
    return int(to_decimal(row.get("default_stock_pool")))


def parse_product_lines(row: ProductRow) -> tuple[CountLine, ...]:
    """Return the lines of a product (row of the query `product`): by location in walking order, then stock at no
    location. Goods in hand for orders are also at no location. If the product has locations, they are in a picker's
    tote, where this count cannot find them."""
    head = {
        "product_number": row["product_number"],
        "description": row.get("product_name"),
        "allow_decimal": row.get("allow_decimal"),
        "unit": row.get("unit"),
        "price": row.get("price"),
    }
    locations = [each for each in row.get("locations") or () if each.get("location_code")]
    items = [
        item
        for each in locations
        for item in _parse_lines({**head, **each}, str(each["location_code"]), parse_default_pool(each))
    ]
    total, in_hand = _quantities_by_pool(row.get("pools")), to_decimal(row.get("in_hand"))
    (loose,) = _parse_lines({**head, "quantity": row.get("most_likely_quantity")}, "", 0)
    # Stock at no location is the total less the stock of the locations.
    if (loose.is_expected_unknown and not total) or any(item.is_expected_unknown for item in items):
        return (*items, loose._replace(expected=Decimal(0), is_expected_unknown=True))
    if not total:
        known = sum((item.expected for item in items), Decimal(0))
        return (*items, _without_in_hand(loose._replace(expected=loose.expected - known), in_hand, bool(items)))
    rest: list[CountLine] = []
    for pool in sorted({*total, *(item.pool for item in items)}):
        expected = total.get(pool, Decimal(0)) - _expected_in_pool(items, pool)
        line = loose._replace(pool=pool, expected=expected, is_expected_unknown=False)
        rest.append(_without_in_hand(line, in_hand, bool(items)))
        in_hand -= rest[-1].held  # the pools it was picked from are unknown
    return (*items, *([item for item in rest if item.expected or item.held] or rest[:1]))


def _without_in_hand(line: CountLine, in_hand: Decimal, is_separate: bool) -> CountLine:
    """Set how much of the stock at no location is in hand for orders; if `is_separate`, it is not counted there."""
    held = min(in_hand, max(Decimal(0), line.expected))
    return line._replace(expected=line.expected - held if is_separate else line.expected, held=held)


def _expected_in_pool(items: Iterable[CountLine], pool: int) -> Decimal:
    return sum((item.expected for item in items if item.pool == pool), Decimal(0))


def with_new_expected(state: CountState, fresh: Iterable[CountLine]) -> CountState:
    """Update the expected stock of all lines; counted lines keep the figure they were counted against until they are
    counted again."""
    fresh = tuple(fresh)
    state = _with_known_pools(state, fresh)
    fresh_by_key = {line_key(item): item for item in (_in_counted_pool(state, item) for item in fresh)}
    items = []
    for item in state.lines:
        now = fresh_by_key.pop(line_key(item), None)
        if not (now is None and state.has_unread_lines):
            latest = expected_stock(now) if now else ExpectedStock(Decimal(0), Decimal(0), state.is_expected_unknown)
            item = (
                item._replace(price=now.price if now else item.price, **latest._asdict())
                if item.counted is None
                else item._replace(latest=latest)
            )
        items.append(item)
    return state._replace(lines=(*items, *fresh_by_key.values()))


def _with_known_pools(state: CountState, fresh: Iterable[CountLine]) -> CountState:
    """Return the state with lines without a pool in the pool of stock that was read: the usual one, else the first."""
    known = [line_key(item) for item in state.lines]
    for index, item in enumerate(state.lines):
        pools = [each.pool for each in fresh if is_same_goods(each, item) and each.pool and line_key(each) not in known]
        if pools and not item.pool:
            state = _with_pool(state, index, _usual_of(state, pools))
    return state


def _with_pool(state: CountState, index: int, pool: int) -> CountState:
    """Return the state with a line without a pool in this one, also in the history."""
    item = state.lines[index]
    before = line_key(item)
    key = (*before[:2], pool)
    history = tuple(
        step._replace(
            pool=pool if (step.location.casefold(), step.product, step.pool) == before else step.pool,
            left=tuple(key if each == before else each for each in step.left),
        )
        for step in state.history
    )
    return replace_line(state, index, item._replace(pool=pool))._replace(history=history)


def _in_counted_pool(state: CountState, fresh: CountLine) -> CountLine:
    """Return stock that was read without a pool in the pool of the line that it belongs to."""
    if fresh.pool:
        return fresh
    pools = [item.pool for item in state.lines if is_same_goods(item, fresh)]
    return fresh if not pools or 0 in pools else fresh._replace(pool=_usual_of(state, pools))


def _usual_of(state: CountState, pools: Sequence[int]) -> int:
    return state.usual_pool if state.usual_pool in pools else min(pools)


def expected_stock(line: CountLine) -> ExpectedStock:
    """Return the expected stock that a line is compared with."""
    return ExpectedStock(line.expected - line.undone, line.held, line.is_expected_unknown)


def line_key(line: CountLine) -> tuple[str, str, int]:
    """Return the key of a line: location, product, pool."""
    return line.location.casefold(), line.product, line.pool


def is_same_goods(one: CountLine, other: CountLine) -> bool:
    """Return True if two lines are of one product at one location, in any pools."""
    return line_key(one)[:2] == line_key(other)[:2]


def missing_in_pools(state: CountState, index: int) -> tuple[int, ...]:
    """Return the indexes of this line and the uncounted others of its product and location: one question for all."""
    same_product = (at for at, item in enumerate(state.lines) if is_same_goods(item, state.lines[index]))
    return tuple(at for at in same_product if at == index or state.lines[at].is_missing)


def count_missing(state: CountState) -> int:
    """Return the number of products not scanned, each at each of its locations."""
    return len({(item.location.casefold(), item.product) for item in state.lines if item.is_missing})


def label_with_pools(state: CountState, *indexes: int) -> Msg:
    """Return the product's label, with these pools if it has several at the location, or another than the usual one: a
    count must not go to a pool unnamed because picks emptied the pool of the record."""
    item = state.lines[indexes[0]]
    same_product = [other for other in state.lines if (other.location, other.product) == (item.location, item.product)]
    is_usual = item.pool in (0, state.usual_pool) or len(state.pools) < 2
    if len(same_product) < 2 and is_usual:
        return raw(item.label)
    pools = name_of_pools(state, *indexes)
    return msg("count.in_pool", label=item.label, pool=pools)


def name_of_pools(state: CountState, *indexes: int) -> str:
    """Return the names of the pools in which lines are counted."""
    return pool_name(state.pools, *(state.lines[index].pool or state.usual_pool for index in indexes))


def name_with_pool(state: CountState, index: int) -> Msg:
    """Return the location of the line if a product is counted at several, else the product; with its pool if it has
    several there."""
    item, label = state.lines[index], label_with_pools(state, index)
    if state.mode != "product" or not item.location:
        return label
    pool = dict(label.args).get("pool")
    return msg("count.in_pool", label=item.location, pool=pool) if pool else raw(item.location)


def next_stop(state: CountState) -> int:
    """Return the index of the next stop not counted, wrapping at the end; the current one if there is none."""
    count = len(state.lines)
    order = [(state.current_index + step) % count for step in range(1, count)]
    return next((index for index in order if state.lines[index].counted is None), state.current_index)


def find_line(state: CountState, product: str) -> int:
    """Return the index of the line that a scan of this product belongs to; -1 for none. The line that is asked stays
    asked. Otherwise the pool is the chosen one or the location's default. If the product is in one other pool only,
    that line is used."""
    asked = state.current_line
    if asked and (asked.product, asked.location) == (product, state.location):
        return state.current_index
    indexes = [
        index for index, item in enumerate(state.lines) if item.product == product and item.location == state.location
    ]
    pool = state.chosen_pool or state.usual_pool
    for index in indexes:
        if state.lines[index].pool in ((pool, 0) if pool == state.usual_pool else (pool,)):
            return index
    return indexes[0] if len(indexes) == 1 and not state.chosen_pool else -1


def new_line(state: CountState, product: str, label: str) -> CountLine:
    """Return a line for a product without stock here, in the pool that is counted."""
    return CountLine(
        state.location,
        product,
        label,
        state.chosen_pool or state.default_pool,
        is_expected_unknown=state.is_expected_unknown,
    )


def line_beside(line: CountLine, location: str, pool: int) -> CountLine:
    """Return a line for the same product where no stock of it is known: at another location or in another pool."""
    new = CountLine(location, line.product, line.label, pool, is_expected_unknown=line.is_expected_unknown)
    return new._replace(allows_decimals=line.allows_decimals, unit=line.unit, price=line.price)


def with_product_data(line: CountLine, row: ProductRow) -> CountLine:
    """Return the line with the unit and price of its product."""
    known = parse_product_lines(row)[0]
    return line._replace(allows_decimals=known.allows_decimals, unit=known.unit, price=known.price)


def find_lines_by_words(state: CountState, text: str) -> tuple[int, ...]:
    """Return the indexes of the lines here whose product's name has all words, the first line of each product."""
    words, found = normalise_text(text).split(), dict[str, int]()
    for index, item in enumerate(state.lines):
        if item.location == state.location and all(word in normalise_text(item.label) for word in words):
            found.setdefault(item.product, index)
    return tuple(found.values())


def set_counted(
    state: CountState, index: int, entered: Decimal, now: str, stock: ExpectedStock | None = None, begun_at: str = ""
) -> CountState:
    """Set the quantity of a line, compare it with `stock` or else the stock read last, and add its earlier state to the
    history. What was lost or found since `begun_at`, the time of the first of several scans, is not counted again."""
    item = state.lines[index]
    state, was = note_entry(state, index), expected_stock(item)
    between = change_between(state, item, begun_at, now) if begun_at else Decimal(0)
    changed = item._replace(
        counted=entered + between,
        counted_at=now,
        is_left_as_is=False,
        needs_recount=False,
        is_recounted=False,
        is_typed=False,
    )
    new = stock or item.latest or was._replace(expected=item.expected)
    changed = changed._replace(latest=stock and item.latest, later=None, undone=Decimal(0), **new._asdict())
    changed = changed._replace(begun_at=begun_at, changed=between)
    return replace_line(state, index, changed)._replace(current_index=index)


def note_entry(state: CountState, index: int) -> CountState:
    """Add the present state of a line to the history."""
    item = state.lines[index]
    stock = expected_stock(item)
    before = UndoStep(item.location, item.product, item.pool, item.counted, item.counted_at, stock)
    before = before._replace(begun_at=item.begun_at, changed=item.changed)
    return state._replace(history=(*state.history, before)[-MAX_UNDO:])


def replace_line(state: CountState, index: int, line: CountLine) -> CountState:
    """Return the state with another line at this index."""
    return state._replace(lines=(*state.lines[:index], line, *state.lines[index + 1 :]))


def leave_as_is(state: CountState, indexes: Sequence[int]) -> CountState:
    """Leave the stock of these lines as it is, and add that answer to the history."""
    keys = tuple(line_key(state.lines[index]) for index in indexes)
    for index in indexes:
        state = replace_line(state, index, state.lines[index]._replace(is_left_as_is=True))
    return state._replace(history=(*state.history, UndoStep(*keys[0], left=keys))[-MAX_UNDO:])


def note_loss(state: CountState, loss: str) -> CountState:
    """Add an adjustment that was sent from this count to the history."""
    return state._replace(history=(*state.history, UndoStep("", "", 0, loss=loss))[-MAX_UNDO:])


def undo_left(state: CountState) -> tuple[CountState, int]:
    """Undo the answer that left lines as they are, if it was the last entry; return the first line's index, or -1."""
    left = state.history[-1].left if state.history else ()
    indexes = [index for index, item in enumerate(state.lines) if line_key(item) in left]
    for index in indexes:
        state = replace_line(state, index, state.lines[index]._replace(is_left_as_is=False))
    return (state._replace(history=state.history[:-1]), indexes[0]) if indexes else (state, -1)


def undo_entry(state: CountState) -> tuple[CountState, CountLine | None]:
    """Undo the last entry; return the state, and the line before the undo or None if there was none."""
    if not state.history:
        return state, None
    before = state.history[-1]
    for index, item in enumerate(state.lines):
        if (item.location, item.product, item.pool) == (before.location, before.product, before.pool):
            restored = item._replace(counted=before.counted, counted_at=before.counted_at)
            restored = restored._replace(begun_at=before.begun_at, changed=before.changed)
            restored = restored._replace(is_recounted=False, needs_recount=False, is_typed=False, undone=Decimal(0))
            latest = item.latest or expected_stock(item)._replace(expected=item.expected)
            if before.counted is None:
                restored = restored._replace(latest=None, later=None, **latest._asdict())
            elif before.stock:
                restored = restored._replace(latest=latest, **before.stock._asdict())
            state = replace_line(state, index, restored)._replace(history=state.history[:-1], current_index=index)
            state = apply_changes(state)
            return state._replace(location=item.location) if state.mode == "product" else state, item
    return state._replace(history=state.history[:-1]), None
