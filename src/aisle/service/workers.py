"""Several processes that answer at one socket. The parent answers nothing: it starts them, and starts those that die.

A worker that ends, however it does, takes only its own requests with it. Workers whose parent is gone leave by
themselves, so that the port is free for whoever comes next.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from time import monotonic

from aisle.errors import StorageError, UsageError

Serve = Callable[[socket.socket, Callable[[], None], Callable[[Callable[[], None]], None]], None]
"""Serves at a socket: it calls its second argument when it is ready, and its third with what makes it leave."""

SHARED_FIGURES = "PROMETHEUS_MULTIPROC_DIR"
"""A variable of prometheus-client: the folder in which workers keep their figures. It is set before that is loaded."""

log = logging.getLogger("aisle.service")

_BACKLOG = 2048
# A worker that dies at once is not started again at once, and, where none ever came up, not for ever. Once one has,
# what keeps others from it passes: a database that comes back, say.
_PAUSE = 1.0
_MOST_VAIN_STARTS = 5
_LAST_SECONDS = 30

_spawn = multiprocessing.get_context("spawn")


def listening(host: str, port: int) -> socket.socket:
    """A socket that several processes take connections from. Raises UsageError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as problem:
        raise UsageError(f"{host} port {port} cannot be listened at: {problem.strerror or problem}.") from problem


def run_workers(
    serve: Serve,
    count: int,
    at: socket.socket,
    ready: Callable[[], None],
    *,
    until: Wake,
    restarted: Callable[[], None] = lambda: None,
) -> None:
    """Keep `count` processes running `serve` (which has to be picklable) until `until` is woken; then let them finish.

    `ready` is called once, when one of them answers; `restarted` for each that died.
    Raises StorageError when none ever answers.
    """
    crew = _Crew(serve, at, restarted)
    try:
        for _ in range(count):
            crew.start()
        said = False
        while not until.woken(crew.next_start, crew.watched()):
            if crew.heard() and not said:
                said = True
                ready()
            crew.replace()
    finally:
        crew.end()


class Wake:
    """A pipe that signals and threads write to, so that a wait for something else ends."""

    def __init__(self) -> None:
        self._out, self._in = os.pipe()
        os.set_blocking(self._in, False)

    def wake(self) -> None:
        """End the wait."""
        os.write(self._in, b"x")

    def woken(self, at: float | None, others: list[int | Connection]) -> bool:
        """Whether it was woken, once one of the others has something to say or the time has come."""
        seconds = None if at is None else max(0.0, at - monotonic())
        return self._out in wait([self._out, *others], seconds)

    @contextmanager
    def by_signals(self) -> Iterator[None]:
        """SIGINT and SIGTERM wake it meanwhile."""
        old = {one: signal.signal(one, lambda *_: self.wake()) for one in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for one, handler in old.items():
                signal.signal(one, handler)


class _Worker:
    def __init__(self, serve: Serve, at: socket.socket) -> None:
        self.ear, mouth = _spawn.Pipe(duplex=False)
        self.ready = False
        self.process: SpawnProcess = _spawn.Process(target=_work, args=(serve, at, mouth), name="aisle-worker")
        self.process.start()
        mouth.close()

    @property
    def end(self) -> str:
        """What it ended with."""
        status = self.process.exitcode or 0
        return f"signal {signal.Signals(-status).name}" if status < 0 else f"status {status}"


class _Crew:
    def __init__(self, serve: Serve, at: socket.socket, restarted: Callable[[], None]) -> None:
        self._restarted = restarted
        self._serve = serve
        self._at = at
        self._workers: list[_Worker] = []
        self._missing = 0
        self._vain = 0
        self._has_answered = False
        self.next_start: float | None = None

    def start(self) -> None:
        self._workers.append(_Worker(self._serve, self._at))

    def watched(self) -> list[int | Connection]:
        """What has something to say when a worker is ready, or ends."""
        ears = [worker.ear for worker in self._workers if not worker.ready]
        return [*(worker.process.sentinel for worker in self._workers), *ears]

    def heard(self) -> bool:
        """Whether any worker is ready; those that just became so are noted."""
        for worker in self._workers:
            if not worker.ready and worker.ear.poll():
                try:
                    worker.ear.recv()
                except (EOFError, OSError):
                    continue
                worker.ready = self._has_answered = True
        return any(worker.ready for worker in self._workers)

    def replace(self) -> None:
        """Count those that ended; start as many, when it is time."""
        for worker in [one for one in self._workers if not one.process.is_alive()]:
            self._vain += not worker.ready and not self._has_answered
            self._restarted()
            log.error("worker %d died (%s); another one takes its place", worker.process.pid or 0, worker.end)
            if self._vain >= _MOST_VAIN_STARTS:
                raise StorageError("The workers end before they are ready; what they said stands above.")
            self._forget(worker)
            self._missing += 1
            self.next_start = self.next_start or monotonic() + _PAUSE
        if self.next_start is not None and monotonic() >= self.next_start:
            for _ in range(self._missing):
                self.start()
            self._missing, self.next_start = 0, None

    def end(self) -> None:
        """Ask them to finish; who does not in time is ended."""
        for worker in self._workers:
            worker.process.terminate()
        until = monotonic() + _LAST_SECONDS
        for worker in self._workers[:]:
            worker.process.join(max(0.0, until - monotonic()))
            if worker.process.is_alive():
                worker.process.kill()
            self._forget(worker)

    def _forget(self, worker: _Worker) -> None:
        worker.process.join()
        worker.process.close()
        worker.ear.close()
        self._workers.remove(worker)


def _work(serve: Serve, at: socket.socket, mouth: Connection) -> None:
    """What a worker does."""

    def ready() -> None:
        # A parent that is gone hears nothing; this one leaves for it anyway.
        with suppress(OSError), mouth:
            mouth.send(True)

    serve(at, ready, _with_the_parent)


def _with_the_parent(leave: Callable[[], None]) -> None:
    """Call `leave` when the parent is gone."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    sentinel = parent.sentinel

    def follow() -> None:
        wait([sentinel])
        leave()

    threading.Thread(target=follow, name="aisle-parent", daemon=True).start()
