"""Whether so many are meant: asked in every job where it can be, answered by `y` alone, and taken back like any other
question."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, NamedTuple

import pytest

from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import Start
from aisle.jobs.view import GOOD, INFO, WRONG
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.session.session import Session
from tests.cache import service_rows
from tests.session.job_steps import announced, cache
from tests.session.test_session import BARCODES, at, home, say, told

__all__ = ["home"]

CODE = BARCODES[0]
UNSAID = "0075678164125"


class Way(NamedTuple):
    """From home to where a quantity is open, and what has it there."""

    scans: tuple[str, ...]
    code: str
    large: int
    """So many are asked about, typed or on a label."""


WAYS = {
    "count": Way(("count", "A-1", CODE), CODE, 300),
    "count of a product": Way(("count", CODE), CODE, 300),
    "second count": Way(("count", "A-1", CODE, "d"), CODE, 300),
    "adjust": Way(("count", CODE, "l"), CODE, 3000),
    "loss from the menu": Way(("count", "1", CODE), CODE, 3000),
    "move": Way(("move", "A-1", UNSAID, "y"), UNSAID, 3000),
    "receive": Way(("receive", "7002", UNSAID), UNSAID, 3000),
}


@pytest.fixture
def store(home: StoreFolder) -> StoreFolder:
    """A store with a delivery, and with a product of which nobody knows how many there are."""
    announced(home)
    writer = cache(home)
    writer.write_products([service_rows.product("P7", "Unsaid", UNSAID)])
    entry = service_rows.stock("P7")
    del entry["most_likely_quantity"]
    writer.write_stock([entry | {"store_locations": [{"store_location_code": "A-1"}]}])
    line = {"line_number": 1, "product_number": "P7", "barcode": UNSAID}
    row = {"order_number": "7002", "supplier_name": "Fresh & Co", "status": "open", "order_lines": [line]}
    writer.write_deliveries([row], 1.0)
    return home


def stand(session: Session, way: Way) -> None:
    """Goes there, from whatever page is open."""
    job, *scans = way.scans
    session.start_batch()
    session.event_runner.open(Start(job, {}))
    session.event_runner.commit()
    for text in scans:
        say(session, text)


def figures(session: Session) -> Any:
    """What stands on the page beside the question."""
    view = session.frames.build().view
    return getattr(view, "lines", ())


@pytest.mark.parametrize("by", ["typed", "label"])
@pytest.mark.parametrize("name", WAYS)
def test_so_many_are_taken_back_by_the_keys_of_every_question(store: StoreFolder, name: str, by: str) -> None:
    way = WAYS[name]
    large = str(way.large) if by == "typed" else f"{way.large}*{way.code}"
    with at(store, user="U1") as session:
        stand(session, way)
        before = figures(session)
        for key in ("x", "b", *("u" * ("u" in session.page.accepts().command_letters))):
            assert told(say(session, large))[1] == "count.confirm_quantity"
            shown = session.frames.build().view
            assert "x" in shown.choice_letters  # type: ignore[union-attr]
            for more in ("5000001", f"5000*{way.code}"):
                assert told(say(session, more, "y"))[1] in ("input.scan_not_accepted", "input.choices_changed"), (
                    "that was not on the screen"
                )
            frame = say(session, key)
            assert told(frame)[0] == INFO, key
            assert figures(session) == before, key


@pytest.mark.parametrize("name", WAYS)
def test_whatever_is_over_the_limit_asks_for_itself(store: StoreFolder, name: str) -> None:
    way = WAYS[name]
    label = f"{way.large}*{way.code}"
    with at(store, user="U1") as session:
        stand(session, way)
        before = asked_of(session)
        assert told(say(session, label))[1] == "count.confirm_quantity"
        first = asked_of(session)
        assert told(say(session, label))[1] == "count.confirm_quantity", "more of the same is asked about with it"
        assert asked_of(session) == first + way.large
        say(session, "x")
        assert told(say(session, str(way.large)))[1] == "count.confirm_quantity"
        assert asked_of(session) == way.large
        assert told(say(session, str(way.large + 1)))[1] == "count.confirm_quantity", (
            "another number is another question"
        )
        assert asked_of(session) == way.large + 1
        say(session, "b")
        assert before == 0


def asked_of(session: Session) -> Decimal:
    """How many are asked about; 0 where that is not asked."""
    frame = session.frames.build()
    asked = frame.verdict and frame.verdict.text.id == "count.confirm_quantity"
    return dict(frame.verdict.text.args)["value"] if asked and frame.verdict else Decimal(0)  # type: ignore[return-value]


@pytest.mark.parametrize("name", ["count", "count of a product", "move", "receive"])
def test_so_many_that_were_meant_say_nothing_of_so_many_more(store: StoreFolder, name: str) -> None:
    way = WAYS[name]
    with at(store, user="U1", large_quantity=Decimal(200)) as session:
        stand(session, way)
        say(session, str(way.large))
        assert told(say(session, "y"))[0] == GOOD
        assert told(say(session, way.code))[0] == GOOD, "one more of so many is believed"
        assert told(say(session, f"{way.large}*{way.code}"))[1] == "count.confirm_quantity"
        assert told(say(session, "x"))[0] == INFO
        assert told(say(session, str(2 * way.large)))[1] == "count.confirm_quantity"


@pytest.mark.parametrize("name", ["count", "adjust", "move", "receive"])
def test_other_goods_wait_for_the_answer(store: StoreFolder, name: str) -> None:
    way = WAYS[name]
    with at(store, user="U1") as session:
        stand(session, way)
        assert told(say(session, str(way.large)))[1] == "count.confirm_quantity"
        assert told(say(session, f"5000*{BARCODES[1]}"))[0] == WRONG
        assert told(say(session, "x"))[0] == INFO, "the question is still there"
    assert not OperationQueue(open_outbox(store.folder)).unfinished()
