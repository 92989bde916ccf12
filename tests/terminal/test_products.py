"""The chain's catalogue and stores in a real terminal on the real service, with all that both have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from aisle.service.demo.seed import SUPERVISOR_PIN
from tests.terminal.picker import START_S, Picker
from tests.terminal.shop import STORE, Shop
from tests.terminal.test_clearance import typed
from tests.terminal.test_switch_store import change

pytestmark = pytest.mark.pty

URL = "https://shop.example/products/moon-tea?pack=20"


@pytest.mark.full
def test_a_product_and_a_store_are_read_whole_and_worked_in(shop: Shop, picker: Callable[..., Picker]) -> None:
    """By default in `tests/session/test_switch_store.py`."""
    fields: dict[str, Any] = {"product_url": URL, "supplier_id": "S77", "supplier_name": "Moon Gardens", "price": 4.5}
    shop.add_product("T-1", "Moon tea, 20 bags", "96385074", variant_family="MOON", size="20", **fields)
    shop.add_product("T-2", "Moon tea, 80 bags", variant_family="MOON", size="80", **fields)
    hours = [{"key": "Sunday", "sort_order": 1, "value": "closed"}]
    schema = [{"day": 2, "delivery_offset": 1, "time": "10:15"}]
    store = {"store_number": "0003", "store_name": "Fernhill", "is_warehouse": False, "is_active": True}
    store |= {"is_active_data_exchange": True, "opening_hours": hours, "ordering_schema": schema}
    shop.ask("create-stores", {"stores": [store]})
    app = picker(columns=80, rows=24)
    app.sign_in("BADGE-U6")
    app.shows("live")
    app.take("7", "home", "")
    app.take("9", "home", "")
    app.take("2", "products", "")
    app.shows("Products")
    app.take("s", "products.filter", "")
    app.enter("moon")
    app.shows("Moon Gardens", "Moon tea, 80 bags")
    app.take("2", "products.page", "")
    app.shows("Product T-2", "4.50", "Moon tea, 20 bags")
    app.take("96385074", "products.page", "look_up.shown")
    app.shows("Product T-1", "Moon tea, 80 bags")
    app.take("p", "products.page", "")  # from the first page to the last
    app.terminal.wait_for(lambda glass: URL in "".join(glass.text.split()), START_S)
    app.take("2", "store_product", "")
    app.take("b", "products.page", "")
    app.take("1", "look_up.product", "")
    app.take("b", "products.page", "")
    app.go_home()
    app.take("7", "home", "")
    app.take("9", "home", "")
    app.take("1", "stores", "")
    app.take("fern", "stores.page", "")
    app.shows("40 Church Street", "Tuesday", "10:15", "closed", "1 Change this terminal")
    app.take("1", "stores.change", "")
    app.take("1", "pin", "pin.prompt")
    typed(app, SUPERVISOR_PIN, "****")
    app.shows("Store 0003 · Fred Harper", "live")
    change(app, STORE, "session.switched_store")
    app.shows(f"Now in store {STORE}", "4101")
