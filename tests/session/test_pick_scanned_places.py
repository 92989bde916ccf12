"""A label after the scan of another place: it is asked where the goods were taken, and no letter loses them."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.courier.pull import full_sync_stages_and_progress
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.pick.pick_state import PickState
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, DetailView, Step
from aisle.session.session import Session
from tests.cache import service_rows
from tests.session.scanner import Scanner
from tests.session.test_session import at, say, told

GOUDA, NUTS = "2900010000008", "2800010000001"
NUMBERS = {GOUDA: "300001", NUTS: "200001"}


def store(folder: Path) -> StoreFolder:
    """Gouda and nuts by weight lie at two places; order 9002 has both from X-01, 9003 and 9004 one each."""
    home = StoreFolder(folder, "embedded", "0001")
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    cache.write_people([service_rows.person("U1", "Anna Kovac")])
    weighed = {"allow_decimal": True, "base_unit_name": "kg"}
    cache.write_products([service_rows.product(number, number, code, **weighed) for code, number in NUMBERS.items()])
    both = {"X-01": 30, "X-02": 30}
    cache.write_stock([service_rows.stock(number, 60, places=both) for number in NUMBERS.values()])
    cache.write_locations([service_rows.location(code, row) for row, code in enumerate(both, 1)])
    lines = [
        service_rows.line(row, number, 3, preferred_location_code="X-01")
        for row, number in enumerate(NUMBERS.values(), 1)
    ]
    orders = [("9002", lines), ("9003", lines[:1]), ("9004", lines[1:])]
    cache.write_orders([service_rows.order(number, *of) for number, of in orders], lines_known=True, read_began=1.0)
    full_sync_stages_and_progress.save_progress(cache, full_sync_stages_and_progress.SyncProgress(completed=1.0))
    return home


def picked(session: Session) -> dict[str, tuple[Decimal, str]]:
    """What is picked of each product, and from where."""
    state = session.stack.top.state
    assert isinstance(state, PickState)
    return {line.product: (line.picked, line.location) for line in state.lines if line.picked}


@pytest.mark.parametrize("verified", [False, True])
@pytest.mark.parametrize("code", [GOUDA, NUTS], ids=["product of the stop", "another product"])
@pytest.mark.parametrize("opening", [("9002",), ("6", "9003", "9004", "g")], ids=["pick", "batch"])
def test_a_label_after_another_place(aisle_home: Path, verified: bool, code: str, opening: tuple[str, ...]) -> None:
    label = f"010{code}3103000300"
    with at(store(aisle_home), user="U1", verified=verified) as session:
        for text in opening:
            say(session, text)
        assert told(say(session, "X-01")) == (GOOD, "pick.at_location")
        assert told(say(session, "X-02")) == (ASK, "pick.wrong_location")
        assert told(say(session, label)) == (ASK, "pick.which_location")
        for letter in "ns":
            assert told(say(session, letter)) == (WRONG, "pick.location_first")
        assert told(say(session, "u")) == (INFO, "session.dropped")
        assert not picked(session)
        say(session, "X-02")
        assert told(say(session, label)) == (ASK, "pick.which_location")
        assert told(say(session, "f")) == (GOOD, "pair")
        assert picked(session) == {NUMBERS[code]: (Decimal("0.3"), "X-02")}


@pytest.mark.parametrize("pace_s", [0.0, 0.003, 0.012])
@pytest.mark.parametrize("verified", [False, True])
@pytest.mark.parametrize(("letter", "location"), [("e", "X-01"), ("f", "X-09")])
def test_label_after_another_place_of_a_shortage(
    aisle_home: Path, verified: bool, pace_s: float, letter: str, location: str
) -> None:
    home = store(aisle_home)
    CacheWriter(open_cache(home.folder, writer=True), "0001").write_locations([service_rows.location("X-09", 9)])
    with at(home, user="U1", verified=verified) as session:
        for text in ("9002", "X-01", "s"):
            say(session, text)
        assert told(say(session, "X-09")) == (ASK, "shortage.no_stock_there")
        frame = Scanner(session).send(f"010{GOUDA}3103000300\r", pace_s)
        assert told(frame) == (ASK, "pick.which_location")
        assert not picked(session)
        is_stocked = location == "X-01"
        assert told(say(session, letter)) == (GOOD, "pair" if is_stocked else "pick.picked")
        assert picked(session) == {NUMBERS[GOUDA]: (Decimal("0.3"), location)}


@pytest.mark.parametrize("before", [(), ("X-01",), ("X-01", f"010{GOUDA}3103000500")])
@pytest.mark.parametrize("number", ["1", "2", "1.5"])
@pytest.mark.parametrize("refused", ["", "4000000000006"])
def test_a_number_says_how_much_was_taken_of_the_goods_in_question(
    aisle_home: Path, before: tuple[str, ...], number: str, refused: str
) -> None:
    """Whatever is open at the stop: the question names the goods that the number goes to."""
    with at(store(aisle_home), user="U1") as session:
        say(session, "9002", *before)
        say(session, "X-02")
        assert told(say(session, f"010{NUTS}3103000300")) == (ASK, "pick.which_location")
        if refused:
            say(session, refused)
            frame = say(session, number)
            assert told(frame) == (ASK, "input.number_after_refused_scan")
            assert frame.verdict
            assert dict(frame.verdict.text.args)["label"] == NUMBERS[NUTS]
        assert told(say(session, number)) == (ASK, "pick.total_which_location")
        assert told(say(session, "f")) == (GOOD, "pair")
        assert picked(session)[NUMBERS[NUTS]] == (Decimal(number), "X-02")


@pytest.mark.parametrize("pace", [0.0, 0.001, 0.003, 0.006, 0.012])
def test_goods_are_booked_where_the_screen_says(aisle_home: Path, pace: float) -> None:
    """Another location is chosen for a shortage; then the label comes."""
    with at(store(aisle_home), user="U1") as session:
        view = say(session, "9003", "s").view
        assert isinstance(view, DetailView)
        rows = [str(row) for block in view.blocks for row in block.rows[: block.numbered_rows]]
        say(session, str(next(number for number, row in enumerate(rows, 1) if "X-02" in row)))
        scanner = Scanner(session)
        scanner.rest(6.0)
        screen = session.frames.build().view
        assert isinstance(screen, Step)
        shown = next(each.text for each in screen.lines if each.role == "location")
        scanner.send(f"010{GOUDA}3103000300\r", pace)
        (place,) = [place for _, place in picked(session).values()]
        assert place == dict(shown.args).get("place", dict(shown.args).get("text"))


@pytest.mark.parametrize("pace", [0.0, 0.003])
def test_a_location_that_the_next_question_offers_was_taken(aisle_home: Path, pace: float) -> None:
    with at(store(aisle_home), user="U1") as session:
        say(session, "9002")
        frame = Scanner(session).send(f"X-02\r010{GOUDA}3103000300\r", pace)
        assert told(frame) == (ASK, "pick.which_location"), frame.verdict
        say(session, "f")
        assert picked(session) == {NUMBERS[GOUDA]: (Decimal("0.3"), "X-02")}
