"""The document's service at its worst: all that a foreign service may do to its answers without breaking the document,
and much that does.

Some of it is how this service is (`Moods`): fields that are optional are not there, numbers are texts, nobody knows
what these fields are, the last page leads back to the first. Some of it comes now and then, as long as it `rages`: a
page of many megabytes, one that is no page, rows that are no rows, a next page that is no number.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

import httpx

from tests.faults.document_service import Document, Row, Ways, name_of

_REQUIRED = frozenset({
    "list", "records", "page_number", "page_size", "total_record_count", "order_number", "is_active", "is_claimed",
    "is_picked", "is_rejected", "status_id", "total_lines", "total_quantity", "lines", "id", "explicit_order",
    "is_template", "line_number", "picked_quantity", "price", "quantity", "stock_pool", "store_walking_order",
    "product_number", "is_replenishment", "is_stock", "most_likely_quantity", "location_code", "storeNo", "storeName",
    "barcode", "carrier_item_quantity", "edit_min_max_percentage", "price_compare_multiplier", "product_name",
    "shelf_label_quantity", "reference", "source", "success", "message",
})  # fmt: skip
"""What stays where all else is left out: what the document requires, and what a row is known by."""

WHIMS = ("huge", "no page", "no rows", "welcome", "odd next page", "empty")
_MEGABYTE = "x" * 1_000_000
_NO_ROWS: tuple[Any, ...] = (None, 7, "row", [], {}, {"order_number": None, "product_number": [], "location_code": ""})


class Moods(NamedTuple):
    """How such a service is."""

    bare: bool = False
    """What is optional is not there."""
    texts: bool = False
    """Numbers are written as text."""
    strange: bool = False
    """Every object has fields that nobody knows."""
    loops: bool = False
    """The last page of each list says that the first one is next."""


def moody(random: Random) -> Moods:
    """Moods by dice; each as often as not."""
    return Moods(*(random.random() < 0.5 for _ in Moods._fields))


class Hostile(Document):
    """See above."""

    def __init__(self, ways: Ways, clock: Callable[[], float], random: Random, moods: Moods | None = None) -> None:
        self.moods = moody(random) if moods is None else moods
        super().__init__(ways, clock)
        self.whims: Counter[str] = Counter()
        """How often it had which."""
        self.always: tuple[str, str] | None = None
        """A list, and the whim in which it is answered each time."""
        self._dice = random

    @property
    def tells_places(self) -> bool:
        """See Document."""
        return not self.moods.bare

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """See Document."""
        answer = await super().handle_async_request(request)
        said = self._in_its_mood(json.loads(answer.content))
        is_list = name_of(request).startswith("list-")
        if is_list and self.moods.loops and "list" in said and said.get("next_page") is None:
            said["next_page"] = 1
        content = json.dumps(said).encode()
        if self.always is not None and self.always[0] == name_of(request):
            content = self._whim(said, self.always[1])
        elif is_list and self._dice.random() < self.rages:
            content = self._whim(said, self._dice.choice(WHIMS))
        if not is_list and answer.is_success and self._dice.random() < self.rages:
            return httpx.Response(204, request=request)
        return httpx.Response(answer.status_code, content=content, request=request)

    def _in_its_mood(self, said: Any) -> Any:
        if isinstance(said, list):
            return [self._in_its_mood(each) for each in said]
        if isinstance(said, dict):
            kept = {name: value for name, value in said.items() if not self.moods.bare or name in _REQUIRED}
            found = {name: self._in_its_mood(value) for name, value in kept.items()}
            return {**found, "x_unknown": {"of": ["nobody", 1]}, "": None} if self.moods.strange else found
        is_number = isinstance(said, int | float) and not isinstance(said, bool)
        return str(said) if is_number and self.moods.texts else said

    def _whim(self, said: Row, whim: str) -> bytes:
        self.whims[whim] += 1
        name = "records" if "records" in said else "list"
        match whim:
            case "huge":
                said = {**said, "scroll_id": _MEGABYTE * (10 if self._dice.random() < 0.02 else 1)}
            case "no page":
                said = {name: {"rows": said[name]}}
            case "no rows":
                said = {**said, name: [*said[name], self._dice.choice(_NO_ROWS)]}
            case "welcome":
                return b"<html>Welcome to the guest network</html>"
            case "odd next page":
                said = {**said, "next_page": self._dice.choice(("soon", -1, 0, True, [2]))}
            case "empty":
                return b""
        return json.dumps(said).encode()
