"""Why a line was closed short (README: `line-reasons`)."""

from __future__ import annotations

from typing import Any

from aisle.service.stock.book import Place
from aisle.service.stock.line import REASONS, OrderLine
from aisle.service.stock.logs import Entry, LogWriter

SOURCE = "short"
REJECTED = "rejected"

_LONGEST_CODE = 9
"""Digits of a code that is a number of the log, too."""


async def keep_reason(logs: LogWriter, line: OrderLine, said: dict[str, Any], place: Place | None) -> None:
    """Keep why a line is short, and note it in the log once; said of an open or a full line, it is let be."""
    news = {name: said[name] for name in REASONS if name in said}
    if not news or not line.short or news == {name: line.item.get(name) for name in news}:
        return
    line.item |= news
    await note_reason(logs, line, SOURCE, news, place)


async def note_reason(
    logs: LogWriter, line: OrderLine, source: str, news: dict[str, Any], place: Place | None = None
) -> None:
    """An entry of the log that says why a line brings less than was ordered."""
    code = str(news.get(REASONS[0], ""))
    is_number = code.isascii() and code.isdecimal() and len(code) <= _LONGEST_CODE
    logs.add(
        Entry(
            await logs.ledger.book.product(line.product_number, "product_number"),
            source,
            0,
            place=place,
            line=line,
            reference=line.order_number,
            reason_code=int(code) if is_number else None,
            reason=news.get(REASONS[1]) or (None if is_number else code),
        )
    )
