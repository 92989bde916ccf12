"""A small handheld in another language, against the real service: a line is picked, and a changed setting is heard."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.terminal.picker import Picker
from tests.terminal.shop import Shop

pytestmark = pytest.mark.pty


def test_a_line_is_picked_in_german_and_the_next_in_dutch(
    shop: Shop, picker: Callable[..., Picker], aisle_home: Path
) -> None:
    first, second = shop.goods(2)
    shop.add_order("TAAL-1", [(first["product_number"], 1), (second["product_number"], 1)])
    settings = aisle_home / "settings.toml"
    app = picker(columns=20, rows=16, env={"LANG": "de_DE.UTF-8", "LC_ALL": None, "LC_MESSAGES": None})
    app.shows("Anmelden", "Ausweis scannen")
    app.enter("anna")
    app.shows("1 Kommiss.", "TAAL-1", "Scannen oder suchen")
    app.take("TAAL-1", "pick.product", "pick.opened")
    app.shows("0 genommen", "Artikel scannen")
    lines = shop.lines("TAAL-1")
    app.take("4006381333931", "pick.product", "count.unknown")
    app.shows("NEIN", "ist unbekannt")
    app.take(lines[0].code, "pick.product", "pick.picked")
    app.shows("1/2", "b Zurück")
    settings.write_text('language = "nl"\n', encoding="utf-8")
    app.shows("Scan het artikel", "b Terug")
    app.take(lines[1].code, "pick.done", "pick.all_picked")
    app.shows("Alles gepickt", "b Terug")
