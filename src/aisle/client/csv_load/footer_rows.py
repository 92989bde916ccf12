"""Detection of rows that are no records: totals, sources, page numbers of a report."""

from __future__ import annotations

import re
from collections.abc import Mapping

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
_COUNT_WORD = re.compile(
    r"(?:anzahl|aantal|count|nombre|average|mean|durchschnitt|mittelwert|gemiddelde|moyenne)\b.*",
    re.IGNORECASE | re.DOTALL,
)
_TEXT_AND_TOTAL = re.compile(rf"(.+?)[\s:-]+{_TOTAL_WORDS}\W*", re.IGNORECASE | re.DOTALL)
_TOTAL_AND_NAME = re.compile(rf"{_TOTAL_WORDS}[\s:-]+(.+?)", re.IGNORECASE | re.DOTALL)
_TOTAL_AND_TEXT = re.compile(rf"[\W\u03a3]*{_TOTAL_WORDS}\b.*", re.IGNORECASE | re.DOTALL)


def total_reason(first: str, *, is_complete: bool) -> str:
    """Return why a row counts as a total, by its first cell. `is_complete`: the row has all required cells."""
    if _TOTAL_CELL.fullmatch(first) or (not is_complete and _TOTAL_AND_TEXT.fullmatch(first)):
        return _total_text(first)
    return ""


def incomplete_total_reason(cell: str) -> str:
    """Return why a row that lacks required cells counts as a total, by one of its texts; empty if it does not."""
    is_total = _TOTAL_AND_TEXT.fullmatch(cell) or _TEXT_AND_TOTAL.fullmatch(cell) or _COUNT_WORD.fullmatch(cell)
    return _total_text(cell) if is_total else ""


def subtotal_reason(cell: str, above: str) -> str:
    """Return why a row is a total of the rows above it (`P Total`, `Totaal P` below `P`); empty if it is none."""
    inner = _TEXT_AND_TOTAL.fullmatch(cell.strip()) or _TOTAL_AND_NAME.fullmatch(cell.strip())
    return _total_text(cell.strip()) if inner and inner[1].casefold() == above.strip().casefold() else ""


def _total_text(cell: str) -> str:
    return f"looks like a total ({cell!r}), and is no row of the table; delete it"


def footer_reason(values: Mapping[str, object], key: str) -> str:
    """Return why a row counts as a footer; empty if it is none.

    A word for a total has no name beside it; other words below a table have nothing beside them at all.
    """
    name = str(values.get(key, ""))
    is_named = not _TOTAL_CELL.fullmatch(str(values.get("product_name", "total")))
    is_total = not is_named and (_FOOTER_WORD_ALONE.fullmatch(name) or _TOTAL_CELL.fullmatch(name))
    is_text = len(values) == 1 and (_FOOTER_TEXT.fullmatch(name) or _COUNT_LINE.fullmatch(name))
    if not (is_total or is_text):
        return ""
    return f"{key} {name!r} looks like a line below the table; delete the row, or give it a product_name"
