"""Lists exported from any page of a desk: all filtered rows as people see them, and where the file is."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import Frame, Msg, msg
from aisle.scan.inputs_and_line_grouping import TAB_KEY, typed_line
from aisle.session.session import Session
from aisle.tui.message_text import MessageWriter
from tests.cache import service_rows
from tests.session.test_order_board import home, says  # noqa: F401
from tests.session.test_tab_bar_with_counts import desk, press  # noqa: F401

pytestmark = pytest.mark.usefixtures("home")

Rows = list[list[str]]


@pytest.fixture
def folder(desk: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:  # noqa: F811
    """The home folder of the account."""
    folder = tmp_path / "files"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    desk.terminal.full_text = lambda message, language: MessageWriter(language=language).write(message)
    return folder


def told(frame: Frame) -> tuple[str, dict[str, str | int | Msg]]:
    assert frame.verdict is not None
    return frame.verdict.text.id, {name: str(value) for name, value in frame.verdict.text.args}


def exported(session: Session, folder: Path) -> Rows:
    before = set(folder.iterdir())
    id_, args = told(says(session, "x"))
    (path,) = set(folder.iterdir()) - before
    assert (id_, args["file"]) == ("list.exported", str(path))
    rows = [*csv.reader(io.StringIO(path.read_text("utf-8")))]
    assert args["count"] == str(len(rows) - 1)
    path.unlink()
    return rows


def test_a_list_is_exported_with_all_its_rows_and_columns(desk: Session, folder: Path) -> None:  # noqa: F811
    press(desk, f"{TAB_KEY}orders")
    head, *rows = exported(desk, folder)
    assert head[:4] == ["Order", "Pickup", "State", "Picked"]
    assert [row[0] for row in rows] == ["4101", "4102", "4103"]
    assert rows[0][3] == "1 of 6"


def test_an_export_has_the_rows_of_the_filter_and_the_search(desk: Session, folder: Path) -> None:  # noqa: F811
    press(desk, f"{TAB_KEY}orders")
    desk.take([typed_line("/4102", 5.0)], 5.0)
    assert [row[0] for row in exported(desk, folder)[1:]] == ["4102"]


@pytest.mark.parametrize("tab", ["exceptions", "deliveries", "products", "log"])
def test_every_list_of_a_desk_is_exported(desk: Session, folder: Path, tab: str) -> None:  # noqa: F811
    press(desk, f"{TAB_KEY}{tab}")
    if tab == "exceptions":
        says(desk, "2")
    assert exported(desk, folder)[0]


def test_numbers_and_times_are_written_for_spreadsheets(desk: Session, folder: Path) -> None:  # noqa: F811
    press(desk, f"{TAB_KEY}exceptions")
    says(desk, "2")
    head, row = exported(desk, folder)
    cells = dict(zip(head, row, strict=True))
    assert cells["Difference"] == "-7"
    assert cells["Time"].startswith("2026-03-02T")


def test_no_cell_is_a_formula(home: StoreFolder, desk: Session, folder: Path) -> None:  # noqa: F811
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    cache.write_products([service_rows.product("P9", "=1+1")])
    press(desk, f"{TAB_KEY}products")
    assert "'=1+1" in [row[0] for row in exported(desk, folder)]


def test_a_terminal_without_files_says_why_and_a_browser_downloads(desk: Session, folder: Path) -> None:  # noqa: F811
    desk.profile.current = desk.profile.current._replace(may_export=False)
    press(desk, f"{TAB_KEY}orders")
    assert told(says(desk, "x"))[0] == "log.not_exported"
    offered: list[tuple[str, bytes]] = []
    accepts = True

    def offer(name: str, content: bytes) -> bool:
        offered.append((name, content))
        return accepts

    desk.terminal.offer_file = offer
    id_, args = told(says(desk, "x"))
    ((name, content),) = offered
    assert (id_, args["file"]) == ("list.exported", name)
    assert content.startswith(b"Order,")
    accepts = False
    id_, args = told(says(desk, "x"))
    assert (id_, args["why"]) == ("log.not_exported", str(msg("log.why_unread", count=3)))
    assert not [*folder.iterdir()]


def test_a_handheld_exports_nothing(desk: Session, folder: Path) -> None:  # noqa: F811
    press(desk, f"{TAB_KEY}orders")
    desk.resize(40, 20)
    says(desk, "x")
    assert not [*folder.iterdir()]


def printed(session: Session, folder: Path) -> list[str]:
    assert told(says(session, "P"))[0] == "pick_list.written"
    (path,) = folder.iterdir()
    text = path.read_text("utf-8")
    path.unlink()
    return text.splitlines()


def test_a_pick_list_has_the_open_lines_in_walking_order(home: StoreFolder, desk: Session, folder: Path) -> None:  # noqa: F811
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    lines = [
        {**service_rows.line(at, product, 3, picked), "preferred_location_code": place, "store_walking_order": walk}
        for at, (product, picked, place, walk) in enumerate(
            (("P1", 0, "B-1", 20), ("P2", 1, "A-1", 10), ("P2", 3, "A-2", 11)), 1
        )
    ]
    cache.write_orders([service_rows.order("4100", *lines)], lines_known=True, read_began=9.0)
    press(desk, f"{TAB_KEY}orders")
    says(desk, "4100")
    text = printed(desk, folder)
    rows = [line.split()[2:5] for line in text if "[ ]" in line]
    assert rows == [["A-1", "2", "P2"], ["B-1", "3", "P1"]]
    assert any("4100" in line for line in text)


def test_marked_orders_are_printed_as_a_batch_with_totes(desk: Session, folder: Path) -> None:  # noqa: F811
    press(desk, f"{TAB_KEY}orders")
    for key in ("down", "shift+down"):
        press(desk, key)
    text = printed(desk, folder)
    assert [line[:2] for line in text if "Order 41" in line] == ["A:", "B:"]
    assert {line.split()[2] for line in text if "[ ]" in line} == {"A", "B"}
    assert all(len(line) <= 80 for line in text)
