"""A quantity of one digit that is the number of an order, or its reference, is asked with `y` while it is active."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import ASK
from tests.cache import service_rows
from tests.session.every_page import on_page
from tests.session.scanner import Scanner
from tests.session.test_numbers_after_scan import quantities
from tests.session.test_session import BARCODES, told

STEPS = {
    "count.product": BARCODES[0],
    "receive.goods": BARCODES[0],
    "move.take": BARCODES[0],
    "adjust.quantity": "",
    "pick.product": BARCODES[2],
}
"""Steps, and what is scanned there so that a quantity is open."""

ORDERS = {
    "an order": ({"order_number": "3"}, True),
    "a reference": ({"order_number": "410500", "reference": "3"}, True),
    "a rejected order": ({"order_number": "3", "is_rejected": True}, False),
    "a finished order": ({"order_number": "3", "is_active": False}, False),
    "no order": ({"order_number": "410500"}, False),
}


@pytest.mark.parametrize("page", STEPS)
@pytest.mark.parametrize("pace", [0.1, 0.003])
@pytest.mark.parametrize(("order", "is_asked"), ORDERS.values(), ids=ORDERS)
def test_one_digit_of_an_active_order_is_asked(
    aisle_home: Path, page: str, pace: float, order: dict[str, object], is_asked: bool
) -> None:
    with on_page(aisle_home, page) as session:
        home = StoreFolder(aisle_home, "embedded", "0001")
        row = service_rows.order("3", service_rows.line(1, "P3", 2)) | order
        CacheWriter(open_cache(home.folder, writer=True), "0001").write_orders([row], lines_known=True, read_began=1.0)
        scanner = Scanner(session)
        if STEPS[page]:
            scanner.send(f"{STEPS[page]}\r")
            scanner.rest(6.0)
        before = quantities(session)
        frame = scanner.send("3\r", pace)
        if not is_asked and pace == 0.1:
            assert Decimal(3) in quantities(session).values()
            return
        assert told(frame)[0] == ASK
        assert quantities(session) == before
        scanner.rest(6.0)
        scanner.send("y\r", 0.1)
        assert Decimal(3) in quantities(session).values()
