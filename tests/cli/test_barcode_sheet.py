"""The sheet of command barcodes: its bars are read back here the way a scanner reads them."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from aisle.cli import main
from aisle.cli.barcode_sheet import MODULE_MM, QUIET_ZONE
from aisle.jobs.collect_batch import BatchJob, BatchOrder, BatchState
from aisle.jobs.job import Context
from aisle.scan.grammar import PRINTED_COMMANDS, PRINTED_LETTERS
from aisle.scan.grammar_and_meaning_types import UnknownCode

# Widths of bars and spaces for the values 0 to 106 of Code 128 (ISO/IEC 15417, table 1).
_TABLE = """
212222 222122 222221 121223 121322 131222 122213 122312 132212 221213 221312 231212 112232 122132 122231 113222 123122
123221 223211 221132 221231 213212 223112 312131 311222 321122 321221 312212 322112 322211 212123 212321 232121 111323
131123 131321 112313 132113 132311 211313 231113 231311 112133 112331 132131 113123 113321 133121 313121 211331 231131
213113 213311 213131 311123 311321 331121 312113 312311 332111 314111 221411 431111 111224 111422 121124 121421 141122
141221 112214 112412 122114 122411 142112 142211 241211 221114 413111 241112 134111 111242 121142 121241 114212 124112
124211 411212 421112 421211 212141 214121 412121 111143 111341 131141 114113 114311 411113 411311 113141 114131 311141
411131 211412 211214 211232
"""
PATTERNS = _TABLE.split()
STOP = "2331112"
START_B, START_C, TO_B, TO_C = 104, 105, 100, 99


class Sheet(HTMLParser):
    """The drawings of the page: label, width in modules, and the (x, width) of their bars."""

    def __init__(self) -> None:
        super().__init__()
        self.drawings: list[tuple[str, int, list[tuple[int, int]]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        has = {name: value or "" for name, value in attrs}
        if tag == "svg":
            self.drawings.append((has["aria-label"], int(has["viewbox"].split()[2]), []))
        elif tag == "rect":
            self.drawings[-1][2].append((int(has["x"]), int(has["width"])))

    def handle_data(self, data: str) -> None:
        self.text.append(data.strip())


def decoded(bars: list[tuple[int, int]]) -> str:
    """What the bars say; their check character has to be right."""
    widths = []
    for at, (x, width) in enumerate(bars):
        widths.append(width)
        if at + 1 < len(bars):
            widths.append(bars[at + 1][0] - x - width)
    signs = "".join(str(width) for width in widths)
    assert signs.endswith(STOP)
    body = signs[: -len(STOP)]
    values = [PATTERNS.index(body[at : at + 6]) for at in range(0, len(body), 6)]
    start, *data, check = values
    assert start in (START_B, START_C)
    assert check == (start + sum(place * value for place, value in enumerate(data, 1))) % 103
    pairs, text = start == START_C, ""
    for value in data:
        if value == (TO_B if pairs else TO_C):
            pairs = not pairs
        else:
            text += f"{value:02}" if pairs else chr(value + 32)
    return text


def sheet(capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["sheet"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return str(out)


def test_every_command_has_a_readable_barcode(capsys: pytest.CaptureFixture[str]) -> None:
    page = Sheet()
    page.feed(sheet(capsys))
    assert [label for label, _, _ in page.drawings] == [*PRINTED_COMMANDS, *PRINTED_LETTERS]
    for label, wide, bars in page.drawings:
        assert decoded(bars) == label
        assert label in page.text
        assert bars[0][0] >= QUIET_ZONE
        assert wide - sum(bars[-1]) >= QUIET_ZONE
        assert wide * MODULE_MM < 85, "two of them and a gap have to fit beside each other on A4 and on Letter"


def test_labels_of_totes_are_readable_and_taken_by_a_batch(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sheet", "--totes", "12"]) == 0
    page = Sheet()
    page.feed(capsys.readouterr().out)
    labels = [label for label, _, _ in page.drawings]
    assert labels == [f"TOTE-{number}" for number in range(1, 13)]
    assert [decoded(bars) for _, _, bars in page.drawings] == labels
    assert set(labels) <= set(page.text)
    job, state = BatchJob(), BatchState(tuple(BatchOrder(f"41{number:02}") for number in range(12)))
    for count, label in enumerate(labels, 1):
        turn = job.handle(state._replace(orders=state.orders[:count]), UnknownCode(label), Context())
        assert turn.verdict
        assert turn.verdict.text.id == "batch.tote"
        state = state._replace(orders=(*turn.state.orders, *state.orders[count:]))


@pytest.mark.parametrize("count", ["0", "-1", "1000", "x", ""])
def test_a_wrong_number_of_totes_is_told(capsys: pytest.CaptureFixture[str], count: str) -> None:
    assert main(["sheet", "--totes", count]) == 2
    assert "--totes" in capsys.readouterr().err


def test_words_stand_beside_the_bars(capsys: pytest.CaptureFixture[str]) -> None:
    page = Sheet()
    page.feed(sheet(capsys))
    for word in ("Back", "Next", "Undo", "Done", "Help", "OK (Enter)", "Number 1", "Number 9", "Letter y", "Sign out"):
        assert word in page.text


def test_the_page_needs_nothing_from_elsewhere(capsys: pytest.CaptureFixture[str]) -> None:
    page = sheet(capsys)
    assert "//" not in page
    assert not re.search(r"<(?:script|link|img|iframe)|url\(|@import|\ssrc=|\shref=", page)


def test_it_is_written_to_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "commands.html"
    assert main(["sheet", "--out", str(out)]) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert str(out) in said.err
    assert out.read_text(encoding="utf-8") == sheet(capsys)


def test_a_file_that_cannot_be_written_is_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["sheet", "--out", str(tmp_path / "nowhere" / "commands.html")]) == 1
    assert "cannot be written: No such file or directory" in capsys.readouterr().err


def test_the_library_is_loaded_for_the_sheet_alone() -> None:
    program = (
        "import sys, aisle.cli.commands, aisle.cli.barcode_sheet, aisle.cli.open_app; print('barcode' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
