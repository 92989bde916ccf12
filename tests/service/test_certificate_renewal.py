"""A renewed certificate is taken on SIGHUP by every worker; one that is none is refused, and the old one stays."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from threading import Thread
from time import monotonic, sleep, time
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from aisle.server.connections import ConnectionLimits
from aisle.server.http_server import HttpServer, listening, server_config
from tests.service.test_limits import CERTIFICATE
from tests.service.test_monitoring import LONG, figures, serving
from tests.terminal.browser import Web
from tests.terminal.lifeline import Lifeline

DAY = 86400.0


def made(folder: Path, name: str, days: int = 90) -> bytes:
    """Put a new certificate and its key where the server reads them; the certificate as it is served."""
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    subject = ["-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1"]
    try:
        subprocess.run([*CERTIFICATE, *subject, "-days", str(days), *files], check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("there is no openssl to make a certificate with")
    return ssl.PEM_cert_to_DER_cert((folder / "cert.pem").read_text())


def shown(url: str) -> bytes:
    """The certificate that a new connection is shown."""
    parts = urlsplit(url)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # a default one reads all certificates of the host
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with (
        socket.create_connection((parts.hostname or "", parts.port or 0), timeout=LONG) as plain,
        context.wrap_socket(plain) as tls,
    ):
        return tls.getpeercert(binary_form=True) or b""


@pytest.mark.parametrize("what", [pytest.param("one worker", marks=pytest.mark.full), "two workers", "web"])
def test_a_renewed_certificate_is_taken_and_a_bad_one_is_not(
    aisle_home: Path, lifeline: Lifeline, tmp_path: Path, what: str
) -> None:
    first = made(tmp_path, "first")
    files = ["--certificate", str(tmp_path / "cert.pem"), "--private-key", str(tmp_path / "key.pem")]
    with started(what, aisle_home, files) as (process, url):
        until_shown(url, first)
        assert what == "web" or 89 * DAY < certificate_until(url) - time() < 91 * DAY
        second = made(tmp_path, "second")
        process.send_signal(signal.SIGHUP)
        until_shown(url, second)
        (tmp_path / "key.pem").write_text("no key")
        process.send_signal(signal.SIGHUP)
        said = until_said(process, "certificate refused")
        until_shown(url, second)
        process.send_signal(signal.SIGTERM)
        assert process.wait(LONG) == 0
        said += heard(process)
    assert [line.partition(":")[0] for line in said.splitlines() if line.startswith("certificate ")] == [
        "certificate taken",
        "certificate refused, the old one stays",
    ]


def test_a_renewed_certificate_is_taken_where_nobody_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    first, until = made(tmp_path, "first"), list[float]()
    files = tmp_path / "cert.pem", tmp_path / "key.pem"
    limits = ConnectionLimits()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        raise AssertionError

    config = server_config(app, limits, longest_head=1000, certificate=files[0], private_key=files[1], finish_seconds=1)
    urls = Queue[str]()
    server = HttpServer(config, urls.put, certificate_until=until.append, watch_seconds=0.02)
    with listening("127.0.0.1", 0) as sock:
        running = Thread(target=server.run, args=([sock],))
        running.start()
        try:
            url = urls.get(timeout=LONG)
            until_shown(url, first)
            files[1].write_text("no key")
            while not until or until[-1]:
                sleep(0.01)
            until_shown(url, first)
            until_shown(url, made(tmp_path, "second"))
        finally:
            server.should_exit = True
            running.join()
    said = [record.getMessage() for record in caplog.records if record.name == "aisle.server"]
    assert said[-1] == "certificate taken: it is good for 89 days"
    assert sum(words.startswith("certificate taken") for words in said) == 1


def test_the_end_of_a_certificate_is_told_as_soon_as_it_is_taken(tmp_path: Path) -> None:
    made(tmp_path, "first")
    told, loops, limits = Queue[float](), Queue[asyncio.AbstractEventLoop](), ConnectionLimits()
    files = {"certificate": tmp_path / "cert.pem", "private_key": tmp_path / "key.pem"}

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        raise AssertionError

    config = server_config(app, limits, longest_head=1000, **files, finish_seconds=1)
    server = HttpServer(
        config, lambda _: loops.put(asyncio.get_running_loop()), certificate_until=told.put, watch_seconds=86400
    )
    with listening("127.0.0.1", 0) as sock:
        running = Thread(target=server.run, args=([sock],))
        running.start()
        try:
            loop, first = loops.get(timeout=LONG), told.get(timeout=LONG)
            made(tmp_path, "second", days=30)
            loop.call_soon_threadsafe(server.reload)
            assert told.get(timeout=10) < first
        finally:
            server.should_exit = True
            running.join()


def certificate_until(url: str) -> float:
    """The figure of the certificate's end, once there is one."""
    until = monotonic() + LONG
    while True:
        text = httpx.get(f"{url}/metrics", verify=False, timeout=LONG).text
        if found := figures(text).get(("aisle_certificate_until_seconds", ())):
            return found
        assert monotonic() < until
        sleep(0.02)


@contextmanager
def started(what: str, home: Path, files: list[str]) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process of a server, and its address."""
    if what == "web":
        with Web(*files) as web:
            yield web.process, web.url
        return
    workers = {"one worker": "1", "two workers": "2"}[what]
    with serving(home, *files, "--workers", workers, "--empty") as (process, url):
        yield process, url


def until_said(process: subprocess.Popen[str], words: str) -> str:
    """Wait until the process says something; all that it has said."""
    said, until = "", monotonic() + LONG
    while words not in said:
        assert monotonic() < until, said
        said += heard(process)
        sleep(0.02)
    return said


def heard(process: subprocess.Popen[str]) -> str:
    """What it has said since the last time."""
    assert process.stderr is not None
    os.set_blocking(process.stderr.fileno(), False)
    try:
        return os.read(process.stderr.fileno(), 1 << 16).decode()
    except BlockingIOError:
        return ""
    finally:
        os.set_blocking(process.stderr.fileno(), True)


def until_shown(url: str, certificate: bytes) -> None:
    """Wait until many connections in a row, which more than one worker takes, are shown it."""
    until, same = monotonic() + LONG, 0
    while same < 20:
        assert monotonic() < until
        if shown(url) == certificate:
            same += 1
        else:
            same = 0
            sleep(0.02)
