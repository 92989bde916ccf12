"""The counts that are ordered and not made yet; only our own service keeps them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from aisle.client import Client
from aisle.client.errors import AnswerError, status_error
from aisle.contract.wire import encode_segment
from aisle.local.cache.writer import Cache, Written

LIST = "list-recounts"

Row = dict[str, Any]


class RecountReader:
    """Reads of one store's recounts, one after the other: what the last that began has brought is what stays."""

    def __init__(self, client: Client, cache: Cache, store: str, take: Callable[[str, str, Written], Any]) -> None:
        self._client = client
        self._cache = cache
        self._path = f"/aisle/v1/stores/{encode_segment(store)}/recounts"
        self._take = take
        self._one = asyncio.Lock()

    async def read(self) -> None:
        """All that are open, into the cache in the place of those that were. Raises ClientError."""
        async with self._one:
            rows: list[Row] = []
            more = True
            while more:
                page, more = await self._page(rows)
                rows += page
            self._take("recount", LIST, self._cache.put_recounts(rows))

    async def _page(self, before: list[Row]) -> tuple[list[Row], bool]:
        """What comes behind these, and whether there are more."""
        query = {"after": before[-1]["id"]} if before else {}
        answer = await self._client.extension("GET", self._path, query=query)
        if not answer.is_success:
            raise status_error(LIST, answer)
        try:
            body = answer.json()
            rows, more = [dict(row) for row in body["recounts"]], bool(body["more"])
            ends = not more or rows[-1]["id"] != query.get("after")
        except (ValueError, TypeError, LookupError) as error:
            raise AnswerError(f"The answer to {LIST} cannot be read: {error!r}.") from error
        if not ends:
            raise AnswerError("The recounts do not end.")
        return rows, more
