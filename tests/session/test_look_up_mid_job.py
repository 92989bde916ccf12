"""A look in the middle of a job: back lands on the same step, the next scan that the job takes goes on."""

from __future__ import annotations

from contextlib import AbstractContextManager
from decimal import Decimal

import pytest

from aisle.cache.writer import CacheWriter
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs import JOBS
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, DetailView, ListView
from aisle.outbox.commit_journal import Journal
from aisle.outbox.operation_queue import open_outbox
from aisle.scan.inputs_and_line_grouping import Key, OpenLine
from aisle.session.session import Session
from tests.cache import service_rows
from tests.copied_databases import copy_cache
from tests.session.job_steps import ELSEWHERE, LOOKS, WAYS, lasts, stand, step_of
from tests.session.test_session import BARCODES, _writer, at, home, say, sent, small_store, told

__all__ = ["home"]

WORDS_OF_THEIR_OWN = (
    "home",
    "look_up",
    "locations",
    "expiry.date",
    "expiry.confirm",
    "my_entries",
    "count.product",
    "deliveries",
    "log",
    "unconfirmed.close_by_hand",
    "store_product",
)
"""What letters do there is their own: they search, or say something."""

ASKED = (f"?{BARCODES[2]}", f"?{ELSEWHERE}", "?A-2", "?4102")
BACK = [Key("back")]


def begin(home: StoreFolder, way: str) -> AbstractContextManager[Session]:
    """A session on the way there."""
    return at(home, user="U1", **WAYS[way].terms)


@pytest.fixture
def way(request: pytest.FixtureRequest, home: StoreFolder) -> str:
    """A row of the table, and what has to be so before anybody starts."""
    row: str = request.param
    before = WAYS[row].before
    if before:
        before(home)
    return row


every = pytest.mark.parametrize("way", [way for way in WAYS if not way.startswith(LOOKS)], indirect=True)


def test_every_step_of_every_job_has_a_way_in_the_table() -> None:
    """Those that last, and do not get every input as it came; what else is in it goes through the same tests."""
    steps = {step for job in JOBS.values() if job.journalled and not job.raw_input for step in job.steps}
    assert steps <= {step_of(way) for way in WAYS}


def with_headers_only(cache: CacheWriter) -> None:
    """One order whose lines have not come yet, a store with two pools, and a product of which some lies at no place."""
    cache.write_stores([{"storeName": "One", "storeNo": "0001", "storeStockPool1": "Shop", "storeStockPool3": "Web"}])
    cache.write_stock([service_rows.stock("P9", 7, places={"A-3": 3})])
    cache.write_orders([service_rows.order("4199", total_lines=2)], lines_known=False, read_began=1.0)


@pytest.fixture(autouse=True)
def headers_only(home: StoreFolder) -> None:
    """The small store with more: see `with_headers_only`."""
    copy_cache(home.folder, "0001", small_store, with_headers_only)


@every
def test_back_lands_on_the_step_that_was_left(home: StoreFolder, way: str) -> None:
    with begin(home, way) as session:
        before = stand(home, session, way)
        depth = len(session.stack.jobs)
        for asked in ASKED:
            assert say(session, asked).view.name.startswith(("look_up.", "locations."))
            assert len(session.stack.jobs) > depth
            while len(session.stack.jobs) > depth:
                frame = session.take(BACK, 0.0)
            assert frame.view == before


@every
def test_question_mark_looks_up_text_or_opens_empty_page(home: StoreFolder, way: str) -> None:
    with begin(home, way) as session:
        before = stand(home, session, way)
        for asked, name in (
            ("?", "look_up.list"),
            ("? ", "look_up.list"),
            ("?product", "look_up.list"),
            ("?elsewhere", "look_up.product"),
        ):
            assert say(session, asked).view.name == name
            assert session.take(BACK, 0.0).view == before
        frame = say(session, "?zzzz")
        assert (frame.view.name, told(frame)) == ("look_up.list", (WRONG, "count.unknown"))
        assert say(session, "?elsewhere").view.name == "look_up.product"
        assert say(session, "?").view.rows == ()  # type: ignore[union-attr]
        assert session.take(BACK, 0.0).view == before


@every
def test_an_empty_page_keeps_the_scan_that_it_was_opened_for(home: StoreFolder, way: str) -> None:
    """The job below hears nothing of it."""
    with begin(home, way) as session:
        before = stand(home, session, way)
        assert say(session, "?").view.name == "look_up.list"
        frame = say(session, BARCODES[1])
        assert (frame.view.name, told(frame)) == ("look_up.product", (INFO, "raw.cut"))
        assert session.take(BACK, 0.0).view == before


UNUSED = [way for way in WAYS if not way.startswith(WORDS_OF_THEIR_OWN) and way != "hand_over"]
"""Steps without a search of their own; the list of the hand-over has one."""


@pytest.mark.parametrize("way", UNUSED, indirect=True)
def test_unused_words_are_searched_and_back_returns_to_step(home: StoreFolder, way: str) -> None:
    with begin(home, way) as session:
        before = stand(home, session, way)
        for asked, name in (("product", "look_up.list"), ("elsewhere", "look_up.product")):
            assert say(session, asked).view.name == name
            assert session.take(BACK, 0.0).view == before
        looking = say(session, "elsewhere").view
    if not lasts(way):
        return
    with begin(home, way) as session:
        assert session.frames.build().view == looking
        assert session.take(BACK, 0.0).view == before
        frame = say(session, "zzzz")
        assert (frame.view.name.partition(".")[0], told(frame)[0]) == (step_of(way).partition(".")[0], WRONG)


@pytest.mark.parametrize("way", [way for way in WAYS if lasts(way) and not way.startswith(LOOKS)], indirect=True)
def test_after_a_kill_the_look_stands_again_and_back_lands_on_the_step(home: StoreFolder, way: str) -> None:
    with begin(home, way) as session:
        before = stand(home, session, way)
    for asked in (f"?{BARCODES[2]}", "?A-2"):
        with begin(home, way) as session:
            assert session.frames.build().view == before
            looking = say(session, asked).view
        with begin(home, way) as session:
            assert session.frames.build().view == looking
            assert session.take(BACK, 0.0).view == before


@pytest.mark.parametrize("way", [way for way in WAYS if not lasts(way)], indirect=True)
def test_a_page_that_holds_no_work_begins_at_home_after_a_kill(home: StoreFolder, way: str) -> None:
    with begin(home, way) as session:
        stand(home, session, way)
        say(session, "?A-2")
    with begin(home, way) as session:
        assert session.frames.build().view.name in ("home", "locations.location")
        session.take(BACK, 0.0)
        assert session.frames.build().view.name == "home"


@pytest.mark.parametrize(
    "way", [way for way in WAYS if way.startswith(LOOKS) and way != "locations.list"], indirect=True
)
def test_a_look_in_a_look_takes_its_place_and_back_leads_to_the_job(home: StoreFolder, way: str) -> None:
    with at(home, user="U1") as session:
        before = say(session, "4101", BARCODES[0]).view
        stand(home, session, way)
        for asked in ASKED:
            say(session, asked)
        looking = say(session, "?A-3").view
    with at(home, user="U1") as session:
        assert session.frames.build().view == looking
        for _ in range(len(session.stack.jobs)):
            if session.frames.build().view == before:
                break
            session.take(BACK, 0.0)
        assert session.frames.build().view == before


def test_a_scan_that_the_job_takes_ends_the_look(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        say(session, "4101", f"?{BARCODES[1]}")
        frame = say(session, BARCODES[0])
        assert (frame.view.name, told(frame)) == ("pick.product", (GOOD, "pick.picked"))
    assert sent(home) == {1: Decimal(1)}
    with at(home, user="U1") as session:
        assert session.frames.build().view.name == "pick.product"


def test_a_scan_that_ends_several_looks_at_once(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        say(session, "4101", "?A-2", "?A-3", f"?{BARCODES[1]}")
        assert len(session.stack.jobs) == 4
        assert told(say(session, BARCODES[0])) == (GOOD, "pick.picked")
        assert len(session.stack.jobs) == 2


ASKING = {
    "receive.goods": (f"5*{BARCODES[0]}", BARCODES[0], (ASK, "receive.more_than_announced")),
    "receive.goods/another": (f"5*{BARCODES[0]}", BARCODES[1], (WRONG, "receive.answer_first")),
    "move.take/over": ("", BARCODES[0], (ASK, "move.exceeds_expected")),
    "count.leave": ("", BARCODES[0], (WRONG, "count.answer_first")),
    "pick.wait/claimed": ("", BARCODES[0], (WRONG, "pick.answer_first")),
}
"""Steps where a number is asked for: what asks it on top of the way, what is scanned after a look, what that says."""


@pytest.mark.parametrize(("way", "row"), [(row.partition("/a")[0], row) for row in ASKING], indirect=["way"])
def test_a_scan_after_a_look_is_said_to_a_job_that_asks_something(home: StoreFolder, way: str, row: str) -> None:
    """It was looked at, time and again: nobody heard that the job had not taken it."""
    asks, scan, answer = ASKING[row]
    with begin(home, way) as session:
        stand(home, session, way)
        asking = say(session, *filter(None, [asks])).view if asks else session.frames.build().view
        for look in (f"?{ELSEWHERE}", "?A-2"):
            assert say(session, look).view.name.startswith(LOOKS)
            frame = say(session, scan)
            assert (frame.view.name, told(frame)) == (asking.name, answer)


SCAN_ON = (
    "pick.prompt_choice",
    "pick.prompt_choice",
    "prompt.letter_or_scan",
    "prompt.choose_or_many",
    "prompt.choose_or_how_many",
)


@pytest.mark.parametrize(("way", "row"), [(row.partition("/a")[0], row) for row in ASKING], indirect=["way"])
def test_a_page_that_takes_no_scan_asks_for_none(home: StoreFolder, way: str, row: str) -> None:
    asks = ASKING[row][0]
    with begin(home, way) as session:
        view = stand(home, session, way)
        view = say(session, asks).view if asks else view
        assert view.prompt.id not in SCAN_ON
        for scan in (*BARCODES[1:], "A-1", "A-2"):
            assert told(say(session, scan))[0] == WRONG


def test_back_warns_anew_after_a_look_before_it_drops_goods(home: StoreFolder) -> None:
    WAYS["receive.goods"].before(home)  # type: ignore[misc]
    with begin(home, "receive.goods") as session:
        stand(home, session, "receive.goods")
        assert told(say(session, f"5*{BARCODES[0]}")) == (ASK, "receive.more_than_announced")
        assert told(say(session, "b")) == (ASK, "receive.drop")
        for page in (f"?{ELSEWHERE}", "h"):
            say(session, page)
            session.take(BACK, 0.0)
            assert told(say(session, "b")) == (ASK, "receive.drop")
    with begin(home, "receive.goods") as session:
        assert told(say(session, "b")) == (ASK, "receive.drop")
        assert told(say(session, "b"))[1].startswith("receive.dropped")


def test_a_scan_that_the_job_cannot_take_is_looked_at(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        say(session, "4101", f"?{BARCODES[1]}")
        frame = say(session, ELSEWHERE)
        assert (frame.view.name, told(frame)) == ("look_up.product", (INFO, "raw.cut"))
        frame = say(session, "4102")
        assert told(frame) == (ASK, "look_up.is_order")
        frame = say(session, "1")
        assert (frame.view.name, told(frame)) == ("pick.product", (ASK, "pick.other_order"))


def test_a_product_of_no_line_is_wrong_and_one_digit_away(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        before = say(session, "4101").view
        frame = say(session, ELSEWHERE)
        assert told(frame) == (WRONG, "pick.not_here")
        assert [choice.id for choice in frame.view.choices] == ["look_up.title"]
        frame = say(session, "f")
        assert (frame.view.name, frame.view.title.args) == ("look_up.product", (("number", "P9"),))
        assert session.take(BACK, 0.0).view == before
    assert sent(home) == {}


def test_a_change_meanwhile_is_there_when_the_look_ends(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        say(session, "4101", f"?{BARCODES[2]}")
        lines = [
            service_rows.line(1, "P1", 1, picked=1),
            service_rows.line(2, "P2", 12),
            service_rows.line(3, "P3", 200),
        ]
        with _writer(home) as cache:
            cache.write_orders([service_rows.order("4101", *lines)], lines_known=True, read_began=2.0)
        session.poll()
        frame = session.take(BACK, 0.0)
        assert told(frame) == (INFO, "pick.changed")
        assert getattr(frame.view, "done", None) == 1


def test_home_opens_the_page_and_one_digit_picks_an_order_that_needs_it(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        frame = say(session, BARCODES[1])
        assert isinstance(frame.view, DetailView)
        assert [dict(choice.args)["key"] for choice in frame.view.choices] == ["4101", "4102"]
        frame = say(session, "2")
        assert (frame.view.name, told(frame)) == ("pick.product", (GOOD, "pick.opened"))
        assert [level.job.name for level in session.stack.jobs] == ["home", "pick"]


def test_from_home_an_order_that_is_scanned_is_opened(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        frame = say(session, BARCODES[1], "4102")
        assert told(frame) == (GOOD, "pick.opened")
        assert [level.job.name for level in session.stack.jobs] == ["home", "pick"]


@pytest.mark.parametrize("way", [("7", "9", "2", BARCODES[2], "1"), ("7", "9", "1", f"?{BARCODES[2]}")])
def test_from_a_page_of_the_chain_an_order_that_a_look_offers_is_opened(
    home: StoreFolder, way: tuple[str, ...]
) -> None:
    with at(home, user="U1") as session:
        view = say(session, *way).view
        assert isinstance(view, DetailView)
        assert view.name == "look_up.product"
        offered = [choice.id for choice in view.choices].index("look_up.choice_order") + 1
        assert say(session, str(offered)).view.name == "pick.product"
        assert [level.job.name for level in session.stack.jobs] == ["home", "pick"]


def test_three_letters_bring_a_product_from_home(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        assert say(session, "els").view.name == "look_up.product"
        session.take(BACK, 0.0)
        frame = say(session, "product")
        assert (frame.view.name, told(frame)) == ("look_up.list", (INFO, "list.found"))
        assert isinstance(frame.view, ListView)
        assert frame.view.numbered_rows == 3
        assert say(session, "2").view.title.args == (("number", "P2"),)
        assert session.take(BACK, 0.0).view == frame.view
        assert session.take(BACK, 0.0).view.name == "home"
        assert told(say(session, "nothing"))[0] == WRONG


def test_a_tail_of_a_barcode_is_enough(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        say(session, "2")
        assert session.take([OpenLine("9624")], 0.0).view.name == "look_up.list"
        assert [row.key for row in session.frames.build().view.rows] == ["P3"]  # type: ignore[union-attr]
        assert say(session, "9624").view.title.args == (("number", "P3"),)


def test_from_place_to_product_and_back(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        place = say(session, "A-2").view
        assert (place.name, place.title.args) == ("locations.location", (("label", "A-2"),))
        assert told(say(session, BARCODES[1])) == (ASK, "locations.product_here")
        assert say(session, "1").view.name == "look_up.product"
        assert session.take(BACK, 0.0).view == place
        assert told(say(session, ELSEWHERE)) == (ASK, "locations.not_here")
        assert say(session, "n").view.title.args == (("label", "A-3"),)
        assert told(say(session, "n")) == (INFO, "locations.last_location")
        assert say(session, "p").view.title.args == (("label", "A-2"),)
        assert say(session, "1").view.title.args == (("number", "P2"),)


def test_a_place_of_the_list_is_found_again_after_a_kill(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        listed = say(session, "3").view
        assert [row.key for row in getattr(listed, "rows", ())] == ["A-1", "A-2", "A-3"]
        session.take([Key("down"), Key("down")], 0.0)
        page = session.take([Key("enter")], 0.0).view
        assert page.title.args == (("label", "A-2"),)
    with at(home, user="U1") as session:
        assert session.frames.build().view == page
        frame = session.take(BACK, 0.0)
        assert frame.view.name == "locations.list"
        assert session.take(BACK, 0.0).view.name == "home"


def test_live_windows_leave_no_trace(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        say(session, f"?{BARCODES[1]}")
        with _writer(home) as cache:
            cache.write_stock([service_rows.stock("P2", 99, places={"A-2": 99})])
        session.poll()
        events = Journal(open_outbox(home.folder)).last_events(50)
        assert [event.kind for event in events if event.job_id] == ["Opened"]


def test_nobody_looks_anything_up_before_signing_in(home: StoreFolder) -> None:
    with at(home) as session:
        assert say(session, f"?{BARCODES[1]}").view.name == "sign_in"


def test_a_long_note_is_read_whole_and_the_next_scan_goes_on_picking(home: StoreFolder) -> None:
    asked = "Please ring twice and wait, the stairs are long. " * 6
    with _writer(home) as cache:
        noted = service_rows.order(
            "4103", service_rows.line(1, "P1", 2), service_rows.line(2, "P2", 1), comment=asked, customer_name="Ada"
        )
        cache.write_orders([noted], lines_known=True, read_began=1.0)
    with at(home, user="U1") as session:
        before = say(session, "4103").view
        assert "i" in [hint.letter for hint in before.key_hints]
        note = say(session, "i").view
        assert isinstance(note, DetailView)
        assert [row[0].args[0][1] for block in note.blocks for row in block.rows] == [asked]
        assert session.take(BACK, 0.0).view == before
        say(session, "i")
    with at(home, user="U1") as session:
        assert session.frames.build().view == note
        assert told(say(session, BARCODES[0])) == (GOOD, "pick.picked")
        assert say(session, "4102").view.name.startswith("pick.")
