"""A database that was put back from an earlier copy: it is told from one that went on, and hears again what it lost,
from whichever host comes first (README: After a restore)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import permutations
from types import MappingProxyType
from typing import Any

import pytest

from aisle.service.domain.quantities_times_and_json import format_timestamp
from tests.service.database_restore import Copy, copy_of, put_back
from tests.service.world import LOGS, World, line_end

CHANGES, KEYS = "/aisle/v1/stores/S1/changes", "/aisle/v1/stores/S1/keys"
ORDERS = "/stores/S1/orders/customerorder"
MOVES = "/stores/S1/storeproductlocation/movement"


def copied(world: World) -> Copy:
    return copy_of(world.service.database if isinstance(world.database, str) else world.path)


def restored(world: World, copy: Copy) -> None:
    put_back(world.service.database if isinstance(world.database, str) else world.path, copy)


class Said:
    """Writes of a host, each under its key, to be said again as often as it takes."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.client = world.client
        self._said: dict[str, tuple[str, str, Any, dict[str, str]]] = {}

    async def __call__(
        self,
        key: str,
        method: str,
        path: str,
        body: Any,
        *,
        left: str = "all",
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> Any:
        kept = {name: value for name, value in headers.items() if name == "Aisle-Occurred-At"}
        self._said[key] = method, path, body, {"Aisle-Replay": left, **kept}
        return await self._send(key, method, path, body, 200, headers)

    async def again(self, key: str, status: int = 200) -> Any:
        method, path, body, headers = self._said[key]
        return await self._send(key, method, path, body, status, headers)

    async def _send(self, key: str, method: str, path: str, body: Any, status: int, headers: Mapping[str, str]) -> Any:
        said = {"Idempotency-Key": f'"{named(key)}"', **headers}
        path, _, counted = path.partition("?")
        query = {"is_counted_quantity": True} if counted else {}
        answer = await self.world.send(method, path, body, headers=said, query=query, client=self.client)
        assert answer.status_code == status, answer.text
        return answer.json()


def named(key: str) -> str:
    """A key as the service takes it."""
    return key.ljust(16, "-")


def line(number: int, base: int, picked: int, product: str = "P1", **more: Any) -> dict[str, Any]:
    said = {"line_number": number, "product_number": product, "picked_quantity": picked, **more}
    return {"order_number": "O1", "order_lines": [{**said, "base_picked_quantity": base}]}


@pytest.fixture
async def goods(world: World) -> Said:
    """Ten of P1 at A1, and an order of four of it."""
    await world.count("P1", "A1", stock_pool_1=10)
    await world.order("O1", {"product_number": "P1", "quantity": 4})
    return Said(world)


async def load(world: World, count: int) -> None:
    """An integrator brings orders that make the change cursor as high as it ever was."""
    for n in range(count):
        await world.order(f"L{n}", {"product_number": "P2", "quantity": 1})


WAYS: dict[str, Callable[[int], int]] = {
    "nothing was done since": lambda lost: 0,
    "less was done since": lambda lost: lost - 1,
    "as much was done since": lambda lost: lost,
    "more was done since": lambda lost: lost + 5,
}


@pytest.mark.parametrize("since", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("lost", [1, 2, 7])
async def test_cursor_mark_is_recognised_after_many_changes(
    world: World, goods: Said, since: Callable[[int], int], lost: int
) -> None:
    copy = copied(world)
    for n in range(lost):
        await world.count("P1", "A1", stock_pool_1=20 + n)
    told = await world.get(CHANGES)
    assert not (await world.get(CHANGES, since=told["cursor"], mark=told["mark"]))["restored"]
    restored(world, copy)
    await load(world, since(lost))
    assert (await world.get(CHANGES, since=told["cursor"], mark=told["mark"]))["restored"]


async def test_a_write_that_is_said_again_at_the_same_cursor_has_another_mark(world: World, goods: Said) -> None:
    copy = copied(world)
    await world.order("L1", {"product_number": "P2", "quantity": 1})
    await goods("a1", "PUT", ORDERS, {"orders": line(1, 0, 1)})
    told = await world.get(CHANGES)
    restored(world, copy)
    await world.order("L2", {"product_number": "P2", "quantity": 1})
    await goods.again("a1")
    now = await world.get(CHANGES, since=told["cursor"], mark=told["mark"])
    assert now["cursor"] == told["cursor"]
    assert now["restored"], "L1 is not there, and L2 would never be told"


async def test_a_cursor_from_before_the_copy_goes_on(world: World, goods: Said) -> None:
    told = await world.get(CHANGES)
    copy = copied(world)
    await world.count("P1", "A1", stock_pool_1=20)
    restored(world, copy)
    await load(world, 3)
    page = await world.get(CHANGES, since=told["cursor"], mark=told["mark"])
    assert not page["restored"]
    assert page["changes"]


async def test_chain_changes_have_a_cursor_mark(world: World, goods: Said) -> None:
    copy = copied(world)
    await world.post("/products", {"products": [{"product_number": "P1", "product_name": "Jelly"}]})
    told = await world.get(CHANGES)
    restored(world, copy)
    await world.post("/products", {"products": [{"product_number": "P2", "product_name": "Jelly"}]})
    assert (await world.get(CHANGES, since=told["cursor"], mark=told["mark"]))["restored"]


@pytest.mark.parametrize("limit", [1, 2, 3])
async def test_a_cursor_between_the_changes_of_one_write_is_known(world: World, goods: Said, limit: int) -> None:
    lines = [{"product_number": product, "quantity": 1} for product in ("P1", "P2", "P3")]
    await world.order("O2", *lines)
    told = await world.get(CHANGES, since=0, limit=limit)
    while told["more"]:
        told = await world.get(CHANGES, since=told["cursor"], mark=told["mark"], limit=limit)
        assert not told["restored"]


async def test_a_mark_that_is_forgotten_proves_nothing(world: World, goods: Said) -> None:
    told = await world.get(CHANGES)
    world.now += 70 * 86400
    await world.count("P1", "A1", stock_pool_1=11)
    world.now += 1200
    await world.get(CHANGES)
    assert not (await world.get(CHANGES, since=told["cursor"], mark=told["mark"]))["restored"]


async def test_keys_that_a_copy_does_not_have_are_unknown(
    world: World, goods: Said, caplog: pytest.LogCaptureFixture
) -> None:
    await goods("kept", "PUT", ORDERS, {"orders": line(1, 0, 1)})
    copy = copied(world)
    await goods("lost", "PUT", ORDERS, {"orders": line(1, 1, 2)})
    keys = [named("kept"), named("lost")]
    assert (await world.get(KEYS, keys=",".join(keys)))["unknown"] == []
    restored(world, copy)
    assert (await world.get(KEYS, keys=",".join(keys)))["unknown"] == [named("lost")]
    assert (await world.get(CHANGES, known=",".join(keys)))["unknown"] == [named("lost")]
    [words] = [record.message for record in caplog.records if record.message.startswith("A host of store S1")]
    tokens = (await world.get("/aisle/v1/tokens"))["tokens"]
    assert any(token["token_id"] in words for token in tokens), "it says whose word this is"
    await world.get(KEYS, keys=",".join(named(str(n)) for n in range(200)))
    assert (await world.send("GET", KEYS, query={"keys": ",".join(["k"] * 201)})).status_code == 422


async def test_operation_following_a_lost_one_is_refused(world: World, goods: Said) -> None:
    copy = copied(world)
    await goods("before", "PUT", ORDERS, {"orders": line(1, 0, 1)})
    follows = {"Aisle-Follows": named("before")}
    await goods("then", "PUT", ORDERS, {"orders": line(1, 1, 2)}, headers=follows)
    restored(world, copy)
    answer = await world.send(
        "PUT", ORDERS, {"orders": line(1, 1, 2)}, headers={"Idempotency-Key": f'"{named("then")}"', **follows}
    )
    assert (answer.status_code, answer.headers["Retry-After"]) == (425, "1")
    assert (await world.line("O1"))["picked_quantity"] == 0
    await goods.again("before")
    await goods("then", "PUT", ORDERS, {"orders": line(1, 1, 2)}, headers=follows)
    assert (await world.line("O1"))["picked_quantity"] == 2


@pytest.mark.parametrize("wrong", ["", "short", "a" * 65, ",".join(["k" * 16] * 9), "k" * 16 + ",", "é" * 16])
async def test_keys_that_are_none_are_refused(world: World, goods: Said, wrong: str) -> None:
    headers = {"Idempotency-Key": f'"{named("x")}"', "Aisle-Follows": wrong.encode("latin-1")}
    answer = await world.send("PUT", ORDERS, {"orders": line(1, 0, 1)}, headers=headers)
    assert answer.status_code == 400


@pytest.mark.parametrize("wrong", ["", "some", "1", "1:", "1:x", "1:2;2:3", "x:1", "1:1.2345"])
async def test_a_replay_that_says_nothing_is_refused(world: World, goods: Said, wrong: str) -> None:
    headers = {"Idempotency-Key": f'"{named("x")}"', "Aisle-Replay": wrong}
    answer = await world.send("PUT", ORDERS, {"orders": line(1, 0, 1)}, headers=headers)
    assert answer.status_code == 400


@pytest.mark.parametrize("number", [7, 10**11])
async def test_replay_names_any_line_that_an_order_may_have(world: World, number: int) -> None:
    await world.order("O2", {"product_number": "P1", "quantity": 2, "line_number": number})
    said = {"line_number": number, "product_number": "P1", "base_picked_quantity": 0, "picked_quantity": 3}
    headers = {"Idempotency-Key": f'"{named("x")}"', "Aisle-Replay": f"{number}:1"}
    await world.put(ORDERS, {"orders": {"order_number": "O2", "order_lines": [said]}}, headers=headers)
    assert (await world.line("O2", number))["picked_quantity"] == 2


async def picks(goods: Said) -> tuple[list[list[str]], Copy]:
    """What three hosts picked of one line, as it came about; the last of them found no room for one."""
    copy = copied(goods.world)
    await goods("a1", "PUT", ORDERS, {"orders": line(1, 0, 4)})
    await goods("b1", "PUT", ORDERS, {"orders": line(1, 4, 1)})
    await goods("a2", "PUT", ORDERS, {"orders": line(1, 0, 1)})
    await goods("b2", "PUT", ORDERS, {"orders": line(1, 2, 4)})
    answer = await goods("c1", "PUT", ORDERS, {"orders": line(1, 2, 4)}, left="1:2")
    assert answer["left"][0]["left"] == 2
    return [["a1", "a2"], ["b1", "b2"], ["c1"]], copy


@pytest.mark.parametrize("order", list(permutations(range(3))))
async def test_picks_of_three_hosts_come_to_the_same_in_any_order(
    world: World, goods: Said, order: tuple[int, ...]
) -> None:
    hosts, copy = await picks(goods)
    assert (await world.line("O1"))["picked_quantity"] == 4
    restored(world, copy)
    for host in order:
        for key in hosts[host]:
            await goods.again(key)
    assert (await world.line("O1"))["picked_quantity"] == 4
    for key in (key for keys in hosts for key in keys):
        await goods.again(key)
    assert (await world.line("O1"))["picked_quantity"] == 4


async def test_final_replay_returns_excess(world: World, goods: Said) -> None:
    copy = copied(world)
    await goods("a1", "PUT", ORDERS, {"orders": line(1, 0, 3)})
    restored(world, copy)
    await goods("b1", "PUT", ORDERS, {"orders": line(1, 0, 3)})
    answer = await goods.again("a1")
    assert answer["carried"] == [{"line_number": 1, "carried": 2}]
    assert "left" not in answer, "another host may have put some back"
    answer = await goods("a2", "PUT", ORDERS, {"orders": line(1, 3, 3)}, left="1:2")
    assert answer["left"][0]["left"] == 2
    assert "left" not in await goods("a3", "PUT", ORDERS, {"orders": line(1, 3, 3)}), "it is told once"
    assert (await world.line("O1"))["picked_quantity"] == 4
    restored(world, copy)
    for key in ("a2", "b1", "a3", "a1"):
        answer = await goods.again(key)
    assert (await world.line("O1"))["picked_quantity"] == 4
    assert "carried" not in answer, "what was told is out"


@pytest.mark.parametrize("word", [{"is_active": False}, {"is_rejected": True}], ids=["finished", "rejected"])
async def test_final_replay_on_ended_order_returns_excess(world: World, goods: Said, word: dict[str, Any]) -> None:
    copy = copied(world)
    await goods("a1", "PUT", ORDERS, {"orders": line(1, 0, 3)})
    restored(world, copy)
    await goods("b1", "PUT", ORDERS, {"orders": line(1, 0, 3)})
    assert (await goods.again("a1"))["carried"] == [{"line_number": 1, "carried": 2}]
    await goods("b2", "PUT", ORDERS, {"orders": {"order_number": "O1", **word}})
    there, order = world.books(), await world.see("O1")
    answer = await goods("a2", "PUT", ORDERS, {"orders": line(1, 3, 3)}, left="1:2")
    assert answer["left"][0]["left"] == 2
    assert "left" not in await goods("a3", "PUT", ORDERS, {"orders": line(1, 3, 3)}), "it is told once"
    assert world.books() == there
    now = await world.see("O1")
    assert (now["is_active"], now["is_rejected"]) == (order["is_active"], order["is_rejected"])
    restored(world, copy)
    for key in ("a2", "b1", "a3", "a1", "b2"):
        answer = await goods.again(key)
    assert "carried" not in answer


@pytest.mark.parametrize("order", list(permutations(("a1", "b1", "c1"))))
async def test_goods_that_are_moved_on_are_where_they_were(world: World, goods: Said, order: tuple[str, ...]) -> None:
    copy = copied(world)
    ends = [("A1", "A2", "a1"), ("A2", "A10", "b1"), ("A10", "DESK", "c1")]
    for source, target, key in ends:
        item = {"product_number": "P1", "quantity": 6}
        item |= {"from_location": {"location_code": source}, "to_location": {"location_code": target}}
        await goods(key, "POST", MOVES, [item])
    there = world.books()
    restored(world, copy)
    for key in order:
        await goods.again(key)
    assert world.books() == there


@pytest.mark.parametrize("role", ["admin", "staff"])
@pytest.mark.parametrize("word", [{"is_active": False}, {"is_rejected": True}], ids=["finished", "rejected"])
async def test_pick_reported_after_order_end_follows_its_goods(
    world: World, goods: Said, word: dict[str, Any], role: str
) -> None:
    picker = world.client_for(role, ["S1"])
    copy = copied(world)
    await goods("a1", "PUT", ORDERS, {"orders": line(1, 0, 3)})
    await goods("b1", "PUT", ORDERS, {"orders": {"order_number": "O1", **word}})
    total, there, order = sum(world.books().values()), world.books(), await world.see("O1")
    restored(world, copy)
    await goods.again("b1")
    goods.client = picker
    await goods.again("a1")
    assert (sum(world.books().values()), world.books()) == (total, there)
    now = await world.see("O1")
    for name in ("is_active", "is_rejected", "status_id"):
        assert now[name] == order[name]
    assert now["lines"][0]["picked_quantity"] == order["lines"][0]["picked_quantity"]
    assert now["lines"][0].get("delivery_qty") == order["lines"][0].get("delivery_qty")


@pytest.mark.parametrize(("base", "picked", "then"), [(0, 2, 4), (2, 1, 1)], ids=["taken", "put back"])
async def test_pick_reported_after_hand_over_of_others_is_applied_alone(
    world: World, goods: Said, base: int, picked: int, then: int
) -> None:
    copy = copied(world)
    await goods("a1", "PUT", ORDERS, {"orders": line(1, base, picked, preferred_location_code="A1")})
    restored(world, copy)
    await goods("b1", "PUT", ORDERS, {"orders": line(1, 0, 2)})
    await goods("b2", "PUT", ORDERS, {"orders": {"order_number": "O1", "is_active": False}})
    assert sum(world.books().values()) == 8
    await goods.again("a1")
    assert world.books()[("P1", "A1", 1)] == sum(world.books().values()) == 10 - then
    entries = await world.rows("/products/stock/storeproductlogs", article_number="P1")
    assert sum(entry["quantity"] for entry in entries) == 10 - then, "the log says so too"
    [seen] = (await world.see("O1"))["lines"]
    assert (seen["picked_quantity"], seen["delivery_qty"]) == (then, then)


@pytest.mark.parametrize("word", [{"is_active": False}, {"is_rejected": True}], ids=["finished", "rejected"])
async def test_goods_that_were_put_down_for_an_order_leave_with_it(
    world: World, goods: Said, word: dict[str, Any]
) -> None:
    copy = copied(world)
    await goods("a1", "PUT", ORDERS, {"orders": line(1, 0, 3)})
    held = {**line_end("O1", 1), "location_code": "DESK"}
    item = {"product_number": "P1", "quantity": 3, "from_location": line_end("O1", 1), "to_location": held}
    await goods("a2", "POST", MOVES, [item])
    await goods("b1", "PUT", ORDERS, {"orders": {"order_number": "O1", **word}})
    total = sum(world.books().values())
    restored(world, copy)
    for key in ("b1", "a1", "a2"):
        await goods.again(key)
    assert sum(world.books().values()) == total
    answer = await world.send("POST", MOVES, [item], headers={"Idempotency-Key": f'"{named("new")}"'})
    assert answer.status_code == 409, "nobody else may put them down any more"


async def test_refused_replay_succeeds_after_other_hosts_replay(world: World, goods: Said) -> None:
    copy = copied(world)
    await goods("a1", "PUT", ORDERS, {"orders": line(1, 0, 3)})
    held = {**line_end("O1", 1), "location_code": "DESK"}
    item = {"product_number": "P1", "quantity": 3, "from_location": line_end("O1", 1), "to_location": held}
    await goods("b1", "POST", MOVES, [item])
    there = world.books()
    restored(world, copy)
    await goods.again("b1", 409)
    await goods.again("a1")
    await goods.again("b1")
    assert world.books() == there


async def test_an_order_that_has_to_be_loaded_again_is_picked_once_it_is(world: World, goods: Said) -> None:
    copy = copied(world)
    await world.order("O2", {"product_number": "P1", "quantity": 2})
    body = {"orders": {**line(1, 0, 2), "order_number": "O2"}}
    await goods("a1", "PUT", ORDERS, body)
    restored(world, copy)
    await goods.again("a1", 404)
    await world.order("O2", {"product_number": "P1", "quantity": 2})
    await goods.again("a1")
    assert (await world.line("O2"))["picked_quantity"] == 2


async def test_two_week_old_count_splits_entries_before_and_after(world: World, goods: Said) -> None:
    copy, began = copied(world), world.now
    entry = {"product_number": "P1", "location_code": "A1"}
    said = [
        ("a1", {**entry, "quantity": -2}, "", 100.0),
        ("b1", {**entry, "stock_pool_1": 5}, "?is_counted_quantity=true", 200.0),
        ("a2", {**entry, "quantity": -1}, "", 300.0),
    ]
    for key, change, query, at in said:
        world.now = began + at
        when = {"Aisle-Occurred-At": format_timestamp(world.now)}
        await goods(key, "POST", LOGS + query, {"storeproductlog": [change]}, headers=when)
    assert world.books()[("P1", "A1", 1)] == 4
    for order in permutations(("a1", "b1", "a2")):
        restored(world, copy)
        world.now = began + 14 * 86400
        for key in order:
            await goods.again(key)
        assert world.books()[("P1", "A1", 1)] == 4, order


async def test_a_late_copy_that_is_refused_stands_for_nothing(world: World, goods: Said) -> None:
    copy = copied(world)
    await world.order("O2", {"product_number": "P1", "quantity": 2})
    body = {"orders": {**line(1, 0, 2), "order_number": "O2"}}
    await goods("a1", "PUT", ORDERS, body)
    restored(world, copy)
    late = await world.send("PUT", ORDERS, body, headers={"Idempotency-Key": f'"{named("a1")}"'})
    assert late.status_code == 404
    assert (await world.get(KEYS, keys=named("a1")))["unknown"] == [named("a1")]
    await goods.again("a1", 404)
    await world.order("O2", {"product_number": "P1", "quantity": 2})
    await goods.again("a1")
    assert (await world.line("O2"))["picked_quantity"] == 2
    assert (await world.get(KEYS, keys=named("a1")))["unknown"] == []
    await goods.again("a1")
    assert (await world.line("O2"))["picked_quantity"] == 2


REVIEWS, RECOUNTS = "/aisle/v1/stores/S1/reviews", "/aisle/v1/stores/S1/recounts"


async def test_a_review_is_of_no_other_entry_that_has_its_number_now(world: World, goods: Said) -> None:
    copy = copied(world)
    [entry] = (await world.log(product_number="P2", quantity=-1))["data"]
    world.now += 30
    at = {"Aisle-Occurred-At": format_timestamp(world.now)}
    await goods("r1", "POST", REVIEWS, {"reviews": [{"id": entry}]}, headers=at)
    restored(world, copy)
    world.now += 3600
    await goods.again("r1", 422)
    assert (await world.log(product_number="P3", quantity=-1))["data"] == [entry]
    await goods.again("r1", 422)
    for said in ({"reviews": [{"id": entry}]}, {"recounts": [{"log_id": entry}]}):
        path = REVIEWS if "reviews" in said else RECOUNTS
        answer = await world.send("POST", path, said, headers=at)
        assert answer.status_code == 422, "nor if it was never sent before"
        assert "given anew" in answer.text
    [row] = await world.rows("/products/stock/storeproductlogs", from_id=entry)
    assert row["review_status"] == "1"
    await world.post(REVIEWS, {"reviews": [{"id": entry}]})


async def test_a_recount_that_was_counted_is_counted_after_a_restore(world: World, goods: Said) -> None:
    copy, wanted = copied(world), {"product_number": "P1", "location_code": "A1"}
    said = {"Aisle-Occurred-At": format_timestamp(world.now)}
    await goods("r1", "POST", RECOUNTS, {"recounts": [wanted]}, headers=said)
    world.now += 30
    entry, said = {**wanted, "stock_pool_1": 9}, {"Aisle-Occurred-At": format_timestamp(world.now)}
    await goods("a1", "POST", f"{LOGS}?is_counted_quantity=true", {"storeproductlog": [entry]}, headers=said)
    assert (await world.get(RECOUNTS))["recounts"] == []
    restored(world, copy)
    world.now += 3600
    await goods.again("r1")
    [recount] = (await world.get(RECOUNTS))["recounts"]
    await goods.again("a1")
    assert (await world.get(RECOUNTS))["recounts"] == []
    body = {"recounts": [{"id": recount["id"], "state": "withdrawn"}]}
    answer = await world.send("POST", RECOUNTS, body, headers={"Aisle-Occurred-At": format_timestamp(world.now - 7200)})
    assert answer.status_code == 422, "it was ordered later"
