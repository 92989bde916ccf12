"""Who was let in a moment ago, so that the body of a write is taken without asking the database first.

It decides nothing: the transaction that carries a write out asks who may do it, each time, and so does whoever is to
hear what is wrong with a body. It saves only the question that is asked before a body is taken from anybody at all.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from time import monotonic

from aisle.tuples import NamedTuple

_MOMENT = 60.0
# The one that was not let in for longest is forgotten; it is asked for once more.
_REMEMBERED = 10_000


class Errand(NamedTuple):
    """Who comes, by what is stored of the token, what for, and to which store."""

    token_hash: str
    operation: str
    store_number: str | None


class Guest(NamedTuple):
    """What the log has to say of somebody, and whose requests are counted."""

    token_id: str
    role: str
    store_number: str | None

    def notes(self) -> dict[str, str]:
        """What is noted of a request."""
        said = {"token": self.token_id, "role": self.role}
        return said if self.store_number is None else said | {"store": self.store_number}


class Doorstep:
    """The guests of one process; used by several threads, each call by itself."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        self._guests: OrderedDict[Errand, tuple[float, Guest]] = OrderedDict()

    def known(self, errand: Errand) -> Guest | None:
        """Who was let in for this a moment ago."""
        then, guest = self._guests.get(errand, (0.0, None))
        return guest if guest and self._now() - then < _MOMENT else None

    def let_in(self, errand: Errand, guest: Guest) -> None:
        """The database has said that they may."""
        self._guests.pop(errand, None)  # the last one that was let in stands last
        self._guests[errand] = (self._now(), guest)
        if len(self._guests) > _REMEMBERED:
            self._guests.popitem(last=False)

    def turn_away(self, errand: Errand) -> None:
        """It has said that they may not, or not any more."""
        self._guests.pop(errand, None)
