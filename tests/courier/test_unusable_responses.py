"""A service of the document alone that says rubbish of one row: what others say is delivered and looked for all the
same."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.courier.document_host import LOG, MOVE, PUT, Shop, loss
from tests.courier.fake_service import answer_lost
from tests.courier.writes import movement, update

RUBBISH = pytest.mark.parametrize("rubbish", [7, "A-1", {"A-1": 3}, ["A-1", None, 7, [], {}], [{"quantity": []}]])


@pytest.fixture
def shop(aisle_home: Path) -> Iterator[Shop]:
    shop = Shop(aisle_home)
    yield shop
    shop.close()


@RUBBISH
async def test_of_an_order_in_doubt(shop: Shop, rubbish: Any) -> None:
    async with shop.working() as courier:
        await shop.prove()
        lines = shop.fake.orders["O1"]["lines"]
        shop.fake.fail(PUT, answer_lost)
        shop.fake.fail(LOG, answer_lost)
        first, second = shop.desk.write(update("O1", {1: 2}), loss("P1"))
        courier.wake()
        await shop.until(first, "in_doubt")
        shop.fake.orders["O1"]["lines"] = rubbish
        await shop.until(second, "done", within_s=60)
        assert shop.desk.state(first) == "in_doubt"
        shop.fake.orders["O1"]["lines"] = lines
        await shop.until(first, "done")
    assert shop.applied(LOG) == 1


@RUBBISH
@pytest.mark.parametrize("pool", [None, "3", [], "many"])
async def test_of_stock_that_is_moved(shop: Shop, rubbish: Any, pool: Any) -> None:
    async with shop.working() as courier:
        shop.fake.stock["P1"]["store_locations"] = rubbish
        shop.fake.stock["P2"]["store_locations"] = [{"store_location_code": "A-1", "stock_pool_1": pool}]
        shop.fake._shift = lambda item: None  # type: ignore[method-assign]
        shop.fake.logs_movements = False  # so that stock is looked at before each of them
        op_ids = shop.desk.write(*(movement(product, 1, "A-1", "B-1") for product in ("P1", "P2", "P3")))
        courier.wake()
        for op_id in op_ids:
            await shop.until(op_id, "done", within_s=60)
    assert [shop.applied(MOVE, product) for product in ("P1", "P2", "P3")] == [1, 1, 1]
