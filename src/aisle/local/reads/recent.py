"""What was made lately and may be asked for again, as much of it as a session has room for."""

from __future__ import annotations

from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Recent(Generic[K, V]):
    """Values by their keys. What was put in first leaves first, when all together weigh more than `most`; what was put
    in last stays, whatever it weighs."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: dict[K, tuple[V, int]] = {}
        self._weight = 0

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: K) -> V | None:
        """What is kept of it."""
        kept = self._kept.get(key)
        return kept[0] if kept else None

    def put(self, key: K, value: V, weight: int = 1) -> None:
        """Keep it, in the place of what was there."""
        self.drop(key)
        self._kept[key] = value, weight
        self._weight += weight
        while self._weight > self._most and len(self._kept) > 1:
            self.drop(next(iter(self._kept)))

    def drop(self, key: K) -> None:
        """Nothing of it is true any more."""
        if key in self._kept:
            self._weight -= self._kept.pop(key)[1]
