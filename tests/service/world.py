"""A small chain of stores behind the service's own HTTP interface, and what must always be true of its books."""

from __future__ import annotations

import json
import secrets
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping
from contextlib import closing
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import apsw
import httpx

from aisle.contract.operations import OPERATIONS
from aisle.service.app_options_and_limits import ServiceOptions
from aisle.service.auth.tokens_and_pins import create_token
from aisle.service.db import open_database
from aisle.service.db.database_interface import Database, Transaction
from aisle.service.domain.quantities_times_and_json import format_timestamp
from aisle.service.open_service_and_admin_token import Service, open_service
from tests.service.watched_storage import Watched

API = "/api/v2/public"
LOGS = "/stores/S1/products/stock/storeproductlogs"
START = 1_780_000_000.0

STORES = [
    ("S1", "First", "north", False),
    ("S2", "Second", "north", False),
    ("S3", "Third", "south", False),
    ("W", "Depot", "west", True),
]
PRODUCTS: list[dict[str, Any]] = [
    {"product_number": "P1", "product_name": "Müsli [/b] 50%", "barcode": "4006381333931", "category_code": "food"},
    {"product_number": "P2", "product_name": "Tea", "barcode": "5000000000012", "price": 2.5},
    {"product_number": "P3", "product_name": "Jam", "barcode": "5000000000029"},
    {"product_number": "KG", "product_name": "Loose apples", "barcode": "2000000000017", "allow_decimal": True},
    {"product_number": "FEE", "product_name": "Postage", "barcode": "", "is_stock": False},
]
LOCATIONS: list[dict[str, Any]] = [
    {"store_number": "S1", "location_code": "A10", "location_order": 20},
    {"store_number": "S1", "location_code": "A2", "location_order": 20},
    {"store_number": "S1", "location_code": "A1", "location_order": 10, "tags": ["shelf"]},
    {"store_number": "S1", "location_code": "BACK", "location_order": 40, "default_stock_pool": "2"},
    {"store_number": "S1", "location_code": "DESK", "location_order": 50, "default_stock_pool": "1"},
]
_EMPTY: dict[str, Any] = {"delete-products": {"product_numbers": []}}
_REQUIRED: dict[str, Any] = {"receipt_type": 1, "location_code_tag": "shelf"}


@cache
def _made(demo: bool, now: float) -> bytes:
    """A database file of the newest schema, with the demo store or without a row of anybody's."""
    clock = (lambda: now) if now else time.time
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "made.db"
        open_service(file, ServiceOptions(clock), demo=demo).close()
        return file.read_bytes()


def prepare(path: Path, *, demo: bool = False, now: float = 0.0) -> None:
    """Puts an empty database, or one with the demo store, where there is none: to make one takes longer than most tests
    do. `now` is the time of the demo store's rows; 0 for the present."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch(mode=0o600)
    path.write_bytes(_made(demo, now))


_made_filled: list[tuple[bytes, str]] = []


async def filled(folder: Path) -> World:
    """A filled service over a SQLite file in this folder: the copy of one that is filled once in a process."""
    if not _made_filled:
        with tempfile.TemporaryDirectory() as made:
            world = World(Path(made))
            await world.fill()
            await world.close()
            with closing(apsw.Connection(str(world.path))) as connection:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            _made_filled.append((world.path.read_bytes(), world.secret))
    content, secret = _made_filled[0]
    file = folder / "service.db"
    file.touch(mode=0o600)
    file.write_bytes(content)
    return World(folder, secret=secret)


class World:
    """The service, a clock that stands still until it is moved, and an admin's client.

    `where` is a folder for a SQLite file, or a PostgreSQL address; a `storage` that is lent is left open. With `twice`,
    all that is written is written once in vain before. `secret` is that of an admin whom the database knows.
    """

    def __init__(
        self, where: Path | str, storage: Database | None = None, *, twice: bool = False, secret: str = ""
    ) -> None:
        self.now = START
        self.database = where / "service.db" if isinstance(where, Path) else where
        self._lent = storage is not None
        if isinstance(self.database, Path) and not self.database.exists():
            prepare(self.database)
        watched = Watched(storage or open_database(self.database), twice=twice)
        self.service = Service(watched, ServiceOptions(lambda: self.now))
        self.secret = secret or self.token()
        self._clients: list[httpx.AsyncClient] = []
        self.client = self.open_client(self.secret)

    def token(self, role: Any = "admin", stores: list[str] | None = None, expires_on: str | None = None) -> str:
        """A token's secret."""
        made = create_token(
            self.service.database,
            name=f"{role} token {secrets.token_hex(4)}",
            role=role,
            store_numbers=stores,
            now=format_timestamp(self.now),
            expires_on=expires_on,
        )
        return made.secret

    def open_client(self, secret: str | None) -> httpx.AsyncClient:
        """A client with this token, closed with the world at the latest."""
        headers = {"Authorization": f"Bearer {secret}"} if secret else {}
        transport = httpx.ASGITransport(self.service.app)
        self._clients.append(httpx.AsyncClient(transport=transport, base_url="http://service", headers=headers))
        return self._clients[-1]

    def client_for(self, *args: Any, **fields: Any) -> httpx.AsyncClient:
        """A client with a new token of this role."""
        return self.open_client(self.token(*args, **fields))

    @property
    def path(self) -> Path:
        """The SQLite file."""
        assert isinstance(self.database, Path)
        return self.database

    async def fill(self) -> None:
        """Stores, products and locations, without stock."""
        stores = [
            store_body(number, name, area_id=area, area_description=f"Area {area}", is_warehouse=is_warehouse)
            | {"store_stock_pool_1": "Shelf"}
            for number, name, area, is_warehouse in STORES
        ]
        await self.post("/stores", {"stores": stores})
        await self.post("/products", {"products": PRODUCTS})
        await self.post("/aisle/v1/locations", {"locations": LOCATIONS})

    async def send(self, method: str, path: str, body: Any = None, **options: Any) -> httpx.Response:
        """A request; `query` and `headers` as options, paths without the common beginning."""
        url = path if path.startswith("/aisle") else API + path
        content = None if body is None else json.dumps(body, default=float).encode()
        client = options.pop("client", self.client)
        params = {name: _text(value) for name, value in options.pop("query", {}).items()}
        answer: httpx.Response = await client.request(method, url, content=content, params=params, **options)
        return answer

    async def call(self, name: str, store: str = "S1", **options: Any) -> httpx.Response:
        """An operation of the contract by its name, with P1, DESK, what it requires, and an empty body."""
        row = OPERATIONS[name]
        required = {param.name: _REQUIRED[param.name] for param in row.params_in("query") if param.required}
        options["query"] = required | options.get("query", {})
        path = row.path.removeprefix(API).replace("{store_number}", store)
        path = path.replace("{product_number}", "P1").replace("{location_code}", "DESK")
        empty: Any = _EMPTY.get(name, [] if row.body_array else {})
        return await self.send(row.method, path, empty if row.body else None, **options)

    async def get(self, path: str, **query: Any) -> Any:
        """The JSON of a read that has to work."""
        answer = await self.send("GET", path, query=query)
        assert answer.status_code == 200, answer.text
        return json.loads(answer.content, parse_float=Decimal, object_pairs_hook=_told_once)

    async def rows(self, path: str, **query: Any) -> list[dict[str, Any]]:
        """The rows of a list."""
        rows: list[dict[str, Any]] = (await self.get(path, **query))["list"]
        return rows

    async def post(self, path: str, body: Any, status: int = 200, **options: Any) -> Any:
        """The JSON of a POST that has to answer with this status."""
        answer = await self.send("POST", path, body, **options)
        assert answer.status_code == status, answer.text
        return answer.json()

    async def put(self, path: str, body: Any, status: int = 200, **options: Any) -> Any:
        """The JSON of a PUT that has to answer with this status."""
        answer = await self.send("PUT", path, body, **options)
        assert answer.status_code == status, answer.text
        return answer.json()

    async def count(self, product: str, place: str | None, status: int = 200, **fields: Any) -> Any:
        """A count of one product at a place of S1 (or without one)."""
        entry = {"product_number": product, **({"location_code": place} if place else {}), **fields}
        query = {"is_counted_quantity": True}
        return await self.post(
            "/stores/S1/products/stock/storeproductlogs", {"storeproductlog": [entry]}, status, query=query
        )

    async def log(self, status: int = 200, query: dict[str, Any] | None = None, **entry: Any) -> Any:
        """One log entry of S1 that is no count."""
        return await self.post(LOGS, {"storeproductlog": [entry]}, status, query=query or {})

    async def order(self, number: str, *lines: dict[str, Any], status: int = 200, **head: Any) -> Any:
        """An order of S1; lines are numbered from 1 unless they say otherwise."""
        numbered = [{"line_number": n, **line} for n, line in enumerate(lines, 1)]
        body = {"orders": [{"order_number": number, "order_lines": numbered, **head}]}
        return await self.post("/stores/S1/orders/customerorders", body, status)

    async def update(self, number: str, *lines: dict[str, Any], status: int = 200, **head: Any) -> Any:
        """An update of an order of S1."""
        body: dict[str, Any] = {"order_number": number, **head}
        if lines:
            body["order_lines"] = list(lines)
        headers = head.pop("headers", {})
        body.pop("headers", None)
        return await self.put("/stores/S1/orders/customerorder", {"orders": body}, status, headers=headers)

    async def pick(self, number: str, line: int, product: str, picked: Any, status: int = 200, **more: Any) -> Any:
        """Bring one line to a picked quantity."""
        said = {"line_number": line, "product_number": product, "picked_quantity": picked, **more}
        return await self.update(number, said, status=status)

    async def move(self, product: str, quantity: Any, source: Any, target: Any, status: int = 200, **more: Any) -> Any:
        """One movement in S1; an end is a place, None, or its body."""
        item = {"product_number": product, "quantity": quantity, **more}
        item |= {"from_location": _end(source), "to_location": _end(target)}
        return await self.post("/stores/S1/storeproductlocation/movement", [item], status)

    async def see(self, number: str) -> dict[str, Any]:
        """An order of S1 with its lines, finished or not."""
        rows = await self.rows(
            "/stores/S1/orders/customerorders",
            order_number=number,
            show_lines=True,
            include_locations=True,
            is_active=False,
        )
        assert len(rows) == 1, rows
        return rows[0]

    async def line(self, number: str, line: int = 1) -> dict[str, Any]:
        """A line of an order of S1."""
        found: dict[str, Any] = next(one for one in (await self.see(number))["lines"] if one["line_number"] == line)
        return found

    def books(self, store: str = "S1") -> dict[tuple[Any, ...], Decimal]:
        """Every balance that is not empty: (product, place, pool[, order, line]) to quantity."""

        async def work(tx: Transaction) -> dict[tuple[Any, ...], Decimal]:
            rows = await tx.all(_BALANCES, store)
            return {row[:3] if not row[3] else row[:5]: Decimal(row[5]) / 1000 for row in rows}

        return self.service.database.read_now(work)

    async def close(self) -> None:
        """Let go of everything; before that, the books have to be in order."""
        for client in self._clients:
            await client.aclose()
        try:
            assert_books(self.service)
        finally:
            if not self._lent:
                self.service.close()


_BALANCES = """
    SELECT product_number, location_code, pool, order_number, line_number, quantity FROM balance
    WHERE store_number = $1 AND quantity <> 0"""


def _told_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, which has no field twice: of two, each reader takes another."""
    told = dict(pairs)
    assert len(told) == len(pairs), pairs
    return told


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _end(end: Any) -> dict[str, Any]:
    return end if isinstance(end, dict) else {"location_code": end} if end else {}


def store_body(number: str, name: str = "", **fields: Any) -> dict[str, Any]:
    """A store with the fields that are required; its number is its name where no other is said."""
    flags = {"is_active": True, "is_active_data_exchange": True, "is_warehouse": False}
    return {"store_number": number, "store_name": name or number, **flags, **fields}


def line_end(number: str, line: int, place: str | None = None, pool: int | None = None) -> dict[str, Any]:
    """An end of a movement that is an order line."""
    end: dict[str, Any] = {"customer_order_number": number, "customer_order_line_number": line}
    end |= {"location_code": place} if place else {}
    return end | ({"stock_pool": pool} if pool else {})


def assert_books(service: Service) -> None:
    """What must hold of every database at every moment between two requests."""
    service.database.read_now(_assert_books)


async def _assert_books(tx: Transaction) -> None:
    key = "store_number, product_number, location_code, pool, order_number, line_number"
    sums = {row[:6]: row[6] for row in await tx.all(f"SELECT {key}, SUM(quantity) FROM leg GROUP BY {key}")}
    balances = {row[:6]: row[6] for row in await tx.all(f"SELECT {key}, quantity FROM balance")}
    assert {spot: sum_ for spot, sum_ in sums.items() if sum_} == {
        spot: have for spot, have in balances.items() if have
    }
    held: defaultdict[tuple[Any, ...], int] = defaultdict(int)
    hand: defaultdict[tuple[Any, ...], int] = defaultdict(int)
    placed: defaultdict[tuple[Any, ...], int] = defaultdict(int)
    for (store, _, place, pool, order, line), quantity in balances.items():
        if order:
            assert quantity > 0, "held goods are never negative"
            held[(store, order, line)] += quantity
            if place:
                placed[(store, order, line)] += quantity
            else:
                hand[(store, order, line, pool)] += quantity
    taken: defaultdict[tuple[Any, ...], int] = defaultdict(int)
    put_down: defaultdict[tuple[Any, ...], int] = defaultdict(int)
    for store, order, line, place, pool, quantity in await tx.all(
        "SELECT store_number, order_number, line_number, held_location, held_pool, quantity FROM line_origin"
    ):
        assert quantity > 0
        if place:
            put_down[(store, order, line)] += quantity
        else:
            taken[(store, order, line, pool)] += quantity
    assert taken == hand, "the origins of goods in hand are all known"
    assert put_down == placed, "and of those that were put down"
    await _assert_lines(tx, held, placed)
    await _assert_log(tx, balances)


async def _assert_log(tx: Transaction, balances: dict[tuple[Any, ...], int]) -> None:
    """The log's quantities sum up to the stock of every product at every place, and at none; where stock is kept."""
    keeps = {
        (row[0], row[1])
        for row in await tx.all(
            """SELECT s.store_number, p.product_number FROM product p JOIN store s ON true WHERE p.is_stock <> 0"""
        )
    }
    logged: defaultdict[tuple[Any, ...], Decimal] = defaultdict(Decimal)
    for store, product, item in await tx.all("SELECT store_number, product_number, item FROM stock_log"):
        entry = json.loads(item, parse_float=Decimal)
        if (store, product) in keeps:
            logged[(store, product, entry.get("location_code", ""))] += Decimal(entry.get("quantity", 0)) * 1000
    stock: defaultdict[tuple[Any, ...], int] = defaultdict(int)
    for spot, quantity in balances.items():
        stock[spot[:3]] += quantity
    assert _filled(logged) == _filled(stock), "the sum of the log is the stock"


def _filled(stock: Mapping[tuple[Any, ...], Any]) -> dict[tuple[Any, ...], Any]:
    return {spot: quantity for spot, quantity in stock.items() if quantity}


async def _assert_lines(tx: Transaction, held: dict[tuple[Any, ...], int], placed: dict[tuple[Any, ...], int]) -> None:
    rows = await tx.all(
        """SELECT ol.store_number, ol.order_number, ol.line_number, ol.quantity, ol.picked, ol.moved, ol.is_picked,
            ol.is_open, ol.from_warehouse, o.is_active, o.is_rejected, p.is_stock
        FROM order_line ol
        JOIN customer_order o ON o.store_number = ol.store_number AND o.order_number = ol.order_number
        JOIN product p ON p.product_number = ol.product_number"""
    )
    for store, order, line, quantity, picked, moved, closed, is_open, warehouse, active, rejected, is_stock in rows:
        key = (store, order, line)
        assert 0 <= picked <= quantity
        assert closed or picked < quantity
        assert is_open == (active and not rejected)
        if not active or rejected:
            assert held.get(key, 0) == 0
        elif is_stock and not warehouse:
            assert held.get(key, 0) == picked
        if active:
            assert moved == placed.get(key, 0)
