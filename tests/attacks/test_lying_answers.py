"""A service that answers with nonsense: honest work is neither stopped nor shown wrongly for good."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from aisle.cache.log_entries_and_undo import numbers_of_entries
from aisle.courier.pull.read_timetable import PullIntervals
from aisle.courier.service_features_and_lists import Features, parse_features
from aisle.stored_messages import MAX_TEXT, read_message, store_message, store_text
from tests.courier.document_host import PUT, Shop
from tests.courier.fake_service import OWN, Fake, Fault, answer_lost, says
from tests.courier.host import Host
from tests.courier.test_push_loop import Rig
from tests.courier.writes import movement, update

MOVE = "create-movement"
DEEP = "[" * 940 + "]" * 940
HALF = '"\\ud800"'


@pytest.fixture
async def rig(aisle_home: Path) -> AsyncIterator[Rig]:
    rig = Rig(aisle_home)
    yield rig
    await rig.close()


@pytest.fixture
def host(aisle_home: Path) -> Iterator[Host]:
    host = Host(aisle_home)
    host.fake.add_products(["P1"])
    host.fake.add_order("O1")
    yield host
    host.close()


@pytest.fixture
def shop(aisle_home: Path) -> Iterator[Shop]:
    shop = Shop(aisle_home)
    yield shop
    shop.close()


def says_text(text: str, status: int = 200) -> Fault:
    """The write is carried out, and this is the answer."""

    def fault(fake: Fake, request: httpx.Request) -> httpx.Response:
        fake.answer(request)
        return httpx.Response(status, content=text.encode(), headers=fake.headers)

    return fault


@pytest.mark.parametrize("name", ["left", "superseded"])
async def test_lines_that_nobody_sent_become_no_operations(rig: Rig, name: str) -> None:
    rig.fake.features = OWN + ", pick-base"
    lines = [
        {"line_number": n, "product_number": "P1", "picked_quantity": 1, "left": 1} for n in (*range(1, 900), 1, 1)
    ]
    rig.fake.fail(PUT, says_text(json.dumps({"success": True, name: lines})))
    rig.desk.write(update("O1", {1: 2}))
    await rig.deliver()
    assert rig.desk.states() == ["done", "rejected"]


@pytest.mark.parametrize("name", ["left", "superseded", "carried"])
async def test_lines_in_the_answer_to_a_movement_are_none(rig: Rig, name: str) -> None:
    rig.fake.features = OWN + ", pick-base"
    line = {"line_number": 1, "product_number": "P1", "picked_quantity": 1, "left": 1}
    rig.fake.fail(MOVE, says_text(json.dumps({"success": True, name: [line]})))
    rig.desk.write(movement("P1", 1, "A-1", "B-1"))
    await rig.deliver()
    assert (rig.desk.states(), rig.told) == (["done"], [("confirmed", rig.told[0][1])])


@pytest.mark.parametrize(
    "data", [f"[{HALF}]", DEEP, '["1e9"]', f'["{"9" * 21}"]', "[-1]", "[true]", '["١"]', '{"1":2}']
)
async def test_number_of_an_entry_that_is_none_is_not_stored(rig: Rig, data: str) -> None:
    body = f'{{"success":true,"data":{data}}}'
    assert not any(numbers_of_entries(body))
    rig.fake.fail(PUT, says_text(body))
    (op_id,) = rig.desk.write(update("O1", {1: 2}))
    await rig.deliver()
    assert rig.desk.outbox.get(op_id).answer in ("{}", '{"data":[""]}')


async def test_one_short_lifetime_of_keys_leaves_no_operation_to_a_person(rig: Rig) -> None:
    rig.fake.fail(PUT, answer_lost)
    rig.desk.write(update("O1", {1: 2}), movement("P1", 1, "A-1", "B-1"))
    await rig.reach()
    own, rig.fake.features = rig.fake.features, OWN.replace("30d", "1s")
    for _ in range(3):
        await rig.delivery.push_all()
        await rig.reach()
        await rig.time.pass_(5)
    rig.fake.features = own
    await rig.reach()
    await rig.deliver()
    assert rig.desk.states() == ["done", "done"]
    assert {name for name, _ in rig.told} == {"confirmed"}


@pytest.mark.parametrize("text", ["1s", "0d", "47h"])
def test_keys_that_end_within_two_days_are_none(text: str) -> None:
    assert parse_features(f"idempotency={text}, changes") == Features(changes=True)


async def test_key_that_was_called_too_old_is_relied_on_again(rig: Rig) -> None:
    rig.fake.fail(PUT, answer_lost)
    rig.desk.write(update("O1", {1: 2}))
    await rig.reach()
    await rig.delivery.push_all()
    await rig.time.pass_(86400)
    own, rig.fake.features = rig.fake.features, OWN.replace("30d", "2d")
    await rig.reach()
    await rig.delivery.push_all()
    assert rig.desk.states() == ["needs_person"]
    rig.fake.features = own
    await rig.reach()
    await rig.deliver()
    assert rig.desk.states() == ["done"]


async def test_pick_is_not_sent_without_its_key_while_keys_come_and_go(rig: Rig) -> None:
    own = rig.fake.features
    await rig.reach()
    rig.fake.features = "changes"
    await rig.reach()
    rig.desk.write(update("O1", {1: 2}))
    await rig.delivery.push_all()
    assert (rig.desk.states(), rig.fake.calls[PUT]) == (["queued"], 0)
    rig.fake.features = own
    await rig.reach()
    await rig.deliver()
    assert rig.desk.states() == ["done"]
    assert len(rig.fake.keys) == 1


@pytest.mark.parametrize("status", [403, 404, 409])
async def test_pick_whose_read_is_refused_stays_on_the_screens_until_it_is_read(host: Host, status: int) -> None:
    refused = says(status, body={"success": False, "message": "not this one"})
    async with host.running(host.courier(intervals=PullIntervals(changes=1e6))) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        host.fake.down = lambda fake, asked: (refused if b"=O1" in asked.url.query else Fake.answer)(fake, asked)
        (op_id,) = host.desk.write(update("O1", {1: 2}))
        courier.wake()
        await host.time.until(lambda: host.desk.state(op_id) == "done")
        await host.time.pass_(600)
        assert host.line("O1")["picked_quantity"] == 2
        host.fake.down = None
        await host.time.until(lambda: host.desk.is_read_back(op_id), 100)
        assert host.line("O1")["picked_quantity"] == 2


async def test_pick_whose_read_is_always_refused_leaves_the_overlay(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aisle.courier.pull.run_queued_reads._MAX_REFUSED_ROUNDS", 5)
    refused = says(404, body={"success": False, "message": "not this one"})
    async with host.running(host.courier(intervals=PullIntervals(changes=1e6))) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        host.fake.down = lambda fake, asked: (refused if b"=O1" in asked.url.query else Fake.answer)(fake, asked)
        (op_id,) = host.desk.write(update("O1", {1: 2}))
        courier.wake()
        await host.time.until(lambda: host.desk.is_read_back(op_id), 400)


@pytest.mark.parametrize("number", [2**62, 2**63, 10**30, 9 * 10**4000])
async def test_one_wrong_number_of_an_entry_hides_no_later_one(shop: Shop, number: int) -> None:
    async with shop.working() as courier:
        now = "2026-11-20T10:00:00Z"
        entry = {"id": 1, "product_number": "P1", "quantity": 1, "created_on": now, "last_modified_datetime": now}
        shop.fake.logs = [entry | {"id": number}]
        await courier.single_reads.log_reader.read()
        shop.fake.logs = [entry, entry | {"id": 2}]
        await courier.single_reads.log_reader.read()
        await courier.single_reads.log_reader.read()
        assert courier.cache.cursor("logs") == 2
        shop.fake.logs.append(entry | {"id": 3})
        before = len(shop.fake.requests)
        await courier.single_reads.log_reader.read()
        assert (courier.cache.cursor("logs"), len(shop.fake.requests) - before) == (3, 1)


FAULTS = {
    "half a character": says(409, body={"message": "no \ud800 stock"}, Aisle_Features=OWN),
    "exponent of 19 digits": says_text('{"success":true,"superseded":[{"line_number":1e9999999999999999999}]}'),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
async def test_answer_with_an_extreme_value_is_recorded_at_once(rig: Rig, fault: Fault) -> None:
    rig.fake.fail(PUT, fault)
    rig.desk.write(update("O1", {1: 2}))
    await rig.reach()
    await rig.delivery.push_all()
    assert rig.desk.states() in (["done"], ["rejected"])


async def test_error_that_nothing_foresaw_stops_one_operation_alone(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = rig.desk.write(update("O1", {1: 2}), update("O2", {1: 2}))
    confirm, failed = rig.desk.outbox.confirm, list[str]()

    def fail_once(op_id: str, *arguments: Any, **named: Any) -> None:
        if op_id == first and not failed:
            failed.append(op_id)
            raise TypeError("no such field")
        confirm(op_id, *arguments, **named)

    monkeypatch.setattr(rig.desk.outbox, "confirm", fail_once)
    await rig.reach()
    await rig.delivery.push_all()
    assert (rig.desk.state(first), rig.desk.state(second)) == ("queued", "done")
    await rig.deliver()
    assert rig.desk.state(first) == "done"
    assert rig.told == [("fault", first), ("confirmed", second), ("confirmed", first)]


def test_stored_message_has_no_endless_text_and_no_half_character() -> None:
    long = "\ud800" + "x" * 300_000
    for stored in (store_text(long), store_message("stored_reason.handed_over_by", order=long, who=long)):
        assert len(stored.encode()) < 2 * MAX_TEXT + 200
        assert "x?" not in str(read_message(stored))
