"""A lot that ends like a count, from a scanner that has sent no separator: how many it is gets asked until it is known
that such lots are whole."""

from __future__ import annotations

from decimal import Decimal

import pytest

from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import ASK, GOOD
from tests.session.scanner import Scanner
from tests.session.test_asked_quantity import HAM, JOBS, TEA, begun, shown
from tests.session.test_asked_quantity import home as store
from tests.session.test_numbers_after_scan import quantities
from tests.session.test_session import at, told

home = store
LABEL = f"010{TEA}10LOT73012"
HIDDEN = (ASK, "session.lot_may_have_quantity")
PACES = (0.0, 0.006)


@pytest.mark.parametrize("pace", PACES)
@pytest.mark.parametrize("tail", ["10LOT73012", "21X30144", "1726123110L30007", "240A3012345678"])
@pytest.mark.parametrize("job", JOBS)
def test_a_lot_that_may_end_in_a_count_is_asked(home: StoreFolder, job: str, tail: str, pace: float) -> None:
    with at(home, user="U1") as session:
        begun(session, job)
        scan = Scanner(session)
        frame = scan.send(f"010{TEA}{tail}\r", pace)
        assert told(frame) == HIDDEN
        for columns, rows in ((20, 16), (40, 20), (80, 24)):
            assert "Tea" in shown(frame, columns, rows)
        assert quantities(session) in ({}, {"P4": 0})
        scan.send("7\r", 0.06)
        assert quantities(session) == {"P4": Decimal(7)}
        assert told(scan.send(f"010{TEA}{tail}\r", pace)) == HIDDEN, "so this scanner sends no separator"


def test_a_part_of_a_piece_is_refused(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        begun(session, "count")
        scan = Scanner(session)
        scan.send(f"{LABEL}\r")
        frame = scan.send("1.5\r", 0.1)
        assert "1.5 is not possible" in shown(frame)
        assert "1 ignored: Tea" in shown(frame)
        assert not any(quantities(session).values())


def test_each_of_a_multiplied_label_is_asked(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        begun(session, "count")
        scan = Scanner(session)
        assert told(scan.send(f"3*{LABEL}\r")) == HIDDEN
        scan.send("7\r", 0.06)
        assert quantities(session) == {"P4": Decimal(21)}


def test_a_lot_that_was_whole_is_asked_about_once(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        begun(session, "count")
        scan = Scanner(session)
        scan.send(f"{LABEL}\r")
        scan.send("1\r", 0.06)
        assert told(scan.send(f"{LABEL}\r"))[0] == GOOD
        assert quantities(session) == {"P4": Decimal(2)}


@pytest.mark.parametrize("sign", ["\x1d", "~", "{GS}"])
def test_a_scanner_that_sends_separators_is_not_doubted(home: StoreFolder, sign: str) -> None:
    with at(home, user="U1") as session:
        begun(session, "count")
        scan = Scanner(session)
        scan.send(f"010{TEA}10LOT{sign}17261231\r")
        assert told(scan.send(f"{LABEL}\r"))[0] == GOOD
        assert quantities(session) == {"P4": Decimal(2)}


@pytest.mark.parametrize("tail", ["10LOT7", "10LOT73712", "10L300", "10LOT7301X", "11261230"])
def test_other_lots_are_not_asked(home: StoreFolder, tail: str) -> None:
    with at(home, user="U1") as session:
        begun(session, "count")
        assert told(Scanner(session).send(f"010{TEA}{tail}\r"))[0] == GOOD


def test_a_lot_on_a_label_with_its_weight_hides_nothing(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        begun(session, "count")
        assert told(Scanner(session).send(f"010{HAM}320100002010LOT73012\r"))[0] == GOOD


def test_the_question_opens_nothing_and_survives_a_kill(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        begun(session, "count")
        Scanner(session).send(f"{LABEL}\r")
    with at(home, user="U1") as session:
        assert told(session.frames.build())[1] == "session.lot_may_have_quantity"
        Scanner(session).send("4\r", 0.06)
        assert quantities(session) == {"P4": Decimal(4)}
