"""`--trace FILE`: one JSON line per input, for the scanner doctor, support and the benchmarks.

`{"t_ms", "raw", "kind", "meaning", "job", "step", "verdict", "painted_ms"}`; `t_ms` is the moment of the last byte
since the session began, `painted_ms` the time from then to the frame that shows the verdict.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from aisle.errors import SettingsError
from aisle.jobs import codec
from aisle.jobs.view import Verdict
from aisle.local.session.ear import name_of
from aisle.local.session.stack import Level
from aisle.scan.inputs import Line
from aisle.scan.meaning import Said, Thing
from aisle.tuples import NamedTuple


class Seen(NamedTuple):
    """One input as the session took it. `at` is the monotonic moment of its last byte."""

    at: float
    raw: str
    kind: str
    meaning: str
    job: str
    step: str
    verdict: str


class Trace:
    """Writes what was seen once it is on the screen. Where it cannot be written it ends, and the work goes on."""

    def __init__(self, path: Path, began: float) -> None:
        self._began = began
        self._waiting: list[Seen] = []
        self._kept = 0
        """So many of them are durable."""
        self._ended = False
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
            self._file = os.fdopen(os.open(path, flags, 0o600), "w", encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            raise SettingsError(
                f"The trace file {path} cannot be written: {error.strerror}. Choose another."
            ) from error

    def saw(self, line: Line, said: Said, top: Level, verdict: Verdict | None, at: float) -> None:
        """Keeps an input until it is painted: what it meant, where the work stands since, and what was said."""
        meaning = name_of(said) if isinstance(said, Thing) else codec.to_text(said)
        kind, step = type(said).__name__, top.job.at(top.state)
        told = verdict.text.id if verdict else ""
        self._waiting.append(Seen(line.last or at, line.text, kind, meaning, top.job.name, step, told))

    def kept(self) -> None:
        """All that was seen so far is durable."""
        self._kept = len(self._waiting)

    def lost(self, verdict: Verdict) -> None:
        """What is not durable has not happened: this was said instead."""
        self._waiting[self._kept :] = [each._replace(verdict=verdict.text.id) for each in self._waiting[self._kept :]]
        self.kept()

    def painted(self, at: float) -> None:
        """Writes all that was waiting; the frame with it was painted at this monotonic moment."""
        waiting, self._waiting, self._kept = self._waiting, [], 0
        if not waiting or self._ended:
            return
        try:
            self._write(waiting, at)
        except OSError:
            self._ended = True

    def _write(self, waiting: list[Seen], at: float) -> None:
        import json

        for seen in waiting:
            line = {
                "t_ms": round((seen.at - self._began) * 1000, 3),
                "raw": seen.raw,
                "kind": seen.kind,
                "meaning": seen.meaning,
                "job": seen.job,
                "step": seen.step,
                "verdict": seen.verdict,
                "painted_ms": round((at - seen.at) * 1000, 3),
            }
            self._file.write(json.dumps(line, ensure_ascii=False) + "\n")
        self._file.flush()

    def close(self) -> None:
        """Writes what is left, painted or not."""
        import time

        self.painted(time.monotonic())
        with suppress(OSError):  # what could not be written before cannot be written now
            self._file.close()
