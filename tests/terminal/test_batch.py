"""A round of three orders in a real terminal on the real service: hands, totes, books and logs; also after a kill."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any, NamedTuple

import pytest

from tests.terminal.picker import START_S, Picker
from tests.terminal.shop import Shop

pytestmark = pytest.mark.pty

Pick = Callable[..., Picker]

ORDERS = ("R-1", "R-2", "R-3")

WANTED = ({0: 1, 1: 2}, {0: 2, 2: 1}, {1: 1, 2: 1, 3: 1})
"""What each order wants: the index of a product, and how many. Seven lines at four places."""

TAKES = ("A1 B2", "A2 C1", "B1 C1", "C1")
"""What the screen says at the stop of each product."""

GATHER = 1 + 3 + 1
"""From home: the entry of the menu, a scan for each order, and a letter to start."""


class Goods(NamedTuple):
    """One product, at a place of its own."""

    number: str
    code: str
    place: str
    total: int
    """How many all orders want together."""
    takes: str


@pytest.fixture
def goods(shop: Shop) -> list[Goods]:
    """The orders, and their products in the order of the walk."""
    found = shop.goods(4)
    for order, wanted in zip(ORDERS, WANTED, strict=True):
        shop.add_order(order, [(found[index]["product_number"], count) for index, count in wanted.items()])
    walk = {line.product: place for order in ORDERS for place, line in enumerate(shop.lines(order))}
    assert set(walk) == {row["product_number"] for row in found}
    given = [
        Goods(
            row["product_number"],
            row["barcode"],
            row["store_locations"][0]["store_location_code"],
            sum(wanted.get(index, 0) for wanted in WANTED),
            TAKES[index],
        )
        for index, row in enumerate(found)
    ]
    orders = {
        line["product_number"]: line.get("store_walking_order") or 0
        for order in ORDERS
        for line in shop.order(order)["lines"]
    }
    return sorted(given, key=lambda each: orders[each.number])


def gather(app: Picker, orders: Iterable[str] = ORDERS) -> None:
    """From home to the first stop: each order is scanned once and gets its tote."""
    app.take("6", "batch", "")
    for letter, order in zip("ABC", orders, strict=True):
        app.take(order, "batch", "batch.added")
        app.shows(f"{letter} {order}")
    app.enter("g")


def walk(app: Picker, goods: list[Goods], *, verified: bool) -> None:
    """Each stop: its place where places are verified, then one scan for all totes together."""
    for index, each in enumerate(goods):
        app.shows(each.place, each.takes)
        if verified:
            app.take(each.place, "pick.product", "pick.at_location")
        last = index == len(goods) - 1
        seen = app.enter(f"{each.total}*{each.code}" if each.total > 1 else each.code)
        assert seen["verdict"] in (
            "pick.picked_for_totes",
            "pick.picked_for_tote",
            "pick.tote_full",
            "pick.batch_all_picked",
        ), seen
        assert (seen["verdict"] == "pick.batch_all_picked") == last


def arrived(app: Picker, shop: Shop) -> None:
    """Waits until the service has all orders as picked, each line at what was ordered."""
    app.terminal.wait_for(lambda _: all(shop.is_picked(order) for order in ORDERS), START_S)
    for order, wanted in zip(ORDERS, WANTED, strict=True):
        assert sorted(shop.picked(order).values()) == sorted(Decimal(count) for count in wanted.values())


def logs(shop: Shop, product: str) -> list[dict[str, Any]]:
    """What the log has of a product."""
    rows: list[dict[str, Any]] = shop.ask(
        "list-store-product-logs", store_number=shop.store, article_number=product, page_size=100
    )["list"]
    return rows


@pytest.mark.parametrize(
    ("size", "flags", "hands"),
    [
        ((20, 16), ("--verified",), 8),
        pytest.param((40, 8), (), 4, marks=pytest.mark.full),
        pytest.param((40, 20), ("--verified",), 8, marks=pytest.mark.full),
    ],
    ids=["place-20x16", "product-40x8", "place-40x20"],
)
def test_three_orders_in_one_walk_are_one_scan_a_take(
    shop: Shop, goods: list[Goods], picker: Pick, size: tuple[int, int], flags: tuple[str, ...], hands: int
) -> None:
    before = shop.balances()
    known = {row["id"] for each in goods for row in logs(shop, each.number)}
    app = picker(*flags, columns=size[0], rows=size[1])
    app.sign_in("BADGE-U2")
    app.shows("R-1")
    app.scans = 0
    gather(app)
    assert app.scans == GATHER
    walk(app, goods, verified=bool(flags))
    assert app.scans == GATHER + hands
    arrived(app, shop)
    app.take("PU-01", "pick.done", "pick.put_down_totes")
    assert app.scans == GATHER + hands + 1
    app.terminal.wait_for(
        lambda _: all(line.moved == line.quantity for order in ORDERS for line in shop.lines(order)), START_S
    )
    assert shop.balances() == before
    for each in goods:
        entries = [row for row in logs(shop, each.number) if row["id"] not in known]
        assert entries
        assert {row["app_user_name"] for row in entries} == {"U2"}
        assert all(row.get("reference") for row in entries)
        assert {row["reference"] for row in entries if row["source"] == "pick"} <= set(ORDERS)
    app.enter("b")
    app.shows("1 Pick")


def test_single_tote_batch_with_undo_and_kill(shop: Shop, goods: list[Goods], picker: Pick) -> None:
    before = shop.balances()
    app = picker()
    app.sign_in("BADGE-U2")
    app.shows("R-1")
    gather(app)
    first, *others = goods
    for _ in range(2):
        app.enter(first.code)
    app.take("u", "pick.product", "pair")
    app.shows("1 picked")
    kept = app.told()
    app.terminal.kill(signal.SIGKILL)
    app.terminal.wait_exit()
    app = picker()
    app.shows("Back where you left off", first.place)
    app.stands_at(kept)
    app.take(f"{first.total - 1}*{first.code}", "pick.product", "pick.picked_for_tote")
    walk(app, others, verified=False)
    arrived(app, shop)
    app.take("2", "pick.done", "pick.choice_tote")
    app.take("PU-02", "pick.done", "pick.put_down_totes")
    app.terminal.wait_for(lambda _: all(line.moved == line.quantity for line in shop.lines("R-2")), START_S)
    assert not any(line.moved for order in ("R-1", "R-3") for line in shop.lines(order))
    app.take("u", "pick.done", "pair")
    app.terminal.wait_for(lambda _: not any(line.moved for line in shop.lines("R-2")), START_S)
    app.take("PU-01", "pick.done", "pick.put_down_totes")
    app.terminal.wait_for(
        lambda _: all(line.moved == line.quantity for order in ORDERS for line in shop.lines(order)), START_S
    )
    assert shop.balances() == before


def test_totes_are_verified_after_a_kill_too(shop: Shop, goods: list[Goods], picker: Pick) -> None:
    verifying = {"AISLE_VERIFY_TOTES": "true"}
    app = picker(env=verifying, columns=20, rows=16)
    app.sign_in("BADGE-U2")
    app.shows("R-1")
    app.take("6", "batch", "")
    for number, order in enumerate(ORDERS, 1):
        app.take(order, "batch", "batch.added")
        app.take(f"TOTE-{number}", "batch", "batch.tote")
    app.enter("g")
    first, second, *_ = goods
    labels = {"A": "TOTE-1", "B": "TOTE-2", "C": "TOTE-3"}
    wrong = next(letter for letter in labels if letter not in first.takes)
    seen = app.enter(f"{first.total}*{first.code}" if first.total > 1 else first.code)
    assert seen["step"] == "pick.tote"
    app.terminal.kill(signal.SIGKILL)
    app.terminal.wait_exit()
    app = picker(env=verifying, columns=20, rows=16)
    letters = [each[0] for each in first.takes.split()]
    app.shows(f"Scan tote {letters[0]}")
    app.take(second.code, "pick.tote", "pick.verify_tote_first")
    app.take(labels[wrong], "pick.tote", "pick.verify_tote_first")
    for letter in letters[:-1]:
        app.take(labels[letter], "pick.tote", "pick.in_tote")
    app.take(labels[letters[-1]], "pick.product", "pick.in_tote")
    app.terminal.wait_for(lambda _: sum(sum(shop.picked(order).values()) for order in ORDERS) == first.total, START_S)
    app.take("u", "pick.product", "pair")
    app.terminal.wait_for(lambda _: not any(sum(shop.picked(order).values()) for order in ORDERS), START_S)


@pytest.mark.full
def test_a_number_gathers_the_next_orders_and_one_is_rejected_on_the_way(
    shop: Shop, goods: list[Goods], picker: Pick
) -> None:
    app = picker()
    app.sign_in("BADGE-U2")
    app.shows("R-1", "live")
    app.take("6", "batch", "")
    app.take("3", "batch", "batch.added")
    app.shows("A R-1", "B R-2", "C R-3", "all sent")
    app.take("g", "pick.product", "pick.batch_opened")
    shared = next(each for each in goods if each.takes == "A1 B2")
    app.take(f"3*{shared.code}", "pick.product", "pick.picked_for_totes")
    app.terminal.wait_for(lambda _: sum(shop.picked("R-2").values()) == 2, START_S)
    shop.ask("update-customer-order", {"orders": {"order_number": "R-2", "is_rejected": True}})
    app.shows("Put 2 back in place", shared.place)
    app.take("y", "pick.product", "pick.choice_put_back")
    for each in goods:
        if each is not shared:
            count = each.total - (1 if "B1" in each.takes else 0)
            app.enter(f"{count}*{each.code}" if count > 1 else each.code)
    app.shows("All picked")
    app.terminal.wait_for(lambda _: shop.is_picked("R-1") and shop.is_picked("R-3"), START_S)
