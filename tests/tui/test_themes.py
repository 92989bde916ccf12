"""Colours of their own can be read by everybody, wherever they are shown; NO_COLOR takes all of them away."""

from __future__ import annotations

import pytest
from rich.color import Color, ColorSystem
from rich.style import Style

from aisle.cli.open_app import has_256_colours
from aisle.settings.setting_definitions import THEMES
from aisle.tui.app import AisleApp
from aisle.tui.themes import ROLE_STYLES
from aisle.tui.widgets.page_widgets import LinesWidget
from tests.tui.test_headless import Desk

LEAST = {"light": 4.5, "dark": 4.5, "contrast": 7.0}
"""WCAG 2: the contrast of text to its ground, AA and AAA."""


def luminance(color: Color) -> float:
    """Relative luminance, from 0 to 1."""
    parts = [part / 255 for part in color.get_truecolor()]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(ink: Color, ground: Color) -> float:
    """From 1 to 21."""
    light, dark = sorted((luminance(ink), luminance(ground)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_the_scale() -> None:
    assert contrast(Color.parse("#000000"), Color.parse("#ffffff")) == pytest.approx(21)
    assert contrast(Color.parse("#777777"), Color.parse("#ffffff")) == pytest.approx(4.48, abs=0.01)


def open_app(theme: str, *, colourless: bool = False) -> AisleApp:
    desk = Desk()
    desk.frame = desk.frame._replace(theme=theme)
    return AisleApp(desk, desk.start(), is_colourless=colourless)


def looks(app: AisleApp) -> dict[str, Style]:
    """How each role looks; the empty one is plain text."""
    widget = next(app.screen.query(LinesWidget).results())
    return {role: widget.role_style(role) for role in ("", *ROLE_STYLES)}


@pytest.mark.parametrize("system", [ColorSystem.TRUECOLOR, ColorSystem.EIGHT_BIT], ids=lambda system: system.name)
async def test_every_role_of_a_theme_can_be_read(system: ColorSystem) -> None:
    assert set(LEAST) == set(THEMES)
    for theme, least in LEAST.items():
        app = open_app(theme)
        async with app.run_test(size=(40, 20)):
            for role, look in looks(app).items():
                assert look.color is not None, (theme, role)
                assert look.bgcolor is not None, (theme, role)
                assert not any((look.dim, look.reverse)), (theme, role)
                ratio = contrast(look.color.downgrade(system), look.bgcolor.downgrade(system))
                assert ratio >= least, (theme, role, round(ratio, 2))


async def test_a_theme_is_put_on_and_off_while_it_runs() -> None:
    worn = {}
    for theme in ("", *THEMES):
        app = open_app(theme)
        async with app.run_test(size=(40, 20)) as pilot:
            await pilot.pause()
            worn[theme] = looks(app)
    assert worn[""][""] == Style.null()
    app = open_app("")
    async with app.run_test(size=(40, 20)) as pilot:
        for theme in (*THEMES, "", *THEMES, ""):
            app.show(app.frame._replace(theme=theme))
            await pilot.pause()
            assert looks(app) == worn[theme], "as one that was there from the start"


@pytest.mark.parametrize("theme", ["", "dark"])
async def test_no_color_means_none(theme: str) -> None:
    app = open_app(theme, colourless=True)
    async with app.run_test(size=(40, 20)):
        found = looks(app)
        assert all(look.color is None and look.bgcolor is None for look in found.values())
        assert found["verdict-wrong"].reverse
        assert found["title"].bold


@pytest.mark.parametrize(
    ("environ", "many"),
    [
        ({"TERM": "xterm-256color"}, True),
        ({"TERM": "xterm", "COLORTERM": "truecolor"}, True),
        ({"TERM": "linux"}, False),
        ({"TERM": "vt220"}, False),
        ({}, False),
    ],
)
def test_a_theme_is_for_terminals_with_its_colours(environ: dict[str, str], many: bool) -> None:
    assert has_256_colours(environ) is many
