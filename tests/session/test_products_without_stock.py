"""What no stock is kept of, on the pages that say of other products how much there is."""

from __future__ import annotations

import pytest

from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import DetailView, Frame, ListView
from tests.cache import service_rows
from tests.session.test_session import BARCODES, _writer, at, home, say, told

__all__ = ["home"]


@pytest.fixture(autouse=True)
def carried(home: StoreFolder) -> None:
    """The second product of the order is a service, of which the stock list counts nothing."""
    with _writer(home) as cache:
        cache.write_stock(
            [service_rows.stock("P1", 7), service_rows.stock("P2", 0, is_stock=False, most_likely_pool_1=0)]
        )
        cache.write_surrounding("P2", [{"store_number": "0002", "most_likely_quantity": 0}], 1.0)


def ids(frame: Frame) -> set[str]:
    """All that the page says."""
    assert isinstance(frame.view, DetailView)
    texts = [line.text for line in frame.view.lines] + [block.title for block in frame.view.blocks]
    found = texts + [cell for block in frame.view.blocks for row in block.rows for cell in row]
    return {text.id for text in found}


@pytest.mark.parametrize(
    ("way", "says"),
    [
        ((f"?{BARCODES[1]}",), {"look_up.no_stock"}),
        ((f"?{BARCODES[1]}", "e"), {"look_up.no_stock"}),
        (("4102", "s"), set()),
    ],
    ids=["product", "in this store", "short"],
)
def test_of_what_no_stock_is_kept_no_quantity_is_said(home: StoreFolder, way: tuple[str, ...], says: set[str]) -> None:
    with at(home, user="U1") as session:
        found = ids(say(session, *way))
        assert says <= found
        assert not {"look_up.stock", "look_up.pools", "look_up.nearby_none", "look_up.nearby"} & found


def test_a_list_leaves_its_quantity_out(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        view = say(session, "2", "product").view
        assert isinstance(view, ListView)
        stock = {row.key: row.cells[1].id for row in view.rows}
        assert (stock["P1"], stock["P2"]) == ("estimate", "raw")


PAGES: dict[str, tuple[tuple[str, ...], str, str]] = {
    "move": (("move",), "locations.locations_unknown_at", "locations.locations_unknown"),
    "count": (("count",), "locations.locations_unknown_at", "locations.locations_unknown"),
    "locations": (("?A-1",), "", "locations.locations_unknown"),
}


@pytest.mark.parametrize("page", PAGES)
def test_no_place_is_called_empty_by_a_service_that_names_none(home: StoreFolder, page: str) -> None:
    way, verdict, note = PAGES[page]
    with _writer(home) as cache:
        cache.write_stock([service_rows.stock(f"P{n}", 20, places={}) for n in (1, 2, 3)])
    with at(home, user="U1") as session:
        if not way[0].startswith("?"):
            menu = [choice.id for choice in session.frames.build().view.choices]
            way = (str(menu.index(f"home.{page}") + 1), "A-1")
        frame = say(session, *way)
        assert told(frame)[1] in (verdict, "")
        texts = [line.text for line in frame.view.lines]  # type: ignore[union-attr]
        said = {text.id for text in texts} | {
            value.id for text in texts for _, value in text.args if hasattr(value, "id")
        }
        assert note in said
        assert not {"move.note_empty", "count.note_empty", "list.empty"} & said
