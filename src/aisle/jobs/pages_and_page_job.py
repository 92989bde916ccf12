"""Base classes of pages, and of the job that consists of pages. A page is one screen; it handles its own inputs.

Pages that list records: `list_page_base_class`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeVar

from aisle.jobs.job import Args, Changed, Close, Closed, Context, Effect, Event, Job, Opened, Query, Resumed, Rows, Turn
from aisle.jobs.list_cursor_and_search import PAGE_LETTERS, Replaceable, reject_input, turn_page
from aisle.jobs.view import (
    BACK,
    GOOD,
    PAGE_HINTS,
    WRONG,
    Block,
    DetailView,
    KeyHint,
    Line,
    Msg,
    Step,
    Verdict,
    View,
    msg,
)
from aisle.scan.grammar_and_meaning_types import (
    Accepts,
    Back,
    Choice,
    Command,
    CursorKey,
    Match,
    Scan,
    Text,
    UnknownCode,
)

if TYPE_CHECKING:
    from aisle.jobs.row_types.operations_and_session_answers import FileRow

S = TypeVar("S")

CHOICES_ID = "list_choices"
"""Id of the query for what a person chose for a list."""

COUNT_ID = "count:"
"""Beginning of the id of a query for the number of rows of a filter; its index follows."""


class Action(NamedTuple, Generic[S]):
    """What a letter or a number of a page does."""

    text: Msg
    run: Callable[[S, Context], Turn[S]]
    letter: str = ""
    """Letter that runs it; empty: the next number does."""
    is_hinted: bool = True
    """True if the page shows its letter."""
    number: int = 0
    """Number that runs it on each page that has it; 0: the next number does."""


def refuse(state: S, text: Msg) -> Turn[S]:
    """Return the unchanged state with the reason why an input is not accepted."""
    return Turn(state, (), Verdict(WRONG, text))


class Page(ABC, Generic[S]):
    """One screen of a job, with the inputs that it accepts."""

    name: str
    """Name of the step, as in `Job.steps`."""
    title_text: Msg
    """Title, if it is always the same."""
    prompt_text: Msg
    """Prompt, if it is always the same."""

    def title(self, state: S) -> Msg:
        """Return the title."""
        return self.title_text

    def prompt(self, state: S) -> Msg:
        """Return the prompt."""
        return self.prompt_text

    @abstractmethod
    def view(self, state: S) -> View:
        """Return the screen."""

    @abstractmethod
    def accepts(self, state: S) -> Accepts:
        """Return what the grammar may read an input as."""

    def actions(self, state: S) -> tuple[Action[S], ...]:
        """Return what its letters and numbers do. Those without a letter are numbered on from its rows."""
        return ()

    def page_actions(self, state: S) -> tuple[Action[S], ...]:
        """Return its actions, and those that all pages of its kind have."""
        return self.actions(state)

    def at_desk(self, state: S, is_desk: bool) -> S:
        """Return the state at a desk, or at a handheld."""
        return state

    def numbered_rows(self, state: S) -> int:
        """Return the number of rows that are choices, numbered from 1."""
        return 0

    def choices(self, state: S) -> tuple[Msg, ...]:
        """Return the texts of the numbered actions."""
        return tuple(action.text for action in self.page_actions(state) if not action.letter)

    def choice_keys(self, state: S) -> str:
        """Return the digits of the numbered actions if these have numbers of their own, else nothing."""
        numbers = [action.number for action in self.page_actions(state) if not action.letter]
        return "".join(map(str, numbers)) if any(numbers) else ""

    def last_choice(self, state: S) -> int:
        """Return the highest number that is a choice."""
        keys = self.choice_keys(state)
        return max(map(int, keys)) if keys else self.numbered_rows(state) + len(self.choices(state))

    def letters(self, state: S) -> str:
        """Return the letters of the other actions."""
        return "".join(action.letter for action in self.page_actions(state))

    def key_hints(self, state: S) -> tuple[KeyHint, ...]:
        """Return the hints for these letters."""
        shown = (action for action in self.page_actions(state) if action.letter and action.is_hinted)
        return tuple(KeyHint(action.letter, action.text) for action in shown)

    def handle_input(self, state: S, event: Event, context: Context) -> Turn[S]:
        """Run the action of a number or a letter, or handle another input."""
        for action in self._chosen(state, event):
            return action.run(state, context)
        return self.handle_other_input(state, event, context)

    def _chosen(self, state: S, event: Event) -> tuple[Action[S], ...]:
        match event:
            case Choice(number):
                at = number - 1 - self.numbered_rows(state)
                numbered = tuple(action for action in self.page_actions(state) if not action.letter)
                if self.choice_keys(state):
                    return tuple(action for action in numbered if action.number == number)
                return numbered[at : at + 1] if at >= 0 else ()
            case Command(letter):
                return tuple(action for action in self.page_actions(state) if action.letter == letter)
        return ()

    def handle_other_input(self, state: S, event: Event, context: Context) -> Turn[S]:
        """Handle an input that is no action. By default it is rejected, so that none is ignored silently."""
        match event:
            case Text(text) | UnknownCode(text):
                return self.handle_text(state, text, context)
        return reject_input(state, event)

    def handle_text(self, state: S, text: str, context: Context) -> Turn[S]:
        """Handle text, or a code that nothing has. By default it is rejected."""
        return reject_input(state, Text(text))

    def count_queries(self, state: S, context: Context) -> tuple[Query, ...]:
        """Return the queries for the figures above the page of a desk."""
        return ()

    def with_count(self, state: S, answer: Rows) -> S:
        """Return the state with the answer to one of them."""
        return state

    def choice_queries(self, context: Context) -> tuple[Query, ...]:
        """Return the query for what the person chose for the page of a desk."""
        return ()

    def handle_choices(self, state: S, answer: Rows, context: Context) -> Turn[S]:
        """Handle its answer."""
        return Turn(state)

    def cover(self, state: S) -> Page[S] | None:
        """Return the page over this one, None if there is none."""
        return None

    def go_back(self, state: S, context: Context) -> Turn[S]:
        """Leave the page. By default the job closes."""
        return Turn(state, (Close(),))


class PagedState(Replaceable, Protocol):
    """State of a page that may not fit on the screen."""

    @property
    def page(self) -> int:
        """Index of the part shown."""


P = TypeVar("P", bound=PagedState)


class PagedPage(Page[P]):
    """Page that is turned if it does not fit on the screen: details of a record, or a chart."""

    def accepts(self, state: P) -> Accepts:
        """Accept its numbers and letters, and the letters that turn the page."""
        choices = self.last_choice(state)
        return Accepts(choices=choices, command_letters=PAGE_LETTERS + self.letters(state))

    def key_hints(self, state: P) -> tuple[KeyHint, ...]:
        """Return the hints for all its letters."""
        return (*super().key_hints(state), *PAGE_HINTS, BACK)

    def handle_other_input(self, state: P, event: Event, context: Context) -> Turn[P]:
        """Turn the page, or handle text."""
        match event:
            case Command("n" | "p" as key) | CursorKey(key):
                return Turn(state._replace(page=turn_page(state.page, key)))
        return super().handle_other_input(state, event, context)


class DetailPage(PagedPage[P]):
    """Page with the details of one record."""

    def lines(self, state: P) -> tuple[Line, ...]:
        """Return the most important lines."""
        return ()

    @abstractmethod
    def blocks(self, state: P) -> tuple[Block, ...]:
        """Return the blocks, the most important first. Those without rows are left out."""

    def view(self, state: P) -> DetailView:
        """Return the screen."""
        return DetailView(
            name=self.name,
            title=self.title(state),
            prompt=self.prompt(state),
            lines=self.lines(state),
            blocks=tuple(block for block in self.blocks(state) if block.rows),
            page=state.page,
            choices=self.choices(state),
            choice_letters=self.choice_keys(state),
            key_hints=self.key_hints(state),
        )


class FormPage(Page[S]):
    """Page that asks one thing: a choice of several, or a value to type."""

    typed_only = False
    """True if its choices have to be typed, because they are hard to undo."""

    @abstractmethod
    def lines(self, state: S) -> tuple[Line, ...]:
        """Return the lines on what is asked."""

    def accepts(self, state: S) -> Accepts:
        """Accept its numbers and letters."""
        return Accepts(choices=self.last_choice(state), command_letters=self.letters(state), typed_only=self.typed_only)

    def view(self, state: S) -> View:
        """Return the screen."""
        return self.step(state)

    def step(self, state: S) -> Step:
        """Return the question as a screen of its own."""
        return Step(
            name=self.name,
            title=self.title(state),
            prompt=self.prompt(state),
            lines=self.lines(state),
            choices=self.choices(state),
            choice_letters=self.choice_keys(state),
            key_hints=(*self.key_hints(state), BACK),
        )


class PageJob(Job[S]):
    """Job of several pages. Its state says which one is open."""

    topics: tuple[str, ...] = ()
    """Topics whose changes make it query again; empty: all."""

    @abstractmethod
    def page(self, state: S) -> Page[S]:
        """Return the open page."""

    def queries(self, state: S, context: Context) -> tuple[Effect, ...]:
        """Return the queries for what the open page shows."""
        return ()

    def handle_rows(self, state: S, answer: Rows, context: Context) -> Turn[S]:
        """Handle the answer to a query."""
        return Turn(state)

    def handle_opened(self, state: S, args: Args, context: Context) -> Turn[S]:
        """Handle the arguments with which the job was opened."""
        return self.query_again(state, context)

    def query_again(self, state: S, context: Context) -> Turn[S]:
        """Query what the open page shows."""
        return Turn(state, self.queries(state, context))

    def handle_changed(self, state: S, event: Changed, context: Context) -> Turn[S]:
        """Handle a change in the cache of one of the topics."""
        return self.query_again(state, context)

    def handle_resumed(self, state: S, context: Context) -> Turn[S]:
        """Handle the return to this job, perhaps on another terminal."""
        return self.query_again(state, context)

    def handle_closed(self, state: S, event: Closed, context: Context) -> Turn[S]:
        """Handle the end of the job above."""
        return self.query_again(state, context)

    def page_shown(self, state: S) -> Page[S]:
        """Return the open page, or the one over it."""
        page = self.page(state)
        return page.cover(state) or page

    def handle_scan(self, state: S, matches: tuple[Match, ...], context: Context) -> Turn[S]:
        """Handle a scan; the page may use it."""
        return self.page(state).handle_input(state, Scan(matches), context)

    def accepts(self, state: S) -> Accepts:
        """Accept what the open page accepts."""
        return self.page_shown(state).accepts(state)

    def step_name(self, state: S) -> str:
        """Return the name of the open page."""
        return self.page(state).name

    def view(self, state: S) -> View:
        """Return the open page."""
        return self.page_shown(state).view(state)

    def handle(self, state: S, event: Event, context: Context) -> Turn[S]:
        """Return the next state. At a desk the figures above the page are queried with it."""
        before = self.page(state)
        turn = self._handle(before.at_desk(state, context.is_desk), event, context)
        page = self.page(turn.state)
        if context.is_desk and (page is not before or isinstance(event, Opened)):
            turn = turn._replace(effects=(*page.choice_queries(context), *turn.effects))
        if context.is_desk and isinstance(event, Opened | Changed | Resumed | Closed):
            counts = page.count_queries(turn.state, context) if turn.effects else ()
            return turn._replace(effects=(*turn.effects, *counts))
        return turn

    def _handle(self, state: S, event: Event, context: Context) -> Turn[S]:
        """Return the next state. Answers and changes are the job's, inputs are the page's."""
        match event:
            case Rows(id_) if id_.startswith(COUNT_ID):
                return Turn(self.page(state).with_count(state, event))
            case Rows("list_choices"):
                return self.page(state).handle_choices(state, event, context)
            case Rows("file_for_people", (file, *_)):
                return Turn(state, (), file_verdict(file))
            case Opened(args):
                return self.handle_opened(state, args, context)
            case Rows():
                return self.handle_rows(state, event, context)
            case Closed():
                return self.handle_closed(state, event, context)
            case Changed(topic) if self.topics and topic not in self.topics:
                return Turn(state)
            case Changed():
                return self.handle_changed(state, event, context)
            case Resumed():
                return self.handle_resumed(state, context)
            case Scan(matches):
                return self.handle_scan(state, matches, context)
            case Back():
                return self.page_shown(state).go_back(state, context)
        return self.page_shown(state).handle_input(state, event, context)


def file_verdict(row: FileRow) -> Verdict:
    """Return where a file for people is, or why there is none."""
    if row["why"]:
        why = msg(row["why"], count=row["count"])
        return Verdict(WRONG, msg("log.not_exported", file=row["file"], why=why))
    if "done" in row:
        return Verdict(GOOD, msg("pick_list.written", count=row["count"], file=row["file"], done=row["done"]))
    return Verdict(GOOD, msg("list.exported", count=row["count"], file=row["file"]))
