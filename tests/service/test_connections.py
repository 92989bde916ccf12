"""Who connects and asks for nothing, or only drips, is not kept, shuts nobody out, and does not fill the log."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from ipaddress import IPv4Network, ip_network
from pathlib import Path
from time import monotonic, sleep
from typing import Any, cast

import httpx
import pytest
import uvicorn

from aisle.server.caller_turns import KnownClients
from aisle.server.connections import ConnectionLimits, LimitedConnection, RepeatFilter, limited
from aisle.server.http_server import listening
from aisle.service.app_options_and_limits import ServiceOptions
from aisle.service.http.app import RequestMiddleware
from tests.service.serve_process import Served, until

SECONDS = 60
LONGEST = 20_000
HALF = b"GET /aisle/v1/health HT"
WHOLE = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n"


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Says 200 without looking at the body."""
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@contextmanager
def serving(limits: ConnectionLimits, app: Any = app) -> Iterator[tuple[int, uvicorn.Server]]:
    """A server with these limits in a thread of its own, and its port."""
    config = uvicorn.Config(
        app,
        lifespan="off",
        http=limited(limits, KnownClients()),
        ws="none",
        log_level="critical",
        h11_max_incomplete_event_size=LONGEST,
    )
    server = uvicorn.Server(config)
    sock = listening("127.0.0.1", 0)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([sock])))
    thread.start()
    try:
        yield sock.getsockname()[1], server
    finally:
        server.should_exit = True
        thread.join(SECONDS)


def connected(port: int, said: bytes = b"") -> socket.socket:
    made = socket.create_connection(("127.0.0.1", port), SECONDS)
    made.sendall(said)
    return made


def ended(caller: socket.socket) -> bytes:
    """What comes until the other side ends it; fails when it does not."""
    heard = b""
    try:
        while part := caller.recv(4096):
            heard += part
    except ConnectionError:
        pass
    return heard


@pytest.mark.parametrize("said", [b"", HALF, WHOLE[:-2]], ids=["nothing", "half a line", "a head without its end"])
def test_connection_without_timely_head_is_closed(said: bytes) -> None:
    with serving(ConnectionLimits(head_seconds=0.1)) as (port, _), closing(connected(port, said)) as caller:
        assert ended(caller) == b""


def test_drops_of_a_head_or_of_a_body_that_nobody_wants_buy_no_time() -> None:
    with serving(ConnectionLimits(head_seconds=0.5)) as (port, _):
        for said in (HALF, WHOLE):
            with closing(connected(port, said)) as caller:
                end = monotonic() + SECONDS
                try:
                    while monotonic() < end:
                        caller.sendall(b"x")
                        sleep(0.05)
                except ConnectionError:
                    continue
                pytest.fail("it was kept")


def test_drops_of_a_body_buy_no_time_and_what_comes_quickly_does() -> None:
    bodies = Bodies()
    limits = ConnectionLimits(body_seconds=0.5, body_rate=1000)
    head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\n"
    with serving(limits, bodies) as (port, _):
        with closing(connected(port, head)) as dripping:
            assert ended_by(lambda: dripping.sendall(b"x"))
        with closing(connected(port, head + b"x")) as silent:
            assert ended(silent).startswith(b"HTTP/1.1 408 ")
        with closing(connected(port, head)) as slow:
            for _ in range(10):
                slow.sendall(b"x" * 500)
                sleep(0.1)
            assert answers(slow, 1) == [b"200"]
    assert [len(body) for body in bodies.heard] == [5000]


def test_a_large_body_has_to_come_faster_than_a_small_one() -> None:
    limits = ConnectionLimits()
    assert limits.seconds_for_body(0) == 30
    assert limits.seconds_for_body(1 << 20) == 30 + 64
    assert limits.seconds_for_body(16 << 20) == 30 + 64 + 240


@pytest.mark.parametrize("expects", [b"", b"Expect: 100-continue\r\n"], ids=["sends", "asks before"])
def test_whose_body_nobody_takes_for_long_is_not_late(expects: bytes) -> None:
    taken, may = threading.Event(), threading.Event()
    bodies = Bodies()

    async def later(scope: Any, receive: Any, send: Any) -> None:
        taken.set()
        await asyncio.to_thread(may.wait, SECONDS)
        await bodies(scope, receive, send)

    head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n" + expects + b"\r\n"
    limits = ConnectionLimits(body_seconds=0.4, connections=2)
    with serving(limits, later) as (port, _), closing(connected(port, head)) as caller:
        assert taken.wait(SECONDS)
        if not expects:
            caller.sendall(b"x" * 150_000)
        sleep(1)
        with closing(connected(port, HALF)) as other, closing(connected(port, HALF)):
            assert ended(other) == b"", "who asks for nothing makes room, and not who waits"
        may.set()
        sleep(0.1)
        if expects:
            assert caller.recv(4096).startswith(b"HTTP/1.1 100")
        caller.sendall(b"x" * (200_000 if expects else 50_000))
        assert answers(caller, 1) == [b"200"]
    assert [len(body) for body in bodies.heard] == [200_000]


def ended_by(send: Callable[[], None]) -> bool:
    """Whether the other side ends it, while something is sent now and then."""
    end = monotonic() + SECONDS
    while monotonic() < end:
        try:
            send()
        except ConnectionError:
            return True
        sleep(0.02)
    return False


def test_slow_body_gives_way_to_others_but_unanswered_request_stays() -> None:
    bodies = Bodies(may=False)
    with serving(ConnectionLimits(connections=3), bodies) as (port, _), ExitStack() as opened:
        running = opened.enter_context(closing(connected(port, posted())))
        until(lambda: bodies.heard)
        dripping = [opened.enter_context(closing(connected(port, posted()[:-1]))) for _ in range(5)]
        for one in dripping[:3]:
            assert ended(one) == b""
        bodies.may.set()
        assert answers(running, 1) == [b"200"]


@pytest.mark.parametrize("proxies", [[], [ip_network("127.0.0.0/8")]], ids=["one address", "a proxy"])
def test_an_address_has_so_many_connections_unless_it_is_a_proxy(proxies: list[IPv4Network]) -> None:
    limits = ConnectionLimits(per_address=3, proxies=proxies)
    with serving(limits) as (port, server), ExitStack() as opened:
        idle = [opened.enter_context(closing(connected(port, HALF))) for _ in range(8)]
        assert httpx.get(f"http://127.0.0.1:{port}/", timeout=SECONDS).text == "ok"
        if proxies:
            until(lambda: len(server.server_state.connections) >= 8)
        else:
            for one in idle[:5]:
                assert ended(one) == b""


def test_who_reads_no_answer_is_left() -> None:
    asked = threading.Event()

    async def long(scope: Any, receive: Any, send: Any) -> None:
        asked.set()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"connection", b"close")]})
        for _ in range(400):
            await send({"type": "http.response.body", "body": b"x" * 100_000, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    with serving(ConnectionLimits(), long) as (port, server):
        server.config.timeout_keep_alive = 0  # as soon as nothing is read for a moment
        with closing(connected(port, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")):
            assert asked.wait(SECONDS)
            until(lambda: not server.server_state.connections)


def test_those_that_hardly_read_make_room_for_those_that_ask() -> None:
    async def long(scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] == "/":
            await app(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(400):
            await send({"type": "http.response.body", "body": b"x" * 100_000, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    with serving(ConnectionLimits(connections=3), long) as (port, server), ExitStack() as opened:
        for _ in range(3):
            opened.enter_context(closing(connected(port, b"GET /long HTTP/1.1\r\nHost: a\r\n\r\n")))
        callers = server.server_state.connections
        until(lambda: sum(cast("LimitedConnection", one).flow.write_paused for one in callers) >= 3)
        assert httpx.get(f"http://127.0.0.1:{port}/", timeout=SECONDS).text == "ok"


def test_few_answers_that_nobody_reads_are_kept() -> None:
    async def long(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(400):
            await send({"type": "http.response.body", "body": b"x" * 100_000, "more_body": True})
        await send({"type": "http.response.body", "body": b"the end"})

    with serving(ConnectionLimits(unread=3), long) as (port, server), ExitStack() as opened:
        for _ in range(8):
            opened.enter_context(closing(connected(port, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")))
        until(lambda: not (server.server_state.total_requests or len(server.server_state.connections) != 3))
        assert httpx.get(f"http://127.0.0.1:{port}/", timeout=SECONDS).text.endswith("the end")


def test_keep_alive_connection_answers_repeatedly() -> None:
    with serving(ConnectionLimits()) as (port, server), httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
        for _ in range(3):
            assert client.get("/", timeout=SECONDS).text == "ok"
            [caller] = server.server_state.connections
            assert isinstance(caller, LimitedConnection)
            assert caller._due is None  # the clock of a head runs for a head alone


def test_an_answer_in_parts_waits_for_no_acknowledgement() -> None:
    with (
        serving(ConnectionLimits()) as (port, server),
        closing(connected(port, HALF + b"TP/1.1\r\nHost: a\r\n\r\n")) as caller,
    ):
        assert answers(caller, 1) == [b"200"]
        [one] = server.server_state.connections
        assert one.transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_those_that_ask_for_nothing_make_room_for_those_that_ask() -> None:
    with serving(ConnectionLimits(connections=3)) as (port, _), ExitStack() as opened:
        idle = [opened.enter_context(closing(connected(port, HALF))) for _ in range(8)]
        assert httpx.get(f"http://127.0.0.1:{port}/", timeout=SECONDS).text == "ok"
        for caller in idle[:5]:
            assert ended(caller) == b""


@pytest.mark.parametrize(
    "said",
    [
        b"GET /" + b"x" * 100_000,
        b"GET / HTTP/1.1\r\n" + b"A" * 100_000,
        b"GET / HTTP/1.1\r\nA: " + b"b" * 100_000,
        b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 50_000,
    ],
    ids=["an address", "a name", "a value", "many headers"],
)
def test_a_head_without_end_is_refused_as_soon_as_it_is_too_long(said: bytes) -> None:
    with serving(ConnectionLimits()) as (port, _), closing(connected(port)) as caller:
        try:
            for at in range(0, len(said), 1000):
                caller.sendall(said[at : at + 1000])
        except ConnectionError:
            return  # it is gone already
        assert ended(caller).partition(b"\r\n")[0] in (b"", b"HTTP/1.1 400 Bad Request")


@pytest.mark.parametrize("tail", [b"A: " + b"b" * 100_000, b"A: b\r\n" * 50_000], ids=["a value", "many headers"])
def test_chunked_trailer_has_a_time_limit(tail: bytes) -> None:
    head = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n"
    with serving(ConnectionLimits()) as (port, server), closing(connected(port, head)) as caller:
        end = monotonic() + SECONDS
        try:
            for at in range(0, len(tail), 1000):
                caller.sendall(tail[at : at + 1000])
            while server.server_state.connections:
                assert monotonic() < end
                sleep(0.01)
        except ConnectionError:
            return


def test_a_header_behind_the_body_is_none() -> None:
    heard: list[list[bytes]] = []

    async def note(scope: Any, receive: Any, send: Any) -> None:
        while (await receive()).get("more_body"):
            pass
        heard.append([name for name, _ in scope["headers"]])
        await app(scope, receive, send)

    head = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n"
    with serving(ConnectionLimits(), app=note) as (port, _), closing(connected(port, head)) as caller:
        caller.sendall(b"Authorization: me\r\n\r\n")
        assert caller.recv(100).startswith(b"HTTP/1.1 200 OK")
    assert heard == [[b"host", b"transfer-encoding"]]


class Bodies:
    """An app that hears bodies out, and keeps them; the first one waits until it may be answered."""

    def __init__(self, *, may: bool = True) -> None:
        self.heard: list[bytes] = []
        self.may = threading.Event()
        if may:
            self.may.set()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body = b""
        while (part := await receive()).get("body") or part.get("more_body"):
            body += part["body"]
            if not part["more_body"]:
                break
        if part["type"] == "http.disconnect":
            return
        self.heard.append(body)
        await asyncio.to_thread(self.may.wait, SECONDS)
        await app(scope, receive, send)


def answers(caller: socket.socket, count: int) -> list[bytes]:
    """The first so many answers; fewer where the connection ends."""
    heard = b""
    while heard.count(b"HTTP/1.1 ") < count or not heard.endswith((b"ok", b"received.")):
        if not (part := caller.recv(4096)):
            break
        heard += part
    return [one[:3] for one in heard.split(b"HTTP/1.1 ")[1:]]


OFFER = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAAB\r\n"
BODY = b"upgrade: \r\nme"


def posted(said: bytes = b"") -> bytes:
    return b"POST / HTTP/1.1\r\nHost: a\r\n" + said + b"Content-Length: 13\r\n\r\n" + BODY


@pytest.mark.parametrize("parts", ["together", "byte by byte", "in two"])
def test_upgrade_offer_is_answered_in_http_1(parts: str) -> None:
    said = posted(OFFER) + posted() + posted(OFFER)
    step = {"byte by byte": 1, "in two": 40}.get(parts, len(said))
    bodies = Bodies()
    with serving(ConnectionLimits(), app=bodies) as (port, _), closing(connected(port)) as caller:
        caller.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for at in range(0, len(said), step):
            caller.sendall(said[at : at + step])
        assert answers(caller, 3) == [b"200"] * 3
    assert bodies.heard == [BODY] * 3


def test_a_body_in_parts_behind_an_offer_is_that_requests_own() -> None:
    hidden = b"POST /hidden HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"
    chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(hidden), hidden)
    bodies = Bodies()
    with serving(ConnectionLimits(), app=bodies) as (port, _), closing(connected(port)) as caller:
        caller.sendall(b"POST / HTTP/1.1\r\nHost: a\r\n" + OFFER + b"Transfer-Encoding: chunked\r\n\r\n")
        for at in range(0, len(chunked), 7):
            caller.sendall(chunked[at : at + 7])
        caller.sendall(posted())
        assert answers(caller, 2) == [b"200"] * 2
    assert bodies.heard == [hidden, BODY]


@pytest.mark.parametrize(
    "noise",
    [b"\x00noise\r\n\r\n", b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"],
    ids=["no head", "no body"],
)
@pytest.mark.parametrize("before", [1, 3])
def test_invalid_request_is_answered_in_order(noise: bytes, before: int) -> None:
    bodies = Bodies(may=False)
    said = posted() * before + noise
    with serving(ConnectionLimits(), app=bodies) as (port, _), closing(connected(port, said)) as caller:
        caller.settimeout(0.1)
        with pytest.raises(TimeoutError):
            caller.recv(1)
        caller.sendall(b"more noise")
        bodies.may.set()
        caller.settimeout(SECONDS)
        assert answers(caller, before + 1) == [b"200"] * before + [b"400"]
        assert ended(caller) == b""
    assert bodies.heard == [BODY] * before


def test_a_whole_head_is_heard_however_long() -> None:
    head = b"GET / HTTP/1.1\r\nHost: a\r\nA: " + b"b" * 30_000 + b"\r\n\r\n"
    with serving(ConnectionLimits()) as (port, _), closing(connected(port, head)) as caller:
        assert answers(caller, 1)[0] in (b"200", b"400")


CHUNKED = b"0\r\n\r\n"


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n" + CHUNKED,
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n" + CHUNKED,
    ],
    ids=["no host", "two hosts", "two lengths", "another coding"],
)
def test_ambiguous_request_framing_is_refused_and_connection_closed(head: bytes) -> None:
    bodies = Bodies()
    said = head + posted()
    with (
        serving(ConnectionLimits(), app=RequestMiddleware(bodies, ServiceOptions())) as (port, _),
        closing(connected(port, said)) as caller,
    ):
        heard = ended(caller)
    assert heard.startswith(b"HTTP/1.1 400 ")
    assert heard.count(b"HTTP/1.1 ") == 1
    assert bodies.heard == []


def test_connect_method_tunnels_nothing() -> None:
    said = b"CONNECT / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" + posted()
    bodies = Bodies()
    with serving(ConnectionLimits(), app=bodies) as (port, _), closing(connected(port, said)) as caller:
        assert answers(caller, 1) == [b"200"]
        assert ended(caller) == b""
    assert bodies.heard == [b""]


def test_repeated_log_messages_are_limited_to_one_a_minute() -> None:
    now = 0.0
    repeats = RepeatFilter(lambda: now)

    def said(text: str) -> str | None:
        record = logging.LogRecord("asyncio", logging.ERROR, "", 0, text, None, None)
        return record.getMessage() if repeats.filter(record) else None

    assert said("socket.accept() out of system resource") == "socket.accept() out of system resource"
    for _ in range(5):
        assert said("socket.accept() out of system resource") is None
        assert said("it failed") == "it failed"
    assert said("Invalid HTTP request received.") == "Invalid HTTP request received."
    now = 61.0
    assert said("socket.accept() out of system resource") == (
        "socket.accept() out of system resource (5 times more since it was said last)"
    )


def test_a_caller_of_many_addresses_fills_no_log() -> None:
    now = 0.0
    repeats = RepeatFilter(lambda: now)

    def passed(numbers: range) -> int:
        records = (
            logging.LogRecord("aisle.service", logging.WARNING, "", 0, "unknown token refused from %s", (n,), None)
            for n in numbers
        )
        return sum(map(repeats.filter, records))

    assert passed(range(2500)) + passed(range(2500)) == 1000
    now = 61.0
    assert passed(range(3000, 3010)) == 10


def test_a_crowd_with_half_sent_heads_shuts_nobody_out(tmp_path: Path) -> None:
    service = Served(tmp_path / "home", "--empty", limit="ulimit -n 200;")
    try:
        with ExitStack() as opened:
            for _ in range(300):
                opened.enter_context(closing(connected(int(service.url.rpartition(":")[2]), HALF)))
            assert httpx.get(service.url + "/aisle/v1/health", timeout=SECONDS).status_code == 200
    finally:
        service.end()
    assert len(service.said) < 10_000, service.said[:2000]
