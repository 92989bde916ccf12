"""Strangers at the web pages: whatever they keep open or drip, a visitor gets the page, and the log stays small."""

from __future__ import annotations

import asyncio
import os
import re
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from types import SimpleNamespace

import httpx
import pytest
from websockets.frames import CloseCode

from aisle.client import Client
from aisle.client.sign_in_and_token_file import WEB_CHANNEL, NotSignedIn, SignedIn, sign_in
from aisle.client.transport import asgi_transport
from aisle.server import connections
from aisle.server.connections import ConnectionLimits, LimitedConnection
from aisle.server.limited_websocket import LimitedWebSocket
from aisle.service.app_options_and_limits import RateLimits
from aisle.web import sign_ins
from aisle.web.app import SignInError
from aisle.web.app_process import Start
from aisle.web.sign_ins import TRIES, CheckTurns, Person
from aisle.web.windows import ELSEWHERE, Opening
from tests.attacks.test_sign_in_lockout import ANN, PEOPLE
from tests.run_length import tries
from tests.service.test_certificate_renewal import made, shown
from tests.service.world import World
from tests.terminal.lifeline import Lifeline, foreign_names
from tests.web.test_app import APP, House, Visitor, end, origin, read, screen
from tests.web.test_app import sign_in as sign_in_at_door

SECONDS = 60
DESCRIPTORS = tries(200, 1_024)
"""Descriptors of a process that a crowd attacks."""
CROWD = DESCRIPTORS + 76
HEAD = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: "
FORM = (
    b"POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\n"
    b"Content-Length: 4000\r\n\r\nwho="
)
CHUNKED = (
    b"POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n0\r\n"
)
HANDSHAKE = (
    b"GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
)


@contextmanager
def serving(folder: Path, *arguments: str) -> Iterator[tuple[str, Path]]:
    """`aisle web` as a process that may have `DESCRIPTORS`, at home in this folder; its address, and what it says."""
    said, line = folder / "said", Lifeline()
    command = f"ulimit -n {DESCRIPTORS}; exec {sys.executable} -m aisle web --port 0 {' '.join(arguments)}"
    env = {name: text for name, text in os.environ.items() if name not in foreign_names()}
    env |= {"AISLE_HOME": str(folder), "AISLE_ALLOW_VOLATILE": "1", "AISLE_LIFELINE_FD": str(line.fd)}
    with said.open("wb") as errors:
        process = subprocess.Popen(["/bin/sh", "-c", command], stderr=errors, env=env, pass_fds=[line.fd])
    try:
        until = monotonic() + SECONDS
        while "serves at " not in said.read_text() or not said.read_text().endswith("\n"):
            assert process.poll() is None, said.read_text()
            assert monotonic() < until, said.read_text()
            sleep(0.05)
        yield said.read_text().split()[-1], said
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(SECONDS)
        line.close()


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """`aisle web` without TLS, which several crowds attack: its address, and what it says."""
    with serving(tmp_path_factory.mktemp("web")) as served:
        yield served


@contextmanager
def little_said(said: Path, most: int) -> Iterator[None]:
    """What is done here adds no more than so many bytes to what is said."""
    before = said.stat().st_size
    yield
    assert said.stat().st_size - before < most, said.read_text()


@pytest.fixture
def descriptors() -> Iterator[None]:
    """Enough of them here for a crowd."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = CROWD + 500
    if before[1] != resource.RLIM_INFINITY and before[1] < needed:
        pytest.skip(f"this process may not have {needed} descriptors")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(needed, before[0]), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_a_crowd_that_drips_heads_and_bodies_shuts_no_visitor_out(web: tuple[str, Path], descriptors: None) -> None:
    url, said = web
    with little_said(said, 2_000), ExitStack() as opened:
        port = int(url.rpartition(":")[2])
        crowd = []
        for number in range(CROWD):
            one = opened.enter_context(closing(socket.create_connection(("127.0.0.1", port), SECONDS)))
            one.sendall(FORM.replace(b"{port}", b"%d" % port) if number % 2 else HEAD)
            crowd.append(one)
        took = []
        for _ in range(tries(3, 30)):
            for one in crowd:
                try:
                    one.send(b"x")
                except OSError:
                    continue
            began = monotonic()
            with httpx.Client() as visitor:
                assert 'name="pin"' in visitor.get(url, timeout=SECONDS).text
            took.append(monotonic() - began)
        assert min(took) < 1, took
        assert max(took) < ConnectionLimits().head_seconds / 2, "none waited until others were late"


def test_a_crowd_that_never_agrees_on_keys_shuts_no_visitor_out(descriptors: None, tmp_path: Path) -> None:
    certificate = made(tmp_path, "first")
    files = ("--certificate", str(tmp_path / "cert.pem"), "--private-key", str(tmp_path / "key.pem"))
    with serving(tmp_path, *files) as (url, said), ExitStack() as opened:
        port = int(url.rpartition(":")[2])
        for number in range(CROWD):
            one = opened.enter_context(closing(socket.create_connection(("127.0.0.1", port), SECONDS)))
            one.sendall(b"" if number % 2 else b"\x16\x03\x01\x02\x00\x01")
        began = monotonic()
        assert shown(url) == certificate
        assert monotonic() - began < ConnectionLimits().head_seconds / 2
        with httpx.Client(verify=False) as visitor:
            assert 'name="pin"' in visitor.get(url, timeout=SECONDS).text
        assert said.stat().st_size < 2_000, said.read_text()


def test_handshakes_that_are_none_fill_no_log(web: tuple[str, Path]) -> None:
    url, said = web
    port = int(url.rpartition(":")[2])
    with little_said(said, 5_000):
        for number in range(tries(60, 1_000)):
            key = b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            parts = [key, b"", b"Sec-WebSocket-Key: x\r\n", key + b"X: " + b"y" * 9_000 + b"\r\n"][number % 4]
            with closing(socket.create_connection(("127.0.0.1", port), SECONDS)) as one:
                one.sendall(HANDSHAKE + parts + b"\r\n")
                try:
                    assert not one.recv(100).startswith(b"HTTP/1.1 101")
                except ConnectionError:
                    continue


async def test_a_form_that_drips_is_closed_and_one_that_is_too_large_is_refused() -> None:
    house = House()
    async with house.open(ConnectionLimits(body_seconds=0.1)) as client:
        reader, writer = await asyncio.open_connection("127.0.0.1", client.port)
        writer.write(FORM.replace(b"{port}", b"%d" % client.port))
        async with asyncio.timeout(SECONDS):
            try:
                while not reader.at_eof():
                    writer.write(b"x")
                    await writer.drain()
                    await asyncio.sleep(0.02)
                    if reader.exception():
                        break
            except ConnectionError:
                pass
        writer.close()
        origin = str(client.make_url("/")).rstrip("/")
        answer = await client.post("/sign-in", data={"who": "x" * 5_000}, headers={"Origin": origin})
        assert answer.status == 413
    assert not house.asked


def test_one_place_has_the_limits_of_every_server() -> None:
    limits = connections.connection_limits()
    assert 0 < limits.per_address < limits.connections
    assert limits.connections < resource.getrlimit(resource.RLIMIT_NOFILE)[0]


async def test_a_caller_without_failed_attempts_is_checked_before_those_who_guess() -> None:
    turns, had = CheckTurns(), []

    async def check(address: str, attempts: int) -> None:
        async with turns.turn(address, attempts) as is_next:
            assert is_next
            had.append(address)
            await asyncio.sleep(0)

    tasks = [asyncio.create_task(check(f"guesser {number}", 1)) for number in range(50)]
    tasks += [asyncio.create_task(check("one address", 0)) for _ in range(TRIES)]
    await asyncio.sleep(0)
    tasks.append(asyncio.create_task(check("visitor", 0)))
    tasks[1].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert had.index("visitor") < 5
    assert len(had) == 50 + TRIES
    assert not turns._by_address


async def test_callers_who_wait_for_the_check_shut_nobody_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_ins, "_MAX_WAITING", 3 * TRIES)
    turns, checked = CheckTurns(), list[str]()

    async def check(address: str, *, is_refused: bool = False) -> None:
        async with turns.turn(address, 0) as is_next:
            if not is_refused:
                assert is_next, address
            checked.append(address if is_next else f"refused {address}")
            await asyncio.sleep(0)

    tasks = [asyncio.create_task(check("crowd", is_refused=True)) for _ in range(100)]
    for number in range(2):
        tasks += [asyncio.create_task(check(f"crowd {number}", is_refused=True)) for _ in range(TRIES)]
    await asyncio.sleep(0)
    tasks += [asyncio.create_task(check(f"visitor {number}")) for number in range(9)]
    await asyncio.gather(*tasks)
    assert checked.count("refused crowd") >= 90 - 1
    assert len([name for name in checked if name.startswith("visitor")]) == 9
    assert not turns._by_address


async def test_a_service_that_takes_no_attempts_for_a_moment_is_asked_again() -> None:
    house = House()
    known, busy = house.check, [0.001, 0.001, 60.0]

    async def check(who: str, pin: str) -> Person | SignInError:
        return SignInError("web.too_many_attempts", retry_after=busy.pop(0)) if busy else await known(who, pin)

    house.check = check  # type: ignore[method-assign]
    async with house.open() as client:
        later = await sign_in_at_door(client)
        assert (later.status, later.headers["Retry-After"]) == (429, "60")
        busy += [0.001] * 12
        assert (await sign_in_at_door(client)).status == 303


async def test_nobody_but_guesses_waits_for_a_caller_whose_check_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    house, had = House(), list[str]()
    known, locked, is_over = house.check, asyncio.Event(), asyncio.Event()
    pause = {"sleep": lambda seconds: is_over.wait()}
    monkeypatch.setattr(sign_ins, "asyncio", SimpleNamespace(**{**vars(asyncio), **pause}))

    async def check(who: str, pin: str) -> Person | SignInError:
        had.append(who)
        if who == "locked" and not locked.is_set():
            locked.set()
            return SignInError("web.too_many_attempts", retry_after=1.0)
        return await known(who, pin)

    house.check = check  # type: ignore[method-assign]
    web = house.web()
    paused = asyncio.create_task(web._check("10.0.0.1", "locked", "0000"))
    await locked.wait()
    await asyncio.sleep(0)
    web._attempts.begin("10.0.0.9", "guess")
    guess = asyncio.create_task(web._check("10.0.0.9", "guess", "0000"))
    await asyncio.sleep(0)
    async with asyncio.timeout(SECONDS):
        await web._check("10.0.0.2", "visitor", "0000")
        is_over.set()
        await asyncio.gather(paused, guess)
    assert had == ["locked", "visitor", "locked", "guess"]


async def test_of_many_screens_that_wait_for_one_person_only_the_last_one_starts() -> None:
    house = House()
    start, started = house.start, list[str]()

    def count(opening: Opening) -> Start:
        started.append(opening.person.user)
        return start(opening)

    house.start = count  # type: ignore[method-assign]
    async with house.open() as client:
        await sign_in_at_door(client)
        screens = [await screen(client) for _ in range(tries(20, 200))]
        assert set(await asyncio.gather(*(end(one) for one in screens[:-1]))) == {ELSEWHERE}
        await read(screens[-1])
        assert len(started) < len(screens) / 2


async def test_an_open_screen_counts_for_its_address() -> None:
    async def answer(port: int) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            writer.write(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            async with asyncio.timeout(SECONDS):
                return await reader.read(12)
        except ConnectionError:
            return b""
        finally:
            writer.close()

    house = House()
    async with house.open(ConnectionLimits(per_address=1)) as client:
        await sign_in_at_door(client)
        opened = await screen(client)
        await read(opened)
        assert await answer(client.port) == b""
        await opened.close()
        async with asyncio.timeout(SECONDS):
            while not (heard := await answer(client.port)):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        assert heard == b"HTTP/1.1 200"


async def opened_by_hand(client: Visitor, stranger: socket.socket, more: bytes = b"") -> bytes:
    """Open the screen of a person on a socket, with further lines in the head; the answer to the handshake."""
    loop = asyncio.get_running_loop()
    cookie = (await sign_in_at_door(client)).headers["Set-Cookie"].partition(";")[0]
    stranger.setblocking(False)
    await loop.sock_connect(stranger, ("127.0.0.1", client.port))
    key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
    head = f"Origin: {origin(client)}\r\nCookie: {cookie}\r\n{key}\r\n".encode() + more + b"\r\n"
    host = b"Host: 127.0.0.1:%d" % client.port
    await loop.sock_sendall(stranger, HANDSHAKE.replace(b"Host: 127.0.0.1", host) + head)
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += await loop.sock_recv(stranger, 1)
    assert answer.startswith(b"HTTP/1.1 101")
    return answer


async def test_answers_to_pings_that_nobody_reads_take_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    opened, begin = list[LimitedWebSocket](), LimitedWebSocket.connection_made

    def note(self: LimitedWebSocket, transport: asyncio.Transport) -> None:
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        opened.append(self)
        begin(self, transport)

    monkeypatch.setattr(LimitedWebSocket, "connection_made", note)
    loop, house = asyncio.get_running_loop(), House()
    async with house.open() as client:
        with socket.socket() as silent:
            silent.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            await opened_by_hand(client, silent)
            for _ in range(tries(8, 200)):
                await loop.sock_sendall(silent, (b"\x89\xfd\0\0\0\0" + bytes(125)) * 500)
                await asyncio.sleep(0.01)
            assert 0 < opened[0].transport.get_write_buffer_size() < 200_000


async def test_no_compressed_message_is_agreed_on() -> None:
    async with House().open() as client:
        with socket.socket() as stranger:
            answer = await opened_by_hand(client, stranger, b"Sec-WebSocket-Extensions: permessage-deflate\r\n")
            assert b"deflate" not in answer


TEXT, PART, EMPTY_PART = b"\x01\x80\0\0\0\0", b"\x00\x81\0\0\0\0x", b"\x00\x80\0\0\0\0"


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (TEXT + EMPTY_PART * 1_500, CloseCode.MESSAGE_TOO_BIG),
        (TEXT + PART * 1_500, CloseCode.MESSAGE_TOO_BIG),
        (b"\x81\x82\0\0\0\0\xff\xff", CloseCode.INVALID_DATA),
        (b"\x81\xff\0\0\0\0\0\x20\0\0\0\0\0\0", CloseCode.MESSAGE_TOO_BIG),
        (b"\xc1\x81\0\0\0\0x", CloseCode.PROTOCOL_ERROR),
    ],
    ids=["parts without bytes", "small parts", "no text", "too long", "compressed"],
)
async def test_messages_that_are_none_end_the_screen(sent: bytes, code: int) -> None:
    loop = asyncio.get_running_loop()
    async with House().open() as client, asyncio.timeout(SECONDS):
        with socket.socket() as stranger:
            await opened_by_hand(client, stranger)
            await loop.sock_sendall(stranger, sent)
            said = b""
            while part := await loop.sock_recv(stranger, 1 << 16):
                said += part
            assert re.search(b"\x88." + re.escape(code.to_bytes(2, "big")), said), said
        assert (await client.get("/")).status == 200


async def test_small_frames_are_read_in_small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    read, receive, is_whole = list[int](), LimitedWebSocket.data_received, asyncio.Event()
    frames = b"\x8a\x80\0\0\0\0" * tries(15_000, 50_000)

    def note(self: LimitedWebSocket, data: bytes) -> None:
        read.append(len(data))
        if sum(read) >= len(frames):
            is_whole.set()
        receive(self, data)

    monkeypatch.setattr(LimitedWebSocket, "data_received", note)
    loop = asyncio.get_running_loop()
    async with House().open() as client, asyncio.timeout(SECONDS):
        with socket.socket() as stranger:
            await opened_by_hand(client, stranger)
            await loop.sock_sendall(stranger, frames)
            await is_whole.wait()
            assert max(read) <= 16 << 10


async def test_an_incomplete_message_after_the_close_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    opened, begin = list[LimitedWebSocket](), LimitedWebSocket.connection_made

    def note(self: LimitedWebSocket, transport: asyncio.Transport) -> None:
        opened.append(self)
        begin(self, transport)

    monkeypatch.setattr(LimitedWebSocket, "connection_made", note)
    loop = asyncio.get_running_loop()
    async with House().open() as client, asyncio.timeout(SECONDS):
        with socket.socket() as stranger:
            await opened_by_hand(client, stranger)
            await read(await screen(client))
            assert opened[0].close_sent
            begun = b"\x81\xff\0\0\0\0\0\x0f\xff\xff\0\0\0\0"
            with suppress(ConnectionError):
                await loop.sock_sendall(stranger, begun + bytes(1 << 19))
                while await loop.sock_recv(stranger, 1 << 16):
                    continue
        assert opened[0]._after_close < 1 << 16
        assert not opened[0].conn.reader.buffer


async def test_a_cookie_of_backslashes_is_not_unquoted(monkeypatch: pytest.MonkeyPatch) -> None:
    async with House().open() as client:
        cookie = (await sign_in_at_door(client)).headers["Set-Cookie"].partition(";")[0]
        client._session.cookie_jar.clear()
        monkeypatch.setattr("starlette.requests.cookie_parser", lambda text: pytest.fail("it is unquoted"))
        for more in ('a="' + "\\" * 8_000 + '"; {}', '{}; a="' + '\\"' * 4_000 + '"'):
            told = await client.get("/signed-in", headers={"Cookie": more.format(cookie)})
            assert told.status == 204
        assert (await client.get("/signed-in", headers={"Cookie": f"x{cookie}"})).status == 401


LINES = b"a:\r\n" * 200


@pytest.mark.parametrize("request_", [HEAD + b"\r\n" + LINES, CHUNKED + LINES], ids=["head", "trailer"])
async def test_heads_and_trailers_of_many_lines_are_refused(request_: bytes) -> None:
    async with House().open() as client, asyncio.timeout(SECONDS):
        reader, writer = await asyncio.open_connection("127.0.0.1", client.port)
        writer.write(request_.replace(b"{port}", b"%d" % client.port) + b"\r\n")
        assert (await reader.read()).startswith(b"HTTP/1.1 400")
        writer.close()


async def test_an_answered_connection_keeps_no_head(monkeypatch: pytest.MonkeyPatch) -> None:
    made, begin = list[LimitedConnection](), LimitedConnection.connection_made

    def note(self: LimitedConnection, transport: asyncio.Transport) -> None:
        made.append(self)
        begin(self, transport)

    monkeypatch.setattr(LimitedConnection, "connection_made", note)
    async with House().open() as client:
        for _ in range(2):
            assert (await client.get("/")).status == 200
        (connection,) = made
        assert not any((connection.scope, connection.headers, connection.cycle.scope))


DEAF = """
import time
print('__GANGLION__', flush=True)
time.sleep(600)
"""
ENDLESS = r"""
import sys
print('__GANGLION__', flush=True)
while True:
    sys.stdout.buffer.write(b'D\0\0\x40\0' + bytes(1 << 14))
"""
TYPED = b"\x81\xfe\x04\x0d\0\0\0\0" + b'["stdin", "' + b"1" * 1_024 + b'"]'


@pytest.mark.parametrize("reads", [True, False])
async def test_a_screen_whose_app_takes_nothing_ends_for_the_next_one(
    monkeypatch: pytest.MonkeyPatch, *, reads: bool
) -> None:
    monkeypatch.setattr("aisle.web.app_process.LEAVING_S", 0.05)
    monkeypatch.setattr("aisle.web.windows.LAST_INPUTS_S", 0.05)
    monkeypatch.setattr("aisle.web.windows.RESPONSE_S", 0.05)
    loop, house = asyncio.get_running_loop(), House()
    programs = iter([DEAF if reads else ENDLESS, APP])
    house.start = lambda opening: Start([sys.executable, "-c", next(programs)], {})  # type: ignore[method-assign]
    async with house.open() as client, asyncio.timeout(SECONDS):
        with socket.socket() as stranger:
            stranger.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            await opened_by_hand(client, stranger)
            sending = asyncio.create_task(loop.sock_sendall(stranger, TYPED * 9_000))
            await asyncio.sleep(0.1)
            await read(await screen(client))
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)


async def test_guesses_at_the_web_door_use_up_no_attempts_in_the_store(world: World) -> None:
    world.service.options = world.service.options._replace(rate_limits=RateLimits(0, 0))
    del world.service.app
    await world.post(PEOPLE, {"people": [ANN]})
    token = world.token("staff", ["S1"])
    async with Client("http://127.0.0.1:1", token, transport=asgi_transport(world.service.app)) as client:
        guesses = [await sign_in(client, "S1", {"user": f"u{n}"}, "0000", channel=WEB_CHANNEL) for n in range(15)]
        last = guesses[-1]
        assert isinstance(last, NotSignedIn)
        assert (last.has_too_many_attempts, last.retry_after) == (True, 1)
        assert isinstance(await sign_in(client, "S1", {"user": "ann"}, "2468"), SignedIn)
