"""The demo store's deliveries, and what was done to its orders. Pure: deeds with the create bodies of the interface."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import date, timedelta

from aisle.code_forms import check_digit
from aisle.service.demo_days import CHIEF, LOGS, MOVEMENT, Deed, Shelves
from aisle.service.demo_goods import Body

DELIVERIES, CREATE, UPDATE = "create-store-deliveries", "create-customer-orders-one-store", "update-customer-order"
_DEPOT = "Millbrook Depot"
_CUSTOMERS = ("Ada Moss", "Emil Cole", "Hana Knox", "Kit Gray", "Lena Pike")


def container(serial: int) -> str:
    """What is scanned of a container: the SSCC after its application identifier 00."""
    stem = f"3952000{serial:010d}"
    return f"00{stem}{check_digit(stem)}"


class _Announcing:
    """Makes deliveries of products that nobody else is given."""

    def __init__(self, rng: random.Random, products: list[Body], shelves: Shelves, today: date) -> None:
        self._rng = rng
        self._today = today
        self._known = {body["product_number"]: body for body in products}
        self._free = shelves.plenty(4)
        rng.shuffle(self._free)
        self._serial = 0

    def delivery(self, number: str, supplier: str, day: int, lines: int, containers: int = 1) -> Body:
        """A delivery that is expected in `day` days, its lines in its containers by turns."""
        named = [container(self._serial + n) for n in range(1, containers + 1)]
        self._serial += containers
        goods = [self._free.pop() for _ in range(lines)]
        return {
            "order_number": number,
            "no_of_containers": containers,
            "supplier_code": f"S{len(supplier):02d}",
            "supplier_name": supplier,
            "datetime_expected": f"{(self._today + timedelta(days=day)).isoformat()}T18:00:00",
            "order_lines": [self.line(n, product, named[n % containers]) for n, product in enumerate(goods)],
        }

    def line(self, index: int, product: str, box: str) -> Body:
        """A line, by the case where the product has one."""
        body = self._known[product]
        each = int(body.get("purchase_unit_quantity", 6))
        return {
            "line_number": index + 1,
            "product_number": product,
            "barcode": body["barcode"],
            "description": body["product_name"],
            "quantity": each * self._rng.choice((1, 1, 2)),
            "container_barcode": box,
        }


def deliveries(
    rng: random.Random, products: list[Body], shelves: Shelves, orders: list[Body], today: date
) -> Iterator[Deed]:
    """Three that came whole, and five that are open: for today, of one product in several boxes, late, begun, and with
    goods for an order."""
    announcing = _Announcing(rng, products, shelves, today)
    came = [announcing.delivery(f"{6980 + day}", _DEPOT, -day, 4) for day in (16, 9, 3)]
    yield Deed(18, 360, "", DELIVERIES, {"orders": came})
    for day, body in zip((16, 9, 3), came, strict=True):
        yield _received(body, [line["quantity"] for line in body["order_lines"]], shelves, day, "U5")
    opened = [
        announcing.delivery("7001", _DEPOT, 0, 8, 2),
        announcing.delivery("7002", "Weir Valley Wholesale", 0, 4, 2),
        announcing.delivery("7003", "Northern Cash & Carry", -2, 5),
        announcing.delivery("7004", "Three Bridges Trading", -1, 6),
        announcing.delivery("7005", _DEPOT, 1, 4),
    ]
    _, several, _, begun, later = opened
    again, boxes = several["order_lines"][0], [line["container_barcode"] for line in several["order_lines"]]
    several["order_lines"] += [announcing.line(4 + n, again["product_number"], box) for n, box in enumerate(boxes[:2])]
    later["order_lines"].append(_for_order(announcing, orders[30], later["order_lines"][0]["container_barcode"]))
    yield Deed(3, 365, "", DELIVERIES, {"orders": opened})
    first, second, third, *_ = (line["quantity"] for line in begun["order_lines"])
    yield _received(begun, [first, second // 2, third + 1], shelves, 1, "U2")


def _for_order(announcing: _Announcing, order: Body, box: str) -> Body:
    """A line with goods that a customer waits for."""
    wanted = order["order_lines"][0]
    line = announcing.line(4, wanted["product_number"], box)
    named = {"customer_order_number": order["order_number"], "customer_order_line_number": wanted["line_number"]}
    return line | named | {"quantity": wanted["quantity"]}


def _received(delivery: Body, quantities: list[int], shelves: Shelves, day: int, user: str) -> Deed:
    """Goods of the first lines come in, each to its shelf."""
    entries = []
    for line, quantity in zip(delivery["order_lines"], quantities, strict=False):
        product = line["product_number"]
        shelves.change(product, shelves.homes[product], quantity)
        said = {"product_number": product, "quantity": quantity, "reference": delivery["order_number"]}
        entries.append(said | {"location_code": shelves.homes[product]})
    return Deed(day, 460, user, LOGS, {"storeproductlog": entries}, {"is_from_receipt": True})


# Orders


def orders_done(rng: random.Random, products: list[Body], shelves: Shelves, today: date) -> Iterator[Deed]:
    """Orders of last week: three handed over, one that waits to be, and one that was rejected."""
    known = {body["product_number"]: body for body in products}
    bodies = []
    for index, (name, pickup) in enumerate(zip(_CUSTOMERS, (-4, -3, -2, 0, 0), strict=True)):
        goods = rng.sample(shelves.plenty(14), 2)
        for product in goods:
            shelves.change(product, shelves.homes[product], -1)
        bodies.append(_order(index, name, [known[product] for product in goods], today + timedelta(days=pickup)))
    yield Deed(6, 400, "", CREATE, {"orders": bodies})
    for index, user in enumerate(("U1", "U3", "U5", "U2")):
        body, day = bodies[index], 5 - index
        lines = [_part(line, 1, full=True) for line in body["order_lines"]]
        yield Deed(day, 620, user, UPDATE, {"orders": _named(body, order_lines=lines)})
        yield Deed(day, 640, user, MOVEMENT, [_put(body, line, f"PU-{index + 1:02d}") for line in body["order_lines"]])
        if index < 3:
            yield Deed(day - 1, 1000, user, UPDATE, {"orders": _named(body, is_active=False)})
    why = {"rejection_reason_code": "24", "rejection_reason_code_description": "Customer has cancelled"}
    yield Deed(1, 700, CHIEF, UPDATE, {"orders": _named(bodies[4], is_rejected=True, **why)})


def orders_begun(orders: list[Body]) -> Iterator[Deed]:
    """Some of the open orders are under way; on the first nobody has worked since yesterday, one is short."""
    times = ((1, 980), (0, 52), (0, 18), (0, 15), (0, 34))
    begun = [order for index, order in enumerate(orders) if index % 8 == 3]
    for order, (day, minute), user in zip(begun, times, ("U4", "U2", "U5", "U1", "U3"), strict=True):
        first, *others = order["order_lines"]
        lines = [_part(first, first["quantity"], full=True)]
        for line in [line for line in others if line["quantity"] >= 2][:1]:
            lines.append(_part(line, line["quantity"] // 2, full=False))
        if user == "U2":
            why = {"rejection_reason_code": "24", "rejection_reason_code_description": "Not enough"}
            lines[-1] |= {"is_picked": True, **(why if len(lines) > 1 else {})}
        claimed = {"is_claimed": True} if user in ("U4", "U5") else {}
        yield Deed(day, minute, user, UPDATE, {"orders": _named(order, order_lines=lines, **claimed)})


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


def _named(order: Body, **said: object) -> Body:
    return {"order_number": order["order_number"], **said}


def _part(line: Body, quantity: float, *, full: bool) -> Body:
    said = {"line_number": line["line_number"], "product_number": line["product_number"], "picked_quantity": quantity}
    return {**said, "is_picked": True} if full else said


def _put(order: Body, line: Body, place: str) -> Body:
    """Goods in hand are put down where the customer gets them."""
    of = {"customer_order_number": order["order_number"], "customer_order_line_number": line["line_number"]}
    ends = {"from_location": of, "to_location": {**of, "location_code": place}}
    return {"product_number": line["product_number"], "quantity": line["quantity"], **ends}
