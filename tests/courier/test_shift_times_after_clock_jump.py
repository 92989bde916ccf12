"""The host's clock is set: no wait grows longer, and nothing is believed sooner."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime
from email.utils import formatdate
from typing import Any

import httpx
import pytest

from aisle.cache.stored_row_values import iso_time
from aisle.cache.writer import CacheWriter, open_cache
from aisle.courier.clock_skew_and_clock_jump import (
    MIN_JUMP_S,
    MIN_SKEW_S,
    SKEW_WINDOW_S,
    ClockSkew,
    SteadyClock,
    apply_clock_jump,
    has_jumped,
    to_steady_clock,
)
from aisle.courier.courier import Courier, Runtime
from aisle.courier.leader_process import LeaderOptions, Leadership
from aisle.courier.push.outgoing_request import request_headers
from aisle.courier.service_features_and_lists import parse_features
from aisle.host.database import fetch
from aisle.outbox.requests_and_token_holders import request_read
from aisle.stored_messages import store_message
from tests.courier.fake_service import lost_before, name_of, not_applied, says
from tests.courier.host import Host, run_courier
from tests.courier.simulated_time import START
from tests.courier.test_rebase import based, operation
from tests.courier.writes import STORE, movement, update

HOUR = 3600.0


def each_jump(test: Callable[..., Any]) -> Any:
    """A third of the jumps by default, other ones for another test."""
    jumps = pytest.mark.parametrize("jump", [HOUR, -HOUR, 400 * 86400.0, -400 * 86400.0, 5.0, -5.0])
    return pytest.mark.sampled(3)(jumps(test))


class Clock:
    """The host's clock, which can be set, and the count since its start, which cannot."""

    def __init__(self, host: Host) -> None:
        self.set_by = 0.0
        self.host = host

    def wall(self) -> float:
        """What the host says."""
        return self.host.time.now + self.set_by

    def steady(self, boot: str = "first") -> SteadyClock:
        """The clock of a courier that begins now."""
        return SteadyClock(self.wall, lambda: self.host.time.now - START, boot)


@pytest.fixture
def clock(host: Host) -> Clock:
    """The clock of the host."""
    return Clock(host)


class Incumbent:
    """A leading courier, and those that replaced it after a clock jump."""

    def __init__(self, host: Host, clock: Clock, boot: str = "first") -> None:
        self.offices: list[Leadership] = []
        world = Runtime(clock.steady(boot), host.time.sleep, lambda: 0.0)
        self.task = asyncio.create_task(run_courier(host, LeaderOptions(runtime=world, on_start=self.offices.append)))

    @property
    def courier(self) -> Courier:
        """The one that works now."""
        return self.offices[-1].courier


@asynccontextmanager
async def working(host: Host, clock: Clock, boot: str = "first") -> AsyncIterator[Incumbent]:
    """A courier that has read everything, until the end of the block."""
    term = Incumbent(host, clock, boot)
    await host.time.until(lambda: term.offices and term.courier.full_sync.progress.is_idle and host.state() == "live")
    yield term
    term.offices[-1].end("the test ends")
    await host.time.until(term.task.done)
    assert term.task.result() == 0


def test_a_clock_that_is_set_is_noticed_and_not_followed(host: Host) -> None:
    clock = Clock(host)
    steady = clock.steady()
    for jump in (MIN_JUMP_S * 0.9, -MIN_JUMP_S * 0.9, HOUR, -HOUR):
        clock.set_by = jump
        assert steady() == host.time.now
        assert has_jumped(steady) == (abs(jump) > MIN_JUMP_S)
        assert to_steady_clock(steady)() == clock.wall()
    assert to_steady_clock(host.time.clock) == host.time.clock


@each_jump
async def test_changes_by_others_are_seen_after_clock_jump(host: Host, clock: Clock, jump: float) -> None:
    async with working(host, clock) as term:
        clock.set_by = jump
        await host.time.until(lambda: len(term.offices) == 2, 10)
        await host.time.until(
            lambda: term.courier.full_sync.progress.is_idle and host.reads.link(clock.wall()).state == "live"
        )
        host.fake.orders["O1"]["lines"][0]["picked_quantity"] = 2
        host.fake.stock["P1"]["most_likely_quantity"] = 3
        host.fake.touch("order", "O1")
        host.fake.touch("product", "P1")
        await host.time.until(lambda: host.line("O1")["picked_quantity"] == 2 and host.quantity("P1") == 3, 10)
        assert host.reads.link(clock.wall()).age_s < 15
    assert f"The clock of this host was set by {jump:+.0f} s." in host.home.courier_log.read_text()


@each_jump
async def test_a_delivery_that_changes_is_seen_after_it_as_before(host: Host, clock: Clock, jump: float) -> None:
    host.fake.add_delivery("IN-1", ("P1", 4))
    async with working(host, clock) as term:
        assert received(host, "IN-1") == 0
        clock.set_by = jump
        await host.time.until(lambda: len(term.offices) == 2, 10)
        await host.time.until(
            lambda: term.courier.full_sync.progress.is_idle and host.reads.link(clock.wall()).state == "live"
        )
        host.fake.deliveries["IN-1"]["order_lines"][0]["received_quantity"] = 3
        host.fake.touch("delivery", "IN-1")
        await host.time.until(lambda: received(host, "IN-1") == 3, 10)


def received(host: Host, number: str) -> Any:
    """What has come of a delivery, as a session sees it."""
    return host.reads.query("delivery", {"order_number": number})[0][0]["received_quantity"]


@each_jump
async def test_earlier_not_found_does_not_answer_request_after_clock_jump(
    host: Host, clock: Clock, jump: float
) -> None:
    async with working(host, clock) as term:
        request_read(host.desk.db, "order", "NOPE", clock.wall())
        term.courier.wake()
        asked = {"order_number": "NOPE", "since": iso_time(clock.wall())}
        await host.time.until(lambda: host.reads.query("absent_order", asked)[1], 10)
        clock.set_by = jump
        await host.time.until(lambda: len(term.offices) == 2, 10)
        await host.time.pass_(1.0)
        assert host.reads.query("absent_order", {**asked, "since": iso_time(clock.wall())})[1] == 0


@each_jump
async def test_write_arrives_and_leaves_overlay_after_clock_jump(host: Host, clock: Clock, jump: float) -> None:
    async with working(host, clock) as term:
        host.fake.fail("update-customer-order", *[says(503, Retry_After="40")] * 1)
        (op_id,) = host.desk.write(update("O1", {1: 2}))
        term.courier.wake()
        await host.time.until(lambda: host.fake.calls["update-customer-order"] == 1, 5)
        clock.set_by = jump
        await host.time.until(lambda: host.desk.is_read_back(op_id), 60)
        assert host.line("O1")["picked_quantity"] == 2
    assert len(host.fake.applied) == 1


@each_jump
async def test_work_that_was_first_sent_before_it_is_asked_for_after_a_restore(
    host: Host, clock: Clock, jump: float
) -> None:
    async with working(host, clock) as term:
        host.fake.fail("update-customer-order", *[says(503)] * 8)
        (op_id,) = host.desk.write(update("O1", {1: 2}))
        term.courier.wake()
        await host.time.until(lambda: host.fake.calls["update-customer-order"] == 1, 5)
        clock.set_by = jump
        await host.time.until(lambda: len(term.offices) == 2, 10)
        await host.time.until(lambda: host.desk.is_read_back(op_id), 900)
        assert op_id in host.desk.outbox.newest_keys(clock.wall() - HOUR / 2, 20)


@each_jump
async def test_a_link_that_is_down_is_tried_as_before(host: Host, clock: Clock, jump: float) -> None:
    async with working(host, clock) as term:
        host.fake.down = lost_before
        await host.time.until(lambda: host.state() == "offline")
        clock.set_by = jump
        await host.time.until(lambda: len(term.offices) == 2, 10)
        host.fake.down = None
        await host.time.until(lambda: term.courier.link.is_up, 20)


@each_jump
async def test_absence_is_believed_neither_sooner_nor_later(host: Host, clock: Clock, jump: float) -> None:
    host.fake.features = ""
    async with working(host, clock) as term:
        host.fake.fail("create-movement", not_applied)
        (op_id,) = host.desk.write(movement("P1", 1, "A-1", "B-1"))
        term.courier.wake()
        await host.time.until(lambda: host.desk.state(op_id) == "in_doubt", 10)
        settles_in = (host.desk.outbox.get(op_id).absence_final_at or 0) - host.time.now
        began = host.time.now
        clock.set_by = jump
        await host.time.until(lambda: len(term.offices) == 2, 10)
        left = (host.desk.outbox.get(op_id).absence_final_at or 0) - clock.wall()
        assert left == pytest.approx(settles_in - (host.time.now - began), abs=0.1)


@pytest.mark.parametrize("jump", [-HOUR, -400 * 86400.0])
async def test_a_host_that_starts_with_an_older_clock_waits_for_nothing(host: Host, clock: Clock, jump: float) -> None:
    """Nobody knows by how much it is wrong; all that was written down lies in the future."""
    async with working(host, clock) as term:
        host.fake.fail("update-customer-order", says(503, Retry_After="40"))
        (op_id,) = host.desk.write(update("O1", {1: 2}))
        term.courier.wake()
        await host.time.until(lambda: host.fake.calls["update-customer-order"] == 1, 5)
    clock.set_by = jump
    async with working(host, clock, "second"):
        await host.time.until(lambda: host.desk.is_read_back(op_id), HOUR + 60)
        host.fake.orders["O2"]["lines"][0]["picked_quantity"] = 2
        host.fake.touch("order", "O2")
        await host.time.until(lambda: host.line("O2")["picked_quantity"] == 2, 10)
    began = [row[0] for row in fetch(host.desk.db, "SELECT max(confirmed_at) FROM operation")]
    assert began[0] <= clock.wall()


@pytest.mark.parametrize("jump", [HOUR, -HOUR])
@pytest.mark.parametrize("end", ["_shift_outbox", "_clamp_outbox", "_shift_cache", "_clamp_cache"])
def test_clock_jump_is_applied_once_despite_courier_kill(
    host: Host, clock: Clock, monkeypatch: pytest.MonkeyPatch, jump: float, end: str
) -> None:
    """A doubt that was brought back twice would pass for settled an hour too early."""

    def killed(*_: object) -> None:
        raise ZeroDivisionError

    def settles_in() -> float:
        return (host.desk.outbox.get(op_id).absence_final_at or 0) - clock.wall()

    with closing(open_cache(host.home.folder, writer=True)) as cache_db:
        files = CacheWriter(cache_db, STORE), cache_db, host.desk.db
        assert apply_clock_jump(*files, clock.steady()) == 0
        (op_id,) = host.desk.write(movement("P1", 1, "A-1", "B-1"))
        host.desk.outbox.begin_sending(op_id, b"[]")
        host.desk.outbox.mark_in_doubt(op_id, store_message("stored_reason.no_answer", detail=""), settling_s=120.0)
        before = settles_in()
        clock.set_by = jump
        with monkeypatch.context() as patched:
            patched.setattr(f"aisle.courier.clock_skew_and_clock_jump.{end}", killed)
            with pytest.raises(ZeroDivisionError):
                apply_clock_jump(*files, clock.steady())
        assert apply_clock_jump(*files, clock.steady()) == pytest.approx(jump)
        assert settles_in() == pytest.approx(before)
        assert apply_clock_jump(*files, clock.steady()) == 0


# The offset between the clocks of host and service, from answers that may come late


class Two:
    """The clocks of a host and of its service, and what the one hears of the other."""

    def __init__(self, ahead: float) -> None:
        self.time, self.ahead = 1_780_000_000.25, ahead
        self.compared = ClockSkew(lambda: self.time + self.ahead)

    def answers(self, after_s: float, late_s: float = 0.05) -> float:
        """An answer is written after so long, and heard so much later; how far the host's clock is ahead by that."""
        self.time += after_s
        date = formatdate(self.time // 1, usegmt=True)
        self.time += late_s
        self.compared.record_response({"date": date})
        return self.compared.skew_s


@pytest.mark.parametrize("ahead", [-1e9, -86_400.0, -20.0, 20.0, 86_400.0])
def test_a_clock_that_is_off_is_known_to_a_second_at_once_and_soon_better(ahead: float) -> None:
    two = Two(ahead)
    assert two.answers(1.0, late_s=0.2) == pytest.approx(ahead + 0.6, abs=0.6)
    for _ in range(40):
        two.answers(2.07, late_s=1.5)  # most come late
        found = two.answers(1.3)
    assert found == pytest.approx(ahead + 0.1, abs=0.1)


@pytest.mark.parametrize("ahead", [-0.9, 0.0, 0.9])
def test_a_clock_that_is_right_is_none_to_reckon_with(ahead: float) -> None:
    two = Two(ahead)
    assert [two.answers(1.9) for _ in range(20)] == [0.0] * 20


def test_a_clock_that_drifts_is_followed() -> None:
    two = Two(0.0)
    for _ in range(300):
        two.ahead += 0.1
        two.answers(SKEW_WINDOW_S / 20)
    assert two.compared.skew_s == pytest.approx(30.0, abs=2 * 20 * 0.1 + MIN_SKEW_S)


def test_what_says_no_time_says_nothing() -> None:
    compared = ClockSkew(lambda: 0.0)
    for headers in ({}, {"date": ""}, {"date": "today"}, {"date": "Thu, 99 Jan 1970 00:16:40 GMT"}):
        compared.record_response(headers)
    assert compared.skew_s == 0.0


FAR_DATES = ["Fri, 31 Dec 9999 23:59:59 GMT", "Mon, 01 Jan 0001 00:00:00 GMT", "Mon, 01 Jan 2199 00:00:00 GMT"]


@pytest.mark.parametrize("date", [*FAR_DATES, formatdate(1_780_007_200, usegmt=True)])
def test_one_wrong_date_among_right_ones_changes_no_time(date: str) -> None:
    two = Two(20.0)
    before = two.answers(1.0)
    two.compared.record_response({"date": date})
    assert two.compared.skew_s == before
    assert two.answers(1.0) == pytest.approx(before, abs=1.0)


@pytest.mark.parametrize("date", [*FAR_DATES, formatdate(1_780_007_200, usegmt=True)])
def test_wrong_date_of_the_first_answer_is_soon_forgotten(date: str) -> None:
    two = Two(20.0)
    two.compared.record_response({"date": date})
    assert len(f"{abs(two.compared.skew_s):.0f}") <= 10, "the service takes no more digits"
    two.answers(1.0)
    assert two.answers(1.0) == pytest.approx(20.5, abs=0.6)


def test_service_whose_clock_is_set_is_followed_at_the_second_answer() -> None:
    two = Two(20.0)
    two.answers(1.0)
    two.ahead = 7200.0
    assert two.answers(1.0) == pytest.approx(20.5, abs=0.6)
    assert two.answers(1.0) == pytest.approx(7200.5, abs=0.6)


def test_clock_skew_header_is_sent_where_announced() -> None:
    features = parse_features("idempotency=30d, occurred-at, clock-ahead")
    op = operation(based("O1", 0, 1), occurred_at="2026-05-28T20:10:00Z")
    assert request_headers(op, features, -20.26)["Aisle-Clock-Ahead"] == "-20.3"
    assert "Aisle-Clock-Ahead" not in request_headers(op, features)
    assert "Aisle-Clock-Ahead" not in request_headers(op, features._replace(clock_skew=False), -20.0)


# Services with wrong clocks or day filters: movements are seen all the same


SLOW_S = 1000.0
"""A little more than the slow round takes."""

Filter = Callable[[float, float], bool]
"""Whether something that changed at the one moment has changed since the other."""


def by_the_second(changed: float, since: float) -> bool:
    """As it should be."""
    return changed >= since


def by_the_day(changed: float, since: float) -> bool:
    """The time of day is ignored, and today is not after today."""
    return int(changed // 86400) > int(since // 86400)


def from_the_day(changed: float, since: float) -> bool:
    """The time of day is ignored."""
    return int(changed // 86400) >= int(since // 86400)


FOREIGN: dict[str, tuple[float, Filter, bool]] = {
    "3 h ahead": (3 * HOUR, by_the_second, False),
    "3 h behind": (-3 * HOUR, by_the_second, False),
    "25 h behind": (-25 * HOUR, by_the_second, False),
    "3 h behind, and says so": (-3 * HOUR, by_the_second, True),
    "a year behind, and says so": (-366 * 24 * HOUR, by_the_second, True),
    "a year ahead": (366 * 24 * HOUR, by_the_second, False),
    "by the day": (0.0, by_the_day, False),
    "from the day": (0.0, from_the_day, True),
}


class Foreign:
    """A service that announces nothing, with a clock and a filter of its own."""

    def __init__(self, host: Host, off: float, matches: Filter, says: bool) -> None:
        host.fake.features = ""
        self.host, self.off, self.matches, self.says = host, off, matches, says
        self.changed: dict[str, float] = {}
        self.real = host.fake._list_store_products_stock
        host.fake._list_store_products_stock = self.stock  # type: ignore[method-assign]

    @property
    def now(self) -> float:
        """What its clock says."""
        return self.host.time.now + self.off

    def move(self, product: str, quantity: int) -> None:
        """Somebody takes or brings something."""
        self.host.fake.stock[product]["most_likely_quantity"] = quantity
        self.changed[product] = self.now

    def stock(self, request: httpx.Request) -> tuple[int, Any]:
        """The list, filtered as this service understands it."""
        status, body = self.real(request)
        since = request.url.params.get("last_stock_modified_datetime")
        if since:
            asked = datetime.fromisoformat(since).astimezone(UTC).timestamp()
            body["list"] = [
                row for row in body["list"] if self.matches(self.changed.get(row["product_number"], 0.0), asked)
            ]
        if self.says:
            body["server_time"] = datetime.fromtimestamp(self.now, UTC).isoformat()
        return status, body


@pytest.mark.parametrize(
    "how",
    [
        pytest.param(how, id=name, marks=() if name in ("3 h behind", "by the day") else pytest.mark.full)
        for name, how in FOREIGN.items()
    ],
)
async def test_movements_are_seen_within_one_slow_interval(host: Host, how: tuple[float, Filter, bool]) -> None:
    foreign = Foreign(host, *how)
    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        for quantity in (3, 8, 1):
            await host.time.pass_(700)
            foreign.move("P1", quantity)
            await host.time.until(lambda: host.quantity("P1") == quantity, SLOW_S)  # noqa: B023 - used at once
        assert host.state() == "live"
        assert not courier.operator_notices.recent


async def test_the_usual_look_asks_for_little(host: Host) -> None:
    Foreign(host, 0.0, by_the_second, False)
    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        host.fake.requests.clear()
        await host.time.pass_(3600)
    looks = [
        host.time.now - datetime.fromisoformat(request.url.params["last_stock_modified_datetime"]).timestamp()
        for request in host.fake.requests
        if name_of(request) == "list-store-products-stock" and request.url.params.get("last_stock_modified_datetime")
    ]
    far = [back for back in looks if back > 7200]
    assert len(looks) - len(far) >= 50
    assert 3 <= len(far) <= 5
