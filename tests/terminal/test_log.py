"""The store's log in a real terminal on the real service: what was lost is found, drawn, and written into a file."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.terminal.picker import START_S, Picker
from tests.terminal.shop import Shop
from tests.terminal.test_entry_counts import open_job

pytestmark = pytest.mark.pty


def lost(shop: Shop) -> int:
    """What the service says was lost, for whatever reason, in the weeks of the demo store and now."""
    rows = shop.ask("list-store-product-logs", store_number=shop.store, page_size=1000)["list"]
    return int(-sum(min(0, row["quantity"]) for row in rows if "reason_code" in row))


@pytest.mark.full
def test_the_log_is_filtered_drawn_and_written(shop: Shop, picker: Callable[..., Picker], tmp_path: Path) -> None:
    """By default in `tests/session/test_files_for_people.py`."""
    first, second = shop.goods(2)
    entries = [
        {"product_number": first["product_number"], "quantity": -3, "reason_code": 1, "app_user_name": "U1"},
        {"product_number": second["product_number"], "quantity": 4},
    ]
    shop.ask("create-store-product-logs", {"storeproductlog": entries})
    app = picker(columns=80, rows=24)
    app.sign_in("BADGE-U2")
    app.shows("live")
    app.take("7", "home", "")
    open_job(app, "Log", "log")
    app.shows("-3", "+4")
    app.take("f", "log.filter", "")
    app.take("2", "log.value", "")
    app.take("2", "log", "log.filtered")
    app.take(first["product_number"], "log", "log.filtered")
    app.terminal.wait_for(lambda glass: "-3" in glass.text and "+4" not in glass.text, START_S)
    file = tmp_path / "lost.csv"
    app.take("e", "log.export", "")
    app.take("g", "log.export", "log.no_name")
    app.take(str(file), "log.confirm", "")
    app.shows("Save the file")
    assert not file.exists()
    app.take("1", "log", "list.exported")
    with file.open(encoding="utf-8", newline="") as stream:
        (row,) = list(csv.DictReader(stream))
    assert (row["product_number"], row["quantity"], row["app_user_name"]) == (first["product_number"], "-3", "U1")
    app.take("e", "log.export", "")
    app.take(str(file), "log.export", "log.not_exported")
    app.take("b", "log", "")
    app.take("g", "log.losses", "")
    app.shows("Damaged", f"{lost(shop)} in all")
    app.take("b", "log", "")
    app.take("1", "log.entry", "")
    app.shows("Log entry", "Damaged")
