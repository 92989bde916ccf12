"""A host with a staff token: supervisor actions use the supervisor's user token."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from aisle.client import Client, Response, RetryPolicy
from aisle.courier.courier import Courier
from aisle.courier.push.immediate_requests import SIGN_IN
from aisle.host.database import transaction
from aisle.host.notify_sockets import SECRET_PREFIX
from aisle.jobs.job import Request, Write
from aisle.jobs.order_operations import CLOSE_LINE, REJECT, REOPEN, OrderAction, decide
from aisle.jobs.supervisor.store_product_fields import update_write as write_product
from aisle.outbox import session_requests, user_token_owners
from aisle.outbox.operation_record import UPDATE_ORDER, Author, Intent, principal_of
from aisle.service.auth.tokens import create_token
from aisle.service.demo.store import SUPERVISOR_PIN
from aisle.service.domain.timestamps import format_timestamp
from tests.courier.host import URL
from tests.courier.test_real_service import Shop
from tests.courier.writes import STORE

FRED = Author(STORE, "U6", supervisor_principal=principal_of("U6"))


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
            session_requests.insert_request(
                self.desk.db, name, Request(SIGN_IN, {}, 30.0, secret=pin), FRED, self.time.clock()
            )
        courier.receive_messages({f"{SECRET_PREFIX}{name} {pin}"})
        await self.time.until(
            lambda: session_requests.request_state(self.desk.db, name) == session_requests.ANSWERED, 60
        )
        return str(session_requests.read_answer(self.desk.db, name)[0][0]["answer"]["how"])

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
    await shop.time.until(lambda: user_token_owners.count_waiting_for(shop.desk.db, "U6", shop.time.now) == 1, 60)
    assert shop.desk.state(back) == "queued"
    assert await shop.prove(courier, name="old") == "pin"
    assert await shop.prove(courier, "97531", "new") == "done"
    await shop.time.until(lambda: shop.desk.state(back) == "done", 120)
