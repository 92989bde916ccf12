"""Two people on two hosts in one delivery: nobody books what the other has received without a question or a word."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from tests.courier.writes import STORE
from tests.faults.goods import CODES
from tests.faults.host import Person
from tests.faults.world import World, world
from tests.run_length import tries

ANNOUNCED = {"P1": 8, "P2": 12, "P3": 6}
LOCATIONS = {"anna": "A-1", "ben": "B-1"}
WAITS = (0.0, 0.5, 2.0, 30.0)
WARNINGS = ("receive.surplus", "receive.surplus_in_hand", "receive.received_meanwhile", "receive.all_received")


class Receivers:
    """Two people who both count all goods of a delivery, and what each booked."""

    def __init__(self, shop: World, dice: Random, people: list[Person]) -> None:
        self.shop, self.dice, self.people = shop, dice, people
        self.booked: dict[str, Counter[str]] = {person.user: Counter() for person in people}
        self.warned: set[str] = set()
        """Products of which somebody was told or asked that too much came."""

    async def wait(self, product: str) -> None:
        """Some time passes, or all that is known arrives."""
        await self.shop.step(self.dice.choice(WAITS))
        if self.dice.random() < 0.4:
            await self.shop.quiet()
        self.look(product)

    def look(self, product: str) -> None:
        for person in self.people:
            person.look()
            if person.told[1] in WARNINGS:
                self.warned.add(product)

    async def receive(self, product: str) -> None:
        """Each counts all of a product, and puts it away unless it is asked about and set aside."""
        for person in self.dice.sample(self.people, 2):
            person.say(CODES[product])
            self.look(product)
            if person.told[1] == "receive.all_received":
                person.answer("receive.choice_set_aside")
                continue
            person.say(str(ANNOUNCED[product]))
            await self.wait(product)
        for person in self.dice.sample(self.people, 2):
            person.say(LOCATIONS[person.user])
            self.look(product)
            if person.told[1] == "receive.received_meanwhile":
                person.answer("receive.choice_set_aside")
            elif person.told[1] in ("receive.put", "receive.put_last"):
                self.booked[person.user][product] += ANNOUNCED[product]
            await self.wait(product)


async def _announce(shop: World) -> None:
    lines = [{"product_number": product, "quantity": quantity} for product, quantity in ANNOUNCED.items()]
    order = {"order_number": "D-1", "no_of_containers": 1, "supplier_name": "Hansen", "order_lines": lines}
    async with shop.integrator() as client:
        await client.call("create-store-deliveries", {"orders": [order]}, store_number=STORE)


@pytest.mark.parametrize("seed", range(tries(2, 200)))
async def test_no_receiver_books_in_silence_what_the_other_received(memory: Path, seed: int) -> None:
    dice = Random(seed)
    async with world(memory, seed=seed) as shop:
        await _announce(shop)
        other = await shop.add_host()
        await shop.quiet()
        before = shop.lying()
        people = [shop.host.person("dock-1", "anna"), other.person("dock-2", "ben")]
        for person in people:
            person.home()
            person.say("D-1")
            assert person.at == "receive.goods", person.frame.view
        receivers = Receivers(shop, dice, people)
        for product in dice.sample(list(ANNOUNCED), 3):
            await receivers.receive(product)
            await shop.quiet()
            receivers.look(product)
        shop.check()
        added = {spot: quantity - before.get(spot, 0) for spot, quantity in shop.lying().items()}
        expected = {
            (product, LOCATIONS[user]): quantity
            for user, goods in receivers.booked.items()
            for product, quantity in goods.items()
        }
        assert {spot: quantity for spot, quantity in added.items() if quantity} == expected
        came = sum(receivers.booked.values(), Counter())
        assert {product for product in ANNOUNCED if came[product] > ANNOUNCED[product]} <= receivers.warned
        assert all(came[product] >= quantity for product, quantity in ANNOUNCED.items())
