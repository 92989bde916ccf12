"""Rows about what comes from the other side: a change in the cache until it is painted, and work while a sync runs."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing

from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.notify_sockets import socket_folder
from aisle.host.store_and_database_folders import StoreFolder
from tests.bench import generated_store
from tests.bench.bench import Bench
from tests.bench.prepare import environment
from tests.bench.rows_sync import stock_entry
from tests.bench.service import elsewhere, served
from tests.bench.session import Program, Session
from tests.bench.table import Pair, Row, measures, median, p99

LOOKED_AT = 1
"""The index of the product whose page is open while its stock changes."""


@measures(
    "change", Row("a change in the cache until it is painted, median", "ms", "floor app's one scan", at_most=0.25)
)
def change(bench: Bench) -> Sequence[Pair]:
    """From just before the commit of a stock entry, and the ring that follows, to the frame that has its quantity."""
    found: list[float] = []
    if bench.aisle:
        home = _home(bench)
        each = generated_store.products(bench.products)[LOOKED_AT]
        with Session(bench.aisle) as session, closing(open_cache(home.folder, writer=True)) as connection:
            terminal, cache = session.terminal, CacheWriter(connection, generated_store.STORE)
            terminal.write(f"?{each.barcode}\r".encode())
            terminal.wait_for(each.number)
            for number in range(bench.times(100, 3)):
                quantity = 1_234_001 + number
                terminal.wait_quiet(60)
                began = time.perf_counter()
                cache.write_stock([stock_entry(LOOKED_AT + 1, each._replace(quantity=quantity))])
                _ring(home, "product")
                found.append((session.shown(lambda text, wanted=quantity: _says(text, wanted)) - began) * 1000)  # type: ignore[misc]
            cache.write_stock([stock_entry(LOOKED_AT + 1, each)])
            terminal.write(b"b\r")
            terminal.wait_quiet(60)
    return [Pair(median(found), bench.floor_scan_ms, f"p99 {p99(found):.1f} ms" if found else "")]


def _says(text: str, quantity: int) -> bool:
    return str(quantity) in "".join(character for character in text if character.isdigit() or character == "\n")


def _home(bench: Bench) -> StoreFolder:
    """The home of the prepared store, by its courier's lock."""
    (folder,) = (path.parent for path in bench.home.glob("*/cache.db"))
    for url in ("embedded",):
        home = StoreFolder(bench.home, url, generated_store.STORE)
        if home.folder == folder:
            return home
    raise AssertionError(f"{folder} is not the home of store {generated_store.STORE} at the embedded service")


def _ring(home: StoreFolder, topic: str) -> None:
    """As the courier rings at its sessions."""
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as bell:
        for path in socket_folder(home).glob("s-*.sock"):
            with contextlib.suppress(OSError):
                bell.sendto(topic.encode(), str(path))


@measures(
    "busy",
    Row("scan to verdict while a full sync runs, median", "ms", "itself, idle", at_most=1.25),
    Row("start while a full sync runs, median", "ms", "itself, idle", at_most=1.25),
    Row("scan to verdict while a full sync runs, p99", "ms", "floor app under the same load", at_most=0.5),
)
def busy(bench: Bench) -> Sequence[Pair]:
    """A full sync after the other, in the home of the session, from a service in a process of its own."""
    if bench.aisle is None:
        return [Pair(None, None)] * 3
    rounds = bench.times(150, 3)
    starts = bench.times(8, 1)
    with served(bench) as service:
        env = elsewhere(bench, service, "busy")
        program = bench.aisle._replace(env=env)
        with Session(program, ready=_at_home) as session:
            session.terminal.write(generated_store.ORDER.encode() + b"\r")
            session.terminal.wait_for(lambda shown: program.ready(shown.text), 60)
            session.last = max(program.answered(session.terminal.text), 0)
            idle = [session.scan().ms for _ in range(rounds)]
        begun = [_started(program) for _ in range(starts)]
        with _syncing(env):
            late = [_started(program) for _ in range(starts)]
            with Session(program) as session, Session(bench.floor) as floor:
                pairs = [(session.scan().ms, floor.scan().ms) for _ in range(rounds)]
    loaded, loaded_floor = ([pair[index] for pair in pairs] for index in (0, 1))
    return [
        Pair(median(loaded), median(idle)),
        Pair(median(late), median(begun)),
        Pair(p99(loaded), p99(loaded_floor)),
    ]


def _at_home(text: str) -> bool:
    return generated_store.ORDER in text


def _started(program: Program) -> float:
    with Session(program) as session:
        return session.ready_ms


@contextlib.contextmanager
def _syncing(env: Mapping[str, str | None]) -> Iterator[None]:
    """Full syncs in that home, one after the other, until the block ends."""
    laid, lifeline = environment(env)
    loop = 'while "$0" -m aisle sync --full >/dev/null 2>&1 || sleep 0.2; do :; done'
    with subprocess.Popen(
        ["sh", "-c", loop, sys.executable], env=laid, pass_fds=lifeline, start_new_session=True
    ) as run:
        try:
            yield
        finally:
            subprocess.run(["kill", "--", f"-{run.pid}"], check=False)
