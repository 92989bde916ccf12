"""The small parts, each by itself."""

import asyncio
import json
from decimal import Decimal

import pytest

from aisle.courier.alarm import Alarm
from aisle.courier.backoff import backoff
from aisle.courier.features import Features, parse_features, read_features
from aisle.courier.pull.freshness import Freshness
from aisle.courier.pull.readback import ReadBacks
from aisle.courier.pull.schedule import Pace, Timetable
from aisle.courier.send.marks import OFF
from aisle.courier.send.parcel import body_of
from aisle.courier.topics import Topic, touched
from aisle.local.outbox.operation import LOGS
from tests.courier.host import Host
from tests.courier.kit import Time, movement, update


def test_features_are_what_is_announced_and_nothing_else() -> None:
    found = parse_features('idempotency="7d", Pick-Place,if-match,  changes , future=12')
    assert found == Features(idempotency=True, keys_kept_s=7 * 86400, pick_place=True, changes=True)
    assert parse_features(found.text) == found
    every = Features(**dict.fromkeys(set(Features._fields) - {"keys_kept_s"}, True))
    assert parse_features(every.text) == every
    assert parse_features("") == Features()
    assert read_features({}) is None
    assert read_features({"aisle-features": "people"}) == Features(people=True)


@pytest.mark.parametrize("text", ["idempotency", "idempotency=forever", "idempotency=", "idempotency=٣d"])
def test_a_retention_that_makes_no_sense_is_thirty_days(text: str) -> None:
    assert parse_features(text).keys_kept_s == 30 * 86400


def test_backing_off_doubles_up_to_a_minute_and_spreads() -> None:
    assert [backoff(tries, 1.0) for tries in range(1, 9)] == [1, 2, 4, 8, 16, 32, 60, 60]
    assert [backoff(tries, 0.0) for tries in (0, 1, 10**6)] == [0.5, 0.5, 30]


def test_why_a_line_is_short_goes_only_to_a_service_that_keeps_it(host: Host) -> None:
    why = {"rejection_reason_code": "21", "rejection_reason_code_description": "Not on the shelf"}
    write = update("4101", {1: 2}, is_rejected=True, **why)
    [line] = write.body["orders"]["order_lines"]
    body = {"orders": {**write.body["orders"], "order_lines": [{**line, **why}]}}
    host.desk.write(write._replace(body=body))
    [op] = host.desk.all()
    keeps = Features(idempotency=True, pick_place=True, pick_base=True, line_reasons=True)
    assert json.loads(body_of(op, keeps), parse_int=Decimal) == body
    assert json.loads(body_of(op, keeps._replace(line_reasons=False)), parse_int=Decimal) == {
        "orders": {**body["orders"], "order_lines": [line]}
    }


def test_what_nobody_gave_a_reference_is_found_together_in_the_log(host: Host) -> None:
    host.desk.write(movement("P1", 1, "A-1", "B-1"), movement("P1", 1, "A-1", "B-1", "mine"))
    own = Features(idempotency=True)
    bare, named = host.desk.all()
    assert [json.loads(body_of(op, own))[0]["reference"] for op in (bare, named)] == [bare.op_id, "mine"]
    assert json.loads(body_of(bare, own, OFF), parse_int=Decimal) == bare.body
    receipt = bare._replace(
        operation=LOGS, query={"is_from_receipt": True}, body={"storeproductlog": [{"quantity": 1}]}
    )
    assert json.loads(body_of(receipt, own)) == receipt.body


def test_an_older_read_brings_nothing_that_a_younger_one_has_brought() -> None:
    fresh = Freshness()
    with fresh.reading() as slow:
        with fresh.reading() as quick:
            assert fresh.newest(quick, "stock", ["A", "B"]) == {"A", "B"}
        assert fresh.contended
        assert fresh.newest(slow, "stock", ["A", "C"]) == {"C"}
        assert fresh.newest(slow, "product", ["A"]) == {"A"}
        with fresh.reading() as later:
            assert fresh.newest(later, "stock", ["A"]) == {"A"}
    assert not fresh.contended, "nothing is remembered that no read could contradict"


async def test_a_ring_is_kept_until_somebody_waits() -> None:
    time = Time()
    alarm = Alarm(time.sleep)
    alarm.ring()
    assert await alarm.wait(60)
    waiting = asyncio.ensure_future(alarm.wait(60))
    await time.until(waiting.done)
    assert waiting.result() is False
    waiting = asyncio.ensure_future(alarm.wait(None))
    await asyncio.sleep(0)
    alarm.ring()
    assert await waiting


def test_a_timetable_hurries_and_then_keeps_its_pace() -> None:
    table = Timetable(Pace(changes=2, people=60))
    table.follow(True, 100.0)
    assert table.take(100.0) == ("changes", "people")
    assert table.take(101.0) == ()
    table.hurry("changes")
    table.hurry("headers")
    assert table.take(101.0) == ("changes",)
    assert table.next_at() == 103.0
    table.follow(False, 103.0)
    assert table.take(103.0) == ("headers", "walked", "stock")


def test_who_hurries_a_look_hears_whether_it_comes_sooner_for_it() -> None:
    table = Timetable(Pace(changes=2))
    table.follow(True, 100.0)
    assert table.take(100.0)[0] == "changes"
    assert table.hurry("changes", 101.0)
    assert not table.hurry("changes", 101.0), "whoever sleeps until then needs no waking"
    assert not table.hurry("changes", 101.5)
    assert not table.hurry("headers"), "it is not looked at at all"
    assert table.next_at() == 101.0


def test_what_an_operation_touched_is_read_from_lanes_and_body(host: Host) -> None:
    host.desk.write(update("O1", {1: 1, 2: 1}), movement("P7", 1, "A-1", "B-1"))
    picked, moved = host.desk.all()
    assert touched(picked) == (Topic("order", "O1"), Topic("product", "P1"), Topic("product", "P2"))
    assert touched(moved) == (Topic("product", "P7"),)


def test_an_operation_is_read_back_when_all_it_touched_was(host: Host) -> None:
    retired: list[str] = []
    reads = ReadBacks(retired.extend)
    (op_id,) = host.desk.write(update("O1", {1: 1}))
    order, product = Topic("order", "O1"), Topic("product", "P1")
    before = reads.begins(order)
    reads.confirmed(host.desk.all()[0])
    assert reads.unread() == [order, product]
    reads.ends(order, before)
    assert reads.begins(order), "that read began too early"
    reads.ends(order, reads.begins(order))
    reads.leave()
    assert retired == []
    reads.ends(product, reads.begins(product))
    reads.leave()
    assert retired == [op_id]
    assert not reads.begins(order)
