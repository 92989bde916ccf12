"""The app on a desk of the tests' own: what comes in is noted in the file DESK_LOG, if it is named, a JSON line each.

A line of input does what it says: `sample N [hostile text]` shows a sample of the registry, `ring` and `later` let the
doorbell or the clock bring something new, `wrong` rings three bells, `fail` breaks the desk, `leave` ends the program;
anything else counts as a scan on the pick screen. With `--watch` a changed style sheet is shown at once.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path

from aisle.tui import prepare_environment

prepare_environment()

from aisle.jobs.view import GOOD, INFO, WRONG, Frame, Step, Verdict, msg  # noqa: E402
from aisle.scan.inputs_and_line_grouping import DecodedInput, Line, OpenLine  # noqa: E402
from aisle.tui.app import run_app  # noqa: E402
from tests.samples.registry import SAMPLES  # noqa: E402

LOG = Path(os.environ.get("DESK_LOG", os.devnull))
PICK = next(index for index, sample in enumerate(SAMPLES) if sample.state == "taken")


def note(*entry: object) -> None:
    """One line of the log, written at once."""
    with LOG.open("a", encoding="utf-8") as log:
        log.write(json.dumps(entry) + "\n")


class Desk:
    """Remembers nothing but the frame."""

    def __init__(self) -> None:
        self.is_ending = False
        self.bells = 0
        self._frame = SAMPLES[PICK].build("")._replace(scan_serial=0, verdict=None)
        self._inner, self._outer = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._inner.setblocking(False)
        self._news = ""

    def start(self, size: tuple[int, int] | None = None) -> Frame:
        note("start")
        return self._frame

    def take(self, items: Sequence[DecodedInput], at: float) -> Frame:
        note("take", [item.text for item in items if isinstance(item, Line)], at > 0)
        for item in items:
            if isinstance(item, OpenLine):
                self._frame = self._frame._replace(typed=item.text)
            elif isinstance(item, Line):
                self._line(item.text)
        return self._frame

    def _line(self, text: str) -> None:
        word, _, rest = text.partition(" ")
        self._frame = self._frame._replace(typed="", scan_serial=self._frame.scan_serial + 1)
        if word == "sample":
            number, _, hostile = rest.partition(" ")
            self._frame = SAMPLES[int(number)].build(json.loads(hostile) if hostile else "")
        elif word == "ring":
            self._news = "rung"
            self._outer.send(b"x")
        elif word == "wrong":
            self.bells = 3
            self._frame = self._frame._replace(verdict=Verdict(WRONG, msg("raw", text=text)))
        elif word == "fail":
            raise OSError("the disk is gone")
        elif word == "leave":
            self.is_ending = True
        else:
            self._scan(text)

    def _scan(self, text: str) -> None:
        view = self._frame.view
        if isinstance(view, Step):
            view = view._replace(done=view.done + 1)
        of = Decimal(999)
        verdict = Verdict(GOOD, msg("pick.picked", label=text, done=Decimal(self._frame.scan_serial), of=of))
        self._frame = self._frame._replace(view=view, verdict=verdict)

    def poll(self, *, notified: bool = False) -> Frame | None:
        try:
            self._inner.recv(64)
        except BlockingIOError:
            return None
        note("poll")
        self._frame = self._frame._replace(verdict=Verdict(INFO, msg("raw", text=self._news)))
        return self._frame

    def resize(self, columns: int, rows: int) -> Frame:
        note("resize", columns, rows)
        return self._frame

    def confirm_pin(self, token: str, valid_until: float) -> None:
        """Nobody is asked for a PIN here."""

    def accept_downloads(self, offer: Callable[[str, bytes], bool]) -> None:
        """Nothing is exported here."""

    def on_painted(self, serials: Sequence[int], at: float) -> None:
        note("painted", list(serials), at > 0)

    def fileno(self) -> int | None:
        return self._inner.fileno()

    def close(self) -> None:
        note("close")


if __name__ == "__main__":
    sys.exit(
        run_app(
            Desk(),
            has_soft_colours="--rich" in sys.argv,
            on_first_paint=lambda: note("first paint"),
            watch_css="--watch" in sys.argv,
        )
    )
