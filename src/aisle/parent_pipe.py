"""A pipe inherited from the parent process: when its other end is closed, the process is no longer needed."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping

PARENT_PIPE_VARIABLE = "AISLE_LIFELINE_FD"
"""Environment variable with the number of the inherited descriptor."""


def parent_pipe_fd() -> int:
    """Return the descriptor of the pipe, or -1 if there is none."""
    text = os.environ.get(PARENT_PIPE_VARIABLE, "")
    if not (text.isascii() and text.isdigit() and int(text) > 2):
        return -1
    try:
        os.fstat(int(text))
    except (OSError, OverflowError):  # the variable was inherited without the descriptor
        return -1
    return int(text)


def watch_parent_pipe(environ: Mapping[str, str], on_parent_exit: Callable[[], None]) -> threading.Thread | None:
    """Call `on_parent_exit` in a thread when the inherited pipe ends, that is, when its holder has exited."""
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
