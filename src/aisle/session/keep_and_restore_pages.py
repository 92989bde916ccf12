"""Pages kept for the next session: those that a person left at a desk, and any that asks for a confirmation.

Pages of a desk keep filter, sort, cursor and open question. Each terminal keeps its own, as each window of a browser
has its own page; a terminal without any shows those that the person left last. A confirmation is also kept on a
handheld, at its terminal only and while it is open. Work is resumed from the journal (aisle.session.unit_of_work); here
is only its place among the pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from aisle import named_tuple_json
from aisle.errors import StorageError
from aisle.jobs import JOBS
from aisle.jobs.job import LocalNote
from aisle.outbox.local_notes import PAGES, QUESTION
from aisle.outbox.operation_record import Author
from aisle.session.event_runner import SessionPart
from aisle.session.job_stack import HELP_PAGES, WITHOUT_WORK, StackedJob

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


@dataclass(eq=False)
class KeptPages(SessionPart):
    """Pages of the person who is signed in."""

    def __post_init__(self) -> None:
        self._kept: tuple[KeptPage, ...] = ()
        """Pages that were loaded and are not shown yet."""
        self.has_question = False
        """Whether the pages that were loaded ask for a confirmation."""
        self._question: tuple[Any, ...] = ()
        """What is kept of a confirmation: its page, or the topic of a loaded note; empty for none."""

    def keep(self) -> None:
        """Keep the pages of the person."""
        self._store_notes(*((PAGES, key, self._text()) for key in self._keys(self._context.user.user)))

    def keep_question(self) -> bool:
        """Keep the pages while one that is not journalled asks for a confirmation. Return whether that changed.

        So the question stands after the program was killed.
        """
        question = self._asked()
        if question == self._question:
            return False
        self._question = question
        terminal_key, _ = self._keys(self._context.user.user)
        self._store_notes((QUESTION, terminal_key, self._text() if question else ""))
        return True

    def load(self, user: str) -> frozenset[str] | None:
        """Load the pages of a person. Return the ids of those in the journal; None if none are kept here."""
        self._kept, self.has_question = (), False
        terminal_key, person_key = self._keys(user)
        with suppress(StorageError):
            for topic, key in ((QUESTION, terminal_key), (PAGES, terminal_key), (PAGES, person_key)):
                if text := self._store.journal.find_note(topic, key):
                    self._kept, self.has_question = _read(text), topic == QUESTION
                    self._question = (topic,) if self.has_question else ()
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

    def _asked(self) -> tuple[Any, ...]:
        """Return the identity of a page that is not journalled and asks for a confirmation; empty for another page."""
        is_asked = not self._page.top.job.journalled and self._page.accepts().typed_only
        return self._page.identity if is_asked else ()

    def _text(self) -> str:
        """Return the pages above home as text."""
        return named_tuple_json.to_text(_pages_of(self._page.stack.jobs))

    def _store_notes(self, *notes: tuple[str, str, str]) -> None:
        """Store (topic, key, text) for the person. That they cannot be stored is no reason to stay."""
        user, profile = self._context.user.user, self._profile.current
        if not user:
            return
        with suppress(StorageError):
            author = Author(profile.store, user, terminal=profile.terminal)
            self._store.unit_of_work.store_notes([LocalNote(*note) for note in notes], author)

    def _keys(self, user: str) -> tuple[str, str]:
        """Return the keys of the notes: for this terminal, and for all others."""
        return f"{user} {self._profile.current.terminal}", user


def _pages_of(stacked_jobs: Sequence[StackedJob]) -> tuple[KeptPage, ...]:
    """Return what to keep of the jobs above home."""
    return tuple(page for stacked in stacked_jobs[1:] if (page := _page_of(stacked)))


def _page_of(stacked: StackedJob) -> KeptPage | None:
    job = stacked.job
    name, version = job.name, job.version
    is_page = name in WITHOUT_WORK or not job.journalled
    if is_page and name not in HELP_PAGES and not job.raw_input:
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
