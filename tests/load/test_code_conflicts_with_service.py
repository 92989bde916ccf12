"""Codes of a file that mean something else in the store, or nothing: the report names them, and what they also mean."""

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from aisle.client.client import Client
from aisle.client.paging import Row
from tests.load.test_repeated_loads import World

CODE, CASE, FREE = "4006381333931", "14006381333938", "4012345678901"
HEADERS = {
    "stores.csv": "store_number,store_name,is_warehouse",
    "products.csv": "product_number,product_name,barcode,purchase_unit_barcode,barcodes_array",
    "locations.csv": "store_number,location_code",
    "people.csv": "store_number,badge,user,name,role,pin",
    "orders.csv": "store_number,order_number,line_number,product_number,quantity,preferred_location_code,barcode",
    "deliveries.csv": "store_number,order_number,no_of_containers,line_number,product_number,quantity,barcode",
}
STORE = {
    "stores.csv": ["1,One,false", "2,Two,false"],
    "products.csv": [f"S01,Tea,{CODE},{CASE},", "S02,Ink,,,04252614", "0300,Pen,,,"],
    "locations.csv": ["1,P1", "1,A-01-2"],
}


async def load(world: World, files: dict[str, list[str]]) -> tuple[list[str], list[str]]:
    """Return the bad rows and the warnings of a load of these files."""
    world.clear()
    for name, rows in files.items():
        world.write(name, HEADERS[name], *rows)
    report = await world.load()
    assert report is not None
    return list(map(str, report.bad)), [note for file in report.files for note in file.notes if "warning" in note]


ALSO = "also another code of the store, and a scan of it has to ask which is meant"


@pytest.mark.parametrize(
    ("person", "column", "value"),
    [
        ("1,S01,jan,Jan", "badge", "S01 of Jan is also product S01"),
        ("1,s01,jan,Jan", "badge", "s01 of Jan is also product S01"),
        ("1,P1,kai,Kai", "badge", "P1 of Kai is also location P1"),
        ("1,a-01-2,kai,Kai", "badge", "a-01-2 of Kai is also location A-01-2"),
        (f"1,{CODE},leo,Leo", "badge", f"{CODE} of Leo is also a code of product S01"),
        (f"2,0{CODE},leo,Leo", "badge", f"0{CODE} of Leo is also a code of product S01"),
        (f"1,{CASE},leo,Leo", "badge", f"{CASE} of Leo is also a code of product S01"),
        ("1,04252614,mia,Mia", "badge", "04252614 of Mia is also a code of product S02"),
        ("1,B-1,s02,Mia", "user", "s02 of Mia is also product S02"),
        ("1,0300,ina,Ina", "badge", "0300 of Ina is also product 0300"),
    ],
)
async def test_badge_that_is_another_code_of_the_store_is_warned_of(
    person: str, column: str, value: str, world: World
) -> None:
    bad, notes = await load(world, STORE | {"people.csv": [f"{person},supervisor,4711"]})
    assert bad == []
    assert notes == [f"people.csv:2: warning: {column} is {ALSO}: {value}."]
    assert await load(world, {"people.csv": [f"{person},supervisor,4711"]}) == ([], notes)


@pytest.mark.parametrize(
    ("files", "line"),
    [
        ([["1,1001,jo,Jo", "1,1002,1001,Xa"]] * 2, 3),
        ([["1,1001,jo,Jo"], ["1,1002,1001,Xa"]], 2),
        ([["1,1002,1001,Xa"], ["1,1001,jo,Jo"]], 2),
        ([["1,1002,1001,Xa"], ["2,1001,jo,Jo", "1,1004,1004,Kai"]], 0),
    ],
)
async def test_user_that_is_the_badge_of_another_person_is_warned_of(
    files: list[list[str]], line: int, world: World
) -> None:
    stores = {"stores.csv": STORE["stores.csv"]}
    for rows in files:
        _, notes = await load(world, stores | {"people.csv": [f"{row},supervisor,4711" for row in rows]})
    what = "user is the badge of another person, who is meant by it at the sign-in"
    assert notes == [f"people.csv:{line}: warning: {what}: 1001 of Xa is the badge of Jo."] * bool(line)


@pytest.mark.parametrize("person", ["1,B-1,jan,Jan", "2,P1,kai,Kai", f"1,{FREE},leo,Leo", "1,S0,s0,Mia"])
async def test_badge_of_its_own_is_not_warned_of(person: str, world: World) -> None:
    assert await load(world, STORE | {"people.csv": [f"{person},supervisor,4711"]}) == ([], [])


@pytest.mark.parametrize(
    ("product", "value"),
    [
        ("S19,x,S01,,", "barcode is on two products: S01 of S19 is also of S01"),
        ("S19,x,s01,,", "barcode is on two products: s01 of S19 is also of S01"),
        ("S19,x,0300,,", "barcode is on two products: 0300 of S19 is also of 0300"),
        ("S19,x,,S02,", "purchase_unit_barcode is on two products: S02 of S19 is also of S02"),
        (f"S19,x,,,{FREE};S01", "barcodes_array is on two products: S01 of S19 is also of S01"),
        (f"{CODE},x,,,", f"product_number is on two products: {CODE} of {CODE} is also of S01"),
    ],
)
@pytest.mark.parametrize("is_before", [True, False], ids=["earlier load", "same file"])
async def test_barcode_that_is_the_number_of_another_product_is_warned_of(
    product: str, value: str, is_before: bool, world: World
) -> None:
    rows = [product] if is_before else [*STORE["products.csv"], product]
    if is_before:
        await load(world, STORE)
    bad, notes = await load(world, {"products.csv": rows})
    assert bad == []
    assert any(f"products.csv:{len(rows) + 1}: warning: {value}" in note for note in notes)


async def test_barcode_that_is_the_own_number_is_not_warned_of(world: World) -> None:
    files = {"stores.csv": STORE["stores.csv"], "products.csv": [f"{FREE},x,{FREE},,", "S7,y,S7,,"]}
    assert await load(world, files) == ([], [])
    assert await load(world, files) == ([], [])


DELIVERY, ORDER = "1,D,1,1,S02,10,{}", "1,O,1,S02,10,,{}"


@pytest.mark.parametrize(("name", "row"), [("deliveries.csv", DELIVERY), ("orders.csv", ORDER)])
@pytest.mark.parametrize(
    ("code", "value"),
    [
        (CODE, f"{CODE} of S02 is also of S01, which the service has"),
        (f"0{CODE}", f"0{CODE} of S02 is also of S01, which the service has"),
        (CASE, f"{CASE} of S02 is also of S01, which the service has"),
        ("S01", "S01 of S02 is also the number of another product"),
        ("04252614", ""),
        (FREE, ""),
        ("S02", ""),
    ],
)
async def test_barcode_of_a_line_that_is_of_another_product_is_warned_of(
    name: str, row: str, code: str, value: str, world: World
) -> None:
    bad, notes = await load(world, STORE | {name: [row.format(code)]})
    assert bad == []
    assert notes == ([f"{name}:2: warning: barcode is on two products: {value}."] if value else [])


async def test_barcode_of_lines_of_two_products_is_warned_of(world: World) -> None:
    rows = [f"1,D,1,1,S02,10,{FREE}", f"1,D,1,2,S02,10,{FREE}", f"1,D,1,3,0300,10,{FREE}"]
    _, notes = await load(world, STORE | {"deliveries.csv": rows})
    assert notes == [f"deliveries.csv:4: warning: barcode is on two products: {FREE} of 0300 is also of S02 (row 2)."]


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("P9", ", and a pick would send people there; write one of its locations, or none"),
        ("p1", "; P1?"),
        ("P01", "; P1?"),
        ("a-01-2", "; A-01-2?"),
        ("A012", "; A-01-2?"),
    ],
)
async def test_preferred_location_that_the_store_does_not_have_is_refused(code: str, hint: str, world: World) -> None:
    bad, _ = await load(world, STORE | {"orders.csv": [f"1,O,1,S01,1,{code},", "1,O2,1,S01,1,P1,"]})
    assert bad == [f"orders.csv:2: preferred_location_code {code!r}: store 1 has no such location{hint}"]


@pytest.mark.parametrize("row", ["1,O,1,S01,1,P1,", "1,O,1,S01,1,,", "2,O,1,S01,1,P9,"])
async def test_preferred_location_that_is_there_is_loaded(row: str, world: World) -> None:
    assert await load(world, STORE | {"orders.csv": [row]}) == ([], [])


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("1,S01", "S01 of store 1 is also product S01"),
        ("1,s01", "s01 of store 1 is also product S01"),
        ("2,0300", "0300 of store 2 is also product 0300"),
        (f"2,{CODE}", f"{CODE} of store 2 is also a code of product S01"),
        (f"1,0{CODE}", f"0{CODE} of store 1 is also a code of product S01"),
        ("1,SO-7", "SO-7 of store 1 is also order SO-7"),
        ("1,so-7", "so-7 of store 1 is also order SO-7"),
    ],
)
async def test_place_that_is_another_code_of_the_store_is_warned_of(place: str, value: str, world: World) -> None:
    await load(world, STORE | {"orders.csv": ["1,SO-7,1,S01,1,,"]})
    bad, notes = await load(world, {"locations.csv": [place]})
    assert bad == []
    assert notes == [f"locations.csv:2: warning: location_code is {ALSO}: {value}."]


@pytest.mark.parametrize("place", ["2,P1", "2,SO-7", "1,A-01-2", "1,A-01-3", "1,S0", "1,AB"])
async def test_place_of_its_own_is_not_warned_of(place: str, world: World) -> None:
    await load(world, STORE | {"orders.csv": ["1,SO-7,1,S01,1,,"]})
    assert await load(world, {"locations.csv": [place]}) == ([], [])


@pytest.mark.parametrize(
    ("rows", "value"),
    [
        (["1,A-O1-2"], "A-O1-2 beside A-01-2"),
        (["1,A-0I-2"], "A-0I-2 beside A-01-2"),
        (["1,PI"], "PI beside P1"),
        (["1,Pl"], "Pl beside P1"),
        (["2,B0", "2,BO"], "BO beside B0"),
    ],
)
async def test_place_that_looks_like_another_is_warned_of(rows: list[str], value: str, world: World) -> None:
    await load(world, STORE)
    bad, notes = await load(world, {"locations.csv": rows})
    what = "location_code looks like another, as O and 0 or I and 1 do; if it is the same, write it in one way"
    assert (bad, notes) == ([], [f"locations.csv:{len(rows) + 1}: warning: {what}: {value}."])


@pytest.mark.parametrize("code", ["B", "y", "7"])
async def test_location_of_one_character_is_warned_of(code: str, world: World) -> None:
    bad, notes = await load(world, STORE | {"locations.csv": [f"1,{code}"]})
    what = "location_code of one character is also an answer or a command; a code of two or more is none"
    assert (bad, notes) == ([], [f"locations.csv:2: warning: {what}: {code} of store 1."])


STAFF = {"people.csv": ["1,0012345,bert,Bert,supervisor,4711"]}
WORK = {"orders.csv": ["1,4102,1,S01,1,,"], "deliveries.csv": ["1,7001,1,1,S01,10,"]}
ORDERED, COMING = "1,{},1,S01,1,,", "1,{},1,1,S01,10,"


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("file", "row", "value"),
    [
        ("products.csv", "A-01-2,x,,,", "product_number: A-01-2 of product A-01-2 is also location A-01-2"),
        ("products.csv", "4102,x,,,", "product_number: 4102 of product 4102 is also order 4102"),
        ("products.csv", "7001,x,,,", "product_number: 7001 of product 7001 is also delivery 7001"),
        ("products.csv", "bert,x,,,", "product_number: bert of product bert is also the user of Bert"),
        ("products.csv", "S9,x,0012345,,", "barcode: 0012345 of product S9 is also the badge of Bert"),
        ("products.csv", "S9,x,,,P1", "barcodes_array: P1 of product S9 is also location P1"),
        ("locations.csv", "1,7001", "location_code: 7001 of store 1 is also delivery 7001"),
        ("locations.csv", "1,0012345", "location_code: 0012345 of store 1 is also the badge of Bert"),
        ("people.csv", "1,4102,kim,Kim,,", "badge: 4102 of Kim is also order 4102"),
        ("people.csv", "1,0012,7001,Kim,,", "user: 7001 of Kim is also delivery 7001"),
        ("orders.csv", ORDERED.format("S02"), "order_number: S02 of store 1 is also product S02"),
        ("orders.csv", ORDERED.format(CODE), f"order_number: {CODE} of store 1 is also a code of product S01"),
        ("orders.csv", ORDERED.format(CASE), f"order_number: {CASE} of store 1 is also a code of product S01"),
        ("deliveries.csv", COMING.format(CODE), f"order_number: {CODE} of store 1 is also a code of product S01"),
        ("orders.csv", ORDERED.format("A-01-2"), "order_number: A-01-2 of store 1 is also location A-01-2"),
        ("orders.csv", ORDERED.format("0012345"), "order_number: 0012345 of store 1 is also the badge of Bert"),
        ("orders.csv", ORDERED.format("7001"), "order_number: 7001 of store 1 is also delivery 7001"),
        ("deliveries.csv", COMING.format("S02"), "order_number: S02 of store 1 is also product S02"),
        ("deliveries.csv", COMING.format("4102"), "order_number: 4102 of store 1 is also order 4102"),
        ("deliveries.csv", COMING.format("P1"), "order_number: P1 of store 1 is also location P1"),
        ("orders.csv", ORDERED.format("7"), "order_number: 7 of store 1"),
        ("products.csv", "9,x,,,", "product_number: 9 of product 9"),
        ("products.csv", "y,x,,,", "product_number: y of product y"),
        ("orders.csv", ORDERED.format("4103"), ""),
        ("deliveries.csv", COMING.format("7002"), ""),
        ("products.csv", "S9,x,,,", ""),
        ("people.csv", "1,0012,kim,Kim,,", ""),
    ],
)
async def test_a_code_that_is_one_of_another_kind_is_warned_of(file: str, row: str, value: str, world: World) -> None:
    await load(world, STORE | STAFF | WORK)
    bad, notes = await load(world, {file: [row]})
    column, _, meaning = value.partition(": ")
    what = f"{column} is {ALSO}"
    if value and "also" not in meaning:
        what = f"{column} of one character is also an answer or a command; a code of two or more is none"
    assert (bad, notes) == ([], [f"{file}:2: warning: {what}: {meaning}."] if value else [])


@pytest.mark.parametrize("file", ["orders.csv", "deliveries.csv"])
async def test_the_barcode_of_a_product_among_many_numbers_is_warned_of(file: str, world: World) -> None:
    await load(world, STORE)
    row = ORDERED if file == "orders.csv" else COMING
    _, notes = await load(world, {file: [row.format(number) for number in (*range(3100, 3130), f"0{CODE}")]})
    assert notes == [f"{file}:32: warning: order_number is {ALSO}: 0{CODE} of store 1 is also a code of product S01."]


async def test_a_code_of_another_store_is_none_of_this_one(world: World) -> None:
    await load(world, STORE | STAFF | WORK)
    rows = {"orders.csv": "2,0012345,1,S01,1,,", "deliveries.csv": "2,4102,1,1,S01,10,", "locations.csv": "2,7001"}
    for file, row in rows.items():
        assert [note for note in (await load(world, {file: [row]}))[1] if ALSO in note] == []


@pytest.mark.parametrize(
    ("rows", "value"),
    [
        (["1,0013,l0u,Lou,,", "1,0014,lOu,Lou,,"], "lOu beside l0u"),
        (["1,0013,Bert,Bert,,"], ""),
        (["1,0013,jan,Jan,,", "1,0014,Ian,Ian,,"], ""),
        (["1,0013,bil,Bil,,", "1,0014,b1l,Bil,,"], "b1l beside bil"),
        (["1,0013,ali,Ali,,", "2,0014,a1i,Ali,,"], ""),
    ],
)
async def test_a_user_that_looks_like_another_is_warned_of(rows: list[str], value: str, world: World) -> None:
    _, notes = await load(world, STORE | {"people.csv": rows})
    what = "user looks like another, as O and 0 or I and 1 do; if it is the same, write it in one way"
    found = [note for note in notes if "looks like" in note]
    assert found == ([f"people.csv:{len(rows) + 1}: warning: {what}: {value}."] if value else [])


@pytest.mark.parametrize(
    ("rows", "value"),
    [
        (["1,A-02", "1,46366"], "46366, the number of 10-12-2026"),
        (["1,46366", "1,46367"], ""),
        (["1,A-02", "1,12345"], ""),
        (["1,A-02", "1,146366"], ""),
    ],
)
async def test_a_location_that_is_the_number_of_a_day_is_warned_of(rows: list[str], value: str, world: World) -> None:
    _, notes = await load(world, {"stores.csv": STORE["stores.csv"], "locations.csv": rows})
    assert notes == ([note for note in notes if "locations.csv:3" in note and value in note] if value else [])
    assert bool(value) == any("what a spreadsheet makes of a date" in note for note in notes)


@pytest.mark.parametrize(
    ("row", "read"),
    [
        ("S01,Thé,,,", set()),
        (f"S01,Tea,{CODE},{CASE},", set()),
        ("S9,New,,,", {"search_text=S9"}),
        (f"S01,Tea,0{FREE},,", {f"search_text={FREE}"}),
        ("\n".join(f"S{at},New,,," for at in range(90, 95)), {""}),
    ],
)
async def test_a_product_is_compared_with_no_more_orders_than_needed(
    row: str, read: set[str], world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await load(world, STORE | WORK)
    asked: list[tuple[str, str]] = []
    rows = Client.rows

    def listen(self: Client, name: str, *, path: Any = None, query: Any = None) -> AsyncGenerator[Row, None]:
        asked.append((name, "&".join(f"{key}={value}" for key, value in (query or {}).items())))
        return rows(self, name, path=path, query=query)

    monkeypatch.setattr(Client, "rows", listen)
    await load(world, {"products.csv": row.split("\n")})
    assert {query for name, query in asked if name == "list-customer-orders"} == read
    of_stores = {name for name, _ in asked} & {"list-customer-orders", "list-deliveries", "list-locations"}
    assert len(of_stores) == (3 if read else 0)
