"""How long a sync waits for a service that says nothing, and what it says meanwhile."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, closing
from typing import NamedTuple, TypeVar

import apsw

from aisle.cache.cache_file import open_cache
from aisle.cache.reader import CacheReader
from aisle.cache.writer import CacheWriter
from aisle.cli.options import settings_from_arguments
from aisle.cli.reason_texts import reason_text, repeated_rows, unread_lists, unusable_rows
from aisle.cli.service_client import client_factory, push_settings_of, store_folder_of
from aisle.client import Client
from aisle.client.base import parse_retry_after
from aisle.client.errors import OutcomeUnknown
from aisle.client.response import Response
from aisle.courier.courier import Courier
from aisle.courier.link_state import OFFLINE
from aisle.courier.pull.sync_progress import SyncProgress, load_progress
from aisle.errors import AisleError, StorageError
from aisle.host.courier_monitor import KILL_AFTER_S, CourierMonitor
from aisle.host.leader_lock import Leader, LeaderLock, absolute_path
from aisle.host.notify_sockets import SessionSocket
from aisle.host.processes import freeze_gc
from aisle.host.program_version import PROGRAM_VERSION
from aisle.host.store_folder import StoreFolder
from aisle.jobs.view import LinkState
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.outcome_reasons import NO_TOKEN, stored_detail
from aisle.outbox.session_requests import FULL_SYNC, ORDER_LISTS, request_read
from aisle.settings import EMBEDDED, LoadedSettings
from aisle.text import clean

T = TypeVar("T")

CHECK_S = 0.2
"""How often it is looked how long nothing was heard."""

MESSAGE_S = 15.0
"""After so long without an answer it is said that it is waited for, and again each time."""

MAX_SILENCE_S = 45.0
"""After so long without any answer nobody waits on: longer than three tries take of a request that nothing comes back
for. One whose answers drip in may take twice as long, and is not waited for to its end."""


class WaitMessages:
    """What is said, line by line, and when it ends; `tell` prints a line."""

    def __init__(self, url: str, print_line: Callable[[str], None]) -> None:
        self._service_name = "service that aisle brings along" if url == EMBEDDED else f"service at {url}"
        self._print_line = print_line
        self._last_message_s = 0.0

    def check(self, silent: float, *, is_down: bool = True) -> None:
        """Nothing was heard for so many seconds; `is_down`: nor is anything to be expected. Raises AisleError."""
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
    """How long this process has waited for an answer. What it was busy with itself does not count, nor what a service
    has asked it to wait."""

    def __init__(self, clock: Callable[[], float], wall: Callable[[], float]) -> None:
        """`clock` tells seconds that pass, whatever is set; `wall` Unix time, by which a service says until when."""
        self._clock = clock
        self._wall = wall
        self._ticked_at = clock()
        self._paused_until = 0.0
        self.silent_s = 0.0

    def record_response(self, response: Response) -> None:
        """Any answer, refusals too."""
        self.silent_s = 0.0
        asked = parse_retry_after(response.headers.get("retry-after"), self._wall())
        self._paused_until = self._clock() + (asked or 0.0)

    def record_progress(self) -> None:
        """Work has gone on."""
        self.silent_s = 0.0

    def tick(self) -> None:
        """Another look; the one before was not long ago, or nobody could look."""
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
    """Waits for this work for as long as it gets answers. Raises AisleError, and what the work raises."""
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
"""How often a sync looks how far the courier in office has come."""

START_WAIT_S = 10.0
"""How long it waits for the cache of one that has just come into office."""

NO_PROGRESS_S = 300.0
"""How long a sync waits for a courier that makes no progress."""

_courier_tasks: set[asyncio.Task[None]] = set()


def this_leader(loaded: LoadedSettings) -> Leader:
    """This process as a courier."""
    return Leader(os.getpid(), PROGRAM_VERSION, time.time(), absolute_path(loaded.settings.token_file))


def start_courier_in_process(loaded: LoadedSettings) -> None:
    """Runs the courier in this process's loop; on a host with another courier it does nothing."""
    home = store_folder_of(loaded)
    election = LeaderLock(home.lock)
    if not election.try_acquire(this_leader(loaded)):
        return

    async def work() -> None:
        from aisle.cli.time_zones import ZoneWatch
        from aisle.courier.leader import LeaderOptions, lead

        term = LeaderOptions(
            push_settings=push_settings_of(loaded), translate=reason_text, is_zone_changed=ZoneWatch(loaded).has_changed
        )
        await lead(home, client_factory(loaded), election, term)

    task = asyncio.get_running_loop().create_task(work())
    _courier_tasks.add(task)
    task.add_done_callback(_courier_tasks.discard)


def sync(arguments: argparse.Namespace) -> int:
    """Brings the cache up to date, by itself or by the courier in office, and delivers what waits."""
    loaded = settings_from_arguments(arguments)
    home = store_folder_of(loaded)
    election = LeaderLock(home.lock)
    if not election.try_acquire(this_leader(loaded)):
        _sync_by_leader(home, full=arguments.full)
        return _print_summary(home)
    try:
        asyncio.run(_sync_in_process(home, loaded, full=arguments.full))
    finally:
        election.release()
    return _print_summary(home)


async def _sync_in_process(store_folder: StoreFolder, loaded: LoadedSettings, *, full: bool) -> None:
    silence, connect = ResponseTimer(time.monotonic, time.time), client_factory(loaded)

    def both(observe: Callable[[Response], None]) -> AbstractAsyncContextManager[Client]:
        def heard(answer: Response) -> None:
            silence.record_response(answer)
            observe(answer)

        return connect(heard)

    async with Courier(store_folder, both, push_settings=push_settings_of(loaded)) as courier:
        freeze_gc()
        turn = courier.sync_once(full=full, progress=_progress_printer(silence))
        try:
            await wait_while_answered(turn, silence, WaitMessages(store_folder.base_url, _print_line))
        except OutcomeUnknown as error:
            raise AisleError(f"{error} See that it runs and can be reached from here, then sync again.") from error
        courier.maintenance.checkpoint(truncate=True)
    _clear_line()


class SyncStatus(NamedTuple):
    """What a sync sees of the courier in office."""

    outbox: OperationQueue
    cache: CacheWriter
    reader: CacheReader
    began_at: float
    full: bool

    def is_done(self, link: LinkState, now: float) -> bool:
        """Whether the cache was confirmed, or read anew, since this began, and nothing is left that could be sent."""
        progress = load_progress(self.cache)
        if self.full:
            read = progress.is_idle and not progress.full and progress.completed >= self.began_at
        else:
            read = link.state in ("live", "partial") and progress.is_idle
        mine = self.outbox.sendable()
        return read and now - link.age_s >= self.began_at and not (mine or self.outbox.interrupted())


def _sync_by_leader(store_folder: StoreFolder, *, full: bool) -> None:
    """Rings at it, and waits until it has confirmed the cache, or read it anew, and delivered what waits."""
    began = time.time()
    with (
        closing(open_outbox(store_folder.folder)) as outbox,
        closing(_wait_for_cache(store_folder)) as cache,
        closing(CacheReader(store_folder, outbox)) as reads,
        closing(SessionSocket(store_folder)) as bell,
    ):
        request_read(outbox, "orders", FULL_SYNC if full else ORDER_LISTS, began)
        bell.wake_courier()
        _wait_for_leader(
            store_folder, SyncStatus(OperationQueue(outbox), CacheWriter(cache, store_folder.store), reads, began, full)
        )
    _clear_line()


def _wait_for_cache(store_folder: StoreFolder) -> apsw.Connection:
    """The cache, when the courier has made it, which takes one that has just come into office a moment."""
    until = time.monotonic() + START_WAIT_S
    while True:
        try:
            return open_cache(store_folder.folder, writer=False)
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
    """Returns when the courier is done. Raises AisleError when it gets nowhere, or the service says nothing."""
    moved, seen = status.began_at, (-1, "", -1)
    patience = WaitMessages(store_folder.base_url, _print_line)
    pulse = CourierMonitor(store_folder, time.time)
    while True:
        now = clock()
        pulse.check()  # one that stands still is ended after a while, and another goes on
        link = status.reader.link(now)
        if link.state == "refused":
            unread = stored_detail(status.reader.why_refused(), NO_TOKEN)
            raise AisleError(unread or "The service refuses the courier's token. Set token_file, then try again.")
        if status.is_done(link, now):
            return
        silent = now - status.began_at if link.age_s < 0 else min(now - status.began_at, link.age_s)
        patience.check(silent, is_down=link.state == OFFLINE)
        waiting, _ = status.outbox.pending_counts()
        if (link.done, link.state, waiting) != seen:
            moved, seen = now, (link.done, link.state, waiting)
        if now - moved > NO_PROGRESS_S:
            raise AisleError(
                f"The courier in office makes no progress (it is {link.state}). See {store_folder.courier_log}."
            )
        still = (
            f"the courier has not answered for {pulse.heartbeat_age:.0f} s; another comes after {KILL_AFTER_S:.0f} s"
        )
        _show_progress_line(still if pulse.is_hung else f"{link.state}: {link.done} of {link.total or '?'}")
        sleep(POLL_S)


def _progress_printer(timer: ResponseTimer) -> Callable[[SyncProgress], None]:
    def tell(progress: SyncProgress) -> None:
        timer.record_progress()
        stage = progress.at.stage if progress.at else "done"
        _show_progress_line(f"{stage}: {progress.done} of {progress.total or '?'}")

    return tell


def _print_line(text: str) -> None:
    """A line that stays, on a terminal and in a pipe."""
    _clear_line()
    print(clean(text), file=sys.stderr, flush=True)


def _show_progress_line(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{clean(text)}", end="", file=sys.stderr, flush=True)


def _clear_line() -> None:
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _print_summary(store_folder: StoreFolder) -> int:
    """Tells what is in the cache now, and what could not be read or used; 1 when something waits that could not be
    sent, or a list could not be read."""
    with (
        closing(open_cache(store_folder.folder, writer=False)) as cache,
        closing(open_outbox(store_folder.folder)) as outbox,
    ):
        counts = {
            name: cache.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608 - names of our own tables
            for name, table in (("products", "product"), ("places", "location"), ("orders", "orders"))
        }
        progress = load_progress(CacheWriter(cache, store_folder.store))
        waiting, _ = OperationQueue(outbox).pending_counts()
    told = ", ".join(f"{row[0] if row else 0} {name}" for name, row in counts.items())
    print(f"Store {clean(store_folder.store)}: {told}.")
    for name, why in unread_lists(progress):
        print(clean(f"Not all of {name} could be read{': ' + why if why else ''}.").replace("..", "."), file=sys.stderr)
    for name, count, why in unusable_rows(progress):
        print(clean(f"{count} of the rows of {name} cannot be used: {why}."), file=sys.stderr)
    for name, count in repeated_rows(progress):
        print(clean(f"{count} of the rows of {name} are there twice; the last one counts."), file=sys.stderr)
    if not progress.completed:
        print("The store has not been read whole yet. Run 'aisle sync' again.", file=sys.stderr)
    if waiting:
        print(f"{waiting} waiting to be sent. See 'aisle outbox'.", file=sys.stderr)
    return int(bool(progress.missing or waiting or not progress.completed))
