"""What stands at a terminal: who works there, on which jobs, with which rooms; and what every part of a session does
with that: takes up what came of an input, makes it durable, tells it.

A part of aisle.local.session.session, below all that an input or a look can come to.
"""

from __future__ import annotations

import math
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from aisle import __version__
from aisle.errors import StorageError
from aisle.jobs.base import (
    Context,
    Export,
    Opened,
    Order,
    Proved,
    Query,
    Quit,
    Resumed,
    Rows,
    SignIn,
    SignOut,
    Tune,
    UndoLast,
    WorkIn,
)
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Frame, Msg, Verdict, msg
from aisle.local.host.ids import new_id
from aisle.local.host.lock import whole
from aisle.local.outbox.operation import Author, principal_of
from aisle.local.outbox.remarks import LANGUAGE
from aisle.local.session import astray
from aisle.local.session.answers import answer
from aisle.local.session.asking import NOTHING, asked_again
from aisle.local.session.confided import Secrets
from aisle.local.session.drained import Queue
from aisle.local.session.ear import Ear
from aisle.local.session.house import Words
from aisle.local.session.keeper import Keeper
from aisle.local.session.lookout import Lookout
from aisle.local.session.open_line import HeldLines, OpenLine
from aisle.local.session.pinned import NO_PIN, Pin, pass_of
from aisle.local.session.stack import Level, Outcome, Stack
from aisle.local.session.terms import Rooms, Size, Terms, iso
from aisle.scan.meaning import Either, Open, Quantity, Thing, Times
from aisle.settings.time_zone import enter

if TYPE_CHECKING:
    from aisle.local.session.changing import OpenStore
    from aisle.local.session.trace import Trace
    from aisle.local.session.watch import Watch


class Desk(ABC):
    """The state of a session. Not for use from several threads."""

    open_store: OpenStore | None = None
    """Opens what this terminal needs to work in another store; None where it stays in its own."""
    say: Words | None = None
    """What messages say, for whoever looks for a command by its words."""
    in_sight: Callable[[Frame, int, int, int], int] | None = None
    """How many rows of a list such a screen (columns, rows) shows, of a window that has so many of them."""
    is_whole: Callable[[Frame, int, int], bool] | None = None
    """Whether such a screen shows all of a page at once."""
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
        self.is_layout_told = False
        """Whether it was said that the scanner's keyboard layout is not the terminal's."""
        self.guesses_told: set[str] = set()
        """Codes of which it was said that they were completed, and what they were read as."""
        self._terms = terms
        enter(terms.time_zone)
        self._trace = trace
        self._watch = watch
        self._call_courier = call_courier
        self._clock = clock
        self._name = name
        self._id = name()
        self._furnish(rooms)
        self._stack = Stack(self._answer, name)
        self._keeper = Keeper(rooms.journal, self._stack, self._id)
        self._who = SignIn("", "")
        self._line = OpenLine()
        self._held = HeldLines()
        self._useless_at = -math.inf
        """When the last line at a person's pace ended, where that was of no use."""
        self._unknown_until = 0.0
        """Until when a link that stalls may bring more of a scan that is unknown; in seconds of the monotonic clock."""
        self._is_letter_refused = False
        """Whether the last line that was refused for it was a single letter."""
        self._is_unknown_long = False
        """Whether that scan had several lines."""
        self._verdict: Verdict | None = None
        self._word: tuple[Verdict | None, Verdict | None] = (None, None)
        """What came by itself last: the answer to an input that it stands beside, and what is shown of both."""
        self._answered = 0.0
        """When something was answered last, in seconds since 1970."""
        self._turned = ""
        """What has come of the door to the service and is not told yet."""
        self._asking = NOTHING
        self._astray = astray.NOTHING
        self._paced: tuple[tuple[Any, ...], Quantity] | None = None
        """A number that came at scanner pace and waits for `y`, and the page that it is for."""
        self._queue = Queue()
        self._serial = 0
        self._counts = (0, 0)
        """What waited, and what was doubtful, when that could be read last."""
        self._size = Size()
        self._secrets = Secrets()
        self._pin = NO_PIN
        self._own: dict[str, Any] = {}
        """What the settings say of what somebody has changed on this terminal for himself."""
        self._closed = False
        self._last: Frame | None = None
        """What was to be shown last."""
        self._known: Context | None = None
        self._seen_person = ""
        """Whoever is signed in, once the store's people were seen to hold this person."""
        self._opened: tuple[Level, Open] | None = None
        """A page, as it was asked last what it has open."""

    def _furnish(self, rooms: Rooms) -> None:
        """Works in these rooms from now on."""
        self._rooms = rooms
        self._lookout = Lookout(
            rooms.reads, rooms.journal, rooms.bell, self._id, self._call_courier, lambda: self._clock()
        )
        self._lookout.token_file = whole(self._terms.token_file)
        self._ear = Ear(rooms.reads, self._terms.restricted)
        rooms.reads.pools = self._terms.pools

    # Beginning

    def _whose(self) -> SignIn:
        """Whom this terminal belongs to, nobody included."""
        shared = self._rooms.journal.is_held(self._terms.terminal)
        stay = None if shared else self._rooms.journal.stay(self._terms.terminal, self._terms.since)
        who = SignIn(stay.user, stay.name) if stay else SignIn("", "")
        if self._terms.user and self._terms.user != who.user:
            who = SignIn(self._terms.user, self._terms.user)
        return who

    def _start(self, who: SignIn | None = None) -> None:
        who = who or self._whose()
        if LANGUAGE not in self._own:
            self._speak_to(who.user)
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
            self._word = (None, self._verdict)

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
            self._ask_again(self._keeper.unanswered)
        if len(self._stack.levels) > 1:
            self._absorb(self._stack.feed(Resumed(), self._context()), "")

    def _ask_again(self, said: Either | Times | Thing | None) -> None:
        """What an end in mid-work left without an answer is asked again, and kept for whoever comes after that."""
        if said is None:
            return
        self._asking, self._verdict = asked_again(said, self._stack.levels)
        self._keeper.say(said, self._queue.at, "", self._context(), self._verdict)

    # What follows from it

    def _absorb(self, outcome: Outcome, raw: str) -> None:
        untold = self._keeper.has_writes
        self._keeper.add(outcome, self._queue.at, raw, self._context())
        if outcome.verdict:
            self._verdict = outcome.verdict
            self._answered = self._queue.at
            self._ring(outcome.verdict)
        self._asking = self._asking.on(self._stack.levels)
        if untold and outcome.covers and not self._commit():
            return  # a page over a job that has written: on the way back that job asks for what it has written
        for order in outcome.orders:
            self._obey(order)

    def _obey(self, order: Order) -> None:
        if isinstance(order, Quit):
            self.leaving = True
        elif isinstance(order, WorkIn):
            self._work_in(order.store)
        elif isinstance(order, Proved):
            self._pin = self._pin._replace(until=order.until, said=self._queue.at)
        elif isinstance(order, UndoLast):
            self._undo_last()
        elif isinstance(order, Tune):
            from aisle.local.session.tuning import tuned  # hardly ever, and no start pays for it

            self._terms, self._own = tuned(self._terms, self._own, order)
        else:
            self._change_hands(order)

    def _change_hands(self, order: SignIn | SignOut) -> None:
        """The terminal is another person's, or nobody's; what the one before had of his own goes with him, and the
        language that this one chose here before comes back."""
        self._keeper.stay(order)
        if not self._commit():
            return
        who = order if isinstance(order, SignIn) else SignIn("", "")
        if self._who.user not in ("", who.user):
            self._terms, self._own = self._terms._replace(**self._own), {}
        if who.user != self._who.user:
            self._speak_to(who.user)
        self._enter(who)

    def _speak_to(self, user: str) -> None:
        """In the language that this person chose on this host, if he did and that can be read."""
        rows: Sequence[Mapping[str, Any]] = ()
        with suppress(StorageError):
            rows = self._rooms.reads.query("language", {"user": user})[0] if user else ()
        if rows:
            from aisle.local.session.tuning import spoken

            self._terms, self._own = spoken(self._terms, self._own, str(rows[0]["language"]))

    @abstractmethod
    def _undo_last(self) -> None:
        """Undoes what whoever is signed in did last on this host."""

    @abstractmethod
    def _work_in(self, store: str) -> None:
        """Goes on in another store, as the same person."""

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
            self._queue, self.leaving = self._queue._replace(failed=True), False
            self._verdict = Verdict(WRONG, msg("session.not_saved", why=self._why(error)))
            self.bells = 3
            if self._trace:
                self._trace.lost(self._verdict)
            return False
        return True

    def _keep(self) -> None:
        """The same, and those who wait for it are told. Raises StorageError."""
        secrets = self._keeper.secrets
        asked = self._asking.on(self._stack.levels).remembered()
        if asked and self._verdict and not self._keeper.is_last(asked):
            self._keeper.say(asked, self._queue.at, "", self._context(), self._verdict)
        own = principal_of(self._who.user) if self._keeper.supervises and self._pass()["wanted"] else ""
        wakes = self._keeper.keep(Author(self._terms.store, self._who.user, terminal=self._terms.terminal, own=own))
        self._queue = self._queue._replace(unkept=0)
        if self._trace:
            self._trace.kept()
        self._secrets.confide(self._rooms, secrets)
        if wakes:
            self._lookout.shows(self._stack.top.topics)  # before anything comes of it
            self._rooms.bell.ring_courier()

    @abstractmethod
    def _why(self, error: StorageError) -> Msg:
        """Why it could not be made durable, and what was done about it, or has to be done."""

    def _hand_on(self) -> None:
        """A courier that was not there yet, or did not hear it, is told again what no file holds."""
        self._secrets.again(self._rooms)

    # What it knows

    def _begin(self, seen: tuple[Any, ...] = ()) -> None:
        """One drained queue is one moment: what came in one read happened together."""
        self._queue = Queue(self._clock(), seen, self._asking)
        self._known = None
        self._ear.forget(is_held=bool(self._held.lines))

    @property
    def has_pass(self) -> bool:
        """Whether what needs the PIN of whoever stands here can be sent."""
        return bool(self._pass()["there"])

    def _pass(self) -> Mapping[str, Any]:
        """How it stands with the PIN of whoever is signed in."""
        return pass_of(self._rooms.reads, self._who.user, self._context().now)

    def _open(self) -> Open:
        """What an input may be on the page on the screen, under what the session itself asks; each page is asked once,
        however much is scanned there."""
        top = self._stack.top
        if self._opened is None or self._opened[0] is not top:
            self._opened = top, top.job.open(top.state)
        return self._asking.open(self._opened[1])

    def _answer(self, query: Query | Export) -> Rows:
        return answer(query, self._rooms.reads, self._terms, self._size, self.say)

    def _context(self) -> Context:
        if self._known is None:
            self._known = Context(
                store=self._terms.store,
                user=self._who.user,
                name=self._who.name,
                now=iso(self._queue.at),
                policy=self._terms.policy,
                rows=self._size.listed,
                terminal=self._terms.terminal,
                aside=self._size.aside,
            )
        return self._known
