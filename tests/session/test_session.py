"""A session on real files, without a terminal and without a network: what goes in, what is kept, what is shown."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import apsw
import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.courier.pull import full_sync_stages_and_progress
from aisle.host.notify_sockets import CourierSocket
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Block, DetailView, Frame, Step, numbered_rows, raw
from aisle.outbox.commit_journal import Journal
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.scan.decoder import Decoder
from aisle.scan.grammar_and_meaning_types import PRODUCT, Match, Scan
from aisle.scan.inputs_and_line_grouping import DecodedInput, EscapeInput, Key, Line, OpenLine
from aisle.session import profile
from aisle.session.pending_question import PendingQuestion
from aisle.session.session import Session, open_session
from aisle.session.unit_of_work import MAX_REPLAYED
from aisle.settings.setting_definitions import Settings
from aisle.tui.layout.screen import layout_screen
from aisle.tui.layout.styled_lines_and_page_parts import plain_lines
from tests.cache import service_rows
from tests.copied_databases import copy_cache

ORDER = service_rows.order(
    "4101",
    service_rows.line(1, "P1", 1, preferred_location_code="A-1"),
    service_rows.line(2, "P2", 12, preferred_location_code="A-2"),
    service_rows.line(3, "P3", 200, preferred_location_code="A-3"),
    customer_name="Ms Okafor",
)


def small_store(cache: CacheWriter) -> None:
    """A small store."""
    cache.write_people([service_rows.person("U1", "Anna Kovac"), service_rows.person("U2", "Anna Berg")])
    cache.write_products(
        [service_rows.product(f"P{n}", f"Product {n}", code) for n, code in enumerate(("", *BARCODES)) if n]
        + [service_rows.product("P9", "Elsewhere", "96385074")]
    )
    cache.write_stock([service_rows.stock(f"P{n}", 20, places={f"A-{n}": 20}) for n in (1, 2, 3)])
    cache.write_locations([service_rows.location(f"A-{n}", n) for n in (1, 2, 3)])
    cache.write_orders(
        [ORDER, service_rows.order("4102", service_rows.line(1, "P2", 2))], lines_known=True, read_began=1.0
    )
    full_sync_stages_and_progress.save_progress(cache, full_sync_stages_and_progress.SyncProgress(completed=1.0))


@pytest.fixture
def home(aisle_home: Path) -> StoreFolder:
    """A home with a small store in its cache."""
    home = StoreFolder(aisle_home, "embedded", "0001")
    copy_cache(home.folder, "0001", small_store)
    return home


BARCODES = ("4006381333931", "5901234123457", "9780201379624")


@contextmanager
def at(home: StoreFolder, **settings: Any) -> Iterator[Session]:
    """A session of terminal `dock`."""
    session = open_session(home, Settings(terminal="dock", **settings))
    try:
        session.start()
        yield session
    finally:
        session.close()


def say(session: Session, *texts: str) -> Frame:
    """Lines in one drained queue."""
    return session.take([Line(text, "cr", 0.0, 0.0, 0.0) for text in texts], 0.0)


def told(frame: Frame) -> tuple[str, str]:
    """Kind and message id of the verdict."""
    return (frame.verdict.kind, frame.verdict.text.id) if frame.verdict else ("", "")


def sent(home: StoreFolder) -> dict[int, Decimal]:
    """What the waiting operations say of the lines of 4101."""
    (operation,) = OperationQueue(open_outbox(home.folder)).unfinished()
    return {line["line_number"]: line["picked_quantity"] for line in operation.body["orders"].get("order_lines", ())}


def test_a_badge_signs_in_and_the_terminal_remembers_it(home: StoreFolder) -> None:
    with at(home) as session:
        frame = say(session, "BADGE-U1")
        assert (frame.view.name, frame.user) == ("home", "Anna Kovac")
    with at(home) as session:
        assert session.frames.build().view.name == "home"
        assert say(session, "o").view.name == "sign_in"
    with at(home) as session:
        assert session.frames.build().view.name == "sign_in"


def test_reused_terminal_name_remembers_nobody(home: StoreFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    with at(home) as session:
        say(session, "BADGE-U1", "4101")
        signed_in = session.context.clock()
    monkeypatch.setattr(profile, "terminal_assigned_at", lambda _settings: signed_in - 3600)
    with at(home) as session:
        assert session.frames.build().user == "Anna Kovac"
    monkeypatch.setattr(profile, "terminal_assigned_at", lambda _settings: signed_in + 3600)
    with at(home) as session:
        assert session.frames.build().view.name == "sign_in"
        assert say(session, "BADGE-U1").view.name.startswith("pick."), "her work is where she left it"


def test_what_the_store_knows_as_something_else_is_nobodys_name(home: StoreFolder) -> None:
    with at(home) as session:
        shown = say(session, "berg").view.choices
        assert len(shown) == 1
        for said in ("4101", BARCODES[1], "A-1"):
            frame = say(session, said)
            assert told(frame) == (WRONG, "sign_in.not_this")
            assert frame.view.choices == shown
        frame = say(session, "zzz", "1")
        assert (frame.user, frame.view.name) == ("", "sign_in"), "1 was another on the screen"
        say(session, "berg")
        assert say(session, "4101", "1").user == "Anna Berg"


def test_a_name_that_fits_several_people_is_asked(home: StoreFolder) -> None:
    with at(home) as session:
        frame = say(session, "anna")
        assert told(frame) == (ASK, "sign_in.which")
        assert len(frame.view.choices) == 2
        assert say(session, "2").user in ("Anna Berg", "Anna Kovac")


def test_one_queue_is_one_commit_and_all_of_it_is_kept(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        frame = say(session, "4101", BARCODES[0], BARCODES[1], *[BARCODES[2]] * 100)
        assert told(frame) == (GOOD, "pick.picked")
        assert frame.scan_serial == 103
    assert sent(home) == {1: Decimal(1), 2: Decimal(1), 3: Decimal(100)}
    events = Journal(open_outbox(home.folder)).last_events(200)
    assert [event.raw for event in events if event.kind == "Scan"] == ["4101", *BARCODES[:2], *[BARCODES[2]] * 100]


def test_quantities_multiplication_and_undo(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        say(session, "4101", BARCODES[0], f"3*{BARCODES[1]}")
        assert told(say(session, "12")) == (GOOD, "pick.picked")
        assert sent(home) == {1: Decimal(1), 2: Decimal(12)}
        assert told(say(session, "u")) == (GOOD, "pick.undone")
        assert sent(home)[2] == 3


@pytest.mark.parametrize("count", [1, MAX_REPLAYED - 3, MAX_REPLAYED + 20, 3 * MAX_REPLAYED])
def test_a_new_session_stands_on_the_same_step(home: StoreFolder, count: int) -> None:
    with at(home, user="U1") as session:
        say(session, "4101", BARCODES[0], BARCODES[1], "n")
        for _ in range(count):
            before = say(session, BARCODES[2])
    with at(home, user="U1") as session:
        frame = session.frames.build()
        assert frame.view == before.view
        assert told(frame) == (INFO, "session.resumed")
        assert told(say(session, BARCODES[2])) == (GOOD, "pick.picked")
    assert sent(home)[3] == count + 1


def test_what_cannot_be_kept_has_not_happened(home: StoreFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    with at(home, user="U1") as session:
        before = say(session, "4101", BARCODES[1])
        broken = open_outbox(home.folder)
        broken.execute("BEGIN IMMEDIATE")
        session.store.journal._db.set_busy_timeout(1)
        frame = say(session, BARCODES[1])
        assert told(frame) == (WRONG, "session.not_saved")
        assert frame.view == before.view
        assert session.bells == 3
        broken.execute("ROLLBACK")
        say(session, BARCODES[1])
    assert sent(home)[2] == 2


def test_a_label_with_a_count_without_end_ends_nothing(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        say(session, "4101")
        assert told(say(session, f"010{BARCODES[0]}30{'6' * 29}")) == (WRONG, "input.no_gs")
        assert told(say(session, f"]C1010{BARCODES[0]}37{'6' * 2000}")) == (WRONG, "input.no_gs")
        assert sent(home) == {}
        assert told(say(session, f"]C1010{BARCODES[0]}371")) == (GOOD, "pick.picked")
    assert sent(home) == {1: Decimal(1)}


def test_how_much_of_what_was_scanned_at_once_was_not_kept_is_said(home: StoreFolder) -> None:
    """Whoever scans on while the files are locked sees one answer, and scans as often again as it says."""
    with at(home, user="U1") as session:
        before = say(session, "4101", BARCODES[1])
        broken = open_outbox(home.folder)
        broken.execute("BEGIN IMMEDIATE")
        session.store.journal._db.set_busy_timeout(1)
        frame = say(session, BARCODES[1], BARCODES[1], BARCODES[0])
        assert told(frame) == (WRONG, "session.inputs_not_saved")
        assert frame.verdict is not None
        assert dict(frame.verdict.text.args)["count"] == 3
        assert (frame.view, session.bells) == (before.view, 3)
        broken.execute("ROLLBACK")
        say(session, BARCODES[1])
    assert sent(home)[2] == 2


def test_a_code_of_another_product_is_wrong_and_the_next_scan_goes_on(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        assert told(say(session, "4101", "96385074")) == (WRONG, "pick.not_here")
        assert session.bells == 3
        assert told(say(session, "12345678")) == (WRONG, "count.unknown")
        assert told(say(session, BARCODES[0])) == (GOOD, "pick.picked")


def test_what_was_not_taken_is_said_though_more_came_in_one_write(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        say(session, "4101")
        frame = say(session, BARCODES[0], "96385074", "12345678", BARCODES[1])
        assert told(frame) == (WRONG, "session.not_applied_first")
        assert session.bells == 3
        for columns, rows in ((20, 16), (40, 20), (80, 24)):
            shown = " ".join(" ".join(plain_lines(layout_screen(frame, columns, rows))).split())
            assert "2 ignored: " in shown, shown
            assert "Elsewhere" in shown, shown
        assert told(say(session, BARCODES[1])) == (GOOD, "pick.picked")
        assert told(say(session, "12345678", "h")) == (WRONG, "session.input_not_applied")
    assert sent(home) == {1: Decimal(1), 2: Decimal(2)}


def test_scans_that_were_refused_for_the_same_are_told_once(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        say(session, "4101")
        frame = say(session, BARCODES[0], *["12345678"] * 5)
        assert told(frame) == (WRONG, "session.input_not_applied")
        shown = " ".join(" ".join(plain_lines(layout_screen(frame, 80, 24))).split())
        assert "5 ignored: " in shown
        assert shown.count("12345678 is unknown") == 1
    assert sent(home) == {1: Decimal(1)}


def test_number_after_refused_scan_is_not_open_quantity(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        assert told(say(session, "4101", BARCODES[1])) == (GOOD, "pick.picked")
        frame = say(session, "12345678", "3", "2")
        assert told(frame) == (WRONG, "session.not_applied_first")
        assert "input.after_refused_scan" in repr(frame.verdict)
        assert sent(home) == {2: Decimal(1)}
        say(session, "96385074", "1")
        assert session.frames.build().view.name.startswith("pick."), "nor does it choose what the refusal offers"
        say(session, "12345678", BARCODES[1], "3")
        assert sent(home) == {2: Decimal(3)}, "it was meant for the scan before it"
        say(session, "12345678")
        assert told(say(session, "2")) == (ASK, "input.number_after_refused_scan")
        assert sent(home) == {2: Decimal(3)}
        say(session, "2")
        assert sent(home) == {2: Decimal(2)}, "typed again it is meant"


def test_the_choices_under_several_refusals_are_of_the_one_that_is_named(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        say(session, "4101")
        frame = say(session, "12345678", "96385074")
        assert told(frame) == (WRONG, "session.not_applied_first")
        assert isinstance(frame.view, Step)
        assert frame.view.choices
        shown = " ".join(" ".join(plain_lines(layout_screen(frame, 20, 16))).split())
        assert "2 ignored: " in shown
        assert "Elsewhere" in shown
        assert "12345678" not in shown


def test_scan_that_replaces_sign_in_question_reports_unhandled_input(home: StoreFolder) -> None:
    with at(home) as session:
        assert told(say(session, "anna", "BADGE-U2")) == (WRONG, "session.not_applied_first")
    with at(home, user="U9") as session:
        say(session, "o")
        assert told(say(session, "anna", "1"))[1] == "sign_in.done"


def test_two_readings_are_asked_as_1_and_2(home: StoreFolder) -> None:
    both = f"1{BARCODES[0]}"
    with _writer(home) as cache:
        cache.write_products([service_rows.product("P8", "Fourteen digits", both)])
    with at(home, user="U1") as session:
        frame = say(session, "4101", both)
        if told(frame)[1] == "session.ambiguous":
            assert len(frame.view.choices) == 2
            assert say(session, "b").view.choices == ()
        assert frame.view.name.startswith("pick.")


@contextmanager
def _writer(home: StoreFolder) -> Iterator[CacheWriter]:
    connection: apsw.Connection = open_cache(home.folder, writer=True)
    yield CacheWriter(connection, "0001")
    connection.close()


def test_rows_have_no_numbers_while_two_readings_do() -> None:
    page = DetailView("place", raw("A-1"), raw(""), blocks=(Block(raw("Here"), ((raw("Tea"),),), numbered_rows=1),))
    ways = tuple(Scan((Match(PRODUCT, key, key),)) for key in ("P1", "P2"))
    shown = PendingQuestion(scans=ways).show_on(page)
    assert (numbered_rows(shown), len(shown.choices)) == (0, 2)
    assert PendingQuestion().show_on(page) == page


def test_typing_filters_the_orders_and_leaves_no_trace(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        items: list[DecodedInput] = [OpenLine("o"), OpenLine("ok")]
        frame = session.take(items, 0.0)
        assert frame.typed == "ok"
        assert [row.key for row in frame.view.rows] == ["4101"]  # type: ignore[union-attr]
        kinds = {event.kind for event in Journal(open_outbox(home.folder)).last_events(100)}
        assert "Echo" not in kinds
        frame = session.take([Key("down"), Key("enter")], 0.0)
        assert frame.view.name.startswith("pick.")


def test_letters_page_through_the_orders_and_digits_find_them(home: StoreFolder) -> None:
    with _writer(home) as cache:
        cache.write_orders(
            [service_rows.order(f"52{n:02}", service_rows.line(1, "P1", 1)) for n in range(20)], True, 1.0
        )
    with at(home, user="U1") as session:
        session.resize(40, 16)
        seen = []
        for _ in range(5):
            view = session.frames.build().view
            seen += [row.key for row in view.rows]  # type: ignore[union-attr]
            say(session, "n")
        assert len(seen) == len(set(seen)) == 22
        assert say(session, "p").view.first == 20  # type: ignore[union-attr]
        assert say(session, "n").view.first == 0  # type: ignore[union-attr]
        frame = say(session, "52")
        assert told(frame) == (ASK, "list.found")
        assert frame.view.total == 20  # type: ignore[union-attr]
        assert say(session, "0").view.total == 20  # type: ignore[union-attr]
        assert say(session, "b").view.total == 22  # type: ignore[union-attr]


def test_a_change_in_the_cache_reaches_the_screen(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        say(session, "4101")
        changed = service_rows.order(
            "4101", *[{**line, "picked_quantity": line["quantity"]} for line in ORDER["lines"][:1]]
        )
        with _writer(home) as cache:
            cache.write_orders([changed], lines_known=True, read_began=2.0)
        frame = session.poll()
        assert frame is not None
        assert frame.view.name == "pick.done"
        assert told(frame) == (INFO, "pick.changed")


def test_a_courier_is_called_while_there_is_none(home: StoreFolder) -> None:
    calls: list[float] = []
    now = [1000.0]
    session = open_session(home, Settings(terminal="dock"), lambda: calls.append(now[0]))
    session.context.clock = lambda: now[0]
    session.start()
    for moment in (1000.0, 1005.0, 1010.0):
        now[0] = moment
        session.keep_courier()
    assert calls == [1000.0, 1010.0]
    courier = CourierSocket(home)
    now[0] = 1030.0
    session.poll()
    assert calls == [1000.0, 1010.0]
    assert courier.drain() == set()
    courier.close()
    session.poll()
    assert calls == [1000.0, 1010.0, 1030.0]
    session.close()


def test_without_a_cache_there_is_a_sign_in_and_work_waits(aisle_home: Path) -> None:
    home = StoreFolder(aisle_home, "embedded", "0001")
    with at(home) as session:
        assert told(say(session, "Zoe")) == (ASK, "sign_in.unknown_yet")
        frame = say(session, "1")
        assert (frame.view.name, frame.user, frame.link.state) == ("home", "Zoe", "none")
        assert told(say(session, "4101")) == (WRONG, "session.unknown_yet")


def test_lists_ask_for_no_more_rows_than_the_screen_shows(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        for rows, wanted in ((8, 2), (16, 5), (20, 7), (24, 10), (50, 36)):
            session.resize(40, rows)
            assert session.context.current().window_rows == wanted


@pytest.mark.parametrize(
    ("text", "lead", "expected"),
    [
        ("-2", "[A", (GOOD, "pick.at_location")),
        (BARCODES[1], "[A", (GOOD, "pick.picked")),
        (BARCODES[1][3:], f"[{BARCODES[1][:3]}", (GOOD, "pick.picked")),
        ("X-7-7", "[B", (WRONG, "input.incomplete_scan")),
        ("3", "[A", (GOOD, "pick.picked")),
        ("cheese", "[A", (WRONG, "count.unknown")),
        (BARCODES[1], "[Z", (WRONG, "input.incomplete_scan")),
    ],
    ids=["place", "key", "barcode", "unknown", "typed", "words", "either"],
)
def test_character_after_cut_escape_sequence_belongs_to_known_key(
    home: StoreFolder, text: str, lead: str, expected: tuple[str, str]
) -> None:
    """A piece of an escape sequence right before a scan makes no other scan of it."""
    CacheWriter(open_cache(home.folder, writer=True), "0001").write_locations(
        [service_rows.location(f"Z{BARCODES[1]}", 9)]
    )
    with at(home, user="U1") as session:
        say(session, "4102", "b", "4101", BARCODES[1])
        assert told(session.take([Line(text, "cr", 0.0, 0.0, 0.0, possible_prefix=lead)], 0.0)) == expected


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ([(0.3, b"1"), (0.6, b"\r")], (INFO, "pick.unchanged")),
        ([(0.3, b"1"), (0.7, b"2"), (1.1, b"\r")], (GOOD, "pick.picked")),
    ],
)
def test_what_is_typed_soon_after_an_arrow_stays_the_number_that_it_is(
    home: StoreFolder, typed: list[tuple[float, bytes]], expected: tuple[str, str]
) -> None:
    """Also where a place is called by it and the letter of that key."""
    CacheWriter(open_cache(home.folder, writer=True), "0001").write_locations(
        [service_rows.location(c, 9) for c in ("B1", "B12")]
    )
    with at(home, user="U1") as session:
        frame, decoder = say(session, "4101", "A-2", BARCODES[1]), Decoder()
        for moment, data in [(0.0, b"\x1b[B"), *typed]:
            inputs = [item for item in decoder.feed(data, moment) if not isinstance(item, EscapeInput)]
            frame = session.take(inputs, moment) if inputs else frame
        assert told(frame) == expected
