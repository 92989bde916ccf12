"""Every form of a code in every job, as bytes of a scanner in one write and slow: one reading for home and all jobs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from aisle.barcode_numbers import expand_upc_e
from aisle.cache.writer import CacheWriter, open_cache
from aisle.courier.pull import full_sync_stages_and_progress
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Frame, Msg, msg
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.scan.decoder import Decoder
from aisle.scan.inputs_and_line_grouping import Line
from aisle.session.session import Session, open_session
from aisle.settings.setting_definitions import Settings
from aisle.tui.message_text import MessageWriter
from tests.cache import service_rows
from tests.copied_databases import copied_home

EAN, ISSN, UPC_E, UPC_A, WEIGHED = "9520001100024", "9771234567898", "04252614", "042100005264", "9520001100505"
PACES = (0, 1, 3, 6, 12)
"""Milliseconds between two characters; 0 for all in one write."""


def filled(cache: CacheWriter) -> None:
    """A store with one place, one order and one delivery of six products."""
    by_weight = {"allow_decimal": True, "base_unit_name": "kg"}
    cache.write_products(
        [
            service_rows.product("P1", "Honey", EAN),
            service_rows.product("P2", "Weekly", ISSN),
            service_rows.product("P3", "Juice", UPC_E),
            service_rows.product("P4", "Kale", WEIGHED, **by_weight),
            service_rows.product("P5", "Leek", "9520001100512", allow_decimal=True, base_unit_name="bunch"),
            service_rows.product("P6", "Ham", "212345", price=5, **by_weight),
        ]
    )
    cache.write_stock([service_rows.stock(f"P{n}", 60, places={"A-1": 60}) for n in range(1, 7)])
    cache.write_locations([service_rows.location("A-1", 1), service_rows.location("A-2", 2)])
    lines = [service_rows.line(n, f"P{n}", 60, preferred_location_code="A-1") for n in range(1, 7)]
    cache.write_orders([service_rows.order("4101", *lines)], lines_known=True, read_began=1.0)
    full_sync_stages_and_progress.save_progress(cache, full_sync_stages_and_progress.SyncProgress(completed=1.0))


@pytest.fixture
def home(aisle_home: Path) -> StoreFolder:
    """A home with that store in its cache."""
    return copied_home(aisle_home, filled)


@contextmanager
def at(home: StoreFolder, **settings: Any) -> Iterator[Session]:
    """A session of terminal `dock`, signed in."""
    given = {"restricted_codes": ("2IIIIIXPPPPC:2",), **settings}
    session = open_session(home, Settings(terminal="dock", user="U1", **given))
    try:
        session.start()
        yield session
    finally:
        session.close()


class Scanner:
    """Sends codes to a session byte by byte; a frame is made after each."""

    def __init__(self, session: Session, ms: int = 0) -> None:
        self._session, self._pause, self._decoder, self._at = session, ms / 1000, Decoder(), 1.0

    def __call__(self, *codes: str) -> Frame:
        frame = self._session.frames.build()
        for code in codes:
            sent = code.encode() + b"\r"
            for piece in [bytes([byte]) for byte in sent] if self._pause else [sent]:
                frame = self._session.take(self._decoder.feed(piece, self._at), self._at)
                self._at += self._pause
            self._at += 1.0
        return frame


def told(frame: Frame) -> tuple[str, str]:
    """Kind and message id of the verdict."""
    return (frame.verdict.kind, frame.verdict.text.id) if frame.verdict else ("", "")


def said(frame: Frame) -> str:
    return MessageWriter().write(frame.verdict.text) if frame.verdict else ""


def open_job(session: Session, scan: Scanner, job: str) -> None:
    """Opens a job from home, by its number in the menu or behind it."""
    for wanted in (f"home.{job}", "home.more", f"home.{job}"):
        choices = [choice.id for choice in session.frames.build().view.choices]
        if wanted in choices:
            scan(str(choices.index(wanted) + 1))
            if wanted != "home.more":
                return


def open_count(session: Session, scan: Scanner) -> None:
    """Counts the place A-1."""
    open_job(session, scan, "count")
    scan("A-1")


def counted(frame: Frame) -> Decimal:
    """How many are counted of the product that was scanned last, as the verdict says."""
    assert frame.verdict is not None
    assert frame.verdict.kind == GOOD, said(frame)
    number = dict(frame.verdict.text.args)["counted"]
    number = dict(number.args)["quantity"] if isinstance(number, Msg) else number  # with its unit
    assert isinstance(number, Decimal)
    return number


def picked(home: StoreFolder) -> dict[int, Decimal]:
    """What was picked of each line of the order."""
    found: dict[int, Decimal] = {}
    for operation in OperationQueue(open_outbox(home.folder)).unfinished():
        for line in operation.body["orders"].get("order_lines", ()):
            found[line["line_number"]] = line["picked_quantity"]
    return found


FORMS = [
    (EAN, 1),
    (f"0{EAN}", 1),
    (EAN[:-1], 1),
    (f"{EAN}05", 1),
    ("９５２０００１１０００２４", 1),
    ("٩٥٢٠٠٠١١٠٠٠٢٤", 1),
    (f"(01)0{EAN}", 1),
    (f"*{EAN}*", 1),
    ("9 520001 100024", 1),
    ("ç(éààà&&àààé'", 1),
    ("ířěééé++éééěč", 1),
    (f"{ISSN}05", 2),
    (f"{ISSN}51299", 2),
    ("0425261", 3),
    ("425261", 3),
    (UPC_E, 3),
    (UPC_A, 3),
    (f"0{UPC_A}", 3),
    (f"00{UPC_A}", 3),
    (UPC_A[1:], 3),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("ms", PACES)
def test_a_pick_takes_every_form_of_a_code(home: StoreFolder, ms: int) -> None:
    with at(home) as session:
        scan = Scanner(session, ms)
        scan("4101")
        wanted: dict[int, Decimal] = {}
        for code, line in FORMS:
            frame = scan(code)
            assert frame.verdict is not None
            assert frame.verdict.kind == GOOD, (code, said(frame))
            wanted[line] = wanted.get(line, Decimal(0)) + 1
            assert picked(home) == wanted, code


@pytest.mark.parametrize("code", ["425261", "0425261", EAN[:-1], f"{EAN}05", UPC_A[1:-1]])
def test_what_was_guessed_is_said_each_time(home: StoreFolder, code: str) -> None:
    with at(home) as session:
        scan = Scanner(session)
        scan("4101")
        for _ in range(3):
            frame = scan(code)
            assert told(frame) == (GOOD, "session.guessed")
            assert said(frame).startswith(f"{code} is unknown, read as ")
        assert sum(picked(home).values()) == 3


@pytest.mark.parametrize("code", ["425261", EAN[:-1]])
def test_nothing_is_guessed_before_the_store_was_read_whole(home: StoreFolder, code: str) -> None:
    full_sync_stages_and_progress.save_progress(
        CacheWriter(open_cache(home.folder, writer=True), "0001"), full_sync_stages_and_progress.SyncProgress()
    )
    with at(home) as session:
        scan = Scanner(session)
        scan("4101")
        assert told(scan(code)) == (WRONG, "session.unknown_yet")
        assert not picked(home)
        assert told(scan(EAN)) == (GOOD, "pick.picked"), "a code that is known is no guess"


@pytest.mark.parametrize("place", [False, True])
def test_a_guess_that_fits_another_thing_of_the_store_too_is_asked(home: StoreFolder, place: bool) -> None:
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    if place:
        cache.write_locations([service_rows.location("14252611", 9)])
    else:
        cache.write_products([service_rows.product("P9", "Not on any order", expand_upc_e("1425261"))])
    with at(home) as session:
        scan = Scanner(session)
        scan("4101")
        assert told(scan("425261"))[0] == ASK
        assert not picked(home)


@pytest.mark.parametrize("code", [code for code, _ in FORMS])
def test_home_and_look_find_what_the_jobs_find(home: StoreFolder, code: str) -> None:
    with at(home) as session:
        scan = Scanner(session)
        assert scan(code).view.name.startswith("look_up")
        scan("b", "4101")
        assert scan(f"?{code}").view.name.startswith("look_up")


@pytest.mark.parametrize("job", ["count", "move", "receive"])
@pytest.mark.parametrize("code", [code for code, line in FORMS if line == 1])
def test_every_job_knows_every_form(home: StoreFolder, job: str, code: str) -> None:
    with at(home) as session:
        scan = Scanner(session)
        open_job(session, scan, job)
        if job != "receive":
            scan("A-1")
        frame = scan(code)
        assert frame.view.name.startswith(job)
        assert frame.verdict is None or not frame.verdict.text.id.endswith("unknown"), said(frame)
        assert told(frame)[0] != WRONG or "Honey" in said(frame), "a delivery that does not have it names it"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("ms", PACES)
def test_where_no_separator_comes_nothing_is_counted(home: StoreFolder, ms: int) -> None:
    with at(home) as session:
        scan = Scanner(session, ms)
        open_count(session, scan)
        for tail in ("10LOT7Ω3012", "10" + "L" * 24, "10LOT7" + "0" * 15 + "3012", "30123456789012"):
            frame = scan(f"010{EAN}{tail}")
            assert told(frame) == (WRONG, "input.no_gs")
            assert said(frame).startswith("This scanner sends no group separator")
        assert told(scan(f"010{EAN}17261301")) == (WRONG, "input.gs1_damaged")
        assert counted(scan(EAN)) == 1


@pytest.mark.parametrize("job", ["count", "pick"])
@pytest.mark.parametrize(
    ("code", "label"),
    [
        ("0109520001100512" + "3202000275", "2.75 lb"),
        ("0109520001100512" + "3922500", "price 5.00"),
        ("010" + WEIGHED + "3922500", "price 5.00"),
        ("010" + WEIGHED + "3152000300", "3 l"),
    ],
)
def test_a_label_that_says_no_quantity_is_asked(home: StoreFolder, job: str, code: str, label: str) -> None:
    with at(home) as session:
        scan = Scanner(session)
        if job == "count":
            open_count(session, scan)
        else:
            scan("4101")
        frame = scan(code)
        assert frame.verdict is not None
        assert frame.verdict.kind == ASK
        assert f"On the label: {label}." in said(frame)
        assert told(scan("4101"))[1] == "session.confirm_known_number"
        frame = scan("1.5")
        if job == "count":
            assert counted(frame) == Decimal("1.5")
        else:
            assert list(picked(home).values()) == [Decimal("1.5")]


@pytest.mark.parametrize("what", ["an order", "a location"])
def test_a_label_is_asked_about_though_its_code_means_something_else_too(home: StoreFolder, what: str) -> None:
    """The product is what a count takes; that an order or a location has the same name changes nothing."""
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    if what == "an order":
        cache.write_orders(
            [service_rows.order("4102", service_rows.line(1, "P1", 2), reference=WEIGHED)],
            lines_known=True,
            read_began=2.0,
        )
    else:
        cache.write_locations([service_rows.location(WEIGHED, 3)])
    with at(home) as session:
        scan = Scanner(session)
        open_count(session, scan)
        frame = scan(f"010{WEIGHED}3922500")
        assert "On the label: price 5.00." in said(frame)
        assert counted(scan("1.5")) == Decimal("1.5")


def test_a_label_that_is_asked_about_can_be_dropped(home: StoreFolder) -> None:
    with at(home) as session:
        scan = Scanner(session)
        open_count(session, scan)
        scan("01095200011005123202000275")
        assert told(scan("b")) == (INFO, "session.dropped")
        scan("01095200011005123202000275")
        assert counted(scan("0")) == 0
        scan("01095200011005123202000275")
        frame = scan(EAN)
        assert "ignored" in said(frame)
        assert counted(scan(EAN)) == 2
        assert counted(scan("3*0109520001100505" + "3103000500")) == Decimal("1.5")


def test_a_number_of_the_store_is_a_weight_with_y_alone(home: StoreFolder) -> None:
    with at(home) as session:
        scan = Scanner(session)
        open_count(session, scan)
        scan("01095200011005123202000275")
        assert told(scan("4101")) == (ASK, "session.confirm_known_number")
        assert told(scan("y"))[1] == "count.confirm_quantity"
        scan("b")
        scan("01095200011005123202000275")
        assert told(scan("y"))[0] == WRONG
        scan("01095200011005123202000275")
        scan("4101")
        assert told(scan("d"))[0] == WRONG
        assert told(scan("b"))[0] == INFO
        assert counted(scan(EAN)) == 1


def test_a_number_of_the_store_is_no_weight_after_all(home: StoreFolder) -> None:
    with at(home) as session:
        scan = Scanner(session)
        open_count(session, scan)
        for key in ("x", "u"):
            scan("01095200011005123202000275")
            view = scan("4101").view
            assert (view.choice_letters, [way.id for way in view.choices]) == (  # type: ignore[union-attr]
                "yx",
                ["count.choice_quantity", "count.choice_other"],
            )
            assert told(scan(key)) == (ASK, "session.ask_quantity_in"), "how much it is is asked again"
            assert told(scan("u")) == (INFO, "session.dropped")
        scan("01095200011005123202000275")
        session.take([Line(text, "cr", 0.0, 0.0, 0.0) for text in ("4101", "y")], 0.0)
        assert not session.stack.top.state.counted_lines, "what came with the question does not answer it"
        frame = scan("01095200011005123202000275")
        assert told(frame)[0] == ASK, "another label asks for itself"
        scan("b")
        assert told(scan("0109520001100512" + "3202000275", "2000"))[1] == "count.confirm_quantity"
        assert told(scan("x"))[0] == INFO
        assert not session.stack.top.state.counted_lines


def test_a_batch_of_an_in_store_code_is_kept_beside_its_price(home: StoreFolder) -> None:
    with at(home) as session:
        scan = Scanner(session)
        scan("4101")
        assert told(scan("010021234580675310LOT7"))[0] == GOOD
        assert told(scan("01002123458067533103000650"))[0] == GOOD
        assert picked(home) == {6: 2}


STORE_MADE = ("2812345015001", "0212345806753", "212345806753", "00212345806753", "2000000000008", "2*2812345015001")


@pytest.mark.parametrize("job", ["4101", "c", "?"])
@pytest.mark.parametrize("code", STORE_MADE)
def test_a_label_of_a_store_that_no_setting_describes_is_told_apart(home: StoreFolder, job: str, code: str) -> None:
    hint = msg("session.store_label")
    with at(home, restricted_codes=()) as session:
        scan = Scanner(session)
        if job == "c":
            scan("c", "A-1")
        elif job != "?":
            scan(job)
        frame = scan(code)
        assert frame.verdict is not None
        assert hint in (frame.verdict.text, frame.verdict.detail), frame.verdict
        if job == "4101":
            assert told(frame) == (WRONG, "count.unknown")
            assert "is unknown" in said(frame)
        for other in (EAN[:-1] + "0", "4006381333931", "2812345015002", "20000004", "2811", "X28123450150", "0"):
            verdict = scan(other).verdict
            assert verdict is None or hint not in (verdict.text, verdict.detail), other
    with at(home, restricted_codes=("28IIIIIWWWWWC", "2IIIIIXPPPPC:2", "20IIIIIWWWWWC")) as session:
        scan = Scanner(session)
        scan("4101")
        for label in STORE_MADE:
            verdict = scan(label).verdict
            assert verdict is not None
            assert verdict.detail is None, "it is described, and its product is none of the store's"


def test_a_label_of_a_store_is_nothing_to_the_sign_in(home: StoreFolder) -> None:
    session = open_session(home, Settings(terminal="dock"))
    try:
        session.start()
        verdict = Scanner(session)("2812345015001").verdict
        assert verdict is None or verdict.detail is None
    finally:
        session.close()


def test_a_keyboard_layout_is_told_once(home: StoreFolder) -> None:
    with at(home) as session:
        scan = Scanner(session)
        scan("4101")
        first, second = scan("ç(éààà&&àààé'"), scan("ç(éààà&&àààé'")
        assert told(first) == (GOOD, "session.keyboard_layout")
        assert EAN in said(first)
        assert told(second) == (GOOD, "pick.picked")
        assert told(scan("ç(éààà&&ààà&&")) == (WRONG, "input.keyboard_layout")
        assert said(scan("ç(éàààààà&&à")).startswith("Set the keyboard layout of the scanner")
        assert picked(home) == {1: 2}


def test_a_guess_that_fits_two_products_is_asked_in_a_job(home: StoreFolder) -> None:
    other = "1425261" + expand_upc_e("1425261")[-1]
    CacheWriter(open_cache(home.folder, writer=True), "0001").write_products(
        [service_rows.product("P7", "Other", other)]
    )
    with at(home) as session:
        scan = Scanner(session)
        scan("4101")
        found = scan("*425261*")
        assert (told(found)[0], len(found.view.choices)) == (ASK, 2)
        assert picked(home) == {}


def with_numbers(home: StoreFolder) -> None:
    """Things of the store that are called by digits alone, as all kinds of stores do."""
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    cache.write_products(
        [service_rows.product(number, f"Product {number}", number) for number in ("7", "301", "0088", "11702")]
    )
    cache.write_locations([service_rows.location(code, 3) for code in ("8", "12", "404")])
    cache.write_orders([service_rows.order("52", total_lines=0)], lines_known=False, read_began=1.0)


@pytest.mark.parametrize(
    ("typed", "is_number"),
    [
        *[(number, True) for number in ("301", "0088", "11702", "7", "8", "12", "404", "52", "4101")],
        *[(number, False) for number in ("9", "88", "300", "30.1", "301.5", "1")],
    ],
)
def test_a_weight_that_is_the_number_of_something_is_asked_about(
    home: StoreFolder, typed: str, is_number: bool
) -> None:
    with_numbers(home)
    with at(home) as session:
        scan = Scanner(session)
        open_count(session, scan)
        scan("01095200011005123202000275")
        assert (told(scan(typed)) == (ASK, "session.confirm_known_number")) is is_number


@pytest.mark.parametrize(("count", "found"), [(0, []), (1, ["G0"]), (2, []), (12, [])])
def test_beside_a_quantity_a_guess_counts_where_one_thing_fits(home: StoreFolder, count: int, found: list[str]) -> None:
    """The middle of a UPC-E of number system 1, without that and the check digit."""
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    cache.write_products([service_rows.product(f"G{n}", f"Guess {n}", "165100004324") for n in range(count)])
    with at(home) as session:
        rows, _ = session.store.reader.query("records_by_number", {"code": "654321"})
        assert [row["key"] for row in rows] == found


@pytest.mark.parametrize("length", range(15, 21))
def test_leading_zeros_mean_the_same_everywhere(home: StoreFolder, length: int) -> None:
    """As scanned at home, in a pick with and without an open quantity, in a count, and in both ways of a look-up."""
    code = EAN.zfill(length)
    with at(home) as session:
        scan = Scanner(session)
        for opening in ((), ("?",), ("4101",), ("4101", EAN)):
            for each in opening:
                scan(each)
            assert "read as Honey" in said(scan(code)), (opening, said(session.frames.build()))
            del session.stack.jobs[1:]
        open_count(session, scan)
        assert "read as Honey" in said(scan(code))
        frame = scan(f"?{code}")
        assert frame.view.name == "look_up.product"
        assert session.stack.top.state.product_number == "P1"
