"""Queries of sessions by name: windows on the store's data with pending operations overlaid.

`QUERIES` declares each query with its row type and its arguments, `first` and `size` being the window. Queries of
supervisors: aisle.cache.supervisor_queries. Queries that the session answers itself: aisle.session.answer_job_queries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import apsw

from aisle.barcode_keys import guessed_keys, lookup_keys, may_identify, zero_forms
from aisle.cache.claim_queries import add_claims, add_picker_names, add_workers
from aisle.cache.delivery_queries import partly_received_deliveries
from aisle.cache.location_queries import list_locations, load_location
from aisle.cache.operation_queries import count_needing_person, unconfirmed_operations
from aisle.cache.order_overlay import Overlay
from aisle.cache.order_queries import ListChange, add_stock_at_locations, load_order, open_orders, orders_with_product
from aisle.cache.overlaid_order import OverlaidOrders
from aisle.cache.row_values import QueryResult, WindowRows, parse_row, pool_quantities, used_pools, window_bounds
from aisle.cache.stock_overlay import StockOverlay
from aisle.cache.store_queries import unread_lists
from aisle.cache.walk_order import WalkOrder
from aisle.host.database import fetch, fetch_one
from aisle.host.notify_sockets import ANYTHING, OUTBOX, REFUSAL, REQUEST, format_topic
from aisle.host.store_folder import StoreFolder
from aisle.jobs.job import Args, Json
from aisle.late import LazyModule
from aisle.outbox.local_notes import LANGUAGE, notes_of_keys
from aisle.outbox.operation_queue import OperationQueue
from aisle.scan.meaning import PERSON, Candidate
from aisle.scan.resolve import exact_candidates, unique_results
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
    from aisle.jobs.row_types import deliveries, locations, log, operations, orders, people, products, stores  # noqa: F401 - named in quotes below
    from aisle.jobs.row_types.locations import LocationRow, OtherLocationsRow, RecordsByNumberRow
    from aisle.jobs.row_types.operations import OpenWorkRow, RefusedOperationsRow
    from aisle.jobs.row_types.orders import OrderHeader, OrderRow, OrdersRow, OrdersWithProductRow, OrderToPickRow
    from aisle.jobs.row_types.people import LanguageRow, PeopleRow, PersonRow
    from aisle.jobs.row_types.products import ProductRow
    from aisle.jobs.row_types.stores import StoreRow, UnreadListsRow
    from aisle.outbox import user_token_owners
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
    user_token_owners = LazyModule("aisle.outbox.user_token_owners")

PEOPLE_SIZE = 50
"""Rows of a window on people if the query names no size."""


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


R = TypeVar("R")


class QueryDeclaration(NamedTuple, Generic[R]):
    """One query, with its row type as the type argument."""

    arguments: str
    """Names of its arguments."""
    read: Callable[[QueryContext, Args], QueryResult[R] | WindowRows[R]]


def _query_orders(context: QueryContext, args: Args) -> WindowRows[OrdersRow]:
    """Return the open orders: those assigned to this user and those with priority, then by pickup date and number.

    With search words a hundred at most. With `not_put_down`, before all others those picked and not put down.
    """
    user, list_change = str(args.get("user") or ""), context.list_change()
    in_hand: Mapping[str, Json] = {}
    not_put_down = (
        claim_queries.orders_not_put_down(context.outbox, user, of_everybody=bool(args.get("search")))
        if args.get("not_put_down")
        else []
    )
    if not_put_down or (args.get("not_put_down") and args.get("search")):
        list_change, in_hand = goods_in_hand_queries.add_orders_in_hand(
            context.cache, context.overlay.by_order(), list_change, args, not_put_down
        )
    order_args = {**args, "ahead": [*in_hand, *claim_queries.orders_ahead(context.outbox, user)]}
    found = open_orders(context.cache, context.overlay.by_order(), context.overlaid_orders, list_change, order_args)
    _add_claims(context, found.rows)
    for row in found.rows if in_hand else ():
        row["not_put_down"] = in_hand.get(row["order_number"], 0)
    return found


def _query_order(context: QueryContext, args: Args) -> QueryResult[OrderRow]:
    rows, total = load_order(context.cache, context.overlay.by_order(), str(args["order_number"]))
    add_workers(context.cache, context.outbox, rows)
    _add_claims(context, rows)
    return rows, total


def _query_order_to_pick(context: QueryContext, args: Args) -> QueryResult[OrderToPickRow]:
    orders, total = _query_order(context, args)
    add_stock_at_locations(context.cache, context.stock_overlay.by_product(), orders)
    rows: list[OrderToPickRow] = [
        {**order, "refused_by": location_queries.refusals_of_order(context.outbox, order["order_number"])}
        for order in orders
    ]
    return rows, total


def _add_claims(context: QueryContext, rows: Sequence[OrderHeader]) -> None:
    add_claims(context.cache, context.outbox, rows)
    claim_queries.add_priority(context.cache, context.outbox, rows)


def _query_refused_operations(context: QueryContext, args: Args) -> QueryResult[RefusedOperationsRow]:
    """Return the operations refused `since` then, or those `ops`, oldest first."""
    rows, total = location_queries.refused_operations(context.outbox, args)
    add_picker_names(context.cache, rows)
    return rows, total


def _query_product(context: QueryContext, args: Args) -> QueryResult[ProductRow]:
    number, pending = str(args["product_number"]), context.stock_overlay.by_product()
    rows, total = product_search.load_product(context.cache, pending, number, context.store_folder.store, context.pools)
    for row in rows:
        operations = pending.get(number, ())
        row["in_hand"] = goods_in_hand_queries.product_in_hand(
            context.cache, context.overlay.by_order(), context.overlaid_orders, operations, number
        )
    return rows, total


def _query_orders_with_product(context: QueryContext, args: Args) -> QueryResult[OrdersWithProductRow]:
    return orders_with_product(context.cache, context.overlay.by_order(), context.overlaid_orders, args)


def _query_location(context: QueryContext, args: Args) -> QueryResult[LocationRow]:
    """Return a location. Goods held for orders that were rejected or finished here are held for nobody."""
    rows, total = load_location(context.cache, context.stock_overlay, context.walk_order(), args)
    products = [product for row in rows for product in row["products"]]
    closed = context.closed_orders({str(each["order_number"]) for product in products for each in product["held"]})
    for product in products if closed else ():
        product["held"] = [each for each in product["held"] if str(each["order_number"]) not in closed]
    return rows, total


def _query_other_locations(context: QueryContext, args: Args) -> QueryResult[OtherLocationsRow]:
    rows, _ = _query_product(context, args)
    return pick_queries.other_locations(
        context.cache, context.stock_overlay.by_product(), context.walk_order(), rows[0] if rows else None, args
    )


def _query_unread_lists(context: QueryContext, _: Args) -> QueryResult[UnreadListsRow]:
    found = unread_lists(context.cache)
    return [{"list": name} for name in found], len(found)


def _query_open_work(context: QueryContext, args: Args) -> QueryResult[OpenWorkRow]:
    rows = goods_in_hand_queries.user_in_hand(context.cache, context.outbox, context.overlay.by_order(), args)
    return rows, OperationQueue(context.outbox).pending_counts()[0]


def _query_language(outbox: apsw.Connection, user: str) -> QueryResult[LanguageRow]:
    notes = notes_of_keys(outbox, [user], LANGUAGE)
    return [{"language": each.text} for each in notes.values()], len(notes)


def _query_people(context: QueryContext, args: Args) -> QueryResult[PeopleRow]:
    search = str(args.get("search") or "")
    words = normalise_text(search).split()
    badges = {found.key for found in context.find(lookup_keys(search)) if found.kind == PERSON}
    rows = fetch(context.cache, "SELECT user, name, text FROM person ORDER BY name, user")
    people: list[PeopleRow] = [
        {"user": user, "name": name, "is_badge": user in badges}
        for user, name, text in rows
        if user in badges or all(word in text for word in words)
    ]
    first, size = window_bounds(args, PEOPLE_SIZE)
    return people[first : first + size], len(people)


def _query_person(context: QueryContext, args: Args) -> QueryResult[PersonRow]:
    row = fetch_one(context.cache, "SELECT user, name FROM person WHERE user = ?", str(args["user"]))
    count = fetch_one(context.cache, "SELECT count(*) FROM person")
    return [{"user": row[0], "name": row[1]}] if row else [], int(count[0]) if count else 0


def _query_by_number(context: QueryContext, code: str) -> QueryResult[RecordsByNumberRow]:
    """Return everything with exactly this code, or with other leading zeros, or the only object that a guess finds.

    Beside a quantity nobody can be asked which of several guesses was meant.
    """
    forms = zero_forms(code)
    found = context.find((*lookup_keys(code), *forms))
    certain = [each for each in found if each.code in forms or may_identify(each.code, each.key, code)]
    if exact := exact_candidates(code, forms, found) if forms else []:
        certain = [each for each in certain if each in exact]
    guessed = () if exact or (certain and not forms) else _find_guessed(context, code)
    objects: dict[tuple[str, str], Candidate] = {}
    for each in (*certain, *guessed):
        objects.setdefault((each.kind, each.key), each)
    return location_queries.candidate_rows(
        objects.values(), is_guess=bool(guessed), has_other_zeros=bool(forms) and not exact
    )


def _find_guessed(context: QueryContext, code: str) -> tuple[Candidate, ...]:
    """Return the only object that has another form of a code."""
    found = [each for each in context.find(guessed_keys(code)) if may_identify(each.code, each.key, code)]
    guessed = unique_results((each, each) for each in found)
    return guessed if len(guessed) == 1 else ()


def _query_store(context: QueryContext, args: Args) -> QueryResult[StoreRow]:
    number = str(args.get("store_number") or context.store_folder.store)
    row = fetch_one(context.cache, "SELECT raw FROM store WHERE store_number = ?", number)
    configured = context.pools if number == context.store_folder.store else {}
    if row is None and not configured:
        return [], 0
    raw = parse_row(row[0]) if row else {}
    store: StoreRow = {
        "store_number": number,
        "store_name": raw.get("storeName"),
        "is_warehouse": bool(raw.get("isWarhouse")),
        "pools": used_pools(pool_quantities(raw, "storeStockPool"), configured),
    }
    return [store], 1


QUERIES: Mapping[str, QueryDeclaration[Any]] = {
    "orders": QueryDeclaration["orders.OrdersRow"]("search product_number user not_put_down first size", _query_orders),
    "assigned_orders": QueryDeclaration["orders.AssignedOrdersRow"](
        "user", lambda on, args: claim_queries.assigned_orders(on.cache, on.outbox, args)
    ),
    "order": QueryDeclaration["orders.OrderRow"]("order_number", _query_order),
    "order_to_pick": QueryDeclaration["orders.OrderToPickRow"]("order_number", _query_order_to_pick),
    "orders_with_product": QueryDeclaration["orders.OrdersWithProductRow"](
        "product_number first size", _query_orders_with_product
    ),
    "unexpected_product": QueryDeclaration["products.UnexpectedProductRow"](
        "product_number orders products",
        lambda on, args: pick_queries.unexpected_product(
            on.cache, partial(_query_product, on), partial(_query_orders_with_product, on), args
        ),
    ),
    "stock_at_location": QueryDeclaration["locations.StockAtLocationRow"](
        "product_number location_code",
        lambda on, args: pick_queries.stock_of_product_at(partial(_query_product, on), args),
    ),
    "other_locations": QueryDeclaration["locations.OtherLocationsRow"](
        "product_number location pools", _query_other_locations
    ),
    "pickup_locations": QueryDeclaration["locations.PickupLocationsRow"](
        "like", lambda on, args: pick_queries.pickup_locations(on.cache, args)
    ),
    "location_use": QueryDeclaration["locations.LocationUseRow"](
        "location_code",
        lambda on, args: location_queries.location_use(
            on.cache, on.stock_overlay, on.walk_order(), on.closed_orders, args
        ),
    ),
    "short_reasons": QueryDeclaration["log.ShortReasonsRow"]("", lambda on, _: pick_queries.recent_reasons(on.cache)),
    # products
    "search": QueryDeclaration["products.SearchRow"](
        "search first size", lambda on, args: product_search.search_products(on.cache, args)
    ),
    "product": QueryDeclaration["products.ProductRow"]("product_number", _query_product),
    "surrounding": QueryDeclaration["products.SurroundingRow"](
        "product_number",
        lambda on, args: product_search.load_surrounding(on.cache, str(args["product_number"]), on.store_folder.store),
    ),
    "next_deliveries": QueryDeclaration["products.NextDeliveriesRow"](
        "product_number size",
        lambda on, args: product_queries.next_deliveries(on.cache, on.stock_overlay.by_product(), args),
    ),
    "store_product": QueryDeclaration["products.StoreProductRow"](
        "product_number user",
        lambda on, args: product_queries.load_store_product(on.cache, on.outbox, partial(_query_product, on), args),
    ),
    "catalogue": QueryDeclaration["products.CatalogueRow"](
        "search show category supplier among first size",
        lambda on, args: catalogue_queries.list_catalogue(on.cache, args),
    ),
    "catalogue_page": QueryDeclaration["products.CataloguePageRow"](
        "product_number",
        lambda on, args: catalogue_queries.load_catalogue_page(on.cache, partial(_query_product, on), args),
    ),
    "facets": QueryDeclaration["products.FacetsRow"](
        "kind search first size", lambda on, args: catalogue_queries.list_facets(on.cache, args)
    ),
    # locations
    "location": QueryDeclaration["locations.LocationRow"]("location_code size product_number", _query_location),
    "locations": QueryDeclaration["locations.LocationsRow"](
        "search beside first size", lambda on, args: list_locations(on.cache, on.stock_overlay, on.walk_order(), args)
    ),
    "locations_of_products": QueryDeclaration["locations.LocationsOfProductsRow"](
        "product_numbers",
        lambda on, args: location_queries.locations_of_products(on.cache, on.stock_overlay.by_product(), args),
    ),
    "records_by_number": QueryDeclaration["locations.RecordsByNumberRow"](
        "code", lambda on, args: _query_by_number(on, str(args["code"]))
    ),
    # deliveries and log
    "deliveries": QueryDeclaration["deliveries.DeliveriesRow"](
        "state search first size", lambda on, args: delivery_queries.list_deliveries(on.cache, on.overlay, args)
    ),
    "delivery": QueryDeclaration["deliveries.DeliveryRow"](
        "order_number", lambda on, args: delivery_queries.load_delivery(on.cache, on.overlay, str(args["order_number"]))
    ),
    "deliveries_expecting": QueryDeclaration["deliveries.DeliveriesExpectingRow"](
        "product_number first size", lambda on, args: delivery_queries.deliveries_expecting(on.cache, on.overlay, args)
    ),
    "partly_received": QueryDeclaration["deliveries.PartlyReceivedRow"](
        "", lambda on, _: partly_received_deliveries(on.cache, on.outbox)
    ),
    "receipts": QueryDeclaration["deliveries.ReceiptsRow"](
        "kind search first size", lambda on, args: delivery_queries.list_receipts(on.cache, args)
    ),
    "receipt_kinds": QueryDeclaration["deliveries.ReceiptKindsRow"](
        "", lambda on, _: delivery_queries.count_receipt_kinds(on.cache)
    ),
    "my_entries": QueryDeclaration["log.MyEntriesRow"](
        "now key user product_number search first size",
        lambda on, args: log_queries.entries_of_day(on.cache, on.outbox, on.store_folder.store, args),
    ),
    "log": QueryDeclaration["log.LogRow"](
        "key since until from_id to_id product_number app_user_name reason_code review_status reference source"
        " location_code search past first size",
        lambda on, args: log_queries.log_entries(on.cache, args),
    ),
    "losses": QueryDeclaration["log.LossesRow"]("now", lambda on, args: log_queries.losses_by_week(on.cache, args)),
    "reasons": QueryDeclaration["log.ReasonsRow"]("", lambda on, _: log_queries.log_reasons(on.cache)),
    # stores
    "store": QueryDeclaration["stores.StoreRow"]("store_number", _query_store),
    "stores": QueryDeclaration["stores.StoresRow"](
        "search show first size", lambda on, args: store_queries.list_stores(on.cache, on.store_folder, args)
    ),
    "store_page": QueryDeclaration["stores.StorePageRow"](
        "store_number user terminal",
        lambda on, args: store_queries.load_store_page(on.cache, on.outbox, on.store_folder, args),
    ),
    "unread_lists": QueryDeclaration["stores.UnreadListsRow"]("", _query_unread_lists),
    "features": QueryDeclaration["stores.FeaturesRow"]("", lambda on, _: pick_queries.service_features(on.cache)),
    # people and operations
    "people": QueryDeclaration["people.PeopleRow"]("search first size", _query_people),
    "person": QueryDeclaration["people.PersonRow"]("user", _query_person),
    "user_token": QueryDeclaration["people.UserTokenRow"](
        "user now", lambda on, args: user_token_owners.user_token_query(on.cache, on.outbox, args)
    ),
    "language": QueryDeclaration["people.LanguageRow"](
        "user", lambda on, args: _query_language(on.outbox, str(args["user"]))
    ),
    "refused_operations": QueryDeclaration["operations.RefusedOperationsRow"](
        "operation since ops", _query_refused_operations
    ),
    "unconfirmed": QueryDeclaration["operations.UnconfirmedRow"](
        "op_id first size", lambda on, args: unconfirmed_operations(on.outbox, on.cache, args)
    ),
    "needing_person": QueryDeclaration["operations.NeedingPersonRow"](
        "", lambda on, _: count_needing_person(on.outbox)
    ),
    "open_work": QueryDeclaration["operations.OpenWorkRow"]("user now", _query_open_work),
}


MAX_KEYED_PRODUCTS = 200
"""Greatest number of products in an answer with a topic each, because topics go with every frame.

Beyond it any product concerns the answer.
"""

TopicsOf = Callable[[Args, Sequence[Json]], Iterable[str]]


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


def _topics_of_location(args: Args, rows: Sequence[Json]) -> list[str]:
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


def topics_of_query(name: str, args: Args, rows: Sequence[Json]) -> frozenset[str]:
    """Return the topics whose change would change this answer."""
    topics_of = _TOPICS_BY_QUERY.get(name)
    return frozenset((ANYTHING,) if topics_of is None else topics_of(args, rows))
