"""The gate for untrusted text: what it lets through, and how wide that is."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from wcwidth import wcwidth

from aisle.terminal_text import (
    ASCII_ELLIPSIS,
    ELLIPSIS,
    MAX_LENGTH,
    ONE_CELL_TEXT,
    REPLACEMENT,
    cell_width,
    clean,
    fit,
    fit_end,
    fit_middle,
    fit_start,
    shorten_distinctly,
    to_ascii,
    width,
    wrap,
)

texts = st.text(st.characters(exclude_categories=()), max_size=60)


def harmless(text: str) -> bool:
    """True when no character of it can steer a terminal or hide."""
    kinds = {unicodedata.category(char) for char in text if char not in "\u200c\u200d"}
    return not kinds & {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("Cola 33 cl", "Cola 33 cl"),
        ("[/b] 50% [sale]", "[/b] 50% [sale]"),
        ("[@click=app.quit]x", "[@click=app.quit]x"),
        ("\x1b[31mred\x1b[0m", "�[31mred�[0m"),
        ("\x1b]52;c;aGk=\x07", "�]52;c;aGk=�"),
        ("\x9b2J\x85x", "�2J x"),
        ("\x00\x7f\x08", "���"),
        ("a\tb\nc\r\nd", "a b c  d"),
        ("line\u2028para\u2029end", "line para end"),
        ("abc\u202egpj.exe\u2066x\u2069", "abcgpj.exex"),
        ("\u200bzero\ufeff\u2060width\u00ad", "zerowidth"),
        ("tag\U000e0041\U000e007f", "tag"),
        ("\ud800lone", "�lone"),
        ("no\u00a0break\u3000wide", "no break wide"),
        ("\u0301mark first", "mark first"),
        ("e\u0301\u0302\u0303\u0304\u0305", "e\u0301\u0302\u0303"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("cli\u200dck \u200dx", "click x"),
        ("👩\u200d🌾 ❤\ufe0f", "👩🌾 ❤"),
        ("\ue000private", "�private"),
        ("Ærø Żółć 北京 สวัสดี", "Ærø Żółć 北京 สวัสดี"),
        ("", ""),
    ],
)
def test_clean_shows_what_may_be_shown(raw: str, shown: str) -> None:
    assert clean(raw) == shown


@given(texts)
@example("e\u0301\u0301\u0301\u200c\u0301")
@example(" \u200d\u0301")
@example("\u0628\u200d\u200c\u200e\u0628")
def test_clean_text_is_harmless_and_stays_as_it_is(raw: str) -> None:
    once = clean(raw)
    assert harmless(once)
    assert clean(once) == once
    assert "\n" not in once


@given(texts, st.integers(2, 30))
def test_clean_keeps_to_its_limit(raw: str, limit: int) -> None:
    once = clean(raw, limit)
    assert len(once) <= limit
    assert clean(once, limit) == once


def test_a_megabyte_is_cut_with_a_mark() -> None:
    assert clean("x" * 1_000_000) == "x" * (MAX_LENGTH - 1) + ELLIPSIS
    assert len(clean("\u200b" * 1_000_000 + "x")) <= MAX_LENGTH
    assert clean("ä" * 1_000_000).endswith(ELLIPSIS)


def test_width_is_what_terminals_take() -> None:
    """Never less than a terminal takes; more only where terminals disagree."""
    wider = []
    for code in range(0x20, 0x30000):
        char = chr(code)
        if clean(char) != char:
            continue
        told, taken = cell_width(char), wcwidth(char)
        assert told >= taken, hex(code)
        if told > taken:
            wider.append(unicodedata.category(char))
    assert set(wider) <= {"Mc", "Lo"}
    assert len(wider) < 600


@pytest.mark.parametrize(
    ("text", "cells"), [("", 0), ("abc", 3), ("北京", 4), ("e\u0301", 1), ("ｆｕｌｌ", 8), (REPLACEMENT, 1), ("☰", 2)]
)
def test_width(text: str, cells: int) -> None:
    assert width(text) == cells


@pytest.mark.parametrize(
    ("text", "cells", "fitted"),
    [
        ("Cola", 4, "Cola"),
        ("Cola Zero", 6, "Cola…"),
        ("Cola Zero", 5, "Cola…"),
        ("北京烤鸭", 5, "北京…"),
        ("北京烤鸭", 4, "北…"),
        ("e\u0301e\u0301e\u0301", 2, "e\u0301…"),
        ("x", 0, ""),
        ("xy", 1, "…"),
        ("xy", -3, ""),
    ],
)
def test_fit_cuts_at_a_cell_and_says_so(text: str, cells: int, fitted: str) -> None:
    assert fit(text, cells) == fitted


@given(texts, st.integers(0, 40))
def test_fit_takes_the_room_it_is_given(raw: str, cells: int) -> None:
    text = clean(raw)
    assert width(fit(text, cells)) <= cells
    assert width(fit(text, cells, pad=True)) == cells
    assert width(fit_end(text, cells)) <= cells
    assert width(fit_start(text, cells)) <= cells
    if width(text) > cells > 0:
        assert fit(text, cells).endswith(ELLIPSIS)
        assert fit_end(text, cells).startswith(ELLIPSIS)


def test_the_end_of_what_is_typed_stays_in_sight() -> None:
    assert fit_end("8712345678906", 6) == "…78906"
    assert fit_end("8712", 6) == "8712"
    assert fit_end("8712345678906", 6, mark=ASCII_ELLIPSIS) == "~78906"


def test_a_long_name_in_wide_characters_is_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def counted(char: str) -> int:
        asked.append(char)
        return cell_width(char)

    monkeypatch.setattr("aisle.terminal_text.cell_width", counted)
    assert fit_end("北" * MAX_LENGTH + "12", 7) == "…北北12"
    assert len(asked) < 2 * MAX_LENGTH


@pytest.mark.parametrize(
    ("text", "cells", "rows", "lines"),
    [
        ("Cola Zero 33 cl", 20, 2, ["Cola Zero 33 cl"]),
        ("Cola Zero 33 cl", 9, 2, ["Cola Zero", "33 cl"]),
        ("Cola Zero 33 cl cans", 9, 2, ["Cola Zero", "33 cl ca…"]),
        ("Donaudampfschiff", 6, 3, ["Donaud", "ampfsc", "hiff"]),
        ("北京 烤鸭", 5, 2, ["北京", "烤鸭"]),
        ("北京", 1, 2, ["北", "…"]),
        ("", 5, 2, []),
        ("abc", 5, 0, []),
        ("Où était Cola ?", 13, 2, ["Où était", "Cola ?"]),
        ("pour « Cola »", 11, 3, ["pour", "« Cola »"]),
        ("abc ? !", 4, 2, ["abc", "? !"]),
    ],
)
def test_wrap(text: str, cells: int, rows: int, lines: list[str]) -> None:
    assert wrap(text, cells, rows) == lines


@given(texts, st.integers(2, 30), st.integers(1, 5))
def test_wrap_keeps_to_its_box_and_loses_nothing_unmarked(raw: str, cells: int, rows: int) -> None:
    text = clean(raw)
    lines = wrap(text, cells, rows)
    assert len(lines) <= rows
    assert all(width(line) <= cells for line in lines)
    if not (lines and lines[-1].endswith(ELLIPSIS)):
        assert "".join(lines).replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Crème brûlée", "Creme brulee"),
        ("Straße Łódź Ærø", "Strasse Lodz Aero"),
        ("½ l · 3 × 5 …", "1/2 l - 3 x 5 ~"),
        ("━━──│█░", "==--|#."),
        ("北京", "??"),
        ("€ 5", "EUR 5"),
        (REPLACEMENT, "?"),
        ("می\u200cخ", "???"),
    ],
)
def test_fold_to_ascii(text: str, folded: str) -> None:
    assert to_ascii(text) == folded


@given(texts)
def test_folded_text_is_plain(raw: str) -> None:
    folded = to_ascii(clean(raw))
    assert folded.isascii()
    assert folded.isprintable()


def test_names_that_begin_alike_differ_after_a_cut() -> None:
    names = ["Hillmoor Müsli Berry No added sugar", "Hillmoor Müsli Berry Nut"]
    for cells in range(14, 40):
        cut = [fit_middle(name, cells) for name in names]
        assert cut[0] != cut[1]
        assert all(width(text) <= cells for text in cut)
    assert fit_middle("Cola Zero 33 cl can", 12) == "Cola Zer…can"
    assert fit_middle("Cola Zero 33 cl can", 5) == "Cola…"
    assert fit_middle("Cola", 4) == "Cola"


@pytest.mark.parametrize(
    ("name", "cells", "shown"),
    [
        ("Coca-Cola Zero 2 L", 9, "Coca-…2 L"),
        ("Coca-Cola Zero 2 L", 13, "Coca-Cola…2 L"),
        ("Hillmoor Müsli Berry 500 g", 9, "Hil…500 g"),
        ("Hillmoor Müsli Berry 500 g", 8, "Hillmoo…"),
        ("Hillmoor Cola Zero 12x330 ml", 15, "Hillm…12x330 ml"),
        ("CONFITURE FRAISE 370G", 9, "CONF…370G"),
        ("Cola Zero 33 cl can", 18, "Cola Zer…33 cl can"),
    ],
)
def test_a_size_at_the_end_is_whole_or_is_not_there(name: str, cells: int, shown: str) -> None:
    """`…L` is the end of one litre and of two."""
    assert fit_middle(name, cells) == shown


@given(st.text(max_size=60), st.integers(0, 40))
def test_both_ends_never_run_over(text: str, cells: int) -> None:
    text = clean(text)
    assert width(fit_middle(text, cells)) <= cells
    cells = max(1, cells)
    assert wrap(text, cells, 1, middle=True) == ([fit_middle(text.strip(), cells)] if text.strip() else [])


@pytest.mark.parametrize(
    ("cells", "shown"),
    [
        (8, ["L…250 ml", "…Dry 25…", "…Kids 2…", "Oat…1 kg"]),
        (14, ["Lindén…250 ml", "Lin…Dry 250 ml", "Li…Kids 250 ml", "Oats 1 kg"]),
        (40, ["Lindén Shampoo 250 ml", "Lindén Shampoo Dry 250 ml", "Lindén Shampoo Kids 250 ml", "Oats 1 kg"]),
    ],
)
def test_common_part_of_names_is_cut_first(cells: int, shown: list[str]) -> None:
    names = ["Lindén Shampoo 250 ml", "Lindén Shampoo Dry 250 ml", "Lindén Shampoo Kids 250 ml", "Oats 1 kg"]
    assert shorten_distinctly(names, cells) == shown


@pytest.mark.parametrize(
    ("kinds", "cells", "shown"),
    [
        (["Sea salt 100 g", "Sea salt 200 g", "Sea salt 500 g"], 8, ["Hi…100 g", "Hi…200 g", "Hi…500 g"]),
        (["Hazelnut 100 g", "Sea salt 100 g", "Sea salt 500 g"], 10, ["…Haz…100 g", "…Sea…100 g", "Hill…500 g"]),
        (["Hazelnut 100 g", "Sea salt 100 g", "Sea salt 500 g"], 12, ["…Hazel…100 g", "…Sea s…100 g", "Hillmo…500 g"]),
        (["Sea salt 100 g", "Sea salt 200 g"], 7, ["H…100 g", "H…200 g"]),
    ],
)
def test_distinguishing_part_of_names_keeps_its_size(kinds: list[str], cells: int, shown: list[str]) -> None:
    assert shorten_distinctly([f"Hillmoor Chocolate {kind}" for kind in kinds], cells) == shown


@given(st.lists(st.text(max_size=30).map(clean), max_size=6), st.integers(0, 40))
def test_names_told_apart_stay_in_their_cells(names: list[str], cells: int) -> None:
    shown = shorten_distinctly(names, cells)
    assert len(shown) == len(names)
    assert all(width(text) <= cells for text in shown)
    assert all(text == name for text, name in zip(shown, names, strict=True) if width(name) <= cells)


def test_one_cell_text_has_one_cell_a_character() -> None:
    narrow = [chr(code) for code in range(0x20, 0x3000) if ONE_CELL_TEXT.fullmatch(chr(code))]
    assert len(narrow) > 1000
    assert not [hex(ord(char)) for char in narrow if cell_width(char) != 1]
