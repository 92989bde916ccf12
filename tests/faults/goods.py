"""What the simulated shops have: products, places, stock and orders."""

from __future__ import annotations

from collections.abc import Mapping

from aisle.barcode_numbers import check_digit

CODES = {
    "P1": "4006381333931",
    "P2": "5901234123457",
    "P3": "9780201379624",
    "P4": "4012345678901",
}
"""Barcodes of the products."""
SHELVES = ("A-1", "A-2", "B-1")
PICK_UP = "PU-01"
STOCK = {"P1": {"A-1": 24, "B-1": 12}, "P2": {"A-1": 18, "A-2": 18}, "P3": {"A-2": 30}, "P4": {"B-1": 40}}
"""What lies where at the start: product, place, quantity; all in pool 1."""
ORDERS: Mapping[str, tuple[tuple[str, int], ...]] = {
    "O-1": (("P1", 4), ("P2", 3), ("P3", 6)),
    "O-2": (("P2", 5),),
    "O-3": (("P4", 8), ("P1", 3)),
    "O-4": (("P3", 2), ("P3", 4)),
}
"""Order, and its lines of product and quantity, numbered from 1."""
_STEMS = [f"40064{n:07}" for n in range(1, 13)]
GOODS = {f"Q{n}": stem + check_digit(stem) for n, stem in enumerate(_STEMS, 1)}
"""Further products of the shop, and their barcodes."""
