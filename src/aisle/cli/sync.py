"""`aisle sync`: updates the cache of a store and sends queued operations, in this process or by the running courier."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, closing
from typing import NamedTuple, TypeVar

import apsw
import click

from aisle.cache.queries import open_for_reading
from aisle.cache.reader import CacheReader
from aisle.cache.writer import CacheWriter
from aisle.cli.options import SettingValues, setting_options, settings_from_options
from aisle.cli.print_rows_and_messages import reason_text, repeated_rows, unread_lists, unusable_rows
from aisle.cli.service_client import client_factory, push_settings_of, store_folder_of
from aisle.cli.time_zones_of_host_and_stores import ZoneWatch
from aisle.client import Client
from aisle.client.client import parse_retry_after
from aisle.client.responses_and_errors import OutcomeUnknown, Response
from aisle.courier.courier import Courier
from aisle.courier.leader_process import LeaderOptions, lead
from aisle.courier.link_state import OFFLINE
from aisle.courier.pull.full_sync_stages_and_progress import SyncProgress, load_progress
from aisle.errors import AisleError, StorageError
from aisle.host.hung_courier import KILL_AFTER_S, CourierMonitor
from aisle.host.leader_lock import PROGRAM_VERSION, Leader, LeaderLock, absolute_path
from aisle.host.notify_sockets import SessionSocket
from aisle.host.processes import freeze_gc
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import LinkState
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.operation_record import NO_TOKEN
from aisle.outbox.requests_and_token_holders import FULL_SYNC, ORDER_LISTS, request_read
from aisle.settings.setting_definitions import EMBEDDED
from aisle.settings.settings_files_and_folders import LoadedSettings
from aisle.stored_messages import stored_detail
from aisle.terminal_text import clean

T = TypeVar("T")

CHECK_S = 0.2
"""Seconds between checks of the time without a response."""

MESSAGE_S = 15.0
"""Seconds without a response after which a message is printed, and again after each such time."""

MAX_SILENCE_S = 45.0
"""Seconds without any response after which a sync fails.

That is longer than three attempts of an unanswered request, and than one whose response does not end in time.
"""


class WaitMessages:
    """Messages about missing responses, and the limit of waiting; `print_line` prints one."""

    def __init__(self, url: str, print_line: Callable[[str], None]) -> None:
        self._service_name = "service built into aisle" if url == EMBEDDED else f"service at {url}"
        self._print_line = print_line
        self._last_message_s = 0.0

    def check(self, silent: float, *, is_down: bool = True) -> None:
        """Report the seconds without a response; if `is_down` is True, raise AisleError above the limit."""
        if is_down and silent >= MAX_SILENCE_S:
            raise AisleError(
                f"The {self._service_name} has not answered for {silent:.0f} s, so nothing more could be read or sent;"
                " what waits is kept. See that it runs and can be reached from here, then sync again."
            )
        if silent < MESSAGE_S:
            self._last_message_s = 0.0
        elif silent - self._last_message_s >= MESSAGE_S:
            self._last_message_s = silent
            self._print_line(f"Waiting for the {self._service_name}: no answer for {silent:.0f} s.")


class ResponseTimer:
    """Timer of the seconds without a response.

    It excludes time that this process was busy, and time that the service asked it to wait.
    """

    def __init__(self, clock: Callable[[], float], wall: Callable[[], float]) -> None:
        """Create a timer; `clock` is monotonic, `wall` is Unix time, for the service's Retry-After dates."""
        self._clock = clock
        self._wall = wall
        self._ticked_at = clock()
        self._paused_until = 0.0
        self.silent_s = 0.0

    def record_response(self, response: Response) -> None:
        """Record a response, including errors."""
        self.silent_s = 0.0
        retry_after_s = parse_retry_after(response.headers.get("retry-after"), self._wall())
        self._paused_until = self._clock() + (retry_after_s or 0.0)

    def record_progress(self) -> None:
        """Record that work has made progress."""
        self.silent_s = 0.0

    def tick(self) -> None:
        """Add the time since the last tick, at most two intervals, so that blocked time is not counted."""
        now, before = self._clock(), self._ticked_at
        self._ticked_at = now
        if now >= self._paused_until:
            self.silent_s += min(max(0.0, now - before), 2 * CHECK_S)


async def wait_while_answered(
    work: Awaitable[T],
    timer: ResponseTimer,
    messages: WaitMessages,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> T:
    """Wait for the work as long as responses arrive. Raise AisleError otherwise, and any exception of the work."""
    task = asyncio.ensure_future(work)
    try:
        while not task.done():
            pause = asyncio.ensure_future(sleep(CHECK_S))
            await asyncio.wait((task, pause), return_when=asyncio.FIRST_COMPLETED)
            pause.cancel()
            timer.tick()
            if not task.done():
                messages.check(timer.silent_s)
        return task.result()
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait((task,))


POLL_S = 0.2
"""Seconds between checks of the leading courier's progress."""

START_WAIT_S = 10.0
"""Seconds to wait for the cache of a courier that has just become leader."""

NO_PROGRESS_S = 300.0
"""Seconds without progress after which waiting for a courier fails."""

_courier_tasks: set[asyncio.Task[None]] = set()


def this_leader(loaded: LoadedSettings) -> Leader:
    """Return the leader record of this process."""
    return Leader(os.getpid(), PROGRAM_VERSION, time.time(), absolute_path(loaded.settings.token_file))


def start_courier_in_process(loaded: LoadedSettings) -> None:
    """Run the courier in the loop of this process; do nothing if another courier leads."""
    store_folder = store_folder_of(loaded)
    lock = LeaderLock(store_folder.lock)
    if not lock.try_acquire(this_leader(loaded)):
        return

    async def work() -> None:

        options = LeaderOptions(
            push_settings=push_settings_of(loaded), translate=reason_text, is_zone_changed=ZoneWatch(loaded).has_changed
        )
        await lead(store_folder, client_factory(loaded), lock, options)

    task = asyncio.get_running_loop().create_task(work())
    _courier_tasks.add(task)
    task.add_done_callback(_courier_tasks.discard)


@click.command()
@click.option("--full", is_flag=True, help="Read everything again.")
@setting_options
def sync(full: bool, setting_values: SettingValues) -> int:
    """Update the cache of the store and send queued operations now."""
    loaded = settings_from_options(setting_values)
    store_folder = store_folder_of(loaded)
    lock = LeaderLock(store_folder.lock)
    if not lock.try_acquire(this_leader(loaded)):
        _sync_by_leader(store_folder, full=full)
        return _print_summary(store_folder)
    try:
        asyncio.run(_sync_in_process(store_folder, loaded, full=full))
    finally:
        lock.release()
    return _print_summary(store_folder)


async def _sync_in_process(store_folder: StoreFolder, loaded: LoadedSettings, *, full: bool) -> None:
    timer, connect = ResponseTimer(time.monotonic, time.time), client_factory(loaded)

    def both(observe: Callable[[Response], None]) -> AbstractAsyncContextManager[Client]:
        def heard(answer: Response) -> None:
            timer.record_response(answer)
            observe(answer)

        return connect(heard)

    async with Courier(store_folder, both, push_settings=push_settings_of(loaded)) as courier:
        freeze_gc()
        turn = courier.sync_once(full=full, progress=_progress_printer(timer))
        try:
            await wait_while_answered(turn, timer, WaitMessages(store_folder.base_url, _print_line))
        except OutcomeUnknown as error:
            raise AisleError(f"{error} See that it runs and can be reached from here, then sync again.") from error
        courier.maintenance.checkpoint(truncate=True)
    _clear_line()


class SyncStatus(NamedTuple):
    """State of the leading courier as a sync sees it."""

    outbox: OperationQueue
    cache: CacheWriter
    reader: CacheReader
    began_at: float
    full: bool

    def is_done(self, link: LinkState, now: float) -> bool:
        """Return True if the cache was confirmed, or read completely, since the start, and nothing is left to send."""
        progress = load_progress(self.cache)
        if self.full:
            is_read = progress.is_idle and not progress.full and progress.completed >= self.began_at
        else:
            is_read = link.state in ("live", "partial") and progress.is_idle
        sendable = self.outbox.sendable()
        return is_read and now - link.age_s >= self.began_at and not (sendable or self.outbox.left_sending())


def _sync_by_leader(store_folder: StoreFolder, *, full: bool) -> None:
    """Wake the leading courier and wait until it has updated the cache and sent queued operations."""
    began_at = time.time()
    with (
        closing(open_outbox(store_folder.folder)) as outbox,
        closing(_wait_for_cache(store_folder)) as cache,
        closing(CacheReader(store_folder, outbox)) as reader,
        closing(SessionSocket(store_folder)) as socket,
    ):
        request_read(outbox, "orders", FULL_SYNC if full else ORDER_LISTS, began_at)
        socket.wake_courier()
        _wait_for_leader(
            store_folder,
            SyncStatus(OperationQueue(outbox), CacheWriter(cache, store_folder.store), reader, began_at, full),
        )
    _clear_line()


def _wait_for_cache(store_folder: StoreFolder) -> apsw.Connection:
    """Return the cache once the courier has created it; a new leader needs a moment."""
    until = time.monotonic() + START_WAIT_S
    while True:
        try:
            return open_for_reading(store_folder.folder)
        except StorageError:
            if time.monotonic() > until:
                raise
        time.sleep(POLL_S)


def _wait_for_leader(
    store_folder: StoreFolder,
    status: SyncStatus,
    clock: Callable[[], float] = time.time,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Wait until the courier is done. Raise AisleError if it makes no progress or the service does not respond."""
    progressed_at, seen = status.began_at, (-1, "", -1)
    messages = WaitMessages(store_folder.base_url, _print_line)
    monitor = CourierMonitor(store_folder, time.time)
    while True:
        now = clock()
        monitor.check()  # a hung courier is ended after a while, and its standby takes over
        link = status.reader.link(now)
        if link.state == "refused":
            unread = stored_detail(status.reader.why_refused(), NO_TOKEN)
            raise AisleError(unread or "The service refuses the courier's token. Set token_file, then try again.")
        if status.is_done(link, now):
            return
        silent = now - status.began_at if link.age_s < 0 else min(now - status.began_at, link.age_s)
        messages.check(silent, is_down=link.state == OFFLINE)
        waiting, _ = status.outbox.pending_counts()
        if (link.done, link.state, waiting) != seen:
            progressed_at, seen = now, (link.done, link.state, waiting)
        if now - progressed_at > NO_PROGRESS_S:
            raise AisleError(
                f"The leading courier makes no progress (it is {link.state}). See {store_folder.courier_log}."
            )
        hung_text = (
            f"the courier has not answered for {monitor.heartbeat_age:.0f} s; another comes after {KILL_AFTER_S:.0f} s"
        )
        _show_progress_line(hung_text if monitor.is_hung else f"{link.state}: {link.done} of {link.total or '?'}")
        sleep(POLL_S)


def _progress_printer(timer: ResponseTimer) -> Callable[[SyncProgress], None]:
    def tell(progress: SyncProgress) -> None:
        timer.record_progress()
        stage = progress.at.stage if progress.at else "done"
        _show_progress_line(f"{stage}: {progress.done} of {progress.total or '?'}")

    return tell


def _print_line(text: str) -> None:
    """Print a line that stays, on a terminal and in a pipe."""
    _clear_line()
    print(clean(text), file=sys.stderr, flush=True)


def _show_progress_line(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{clean(text)}", end="", file=sys.stderr, flush=True)


def _clear_line() -> None:
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _print_summary(store_folder: StoreFolder) -> int:
    """Print the content of the cache and what could not be read or used.

    Return 1 if operations are unsent, or a list or a row of one could not be read, else 0.
    """
    with (
        closing(open_for_reading(store_folder.folder)) as cache,
        closing(open_outbox(store_folder.folder)) as outbox,
    ):
        counts = {
            name: cache.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608 - names of our own tables
            for name, table in (("products", "product"), ("locations", "location"), ("orders", "orders"))
        }
        progress = load_progress(CacheWriter(cache, store_folder.store))
        waiting, _ = OperationQueue(outbox).pending_counts()
    text = ", ".join(f"{row[0] if row else 0} {name}" for name, row in counts.items())
    print(f"Store {clean(store_folder.store)}: {text}.")
    for name, why in unread_lists(progress):
        print(clean(f"Not all of {name} could be read{': ' + why if why else ''}.").replace("..", "."), file=sys.stderr)
    unusable = list(unusable_rows(progress))
    for name, count, why in unusable:
        print(clean(f"{count} of the rows of {name} cannot be used: {why}."), file=sys.stderr)
    for name, count in repeated_rows(progress):
        print(clean(f"{count} of the rows of {name} are there twice; the last one counts."), file=sys.stderr)
    if not progress.completed:
        print("The store is not fully loaded yet. Run 'aisle sync' again.", file=sys.stderr)
    if waiting:
        print(f"{waiting} waiting to be sent. See 'aisle outbox'.", file=sys.stderr)
    return int(bool(progress.missing or unusable or waiting or not progress.completed))
