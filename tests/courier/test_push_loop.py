"""The push loop sends each operation once and in order, whatever fails."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest

from aisle.cli.print_rows_and_messages import reason_text
from aisle.client import Client
from aisle.client.client import RetryPolicy
from aisle.courier.link_state import OFFLINE, TOKEN_REFUSED, ServiceLink
from aisle.courier.push.decide_after_send import MAX_PLAIN_TRIES, PushCallbacks
from aisle.courier.push.immediate_requests import TokenStore
from aisle.courier.push.pre_push_checks import AdaptedOperation
from aisle.courier.push.push_loop import MAX_IN_FLIGHT, PushLoop
from aisle.jobs.job import Write
from aisle.jobs.supervisor.service_fields_and_values import update_write
from aisle.outbox.operation_record import Operation
from tests.courier.document_host import PUT, Shop
from tests.courier.fake_service import OWN, Fake, Fault, answer_lost, broken_answer, lost_before, not_applied, says
from tests.courier.session_outbox import Desk
from tests.courier.simulated_time import Time
from tests.courier.writes import STORE, movement, update


class Rig:
    """A delivery between an outbox and the fake service."""

    def __init__(self, folder: Path, fake: Fake | None = None) -> None:
        self.time = Time()
        self.fake = fake or Fake()
        self.desk = Desk(folder, self.time.clock)
        self.told: list[tuple[str, str]] = []
        self.let_in = True
        self.knocks = 0
        self.link = ServiceLink(lambda status: None, lambda: None, clock=self.time.clock, random_source=lambda: 0.0)
        self.client = Client(
            "http://127.0.0.1:1",
            "token",
            transport=self.fake.transport(),
            on_response=self.link.record_response,
            retry=RetryPolicy(tries=1),
            sleep=self.time.sleep,
        )
        self.delivery = self.make()
        for n in range(1, 4):
            self.fake.add_order(f"O{n}")

    def make(self) -> PushLoop:
        """Another courier on the same outbox."""
        ears = PushCallbacks(
            self._before,
            lambda op, features: AdaptedOperation(op),
            lambda op: False,
            lambda op: self._tell("confirmed", op),
            lambda op, why: self._tell("refused", op),
            lambda op, why: self._tell("doubted", op),
            self._is_let_in,
            self._is_of_the_link,
            self._is_carried_out,
            lambda: None,
            lambda: None,
            lambda op, why: None,
            lambda op, why: self._tell("fault", op),
            self._unchanged,
        )
        return PushLoop(
            self.desk.outbox,
            self.client,
            self.link,
            ears,
            TokenStore(self.desk.db, lambda: None, clock=self.time.clock),
            clock=self.time.clock,
            sleep=self.time.sleep,
            random_source=lambda: 0.0,
        )

    async def _is_of_the_link(self, error: Exception, name: str) -> bool:
        self.link.record_error(error)
        return True

    async def _is_carried_out(self, op: Operation) -> bool:
        raise AssertionError("The fake service lists no keys.")

    def _tell(self, what: str, op: Operation) -> None:
        self.told.append((what, op.op_id))

    async def _before(self, op: Operation) -> None:
        pass

    async def _unchanged(self, op: Operation) -> Operation:
        return op

    async def _is_let_in(self) -> bool:
        self.knocks += 1
        return self.let_in

    async def reach(self) -> None:
        """The link comes up."""
        await self.client.request("list-stores")

    async def deliver(self) -> None:
        """Delivers until everything is settled or waits for a person; reaches out again whenever the link is gone."""
        for _ in range(200):
            if not self.link.can_write:
                self.fake.down = None
                await self.time.pass_(1 + self.link.pause_s)
                await self.reach()
            await self.delivery.push_all()
            if not set(self.desk.states()) & {"queued", "sending"}:
                return
            await self.time.pass_(60)
        raise AssertionError(f"not settled: {self.desk.states()}")

    async def close(self) -> None:
        """Closes everything."""
        await self.client.aclose()
        self.desk.close()


@pytest.fixture
async def rig(aisle_home: Path) -> AsyncIterator[Rig]:
    rig = Rig(aisle_home)
    yield rig
    await rig.close()


async def test_each_error_of_several_sends_is_reported(rig: Rig) -> None:
    op_ids = {rig.desk.write(update("O1", {1: 1}))[0], rig.desk.write(update("O2", {1: 1}))[0]}

    async def fail(op: Operation) -> None:
        raise ValueError(op.op_id)

    rig.delivery.callbacks = rig.delivery.callbacks._replace(evidence_before=fail)
    await rig.reach()
    await rig.delivery.push_all()
    assert {*rig.told} == {("fault", op_id) for op_id in op_ids}
    assert rig.desk.states() == ["queued", "queued"]


async def test_sent_body_is_exact(rig: Rig) -> None:
    (op_id,) = rig.desk.write(update("O1", {1: "2.50"}, place="A-1"))
    await rig.deliver()
    request = rig.fake.requests[-1]
    assert request.method == "PUT"
    assert request.url.raw_path == b"/api/v2/public/stores/0001/orders/customerorder"
    assert request.content == (
        b'{"orders":{"order_number":"O1","order_lines":[{"line_number":1,"product_number":"P1",'
        b'"picked_quantity":2.50,"preferred_location_code":"A-1","stock_pool":1}]}}'
    )
    assert request.headers["idempotency-key"] == f'"{op_id}"'
    assert request.headers["aisle-occurred-at"] == "2027-01-15T11:59:00Z"
    assert request.headers["aisle-app-user"] == "U1"
    assert rig.desk.state(op_id) == "done"
    assert rig.told == [("confirmed", op_id)]


async def test_a_service_that_announces_nothing_gets_the_document_alone(rig: Rig) -> None:
    rig.fake.features = ""
    rig.desk.write(update("O1", {1: 2}, place="A-1"))
    await rig.deliver()
    request = rig.fake.requests[-1]
    assert b"preferred_location_code" not in request.content
    assert b"stock_pool" not in request.content
    assert not {"idempotency-key", "aisle-occurred-at", "aisle-app-user"} & set(request.headers)


async def test_nothing_is_sent_before_features_are_known(rig: Rig) -> None:
    rig.desk.write(update("O1", {1: 2}))
    await rig.delivery.push_all()
    assert rig.fake.calls[PUT] == 0
    assert rig.desk.states() == ["queued"]


FAULTS: dict[str, tuple[Fault, ...]] = {
    "lost before": (lost_before,),
    "lost on the way": (not_applied,),
    "answer lost": (answer_lost,),
    "half an answer": (broken_answer,),
    "503, nothing done": (says(503),),
    "502, carried out": (says(502, apply=True),),
    "500 twice": (says(500), says(500, apply=True)),
    "408": (says(408),),
    "429": (says(429, Retry_After="7"),),
    "401": (says(401),),
    "the key still runs": (says(409, Retry_After="2"),),
    "all of them": (lost_before, says(503), answer_lost, not_applied, broken_answer, says(429), answer_lost),
}


@pytest.mark.parametrize("faults", FAULTS.values(), ids=FAULTS)
async def test_every_fault_ends_in_exactly_once(rig: Rig, faults: tuple[Fault, ...]) -> None:
    rig.fake.fail(PUT, *faults)
    rig.desk.write(update("O1", {1: 2}))
    await rig.deliver()
    assert rig.desk.states() == ["done"]
    assert [name for name, _ in rig.fake.applied] == [PUT]
    bodies = {request.content for request in rig.fake.requests if request.method == "PUT"}
    assert len(bodies) == 1


async def test_a_doubt_that_no_key_can_settle_stops_its_lane_alone(rig: Rig) -> None:
    rig.fake.features = ""
    rig.fake.fail(PUT, answer_lost)
    rig.desk.write(update("O1", {1: 2}), movement("P1", 1, "A-1", "B-1"))
    await rig.deliver()
    assert rig.desk.states() == ["in_doubt", "done"]
    rig.desk.write(update("O1", {1: 3}), update("O2", {1: 1}))
    await rig.reach()
    await rig.delivery.push_all()
    assert rig.desk.states() == ["in_doubt", "done", "queued", "done"]
    assert rig.fake.calls[PUT] == 2


@pytest.mark.parametrize("status", [409, 422])
async def test_a_write_whose_key_is_known_from_an_earlier_try_is_in_doubt(rig: Rig, status: int) -> None:
    body = {"success": False, "errors": [{"field": "Idempotency-Key", "message": "This key was used."}]}
    rig.fake.fail(PUT, answer_lost, says(status, body=body, Aisle_Features=OWN))
    rig.desk.write(update("O1", {1: 2}))
    await rig.deliver()
    assert rig.desk.states() == ["in_doubt"]


async def test_unsent_request_is_retried_without_keys(rig: Rig) -> None:
    rig.fake.features = ""
    rig.fake.fail(PUT, lost_before, lost_before)
    rig.desk.write(update("O1", {1: 2}))
    await rig.deliver()
    assert rig.desk.states() == ["done"]
    assert len(rig.fake.applied) == 1


async def test_a_refusal_is_told_and_lets_the_lane_go_on(rig: Rig) -> None:
    (bad,) = rig.desk.write(update("O1", {1: 9}))
    await rig.reach()
    await rig.delivery.push_all()
    (good,) = rig.desk.write(update("O1", {1: 3}))
    await rig.deliver()
    assert rig.desk.states() == ["rejected", "done"]
    assert rig.desk.outbox.get(bad).last_error == "more than ordered"
    assert rig.told == [("refused", bad), ("confirmed", good)]


@pytest.mark.parametrize("name", ["left", "carried", "superseded", "data"])
async def test_long_field_of_an_answer_is_not_stored(rig: Rig, name: str) -> None:
    long = [123456789] * 7_000 if name == "data" else [{"line_number": 1, "product_number": "x" * 200}] * 1_000
    body = {"success": True, "data": [7], name: long}
    rig.fake.fail(PUT, says(200, body=body, Aisle_Features=OWN))
    (op_id,) = rig.desk.write(update("O1", {1: 2}))
    await rig.deliver()
    assert rig.desk.states() == ["done"]
    assert rig.desk.outbox.get(op_id).answer == ("{}" if name == "data" else '{"data":["7"]}')


async def test_a_token_that_lost_the_store_costs_no_operation(rig: Rig) -> None:
    rig.let_in = False
    rig.fake.fail(PUT, says(403, body={"message": "not your store"}))
    rig.desk.write(update("O1", {1: 2}))
    await rig.reach()
    await rig.delivery.push_all()
    assert rig.desk.states() == ["queued"]
    assert rig.link.state == TOKEN_REFUSED
    rig.let_in = True
    await rig.deliver()
    assert rig.desk.states() == ["done"]


async def test_a_403_for_this_alone_is_a_refusal(rig: Rig) -> None:
    rig.fake.fail(PUT, says(403, body={"message": "supervisors only"}, Aisle_Features=OWN))
    rig.desk.write(update("O1", {1: 2}))
    await rig.deliver()
    assert rig.desk.states() == ["rejected"]


async def test_lanes_keep_their_order_and_run_side_by_side(rig: Rig) -> None:
    rig.fake.gate = asyncio.Event()
    for n in range(1, 7):
        rig.fake.add_order(f"L{n}")
        rig.desk.write(update(f"L{n}", {1: 1})._replace(merge_key=""))
        rig.desk.write(update(f"L{n}", {1: 2})._replace(merge_key=""))
    await rig.reach()
    draining = asyncio.create_task(rig.delivery.push_all())
    await rig.time.until(lambda: rig.fake.waiting == MAX_IN_FLIGHT)
    assert rig.desk.states().count("sending") == MAX_IN_FLIGHT
    rig.fake.gate.set()
    await draining
    assert rig.fake.most_at_once == MAX_IN_FLIGHT
    for n in range(1, 7):
        mine = [
            body["order_lines"][0]["picked_quantity"] for _, body in rig.fake.applied if body["order_number"] == f"L{n}"
        ]
        assert mine == [1, 2]


async def test_a_crash_before_the_answer_is_taken_up_under_the_same_key(rig: Rig) -> None:
    rig.fake.gate = asyncio.Event()
    (op_id,) = rig.desk.write(update("O1", {1: 2}))
    await rig.reach()
    draining = asyncio.create_task(rig.delivery.push_all())
    await rig.time.until(lambda: rig.fake.waiting)
    draining.cancel()
    await asyncio.gather(draining, return_exceptions=True)
    assert rig.desk.state(op_id) == "sending"
    rig.fake.gate = None
    rig.delivery = rig.make()
    rig.delivery.recover_sending()
    await rig.deliver()
    keys = [request.headers["idempotency-key"] for request in rig.fake.requests if request.method == "PUT"]
    assert keys == [f'"{op_id}"'] * 2
    assert rig.desk.state(op_id) == "done"
    assert len(rig.fake.applied) == 1


@pytest.mark.parametrize(("has_key", "state"), [(False, "in_doubt"), (True, "queued")])
async def test_operation_of_dead_courier_is_resent_only_with_key(rig: Rig, has_key: bool, state: str) -> None:
    (op_id,) = rig.desk.write(update("O1", {1: 2}))
    assert rig.desk.outbox.begin_sending(op_id, b"{}", has_key=has_key) == b"{}"
    rig.delivery.recover_sending()
    assert rig.desk.state(op_id) == state


async def test_repeatedly_dying_couriers_do_not_use_up_tries_at_once(rig: Rig) -> None:
    (op_id,) = rig.desk.write(update("O1", {1: 2}))
    while rig.desk.outbox.sendable():
        assert rig.desk.outbox.begin_sending(op_id, b"{}", has_key=True) == b"{}"
        rig.delivery.recover_sending()
    assert (rig.desk.state(op_id), rig.desk.outbox.get(op_id).attempts) == ("queued", 3)
    due = rig.desk.outbox.next_due_at()
    assert due is not None
    await rig.time.pass_(due - rig.time.now)
    assert [op.op_id for op in rig.desk.outbox.sendable()] == [op_id]


async def test_single_answer_without_key_feature_needs_no_person(rig: Rig) -> None:
    rig.fake.fail(PUT, answer_lost)
    (op_id,) = rig.desk.write(update("O1", {1: 2}))
    await rig.reach()
    await rig.delivery.push_all()
    own, rig.fake.features = rig.fake.features, ""
    for _ in range(3):
        await rig.reach()
        await rig.delivery.push_all()
        await rig.time.pass_(20)
    assert (rig.desk.state(op_id), rig.fake.calls[PUT]) == ("queued", 1)
    rig.fake.features = own
    await rig.reach()
    await rig.deliver()
    assert rig.desk.state(op_id) == "done"
    assert [name for name, _ in rig.fake.applied] == [PUT]
    assert not [said for said in rig.told if said[0] == "doubted"]


async def test_keyed_operation_is_never_resent_without_key(rig: Rig) -> None:
    rig.fake.fail(PUT, answer_lost)
    (op_id,) = rig.desk.write(update("O1", {1: 2}))
    await rig.reach()
    await rig.delivery.push_all()
    rig.fake.features = ""
    await rig.deliver()
    assert rig.desk.state(op_id) == "needs_person"
    assert rig.fake.calls[PUT] == 1


STRANGERS = {
    **{f"{status}, a page": says(status) for status in (400, 403, 404, 405, 413, 451, 501)},
    "404, words of another": says(404, body={"message": "no route matched"}),
}


@pytest.mark.parametrize("fault", STRANGERS.values(), ids=STRANGERS)
async def test_a_no_from_somebody_on_the_way_rejects_nothing(rig: Rig, fault: Fault) -> None:
    rig.fake.fail(PUT, fault, fault)
    rig.desk.write(update("O1", {1: 2}))
    await rig.deliver()
    assert rig.desk.states() == ["done"]
    assert len(rig.fake.applied) == 1
    assert rig.knocks == 2, "whether the service is there at all is asked each time"


async def test_reject_page_without_reasons_rejects_nothing_at_document_service(rig: Rig) -> None:
    rig.fake.features = ""
    rig.fake.fail(PUT, says(404), says(422, body={"message": "no"}))
    rig.desk.write(update("O1", {1: 2}), update("O2", {1: 2}))
    await rig.deliver()
    assert sorted(rig.desk.states()) == ["done", "rejected"], "words are its own, there is no other sign"


async def test_a_key_that_may_be_forgotten_is_not_relied_on(rig: Rig) -> None:
    rig.fake.fail(PUT, answer_lost)
    (op_id,) = rig.desk.write(update("O1", {1: 2}))
    await rig.reach()
    await rig.delivery.push_all()
    assert rig.desk.state(op_id) == "queued"
    await rig.time.pass_(29.5 * 86400)
    await rig.deliver()
    assert rig.desk.state(op_id) == "needs_person"
    assert rig.fake.calls[PUT] == 1


async def test_the_frozen_bytes_go_again_whatever_is_announced_meanwhile(rig: Rig) -> None:
    rig.fake.fail(PUT, answer_lost)
    rig.desk.write(update("O1", {1: 2}, place="A-1"))
    await rig.reach()
    await rig.delivery.push_all()
    rig.fake.features = "idempotency=30d"
    await rig.deliver()
    first, second = [request.content for request in rig.fake.requests if request.method == "PUT"]
    assert first == second
    assert len(rig.fake.applied) == 1


async def test_an_operation_that_cannot_be_written_down_is_refused_here(rig: Rig) -> None:
    rig.desk.write(update("O1", {1: "NaN"}))
    await rig.deliver()
    assert rig.desk.states() == ["rejected"]
    assert rig.fake.calls[PUT] == 0


async def test_the_loop_wakes_for_a_retry_behind_a_blocked_lane(rig: Rig) -> None:
    rig.fake.fail(PUT, says(503))
    rig.desk.write(update("O1", {1: 1})._replace(merge_key=""), update("O1", {1: 2})._replace(merge_key=""))
    await rig.reach()
    running = asyncio.create_task(rig.delivery.run())
    await rig.time.until(lambda: rig.desk.states() == ["done", "done"], 5)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_a_gateways_page_takes_no_feature_away(rig: Rig) -> None:
    rig.fake.fail(PUT, says(200), says(502), answer_lost)
    rig.desk.write(update("O1", {1: 2}))
    await rig.deliver()
    assert rig.desk.states() == ["done"]
    assert len(rig.fake.applied) == 1


async def test_without_a_link_nothing_is_tried(rig: Rig) -> None:
    await rig.reach()
    rig.fake.down = lost_before
    rig.desk.write(update("O1", {1: 1}), update("O2", {1: 1}), movement("P9", 1, "A-1", "B-1"))
    await rig.delivery.push_all()
    tried = rig.fake.calls.total()
    assert rig.link.state == OFFLINE
    rig.desk.write(update("O3", {1: 1}))
    await rig.delivery.push_all()
    assert rig.fake.calls.total() == tried
    await rig.deliver()
    assert rig.desk.states() == ["done"] * 4
    assert len(rig.fake.applied) == 4


@pytest.mark.parametrize("said", [None, [], {}, "ok", {"success": "no"}, {"success": True}], ids=str)
async def test_empty_200_of_keyed_service_is_resent_with_same_key(rig: Rig, said: object) -> None:
    def nothing_done(fake: Fake, request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json=said)

    rig.fake.fail(PUT, nothing_done)
    rig.desk.write(update("O1", {1: 2}))
    await rig.deliver()
    assert rig.desk.states() == ["done"]
    assert rig.fake.calls[PUT] == 2
    assert [name for name, _ in rig.fake.applied] == [PUT]
    assert rig.link.features is not None
    assert rig.link.features.idempotency, "an answer that says nothing takes nothing back"


@pytest.mark.parametrize(
    ("status", "body", "why"),
    [
        (200, {"success": False}, "The server gave no reason for refusing it (200)"),
        (400, {"success": False, "message": "x" * 900}, "x" * 300),
        (502, None, "Another server answered, not ours (502)"),
    ],
)
async def test_recorded_reason_is_short_and_no_html_page(rig: Rig, status: int, body: object, why: str) -> None:
    announced = {"Aisle_Features": OWN} if body else {}
    rig.fake.fail(PUT, says(status, body=body, **announced))  # type: ignore[arg-type]
    (op_id,) = rig.desk.write(update("O1", {1: 2}))
    await rig.reach()
    rig.delivery.send_ready()
    await rig.time.until(lambda: rig.desk.outbox.get(op_id).last_error, 30)
    assert reason_text(rig.desk.outbox.get(op_id).last_error) == why


# A read before a push is refused: only its operation waits


REFUSALS = pytest.mark.parametrize("status", [400, 403, 404, 409, 500, 503])
ONE = {"order": ("order_number", "O1"), "setting": ("product_number", "P1")}
"""What is asked for by itself, and its number."""


@pytest.fixture
def shop(shop: Shop) -> Shop:
    shop.fake.stock["P1"]["min"] = 4
    return shop


def refuse(shop: Shop, monkeypatch: Any, kind: str, status: int) -> Callable[[], None]:
    """The service has nothing but this status for one of its rows; gives the end of that."""
    name, number = ONE[kind]
    real, refused = shop.fake.answer, [number]

    def answer(request: httpx.Request) -> httpx.Response:
        if request.method == "GET" and request.url.params.get(name) in refused:
            return httpx.Response(status, json={"success": False, "message": "not this one"})
        return real(request)

    monkeypatch.setattr(shop.fake, "answer", answer)
    return refused.clear


def said_of(kind: str) -> Write:
    return update("O1", {1: 1}) if kind == "order" else update_write("P1", STORE, {"min": Decimal(6)}, {"min": "4"})


@REFUSALS
@pytest.mark.parametrize("kind", ONE)
async def test_other_operations_go_while_pre_push_read_is_retried(
    shop: Shop, monkeypatch: Any, kind: str, status: int
) -> None:
    async with shop.working() as courier:
        mend = refuse(shop, monkeypatch, kind, status)
        waits, other = shop.desk.write(said_of(kind), update("O2", {2: 1}))
        courier.wake()
        await shop.until(other, "done", within_s=20)
        before = len(shop.fake.requests)
        for _ in range(30):
            await shop.time.pass_(1.0)
            assert shop.state() == "live"
        assert len(shop.fake.requests) - before < 40
        mend()
        await shop.until(waits, "done", within_s=120)
        assert len([name for name, _ in shop.fake.applied if name != PUT]) == (kind == "setting")


@REFUSALS
@pytest.mark.parametrize("kind", ONE)
async def test_in_the_end_it_is_a_persons_and_nothing_was_sent(
    shop: Shop, monkeypatch: Any, kind: str, status: int
) -> None:
    async with shop.working() as courier:
        refuse(shop, monkeypatch, kind, status)
        (waits,) = shop.desk.write(said_of(kind))
        courier.wake()
        op = await shop.until(waits, "needs_person", "done", within_s=3600)
        if op.state == "done":  # an order that the service does not have, or not for us, is written to all the same
            assert (kind, status) in (("order", 400), ("order", 404))
        else:
            assert "read the earlier value failed" in reason_text(op.last_error)
            assert not shop.fake.applied


async def test_superseded_operation_needs_no_person(shop: Shop, monkeypatch: Any) -> None:
    """It went on in another operation while it was looked for, for the last time."""
    async with shop.working() as courier:
        mend = refuse(shop, monkeypatch, "order", 409)
        refused, asked = shop.fake.answer, itertools.count(1)

        def answer(request: httpx.Request) -> httpx.Response:
            if request.url.params.get("order_number") == "O1" and next(asked) == MAX_PLAIN_TRIES:
                shop.desk.write(update("O1", {2: 1}))
            return refused(request)

        monkeypatch.setattr(shop.fake, "answer", answer)
        (first,) = shop.desk.write(update("O1", {1: 1}))
        courier.wake()
        await shop.until(first, "closed")
        mend()
        await shop.until(shop.desk.outbox.get(first).superseded_by, "done")
        assert not [notice.text for notice in courier.operator_notices.recent if "IllegalTransition" in notice.text]
    assert [line["picked_quantity"] for line in shop.fake.orders["O1"]["lines"]] == [1, 1]
