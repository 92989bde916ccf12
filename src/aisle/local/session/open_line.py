"""The line that somebody is typing, without what was typed before a page opened by itself; lines that are held."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from aisle.jobs.view import INFO, Verdict, msg
from aisle.local.session.stack import Level
from aisle.scan.inputs import Line
from aisle.scan.meaning import Choice, Open, Quantity, Said
from aisle.tuples import NamedTuple


def meant_for(levels: Sequence[Level]) -> tuple[Any, ...]:
    """The page on the screen, as far as it decides what typed text means."""
    job, state, ref, _ = levels[-1]
    open_ = job.open(state)
    page = len(levels), job.name, ref, job.at(state), open_.choices, open_.quantity
    return *page, open_.keys, open_.stand_for


def means_else(said: Said, open_: Open, levels: Sequence[Level], seen: tuple[Any, ...]) -> bool:
    """Whether that is a number, or a letter, which was on the screen (`seen`, as `meant_for` had it then), and was
    something else there: what came before it in one queue has put other choices in their place."""
    if not isinstance(said, Choice | Quantity) or not seen or seen[:3] != meant_for(levels)[:3]:
        return False
    before = _by_key(*seen[-2:])
    if isinstance(said, Quantity):
        return not said.value % 1 and str(int(said.value)) in before
    key = _key(open_.keys, said.number)
    return key in before and before[key] != _by_key(open_.keys, open_.stand_for).get(key)


def _key(keys: str, number: int) -> str:
    """What is typed for a choice."""
    return keys[number - 1 : number] if keys else str(number)


def _by_key(keys: str, stand_for: tuple[Any, ...]) -> dict[str, Any]:
    """What each choice is, by what is typed for it."""
    return {_key(keys, number): each for number, each in enumerate(stand_for, 1)}


def not_taken(text: str, verdict: Verdict | None) -> Verdict:
    """What made another page come, and that the text that was typed before it is not taken."""
    if verdict is None:
        return Verdict(INFO, msg("session.typed_cleared", text=text))
    return verdict._replace(text=msg("session.typed_before", text=text, said=verdict.text))


class HeldLines(NamedTuple):
    """What of one scan is not decided."""

    scan: int = 0
    lines: tuple[Line, ...] = ()
    enter: bool = False
    """An empty line was among them."""
    page: tuple[Any, ...] = ()
    """The page that they were scanned on."""
    taken: int = 0
    """Lines of the same scan that were taken as codes."""
    is_secret: bool = False
    """Some of it was said where a secret was asked."""
    refused: bool = False
    """The scan is unknown as a whole: so is all of it that still comes."""
    is_late: bool = False
    """It begins so soon after an unknown scan that it may be more of that."""


class OpenLine:
    """What stands on the open line of a terminal.

    The decoder keeps its line whatever happens on the screen. What was typed for another page is no answer to the one
    that came by itself: it is cut off until the line ends.
    """

    def __init__(self) -> None:
        self.text = ""
        self._old = ""
        self._secret = False
        """Some of the line was a secret: all of it is, to its end, whatever page it goes on on."""

    def stands(self, whole: str) -> str:
        """The decoder's line is this now; what of it is meant for the page on the screen."""
        self.text = self._own(whole)
        return self.text

    def ended(self, whole: str) -> str | None:
        """The decoder's line has ended with this; None when all of it was typed for another page."""
        own = self._own(whole)
        cut, self._old, self.text = self._old or self._secret, "", ""
        self._secret = False
        return None if cut and not own else own

    def drop(self, *, secret: bool = False) -> str:
        """Another page is on the screen: what was typed so far is not for that, and is given back, a secret as it was
        shown."""
        dropped, self.text = self.text, ""
        self._old += dropped
        self._secret = self._secret or (secret and bool(dropped))
        return "*" * len(dropped) if secret else dropped

    def _own(self, whole: str) -> str:
        self._secret = self._secret and bool(whole)
        if self._secret:
            return ""
        same = takewhile(lambda pair: pair[0] == pair[1], zip(self._old, whole, strict=False))
        self._old = whole[: len(list(same))]
        return whole[len(self._old) :]
