"""What is scanned while a question stands: each letter does what its line on the screen says, and no scan is lost
without a word."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.courier.pull import full_sync_stages_and_progress
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import Start
from aisle.jobs.view import ASK, WRONG, Frame
from aisle.session.session import Session
from tests.cache import service_rows
from tests.cache.test_delivery_queries import delivery, line
from tests.copied_databases import copy_cache
from tests.session.scanner import Scanner
from tests.session.test_asked_quantity import shown
from tests.session.test_numbers_after_scan import quantities
from tests.session.test_session import at, say, told

MUESLI, BUTTER, ZERO = "4006381333931", "5901234123457", "9780201379624"
PACE_S = 0.003


def numbered_store(cache: CacheWriter) -> None:
    """A store whose products and locations have numbers."""
    cache.write_people([service_rows.person("U1", "Anna Kovac")])
    cache.write_products(
        [
            service_rows.product("110001", "Berry Muesli", MUESLI),
            service_rows.product("210005", "Meadow Butter", BUTTER),
            service_rows.product("0226", "Zero twotwosix", ZERO),
        ]
    )
    cache.write_stock(
        [
            service_rows.stock("110001", 36, places={"A-1": 18, "A-2": 18}),
            service_rows.stock("210005", 36, places={"A-2": 36}),
            service_rows.stock("0226", 5, places={"35": 5}),
        ]
    )
    cache.write_locations([service_rows.location(code, n) for n, code in enumerate(("A-1", "A-2", "35"), 1)])
    cache.write_deliveries([delivery("7001", line(1, "210005", 40), line(2, "110001", 40))], 1.0)
    full_sync_stages_and_progress.save_progress(cache, full_sync_stages_and_progress.SyncProgress(completed=1.0))


@pytest.fixture
def home(aisle_home: Path) -> StoreFolder:
    """The store with numbers."""
    home = StoreFolder(aisle_home, "embedded", "0001")
    copy_cache(home.folder, "0001", numbered_store)
    return home


def begun(session: Session, job: str, *texts: str) -> Scanner:
    """That job after these typed inputs."""
    session.start_batch()
    session.event_runner.open(Start(job, {}))
    session.event_runner.commit()
    for text in texts:
        say(session, text)
    scan = Scanner(session)
    scan.rest(2.5)
    return scan


def listed(frame: Frame) -> tuple[Any, ...]:
    """The choices on the screen, with their letters."""
    view: Any = frame.view
    return view.choice_letters, view.choices


QUESTIONS: dict[str, tuple[str, ...]] = {
    "more than announced": ("receive", "7001", BUTTER, "99"),
    "quantity or product": ("receive", "7001", BUTTER, "0226"),
    "leaving": ("receive", "7001", BUTTER, "23", "b"),
    "unannounced": ("receive", "7001", ZERO),
    "not here": ("move", "A-1", "210005"),
    "more than there is": ("move", "A-1", MUESLI, "99"),
    "count or product": ("count", "35", ZERO, "0226"),
    "doubtful count": ("count", "35", ZERO, "9999999"),
}


def test_another_quantity_leaves_the_other_location_and_the_letters(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        begun(session, "move", "A-1", "210005")
        letters, choices = listed(session.frames.build())
        say(session, "4")
        after, others = listed(session.frames.build())
        assert (after, len(others)) == (letters, len(choices))
        say(session, letters[-1])
        assert quantities(session) == {"210005": Decimal(4)}
        assert "A-2" in shown(session.frames.build(), 80, 24)


@pytest.mark.parametrize("number", ["17", "23"])
@pytest.mark.parametrize("question", QUESTIONS)
def test_a_number_at_scanner_pace_answers_no_question_and_leaves_it(
    home: StoreFolder, question: str, number: str
) -> None:
    with at(home, user="U1") as session:
        job, *texts = QUESTIONS[question]
        scan = begun(session, job, *texts)
        asked, before, state = listed(session.frames.build()), quantities(session), session.stack.top.state
        assert set("yx") & set(asked[0])
        frame = scan.send(f"{number}\r", PACE_S)
        assert told(frame) == (WRONG, "input.answer_first")
        assert f"{number} came as fast as a scan" in shown(frame, 80, 24)
        assert (listed(frame), quantities(session), session.stack.top.state) == (asked, before, state)
        frame = scan.send("q\r", 0.1)
        assert "1 ignored" not in shown(frame, 80, 24), "it was said"
        assert session.stack.top.state == state


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_answer_after_it_is_the_one_on_the_screen(home: StoreFolder, question: str) -> None:
    answered = []
    twin = StoreFolder(home.root / "twin", "embedded", "0001")
    copy_cache(twin.folder, "0001", numbered_store)
    for store, scanned in ((home, ""), (twin, "17\r")):
        with at(store, user="U1") as session:
            job, *texts = QUESTIONS[question]
            scan = begun(session, job, *texts)
            scan.send(scanned, PACE_S)
            scan.rest(2.5)
            frame = scan.send("y\r", 0.1)
            answered.append((frame.view.name, told(frame), quantities(session)))
    assert answered[0] == answered[1]


def test_goods_in_hand_are_kept_by_a_letter_meant_for_the_number(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        scan = begun(session, "receive", "7001", BUTTER, "17", "b")
        frame = scan.send("23\r", PACE_S)
        assert "Discard it" in shown(frame, 80, 24)
        assert "nswer first" in shown(frame, 80, 24)
        assert quantities(session) == {"210005": Decimal(17)}


def test_a_refused_number_is_not_hidden_by_what_follows_in_one_read(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        scan = begun(session, "move", "A-1", "210005")
        frame = scan.send("17\r4000000000006\r")
        assert "2 lines are ignored" in shown(frame, 80, 24)


@pytest.mark.parametrize("job", [("receive", "7001", BUTTER), ("count", "35", ZERO)])
def test_the_words_do_not_deny_the_question_that_stands(home: StoreFolder, job: tuple[str, ...]) -> None:
    with at(home, user="U1") as session:
        scan = begun(session, *job)
        scan.send("0226\r", PACE_S)
        asked = listed(session.frames.build())
        for text in ("226\r", "17\r", "-3\r", "9520001100025\r"):
            scan.rest(2.5)
            frame = scan.send(text, PACE_S)
            assert listed(frame) == asked
            assert "ignored: " not in shown(frame, 80, 24).replace("and is ignored: answer first", "")


@pytest.mark.parametrize("size", [(20, 16), (40, 20), (80, 24)])
def test_the_screen_names_the_goods_that_the_quantity_would_go_to(home: StoreFolder, size: tuple[int, int]) -> None:
    with at(home, user="U1") as session:
        scan = begun(session, "move", "A-1", MUESLI)
        scan.send("210005\r", PACE_S)
        scan.rest(2.5)
        frame = scan.send("35\r", PACE_S)
        assert told(frame) == (ASK, "move.number_of")
        assert "Butter" in shown(frame, *size)
        assert "Muesli" not in shown(frame, *size).split("35")[0]
        scan.send("y\r", 0.1)
        scan.send("y\r", 0.1)  # more than there is
        assert quantities(session)["110001"] == Decimal(1)


@pytest.mark.parametrize("text", ["35\r", "A-2\r", f"{ZERO}\r", f"{MUESLI}\r", "u\r", "n\r", "k\r"])
def test_a_product_that_is_not_counted_next_is_said_not_to_be_taken(home: StoreFolder, text: str) -> None:
    with at(home, user="U1") as session:
        scan = begun(session, "count", "110001")
        frame = scan.send("210005\r", PACE_S)
        assert told(frame) == (ASK, "count.other_product")
        scan.rest(2.5)
        frame = scan.send(text, PACE_S)
        assert "1 ignored: Meadow Butter" in shown(frame, 80, 24)
        scan.rest(2.5)
        assert "Butter" not in shown(scan.send(f"{MUESLI}\r", PACE_S), 80, 24), "it is said once"


@pytest.mark.parametrize("text", ["210005\r", f"{BUTTER}\r", "zzz\r"])
def test_a_product_that_is_asked_about_still_is_not_said_to_be_lost(home: StoreFolder, text: str) -> None:
    with at(home, user="U1") as session:
        scan = begun(session, "count", "110001")
        asked = listed(scan.send("210005\r", PACE_S))
        scan.rest(2.5)
        frame = scan.send(text, PACE_S)
        assert listed(frame) == asked
        assert "ignored" not in shown(frame, 80, 24)


DELIVERIES = [delivery(number, line(1, "210005", 40), line(2, "110001", 40)) for number in ("7001", "7002")]
ORDER = service_rows.order("4101", service_rows.line(1, "210005", 2, picked_quantity=2))


@pytest.mark.parametrize(
    ("job", "text", "reason"),
    [
        (("receive", BUTTER), MUESLI, "count.answer_first"),
        (("receive", BUTTER), "35", "count.answer_first"),
        (("receive", "7001", "7002"), MUESLI, "count.answer_first"),
        (("move", MUESLI), "4101", "move.not_of_order"),
    ],
)
def test_a_scan_that_is_asked_about_is_not_dropped_by_another(
    home: StoreFolder, job: tuple[str, ...], text: str, reason: str
) -> None:
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    cache.write_deliveries(DELIVERIES, 2.0)
    cache.write_orders([ORDER], lines_known=True, read_began=2.0)
    with at(home, user="U1") as session:
        scan = begun(session, *job)
        asked = listed(session.frames.build())
        frame = scan.send(f"{text}\r", PACE_S)
        assert told(frame) == (WRONG, reason)
        assert listed(frame) == asked


def test_each_scan_of_goods_counts_while_their_delivery_is_asked_for(home: StoreFolder) -> None:
    CacheWriter(open_cache(home.folder, writer=True), "0001").write_deliveries(DELIVERIES, 2.0)
    with at(home, user="U1") as session:
        begun(session, "receive", BUTTER, BUTTER, f"3*{BUTTER}", "2")
        assert quantities(session) == {"210005": Decimal(5)}


@pytest.mark.parametrize("pace", [0.0, 0.003, 0.012])
@pytest.mark.parametrize("job", [("move", MUESLI), ("adjust", MUESLI, "A-1", "2"), ("receive", BUTTER)])
def test_a_number_at_the_pace_of_a_scanner_chooses_nothing(
    home: StoreFolder, job: tuple[str, ...], pace: float
) -> None:
    CacheWriter(open_cache(home.folder, writer=True), "0001").write_deliveries(DELIVERIES, 2.0)
    with at(home, user="U1") as session:
        scan = begun(session, *job)
        scan.rest(2.5)
        asked = session.frames.build().view
        frame = scan.send("1\r", pace)
        assert told(frame) == (WRONG, "input.type_choice")
        assert frame.view == asked
        scan.rest(2.5)
        assert told(scan.send("1\r", 0.2)) != (WRONG, "input.type_choice")


@pytest.mark.parametrize("is_typed", [False, True])
@pytest.mark.parametrize(
    ("job", "label"),
    [
        (("adjust", MUESLI, "1", "0226"), "35"),
        (("adjust", MUESLI, "1", "35"), "0226"),
        (("move", "A-1", MUESLI, "35"), "0226"),
        (("receive", "7001", BUTTER, "0226"), "35"),
        (("count", "35", ZERO, "0226"), "35"),
        (("count", "35", ZERO, "9999999"), "35"),
    ],
)
def test_a_second_label_is_refused_while_the_first_is_asked_about(
    home: StoreFolder, job: tuple[str, ...], label: str, is_typed: bool
) -> None:
    with at(home, user="U1") as session:
        scan = begun(session, *job)
        asked, state = listed(session.frames.build()), session.stack.top.state
        frame = scan.send(f"{label}\r", 0.2 if is_typed else PACE_S)
        if is_typed:
            assert listed(frame) != asked, "it takes the place of the first"
        else:
            assert told(frame) == (WRONG, "count.answer_first")
            assert (listed(frame), session.stack.top.state) == (asked, state)


@pytest.mark.parametrize(("choice", "page"), [("1", "adjust.product"), ("2", "adjust.location")])
def test_what_is_lost_or_where_is_asked_of_a_label_that_says_both(home: StoreFolder, choice: str, page: str) -> None:
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    cache.write_locations([service_rows.location(code, n) for n, code in enumerate(("A-1", "A-2", "35", "110001"), 1)])
    with at(home, user="U1") as session:
        scan = begun(session, "adjust")
        frame = scan.send("110001\r", PACE_S)
        assert told(frame)[0] == ASK
        assert [word for word in ("location 110001", "Berry Muesli") if word not in shown(frame, 40, 20)] == []
        scan.rest(2.5)
        assert scan.send(f"{choice}\r", 0.2).view.name == page


@pytest.mark.parametrize("number", ["7", "35"])
def test_another_number_says_that_the_scanned_one_is_not_taken(home: StoreFolder, number: str) -> None:
    with at(home, user="U1") as session:
        scan = begun(session, "count", "35", ZERO)
        scan.send("0226\r", PACE_S)
        frame = scan.send(f"{number}\r", 0.2)
        assert "1 ignored: 0226" in shown(frame, 80, 24)


def test_the_other_locations_are_back_after_a_label_was_asked_about(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        scan = begun(session, "move", "A-1", "210005")
        before = listed(session.frames.build())[0]
        assert told(scan.send("35\r", PACE_S)) == (ASK, "move.number_of")
        assert listed(say(session, "b"))[0] == before


def test_a_location_that_waits_for_a_recount_is_named(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        begun(session, "count", "A-1", MUESLI, "1", "A-2")
        frame = session.frames.build()
        assert told(frame)[0] == ASK
        assert "Location A-2 opens" in shown(frame, 80, 24)


def test_the_goods_are_named_beside_a_waiting_multiplier(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        scan = begun(session, "adjust", "A-1", MUESLI, "5")
        scan.send("3*\r", 0.2)
        frame = scan.send("1\r", 0.2)
        assert "3* still waits" in shown(frame, 40, 20)
        assert "Muesli" in shown(frame, 40, 20)
