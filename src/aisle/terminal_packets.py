"""Packets between a browser session and its web server.

A packet is a letter, four bytes with the length of its content (big endian), and the content: `D` is terminal data, `M`
a JSON message.
"""

from __future__ import annotations

from typing import Final

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
