"""What a session makes of what happens elsewhere: of what it is rung for, at once; of everything, every few seconds.

A part of aisle.local.session.session.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from aisle.errors import StorageError
from aisle.jobs.base import Changed
from aisle.jobs.view import INFO, WRONG, Frame, Verdict, msg
from aisle.local.host.signals import REFUSAL
from aisle.local.session.house import hidden
from aisle.local.session.open_line import meant_for, not_taken
from aisle.local.session.rights import remind
from aisle.local.session.stack import Level
from aisle.scan.meaning import Echo

if TYPE_CHECKING:
    from aisle.local.session.session import Session


def shown(level: Level) -> frozenset[str]:
    """What a job shows, in the words of a ring; one that is journalled tells what was refused of its writes."""
    return frozenset((REFUSAL,) if level.ref else ()).union(*level.shown.values())


def look(session: Session, rung: Iterable[str] | None) -> Frame | None:
    """The frame after a look: at what was rung for, where that is enough (None when nothing came of it), or at all."""
    topics = frozenset(rung or ())
    if rung is None or session._lookout.is_due():
        return _at_all(session)
    if not topics:
        return None
    try:
        news = session._lookout.rung_for(topics, shown(session._stack.top))
    except StorageError as error:
        return _unread(session, error)
    if news is None:
        return _at_all(session)
    before = session._last
    _tell(session, news)
    frame = session._frame()
    return None if before and not session.bells and _is_alike(before, frame) else frame


def _is_alike(before: Frame, after: Frame) -> bool:
    """Whether nothing differs but the age of the data, which goes on at the next look."""
    return after._replace(link=after.link._replace(age=before.link.age)) == before


def _at_all(session: Session) -> Frame:
    if session._rooms.journal.is_gone:
        from aisle.local.session.reopening import gone  # hardly ever, and no start pays for it

        return gone(session)
    session._lookout.beat()
    session._lookout.keep_courier()
    session._hand_on()
    try:
        news = session._lookout.news()
    except StorageError as error:
        return _unread(session, error)
    _tell(session, news)
    retuned = session._watch.look() if session._watch else None
    if retuned:
        from aisle.local.session.tuning import retune  # hardly ever, and no start pays for it

        retune(session, retuned)
    _tell_door(session, session._lookout.turned())
    remind(session)
    frame = session._frame()
    if frame.link.waiting:
        session._lookout.waits()
    return frame


def _tell(session: Session, news: Sequence[Changed]) -> None:
    """Tells the job on the screen, and keeps what follows from it."""
    before, page = (session._verdict, session.bells), meant_for(session._stack.levels)
    secret = hidden(session._stack.levels, session._line.text)
    if news:
        session._absorb(session._stack.tell(news, session._context()), "")
    if session._commit():
        session._lookout.heard()
        if meant_for(session._stack.levels) != page:
            _drop_typed(session, secret=secret)
    else:  # nobody did anything: told again the next time
        session._verdict, session.bells = before


def _tell_door(session: Session, turned: str) -> None:
    """Work goes on without the service; but nobody else would ask for a new token."""
    if turned == "shut":
        file = os.path.basename(session._terms.token_file) or "token_file"
        session._tell(Verdict(WRONG, msg("session.shut_out", store=session._terms.store, file=file)))
    elif turned == "open":
        session._verdict = Verdict(INFO, msg("session.let_in"))


def _drop_typed(session: Session, *, secret: bool) -> None:
    """This page came by itself: what was typed before it is not its answer."""
    if text := session._line.drop(secret=secret):
        session._absorb(session._stack.feed(Echo(""), session._context()), "")
        session._verdict = not_taken(text, session._verdict)


def _unread(session: Session, error: StorageError) -> Frame:
    """What was noted cannot even be read: says so, as long as it is so."""
    session._tell(Verdict(WRONG, msg("session.no_file", why=session._why(error))))
    return session._frame()
