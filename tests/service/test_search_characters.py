"""Searches for signs alone: no words, so that they are looked for as they stand in names and numbers."""

from __future__ import annotations

from typing import Any

import pytest

from tests.service.world import World, store_body

SIGNS = ("%", "_", "\\", "%%", "*", " _ ", "😀")
NAME = {"%": ["N%"], "_": ["N_"], "\\": ["N\\"], "%%": [], "*": [], " _ ": ["N_"], "😀": ["N"]}


async def _fill(world: World) -> None:
    """One of everything, and one of it with each sign."""
    ends = ("%", "_", "\\", "")
    names = [f"N{end}" for end in ends]
    products = [{"product_number": one, "product_name": "Smile 😀" if one == "N" else one} for one in names]
    await world.post("/products", {"products": products})
    stores = [store_body(one, "😀" if one == "N" else one) for one in names]
    await world.post("/stores", {"stores": stores})
    places = [{"store_number": "S1", "location_code": "😀" if one == "N" else one} for one in names]
    await world.post("/aisle/v1/locations", {"locations": places})
    for one in names:
        await world.order(one, {"product_number": one, "quantity": 1}, reference="😀" if one == "N" else "R")
        await world.count(one, "A1", stock_pool_1=1)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize(
    ("path", "name", "query"),
    [
        ("/products", "product_number", {}),
        ("/storeproducts/stock", "product_number", {}),
        ("/storeproducts/stock", "product_number", {"store_number": "S1"}),
        ("/stores", "storeNo", {}),
        ("/stores/S1/locations", "location_code", {}),
        ("/stores/S1/locations/A1/products", "product_number", {}),
        ("/stores/S1/locations/A1/products", "product_number", {"advance_search": True}),
        ("/stores/S1/orders/customerorders", "order_number", {}),
    ],
)
async def test_a_sign_is_looked_for_as_it_is(
    world: World, path: str, name: str, query: dict[str, Any], sign: str
) -> None:
    await _fill(world)
    answer = await world.get(path, search_text=sign, **query)
    rows = answer.get("list", answer.get("records"))
    fits = ["😀"] if name == "location_code" and sign == "😀" else list(NAME[sign])
    if path == "/products" and sign == "%":
        fits.append("P1")  # its name has one
    assert [row[name] for row in rows] == fits
    assert answer.get("total_count", answer.get("total_record_count")) == len(fits)
    blank = await world.get(path, search_text="  ", **query)
    assert len(blank.get("list", blank.get("records"))) > 3, "a blank is no search"


async def test_no_supplier_is_called_by_a_sign(world: World) -> None:
    body = {"order_number": "D1", "no_of_containers": 1, "supplier_name": "50 % off", "store_number": "S1"}
    await world.post("/orders/deliveries", {"orders": [body]})
    assert len(await world.rows("/orders/deliveries", supplier_name="50 %")) == 1
    assert await world.rows("/orders/deliveries", supplier_name="%") == []
