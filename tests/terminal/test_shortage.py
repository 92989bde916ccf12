"""A shortage in a real terminal on the real service: two entries, and what became of it is in the service's books."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from tests.terminal.picker import START_S, Picker
from tests.terminal.shop import Line, Shop

pytestmark = pytest.mark.pty

Pick = Callable[..., Picker]

ORDER = "SHORT-1"


@pytest.fixture
def lines(shop: Shop) -> list[Line]:
    """An order of two lines at two places; of the first product some lies at the place of the second, too."""
    first, second = shop.goods(2)
    there = second["store_locations"][0]["store_location_code"]
    count = {"product_number": first["product_number"], "location_code": there, "stock_pool_1": 7, "source": "test"}
    shop.ask("create-store-product-logs", {"storeproductlog": [count]}, is_counted_quantity=True)
    here = first["store_locations"][0]["store_location_code"]
    shop.add_order(ORDER, [(first["product_number"], 4), (second["product_number"], 1)])
    found = sorted(shop.lines(ORDER), key=lambda line: line.number)
    return [found[0]._replace(place=here), found[1]._replace(place=there)]


def lying(shop: Shop, product: str, place: str) -> Decimal:
    """What the service has of a product at a place."""
    query = {"store_number": shop.store, "product_number": product, "include_locations": True}
    (row,) = shop.ask("list-store-products-stock", **query)["list"]
    found = [each["quantity"] for each in row["store_locations"] if each["store_location_code"] == place]
    return Decimal(str(found[0])) if found else Decimal(0)


def said(shop: Shop, number: int) -> dict[str, Any]:
    """A line of the order as the service answers it."""
    found: dict[str, Any] = next(line for line in shop.order(ORDER)["lines"] if line["line_number"] == number)
    return found


def shortages(shop: Shop, product: str) -> list[dict[str, Any]]:
    """The log entries of what was short."""
    rows = shop.ask("list-store-product-logs", store_number=shop.store, article_number=product, page_size=100)["list"]
    return [row for row in rows if row.get("source") == "short"]


def start_pick(app: Picker, first: Line) -> None:
    """To the stop of the first line, whichever comes first on the walk."""
    app.sign_in()
    app.shows(ORDER, "live")
    app.take(ORDER, "pick.product", "pick.opened")
    app.take(first.code, "pick.product")
    app.scans = 0


def number_of(app: Picker, words: str) -> str:
    """The number before these words, on whichever page they are."""
    for _ in range(9):
        for line in app.terminal.text.splitlines():
            head, _, tail = line.strip().partition(" ")
            if head.isdigit() and words in tail:
                return head
        app.take("n", "shortage.choices", "")
    raise AssertionError(f"{words} is on no page:\n{app.terminal.text}")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("size", [(40, 20), (20, 16)], ids=["40x20", "20x16"])
def test_two_entries_take_the_rest_elsewhere_and_it_is_booked_from_there(
    shop: Shop, lines: list[Line], picker: Pick, size: tuple[int, int]
) -> None:
    before, first = shop.balances(), lines[0]
    at_first = lying(shop, first.product, first.place)
    app = picker(columns=size[0], rows=size[1])
    start_pick(app, first)
    app.take("s", "shortage.choices", "shortage.opened")
    app.shows("≈ 7", "≈", "3 ")
    app.take(number_of(app, lines[1].place), "pick.product", "pick.elsewhere")
    assert app.scans == 2
    app.take(f"3*{first.code}", "pick.product")
    app.terminal.wait_for(lambda _: shop.picked(ORDER)[1] == 4, START_S)
    assert lying(shop, first.product, lines[1].place) == 4
    assert lying(shop, first.product, first.place) == at_first - 1
    assert shop.balances() == before
    assert shortages(shop, first.product) == []


@pytest.mark.full
def test_two_entries_close_the_line_and_the_service_says_why(shop: Shop, lines: list[Line], picker: Pick) -> None:
    before, first = shop.balances(), lines[0]
    app = picker(columns=80, rows=24)
    start_pick(app, first)
    app.take("s", "shortage.choices", "shortage.opened")
    app.shows("Stores nearby", "Fernhill", "Damaged", "Reject", "Choose a number")
    app.take(number_of(app, "Damaged"), "pick.product", "pick.short")
    assert app.scans == 2
    app.terminal.wait_for(lambda _: said(shop, 1)["is_picked"], START_S)
    line = said(shop, 1)
    assert (line["picked_quantity"], line["quantity"]) == (1, 4)
    assert (line["rejection_reason_code"], line["rejection_reason_code_description"]) == ("22", "Damaged")
    [note] = shortages(shop, first.product)
    assert (note["reason_code"], note["reference"], note["app_user_name"]) == (22, ORDER, "U1")
    assert note["location_code"] == first.place
    assert "rejection_reason_code" not in said(shop, 2)
    app.shows("all sent")
    assert shop.balances() == before


@pytest.mark.full
def test_a_count_of_the_empty_place_is_offered_and_done(shop: Shop, lines: list[Line], picker: Pick) -> None:
    first, before = lines[0], shop.balances()
    there = lying(shop, lines[0].product, lines[0].place)
    app = picker(columns=80, rows=24)
    start_pick(app, first)
    app.take("s", "shortage.choices", "shortage.opened")
    app.take(number_of(app, "Location is empty"), "pick.product", "pick.short")
    app.shows(f"Count the empty location {first.place}")
    app.enter("c")
    app.shows(f"Count {first.place}")
    app.enter(first.code)
    app.enter("0")
    app.enter("d")
    while app.seen()[-1]["step"] == "count.missing":
        app.enter("k")
    app.enter("d")
    app.enter("y")
    app.terminal.wait_for(lambda _: lying(shop, first.product, first.place) == 0, START_S)
    assert app.seen()[-1]["step"].startswith("pick.")
    assert said(shop, 1)["rejection_reason_code"] == "20"
    app.take("u", "pick.product", "count.sent_undone")
    app.shows(f"Being undone: the count of {first.place}")
    app.terminal.wait_for(lambda _: lying(shop, first.product, first.place) == there - 1, START_S)
    app.take("u", "pick.product", "pick.reopened")
    app.terminal.wait_for(lambda _: not said(shop, 1)["is_picked"], START_S)
    assert shop.balances() == before
