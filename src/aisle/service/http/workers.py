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

from aisle.errors import StorageError

Serve = Callable[[socket.socket, Callable[[], None], Callable[[Callable[[], None]], None]], None]
"""Serves at a socket: it calls its second argument when it is ready, and its third with what makes it leave."""

METRICS_FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""A variable of prometheus-client: the folder in which workers keep their figures. It is set before that is loaded."""

log = logging.getLogger("aisle.service")

# A worker that dies before it is ready is not started again at once, and where none ever came up because of what
# waiting does not mend, not for ever. All else passes.
_PAUSE = 1.0
_LONGEST_PAUSE = 30.0
CANNOT_START = 78
"""The status of a worker that ends because of what waiting does not mend: a database of a newer program, say."""
_MOST_VAIN_STARTS = 5
_LAST_SECONDS = 30

DRAIN, LEAVE, RELOAD = b"d", b"l", b"r"
"""Commands: leave after a while in which it is known, leave at once, take the certificate anew."""

_spawn = multiprocessing.get_context("spawn")


def run_workers(
    serve: Serve,
    count: int,
    at: socket.socket,
    ready: Callable[[], None],
    *,
    commands: Commands,
    restarted: Callable[[], None] = lambda: None,
    may_reload: Callable[[], bool] = lambda: True,
    drain_seconds: float = 0.0,
) -> None:
    """Keep `count` processes running `serve` (which has to be picklable) until it is commanded to end; then let them
    finish, and close `at`.

    `ready` is called once, when one of them answers; `restarted` for each that died. Where `may_reload`, a command to
    reload is handed on to each of them.
    Raises StorageError when none ever answers, because of what waiting does not mend.
    """
    crew = _WorkerPool(serve, count, at, restarted)
    said, given = False, frozenset[bytes]()
    try:
        for _ in range(count):
            crew.start()
        while not given & {DRAIN, LEAVE}:
            given = commands.wait(crew.next_start, crew.wait_handles())
            if RELOAD in given and may_reload():
                crew.reload()
            if crew.is_any_ready() and not said:
                said = True
                ready()
            crew.replace()
    finally:
        crew.end(commands, drain_seconds if DRAIN in given else 0.0)


class Commands:
    """A pipe that signals and threads write commands to."""

    def __init__(self) -> None:
        self._out, self._in = os.pipe()
        os.set_blocking(self._in, False)

    def give(self, command: bytes) -> None:
        """One of the commands."""
        os.write(self._in, command)

    def wait(self, at: float | None, others: list[int | Connection]) -> frozenset[bytes]:
        """What was commanded, once one of the others has something to say or the time has come."""
        seconds = None if at is None else max(0.0, at - monotonic())
        if self._out not in wait([self._out, *others], seconds):
            return frozenset()
        return frozenset(bytes([one]) for one in os.read(self._out, 100))

    @contextmanager
    def by_signals(self, *, reloads: bool = False) -> Iterator[None]:
        """SIGINT and SIGTERM command it to end meanwhile, SIGHUP to reload; where nothing can be, that ends it, too.

        Only the main thread hears them.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        given = {signal.SIGINT: LEAVE, signal.SIGTERM: DRAIN, signal.SIGHUP: RELOAD if reloads else DRAIN}
        old = {one: signal.signal(one, lambda number, _: self.give(given[signal.Signals(number)])) for one in given}
        try:
            yield
        finally:
            for one, handler in old.items():
                signal.signal(one, handler)


class _Worker:
    def __init__(self, serve: Serve, at: socket.socket) -> None:
        self.ready_pipe, mouth = _spawn.Pipe(duplex=False)
        self.ready = False
        self.is_outdated = False
        """It was to reload before it could."""
        self.process: SpawnProcess = _spawn.Process(target=_run_worker, args=(serve, at, mouth), name="aisle-worker")
        self.process.start()
        mouth.close()

    def signal(self, number: signal.Signals) -> None:
        """Tell it, unless it is gone."""
        if self.process.is_alive() and self.process.pid:
            with suppress(ProcessLookupError):
                os.kill(self.process.pid, number)

    @property
    def end(self) -> str:
        """What it ended with."""
        status = self.process.exitcode or 0
        return f"signal {signal.Signals(-status).name}" if status < 0 else f"status {status}"


class _WorkerPool:
    def __init__(self, serve: Serve, count: int, at: socket.socket, restarted: Callable[[], None]) -> None:
        self._restarted = restarted
        self._serve = serve
        self._at = at
        self._workers: list[_Worker] = []
        self._count = count
        self._missing = 0
        self._early = 0
        """Workers in a row that ended before they were ready."""
        self._vain = 0
        self._has_answered = False
        self.next_start: float | None = None

    def start(self) -> None:
        self._workers.append(_Worker(self._serve, self._at))

    def wait_handles(self) -> list[int | Connection]:
        """What has something to say when a worker is ready, or ends."""
        ears = [worker.ready_pipe for worker in self._workers if not worker.ready]
        return [*(worker.process.sentinel for worker in self._workers), *ears]

    def is_any_ready(self) -> bool:
        """Whether any worker is ready; those that just became so are noted."""
        for worker in self._workers:
            if not worker.ready and worker.ready_pipe.poll():
                try:
                    worker.ready_pipe.recv()
                except (EOFError, OSError):
                    continue
                worker.ready = self._has_answered = True
                if worker.is_outdated:
                    worker.signal(signal.SIGHUP)
        return any(worker.ready for worker in self._workers)

    def replace(self) -> None:
        """Count those that ended; start as many, when it is time."""
        for worker in [one for one in self._workers if not one.process.is_alive()]:
            self._vain += worker.process.exitcode == CANNOT_START and not self._has_answered
            self._restarted()
            log.error("worker %d died (%s); another one takes its place", worker.process.pid or 0, worker.end)
            if self._vain >= _MOST_VAIN_STARTS:
                raise StorageError("The workers end before they are ready; what they said stands above.")
            self._forget(worker)
            self._missing += 1
            self._early = 0 if worker.ready else self._early + 1
            pause = min(_PAUSE * 2 ** min(self._early // self._count, 10), _LONGEST_PAUSE)
            self.next_start = self.next_start or monotonic() + pause
        if self.next_start is not None and monotonic() >= self.next_start:
            for _ in range(self._missing):
                self.start()
            self._missing, self.next_start = 0, None

    def reload(self) -> None:
        """Tell all of them; those that are not ready are told when they are."""
        for worker in self._workers:
            if worker.ready:
                worker.signal(signal.SIGHUP)
            worker.is_outdated = not worker.ready

    def end(self, commands: Commands, drain_seconds: float) -> None:
        """Ask them to finish, some time later or at once; who does not in time is ended."""
        self._at.close()  # else whoever connects when the last of them has stopped waits in vain
        self._tell(drain_seconds)
        until = monotonic() + drain_seconds + _LAST_SECONDS
        while alive := [worker for worker in self._workers if worker.process.is_alive()]:
            if monotonic() >= until:
                break
            if commands.wait(until, [worker.process.sentinel for worker in alive]) & {DRAIN, LEAVE}:
                until = monotonic() + _LAST_SECONDS
                self._tell(0.0)
        for worker in self._workers[:]:
            worker.process.kill()
            self._forget(worker)

    def _tell(self, drain_seconds: float) -> None:
        for worker in self._workers:
            worker.signal(signal.SIGINT if worker.ready and not drain_seconds else signal.SIGTERM)

    def _forget(self, worker: _Worker) -> None:
        worker.process.join()
        worker.process.close()
        worker.ready_pipe.close()
        self._workers.remove(worker)


def _run_worker(serve: Serve, at: socket.socket, ready_pipe: Connection) -> None:
    """What a worker does."""

    def ready() -> None:
        # A parent that is gone hears nothing; this one leaves for it anyway.
        with suppress(OSError), ready_pipe:
            ready_pipe.send(True)

    serve(at, ready, _leave_with_parent)


def _leave_with_parent(leave: Callable[[], None]) -> None:
    """Call `leave` when the parent is gone."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    sentinel = parent.sentinel

    def follow() -> None:
        wait([sentinel])
        leave()

    threading.Thread(target=follow, name="aisle-parent", daemon=True).start()
