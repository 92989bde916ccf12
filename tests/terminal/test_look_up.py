"""Looking things up and browsing in a real terminal."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.terminal.picker import Picker
from tests.terminal.shop import Shop

pytestmark = pytest.mark.pty

Pick = Callable[..., Picker]


def test_three_letters_bring_a_product_its_places_and_the_stores_around(shop: Shop, picker: Pick) -> None:
    """A change of the stock reaches the page."""
    app = picker(columns=80, rows=24)
    app.sign_in()
    app.shows("live")
    app.scans = 0
    app.take("whole", "look_up.list", "list.found")
    app.shows("1 ")
    app.terminal.write(b"skim")
    app.shows("Long Meadow Milk Skimmed 1 l")
    app.write(b"\r")
    app.take("1", "look_up.product", "")
    app.shows("Product 210003", "FR-01", "≈ 15", "Stores nearby", "Fernhill", "Millbrook Depot (warehouse)", "CHILLED")
    app.take("FR-01", "locations.location", "")
    app.shows("Location FR-01", "[", "Long Meadow Butter Salted")
    app.enter("n")
    app.shows("Location FR-02")
    app.enter("b")
    app.shows("Product 210003")
    count = {"product_number": "210003", "location_code": "FR-01", "stock_pool_1": 77, "source": "test"}
    shop.ask("create-store-product-logs", {"storeproductlog": [count]}, is_counted_quantity=True)
    app.shows("≈ 77")
    app.enter("b")
    app.enter("b")
    app.shows("Open orders")
