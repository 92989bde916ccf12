"""Trace file (`--trace FILE`): one JSON line per input, for the scanner doctor, support and the benchmarks.

`{"t_ms", "raw", "kind", "meaning", "job", "step", "verdict", "painted_ms"}`; `t_ms` is the moment of the last byte
since the session began, `painted_ms` the time from then to the frame that shows the verdict.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from aisle import named_tuple_json
from aisle.errors import SettingsError
from aisle.jobs.view import Verdict
from aisle.scan.grammar_and_meaning_types import Meaning, Scan
from aisle.scan.inputs_and_line_grouping import Line
from aisle.session.ask_measured_quantity import quantity_label
from aisle.session.job_stack import StackedJob


class TracedInput(NamedTuple):
    """One input as the session handled it. `at` is the monotonic moment of its last byte."""

    at: float
    raw: str
    kind: str
    meaning: str
    job: str
    step: str
    verdict: str


class Trace:
    """Trace of the inputs, written once they are on the screen. It ends silently if it cannot be written."""

    def __init__(self, path: Path, started_at: float) -> None:
        self._started_at = started_at
        self._unpainted: list[TracedInput] = []
        self._committed_count = 0
        """Number of unpainted inputs that are durable."""
        self._ended = False
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
            self._file = os.fdopen(os.open(path, flags, 0o600), "w", encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            raise SettingsError(
                f"The trace file {path} cannot be written: {error.strerror}. Choose another."
            ) from error

    def add(self, line: Line, meaning: Meaning, top_job: StackedJob, verdict: Verdict | None, at: float) -> None:
        """Keep an input with its meaning, step and verdict until it is painted."""
        text = quantity_label(meaning) if isinstance(meaning, Scan) else named_tuple_json.to_text(meaning)
        kind, step = type(meaning).__name__, top_job.job.step_name(top_job.state)
        text_id = verdict.text.id if verdict else ""
        self._unpainted.append(TracedInput(line.ended_at or at, line.text, kind, text, top_job.job.name, step, text_id))

    def mark_committed(self) -> None:
        """Note that all inputs so far are durable."""
        self._committed_count = len(self._unpainted)

    def mark_lost(self, verdict: Verdict) -> None:
        """Replace the verdicts on inputs that were rolled back."""
        self._unpainted[self._committed_count :] = [
            each._replace(verdict=verdict.text.id) for each in self._unpainted[self._committed_count :]
        ]
        self.mark_committed()

    def write_painted(self, at: float) -> None:
        """Write the inputs whose frame was painted at this monotonic moment."""
        waiting, self._unpainted, self._committed_count = self._unpainted, [], 0
        if not waiting or self._ended:
            return
        try:
            self._write(waiting, at)
        except OSError:
            self._ended = True

    def _write(self, waiting: list[TracedInput], at: float) -> None:
        for traced in waiting:
            line = {"t_ms": round((traced.at - self._started_at) * 1000, 3), **traced._asdict()}
            line["painted_ms"] = round((at - line.pop("at")) * 1000, 3)
            self._file.write(json.dumps(line, ensure_ascii=False) + "\n")
        self._file.flush()

    def close(self) -> None:
        """Write what is left, painted or not, and close the file."""
        self.write_painted(time.monotonic())
        with suppress(OSError):  # it ended when it could not be written
            self._file.close()
