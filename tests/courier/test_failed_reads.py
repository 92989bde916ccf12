"""Failures beside the link: lost files and notifications, full disks, unusable rows."""

import asyncio
import itertools
from typing import Any

import httpx
import pytest

from aisle.courier.pauses_and_wake_event import MAX_RETRY_S
from aisle.courier.pull.read_timetable import PullIntervals
from aisle.errors import StorageError
from aisle.host.database import fetch
from aisle.outbox.replay_after_restore import ReplayCounts
from aisle.outbox.requests_and_token_holders import FULL_SYNC, request_read
from tests.courier.fake_service import Fake, Fault, broken_answer, name_of, says
from tests.courier.host import Host
from tests.courier.writes import update


async def test_a_courier_that_lost_the_cache_still_knows_what_went_under_a_key(host: Host) -> None:
    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        host.fake.gate = asyncio.Event()
        (op_id,) = host.desk.write(update("O1", {1: 2}))
        courier.wake()
        await host.time.until(lambda: host.fake.waiting)
        host.fake.answer(host.fake.requests[-1])
    host.fake.gate = None
    host.reads.close()
    for path in host.home.folder.glob("cache.db*"):
        path.unlink()
    async with host.running(host.courier()):
        await host.time.until(lambda: host.desk.state(op_id) != "queued")
        await host.time.until(lambda: host.desk.is_read_back(op_id), 30)
    assert len(host.fake.applied) == 1


async def test_operation_is_sent_without_notification(host: Host) -> None:
    async with host.running(host.courier(intervals=PullIntervals(changes=1e6))) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        await host.time.pass_(60)
        (op_id,) = host.desk.write(update("O1", {1: 2}))
        await host.time.until(lambda: host.desk.state(op_id) == "done", 6)


async def test_an_effect_whose_read_back_makes_no_sense_stays_until_it_does(host: Host) -> None:
    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        host.fake.orders["O1"]["lines"][1]["quantity"] = "many"
        (op_id,) = host.desk.write(update("O1", {1: 2}))
        courier.wake()
        await host.time.until(
            lambda: any("order O1 cannot be read" in notice.text for notice in courier.operator_notices.recent)
        )
        await host.time.pass_(60)
        assert host.line("O1")["picked_quantity"] == 2
        assert not host.desk.is_read_back(op_id)
        host.fake.orders["O1"]["lines"][1]["quantity"] = 3
        host.fake.touch("order", "O1")
        await host.time.until(lambda: host.desk.is_read_back(op_id), 5)
        assert host.line("O1")["picked_quantity"] == 2


@pytest.mark.parametrize("fault", [broken_answer, says(500)])
async def test_failed_read_back_stays_and_is_retried_alone(host: Host, fault: Fault) -> None:
    async with host.running(host.courier(intervals=PullIntervals(changes=1e6))) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        host.fake.down = lambda fake, asked: (fault if b"=O1" in asked.url.query else Fake.answer)(fake, asked)
        (op_id,) = host.desk.write(update("O1", {1: 2}))
        courier.wake()
        await host.time.until(
            lambda: any("order O1 cannot be read" in notice.text for notice in courier.operator_notices.recent)
        )
        host.fake.down = None
        assert not host.desk.is_read_back(op_id)
        assert host.line("O1")["picked_quantity"] == 2
        await host.time.until(lambda: host.desk.is_read_back(op_id), 100)
        assert host.line("O1")["picked_quantity"] == 2


DEEP = b"[" * 100_000 + b"]" * 100_000
ODD = [
    ("surrounding", DEEP),
    ("audit", b'{"audit":' + DEEP + b"}"),
    ("audit", b'{"audit":[{"a":"\\ud800"}]}'),
    ("details", DEEP),
    ("details", b'{"storeName":"\\ud800"}'),
    ("details", b'{"storeName":"' + b"x" * 20_000 + b'"}'),
]


@pytest.mark.parametrize(("name", "body"), ODD)
async def test_unforeseen_answer_stops_no_other_read(host: Host, name: str, body: bytes) -> None:
    host.fake.features += ", audit"
    ends = {"surrounding": "/surrounding", "audit": "/audit", "details": "/stores/0002"}

    def answer(fake: Fake, asked: httpx.Request) -> httpx.Response | None:
        path = asked.url.path.rstrip("/")
        odd = httpx.Response(200, content=body, headers=fake.headers)
        return odd if ends[name] in path and path.endswith(ends[name].rsplit("/", 1)[1]) else Fake.answer(fake, asked)

    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        host.fake.down = answer
        topic = "store" if name == "details" else name
        key = {"surrounding": "P1", "audit": "O1", "details": "0002"}[name]
        request_read(host.desk.db, topic, key, host.time.now)
        courier.wake()
        text = f"{topic} {key} cannot be read"
        await host.time.until(lambda: any(text in notice.text for notice in courier.operator_notices.recent), 60)
        (op_id,) = host.desk.write(update("O1", {1: 2}))
        courier.wake()
        await host.time.until(lambda: host.desk.is_read_back(op_id), 2)
        assert not any(".py" in notice.text for notice in courier.operator_notices.recent)


async def test_restore_is_detected_again_after_failed_handling(host: Host, monkeypatch: Any) -> None:
    """It says so once to each cursor: to a courier whose disk was full just then, it would never say it again."""
    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        replay, tries = courier.outbox.replay_since, itertools.count(1)

        def full_once(since: float, kept_since: float, how: str) -> ReplayCounts:
            if next(tries) == 1:
                raise StorageError("the disk is full")
            return replay(since, kept_since, how)

        def earlier(fake: Fake, asked: httpx.Request) -> httpx.Response:
            told = {"cursor": 1, "changes": [], "more": False, "restored": asked.url.params.get("since") != "1"}
            return httpx.Response(200, json=told, headers=fake.headers)

        monkeypatch.setattr(courier.outbox, "replay_since", full_once)
        host.fake.down = lambda fake, asked: (earlier if name_of(asked) == "changes" else Fake.answer)(fake, asked)
        await host.time.until(
            lambda: any("earlier copy" in notice.text for notice in courier.operator_notices.recent), 30
        )
        await host.time.pass_(30)
        [said] = [notice.text for notice in courier.operator_notices.recent if "earlier copy" in notice.text]
        assert said == "The service was put back from an earlier copy.", "no operation is sent again"
    assert next(tries) == 3, "and then no more"


@pytest.mark.parametrize("status", [403, 404, 500])
async def test_failed_query_for_lost_keys_is_reported_and_repeated(host: Host, status: int) -> None:
    host.fake.features += ", known-keys"
    refused = says(status, body={"success": False, "message": "not for you"})
    lost: list[str] = []

    def answer(fake: Fake, asked: httpx.Request) -> httpx.Response | None:
        if name_of(asked) == "keys":
            return refused(fake, asked) if lost else httpx.Response(200, json={"unknown": []}, headers=fake.headers)
        if name_of(asked) == "changes" and lost:
            told = {"cursor": 1, "changes": [], "more": False, "unknown": lost}
            return httpx.Response(200, json=told, headers=fake.headers)
        return Fake.answer(fake, asked)

    host.fake.down = answer
    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        (op_id,) = host.desk.write(update("O1", {1: 2}))
        courier.wake()
        await host.time.until(lambda: host.desk.is_read_back(op_id), 10)
        lost.append(op_id)
        await host.time.until(lambda: host.state() == "partial", 30)
        before = host.fake.calls["keys"]
        await host.time.pass_(60)
        assert host.state() == "partial"
        assert host.fake.calls["keys"] > before
        lost.clear()
        await host.time.until(lambda: host.state() == "live", 60)


@pytest.mark.parametrize("status", [403, 404, 500])
async def test_confirmed_writes_are_read_back_without_change_feed(host: Host, status: int) -> None:
    """At a first start, too, when it has never said where it stands; and it is asked at the courier's pace."""
    refused = says(status, body={"success": False, "message": "not for you"})
    host.fake.down = lambda fake, asked: (refused if name_of(asked) == "changes" else Fake.answer)(fake, asked)
    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        (op_id,) = host.desk.write(update("O1", {1: 2}))
        courier.wake()
        await host.time.until(lambda: host.desk.is_read_back(op_id), 10)
        assert host.state() == "partial", "the screens say what is missing"
        before = host.fake.calls["changes"]
        await host.time.pass_(60)
        assert host.fake.calls["changes"] - before <= 40
        host.fake.down = None
        await host.time.until(lambda: host.state() == "live", 60)


async def test_next_courier_reads_failed_items(host: Host) -> None:
    """The cursor stays before it: the service says once of what changed, and a courier may end at any time."""
    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        host.fake.add_order("O77")
        host.fake.down = lambda fake, asked: (says(500) if b"=O77" in asked.url.query else Fake.answer)(fake, asked)
        await host.time.until(
            lambda: any("order O77 cannot be read" in notice.text for notice in courier.operator_notices.recent)
        )
        await host.time.pass_(10)
        assert "O77" not in host.numbers()
    host.fake.down = None
    async with host.running(host.courier()):
        await host.time.until(lambda: "O77" in host.numbers(), 10)


async def test_failed_read_is_retried_with_growing_pauses(host: Host) -> None:
    async with host.running(host.courier(intervals=PullIntervals(changes=50.0))) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        host.fake.add_order("O77")
        asked: list[float] = []

        def noting(fake: Fake, request: httpx.Request) -> httpx.Response | None:
            if b"=O77" not in request.url.query:
                return fake.answer(request)
            asked.append(host.time.now)
            return says(500)(fake, request)

        host.fake.down = noting
        await host.time.until(lambda: len(asked) > 17, 2 * 3600)
        first, *_ = pauses = [later - at for at, later in itertools.pairwise(asked) if later - at > 30]
        assert first <= 61
        assert pauses == sorted(pauses)
        assert pauses[-1] >= MAX_RETRY_S - 1
        host.fake.down = None
        await host.time.until(lambda: "O77" in host.numbers(), MAX_RETRY_S + 10)


@pytest.mark.parametrize("announced", [True, False])
async def test_a_list_that_made_no_sense_for_a_moment_is_asked_for_again_soon(host: Host, announced: bool) -> None:
    body = {"list": [{"order_number": 7, "x": None}, 5, "a"], "next_page": "x"}
    rubbish = says(200, body=body, aisle_features=host.fake.features) if announced else says(200, body=body)
    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        host.fake.down = rubbish
        courier.full_sync.request_missing()
        await host.time.pass_(8)
        assert "headers" in courier.full_sync.progress.missing
        host.fake.down = None
        request_read(host.desk.db, "order", "O1", host.time.now)
        courier.wake()
        await host.time.until(lambda: host.state() == "live", 62)  # a minute, and a look
        assert courier.full_sync.progress.missing == ()


async def test_a_list_that_cannot_be_read_is_asked_for_less_and_less_often(host: Host) -> None:
    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        asked: list[float] = []

        def noting(fake: Fake, request: httpx.Request) -> httpx.Response | None:
            if name_of(request) != "list-locations":
                return fake.answer(request)
            asked.append(host.time.now)
            return says(404)(fake, request)

        host.fake.down = noting
        courier.full_sync.request_stages(["locations"])
        await host.time.until(lambda: len(asked) > 7, 2 * 3600)
        first, *_ = pauses = [later - at for at, later in itertools.pairwise(asked)]
        assert first <= 64
        assert pauses == sorted(pauses)
        assert MAX_RETRY_S - 1 <= pauses[-1] <= MAX_RETRY_S + 3
        host.fake.down = None
        await host.time.until(lambda: host.state() == "live", MAX_RETRY_S + 3)
        await host.time.pass_(3)
        host.fake.fail("list-locations", says(404))
        courier.full_sync.request_stages(["locations"])
        await host.time.until(lambda: host.state() == "partial", 10)
        await host.time.until(lambda: host.state() == "live", 64)


async def test_a_read_back_that_cannot_be_written_down_is_tried_again(host: Host, monkeypatch: Any) -> None:
    async with host.running(host.courier(intervals=PullIntervals(changes=1e6))) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        (op_id,) = host.desk.write(update("O1", {1: 2}))
        put = courier.cache.write_orders
        failed: list[bool] = []

        def full_once(*arguments: Any) -> Any:
            if not failed:
                failed.append(True)
                raise StorageError("the disk is full")
            return put(*arguments)

        monkeypatch.setattr(courier.cache, "write_orders", full_once)
        courier.wake()
        await host.time.until(lambda: host.desk.is_read_back(op_id), 60)
        assert failed


async def test_a_place_whose_code_is_a_part_of_many_others_is_found(host: Host) -> None:
    host.fake.add_locations(*(f"B-9-{n}" for n in range(250)), "B-9")

    def order() -> Any:
        return fetch(courier.cache._db, "SELECT location_order FROM location WHERE location_code = 'B-9'")[0][0]

    async with host.running(host.courier(intervals=PullIntervals(changes=1e6))) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        assert order() != 7
        host.fake.locations["B-9"]["location_order"] = 7
        request_read(host.desk.db, "location", "B-9", host.time.now)
        courier.wake()
        await host.time.until(lambda: order() == 7, 2)


async def test_a_wish_for_everything_reads_everything_anew(host: Host) -> None:
    async with host.running(host.courier(intervals=PullIntervals(changes=1e6))) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        await host.time.pass_(1)
        del host.fake.stock["P7"], host.fake.products["P7"]
        request_read(host.desk.db, "orders", FULL_SYNC, host.time.now)
        began = host.time.now
        courier.wake()
        await host.time.until(lambda: courier.full_sync.progress.completed >= began, 5)
        assert not host.knows("P7")
        assert host.state() == "live"


async def test_a_wish_for_everything_in_the_middle_of_a_sync_begins_it_again(host: Host, monkeypatch: Any) -> None:
    real, asked = host.fake.answer, []
    async with host.running(host.courier()) as courier:

        def asking(request: httpx.Request) -> httpx.Response:
            if name_of(request) == "list-locations" and request.url.params["page_size"] != "1":
                asked.append(True)
                if len(asked) == 1:
                    courier.full_sync.request_full()
            return real(request)

        monkeypatch.setattr(host.fake, "answer", asking)
        await host.time.until(lambda: courier.full_sync.progress.completed, 4)
        assert len(asked) == 2
        assert not courier.operator_notices.recent


async def test_a_store_with_a_part_missing_says_which_and_is_not_called_live(host: Host) -> None:
    host.fake.fail("list-products", *[says(404, body={"message": "not for you"})] * 2)
    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        await host.time.pass_(60)
        assert courier.full_sync.progress.missing == ("products",)
        assert host.state() == "partial"
        assert host.reads.link(host.time.now).missing_lists == ("products",)
        assert any("without products: " in n.text and "not for you" in n.text for n in courier.operator_notices.recent)
    async with host.running(host.courier()):
        await host.time.pass_(60)
        assert host.state() == "partial", "the next courier knows it too"
        await host.time.until(lambda: host.state() == "live", MAX_RETRY_S)


async def test_a_strangers_answer_to_a_knock_is_no_link(host: Host) -> None:
    async with host.running(host.courier(intervals=PullIntervals(changes=1e6))) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        host.fake.down = says(404)
        (op_id,) = host.desk.write(update("O1", {1: 2}))
        courier.wake()
        await host.time.until(lambda: host.state() == "offline", 5)
        assert host.desk.state(op_id) == "queued"
        host.fake.down = None
        await host.time.until(lambda: host.desk.is_read_back(op_id), 60)
    assert len(host.fake.applied) == 1


async def test_a_token_that_ends_in_the_middle_of_the_work_costs_nothing(host: Host) -> None:
    """Work goes on here, the screens say why nothing is sent, and a new token is enough."""
    async with host.running(host.courier(intervals=PullIntervals(changes=1e6))) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        host.fake.down = says(401, body={"message": "the token has ended"})
        ids = host.desk.write(update("O1", {1: 2}), update("O2", {1: 1}))
        courier.wake()
        await host.time.until(lambda: host.state() == "refused", 5)
        assert host.line("O1")["picked_quantity"] == 2
        ids += host.desk.write(update("O3", {1: 1}))
        await host.time.pass_(1800)
        assert {host.desk.state(op_id) for op_id in ids} == {"queued"}
        assert host.state() == "refused"
        host.fake.down = None
        await host.time.until(lambda: all(host.desk.is_read_back(op_id) for op_id in ids), 60)
        assert host.state() == "live"
    assert len(host.fake.applied) == 3
