"""`aisle web` in a real Chromium: mouse, addresses, a restart, files, search, phones. Skips where there is none."""

from __future__ import annotations

import asyncio
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.terminal.browser import Web
from tests.terminal.chromium import CONTROL, SHIFT, Page, opened
from tests.terminal.picker import Picker
from tests.terminal.shop import Shop
from tests.terminal.test_entry_counts import open_job
from tests.terminal.test_order_board import at_the_desk, numbered

pytestmark = [pytest.mark.pty, pytest.mark.full]

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
GROUND = "getComputedStyle(document.querySelector('.xterm-rows span')).color"


@pytest.fixture(scope="module")
def program() -> str:
    """The browser's program."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip(f"no browser is installed here, none of {', '.join(NAMES)}")
    return found


async def test_a_browser_rejects_an_order_and_a_terminal_sees_it(
    program: str,
    shop: Shop,
    picker: Callable[..., Picker],
    tmp_path: Path,
) -> None:
    def at_the_order() -> Picker:
        other = at_the_desk(picker, shop, 1)
        open_job(other, "More", "home")
        other.take(numbered(other, "Orders"), "orders", "")
        other.shows("SUP-1")
        other.take("SUP-1", "order", "")
        return other

    other = await asyncio.to_thread(at_the_order)
    with Web() as web:
        async with opened(program, tmp_path / "browser") as browser:
            page = await browser.page()
            await page.open(web.url, "/orders/SUP-1")
            await page.shows("Ms Okafor", "SUP-1", "live")
            await page.has("document.activeElement.className === 'xterm-helper-textarea'")
            await page.types("3\r")
            await page.shows("Why")
            await page.types("Customer called off\r")
            await page.shows("Are you sure?")
            await page.types("1\r")
            await page.shows("Rejected: Customer called off", "all sent")
            await asyncio.to_thread(other.shows, "Rejected: Customer called off")
            assert page.wrong == []
            asked = {urlsplit(url).netloc for url in page.asked if not url.startswith("about:")}
            assert asked == {urlsplit(web.url).netloc}
    assert (await asyncio.to_thread(shop.order, "SUP-1"))["is_rejected"]


async def orders(page: Page, web: Web) -> None:
    """The board with the details of the order under the cursor."""
    await page.open(web.url, "/orders")
    await page.shows("Gus Hale", "Tom Moss", "live")


async def test_the_mouse_selects_opens_sorts_filters_and_acts(program: str, demo_home: Path, tmp_path: Path) -> None:
    with Web() as web:
        async with opened(program, tmp_path / "browser") as browser:
            page = await browser.page()
            await orders(page, web)
            await page.click("Emil Cole")
            await page.shows("Emil Cole · 4103")
            await page.click("Petra Oakes", 2)
            await page.is_at("/orders/4106")
            await page.run("history.back()")
            await page.is_at("/orders")
            await page.click("Customer")
            await page.shows("Customer ▲")
            await page.click("Customer")
            await page.shows("Customer ▼")
            await page.run("history.back()")
            await page.shows("Customer ▲")
            await page.click("late 7")
            await page.has("location.search.includes('due=late')")
            await page.click("active 41")
            await page.shows("1–", "of 41")
            await page.wheel("4104", 1200)
            await page.has("!/ 1–/.test(document.querySelector('.xterm-rows').textContent)")
            await page.click("b Back")
            await page.is_at("/")
            assert page.wrong == []


async def test_two_windows_outlive_a_restart_of_the_server(program: str, demo_home: Path, tmp_path: Path) -> None:
    with Web() as web:
        async with opened(program, tmp_path / "browser") as browser:
            first = await browser.page()
            await first.open(web.url, "/orders?due=late&state=to_pick")
            await first.shows("Tom Moss", "live")
            await first.types(".\r")
            await first.shows("Commands")
            await first.types("light\r")
            await first.shows("Colours: light")
            await first.types("1\r")
            await first.has(f"{GROUND} === 'rgb(26, 26, 26)'")
            await first.types("↓")
            await first.types("↓")
            await first.shows("› 4102")
            second = await browser.page(is_new=True)
            await second.do("Page.navigate", url=f"{web.url}/orders/4104")
            await second.shows("Tom Moss · 4104")
            await second.types("3\r")
            await second.shows("Why? A number")
            port = str(urlsplit(web.url).port)
            await asyncio.to_thread(web.end, signal.SIGTERM)
            await first.has("document.getElementById('link').textContent.includes('stopped')")
            await second.types("k")
            await second.has("document.getElementById('link').textContent.endsWith(' 1')")
            with Web("--port", port):
                for page, address, text in ((first, "/orders?", "› 4102"), (second, "/orders/4104", "Why? A number")):
                    await page.has("!document.getElementById('link').textContent.includes('stopped')")
                    await page.shows(text, "live")
                    assert (await page.run("location.pathname + location.search")).startswith(address)
                    await page.has(f"{GROUND} === 'rgb(26, 26, 26)'")
                assert (await second.run("document.getElementById('link').textContent")).endswith(": k")


async def test_a_list_is_downloaded_and_searched(program: str, demo_home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "downloads"
    with Web() as web:
        async with opened(program, tmp_path / "browser") as browser:
            page = await browser.page()
            await page.do("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
            await orders(page, web)
            await page.types("f", CONTROL)
            await page.has("document.activeElement.type === 'search'")
            await page.types("MOSS")
            await page.has("document.querySelector('#find output').textContent.startsWith('1 / ')")
            await page.types("\r")
            await page.has("document.querySelector('#find output').textContent.startsWith('2 / ')")
            assert await page.run("document.querySelectorAll('mark').length") >= 2
            await page.types("\x1b")
            await page.has("document.activeElement.className === 'xterm-helper-textarea'")
            await page.types("x")
            async with asyncio.timeout(30):
                while not (files := list(folder.glob("*.csv"))):  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
    assert "4104," in files[0].read_text("utf-8")


async def test_keys_mark_and_find_and_a_scan_in_a_drag_is_taken_once(
    program: str, demo_home: Path, tmp_path: Path
) -> None:
    with Web() as web:
        async with opened(program, tmp_path / "browser") as browser:
            page = await browser.page()
            await page.do("Page.navigate", url=web.url)
            await page.has("document.body.textContent.includes('sign in as fred with the PIN 2468')")
            await orders(page, web)
            await page.click("Emil Cole")
            await page.types(" ")
            await page.shows("Marked: 1")
            await page.types("↓", SHIFT)
            await page.types("↓", SHIFT)
            await page.shows("Marked: 3")
            await page.mouse("mousePressed", "Gus Hale")
            await page.mouse("mouseMoved", "Emil Cole")
            await page.types("4104\r")
            await page.is_at("/orders/4104")
            await page.mouse("mouseReleased", "Tom Moss")
            await page.shows("Tom Moss · 4104")
            await page.run("history.back()")
            await page.is_at("/orders")
            for words, found in (("4014", "4104"), ("mos", "Tom Moss"), ("hoeny", "Honey"), ("expotr", "Export")):
                await page.types("k", CONTROL)
                await page.shows("Commands", "Mark all")
                await page.types(words)
                await page.shows(found)
                await page.types("\x1b")
                await page.types("\x1b")
                await page.shows("active 41")
            await page.click("Ctrl+K")
            await page.shows("Commands", "Mark all")
            assert page.wrong == []


async def test_a_phone_has_the_handheld_layout_and_its_keyboard_types(
    program: str,
    demo_home: Path,
    tmp_path: Path,
) -> None:
    with Web() as web:
        async with opened(program, tmp_path / "browser") as browser:
            page = await browser.page()
            await page.resize(390, 844)
            await page.open(web.url, "/orders")
            await page.shows("4104", "Number, scan or words", "live")
            assert max(map(len, await page.lines())) <= 42
            assert await page.run("document.title") == "Orders: active – aisle"
            await page.do("Input.insertText", text="4104")
            await page.shows("› 4104")
            await page.types("\r")
            await page.is_at("/orders/4104")
            await page.resize(390, 400)
            await page.has("document.querySelectorAll('.xterm-rows > div').length < 20")
            await page.shows("Tom Moss · 4104")


async def test_a_code_at_the_pace_of_a_scanner_is_one_message(program: str, demo_home: Path, tmp_path: Path) -> None:
    with Web() as web:
        async with opened(program, tmp_path / "browser") as browser:
            page = await browser.page()
            await page.do("Page.navigate", url=web.url)
            await page.has("document.body.textContent.includes('sign in as fred with the PIN 2468')")
            await orders(page, web)
            await page.run(
                """
                import("/static/socket.js").then(({ Link }) => {
                  const link = new Link("", "", { size: () => ({}), up: () => {} });
                  window.sent = [];
                  link.socket = { readyState: 1, send: (text) => window.sent.push(JSON.parse(text)) };
                  link.begin({ number: 1, taken: 0, new: true });
                  for (const key of "b-01\\r") link.input(key);
                  setTimeout(() => link.input("b"), 60);
                });
                """
            )
            await page.has("window.sent?.filter(([kind]) => kind === 'input').length >= 2")
            inputs = await page.run("window.sent.filter(([kind]) => kind === 'input')")
            assert inputs == [["input", 1, "b-01\r"], ["input", 2, "b"]]
