"""Levels of a product in a real terminal on the real service: a supervisor changes them within what is allowed, sees
them confirmed and the figures drawn; staff only look.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from aisle.service.demo.seed import SUPERVISOR_PIN
from tests.terminal.document_service import document_service
from tests.terminal.picker import START_S, Picker
from tests.terminal.shop import Shop
from tests.terminal.test_clearance import typed
from tests.terminal.test_document_goods import rows

pytestmark = pytest.mark.pty


@pytest.mark.full
def test_a_supervisor_changes_levels_and_staff_look(shop: Shop, picker: Callable[..., Picker]) -> None:
    """By default in `tests/courier/test_store_product_updates.py`."""
    (product,) = shop.goods(1)
    number = product["product_number"]
    weeks, sold = [f"W{week}" for week in range(40, 48)], [12, 9, 14, 11, 8, 13, 10, 12]
    said = {"min": 4, "max": 10, "history_array": sold, "history_keys": weeks, "forecast_array": [11, 12, 15, 13]}
    moments = {"next_ordering_date": "2030-03-04T15:00:00Z", "next_delivery_date": "2030-03-05T06:30:00Z"}
    shop.ask("create-store-products", {"store_products": [{"product_number": number, **said, **moments}]})
    app = picker(columns=80, rows=24)
    app.sign_in("BADGE-U6")
    app.shows("live")
    app.take(f"?{number}", "look_up.product", "")
    app.take("e", "store_product", "")
    app.shows("1 Min", "2-6", "Order by", "2030")
    app.take("1", "store_product.value", "")
    app.take("9", "store_product.value", "store_product.out_of_range")
    app.shows("Only 2 to 6 is allowed")
    app.take("5-12", "store_product.confirm", "")
    app.shows("Minimum from 4 to 5", "Maximum from 10 to 12")
    app.take("y", "pin", "pin.prompt")
    typed(app, SUPERVISOR_PIN, "****")
    app.terminal.wait_for(lambda glass: "Confirmed by the server" in glass.text, START_S)
    (row,) = shop.ask("list-store-products-stock", store_number=shop.store, product_number=number)["list"]
    assert (row["min"], row["max"], row["last_minmax_updatedby"]) == (5, 12, "U6")
    app.take("g", "store_product.chart", "")
    app.shows("Sales history", "89", "W40", "Forecast", "38")
    app.take("b", "store_product", "")
    app.go_home()
    app.enter("o")
    app.sign_in("BADGE-U1")
    app.take(f"?{number}", "look_up.product", "")
    app.take("e", "store_product", "")
    app.shows("Only a supervisor may do this.", "12")


@pytest.mark.full
def test_at_a_service_of_the_document_alone_on_a_handheld(
    aisle_home: Path, tmp_path: Path, picker: Callable[..., Picker]
) -> None:
    token = tmp_path / "token"
    token.write_text("anything\n", encoding="utf-8")
    token.chmod(0o600)
    with document_service() as served:
        app = picker("--base-url", served.url, "--token-file", str(token), columns=20, rows=16)
        app.shows("Sign in")
        app.enter("Zoe")
        app.take("1", "home", "sign_in.done")
        app.shows("live")
        app.take("?P1", "look_up.product", "")
        app.take("e", "store_product", "")
        app.shows("1 Min")
        app.take("2", "store_product.value", "")
        app.take("3-9", "store_product.confirm", "")
        app.take("y", "store_product", "store_product.queued")
        app.terminal.wait_for(lambda _: rows(served, "storeproducts/stock")[0].get("max") == 9, START_S)
        app.shows("all sent", "1 Min", "3", "9")
        app.take("10", "store_product.value", "", typed=True)
        app.shows("its value is not shown")
