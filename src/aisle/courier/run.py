"""Terms of office: of a process of its own (`heir.reign`), and inside a session, where there is one process only."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from aisle.courier.care import Care
from aisle.courier.courier import Connect, Courier, World
from aisle.courier.heir import keep_what_is_loaded
from aisle.courier.notices import Notice
from aisle.courier.office import GOES_ON, Office, win
from aisle.courier.pull.schedule import Pace
from aisle.courier.steps import steadied
from aisle.lifeline import lifeline_fd
from aisle.local.host.home import Home
from aisle.local.host.lock import Election, Holder
from aisle.local.host.program import PROGRAM
from aisle.local.host.signals import CourierSocket
from aisle.text import clean
from aisle.tuples import NamedTuple

LOG_BYTES = 1 << 20
"""A log of this length is put aside, in the place of the one before it."""


class Term(NamedTuple):
    """The circumstances of one term of office."""

    lifeline: int = -1
    """A descriptor at whose end of file the courier leaves."""
    version: str = PROGRAM
    token_file: str = ""
    """The whole path of what the service is asked with."""
    world: World = World()
    pace: Pace = Pace()
    care: Care = Care()
    zone_set: Callable[[], bool] = lambda: False
    """Whether this process works in another time zone than when it was asked last."""
    begun: Callable[[Office], None] | None = None
    """Is handed the office once it is held."""
    say: Callable[[str], str] = str
    """Makes words of what rows keep, for the log that operators read."""


def serve(home: Home, connect: Connect, election: Election, term: Term) -> None:
    """The work of a process of its own that is in office: see `work_here`. Signals end its term."""
    asyncio.run(work_here(home, connect, election, term._replace(lifeline=lifeline_fd(), begun=_settle)))


async def run(home: Home, connect: Connect, term: Term = Term()) -> int:  # noqa: B008 - a tuple
    """Is the courier of this home until it has to leave; the exit status, 0 also for the loser of the election.

    Raises StorageError, also when a newer program has been at work here, and SettingsError.
    """
    election = Election(home.lock)
    me = Holder(os.getpid(), term.version, term.world.clock(), term.token_file)
    if await win(election, home, me, term.world.sleep):
        await work_here(home, connect, election, term)
    return 0


async def work_here(home: Home, connect: Connect, election: Election, term: Term = Term()) -> None:  # noqa: B008 - a tuple
    """Works in this loop, for whoever has won the election, until the term is over or it is cancelled; then resigns."""
    try:
        with _log(home.courier_log, term.world.clock, term.say) as note, closing(CourierSocket(home)) as socket:
            while await _term(home, connect, election, term, socket, note) in GOES_ON:
                pass
    finally:
        election.resign()


async def _term(
    home: Home,
    connect: Connect,
    election: Election,
    term: Term,
    socket: CourierSocket,
    note: Callable[[Notice], None],
) -> str:
    """One term by one clock, and why it ended."""
    world = term.world._replace(clock=steadied(term.world.clock))
    async with Courier(
        home, connect, world=world, pace=term.pace, care=term.care, socket=socket, notify=note
    ) as courier:
        office = Office(
            courier,
            socket,
            election,
            version=term.version,
            clock=world.clock,
            sleep=world.sleep,
            zone_set=term.zone_set,
        )
        if term.begun:
            term.begun(office)
        courier.notices.add(f"courier {os.getpid()} of aisle {term.version} begins")
        why = await office.hold(term.lifeline)
        courier.notices.add(f"courier {os.getpid()} leaves: {why}")
        courier.upkeep.checkpoint(alone=not socket.sessions())
    return why


def _settle(office: Office) -> None:
    obey_signals(office)
    keep_what_is_loaded()


def obey_signals(office: Office) -> None:
    """SIGTERM and SIGINT end the term; a terminal that goes away is no concern of the courier's."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, office.leave, signal.Signals(number).name)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


@contextmanager
def _log(path: Path, clock: Callable[[], float], say: Callable[[str], str]) -> Iterator[Callable[[Notice], None]]:
    """What writes notices into the courier's log, one a line with its moment; and what the courier ended with."""

    def note(notice: Notice) -> None:
        at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(notice.at))
        with suppress(OSError):  # a full disk: the notice is kept in memory
            _append(path, f"{at} {notice.said(say)}\n")

    try:
        yield note
    except Exception as error:
        note(Notice(clock(), clean(f"courier {os.getpid()} ends: {type(error).__name__}: {error}")))
        raise


def _append(path: Path, line: str) -> None:
    """A term may last for months: a log that has become long is put aside, and one that was deleted is begun again."""
    if path.exists() and path.stat().st_size > LOG_BYTES:
        path.replace(path.with_suffix(".log.1"))
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(line)
