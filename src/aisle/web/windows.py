"""Windows of the people who are signed in: each has an app process, which outlives its page, and websockets.

A page whose link was cut finds its window again by a key that the page made up. What it sends is numbered, so that
nothing is taken twice. A page of another sign-in gets a new app process.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from starlette.types import Message
from starlette.websockets import WebSocket

from aisle.browser_addresses_and_packets import parse_address
from aisle.web.app_process import AppProcess, Start
from aisle.web.sign_ins import BrowserSession, Person, SignIns

LAST_INPUTS_S: Final = 2.0
"""Seconds for what a closed page has sent already, if its app takes it slowly or not at all."""

LEFT, SERVER_STOPS = 1000, 1012
"""Close codes: the app or the page has ended; the server ends, and another one may follow."""
ENDED, ELSEWHERE, TOO_MANY, FAILED = 4000, 4001, 4002, 4003
"""Close codes: the sign-in has ended; the window goes on in another page; the person has too many windows; the app has
failed."""
PAGE_IS_GONE: Final = 1001
"""Close code of a browser whose page was closed or loaded again."""


class PageSocket:
    """Websocket of one page, from the first message of the browser to its end."""

    def __init__(self, session: BrowserSession, socket: WebSocket) -> None:
        self.session = session
        self.is_silent = asyncio.Event()
        """Set while nothing is read from it: before its turn, and when all that it has sent is passed on."""
        self.is_silent.set()
        self.browser_code = 0
        """Close code of the browser; 0 while it is open or was closed from here."""
        self._socket = socket
        self._is_closed = False
        self._ends_at: float | None = None
        self._patience: asyncio.Timeout | None = None

    @contextlib.asynccontextmanager
    async def conversation(self) -> AsyncIterator[None]:
        """Context that is left at the latest `LAST_INPUTS_S` after the websocket was closed from here."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(self._ends_at) as self._patience:
                yield

    async def show(self, data: bytes) -> None:
        """Send screen data. Raise ConnectionError if the browser is gone."""
        await self._send({"type": "websocket.send", "bytes": data})

    async def say(self, message: Any) -> None:
        """Send a message as JSON. Raise ConnectionError if the browser is gone."""
        await self._send({"type": "websocket.send", "text": json.dumps(message)})

    async def close(self, code: int = LEFT) -> None:
        """Close the websocket. The browser may be gone already."""
        if not self._is_closed:
            with contextlib.suppress(ConnectionError):
                await self._send({"type": "websocket.close", "code": code})
            self._is_closed = True
            self._ends_at = asyncio.get_running_loop().time() + LAST_INPUTS_S
            if self._patience is not None:
                with contextlib.suppress(RuntimeError):  # It has ended.
                    self._patience.reschedule(self._ends_at)

    async def texts(self) -> AsyncIterator[str]:
        """Yield the messages of the browser until one side closes."""
        while (message := await self._socket.receive())["type"] == "websocket.receive":
            if (text := message.get("text")) is not None:
                yield text
        self.browser_code = 0 if self._is_closed else int(message.get("code") or LEFT)
        self._is_closed = True

    async def _send(self, message: Message) -> None:
        if self._is_closed:
            raise ConnectionResetError
        try:
            await self._socket.send(message)
        except Exception as problem:  # The type of the error depends on the server.
            self._is_closed = True
            raise ConnectionResetError from problem


KEEP_S: Final = 60.0
"""Seconds that an app process waits for its page after a cut of the link."""
RESPONSE_S: Final = 5.0
"""Seconds in which a waiting app has to draw its screen for a page, before another one is started."""
MAX_WINDOWS: Final = 8
"""Maximum number of windows of a person."""
MAX_PIECES: Final = 1024
"""Pieces that wait for their page, beyond which another file takes the place of those before it."""
_SHORT_MESSAGE: Final = 4096
"""Characters of a message that may have any content."""
_TYPED: Final = re.compile(r'\["(?:stdin"|input", ?\d{1,15}), ?(?=")')
"""Beginning of a message of typed text, before the text."""


class Opening(NamedTuple):
    """Whose window an app process is started for. Windows of a person are numbered from 1."""

    person: Person
    number: int = 1
    address: str = ""
    """Address of the first page."""


class PageRequest(NamedTuple):
    """What a page asks for."""

    key: str
    """Name of the window, made up by the page."""
    number: int
    """Number that the window had before the server was started."""
    size: tuple[int, int]
    address: str


def is_address(text: str) -> bool:
    """Return True if a text is the address of a page of the app."""
    return parse_address(text) is not None


class Window:
    """App process of a person, and the page that shows it, if there is one now."""

    def __init__(
        self,
        session: BrowserSession,
        number: int,
        keep_s: float,
        sign_ins: SignIns,
        on_ended: Callable[[Window], None],
    ) -> None:
        """`on_ended` is called when the app process has ended."""
        self.session = session
        self.number = number
        self.was_closed = False
        """True if its page was closed in the browser, so that the person's next page may take its place."""
        self._keep_s = keep_s
        self._sign_ins = sign_ins
        self._on_ended = on_ended
        self._page: PageSocket | None = None
        self._starting: asyncio.Task[AppProcess] | None = None
        self._ending: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._taken = 0
        """Number of the last input that the app has taken."""
        self._passed = 0
        """Number of the last input that was passed to the app."""
        self._pieces: list[Mapping[str, object]] = []
        """Pieces of files that the page has not saved yet."""
        self._sent_pieces = 0
        self._piece_turn = asyncio.Lock()
        self._last_said: dict[str, object] = {}
        """Last message of the app about its page."""
        self._has_drawn = asyncio.Event()

    @property
    def is_ending(self) -> bool:
        """Return True if its app process ends or has ended."""
        return self._ending is not None

    @property
    def has_page(self) -> bool:
        """Return True if a page shows it."""
        return self._page is not None

    # Pages

    async def start(self, page: PageSocket, start: Start, size: tuple[int, int]) -> None:
        """Start the app process for its first page."""
        self._page = page
        self._starting = asyncio.create_task(
            AppProcess.start(start, size, self._show, self._hear, self._hang_up, self._leave)
        )
        await self._greet(page, is_new=True)

    async def attach(self, page: PageSocket, size: tuple[int, int]) -> bool:
        """Show a waiting app on a page. Return False if it does not draw its screen in time."""
        self._stop_timer()
        self._page, self.was_closed = page, False
        self._has_drawn.clear()
        try:
            async with asyncio.timeout(RESPONSE_S):
                await self._greet(page, is_new=False)
                await (await self._process()).attach(*size)
                await self._has_drawn.wait()
        except (TimeoutError, OSError):
            self._page = None
        return not self.is_ending and self._page is page

    async def release(self, code: int) -> None:
        """Close the page, and wait until all that it has sent is passed on."""
        page, self._page = self._page, None
        if page is not None:
            await page.close(code)
            await page.is_silent.wait()

    async def converse(self, page: PageSocket) -> None:
        """Pass the messages of a page to the app in their order, until the page is gone."""
        page.is_silent.clear()
        pieces = asyncio.create_task(self._send_pieces())
        try:
            process = await self._process()
            async with page.conversation():
                async for text in page.texts():
                    await self._take(page, process, _parse_message(text))
        finally:
            pieces.cancel()
            await page.close()
            page.is_silent.set()
            self._note_gone(page)

    async def _take(self, page: PageSocket, process: AppProcess, message: Any) -> None:
        match message:
            case ["stdin", str(typed)]:
                self._sign_ins.touch(page.session)
                await process.type(typed)
            case ["input", int(number), str(typed)]:
                self._sign_ins.touch(page.session)
                if number > self._passed:
                    self._passed = number
                    await process.type(typed, number)
            case ["resize", {"width": int(width), "height": int(height)}]:
                await process.resize(width, height)
            case ["open", str(address)] if is_address(address):
                self._sign_ins.touch(page.session)
                await process.tell({"type": "open", "address": address})
            case ["saved"]:
                self._forget_saved_file()
            case ["ping", str(data)]:
                await self._say(page, ["pong", data[:64]])

    async def _greet(self, page: PageSocket, *, is_new: bool) -> None:
        async with self._piece_turn:
            self._sent_pieces = 0  # the page has forgotten what it has of a file
            await self._say(page, ["window", {"number": self.number, "taken": self._taken, "new": is_new}])
        if self._last_said and not is_new:
            await self._say(page, ["page", self._last_said])

    async def _say(self, page: PageSocket, message: Any) -> None:
        with contextlib.suppress(ConnectionError):
            await page.say(message)

    def _note_gone(self, page: PageSocket) -> None:
        """End the app when its page is gone, after a while if the page may come back."""
        if self._page is not page:
            return
        self._page = None
        self.was_closed = page.browser_code == PAGE_IS_GONE
        if page.browser_code in (0, LEFT) or not self._keep_s:
            self.end_soon()
        elif not self.is_ending:
            self._timer = asyncio.get_running_loop().call_later(self._keep_s, self.end_soon)

    # End

    def end_soon(self, code: int = LEFT) -> asyncio.Task[None]:
        """End the app process and close its page with this code. Return the task that does it."""
        if self._ending is None:
            self._ending = asyncio.create_task(self._end(code))
        return self._ending

    async def _end(self, code: int) -> None:
        self._stop_timer()
        try:
            await self.release(code)
            await (await self._process()).stop()
        finally:
            self._on_ended(self)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # App process

    async def _process(self) -> AppProcess:
        assert self._starting is not None
        return await asyncio.shield(self._starting)

    async def _show(self, data: bytes) -> None:
        """Show what the app draws; without a page it is lost, because each page has everything drawn again."""
        self._has_drawn.set()
        if self._page is not None:
            with contextlib.suppress(ConnectionError):
                await self._page.show(data)

    async def _hear(self, message: Mapping[str, object]) -> None:
        """Tell the page which page the app shows and which input it has taken, or pass on a piece of a file."""
        match message:
            case {"type": "page", "address": str(address), "title": str(title)} if is_address(address):
                self._last_said = {"address": address, "title": title[:200]}
                if self._page is not None:
                    await self._say(self._page, ["page", self._last_said])
            case {"type": "taken", "number": int(number)}:
                self._taken = number
                if self._page is not None:
                    await self._say(self._page, ["taken", number])
            case {"type": "file", "name": str(), "content": str(), "is_last": bool()}:
                if len(self._pieces) >= MAX_PIECES and self._pieces[-1]["is_last"]:
                    self._pieces, self._sent_pieces = [], 0
                self._pieces.append(message)
                await self._send_pieces()

    async def _send_pieces(self) -> None:
        """Send the pieces of files that this page does not have yet."""
        page = self._page
        async with self._piece_turn:
            while page is not None and page is self._page and self._sent_pieces < len(self._pieces):
                self._sent_pieces += 1
                await self._say(page, ["file", dict(self._pieces[self._sent_pieces - 1])])

    def _forget_saved_file(self) -> None:
        count = next((at for at, piece in enumerate(self._pieces, 1) if piece["is_last"]), 0)
        del self._pieces[:count]
        self._sent_pieces = max(0, self._sent_pieces - count)

    def _hang_up(self, status: int) -> None:
        self.end_soon(FAILED if status else LEFT)

    def _leave(self) -> None:
        """End the sign-in: a person who quits the app leaves the browser to others."""
        self._sign_ins.end(self.session)


class Windows:
    """All windows. Those of one person are at most `MAX_WINDOWS`."""

    def __init__(self, start: Callable[[Opening], Start], sign_ins: SignIns, keep_s: float = KEEP_S) -> None:
        """`keep_s` is the time in seconds that an app waits for its page."""
        self._start = start
        self._sign_ins = sign_ins
        self._keep_s = keep_s
        self._windows: dict[tuple[str, str], Window] = {}
        self._turns: dict[tuple[str, str], asyncio.Lock] = {}
        self._next: dict[tuple[str, str], PageSocket] = {}
        """Page that waits for each window. A further one takes its place."""
        self._making_room = Counter[str]()
        """Number of pages of a person that wait for the end of a window."""

    async def serve(self, page: PageSocket, request: PageRequest) -> None:
        """Show the window that a page asks for, until the page is gone."""
        window = await self._turn(page, request)
        if window is not None:
            await window.converse(page)

    async def _turn(self, page: PageSocket, request: PageRequest) -> Window | None:
        """Return the window of a page when its turn has come; None if the page was closed meanwhile."""
        slot = page.session.person.user, request.key
        former, self._next[slot] = self._next.get(slot), page
        if former is not None:
            await former.close(ELSEWHERE)
        try:
            async with self._turns.setdefault(slot, asyncio.Lock()):
                return await self._window(slot, page, request) if self._next.get(slot) is page else None
        finally:
            if self._next.get(slot) is page:
                del self._next[slot]
            if slot not in self._next:
                self._turns.pop(slot, None)

    async def _window(self, slot: tuple[str, str], page: PageSocket, request: PageRequest) -> Window | None:
        """Return the window of a page: the one that waits for it, or a new one; None if the page was closed."""
        window = self._windows.get(slot) or self._adopt(slot, page)
        if window is not None:
            await window.release(ELSEWHERE)
            is_same_person = window.session is page.session and not window.is_ending
            if not (is_same_person and await window.attach(page, request.size)):
                await window.end_soon()
                window = None
        if self._next.get(slot) is not page:
            return None
        if not self._sign_ins.holds(page.session):
            await page.close(ENDED)
            return None
        return window or await self._new_window(slot, page, request)

    async def _new_window(self, slot: tuple[str, str], page: PageSocket, request: PageRequest) -> Window | None:
        if not await self._make_room(slot[0]):
            await page.close(TOO_MANY)
            return None
        person = page.session.person
        number = _free_number({window.number for window in self._windows_of(slot[0])}, request.number)
        start = self._start(Opening(person, number, request.address))
        window = Window(page.session, number, self._keep_s, self._sign_ins, self._forget)
        self._windows[slot] = window
        await window.start(page, start, request.size)
        return window

    async def _make_room(self, user: str) -> bool:
        """End a window without a page if the person has too many. Return False if other pages wait for all of those."""
        while len(own := self._windows_of(user)) >= MAX_WINDOWS:
            waiting = [window for window in own if not window.has_page][self._making_room[user] :]
            if not waiting:
                return False
            self._making_room[user] += 1
            try:
                await waiting[0].end_soon()
            finally:
                self._making_room[user] -= 1
        return True

    def _adopt(self, slot: tuple[str, str], page: PageSocket) -> Window | None:
        """Return the window of this sign-in whose page was closed last, under the key of the new page."""
        for other, window in reversed(self._windows.items()):
            if window.session is page.session and window.was_closed and not window.is_ending:
                del self._windows[other]
                self._windows[slot] = window
                return window
        return None

    def _windows_of(self, user: str) -> list[Window]:
        return [window for (owner, _), window in self._windows.items() if owner == user]

    def _forget(self, window: Window) -> None:
        self._windows = {slot: other for slot, other in self._windows.items() if other is not window}

    # Ends

    async def end_of(self, session: BrowserSession) -> None:
        """End the windows of a sign-in that has ended."""
        await self._end([window for window in self._windows.values() if window.session is session], ENDED)

    async def end_invalid(self) -> None:
        """End the windows whose sign-in is no longer valid."""
        invalid = [window for window in self._windows.values() if not self._sign_ins.holds(window.session)]
        await self._end(invalid, ENDED)

    async def end_all(self) -> None:
        """End all windows because the server ends. Their pages connect again by themselves."""
        await self._end(self._windows.values(), SERVER_STOPS)

    async def _end(self, windows: Iterable[Window], code: int) -> None:
        """End windows and wait for them. Raise the error of the first that failed."""
        ends = await asyncio.gather(*(window.end_soon(code) for window in windows), return_exceptions=True)
        for end in ends:
            if isinstance(end, BaseException):
                raise end


def _free_number(taken: set[int], wished: int) -> int:
    """Return the wished number of a window if it is free, else the smallest free one."""
    if 1 <= wished <= MAX_WINDOWS and wished not in taken:
        return wished
    return next(number for number in range(1, len(taken) + 2) if number not in taken)


def _parse_message(text: str) -> Any:
    """Return a message of the browser, or None if it is invalid. A long one must be typed text: lists take seconds."""
    try:
        if len(text) <= _SHORT_MESSAGE:
            return json.loads(text)
        if (head := _TYPED.match(text)) is None:
            return None
        typed, end = json.JSONDecoder().raw_decode(text, head.end())
        return [*json.loads(f"{head[0]}null]")[:-1], typed] if text[end:].strip() == "]" else None
    except (ValueError, RecursionError):
        return None
