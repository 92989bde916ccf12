"""Contents of QR codes that no store uses as a code: web addresses, Wi-Fi access, contacts, payments."""

from __future__ import annotations

import re
from typing import Final

_PAYLOAD: Final = re.compile(
    r"\s*(?:www\.|(?:wifi|mecard|bizcard|matmsg|mailto|tel|telprompt|sms|smsto|mms|mmsto|facetime|skype|whatsapp"
    r"|javascript|otpauth|urn|magnet|bitcoin|ethereum|litecoin|upi|lightning|hc1|shc):|geo:-?\d|data:\w+/"
    r"|begin:v?(?:card|event|calendar))",
    re.IGNORECASE,
)
"""Beginnings of the contents of a QR code; a web address of any kind has `://`."""


def is_foreign_qr_code(text: str) -> bool:
    """Return whether a text is the content of a QR code that is no code of a store."""
    return "://" in text or _PAYLOAD.match(text) is not None
