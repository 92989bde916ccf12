"""The web application on a socket, until somebody ends it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from aisle.server.connections import ConnectionLimits, repeats_filtered
from aisle.server.http_server import HttpServer, server_config
from aisle.server.websockets import HEARTBEAT_S, LimitedWebSocket
from aisle.terminal_packets import MAX_COLUMNS, MAX_ROWS
from aisle.web import pages
from aisle.web.app_process import AppProcess, Start
from aisle.web.client_address import Network, is_loopback, sender
from aisle.web.sign_ins import BrowserSession, FailedAttempts, Person, SignIns

GRACE_S: Final = 5
LONGEST_HEAD: Final = 32 << 10
MESSAGE_BYTES: Final = 1 << 20
"""Bytes of a message of the browser at most: a large paste."""


def http_server(
    web: WebApp,
    limits: ConnectionLimits,
    ready: Callable[[str], None],
    certificate: Path | None = None,
    private_key: Path | None = None,
) -> HttpServer:
    """The server of an application; every session has ended when it has."""
    config = server_config(
        web.app,
        limits,
        longest_head=LONGEST_HEAD,
        certificate=certificate,
        private_key=private_key,
        finish_seconds=GRACE_S,
        lifespan="on",
        ws=LimitedWebSocket,
        ws_max_size=MESSAGE_BYTES,
        ws_ping_interval=HEARTBEAT_S,
        ws_ping_timeout=HEARTBEAT_S,
    )
    return HttpServer(config, ready, before_end=web.end_screens)


def serve(
    web: WebApp,
    sock: socket.socket,
    limits: ConnectionLimits,
    ready: Callable[[str], None],
    follow: Callable[[Callable[[], None]], object],
    certificate: Path | None = None,
    private_key: Path | None = None,
) -> None:
    """Serve until SIGINT, SIGTERM or what `follow` waits for. A certificate is taken anew on SIGHUP, which ends it
    where there is none."""
    with repeats_filtered():
        server = http_server(web, limits, ready, certificate, private_key)
        follow(server.leave)
        server.run([sock])


log = logging.getLogger("aisle.web")

CHECK_S: Final = 30.0
"""How often it is looked whether those who are signed in still may be."""
ANSWER_S: Final = 60.0
"""So long is waited for who may be; the next look asks again."""
FORM_BYTES: Final = 4096
_SAME_SITE: Any = "Strict"
"""As the standard writes it."""

ENDED, ELSEWHERE = 4000, 4001
"""Why a websocket is closed: the sign-in has ended; the person has opened another screen."""


class SignInError(NamedTuple):
    """What is wrong with a sign-in, as a message id, and whether it counts as a wrong try."""

    why: str
    wrong: bool = False


class Hooks(NamedTuple):
    """What the application asks of whoever opens it."""

    check: Callable[[str, str], Awaitable[Person | SignInError]]
    """Who somebody is by a name or badge and a PIN."""
    still: Callable[[], Awaitable[Collection[str] | None]]
    """The users that may be signed in now; None where that cannot be told."""
    start: Callable[[Person], Start]
    """How this person's screen is started."""
    words: pages.Words
    language: str


class Screen:
    """The websocket of one screen, on its way from the browser's first word until its session has ended."""

    def __init__(self, session: BrowserSession, socket: WebSocket) -> None:
        self.session = session
        self.over = asyncio.Event()
        self._socket = socket
        self._is_closed = False

    async def show(self, data: bytes) -> None:
        """Raises ConnectionError when nobody is there."""
        await self._send({"type": "websocket.send", "bytes": data})

    async def say(self, message: Any) -> None:
        """Raises ConnectionError when nobody is there."""
        await self._send({"type": "websocket.send", "text": json.dumps(message)})

    async def close(self, code: int = 1000) -> None:
        """Nothing comes after it; the browser may be gone before."""
        if not self._is_closed:
            with contextlib.suppress(ConnectionError):
                await self._send({"type": "websocket.close", "code": code})
            self._is_closed = True

    async def texts(self) -> AsyncIterator[str]:
        """What the browser says, until it or we have closed."""
        while (message := await self._socket.receive())["type"] == "websocket.receive":
            if (text := message.get("text")) is not None:
                yield text

    async def _send(self, message: Message) -> None:
        if self._is_closed:
            raise ConnectionResetError
        try:
            await self._socket.send(message)
        except Exception as problem:  # whatever the server calls it
            self._is_closed = True
            raise ConnectionResetError from problem


class WebApp:
    """Every person has one screen; opening another one ends the first."""

    def __init__(
        self,
        hooks: Hooks,
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
        self._hooks = hooks
        self._secure = secure
        self._origin = origin
        self._proxies = proxies
        self._check_s = check_s
        self._sign_ins = SignIns(clock)
        self._attempts = FailedAttempts(clock)
        self._checks = asyncio.Semaphore(4)
        self._screens: dict[str, Screen] = {}
        self._turns: dict[str, asyncio.Lock] = {}
        self._leaving: set[asyncio.Task[None]] = set()
        self.cookie = "__Host-aisle" if secure else "aisle"
        self.app = Starlette(
            routes=[
                Route("/", self._index, methods=["GET"]),
                Route("/sign-in", self._sign_in, methods=["POST"]),
                Route("/sign-out", self._sign_out, methods=["POST"]),
                Route("/static/{name}", self._static, methods=["GET"]),
                Route("/favicon.ico", _nothing, methods=["GET"]),
                WebSocketRoute("/ws", self._websocket),
                Route("/ws", _no_websocket, methods=["GET"]),
            ],
            middleware=[Middleware(_Guard, refusal=self._refusal)],
            lifespan=self._watching,
        )

    # Who asks

    def _refusal(self, connection: HTTPConnection) -> int:
        """The status for who is not let in; 0 for who is.

        Only for those who call us by our name: a page elsewhere could point its own name at this machine.
        """
        if not self._is_ours(connection):
            return 421
        path = connection.scope["path"]
        if connection.scope.get("method") == "POST" or path == "/ws":
            return 0 if connection.headers.get("origin", "") == self._own_origin(connection) else 403
        return 0

    def _own_origin(self, connection: HTTPConnection) -> str:
        return self._origin or f"{'https' if self._secure else 'http'}://{connection.headers.get('host', '')}"

    def _is_ours(self, connection: HTTPConnection) -> bool:
        if self._origin:
            return True  # a proxy stands before us and calls us as it likes; what browsers say is checked by origin
        try:
            name = urlsplit(f"//{connection.headers.get('host', '')}").hostname or ""
        except ValueError:
            return False
        address = (connection.scope.get("server") or ("",))[0]
        return not is_loopback(str(address)) or is_loopback(name)

    def _who(self, connection: HTTPConnection) -> BrowserSession | None:
        value = connection.cookies.get(self.cookie, "")
        return self._sign_ins.of(value) if value else None

    # Signing in and out

    async def _sign_in(self, request: Request) -> Response:
        remote = request.client.host if request.client else ""
        address = sender(remote, request.headers.getlist("X-Forwarded-For"), self._proxies)
        if wait := self._attempts.wait(address):
            return self._later(wait)
        try:
            form = await _form(request)
        except ClientDisconnect:
            return Response(status_code=400)
        who = _field(form, "who")
        async with self._checks:
            if wait := self._attempts.wait(address):  # others from there were wrong while this one came in
                return self._later(wait)
            begun = self._attempts.begin(address, who)
            answer = await self._hooks.check(who, _field(form, "pin"))
        if isinstance(answer, SignInError):
            if not answer.wrong:
                self._attempts.forget(address, begun)
            return self._refused(answer.why, 403)
        self._attempts.right(address, begun)
        if before := self._who(request):
            await self._end(before)
        response = _to_index()
        response.set_cookie(
            self.cookie, self._sign_ins.begin(answer), path="/", httponly=True, samesite=_SAME_SITE, secure=self._secure
        )
        return response

    async def _sign_out(self, request: Request) -> Response:
        if session := self._who(request):
            await self._end(session)
        response = _to_index()
        response.delete_cookie(self.cookie, path="/", httponly=True, samesite=_SAME_SITE, secure=self._secure)
        return response

    async def _end(self, session: BrowserSession) -> None:
        """The sign-in counts no more, and no screen of it is left."""
        self._sign_ins.end(session)
        screen = self._screens.get(session.person.user)
        if screen and screen.session is session:
            await self._close(session.person, ENDED)

    def _later(self, wait: int) -> Response:
        return self._refused("web.later", 429, {"Retry-After": str(wait)})

    def _refused(self, why: str, status: int, headers: Mapping[str, str] | None = None) -> Response:
        page = pages.sign_in_page(self._hooks.words, self._hooks.language, why)
        return _html(page, pages.SIGN_IN_POLICY, status, headers)

    # What is shown

    async def _index(self, request: Request) -> Response:
        if self._who(request) is None:
            return _html(pages.sign_in_page(self._hooks.words, self._hooks.language), pages.SIGN_IN_POLICY)
        socket = "ws" + self._own_origin(request).removeprefix("http")
        page = pages.screen_page(self._hooks.words, self._hooks.language, f"{socket}/ws")
        return _html(page, pages.screen_policy(socket))

    async def _static(self, request: Request) -> Response:
        if self._who(request) is None:
            raise HTTPException(401)
        known = pages.FILES.get(request.path_params["name"])
        if known is None:
            raise HTTPException(404)
        file, kind = known
        return FileResponse(file, headers={"Content-Type": kind, "Cache-Control": "private, max-age=3600"})

    async def _websocket(self, socket: WebSocket) -> None:
        session = self._who(socket)
        if session is None:
            await socket.send_denial_response(PlainTextResponse("Unauthorized", 401))
            return
        await socket.accept()
        screen = Screen(session, socket)
        user = session.person.user
        async with self._turns.setdefault(user, asyncio.Lock()):
            await self._close(session.person, ELSEWHERE)
            if not self._sign_ins.holds(session):
                await screen.close(ENDED)
                return
            self._screens[user] = screen
        await self._show(screen, _size(socket.query_params))

    async def _show(self, screen: Screen, size: tuple[int, int]) -> None:
        """A session of this person, from its first frame until it or the browser ends; then `over` is set."""

        def left() -> None:  # whoever leaves the app leaves the browser to somebody else
            self._sign_ins.end(screen.session)

        starting = asyncio.create_task(
            AppProcess.start(self._hooks.start(screen.session.person), size, screen.show, screen.close, left)
        )
        try:
            await self._converse(screen, await asyncio.shield(starting))
        finally:
            # Whoever is waited for may be cancelled, by a server that ends; the session still ends in order.
            leaving = asyncio.create_task(self._leave(screen, starting))
            self._leaving.add(leaving)
            leaving.add_done_callback(self._leaving.discard)
            await asyncio.shield(leaving)

    async def _leave(self, screen: Screen, starting: asyncio.Task[AppProcess]) -> None:
        """Ends the session of a screen that nobody looks at any more."""
        try:
            await screen.close()
            await (await starting).stop()
        finally:
            screen.over.set()
            user = screen.session.person.user
            if self._screens.get(user) is screen:
                del self._screens[user]

    async def _converse(self, screen: Screen, process: AppProcess) -> None:
        """What the browser says goes to the app, in its order."""
        async for text in screen.texts():
            match _said(text):
                case ["stdin", str(typed)]:
                    self._sign_ins.touch(screen.session)
                    await process.type(typed.encode("utf-8", "replace"))
                case ["resize", {"width": int(width), "height": int(height)}]:
                    await process.resize(width, height)
                case ["ping", str(data)]:
                    with contextlib.suppress(ConnectionError):
                        await screen.say(["pong", data[:64]])

    # Ends

    async def _close(self, person: Person, code: int) -> None:
        """Ends the screen of this person, if there is one, and waits until its session has ended."""
        screen = self._screens.get(person.user)
        if screen is not None:
            await screen.close(code)
            await screen.over.wait()

    @contextlib.asynccontextmanager
    async def _watching(self, app: Starlette) -> AsyncIterator[None]:
        task = asyncio.create_task(self._watch())
        yield
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        await self.end_screens()

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
        people = self._sign_ins.people()
        if not people:
            return
        async with asyncio.timeout(ANSWER_S):
            may = await self._hooks.still()
        for session in people:
            if may is not None and session.person.user not in may:
                self._sign_ins.end(session)

    async def _end_what_is_over(self) -> None:
        over = [one.session.person for one in self._screens.values() if not self._sign_ins.holds(one.session)]
        ends = await asyncio.gather(*(self._close(person, ENDED) for person in over), return_exceptions=True)
        for end in ends:
            if isinstance(end, BaseException):
                raise end

    async def end_screens(self) -> None:
        """Every session has ended then."""
        screens = list(self._screens.values())
        await asyncio.gather(*(self._close(screen.session.person, ENDED) for screen in screens))
        await asyncio.gather(*self._leaving, return_exceptions=True)


class _Guard:
    """Outermost: refuses whom `refusal` names a status for, and says what every answer says."""

    def __init__(self, app: ASGIApp, refusal: Callable[[HTTPConnection], int]) -> None:
        self._app = app
        self._refusal = refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return

        async def say(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                _add_headers(message)
            await send(message)

        status = self._refusal(HTTPConnection(scope))
        if not status:
            await self._app(scope, receive, say)
        elif scope["type"] == "http":
            await PlainTextResponse(_REFUSALS[status], status)(scope, receive, say)
        else:
            await WebSocket(scope, receive, say).send_denial_response(PlainTextResponse(_REFUSALS[status], status))


_REFUSALS: Final = {403: "Forbidden", 421: "Misdirected Request"}


def _add_headers(message: Message) -> None:
    headers = MutableHeaders(scope=message)
    for name, text in pages.HEADERS.items():
        headers[name] = text
    headers.setdefault("Cache-Control", "no-store")
    headers.setdefault("Content-Security-Policy", pages.SIGN_IN_POLICY)


async def _nothing(request: Request) -> Response:
    return Response(status_code=204)


async def _no_websocket(request: Request) -> Response:
    return PlainTextResponse("Upgrade Required", 426, {"Upgrade": "websocket", "Connection": "Upgrade"})


def _to_index() -> Response:
    return Response(status_code=303, headers={"Location": "/", "Cache-Control": "no-store"})


def _html(page: str, policy: str, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    told = {"Content-Security-Policy": policy, "Cache-Control": "no-store", **(headers or {})}
    return HTMLResponse(page, status, told)


async def _form(request: Request) -> dict[str, str]:
    """The fields of a form. Raises HTTPException (413), ClientDisconnect."""
    body = b""
    if _length(request.headers) > FORM_BYTES:
        raise HTTPException(413)
    async for part in request.stream():
        body += part
        if len(body) > FORM_BYTES:
            raise HTTPException(413)
    return dict(reversed(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True)))


def _length(headers: Headers) -> int:
    text = headers.get("content-length", "0")
    return int(text[:20]) if text.isascii() and text.isdigit() else 0


def _field(form: Mapping[str, str], name: str) -> str:
    """A field of a form."""
    return form.get(name, "").strip()[:100]


def _size(query: Mapping[str, str]) -> tuple[int, int]:
    """Columns and rows that a browser says it has, within reason."""
    sizes = []
    for name, usual, most in (("width", 80, MAX_COLUMNS), ("height", 24, MAX_ROWS)):
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
