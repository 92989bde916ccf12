"""State of one running app: inputs and clock ticks in, frames out.

`Session` wires its parts together. An input passes `MultiLineScans` (is its scan complete), `InputHandler` (line or
key), `MeaningResolver` (what it means), `MeaningHandler` (question or job), `PinCheck`, `JobStack`, `EventRunner`
and `UnitOfWork`; then `FrameBuilder` shows the result.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aisle.errors import StorageError
from aisle.host.database import FileReplaced
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import (
    FileEffect,
    PinConfirmed,
    Query,
    Quit,
    Resumed,
    Rows,
    SessionEffect,
    SetPreference,
    SignIn,
    SignOut,
    SwitchStore,
    UndoLast,
)
from aisle.jobs.view import Frame, ListView, Msg, Step
from aisle.outbox.operation_record import new_id
from aisle.scan.inputs_and_line_grouping import DecodedInput
from aisle.session.apply_input import InputHandler
from aisle.session.apply_meaning import MeaningHandler
from aisle.session.build_frame import FrameBuilder
from aisle.session.event_runner import EventRunner
from aisle.session.input_batch import InputBatch
from aisle.session.job_context_and_query_answers import SessionContext, answer_query
from aisle.session.job_stack import JobStack
from aisle.session.keep_and_restore_pages import KeptPages
from aisle.session.meaning_resolver import MeaningResolver, PageReactions
from aisle.session.multi_line_scans import MultiLineScans, ScanUndo
from aisle.session.open_pages import Addresses, HelpPages
from aisle.session.page import CoveredQuestion, Page, TypedLine
from aisle.session.pin_check import PinCheck
from aisle.session.poll_changes import ChangePoller, LinkReports
from aisle.session.profile import Profile, ProfileInForce, SettingsWatch, profile_from_settings
from aisle.session.scanned_or_typed_lines import LinePreparer, ScannedOrTyped, ShortCodes
from aisle.session.shown_verdict_and_bells import Verdicts, error_message
from aisle.session.sign_in_and_out import SignInFlow
from aisle.session.store_connection import StoreAccess, StoreConnection, open_store
from aisle.session.tab_bar_with_counts import Tabs
from aisle.session.terminal_screen_and_keys import ScreenSize, Terminal
from aisle.settings.setting_definitions import Settings
from aisle.settings.settings_files_and_folders import LoadedSettings
from aisle.supervisor_role import SUPERVISORS

if TYPE_CHECKING:
    from aisle.session.switch_store import OpenStore
    from aisle.session.trace import Trace


class Session:
    """Session of one terminal. Not for use from several threads."""

    open_store: OpenStore | None = None
    """Opens another store for this terminal; None if it stays in its own."""

    def __init__(
        self,
        store_access: StoreAccess,
        profile: Profile,
        *,
        person: SignIn | None = None,
        trace: Trace | None = None,
        settings_watch: SettingsWatch | None = None,
        start_courier: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.time,
        make_id: Callable[[], str] = new_id,
    ) -> None:
        self._trace = trace
        self._is_closed = False
        self.terminal = Terminal()
        self.profile = ProfileInForce(profile, settings_watch)
        self.context = SessionContext(self.profile, self.terminal, clock)
        self.verdicts = Verdicts(self.profile, self.context)
        self.stack = JobStack(self._answer_query, make_id)
        self.page = Page(self.stack)
        self.store = StoreConnection(
            store_access, self.profile, self.stack, start_courier, lambda: self.context.clock(), make_id
        )
        self.pin_check = PinCheck(self.page, self.context, self.store, self.verdicts)
        self._wire_work()
        self._wire_inputs(person)

    def _wire_work(self) -> None:
        """Make the parts that run jobs and build frames."""
        self.batch = InputBatch()
        self.typed_line = TypedLine()
        self.event_runner = EventRunner(
            self.page,
            self.batch,
            self.context,
            self.profile,
            self.store,
            self.verdicts,
            self.pin_check,
            self._trace,
            self._run_effect,
            self._explain_error,
        )
        self._shared = (
            self.page, self.batch, self.context, self.profile, self.terminal,
            self.store, self.verdicts, self.pin_check, self.event_runner,
        )  # fmt: skip
        """Arguments of every `SessionPart`."""
        self.tabs = Tabs(*self._shared)
        self.addresses = Addresses(*self._shared)
        self.frames = FrameBuilder(*self._shared, self.typed_line, self.tabs, self.addresses)

    def _wire_inputs(self, person: SignIn | None) -> None:
        """Make the parts that inputs and changes enter by."""
        reactions = PageReactions(self.page, self.context)
        self.resolver = MeaningResolver(*self._shared, reactions)
        scanned_or_typed = ScannedOrTyped(self.resolver, self.page, self.store)
        short_codes = ShortCodes(self.resolver, self.page, self.store, reactions)
        meanings = MeaningHandler(*self._shared, reactions, self.frames.current)
        help_pages = HelpPages(*self._shared, self.frames.current)
        covered_question = CoveredQuestion(self.page, self.verdicts)
        self.inputs = InputHandler(
            *self._shared,
            self.resolver,
            scanned_or_typed,
            short_codes,
            LinePreparer(self.resolver, self.page),
            meanings,
            help_pages,
            self.tabs,
            self.addresses,
            self.typed_line,
            covered_question,
            self._trace,
        )
        undo = ScanUndo(self.page, self.store, self.inputs)
        self.scans = MultiLineScans(*self._shared, self.resolver, scanned_or_typed, short_codes, self.inputs, undo)
        self.kept_pages = KeptPages(*self._shared)
        self.sign_in = SignInFlow(*self._shared, self.kept_pages, covered_question, person)
        self.changes = ChangePoller(
            *self._shared,
            self.resolver,
            self.inputs,
            self.sign_in,
            LinkReports(*self._shared),
            self.frames,
            self.tabs,
            self._recover_files,
            self._explain_error,
        )

    # What the screen calls

    def start(self, size: tuple[int, int] | None = None) -> Frame:
        """Sign in the person of this terminal, at the step where the work was left. `size`: columns and rows."""
        if size:
            self.terminal.size = ScreenSize(*size)
        self.start_batch()
        self.sign_in.start()
        if size:
            self._open_first_page()
        self.event_runner.commit()
        return self.frames.build()

    def take(self, items: Sequence[DecodedInput], at: float) -> Frame:
        """Apply inputs in their order, commit them in one transaction, and return the frame to show."""
        if self.frames.last and self.scans.skip_silence(items):
            return self.frames.last
        self.start_batch()
        self.verdicts.start_batch()
        before, page = self.verdicts.current, self._page_name()
        with self.event_runner.roll_back_failed_input():
            self.scans.apply(items, at)
            self.page.view(self.profile.current.names_by_letter)  # a page that cannot be shown must not be kept
            if self._page_name() != page:
                self.verdicts.end_report(before)
            has_writes = self.store.unit_of_work.has_writes
            if has_writes:
                self.tabs.note_changes()
            self.event_runner.commit()
        if self.batch.failure:
            self.scans.drop_held()
            self.inputs.reject_rest(items[self.batch.handled :], self.batch.failure)
            return self.frames.build()
        with self.event_runner.roll_back_failed_update():
            if has_writes:
                self.event_runner.query_written()
            self.verdicts.current = self.batch.refused.final_verdict(self.verdicts.current)
            if self.kept_pages.keep_question():
                self._keep_pages()
        return self.frames.build()

    def _page_name(self) -> tuple[int, str, str]:
        """Return a name of the page on the screen; pages of one job differ by their step."""
        top = self.stack.top
        return len(self.stack.jobs), top.job.name, top.job.step_name(top.state)

    def start_batch(self) -> None:
        """Begin a batch: all that happens in it happens at one moment."""
        self.context.start_batch()
        self.batch.restart(self.page.identity if self.stack.jobs else (), self.page.question, self.context.at)
        self.resolver.start_batch(is_line_held=self.scans.has_held_lines)

    def poll(self, *, notified: bool = False) -> Frame | None:
        """Check for changes, only those of the topics notified of if `notified`; return None if nothing changes."""
        self.start_batch()
        topics = self.store.socket.drain()
        with self.event_runner.roll_back_failed_update():
            return self.changes.poll(topics if notified else None)
        return self.frames.build()

    def keep_courier(self) -> None:
        """Start a courier if there is none."""
        self.store.notifications.keep_courier()

    def resize(self, columns: int, rows: int) -> Frame:
        """Fit lists to another size of the screen. The first page of a supervisor's desk is Today."""
        self.start_batch()
        if self.terminal.size == (columns, rows):
            return self.frames.build()
        is_first = not any(self.terminal.size)
        self.terminal.size = ScreenSize(columns, rows)
        with self.event_runner.roll_back_failed_update():
            self._resize_pages()
            if is_first:
                self._open_first_page()
            self.event_runner.commit()
        return self.frames.build()

    def _resize_pages(self) -> None:
        self.stack.resize_lists(self.context.current())
        view = self.page.view(self.profile.current.names_by_letter)
        if isinstance(view, ListView | Step) or self.stack.top.job.raw_input:
            result = self.stack.feed(Resumed(), self.context.current())
            self.event_runner.apply(replace(result, refreshes=[]))  # the same rows again need no refresh

    def on_painted(self, serials: Sequence[int], at: float) -> None:
        """Note that the verdicts on these lines are on the screen since this monotonic moment."""
        if self._trace:
            self._trace.write_painted(at)

    def accept_downloads(self, offer: Callable[[str, bytes], bool]) -> None:
        """Offer files as downloads from now on."""
        self.terminal.offer_file = offer

    def fileno(self) -> int | None:
        """Return the descriptor that becomes readable when the courier notifies."""
        return self.store.socket.fileno()

    def confirm_pin(self, token: str, valid_until: float) -> None:
        """Accept the token of a PIN that was checked outside; only the session of one person takes it."""

    def close(self) -> None:
        """End the session; everything is durable already. May be called twice."""
        if self._is_closed:
            return
        self._is_closed = True
        closes = (self._keep_pages, self.store.socket.close, self.store.end_session)
        for close in (self._trace.close, *closes) if self._trace else closes:
            with suppress(StorageError, OSError):  # the reason why the program ends matters more
                close()

    @property
    def bells(self) -> int:
        """Return the bells to ring. Whoever rings them sets it to 0."""
        return self.verdicts.bells

    @bells.setter
    def bells(self, bells: int) -> None:
        self.verdicts.bells = bells

    @property
    def is_ending(self) -> bool:
        """Return whether the session has ended."""
        return self.event_runner.is_ending

    @is_ending.setter
    def is_ending(self, is_ending: bool) -> None:
        self.event_runner.is_ending = is_ending

    # What its parts call

    def _answer_query(self, query: Query | FileEffect) -> Rows:
        return answer_query(query, self.store.reader, self.profile.current, self.terminal, self.context.at)

    def _run_effect(self, effect: SessionEffect) -> None:
        match effect:
            case Quit():
                self.event_runner.is_ending = True
            case SwitchStore():
                self._switch_store(effect.store)
            case PinConfirmed():
                self.pin_check.accept_pin(effect.until)
            case UndoLast():
                self.event_runner.undo_last()
            case SetPreference():
                self.profile.personalise(effect)
            case SignIn() | SignOut():
                self._keep_pages()
                self.sign_in.change(effect)
                self._open_first_page()

    def _keep_pages(self) -> None:
        """Keep the pages of a person at a desk."""
        if self.tabs.are_shown:
            self.kept_pages.keep()

    def _open_first_page(self) -> None:
        """Open the pages that a person who supervises left at a desk, else Today unless work goes on.

        Pages that ask for a confirmation are opened for everybody. The greeting stays.
        """
        verdict = self.verdicts.current
        is_desk = self.tabs.are_shown and self._begins_with_today()
        is_restored = (is_desk or self.kept_pages.has_question) and self._restore_pages()
        if is_desk and not is_restored and len(self.stack.jobs) == 1:
            self.tabs.open("today")
        self.verdicts.current = verdict

    def _restore_pages(self) -> bool:
        """Put the pages that the person left on the screen. Return whether there were any."""
        is_restored = (self.tabs.are_shown or self.kept_pages.has_question) and self.kept_pages.restore()
        if is_restored:
            self.event_runner.feed(Resumed())
        return is_restored

    def _begins_with_today(self) -> bool:
        """Return whether the person signed in is known as a supervisor."""
        with suppress(StorageError):
            people = self.store.reader.query("person", {"user": self.context.user.user})[0]
            return any(row["role"] in SUPERVISORS for row in people)
        return False

    # Rarely needed: imported when it is

    def _switch_store(self, number: str) -> None:
        from aisle.session.switch_store import StoreSwitch

        StoreSwitch(*self._shared, self.sign_in).switch(number, self.open_store)

    def _recover_files(self) -> None:
        from aisle.session.lost_outbox_recovery import recovery_verdict

        self.verdicts.show(recovery_verdict(self.store, self.sign_in))

    def _explain_error(self, error: StorageError) -> Msg:
        """Return why nothing could be written, after a recovery of the files if they were replaced."""
        if not isinstance(error, FileReplaced):
            return error_message(error)
        from aisle.session.lost_outbox_recovery import recovery_message

        return recovery_message(self.store, self.sign_in)


class SingleUserSession(Session):
    """Session of one person who was signed in before it began. It ends when somebody else signs in."""

    first_address = ""
    """Address of the first page; empty for the usual one."""

    def __init__(self, person: SignIn, store_access: StoreAccess, profile: Profile, **options: Any) -> None:
        super().__init__(store_access, profile._replace(user=person.user), person=person, **options)
        self._person = person

    def _open_first_page(self) -> None:
        """Open the page of the browser's address, also above work that goes on; as it was left if it is that page."""
        address, self.first_address = self.first_address, ""
        if address.strip("/"):
            self._restore_pages()
            self.addresses.open(address)
        else:
            super()._open_first_page()

    def _begins_with_today(self) -> bool:
        """Return True: whoever opens a desk of their own begins with Today."""
        return True

    def confirm_pin(self, token: str, valid_until: float) -> None:
        """Accept the token of a PIN that was checked before the session began, and send it to the courier."""
        self.pin_check.accept_token(self._person.user, token, valid_until)
        self.event_runner.resend_secrets()

    def _run_effect(self, effect: SessionEffect) -> None:
        """End the session where another one would change its person: the next one has to prove who it is."""
        if isinstance(effect, SignIn) and effect.user == self._person.user:
            return
        if not isinstance(effect, SignIn | SignOut):
            super()._run_effect(effect)
            return
        self.store.unit_of_work.set_sign_in(SignOut())
        self.event_runner.commit_or_stop()
        self.event_runner.is_ending = True


def open_session(
    store_folder: StoreFolder,
    settings: Settings,
    start_courier: Callable[[], None] | None = None,
    loaded: LoadedSettings | None = None,
    person: SignIn | None = None,
) -> Session:
    """Open the session of this terminal. Raise StorageError or SettingsError.

    With `loaded` it follows changes of the settings files. With `person` it is that person's alone.
    """
    profile = profile_from_settings(settings, loaded.sources if loaded else None)
    trace = None
    if settings.trace:
        from aisle.session.trace import Trace

        trace = Trace(Path(settings.trace), time.monotonic())
    store_access = open_store(store_folder)
    watch = SettingsWatch(loaded) if loaded else None
    make: Callable[..., Session] = partial(SingleUserSession, person) if person else Session
    options = {} if start_courier is None else {"start_courier": start_courier}
    return make(store_access, profile, trace=trace, settings_watch=watch, **options)
