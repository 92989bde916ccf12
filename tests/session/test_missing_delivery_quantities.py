"""What came of a delivery where its lines do not say it: what the receipt says, whatever its lines are known by, and
where nobody says it no figure on any page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from aisle.courier.pull import full_sync_stages_and_progress
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.receive.receive_state_and_differences import ReceiptEntry
from aisle.session.session import Session, open_session
from aisle.settings.setting_definitions import Settings
from aisle.tui.layout.screen import layout_screen
from aisle.tui.layout.styled_lines_and_page_parts import plain_lines
from tests.cache import service_rows
from tests.cache.test_delivery_queries import NOON, Desk, Row, delivery, line
from tests.session.test_session import say
from tests.writes import STORE

TEA, SALT = "4006381333931", "5901234123457"


@pytest.fixture
def desk(aisle_home: Path) -> Desk:
    made = Desk(aisle_home)
    made.cache.write_products([service_rows.product("P1", "Tea", TEA), service_rows.product("P2", "Salt", SALT)])
    made.cache.write_people([service_rows.person("U1", "Anna Kovac")])
    full_sync_stages_and_progress.save_progress(made.cache, full_sync_stages_and_progress.SyncProgress(completed=1.0))
    return made


def came(**said: Any) -> Row:
    return {"received_quantity": 5, **said}


LINES = (line(1, "P1", 5, None), line(2, "P2", 7, None, barcode=SALT), line(3, "P1", 4, None))
RECEIPTS: dict[str, tuple[tuple[Row, ...], list[int | None]]] = {
    "no receipt": ((), [None, None, None]),
    "by line": ((came(line_number=1), came(line_number=2)), [5, 5, 0]),
    "by line and product": ((came(line_number=1, product_number="P1"),), [5, 0, 0]),
    "by product": ((came(product_number="P1"), came(product_number="P2")), [5, 5, 0]),
    "by product, of two lines": ((came(product_number="P1", received_quantity=7),), [5, 0, 2]),
    "by product, too much": ((came(product_number="P1", received_quantity=17),), [5, 0, 12]),
    "by product, in parts": ((came(product_number="P1"), came(product_number="P1", received_quantity=1)), [5, 0, 1]),
    "by barcode": ((came(barcode=SALT),), [0, 5, 0]),
    "numbers of its own": ((came(line_number=2, product_number="P1"),), [5, 0, 0]),
    "a line in parts": ((came(line_number=2), came(line_number=2, received_quantity=1)), [0, 6, 0]),
    "another product": ((came(product_number="P9"),), [0, 0, 0]),
    "no quantity": (({"line_number": 2},), [0, 0, 0]),
    "of nothing": ((came(),), [0, 0, 0]),
}


def put(desk: Desk, lines: tuple[Row, ...], receipt: tuple[Row, ...]) -> None:
    desk.cache.write_deliveries([delivery("D-1", *lines)], NOON)
    if receipt:
        desk.cache.write_receipts([{"order_number": "D-1", "store_number": STORE, "receipt_lines": list(receipt)}])


@pytest.mark.parametrize("name", RECEIPTS)
def test_what_the_receipt_says_came(desk: Desk, name: str) -> None:
    receipt, expected = RECEIPTS[name]
    put(desk, LINES, receipt)
    ((row,), _) = desk.reads.query("delivery", {"order_number": "D-1"})
    assert [None if each.get("is_quantity_unknown") else each["received"] for each in row["lines"]] == expected
    ((listed,), _) = desk.reads.query("deliveries", {})
    sums = [0 if of is None else min(of, each["quantity"]) for of, each in zip(expected, LINES, strict=True)]
    assert listed["received_quantity"] == row["received_quantity"] == (sum(sums) if receipt else None)
    for product, at in (("P1", (0, 2)), ("P2", (1,))):
        missing = sum(LINES[n]["quantity"] - sums[n] for n in at) if receipt else None
        for read in ("next_deliveries", "deliveries_expecting"):
            rows, _ = desk.reads.query(read, {"product_number": product})
            assert [each["missing"] for each in rows] == ([missing] if missing != 0 else []), read


def test_what_a_line_says_itself_is_none_of_the_others(desk: Desk) -> None:
    put(desk, (line(1, "P1", 5, 2), line(2, "P1", 4, None)), (came(product_number="P1"),))
    assert desk.lines("D-1") == [(1, "P1", 2), (2, "P1", 3)]


@pytest.mark.parametrize(("name", "is_there"), [("by product, too much", False), ("all", True)])
def test_a_delivery_of_which_the_receipt_has_all_is_received(desk: Desk, name: str, is_there: bool) -> None:
    all_ = (came(product_number="P1", received_quantity=9), came(product_number="P2", received_quantity=7))
    put(desk, LINES, all_ if is_there else RECEIPTS[name][0])
    assert desk.listed(state="received") == ([("D-1", "received")] if is_there else [])
    assert desk.listed(state="open") == ([] if is_there else [("D-1", "partial")])


@contextmanager
def at(home: StoreFolder) -> Iterator[Session]:
    with closing(open_session(home, Settings(terminal="dock"))) as session:
        session.start()
        yield session


def shown(session: Session, *said: str) -> str:
    frame = say(session, *said)
    return " ".join(" ".join(plain_lines(layout_screen(frame, 100, 30))).split())


PAGES: dict[str, tuple[tuple[str, ...], str]] = {
    "list": (("7", "2", "a"), r"\? of 16"),
    "page": (("7", "2", "a", "1"), r"quantity received unknown: \? of 16 .*Tea \? of 5 Salt \? of 7 Tea \? of 4"),
    "to receive": (("7", "2"), r"\? of 16"),
    "lines": (("D-1", "l"), r"1 Tea \? of 5 .*2 Salt \? of 7"),
    "checked": (("D-1", "d"), r"(Tea \? of 9 \? Salt \? of 7 \?|Salt \? of 7 \? Tea \? of 9 \?)"),
    "one in hand": (("D-1", SALT), r"1 in hand; \? of 7 in all"),
}


@pytest.mark.parametrize("name", PAGES)
def test_no_page_has_a_figure_that_nobody_said(desk: Desk, name: str) -> None:
    put(desk, LINES, ())
    keys, expected = PAGES[name]
    with at(desk.reads._store_folder) as session:
        text = shown(session, "BADGE-U1", *keys)
        assert re.search(expected, text), text
        assert not re.search(r"\b0 of |\b0/| -\d", text), text


def test_what_was_booked_from_here_is_a_figure(desk: Desk) -> None:
    put(desk, LINES, ())
    desk.receive("D-1", ReceiptEntry("P2", 2, Decimal(3)))
    with at(desk.reads._store_folder) as session:
        text = shown(session, "BADGE-U1", "D-1", "l")
        assert re.search(r"1 Tea \? of 5 .*2 Salt 3 of 7", text), text
