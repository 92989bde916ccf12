"""Polls for changes from elsewhere, and reports of what the courier did: link, restored service, undos, counts.

`sign_in_and_out` signs out who was removed from the store's people.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from aisle.errors import StorageError
from aisle.jobs.job import Changed
from aisle.jobs.log_writes_and_refusals import refusal_verdict
from aisle.jobs.view import INFO, WRONG, Frame, Msg, Verdict, msg
from aisle.session.apply_input import InputHandler
from aisle.session.build_frame import FrameBuilder
from aisle.session.event_runner import SessionPart
from aisle.session.meaning_resolver import MeaningResolver
from aisle.session.profile import ProfileChange, SettingsWatch
from aisle.session.shown_verdict_and_bells import ALARM_MESSAGES
from aisle.session.sign_in_and_out import SignInFlow
from aisle.session.store_connection import LASTING_STATES
from aisle.session.tab_bar_with_counts import Tabs

if TYPE_CHECKING:
    from aisle.jobs.row_types.log import UnusedCountsRow


@dataclass(eq=False)
class ChangePoller(SessionPart):
    """Poller that tells jobs and people what others have changed."""

    _resolver: MeaningResolver
    _inputs: InputHandler
    _sign_in: SignInFlow
    _reports: LinkReports
    _frames: FrameBuilder
    _tabs: Tabs
    _recover_files: Callable[[], None]
    _explain_error: Callable[[StorageError], Msg]

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
        self._reports.report()
        self._sign_in.sign_out_removed_person()
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
            self._store.apply_settings_to_queries()
            self._context.forget()
            self._sign_in.use_preferences_of(self._context.user.user)

    def _report_unreadable(self, error: StorageError) -> Frame:
        """Report that the files cannot even be read, as long as it is so."""
        self._verdicts.show(Verdict(WRONG, msg("session.cannot_save", why=self._explain_error(error))))
        return self._frames.build()


def _is_same_but_age(before: Frame, after: Frame) -> bool:
    """Return whether two frames differ in nothing but the age of the data."""
    return after._replace(link=after.link._replace(age_s=before.link.age_s)) == before


@dataclass(eq=False)
class LinkReports(SessionPart):
    """Reports of the link, a restore and undos, each once the screen is free for it."""

    def __post_init__(self) -> None:
        self._unreported_link = ""
        """Message on the link that waits until the screen is free for it."""
        self._reported_since = ""
        """Time from which undos and counts without effect are reported."""
        self._reported: set[str] = set()
        """Ids of these."""

    def report(self) -> None:
        """Report what is new."""
        self._report_link(self._store.notifications.link_message())
        self._report_restore()
        self._reported_since = self._reported_since or self._context.current().now
        self._report_without_effect(
            "undos_after_counts", "op_id", partial(refusal_verdict, id_="session.undo_after_count")
        )
        self._report_without_effect("unused_counts", "key", _unused_count)

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
        if count is not None and self._verdicts.is_free_for_report:
            text = msg("session.restored", count=count) if count else msg("session.restored_whole")
            self._verdicts.notify(Verdict(INFO, text))
            self._store.notifications.acknowledge_restore()

    def _report_without_effect(self, query: str, key: str, verdict_of: Callable[[Any], Verdict]) -> None:
        """Report the last row of a query that this session did not report yet; `key` is its field with the id.

        It corrects an answer that said what changes, also one that is still shown.
        """
        user = self._context.user.user
        if not user or not self._verdicts.is_free_for_correction:
            return
        rows, _ = self._store.reader.query(query, {"user": user, "since": self._reported_since})
        fresh = [row for row in rows if row[key] not in self._reported]
        if fresh:
            self._reported |= {row[key] for row in fresh}
            self._verdicts.notify(verdict_of(fresh[-1]))


def _unused_count(row: UnusedCountsRow) -> Verdict:
    """Return the report of a count that the service does not use, because it had a later one of the same goods."""
    label, counted, later = row["label"], row["counted_quantity"], row["later_quantity"]
    if later is None:
        return Verdict(WRONG, msg("session.count_not_used", label=label, counted=counted))
    name = row["user_name"]
    return Verdict(WRONG, msg("session.count_not_used_later", label=label, counted=counted, name=name, later=later))
