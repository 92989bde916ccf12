"""Whatever a store does, in whatever order and however late it is heard of: the books stay in order.

Σ stock = start + Σ differences of counts + changes + receipts − finished + absorbed legs; movements and picks change no
sum. The sum of the log's quantities is the stock of each product at each place and at none (`assert_books`), also
after what is old was purged.
"""

import asyncio
import tempfile
from collections.abc import Coroutine
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest.mock import patch

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from aisle.service import retention
from aisle.service.db.database_interface import Transaction
from aisle.service.db.postgres_database import PostgresDatabase
from aisle.service.domain.quantities_times_and_json import format_timestamp
from aisle.service.retention import MIN_AGE_DAYS, purge
from tests.run_length import tries
from tests.service import postgres
from tests.service.world import LOGS, World, assert_books, line_end

REJECTIONS = "/aisle/v1/stores/S1/line-rejections"
PLACES = st.sampled_from([None, "A1", "A2", "BACK", "DESK"])
POOLS = st.integers(1, 2)
PRODUCTS = st.sampled_from(["P1", "KG"])
CHANGES = [{"is_rejected": True}, {"is_rejected": False}, {"is_active": False}, {"is_picked": True}]
INDEX = st.integers(0, 20)
AMOUNTS = st.integers(0, 6)
DAY = 86400.0
LATENESS = st.sampled_from([0, 0, 0, 5, 50])


class Books(RuleBasedStateMachine):
    """Requests in any order. A refusal is an answer like any other: it only must change nothing."""

    def __init__(self, url: str = "", storage: PostgresDatabase | None = None) -> None:
        """Over a SQLite file of its own, or over a PostgreSQL storage that is emptied first."""
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.loop = asyncio.new_event_loop()
        if storage:
            postgres.emptied(storage)
        self.world = World(url, storage) if storage else World(Path(self.folder.name))
        self.lines: list[tuple[str, int, str]] = []

    def teardown(self) -> None:
        try:
            self.run(self.world.close())
        finally:
            self.loop.close()
            self.folder.cleanup()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run_until_complete(work)

    def send(self, method: str, path: str, body: Any, late: int = 0, **query: Any) -> dict[str, Any]:
        """A request whose refusal leaves the books as they were."""
        self.world.now += 10
        headers = {"Aisle-Occurred-At": format_timestamp(self.world.now - late)}
        before = self.world.books()
        answer = self.run(self.world.send(method, path, body, headers=headers, query=query))
        assert answer.status_code in (200, 409, 422), answer.text
        if answer.status_code != 200:
            assert self.world.books() == before
        return answer.json()  # type: ignore[no-any-return]

    @initialize()
    def fill(self) -> None:
        self.run(self.world.fill())
        for product in ("P1", "KG"):
            for place, pools in (
                ("A1", {"stock_pool_1": 6}),
                ("BACK", {"stock_pool_2": 5}),
                (None, {"stock_pool_1": 2}),
            ):
                self.run(self.world.count(product, place, **pools))
            self.create(product, [4, 3], False)

    @rule(product=PRODUCTS, quantities=st.lists(st.integers(1, 5), min_size=1, max_size=2), warehouse=st.booleans())
    def create(self, product: str, quantities: list[int], warehouse: bool) -> None:
        number = f"O{len(self.lines)}"
        lines = [
            {
                "line_number": n,
                "product_number": product,
                "quantity": quantity,
                "picking_stock_pool_array": ["2"],
                "is_picked_from_warehouse": warehouse,
            }
            for n, quantity in enumerate(quantities, 1)
        ]
        body = {"orders": [{"order_number": number, "order_lines": lines}]}
        self.send("POST", "/stores/S1/orders/customerorders", body)
        self.lines += [(number, line, product) for line in range(1, len(quantities) + 1)]

    @rule(index=INDEX, picked=AMOUNTS, place=PLACES, late=LATENESS)
    def pick(self, index: int, picked: int, place: str | None, late: int) -> None:
        order, line, product = self.lines[index % len(self.lines)]
        said: dict[str, Any] = {"line_number": line, "product_number": product, "picked_quantity": picked}
        said |= {"preferred_location_code": place} if place else {}
        body = {"orders": {"order_number": order, "order_lines": [said]}}
        self.send("PUT", "/stores/S1/orders/customerorder", body, late)

    @rule(index=INDEX, rejected=st.booleans(), late=LATENESS)
    def reject_line(self, index: int, rejected: bool, late: int) -> None:
        order, line, _ = self.lines[index % len(self.lines)]
        said = {"line_number": line, "is_rejected": rejected, "rejection_reason_code": "1"}
        self.send("POST", REJECTIONS, {"order_number": order, "lines": [said]}, late)

    @rule(
        index=INDEX,
        change=st.sampled_from(
            [{"is_rejected": True}, {"is_rejected": False}, {"is_active": False}, {"is_picked": True}]
        ),
        late=LATENESS,
    )
    def change_order(self, index: int, change: dict[str, bool], late: int) -> None:
        order, _, _ = self.lines[index % len(self.lines)]
        self.send("PUT", "/stores/S1/orders/customerorder", {"orders": {"order_number": order, **change}}, late)

    @rule(product=PRODUCTS, place=PLACES, pool=POOLS, counted=AMOUNTS, late=LATENESS)
    def count(self, product: str, place: str | None, pool: int, counted: int, late: int) -> None:
        entry: dict[str, Any] = {"product_number": product, f"stock_pool_{pool}": counted}
        entry |= {"location_code": place} if place else {}
        self.send("POST", LOGS, {"storeproductlog": [entry]}, late, is_counted_quantity=True)
        if late == 0:
            there = sum(
                have
                for key, have in self.world.books().items()
                if key[0] == product and key[2] == pool and (place is None or key[1] == place)
            )
            assert there == counted

    @rule(product=PRODUCTS, place=PLACES, pool=POOLS, change=st.integers(-3, 3), receipt=st.booleans(), late=LATENESS)
    def change_stock(self, product: str, place: str | None, pool: int, change: int, receipt: bool, late: int) -> None:
        entry: dict[str, Any] = {"product_number": product, f"stock_pool_{pool}": change}
        entry |= {"location_code": place} if place else {}
        self.send("POST", LOGS, {"storeproductlog": [entry]}, late, is_from_receipt=receipt)

    @rule(
        index=INDEX,
        place=PLACES,
        pool=POOLS,
        quantity=st.integers(-2, 4),
        how=st.sampled_from(["is_counted_quantity", "is_from_receipt", "appUserName"]),
        late=LATENESS,
    )
    def change_held(self, index: int, place: str | None, pool: int, quantity: int, how: str, late: int) -> None:
        order, line, product = self.lines[index % len(self.lines)]
        entry: dict[str, Any] = {"product_number": product, f"stock_pool_{pool}": quantity}
        entry |= {"customer_order_number": order, "customer_order_line_number": line}
        entry |= {"location_code": place} if place else {}
        self.send("POST", LOGS, {"storeproductlog": [entry]}, late, **{how: True})

    @rule(
        product=PRODUCTS,
        quantity=st.integers(1, 4),
        places=st.tuples(PLACES, PLACES),
        index=INDEX,
        lines=st.sampled_from([(False, False), (False, True), (False, True), (True, False), (True, True)]),
        pools=st.tuples(st.none() | POOLS, st.none() | POOLS),
        overage=st.booleans(),
        late=LATENESS,
        under_way=LATENESS,
    )
    def move(
        self,
        product: str,
        quantity: int,
        places: Any,
        index: int,
        lines: tuple[bool, bool],
        pools: Any,
        overage: bool,
        late: int,
        under_way: int,
    ) -> None:
        order, line, of = self.lines[index % len(self.lines)]
        product = of if any(lines) else product
        ends = []
        for place, held, pool in zip(places, lines, pools, strict=True):
            end = line_end(order, line) if held else {}
            end |= {"location_code": place} if place else {}
            ends.append(end | ({"stock_pool": pool} if pool else {}))
        item = {"product_number": product, "quantity": quantity, "allow_overage": overage}
        item |= {"from_location": ends[0], "to_location": ends[1]}
        item |= {"taken_datetime": format_timestamp(self.world.now - late - under_way)} if under_way else {}
        before = self.total(product)
        self.send("POST", "/stores/S1/storeproductlocation/movement", [item], late)
        if late == 0 and under_way == 0:
            assert self.total(product) == before

    @rule(days=st.sampled_from([30, 90, MIN_AGE_DAYS + 1]))
    def purge(self, days: int) -> None:
        before, until = self.world.books(), (self.world.now - MIN_AGE_DAYS * DAY, self.world.now)
        with patch.object(retention, "_ROWS_PER_BATCH", 7):
            self.run(purge(self.world.service.database, *until))
        assert self.world.books() == before
        self.world.now += days * DAY

    def total(self, product: str) -> Any:
        return sum(have for key, have in self.world.books().items() if key[0] == product)

    @invariant()
    def in_order(self) -> None:
        assert_books(self.world.service)

    @invariant()
    def conserved(self) -> None:
        for product in ("P1", "KG"):
            assert self.total(product) * 1000 == self.world.service.database.read_now(
                lambda tx, product=product: _told(tx, product)  # type: ignore[misc]
            )


async def _told(tx: Transaction, product: str) -> int:
    """What the legs that may change a sum add up to; picks, moves and releases must not be among them."""
    rows = await tx.all("SELECT kind, SUM(quantity) FROM leg WHERE product_number = $1 GROUP BY kind", product)
    kinds: dict[str, int] = dict(rows)
    assert not any(kinds.get(kind) for kind in ("pick", "unpick", "move", "release"))
    assert kinds.get("finish", 0) <= 0
    return sum(kinds.get(kind, 0) for kind in ("count", "change", "receipt", "finish", "absorbed", "opening"))


def _run(machine: type[Books], few: int, many: int) -> None:
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large]
    bounds = settings(
        max_examples=tries(few, many), stateful_step_count=30, deadline=None, suppress_health_check=checks
    )
    run_state_machine_as_test(machine, settings=bounds)


def test_stock_is_conserved_and_logged_on_sqlite() -> None:
    _run(Books, 4, 40)


def test_stock_is_conserved_and_logged_on_postgres(server: postgres.Server) -> None:
    url = server.fresh()
    with closing(PostgresDatabase(url, timeout_s=60)) as storage:

        class OnPostgres(Books):
            def __init__(self) -> None:
                super().__init__(url, storage)

        _run(OnPostgres, 2, 40)
