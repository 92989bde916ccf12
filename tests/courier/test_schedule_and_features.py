"""Small parts of the courier: features, schedule, request bodies, read topics."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from decimal import Decimal
from math import inf

import pytest

from aisle.client.paging import Row
from aisle.courier.courier import Courier
from aisle.courier.notify import Topic, topics_of_operation
from aisle.courier.pauses_and_wake_event import WakeEvent, backoff_s
from aisle.courier.pull.cache_update import ReadSequence
from aisle.courier.pull.read_timetable import PullIntervals, Timetable
from aisle.courier.pull.run_queued_reads import PendingReadBacks
from aisle.courier.push.outgoing_request import OFF, request_body
from aisle.courier.service_features_and_lists import Features, features_of_headers, parse_features
from aisle.outbox.operation_record import CREATE_LOGS
from tests.courier.document_host import LOG, PUT, Shop, loss
from tests.courier.fake_service import answer_lost, says
from tests.courier.host import Host
from tests.courier.simulated_time import Time
from tests.courier.writes import movement, update


def test_features_are_what_is_announced_and_nothing_else() -> None:
    found = parse_features('idempotency="7d", Pick-Place,if-match,  changes , future=12')
    assert found == Features(idempotency=True, key_lifetime_s=7 * 86400, pick_location=True, changes=True)
    assert parse_features(found.header_value) == found
    every = Features(**dict.fromkeys(set(Features._fields) - {"key_lifetime_s"}, True))
    assert parse_features(every.header_value) == every
    assert parse_features("") == Features()
    assert features_of_headers({}) is None
    assert features_of_headers({"aisle-features": "people"}) == Features(people=True)


@pytest.mark.parametrize("text", ["idempotency", "idempotency=forever", "idempotency=", "idempotency=٣d"])
def test_a_retention_that_makes_no_sense_is_thirty_days(text: str) -> None:
    assert parse_features(text).key_lifetime_s == 30 * 86400


def test_backing_off_doubles_up_to_a_minute_and_spreads() -> None:
    assert [backoff_s(tries, 1.0) for tries in range(1, 9)] == [1, 2, 4, 8, 16, 32, 60, 60]
    assert [backoff_s(tries, 0.0) for tries in (0, 1, 10**6)] == [0.5, 0.5, 30]


def test_why_a_line_is_short_goes_only_to_a_service_that_keeps_it(host: Host) -> None:
    why = {"rejection_reason_code": "21", "rejection_reason_code_description": "Not found"}
    write = update("4101", {1: 2}, is_rejected=True, **why)
    [line] = write.body["orders"]["order_lines"]
    body = {"orders": {**write.body["orders"], "order_lines": [{**line, **why}]}}
    host.desk.write(write._replace(body=body))
    [op] = host.desk.all()
    keeps = Features(idempotency=True, pick_location=True, pick_base=True, line_reasons=True)
    assert json.loads(request_body(op, keeps), parse_int=Decimal) == body
    assert json.loads(request_body(op, keeps._replace(line_reasons=False)), parse_int=Decimal) == {
        "orders": {**body["orders"], "order_lines": [line]}
    }


@pytest.mark.parametrize(("field", "feature"), [("taken_datetime", "taken_time"), ("undone_datetime", "undone_time")])
def test_times_of_a_movement_go_only_to_a_service_that_reads_them(host: Host, field: str, feature: str) -> None:
    write = movement("P1", 1, "A-1", "B-1")
    body = [{**item, field: "2026-11-20T10:00:00Z"} for item in write.body]
    host.desk.write(write._replace(body=body))
    [op] = host.desk.all()
    known = Features(idempotency=True, taken_time=True, undone_time=True)
    [sent], [plain] = (json.loads(request_body(op, each)) for each in (known, known._replace(**{feature: False})))
    assert sent == {**plain, field: "2026-11-20T10:00:00Z"}
    assert field not in plain


def test_operation_without_reference_gets_a_common_log_source(host: Host) -> None:
    host.desk.write(movement("P1", 1, "A-1", "B-1"), movement("P1", 1, "A-1", "B-1", "mine"))
    own = Features(idempotency=True)
    bare, named = host.desk.all()
    assert [json.loads(request_body(op, own))[0]["reference"] for op in (bare, named)] == [bare.op_id, "mine"]
    assert json.loads(request_body(bare, own, OFF), parse_int=Decimal) == bare.body
    receipt = bare._replace(
        operation=CREATE_LOGS, query={"is_from_receipt": True}, body={"storeproductlog": [{"quantity": 1}]}
    )
    assert json.loads(request_body(receipt, own)) == receipt.body


def test_an_older_read_brings_nothing_that_a_younger_one_has_brought() -> None:
    fresh = ReadSequence()
    with fresh.start_read() as slow:
        with fresh.start_read() as quick:
            assert fresh.current_keys(quick, "stock", ["A", "B"]) == {"A", "B"}
        assert fresh.has_parallel_reads
        assert fresh.current_keys(slow, "stock", ["A", "C"]) == {"C"}
        assert fresh.current_keys(slow, "product", ["A"]) == {"A"}
        with fresh.start_read() as later:
            assert fresh.current_keys(later, "stock", ["A"]) == {"A"}
    assert not fresh.has_parallel_reads, "nothing is remembered that no read could contradict"


async def test_a_ring_is_kept_until_somebody_waits() -> None:
    time = Time()
    alarm = WakeEvent(time.sleep)
    alarm.set()
    assert await alarm.wait(60)
    waiting = asyncio.ensure_future(alarm.wait(60))
    await time.until(waiting.done)
    assert waiting.result() is False
    waiting = asyncio.ensure_future(alarm.wait(None))
    await asyncio.sleep(0)
    alarm.set()
    assert await waiting


def test_a_timetable_hurries_and_then_keeps_its_pace() -> None:
    table = Timetable(PullIntervals(changes=2, people=60))
    table.select_tasks(True, 100.0)
    assert table.pop_due(100.0) == ("changes", "people")
    assert table.pop_due(101.0) == ()
    table.schedule_earlier("changes")
    table.schedule_earlier("headers")
    assert table.pop_due(101.0) == ("changes",)
    assert table.next_at() == 103.0
    table.select_tasks(False, 103.0)
    assert table.pop_due(103.0) == ("headers", "worked_on", "stock")


def test_hurry_tells_whether_task_runs_sooner() -> None:
    table = Timetable(PullIntervals(changes=2))
    table.select_tasks(True, 100.0)
    assert table.pop_due(100.0)[0] == "changes"
    assert table.schedule_earlier("changes", 101.0)
    assert not table.schedule_earlier("changes", 101.0), "whoever sleeps until then needs no waking"
    assert not table.schedule_earlier("changes", 101.5)
    assert not table.schedule_earlier("headers"), "it is not looked at at all"
    assert table.next_at() == 101.0


def test_topics_of_operation_come_from_lanes_and_body(host: Host) -> None:
    host.desk.write(update("O1", {1: 1, 2: 1}), movement("P7", 1, "A-1", "B-1"))
    picked, moved = host.desk.all()
    assert topics_of_operation(picked) == (Topic("order", "O1"), Topic("product", "P1"), Topic("product", "P2"))
    assert topics_of_operation(moved) == (Topic("product", "P7"),)


def test_an_operation_is_read_back_when_all_it_touched_was(host: Host) -> None:
    retired: list[str] = []
    reads = PendingReadBacks(retired.extend)
    (op_id,) = host.desk.write(update("O1", {1: 1}))
    order, product = Topic("order", "O1"), Topic("product", "P1")
    before = reads.begin_read(order)
    reads.add(host.desk.all()[0])
    assert reads.unread_topics() == [order, product]
    reads.end_read(order, before)
    assert reads.begin_read(order), "that read began too early"
    reads.end_read(order, reads.begin_read(order))
    reads.retire_finished()
    assert retired == []
    reads.end_read(product, reads.begin_read(product))
    reads.retire_finished()
    assert retired == [op_id]
    assert not reads.begin_read(order)


# Retry-After of a service: waiting operations go on exactly then


_EARLY_S = 1e-6


class Edge(Time):
    """A clock by which sleepers wake a little early, and which reaches `end` after so many further looks."""

    end, looks = inf, 1

    def clock(self) -> float:
        """Seconds since 1970."""
        said = self.now
        if said < self.end <= said + 2 * _EARLY_S:
            self.looks -= 1
            self.now = said if self.looks else self.end
        return said

    async def sleep(self, seconds: float) -> None:
        """Returns a little before time has come that far, if that is not now."""
        await super().sleep(seconds - _EARLY_S if seconds > 1.0 else seconds)


@pytest.fixture
def shop(shop: Shop) -> Shop:
    shop.time = shop.fake.time = Edge()
    return shop


@asynccontextmanager
async def alone(shop: Shop, loop: Callable[[], Awaitable[None]]) -> AsyncIterator[None]:
    """One part of the courier at work, and nobody who would ring at it while time passes."""
    works = [asyncio.ensure_future(loop()), asyncio.ensure_future(shop.time.sleep(60))]
    try:
        yield
    finally:
        for work in works:
            work.cancel()
        await asyncio.gather(*works, return_exceptions=True)


def hold(shop: Shop, courier: Courier, looks: int) -> None:
    """The service asks for patience, which ends after so many looks at the clock."""
    assert isinstance(shop.time, Edge)
    shop.time.end, shop.time.looks = shop.time.now + 5.0, looks
    courier.link.pause(5.0)


@pytest.mark.parametrize("looks", range(1, 6))
async def test_operation_in_doubt_is_looked_up_when_retry_after_ends(shop: Shop, looks: int) -> None:
    async with shop.working():
        await shop.prove()
    async with shop.courier(intervals=shop.pace) as courier:
        await courier.sync_once()
        shop.fake.fail(LOG, answer_lost)
        (op_id,) = shop.desk.write(loss("P1"))
        await courier.push_loop.push_all()
        assert shop.desk.state(op_id) == "in_doubt"
        await courier.continuous_sync.check_service()
        hold(shop, courier, looks)
        async with alone(shop, courier.reconciler.run):
            await shop.until(op_id, "done", within_s=20)


@pytest.mark.parametrize("looks", range(1, 6))
async def test_waiting_operation_goes_when_retry_after_ends(shop: Shop, looks: int) -> None:
    async with shop.courier(intervals=shop.pace) as courier:
        await courier.sync_once()
        (op_id,) = shop.desk.write(update("O1", {1: 2}))
        hold(shop, courier, looks)
        async with alone(shop, courier.push_loop.run):
            await shop.until(op_id, "done", within_s=20)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("asked", ["31536000", "9" * 400, "Fri, 31 Dec 9999 23:59:59 GMT"])
@pytest.mark.parametrize("status", [429, 409])
async def test_no_service_is_waited_for_longer_than_a_minute(shop: Shop, status: int, asked: str) -> None:
    async with shop.working() as courier:
        shop.fake.fail(PUT, says(status, body={"success": False}, Retry_After=asked))
        (op_id,) = shop.desk.write(update("O1", {1: 2}))
        courier.wake()
        await shop.until(op_id, "done", within_s=90)
        assert shop.fake.calls[PUT] == 2


@pytest.mark.parametrize("status", [429, 409])
async def test_a_service_that_asks_for_no_pause_is_not_asked_all_the_time(shop: Shop, status: int) -> None:
    async with shop.working() as courier:
        shop.fake.fail(PUT, *[says(status, body={"success": False}, Retry_After="0")] * 100)
        shop.desk.write(update("O1", {1: 2}))
        courier.wake()
        began = shop.time.now
        await shop.time.until(lambda: shop.fake.calls[PUT] == 5)
        assert shop.time.now - began >= 4


async def test_between_many_slow_reads_changes_are_read(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    host.fake.add_locations(*(f"C-{n}" for n in range(100)))
    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        read, before, done = courier.single_reads.read_topic, host.fake.calls["changes"], list[int]()

        async def slow(topic: Topic) -> Sequence[Row]:
            await host.time.sleep(1.0)
            done.append(host.fake.calls["changes"] - before)
            return await read(topic)

        monkeypatch.setattr(courier.single_reads, "read_topic", slow)
        for n in range(100):
            host.fake.touch("location", f"C-{n}")
        await host.time.until(lambda: len(done) == 100)
        assert max(Counter(done).values()) <= 4 * 3, "four at once, for two seconds"
        host.fake.add_products(["P9"])
        await host.time.until(lambda: host.knows("P9"), 10)
    assert len(done) == 101, "each is read once"
