"""A scan whose label does not say how much there is: what the screen asks about is what the next quantity is booked on,
whatever was scanned, refused or typed before it."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aisle.cache.writer import CacheWriter
from aisle.courier.pull import full_sync_stages_and_progress
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import ASK, GOOD, WRONG, Frame
from aisle.session.session import Session
from aisle.tui.layout.screen import layout_screen
from aisle.tui.layout.styled_lines_and_page_parts import plain_lines
from aisle.tui.message_text import MessageWriter
from tests.cache import service_rows
from tests.cache.test_delivery_queries import delivery, line
from tests.copied_databases import copied_home
from tests.session.scanner import Scanner
from tests.session.test_numbers_after_refused_scan import opened
from tests.session.test_numbers_after_scan import quantities
from tests.session.test_session import at, say, told

CHEESE, HAM, TAPE, TEA = "9520001100505", "9520001100512", "9520001100574", "4006381333931"
LOOSE, MILK = "5901234123457", "9780201379624"
GROSS_CHEESE, GROSS_HAM = f"010{CHEESE}3303001250", f"010{HAM}3403001250"
"""Labels that say what the goods weigh with what they are packed in, and not how much of them there is."""

NAMES = {"P1": "Kilo cheese", "P2": "Pound ham", "P3": "Metre tape", "P5": "Loose tea", "P6": "Milk"}


def filled(cache: CacheWriter) -> None:
    """A place, an order and a delivery of goods by the kilogram, the pound and the metre, and of tea."""
    cache.write_people([service_rows.person("U1", "Anna Kovac"), service_rows.person("U2", "Anna Berg")])
    kinds = (("P1", CHEESE, "kg"), ("P2", HAM, "lb"), ("P3", TAPE, "m"), ("P5", LOOSE, ""), ("P6", MILK, "l"))
    by = [service_rows.product(n, NAMES[n], code, allow_decimal=True, base_unit_name=unit) for n, code, unit in kinds]
    cache.write_products([*by, service_rows.product("P4", "Tea", TEA)])
    cache.write_stock([service_rows.stock(f"P{n}", 60, places={"A-1": 60}) for n in range(1, 7)])
    cache.write_locations([service_rows.location("A-1", 1), service_rows.location("A-2", 2)])
    lines = [service_rows.line(n, f"P{n}", 40, preferred_location_code="A-1") for n in range(1, 7)]
    cache.write_orders([service_rows.order("4101", *lines)], lines_known=True, read_began=1.0)
    cache.write_deliveries([delivery("D-1", *(line(n, f"P{n}", 40) for n in range(1, 7)))], 1.0)
    full_sync_stages_and_progress.save_progress(cache, full_sync_stages_and_progress.SyncProgress(completed=1.0))


@pytest.fixture
def home(aisle_home: Path) -> StoreFolder:
    """A home with that store in its cache."""
    return copied_home(aisle_home, filled)


JOBS: dict[str, tuple[str, ...]] = {
    "count": ("A-1",),
    "adjust": ("A-1",),
    "move": ("A-1",),
    "receive": ("D-1",),
    "pick": (),
}


def begun(session: Session, job: str) -> None:
    """That job, where any product can be scanned."""
    if job == "pick":
        say(session, "4101")
    else:
        opened(session, job, *JOBS[job])


def shown(frame: Frame, columns: int = 40, rows: int = 20) -> str:
    return " ".join(" ".join(plain_lines(layout_screen(frame, columns, rows))).split())


def prompt(frame: Frame, columns: int, rows: int) -> str:
    """The line that asks for a quantity, or for anything else."""
    asking = ("how many", "How many", "each, in")
    prompts = [
        line for line in plain_lines(layout_screen(frame, columns, rows)) if any(word in line for word in asking)
    ]
    return prompts[-1] if prompts else ""


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("pace", [0.0, 0.006])
def test_the_screen_asks_about_the_goods_that_the_answer_is_booked_on(home: StoreFolder, job: str, pace: float) -> None:
    with at(home, user="U1") as session:
        begun(session, job)
        scan = Scanner(session)
        scan.send(f"{GROSS_CHEESE}\r", pace)
        scan.rest(1.0)
        frame = scan.send(f"{GROSS_HAM}\r", pace)
        assert told(frame) == (ASK, "session.not_applied")
        for columns, rows in ((30, 16), (40, 20), (80, 24)):
            assert "Pound ham" in prompt(frame, columns, rows), (columns, shown(frame, columns, rows))
            assert "lb" in prompt(frame, columns, rows)
        assert "1 ignored: Kilo cheese" in shown(frame)
        scan.rest(1.0)
        scan.send("0.5\r", 0.1)
        assert quantities(session) == {"P2": Decimal("0.5")}


@pytest.mark.parametrize("job", JOBS)
def test_another_label_of_the_same_goods_is_the_one_that_is_asked_about(home: StoreFolder, job: str) -> None:
    with at(home, user="U1") as session:
        begun(session, job)
        say(session, f"010{TAPE}3142000250")
        frame = say(session, f"010{TAPE}3922599")
        assert "5.99" in shown(frame).split("ignored")[0]
        assert "Metre tape, label 2.5 m²" in shown(frame, 140, 30).split("ignored")[1]
        say(session, "3")
        assert quantities(session) == {"P3": Decimal(3)}


def test_all_that_was_scanned_in_one_write_is_said_not_to_be_taken(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        begun(session, "count")
        frame = say(session, GROSS_CHEESE, f"010{TAPE}3142000250", GROSS_HAM)
        assert frame.verdict
        assert "2 ignored" in MessageWriter().write(frame.verdict.text)
        assert "Pound ham" in prompt(frame, 40, 20)


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("pace", [0.0, 0.006])
def test_what_the_screen_said_is_not_taken_is_counted_once(home: StoreFolder, job: str, pace: float) -> None:
    with at(home, user="U1") as session:
        begun(session, job)
        scan = Scanner(session)
        for text, lost in ((GROSS_CHEESE, ""), (GROSS_HAM, "Kilo"), (GROSS_CHEESE, "Pound"), (TEA, "Kilo")):
            frame = scan.send(f"{text}\r", pace)
            scan.rest(1.0)
            assert (f"1 ignored: {lost}" in shown(frame, 80, 24)) == bool(lost), shown(frame, 80, 24)


CONVERTED = [
    (f"010{CHEESE}3202000275", "P1", "1.247"),
    (f"010{CHEESE}3103001750", "P1", "1.75"),
    (f"010{CHEESE}3570000016", "P1", "0.454"),
    (f"010{HAM}3103001000", "P2", "2.205"),
    (f"010{HAM}3202000275", "P2", "2.75"),
    (f"010{TAPE}3210000100", "P3", "2.54"),
    (f"010{TAPE}3221000100", "P3", "3.048"),
    (f"010{MILK}3600000004", "P6", "3.785"),
    (f"010{MILK}3163000001", "P6", "1"),
]
"""Labels in another unit than the product, or the same: what is booked."""

NO_UNIT = [
    *(f"010{LOOSE}{measure}001750" for measure in ("3103", "3113", "3143", "3153", "3163", "3202")),
    *(f"010{MILK}{measure}001750" for measure in ("3103", "3113", "3202")),
    *(f"010{CHEESE}{measure}001750" for measure in ("3113", "3153")),
]
"""Labels of a product without a unit, and in a unit that the product's cannot be converted to."""


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("pace", [0.0, 0.001, 0.003, 0.006, 0.012])
@pytest.mark.parametrize(("label", "number", "booked"), CONVERTED)
def test_a_measure_in_another_unit_is_booked_in_the_products_own(
    home: StoreFolder, job: str, pace: float, label: str, number: str, booked: str
) -> None:
    with at(home, user="U1") as session:
        begun(session, job)
        Scanner(session).send(f"{label}\r", pace)
        assert quantities(session) == {number: Decimal(booked)}


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("pace", [0.0, 0.006])
@pytest.mark.parametrize("label", NO_UNIT)
def test_a_measure_that_cannot_be_converted_is_asked(home: StoreFolder, job: str, pace: float, label: str) -> None:
    with at(home, user="U1") as session:
        begun(session, job)
        scan = Scanner(session)
        assert told(scan.send(f"{label}\r", pace))[0] == ASK
        assert quantities(session) == {}
        scan.rest(1.0)
        scan.send("2.5\r", 0.1)
        assert [*quantities(session).values()] == [Decimal("2.5")]


@pytest.mark.parametrize("page", ["h", "?", "?zzz", f"?{TEA}"])
def test_a_page_over_the_question_says_that_the_scan_is_not_taken(home: StoreFolder, page: str) -> None:
    with at(home, user="U1") as session:
        begun(session, "count")
        say(session, GROSS_CHEESE)
        frame = say(session, page)
        assert "ignored: Kilo cheese" in shown(frame) or "Kilo cheese" in prompt(frame, 40, 20), shown(frame)


def booked(session: Session) -> dict[str, Decimal]:
    """Quantities by product, with what was received before the goods in hand."""
    found, top = quantities(session), session.stack.top
    for each in top.state.lines if top.job.name == "receive" else ():
        if each.received:
            found[each.product] = found.get(each.product, Decimal(0)) + each.received
    return found


SAID = (GROSS_CHEESE, GROSS_HAM, f"010{TAPE}3922599", f"010{TAPE}3142000250", CHEESE, TEA, "96385074", "BADGE-U2")
MORE = ("4006381333930", "BADGE-U1", "x", "12*", "ABC-12345", "?", "b")


@pytest.mark.parametrize("job", JOBS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=10, derandomize=True)
@given(inputs=st.lists(st.sampled_from(SAID + MORE), min_size=1, max_size=5))
def test_a_quantity_is_booked_on_what_the_prompt_names(home: StoreFolder, job: str, inputs: list[str]) -> None:
    with at(home, user="U1") as session:
        begun(session, job)
        for each in inputs:
            frame = say(session, each)
        asked: Any = session.page.question.measured_scan
        if asked is None or session.page.question.multiplier:
            return
        meaning = asked.matches[0]
        assert NAMES[meaning.key] in prompt(frame, 40, 20), (inputs, shown(frame))
        before = booked(session)
        say(session, "0.5")
        now = booked(session)
        changed = {key for key in now | before if now.get(key) != before.get(key)}
        assert changed <= {meaning.key}, inputs


# Multiplied


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("scans", [(f"3*{GROSS_HAM}",), ("3*", GROSS_HAM)], ids=["at once", "before"])
def test_what_is_multiplied_is_asked_of_each(home: StoreFolder, job: str, scans: tuple[str, ...]) -> None:
    with at(home, user="U1") as session:
        begun(session, job)
        frame = opened_by(session, scans)
        assert told(frame) == (ASK, "session.type_each_in")
        assert "3 ×" in shown(frame)
        assert "Pound ham" in shown(frame)
        assert "lb" in shown(frame)
        say(session, "2")
        assert quantities(session) == {"P2": Decimal(6)}


@pytest.mark.parametrize("label", [f"010{TAPE}3142000250", f"010{TAPE}3922599"])
def test_what_each_label_says_is_not_multiplied_on_the_screen(home: StoreFolder, label: str) -> None:
    with at(home, user="U1") as session:
        begun(session, "count")
        frame = say(session, f"2*{label}")
        assert "2.5 m²" in shown(frame) or "5.99" in shown(frame)
        say(session, "4")
        assert quantities(session) == {"P3": Decimal(8)}


WHOLE_FACTORS = [("3*", CHEESE), (f"3*{CHEESE}",), ("1*", CHEESE), (f"12*{CHEESE}",), ("2*P1",), ("4*", LOOSE)]


@pytest.mark.every_case
@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("scans", WHOLE_FACTORS, ids=" ".join)
def test_a_whole_factor_before_goods_by_weight_counts_pieces(
    home: StoreFolder, job: str, scans: tuple[str, ...]
) -> None:
    with at(home, user="U1") as session:
        begun(session, job)
        times = Decimal(scans[0].partition("*")[0])
        frame = opened_by(session, scans)
        assert (told(frame)[0], session.page.question.is_asked) == (ASK, True), told(frame)
        assert quantities(session) == {}
        say(session, "0.5")
        assert [*quantities(session).values()] == [times / 2]


@pytest.mark.parametrize("job", JOBS)
def test_a_factor_with_decimals_is_the_weight(home: StoreFolder, job: str) -> None:
    with at(home, user="U1") as session:
        begun(session, job)
        say(session, f"1.5*{CHEESE}")
        assert quantities(session) == {"P1": Decimal("1.5")}


NONE_ASKED = {
    "weight": ((GROSS_CHEESE,), "P1", "0 kg"),
    "plain code": ((CHEESE,), "P1", "0 kg"),
    "factor": (("3*", CHEESE), "P1", "0 kg"),
    "supplier's unit": ((f"010{TAPE}3142000250",), "P3", "0 m"),
    "lot that may hide a count": ((f"010{TEA}10L123012",), "P4", "OK 0,"),
}
"""Scans whose quantity is asked, their product, and what the count says of none."""


@pytest.mark.parametrize("how", NONE_ASKED)
@pytest.mark.parametrize("before", ["", "2"])
def test_none_of_what_is_asked_is_counted(home: StoreFolder, how: str, before: str) -> None:
    scans, product, said = NONE_ASKED[how]
    with at(home, user="U1") as session:
        begun(session, "count")
        if before:
            opened_by(session, scans)
            say(session, before)
        had = quantities(session)
        assert told(opened_by(session, scans))[0] == ASK
        frame = say(session, "0")
        assert told(frame) == (GOOD, "count.counted_of")
        assert before or said in shown(frame, 120, 40)
        assert quantities(session) == had
        line = next(each for each in session.stack.top.state.lines if each.product == product)
        assert line.counted == had.get(product, 0)
        say(session, "u")
        line = next(each for each in session.stack.top.state.lines if each.product == product)
        assert line.counted == had.get(product)


@pytest.mark.parametrize("job", [job for job in JOBS if job != "count"])
def test_none_of_what_is_asked_takes_the_scan_back_elsewhere(home: StoreFolder, job: str) -> None:
    with at(home, user="U1") as session:
        begun(session, job)
        say(session, GROSS_CHEESE)
        assert told(say(session, "0"))[1] == "session.dropped"
        assert quantities(session) == {}


@pytest.mark.parametrize("scan", [GROSS_CHEESE, CHEESE])
def test_none_is_an_answer_where_a_product_was_not_counted(home: StoreFolder, scan: str) -> None:
    with at(home, user="U1") as session:
        begun(session, "count")
        say(session, TEA)
        frame = say(session, "d")
        assert frame.view.name == "count.missing"
        say(session, scan)
        say(session, "0")
        line = next(each for each in session.stack.top.state.lines if each.product == "P1")
        assert line.counted == 0


def opened_by(session: Session, scans: tuple[str, ...]) -> Frame:
    """The page after these scans."""
    for scan in scans:
        frame = say(session, scan)
    return frame


# What is scanned meanwhile has an answer of its own


MEANWHILE = {
    "96385074": "96385074",
    "ABC-12345": "ABC-12345",
    "BADGE-U2": "Anna Berg",
    "12*": "12 ×",
    "12345678": "12345678",
}
"""What is scanned or typed while a weight is asked, and what its answer names."""


@pytest.mark.parametrize("said", MEANWHILE)
@pytest.mark.parametrize("job", JOBS)
def test_what_is_scanned_while_a_weight_is_asked_is_answered_itself(home: StoreFolder, job: str, said: str) -> None:
    with at(home, user="U1") as session:
        begun(session, job)
        say(session, GROSS_CHEESE)
        frame = say(session, said)
        first, _, dropped = shown(frame, 80, 24).partition("ignored:")
        assert MEANWHILE[said] in first.split("─")[-1]
        assert "Kilo cheese" in dropped.replace("#3 ", "")
        assert not session.page.question.measured_scan, "the question is over, and the screen does not ask it"
        assert not prompt(frame, 40, 20)
        assert not quantities(session)


@pytest.mark.parametrize("said", ["96385074", "BADGE-U2"])
@pytest.mark.parametrize("job", ["count", "adjust", "move", "receive"])
def test_weight_of_dropped_scan_is_not_booked_on_previous_goods(home: StoreFolder, job: str, said: str) -> None:
    with at(home, user="U1") as session:
        begun(session, job)
        say(session, TEA)
        say(session, GROSS_HAM)
        before = quantities(session)
        frame = say(session, said)
        if frame.verdict and frame.verdict.kind == WRONG:
            frame = say(session, "2")
            assert quantities(session) == before
            assert told(frame)[0] in (ASK, WRONG)


def test_an_own_badge_leaves_the_question_open(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        begun(session, "count")
        say(session, GROSS_CHEESE)
        frame = say(session, "BADGE-U1")
        assert told(frame)[1] == "sign_in.already"
        assert "Kilo cheese" in prompt(frame, 40, 20)
        say(session, "2")
        assert quantities(session) == {"P1": Decimal(2)}


@pytest.mark.parametrize("job", JOBS)
def test_an_unknown_letter_leaves_the_question_open(home: StoreFolder, job: str) -> None:
    with at(home, user="U1") as session:
        begun(session, job)
        say(session, HAM)
        assert told(say(session, "q")) == (WRONG, "input.no_command")
        say(session, "1.5")
        assert quantities(session) == {"P2": Decimal("1.5")}
