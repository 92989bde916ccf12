"""`aisle sync`: one turn of what the courier does; and the courier inside a session, where that is the only process."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, closing

import apsw

from aisle.cli.compose import care_of, connector, home_of
from aisle.cli.options import settings_of
from aisle.cli.patience import Patience, Silence, attended
from aisle.cli.words import in_words, repeated_rows, unread_lists, unusable_rows
from aisle.client import Answer, Client
from aisle.client.errors import Ambiguous
from aisle.courier.courier import Courier
from aisle.courier.heir import keep_what_is_loaded
from aisle.courier.link import OFFLINE
from aisle.courier.pull.progress import Progress, load
from aisle.errors import AisleError, StorageError
from aisle.jobs.view import Link
from aisle.local.cache.file import open_cache
from aisle.local.cache.writer import Cache
from aisle.local.host.home import Home
from aisle.local.host.lock import Election, Holder, whole
from aisle.local.host.program import PROGRAM
from aisle.local.host.pulse import END_S, Pulse
from aisle.local.host.signals import Bell
from aisle.local.outbox.outbox import Outbox, open_outbox
from aisle.local.outbox.wishes import EVERYTHING, LISTS, wish
from aisle.local.reads.reads import Reads
from aisle.local.told import NO_TOKEN, detail_of
from aisle.settings import Loaded
from aisle.text import clean
from aisle.tuples import NamedTuple

WAIT_S = 0.2
"""How often a sync looks how far the courier in office has come."""

BEGINS_S = 10.0
"""How long it waits for the cache of one that has just come into office."""

PATIENCE_S = 300.0
"""How long a sync waits for a courier that makes no progress."""

_inside: set[asyncio.Task[None]] = set()


def me(loaded: Loaded) -> Holder:
    """This process as a courier."""
    return Holder(os.getpid(), PROGRAM, time.time(), whole(loaded.settings.token_file))


def start_inside(loaded: Loaded) -> None:
    """Runs the courier in this process's loop; on a host with another courier it does nothing."""
    home = home_of(loaded)
    election = Election(home.lock)
    if not election.try_win(me(loaded)):
        return

    async def work() -> None:
        from aisle.cli.zones import ZoneWatch
        from aisle.courier.run import Term, work_here

        term = Term(care=care_of(loaded), say=in_words, zone_set=ZoneWatch(loaded).is_another)
        await work_here(home, connector(loaded), election, term)

    task = asyncio.get_running_loop().create_task(work())
    _inside.add(task)
    task.add_done_callback(_inside.discard)


def sync(arguments: argparse.Namespace) -> int:
    """Brings the cache up to date, by itself or by the courier in office, and delivers what waits."""
    loaded = settings_of(arguments)
    home = home_of(loaded)
    election = Election(home.lock)
    if not election.try_win(me(loaded)):
        _by_the_courier_in_office(home, full=arguments.full)
        return _summary(home)
    try:
        asyncio.run(_one_turn(home, loaded, full=arguments.full))
    finally:
        election.resign()
    return _summary(home)


async def _one_turn(home: Home, loaded: Loaded, *, full: bool) -> None:
    silence, connect = Silence(time.monotonic, time.time), connector(loaded)

    def both(observe: Callable[[Answer], None]) -> AbstractAsyncContextManager[Client]:
        def heard(answer: Answer) -> None:
            silence.heard(answer)
            observe(answer)

        return connect(heard)

    async with Courier(home, both, care=care_of(loaded)) as courier:
        keep_what_is_loaded()
        turn = courier.catch_up(full=full, progress=_told(silence))
        try:
            await attended(turn, silence, Patience(home.base_url, _say))
        except Ambiguous as error:
            raise AisleError(f"{error} See that it runs and can be reached from here, then sync again.") from error
        courier.upkeep.checkpoint(alone=True)
    _clear_line()


class _Desk(NamedTuple):
    """What a sync sees of the courier in office."""

    outbox: Outbox
    cache: Cache
    reads: Reads
    began: float
    full: bool

    def is_done(self, link: Link, now: float) -> bool:
        """Whether the cache was confirmed, or read anew, since this began, and nothing is left that could be sent."""
        progress = load(self.cache)
        if self.full:
            read = progress.idle and not progress.full and progress.completed >= self.began
        else:
            read = link.state in ("live", "partial") and progress.idle
        mine = self.outbox.sendable()
        return read and now - link.age >= self.began and not (mine or self.outbox.stale_sending())


def _by_the_courier_in_office(home: Home, *, full: bool) -> None:
    """Rings at it, and waits until it has confirmed the cache, or read it anew, and delivered what waits."""
    began = time.time()
    with (
        closing(open_outbox(home.folder)) as outbox,
        closing(_made_cache(home)) as cache,
        closing(Reads(home, outbox)) as reads,
        closing(Bell(home)) as bell,
    ):
        wish(outbox, "orders", EVERYTHING if full else LISTS, began)
        bell.ring_courier()
        _wait(home, _Desk(Outbox(outbox), Cache(cache, home.store), reads, began, full))
    _clear_line()


def _made_cache(home: Home) -> apsw.Connection:
    """The cache, when the courier has made it, which takes one that has just come into office a moment."""
    until = time.monotonic() + BEGINS_S
    while True:
        try:
            return open_cache(home.folder, writer=False)
        except StorageError:
            if time.monotonic() > until:
                raise
        time.sleep(WAIT_S)


def _wait(
    home: Home, desk: _Desk, clock: Callable[[], float] = time.time, sleep: Callable[[float], None] = time.sleep
) -> None:
    """Returns when the courier is done. Raises AisleError when it gets nowhere, or the service says nothing."""
    moved, seen = desk.began, (-1, "", -1)
    patience = Patience(home.base_url, _say)
    pulse = Pulse(home, time.time)
    while True:
        now = clock()
        pulse.look()  # one that stands still is ended after a while, and another goes on
        link = desk.reads.link(now)
        if link.state == "refused":
            unread = detail_of(desk.reads.why_refused(), NO_TOKEN)
            raise AisleError(unread or "The service refuses the courier's token. Set token_file, then try again.")
        if desk.is_done(link, now):
            return
        silent = now - desk.began if link.age < 0 else min(now - desk.began, link.age)
        patience.look(silent, is_down=link.state == OFFLINE)
        waiting, _ = desk.outbox.counts()
        if (link.done, link.state, waiting) != seen:
            moved, seen = now, (link.done, link.state, waiting)
        if now - moved > PATIENCE_S:
            raise AisleError(f"The courier in office makes no progress (it is {link.state}). See {home.courier_log}.")
        still = f"the courier has not answered for {pulse.silent:.0f} s; another comes after {END_S:.0f} s"
        _line(still if pulse.is_late else f"{link.state}: {link.done} of {link.total or '?'}")
        sleep(WAIT_S)


def _told(silence: Silence) -> Callable[[Progress], None]:
    def tell(progress: Progress) -> None:
        silence.moved()
        stage = progress.at.stage if progress.at else "done"
        _line(f"{stage}: {progress.done} of {progress.total or '?'}")

    return tell


def _say(text: str) -> None:
    """A line that stays, on a terminal and in a pipe."""
    _clear_line()
    print(clean(text), file=sys.stderr, flush=True)


def _line(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{clean(text)}", end="", file=sys.stderr, flush=True)


def _clear_line() -> None:
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _summary(home: Home) -> int:
    """Tells what is in the cache now, and what could not be read or used; 1 when something waits that could not be
    sent, or a list could not be read."""
    with closing(open_cache(home.folder, writer=False)) as cache, closing(open_outbox(home.folder)) as outbox:
        counts = {
            name: cache.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608 - names of our own tables
            for name, table in (("products", "product"), ("places", "location"), ("orders", "orders"))
        }
        progress = load(Cache(cache, home.store))
        waiting, _ = Outbox(outbox).counts()
    told = ", ".join(f"{row[0] if row else 0} {name}" for name, row in counts.items())
    print(f"Store {clean(home.store)}: {told}.")
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
