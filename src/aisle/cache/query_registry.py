"""Queries of sessions by name: windows on the store's data with pending operations overlaid.

Each returns rows and the total number for its arguments. Queries of supervisors: aisle.cache.supervisor_queries.

Orders and picking:

* `orders` (search, product_number, user, lying, first, size): open orders with progress and claim. First those assigned
  to this user and those with priority, then by pickup date and number; with search words a hundred at most. With
  `lying`, before all others those picked and not put down (aisle.cache.goods_in_hand_queries).
* `assigned_orders` (user): see aisle.cache.claim_queries.
* `order` (order_number): one row with `lines`; `lines_known` is False if only the header is cached.
* `order_to_pick` (order_number): the same, with the `stock` of each line; see aisle.cache.order_queries.
* `orders_with_product` (product_number, first, size): orders that need or hold a product.
* `unexpected_product`, `stock_at_location`, `pickup_locations`, `other_locations` (product_number, place, pools),
  `short_reasons`: see aisle.cache.pick_queries.
* `location_use`: see aisle.cache.location_queries.

Products, locations and stores:

* `search` (search, first, size): products, best first, 100 at most.
* `product` (product_number): one row with stock by pool and location.
* `surrounding` (product_number): one row with the stock of nearby `stores`.
* `store_product` (product_number, user), `next_deliveries` (product_number, size): see aisle.cache.product_queries.
* `catalogue`, `catalogue_page`, `facets`: see aisle.cache.catalogue_queries.
* `location` (location_code, size, product_number): one row with the `products` at a location, their pools and `held`
  goods, their total number, and the locations `before` and `after` it.
* `locations` (search, beside, first, size): locations in walking order, with the number of `products` at each.
* `locations_of_products` (product_numbers): the locations of each product, those with stock first, in walking order.
* `store` (store_number; without it this one); `stores`, `store_page`: see aisle.cache.store_queries.

Deliveries and log:

* `deliveries`, `delivery`, `deliveries_expecting`, `receipts`, `receipt_kinds`, `partly_received`: see
  aisle.cache.delivery_queries.
* `my_entries` (now, user, product_number, search, first, size): counts, losses and corrections of the day, youngest
  first.
* `reasons`, `log`, `losses`: see aisle.cache.log_queries.

People and operations:

* `people` (search, size): user and name, and `is_badge`: the search is their badge.
* `person` (user): that person; the total counts all people.
* `user_token` (user, now): see aisle.outbox.user_tokens.
* `language` (user): the language this person has chosen on this host, if any.
* `refused_operations` (operation, since, ops): operations refused since then, or of these ids, with the reason, oldest
  first.
* `unconfirmed` (op_id, first, size): unconfirmed operations, those that need a person first; `needing_person`: number
  of these.
* `open_work` (user, now): number of operations to be sent, with rows of the goods in this user's hand.
* `records_by_number` (code): objects that a code identifies.
* `features`: features that the service announces beyond the interface.
* `unread_lists`: each `list` of the store that was never read to its end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import apsw

from aisle.barcode_keys import guessed_keys, lookup_keys, may_identify
from aisle.cache.claim_queries import add_claims, add_picker_names
from aisle.cache.delivery_queries import partly_received_deliveries
from aisle.cache.location_queries import list_locations, load_location
from aisle.cache.operation_queries import count_needing_person, unconfirmed_operations
from aisle.cache.order_overlay import Overlay, Row
from aisle.cache.order_queries import ListChange, add_stock_at_locations, load_order, open_orders, orders_with_product
from aisle.cache.overlaid_order import OverlaidOrders
from aisle.cache.row_values import QueryResult, WindowRows, parse_row, pool_quantities, used_pools, window_bounds
from aisle.cache.stock_overlay import StockOverlay
from aisle.cache.store_queries import unread_lists
from aisle.cache.walk_order import WalkOrder
from aisle.host.database import fetch, fetch_one
from aisle.host.notify_sockets import ANYTHING, OUTBOX, REFUSAL, REQUEST, format_topic
from aisle.host.store_folder import StoreFolder
from aisle.jobs.job import Json
from aisle.late import LazyModule
from aisle.outbox.local_notes import LANGUAGE, notes_of_keys
from aisle.outbox.operation_queue import OperationQueue
from aisle.scan.meaning import PERSON, Candidate
from aisle.scan.resolve import unique_results
from aisle.search_text import normalise_text

if TYPE_CHECKING:
    from aisle.cache import (
        catalogue_queries,
        claim_queries,
        delivery_queries,
        goods_in_hand_queries,
        location_queries,
        log_queries,
        pick_queries,
        product_queries,
        product_search,
        store_queries,
    )
    from aisle.outbox import user_tokens
else:
    catalogue_queries = LazyModule("aisle.cache.catalogue_queries")
    claim_queries = LazyModule("aisle.cache.claim_queries")
    delivery_queries = LazyModule("aisle.cache.delivery_queries")
    goods_in_hand_queries = LazyModule("aisle.cache.goods_in_hand_queries")
    location_queries = LazyModule("aisle.cache.location_queries")
    log_queries = LazyModule("aisle.cache.log_queries")
    pick_queries = LazyModule("aisle.cache.pick_queries")
    product_queries = LazyModule("aisle.cache.product_queries")
    product_search = LazyModule("aisle.cache.product_search")
    store_queries = LazyModule("aisle.cache.store_queries")
    user_tokens = LazyModule("aisle.outbox.user_tokens")

PEOPLE_SIZE = 50
"""Rows of a window on people if the query names no size."""

Args = Mapping[str, Json]


class QueryContext(NamedTuple):
    """Connections and caches that queries read from, as they are at this moment."""

    store_folder: StoreFolder
    cache: apsw.Connection
    outbox: apsw.Connection
    overlay: Overlay
    stock_overlay: StockOverlay
    pools: Mapping[int, str]
    """Names of the configured stock pools; empty for those that the store names."""
    overlaid_orders: OverlaidOrders
    """Overlaid orders read before, updated by each query that reads one."""
    find: Callable[[Iterable[str]], list[Candidate]]
    walk_order: Callable[[], WalkOrder]
    """Function that returns the walking order."""
    list_change: Callable[[], ListChange]
    """Function that returns the change of the list of open orders by pending operations."""
    closed_orders: Callable[[Iterable[str]], set[str]]
    """Function that returns those of these orders that were rejected or finished here."""


R = TypeVar("R", QueryResult, WindowRows)


def _query_orders(context: QueryContext, args: Args) -> WindowRows:
    user, list_change = str(args.get("user") or ""), context.list_change()
    in_hand: Mapping[str, Json] = {}
    not_put_down = (
        claim_queries.orders_not_put_down(context.outbox, user, of_everybody=bool(args.get("search")))
        if args.get("lying")
        else []
    )
    if not_put_down or (args.get("lying") and args.get("search")):
        list_change, in_hand = goods_in_hand_queries.add_orders_in_hand(
            context.cache, context.overlay.by_order(), list_change, args, not_put_down
        )
    order_args = {**args, "ahead": [*in_hand, *claim_queries.orders_ahead(context.outbox, user)]}
    found = _with_claims(
        context,
        open_orders(context.cache, context.overlay.by_order(), context.overlaid_orders, list_change, order_args),
    )
    for row in found[0] if in_hand else ():
        row["lying"] = in_hand.get(str(row["order_number"]), 0)
    return found


def _query_order(context: QueryContext, args: Args) -> QueryResult:
    return _with_claims(context, load_order(context.cache, context.overlay.by_order(), str(args["order_number"])))


def _query_order_to_pick(context: QueryContext, args: Args) -> QueryResult:
    found = _query_order(context, args)
    add_stock_at_locations(context.cache, context.stock_overlay.by_product(), found[0])
    for row in found[0]:
        location_queries.add_refused(context.outbox, row)
    return found


def _with_claims(context: QueryContext, result: R) -> R:
    add_claims(context.cache, context.outbox, result[0])
    claim_queries.add_priority(context.cache, context.outbox, result[0])
    return result


def _with_picker_names(context: QueryContext, result: QueryResult) -> QueryResult:
    add_picker_names(context.cache, result[0])
    return result


def _query_product(context: QueryContext, args: Args) -> QueryResult:
    number, pending = str(args["product_number"]), context.stock_overlay.by_product()
    rows, total = product_search.load_product(context.cache, pending, number, context.store_folder.store, context.pools)
    for row in rows:
        operations = pending.get(number, ())
        row["in_hand"] = goods_in_hand_queries.product_in_hand(
            context.cache, context.overlay.by_order(), context.overlaid_orders, operations, number
        )
    return rows, total


def _query_orders_with_product(context: QueryContext, args: Args) -> QueryResult:
    return orders_with_product(context.cache, context.overlay.by_order(), context.overlaid_orders, args)


def _query_location(context: QueryContext, args: Args) -> QueryResult:
    """Return a location. Goods held for orders that were rejected or finished here are held for nobody."""
    rows, total = load_location(context.cache, context.stock_overlay, context.walk_order(), args)
    products = [product for row in rows for product in row["products"]]
    closed = context.closed_orders({str(each["order_number"]) for product in products for each in product["held"]})
    for product in products if closed else ():
        product["held"] = [each for each in product["held"] if str(each["order_number"]) not in closed]
    return rows, total


def _query_other_locations(context: QueryContext, args: Args) -> QueryResult:
    rows, _ = _query_product(context, args)
    return pick_queries.other_locations(
        context.cache, context.stock_overlay.by_product(), context.walk_order(), rows[0] if rows else None, args
    )


def _query_unread_lists(context: QueryContext, _: Args) -> QueryResult:
    found = unread_lists(context.cache)
    return [{"list": name} for name in found], len(found)


def _query_open_work(context: QueryContext, args: Args) -> QueryResult:
    rows = goods_in_hand_queries.user_in_hand(context.cache, context.outbox, context.overlay.by_order(), args)
    return rows, OperationQueue(context.outbox).pending_counts()[0]


def _query_language(outbox: apsw.Connection, user: str) -> QueryResult:
    notes = notes_of_keys(outbox, [user], LANGUAGE)
    return [{"language": each.text} for each in notes.values()], len(notes)


def _query_people(context: QueryContext, args: Args) -> QueryResult:
    search = str(args.get("search") or "")
    words = normalise_text(search).split()
    badges = {found.key for found in context.find(lookup_keys(search)) if found.kind == PERSON}
    rows = fetch(context.cache, "SELECT raw, user, name, text FROM person ORDER BY name, user")
    people = [
        {**parse_row(raw), "user": user, "name": name, "is_badge": user in badges}
        for raw, user, name, text in rows
        if user in badges or all(word in text for word in words)
    ]
    first, size = window_bounds(args, PEOPLE_SIZE)
    return people[first : first + size], len(people)


def _query_person(context: QueryContext, args: Args) -> QueryResult:
    row = fetch_one(context.cache, "SELECT user, name FROM person WHERE user = ?", str(args["user"]))
    count = fetch_one(context.cache, "SELECT count(*) FROM person")
    return [{"user": row[0], "name": row[1]}] if row else [], int(count[0]) if count else 0


def _find_by_code(context: QueryContext, code: str) -> tuple[list[Candidate], bool]:
    """Return everything with this code, or the only object that a guess finds, and True for a guess.

    Beside a quantity nobody can be asked which of several was meant.
    """
    if found := _find_identified(context, code, lookup_keys(code)):
        return found, False
    guessed = unique_results((each, each) for each in _find_identified(context, code, guessed_keys(code)))
    return (list(guessed), True) if len(guessed) == 1 else ([], False)


def _find_identified(context: QueryContext, code: str, keys: Iterable[str]) -> list[Candidate]:
    return [each for each in context.find(keys) if may_identify(each.code, each.key, code)]


def _query_by_number(context: QueryContext, code: str) -> QueryResult:
    found, is_guess = _find_by_code(context, code)
    return location_queries.candidate_rows(found, is_guess=is_guess)


def _query_store(context: QueryContext, args: Args) -> QueryResult:
    number = str(args.get("store_number") or context.store_folder.store)
    row = fetch_one(context.cache, "SELECT raw FROM store WHERE store_number = ?", number)
    configured = context.pools if number == context.store_folder.store else {}
    if row is None and not configured:
        return [], 0
    raw = parse_row(row[0]) if row else {}
    store: Row = {
        **raw,
        "store_number": number,
        "store_name": raw.get("storeName"),
        "is_warehouse": bool(raw.get("isWarhouse")),
        "pools": used_pools(pool_quantities(raw, "storeStockPool"), configured),
    }
    return [store], 1


QUERIES: Mapping[str, Callable[[QueryContext, Args], QueryResult | WindowRows]] = {
    "orders": _query_orders,
    "assigned_orders": lambda on, args: claim_queries.assigned_orders(on.cache, on.outbox, args),
    "order": _query_order,
    "order_to_pick": _query_order_to_pick,
    "product": _query_product,
    "surrounding": lambda on, args: product_search.load_surrounding(
        on.cache, str(args["product_number"]), on.store_folder.store
    ),
    "orders_with_product": _query_orders_with_product,
    "search": lambda on, args: product_search.search_products(on.cache, args),
    "location": _query_location,
    "locations": lambda on, args: list_locations(on.cache, on.stock_overlay, on.walk_order(), args),
    "locations_of_products": lambda on, args: location_queries.locations_of_products(
        on.cache, on.stock_overlay.by_product(), args
    ),
    "refused_operations": lambda on, args: _with_picker_names(on, location_queries.refused_operations(on.outbox, args)),
    "records_by_number": lambda on, args: _query_by_number(on, str(args["code"])),
    "unconfirmed": lambda on, args: unconfirmed_operations(on.outbox, on.cache, args),
    "needing_person": lambda on, _: count_needing_person(on.outbox),
    "partly_received": lambda on, _: partly_received_deliveries(on.cache, on.outbox),
    "language": lambda on, args: _query_language(on.outbox, str(args["user"])),
    "open_work": _query_open_work,
    "unread_lists": _query_unread_lists,
    "my_entries": lambda on, args: log_queries.entries_of_day(on.cache, on.outbox, on.store_folder.store, args),
    "reasons": lambda on, _: log_queries.log_reasons(on.cache),
    "other_locations": _query_other_locations,
    "short_reasons": lambda on, _: pick_queries.recent_reasons(on.cache),
    "features": lambda on, _: pick_queries.service_features(on.cache),
    "unexpected_product": lambda on, args: pick_queries.unexpected_product(
        on.cache, partial(_query_product, on), partial(_query_orders_with_product, on), args
    ),
    "stock_at_location": lambda on, args: pick_queries.stock_of_product_at(partial(_query_product, on), args),
    "pickup_locations": lambda on, args: pick_queries.pickup_locations(on.cache, args),
    "location_use": lambda on, args: location_queries.location_use(
        on.cache, on.stock_overlay, on.walk_order(), on.closed_orders, args
    ),
    "deliveries": lambda on, args: delivery_queries.list_deliveries(on.cache, on.overlay, args),
    "delivery": lambda on, args: delivery_queries.load_delivery(on.cache, on.overlay, str(args["order_number"])),
    "deliveries_expecting": lambda on, args: delivery_queries.deliveries_expecting(on.cache, on.overlay, args),
    "next_deliveries": lambda on, args: product_queries.next_deliveries(on.cache, on.stock_overlay.by_product(), args),
    "receipts": lambda on, args: delivery_queries.list_receipts(on.cache, args),
    "log": lambda on, args: log_queries.log_entries(on.cache, args),
    "losses": lambda on, args: log_queries.losses_by_week(on.cache, args),
    "receipt_kinds": lambda on, _: delivery_queries.count_receipt_kinds(on.cache),
    "store_product": lambda on, args: product_queries.load_store_product(
        on.cache, on.outbox, partial(_query_product, on), args
    ),
    "people": _query_people,
    "person": _query_person,
    "user_token": lambda on, args: user_tokens.user_token_query(on.cache, on.outbox, args),
    "catalogue": lambda on, args: catalogue_queries.list_catalogue(on.cache, args),
    "catalogue_page": lambda on, args: catalogue_queries.load_catalogue_page(
        on.cache, partial(_query_product, on), args
    ),
    "facets": lambda on, args: catalogue_queries.list_facets(on.cache, args),
    "stores": lambda on, args: store_queries.list_stores(on.cache, on.store_folder, args),
    "store_page": lambda on, args: store_queries.load_store_page(on.cache, on.outbox, on.store_folder, args),
    "store": _query_store,
}


MAX_KEYED_PRODUCTS = 200
"""Greatest number of products in an answer with a topic each, because topics go with every frame.

Beyond it any product concerns the answer.
"""

QueryArgs = Mapping[str, Json]
TopicsOf = Callable[[QueryArgs, Sequence[Mapping[str, Any]]], Iterable[str]]


def _whole_topics(*topics: str) -> TopicsOf:
    return lambda _args, _rows: topics


def _topic_of_argument(topic: str, field: str) -> TopicsOf:
    """Return the topic of the one object named by this argument; all objects of the topic without it."""
    return lambda args, _rows: [format_topic(topic, str(args.get(field) or ""))]


def _topic_and_outbox(topic: str, field: str) -> TopicsOf:
    """Return the same topic and that of the outbox."""
    return lambda args, _rows: [format_topic(topic, str(args.get(field) or "")), OUTBOX]


def _topics_of_list(topic: str, field: str) -> TopicsOf:
    """Return the topics of the objects listed by this argument."""
    return lambda args, _rows: [format_topic(topic, str(each)) for each in args.get(field) or ()]


def _topics_of_rows(topic: str, field: str) -> TopicsOf:
    """Return the topics of the objects in the rows; the whole topic if there are no rows."""
    return lambda _args, rows: [format_topic(topic, str(row.get(field) or "")) for row in rows] or [topic]


def _topics_of_location(args: QueryArgs, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    products = [product for row in rows for product in row.get("products") or ()]
    own_topic = format_topic("location", str(args.get("location_code") or ""))
    if len(products) > MAX_KEYED_PRODUCTS:
        return [own_topic, "product"]
    return [own_topic, *(format_topic("product", str(product.get("product_number") or "")) for product in products)]


_NO_TOPICS = _whole_topics()
_TOPICS_BY_QUERY: Mapping[str, TopicsOf] = {
    "absent_order": _topic_of_argument("absent", "order_number"),
    "request_state": _whole_topics(REQUEST),
    "catalogue": _whole_topics("product"),
    "catalogue_page": _topic_of_argument("product", "product_number"),
    "next_deliveries": _whole_topics("delivery"),
    "my_entries": _whole_topics("log", OUTBOX),
    "deliveries": _whole_topics("delivery"),
    "partly_received": _whole_topics("delivery"),
    "delivery": _topic_of_argument("delivery", "order_number"),
    "unconfirmed": _whole_topics(OUTBOX),
    "other_locations": _topic_of_argument("product", "product_number"),
    "deliveries_expecting": _whole_topics("delivery"),
    "facets": _whole_topics("product"),
    "orders_with_product": _whole_topics("order"),
    "locations_of_products": _topics_of_list("product", "product_numbers"),
    "log": _whole_topics("log"),
    "losses": _whole_topics("log"),
    "order": _topic_of_argument("order", "order_number"),
    "order_to_pick": _topic_of_argument("order", "order_number"),
    "orders": _whole_topics("order"),
    "orders_by_number": _topics_of_list("order", "orders"),
    "order_outcomes": _whole_topics(OUTBOX),
    "user_token": _whole_topics(OUTBOX),
    "people": _whole_topics("person"),
    "person": _whole_topics("person"),
    "location": _topics_of_location,
    "locations": _topics_of_rows("location", "location_code"),
    "product": _topic_of_argument("product", "product_number"),
    "receipts": _whole_topics("delivery"),
    "recounts": _whole_topics("recount"),
    "refused_operations": _whole_topics(REFUSAL),
    "search": _topics_of_rows("product", "product_number"),
    "store": _topic_of_argument("store", "store_number"),
    "store_page": _topic_of_argument("store", "store_number"),
    "store_product": _topic_and_outbox("product", "product_number"),
    "stores": _whole_topics("store"),
    "surrounding": _topic_of_argument("surrounding", "product_number"),
    "needing_person": _whole_topics(REFUSAL),
    # answers to one input, or queries of data without a topic
    **dict.fromkeys(
        (
            *("assigned_orders", "features", "file", "location_use", "message_texts", "open_work", "pickup_locations"),
            *("reasons", "receipt_kinds", "records_by_number", "saved_views", "short_reasons", "stock_at_location"),
            *("terminal", "unexpected_product", "unread_lists"),
        ),
        _NO_TOPICS,
    ),
}
"""Topics by query name; any other query may show anything."""


def topics_of_query(name: str, args: QueryArgs, rows: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    """Return the topics whose change would change this answer."""
    topics_of = _TOPICS_BY_QUERY.get(name)
    return frozenset((ANYTHING,) if topics_of is None else topics_of(args, rows))
