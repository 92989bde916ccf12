"""A code of several lines is one scan: unknown as a whole, at every step of every job, however its bytes come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import pytest

from aisle.jobs.view import WRONG
from aisle.local.host.home import Home
from aisle.local.session.draft import Draft
from aisle.local.session.session import Session
from tests.lengths import tries
from tests.local.detours import WAYS, stand
from tests.local.payloads import PAYLOADS, PAYMENT, drawn
from tests.local.scanner import Scanner
from tests.local.test_detour import begin, headers_only, way
from tests.local.test_session import BARCODES, home, told

__all__ = ["headers_only", "home", "way"]

PACES = (0.0, 0.001, 0.003, 0.006, 0.012)
"""Seconds from byte to byte; none: all in one read."""

OPEN = (
    "pick.product",
    "count.product",
    "count.missing",
    "receive.goods",
    "move.take",
    "loss.reason",
    "store_product.sure",
)
"""Steps where a number is a quantity, and where it is an answer."""

SHORT = ("numbers", "a number and a known code", "a known code and a number", "a known code, a lot and a date", "keys")
UNKNOWN = (WRONG, "input.lines")
FUZZ = tries(600, 1_000_000)
every = pytest.mark.parametrize("way", list(WAYS), indirect=True)


@contextmanager
def forgetful(home: Home, way: str) -> Iterator[tuple[Session, Scanner]]:
    """A session at a step; whatever it writes from then on is counted and not kept."""
    with begin(home, way) as session:
        stand(home, session, way)

        def forget() -> bool:
            assert not session._keeper.has_writes
            session._keeper._draft = Draft(tuple(session._stack.levels))
            return True

        session._commit = forget  # type: ignore[method-assign]
        yield session, Scanner(session)


def standing(session: Session) -> Any:
    """All that an input could have changed, but for the rows that a list follows what is typed with."""
    levels = [(level.job.name, _without_rows(level.state)) for level in session._stack.levels if level.job.journalled]
    return levels, session._frame().view, session._asking, session._line.text, session.leaving


def _without_rows(state: Any) -> Any:
    return state._replace(rows=(), total=0) if hasattr(state, "typed") and hasattr(state, "cursor") else state


def is_unknown(scanner: Scanner, payload: str, pace: float, cuts: Iterable[int] = ()) -> None:
    """A scan that is unknown as a whole, and changes nothing."""
    before = standing(scanner.session)
    frame = scanner.send(payload, pace, cuts)
    assert told(frame) == UNKNOWN, (payload, pace, cuts)
    assert standing(scanner.session) == before, (payload, pace, cuts)


@every
def test_no_line_of_a_longer_scan_means_anything_at_any_step(home: Home, way: str) -> None:
    with forgetful(home, way) as (_session, scanner):
        for payload in PAYLOADS.values():
            is_unknown(scanner, payload, 0.0)
        is_unknown(scanner, PAYMENT, PACES[1 + list(WAYS).index(way) % 4])


@pytest.mark.parametrize("pace", PACES[1:])
@pytest.mark.parametrize("way", ["home", *OPEN], indirect=True)
def test_slow_bytes_are_the_same_scan(home: Home, way: str, pace: float) -> None:
    """A frame is painted after each of them."""
    with forgetful(home, way) as (_session, scanner):
        for name in SHORT:
            is_unknown(scanner, PAYLOADS[name], pace)


@every
def test_random_scans_of_several_lines_change_nothing(home: Home, way: str) -> None:
    dice = Random(way)
    with forgetful(home, way) as (_session, scanner):
        for _ in range(FUZZ // len(WAYS) + 1):
            payload = drawn(dice, (*BARCODES, "A-1", "A-2", "4101", "4102", "AISLE:1", "AISLE:DONE", "AISLE:OK"))
            pace = dice.choice((0.0,) * 17 + PACES)
            cuts = [dice.randrange(1, len(payload)) for _ in range(dice.randint(1, 6))] if pace else []
            is_slow = dice.random() < 0.05 or not _is_cut_inside(payload, cuts)
            is_unknown(scanner, payload, pace, () if is_slow else cuts)


def _is_cut_inside(payload: str, cuts: list[int]) -> bool:
    """Whether no read ends with the first line, which counts where it is a code of the store."""
    return all(not payload[cut - 1].isspace() or payload[:cut].count(payload[-1]) > 1 for cut in cuts)
