"""A session: the jobs on one terminal, fed with decoded inputs, each of them durable before the screen says so.

`take` is the whole way round on this host: inputs → readings → candidates → meaning → job → effects → one commit →
frame. It needs neither a network nor a terminal, and never waits for one.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from aisle.errors import StorageError
from aisle.jobs.base import Changed, Resumed, listens, shows_written
from aisle.jobs.view import Frame, ListWindow, Msg, Step
from aisle.local.db import Gone
from aisle.local.host.troubles import why_of
from aisle.local.session.desk import Desk
from aisle.local.session.held_lines import is_idle, take_items
from aisle.local.session.news import look
from aisle.local.session.open_line import meant_for
from aisle.local.session.screen import frame, view
from aisle.local.session.taking import lose
from aisle.local.session.terms import Size
from aisle.scan.inputs import Decoded


class Session(Desk):
    """What a screen has of the desk behind it. Not for use from several threads."""

    def start(self) -> Frame:
        """Signs in whoever this terminal belongs to, on the step where the work was left."""
        self._begin()
        self._start()
        self._commit()
        return self._frame()

    def take(self, items: Sequence[Decoded], at: float) -> Frame:
        """Applies all inputs in their order, makes them durable in one transaction, and says what to show."""
        if self._last and is_idle(self, items):
            return self._last
        self._begin(meant_for(self._stack.levels))
        self._answered = self._queue.at
        number = take_items(self, items, at)
        if self._queue.failed:
            lose(self, items[number:])
            return self._frame()
        wrote = self._keeper.has_writes
        if self._commit():
            if wrote:
                self._show_written()
            self._verdict = self._queue.covered.over(self._verdict)
        else:
            lose(self, ())
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

    def keep_courier(self) -> None:
        """Calls a courier where there is none."""
        self._lookout.keep_courier()

    def resize(self, columns: int, rows: int) -> Frame:
        """The screen has another size: lists ask for as many rows as it can show."""
        self._begin()
        self._size = Size(columns, rows)
        self._stack.refill(self._context())
        if isinstance(view(self), ListWindow | Step) or listens(self._stack.top.job):
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

    def _frame(self) -> Frame:
        return frame(self)

    # What hardly ever happens, and no start pays for

    def _work_in(self, store: str) -> None:
        from aisle.local.session.moving import work_in

        work_in(self, store)

    def _undo_last(self) -> None:
        from aisle.local.session.undo_last import undo_last

        undo_last(self)

    def _why(self, error: StorageError) -> Msg:
        if not isinstance(error, Gone):
            return why_of(error)
        from aisle.local.session.reopening import stood_again

        return stood_again(self)
