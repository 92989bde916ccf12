"""The line that somebody is typing, without what was typed before a page opened by itself; lines that are held."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Any, NamedTuple

from aisle.jobs.view import INFO, Verdict, msg
from aisle.scan.inputs import Line
from aisle.scan.meaning import Accepts, Choice, Meaning, Quantity
from aisle.session.job_stack import StackedJob


def page_identity(stacked_jobs: Sequence[StackedJob]) -> tuple[Any, ...]:
    """The page on the screen, as far as it decides what typed text means."""
    job, state, ref, _ = stacked_jobs[-1]
    open_ = job.accepts(state)
    page = len(stacked_jobs), job.name, ref, job.step_name(state), open_.choices, open_.quantity
    return *page, open_.choice_letters, open_.choice_values


def has_changed_meaning(
    meaning: Meaning, accepts: Accepts, stacked_jobs: Sequence[StackedJob], page_before: tuple[Any, ...]
) -> bool:
    """Whether that is a number, or a letter, which was on the screen (`seen`, as `meant_for` had it then), and was
    something else there: what came before it in one queue has put other choices in their place."""
    if (
        not isinstance(meaning, Choice | Quantity)
        or not page_before
        or page_before[:3] != page_identity(stacked_jobs)[:3]
    ):
        return False
    before = _choices_by_key(*page_before[-2:])
    if isinstance(meaning, Quantity):
        return not meaning.value % 1 and str(int(meaning.value)) in before
    key = _choice_key(accepts.choice_letters, meaning.number)
    return key in before and before[key] != _choices_by_key(accepts.choice_letters, accepts.choice_values).get(key)


def _choice_key(keys: str, number: int) -> str:
    """What is typed for a choice."""
    return keys[number - 1 : number] if keys else str(number)


def _choices_by_key(keys: str, choices: tuple[Any, ...]) -> dict[str, Any]:
    """What each choice is, by what is typed for it."""
    return {_choice_key(keys, number): each for number, each in enumerate(choices, 1)}


def typed_text_dropped(text: str, verdict: Verdict | None) -> Verdict:
    """What made another page come, and that the text that was typed before it is not taken."""
    if verdict is None:
        return Verdict(INFO, msg("session.typed_cleared", text=text))
    return verdict._replace(text=msg("session.typed_before", text=text, said=verdict.text))


class HeldScan(NamedTuple):
    """What of one scan is not decided."""

    scan: int = 0
    lines: tuple[Line, ...] = ()
    has_enter: bool = False
    """An empty line was among them."""
    page: tuple[Any, ...] = ()
    """The page that they were scanned on."""
    applied: int = 0
    """Lines of the same scan that were taken as codes."""
    is_secret: bool = False
    """Some of it was said where a secret was asked."""
    is_refused: bool = False
    """The scan is unknown as a whole: so is all of it that still comes."""
    is_late: bool = False
    """It begins so soon after an unknown scan that it may be more of that."""


class TypedLine:
    """What stands on the open line of a terminal.

    The decoder keeps its line whatever happens on the screen. What was typed for another page is no answer to the one
    that came by itself: it is cut off until the line ends.
    """

    def __init__(self) -> None:
        self.text = ""
        self._dropped = ""
        self._is_secret = False
        """Some of the line was a secret: all of it is, to its end, whatever page it goes on on."""

    def update(self, decoder_line: str) -> str:
        """The decoder's line is this now; what of it is meant for the page on the screen."""
        self.text = self._for_current_page(decoder_line)
        return self.text

    def end(self, decoder_line: str) -> str | None:
        """The decoder's line has ended with this; None when all of it was typed for another page."""
        own = self._for_current_page(decoder_line)
        cut, self._dropped, self.text = self._dropped or self._is_secret, "", ""
        self._is_secret = False
        return None if cut and not own else own

    def drop(self, *, secret: bool = False) -> str:
        """Another page is on the screen: what was typed so far is not for that, and is given back, a secret as it was
        shown."""
        dropped, self.text = self.text, ""
        self._dropped += dropped
        self._is_secret = self._is_secret or (secret and bool(dropped))
        return "*" * len(dropped) if secret else dropped

    def _for_current_page(self, decoder_line: str) -> str:
        self._is_secret = self._is_secret and bool(decoder_line)
        if self._is_secret:
            return ""
        same = takewhile(lambda pair: pair[0] == pair[1], zip(self._dropped, decoder_line, strict=False))
        self._dropped = decoder_line[: len(list(same))]
        return decoder_line[len(self._dropped) :]
