"""Page that inputs are meant for: its job, questions over it, renamed keys, and the line typed for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

from aisle.jobs import COUNTS_SCANS, DETOURS
from aisle.jobs.view import ASK, INFO, DetailView, Step, Verdict, View, msg
from aisle.scan.grammar_and_meaning_types import (
    COMMAND,
    PERSON,
    PRODUCT,
    Accepts,
    Ambiguous,
    Back,
    Choice,
    Command,
    Meaning,
    Quantity,
    Scan,
    scans_of,
)
from aisle.session.job_stack import JobStack, StackedJob, is_secret_text, page_identity, page_key
from aisle.session.pending_question import NO_NUMBER, NO_QUESTION, AskedNumber, PendingQuestion
from aisle.session.shown_verdict_and_bells import Verdicts, without_report
from aisle.session.terminal_screen_and_keys import PAGE_BY_LETTER


class PageSnapshot(NamedTuple):
    """Jobs with their states, and the question over them."""

    jobs: tuple[StackedJob, ...]
    question: PendingQuestion


class Page:
    """Open jobs and the pending question, as one page that inputs are meant for."""

    def __init__(self, stack: JobStack) -> None:
        self.stack = stack
        self.question = NO_QUESTION
        self.asked_number = NO_NUMBER
        """Number that the last line made a question of."""
        self._cached_accepts: tuple[StackedJob, Accepts] | None = None
        self._cached_view: tuple[StackedJob, Mapping[str, str], View] | None = None

    @property
    def top(self) -> StackedJob:
        """Return the job on the screen."""
        return self.stack.jobs[-1]

    @property
    def topics(self) -> frozenset[str]:
        """Return the topics of what the page shows."""
        return self.top.topics

    @property
    def main_list(self) -> str:
        """Return the list of the service that the page lists; empty for other data."""
        return self.top.job.main_list(self.top.state)

    @property
    def key(self) -> tuple[int, str, str]:
        """Return a key of the job on the screen that differs from those of all jobs before and after it."""
        return page_key(self.stack.jobs)

    @property
    def identity(self) -> tuple[Any, ...]:
        """Return what of the page decides on the meaning of a typed text."""
        return page_identity(self.stack.jobs)

    def accepts(self) -> Accepts:
        """Return what an input may be here. A job is asked once for each of its states."""
        top = self.top
        if self._cached_accepts is None or self._cached_accepts[0] is not top:
            self._cached_accepts = top, top.job.accepts(top.state)
        accepts = self._cached_accepts[1]
        return self.question.accepts(accepts) if self._has_question else accepts

    def preferred_kinds(self) -> tuple[str, ...]:
        """Return the kinds of things that the job prefers to scan."""
        return self.top.job.prefers(self.top.state)

    def is_secret(self, text: str) -> bool:
        """Return whether a text is a secret here."""
        return is_secret_text(self.stack.jobs, text)

    @property
    def _has_question(self) -> bool:
        return self.question is not NO_QUESTION

    def shown_text(self, typed: str) -> str:
        """Return the open line with the multiplier before it; of a secret, only its length."""
        text = self.question.with_multiplier(typed) if self._has_question else typed
        return "*" * len(text) if self.is_secret(text) else text

    def take_question(self) -> PendingQuestion:
        """Remove the pending question and return it."""
        question, self.question = self.question, NO_QUESTION
        return question

    def take_asked_number(self) -> AskedNumber:
        """Remove the number that the last line made a question of, and return it."""
        asked, self.asked_number = self.asked_number, NO_NUMBER
        return asked

    def refuses_scan(self, meaning: Scan | Ambiguous) -> bool:
        """Return whether the question about a scan must be answered before this one, in a job that counts scans.

        A location or an order would leave the goods in question. After one was refused, other goods are refused too:
        they may lie there. A look-up or a badge concerns no goods.
        """
        if not self.question.is_asked or self.top.job.name not in COUNTS_SCANS:
            return False
        matches = [match for scan in scans_of(meaning) if not scan.is_look_up for match in scan.matches]
        asked = {(match.kind, match.key) for match in self.question.matches}
        if not matches or not asked.isdisjoint((match.kind, match.key) for match in matches):
            return False
        return matches[0].kind not in (PRODUCT, PERSON, COMMAND) or self.question.has_refused_scan

    def note_refused_scan(self) -> None:
        """Note that a scan was refused because of the question about another one."""
        if self.question.is_asked:
            self.question = self.question._replace(has_refused_scan=True)

    def drop_left_question(self) -> None:
        """Drop the question if another job is on the screen now."""
        if self._has_question:
            self.question = self.question.still_on_page(self.stack.jobs)

    def view(self, names_by_letter: Mapping[str, str]) -> View:
        """Return the view of the job with the keys as they are named here, under the session's last question."""
        view = self._view_of_job(names_by_letter)
        if self.asked_number.text and self.asked_number.page == self.identity:
            return self.asked_number.show_on(view)
        if not (self._has_question and self.question.is_pending):
            return view
        return self.question.show_on(view, self.top.job.accepts(self.top.state))

    def _view_of_job(self, names_by_letter: Mapping[str, str]) -> View:
        """Return the view of the job on the screen. It is asked once for each of its states."""
        top, cached = self.top, self._cached_view
        if cached is None or cached[0] is not top or cached[1] != names_by_letter:
            view = top.job.view(top.state)
            cached = top, names_by_letter, rename_keys(view, names_by_letter) if names_by_letter else view
            self._cached_view = cached
        return cached[2]

    def snapshot(self) -> PageSnapshot:
        """Return the state to go back to with `restore`."""
        return PageSnapshot(self.stack.snapshot(), self.question)

    def restore(self, snapshot: PageSnapshot) -> None:
        """Go back to a snapshot."""
        self.stack.restore(snapshot.jobs)
        self.question = snapshot.question


def apply_key_names(text: str, keys: Mapping[str, str], top_job: StackedJob) -> str:
    """Return the command letter of a line that is a renamed key.

    Choices of the page come first. A page that takes any text gets it, unless it knows that command.
    """
    letter = keys.get(text.strip(" ").lower()) if keys else None
    if letter is None or top_job.job.raw_input:
        return text
    accepts = top_job.job.accepts(top_job.state)
    if text.strip(" ").lower() in accepts.choice_letters and letter not in accepts.choice_letters:
        return text
    return text if accepts.text and letter not in (*PAGE_BY_LETTER, *accepts.command_letters) else letter


def meaning_of_key(key: str, keys: Mapping[str, str], defaults: Mapping[str, Meaning]) -> Meaning | None:
    """Return what a key without text stands for, if anything."""
    if key in keys:
        return Back() if keys[key] == "b" else Command(keys[key])
    return defaults.get(key)


def rename_keys(view: View, names_by_letter: Mapping[str, str]) -> View:
    """Return a page with its letters as they are named at this terminal."""
    view = view._replace(
        key_hints=tuple(hint._replace(letter=names_by_letter.get(hint.letter, hint.letter)) for hint in view.key_hints)
    )
    if isinstance(view, Step | DetailView) and view.choice_letters:
        letters = "".join(_key_name(each, view.choice_letters, names_by_letter) for each in view.choice_letters)
        return view._replace(choice_letters=letters)
    return view


def _key_name(letter: str, keys: str, names_by_letter: Mapping[str, str]) -> str:
    """Return the key of a choice: its own letter if the other name is that of another choice."""
    name = names_by_letter.get(letter, letter)
    return name if len(name) == 1 and name not in keys else letter


class CoveredQuestion:
    """Question of the page that is under a detour, and that of the page under a question about a number."""

    def __init__(self, page: Page, verdicts: Verdicts) -> None:
        self._page = page
        self._verdicts = verdicts
        self._page_under_detour: tuple[Any, ...] = ()
        """Identity of the page that asks it; empty without a question."""
        self._question_under_detour: Verdict | None = None
        self._question_under_number: tuple[tuple[Any, ...], PendingQuestion, Verdict] | None = None
        """The last question of a page, with what identifies it."""

    def note(self) -> None:
        """Note the question on the screen before an input, unless it is one about a number."""
        verdict = self._verdicts.current
        if verdict and verdict.kind == ASK and not self._page.asked_number.text:
            self._question_under_number = *self._page_and_question(), without_report(verdict)
        elif self._question_under_number and self._question_under_number[:2] != self._page_and_question():
            self._question_under_number = None

    def question_of_page(self) -> Verdict | None:
        """Return the question of the page that a question about a number covers; None if the page asks nothing."""
        is_asked = self._question_under_number and self._question_under_number[:2] == self._page_and_question()
        return self._question_under_number[2] if self._question_under_number and is_asked else None

    def _page_and_question(self) -> tuple[tuple[Any, ...], PendingQuestion]:
        return self._page.identity, self._page.question._replace(passed=0, has_refused_scan=False)

    def after_input(self, jobs_before: Sequence[StackedJob], verdict_before: Verdict | None) -> None:
        """Note the question that an input has covered, or show it again on its page if the input has no answer."""
        is_covered = len(self._page.stack.jobs) > len(jobs_before) and self._page.top.job.name in DETOURS
        is_of_job = bool(jobs_before) and jobs_before[-1].job.journalled
        if is_covered and is_of_job and verdict_before and verdict_before.kind == ASK:
            self._page_under_detour, self._question_under_detour = page_identity(jobs_before), verdict_before
        elif self._question_under_detour and len(self._page.stack.jobs) <= self._page_under_detour[0]:
            if self._verdicts.current is None and self._page.identity == self._page_under_detour:
                self._verdicts.current = self._question_under_detour
            self._question_under_detour = None


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
