"""Addresses of the app's pages in a browser, such as /orders/4104 or /orders?due=late."""

from __future__ import annotations

from typing import Final, NamedTuple
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

PAGES: Final = ("", "today", "orders", "exceptions", "deliveries", "products", "log", "locations", "expiry")
"""First parts of addresses. The empty one is the first page of the person; all but `today` are lists."""
MAX_LENGTH: Final = 300


class PageAddress(NamedTuple):
    """Address of a page: the list, the record if it is one's page, and how the list is filtered."""

    page: str
    record: str = ""
    filter: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        path = f"/{self.page}/{quote(self.record, safe='')}" if self.record else f"/{self.page}"
        return f"{path}?{urlencode(self.filter)}" if self.filter else path


def parse_address(text: str) -> PageAddress | None:
    """Return the address of a page; None if the text is none, or too long."""
    if not text.startswith("/") or len(text) > MAX_LENGTH or not (text.isascii() and text.isprintable()):
        return None
    try:
        parts = urlsplit(text)
        fields = tuple(parse_qsl(parts.query, max_num_fields=10))
    except ValueError:
        return None
    root, _, rest = parts.path.partition("/")
    page, _, record = rest.partition("/")
    is_path = not (root or parts.scheme or parts.netloc or parts.fragment)
    address = PageAddress(page, unquote(record), fields)
    is_printable = all(text.isprintable() for text in (address.record, *(text for pair in fields for text in pair)))
    return address if is_path and is_printable and page in PAGES else None
