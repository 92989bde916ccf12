"""Workers that do next to nothing, in a file of their own: each process that runs one reads no more than this."""

import os
from collections.abc import Callable
from pathlib import Path

from aisle.service.http.worker_processes import CANNOT_START


def ends_at_once(at: object, ready: object, follow: object) -> None:
    """A worker that never comes up, and says that waiting does not help."""
    raise SystemExit(CANNOT_START)


def comes_up_once(at: object, ready: Callable[[], None], follow: object) -> None:
    """The first worker answers and ends; the others end before they are ready."""
    with Path(os.environ[COUNTED]).open("a+") as file:
        file.write("x")
        file.flush()
        started = os.fstat(file.fileno()).st_size
    if started == 1:
        ready()


COUNTED = "AISLE_TEST_STARTS"
"""The variable that names the file in which workers count their starts."""

NINTH = 9
