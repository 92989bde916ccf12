"""Codes as keys, for what scans: see aisle.code_forms, which session and service share."""

from __future__ import annotations

from aisle.code_forms import (
    canonical,
    check_digit,
    checks,
    guessed_keys,
    index_keys,
    lookup_keys,
    plain,
    tidy,
    upc_a_shortened,
    upc_e_expanded,
)

__all__ = [
    "canonical",
    "check_digit",
    "checks",
    "guessed_keys",
    "index_keys",
    "lookup_keys",
    "plain",
    "tidy",
    "upc_a_shortened",
    "upc_e_expanded",
]
