"""Reading the files of a load: every row becomes part of a record, or is named with line and reason."""

import re
import tracemalloc
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from aisle.client.csv_load.cells_of_columns import parse_number, parse_numbers, parse_objects
from aisle.client.csv_load.file_layouts_and_columns import DELIVERIES, LAYOUTS, ORDERS, PRODUCTS
from aisle.client.csv_load.records import BadRows, Record, open_tables, read_records, unknown_files
from aisle.client.csv_load.report import BadRow, FileReport, LoadError, LoadReport
from aisle.contract.operations import OPERATIONS
from aisle.contract.request_bodies.deliveries import StoreDeliveryCreate
from aisle.contract.request_bodies.orders import CustomerOrderCreate
from aisle.contract.request_bodies.products import ProductWrite
from aisle.contract.request_bodies.store_products_logs_movements import StoreProductLogCreate
from aisle.contract.request_bodies.stores import StoreCreate
from tests.run_length import tries

Write = Callable[[str, str], None]
ORDER_HEADER = "store_number,order_number,line_number,product_number,quantity"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_file(name: str, content: str) -> None:
        (tmp_path / name).write_bytes(content.encode("utf-8", "surrogateescape"))

    return write_file


def read(directory: Path) -> tuple[list[Record], list[BadRow]]:
    found = [item for table in open_tables(directory) for item in read_records(table)]
    good = [item for item in found if isinstance(item, Record)]
    return good, [row for item in found if isinstance(item, BadRows) for row in item.bad_rows]


def test_stores_get_what_the_interface_requires(write: Write, tmp_path: Path) -> None:
    write("stores.csv", "\ufeffstore_number,store_name,is_warehouse,area_id,store_stock_pool_2\n0001,Café,0,N1,Back\n")
    (store,), bad = read(tmp_path)
    assert bad == []
    assert store.body == {
        "store_number": "0001",
        "store_name": "Café",
        "is_warehouse": False,
        "is_active": True,
        "is_active_data_exchange": True,
        "area_id": "N1",
        "store_stock_pool_2": "Back",
    }
    TypeAdapter(StoreCreate).validate_python(store.body)


def test_products_keep_their_text_and_their_exact_numbers(write: Write, tmp_path: Path) -> None:
    header = "product_number,product_name,barcode,price,allow_decimal,stores_allowed,barcodes_array"
    write("products.csv", f'{header}\r\n085,"A, ""B""",0012,2.50,TRUE,1|2,8|9\r\n#/12,  Müsli ,,,,,\r\n')
    (first, second), bad = read(tmp_path)
    assert bad == []
    assert first.body == {
        "product_number": "085",
        "product_name": 'A, "B"',
        "barcode": "0012",
        "price": Decimal("2.50"),
        "allow_decimal": True,
        "stores_allowed": ["1", "2"],
        "barcodes_array": "8,9",
    }
    assert second.body == {"product_number": "#/12", "product_name": "  Müsli "}
    TypeAdapter(ProductWrite).validate_python(first.body)


def test_locations_carry_order_pool_and_tags(write: Write, tmp_path: Path) -> None:
    header = "store_number,location_code,location_order,default_stock_pool,tags"
    write("locations.csv", f"{header}\n1,A/12,10,2,pickup|cold\n1,B,,,\n")
    (first, second), bad = read(tmp_path)
    assert bad == []
    assert first.body == {
        "store_number": "1",
        "location_code": "A/12",
        "location_order": 10,
        "default_stock_pool": "2",
        "tags": ["pickup", "cold"],
    }
    assert second.body == {"store_number": "1", "location_code": "B"}


def test_pools_of_one_product_and_place_become_one_count(write: Write, tmp_path: Path) -> None:
    header = "store_number,product_number,location_code,stock_pool,quantity"
    rows = ["1,P,A,1,5", "1,Q,A,,4", "1,P,A,3,2.5", "2,P,A,1,7", "1,P,,1,9"]
    write("stock.csv", "\n".join([header, *rows]))
    counts, bad = read(tmp_path)
    assert bad == []
    assert {(count.store, count.line, count.rows): count.body for count in counts} == {
        ("1", 2, 2): {
            "product_number": "P",
            "location_code": "A",
            "stock_pool_1": 5,
            "stock_pool_3": Decimal("2.5"),
        },
        ("1", 3, 1): {"product_number": "Q", "location_code": "A", "counted_quantity": 4},
        ("2", 5, 1): {"product_number": "P", "location_code": "A", "stock_pool_1": 7},
        ("1", 6, 1): {"product_number": "P", "stock_pool_1": 9},
    }
    for count in counts:
        TypeAdapter(StoreProductLogCreate).validate_python(count.body)


def test_a_pool_counted_twice_is_a_bad_row(write: Write, tmp_path: Path) -> None:
    write("stock.csv", "store_number,product_number,stock_pool,quantity\n1,P,1,5\n1,P,1,6\n1,P,,6\n")
    counts, bad = read(tmp_path)
    assert counts == []
    assert [row.line for row in bad] == [2, 3, 4]
    assert "a second time, as row 3 does; keep one of them if they are the same goods, else write" in bad[0].reason
    assert "a second time, as row 2 does" in bad[1].reason
    assert "has no stock pool, and row 2 of" in bad[2].reason


@pytest.mark.parametrize(
    ("rows", "bad"),
    [
        (("1,P,,7", "1,P,2,7"), {2: "has no stock pool, and row 3", 3: "names a stock pool, and row 2"}),
        (("1,P,2,7", "1,P,,7"), {2: "names a stock pool, and row 3", 3: "has no stock pool, and row 2"}),
        (("1,P,,7", "1,P,,8"), {2: "counts no stock pool", 3: "counts no stock pool"}),
        (("1,P,1,7", "1,P,1,7", "1,P,2,1"), {2: "counts stock pool 1", 3: "counts stock pool 1"}),
        (("1,P,1,7", "1,P,1,x"), {3: "quantity 'x' is no number"}),
        (("1,P,1,7", "1,P,2,-1"), {3: "quantity -1 is below 0"}),
    ],
)
def test_rows_that_contradict_each_other_are_not_counted(
    rows: tuple[str, ...], bad: dict[int, str], write: Write, tmp_path: Path
) -> None:
    write("stock.csv", "\n".join(["store_number,product_number,stock_pool,quantity", *rows]))
    found = {row.line: row.reason for row in read(tmp_path)[1]}
    assert sorted(found) == sorted(bad)
    assert all(found[line].startswith(words) for line, words in bad.items())


def test_orders_split_a_row_into_order_and_line(write: Write, tmp_path: Path) -> None:
    header = f"{ORDER_HEADER},price,customer_name,reference,order_lines.reference,pickup_date,picking_stock_pool_array"
    write("orders.csv", f"{header}\n1,A,1,P,2,3.50,Bob,R,L1,2026-01-02,1|2\n1,A,2,Q,1,,Bob,,,,\n")
    (order,), bad = read(tmp_path)
    assert bad == []
    assert (order.store, order.line, order.rows) == ("1", 2, 2)
    assert order.body == {
        "order_number": "A",
        "customer_name": "Bob",
        "reference": "R",
        "order_lines": [
            {
                "line_number": 1,
                "product_number": "P",
                "quantity": 2,
                "price": Decimal("3.50"),
                "reference": "L1",
                "pickup_date": "2026-01-02",
                "picking_stock_pool_array": ["1", "2"],
            },
            {"line_number": 2, "product_number": "Q", "quantity": 1},
        ],
    }
    TypeAdapter(CustomerOrderCreate).validate_python(order.body)


def test_rows_of_an_order_need_not_stand_together(write: Write, tmp_path: Path) -> None:
    rows = ["1,A,1,P,1", "1,B,1,P,1", "2,A,1,P,1", "1,A,2,Q,1", "1,C,1,P,1", "1,B,2,Q,1", "1,A,3,R,1"]
    write("orders.csv", "\n".join([ORDER_HEADER, *rows]))
    orders, bad = read(tmp_path)
    assert bad == []
    lines = {(order.store, order.body["order_number"]): order.body["order_lines"] for order in orders}
    assert {key: [line["product_number"] for line in found] for key, found in lines.items()} == {
        ("1", "A"): ["P", "Q", "R"],
        ("1", "B"): ["P", "Q"],
        ("2", "A"): ["P"],
        ("1", "C"): ["P"],
    }


def test_an_order_with_a_bad_row_is_left_out_whole(write: Write, tmp_path: Path) -> None:
    write("orders.csv", f"{ORDER_HEADER}\n1,A,1,P,2\n1,A,2,P,two\n1,A,3,P\n1,B,1,P,1\n")
    (order,), bad = read(tmp_path)
    assert order.body["order_number"] == "B"
    assert [str(row) for row in bad] == [
        "orders.csv:3: quantity 'two' is no number; write digits and, where needed, a point; "
        "order A is left out whole, so that nobody takes it for complete",
        "orders.csv:4: has 4 fields, the header has 5; order A is left out whole, so that nobody takes it for complete",
    ]
    lost = [item.rows for table in open_tables(tmp_path) for item in read_records(table) if isinstance(item, BadRows)]
    assert lost == [3]


@pytest.mark.parametrize(
    ("rows", "line", "words"),
    [
        ("1,A,1,P,1,Bob\n1,A,2,P,1,Eve\n", 3, "customer_name is 'Eve', but 'Bob' in an earlier row"),
        ("1,A,1,P,1,\n1,A,1,Q,1,\n", 3, "line_number 1 stands in row 2 too"),
        ("1,A,,P,1,\n", 2, "line_number is empty, but every row needs it"),
        ("1,A,1,P,,\n", 2, "quantity is empty"),
        ('1,A,1,"P"x,1,\n', 2, "is no CSV"),
        ('1,A,1,P,1,\n1,A,2,"P,1,\n1,A,3,P,1,\n', 3, "is no CSV"),
        ("1,A,1,P\udce9,1,é\n", 2, "product_number is not UTF-8"),
        ("1,A,1,P,1e5,\n", 2, "is no number"),
        ("1,A,1,P,\u0663,\n", 2, "is no number"),
    ],
)
def test_bad_order_rows_are_named(rows: str, line: int, words: str, write: Write, tmp_path: Path) -> None:
    write("orders.csv", f"{ORDER_HEADER},customer_name\n{rows}")
    _, bad = read(tmp_path)
    assert [row.line for row in bad] == [line]
    assert words in bad[0].reason


def test_rows_are_counted_where_cells_hold_newlines_and_rows_are_blank(write: Write, tmp_path: Path) -> None:
    write("products.csv", 'product_number,product_name,price\n1,"a\nb",1\n\n2,c,x\n')
    (product,), bad = read(tmp_path)
    assert product.body["product_name"] == "a\nb"
    assert [row.line for row in bad] == [4]


@pytest.mark.parametrize(
    ("name", "header", "words"),
    [
        (
            "products.csv",
            "product_number,produkt_name",
            "unknown column 'produkt_name'; the nearest known one is product_",
        ),
        ("products.csv", "product_name", "no column product_number, which every row needs"),
        ("products.csv", "product_number,price,price", "has the column price twice"),
        ("products.csv", "product_number:price", "separate the columns by commas"),
        ("products.csv", "", "has no header row"),
        ("products.csv", "p\0ro\0", "is not UTF-8"),
        ("stock.csv", "store_number,product_number,quantity,stock_pool_1", "unknown column 'stock_pool_1'"),
        ("orders.csv", "store_number,order_number,product_number,quantity", "no column line_number"),
    ],
)
def test_a_wrong_header_ends_the_load_before_it_begins(
    name: str, header: str, words: str, write: Write, tmp_path: Path
) -> None:
    write("stores.csv", "store_number,store_name,is_warehouse\n1,A,0\n")
    write(name, f"{header}\n")
    with pytest.raises(LoadError, match=r"\A" + name) as caught:
        open_tables(tmp_path)
    assert words in str(caught.value)


def test_empty_directory_is_error_and_misspelt_file_is_reported(write: Write, tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="is no directory"):
        open_tables(tmp_path / "missing")
    write("product.csv", "product_number\n")
    with pytest.raises(LoadError, match="holds nothing to load"):
        open_tables(tmp_path)
    assert unknown_files(tmp_path) == ("product.csv",)


def test_files_come_in_the_order_in_which_they_need_each_other(write: Write, tmp_path: Path) -> None:
    for layout in reversed(LAYOUTS):
        names = [column.name for column in layout.columns.values() if column.required]
        write(layout.file, ",".join(names) + "\n")
    assert [table.name for table in open_tables(tmp_path)] == [
        *("stores.csv", "products.csv", "attributes.csv", "free_fields.csv", "prices.csv", "discount_prices.csv"),
        *("locations.csv", "people.csv", "store_products.csv", "stock.csv", "orders.csv", "deliveries.csv"),
    ]


def test_every_field_of_the_interface_is_a_column() -> None:
    assert set(PRODUCTS.columns) == set(get_type_hints(ProductWrite))
    assert set(get_type_hints(CustomerOrderCreate)) - set(ORDERS.columns) == {"order_lines"}
    assert set(get_type_hints(StoreDeliveryCreate)) - set(DELIVERIES.columns) == {"order_lines"}
    both = {name for name in ORDERS.line_fields if name.startswith("order_lines.")}
    assert both == {"order_lines.description", "order_lines.is_picked", "order_lines.reference"}
    assert {name for name in DELIVERIES.line_fields if name.startswith("order_lines.")} == {"order_lines.description"}


def test_everything_creatable_can_be_loaded() -> None:
    made = {row.name for row in OPERATIONS.values() if row.write and row.name.startswith(("create-", "update-product"))}
    other = {
        "create-customer-orders-several-stores": "orders.csv names stores too",
        "create-multi-store-deliveries": "deliveries.csv names stores too",
        "create-customer-order-clearance": "does something, and creates nothing that a file could hold",
        "create-movement": "does something, and would do it again",
    }
    assert made - set(other) == {one for layout in LAYOUTS if not (one := layout.target.operation).startswith("/")}


def test_lists_of_numbers_and_objects() -> None:
    assert parse_numbers("1|2.50") == [1, Decimal("2.50")]
    assert parse_objects('[{"unit_quantity": 6.50}]') == [{"unit_quantity": Decimal("6.50")}]
    for cell in ("", "{}", "[1]", "[", '"x"'):
        with pytest.raises(ValueError, match="JSON"):
            parse_objects(cell)
    with pytest.raises(ValueError, match="no number"):
        parse_numbers("1|x")


@given(st.decimals(allow_nan=False, allow_infinity=False, places=3))
def test_decimals_are_read_exactly(value: Decimal) -> None:
    assert parse_number(f"{value:f}") == value


@given(st.text(max_size=12))
def test_only_plain_digits_are_numbers(cell: str) -> None:
    plain = re.fullmatch(r"[+-]?[0-9]+([.][0-9]+)?", cell)
    if plain:
        assert parse_number(cell) == Decimal(cell)
        return
    with pytest.raises(ValueError, match="is no number"):
        parse_number(cell)


LINES = tries(2_500, 30_000)


def test_memory_stays_flat_over_many_orders(write: Write, tmp_path: Path) -> None:
    rows = (f"1,{number // 20},{number % 20},P{number},1,{'x' * 250}" for number in range(LINES))
    write("orders.csv", "\n".join([f"{ORDER_HEADER},order_lines.description", *rows]))
    (table,) = open_tables(tmp_path)
    tracemalloc.start()
    try:
        lines = sum(len(item.body["order_lines"]) for item in read_records(table) if isinstance(item, Record))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert lines == LINES
    assert peak < table.size / 2
    assert table.position == table.size


def test_a_report_says_what_was_loaded_and_what_to_do() -> None:
    files = (FileReport("stores.csv", 2, 2, 2), FileReport("orders.csv", 9, 7, 3))
    bad = (BadRow("orders.csv", 4, "quantity is\x1b[2J empty"),)
    report = LoadReport(files, bad, ("order.csv",), stopped=True)
    assert not report.is_complete
    assert report.lines() == [
        "stores.csv: 2 of 2 rows loaded.",
        "orders.csv: 7 of 9 rows loaded as 3 records.",
        "order.csv: not read, because no file of a load has this name; rename it to orders.csv, if it is that.",
        "orders.csv:4: quantity is\ufffd[2J empty",
        "Stopped at the first bad row, as asked. What comes before it may have been loaded.",
        "Correct the rows named above and load again: nothing is doubled, no stock is counted twice.",
    ]
    assert LoadReport(files, ()).is_complete
