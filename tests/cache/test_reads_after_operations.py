"""After any sequence of operations, a reader that polls sees what a new reader sees."""

from __future__ import annotations

from contextlib import closing
from decimal import Decimal
from random import Random
from typing import Any

import apsw
import pytest

from aisle.cache.pending_operations import Overlay
from aisle.cache.reader import CacheReader
from aisle.cache.writer import CacheWriter
from aisle.host.database import transaction
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import ARRIVED, CLOSED_BY_HAND, DIFFERENCE, OVERAGE, RESEND, Resolve, Write
from aisle.named_tuple_json import to_text
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.operation_record import (
    CONFIRMED,
    CREATE_LOGS,
    CREATE_MOVEMENT,
    IN_DOUBT,
    NEEDS_PERSON,
    QUEUED,
    REFUSED,
    SENDING,
    UPDATE_ORDER,
    Operation,
)
from aisle.stored_messages import store_text
from tests.cache.test_repeated_reads import ORDERS, PLACE, PRODUCTS, fill, pending, seen
from tests.clock import Clock
from tests.run_length import tries
from tests.writes import ANNA, BEN, STORE, intents, movement, update

STEPS = tries(100, 300)
SELDOM = 25
"""Steps after which all pages are looked at, too."""
AT_WORK = 3
"""So many of the oldest may be next: much happens to one of them between two looks."""
WHY = store_text("no")
PAGES = ("orders", "locations", "needing_person", "open_work", "unconfirmed", "order_board", "deliveries")


def write(random: Random) -> Write:
    """Picks, movements of several goods, counts."""
    number, product = random.choice(ORDERS), random.choice(PRODUCTS)
    kind = random.randrange(4)
    if kind < 2:
        picks = update(number, {random.randint(1, 3): random.randint(0, 5)}, is_rejected=random.random() < 0.2)
        for line in picks.body["orders"]["order_lines"] if kind else ():
            line |= {"base_picked_quantity": Decimal(random.randint(0, 5)), "preferred_location_code": PLACE}
        return picks
    if kind == 2:
        moved = movement(number, product)
        items = [*moved.body, *movement(number, random.choice(PRODUCTS)).body][: random.randint(1, 2)]
        return moved._replace(lanes=(f"order/{number}", *(f"product/{each}" for each in PRODUCTS)), body=items)
    counts = [
        {
            "product_number": each,
            "location_code": PLACE,
            "counted_quantity": Decimal(3),
            "expected_quantity": Decimal(2),
        }
        for each in (product, random.choice(PRODUCTS))
    ]
    query = {"is_counted_quantity": True}
    return Write(CREATE_LOGS, (f"product/{product}",), {"store_number": STORE}, query, {"storeproductlog": counts})


class World:
    """An outbox to which something happens."""

    def __init__(self, connection: apsw.Connection, clock: Clock, random: Random) -> None:
        self.outbox, self._db, self._random = OperationQueue(connection, clock=clock), connection, random

    def turn(self) -> None:
        """One thing happens."""
        waiting = self.outbox.live_operations()
        if len(waiting) < AT_WORK or self._random.random() < 0.1:
            self._write()
            return
        op = self._random.choice(waiting[:AT_WORK])
        {
            QUEUED: self._queued,
            SENDING: self._sent,
            IN_DOUBT: self._doubtful,
            NEEDS_PERSON: self._asked,
            REFUSED: self._asked,
            CONFIRMED: self._done,
        }[op.state](op)

    def _write(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")
        self.outbox.enqueue(intents(write(self._random), write(self._random)), self._random.choice((ANNA, BEN)))
        self._db.execute(self._random.choice(("COMMIT", "COMMIT", "ROLLBACK")))

    def _queued(self, op: Operation) -> None:
        if self._random.random() < 0.2:
            self.outbox.split_operation(op.op_id)
        elif self._random.random() < 0.1:
            self.outbox.ask_person(op.op_id, WHY, evidence=self._evidence())
        else:
            self.outbox.begin_sending(op.op_id, self._frozen(op), evidence=self._evidence())

    def _sent(self, op: Operation) -> None:
        how = self._random.randrange(6)
        if how == 0:
            self.outbox.refuse(op.op_id, WHY)
        elif how == 1:
            self.outbox.retry_later(op.op_id, WHY, 0)
        elif how == 2:
            self.outbox.confirm(op.op_id, evidence=self._evidence())
        else:
            self.outbox.mark_in_doubt(op.op_id, WHY, evidence=self._evidence())

    def _doubtful(self, op: Operation) -> None:
        how = self._random.randrange(5)
        if how < 2:
            several = len(op.body if op.operation == CREATE_MOVEMENT else op.body.get("storeproductlog", ())) > 1
            as_sent = update(op.body["orders"]["order_number"], {1: 4}).body if op.operation == UPDATE_ORDER else None
            self.outbox.requeue(op.op_id, WHY, {}, (0,) if several else (), as_sent)
        elif how == 2:
            self.outbox.record_lookup(op.op_id, self._evidence() or {}, 0)
        elif how == 3:
            self.outbox.ask_person(op.op_id, WHY, evidence=self._evidence())
        else:
            self.outbox.confirm(op.op_id)

    def _asked(self, op: Operation) -> None:
        how = self._random.choice((ARRIVED, RESEND, RESEND, CLOSED_BY_HAND, DIFFERENCE, OVERAGE))
        with transaction(self._db):
            self.outbox.resolve(Resolve(op.op_id, how, "so it is"), "U2")

    def _done(self, op: Operation) -> None:
        how = self._random.randrange(8)
        if how == 0:
            self.outbox.mark_absent(op.op_id, WHY, self._evidence() or {}, settling_s=0, lookup_after_s=0)
        elif how == 1:
            self.outbox.replay([op.op_id], "noticed")
        else:
            self.outbox.mark_read_back(op.op_id)

    def _frozen(self, op: Operation) -> bytes:
        lines = op.body["orders"]["order_lines"] if op.operation == UPDATE_ORDER else ()
        said = [{"line_number": each["line_number"], "picked_quantity": 2} for each in lines]
        return to_text({"orders": {"order_lines": said}}).encode()

    def _evidence(self) -> Any:
        """What may be read at the service: there, not there, or nothing at all."""
        stock = [{each: {PLACE: self._random.randint(0, 2)} for each in PRODUCTS} for _ in range(2)]
        lines = [{"lines": {str(each): {"picked_quantity": at} for each in (1, 2, 3)}} for at in (1, 2)]
        before, after = ({"stock": had, "order": order} for had, order in zip(stock, lines, strict=True))
        found = {"before": before, "after": after, "looked_at": self._random.random()}
        return found if self._random.random() < 0.8 else None


def pages(reads: CacheReader) -> list[Any]:
    """What all kinds of pages show."""
    return [
        seen(reads),
        *(reads.query(name, {}) for name in PAGES),
        *(reads.query("orders_with_product", {"product_number": number}) for number in PRODUCTS),
        reads.query("locations_of_products", {"product_numbers": PRODUCTS}),
        reads.query("location_use", {"location_code": PLACE}),
        reads.query("location_use", {"location_code": "B-1"}),
    ]


@pytest.mark.parametrize("seed", range(2))
def test_occasional_reads_see_every_operation_outcome(
    home: StoreFolder, outbox_db: apsw.Connection, cache: CacheWriter, reads: CacheReader, clock: Clock, seed: int
) -> None:
    random = Random(seed)
    world = World(outbox_db, clock, random)
    fill(cache, random, clock())
    with closing(open_outbox(home.folder)) as elsewhere:
        looks = ((0.5, Overlay(elsewhere)), (0.2, Overlay(outbox_db)))
        for step in range(STEPS):
            clock.pass_(1)
            world.turn()
            fresh = Overlay(elsewhere)
            there = pending(fresh)
            for often, overlay in looks:
                assert random.random() > often or pending(overlay) == there
            if step % SELDOM == 0:
                fill(cache, random, clock())
                with closing(CacheReader(home, elsewhere)) as newcomer:
                    assert pages(reads) == pages(newcomer)
