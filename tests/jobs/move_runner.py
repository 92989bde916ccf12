"""A small store in memory that answers what the move job asks and books what it sends, and a hand that runs the job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs.job import Context, Event, Opened, Policy, Query, Rows, Write
from aisle.jobs.move.job import MoveJob
from aisle.jobs.move.move_state_and_rows import MoveState
from aisle.jobs.view import Step, Verdict
from aisle.scan.grammar_and_meaning_types import LOCATION, ORDER, PRODUCT, Choice, Command, Match, Quantity, Scan

CONTEXT = Context(store="0001", user="ann", now="2026-11-20T10:00:00.000000Z")

Spot = tuple[str, str, int, str, int]
"""Product, place, pool, order, line."""

Row = dict[str, Any]

BAG = "P9"
"""A product that no stock is kept of."""


class Store:
    """Balances by spot. Movements are booked without a question: what may be moved is the service's business."""

    def __init__(
        self, goods: Mapping[Spot, int], lines: Mapping[tuple[str, int], tuple[str, int]], places: tuple[str, ...]
    ) -> None:
        self.goods: Counter[Spot] = Counter()
        for spot, quantity in goods.items():
            self.goods[spot] += quantity
        self.lines = dict(lines)
        """(order, line) -> (product, quantity)."""
        self.codes = places
        self.decimals = {"P3"}
        self.counted: dict[tuple[str, str, int], int] = {}
        """Quantities that somebody counted, by product, place and pool."""
        self.later: dict[tuple[str, str], Decimal] = {}
        """Quantities that somebody counts after goods were taken, by product and place."""
        self.later_at = ""
        """When they are counted."""
        self.awaited = False
        """Whether the lines of the order that is asked for next are not there yet."""

    def answer(self, query: Query) -> Rows:
        """As aisle.cache.reader would."""
        rows = getattr(self, query.name)(query.args)
        return Rows(query.id, tuple(rows), len(rows))

    def store(self, _: Mapping[str, Any]) -> list[Row]:
        return [{"store_number": "0001", "pools": {"1": "Shop floor", "2": "Reserve"}}]

    def records_by_number(self, args: Mapping[str, Any]) -> list[Row]:
        code = str(args["code"])
        products = {spot[0] for spot in self.goods}
        kinds = {ORDER: {order for order, _ in self.lines}, LOCATION: set(self.codes), PRODUCT: products}
        return [{"kind": kind, "key": code, "label": code} for kind, known in kinds.items() if code in known]

    def counts_since(self, args: Mapping[str, Any]) -> list[Row]:
        goods = [tuple(each) for each in args["goods"]]
        return [
            {"product_number": product, "location_code": place, "counted_quantity": Decimal(counted)}
            for (product, place, pool), counted in self.counted.items()
            if (product, place, pool) in goods or (product, place, 0) in goods
        ]

    def later_counts(self, args: Mapping[str, Any]) -> list[Row]:
        goods = [(product, place, pool) for product, place, pool, at in args["goods"] if at < self.later_at]
        named = {"user_name": "Ben", "at": self.later_at}
        return [
            {"product_number": product, "location_code": place, "pool": pool, "counted_quantity": counted, **named}
            for product, place, pool in goods
            for (of, there), counted in self.later.items()
            if (of, there) == (product, place)
        ]

    def refused_operations(self, _: Mapping[str, Any]) -> list[Row]:
        return []

    def locations(self, _: Mapping[str, Any]) -> list[Row]:
        return [{"location_code": code, "location_order": n} for n, code in enumerate(self.codes)]

    def location(self, args: Mapping[str, Any]) -> list[Row]:
        code = str(args["location_code"])
        if code not in self.codes:
            return []
        products = sorted({spot[0] for spot, quantity in self.goods.items() if spot[1] == code and quantity})
        only, size = args.get("product_number"), args.get("size")
        shown = [number for number in products if number == only] if only else products[:size]
        return [
            {
                "location_code": code,
                "default_stock_pool": 1,
                "total": len(products),
                "products": [self._lying(number, code) for number in shown],
            }
        ]

    def _lying(self, number: str, code: str) -> Row:
        here = {spot: quantity for spot, quantity in self.goods.items() if spot[:2] == (number, code) and quantity}
        pools: Counter[str] = Counter()
        held: Counter[tuple[str, int]] = Counter()
        for (_, _, pool, order, line), quantity in here.items():
            pools[str(pool)] += quantity
            if order:
                held[order, line] += quantity
        return {
            **self._named(number),
            "description": f"Product {number}",
            "quantity": Decimal(sum(pools.values())),
            "pools": {pool: Decimal(quantity) for pool, quantity in pools.items() if quantity},
            "held": [
                {"order_number": order, "line_number": line, "quantity": Decimal(quantity)}
                for (order, line), quantity in held.items()
            ],
        }

    def _named(self, number: str) -> Row:
        return {"product_number": number, "allow_decimal": number in self.decimals, "unit": ""}

    def product(self, args: Mapping[str, Any]) -> list[Row]:
        number = str(args["product_number"])
        if number == BAG:
            return [{**self._named(number), "product_name": "Carrier bag", "is_stock": False}]
        mine = {spot: quantity for spot, quantity in self.goods.items() if spot[0] == number}
        if not mine:
            return []
        places = []
        for code in self.codes:
            pools: Counter[str] = Counter()
            for spot, quantity in mine.items():
                if spot[1] == code:
                    pools[str(spot[2])] += quantity
            if any(pools.values()):
                places.append({"location_code": code, "quantity": Decimal(sum(pools.values())), "pools": dict(pools)})
        total: Counter[int] = Counter()
        for spot, quantity in mine.items():
            total[spot[2]] += quantity
        return [
            {
                **self._named(number),
                "product_name": f"Product {number}",
                "most_likely_quantity": Decimal(sum(total.values())),
                "pools": [{"pool": pool, "quantity": Decimal(quantity)} for pool, quantity in total.items()],
                "locations": places,
            }
        ]

    def locations_of_products(self, args: Mapping[str, Any]) -> list[Row]:
        return [
            {"product_number": number, "location_code": row["location_code"], "location_order": n, "quantity": 1}
            for number in args["product_numbers"]
            for known in self.product({"product_number": number})
            for n, row in enumerate(known["locations"])
        ]

    def order(self, args: Mapping[str, Any]) -> list[Row]:
        number = str(args["order_number"])
        if self.awaited:
            self.awaited = False
            return [{"order_number": number, "is_active": True, "lines_known": False, "lines": []}]
        lines = []
        for (order, line), (product, quantity) in self.lines.items():
            if order != number:
                continue
            held: Counter[str] = Counter()
            for spot, much in self.goods.items():
                if spot[3:] == (order, line):
                    held[spot[1]] += much
            kept = [{"location_code": code, "quantity": Decimal(much)} for code, much in held.items() if code and much]
            lines.append(
                {
                    **self._named(product),
                    "line_number": line,
                    "description": f"Product {product}",
                    "quantity": Decimal(quantity),
                    "picked_quantity": Decimal(sum(held.values())),
                    "moved_quantity": Decimal(sum(held.values()) - held[""]),
                    "put_down": kept,
                }
            )
        return [{"order_number": number, "is_active": True, "lines_known": True, "lines": lines}] if lines else []

    def book(self, write: Write) -> None:
        """interface: Create movement."""
        assert write.operation == "create-movement"
        assert write.query == {"AppUserName": "ann"}
        for item in write.body:
            assert item["quantity"] > 0
            assert f"product/{item['product_number']}" in write.lanes
            pool = 0
            for side, sign in (("from_location", -1), ("to_location", 1)):
                end = item[side]
                pool = end.get("stock_pool") or pool or 1
                order, line = end.get("customer_order_number", ""), end.get("customer_order_line_number", 0)
                if order:
                    assert f"order/{order}" in write.lanes
                    assert self.lines[order, line][0] == item["product_number"]
                spot = (item["product_number"], end.get("location_code", ""), pool, order, line)
                self.goods[spot] += sign * item["quantity"]

    def there(self, product: str, place: str) -> Decimal:
        """All of a product at a place."""
        return Decimal(sum(quantity for spot, quantity in self.goods.items() if spot[:2] == (product, place)))


def small_store() -> Store:
    """Two shelves, a pick-up place, an order with goods in hand and at the pick-up place."""
    goods: dict[Spot, int] = {
        ("P1", "A-1", 1, "", 0): 5,
        ("P2", "A-1", 1, "", 0): 2,
        ("P2", "A-1", 2, "", 0): 3,
        ("P3", "A-1", 1, "", 0): 4,
        ("P1", "B-1", 1, "", 0): 7,
        ("P4", "PU", 1, "4101", 2): 2,
        ("P5", "", 1, "4101", 3): 1,
        ("P6", "", 1, "", 0): 9,
    }
    lines = {("4101", 1): ("P1", 3), ("4101", 2): ("P4", 2), ("4101", 3): ("P5", 2), ("4102", 1): ("P4", 5)}
    return Store(goods, lines, ("A-1", "A-2", "B-1", "PU"))


class Hand:
    """Runs the job as a session does: queries are answered at once, writes are booked; each input has its moment."""

    def __init__(self, store: Store | None = None, **args: Any) -> None:
        self.store = store or small_store()
        self.job = MoveJob()
        self.state: MoveState = self.job.begin()
        self.effects: list[Any] = []
        self.verdict: Verdict | None = None
        self.verdicts: list[Verdict] = []
        self.events: list[Event] = []
        self.moments = self.minute = 0
        self.policy = Policy()
        self.feed(Opened(args))

    def feed(self, event: Event) -> str:
        """The message id of the last verdict that follows from one event."""
        queue: list[Event] = [event]
        said = ""
        writes: list[Write] = []
        self.moments += 1
        now = f"2026-11-20T10:{self.minute:02}:00.{self.moments:06}Z"
        context = CONTEXT._replace(now=now, policy=self.policy)
        while queue:
            event = queue.pop(0)
            self.events.append(event)
            turn = self.job.handle(self.state, event, context)
            self.state = turn.state
            if turn.verdict:
                self.verdict, said = turn.verdict, turn.verdict.text.id
                self.verdicts.append(turn.verdict)
            for effect in turn.effects:
                self.effects.append(effect)
                if isinstance(effect, Query):
                    queue.insert(0, self.store.answer(effect))
                if isinstance(effect, Write):
                    writes.append(effect)
        for write in writes:
            self.store.book(write)
        return said

    def scan(self, key: str, quantity: str = "1", kind: str = "") -> str:
        """A code that means one thing: a place of the store, an order, or else a product."""
        orders = {order for order, _ in self.store.lines}
        kind = kind or (LOCATION if key in self.store.codes else ORDER if key in orders else PRODUCT)
        label = f"Product {key}" if kind == PRODUCT else key
        return self.feed(Scan((Match(kind, key, label, Decimal(quantity), quantity != "1", key),)))

    def say(self, *words: str) -> str:
        """Letters, choices and quantities as they would be typed (`=5` sets five), and codes; the last answer."""
        said = ""
        for word in words:
            if word[0] == "=":
                assert self.job.accepts(self.state).quantity, self.view
                said = self.feed(Quantity(Decimal(word[1:])))
            elif len(word) == 1 and word in (keys := self.job.accepts(self.state).choice_letters):
                said = self.feed(Choice(keys.index(word) + 1))
            elif word.isdigit() and len(word) == 1:
                assert self.job.accepts(self.state).choices >= int(word), self.view
                assert not keys, self.view
                said = self.feed(Choice(int(word)))
            elif len(word) == 1:
                assert word in self.job.accepts(self.state).command_letters, self.view
                said = self.feed(Command(word))
            else:
                said = self.scan(word)
        return said

    @property
    def view(self) -> Step:
        """What is on the screen."""
        return self.job.view(self.state)

    @property
    def sent(self) -> list[Write]:
        """All operations."""
        return [effect for effect in self.effects if isinstance(effect, Write)]

    @property
    def items(self) -> list[tuple[Any, ...]]:
        """The items of the last operation: product, quantity, from and to as (place, pool, order, line)."""
        return [
            (item["product_number"], item["quantity"], _end(item["from_location"]), _end(item["to_location"]))
            for item in self.sent[-1].body
        ]

    @property
    def choices(self) -> list[str]:
        """The ids of the numbered ways on."""
        return [choice.id for choice in self.view.choices]

    @property
    def held(self) -> Counter[str]:
        """What is in hand, by product."""
        found: Counter[str] = Counter()
        for part in self.state.in_hand:
            found[part.product] += part.quantity  # type: ignore[assignment]
        return found


def _end(end: Mapping[str, Any]) -> tuple[Any, ...]:
    return (
        end.get("location_code", ""),
        end.get("stock_pool", 0),
        end.get("customer_order_number", ""),
        end.get("customer_order_line_number", 0),
    )
