"""Counts, losses and moves of real goods in a real terminal on the real service, and looks in their middle that die."""

from __future__ import annotations

import signal
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.realdata.convert import STORE as ONLINE
from tests.realdata.convert import convert
from tests.terminal.picker import START_S, Picker
from tests.terminal.shop import Shop, door
from tests.terminal.test_count import goods_at, logs
from tests.terminal.test_entry_counts import open_job
from tests.terminal.test_move import empty_place, there

pytestmark = pytest.mark.pty

Pick = Callable[..., Picker]

Row = dict[str, Any]


def code(row: Row) -> str:
    """What is scanned of a product."""
    return str(row["barcode"] or row["product_number"])


def place(row: Row) -> str:
    """Where it lies."""
    return str(row["store_locations"][0]["store_location_code"])


def lying(shop: Shop) -> list[Row]:
    """Products at one place of their own, four pieces or more."""
    query = {"store_number": shop.store, "include_locations": True, "page_size": 500}
    rows = shop.ask("list-store-products-stock", **query)["list"]
    alone = [row for row in rows if len(row["store_locations"]) == 1 and row["store_locations"][0]["quantity"] >= 4]
    places = [place(row) for row in alone]
    return [row for row in alone if places.count(place(row)) == 1]


def count_it(app: Picker, row: Row, have: int) -> None:
    """One place with one product on it, whatever the difference leads to."""
    app.take(place(row), "count.product", "count.at_location")
    app.enter(code(row))
    app.type(str(have))
    seen = app.enter("d")
    while seen["step"] in ("count.missing", "count.recount", "count.summary"):
        seen = app.enter({"count.missing": "k", "count.recount": "d"}.get(seen["step"], "1"))
    assert seen["step"] == "count.start"


def work(app: Picker, shop: Shop) -> None:
    """Something is counted, lost, found and moved; the books and the log say so."""
    first, second, third = lying(shop)[:3]
    before, to = shop.balances(), empty_place(shop)
    here = int(first["store_locations"][0]["quantity"])
    open_job(app, "Count", "count.start")
    count_it(app, first, here - 1)
    app.take("1", "adjust.product", "")
    app.take(place(second), "adjust.product", "adjust.at_location")
    app.take(f"2*{code(second)}", "adjust.quantity", "adjust.how_many")
    app.take("d", "adjust.reason", "adjust.which_reason")
    app.take("1", "adjust.product", "adjust.lost")
    app.go_home()
    open_job(app, "Move", "move.from")
    app.take(place(third), "move.take", "move.at_location")
    app.take(f"3*{code(third)}", "move.take", "move.taken")
    app.take(to, "move.take", "move.moved")
    app.take("u", "move.take", "move.undone")
    app.take(to, "move.take", "move.after_undo")
    app.take("y", "move.take", "move.moved")
    app.shows("all sent")
    app.terminal.wait_for(lambda _: len(logs(shop)) >= 8, START_S)
    counted, lost, *moved = logs(shop)
    assert (counted["product_number"], counted["expected_quantity"], counted["counted_quantity"]) == (
        first["product_number"],
        here,
        here - 1,
    )
    assert (lost["product_number"], lost["quantity"], lost["reason_code"]) == (second["product_number"], -2, 1)
    assert {row["product_number"] for row in moved} == {third["product_number"]}
    assert {row["app_user_name"] for row in (counted, lost, *moved)} == {counted["app_user_name"]}
    assert counted["app_user_name"]
    assert all(row.get("reference") for row in (counted, lost, *moved)), (counted, lost, moved)
    assert there(shop, third["product_number"], to) == 3
    less = {first["product_number"]: 1, second["product_number"]: 2}
    assert shop.balances() == {number: have - Decimal(less.get(number, 0)) for number, have in before.items()}


def work_online(home: Path, picker: Pick) -> None:
    """Somebody works with the goods of the store that was loaded."""
    with Shop(home / "service.db", ONLINE) as shop:
        app = picker("--store", ONLINE)
        app.shows("Sign in", "live")
        app.enter("ann")
        app.take("1", "home", "sign_in.done")
        work(app, shop)


def test_made_up_goods(made_up_home: Path, picker: Pick) -> None:
    work_online(made_up_home, picker)


@pytest.mark.full
def test_real_goods(aisle_home: Path, tmp_path: Path, picker: Pick, test_data: Path) -> None:
    convert(test_data, tmp_path / "csv", sample=25, copies=["536365"])
    door("load", str(tmp_path / "csv"))
    door("sync", "--store", ONLINE)
    work_online(aisle_home, picker)


@pytest.mark.full
def test_killed_while_looking_in_counts_and_moves(shop: Shop, picker: Pick) -> None:
    """The next start stands in the look again, and back leads to the step that was left."""
    before = shop.balances()
    spot, (first, second, *_) = goods_at(shop, 5)
    looks = (f"?{second['barcode']}", f"Product {second['product_number']}"), (f"?{spot}", f"Place {spot}")
    ways = (
        (
            "Count",
            "count.start",
            (("", "counted today"), (spot, "0 of 5"), (first["barcode"], "1 of 5"), ("d", "Is it there?")),
        ),
        (
            "Move",
            "move.from",
            (
                ("", "comes from"),
                (spot, "Scan the product"),
                (first["barcode"], "Scan to-place"),
                ("c", "Cart: 1 product"),
                ("d", "1 product to put away"),
            ),
        ),
    )
    app = picker()
    app.sign_in("BADGE-U2")
    app.shows("live")
    for job, step, texts in ways:
        open_job(app, job, step)
        for number, (text, expected) in enumerate(texts):
            if text:
                app.enter(text)
            app.shows(expected)
            stood = app.told()
            look, shown = looks[number % 2]
            app.enter(look)
            app.shows(shown)
            app.terminal.kill(signal.SIGKILL)
            assert app.terminal.wait_exit() == -signal.SIGKILL
            app = picker()
            app.shows(shown, "Back where you left off")
            app.enter("b")
            app.stands_at(stood)
        for _ in range(9):
            seen = app.enter("x" if app.seen()[-1]["step"] == "count.leave" else "b")
            if seen["step"] in ("home", "move.leave"):
                break
        if seen["step"] == "move.leave":
            app.enter("x")
    assert logs(shop) == []
    assert shop.balances() == before
