"""The world of these tests itself: it turns round, what can happen on the line does happen, and the checker sees it."""

from __future__ import annotations

from pathlib import Path

import pytest

from aisle.courier.pauses_and_wake_event import MAX_RETRY_S
from aisle.service.db.sqlite_connection_and_transaction import run_sync
from aisle.stored_messages import store_text
from tests.faults.goods import CODES, PICK_UP
from tests.faults.host import Person
from tests.faults.link import CUT, GATEWAY_BEFORE, KINDS, LATE, LOST_BEFORE, NONE, Fault
from tests.faults.world import World, world


def work(anna: Person) -> None:
    """An order is picked and laid down, goods are moved, a place is counted."""
    anna.home()
    anna.say("O-2", "2*" + CODES["P2"], "3*" + CODES["P2"], PICK_UP)
    anna.open("home.move")
    anna.say("A-1", "3*" + CODES["P1"], "A-2")
    anna.open("home.count")
    anna.say("B-1", CODES["P4"], "39", CODES["P1"], "12", "d")
    for _ in range(3):
        if anna.at == "count.recount":
            anna.say("39")
        elif anna.at == "count.summary":
            anna.say("y")
    assert anna.told == ("good", "count.sent_differing")


def assert_worked(shop: World) -> None:
    """The effects of `work`, once each."""
    lying = shop.lying()
    expected = {("P1", "A-1"): 21, ("P1", "A-2"): 3, ("P4", "B-1"): 39, ("P2", "A-1"): 13, ("P2", PICK_UP): 5}
    assert {spot: int(lying[spot]) for spot in expected} == expected


async def test_a_quiet_day(aisle_home: Path) -> None:
    async with world(aisle_home) as shop:
        work(shop.host.person("dock-1", "anna"))
        await shop.quiet()
        shop.check()
        assert_worked(shop)
        assert {op.state for op in shop.host.operations() if not op.superseded_by} == {"done"}


@pytest.mark.parametrize("kind", KINDS)
async def test_each_fault_occurs_and_does_no_harm(aisle_home: Path, kind: str) -> None:
    async with world(aisle_home) as shop:
        shop.host.line.plan = lambda request: Fault(kind, 30.0, 12) if request.method != "GET" else Fault()
        work(shop.host.person("dock-1", "anna"))
        await shop.step(60)
        assert shop.host.line.faults[kind] >= 3
        assert shop.storage.crashes == (shop.host.line.faults[kind] if kind == "crash" else 0)
        assert (shop.host.deaths > 0) == kind.startswith("cancel")
        await shop.quiet()
        shop.check()
        assert_worked(shop)


async def test_a_request_that_comes_late_comes(aisle_home: Path) -> None:
    async with world(aisle_home) as shop:
        shop.host.line.plan = lambda request: Fault(LATE, 500.0) if request.method != "GET" else Fault()
        work(shop.host.person("dock-1", "anna"))
        await shop.step(5)
        shop.host.line.still()
        await shop.time.until(shop.host.drained)
        assert shop.host.line.stray
        before = shop.lying()
        await shop.quiet()
        assert not shop.host.line.stray
        assert shop.lying() == before
        shop.check()


async def test_two_hosts_and_a_black_out(aisle_home: Path) -> None:
    async with world(aisle_home) as shop:
        other = await shop.add_host()
        anna, ben = shop.host.person("dock-1", "anna"), other.person("dock-2", "ben")
        shop.host.line.cut_off = True
        work(anna)
        ben.say("O-1", "4*" + CODES["P1"])
        await shop.step(900)
        assert len(shop.host.outbox.unfinished()) == 4
        assert other.drained()
        await shop.quiet()
        shop.check()
        assert shop.host.query("order", order_number="O-1")[0]["lines"][0]["picked_quantity"] == 4


async def test_read_back_begins_after_confirmation(aisle_home: Path) -> None:
    async with world(aisle_home) as shop:
        anna, line = shop.host.person("dock-1", "anna"), shop.host.line
        line.plan = lambda request: Fault(LOST_BEFORE if request.method != "GET" else NONE)
        anna.say("O-1", "4*" + CODES["P1"], "2*" + CODES["P2"])
        await shop.step()
        anna.say("u")
        assert anna.told == ("good", "pick.undone")
        line.plan = lambda request: Fault(CUT if request.url.params.get("product_number") == "P1" else NONE)
        await shop.time.until(lambda: not shop.host.outbox.unfinished())
        await shop.step()
        taken, undone = [op for op in shop.host.operations() if not op.superseded_by]
        assert taken.read_back_at is None  # its other product cannot be read
        assert undone.read_back_at is not None
        (order,) = shop.host.query("order", order_number="O-1")
        assert [int(each["picked_quantity"]) for each in order["lines"]] == [4, 0, 0]


async def test_killed_session_resumes_on_same_step(aisle_home: Path) -> None:
    async with world(aisle_home) as shop:
        anna = shop.host.person("dock-1", "anna")
        anna.say("O-1", CODES["P1"], CODES["P1"])
        before = anna.frame.view
        anna.die()
        again = shop.host.person("dock-1", "anna")
        assert (again.frame.view, again.told[1]) == (before, "session.resumed")
        await shop.quiet()
        shop.check()


async def test_the_checker_sees_what_was_lost_doubled_or_made_up(
    aisle_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world(aisle_home) as shop:
        work(shop.host.person("dock-1", "anna"))
        await shop.quiet()
        shop.check()
        writer, db = shop.storage._writer, shop.storage._writer.connection
        monkeypatch.setattr(shop.storage, "read_now", lambda work: run_sync(work(writer)))
        for damage in (
            "DELETE FROM idempotency WHERE request_key NOT LIKE 'integrator%'",
            "UPDATE stock_log SET op_id = 'nobody' WHERE op_id NOT LIKE 'integrator%'",
            "INSERT INTO stock_log SELECT store_number, seq + 1000, ordinal, op_id, product_number, reference,"
            " reason_code, review_status, created_on, updated_on, item, data FROM stock_log",
            "UPDATE leg SET quantity = quantity + 1 WHERE kind = 'move'",
            "UPDATE balance SET quantity = quantity + 1000 WHERE order_number = ''",
            "UPDATE order_line SET moved = 0, picked = 0",
            "DELETE FROM line_origin; UPDATE order_line SET quantity = quantity + 1000",
        ):
            db.execute("BEGIN; " + damage)
            with pytest.raises(AssertionError):
                shop.check()
            db.execute("ROLLBACK")
        shop.check()
        monkeypatch.undo()


async def test_quiet_waits_for_failed_reads(aisle_home: Path) -> None:
    async with world(aisle_home) as shop:
        shop.host.line.plan = lambda asked: Fault(GATEWAY_BEFORE if b"order_number=O-9" in asked.url.query else NONE)
        async with shop.integrator() as client:
            await shop.create_orders(client, {"O-9": (("P1", 2),)})
        unread = "order O-9 cannot be read"
        await shop.time.until(lambda: any(unread in notice.text for notice in shop.host.notices))
        await shop.quiet()
        shop.check()


async def test_a_seed_is_a_run(aisle_home: Path) -> None:
    runs = []
    for name in ("one", "two"):
        async with world(aisle_home / name, seed=5) as shop:
            dice = shop.random
            shop.host.line.plan = lambda request, dice=dice: Fault(dice.choice(KINDS), dice.random() * 30)  # type: ignore[misc]
            work(shop.host.person("dock-1", "anna"))
            await shop.step(200)
            await shop.quiet()
            runs.append((shop.host.line.faults, shop.host.line.requests, shop.time.now))
    assert runs[0] == runs[1]


async def test_missing_list_is_not_quiet(aisle_home: Path) -> None:
    async with world(aisle_home) as shop:
        (host,) = shop.hosts
        await shop.quiet()
        assert host.courier is not None
        host.courier.full_sync.set_missing("locations", store_text("no"))
        assert not host.has_read()
        began = shop.time.now
        await shop.quiet()
        assert host.has_read()
        assert host.courier.full_sync.progress.missing == ()
        assert shop.time.now - began < MAX_RETRY_S, "it is asked for as somebody would"
