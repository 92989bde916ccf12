"""Whoever comes back after an end in mid-work finds the question that was open, with its reason."""

from __future__ import annotations

import pytest

from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import ASK, GOOD, INFO, WRONG
from aisle.session.job_stack import page_identity
from aisle.session.unit_of_work import MAX_REPLAYED
from tests.cache import service_rows
from tests.session.job_steps import WAYS, lasts, stand
from tests.session.scanner import Scanner
from tests.session.test_look_up_mid_job import begin, headers_only, way
from tests.session.test_numbers_after_scan import quantities
from tests.session.test_session import BARCODES, _writer, home, say, told

__all__ = ["headers_only", "home", "way"]

LASTING = [way for way in WAYS if lasts(way)]

ASKED = {
    **{
        "pick.product/asked": "pick.total_more_than_ordered",
        "shortage.which_order": "shortage.which_order",
        "shortage.which_reason": "shortage.which_reason",
    },
    **{"count.missing": "count.missing", "count.recount": "count.recount_needed", "count.leave": "count.leave"},
}
"""What some of them ask, by its message."""

UNKNOWN = "4000000000006"


@pytest.mark.parametrize("way", LASTING, indirect=True)
def test_a_question_stands_as_it_was(home: StoreFolder, way: str) -> None:
    with begin(home, way) as session:
        stand(home, session, way)
        before = session.frames.build()
    with begin(home, way) as session:
        after = session.frames.build()
    assert after.view == before.view
    assert before.verdict is None or before.verdict.kind != ASK or after.verdict == before.verdict
    if way in ASKED:
        assert (after.verdict, told(after)[1]) == (before.verdict, ASKED[way])
    if before.verdict is None or before.verdict.kind == GOOD:
        assert told(after) == (INFO, "session.resumed")


@pytest.mark.parametrize("way", ["count.missing", "count.recount", "shortage.choices"], indirect=True)
def test_what_was_not_taken_since_hides_no_question(home: StoreFolder, way: str) -> None:
    """The screen said last why the scan was not taken; after a start it says what is asked."""
    with begin(home, way) as session:
        stand(home, session, way)
        asked = session.frames.build().verdict
        assert told(say(session, UNKNOWN))[0] == WRONG
    with begin(home, way) as session:
        assert session.frames.build().verdict == asked


@pytest.mark.parametrize(
    "scans", [MAX_REPLAYED - 2, MAX_REPLAYED - 1, MAX_REPLAYED, MAX_REPLAYED + 1, 3 * MAX_REPLAYED]
)
def test_a_question_stands_however_much_was_scanned_before_it(home: StoreFolder, scans: int) -> None:
    with begin(home, "pick.product") as session:
        say(session, "4101", BARCODES[2])
        for _ in range(scans):
            say(session, BARCODES[2])
        before = say(session, "1000")
        assert before.verdict is not None
        assert before.verdict.kind == ASK
    with begin(home, "pick.product") as session:
        assert (session.frames.build().view, session.frames.build().verdict) == (before.view, before.verdict)


def test_a_question_that_was_answered_is_not_asked_again(home: StoreFolder) -> None:
    with begin(home, "pick.product/asked") as session:
        stand(home, session, "pick.product/asked")
        page = page_identity(session.stack.jobs)
        say(session, "0")
        assert page_identity(session.stack.jobs) != page
    with begin(home, "pick.product/asked") as session:
        assert told(session.frames.build()) == (INFO, "session.resumed")


@pytest.mark.parametrize(
    ("way", "text"),
    [
        *((way, "12*") for way in ("pick.product", "count.product", "move.take", "receive.goods")),
        *((way, "96385074") for way in ("count.product", "move.take", "receive.goods", "adjust.product")),
    ],
    indirect=["way"],
)
def test_what_the_session_itself_asks_stands_too(home: StoreFolder, way: str, text: str) -> None:
    """Which of two products with one code is meant, and how many of what is scanned next."""
    with _writer(home) as cache:
        cache.write_products([service_rows.product("P77", "Its twin", "96385074")])
    with begin(home, way) as session:
        stand(home, session, way)
        before = say(session, text)
        assert told(before)[1] in ("session.times", "session.ambiguous")
    with begin(home, way) as session:
        after = session.frames.build()
        assert (after.view, after.verdict, after.typed) == (before.view, before.verdict, before.typed)
    with begin(home, way) as session:
        assert session.frames.build() == after, "it stands until it is answered"
        say(session, "b")
    with begin(home, way) as session:
        assert session.frames.build().verdict != before.verdict


HAPPENS: dict[str, tuple[str, ...]] = {
    "an unknown scan": (UNKNOWN,),
    "two unknown scans": (UNKNOWN, UNKNOWN),
    "goods that are not wanted": ("5000112637922",),
    "one's own badge": ("BADGE-U1",),
    "a letter of no use": ("z",),
    "a scan in two pieces": ("]C1",),
    "news": ("",),
}
"""What leaves a multiplier in force, or a question open."""


@pytest.mark.parametrize("happens", HAPPENS)
@pytest.mark.parametrize("way", ["pick.product", "count.product"], indirect=True)
def test_a_multiplier_that_is_kept_stands_after_an_end_in_mid_work(home: StoreFolder, way: str, happens: str) -> None:
    with begin(home, way) as session:
        stand(home, session, way)
        say(session, "12*")
        for text in HAPPENS[happens]:
            if text:
                say(session, text)
                continue
            with _writer(home) as cache:
                cache.write_stock([service_rows.stock("P1", 9, places={"A-1": 9})], read_began=5.0)
            session.poll(notified=False)
        before = session.page.question
    with begin(home, way) as session:
        assert session.page.question == before, "kept or not, the same after an end in mid-work"
        if happens != "goods that are not wanted":
            assert before.multiplier == "12"


def test_how_much_is_on_a_label_is_asked_again_after_an_end_in_mid_work(home: StoreFolder) -> None:
    label = "01095200011005123202000275"
    with _writer(home) as cache:
        cache.write_products(
            [service_rows.product("P5", "Leek", "9520001100512", allow_decimal=True, base_unit_name="bunch")]
        )
    for more in ((), (UNKNOWN,), ("4101",), ("BADGE-U1",)):
        with begin(home, "count.product") as session:
            stand(home, session, "count.product")
            say(session, label)
            for text in more:
                say(session, text)
            asked = session.page.question.measured_scan
        with begin(home, "count.product") as session:
            assert session.page.question.measured_scan == asked, more
            assert (asked is None) == (more == (UNKNOWN,))
            say(session, "b", "b", "b")


REFUSALS = (
    UNKNOWN,
    "4006381333930",
    "ABC-12345",
    "9520001100025",
    "952000110002",
    "ÄÖÜ-999",
    "01095200011",
    "*ZZ-9999*",
)
"""Scans of which nothing is taken."""


@pytest.mark.parametrize("kills", [1, 2])
@pytest.mark.parametrize("refused", REFUSALS)
@pytest.mark.parametrize("way", ["pick.product", "count.product", "move.take", "receive.goods"], indirect=True)
def test_a_number_after_a_refused_scan_is_asked_back_after_an_end_in_mid_work(
    home: StoreFolder, way: str, refused: str, kills: int
) -> None:
    with begin(home, way) as session:
        stand(home, session, way)
        say(session, BARCODES[1] if way == "pick.product" else BARCODES[0])
        assert told(say(session, refused))[0] == WRONG
        is_asked = told(say(session, "4"))[1] == "input.number_after_refused_scan"
        say(session, refused)
    for _ in range(kills):
        with begin(home, way) as session:
            session.frames.build()
    with begin(home, way) as session:
        assert (told(say(session, "4")) == (ASK, "input.number_after_refused_scan")) == is_asked
        assert told(say(session, "4"))[1] != "input.number_after_refused_scan"


@pytest.mark.parametrize("kills", [1, 2])
@pytest.mark.parametrize("number", ["38", "952", "7", "3*4", "2x50"])
@pytest.mark.parametrize("way", ["count.product", "move.take", "receive.goods"], indirect=True)
def test_a_number_at_scanner_pace_waits_for_y_after_an_end_in_mid_work(
    home: StoreFolder, way: str, number: str, kills: int
) -> None:
    with begin(home, way) as session:
        stand(home, session, way)
        say(session, BARCODES[0])
        before = Scanner(session).send(f"{number}\r")
        assert told(before) == (ASK, "input.confirm_fast_number")
        quantity = quantities(session)
    for _ in range(kills):
        with begin(home, way) as session:
            after = session.frames.build()
            assert (after.view, after.verdict) == (before.view, before.verdict)
            assert quantities(session) == quantity
    with begin(home, way) as session:
        say(session, "y")
        assert (quantities(session), told(session.frames.build())[0]) != (quantity, GOOD)
        assert told(session.frames.build())[1] != "input.no_command"
    with begin(home, way) as session:
        assert told(session.frames.build())[1] != "input.confirm_fast_number"
