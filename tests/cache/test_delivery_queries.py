"""Queries of deliveries: rows of the service with pending receipts of this host laid over."""

from __future__ import annotations

import random
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import apsw
import pytest

from aisle.barcode_numbers import lookup_keys
from aisle.cache.reader import CacheReader
from aisle.cache.writer import CacheWriter, LinkRow, open_cache
from aisle.host.database import transaction
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import Context, LocalNote, Rows
from aisle.jobs.receive.receive_state_and_differences import (
    ReceiptEntry,
    ReceiveState,
    parse_delivery_line,
    parse_delivery_row,
    receipt_write,
)
from aisle.jobs.receive.view import DELIVERY_COLUMNS, delivery_progress
from aisle.jobs.supervisor.deliveries import DeliveryList
from aisle.outbox.local_notes import save_note
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.operation_record import Intent
from aisle.search_text import natural_key
from tests.cache import service_rows
from tests.clock import Clock
from tests.writes import ANNA, STORE

NOON = 1_795_176_000.0
CONTEXT = Context(store=STORE, user="U1", now="2026-11-20T12:00:00Z")

Row = dict[str, Any]


def line(number: int, product: str, quantity: int, received: int | None = 0, **fields: Any) -> Row:
    """interface: Delivery line."""
    came = {} if received is None else {"received_quantity": received}
    return {"line_number": number, "product_number": product, "quantity": quantity, **came, **fields}


def delivery(number: str, *lines: Row, **fields: Any) -> Row:
    """interface: Delivery order."""
    return {
        "order_number": number,
        "store_number": STORE,
        "supplier_name": "Dairy of the North",
        "order_lines": list(lines),
        **fields,
    }


class Desk:
    """A cache, an outbox, and the reads over both."""

    def __init__(self, folder: Path) -> None:
        home = StoreFolder(folder, "embedded", STORE)
        self.clock = Clock(NOON)
        self.cache = CacheWriter(open_cache(home.folder, writer=True), STORE)
        self._db = open_outbox(home.folder)
        self.outbox = OperationQueue(self._db, clock=self.clock)
        self.reads = CacheReader(home, self._db)

    def receive(self, number: str, *entries: ReceiptEntry, sign: int = 1) -> str:
        """A receipt of this host."""
        made = receipt_write(ReceiveState(delivery_number=number), entries, CONTEXT, sign)
        with transaction(self._db):
            (op_id,) = self.outbox.enqueue([Intent(made)], ANNA)
        return op_id

    def arrive(self, op_id: str) -> None:
        """The service took it, now."""
        self.outbox.begin_sending(op_id, b"{}")
        self.outbox.confirm(op_id, "{}")

    def lines(self, number: str) -> list[tuple[int, str, int]]:
        """(line, product, received) of a delivery."""
        ((row,), _) = self.reads.query("delivery", {"order_number": number})
        return [(each["line_number"], each["product_number"], int(each["received"])) for each in row["lines"]]

    def listed(self, **args: Any) -> list[tuple[str, str]]:
        """Numbers and states of a window."""
        rows, _ = self.reads.query("deliveries", args)
        return [(row["order_number"], row["state"]) for row in rows]

    def means(self, code: str) -> set[tuple[str, str, Decimal]]:
        """What a code is found under."""
        return {(each.kind, each.key, each.factor) for each in self.reads.find(lookup_keys(code))}


@pytest.fixture
def desk(aisle_home: Path) -> Desk:
    made = Desk(aisle_home)
    made.cache.write_products(
        [service_rows.product("P1", "Oat drink", allow_decimal=True), service_rows.product("P9", "Rye bread")]
    )
    made.cache.write_deliveries(
        [
            delivery("D-1", line(1, "P1", 6), line(2, "P2", 2, description="Butter"), line(3, "P1", 4)),
            delivery("D-2", line(1, "P1", 3, 3), datetime_expected="2026-11-19T08:00:00Z"),
            delivery("D-3", line(1, "P2", 9, 1), datetime_expected="2026-11-21T08:00:00Z", supplier_name="Öztürk"),
        ],
        NOON - 60,
    )
    return made


def test_deliveries_to_receive_come_first_by_expected_date(desk: Desk) -> None:
    assert desk.listed() == [("D-3", "partial"), ("D-1", "open"), ("D-2", "received")]
    assert desk.listed(state="open") == [("D-3", "partial"), ("D-1", "open")]
    assert desk.listed(state="received") == [("D-2", "received")]
    assert desk.listed(search="oztu") == [("D-3", "partial")]
    assert desk.listed(first=1, size=1) == [("D-1", "open")]
    ((row, *_), total) = desk.reads.query("deliveries", {"size": 1})
    assert (row["quantity"], row["received_quantity"], row["total_lines"], total) == (9, 1, 1, 3)


WEIGHTS = [("4.75", True, True), ("4.74", True, False), ("4.75", False, False), ("5", True, True)]


@pytest.mark.parametrize("is_pending", [False, True])
@pytest.mark.parametrize("names_received", [True, False])
@pytest.mark.parametrize(("weight", "is_weighed", "is_complete"), WEIGHTS)
def test_a_delivery_of_weighed_goods_within_the_tolerance_is_received(
    desk: Desk, weight: str, is_weighed: bool, is_complete: bool, names_received: bool, is_pending: bool
) -> None:
    desk.reads.context.weight_tolerance = Decimal(5)
    desk.cache.write_products([service_rows.product("P5", "Cheese", allow_decimal=is_weighed, base_unit_name="kg")])
    came = Decimal(0) if is_pending else Decimal(weight)
    weighed = line(1, "P5", 5, None, **({"received_quantity": float(came)} if names_received else {}))
    if not names_received:
        receipt_line = {"line_number": 1, "product_number": "P5", "received_quantity": float(came)}
        desk.cache.write_receipts([{"order_number": "W-1", "store_number": STORE, "receipt_lines": [receipt_line]}])
    desk.cache.write_deliveries([delivery("W-1", weighed, datetime_expected="2026-11-18T08:00:00Z")], NOON - 60)
    if is_pending:
        desk.receive("W-1", ReceiptEntry("P5", 1, Decimal(weight)))
    state = "received" if is_complete else "partial"
    to_receive = [("D-3", "partial"), ("D-1", "open")]
    assert desk.listed(state="open") == ([] if is_complete else [("W-1", state)]) + to_receive
    assert desk.listed(state="received") == [("D-2", "received")] + ([("W-1", state)] if is_complete else [])
    assert desk.reads.query("deliveries", {})[1] == 4
    assert desk.listed(state="late", now="2026-11-20T12:00:00Z") == ([] if is_complete else [("W-1", state)])
    ((row, *_), _) = desk.reads.query("deliveries", {"search": "W-1"})
    assert (row["state"], row["complete_lines"]) == (state, int(is_complete))
    ((one,), _) = desk.reads.query("delivery", {"order_number": "W-1"})
    assert one["state"] == state
    assert parse_delivery_line(one["lines"][0]).is_open is not is_complete
    expecting, _ = desk.reads.query("next_deliveries", {"product_number": "P5", "size": 3})
    assert [each["order_number"] for each in expecting] == ([] if is_complete else ["W-1"])
    with transaction(desk._db):
        save_note(desk._db, LocalNote("partly_received", "W-1", "U1"), "U1", desk.clock())
    assert desk.reads.query("partly_received", {})[1] == int(not is_complete)


def test_a_delivery_is_late_when_its_day_is_over_until_it_is_received(desk: Desk) -> None:
    days = {"L-1": "2026-11-18", "L-2": "2026-11-19T09:00:00Z", "L-3": "2026-11-20T08:00:00Z", "L-4": ""}
    desk.cache.write_deliveries(
        [delivery(number, line(1, "P1", 2), datetime_expected=day) for number, day in days.items()], NOON - 60
    )

    def late(**args: Any) -> list[str]:
        return [number for number, _ in desk.listed(state="late", now="2026-11-20T12:00:00Z", **args)]

    assert late(first=1) == late()[1:]
    assert {number for number in late() if number in days} == {"L-1", "L-2"}
    desk.receive("L-1", ReceiptEntry("P1", 1, Decimal(1)))
    assert "L-1" in late(), "it is received in part only"
    desk.receive("L-1", ReceiptEntry("P1", 1, Decimal(1)))
    assert "L-1" not in late()


def test_receipts_overlay_line_by_line_and_undo_from_last(desk: Desk) -> None:
    desk.receive("D-1", ReceiptEntry("P1", 1, Decimal(5)), ReceiptEntry("P1", 3, Decimal(1)))
    assert desk.lines("D-1") == [(1, "P1", 5), (2, "P2", 0), (3, "P1", 1)]
    desk.receive("D-1", ReceiptEntry("P1", 0, Decimal(6)))
    assert desk.lines("D-1") == [(1, "P1", 6), (2, "P2", 0), (3, "P1", 6)]
    desk.receive("D-1", ReceiptEntry("P1", 0, Decimal(7)), sign=-1)
    assert desk.lines("D-1") == [(1, "P1", 5), (2, "P2", 0), (3, "P1", 0)]
    desk.receive("D-1", ReceiptEntry("P9", 0, Decimal(2)))
    assert desk.lines("D-1")[-1] == (0, "P9", 2)
    ((row,), _) = desk.reads.query("delivery", {"order_number": "D-1"})
    assert [each["description"] for each in row["lines"]] == ["Oat drink", "Butter", "Oat drink", "Rye bread"]
    assert [each["allow_decimal"] for each in row["lines"]] == [True, False, True, False]
    desk.receive(
        "D-1", ReceiptEntry("P1", 1, Decimal(1)), ReceiptEntry("P1", 3, Decimal(4)), ReceiptEntry("P2", 2, Decimal(2))
    )
    assert desk.listed(state="received") == [("D-2", "received"), ("D-1", "received")]


def order_line(quantity: int, picked: int, **fields: Any) -> Row:
    return service_rows.line(1, "P2", quantity, picked, **fields)


@pytest.mark.parametrize(
    ("order", "needed"),
    [
        (service_rows.order("96002", order_line(6, 2)), 4),
        (service_rows.order("96002", order_line(6, 2), is_rejected=True), 0),
        (service_rows.order("96002", order_line(6, 2, is_picked_from_warehouse=True)), 6),
        (service_rows.order("96002", order_line(6, 2, is_picked_from_warehouse=True, moved_quantity=2)), 4),
        (service_rows.order("96001", order_line(6, 2)), None),
    ],
)
def test_a_delivery_says_what_the_orders_of_its_lines_need(desk: Desk, order: Row, needed: int | None) -> None:
    service_rows.put_orders(desk.cache, order)
    desk.cache.write_deliveries([delivery("D-7", line(1, "P2", 5, customer_order_number="96002"))], NOON - 60)

    def needs() -> list[tuple[str, str, int]]:
        ((row,), _) = desk.reads.query("delivery", {"order_number": "D-7"})
        return [(each["order_number"], each["product_number"], int(each["needed"])) for each in row["order_needs"]]

    assert needs() == ([] if needed is None else [("96002", "P2", needed)])
    desk.receive("D-7", ReceiptEntry("P2", 1, Decimal(3)))
    assert needs() == ([] if needed is None else [("96002", "P2", max(0, needed - 3))])


def test_received_excess_fills_no_other_line(desk: Desk) -> None:
    desk.cache.write_deliveries([delivery("D-5", line(1, "P5", 6, 8), line(2, "P6", 4, 1), line(3, "P7", 0, 5))], NOON)
    for _ in range(2):  # as the cache sums it, then with a receipt laid over
        ((listed,), _) = desk.reads.query("deliveries", {"search": "D-5"})
        ((opened,), _) = desk.reads.query("delivery", {"order_number": "D-5"})
        assert (listed["received_quantity"], listed["quantity"], listed["state"]) == (7, 10, "partial")
        assert opened["received_quantity"] == 7
        desk.receive("D-5", ReceiptEntry("P5", 1, Decimal(2)))
    desk.cache.write_deliveries([delivery("D-6", line(1, "P5", 6), line(2, "P7", 0, 5))], NOON)
    assert desk.listed(search="D-6") == [("D-6", "partial")]


def test_a_receipt_leaves_the_overlay_when_the_delivery_was_read_after_it(desk: Desk) -> None:
    op_id = desk.receive("D-1", ReceiptEntry("P1", 1, Decimal(5)))
    desk.arrive(op_id)
    assert desk.lines("D-1")[0] == (1, "P1", 5)
    desk.clock.pass_(10)
    desk.cache.write_deliveries(
        [delivery("D-1", line(1, "P1", 6, 5), line(2, "P2", 2), line(3, "P1", 4))], desk.clock()
    )
    assert desk.lines("D-1")[0] == (1, "P1", 5)


def test_an_earlier_read_never_comes_over_a_later_one(desk: Desk) -> None:
    desk.cache.write_deliveries([delivery("D-2", line(1, "P1", 3, 1))], NOON - 120)
    assert desk.lines("D-2") == [(1, "P1", 3)]
    written = desk.cache.write_deliveries([delivery("D-2", line(1, "P1", 3, 3), datetime_expected="x")], NOON)
    assert written.changed == ("D-2",)


def test_deliveries_that_expect_a_product(desk: Desk) -> None:
    rows, total = desk.reads.query("deliveries_expecting", {"product_number": "P1"})
    assert [(row["order_number"], row["missing"]) for row in rows] == [("D-1", 10)]
    desk.receive("D-1", ReceiptEntry("P1", 1, Decimal(6)), ReceiptEntry("P1", 3, Decimal(4)))
    assert desk.reads.query("deliveries_expecting", {"product_number": "P1"}) == ([], 0)
    assert total == 1


def test_the_next_deliveries_that_bring_a_product(desk: Desk) -> None:
    def coming(**args: Any) -> list[tuple[str, int, str]]:
        rows, total = desk.reads.query("next_deliveries", {"product_number": "P1", **args})
        assert total == len(rows)
        return [(row["order_number"], int(row["missing"]), row["datetime_expected"]) for row in rows]

    day, late = "2026-11-20T08:00:00Z", "2026-11-21T08:00:00Z"
    desk.cache.write_deliveries(
        [
            delivery("D-1", line(1, "P1", 6), line(2, "P2", 2), line(3, "P1", 4), datetime_expected=late),
            delivery("D-4", line(1, "P1", 3, 1), line(2, "P2", 3), datetime_expected=day),
            delivery("D-5", line(1, "P1", 2)),
        ],
        NOON,
    )
    assert coming() == [("D-4", 2, day), ("D-1", 10, late), ("D-5", 2, "")]
    assert coming(size=1) == [("D-4", 2, day)]
    desk.receive("D-4", ReceiptEntry("P1", 1, Decimal(2)))
    desk.receive("D-1", ReceiptEntry("P1", 1, Decimal(5)), ReceiptEntry("P2", 2, Decimal(2)))
    assert coming() == [("D-1", 5, late), ("D-5", 2, "")]


def test_what_a_receipt_says_of_a_silent_line_comes_no_more(desk: Desk) -> None:
    silent = {name: value for name, value in line(1, "P1", 4).items() if name != "received_quantity"}
    desk.cache.write_deliveries([delivery("D-6", silent, line(2, "P2", 3))], NOON)
    desk.cache.write_receipts([{"order_number": "D-6", "receipt_lines": [{"line_number": 1, "received_quantity": 3}]}])
    rows, _ = desk.reads.query("next_deliveries", {"product_number": "P1"})
    assert ("D-6", 1) in [(row["order_number"], row["missing"]) for row in rows]


def test_expected_deliveries_of_product_read_only_its_lines(desk: Desk) -> None:
    lines = [line(n, f"P{n}", 4) for n in range(1, 400)]
    desk.cache.write_deliveries([delivery(f"E-{n}", *lines) for n in range(3)], NOON)
    steps: list[int] = []

    def tick() -> bool:
        steps.append(1)
        return False

    cache = desk.reads._cache
    desk.reads.query("next_deliveries", {"product_number": "P1"})
    cache.set_progress_handler(tick, 100)
    desk.reads.query("next_deliveries", {"product_number": "P1"})
    cache.set_progress_handler(None)
    assert len(steps) < 30


def test_delivery_is_found_by_number_container_and_product_barcode(desk: Desk) -> None:
    row = line(
        1,
        "P7",
        24,
        container_barcode="00387123450000000018",
        barcode="96385074",
        purchase_unit_barcode="8712345678906",
        purchase_unit_quantity=12,
    )
    desk.cache.write_deliveries([delivery("D-7", row, external_reference_number="EXT-7")], NOON)
    assert desk.means("D-7") == desk.means("EXT-7") == {("delivery", "D-7", Decimal(1))}
    assert desk.means("00387123450000000018") == {("delivery", "D-7", Decimal(1))}
    assert desk.means("96385074") == {("product", "P7", Decimal(1))}
    assert desk.means("8712345678906") == {("product", "P7", Decimal(12))}
    desk.cache.write_deliveries([delivery("D-7", line(1, "P7", 24, container_barcode="OTHER"))], NOON + 1)
    assert desk.means("00387123450000000018") == set()
    assert desk.means("OTHER") == {("delivery", "D-7", Decimal(1))}
    desk.cache.delete_deliveries(["D-7"])
    assert desk.means("OTHER") == desk.means("D-7") == set()
    assert desk.reads.query("delivery", {"order_number": "D-7"}) == ([], 0)


def test_a_corrected_line_leaves_no_wrong_code(desk: Desk) -> None:
    for at, barcode, base_units in ((NOON, "96385074", 99), (NOON + 1, "5901234123457", 12)):
        unit = {"purchase_unit_barcode": "8712345678906", "purchase_unit_quantity": base_units}
        row = {**line(1, "P7", 24, barcode=barcode), **unit}
        desk.cache.write_deliveries([delivery("D-7", row)], at)
    assert desk.means("96385074") == set()
    assert desk.means("8712345678906") == {("product", "P7", Decimal(12))}


def test_what_lines_do_not_say_the_receipt_does(desk: Desk) -> None:
    desk.cache.write_deliveries([delivery("D-4", line(1, "P1", 3, None), line(2, "P2", 1, None))], NOON)
    assert desk.listed(search="d-4") == [("D-4", "open")]
    receipt = {
        "order_number": "D-4",
        "store_number": STORE,
        "order_type_id": 1,
        "import_id": 9,
        "receipt_lines": [{"line_number": 1, "received_quantity": 3, "shipped_quantity": 3}],
    }
    desk.cache.write_receipts([receipt, {**receipt, "order_number": "T-1", "order_type_id": 2, "import_id": 10}])
    assert desk.listed(search="d-4") == [("D-4", "partial")]
    assert desk.lines("D-4") == [(1, "P1", 3), (2, "P2", 0)]
    kinds, _ = desk.reads.query("receipt_kinds", {})
    assert kinds == [{"kind": "1", "count": 1}, {"kind": "2", "count": 1}]
    rows, total = desk.reads.query("receipts", {})
    assert [(row["order_number"], row["received_quantity"]) for row in rows] == [("T-1", 3), ("D-4", 3)]
    assert total == 2
    assert [row["order_number"] for row in desk.reads.query("receipts", {"kind": "1"})[0]] == ["D-4"]


SAME_GOODS = {
    "nothing came": ((12, 0), (10, 0)),
    "excess on a line": ((12, 13), (10, 9)),
    "excess on every line": ((12, 13), (10, 19)),
    "announced as none": ((0, 5), (10, 9)),
    "not announced": ((None, 5), (10, 9)),
    "of one line it is unknown": ((12, None), (10, 9)),
    "goods by measure": ((3, 3), (10, 4), "P1"),
    "excess of goods by measure": ((3, 4), (10, 10), "P1"),
}
"""Lines as (announced, received); the first is of `P2` unless another product is named."""


@pytest.mark.parametrize("is_overlaid", [False, True])
@pytest.mark.parametrize("name", SAME_GOODS)
def test_a_delivery_and_its_receipt_count_the_same(desk: Desk, name: str, is_overlaid: bool) -> None:
    first, second, *product = SAME_GOODS[name]
    lines = [(product[0] if product else "P2", *first), ("P3", *second)]
    announced = [line(at, *of) for at, of in enumerate(lines, 1)]
    desk.cache.write_deliveries([delivery("D-4", *announced)], NOON)
    came = [
        {"line_number": at, "product_number": of, "shipped_quantity": sent, "received_quantity": received}
        for at, (of, sent, received) in enumerate(lines, 1)
    ]
    desk.cache.write_receipts([{"order_number": "R-4", "store_number": STORE, "receipt_lines": came}])
    if is_overlaid:
        desk.receive("D-4", ReceiptEntry("P3", 2, Decimal(0)))
    ((said,), _) = desk.reads.query("deliveries", {"search": "D-4"})
    ((receipt,), _) = desk.reads.query("receipts", {"search": "R-4"})
    parsed = DeliveryList().parse_rows(Rows("receipts", (receipt,), 1), CONTEXT)[0]
    listed = parse_delivery_row(said, CONTEXT)
    assert DELIVERY_COLUMNS[2].value(parsed) == DELIVERY_COLUMNS[2].value(listed)
    assert delivery_progress(parsed) == delivery_progress(listed)


def test_codes_of_unreferenced_product_go_with_last_delivery(desk: Desk) -> None:
    rows = [line(1, "P9", 1, barcode="96385074"), line(2, "P7", 1, barcode="8712345678906")]
    desk.cache.write_deliveries([delivery("D-7", *rows), delivery("D-8", rows[1])], NOON, generation=1)
    desk.cache.write_orders([service_rows.order("1", service_rows.line(1, "P6"))], lines_known=True, read_began=NOON)
    desk.cache.delete_unseen("delivery", 1)
    desk.cache.write_deliveries([delivery("D-8", rows[1])], NOON + 1, generation=2)
    desk.cache.delete_unseen("delivery", 2)
    assert desk.means("8712345678906") == {("product", "P7", Decimal(1))}, "another delivery has it"
    desk.cache.delete_unseen("delivery", 3)
    assert desk.means("8712345678906") == desk.means("P7") == desk.means("P2") == set()
    assert desk.means("96385074") == {("product", "P9", Decimal(1))}, "the catalogue has it"
    assert desk.means("P6") == {("product", "P6", Decimal(1))}, "an order has it"


def test_what_a_receipt_says_of_no_line_is_of_none(desk: Desk) -> None:
    desk.cache.write_deliveries([delivery("D-4", line(0, "P9", 2, None))], NOON)
    desk.cache.write_receipts(
        [{"order_number": "D-4", "store_number": STORE, "receipt_lines": [{"received_quantity": 2}]}]
    )
    assert (desk.lines("D-4"), desk.listed(search="d-4")) == ([(0, "P9", 0)], [("D-4", "open")])
    assert "D-4" in dict(desk.listed(state="open"))


def test_receipt_fills_only_lines_without_own_quantity(desk: Desk) -> None:
    desk.cache.write_deliveries(
        [delivery("D-4", line(1, "P1", 4, 4), line(2, "P9", 2, None), line(3, "P2", 2, 1))], NOON
    )
    said = [{"line_number": number, "received_quantity": 2} for number in (1, 2, 3)]
    desk.cache.write_receipts([{"order_number": "D-4", "store_number": STORE, "receipt_lines": said}])
    assert desk.lines("D-4") == [(1, "P1", 4), (2, "P9", 2), (3, "P2", 1)]
    expecting = {
        product: [
            row["order_number"] for row in desk.reads.query("deliveries_expecting", {"product_number": product})[0]
        ]
        for product in ("P1", "P9", "P2")
    }
    assert expecting == {"P1": ["D-1"], "P9": [], "P2": ["D-3", "D-1", "D-4"]}
    assert "D-4" in dict(desk.listed(state="open"))


def test_full_receipt_sync_keeps_seen_and_delivery_receipts(desk: Desk) -> None:
    kept = {"store_number": STORE, "order_type_id": 1, "receipt_lines": []}
    desk.cache.write_receipts([{**kept, "order_number": number} for number in ("D-1", "R-1", "R-2")])
    desk.cache.delete_unseen_receipts(["R-1"])
    assert {row["order_number"] for row in desk.reads.query("receipts", {})[0]} == {"D-1", "R-1"}


def test_a_complete_pass_drops_what_it_has_not_seen(desk: Desk) -> None:
    desk.cache.write_deliveries([delivery("D-1", line(1, "P1", 6))], NOON, generation=5)
    assert desk.cache.delete_unseen("delivery", 5) == 2
    assert desk.listed() == [("D-1", "open")]


@pytest.mark.parametrize(
    "row",
    [
        "D-1",
        {"order_lines": []},
        delivery("D-8", store_number="0002"),
        delivery("D-8", order_lines={}) | {"order_lines": {"a": 1}},
        delivery("D-8", line(1, "P1", 1), line(1, "P2", 1)),
        delivery("D-8", line(1, "P1", 1) | {"quantity": "many"}),
        delivery("D-8", line(1, "P1", 1) | {"line_number": "x"}),
    ],
)
def test_a_row_that_makes_no_sense_is_left_out_with_its_reason(desk: Desk, row: Any) -> None:
    written = desk.cache.write_deliveries([row, delivery("D-5", line(1, "P1", 1))], NOON)
    assert len(written.skipped) == 1
    assert written.skipped[0].reason
    assert written.keys == ("D-5",)


def test_line_takes_product_from_barcode_and_number_from_position(desk: Desk) -> None:
    desk.cache.write_products([service_rows.product("P5", "Crisps", "96385074")])
    bare = {"barcode": "96385074", "quantity": 4, "received_quantity": 0}
    desk.cache.write_deliveries([delivery("D-6", bare, {"product_number": "P9", "quantity": 1})], NOON)
    assert desk.lines("D-6") == [(1, "P5", 0), (2, "P9", 0)]
    for query in ("next_deliveries", "deliveries_expecting"):
        rows, _ = desk.reads.query(query, {"product_number": "P5"})
        assert [(row["order_number"], row["missing"]) for row in rows] == [("D-6", 4)]
    desk.cache.write_products([service_rows.product("P6", "Other crisps", "96385074")])
    assert desk.reads.query("next_deliveries", {"product_number": "P5"}) == ([], 0)
    desk.cache.write_deliveries([delivery("D-0", status="received")], NOON)
    assert desk.listed(search="d-0") == [("D-0", "received")]


def test_pieces_and_kilograms_are_told_as_lines(desk: Desk) -> None:
    """Their quantities have no sum."""
    ((row, *_), _) = desk.reads.query("deliveries", {"search": "D-1"})
    assert (row["is_mixed"], row["complete_lines"]) == (True, 0)
    desk.receive("D-1", ReceiptEntry("P1", 1, Decimal(6)))
    ((row, *_), _) = desk.reads.query("deliveries", {"search": "D-1"})
    assert (row["is_mixed"], row["complete_lines"]) == (True, 1)


@pytest.mark.parametrize("received", [0, 4])
def test_one_line_of_measured_goods_is_told_as_a_line(desk: Desk, received: int) -> None:
    """`0 of 10` would not say that they are pounds; the receipt says `0 of 1`."""
    desk.cache.write_deliveries([delivery("D-7", line(1, "P1", 10))], NOON)
    if received:
        desk.receive("D-7", ReceiptEntry("P1", 1, Decimal(received)))
    ((row, *_), _) = desk.reads.query("deliveries", {"search": "D-7", "state": "all"})
    assert (row["is_mixed"], row["total_lines"], row["complete_lines"]) == (True, 1, 0)


def random_delivery(chance: random.Random, number: int) -> Row:
    """Announced or not, with lines that say what came, or leave it to a receipt, or without any."""
    silent = chance.random() < 0.3
    lines = [
        line(at, f"P{chance.randrange(4)}", quantity, None if silent else chance.choice((0, 1, quantity)))
        for at, quantity in enumerate((chance.randrange(1, 4) for _ in range(chance.randrange(4))), 1)
    ]
    day = chance.choice(("", "2026-11-19", "2026-11-20T08:00:00Z", "2026-12-01"))
    status = {"status": chance.choice(("received", "open"))} if not lines else {}
    return delivery(f"D-{number}", *lines, datetime_expected=day, **status)


def whole(desk: Desk, state: str) -> list[str]:
    """The list as it is made of all deliveries."""
    numbers = [row["order_number"] for row in desk.reads.query("deliveries", {"size": 1000})[0]]
    rows = [desk.reads.query("delivery", {"order_number": number})[0][0] for number in numbers]
    came = {row["order_number"]: row["state"] == "received" for row in rows}
    day = {row["order_number"]: row["datetime_expected"] for row in rows}
    wanted = [number for number in numbers if state == "" or came[number] == (state == "received")]
    if state == "received":
        return sorted(wanted, key=lambda number: (day[number], natural_key(number)), reverse=True)
    return sorted(wanted, key=lambda number: (came[number], day[number] or "~", natural_key(number)))


@pytest.mark.parametrize("seed", range(6))
def test_windows_match_whole_list_with_pending_rows(desk: Desk, seed: int) -> None:
    chance = random.Random(seed)
    made = [random_delivery(chance, number) for number in range(30)]
    desk.cache.write_deliveries(made, NOON - 50)
    for each in chance.sample(made, 20):
        came = [
            {"line_number": of["line_number"], "received_quantity": chance.choice((0, of["quantity"]))}
            for of in each["order_lines"]
        ]
        desk.cache.write_receipts(
            [{"order_number": each["order_number"], "store_number": STORE, "receipt_lines": came}]
        )
    for step in range(4):
        for state in ("", "open", "received"):
            listed = whole(desk, state)
            assert len(listed) == desk.reads.query("deliveries", {"state": state, "size": 0})[1], (step, state)
            for first in range(0, len(listed) + 5, 5):
                rows = desk.listed(state=state, first=first, size=5)
                assert [number for number, _ in rows] == listed[first : first + 5], (step, state, first)
        words = [number for number, _ in desk.listed(search="d-1", size=100)]
        assert words == [number for number in whole(desk, "") if "1" in number]
        with_lines = [each for each in made if each["order_lines"]]
        for each in chance.sample(with_lines, 3):
            entries = [ReceiptEntry(of["product_number"], 0, Decimal(of["quantity"])) for of in each["order_lines"]]
            desk.receive(each["order_number"], *entries, sign=chance.choice((1, 1, -1)))
        desk.cache.write_deliveries(
            [random_delivery(chance, number) for number in chance.sample(range(30), 4)], NOON + 9
        )
        desk.cache.delete_deliveries([f"D-{chance.randrange(30)}"])


def test_no_list_of_deliveries_or_receipts_is_sorted_or_read_whole(desk: Desk) -> None:
    desk.cache.write_receipts([{"order_number": "D-2", "store_number": STORE, "order_type_id": 1}])
    desk.receive("D-1", ReceiptEntry("P1", 1, Decimal(5)))
    asked: list[str] = []
    cache = desk.reads._cache
    cache.trace_v2(apsw.SQLITE_TRACE_STMT, lambda told: asked.append(told["sql"]))
    for state in ("", "open", "received"):
        desk.listed(state=state)
    for kind in ("", "1"):
        desk.reads.query("receipts", {"kind": kind})
    desk.reads.query("receipt_kinds", {})
    desk.reads.query("deliveries_expecting", {"product_number": "P1"})
    cache.trace_v2(0, None)
    for sql in (sql for sql in asked if sql.lstrip().startswith("SELECT")):
        given = len(set(re.findall(r"\?\d", sql))) or sql.count("?")
        plan = [str(step[3]) for step in cache.execute(f"EXPLAIN QUERY PLAN {sql}", [None] * given)]
        if ("LIMIT" in sql and "FROM delivery" in sql) or "FROM receipt" in sql:
            assert not any("TEMP B-TREE" in step for step in plan), (sql, plan)
        whole_tables = [
            step for step in plan if step.startswith(("SCAN d", "SCAN l", "SCAN r")) and "INDEX" not in step
        ]
        assert not [step for step in whole_tables if "tally" not in step], (sql, plan)


def test_receipts_are_listed_by_number_whatever_type_they_are_of(desk: Desk) -> None:
    chance = random.Random(1)
    rows = [
        {"order_number": f"R-{at}", "store_number": STORE, "import_id": number, "order_type_id": at % 3}
        for at, number in enumerate(chance.choices(["9", 10, None, "x", 11.5, 2], k=40))
    ]
    desk.cache.write_receipts(rows)
    desk.cache.write_receipts([{**rows[4], "order_type_id": 7}])
    rows[4]["order_type_id"] = 7

    def number(row: Row) -> float:
        said = str(row["import_id"])
        return float(said) if said.replace(".", "").isdecimal() else 0.0

    for kind in ("", "0", "1", "7"):
        mine = [row for row in rows if kind in ("", str(row["order_type_id"]))]
        listed = [row["order_number"] for row in sorted(mine, key=lambda row: (-number(row), row["order_number"]))]
        for first in range(0, 45, 7):
            found, total = desk.reads.query("receipts", {"kind": kind, "first": first, "size": 7})
            assert [row["order_number"] for row in found] == listed[first : first + 7]
            assert total == len(listed)
    kinds = {row["kind"]: row["count"] for row in desk.reads.query("receipt_kinds", {})[0]}
    assert kinds == {kind: sum(str(row["order_type_id"]) == kind for row in rows) for kind in "0127"}


# Lines that do not say how much was announced. interface: Delivery line, all fields optional


def unsaid(number: int, product: str, received: int | None = 0) -> Row:
    """A line without a quantity."""
    said = line(number, product, 0, received)
    del said["quantity"]
    return said


SILENT: dict[str, tuple[tuple[Row, ...], str, int]] = {
    "nothing came of the only line": ((unsaid(1, "P1"),), "open", 0),
    "nothing is said of what came": ((unsaid(1, "P1", None),), "open", 0),
    "something came of the only line": ((unsaid(1, "P1", 4),), "received", 1),
    "the other is full, nothing came of it": ((line(1, "P1", 4, 4), unsaid(2, "P2")), "partial", 1),
    "the other is full, some came of it": ((line(1, "P1", 4, 4), unsaid(2, "P2", 3)), "received", 2),
    "the other is not full": ((line(1, "P1", 4, 3), unsaid(2, "P2", 3)), "partial", 1),
    "two of three are silent, one has come": ((unsaid(1, "P1", 2), unsaid(2, "P2"), unsaid(3, "P3")), "partial", 1),
    "two of three are silent, none says it": ((unsaid(1, "P1", 2), unsaid(2, "P2", None)), "partial", 1),
    "more came than was announced": ((line(1, "P1", 4, 9), unsaid(2, "P2")), "partial", 1),
    "none was announced of the other": ((line(1, "P1", 0, 0), unsaid(2, "P2", 3)), "received", 2),
}


@pytest.mark.parametrize("name", SILENT)
def test_a_line_without_a_quantity_is_no_line_of_none(desk: Desk, name: str) -> None:
    lines, state, complete = SILENT[name]
    desk.cache.write_deliveries([delivery("S-91", *lines)], NOON)
    for rows, total in (
        desk.reads.query("deliveries", {"search": "S-91"}),
        desk.reads.query("delivery", {"order_number": "S-91"}),
    ):
        assert total == 1
        assert (rows[0]["state"], rows[0]["complete_lines"], rows[0]["is_mixed"]) == (state, complete, True)
    said = [each["quantity"] for each in rows[0]["lines"]]
    assert said == [each.get("quantity") for each in lines]
    listed = [number for number, _ in desk.listed(state="open")]
    assert ("S-91" in listed) is (state != "received")


def test_a_delivery_expects_what_it_says_no_quantity_of_until_some_came(desk: Desk) -> None:
    desk.cache.write_deliveries([delivery("S-91", unsaid(1, "P-S"), line(2, "P2", 3))], NOON)
    for name in ("deliveries_expecting", "next_deliveries"):
        rows, total = desk.reads.query(name, {"product_number": "P-S"})
        assert (total, rows[0]["missing"]) == (1, None)
    desk.receive("S-91", ReceiptEntry("P-S", 1, Decimal(5)))
    for name in ("deliveries_expecting", "next_deliveries"):
        assert desk.reads.query(name, {"product_number": "P-S"})[1] == 0
    assert desk.lines("S-91") == [(1, "P-S", 5), (2, "P2", 0)]
    assert desk.reads.query("delivery", {"order_number": "S-91"})[0][0]["state"] == "partial"


def test_a_receipt_without_quantities_has_no_sum(desk: Desk) -> None:
    lines = [{"line_number": 1, "received_quantity": 2, "shipped_quantity": 3}, {"line_number": 2}]
    receipt = {"order_number": "S-91", "store_number": STORE, "order_type_id": 1, "receipt_lines": lines}
    desk.cache.write_receipts([receipt])
    ((row,), _) = desk.reads.query("receipts", {"search": "S-91"})
    assert (row["received_quantity"], row["shipped_quantity"]) == (None, None)


def excess(desk: Desk, **window: int) -> list[tuple[str, str, int, int]]:
    """(delivery, product, received, announced) of the lines received beyond what was announced, counted as listed."""
    rows, total = desk.reads.query("excess_receipts", window)
    (counts,), _ = desk.reads.query("exceptions", {"now": CONTEXT.now, "minutes": 60})
    assert counts["excess_receipts"] == total
    assert window or total == len(rows)
    return [(row["order_number"], row["product_number"], int(row["received"]), int(row["quantity"])) for row in rows]


def test_what_two_people_booked_beyond_the_announced_quantity_is_an_exception(desk: Desk) -> None:
    assert excess(desk) == []
    desk.cache.write_deliveries([delivery("D-10", line(1, "P1", 6, 12), line(2, "P2", 4, 4))], NOON)
    first = desk.receive("D-3", ReceiptEntry("P2", 1, Decimal(8)))
    assert excess(desk) == [("D-10", "P1", 12, 6)]
    desk.receive("D-3", ReceiptEntry("P2", 1, Decimal(2)))
    desk.receive("D-2", ReceiptEntry("P9", 0, Decimal(1)))
    listed = [("D-2", "P9", 1, 0), ("D-3", "P2", 11, 9), ("D-10", "P1", 12, 6)]
    assert excess(desk) == listed
    assert excess(desk, first=1, size=1) == listed[1:2]
    desk.arrive(first)
    desk.receive("D-3", ReceiptEntry("P2", 1, Decimal(3)), sign=-1)
    desk.cache.delete_deliveries(["D-10"])
    assert excess(desk) == listed[:1]


def accept(desk: Desk, key: str, quantity: int) -> None:
    """Note on this host that a supervisor accepted it."""
    with transaction(desk._db):
        save_note(desk._db, LocalNote("accepted_excess", key, str(quantity)), "U1", desk.clock())


def test_accepted_excess_is_listed_again_only_if_more_arrives(desk: Desk) -> None:
    desk.cache.write_deliveries([delivery("D-10", line(1, "P1", 6, 12))], NOON)
    unannounced = desk.receive("D-2", ReceiptEntry("P9", 0, Decimal(1)))
    rows, _ = desk.reads.query("excess_receipts", {})
    assert [row["note_key"] for row in rows] == ["D-2//P9", "D-10/1"]
    for row in rows:
        accept(desk, row["note_key"], int(row["received"]))
    assert excess(desk) == []
    desk.arrive(unannounced)
    desk.clock.pass_(10)
    desk.cache.write_deliveries([delivery("D-2", line(1, "P1", 3), line(7, "P9", 0, 1))], desk.clock())
    desk.receive("D-10", ReceiptEntry("P1", 1, Decimal(1)))
    assert excess(desk) == [("D-10", "P1", 13, 6)]
    assert desk.reads.query("excess_receipts", {"order_number": "D-2"}) == ([], 0)


def test_excess_whose_log_entries_are_reviewed_is_accepted(desk: Desk) -> None:
    desk.cache.write_deliveries([delivery("D-10", line(1, "P1", 6, 12), line(2, "P2", 1, 2))], NOON)
    both = [("D-10", "P1", 12, 6), ("D-10", "P2", 2, 1)]
    for features, states, listed, ids in (
        ("reviews", (1, 2, 0), both, ["1"]),
        ("reviews", (2, 2, 0), both[1:], []),
        ("receipt-line", (2, 2, 0), both, []),
    ):
        desk.cache.set_link(LinkRow(state="live", last_ok=NOON, features=features))
        entries = [
            {"id": at, "product_number": "P1", "quantity": 6, "reference": "D-10", "review_status": str(status)}
            for at, status in enumerate(states, 1)
        ]
        desk.cache.write_logs(entries, "")
        assert excess(desk) == listed
        assert desk.reads.query("excess_receipts", {})[0][0]["to_review"] == ids


def test_excess_is_found_by_its_index(desk: Desk) -> None:
    asked: list[str] = []
    desk.reads._cache.trace_v2(apsw.SQLITE_TRACE_STMT, lambda told: asked.append(told["sql"]))
    excess(desk)
    desk.reads._cache.trace_v2(0, None)
    (sql, *_) = [sql for sql in asked if "FROM delivery_line" in sql]
    plan = [str(step[3]) for step in desk.reads._cache.execute(f"EXPLAIN QUERY PLAN {sql}", ["[]"])]
    assert plan[0] == "SCAN delivery_line USING INDEX delivery_line_excess"
