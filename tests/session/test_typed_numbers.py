"""What a number, a number of the store, a large one, a letter and a scan do at every step of every job.

Each cell is the page that the input leads to and the message that answers it, both as they are seen. A number never
chooses where a quantity is open, and no number of the store and no large one is a quantity before somebody says `y`.
"""

from __future__ import annotations

import unicodedata
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from aisle.cache.reader import CacheReader
from aisle.host.store_and_database_folders import StoreFolder
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.session.session import Session
from tests.session.job_steps import WAYS, Way, announced, stand
from tests.session.scanner import Scanner
from tests.session.test_look_up_mid_job import headers_only
from tests.session.test_session import BARCODES, at, home, say, told

__all__ = ["headers_only", "home"]

INPUTS = ("1", "4102", "8888888", "y", BARCODES[0])
"""A number, the number of an order, a large number, a letter, a product."""

_ROWS = Path(__file__).with_name("typed_numbers.txt").read_text(encoding="utf-8").splitlines()[1:]
TABLE = {step: outcomes for step, *outcomes in (row.split(" | ") for row in _ROWS)}
"""For each step the page and the message that each input leads to."""

HELD: dict[str, Way] = {
    "count.product/held": Way(("count", "A-1", BARCODES[0])),
    "count.product/many": Way(("count", "A-1", BARCODES[0], "8888888")),
    "count.product/number": Way(("count", "A-1", BARCODES[0], "4102")),
    "move.take/held": Way(("move", "A-1", BARCODES[0])),
    "adjust.quantity/many": Way(("count", BARCODES[0], "l", "8888888")),
    "receive.goods/more": Way(("receive", "7001", BARCODES[0], "45"), before=announced),
    "receive.goods/number": Way(("receive", "7001", BARCODES[0], "4102"), before=announced),
    "pick.product/foreign": Way(("4101", BARCODES[1], "96385074")),
}
"""Questions that stand on top of a quantity, beside those of the table of ways."""

ALL = {**WAYS, **HELD}


def outcome(session: Session, text: str) -> str:
    """Where one input leads, and what is told."""
    frame = say(session, text)
    return f"{frame.view.name} {told(frame)[1]}".strip()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("column", range(len(INPUTS)), ids=INPUTS)
@pytest.mark.parametrize("way", ALL)
def test_each_input_at_each_step(
    home: StoreFolder, way: str, column: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)  # a file may be written
    monkeypatch.setitem(WAYS, way, ALL[way])
    if before := ALL[way].before:
        before(home)
    with at(home, user="U1", **ALL[way].terms) as session:
        stand(home, session, way)
        assert outcome(session, INPUTS[column]) == TABLE[way][column]


def test_every_row_of_the_table_is_a_step_and_every_step_has_a_row() -> None:
    assert set(TABLE) == set(ALL)


@pytest.mark.parametrize("way", ALL)
def test_where_a_quantity_is_open_only_letters_choose(
    home: StoreFolder, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(WAYS, way, ALL[way])
    if before := ALL[way].before:
        before(home)
    with at(home, user="U1", **ALL[way].terms) as session:
        view = stand(home, session, way)
        open_ = session.stack.top.job.accepts(session.stack.top.state)
        assert open_.choice_letters == getattr(view, "choice_letters", "")
        assert not open_.quantity or len(open_.choice_letters) == open_.choices
        assert not {*open_.choice_letters} & {*open_.command_letters, "b", "h", *"0123456789"}


def picked(home: StoreFolder) -> dict[int, Decimal]:
    """What the lines of 4101 stand at, as a session sees them."""
    (order,) = CacheReader(home, open_outbox(home.folder)).query("order", {"order_number": "4101"})[0]
    return {line["line_number"]: line["picked_quantity"] for line in order["lines"]}


def waiting(home: StoreFolder) -> list[dict[str, Any]]:
    """The entries of the log that wait to be sent."""
    operations = OperationQueue(open_outbox(home.folder)).unfinished()
    return [entry for each in operations if "storeproductlog" in each.body for entry in each.body["storeproductlog"]]


def test_a_number_at_more_than_was_ordered_is_the_quantity(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        assert told(say(session, "4101", BARCODES[1]))[1] == "pick.picked"
        assert told(say(session, "40"))[1] == "pick.total_more_than_ordered"
        assert told(say(session, "2"))[1] in ("pick.picked", "pick.all_picked")
        assert picked(home)[2] == 2
        assert told(say(session, "u"))[1] == "pick.undone"


@pytest.mark.parametrize("numbers", [("1",), ("40", "1"), ("4102", "1"), ("8888888", "1"), ("9999999", "8888888", "1")])
def test_the_last_number_of_a_count_wins(home: StoreFolder, numbers: tuple[str, ...]) -> None:
    with at(home, user="U1") as session:
        say(session, "?A-1", "c", BARCODES[0], "8888888")
        for number in numbers:
            say(session, number)
        say(session, "d")
        for _ in range(5):
            if not waiting(home):
                say(session, (getattr(session.frames.build().view, "choice_letters", "") or "1")[0])
        assert [entry.get("counted_quantity", entry.get("stock_pool_1")) for entry in waiting(home)] == [1]


def test_a_number_of_the_store_is_no_quantity_of_what_came_in(home: StoreFolder) -> None:
    announced(home)
    with at(home, user="U1") as session:
        say(session, "7001", BARCODES[0])
        assert told(say(session, "45"))[1] == "receive.more_than_announced"
        for digit in ("1", "2", "3"):
            assert told(say(session, "4102"))[1] == "move.number_of"
            assert told(say(session, digit))[1] == "pick.picked", "a digit is the quantity"
            assert told(say(session, "45"))[1] == "receive.more_than_announced"
        say(session, "4102")
        assert told(say(session, "x"))[1] == "receive.more_than_announced", "what was asked before is asked again"
        assert told(say(session, "4102", "y"))[1] == "input.scan_not_accepted", (
            "what came with the question is no answer"
        )
        assert told(say(session, "y"))[1] == "receive.more_than_announced"
        assert told(say(session, "y"))[1] == "pick.picked"
        assert not waiting(home)


NO_TOTES = ["99999", "123", "00017", "4006381333948", "0099999", "７７７７", "100", "96385081"]
"""Numbers that are no orders."""


@pytest.mark.parametrize("pace", [0.0, 0.001, 0.006, 0.012])
@pytest.mark.parametrize("code", NO_TOTES)
def test_a_scanned_number_that_is_no_order_is_no_tote(home: StoreFolder, code: str, pace: float) -> None:
    with at(home, user="U1") as session:
        session.start_batch()
        stand(home, session, "batch/gathered")
        before = session.stack.top.state.orders
        assert told(Scanner(session).send(f"{code}\r", pace))[1] == "batch.looks_like_order"
        assert session.stack.top.state.orders == before


@pytest.mark.parametrize("code", NO_TOTES)
def test_a_number_that_is_no_order_is_no_tote_before_somebody_says_so(home: StoreFolder, code: str) -> None:
    with at(home, user="U1") as session:
        session.start_batch()
        stand(home, session, "batch/gathered")
        assert told(say(session, code))[1] == "batch.looks_like_order"
        assert told(say(session, "b"))[1] == "session.dropped"
        assert [each.tote_code for each in session.stack.top.state.orders] == ["", ""]
        say(session, code)
        assert told(say(session, "y"))[1] == "batch.tote"
        assert [each.tote_code for each in session.stack.top.state.orders] == ["", unicodedata.normalize("NFKC", code)]
        assert told(say(session, code))[1] == "batch.tote", "it is known as that"
