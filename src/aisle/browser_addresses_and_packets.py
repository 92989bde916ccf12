"""Addresses of the app's pages in a browser, and the packets between a browser session and its web server.

A packet is a letter, four bytes with the length of its content (big endian), and the content: `D` is terminal data, `M`
a JSON message.
"""

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


PRELUDE: Final = b"__GANGLION__\n"
"""Line that says that packets follow."""

MAX_PACKET_BYTES: Final = 1 << 24
"""Greatest number of bytes in a packet; a longer one does not come from the server."""
MAX_COLUMNS: Final = 500
MAX_ROWS: Final = 200
"""Greatest number of columns and rows of a screen."""

HEADER_BYTES: Final = 5
"""Bytes of a packet before its content."""


class InvalidPacket(Exception):
    """Invalid packet: nothing after it can be decoded."""


def encode_packet(kind: bytes, data: bytes) -> bytes:
    """Return one packet of this kind."""
    return b"%s%s%s" % (kind, len(data).to_bytes(4, "big"), data)


class PacketDecoder:
    """Decoder of a stream of packets, wherever its reads were cut."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[tuple[bytes, bytes]]:
        """Return kind and content of every complete packet, in order. Raise InvalidPacket if the stream is invalid."""
        self._buffer += data
        found: list[tuple[bytes, bytes]] = []
        while len(self._buffer) >= HEADER_BYTES:
            kind, size = bytes(self._buffer[:1]), int.from_bytes(self._buffer[1:HEADER_BYTES], "big")
            if kind not in (b"D", b"M") or size > MAX_PACKET_BYTES:
                raise InvalidPacket
            if len(self._buffer) < HEADER_BYTES + size:
                break
            found.append((kind, bytes(self._buffer[HEADER_BYTES : HEADER_BYTES + size])))
            del self._buffer[: HEADER_BYTES + size]
        return found


def parse_size(message: object) -> tuple[int, int] | None:
    """Return the requested columns and rows, limited to the greatest screen; None if the message is no size."""
    match message:
        case {"width": int(width), "height": int(height)} if width > 0 and height > 0:
            return min(width, MAX_COLUMNS), min(height, MAX_ROWS)
    return None
