"""The document service: operations in doubt are looked up, and resent where they are surely absent."""

import asyncio
import itertools
import json
import random
from typing import Any

import httpx
import pytest

from aisle.cache.unconfirmed_operation_queries import items_of_operation
from aisle.cli.print_rows_and_messages import reason_text
from aisle.jobs.job import ARRIVED, CLOSED_BY_HAND, RESEND
from aisle.outbox.observed_behaviour import (
    CONTAINS,
    EXACT,
    IGNORED,
    KEEPS_OMITTED_LINES,
    LOG_NEEDS_HISTORIC,
    MOVEMENT_FOUND_BY_REFERENCE,
    NO,
    REFERENCE_FILTER,
    SETTLING_S,
    YES,
)
from aisle.outbox.operation_record import Operation
from tests.courier.document_host import LOG, MOVE, PUT, Shop, loss
from tests.courier.document_service import late, partly
from tests.courier.fake_service import Fake, Fault, answer_lost, name_of, not_applied, says
from tests.courier.host import quiet as quiet_pace
from tests.courier.test_rebase import based
from tests.courier.writes import movement, update

SETTLE = 120.0


WRITES = {"movement": movement("P1", 2, "A-1", "B-1"), "loss": loss("P1"), "order": update("O1", {1: 2})}


@pytest.mark.parametrize("kind", WRITES)
async def test_found_operation_is_done_and_sent_once(shop: Shop, kind: str) -> None:
    write = WRITES[kind]
    async with shop.working() as courier:
        await shop.prove()
        shop.fake.fail(write.operation, answer_lost)
        calls = shop.fake.calls[write.operation]
        (op_id,) = shop.desk.write(write)
        courier.wake()
        await shop.until(op_id, "in_doubt")
        began = shop.time.now
        op = await shop.until(op_id, "done")
        assert shop.time.now - began < 11, "the first or second look finds it"
        assert op.answer == "found"
        assert shop.fake.calls[write.operation] == calls + 1
        await shop.time.until(lambda: shop.desk.is_read_back(op_id), 60)


@pytest.mark.parametrize("kind", WRITES)
async def test_absent_operation_is_resent_after_settling_time(shop: Shop, kind: str) -> None:
    write = WRITES[kind]
    async with shop.working() as courier:
        await shop.prove()
        shop.fake.fail(write.operation, not_applied)
        (op_id,) = shop.desk.write(write)
        courier.wake()
        doubted = (await shop.until(op_id, "in_doubt")).in_doubt_at
        await shop.until(op_id, "done")
        arrived = [at for at, _, name in shop.fake.moments if name in (op_id, "O1")]
        assert doubted is not None
        assert [at - doubted >= SETTLE for at in arrived] == [True]


async def test_a_late_arrival_is_waited_for(shop: Shop) -> None:
    async with shop.working() as courier:
        await shop.prove()
        shop.fake.fail(MOVE, late(90))
        (op_id,) = shop.desk.write(movement("P1", 2, "A-1", "B-1"))
        courier.wake()
        await shop.until(op_id, "done")
        assert shop.applied(MOVE) == 1
        assert float(shop.probes.get(SETTLING_S)) > SETTLE, "what came so late makes the next one wait longer"


async def test_without_lookup_it_is_sent_once_and_shown_with_both_locations(shop: Shop) -> None:
    shop.fake.logs_movements = False
    async with shop.working() as courier:
        await shop.prove()
        assert shop.probes.get(MOVEMENT_FOUND_BY_REFERENCE) == NO
        shop.fake.fail(MOVE, answer_lost)
        op_id, other = shop.desk.write(movement("P1", 2, "A-1", "B-1"), movement("P2", 1, "A-1", "B-1"))
        (behind,) = shop.desk.write(loss("P1"))
        courier.wake()
        op = await shop.until(op_id, "needs_person")
        assert shop.applied(MOVE) == 1
        assert op.evidence["before"]["stock"]["P1"] == {"": "10", "A-1": "10", "B-1": "0"}
        assert op.evidence["after"]["stock"]["P1"] == {"": "10", "A-1": "8", "B-1": "2"}
        assert shop.desk.state(other) == "done"
        assert shop.desk.state(behind) == "queued", "a count or loss waits for what is doubtful before it"
        await shop.time.pass_(2000)
        assert shop.applied(MOVE) == 1
        assert shop.desk.state(op_id) == "needs_person"


async def test_absence_means_nothing_where_nothing_was_ever_found(shop: Shop) -> None:
    shop.fake.keeps_reference = False
    async with shop.working() as courier:
        shop.fake.fail(LOG, answer_lost)
        (op_id,) = shop.desk.write(loss("P1"))
        courier.wake()
        await shop.until(op_id, "needs_person")
        await shop.time.pass_(5000)
        assert shop.applied(LOG) == 1


async def test_only_missing_entries_of_a_batch_are_resent(shop: Shop) -> None:
    async with shop.working() as courier:
        await shop.prove()
        shop.fake.fail(LOG, partly(1))
        (op_id,) = shop.desk.write(loss("P1", "P2", "P3"))
        courier.wake()
        op = await shop.until(op_id, "done")
        assert [shop.applied(LOG, f"P{n}") for n in (1, 2, 3)] == [1, 1, 1]
        assert op.parts == (1, 3)
        sent = json.loads([request for request in shop.fake.requests if request.method == "POST"][-1].content)
        marks = [(entry["reference"], entry["source"]) for entry in sent["storeproductlog"]]
        assert marks == [(op_id, "aisle/1"), (op_id, "aisle/3")]


async def test_batch_lost_in_parts_twice_arrives_once_each(shop: Shop) -> None:
    async with shop.working() as courier:
        await shop.prove()
        shop.fake.fail(LOG, partly(1), partly(1), not_applied)
        (op_id,) = shop.desk.write(loss("P1", "P2", "P3"))
        courier.wake()
        op = await shop.until(op_id, "done")
        assert [shop.applied(LOG, f"P{n}") for n in (1, 2, 3)] == [1, 1, 1]
        assert op.parts == (1,)


@pytest.mark.parametrize("how", [EXACT, CONTAINS, IGNORED])
@pytest.mark.parametrize("history", [False, True])
@pytest.mark.parametrize("source", [False, True])
async def test_operation_is_found_with_any_filter_behaviour(shop: Shop, how: str, history: bool, source: bool) -> None:
    shop.fake.filter, shop.fake.history, shop.fake.keeps_source = how, history, source
    async with shop.working() as courier:
        await shop.prove()
        await shop.time.until(lambda: shop.probes.get(REFERENCE_FILTER) == how, 60)
        assert shop.probes.get(LOG_NEEDS_HISTORIC) == (YES if history else NO)
        shop.fake.fail(LOG, answer_lost)
        shop.fake.fail(MOVE, answer_lost)
        ids = shop.desk.write(loss("P1", "P2"), movement("P3", 1, "A-1", "B-1"))
        courier.wake()
        for op_id in ids:
            await shop.until(op_id, "done")
        assert shop.applied(LOG, "P1") == shop.applied(LOG, "P2") == shop.applied(MOVE, "P3") == 1


async def test_kept_references_prove_nothing_about_sources(shop: Shop) -> None:
    """The log keeps references and no sources: what is named by its source alone is never absent, only unknown."""
    shop.fake.keeps_source = False
    async with shop.working() as courier:
        await shop.prove()
        shop.fake.fail(LOG, answer_lost)
        (op_id,) = shop.desk.write(loss("P1", reference="RMA 7"))
        courier.wake()
        op = await shop.until(op_id, "needs_person")
        assert shop.applied(LOG) == 1
        assert op.evidence["before"]["stock"]["P1"] != op.evidence["after"]["stock"]["P1"]


async def test_a_reference_that_somebody_typed_stays(shop: Shop) -> None:
    async with shop.working() as courier:
        await shop.prove()
        shop.fake.fail(LOG, answer_lost)
        (op_id,) = shop.desk.write(loss("P1", reference="RMA 7"))
        courier.wake()
        await shop.until(op_id, "done")
        (entry,) = [entry for name, entry in shop.fake.applied if name == LOG and entry["product_number"] == "P1"]
        assert (entry["reference"], entry["source"]) == ("RMA 7", f"aisle/{op_id}/1")


@pytest.mark.parametrize(("where", "reference"), [("source", None), ("off", None)])
async def test_references_can_be_left_alone(shop: Shop, where: str, reference: str | None) -> None:
    async with shop.working(reference=where) as courier:
        (op_id,) = shop.desk.write(loss("P1"))
        courier.wake()
        await shop.until(op_id, "done")
        (entry,) = [entry for _, entry in shop.fake.applied]
        assert entry.get("reference") == reference
        assert entry["source"] == ("aisle" if where == "off" else f"aisle/{op_id}/1")


async def test_an_order_that_somebody_else_changed_is_a_persons_matter(shop: Shop) -> None:
    async with shop.working() as courier:
        shop.fake.fail(PUT, not_applied)
        (op_id,) = shop.desk.write(update("O1", {1: 2}))
        courier.wake()
        await shop.until(op_id, "in_doubt")
        shop.fake.orders["O1"]["lines"][0]["picked_quantity"] = 1
        op = await shop.until(op_id, "needs_person")
        assert op.evidence["before"]["order"]["lines"]["1"]["picked_quantity"] == "0"
        assert op.evidence["after"]["order"]["lines"]["1"]["picked_quantity"] == "1"
        assert shop.fake.applied == []


@pytest.mark.parametrize("known", ["", NO, YES])
async def test_every_line_is_named_until_it_is_known_that_others_survive(shop: Shop, known: str) -> None:
    shop.fake.forgets_lines = known != YES
    async with shop.working() as courier:
        if known:
            shop.probes.record(KEEPS_OMITTED_LINES, known)
        shop.fake.orders["O2"]["lines"][1]["picked_quantity"] = 2
        (op_id,) = shop.desk.write(update("O2", {1: 1}))
        courier.wake()
        await shop.until(op_id, "done")
        stands = {line["line_number"]: line["picked_quantity"] for line in shop.fake.orders["O2"]["lines"]}
        assert stands == {1: 1, 2: 2}
        sent = [body["order_lines"] for name, body in shop.fake.applied if name == PUT][-1]
        assert len(sent) == (1 if known == YES else 2)


async def test_an_order_is_read_once_before_it_is_written(shop: Shop) -> None:
    async with shop.working() as courier:
        before = len(shop.fake.requests)
        shop.fake.fail(PUT, not_applied)
        (op_id,) = shop.desk.write(update("O2", {1: 1}))
        courier.wake()
        op = await shop.until(op_id, "in_doubt")
        names = [name_of(request) for request in shop.fake.requests[before:]]
        assert names[: names.index(PUT)].count("list-customer-orders") == 1
        assert op.evidence["before"]["order"]["lines"]["1"]["picked_quantity"] == "0"


async def test_an_order_that_cannot_be_read_is_not_written_blindly(shop: Shop) -> None:
    async with shop.working() as courier:
        shop.fake.fail("list-customer-orders", *[says(200, body="no order")] * 3)
        (op_id,) = shop.desk.write(based("O2", 0, 1))
        courier.wake()
        await shop.until(op_id, "done")
        assert (shop.fake.calls[PUT], shop.fake.orders["O2"]["lines"][0]["picked_quantity"]) == (1, 1)
        shop.fake.fail("list-customer-orders", *[says(200, body="no order")] * 100)
        (op_id,) = shop.desk.write(based("O2", 1, 2))
        courier.wake()
        op = await shop.until(op_id, "needs_person")
        assert "read the earlier value failed" in reason_text(op.last_error)
        assert shop.fake.calls[PUT] == 1


async def test_operations_behind_a_found_one_go_at_once(shop: Shop) -> None:
    async with shop.working() as courier:
        shop.fake.fail(PUT, answer_lost)
        (found,) = shop.desk.write(update("O1", {1: 1}))
        courier.wake()
        await shop.until(found, "in_doubt")
        (behind,) = shop.desk.write(update("O1", {1: 2}))
        courier.wake()
        await shop.until(found, "done")
        await shop.until(behind, "done", within_s=30)


async def test_a_late_update_that_changes_nothing_is_waited_for(shop: Shop) -> None:
    """It stands there as it was to be; what is written meanwhile would be undone by it."""
    async with shop.working() as courier:
        shop.fake.fail(PUT, late(60))
        (nothing,) = shop.desk.write(update("O1", {1: 0}))
        courier.wake()
        await shop.until(nothing, "in_doubt")
        (behind,) = shop.desk.write(update("O1", {1: 2}))
        courier.wake()
        await shop.until(behind, "done")
        await asyncio.gather(*shop.fake.underway)
        assert shop.desk.state(nothing) == "done"
        assert shop.fake.orders["O1"]["lines"][0]["picked_quantity"] == 2


async def test_a_log_that_cannot_be_read_is_tried_for_a_while(shop: Shop) -> None:
    async with shop.working() as courier:
        await shop.prove()
        shop.fake.fail(LOG, answer_lost)
        shop.fake.fail("list-store-product-logs", *[says(500)] * 40)
        (op_id,) = shop.desk.write(loss("P1"))
        courier.wake()
        op = await shop.until(op_id, "needs_person", within_s=1000)
        assert op.evidence["verdict"] == "unreadable"
        shop.fake.faults.clear()
        await shop.until(op_id, "done", within_s=1000)
        assert shop.applied(LOG) == 1


async def test_repeated_plain_refusal_needs_person(shop: Shop) -> None:
    async with shop.working() as courier:
        shop.fake.fail(PUT, *[says(422)] * 100)
        (op_id,) = shop.desk.write(update("O1", {1: 2}))
        courier.wake()
        op = await shop.until(op_id, "needs_person")
        assert 3 <= op.attempts <= 20
        assert "422" in reason_text(op.last_error)
        shop.fake.faults.clear()
        assert shop.settle(op_id, RESEND)
        courier.wake()
        await shop.until(op_id, "done")


async def test_unsent_operation_is_retried_forever(shop: Shop) -> None:
    import httpx

    def gone(fake: Any, request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("no route", request=request)

    shop.pace = shop.pace._replace(worked_on=15.0)
    async with shop.working() as courier:
        shop.fake.fail(PUT, *[gone] * 30)
        (op_id,) = shop.desk.write(update("O1", {1: 2}))
        courier.wake()
        await shop.until(op_id, "done", within_s=20_000)
        assert shop.desk.outbox.get(op_id).attempts == 1
        assert shop.fake.calls[PUT] > 25


@pytest.mark.parametrize(("how", "state"), [(ARRIVED, "done"), (CLOSED_BY_HAND, "closed"), (RESEND, "done")])
async def test_a_person_settles_it_and_the_lane_goes_on(shop: Shop, how: str, state: str) -> None:
    shop.fake.logs_movements = False
    async with shop.working() as courier:
        shop.fake.fail(MOVE, not_applied if how == RESEND else answer_lost)
        (op_id,) = shop.desk.write(movement("P1", 2, "A-1", "B-1"))
        (behind,) = shop.desk.write(loss("P1"))
        courier.wake()
        await shop.until(op_id, "needs_person")
        assert shop.settle(op_id, how)
        assert not shop.settle(op_id, how), "it is settled already"
        courier.wake()
        op = await shop.until(op_id, state)
        assert op.closed_by == "U1"
        await shop.until(behind, "done")
        assert shop.applied(MOVE) == 1
        await shop.time.until(lambda: not shop.desk.outbox.live_operations(), 300)


async def test_a_person_who_is_quick_does_not_send_it_before_it_has_settled(shop: Shop) -> None:
    shop.fake.features = "idempotency=30d"
    async with shop.working() as courier:
        (op_id,) = shop.desk.write(movement("P1", 2, "A-1", "B-1"))
        shop.fake.fail(MOVE, late(100))
        courier.wake()
        await shop.time.until(lambda: shop.desk.outbox.get(op_id).attempts, 60)
        shop.fake.features = ""
        op = await shop.until(op_id, "needs_person")
        asked = shop.time.now
        assert shop.settle(op_id, RESEND)
        courier.wake()
        await shop.until(op_id, "sending", "done")
        assert shop.time.now - asked >= SETTLE
        assert op.absence_final_at == asked + SETTLE


FAULTS: dict[str, tuple[Fault, ...]] = {
    "lost before": (not_applied,),
    "answer lost": (answer_lost,),
    "late": (late(60),),
    "late, then lost": (late(100), not_applied),
    "lost, then late": (not_applied, late(45), answer_lost),
    "503": (says(503), says(503, apply=True)),
}


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(fault, id=name, marks=() if name in ("answer lost", "lost, then late") else pytest.mark.full)
        for name, fault in FAULTS.items()
    ],
)
@pytest.mark.parametrize("lives", [1.0, 31.0])
async def test_couriers_that_die_lose_and_double_nothing(shop: Shop, fault: tuple[Fault, ...], lives: float) -> None:
    """Each courier lives so many seconds and is gone without a word."""
    async with shop.working():
        await shop.prove()
    shop.fake.fail(MOVE, *fault)
    shop.fake.fail(LOG, *fault)
    ids = shop.desk.write(movement("P1", 2, "A-1", "B-1"), loss("P2", "P3"))
    for _ in range(400):
        if {shop.desk.state(op_id) for op_id in ids} == {"done"}:
            break
        async with shop.running(shop.courier(intervals=quiet_pace())):
            await shop.time.pass_(lives)
    assert [shop.desk.state(op_id) for op_id in ids] == ["done", "done"]
    await asyncio.gather(*shop.fake.underway)
    assert (shop.applied(MOVE), shop.applied(LOG, "P2"), shop.applied(LOG, "P3")) == (1, 1, 1)


@pytest.mark.parametrize("seed", range(4))
async def test_storms_lose_nothing_double_nothing_and_hide_nothing(shop: Shop, seed: int) -> None:
    """Anything may happen to anything, couriers die, and what is late comes within the settling time."""
    roll = random.Random(seed)
    shop.fake.filter = roll.choice([EXACT, CONTAINS, IGNORED])
    shop.fake.history, shop.fake.keeps_source = roll.random() < 0.5, roll.random() < 0.5
    shop.fake.logs_movements = roll.random() < 0.7
    async with shop.working():
        await shop.prove()
    movements = [movement(f"P{n}", 1, "A-1", "B-1") for n in (1, 2, 3)]
    losses = [loss("P4", "P5"), loss("P6"), loss("P7")]
    orders = [update(f"O{n}", {1: 1, 2: 2}) for n in (1, 2, 3)]
    for name, writes in ((MOVE, movements), (LOG, losses), (PUT, orders)):
        shop.fake.fail(name, *(_chance(roll, name) for _ in writes * 2))
    ids = shop.desk.write(*movements, *losses, *orders)
    for _ in range(300):
        if {shop.desk.state(op_id) for op_id in ids} <= {"done", "needs_person"}:
            break
        async with shop.running(shop.courier(intervals=quiet_pace())):
            await shop.time.pass_(roll.choice([3, 40, 125, 400]))
    await asyncio.gather(*shop.fake.underway)
    _check(shop, ids)


def _chance(roll: random.Random, name: str) -> Fault:
    faults: list[Fault] = [not_applied, answer_lost, late(roll.random() * 110), says(503), says(502, apply=True)]
    return roll.choice([*faults, partly(0)] if name == LOG else faults)


def _check(shop: Shop, ids: tuple[str, ...]) -> None:
    shown = {row["op_id"]: row for row in shop.reads.query("unconfirmed", {"size": 100})[0]}
    for op in (shop.desk.outbox.get(op_id) for op_id in ids):
        times = [_times(shop, op, entry) for entry in items_of_operation(op)]
        assert max(times) <= 1, f"{op.operation} was carried out {times} times"
        if op.state == "done":
            assert min(times) == 1
        else:
            assert op.state == "needs_person"
            assert shown[op.op_id]["outcome"] == "in_doubt"
            assert ARRIVED in shown[op.op_id]["ways"]
            assert shown[op.op_id]["sides"], "with evidence"
    for name in {name for _, name in shop.fake.sent}:
        moments = [at for at, sent in shop.fake.sent if sent == name]
        assert all(later - at >= SETTLE for at, later in itertools.pairwise(moments))


def _times(shop: Shop, op: Operation, entry: Any) -> int:
    """How often one entry was carried out; orders say what they stand at."""
    if op.operation == PUT:
        line = shop.fake.orders[op.body["orders"]["order_number"]]["lines"][entry["line_number"] - 1]
        return int(line["picked_quantity"] == entry["picked_quantity"])
    return shop.applied(op.operation, entry["product_number"])


async def test_a_repeat_keeps_the_floor_from_before_its_first_try(shop: Shop) -> None:
    """What is above it has all come since; a newer floor could hide the entries of the first try."""
    async with shop.working() as courier:
        await shop.prove()
        shop.fake.fail(MOVE, not_applied)
        courier.cache.set_cursor("logs", "3")
        (op_id,) = shop.desk.write(movement("P1", 2, "A-1", "B-1"))
        courier.wake()
        assert (await shop.until(op_id, "in_doubt")).evidence["floor"] == 3
        courier.cache.set_cursor("logs", "9")
        op = await shop.until(op_id, "done")
        assert (op.attempts, op.evidence["floor"]) == (2, 3)


NOTHING_SAID: list[Any] = [None, [], {}, "ok", {"success": "no"}, {"success": 0}]


def nothing_done(said: Any) -> Fault:
    """Somebody says 200 and carries nothing out."""

    def fault(fake: Fake, request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json=said)

    return fault


@pytest.mark.parametrize("said", [*NOTHING_SAID, {"success": True}], ids=str)
async def test_a_200_that_carried_nothing_out_loses_no_pick(shop: Shop, said: Any) -> None:
    async with shop.working(settling_s=30):
        shop.fake.fail(PUT, nothing_done(said))
        (op_id,) = shop.desk.write(update("O1", {1: 2}))
        await shop.until(op_id, "in_doubt")
        assert shop.desk.outbox.pending_counts() == (1, 0)
        assert shop.line("O1")["picked_quantity"] == 2, "it left the screen although nobody has it"
        await shop.until(op_id, "done")
        await shop.time.until(lambda: shop.desk.is_read_back(op_id), 60)
    assert shop.fake.orders["O1"]["lines"][0]["picked_quantity"] == 2


async def test_confirmed_but_absent_operation_needs_person(shop: Shop) -> None:
    async with shop.working(settling_s=30):
        shop.fake.fail(PUT, *[nothing_done({"success": True})] * 9)
        (op_id,) = shop.desk.write(update("O1", {1: 2}))
        op = await shop.until(op_id, "needs_person", within_s=1000)
    assert "does not show it" in reason_text(op.last_error)
    assert op.evidence["before"]["order"]["lines"]["1"]["picked_quantity"] == "0"
    assert op.evidence["after"]["order"]["lines"]["1"]["picked_quantity"] == "0"
    assert op.attempts == 3


async def test_next_operation_waits_for_confirmed_but_absent_one(shop: Shop) -> None:
    async with shop.working(settling_s=30):
        shop.fake.fail(PUT, nothing_done({}))
        first, second = (shop.desk.write(update("O1", {n: 2}))[0] for n in (1, 2))
        await shop.until(second, "done")
        await shop.time.until(lambda: shop.desk.is_read_back(second), 60)
    assert shop.desk.state(first) in ("done", "closed")
    assert [line["picked_quantity"] for line in shop.fake.orders["O1"]["lines"]] == [2, 2]


async def test_later_write_by_others_does_not_disprove_arrival(shop: Shop) -> None:
    def and_more(fake: Fake, request: httpx.Request) -> httpx.Response:
        answer = fake.answer(request)
        fake.orders["O1"]["lines"][0]["picked_quantity"] = 1
        return answer

    async with shop.working(settling_s=30):
        shop.fake.fail(PUT, and_more)
        (op_id,) = shop.desk.write(update("O1", {1: 2}))
        await shop.time.until(lambda: shop.desk.is_read_back(op_id), 60)
    assert shop.desk.state(op_id) == "done"
    assert shop.line("O1")["picked_quantity"] == 1


async def test_a_claim_that_a_service_does_not_keep_is_no_denial(shop: Shop) -> None:
    async with shop.working(settling_s=30):
        shop.fake.fail(PUT, nothing_done({"success": True}))
        (op_id,) = shop.desk.write(update("O1", {}, is_claimed=True))
        await shop.time.until(lambda: shop.desk.is_read_back(op_id), 60)
    assert shop.desk.state(op_id) == "done"
