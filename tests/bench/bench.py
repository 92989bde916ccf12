"""One run of the benchmarks: the programs, how often things are done, and figures that several rows share."""

import contextlib
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, Self

from tests.bench import programs
from tests.bench.prepare import prepare
from tests.bench.session import Answer, Program, Session, clean_environment
from tests.bench.table import median
from tests.terminal.lifeline import Lifeline, foreign_names, left_over


class Spaced(NamedTuple):
    """Spaced scans, each program's in its own list, taken in turns."""

    floor: list[Answer]
    aisle: list[Answer]


class Bench:
    """Holds the home that everything of the run lives in; no process of it outlives the block.

    `aisle` is None until it was prepared. A `work` folder is kept, and what was prepared there is used again.
    """

    def __init__(self, *, short: bool = False, work: Path | None = None, minutes: float = 10) -> None:
        self.short = short
        self.seconds = 1.5 if short else minutes * 60
        """How long load is kept up."""
        self.products = 500 if short else 50_000
        self.aisle: Program | None = None
        self.curves: list[str] = []
        """What is printed below the table: figures by size, drawn."""
        self._work = work
        self._held = contextlib.ExitStack()

    def __enter__(self) -> Self:
        self.scratch = Path(self._held.enter_context(TemporaryDirectory(prefix="aisle-bench-")))
        self.folder = self._work.absolute() if self._work else self.scratch
        for folder in (self.folder, self.scratch):
            self._held.callback(left_over, folder)
        line = Lifeline()
        self._held.callback(line.close)
        self.home = self.folder / "home"
        self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.env = {
            **clean_environment(foreign_names()),
            "AISLE_HOME": str(self.home),
            "AISLE_LIFELINE_FD": str(line.fd),
        }
        self.floor = programs.floor(self.env)
        return self

    def __exit__(self, *_exc: object) -> None:
        self._held.close()

    def prepare(self) -> None:
        """Makes aisle ready: installed, loaded, synced, an order open. Raises CalledProcessError when a step fails."""
        self.aisle = prepare(self.folder, self.env, self.products)

    def times(self, full: int, short: int) -> int:
        """How often to do something in this run."""
        return short if self.short else full

    @property
    def programs(self) -> list[Program]:
        """The programs to measure, the floor first."""
        return [self.floor, *filter(None, (self.aisle,))]

    @cached_property
    def spaced(self) -> Spaced:
        """Spaced scans of both programs, one of each in turn."""
        with contextlib.ExitStack() as opened:
            sessions = [opened.enter_context(Session(program)) for program in self.programs]
            for session in sessions:
                for _ in range(self.times(20, 1)):
                    session.scan()
            rounds = [[session.scan() for session in sessions] for _ in range(self.times(300, 3))]
        return Spaced([answers[0] for answers in rounds], [answer for answers in rounds for answer in answers[1:]])

    @cached_property
    def floor_scan_ms(self) -> float:
        """The floor app's median for a spaced scan: the yardstick of several rows."""
        found = median(answer.ms for answer in self.spaced.floor)
        assert found is not None
        return found
