"""How far a sync has come: kept in the cache, in the same transaction as the rows that it speaks of."""

from __future__ import annotations

from typing import Any

from aisle.local.cache.writer import Cache
from aisle.tuples import NamedTuple

CURSOR = "full"


class At(NamedTuple):
    """A position inside one stage."""

    stage: str
    generation: int
    next: int = 1
    """The page, or the lowest id, to be asked for next."""
    by_id: bool = False
    first_total: int = -1
    """What the list counted when the walk began; -1 where it does not count."""
    last_total: int = -1
    unreadable: int = 0
    """Pages that had to be passed over."""
    round: int = 1


class Progress(NamedTuple):
    """What is still to be walked."""

    todo: tuple[str, ...] = ()
    at: At | None = None
    generation: int = 0
    """The last one that was given to a pass."""
    full: bool = False
    """Everything is read anew: worth a word on the screens."""
    done: int = 0
    total: int = 0
    completed: float = 0
    """When everything was last read, in seconds since 1970; 0 for never."""
    missing: tuple[str, ...] = ()
    """Stages that could not be read, or not wholly, when they were last walked."""

    @property
    def idle(self) -> bool:
        """Whether there is nothing to walk."""
        return not self.todo and self.at is None


def load(cache: Cache) -> Progress:
    """The progress that the cache remembers; one that makes no sense begins anew."""
    kept = cache.cursor(CURSOR)
    try:
        return _from(kept) if kept else Progress()
    except (TypeError, ValueError, AttributeError):
        return Progress()


def _from(kept: dict[str, Any]) -> Progress:
    at = At(**kept["at"]) if kept.get("at") else None
    return Progress(**{**kept, "todo": tuple(kept["todo"]), "at": at, "missing": tuple(kept.get("missing", ()))})


def save(cache: Cache, progress: Progress) -> None:
    """Keeps it; belongs into the `batch` of the rows."""
    at = progress.at._asdict() if progress.at else None
    cache.set_cursor(CURSOR, {**progress._asdict(), "at": at})
