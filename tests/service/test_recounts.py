"""Recounts: ordered of an entry or a place, listed, closed by a count or withdrawn."""

from __future__ import annotations

from typing import Any

from aisle.service.domain.quantities_times_and_json import format_timestamp
from tests.service.world import LOGS, World, line_end

RECOUNTS = "/aisle/v1/stores/S1/recounts"


async def order(world: World, *recounts: dict[str, Any], status: int = 200, **options: Any) -> Any:
    return await world.post(RECOUNTS, {"recounts": list(recounts)}, status, **options)


async def listed(world: World, **query: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = (await world.get(RECOUNTS, **query))["recounts"]
    return rows


async def test_a_count_of_the_place_closes_what_was_ordered_there(world: World) -> None:
    wanted = [{"product_number": "P1", "location_code": "A1", "note": "again, please"}, {"product_number": "P1"}]
    ids = (await order(world, *wanted, headers={"Aisle-App-User": "ann"}))["data"]
    assert (await order(world, *wanted))["data"] == ids, "ordered once"
    rows = await listed(world)
    assert [row["id"] for row in rows] == ids
    assert rows[0] == {
        "id": ids[0],
        "product_number": "P1",
        "product_description": "Müsli [/b] 50%",
        "location_code": "A1",
        "note": "again, please",
        "state": "open",
        "ordered_by": "ann",
        "ordered_on": format_timestamp(world.now),
    }
    assert "location_code" not in rows[1]
    await world.count("P1", "A2", stock_pool_1=1)
    await world.count("P2", "A1", stock_pool_1=1)
    await world.log(product_number="P1", location_code="A1", quantity=1)
    assert [row["id"] for row in await listed(world)] == ids, "no count of these"
    answer = await world.count("P1", "A1", stock_pool_1=4)
    assert [row["id"] for row in await listed(world)] == ids[1:]
    [closed] = await listed(world, state="counted")
    assert (closed["id"], closed["count_log_id"]) == (ids[0], answer["data"][0])
    assert closed["ended_by"].startswith("admin token")
    assert closed["ended_on"] == format_timestamp(world.now)
    await world.count("P1", None, stock_pool_1=4)
    assert await listed(world) == []
    assert (await order(world, wanted[0]))["data"] != ids[:1], "and may be ordered again"


async def test_recount_of_entry_takes_its_product_and_location(world: World) -> None:
    [entry] = (await world.count("P2", "A2", stock_pool_1=7))["data"]
    [made] = (await order(world, {"log_id": entry}))["data"]
    [row] = await listed(world)
    assert (row["id"], row["log_id"], row["product_number"], row["location_code"]) == (made, entry, "P2", "A2")
    [far] = (await world.log(product_number="P1", quantity=1))["data"]
    await order(world, {"log_id": far})
    assert "location_code" not in (await listed(world))[1]


async def test_earlier_count_or_order_line_count_closes_no_recount(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=5)
    await world.order("O1", {"product_number": "P1", "quantity": 2})
    await world.move("P1", 1, "A1", line_end("O1", 1, "DESK"))
    await order(
        world, {"product_number": "P1", "location_code": "A1"}, {"product_number": "P1", "location_code": "DESK"}
    )
    earlier = {"Aisle-Occurred-At": format_timestamp(world.now - 60)}
    entry = {"product_number": "P1", "location_code": "A1", "stock_pool_1": 4}
    await world.post(LOGS, {"storeproductlog": [entry]}, query={"is_counted_quantity": True}, headers=earlier)
    await world.count("P1", "DESK", customer_order_number="O1", customer_order_line_number=1, stock_pool_1=1)
    assert len(await listed(world)) == 2
    together = [entry, entry | {"location_code": "DESK", "stock_pool_1": 1}]
    await world.post(LOGS, {"storeproductlog": together}, query={"is_counted_quantity": True})
    assert await listed(world) == []


async def test_one_that_has_ended_stays_so(world: World) -> None:
    first, second = (await order(world, {"product_number": "P1"}, {"product_number": "P2"}))["data"]
    withdraw = {"id": first, "state": "withdrawn"}
    assert (await order(world, withdraw))["data"] == [first]
    assert (await order(world, withdraw))["data"] == [first], "hearing it again does no harm"
    await world.count("P2", None, stock_pool_1=0)
    answer = await order(world, {"id": second, "state": "withdrawn"}, status=409)
    assert "counted" in answer["message"]
    await world.count("P1", None, stock_pool_1=0)
    [row] = await listed(world, state="withdrawn")
    assert row["id"] == first
    assert row["ended_by"].startswith("admin token")
    assert [row["id"] for row in await listed(world, state="all")] == [first, second]
    page = await world.get(RECOUNTS, state="all", limit=1)
    assert ([row["id"] for row in page["recounts"]], page["more"]) == ([first], True)
    page = await world.get(RECOUNTS, state="all", limit=1, after=first)
    assert ([row["id"] for row in page["recounts"]], page["more"]) == ([second], False)


async def test_one_is_withdrawn_and_ordered_anew_in_one_request(world: World) -> None:
    [first] = (await order(world, {"product_number": "P1"}))["data"]
    key = {"Idempotency-Key": f'"{"k" * 16}"'}
    both: list[dict[str, Any]] = [{"id": first, "state": "withdrawn"}, {"product_number": "P1", "note": "all of it"}]
    assert (await order(world, *both, headers=key))["data"] == [first, first + (1 << 20)]
    assert [(row["id"], row.get("note")) for row in await listed(world)] == [(first + (1 << 20), "all of it")]


async def test_recount_of_unknown_thing_is_refused(world: World) -> None:
    for wrong in (
        {},
        {"product_number": "NONE"},
        {"product_number": "P1", "location_code": "NOWHERE"},
        {"log_id": 12345},
        {"log_id": 1.5},
        {"log_id": 12345, "product_number": "P1"},
        {"id": 12345, "state": "withdrawn"},
        {"id": 12345},
    ):
        await order(world, {"product_number": "P2"}, wrong, status=422)
    assert await listed(world, state="all") == []
    for query in ({"state": "odd"}, {"limit": 0}, {"limit": 1001}):
        assert (await world.send("GET", RECOUNTS, query=query)).status_code == 400


async def test_followers_hear_of_it_and_staff_may_read_but_not_order(world: World) -> None:
    changes = "/aisle/v1/stores/S1/changes"
    since = (await world.get(changes))["cursor"]
    [made] = (await order(world, {"product_number": "P1"}))["data"]
    told = await world.get(changes, since=since)
    assert told["changes"] == [{"topic": "recount", "key": str(made), "chain": False}]
    async with world.client_for("staff", ["S1"]) as staff:
        assert (await world.send("GET", RECOUNTS, client=staff)).status_code == 200
        answer = await world.send("POST", RECOUNTS, {"recounts": [{"product_number": "P1"}]}, client=staff)
        assert answer.status_code == 403


async def test_an_entry_of_a_long_log_is_reviewed_and_counted_again(world: World) -> None:
    """Ids grow with the log: after a million entries of a store they are larger than other numbers may be."""
    long = "UPDATE counter SET value = 2000000 WHERE store_number = 'S1' AND name = 'log'"
    await world.log(product_number="P1", quantity=1)
    world.service.database.write_now(lambda tx: tx.run(long))
    [entry] = (await world.log(product_number="P2", quantity=-1))["data"]
    assert entry > 10**12
    await world.post("/aisle/v1/stores/S1/reviews", {"reviews": [{"id": entry}]})
    [row] = await world.rows("/products/stock/storeproductlogs", from_id=entry)
    assert (row["id"], row["review_status"]) == (entry, "2")
    await order(world, {"log_id": entry})
    assert [(row["log_id"], row["product_number"]) for row in await listed(world)] == [(entry, "P2")]
    for beyond in (1 << 63, -1 << 63, 1e30):
        for name in ("id", "log_id"):
            path = "reviews" if name == "id" else "recounts"
            await world.post(f"/aisle/v1/stores/S1/{path}", {path: [{name: beyond}]}, 422)
