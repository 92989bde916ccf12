"""Two hosts pick different lines of the same orders, at a slow service of the document alone: once it was seen that
lines which are not named stay, no update says a line again that is another host's."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import httpx
import pytest

from aisle.outbox.observed_behaviour import KEEPS_OMITTED_LINES, YES
from aisle.outbox.operation_record import UPDATE_ORDER
from tests.faults.document_host import Foreign, foreign
from tests.faults.document_service import OP, Document, Ways
from tests.faults.goods import CODES
from tests.faults.host import Host
from tests.faults.link import SLOW, Fault
from tests.run_length import tries

LATENCY_S = 0.7
ORDERS = 4
MINE = {0: ("P1", "P2"), 1: ("P3", "P4")}
"""By host: the products whose lines its people pick."""
ROUNDS = tries(40, 1_000)


class Noting(Document):
    """Notes which lines each update named, by the operation that it was."""

    updates: list[tuple[str, set[int]]]

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if request.method == "PUT" and "orders" in (said := json.loads(request.content)):
            lines = {line["line_number"] for line in said["orders"].get("order_lines") or ()}
            self.updates.append((request.headers[OP], lines))
        return await super().handle_async_request(request)


def _knows(host: Host) -> bool:
    """Whether all orders have come."""
    numbers = [*(f"S-{n}" for n in range(ORDERS)), "L-0", "L-1"]
    found = [host.query("order", order_number=number) for number in numbers]
    return all(rows and all(row["lines"] for row in rows) for rows in found)


async def _learn(shop: Foreign, host: Host, order: str) -> None:
    """A host finds out what the service does, by an order of its own."""
    person = host.person(f"dock-{shop.hosts.index(host)}", "anna")
    person.home()
    person.say(order, CODES["P1"])
    assert person.at.startswith("pick."), person.frame.view
    courier = host.courier
    assert courier is not None
    await shop.time.until(lambda: courier.observations.get(KEEPS_OMITTED_LINES) == YES, 600)
    person.home()
    await shop.time.until(lambda: not host.outbox.unfinished(), 600)


@pytest.mark.parametrize("seed", range(tries(1, 20)))
async def test_no_line_of_another_host_is_said_again(memory: Path, seed: int) -> None:
    dice = Random(seed)
    async with foreign(memory, seed=seed, make=lambda _, clock: Noting(Ways(), clock)) as shop:
        service = shop.transport
        assert isinstance(service, Noting)
        service.updates = []
        lines = tuple((product, 9) for product in CODES)
        for n in range(ORDERS):
            service.add_order(f"S-{n}", lines)
        service.add_order("L-0", lines)
        service.add_order("L-1", lines)
        other = await shop.add_host()
        await shop.time.until(lambda: all(_knows(host) for host in shop.hosts), 600)
        for host in shop.hosts:
            host.line.plan = lambda _: Fault(SLOW, LATENCY_S)
        for n, host in enumerate((shop.host, other)):
            await _learn(shop, host, f"L-{n}")
        service.updates.clear()
        people = [host.people[0] for host in shop.hosts]
        for _ in range(ROUNDS):
            n = dice.randrange(2)
            person = people[n]
            if dice.random() < 0.2 or not person.at.startswith("pick."):
                person.home()
                person.say(f"S-{dice.randrange(ORDERS)}")
            if person.at.startswith("pick."):
                person.say(CODES[dice.choice(MINE[n])])
            await shop.step(dice.choice((0.0, 0.2, 0.7, 2.0)))
        await shop.quiet()
        shop.check()
        operations = {op.op_id: op for host in shop.hosts for op in host.operations() if op.operation == UPDATE_ORDER}
        assert service.updates
        for op_id, named in service.updates:
            own = {line["line_number"] for line in operations[op_id].body["orders"].get("order_lines") or ()}
            assert named == own, "it says what another host may have changed"
