"""A session: the jobs on one terminal, fed with decoded inputs, each of them durable before the screen says so.

`take` is the whole way round on this host: inputs → readings → candidates → meaning → job → effects → one commit →
frame. It needs neither a network nor a terminal, and never waits for one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from aisle import __version__
from aisle.errors import StorageError
from aisle.jobs.base import (
    Changed,
    Context,
    Opened,
    Order,
    Proved,
    Quit,
    Resumed,
    SignIn,
    SignOut,
    Tune,
    WorkIn,
    listens,
    shows_written,
)
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Frame, ListWindow, Msg, Verdict, msg
from aisle.local.db import Gone
from aisle.local.host.ids import new_id
from aisle.local.host.troubles import why_of
from aisle.local.outbox.operation import Author
from aisle.local.session.answers import answer
from aisle.local.session.asking import NOTHING
from aisle.local.session.ear import Ear
from aisle.local.session.house import Words
from aisle.local.session.keeper import Keeper
from aisle.local.session.lookout import Lookout
from aisle.local.session.news import look, shown
from aisle.local.session.open_line import OpenLine, meant_for
from aisle.local.session.rights import NO_PIN, Pin, own_principal, pass_of
from aisle.local.session.screen import frame, view
from aisle.local.session.stack import Outcome, Stack
from aisle.local.session.taking import lose, take_one
from aisle.local.session.terms import Rooms, Terms, iso, list_rows
from aisle.local.session.watch import Watch
from aisle.scan.inputs import Decoded

if TYPE_CHECKING:
    from aisle.local.session.changing import OpenStore
    from aisle.local.session.trace import Trace


class Session:
    """The desk behind one screen. Not for use from several threads."""

    open_store: OpenStore | None = None
    """Opens what this terminal needs to work in another store; None where it stays in its own."""
    say: Words | None = None
    """What messages say, for whoever looks for a command by its words."""
    has_themes = False
    """Whether the terminal has the colours of a theme."""

    def __init__(
        self,
        rooms: Rooms,
        terms: Terms,
        *,
        trace: Trace | None = None,
        watch: Watch | None = None,
        call_courier: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.time,
        name: Callable[[], str] = new_id,
    ) -> None:
        self.leaving = False
        self.bells = 0
        self._terms = terms
        self._trace = trace
        self._watch = watch
        self._call_courier = call_courier
        self._clock = clock
        self._name = name
        self._id = name()
        self._furnish(rooms)
        self._stack = Stack(lambda query: answer(self, query), name)
        self._keeper = Keeper(rooms.journal, self._stack, self._id)
        self._who = SignIn("", "")
        self._line = OpenLine()
        self._verdict: Verdict | None = None
        self._asking = NOTHING
        self._failed = False
        """True when a part of the queue could not be kept: the rest of it must not happen."""
        self._unkept = 0
        """Lines of the queue since the last commit."""
        self._serial = 0
        self._counts = (0, 0)
        """What waited, and what was doubtful, when that could be read last."""
        self._rows = 12
        self._size = (0, 0)
        """Columns and rows of the screen, once they are known."""
        self._secrets: dict[str, str] = {}
        """What no file may hold, by the name of what was asked with it, until that is begun or over."""
        self._seen: tuple[Any, ...] = ()
        """The page that was on the screen before the inputs that are taken now."""
        self._pin = NO_PIN
        self._own: dict[str, Any] = {}
        """What the settings say of what somebody has changed on this terminal for himself."""
        self._closed = False
        self._last: Frame | None = None
        """What was to be shown last."""
        self._at = 0.0
        self._known: Context | None = None

    def _furnish(self, rooms: Rooms) -> None:
        """Works in these rooms from now on."""
        self._rooms = rooms
        self._lookout = Lookout(
            rooms.reads, rooms.journal, rooms.bell, self._id, self._call_courier, lambda: self._clock()
        )
        self._ear = Ear(rooms.reads, self._terms.restricted)
        rooms.reads.pools = self._terms.pools

    # The screen's side

    def start(self) -> Frame:
        """Signs in whoever this terminal belongs to, on the step where the work was left."""
        self._begin()
        self._start()
        self._commit()
        return self._frame()

    def _whose(self) -> SignIn:
        """Whom this terminal belongs to, nobody included."""
        shared = self._rooms.journal.is_held(self._terms.terminal)
        stay = None if shared else self._rooms.journal.stay(self._terms.terminal)
        who = SignIn(stay.user, stay.name) if stay else SignIn("", "")
        if self._terms.user and self._terms.user != who.user:
            who = SignIn(self._terms.user, self._terms.user)
        return who

    def _start(self, who: SignIn | None = None) -> None:
        who = who or self._whose()
        self._rooms.journal.begin_session(
            self._id,
            terminal=self._terms.terminal,
            store=self._terms.store,
            user=who.user,
            version=__version__,
            pid=os.getpid(),
        )
        self._lookout.begin()
        self._enter(who)
        if who.user and self._verdict is None:
            self._verdict = Verdict(INFO, msg("sign_in.done", name=who.name or who.user))

    def take(self, items: Sequence[Decoded], at: float) -> Frame:
        """Applies all inputs in their order, makes them durable in one transaction, and says what to show."""
        self._begin()
        self._failed, self._unkept = False, 0
        self._seen = meant_for(self._stack.levels)
        for number, item in enumerate(items, 1):
            take_one(self, item, at)
            if self._failed:
                lose(self, items[number:])
                return self._frame()
        wrote = self._keeper.has_writes
        if self._commit() and wrote:
            self._show_written()
        return self._frame()

    def _show_written(self) -> None:
        """A page that shows what a job over it, or itself, has just written asked for it before that was durable."""
        if shows_written(self._stack.top.job):
            self._absorb(self._stack.tell([Changed("outbox", "")], self._context())._replace(verdict=None), "")

    def poll(self, *, rung: bool = False) -> Frame | None:
        """What news make of the screen; called every few seconds, and when the bell has rung, for which only that is
        looked at which it rang for. None where nothing on the screen is different."""
        self._begin()
        topics = self._rooms.bell.drain()
        return look(self, topics if rung else None)

    @property
    def has_pass(self) -> bool:
        """Whether what needs the PIN of whoever stands here can be sent."""
        return bool(pass_of(self)["there"])

    def _hand_on(self) -> None:
        """A courier that was not there yet, or did not hear it, is told again what no file holds."""
        for name, secret in list(self._secrets.items()):
            if self._rooms.journal.is_asked(name):
                self._rooms.bell.confide(name, secret)
            else:
                del self._secrets[name]

    def keep_courier(self) -> None:
        """Calls a courier where there is none."""
        self._lookout.keep_courier()

    def resize(self, columns: int, rows: int) -> Frame:
        """The screen has another size: lists ask for as many rows as it can show."""
        self._begin()
        self._rows = list_rows(rows)
        self._size = (columns, rows)
        if isinstance(view(self), ListWindow) or listens(self._stack.top.job):
            # What it shows is wanted again; nothing has happened that is to be kept.
            self._absorb(self._stack.feed(Resumed(), self._context())._replace(wishes=()), "")
        self._commit()
        return self._frame()

    def on_painted(self, serials: Sequence[int], at: float) -> None:
        """The answers to these scans are on the screen since this monotonic moment."""
        if self._trace:
            self._trace.painted(at)

    def fileno(self) -> int | None:
        """What becomes readable when the courier has news."""
        return self._rooms.bell.fileno()

    def close(self) -> None:
        """Says goodbye; everything is durable already. May be called twice."""
        if self._closed:
            return
        self._closed = True
        ends = (self._rooms.bell.close, lambda: self._rooms.journal.end_session(self._id))
        for end in (self._trace.close, *ends) if self._trace else ends:
            with suppress(StorageError, OSError):  # what made the program end matters more
                end()

    # What follows from it

    def _absorb(self, outcome: Outcome, raw: str) -> None:
        untold = self._keeper.has_writes
        self._keeper.add(outcome, self._at, raw, self._context())
        if outcome.verdict:
            self._verdict = outcome.verdict
            self._ring(outcome.verdict)
        self._asking = self._asking.on(self._stack.levels)
        if untold and outcome.opened and not self._commit():
            return  # a page over a job that has written: on the way back that job asks for what it has written
        for order in outcome.orders:
            self._obey(order)

    def _obey(self, order: Order) -> None:
        if isinstance(order, Quit):
            self.leaving = True
            return
        if isinstance(order, WorkIn):
            from aisle.local.session.moving import work_in  # hardly ever, and no start pays for it

            work_in(self, order.store)
            return
        if isinstance(order, Tune):
            from aisle.local.session.tuning import tune  # hardly ever, and no start pays for it

            tune(self, order)
            return
        if isinstance(order, Proved):
            self._pin = self._pin._replace(until=order.until, said=self._at)
            return
        if isinstance(order, SignOut) and self._own:
            from aisle.local.session.tuning import untune

            untune(self)
        self._keeper.stay(order)
        if self._commit():
            self._enter(order if isinstance(order, SignIn) else SignIn("", ""))

    def _enter(self, who: SignIn) -> None:
        """Puts up the first page of this person (or of nobody), and the jobs that were left open."""
        self._who = who
        self._known = None
        self._pin = Pin(said=self._pin.said)
        self._stack.levels.clear()
        self._stack.push("home" if who.user else "sign_in")
        self._absorb(self._stack.feed(Opened({}), self._context()), "")
        if who.user:
            self._verdict = self._keeper.resume(self._terms.store, who.user) or self._verdict
        if len(self._stack.levels) > 1:
            self._absorb(self._stack.feed(Resumed(), self._context()), "")

    def _tell(self, verdict: Verdict) -> None:
        self._verdict = verdict
        self._ring(verdict)

    def _ring(self, verdict: Verdict) -> None:
        if verdict.kind in (WRONG, ASK):
            self.bells = 3
        elif verdict.kind == GOOD and self._terms.bell_good:
            self.bells = max(self.bells, 1)

    # Making it durable

    def _commit(self) -> bool:
        """One transaction for all that happened since the last one; if it fails, nothing has happened."""
        try:
            self._keep()
        except StorageError as error:
            if not self._keeper.has_begun:
                raise
            self._asking = NOTHING
            self._failed, self.leaving = True, False
            self._verdict = Verdict(WRONG, msg("session.not_saved", why=self._why(error)))
            self.bells = 3
            if self._trace:
                self._trace.lost(self._verdict)
            return False
        return True

    def _keep(self) -> None:
        """The same, and those who wait for it are told. Raises StorageError."""
        secrets = self._keeper.secrets
        own = own_principal(self) if self._keeper.supervises else ""
        wakes = self._keeper.keep(Author(self._terms.store, self._who.user, terminal=self._terms.terminal, own=own))
        self._unkept = 0
        if self._trace:
            self._trace.kept()
        self._secrets |= secrets
        for name, secret in secrets.items():
            self._rooms.bell.confide(name, secret)
        if wakes:
            self._lookout.shows(shown(self._stack.top))  # before anything comes of it
            self._rooms.bell.ring_courier()

    def _why(self, error: StorageError) -> Msg:
        """Why it could not be made durable, and what was done about it, or has to be done."""
        if not isinstance(error, Gone):
            return why_of(error)
        from aisle.local.session.reopening import stood_again

        return stood_again(self)

    # What is on the screen

    def _frame(self) -> Frame:
        self._last = frame(self)
        return self._last

    def _begin(self) -> None:
        """One drained queue is one moment: what came in one read happened together."""
        self._at = self._clock()
        self._known = None
        self._ear.forget()

    def _context(self) -> Context:
        if self._known is None:
            self._known = Context(
                store=self._terms.store,
                user=self._who.user,
                name=self._who.name,
                now=iso(self._at),
                policy=self._terms.policy,
                rows=self._rows,
                terminal=self._terms.terminal,
            )
        return self._known
