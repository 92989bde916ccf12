"""Texts of a service that a spreadsheet would carry out: in an export none is a formula, however it is opened."""

import csv
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aisle.cache.write_csv_file import write_csv
from aisle.jobs.job import Export
from tests.run_length import tries

COMMAND = "1+cmd|' /C calc'!A0"
STARTS = [
    "=", "+", "-", "@", "＝", "＋", "－", "＠", "﹦", "−", "\t=", "\r=", "\n=", " =", "  +", "\u00a0=", "\u3000＝",
    '"=', "\u200b=", "\ufeff=", "'=", ' "=', "x;=", "x; =", 'x;"=', "x;\t-", "x;;@", ";＝", 'x";=', "a,=", "a|=",
    "x;\u00a0=", "x;'=", "“=", "x;\u2009﹢",
]  # fmt: skip
COLUMNS = ("id", "reference", "comment", "quantity")
NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?")


def file_of(folder: Path, texts: list[str]) -> Path:
    """An export of rows with these texts."""
    rows = [{"id": text, "reference": text, "comment": f"{text},{text}", "quantity": -2} for text in texts]
    path = folder / "log.csv"
    path.unlink(missing_ok=True)
    asked = Export("exported", str(path), "log", {}, COLUMNS)

    def read(name: str, args: Any) -> tuple[list[dict[str, Any]], int]:
        return rows, len(rows)

    (said,) = write_csv(read, asked, allowed=True).rows
    assert (said["count"], said["why"]) == (len(texts), "")
    return path


def formulas(path: Path, separator: str) -> list[str]:
    """The cells that Excel takes for formulas where this separates them: a quote counts at the beginning of a cell
    alone; blanks before a sign, and wide signs, are taken as if they were not there."""
    with path.open(encoding="utf-8", newline="") as stream:
        cells = [cell for row in csv.reader(stream, delimiter=separator) for cell in row]
    bare = [normalize("NFKC", cell).replace("−", "-").strip().lstrip('"').strip() for cell in cells]
    return [cell for cell in bare if cell[:1] in tuple("=+-@") and not NUMBER.fullmatch(cell.rstrip('",'))]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_no_text_is_a_formula_by_the_rules_of_excel(tmp_path: Path, separator: str) -> None:
    for start in STARTS:
        path = file_of(tmp_path, [start + COMMAND, start + "HYPERLINK(1)"])
        assert formulas(path, separator) == [], ascii(start)


def test_what_was_written_is_still_read(tmp_path: Path) -> None:
    texts = ["a; b", "Müller - 5 %", "1;2", "x=y", "O'Neill", "a@b.example", 'say "hi"', "12-34"]
    with file_of(tmp_path, texts).open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["reference"] for row in rows] == texts
    assert {row["quantity"] for row in rows} == {"-2"}


@given(st.lists(st.text("=+-@;,|\"' \t＝－x1\u00a0\u200b", max_size=12), min_size=1, max_size=3))
@settings(max_examples=tries(60, 5000))
def test_whatever_they_are_made_of(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    path = file_of(tmp_path_factory.getbasetemp(), texts)
    assert [formulas(path, separator) for separator in ",;|"] == [[], [], []]


@pytest.mark.full
@pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice is not installed")
@pytest.mark.parametrize(
    "separators", ["44/59/9", *(pytest.param(one, marks=pytest.mark.full) for one in ("44", "59"))]
)
def test_no_text_is_a_formula_in_libreoffice(tmp_path: Path, separators: str) -> None:
    path = file_of(tmp_path, [start + "1+1" for start in STARTS])
    subprocess.run(
        [
            "soffice", f"-env:UserInstallation=file://{tmp_path / 'profile'}", "--headless",
            f"--infilter=CSV:{separators},34,76,1,,0,false,true,false,false", "--convert-to", "fods",
            "--outdir", str(tmp_path), str(path),
        ],
        check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    said = (tmp_path / "log.fods").read_text(encoding="utf-8")
    assert "HYPERLINK" not in said
    assert said.count("1+1") > len(STARTS)
    assert "table:formula" not in said
