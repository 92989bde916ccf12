"""What the screen asks of whoever does the work behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from aisle.jobs.view import Frame
from aisle.scan.inputs import Decoded


class DeskLike(Protocol):
    """The session behind one terminal. Nothing here waits for a network; every call comes from the loop's thread."""

    leaving: bool
    """The program is to end once the last frame is painted."""

    bells: int
    """So many BELs belong to the last frame; the app sets it back to 0."""

    def start(self) -> Frame:
        """Open this host's files, resume the job that is open, and say what to show."""
        ...

    def take(self, items: Sequence[Decoded], at: float) -> Frame:
        """Apply the inputs in their order, make them durable, and say what to show; `at` is when the last was read."""
        ...

    def poll(self, *, rung: bool = False) -> Frame | None:
        """Read the doorbell empty; a frame if something that is on the screen has changed. Where it has rung, only
        that need be looked at which it rang for."""
        ...

    def resize(self, columns: int, rows: int) -> Frame:
        """The terminal now has this size."""
        ...

    def on_painted(self, serials: Sequence[int], at: float) -> None:
        """The answers to these scans were written to the terminal at `at` (monotonic seconds)."""
        ...

    def fileno(self) -> int | None:
        """The doorbell: a descriptor that becomes readable when something may have changed."""
        ...

    def close(self) -> None:
        """Leave everything in order; may be called twice."""
        ...
