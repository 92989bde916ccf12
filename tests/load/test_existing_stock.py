"""What a load says of stock is true: of products that keep none, of goods that lie elsewhere now, of refused pools."""

from pathlib import Path
from random import Random

import httpx
import pytest

from aisle.client.csv_load.report import FileReport, LoadReport
from tests.load.test_repeated_loads import STOCK_HEADER, World, stocked
from tests.load.test_sender import FakeService, Naps, run
from tests.run_length import tries

FEW = 20
NEWEST = {"from_id"}
"""Parameters of a read of what was added to the log."""


async def loaded(world: World, *, recount: bool = False) -> LoadReport:
    report = await world.load(recount=recount)
    assert report is not None
    return report


@pytest.mark.parametrize("others", [0, FEW + 5], ids=["few", "many"])
@pytest.mark.parametrize(
    ("of_product", "of_store", "is_kept"),
    [("false", "", False), ("true", "false", False), ("false", "true", True), ("true", "", True), ("", "", True)],
)
async def test_a_product_that_keeps_no_stock_is_not_said_to_be_loaded(
    of_product: str, of_store: str, is_kept: bool, others: int, world: World
) -> None:
    stocked(world, *(f"1,X{at},A,1,1" for at in range(others)), "1,P,A,1,5", "1,P,A,2,6", "1,Q,A,1,7")
    products = (f"X{at},," for at in range(others))
    world.write("products.csv", "product_number,is_stock,price", f"P,{of_product},1", "Q,,1", *products)
    if of_store:
        world.write("store_products.csv", "store_number,product_number,is_stock", f"1,P,{of_store}")
    for recount in (False, True):
        report = await loaded(world, recount=recount)
        assert report.is_complete
        words = "the product keeps no stock in this store (is_stock is false), so the row is not loaded: "
        said = [line.partition(words)[2] for line in report.lines() if words in line]
        assert said == ([] if is_kept else ["5 of P.", "6 of P."])
        if not recount:
            assert report.files[-1].loaded_rows == others + (3 if is_kept else 1)
    if is_kept:
        assert await world.stock("P") == 11


async def test_a_count_below_nothing_is_refused_by_its_row(world: World) -> None:
    stocked(world, "1,P,A,1,5", "1,P,A,2,-1", "1,Q,A,,-0.5")
    report = await loaded(world)
    assert [(row.line, row.reason.partition(",")[0]) for row in report.bad] == [
        (3, "quantity -1 is below 0"),
        (4, "quantity -0.5 is below 0"),
    ]
    assert await world.stock("P") == 5


@pytest.mark.parametrize(("pool", "line"), [("stock_pool_1", 2), ("stock_pool_2", 4), ("stock_pool_10", 5)])
async def test_a_refusal_of_a_pool_names_its_row(pool: str, line: int, tmp_path: Path) -> None:
    class Refusing(FakeService):
        def carried_out(self, content: bytes, store: str) -> httpx.Response:
            message = f"storeproductlog[0].{pool}: 1.5 is no whole number."
            return httpx.Response(422, json={"success": False, "message": message})

    rows = ["1,P,A,1,5", "1,P,B,1,1", "1,P,A,2,6", "1,P,A,10,7"]
    (tmp_path / "stock.csv").write_text("\n".join([STOCK_HEADER, *rows]) + "\n")
    report = await run(tmp_path, Refusing(), Naps())
    assert sorted({row.line for row in report.bad}) == sorted({line, 3})
    assert "quantity: 1.5 is no whole number." in report.bad[0].reason


@pytest.mark.parametrize("others", [0, FEW + 5], ids=["few", "many"])
@pytest.mark.parametrize("row", ["1,P,A,1,6", "1,P,,1,6", "1,P,A,,6"])
async def test_stock_of_a_product_that_was_deleted_and_is_made_anew_is_counted(
    row: str, others: int, world: World
) -> None:
    stocked(world, row, *(f"1,X{at},A,1,1" for at in range(others)), "1,Q,A,1,3")
    world.write("products.csv", "product_number", "P", "Q", *(f"X{at}" for at in range(others)))
    await loaded(world)
    place = {"location_code": "A"} if ",A," in row else {}
    await world.count({"product_number": "P", "counted_quantity": 0, **place})
    async with world.client() as client:
        await client.call("delete-products", {"product_numbers": ["P"]})
    assert (await loaded(world)).files[-1].loaded_rows == 1
    assert (await world.stock("P"), await world.stock("Q")) == (6, 3)
    assert (await loaded(world)).files[-1].loaded_rows == 0
    await world.lose("P", 2)
    await loaded(world)
    assert await world.stock("P") == 4


@pytest.mark.every_case
@pytest.mark.parametrize("is_active", ["true", "false"])
@pytest.mark.parametrize("requests", range(1, 4))
async def test_a_load_that_was_cut_off_after_it_made_a_product_anew_counts_it_later(
    requests: int, is_active: str, world: World
) -> None:
    stocked(world, "1,P,A,1,6", "1,Q,A,1,3", "1,R,A,1,4")
    world.write("products.csv", "product_number,is_active", f"P,{is_active}", f"Q,{is_active}", f"R,{is_active}")
    await loaded(world)
    await world.count({"product_number": "P", "counted_quantity": 0, "location_code": "A"})
    await world.count({"product_number": "Q", "counted_quantity": 0, "location_code": "A"})
    async with world.client() as client:
        await client.call("delete-products", {"product_numbers": ["P"]})
    world.write("prices.csv", "product_number,price", "P,2")
    await world.load(cut=(requests, True))
    await loaded(world)
    assert (await world.stock("P"), await world.stock("Q"), await world.stock("R")) == (6, 0, 4)
    again = await loaded(world)
    assert again.files[-1].loaded_rows == 0


# Goods that lie elsewhere now


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ("1,P,A,1,10", "1,P,B,1,10", "P: A then, B now"),
        ("1,P,A,1,10", "1,P,B,2,10", "P: A then, B now"),
        ("1,P,A,1,10", "1,P,B,1,12", "P: A then, B now"),
        ("1,P,A,1,10", "1,P,,1,10", "P: A then, no place now"),
        ("1,P,,1,10", "1,P,A,1,10", "P: no place then, A now"),
        ("1,P,A,1,10", "1,P,A,2,10", "P: 10 in pool 1 then, pool 2 now"),
        ("1,P,A,2,10", "1,P,A,1,10", "P: 10 in pool 2 then, pool 1 now"),
        ("1,P,A,,10", "1,P,A,2,10", "P: 10 in pool 1 then, pool 2 now"),
        ("1,P,,1,10", "1,P,,2,10", "P: 10 in pool 1 then, pool 2 now"),
    ],
)
async def test_a_corrected_place_or_pool_does_not_double_the_stock(
    first: str, second: str, words: str, world: World
) -> None:
    stocked(world, first)
    await loaded(world)
    stocked(world, second)
    report = await loaded(world)
    assert await world.stock("P") == 10
    assert report.files[-1].loaded_rows == 0
    assert any(words in note for note in report.files[-1].notes)


async def test_what_is_there_beside_is_counted(world: World) -> None:
    stocked(world, "1,P,A,1,10")
    await loaded(world)
    stocked(world, "1,P,A,1,10", "1,P,A,2,3", "1,P,B,1,4")
    assert (await loaded(world)).files[-1].loaded_rows == 2
    assert await world.stock("P") == 17


async def test_moved_stock_is_corrected_by_the_advised_count(world: World) -> None:
    stocked(world, "1,P,A,1,10")
    await loaded(world)
    world.clear()
    world.write("stock.csv", STOCK_HEADER, "1,P,A,1,0", "1,P,B,1,10")
    await loaded(world, recount=True)
    assert await world.stock("P") == 10
    stocked(world, "1,P,B,1,10")
    report = await loaded(world)
    assert report.files[-1].notes == ()
    stocked(world, "1,P,B,1,10", "1,P,,1,1")
    assert (await loaded(world)).files[-1].loaded_rows == 0
    assert await world.stock("P") == 10


@pytest.mark.parametrize("others", [0, FEW + 5], ids=["few", "many"])
@pytest.mark.parametrize(
    ("row", "left"),
    [("1,P,,,15", []), ("1,P,,1,15", ["5 of P in pool 2"]), ("1,P,,2,15", ["10 of P in pool 1"])],
)
async def test_a_count_without_a_place_says_what_stays_beside_it(
    row: str, left: list[str], others: int, world: World
) -> None:
    stocked(world, "1,P,A,1,10", "1,P,B,2,5", "1,Q,A,1,3")
    await loaded(world)
    stocked(world, row, "1,Q,,,3", *(f"1,X{at},,,1" for at in range(others)))
    world.write("products.csv", "product_number", "P", "Q", *(f"X{at}" for at in range(others)))
    report = await loaded(world, recount=True)
    words = "a row without a place counts the pool that it names, and what is in others stays: "
    assert [line.partition(words)[2] for line in report.lines() if words in line] == [f"{one}." for one in left]
    assert await world.stock("P") == {"1,P,,,15": 15, "1,P,,1,15": 20, "1,P,,2,15": 25}[row]
    before = await world.stock("P")
    stocked(world, "1,P,,1,9", "1,P,,2,0")
    report = await loaded(world, recount=True)
    assert [row.line for row in report.bad] == [2, 3]
    assert not any(words in line for line in report.lines())
    assert await world.stock("P") == before


async def test_a_load_does_not_take_its_own_counts_for_earlier_ones(tmp_path: Path) -> None:
    """The rows of a store that is named again after others are sent late, when its first counts are in the log."""
    service = FakeService()
    products = [f"P{at}" for at in range(500)]
    service.products |= {*products}
    rows = [f"{store},{one},A,1,1" for store in "12" for one in products]
    rows.insert(500, "1,P0,,1,9")
    rows += ["2,P0,,1,9", "1,P1,,1,9"]
    (tmp_path / "stock.csv").write_text("\n".join([STOCK_HEADER, *rows]) + "\n")
    report = await run(tmp_path, service, Naps())
    first, *notes = report.lines()
    assert first == f"stock.csv: {len(rows)} of {len(rows)} rows loaded."
    assert all("goods that lie at no place" in note for note in notes)
    assert len(service.counted) == len(rows)
    whole = [one for one in service.requests if one.method == "GET" and one.url.params.keys().isdisjoint(NEWEST)]
    assert len([one for one in whole if one.url.params.get("page_size") != "1"]) == 4


@pytest.mark.parametrize(
    ("stores", "words"),
    [
        ([], "Loaded into the service at https://x."),
        (["0042"], "Loaded into the service at https://x, store 0042."),
        (["2", "1"], "Loaded into the service at https://x, stores 1, 2."),
        ([f"{at:02}" for at in range(12)], "00, 01, 02, 03, 04, 05, 06, 07, 08, 09 and 2 more."),
    ],
)
def test_a_report_says_where_it_was_loaded(stores: list[str], words: str) -> None:
    file = FileReport("stock.csv", 1, 1, 1, stores=tuple(stores))
    assert LoadReport((file,), (), service_name="the service at https://x").lines()[0].endswith(words)


@pytest.mark.parametrize("status", [403, 404, 500, 503])
async def test_stock_is_loaded_where_its_list_cannot_be_read(status: int, tmp_path: Path) -> None:
    class NoList(FakeService):
        def answer(self, request: httpx.Request) -> httpx.Response:
            if request.method == "GET" and not request.url.path.endswith("/storeproductlogs"):
                return httpx.Response(status, json={"success": False, "message": "none"})
            return super().answer(request)

    (tmp_path / "stock.csv").write_text(f"{STOCK_HEADER}\n1,P,A,1,5\n")
    report = await run(tmp_path, NoList(), Naps())
    assert report.files[0].loaded_rows == 1
    doubted = any("which products keep stock could not be read" in note for note in report.files[0].notes)
    assert doubted == (status >= 500)


# Few rows and many

ROW_COUNTS = {"1": FEW, "2": FEW + 1, "3": 60, "4": tries(100, 600)}
"""Rows of the file by store: the products of up to 20 are read one by one, those of more from a list."""
DRAWN = 16
WORK: tuple[tuple[dict[str, object], ...], ...] = (
    (),
    ({"location_code": "A", "quantity": -5},),
    ({"location_code": "A", "quantity": -7},),
    ({"location_code": "A", "quantity": 5}, {"location_code": "A", "quantity": -5}),
    ({"location_code": "A", "quantity": -5}, {"location_code": "B", "quantity": 5}),
    ({"quantity": -5},),
    ({"location_code": "A", "counted_quantity": 0},),
    ({"counted_quantity": 0},),
    ({"location_code": "A", "counted_quantity": 3},),
    ({"location_code": "A", "counted_quantity": 0}, {"location_code": "A", "quantity": -1}),
)
"""What is booked for a product between two loads."""


def drawn_rows(dice: Random) -> list[str]:
    """Draw the row of each product, without its store; the file may not have it."""
    rows = [f"S{at},{dice.choice(('A', 'A', ''))},{dice.choice(('', '1'))}" for at in range(DRAWN)]
    return [f"{row},{dice.choice((0, 5, 5, 9))}" for row in rows if dice.random() < 0.9]


async def loads_of_stores(world: World, rows: list[str], *, together: bool) -> list[FileReport]:
    """Load the rows in each store, between so many others that it has its number of rows."""
    files = {
        store: [*(f"{store},{row}" for row in rows), *(f"{store},X{at},A,1,1" for at in range(count - len(rows)))]
        for store, count in ROW_COUNTS.items()
    }
    reports = []
    for lines in [[line for file in files.values() for line in file]] if together else files.values():
        world.write("stock.csv", STOCK_HEADER, *lines)
        reports.append((await loaded(world)).files[-1])
    return reports


async def stock_of_stores(world: World) -> list[dict[str, object]]:
    """Return the stock of the drawn products in each store."""
    async with world.client() as client:
        lists = [
            [row async for row in client.rows("list-store-products-stock", query={"store_number": store})]
            for store in ROW_COUNTS
        ]
    return [
        {row["product_number"]: row["most_likely_quantity"] for row in rows if "S" in row["product_number"]}
        for rows in lists
    ]


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("seed", range(tries(1, 20)))
async def test_many_rows_of_a_store_are_loaded_as_few(seed: int, together: bool, world: World) -> None:
    dice = Random(seed)
    world.write("stores.csv", "store_number,store_name,is_warehouse", *(f"{store},S,false" for store in ROW_COUNTS))
    world.write(
        "products.csv",
        "product_number",
        *(f"S{at}" for at in range(DRAWN)),
        *(f"X{at}" for at in range(ROW_COUNTS["4"])),
    )
    world.write("locations.csv", "store_number,location_code", *(f"{at},{code}" for at in ROW_COUNTS for code in "AB"))
    await loads_of_stores(world, first := drawn_rows(dice), together=together)
    world.clear()
    for work in [dice.choice(WORK) for _ in range(DRAWN)], [dice.choice(WORK[:3]) for _ in range(DRAWN)]:
        for at, entries in enumerate(work):
            for store in ROW_COUNTS:
                for entry in entries:
                    await (world.count if "counted_quantity" in entry else world.book)(
                        {"product_number": f"S{at}", **entry}, store
                    )
        for rows in first, drawn_rows(dice):
            reports = await loads_of_stores(world, rows, together=together)
            of_few, *others = await stock_of_stores(world)
            assert [stock == of_few for stock in others] == [True] * len(others), (of_few, others)
            assert len({report.whole_notes for report in reports}) == 1
            again = await loads_of_stores(world, rows, together=together)
            assert [report.loaded_rows for report in again] == [0] * len(again)
