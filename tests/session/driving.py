"""What a person does at a session: opens a terminal, enters lines, reads the verdict."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from aisle.host.store_folder import StoreFolder
from aisle.jobs.view import Frame
from aisle.scan.inputs import Line
from aisle.session.session import Session, open_session
from aisle.settings import Settings
from aisle.tui.message_text import MessageWriter


@contextmanager
def open_terminal(home: StoreFolder, **settings: Any) -> Iterator[Session]:
    """Open a session of terminal `dock`."""
    session = open_session(home, Settings(terminal="dock", **settings))
    try:
        session.start()
        yield session
    finally:
        session.close()


@contextmanager
def open_signed_in(home: StoreFolder, **settings: Any) -> Iterator[Session]:
    """Open a session of terminal `dock`, signed in as U1."""
    with open_terminal(home, user="U1", **settings) as session:
        yield session


def enter(session: Session, *texts: str) -> Frame:
    """Enter lines that are handled in one transaction."""
    return session.take([Line(text, "cr", 0.0, 0.0, 0.0) for text in texts], 0.0)


def enter_each(session: Session, *texts: str) -> Frame:
    """Enter lines, each in a transaction of its own."""
    return [enter(session, text) for text in texts][-1]


def type_each(session: Session, *texts: str) -> Frame:
    """Type lines by hand, each in a transaction of its own."""
    return [session.take([Line(text, "cr", 1.0, 1.0, 0.1, "")], 0.0) for text in texts][-1]


def verdict_of(frame: Frame) -> tuple[str, str]:
    """Return kind and message id of the verdict."""
    return (frame.verdict.kind, frame.verdict.text.id) if frame.verdict else ("", "")


def verdict_text_of(frame: Frame | None) -> tuple[str, str]:
    """Return kind and text of the verdict."""
    assert frame is not None
    return (frame.verdict.kind, MessageWriter().write(frame.verdict.text)) if frame.verdict else ("", "")
