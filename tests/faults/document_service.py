"""A service that implements the interface document and nothing else, in memory: no keys, no extensions, no memory of
what it has answered. It shares nothing with `aisle.service`.

Where the document is silent, services differ: `Ways` says how this one does it. A process that ends in the middle of a
request (`crash_in`) leaves what was carried out until then, or nothing of it, as its ways are.

What it did is written down by the name that the line gave the request (`OP`): that is the truth which outbox and
screens are held against. A copy that the line made of a request (`COPY`) is written down apart: no sender can help it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from random import Random
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote

import httpx

from tests.courier.fake_service import as_shown
from tests.courier.writes import STORE
from tests.faults.inline_storage import Crash

OP, PARTS, COPY = "x-test-op", "x-test-parts", "x-test-copy"
"""Headers of the tests' own: the operation, the numbers of its entries that the body holds, and that it is a copy."""

Row = dict[str, Any]
Query = Mapping[str, str]


class Ways(NamedTuple):
    """What this service does where the document does not say."""

    filter: str = "exact"
    """Of the log's `reference`: exact, contains, ignored."""
    history: bool = False
    """Entries are only shown with is_historic=true."""
    logs_movements: bool = True
    keeps_reference: bool = True
    keeps_source: bool = True
    both_legs: bool = True
    """A movement is two entries of the log: what left, and what came."""
    forgets_lines: bool = False
    """Lines that an update does not name are gone."""
    whole: bool = True
    """A request is carried out whole or not at all; else entry by entry."""
    says_success: bool = True
    """Movements and log entries are answered with `success`."""
    refuses: int = 409
    """The status of a refusal; 200 says it by `success` alone."""
    counts_pages: bool = True
    """Pages say how many there are, and which is next."""


def chosen(random: Random) -> Ways:
    """Ways by dice. At most services what was written can be found again; at some nothing can."""
    return Ways(
        filter=random.choice(("exact", "exact", "contains", "ignored")),
        history=random.random() < 0.3,
        logs_movements=random.random() < 0.75,
        keeps_reference=random.random() < 0.9,
        keeps_source=random.random() < 0.7,
        both_legs=random.random() < 0.5,
        forgets_lines=random.random() < 0.2,
        whole=random.random() < 0.5,
        says_success=random.random() < 0.5,
        refuses=random.choice((200, 409, 422)),
        counts_pages=random.random() < 0.5,
    )


class Refusal(Exception):
    """A request that cannot be carried out, and why."""


class Document(httpx.AsyncBaseTransport):
    """One store. Goods lie at places by product and place; "" is no place: in somebody's hand."""

    def __init__(self, ways: Ways, clock: Callable[[], float]) -> None:
        self.ways = ways
        self._clock = clock
        self.crash_in: int | None = None
        """Statements until the process ends; None: it lives."""
        self.crashes = 0
        self.products: dict[str, Row] = {}
        self.places: dict[str, Row] = {}
        self.lying: Counter[tuple[str, str]] = Counter()
        self.orders: dict[str, Row] = {}
        self.settings: dict[str, Row] = {}
        """What the store says of its products: levels and the like."""
        self.logs: list[Row] = []
        self.moved_at: dict[str, float] = {}
        """Product to when its stock last changed."""
        self.did: dict[str, Counter[str]] = {}
        """Operation to its entries, lines and head, and how often each was carried out."""
        self.copied: dict[str, Counter[str]] = {}
        """The same of what copies of requests did."""
        self.forgotten: dict[tuple[str, int], Row] = {}
        """Lines that an update did not name, where those are gone."""
        self.requests: Counter[str] = Counter()
        self.rages = 0.0
        """The share of the lists that come in a form that no document knows; see tests.faults.hostile_service."""

    @property
    def tells_places(self) -> bool:
        """Whether stock comes with the places where it lies."""
        return True

    # What an integrator brings

    def add_product(self, number: str, barcode: str, lying: Mapping[str, int]) -> None:
        """A product, and what lies where."""
        self.products[number] = {"product_number": number, "product_name": f"Product {number}", "barcode": barcode}
        self.lying.update({(number, place): quantity for place, quantity in lying.items()})
        self.moved_at[number] = self._clock()

    def add_place(self, code: str) -> None:
        """A place of the store."""
        self.places[code] = {"location_code": code, "location_order": len(self.places) + 1}

    def add_order(self, number: str, lines: Sequence[tuple[str, int]]) -> None:
        """A customer's order of products and quantities."""
        self.orders[number] = {
            "order_number": number, "is_active": True, "is_claimed": False, "is_picked": False, "is_rejected": False,
            "lines": {n: _line(n, product, quantity) for n, (product, quantity) in enumerate(lines, 1)},
        }  # fmt: skip

    # The wire

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """One request, carried out at once. Raises Crash."""
        name = name_of(request)
        self.requests[name] += 1
        query = dict(parse_qsl(request.url.query.decode()))
        try:
            status, said = getattr(self, "_" + name.replace("-", "_"))(request, query)
        except Refusal as refusal:
            status, said = self.ways.refuses, {"success": False, "message": str(refusal)}
        return httpx.Response(status, content=json.dumps(said).encode(), request=request)

    def _unknown(self, request: httpx.Request, _: Query) -> tuple[int, Any]:
        return 404, {"success": False, "message": f"nothing is at {request.url.path}"}

    # Lists

    def _list_stores(self, _: httpx.Request, query: Query) -> tuple[int, Any]:
        return self._page(query, [{"storeNo": STORE, "storeName": "Here"}])

    def _list_products(self, _: httpx.Request, query: Query) -> tuple[int, Any]:
        rows = [_product(row) for row in self.products.values()]
        number, size = int(query.get("page_number", 1)), int(query.get("page_size", 100))
        page = rows[(number - 1) * size : number * size]
        return 200, {"records": page, "page_number": number, "page_size": size, "total_record_count": len(rows)}

    def _list_locations(self, _: httpx.Request, query: Query) -> tuple[int, Any]:
        wanted = query.get("search_text", "")
        return self._page(query, [row for code, row in self.places.items() if wanted in code])

    def _list_customer_orders(self, _: httpx.Request, query: Query) -> tuple[int, Any]:
        is_active = query.get("is_active", "true") == "true"
        asked = self.orders.get(query["order_number"]) if "order_number" in query else None
        found = self.orders.values() if "order_number" not in query else [asked] if asked is not None else []
        rows = [row for row in found if row["is_active"] == is_active]
        status, page = self._page(query, rows, lambda row: _order(row, query.get("show_lines") == "true"))
        number, size = int(query.get("page_start", 1)), int(query.get("page_size", 100))
        return status, {"page_size": size, "page_start": number, "total_count": len(rows), **page}

    def _list_store_products_stock(self, _: httpx.Request, query: Query) -> tuple[int, Any]:
        since = query.get("last_stock_modified_datetime", "")
        first, moment = int(query.get("from_id", 0)), _seconds(since) if since else 0.0
        rows = [
            (number, n)
            for n, number in enumerate(self.products, 1)
            if n >= first and query.get("product_number", number) == number and self.moved_at[number] >= moment
        ]
        with_places = query.get("include_locations") == "true"
        return self._page(query, rows, lambda row: self._stock(row[0], row[1], with_places))

    def _stock(self, number: str, n: int, with_places: bool) -> Row:
        lying = {place: self.lying[number, place] for place in ("", *self.places)}
        row: Row = {"id": n, "is_replenishment": False, "is_stock": True, "most_likely_quantity": sum(lying.values())}
        row |= {"product_number": number, "store_number": STORE, **self.settings.get(number, {})}
        if with_places:
            there = [{"store_location_code": place, "quantity": q} for place, q in lying.items() if q and place]
            row["store_locations"] = there
        return row

    def _list_store_product_logs(self, _: httpx.Request, query: Query) -> tuple[int, Any]:
        rows: Sequence[Row] = self.logs[max(0, int(query.get("from_id", 1)) - 1) :]
        if self.ways.history and query.get("is_historic") != "true":
            rows = []
        wanted = query.get("reference")
        if wanted and self.ways.filter == "exact":
            rows = [row for row in rows if row.get("reference") == wanted]
        elif wanted and self.ways.filter == "contains":
            rows = [row for row in rows if wanted in row.get("reference", "")]
        return self._page(query, rows)

    def _page(self, query: Query, rows: Sequence[Any], shown: Callable[[Any], Row] | None = None) -> tuple[int, Any]:
        """A page of these rows; only what is on it is made to be `shown`."""
        number, size = int(query.get("page_start", 1)), int(query.get("page_size", 100))
        there = rows[(number - 1) * size : number * size]
        page = {"list": list(map(shown, there)) if shown else there}
        if not self.ways.counts_pages:
            return 200, page
        following = number + 1 if number * size < len(rows) else None
        envelope = {"page_size": size, "page_start": number, "total_count": len(rows), "next_page": following}
        return 200, {**page, **envelope}

    # Writes

    def _update_customer_order(self, request: httpx.Request, _: Query) -> tuple[int, Any]:
        said = json.loads(request.content)["orders"]
        order = self.orders.get(said["order_number"])
        if order is None or not order["is_active"]:
            raise Refusal(f"{said['order_number']} is not open")
        changes = said.get("order_lines") or ()
        for change in changes:
            if "quantity" in change:  # the order is as it is said, so a line that was forgotten can be said again
                spared = self.forgotten.pop((said["order_number"], change["line_number"]), None)
                order["lines"] |= {change["line_number"]: spared} if spared else {}
            line = order["lines"].get(change["line_number"])
            if line is None or change.get("picked_quantity", 0) > line["quantity"]:
                raise Refusal(f"line {change['line_number']} has no room for that")
        before = deepcopy(order)
        steps = [("head", lambda: self._head(order, said))]
        steps += [(str(each["line_number"]), lambda each=each: self._pick(order, each)) for each in changes]  # type: ignore[misc]
        self._carry_out(request, steps, lambda: order.update(before))
        if self.ways.forgets_lines and changes:
            named = {change["line_number"] for change in changes}
            self.forgotten |= {(said["order_number"], n): line for n, line in order["lines"].items() if n not in named}
            order["lines"] = {n: line for n, line in order["lines"].items() if n in named}
        return 200, {"success": True}

    def _head(self, order: Row, said: Row) -> None:
        order.update(
            {name: said[name] for name in ("is_active", "is_claimed", "is_picked", "is_rejected") if name in said}
        )

    def _pick(self, order: Row, change: Row) -> None:
        line = order["lines"][change["line_number"]]
        line.update({name: change[name] for name in ("picked_quantity", "is_picked") if name in change})

    def _update_store_products(self, request: httpx.Request, _: Query) -> tuple[int, Any]:
        before = deepcopy(self.settings)
        items = [as_shown(item) for item in json.loads(request.content)]
        for item in items:
            kept = {**self.settings.get(item["product_number"], {}), **item}
            if kept.get("min", 0) > kept.get("max", kept.get("min", 0)):
                raise Refusal("min is above max")
        steps = [
            (str(n), lambda item=item: self.settings.setdefault(item["product_number"], {}).update(item))
            for n, item in enumerate(items, 1)
        ]
        self._carry_out(request, steps, lambda: setattr(self, "settings", before))
        return 200, {"success": True}

    def _create_movement(self, request: httpx.Request, query: Query) -> tuple[int, Any]:
        steps = [
            (number, lambda item=item: self._move(item, query))
            for number, item in zip(_numbers(request), json.loads(request.content), strict=True)
        ]
        self._entries(request, steps)
        return 200, {"success": True} if self.ways.says_success else {}

    def _move(self, item: Row, query: Query) -> None:
        product, quantity = item["product_number"], item["quantity"]
        ends = [str((item.get(end) or {}).get("location_code") or "") for end in ("from_location", "to_location")]
        if ends[0] and self.lying[product, ends[0]] < quantity and not item.get("allow_overage"):
            raise Refusal(f"{ends[0]} has {self.lying[product, ends[0]]} of {product}")
        legs = ((ends[0], -quantity), (ends[1], quantity))
        for place, change in legs:
            self.lying[product, place] += change
        self.moved_at[product] = self._clock()
        if self.ways.logs_movements:
            for place, change in legs if self.ways.both_legs else legs[1:]:
                self._log(product, place, change, item, query.get("AppUserName", ""))

    def _create_store_product_logs(self, request: httpx.Request, query: Query) -> tuple[int, Any]:
        steps = [
            (number, lambda entry=entry: self._change(entry, query))
            for number, entry in zip(_numbers(request), json.loads(request.content)["storeproductlog"], strict=True)
        ]
        self._entries(request, steps)
        return 200, {"success": True, "data": [len(self.logs)]} if self.ways.says_success else {}

    def _change(self, entry: Row, query: Query) -> None:
        product, place = entry["product_number"], str(entry.get("location_code") or "")
        pools = [entry[f"stock_pool_{n}"] for n in range(1, 11) if f"stock_pool_{n}" in entry]
        bare = entry.get("counted_quantity", entry.get("quantity"))
        said = sum(pools) if bare is None else bare
        change = said - self.lying[product, place] if query.get("is_counted_quantity") == "true" else said
        self.lying[product, place] += change
        self.moved_at[product] = self._clock()
        self._log(product, place, change, entry, query.get("appUserName", ""))

    def _log(self, product: str, place: str, change: int, said: Row, who: str) -> None:
        row = {"id": len(self.logs) + 1, "product_number": product, "store_number": STORE, "quantity": change}
        row |= {"location_code": place} if place else {}
        row |= {"app_user_name": who} if who else {}
        if self.ways.keeps_reference and said.get("reference"):
            row["reference"] = said["reference"]
        if self.ways.keeps_source and said.get("source"):
            row["source"] = said["source"]
        self.logs.append(row)

    def _entries(self, request: httpx.Request, steps: Sequence[tuple[str, Callable[[], None]]]) -> None:
        lying, moved_at, logs = self.lying.copy(), dict(self.moved_at), len(self.logs)

        def undo() -> None:
            self.lying, self.moved_at = lying, moved_at
            del self.logs[logs:]

        self._carry_out(request, steps, undo)

    def _carry_out(
        self, request: httpx.Request, steps: Sequence[tuple[str, Callable[[], None]]], undo: Callable[[], None]
    ) -> None:
        """Each step is a statement; one that the process ends at, or that is refused, was not carried out."""
        done: Counter[str] = Counter()
        try:
            for name, step in steps:
                self._tick()
                step()
                done[name] += 1
            self._tick()
        except (Crash, Refusal):
            if self.ways.whole:
                undo()
                done.clear()
            raise
        finally:
            books = self.copied if COPY in request.headers else self.did
            books.setdefault(request.headers[OP], Counter()).update(done)

    def _tick(self) -> None:
        if self.crash_in is None:
            return
        self.crash_in -= 1
        if self.crash_in <= 0:
            self.crash_in = None
            self.crashes += 1
            raise Crash


_HEAD = ("is_active", "is_claimed", "is_picked", "is_rejected")


def _numbers(request: httpx.Request) -> list[str]:
    return request.headers[PARTS].split(",")


def _line(n: int, product: str, quantity: int) -> Row:
    return {
        "id": n, "line_number": n, "product_number": product, "quantity": quantity, "picked_quantity": 0,
        "is_picked": False, "explicit_order": False, "is_template": False, "price": 1, "stock_pool": 1,
        "store_walking_order": n,
    }  # fmt: skip


def _order(row: Row, with_lines: bool) -> Row:
    lines = list(row["lines"].values())
    total = sum(line["quantity"] for line in lines)
    said = {**row, "status_id": 1, "total_lines": len(lines), "total_quantity": total, "lines": lines}
    return said if with_lines else {name: said[name] for name in said if name != "lines"}


def _product(row: Row) -> Row:
    required = {"carrier_item_quantity": 1, "edit_min_max_percentage": 0, "price_compare_multiplier": 1}
    return {**row, **required, "shelf_label_quantity": 1}


def _seconds(moment: str) -> float:
    from datetime import datetime

    return datetime.fromisoformat(moment).timestamp()


_ROUTES = (
    ("GET", "/orders/customerorders", "list-customer-orders"),
    ("PUT", "/orders/customerorder", "update-customer-order"),
    ("GET", "/storeproducts/stock", "list-store-products-stock"),
    ("PUT", "/storeproducts", "update-store-products"),
    ("GET", "/public/products", "list-products"),
    ("GET", "/locations", "list-locations"),
    ("GET", "/public/stores", "list-stores"),
    ("POST", "/storeproductlocation/movement", "create-movement"),
    ("POST", "/products/stock/storeproductlogs", "create-store-product-logs"),
    ("GET", "/products/stock/storeproductlogs", "list-store-product-logs"),
)


def name_of(request: httpx.Request) -> str:
    """The operation that a request calls; `unknown` for one that this service has not."""
    path = unquote(request.url.raw_path.decode().partition("?")[0])
    return next((name for method, end, name in _ROUTES if request.method == method and path.endswith(end)), "unknown")
