"""Rows about the desk: the order board of a store with 100,000 orders, used by keys and the mouse at 160x45."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import cycle
from pathlib import Path

from tests.bench import generated_store
from tests.bench.bench import Bench
from tests.bench.grown_cache import grow
from tests.bench.prepare import program_of
from tests.bench.rows_growth import session_environment
from tests.bench.session import Answer, Program, Session
from tests.bench.table import Pair, Row, measures, median

COLUMNS, ROWS = 160, 45
ORDERS = (100, 100_000)
PRODUCTS = 1_000
LIST_CELLS = 90
"""Cells of the list; the details of a row stand right of them."""

DOUBLE_CLICK_MS = 600
"""Milliseconds after which a second click on a cell is no double click."""

DOWN = b"\x1b[B"
WHEEL = (b"\x1b[<65;20;20M", b"\x1b[<64;20;20M")
"""Turn of the wheel down, and up."""

CLICKS: Mapping[str, tuple[str, ...]] = {
    "click on a row": ("G-",),
    "sort by a heading": ("Customer",),
    "filter by a chip": ("late ", "active"),
}
"""Texts that are clicked in turns."""


@measures(
    "desk",
    Row("desk: start to the first usable screen at 200x50, median", "ms", "floor app", at_most=1.8),
    Row(
        "desk: cursor down until list and pane are painted, 100,000 orders", "ms", "DataTable of 100 rows", at_most=0.5
    ),
    Row("desk: bytes of a cursor down", "bytes", most=1229),
    *(Row(f"desk: {name}, 100,000 orders", "ms", "100 orders", at_most=1.2) for name in (*CLICKS, "turn of the wheel")),
)
def desk(bench: Bench) -> Sequence[Pair]:
    """A session of each size stands on the order board; all are used in turns."""
    sizes = [size if not bench.short else size // 50 + 30 for size in ORDERS]
    start = Pair(_started(bench, bench.aisle), _started(bench, bench.floor))
    with ExitStack() as stack:
        boards = [stack.enter_context(_board(bench, size)) for size in sizes] if bench.aisle else []
        table = stack.enter_context(Session(_floor_table(bench), COLUMNS, ROWS))
        downs = _in_turns(bench, [partial(_settled, each, DOWN) for each in (table, *boards)])
        found = {
            name: _in_turns(bench, [partial(_click, each, texts) for each in boards]) for name, texts in CLICKS.items()
        }
        found["turn of the wheel"] = _in_turns(bench, [partial(_turn_wheel, each, cycle(WHEEL)) for each in boards])
    down = [median(answer.ms for answer in answers) for answers in downs]
    if not boards:
        return [start, Pair(None, down[0]), *(Pair(None, None) for _ in range(len(found) + 1))]
    size = median(float(answer.size) for answer in downs[-1])
    return [start, Pair(down[-1], down[0]), Pair(size, None), *map(_against_few, found.values())]


def _against_few(answers: Sequence[Sequence[Answer]]) -> Pair:
    """Return the median with many orders beside that with few."""
    few, many = (median(answer.ms for answer in each) for each in answers)
    return Pair(many, few)


def _started(bench: Bench, program: Program | None) -> float | None:
    """Return the milliseconds from the spawn to the first usable frame at 200x50."""
    if program is None:
        return None
    found = []
    for _ in range(bench.times(10, 1) + 1):
        with Session(program, 200, 50) as session:
            found.append(session.ready_ms)
    return median(found[1:])


def _floor_table(bench: Bench) -> Program:
    return bench.floor._replace(
        argv=(sys.executable, str(Path(__file__).with_name("floor_table.py"))),
        ready=lambda text: "G-0000030" in text,
        answered=lambda _text: 0,
    )


def _board(bench: Bench, orders: int) -> Session:
    """Return a session on the order board of a store with so many orders."""
    home = grow(bench.folder / f"desk-{orders}", PRODUCTS, orders)
    program = program_of(bench.folder / "site", session_environment(bench, home), generated_store.products(1)[0])
    program = program._replace(ready=lambda text: "Today" in text and "G-0" in text, answered=lambda _text: 0)
    session = Session(program, COLUMNS, ROWS)
    _click(session, ("Orders",))
    session.shown(lambda text: "active" in text, 60)
    session.terminal.wait_quiet(500)
    return session


def _in_turns(bench: Bench, works: Sequence[Callable[[], Answer]]) -> list[list[Answer]]:
    """Return the answers of each, done in turns; the first round only warms caches."""
    rounds = [[work() for work in works] for _ in range(bench.times(24, 2) + 1)]
    return [list(each) for each in zip(*rounds[1:], strict=True)]


def _settled(session: Session, data: bytes) -> Answer:
    """Return the time from a write to the last byte that follows it, and all bytes."""
    terminal = session.terminal
    terminal.wait_quiet(60)
    mark, before = terminal.mark(), len(terminal.chunks)
    at = terminal.write(data)
    deadline = time.monotonic() + 10
    while len(terminal.chunks) == before:
        assert time.monotonic() < deadline, f"nothing came after {data!r}; the screen:\n{terminal.text}"
        terminal.pump(0.002)
    terminal.wait_quiet(80)
    return Answer((terminal.chunks[-1].at - at) * 1000, terminal.count_since(mark))


def _turn_wheel(session: Session, turns: Iterator[bytes]) -> Answer:
    """Turn the wheel, first down; at the top of a list a turn up changes nothing."""
    return _settled(session, next(turns))


def _click(session: Session, texts: Sequence[str]) -> Answer:
    """Click on one of the texts, each time on the next one, where the screen shows it; on a row other than the last."""
    session.terminal.wait_quiet(DOUBLE_CLICK_MS)
    turn = session.last = session.last + 1
    lines, text = session.terminal.screen, texts[turn % len(texts)]
    found = [(row, line.index(text)) for row, line in enumerate(lines, 1) if text in line[:LIST_CELLS]]
    assert found, f"no {text} on the screen:\n{session.terminal.text}"
    row, column = found[turn % 2 * min(3, len(found) - 1)] if text == "G-" else found[0]
    return _settled(session, f"\x1b[<0;{column + 1};{row}M\x1b[<0;{column + 1};{row}m".encode())
