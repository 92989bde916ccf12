"""Somebody at a terminal with the app on it: scans, reads the screen, and can be interrupted in every way."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.terminal.harness import Terminal, python

Seen = dict[str, Any]
"""One line of the trace."""

SIGN, BACKSPACE = b"^", b"\x7f"
"""What is typed and taken back to see that all that came before it is on the screen."""

START_S = 30.0
"""How long the first screen, the first data or an answer may take on a busy machine."""


SOON_S = 3.0
"""How long to wait for the answer to what may have none."""

READING_S = 1.2
"""Seconds before the next input after a text that is no code: what comes sooner is taken for a part of it."""
KEY_S = 0.12
"""From key to key."""

HANDS_S = 0.15
"""The shortest time between two inputs of a person."""


class Picker:
    """The app in a terminal. Every input waits until its answer was painted, as the trace tells.

    The terminal is called `dock` whatever device it gets, so that whoever comes back comes back to the same one.
    """

    def __init__(
        self,
        start: Callable[..., Terminal],
        trace: Path,
        *arguments: str,
        columns: int = 40,
        rows: int = 20,
        env: Mapping[str, str | None] | None = None,
        argv: tuple[str, ...] | None = None,
    ) -> None:
        """`start` is the fixture `terminal`; `trace` a file of this run's own; `argv` another way to start the app."""
        self.trace = trace
        self._seen: list[Seen] = []
        self._read_to = 0
        command = [*(argv or python("-m", "aisle")), *arguments, "--trace", str(trace)]
        self.terminal = start(command, columns, rows, env={"LANG": "C.UTF-8", "AISLE_TERMINAL": "dock", **(env or {})})
        self._free = 0.0
        self.scans = 0
        """Inputs that were written, each ended by one terminator: the hands."""

    def seen(self) -> list[Seen]:
        """All inputs whose answers were painted, oldest first."""
        if not self.trace.exists():
            return []
        with self.trace.open("rb") as trace:
            trace.seek(self._read_to)
            whole, end, _ = trace.read().rpartition(b"\n")
        self._read_to += len(whole + end)
        self._seen += [json.loads(line) for line in whole.splitlines()]
        return [*self._seen]

    def shows(self, *texts: str) -> str:
        """Waits until all of these are on the screen, wherever; the screen's text."""
        self.terminal.wait_for(lambda glass: all(text in _flat(glass.text) for text in texts) or None, START_S)
        return self.terminal.text

    def write(self, data: bytes, count: int = 1) -> list[Seen]:
        """Writes all of it at once and waits until so many more inputs are answered; those answers."""
        before = len(self.seen())
        self.rest()
        self.terminal.write(data)
        self.scans += count
        seen = self.answered(before + count)[before:]
        # Hands go on when eyes have seen the answer, and never as close behind the last byte as a scan's next line.
        pause_s = READING_S if seen[-1]["kind"] in ("Unknown", "Refused", "Text") else HANDS_S
        self._hands_free(pause_s, seen[-1])
        return seen

    def _hands_free(self, pause_s: float, seen: Seen) -> None:
        """Lets the next input come so long after the app has read this one, which a busy host reads late."""
        self._free = time.monotonic() + max(0.0, pause_s - seen["painted_ms"] / 1000)

    def rest(self) -> None:
        """Lets as much time pass since the last input as anybody needs for the next one: what comes sooner belongs to
        the same scan."""
        self._wait_until(self._free)
        self._free = time.monotonic() + HANDS_S

    def _wait_until(self, moment: float) -> None:
        while (left := moment - time.monotonic()) > 0:
            self.terminal.pump(left)

    def read(self) -> None:
        """Lets the next input come as late as somebody sends it who has read a refusal."""
        self._free = time.monotonic() + READING_S

    def answered(self, count: int) -> list[Seen]:
        """Waits until so many inputs of this run are answered; all of them."""
        self.terminal.wait_for(lambda _: len(self.seen()) >= count, START_S)
        return self.seen()

    def pour(self, *texts: str) -> None:
        """Enters one after the other, as soon as the one before is answered, however many were understood.

        The last comes late enough to be an input of its own, whatever the one before it was.
        """
        for number, text in enumerate(texts, 1):
            before = len(self.seen())
            if number == len(texts):
                self.read()
            self.rest()
            self.terminal.write(text.encode() + b"\r")
            with suppress(AssertionError):  # some texts are no input at all
                self.terminal.wait_for(lambda _, before=before: len(self.seen()) > before, SOON_S)  # type: ignore[misc]
                self._hands_free(HANDS_S, self.seen()[-1])
        self.terminal.wait_for(lambda _: self.seen()[-1]["raw"] == texts[-1], START_S)

    def enter(self, text: str) -> Seen:
        """One scan, or something typed and Enter; a single character is typed, because no scanner sends one alone."""
        if len(text) == 1:
            return self.type(text)
        (seen,) = self.write(text.encode() + b"\r")
        return seen

    def type(self, text: str) -> Seen:
        """Something typed key by key; where a busy host has read the keys of a number together, `y` says it was so."""
        before = len(self.seen())
        self.rest()
        for char in text:
            self.terminal.write(char.encode())
            self._wait_until(time.monotonic() + KEY_S)
        self.terminal.write(b"\r")
        self.scans += 1
        seen = self.answered(before + 1)[-1]
        self._hands_free(HANDS_S, seen)
        if seen["verdict"] == "input.confirm_fast_number":
            self.scans -= 1  # the answer is no entry of its own
            (seen,) = self.write(b"y\r")
        if seen["verdict"] == "input.type_choice":
            return self.type(text)  # the host read its key and Enter together
        return seen

    def take(self, text: str, step: str, verdict: str = "pick.picked", *, typed: bool = False) -> Seen:
        """One input that has to end at this step with this verdict; at once, as scanned or pasted, or typed."""
        seen = self.type(text) if typed else self.enter(text)
        assert (seen["step"], seen["verdict"]) == (step, verdict), (seen, self.terminal.text)
        return seen

    def sign_in(self, name: str = "anna") -> None:
        """Signs in at once, whether the store's people are known here yet or not, and waits for home."""
        self.shows("Sign in")
        self.enter(name)
        self.shows("1 Pick")

    def go_home(self) -> None:
        """Back, page by page, until the list of orders is there."""
        for _ in range(10):
            if self.enter("b")["step"] == "home":
                return
        raise AssertionError(f"no way back to home:\n{self.terminal.text}")

    def told(self) -> list[str]:
        """The lines on the screen that say where the work stands: without verdict, input line and link.

        A frame comes through a pty in pieces. What is typed now is shown after all that was shown before it, so the
        screen is read when a sign that nobody needs was typed, seen and taken back.
        """
        sign = SIGN.decode()
        self.terminal.write(SIGN)
        self.terminal.wait_for(sign, START_S)
        self.terminal.write(BACKSPACE)
        self.terminal.wait_for(lambda glass: sign not in glass.text, START_S)
        return self.glance()

    def stands_at(self, step: list[str]) -> None:
        """Waits until the work stands where it stood when it was told."""
        try:
            self.terminal.wait_for(lambda _: self.glance() == step, START_S)
        except AssertionError as never:
            raise AssertionError(f"it stood at {step}, it stands at {self.glance()}") from never

    def glance(self) -> list[str]:
        """The same lines as they are on the screen at this moment, drawn to the end or not."""
        kept = []
        for row, cells in zip(self.terminal.screen[:-2], self.terminal.cells, strict=False):
            text = row.strip()
            if text and cells[0].bg == "default":
                kept.append(text)
        return kept


def _flat(text: str) -> str:
    """The screen as running text, so that words that were wrapped can be found."""
    return " ".join(text.split())
