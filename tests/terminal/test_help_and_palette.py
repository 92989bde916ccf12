"""Help, the list of commands and themes in a real terminal, against the real service."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.terminal.picker import Picker
from tests.terminal.shop import Shop

pytestmark = pytest.mark.pty


def test_help_and_commands_in_the_middle_of_an_order(
    shop: Shop, picker: Callable[..., Picker], aisle_home: Path
) -> None:
    (aisle_home / "settings.toml").write_text('[keys]\nf8 = "commands"\nz = "help"\n')
    first, second = shop.goods(2)
    shop.add_order("HELP-1", [(first["product_number"], 2), (second["product_number"], 1)])
    app = picker(columns=20, rows=16)
    app.sign_in()
    app.shows("HELP-1")
    app.take("HELP-1", "pick.product", "pick.opened")
    lines = shop.lines("HELP-1")
    assert app.enter("h")["step"] == "help"
    app.shows("Help", "1/", "Pick the product")
    app.enter("n")
    app.shows("2/")
    app.take(lines[0].code, "pick.product", "pick.picked")
    assert app.enter("z")["step"] == "help"
    assert app.enter("b")["step"] == "pick.product"
    app.terminal.write(b"\x1b[19~")
    app.shows("Commands", "Number or words")
    app.terminal.write(b"scan")
    app.shows("Test the scanner")
    app.terminal.write(b"\x7f\x7f\x7f\x7f")
    app.take(lines[0].code, "pick.product", "pick.picked")


@pytest.mark.full
def test_a_theme_covers_all_of_the_screen_and_is_changed_by_its_name(
    shop: Shop, picker: Callable[..., Picker], aisle_home: Path
) -> None:
    (aisle_home / "settings.toml").write_text('theme = "light"\n')
    app = picker(columns=80, rows=24)
    app.sign_in()
    app.terminal.wait_for(lambda glass: "ffffff" in grounds(glass) and "default" not in grounds(glass))
    app.enter(".")
    app.enter("high contrast")
    app.shows("Colours: high contrast, next time too")
    app.terminal.wait_for(lambda glass: "000000" in grounds(glass) and "default" not in grounds(glass))


def grounds(glass: object) -> set[str]:
    """The colours behind the text of a screen, the bands of what is said left out."""
    cells = glass.cells  # type: ignore[attr-defined]
    return {row[-1].bg for row in cells} & {row[0].bg for row in cells}


@pytest.mark.full
def test_no_color_is_heard(shop: Shop, picker: Callable[..., Picker]) -> None:
    app = picker(columns=40, rows=20, env={"NO_COLOR": "1"})
    app.sign_in()
    app.enter("nothing like it")
    app.shows("NO")
    assert {cell.fg for row in app.terminal.cells for cell in row} == {"default"}
    assert {cell.bg for row in app.terminal.cells for cell in row} == {"default"}
