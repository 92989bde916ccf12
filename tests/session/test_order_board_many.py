"""The order board over tens of thousands of real orders: it opens, filters and scrolls, and stays under the cursor.

What is asserted is what is on the screen; how long it took is printed.
"""

from __future__ import annotations

import csv
import time
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import apsw
import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.database import fetch
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import Frame, ListView, msg
from aisle.scan.inputs_and_line_grouping import Key
from aisle.session.session import Session, open_session
from aisle.settings.setting_definitions import Settings
from tests.cache import service_rows
from tests.realdata import lookalike
from tests.realdata.convert import convert
from tests.session.test_order_board import opened, says

MANY = 20_000
"""Real orders of the long form."""
COPIES = 20
"""Of each order of the look-alike, for the short one."""
WRITES = 40
"""So often the courier writes while somebody looks."""

Row = dict[str, Any]

_LIST = "SELECT order_number FROM orders WHERE status <> 'finished' ORDER BY pickup, sort, order_number"
_OPEN = "SELECT order_number FROM orders WHERE status IN ('open', 'partial') ORDER BY pickup, sort, order_number"


def real_orders(folder: Path) -> Iterator[Row]:
    """The orders of a converted dataset as the service lists them; every fifth is begun, every ninth picked."""
    with (folder / "orders.csv").open(encoding="utf-8", newline="") as file:
        for at, (number, found) in enumerate(groupby(csv.DictReader(file), lambda row: row["order_number"])):
            rows = list(found)
            share = 1.0 if at % 9 == 0 else 0.5 if at % 5 == 0 else 0.0
            lines = [
                service_rows.line(n, row["product_number"], float(row["quantity"]), int(float(row["quantity"]) * share))
                for n, row in enumerate(rows, 1)
            ]
            yield service_rows.order(
                number,
                *lines,
                customer_name=rows[0]["customer_name"] or rows[0]["customer_country"],
                pickup_date=rows[0]["pickup_date"],
                is_picked=share == 1.0,
            )


class Desk:
    """A supervisor in front of the board, with a watch."""

    def __init__(self, home: StoreFolder, session: Session, cache: CacheWriter, database: apsw.Connection) -> None:
        self.home, self.session, self.cache, self.database = home, session, cache, database
        self.times: dict[str, list[float]] = {}
        self.view = ListView("", msg("raw", text=""), msg("raw", text=""), (), (), 0, 0)

    def see(self, what: str, do: Callable[[], Frame | None]) -> ListView:
        begun = time.perf_counter()
        frame = do()
        self.times.setdefault(what, []).append(time.perf_counter() - begun)
        if frame is not None:
            assert isinstance(frame.view, ListView)
            self.view = frame.view
        return self.view

    def says(self, what: str, *texts: str) -> ListView:
        return self.see(what, lambda: says(self.session, *texts))

    def is_true(self, sql: str = _LIST) -> None:
        """What is on the screen is that part of the whole list, and all are counted."""
        whole = [number for (number,) in fetch(self.database, sql)]
        shown = [row.key for row in self.view.rows]
        assert self.view.total == len(whole)
        assert shown == whole[self.view.first : self.view.first + len(shown)]

    def report(self) -> str:
        parts = [f"{what} {1000 * max(took):.0f} ms" for what, took in self.times.items()]
        return f"{self.view.total:,} orders: " + ", ".join(parts)


def looks_through(home: StoreFolder, orders: list[Row]) -> None:
    """All that a supervisor does on the board, while the courier writes."""
    database = open_cache(home.folder, writer=True)
    cache = CacheWriter(database, "0001")
    for first in range(0, len(orders), 500):
        cache.write_orders(orders[first : first + 500], lines_known=True, read_began=1.0)
    session = open_session(home, Settings(terminal="desk", user="U1"))
    try:
        session.start()
        session.resize(80, 24)
        desk = Desk(home, session, cache, database)
        desk.see("open", lambda: opened(session, "home.orders"))
        desk.is_true()
        _scrolls(desk)
        _stays(desk, orders)
        _filters(desk)
        print(desk.report())
    finally:
        session.close()


def _scrolls(desk: Desk) -> None:
    for _ in range(3):
        desk.says("next page", "n")
        desk.is_true()
    for _ in range(4):
        desk.says("page back, round to the last", "p")
        desk.is_true()
    assert desk.view.first + len(desk.view.rows) == desk.view.total
    desk.says("next page", "n")
    assert desk.view.first == 0


def _stays(desk: Desk, orders: list[Row]) -> None:
    """The courier brings orders that stand before, picks others, closes some: the cursor's order stays where it is."""
    for _ in range(5):
        desk.says("next page", "n")
    for _ in range(4):
        desk.see("cursor", lambda: desk.session.take([Key("down")], 0.0))
    row = desk.view.cursor - desk.view.first
    key = desk.view.rows[row].key
    for write in range(WRITES):
        early = [
            service_rows.order(f"EARLY-{write}-{n}", service_rows.line(1), pickup_date="2001-01-01") for n in range(5)
        ]
        others = [each for each in orders[write * 7 : write * 7 + 7] if each["order_number"] != key]
        changed = [{**each, "is_active": at % 2 == 0, "is_claimed": True} for at, each in enumerate(others)]
        desk.cache.write_orders([*early, *changed], lines_known=True, read_began=2.0 + write)
        desk.see("a write of the courier", desk.session.poll)
        assert (desk.view.rows[row].key, desk.view.cursor - desk.view.first) == (key, row)
        desk.is_true()


def _filters(desk: Desk) -> None:
    """By state, by words, and back to all."""
    desk.says("filter", "f")
    desk.says("filter", "1")
    desk.says("filter", "2")
    desk.says("filter", "b")
    desk.is_true(_OPEN)
    word = str(fetch(desk.database, "SELECT text FROM orders WHERE status = 'open' LIMIT 1")[0][0]).split()[0]
    desk.says("words", word)
    assert 0 < desk.view.total < len(fetch(desk.database, _OPEN)) or desk.view.total == 1
    assert len(desk.view.rows) == min(desk.view.total, len(desk.view.rows))
    desk.says("words", "b")
    desk.is_true(_OPEN)


def test_made_up_orders(home: StoreFolder, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    lookalike.write(tmp_path / "data", 3)
    convert(tmp_path / "data", tmp_path / "csv")
    once = list(real_orders(tmp_path / "csv"))
    orders = [{**row, "order_number": f"{row['order_number']}-{copy}"} for copy in range(COPIES) for row in once]
    assert len(orders) > 800
    looks_through(home, orders)


@pytest.mark.full
def test_twenty_thousand_real_orders(home: StoreFolder, tmp_path: Path, test_data: Path) -> None:
    convert(test_data, tmp_path / "csv", sample=MANY)
    orders = list(real_orders(tmp_path / "csv"))
    assert len(orders) >= MANY * 9 // 10
    looks_through(home, orders)
