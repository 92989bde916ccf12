"""Each page sums an order in the same way: pieces of counted goods, beside them the weight of weighed ones."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.courier.pull import full_sync_stages_and_progress
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import Start
from aisle.jobs.sums_of_goods_and_progress import (
    GoodsSum,
    add_goods,
    goods_progress_in_list,
    goods_text,
    named_goods,
    sum_goods,
)
from aisle.jobs.view import Msg
from aisle.tui.layout.screen import layout_screen
from aisle.tui.message_text import MessageWriter
from tests.cache import service_rows
from tests.session.test_session import at, say

WEIGHED, PIECES = "weighed", "pieces"
ORDERS = {
    WEIGHED: ("0 of 15 pieces, 1.5 kg", "15 pieces, 1.5 kg"),
    PIECES: ("0 of 15", "15 pieces"),
    "only weighed": ("0 of 1.5 kg", "1.5 kg"),
    "two units": ("0 of 15 pieces, 1.5 kg, 2 l", "15 pieces, 1.5 kg, 2 l"),
}
"""What is said of each order: how far it is, and what is to be picked."""
LINES = {
    WEIGHED: (("P1", 12), ("P2", 3), ("KG", 1.5)),
    PIECES: (("P1", 12), ("P2", 3)),
    "only weighed": (("KG", 1), ("KG", 0.5)),
    "two units": (("P1", 15), ("KG", 1.5), ("L", 2)),
}
PLACES: dict[str, tuple[str, Mapping[str, Any], tuple[str, ...]]] = {
    "home": ("", {}, ()),
    "orders": ("orders", {}, ()),
    "order": ("order", {"order_number": "4101"}, ()),
    "hand over": ("order_actions", {"orders": ["4101"], "kind": "hand_over"}, ()),
    "release": ("order_actions", {"orders": ["4101"], "kind": "release"}, ()),
    "pick": ("pick", {"order_number": "4101"}, ()),
    "claim question": ("pick", {"order_number": "4102"}, ()),
    "batch": ("batch", {}, ("4101",)),
}
"""The job, with its arguments, and what is said there then."""


@pytest.fixture
def home(aisle_home: Path) -> StoreFolder:
    home = StoreFolder(aisle_home, "embedded", "0001")
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    cache.write_people([service_rows.person("U1", "Anna Kovac"), service_rows.person("U2", "Ben Carter")])
    measured = {"allow_decimal": True}
    cache.write_products([service_rows.product("P1", "Tea"), service_rows.product("P2", "Jam")])
    cache.write_products([
        {**service_rows.product("KG", "Cheese"), **measured, "base_unit_name": "kg"},
        {**service_rows.product("L", "Oil"), **measured, "base_unit_name": "l"},
    ])  # fmt: skip
    cache.write_stock([service_rows.stock(name, 90, places={"A-1": 90}) for name in ("P1", "P2", "KG", "L")])
    cache.write_locations([service_rows.location("A-1", 1)])
    full_sync_stages_and_progress.save_progress(cache, full_sync_stages_and_progress.SyncProgress(completed=1.0))
    return home


def fill(home: StoreFolder, name: str) -> None:
    """Two orders of these lines; the second one is claimed by somebody else."""
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    lines = [service_rows.line(n, *of) for n, of in enumerate(LINES[name], 1)]
    claimed = {"is_claimed": True, "claimed_by": "U2", "claimed_on": "2026-11-20T09:00:00Z"}
    late = {"pickup_date": "2020-01-01T09:00:00Z"}
    orders = [service_rows.order("4101", *lines, **late), service_rows.order("4102", *lines, **late, **claimed)]
    cache.write_orders(orders, lines_known=True, read_began=1.0)


@pytest.mark.every_case
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", ORDERS)
def test_every_page_sums_an_order_in_the_same_way(home: StoreFolder, name: str, place: str) -> None:
    fill(home, name)
    job, args, said = PLACES[place]
    with at(home, user="U1") as session:
        frame = session.resize(140, 50)
        if job:
            session.start_batch()
            session.event_runner.open(Start(job, args))
            session.event_runner.commit()
        frame = say(session, *said)
        lines = layout_screen(frame, 140, 50).lines
    drawn = " ".join("".join(text for text, _ in line) for line in lines)
    assert ORDERS[name][place == "batch"] in " ".join(drawn.split())


@pytest.mark.parametrize(("cells", "text"), [(20, "15+1.5 kg"), (40, "15 pieces, 1.5 kg")])
def test_a_narrow_screen_has_a_short_form(cells: int, text: str) -> None:
    goods = named_goods(sum_goods([(Decimal(15), None), (Decimal("1.5"), "kg")]))
    assert MessageWriter().write(goods, 0 if cells == 20 else 9) == text


def test_sums_of_sums() -> None:
    some = sum_goods([(Decimal(2), None), (Decimal("0.1"), "kg"), (Decimal(0), "l")])
    more = sum_goods([(Decimal("0.2"), "kg"), (Decimal(1), None)])
    assert add_goods((some, more)) == GoodsSum(Decimal(3), (("kg", Decimal("0.3")),))
    assert goods_text(GoodsSum(Decimal(3))) == 3
    assert isinstance(goods_text(more), Msg)
    assert GoodsSum().is_nothing


@pytest.mark.parametrize(("level", "text"), [(0, "0/15+"), (1, "0/15 pieces, 1.5 kg"), (9, "0 of 15 pieces, 1.5 kg")])
def test_a_narrow_column_shows_the_pieces_and_that_there_is_more(level: int, text: str) -> None:
    ordered = sum_goods([(Decimal(15), None), (Decimal("1.5"), "kg")])
    assert MessageWriter().write(goods_progress_in_list(sum_goods([]), ordered), level) == text
