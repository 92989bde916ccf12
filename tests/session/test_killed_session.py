"""Sessions die in the middle of a burst of scans: what they had said stands, what stands was scanned, in that order.

And the next one stands on the same step.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from itertools import count
from random import Random
from typing import Any

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.database import fetch
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import Frame, Step
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.scan.inputs_and_line_grouping import Line
from aisle.session.session import open_session
from aisle.settings.setting_definitions import Settings
from tests.cache import service_rows
from tests.host.child_process import Child, running
from tests.writes import picked

ROUNDS = [8, pytest.param(1000, marks=pytest.mark.full)]
CODE = "4006381333931"
SCANNED = "SELECT seq, raw FROM event WHERE seq > ? AND raw LIKE '%*%' ORDER BY seq"
BURST = 12
"""So many scans may come in one read."""


def picker(home: StoreFolder, number: int) -> Callable[[Callable[[str], None]], None]:
    """A session that stands where the one before it was killed, and scans on; it tells what it shows each time."""

    def work(tell: Callable[[str], None]) -> None:
        chance = Random(number)
        session = open_session(home, Settings(terminal="dock", user="U1"))
        frame = session.start()
        if frame.view.name == "home":
            frame = session.take([line("4101")], 0.0)
        tell(json.dumps([standing(frame), []]))
        for scan in count():
            burst = [f"{1 + (number + scan + n) % 3}*{CODE}" for n in range(chance.randint(1, BURST))]
            frame = session.take([line(text) for text in burst], 0.0)
            tell(json.dumps([standing(frame), burst]))

    return work


def line(text: str) -> Line:
    """A scan."""
    return Line(text, "cr", 0.0, 0.0, 0.0)


def standing(frame: Frame) -> tuple[str, int]:
    """The step, and how many pieces the screen says are picked."""
    assert isinstance(frame.view, Step)
    return frame.view.name, int(frame.view.done)


def write_order(home: StoreFolder) -> None:
    """Write an order that no scan completes."""
    with closing(open_cache(home.folder, writer=True)) as database:
        cache = CacheWriter(database, home.store)
        cache.write_products([service_rows.product("P1", "Oats", CODE)])
        cache.write_orders(
            [service_rows.order("4101", service_rows.line(1, "P1", 10_000_000))], lines_known=True, read_began=1.0
        )


@pytest.mark.parametrize("rounds", ROUNDS)
def test_killed_in_the_middle_of_a_burst(home: StoreFolder, rounds: int) -> None:
    write_order(home)
    dice = Random(3)
    kept: list[tuple[int, str]] = []
    stands = 0
    """How many pieces `kept` is; only what is new is read and reckoned each time."""
    with closing(open_outbox(home.folder)) as outbox:
        for number in range(rounds):
            child = Child(picker(home, number))
            with running(child):
                assert child.hear(dice.randint(1, 6))
                told = [json.loads(each) for each in child.kill()]
            assert told[0] == [["pick.product", stands], []], "on the same step, with all that was said"
            said = [text for _, burst in told for text in burst]
            new = [(int(seq), str(raw)) for seq, raw in fetch(outbox, SCANNED, kept[-1][0] if kept else 0)]
            raws = [raw for _, raw in new]
            assert raws[: len(said)] == said
            assert len(raws) - len(said) <= BURST, "one read at most was kept and not told any more"
            assert told[-1][0][1] == stands + pieces(said)
            stands += pieces(raws)
            kept += new
        assert [(int(seq), str(raw)) for seq, raw in fetch(outbox, SCANNED, 0)] == kept
        ((body,),) = [(op.body,) for op in OperationQueue(outbox).unfinished()]
        assert picked(body) == {1: pieces([raw for _, raw in kept])}
    assert len(kept) > rounds


def pieces(raws: list[str]) -> Any:
    """How many pieces these scans are."""
    return sum(int(raw.partition("*")[0]) for raw in raws)


def test_work_of_a_killed_terminal_goes_on_at_one_other_that_names_it(home: StoreFolder) -> None:
    """The same person on two terminals: one draft is never worked on twice, and nobody gets it without a word."""
    write_order(home)
    child = Child(picker(home, 1))
    with running(child):
        assert child.hear(2)
        child.kill()
    with (
        closing(open_session(home, Settings(terminal="desk", user="U1"))) as desk,
        closing(open_session(home, Settings(terminal="dock", user="U1"))) as dock,
    ):
        frame = desk.start()
        assert frame.view.name == "pick.product"
        assert frame.verdict is not None
        assert frame.verdict.text.id == "session.resumed_from"
        assert dict(frame.verdict.text.args) == {"terminal": "dock"}
        assert dock.start().view.name == "home"
