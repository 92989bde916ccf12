"""The keys under which the catalogue keeps a product's codes (`aisle.code_forms`)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from aisle.code_forms import index_keys, split_codes


def codes_of(item: Mapping[str, Any]) -> list[str]:
    """Every key of the codes that stand for this product: its own, further ones, those of its units."""
    codes = [item.get("barcode") or "", item.get("purchase_unit_barcode") or ""]
    codes += split_codes(item.get("barcodes_array") or "")
    codes += [unit.get("unit_barcode") or "" for unit in item.get("units") or []]
    return list(dict.fromkeys(key for code in codes for key in index_keys(code)))


def keys_of(text: str) -> list[str]:
    """The same of a product as the database keeps it; none of a text that earlier programs kept otherwise."""
    item = json.loads(text)
    return codes_of(item) if isinstance(item, dict) else []
