"""Polls of a session on a clock that is moved."""

from aisle.jobs.view import Frame
from aisle.session.background_verdicts import STANDS_S
from aisle.session.session import Session


def rested(session: Session) -> Frame:
    """What a look shows once what was answered last has stood for a while: word that comes by itself is told then."""
    later = session._clock() + STANDS_S
    session._clock = lambda: later
    frame = session.poll()
    assert frame is not None
    return frame
