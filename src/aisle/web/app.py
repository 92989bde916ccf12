"""Web application: sign-in, pages, and one websocket per person's screen."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import math
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

from aisle.allocator import return_freed_memory
from aisle.caller_keys import Network, address_key, is_loopback, sender
from aisle.server.connections import ConnectionLimits, repeats_filtered
from aisle.server.http_server import HttpServer, server_config
from aisle.server.limited_websocket import PING_INTERVAL_S, LimitedWebSocket
from aisle.terminal_packets import MAX_COLUMNS, MAX_ROWS
from aisle.web import pages
from aisle.web.app_process import AppProcess, Start
from aisle.web.sign_ins import TRIES_S, BrowserSession, CheckTurns, FailedAttempts, Person, SignIns

GRACE_S: Final = 5
LAST_INPUTS_S: Final = 2.0
"""Seconds for what a closed screen has sent already, if its app takes it slowly or not at all."""
LONGEST_HEAD: Final = 32 << 10
MESSAGE_BYTES: Final = 1 << 20
"""Maximum bytes of a message from the browser, enough for a large paste."""


def http_server(
    web: WebApp,
    limits: ConnectionLimits,
    ready: Callable[[str], None],
    certificate: Path | None = None,
    private_key: Path | None = None,
) -> HttpServer:
    """Create the server of an application. All sessions end before it does."""
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
        ws_per_message_deflate=False,  # A compressed message of a kilobyte may be a thousand times as long.
        ws_ping_interval=PING_INTERVAL_S,
        ws_ping_timeout=PING_INTERVAL_S,
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
    """Serve until SIGINT, SIGTERM or the event that `follow` waits for.

    SIGHUP reloads the certificate; without one it ends the server.
    """
    return_freed_memory()
    with repeats_filtered():
        server = http_server(web, limits, ready, certificate, private_key)
        follow(server.leave)
        server.run([sock])


log = logging.getLogger("aisle.web")

CHECK_S: Final = 30.0
"""Seconds between two checks that signed-in people are still permitted."""
ANSWER_S: Final = 60.0
"""Seconds to wait for the answer of a check; the next check asks again."""
PATIENCE_S: Final = 20.0
"""Seconds that a sign-in is repeated while the service takes no attempts of this host."""
MAX_PAUSE_S: Final = 5.0
"""Longest pause after which it is repeated; a locked person has to wait longer."""
MIN_RETRY_S: Final = 1
REPORTED_TRIES: Final = 5
"""Wrong PINs of an address after which, and after each as many further ones, a line is logged."""
FORM_BYTES: Final = 4096
_SAME_SITE: Any = "Strict"
"""Value as the standard spells it."""

ENDED, ELSEWHERE = 4000, 4001
"""Close codes of a websocket: the sign-in has ended; the person has opened another screen."""


class SignInError(NamedTuple):
    """Error of a sign-in as a message id. `wrong` is True if it counts as a failed attempt."""

    why: str
    wrong: bool = False
    retry_after: float | None = None
    """Seconds after which the service takes another attempt; None if it may be tried again now."""


class Hooks(NamedTuple):
    """Functions that the application needs from its caller."""

    check: Callable[[str, str], Awaitable[Person | SignInError]]
    """Check of a name or badge and a PIN."""
    still: Callable[[], Awaitable[Collection[str] | None]]
    """Query of the users that may be signed in; None if the answer is unknown."""
    start: Callable[[Person], Start]
    """Start parameters of a person's app process."""
    words: pages.Words
    language: str


class Screen:
    """Websocket of one screen, from the first message of the browser to the end of its session."""

    def __init__(self, session: BrowserSession, socket: WebSocket) -> None:
        self.session = session
        self.over = asyncio.Event()
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

    async def close(self, code: int = 1000) -> None:
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

    async def _send(self, message: Message) -> None:
        if self._is_closed:
            raise ConnectionResetError
        try:
            await self._socket.send(message)
        except Exception as problem:  # The type of the error depends on the server.
            self._is_closed = True
            raise ConnectionResetError from problem


class WebApp:
    """Web application. Every person has one screen; opening another one ends the first."""

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
        """Create the application. `secure` means that browsers use https.

        `origin` is the expected Origin header, '' for one that matches the Host header. X-Forwarded-For of the
        `proxies` is trusted.
        """
        self._hooks = hooks
        self._secure = secure
        self._origin = origin
        self._proxies = proxies
        self._check_s = check_s
        self._sign_ins = SignIns(clock)
        self._attempts = FailedAttempts(clock)
        self._checks = CheckTurns()
        self._screens: dict[str, Screen] = {}
        self._turns: dict[str, asyncio.Lock] = {}
        self._next: dict[str, Screen] = {}
        """Screen of each person that waits until the one before it has ended. A further one takes its place."""
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

    # Caller

    def _refusal(self, connection: HTTPConnection) -> int:
        """Return the status of a refusal; 0 if the request is accepted.

        The Host header must match, since another page could point its own name at this machine.
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
            return True  # A proxy may change the host; requests of browsers are checked by origin.
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
        address = address_key(sender(remote, request.headers.getlist("X-Forwarded-For"), self._proxies))
        if wait := self._attempts.wait(address):
            return self._later(wait)
        try:
            form = await _form(request)
        except ClientDisconnect:
            return Response(status_code=400)
        name = _field(form, "who")
        answer = await self._check(address, name, _field(form, "pin"))
        if isinstance(answer, SignInError):
            if answer.retry_after is not None:
                return self._later(max(1, math.ceil(answer.retry_after)))
            return self._refused(answer.why, 403)
        if before := self._who(request):
            await self._end(before)
        response = _to_index()
        response.set_cookie(
            self.cookie, self._sign_ins.begin(answer), path="/", httponly=True, samesite=_SAME_SITE, secure=self._secure
        )
        return response

    async def _check(self, address: str, who: str, pin: str) -> Person | SignInError:
        """Check a PIN in turn. Repeat it after a pause while the service takes no attempts of this host."""
        until, pause = asyncio.get_running_loop().time() + PATIENCE_S, 0.0
        while True:
            async with self._checks.turn(address, self._attempts.count(address), pause) as is_next:
                # Other attempts from this address may have failed meanwhile.
                if wait := self._attempts.wait(address) if is_next else MIN_RETRY_S:
                    return SignInError("web.too_many_attempts", retry_after=wait)
                attempt = self._attempts.begin(address, who)
                answer = await self._hooks.check(who, pin)
                if not isinstance(answer, SignInError):
                    self._attempts.right(address, attempt)
                    return answer
                if answer.wrong:
                    self._report_attempts(address)
                    return answer
                self._attempts.forget(address, attempt)
            pause = answer.retry_after or 0.0
            if not 0 < pause <= MAX_PAUSE_S or asyncio.get_running_loop().time() + pause > until:
                return answer

    def _report_attempts(self, address: str) -> None:
        """Log each fifth wrong PIN of an address: the service's log does not know the browser's."""
        count = self._attempts.count(address)
        if count % REPORTED_TRIES == 0:
            log.warning("%d wrong PINs from %s in %d minutes", count, address, TRIES_S // 60)

    async def _sign_out(self, request: Request) -> Response:
        if session := self._who(request):
            await self._end(session)
        response = _to_index()
        response.delete_cookie(self.cookie, path="/", httponly=True, samesite=_SAME_SITE, secure=self._secure)
        return response

    async def _end(self, session: BrowserSession) -> None:
        """End a sign-in and close its screen."""
        self._sign_ins.end(session)
        screen = self._screens.get(session.person.user)
        if screen and screen.session is session:
            await self._close(session.person, ENDED)

    def _later(self, wait: int) -> Response:
        return self._refused("web.too_many_attempts", 429, {"Retry-After": str(wait)})

    def _refused(self, why: str, status: int, headers: Mapping[str, str] | None = None) -> Response:
        page = pages.sign_in_page(self._hooks.words, self._hooks.language, why)
        return _html(page, pages.SIGN_IN_POLICY, status, headers)

    # Pages

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
        former, self._next[user] = self._next.get(user), screen
        if former is not None:
            await former.close(ELSEWHERE)
        async with self._turns.setdefault(user, asyncio.Lock()):
            if self._next.get(user) is not screen:
                return
            await self._close(session.person, ELSEWHERE)
            if self._next.get(user) is not screen:
                return
            del self._next[user]
            if not self._sign_ins.holds(session):
                await screen.close(ENDED)
                return
            self._screens[user] = screen
        await self._show(screen, _size(socket.query_params))

    async def _show(self, screen: Screen, size: tuple[int, int]) -> None:
        """Run a session of this person until it or the browser ends, then set `over`."""

        def left() -> None:  # A person who quits the app leaves the browser to others.
            self._sign_ins.end(screen.session)

        starting = asyncio.create_task(
            AppProcess.start(self._hooks.start(screen.session.person), size, screen.show, screen.close, left)
        )
        try:
            process = await asyncio.shield(starting)
            async with screen.conversation():
                await self._converse(screen, process)
        finally:
            # The server may cancel this coroutine at its end; the session is still stopped in order.
            leaving = asyncio.create_task(self._leave(screen, starting))
            self._leaving.add(leaving)
            leaving.add_done_callback(self._leaving.discard)
            await asyncio.shield(leaving)

    async def _leave(self, screen: Screen, starting: asyncio.Task[AppProcess]) -> None:
        """Stop the session of a closed screen."""
        try:
            await screen.close()
            await (await starting).stop()
        finally:
            screen.over.set()
            user = screen.session.person.user
            if self._screens.get(user) is screen:
                del self._screens[user]

    async def _converse(self, screen: Screen, process: AppProcess) -> None:
        """Pass the messages of the browser to the app in their order."""
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
        """Close the screen of this person, if there is one, and wait until its session has ended."""
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
        """End sign-ins and screens that are no longer valid. Errors are logged, and the next round follows."""
        while True:
            await asyncio.sleep(self._check_s)
            for step in (self._ask, self._end_what_is_over):
                try:
                    await step()
                except Exception:
                    log.exception("It could not be looked whether those who are signed in still may be.")

    async def _ask(self) -> None:
        """End the sign-ins of people who are no longer permitted."""
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
        """End all sessions and wait for them."""
        screens = list(self._screens.values())
        await asyncio.gather(*(self._close(screen.session.person, ENDED) for screen in screens))
        await asyncio.gather(*self._leaving, return_exceptions=True)


class _Guard:
    """Outermost middleware: refuses requests and adds the headers of every answer."""

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
    all_headers = {"Content-Security-Policy": policy, "Cache-Control": "no-store", **(headers or {})}
    return HTMLResponse(page, status, all_headers)


async def _form(request: Request) -> dict[str, str]:
    """Return the fields of a form. Raise HTTPException (413) if it is too long, ClientDisconnect if incomplete."""
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
    """Return a field of a form, at most 100 characters."""
    return form.get(name, "").strip()[:100]


def _size(query: Mapping[str, str]) -> tuple[int, int]:
    """Return the columns and rows of the browser, within limits."""
    sizes = []
    for name, usual, most in (("width", 80, MAX_COLUMNS), ("height", 24, MAX_ROWS)):
        text = query.get(name, "")
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 6 else usual
        sizes.append(max(1, min(number, most)))
    return sizes[0], sizes[1]


def _said(text: str) -> Any:
    """Return a message of the browser, or None if it is invalid."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
