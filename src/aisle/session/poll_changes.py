"""What a session makes of what happens elsewhere: of what it is rung for, at once; of everything, every few seconds.

A part of aisle.session.session.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from aisle.errors import StorageError
from aisle.jobs.job import Changed, SignOut
from aisle.jobs.view import INFO, WRONG, Frame, Msg, Verdict, msg
from aisle.scan.meaning import TypedText
from aisle.session import background_verdicts
from aisle.session.frame import build_frame
from aisle.session.job_stack import is_secret_text
from aisle.session.meaning_resolver import MeaningResolver
from aisle.session.notifications import LASTING_STATES
from aisle.session.permissions import remind_of_pin
from aisle.session.storage_alarm import retry_saving
from aisle.session.typed_line import page_identity, typed_text_dropped

if TYPE_CHECKING:
    from aisle.session.profile import ProfileChange, SettingsWatch
    from aisle.session.session_base import SessionBase


def poll(session: SessionBase, notified: Iterable[str] | None) -> Frame | None:
    """The frame after a look: at what was rung for, where that is enough (None when nothing came of it), or at all."""
    topics = frozenset(notified or ())
    if notified is None or session._notifications.is_full_check_due():
        return _poll_everything(session)
    if not topics:
        return None
    try:
        news = session._notifications.changes_of_topics(topics, session._stack.top.topics)
    except StorageError as error:
        return _report_unreadable(session, error)
    if news is None:
        return _poll_everything(session)
    before = session._last_frame
    _notify_jobs(session, news)
    after = build_frame(session)
    return None if before and not session.bells and _is_same_but_age(before, after) else after


def _is_same_but_age(before: Frame, after: Frame) -> bool:
    """Whether nothing differs but the age of the data, which goes on at the next look."""
    return after._replace(link=after.link._replace(age_s=before.link.age_s)) == before


def _poll_everything(session: SessionBase) -> Frame:
    if session._store.journal.is_replaced:
        from aisle.session.file_recovery import recover_and_show  # hardly ever, and no start pays for it

        return recover_and_show(session)
    session._notifications.heartbeat()
    session._notifications.keep_courier()
    session._resend_secrets()
    try:
        news = session._notifications.all_changes()
    except StorageError as error:
        return _report_unreadable(session, error)
    _notify_jobs(session, news)
    retry_saving(session)
    if session._settings_watch:
        _check_settings(session, session._settings_watch)
    _report_link(session, session._notifications.link_message())
    _report_restore(session)
    _check_person(session)
    remind_of_pin(session)
    after = build_frame(session)
    if after.link.waiting:
        session._notifications.subscribe_waiting()
    return after


def _notify_jobs(session: SessionBase, changes: Sequence[Changed]) -> None:
    """Tells the job on the screen, and keeps what follows from it."""
    before, page = (session._verdict, session.bells), page_identity(session._stack.jobs)
    secret = is_secret_text(session._stack.jobs, session._typed_line.text)
    if changes:
        session._apply_result(session._stack.notify(changes, session._context()), "")
    if session._commit():
        session._notifications.acknowledge()
        if page_identity(session._stack.jobs) != page:
            _drop_typed(session, secret=secret)
    else:  # nobody did anything: told again the next time
        session._verdict, session.bells = before


def _check_person(session: SessionBase) -> None:
    """Whoever works here no more is signed out; what was done stays under that name. So is, where only known people
    work, whoever the store does not know. As long as there is no list of people nobody is known to be gone."""
    user = session._user.user
    if not user:
        return
    rows, known = session._store.reader.query("person", {"user": user})
    if rows:
        session._known_person = user
        return
    if not known or not (session._known_person == user or session._profile.policy.known_people_only):
        return
    name = session._user.name or user
    session._run_effect(SignOut())
    if not session._user.user:
        session._show_verdict(Verdict(WRONG, msg("session.no_longer_works_here", name=name)))


def _check_settings(session: SessionBase, settings_watch: SettingsWatch) -> None:
    """What is wrong or asked stays on the screen until somebody has done something; word of the settings comes then."""
    retuned = settings_watch.check()
    if retuned:
        settings_watch.unreported = retuned.verdict
        _apply_settings(session, retuned)
    if settings_watch.unreported and not background_verdicts.is_busy(session):
        background_verdicts.show_notification(session, settings_watch.unreported)
        settings_watch.unreported = None


def _apply_settings(session: SessionBase, change: ProfileChange) -> None:
    """The settings have changed. Open jobs go on as they were begun; what is scanned from now on is read anew."""
    if change.profile:
        session._overridden = {}
        session._profile = session._profile.with_settings(change.profile)
        session._resolver = MeaningResolver(session._store.reader, session._profile.in_store_patterns)
        session._store.reader.pools = session._profile.pools
        session._cached_context = None
        session._use_language_of(session._user.user)


def _report_link(session: SessionBase, link_message: str) -> None:
    """Work goes on without the service and the courier; but nobody else would ask for what they need."""
    over = link_message in ("open", "going")
    session._unreported_link = (
        "" if over and session._unreported_link in LASTING_STATES else link_message or session._unreported_link
    )
    if session._unreported_link and not background_verdicts.is_busy(session):
        said = {
            "refused": Verdict(WRONG, _access_refused_message(session)),
            "open": Verdict(INFO, msg("session.signed_in_by_pin")),
            "stuck": Verdict(WRONG, msg("session.stuck")),
            "renewed": Verdict(WRONG, msg("session.program_outdated")),
            "going": Verdict(INFO, msg("session.ending")),
        }
        background_verdicts.show_notification(session, said[session._unreported_link])
        session._unreported_link = ""


def _report_restore(session: SessionBase) -> None:
    """The service was put back from an earlier copy: what it lost is sent again, and figures may change meanwhile."""
    count = session._notifications.resent_after_restore()
    if count is not None and not background_verdicts.is_busy(session):
        said = msg("session.restored", count=count) if count else msg("session.restored_whole")
        background_verdicts.show_notification(session, Verdict(INFO, said))
        session._notifications.acknowledge_restore()


def _access_refused_message(session: SessionBase) -> Msg:
    """Why nothing is sent: the service was asked and refused, or the courier has nothing to ask with."""
    another = session._notifications.refused_token_file()
    if why := session._notifications.token_error():
        path = another or session._notifications.token_file
        return msg("session.no_token", why=why, short=why.replace(path, os.path.basename(path)) if path else why)
    if nearest := session._notifications.suggested_store():
        return msg("session.no_store", store=session._profile.store, nearest=nearest)
    file = another or os.path.basename(session._profile.token_file) or "token_file"
    return msg("session.storage_failed", store=session._profile.store, file=file)


def _drop_typed(session: SessionBase, *, secret: bool) -> None:
    """This page came by itself: what was typed before it is not its answer."""
    if text := session._typed_line.drop(secret=secret):
        session._apply_result(session._stack.feed(TypedText(""), session._context()), "")
        session._verdict = typed_text_dropped(text, session._verdict)


def _report_unreadable(session: SessionBase, error: StorageError) -> Frame:
    """What was noted cannot even be read: says so, as long as it is so."""
    session._show_verdict(Verdict(WRONG, msg("session.no_file", why=session._error_message(error))))
    return build_frame(session)
