"""Whom a change concerns: what sessions show, turned round.

A topic finds those who show it without a look at what all the others show. What is said of each is what
`local.host.signals.concerning` says.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from aisle.local.host.signals import ANYTHING, LINK, SYNC

Page = frozenset[str] | None
"""What a session shows; None for one of which that is not known."""
_NOBODY: frozenset[str] = frozenset()


class Audience:
    """Sessions by what they show."""

    def __init__(self) -> None:
        self._pages: dict[str, Page] = {}
        self._who: dict[str, set[str]] = {}
        """Who shows a topic; under `order/`, who shows any order by its name."""

    def __contains__(self, name: str) -> bool:
        return name in self._pages

    def show(self, name: str, page: Page) -> None:
        """It shows this from now on."""
        self.leave(name)
        self._pages[name] = page
        for topic in _noted(page):
            self._who.setdefault(topic, set()).add(name)

    def leave(self, name: str) -> None:
        """It is not there any more."""
        for topic in _noted(self._pages.pop(name)) if name in self._pages else ():
            self._who[topic].discard(name)
            if not self._who[topic]:
                del self._who[topic]

    def concerned(self, topics: Iterable[str]) -> dict[str, tuple[list[str], bool]]:
        """Those whom any of these topics concerns: of each, which ones, and whether it shows one by its name."""
        found: dict[str, tuple[list[str], bool]] = {}
        for topic in topics:
            by_name, as_one = self._of(topic)
            for name in by_name:
                found[name] = [*(found[name][0] if name in found else ()), topic], True
            for name in as_one:
                found.setdefault(name, ([], False))[0].append(topic)
        return found

    def _of(self, topic: str) -> tuple[Collection[str], Collection[str]]:
        """Who shows this by its name, and whom else it concerns."""
        if topic == LINK:
            return self._pages.keys(), ()
        if topic == SYNC:
            return (), self._pages.keys()
        whole, _, key = topic.partition("/")
        as_one = self._who.get(whole, _NOBODY) | self._who.get(ANYTHING, _NOBODY)
        if key:
            by_name = self._who.get(topic, _NOBODY)
            return by_name, as_one - by_name
        return self._who.get(f"{whole}/", _NOBODY) - as_one, as_one


def _noted(page: Page) -> frozenset[str]:
    """Under what a page is found."""
    if page is None:
        return frozenset((ANYTHING,))
    return page.union(f"{topic.partition('/')[0]}/" for topic in page if "/" in topic)
