"""What the demo shop says of its products: how many it keeps, what it sold week by week, what it expects to sell."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from datetime import date, timedelta

from aisle.service.demo_goods import Body

BEFORE, AHEAD = 12, 4
"""Weeks that are remembered, and weeks that are foreseen."""


def levels(products: Iterable[Body], today: date) -> list[Body]:
    """Items of create store products for all that the shop ranges; services and what is gone have no levels.

    interface: Create store products.
    """
    rng = random.Random(60)
    return [_level(rng, product, today) for product in products]


def _level(rng: random.Random, product: Body, today: date) -> Body:
    item: Body = {"product_number": product["product_number"]}
    if not product["is_stock"] or not product["is_active"]:
        return item
    usual = rng.choice((2, 4, 6, 9, 14, 22))
    sold = [max(0, round(usual * rng.uniform(0.4, 1.7))) for _ in range(BEFORE)]
    mean = round(sum(sold) / BEFORE, 1)
    case = int(product.get("purchase_unit_quantity", 1))
    return item | {
        "min": usual,
        "max": usual * 3 + case,
        "order_level": usual + 1,
        "is_replenishment": rng.random() < 0.8,
        "history_array": sold,
        "history_keys": list(_weeks(today, -BEFORE, 0)),
        "average_array": [mean] * BEFORE,
        "average_keys": list(_weeks(today, -BEFORE, 0)),
        "forecast_array": [max(1, round(mean * rng.uniform(0.8, 1.3))) for _ in range(AHEAD)],
        "forecast_keys": list(_weeks(today, 0, AHEAD)),
    }


def _weeks(today: date, first: int, end: int) -> Iterator[str]:
    for week in range(first, end):
        yield f"W{(today + timedelta(weeks=week)).isocalendar().week}"
