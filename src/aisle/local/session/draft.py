"""What has happened since the last commit, gathered until it is made durable in one transaction."""

from __future__ import annotations

from collections.abc import Iterable

from aisle.jobs import codec
from aisle.jobs.base import Ask, Context, Event, Remark, Settle, SignIn, SignOut, Wish, Write
from aisle.jobs.view import Verdict
from aisle.local.outbox.journal import Batch, Entry, NewJob, Snapshot
from aisle.local.outbox.operation import Author
from aisle.local.session.stack import Level


class Draft:
    """One batch in the making; `levels` is where the jobs stood when it began, to go back to if it cannot be kept."""

    def __init__(self, levels: tuple[Level, ...] = ()) -> None:
        self.levels = levels
        self.entries: list[Entry] = []
        self.writes: list[tuple[int, Write]] = []
        self.settles: list[Settle] = []
        self.remarks: list[Remark] = []
        self.opened: list[NewJob] = []
        self.closed: list[str] = []
        self.wishes: list[Wish] = []
        self.asks: list[tuple[str, Ask]] = []
        self.stay: SignIn | SignOut | None = None
        self._context: Context | None = None
        self._facts = ""

    @property
    def empty(self) -> bool:
        """True while there is nothing to keep."""
        return not (self.entries or self.opened or self.closed or self.wishes or self.stay is not None)

    def enter(
        self,
        ref: str,
        at: float,
        raw: str,
        event: Event,
        context: Context,
        before: str,
        after: str,
        verdict: Verdict | None,
    ) -> int:
        """Adds one event and returns its index; what it was resolved to and what it was based on are kept with it."""
        if context is not self._context:
            self._context, self._facts = context, codec.to_text(context)
        self.entries.append(
            Entry(
                job_id=ref,
                at=at,
                occurred=context.now,
                raw=raw,
                kind=type(event).__name__,
                event=codec.to_text(event),
                facts=self._facts,
                step_before=before,
                step_after=after,
                verdict=verdict.text.id if verdict else "",
            )
        )
        return len(self.entries) - 1

    def batch(
        self,
        session_id: str,
        terminal: str,
        author: Author,
        states: list[tuple[str, str]],
        holds: Iterable[tuple[str, tuple[str, ...]]] = (),
    ) -> Batch:
        """All of it for the journal; `states` are (job_id, state) after the last entry, `holds` (job_id, orders)."""
        last = len(self.entries) - 1
        return Batch(
            session_id=session_id,
            terminal=terminal,
            author=author,
            opened=tuple(self.opened),
            entries=tuple(self.entries),
            writes=tuple(self.writes),
            settles=tuple(self.settles),
            remarks=tuple(self.remarks),
            snapshots=tuple(Snapshot(job_id, text, last) for job_id, text in states),
            closed=tuple(self.closed),
            stay=self.stay,
            wishes=tuple(self.wishes),
            holds=tuple(holds),
            asks=tuple(self.asks),
        )
