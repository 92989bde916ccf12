"""A reader that polls rereads only what changed, and sees what a new reader sees."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing
from decimal import Decimal
from random import Random
from typing import Any

import apsw
import pytest

from aisle.cache import order_overlay
from aisle.cache.order_overlay import apply_to_order
from aisle.cache.pending_operations import Overlay
from aisle.cache.queries import QueryContext
from aisle.cache.reader import CacheReader
from aisle.cache.stock_overlay import pending_by_product, products_touched_at
from aisle.cache.stored_row_values import Row
from aisle.cache.writer import CacheWriter
from aisle.host.database import transaction
from aisle.host.store_and_database_folders import StoreFolder
from aisle.named_tuple_json import to_text
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.operation_record import (
    CLOSE,
    CONFIRM,
    CREATE_LOGS,
    CREATE_MOVEMENT,
    LOSE_ANSWER,
    REFUSE,
    RETRY,
    SEND,
    TRANSITIONS,
    UPDATE_ORDER,
    Intent,
    Operation,
)
from aisle.stored_messages import store_text
from tests.cache import service_rows
from tests.cache.service_rows import line, location, order, product, put_orders, stock
from tests.cache.test_order_board_queries import NOW
from tests.clock import Clock
from tests.run_length import tries
from tests.writes import ANNA, enqueue, intents, movement, update

ORDERS, PRODUCTS = ("4101", "4102", "4103"), ("P1", "P2", "P3")
PLACE = "PU-01"
STEPS = tries(60, 120)
ASKED = ("in_doubt", "needs_person", "done")
"""States of operations of which it matters what was found out about them."""


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The orders that were laid over, by their numbers."""
    found: list[str] = []

    def noted(header: Row, lines: list[Row], operations: Iterable[Operation], began: float | None) -> None:
        found.append(str(header["order_number"]))
        apply_to_order(header, lines, operations, began)

    monkeypatch.setattr(order_overlay, "apply_to_order", noted)
    return found


def fill(cache: CacheWriter, random: Random, began: float) -> None:
    """The store as it is read at a moment: other quantities, other headers."""
    cache.write_locations([location(PLACE, 1), location("B-1", 2)])
    cache.write_products([product(number) for number in PRODUCTS])
    cache.write_stock([stock(number, 9, places={PLACE: random.randint(0, 9)}) for number in PRODUCTS])
    for number in ORDERS:
        held = {"location_code": PLACE, "quantity": 1, "customer_order_number": number, "customer_order_line_number": 1}
        lines = [line(each, f"P{each}", 5, random.randint(0, 5), store_locations=[held]) for each in (1, 2, 3)]
        header = {"is_rejected": True} if random.random() < 0.2 else {}
        cache.write_orders([{**order(number, *lines), **header}], True, began)


def write(outbox: OperationQueue, random: Random) -> None:
    """Somebody picks, brings away, or rejects."""
    number = random.choice(ORDERS)
    picks = update(number, {random.randint(1, 3): random.randint(0, 5)})
    if random.random() < 0.7:
        for each in picks.body["orders"]["order_lines"]:
            each["base_picked_quantity"] = Decimal(random.randint(0, 5))
    brought = movement(number, random.choice(PRODUCTS), random.randint(1, 5))
    if random.random() < 0.7:
        brought.body[0]["from_location"] = {"location_code": "B-1"}
        brought.body[0]["to_location"]["customer_order_line_number"] = random.randint(1, 3)
    wrote = random.choice((picks, update(number, {}, is_rejected=random.random() < 0.5), brought))
    outbox.enqueue(intents(wrote), ANNA)


def move_on(outbox: OperationQueue, random: Random) -> None:
    """Something becomes of one operation, as the table allows it; or it is read back."""
    waiting = [each for each in outbox.live_operations() if each.state not in ("needs_person",)]
    if not waiting:
        return
    op = random.choice(waiting)
    said = [event for event in (SEND, CONFIRM, REFUSE, RETRY, LOSE_ANSWER, CLOSE) if (op.state, event) in TRANSITIONS]
    if op.state == "done":
        outbox._db.execute("UPDATE operation SET live = 0 WHERE n = ?", (op.n,))
    elif said:
        event = random.choice(said)
        why, evidence = store_text("no") if event == REFUSE else None, to_text({"looked_at": op.attempts})
        outbox._apply_event(op.op_id, event, why=why, evidence=evidence if random.random() < 0.5 else None)


def seen(reads: CacheReader) -> list[Any]:
    """What pages show."""
    return [
        reads.query("orders", {}),
        *(reads.query("order", {"order_number": number}) for number in ORDERS),
        reads.query("location", {"location_code": PLACE}),
        *(reads.query("product", {"product_number": number}) for number in PRODUCTS),
    ]


def is_open(reads: CacheReader) -> Callable[[str], bool]:
    """Whether an order still has to be picked, by its own page, which lays all over it that there is."""

    def found(number: str) -> bool:
        ((row,), _) = reads.query("order", {"order_number": number})
        return bool(row["is_active"] and not row["is_rejected"] and not row["is_picked"])

    return found


def pending(overlay: Overlay) -> tuple[Any, ...]:
    """What lies over the cache, as far as it matters there."""
    by_key = (
        {key: told(found) for key, found in of.items()} for of in (overlay.by_order(), pending_by_product(overlay))
    )
    return (
        *by_key,
        sorted(products_touched_at(overlay, PLACE)),
        *(told(overlay.operations(kind)) for kind in (CREATE_LOGS, CREATE_MOVEMENT, UPDATE_ORDER)),
    )


def told(operations: Iterable[Operation]) -> list[tuple[Any, ...]]:
    """What an overlay knows of operations."""
    return [
        (each.n, each.state, each.body, each.confirmed_at, each.first_sent_at, each.state in ASKED and each.evidence)
        for each in operations
    ]


@pytest.mark.parametrize("seed", range(tries(2, 4)))
def test_whoever_stays_sees_what_a_newcomer_sees(
    home: StoreFolder, outbox_db: apsw.Connection, cache: CacheWriter, reads: CacheReader, clock: Clock, seed: int
) -> None:
    """Others write to both files between any two of his looks; he does not look at all of it each time."""
    random, outbox = Random(seed), OperationQueue(outbox_db, clock=clock)
    fill(cache, random, clock())
    overlay = Overlay(outbox_db)
    for step in range(STEPS):
        clock.pass_(1)
        with transaction(outbox_db):
            random.choice((write, move_on, move_on))(outbox, random)
        if step % 7 == 0:
            fill(cache, random, clock())
        fresh = Overlay(outbox_db)
        if random.random() < 0.5:
            overlay.refresh()
        if random.random() < 0.5:
            assert pending(overlay) == pending(fresh)
        if random.random() < 0.5:
            continue
        with closing(CacheReader(home, outbox_db)) as newcomer:
            assert seen(reads) == seen(newcomer)
        assert {row["order_number"] for row in reads.query("orders", {})[0]} == set(filter(is_open(reads), ORDERS))


@pytest.mark.parametrize("seed", range(tries(2, 4)))
def test_a_place_and_what_is_summed_of_it_say_the_same(
    outbox_db: apsw.Connection, cache: CacheWriter, reads: CacheReader, clock: Clock, seed: int
) -> None:
    """Whatever is on its way: the list of places, a part of a place and one product there are of the same goods, which
    are those of the products' own pages."""
    random, outbox = Random(seed), OperationQueue(outbox_db, clock=clock)
    for _ in range(STEPS // 4):
        clock.pass_(1)
        fill(cache, random, clock())
        for _ in range(random.randint(0, 3)):
            with transaction(outbox_db):
                random.choice((write, write, move_on))(outbox, random)
        listed = {row["location_code"]: row for row in reads.query("locations", {})[0]}
        pages = [reads.query("product", {"product_number": number})[0][0] for number in PRODUCTS]
        for code in (PLACE, "B-1"):
            ((whole,), _) = reads.query("location", {"location_code": code})
            there = {row["product_number"]: row for row in whole["products"]}
            books = {
                page["product_number"]: (each["quantity"], each["pools"])
                for page in pages
                for each in page["locations"]
                if each["location_code"] == code and (each["quantity"] or each["pools"])
            }
            assert {number: (row["quantity"], row["pools"]) for number, row in there.items()} == books
            sums = len(there), sum((row["quantity"] for row in there.values()), Decimal(0))
            assert (whole["total"], whole["quantity"]) == sums
            assert (listed[code]["products"], listed[code]["quantity"]) == sums
            for size in range(len(PRODUCTS) + 1):
                ((part,), _) = reads.query("location", {"location_code": code, "size": size})
                assert part == {**whole, "products": whole["products"][:size], "tags": part["tags"]}
            for number in PRODUCTS:
                ((one,), _) = reads.query("location", {"location_code": code, "product_number": number})
                assert one["products"] == ([there[number]] if number in there else [])
                assert (one["total"], one["quantity"]) == sums


def test_what_did_not_change_is_not_read_again(outbox_db: apsw.Connection, clock: Clock) -> None:
    """Others write all the time: the operations of an order that nobody touches stay the very same objects."""
    outbox, overlay = OperationQueue(outbox_db, clock=clock), Overlay(outbox_db)
    enqueue(outbox, update("4101", {1: 1}))
    before = overlay.by_order()["4101"]
    enqueue(outbox, update("4102", {1: 1}))
    assert set(overlay.by_order()) == {"4101", "4102"}
    assert overlay.by_order()["4101"] is before


def test_however_much_waits_an_order_is_reckoned_once(
    cache: CacheWriter,
    reads: CacheReader,
    outbox_db: apsw.Connection,
    monkeypatch: pytest.MonkeyPatch,
    made: list[str],
) -> None:
    """Whoever stands at a place asks for few of the orders that something is on its way for, home for all of them."""
    monkeypatch.setattr(order_overlay, "MAX_KEPT_STATES", 0)
    cache.write_locations([location(PLACE, 1)])
    cache.write_stock([stock("P1", places={PLACE: 9})])
    numbers = [f"41{number:02}" for number in range(12)]
    for number in numbers:
        held = [{"location_code": PLACE, "quantity": 1, "customer_order_number": number}] if number < "4102" else []
        lines = [line(1, "P1", 5, 1, store_locations=held), line(2, "P2", 5)]
        put_orders(cache, order(number, *lines))
    outbox = OperationQueue(outbox_db)
    for picked in (1, 2, 3):
        for number in numbers:
            made.clear()
            enqueue(outbox, update(number, {2: picked}, merge=False))
            assert len(reads.query("location", {"location_code": PLACE})[0][0]["products"][0]["held"]) == 2
            reads.query("orders", {})
            assert made == [number]


def test_read_interrupted_between_two_orders_leaves_no_stale_state(
    cache: CacheWriter, reads: CacheReader, outbox_db: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_orders(cache, *(order(number, line(1, "P1", 3)) for number in ("4101", "4102")))
    outbox = OperationQueue(outbox_db)
    states = order_overlay.PendingOrders()

    def is_open(*numbers: str) -> list[bool]:
        return [each.now.state == 0 for each in states.some(reads.context, numbers).values()]

    compute = order_overlay.overlaid_order

    def broken(context: QueryContext, number: str) -> order_overlay.OverlaidOrder | None:
        if number == "4102":
            raise apsw.BusyError("somebody writes")
        return compute(context, number)

    enqueue(outbox, update("4101", {1: 1}, merge=False))
    assert is_open("4101") == [True]
    filled = update("4101", {1: 3}, merge=False, is_picked=True)
    enqueue(outbox, filled, update("4102", {1: 1}, merge=False))
    with monkeypatch.context() as patch:
        patch.setattr(order_overlay, "overlaid_order", broken)
        with pytest.raises(apsw.BusyError):
            is_open("4101", "4102")
    assert is_open("4101", "4102") == [False, True]


def test_what_is_over_is_remembered_no_more(
    cache: CacheWriter, reads: CacheReader, outbox_db: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(order_overlay, "MAX_KEPT_STATES", 5)
    outbox = OperationQueue(outbox_db)
    put_orders(cache, *(order(str(number), line(1, "P1")) for number in range(30)))
    for number in range(30):
        enqueue(outbox, update(str(number), {1: 1}, merge=False))
        assert not order_overlay.closed_orders(reads.context, [str(number)])
        (op,) = outbox.live_operations()
        outbox.begin_sending(op.op_id, b"")
        outbox.confirm(op.op_id)
        outbox.mark_read_back(op.op_id)
    assert len(reads.context.keep(order_overlay.PendingOrders)._orders) <= 5 + 1


@pytest.mark.parametrize("sent", [True, False])
@pytest.mark.parametrize("looks", [True, False])
def test_what_is_told_again_in_other_words_is_seen_by_those_who_stay(
    home: StoreFolder, outbox_db: apsw.Connection, clock: Clock, looks: bool, sent: bool
) -> None:
    """Also by one who did not look while nobody knew whether it had arrived, or looks when it is on its way already."""
    outbox, after = OperationQueue(outbox_db, clock=clock), update("4101", {1: 3}).body
    (op_id,) = enqueue(outbox, update("4101", {1: 3, 2: 1}))
    with closing(open_outbox(home.folder)) as connection:
        overlay = Overlay(connection)
        overlay.refresh()
        outbox.begin_sending(op_id, b"{}")
        outbox.mark_in_doubt(op_id, store_text("no answer"))
        if looks:
            overlay.refresh()
        outbox.requeue(op_id, store_text("not all"), {}, (), after)
        if sent:
            outbox.begin_sending(op_id, b"{}", replace_sent_body=True)
        assert [each.body for each in overlay.by_order()["4101"]] == [after]


def test_an_order_is_in_the_list_as_soon_as_what_fills_it_may_be_there(
    outbox_db: apsw.Connection, cache: CacheWriter, reads: CacheReader, clock: Clock
) -> None:
    """Three of five were read; two that are not sent yet come on top of them, two that are may be among them."""
    cache.write_orders([order("4101", line(1, "P1", 5, 3))], True, clock())
    outbox, picks = OperationQueue(outbox_db, clock=clock), update("4101", {1: 2})
    picks.body["orders"]["order_lines"][0]["base_picked_quantity"] = Decimal(0)
    (op_id,) = enqueue(outbox, picks)
    assert reads.query("orders", {})[1] == 0
    outbox.begin_sending(op_id, b"{}")
    assert reads.query("orders", {})[1] == 1


@pytest.mark.parametrize(("line_number", "listed"), [(1, 0), (2, 1)])
def test_what_is_brought_for_a_line_fills_that_line(
    outbox_db: apsw.Connection, cache: CacheWriter, reads: CacheReader, clock: Clock, line_number: int, listed: int
) -> None:
    """The other line is picked: only what is brought for the first one closes the order."""
    cache.write_orders([order("4101", line(1, "P1", 5, 3), line(2, "P2", 5, 5))], True, clock())
    brought = movement("4101", f"P{line_number}", 5)
    brought.body[0]["from_location"] = {"location_code": "B-1"}
    brought.body[0]["to_location"]["customer_order_line_number"] = line_number
    enqueue(OperationQueue(outbox_db, clock=clock), brought)
    assert reads.query("orders", {})[1] == listed


def test_what_was_rolled_back_leaves_its_number_to_another(outbox_db: apsw.Connection, clock: Clock) -> None:
    outbox, overlay = OperationQueue(outbox_db, clock=clock), Overlay(outbox_db)
    outbox_db.execute("BEGIN IMMEDIATE")
    outbox.enqueue(intents(update("4101", {1: 1})), ANNA)
    assert set(overlay.by_order()) == {"4101"}
    outbox_db.execute("ROLLBACK")
    enqueue(outbox, update("4102", {1: 1}))
    assert set(overlay.by_order()) == {"4102"}


# The list of open orders with pending operations: each order is overlaid once, and again when it changes


ORDERS_OPEN = [str(number) for number in range(100, 110)]


def _pick(outbox_db: apsw.Connection, number: str, lines: dict[int, int]) -> None:
    with transaction(outbox_db):
        OperationQueue(outbox_db).enqueue([Intent(update(number, lines), occurred_at=NOW)], ANNA)


def test_a_colleagues_scan_lays_one_order_over(
    reads: CacheReader, cache: CacheWriter, outbox_db: apsw.Connection, made: list[str]
) -> None:
    lines = [service_rows.line(1), service_rows.line(2)]
    put_orders(cache, *(service_rows.order(each, *lines) for each in ORDERS_OPEN))

    def picked() -> tuple[list[str], dict[str, int]]:
        """Which were laid over for the list, and how much of each is picked."""
        made.clear()
        rows, _ = reads.query("orders", {"size": len(ORDERS_OPEN)})
        return sorted(set(made)), {row["order_number"]: int(row["picked_quantity"]) for row in rows}

    for number in ORDERS_OPEN:
        _pick(outbox_db, number, {1: 1})
    said = dict.fromkeys(ORDERS_OPEN, 1)
    assert picked() == (ORDERS_OPEN, said)
    assert picked() == ([], said)
    _pick(outbox_db, "107", {2: 2})
    assert picked() == (["107"], said | {"107": 3})
    assert picked() == ([], said | {"107": 3})


def test_what_was_read_of_an_order_in_the_meantime_is_laid_over_anew(
    reads: CacheReader, cache: CacheWriter, outbox_db: apsw.Connection, made: list[str]
) -> None:
    put_orders(cache, service_rows.order("100", service_rows.line(1), service_rows.line(2)))
    _pick(outbox_db, "100", {1: 1})
    assert reads.query("orders", {})[0][0]["picked_quantity"] == 1
    made.clear()
    put_orders(cache, service_rows.order("100", service_rows.line(1), service_rows.line(2, picked_quantity=2)))
    assert reads.query("orders", {})[0][0]["picked_quantity"] == 3
    assert made == ["100"]


def test_who_changes_a_row_changes_it_for_nobody_else(
    reads: CacheReader, cache: CacheWriter, outbox_db: apsw.Connection
) -> None:
    put_orders(cache, service_rows.order("100", service_rows.line(1)))
    _pick(outbox_db, "100", {1: 0})
    row = reads.query("orders", {})[0][0]
    row["customer_name"] = "Somebody else"
    assert reads.query("orders", {})[0][0].get("customer_name") != "Somebody else"


def test_authorization_cache_is_bounded(
    reads: CacheReader, cache: CacheWriter, outbox_db: apsw.Connection, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(order_overlay, "MAX_KEPT_ORDERS", 3)
    put_orders(cache, *(service_rows.order(each, service_rows.line(1)) for each in ORDERS_OPEN))
    for number in ORDERS_OPEN:
        _pick(outbox_db, number, {1: 0})
    for _ in range(2):
        rows, total = reads.query("orders", {"size": len(ORDERS_OPEN)})
        assert total == len(ORDERS_OPEN)
        assert [row["order_number"] for row in rows] == ORDERS_OPEN
    assert len(reads.context.keep(order_overlay.OverlaidOrders)) <= 3
