"""Two people on one order: claims with their owner, versions, and picks that are added to what others picked."""

import itertools
from decimal import Decimal
from typing import Any

import pytest

from tests.service.world import LOGS, World, line_end

PEOPLE = "/aisle/v1/stores/S1/people"
UPDATE = "/stores/S1/orders/customerorder"
CLAIM = ("is_claimed", "claimed_by", "claimed_name", "claimed_on", "claimed_terminal")


async def claim(world: World, user: str, terminal: str, claimed: bool = True, **headers: str) -> None:
    """Somebody opens (or leaves) O1 on a terminal."""
    said = {"Aisle-App-User": user, "Aisle-Terminal": terminal} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    await world.update("O1", is_claimed=claimed, headers=said)


async def claimed(world: World) -> dict[str, Any]:
    """What an order tells of its claim."""
    return {name: value for name, value in (await world.see("O1")).items() if name in CLAIM}


async def take(world: World, base: Any, picked: Any, status: int = 200, line: int = 1, **more: Any) -> Any:
    """Somebody brings a line of O1 from what he found to what he made of it."""
    user = more.pop("user", "anna")
    said = {"line_number": line, "product_number": "P1", "base_picked_quantity": base, "picked_quantity": picked}
    return await world.update("O1", said | more, status=status, headers={"Aisle-App-User": user})


async def stands(world: World, line: int = 1) -> Any:
    """What a line of O1 stands at."""
    return (await world.line("O1", line))["picked_quantity"]


@pytest.fixture
async def order(world: World) -> None:
    """O1: three of P1, and two of it once more."""
    await world.count("P1", "A1", stock_pool_1=10)
    await world.order("O1", {"product_number": "P1", "quantity": 3}, {"product_number": "P1", "quantity": 2})


async def test_a_claim_tells_who_since_when_and_where(world: World, order: None) -> None:
    await world.post(PEOPLE, {"people": [{"badge": "B1", "user": "anna", "name": "Änna"}]})
    assert await claimed(world) == {"is_claimed": False}
    await claim(world, "anna", "handheld-2")
    first = await claimed(world)
    assert first.pop("claimed_on").startswith("2026-05-28T")
    assert first == {"is_claimed": True, "claimed_by": "anna", "claimed_name": "Änna", "claimed_terminal": "handheld-2"}
    await claim(world, "nobody", "")
    assert set(await claimed(world)) == {"is_claimed", "claimed_by", "claimed_on"}


async def test_a_claim_without_a_user_is_the_token_s(world: World, order: None) -> None:
    await world.update("O1", is_claimed=True)
    assert (await claimed(world))["claimed_by"].startswith("admin token")


async def test_the_claim_that_was_made_last_stands_whenever_it_is_heard_of(world: World, order: None) -> None:
    await claim(world, "ben", "t2", Aisle_Occurred_At="2026-05-28T20:10:00Z")
    await claim(world, "anna", "t1", Aisle_Occurred_At="2026-05-28T20:00:00Z")
    assert (await claimed(world))["claimed_by"] == "ben"
    since = (await claimed(world))["claimed_on"]
    await claim(world, "ben", "t2", Aisle_Occurred_At="2026-05-28T20:15:00Z")
    assert (await claimed(world))["claimed_on"] == since
    await claim(world, "ben", "t3", Aisle_Occurred_At="2026-05-28T20:16:00Z")
    assert (await claimed(world))["claimed_terminal"] == "t3"
    await claim(world, "anna", "t1", Aisle_Occurred_At="2026-05-28T20:20:00Z")
    assert (await claimed(world))["claimed_by"] == "anna"


async def test_release_older_than_claim_does_not_end_it(world: World, order: None) -> None:
    await claim(world, "ben", "t2", Aisle_Occurred_At="2026-05-28T20:10:00Z")
    before = await claimed(world)
    for user, terminal in (("anna", "t1"), ("ben", "t1")):
        await claim(world, user, terminal, claimed=False, Aisle_Occurred_At="2026-05-28T20:05:00Z")
        assert await claimed(world) == before
    await claim(world, "anna", "t1", claimed=False, Aisle_Occurred_At="2026-05-28T20:15:00Z")
    assert await claimed(world) == {"is_claimed": False}


@pytest.mark.parametrize("end", [{"is_claimed": False}, {"is_active": False}, {"is_rejected": True}])
async def test_a_claim_ends_by_its_release_by_finish_and_by_reject(
    world: World, order: None, end: dict[str, Any]
) -> None:
    await claim(world, "anna", "t1")
    await world.update("O1", **end)
    assert await claimed(world) == {"is_claimed": False}


async def test_picking_needs_no_claim_and_keeps_it(world: World, order: None) -> None:
    await take(world, 0, 1, user="ben")
    await claim(world, "anna", "t1")
    await take(world, 1, 2, user="ben")
    assert (await claimed(world))["claimed_by"] == "anna"
    assert await stands(world) == 2


async def test_followers_hear_of_a_claim(world: World, order: None) -> None:
    since = (await world.get("/aisle/v1/stores/S1/changes"))["cursor"]
    await claim(world, "anna", "t1")
    changes = (await world.get("/aisle/v1/stores/S1/changes", since=since))["changes"]
    assert changes == [{"topic": "order", "key": "O1", "chain": False}]


async def test_order_version_grows_and_is_the_etag(world: World, order: None) -> None:
    path, query = "/stores/S1/orders/customerorders", {"order_number": "O1"}
    seen = []
    for change in ({"is_claimed": True}, {"is_claimed": False}):
        answer = await world.send("GET", path, query=query)
        (row,) = answer.json()["list"]
        assert answer.headers["ETag"] == f'"{row["version"]}"'
        seen.append(row["version"])
        await world.update("O1", **change)
    await world.pick("O1", 1, "P1", 1)
    seen.append((await world.see("O1"))["version"])
    await world.move("P1", 1, line_end("O1", 1), line_end("O1", 1, "DESK"))
    seen.append((await world.see("O1"))["version"])
    assert seen == sorted(set(seen))
    assert "ETag" not in (await world.send("GET", path)).headers
    assert "ETag" not in (await world.send("GET", path, query={"order_number": "none"})).headers


async def test_movement_to_several_lines_is_one_order_change(world: World) -> None:
    """Its lines are not all read again for each of them: an order of thousands is received or moved in one request."""
    goods = list(enumerate(("P1", "P2", "P3"), 1))
    await world.order("O2", *({"product_number": one, "quantity": 2} for _, one in goods))
    version = (await world.see("O2"))["version"]
    to_line = {n: {"to_location": line_end("O2", n, "DESK"), "allow_overage": True} for n, _ in goods}
    items = [{"product_number": one, "quantity": 2, **to_line[n]} for n, one in goods]
    await world.post("/stores/S1/storeproductlocation/movement", items)
    order = await world.see("O2")
    assert (order["version"], order["is_picked"], order["status_id"]) == (version + 1, True, 3)
    entries = [
        {"product_number": one, "quantity": -1, "location_code": "DESK"}
        | {"customer_order_number": "O2", "customer_order_line_number": n}
        for n, one in goods
    ]
    await world.post(LOGS, {"storeproductlog": entries})
    order = await world.see("O2")
    assert (order["version"], order["is_picked"], order["status_id"]) == (version + 2, False, 2)
    assert [line["moved_quantity"] for line in order["lines"]] == [1, 1, 1]


async def test_write_for_other_version_is_refused_with_current_order(world: World, order: None) -> None:
    version = (await world.see("O1"))["version"]
    body = {"orders": {"order_number": "O1", "is_claimed": True}}
    for good in (f'"{version}"', f'"0", "{version + 1}"', "*"):
        await world.put(UPDATE, body, headers={"If-Match": good})
    answer = await world.put(UPDATE, body, 412, headers={"If-Match": f'"{version}"'})
    assert answer["success"] is False
    assert answer["order"]["version"] == version + 3
    assert [line["line_number"] for line in answer["order"]["lines"]] == [1, 2]
    await world.put(UPDATE, body, 400, headers={"If-Match": str(version)})


async def test_what_each_picked_is_added_up(world: World, order: None) -> None:
    assert await take(world, 0, 1) == {"success": True}
    assert await take(world, 0, 1, user="ben") == {"success": True}
    line = await world.line("O1")
    assert (line["picked_quantity"], line["picked_username"], line["is_picked"]) == (2, "ben", False)
    await take(world, 2, 1)
    assert await stands(world) == 1
    assert world.books()[("P1", "", 1, "O1", 1)] == 1


async def test_excess_is_returned_and_rest_is_picked(world: World, order: None) -> None:
    await take(world, 0, 2, user="ben")
    answer = await take(world, 0, 2, is_picked=False)
    (left,) = answer["left"]
    assert left["left"] == 1
    assert (left["picked_quantity"], left["quantity"], left["picked_username"]) == (3, 3, "ben")
    assert "Line 1 is at 3 of 3 (ben); 1 too many in your hand: put back." in answer["message"]
    answer = await take(world, 0, 2, user="cleo", preferred_location_code="BACK")
    assert answer["left"][0]["left"] == 2
    line = await world.line("O1")
    assert (line["picked_quantity"], line["is_picked"], line["picked_username"]) == (3, True, "anna")
    assert "preferred_location_code" not in line
    assert world.books() == {("P1", "A1", 1): 7, ("P1", "", 1, "O1", 1): 3}


async def test_a_line_that_somebody_thought_full_is_not_closed_short(world: World, order: None) -> None:
    await take(world, 0, 2, user="ben")
    await take(world, 2, 1, user="ben")
    await take(world, 2, 3, is_picked=True)
    line = await world.line("O1")
    assert (line["picked_quantity"], line["is_picked"]) == (2, False)
    await take(world, 2, 2, is_picked=True)
    line = await world.line("O1")
    assert (line["picked_quantity"], line["is_picked"]) == (2, True)


async def test_goods_put_down_are_not_reduced_by_a_pick(world: World, order: None) -> None:
    await take(world, 0, 2)
    await world.move("P1", 1, line_end("O1", 1), line_end("O1", 1, "DESK"))
    answer = await take(world, 2, 0, user="ben")
    assert answer["left"][0]["left"] == -1
    assert "1 at a place; 1 of it were not put back" in answer["message"]
    assert await stands(world) == 1


async def test_pick_under_one_key_adds_once_with_same_answer(world: World, order: None) -> None:
    said = {"line_number": 1, "product_number": "P1", "base_picked_quantity": 0, "picked_quantity": 2}
    body, headers = {"orders": {"order_number": "O1", "order_lines": [said]}}, {"Idempotency-Key": '"' + "k" * 20 + '"'}
    await take(world, 0, 2, user="ben")
    first = await world.put(UPDATE, body, headers=headers)
    assert first["left"][0]["left"] == 1
    assert await world.put(UPDATE, body, headers=headers) == first
    assert await stands(world) == 3


@pytest.mark.parametrize(("base", "picked", "more"), [(-1, 0, {}), (0, -1, {}), (Decimal("0.5"), 1, {}), (0, None, {})])
async def test_a_base_that_cannot_be_is_refused(
    world: World, order: None, base: Any, picked: Any, more: dict[str, Any]
) -> None:
    await take(world, base, picked, 422, **more)
    assert await stands(world) == 0


async def test_a_finished_order_takes_no_more_and_hears_what_it_knows(world: World, order: None) -> None:
    await take(world, 0, 1)
    await world.update("O1", is_active=False)
    await take(world, 0, 1, 409)
    await take(world, 1, 1)


async def test_every_order_of_two_people_s_picks_ends_at_the_same(world: World) -> None:
    """Each picks two of three, seeing nothing of the other; whoever comes last is told what he holds too much."""
    await world.count("P1", "A1", stock_pool_1=100)
    steps = [("anna", 0, 1), ("anna", 1, 2), ("ben", 0, 1), ("ben", 1, 2)]
    for n, order_ in enumerate(_interleaved(steps)):
        number, left = f"I{n}", 0
        await world.order(number, {"product_number": "P1", "quantity": 3})
        for user, base, picked in order_:
            line = {"line_number": 1, "product_number": "P1", "base_picked_quantity": base, "picked_quantity": picked}
            answer = await world.update(number, line, headers={"Aisle-App-User": user})
            left += sum(one["left"] for one in answer.get("left", ()))
        assert (await world.line(number))["picked_quantity"] + left == 4
        assert left == 1


def _interleaved(steps: list[tuple[str, int, int]]) -> list[list[tuple[str, int, int]]]:
    """All ways to put the steps of two people one after another, each person's in their order."""
    found = []
    for places in itertools.combinations(range(len(steps)), 2):
        mine, others = iter(steps[:2]), iter(steps[2:])
        found.append([next(mine) if at in places else next(others) for at in range(len(steps))])
    return found
