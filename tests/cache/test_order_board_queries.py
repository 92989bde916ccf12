"""The order board: every window equals a plainly filtered and sorted list."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

import apsw
import pytest

from aisle.cache import order_overlay
from aisle.cache.order_board_queries import BoardFilter, BoardList, FilteredList, OrderBoard, parse_filter
from aisle.cache.queries import QueryContext
from aisle.cache.reader import CacheReader
from aisle.cache.writer import CacheWriter
from aisle.host.database import transaction
from aisle.jobs.job import LocalNote, Write
from aisle.jobs.log_writes_and_refusals import log_write
from aisle.jobs.supervisor.order_filter import SORTS, view_key
from aisle.operation_body_types import UNDO_PREFIX
from aisle.outbox.local_notes import save_note
from aisle.outbox.operation_queue import OperationQueue
from aisle.outbox.operation_record import Author, Intent, author_of
from aisle.stored_messages import store_text
from tests.cache import service_rows
from tests.cache.service_rows import put_orders
from tests.run_length import tries
from tests.writes import ANNA, update

NOW = "2026-03-05T12:00:00+00:00"

ALL = ("open", "partial", "picked", "rejected", "finished")

Row = dict[str, Any]


def made(seed: int, count: int) -> list[Row]:
    """Orders in all states, some without a date, some of one reference."""
    rng = random.Random(seed)
    orders = []
    for number in range(count):
        picked = rng.choice([0, 0, 1, 3])
        lines = [service_rows.line(1, f"P{rng.randrange(9)}", 3, picked, is_picked=picked == 3 or rng.random() < 0.2)]
        state = rng.choice(["", "", "", "is_rejected", "gone"])
        fields: Row = {"is_active": state != "gone", "reference": f"R{rng.randrange(4)}"}
        fields |= {"is_picked": lines[0]["is_picked"], "is_rejected": state == "is_rejected"}
        fields["is_claimed"] = rng.random() < 0.3
        fields["customer_name"] = rng.choice(["Bakery", "Ms Okafor", "Öztürk & Sons"])
        fields["pickup_date"] = rng.choice(
            ["", "2026-03-04", "2026-03-05T09:00:00", "2026-03-05T18:00:00", "2026-04-01"]
        )
        orders.append(service_rows.order(str(4000 + number * 7 % 1000), *lines, **fields))
    return orders


def numbers(rows: Sequence[Row]) -> list[str]:
    return [str(row["order_number"]) for row in rows]


def status(order: Row) -> str:
    if not order["is_active"]:
        return "finished"
    if order["is_rejected"]:
        return "rejected"
    picked = order["lines"][0]["picked_quantity"] if order["lines"] else 0
    return "picked" if order["is_picked"] else "partial" if picked else "open"


def by_hand(orders: list[Row], **args: Any) -> list[str]:
    """What the list has to be; all orders were read at one moment, in their order."""

    def wanted(order: Row) -> bool:
        line, pickup = order["lines"][0], order["pickup_date"]
        now = datetime.fromisoformat(NOW).astimezone().replace(tzinfo=None).isoformat()
        return (
            status(order) in args.get("status", ALL)
            and (args.get("claimed") is None or order["is_claimed"] == args["claimed"])
            and (not args.get("search") or args["search"] in order["customer_name"].lower())
            and (not args.get("reference") or order["reference"] == args["reference"])
            and (not args.get("short") or (line["is_picked"] and line["picked_quantity"] < 3))
            and (not args.get("late") or (bool(pickup) and pickup < (now if len(pickup) > 10 else now[:10])))
        )

    def key(order: Row) -> tuple[Any, ...]:
        pickup, number = order["pickup_date"] or "~", order["order_number"]
        picked = order["lines"][0]["picked_quantity"] if order["lines"] else 0
        keys: dict[str, tuple[Any, ...]] = {
            "number": (),
            "customer": (order["customer_name"].replace("Ö", "o").replace("ü", "u").lower(),),
            "state": (status(order), pickup),
            "progress": (picked,),
            "claim": ("" if order["is_claimed"] else "~", pickup),
        }
        return (*keys.get(args.get("sort", ""), (pickup,)), number)

    found = sorted(filter(wanted, orders), key=key, reverse=bool(args.get("descending")))
    return [str(order["order_number"]) for order in found]


FILTERS: list[Row] = [
    {},
    {"status": ["open", "partial"]},
    {"status": ["rejected"]},
    {"claimed": True},
    {"search": "bakery", "status": ["open", "picked"]},
    {"reference": "R1"},
    {"short": True},
    {"late": True, "now": NOW, "status": ["open", "partial"]},
    {"descending": True},
    {"sort": "number", "descending": True, "status": ["open"]},
    {"sort": "customer"},
    {"sort": "customer", "descending": True, "search": "bakery"},
    {"sort": "state", "status": ["open", "partial", "rejected"]},
    {"sort": "state", "descending": True, "reference": "R1"},
    {"sort": "progress"},
    {"sort": "progress", "descending": True, "status": ["partial", "picked"]},
    {"sort": "claim", "descending": True},
]


@pytest.fixture
def filled(cache: CacheWriter) -> list[Row]:
    orders = made(1, 120)
    cache.write_orders(orders, lines_known=True, read_began=1000.0)
    return orders


@pytest.mark.parametrize("args", FILTERS, ids=lambda args: "-".join(args) or "all")
def test_windows_are_those_of_the_whole_list(reads: CacheReader, filled: list[Row], args: Row) -> None:
    whole = by_hand(filled, **args)
    assert whole
    found, total = reads.query("order_board", {**args, "size": 500})
    assert (numbers(found), total) == (whole, len(whole))
    assert [row["position"] for row in found] == list(range(total))
    for first in (0, 1, total // 2, total - 1, total + 5):
        rows, _ = reads.query("order_board", {**args, "first": first, "size": 7})
        assert numbers(rows) == whole[first : first + 7], first
    for at in range(0, total, max(1, total // 9)):
        near = {"order_number": whole[at], "position": at}
        for first in (max(0, at - 7), at + 1):
            rows, _ = reads.query("order_board", {**args, "first": first, "size": 7, "near": near})
            assert numbers(rows) == whole[first : first + 7], (at, first)
        rows, _ = reads.query("order_board", {**args, "anchor": whole[at], "row": 2, "size": 7})
        begins = max(0, at - 2) if total > 7 else 0
        assert (numbers(rows), rows[0]["position"]) == (whole[begins : begins + 7], begins)
        rows, _ = reads.query("order_board", {**args, "anchor": whole[at], "row": 0, "size": 7, "fills": True})
        assert numbers(rows) == whole[max(0, min(at, total - 7)) :][:7], "no row is blank that an order could have"


def test_it_is_sorted_by_age_and_number_too(reads: CacheReader, cache: CacheWriter, filled: list[Row]) -> None:
    cache.write_orders([service_rows.order("1"), service_rows.order("99999")], lines_known=True, read_began=500.0)
    cache.write_orders([service_rows.order("1", comment="new")], lines_known=True, read_began=5000.0)
    rows, _ = reads.query("order_board", {"sort": "age", "size": 3})
    assert numbers(rows)[:2] == ["1", "99999"], "since this host has known them, whatever they say later"
    rows, total = reads.query("order_board", {"sort": "number", "size": 500})
    assert numbers(rows) == sorted(numbers(rows), key=int)
    assert total == 122
    assert rows[0]["seen_at"] == "1970-01-01T00:08:20.000Z"


def test_random_writes_of_this_host_lie_over_every_window(
    reads: CacheReader, cache: CacheWriter, outbox_db: apsw.Connection, filled: list[Row]
) -> None:
    """Claims, rejections, finishes and picks that wait: each list is the one of orders changed by hand."""
    rng = random.Random(7)
    outbox = OperationQueue(outbox_db)
    for _ in range(tries(12, 200)):
        left = [each for each in filled if each["is_active"] and not each["is_rejected"]]
        if not left:
            break
        order = rng.choice(left)
        change = rng.choice([{"is_claimed": True}, {"is_claimed": False}, {"is_rejected": True}, {"is_active": False}])
        order |= change
        with transaction(outbox_db):
            outbox.enqueue([Intent(update(order["order_number"], {}, **change), occurred_at=NOW)], ANNA)
        for args in FILTERS:
            whole = by_hand(filled, **args)
            rows, total = reads.query("order_board", {**args, "first": len(whole) // 3, "size": 9})
            assert (numbers(rows), total) == (whole[len(whole) // 3 :][:9], len(whole)), (change, args)


def test_rows_say_who_works_on_it_and_since_when_nothing_was_heard(
    reads: CacheReader, cache: CacheWriter, outbox_db: apsw.Connection
) -> None:
    cache.write_people([service_rows.person("U2", "Ben Okafor")])
    said = {"is_claimed": True, "claimed_by": "U2", "claimed_on": "2026-03-05T09:00:00Z"}
    short = service_rows.line(2, "P2", 3, 1, is_picked=True)
    put_orders(cache, service_rows.order("1", service_rows.line(1), short, **said))
    (row,), _ = reads.query("orders_by_number", {"orders": ["1", "unknown"]})
    assert (row["claimed_name"], row["short"], row["status"]) == ("Ben Okafor", 1, "partial")
    assert row["idle_since"] == "2026-03-05T09:00:00.000Z"
    entry = {"id": 5, "product_number": "P1", "store_number": "0001", "customer_order_number": "1", "source": "pick"}
    cache.write_logs([{**entry, "created_on": "2026-03-05T09:30:00Z", "app_user_name": "U2"}], "2026-01-01")
    (row,), _ = reads.query("orders_by_number", {"orders": ["1"]})
    assert row["idle_since"] == "2026-03-05T09:30:00.000Z"
    with transaction(outbox_db):
        OperationQueue(outbox_db).enqueue([Intent(update("1", {1: 1}), occurred_at="2026-03-05T09:45:00Z")], ANNA)
    (row,), _ = reads.query("orders_by_number", {"orders": ["1"]})
    assert row["idle_since"] == "2026-03-05T09:45:00.000Z"
    stuck, total = reads.query("stuck", {"now": "2026-03-05T10:44:00+00:00", "minutes": 60})
    assert (stuck, total) == ([], 0)
    (row,), _ = reads.query("stuck", {"now": "2026-03-05T10:46:00+00:00", "minutes": 60})
    assert row["order_number"] == "1"
    past, _ = reads.query("order_history", {"order_number": "1"})
    assert [(each["event"], each["user"]) for each in past] == [("pick", "U1"), ("pick", "Ben Okafor")]
    (outcome,), _ = reads.query("order_outcomes", {"orders": ["1"]})
    assert outcome == {"order_number": "1", "outcome": "queued", "why": ""}
    words = []
    for since in ("2026-03-05T09:45:00.000Z", "2026-03-05T09:45:00.001Z"):
        (outcome,), _ = reads.query("order_outcomes", {"orders": ["1"], "since": since})
        words.append(outcome["outcome"])
    assert words == ["queued", "confirmed"], "nothing that was said before"


def test_event_in_order_and_log_is_shown_once(
    reads: CacheReader, cache: CacheWriter, outbox_db: apsw.Connection
) -> None:
    """The order's own history says what became of it, and where."""
    put_orders(cache, service_rows.order("1", service_rows.line(1), service_rows.line(2)))
    cache.write_products([service_rows.product("P1", "Cola")])
    why = {"rejection_reason_code": "2", "rejection_reason_code_description": "Location is empty"}
    closing = update("1", {1: 1})
    closing.body["orders"]["order_lines"][0] |= {
        "base_picked_quantity": 1,
        "is_picked": True,
        "preferred_location_code": "B-02-3",
        **why,
    }
    with transaction(outbox_db):
        OperationQueue(outbox_db).enqueue([Intent(closing, occurred_at="2026-03-05T09:45:00Z")], ANNA)
    said = {"product_number": "P1", "store_number": "0001", "customer_order_number": "1", "location_code": "B-02-3"}
    reason = {"reason_code": 2, "reason_code_description": "Location is empty", "quantity": 0}
    logged = [
        {**said, "id": 7, "source": "short", "created_on": "2026-03-05T09:45:00Z", "app_user_name": "U1", **reason},
        {**said, "id": 6, "source": "short", "created_on": "2026-03-05T08:00:00Z", "app_user_name": "U2", **reason},
        {
            **said,
            "id": 5,
            "source": "aisle",
            "created_on": "2026-03-05T07:00:00Z",
            "app_user_name": "U2",
            "quantity": 1,
        },
    ]
    cache.write_logs(logged, "2026-01-01")
    past, total = reads.query("order_history", {"order_number": "1"})
    told = [(each["event"], each["label"], each["location"], each["why"], each["outcome"]) for each in past]
    assert total == len(told)
    assert [(what, label, place, word) for what, label, place, _, word in told] == [
        ("short", "Cola", "B-02-3", "queued"),
        ("short", "Cola", "B-02-3", ""),
        ("movement", "Cola", "B-02-3", ""),
    ]
    assert told[0][3] == told[1][3] == store_text("Location is empty")


def test_history_has_the_decisions_that_the_service_lists(
    reads: CacheReader, cache: CacheWriter, outbox_db: apsw.Connection
) -> None:
    """Those of this host are listed once; a pending one stays."""
    put_orders(cache, service_rows.order("1", service_rows.line(1)))
    cache.write_products([service_rows.product("P1", "Cola")])
    outbox = OperationQueue(outbox_db)
    for minute, is_rejected in ((1, True), (9, False)):
        write = update("1", {}, is_rejected=is_rejected)
        with transaction(outbox_db):
            (op_id,) = outbox.enqueue([Intent(write, occurred_at=f"2026-03-05T09:0{minute}:00Z")], ANNA)
        if is_rejected:
            outbox.begin_sending(op_id, b"{}")
            outbox.confirm(op_id, "{}")
    reason = {"rejection_reason_code_description": "Cancelled"}
    changes: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        ("U2", {"claimed_by": "U1"}, {"claimed_by": "U2"}),
        ("U1", {"is_rejected": False}, {"is_rejected": True, **reason}),
        ("U1", {"claimed_by": "U1"}, {"claimed_by": "U3"}),
        ("U1", {"line 1 quantity": 4}, {"line 1 quantity": 3, "line 1 pickup_date": "2026-12-24"}),
        ("U1", {"line 1 is_rejected": False}, {"line 1 is_rejected": True}),
        ("U1", {"claimed_by": "U3", "line 1 stock_pool": 1}, {"line 1 stock_pool": 2}),
    ]
    entries = [
        {"number": at, "at": f"2026-03-05T09:0{at}:30Z", "app_user_name": user, "before": before, "after": after}
        for at, (user, before, after) in enumerate(changes, 1)
    ]
    assert [cache.write_order_audit("1", entries, began) for began in (900.0, 901.0, 899.0)] == [True, False, False]
    past, _ = reads.query("order_history", {"order_number": "1"})
    assert [(row["at"][11:16], row["event"], row["label"], row["outcome"]) for row in past] == [
        ("09:09", "taken_back", "", "queued"),
        ("09:06", "released", "", ""),
        ("09:05", "short", "Cola", ""),
        ("09:04", "quantity", "Cola", ""),
        ("09:04", "due", "Cola", ""),
        ("09:03", "assigned", "U3", ""),
        ("09:02", "rejected", "", ""),
        ("09:01", "claimed", "", ""),
    ]
    assert (past[3]["quantity"], past[4]["why"], past[6]["why"]) == (3, "2026-12-24", store_text("Cancelled"))


def test_a_claim_for_somebody_has_his_name_here_and_is_sent_in_it(
    reads: CacheReader, cache: CacheWriter, outbox_db: apsw.Connection
) -> None:
    put_orders(cache, service_rows.order("1", is_claimed=True))
    with transaction(outbox_db):
        save_note(outbox_db, LocalNote("claim", "1", "U2"), "U1", 1000.0)
    (row,), _ = reads.query("orders_by_number", {"orders": ["1"]})
    assert row["claimed_by"] == "U2", "a service that keeps no names"
    write = update("1", {}, is_claimed=True)._replace(user="U2")
    assert author_of(write, Author("0001", "U1", terminal="desk")) == Author("0001", "U2")
    with transaction(outbox_db):
        outbox = OperationQueue(outbox_db)
        ids = outbox.enqueue([Intent(update("1", {1: 1})), Intent(write), Intent(update("1", {2: 1}))], ANNA)
    assert len(set(ids)) == 3, "what others say is never one with it"
    assert [outbox.get(op_id).app_user for op_id in ids] == ["U1", "U2", "U1"]


@pytest.mark.parametrize(
    ("claimed_on", "claimant"),
    [
        ("2026-03-05T09:00:00.000Z", "U1"),
        ("2026-03-05T11:00:00+02:00", "U1"),
        ("2026-03-05T10:00:00.000Z", "U2"),
        ("2026-03-05T09:00:00-01:00", "U2"),
    ],
)
def test_later_claim_wins_in_whatever_zone_it_is_stated(
    reads: CacheReader, cache: CacheWriter, outbox_db: apsw.Connection, claimed_on: str, claimant: str
) -> None:
    claim = {"is_claimed": True, "claimed_by": "U2", "claimed_on": claimed_on}
    put_orders(cache, service_rows.order("1", service_rows.line(1), **claim))
    own = Intent(update("1", {}, is_claimed=True), occurred_at="2026-03-05T09:30:00.000Z")
    with transaction(outbox_db):
        OperationQueue(outbox_db).enqueue([own], ANNA)
    (row,), _ = reads.query("orders_by_number", {"orders": ["1"]})
    assert row["claimed_by"] == claimant


def test_differences_are_sorted_by_value_until_somebody_has_seen_them(
    reads: CacheReader, cache: CacheWriter, outbox_db: apsw.Connection
) -> None:
    usual = {"store_number": "0001", "app_user_name": "U2", "created_on": "2026-03-05T09:00:00Z", "review_status": "1"}
    counted = [
        {"id": 1, "product_number": "P1", "counted_quantity": 4, "expected_quantity": 9, "price": 1, **usual},
        {"id": 2, "product_number": "P2", "counted_quantity": 9, "expected_quantity": 8, "price": 50, **usual},
        {"id": 3, "product_number": "P3", "counted_quantity": 3, "expected_quantity": 3, "price": 9, **usual},
        {"id": 4, "product_number": "P4", "counted_quantity": 3, "expected_quantity": 1, **usual},
        {"id": 5, "product_number": "P5", "counted_quantity": 3, "expected_quantity": 0, **usual, "review_status": "2"},
        {"id": 6, "product_number": "P6", "counted_quantity": 3, "expected_quantity": 0, **usual, "app_user_name": ""},
    ]
    cache.write_logs(counted, "2026-01-01")
    rows, total = reads.query("differences", {})
    assert [(row["key"], row["value"], row["known"]) for row in rows] == [
        ("2", 50, True),
        ("1", -5, True),
        ("4", 0, False),
    ]
    (row,), _ = reads.query("exceptions", {"now": NOW, "minutes": 60})
    assert (row["differences"], row["value"], total) == (3, 55, 3)
    with transaction(outbox_db):
        save_note(outbox_db, LocalNote("review", "2", "approved"), "U1", 1772704800.0)
        save_note(outbox_db, LocalNote("recount", "P1/A-1", "P1"), "U1", 1772704800.0)
    assert numbers_of(reads, "differences") == ["1", "4"]
    assert numbers_of(reads, "recounts") == ["P1/A-1"]
    entry = {"product_number": "P1", "location_code": "A-1", "counted_quantity": 4, "expected_quantity": 9}
    with transaction(outbox_db):
        save_note(outbox_db, LocalNote("recount", "P1/A-1", "P1"), "U1", 1772704800.9)
    cache.write_logs(
        [{"id": 8, **entry, "store_number": "0001", "created_on": "2026-03-05T10:00:00.700Z"}], "2026-01-01"
    )
    assert numbers_of(reads, "recounts") == ["P1/A-1"], "counted in the same second, but before it was ordered"
    again = {"id": 7, "product_number": "P1", "location_code": "a-1", "counted_quantity": 4, "expected_quantity": 4}
    cache.write_logs([{**again, "store_number": "0001", "created_on": "2026-03-05T11:00:00Z"}], "2026-01-01")
    assert numbers_of(reads, "recounts") == [], "it was counted since"


def test_a_count_that_was_taken_back_waits_for_nobody(
    reads: CacheReader, cache: CacheWriter, outbox_db: apsw.Connection
) -> None:
    at = "2026-03-05T09:00:00.000Z"
    usual = {"store_number": "0001", "app_user_name": "U2", "location_code": "A-1", "created_on": at}
    counted = [
        {"id": number, "product_number": f"P{number}", "counted_quantity": 4, "expected_quantity": 9, **usual}
        for number in (1, 2, 3)
    ]
    cache.write_logs(counted, "2026-01-01")
    back = {"product_number": "P1", "quantity": 5, "reference": f"{UNDO_PREFIX}{at}", "source": "count"}
    cache.write_logs([{"id": 9, **usual, **back, "created_on": "2026-03-05T09:01:00.000Z"}], "2026-01-01")
    assert numbers_of(reads, "differences") == ["2", "3"], "the service has it"
    entry = {"product_number": "P2", "location_code": "a-1", "quantity": 5, "reference": f"{UNDO_PREFIX}2"}
    body = {"storeproductlog": [{**entry, "app_user_name": "U2", "scanned_datetime": "2026-03-05T09:02:00.000Z"}]}
    write = Write("create-store-product-logs", ("product/P2",), {"store_number": "0001"}, {}, body)
    with transaction(outbox_db):
        OperationQueue(outbox_db).enqueue([Intent(write)], ANNA)
    assert numbers_of(reads, "differences") == ["3"], "this host says so"
    (row,), _ = reads.query("exceptions", {"now": NOW, "minutes": 60})
    assert row["differences"] == 1


@pytest.mark.every_case
@pytest.mark.parametrize("undo", ["none", "unsent", "waiting", "refused", "in the log"])
@pytest.mark.parametrize("kind", ["local", "at_service"])
def test_a_recount_is_open_again_after_the_undo_of_its_count(
    reads: CacheReader, cache: CacheWriter, outbox_db: apsw.Connection, kind: str, undo: str
) -> None:
    if kind == "local":
        with transaction(outbox_db):
            save_note(outbox_db, LocalNote("recount", "P1/A-1", "P1"), "U1", 1772704800.0)
    else:
        ordered = {"ordered_on": "2026-03-05T10:00:00Z", "state": "open"}
        cache.write_recounts([{"id": 1, "product_number": "P1", "location_code": "A-1", **ordered}])
    at, outbox = "2026-03-05T11:00:00.000Z", OperationQueue(outbox_db)
    goods = {"product_number": "P1", "location_code": "A-1", "app_user_name": "U1"}

    def write(*, is_count: bool = False, **fields: Any) -> str:
        entry: Any = {**goods, "scanned_datetime": at, **fields}
        logs = log_write([entry], ["P1"], "0001", "U1", is_count=is_count)
        with transaction(outbox_db):
            return outbox.enqueue([Intent(logs)], ANNA)[0]

    count_id = write(is_count=True, stock_pool_1=4)
    assert numbers_of(reads, "recounts") == []
    if undo in ("waiting", "refused"):
        outbox.begin_sending(count_id, b"{}")
    reference = f"{UNDO_PREFIX}{at}"
    if undo == "in the log":
        rows: list[dict[str, Any]] = [
            {"id": 1, "stock_pool_1": 4, "counted_quantity": 4},
            {"id": 2, "quantity": 0, "reference": reference},
        ]
        cache.write_logs([{**goods, **row, "store_number": "0001", "created_on": at} for row in rows], "2026-01-01")
    elif undo != "none":
        undo_id = write(stock_pool_1=0, reference=reference)
        if undo == "refused":
            with transaction(outbox_db):
                outbox_db.execute("UPDATE operation SET state = 'rejected' WHERE op_id = ?", (undo_id,))
    assert bool(numbers_of(reads, "recounts")) == (undo not in ("none", "refused"))


def test_counts_are_found_without_a_look_at_the_whole_log(
    cache_db: apsw.Connection, cache: CacheWriter, reads: CacheReader, outbox_db: apsw.Connection
) -> None:
    asked: list[str] = []
    count = {"id": 1, "store_number": "0001", "product_number": "P1", "app_user_name": "U2", "counted_quantity": 4}
    cache.write_logs([{**count, "expected_quantity": 3, "created_on": "2026-03-05T08:00:00Z"}], "2026-01-01")
    with transaction(outbox_db):
        save_note(outbox_db, LocalNote("recount", "P1/A-1", "P1"), "U1", 1772704800.0)
    reads.context.cache.trace_v2(apsw.SQLITE_TRACE_STMT, lambda told: asked.append(told["sql"]))
    reads.query("differences", {})
    reads.query("recounts", {})
    reads.context.cache.trace_v2(0, None)
    looks = [sql for sql in asked if "FROM log" in sql or "FROM difference WHERE" in sql]
    assert len(looks) == 4, asked
    plans = [
        str(row[3])
        for sql in looks
        for row in cache_db.execute(f"EXPLAIN QUERY PLAN {sql}", [None] * sql.count("?"))
        if "json_each" not in str(row[3])
    ]
    indexes = ("INDEX log_counted", "INDEX difference_", "INDEX log_at", "INDEX log_back")
    assert all(any(index in step for index in indexes) for step in plans), plans


def test_service_recounts_are_listed_with_local_changes_laid_over(
    reads: CacheReader, cache: CacheWriter, outbox_db: apsw.Connection
) -> None:
    said = {"ordered_by": "U2", "ordered_on": "2026-03-05T09:00:00Z", "state": "open"}
    kept = [{"id": n, "product_number": f"P{n}", "location_code": "A-1", **said} for n in (1, 2, 3)]
    cache.write_people([service_rows.person("U2", "Ben Okafor")])
    cache.write_recounts(kept)
    entry = {"id": 50, "product_number": "P5", "location_code": "A-5", "counted_quantity": 1, "store_number": "0001"}
    cache.write_logs([{**entry, "created_on": "2026-03-05T08:00:00Z"}], "2026-01-01")
    (row, _, _), _ = reads.query("recounts", {})
    assert (row["key"], row["kind"], row["user_name"], row["location_code"]) == ("1", "at_service", "Ben Okafor", "A-1")
    outbox = OperationQueue(outbox_db)

    def write(*said: Row) -> str:
        with transaction(outbox_db):
            body = {"recounts": list(said)}
            made = Write("write-recounts", ("recount",), {"store_number": "0001"}, {}, body)
            return outbox.enqueue([Intent(made, occurred_at="2026-03-05T10:00:00Z")], ANNA)[0]

    op_id = write({"id": 2, "state": "withdrawn"}, {"log_id": 50})
    found = [(each["key"], each["kind"]) for each in reads.query("recounts", {})[0]]
    assert found == [("1", "at_service"), ("3", "at_service"), ("P5/A-5", "queued")]
    outbox.begin_sending(op_id, b"{}")
    outbox.refuse(op_id, store_text("It was counted"))
    assert numbers_of(reads, "recounts") == ["1", "2", "3"], "nothing came of it"
    with transaction(outbox_db):
        save_note(outbox_db, LocalNote("recount", "P3/a-1", "P3"), "U1", 1772704800.0)
        save_note(outbox_db, LocalNote("recount", "P4/A-1", "P4"), "U1", 1772704800.0)
    cache.write_recounts(kept[1:])
    found = [(each["key"], each["kind"]) for each in reads.query("recounts", {})[0]]
    assert found == [("2", "at_service"), ("3", "at_service"), ("P4/A-1", "local")], (
        "one of the service's is listed once"
    )
    count = {"product_number": "P2", "location_code": "a-1", "counted_quantity": 3}
    logs = Write("create-store-product-logs", ("product/P2",), {}, {}, {"storeproductlog": [count]})
    with transaction(outbox_db):
        outbox.enqueue([Intent(logs)], ANNA)
    assert numbers_of(reads, "recounts") == ["3", "P4/A-1"], "it was counted here, and the service will hear of it"


def numbers_of(reads: CacheReader, name: str) -> list[str]:
    return [str(row["key"]) for row in reads.query(name, {})[0]]


def test_a_person_has_his_own_views_whatever_he_is_called(reads: CacheReader, outbox_db: apsw.Connection) -> None:
    kept = [("a", "late"), ("a", "b/late"), ("a/b", "late"), ("a%2Fb", "mine")]
    with transaction(outbox_db):
        for user, name in kept:
            save_note(outbox_db, LocalNote("view", view_key(user, name), "{}"), user, 1772704800.0)
    for user in ("a", "a/b", "a%2Fb", ""):
        names = [row["name"] for row in reads.query("saved_views", {"user": user})[0]]
        assert sorted(names) == sorted(name for owner, name in kept if owner == user), user


def test_stock_that_cannot_be(reads: CacheReader, cache: CacheWriter) -> None:
    cache.write_products([service_rows.product(f"P{n}") for n in range(1, 4)])
    cache.write_stock(
        [
            service_rows.stock("P1", 3, places={"A-1": 5, "A-2": -2}),
            service_rows.stock("P2", -4),
            service_rows.stock("P3", 6, places={"A-1": 6}),
        ]
    )
    kept = [{"location_code": "PU-1", "quantity": 1, "customer_order_number": "1", "location_order": 1}]
    lines = (service_rows.line(1, "P1", 3, 4), service_rows.line(2, "P2", 3, 2, moved_quantity=2, store_locations=kept))
    fine = service_rows.line(3, "P3", 3, 1, moved_quantity=1, store_locations=kept)
    put_orders(cache, service_rows.order("1", *lines, fine))
    rows, _ = reads.query("negative_stock", {})
    found = [(row["kind"], row["product_number"], row["location_code"], int(row["quantity"])) for row in rows]
    assert found == [
        ("below", "P1", "A-2", -2),
        ("below", "P2", "", -4),
        ("more", "P1", "", 1),
        ("missing", "P2", "", 1),
    ]


TO_PICK = BoardFilter(("open", "partial"))
INDEXED_LISTS = [
    *((None, TO_PICK._replace(sort=sort)) for sort in SORTS),
    (0, TO_PICK._replace(due_before=NOW)),
]


@pytest.mark.parametrize(("total", "board_filter"), INDEXED_LISTS)
def test_a_list_of_states_is_read_from_an_index_in_its_order(
    cache_db: apsw.Connection, cache: CacheWriter, total: int | None, board_filter: BoardFilter
) -> None:
    """No list is sorted, and none is read whole: the last window of many costs what the first of few does."""
    asked: list[str] = []
    cache_db.trace_v2(apsw.SQLITE_TRACE_STMT, lambda told: asked.append(told["sql"]))
    listed = BoardList(cache_db, board_filter, [], {}, total)
    listed.window(30, 9, (listed.key_of("4001") or ("x",), 20))
    assert listed.total == 0
    cache_db.trace_v2(0, None)
    windows = [sql for sql in asked if "LIMIT" in sql]
    assert windows
    for sql in windows:
        plan = [str(step[3]) for step in cache_db.execute(f"EXPLAIN QUERY PLAN {sql}", [None] * sql.count("?"))]
        assert any("COVERING INDEX orders_" in step for step in plan), plan
        assert not any("TEMP B-TREE" in step for step in plan), plan


def test_late_orders_are_not_read_whole(reads: CacheReader, filled: list[Row]) -> None:
    late = parse_filter({"status": ["open", "partial"], "late": True, "now": NOW})
    listed = reads.context.keep(OrderBoard).filtered_list(reads.context, late)
    assert listed.total > 0
    assert not isinstance(listed, FilteredList)


# The order board with pending operations: one scan costs the work of one order


def test_of_what_waits_only_what_changed_is_made_anew(
    reads: CacheReader, cache: CacheWriter, outbox_db: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders = [str(number) for number in range(100, 130)]
    lines = [service_rows.line(1), service_rows.line(2)]
    put_orders(cache, *(service_rows.order(each, *lines) for each in orders))
    outbox = OperationQueue(outbox_db)
    made: list[str] = []

    def noted(context: QueryContext, number: str) -> Any:
        made.append(number)
        return overlay(context, number)

    def pick(number: str, lines: dict[int, int]) -> None:
        with transaction(outbox_db):
            outbox.enqueue([Intent(update(number, lines), occurred_at=NOW)], ANNA)

    def anew() -> list[str]:
        made.clear()
        reads.query("order_board", {"size": 0})
        return sorted(made)

    overlay = order_overlay.overlaid_order
    monkeypatch.setattr(order_overlay, "overlaid_order", noted)
    for number in orders:
        pick(number, {1: 1})
    assert anew() == orders
    assert anew() == []
    pick("107", {2: 3})
    assert anew() == ["107"]
    gone = service_rows.order("111", *lines, is_active=False)
    cache.write_orders([gone, service_rows.order("999")], lines_known=True, read_began=2.0)
    assert anew() == ["111"]
    assert numbers(reads.query("order_board", {"status": ["finished"]})[0]) == ["111"]
    assert reads.query("order_board", {"status": ["partial"]})[1] == len(orders) - 1


@pytest.mark.parametrize("most", [0, 5000])
def test_counts_of_views_are_those_of_their_lists(
    reads: CacheReader, filled: list[Row], most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aisle.cache.order_board_queries.MAX_COUNTED_ORDERS", most)
    now = "2026-03-03T12:00:00+00:00"
    to_pick: dict[str, Any] = {"status": ["open", "partial"]}
    views: list[dict[str, Any]] = [{}, to_pick, {"status": ["picked"]}, {**to_pick, "late": True}, {"short": True}]
    views.insert(0, {**to_pick, "claimed": True})
    rows, total = reads.query("order_counts", {"views": views, "now": now})
    assert total == len(views)
    assert 0 < rows[2]["count"] < rows[1]["count"] <= len(filled)
    is_counted = [row["count"] is not None for row in rows]
    assert is_counted == [most > 0, *[True] * 4, most > 0]
    for view, row in zip(views, rows, strict=True):
        assert row["count"] in (None, reads.query("order_board", {**view, "now": now})[1]), view


@pytest.mark.parametrize("number", [int, str])
def test_order_with_unread_lines_is_as_far_as_its_header_says(
    reads: CacheReader, cache: CacheWriter, number: Callable[[int], Any]
) -> None:
    picked = {"1": 0, "2": 2, "3": 1}
    orders = [
        service_rows.order(key, service_rows.line(1), total_delivery_quantity=number(each), total_quantity=number(3))
        for key, each in picked.items()
    ]
    cache.write_orders(orders, lines_known=False, read_began=1.0)
    rows, total = reads.query("order_board", {"status": ["partial"], "sort": "progress", "size": 9})
    assert ([(row["order_number"], row["status"]) for row in rows], total) == ([("3", "partial"), ("2", "partial")], 2)
    assert reads.query("order_counts", {"views": [{"status": ["partial"]}], "now": NOW})[0][0]["count"] == 2
    assert reads.query("stuck", {"now": NOW, "minutes": 5})[1] == 2


@pytest.mark.parametrize(("picked", "short"), [("8", 1), ("10", 0)])
def test_quantities_in_text_are_compared_as_numbers(
    reads: CacheReader, cache: CacheWriter, picked: str, short: int
) -> None:
    order = service_rows.order("4101", service_rows.line(1, "P1", 9))
    order["lines"][0] |= {"quantity": "9", "picked_quantity": picked, "is_picked": True}
    put_orders(cache, order)
    assert reads.query("order_board", {"short": True, "size": 9})[1] == short


SHORTAGES = [
    ("1.9", True, "5", 0),
    ("1.899", True, "5", 1),
    ("1.99", True, "0", 1),
    ("2", True, "0", 0),
    ("1.14", True, "43", 0),
    ("1.9", False, "5", 1),
    ("0", True, "5", 1),
]
"""Picked of two, whether the goods are weighed, the tolerance in per cent, and the short lines."""


@pytest.mark.every_case
@pytest.mark.parametrize("is_pending", [False, True])
@pytest.mark.parametrize(("picked", "is_weighed", "tolerance", "short"), SHORTAGES)
def test_a_weighed_line_within_its_tolerance_is_not_short(
    reads: CacheReader, cache: CacheWriter, outbox_db: apsw.Connection,
    picked: str, is_weighed: bool, tolerance: str, short: int, is_pending: bool,
) -> None:  # fmt: skip
    reads.context.weight_tolerance = Decimal(tolerance)
    cache.write_products([service_rows.product("P1", "Cheese", allow_decimal=is_weighed, base_unit_name="kg")])
    now = {} if is_pending else {"picked_quantity": float(picked), "is_picked": True}
    put_orders(cache, service_rows.order("4101", {**service_rows.line(1, "P1", 2), **now}))
    if is_pending:
        made = update("4101", {1: 0})
        made.body["orders"]["order_lines"] = [
            {"line_number": 1, "product_number": "P1", "picked_quantity": Decimal(picked), "is_picked": True}
        ]
        with transaction(outbox_db):
            OperationQueue(outbox_db).enqueue([Intent(made)], ANNA)
    (row,), _ = reads.query("order_board", {"first": 0, "size": 9})
    assert row["short"] == short
    assert reads.query("order_board", {"short": True, "first": 0, "size": 9})[1] == short
    (order,), _ = reads.query("order", {"order_number": "4101"})
    assert order["lines"][0].get("may_lack", 0) == (2 * Decimal(tolerance) / 100 if is_weighed else 0)
