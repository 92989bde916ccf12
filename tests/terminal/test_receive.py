"""Deliveries are received in a real terminal on the real service: on the smallest screen, and without a link."""

from __future__ import annotations

import signal
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.realdata.convert import STORE as ONLINE
from tests.realdata.convert import convert
from tests.run_length import tries
from tests.terminal.picker import START_S, Picker
from tests.terminal.service_process import Served, plain_service
from tests.terminal.shop import Shop, door
from tests.terminal.test_entry_counts import Hands, open_job
from tests.terminal.test_move import empty_place, there

pytestmark = pytest.mark.pty

Pick = Callable[..., Picker]
Row = dict[str, Any]

LINES = tries(12, 100)
CONTAINER = "00387123450000000018"


def code(row: Row) -> str:
    """What is scanned of a product."""
    return str(row["barcode"] or row["product_number"])


def whole_goods(shop: Shop, count: int) -> list[Row]:
    """So many products that are counted by the piece, each with a barcode of its own."""
    query = {"store_number": shop.store, "page_size": 500}
    found: dict[str, Row] = {}
    for row in shop.ask("list-store-products-stock", **query)["list"]:
        barcode = str(row.get("barcode") or "")
        if row["is_stock"] and len(barcode) >= 8:
            found.setdefault(barcode, row)
    decimals = {row["product_number"] for row in _catalogue(shop) if row.get("allow_decimal")}
    kept = [row for row in found.values() if row["product_number"] not in decimals]
    assert len(kept) > count
    return [*kept[:count], kept[-1]]


def _catalogue(shop: Shop) -> list[Row]:
    found: list[Row] = []
    for page in range(1, 99):
        records = shop.ask("list-products", page_size=500, page_number=page)["records"]
        found += records
        if len(records) < 500:
            break
    return found


def announce(shop: Shop, number: str, goods: list[Row], container: str = "") -> dict[str, int]:
    """A delivery of these products, from 1 to 12 pieces each; how many by product."""
    wanted = {row["product_number"]: 1 + at * 5 % 12 for at, row in enumerate(goods)}
    lines = [
        {"product_number": product, "quantity": quantity, **({"container_barcode": container} if container else {})}
        for product, quantity in wanted.items()
    ]
    order = {"order_number": number, "no_of_containers": 1, "supplier_name": "Hansen", "order_lines": lines}
    shop.ask("create-store-deliveries", {"orders": [order]})
    return wanted


def lines_of(shop: Shop, number: str) -> list[Row]:
    """The lines of a delivery as the service has them."""
    (row,) = shop.ask("list-deliveries", store_number=shop.store, order_number=number)["list"]
    assert isinstance(row, dict)
    return list(row["order_lines"])


def came(shop: Shop, number: str) -> dict[str, Decimal]:
    """What the service says was received, by product."""
    return {line["product_number"]: Decimal(str(line["received_quantity"])) for line in lines_of(shop, number)}


def take_all(app: Picker, goods: list[Row], wanted: dict[str, int]) -> None:
    """Product after product with its quantity, as fast as somebody could."""
    for row in goods:
        app.enter(code(row))
        app.type(str(wanted[row["product_number"]]))
    assert app.seen()[-1]["verdict"] == "pick.picked", (app.seen()[-1], app.terminal.text)


def receive_it(picker: Pick, shop: Shop, service: Served, arguments: tuple[str, ...], goods: list[Row]) -> None:
    """One after the other; the link goes, the program dies, both come back; what differs is shown and closed."""
    before, *goods, extra = shop.balances(), *goods
    wanted = announce(shop, "IN-100", goods, CONTAINER)
    door("sync", *arguments)
    app = picker(*arguments, columns=20, rows=16)
    app.shows("Sign in")
    app.enter("ann")
    app.take("1", "home", "sign_in.done")
    app.take(CONTAINER, "receive.goods", "receive.container")
    third = len(goods) // 3
    take_all(app, goods[:third], wanted)
    app.shows("all sent")
    service.end()
    take_all(app, goods[third : 2 * third], wanted)
    app.shows("offline")
    stood = app.told()
    app.terminal.kill(signal.SIGKILL)
    assert app.terminal.wait_exit() == -signal.SIGKILL
    app = picker(*arguments, columns=20, rows=16)
    app.shows("Back where you", "offline")
    app.stands_at(stood)
    service.start()
    *rest, short, over = goods[2 * third :]
    take_all(app, rest, wanted)
    less, more = wanted[short["product_number"]] - 1, wanted[over["product_number"]] + 2
    app.take(code(short), "receive.goods", "pick.picked")
    app.take(str(less + 0), "receive.goods", "pick.picked" if less else "move.none_taken", typed=True)
    app.take(f"{more}*{code(over)}", "receive.goods", "receive.more_than_announced")
    app.take("y", "receive.goods", "pick.picked")
    app.take(code(extra), "receive.goods", "receive.not_announced")
    app.take("y", "receive.goods", "receive.taken_extra")
    app.take("u", "receive.goods", "pick.undone")
    app.take(code(extra), "receive.goods", "receive.not_announced")
    app.take("y", "receive.goods", "receive.taken_extra")
    app.take("d", "receive.check", "receive.differ")
    app.shows("y Yes")
    app.take("y", "home", "receive.closed_short")
    wanted |= {short["product_number"]: less, over["product_number"]: more, extra["product_number"]: 1}
    with suppress(AssertionError):  # what differs is told below
        app.terminal.wait_for(lambda _: came(shop, "IN-100") == wanted, START_S)
    assert came(shop, "IN-100") == wanted
    app.shows("live", "all sent")
    (receipt,) = shop.ask("list-store-receipts", receipt_type=1, order_number="IN-100")["list"]
    assert {line["product_number"]: line["received_quantity"] for line in receipt["receipt_lines"]} == wanted
    assert receipt["status"] == "partial"
    assert shop.balances() == {number: have + wanted.get(number, 0) for number, have in before.items()}
    entries = shop.ask("list-store-product-logs", store_number=shop.store, reference="IN-100", page_size=500)["list"]
    assert sum(row["quantity"] for row in entries) == sum(wanted.values())
    assert len({row["app_user_name"] for row in entries}) == 1


@pytest.mark.full
def test_a_hundred_lines(demo_home: Path, shop: Shop, picker: Pick) -> None:
    goods = whole_goods(shop, LINES)
    with plain_service() as service:
        receive_it(
            picker, shop, service, ("--base-url", service.url, "--token-file", str(demo_home / "embedded.token")), goods
        )


@pytest.mark.full
def test_a_hundred_lines_of_real_goods(aisle_home: Path, tmp_path: Path, picker: Pick, test_data: Path) -> None:
    convert(test_data, tmp_path / "csv", sample=60, copies=["536365"])
    door("load", str(tmp_path / "csv"))
    with Shop(aisle_home / "service.db", ONLINE) as shop, plain_service() as service:
        arguments = ("--store", ONLINE, "--base-url", service.url, "--token-file", str(aisle_home / "embedded.token"))
        receive_it(picker, shop, service, arguments, whole_goods(shop, LINES))


def test_hands(shop: Shop, picker: Pick) -> None:
    """A delivery is 1 S, a product of it 1 S and 1 C, its end 1 C; put away at once it is 1 S more a product."""
    goods = shop.goods(4)[:3]
    wanted = announce(shop, "IN-3", goods)
    app = picker(columns=20, rows=16)
    app.sign_in("BADGE-U2")
    door("sync")
    app.shows("live")
    hands = Hands(app)
    before, place = shop.balances(), empty_place(shop)
    hands.scan("IN-3", "receive.goods", "receive.opened")
    first, second, third = goods
    hands.scan(code(first), "receive.goods", "pick.picked")
    hands.enter("1", "receive.goods", "pick.picked")
    hands.scan(code(second), "receive.goods", "pick.picked")
    hands.enter(str(wanted[second["product_number"]]), "receive.goods", "pick.picked")
    hands.scan(place, "receive.goods", "receive.put")
    hands.scan(code(third), "receive.goods", "pick.picked")
    hands.enter(str(wanted[third["product_number"]]), "receive.goods", "pick.picked")
    hands.enter("d", "home", "receive.closed")
    assert hands.did == {"S": 1 + 3 + 1, "C": 3 + 1}
    app.shows("all sent")
    assert came(shop, "IN-3") == wanted
    assert there(shop, second["product_number"], place) == wanted[second["product_number"]]
    assert shop.balances() == {number: have + wanted.get(number, 0) for number, have in before.items()}
    app.take("IN-3", "receive.goods", "receive.received_before")
    app.take("a", "home", "")
    announce(shop, "IN-4", goods[:1])
    door("sync")
    app.take("7", "home", "")
    open_job(app, "Receive", "receive.delivery")
    app.shows("1–4/6")
    app.take("n", "receive.delivery", "")
    app.shows("IN-4")
    app.take("1", "receive.goods", "receive.opened")
    app.take("l", "receive.lines", "")
    app.take("b", "receive.goods", "home.partly_received")
    app.take("b", "receive.delivery", "")
