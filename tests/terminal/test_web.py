"""`aisle web` through its own HTTP and websocket: a supervisor at work in a browser, and whoever is none."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.terminal.browser import Browser, Web
from tests.terminal.lifeline import processes_under
from tests.terminal.picker import Picker
from tests.terminal.shop import Shop, on_this_host
from tests.terminal.test_entry_counts import open_job
from tests.terminal.test_order_board import at_the_desk, numbered

pytestmark = pytest.mark.pty


@pytest.fixture
def web(demo_home: Path) -> Iterator[Web]:
    with Web() as served:
        yield served


@pytest.fixture
def browser(web: Web) -> Iterator[Browser]:
    with Browser(web.url) as opened:
        yield opened


def sessions(home: Path) -> list[int]:
    """The processes of screens."""
    return [pid for pid, command in processes_under(home.parent).items() if "aisle.cli.web_session" in command]


def nobody_gets_in(browser: Browser, home: Path) -> None:
    """Without the PIN of a supervisor there is nothing."""
    for who, pin in (("anna", ""), ("fred", "2469")):
        answer = browser.sign_in(who, pin)
        assert (answer.status, "Set-Cookie" in answer.headers) == (403, False)
    for path in ("/static/xterm.mjs", "/static/roboto-mono.ttf"):
        assert browser.get(path).status == 401
    assert browser.refused() == 401
    assert not sessions(home)


def test_an_order_rejected_in_a_browser_is_seen_rejected_at_a_terminal(
    shop: Shop, web: Web, browser: Browser, picker: Callable[..., Picker], demo_home: Path
) -> None:
    other = at_the_desk(picker, shop, 1)
    open_job(other, "More", "home")
    other.take(numbered(other, "Orders"), "orders", "")
    other.shows("SUP-1")
    other.take("SUP-1", "order", "")
    nobody_gets_in(browser, demo_home)
    assert browser.sign_in().status == 303
    browser.open()
    browser.shows("Open orders", "Fred", "live")
    browser.types(f"{browser.number('More')}\r")
    browser.types(f"{browser.number('Orders')}\r")
    browser.shows("Orders: active", "SUP-1")
    browser.types("SUP-1\r")
    browser.types(f"{browser.number('Reject')}\r")
    browser.shows("Why")
    browser.types("Customer called off\r")
    browser.shows("Are you sure?")
    browser.resize(100, 30)
    browser.types("1\r")
    browser.shows("Rejected: Customer called off", "all sent")
    other.shows("Rejected: Customer called off")
    assert shop.order("SUP-1")["is_rejected"]
    who = on_this_host(demo_home, "SELECT DISTINCT app_user FROM operation WHERE body LIKE '%is_rejected%'")
    assert who == [("U6",)]
    as_whom = on_this_host(demo_home, "SELECT DISTINCT principal FROM operation WHERE body LIKE '%is_rejected%'")
    assert as_whom == [("person/U6",)], "the PIN that was said at the door is good here"


def test_who_goes_comes_back_to_the_step_and_who_signs_out_is_out(web: Web, browser: Browser, demo_home: Path) -> None:
    browser.sign_in("BADGE-U6")
    browser.open(60, 20)
    browser.shows("Open orders", "Fred")
    browser.types("4113\r")
    browser.shows("Scan the product")
    browser.close()
    browser.until(lambda: not sessions(demo_home), "its session's end")
    browser.open()
    browser.shows("Pick 4113", "left off")
    (first,) = sessions(demo_home)
    with Browser(web.url) as elsewhere:
        elsewhere.sign_in()
        elsewhere.open(40, 20)
        elsewhere.shows("Pick 4113", "left off")
        assert browser.closed() == 4001
        assert first not in sessions(demo_home)
        elsewhere.types("b\r")
        elsewhere.shows("Open orders")
        elsewhere.types("BADGE-U1\r")  # whoever that is has not said a PIN
        elsewhere.closed()
        elsewhere.until(lambda: not sessions(demo_home), "its end")
        assert elsewhere.refused() == 401
        assert 'name="pin"' in elsewhere.get("/").text
    assert "websocket-url" in browser.get("/").text, "one browser's end is not the other's"
    browser.open()
    browser.shows("Open orders", "Fred")
    assert web.end(signal.SIGKILL) == ""
    browser.until(lambda: not sessions(demo_home), "the end of what hung on the server")
