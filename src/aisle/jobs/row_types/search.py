"""Rows of the search over records of all kinds."""

from __future__ import annotations

from typing import TypedDict


class RecordRow(TypedDict):
    """Record found by the command palette."""

    kind: str
    """Kind of a meaning: `order`, `product`, `location` or `delivery`."""
    key: str
    label: str
    """Customer, product name, description or supplier; empty if there is none."""
