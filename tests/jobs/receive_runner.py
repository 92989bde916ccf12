"""Deliveries in memory that answer what the receive job asks and book what it sends, and a hand that runs the job."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs.job import Context, Event, Opened, Policy, Query, Rows, Write
from aisle.jobs.receive.job import ReceiveJob
from aisle.jobs.receive.receive_state_and_differences import ReceiveState
from aisle.jobs.view import Verdict
from aisle.scan.grammar_and_meaning_types import (
    DELIVERY,
    LOCATION,
    ORDER,
    PRODUCT,
    Choice,
    Command,
    Match,
    Quantity,
    Scan,
)

CONTEXT = Context(store="0001", user="ann", now="2026-11-20T10:00:00Z", policy=Policy(receiving_location="DOCK"))

PRODUCTS = ("P1", "P2", "P3", "P4", "P5", "P6", "P9")
PLACES = ("A-1", "A-2", "7")
NUMBERS = ((LOCATION, "7"), (ORDER, "5"), (ORDER, "4101"))
"""What is known by digits alone."""
CONTAINERS = {"C-1": ("D-1",), "C-2": ("D-1",), "C-3": ("D-2", "D-3")}

Row = dict[str, Any]


def _lines(*lines: tuple[int, str, int | None, str]) -> list[Row]:
    return [
        {
            "line_number": number,
            "product_number": product,
            "description": f"Product {product}",
            "quantity": None if quantity is None else Decimal(quantity),
            "received": Decimal(0),
            "container_barcode": container,
            "customer_order_number": "4101" if product == "P4" else "",
            "target_stock_pool": 2 if product == "P5" else 0,
            "allow_decimal": product == "P3",
            "unit": "kg" if product == "P3" else "",
        }
        for number, product, quantity, container in lines
    ]


def _is_open(line: Row) -> bool:
    return bool(line["received"] < line["quantity"] if line["quantity"] is not None else not line["received"])


class Store:
    """Three deliveries that are expected, and one of which all has come."""

    def __init__(self) -> None:
        self.deliveries: dict[str, list[Row]] = {
            "D-1": _lines(
                (1, "P1", 6, "C-1"), (2, "P2", 1, "C-1"), (3, "P1", 4, "C-2"), (4, "P3", 5, "C-2"), (5, "P4", 2, "")
            ),
            "D-2": _lines((10, "P5", 12, "C-3"), (20, "P2", 3, "C-3")),
            "D-3": _lines((1, "P5", 3, "C-3")),
            "D-9": _lines((1, "P1", 2, "")),
        }
        self.deliveries["D-9"][0]["received"] = Decimal(2)
        self.booked: dict[tuple[str, str, str], Decimal] = {}
        """By delivery, product and place."""
        self.order_needs: dict[str, list[Row]] = {}
        """Needs of customer orders, by delivery."""
        self.places: tuple[str, ...] = (*PLACES, "DOCK")

    def announce_unsaid(self) -> None:
        """One more, which does not say how much of one product it brings."""
        self.deliveries["D-4"] = _lines((1, "P6", None, "C-4"), (2, "P2", 2, ""))

    def answer(self, query: Query) -> Rows:
        """As aisle.cache.reader would."""
        rows = getattr(self, query.name)(query.args)
        first, size = int(query.args.get("first") or 0), int(query.args.get("size") or 99)
        return Rows(query.id, tuple(rows[first : first + size]), len(rows))

    def _head(self, number: str) -> Row:
        lines = self.deliveries[number]
        of, came = (sum((line[name] or 0 for line in lines), Decimal(0)) for name in ("quantity", "received"))
        full = not any(_is_open(line) for line in lines)
        state = "open" if not came else "received" if full else "partial"
        return {
            "order_number": number,
            "supplier_name": f"Supplier of {number}",
            "datetime_expected": "2026-11-18T08:00:00Z",
            "external_reference_number": "",
            "order_type": "",
            "no_of_containers": None,
            "store_origin": None,
            "tracing_url": "",
            "quantity": of,
            "received_quantity": came,
            "state": state,
        }

    def deliveries_(self, args: Mapping[str, Any]) -> list[Row]:
        heads = [self._head(number) for number in self.deliveries]
        words = str(args.get("search") or "").casefold().split()
        found = [each for each in heads if all(word in str(each).casefold() for word in words)]
        return [each for each in found if each["state"] != "received"]

    def delivery(self, args: Mapping[str, Any]) -> list[Row]:
        number = str(args["order_number"])
        if number not in self.deliveries:
            return []
        lines = [dict(line) for line in self.deliveries[number]]
        return [{**self._head(number), "lines": lines, "order_needs": self.order_needs.get(number, [])}]

    def deliveries_expecting(self, args: Mapping[str, Any]) -> list[Row]:
        found = []
        for number, lines in self.deliveries.items():
            mine = [line for line in lines if line["product_number"] == args["product_number"]]
            missing = sum((max(Decimal(0), (line["quantity"] or 0) - line["received"]) for line in mine), Decimal(0))
            if any(_is_open(line) for line in mine):
                found.append({**self._head(number), "missing": missing})
        return found

    def product(self, args: Mapping[str, Any]) -> list[Row]:
        number = str(args["product_number"])
        return [{"product_number": number, "product_name": f"Product {number}"}] if number in PRODUCTS else []

    def locations_of_products(self, args: Mapping[str, Any]) -> list[Row]:
        return [{"product_number": number, "location_code": "A-2"} for number in args["product_numbers"]]

    def records_by_number(self, args: Mapping[str, Any]) -> list[Row]:
        return [{"kind": kind, "key": key, "label": f"Label of {key}"} for kind, key in NUMBERS if key == args["code"]]

    def location_use(self, args: Mapping[str, Any]) -> list[Row]:
        return [{"is_used": False, "goods": 0, "tags": []}] if args["location_code"] in self.places else []

    def locations(self, _: Mapping[str, Any]) -> list[Row]:
        return [{"location_code": place} for place in self.places]

    def refused_operations(self, _: Mapping[str, Any]) -> list[Row]:
        return []

    def received(self, number: str, product: str) -> Decimal:
        """What came of a product."""
        mine = [line for line in self.deliveries.get(number, ()) if line["product_number"] == product]
        return sum((line["received"] for line in mine), Decimal(0))

    def book(self, write: Write) -> None:
        """As our own service counts receipts."""
        assert write.operation == "create-store-product-logs"
        assert write.query["is_from_receipt"] is True
        for entry in write.body["storeproductlog"]:
            number, product, quantity = entry["reference"], entry["product_number"], entry["quantity"]
            lines = self.deliveries[number]
            line = next((each for each in lines if each["line_number"] == entry.get("line_number")), None)
            if line is None:
                line = next((each for each in lines if each["product_number"] == product), None)
            if line is None:
                (line,) = _lines((max((each["line_number"] for each in lines), default=0) + 1, product, 0, ""))
                line["target_stock_pool"] = 0
                lines.append(line)
            assert line["product_number"] == product
            line["received"] += quantity
            assert line["received"] >= 0, entry
            spot = (number, product, entry.get("location_code", ""))
            self.booked[spot] = self.booked.get(spot, Decimal(0)) + quantity
            if line["target_stock_pool"]:
                assert entry["pool_location"] == line["target_stock_pool"]
        assert write.lanes[0] == f"delivery/{write.body['storeproductlog'][0]['reference']}"


class Hand:
    """Somebody who receives."""

    def __init__(self, store: Store | None = None, context: Context = CONTEXT, **args: Any) -> None:
        self.store = store or Store()
        self.context = context
        self.job = ReceiveJob()
        self.state: ReceiveState = self.job.begin()
        self.sent: list[Write] = []
        self.effects: list[Any] = []
        self.verdicts: list[Verdict] = []
        self._moment = 0
        self.feed(Opened(args))

    @property
    def verdict(self) -> str:
        """The last verdict's message."""
        return self.verdicts[-1].text.id if self.verdicts else ""

    @property
    def view(self) -> Any:
        """What is on the screen."""
        return self.job.view(self.state)

    def feed(self, event: Event) -> str:
        """One event and all the answers that follow from it; the last verdict."""
        self._moment += 1
        context = self.context._replace(now=f"2026-11-20T10:00:00.{self._moment:06}Z")
        self.effects = []
        queue: deque[Event] = deque([event])
        while queue:
            turn = self.job.handle(self.state, queue.popleft(), context)
            self.state = turn.state
            if turn.verdict:
                self.verdicts.append(turn.verdict)
            for effect in turn.effects:
                self.effects.append(effect)
                if isinstance(effect, Query):
                    name = "deliveries_" if effect.name == "deliveries" else effect.name
                    queue.append(self.store.answer(effect._replace(name=name)))
                elif isinstance(effect, Write):
                    self.sent.append(effect)
                    self.store.book(effect)
        return self.verdict

    def scan(self, code: str, quantity: str = "1") -> str:
        """A scan of something that the store knows."""
        return self.feed(thing(code, quantity))

    def say(self, *words: str) -> str:
        """Scans, letters, numbers (`1`: a row) and quantities (`=4`)."""
        for word in words:
            if word.startswith("="):
                self.feed(Quantity(Decimal(word[1:])))
            elif len(word) == 1 and word in self.job.accepts(self.state).choice_letters:
                self.feed(Choice(self.job.accepts(self.state).choice_letters.index(word) + 1))
            elif len(word) == 1 and word.isdigit() and self.job.accepts(self.state).choices:
                assert not self.job.accepts(self.state).choice_letters, "letters choose"
                self.feed(Choice(int(word)))
            elif len(word) == 1:
                self.feed(Command(word))
            else:
                self.scan(word)
        return self.verdict

    def entries(self, index: int = -1) -> list[tuple[str, int, int, str]]:
        """(product, line, quantity, place) of what was sent."""
        rows = self.sent[index].body["storeproductlog"]
        return [
            (row["product_number"], row.get("line_number", 0), int(row["quantity"]), row.get("location_code", ""))
            for row in rows
        ]


def thing(code: str, quantity: str = "1") -> Scan:
    """What a code means in that store."""
    much = Decimal(quantity)
    if code in CONTAINERS:
        return Scan(tuple(Match(DELIVERY, key, key, code=code) for key in CONTAINERS[code]))
    kind = DELIVERY if code.startswith("D-") else LOCATION if code in PLACES or code == "DOCK" else PRODUCT
    return Scan((Match(kind, code, f"Product {code}", much, much != 1, code),))
