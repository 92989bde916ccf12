"""The requests of browsers: who signs in, who gets a screen, and who gets nothing."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import Awaitable, Callable, Collection
from typing import Any, Final
from urllib.parse import urlsplit

from aiohttp import WSMsgType, web
from multidict import MultiMapping
from textual_serve.download_manager import DownloadManager

from aisle.packets import HIGHEST, WIDEST
from aisle.tuples import NamedTuple
from aisle.web import pages
from aisle.web.address import Network, is_loopback, sender
from aisle.web.screen import Screen, Start
from aisle.web.signed import Person, Signed, SignIns, Tries

log = logging.getLogger("aisle.web")

CHECK_S: Final = 30.0
"""How often it is looked whether those who are signed in still may be."""
ANSWER_S: Final = 60.0
"""So long is waited for who may be; the next look asks again."""
HEARTBEAT_S: Final = 15.0
"""How often a browser is asked whether it is there."""
GOODBYE_S: Final = 3.0
"""How long a browser may take to answer that a websocket is closed."""
FORM_BYTES: Final = 4096
MESSAGE_BYTES: Final = 1 << 20
"""Bytes of a message of the browser at most: a large paste."""

ENDED, ELSEWHERE = 4000, 4001
"""Why a websocket is closed: the sign-in has ended; the person has opened another screen."""


class Told(NamedTuple):
    """What is wrong with a sign-in, as a message id, and whether it counts as a wrong try."""

    why: str
    wrong: bool = False


class Ways(NamedTuple):
    """What the door asks of whoever opens it."""

    check: Callable[[str, str], Awaitable[Person | Told]]
    """Who somebody is by a name or badge and a PIN."""
    still: Callable[[], Awaitable[Collection[str] | None]]
    """The users that may be signed in now; None where that cannot be told."""
    start: Callable[[Person], Start]
    """How this person's screen is started."""
    words: pages.Words
    language: str


class Door:
    """The web application. Every person has one screen; opening another one ends the first."""

    def __init__(
        self,
        ways: Ways,
        *,
        secure: bool,
        origin: str = "",
        proxies: Collection[Network] = (),
        clock: Callable[[], float] = time.monotonic,
        check_s: float = CHECK_S,
    ) -> None:
        """`secure` where browsers come by https; `origin` is where they say they are, '' for what they call us.

        Whom one of the `proxies` speaks for is believed.
        """
        self._ways = ways
        self._secure = secure
        self._origin = origin
        self._proxies = proxies
        self._check_s = check_s
        self._signed = SignIns(clock)
        self._tries = Tries(clock)
        self._checks = asyncio.Semaphore(4)
        self._live: dict[str, tuple[Signed, web.WebSocketResponse, asyncio.Event]] = {}
        self._turns: dict[str, asyncio.Lock] = {}
        self._leaving: set[asyncio.Task[None]] = set()
        self._downloads = DownloadManager()
        self.cookie = "__Host-aisle" if secure else "aisle"
        self.app = self._application()

    def _application(self) -> web.Application:
        app = web.Application(client_max_size=FORM_BYTES, middlewares=[self._guarded])
        app.add_routes(
            [
                web.get("/", self._index),
                web.post("/sign-in", self._sign_in),
                web.post("/sign-out", self._sign_out),
                web.get("/ws", self._websocket),
                web.get("/static/{name}", self._static),
                web.get("/favicon.ico", _nothing),
            ]
        )
        app.on_response_prepare.append(_say_headers)
        app.cleanup_ctx.append(self._watching)
        app.on_shutdown.append(self._shut)
        return app

    # Who asks

    @web.middleware
    async def _guarded(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        """Only for those who call us by our name: a page elsewhere could point its own name at this machine."""
        if not self._is_ours(request.host, request.transport):
            raise web.HTTPMisdirectedRequest
        if request.method == "POST" or request.path == "/ws":
            origin = request.headers.get("Origin", "")
            if origin != self._own_origin(request):
                raise web.HTTPForbidden
        return await handler(request)

    def _own_origin(self, request: web.Request) -> str:
        return self._origin or f"{'https' if self._secure else 'http'}://{request.host}"

    def _is_ours(self, host: str, transport: asyncio.BaseTransport | None) -> bool:
        if self._origin:
            return True  # a proxy stands before us and calls us as it likes; what browsers say is checked by origin
        name = urlsplit(f"//{host}").hostname or ""
        address = (transport.get_extra_info("sockname") or ("",))[0] if transport else ""
        if not is_loopback(str(address)):
            return True
        return is_loopback(name)

    def _who(self, request: web.Request) -> Signed | None:
        value = request.cookies.get(self.cookie, "")
        return self._signed.of(value) if value else None

    def _must(self, request: web.Request) -> Signed:
        signed = self._who(request)
        if signed is None:
            raise web.HTTPUnauthorized
        return signed

    # Signing in and out

    async def _sign_in(self, request: web.Request) -> web.Response:
        address = sender(request.remote or "", request.headers.getall("X-Forwarded-For", ()), self._proxies)
        if wait := self._tries.wait(address):
            return self._later(wait)
        form = await request.post()
        who = _field(form, "who")
        async with self._checks:
            if wait := self._tries.wait(address):  # others from there were wrong while this one came in
                return self._later(wait)
            begun = self._tries.begin(address, who)
            answer = await self._ways.check(who, _field(form, "pin"))
        if isinstance(answer, Told):
            if not answer.wrong:
                self._tries.forget(address, begun)
            return self._refused(answer.why, 403)
        self._tries.right(address, begun)
        if before := self._who(request):
            await self._end(before)
        response = web.Response(status=303, headers={"Location": "/", "Cache-Control": "no-store"})
        response.set_cookie(
            self.cookie, self._signed.begin(answer), path="/", httponly=True, samesite="Strict", secure=self._secure
        )
        return response

    async def _sign_out(self, request: web.Request) -> web.Response:
        if signed := self._who(request):
            await self._end(signed)
        response = web.Response(status=303, headers={"Location": "/", "Cache-Control": "no-store"})
        response.del_cookie(self.cookie, path="/", httponly=True, samesite="Strict", secure=self._secure)
        return response

    async def _end(self, signed: Signed) -> None:
        """The sign-in counts no more, and no screen of it is left."""
        self._signed.end(signed)
        live = self._live.get(signed.person.user)
        if live and live[0] is signed:
            await self._close(signed.person, ENDED)

    def _later(self, wait: int) -> web.Response:
        return self._refused("web.later", 429, {"Retry-After": str(wait)})

    def _refused(self, why: str, status: int, headers: dict[str, str] | None = None) -> web.Response:
        page = pages.sign_in_page(self._ways.words, self._ways.language, why)
        return _html(page, pages.SIGN_IN_POLICY, status, headers)

    # What is shown

    async def _index(self, request: web.Request) -> web.Response:
        if self._who(request) is None:
            return _html(pages.sign_in_page(self._ways.words, self._ways.language), pages.SIGN_IN_POLICY)
        socket = "ws" + self._own_origin(request).removeprefix("http")
        page = pages.screen_page(self._ways.words, self._ways.language, f"{socket}/ws")
        return _html(page, pages.screen_policy(socket))

    async def _static(self, request: web.Request) -> web.StreamResponse:
        self._must(request)
        known = pages.FILES.get(request.match_info["name"])
        if known is None:
            raise web.HTTPNotFound
        file, kind = known
        return web.FileResponse(file, headers={"Content-Type": kind, "Cache-Control": "private, max-age=3600"})

    async def _websocket(self, request: web.Request) -> web.StreamResponse:
        signed = self._must(request)
        size = _size(request.query)
        socket = web.WebSocketResponse(timeout=GOODBYE_S, heartbeat=HEARTBEAT_S, max_msg_size=MESSAGE_BYTES)
        await socket.prepare(request)
        user = signed.person.user
        over = asyncio.Event()
        async with self._turns.setdefault(user, asyncio.Lock()):
            await self._close(signed.person, ELSEWHERE)
            if not self._signed.holds(signed):
                await socket.close(code=ENDED)
                return socket
            self._live[user] = (signed, socket, over)
        await self._show(signed, socket, size, over)
        return socket

    async def _show(
        self, signed: Signed, socket: web.WebSocketResponse, size: tuple[int, int], over: asyncio.Event
    ) -> None:
        """A session of this person, from its first frame until it or the browser ends; then `over` is set."""

        def left() -> None:  # whoever leaves the app leaves the browser to somebody else
            self._signed.end(signed)

        screen = Screen(self._ways.start(signed.person), socket, self._downloads, left)
        try:
            await screen.start(*size)
            await self._converse(signed, socket, screen)
        finally:
            # Whoever is waited for may be cancelled, by a browser that is gone; the session still ends in order.
            leaving = asyncio.create_task(self._leave(signed.person.user, screen, over))
            self._leaving.add(leaving)
            leaving.add_done_callback(self._leaving.discard)
            await asyncio.shield(leaving)

    async def _leave(self, user: str, screen: Screen, over: asyncio.Event) -> None:
        """Ends the session of a screen that nobody looks at any more."""
        try:
            await screen.stop()
        finally:
            over.set()
            if self._live[user][2] is over:
                del self._live[user]

    async def _converse(self, signed: Signed, socket: web.WebSocketResponse, screen: Screen) -> None:
        """What the browser says goes to the app, in its order."""
        async for message in socket:
            if message.type is not WSMsgType.TEXT:
                continue
            match _said(message.data):
                case ["stdin", str(text)]:
                    self._signed.touch(signed)
                    await screen.send_bytes(text.encode("utf-8", "replace"))
                case ["resize", {"width": int(width), "height": int(height)}]:
                    await screen.set_terminal_size(width, height)
                case ["ping", str(data)]:
                    with contextlib.suppress(ConnectionError):
                        await socket.send_json(["pong", data[:64]])

    # Ends

    async def _close(self, person: Person, code: int) -> None:
        """Ends the screen of this person, if there is one, and waits until its session has ended."""
        live = self._live.get(person.user)
        if live is not None:
            _, socket, over = live
            await socket.close(code=code)
            await over.wait()

    async def _watching(self, app: web.Application) -> Any:
        task = asyncio.create_task(self._watch())
        yield
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    async def _watch(self) -> None:
        """Ends what does not count any more; whatever goes wrong in one round, there is a next one."""
        while True:
            await asyncio.sleep(self._check_s)
            for step in (self._ask, self._end_what_is_over):
                try:
                    await step()
                except Exception:
                    log.exception("It could not be looked whether those who are signed in still may be.")

    async def _ask(self) -> None:
        """Signs out whoever may not be signed in any more."""
        people = self._signed.people()
        if not people:
            return
        async with asyncio.timeout(ANSWER_S):
            may = await self._ways.still()
        for signed in people:
            if may is not None and signed.person.user not in may:
                self._signed.end(signed)

    async def _end_what_is_over(self) -> None:
        over = [signed.person for signed, _, _ in self._live.values() if not self._signed.holds(signed)]
        ends = await asyncio.gather(*(self._close(person, ENDED) for person in over), return_exceptions=True)
        for end in ends:
            if isinstance(end, BaseException):
                raise end

    async def _shut(self, app: web.Application) -> None:
        await asyncio.gather(*(self._close(signed.person, ENDED) for signed, _, _ in list(self._live.values())))
        await asyncio.gather(*self._leaving, return_exceptions=True)


async def _nothing(request: web.Request) -> web.Response:
    return web.Response(status=204)


async def _say_headers(request: web.BaseRequest, response: web.StreamResponse) -> None:
    for name, text in pages.HEADERS.items():
        response.headers[name] = text
    response.headers.setdefault("Cache-Control", "no-store")
    response.headers.setdefault("Content-Security-Policy", pages.SIGN_IN_POLICY)


def _html(page: str, policy: str, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    told = {"Content-Security-Policy": policy, "Cache-Control": "no-store", **(headers or {})}
    return web.Response(text=page, status=status, content_type="text/html", charset="utf-8", headers=told)


def _field(form: MultiMapping[Any], name: str) -> str:
    """A field of a form that is text; a file, or none, is none."""
    value = form.get(name, "")
    return value.strip()[:100] if isinstance(value, str) else ""


def _size(query: MultiMapping[str]) -> tuple[int, int]:
    """Columns and rows that a browser says it has, within reason."""
    sizes = []
    for name, usual, most in (("width", 80, WIDEST), ("height", 24, HIGHEST)):
        said = query.get(name, "")
        number = int(said) if said.isascii() and said.isdigit() and len(said) < 6 else usual
        sizes.append(max(1, min(number, most)))
    return sizes[0], sizes[1]


def _said(text: str) -> Any:
    """A message of the browser; None where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
