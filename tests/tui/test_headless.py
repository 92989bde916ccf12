"""The app without a terminal: its order of calls, and the picture that Textual itself would draw."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from aisle.jobs.view import Frame
from aisle.scan.inputs_and_line_grouping import DecodedInput, Line
from aisle.tui.app import RETRY_S, AisleApp
from aisle.tui.layout.screen import layout_parts
from aisle.tui.layout.styled_lines_and_page_parts import BOARD, CHART, DASHBOARD, LIST, RECORD, RECORD_WITH_SIDE, STEP
from aisle.tui.widgets.page_widgets import LinesWidget
from tests.samples.registry import SAMPLES

TAKEN = next(sample for sample in SAMPLES if sample.state == "taken")


class Desk:
    """Counts its calls."""

    def __init__(self) -> None:
        self.is_ending = False
        self.bells = 0
        self.calls: list[str] = []
        self.frame = TAKEN.build("")

    def start(self, size: tuple[int, int] | None = None) -> Frame:
        self.calls.append("start")
        return self.frame

    def take(self, items: Sequence[DecodedInput], at: float) -> Frame:
        self.calls.append(f"take {len(items)}")
        self.frame = self.frame._replace(
            scan_serial=self.frame.scan_serial + len(items), verdict_repeats=self.frame.verdict_repeats + 1
        )
        return self.frame

    def poll(self, *, notified: bool = False) -> Frame | None:
        return None

    def resize(self, columns: int, rows: int) -> Frame:
        self.calls.append(f"resize {columns}x{rows}")
        return self.frame

    def confirm_pin(self, token: str, valid_until: float) -> None:
        """Nobody is asked for a PIN here."""

    def accept_downloads(self, offer: Callable[[str, bytes], bool]) -> None:
        """Nothing is exported here."""

    def on_painted(self, serials: Sequence[int], at: float) -> None:
        self.calls.append(f"painted {len(serials)}")

    def fileno(self) -> int | None:
        return None

    def close(self) -> None:
        self.calls.append("close")


def scans(count: int) -> list[DecodedInput]:
    return [Line(f"87100000{number:05}", "cr", 0.0, 0.0, 0.0) for number in range(count)]


def open_app(desk: Desk, on_first_paint: Callable[[], None] | None = None) -> AisleApp:
    return AisleApp(desk, desk.start(), on_first_paint=on_first_paint)


async def test_a_batch_is_one_take_and_one_paint() -> None:
    desk = Desk()
    app = open_app(desk)
    async with app.run_test(size=(40, 20)) as pilot:
        desk.calls.clear()
        app.take(scans(100), 1.0)
        await pilot.pause()
        assert desk.calls == ["take 100", "painted 100"]
        app.take(scans(1), 2.0)
        await pilot.pause()
        assert desk.calls[2:] == ["take 1", "painted 1"]


KINDS = ((STEP, (40, 20)), (LIST, (40, 20)), (BOARD, (120, 40)), (RECORD, (40, 20)), (CHART, (80, 24)))
"""Kinds of pages, and a size of each."""


@pytest.mark.parametrize(("kind", "size"), [*KINDS, (RECORD_WITH_SIDE, (200, 50)), (DASHBOARD, (200, 50))])
async def test_each_kind_of_page_has_a_screen_whose_widgets_fill_it(kind: str, size: tuple[int, int]) -> None:
    frames = (sample.build("") for sample in SAMPLES)
    frame = next(frame for frame in frames if layout_parts(frame, *size).page.kind == kind)
    desk = Desk()
    app = open_app(desk)
    async with app.run_test(size=size) as pilot:
        app.show(frame)
        await pilot.pause()
        assert app.current_mode == kind
        shown = [widget.region for widget in app.screen.query(LinesWidget) if widget.display]
        assert sum(region.area for region in shown) == size[0] * size[1]
        assert shown[0].y == 0
        assert {region.right for region in shown} >= {size[0]}


class Unkept(Desk):
    """Nothing can be kept until it was looked three times."""

    def __init__(self) -> None:
        super().__init__()
        self.looks = 0
        self.frame = self.frame._replace(link=self.frame.link._replace(state="live"))

    def take(self, items: Sequence[DecodedInput], at: float) -> Frame:
        self.frame = super().take(items, at)._replace(link=self.frame.link._replace(state="unkept"))
        return self.frame

    def poll(self, *, notified: bool = False) -> Frame | None:
        self.looks += 1
        state = "unkept" if self.looks < 3 else "live"
        self.frame = self.frame._replace(link=self.frame.link._replace(state=state))
        return self.frame if self.looks != 2 else None


async def test_while_nothing_can_be_kept_it_is_looked_again_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    assert RETRY_S <= 2.0, "an alarm that is over may stand for two seconds"
    monkeypatch.setattr("aisle.tui.app.POLL_S", 3600.0)
    monkeypatch.setattr("aisle.tui.app.RETRY_S", 0.01)
    desk = Unkept()
    app = open_app(desk)
    async with app.run_test(size=(40, 20)) as pilot:
        await pilot.pause(0.1)
        assert desk.looks == 0
        app.take(scans(1), 1.0)
        for _ in range(500):
            if app.frame.link.state == "live":
                break
            await pilot.pause(0.01)
        assert app.frame.link.state == "live"
        await pilot.pause(0.1)
        assert desk.looks == 3, "then it is not looked more often than usual"


async def test_a_click_below_the_lines_of_a_changed_page_is_none() -> None:
    app = open_app(Desk())
    async with app.run_test(size=(40, 20)):
        body = app.page_screen.body
        body.show([[("4104", "cell-dim")]])
        assert body.click_target(0, 1) is None
