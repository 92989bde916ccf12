"""Several processes that serve one socket. The parent starts them and replaces those that die; it serves nothing.

The end of a worker affects only its own requests. Workers stop when their parent is gone, so that the port becomes
free.
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
"""Function that serves a socket.

It calls its second argument when it is ready, and its third with a function that stops it.
"""

METRICS_FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""Variable of prometheus-client for the folder of the workers' metrics. It is set before the library is loaded."""

log = logging.getLogger("aisle.service")

# A worker that dies before it is ready is restarted after a pause. If none ever became ready and waiting cannot help,
# restarts end; otherwise they continue.
_PAUSE = 1.0
_LONGEST_PAUSE = 30.0
CANNOT_START = 78
"""Exit status of a worker for an error that waiting does not solve, such as a database of a newer program."""
_MAX_FAILED_STARTS = 5
_LAST_SECONDS = 30

DRAIN, LEAVE, RELOAD = b"d", b"l", b"r"
"""Commands: announce the end and stop later, stop at once, reload the certificate."""

_spawn = multiprocessing.get_context("spawn")


def run_workers(
    serve: Serve,
    count: int,
    listening_socket: socket.socket,
    ready: Callable[[], None],
    *,
    commands: Commands,
    restarted: Callable[[], None] = lambda: None,
    may_reload: Callable[[], bool] = lambda: True,
    drain_seconds: float = 0.0,
) -> None:
    """Keep `count` processes running `serve` until a command to end; then let them finish, and close the socket.

    `serve` must be picklable. `ready` is called once, when a process answers; `restarted` for each that died. If
    `may_reload`, a command to reload is passed to each of them. Raise StorageError if none ever becomes ready because
    of an error that waiting does not solve.
    """
    pool = _WorkerPool(serve, count, listening_socket, restarted)
    is_reported, given = False, frozenset[bytes]()
    try:
        for _ in range(count):
            pool.start()
        while not given & {DRAIN, LEAVE}:
            given = commands.wait(pool.next_start, pool.wait_handles())
            if RELOAD in given and may_reload():
                pool.reload()
            if pool.is_any_ready() and not is_reported:
                is_reported = True
                ready()
            pool.replace()
    finally:
        pool.end(commands, drain_seconds if DRAIN in given else 0.0)


class Commands:
    """Pipe of commands from signals and threads."""

    def __init__(self) -> None:
        self._out, self._in = os.pipe()
        os.set_blocking(self._in, False)

    def give(self, command: bytes) -> None:
        """Write a command."""
        os.write(self._in, command)

    def wait(self, until: float | None, others: list[int | Connection]) -> frozenset[bytes]:
        """Wait until a command, one of the other handles, or the time `until`. Return the commands."""
        seconds = None if until is None else max(0.0, until - monotonic())
        if self._out not in wait([self._out, *others], seconds):
            return frozenset()
        return frozenset(bytes([one]) for one in os.read(self._out, 100))

    @contextmanager
    def by_signals(self, *, reloads: bool = False) -> Iterator[None]:
        """Translate signals to commands while the context is active: SIGINT and SIGTERM end, SIGHUP reloads (or ends).

        Only the main thread can receive signals.
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
    def __init__(self, serve: Serve, listening_socket: socket.socket) -> None:
        self.ready_pipe, sending_pipe = _spawn.Pipe(duplex=False)
        self.ready = False
        self.is_outdated = False
        """True if a reload was requested before it was ready."""
        self.process: SpawnProcess = _spawn.Process(
            target=_run_worker, args=(serve, listening_socket, sending_pipe), name="aisle-worker"
        )
        self.process.start()
        sending_pipe.close()

    def signal(self, number: signal.Signals) -> None:
        """Send a signal, unless the worker is gone."""
        if self.process.is_alive() and self.process.pid:
            with suppress(ProcessLookupError):
                os.kill(self.process.pid, number)

    @property
    def end(self) -> str:
        """Description of its exit status."""
        status = self.process.exitcode or 0
        return f"signal {signal.Signals(-status).name}" if status < 0 else f"status {status}"


class _WorkerPool:
    def __init__(
        self, serve: Serve, count: int, listening_socket: socket.socket, restarted: Callable[[], None]
    ) -> None:
        self._restarted = restarted
        self._serve = serve
        self._listening_socket = listening_socket
        self._workers: list[_Worker] = []
        self._count = count
        self._missing = 0
        self._early = 0
        """Number of workers in a row that ended before they were ready."""
        self._failed_starts = 0
        self._has_answered = False
        self.next_start: float | None = None

    def start(self) -> None:
        self._workers.append(_Worker(self._serve, self._listening_socket))

    def wait_handles(self) -> list[int | Connection]:
        """Return the handles that become readable when a worker is ready or ends."""
        ready_pipes = [worker.ready_pipe for worker in self._workers if not worker.ready]
        return [*(worker.process.sentinel for worker in self._workers), *ready_pipes]

    def is_any_ready(self) -> bool:
        """Return True if any worker is ready. Workers that became ready are recorded."""
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
        """Count the workers that ended, and start new ones when the pause is over."""
        for worker in [one for one in self._workers if not one.process.is_alive()]:
            self._failed_starts += worker.process.exitcode == CANNOT_START and not self._has_answered
            self._restarted()
            log.error("worker %d died (%s); another one takes its place", worker.process.pid or 0, worker.end)
            if self._failed_starts >= _MAX_FAILED_STARTS:
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
        """Tell all workers to reload; those that are not ready get the signal when they are."""
        for worker in self._workers:
            if worker.ready:
                worker.signal(signal.SIGHUP)
            worker.is_outdated = not worker.ready

    def end(self, commands: Commands, drain_seconds: float) -> None:
        """Tell the workers to finish, after the drain time or at once. Kill those that do not end in time."""
        self._listening_socket.close()  # Otherwise a client that connects after the last of them stopped waits in vain.
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


def _run_worker(serve: Serve, listening_socket: socket.socket, ready_pipe: Connection) -> None:
    """Run `serve` in a worker process."""

    def ready() -> None:
        # If the parent is gone, this worker stops anyway.
        with suppress(OSError), ready_pipe:
            ready_pipe.send(True)

    serve(listening_socket, ready, _leave_with_parent)


def _leave_with_parent(leave: Callable[[], None]) -> None:
    """Call `leave` when the parent ends."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    sentinel = parent.sentinel

    def follow() -> None:
        wait([sentinel])
        leave()

    threading.Thread(target=follow, name="aisle-parent", daemon=True).start()
