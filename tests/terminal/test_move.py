"""Goods are moved in a real terminal on the real service: by scans alone, on a cart that survives a kill, and back."""

from __future__ import annotations

import signal
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from tests.terminal.picker import START_S, Picker
from tests.terminal.shop import Shop

pytestmark = pytest.mark.pty

Pick = Callable[..., Picker]


@pytest.fixture
def goods(shop: Shop) -> list[dict[str, Any]]:
    """Three products, each at one place of its own, and the places they are moved to are empty."""
    found = shop.goods(3)
    for row in found:
        row["place"] = row["store_locations"][0]["store_location_code"]
        row["lying"] = Decimal(str(row["store_locations"][0]["quantity"]))
    return found


def there(shop: Shop, product: str, place: str) -> Decimal:
    """What the service has of a product at a place."""
    query = {"store_number": shop.store, "product_number": product, "include_locations": True}
    (row,) = shop.ask("list-store-products-stock", **query)["list"]
    found = [each["quantity"] for each in row["store_locations"] if each["store_location_code"] == place]
    return Decimal(str(found[0])) if found else Decimal(0)


def empty_place(shop: Shop, *taken: str) -> str:
    """A place of the store where nothing lies."""
    places = shop.ask("list-locations", page_size=500)["list"]
    return next(str(row["location_code"]) for row in places if not row["stock"] and row["location_code"] not in taken)


def open_move(app: Picker) -> None:
    """From home to the first question."""
    menu = app.shows("1 Pick", "Move")
    number = next(word for word in menu.replace("\n", " ").split("Move")[0].split()[::-1] if word.isdigit())
    app.take(number, "move.from", "")


def logs(shop: Shop, product: str) -> list[dict[str, Any]]:
    """The log of the movements of a product."""
    rows = shop.ask("list-store-product-logs", store_number=shop.store, article_number=product, page_size=100)["list"]
    return [row for row in rows if row.get("source") == "aisle"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("size", [(40, 20), (20, 16)], ids=["40x20", "20x16"])
def test_first_product_moves_in_three_scans_next_in_two_undo_by_letter(
    shop: Shop, goods: list[dict[str, Any]], picker: Pick, size: tuple[int, int]
) -> None:
    before = shop.balances()
    first = goods[0]
    number, place, to = first["product_number"], first["place"], empty_place(shop)
    app = picker(columns=size[0], rows=size[1])
    app.sign_in("BADGE-U2")
    app.shows("live")
    open_move(app)
    app.scans = 0
    app.take(place, "move.take", "count.at_location")
    app.take(first["barcode"], "move.take", "move.taken")
    app.take(to, "move.take", "move.moved")
    assert app.scans == 3
    app.take(first["barcode"], "move.take", "move.taken")
    app.take(to, "move.take", "move.moved")
    assert app.scans == 5
    app.terminal.wait_for(lambda _: there(shop, number, to) == 2, START_S)
    assert there(shop, number, place) == first["lying"] - 2
    app.take("u", "move.take", "move.undone")
    app.terminal.wait_for(lambda _: there(shop, number, to) == 1, START_S)
    app.shows("all sent")
    entries = logs(shop, number)
    assert len(entries) == 6
    assert {row["app_user_name"] for row in entries} == {"U2"}
    assert {row.get("location_code") for row in entries} == {place, to}
    assert shop.balances() == before


def test_a_cart_survives_a_kill_and_is_put_away(shop: Shop, goods: list[dict[str, Any]], picker: Pick) -> None:
    before = shop.balances()
    to = empty_place(shop)
    app = picker("--terminal", "dock")
    app.sign_in()
    app.shows("live")
    open_move(app)
    app.take("c", "move.load", "move.load_cart")
    for row in goods:
        app.take(row["place"], "move.load", "count.at_location")
        app.take(f"2*{row['barcode']}", "move.load", "move.taken")
    app.terminal.kill(signal.SIGKILL)
    app.terminal.wait_exit()
    app = picker("--terminal", "dock")
    app.shows("Cart: 3 products", "Back where you left off")
    app.take("d", "move.put", "move.to_put_away")
    app.take(goods[1]["barcode"], "move.put", "move.current_goods")
    app.take(to, "move.put", "move.put")
    app.terminal.kill(signal.SIGKILL)
    app.terminal.wait_exit()
    app = picker("--terminal", "dock")
    app.shows("Cart: 2 products", "Back where you left off")
    app.take(to, "move.put", "move.put")
    app.take(to, "move.load", "move.cart_empty")
    numbers = [row["product_number"] for row in goods]
    app.terminal.wait_for(lambda _: all(there(shop, number, to) == 2 for number in numbers), START_S)
    app.shows("all sent")
    assert shop.balances() == before
