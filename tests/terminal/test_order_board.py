"""A supervisor at a real terminal on the real service: what is done to orders, and what has to be settled."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.terminal.picker import START_S, Picker
from tests.terminal.shop import Shop, on_this_host
from tests.terminal.test_entry_counts import open_job

pytestmark = pytest.mark.pty

Pick = Callable[..., Picker]


def numbered(app: Picker, words: str) -> str:
    """The number in front of these words on the screen."""
    text = app.shows(words)
    return text[: text.index(f" {words}")].split()[-1]


def until(app: Picker, check: Callable[[], Any]) -> None:
    """Waits until the service says so."""
    app.terminal.wait_for(lambda _: check() or None, START_S)


def at_the_desk(picker: Pick, shop: Shop, orders: int) -> Picker:
    """A signed-in supervisor, and so many orders of two products each that are here already."""
    goods = shop.goods(2)
    for number in range(1, orders + 1):
        shop.add_order(f"SUP-{number}", [(row["product_number"], 3) for row in goods], customer_name="Ms Okafor")
    app = picker(columns=80, rows=24)
    app.sign_in("grace")
    app.shows("live", "SUP-1")
    return app


def test_a_supervisor_works_on_an_order_and_on_differences(shop: Shop, picker: Pick, demo_home: Path) -> None:
    app = at_the_desk(picker, shop, 1)
    claim_shorten_reject_and_reopen(app, shop)
    app.go_home()
    approve_one_difference_and_recount_another(app, shop)
    told = on_this_host(demo_home, "SELECT operation, state FROM operation WHERE superseded_by = ''")
    assert ("write-recounts", "done") in told
    assert {state for _, state in told} == {"done"}
    app.take("6", "exceptions.recounts", "")
    app.take("1", "count.product", "count.how_many_at")
    shop.balances()


def claim_shorten_reject_and_reopen(app: Picker, shop: Shop) -> None:
    """An order, seen on its page and asked of the service."""
    open_job(app, "More", "home")
    app.take(numbered(app, "Orders"), "orders", "")
    app.shows("Orders: active", "SUP-1")
    app.take("SUP-1", "order", "")
    app.shows("Ms Okafor", "0 of 6", "2 lines")
    app.take(numbered(app, "Claim for"), "order_actions.person", "")
    app.take("ben", "order", "order_actions.done_claim")
    app.shows("Claimed by Ben Okafor")
    until(app, lambda: shop.order("SUP-1").get("claimed_by") == "U2")
    app.take("e", "order.lines", "")
    app.take("1", "order_actions.reason", "")
    app.take("Fell off the van", "order", "order.event_short")
    until(app, lambda: shop.lines("SUP-1")[0].is_picked or shop.lines("SUP-1")[1].is_picked)
    closed = next(line for line in shop.order("SUP-1")["lines"] if line["is_picked"])
    assert (closed["picked_quantity"], closed["rejection_reason_code_description"]) == (0, "Fell off the van")
    app.take("u", "order", "pick.reopened")
    until(app, lambda: not any(line.is_picked for line in shop.lines("SUP-1")))
    app.take(numbered(app, "Reject"), "order_actions.reason", "")
    app.take("Customer called off", "order_actions.confirm", "")
    app.take("1", "order", "order_actions.done_reject")
    until(app, lambda: shop.order("SUP-1")["is_rejected"])
    app.shows("Rejected: Customer called off", "all sent")
    app.take("u", "order", "home.reopened")
    until(app, lambda: not shop.order("SUP-1")["is_rejected"])
    app.shows("all sent")


@pytest.mark.full
def test_rejecting_many_orders_reports_each_result(shop: Shop, picker: Pick) -> None:
    app = at_the_desk(picker, shop, 3)
    open_job(app, "More", "home")
    app.take(numbered(app, "Orders"), "orders", "")
    app.shows("SUP-1", "SUP-3")
    app.take("m", "orders", "orders.marking")
    for number in (1, 2, 3):
        app.take(f"SUP-{number}", "orders", "orders.marked")
    app.shows("Marked: 3 orders")
    shop.ask("update-customer-order", {"orders": {"order_number": "SUP-2", "is_active": False}})
    app.take("d", "order_actions.action", "")
    app.take(numbered(app, "Reject the order"), "order_actions.reason", "")
    app.take("1", "order_actions.confirm", "")
    app.enter("1")
    app.shows("Result", "all sent")
    until(app, lambda: shop.order("SUP-1")["is_rejected"] and shop.order("SUP-3")["is_rejected"])
    app.shows("confirmed")
    assert not shop.order("SUP-2")["is_rejected"]
    shown = app.shows("Order SUP-2 is finished")
    assert shown.count("confirmed") == 2
    assert app.enter("b")["step"] == "orders"
    app.take("SUP-1", "order", "")
    app.shows("rejected, 0 of 6 picked")


def approve_one_difference_and_recount_another(app: Picker, shop: Shop) -> None:
    """Two counts of somebody else differ from the books."""
    first, second = shop.goods(2)
    counted = [
        {
            "product_number": row["product_number"],
            "location_code": row["store_locations"][0]["store_location_code"],
            "stock_pool_1": 900 + number,
            "app_user_name": "U2",
        }
        for number, row in enumerate((first, second))
    ]
    shop.ask("create-store-product-logs", {"storeproductlog": counted}, is_counted_quantity=True)
    open_job(app, "More", "home")
    app.take(numbered(app, "Exceptions"), "exceptions", "")
    app.terminal.wait_for(
        lambda glass: int((re.findall(r"Count differences +(\d+)", glass.text) or ["0"])[0]) >= 2, START_S
    )
    app.take("2", "exceptions.differences", "")
    app.take("1", "exceptions.one", "")
    app.take("1", "exceptions.differences", "exceptions.approved_on_host")
    app.take("1", "exceptions.one", "")
    app.take("2", "exceptions.differences", "count.to_recounts")
    app.shows("all sent")
    app.take("b", "exceptions", "")
    app.shows("6 Recounts ordered 1")
