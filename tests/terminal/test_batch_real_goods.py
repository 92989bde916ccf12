"""A round of three orders of real goods in a real terminal on the real service: books, logs that say who and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.realdata import lookalike
from tests.realdata.convert import STORE as ONLINE
from tests.realdata.convert import convert
from tests.terminal.picker import START_S, Picker
from tests.terminal.shop import Line, Shop, door
from tests.terminal.test_document_goods import open_job
from tests.terminal.test_move import empty_place
from tests.terminal.test_shortage import number_of

pytestmark = pytest.mark.pty

Pick = Callable[..., Picker]

USER = "ann"
DAMAGED = 22
MOST_LINES = 12


def third_order(shop: Shop, *others: str) -> str:
    """Another small order of the store."""
    rows = shop.ask("list-customer-orders", page_size=500)["list"]
    fit = [row for row in rows if row["order_number"] not in others and 0 < row["total_lines"] <= MOST_LINES]
    return str(min(fit, key=lambda row: (row["total_lines"], row["order_number"]))["order_number"])


def wanted(shop: Shop, orders: list[str]) -> dict[str, tuple[str, int]]:
    """What all of them want together: how each product is scanned, and how many of it."""
    lines: list[Line] = [line for order in orders for line in shop.lines(order)]
    sums = Counter[str]()
    for line in lines:
        sums[line.product] += line.quantity
    codes = {line.product: line.code for line in lines}
    return {product: (codes[product], count) for product, count in sums.items()}


def logs(shop: Shop, product: str) -> list[dict[str, Any]]:
    """What the log has of a product that this person did."""
    rows = shop.ask("list-store-product-logs", store_number=shop.store, article_number=product, page_size=500)["list"]
    return [row for row in rows if row.get("app_user_name") == USER]


def work(app: Picker, shop: Shop, orders: list[str]) -> None:
    """All is picked in one walk but for the last product, which is damaged; then the totes are put down."""
    before, goods, to = shop.balances(), wanted(shop, orders), empty_place(shop)
    *others, (broken, (code, count)) = goods.items()
    assert count > 1
    open_job(app, "Round", "batch")
    for order in orders:
        app.take(order, "batch", "batch.added")
    app.take("g", "pick.product", "pick.batch_opened")
    for _, (each, total) in others:
        seen = app.enter(f"{total}*{each}")
        assert seen["verdict"] in ("pick.picked_for_totes", "pick.picked_for_tote", "pick.tote_full"), seen
    app.take(code, "pick.product", "pick.picked_for_tote")
    app.take("s", "shortage.choices", "shortage.opened")
    app.take(number_of(app, "Damaged"), "pick.done", "pick.short")
    app.terminal.wait_for(lambda _: all(shop.is_picked(order) for order in orders), START_S)
    app.take(to, "pick.done", "pick.put_down_totes")
    app.terminal.wait_for(
        lambda _: all(line.moved == line.picked for order in orders for line in shop.lines(order)), START_S
    )
    app.shows("all sent")
    taken = {product: total for product, (_, total) in others} | {broken: Decimal(1)}
    found = dict.fromkeys(goods, Decimal(0))
    for line in (line for order in orders for line in shop.lines(order)):
        found[line.product] += line.picked
    assert found == taken
    assert shop.balances() == before
    for product in goods:
        entries = logs(shop, product)
        assert {row["reference"] for row in entries if row["source"] == "pick"} <= set(orders)
        assert entries
        assert all(row.get("reference") for row in entries), entries
    short = [row for row in logs(shop, broken) if row["source"] == "short"]
    assert short
    assert {row["reason_code"] for row in short} == {DAMAGED}


def work_online(home: Path, picker: Pick, invoice: str) -> None:
    """Somebody picks two copies of an invoice with a third order."""
    with Shop(home / "service.db", ONLINE) as shop:
        copies = [invoice, f"{invoice}-2"]
        app = picker("--store", ONLINE)
        app.shows("Sign in", "live")
        app.enter(USER)
        app.take("1", "home", "sign_in.done")
        work(app, shop, [*copies, third_order(shop, *copies)])


def test_a_round_of_made_up_goods(made_up_home: Path, picker: Pick) -> None:
    work_online(made_up_home, picker, lookalike.INVOICE)


@pytest.mark.full
def test_a_round_of_real_goods(aisle_home: Path, tmp_path: Path, picker: Pick, test_data: Path) -> None:
    convert(test_data, tmp_path / "csv", sample=25, copies=["536365"])
    door("load", str(tmp_path / "csv"))
    door("sync", "--store", ONLINE)
    work_online(aisle_home, picker, "536365")
