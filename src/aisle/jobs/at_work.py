"""From a page about a product or a place to the work that it suggests: count this, move this."""

from __future__ import annotations

from aisle.jobs.base import Start
from aisle.jobs.view import Hint, msg

JOBS = {"c": "count", "t": "move"}
"""The letter of each job, the same on every page."""

LETTERS = "".join(JOBS)

HINTS = (Hint("c", msg("hint.count_this")), Hint("t", msg("hint.move_this")))


def start(letter: str, *, product: str = "", place: str = "", label: str = "") -> Start:
    """The job of this letter, for a product or for a place; back leads to the page."""
    return Start(JOBS[letter], {"location_code": place} if place else {"product_number": product, "label": label})
