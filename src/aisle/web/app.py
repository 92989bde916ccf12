"""Web application: sign-in, pages, and one websocket per page."""

from __future__ import annotations

import asyncio
import contextlib
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

from aisle.browser_addresses_and_packets import MAX_COLUMNS, MAX_ROWS, PAGES
from aisle.caller_addresses import Network, address_key, is_loopback, sender
from aisle.server.connections import ConnectionLimits, repeats_filtered
from aisle.server.http_server import HttpServer, return_freed_memory, server_config
from aisle.server.limited_websocket import PING_INTERVAL_S, LimitedWebSocket
from aisle.web import pages
from aisle.web.app_process import Start
from aisle.web.sign_ins import BrowserSession, CheckTurns, FailedAttempts, Person, SignIns
from aisle.web.windows import KEEP_S, Opening, PageRequest, PageSocket, Windows, is_address

GRACE_S: Final = 5
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

CHECK_S: Final = 5.0
"""Seconds between two checks that signed-in people are still permitted."""
ANSWER_S: Final = 60.0
"""Seconds to wait for the answer of a check; the next check asks again."""
DEMO_S: Final = 2.0
"""Seconds that a sign-in page waits for the first answer whether the service has the demo store."""
PATIENCE_S: Final = 20.0
"""Seconds that a sign-in is repeated while the service takes no attempts of this host."""
MAX_PAUSE_S: Final = 5.0
"""Longest pause after which it is repeated; a locked person has to wait longer."""
MIN_RETRY_S: Final = 1
FORM_BYTES: Final = 4096
_MAX_KEY: Final = 40
_SAME_SITE: Any = "Strict"
"""Value as the standard spells it."""


class SignInError(NamedTuple):
    """Error of a sign-in as a message id. `wrong` is True if it counts as a failed attempt."""

    why: str
    wrong: bool = False
    detail: str = ""
    """Text for the argument `why` of the message, raw; empty if it has none."""
    retry_after: float | None = None
    """Seconds after which the service takes another attempt; None if it may be tried again now."""


class Hooks(NamedTuple):
    """Functions that the application needs from its caller."""

    check: Callable[[str, str], Awaitable[Person | SignInError]]
    """Check of a name or badge and a PIN."""
    still: Callable[[], Awaitable[Collection[str] | None]]
    """Query of the users that may be signed in; None if the answer is unknown."""
    has_demo_store: Callable[[], Awaitable[bool | None]]
    """Query whether the service has the demo store, whose supervisor the sign-in page names; None if unknown."""
    start: Callable[[Opening], Start]
    """Start parameters of the app process of a window."""
    words: Callable[..., str]
    """Sentence of a message id with its arguments."""
    language: str


class WebApp:
    """Web application. A person may have several windows."""

    def __init__(
        self,
        hooks: Hooks,
        *,
        secure: bool,
        origin: str = "",
        proxies: Collection[Network] = (),
        clock: Callable[[], float] = time.monotonic,
        check_s: float = CHECK_S,
        keep_s: float = KEEP_S,
        sign_in_file: Path | None = None,
    ) -> None:
        """Create the application. `secure` means that browsers use https.

        `origin` is the expected Origin header, '' for one that matches the Host header. X-Forwarded-For of the
        `proxies` is trusted. Sign-ins in the `sign_in_file` outlive this process; apps wait `keep_s` for their page.
        """
        self._hooks = hooks
        self._secure = secure
        self._origin = origin
        self._proxies = proxies
        self._check_s = check_s
        self._sign_ins = SignIns(clock, sign_in_file)
        self._attempts = FailedAttempts(clock)
        self._checks = CheckTurns()
        self._has_demo_store: bool | None = None
        """None until the service has answered."""
        self._was_demo_asked = asyncio.Event()
        self._windows = Windows(hooks.start, self._sign_ins, keep_s)
        self.cookie = "__Host-aisle" if secure else "aisle"
        self.app = Starlette(
            routes=[
                Route("/sign-in", self._sign_in, methods=["POST"]),
                Route("/sign-out", self._sign_out, methods=["POST"]),
                Route("/signed-in", self._signed_in, methods=["GET"]),
                Route("/static/{name}", self._static, methods=["GET"]),
                Route("/favicon.ico", _nothing, methods=["GET"]),
                WebSocketRoute("/ws", self._websocket),
                Route("/ws", _no_websocket, methods=["GET"]),
                *(Route(path, self._index, methods=["GET"]) for page in PAGES for path in _paths(page)),
            ],
            middleware=[Middleware(_Guard, refusal=self._refusal)],
            lifespan=self._watching,
        )

    # Caller

    def _refusal(self, connection: HTTPConnection) -> int:
        """Return the status of a refusal; 0 if the request is accepted.

        The Host header must match, since another page could point its own name at this machine. With TLS the browser
        compares the name with the certificate.
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
        if self._origin or self._secure:
            return True  # A proxy may change the host; requests of browsers are checked by origin.
        try:
            name = urlsplit(f"//{connection.headers.get('host', '')}").hostname or ""
        except ValueError:
            return False
        address = (connection.scope.get("server") or ("",))[0]
        return not is_loopback(str(address)) or is_loopback(name)

    def _who(self, connection: HTTPConnection) -> BrowserSession | None:
        value = _cookie(connection.headers, self.cookie)
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
        name = _field(form, "who")[:100]
        answer = await self._check(address, name, _field(form, "pin"))
        if isinstance(answer, SignInError):
            if answer.retry_after is not None:
                return self._later(max(1, math.ceil(answer.retry_after)))
            why = {"why": answer.detail} if answer.detail else {}
            return self._refused(self._hooks.words(answer.why, **why), 403, address=_field(form, "address"))
        if before := self._who(request):
            await self._end(before)
        response = _to_page(_field(form, "address"))
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
                    self._attempts.report(address)
                    return answer
                self._attempts.forget(address, attempt)
            pause = answer.retry_after or 0.0
            if not 0 < pause <= MAX_PAUSE_S or asyncio.get_running_loop().time() + pause > until:
                return answer

    async def _sign_out(self, request: Request) -> Response:
        if session := self._who(request):
            await self._end(session)
        response = _to_page()
        response.delete_cookie(self.cookie, path="/", httponly=True, samesite=_SAME_SITE, secure=self._secure)
        return response

    async def _end(self, session: BrowserSession) -> None:
        """End a sign-in and close its windows."""
        self._sign_ins.end(session)
        await self._windows.end_of(session)

    def _later(self, wait: int) -> Response:
        return self._refused(self._hooks.words("web.too_many_attempts"), 429, {"Retry-After": str(wait)})

    def _refused(self, why: str, status: int, headers: Mapping[str, str] | None = None, address: str = "") -> Response:
        page = pages.sign_in_page(self._hooks.words, self._hooks.language, why, address, is_demo=self._is_demo)
        return _html(page, pages.SIGN_IN_POLICY, status, headers)

    @property
    def _is_demo(self) -> bool:
        return self._has_demo_store is True

    # Pages

    async def _index(self, request: Request) -> Response:
        if self._who(request) is None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._was_demo_asked.wait(), DEMO_S)
            address, (words, language) = _address_of(request), (self._hooks.words, self._hooks.language)
            page = pages.sign_in_page(words, language, address=address, is_demo=self._is_demo)
            return _html(page, pages.SIGN_IN_POLICY)
        socket = "ws" + self._own_origin(request).removeprefix("http")
        page = pages.screen_page(self._hooks.words, self._hooks.language, f"{socket}/ws")
        return _html(page, pages.screen_policy(socket))

    async def _signed_in(self, request: Request) -> Response:
        """Answer a page that cannot connect whether its sign-in is valid."""
        return Response(status_code=401 if self._who(request) is None else 204)

    async def _static(self, request: Request) -> Response:
        if self._who(request) is None:
            raise HTTPException(401)
        known = pages.FILES.get(request.path_params["name"])
        if known is None:
            raise HTTPException(404)
        file, kind = known
        headers = {"Content-Type": kind, "Cache-Control": "private, no-cache"}  # an upgrade counts at once
        response = FileResponse(file, headers=headers, stat_result=file.stat())
        if request.headers.get("if-none-match") == (tag := response.headers["etag"]):
            return Response(status_code=304, headers={"ETag": tag, "Cache-Control": "private, no-cache"})
        return response

    async def _websocket(self, socket: WebSocket) -> None:
        session = self._who(socket)
        if session is None:
            await socket.send_denial_response(PlainTextResponse("Unauthorized", 401))
            return
        await socket.accept()
        await self._windows.serve(PageSocket(session, socket), _request_of(socket.query_params))

    # Ends

    @contextlib.asynccontextmanager
    async def _watching(self, app: Starlette) -> AsyncIterator[None]:
        task = asyncio.create_task(self._watch())
        yield
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        await self.end_screens()

    async def _watch(self) -> None:
        """End sign-ins and windows that are no longer valid. Errors are logged, and the next round follows."""
        while True:
            for step in (self._find_demo_store, self._ask, self._windows.end_invalid):
                try:
                    await step()
                except Exception:
                    log.exception("It could not be looked whether those who are signed in still may be.")
            self._sign_ins.save()
            await asyncio.sleep(self._check_s)

    async def _find_demo_store(self) -> None:
        """Ask whether the service has the demo store, until it answers."""
        if self._has_demo_store is None:
            try:
                async with asyncio.timeout(ANSWER_S):
                    self._has_demo_store = await self._hooks.has_demo_store()
            finally:
                self._was_demo_asked.set()

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

    async def end_screens(self) -> None:
        """End all windows and wait for them. Sign-ins stay valid for a server that follows."""
        self._sign_ins.save()
        await self._windows.end_all()


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


def _paths(page: str) -> tuple[str, ...]:
    """Return the routes of a page of the app and of its records."""
    return (f"/{page}", f"/{page}/{{record:path}}") if page else ("/",)


def _to_page(address: str = "") -> Response:
    """Return a redirection to a page of ours, the first one if the address is none of them."""
    location = address if is_address(address) else "/"
    return Response(status_code=303, headers={"Location": location, "Cache-Control": "no-store"})


def _address_of(request: Request) -> str:
    """Return the address of a request, with its query."""
    path = request.scope["raw_path"].decode("ascii", "replace").partition("?")[0]
    query = request.url.query
    return f"{path}?{query}" if query else path


def _cookie(headers: Headers, name: str) -> str:
    """Return the value of a cookie as it is; '' for none. Unquoting many backslashes may take Python 10 seconds."""
    for cookie in ";".join(headers.getlist("cookie")).split(";"):
        key, _, value = cookie.partition("=")
        if key.strip() == name:
            return value.strip()
    return ""


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
    """Return a field of a form, at most 300 characters."""
    return form.get(name, "").strip()[:300]


def _request_of(query: Mapping[str, str]) -> PageRequest:
    """Return what a page asks for."""
    number, address = query.get("number", ""), query.get("address", "")
    return PageRequest(
        query.get("window", "")[:_MAX_KEY],
        int(number) if number.isascii() and number.isdigit() and len(number) < 3 else 0,
        _size(query),
        address if is_address(address) else "",
    )


def _size(query: Mapping[str, str]) -> tuple[int, int]:
    """Return the columns and rows of the browser, within limits."""
    sizes = []
    for name, usual, most in (("width", 80, MAX_COLUMNS), ("height", 24, MAX_ROWS)):
        text = query.get(name, "")
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 6 else usual
        sizes.append(max(1, min(number, most)))
    return sizes[0], sizes[1]
