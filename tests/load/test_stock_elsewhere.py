"""Goods that a load does not know of: changed by other work at a place, or lying at places beside it."""

from typing import Any

import pytest

from tests.load.test_existing_stock import loaded
from tests.load.test_repeated_loads import STOCK_HEADER, World, stocked

CHANGED = "the goods there were changed by other work than a load, and are left as they are"
BESIDE = "goods of the product lie where the file has no row for it, and stay there: "


async def changed(world: World, place: str, quantity: int, pool: int = 1) -> None:
    """Books goods at a place, or at none."""
    entry: dict[str, Any] = {"product_number": "P", f"stock_pool_{pool}": quantity}
    async with world.client() as client:
        await client.call(
            "create-store-product-logs",
            {"storeproductlog": [entry | ({"location_code": place} if place else {})]},
            store_number="1",
        )


async def moved(world: World, quantity: int, source: str, target: str) -> None:
    way = {"from_location": {"location_code": source}, "to_location": {"location_code": target}}
    async with world.client() as client:
        await client.call("create-movement", [{"product_number": "P", "quantity": quantity, **way}], store_number="1")


def noted(report: Any, words: str) -> list[str]:
    return [line.partition(words)[2] for line in report.lines() if words in line]


@pytest.mark.parametrize("rows", [("1,P,A,,12", "1,P,B,,0"), ("1,P,A,,12", "1,P,B,,2"), ("1,P,B,,2", "1,P,A,,12")])
async def test_goods_that_were_moved_are_not_lost_or_doubled(rows: tuple[str, ...], world: World) -> None:
    stocked(world, "1,P,A,,12")
    await loaded(world)
    await moved(world, 5, "A", "B")
    stocked(world, *rows)
    report = await loaded(world)
    assert await world.stock("P") == 12
    [said] = noted(report, CHANGED)
    assert "P at B: 5 in the service, " in said
    assert "it also lies at A (7), and its total would be " in said


@pytest.mark.parametrize(
    ("place", "quantity", "pool", "row"),
    [
        ("A", 4, 1, "1,P,A,,9"),
        ("A", -3, 1, "1,P,A,1,9"),
        ("A", 4, 2, "1,P,A,2,9"),
        ("", 4, 1, "1,P,,,9"),
        ("", -3, 1, "1,P,,1,9"),
        ("A", 4, 1, "1,P,,,9"),
    ],
)
async def test_stock_booked_before_first_load_is_left(
    place: str, quantity: int, pool: int, row: str, world: World
) -> None:
    stocked(world)
    await loaded(world)
    await changed(world, place, quantity, pool)
    stocked(world, row, "1,Q,A,,3")
    report = await loaded(world)
    assert len(noted(report, CHANGED)) == 1
    assert (await world.stock("P"), await world.stock("Q")) == (quantity, 3)
    await loaded(world, recount=True)
    assert await world.stock("P") == 9


async def test_each_product_that_lies_elsewhere_too_is_named_with_its_total(world: World) -> None:
    products = [f"X{at}" for at in range(90)]
    stocked(world, *(f"1,{one},{place},,20" for one in products for place in "AB"))
    world.write("products.csv", "product_number", *products)
    await loaded(world)
    world.clear()
    world.write("stock.csv", STOCK_HEADER, *(f"1,{one},A,,50" for one in products))
    said = noted(await loaded(world, recount=True), BESIDE)
    assert said == [f"{one} also lies at B (20); its total is now 70." for one in products]


async def test_row_equal_to_service_counts_as_loaded(world: World) -> None:
    stocked(world)
    await loaded(world)
    await changed(world, "A", 9)
    stocked(world, "1,P,A,,9")
    report = await loaded(world)
    assert report.files[-1].loaded_rows == 1
    assert report.files[-1].notes == ()


async def test_a_recount_says_where_the_goods_lie_too(world: World) -> None:
    stocked(world, "1,P,A,,12")
    await loaded(world)
    stocked(world, "1,P,B,,15")
    assert noted(await loaded(world, recount=True), BESIDE) == ["P also lies at A (12); its total is now 27."]
    assert await world.stock("P") == 27
    stocked(world, "1,P,A,,12", "1,P,B,,0")
    assert noted(await loaded(world, recount=True), BESIDE) == []
    assert await world.stock("P") == 12


async def test_less_than_nothing_elsewhere_is_named(world: World) -> None:
    stocked(world)
    await loaded(world)
    await changed(world, "A", -3)
    stocked(world, "1,P,B,,5")
    assert noted(await loaded(world), BESIDE) == ["P also lies at A (-3); its total is now 2."]
    assert await world.stock("P") == 2


@pytest.mark.parametrize("row", ["1,P,,,5", "1,P,,1,11", "1,P,,,0"])
async def test_a_recount_below_what_lies_at_places_is_refused(row: str, world: World) -> None:
    stocked(world, "1,P,A,,12")
    await loaded(world)
    await changed(world, "", 6)
    stocked(world, "1,Q,A,,3", row)
    report = await loaded(world, recount=True)
    assert [str(one) for one in report.bad] == [
        f"stock.csv:3: quantity {row.rpartition(',')[2]} is without a place, and less than what the product has at A"
        " (12); write a row for each place"
    ]
    assert not noted(report, BESIDE)
    assert (await world.stock("P"), await world.stock("Q")) == (18, 3)


@pytest.mark.parametrize(
    ("row", "said"), [("1,P,,,20", "+2 of P, which was at no place (6), A (12)"), ("1,P,,1,14", "-4 of P")]
)
async def test_a_recount_of_a_total_says_what_it_books_at_no_place(row: str, said: str, world: World) -> None:
    stocked(world, "1,P,A,,12")
    await loaded(world)
    await changed(world, "", 6)
    stocked(world, row)
    [warning] = noted(await loaded(world, recount=True), "the change of its total is booked at no place, as goods that")
    assert said in warning
    assert await world.stock("P") == int(row.rpartition(",")[2])
    assert not noted(await loaded(world, recount=True), "booked at no place")


async def picked(world: World, quantity: int, order: str = "O", **more: Any) -> None:
    """Picks goods of P for an order, which are in hand then."""
    line = {"line_number": 1, "product_number": "P", "quantity": quantity, "picked_quantity": quantity, **more}
    async with world.client() as client:
        orders = [{"order_number": order, "order_lines": [line]}]
        await client.call("create-customer-orders-one-store", {"orders": orders}, store_number="1")


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (("1,P,,,12",), "than what the product has at A (12) and in hand for order O1, O2 (5); write a row for each"),
        (("1,P,,1,16",), "than what the product has at A (12) and in hand for order O1, O2 (5); write a row for each"),
        (("1,P,A,,12", "1,P,,,0"), "than what the product has in hand for order O1, O2 (5); count that too"),
    ],
)
async def test_a_recount_takes_no_goods_in_hand_away(rows: tuple[str, ...], words: str, world: World) -> None:
    stocked(world, "1,P,A,,17")
    await loaded(world)
    await picked(world, 2, "O1")
    await picked(world, 3, "O2")
    stocked(world, *rows)
    report = await loaded(world, recount=True)
    assert words in report.bad[-1].reason
    assert report.bad[-1].line == 1 + len(rows)
    assert await world.stock("P") == 17


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("1,P,,2,8", "at A (5) and in hand for order O1, O2 (4); write a row for each place"),
        ("1,P,,,8", "at A (5) and in hand for order O1, O2 (4); write a row for each place"),
        ("1,P,,2,9", ""),
        ("1,P,,1,1", ""),
    ],
)
async def test_goods_in_hand_are_found_in_the_pool_they_were_picked_from(row: str, words: str, world: World) -> None:
    stocked(world, "1,P,A,2,9")
    await loaded(world)
    await picked(world, 3, "O1", picking_stock_pool_array=["2"])
    await picked(world, 1, "O2", stock_pool=2)
    stocked(world, row)
    report = await loaded(world, recount=True)
    assert [one.reason.partition("than what the product has ")[2] for one in report.bad] == ([words] if words else [])


@pytest.mark.parametrize("row", ["1,P,,,17", "1,P,A,,12"])
async def test_a_recount_names_goods_in_hand_with_their_order(row: str, world: World) -> None:
    stocked(world, "1,P,A,,17")
    await loaded(world)
    await picked(world, 5)
    stocked(world, row)
    report = await loaded(world, recount=True)
    assert report.bad == ()
    assert noted(report, BESIDE) == (
        ["P also lies in hand for order O (5); its total is now 17."] if ",A," in row else []
    )
    await changed(world, "", 2)
    stocked(world, "1,P,A,,13")
    beside = noted(await loaded(world, recount=True), BESIDE)
    assert beside == ["P also lies at no place (2) and in hand for order O (5); its total is now 20."]
    stocked(world, "1,P,,,24")
    [said] = noted(await loaded(world, recount=True), "goods that are counted at no place: ")
    assert said == "+4 of P, which was at no place (2), A (13) and in hand for order O (5)."
    async with world.client() as client:
        await client.call(
            "update-customer-order", {"orders": {"order_number": "O", "is_active": False}}, store_number="1"
        )
    assert await world.stock("P") == 19


@pytest.mark.parametrize(
    ("rows", "left"),
    [
        (("1,P,A,,10",), 1),
        (("1,P,A,1,10",), 1),
        (("1,P,A,2,4",), 1),
        (("1,P,A,1,10", "1,P,A,2,4"), 2),
        (("1,P,A,,10", "1,P,B,,0"), 2),
        (("1,P,A,,10", "1,P,B,,10"), 1),
        (("1,P,,,10",), 0),
        (("1,P,A,,0",), 0),
        (("1,P,A,,0", "1,P,B,,10"), 0),
        (("1,P,B,,10",), 0),
    ],
)
async def test_goods_that_were_all_moved_before_first_load_are_not_doubled(
    rows: tuple[str, ...], left: int, world: World
) -> None:
    stocked(world)
    await loaded(world)
    await changed(world, "A", 10)
    await moved(world, 10, "A", "B")
    stocked(world, *rows, "1,Q,A,,3")
    report = await loaded(world)
    assert (await world.stock("P"), await world.stock("Q")) == (10, 3)
    assert len(noted(report, CHANGED)) == left
    again = await loaded(world)
    assert await world.stock("P") == 10
    assert len(noted(again, CHANGED)) == left


@pytest.mark.parametrize("row", ["1,P,A,,10", "1,P,A,1,10", "1,P,,,10", "1,P,,1,10"])
@pytest.mark.parametrize("place", ["A", ""])
async def test_goods_that_all_left_before_first_load_do_not_come_back(place: str, row: str, world: World) -> None:
    stocked(world)
    await loaded(world)
    await changed(world, place, 10)
    await changed(world, place, -10)
    stocked(world, row)
    report = await loaded(world)
    is_same_place = place == "A" or ",A," not in row
    assert await world.stock("P") == (0 if is_same_place else 10)
    assert len(noted(report, CHANGED)) == is_same_place
    await loaded(world, recount=True)
    assert await world.stock("P") == 10


async def test_row_of_goods_moved_away_is_named_with_what_to_do(world: World) -> None:
    stocked(world)
    await loaded(world)
    await changed(world, "A", 10)
    await moved(world, 10, "A", "B")
    stocked(world, "1,Q,A,,3", "1,P,A,,10")
    [said] = [line for line in (await loaded(world)).lines() if CHANGED in line]
    assert said.startswith("stock.csv:3: warning: ")
    assert "load that with --recount" in said
    assert "P at A: 0 in the service, 10 in the file; it also lies at B (10), and its total would be 20." in said


async def test_pool_that_was_emptied_after_load_of_another_stays_empty(world: World) -> None:
    stocked(world, "1,P,A,1,12")
    await loaded(world)
    await changed(world, "A", 4, 2)
    await changed(world, "A", -4, 2)
    stocked(world, "1,P,A,1,12", "1,P,A,2,4", "1,P,A,3,1")
    report = await loaded(world)
    assert await world.stock("P") == 13
    assert len(noted(report, CHANGED)) == 1


AT_NO_PLACE = "the goods are counted at no place"
OTHER_POOL = "goods of the product lie in a pool for which the file has no row at their place, and stay there: "


@pytest.mark.parametrize(
    ("row", "booked"),
    [
        ("1,P,,1,30", "+9 of P, which was at A (21)."),
        ("1,P,,,30", "+9 of P, which was at A (21)."),
        ("1,P,,1,21", ""),
        ("1,P,,,21", ""),
    ],
)
async def test_goods_that_stay_at_places_are_not_said_to_be_at_none(row: str, booked: str, world: World) -> None:
    stocked(world, "1,P,A,1,21")
    await loaded(world)
    stocked(world, row, "1,Q,A,,3")
    report = await loaded(world, recount=True)
    assert noted(report, f"{AT_NO_PLACE}: ") == []
    assert noted(report, "as goods that are counted at no place: ") == ([booked] if booked else [])
    assert await world.stock("P") == int(row.rpartition(",")[2])


async def test_goods_of_a_pool_without_places_are_said_to_be_at_none(world: World) -> None:
    stocked(world, "1,P,A,1,21")
    await loaded(world)
    stocked(world, "1,P,,2,4", "1,Q,A,,3")
    assert noted(await loaded(world, recount=True), f"{AT_NO_PLACE}: ") == ["4 of P."]


@pytest.mark.parametrize("row", ["1,P,A,1,9", "1,P,A,3,9"])
async def test_goods_of_another_pool_at_a_place_of_the_file_are_named_with_it(row: str, world: World) -> None:
    stocked(world, "1,P,A,2,5", "1,P,B,1,1")
    await loaded(world)
    stocked(world, row, "1,P,B,1,1")
    report = await loaded(world, recount=True)
    assert noted(report, BESIDE) == []
    assert noted(report, OTHER_POOL) == ["P also lies at A in pool 2 (5); its total is now 15."]


async def test_goods_of_another_pool_at_another_place_of_the_file_are_named_with_it(world: World) -> None:
    stocked(world, "1,P,A,2,5")
    await loaded(world)
    stocked(world, "1,P,B,1,1", "1,P,A,1,0")
    report = await loaded(world, recount=True)
    assert (noted(report, BESIDE), noted(report, OTHER_POOL)) == (
        [],
        ["P also lies at A in pool 2 (5); its total is now 6."],
    )
