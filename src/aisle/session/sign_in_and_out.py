"""Signing in and out at the terminal: start of a session, jobs that the person left open, and removed people.

Who the person is: `job_context_and_query_answers`. Checks of a PIN: `pin_check`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aisle import __version__
from aisle.errors import StorageError
from aisle.jobs.job import Opened, Resumed, SignIn, SignOut
from aisle.jobs.view import INFO, WRONG, Verdict, msg
from aisle.outbox.local_notes import LANGUAGE
from aisle.session.event_runner import SessionPart
from aisle.session.keep_and_restore_pages import KeptPages
from aisle.session.page import CoveredQuestion
from aisle.session.pending_question import NO_OPEN_QUESTIONS

if TYPE_CHECKING:
    from aisle.jobs.row_types.people_stores_and_features import PreferencesRow

NOBODY = SignIn("", "")


@dataclass(eq=False)
class SignInFlow(SessionPart):
    """Sign-in and sign-out: the page of a person comes on the screen."""

    _kept_pages: KeptPages
    _covered_question: CoveredQuestion
    _fixed_person: SignIn | None = None

    def __post_init__(self) -> None:
        self._known_person = ""
        """User who is signed in, once seen among the people of the store."""

    def start(self, user: SignIn | None = None) -> None:
        """Begin a session of the journal and sign in `user`, or whom the terminal belongs to."""
        user = user or self._fixed_person or self._remembered_user()
        if LANGUAGE not in self._profile.personal_values:
            self.use_preferences_of(user.user)
        profile = self._profile.current
        self._store.journal.sessions.begin_session(
            self._store.session_id,
            terminal=profile.terminal,
            store=profile.store,
            user=user.user,
            version=__version__,
            pid=os.getpid(),
        )
        self._store.notifications.start()
        self._sign_in(user)
        if user.user:
            self._verdicts.greet(Verdict(INFO, msg("sign_in.done", name=user.name or user.user)))

    def _remembered_user(self) -> SignIn:
        """Return whom the terminal belongs to; nobody if another session uses it."""
        journal, profile = self._store.journal, self._profile.current
        is_shared = journal.sessions.is_terminal_in_use(profile.terminal)
        stay = None if is_shared else journal.sessions.signed_in(profile.terminal, profile.terminal_since)
        user = SignIn(stay.user, stay.name) if stay else NOBODY
        if profile.user and profile.user != user.user:
            return SignIn(profile.user, profile.user)
        return user

    def change(self, effect: SignIn | SignOut) -> None:
        """Sign in another person or nobody, with their own language instead of the last person's choices."""
        self._store.unit_of_work.set_sign_in(effect)
        self._event_runner.commit_or_stop()
        user, last = effect if isinstance(effect, SignIn) else NOBODY, self._context.user
        if last.user not in ("", user.user):
            self._profile.reset_personal()
        if user.user != last.user:
            self.use_preferences_of(user.user)
        self._sign_in(user)

    def use_preferences_of(self, user: str) -> None:
        """Use the language and the theme that a person chose on this host, if they can be read."""
        rows: Sequence[PreferencesRow] = ()
        with suppress(StorageError):
            rows = self._store.reader.query("preferences", {"user": user})[0] if user else ()
        if rows:
            self._profile.use_preferences(rows[0]["language"], rows[0]["theme"])

    def _sign_in(self, user: SignIn) -> None:
        """Show the first page of a person, or of nobody, and reopen the jobs that were left open."""
        self._context.sign_in(user)
        self._pin_check.reset()
        self._page.stack.jobs.clear()
        if not user.user:
            self._page.stack.push("sign_in")
            self._event_runner.feed(Opened({}))
            return
        self._page.stack.push("home")
        self._event_runner.feed(Opened({"queries_later": True}))  # below resumed work, home needs no rows
        self._resume_work(user.user)
        shown = self._verdicts.current
        self._event_runner.feed(Resumed())
        if len(self._page.stack.jobs) == 1:
            self._verdicts.current = shown or self._verdicts.current

    def _resume_work(self, user: str) -> None:
        """Reopen jobs, and ask again what an interrupted session has asked."""
        unit_of_work = self._store.unit_of_work
        verdict = unit_of_work.resume(self._profile.current.store, user, self._kept_pages.load(user))
        self._verdicts.current = verdict or self._verdicts.current
        questions = unit_of_work.questions.on_page(self._page.stack.jobs)
        if questions.question.is_pending:
            self._page.question, self._verdicts.current = questions.question, questions.question.verdict
        if questions.number.text:
            self._covered_question.note()
            self._page.asked_number, self._verdicts.current = questions.number, questions.number.question
        if questions.is_scan_refused:
            self._batch.refused_scan.restore(self._page.stack.jobs, questions.number.text)
        if questions != NO_OPEN_QUESTIONS and (shown := self._verdicts.current):
            context, stored = self._context.current(), questions.without_pages()
            unit_of_work.add_answer(stored, self._context.at, questions.number.text, context, shown)

    def sign_out_removed_person(self) -> None:
        """Sign out who was removed from the store's people, or is unknown where only known people work.

        Whoever was renamed goes on under the new name.
        """
        user = self._context.user.user
        if not user:
            return
        rows, is_list_known = self._store.reader.query("person", {"user": user})
        if rows:
            self._known_person = user
            self._take_name(rows[0]["name"])
            return
        known_people_only = self._profile.current.policy.known_people_only
        if not is_list_known or not (self._known_person == user or known_people_only):
            return
        name = self._context.user.name or user
        self._event_runner.run_effect(SignOut())
        if not self._context.user.user:
            self._verdicts.show(Verdict(WRONG, msg("session.no_longer_works_here", name=name)))

    def _take_name(self, name: str) -> None:
        """Show the person under the name that the store's list has now."""
        if name and name != self._context.user.name:
            self._context.sign_in(self._context.user._replace(name=name))
