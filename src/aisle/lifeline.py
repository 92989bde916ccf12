"""The lifeline: a pipe that a process inherits; when its other end is closed, nobody needs the process any more."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping

LIFELINE = "AISLE_LIFELINE_FD"
"""Names the one descriptor that is inherited."""


def lifeline_fd() -> int:
    """The descriptor of the lifeline, or -1 when nobody holds one."""
    text = os.environ.get(LIFELINE, "")
    if not (text.isascii() and text.isdigit() and int(text) > 2):
        return -1
    try:
        os.fstat(int(text))
    except (OSError, OverflowError):  # the name was handed on, the line was not
        return -1
    return int(text)


def follow_lifeline(environ: Mapping[str, str], leave: Callable[[], None]) -> threading.Thread | None:
    """Call `leave` when the inherited pipe named in the environment ends, that is, when its holder is gone."""
    fd = environ.get(LIFELINE, "")
    if not fd.isdecimal():
        return None

    def wait() -> None:
        try:
            while os.read(int(fd), 64):
                pass
        except OSError:
            pass
        leave()

    thread = threading.Thread(target=wait, name="aisle-lifeline", daemon=True)
    thread.start()
    return thread
