"""A real Chromium without a window, driven by its own protocol: what a person does on a page of `aisle web`."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.terminal.browser import FRED, KEY_S, PATIENCE_S, PIN

OPTIONS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-extensions", "--remote-debugging-port=0", "--window-size=1400,900",
)  # fmt: skip
CONTROL, SHIFT = 2, 8
"""Modifiers of a key."""
LINES = "[...document.querySelectorAll('.xterm-accessibility-tree > div')].map((row) => row.textContent)"
"""What a screen reader gets."""
SCREEN = "document.querySelector('.xterm-screen').getBoundingClientRect().toJSON()"
"""Where the screen is on the page."""


class Page:
    """One page: what is done on it, what it asked for, and what it complained of."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = count(1)
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._size = (80, 24)
        self.asked: list[str] = []
        self.wrong: list[str] = []

    async def read(self) -> None:
        """Until the page has gone."""
        async for message in self._socket:
            said = json.loads(message.data)
            if waiting := self._answers.pop(said.get("id", 0), None):
                waiting.set_result(said)
            self._heard(said.get("method", ""), said.get("params", {}))

    def _heard(self, method: str, said: dict[str, Any]) -> None:
        if method == "Network.webSocketFrameSent" and said["response"]["payloadData"].startswith('["resize"'):
            size = json.loads(said["response"]["payloadData"])[1]
            self._size = size["width"], size["height"]
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

    async def run(self, expression: str) -> Any:
        """The value of an expression on the page."""
        answer = await self.do("Runtime.evaluate", expression=expression, returnByValue=True)
        return answer["result"].get("value")

    async def has(self, expression: str) -> None:
        """Waits until this is true on the page."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                while not await self.run(expression):  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
        except TimeoutError:
            pytest.fail(
                f"waited for {expression}; {self.wrong}; {await self.run('location.href')}\n{await self.text()}"
            )

    async def lines(self) -> list[str]:
        return await self.run(LINES) or []

    async def text(self) -> str:
        return "\n".join(line.rstrip() for line in await self.lines())

    async def shows(self, *texts: str) -> None:
        wanted = json.dumps(texts)
        await self.has(f"{wanted}.every((text) => {LINES}.join(' ').replace(/\\s+/g, ' ').includes(text))")

    async def is_at(self, address: str) -> None:
        await self.has(f"location.pathname + location.search === {json.dumps(address)}")

    async def open(self, url: str, path: str = "/") -> None:
        """The page of a person who is not signed in; signs in."""
        await self.do("Page.navigate", url=f"{url}{path}")
        await self.has("document.activeElement?.id === 'who'")
        await self.types(f"{FRED}\t{PIN}\r")

    async def types(self, text: str, modifiers: int = 0) -> None:
        """Keys, into whatever has the focus, as a scanner sends them; up to two as a person types them."""
        pause = KEY_S if len(text) <= 2 else 0
        special = {
            "\r": ("Enter", 13, "\r"), "\t": ("Tab", 9, ""), "\x1b": ("Escape", 27, ""),
            "↑": ("ArrowUp", 38, ""), "↓": ("ArrowDown", 40, ""),
        }  # fmt: skip
        for letter in text:
            code = ord(letter.upper()) if letter.isalnum() else 0
            name, code, typed = special.get(letter, (letter, code, "" if modifiers else letter))
            key = {"key": name, "windowsVirtualKeyCode": code, "modifiers": modifiers}
            await self.do("Input.dispatchKeyEvent", type="keyDown", **key, **({"text": typed} if typed else {}))
            await self.do("Input.dispatchKeyEvent", type="keyUp", **key)
            await asyncio.sleep(pause)

    async def point(self, text: str) -> dict[str, float]:
        """The middle of a text on the screen."""
        await self.shows(text)
        lines, screen = await self.lines(), await self.run(SCREEN)
        row = next(number for number, line in enumerate(lines) if text in line)
        column = lines[row].index(text) + len(text) / 2
        columns, rows = self._size
        return {
            "x": screen["x"] + column * screen["width"] / columns,
            "y": screen["y"] + (row + 0.5) * screen["height"] / rows,
        }

    async def click(self, text: str, times: int = 1) -> None:
        at = await self.point(text)
        for number in range(1, times + 1):
            for kind in ("mousePressed", "mouseReleased"):
                await self.do("Input.dispatchMouseEvent", type=kind, **at, button="left", clickCount=number)

    async def mouse(self, kind: str, text: str) -> None:
        """Presses, moves or releases the left button on a text."""
        held = {"button": "left", "buttons": 1, "clickCount": 1}
        await self.do("Input.dispatchMouseEvent", type=kind, **await self.point(text), **held)

    async def wheel(self, text: str, down: int) -> None:
        await self.do("Input.dispatchMouseEvent", type="mouseWheel", **await self.point(text), deltaX=0, deltaY=down)

    async def resize(self, width: int, height: int) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < height}
        await self.do("Emulation.setDeviceMetricsOverride", **size)


class Chromium:
    """The browser, and its pages."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session
        self._reading: list[asyncio.Task[None]] = []

    async def page(self, *, is_new: bool = False) -> Page:
        """The page that is open, or a new one."""
        if is_new:
            async with self._session.put("/json/new?about:blank") as answer:
                path = (await answer.json())["webSocketDebuggerUrl"]
        else:
            async with self._session.get("/json/list") as answer:
                (path,) = [each["webSocketDebuggerUrl"] for each in await answer.json() if each["type"] == "page"]
        page = Page(await self._session.ws_connect(path, max_msg_size=0))
        self._reading.append(asyncio.create_task(page.read()))
        for domain in ("Network", "Runtime", "Log", "Page"):
            await page.do(f"{domain}.enable")
        return page

    async def close(self) -> None:
        await asyncio.gather(*self._reading)


@asynccontextmanager
async def opened(program: str, folder: Path) -> AsyncIterator[Chromium]:
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
            browser = Chromium(session)
            yield browser
        await browser.close()
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
