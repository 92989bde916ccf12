"""Connections with TLS: a crowd of them takes neither all memory nor the turns of others."""

from __future__ import annotations

import asyncio
import socket
import ssl
import tracemalloc
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from ipaddress import ip_network
from pathlib import Path
from queue import Queue
from threading import Thread
from time import monotonic, sleep
from typing import Any

import httpx
import pytest
from starlette.types import ASGIApp

from aisle.server import tls_certificates_and_handshakes
from aisle.server.caller_turns import KnownClients
from aisle.server.connections import _SHORT_HEAD, ConnectionLimits, connection_limits
from aisle.server.http_server import HttpServer, listening, server_config
from aisle.server.tls_certificates_and_handshakes import Handshakes
from aisle.service.http.rate_limit_and_turns_of_large_bodies import MOST_BYTES as BODY_BYTES
from tests.service.test_certificate_renewal import made
from tests.service.test_connections import SECONDS, app

CROWD = 20
MOST_BYTES = 48 << 10
"""Of Python's memory for each, beside the library's."""


@contextmanager
def serving_tls(folder: Path, finish_seconds: int = 1, app: ASGIApp = app) -> Iterator[tuple[str, HttpServer]]:
    """The URL of a server with a certificate in a thread of its own, and the server."""
    made(folder, "crowd")
    files = {"certificate": folder / "cert.pem", "private_key": folder / "key.pem"}
    urls = Queue[str]()
    config = server_config(app, ConnectionLimits(), longest_head=1000, finish_seconds=finish_seconds, **files)
    server = HttpServer(config, urls.put)
    with listening("127.0.0.1", 0) as sock:
        running = Thread(target=server.run, args=([sock],))
        running.start()
        try:
            yield urls.get(timeout=SECONDS), server
        finally:
            server.should_exit = True
            running.join()


def shaken(url: str, group: str = "prime256v1") -> ssl.SSLSocket:
    """A connection after its handshake."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.set_ecdh_curve(group)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context.wrap_socket(socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), SECONDS))


def test_who_does_not_answer_the_end_of_tls_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tls_certificates_and_handshakes, "_GOODBYE_S", 0.1)
    with ExitStack() as opened:
        with serving_tls(tmp_path, finish_seconds=10) as (url, server):
            for _ in range(3):
                opened.enter_context(shaken(url))
        assert not server.server_state.connections


def test_a_crowd_that_waits_takes_little_memory(tmp_path: Path) -> None:
    with (
        serving_tls(tmp_path) as (url, _),
        ExitStack() as opened,
        httpx.Client(verify=False, base_url=url) as client,
    ):

        def join() -> None:
            opened.enter_context(shaken(url))
            assert client.get("/").status_code == 200

        join()
        tracemalloc.start()
        try:
            for _ in range(CROWD):
                join()
            assert tracemalloc.get_traced_memory()[0] / CROWD < MOST_BYTES
        finally:
            tracemalloc.stop()


def test_fewer_connections_are_kept_with_tls() -> None:
    plain, tls = connection_limits(), connection_limits(tls=True)
    assert tls.connections <= min(plain.connections, 1_500)
    assert tls.per_address <= max(1, tls.connections // 4)


@pytest.mark.parametrize(("tls", "connection", "unread"), [(False, 3 << 10, 50 << 10), (True, 30 << 10, 100 << 10)])
def test_all_limits_together_fit_into_memory(*, tls: bool, connection: int, unread: int) -> None:
    """The rest of 200 MB is the process at its start, with 50 MB, and the bodies and answers that are being made."""
    limits = connection_limits(tls=tls)._replace(connections=1_500 if tls else 10_000)
    heads = limits.unfinished_bytes + limits.connections * _SHORT_HEAD
    requests = limits.awaited_bytes + 2 * BODY_BYTES
    most = limits.connections * connection + limits.unread * unread + heads + requests
    assert most < 140 << 20


async def test_a_handshake_of_somebody_else_begins_in_the_next_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A crowd's handshakes take a second of work, and with too many of them the crowd's own are cancelled."""
    begun = list[str]()

    async def start_tls(plain: FakeTransport, *_: object, **__: object) -> None:
        begun.append(plain.address)
        await asyncio.Event().wait()

    monkeypatch.setattr(asyncio.get_running_loop(), "start_tls", start_tls)
    limits = ConnectionLimits(connections=400, proxies=[ip_network("10.9.0.0/16")])
    handshakes = Handshakes(asyncio.Protocol, ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), limits, KnownClients())
    arrived = [FakeTransport(host) for host in ["10.0.0.2", *["10.0.0.1"] * 200, "10.0.0.3", *["10.9.0.1"] * 20]]
    for each in arrived:
        handshakes.begin().connection_made(each)
    for _ in range(100):
        await asyncio.sleep(0)
    for host in ("10.0.0.2", "10.0.0.3", "10.9.0.1"):
        assert begun.index(host) < 20
    assert {each.address for each in arrived if each.is_aborted} == {"10.0.0.1"}
    assert len(begun) == limits.connections // 4


async def test_what_tls_receives_from_somebody_else_is_read_in_the_next_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Changes of keys reach no other turn, and take milliseconds."""
    read = list[str]()

    class Tls(asyncio.BufferedProtocol):
        def __init__(self, address: str) -> None:
            self._address = address

        def get_buffer(self, sizehint: int) -> memoryview:
            return memoryview(bytearray(1))

        def buffer_updated(self, nbytes: int) -> None:
            read.append(self._address)

    async def start_tls(plain: FakeTransport, *_: object, **__: object) -> None:
        plain.set_protocol(Tls(plain.address))
        plain.resume_reading()
        await asyncio.Event().wait()

    monkeypatch.setattr(asyncio.get_running_loop(), "start_tls", start_tls)
    handshakes = Handshakes(
        asyncio.Protocol, ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ConnectionLimits(), KnownClients()
    )
    arrived = [FakeTransport(host) for host in [*["10.0.0.1"] * 200, "10.0.0.2"]]
    for each in arrived:
        handshakes.begin().connection_made(each)
    for _ in range(100):
        await asyncio.sleep(0)
    for each in arrived:
        each.get_protocol().buffer_updated(1)
    assert 0 < len(read) < 20
    assert sum(each.is_paused for each in arrived) == len(arrived) - len(read)
    for _ in range(300):
        await asyncio.sleep(0)
    assert read.index("10.0.0.2") < 20
    assert len(read) == len(arrived)
    assert not any(each.is_paused for each in arrived)


def test_an_answer_that_nobody_reads_takes_little_memory(tmp_path: Path) -> None:
    async def answer(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": bytes(4 << 20)})

    with serving_tls(tmp_path, app=answer) as (url, server), shaken(url) as caller:
        caller.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        until = monotonic() + SECONDS
        paused: list[Any] = []
        while not paused and monotonic() < until:
            sleep(0.01)
            paused = [one for one in set[Any](server.server_state.connections) if one.flow.write_paused]
        [one] = paused
        assert 0 < one.transport.get_write_buffer_size() < 64 << 10


def test_only_the_cheap_key_exchange_is_made(tmp_path: Path) -> None:
    with serving_tls(tmp_path) as (url, _):
        shaken(url).close()
        with pytest.raises(ssl.SSLError):
            shaken(url, "secp384r1")


class FakeTransport(asyncio.Transport):
    """Connection from an address before its handshake."""

    is_aborted = is_paused = False
    _protocol: asyncio.BaseProtocol

    def __init__(self, address: str) -> None:
        super().__init__({"peername": (address, 1)})
        self.address = address

    def get_protocol(self) -> Any:
        """Return what was set."""
        return self._protocol

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        """Keep it."""
        self._protocol = protocol

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Write nothing."""

    def is_closing(self) -> bool:
        """Return True if it was aborted."""
        return self.is_aborted

    def pause_reading(self) -> None:
        """Note it."""
        self.is_paused = True

    def resume_reading(self) -> None:
        """Note it."""
        self.is_paused = False

    def abort(self) -> None:
        """Note it."""
        self.is_aborted = True
