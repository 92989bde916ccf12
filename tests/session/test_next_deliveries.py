"""What comes with the next deliveries, on the pages of a product and of a shortage."""

from __future__ import annotations

from typing import Any

import pytest

from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.view import DetailView, Frame, Msg
from tests.session.test_session import BARCODES, _writer, at, home, say

__all__ = ["home"]


def delivered(home: StoreFolder, received: int = 0) -> None:
    """A delivery of the second product of the order, of which so many have come."""
    line = {"line_number": 1, "product_number": "P2", "quantity": 6, "received_quantity": received}
    with _writer(home) as cache:
        row = {"order_number": "7005", "status": "open", "datetime_expected": "2026-11-26T08:00:00Z"}
        cache.write_deliveries([row | {"order_lines": [line]}], 1.0 + received)


def coming(frame: Frame | None) -> list[dict[str, Any]]:
    """What the page says of it."""
    assert frame is not None
    assert isinstance(frame.view, DetailView)
    cells = [cell for block in frame.view.blocks for row in block.rows for cell in row]
    cells += [part for line in frame.view.lines for _, part in line.text.args if isinstance(part, Msg)]
    cells += [line.text for line in frame.view.lines]
    return [dict(cell.args) for cell in cells if cell.id in ("look_up.expected_with", "shortage.expected_delivery_on")]


@pytest.mark.parametrize(
    "way",
    [(f"?{BARCODES[1]}",), (f"?{BARCODES[1]}", "e"), ("4102", "s")],
    ids=["product", "in this store", "short"],
)
def test_the_next_delivery_that_brings_it_is_on_the_page_and_lives(home: StoreFolder, way: tuple[str, ...]) -> None:
    with _writer(home) as cache:
        cache.write_stock([{"product_number": "P2", "store_number": "0001", "most_likely_quantity": 3}])
    delivered(home)
    with at(home, user="U1") as session:
        found = coming(say(session, *way))
        assert found
        assert {(one["quantity"], one["order"]) for one in found} == {(6, "7005")}
        delivered(home, 4)
        assert {one["quantity"] for one in coming(session.poll())} == {2}
        delivered(home, 6)
        assert coming(session.poll()) == []
