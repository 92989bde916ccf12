"""The stores of the chain, and all that was said of one of them where the service tells.

interface: List stores. The list has no addresses, opening hours or printers; our own service says them of one store.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aisle.client import Client
from aisle.client.errors import AnswerError, message_of, status_error
from aisle.contract.wire import QueryValue, encode_segment
from aisle.courier.counting import counted
from aisle.local.cache.writer import Cache, Written

LIST, ONE = "list-stores", "retrieve-store"
_LASTING = (400, 403, 404, 405, 410, 422, 501)
"""Answers that asking again does not change."""


class StoreReader:
    """Reads of the chain's stores."""

    def __init__(
        self,
        client: Client,
        cache: Cache,
        store: str,
        take: Callable[[str, str, Written], Any],
        now: Callable[[], float],
    ) -> None:
        self._client = client
        self._cache = cache
        self._store = store
        self._take = take
        self._now = now
        self.told = False
        """Whether the service says more of a store than the list does."""
        self.wanted: set[str] = set()
        """Stores whose page somebody has opened."""

    async def read(self, number: str = "") -> None:
        """One store, or all of the chain; those that the list does not have any more leave. Raises ClientError."""
        query: dict[str, QueryValue] = {"search_text": number} if number else {"page_size": "500"}
        seen: set[str] = set()
        whole = True
        async for rows, _ in counted(self._client, LIST, query=query):
            written = self._cache.put_stores(rows)
            self._take("store", LIST, written)
            seen |= set(written.keys)
            whole = whole and not written.skipped
        if whole and seen and not number:
            self._cache.keep_stores({*seen, self._store})
        if number and self.told and (number in self.wanted or self._cache.knows_store(number)):
            await self._said(number)

    async def _said(self, number: str) -> None:
        began = self._now()
        answer = await self._client.extension("GET", f"/aisle/v1/stores/{encode_segment(number)}")
        if answer.status in _LASTING:
            written = self._cache.put_store_said(number, None, began, message_of(answer) or str(answer.status))
        elif not answer.is_success:
            raise status_error(ONE, answer)
        else:
            try:
                said = dict(answer.json())
            except (ValueError, TypeError) as error:
                raise AnswerError(f"The answer to {ONE} cannot be read.") from error
            written = self._cache.put_store_said(number, said, began)
        self._take("store", ONE, written)
