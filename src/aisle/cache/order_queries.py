"""Orders as a session sees them: cached rows with pending operations overlaid."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

import apsw

from aisle.cache.free_and_held_stock import add_stock_at_locations, free_locations, held_by_location, location_codes
from aisle.cache.order_overlay import (
    ListChange,
    PendingOrders,
    SortKey,
    apply_to_order,
    is_line_complete,
    list_change,
    load_lines_of_product,
    load_order_header,
    order_status,
    overlaid_lines,
    parse_header,
    picked_quantity,
    put_down_locations,
)
from aisle.cache.pending_operations import is_included, may_be_included
from aisle.cache.people_and_claim_queries import (
    add_claims,
    add_priority,
    add_workers,
    announced_features,
    orders_ahead,
    orders_not_put_down,
    orders_of_user,
)
from aisle.cache.pools_and_locations_of_rows import (
    held_locations,
    line_locations,
    load_walk_orders,
    sort_by_walk_order,
    stock_locations,
)
from aisle.cache.queries import (
    QueryContext,
    QueryResult,
    WindowRows,
    declare_query,
    page,
    read_along,
    read_merged_window,
    topic_of,
    topics_of_list,
    whole_topics,
    window_bounds,
)
from aisle.cache.schema import MIN_SEARCH_PART, ORDER_OPEN, ORDER_PICKED
from aisle.cache.stored_row_values import Row, parse_row
from aisle.host.database import fetch, fetch_one
from aisle.jobs.job import Args
from aisle.jobs.list_cursor_and_search import MAX_COUNTED
from aisle.jobs.pick.pick_line import parse_lines, sum_in_hand
from aisle.named_tuple_json import to_text
from aisle.outbox.merge_and_rebase import is_excess
from aisle.outbox.operation_record import UPDATE_ORDER, Operation, operation_from_row
from aisle.row_values import to_decimal
from aisle.search_text import order_search_words

if TYPE_CHECKING:
    from aisle.jobs.row_types.orders import (
        MeasuredGoodsRow,
        OrderHeader,
        OrderLineRow,
        OrderRow,
        OrdersRow,
        OrdersWithProductRow,
        OrderToPickRow,
        PickListRow,
        RefusalOfUserRow,
    )

STARTED = ("open", "partial")
"""States of orders that are still to be picked."""

SAMPLE_ORDERS, SAMPLE_HITS = 200, 10
"""Sample of the list's first orders, and number of hits in it from which scanning the list is fast enough."""

MAX_INDEX_HITS = 500
"""Hits of the index beyond which the list itself is scanned, which is faster then."""


@declare_query("orders", "search user not_put_down first size", whole_topics("order"))
def query_orders(context: QueryContext, args: Args) -> WindowRows[OrdersRow]:
    """Return the open orders: those started by this user, assigned to them, or with priority, then by pickup date and
    number.

    With search words a hundred at most. With `not_put_down`, before all others those picked and not put down; a search
    then finds all picked ones.
    """
    user, change = str(args.get("user") or ""), list_change(context)
    picked: Mapping[str, Decimal] = {}
    search = bool(args.get("search"))
    wanted = bool(args.get("not_put_down"))
    not_put_down = orders_not_put_down(context.outbox, user, of_everybody=search) if wanted else []
    if not_put_down or (wanted and search):
        change, picked = _add_picked_orders(context, change, args, not_put_down)
    started = _started_orders(context, user)
    found = _open_orders(
        context, change, list(dict.fromkeys((*picked, *started, *orders_ahead(context.outbox, user)))), args
    )
    _add_claims(context, found.rows)
    for row in found.rows if started else ():
        row["is_started"] = row["order_number"] in started
    for row in found.rows if picked else ():
        number = row["order_number"]
        row["not_put_down"] = picked.get(number, 0)
        row["put_down_at"] = put_down_locations(context, number) if number in picked else []
    return found


def _started_orders(context: QueryContext, user: str) -> list[str]:
    """Return the open orders that a person started to pick here in this shift and still has, last one first."""
    numbers = orders_of_user(context.outbox, user) if user else []
    headers = [
        row for number in numbers if (row := load_order_header(context, number)) and order_status(row) in STARTED
    ]
    add_claims(context.cache, context.outbox, headers)
    return [row["order_number"] for row in headers if row["is_claimed"] and row.get("claimed_by") == user]


def _add_claims(context: QueryContext, rows: Sequence[OrderHeader]) -> None:
    add_claims(context.cache, context.outbox, rows)
    add_priority(context.cache, context.outbox, rows)


def _open_orders(context: QueryContext, change: ListChange, ahead: Sequence[str], args: Args) -> WindowRows[OrdersRow]:
    """Return a window on the open orders: those `ahead`, then by pickup date and number."""
    cache = context.cache
    first, size = window_bounds(args, 50)
    words = order_search_words(str(args.get("search") or ""))
    rank_by_number = {number: rank for rank, number in enumerate(ahead)}
    if words:
        keys = _matching_keys(cache, change, words, list(rank_by_number))
        keys.sort(key=lambda key: rank_by_number.get(key[2], len(rank_by_number)))
        partly = len(keys) > MAX_COUNTED
        keys = keys[:MAX_COUNTED] if partly else keys
        return WindowRows(_load_headers(context, keys[first : first + size]), len(keys), partly)
    ((listed,),) = fetch(cache, "SELECT ifnull(sum(n), 0) FROM status_tally WHERE status IN ('open', 'partial')")
    listed -= len(change.hidden)
    keys_ahead = _keys_ahead(cache, change, list(rank_by_number)) if rank_by_number else []
    keys = keys_ahead[first : first + size]
    others = ListChange(
        change.hidden.union(rank_by_number), [key for key in change.extra if key[2] not in rank_by_number]
    )
    cached_others = listed - len(set(keys_ahead).difference(change.extra))
    rest = _window_keys(cache, others, cached_others, max(0, first - len(keys_ahead)), size - len(keys))
    return WindowRows(_load_headers(context, [*keys, *rest]), listed + len(change.extra))


MAX_LISTED = 5
"""Greatest number of such orders in a list; others are found by search."""

_FIND_PICKED = """
SELECT o.order_number FROM orders o WHERE o.id IN (SELECT rowid FROM order_search WHERE order_search MATCH ? LIMIT 500)
AND o.state = 1 ORDER BY o.pickup, o.sort, o.order_number LIMIT 20
"""

_ORDER_KEYS = """
SELECT order_number, pickup, sort, text, state FROM orders
WHERE order_number IN (SELECT value FROM json_each(?)) AND state < 2
"""


def _add_picked_orders(
    context: QueryContext, change: ListChange, args: Args, not_put_down: Sequence[str]
) -> tuple[ListChange, dict[str, Decimal]]:
    """Add picked orders to the list of open orders: those `not_put_down` here and those searched for.

    Return the changed list and the quantity in hand of each added order.
    """
    cache, (hidden, extra) = context.cache, change
    words = order_search_words(str(args.get("search") or ""))
    named = _picked_orders_with_words(context, words) if words else []
    keys = {
        str(number): (pickup, sort, str(number))
        for number, pickup, sort, text, state in fetch(cache, _ORDER_KEYS, to_text([*not_put_down, *named]))
        if (state or number in hidden) and all(word in text for word in words)
    }
    counts = (
        (number, _order_in_hand(context, number)) for number in dict.fromkeys((*not_put_down, *named)) if number in keys
    )
    found = dict(islice(((number, count) for number, count in counts if count or number in named), MAX_LISTED))
    listed = {key[2] for key in extra}
    more = [keys[number] for number in found if number not in hidden and number not in listed]
    return ListChange(hidden.difference(found), sorted([*extra, *more])), found


def _picked_orders_with_words(context: QueryContext, words: Sequence[str]) -> list[str]:
    """Return the picked orders with these words: those picked on this host first, then the first ones of the cache."""
    pending = context.keep(PendingOrders).all(context)
    picked_here = [
        number
        for number, order in pending.items()
        if order.now.state == ORDER_PICKED and all(word in order.now.text for word in words)
    ]
    parts = " AND ".join(f'"{word}"*' for word in words if len(word) >= MIN_SEARCH_PART)
    cached = [str(number) for (number,) in fetch(context.cache, _FIND_PICKED, parts)] if parts else []
    return [*picked_here, *(number for number in cached if number not in pending)]


def _order_in_hand(context: QueryContext, number: str) -> Decimal:
    """Return the quantity of an order in hand; 0 without locations, because then nothing is ever put down."""
    rows, _ = load_order(context, number)
    if not rows or rows[0]["is_rejected"] or not rows[0]["is_active"]:
        return Decimal(0)
    lines = parse_lines(rows[0]["lines"])
    return sum_in_hand(lines) if any(line.location for line in lines) else Decimal(0)


def _keys_ahead(cache: apsw.Connection, change: ListChange, numbers: list[str]) -> list[SortKey]:
    """Return the keys of those of these orders that are in the list, in the given order."""
    rows = fetch(
        cache,
        "SELECT o.pickup, o.sort, o.order_number FROM json_each(?) e JOIN orders o ON o.order_number = e.value"
        " WHERE o.state = 0",
        to_text(numbers),
    )
    key_by_number = {number: (pickup, sort, number) for pickup, sort, number in rows if number not in change.hidden}
    key_by_number |= {key[2]: key for key in change.extra}
    return [key_by_number[number] for number in numbers if number in key_by_number]


_OPEN_KEYS = """
SELECT pickup, sort, order_number FROM orders WHERE state = 0 AND order_number NOT IN (SELECT value FROM json_each(?))
"""


def _window_keys(cache: apsw.Connection, change: ListChange, total: int, first: int, size: int) -> list[SortKey]:
    """Return the keys of the window: the `total` cached ones without the hidden, with the extra ones merged in."""
    read = read_along(cache, _OPEN_KEYS, ("pickup", "sort", "order_number"), to_text(list(change.hidden)))
    return read_merged_window(read, total, change.extra, first, size)


def _matching_keys(cache: apsw.Connection, change: ListChange, words: list[str], ahead: list[str]) -> list[SortKey]:
    """Return the keys of all open orders with these words.

    With many hits only the first ones of the list and those `ahead` are returned.
    """
    rows = _orders_with_words(cache, change, words)
    rows += fetch(cache, f"{_KEYS_OF_ORDERS} AND state = 0", to_text(ahead)) if ahead else []
    rows += fetch(cache, _KEYS_OF_ORDERS, to_text([number for _, _, number in change.extra]))
    keys = {
        (pickup, sort, number)
        for pickup, sort, number, text in rows
        if number not in change.hidden and all(word in text for word in words)
    }
    return sorted(keys)


_KEYS_SQL = "SELECT pickup, sort, order_number, text FROM orders"
_KEYS_OF_ORDERS = f"{_KEYS_SQL} WHERE order_number IN (SELECT value FROM json_each(?))"  # noqa: S608 - names of our own

_KEYS_BY_SEARCH = """
SELECT pickup, sort, order_number, text, state FROM orders
WHERE id IN (SELECT rowid FROM order_search WHERE order_search MATCH ? LIMIT ?)
"""


def _orders_with_words(cache: apsw.Connection, change: ListChange, words: list[str]) -> list[tuple[Any, ...]]:
    """Return the open orders with these words: all, or the first of the list if there are more than `MAX_COUNTED`."""
    has_words = " AND ".join("instr(text, ?)" for _ in words)
    parts = " AND ".join(f'"{word}"*' for word in words if len(word) >= MIN_SEARCH_PART)
    listed = f"{_KEYS_SQL} WHERE state = 0"
    order = "ORDER BY pickup, sort, order_number LIMIT ?"
    sample_sql = f"SELECT count(*) FROM (SELECT text FROM orders WHERE state = 0 {order}) WHERE {has_words}"  # noqa: S608
    if parts and fetch(cache, sample_sql, SAMPLE_ORDERS, *words)[0][0] < SAMPLE_HITS:
        found = fetch(cache, _KEYS_BY_SEARCH, parts, MAX_INDEX_HITS)
        if len(found) < MAX_INDEX_HITS:
            return [row[:4] for row in found if row[4] == ORDER_OPEN]
    hidden = "order_number NOT IN (SELECT value FROM json_each(?))"
    return fetch(
        cache, f"{listed} AND {has_words} AND {hidden} {order}", *words, to_text(list(change.hidden)), MAX_COUNTED + 1
    )


@declare_query("orders_with_product", "product_number first size", whole_topics("order"))
def orders_with_product(context: QueryContext, args: Args) -> QueryResult[OrdersWithProductRow]:
    """Return the unclosed orders with this product, those that still need some first; by pickup date.

    Each has the quantity it still needs (`needed`) and holds (`held`).
    """
    product = str(args["product_number"])
    sql = """SELECT DISTINCT o.pickup, o.sort, o.order_number FROM line l
      JOIN orders o ON o.order_number = l.order_number WHERE l.product_number = ? AND o.state < 2"""
    keys = sorted(fetch(context.cache, sql, product))
    rows = [row for *_, number in keys if (row := _order_with_product(context, number, product))]
    rows.sort(key=lambda row: row["needed"] <= 0)
    return page(rows, args, 50)


def _order_with_product(context: QueryContext, number: str, product: str) -> OrdersWithProductRow | None:
    row = load_order_header(context, number)
    if row is None or not row["is_active"] or row["is_rejected"]:
        return None
    lines = load_lines_of_product(context.cache, number, product)
    if number in context.pending_orders:
        numbers = {line["line_number"] for line in lines}
        lines = [line for line in overlaid_lines(context, number) if line["line_number"] in numbers]
    open_quantities = (to_decimal(line.get("quantity")) - to_decimal(line.get("picked_quantity")) for line in lines)
    needed = (rest for line, rest in zip(lines, open_quantities, strict=True) if not is_line_complete(line))
    return {
        "order_number": number,
        "customer_name": str(row.get("customer_name") or row.get("reference") or ""),
        "pickup_date": row["pickup_date"],
        "needed": sum(needed, Decimal(0)),
        "held": sum((to_decimal(line.get("picked_quantity")) for line in lines), Decimal(0)),
    }


def _load_headers(context: QueryContext, keys: Iterable[SortKey]) -> list[OrdersRow]:
    rows = (load_order_header(context, number) for _, _, number in keys)
    found = [cast("OrdersRow", row) for row in rows if row is not None]
    add_pieces(context, found)
    return found


_MEASURED_PRODUCTS = """
SELECT DISTINCT l.order_number, l.product_number, p.unit FROM json_each(?) e JOIN line l ON l.order_number = e.value
JOIN product p ON p.product_number = l.product_number WHERE p.allow_decimal
"""


def add_pieces(context: QueryContext, rows: Sequence[OrderHeader]) -> None:
    """Add pieces and complete lines to orders with measured goods, in place; their quantities have no sum.

    A measured line counts as one piece, as on the pick screen.
    """
    by_number = {str(row["order_number"]): row for row in rows}
    measured: dict[str, dict[str, str]] = {}
    for number, product, unit in fetch(context.cache, _MEASURED_PRODUCTS, to_text(list(by_number))):
        measured.setdefault(number, {})[product] = str(unit or "")
    for number, units in measured.items():
        _add_pieces_of_lines(by_number[number], overlaid_lines(context, number), units)


def _add_pieces_of_lines(order: OrderHeader, lines: Iterable[Row | OrderLineRow], measured: Mapping[str, str]) -> None:
    """Add pieces and complete lines to an order in which the products `measured` are measured, in these units."""
    lines = list(lines)
    picked = ordered = Decimal(0)
    done = count = 0
    for line in lines:
        picked_here, ordered_here = to_decimal(line.get("picked_quantity")), to_decimal(line.get("quantity"))
        is_done = picked_here > 0 and is_line_complete(line)
        if str(line.get("product_number")) in measured:
            picked_here, ordered_here = Decimal(is_done), Decimal(1)
        picked, ordered, done, count = picked + picked_here, ordered + ordered_here, done + is_done, count + 1
    order["picked_pieces"], order["pieces"] = picked, ordered
    order["complete_lines"], order["counted_lines"] = done, count
    order["measured"] = _sum_measured(lines, measured)


def _sum_measured(lines: Iterable[Row | OrderLineRow], units: Mapping[str, str]) -> list[MeasuredGoodsRow]:
    """Return the sums of the measured lines by unit; `units` are those of the products that are measured."""
    sums: dict[str, MeasuredGoodsRow] = {}
    for line in lines:
        unit = units.get(str(line.get("product_number")))
        if unit is None:
            continue
        picked, ordered = to_decimal(line.get("picked_quantity")), to_decimal(line.get("quantity"))
        is_done = picked > 0 and is_line_complete(line)
        none = Decimal(0)
        empty: MeasuredGoodsRow = {
            "unit": unit,
            "quantity": none,
            "picked_quantity": none,
            "missing": none,
            "lines": 0,
            "complete_lines": 0,
        }
        found = sums.setdefault(unit, empty)
        found["quantity"] += ordered
        found["picked_quantity"] += picked
        found["missing"] += none if is_done else ordered - picked
        found["lines"] += 1
        found["complete_lines"] += is_done
    return list(sums.values())


@declare_query("order", "order_number", topic_of("order", "order_number"))
def query_order(context: QueryContext, args: Args) -> QueryResult[OrderRow]:
    """Return one order with its lines, its claim, and who works on it here."""
    rows, total = load_order(context, str(args["order_number"]))
    add_workers(context.cache, context.outbox, rows)
    _add_claims(context, rows)
    for line in (line for row in rows for line in row["lines"] if line["allow_decimal"]):
        line["may_lack"] = line["quantity"] * context.weight_tolerance / 100
    return rows, total


@declare_query("order_to_pick", "order_number", topic_of("order", "order_number"))
def order_to_pick(context: QueryContext, args: Args) -> QueryResult[OrderToPickRow]:
    """Return the row of the query `order` with the stock of its lines, and the operations on it that were refused."""
    orders, total = query_order(context, args)
    add_stock_at_locations(context, orders)
    features = announced_features(context.cache)
    learns = features is None or "pick-place" in features
    rows: list[OrderToPickRow] = [
        {
            **order,
            "refused_by": _refusals_of_order(context.outbox, order["order_number"]),
            "learns_locations": learns,
        }
        for order in orders
    ]
    return rows, total


_REFUSED_OF_ORDER = """
SELECT * FROM operation WHERE live = 1 AND state = 'rejected'
AND EXISTS (SELECT 1 FROM json_each(lanes) WHERE value = ?) ORDER BY n
"""


def _refusals_of_order(outbox: apsw.Connection, number: str) -> dict[str, RefusalOfUserRow]:
    """Return by user of this host their last refused operation on an order.

    Excess that no line could take is left out (see aisle.outbox.merge_and_rebase).
    """
    found = [operation_from_row(each) for each in fetch(outbox, _REFUSED_OF_ORDER, f"order/{number}")]
    return {each.app_user: {"n": each.n, "why": each.last_error} for each in found if not is_excess(each)}


@declare_query("pick_list", "orders", topics_of_list("order", "orders"))
def pick_list(context: QueryContext, args: Args) -> QueryResult[PickListRow]:
    """Return these `orders` in the given order, with the barcodes of their products; unknown numbers are left out."""
    rows: list[PickListRow] = []
    for number in args["orders"]:
        for order in query_order(context, {"order_number": str(number)})[0]:
            numbers = to_text([line["product_number"] for line in order["lines"]])
            barcodes = {str(product): str(code) for product, code in fetch(context.cache, _BARCODES, numbers)}
            rows.append({"order": order, "barcodes": barcodes})
    return rows, len(rows)


_BARCODES = """
SELECT p.product_number, p.barcode FROM json_each(?) e JOIN product p ON p.product_number = e.value
WHERE p.barcode <> ''
"""


def load_order(context: QueryContext, number: str) -> QueryResult[OrderRow]:
    """Return one order with its lines.

    Each line has its product's unit, the locations of the product, the locations where its goods are held, and
    `is_stock`: False if no stock is kept of it (by the store, else by the catalogue). `unsure` is True while an
    operation of this host may or may not be included in the read; its figures may be off until the next read.
    `moved_by`: by user of this host, the number of their last movement or rejection that is not included.
    """
    cache, operations = context.cache, context.pending_orders.get(number, ())
    found = fetch_one(cache, "SELECT raw, lines_read_began, pickup FROM orders WHERE order_number = ?", number)
    if found is None:
        return [], 0
    raw, began, pickup = found
    row = parse_header(raw, number, pickup)
    lines = _load_full_lines(context, number) if began is not None else []
    apply_to_order(row, lines, operations, began)
    picked = sum((to_decimal(line.get("picked_quantity")) for line in lines), Decimal(0)) if lines else None
    row.update(lines=lines, lines_known=began is not None, picked_quantity=picked_quantity(row, picked))
    order = cast("OrderRow", row)
    order["moved_by"] = _last_move_by_user(operations, began)
    order["unsure"] = any(may_be_included(each, began) for each in operations)
    measured = {line["product_number"]: line["unit"] for line in order["lines"] if line["allow_decimal"]}
    if measured:
        _add_pieces_of_lines(order, order["lines"], measured)
    return [order], 1


def _last_move_by_user(pending: Iterable[Operation], read_began: float | None) -> dict[str, int]:
    """Return the last operation on an order by user, without picks."""
    moves = (each for each in pending if each.operation != UPDATE_ORDER and not is_included(each, read_began))
    return {each.app_user: each.n for each in sorted(moves, key=lambda each: each.n)}


def _load_full_lines(context: QueryContext, number: str) -> list[Row]:
    cache = context.cache
    rows = fetch(
        cache,
        "SELECT l.line_number, l.product_number, l.raw, p.name, p.unit, p.allow_decimal, s.raw,"
        " ifnull(s.raw ->> 'is_stock', CASE WHEN p.raw <> '' THEN p.raw ->> 'is_stock' END) FROM line l"
        " LEFT JOIN product p ON p.product_number = l.product_number LEFT JOIN stock s ON s.id = p.id"
        " WHERE l.order_number = ? ORDER BY l.line_number",
        number,
    )
    lines = [_full_line(number, *row) for row in rows]
    _leave_out_held_goods(context, [line for line in lines if line.pop("is_stock_of_product")])
    walk = load_walk_orders(cache, {location["location_code"] for line in lines for location in line["locations"]})
    for line in lines:
        line["locations"] = sort_by_walk_order(line["locations"], walk)
    return lines


def _leave_out_held_goods(context: QueryContext, lines: Iterable[Row]) -> None:
    """Leave goods held for orders out of the locations of lines, in place; `held` tells where all is held."""
    by_product = {str(line["product_number"]): location_codes(line["locations"]) for line in lines}
    held = held_by_location(context, by_product) if by_product else {}
    for line in lines:
        line["locations"] = free_locations(line["locations"], held[str(line["product_number"])])


def _full_line(
    order_number: str,
    line_number: int,
    product: str,
    raw: str,
    name: str | None,
    unit: str | None,
    decimals: int | None,
    stock: str | None,
    is_stock: int | str | None,
) -> Row:
    line = parse_row(raw)
    own_locations = line_locations(line)
    locations = own_locations or (stock_locations(parse_row(stock)) if stock else [])
    held = held_locations(line, order_number)
    line.pop("store_locations", None)
    line.update(
        line_number=line_number,
        product_number=product,
        description=line.get("description") or name or "",
        quantity=to_decimal(line.get("quantity")),
        picked_quantity=to_decimal(line.get("picked_quantity")),
        moved_quantity=to_decimal(line.get("moved_quantity")),
        is_picked=bool(line.get("is_picked")),
        locations=locations,
        is_stock_of_product=not own_locations,
        put_down=held,
        allow_decimal=bool(decimals),
        unit=unit or "",
        is_stock=is_stock not in (0, "false"),
    )
    for optional in (
        "price",
        "stock_pool",
        "picking_stock_pool_array",
        "store_walking_order",
        "preferred_location_code",
    ):
        line.setdefault(optional, None)
    return line
