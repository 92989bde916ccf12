"""Lists over the chain by a token of a few stores: every page is what it is in the list of all, without the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from aisle.service.db.list_query_builder import Query
from aisle.service.handlers import list_page, log_list
from tests.service.world import LOGS, World

LISTED = "/products/stock/storeproductlogs"
MINE = ["S1", "S2"]


async def uneven(world: World) -> None:
    """Entries, goods and receipts of three stores, of which the token's two have many and few."""
    for store, count in (("S1", 23), ("S2", 2), ("S3", 12)):
        path = LOGS.replace("S1", store)
        lines = [{"product_number": f"P{1 + n % 2}", "quantity": n % 3 - 1} for n in range(count)]
        await world.post(path, {"storeproductlog": lines})
        for n in range(max(1, count // 3)):
            line = {"product_number": "P1", "quantity": 1}
            head = {"order_number": f"D{n}", "no_of_containers": 1, "order_type": 1 + n % 2}
            await world.post(f"/stores/{store}/orders/deliveries", {"orders": [head | {"order_lines": [line]}]})
            entry = {"product_number": "P1", "quantity": 1, "reference": f"D{n}"}
            await world.post(path, {"storeproductlog": [entry]}, query={"is_from_receipt": True})


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/storeproducts/stock", {}),
        ("/storeproducts/stock", {"search_text": "musli"}),
        (LISTED, {}),
        (LISTED, {"article_number": "P2"}),
        ("/orders/deliveries", {}),
        ("/orders/receipts", {"receipt_type": 1}),
    ],
)
@pytest.mark.parametrize("handful", [list_page.MAX_MERGED_STORES, 0])
async def test_every_page_of_a_few_stores_is_right(
    world: World, monkeypatch: Any, path: str, query: dict[str, Any], handful: int
) -> None:
    monkeypatch.setattr(list_page, "MAX_MERGED_STORES", handful)
    await uneven(world)
    client = world.client_for("staff", MINE)

    async def page(**more: Any) -> list[tuple[str, int]]:
        answer = await world.send("GET", path, query=query | more, client=client)
        assert answer.status_code == 200, answer.text
        return [_key(row) for row in answer.json()["list"]]

    whole = [_key(row) for row in await world.rows(path, page_size=1000, **query) if row["store_number"] in MINE]
    assert {key[0] for key in whole} == set(MINE)
    assert await page(page_size=1000) == whole
    for size in (1, 2, 5):
        for number in range(len(whole) // size + 2):
            assert await page(page_size=size, page_start=number + 1) == whole[number * size :][:size], (size, number)
    if path != "/orders/deliveries":
        for place, key in enumerate(whole):
            assert await page(page_size=3, from_id=key[1]) == whole[place:][:3]
            assert await page(page_size=2, page_start=2, from_id=key[1]) == whole[place:][2:4]
            assert await page(from_id=whole[0][1], to_id=key[1]) == whole[: place + 1]


async def test_changed_products_are_found_for_few_and_many(world: World, monkeypatch: Any) -> None:
    await uneven(world)
    world.now += 86400
    day = "2026-05-29"
    await world.post("/products", {"products": [{"product_number": "P1", "product_name": "New"}]})
    await world.put("/stores/S3/storeproducts", [{"product_number": "P2", "min": 1}])
    found = []
    for few_products in (50, 0):
        monkeypatch.setattr("aisle.service.handlers.stock_reads._MAX_NAMED_PRODUCTS", few_products)
        rows = await world.rows("/storeproducts/stock", last_modified_date=day)
        found.append([(row["store_number"], row["product_number"]) for row in rows])
        assert (await world.rows("/storeproducts/stock", last_modified_date=day, store_number="S3")) == [
            row for row in rows if row["store_number"] == "S3"
        ]
    assert found[0] == found[1]
    assert sorted(found[0]) == [("S1", "P1"), ("S2", "P1"), ("S3", "P1"), ("S3", "P2")]


async def test_goods_that_moved_are_found_by_day_and_by_moment(world: World) -> None:
    await uneven(world)
    world.now += 86400
    await world.log(product_number="P2", quantity=1)
    world.now += 60
    await world.log(product_number="P1", quantity=1)
    for since, count in {"2026-05-28": 3, "2026-05-29": 2, "2026-05-29T20:27:00Z": 1, "2026-05-30": 0}.items():
        rows = await world.rows("/storeproducts/stock", last_stock_modified_datetime=since)
        assert len([row for row in rows if row["store_number"] in MINE]) == count, since


def _key(row: dict[str, Any]) -> tuple[str, int]:
    return row["store_number"], int(row["import_id"] if "import_id" in row else row["id"])


@pytest.mark.parametrize(
    ("handful", "bounds"),
    [
        # Side by side there are bounds only where the numbers cannot be before the page.
        (list_page.MAX_MERGED_STORES, [(None, None, None), (4, None, (5, 1))]),
        # Of the second page also the entry before it is known.
        (0, [(0, 3, None), (4, 7, (5, 1))]),
    ],
)
async def test_each_store_reads_only_rows_of_the_page(
    world: World, monkeypatch: Any, handful: int, bounds: list[tuple[object, ...]]
) -> None:
    monkeypatch.setattr(list_page, "MAX_MERGED_STORES", handful)
    await uneven(world)
    client = world.client_for("staff", ["S1", "S3"])
    read: list[tuple[object, ...]] = []
    whole = log_list._key_query

    def seen(months: Sequence[str], asked: Mapping[str, object], stores: Sequence[str] = ()) -> Query:
        read.append((*map(asked.get, ("beyond", "until", "after")),))
        assert list(stores) in ([], ["S1", "S3"])
        return whole(months, asked, stores)

    monkeypatch.setattr(log_list, "_key_query", seen)
    for number, expected in zip((1, 4), bounds, strict=True):
        await world.send("GET", LISTED, query={"page_size": 3, "page_start": number}, client=client)
        assert read[-1] == expected
