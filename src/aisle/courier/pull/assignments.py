"""The goods that clearances want moved; only our own service lists them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from aisle.client import Client
from aisle.client.errors import AnswerError, status_error
from aisle.contract.wire import encode_segment
from aisle.local.cache.assignments import CURSOR
from aisle.local.cache.writer import Cache, Written

LIST = "list-assignments"


class AssignmentReader:
    """Reads of one store's assignments, one after the other: what the last that began has brought is what stays."""

    def __init__(
        self,
        client: Client,
        cache: Cache,
        store: str,
        take: Callable[[str, str, Written], Any],
        clock: Callable[[], float],
    ) -> None:
        self.listed = False
        """Whether the service says that it lists them; it is not asked otherwise."""
        self._client = client
        self._cache = cache
        self._path = f"/aisle/v1/stores/{encode_segment(store)}/assignments"
        self._take = take
        self._clock = clock
        self._one = asyncio.Lock()

    def known(self) -> set[str]:
        """The ids of those that are in the cache."""
        return self._cache.assignments()

    async def read(self) -> set[str] | None:
        """All that are open, into the cache in the place of those that were; their ids, None where they cannot be
        listed. Raises ClientError."""
        if not self.listed:
            return None
        async with self._one:
            began = self._clock()
            answer = await self._client.extension("GET", self._path)
            if not answer.is_success:
                raise status_error(LIST, answer)
            try:
                rows = [dict(row) for row in answer.json()["assignments"]]
                ids = {str(row["id"]) for row in rows}
            except (ValueError, TypeError, LookupError) as error:
                raise AnswerError(f"The answer to {LIST} cannot be read: {error!r}.") from error
            with self._cache.batch():
                self._take("assignment", LIST, self._cache.put_assignments(rows))
                self._cache.set_cursor(CURSOR, began)
            return ids
