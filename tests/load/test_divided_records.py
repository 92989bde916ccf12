"""Orders and deliveries whose lines name several stores: one wrong store number loads no half of them."""

from __future__ import annotations

import pytest

from tests.load.test_repeated_loads import World

HEADERS = {
    "orders.csv": "store_number,order_number,line_number,product_number,quantity",
    "deliveries.csv": "store_number,order_number,line_number,product_number,quantity,no_of_containers",
}
NOUNS = {"orders.csv": "order", "deliveries.csv": "delivery"}
files = pytest.mark.parametrize("file", HEADERS)


async def load(world: World, file: str, *rows: str) -> tuple[dict[str, list[str]], list[str], list[str]]:
    """Return the lines by store of what the service has, the bad rows, and the warnings of a load of these rows."""
    world.write("stores.csv", "store_number,store_name,is_warehouse", "0301,One,false", "0303,Three,false")
    world.write("products.csv", "product_number", "P")
    await world.load()
    world.clear()
    end = ",1" if file == "deliveries.csv" else ""
    world.write(file, HEADERS[file], *(row + end for row in rows))
    report = await world.load()
    assert report is not None
    found: dict[str, list[str]] = {}
    async with world.client() as client:
        for store in ("0301", "0303"):
            if file == "orders.csv":
                listed = client.rows("list-customer-orders", path={"store_number": store}, query={"show_lines": True})
            else:
                listed = client.rows("list-deliveries", query={"store_number": store})
            found[store] = [
                f"{row['order_number']}.{line['line_number']}"
                async for row in listed
                for line in row.get("lines") or row.get("order_lines") or ()
            ]
    return found, [str(bad) for bad in report.bad], [note for note in report.files[0].notes if "several stores" in note]


@files
@pytest.mark.parametrize(
    ("store", "problem"),
    [
        ("0302", "there is no store 0302"),
        ("301", "There is no store 301; 0301?"),
        ("00301", "There is no store 00301; 0301?"),
        ("", "store_number is empty, and every row needs it"),
    ],
)
async def test_one_wrong_store_leaves_the_record_out_whole(file: str, store: str, problem: str, world: World) -> None:
    rows = ["0301,D,1,P,1", f"{store},D,2,P,1", "0301,D,3,P,1", "0301,E,1,P,1"]
    found, bad, _ = await load(world, file, *rows)
    assert found == {"0301": ["E.1"], "0303": []}
    others = "" if "0301?" in problem else ", whose other rows name store 0301 (2 rows (2, 4)),"
    kept = f"{NOUNS[file]} D{others} is left out whole, so that nobody takes"
    assert bad == [f"{file}:3: {problem}; {kept} it for complete"]


@files
async def test_same_lines_in_a_missing_store_are_another_record(file: str, world: World) -> None:
    found, bad, _ = await load(world, file, "0301,D,1,P,1", "0301,D,2,P,1", "0302,D,1,P,1")
    assert found == {"0301": ["D.1", "D.2"], "0303": []}
    assert [line.partition(": ")[0] for line in bad] == [f"{file}:4"]


@files
@pytest.mark.parametrize("number", [2, 3, 20])
async def test_lines_in_two_stores_are_warned_of(file: str, number: int, world: World) -> None:
    rows = ["0301,D,1,P,1", f"0303,D,{number},P,1", "0303,E,1,P,1", "0301,E,1,P,1"]
    found, bad, notes = await load(world, file, *rows)
    assert found == {"0301": ["D.1", "E.1"], "0303": [f"D.{number}", "E.1"]}
    assert bad == []
    assert notes == [
        f"{file}:3: warning: the lines of one number go to several stores, and are loaded as one {NOUNS[file]} in each;"
        " look whether a store_number is wrong: D (store 0301: row 2; store 0303: row 3)."
    ]
    assert (await load(world, file, *rows))[1:] == ([], [])


@files
@pytest.mark.parametrize("row", ["0301,,2,P,1", ",,2,P,1"])
async def test_line_without_the_number_leaves_the_record_out_whole(file: str, row: str, world: World) -> None:
    """As below merged cells."""
    found, bad, _ = await load(world, file, "0301,D,1,P,1", row, "0301,E,1,P,1", "0303,,1,P,1")
    assert found == {"0301": ["E.1"], "0303": []}
    assert [line.partition(": ")[0] for line in bad] == [f"{file}:3", f"{file}:5"]
    assert bad[0].endswith(f"; {NOUNS[file]} D is left out whole, so that nobody takes it for complete")
