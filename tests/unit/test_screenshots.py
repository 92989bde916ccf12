"""The pictures in README are those that the script takes, small, and say nothing of the machine or the day."""

from __future__ import annotations

import os
import re
import tempfile
from datetime import date
from pathlib import Path

from pyte.screens import Char

from tests.screenshots import BROWSER, FOLDER, SHOTS, _told

README = FOLDER.parent.parent / "README.md"


def test_every_picture_is_there_and_small() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {*(f"{shot.name}.svg" for shot in SHOTS), f"{BROWSER}.webp"}
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) <= 300 * 1024
    assert {(shot.columns, shot.rows) for shot in SHOTS} == {(20, 16), (40, 20), (80, 24), (160, 45), (200, 50)}
    shown = set(re.findall(r"\.github/screenshots/([\w-]+)\.svg", README.read_text(encoding="utf-8")))
    assert f"screenshots/{BROWSER}.webp" in README.read_text(encoding="utf-8")
    assert 3 <= len(shown) <= 4
    assert shown <= {shot.name for shot in SHOTS}


def test_pictures_say_nothing_of_this_machine() -> None:
    own = (tempfile.gettempdir(), str(Path.home()), str(README.parent), os.uname().nodename, "localhost", "127.0.0.1")
    for path in FOLDER.glob("*.svg"):
        text = path.read_text(encoding="utf-8")
        assert not [name for name in own if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)], path


def test_every_day_is_told_as_if_it_were_always_the_same() -> None:
    def told(text: str, today: date) -> str:
        return "".join(cell.data for cell in _told([Char(char) for char in text], today)).rstrip()

    assert told("late 19 Nov   Anna", date(2026, 11, 20)) == "late 3 Mar    Anna"
    assert told("1 Jan  Anna  2 Jan", date(2026, 12, 31)) == "5 Mar  Anna  6 Mar"
    assert told("for 9 May, 10:30  x", date(2026, 4, 20)) == "for 23 Mar, 10:30 x"
    assert told("March 4101  Mar", date(2026, 4, 20)) == "March 4101  Mar"
