"""A fake service in memory with the operations of the courier: counts calls, fails on demand."""

import asyncio
import json
from collections import Counter, deque
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import parse_qsl, unquote

import httpx

from tests.courier.writes import STORE

OWN = "idempotency=30d, occurred-at, app-user, pick-place, changes, people"
NOON = "2026-11-20T12:00:00Z"
Row = dict[str, Any]
Fault = Callable[["Fake", httpx.Request], "httpx.Response | None"]
"""Is shown a request before it is carried out: may raise, or answer in the service's stead."""


def lost_before(fake: "Fake", request: httpx.Request) -> None:
    """The request never arrives."""
    raise httpx.ConnectError("no route", request=request)


def answer_lost(fake: "Fake", request: httpx.Request) -> None:
    """It is carried out, and the answer is lost."""
    fake.answer(request)
    raise httpx.ReadTimeout("no answer", request=request)


def not_applied(fake: "Fake", request: httpx.Request) -> None:
    """It is lost on the way, which looks just like a lost answer."""
    raise httpx.ReadError("connection lost", request=request)


def broken_answer(fake: "Fake", request: httpx.Request) -> httpx.Response:
    """It is carried out, and half of the answer arrives."""
    return httpx.Response(200, content=fake.answer(request).content[:7], headers=fake.headers)


def says(status: int, *, apply: bool = False, body: Any = None, **headers: str) -> Fault:
    """A gateway answers with this status; the request is carried out before, or not."""

    def fault(fake: "Fake", request: httpx.Request) -> httpx.Response:
        if apply:
            fake.answer(request)
        content = b"<html>gateway</html>" if body is None else json.dumps(body).encode()
        return httpx.Response(status, content=content, headers={k.replace("_", "-"): v for k, v in headers.items()})

    return fault


class Fake:
    """One store. `features` is the announcement; empty means a service that implements the document alone."""

    def __init__(self, features: str = OWN) -> None:
        self.features = features
        self.stores: list[Row] = [{"storeNo": STORE, "storeName": "Here"}, {"storeNo": "0002", "storeName": "There"}]
        self.people: list[Row] = [{"user": "U1", "name": "Anna", "badge": "B1", "role": "staff"}]
        self.orders: dict[str, Row] = {}
        self.stock: dict[str, Row] = {}
        self.products: dict[str, Row] = {}
        self.locations: dict[str, Row] = {}
        self.deliveries: dict[str, Row] = {}
        self.receipts: list[Row] = []
        self.logs: list[Row] = []
        self.surrounding: dict[str, Any] = {}
        """What the stores around have, by product; 404 for one that is not here."""
        self.changed: dict[tuple[str, str], int] = {}
        self.seq = 0
        self.keys: dict[str, tuple[bytes, httpx.Response]] = {}
        self.calls: Counter[str] = Counter()
        self.seen: list[tuple[str, str, dict[str, str]]] = []
        self.applied: list[tuple[str, Any]] = []
        """Writes that had an effect, in their order."""
        self.requests: list[httpx.Request] = []
        self.faults: dict[str, deque[Fault]] = {}
        self.down: Fault | None = None
        """While it is set, every request meets it."""
        self.gate: asyncio.Event | None = None
        """While it is set and closed, writes wait before they are carried out."""
        self.hold: asyncio.Event | None = None
        """While it is set and closed, the answers to writes wait after they were carried out."""
        self.waiting = 0
        self.most_at_once = 0

    # What a test says

    def fail(self, name: str, *faults: Fault) -> None:
        """The next calls of this operation meet these faults, one each."""
        self.faults.setdefault(name, deque()).extend(faults)

    def add_order(self, number: str, lines: int = 2, **fields: Any) -> None:
        """An open order with lines of products P1, P2, …, three of each."""
        self.orders[number] = {
            "order_number": number, "is_active": True, "is_claimed": False, "is_picked": False, "is_rejected": False,
            "status_id": 1, "total_lines": lines, "total_quantity": 3 * lines, "customer_name": f"Customer {number}",
            "lines": [_line(n) for n in range(1, lines + 1)], **fields,
        }  # fmt: skip
        self.touch("order", number)

    def add_delivery(self, number: str, *lines: tuple[str, int], container: str = "", **fields: Any) -> None:
        """A delivery that is expected, of (product, quantity) pairs, of which nothing has come."""
        rows = [
            {"line_number": n, "product_number": product, "quantity": quantity, "received_quantity": 0}
            | ({"container_barcode": container} if container else {})
            for n, (product, quantity) in enumerate(lines, 1)
        ]
        self.deliveries[number] = {"order_number": number, "store_number": STORE, "order_lines": rows, **fields}
        self.touch("delivery", number)

    def add_products(self, names: Iterable[str]) -> None:
        """Products with ten pieces of each at place A-1."""
        for name in names:
            self.products[name] = {"product_number": name, "product_name": f"Product {name}", "barcode": f"2{name}"}
            self.stock[name] = {
                "id": len(self.stock) + 1, "store_number": STORE, "product_number": name, "is_stock": True,
                "is_replenishment": False, "most_likely_quantity": 10,
                "store_locations": [{"store_location_code": "A-1", "quantity": 10}],
            }  # fmt: skip
            self.touch("product", name)

    def add_locations(self, *codes: str) -> None:
        """Places in this walking order."""
        for code in codes:
            self.locations[code] = {"location_code": code, "location_order": len(self.locations) + 1}
            self.touch("location", code)

    def touch(self, topic: str, key: str) -> None:
        """Marks something as changed."""
        self.seq += 1
        self.changed[topic, key] = self.seq

    # The wire

    @property
    def headers(self) -> dict[str, str]:
        """Headers of every answer."""
        return {"Aisle-Features": self.features} if self.features else {}

    def transport(self) -> httpx.MockTransport:
        """What a client is given."""
        return httpx.MockTransport(lambda request: self._handle(request))

    async def _handle(self, request: httpx.Request) -> httpx.Response:
        await asyncio.sleep(0)
        name = name_of(request)
        self.calls[name] += 1
        self.requests.append(request)
        self.seen.append((request.method, str(request.url), dict(request.headers)))
        if self.down:
            met = self.down(self, request)
            assert met is not None
            return met
        if self.gate and request.method != "GET":
            self.waiting += 1
            self.most_at_once = max(self.most_at_once, self.waiting)
            await self.gate.wait()
            self.waiting -= 1
        waiting = self.faults.get(name)
        met = waiting.popleft()(self, request) if waiting else None
        answer = met or self.answer(request)
        if self.hold and request.method != "GET":
            await self.hold.wait()
        return answer

    def answer(self, request: httpx.Request) -> httpx.Response:
        """Carries a request out: once for each key, where keys are announced."""
        key = request.headers.get("idempotency-key") if "idempotency" in self.features else None
        if key and key in self.keys:
            body, kept = self.keys[key]
            assert body == request.content, "other bytes came under the same key"
            return kept
        status, result = getattr(self, "_" + name_of(request).replace("-", "_"))(request)
        answer = httpx.Response(status, content=json.dumps(result).encode(), headers=self.headers)
        if key:
            self.keys[key] = (request.content, answer)
        return answer

    # Operations

    def _list_stores(self, request: httpx.Request) -> tuple[int, Any]:
        return self._page(request, self.stores)

    def _list_customer_orders(self, request: httpx.Request) -> tuple[int, Any]:
        query = dict(parse_qsl(request.url.query.decode()))
        rows = list(self.orders.values())
        if query.get("is_active", "true") == "true":
            rows = [row for row in rows if row["is_active"]]
        if "order_number" in query:
            rows = [row for row in rows if row["order_number"] == query["order_number"]]
        if query.get("show_lines") != "true":
            rows = [{key: row[key] for key in row if key != "lines"} for row in rows]
        return self._page(request, rows)

    def _list_deliveries(self, request: httpx.Request) -> tuple[int, Any]:
        query = dict(parse_qsl(request.url.query.decode()))
        wanted = query.get("order_number")
        rows = [row for row in self.deliveries.values() if wanted in (None, row.get("order_number"))]
        return self._page(request, rows)

    def _list_store_receipts(self, request: httpx.Request) -> tuple[int, Any]:
        query = dict(parse_qsl(request.url.query.decode()))
        kind, wanted = int(query["receipt_type"]), query.get("order_number")
        rows = [row for row in self.receipts if row["order_type_id"] == kind]
        return self._page(request, [row for row in rows if wanted in (None, row.get("order_number"))])

    def _list_store_products_stock(self, request: httpx.Request) -> tuple[int, Any]:
        query = dict(parse_qsl(request.url.query.decode()))
        rows = [row for row in self.stock.values() if row["id"] >= int(query.get("from_id", 0))]
        if "product_number" in query:
            rows = [row for row in rows if row["product_number"] == query["product_number"]]
        return self._page(request, rows)

    def _update_store_products(self, request: httpx.Request) -> tuple[int, Any]:
        for item in json.loads(request.content):
            self.stock[item["product_number"]].update(as_shown(item))
            self.applied.append(("update-store-products", item))
            self.touch("product", item["product_number"])
        return 200, {"success": True}

    def _list_products(self, request: httpx.Request) -> tuple[int, Any]:
        query = dict(parse_qsl(request.url.query.decode()))
        rows = list(self.products.values())
        if "product_number" in query:
            rows = [row for row in rows if row["product_number"] == query["product_number"]]
        number, size = int(query.get("page_number", 1)), int(query.get("page_size", 100))
        page = rows[(number - 1) * size : number * size]
        return 200, {"records": page, "page_number": number, "page_size": size, "total_record_count": len(rows)}

    def _list_locations(self, request: httpx.Request) -> tuple[int, Any]:
        query = dict(parse_qsl(request.url.query.decode()))
        wanted = query.get("search_text", "")
        return self._page(request, [row for code, row in self.locations.items() if wanted in code])

    def _retrieve_store_product_surrounding(self, request: httpx.Request) -> tuple[int, Any]:
        product = unquote(request.url.path).split("/")[-2]
        known = product in self.surrounding
        return (200, self.surrounding[product]) if known else (404, {"success": False, "message": "not told"})

    def _people(self, request: httpx.Request) -> tuple[int, Any]:
        return (200, {"people": self.people}) if "people" in self.features else (404, {"success": False})

    def _changes(self, request: httpx.Request) -> tuple[int, Any]:
        if "changes" not in self.features:
            return 404, {"success": False}
        query = dict(parse_qsl(request.url.query.decode()))
        if "since" not in query:
            return 200, {"cursor": max(self.changed.values(), default=0), "changes": [], "more": False}
        since, limit = int(query["since"]), int(query.get("limit", 100))
        found = sorted((seq, topic, key) for (topic, key), seq in self.changed.items() if seq > since)
        rows = [{"topic": topic, "key": key} for _, topic, key in found[:limit]]
        cursor = found[:limit][-1][0] if found else max(since, 0)
        return 200, {"cursor": cursor, "changes": rows, "more": len(found) > limit}

    def _create_customer_order_clearance(self, request: httpx.Request) -> tuple[int, Any]:
        self.applied.append(("create-customer-order-clearance", request.url.params["location_code_tag"]))
        return 200, {"success": True}

    def _update_customer_order(self, request: httpx.Request) -> tuple[int, Any]:
        body = json.loads(request.content)["orders"]
        order = self.orders.get(body["order_number"])
        if order is None or not order["is_active"]:
            return 409, {"success": False, "message": f"{body['order_number']} is finished"}
        for change in body.get("order_lines", ()):
            line = next(line for line in order["lines"] if line["line_number"] == change["line_number"])
            if change["picked_quantity"] > line["quantity"]:
                return 409, {"success": False, "message": "more than ordered"}
            line["picked_quantity"] = change["picked_quantity"]
            line["is_picked"] = change.get("is_picked") or line["picked_quantity"] >= line["quantity"]
            self.touch("product", change["product_number"])
        order["is_picked"] = all(line["is_picked"] for line in order["lines"])
        order["is_active"] = body.get("is_active", True)
        self.applied.append(("update-customer-order", body))
        self.touch("order", body["order_number"])
        return 200, {"success": True}

    def _create_movement(self, request: httpx.Request) -> tuple[int, Any]:
        for item in json.loads(request.content):
            self.applied.append(("create-movement", item))
            self._shift(item)
            self._log(item["product_number"], item["quantity"], item, dict(parse_qsl(request.url.query.decode())))
        return 200, {"success": True}

    def _shift(self, item: Row) -> None:
        """Goods leave one end and come to the other; those of an order line count as picked for it."""
        for side, sign in (("from_location", -1), ("to_location", 1)):
            end, quantity = item.get(side) or {}, sign * item["quantity"]
            if end.get("location_code") and item["product_number"] in self.stock:
                self._place(item["product_number"], end["location_code"])["quantity"] += quantity
            order = self.orders.get(end.get("customer_order_number", ""))
            for line in order["lines"] if order else ():
                if line["line_number"] == end.get("customer_order_line_number"):
                    line["picked_quantity"] += quantity
                    line["is_picked"] = line["picked_quantity"] >= line["quantity"]
                    self.touch("order", order["order_number"] if order else "")
        self.touch("product", item["product_number"])

    def _place(self, product: str, code: str) -> Row:
        """The entry of a place in a product's stock."""
        entries: list[Row] = self.stock[product].setdefault("store_locations", [])
        found = [entry for entry in entries if entry["store_location_code"] == code]
        if not found:
            found = [{"store_location_code": code, "quantity": 0}]
            entries += found
        return found[0]

    def _create_store_product_logs(self, request: httpx.Request) -> tuple[int, Any]:
        query = dict(parse_qsl(request.url.query.decode()))
        counted = query.get("is_counted_quantity") == "true"
        for entry in json.loads(request.content)["storeproductlog"]:
            named = ("counted_quantity", "quantity", *(f"stock_pool_{pool}" for pool in range(1, 11)))
            quantity = next(entry[name] for name in named if name in entry)
            product, stock = entry["product_number"], self.stock[entry["product_number"]]
            place = self._place(product, entry["location_code"]) if "location_code" in entry else None
            known = place["quantity"] if place else stock["most_likely_quantity"]
            change = quantity - known if counted else quantity
            stock["most_likely_quantity"] += change
            if place:
                place["quantity"] += change
            self.applied.append(("create-store-product-logs", entry))
            if query.get("is_from_receipt") == "true" and entry.get("reference") in self.deliveries:
                self._receive(entry["reference"], product, quantity)
            self._log(product, change, entry, query)
            self.touch("product", product)
        return 200, {"success": True}

    def _receive(self, number: str, product: str, quantity: float) -> None:
        """What came of a delivery: on the first line of the product that misses some, the rest on its last."""
        lines = [line for line in self.deliveries[number]["order_lines"] if line["product_number"] == product]
        open_ = [line for line in lines if line["received_quantity"] < line["quantity"]] if quantity > 0 else lines
        if lines:
            (open_ or lines)[0 if quantity > 0 and open_ else -1]["received_quantity"] += quantity
        self.touch("delivery", number)

    def _log(self, product: str, quantity: float, entry: Row, query: Row) -> None:
        """One line of the store's log, with what it has to have."""
        kept: Row = {name: entry[name] for name in ("reference", "reason_code", "source") if name in entry}
        who = entry.get("app_user_name") or query.get("AppUserName") or query.get("appUserName")
        row = {"id": len(self.logs) + 1, "product_number": product, "quantity": quantity, "app_user_name": who, **kept}
        self.logs.append({**row, "store_number": STORE, "scanned_datetime": entry.get("scanned_datetime", NOON)})

    def _list_store_product_logs(self, request: httpx.Request) -> tuple[int, Any]:
        query = dict(parse_qsl(request.url.query.decode()))
        return self._page(request, [row for row in self.logs if row["id"] >= int(query.get("from_id", 0))])

    def _page(self, request: httpx.Request, rows: list[Row]) -> tuple[int, Any]:
        query = dict(parse_qsl(request.url.query.decode()))
        number, size = int(query.get("page_start", 1)), int(query.get("page_size", 100))
        page = rows[(number - 1) * size : number * size]
        following = number + 1 if number * size < len(rows) else None
        envelope = {"page_size": size, "page_start": number, "total_count": len(rows), "next_page": following}
        return 200, {"list": page, **envelope}


_SHOWN = {
    "attention_codes": "storeproduct_attention_codes",
    "expiry_date_time": "last_expiry_datetime",
    "validate_expiry_date_time": "validate_expiry_datetime",
}


def as_shown(item: Row) -> Row:
    """What an update of store products says, as a stock entry calls it."""
    return {_SHOWN.get(k, k): ",".join(v) if isinstance(v, list) else v for k, v in item.items()}


def _line(n: int) -> Row:
    return {
        "id": n, "line_number": n, "product_number": f"P{n}", "quantity": 3, "picked_quantity": 0, "is_picked": False,
        "explicit_order": False, "is_template": False, "price": 1, "stock_pool": 1, "store_walking_order": n,
    }  # fmt: skip


_ROUTES = (
    ("GET", "/orders/customerorders", "list-customer-orders"),
    ("PUT", "/orders/customerorder", "update-customer-order"),
    ("GET", "/storeproducts/stock", "list-store-products-stock"),
    ("PUT", "/storeproducts", "update-store-products"),
    ("GET", "/public/products", "list-products"),
    ("GET", "/locations", "list-locations"),
    ("GET", "/orders/deliveries", "list-deliveries"),
    ("GET", "/orders/receipts", "list-store-receipts"),
    ("GET", "/public/stores", "list-stores"),
    ("GET", "/surrounding", "retrieve-store-product-surrounding"),
    ("GET", "/people", "people"),
    ("GET", "/changes", "changes"),
    ("GET", "/keys", "keys"),
    ("GET", "/assignments", "assignments"),
    ("POST", "/aisle/v1/sign-in", "sign-in"),
    ("POST", "/customerorders/clearance", "create-customer-order-clearance"),
    ("POST", "/storeproductlocation/movement", "create-movement"),
    ("POST", "/products/stock/storeproductlogs", "create-store-product-logs"),
    ("GET", "/products/stock/storeproductlogs", "list-store-product-logs"),
)


def name_of(request: httpx.Request) -> str:
    """The operation that a request calls."""
    path = unquote(request.url.raw_path.decode().partition("?")[0])
    for method, end, name in _ROUTES:
        if request.method == method and path.endswith(end):
            return name
    raise AssertionError(f"the fake service does not know {request.method} {path}")
