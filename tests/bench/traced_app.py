"""`python -m tests.bench.traced_app FILE`: the app as it is, with a clock at each step of the way of a scan.

Writes a line of JSON into FILE for every scan: the milliseconds of each step.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any, TextIO

from aisle.tui import prepare_environment

prepare_environment()

from aisle.cache.reader import CacheReader  # noqa: E402
from aisle.cli import main  # noqa: E402
from aisle.host.notify_sockets import SessionSocket  # noqa: E402
from aisle.outbox.commit_journal import Journal  # noqa: E402
from aisle.scan.decoder import Decoder  # noqa: E402
from aisle.session import session as sessions  # noqa: E402
from aisle.session.apply_meaning import MeaningHandler  # noqa: E402
from aisle.session.build_frame import FrameBuilder  # noqa: E402
from aisle.session.job_stack import JobStack  # noqa: E402
from aisle.session.meaning_resolver import MeaningResolver  # noqa: E402
from aisle.session.unit_of_work import UnitOfWork  # noqa: E402
from aisle.tui import app as aisle_app  # noqa: E402
from aisle.tui.app import AisleApp  # noqa: E402
from aisle.tui.driver import AisleDriver  # noqa: E402
from aisle.tui.terminal_output import TerminalDiff, TerminalWriter  # noqa: E402
from aisle.tui.widgets.page_widgets import LinesWidget  # noqa: E402
from tests.bench.clocks import Clocks  # noqa: E402

STEPS: tuple[tuple[str, tuple[tuple[Any, str], ...]], ...] = (
    ("decoder", ((Decoder, "feed"),)),
    ("driver, hands over", ((AisleDriver, "release"),)),
    ("resolver", ((MeaningResolver, "resolve"),)),
    ("reads of the cache", ((CacheReader, "query"),)),
    ("job", ((JobStack, "feed"), (JobStack, "open"), (MeaningHandler, "_feed"))),
    ("what is kept, as text", ((UnitOfWork, "add"), (UnitOfWork, "commit"))),
    ("journal commit", ((Journal, "commit"),)),
    ("courier's bell", ((SessionSocket, "wake_courier"),)),
    ("view", ((FrameBuilder, "build"),)),
    ("rest of the session", ((sessions.Session, "take"),)),
    ("layout", ((aisle_app, "layout_parts"),)),
    ("widgets", ((AisleApp, "show"), (LinesWidget, "render_line"))),
    ("changed cells", ((TerminalDiff, "reduce"),)),
    ("driver write", ((TerminalWriter, "_put"),)),
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
            (TerminalWriter, "_put", None, self.wrote),
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
