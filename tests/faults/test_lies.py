"""A full host whose service lies, by a proxy before it: people work on, and once it is honest the books agree.

    AISLE_LIES=3x1200 AISLE_FULL=1 python -m pytest -s -m full tests/faults/test_lies.py

has the run be one of 3 sessions and 1,200 seconds; each lie is told as long as any other.
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest

from aisle.outbox.merge_and_rebase import BASE
from aisle.outbox.operation_record import CONFIRMED, UPDATE_ORDER, Operation
from aisle.service.db.database_interface import Transaction
from aisle.service.open_service_and_admin_token import open_service
from tests.faults import checker, soak, staff
from tests.faults.host_results import Desk, Store, percentile, watched
from tests.faults.lying_proxy import HONEST, LIES, LyingProxy
from tests.faults.test_soak import worked
from tests.faults.world import World
from tests.terminal.harness import python
from tests.terminal.service_process import Served

SESSIONS, _, SECONDS = os.environ.get("AISLE_LIES", "3x300").partition("x")
PLAN = soak.Plan(int(SESSIONS), float(SECONDS), (0.2, 0.6), 160)
SEED = 50
SETTLED_S = 300.0
"""Seconds within which all is sent once the service is honest: settling times and backoffs are shorter."""
Lines = dict[tuple[str, int], tuple[int, int]]


class Confused(staff.Somebody):
    """A person whose screen may show anything, and who leaves what cannot be done."""

    def go_home(self) -> None:
        """See Somebody."""
        for n in range(40):
            if self.at == "home":
                return
            self.say("y" if self.at == "pick.return" and n % 2 == 0 else "x" if self.at == "count.leave" else "b")
        raise AssertionError(self.frame.view)

    def pick(self, until: float) -> None:
        """See Somebody."""
        self._try(super().pick, until)

    def count(self, until: float) -> None:
        """See Somebody."""
        self._try(super().count, until)

    def move(self, until: float) -> None:
        """See Somebody."""
        self._try(super().move, until)

    def _try(self, job: Callable[[float], None], until: float) -> None:
        try:
            job(until)
        except (ValueError, IndexError):  # the menu has no such job
            self.say("b")


@contextmanager
def lied(proxy: LyingProxy) -> Iterator[None]:
    """Each lie in turn, until the block ends; then it is honest."""
    ended = threading.Event()

    def lie() -> None:
        for each in LIES:
            proxy.lie = each
            if ended.wait(PLAN.seconds / len(LIES)):
                return

    liar = threading.Thread(target=lie)
    liar.start()
    try:
        yield
    finally:
        ended.set()
        liar.join()
        proxy.lie = HONEST


@pytest.mark.full
def test_a_host_of_a_lying_service(
    aisle_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(staff, "Somebody", Confused)
    secret = tmp_path / "secret"
    secret.touch(0o600)
    secret.write_text(asyncio.run(soak.fill(tmp_path / "shop", PLAN, SEED)))
    address = f"sqlite:///{soak.database(tmp_path)}"
    serve = python("-m", "aisle", "serve", "--database", address, "--port", "{port}", "--rate", "0")
    with Served(*serve) as served, LyingProxy(served.url, Random(SEED)) as proxy:
        courier = soak.courier_command(proxy.url, secret)
        home = soak.host(aisle_home, proxy.url, courier)
        with lied(proxy):
            lines = worked(home, courier, PLAN)
        with closing(Desk(home)) as desk:
            soak.until(lambda: soak.holds(lambda: _check(tmp_path, desk)), SETTLED_S)
            with capsys.disabled():
                _tell(lines, desk, proxy)


def _tell(lines: Sequence[list[str]], desk: Desk, proxy: LyingProxy) -> None:
    took = [said.took_ms for each in lines for said in watched(each).said]
    states = Counter(op.state for op in desk.operations() if not op.superseded_by)
    print(f"\n{len(took)} inputs, p99 {percentile(took, 0.99):.0f} ms, longest {max(took):.0f} ms; {dict(states)}")
    print(f"lies {dict(proxy.told)}")


def _check(folder: Path, desk: Desk) -> None:
    """The books of the service agree with the outbox. Raises AssertionError."""
    with closing(open_service(soak.database(folder))) as service:
        checker.booked(cast(World, Store(service, service.database, (desk,))))
        lines = service.database.read_now(_lines)
    assert {key: picked for key, (_, picked) in lines.items()} == picked_by(desk.operations(), lines)


async def _lines(tx: Transaction) -> Lines:
    rows = await tx.all("SELECT order_number, line_number, quantity, picked FROM order_line")
    return {(row[0], row[1]): (row[2], row[3]) for row in rows}


def picked_by(operations: Sequence[Operation], lines: Lines) -> dict[tuple[str, int], int]:
    """What confirmed updates make of each line, in thousandths."""
    found: dict[tuple[str, int], int] = defaultdict(int, dict.fromkeys(lines, 0))
    for op in operations:
        if op.operation == UPDATE_ORDER and op.state == CONFIRMED and op.sent_body is not None:
            order: dict[str, Any] = json.loads(op.sent_body)["orders"]
            for change in order.get("order_lines", ()):
                if "picked_quantity" in change:
                    key = (order["order_number"], change["line_number"])
                    before = found[key] if BASE in change else 0
                    picked = before + round(1000 * (change["picked_quantity"] - change.get(BASE, 0)))
                    found[key] = max(0, min(picked, lines[key][0]))
    return dict(found)
