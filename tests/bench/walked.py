"""`python -m tests.bench.walked FILE`: the app as it is, with a clock at each step of the way of a scan.

Writes a line of JSON into FILE for every scan: the milliseconds of each step.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any, TextIO

from aisle.tui import prepare_environment

prepare_environment(False)

from aisle.cli import main  # noqa: E402
from aisle.local.host.signals import Bell  # noqa: E402
from aisle.local.outbox.journal import Journal  # noqa: E402
from aisle.local.reads.reads import Reads  # noqa: E402
from aisle.local.session import session as sessions  # noqa: E402
from aisle.local.session import taking  # noqa: E402
from aisle.local.session.ear import Ear  # noqa: E402
from aisle.local.session.keeper import Keeper  # noqa: E402
from aisle.local.session.stack import Stack  # noqa: E402
from aisle.scan.decoder import Decoder  # noqa: E402
from aisle.tui import board  # noqa: E402
from aisle.tui.driver import AisleDriver, Outlet  # noqa: E402
from aisle.tui.paint import PaintedApp  # noqa: E402
from tests.bench.clocks import Clocks  # noqa: E402

STEPS: tuple[tuple[str, tuple[tuple[Any, str], ...]], ...] = (
    ("decoder", ((Decoder, "feed"),)),
    ("driver, hands over", ((AisleDriver, "release"),)),
    ("resolver", ((Ear, "understand"),)),
    ("reads of the cache", ((Reads, "query"),)),
    ("job", ((Stack, "feed"), (Stack, "open"), (taking, "answered"))),
    ("what is kept, as text", ((Keeper, "add"), (Keeper, "keep"))),
    ("journal commit", ((Journal, "commit"),)),
    ("courier's bell", ((Bell, "ring_courier"),)),
    ("view", ((sessions.Session, "_frame"),)),
    ("rest of the session", ((sessions.Session, "take"),)),
    ("paint", ((board, "paint"),)),
    ("what has changed, in colours", ((board.Board, "render_changes"),)),
    ("display", ((PaintedApp, "_display"),)),
    ("driver write", ((Outlet, "_put"),)),
)
"""The steps in their order, and the functions that each is made of."""


class Walk:
    """One scan after the other: begun by a read, over when the screen looks for news or the next one is read."""

    def __init__(self, out: TextIO) -> None:
        self.clocks = Clocks()
        self._out = out
        self._has_written = False
        for name, functions in STEPS:
            for owner, function in functions:
                self.clocks.put_on(owner, function, name)
        self.clocks.running = False
        for owner, function, before, after in (
            (Decoder, "feed", self.begin, None),
            (Outlet, "_put", None, self.wrote),
            (sessions.Session, "poll", self.end, None),
        ):
            setattr(owner, function, _with(getattr(owner, function), before, after))

    def begin(self) -> None:
        """A read."""
        self.end()
        self._has_written, self.clocks.running = False, True

    def wrote(self) -> None:
        """The terminal was told something."""
        self._has_written = True

    def end(self) -> None:
        """What happens from now on is not the scan's."""
        self.clocks.running = False
        if self.clocks.spent and self._has_written:
            spent = {name: self.clocks.spent.get(name, 0.0) * 1000 for name, _ in STEPS}
            print(json.dumps(spent), file=self._out, flush=True)
        self.clocks.spent.clear()


def _with(
    function: Callable[..., Any], before: Callable[[], None] | None, after: Callable[[], None] | None
) -> Callable[..., Any]:
    def watched(*arguments: Any, **named: Any) -> Any:
        if before:
            before()
        try:
            return function(*arguments, **named)
        finally:
            if after:
                after()

    return watched


if __name__ == "__main__":
    with open(sys.argv[1], "a", encoding="utf-8") as file:
        walk = Walk(file)
        status = main([])
        walk.end()
    sys.exit(status)
