"""Data of the demo store: pure, seeded, equal on every machine.

`demo_bodies(today)` returns create bodies of the interface as plain dicts, in the order in which they must be sent.
They are stores, products, locations, people and counts. The requests of the history follow, which also create orders
and deliveries. Nothing here uses a database.
"""

from __future__ import annotations

import random
from datetime import date, timedelta
from typing import NamedTuple

from aisle.service.demo.history import (
    CREATE_ORDERS,
    DemoRequest,
    DemoStock,
    daily_requests,
    delivery_requests,
    finished_order_requests,
    started_order_requests,
)
from aisle.service.demo.products import Body, categories, demo_products, store_product_bodies

STORE = "0001"
WAREHOUSE = "0900"
SUPERVISOR_PIN = "2468"
"""PIN of a supervisor, Fred Harper (U6)."""
_PIN_HASH = (
    "scrypt$8192$a151e0a151e0a151e0a151e0a151e0a1$5b988e897c2e724c27c55c7d003f4d6f0ac70ca42a8456573e5b9d505aa0c880"
)
POOLS = (
    "Shop floor",
    "Backroom",
    "Promotion",
    "Web orders",
    "Returns",
    "Damaged",
    "Window display",
    "Seasonal",
    "Samples",
    "Quarantine",
)


class DemoStore(NamedTuple):
    """Content of the demo store, each list in the form of the interface's create bodies.

    `stores`, `products` and `orders` are items of those bodies (all orders belong to `store_number`); `locations` are
    those of `/aisle/v1/locations`. `counts` maps a store number to entries of create store product logs, for
    `is_counted_quantity=true`. `people` are those of `/aisle/v1/stores/{store}/people`, with hashed PINs. `requests`
    are the history in order of time, including the creation of `orders`. `store_products` are the shop's settings of
    its products.
    """

    store_number: str
    stores: list[Body]
    products: list[Body]
    locations: list[Body]
    counts: dict[str, list[Body]]
    orders: list[Body]
    people: list[Body]
    requests: list[DemoRequest]
    store_products: list[Body]


_CUSTOMER_NAMES = (
    "Ada Moss, Bea Birch, Carl Dürer, Dora Frost, Emil Cole, Freya Jørgensen, Gus Hale, Hana Knox, Ivo Núñez, "
    "Joan Lamb, Kit Gray, Lena Pike, Milo Ames, Nora Irwin, Otto Ellis, Petra Oakes, René Knox, Sofía Cole, Tom Moss"
)
_ORDER_COMMENTS = (
    "",
    "",
    "",
    "Please choose long dates.",
    "Ring when ready.",
    "No substitutes, thank you.",
    "Collected by a neighbour.",
    "Birthday present: price off, please.",
    "Heavy items in a second bag.",
)
_STREETS = ("Mill Lane", "Station Road", "Church Street", "Weir Close", "Orchard Way")


def demo_bodies(today: date) -> DemoStore:
    """Return the whole demo store. Only the dates of orders and deliveries depend on `today`.

    interface: Create stores, Create or update products, Create store product logs, Create customer orders (one store).
    """
    rng = random.Random(952)
    products = demo_products()
    locations = _locations()
    orders = _orders(rng, products, today)
    counts = _counts(rng, products, locations, _demand(orders))
    requests = _requests(products, counts[STORE], orders, today)
    return DemoStore(
        STORE,
        _stores(),
        products,
        locations,
        counts,
        orders,
        _people(),
        requests,
        store_product_bodies(products, today),
    )


def _requests(products: list[Body], counts: list[Body], orders: list[Body], today: date) -> list[DemoRequest]:
    """Return the history. It uses products that no open order needs, so that their counts are predictable."""
    rng = random.Random(21)
    demand = _demand(orders)
    idle = [
        body["product_number"]
        for body in products
        if body["is_stock"] and body["is_active"] and not body["allow_decimal"] and body["product_number"] not in demand
    ]
    # Counts depend on all movements of a product, so deliveries and orders have products of their own.
    changing_stock, stable_stock = DemoStock(counts, set(idle[::3])), DemoStock(counts, set(idle) - set(idle[::3]))
    expensive = {body["product_number"] for body in products if body["price"] > 7}
    return [
        *daily_requests(rng, stable_stock, expensive),
        *delivery_requests(rng, products, changing_stock, orders, today),
        *finished_order_requests(rng, products, changing_stock, today),
        DemoRequest(2, 420, "", CREATE_ORDERS, {"orders": orders}),
        *started_order_requests(orders),
    ]


def _stores() -> list[Body]:
    shops = [
        (STORE, "Millbrook High Street", "12 High Street", False),
        ("0002", "Millbrook Station", "3 Station Road", False),
        ("0003", "Fernhill", "40 Church Street", False),
        ("0004", "Weirside", "1 Weir Close", False),
        (WAREHOUSE, "Millbrook Depot", "Unit 7, Mill Lane", True),
    ]
    pools = {f"store_stock_pool_{number}": name for number, name in enumerate(POOLS, 1)}
    area = {"area_id": "MV", "area_description": "Mill Valley", "city": "Millbrook", "country_code": "GB"}
    return [
        {
            "store_number": number,
            "store_name": name,
            "address": address,
            "is_warehouse": is_warehouse,
            "is_active": True,
            "is_active_data_exchange": True,
            **area,
            **pools,
        }
        for number, name, address, is_warehouse in shops
    ]


def _location(store: str, code: str, order: int, pool: int = 1, tags: tuple[str, ...] = ()) -> Body:
    return {
        "store_number": store,
        "location_code": code,
        "location_order": order,
        "default_stock_pool": str(pool),
        "tags": list(tags),
    }


def _locations() -> list[Body]:
    """Return the locations in walking order: produce, six aisles in alternating direction, cold goods last."""
    codes: list[tuple[str, int, tuple[str, ...]]] = [(f"PR-{bay:02d}", 1, ("produce",)) for bay in range(1, 5)]
    for index, aisle in enumerate("ABCDEF"):
        bays = range(1, 6) if index % 2 == 0 else range(5, 0, -1)
        codes += [(f"{aisle}-{bay:02d}-{level}", 1, ("shelf",)) for bay in bays for level in range(1, 4)]
    codes += [(f"FR-{bay:02d}", 1, ("cold",)) for bay in range(1, 7)]
    codes += [(f"FZ-{bay:02d}", 1, ("cold", "frozen")) for bay in range(1, 4)]
    codes += [(f"BR-{bay:02d}", 2, ("backroom",)) for bay in range(1, 9)]
    codes += [(f"PU-{bay:02d}", 4, ("pickup",)) for bay in range(1, 7)]
    codes += [("RC-01", 2, ("receiving",)), ("RC-02", 2, ("receiving",)), ("RT-01", 5, ("returns",))]
    locations = [_location(STORE, code, order * 10, pool, tags) for order, (code, pool, tags) in enumerate(codes, 1)]
    racks = [f"H{rack}-{bay:02d}" for rack in range(1, 5) for bay in range(1, 11)]
    return locations + [_location(WAREHOUSE, code, order * 10) for order, code in enumerate(racks, 1)]


def _shelf_locations(products: list[Body], locations: list[Body]) -> dict[str, str]:
    """Return the shelf of each product in the shop. The products of a zone are spread over its locations."""
    zones = {category.code: category.zone for category, _ in categories()}
    kept = [body for body in products if body["is_stock"]]
    shelves: dict[str, str] = {}
    for zone in dict.fromkeys(zones.values()):
        numbers = [body["product_number"] for body in kept if zones[body["category_code"]] == zone]
        codes = [
            location["location_code"]
            for location in locations
            if location["store_number"] == STORE and location["location_code"].startswith(f"{zone}-")
        ]
        for index, number in enumerate(numbers):
            shelves[number] = codes[index * len(codes) // len(numbers)]
    return shelves


def _counts(
    rng: random.Random, products: list[Body], locations: list[Body], demand: dict[str, float]
) -> dict[str, list[Body]]:
    """Return the stock as counts.

    Neighbouring stores have totals without locations; a few shelves are deliberately short.
    """
    shelves = _shelf_locations(products, locations)
    backroom = [location["location_code"] for location in locations if location["location_code"].startswith("BR-")]
    racks = [location["location_code"] for location in locations if location["store_number"] == WAREHOUSE]
    counts: dict[str, list[Body]] = {STORE: [], "0002": [], "0003": [], "0004": [], WAREHOUSE: []}
    for index, (number, shelf_location) in enumerate(shelves.items()):
        shelf = _shelf_quantity(rng, index, demand.get(number, 0))
        counts[STORE].append(_count(number, shelf_location, stock_pool_1=shelf))
        if index % 23 == 5:
            counts[STORE][-1]["stock_pool_3"] = rng.randint(4, 12)
        if index % 3 == 0:
            counts[STORE].append(_count(number, rng.choice(backroom), stock_pool_2=rng.randint(6, 36)))
        for neighbour in ("0002", "0003", "0004"):
            if rng.random() < 0.8:
                counts[neighbour].append(_count(number, None, stock_pool_1=rng.randint(0, 24)))
        counts[WAREHOUSE].append(_count(number, racks[index % len(racks)], stock_pool_1=rng.randint(24, 240)))
    return counts


def _shelf_quantity(rng: random.Random, index: int, wanted: float) -> float:
    spare = rng.randint(3, 28)
    if index % 40 == 17:
        return max(0, int(wanted) - 1)
    return int(wanted) + spare


def _count(number: str, location: str | None, **pools: float) -> Body:
    where = {"location_code": location} if location else {}
    return {"product_number": number, **where, **pools, "source": "demo", "reference": "opening stock"}


def _orders(rng: random.Random, products: list[Body], today: date) -> list[Body]:
    pieces = [body for body in products if body["is_active"] and body["is_stock"] and not body["allow_decimal"]]
    loose = [body for body in products if body["allow_decimal"]]
    bag, fee = (body for body in products if body["product_number"] in ("900001", "900003"))
    orders = []
    for index in range(40):
        wanted = [(body, _piece_quantity(rng)) for body in rng.sample(pieces, 1 + (index * 5) % 8)]
        if index % 9 == 4:
            wanted[-1] = (rng.choice(loose), rng.randint(2, 12) / 4)
        if index % 13 == 7:
            wanted.append((fee, 1))
        elif index % 11 == 6 and len(wanted) < 8:
            wanted.append((bag, 2))
        order = _order(rng, index, wanted, today + timedelta(days=index // 7 - 1))
        orders.append(order)
    return orders


def _piece_quantity(rng: random.Random) -> float:
    return rng.choice((1, 1, 1, 1, 2, 2, 3, 4, 6, 12))


def _order(rng: random.Random, index: int, wanted: list[tuple[Body, float]], pickup: date) -> Body:
    number = f"{4101 + index}"
    code, description = ("HD", "Home delivery") if index % 13 == 7 else ("CC", "Click and collect")
    comment = rng.choice(_ORDER_COMMENTS)
    return {
        "order_number": number,
        "reference": f"W{58000 + index * 37}",
        "order_type_code": code,
        "order_type_description": description,
        "customer_number": f"C{2000 + index * 7}",
        "customer_name": rng.choice(_CUSTOMER_NAMES.split(", ")),
        "customer_street": f"{rng.randint(1, 90)} {rng.choice(_STREETS)}",
        "customer_city": "Millbrook",
        # Phone numbers reserved for fiction.
        "customer_phone": f"01632 960{rng.randint(0, 999):03d}",
        **({"order_comment": comment} if comment else {}),
        "order_lines": [
            {
                "line_number": position,
                "product_number": body["product_number"],
                "barcode": body["barcode"],
                "description": body["product_name"],
                "quantity": quantity,
                "price": body["price"],
                "stock_pool": 1,
                "picking_stock_pool_array": ["1", "2"],
                "pickup_date": pickup.isoformat(),
            }
            for position, (body, quantity) in enumerate(wanted, 1)
        ],
    }


def _demand(orders: list[Body]) -> dict[str, float]:
    """Return the ordered quantity of each product."""
    demand: dict[str, float] = {}
    for order in orders:
        for line in order["order_lines"]:
            demand[line["product_number"]] = demand.get(line["product_number"], 0) + line["quantity"]
    return demand


def _people() -> list[Body]:
    people = (
        ("U1", "Anna Berg", "staff"),
        ("U2", "Ben Okafor", "staff"),
        ("U3", "Chloë Martin", "staff"),
        ("U4", "Dev Patel", "staff"),
        ("U5", "Ewa Nowak", "staff"),
        ("U6", "Fred Harper", "supervisor"),
        ("U7", "Grace Lind", "supervisor"),
    )
    bodies: list[Body] = [
        {"user": user, "name": name, "badge": f"BADGE-{user}", "role": role} for user, name, role in people
    ]
    bodies[5]["pin_hash"] = _PIN_HASH
    return bodies
