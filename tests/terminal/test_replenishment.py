"""The shop floor is replenished in a real terminal, on the real service: few inputs, no link, and a kill in between."""

from __future__ import annotations

import signal
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.terminal.picker import Picker
from tests.terminal.service_process import plain_service
from tests.terminal.shop import Shop, door
from tests.terminal.test_move import there
from tests.terminal.test_offline import assert_waiting, operations

pytestmark = pytest.mark.pty

Pick = Callable[..., Picker]
Row = dict[str, Any]

BACKROOM = "BR-01"
LEVEL, BEHIND = 400, 30


@pytest.fixture
def below(shop: Shop) -> list[Row]:
    """Three products below their level, each with goods at the first location of the backroom."""
    rows = shop.ask("list-store-products-stock", store_number=shop.store, page_size=1000)["list"]
    shop.ask("update-store-products", [{"product_number": row["product_number"], "order_level": 1} for row in rows])
    goods = shop.goods(3)
    for row in goods:
        place = row["place"] = row["store_locations"][0]["store_location_code"]
        move = {"from_location": {"location_code": place}, "to_location": {"location_code": BACKROOM, "stock_pool": 2}}
        number = row["product_number"]
        extra = {"product_number": number, "location_code": place, "quantity": 2 * BEHIND, "reason_code": 5}
        shop.ask("create-store-product-logs", {"storeproductlog": [extra]})
        shop.ask("create-movement", [{"product_number": number, "quantity": BEHIND, **move}])
    shop.ask(
        "update-store-products", [{"product_number": row["product_number"], "order_level": LEVEL} for row in goods]
    )
    return goods


def open_list(app: Picker, goods: list[Row]) -> None:
    """From home, by the menu, as soon as these goods are listed."""
    for key in ("7", "9", "10"):
        app.type(key)
    app.shows(*(row["product_description"][:20] for row in goods))
    app.scans = 0


def press_enter(app: Picker, *shown: str) -> None:
    """Accepts the suggested location, which leads to a screen with these words."""
    app.terminal.write(b"\r")
    app.shows(*shown)


def test_cart_for_the_shop_floor_without_a_link_and_after_a_kill(
    demo_home: Path, shop: Shop, below: list[Row], picker: Pick
) -> None:
    before, keys = shop.balances(), set(shop.keys())
    behind = {row["product_number"]: there(shop, row["product_number"], BACKROOM) for row in below}
    with plain_service() as service:
        arguments = ("--base-url", service.url, "--token-file", str(demo_home / "embedded.token"))
        door("sync", *arguments)
        app = picker(*arguments, "--terminal", "dock", columns=80, rows=24)
        app.sign_in("BADGE-U2")
        app.shows("live")
        open_list(app, below)
        service.end()
        app.take("1", "move.load", "clearance_tasks.started", typed=True)
        for row in below:
            app.take(row["barcode"], "move.load", "move.taken")
        app.take("d", "move.put", "move.to_put_away")
        press_enter(app, "Cart: 2 products", "2 products left")
        assert app.scans <= 1 + 3 + 1
        assert_waiting(app, demo_home, service.url)
        app.terminal.kill(signal.SIGKILL)
        app.terminal.wait_exit()

        app = picker(*arguments, "--terminal", "dock", columns=80, rows=24)
        app.shows("Cart: 2 products", "Back where you left off")
        app.take("u", "move.put", "move.undone")
        app.shows("Cart: 3 products")
        press_enter(app, "Cart: 2 products", "2 products left")
        press_enter(app, "Cart: 1 product", "1 product left")
        app.take("RC-01", "move.load", "move.cart_empty")
        assert app.enter("b")["step"] == "home"
        service.start()
        app.shows("live", "all sent")
    states = operations(demo_home, service.url)
    assert set(states.values()) == {"done"}
    assert set(shop.keys()) - keys == set(states)
    left = [there(shop, number, BACKROOM) for number in behind]
    assert left == [Decimal(0)] * 3, behind
    assert shop.balances() == before
