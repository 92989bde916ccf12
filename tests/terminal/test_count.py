"""Counting in a real terminal, against the real service: hands, logs, books, losses, and a death in mid-count."""

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

Row = dict[str, Any]


def goods_at(shop: Shop, count: int) -> tuple[str, list[Row]]:
    """A place with so many products, all with barcodes and in one pool; each with what lies of it there."""
    query = {"store_number": shop.store, "include_locations": True, "page_size": 500}
    found: dict[str, list[Row]] = {}
    for row in shop.ask("list-store-products-stock", **query)["list"]:
        for place in row["store_locations"]:
            pools = [name for name in place if name.startswith("stock_pool_")]
            fit = row["barcode"] and len(pools) == 1 and not place["quantity"] % 1
            here = found.setdefault(place["store_location_code"], [])
            here.append({**row, "here": place["quantity"], "pool": pools[0]} if fit else {})
    return next((code, rows) for code, rows in sorted(found.items()) if len(rows) == count and all(rows))


def logs(shop: Shop) -> list[Row]:
    """What was written to the store's log from a terminal, oldest first."""
    rows = []
    page: int | None = 1
    while page:
        answer = shop.ask("list-store-product-logs", store_number=shop.store, page_size=500, page_start=page)
        rows += [row for row in answer["list"] if row.get("source") == "aisle"]
        page = answer["next_page"]
    return rows


def awaited(app: Picker, shop: Shop, count: int) -> list[Row]:
    """The same, as soon as there are so many."""
    app.terminal.wait_for(lambda _: len(logs(shop)) >= count, START_S)
    found = logs(shop)
    assert len(found) == count
    return found


def open_count(app: Picker, user: str = "BADGE-U2") -> None:
    """From home, by its number in the menu."""
    app.sign_in(user)
    seen = {"step": "", "verdict": "input.choices_changed"}
    while seen["step"] != "count.start":  # orders that arrive move the menu, which refuses the number from before
        assert seen["verdict"] == "input.choices_changed", (seen, app.terminal.text)
        text = app.shows("Count")
        seen = app.enter(text[: text.index(" Count")].split()[-1])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("size", [(40, 20), (20, 16)], ids=["40x20", "20x16"])
def test_hands_for_a_place_of_five_products(shop: Shop, picker: Pick, size: tuple[int, int]) -> None:
    place, rows = goods_at(shop, 5)
    before = shop.balances()
    app = picker(columns=size[0], rows=size[1])
    open_count(app)
    app.scans = 0
    app.take(place, "count.product", "count.at_location")
    for row in rows:
        app.take(row["barcode"], "count.product", "count.counted_of")
        short = 1 if row is rows[2] else 0
        app.take(str(int(row["here"]) - short), "count.product", "count.counted_of", typed=True)
    app.take("d", "count.summary", "count.differ_value")
    app.take("y", "count.start", "count.sent_differing")
    assert app.scans == 1 + 5 * (1 + 1) + 2
    written = awaited(app, shop, 5)
    assert {row["app_user_name"] for row in written} == {"U2"}
    assert {row["location_code"] for row in written} == {place}
    product = rows[2]["product_number"]
    told = {row["product_number"]: (row["expected_quantity"], row["counted_quantity"]) for row in written}
    wanted = {row["product_number"]: (row["here"], row["here"]) for row in rows}
    assert told == {**wanted, product: (rows[2]["here"], rows[2]["here"] - 1)}
    assert shop.balances() == {**before, product: before[product] - 1}


def test_counts_in_hand_survive_a_death_and_are_sent_once(shop: Shop, picker: Pick) -> None:
    place, rows = goods_at(shop, 4)
    before = shop.balances()
    app = picker("--terminal", "dock")
    open_count(app)
    app.take(place, "count.product", "count.at_location")
    for row in rows[:2]:
        app.take(row["barcode"], "count.product", "count.counted_of")
        app.take(str(int(row["here"])), "count.product", "count.counted_of", typed=True)
    app.terminal.kill(signal.SIGKILL)
    assert app.terminal.wait_exit() == -signal.SIGKILL
    app = picker("--terminal", "dock")
    app.shows(f"Count {place}", "2 of 4")
    assert not logs(shop)
    app.take("d", "count.missing", "count.missing")
    app.terminal.kill(signal.SIGKILL)
    assert app.terminal.wait_exit() == -signal.SIGKILL
    app = picker("--terminal", "dock")
    app.shows("How many?")
    app.take("n", "count.missing", "count.missing", typed=True)
    app.type("k")
    if app.seen()[-1]["step"] == "count.recount":
        app.take("0", "count.summary", "count.differ_value")
    app.take("y", "count.start", "count.sent_differing", typed=True)
    counted = {row["product_number"]: row["counted_quantity"] for row in awaited(app, shop, 3)}
    assert sorted(counted.values()) == sorted([rows[0]["here"], rows[1]["here"], 0])
    (gone,) = [number for number, quantity in counted.items() if not quantity]
    here = next(row["here"] for row in rows if row["product_number"] == gone)
    assert shop.balances() == {**before, gone: before[gone] - Decimal(str(here))}
