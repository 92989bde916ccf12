"""Process of the leading courier: takes the lock, leads while there is work or a session, and gives it back."""

from __future__ import annotations

import asyncio
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import NamedTuple

from aisle.courier.clock_skew_and_clock_jump import has_jumped, to_steady_clock
from aisle.courier.courier import ClientFactory, Courier, Runtime
from aisle.courier.link_state import MAX_NOTICES, TOKEN_REFUSED, Notice
from aisle.courier.maintenance import HEARTBEAT_S
from aisle.courier.pauses_and_wake_event import Sleep
from aisle.courier.pull.read_timetable import PullIntervals
from aisle.courier.push.outgoing_request import PushSettings
from aisle.errors import StorageError
from aisle.host.courier_log import append_line, format_line
from aisle.host.deleted_file_recovery import FILES_GONE, first_problem
from aisle.host.hung_courier import write_heartbeat
from aisle.host.leader_lock import PROGRAM_VERSION, Leader, LeaderLock, is_newer
from aisle.host.notify_sockets import OFFER_TOKEN_PREFIX, STEP_DOWN_PREFIX, CourierSocket, send_to_courier
from aisle.host.processes import freeze_gc
from aisle.host.store_and_database_folders import StoreFolder
from aisle.parent_pipe import parent_pipe_fd
from aisle.terminal_text import clean

IDLE_EXIT_S = 120.0
"""Seconds that it stays without a session and with nothing to send, in case somebody returns soon."""
SHUTDOWN_S = 5.0
"""Seconds that requests in flight get when the courier has to stop."""
CLOCK_SET = "the clock was set"
"""Reason after which leadership ends and begins again at once."""
LOCK_GONE = "its lock is gone"
"""Reason after which leadership ends for good: another process leads, or will, by the lock file that exists now."""
TIME_ZONE_SET = "the time zone was set"
"""Reason after which leadership begins again at once: the cache's times in store time are computed again."""
RESTART_REASONS = (CLOCK_SET, FILES_GONE, TIME_ZONE_SET)
_IDLE_CHECK_S = 30.0
_LOCK_RETRY_S = 0.2
_MAX_LOCK_TRIES = 75
"""Tries of `_LOCK_RETRY_S`: a newer program waits for the older courier's requests in flight, and a little longer."""


async def become_leader(lock: LeaderLock, store_folder: StoreFolder, this_process: Leader, sleep: Sleep) -> bool:
    """Acquire the lock, and return True if this process leads.

    A courier of an older program is asked to step down, and waited for. So is a courier with another token file; it
    steps down only if the service refuses its own token.
    """
    if lock.try_acquire(this_process):
        return True
    holder = lock.read_leader()
    if holder is None:
        return False
    if is_newer(this_process.version, holder.version):
        send_to_courier(store_folder, STEP_DOWN_PREFIX + this_process.version)
    elif this_process.token_file not in ("", holder.token_file):
        send_to_courier(store_folder, f"{OFFER_TOKEN_PREFIX}{this_process.version} {this_process.token_file}")
    else:
        return False
    for _ in range(_MAX_LOCK_TRIES):
        await sleep(_LOCK_RETRY_S)
        if lock.try_acquire(this_process):
            return True
    return False


@dataclass(eq=False)
class Leadership:
    """One term of leadership: runs the courier until something ends it."""

    courier: Courier
    socket: CourierSocket
    lock: LeaderLock
    """Lock that is held already."""
    _: KW_ONLY
    version: str
    clock: Callable[[], float]
    sleep: Sleep
    is_zone_changed: Callable[[], bool] = lambda: False
    """Function that returns True if this process works in another time zone now."""

    def __post_init__(self) -> None:
        self.reason = ""
        """Reason for which it ended; empty while it runs."""
        self._ended = asyncio.Event()

    def end(self, reason: str) -> None:
        """End the term. May be called from a signal handler of the loop."""
        self.reason = self.reason or reason
        self._ended.set()

    async def run(self, parent_pipe: int = -1) -> str:
        """Run until the term ends, finish requests in flight, and return the reason."""
        loop = asyncio.get_running_loop()
        loop.add_reader(self.socket.fileno(), self._receive_messages)
        if parent_pipe >= 0:
            loop.add_reader(parent_pipe, self._check_parent_pipe, parent_pipe)
        tasks = (self.courier.run(), self._watch_idle(), self._watch_files())
        working = [asyncio.create_task(task) for task in tasks]
        ended = asyncio.create_task(self._ended.wait())
        try:
            await asyncio.wait([ended, *working], return_when=asyncio.FIRST_COMPLETED)
            await self.courier.finish_requests(SHUTDOWN_S)
        finally:
            if parent_pipe >= 0:
                loop.remove_reader(parent_pipe)
            loop.remove_reader(self.socket.fileno())
            await _cancel_tasks([ended, *working])
        return self.reason

    def _receive_messages(self) -> None:
        messages = self.socket.drain()
        for message in messages:
            if message.startswith(STEP_DOWN_PREFIX) and is_newer(message.removeprefix(STEP_DOWN_PREFIX), self.version):
                self.end("a newer program takes over")
            if message.startswith(OFFER_TOKEN_PREFIX) and self._yields_to_token(
                message.removeprefix(OFFER_TOKEN_PREFIX)
            ):
                self.end("the service refuses its token, and another one is tried")
        if messages:  # otherwise a session only changed its subscription
            self.courier.receive_messages(messages)
            self.courier.wake()

    def _yields_to_token(self, offer: str) -> bool:
        """Return whether another token may work where this courier's is refused. Never for an older program."""
        version, _, path = offer.partition(" ")
        leader = self.lock.read_leader()
        is_another = leader is not None and path != leader.token_file
        return is_another and self.courier.link.state == TOKEN_REFUSED and not is_newer(self.version, version)

    def _check_parent_pipe(self, parent_pipe: int) -> None:
        """End the term if the pipe is closed: it becomes readable only when its other end closes."""
        if os.read(parent_pipe, 1) == b"":
            self.end("the process that started it has ended")

    async def _watch_files(self) -> None:
        """Bind the socket again if its file is gone, check the files, and write the heartbeat.

        Without the socket nobody could notify this courier or ask it to step down.
        """
        loop = asyncio.get_running_loop()
        while True:
            write_heartbeat(self.courier.store_folder.lock)
            await self.sleep(HEARTBEAT_S)
            if reason := self._end_reason():
                self.end(reason)
            if self.socket.is_bound or not self.lock.is_held_at_path:
                continue
            loop.remove_reader(self.socket.fileno())
            try:
                self.socket.rebind()
            except (OSError, StorageError) as error:
                self.courier.operator_notices.add(f"The courier's socket cannot be opened again: {error}")
            loop.add_reader(self.socket.fileno(), self._receive_messages)
            self.courier.wake()

    def _end_reason(self) -> str:
        """Return the reason why lock, time zone, clock or files end this term; empty if they do not."""
        if not self.lock.is_held_at_path:
            return LOCK_GONE
        if self.is_zone_changed():
            return TIME_ZONE_SET
        return CLOCK_SET if has_jumped(self.clock) else first_problem(self.courier.watched_databases)

    async def _watch_idle(self) -> None:
        """End the term after `IDLE_EXIT_S` without sessions and without work."""
        last_seen = self.clock()
        while True:
            await self.sleep(_IDLE_CHECK_S)
            self.socket.remove_dead_sockets()
            if self.socket.count_sessions() or not self.courier.is_idle:
                last_seen = self.clock()
            elif self.clock() - last_seen >= IDLE_EXIT_S:
                self.end("no session is open, and nothing is left to send")


async def _cancel_tasks(tasks: Iterable[asyncio.Task[object]]) -> None:
    """Cancel the tasks that still run. Raise the exception of a task that failed."""
    waiting = list(tasks)
    for task in waiting:
        task.cancel()
    for ended in await asyncio.gather(*waiting, return_exceptions=True):
        if isinstance(ended, Exception):
            raise ended


class LeaderOptions(NamedTuple):
    """Settings of one term of leadership."""

    parent_pipe: int = -1
    """File descriptor; the courier stops when it reaches end of file."""
    version: str = PROGRAM_VERSION
    token_file: str = ""
    """Full path of the file with the service token."""
    runtime: Runtime = Runtime()
    intervals: PullIntervals = PullIntervals()
    push_settings: PushSettings = PushSettings()
    is_zone_changed: Callable[[], bool] = lambda: False
    """Function that returns True if the time zone of this process changed since the last call."""
    on_start: Callable[[Leadership], None] | None = None
    """Callback with the leadership once the lock is held."""
    translate: Callable[[str], str] = str
    """Function that renders stored messages as text, for the operators' log."""


def run_process(store_folder: StoreFolder, connect: ClientFactory, lock: LeaderLock, options: LeaderOptions) -> None:
    """Lead in a process of its own, which holds the lock (see `lead`). Signals end the term."""
    asyncio.run(
        lead(store_folder, connect, lock, options._replace(parent_pipe=parent_pipe_fd(), on_start=_prepare_process))
    )


async def lead(
    store_folder: StoreFolder,
    connect: ClientFactory,
    lock: LeaderLock,
    options: LeaderOptions = LeaderOptions(),  # noqa: B008 - a tuple
) -> None:
    """Lead in this loop, with the lock held, until the term ends or the task is cancelled; then release the lock."""
    try:
        with (
            _notice_writer(store_folder.courier_log, options.runtime.clock, options.translate) as note,
            closing(CourierSocket(store_folder)) as socket,
        ):
            while await _lead_once(store_folder, connect, lock, options, socket, note) in RESTART_REASONS:
                pass
    finally:
        lock.release()


async def _lead_once(
    store_folder: StoreFolder,
    connect: ClientFactory,
    lock: LeaderLock,
    options: LeaderOptions,
    socket: CourierSocket,
    write_notice: Callable[[Notice], None],
) -> str:
    """Run one term with one clock, and return the reason why it ended."""
    runtime = options.runtime._replace(clock=to_steady_clock(options.runtime.clock))
    async with Courier(
        store_folder,
        connect,
        runtime=runtime,
        intervals=options.intervals,
        push_settings=options.push_settings,
        socket=socket,
        on_notice=write_notice,
    ) as courier:
        leadership = Leadership(
            courier,
            socket,
            lock,
            version=options.version,
            clock=runtime.clock,
            sleep=runtime.sleep,
            is_zone_changed=options.is_zone_changed,
        )
        if options.on_start:
            options.on_start(leadership)
        courier.operator_notices.add(f"courier {os.getpid()} of aisle {options.version} begins")
        reason = await leadership.run(options.parent_pipe)
        courier.operator_notices.add(f"courier {os.getpid()} ends: {reason}")
        courier.maintenance.checkpoint(truncate=not socket.count_sessions())
    return reason


def _prepare_process(leadership: Leadership) -> None:
    handle_signals(leadership)
    freeze_gc()


def handle_signals(leadership: Leadership) -> None:
    """End the term on SIGTERM and SIGINT; ignore SIGHUP."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, leadership.end, signal.Signals(number).name)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


@contextmanager
def _notice_writer(
    path: Path, clock: Callable[[], float], translate: Callable[[str], str]
) -> Iterator[Callable[[Notice], None]]:
    """Yield a function that appends notices to the courier's log, one a line with its time. Log a fatal exception.

    What a full disk does not take is written with the next notice.
    """
    unwritten: deque[str] = deque(maxlen=MAX_NOTICES)

    def note(notice: Notice) -> None:
        unwritten.append(format_line(notice.at, notice.to_line(translate)))
        with suppress(OSError):
            while unwritten:
                append_line(path, unwritten[0])
                unwritten.popleft()

    try:
        yield note
    except Exception as error:
        note(Notice(clock(), clean(f"courier {os.getpid()} ends: {type(error).__name__}: {error}")))
        raise
