"""How many rows a list says it has is how many it has, whatever came and went; also where counters say it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.service.world import LOCATIONS, PRODUCTS, World

STOCK = "/storeproducts/stock"


async def counted(world: World, path: str, **query: Any) -> int:
    """How many rows a list has, read to its end in pages of two; each page says the same."""
    number, rows = 1, 0
    page_start = "page_number" if path == "/products" else "page_start"
    while True:
        body = await world.get(path, **query, page_size=2, **{page_start: number})
        total = body.get("total_count", body.get("total_record_count"))
        found = len(body.get("list", body.get("records", ())))
        rows, number = rows + found, number + 1
        if not found:
            assert total == rows, f"{path} {query}"
            return rows


async def test_totals_follow_what_comes_and_goes(world: World) -> None:
    async def totals() -> list[int]:
        return [
            await counted(world, "/products"),
            await counted(world, "/products", store_number="S1"),
            await counted(world, STOCK, store_number="S1"),
            await counted(world, "/stores/S1/locations"),
        ]

    assert await totals() == [5, 0, 0, 5]
    await world.post("/stores/S1/storeproducts", {"store_products": [{"product_number": "P1"}]})
    more = [{"product_number": number, "product_name": "More"} for number in ("N1", "N2", "P1")]
    await world.post("/products", {"products": more})
    await world.post("/products", {"products": more})
    assert await totals() == [7, 1, 1, 5]
    await world.send("DELETE", "/products", {"product_numbers": ["N1", "P1", "nothing"]})
    assert await totals() == [5, 0, 0, 5]
    await world.post("/products", {"products": more})
    await world.put("/products/attributes", {"products": [{"product_number": "N2", "color": "red"}]})
    await world.post(
        "/aisle/v1/locations", {"locations": [{"store_number": "S1", "location_code": "NEW"}, LOCATIONS[0]]}
    )
    assert await totals() == [7, 0, 0, 6]


@pytest.mark.parametrize("gone", [False, True])
async def test_totals_from_an_id_to_another(world: World, gone: bool) -> None:
    numbers = [product["product_number"] for product in PRODUCTS]
    for store in ("S1", "S2"):
        body = {"store_products": [{"product_number": number} for number in numbers]}
        await world.post(f"/stores/{store}/storeproducts", body)
    if gone:
        await world.send("DELETE", "/products", {"product_numbers": numbers[1:2]})
    for store in ("S1", "S2"):
        ids = [row["id"] for row in await world.rows(STOCK, store_number=store)]
        every = sorted([*ids, *(each + step for each in ids for step in (-1, 1))])
        for low in every:
            assert await counted(world, STOCK, store_number=store, from_id=low) == sum(each >= low for each in ids)
            assert await counted(world, STOCK, store_number=store, to_id=low) == sum(each <= low for each in ids)
        between = await counted(world, STOCK, store_number=store, from_id=ids[1], to_id=ids[-2])
        assert between == len(ids) - 2


async def test_a_store_that_was_removed_and_is_back_has_none_of_its_places(world: World) -> None:
    kind = {"is_warehouse": False, "is_active": True, "is_active_data_exchange": True}
    *others, ninth = ({"store_number": each, "store_name": each, **kind} for each in ("S1", "S2", "S3", "W", "S9"))
    await world.post("/stores", {"stores": [ninth]})
    await world.post("/aisle/v1/locations", {"locations": [{"store_number": "S9", "location_code": "A"}]})
    assert await counted(world, "/stores/S9/locations") == 1
    await world.post("/stores", {"stores": others}, query={"flush": True})
    await world.post("/stores", {"stores": [ninth]})
    assert await counted(world, "/stores/S9/locations") == 0
    await world.post("/aisle/v1/locations", {"locations": [{"store_number": "S9", "location_code": "B"}]})
    assert await counted(world, "/stores/S9/locations") == 1
