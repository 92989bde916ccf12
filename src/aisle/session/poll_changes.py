"""Changes from elsewhere: those of notified topics at once, of everything every few seconds.

It also signs out who was removed from the store's people, and takes changed names.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from aisle.errors import StorageError
from aisle.jobs.find_and_report_refusals import refusal_verdict, with_reported
from aisle.jobs.job import Changed, SignOut
from aisle.jobs.view import INFO, WRONG, Frame, Msg, Verdict, msg
from aisle.session.apply_input import InputHandler
from aisle.session.build_frame import FrameBuilder
from aisle.session.courier_connection import LASTING_STATES
from aisle.session.event_runner import EventRunner
from aisle.session.job_context import SessionContext
from aisle.session.meaning_resolver import MeaningResolver
from aisle.session.profile_in_force import ProfileInForce
from aisle.session.require_pin import PinCheck
from aisle.session.shown_verdict_and_bells import ALARM_MESSAGES, Verdicts
from aisle.session.sign_in_and_out import SignInFlow
from aisle.session.store_connection import StoreConnection
from aisle.session.tab_bar_with_counts import Tabs
from aisle.session.top_job_and_questions import Page
from aisle.session.watch_settings_files import ProfileChange, SettingsWatch

if TYPE_CHECKING:
    from aisle.jobs.row_types.log import UnusedCountsRow


class ChangePoller:
    """Tells jobs and people what others have changed."""

    def __init__(
        self,
        page: Page,
        context: SessionContext,
        profile: ProfileInForce,
        store: StoreConnection,
        verdicts: Verdicts,
        pin_check: PinCheck,
        event_runner: EventRunner,
        resolver: MeaningResolver,
        inputs: InputHandler,
        sign_in: SignInFlow,
        frames: FrameBuilder,
        tabs: Tabs,
        recover_files: Callable[[], None],
        explain_error: Callable[[StorageError], Msg],
    ) -> None:
        self._page = page
        self._context = context
        self._profile = profile
        self._store = store
        self._verdicts = verdicts
        self._pin_check = pin_check
        self._event_runner = event_runner
        self._resolver = resolver
        self._inputs = inputs
        self._sign_in = sign_in
        self._frames = frames
        self._tabs = tabs
        self._recover_files = recover_files
        self._explain_error = explain_error
        self._known_person = ""
        """User who is signed in, once seen among the people of the store."""
        self._undos_since = ""
        """Time from which undos are reported that changed nothing."""
        self._reported_undos: tuple[str, ...] = ()
        self._reported_counts: tuple[str, ...] = ()
        """Counts of which this session reported that they are not used."""
        self._unreported_link = ""
        """Message on the link that waits until the screen is free for it."""

    def poll(self, notified: Iterable[str] | None) -> Frame | None:
        """Check the notified topics, or everything (None or due); return None if the screen stays the same."""
        topics = frozenset(notified or ())
        if notified is None or self._store.notifications.is_full_check_due():
            return self._check_everything()
        if not topics:
            return None
        try:
            changes = self._store.notifications.changes_of_topics(topics, self._page.topics)
        except StorageError as error:
            return self._report_unreadable(error)
        if changes is None:
            return self._check_everything()
        before = self._frames.last
        self._notify_jobs(changes)
        after = self._frames.build()
        return None if before and not self._verdicts.bells and _is_same_but_age(before, after) else after

    def _check_everything(self) -> Frame:
        if self._store.journal.is_replaced:
            self._recover_files()
            return self._frames.build()
        notifications = self._store.notifications
        notifications.heartbeat()
        notifications.keep_courier()
        self._event_runner.resend_secrets()
        try:
            changes = notifications.all_changes()
        except StorageError as error:
            return self._report_unreadable(error)
        self._notify_jobs(changes)
        self._retry_saving()
        if self._profile.watch:
            self._check_settings(self._profile.watch)
        self._report_link(self._store.notifications.link_message())
        self._report_restore()
        self._report_undos_after_counts()
        self._report_unused_counts()
        self._check_person()
        self._pin_check.remind()
        frame = self._frames.build()
        if frame.link.waiting:
            self._store.notifications.subscribe_waiting()
        return frame

    def _notify_jobs(self, changes: Sequence[Changed]) -> None:
        """Tell the job on the screen, and commit what follows; after a failure, tell it again later."""
        before, page = self._verdicts.snapshot(), self._page.identity
        is_secret = self._inputs.is_typing_secret()
        if changes:
            self._tabs.note_changes()
            self._event_runner.notify(changes)
            self._verdicts.keep_question(before, is_open=self._page.identity == page and self._has_choices())
        if self._event_runner.commit():
            self._store.notifications.acknowledge()
            if self._page.identity != page:
                self._inputs.leave_page(page, self._context.at, is_secret=is_secret)
        else:  # nobody did anything that was lost
            self._verdicts.restore(before)

    def _has_choices(self) -> bool:
        """Return whether the page asks a question that a choice answers."""
        return self._page.accepts().choices > 0

    def _retry_saving(self) -> None:
        """End the alarm that nothing can be written once it can be written again."""
        verdict = self._verdicts.current
        alarm = verdict.text if verdict and verdict.text.id in ALARM_MESSAGES else None
        if not (alarm or self._store.unit_of_work.has_failed):
            return
        if self._store.unit_of_work.retry() and alarm:
            has_lost_input = alarm.id != "session.cannot_save"
            text_id = "session.redo_unsaved" if has_lost_input else "session.saving_works"
            self._verdicts.current = Verdict(INFO, msg(text_id))

    def _check_person(self) -> None:
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

    def _check_settings(self, watch: SettingsWatch) -> None:
        """Apply changed settings; report them once no refusal or question stands."""
        change = watch.check()
        if change:
            watch.unreported = change.verdict
            self._apply_settings(change)
        if watch.unreported and not self._verdicts.is_busy:
            self._verdicts.notify(watch.unreported)
            watch.unreported = None

    def _apply_settings(self, change: ProfileChange) -> None:
        """Apply a new profile to what follows; open jobs go on as they are."""
        if change.profile:
            self._profile.apply_settings(change.profile)
            self._resolver.forget()
            self._store.apply_pool_names()
            self._context.forget()
            self._sign_in.use_preferences_of(self._context.user.user)

    def _report_link(self, link_message: str) -> None:
        """Report trouble with the link, or its end, once the screen is free for it."""
        is_over = link_message in ("open", "going") and self._unreported_link in LASTING_STATES
        self._unreported_link = "" if is_over else link_message or self._unreported_link
        if self._unreported_link and not self._verdicts.is_busy:
            self._verdicts.notify(self._link_verdict(self._unreported_link))
            self._unreported_link = ""

    def _link_verdict(self, link_message: str) -> Verdict:
        match link_message:
            case "refused":
                return Verdict(WRONG, self._access_refused_message())
            case "open":
                return Verdict(INFO, msg("session.access_restored"))
            case "going":
                return Verdict(INFO, msg("session.courier_works_again"))
            case "stuck":
                return Verdict(WRONG, msg("session.courier_stuck"))
            case _:
                return Verdict(WRONG, msg("session.program_outdated"))

    def _access_refused_message(self) -> Msg:
        """Return why the service refuses this host."""
        notifications, profile = self._store.notifications, self._profile.current
        other_file = notifications.refused_token_file()
        if reason := notifications.token_error():
            path = other_file or notifications.token_file
            short = reason.replace(path, os.path.basename(path)) if path else reason
            return msg("session.no_token", why=reason, short=short)
        if nearest := notifications.suggested_store():
            return msg("session.no_store", store=profile.store, nearest=nearest)
        file = other_file or os.path.basename(profile.token_file) or "token_file"
        return msg("session.access_refused", store=profile.store, file=file)

    def _report_restore(self) -> None:
        """Report that the service was restored from a copy and what it lost is sent again."""
        count = self._store.notifications.resent_after_restore()
        if count is not None and not self._verdicts.is_busy:
            text = msg("session.restored", count=count) if count else msg("session.restored_whole")
            self._verdicts.notify(Verdict(INFO, text))
            self._store.notifications.acknowledge_restore()

    def _report_undos_after_counts(self) -> None:
        """Report an undo that changed nothing because somebody counted the goods before it arrived."""
        user, self._undos_since = self._context.user.user, self._undos_since or self._context.current().now
        if not user or self._verdicts.is_busy:
            return
        rows, _ = self._store.reader.query("undos_after_counts", {"user": user, "since": self._undos_since})
        fresh = [row for row in rows if row["op_id"] not in self._reported_undos]
        if fresh:
            self._reported_undos = with_reported(self._reported_undos, fresh)
            self._verdicts.show(refusal_verdict(fresh[-1], "session.undo_after_count"))

    def _report_unused_counts(self) -> None:
        """Report a count that the service does not use, because it had a later one of the same goods."""
        user, since = self._context.user.user, self._undos_since
        if not user or not since or self._verdicts.is_busy:
            return
        rows, _ = self._store.reader.query("unused_counts", {"user": user, "since": since})
        fresh = [row for row in rows if row["key"] not in self._reported_counts]
        if fresh:
            self._reported_counts = tuple(row["key"] for row in rows)
            self._verdicts.show(Verdict(WRONG, _unused_count_message(fresh[-1])))

    def _report_unreadable(self, error: StorageError) -> Frame:
        """Report that the files cannot even be read, as long as it is so."""
        self._verdicts.show(Verdict(WRONG, msg("session.cannot_save", why=self._explain_error(error))))
        return self._frames.build()


def _unused_count_message(row: UnusedCountsRow) -> Msg:
    label, counted, later = row["label"], row["counted_quantity"], row["later_quantity"]
    if later is None:
        return msg("session.count_not_used", label=label, counted=counted)
    name = row["user_name"]
    return msg("session.count_not_used_later", label=label, counted=counted, name=name, later=later)


def _is_same_but_age(before: Frame, after: Frame) -> bool:
    """Return whether two frames differ in nothing but the age of the data."""
    return after._replace(link=after.link._replace(age_s=before.link.age_s)) == before
