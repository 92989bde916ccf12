"""How far a sync has come: kept in the cache, in the same transaction as the rows that it speaks of."""

from __future__ import annotations

from typing import Any, NamedTuple

from aisle.cache.writer import CacheWriter
from aisle.outbox.outcome_reasons import DUPLICATE_KEY, NO_MESSAGE, StoredMessage, UnusableRows

PROGRESS_CURSOR = "full"


class StagePosition(NamedTuple):
    """A position inside one stage."""

    stage: str
    generation: int
    next: int = 1
    """The page, or the lowest id, to be asked for next."""
    by_id: bool = False
    first_total: int = -1
    """What the list counted when the walk began; -1 where it does not count."""
    last_total: int = -1
    unreadable_pages: int = 0
    """Pages that had to be passed over."""
    pass_number: int = 1
    reason: StoredMessage = NO_MESSAGE
    """Why the last of those pages could not be read."""
    rows: int = 0
    """Rows that made sense, so far."""
    left_out: int = 0
    """Rows that made no sense, so far."""
    left_out_reason: str = ""
    """What was wrong with the last of them."""
    repeated_previously: int = 0
    """Rows of a key that a later row has, too, as the walk before this one found them."""
    repeated: int = 0
    """The same, as two walks have found them."""


class SyncProgress(NamedTuple):
    """What is still to be walked."""

    todo: tuple[str, ...] = ()
    at: StagePosition | None = None
    generation: int = 0
    """The last one that was given to a pass."""
    full: bool = False
    """Everything is read anew: worth a word on the screens."""
    done: int = 0
    total: int = 0
    completed: float = 0
    """When everything was last read, in seconds since 1970; 0 for never."""
    missing: tuple[str, ...] = ()
    """Lists that could not be read, or not wholly, when they were last asked for."""
    reasons: tuple[tuple[str, StoredMessage], ...] = ()
    """Of each of these why."""
    left_out: tuple[UnusableRows, ...] = ()
    """Rows that could not be used when their lists were last read to the end."""

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to walk."""
        return not self.todo and self.at is None

    def reason_of(self, name: str) -> StoredMessage:
        """Why a list is missing; empty where nobody knows."""
        return dict(self.reasons).get(name, NO_MESSAGE)

    def with_missing(self, name: str, reason: StoredMessage) -> SyncProgress:
        """The same, and this list could not be read."""
        here = self.with_read(name)
        return here._replace(missing=(*here.missing, name), reasons=(*here.reasons, (name, reason)))

    def with_read(self, name: str) -> SyncProgress:
        """The same, and this list was read."""
        return self._replace(
            missing=tuple(other for other in self.missing if other != name),
            reasons=tuple(pair for pair in self.reasons if pair[0] != name),
        )

    def left_out_count(self, name: str, *, repeated: bool = False) -> int:
        """How many rows of a list were left out, because they make no sense or because they are `repeated`."""
        found = (
            each.rows for each in self.left_out if each.list_name == name and (each.reason == DUPLICATE_KEY) == repeated
        )
        return sum(found)

    def with_left_out(self, name: str, *found: UnusableRows) -> SyncProgress:
        """The same, with what was left out of one list, in the place of what was before."""
        others = tuple(each for each in self.left_out if each.list_name != name)
        return self._replace(left_out=(*others, *(each for each in found if each.rows)))


def load_progress(cache: CacheWriter) -> SyncProgress:
    """The progress that the cache remembers; one that makes no sense begins anew."""
    kept = cache.cursor(PROGRESS_CURSOR)
    try:
        return _parse_progress(kept) if kept else SyncProgress()
    except (TypeError, ValueError, AttributeError):
        return SyncProgress()


def _parse_progress(saved: dict[str, Any]) -> SyncProgress:
    at = StagePosition(**saved["at"]) if saved.get("at") else None
    reasons = tuple((str(name), why) for name, why in saved.get("reasons", ()))
    left_out = tuple(UnusableRows(str(name), int(rows), str(why)) for name, rows, why in saved.get("left_out", ()))
    told = {"missing": tuple(saved.get("missing", ())), "reasons": reasons, "left_out": left_out}
    return SyncProgress(**{**saved, "todo": tuple(saved["todo"]), "at": at, **told})


def save_progress(cache: CacheWriter, progress: SyncProgress) -> None:
    """Keeps it; belongs into the `batch` of the rows."""
    at = progress.at._asdict() if progress.at else None
    cache.set_cursor(PROGRESS_CURSOR, {**progress._asdict(), "at": at})
