"""The catalogue, the stores of the chain, and all that one store has, sent through the interface from a seed."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Any

import httpx

from tests.bench.generated_store import Product
from tests.service.world import API, LOGS

_ROWS = 1000


def store_number(number: int) -> str:
    """What the n-th store, from 1, is called."""
    return f"T{number:05d}"


FIRST = store_number(1)


async def founded(client: httpx.AsyncClient, goods: Sequence[Product], stores: int) -> None:
    """So many stores, with nothing in them, and the catalogue."""
    send = _Sender(client)
    await send("/stores", "stores", [_store(number) for number in range(1, stores + 1)])
    await send("/products", "products", [_product(one) for one in goods])


async def ranged(client: httpx.AsyncClient, goods: Sequence[Product], seed: int) -> None:
    """The first store's places and products, of which it has counted every other one."""
    chance = random.Random(seed)
    send = _Sender(client)
    places = sorted({one.place for one in goods})
    rows = [{"store_number": FIRST, "location_code": code, "location_order": n} for n, code in enumerate(places)]
    await send("/aisle/v1/locations", "locations", rows)
    await send(f"/stores/{FIRST}/storeproducts", "store_products", [{"product_number": one.number} for one in goods])
    await _count(send, goods[::2], chance)


async def _count(send: _Sender, goods: Sequence[Product], chance: random.Random) -> None:
    counts = [
        {"product_number": one.number, "location_code": one.place, "stock_pool_1": chance.randint(50, 500)}
        for one in goods
    ]
    await send(LOGS.replace("S1", FIRST) + "?is_counted_quantity=true", "storeproductlog", counts)


async def filled(client: httpx.AsyncClient, goods: Sequence[Product], orders: int, seed: int) -> None:
    """The first store, with everything a store has.

    Stock that is counted once more, orders of which some are picked, and a quarter as many deliveries, all of which
    came in part.
    """
    chance = random.Random(seed)
    send = _Sender(client)
    await _count(send, goods, chance)
    made = [_order(number, chance.sample(goods, 3), chance) for number in range(orders)]
    await send(f"/stores/{FIRST}/orders/customerorders", "orders", made)
    coming = [_delivery(number, chance.sample(goods, 5)) for number in range(max(1, orders // 4))]
    await send(f"/stores/{FIRST}/orders/deliveries", "orders", coming)
    received = [
        {"product_number": line["product_number"], "quantity": 2, "reference": one["order_number"]}
        for one in coming
        for line in one["order_lines"]
    ]
    await send(LOGS.replace("S1", FIRST) + "?is_from_receipt=true", "storeproductlog", received)


class _Sender:
    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def __call__(self, path: str, name: str, rows: Sequence[dict[str, Any]]) -> None:
        for start in range(0, len(rows), _ROWS):
            url = path if path.startswith("/aisle") else API + path
            answer = await self._client.post(url, json={name: rows[start : start + _ROWS]})
            assert answer.status_code == 200, answer.text


def _store(number: int) -> dict[str, Any]:
    head = {"store_number": store_number(number), "store_name": f"Store {number}", "area_id": f"A{number // 20}"}
    return head | {"is_warehouse": False, "is_active": True, "is_active_data_exchange": True}


def _product(one: Product) -> dict[str, Any]:
    return {"product_number": one.number, "product_name": one.name, "barcode": one.barcode, "category_code": "food"}


def _order(number: int, goods: Iterable[Product], chance: random.Random) -> dict[str, Any]:
    lines = [
        {"line_number": n, "product_number": one.number, "quantity": 3, "picked_quantity": chance.choice((0, 0, 2, 3))}
        for n, one in enumerate(goods, 1)
    ]
    return {"order_number": f"O{number:06d}", "reference": f"R{number:06d}", "order_lines": lines}


def _delivery(number: int, goods: Iterable[Product]) -> dict[str, Any]:
    lines = [{"product_number": one.number, "quantity": 12} for one in goods]
    head = {"order_number": f"D{number:06d}", "no_of_containers": 1, "order_type": 1, "supplier_name": "Supplier"}
    return head | {"order_lines": lines}
