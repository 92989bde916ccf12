"""Every kind of code at the steps of every job, and what a number, an undo or the same code does after it: no figure
changes without a word that names the goods, and a label is never a quantity."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.courier.pull import full_sync_stages_and_progress
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import Start
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Frame
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.session.session import Session
from tests.cache import service_rows
from tests.cache.test_delivery_queries import delivery, line
from tests.copied_databases import copy_cache
from tests.session.scanner import Scanner
from tests.session.test_asked_quantity import shown
from tests.session.test_numbers_after_scan import quantities
from tests.session.test_session import at, say, told

MUESLI, BUTTER, ZERO, CHEESE = "4006381333931", "5901234123457", "9780201379624", "96385074"
PRODUCTS = {
    "110001": ("Berry Muesli", MUESLI, {"A-1": 18, "A-2": 18}),
    "210005": ("Meadow Butter", BUTTER, {"A-2": 36, "A-1": 4}),
    "0226": ("Zero twotwosix", ZERO, {"35": 5, "4711": 4}),
}
"""Name, barcode and stock of each product."""


def fill(cache: CacheWriter) -> None:
    """Fill a store in which products, locations, orders and deliveries have numbers of digits alone."""
    cache.write_people([service_rows.person("U1", "Anna Kovac"), service_rows.person("U2", "Ben Ode")])
    cache.write_products([service_rows.product(number, name, code) for number, (name, code, _) in PRODUCTS.items()])
    cache.write_products(
        [service_rows.product("300001", "Loose Cheese", CHEESE, allow_decimal=True, base_unit_name="kg")]
    )
    cache.write_stock(
        [service_rows.stock(number, sum(places.values()), places=places) for number, (_, _, places) in PRODUCTS.items()]
    )
    codes = ("A-1", "A-2", "35", "4711", "4712")
    cache.write_locations([service_rows.location(code, n) for n, code in enumerate(codes, 1)])
    cache.write_deliveries([delivery("7001", line(1, "210005", 40), line(2, "110001", 40))], 1.0)
    lines = (("110001", 5, "A-1"), ("210005", 12, "A-2"), ("0226", 3, "4711"))
    order = service_rows.order(
        "4113",
        *(
            service_rows.line(number, product, quantity, preferred_location_code=place)
            for number, (product, quantity, place) in enumerate(lines, 1)
        ),
    )
    cache.write_orders([order], lines_known=True, read_began=1.0)
    full_sync_stages_and_progress.save_progress(cache, full_sync_stages_and_progress.SyncProgress(completed=1.0))


@pytest.fixture
def home(aisle_home: Path) -> StoreFolder:
    """The store with numbers of digits alone."""
    home = StoreFolder(aisle_home, "embedded", "0001")
    copy_cache(home.folder, "0001", fill)
    return home


def begin(session: Session, job: str, *texts: str) -> Frame:
    """Open a job and type these lines."""
    if job != "pick":
        session.start_batch()
        session.event_runner.open(Start(job, {}))
        session.event_runner.commit()
    frame = session.frames.build()
    for text in texts:
        frame = say(session, text)
    return frame


def entries(home: StoreFolder) -> int:
    """Return the number of operations that wait."""
    return len(OperationQueue(open_outbox(home.folder)).unfinished())


# Labels of digits


@pytest.mark.parametrize("pace", [None, 0.003])
def test_the_order_that_is_picked_is_named_as_such(home: StoreFolder, pace: float | None) -> None:
    with at(home, user="U1") as session:
        begin(session, "pick", "4113", MUESLI)
        scan = Scanner(session)
        scan.rest(2.5)
        frame = say(session, "4113") if pace is None else scan.send("4113\r", pace)
        assert told(frame) == (INFO, "pick.this_order")
        assert quantities(session) == {"110001": Decimal(1)}


def test_a_location_label_at_a_stop_is_the_location(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        frame = begin(session, "pick", "4113", MUESLI, "4712")
        assert told(frame) == (ASK, "pick.wrong_location")
        assert "4712" in shown(frame, 80, 24)
        assert told(say(session, "4711")) == (GOOD, "pick.at_location"), "the stop of another line"


def test_a_label_of_digits_says_where_goods_were_picked(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        frame = begin(session, "pick", "4113", "4712", MUESLI)
        assert told(frame) == (ASK, "pick.which_location")
        frame = say(session, "4712")
        assert told(frame) == (GOOD, "pick.picked")
        assert "No stock known at 4712" in shown(frame, 80, 24)


@pytest.mark.parametrize("code", ["99", "9999"])
def test_a_number_that_is_no_label_answers_no_question_about_a_location(home: StoreFolder, code: str) -> None:
    with at(home, user="U1") as session:
        begin(session, "pick", "4113", "4712", MUESLI)
        state = session.stack.top.state
        assert told(say(session, code))[1] == "pick.location_first_number"
        assert session.stack.top.state.choices == state.choices


@pytest.mark.parametrize("pace", [0.0, 0.003])
@pytest.mark.parametrize("code", ["A-2", "a-2"])
def test_the_label_of_a_location_that_is_read_twice_is_one_scan(home: StoreFolder, code: str, pace: float) -> None:
    with at(home, user="U1") as session:
        begin(session, "move", "A-1", MUESLI, "2")
        scan = Scanner(session)
        scan.rest(2.5)
        frame = scan.send(f"{code}\r{code}\r", pace)
        assert told(frame) == (GOOD, "move.moved")
        assert entries(home) == 1
        assert told(scan.send(f"{code}\r", pace)) == (GOOD, "count.at_location"), "later it is another scan"


# Undo


RECOUNTED = ("count", "A-1", MUESLI, "1", BUTTER, "30", "d")


def test_undo_after_each_number_of_a_recount_takes_back_that_number(home: StoreFolder) -> None:
    with at(home, user="U1", recount_units=Decimal(1)) as session:
        begin(session, *RECOUNTED)
        names = [session.frames.build().view.name]
        for text in ("17", "4", "y", "u", "u"):
            frame = say(session, text)
            names.append(frame.view.name)
            if text == "u":
                assert told(frame)[1] == "pick.undone"
        assert names[0] == "count.recount"
        assert names[-2:] == ["count.recount", "count.recount"]
        assert quantities(session) == {"110001": Decimal(1), "210005": Decimal(30)}


@pytest.mark.parametrize(
    ("way", "asked", "step"),
    [
        (("count", MUESLI, "7", BUTTER), "count.other_product", "count.stop"),
        (("count", "A-1", MUESLI, "7", "A-2"), "count.missing", "count.product"),
        (("count", "A-1", MUESLI, "18", "d"), "count.missing", "count.product"),
        (("move", "A-1", MUESLI, "3", "A-1"), "move.same_location", "move.take"),
        (("move", "A-1", MUESLI, "3", "A-2", "u", "A-2"), "move.after_undo", "move.take"),
        (("move", "c", "A-1", MUESLI, "3", "4712", MUESLI), "move.not_here", "move.load"),
        (("receive", "7001", BUTTER, "17", ZERO), "receive.not_announced", "receive.goods"),
        (("pick", "4113", MUESLI, "4712"), "pick.wrong_location", "pick.product"),
        (("pick", "4113", MUESLI, "9"), "pick.total_more_than_ordered", "pick.product"),
    ],
)
def test_undo_at_a_question_drops_only_the_question(
    home: StoreFolder, way: tuple[str, ...], asked: str, step: str
) -> None:
    with at(home, user="U1") as session:
        assert told(begin(session, *way))[1] == asked
        before = quantities(session), entries(home)
        frame = say(session, "u")
        assert frame.view.name == step
        assert (quantities(session), entries(home)) == before


def test_an_answer_to_a_question_of_a_count_names_what_was_counted(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        frame = begin(session, "count", "A-1", MUESLI, "18", "d", "3")
        assert frame.verdict
        assert frame.verdict.detail
        assert "3 · Meadow Butter" in shown(frame, 80, 24)


@pytest.mark.parametrize("code", ["KASSE", "$ABCD", "QWERTZUIOP"])
def test_a_number_after_a_scan_of_letters_that_is_unknown_is_asked_back(home: StoreFolder, code: str) -> None:
    with at(home, user="U1") as session:
        begin(session, "count", "A-1", MUESLI, "7")
        scan = Scanner(session)
        scan.rest(2.5)
        scan.send(f"{code}\r", 0.003)
        scan.rest(2.5)
        assert told(scan.send("3\r", 0.15)) == (ASK, "input.number_after_refused_scan")
        assert quantities(session) == {"110001": Decimal(7)}


def test_undo_after_the_number_of_what_was_not_scanned_asks_again(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        frame = begin(session, "count", "A-1", MUESLI, "18", "d", "3")
        assert frame.view.name == "count.summary"
        frame = say(session, "u")
        assert (frame.view.name, told(frame)[1]) == ("count.missing", "count.undone_all")
        assert "Butter" in shown(frame, 80, 24)
        assert quantities(session) == {"110001": Decimal(18)}


@pytest.mark.parametrize("locations", [("A-1",), ("A-1", "A-2"), ("A-1", "A-2", "35")])
def test_an_undone_location_of_a_list_is_on_it_again(home: StoreFolder, locations: tuple[str, ...]) -> None:
    with at(home, user="U1") as session:
        begin(session, "count", "3", *locations, "d", MUESLI, "17", BUTTER, "4", "d", "y")
        frame = say(session, "u")
        assert told(frame)[1] == "count.sent_undone"
        assert [each.key for each in session.stack.top.state.plan] == ["A-1", *locations[2:]]
        assert (frame.view.name == "count.list") == (len(locations) == 1)


def test_an_undone_location_without_a_list_opens_none(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        begin(session, "count", "A-1", MUESLI, "17", BUTTER, "4", "d", "y")
        assert say(session, "u").view.name == "count.start"
        assert not session.stack.top.state.plan


# Numbers


def test_a_number_after_goods_that_are_not_expected_is_for_the_location_named(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        begin(session, "move", "c", "A-1", MUESLI, "3", "4712")
        frame = say(session, MUESLI)
        assert told(frame) == (ASK, "move.not_here")
        assert "at 4712" in shown(frame, 80, 24)
        say(session, "2")
        assert {(part.location, part.quantity) for part in session.stack.top.state.in_hand} == {("A-1", Decimal(3))}
        say(session, "y")
        in_hand = {part.location: part.quantity for part in session.stack.top.state.in_hand}
        assert in_hand == {"A-1": Decimal(3), "4712": Decimal(2)}


@pytest.mark.parametrize(("answer", "quantity"), [("y", 12), ("x", 3), ("11", 11)])
def test_a_number_that_no_reason_has_is_asked_about(home: StoreFolder, answer: str, quantity: int) -> None:
    with at(home, user="U1") as session:
        frame = begin(session, "adjust", "A-1", MUESLI, "3", "12")
        assert told(frame) == (ASK, "adjust.no_reason")
        assert "12 × Berry Muesli instead of 3" in shown(frame, 80, 24)
        frame = say(session, answer)
        frame = say(session, "d") if answer == "x" else frame
        assert frame.view.name == "adjust.reason"
        assert quantities(session) == {"110001": Decimal(quantity)}


def test_the_sentence_on_a_loss_names_the_number_of_its_reason(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        frame = begin(session, "adjust", "A-1", MUESLI, "3", "2")
        assert told(frame) == (GOOD, "adjust.lost")
        assert "-3 Berry Muesli: reason 2, Expired" in shown(frame, 80, 24)


# A look-up in the middle


@pytest.mark.parametrize("detour", [(f"?{BUTTER}", "b"), ("?A-2", "b"), ("?butter", "b"), ("h", "b")])
@pytest.mark.parametrize(
    "way",
    [
        RECOUNTED,
        ("count", "A-1", MUESLI, "18", "d"),
        ("move", "A-1", MUESLI, "99"),
        ("receive", "7001", BUTTER, "99"),
        ("adjust", "A-1", MUESLI, "3"),
        ("pick", "4113", MUESLI, "4712"),
    ],
)
def test_the_question_stands_again_after_a_look_up(
    home: StoreFolder, way: tuple[str, ...], detour: tuple[str, ...]
) -> None:
    with at(home, user="U1", recount_units=Decimal(1)) as session:
        frame = begin(session, *way)
        asked = told(frame)
        assert asked[0] == ASK
        for text in detour:
            frame = say(session, text)
        assert told(frame) == asked


def test_a_scan_that_ends_a_look_up_has_its_own_answer(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        begin(session, "count", "A-1", MUESLI, "18", "d", f"?{BUTTER}")
        assert told(say(session, BUTTER)) == (GOOD, "count.counted_of")
        begin(session, "count", "A-2", f"?{BUTTER}")
        assert told(say(session, "b")) == ("", ""), "nothing was asked"


@pytest.mark.parametrize("pace", [0.0, 0.003, 0.012, 0.12])
@pytest.mark.parametrize("total", ["", "4"])
@pytest.mark.parametrize("label", ["2", "0003", "5", "110001"])
def test_a_number_of_the_store_is_no_quantity_where_the_location_is_asked(
    home: StoreFolder, label: str, total: str, pace: float
) -> None:
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    cache.write_locations([service_rows.location(code, n) for n, code in enumerate(("2", "0003", "5"), 7)])
    with at(home, user="U1") as session:
        assert told(begin(session, "pick", "4113", "4712", MUESLI)) == (ASK, "pick.which_location")
        if total:
            say(session, total)
        frame = Scanner(session).send(f"{label}\r", pace)
        assert told(frame)[0] in (ASK, WRONG), shown(frame)
        assert told(frame)[1] != "pick.total_which_location", shown(frame)
        assert not quantities(session)
        if label in ("2", "0003", "5"):
            say(session, "x")
            say(session, "g")
            assert quantities(session) == {"110001": Decimal(total or 1)}, shown(session.frames.build())


def test_a_quantity_that_is_also_a_label_is_taken_with_y(home: StoreFolder) -> None:
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    cache.write_locations([service_rows.location("2", 7)])
    with at(home, user="U1") as session:
        begin(session, "pick", "4113", "4712", MUESLI, "2")
        assert told(say(session, "y")) == (ASK, "pick.total_which_location")
        say(session, "e")
        assert quantities(session) == {"110001": Decimal(2)}
