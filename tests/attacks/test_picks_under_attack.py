"""Two people pick while strangers, and a thief of a token, do their worst: every piece is booked, and once."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest

from aisle.outbox.operation_record import CONFIRMED
from tests.faults import soak
from tests.faults.host_results import Desk, check_books, picked, watched
from tests.faults.test_soak import worked
from tests.service.postgres import Unavailable, started

PLAN = soak.Plan(2, 60.0, (0.02, 0.05), 60)
SEED = 50
SECONDS = 60.0
STRANGER = ("127.0.0.2", 0)
"""Address of the attackers, on this machine too."""
Attack = Callable[[socket.socket, str], None]


def heads(line: socket.socket, token: str) -> None:
    """Drip a head."""
    line.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nX: ")
    while True:
        line.sendall(b"x" * 500)


def noise(line: socket.socket, token: str) -> None:
    """Send what is no request."""
    line.sendall(os.urandom(20_000))


def unread(line: socket.socket, token: str) -> None:
    """Ask for much and read nothing."""
    line.sendall(request("/api/v2/public/products?page_size=1000", token) * 100)


def lists(line: socket.socket, token: str) -> None:
    """Ask for lists as fast as they come."""
    asked = request("/api/v2/public/stores", token)
    line.sendall(asked)
    while line.recv(1 << 16):
        line.sendall(asked)


def request(path: str, token: str) -> bytes:
    """A request to read."""
    return f"GET {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\n\r\n".encode()


@contextmanager
def under_attack(url: str, token: str) -> Iterator[None]:
    """All attacks at once, each again and again."""
    port, is_over = int(url.rpartition(":")[2]), Event()

    def go(attack: Attack) -> None:
        while not is_over.is_set():
            try:
                with closing(socket.create_connection(("127.0.0.1", port), 1, STRANGER)) as line:
                    attack(line, token)
            except OSError:
                is_over.wait(0.01)

    threads = [Thread(target=go, args=(attack,)) for attack in (heads, noise, unread, lists, lists)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        is_over.set()
        for thread in threads:
            thread.join()


@contextmanager
def postgres_address() -> Iterator[str]:
    """The address of an empty database; skips the test where there is no server."""
    try:
        server = started()
    except Unavailable as none:
        pytest.skip(str(none))
    try:
        yield server.fresh()
    finally:
        server.end()


@pytest.mark.full
@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_every_piece_is_booked_once(aisle_home: Path, tmp_path: Path, engine: str) -> None:
    with ExitStack() as opened:
        postgres = opened.enter_context(postgres_address()) if engine == "postgres" else ""
        options = ("--workers", "2")
        at = opened.enter_context(soak.at_work(aisle_home, tmp_path, PLAN, SEED, postgres=postgres, options=options))
        with under_attack(at.served.url, (tmp_path / "secret").read_text()):
            lines = worked(at.home, at.courier, PLAN)
        desk = opened.enter_context(closing(Desk(at.home)))
        soak.until(desk.drained, SECONDS)
        taken = picked([said for told in lines for said in watched(told).said])
        assert sum(taken.values()) >= 500
        assert {op.state for op in desk.operations() if not op.superseded_by} == {CONFIRMED}
        database = postgres or soak.database(tmp_path)
        soak.until(lambda: soak.holds(lambda: check_books(database, taken, desk)), SECONDS)
        check_books(database, taken, desk)
