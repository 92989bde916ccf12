"""The courier as a whole: it pushes operations, answers requests and pulls changes over any link."""

from __future__ import annotations

import asyncio
from contextlib import closing
from typing import Any

import httpx
import pytest

from aisle.cache.reader import CacheReader
from aisle.client.responses_and_errors import NotSent
from aisle.courier.link_state import (
    LIVE,
    MAX_PER_MINUTE,
    OFFLINE,
    SYNCING,
    TOKEN_REFUSED,
    LinkLog,
    LinkStatus,
    Notice,
    OperatorNotices,
    reason_of,
)
from aisle.courier.pull.read_timetable import PullIntervals
from aisle.host.notify_sockets import CourierSocket, SessionSocket
from aisle.outbox.requests_and_token_holders import request_read
from aisle.stored_messages import NO_MESSAGE, store_text
from tests.courier.fake_service import Fake, Fault, answer_lost, lost_before, name_of, not_applied, says
from tests.courier.host import Host
from tests.courier.writes import movement, update

PUT = "update-customer-order"


async def test_a_pick_arrives_once_and_is_read_back(host: Host) -> None:
    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        (op_id,) = host.desk.write(update("O1", {1: 2}))
        assert host.line("O1")["picked_quantity"] == 2, "the overlay shows it at once"
        courier.wake()
        await host.time.until(lambda: host.desk.is_read_back(op_id))
        assert host.line("O1")["picked_quantity"] == 2, "and afterwards the cache"
    assert len(host.fake.applied) == 1


async def test_an_effect_leaves_only_for_a_read_that_began_after_it(host: Host, monkeypatch: Any) -> None:
    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        handle = host.fake._handle
        old_read, may_arrive = asyncio.Event(), asyncio.Event()

        async def slow_first(request: httpx.Request) -> httpx.Response:
            mine = name_of(request) == "list-customer-orders" and request.url.params.get("order_number") == "O1"
            if mine and not old_read.is_set():
                answer = host.fake.answer(request)
                old_read.set()
                await may_arrive.wait()
                return answer
            return await handle(request)

        monkeypatch.setattr(host.fake, "_handle", slow_first)
        request_read(host.desk.db, "order", "O1", host.time.now)
        courier.wake()
        await host.time.until(old_read.is_set)
        (op_id,) = host.desk.write(update("O1", {1: 3}))
        courier.wake()
        await host.time.until(lambda: host.desk.state(op_id) == "done")
        may_arrive.set()

        def always_picked() -> bool:
            assert host.line("O1")["picked_quantity"] == 3
            return host.desk.is_read_back(op_id)

        await host.time.until(always_picked)
        assert host.line("O1")["picked_quantity"] == 3


async def test_changes_by_others_come_with_the_change_feed(host: Host) -> None:
    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        host.fake.stock["P1"]["most_likely_quantity"] = 3
        host.fake.touch("product", "P1")
        host.fake.add_order("O9")
        host.fake.orders["O2"]["is_active"] = False
        host.fake.touch("order", "O2")
        host.fake.add_locations("C-1")
        await host.time.until(lambda: host.quantity("P1") == 3 and "O9" in host.numbers(), 3)
        await host.time.until(lambda: "O2" not in host.numbers(), 3)
        assert host.line("O9")["quantity"] == 3


async def test_a_flood_of_changes_is_read_as_lists(host: Host) -> None:
    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        host.fake.requests.clear()
        host.fake.add_products(f"N{n}" for n in range(700))
        await host.time.until(lambda: host.knows("N699") and courier.full_sync.progress.is_idle)
        assert host.quantity("N0") == 10
    assert len(host.fake.requests) < 40
    assert not courier.operator_notices.recent


async def test_changes_seen_but_not_read_are_looked_at_again_after_a_crash(host: Host) -> None:
    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
    host.fake.stock["P1"]["most_likely_quantity"] = 3
    host.fake.touch("product", "P1")
    async with host.running(host.courier()) as courier:
        host.fake.fail("list-store-products-stock", *[lost_before] * 3)
        await host.time.until(lambda: host.fake.calls["list-store-products-stock"] > 4)
    assert host.quantity("P1") == 10
    host.fake.faults.clear()
    async with host.running(host.courier()):
        await host.time.until(lambda: host.quantity("P1") == 3, 5)


async def test_a_wish_is_fulfilled_at_once(host: Host) -> None:
    async with host.running(host.courier(intervals=PullIntervals(changes=1e6))) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        host.fake.stock["P2"]["most_likely_quantity"] = 1
        request_read(host.desk.db, "product", "P2", host.time.now)
        courier.wake()
        await host.time.until(lambda: host.quantity("P2") == 1, 1)


async def test_check_request_confirms_cache_at_once(host: Host) -> None:
    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        await host.time.pass_(0.5)
        request_read(host.desk.db, "orders", "", host.time.now)
        asked = host.time.now
        courier.wake()
        await host.time.until(lambda: host.time.now - host.reads.link(host.time.now).age_s >= asked, 1)


async def test_offline_then_back_everything_arrives_once(host: Host) -> None:
    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        host.fake.down = lost_before
        await host.time.until(lambda: host.state() == "offline")
        ids: list[str] = []
        for n in range(1, 6):
            ids += host.desk.write(update(f"O{n}", {1: 1}))
            ids += host.desk.write(movement("P1", 1, "A-1", "B-1", reference=str(n)))
            courier.wake()
            await host.time.pass_(30)
        assert host.fake.applied == []
        assert host.reads.link(host.time.now).age_s >= 140
        host.fake.down = None
        await host.time.until(lambda: all(host.desk.is_read_back(op_id) for op_id in ids), 20)
        assert host.state() == "live"
    assert sorted(name for name, _ in host.fake.applied) == ["create-movement"] * 5 + [PUT] * 5
    moved = [item["reference"] for name, item in host.fake.applied if name == "create-movement"]
    assert moved == ["1", "2", "3", "4", "5"]


async def test_a_knock_of_a_session_brings_an_idle_link_back_sooner(host: Host) -> None:
    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        host.fake.down = lost_before
        await host.time.until(lambda: host.state() == "offline")
        await host.time.pass_(120)
        host.fake.down = None
        host.desk.write(update("O1", {1: 1}))
        courier.wake()
        await host.time.until(lambda: host.fake.applied, 1)


STORMS: dict[str, tuple[Fault, ...]] = {
    "answers lost": (answer_lost,) * 4,
    "nothing arrives": (not_applied,) * 4,
    "a gateway that answers anything": (says(502), says(503, apply=True), says(200), says(429, Retry_After="3")),
}


@pytest.mark.parametrize("storm", STORMS.values(), ids=STORMS)
async def test_a_storm_doubles_and_loses_nothing(host: Host, storm: tuple[Fault, ...]) -> None:
    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        host.fake.fail(PUT, *storm)
        host.fake.fail("create-movement", *storm)
        ids: list[str] = []
        for n in range(1, 4):
            ids += host.desk.write(update(f"O{n}", {1: 3}), movement("P7", n, "A-1", "B-1"))
            courier.wake()
        await host.time.until(lambda: all(host.desk.is_read_back(op_id) for op_id in ids), 600)
    assert [item["quantity"] for name, item in host.fake.applied if name == "create-movement"] == [1, 2, 3]
    assert sorted(body["order_number"] for name, body in host.fake.applied if name == PUT) == ["O1", "O2", "O3"]


@pytest.mark.parametrize("fault", [answer_lost, not_applied, None], ids=["done", "not done", "not sent"])
async def test_courier_after_kill_before_answer_knows_what_was_sent(host: Host, fault: Fault | None) -> None:
    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        host.fake.gate = asyncio.Event()
        (op_id,) = host.desk.write(update("O1", {1: 2}))
        courier.wake()
        await host.time.until(lambda: host.fake.waiting)
        if fault is answer_lost:
            host.fake.answer(host.fake.requests[-1])
    assert host.desk.state(op_id) == "sending"
    host.fake.gate = None
    async with host.running(host.courier()):
        await host.time.until(lambda: host.desk.is_read_back(op_id))
    assert len(host.fake.applied) == 1


async def test_next_courier_reads_back_confirmed_operations(host: Host) -> None:
    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        (op_id,) = host.desk.write(update("O1", {1: 2}))
        host.fake.fail("list-customer-orders", *[lost_before] * 50)
        courier.wake()
        await host.time.until(lambda: host.desk.state(op_id) == "done")
    assert not host.desk.is_read_back(op_id)
    assert host.line("O1")["picked_quantity"] == 2, "the overlay stays"
    host.fake.faults.clear()
    async with host.running(host.courier()):
        await host.time.until(lambda: host.desk.is_read_back(op_id))
    assert host.line("O1")["picked_quantity"] == 2


async def test_a_refusal_shows_what_the_service_has(host: Host) -> None:
    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        host.fake.orders["O1"]["lines"][0]["picked_quantity"] = 1
        (op_id,) = host.desk.write(update("O1", {1: 9}))
        courier.wake()
        await host.time.until(lambda: host.desk.state(op_id) == "rejected" and host.line("O1")["picked_quantity"] == 1)
        assert any("more than ordered" in notice.to_line(str) for notice in courier.operator_notices.recent)


async def test_a_poisoned_order_stops_nobody_else(host: Host, monkeypatch: Any) -> None:
    real = host.fake.answer

    def poisoned(request: httpx.Request) -> httpx.Response:
        if request.url.params.get("order_number") == "O1":
            return httpx.Response(500, content=b"{}", headers=host.fake.headers)
        return real(request)

    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        monkeypatch.setattr(host.fake, "answer", poisoned)
        poison, other = host.desk.write(update("O1", {1: 1}), update("O2", {1: 1}))
        courier.wake()
        await host.time.until(lambda: host.desk.is_read_back(other), 60)
        await host.time.until(lambda: host.state() == "live")
        await host.time.until(
            lambda: any("order O1 cannot be read" in notice.text for notice in courier.operator_notices.recent)
        )
        assert host.desk.state(poison) == "done"
        assert host.line("O1")["picked_quantity"] == 1, "what the cache does not have stays over it"


async def test_a_wrong_token_is_said_and_nothing_is_lost(host: Host) -> None:
    host.fake.down = says(401, body={"message": "who are you?"})
    (op_id,) = host.desk.write(update("O1", {1: 2}))
    async with host.running(host.courier()):
        await host.time.until(lambda: host.state() == "refused")
        await host.time.pass_(100)
        host.fake.down = None
        await host.time.until(lambda: host.desk.is_read_back(op_id), 30)


async def test_the_sessions_are_rung_for_what_changed(host: Host) -> None:
    with closing(SessionSocket(host.home)) as bell, closing(CourierSocket(host.home)) as socket:
        async with host.running(host.courier(socket=socket)) as courier:
            rung: set[str] = set()

            def heard(*topics: str) -> bool:
                rung.update(bell.drain())
                return all(any(each.partition("/")[0] == topic for each in rung) for topic in topics)

            await host.time.until(lambda: courier.full_sync.progress.completed)
            await host.time.until(lambda: heard("order", "product", "location", "person", "store", "link"), 3)
            bell.subscribe(("order/O9",))
            assert socket.drain() == set()
            rung.clear()
            host.fake.add_order("O8")
            host.fake.add_order("O9")
            await host.time.until(lambda: heard("order"), 3)
            await host.time.pass_(5)
            heard()
            assert rung == {"order/O9"}, "the page shows no other one"
            bell.wake_courier()
            assert socket.drain() == {"work"}


async def test_a_cache_that_is_lost_is_read_anew(host: Host) -> None:
    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
    host.reads.close()
    for path in host.home.folder.glob("cache.db*"):
        path.unlink()
    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
    assert len(CacheReader(host.home, host.desk.db).query("orders", {})[0]) == 5


# A service that implements the document alone


@pytest.fixture
def plain(host: Host) -> Host:
    """The same store at a service that announces nothing."""
    host.fake.features = ""
    return host


async def test_a_new_order_is_seen_within_a_minute(plain: Host) -> None:
    async with plain.running(plain.courier()) as courier:
        await plain.time.until(lambda: courier.full_sync.progress.completed)
        await plain.time.pass_(5)
        plain.fake.add_order("O9")
        plain.fake.orders["O2"]["is_active"] = False
        await plain.time.until(lambda: "O9" in plain.numbers() and "O2" not in plain.numbers(), 70)
        await plain.time.until(lambda: plain.line("O9").get("quantity") == 3, 5)


async def test_an_order_that_is_walked_is_read_every_quarter_of_a_minute(plain: Host) -> None:
    async with plain.running(plain.courier()) as courier:
        await plain.time.until(lambda: courier.full_sync.progress.completed)
        request_read(plain.desk.db, "order", "O1", plain.time.now)
        courier.wake()
        await plain.time.pass_(1)
        plain.fake.orders["O1"]["lines"][0]["picked_quantity"] = 2
        await plain.time.until(lambda: plain.line("O1")["picked_quantity"] == 2, 16)


async def test_the_order_is_read_before_it_is_written(plain: Host) -> None:
    async with plain.running(plain.courier()) as courier:
        await plain.time.until(lambda: courier.full_sync.progress.completed)
        plain.fake.requests.clear()
        (op_id,) = plain.desk.write(update("O1", {1: 2}))
        courier.wake()
        await plain.time.until(lambda: plain.desk.is_read_back(op_id))
    calls = [name_of(request) for request in plain.fake.requests]
    assert calls.index("list-customer-orders") < calls.index(PUT)
    assert "list-customer-orders" in calls[calls.index(PUT) :]


async def test_moved_stock_is_asked_for_by_its_moment(plain: Host) -> None:
    async with plain.running(plain.courier()) as courier:
        await plain.time.until(lambda: courier.full_sync.progress.completed)
        plain.fake.stock["P1"]["most_likely_quantity"] = 3
        await plain.time.until(lambda: plain.quantity("P1") == 3, 130)
    asked = [request.url.params.get("last_stock_modified_datetime") for request in plain.fake.requests]
    assert any(asked)


async def test_a_list_that_fails_each_time_keeps_no_other_from_being_read(plain: Host) -> None:
    """Neither is the service called away for it: all else comes as before, and once in a while all of it."""

    def failing(fake: Fake, asked: httpx.Request) -> httpx.Response:
        failed = says(500)(fake, asked) if b"last_stock_modified" in asked.url.query else None
        return failed or fake.answer(asked)

    async with plain.running(plain.courier()) as courier:
        await plain.time.until(lambda: courier.full_sync.progress.completed)
        plain.fake.down = failing
        states = set()
        for _ in range(120):
            await plain.time.pass_(1.0)
            states.add(plain.state())
        assert states == {"live", "partial"}
        assert plain.reads.link(plain.time.now).missing_lists == ("stock_changes",)
        plain.fake.add_locations("C-9")
        await plain.time.until(lambda: plain.reads.query("location", {"location_code": "C-9"})[1], 1000)


async def test_a_lost_answer_waits_for_a_person_and_the_screen_counts_it(plain: Host) -> None:
    async with plain.running(plain.courier()) as courier:
        await plain.time.until(lambda: courier.full_sync.progress.completed)
        plain.fake.fail("create-movement", answer_lost)
        (op_id,) = plain.desk.write(movement("P1", 1, "A-1", "B-1"))
        courier.wake()
        await plain.time.until(lambda: plain.desk.state(op_id) == "in_doubt")
        await plain.time.pass_(300)
        assert plain.fake.calls["create-movement"] == 1
        assert any("Nobody knows" in notice.text for notice in courier.operator_notices.recent)


# One log line when link, token or certificate is lost, and one when it is back


WHO = store_text("who are you?")
NOWHERE = reason_of(NotSent("The service cannot be reached: ConnectError (all connection attempts failed)."))
BAD = reason_of(
    NotSent("It cannot be reached: ConnectError ([SSL: CERTIFICATE_VERIFY_FAILED] certificate has expired).")
)


def test_notices_of_a_minute_and_their_texts_are_bounded() -> None:
    now, lines = [100.0], list[Notice]()
    notices = OperatorNotices(lambda: now[0], lines.append)
    for n in range(5000):
        notices.add(f"order {n} cannot be read: {chr(0x1F4A9) * 5000}")
    assert sum(len(line.text.encode()) for line in lines) < 300_000
    assert lines[-1].text == "Further notices of this minute are left out."
    assert len(lines) == MAX_PER_MINUTE + 1
    for at in (160.0, 50.0):
        now[0] = at
        notices.add(f"link lost at {at}")
        assert lines[-1].text == f"link lost at {at}"


def test_each_change_is_one_line() -> None:
    now = [100.0]
    notices = OperatorNotices(lambda: now[0])
    log = LinkLog(notices, lambda: now[0])
    steps = [
        (OFFLINE, NO_MESSAGE),
        (LIVE, NO_MESSAGE),
        (OFFLINE, NOWHERE),
        (OFFLINE, NOWHERE),
        (LIVE, NO_MESSAGE),
        (SYNCING, NO_MESSAGE),
        (TOKEN_REFUSED, WHO),
        (LIVE, NO_MESSAGE),
        (OFFLINE, BAD),
        (OFFLINE, NOWHERE),
        (TOKEN_REFUSED, WHO),
        (LIVE, NO_MESSAGE),
    ]
    for state, why in steps:
        now[0] += 10
        log.record(LinkStatus(state, why, 0.0, now[0]), why)
    assert [notice.text for notice in notices.recent] == [
        "link lost:",
        "link regained after 20 s",
        "token lost:",
        "token regained after 10 s",
        "certificate lost:",
        "link lost:",
        "link regained after 10 s",
        "token lost:",
        "token regained after 10 s",
    ]
    assert notices.recent[2].to_line(str) == "token lost: who are you?"


async def test_a_courier_says_what_it_has_lost(host: Host) -> None:
    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        host.fake.down = lost_before
        await host.time.until(lambda: host.state() == "offline")
        await host.time.pass_(300)
        host.fake.down = None
        await host.time.until(lambda: host.state() == "live")
        host.fake.down = says(401, body={"message": "who are you?"})
        await host.time.until(lambda: host.state() == "refused")
        host.fake.down = None
        await host.time.until(lambda: host.state() == "live")
        said = [notice.text.split(" after")[0] for notice in courier.operator_notices.recent]
    assert [text for text in said if "link" in text or "token" in text] == [
        "link lost:",
        "link regained",
        "token lost:",
        "token regained",
    ]
