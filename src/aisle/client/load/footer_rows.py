"""Detection of rows that are no records: totals, sources, page numbers of a report."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_WORDS = """
totaal subtotaal aantal bron einde stand afgedrukt pagina som regels artikelen
total subtotal sum count source end printed page rows items
gesamt summe zwischensumme anzahl quelle ende gedruckt seite zeilen artikel
totaux somme nombre fin imprimé lignes articles
"""
_WORD = "|".join(_WORDS.split())
_FOOTER_WORD_ALONE = re.compile(rf"(?:eind|grand |sous-)?(?:{_WORD})[:.]?", re.IGNORECASE)
_FOOTER_TEXT = re.compile(rf"[(\[*=-]*\s*(?:{_WORD})\b.*|[(\[].*|.*:\s.*|.*:", re.IGNORECASE | re.DOTALL)
_COUNT_LINE = re.compile(rf"\d+ (?:{_WORD}|producten|products|produkte|produits)\b.*", re.IGNORECASE)


_TOTAL_WORDS = (
    r"(?:grand |sous-?|sub-? ?|zwischen|end|eind|gesamt)?(?:totaal|total|totaux|gesamt|summe|ergebnis|sum|somme)"
)
_TOTAL_CELL = re.compile(rf"[\W\u03a3]*{_TOTAL_WORDS}(?:\s+g[eé]n[eé]ral|\s*\([^)]*\))?\W*\d*", re.IGNORECASE)
_TOTAL_AND_TEXT = re.compile(rf"[\W\u03a3]*{_TOTAL_WORDS}\b.*", re.IGNORECASE | re.DOTALL)


def total_reason(first: str, *, is_complete: bool) -> str:
    """Return why a row counts as a total, by its first cell. `is_complete`: the row has all required cells."""
    if _TOTAL_CELL.fullmatch(first) or (not is_complete and _TOTAL_AND_TEXT.fullmatch(first)):
        return f"looks like a total ({first!r}), and is no row of the table; delete it"
    return ""


def footer_reason(values: Mapping[str, Any], key: str) -> str:
    """Return why a row counts as a footer; empty if it is none.

    A word for a total has no name beside it; other words below a table have nothing beside them at all.
    """
    name = str(values.get(key, ""))
    is_total = "product_name" not in values and _FOOTER_WORD_ALONE.fullmatch(name)
    is_text = len(values) == 1 and (_FOOTER_TEXT.fullmatch(name) or _COUNT_LINE.fullmatch(name))
    if not (is_total or is_text):
        return ""
    return f"{key} {name!r} looks like a line below the table; delete the row, or give it a product_name"
