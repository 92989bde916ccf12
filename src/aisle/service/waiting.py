"""Wait for a database that cannot be reached, however long that takes. It is said once, and once that it is back."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable
from time import monotonic
from typing import Final, TypeVar

from aisle.service.storage import Unreachable
from aisle.service.workers import DRAIN, LEAVE, Commands

T = TypeVar("T")

log = logging.getLogger("aisle.service")

FIRST_S: Final = 0.5
LONGEST_S: Final = 15.0
"""Seconds between two tries: they double, and each is a little shorter, by chance, than that."""


def when_reached(open_database: Callable[[], T], commands: Commands) -> T | None:
    """What `open_database` answers once it raises Unreachable no more; None where it is commanded to end before."""
    pause, began, waited = FIRST_S, monotonic(), False
    while True:
        try:
            opened = open_database()
        except Unreachable as problem:
            if not waited:
                log.error("database lost: %s The service waits for it.", problem)
            waited = True
        else:
            if waited:
                log.warning("database regained after %.0f s", monotonic() - began)
            return opened
        until = monotonic() + pause * random.uniform(0.5, 1.0)
        while monotonic() < until:
            if commands.wait(until, []) & {DRAIN, LEAVE}:
                return None
        pause = min(2 * pause, LONGEST_S)
