"""Lists at which the service asks for patience (429) again and again while it answers all else: each rests alone."""

from __future__ import annotations

ORDERS = "order"
"""The name of orders that are asked for one by one, as wishes have it."""

LOOKS = "looks"
"""The name of what is asked for to find what may have arrived."""

STRIKES = 3
"""So often in a row patience is asked of everything; after that it is a matter of that list alone."""
_FIRST_S, _LONGEST_S = 2.0, 60.0
"""How long such a list rests where the service does not say it; it doubles."""


class Rests:
    """How often in a row patience was asked at each list, and until when it is left alone."""

    def __init__(self) -> None:
        self._strikes: dict[str, int] = {}
        self._until: dict[str, float] = {}

    def is_alone(self, name: str, asked_s: float | None, now: float) -> bool:
        """Notes that patience was asked at this list; whether it was often enough to be a matter of the list alone,
        which rests then."""
        if not name:
            return False
        strikes = self._strikes[name] = self._strikes.get(name, 0) + 1
        if strikes < STRIKES:
            return False
        rest = min(_LONGEST_S, _FIRST_S * 2.0 ** min(strikes - STRIKES, 16))
        self._until[name] = now + min(max(rest, asked_s or 0.0), _LONGEST_S)
        return True

    def until(self, name: str) -> float:
        """The moment until which this list is left alone; 0 where it is not."""
        return self._until.get(name, 0.0)

    def lasts(self, name: str, now: float) -> bool:
        """Whether this list is left alone now."""
        return now < self.until(name)

    def end(self, name: str) -> None:
        """The list was read."""
        self._strikes.pop(name, None)
        self._until.pop(name, None)
