"""The app without a terminal: its order of calls, and the picture that Textual itself would draw."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from aisle.jobs.view import Frame
from aisle.scan.inputs import DecodedInput, Line
from aisle.tui.app import RETRY_S, AisleApp
from aisle.tui.layout.screen import layout_screen
from aisle.tui.layout.styled_lines import plain_lines
from aisle.tui.line_widgets import WIDGETS, LinesWidget
from tests.samples.registry import SAMPLES

TAKEN = next(sample for sample in SAMPLES if sample.state == "taken")


class Desk:
    """Counts its calls."""

    def __init__(self) -> None:
        self.is_ending = False
        self.bells = 0
        self.calls: list[str] = []
        self.frame = TAKEN.build("")

    def start(self) -> Frame:
        self.calls.append("start")
        return self.frame

    def take(self, items: Sequence[DecodedInput], at: float) -> Frame:
        self.calls.append(f"take {len(items)}")
        self.frame = self.frame._replace(scan_serial=self.frame.scan_serial + len(items))
        return self.frame

    def poll(self, *, notified: bool = False) -> Frame | None:
        return None

    def resize(self, columns: int, rows: int) -> Frame:
        self.calls.append(f"resize {columns}x{rows}")
        return self.frame

    def confirm_pin(self, token: str, valid_until: float) -> None:
        """Nobody is asked for a PIN here."""

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


def text_of(app: AisleApp) -> list[str]:
    """The lines that the widgets draw."""
    widgets = app.screen.query(LinesWidget).results()
    return [widget.render_line(y).text.rstrip() for widget in widgets for y in range(widget.size.height)]


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


async def test_screen_has_a_widget_for_each_part() -> None:
    app = open_app(Desk())
    async with app.run_test(size=(40, 20)):
        found = [(type(widget), widget.region.y, widget.region.height) for widget in app.screen.query(LinesWidget)]
        assert [kind for kind, _, _ in found] == list(WIDGETS)
        assert sum(height for _, _, height in found) == 20
        assert [y for _, y, _ in found] == sorted(y for _, y, _ in found)


async def test_input_is_welcome_after_the_first_paint_and_not_before() -> None:
    desk = Desk()
    app = open_app(desk, lambda: desk.calls.append(f"first paint, ready: {app.ready_for_input}"))
    assert not app.ready_for_input
    async with app.run_test(size=(40, 20)) as pilot:
        await pilot.pause()
        assert desk.calls == ["start", "resize 40x20", "first paint, ready: True"]


async def test_a_resize_is_told_once_and_drawn_at_its_size() -> None:
    desk = Desk()
    app = open_app(desk)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.resize_terminal(20, 16)
        assert [call for call in desk.calls if "resize" in call] == ["resize 80x24", "resize 20x16"]
        await pilot.pause()
        assert text_of(app) == plain_lines(layout_screen(desk.frame, 20, 16))


async def test_leaving_ends_the_app() -> None:
    desk = Desk()
    app = open_app(desk)
    async with app.run_test(size=(40, 20)):
        desk.is_ending = True
        app.take(scans(1), 1.0)
    assert app.return_code == 0
    assert app.return_value == 0


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
