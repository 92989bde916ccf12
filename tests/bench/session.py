"""A program in a terminal that is scanned into, with a clock; the floor and aisle are measured by the same lines."""

import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Self

from tests.terminal.harness import Terminal

FRAME_GAP_S = 0.001
"""Reads closer together than this belong to one frame; frames are at least a sixtieth of a second apart."""

CALM_S = 0.004
"""The screen is drawn and searched only after so long without output, so that no read is late because of it."""


class Program(NamedTuple):
    """Something that answers scans."""

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str | None]
    ready: Callable[[str], bool]
    """Whether this screen is the first usable one."""
    code: Callable[[int], bytes]
    """The code of the scan with that number, without its end."""
    answered: Callable[[str], int]
    """The number of the last scan that this screen shows the verdict of; -1: none."""


class Answer(NamedTuple):
    """What came of a scan: milliseconds from the write to the last byte of the verdict's frame, and all bytes."""

    ms: float
    size: int
    packed: int = 0
    """The bytes as `ssh -C` sends them."""


class Session:
    """One run of a program, 40x20 unless said otherwise; `ready_ms`: from its spawn to its first usable frame."""

    def __init__(
        self,
        program: Program,
        cols: int = 40,
        rows: int = 20,
        env: Mapping[str, str | None] | None = None,
        ready: Callable[[str], bool] | None = None,
        terminal: type[Terminal] = Terminal,
    ):
        self.program = program
        self.terminal = terminal(program.argv, cols, rows, {**program.env, **(env or {})})
        self._packer, self._packed = zlib.compressobj(), 0
        try:
            self.ready_ms = (self.shown(ready or program.ready, 60) - self.terminal.started) * 1000
            self.terminal.wait_quiet(100)
            self.last = max(program.answered(self.terminal.text), 0)
        except BaseException:
            self.terminal.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.terminal.close()

    def scan(self, end: bytes = b"\r") -> Answer:
        """One scan in one write, when all is calm."""
        mark = self._calm()
        return self._answer(self.terminal.write(self._next() + end), mark)

    def scan_now(self) -> float:
        """One scan, whatever the program is at; milliseconds until its verdict."""
        at = self.send()
        return (self.answered() - at) * 1000

    def send(self) -> float:
        """One scan, and nobody waits for its verdict; when it was written."""
        self.terminal.pump()
        return self.terminal.write(self._next() + b"\r")

    def answered(self) -> float:
        """When the verdict of the last scan showed."""
        return self.shown(self._answers(self.last))

    def type(self, pause_s: float) -> Answer:
        """A code whose characters come apart; timed from the write of its end. Bytes count from the first character."""
        mark = self._calm()
        due = time.perf_counter()
        for character in self._next():
            self._pump_until(due)
            self.terminal.write(bytes((character,)))
            due += pause_s
        self._pump_until(due)
        return self._answer(self.terminal.write(b"\r"), mark)

    def burst(self, count: int, pause_s: float) -> list[float]:
        """Scans so far apart, whatever is answered meanwhile: for each the milliseconds until its verdict showed."""
        self._calm()
        first, written = self.last + 1, []
        due = time.perf_counter()
        for _ in range(count):
            self._pump_until(due)
            written.append(self.terminal.write(self._next() + b"\r"))
            due += pause_s
        found = [(self.shown(self._answers(first + n)) - at) * 1000 for n, at in enumerate(written)]
        self.exact()
        return found

    def volley(self, count: int, timeout_s: float = 10) -> float:
        """Many scans in one write: the milliseconds until the verdict of the last one showed."""
        mark = self._calm()
        return self._answer(
            self.terminal.write(b"".join(self._next() + b"\r" for _ in range(count))), mark, timeout_s
        ).ms

    def pss_mb(self) -> float:
        """Proportional set size of the program's process in MB."""
        return pss_mb(self.terminal.pid)

    def _next(self) -> bytes:
        self.last += 1
        return self.program.code(self.last)

    def _calm(self) -> int:
        """Waits until the program rests, longer than a frame lasts; answers with the place in its output."""
        self.terminal.wait_quiet(40)
        self._pack()
        return self.terminal.mark()

    def _answer(self, at: float, mark: int, timeout_s: float = 10) -> Answer:
        shown = self.shown(self._answers(self.last), timeout_s)
        self.exact()
        return Answer((shown - at) * 1000, self.terminal.count_since(mark), self._pack())

    def _pack(self) -> int:
        """The size of what came since the last time, compressed in one stream, flushed after each read."""
        chunks, size = self.terminal.chunks, 0
        for chunk in chunks[self._packed :]:
            size += len(self._packer.compress(chunk.data)) + len(self._packer.flush(zlib.Z_PARTIAL_FLUSH))
        self._packed = len(chunks)
        return size

    def exact(self) -> None:
        """Waits for rest; fails when more was answered than was scanned."""
        self.terminal.wait_quiet(40)
        if (seen := self.program.answered(self.terminal.text)) != self.last:
            raise AssertionError(f"{self.program.name} answered scan {seen}, the last one was {self.last}")

    def _pump_until(self, due: float) -> None:
        while (left := due - time.perf_counter()) > 0:
            self.terminal.pump(max(left - 0.001, 0))

    def _answers(self, number: int) -> Callable[[str], bool]:
        return lambda text: self.program.answered(text) >= number

    def shown(self, condition: Callable[[str], bool], timeout_s: float = 10) -> float:
        """When the last byte of the first frame came whose screen meets the condition."""
        terminal = self.terminal
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline and terminal.exit_code is None:
            if terminal.pump(CALM_S):
                continue
            index = terminal.first_shown(condition)
            if index is not None:
                return self._frame_end(index)
        raise AssertionError(f"{self.program.name} did not answer; its screen:\n{terminal.text}")

    def _frame_end(self, index: int) -> float:
        chunks = self.terminal.chunks
        while index + 1 < len(chunks) and chunks[index + 1].at - chunks[index].at < FRAME_GAP_S:
            index += 1
        return chunks[index].at


def pss_mb(pid: int) -> float:
    """Proportional set size of a process in MB."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    raise OSError(f"the kernel tells no Pss of {pid}")


def clean_environment(names: Sequence[str]) -> dict[str, str | None]:
    """Takes these names out of a child's environment, and lets it keep its compiled files."""
    return {**dict.fromkeys(names), "PYTHONDONTWRITEBYTECODE": None}
