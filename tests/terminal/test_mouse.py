"""The mouse on a desk-sized terminal: a click does what typing the key under it does, in the order of the inputs."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from aisle.tui.mouse import MOUSE_OFF, MOUSE_ON
from tests.terminal.picker import START_S, Picker
from tests.terminal.shop import Shop

pytestmark = pytest.mark.pty

Pick = Callable[..., Picker]


def at_the_desk(picker: Pick, shop: Shop, columns: int = 120, rows: int = 40) -> Picker:
    """A signed-in supervisor with three orders."""
    for number in (1, 2, 3):
        shop.add_order(f"SUP-{number}", [(row["product_number"], 3) for row in shop.goods(2)])
    app = picker(columns=columns, rows=rows)
    app.sign_in("anna")
    app.shows("live", "SUP-3")
    return app


def place(app: Picker, words: str) -> tuple[int, int]:
    """Column and row (from 1) of words on the screen."""
    app.shows(words)
    row, line = next((row, line) for row, line in enumerate(app.terminal.screen, 1) if words in line)
    return line.index(words) + 1, row


def press(app: Picker, words: str, button: int = 0) -> None:
    """A press and release of a button on these words; nothing waits."""
    column, row = place(app, words)
    app.rest()
    app.terminal.write(f"\x1b[<{button};{column};{row}M\x1b[<{button};{column};{row}m".encode())


def shows(app: Picker, *texts: str) -> None:
    app.terminal.wait_for(lambda glass: all(text in glass.text for text in texts), START_S)


@pytest.mark.full
def test_a_click_selects_an_order_at_home_and_a_double_click_opens_it(shop: Shop, picker: Pick) -> None:
    app = at_the_desk(picker, shop)
    press(app, "SUP-2")
    _, row = place(app, "SUP-2")
    app.terminal.wait_for(lambda glass: "› SUP-2" in glass.screen[row - 1], START_S)
    press(app, "SUP-3")
    press(app, "SUP-3")
    shows(app, "Pick SUP-3")


def test_clicks_choose_select_open_and_go_back(shop: Shop, picker: Pick) -> None:
    app = at_the_desk(picker, shop)
    assert MOUSE_ON.encode() in app.terminal.raw
    clicks_on_the_footer_and_the_palette(app)
    app.go_home()
    press(app, "More")
    press(app, "3 Orders")
    shows(app, "Orders: active", "SUP-2")
    press(app, "SUP-2")
    shows(app, "›")
    _, row = place(app, "SUP-2")
    app.terminal.wait_for(lambda glass: "›" in glass.screen[row - 1], START_S)
    press(app, "SUP-2")
    press(app, "SUP-2")
    shows(app, "Order SUP-2", "History")
    press(app, "Back")
    letters_act_at_once_and_scans_stay_scans(app)


def test_a_resize_switches_the_mouse_and_inputs_between_clicks_are_taken_once(shop: Shop, picker: Pick) -> None:
    """A handheld has no mouse. What is clicked, scanned and clicked is taken in this order. Ctrl+K opens the palette,
    the same byte in a scan does not."""
    app = at_the_desk(picker, shop, 40, 20)
    assert MOUSE_ON.encode() not in app.terminal.raw
    app.terminal.resize(120, 40)
    app.terminal.wait_for(lambda glass: MOUSE_ON.encode() in glass.raw, START_S)
    shows(app, "More", "SUP-1")
    column, row = place(app, "SUP-1")
    click = f"\x1b[<0;{column};{row}M\x1b[<0;{column};{row}m"
    app.rest()
    app.terminal.write(f"{click}SUP-3\r{click}".encode())
    shows(app, "SUP-3")
    app.terminal.wait_for(lambda _: any(entry["raw"] == "SUP-3" for entry in app.seen()), START_S)
    assert [entry["raw"] for entry in app.seen()].count("SUP-3") == 1
    app.go_home()
    app.rest()
    app.terminal.write(b"\x0bSUP-3\r\x0b")
    shows(app, "Pick SUP-3")
    app.rest()
    assert "Commands" not in app.terminal.text.splitlines()[1]
    app.terminal.write(b"\x0b")
    shows(app, "Command", "Type its number")
    app.terminal.resize(80, 24)
    app.terminal.wait_for(lambda glass: MOUSE_OFF.encode() in glass.raw, START_S)


@pytest.mark.full
def test_nothing_else_is_a_click(shop: Shop, picker: Pick) -> None:
    app = at_the_desk(picker, shop)
    before = len(app.seen())
    press(app, "live")
    press(app, "SUP-1", button=2)
    app.terminal.write(b"\x1b[<0;999;999M\x1b[<0;0;0M\x1b[<35;10;10M")
    app.enter("SUP-2")
    assert len(app.seen()) == before + 1


@pytest.mark.full
def test_a_tab_and_any_line_of_a_tile_open_their_pages(shop: Shop, picker: Pick) -> None:
    app = at_the_desk(picker, shop)
    press(app, "Today")
    shows(app, "Late orders", "1 Late", "Negative stock")
    column, row = place(app, "Negative stock")
    app.rest()
    app.terminal.write(f"\x1b[<0;{column};{row + 1}M".encode())
    shows(app, "Negative stock", "-2: negative stock")
    press(app, "Orders 4")
    shows(app, "Orders: active")


def letters_act_at_once_and_scans_stay_scans(app: Picker) -> None:
    """On the list of orders."""
    shows(app, "Orders: active", "A letter acts at once")
    press(app, "SUP-2")
    app.rest()
    app.terminal.write(b" ")
    shows(app, "*›SUP-2")
    app.terminal.write(b"j")
    shows(app, "Order SUP-2", "Why? A number, or your own words")
    app.enter("b")
    shows(app, "Cancelled")
    for byte in b"SUP-3\r":
        app.terminal.write(bytes([byte]))
        time.sleep(0.012)
    shows(app, "Order SUP-3")
    time.sleep(0.6)  # or it would belong to the scan
    app.rest()
    app.terminal.write(b"b")
    shows(app, "Marked: 1")


def clicks_on_the_footer_and_the_palette(app: Picker) -> None:
    """They press keys, and choose a hit."""
    press(app, "F11")
    shows(app, "Log: ")
    press(app, "F6 Today")
    shows(app, "Late orders")
    press(app, "Ctrl+K")
    shows(app, "Type its number")
    app.rest()
    for byte in b"sup":
        app.terminal.write(bytes([byte]))
        time.sleep(0.1)
    shows(app, "Order SUP-1", "Order SUP-3")
    press(app, "Order SUP-3")
    press(app, "Order SUP-3")
    shows(app, "Order SUP-3", "History")
    app.terminal.wait_for(lambda glass: "› sup" not in glass.text, START_S)
