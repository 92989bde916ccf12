"""Immediate requests: begun once, answered or expired, never late, unknown after a crash."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from aisle.courier.courier import Courier
from aisle.courier.push.immediate_requests import CLEARANCE, SIGN_IN
from aisle.host.database import fetch, transaction
from aisle.host.notify_sockets import SECRET_PREFIX
from aisle.jobs.job import Request
from aisle.outbox import requests_and_token_holders
from aisle.outbox.operation_record import Author
from aisle.outbox.requests_and_token_holders import ANSWERED, EXPIRED, REQUESTED, STARTED, UNKNOWN
from tests.courier.fake_service import OWN, Fake, answer_lost, lost_before, says
from tests.courier.host import Host, quiet
from tests.courier.writes import STORE

WHO = Author(STORE, "U6", terminal="dock")
BODY = {"tag": "backroom", "categories": ["110"]}
WAIT_S = 30.0


class Clearing(Fake):
    """A service that clears; `pin` is that of U6, a supervisor."""

    def __init__(self, features: str = f"{OWN}, sign-in, assignments") -> None:
        super().__init__(features)
        self.role = "supervisor"
        self.locked = False
        self.cleared: list[tuple[str, Any, str]] = []
        self.assigned: list[dict[str, Any]] = []

    def _sign_in(self, request: httpx.Request) -> tuple[int, Any]:
        body = json.loads(request.content)
        if self.locked:
            return 429, {"success": False, "message": "Too many wrong PINs."}
        if (body["user"], body["pin"], body["store_number"]) != ("U6", "2468", STORE):
            return 403, {"success": False, "message": "Badge, name or PIN is wrong."}
        return 200, {"token": "freds", "role": self.role, "user": "U6", "name": "Fred Harper"}

    def _assignments(self, request: httpx.Request) -> tuple[int, Any]:
        return 200, {"assignments": self.assigned}

    def _create_customer_order_clearance(self, request: httpx.Request) -> tuple[int, Any]:
        said = request.headers["authorization"]
        self.cleared.append((str(request.url.params["location_code_tag"]), json.loads(request.content), said))
        names = {"product_number": "P1", "location_code": "A-1", "customer_order_number": "O1", "quantity": 2}
        self.assigned.append({"id": 1, **names, "customer_order_line_number": 1, "location_tag": "backroom"})
        return 200, {"success": True}


@pytest.fixture
def desk(aisle_home: Path) -> Any:
    host = Host(aisle_home, Clearing())
    yield host
    host.close()


def ask(host: Host, name: str = "a1", kind: str = "clearance", secret: str = "") -> None:
    with transaction(host.desk.db):
        requests_and_token_holders.insert_request(
            host.desk.db, name, Request(kind, BODY, WAIT_S, secret=secret), WHO, host.time.clock()
        )


async def prove(host: Host, courier: Courier, pin: str = "2468", name: str = "pin") -> Any:
    """U6 says his PIN; what comes of it."""
    ask(host, name, SIGN_IN, pin)
    courier.receive_messages({f"{SECRET_PREFIX}{name} {pin}"})
    await host.time.until(lambda: stands(host, name)[0] == ANSWERED, WAIT_S)
    return stands(host, name)[1]


def stands(host: Host, name: str = "a1") -> tuple[str, Any]:
    (row,), _ = requests_and_token_holders.read_answer(host.desk.db, name)
    return row["state"], row["answer"]


async def live(host: Host) -> None:
    await host.time.until(lambda: host.state() == "live", 60)


async def test_clearance_uses_user_token_and_reports_new_assignments(desk: Host) -> None:
    async with desk.running(desk.courier(intervals=quiet())) as courier:
        await live(desk)
        ask(desk, "pin", SIGN_IN, "2468")
        courier.wake()
        await desk.time.pass_(3)
        assert stands(desk, "pin") == (REQUESTED, {}), "not without the PIN"
        courier.receive_messages({f"{SECRET_PREFIX}pin 2468"})
        await desk.time.until(lambda: stands(desk, "pin")[0] == ANSWERED, WAIT_S)
        assert stands(desk, "pin")[1]["how"] == "done"
        ask(desk)
        courier.wake()
        await desk.time.until(lambda: stands(desk)[0] == ANSWERED, WAIT_S)
        assert stands(desk)[1] == {"how": "done", "fresh": 1}
        (row,), total = desk.reads.query("assignments", {})
        assert (total, row["product_number"], row["quantity"]) == (1, "P1", 2)
    fake = desk.fake
    assert isinstance(fake, Clearing)
    assert fake.cleared == [("backroom", {"category_codes": ["110"]}, "Bearer freds")]
    written = desk.home.outbox.read_bytes() + desk.home.outbox.with_name("outbox.db-wal").read_bytes()
    assert (b"2468" in written, b"freds" in written) == (False, False)


async def test_a_slow_clearance_keeps_no_pin_waiting(desk: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    async with desk.running(desk.courier(intervals=quiet())) as courier:
        await live(desk)
        await prove(desk, courier)
        client, released = courier.immediate_requests.client, asyncio.Event()
        request = client.request

        async def slow(name: str, **options: Any) -> Any:
            if name == CLEARANCE:
                await released.wait()
            return await request(name, **options)

        monkeypatch.setattr(client, "request", slow)
        ask(desk)
        ask(desk, "b1")
        courier.wake()
        await desk.time.until(lambda: stands(desk)[0] == STARTED, 5)
        assert (await prove(desk, courier, name="pin2"))["how"] == "done"
        assert (stands(desk)[0], stands(desk, "b1")[0]) == (STARTED, REQUESTED)
        released.set()
        await desk.time.until(lambda: stands(desk, "b1")[0] == ANSWERED, 5)
        assert stands(desk)[0] == ANSWERED


async def test_without_the_token_nothing_is_cleared_and_the_pin_is_asked_for(desk: Host) -> None:
    async with desk.running(desk.courier(intervals=quiet())) as courier:
        await live(desk)
        ask(desk)
        courier.wake()
        await desk.time.until(lambda: stands(desk)[0] == ANSWERED, WAIT_S)
        assert stands(desk)[1]["how"] == "pin"
        await prove(desk, courier)
        desk.fake.fail(CLEARANCE, says(401, body={"message": "The token has ended."}, Aisle_Features=OWN))
        ask(desk, "a2")
        courier.wake()
        await desk.time.until(lambda: stands(desk, "a2")[0] == ANSWERED, WAIT_S)
        assert stands(desk, "a2")[1]["how"] == "pin"
        assert desk.state() == "live", "it says nothing of the host's own token"
    fake = desk.fake
    assert isinstance(fake, Clearing)
    assert fake.cleared == []


async def test_late_request_expires_unsent(desk: Host) -> None:
    desk.fake.down = lost_before
    async with desk.running(desk.courier(intervals=quiet())) as courier:
        ask(desk, "a1", SIGN_IN, "2468")
        courier.receive_messages({f"{SECRET_PREFIX}a1 2468"})
        await desk.time.pass_(WAIT_S + 2)
        assert stands(desk)[0] == EXPIRED
        desk.fake.down = None
        await live(desk)
        courier.receive_messages({f"{SECRET_PREFIX}a1 2468"})
        await desk.time.pass_(60)
    assert desk.fake.calls["sign-in"] == 0
    assert stands(desk)[0] == EXPIRED


async def test_a_session_ends_it_too_and_then_no_courier_begins_it(desk: Host) -> None:
    ask(desk)
    begun = desk.time.now
    assert not requests_and_token_holders.expire_overdue(desk.desk.db, begun + WAIT_S - 1)
    assert requests_and_token_holders.expire_overdue(desk.desk.db, begun + WAIT_S)
    assert not requests_and_token_holders.start_request(desk.desk.db, "a1", begun), "though its clock were behind"
    ask(desk, "a2")
    assert requests_and_token_holders.expire_overdue(desk.desk.db, begun - 3600), (
        "the clock was set back: it would wait for an hour"
    )
    assert stands(desk, "a2")[0] == EXPIRED


async def test_only_one_begins_it(desk: Host) -> None:
    ask(desk)
    now = desk.time.now
    assert [requests_and_token_holders.start_request(desk.desk.db, "a1", now) for _ in range(2)] == [True, False]


@pytest.mark.parametrize(
    ("fault", "how"),
    [
        (answer_lost, (UNKNOWN, "unknown")),
        (says(502, apply=True), (UNKNOWN, "unknown")),
        (lost_before, (ANSWERED, "not_sent")),
        (says(403, body={"success": False, "message": "No."}, Aisle_Features=OWN), (ANSWERED, "refused")),
        (says(503, body={"message": "later"}), (UNKNOWN, "unknown")),
    ],
)
async def test_failed_request_is_reported_and_not_retried(desk: Host, fault: Any, how: tuple[str, str]) -> None:
    desk.fake.fail(CLEARANCE, fault)
    async with desk.running(desk.courier(intervals=quiet())) as courier:
        await live(desk)
        await prove(desk, courier)
        ask(desk)
        courier.wake()
        await desk.time.until(lambda: stands(desk)[0] not in (REQUESTED, STARTED), WAIT_S)
        await desk.time.pass_(120)
    state, answer = stands(desk)
    assert (state, answer["how"]) == how
    assert desk.fake.calls[CLEARANCE] == 1


async def test_a_wrong_pin_and_a_wrong_role_give_no_token(desk: Host) -> None:
    fake = desk.fake
    assert isinstance(fake, Clearing)
    async with desk.running(desk.courier(intervals=quiet())) as courier:
        await live(desk)
        assert await prove(desk, courier, "1111") == {"how": "pin", "why": "Badge, name or PIN is wrong."}
        fake.role = "staff"
        assert (await prove(desk, courier, name="p2"))["how"] == "role"
        fake.locked = True
        said = await prove(desk, courier, name="p3")
        assert said == {"how": "refused", "why": "Too many wrong PINs."}, "the PIN may be right"
        assert courier.token_store.usable_principals == ("store",)
    assert fetch(desk.desk.db, "SELECT * FROM user_token") == []


async def test_a_courier_that_dies_in_between_makes_it_unknown(desk: Host) -> None:
    async with desk.running(desk.courier(intervals=quiet())) as courier:
        await live(desk)
        await prove(desk, courier)
        ask(desk)
        courier.wake()
        await desk.time.until(lambda: stands(desk)[0] == ANSWERED, WAIT_S)
    ask(desk, "a2")
    assert requests_and_token_holders.start_request(desk.desk.db, "a2", desk.time.now), "its process ends here"
    async with desk.running(desk.courier(intervals=quiet())):
        await live(desk)
        await desk.time.until(lambda: stands(desk, "a2")[0] == UNKNOWN, 60)
        await desk.time.pass_(60)
    assert desk.fake.calls[CLEARANCE] == 1, "the first one alone"


async def test_new_assignments_are_reported_though_sync_read_them_first(desk: Host) -> None:
    def answer_late(fake: Fake, request: httpx.Request) -> httpx.Response:
        fake.hold = asyncio.Event()
        return fake.answer(request)

    async with desk.running(desk.courier(intervals=quiet())) as courier:
        await live(desk)
        await prove(desk, courier)
        desk.fake.fail(CLEARANCE, answer_late)
        ask(desk)
        courier.wake()
        await desk.time.until(lambda: desk.fake.hold is not None, WAIT_S)
        assert await courier.single_reads.assignment_reader.read() is not None
        assert desk.reads.query("assignments", {})[1] == 1
        assert desk.fake.hold is not None
        desk.fake.hold.set()
        await desk.time.until(lambda: stands(desk)[0] == ANSWERED, WAIT_S)
    assert stands(desk)[1] == {"how": "done", "fresh": 1}


async def test_a_courier_that_leaves_waits_for_the_end_of_it_and_begins_none(desk: Host) -> None:
    async with desk.running(desk.courier(intervals=quiet())) as courier:
        await live(desk)
        await prove(desk, courier)
        assert courier.is_idle
        desk.fake.hold = asyncio.Event()
        ask(desk)
        courier.wake()
        await desk.time.until(lambda: stands(desk)[0] == STARTED, WAIT_S)
        assert not courier.is_idle, "somebody waits for it"
        leaving = asyncio.ensure_future(courier.finish_requests(5))
        ask(desk, "a2")
        courier.wake()
        await desk.time.pass_(2)
        assert not leaving.done()
        desk.fake.hold.set()
        await desk.time.until(leaving.done, 3)
        assert stands(desk)[0] == ANSWERED
    assert (stands(desk)[1]["how"], stands(desk, "a2")[0]) == ("done", REQUESTED), (
        "the next courier begins the other one"
    )
    assert desk.fake.calls[CLEARANCE] == 1


async def test_document_service_uses_host_token_and_lists_nothing(aisle_home: Path) -> None:
    host = Host(aisle_home, Clearing(features=""))
    async with host.running(host.courier(intervals=quiet())) as courier:
        await live(host)
        ask(host)
        courier.wake()
        await host.time.until(lambda: stands(host)[0] == ANSWERED, WAIT_S)
        assert stands(host)[1] == {"how": "done", "fresh": None}
        assert host.fake.calls["assignments"] == host.fake.calls["sign-in"] == 0
        (row,), _ = host.reads.query("clearance_permission", {"user": "U6"})
        assert (row["is_known"], row["people"], row["listed"], row["role"]) == (True, False, False, "")
    host.close()
