"""Pages opened from any job: help and commands, and the page that an address in a browser names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from aisle.browser_addresses_and_packets import PageAddress, parse_address
from aisle.jobs.job import Args, Start
from aisle.jobs.view import INFO, PAGING_TEXT_IDS, DetailView, Frame, KeyHint, Step, Verdict, View, msg, numbered_rows
from aisle.scan.grammar_and_meaning_types import Back, Command, Meaning
from aisle.session.event_runner import SessionPart
from aisle.session.job_stack import WITHOUT_WORK, StackedJob, is_help_page
from aisle.session.terminal_screen_and_keys import PAGE_BY_LETTER

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


_RECORD_JOBS: Final = {
    "orders": ("order", "order_number"),
    "products": ("look_up", "product_number"),
    "deliveries": ("deliveries", "order_number"),
    "locations": ("locations", "location_code"),
}
"""Job that shows a record of a list, and the name of its argument."""


class Addresses(SessionPart):
    """Address of the page on the screen, and the pages of other addresses."""

    @property
    def current(self) -> PageAddress:
        """Return the address of the page on the screen, or of the nearest page below that has one."""
        found = (_address_of(stacked) for stacked in reversed(self._page.stack.jobs))
        return next((address for address in found if address), PageAddress(""))

    def open(self, text: str) -> None:
        """Open the page of an address. It is below the page on the screen, or is opened instead of it."""
        address = parse_address(text)
        if address is None or address == self.current or not self._context.user.user or self._page.top.job.raw_input:
            return
        self._verdicts.current = None
        below = self._depth_of(address)
        if below is not None:
            self._event_runner.apply(self._page.stack.run(self._context.current()).close_above(below))
        elif address.page:
            self._open_instead(address)
        else:
            what = self._page.stack.open_work() or self._page.top.job.view(self._page.top.state).title
            self._verdicts.show(Verdict(INFO, msg("tab.work_stays", what=what)))

    def _depth_of(self, address: PageAddress) -> int | None:
        """Return the index of the page with an address if nothing but pages without work lies above it."""
        jobs = self._page.stack.jobs
        for index in range(len(jobs) - 1, -1, -1):
            if _address_of(jobs[index]) == address or not (index or address.page):
                return index
            if jobs[index].job.name not in WITHOUT_WORK:
                return None
        return None

    def _open_instead(self, address: PageAddress) -> None:
        context, (job, argument) = self._context.current(), _RECORD_JOBS.get(address.page, ("", ""))
        record: Args = {argument: address.record}
        is_own_job = job == address.page
        arguments = record if address.record and is_own_job else _list_arguments(address)
        result = self._page.stack.run(context).start_instead(Start(address.page, arguments), WITHOUT_WORK)
        self._event_runner.apply(result)
        if address.record and job and not is_own_job:
            self._event_runner.open(Start(job, record))


def _address_of(stacked: StackedJob) -> PageAddress | None:
    return stacked.job.address(stacked.state)


def _list_arguments(address: PageAddress) -> Args:
    """Return the arguments that open a list as its address filters it."""
    fields = dict(address.filter)
    return {"filter": fields} if address.page == "orders" and fields else dict(fields)
