"""The fault program at a service of the document alone: a life of a shop, and what was said against what it did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

from aisle.outbox.operation_record import CLOSED, CREATE_LOGS, CREATE_MOVEMENT, REFUSED, UPDATE_ORDER, Operation
from aisle.outbox.outcomes_and_reversals import UNREVERSED, as_left
from aisle.stored_messages import is_stored_message
from tests.faults import link
from tests.faults.document_host import Foreign, foreign, live_operations, quantity_of
from tests.faults.document_service import Document, Ways
from tests.faults.goods import CODES, GOODS
from tests.faults.random_faults import WEIGHTS, Weather
from tests.faults.store_run import Life, Lines, unhurried
from tests.faults.tally import Tally

TAIL_S, LONGEST_S = 25.0, 110.0
"""What is late comes so much later on average, and at the most: less than the settling time."""

RAGES = 0.05
"""The share of the lists that a hostile service answers in a whim."""

Spots = Counter[tuple[str, str]]


class Drizzle(Weather):
    """Weather without copies that come when other writes have come in between: no sender can help those here.

    What a copy that comes at once does is booked apart by the service: it must not lead the courier astray.
    """

    def __init__(self, random: Random) -> None:
        weights = {**WEIGHTS, link.CANCEL_BEFORE: 3, link.CANCEL_AFTER: 3}
        super().__init__(
            random,
            writes=0.7,
            reads=0.35,
            copies=0.0,
            tail_s=TAIL_S,
            longest_s=LONGEST_S,
            weights=weights,
            statements=4,
        )


class ForeignProgram(Life):
    """One life of a shop."""

    shop: Foreign
    apart = True
    """Between the courier's look at an order and its write somebody else may write: the document has no help there."""

    def __init__(self, shop: Foreign, weather: Weather) -> None:
        super().__init__(shop, weather, {**CODES, **GOODS})

    @property
    def crashes(self) -> int:
        """See Life."""
        return self.shop.transport.crashes

    async def create_orders(self, orders: Mapping[str, Lines]) -> None:
        """See Life."""
        for number, lines in orders.items():
            self.shop.transport.add_order(number, lines)

    async def round(self) -> None:
        """See Life; now and then a supervisor works off the list of doubts."""
        await super().round()
        if self.shop.random.random() < 0.1:
            self.shop.work_off()

    async def quiet(self) -> None:
        """See Life."""
        await self.shop.quiet()

    def check(self) -> None:
        """See Life."""
        self.shop.check()
        operations = live_operations(self.shop.hosts)
        undone = [as_left(op) for op in operations if op.state in (REFUSED, CLOSED) and not _is_withdrawn(op)]
        picked: Spots = Counter()
        for number, order in self.shop.transport.orders.items():
            for each in order["lines"].values():
                picked[number, each["product_number"]] += each["picked_quantity"]
        for op in undone:
            picked.update(_picked(op) if op.operation == UPDATE_ORDER else {})
        assert _plain(picked) == _plain(self.said.picked), _differing(picked, self.said.picked)
        carried_out = [op for op in operations if op.state not in (REFUSED, CLOSED) and not self.shop.missing(op)]
        for name, effect, said in ((CREATE_MOVEMENT, _moved, self.said.moved), (CREATE_LOGS, _lost, self.said.lost)):
            booked: Spots = Counter()
            for op in (*undone, *carried_out):
                booked.update(effect(op) if op.operation == name else {})
            assert _plain(booked) == _plain(said), _differing(booked, said)

    def tally(self) -> Tally:
        """See Life."""
        return super().tally()._replace(asked=self.shop.settled.total())


def _is_withdrawn(op: Operation) -> bool:
    """Return True if nothing is left of an operation: it reverses a refused one, or its reversal was withdrawn."""
    is_reversal = is_stored_message(op.last_error, "stored_reason.undoes_refused")
    return is_reversal or (UNREVERSED in op.evidence and op.evidence[UNREVERSED] is None)


def _plain(counts: Spots) -> dict[tuple[str, str], int]:
    return {key: count for key, count in counts.items() if count}


def _differing(booked: Spots, said: Spots) -> str:
    keys = [key for key in {**booked, **said} if booked[key] != said[key]]
    return "; ".join(f"{key}: said {said[key]}, booked {booked[key]}" for key in keys[:5])


def _picked(op: Operation) -> Spots:
    """What an update that was not carried out would have done."""
    order = op.body["orders"]
    shares: Spots = Counter()
    for each in order.get("order_lines", ()):
        if "base_picked_quantity" in each:
            share = int(each["picked_quantity"]) - int(each["base_picked_quantity"])
            shares[order["order_number"], each["product_number"]] += share
    return shares


def _moved(op: Operation) -> Spots:
    """What a movement between places does."""
    shifts: Spots = Counter()
    for item in op.body:
        if "customer_order_number" not in item["from_location"]:
            shifts[item["product_number"], item["from_location"]["location_code"]] -= int(item["quantity"])
            shifts[item["product_number"], item["to_location"]["location_code"]] += int(item["quantity"])
    return shifts


def _lost(op: Operation) -> Spots:
    """What entries that are no counts do."""
    shifts: Spots = Counter()
    for entry in () if op.query.get("is_counted_quantity") else op.body["storeproductlog"]:
        shifts[entry["product_number"], entry.get("location_code", "")] += quantity_of(entry)
    return shifts


async def life(
    folder: Path,
    seed: int,
    faults: int,
    weather: Callable[[Random], Weather] = Drizzle,
    make: Callable[[Ways, Callable[[], float]], Document] = Document,
) -> Tally:
    """One life of a shop with so many faults, at a service of the document alone. Raises AssertionError."""
    with unhurried():
        async with foreign(folder, seed=seed, make=make) as shop:
            program = ForeignProgram(shop, weather(shop.random))
            await program.people()
            shop.transport.rages = RAGES
            return await program.live(faults)
