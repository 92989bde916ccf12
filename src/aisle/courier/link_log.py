"""One line in the courier's log when link, token or certificate is lost, and one when it is regained."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from aisle.courier.link import OFFLINE, REFUSED, Status
from aisle.courier.notices import Notices
from aisle.local.told import NOTHING, Told

What = Literal["", "link", "token", "certificate"]

_CERTIFICATE = "CERTIFICATE_VERIFY_FAILED"
"""What OpenSSL says of a certificate that it does not trust, or that has ended."""


class LinkLog:
    """Compares each status of the link with the one before."""

    def __init__(self, notices: Notices, clock: Callable[[], float]) -> None:
        self._notices = notices
        self._clock = clock
        self._lost: What = ""
        self._since = 0.0

    def see(self, status: Status, cause: Told) -> None:
        """Notes what has changed, and why; a courier that has not asked for anything yet has lost nothing."""
        if status.state == OFFLINE and status.why == NOTHING:
            return
        lost = _lost(status)
        if lost == self._lost:
            return
        now = self._clock()
        if self._lost and not (self._lost != "link" and lost == "link"):
            self._notices.add(f"{self._lost} regained after {now - self._since:.0f} s")
        if lost:
            self._notices.add(f"{lost} lost:", cause)
        self._lost, self._since = lost, now


def _lost(status: Status) -> What:
    """What is the matter."""
    if status.state == REFUSED:
        return "token"
    if status.state != OFFLINE:
        return ""
    return "certificate" if _CERTIFICATE in status.why else "link"
