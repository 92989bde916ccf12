"""A supervisor's operations wait for the user token that the PIN gives."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from aisle.client import Client, Response, RetryPolicy
from aisle.courier.courier import Courier
from aisle.courier.push.immediate_requests import SIGN_IN
from aisle.host.database import fetch, transaction
from aisle.host.notify_sockets import SECRET_PREFIX, user_of_token_name, user_token_name
from aisle.jobs.job import Request, Write
from aisle.jobs.supervisor.order_action_writes import CLOSE_LINE, REJECT, REOPEN, OrderAction, decide
from aisle.jobs.supervisor.service_fields_and_values import update_write as write_product
from aisle.outbox import requests_and_token_holders
from aisle.outbox.operation_record import UPDATE_ORDER, Author, Intent, principal_of
from aisle.service.auth.tokens_and_pins import create_token
from aisle.service.demo.seed import SUPERVISOR_PIN
from aisle.service.domain.quantities_times_and_json import format_timestamp
from tests.courier.fake_service import OWN, Fake, answer_lost, says
from tests.courier.host import URL, Host, quiet
from tests.courier.test_immediate_requests import Clearing, prove
from tests.courier.test_real_service import Shop
from tests.courier.writes import STORE, update

FRED = Author(STORE, "U6", supervisor_principal=principal_of("U6"))
PUT = "update-customer-order"
ENDED = says(401, body={"success": False, "message": "The token has ended."}, Aisle_Features=OWN)


@pytest.fixture
def desk(aisle_home: Path) -> Any:
    host = Host(aisle_home, Clearing())
    for number in ("O1", "O2"):
        host.fake.add_order(number)
    yield host
    host.close()


def reject(order: str) -> Write:
    return update(order, {}, is_rejected=True)._replace(needs_supervisor=True)


def says_fred(host: Host, *writes: Write) -> tuple[str, ...]:
    with transaction(host.desk.db):
        return host.desk.outbox.enqueue([Intent(write) for write in writes], FRED)


def sent(fake: Fake) -> list[str]:
    """With which tokens orders were written, in their order."""
    return [request.headers["authorization"] for request in fake.requests if request.method == "PUT"]


async def live(host: Host) -> None:
    await host.time.until(lambda: host.state() == "live", 60)


async def settled(host: Host, count: int) -> None:
    await host.time.until(lambda: host.desk.states() == ["done"] * count, 120)


async def test_operation_without_token_holds_only_its_lane(desk: Host) -> None:
    (mine,) = says_fred(desk, reject("O1"))
    after, beside = desk.desk.write(update("O1", {1: 1}), update("O2", {1: 1}))
    async with desk.running(desk.courier(intervals=quiet())) as courier:
        await live(desk)
        await desk.time.until(lambda: desk.desk.state(beside) == "done", 30)
        await desk.time.pass_(120)
        assert (desk.desk.state(mine), desk.desk.state(after)) == ("queued", "queued")
        assert requests_and_token_holders.operations_waiting_for_tokens(desk.desk.db, desk.time.now) == (("U6", 1),)
        assert courier.is_idle, "nothing of it can be sent"
        await prove(desk, courier)
        await settled(desk, 3)
    assert sent(desk.fake) == ["Bearer token", "Bearer freds", "Bearer token"]
    assert [body["order_number"] for _, body in desk.fake.applied] == ["O2", "O1", "O1"]


async def test_early_expired_token_is_requested_again_without_duplicate(desk: Host) -> None:
    async with desk.running(desk.courier(intervals=quiet())) as courier:
        await live(desk)
        await prove(desk, courier)
        desk.fake.fail(PUT, answer_lost, ENDED)
        (mine,) = says_fred(desk, reject("O1"))
        courier.wake()
        await desk.time.until(lambda: courier.token_store.usable_principals == ("store",), 60)
        await desk.time.pass_(120)
        row = desk.desk.outbox.get(mine)
        assert (row.state, row.has_key, desk.state()) == ("queued", 1, "live")
        assert requests_and_token_holders.count_waiting_for(desk.desk.db, "U6", desk.time.now) == 1
        (other,) = desk.desk.write(update("O2", {1: 1}))
        courier.wake()
        await desk.time.until(lambda: desk.desk.state(other) == "done", 60)
        await prove(desk, courier, name="again")
        await settled(desk, 2)
    assert len([body for _, body in desk.fake.applied if body.get("is_rejected")]) == 1


async def test_token_that_cannot_be_sent_is_removed_and_counts_as_no_try(desk: Host) -> None:
    async with desk.running(desk.courier(intervals=quiet())) as courier:
        await live(desk)
        courier.token_store.add("U6", "freds\u00e9", 900)
        (mine,) = says_fred(desk, reject("O1"))
        courier.wake()
        await desk.time.until(lambda: courier.token_store.usable_principals == ("store",), 60)
        await desk.time.pass_(120)
        row = desk.desk.outbox.get(mine)
        assert (row.state, row.attempts, desk.state()) == ("queued", 0, "live")
        await prove(desk, courier)
        await settled(desk, 1)


async def test_a_token_is_used_as_long_as_the_service_says_and_no_longer(desk: Host) -> None:
    async with desk.running(desk.courier(intervals=quiet())) as courier:
        await live(desk)
        said = await prove(desk, courier)
        assert said["until"] - desk.time.now <= 900
        await desk.time.pass_(901)
        says_fred(desk, reject("O1"))
        courier.wake()
        await desk.time.pass_(60)
        assert sent(desk.fake) == []
        assert requests_and_token_holders.count_waiting_for(desk.desk.db, "U6", desk.time.now) == 1
        await prove(desk, courier, name="again")
        await settled(desk, 1)


async def test_a_courier_that_is_gone_has_taken_the_token_with_it_and_no_work(desk: Host) -> None:
    async with desk.running(desk.courier(intervals=quiet())) as courier:
        await live(desk)
        await prove(desk, courier)
        assert requests_and_token_holders.has_token(desk.desk.db, principal_of("U6"), desk.time.now)
    says_fred(desk, reject("O1"))
    async with desk.running(desk.courier(intervals=quiet())) as courier:
        await live(desk)
        assert not requests_and_token_holders.has_token(desk.desk.db, principal_of("U6"), desk.time.now)
        await desk.time.pass_(60)
        assert desk.desk.states() == ["queued"]
        await prove(desk, courier, name="again")
        await settled(desk, 1)
    assert sent(desk.fake) == ["Bearer freds"]


async def test_a_token_got_elsewhere_on_this_host_is_told_by_word_of_mouth(desk: Host) -> None:
    says_fred(desk, reject("O1"))
    async with desk.running(desk.courier(intervals=quiet())) as courier:
        await live(desk)
        name = user_token_name("U6")
        for said in (f"{desk.time.now} freds", "soon freds", f"{desk.time.now + 900}", f"{desk.time.now + 900} freds"):
            assert sent(desk.fake) == []
            courier.receive_messages({f"{SECRET_PREFIX}{name} {said}"})
            await desk.time.pass_(5)
        await settled(desk, 1)
    assert sent(desk.fake) == ["Bearer freds"]
    assert user_of_token_name(user_token_name("U 6/é")) == "U 6/é"


async def test_any_number_of_them_that_wait_keep_no_one_else_waiting(desk: Host) -> None:
    for number in range(60):
        desk.fake.add_order(f"R{number}")
        says_fred(desk, reject(f"R{number}"))
    (other,) = desk.desk.write(update("O2", {1: 1}))
    async with desk.running(desk.courier(intervals=quiet())):
        await live(desk)
        await desk.time.until(lambda: desk.desk.state(other) == "done", 60)
    assert sent(desk.fake) == ["Bearer token"]


async def test_a_supervisors_write_is_never_one_with_work_of_staff(desk: Host) -> None:
    with transaction(desk.desk.db):
        ids = desk.desk.outbox.enqueue([Intent(update("O1", {1: 1})), Intent(reject("O1"))], FRED)
    again = desk.desk.write(update("O1", {1: 2}))
    rows = fetch(desk.desk.db, "SELECT op_id, principal FROM operation ORDER BY n")
    assert rows == [(ids[0], "store"), (ids[1], "person/U6"), (again[0], "store")]


async def test_order_claimed_for_person_is_sent_with_claimers_token(desk: Host) -> None:
    claim = update("O1", {}, is_claimed=True)._replace(user="U2", needs_supervisor=True)
    (mine,) = says_fred(desk, claim)
    row = desk.desk.outbox.get(mine)
    assert (row.principal, row.app_user, row.terminal) == ("person/U6", "U2", "")
    async with desk.running(desk.courier(intervals=quiet())) as courier:
        await live(desk)
        await prove(desk, courier)
        await settled(desk, 1)
    (request,) = [request for request in desk.fake.requests if request.method == "PUT"]
    assert (request.headers["authorization"], request.headers["aisle-app-user"]) == ("Bearer freds", "U2")


# A host with a staff token: supervisor actions use the supervisor's user token


class StaffShop(Shop):
    """The demo store, and a host that may do what staff may."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        now = format_timestamp(self.time.clock())
        made = create_token(self.service.database, name="host", role="staff", store_numbers=[STORE], now=now)
        self.token = made.secret

    def client(self, observe: Callable[[Response], None] | None = None, *, straight: bool = False) -> Client:
        if straight:
            return super().client(observe, straight=True)
        retry = RetryPolicy(tries=1)
        return Client(URL, self.token, transport=self.line, on_response=observe, retry=retry, sleep=self.time.sleep)

    def says(self, author: Author, *writes: Write) -> tuple[str, ...]:
        with transaction(self.desk.db):
            return self.desk.outbox.enqueue([Intent(write) for write in writes], author)

    async def prove(self, courier: Courier, pin: str = SUPERVISOR_PIN, name: str = "pin") -> str:
        """Fred says a PIN; what comes of it."""
        with transaction(self.desk.db):
            requests_and_token_holders.insert_request(
                self.desk.db, name, Request(SIGN_IN, {}, 30.0, secret=pin), FRED, self.time.clock()
            )
        courier.receive_messages({f"{SECRET_PREFIX}{name} {pin}"})
        await self.time.until(
            lambda: requests_and_token_holders.request_state(self.desk.db, name) == requests_and_token_holders.ANSWERED,
            60,
        )
        return str(requests_and_token_holders.read_answer(self.desk.db, name)[0][0]["answer"]["how"])

    def deed(self, order: Any, deed: OrderAction) -> Write:
        done = decide(str(order["order_number"]), order, deed, STORE, can_reject_lines=True)
        (write,) = done.writes
        assert isinstance(write, Write)
        return write


@pytest.fixture
async def shop(aisle_home: Path) -> AsyncIterator[StaffShop]:
    shop = StaffShop(aisle_home)
    yield shop
    shop.close()


def deeds(shop: StaffShop) -> list[Write]:
    """Of everything that only a supervisor may at the service, one."""
    numbers = [str(row["order_number"]) for row in shop.reads.query("orders", {"size": 40})[0]]
    orders = [shop.order(number) for number in numbers]
    fresh = [order for order in orders if not any(line["picked_quantity"] for line in order["lines"])]
    rejected, shortened = fresh[0], fresh[1]
    line = shortened["lines"][0]
    product = str(fresh[2]["lines"][0]["product_number"])
    return [
        shop.deed(rejected, OrderAction(REJECT, reason="called off")),
        shop.deed(
            shortened, OrderAction(CLOSE_LINE, reason_code="2", reason="none left", line=int(line["line_number"]))
        ),
        write_product(product, STORE, {"attention_codes": ["FROZEN"]}, {}),
        Write(
            "write-recounts",
            (f"recount/{product}",),
            {"store_number": STORE},
            {},
            {"recounts": [{"product_number": product}]},
            needs_supervisor=True,
        ),
    ]


async def test_supervisor_actions_need_user_token(shop: StaffShop) -> None:
    async with shop.courier() as courier:
        said = deeds(shop)
        mine = shop.says(Author(STORE, "U6"), *said)
        await shop.time.until(lambda: [shop.desk.state(each) for each in mine] == ["rejected"] * len(said), 120)
        assert shop.reads.link(shop.time.now).state == "live", "the host itself is let in"
        own = shop.says(FRED, *said)
        await shop.time.pass_(60)
        assert [shop.desk.state(each) for each in own] == ["queued"] * len(said)
        assert await shop.prove(courier, "1357") == "pin"
        assert await shop.prove(courier, name="right") == "done"
        await shop.time.until(lambda: [shop.desk.state(each) for each in own] == ["done"] * len(said), 120)
        await _a_changed_pin_ends_the_token(shop, courier)


async def _a_changed_pin_ends_the_token(shop: StaffShop, courier: Courier) -> None:
    """What is said under the old one waits, and goes under the new one."""
    order = next(str(op.body["orders"]["order_number"]) for op in shop.desk.all() if op.operation == UPDATE_ORDER)
    async with shop.client(straight=True) as admin:
        fred = {"badge": "BADGE-U6", "user": "U6", "name": "Fred Harper", "role": "supervisor", "pin": "97531"}
        path = f"/aisle/v1/stores/{STORE}/people"
        assert (await admin.request_extension("POST", path, body={"people": [fred]})).status == 200
    (back,) = shop.says(FRED, shop.deed(shop.order(order), OrderAction(REOPEN)))
    courier.wake()
    await shop.time.until(
        lambda: requests_and_token_holders.count_waiting_for(shop.desk.db, "U6", shop.time.now) == 1, 60
    )
    assert shop.desk.state(back) == "queued"
    assert await shop.prove(courier, name="old") == "pin"
    assert await shop.prove(courier, "97531", "new") == "done"
    await shop.time.until(lambda: shop.desk.state(back) == "done", 120)
