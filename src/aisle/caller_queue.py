"""Queue of what callers wait for: groups of callers take turns, and so do the callers of a group."""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Caller(NamedTuple):
    """Who waits for turns. Groups take turns, and within a group its members."""

    group: str = ""
    member: str = ""


class CallerQueue(Generic[T]):
    """Queue that hands out the items of its groups in rotation, of their members in rotation, and then in order."""

    def __init__(self) -> None:
        self._by_group: OrderedDict[str, OrderedDict[str, deque[T]]] = OrderedDict()

    def __bool__(self) -> bool:
        return bool(self._by_group)

    def count(self, caller: Caller) -> int:
        """Return the number of waiting items of a caller."""
        members = self._by_group.get(caller.group)
        return len(members.get(caller.member, ())) if members else 0

    def add(self, caller: Caller, item: T) -> None:
        """Add an item. A caller without waiting items goes behind all others."""
        self._by_group.setdefault(caller.group, OrderedDict()).setdefault(caller.member, deque()).append(item)

    def take(self) -> T:
        """Remove and return the next item. Its group, and its caller in it, go behind all others."""
        group, members = self._by_group.popitem(last=False)
        member, items = members.popitem(last=False)
        item = items.popleft()
        if items:
            members[member] = items
        if members:
            self._by_group[group] = members
        return item
