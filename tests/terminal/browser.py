"""What a browser does at `aisle web`, without one: its requests, its cookie, its websocket, and the screen in it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import time
from collections import deque
from collections.abc import Coroutine, Mapping
from threading import Thread
from typing import Any, NamedTuple, Self, TypeVar

import aiohttp
import pyte

from aisle.scan.inputs_and_line_grouping import SAME_SCAN_S
from tests.terminal.harness import python

T = TypeVar("T")

PATIENCE_S = 30.0
KEY_S = 0.12
"""From key to key."""
FRED, PIN = "fred", "2468"
"""The supervisor of the demo store."""


class Web:
    """`aisle web` as a process, at any free port."""

    def __init__(self, *arguments: str) -> None:
        line = [int(os.environ["AISLE_LIFELINE_FD"])]
        argv = python("-m", "aisle", "web", "--port", "0", *arguments)
        self.process = subprocess.Popen(argv, stderr=subprocess.PIPE, text=True, pass_fds=line)
        assert self.process.stderr is not None
        said = self.process.stderr.readline()
        if "aisle web serves at" not in said:
            raise AssertionError(said + self.end(signal.SIGTERM))
        self.url = said.split()[-1]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.end(signal.SIGTERM)

    def end(self, number: int) -> str:
        """Ends it by this signal; what it has said besides."""
        assert self.process.stderr is not None
        if self.process.poll() is None:
            self.process.send_signal(number)
        _, said = self.process.communicate(timeout=PATIENCE_S)
        return said


class Answer(NamedTuple):
    """What came back."""

    status: int
    headers: Mapping[str, str]
    text: str


class Browser:
    """One browser with its own cookies. Its loop runs on a thread, so that it answers whatever the test waits for."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._session = self._do(self._begin())
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self._reading: asyncio.Task[None] | None = None
        self._came: deque[bytes] = deque()
        self._typed_at = 0.0
        self._screen = pyte.Screen(80, 24)
        self._stream = pyte.ByteStream(self._screen)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self._do(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def get(self, path: str, **headers: str) -> Answer:
        """What is at this path."""
        return self._do(self._ask("GET", path, headers))

    def post(self, path: str, form: Mapping[str, str] | None = None, **headers: str) -> Answer:
        """What a form of our own page brings; headers override."""
        return self._do(self._ask("POST", path, {"Origin": self.url, **headers}, form or {}))

    def sign_in(self, who: str = FRED, pin: str = PIN) -> Answer:
        """By the form."""
        return self.post("/sign-in", {"who": who, "pin": pin})

    def open(self, columns: int = 80, rows: int = 24) -> None:
        """The screen of the page."""
        self._came.clear()
        self._screen.reset()
        self._screen.resize(rows, columns)
        self._socket = self._do(self._connect(f"/ws?window=page&width={columns}&height={rows}"))
        self._reading = self._do(self._spawn())

    def refused(self, path: str = "/ws", **headers: str) -> int:
        """The status of a websocket that is not opened."""
        try:
            self._do(self._connect(path, **headers))
        except aiohttp.WSServerHandshakeError as refusal:
            return refusal.status
        raise AssertionError("it was opened")

    def says(self, *message: Any) -> None:
        """What the page's script would send."""
        assert self._socket is not None
        self._do(self._socket.send_json(list(message)))

    def types(self, text: str) -> None:
        """As keys come, so long after the text before that it is no line of the same scan.

        Up to two characters come key by key, as a person types them; longer texts in one message.
        """
        time.sleep(max(0.0, self._typed_at + 1.5 * SAME_SCAN_S - time.monotonic()))
        for part in text if len(text.rstrip("\r")) <= 2 else (text,):
            self.says("stdin", part)
            time.sleep(KEY_S)
        self._typed_at = time.monotonic()

    def resize(self, columns: int, rows: int) -> None:
        """The window has another size."""
        self._screen.resize(rows, columns)
        self.says("resize", {"width": columns, "height": rows})

    @property
    def text(self) -> str:
        """The screen."""
        while self._came:
            self._stream.feed(self._came.popleft())
        return "\n".join(row.rstrip() for row in self._screen.display)

    def shows(self, *texts: str) -> str:
        """Waits until all of these are on the screen, wherever; the screen's text."""
        self.until(lambda: all(text in " ".join(self.text.split()) for text in texts), texts)
        return self.text

    def until(self, check: Any, what: object = "it") -> None:
        """Waits until this is so."""
        deadline = time.monotonic() + PATIENCE_S
        while not check():
            assert time.monotonic() < deadline, f"waited for {what}; the screen:\n{self.text}"
            time.sleep(0.02)

    def number(self, words: str) -> str:
        """The number in front of these words on the screen."""
        text = " ".join(self.shows(words).split())
        return text[: text.index(f" {words}")].split()[-1]

    def closed(self) -> int | None:
        """Waits until the server has closed the websocket; with which code."""
        assert self._reading is not None
        self.until(self._reading.done, "the end")
        assert self._socket is not None
        return self._socket.close_code

    def close(self) -> None:
        """The page is gone."""
        assert self._socket is not None
        self._do(self._socket.close())

    # On its own thread

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE_S)

    async def _begin(self) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(self.url, cookie_jar=aiohttp.CookieJar(unsafe=True))

    async def _end(self) -> None:
        if self._socket is not None:
            await self._socket.close()
        if self._reading is not None:
            await self._reading
        await self._session.close()

    async def _ask(self, method: str, path: str, headers: Mapping[str, str], form: Any = None) -> Answer:
        async with self._session.request(method, path, headers=headers, data=form, allow_redirects=False) as answer:
            return Answer(answer.status, dict(answer.headers), await answer.text(errors="replace"))

    async def _connect(self, path: str, **headers: str) -> aiohttp.ClientWebSocketResponse:
        return await self._session.ws_connect(path, headers={"Origin": self.url, **headers})

    async def _spawn(self) -> asyncio.Task[None]:
        return asyncio.create_task(self._read())

    async def _read(self) -> None:
        assert self._socket is not None
        async for message in self._socket:
            if message.type is aiohttp.WSMsgType.BINARY:
                self._came.append(message.data)
