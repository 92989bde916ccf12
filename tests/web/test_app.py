"""`aisle web`: who gets a cookie, who gets a screen, and what ends it. The screens are a small program."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from http.cookies import SimpleCookie
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from aiohttp import (
    ClientResponse,
    ClientSession,
    ClientWebSocketResponse,
    CookieJar,
    TCPConnector,
    WSMsgType,
    WSServerHandshakeError,
)
from yarl import URL

from aisle.caller_addresses import sender
from aisle.server.connections import ConnectionLimits
from aisle.server.http_server import listening
from aisle.session.store_connection import FULL_CHECK_S
from aisle.web import app, pages
from aisle.web.app import CHECK_S, Hooks, SignInError, WebApp, http_server
from aisle.web.app_process import Start
from aisle.web.sign_ins import IDLE_S, LONGEST_S, TRIES, TRIES_S, FailedAttempts, Person, SignIns
from aisle.web.windows import ELSEWHERE, ENDED, FAILED, Opening

ANN = Person("ann", "Ann Bell")
ORIGIN = "http://127.0.0.1"

# Says its size and what it is told, as packets; leaves when it is asked to, at `q`, or when nobody is there any more.
APP = """
import sys
def packet(data):
    sys.stdout.buffer.write(b"D" + len(data).to_bytes(4, "big") + data)
    sys.stdout.buffer.flush()
print("__GANGLION__", flush=True)
packet(" ".join(sys.argv[1:]).encode())
while True:
    head = sys.stdin.buffer.read(5)
    if len(head) < 5:
        break
    data = sys.stdin.buffer.read(int.from_bytes(head[1:], "big"))
    if data == b"q" or b'"quit"' in data:
        break
    if b'"mark"' in data:
        taken = data.replace(b"mark", b"taken")
        sys.stdout.buffer.write(b"M" + len(taken).to_bytes(4, "big") + taken)
        sys.stdout.buffer.flush()
        continue
    packet(head[:1] + data)
"""


class Clock:
    """Time as the test has it."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


class House:
    """A door, whoever may pass it, and the time."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.let_in = {ANN.user}
        self.asked: list[tuple[str, str]] = []
        self.rounds = asyncio.Semaphore(0)
        self.surprise: Exception | None = None
        self.has_demo: bool | None = False

    async def check(self, who: str, pin: str) -> Person | SignInError:
        self.asked.append((who, pin))
        if who == "away":
            return SignInError("web.no_answer")
        if who == "full":
            return SignInError("pin.refused", detail="The <disk> is full.")
        return (
            Person(who, "Ann Bell") if (who in self.let_in and pin == "2468") else SignInError("web.wrong", wrong=True)
        )

    async def still(self) -> set[str] | None:
        self.rounds.release()
        if self.surprise:
            raise self.surprise
        return self.let_in

    async def has_demo_store(self) -> bool | None:
        return self.has_demo

    def start(self, opening: Opening) -> Start:
        return Start([sys.executable, "-c", APP, opening.person.user, *map(str, opening[1:])], {})

    def web(self, **options: Any) -> WebApp:
        hooks = Hooks(
            self.check, self.still, self.has_demo_store, self.start, lambda id_, why="": f"<{id_}>{why}", "en"
        )
        return WebApp(hooks, **{"secure": False, "clock": self.clock, "check_s": 0.01, "keep_s": 0, **options})

    @asynccontextmanager
    async def open(self, limits: ConnectionLimits | None = None, **options: Any) -> AsyncIterator[Visitor]:
        ready = asyncio.Event()
        server = http_server(self.web(**options), limits or ConnectionLimits(), lambda url: ready.set())
        with listening("127.0.0.1", 0) as sock:
            port = sock.getsockname()[1]
            serving = asyncio.create_task(server.serve([sock]))
            await ready.wait()
            try:
                jar, connector = CookieJar(unsafe=True), TCPConnector(limit=0)
                async with ClientSession(f"http://127.0.0.1:{port}", cookie_jar=jar, connector=connector) as session:
                    yield Visitor(session, port)
            finally:
                server.leave()
                await serving


class Visitor:
    """A browser's requests and cookies."""

    def __init__(self, session: ClientSession, port: int) -> None:
        self._session = session
        self.port = port
        self.ws_connect = session.ws_connect

    async def get(self, path: str, **options: Any) -> ClientResponse:
        return await self._whole(await self._session.get(path, **options))

    async def post(self, path: str, **options: Any) -> ClientResponse:
        return await self._whole(await self._session.post(path, **options))

    async def _whole(self, answer: ClientResponse) -> ClientResponse:
        await answer.read()
        return answer

    def make_url(self, path: str) -> URL:
        return URL(f"http://127.0.0.1:{self.port}{path}")


@pytest.fixture
def house() -> House:
    return House()


def origin(client: Visitor) -> str:
    return str(client.make_url("/")).rstrip("/")


async def sign_in(client: Visitor, who: str = "ann", pin: str = "2468", **headers: str) -> Any:
    told = {"Origin": origin(client), **headers}
    return await client.post("/sign-in", data={"who": who, "pin": pin}, headers=told, allow_redirects=False)


async def screen(client: Visitor, query: str = "", **headers: str) -> ClientWebSocketResponse:
    told = {"Origin": origin(client), **headers}
    return await client.ws_connect(f"/ws?width=100&height=7{query}", headers=told)


async def read(socket: ClientWebSocketResponse) -> bytes:
    """What the app draws next; what the server says before is passed over."""
    while (message := await socket.receive(timeout=30)).type is WSMsgType.TEXT:
        pass
    assert message.type is WSMsgType.BINARY, message
    return bytes(message.data)


async def said(socket: ClientWebSocketResponse, kind: str) -> Any:
    """What the server says next of this kind."""
    while True:
        message = await socket.receive(timeout=30)
        assert message.type in (WSMsgType.BINARY, WSMsgType.TEXT), message
        if message.type is WSMsgType.TEXT and message.json()[0] == kind:
            return message.json()[1]


async def end(socket: ClientWebSocketResponse) -> int | None:
    while (await socket.receive(timeout=30)).type in (WSMsgType.BINARY, WSMsgType.TEXT):
        pass
    return socket.close_code


async def test_a_pin_gets_a_cookie_that_no_script_and_no_other_site_gets(house: House) -> None:
    async with house.open() as client:
        answer = await sign_in(client, " ann ")
        assert (answer.status, answer.headers["Location"]) == (303, "/")
        cookie = SimpleCookie(answer.headers["Set-Cookie"])["aisle"]
        assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Strict", "/")
        assert not cookie["domain"]
        assert len(cookie.value) >= 40
        assert "data-websocket-url" in await (await client.get("/")).text()
        assert house.asked == [("ann", "2468")]


@pytest.mark.parametrize("has_demo", [True, False, None])
async def test_the_page_of_the_demo_store_says_whom_to_sign_in_as(house: House, has_demo: bool | None) -> None:
    house.has_demo = has_demo
    async with house.open() as client:
        for answer in (await client.get("/"), await sign_in(client, pin="1111")):
            assert ("web.demo" in await answer.text()) is (has_demo is True)


async def test_with_tls_the_cookie_is_for_https_and_this_host_alone(house: House) -> None:
    async with house.open(secure=True, origin="https://store.example") as client:
        answer = await sign_in(client, Origin="https://store.example")
        cookie = SimpleCookie(answer.headers["Set-Cookie"])["__Host-aisle"]
        assert cookie["secure"]
        assert (await sign_in(client)).status == 403, "only the name that browsers know counts"
        page = await (await client.get("/", headers={"Cookie": f"__Host-aisle={cookie.value}"})).text()
        assert 'url="wss://store.example/ws"' in page


async def test_nothing_is_served_without_cookie(house: House) -> None:
    async with house.open() as client:
        assert 'name="pin"' in await (await client.get("/")).text()
        for name in pages.FILES:
            assert (await client.get(f"/static/{name}")).status == 401
        with pytest.raises(WSServerHandshakeError, match="401"):
            await screen(client)
        with pytest.raises(WSServerHandshakeError, match="401"):
            await screen(client, Cookie="aisle=" + "x" * 43)
        await sign_in(client)
        for name, (file, _) in pages.FILES.items():
            answer = await client.get(f"/static/{name}")
            assert await answer.read() == file.read_bytes()
            assert answer.headers["Cache-Control"] == "private, no-cache", "an upgrade counts at once"
            known = {"If-None-Match": answer.headers["ETag"]}
            assert (await client.get(f"/static/{name}", headers=known)).status == 304
            assert (await client.get(f"/static/{name}", headers={"If-None-Match": '"old"'})).status == 200
        for path in ("/static/..%2f__init__.py", "/static/nothing", "/download/x", "/etc/passwd"):
            assert (await client.get(path)).status == 404


@pytest.mark.parametrize("told", ["http://evil.example", "null", "", "http://127.0.0.1", "https://127.0.0.1:{port}"])
async def test_a_page_from_elsewhere_signs_nobody_in_and_opens_no_screen(house: House, told: str) -> None:
    async with house.open() as client:
        elsewhere = told.format(port=client.port)
        assert (await sign_in(client, Origin=elsewhere)).status == 403
        assert not house.asked
        await sign_in(client)
        with pytest.raises(WSServerHandshakeError, match="403"):
            await screen(client, Origin=elsewhere)
        assert (await client.post("/sign-out", headers={"Origin": elsewhere})).status == 403


async def test_a_name_that_is_pointed_at_this_machine_is_not_ours(house: House) -> None:
    async with house.open() as client, ClientSession() as other:
        for host, status in (("evil.example", 421), ("127.0.0.1", 200), ("localhost:1", 200), ("[::1]", 200)):
            async with other.get(origin(client), headers={"Host": host}) as answer:
                assert answer.status == status, host


async def test_a_page_says_why_the_service_cannot_check(house: House) -> None:
    async with house.open() as client:
        page = await (await sign_in(client, "full")).text()
        assert "&lt;pin.refused&gt;The &lt;disk&gt; is full." in page


async def test_wrong_tries_wait_and_a_service_that_is_away_is_not_one(house: House) -> None:
    async with house.open() as client:
        for _ in range(TRIES + 1):
            assert "web.no_answer" in await (await sign_in(client, "away")).text()
        for _ in range(TRIES):
            answer = await sign_in(client, pin="1111")
            assert answer.status == 403
            assert "web.wrong" in await answer.text()
        asked = len(house.asked)
        answer = await sign_in(client)
        assert (answer.status, answer.headers["Retry-After"]) == (429, str(int(TRIES_S)))
        assert len(house.asked) == asked, "nobody was asked"
        house.clock.now += TRIES_S
        assert (await sign_in(client)).status == 303


async def test_wrong_pins_are_logged_with_the_address_of_the_browser(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    async with house.open(proxies=[ip_network("127.0.0.1")]) as client:
        for number in range(TRIES + 2):
            await sign_in(client, pin="1111", **{"X-Forwarded-For": "192.0.2.1"})
            await sign_in(client, "away", pin="1111", **{"X-Forwarded-For": "192.0.2.2"})
            if number < 4:
                await sign_in(client, pin="1111", **{"X-Forwarded-For": "192.0.2.3"})
    assert [record.getMessage() for record in caplog.records if record.name == "aisle.web"] == [
        "5 wrong PINs from 192.0.2.1 in 5 minutes",
        "10 wrong PINs from 192.0.2.1 in 5 minutes",
    ]
    assert "1111" not in caplog.text


async def test_many_tries_at_once_are_no_more_than_one_by_one(house: House) -> None:
    known = house.check

    async def slow(who: str, pin: str) -> Person | SignInError:
        await asyncio.sleep(0.01)  # so that the others come in meanwhile
        return await known(who, pin)

    house.check = slow  # type: ignore[method-assign]
    async with house.open() as client:
        answers = await asyncio.gather(*(sign_in(client, pin=str(1000 + number)) for number in range(60)))
        assert sorted(answer.status for answer in answers) == [403] * TRIES + [429] * (60 - TRIES)
        assert len(house.asked) == TRIES


async def test_sign_in_clears_no_failed_attempts_of_others(house: House) -> None:
    async with house.open() as client:
        for number in range(TRIES - 1):
            assert (await sign_in(client, "boss", str(1000 + number))).status == 403
            assert (await sign_in(client)).status == 303
        assert (await sign_in(client, "boss")).status == 403
        assert (await sign_in(client)).status == 429
        house.clock.now += TRIES_S
        for _ in range(TRIES):
            assert (await sign_in(client, pin="1111")).status == 403
            assert (await sign_in(client)).status == 303


async def test_by_a_named_proxy_each_address_waits_for_itself(house: House) -> None:
    async with house.open(proxies=[ip_network("127.0.0.1")]) as client:
        for number in range(TRIES):
            forged = f"10.0.0.{number}, 192.0.2.1"
            assert (await sign_in(client, pin="1", **{"X-Forwarded-For": forged})).status == 403
        assert (await sign_in(client, **{"X-Forwarded-For": "192.0.2.1"})).status == 429
        assert (await sign_in(client, **{"X-Forwarded-For": "192.0.2.2"})).status == 303


async def test_forwarded_address_of_untrusted_client_is_ignored(house: House) -> None:
    async with house.open() as client:
        for number in range(TRIES):
            assert (await sign_in(client, pin="1", **{"X-Forwarded-For": f"192.0.2.{number}"})).status == 403
        assert (await sign_in(client, **{"X-Forwarded-For": "192.0.2.99"})).status == 429


@pytest.mark.parametrize(
    ("remote", "forwarded", "whose"),
    [
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", ["192.0.2.1"], "192.0.2.1"),
        ("10.0.0.1", ["6.6.6.6, 192.0.2.1"], "192.0.2.1"),
        ("10.0.0.1", ["6.6.6.6", "192.0.2.1, 10.0.0.2"], "192.0.2.1"),
        ("10.0.0.1", ["192.0.2.1:4711"], "192.0.2.1"),
        ("10.0.0.1", ["[2001:db8::1]:4711"], "2001:db8::1"),
        ("::ffff:10.0.0.1", ["192.0.2.1"], "192.0.2.1"),
        ("10.0.0.1", ["unknown"], "10.0.0.1"),
        ("10.0.0.1", ["192.0.2.1, "], "10.0.0.1"),
        ("10.0.1.1", ["192.0.2.1"], "10.0.1.1"),
        ("", ["192.0.2.1"], ""),
    ],
)
def test_whom_a_proxy_speaks_for(remote: str, forwarded: list[str], whose: str) -> None:
    assert sender(remote, forwarded, [ip_network("10.0.0.0/24")]) == whose


async def test_a_screen_has_its_size_what_is_typed_and_an_end(house: House) -> None:
    async with house.open() as client:
        await sign_in(client)
        socket = await screen(client)
        assert await read(socket) == b"ann 1  --columns=100 --rows=7"
        await socket.send_json(["stdin", "4711\r\x1d\ud800é"])
        assert await read(socket) == b"D4711\r\x1d?\xc3\xa9"
        await socket.send_json(["resize", {"width": 60, "height": 20}])
        assert await read(socket) == b'M{"type": "resize", "width": 60, "height": 20}'
        for nonsense in ('["input", 1]', '["input", "a", "b"]', '["open", 7]', '["open", "//x"]', '["attach", {}]'):
            await socket.send_str(nonsense)
        for nonsense in ("", "[", "{}", '["stdin"]', '["stdin", 1]', '["resize", {"width": "x"}]', "[" * 100_000, "1"):
            await socket.send_str(nonsense)
        await socket.send_json(["ping", "7"])
        assert await said(socket, "pong") == "7"
        await socket.send_json(["stdin", "q"])
        assert await end(socket) == 1000
        assert 'name="pin"' in await (await client.get("/")).text(), "whoever leaves the app is signed out"


FLOOD = """
import pathlib, sys
print("__GANGLION__", flush=True)
try:
    for _ in range(400):
        sys.stdout.buffer.write(b"D" + (100_000).to_bytes(4, "big") + b"x" * 100_000)
    sys.stdout.buffer.flush()
    sys.stdin.buffer.read()
finally:
    pathlib.Path(sys.argv[1]).touch()
"""


@pytest.mark.parametrize("program", [FLOOD, FLOOD.replace("400", "0")], ids=["much to read", "nothing to read"])
async def test_the_session_of_a_browser_that_is_gone_without_a_word_ends(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    ended = tmp_path / "ended"
    monkeypatch.setattr(app, "PING_INTERVAL_S", 0.2)
    house.start = lambda opening: Start([sys.executable, "-c", program, str(ended)], {})  # type: ignore[method-assign]
    async with house.open() as client:
        cookie = SimpleCookie((await sign_in(client)).headers["Set-Cookie"])["aisle"].value
        head = (
            f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{client.port}\r\nOrigin: {origin(client)}\r\nCookie: aisle={cookie}"
        )
        head += "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13"
        head += "\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        reader, writer = await asyncio.open_connection("127.0.0.1", client.port)
        writer.write(head.encode())
        assert (await reader.readline()).startswith(b"HTTP/1.1 101")
        async with asyncio.timeout(60):
            while not ended.exists():  # noqa: ASYNC110 - it happens in another process
                await asyncio.sleep(0.05)
        writer.close()


async def test_another_page_of_a_window_ends_the_first(house: House) -> None:
    async with house.open() as client:
        await sign_in(client)
        first = await screen(client, "&window=a")
        await read(first)
        second = await screen(client, "&window=a")
        assert await end(first) == ELSEWHERE
        await read(second)
        await second.send_json(["stdin", "x"])
        assert await read(second) == b"Dx"


async def _sign_out(client: Visitor, house: House) -> None:
    await client.post("/sign-out", headers={"Origin": origin(client)}, allow_redirects=False)


async def _rights_end(client: Visitor, house: House) -> None:
    house.let_in.clear()


async def _nothing_typed(client: Visitor, house: House) -> None:
    house.clock.now += IDLE_S


@pytest.mark.parametrize("way", [_sign_out, _rights_end, _nothing_typed])
async def test_a_screen_ends_with_the_sign_in(house: House, way: Callable[..., Any]) -> None:
    async with house.open() as client:
        await sign_in(client)
        socket = await screen(client)
        await read(socket)
        _, code = await asyncio.gather(way(client, house), end(socket))
        assert code == ENDED
        assert 'name="pin"' in await (await client.get("/")).text()
        with pytest.raises(WSServerHandshakeError, match="401"):
            await screen(client)


def test_sign_ins_are_checked_as_often_as_sessions_check_their_people() -> None:
    assert CHECK_S <= FULL_CHECK_S


async def test_after_a_surprise_it_is_looked_again(house: House, caplog: pytest.LogCaptureFixture) -> None:
    """An answer in no shape that is known ends no watch: what is over ends in that round, rights in the next."""
    async with house.open() as client:
        await sign_in(client)
        idle = await screen(client)
        await read(idle)
        house.surprise = KeyError("role")
        house.clock.now += IDLE_S - 1
        while not house.rounds.locked():
            await house.rounds.acquire()
        async with asyncio.timeout(30):
            for _ in range(3):
                await house.rounds.acquire()
        house.clock.now += 1
        assert await end(idle) == ENDED
        assert "It could not be looked" in caplog.text
        await sign_in(client)
        live = await screen(client)
        await read(live)
        house.let_in.clear()
        house.surprise = None
        assert await end(live) == ENDED


async def test_a_program_that_is_none_leaves_the_person_signed_in(house: House) -> None:
    house.start = lambda opening: Start([sys.executable, "-c", "raise SystemExit(3)"], {})  # type: ignore[method-assign]
    async with house.open() as client:
        await sign_in(client)
        assert await end(await screen(client)) == FAILED
        assert "data-websocket-url" in await (await client.get("/")).text()


async def test_pages_load_nothing_from_elsewhere_and_say_so(house: House) -> None:
    async with house.open() as client:
        for signed in (False, True):
            if signed:
                await sign_in(client)
            answer = await client.get("/")
            policy, page = answer.headers["Content-Security-Policy"], await answer.text()
            own = page.replace(f"ws://127.0.0.1:{client.port}/ws", "")
            assert not re.search(r"https?:|//|<script>|\bon[a-z]+=", own), own
            assert policy.startswith("default-src 'none'; frame-ancestors 'none'")
            assert "unsafe-inline" not in re.sub(r"style-src [^;]*", "", policy)
            assert ("script-src" in policy) is signed
            assert answer.headers["Cache-Control"] == "no-store"
            assert pages.HEADERS.items() <= answer.headers.items()
        assert pages.HEADERS.items() <= (await client.get("/nothing")).headers.items()


def test_a_sign_in_lasts_while_it_is_used_and_a_shift_at_most() -> None:
    clock = Clock()
    signs = SignIns(clock)
    value = signs.begin(ANN)
    assert signs.of("") is signs.of(value + "x") is None
    begun = clock.now
    while signed := signs.of(value):
        assert clock.now - begun < LONGEST_S
        signs.touch(signed)
        clock.now += IDLE_S - 1
    assert clock.now - begun >= LONGEST_S
    assert signs.people() == []


def test_addresses_wait_each_for_itself_and_are_forgotten() -> None:
    clock = Clock()
    tries = FailedAttempts(clock)
    for number in range(TRIES):
        assert tries.wait("a") == 0
        last = tries.begin("a", "Ann" if number % 2 else "ann")
    assert tries.wait("a") == TRIES_S
    assert tries.wait("b") == 0
    tries.forget("a", last)
    assert tries.wait("a") == 0
    tries.right("a", tries.begin("a", "ANN"))
    assert not tries._wrong
    for number in range(10_001):
        tries.begin(str(number), "ann")
    assert len(tries._wrong) == 10_000
