"""Opening and closing of the help and command pages over a job."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from aisle.jobs.job import Args, Start
from aisle.jobs.view import PAGING_TEXT_IDS, DetailView, Frame, KeyHint, Step, View, numbered_rows
from aisle.scan.grammar_and_meaning_types import Back, Command, Meaning
from aisle.session.default_keys import PAGE_BY_LETTER
from aisle.session.event_runner import SessionPart
from aisle.session.job_stack import WITHOUT_WORK, StackedJob, is_help_page

HELP_CODE = "AISLE:HELP"
"""Printed command barcode of the help page."""


@dataclass(eq=False)
class HelpPages(SessionPart):
    """Help and command pages over the job on the screen."""

    _current_frame: Callable[[], Frame]

    def page_of_line(self, text: str) -> str:
        """Return the page that a line asks for, or an empty text."""
        text = text.strip(" ")
        if text.upper() == HELP_CODE and not self._page.top.job.raw_input:
            return PAGE_BY_LETTER["h"]
        return PAGE_BY_LETTER.get(text.lower(), "")

    def open(self, name: str) -> None:
        """Open a page unless it is open already. Only help opens over another of the pages."""
        self._verdicts.current, question = None, self._page.question
        top = self._page.top
        if top.job.name == name:
            return
        if is_help_page(top) and name != "help":
            self._close_page()
        self._event_runner.open(self._start(name))
        verdict = question.add_unanswered(Command(""), self._verdicts.current)
        self._verdicts.current = question.multiplier_dropped(Command(""), "", verdict, is_counted=False)

    def close_for(self, meaning: Meaning) -> bool:
        """Close the pages if an input is for the job below them; return whether one was closed."""
        is_closed = False
        while self._page.top.job.passes_to_below(self._page.top.state, meaning):
            self._close_page()
            is_closed = True
        return is_closed

    def _close_page(self) -> None:
        name = self._page.top.job.name
        while self._page.top.job.name == name:
            self._event_runner.feed(Back())

    def _start(self, name: str) -> Start:
        """Return what opens a page with what it explains."""
        top, names_by_letter = self._page.top, self._profile.current.names_by_letter
        view = top.job.view(top.state)
        if self._terminal.is_fully_shown(self._current_frame):
            view = _without_paging_keys(view)
        if name == "help":
            at_once = bool(self._current_frame().one_key_letters)
            return Start(name, {**_help_arguments(top, view, names_by_letter), "at_once": at_once})
        return Start(name, self._command_arguments(view))

    def _command_arguments(self, view: View) -> Args:
        stacked_jobs, profile = self._page.stack.jobs, self._profile.current
        takes_commands = not self._page.top.job.raw_input
        return {
            "letters": view.key_hints if takes_commands else (),
            "choices": view.choices if takes_commands else (),
            "keys": view.choice_letters if isinstance(view, Step | DetailView) else "",
            "numbered": numbered_rows(view),
            "open": tuple(stacked.job.name for stacked in stacked_jobs if stacked.job.name not in WITHOUT_WORK),
            "signed_in": stacked_jobs[0].job.name != "sign_in",
            "language": profile.language,
            "theme": profile.theme,
            "colours": self._terminal.has_themes,
        }


def _help_arguments(top: StackedJob, view: View, names_by_letter: Mapping[str, str]) -> Args:
    return {
        "step": view.name,
        "open": top.job.accepts(top.state),
        "prefers": top.job.prefers(top.state),
        "listens": top.job.raw_input,
        "letters": _renamed_hints(view, names_by_letter),
        "keys": tuple(names_by_letter.items()),
    }


def _without_paging_keys(view: View) -> View:
    hints = (hint for hint in view.key_hints if hint.is_always_shown or hint.text.id not in PAGING_TEXT_IDS)
    return view._replace(key_hints=tuple(hints))


def _renamed_hints(view: View, names_by_letter: Mapping[str, str]) -> tuple[KeyHint, ...]:
    return tuple(hint._replace(letter=names_by_letter.get(hint.letter, hint.letter)) for hint in view.key_hints)
