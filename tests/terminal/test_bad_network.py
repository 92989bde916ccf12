"""Somebody picks while the network between courier and service does its worst: when it is over, all arrives by itself.

One seed again: `AISLE_FULL=1 python -m pytest "tests/terminal/test_bad_network.py::test_what_was_picked_arrives[7]"`.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from random import Random

import pytest

from tests.faults.proxy import FINE, GONE, STORMS, Proxy
from tests.run_length import tries
from tests.terminal.picker import Picker
from tests.terminal.service_process import counting_service, read_book
from tests.terminal.shop import Shop, door, on_this_host

pytestmark = pytest.mark.pty

Pick = Callable[..., Picker]

ORDERS = tries(1, 3)
LINES = 4
EACH = 3
DRAIN_S = 120.0
"""How long the outbox may take after the last fault: the longest waits between two tries are 60 s."""

SEEDS = [pytest.param(seed, marks=() if seed < 1 else pytest.mark.full) for seed in range(20)]


@pytest.mark.parametrize("seed", SEEDS)
def test_what_was_picked_arrives(demo_home: Path, shop: Shop, picker: Pick, tmp_path: Path, seed: int) -> None:
    weather(demo_home, shop, picker, tmp_path, seed, black_out_s=0.0)


@pytest.mark.full
def test_after_half_a_minute_without_network(demo_home: Path, shop: Shop, picker: Pick, tmp_path: Path) -> None:
    weather(demo_home, shop, picker, tmp_path, 99, black_out_s=30.0)


def weather(demo_home: Path, shop: Shop, picker: Pick, tmp_path: Path, seed: int, *, black_out_s: float) -> None:
    """A round of picks with a change of weather at each scan, then no key until all is sent."""
    chance = Random(seed)
    goods = [(row["product_number"], EACH) for row in shop.goods(LINES)]
    for number in range(ORDERS):
        shop.add_order(f"W-{number}", goods)
    book = tmp_path / "book"
    with counting_service(demo_home, book) as served, Proxy(int(served.url.rpartition(":")[2]), seed) as proxy:
        reached = ("--base-url", proxy.url, "--token-file", str(demo_home / "embedded.token"))
        door("sync", *reached)
        app = picker(*reached)
        app.sign_in()
        app.shows("W-0", "live")
        for number in range(ORDERS):
            app.enter(f"W-{number}")
            for line in shop.lines(f"W-{number}"):
                for _ in range(EACH):
                    proxy.set(chance.choice((FINE, *STORMS)))
                    app.enter(line.code)
                    time.sleep(chance.uniform(0.0, 0.3))  # so that something is on its way when the weather turns
            app.enter("b")
        if black_out_s:
            proxy.set(GONE)
            time.sleep(black_out_s)
        proxy.set(FINE)
        app.terminal.wait_for(lambda _: unsent(demo_home, proxy.url) == 0 or None, DRAIN_S)
        for number in range(ORDERS):
            assert set(shop.picked(f"W-{number}").values()) == {Decimal(EACH)}
    shop.balances()
    assert proxy.passed > 1
    carried_out = Counter(written.key for written in read_book(book))
    assert set(carried_out) == set(dict(operations(demo_home, proxy.url)))


def unsent(home: Path, url: str) -> int:
    """Operations of this host that are not done."""
    return sum(state != "done" for _, state in operations(home, url))


def operations(home: Path, url: str) -> list[tuple[str, str]]:
    """The operations of this host that no other replaced, and what became of them."""
    return on_this_host(home, "SELECT op_id, state FROM operation WHERE superseded_by = ''", url)
