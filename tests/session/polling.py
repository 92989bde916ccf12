"""Polls of a session on a clock that is moved."""

from aisle.jobs.view import Frame
from aisle.session.session import Session
from aisle.session.shown_verdict_and_bells import STANDS_S


def rested(session: Session) -> Frame:
    """What a look shows once what was answered last has stood for a while: word that comes by itself is told then."""
    later = session.context.clock() + STANDS_S
    session.context.clock = lambda: later
    frame = session.poll()
    assert frame is not None
    return frame
