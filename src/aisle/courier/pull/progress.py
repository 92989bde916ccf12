"""How far a sync has come: kept in the cache, in the same transaction as the rows that it speaks of."""

from __future__ import annotations

from typing import Any

from aisle.local.cache.writer import Cache
from aisle.local.told import NOTHING, REPEATED, LeftOut, Told
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
    why: Told = NOTHING
    """Why the last of those pages could not be read."""
    rows: int = 0
    """Rows that made sense, so far."""
    left_out: int = 0
    """Rows that made no sense, so far."""
    left_why: str = ""
    """What was wrong with the last of them."""
    repeated_before: int = 0
    """Rows of a key that a later row has, too, as the walk before this one found them."""
    repeated: int = 0
    """The same, as two walks have found them."""


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
    """Lists that could not be read, or not wholly, when they were last asked for."""
    reasons: tuple[tuple[str, Told], ...] = ()
    """Of each of these why."""
    left_out: tuple[LeftOut, ...] = ()
    """Rows that could not be used when their lists were last read to the end."""

    @property
    def idle(self) -> bool:
        """Whether there is nothing to walk."""
        return not self.todo and self.at is None

    def why(self, name: str) -> Told:
        """Why a list is missing; empty where nobody knows."""
        return dict(self.reasons).get(name, NOTHING)

    def without(self, name: str, why: Told) -> Progress:
        """The same, and this list could not be read."""
        here = self.with_(name)
        return here._replace(missing=(*here.missing, name), reasons=(*here.reasons, (name, why)))

    def with_(self, name: str) -> Progress:
        """The same, and this list was read."""
        return self._replace(
            missing=tuple(other for other in self.missing if other != name),
            reasons=tuple(pair for pair in self.reasons if pair[0] != name),
        )

    def left(self, name: str, *, repeated: bool = False) -> int:
        """How many rows of a list were left out, because they make no sense or because they are `repeated`."""
        found = (each.rows for each in self.left_out if each.name == name and (each.why == REPEATED) == repeated)
        return sum(found)

    def counted(self, name: str, *found: LeftOut) -> Progress:
        """The same, with what was left out of one list, in the place of what was before."""
        others = tuple(each for each in self.left_out if each.name != name)
        return self._replace(left_out=(*others, *(each for each in found if each.rows)))


def load(cache: Cache) -> Progress:
    """The progress that the cache remembers; one that makes no sense begins anew."""
    kept = cache.cursor(CURSOR)
    try:
        return _from(kept) if kept else Progress()
    except (TypeError, ValueError, AttributeError):
        return Progress()


def _from(kept: dict[str, Any]) -> Progress:
    at = At(**kept["at"]) if kept.get("at") else None
    reasons = tuple((str(name), why) for name, why in kept.get("reasons", ()))
    left_out = tuple(LeftOut(str(name), int(rows), str(why)) for name, rows, why in kept.get("left_out", ()))
    told = {"missing": tuple(kept.get("missing", ())), "reasons": reasons, "left_out": left_out}
    return Progress(**{**kept, "todo": tuple(kept["todo"]), "at": at, **told})


def save(cache: Cache, progress: Progress) -> None:
    """Keeps it; belongs into the `batch` of the rows."""
    at = progress.at._asdict() if progress.at else None
    cache.set_cursor(CURSOR, {**progress._asdict(), "at": at})
