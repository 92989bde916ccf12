"""State of one session, and the steps that every input takes: context, effects, commit, frame.

The functions of this package work on it; `Session` in aisle.session.session is what the app uses.
"""

from __future__ import annotations

import math
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from aisle import __version__
from aisle.errors import StorageError
from aisle.host.leader_lock import absolute_path
from aisle.jobs.job import (
    Context,
    Export,
    Opened,
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
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Frame, Msg, Verdict, msg
from aisle.outbox.local_notes import LANGUAGE
from aisle.outbox.operation_record import Author, new_id, principal_of
from aisle.scan.meaning import Accepts, Ambiguous, Multiplier, Quantity, Scan
from aisle.session import input_batch
from aisle.session.input_batch import InputBatch
from aisle.session.job_stack import JobResult, JobStack, MessageText, StackedJob
from aisle.session.meaning_resolver import MeaningResolver
from aisle.session.notifications import Notifications
from aisle.session.pending_question import NO_QUESTION, restore_question
from aisle.session.pin_state import NO_PIN, PinState, user_token_state
from aisle.session.profile import Profile, ScreenSize, SettingsWatch, StoreAccess, iso_time
from aisle.session.query_answers import answer_query
from aisle.session.typed_line import HeldScan, TypedLine
from aisle.session.unit_of_work import UnitOfWork, UnsentSecrets
from aisle.settings.time_zone import set_process_zone

if TYPE_CHECKING:
    from aisle.session.profile import OpenStore, SettingsWatch
    from aisle.session.trace import Trace


class SessionBase(ABC):
    """The state of a session. Not for use from several threads."""

    open_store: OpenStore | None = None
    """Opens what this terminal needs to work in another store; None where it stays in its own."""
    message_text: MessageText | None = None
    """What messages say, for whoever looks for a command by its words."""
    rows_in_view: Callable[[Frame, int, int, int], int] | None = None
    """How many rows of a list such a screen (columns, rows) shows, of a window that has so many of them."""
    is_fully_shown: Callable[[Frame, int, int], bool] | None = None
    """Whether such a screen shows all of a page at once."""
    has_themes = False
    """Whether the terminal has the colours of a theme."""

    def __init__(
        self,
        store_access: StoreAccess,
        profile: Profile,
        *,
        trace: Trace | None = None,
        settings_watch: SettingsWatch | None = None,
        start_courier: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.time,
        make_id: Callable[[], str] = new_id,
    ) -> None:
        self.is_ending = False
        self.bells = 0
        self.is_layout_reported = False
        """Whether it was said that the scanner's keyboard layout is not the terminal's."""
        self.reported_guesses: set[str] = set()
        """Codes of which it was said that they were completed, and what they were read as."""
        self._profile = profile
        set_process_zone(profile.time_zone)
        self._trace = trace
        self._settings_watch = settings_watch
        self._start_courier = start_courier
        self._clock = clock
        self._make_id = make_id
        self._session_id = make_id()
        self._use_store(store_access)
        self._stack = JobStack(self._answer_query, make_id)
        self._unit_of_work = UnitOfWork(store_access.journal, self._stack, self._session_id)
        self._user = SignIn("", "")
        self._typed_line = TypedLine()
        self._held_scan = HeldScan()
        self._useless_line_at = -math.inf
        """When the last line at a person's pace ended, where that was of no use."""
        self._unknown_scan_until = 0.0
        """Until when a link that stalls may bring more of a scan that is unknown; in seconds of the monotonic clock."""
        self._is_letter_refused = False
        """Whether the last line that was refused for it was a single letter."""
        self._is_unknown_multi_line = False
        """Whether that scan had several lines."""
        self._verdict: Verdict | None = None
        self._notification: tuple[Verdict | None, Verdict | None] = (None, None)
        """What came by itself last: the answer to an input that it stands beside, and what is shown of both."""
        self._answered_at = 0.0
        """When something was answered last, in seconds since 1970."""
        self._unreported_link = ""
        """What has come of the door to the service and is not told yet."""
        self._question = NO_QUESTION
        self._rejected_scan = input_batch.NO_REJECTED_SCAN
        self._paced: tuple[tuple[Any, ...], Quantity] | None = None
        """A number that came at scanner pace and waits for `y`, and the page that it is for."""
        self._batch = InputBatch()
        self._serial = 0
        self._operation_counts = (0, 0)
        """What waited, and what was doubtful, when that could be read last."""
        self._screen_size = ScreenSize()
        self._secrets = UnsentSecrets()
        self._pin_state = NO_PIN
        self._overridden: dict[str, Any] = {}
        """What the settings say of what somebody has changed on this terminal for himself."""
        self._is_closed = False
        self._last_frame: Frame | None = None
        """What was to be shown last."""
        self._cached_context: Context | None = None
        self._known_person = ""
        """Whoever is signed in, once the store's people were seen to hold this person."""
        self._cached_accepts: tuple[StackedJob, Accepts] | None = None
        """A page, as it was asked last what it has open."""

    def _use_store(self, store_access: StoreAccess) -> None:
        """Works in these rooms from now on."""
        self._store = store_access
        self._notifications = Notifications(
            store_access.reader,
            store_access.journal,
            store_access.socket,
            self._session_id,
            self._start_courier,
            lambda: self._clock(),
        )
        self._notifications.token_file = absolute_path(self._profile.token_file)
        self._resolver = MeaningResolver(store_access.reader, self._profile.in_store_patterns)
        store_access.reader.pools = self._profile.pools

    # Beginning

    def _initial_user(self) -> SignIn:
        """Whom this terminal belongs to, nobody included."""
        shared = self._store.journal.is_terminal_in_use(self._profile.terminal)
        stay = None if shared else self._store.journal.signed_in(self._profile.terminal, self._profile.terminal_since)
        who = SignIn(stay.user, stay.name) if stay else SignIn("", "")
        if self._profile.user and self._profile.user != who.user:
            who = SignIn(self._profile.user, self._profile.user)
        return who

    def _start(self, user: SignIn | None = None) -> None:
        user = user or self._initial_user()
        if LANGUAGE not in self._overridden:
            self._use_language_of(user.user)
        self._store.journal.begin_session(
            self._session_id,
            terminal=self._profile.terminal,
            store=self._profile.store,
            user=user.user,
            version=__version__,
            pid=os.getpid(),
        )
        self._notifications.start()
        self._sign_in(user)
        if user.user and self._verdict is None:
            self._verdict = Verdict(INFO, msg("sign_in.done", name=user.name or user.user))
            self._notification = (None, self._verdict)

    def _sign_in(self, user: SignIn) -> None:
        """Puts up the first page of this person (or of nobody), and the jobs that were left open."""
        self._user = user
        self._cached_context = None
        self._pin_state = PinState(confirmed_at=self._pin_state.confirmed_at)
        self._stack.jobs.clear()
        self._stack.push("home" if user.user else "sign_in")
        self._apply_result(self._stack.feed(Opened({}), self._context()), "")
        if user.user:
            self._verdict = self._unit_of_work.resume(self._profile.store, user.user) or self._verdict
            self._restore_question(self._unit_of_work.unanswered)
        if len(self._stack.jobs) > 1:
            self._apply_result(self._stack.feed(Resumed(), self._context()), "")

    def _restore_question(self, meaning: Ambiguous | Multiplier | Scan | None) -> None:
        """What an end in mid-work left without an answer is asked again, and kept for whoever comes after that."""
        if meaning is None:
            return
        self._question, self._verdict = restore_question(meaning, self._stack.jobs)
        self._unit_of_work.add_answer(meaning, self._batch.at, "", self._context(), self._verdict)

    # What follows from it

    def _apply_result(self, result: JobResult, raw: str) -> None:
        untold = self._unit_of_work.has_writes
        self._unit_of_work.add(result, self._batch.at, raw, self._context())
        if result.verdict:
            self._verdict = result.verdict
            self._answered_at = self._batch.at
            self._ring_bell(result.verdict)
        self._question = self._question.still_on_page(self._stack.jobs)
        if untold and result.opens_page and not self._commit():
            return  # a page over a job that has written: on the way back that job asks for what it has written
        for order in result.session_effects:
            self._run_effect(order)

    def _run_effect(self, effect: SessionEffect) -> None:
        if isinstance(effect, Quit):
            self.is_ending = True
        elif isinstance(effect, SwitchStore):
            self._switch_store(effect.store)
        elif isinstance(effect, PinConfirmed):
            self._pin_state = self._pin_state._replace(valid_until=effect.until, confirmed_at=self._batch.at)
        elif isinstance(effect, UndoLast):
            self._undo_last()
        elif isinstance(effect, SetPreference):
            from aisle.session.profile import set_preference  # hardly ever, and no start pays for it

            self._profile, self._overridden = set_preference(self._profile, self._overridden, effect)
        else:
            self._change_user(effect)

    def _change_user(self, effect: SignIn | SignOut) -> None:
        """The terminal is another person's, or nobody's; what the one before had of his own goes with him, and the
        language that this one chose here before comes back."""
        self._unit_of_work.set_sign_in(effect)
        if not self._commit():
            return
        who = effect if isinstance(effect, SignIn) else SignIn("", "")
        if self._user.user not in ("", who.user):
            self._profile, self._overridden = self._profile._replace(**self._overridden), {}
        if who.user != self._user.user:
            self._use_language_of(who.user)
        self._sign_in(who)

    def _use_language_of(self, user: str) -> None:
        """In the language that this person chose on this host, if he did and that can be read."""
        rows: Sequence[Mapping[str, Any]] = ()
        with suppress(StorageError):
            rows = self._store.reader.query("language", {"user": user})[0] if user else ()
        if rows:
            from aisle.session.profile import set_language

            self._profile, self._overridden = set_language(self._profile, self._overridden, str(rows[0]["language"]))

    @abstractmethod
    def _undo_last(self) -> None:
        """Undoes what whoever is signed in did last on this host."""

    @abstractmethod
    def _switch_store(self, store: str) -> None:
        """Goes on in another store, as the same person."""

    def _show_verdict(self, verdict: Verdict) -> None:
        self._verdict = verdict
        self._ring_bell(verdict)

    def _ring_bell(self, verdict: Verdict) -> None:
        if verdict.kind in (WRONG, ASK):
            self.bells = 3
        elif verdict.kind == GOOD and self._profile.rings_when_good:
            self.bells = max(self.bells, 1)

    # Making it durable

    def _commit(self) -> bool:
        """One transaction for all that happened since the last one; if it fails, nothing has happened."""
        try:
            self._commit_or_raise()
        except StorageError as error:
            if not self._unit_of_work.can_roll_back:
                raise
            self._question = NO_QUESTION
            self._batch, self.is_ending = self._batch._replace(failed=True), False
            self._verdict = Verdict(WRONG, msg("session.not_saved", why=self._error_message(error)))
            self.bells = 3
            if self._trace:
                self._trace.mark_lost(self._verdict)
            return False
        return True

    def _commit_or_raise(self) -> None:
        """The same, and those who wait for it are told. Raises StorageError."""
        secrets = self._unit_of_work.secrets
        asked = self._question.still_on_page(self._stack.jobs).to_store()
        if asked and self._verdict and not self._unit_of_work.is_last_event(asked):
            self._unit_of_work.add_answer(asked, self._batch.at, "", self._context(), self._verdict)
        own = (
            principal_of(self._user.user)
            if self._unit_of_work.supervises and self._user_token_state()["wanted"]
            else ""
        )
        wakes = self._unit_of_work.commit(
            Author(self._profile.store, self._user.user, terminal=self._profile.terminal, supervisor_principal=own)
        )
        self._batch = self._batch._replace(uncommitted=0)
        if self._trace:
            self._trace.mark_committed()
        self._secrets.send(self._store, secrets)
        if wakes:
            self._notifications.subscribe(self._stack.top.topics)  # before anything comes of it
            self._store.socket.wake_courier()

    @abstractmethod
    def _error_message(self, error: StorageError) -> Msg:
        """Why it could not be made durable, and what was done about it, or has to be done."""

    def _resend_secrets(self) -> None:
        """A courier that was not there yet, or did not hear it, is told again what no file holds."""
        self._secrets.resend(self._store)

    # What it knows

    def _begin_batch(self, page_before: tuple[Any, ...] = ()) -> None:
        """One drained queue is one moment: what came in one read happened together."""
        self._batch = InputBatch(self._clock(), page_before, self._question)
        self._cached_context = None
        self._resolver.start_batch(is_held=bool(self._held_scan.lines))

    @property
    def has_user_token(self) -> bool:
        """Whether what needs the PIN of whoever stands here can be sent."""
        return bool(self._user_token_state()["there"])

    def _user_token_state(self) -> Mapping[str, Any]:
        """How it stands with the PIN of whoever is signed in."""
        return user_token_state(self._store.reader, self._user.user, self._context().now)

    def _accepts(self) -> Accepts:
        """What an input may be on the page on the screen, under what the session itself asks; each page is asked once,
        however much is scanned there."""
        top = self._stack.top
        if self._cached_accepts is None or self._cached_accepts[0] is not top:
            self._cached_accepts = top, top.job.accepts(top.state)
        return self._question.accepts(self._cached_accepts[1])

    def _answer_query(self, query: Query | Export) -> Rows:
        return answer_query(query, self._store.reader, self._profile, self._screen_size, self.message_text)

    def _context(self) -> Context:
        if self._cached_context is None:
            self._cached_context = Context(
                store=self._profile.store,
                user=self._user.user,
                person_name=self._user.name,
                now=iso_time(self._batch.at),
                policy=self._profile.policy,
                window_rows=self._screen_size.list_rows,
                terminal=self._profile.terminal,
                extra_rows=self._screen_size.extra_list_rows,
            )
        return self._cached_context
