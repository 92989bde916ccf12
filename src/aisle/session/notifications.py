"""Watches the courier and the notifications of other processes, and says what has changed."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress

import apsw

from aisle.cache.reader import CacheReader
from aisle.errors import StorageError
from aisle.host.courier_monitor import CourierMonitor
from aisle.host.notify_sockets import LINK, OUTBOX, REFUSAL, REQUEST, SYNC, WAITING, SessionSocket, matching_topics
from aisle.jobs.job import Changed
from aisle.jobs.view import LinkState
from aisle.outbox.journal import Journal
from aisle.outbox.outcome_reasons import NO_STORE, NO_TOKEN, stored_detail

HEARTBEAT_S = 60.0
"""Seconds between two signs of life in the journal."""

COURIER_START_S = 10.0
"""Seconds that a courier that was called has to come."""

RETRY_START_S = 2.0
"""Seconds after which another is called for one that came and is gone already."""

REPLACE_COURIER_S = 60.0
"""Seconds after which another is called beside one of an older program, or with another token, that has not left."""

MAX_KEYED_CHANGES = 4
"""Changes at once beyond which a job is only told of their topics."""

STALE_S = 90.0
"""Seconds without an answer of the service after which nobody may call the link live."""


_FULL_CHECK_TOPICS = frozenset((LINK, OUTBOX, REFUSAL, REQUEST))
"""What is seen by a look at everything alone."""

LASTING_STATES = ("refused", "stuck", "renewed")
"""States of the link that do not pass by themselves, or not soon: they are said, and not only shown."""

REPEAT_S = 60.0
"""Seconds after which it is told again: a scan may have hidden it."""


RESTORE_REPORTED_S = 600.0
"""So long after a restore who comes is told of it, too."""

FULL_CHECK_S = 5.0
"""Seconds after which all is looked at, rung or not: so long at most a screen shows what is not so any more."""


class Notifications:
    """One session's. Not for use from several threads."""

    def __init__(
        self,
        reader: CacheReader,
        journal: Journal,
        socket: SessionSocket,
        session_id: str,
        start_courier: Callable[[], None],
        clock: Callable[[], float],
    ) -> None:
        self._reads = reader
        self._journal = journal
        self._socket = socket
        self._session_id = session_id
        self._start_courier = start_courier
        self._clock = clock
        self.token_file = ""
        """The whole path of the token that a courier goes by that is called from here."""
        self._courier_monitor = CourierMonitor(socket.store_folder, clock)
        self._courier_started_at = float("-inf")
        self._has_come = False
        """Whether the one that was called was seen at work."""
        self._heartbeat_at = 0.0
        self._is_courier_there = False
        """Whether a courier's doorbell hung there at the last look."""
        self._cache_position = 0
        self._outbox_version = 0
        """What the outbox stood at when its changes were told last."""
        self._next_position: tuple[int, int] | None = None
        """What `heard` makes of the two; None when only what was rung for was looked at."""
        self._checked_at = float("-inf")
        """When all was looked at last."""
        self._subscription: frozenset[str] | None = None
        """What the courier was told that this screen shows; None when it may not know."""
        self._awaits_sending = False
        """Whether it was told that something is shown to wait."""
        self._restore_number = 0
        """The last restore of the service that was told."""
        self._link_state: tuple[str, ...] = ()
        """Of the link, as it was told last."""
        self._reported_state = ("", 0.0)
        """Which of `TROUBLE` was told last, and when; empty while there is none."""

    def start(self) -> None:
        """What is there now is no news."""
        self._is_courier_there = self._socket.is_courier_listening()
        self._cache_position = self._reads.changes(0)[0]
        self._outbox_version = self._reads.data_version()[1]
        self._link_state = self._link_for_pages()
        self._restore_number = self._journal.last_restore_number(before=self._clock() - RESTORE_REPORTED_S)

    def resume(self) -> None:
        """The same after another lookout, on files that were put back: nobody knows what has changed since its last
        look, so all of it is news."""
        self.start()
        self._cache_position = self._outbox_version = 0

    def _link_for_pages(self) -> tuple[str, ...]:
        """What of the link changes what pages say."""
        link = self.link()
        return (link.state, *link.unread_lists)

    def heartbeat(self) -> None:
        """A sign of life now and then; one that cannot be written now is written the next time.

        Raises StorageError when a newer program has taken the files over: then this one has to go.
        """
        self._journal.check_not_newer()
        now = self._clock()
        if abs(now - self._heartbeat_at) >= HEARTBEAT_S:
            self._heartbeat_at = now
            with suppress(StorageError):
                self._journal.record_heartbeat(self._session_id)

    def keep_courier(self) -> None:
        """Calls a courier where there is none; one that was called has a moment to come.

        One that is there and does nothing any more is ended, when that is sure: its heir takes over. Beside one of an
        older program this program's is called, which asks it to leave; beside one that nobody lets in with its token,
        one with the token of this session.
        """
        self._is_courier_there = self._socket.is_courier_listening()
        if self._is_courier_there:
            self._has_come = True
            self._courier_monitor.check()
            if not (self._courier_monitor.is_older_version or self._has_another_token()):
                return
            patience = REPLACE_COURIER_S
        else:
            self._courier_monitor.reset()
            patience = RETRY_START_S if self._has_come else COURIER_START_S
        if abs(self._clock() - self._courier_started_at) >= patience:
            self._courier_started_at, self._has_come = self._clock(), False
            with suppress(StorageError, OSError):  # no process to be had: called again later
                self._start_courier()

    def _has_another_token(self) -> bool:
        """Whether the courier in office is let in by nobody, and goes by another token than this session's."""
        if self.token_file in ("", self._courier_monitor.token_file):
            return False
        try:
            return self._reads.link(self._clock()).state == "refused"
        except (apsw.Error, StorageError):
            return False

    # What is on the screen

    def subscribe(self, topics: frozenset[str]) -> None:
        """Tells the courier what this session is to be rung for, when it is something else than before."""
        if topics != self._subscription:
            self._subscription = topics if self._socket.subscribe(topics) else None

    def subscribe_waiting(self) -> None:
        """Says, too, that something is shown to wait that others have noted: once, until nothing waits any more."""
        if self._subscription is not None and not self._awaits_sending:
            self._awaits_sending = self._socket.subscribe((*self._subscription, WAITING))

    def is_full_check_due(self) -> bool:
        """Whether it is time to look at everything."""
        return not 0 <= self._clock() - self._checked_at < FULL_CHECK_S

    def changes_of_topics(self, notified: Collection[str], subscription: frozenset[str]) -> list[Changed] | None:
        """What these rings say of what is shown; None where all has to be looked at to know it.

        Who is rung for what he does not show tells again what he does: the courier may be another one. Raises
        StorageError where nothing can be read.
        """
        if not _FULL_CHECK_TOPICS.isdisjoint(notified):
            return None
        self._reads.data_version()  # or nothing can be read
        found, _ = matching_topics(notified, subscription | {WAITING})
        if not found:
            self._subscription = None
        if WAITING in found:
            self._awaits_sending = False
        topics = [topic for topic in found if topic not in (WAITING, SYNC)]
        if len(topics) > MAX_KEYED_CHANGES:
            topics = sorted({topic.partition("/")[0] for topic in topics})
        self._next_position = None
        return [Changed(name, key) for name, _, key in (topic.partition("/") for topic in topics)]

    def all_changes(self) -> list[Changed]:
        """What has changed since it was last `heard`."""
        self._checked_at = self._clock()
        position, changes = self._reads.changes(self._cache_position)
        told = (
            changes if len(changes) <= MAX_KEYED_CHANGES else list(dict.fromkeys((topic, "") for topic, _ in changes))
        )
        overdue = self._expire_requests()
        sent = self._reads.data_version()[1]
        if sent != self._outbox_version or overdue:
            told = [*told, ("outbox", "")]
        state = self._link_for_pages()
        if state != self._link_state:
            told, self._link_state = [*told, ("link", "")], state
        self._next_position = position, sent
        return [Changed(*change) for change in told]

    def _expire_requests(self) -> bool:
        """Whether something that was asked for has run out of time. A file that cannot be read or written is told of by
        whoever has something to keep there."""
        try:
            return self._journal.expire_requests()
        except (apsw.Error, StorageError):
            return False

    def acknowledge(self) -> None:
        """What followed from the news is kept; they are told no more."""
        if self._next_position is not None:
            self._cache_position, self._outbox_version = self._next_position

    def link_message(self) -> str:
        """What has come of the link that has to be said: a state of `TROUBLE` when it begins, and every minute as long
        as it lasts; `open` when the service lets this host in again, `going` when the courier works again."""
        state, now = self.link().state, self._clock()
        before, at = self._reported_state
        if state in LASTING_STATES and (state != before or abs(now - at) >= REPEAT_S):
            self._reported_state = state, now
            return state
        if state in ("live", "partial", "syncing") and before:
            self._reported_state = "", 0.0
            return "open" if before == "refused" else "going"
        return ""

    def resent_after_restore(self) -> int | None:
        """How many operations are sent again, or looked for, after a restore of the service that nobody was told of
        here; None without one."""
        found = self._journal.restores_after(self._restore_number)
        return sum(one.again + one.looked_for for one in found) if found else None

    def acknowledge_restore(self) -> None:
        """It was told."""
        self._restore_number = self._journal.last_restore_number()

    def token_error(self) -> str:
        """What is wrong with the file of the token, where that is why nobody is let in; else empty."""
        return stored_detail(self._reads.why_refused(), NO_TOKEN)

    def suggested_store(self) -> str:
        """The store that may have been meant by that of the settings, where there is none of its number; else empty."""
        return stored_detail(self._reads.why_refused(), NO_STORE)

    def refused_token_file(self) -> str:
        """The file whose token was refused, as the courier in office says it; empty where that is this session's."""
        return "" if self._courier_monitor.token_file == self.token_file else self._courier_monitor.token_file

    def link(self) -> LinkState:
        """The state of the link as it can be vouched for: who keeps it up may be gone, or stuck."""
        link = self._reads.link(self._clock())
        if self._reads.is_outdated:
            return link._replace(state="renewed")
        if self._is_courier_there and self._courier_monitor.is_hung:
            return link._replace(state="stuck", heartbeat_age_s=self._courier_monitor.heartbeat_age)
        if link.state in ("live", "partial", "syncing") and not self._is_courier_there:
            return link._replace(state="none")
        if link.state in ("live", "partial") and link.age_s > STALE_S:
            return link._replace(state="offline")
        return link
