"""Looking things up and browsing in a real terminal, in the middle of an order too, and across kills."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.terminal.document_service import ORDER as DOCUMENT_ORDER
from tests.terminal.document_service import document_service
from tests.terminal.picker import Picker
from tests.terminal.shop import Line, Shop

pytestmark = pytest.mark.pty

Pick = Callable[..., Picker]

ORDER = "LOOK-1"


@pytest.fixture
def lines(shop: Shop) -> list[Line]:
    """An order of two lines at two places: three of one product, one of another."""
    first, second = shop.goods(2)
    shop.add_order(ORDER, [(first["product_number"], 3), (second["product_number"], 1)])
    return shop.lines(ORDER)


def test_three_letters_bring_a_product_its_places_and_the_stores_around(shop: Shop, picker: Pick) -> None:
    """A change of the stock reaches the page."""
    app = picker(columns=80, rows=24)
    app.sign_in()
    app.shows("live")
    app.scans = 0
    app.take("whole", "look_up.list", "look_up.found")
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


@pytest.mark.full
def test_a_wrong_product_is_one_digit_away_from_its_page(lines: list[Line], picker: Pick) -> None:
    app = picker(columns=20, rows=16)
    app.sign_in()
    app.shows(ORDER)
    app.take(ORDER, "pick.product", "pick.opened")
    app.take("210003", "pick.product", "pick.not_here")
    app.shows("f Look up")
    app.take("f", "look_up.product", "")
    app.shows("Product 210003")
    app.enter("b")
    app.shows(lines[0].place, "0 picked")


@pytest.mark.full
def test_home_lists_the_orders_that_need_a_product_one_digit_away(lines: list[Line], picker: Pick) -> None:
    app = picker()
    app.sign_in()
    app.shows(ORDER)
    app.scans = 0
    app.take(lines[0].code, "look_up.product", "")
    app.shows(ORDER)
    app.take("1", "pick.product", "pick.opened")
    assert app.scans == 2


@pytest.mark.full
@pytest.mark.parametrize("surrounding", [False, True], ids=["silent", "telling"])
def test_a_service_of_the_document_alone(aisle_home: Path, tmp_path: Path, picker: Pick, surrounding: bool) -> None:
    """No locations, no optional fields; what nobody tells is said to be so. By default in `test_document_goods.py`."""
    token = tmp_path / "token"
    token.write_text("anything\n", encoding="utf-8")
    token.chmod(0o600)
    with document_service(surrounding) as served:
        app = picker("--base-url", served.url, "--token-file", str(token), columns=80, rows=24)
        app.shows("Sign in")
        app.enter("Zoe")
        app.take("1", "home", "sign_in.done")
        app.shows(DOCUMENT_ORDER, "live")
        app.take("P1", "look_up.product", "")
        around = ("0900 (warehouse)", "≈ 7") if surrounding else ("Not available",)
        app.shows("Product P1", "≈ 10", "needs 3", *around)
        app.take("1", "pick.product", "pick.opened")
        app.take("?P2", "look_up.product", "")
        app.take("P1", "pick.product", "pick.picked")
        app.go_home()
        app.take("3", "locations.list", "")
        app.shows("This store has no locations")
        app.take("P3", "look_up.product", "")
        app.go_home()
