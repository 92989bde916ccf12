"""What a session shows: the view of the job on the screen, what is typed, and how it stands with the link.

A part of aisle.local.session.session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aisle.errors import StorageError
from aisle.jobs.view import Frame, Link, View
from aisle.local.session.house import hidden, renamed
from aisle.local.session.left import elsewhere
from aisle.local.session.news import shown

if TYPE_CHECKING:
    from aisle.local.session.session import Session


def frame(session: Session) -> Frame:
    """All of it."""
    session._lookout.shows(shown(session._stack.top))
    return Frame(
        view=view(session),
        link=_link(session),
        verdict=session._verdict,
        typed=_typed(session),
        store=session._terms.store,
        user=session._who.name or session._who.user,
        serial=session._serial,
        language=session._terms.language,
        theme=session._terms.theme if session.has_themes else "",
    )


def view(session: Session) -> View:
    """What the job has to show, under what the session itself asks."""
    top = session._stack.top
    seen = top.job.view(top.state)
    return session._asking.over(renamed(seen, session._terms.shown) if session._terms.shown else seen)


def _typed(session: Session) -> str:
    """The open line; of a secret only how long it is."""
    typed = session._asking.typed(session._line.text)
    return "*" * len(typed) if hidden(session._stack.levels, typed) else typed


def _link(session: Session) -> Link:
    """The state of the link, and what waits; while nothing can be kept, that, for nobody knows what is sent."""
    link, kept = session._lookout.link(), not session._keeper.has_failed
    try:
        session._counts = session._rooms.outbox.counts()
    except StorageError:
        kept = False
    waiting, doubtful = session._counts
    away = elsewhere(session._rooms.bell.home)
    state = link.state if kept else "unkept"
    return link._replace(waiting=waiting, doubtful=doubtful, elsewhere=away, state=state)
