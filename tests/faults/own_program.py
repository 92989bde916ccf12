"""The fault program at our own service: a life of a shop (see `store_run`), and what was said against the ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from random import Random

from aisle.courier.pull.read_timetable import PullIntervals
from aisle.outbox.operation_record import REFUSED, Operation
from aisle.outbox.outcomes_and_reversals import as_left
from aisle.service.db.database_interface import Transaction
from tests.courier.writes import STORE
from tests.faults.goods import CODES, GOODS, SHELVES
from tests.faults.random_faults import Weather
from tests.faults.store_run import Life, Lines, unhurried
from tests.faults.tally import Tally
from tests.faults.world import World, world

LOOKS_S = (10.0, 60.0, 300.0)
"""How often couriers look what has changed; the seed chooses."""


class Program(Life):
    """One life of a shop at our own service."""

    shop: World

    def __init__(self, shop: World, weather: Weather) -> None:
        super().__init__(shop, weather, {**CODES, **GOODS})

    @property
    def crashes(self) -> int:
        """See Life."""
        return self.shop.storage.crashes

    async def prepare(self) -> None:
        """More goods, another host, three people."""
        shop = self.shop
        async with shop.integrator() as client:
            products = [
                {"product_number": number, "product_name": f"Product {number}", "barcode": code, "price": 2}
                for number, code in GOODS.items()
            ]
            await client.call("create-or-update-products", {"products": products})
            counts = [
                {"product_number": number, "location_code": place, "stock_pool_1": 30}
                for number in GOODS
                for place in SHELVES
            ]
            await client.call(
                "create-store-product-logs", {"storeproductlog": counts}, store_number=STORE, is_counted_quantity=True
            )
        await self.people()

    async def create_orders(self, orders: Mapping[str, Lines]) -> None:
        """See Life."""
        async with self.shop.integrator() as client:
            await self.shop.create_orders(client, orders)

    async def quiet(self) -> None:
        """See Life."""
        await self.shop.quiet()

    def check(self) -> None:
        """See Life."""
        self.shop.check()
        operations = [op for host in self.shop.hosts for op in host.operations()]
        refused = [as_left(op) for op in operations if op.state == REFUSED]
        self._check_picks(refused)
        moves = {op.op_id for op in operations if op.operation == "create-movement" and _between_places(op)}
        changes = {op.op_id for op in operations if _is_change(op)}
        legs = self.shop.storage.read_now(_legs)
        for ids, said, unsaid in ((moves, self.said.moved, _moved), (changes, self.said.lost, _lost)):
            booked: Counter[tuple[str, str]] = Counter()
            for op_id in ids & legs.keys():
                booked.update(legs[op_id])
            for op in refused:
                booked.update(unsaid(op) if op.op_id in ids else {})
            assert _plain(booked) == _plain(said), _differing(booked, said)

    def _check_picks(self, refused: list[Operation]) -> None:
        booked = self.shop.storage.read_now(_picked)
        for op in refused:
            for line in op.body["orders"].get("order_lines", ()) if op.operation == "update-customer-order" else ():
                share = Decimal(line["picked_quantity"]) - Decimal(line["base_picked_quantity"])
                booked[op.body["orders"]["order_number"], line["product_number"]] += int(share)
        assert _plain(booked) == _plain(self.said.picked), _differing(booked, self.said.picked)


def _plain(counts: Counter[tuple[str, str]]) -> dict[tuple[str, str], int]:
    return {key: count for key, count in counts.items() if count}


def _differing(booked: Counter[tuple[str, str]], said: Counter[tuple[str, str]]) -> str:
    keys = [key for key in {**booked, **said} if booked[key] != said[key]]
    return "; ".join(f"{key}: said {said[key]}, booked {booked[key]}" for key in keys[:5])


def _between_places(op: Operation) -> bool:
    return not any(
        "customer_order_number" in (item.get(end) or {}) for item in op.body for end in ("from_location", "to_location")
    )


def _is_change(op: Operation) -> bool:
    return op.operation == "create-store-product-logs" and not op.query.get("is_counted_quantity")


def _moved(op: Operation) -> Counter[tuple[str, str]]:
    """What a refused movement would have done."""
    shifts: Counter[tuple[str, str]] = Counter()
    for item in op.body:
        shifts[item["product_number"], item["from_location"]["location_code"]] -= int(item["quantity"])
        shifts[item["product_number"], item["to_location"]["location_code"]] += int(item["quantity"])
    return shifts


_QUANTITIES = ("quantity", *(f"stock_pool_{n}" for n in range(1, 11)))


def _lost(op: Operation) -> Counter[tuple[str, str]]:
    """What a refused entry would have done."""
    shifts: Counter[tuple[str, str]] = Counter()
    for entry in op.body["storeproductlog"]:
        quantity = next(entry[name] for name in _QUANTITIES if name in entry)
        shifts[entry["product_number"], entry.get("location_code", "")] += int(quantity)
    return shifts


async def _legs(tx: Transaction) -> dict[str, Counter[tuple[str, str]]]:
    """By operation: product and place to what came there."""
    found: dict[str, Counter[tuple[str, str]]] = {}
    rows = await tx.all(
        "SELECT op_id, product_number, location_code, SUM(quantity) FROM leg"
        " WHERE kind IN ('move', 'change') GROUP BY 1, 2, 3"
    )
    for op_id, product, place, quantity in rows:
        found.setdefault(op_id, Counter())[product, place] = quantity // 1000
    return found


async def _picked(tx: Transaction) -> Counter[tuple[str, str]]:
    rows = await tx.all("SELECT order_number, product_number, SUM(picked) FROM order_line GROUP BY 1, 2")
    return Counter({(order, product): picked // 1000 for order, product, picked in rows if picked})


async def life(folder: Path, seed: int, faults: int, weather: Callable[[Random], Weather] = Weather) -> Tally:
    """One life of a shop with so many faults, at our own service. Raises AssertionError."""
    with unhurried():
        async with world(folder, seed=seed) as shop:
            shop.pace = PullIntervals(changes=shop.random.choice(LOOKS_S))
            await shop.host.stop()
            await shop.host.start()
            program = Program(shop, weather(shop.random))
            await program.prepare()
            return await program.live(faults)
