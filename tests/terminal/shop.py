"""A store for tests of the whole program: its service, asked in this process, and its doors, run as people run them."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple, Self

import apsw

from aisle.client import Client, Outcome, Response, outcome_of
from aisle.client.transport import asgi_transport
from aisle.contract.operations import OPERATIONS
from aisle.host.store_and_database_folders import StoreFolder
from aisle.service.open_service_and_admin_token import open_service
from aisle.settings.setting_definitions import EMBEDDED
from tests.service.world import assert_books
from tests.terminal.harness import python
from tests.terminal.lifeline import foreign_names

STORE = "0001"
"""The demo store."""

Row = dict[str, Any]

_SUMS = "SELECT product_number, sum(quantity) FROM {table} WHERE store_number = ? GROUP BY 1 ORDER BY 1"


class Line(NamedTuple):
    """One line of an order as a picker meets it."""

    number: int
    product: str
    code: str
    """What is scanned: the barcode, or the product number where there is none."""
    name: str
    quantity: int
    picked: Decimal
    moved: Decimal
    is_picked: bool
    place: str


class Shop:
    """The service over one database, asked by the client in this process, whoever else has the database open."""

    def __init__(self, database: Path, store: str = STORE) -> None:
        self.database = database
        self.store = store
        self._service = open_service(database)
        self._token = self._service.ensure_admin_token(database.with_name("token"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the database; before that, its books have to be in order."""
        try:
            assert_books(self._service)
        finally:
            self._service.close()

    def ask(self, operation: str, body: object = None, **query: Any) -> Any:
        """The answer of one operation that has to succeed; `store_number` is this store's where the path has it."""
        op = OPERATIONS[operation]
        path = {"store_number": self.store} if "{store_number}" in op.path else {}
        content = None if body is None else json.dumps(body).encode()
        headers = {"Idempotency-Key": f'"{os.urandom(8).hex()}"'} if op.write else {}
        answer = self._run(
            lambda client: client.request(operation, path=path, query=query, headers=headers, body=content)
        )
        assert outcome_of(answer) is Outcome.ACCEPTED, answer.content
        return answer.json()

    def extend(self, path: str, body: object) -> None:
        """One write below /aisle/v1/ that has to succeed."""
        answer = self._run(lambda client: client.request_extension("POST", f"/aisle/v1/{path}", body=body))
        assert outcome_of(answer) is Outcome.ACCEPTED, answer.content

    def _run(self, call: Callable[[Client], Any]) -> Response:
        async def run() -> Response:
            transport = asgi_transport(self._service.app)
            async with Client("http://localhost", self._token, transport=transport) as client:
                answer: Response = await call(client)
                return answer

        return asyncio.run(run())

    # Orders

    def order(self, number: str) -> Row:
        """An order with its lines, active or not."""
        query = {"order_number": number, "show_lines": True, "include_locations": True, "is_active": False}
        (row,) = self.ask("list-customer-orders", **query)["list"]
        assert isinstance(row, dict)
        return row

    def lines(self, number: str) -> list[Line]:
        """The lines of an order in the order of the walk."""
        rows = sorted(self.order(number)["lines"], key=lambda row: row.get("store_walking_order") or 0)
        return [_line(row) for row in rows]

    def picked(self, number: str) -> dict[int, Decimal]:
        """What each line of an order stands at."""
        return {line.number: line.picked for line in self.lines(number)}

    def is_picked(self, number: str) -> bool:
        """Whether the service counts the whole order as picked."""
        return bool(self.order(number)["is_picked"])

    def add_order(self, number: str, lines: Iterable[tuple[str, int]], **head: Any) -> None:
        """An open order of (product number, quantity) pairs; it is the first of the list, for it is long overdue."""
        overdue = {"stock_pool": 1, "pickup_date": "2020-01-01"}
        numbered = [
            {"line_number": line, "product_number": product, "quantity": quantity, **overdue}
            for line, (product, quantity) in enumerate(lines, 1)
        ]
        order = {"order_number": number, "order_lines": numbered, **head}
        self.ask("create-customer-orders-one-store", {"orders": [order]})

    def add_product(self, number: str, name: str, barcode: str = "", place: str = "", **fields: Any) -> None:
        """A product of the store; with a place it lies there, a thousand of it."""
        self.ask(
            "create-or-update-products",
            {"products": [{"product_number": number, "product_name": name, "barcode": barcode, **fields}]},
        )
        self.ask("create-store-products", {"store_products": [{"product_number": number}]})
        if place:
            count = {"product_number": number, "location_code": place, "stock_pool_1": 1000, "source": "test"}
            self.ask("create-store-product-logs", {"storeproductlog": [count]}, is_counted_quantity=True)

    def goods(self, count: int) -> list[Row]:
        """So many products of the demo store, each with a barcode and ten pieces or more at one place of its own."""
        found: dict[str, Row] = {}
        query = {"store_number": self.store, "include_locations": True, "page_size": 500}
        for row in self.ask("list-store-products-stock", **query)["list"]:
            places = row["store_locations"]
            if row["barcode"] and len(places) == 1 and places[0]["quantity"] >= 10 and not places[0]["quantity"] % 1:
                found.setdefault(places[0]["store_location_code"], row)
        assert len(found) >= count
        return list(found.values())[:count]

    # The books

    def balances(self) -> dict[str, Decimal]:
        """What the store has of each product; fails where the legs of its ledger do not add up to that."""
        with closing(apsw.Connection(str(self.database), flags=apsw.SQLITE_OPEN_READONLY)) as database:
            tables: list[list[Any]] = [
                database.execute(_SUMS.format(table=table), (self.store,)).fetchall() for table in ("balance", "leg")
            ]
        assert tables[0] == tables[1]
        assert tables[0]
        return {product: Decimal(quantity) / 1000 for product, quantity in tables[0]}

    def keys(self) -> dict[str, int]:
        """The keys of all writes that the service has carried out, and how it answered them."""
        with closing(apsw.Connection(str(self.database), flags=apsw.SQLITE_OPEN_READONLY)) as database:
            rows: list[Any] = database.execute("SELECT request_key, status FROM idempotency").fetchall()
        return dict(rows)


def _line(row: Row) -> Line:
    return Line(
        number=row["line_number"],
        product=row["product_number"],
        code=row.get("barcode") or row["product_number"],
        name=row.get("description") or row["product_number"],
        quantity=int(row["quantity"]),
        picked=Decimal(str(row["picked_quantity"])),
        moved=Decimal(str(row["moved_quantity"])),
        is_picked=row["is_picked"],
        place=row.get("stock_location") or "",
    )


def on_this_host(home: Path, sql: str, url: str = EMBEDDED, store: str = STORE) -> list[Any]:
    """Rows of the outbox.db in which this host keeps its work in a store: what was scanned, what is to be sent."""
    database = StoreFolder(home, url, store).outbox
    with closing(apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)) as opened:
        return opened.execute(sql).fetchall()


def door(*arguments: str, env: Mapping[str, str] | None = None) -> str:
    """Runs `aisle` with these arguments; what it printed. Fails with what it said when it did not succeed."""
    environ = dict(os.environ if env is None else env)
    lifeline = [int(environ[name]) for name in ("AISLE_LIFELINE_FD",) if name in environ]
    done = subprocess.run(
        python("-m", "aisle", *arguments), env=environ, pass_fds=lifeline, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def made_once(home: Path, *arguments: Sequence[str]) -> Path:
    """A home that these doors have made, each with its arguments, outside of any test: to be copied by `settle`."""
    home.mkdir(mode=0o700, parents=True)
    clean = {name: value for name, value in os.environ.items() if name not in foreign_names()}
    for each in arguments:
        door(*each, env={**clean, "AISLE_HOME": str(home), "AISLE_ALLOW_VOLATILE": "1"})
    return home


def settle(template: Path, home: Path) -> None:
    """Makes a test's empty home a copy of one that nobody works in."""
    shutil.copytree(template, home, dirs_exist_ok=True)
