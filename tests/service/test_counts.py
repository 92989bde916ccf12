"""Counts and other log entries: what the books become, what is recorded, and when messages come late."""

from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any

import pytest

from aisle.service.domain.quantities_times_and_json import format_timestamp
from tests.service.world import API, LOGS, World, line_end


async def test_a_count_at_a_place_leaves_what_is_held_there(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=5)
    await world.order("O1", {"product_number": "P1", "quantity": 2})
    await world.move("P1", 2, "A1", line_end("O1", 1, "DESK"))
    answer = await world.count("P1", "DESK", stock_pool_1=3)
    assert world.books() == {("P1", "A1", 1): 3, ("P1", "DESK", 1): 1, ("P1", "DESK", 1, "O1", 1): 2}
    await world.count("P1", "DESK", stock_pool_1=1)
    assert world.books()[("P1", "DESK", 1)] == -1
    rows = await world.rows("/products/stock/storeproductlogs", store_number="S1", from_id=answer["data"][0])
    assert [(row["expected_quantity"], row["counted_quantity"], row["quantity"]) for row in rows] == [
        (2, 3, 1),
        (3, 1, -2),
    ]
    assert [row["review_status"] for row in rows] == ["0", "1"]


async def test_a_count_for_a_line_sets_what_it_holds(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=5)
    await world.order("O1", {"product_number": "P1", "quantity": 3})
    named: dict[str, Any] = {"customer_order_number": "O1", "customer_order_line_number": 1}
    await world.count("P1", "DESK", counted_quantity=2, **named)
    assert (await world.line("O1"))["picked_quantity"] == 2
    await world.count("P1", None, counted_quantity=1, **named)
    line = await world.line("O1")
    assert (line["picked_quantity"], line["moved_quantity"], line["is_picked"]) == (3, 2, True)
    await world.count("P1", None, counted_quantity=2, status=409, **named)
    await world.count("P1", "DESK", counted_quantity=0, **named)
    await world.pick("O1", 1, "P1", 0)
    assert world.books() == {("P1", "A1", 1): 5, ("P1", "", 1): 1}


async def test_only_named_pools_are_counted_and_total_goes_to_default_pool(world: World) -> None:
    await world.count("P1", "BACK", stock_pool_1=1, stock_pool_2=2, stock_pool_3=3)
    await world.count("P1", "BACK", stock_pool_3=0)
    await world.count("P1", "BACK", counted_quantity=9)
    await world.count("P1", "BACK", counted_quantity=7, pool_location=4)
    await world.count("P1", "A1", counted_quantity=5)
    assert world.books() == {("P1", "BACK", 1): 1, ("P1", "BACK", 2): 9, ("P1", "BACK", 4): 7, ("P1", "A1", 1): 5}


async def test_a_count_without_a_place_is_the_store_s_total(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=5)
    await world.order("O1", {"product_number": "P1", "quantity": 2})
    await world.pick("O1", 1, "P1", 2)
    await world.count("P1", None, counted_quantity=4)
    assert world.books() == {("P1", "A1", 1): 3, ("P1", "", 1): -1, ("P1", "", 1, "O1", 1): 2}
    [entry] = await world.rows("/storeproducts/stock", store_number="S1", product_number="P1")
    assert entry["most_likely_quantity"] == 4
    assert entry["last_counted_datetime"] == format_timestamp(world.now)
    [flagged] = await world.rows("/products/stock/storeproductlogs", store_number="S1", review_status=1)
    assert flagged["counted_quantity"] == 4


@pytest.mark.parametrize("counted", [None, 9])
async def test_the_undo_of_what_was_found_is_no_loss(world: World, counted: int | None) -> None:
    query = {"appUserName": "bea"}
    await world.log(query=query, product_number="P1", location_code="A1", quantity=-1, reason_code=1)
    found: dict[str, Any] = {"quantity": 3} if counted is None else {"counted_quantity": counted}
    await world.log(query={"appUserName": "dan"}, product_number="P1", location_code="A1", **found)
    logged = await world.rows("/products/stock/storeproductlogs", store_number="S1")
    undo: dict[str, Any] = {"quantity": -3, "reference": f"undo-{logged[-1]['id']}"}
    await world.log(query={"appUserName": "dan"}, product_number="P1", location_code="A1", **undo)
    [entry] = await world.rows("/storeproducts/stock", store_number="S1", product_number="P1")
    assert entry["last_loss_updatedby"] == "bea"


async def test_a_change_adds_and_a_loss_below_none_is_a_fact(world: World) -> None:
    await world.log(product_number="P1", location_code="A1", quantity=3, reason_code=4, appUserName=None, status=400)
    query = {"appUserName": "bea"}
    await world.log(query=query, product_number="P1", location_code="A1", quantity=3, reason_code=4)
    await world.log(query=query, product_number="P1", location_code="A1", quantity=-5, loss_comment="broken")
    await world.log(query=query, product_number="P1", stock_pool_2=2, stock_pool_3=-1)
    assert world.books() == {("P1", "A1", 1): -2, ("P1", "", 2): 2, ("P1", "", 3): -1}
    [entry] = await world.rows("/storeproducts/stock", store_number="S1", product_number="P1")
    assert (entry["last_loss_updatedby"], entry["most_likely_quantity"]) == ("bea", -1)
    rows = await world.rows("/products/stock/storeproductlogs", store_number="S1")
    assert [(row["app_user_name"], row["quantity"], row["review_status"]) for row in rows] == [
        ("bea", 3, "0"),
        ("bea", -5, "1"),
        ("bea", 1, "1"),
    ]


async def test_a_loss_of_held_goods_lowers_the_line(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=5)
    await world.order("O1", {"product_number": "P1", "quantity": 3})
    await world.pick("O1", 1, "P1", 3)
    named: dict[str, Any] = {"product_number": "P1", "customer_order_number": "O1", "customer_order_line_number": 1}
    await world.log(quantity=-1, **named)
    assert (await world.line("O1"))["picked_quantity"] == 2
    await world.log(quantity=2, **named, status=409)
    await world.log(quantity=-3, **named, status=409)
    await world.log(quantity=1, **named)
    assert (await world.line("O1"))["picked_quantity"] == 3


async def test_a_receipt_adds_stock_and_says_who_received(world: World) -> None:
    query = {"is_from_receipt": True, "appUserName": "cy"}
    await world.log(query=query, product_number="P1", location_code="BACK", quantity=6, reference="D1")
    assert world.books() == {("P1", "BACK", 2): 6}
    [entry] = await world.rows("/storeproducts/stock", store_number="S1", product_number="P1")
    assert entry["last_receipt_updatedby"] == "cy"


async def test_goods_without_stock_leave_an_entry_and_no_legs(world: World) -> None:
    await world.log(product_number="FEE", quantity=3)
    await world.count("FEE", None, counted_quantity=3)
    assert world.books() == {}
    assert len(await world.rows("/products/stock/storeproductlogs", article_number="FEE")) == 2


@pytest.mark.parametrize(
    "entry",
    [
        {"product_number": "NONE", "quantity": 1},
        {"quantity": 1},
        {"product_number": "P1", "quantity": 1, "location_code": "NOWHERE"},
        {"product_number": "P1", "quantity": 0.5},
        {"product_number": "KG", "quantity": 0.0001},
        {"product_number": "P1", "quantity": 1, "pool_location": 0},
        {"product_number": "P1", "quantity": 1, "customer_order_number": "O1"},
        {"product_number": "P1", "quantity": 1, "customer_order_number": "O1", "customer_order_line_number": 1},
        {"product_number": "P1", "quantity": 1, "loss_comment": "a\0b"},
    ],
)
async def test_a_bad_entry_refuses_the_whole_request(world: World, entry: dict[str, object]) -> None:
    body = {"storeproductlog": [{"product_number": "P2", "quantity": 1}, entry]}
    answer = await world.post("/stores/S1/products/stock/storeproductlogs", body, 422)
    assert answer["errors"][0]["field"].startswith("storeproductlog[1].")
    assert world.books() == {}
    assert await world.rows("/products/stock/storeproductlogs") == []


async def test_quantities_stay_within_64_bit_sums(world: World) -> None:
    """A database has whole numbers of 64 bits: what outgrows them would be wrong for everybody who sums it up."""
    most = 10**9
    for quantity in (most + 1, -most - 1):
        await world.log(422, product_number="P1", quantity=quantity)
        await world.count("P1", "A1", status=422, stock_pool_2=quantity)
        await world.move("P1", quantity, "A1", "A2", 422)
    await world.order("O1", {"product_number": "P1", "quantity": most + 1}, status=422)
    await world.log(product_number="P1", quantity=most, location_code="A1")
    before = world.books()
    await world.log(409, product_number="P1", quantity=1, location_code="A1")
    ups = [{"product_number": "P2", "quantity": most, "location_code": "A1"}] * 2
    await world.post(LOGS, {"storeproductlog": ups}, 409)
    await world.post(LOGS, {"storeproductlog": [one | {"quantity": -most} for one in ups]}, 409)
    assert world.books() == before == {("P1", "A1", 1): most}
    await world.log(product_number="P1", quantity=-1, location_code="A1")
    await world.log(product_number="P1", quantity=1, location_code="A1")
    await world.order("O1", {"product_number": "P1", "quantity": most})
    await world.pick("O1", 1, "P1", most)
    assert world.books() == {("P1", "", 1, "O1", 1): most}


async def test_an_empty_time_says_nothing_as_an_empty_text_does(world: World) -> None:
    times = ("scanned_datetime", "modification_datetime", "order_after_date")
    empty: dict[str, Any] = dict.fromkeys((*times, "loss_comment"), "")
    await world.log(product_number="P1", quantity=1, **empty)
    [row] = await world.rows("/products/stock/storeproductlogs")
    assert (row["moved_on"], row.get("reason_code_description")) == (format_timestamp(world.now), None)
    said: dict[str, Any] = {"product_number": "P1", "quantity": 1}
    for name in times:
        await world.log(400, **said | {name: "soon"})


async def test_an_entry_without_any_quantity_is_against_a_rule(world: World) -> None:
    await world.log(product_number="P1", status=422)


async def test_the_ids_in_the_answer_are_those_of_the_entries_in_order(world: World) -> None:
    entries = [{"product_number": number, "quantity": 1} for number in ("P1", "P2", "P3")]
    answer = await world.post("/stores/S1/products/stock/storeproductlogs", {"storeproductlog": entries})
    rows = await world.rows("/products/stock/storeproductlogs", store_number="S1")
    assert [(row["id"], row["product_number"]) for row in rows] == list(
        zip(answer["data"], ("P1", "P2", "P3"), strict=True)
    )


async def test_pick_before_count_arriving_after_it_is_absorbed(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=10)
    await world.order("O1", {"product_number": "P1", "quantity": 3})
    picked_at = format_timestamp(world.now + 60)
    world.now += 600
    await world.count("P1", "A1", stock_pool_1=7)
    world.now += 600
    said = {"line_number": 1, "product_number": "P1", "picked_quantity": 3}
    await world.update("O1", said, headers={"Aisle-Occurred-At": picked_at})
    assert world.books() == {("P1", "A1", 1): 7, ("P1", "", 1, "O1", 1): 3}


async def test_late_count_is_compared_with_stock_at_its_time(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=10)
    counted_at = format_timestamp(world.now + 60)
    world.now += 600
    await world.move("P1", 4, "A1", "A2")
    world.now += 600
    answer = await world.count("P1", "A1", stock_pool_1=9, scanned_datetime=counted_at)
    assert world.books() == {("P1", "A1", 1): 5, ("P1", "A2", 1): 4}
    [row] = await world.rows("/products/stock/storeproductlogs", from_id=answer["data"][0])
    assert (row["expected_quantity"], row["quantity"], row["moved_on"]) == (10, -1, counted_at)


@pytest.mark.parametrize("together", [True, False])
async def test_late_count_leaves_the_date_of_a_later_one(world: World, together: bool) -> None:
    earlier, later = format_timestamp(world.now + 60), format_timestamp(world.now + 600)
    world.now += 1200
    counts = [
        {"product_number": "P1", "location_code": code, "stock_pool_1": 1, "scanned_datetime": at}
        for code, at in (("A2", later), ("A1", earlier))
    ]
    for entries in [counts] if together else [[count] for count in counts]:
        await world.post(LOGS, {"storeproductlog": entries}, query={"is_counted_quantity": True})
    [entry] = await world.rows("/storeproducts/stock", store_number="S1", product_number="P1")
    assert entry["last_counted_datetime"] == later


async def test_write_happens_when_it_is_done_and_not_when_it_was_begun(world: World) -> None:
    read: list[str] = []

    async def slow_body() -> AsyncIterator[bytes]:
        yield b'{"storeproductlog": '
        world.now += 20
        await world.move("P1", 4, "A1", "A2")
        world.now += 20
        read.append((await world.get("/storeproducts/stock"))["server_time"])
        world.now += 20
        yield b'[{"product_number": "P1", "location_code": "A1", "counted_quantity": 9}]}'

    await world.count("P1", "A1", stock_pool_1=10)
    answer = await world.client.post(API + LOGS, content=slow_body())
    assert answer.status_code == 200, answer.text
    assert world.books() == {("P1", "A1", 1): 9, ("P1", "A2", 1): 4}
    [entry] = await world.rows("/storeproducts/stock", last_stock_modified_datetime=read[0])
    assert entry["last_counted_datetime"] == format_timestamp(world.now)


async def test_a_late_loss_is_absorbed_by_a_count_of_the_whole_store(world: World) -> None:
    await world.log(product_number="P1", quantity=10)
    lost_at = format_timestamp(world.now + 60)
    world.now += 600
    await world.count("P1", None, counted_quantity=8)
    world.now += 600
    await world.log(product_number="P1", quantity=-2, scanned_datetime=lost_at)
    assert world.books() == {("P1", "", 1): 8}


async def test_undoing_a_count_is_a_log_of_the_opposite_difference(world: World) -> None:
    await world.count("KG", "A1", stock_pool_1=2.5)
    answer = await world.count("KG", "A1", stock_pool_1=1.25)
    [row] = await world.rows("/products/stock/storeproductlogs", from_id=answer["data"][0])
    await world.log(product_number="KG", location_code="A1", quantity=float(-row["quantity"]))
    assert world.books() == {("KG", "A1", 1): Decimal("2.5")}


async def test_times_are_held_between_a_week_ago_and_now(world: World) -> None:
    await world.log(product_number="P1", quantity=1, scanned_datetime="1999-01-01T00:00:00Z")
    await world.log(product_number="P1", quantity=1, scanned_datetime="2999-01-01T00:00:00+02:00")
    await world.log(product_number="P1", quantity=1, scanned_datetime="soon", status=400)
    rows = await world.rows("/products/stock/storeproductlogs")
    assert [row["moved_on"] for row in rows] == [format_timestamp(world.now - 7 * 86400), format_timestamp(world.now)]


@pytest.mark.parametrize("ahead", [-20.5, -90_000.0, 40.0, 3e9])
async def test_moments_by_a_clock_that_is_off_are_those_of_ours(world: World, ahead: float) -> None:
    await world.count("P1", "A1", stock_pool_1=4)
    world.now += 600
    await world.move("P1", 1, "A1", "A2")
    world.now += 5
    counted_at, there = format_timestamp(world.now - 1), format_timestamp(world.now - 1 + ahead)
    entry = {"product_number": "P1", "location_code": "A1", "stock_pool_1": 3, "scanned_datetime": there}
    headers = {"Aisle-Occurred-At": there, "Aisle-Clock-Ahead": f"{ahead:.1f}", "Idempotency-Key": '"0123456789abcdef"'}
    said: dict[str, Any] = {"query": {"is_counted_quantity": True}, "headers": headers}
    answer = await world.post(LOGS, {"storeproductlog": [entry]}, **said)
    assert world.books() == {("P1", "A1", 1): 3, ("P1", "A2", 1): 1}
    [row] = await world.rows("/products/stock/storeproductlogs", from_id=answer["data"][0])
    assert (row["quantity"], row["moved_on"]) == (0, counted_at)
    # found again a little later, how far it is off may be another tenth of a second
    said["headers"] = {**headers, "Aisle-Clock-Ahead": f"{ahead + 0.3:.1f}"}
    assert await world.post(LOGS, {"storeproductlog": [entry]}, **said) == answer


async def test_a_clock_is_ahead_by_a_number_of_seconds(world: World) -> None:
    entry = {"product_number": "P1", "quantity": 1}
    for wrong in ("soon", "1e9", "nan", "", "12345678901"):
        headers = {"Aisle-Clock-Ahead": wrong}
        problem = await world.post(LOGS, {"storeproductlog": [entry]}, 400, query={}, headers=headers)
        assert problem["errors"][0]["field"] == "Aisle-Clock-Ahead" if "errors" in problem else problem
    assert world.books() == {}
    headers = {"Aisle-Occurred-At": "0001-01-01T00:00:00Z", "Aisle-Clock-Ahead": "9999999999"}
    await world.post(LOGS, {"storeproductlog": [entry]}, query={}, headers=headers)
    assert world.books() == {("P1", "", 1): 1}


async def test_a_late_pick_changes_no_total_that_was_counted_since(world: World) -> None:
    await world.log(product_number="P1", quantity=10)
    await world.order("O1", {"product_number": "P1", "quantity": 3})
    picked_at = format_timestamp(world.now + 60)
    world.now += 600
    await world.count("P1", None, counted_quantity=9)
    world.now += 600
    said = {"line_number": 1, "product_number": "P1", "picked_quantity": 3}
    await world.update("O1", said, headers={"Aisle-Occurred-At": picked_at})
    assert world.books() == {("P1", "", 1): 6, ("P1", "", 1, "O1", 1): 3}


async def test_a_total_counted_after_a_place_holds_what_the_place_absorbs(world: World) -> None:
    await world.count("P1", "A1", stock_pool_1=10)
    await world.order("O1", {"product_number": "P1", "quantity": 3})
    picked_at = format_timestamp(world.now + 60)
    world.now += 600
    await world.count("P1", "A1", stock_pool_1=7)
    await world.count("P1", None, counted_quantity=10)
    world.now += 600
    said = {"line_number": 1, "product_number": "P1", "picked_quantity": 3}
    await world.update("O1", said, headers={"Aisle-Occurred-At": picked_at})
    assert world.books() == {("P1", "A1", 1): 7, ("P1", "", 1, "O1", 1): 3}


async def test_only_decrease_below_zero_is_flagged(world: World) -> None:
    for change in (-5, 2, -1):
        await world.log(product_number="P1", quantity=change)
    rows = await world.rows("/products/stock/storeproductlogs")
    assert [row["review_status"] for row in rows] == ["1", "0", "1"]


@pytest.mark.parametrize(
    ("product", "place", "status"), [("P1", "A1", 412), ("P1", "A2", 412), ("P1", None, 412), ("P2", "A1", 200)]
)
@pytest.mark.parametrize("kind", ["count", "log", "move", "pick"])
async def test_a_count_is_refused_if_its_sender_has_not_read_newer_work(
    kind: str, product: str, place: str | None, status: int, world: World
) -> None:
    await world.order("O1", {"product_number": "P1", "quantity": 2})
    read = (await world.count("P1", "A1", stock_pool_1=5))["data"][0]
    work = {
        "count": world.count("P1", "A1", stock_pool_1=4),
        "log": world.log(product_number="P1", quantity=1),
        "move": world.move("P1", 2, "A1", "A2"),
        "pick": world.pick("O1", 1, "P1", 1),
    }
    for other in work.keys() - {kind}:
        work[other].close()
    await work[kind]
    books = world.books()
    entries = [{"product_number": product, "counted_quantity": 9} | ({"location_code": place} if place else {})]
    entries.insert(0, {"product_number": "P3", "counted_quantity": 1})
    headers = {"Aisle-Log-Read": str(read)}
    await world.post(LOGS, {"storeproductlog": entries}, status, headers=headers)
    assert (world.books() == books) == (status == 412)
    rows = await world.rows("/products/stock/storeproductlogs", store_number="S1")
    await world.post(LOGS, {"storeproductlog": entries}, headers={"Aisle-Log-Read": str(rows[-1]["id"])})
