"""What the report of a load says is so: the row of a fault, what differs, what left the stock, and the exit status."""

import pytest

from aisle.client.csv_load import LoadReport
from tests.load.test_repeated_loads import STOCK_HEADER, World, stocked

ORDER = "store_number,order_number,line_number,product_number,quantity,is_picked,picked_quantity,customer_name"
DELIVERY = "store_number,order_number,no_of_containers,line_number,product_number,quantity,container_barcode"


async def loaded(world: World, *, recount: bool = False) -> LoadReport:
    report = await world.load(recount=recount)
    assert report is not None
    return report


async def load(world: World, name: str, *rows: str) -> LoadReport:
    """Return the report of a load of this file alone."""
    world.clear()
    world.write(name, *rows)
    return await loaded(world)


@pytest.mark.parametrize(
    ("name", "rows", "line"),
    [
        ("deliveries.csv", [DELIVERY, "1,D,1,1,P,1,", "1,D,1,2,Q,1.5,"], 3),
        ("deliveries.csv", [DELIVERY, "1,C,1,1,P,1,", "1,D,1,1,P,1,", "1,C,1,2,Q,1,", "1,D,1,2,Q,1.5,"], 5),
        ("deliveries.csv", [DELIVERY, "1,D,1,1,P,1,", "1,D,1,2,Q,1,", "1,D,1,3,XX,1,"], 4),
        ("orders.csv", [ORDER, "1,O,1,P,1,,,", "1,O,2,Q,1.5,,,"], 3),
        ("orders.csv", [ORDER, "1,O,7,P,1,,,", "1,O,5,Q,1,,,", "1,O,6,XX,1,,,"], 4),
        ("free_fields.csv", ["product_number,sort_order,key,value", "P,1,a,x", "P,2,b,x", "Q,1,a,y", "P,2.5,c,x"], 5),
    ],
)
async def test_refused_record_names_the_row_of_the_fault(name: str, rows: list[str], line: int, world: World) -> None:
    stocked(world)
    await loaded(world)
    report = await load(world, name, *rows)
    assert [row.line for row in report.bad] == [line]


async def test_container_of_a_delivery_that_is_not_loaded_is_free(world: World) -> None:
    code = "095200010000000012"
    stocked(world)
    world.write(
        "deliveries.csv",
        *(DELIVERY, f"1,C,1,1,P,1.5,{code}", f"1,D,1,1,P,1,{code}", f"1,E,1,1,P,1,{code}", f"1,E,1,2,Q,1,{code}"),
    )
    notes = [note for file in (await loaded(world)).files for note in file.notes if "two deliveries" in note]
    assert notes == []


async def test_container_of_two_deliveries_is_named_once(world: World) -> None:
    code = "095200010000000012"
    stocked(world)
    world.write("deliveries.csv", DELIVERY, f"1,D,1,1,P,1,{code}", f"1,E,1,1,P,1,{code}", f"1,E,1,2,Q,1,{code}")
    notes = [note for file in (await loaded(world)).files for note in file.notes if "two deliveries" in note]
    assert [note.split(":")[1] for note in notes] == ["3"]


@pytest.mark.parametrize(
    ("rows", "is_complete"),
    [
        (["1,P,A,1,5", "1,Q,A,1,2"], True),
        (["1,P,A,1,6", "1,Q,A,1,2"], False),
        (["1,P,B,1,5", "1,Q,A,1,2"], False),
        (["1,P,A,2,5"], False),
        (["1,P,A,1,5", "1,R,B,1,2"], True),
        (["1,N,A,1,5", "1,P,A,1,5"], False),
    ],
)
async def test_rows_that_are_left_are_not_complete(rows: list[str], is_complete: bool, world: World) -> None:
    stocked(world, "1,P,A,1,5", "1,Q,A,1,2")
    assert (await loaded(world)).is_all_loaded
    await load(world, "products.csv", "product_number,is_stock", "N,false")
    assert (await load(world, "stock.csv", STOCK_HEADER, *rows)).is_all_loaded == is_complete


async def test_picked_lines_say_that_their_goods_leave_the_shelf(world: World) -> None:
    stocked(world, "1,P,A,1,5")
    await loaded(world)
    rows = [
        ORDER,
        "1,O,1,P,1,true,1,",
        "1,O,2,P,1,true,,",
        "1,O4,1,P,2,false,1,",
        "1,O2,1,P,1,,0,",
        "1,O3,1,XX,1,true,1,",
    ]
    report = await load(world, "orders.csv", *rows)
    words = "warning: the line comes picked, and its goods are taken off the shelf; if they were gone when it was"
    told = [note for note in report.files[0].notes if words in note]
    assert [note.split(":")[1] for note in told] == ["2", "3", "4"]
    again = await load(world, "orders.csv", *rows[:5])
    assert not any(words in note for note in again.files[0].notes)


AT = {"store_number": "1"}
PICKED_ORDER = "store_number,order_number,line_number,product_number,quantity,is_picked,order_lines.is_picked"


@pytest.mark.parametrize(
    ("cells", "is_told"),
    [(",true", True), ("true,", True), ("true,true", True), ("false,true", True), ("true,false", False), (",", False)],
)
async def test_line_that_comes_picked_by_its_own_field_is_told(cells: str, is_told: bool, world: World) -> None:
    stocked(world, "1,P,A,1,5")
    await loaded(world)
    report = await load(world, "orders.csv", PICKED_ORDER, f"1,O,1,P,2,{cells}")
    told = [note for note in report.files[0].notes if "the line comes picked, and its goods are taken off" in note]
    assert [note.rpartition(": ")[2] for note in told] == ["2 of P."] * is_told
    async with world.client() as client:
        [order] = [row async for row in client.rows("list-customer-orders", path=AT, query={"show_lines": True})]
    assert (order["lines"][0]["picked_quantity"] == 2) == is_told


@pytest.mark.parametrize("cells", ["true,", ",2", "true,2"])
@pytest.mark.parametrize("state", ["true,", "true,false"])
async def test_picked_lines_of_an_order_that_comes_rejected(cells: str, state: str, world: World) -> None:
    stocked(world, "1,P,A,1,5")
    await loaded(world)
    header = f"{PICKED_ORDER.rpartition(',')[0]},picked_quantity,is_rejected,is_active"
    report = await load(world, "orders.csv", header, f"1,O,1,P,2,{cells},{state}", "1,O,2,P,1,,,,")
    told = [note for note in report.files[0].notes if "picked of the line" in note or "comes picked" in note]
    what = "what is picked of the line is not kept, because the order comes rejected"
    rows = [(2, 2), (3, 1)] if cells.startswith("true") else [(2, 2)]
    assert told == [f"orders.csv:{line}: warning: {what}: {quantity} of P." for line, quantity in rows]
    assert await world.stock("P") == 5


ORDER_FIELDS = {
    "customer_phone": ("0612", "0613"),
    "customer_name": ("Ann", "Ben"),
    "order_comment": ("ring", "knock"),
    "reference": ("R1", "R2"),
    "sales_order_id": ("7", "8"),
    "order_type": ("X", "Y"),
    "order_lines.reference": ("a", "b"),
    "order_lines.description": ("red", "blue"),
    "pickup_date": ("2026-12-01", "2026-12-02"),
    "delivery_date": ("2026-12-01 10:00", "2026-12-01 11:00"),
    "ordering_datetime": ("2026-11-01", "2026-11-02"),
    "price": ("1.5", "2"),
    "barcode": ("9520001100024", "9520001100086"),
    "preferred_location_code": ("A", "B"),
    "picking_stock_pool_array": ("2|3", "3|2"),
    "stock_pool": ("1", "2"),
    "quantity": ("2", "3"),
    "product_number": ("P", "Q"),
}
DELIVERY_FIELDS = {
    "supplier_code": ("S1", "S2"),
    "supplier_name": ("One", "Two"),
    "description": ("x", "y"),
    "datetime_expected": ("2026-12-01 10:00", "2026-12-01 11:30"),
    "datetime_created": ("2026-11-01 10:00", "2026-11-01 11:00"),
    "reason_code": ("1", "2"),
    "no_of_containers": ("1", "2"),
    "purchase_price": ("1.5", "1.6"),
    "container_barcode": ("C1", "C2"),
    "customer_order_number": ("O1", "O2"),
    "secondary_order_number": ("T1", "T2"),
    "target_stock_pool": ("1", "2"),
    "order_lines.description": ("red", "blue"),
    "quantity": ("2", "3"),
    "product_number": ("P", "Q"),
}
NEEDED = dict(zip(("store_number", "order_number", "line_number", "product_number", "quantity"), "1O1P1", strict=True))
OF_LINE = (
    *("order_lines.reference", "order_lines.description", "pickup_date", "delivery_date", "ordering_datetime", "price"),
    *("barcode", "preferred_location_code", "picking_stock_pool_array", "stock_pool", "quantity", "product_number"),
    *("purchase_price", "container_barcode", "customer_order_number", "secondary_order_number", "target_stock_pool"),
)


def row_of(file: str, cells: dict[str, str]) -> list[str]:
    """Return the header and row of a record with these cells."""
    row = NEEDED | ({"no_of_containers": "1"} if file == "deliveries.csv" else {}) | cells
    row |= {"customer_order_line_number": "1"} if "customer_order_number" in row else {}
    return [",".join(row), ",".join(row.values())]


@pytest.mark.parametrize(
    ("file", "name", "values"),
    [
        *(("orders.csv", name, values) for name, values in ORDER_FIELDS.items()),
        *(
            pytest.param("deliveries.csv", name, values, marks=pytest.mark.drawn if name == "datetime_expected" else ())
            for name, values in DELIVERY_FIELDS.items()
        ),
    ],
)
async def test_record_with_another_value_says_which(
    file: str, name: str, values: tuple[str, str], world: World
) -> None:
    stocked(world)
    others = {other: one for other, (one, _) in (ORDER_FIELDS if file == "orders.csv" else DELIVERY_FIELDS).items()}
    world.write(file, *row_of(file, others | {name: values[0]}))
    await loaded(world)
    assert (await load(world, file, *row_of(file, others | {name: values[0]}))).bad == ()
    [bad] = (await load(world, file, *row_of(file, others | {name: values[1]}))).bad
    field = name.rpartition(".")[2]
    words = f"line 1 has {field} {values[0]}" if name in OF_LINE else f"{field} is {values[0]}"
    assert bad.reason.partition("What differs: ")[2] == f"{words} there and {values[1]} in the file."


@pytest.mark.parametrize(
    ("file", "name"),
    [
        *(("orders.csv", name) for name in ORDER_FIELDS if name not in NEEDED),
        *(("deliveries.csv", name) for name in DELIVERY_FIELDS if name not in (*NEEDED, "no_of_containers")),
    ],
)
async def test_missing_column_or_empty_cell_is_no_difference(file: str, name: str, world: World) -> None:
    """An empty cell keeps the value; a value where the service has none is a difference."""
    stocked(world)
    others = {other: one for other, (one, _) in (ORDER_FIELDS if file == "orders.csv" else DELIVERY_FIELDS).items()}
    value = others.pop(name)
    others.pop("customer_order_number", None)
    world.write(file, *row_of(file, {name: value} | others))
    await loaded(world)
    for cells in (others, others | {name: ""}):
        header, row = row_of(file, cells)
        report = await load(world, file, header, row)
        assert [str(bad) for bad in report.bad] == []
        assert report.is_all_loaded
        assert report.files[0].loaded_rows == report.files[0].records == 1


@pytest.mark.parametrize("file", ["orders.csv", "deliveries.csv"])
async def test_value_that_only_the_file_has_is_named(file: str, world: World) -> None:
    name = "price" if file == "orders.csv" else "purchase_price"
    stocked(world)
    world.write(file, *row_of(file, {"order_number": "X"}))
    await loaded(world)
    [bad] = (await load(world, file, *row_of(file, {"order_number": "X", name: "1.5"}))).bad
    assert bad.reason.endswith(f" {'0' if name == 'price' else 'empty'} there and 1.5 in the file.")


async def test_fewer_columns_hide_no_other_difference(world: World) -> None:
    stocked(world)
    world.write("orders.csv", ORDER, "1,O,1,P,2,,,A", "1,O,2,P,1,,,A")
    await loaded(world)
    for rows in (["1,O,1,P,2"], ["1,O,1,P,2", "1,O,2,Q,1"], ["1,O,1,P,2", "1,O,2,P,1", "1,O,3,P,1"]):
        report = await load(world, "orders.csv", "store_number,order_number,line_number,product_number,quantity", *rows)
        [bad] = report.bad
        assert " 2 " in bad.reason or " 3 " in bad.reason


@pytest.mark.parametrize(("lines", "length"), [(2, 5), (8, 5), (20, 5), (3, 400), (9, 80), (20, 300), (300, 5)])
async def test_every_value_that_differs_is_named_in_the_report(lines: int, length: int, world: World) -> None:
    header = "store_number,order_number,no_of_containers,line_number,product_number,quantity,order_lines.description"
    stocked(world)

    def rows(end: str) -> list[str]:
        return [header, *(f"1,D,1,{at},P,1,{'x' * length}{end}{at}" for at in range(1, lines + 1))]

    world.write("deliveries.csv", *rows("old"))
    await loaded(world)
    [line] = [line for line in (await load(world, "deliveries.csv", *rows("new"))).lines() if "What differs" in line]
    named = line.partition("What differs: ")[2].split("; ")
    more = int(named.pop().split()[1]) if "and " in named[-1][:4] else 0
    assert more == 0 or lines > 20
    assert len(named) + more == lines
    for at, one in enumerate(named, 1):
        assert one.startswith(f"line {at} has description ")
        assert f"old{at}" in one
        assert f"new{at}" in one
    assert line.endswith(" in the file." if not more else f"; and {more} more.")


async def test_lines_that_differ_are_named_in_words_with_advice(world: World) -> None:
    stocked(world)
    world.write("orders.csv", ORDER, "1,O,1,P,2,,,A", "1,O,2,P,1,,,A")
    await loaded(world)
    [bad] = (await load(world, "orders.csv", ORDER, "1,O,1,P,3,,,B", "1,O,3,P,1,,,B")).bad
    assert bad.reason == (
        "the service refused order O with its 2 rows: Order O exists with another content. A load changes no order that"
        " is there: have a supervisor reject it in aisle, and load the right one under another order_number; what is"
        " only to be added can be an order of its own. What differs: customer_name is A there and B in the file; line 1"
        " has quantity 2 there and 3 in the file; the order has no line 3 there; line 2 there is not in the file."
    )


async def test_work_on_an_order_is_no_difference(world: World) -> None:
    stocked(world)
    world.write("orders.csv", ORDER, "1,O,1,P,2,,,A")
    await loaded(world)
    async with world.client() as client:
        line = {"line_number": 1, "product_number": "P", "picked_quantity": 1}
        await client.call(
            "update-customer-order", {"orders": {"order_number": "O", "order_lines": [line]}}, store_number="1"
        )
        await client.call(
            "update-customer-order", {"orders": {"order_number": "O", "is_active": False}}, store_number="1"
        )
    [bad] = (await load(world, "orders.csv", ORDER, "1,O,1,P,3,,0,A")).bad
    assert bad.reason.endswith(" What differs: line 1 has quantity 2 there and 3 in the file.")
    [bad] = (await load(world, "orders.csv", ORDER, "1,O,1,P,2,,2,A")).bad
    assert bad.reason.endswith(" What differs: line 1 has picked_quantity 1 there and 2 in the file.")


async def test_rows_of_one_order_that_differ_name_it(world: World) -> None:
    stocked(world)
    world.write("orders.csv", ORDER, "1,O,1,P,1,,,Özil", "1,O,2,P,1,,,Ozil")
    [bad] = (await loaded(world)).bad
    assert bad.reason.startswith("customer_name is 'Ozil', but 'Özil' in an earlier row of order O; write one of them")


async def test_every_fault_of_a_row_is_named(world: World) -> None:
    stocked(world)
    world.write("products.csv", "product_number,price,special_price,is_active", "S,###,#WERT!,maybe", "T,1,x,true")
    report = await loaded(world)
    bad = {row.line: row.reason for row in report.bad if row.file == "products.csv"}
    assert [
        bad[2].count(name) for name in ("price is '###'", "; also special_price is '#WERT!'", "; also is_active ")
    ] == [1, 1, 1]
    assert "also" not in bad[3]


@pytest.mark.parametrize(
    ("name", "rows", "words"),
    [
        (
            "discount_prices.csv",
            ["product_number,discount_price", "Q,99"],
            "discount_price is above the price: 99 and 2",
        ),
        ("store_products.csv", ["store_number,product_number,min", "1,P,-1"], "min is below 0: -1 of P"),
        ("attributes.csv", ["product_number,average_weight", "P,-1"], "average_weight is below 0: -1 of P"),
        (
            "stores.csv",
            ["store_number,store_name,is_warehouse,store_stock_pool_1,store_stock_pool_2", "5,x,false,Laden,laden"],
            "two stock pools have the same name: laden",
        ),
        (
            "stores.csv",
            ["store_number,store_name,is_warehouse,postal_code", "5,x,false,01.067"],
            "postal_code has a point",
        ),
        (
            "free_fields.csv",
            ["product_number,sort_order,key,value", "P,1,Bio,x", "P,1,Art,x"],
            "sort_order of the same product stands in an earlier row too: 1 in row 2",
        ),
        (
            "orders.csv",
            ["store_number,order_number,line_number,product_number,quantity,pickup_date"]
            + [f"1,O{at},1,P,1,{day}" for at, day in enumerate(("11/12/2026", "11/30/2026"))],
            "dates with the month first (11/30/2026 in row 3 is 2026-11-30)",
        ),
    ],
)
async def test_value_that_is_hardly_meant_is_named(name: str, rows: list[str], words: str, world: World) -> None:
    stocked(world)
    await loaded(world)
    report = await load(world, name, *rows)
    assert any(words in note for file in report.files for note in file.notes)


@pytest.mark.parametrize(("number", "near"), [("S1", "S01"), ("s01", "S01"), ("S-01", "S01"), ("X9", "")])
async def test_unknown_product_comes_with_the_nearest_one(number: str, near: str, world: World) -> None:
    stocked(world)
    await loaded(world)
    await load(world, "products.csv", "product_number", "S01")
    [bad] = (await load(world, "prices.csv", "product_number,price", f"{number},1")).bad
    assert bad.reason.endswith(f"There is no product {number}.{f' {near}?' if near else ''}")


@pytest.mark.parametrize("column", ["price", "purchase_price", "special_price", "purchase_unit_quantity"])
async def test_negative_figure_that_is_refused_is_not_warned_of_too(column: str, world: World) -> None:
    stocked(world)
    await loaded(world)
    report = await load(world, "products.csv", f"product_number,{column}", "P,-3", "Q,3")
    assert [row.line for row in report.bad] == [2]
    assert "-3 of P" not in "\n".join(report.lines())
    assert [file.loaded_rows for file in report.files] == [1]


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        (["1,P,A,1,20", "1,Q,A,1,6"], "stock.csv: 2 rows, all loaded before with the same figure."),
        (["1,P,A,1,20"], "stock.csv: 1 row, loaded before with the same figure."),
        (["1,P,A,1,20", "1,Q,A,1,7"], "stock.csv: 0 of 2 rows loaded, 1 loaded before with the same figure."),
        (["1,P,A,1,20", "1,R,A,1,7"], "stock.csv: 1 of 2 rows loaded, 1 loaded before with the same figure."),
        (["1,P,A,1,20", "1,R,A,1,x"], "stock.csv: 0 of 2 rows loaded, 1 loaded before with the same figure."),
        (["1,Q,A,1,7"], "stock.csv: 0 of 1 rows loaded."),
    ],
)
async def test_unchanged_stock_is_not_reported_as_not_loaded(rows: list[str], line: str, world: World) -> None:
    stocked(world, "1,P,A,1,20", "1,Q,A,1,6")
    await loaded(world)
    report = await load(world, "stock.csv", "store_number,product_number,location_code,stock_pool,quantity", *rows)
    assert line in report.lines()


async def test_one_record_of_several_rows_is_said_as_one(world: World) -> None:
    stocked(world)
    await loaded(world)
    report = await load(world, "deliveries.csv", DELIVERY, "1,D,1,1,P,1,", "1,D,1,2,Q,1,")
    assert "deliveries.csv: 2 of 2 rows loaded as 1 record (1 new)." in report.lines()


@pytest.mark.parametrize("others", [0, 25], ids=["few", "many"])
async def test_line_of_delivery_for_no_order_is_warned_of(others: int, world: World) -> None:
    stocked(world)
    world.write("orders.csv", ORDER, "1,O,1,P,5,,,", "1,BAD,1,XX,5,,,")
    header = f"{DELIVERY},customer_order_number,customer_order_line_number"
    rows = ["1,D,1,1,P,1,,O,1", "1,D,1,2,P,1,,O,2", "1,D,1,3,P,1,,BAD,1", "1,D,1,4,P,1,,,", "1,E,1,1,P,1,,NO,1"]
    more = (f"1,F,1,{at},P,1,,O{at},1" for at in range(1, others + 1))
    world.write("deliveries.csv", header, *rows, "1,G,1,1,XX,1,,NO,1", *more)
    report = await loaded(world)
    notes = [note for note in report.files[-1].notes if "warning: customer_order" in note]
    no_order = "warning: customer_order_number names an order that the store does not have, so the goods are free: "
    no_line = "warning: customer_order_line_number names a line that the order does not have: "
    assert f"deliveries.csv:3: {no_line}2 of O." in notes
    assert f"deliveries.csv:4: {no_order}BAD." in notes
    assert f"deliveries.csv:6: {no_order}NO." in notes
    assert not any(note.startswith(("deliveries.csv:2:", "deliveries.csv:5:", "deliveries.csv:7:")) for note in notes)
    assert [row.line for row in report.bad if row.file == "deliveries.csv"] == [7]


@pytest.mark.parametrize(
    ("changed", "end"),
    [({"is_rejected": True}, "rejected"), ({"is_active": False}, "finished"), ({"is_claimed": True}, "")],
)
async def test_new_delivery_for_a_closed_order_is_warned_of(changed: dict[str, bool], end: str, world: World) -> None:
    stocked(world)
    world.write("orders.csv", ORDER, "1,O,1,P,5,,,")
    await loaded(world)
    async with world.client() as client:
        await client.call("update-customer-order", {"orders": {"order_number": "O", **changed}}, store_number="1")
    rows = f"{DELIVERY},customer_order_number,customer_order_line_number", "1,D,1,1,P,1,,O,1"
    what = f"customer_order_number names an order that is {end}, so the goods are free"
    for is_new in (True, False):
        report = await load(world, "deliveries.csv", *rows)
        notes = [note for note in report.files[-1].notes if "customer_order" in note]
        assert notes == [f"deliveries.csv:2: warning: {what}: O."] * (is_new and bool(end))


@pytest.mark.parametrize(("named", "hint"), [("4711", " (004711?)"), ("04711", " (004711?)"), ("4712", "")])
async def test_the_order_that_can_be_meant_is_named_for_an_unknown_one(named: str, hint: str, world: World) -> None:
    stocked(world)
    world.write("orders.csv", ORDER, "1,004711,1,P,5,,,")
    world.write(
        "deliveries.csv", f"{DELIVERY},customer_order_number,customer_order_line_number", f"1,D,1,1,P,1,,{named},1"
    )
    notes = (await loaded(world)).files[-1].notes
    what = "customer_order_number names an order that the store does not have, so the goods are free"
    assert f"deliveries.csv:2: warning: {what}: {named}{hint}." in notes


@pytest.mark.parametrize(("file", "noun"), [("orders.csv", "order"), ("deliveries.csv", "delivery")])
async def test_texts_of_each_line_are_sent_to_the_column_of_lines(file: str, noun: str, world: World) -> None:
    stocked(world)
    header = "order_number,line_number,product_number,quantity,description,store_number"
    header += ",no_of_containers" * (file == "deliveries.csv")
    at = "1,1" if file == "deliveries.csv" else "1"
    world.write(file, header, f"O,1,P,1,red,{at}", f"O,2,P,1,blue,{at}")
    (bad,) = (await loaded(world)).bad
    advice = "write one of them in both, or name the column order_lines.description if each line has its own"
    assert bad.reason.startswith(f"description is 'blue', but 'red' in an earlier row of {noun} O; {advice}")


NUMBERS = [
    *(("1", ""), ("1 2 3", ""), ("0 1 2", ""), ("10 20 30", ""), ("100 200", ""), ("3 1 2", ""), ("10", "")),
    *(("3", "3"), ("2 3", "2, 3"), ("1 3", "1, 3"), ("10 30", "10, 30"), ("20 30", "20, 30"), ("0 2", "0, 2")),
    *(("1 10", "1, 10"), ("3 1", "1, 3"), ("2 3 4 5 6 7 8 9 10 11 12", "2, 3, 4, 5, 6, 7, 8, 9, 10, 11, …")),
]


@pytest.mark.parametrize(("numbers", "shown"), NUMBERS)
async def test_an_order_without_some_of_its_lines_is_warned_of(numbers: str, shown: str, world: World) -> None:
    stocked(world)
    await loaded(world)
    rows = [f"1,O,{number},P,1,,," for number in numbers.split()]
    what = "the line numbers do not begin with 1, or have gaps; lines that are not here cannot be added by a load"
    for times in (1, 0):
        report = await load(world, "orders.csv", ORDER, *rows)
        told = [note for note in report.files[0].notes if "line numbers" in note]
        assert told == [f"orders.csv:2: warning: {what}: O has {shown}."] * (times if shown else 0)
