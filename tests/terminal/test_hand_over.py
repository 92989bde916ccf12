"""Hand-over in a real terminal, against the real service: what goes back, no link, and a kill in between."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.terminal.picker import Picker
from tests.terminal.service_process import plain_service
from tests.terminal.shop import Line, Shop, door
from tests.terminal.test_offline import assert_waiting, operations

pytestmark = pytest.mark.pty

Pick = Callable[..., Picker]

ORDER, PLACE = "READY-1", "PU-03"


@pytest.fixture
def lines(shop: Shop) -> list[Line]:
    """An order of two lines that is picked and put down; its customer has a telephone."""
    goods = [(row["product_number"], quantity) for row, quantity in zip(shop.goods(2), (2, 1), strict=True)]
    shop.add_order(ORDER, goods, customer_name="Zelda Quill", customer_phone="+44 20 7946 0958")
    lines = shop.lines(ORDER)
    picked = [
        {"line_number": line.number, "product_number": line.product, "picked_quantity": line.quantity} for line in lines
    ]
    shop.ask("update-customer-order", {"orders": {"order_number": ORDER, "order_lines": picked}})
    moves = [_move(line) for line in lines]
    shop.ask("create-movement", moves)
    return lines


def _move(line: Line) -> dict[str, Any]:
    held = {"customer_order_number": ORDER, "customer_order_line_number": line.number}
    end = {"from_location": held, "to_location": {**held, "location_code": PLACE}}
    return {"product_number": line.product, "quantity": line.quantity, **end}


def delivered(shop: Shop) -> list[int]:
    """What left the store of each line; empty while the order is active."""
    order = shop.order(ORDER)
    return [] if order["is_active"] else [line["delivery_qty"] for line in order["lines"]]


def open_list(app: Picker) -> None:
    """From home, by the menu."""
    for key in ("7", "9", "9"):
        app.enter(key)
    app.shows("Hand over to the customer", ORDER)
    app.scans = 0


def test_a_part_goes_back_without_a_link_and_after_a_kill(
    demo_home: Path, shop: Shop, lines: list[Line], picker: Pick
) -> None:
    first, second = lines
    before, keys = shop.balances(), set(shop.keys())
    with plain_service() as service:
        arguments = ("--base-url", service.url, "--token-file", str(demo_home / "embedded.token"))
        door("sync", *arguments)
        app = picker(*arguments, columns=80, rows=24)
        app.sign_in("BADGE-U2")
        app.shows("live")
        open_list(app)
        app.take(ORDER, "hand_over.order", "order.title")
        service.end()
        app.type("2")
        app.enter(second.code)
        app.take(second.place, "hand_over.order", "hand_over.put_back")
        app.take("u", "hand_over.order", "hand_over.put_back_undone")
        assert_waiting(app, demo_home, service.url)
        app.type("2")
        app.enter(first.code)
        app.shows("How many go back?")
        app.terminal.kill(signal.SIGKILL)

        app = picker(*arguments, columns=80, rows=24)
        app.shows("Back where you left off", first.name)
        app.type("1")
        app.take(first.place, "hand_over.order", "hand_over.put_back")
        app.take(PLACE, "hand_over", "hand_over.done")
        assert delivered(shop) == []

        service.start()
        app.shows("live", "all sent")
        assert delivered(shop) == [1, 1]
    states = operations(demo_home, service.url)
    assert set(states.values()) == {"done"}
    assert set(shop.keys()) - keys == set(states)
    gone = {line.product: before[line.product] - 1 for line in lines}
    assert shop.balances() == {**before, **gone}
