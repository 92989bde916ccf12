"""Labels of one character, or of a few digits, among scans that a slow link delivers in one read."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.store_and_database_folders import StoreFolder
from tests.cache import service_rows
from tests.session.every_page import on_page
from tests.session.scanner import Scanner
from tests.session.test_numbers_after_scan import quantities
from tests.session.test_one_digit_numbers import STEPS
from tests.session.test_session import told

PRODUCT = "4006381333931"
TAKES_LOCATION = ("adjust.quantity", "pick.product")
"""Pages at which a code of a location and a product is that of the location."""
NOT_A_CODE = ("input.bad_line", "input.several_lines")


@pytest.mark.parametrize("page", STEPS)
@pytest.mark.parametrize("label", ["K", "5", "12"])
@pytest.mark.parametrize("lines", ["{label}\r{product}\r", "{product}\r{label}\r", "{product}\r{label}\r{product}\r"])
@pytest.mark.parametrize("is_product_too", [False, True])
def test_a_short_label_is_called_a_code(
    aisle_home: Path, page: str, label: str, lines: str, is_product_too: bool
) -> None:
    with on_page(aisle_home, page) as session:
        home = StoreFolder(aisle_home, "embedded", "0001")
        cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
        cache.write_locations([service_rows.location(label, 60)])
        if is_product_too:
            cache.write_products([service_rows.product(label, f"Plums {label}")])
        before = quantities(session)
        frame = Scanner(session).send(lines.format(label=label, product=PRODUCT))
        assert told(frame)[1] not in NOT_A_CODE
        assert not {Decimal(5), Decimal(12)} & set(quantities(session).values())
        is_refused = is_product_too and page not in TAKES_LOCATION
        assert (told(frame)[1] == "input.short_label") is is_refused
        assert quantities(session) == before or not is_refused
        assert label not in quantities(session)
