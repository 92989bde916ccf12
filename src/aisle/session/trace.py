"""`--trace FILE`: one JSON line per input, for the scanner doctor, support and the benchmarks.

`{"t_ms", "raw", "kind", "meaning", "job", "step", "verdict", "painted_ms"}`; `t_ms` is the moment of the last byte
since the session began, `painted_ms` the time from then to the frame that shows the verdict.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from aisle import json_codec
from aisle.errors import SettingsError
from aisle.jobs.view import Verdict
from aisle.scan.inputs import Line
from aisle.scan.meaning import Meaning, Scan
from aisle.session.job_stack import StackedJob
from aisle.session.meaning_resolver import quantity_label


class TracedInput(NamedTuple):
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

    def __init__(self, path: Path, started_at: float) -> None:
        self._started_at = started_at
        self._unpainted: list[TracedInput] = []
        self._committed_count = 0
        """So many of them are durable."""
        self._ended = False
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
            self._file = os.fdopen(os.open(path, flags, 0o600), "w", encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            raise SettingsError(
                f"The trace file {path} cannot be written: {error.strerror}. Choose another."
            ) from error

    def add(self, line: Line, said: Meaning, top_job: StackedJob, verdict: Verdict | None, at: float) -> None:
        """Keeps an input until it is painted: what it meant, where the work stands since, and what was said."""
        meaning = quantity_label(said) if isinstance(said, Scan) else json_codec.to_text(said)
        kind, step = type(said).__name__, top_job.job.step_name(top_job.state)
        told = verdict.text.id if verdict else ""
        self._unpainted.append(TracedInput(line.ended_at or at, line.text, kind, meaning, top_job.job.name, step, told))

    def mark_committed(self) -> None:
        """All that was seen so far is durable."""
        self._committed_count = len(self._unpainted)

    def mark_lost(self, verdict: Verdict) -> None:
        """What is not durable has not happened: this was said instead."""
        self._unpainted[self._committed_count :] = [
            each._replace(verdict=verdict.text.id) for each in self._unpainted[self._committed_count :]
        ]
        self.mark_committed()

    def write_painted(self, at: float) -> None:
        """Writes all that was waiting; the frame with it was painted at this monotonic moment."""
        waiting, self._unpainted, self._committed_count = self._unpainted, [], 0
        if not waiting or self._ended:
            return
        try:
            self._write(waiting, at)
        except OSError:
            self._ended = True

    def _write(self, waiting: list[TracedInput], at: float) -> None:
        import json

        for seen in waiting:
            line = {
                "t_ms": round((seen.at - self._started_at) * 1000, 3),
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

        self.write_painted(time.monotonic())
        with suppress(OSError):  # what could not be written before cannot be written now
            self._file.close()
