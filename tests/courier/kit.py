"""What the tests of this room share: time that runs as fast as the work, and writes as jobs make them."""

import asyncio
import heapq
from collections.abc import Callable, Mapping
from decimal import Decimal
from itertools import count
from pathlib import Path
from time import monotonic
from typing import Any

import apsw

from aisle.host.database import transaction
from aisle.jobs.job import Write
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.operation_record import Author, Intent, Operation

STORE = "0001"
ANNA = Author(STORE, "U1")
START = 1_800_000_000.0
"""Noon of some day."""

_REAL_LIMIT_S = 60.0
_SETTLE = 40
"""Turns of the loop after which nothing is left to do but to wait for time, a request or a thread."""


class Time:
    """A clock and a sleep. Nobody waits: time jumps to the next sleeper once all others have nothing to do."""

    def __init__(self) -> None:
        self.now = START
        self.busy: Callable[[], object] = lambda: False
        """Whether somebody is at work whom the loop does not see, such as a service with threads."""
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = count()

    def clock(self) -> float:
        """Seconds since 1970."""
        return self.now

    async def sleep(self, seconds: float) -> None:
        """Returns when time has come that far."""
        awake = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self.now + seconds, next(self._order), awake))
        await awake

    async def until(self, condition: Callable[[], object], within_s: float = 3600.0) -> None:
        """Lets time pass until the condition holds; fails when it does not within so many of its seconds."""
        end, real_end = self.now + within_s, monotonic() + _REAL_LIMIT_S
        while not condition():
            assert monotonic() < real_end, "what was waited for does not happen"
            for _ in range(_SETTLE):
                await asyncio.sleep(0)
                if condition():
                    return
            if self.busy():
                await asyncio.sleep(0.0005)
            else:
                self._jump(end)

    async def pass_(self, seconds: float) -> None:
        """Lets so many seconds pass."""
        end = self.now + seconds
        mark: list[bool] = []
        waking = asyncio.ensure_future(self.sleep(seconds))
        waking.add_done_callback(lambda _: mark.append(True))
        await self.until(lambda: mark, seconds + 1)
        assert self.now >= end

    def wake_due(self) -> None:
        """Wakes whose time has come, in the order in which it came; when people work, it passes without that."""
        while self._sleepers and self._sleepers[0][0] <= self.now:
            _, _, awake = heapq.heappop(self._sleepers)
            if not awake.done():
                awake.set_result(None)

    def _jump(self, end: float) -> None:
        while self._sleepers and self._sleepers[0][2].done():
            heapq.heappop(self._sleepers)
        if not self._sleepers:
            return  # a thread or a socket is at work
        at, _, awake = heapq.heappop(self._sleepers)
        assert at <= end, f"nothing that was waited for happened; the next sleeper wakes {at - end:.1f} s too late"
        self.now = max(self.now, at)
        awake.set_result(None)


def update(order: str, lines: Mapping[int, int | str], *, place: str = "", **header: Any) -> Write:
    """An update of an order as the pick job writes it: what each line stands at; line n is of product Pn."""
    body = []
    for line, picked in lines.items():
        entry = {"line_number": line, "product_number": f"P{line}", "picked_quantity": Decimal(picked)}
        body.append({**entry, "preferred_location_code": place, "stock_pool": 1} if place else entry)
    lane = f"order/{order}"
    orders = {"order_number": order, **header, "order_lines": body}
    return Write("update-customer-order", (lane,), {"store_number": STORE}, {}, {"orders": orders}, merge_key=lane)


def movement(product: str, quantity: int | str, frm: str, to: str, reference: str = "") -> Write:
    """A movement between two places."""
    item = {"product_number": product, "quantity": Decimal(quantity)}
    item |= {"from_location": {"location_code": frm}, "to_location": {"location_code": to}}
    item |= {"reference": reference} if reference else {}
    return Write("create-movement", (f"product/{product}",), {"store_number": STORE}, {"AppUserName": "U1"}, [item])


class Desk:
    """A session's side of the outbox: writes go in here, in transactions of their own."""

    def __init__(self, folder: Path, clock: Callable[[], float]) -> None:
        self.db: apsw.Connection = open_outbox(folder)
        self.outbox = OperationQueue(self.db, clock=clock)

    def write(self, *writes: Write, occurred: str = "2027-01-15T11:59:00Z") -> tuple[str, ...]:
        """Puts these writes into the outbox in one transaction; their op_ids."""
        with transaction(self.db):
            return self.outbox.enqueue([Intent(write, "JOB", 1, occurred) for write in writes], ANNA)

    def state(self, op_id: str) -> str:
        """The state of an operation."""
        return self.outbox.get(op_id).state

    def states(self) -> list[str]:
        """The states of all operations, oldest first."""
        return [op.state for op in self.all()]

    def all(self) -> list[Operation]:
        """All operations, oldest first."""
        return list(self.outbox.recent())[::-1]

    def is_read_back(self, op_id: str) -> bool:
        """Whether its effect is in the cache."""
        return self.outbox.get(op_id).read_back_at is not None

    def close(self) -> None:
        """Closes the database."""
        self.db.close()
