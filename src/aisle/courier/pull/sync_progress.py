"""Progress of a sync, saved in the cache in the same transaction as the rows it covers."""

from __future__ import annotations

from typing import Any, NamedTuple

from aisle.cache.writer import CacheWriter
from aisle.outbox.stored_reasons import DUPLICATE_KEY, UnusableRows
from aisle.stored_messages import NO_MESSAGE, StoredMessage

PROGRESS_CURSOR = "full"


class StagePosition(NamedTuple):
    """Position inside one stage."""

    stage: str
    generation: int
    next: int = 1
    """Page, or lowest id, to request next."""
    by_id: bool = False
    first_total: int = -1
    """Total that the list reported at the beginning of the pass; -1 if it reports none."""
    last_total: int = -1
    unreadable_pages: int = 0
    """Number of pages that had to be skipped."""
    pass_number: int = 1
    reason: StoredMessage = NO_MESSAGE
    """Reason for which the last of those pages could not be read."""
    rows: int = 0
    """Number of valid rows so far."""
    left_out: int = 0
    """Number of invalid rows so far."""
    left_out_reason: str = ""
    """Error of the last of them."""
    repeated_previously: int = 0
    """Number of rows whose key a later row has too, found in the pass before this one."""
    repeated: int = 0
    """The same number, confirmed by two passes."""


class SyncProgress(NamedTuple):
    """Stages that are still to be read, and the position in the present one."""

    todo: tuple[str, ...] = ()
    at: StagePosition | None = None
    generation: int = 0
    """Last generation number given to a pass."""
    full: bool = False
    """True while everything is read again; screens show it."""
    done: int = 0
    total: int = 0
    completed: float = 0
    """Time at which everything was last read, in seconds since 1970; 0 for never."""
    missing: tuple[str, ...] = ()
    """Lists that could not be read, or not completely, at the last try."""
    reasons: tuple[tuple[str, StoredMessage], ...] = ()
    """Reason for each of them."""
    left_out: tuple[UnusableRows, ...] = ()
    """Rows that could not be used when their lists were last read to the end."""

    @property
    def is_idle(self) -> bool:
        """True if there is nothing to read."""
        return not self.todo and self.at is None

    def reason_of(self, name: str) -> StoredMessage:
        """Return why a list is missing; an empty message if unknown."""
        return dict(self.reasons).get(name, NO_MESSAGE)

    def with_missing(self, name: str, reason: StoredMessage) -> SyncProgress:
        """Return a copy with this list marked as missing."""
        read = self.with_read(name)
        return read._replace(missing=(*read.missing, name), reasons=(*read.reasons, (name, reason)))

    def with_read(self, name: str) -> SyncProgress:
        """Return a copy with this list marked as read."""
        return self._replace(
            missing=tuple(other for other in self.missing if other != name),
            reasons=tuple(pair for pair in self.reasons if pair[0] != name),
        )

    def left_out_count(self, name: str, *, repeated: bool = False) -> int:
        """Return the number of rows left out of a list: invalid ones, or with `repeated` those with a repeated key."""
        found = (
            each.rows for each in self.left_out if each.list_name == name and (each.reason == DUPLICATE_KEY) == repeated
        )
        return sum(found)

    def with_left_out(self, name: str, *found: UnusableRows) -> SyncProgress:
        """Return a copy in which `found` replaces what was left out of one list."""
        others = tuple(each for each in self.left_out if each.list_name != name)
        return self._replace(left_out=(*others, *(each for each in found if each.rows)))


def load_progress(cache: CacheWriter) -> SyncProgress:
    """Return the progress saved in the cache; an empty one if it is invalid."""
    kept = cache.cursor(PROGRESS_CURSOR)
    try:
        return _parse_progress(kept) if kept else SyncProgress()
    except (TypeError, ValueError, AttributeError):
        return SyncProgress()


def _parse_progress(saved: dict[str, Any]) -> SyncProgress:
    at = StagePosition(**saved["at"]) if saved.get("at") else None
    reasons = tuple((str(name), why) for name, why in saved.get("reasons", ()))
    left_out = tuple(UnusableRows(str(name), int(rows), str(why)) for name, rows, why in saved.get("left_out", ()))
    parsed = {"missing": tuple(saved.get("missing", ())), "reasons": reasons, "left_out": left_out}
    return SyncProgress(**{**saved, "todo": tuple(saved["todo"]), "at": at, **parsed})


def save_progress(cache: CacheWriter, progress: SyncProgress) -> None:
    """Save the progress. Call it in the transaction of the rows."""
    at = progress.at._asdict() if progress.at else None
    cache.set_cursor(PROGRESS_CURSOR, {**progress._asdict(), "at": at})
