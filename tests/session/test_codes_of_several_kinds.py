"""A label that is a location and a product, an order or a delivery: asked about on every page that takes both."""

from __future__ import annotations

from pathlib import Path

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import ASK, GOOD, INFO, WRONG
from aisle.scan.grammar_and_meaning_types import Quantity, Scan
from aisle.session.scanned_or_typed_lines import FAST_S
from aisle.session.session import Session
from aisle.tui.message_text import MessageWriter
from tests.cache import service_rows
from tests.cache.test_delivery_queries import delivery, line
from tests.session.every_page import PAGES, on_page
from tests.session.scanner import Scanner
from tests.session.test_asked_quantity import shown
from tests.session.test_numbers_after_scan import quantities
from tests.session.test_session import told

SHARED, GOODS, PLACE = "5012", "5013", "5014"
"""Label of a location and a product, and labels of one of them alone."""


def write_labels(folder: Path) -> None:
    """Add the goods and locations of these labels to the store."""
    cache = CacheWriter(open_cache(StoreFolder(folder, "embedded", "0001").folder, writer=True), "0001")
    cache.write_products([service_rows.product(number, f"Bag {number}") for number in (SHARED, GOODS)])
    places = {"A-1": 30, SHARED: 15, PLACE: 15}
    cache.write_stock([service_rows.stock(number, 60, places=places) for number in (SHARED, GOODS)])
    cache.write_locations([service_rows.location(code, 50) for code in (SHARED, PLACE)])


def is_taken(session: Session, label: str) -> bool:
    """Whether the page has a use for the label of one kind, which is tried."""
    meaning = session.resolver.resolve(label)
    if isinstance(meaning, Quantity):
        return True
    assert isinstance(meaning, Scan)
    before = session.stack.snapshot()
    result, after = session.stack.feed(meaning, session.context.current()), session.stack.snapshot()
    session.stack.restore(before)
    return result.verdict.kind != WRONG if result.verdict else before != after


def asks_for_both(session: Session) -> bool:
    """Whether the page asks for the location or the product, or for a quantity or a code."""
    frame = session.frames.build()
    text = MessageWriter().write(frame.verdict.text) if frame.verdict else ""
    return told(frame)[0] == ASK and (text == f"location {SHARED} or Bag {SHARED}?" or "or a code" in text)


PLAIN = [page for page in PAGES if page.partition(".")[0] not in ("sign_in", "pin", "scanner_test", "palette", "help")]


@pytest.mark.parametrize("page", PLAIN)
def test_a_label_of_two_kinds_is_asked_about_where_both_are_taken(aisle_home: Path, page: str) -> None:
    with on_page(aisle_home, page) as session:
        write_labels(aisle_home)
        scan = Scanner(session)
        scan.rest(6.0)
        session.start_batch()
        accepts = session.page.accepts()
        if (
            accepts.text
            or session.stack.top.job.raw_input
            or not isinstance(session.resolver.resolve(PLACE), Scan | Quantity)
        ):
            return
        waiting = len(session.store.operations.unfinished())
        if page == "move.put":  # its goods are not on the cart: it is the location
            assert told(scan.send(f"{SHARED}\r", 0.006)) == (GOOD, "move.cart_empty")
            return
        if isinstance(session.resolver.resolve(SHARED), Quantity):
            assert told(scan.send(f"{SHARED}\r", 0.006))[0] in (ASK, WRONG)
            assert len(session.store.operations.unfinished()) == waiting
            return
        goods, place = is_taken(session, GOODS), is_taken(session, PLACE)
        frame = scan.send(f"{SHARED}\r", 0.006)
        assert asks_for_both(session) or not (goods and place), shown(frame)
        assert len(session.store.operations.unfinished()) == waiting or (place and not goods)


COUNTING = (
    "count.product", "count.summary", "count.start", "count.list", "move.take", "receive.lines",
    "exceptions.differences", "look_up.list", "locations.list",
)  # fmt: skip
"""Pages of the report, where the label was taken for one of the two."""


@pytest.mark.parametrize("pace", [0.0, 0.006, 0.15])
@pytest.mark.parametrize("page", COUNTING)
def test_nothing_is_counted_before_the_answer(aisle_home: Path, page: str, pace: float) -> None:
    with on_page(aisle_home, page) as session:
        write_labels(aisle_home)
        scan = Scanner(session)
        scan.rest(6.0)
        before = quantities(session)
        frame = scan.send(f"{SHARED}\r", pace)
        is_letter_asked = told(frame) == (WRONG, "input.choose_letter")
        assert asks_for_both(session) or (is_letter_asked and pace > FAST_S), "typed, it is no code there"
        assert quantities(session) == before


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("move.where", f"location {SHARED}. Moved 1 × Product 1 to {SHARED}, for order 4101"),
        ("count.leave", f"Answer first, then scan Bag {SHARED} (or location {SHARED})"),
        ("exceptions.one", f"Answer first, then scan Bag {SHARED} (or location {SHARED})"),
        ("store_product.value", f"Type the value first, or b; then scan Bag {SHARED}"),
        ("adjust.reason", f"First Product 1, then Bag {SHARED} (or location {SHARED})"),
    ],
)
def test_where_one_or_none_is_taken_the_answer_says_which(aisle_home: Path, page: str, said: str) -> None:
    with on_page(aisle_home, page) as session:
        write_labels(aisle_home)
        scan = Scanner(session)
        scan.rest(6.0)
        frame = scan.send(f"{SHARED}\r", 0.006)
        assert frame.verdict is not None
        assert MessageWriter().write(frame.verdict.text).endswith(said)


LONG = "50121"
"""Label of a location and a product, of too many digits for a quantity."""


@pytest.mark.parametrize("page", ["count.stop", "count.missing", "adjust.quantity", "receive.goods"])
def test_a_long_label_of_two_kinds_is_asked_about_where_a_quantity_is_open(aisle_home: Path, page: str) -> None:
    with on_page(aisle_home, page) as session:
        write_labels(aisle_home)
        cache = CacheWriter(open_cache(StoreFolder(aisle_home, "embedded", "0001").folder, writer=True), "0001")
        cache.write_products([service_rows.product(LONG, "Long bag")])
        cache.write_locations([service_rows.location(LONG, 50)])
        scan = Scanner(session)
        scan.rest(6.0)
        frame = scan.send(f"{LONG}\r", 0.006)
        assert told(frame)[1] in ("move.number_of", "move.number_of"), shown(frame)


@pytest.mark.parametrize("page", ["count.start", "move.from", "look_up.list", "locations.list", "order"])
@pytest.mark.parametrize("answer", [0, 1])
def test_the_answer_chooses(aisle_home: Path, page: str, answer: int) -> None:
    """The location comes first; each has the outcome of a label of its kind alone."""
    outcomes = []
    for number, label in enumerate(((PLACE, GOODS)[answer], SHARED)):
        folder = aisle_home / str(number)
        with on_page(folder, page) as session:
            write_labels(folder)
            scan = Scanner(session)
            scan.rest(6.0)
            frame = scan.send(f"{label}\r", 0.006)
            if label == SHARED:
                letters = getattr(frame.view, "choice_letters", "")
                frame = scan.send(f"{letters[answer] if letters else answer + 1}\r", 0.15)
            outcomes.append((frame.view.name, told(frame)[0]))
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize(
    ("page", "kind"),
    [("home", "order"), ("home", "delivery"), ("order", "order"), ("receive.delivery", "delivery")],
)
def test_a_number_of_an_order_or_delivery_is_no_other_record_unasked(aisle_home: Path, page: str, kind: str) -> None:
    with on_page(aisle_home, page) as session:
        write_labels(aisle_home)
        cache = CacheWriter(open_cache(StoreFolder(aisle_home, "embedded", "0001").folder, writer=True), "0001")
        if kind == "order":
            row = service_rows.order(GOODS, service_rows.line(1, "P1", 2))
            cache.write_orders([row], lines_known=True, read_began=1.0)
        else:
            cache.write_deliveries([delivery(GOODS, line(1, GOODS, 4))], 1.0)
        scan = Scanner(session)
        scan.rest(6.0)
        frame = scan.send(f"{GOODS}\r", 0.006)
        assert told(frame) == (ASK, "session.ambiguous"), shown(frame)


ASKING = ("count.product", "count.summary", "count.start", "count.list", "move.take")
"""Pages that take the label of either kind."""


@pytest.mark.parametrize("page", ASKING)
def test_next_scan_names_the_label_that_was_not_answered(aisle_home: Path, page: str) -> None:
    """On the smallest screen too."""
    with on_page(aisle_home, page) as session:
        write_labels(aisle_home)
        scan = Scanner(session)
        scan.rest(6.0)
        scan.send(f"{SHARED}\r", 0.006)
        assert asks_for_both(session)
        frame = scan.send(f"{GOODS}\r", 0.006)
        assert frame.verdict is not None
        assert all(SHARED in MessageWriter().write(frame.verdict.text, length) for length in (0, 1, 9)), shown(frame)


@pytest.mark.parametrize("page", ASKING)
def test_undo_cancels_the_question_and_nothing_else(aisle_home: Path, page: str) -> None:
    with on_page(aisle_home, page) as session:
        write_labels(aisle_home)
        scan = Scanner(session)
        scan.rest(6.0)
        before = quantities(session)
        scan.send(f"{SHARED}\r", 0.006)
        frame = scan.send("u\r", 0.15)
        assert told(frame) == (INFO, "session.dropped")
        assert quantities(session) == before
