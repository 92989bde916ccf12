"""Walks a list to its end at a service whose pages lead in a circle, or nowhere: by counting them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from aisle.client import Client
from aisle.client.errors import Endless
from aisle.contract.wire import QueryValue

Row = dict[str, Any]
Page = tuple[list[Row], dict[str, Any]]


async def counted(
    client: Client, name: str, *, path: Mapping[str, str] | None = None, query: Mapping[str, QueryValue]
) -> AsyncGenerator[Page, None]:
    """Each page as its rows and its envelope, as `Client.pages`; where one names no next page that makes sense, the one
    after it is asked for by its number, and an empty one is the end.

    Raises Endless where a page says the same as the one before it, or none comes to an end.
    """
    number, before = 1, None
    while True:
        walked = 0
        try:
            async with aclosing(client.pages(name, path=path, query={**query, "page_start": number})) as pages:
                async for page in pages:
                    walked += 1
                    yield page
                    del page  # it does not lie beside the next one
            return
        except Endless as error:
            if _proves_nothing(error.rows, before, walked):
                raise
            if not error.rows:
                return
            number, before = number + walked, error.rows


def _proves_nothing(rows: Sequence[Any], before: Sequence[Any] | None, walked: int) -> bool:
    """Whether what came last is neither further rows nor an end."""
    return walked > 1 if not rows else rows == before
