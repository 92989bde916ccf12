"""`aisle web` in a real browser without a window, driven by its own protocol. Skips where there is none."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import pyte
import pytest

from tests.terminal.browser import FRED, PATIENCE_S, PIN, Web
from tests.terminal.picker import Picker
from tests.terminal.shop import Shop
from tests.terminal.test_entry_counts import open_job
from tests.terminal.test_order_board import at_the_desk, numbered

pytestmark = [pytest.mark.pty, pytest.mark.full]

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
OPTIONS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-extensions", "--remote-debugging-port=0", "--window-size=1200,700",
)  # fmt: skip


@pytest.fixture(scope="module")
def program() -> str:
    """The browser."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip(f"no browser is installed here, none of {', '.join(NAMES)}")
    return found


class Page:
    """One page: what is done on it, what came through its websocket, and what it complained of."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = count(1)
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._screen = pyte.Screen(200, 60)
        self._stream = pyte.ByteStream(self._screen)
        self.asked: list[str] = []
        self.wrong: list[str] = []

    @property
    def text(self) -> str:
        return "\n".join(row.rstrip() for row in self._screen.display)

    async def read(self) -> None:
        """Until the browser has gone."""
        async for message in self._socket:
            said = json.loads(message.data)
            if waiting := self._answers.pop(said.get("id", 0), None):
                waiting.set_result(said)
            self._heard(said.get("method", ""), said.get("params", {}))

    def _heard(self, method: str, said: dict[str, Any]) -> None:
        if method == "Network.webSocketFrameReceived" and said["response"]["opcode"] == 2:
            self._stream.feed(base64.b64decode(said["response"]["payloadData"]))
        elif method == "Network.requestWillBeSent":
            self.asked.append(said["request"]["url"])
        elif method == "Network.webSocketCreated":
            self.asked.append(said["url"])
        elif method == "Runtime.exceptionThrown" or said.get("entry", {}).get("level") == "error":
            self.wrong.append(json.dumps(said))

    async def do(self, method: str, **params: Any) -> Any:
        number = next(self._numbers)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        await self._socket.send_json({"id": number, "method": method, "params": params})
        said = await asyncio.wait_for(answer, PATIENCE_S)
        assert "error" not in said, said
        return said["result"]

    async def until(self, check: Callable[[], Any], what: object) -> None:
        try:
            async with asyncio.timeout(PATIENCE_S):
                while not check():  # noqa: ASYNC110 - other processes make it true
                    await asyncio.sleep(0.02)
        except TimeoutError:
            pytest.fail(f"waited for {what}; {self.wrong}; the screen:\n{self.text}")

    async def shows(self, *texts: str) -> None:
        await self.until(lambda: all(text in " ".join(self.text.split()) for text in texts), texts)

    async def has(self, expression: str) -> None:
        """Waits until this is true on the page."""
        async with asyncio.timeout(PATIENCE_S):
            while not (await self.do("Runtime.evaluate", expression=expression))["result"].get("value"):  # noqa: ASYNC110
                await asyncio.sleep(0.02)

    async def types(self, text: str) -> None:
        """Keys, into whatever has the focus, as a keyboard or a scanner sends them."""
        for letter in text:
            key: dict[str, Any] = {"text": letter, "key": letter}
            if letter == "\r":
                key |= {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13}
            elif letter == "\t":
                key = {"key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9}
            await self.do("Input.dispatchKeyEvent", type="keyDown", **key)
            await self.do("Input.dispatchKeyEvent", type="keyUp", **key)

    async def number(self, words: str) -> str:
        await self.shows(words)
        text = " ".join(self.text.split())
        return text[: text.index(f" {words}")].split()[-1]


@asynccontextmanager
async def opened(program: str, folder: Path) -> AsyncIterator[Page]:
    """The browser with an empty page, and its end."""
    environ = {name: text for name, text in os.environ.items() if not name.startswith("AISLE_")}
    argv = [program, *OPTIONS, f"--user-data-dir={folder}", "about:blank"]
    process = subprocess.Popen(  # noqa: ASYNC220
        argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environ | {"HOME": str(folder)},
        start_new_session=True,
    )  # fmt: skip
    try:
        told = folder / "DevToolsActivePort"
        async with asyncio.timeout(PATIENCE_S):
            while not (told.exists() and told.read_text().count("\n")):
                assert process.poll() is None, "the browser does not start"
                await asyncio.sleep(0.05)
        port = told.read_text().split()[0]
        async with aiohttp.ClientSession(f"http://127.0.0.1:{port}") as session:
            async with session.get("/json/list") as answer:
                (path,) = [each["webSocketDebuggerUrl"] for each in await answer.json() if each["type"] == "page"]
            async with session.ws_connect(path, max_msg_size=0) as socket:
                page = Page(socket)
                reading = asyncio.create_task(page.read())
                for domain in ("Network", "Runtime", "Log", "Page"):
                    await page.do(f"{domain}.enable")
                yield page
        await reading
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


async def test_a_browser_rejects_an_order_and_a_terminal_sees_it(
    program: str, shop: Shop, picker: Callable[..., Picker], tmp_path: Path
) -> None:
    def at_the_order() -> Picker:
        other = at_the_desk(picker, shop, 1)
        open_job(other, "Other", "home")
        other.take(numbered(other, "Board"), "orders", "")
        other.shows("SUP-1")
        other.take("SUP-1", "order", "")
        return other

    other = await asyncio.to_thread(at_the_order)
    with Web() as web:
        async with opened(program, tmp_path / "browser") as page:
            await page.do("Page.navigate", url=web.url)
            await page.has("document.activeElement?.id === 'who'")
            await page.types(f"{FRED}\t{PIN}\r")
            await page.shows("Open orders", "Fred", "live")
            await page.has("document.activeElement.className === 'xterm-helper-textarea'")
            await page.types(f"{await page.number('Other')}\r")
            await page.types(f"{await page.number('The order board')}\r")
            await page.shows("Orders: active", "SUP-1")
            await page.types("SUP-1\r")
            await page.types(f"{await page.number('Reject the order')}\r")
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
