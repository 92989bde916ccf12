"""Queries of sessions: orders with pending operations, locations, people, products, search."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aisle.cache.reader import CacheReader
from aisle.cache.writer import CacheWriter
from aisle.host.database import fetch
from aisle.named_tuple_json import from_text, to_text
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.stored_messages import store_text
from tests.cache.service_rows import line, location, order, person, product, put_orders, stock, store
from tests.clock import Clock
from tests.run_length import tries
from tests.writes import enqueue, movement, update


@pytest.fixture
def clock() -> Clock:
    return Clock(1000.0)


@pytest.fixture
def outbox(outbox_db: apsw.Connection, clock: Clock) -> OperationQueue:
    return OperationQueue(outbox_db, clock=clock)


def send(outbox: OperationQueue, op_id: str) -> None:
    assert outbox.begin_sending(op_id, b"") is not None


def numbers(reads: CacheReader, **args: Any) -> list[str]:
    rows, _ = reads.query("orders", args)
    return [row["order_number"] for row in rows]


def one(reads: CacheReader, number: str = "1") -> dict[str, Any]:
    rows, total = reads.query("order", {"order_number": number})
    assert total == 1
    row: dict[str, Any] = rows[0]
    return row


def quantities(row: dict[str, Any], name: str = "picked_quantity") -> list[int]:
    return [int(line[name]) for line in row["lines"]]


# The list of orders


def test_open_orders_by_pickup_date_then_number(cache: CacheWriter, reads: CacheReader) -> None:
    put_orders(
        cache,
        order("10", pickup_date="2026-03-02"),
        order("9", pickup_date="2026-03-02"),
        order("1", pickup_date="2026-03-03"),
        {**order("5", line(1, pickup_date="2026-03-01"), line(2)), "pickup_date": None},
        {**order("4"), "pickup_date": None},
        order("2", is_active=False),
        order("3", is_rejected=True),
        order("6", is_picked=True),
    )
    assert numbers(reads) == ["5", "9", "10", "1", "4"]
    assert reads.query("orders", {"first": 1, "size": 2})[1] == 5
    assert numbers(reads, first=1, size=2) == ["9", "10"]
    assert numbers(reads, first=4, size=9) == ["4"]
    assert numbers(reads, first=5) == []
    cache.write_orders([{**order("5"), "pickup_date": None}], lines_known=False, read_began=2)
    assert numbers(reads)[0] == "5"


def test_a_row_of_the_list_tells_progress(cache: CacheWriter, reads: CacheReader) -> None:
    put_orders(
        cache, order("1", line(1, picked=2), line(2, quantity=0.5, picked=0.25), customer_name="Ada", is_claimed=True)
    )
    cache.write_orders([order("2", line(1), total_delivery_quantity=1), order("3")], lines_known=False, read_began=1)
    first, second, third = reads.query("orders", {})[0]
    assert (first["customer_name"], first["is_claimed"], first["lines_known"]) == ("Ada", True, True)
    assert (first["total_quantity"], first["picked_quantity"]) == (Decimal("3.5"), Decimal("2.25"))
    assert (second["picked_quantity"], second["lines_known"]) == (Decimal(1), False)
    assert third["picked_quantity"] == 0
    assert from_text(Any, to_text(first)) == first


@pytest.mark.parametrize("read", ["orders", "order_board", "order", "orders_by_number"])
def test_what_is_measured_counts_as_one_piece_beside_pieces(
    read: str, cache: CacheWriter, reads: CacheReader, outbox: OperationQueue
) -> None:
    cache.write_products([product("P1", "Cheese", allow_decimal=True), product("P2", "Tea")])
    lines = line(1, "P1", 1.5), line(2, "P2", 3, picked=2), line(3, "P1", 2, picked=1)
    short = line(4, "P1", 2, picked=1, is_picked=True), line(5, "UNKNOWN", 2)
    put_orders(cache, order("1", *lines, *short), order("2", line(1, "P2", 4)))

    def far() -> tuple[Any, ...]:
        rows, _ = reads.query(read, {"order_number": "1", "orders": ["1"]})
        row = next(row for row in rows if row["order_number"] == "1")
        lines = row["complete_lines"], row["counted_lines"]
        return row["picked_pieces"], row["pieces"], row["picked_quantity"], *lines

    assert far() == (3, 8, 4, 1, 5)
    enqueue(outbox, update("1", {1: Decimal("1.5")}))
    assert far() == (4, 8, Decimal("5.5"), 2, 5), "what is on its way counts"
    (other,), _ = reads.query("order", {"order_number": "2"})
    assert "pieces" not in other


def test_orders_are_found_by_words(cache: CacheWriter, reads: CacheReader) -> None:
    cache.write_orders(
        [
            order("AB-1", customer_name="René Moss", reference="WEB 77"),
            order("AB-2", customer_name="Ada Moss", comment="ring twice"),
            order("CD-3", customer_name="Moss", is_active=False),
        ],
        lines_known=False,
        read_began=1,
    )
    assert numbers(reads, search="moss") == ["AB-1", "AB-2"]
    assert numbers(reads, search="RENE mo") == ["AB-1"]
    assert numbers(reads, search="web-77") == ["AB-1"]
    assert numbers(reads, search="twice") == ["AB-2"]
    assert numbers(reads, search="%") == ["AB-1", "AB-2"]
    assert reads.query("orders", {"search": "moss", "first": 1, "size": 1})[1] == 2
    assert numbers(reads, search="nobody") == []


def test_words_that_few_or_many_orders_have_are_found_alike(cache: CacheWriter, reads: CacheReader) -> None:
    """Of a word that most orders have, the first hundred of the list; of one that few have, all, wherever they are."""
    many = [
        order(f"M-{n:04d}", customer_name=f"Moss {n % 7}", pickup_date=f"2026-03-{1 + n % 28:02d}") for n in range(700)
    ]
    late = [order(f"Z-{n}77512", customer_name="Greenfield", pickup_date="2026-09-01") for n in range(3)]
    gone = [order("Z-9", customer_name="Greenfield", is_active=False)]
    cache.write_orders([*late, *many, *gone], lines_known=False, read_began=1)
    rows, total = reads.query("orders", {"search": "moss", "size": 200})
    listed = [row["order_number"] for row in reads.query("orders", {"size": 100})[0]]
    assert ([row["order_number"] for row in rows], total) == (listed, 100)
    asked: list[dict[str, Any]] = [{"search": "moss"}, {"search": "field"}, {}]
    assert [reads.query_window("orders", args).is_partial for args in asked] == [True, False, False]
    for text in ("greenfield", "field", "7751", "green 2775", "77512"):
        expected = ["Z-277512"] if "2775" in text else ["Z-077512", "Z-177512", "Z-277512"]
        assert numbers(reads, search=text) == expected, text
    cache.write_orders(
        [order("Z-077512", customer_name="Heath", pickup_date="2026-09-01")], lines_known=False, read_began=2
    )
    cache.delete_absent_orders(["Z-177512"], read_began=9)
    assert (numbers(reads, search="greenf"), numbers(reads, search="heath")) == (["Z-277512"], ["Z-077512"])


def test_an_order_that_is_picked_here_leaves_the_list_at_once(
    cache: CacheWriter, reads: CacheReader, outbox: OperationQueue
) -> None:
    put_orders(cache, *(order(str(n), line(1), line(2)) for n in range(1, 6)))
    enqueue(outbox, update("2", {1: 3}), update("4", {1: 3, 2: 3}), update("5", {}, is_rejected=True))
    rows, total = reads.query("orders", {})
    assert [(row["order_number"], int(row["picked_quantity"])) for row in rows] == [("1", 0), ("2", 3), ("3", 0)]
    assert total == 3
    enqueue(outbox, update("2", {}, is_picked=True))
    assert numbers(reads, first=1, size=1) == ["3"]


def test_an_order_that_is_opened_again_here_comes_back_in_its_place(
    cache: CacheWriter, reads: CacheReader, outbox: OperationQueue
) -> None:
    picked = {"is_picked": True}
    put_orders(
        cache,
        *(
            order(str(n), line(1, picked=3 if n in (2, 4, 9) else 0), **(picked if n in (2, 4, 9) else {}))
            for n in range(1, 10)
        ),
    )
    undo = update("2", {1: 2}, is_picked=False), update("9", {1: 2}, is_picked=False)
    for change in undo:
        change.body["orders"]["order_lines"][0]["is_picked"] = False
    enqueue(outbox, *undo, update("3", {1: 3}))
    everything = ["1", "2", "5", "6", "7", "8", "9"]
    assert numbers(reads) == everything
    for first in range(8):
        for size in range(4):
            assert numbers(reads, first=first, size=size) == everything[first : first + size]
    assert reads.query("orders", {"size": 1})[1] == 7


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=tries(20, 60), deadline=None)
@given(
    states=st.lists(st.sampled_from(["open", "picked", "closed"]), min_size=1, max_size=12),
    changes=st.lists(st.tuples(st.integers(0, 11), st.booleans()), max_size=6),
    first=st.integers(0, 12),
    size=st.integers(0, 6),
)
def test_every_window_is_a_piece_of_the_whole_list(
    cache: CacheWriter,
    reads: CacheReader,
    outbox: OperationQueue,
    states: list[str],
    changes: list[tuple[int, bool]],
    first: int,
    size: int,
) -> None:
    for table in ("line", "orders", "code"):
        cache._db.execute(f"DELETE FROM {table}")
    outbox._db.execute("DELETE FROM operation_lane").execute("DELETE FROM operation")
    rows = [
        order(f"{n}", is_picked=state == "picked", is_active=state != "closed", pickup_date=f"2026-03-{n % 3 + 1:02d}")
        for n, state in enumerate(states)
    ]
    put_orders(cache, *rows)
    enqueue(outbox, *[update(f"{n}", {}, is_picked=flag) for n, flag in changes])
    flags = {n: state == "picked" for n, state in enumerate(states)} | dict(changes)
    expected = sorted(
        (n for n, state in enumerate(states) if state != "closed" and not flags[n]), key=lambda n: (n % 3, n)
    )
    assert numbers(reads, first=first, size=size) == [str(n) for n in expected[first : first + size]]
    assert reads.query("orders", {"size": 1})[1] == len(expected)


def test_windows_on_two_thousand_orders_touch_only_their_rows(cache: CacheWriter, reads: CacheReader) -> None:
    for page in range(2):
        rows = [
            {**order(f"W{n}", pickup_date=f"2026-{n % 12 + 1:02d}-{n % 28 + 1:02d}"), "customer_name": f"C {n}"}
            for n in range(page * 1000, page * 1000 + 1000)
        ]
        cache.write_orders(rows, lines_known=False, read_began=1)
    rows, total = reads.query("orders", {"first": 0, "size": 20})
    assert (len(rows), total) == (20, 2_000)
    assert [len(reads.query("orders", {"first": first, "size": 20})[0]) for first in (1_000, 1_990, 2_000)] == [
        20,
        10,
        0,
    ]
    assert reads.query("orders", {"search": "c 199"})[1] == 12
    steps = fetch(
        reads._cache,
        "EXPLAIN QUERY PLAN SELECT pickup, sort, order_number FROM orders WHERE state = 0"
        " AND order_number NOT IN (SELECT value FROM json_each('[]')) ORDER BY pickup, sort, order_number LIMIT 20",
    )
    assert [step[3] for step in steps if "orders" in step[3]] == [
        "SEARCH orders USING COVERING INDEX orders_list (state=?)"
    ]
    assert not [step[3] for step in steps if "B-TREE FOR ORDER" in step[3]]


# One order


def test_an_order_with_all_that_picking_needs(cache: CacheWriter, reads: CacheReader) -> None:
    cache.write_products([product("P1", "Oat bar", base_unit_name="pcs", allow_decimal=True), product("P2", "Tea")])
    cache.write_stock([stock("P1", places={"B-2": 4, "A-10": 1, "A-9": 0}), stock("P2", places={"C-1": 5})])
    cache.write_locations([location("B-2", 5), location("A-9", 30), location("A-10", 30), location("Z", 1)])
    own = {"location_code": "D-1", "location_order": 7, "quantity": 2, "most_likely_pool_3": 2}
    held = {**own, "location_code": "PU-1", "customer_order_number": "9"}
    put_orders(
        cache,
        order(
            "1",
            line(2, "P2", description="", store_locations=[own, held]),
            line(1, "P1", 0.75, picked=0.25, description="Oat bar 50 g", picking_stock_pool_array=["1", "2"]),
            line(3, "UNKNOWN"),
            customer_name="Ada",
        ),
    )
    row = one(reads)
    first, second, third = row["lines"]
    assert (row["customer_name"], row["lines_known"], row["picked_quantity"]) == ("Ada", True, Decimal("0.25"))
    assert (first["quantity"], first["picked_quantity"], first["price"]) == (
        Decimal("0.75"),
        Decimal("0.25"),
        Decimal("1.95"),
    )
    assert (first["description"], first["unit"], first["allow_decimal"]) == ("Oat bar 50 g", "pcs", True)
    assert first["picking_stock_pool_array"] == ["1", "2"]
    assert [(place["location_code"], place["location_order"]) for place in first["locations"]] == [
        ("B-2", 5),
        ("A-9", 30),
        ("A-10", 30),
    ]
    assert (second["description"], second["preferred_location_code"]) == ("Tea", None)
    assert second["locations"] == [
        {"location_code": "D-1", "location_order": 7, "quantity": 2, "pools": {"3": 2}, "default_stock_pool": None}
    ]
    assert (third["locations"], third["unit"], third["allow_decimal"]) == ([], "", False)
    assert from_text(Any, to_text(row)) == row


def test_an_order_of_which_only_the_header_is_here(
    cache: CacheWriter, reads: CacheReader, outbox: OperationQueue
) -> None:
    cache.write_orders([order("1", line(1))], lines_known=False, read_began=1)
    enqueue(outbox, update("1", {1: 2}, is_claimed=True))
    row = one(reads)
    assert (row["lines"], row["lines_known"], row["is_claimed"]) == ([], False, True)
    assert reads.query("order", {"order_number": "none"}) == ([], 0)


def test_a_bare_order_is_enough(cache: CacheWriter, reads: CacheReader) -> None:
    bare = {"order_number": "1", "lines": [{"line_number": 1, "quantity": "2"}]}
    put_orders(cache, bare)
    row = one(reads)
    assert (row["is_active"], row["is_picked"], row["pickup_date"]) == (True, False, "")
    assert quantities(row, "quantity") == [2]
    assert numbers(reads) == ["1"]


# The overlay


def test_pending_picks_lie_over_the_cached_lines(
    cache: CacheWriter, reads: CacheReader, outbox: OperationQueue
) -> None:
    put_orders(cache, order("1", line(1), line(2, picked=1)), order("2", line(1)))
    enqueue(outbox, update("1", {1: 2}), update("1", {2: 3}, merge=False))
    row = one(reads)
    assert (quantities(row), row["picked_quantity"], row["is_picked"]) == ([2, 3], 5, False)
    assert quantities(one(reads, "2")) == [0]
    enqueue(outbox, update("1", {1: 3}, merge=False))
    assert one(reads)["is_picked"] is True


def test_an_effect_stays_until_a_later_read_is_in_the_cache(
    cache: CacheWriter, reads: CacheReader, outbox: OperationQueue, clock: Clock
) -> None:
    cache.write_orders([order("1", line(1))], lines_known=True, read_began=900)
    (op_id,) = enqueue(outbox, update("1", {1: 2}))
    send(outbox, op_id)
    assert quantities(one(reads)) == [2]
    outbox.confirm(op_id)
    assert quantities(one(reads)) == [2]
    cache.write_orders([order("1", line(1, picked=0))], lines_known=True, read_began=clock.now - 1)
    assert quantities(one(reads)) == [2]
    cache.write_orders([order("1", line(1, picked=1))], lines_known=True, read_began=clock.now + 1)
    assert quantities(one(reads)) == [1]
    outbox.mark_read_back(op_id)
    assert quantities(one(reads)) == [1]


def test_a_rejected_operation_disappears_from_the_screens(
    cache: CacheWriter, reads: CacheReader, outbox: OperationQueue
) -> None:
    put_orders(cache, order("1", line(1, picked=1)))
    (op_id,) = enqueue(outbox, update("1", {1: 3}))
    assert (quantities(one(reads)), numbers(reads)) == ([3], [])
    send(outbox, op_id)
    outbox.refuse(op_id, store_text("no"))
    assert (quantities(one(reads)), numbers(reads)) == ([1], ["1"])


@pytest.mark.parametrize("settle", ["doubt", "ask"])
def test_a_doubtful_operation_stays_in_sight(
    cache: CacheWriter, reads: CacheReader, outbox: OperationQueue, settle: str
) -> None:
    put_orders(cache, order("1", line(1)))
    (op_id,) = enqueue(outbox, update("1", {1: 2}))
    send(outbox, op_id)
    outbox.mark_in_doubt(op_id, store_text("timeout"))
    if settle == "ask":
        outbox.ask_person(op_id, store_text("cannot tell"))
    assert quantities(one(reads)) == [2]


def test_goods_that_are_brought_to_a_place_count_as_moved(
    cache: CacheWriter, reads: CacheReader, outbox: OperationQueue, clock: Clock
) -> None:
    put_orders(cache, order("1", line(1, picked=1, moved_quantity=0)))
    enqueue(outbox, update("1", {1: 2}), movement("1", "P1", 2), movement("2", "P1", 5))
    assert (quantities(one(reads)), quantities(one(reads), "moved_quantity")) == ([2], [2])
    shelf = movement("1", "P1", 1)
    shelf.body[0]["from_location"] = {"location_code": "A-1"}
    (more,) = enqueue(outbox, shelf)
    assert (quantities(one(reads)), quantities(one(reads), "moved_quantity")) == ([3], [3])
    for row in outbox.sendable():
        send(outbox, row.op_id)
        outbox.confirm(row.op_id)
    for op_id in [row.op_id for row in outbox.unfinished()]:
        for row in outbox.sendable():
            send(outbox, row.op_id)
            outbox.confirm(row.op_id)
        assert outbox.get(op_id).state == "done"
    assert outbox.get(more).state == "done"
    cache.write_orders([order("1", line(1, picked=3, moved_quantity=3))], lines_known=True, read_began=clock.now + 1)
    assert (quantities(one(reads)), quantities(one(reads), "moved_quantity")) == ([3], [3])


def test_own_put_down_read_back_early_counts_once(
    cache: CacheWriter, reads: CacheReader, outbox: OperationQueue, clock: Clock
) -> None:
    (op_id,) = enqueue(outbox, movement("1", "P1", 1))
    send(outbox, op_id)
    outbox.mark_in_doubt(op_id, store_text("timeout"))
    done = line(1, picked=1, moved_quantity=1)
    cache.write_orders([order("1", done)], lines_known=True, read_began=clock.now + 1)
    assert (quantities(one(reads)), quantities(one(reads), "moved_quantity")) == ([1], [1])
    back = movement("1", "P1", 2)
    item = back.body[0]
    item["from_location"], item["to_location"] = item["to_location"], item["from_location"]
    enqueue(outbox, back)
    assert (quantities(one(reads)), quantities(one(reads), "moved_quantity")) == ([1], [0])


def test_another_process_is_heard(home: Any, cache: CacheWriter, reads: CacheReader, outbox: OperationQueue) -> None:
    put_orders(cache, order("1", line(1)))
    before = reads.data_version()
    assert quantities(one(reads)) == [0]
    assert reads.data_version() == before
    other = open_outbox(home.folder)
    enqueue(OperationQueue(other), update("1", {1: 2}))
    assert reads.data_version() != before
    assert quantities(one(reads)) == [2]
    before = reads.data_version()
    cache.write_stock([stock("1")])
    assert reads.data_version() != before
    other.close()


# People and products


def test_people_are_found_by_name_user_and_badge(cache: CacheWriter, reads: CacheReader) -> None:
    cache.write_people(
        [person("U2", "Chloë Martin"), person("U1", "Anna Berg"), person("U10", "Anna Moss", "supervisor")]
    )

    def users(search: str, size: int = 8) -> Sequence[str]:
        return [row["user"] for row in reads.query("people", {"search": search, "size": size})[0]]

    assert users("") == ["U1", "U10", "U2"]
    assert users("anna") == ["U1", "U10"]
    assert users("CHLOE mar") == ["U2"]
    assert users("badge-u2") == ["U2"]
    assert users("u1") == ["U1", "U10"]
    assert reads.query("people", {"search": "anna", "size": 1})[1] == 2
    assert users("nobody") == []


def test_a_product_with_its_stock(cache: CacheWriter, reads: CacheReader) -> None:
    cache.write_stores([store("0001", "High Street", storeStockPool1="Shop floor", storeStockPool2="Backroom")])
    cache.write_products([product("P", "Oat", "123456", brand_description="ACME", supplier_name="S")])
    cache.write_stock(
        [stock("P", 12.5, places={"A": 3}, most_likely_pool_1=12.5, most_likely_pool_2=0, most_likely_pool_4=-1, min=2)]
    )
    cache.write_locations([location("A", 3)])
    (row,), _ = reads.query("product", {"product_number": "P"})
    assert (row["product_name"], row["brand_description"], row["supplier_name"], row["min"]) == ("Oat", "ACME", "S", 2)
    assert row["most_likely_quantity"] == Decimal("12.5")
    assert row["pools"] == [
        {"pool": 1, "name": "Shop floor", "quantity": Decimal("12.5")},
        {"pool": 4, "name": "", "quantity": Decimal(-1)},
    ]
    assert [place["location_order"] for place in row["locations"]] == [3]
    assert row["in_catalogue"] is True
    assert reads.query("product", {"product_number": "Q"}) == ([], 0)


def test_what_of_a_product_is_in_hand_for_open_orders(cache: CacheWriter, reads: CacheReader) -> None:
    cache.write_products([product("P", "Oat", "123456")])
    assert reads.query("product", {"product_number": "P"})[0][0]["in_hand"] == 0
    put_orders(
        cache,
        order("1", line(1, "P", picked=3, moved_quantity=1), line(2, "Q", picked=3)),
        order("2", line(1, "P", picked=2)),
        order("3", line(1, "P", picked=2, moved_quantity=2)),
        order("4", line(1, "P", picked=3), is_active=False),
    )
    assert reads.query("product", {"product_number": "P"})[0][0]["in_hand"] == 2 + 2


def test_a_product_without_stock_or_catalogue(cache: CacheWriter, reads: CacheReader) -> None:
    cache.write_products([product("P")])
    cache.write_stock([stock("S", product_description="only here")])
    assert reads.query("product", {"product_number": "P"})[0][0]["most_likely_quantity"] is None
    (row,), _ = reads.query("product", {"product_number": "S"})
    assert (row["product_name"], row["in_catalogue"], row["locations"]) == ("only here", False, [])


GOODS = [
    product("100", "Müsli Riegel", "4006381333931", brand_description="Corny"),
    product("200", "Chocolate milk 1 l", "4006381333948"),
    product("300", "Milk chocolate bar", "4006381333955"),
    product("400", "Milk", "4006381333962"),
    product("500", "Coca-Cola 50% [sale]", "4006381333979"),
    product("milk", "Something else", "4006381333986"),
]


@pytest.mark.parametrize(
    ("search", "expected"),
    [
        ("musli", ["100"]),
        ("MÜSLI rie", ["100"]),
        ("corny", ["100"]),
        ("iegel", ["100"]),
        ("milk", ["milk", "400", "300", "200"]),
        ("mi", ["400", "300", "milk", "200"]),
        ("m", ["400", "100", "300", "milk", "200"]),
        ("milk choc", ["300", "200"]),
        ("choc milk", ["200", "300"]),
        ("milk b", ["300"]),
        ("4006381333948", ["200"]),
        ("333948", ["200"]),
        ("cola", ["500", "200", "300"]),
        ("coca-cola", ["500"]),
        ("50%", ["500"]),
        ("[sale]", ["500"]),
        ("cocacola", ["500"]),
        ('" OR 1', ["100"]),
        ("%", []),
        ("xyz", []),
        ("x", []),
        ("", []),
    ],
)
def test_search(cache: CacheWriter, reads: CacheReader, search: str, expected: list[str]) -> None:
    cache.write_products(GOODS)
    rows, total = reads.query("search", {"search": search})
    assert [row["product_number"] for row in rows] == expected
    assert total == len(expected)


TYPED = [
    product("P1", "Rødgrød med fløde", "4006381333931"),
    product("P2", "Smør 7-Up c&a 1.5l a/b", "4006381333948"),
    product("P3", "Æbleskiver Łódź œuf Þór Đurđevac Straße", "4006381333955"),
    product("P4", "7up 15l", "4006381333962"),
    product("P5", "Квас Київ", "8"),
]


@pytest.mark.parametrize(
    ("search", "expected"),
    [
        *((text, ["P1"]) for text in ("rod", "rødgrød", "RODGROD", "flode", "dg")),
        *((text, ["P2"]) for text in ("smor", "smør", "c&a", "ca", "c a", "a/b", "ab", "a b", "1.5 sm")),
        *((text, ["P3"]) for text in ("aeble", "æble", "lodz", "oeuf", "thor", "durdevac", "strasse", "z", "oe th")),
        *((text, ["P2", "P4"]) for text in ("7up", "15l")),
        *((text, ["P2", "P4"]) for text in ("7-up", "1.5l", "7 up", "7.up")),
        *((text, ["P5"]) for text in ("в", "ки", "ки в", "їв", "к к")),
        *((text, []) for text in ("x", "xy", "rx", "š q", "7-xp")),
    ],
)
def test_whatever_way_a_word_is_typed_its_product_is_found(
    cache: CacheWriter, reads: CacheReader, search: str, expected: list[str]
) -> None:
    """Letters without their strokes, words without their punctuation, and a letter or two from anywhere in a word."""
    cache.write_products(TYPED)
    rows, _ = reads.query("search", {"search": search})
    found = [str(row["product_number"]) for row in rows]
    assert sorted(found[: len(expected)] or found) == expected


def test_what_has_the_words_in_a_row_comes_first(cache: CacheWriter, reads: CacheReader) -> None:
    names = {"A": "Milk in dark", "B": "Cocoa dark milk, organic", "C": "Dark ox milk"}
    cache.write_products([product(*each) for each in names.items()])
    rows, _ = reads.query("search", {"search": "dark milk"})
    assert [str(row["product_number"]) for row in rows] == ["B", "C", "A"]


def test_a_letter_is_found_in_the_last_of_many_products(cache: CacheWriter, reads: CacheReader) -> None:
    """The first hundred that come to hand do not hide the one that fits."""
    cache.write_products([*(product(f"A{n:03d}", "Tea tin") for n in range(150)), product("B", "Tea in a wax box w")])
    for text in ("x", "wa", "ox", "tea w", "tea wa", "tea x b", "ax tea ox a"):
        assert [row["product_number"] for row in reads.query("search", {"search": text})[0]] == ["B"], text


def test_a_window_on_hits(cache: CacheWriter, reads: CacheReader) -> None:
    cache.write_products([product(f"{number:04d}", f"Tea {number:04d}") for number in range(300)])
    rows, total = reads.query("search", {"search": "tea", "first": 10, "size": 5})
    assert [row["product_number"] for row in rows] == ["0010", "0011", "0012", "0013", "0014"]
    assert total == 100
    assert reads.query("search", {"search": "tea 0299"})[0][0]["product_number"] == "0299"
    assert [reads.query_window("search", {"search": text}).is_partial for text in ("tea", "tea 0299")] == [True, False]


def test_what_is_so_called_comes_first_among_more_than_are_counted(cache: CacheWriter, reads: CacheReader) -> None:
    """However many products have the words, those that are this or begin so are not lost among them."""
    tea = [product(f"{number:04d}", f"Tea dark {number:04d}") for number in range(150)]
    cup = [product(f"C{number:03d}", f"Cup of tea dark {number:03d}", f"90731{number:03d}") for number in range(150)]
    cache.write_products([*cup, *tea, product("tea", "Pot"), product("9073", "Tin"), product("Q7", "Quince")])
    found = {text: reads.query("search", {"search": text}) for text in ("tea", "tea dark", "9073", "q", "7")}
    assert [row["product_number"] for row in found["tea"][0]][:3] == ["tea", "0000", "0001"]
    assert [row["product_number"] for row in found["tea dark"][0]][:2] == ["0000", "0001"]
    assert [row["product_number"] for row in found["9073"][0]][:1] == ["9073"]
    assert [row["product_number"] for row in found["q"][0]] == ["Q7"]
    assert [total for _, total in found.values()] == [100, 100, 100, 1, 100]
    rows, total = reads.query("search", {"search": "tea", "first": 98, "size": 20})
    assert ([row["product_number"] for row in rows], total) == (["0097", "0098"], 100)


def test_a_text_longer_than_the_index_of_beginnings_needs_all_its_words(cache: CacheWriter, reads: CacheReader) -> None:
    same = "Organic wholemeal spelt rusks"
    cache.write_products([product(f"{n:04d}", f"{same} {'big' if n == 149 else 'small'}") for n in range(150)])
    assert [row["product_number"] for row in reads.query("search", {"search": f"{same} big"})[0]] == ["0149"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=tries(20, 50), deadline=None)
@given(st.text(max_size=12))
def test_whatever_is_typed_is_only_text(cache: CacheWriter, reads: CacheReader, text: str) -> None:
    cache.write_products(GOODS)
    reads.query("search", {"search": text})
    reads.query("orders", {"search": text})
    reads.query("people", {"search": text})
    reads.find([text])


def test_a_line_says_whether_stock_is_kept_of_its_product(cache: CacheWriter, reads: CacheReader) -> None:
    """What the store says comes before what the catalogue says; where nobody says it, stock is kept."""
    cache.write_products(
        [product("BAG", is_stock=False), product("TEA", is_stock=False), product("JAM", is_stock=True)]
    )
    cache.write_stock([stock("FEE", is_stock=False), stock("TEA")])
    put_orders(cache, order("1", *(line(n, number) for n, number in enumerate(("BAG", "TEA", "FEE", "JAM", "NEW"), 1))))
    assert [each["is_stock"] for each in one(reads)["lines"]] == [False, True, False, True, True]
