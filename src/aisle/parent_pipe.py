"""The lifeline: a pipe that a process inherits; when its other end is closed, nobody needs the process any more."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping

PARENT_PIPE_VARIABLE = "AISLE_LIFELINE_FD"
"""Names the one descriptor that is inherited."""


def parent_pipe_fd() -> int:
    """The descriptor of the lifeline, or -1 when nobody holds one."""
    text = os.environ.get(PARENT_PIPE_VARIABLE, "")
    if not (text.isascii() and text.isdigit() and int(text) > 2):
        return -1
    try:
        os.fstat(int(text))
    except (OSError, OverflowError):  # the name was handed on, the line was not
        return -1
    return int(text)


def watch_parent_pipe(environ: Mapping[str, str], on_parent_exit: Callable[[], None]) -> threading.Thread | None:
    """Call `leave` when the inherited pipe named in the environment ends, that is, when its holder is gone."""
    fd = environ.get(PARENT_PIPE_VARIABLE, "")
    if not fd.isdecimal():
        return None

    def wait() -> None:
        try:
            while os.read(int(fd), 64):
                pass
        except OSError:
            pass
        on_parent_exit()

    thread = threading.Thread(target=wait, name="aisle-lifeline", daemon=True)
    thread.start()
    return thread
