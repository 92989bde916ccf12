"""What a session in a browser and its web server say to each other, over two pipes, as textual-serve has it.

A packet is a letter, four bytes with the length of what follows (big endian), and that: `D` is data as a terminal would
send or get it, `M` a message in JSON.
"""

from __future__ import annotations

from typing import Final

PRELUDE: Final = b"__GANGLION__\n"
"""By this line textual-serve knows that packets follow."""

MAX_PACKET_BYTES: Final = 1 << 24
"""Bytes of a packet: a longer one is none, and whoever says so is not the server."""
MAX_COLUMNS: Final = 500
MAX_ROWS: Final = 200
"""Columns and rows of a screen at most; somebody may have a large window, nobody a larger one."""

HEADER_BYTES: Final = 5
"""Bytes of a packet before its content."""


class InvalidPacket(Exception):
    """What came is no packet: nothing that follows can be understood."""


def encode_packet(kind: bytes, data: bytes) -> bytes:
    """One packet of this letter."""
    return b"%s%s%s" % (kind, len(data).to_bytes(4, "big"), data)


class PacketDecoder:
    """Takes a stream apart, wherever its reads were cut."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[tuple[bytes, bytes]]:
        """Letter and content of every packet that is whole now, in their order. Raises NoPacket."""
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
    """Columns and rows that somebody asks for, within what a screen can be; None for what is no size."""
    match message:
        case {"width": int(width), "height": int(height)} if width > 0 and height > 0:
            return min(width, MAX_COLUMNS), min(height, MAX_ROWS)
    return None
