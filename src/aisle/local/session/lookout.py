"""What a session looks after beside its inputs: news in cache and outbox, a courier at work, its own sign of life.

All of it is done as well as it can be: trouble here passes, and must not end anybody's work.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress

import apsw

from aisle.errors import StorageError
from aisle.jobs.base import Changed
from aisle.jobs.view import Link
from aisle.local.host.pulse import Pulse
from aisle.local.host.signals import ASK, LINK, OUTBOX, REFUSAL, SYNC, WAITING, Bell, concerning
from aisle.local.outbox.journal import Journal
from aisle.local.reads.reads import Reads
from aisle.local.told import NO_STORE, NO_TOKEN, detail_of

HEARTBEAT = 60.0
"""Seconds between two signs of life in the journal."""

PATIENCE = 10.0
"""Seconds that a courier that was called has to come."""

AGAIN = 2.0
"""Seconds after which another is called for one that came and is gone already."""

OLD_S = 60.0
"""Seconds after which another is called beside one of an older program, or with another token, that has not left."""

MANY = 4
"""Changes at once beyond which a job is only told of their topics."""

STALE = 90.0
"""Seconds without an answer of the service after which nobody may call the link live."""


_OF_ALL = frozenset((LINK, OUTBOX, REFUSAL, ASK))
"""What is seen by a look at everything alone."""

TROUBLE = ("refused", "stuck", "renewed")
"""States of the link that do not pass by themselves, or not soon: they are said, and not only shown."""

TELL_AGAIN = 60.0
"""Seconds after which it is told again: a scan may have hidden it."""


RESTORED_S = 600.0
"""So long after a restore who comes is told of it, too."""

LOOK_S = 5.0
"""Seconds after which all is looked at, rung or not: so long at most a screen shows what is not so any more."""


class Lookout:
    """One session's. Not for use from several threads."""

    def __init__(
        self,
        reads: Reads,
        journal: Journal,
        bell: Bell,
        session_id: str,
        call_courier: Callable[[], None],
        clock: Callable[[], float],
    ) -> None:
        self._reads = reads
        self._journal = journal
        self._bell = bell
        self._session_id = session_id
        self._call_courier = call_courier
        self._clock = clock
        self.token_file = ""
        """The whole path of the token that a courier goes by that is called from here."""
        self._pulse = Pulse(bell.home, clock)
        self._called = float("-inf")
        self._came = False
        """Whether the one that was called was seen at work."""
        self._beat = 0.0
        self._there = False
        """Whether a courier's doorbell hung there at the last look."""
        self._seen = 0
        self._sent = 0
        """What the outbox stood at when its changes were told last."""
        self._next: tuple[int, int] | None = None
        """What `heard` makes of the two; None when only what was rung for was looked at."""
        self._looked = float("-inf")
        """When all was looked at last."""
        self._shown: frozenset[str] | None = None
        """What the courier was told that this screen shows; None when it may not know."""
        self._awaits = False
        """Whether it was told that something is shown to wait."""
        self._restore = 0
        """The last restore of the service that was told."""
        self._state: tuple[str, ...] = ()
        """Of the link, as it was told last."""
        self._trouble = ("", 0.0)
        """Which of `TROUBLE` was told last, and when; empty while there is none."""

    def begin(self) -> None:
        """What is there now is no news."""
        self._there = self._bell.courier_there()
        self._seen = self._reads.changes(0)[0]
        self._sent = self._reads.data_version()[1]
        self._state = self._told_of()
        self._restore = self._journal.last_restore(before=self._clock() - RESTORED_S)

    def go_on(self) -> None:
        """The same after another lookout, on files that were put back: nobody knows what has changed since its last
        look, so all of it is news."""
        self.begin()
        self._seen = self._sent = 0

    def _told_of(self) -> tuple[str, ...]:
        """What of the link changes what pages say."""
        link = self.link()
        return (link.state, *link.unread)

    def beat(self) -> None:
        """A sign of life now and then; one that cannot be written now is written the next time.

        Raises StorageError when a newer program has taken the files over: then this one has to go.
        """
        self._journal.make_room()
        now = self._clock()
        if abs(now - self._beat) >= HEARTBEAT:
            self._beat = now
            with suppress(StorageError):
                self._journal.seen(self._session_id)

    def keep_courier(self) -> None:
        """Calls a courier where there is none; one that was called has a moment to come.

        One that is there and does nothing any more is ended, when that is sure: its heir takes over. Beside one of an
        older program this program's is called, which asks it to leave; beside one that nobody lets in with its token,
        one with the token of this session.
        """
        self._there = self._bell.courier_there()
        if self._there:
            self._came = True
            self._pulse.look()
            if not (self._pulse.is_old or self._has_another_token()):
                return
            patience = OLD_S
        else:
            self._pulse.forget()
            patience = AGAIN if self._came else PATIENCE
        if abs(self._clock() - self._called) >= patience:
            self._called, self._came = self._clock(), False
            with suppress(StorageError, OSError):  # no process to be had: called again later
                self._call_courier()

    def _has_another_token(self) -> bool:
        """Whether the courier in office is let in by nobody, and goes by another token than this session's."""
        if self.token_file in ("", self._pulse.token_file):
            return False
        try:
            return self._reads.link(self._clock()).state == "refused"
        except (apsw.Error, StorageError):
            return False

    # What is on the screen

    def shows(self, page: frozenset[str]) -> None:
        """Tells the courier what this session is to be rung for, when it is something else than before."""
        if page != self._shown:
            self._shown = page if self._bell.show(page) else None

    def waits(self) -> None:
        """Says, too, that something is shown to wait that others have noted: once, until nothing waits any more."""
        if self._shown is not None and not self._awaits:
            self._awaits = self._bell.show((*self._shown, WAITING))

    def is_due(self) -> bool:
        """Whether it is time to look at everything."""
        return not 0 <= self._clock() - self._looked < LOOK_S

    def rung_for(self, rung: Collection[str], shown: frozenset[str]) -> list[Changed] | None:
        """What these rings say of what is shown; None where all has to be looked at to know it.

        Who is rung for what he does not show tells again what he does: the courier may be another one. Raises
        StorageError where nothing can be read.
        """
        if not _OF_ALL.isdisjoint(rung):
            return None
        self._reads.data_version()  # or nothing can be read
        found, _ = concerning(rung, shown | {WAITING})
        if not found:
            self._shown = None
        if WAITING in found:
            self._awaits = False
        topics = [topic for topic in found if topic not in (WAITING, SYNC)]
        if len(topics) > MANY:
            topics = sorted({topic.partition("/")[0] for topic in topics})
        self._next = None
        return [Changed(name, key) for name, _, key in (topic.partition("/") for topic in topics)]

    def news(self) -> list[Changed]:
        """What has changed since it was last `heard`."""
        self._looked = self._clock()
        position, changes = self._reads.changes(self._seen)
        told = changes if len(changes) <= MANY else list(dict.fromkeys((topic, "") for topic, _ in changes))
        overdue = self._ended()
        sent = self._reads.data_version()[1]
        if sent != self._sent or overdue:
            told = [*told, ("outbox", "")]
        state = self._told_of()
        if state != self._state:
            told, self._state = [*told, ("link", "")], state
        self._next = position, sent
        return [Changed(*change) for change in told]

    def _ended(self) -> bool:
        """Whether something that was asked for has run out of time. A file that cannot be read or written is told of by
        whoever has something to keep there."""
        try:
            return self._journal.overdue()
        except (apsw.Error, StorageError):
            return False

    def heard(self) -> None:
        """What followed from the news is kept; they are told no more."""
        if self._next is not None:
            self._seen, self._sent = self._next

    def turned(self) -> str:
        """What has come of the link that has to be said: a state of `TROUBLE` when it begins, and every minute as long
        as it lasts; `open` when the service lets this host in again, `going` when the courier works again."""
        state, now = self.link().state, self._clock()
        before, at = self._trouble
        if state in TROUBLE and (state != before or abs(now - at) >= TELL_AGAIN):
            self._trouble = state, now
            return state
        if state in ("live", "partial", "syncing") and before:
            self._trouble = "", 0.0
            return "open" if before == "refused" else "going"
        return ""

    def restored(self) -> int | None:
        """How many operations are sent again, or looked for, after a restore of the service that nobody was told of
        here; None without one."""
        found = self._journal.restores_after(self._restore)
        return sum(one.again + one.looked_for for one in found) if found else None

    def told_restore(self) -> None:
        """It was told."""
        self._restore = self._journal.last_restore()

    def no_token(self) -> str:
        """What is wrong with the file of the token, where that is why nobody is let in; else empty."""
        return detail_of(self._reads.why_refused(), NO_TOKEN)

    def nearest_store(self) -> str:
        """The store that may have been meant by that of the settings, where there is none of its number; else empty."""
        return detail_of(self._reads.why_refused(), NO_STORE)

    def token_in_use(self) -> str:
        """The file whose token was refused, as the courier in office says it; empty where that is this session's."""
        return "" if self._pulse.token_file == self.token_file else self._pulse.token_file

    def link(self) -> Link:
        """The state of the link as it can be vouched for: who keeps it up may be gone, or stuck."""
        link = self._reads.link(self._clock())
        if self._reads.is_outdated:
            return link._replace(state="renewed")
        if self._there and self._pulse.is_late:
            return link._replace(state="stuck", silent=self._pulse.silent)
        if link.state in ("live", "partial", "syncing") and not self._there:
            return link._replace(state="none")
        if link.state in ("live", "partial") and link.age > STALE:
            return link._replace(state="offline")
        return link
