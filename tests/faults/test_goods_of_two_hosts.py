"""Two people on two hosts with goods of the same orders: the books have each piece where its person put it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from aisle.jobs.view import Step
from tests.courier.writes import STORE
from tests.faults.goods import CODES, ORDERS, PICK_UP
from tests.faults.host import Person
from tests.faults.world import World, world
from tests.run_length import tries

PICK_UPS = {"anna": PICK_UP, "ben": "PU-02"}
WAITS = (0.0, 0.5, 2.0, 30.0)


class Pickers:
    """Both people and what each has in hand and has put down."""

    def __init__(self, shop: World, dice: Random, people: list[Person]) -> None:
        self.shop, self.dice, self.people = shop, dice, people
        self.in_hand: dict[str, Counter[str]] = {person.user: Counter() for person in people}
        self.put_down: dict[str, Counter[str]] = {person.user: Counter() for person in people}

    async def wait(self) -> None:
        """Some time passes, or all that is known arrives."""
        await self.shop.step(self.dice.choice(WAITS))
        if self.dice.random() < 0.3:
            await self.shop.quiet()
        for person in self.people:
            person.look()

    async def pick(self, order: str) -> None:
        """Each picks a share of each line, one after the other or mixed."""
        pieces = [
            (self.dice.choice(self.people), product) for product, quantity in ORDERS[order] for _ in range(quantity)
        ]
        self.dice.shuffle(pieces)
        for person, product in pieces:
            person.say(CODES[product])
            if person.told[1] == "pick.which_location":
                view = person.frame.view
                assert isinstance(view, Step)
                person.say(view.choice_letters[0])
            assert person.told[0] == "good", (person.told, person.frame.view)
            self.in_hand[person.user][product] += 1
            if self.dice.random() < 0.3:
                await self.wait()

    async def put_all_down(self) -> None:
        """Each puts down what is in their own hand; sometimes they take it up again."""
        await self.shop.quiet()
        waiting = self.dice.sample(self.people, len(self.people))
        while waiting:
            person = waiting.pop()
            person.look()
            had = self.in_hand[person.user]
            if had:
                person.say(PICK_UPS[person.user])
                assert person.told == ("good", "pick.put_down"), (person.told, person.frame.view)
            if had and self.dice.random() < 0.3:
                await self.wait()
                person.say("u")
                waiting.insert(0, person)
            else:
                self.put_down[person.user] += had
                had.clear()
            await self.wait()


@pytest.mark.parametrize("seed", range(tries(2, 200)))
async def test_goods_lie_where_their_person_put_them(memory: Path, seed: int) -> None:
    dice = Random(seed)
    async with world(memory, seed=seed) as shop:
        async with shop.integrator() as client:
            place = {"store_number": STORE, "location_code": PICK_UPS["ben"], "location_order": 9}
            await client.request_extension("POST", "/aisle/v1/locations", body={"locations": [place]})
        other = await shop.add_host()
        await shop.quiet()
        people = [shop.host.person("dock-1", "anna"), other.person("dock-2", "ben")]
        pickers = Pickers(shop, dice, people)
        for order in dice.sample(("O-1", "O-2", "O-3"), 2):
            for person in dice.sample(people, 2):
                person.home()
                person.say(order)
                if "pick.choice_take_over" in [choice.id for choice in person.frame.view.choices]:
                    person.answer("pick.choice_take_over")
                await shop.quiet()
            for person in people:
                person.look()
                if "pick.choice_both_pick" in [choice.id for choice in person.frame.view.choices]:
                    person.answer("pick.choice_both_pick")
            await pickers.pick(order)
            await pickers.put_all_down()
        await shop.quiet()
        shop.check()
        lying = {spot: int(quantity) for spot, quantity in shop.lying().items() if spot[1] in PICK_UPS.values()}
        expected = {
            (product, PICK_UPS[user]): quantity
            for user, goods in pickers.put_down.items()
            for product, quantity in goods.items()
        }
        assert {spot: quantity for spot, quantity in lying.items() if quantity} == expected
