"""A factor before a product that is not counted: the page that opens says that it is dropped."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

import pytest

from aisle.host.store_and_database_folders import StoreFolder
from aisle.session.session import Session
from tests.cache import service_rows
from tests.session.job_steps import WAYS, cache, stand
from tests.session.test_asked_quantity import shown
from tests.session.test_numbers_after_scan import quantities
from tests.session.test_session import BARCODES, at, home, say

__all__ = ["home"]

GTIN = BARCODES[0].zfill(14)
LOOSE = "9520001100505"

FACTORS = {
    "typed": (f"12*{BARCODES[0]}",),
    "typed before the number": ("12*P1",),
    "typed first": ("12*", BARCODES[0]),
    "AI 30": (f"01{GTIN}3012",),
    "AI 37": (f"02{GTIN}3712",),
    "AI 30 of a GS1 symbol": (f"]C101{GTIN}3012",),
}

OPENING = {
    "home": "look_up.product",
    "look_up.list": "look_up.product",
    "look_up.product": "look_up.product",
    "locations.list": "look_up.product",
    "locations.location": "locations.location",
    "count.start": "count.stop",
    "count.list": "count.list",
    "my_entries": "my_entries",
    "expiry": "expiry.date",
    "expiry.date": "expiry.date",
    "hand_over.goods": "hand_over.quantity",
    "deliveries": "deliveries.page",
    "deliveries.page": "look_up.product",
    "unconfirmed": "unconfirmed.entry",
    "store_product": "store_product",
    "log": "log",
    "shortage.which_order": "shortage.which_order",
}
"""Pages where a product only opens something, and the page that is shown then."""

COUNTING = ("count.product", "count.stop", "count.missing", "count.recount", "adjust.product", "move.from", "move.load")
"""Pages where the factor counts."""


def stand_and_scan(home: StoreFolder, session: Session, way: str, scans: tuple[str, ...]) -> str:
    """What the smallest screen shows after these scans there."""
    stand(home, session, way)
    for scan in scans:
        frame = say(session, scan)
    return shown(frame, 40, 20)


@pytest.mark.every_case
@pytest.mark.parametrize("how", FACTORS)
@pytest.mark.parametrize("way", OPENING)
def test_a_page_that_only_opens_says_that_the_factor_is_dropped(home: StoreFolder, way: str, how: str) -> None:
    if before := WAYS[way].before:
        before(home)
    with at(home, user="U1", **WAYS[way].terms) as session:
        page = stand_and_scan(home, session, way, FACTORS[how])
        assert session.frames.build().view.name == OPENING[way]
        assert "12* is cancelled" in page or "12* cancelled" in page
        assert not session.page.question.is_pending


@pytest.mark.every_case
@pytest.mark.parametrize("how", FACTORS)
@pytest.mark.parametrize("way", COUNTING)
def test_a_page_that_counts_with_the_factor_does_not_say_so(home: StoreFolder, way: str, how: str) -> None:
    with at(home, user="U1", **WAYS[way].terms) as session:
        page = stand_and_scan(home, session, way, FACTORS[how])
        assert "12*" not in page
        assert quantities(session)["P1"] >= Decimal(12)


def test_a_product_without_location_is_counted_with_the_factor_at_once(home: StoreFolder) -> None:
    cache(home).write_products([service_rows.product("P90", "Loose bag", LOOSE)])
    with at(home, user="U1") as session:
        page = stand_and_scan(home, session, "count.start", (f"12*{LOOSE}",))
        assert "12*" not in page
        assert quantities(session) == {"P90": Decimal(12)}


@pytest.mark.parametrize("scans", [(f"12*{BARCODES[0]}",), ("12*", BARCODES[0])])
def test_it_is_said_once_it_is_chosen_which_product_is_meant(home: StoreFolder, scans: tuple[str, ...]) -> None:
    cache(home).write_products([service_rows.product("P90", "Other bag", BARCODES[0])])
    with at(home, user="U1") as session:
        page = stand_and_scan(home, session, "count.start", (*scans, "1"))
        assert session.frames.build().view.name == "count.stop"
        assert "12* cancelled" in page


@pytest.mark.parametrize(("factor", "pieces", "is_said"), [("", "3012", False), ("12*", "", True)])
@pytest.mark.parametrize("way", ["expiry", "expiry.date"])
def test_the_pieces_of_a_label_are_not_missed_where_its_date_is_taken(
    home: StoreFolder, way: str, factor: str, pieces: str, is_said: bool
) -> None:
    day = (date.today() + timedelta(days=40)).strftime("%y%m%d")
    with at(home, user="U1") as session:
        page = stand_and_scan(home, session, way, (f"{factor}01{GTIN}17{day}{pieces}",))
        assert ("12* cancelled" in page) == is_said
        assert session.frames.build().view.name == "expiry"
