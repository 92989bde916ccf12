"""`python -m tests.screenshots [FOLDER]`: the pictures in README, taken from the running app over the demo store.

Days are told as if it were always the same one, so that a picture changes only when the app does.
"""

from __future__ import annotations

import asyncio
import base64
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, NamedTuple

from pyte.screens import Char

from aisle.messages.messages_of_language import LANGUAGE_FORMATS
from tests.terminal.browser import Web
from tests.terminal.chromium import opened
from tests.terminal.harness import Terminal
from tests.terminal.lifeline import Lifeline, foreign_names
from tests.terminal.picker import Picker
from tests.terminal.picture import picture
from tests.terminal.shop import made_once, settle

FOLDER = Path(__file__).parent.parent / ".github" / "screenshots"

TODAY = date(2026, 3, 4)
"""The day on every picture."""

MONTHS = LANGUAGE_FORMATS["en"].months
_DAY = re.compile(rf"\b(\d{{1,2}}) ({'|'.join(MONTHS)})\b")
_SPARE = re.compile(r" {2,}|$")

Steps = Callable[[Picker], Any]


class Shot(NamedTuple):
    """One picture: how large the terminal is, who works there, what is typed, and what is seen then."""

    name: str
    columns: int
    rows: int
    who: str
    typed: tuple[str, ...]
    shows: tuple[str, ...]
    settings: str = ""


SHOTS = (
    Shot("pick-20x16", 20, 16, "anna", ("4113",), ("0 picked",)),
    Shot("product-40x20", 40, 20, "anna", ("2", "110001"), ("110001",)),
    Shot("home-80x24", 80, 24, "anna", (), ("1 Pick next", "Scan anything")),
    Shot("commands-80x24", 80, 24, "anna", ("4113", "."), ("Commands", "Key here"), 'theme = "dark"\n'),
    Shot("today-160x45", 160, 45, "fred", (), ("Late orders", "Latest entries"), 'theme = "dark"\n'),
    Shot("board-200x50", 200, 50, "fred", ("b", "7", "3"), ("4101", "Fred")),
)


class Still(NamedTuple):
    """A screen that was taken from a terminal."""

    cols: int
    rows: int
    cells: list[list[Char]]


def still(terminal: Terminal, today: date) -> Still:
    """The screen as it stands, on the day of all pictures."""
    return Still(terminal.cols, terminal.rows, [_told(row, today) for row in terminal.cells])


def _told(row: list[Char], today: date) -> list[Char]:
    """A row with its days told; what follows a day that is shorter or longer keeps its column."""
    text = "".join(cell.data or " " for cell in row)
    if len(text) != len(row):
        return row
    for found in reversed(list(_DAY.finditer(text))):
        told = _moved(found, today)
        end = found.end()
        more = len(told) - (end - found.start())
        spare = _SPARE.search(text, end)
        stop = spare.start() if spare else end
        middle = text[end:stop]
        text = text[: found.start()] + told + middle + (" " * -more if more < 0 else "") + text[stop + max(0, more) :]
    return [cell._replace(data=char) for cell, char in zip(row, text.ljust(len(row)), strict=False)]


def _moved(found: re.Match[str], today: date) -> str:
    day, month = int(found[1]), MONTHS.index(found[2]) + 1
    near = [date(today.year + years, month, day) for years in (-1, 0, 1) if (month, day) != (2, 29)] or [today]
    meant = min(near, key=lambda each: abs(each - today))
    moved = TODAY + (meant - today)
    return f"{moved.day} {MONTHS[moved.month - 1]}"


@contextmanager
def at_work(shot: Shot, template: Path, folder: Path, lifeline: Lifeline) -> Iterator[Picker]:
    """The app in a terminal, in a copy of the demo store's home."""
    home = folder / shot.name
    settle(template, home)
    (home / "settings.toml").write_text(shot.settings, encoding="utf-8")
    terminals: list[Terminal] = []
    own: dict[str, str | None] = {
        **dict.fromkeys(name for name in foreign_names() if name != "TERM"),
        "AISLE_HOME": str(home),
        "AISLE_LIFELINE_FD": str(lifeline.fd),
        "AISLE_ALLOW_VOLATILE": "1",
        "TZ": "UTC",
        "COLORTERM": "truecolor",
    }

    def start(argv: list[str], columns: int, rows: int, env: dict[str, str | None]) -> Terminal:
        terminals.append(Terminal(argv, columns, rows, {**own, **env}))
        return terminals[0]

    try:
        yield Picker(start, folder / f"{shot.name}.jsonl", columns=shot.columns, rows=shot.rows)
    finally:
        for terminal in terminals:
            terminal.close()


def take(shot: Shot, template: Path, folder: Path, lifeline: Lifeline, target: Path) -> Path:
    """Takes one picture; its path."""
    with at_work(shot, template, folder, lifeline) as app:
        app.shows("Sign in", "live")
        app.enter(shot.who)
        app.shows("live", shot.who.capitalize() if shot.columns > 40 else "1 ")
        for text in shot.typed:
            app.enter(text)
        app.shows("live", *shot.shows)
        app.terminal.wait_quiet(500)
        return picture(still(app.terminal, datetime.now(UTC).date()), target / f"{shot.name}.svg")


BROWSER = "browser-1400x900"
"""Name of the picture that a Chromium takes."""


async def take_browser(program: str, template: Path, folder: Path, lifeline: Lifeline, target: Path) -> Path:
    """Takes the order board in a Chromium; its path."""
    home = folder / BROWSER
    settle(template, home)
    for name in foreign_names():
        os.environ.pop(name, None)
    os.environ |= {"AISLE_HOME": str(home), "AISLE_LIFELINE_FD": str(lifeline.fd), "AISLE_ALLOW_VOLATILE": "1"}
    with Web() as web:
        async with opened(program, folder / "chromium") as browser:
            page = await browser.page()
            await page.open(web.url, "/orders")
            await page.shows("Gus Hale", "Tom Moss", "live")
            await page.click("Tom Moss")
            await page.shows("Tom Moss · 4104", "live · data")
            content = await page.do("Page.captureScreenshot", format="webp", quality=60)
    path = target / f"{BROWSER}.webp"
    path.write_bytes(base64.b64decode(content["data"]))
    return path


def main(target: Path) -> None:
    """Takes all of them."""
    target.mkdir(parents=True, exist_ok=True)
    lifeline = Lifeline()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        os.environ["TZ"] = "UTC"
        template = made_once(folder / "template", ["sync"])
        try:
            for shot in SHOTS:
                path = take(shot, template, folder, lifeline, target)
                print(f"{path.name}: {path.stat().st_size // 1024} kB")
            if program := shutil.which("chromium"):
                path = asyncio.run(take_browser(program, template, folder, lifeline, target))
                print(f"{path.name}: {path.stat().st_size // 1024} kB")
        finally:
            lifeline.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else FOLDER)
