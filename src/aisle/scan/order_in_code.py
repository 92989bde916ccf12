"""Number of an order in a code that has more than it: `Order 9817`, a web address that ends in it, GS1 AI 400."""

from __future__ import annotations

import re
from typing import Final

from aisle.scan import gs1

_ORDER_IDENTIFIER: Final = "400"
"""GS1 application identifier of the customer's order number."""
_WORDS: Final = re.compile(
    r"(?:order|bestel(?:l|ling|lung)?|auftrags?|commande)[ -]?(?:no|nr|id|number|nummer|num[eé]ro)?\.?"
    r"(?: *[:#=] *| +)#?(?P<number>\S*\w)",
    re.IGNORECASE,
)
_ADDRESS: Final = re.compile(r"(?:\w+://|www\.)\S*[/=#](?P<number>[^\s/?=&#]{4,})/?", re.IGNORECASE)
"""Web address. A shorter end is hardly the number of an order, but that of a page."""
_LETTERS_AFTER_IDENTIFIER: Final = re.compile(r"400(?P<number>(?=\S*[A-Za-z])\S{1,30})", re.ASCII)
"""GS1 data without its prefix; digits alone are another code."""


def order_number_in(code: str, *, is_gs1: bool = False) -> str:
    """Return the number of the order in a code; empty if the code has none, or a product or logistic unit."""
    if is_gs1 or code[:1] == "(" or gs1.GROUP_SEPARATOR in code:
        return _order_of_message(code)
    for pattern in (_WORDS, _ADDRESS, _LETTERS_AFTER_IDENTIFIER):
        if found := pattern.fullmatch(code):
            return "" if gs1.is_digital_link(code) else found["number"]
    return ""


def _order_of_message(code: str) -> str:
    message = gs1.parse_message(code)
    has_goods = not message.values.keys().isdisjoint(("00", "01", "02"))
    return "" if message.fault or has_goods else message.values.get(_ORDER_IDENTIFIER, "")
