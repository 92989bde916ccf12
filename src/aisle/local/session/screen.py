"""What a session shows: the view of the job on the screen, what is typed, and how it stands with the link.

A part of aisle.local.session.session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aisle.errors import StorageError
from aisle.jobs.view import Frame, Link, View
from aisle.local.session.house import hidden, renamed
from aisle.local.session.left import elsewhere

if TYPE_CHECKING:
    from aisle.local.session.desk import Desk


def frame(desk: Desk) -> Frame:
    """All of it, which is what was to be shown last from now on."""
    desk._lookout.shows(desk._stack.top.topics)
    desk._last = Frame(
        view=view(desk),
        link=_link(desk),
        verdict=desk._verdict,
        typed=_typed(desk),
        store=desk._terms.store,
        user=desk._who.name or desk._who.user,
        serial=desk._serial,
        language=desk._terms.language,
        theme=desk._terms.theme if desk.has_themes else "",
    )
    return desk._last


def view(desk: Desk) -> View:
    """What the job has to show, under what the session itself asks."""
    top = desk._stack.top
    seen = top.job.view(top.state)
    shown = renamed(seen, desk._terms.shown) if desk._terms.shown else seen
    return desk._asking.over(shown, top.job.open(top.state)) if desk._asking.pending else shown


def _typed(desk: Desk) -> str:
    """The open line; of a secret only how long it is."""
    typed = desk._asking.typed(desk._line.text)
    return "*" * len(typed) if hidden(desk._stack.levels, typed) else typed


def _link(desk: Desk) -> Link:
    """The state of the link, and what waits; while nothing can be kept, that, for nobody knows what is sent."""
    link, kept = desk._lookout.link(), not desk._keeper.has_failed
    try:
        desk._counts = desk._rooms.outbox.counts()
    except StorageError:
        kept = False
    waiting, doubtful = desk._counts
    away = elsewhere(desk._rooms.bell.home)
    state = link.state if kept else "unkept"
    return link._replace(waiting=waiting, doubtful=doubtful, elsewhere=away, state=state)
