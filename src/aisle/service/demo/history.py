"""History of the demo store: three weeks of counts, losses, movements, deliveries and orders. Pure and seeded.

Each action is a request of the interface at its own time, so that the service's rules apply to it.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator
from datetime import date, timedelta
from typing import Any, NamedTuple

from aisle.barcode_keys import check_digit
from aisle.service.demo.products import Body
from aisle.service.query_values import QueryValues

HISTORY_DAYS = 21
"""Days of history."""
OPENING_DAY = HISTORY_DAYS + 1
"""Days since the opening count."""

LOGS, MOVEMENT, REVIEW = "create-store-product-logs", "create-movement", "review-logs"

STAFF = ("U1", "U2", "U3", "U4", "U5")
SUPERVISOR = "U6"

_DAY_S = 86400
_DETAILED_DAYS = 7
"""Days with all actions. An earlier week has one day of counts and movements, and losses on some days."""
_REASONS = ((1, "Damaged"), (2, "Expired"), (3, "Theft"), (4, "Own use"), (5, "Found"))
_FOUND_REASON = 5
_REASON_WEIGHTS = (5, 6, 2, 1, 1)
_COUNT_DIFFERENCES = {(2, 0): -3, (1, 1): 2}
"""Differences of counts in the last days, by day and entry; few, since a supervisor reviews them."""


class DemoRequest(NamedTuple):
    """Request of a person, `days` ago at this `minute` of the day (UTC); for today, this many minutes ago.

    A review concerns the loss that the movement before it caused.
    """

    days: int
    minute: int
    user: str
    operation: str
    body: Any = None
    query: QueryValues = QueryValues()

    def sent_at(self, now: float) -> float:
        """Return the time of the request in seconds since 1970."""
        if not self.days:
            return now - self.minute * 60
        return now - now % _DAY_S - self.days * _DAY_S + self.minute * 60


class DemoStock:
    """Stock of some products during the history: (product, location) → quantity."""

    def __init__(self, counts: list[Body], products: Collection[str]) -> None:
        self.quantities: dict[tuple[str, str], int] = {}
        self.shelf_locations: dict[str, str] = {}
        self.backroom_locations: dict[str, str] = {}
        for entry in counts:
            product, location = entry["product_number"], entry["location_code"]
            if product in products:
                is_home = "stock_pool_1" in entry
                (self.shelf_locations if is_home else self.backroom_locations)[product] = location
                self.quantities[(product, location)] = int(entry["stock_pool_1" if is_home else "stock_pool_2"])

    def products_on_shelf(self, minimum: int) -> list[str]:
        """Return the products with at least this quantity on the shelf."""
        return [
            product
            for product, location in self.shelf_locations.items()
            if self.quantities[(product, location)] >= minimum
        ]

    def products_in_backroom(self, minimum: int, maximum: int) -> list[str]:
        """Return the products with a backroom quantity in this range."""
        return [
            product
            for product, location in self.backroom_locations.items()
            if minimum <= self.quantities[(product, location)] <= maximum
        ]

    def change(self, product: str, location: str, quantity: int) -> None:
        """Add a quantity, which may be negative."""
        self.quantities[(product, location)] += quantity


def daily_requests(rng: random.Random, stock: DemoStock, expensive: Collection[str]) -> Iterator[DemoRequest]:
    """Yield the requests of all days, the oldest first, then those of today. `expensive` are costly products."""
    for day in range(HISTORY_DAYS, 0, -1):
        if day <= _DETAILED_DAYS or not day % 7:
            yield _daily_count(rng, stock, day)
            yield _refill_request(rng, stock, day)
        if day in (1, 5):
            yield from _overage_requests(stock, day, is_reviewed=day > 1)
        if day <= _DETAILED_DAYS or not day % 2:
            yield _loss_request(rng, stock, day)
    yield _loss_request(rng, stock, 0)
    first = next(product for product in stock.products_on_shelf(4) if product in expensive)
    second = rng.choice(stock.products_on_shelf(4))
    yield _count_request(0, 32, SUPERVISOR, [_count_entry(stock, second, 0)])
    yield _count_request(0, 25, "U3", [_count_entry(stock, first, -2), _count_entry(stock, second, 0)])


def _daily_count(rng: random.Random, stock: DemoStock, day: int) -> DemoRequest:
    entries = []
    for index, product in enumerate(rng.sample(stock.products_on_shelf(4), 3)):
        difference = _COUNT_DIFFERENCES.get((day, index), 0)
        if day > _DETAILED_DAYS and not index:
            difference = rng.choice((-2, -1, 1))
        entries.append(_count_entry(stock, product, difference))
    return _count_request(day, 8 * 60 + rng.randrange(60), rng.choice(STAFF), entries)


def _count_entry(stock: DemoStock, product: str, difference: int) -> Body:
    """Build a count of a shelf with this difference from the expected figure."""
    location = stock.shelf_locations[product]
    stock.change(product, location, difference)
    return {"product_number": product, "location_code": location, "stock_pool_1": stock.quantities[(product, location)]}


def _count_request(day: int, minute: int, user: str, entries: list[Body]) -> DemoRequest:
    return DemoRequest(day, minute, user, LOGS, {"storeproductlog": entries}, {"is_counted_quantity": True})


def _loss_request(rng: random.Random, stock: DemoStock, day: int) -> DemoRequest:
    entries = []
    for product in rng.sample(stock.products_on_shelf(10), 2 if day <= _DETAILED_DAYS else 3):
        [(code, words)] = rng.choices(_REASONS, _REASON_WEIGHTS)
        quantity = 1 if code == _FOUND_REASON else -rng.choice((1, 1, 2, 3))
        location = stock.shelf_locations[product]
        stock.change(product, location, quantity)
        reason = {"reason_code": code, "loss_comment": words}
        entries.append({"product_number": product, "location_code": location, "quantity": quantity, **reason})
    minute, user = (18 * 60 + rng.randrange(60), rng.choice(STAFF)) if day else (40, STAFF[0])
    return DemoRequest(day, minute, user, LOGS, {"storeproductlog": entries})


def _refill_request(rng: random.Random, stock: DemoStock, day: int) -> DemoRequest:
    """Build a movement that fills shelves from the backroom."""
    items = []
    for product in rng.sample(stock.products_in_backroom(6, 99), 2):
        quantity, source, target = rng.randint(2, 6), stock.backroom_locations[product], stock.shelf_locations[product]
        stock.change(product, source, -quantity)
        stock.change(product, target, quantity)
        items.append(_movement_item(product, quantity, source, target))
    return DemoRequest(day, 10 * 60 + rng.randrange(60), rng.choice(STAFF), MOVEMENT, items)


def _movement_item(product: str, quantity: int, source: str, target: str) -> Body:
    ends = {"location_code": source, "stock_pool": 2}, {"location_code": target, "stock_pool": 1}
    return {"product_number": product, "quantity": quantity, "from_location": ends[0], "to_location": ends[1]}


def _overage_requests(stock: DemoStock, day: int, *, is_reviewed: bool) -> Iterator[DemoRequest]:
    """Yield a movement of more goods than the backroom is expected to have; if reviewed, its review and count."""
    product = stock.products_in_backroom(6, 12)[0]
    location, shelf = stock.backroom_locations[product], stock.shelf_locations[product]
    quantity = stock.quantities[(product, location)] + 2
    stock.change(product, location, -quantity)
    stock.change(product, shelf, quantity)
    yield DemoRequest(
        day, 840, "U2", MOVEMENT, [_movement_item(product, quantity, location, shelf) | {"allow_overage": True}]
    )
    if is_reviewed:
        yield DemoRequest(day, 930, SUPERVISOR, REVIEW)
        stock.change(product, location, 2)
        entry = {"product_number": product, "location_code": location, "stock_pool_2": 0}
        yield _count_request(day, 935, SUPERVISOR, [entry])


DELIVERIES, CREATE_ORDERS, UPDATE_ORDER = (
    "create-store-deliveries",
    "create-customer-orders-one-store",
    "update-customer-order",
)
_DEPOT = "Millbrook Depot"
_CUSTOMERS = ("Ada Moss", "Emil Cole", "Hana Knox", "Kit Gray", "Lena Pike")


def container_code(serial: int) -> str:
    """Return the scanned code of a container: its SSCC after the application identifier 00."""
    stem = f"3952000{serial:010d}"
    return f"00{stem}{check_digit(stem)}"


class _DeliveryBuilder:
    """Builder of deliveries; each takes products that no other delivery has."""

    def __init__(self, rng: random.Random, products: list[Body], stock: DemoStock, today: date) -> None:
        self._rng = rng
        self._today = today
        self._products = {body["product_number"]: body for body in products}
        self._unused = stock.products_on_shelf(4)
        rng.shuffle(self._unused)
        self._serial = 0

    def build_delivery(self, number: str, supplier: str, day: int, lines: int, containers: int = 1) -> Body:
        """Build a delivery that is expected in `day` days. Its lines alternate between its containers."""
        named = [container_code(self._serial + n) for n in range(1, containers + 1)]
        self._serial += containers
        goods = [self._unused.pop() for _ in range(lines)]
        return {
            "order_number": number,
            "no_of_containers": containers,
            "supplier_code": f"S{len(supplier):02d}",
            "supplier_name": supplier,
            "datetime_expected": f"{(self._today + timedelta(days=day)).isoformat()}T18:00:00",
            "order_lines": [self.build_line(n, product, named[n % containers]) for n, product in enumerate(goods)],
        }

    def build_line(self, index: int, product: str, container: str) -> Body:
        """Build a line whose quantity is a number of cases, if the product has one."""
        body = self._products[product]
        each = int(body.get("purchase_unit_quantity", 6))
        return {
            "line_number": index + 1,
            "product_number": product,
            "barcode": body["barcode"],
            "description": body["product_name"],
            "quantity": each * self._rng.choice((1, 1, 2)),
            "container_barcode": container,
        }


def delivery_requests(
    rng: random.Random, products: list[Body], stock: DemoStock, orders: list[Body], today: date
) -> Iterator[DemoRequest]:
    """Yield three received deliveries and five open ones.

    The open ones are: for today, one product in several boxes, late, partly received, and with goods for an order.
    """
    builder = _DeliveryBuilder(rng, products, stock, today)
    received = [builder.build_delivery(f"{6980 + day}", _DEPOT, -day, 4) for day in (16, 9, 3)]
    yield DemoRequest(18, 360, "", DELIVERIES, {"orders": received})
    for day, body in zip((16, 9, 3), received, strict=True):
        yield _receipt_request(body, [line["quantity"] for line in body["order_lines"]], stock, day, "U5")
    open_deliveries = [
        builder.build_delivery("7001", _DEPOT, 0, 8, 2),
        builder.build_delivery("7002", "Weir Valley Wholesale", 0, 4, 2),
        builder.build_delivery("7003", "Northern Cash & Carry", -2, 5),
        builder.build_delivery("7004", "Three Bridges Trading", -1, 6),
        builder.build_delivery("7005", _DEPOT, 1, 4),
    ]
    _, several, _, started, later = open_deliveries
    repeated_line, containers = (
        several["order_lines"][0],
        [line["container_barcode"] for line in several["order_lines"]],
    )
    several["order_lines"] += [
        builder.build_line(4 + n, repeated_line["product_number"], box) for n, box in enumerate(containers[:2])
    ]
    later["order_lines"].append(_line_for_order(builder, orders[30], later["order_lines"][0]["container_barcode"]))
    yield DemoRequest(3, 365, "", DELIVERIES, {"orders": open_deliveries})
    first, second, third, *_ = (line["quantity"] for line in started["order_lines"])
    yield _receipt_request(started, [first, second // 2, third + 1], stock, 1, "U2")


def _line_for_order(builder: _DeliveryBuilder, order: Body, container: str) -> Body:
    """Build a line with goods for a customer order."""
    wanted = order["order_lines"][0]
    line = builder.build_line(4, wanted["product_number"], container)
    named = {"customer_order_number": order["order_number"], "customer_order_line_number": wanted["line_number"]}
    return line | named | {"quantity": wanted["quantity"]}


def _receipt_request(delivery: Body, quantities: list[int], stock: DemoStock, day: int, user: str) -> DemoRequest:
    """Build the receipt of the first lines, each at its shelf."""
    entries = []
    for line, quantity in zip(delivery["order_lines"], quantities, strict=False):
        product = line["product_number"]
        stock.change(product, stock.shelf_locations[product], quantity)
        fields = {"product_number": product, "quantity": quantity, "reference": delivery["order_number"]}
        entries.append(fields | {"location_code": stock.shelf_locations[product]})
    return DemoRequest(day, 460, user, LOGS, {"storeproductlog": entries}, {"is_from_receipt": True})


# Orders


def finished_order_requests(
    rng: random.Random, products: list[Body], stock: DemoStock, today: date
) -> Iterator[DemoRequest]:
    """Yield orders of last week: three handed over, one picked, one rejected."""
    known = {body["product_number"]: body for body in products}
    bodies = []
    for index, (name, pickup) in enumerate(zip(_CUSTOMERS, (-4, -3, -2, 0, 0), strict=True)):
        goods = rng.sample(stock.products_on_shelf(14), 2)
        for product in goods:
            stock.change(product, stock.shelf_locations[product], -1)
        bodies.append(_order(index, name, [known[product] for product in goods], today + timedelta(days=pickup)))
    yield DemoRequest(6, 400, "", CREATE_ORDERS, {"orders": bodies})
    for index, user in enumerate(("U1", "U3", "U5", "U2")):
        body, day = bodies[index], 5 - index
        lines = [_line_update(line, 1, is_picked=True) for line in body["order_lines"]]
        yield DemoRequest(day, 620, user, UPDATE_ORDER, {"orders": _order_update(body, order_lines=lines)})
        yield DemoRequest(
            day,
            640,
            user,
            MOVEMENT,
            [_put_down_item(body, line, f"PU-{index + 1:02d}") for line in body["order_lines"]],
        )
        if index < 3:
            yield DemoRequest(day - 1, 1000, user, UPDATE_ORDER, {"orders": _order_update(body, is_active=False)})
    reason = {"rejection_reason_code": "24", "rejection_reason_code_description": "Customer has cancelled"}
    yield DemoRequest(
        1, 700, SUPERVISOR, UPDATE_ORDER, {"orders": _order_update(bodies[4], is_rejected=True, **reason)}
    )


def started_order_requests(orders: list[Body]) -> Iterator[DemoRequest]:
    """Yield the work on some open orders: the first has had none since yesterday, one is short."""
    times = ((1, 980), (0, 52), (0, 18), (0, 15), (0, 34))
    started = [order for index, order in enumerate(orders) if index % 8 == 3]
    for order, (day, minute), user in zip(started, times, ("U4", "U2", "U5", "U1", "U3"), strict=True):
        first, *others = order["order_lines"]
        lines = [_line_update(first, first["quantity"], is_picked=True)]
        for line in [line for line in others if line["quantity"] >= 2][:1]:
            lines.append(_line_update(line, line["quantity"] // 2, is_picked=False))
        if user == "U2":
            reason = {"rejection_reason_code": "24", "rejection_reason_code_description": "Not enough"}
            lines[-1] |= {"is_picked": True, **(reason if len(lines) > 1 else {})}
        claimed = {"is_claimed": True} if user in ("U4", "U5") else {}
        yield DemoRequest(
            day, minute, user, UPDATE_ORDER, {"orders": _order_update(order, order_lines=lines, **claimed)}
        )


def _order(index: int, name: str, goods: list[Body], pickup: date) -> Body:
    return {
        "order_number": f"{4081 + index}",
        "reference": f"W{57000 + index * 37}",
        "order_type_code": "CC",
        "order_type_description": "Click and collect",
        "customer_name": name,
        "order_lines": [
            {
                "line_number": position,
                "product_number": body["product_number"],
                "barcode": body["barcode"],
                "description": body["product_name"],
                "quantity": 1,
                "price": body["price"],
                "stock_pool": 1,
                "pickup_date": pickup.isoformat(),
            }
            for position, body in enumerate(goods, 1)
        ],
    }


def _order_update(order: Body, **said: object) -> Body:
    return {"order_number": order["order_number"], **said}


def _line_update(line: Body, quantity: float, *, is_picked: bool) -> Body:
    fields = {"line_number": line["line_number"], "product_number": line["product_number"], "picked_quantity": quantity}
    return {**fields, "is_picked": True} if is_picked else fields


def _put_down_item(order: Body, line: Body, location: str) -> Body:
    """Build the item that puts picked goods down at a pick-up location."""
    order_line = {"customer_order_number": order["order_number"], "customer_order_line_number": line["line_number"]}
    ends = {"from_location": order_line, "to_location": {**order_line, "location_code": location}}
    return {"product_number": line["product_number"], "quantity": line["quantity"], **ends}
