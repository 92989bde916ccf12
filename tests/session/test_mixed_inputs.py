"""Scans among tabs, clicks, sorts, the palette and resizes: each is taken once, by the job that it was meant for."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import closing

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.store_and_database_folders import StoreFolder
from aisle.scan.inputs_and_line_grouping import CHIP_KEY, ROW_KEY, SORT_KEY, TAB_KEY, Key, Line, OpenLine
from aisle.session.session import Session, open_session
from aisle.settings.setting_definitions import Settings
from tests.cache import service_rows
from tests.run_length import tries
from tests.session.test_order_board import home  # noqa: F401

CODE, ORDERED = "9520001100017", 20_000
KEYS = (
    *("up", "down", "pageup", "pagedown", "home", "end", "left", "right", "scrollup", "scrolldown", "mark", "f1"),
    *("ctrl+right", "ctrl+k", *["back"] * 9, "f6", f"{TAB_KEY}orders", f"{TAB_KEY}today", f"{SORT_KEY}customer_name"),
    *(f"{CHIP_KEY}1", f"{CHIP_KEY}0", f"{ROW_KEY}1"),
)
ABOVE_PICK = ("help", "palette", "look_up")
"""Pages from which a scan may go on with the pick below."""

SIZES = ((120, 40), (200, 50), (40, 20), (20, 16))


@pytest.fixture
def picking(home: StoreFolder) -> Iterator[Session]:  # noqa: F811
    """A session that picks one large order of a product."""
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    cache.write_products([service_rows.product("P9", "Müsli", CODE)])
    cache.write_orders(
        [service_rows.order("4200", service_rows.line(1, "P9", ORDERED))], lines_known=True, read_began=1.0
    )
    with closing(open_session(home, Settings(terminal="desk", user="U1"))) as session:
        session.start()
        session.resize(120, 40)
        session.take([line("4200")], 0.0)
        yield session


def line(text: str) -> Line:
    return Line(text, "cr", 1.0, 1.0, 0.1, "")


def booked(session: Session) -> int:
    """How many pieces of the order are booked here."""
    rows, _ = session.store.reader.query("order", {"order_number": "4200"})
    return int(rows[0]["lines"][0]["picked_quantity"])


def test_each_scan_is_taken_once_by_the_job_on_the_screen(picking: Session) -> None:
    chance, taken = random.Random(11), Counter[bool]()
    for _ in range(tries(150, 10_000)):
        match chance.randrange(6):
            case 0 | 1:
                picking.take([Key(chance.choice(KEYS))], 0.0)
            case 2:
                picking.resize(*chance.choice(SIZES))
            case 3:
                picking.take([OpenLine("mü"), OpenLine("")], 0.0)
            case _:
                page, before = picking.stack.jobs[-1].job.name, booked(picking)
                serial = picking.frames.build().scan_serial
                assert picking.take([line(CODE)], 0.0).scan_serial == serial + 1
                more = booked(picking) - before
                assert more == 1 if page == "pick" else more in (0, 1) if page in ABOVE_PICK else more == 0, page
                taken[more == 1] += 1
        if all(stacked.job.name != "pick" for stacked in picking.stack.jobs):
            picking.take([Key("back"), line("4200")], 0.0)
    assert min(taken.values()) > 5, taken
