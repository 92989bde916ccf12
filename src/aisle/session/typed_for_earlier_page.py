"""The line that somebody is typing, without what was typed for another page."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from aisle.jobs.view import INFO, Verdict, msg
from aisle.scan.grammar_and_meaning_types import Accepts, Choice, Meaning, Quantity
from aisle.session.job_stack import StackedJob, page_identity


def has_changed_meaning(
    meaning: Meaning, accepts: Accepts, stacked_jobs: Sequence[StackedJob], page_before: tuple[Any, ...]
) -> bool:
    """Return whether a choice or number meant something else on the page that was on the screen before the batch.

    Earlier inputs of the batch may have put other choices in their place.
    """
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
    """Return what is typed for a choice."""
    return keys[number - 1 : number] if keys else str(number)


def _choices_by_key(keys: str, choices: tuple[Any, ...]) -> dict[str, object]:
    """Return the choices by what is typed for them."""
    return {_choice_key(keys, number): each for number, each in enumerate(choices, 1)}


def typed_text_dropped(text: str, verdict: Verdict | None) -> Verdict:
    """Add to a verdict that the text typed before it is dropped."""
    if verdict is None:
        return Verdict(INFO, msg("session.typed_dropped", text=text))
    return verdict._replace(text=msg("shortage.join", one=verdict.text, other=msg("session.typed_dropped", text=text)))


class TypedLine:
    """Open line of a terminal, without what was typed for another page (which is cut off)."""

    def __init__(self) -> None:
        self.text = ""
        self._dropped = ""
        self._is_secret = False
        """Whether some of the line was a secret: then all of it is, to its end."""

    @property
    def dropped_length(self) -> int:
        """Number of characters at the beginning of the decoder's line that were typed for another page."""
        return len(self._dropped)

    def update(self, decoder_line: str) -> str:
        """Take over the decoder's line; return what of it is meant for the page on the screen."""
        self.text = self._for_current_page(decoder_line)
        return self.text

    def end(self, decoder_line: str) -> str | None:
        """End the line with this text; return None if all of it was typed for another page."""
        own = self._for_current_page(decoder_line)
        cut, self._dropped, self.text = self._dropped or self._is_secret, "", ""
        self._is_secret = False
        return None if cut and not own else own

    def drop(self, *, is_secret: bool = False) -> str:
        """Cut off what was typed so far, for another page is on the screen; return it as it was shown."""
        dropped, self.text = self.text, ""
        self._dropped += dropped
        self._is_secret = self._is_secret or (is_secret and bool(dropped))
        return "*" * len(dropped) if is_secret else dropped

    def _for_current_page(self, decoder_line: str) -> str:
        self._is_secret = self._is_secret and bool(decoder_line)
        if self._is_secret:
            return ""
        common = takewhile(lambda pair: pair[0] == pair[1], zip(self._dropped, decoder_line, strict=False))
        self._dropped = decoder_line[: len(list(common))]
        return decoder_line[len(self._dropped) :]
