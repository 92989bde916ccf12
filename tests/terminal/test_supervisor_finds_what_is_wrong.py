"""A supervisor who was told only to find what is wrong in the store: Today leads to each of it, and three orders are
rejected in three entries."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from aisle.service.demo.seed import SUPERVISOR_PIN
from tests.terminal.picker import START_S, Picker
from tests.terminal.shop import Shop

pytestmark = [pytest.mark.pty, pytest.mark.full]

TILES = (
    ("1", ("Orders: to pick, late", "4101", "4102", "4103", "4104", "4105", "4106", "4107")),
    ("2", ("4104", "Dev Patel", "Claimed by")),
    ("3", ("Orders: in progress, free", "4112", "4128")),
    ("4", ("4112", "1 short")),
    ("5", ("Orders: picked", "4084", "Kit Gray")),
    ("6", ("Count differences", "Approve")),
    ("7", ("Negative stock", "-2: negative stock")),
    ("8", ("7003", "7004", "Supplier")),
)
"""Number of each tile that is not zero, and what its list names."""


def shows(app: Picker, *texts: str) -> None:
    app.terminal.wait_for(lambda glass: all(text in glass.text for text in texts), START_S)


def at_today(picker: Callable[..., Picker]) -> Picker:
    app = picker(columns=160, rows=45)
    shows(app, "Type your name")
    app.enter("fred")
    shows(app, "Late orders", "Latest entries", "4101, ")
    return app


def press(app: Picker, key: bytes) -> None:
    app.rest()
    app.terminal.write(key)


@pytest.mark.usefixtures("demo_home")
def test_each_tile_of_today_leads_to_what_is_wrong_and_back(picker: Callable[..., Picker]) -> None:
    app = at_today(picker)
    for number, named in TILES:
        app.type(number)
        shows(app, *named)
        press(app, b"b")
        shows(app, "Late orders", "Latest entries")
    app.type("11")
    shows(app, "Expiry checks: 6 left", "Brie")
    app.type("b")
    shows(app, "Late orders", "Latest entries")
    app.type("1")
    shows(app, "with shortages 1", "4101")
    column, row = next(
        (line.index("with shortages") + 1, row)
        for row, line in enumerate(app.terminal.screen, 1)
        if "with shortages" in line
    )
    press(app, f"\x1b[<0;{column};{row}M".encode())
    shows(app, "Orders: active, with shortages", "4112", "René Knox")


def test_three_orders_are_rejected_in_three_entries(picker: Callable[..., Picker], shop: Shop) -> None:
    app = at_today(picker)
    app.type("1")
    shows(app, "4101", "4107", "Letters act at once")
    for count in (1, 2, 3):
        press(app, b"\x1b[1;2B" if count > 1 else b" ")
        shows(app, f"Marked: {count} order")
    press(app, b"j")
    shows(app, "Why?")
    app.type("2")
    shows(app, "Are you sure?")
    app.type("1")
    shows(app, "PIN")
    app.type(SUPERVISOR_PIN)
    shows(app, "Result")
    app.terminal.wait_for(
        lambda _: sum(shop.order(number)["is_rejected"] for number in ("4101", "4102", "4103")) == 3 or None, START_S
    )
