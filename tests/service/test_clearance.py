"""Clearance: what is held on tagged places is assigned to be moved, and a movement carries it out."""

from __future__ import annotations

from typing import Any

import pytest_asyncio

from tests.service.world import World, line_end

CLEARANCE = "/customerorders/clearance"


async def clear(world: World, tag: str = "wh", status: int = 200, **body: Any) -> Any:
    """A clearance of places with this tag."""
    return await world.post(CLEARANCE, body, status, query={"location_code_tag": tag})


async def assigned(world: World, store: str = "S1") -> list[tuple[Any, ...]]:
    """What is to be moved: place, product, pool, order, line, quantity."""
    names = ("location_code", "product_number", "stock_pool", "customer_order_number", "customer_order_line_number")
    rows = (await world.get(f"/aisle/v1/stores/{store}/assignments"))["assignments"]
    return [(*(row[name] for name in names), row["quantity"]) for row in rows]


@pytest_asyncio.fixture
async def held(world: World) -> World:
    """Goods of two orders on two places with the tag and one without; free goods beside them."""
    places = [("BACK", ["wh", "cold"]), ("DESK", ["wh"])]
    await world.post(
        "/aisle/v1/locations",
        {"locations": [{"store_number": "S1", "location_code": code, "tags": tags} for code, tags in places]},
    )
    for product in ("P1", "P2"):
        await world.count(product, "A1", stock_pool_1=20)
        await world.count(product, "BACK", stock_pool_1=5)
    await world.order("O1", {"product_number": "P1", "quantity": 6}, {"product_number": "P2", "quantity": 4})
    await world.order("O2", {"product_number": "P1", "quantity": 2})
    await world.move("P1", 3, "A1", line_end("O1", 1, "BACK"))
    await world.move("P1", 1, "A1", line_end("O1", 1, "A2"))
    await world.move("P2", 4, "A1", line_end("O1", 2, "DESK"))
    await world.move("P1", 2, "A1", line_end("O2", 1, "BACK"))
    return world


async def test_clearance_assigns_goods_on_tagged_locations_only(held: World) -> None:
    before = held.books()
    await clear(held)
    assert await assigned(held) == [
        ("BACK", "P1", 1, "O1", 1, 3),
        ("BACK", "P1", 1, "O2", 1, 2),
        ("DESK", "P2", 1, "O1", 2, 4),
    ]
    assert held.books() == before, "nothing moves by itself"
    await clear(held)
    assert len(await assigned(held)) == 3


async def test_categories_restrict_and_none_clears_all(held: World) -> None:
    await clear(held, category_codes=["food"])
    assert {row[1] for row in await assigned(held)} == {"P1"}
    await clear(held, category_codes=[])
    assert {row[1] for row in await assigned(held)} == {"P1", "P2"}


async def test_a_movement_from_the_line_to_free_carries_it_out(held: World) -> None:
    await clear(held, "cold")
    await held.move("P1", 2, line_end("O1", 1, "BACK"), "A10")
    assert await assigned(held) == [("BACK", "P1", 1, "O1", 1, 1), ("BACK", "P1", 1, "O2", 1, 2)]
    line = await held.line("O1")
    assert (line["picked_quantity"], line["moved_quantity"]) == (2, 2)
    assert held.books()["P1", "A10", 1] == 2
    await held.move("P1", 1, line_end("O1", 1, "BACK"), "A10")
    assert await assigned(held) == [("BACK", "P1", 1, "O2", 1, 2)]
    await held.move("P1", 3, "A1", line_end("O1", 1, "BACK"))
    assert await assigned(held) == [("BACK", "P1", 1, "O2", 1, 2)], "what is held there anew was not assigned"
    await clear(held, "cold")
    assert ("BACK", "P1", 1, "O1", 1, 3) in await assigned(held)


async def test_goods_no_longer_held_leave_the_assignments(held: World) -> None:
    await clear(held)
    await held.update("O2", is_active=False)
    await held.move("P1", 2, line_end("O1", 1, "BACK"), line_end("O1", 1, "DESK"))
    assert await assigned(held) == [("BACK", "P1", 1, "O1", 1, 1), ("DESK", "P2", 1, "O1", 2, 4)]
    await held.update("O1", is_rejected=True)
    assert await assigned(held) == []


async def test_goods_arriving_later_were_not_assigned(held: World) -> None:
    await clear(held)
    await held.update("O1", is_rejected=True)
    await held.update("O1", is_rejected=False)
    await held.move("P1", 3, "A1", line_end("O1", 1, "BACK"))
    await held.move("P1", 2, line_end("O2", 1, "BACK"), line_end("O2", 1, "DESK"))
    await held.move("P1", 2, line_end("O2", 1, "DESK"), line_end("O2", 1, "BACK"))
    assert await assigned(held) == []
    await clear(held)
    assert len(await assigned(held)) == 2
    await held.update("O1", is_active=False)
    await held.update("O2", is_active=False)
    waiting = "SELECT count(*) FROM assignment WHERE store_number = 'S1' AND done_on IS NULL"
    assert held.service.database.read_now(lambda tx: tx.all(waiting)) == [(0,)], "and none is kept for ever"


async def test_only_supervisor_of_store_may_clear(held: World) -> None:
    for role, status in (("staff", 403), ("integration", 403), ("supervisor", 200)):
        client = held.client_for(role, ["S2"])
        answer = await held.send("POST", CLEARANCE, {}, query={"location_code_tag": "wh"}, client=client)
        assert answer.status_code == status
    assert await assigned(held) == []
    await clear(held, "", 400)
    await clear(held, "WH")
    assert await assigned(held) == []


async def test_clearance_without_goods_explains_why(held: World) -> None:
    assert await clear(held) == {"success": True}
    assert await clear(held) == {"success": True}, "what is assigned already is to be moved"
    nowhere = {"success": True, "message": "No place has the tag 'pickup'; nothing is to be moved."}
    assert await clear(held, "pickup") == nowhere
    held_there = "is held for customer orders at places with the tag"
    assert (await clear(held, "shelf"))["message"] == f"Nothing {held_there} 'shelf'."
    assert (await clear(held, category_codes=["none"]))["message"] == f"Nothing of these categories {held_there} 'wh'."
    answer = await held.send("POST", CLEARANCE, query={"location_code_tag": "cold"})
    assert (answer.status_code, answer.json()) == (200, {"success": True})
