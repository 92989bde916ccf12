"""What a session shows: the view of the job on the screen, what is typed, and how it stands with the link.

A part of aisle.session.session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aisle.cache.store_queries import count_waiting_in_other_stores
from aisle.errors import StorageError
from aisle.jobs.view import Frame, LinkState, View
from aisle.session.job_stack import is_secret_text, rename_keys

if TYPE_CHECKING:
    from aisle.session.session_base import SessionBase


def build_frame(session: SessionBase) -> Frame:
    """All of it, which is what was to be shown last from now on."""
    session._notifications.subscribe(session._stack.top.topics)
    session._last_frame = Frame(
        view=current_view(session),
        link=_link_with_counts(session),
        verdict=session._verdict,
        typed=_shown_typed_text(session),
        store=session._profile.store,
        user=session._user.name or session._user.user,
        scan_serial=session._serial,
        language=session._profile.language,
        theme=session._profile.theme if session.has_themes else "",
    )
    return session._last_frame


def current_view(session: SessionBase) -> View:
    """What the job has to show, under what the session itself asks."""
    top = session._stack.top
    seen = top.job.view(top.state)
    shown = rename_keys(seen, session._profile.names_by_letter) if session._profile.names_by_letter else seen
    return session._question.show_on(shown, top.job.accepts(top.state)) if session._question.is_pending else shown


def _shown_typed_text(session: SessionBase) -> str:
    """The open line; of a secret only how long it is."""
    typed = session._question.with_multiplier(session._typed_line.text)
    return "*" * len(typed) if is_secret_text(session._stack.jobs, typed) else typed


def _link_with_counts(session: SessionBase) -> LinkState:
    """The state of the link, and what waits; while nothing can be kept, that, for nobody knows what is sent."""
    link, kept = session._notifications.link(), not session._unit_of_work.has_failed
    try:
        session._operation_counts = session._store.operations.pending_counts()
    except StorageError:
        kept = False
    waiting, doubtful = session._operation_counts
    away = count_waiting_in_other_stores(session._store.socket.store_folder)
    state = link.state if kept else "unkept"
    return link._replace(waiting=waiting, needs_person=doubtful, waiting_other_stores=away, state=state)
