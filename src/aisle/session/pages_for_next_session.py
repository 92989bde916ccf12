"""Pages that a person left at a desk, kept for the next session: with filter, sort, cursor and open question.

Each terminal keeps its own, as each window of a browser has its own page; a terminal without any shows those that the
person left last. Work is resumed from the journal (aisle.session.resume_jobs); here is only its place among the pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

from aisle import named_tuple_json
from aisle.errors import StorageError
from aisle.jobs import JOBS
from aisle.jobs.job import LocalNote
from aisle.outbox.local_notes import PAGES
from aisle.outbox.operation_record import Author
from aisle.session.job_context import SessionContext
from aisle.session.job_stack import HELP_PAGES, WITHOUT_WORK, StackedJob
from aisle.session.page_with_question import Page
from aisle.session.store_connection import StoreConnection
from aisle.session.terminal_settings import ProfileInForce

_TYPED: Final = "typed"
"""Field of a page that follows what is typed; the next session begins with an empty line."""


class KeptPage(NamedTuple):
    """Page of a stack, or the place of a job with work."""

    job: str
    version: int
    job_id: str
    """Id in the journal; empty for a page that is not journalled."""
    state: str
    """Text of the state; empty for a job with work."""


class KeptPages:
    """Pages of the person who is signed in."""

    def __init__(self, page: Page, context: SessionContext, profile: ProfileInForce, store: StoreConnection) -> None:
        self._page = page
        self._context = context
        self._profile = profile
        self._store = store
        self._kept: tuple[KeptPage, ...] = ()
        """Pages that were loaded and are not shown yet."""
        self._question: tuple[Any, ...] = ()
        """Page that asks for a confirmation and is kept; empty for none."""

    def keep(self) -> None:
        """Keep the pages of the person. That they cannot be stored is no reason to stay."""
        user, profile = self._context.user.user, self._profile.current
        if not user:
            return
        with suppress(StorageError):
            text = named_tuple_json.to_text(_pages_of(self._page.stack.jobs))
            notes = [LocalNote(PAGES, key, text) for key in self._keys(user)]
            self._store.unit_of_work.store_notes(notes, Author(profile.store, user, terminal=profile.terminal))

    def keep_question(self) -> None:
        """Keep the pages when one that is not journalled asks for a confirmation, and when it no longer does.

        So the question stands after the program was killed.
        """
        is_asked = not self._page.top.job.journalled and self._page.accepts().typed_only
        question = self._page.identity if is_asked else ()
        if question != self._question:
            self._question = question
            self.keep()

    def load(self, user: str) -> frozenset[str] | None:
        """Load the pages of a person. Return the ids of those in the journal; None if none are kept here."""
        self._kept = ()
        with suppress(StorageError):
            for key in self._keys(user):
                if text := self._store.journal.find_note(PAGES, key):
                    self._kept = _read(text)
                    return frozenset(page.job_id for page in self._kept)
        return None

    def restore(self) -> bool:
        """Put the loaded pages on the screen, once. Return whether there were any; other work comes first."""
        kept, self._kept = self._kept, ()
        first, *resumed = self._page.stack.jobs
        by_id = {stacked.job_id: stacked for stacked in resumed}
        if not kept or not by_id.keys() <= {page.job_id for page in kept}:
            return False
        restored = [stacked for page in kept if (stacked := _restored(page, by_id.get(page.job_id)))]
        self._page.stack.restore([first, *restored])
        return bool(restored)

    def _keys(self, user: str) -> tuple[str, str]:
        """Return the keys of the notes: for this terminal, and for all others."""
        return f"{user} {self._profile.current.terminal}", user


def _pages_of(stacked_jobs: Sequence[StackedJob]) -> tuple[KeptPage, ...]:
    """Return what to keep of the jobs above home."""
    return tuple(page for stacked in stacked_jobs[1:] if (page := _page_of(stacked)))


def _page_of(stacked: StackedJob) -> KeptPage | None:
    name, version = stacked.job.name, stacked.job.version
    if name in WITHOUT_WORK and name not in HELP_PAGES:
        return KeptPage(name, version, stacked.job_id, named_tuple_json.to_text(_without_typed(stacked.state)))
    return KeptPage(name, version, stacked.job_id, "") if stacked.job_id else None


def _without_typed(state: Any) -> Any:
    return state._replace(typed="") if _TYPED in state._fields else state


def _read(text: str) -> tuple[KeptPage, ...]:
    """Return the kept pages that this program knows."""
    try:
        pages: Iterable[KeptPage] = named_tuple_json.from_text(tuple[KeptPage, ...], text)
    except Exception:  # another version wrote it
        return ()
    return tuple(page for page in pages if page.job in JOBS and JOBS[page.job].version == page.version)


def _restored(page: KeptPage, resumed: StackedJob | None) -> StackedJob | None:
    """Return a page as it was left; None if this program cannot read it, or if it was closed elsewhere."""
    if not page.state or (page.job_id and resumed is None):
        return resumed
    job = JOBS[page.job]
    try:
        state = named_tuple_json.from_text(job.state_type, page.state)
        job.view(state)
    except Exception:  # whatever it is, it must not keep anybody from starting the program
        return resumed
    return resumed._replace(state=state) if resumed else StackedJob(job, state, "", {})
