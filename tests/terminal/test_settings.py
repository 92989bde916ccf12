"""Settings that change under a running app: noticed, said, and in force for the next order, without a restart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.terminal.picker import Picker
from tests.terminal.shop import Shop

pytestmark = pytest.mark.pty


def test_a_device_is_told_of_its_settings_while_it_works(
    shop: Shop, picker: Callable[..., Picker], aisle_home: Path
) -> None:
    first, second = shop.goods(2)
    lines = [(first["product_number"], 2), (second["product_number"], 1)]
    for order in ("SET-1", "SET-2"):
        shop.add_order(order, lines)
    app = picker(columns=80, rows=24)
    app.sign_in()
    app.shows("live", "SET-1")
    app.take("SET-1", "pick.product", "pick.opened")
    (aisle_home / "settings.toml").write_text('[device."do*"]\nverified = true\n[store."0002"]\nblind = true\n')
    app.shows("Settings changed: verified picking is on")
    by_place = shop.lines("SET-1")
    app.take(by_place[0].code, "pick.product", "pick.picked")  # it goes on as it was begun
    app.enter("b")
    app.take("SET-2", "pick.location", "pick.opened")
    (aisle_home / "settings.toml").write_text("verifed = true\n")
    app.shows("Settings not changed: settings.toml has a mistake. aisle doctor says where")
